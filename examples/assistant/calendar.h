// Days as people say them, and the time in other places.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace assistant {

struct Day {
  int year = 0, month = 0, day = 0;  // month and day from 1
  bool operator==(const Day&) const = default;
};

int64_t days_since_1970(Day d);
Day day_of(int64_t days_since_1970);
int weekday(Day d);  // 0 = Sunday
// "Wednesday, September 13".
std::string date_text(Day d);
// "today", "the day after tomorrow", "next friday", "august 27", "the twenty-seventh of december", "in two weeks", "christmas": false if it
// is none of those.
bool parse_day(std::string_view said, Day today, Day* out);
// 0 = Sunday, -1: the word is no weekday.
int weekday_named(std::string_view word);

// Local time as the system has it.
Day local_day(int64_t unix_s, int* minute_of_day = nullptr);
int64_t local_time(Day d, int minute_of_day);  // Unix seconds
// Minutes since midnight in a city or country; false: the place is not known, or the system has no time zones.
bool time_in(std::string_view place, int64_t unix_s, int* minute_of_day);
std::string clock_text(int minute_of_day);  // "1:14 PM"

}  // namespace assistant
