#include "calendar.h"

#include <algorithm>
#include <ctime>
#include <vector>

namespace assistant {
namespace {

constexpr const char* kWeekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                   "July",    "August",   "September", "October", "November", "December"};
constexpr const char* kUnits[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                  "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                  "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr const char* kOrdinals[] = {"",           "first",     "second",    "third",       "fourth",     "fifth",      "sixth",
                                     "seventh",    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",    "thirteenth",
                                     "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' || c == ',' || c == '_' ? ' ' : c;
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text))
    if (c != ' ')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

int named(const char* const* names, int n, std::string_view word) {
  for (int i = 0; i < n; ++i)
    if (lower(names[i]) == word) return i;
  return -1;
}

// "7", "27th", "seven", "seventh", "twenty seven": words[*at] and on; -1 if there is no number.
int number_at(const std::vector<std::string>& words, size_t* at) {
  if (*at >= words.size()) return -1;
  const std::string& w = words[*at];
  size_t n = 0;
  int value = 0;
  while (n < w.size() && w[n] >= '0' && w[n] <= '9' && value < 100000) value = value * 10 + (w[n++] - '0');
  if (n) {
    const std::string tail = w.substr(n);
    if (!tail.empty() && tail != "st" && tail != "nd" && tail != "rd" && tail != "th") return -1;
    return ++*at, value;
  }
  if (w == "a" || w == "an") return ++*at, 1;
  for (int ten = 2; ten <= 9; ++ten) {
    constexpr const char* kTens[] = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
    if (w == std::string(kTens[ten]).substr(0, std::string(kTens[ten]).size() - 1) + "ieth") return ++*at, ten * 10;
    if (w != kTens[ten]) continue;
    ++*at;
    if (*at < words.size()) {
      const int unit = std::max(named(kUnits, 10, words[*at]), named(kOrdinals, 10, words[*at]));
      if (unit > 0) return ++*at, ten * 10 + unit;
    }
    return ten * 10;
  }
  value = std::max(named(kUnits, 20, w), named(kOrdinals, 21, w));
  return value >= 0 ? (++*at, value) : -1;
}

bool valid(Day d) { return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 && day_of(days_since_1970(d)) == d; }

// The date without a year: this year's, or the next one's if it is past. 29 February waits for its year.
bool coming(int month, int day, Day today, Day* out) {
  for (int year = today.year; year < today.year + 9; ++year) {
    *out = {year, month, day};
    if (valid(*out) && days_since_1970(*out) >= days_since_1970(today)) return true;
  }
  return false;
}

Day easter(int y) {  // Gauss, as Meeus gives it for the Gregorian calendar
  const int a = y % 19, b = y / 100, c = y % 100, h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
  const int l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7, m = (a + 11 * h + 22 * l) / 451, n = h + l - 7 * m + 114;
  return {y, n / 31, n % 31 + 1};
}

// The n-th of a weekday in a month; n < 0 counts from its end.
Day nth(int year, int month, int wday, int n) {
  if (n > 0) {
    const int64_t first = days_since_1970({year, month, 1});
    return day_of(first + (wday - weekday(day_of(first)) + 7) % 7 + 7 * (n - 1));
  }
  const int64_t last = days_since_1970({year + month / 12, month % 12 + 1, 1}) - 1;
  return day_of(last - (weekday(day_of(last)) - wday + 7) % 7);
}

struct Holiday {
  const char* name;
  int month, day;       // fixed
  int wday = 0, n = 0;  // n != 0: the n-th of a weekday in the month, and `day` days on
  bool easter = false;  // `day` days from Easter
};
constexpr Holiday kHolidays[] = {
    {"christmas", 12, 25},
    {"christmas day", 12, 25},
    {"christmas eve", 12, 24},
    {"boxing day", 12, 26},
    {"new year's eve", 12, 31},
    {"new year's day", 1, 1},
    {"new year's", 1, 1},
    {"new year", 1, 1},
    {"halloween", 10, 31},
    {"valentine's day", 2, 14},
    {"saint patrick's day", 3, 17},
    {"st patrick's day", 3, 17},
    {"independence day", 7, 4},
    {"bastille day", 7, 14},
    {"canada day", 7, 1},
    {"australia day", 1, 26},
    {"anzac day", 4, 25},
    {"groundhog day", 2, 2},
    {"april fools day", 4, 1},
    {"april fool's day", 4, 1},
    {"earth day", 4, 22},
    {"may day", 5, 1},
    {"labour day", 5, 1},
    {"flag day", 6, 14},
    {"juneteenth", 6, 19},
    {"veterans day", 11, 11},
    {"remembrance day", 11, 11},
    {"armistice day", 11, 11},
    {"guy fawkes night", 11, 5},
    {"bonfire night", 11, 5},
    {"saint nicholas day", 12, 6},
    {"epiphany", 1, 6},
    {"all saints day", 11, 1},
    {"all souls day", 11, 2},
    {"women's day", 3, 8},
    {"pi day", 3, 14},
    {"star wars day", 5, 4},
    {"cinco de mayo", 5, 5},
    {"midsummer", 6, 24},
    {"leap day", 2, 29},
    {"kwanzaa", 12, 26},
    {"saint george's day", 4, 23},
    {"saint andrew's day", 11, 30},
    {"burns night", 1, 25},
    {"thanksgiving", 11, 0, 4, 4},
    {"thanksgiving day", 11, 0, 4, 4},
    {"black friday", 11, 1, 4, 4},
    {"cyber monday", 11, 4, 4, 4},
    {"mother's day", 5, 0, 0, 2},
    {"father's day", 6, 0, 0, 3},
    {"labor day", 9, 0, 1, 1},
    {"memorial day", 5, 0, 1, -1},
    {"columbus day", 10, 0, 1, 2},
    {"martin luther king day", 1, 0, 1, 3},
    {"presidents day", 2, 0, 1, 3},
    {"the super bowl", 2, 0, 0, 2},
    {"super bowl sunday", 2, 0, 0, 2},
    {"easter", 0, 0, 0, 0, true},
    {"easter sunday", 0, 0, 0, 0, true},
    {"easter monday", 0, 1, 0, 0, true},
    {"good friday", 0, -2, 0, 0, true},
    {"palm sunday", 0, -7, 0, 0, true},
    {"ash wednesday", 0, -46, 0, 0, true},
    {"pancake day", 0, -47, 0, 0, true},
    {"mardi gras", 0, -47, 0, 0, true},
    {"pentecost", 0, 49, 0, 0, true},
    {"ascension day", 0, 39, 0, 0, true},
};

Day holiday_in(const Holiday& h, int year) {
  if (h.easter) return day_of(days_since_1970(easter(year)) + h.day);
  return h.n ? day_of(days_since_1970(nth(year, h.month, h.wday, h.n)) + h.day) : Day{year, h.month, h.day};
}

bool holiday(std::string name, Day today, Day* out) {
  int more = 0;  // years
  for (const auto& [end, years] : {std::pair{" this year", 0}, {" next year", 1}})
    if (name.ends_with(end)) name.resize(name.size() - std::string_view(end).size()), more = years + 1;
  if (name == "the fourth of july") name = "independence day";
  for (const Holiday& h : kHolidays)
    if (name == h.name) {
      if (more) return *out = holiday_in(h, today.year + more - 1), valid(*out);
      for (int year = today.year; year < today.year + 9; ++year)
        if (*out = holiday_in(h, year); valid(*out) && days_since_1970(*out) >= days_since_1970(today)) return true;
    }
  return false;
}

}  // namespace

// Both after Howard Hinnant's "chrono-compatible low-level date algorithms": years begin in March.
int64_t days_since_1970(Day d) {
  const int64_t y = d.year - (d.month <= 2), era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
  const int64_t doy = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}
Day day_of(int64_t z) {
  z += 719468;
  const int64_t era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097,
                yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {static_cast<int>(yoe + era * 400 + (month <= 2)), month, static_cast<int>(doy - (153 * mp + 2) / 5 + 1)};
}
int weekday(Day d) { return static_cast<int>(((days_since_1970(d) + 4) % 7 + 7) % 7); }
std::string date_text(Day d) { return std::string(kWeekdays[weekday(d)]) + ", " + kMonths[d.month - 1] + " " + std::to_string(d.day); }
int weekday_named(std::string_view word) { return named(kWeekdays, 7, lower(word)); }

bool parse_day(std::string_view said, Day today, Day* out) {
  if (said.size() > 100) return false;
  std::vector<std::string> words = words_of(said);
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  if (text.starts_with("on ")) text.erase(0, 3), words.erase(words.begin());
  const int64_t now = days_since_1970(today);
  const auto at = [&](int64_t days) { return *out = day_of(now + days), true; };
  if (text.empty()) return said.empty() && at(0);
  if (text == "today" || text == "tonight" || text == "this evening") return at(0);
  if (text == "tomorrow" || text == "tomorrow night" || text == "tomorrow morning") return at(1);
  if (text == "yesterday") return at(-1);
  if (text == "the day after tomorrow" || text == "day after tomorrow") return at(2);
  if (text == "the day before yesterday" || text == "day before yesterday") return at(-2);
  if (holiday(text, today, out)) return true;
  // A weekday: the coming one; today counts only if nothing stands before it.
  const bool last = words[0] == "last", next = words[0] == "next";
  if (words.size() == 1 || (words.size() == 2 && (last || next || words[0] == "this" || words[0] == "coming"))) {
    const int wanted = weekday_named(words.back()), is = weekday(today);
    if (wanted >= 0) return at(last ? -((is - wanted + 6) % 7 + 1) : (next ? (wanted - is + 6) % 7 + 1 : (wanted - is + 7) % 7));
  }
  // "in two weeks", "ten days from now", "three days ago"
  size_t i = words[0] == "in" ? 1 : 0;
  if (const size_t begin = i; true) {
    const int n = number_at(words, &i);
    if (n >= 0 && n <= 10000 && i > begin && i < words.size()) {
      const std::string& unit = words[i];
      const int days = unit == "day" || unit == "days" ? 1 : unit == "week" || unit == "weeks" ? 7 : 0;
      const bool ago = words.back() == "ago", forward = words[0] == "in" || words.back() == "now" || words.back() == "today";
      if (days && (ago || forward)) return at(ago ? -n * days : n * days);
    }
  }
  if (text == "a week ago" || text == "last week") return at(-7);
  // "august 27", "the twenty seventh of december", "the 27th", "december twenty seventh 2027"
  i = 0;
  int month = 0, day = 0, year = 0;
  while (i < words.size()) {
    if (words[i] == "the" || words[i] == "of") {
      ++i;
      continue;
    }
    const int m = named(kMonths, 12, words[i]) + 1;
    if (m) {
      if (month) return false;
      month = m;
      ++i;
      continue;
    }
    const int n = number_at(words, &i);
    if (n < 0) return false;
    if (!day && n <= 31)
      day = n;
    else if (!year && n >= 1900 && n <= 2999)
      year = n;
    else
      return false;
  }
  if (!day) return false;
  if (year) return *out = {year, month, day}, month && valid(*out);
  if (month) return coming(month, day, today, out);
  for (int k = 0; k < 13; ++k) {  // the 31st waits for a month that has one
    const int m = today.month - 1 + k;
    *out = {today.year + m / 12, m % 12 + 1, day};
    if (valid(*out) && days_since_1970(*out) >= now) return true;
  }
  return false;
}

Day local_day(int64_t unix_s, int* minute_of_day) {
  const time_t t = static_cast<time_t>(unix_s);
  tm local = {};
  localtime_r(&t, &local);
  if (minute_of_day) *minute_of_day = local.tm_hour * 60 + local.tm_min;
  return {local.tm_year + 1900, local.tm_mon + 1, local.tm_mday};
}

int64_t local_time(Day d, int minute_of_day) {
  tm local = {};
  local.tm_year = d.year - 1900;
  local.tm_mon = d.month - 1;
  local.tm_mday = d.day;
  local.tm_hour = minute_of_day / 60;
  local.tm_min = minute_of_day % 60;
  local.tm_isdst = -1;
  return static_cast<int64_t>(mktime(&local));
}

std::string clock_text(int minute) {
  const int h = minute / 60, m = minute % 60;
  return std::to_string(h % 12 ? h % 12 : 12) + (m < 10 ? ":0" : ":") + std::to_string(m) + (h < 12 ? " AM" : " PM");
}

}  // namespace assistant
