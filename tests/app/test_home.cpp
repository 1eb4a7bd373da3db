// The assistant's tools: what they do, what they say, and that what they did is still there after a kill.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "examples/assistant/calculator.h"
#include "examples/assistant/calendar.h"
#include "examples/assistant/tools.h"
#include "tests/catch2.h"

using namespace assistant;

namespace {

struct Folder {
  std::string path = "/tmp/linnet-home-XXXXXX";
  Folder() { REQUIRE(mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return path + "/" + name; }
};

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

// Monday, 2 March 2026, 12:00 UTC.
constexpr int64_t kNoon = 1772452800;

struct Flat {
  int64_t now_ms = kNoon * 1000;
  Tools tools;
  std::string note, why;
  explicit Flat(const std::string& state = "", std::vector<std::string> rooms = {}) {
    setenv("TZ", "UTC", 1);
    tzset();
    INFO(why);
    REQUIRE(tools.open({state, "living room", std::move(rooms)}, [this] { return now_ms; }, &note, &why));
  }
  ToolResult raw(const std::string& name, const std::string& arguments = "{}") {
    return tools.call(R"({"name":")" + name + R"(","arguments":)" + arguments + "}");
  }
  std::string operator()(const std::string& name, const std::string& arguments = "{}") { return raw(name, arguments).json; }
};

double sum(const char* text) {
  double x = 0;
  std::string why;
  INFO(text << ": " << why);
  REQUIRE(calculate(text, &x, &why));
  return x;
}
std::string no_sum(const std::string& text) {
  double x = 0;
  std::string why;
  INFO(text);
  REQUIRE(!calculate(text, &x, &why));
  return why;
}
double unit(double x, const char* from, const char* to) {
  std::string why;
  REQUIRE(convert_units(x, from, to, &x, &why));
  return two_decimals(x);
}

}  // namespace

TEST_CASE("sums") {
  CHECK(sum("12*13") == 156);
  CHECK(sum("2+3*4-6/3") == 12);
  CHECK(sum("-2^2") == -4);
  CHECK(sum("2^3^2") == 512);
  CHECK(sum("2^-1") == 0.5);
  CHECK(sum("(2+3)*(4-1)") == 15);
  CHECK(sum("sqrt(16)+sqrt(9)") == 7);
  CHECK(sum("79*(1-91/100)") == Approx(7.11));
  CHECK(sum("--3") == 3);
  CHECK(two_decimals(2.675) == 2.68);
  CHECK(two_decimals(-2.675) == -2.68);
  CHECK(two_decimals(6.625) == 6.63);
  CHECK_FALSE(std::signbit(two_decimals(-0.001)));
  CHECK(no_sum("7/0") == "division by zero");
  CHECK(no_sum("7/(3-3)") == "division by zero");
  CHECK(no_sum("0^-1") == "division by zero");
  CHECK(no_sum("sqrt(0-4)") == "square root of a negative number");
  CHECK(no_sum("(0-8)^(1/3)") == "square root of a negative number");
  CHECK(no_sum("9^999") == "the number is too large");
  CHECK(no_sum("(1+2") == "a bracket is missing");
  for (const char* bad : {"", "1+", "*2", "1 2", "1..2", "abc", "1e5", "sqr(4)", "nan", "inf", "0x10", ")", "1)", "+", "1,5"})
    CHECK(no_sum(bad) == "this is no sum");
  CHECK(no_sum(std::string(150, '(')) == "the sum is too deep");
  CHECK(no_sum(std::string(150, '-') + "1") == "the sum is too deep");
  CHECK(no_sum(std::string(1000000, '1')) == "the sum is too long");
}

TEST_CASE("units") {
  CHECK(unit(79, "pint", "gallon") == 9.88);
  CHECK(unit(72, "mile", "kilometer") == 115.87);
  CHECK(unit(798, "mile", "meter") == 1284256.51);
  CHECK(unit(65, "pound", "ounce") == 1040);
  CHECK(unit(98, "pint", "ounce") == 1568);  // fluid ones
  CHECK(unit(212, "fahrenheit", "celsius") == 100);
  CHECK(unit(-40, "celsius", "fahrenheit") == -40);
  CHECK(unit(0, "celsius", "kelvin") == 273.15);
  CHECK(unit(623, "day", "hour") == 14952);
  double x = 0;
  std::string why;
  CHECK_FALSE(convert_units(46, "tablespoon", "millimeter", &x, &why));
  CHECK(why == "cannot convert tablespoon to millimeter");
  CHECK_FALSE(convert_units(1, "furlong", "meter", &x, &why));
  CHECK_FALSE(convert_units(1e300, "mile", "millimeter", &x, &why));
}

TEST_CASE("days") {
  Day before = {1899, 12, 31};
  for (int64_t d = days_since_1970({1900, 1, 1}); d <= days_since_1970({2100, 12, 31}); ++d) {
    const Day day = day_of(d);
    REQUIRE(days_since_1970(day) == d);
    REQUIRE((day.day == before.day + 1 || (day.day == 1 && before.day >= 28)));
    before = day;
  }
  const Day today = {2026, 3, 2};
  REQUIRE(date_text(today) == "Monday, March 2");
  const auto day = [&](const char* said) {
    Day d;
    INFO(said);
    REQUIRE(parse_day(said, today, &d));
    return date_text(d) + (d.year == 2026 ? "" : " " + std::to_string(d.year));
  };
  CHECK(day("") == "Monday, March 2");
  CHECK(day("tomorrow") == "Tuesday, March 3");
  CHECK(day("the day before yesterday") == "Saturday, February 28");
  CHECK(day("monday") == "Monday, March 2");
  CHECK(day("next monday") == "Monday, March 9");
  CHECK(day("last monday") == "Monday, February 23");
  CHECK(day("this friday") == "Friday, March 6");
  CHECK(day("last friday") == "Friday, February 27");
  CHECK(day("august 27") == "Thursday, August 27");
  CHECK(day("the twenty-seventh of december") == "Sunday, December 27");
  CHECK(day("december twenty fifth") == "Friday, December 25");
  CHECK(day("the thirtieth") == "Monday, March 30");
  CHECK(day("march 1") == "Monday, March 1 2027");
  CHECK(day("4 july 2030") == "Thursday, July 4 2030");
  CHECK(day("in two weeks") == "Monday, March 16");
  CHECK(day("ten days ago") == "Friday, February 20");
  CHECK(day("in a week") == "Monday, March 9");
  CHECK(day("february 29") == "Tuesday, February 29 2028");
  CHECK(day("christmas") == "Friday, December 25");
  CHECK(day("easter") == "Sunday, April 5");
  CHECK(day("good friday") == "Friday, April 3");
  CHECK(day("thanksgiving") == "Thursday, November 26");
  CHECK(day("memorial day") == "Monday, May 25");
  CHECK(day("mother's day next year") == "Sunday, May 9 2027");
  Day d;
  for (const char* bad : {"blorf", "february 30", "the fortieth", "august", "next", "last august", "of", "the", "july 4 july",
                          "99999999999999999999 days ago", "-"}) {
    INFO(bad);
    CHECK_FALSE(parse_day(bad, today, &d));
  }
}

TEST_CASE("the time in other places") {
  if (!std::ifstream("/usr/share/zoneinfo/zone.tab")) {
    std::puts("skipped: the system has no time zones (tzdata)");
    return;
  }
  const auto in = [](const char* place, int64_t t) {
    int minute = -1;
    INFO(place);
    REQUIRE(time_in(place, t, &minute));
    return clock_text(minute);
  };
  constexpr int64_t winter = 1768478400, summer = 1784116800, far = 2383732800;  // 12:00 UTC on 2026-01-15, 2026-07-15, 2045-07-15
  CHECK(in("tokyo", winter) == "9:00 PM");
  CHECK(in("new york", winter) == "7:00 AM");
  CHECK(in("new york", summer) == "8:00 AM");
  CHECK(in("boston", far) == "8:00 AM");  // by the rule behind the last change
  CHECK(in("london", summer) == "1:00 PM");
  CHECK(in("india", summer) == "5:30 PM");
  CHECK(in("sydney", winter) == "11:00 PM");  // summer there
  CHECK(in("sydney", far) == "10:00 PM");
  CHECK(in("port moresby", winter) == "10:00 PM");
  CHECK(in("tbilisi", winter) == "4:00 PM");
  CHECK(in("luxembourg", summer) == "2:00 PM");
  CHECK(in("norway", summer) == "2:00 PM");
  CHECK(in("the philippines", winter) == "8:00 PM");
  int minute = 0;
  for (const char* bad : {"", "atlantis", "../../etc/passwd", "utc/../..", "a, b"}) CHECK_FALSE(time_in(bad, winter, &minute));
}

TEST_CASE("every tool of tools.json is there") {
  Flat home;
  const json tools = json::parse(content("examples/assistant/tools.json"));
  std::set<std::string> names;
  for (const json& tool : tools) {
    const std::string name = tool["function"]["name"];
    names.insert(name);
    CHECK(home(name) != R"({"error":"no such tool"})");
  }
  CHECK(names.size() == 26);
  for (const char* bad : {"", "{", "[]", "null", R"({"name":1})", R"({"name":"fly"})", R"({"arguments":{}})"})
    CHECK(home.tools.call(bad).json == R"({"error":"no such tool"})");
  // Arguments of any kind are survived.
  for (const std::string& name : names)
    for (
        const char* args :
        {"null", "[]",
         R"({"minutes":"x","hours":1e300,"seconds":-5,"name":7,"rooms":"all","items":[1,null,["a"]],"list":{},"time":"99:99","day":[],"value":"?","level":1e18,"degrees":-1,"temperature":1e99})",
         R"({"minutes":999999999999999999,"name":"","rooms":[""],"items":[""],"list":"","time":"aa:bb","day":"","expression":"","from":"","to":"","value":0})"})
      home(name, args);
}

TEST_CASE("timers") {
  Flat home;
  CHECK(home("get_timer") == R"({"error":"no timer running"})");
  CHECK(home("cancel_timer", R"({"name":"pasta"})") == R"({"error":"no pasta timer"})");
  CHECK(home("set_timer", R"({"minutes":10})") == R"({"ok":true})");
  home.now_ms += 61500;
  CHECK(home("get_timer") == R"({"left":"8 minutes and 59 seconds"})");
  CHECK(home("set_timer", R"({"hours":1,"minutes":30,"name":"Roast"})") == R"({"ok":true})");
  CHECK(home("get_timer") ==
        R"({"timers":[{"name":"10 minute timer","left":"8 minutes and 59 seconds"},{"name":"roast","left":"1 hour and 30 minutes"}]})");
  CHECK(home("pause_timer", R"({"name":"roast"})") == R"({"ok":true})");
  home.now_ms += 60000;
  CHECK(home("get_timer", R"({"name":"roast"})") == R"({"left":"1 hour and 30 minutes"})");
  CHECK(home("resume_timer") == R"({"ok":true})");
  CHECK(home("add_to_timer", R"({"minutes":5,"name":"roast"})") == R"({"ok":true})");
  home.now_ms += 60000;
  CHECK(home("get_timer", R"({"name":"roast"})") == R"({"left":"1 hour and 34 minutes"})");
  CHECK(home("cancel_timer", R"({"minutes":10})") == R"({"ok":true})");
  CHECK(home("cancel_timer", R"({"minutes":10})") == R"({"error":"no timer running"})");
  CHECK(home("cancel_timer", R"({"all":true})") == R"({"ok":true})");
  CHECK(home("cancel_timer", R"({"all":true})") == R"({"error":"no timer running"})");
  CHECK(home.raw("set_timer").say != "");
  CHECK(home.raw("set_timer", R"({"hours":999999})").say != "");
  for (size_t i = 0; i < kMaxTimers; ++i) CHECK(home("set_timer", R"({"minutes":1})") == R"({"ok":true})");
  CHECK(home.raw("set_timer", R"({"minutes":1})").say != "");
}

TEST_CASE("timers and alarms ring") {
  Flat home;
  CHECK(home.tools.next_ring_ms() == INT64_MAX);
  home("set_timer", R"({"minutes":1,"name":"egg"})");
  home("set_alarm", R"({"time":"12:05","name":"call mum"})");
  CHECK(home.tools.next_ring_ms() == kNoon * 1000 + 60000);
  home.now_ms += 59999;
  CHECK_FALSE(home.tools.ring());
  home.now_ms += 1;
  auto ring = home.tools.ring();
  REQUIRE(ring);
  CHECK(ring->text == "Your egg timer is done.");
  CHECK_FALSE(home.tools.ring());  // once
  CHECK(home("get_timer") == R"({"error":"no timer running"})");
  CHECK(home("cancel_timer") == R"({"ok":true})");
  CHECK(home("snooze_alarm") == R"({"error":"no alarm ringing"})");
  home.now_ms = (kNoon + 300) * 1000;
  ring = home.tools.ring();
  REQUIRE(ring);
  CHECK(ring->text == "It's 12:05 PM: call mum.");
  CHECK(home("snooze_alarm", R"({"minutes":7})") == R"({"ok":true})");
  home.now_ms += 419999;
  CHECK_FALSE(home.tools.ring());
  home.now_ms += 1;
  CHECK(home.tools.ring());
  home.now_ms += 700000;  // nobody came
  CHECK_FALSE(home.tools.ring());
  CHECK(home("get_alarms") == R"({"alarms":[]})");
  CHECK(home.tools.next_ring_ms() == INT64_MAX);
}

TEST_CASE("alarms") {
  Flat home;
  CHECK(home("cancel_alarm") == R"({"error":"no alarm set"})");
  CHECK(home("cancel_alarm", R"({"time":"07:00"})") == R"({"error":"no such alarm"})");
  CHECK(home("set_alarm", R"({"time":"07:00"})") == R"({"ok":true})");  // tomorrow: it is noon
  CHECK(home("set_alarm", R"({"time":"06:30","day":"weekdays"})") == R"({"ok":true})");
  CHECK(home("set_alarm", R"({"time":"20:15","day":"tonight","name":"bins"})") == R"({"ok":true})");
  CHECK(home("set_alarm", R"({"time":"09:00","day":"friday"})") == R"({"ok":true})");
  CHECK(home("set_alarm", R"({"time":"10:00","day":"the twenty-seventh of december"})") == R"({"ok":true})");
  CHECK(
      home("get_alarms") ==
      R"({"alarms":[{"time":"20:15","day":"tonight","name":"bins"},{"time":"06:30","day":"weekdays"},{"time":"07:00"},{"time":"09:00","day":"friday"},{"time":"10:00","day":"the twenty-seventh of december"}]})");
  CHECK(home("get_alarms", R"({"day":"tomorrow"})") ==
        R"({"alarms":[{"time":"06:30","day":"tomorrow"},{"time":"07:00","day":"tomorrow"}]})");
  CHECK(home("get_alarms", R"({"day":"sunday"})") == R"({"alarms":[]})");
  CHECK(home.raw("set_alarm", R"({"time":"25:00"})").say != "");
  CHECK(home.raw("set_alarm", R"({"time":"07:00","day":"blorf"})").say != "");
  CHECK(home.raw("set_alarm", R"({"time":"07:00","day":"today"})").say != "");
  home.now_ms += 86400000 - 5 * 3600000;  // Tuesday, 07:00; what was missed is told
  std::vector<std::string> said;
  while (const auto ring = home.tools.ring()) said.push_back(ring->text);
  CHECK(said == std::vector<std::string>{"It's 7:00 AM.", "Your alarm was due at 6:30 AM.", "Your alarm was due at 8:15 PM: bins."});
  CHECK(home("get_alarms", R"({"day":"wednesday"})") == R"({"alarms":[{"time":"06:30","day":"wednesday"}]})");  // weekdays go on
  CHECK(home("cancel_alarm", R"({"time":"09:00"})") == R"({"ok":true})");
  CHECK(home("cancel_alarm", R"({"day":"weekdays"})") == R"({"ok":true})");
  CHECK(home("cancel_alarm", R"({"name":"bins"})") == R"({"error":"no such alarm"})");
  CHECK(home("cancel_alarm", R"({"all":true})") == R"({"ok":true})");
  CHECK(home("cancel_alarm", R"({"all":true})") == R"({"error":"no alarm set"})");
}

TEST_CASE("clock, lights, heating, music, volume, lists") {
  Flat home;
  CHECK(home("get_time") == R"({"time":"12:00 PM"})");
  CHECK(home("get_time", R"({"place":"atlantis"})") == R"({"error":"unknown place"})");
  CHECK(home("get_date", R"({"day":"tomorrow"})") == R"({"date":"Tuesday, March 3"})");
  CHECK(home.raw("get_date", R"({"day":"blorf"})").say != "");

  CHECK(home("get_light", R"({"rooms":["all"]})") == R"({"on":[]})");
  CHECK(home("set_light", R"({"state":"on"})") == R"({"ok":true})");
  CHECK(home("set_light", R"({"rooms":["the Kitchen","hall"],"brightness":40,"color":"warm"})") == R"({"ok":true})");
  CHECK(home("get_light", R"({"rooms":["all"]})") == R"({"on":["hall","kitchen","living room"]})");
  CHECK(home("set_light", R"({"rooms":["kitchen"],"change":"brighter"})") == R"({"ok":true})");
  json event = home.tools.event();
  CHECK(event["lights"]["kitchen"].dump() == R"({"on":true,"brightness":60,"color":"warm"})");
  CHECK(home("set_light", R"({"rooms":["all"],"state":"off"})") == R"({"ok":true})");
  CHECK(home("get_light", R"({"rooms":["kitchen"]})") == R"({"on":[]})");
  {
    Flat small("", {"kitchen"});
    CHECK(small("set_light", R"({"rooms":["kitchen","scullery"],"state":"on"})") == R"({"error":"there is no light in the scullery"})");
    CHECK(small("get_light", R"({"rooms":["kitchen"]})") == R"({"on":[]})");  // an error has no effect
    CHECK(small("set_thermostat", R"({"room":"annex","temperature":20})") == R"({"error":"there is no thermostat in the annex"})");
    CHECK(small("get_temperature", R"({"room":"ezra's office"})") == R"({"error":"there is no thermometer in ezra's office"})");
  }
  CHECK(home("set_thermostat", R"({"temperature":23})") == R"({"ok":true})");
  CHECK(home("set_thermostat", R"({"room":"study","change":"down","degrees":4})") == R"({"ok":true})");
  CHECK(home("get_temperature", R"({"room":"study"})") == R"({"temperature":"19 degrees"})");
  CHECK(home("get_temperature") == R"({"temperature":"23 degrees"})");

  CHECK(home("get_music") == R"({"error":"nothing is playing"})");
  CHECK(home("control_music", R"({"action":"next"})") == R"({"error":"nothing is playing"})");
  CHECK(home("play_music", R"({"title":"Sailing","artist":"toto"})") == R"({"ok":true})");
  CHECK(home("get_music") == R"({"title":"sailing","artist":"toto"})");
  CHECK(home("control_music", R"({"action":"next"})") == R"({"ok":true})");
  CHECK(home("get_music") != R"({"title":"sailing","artist":"toto"})");
  CHECK(home("control_music", R"({"action":"stop"})") == R"({"ok":true})");

  CHECK(home("set_volume", R"({"level":100})") == R"({"ok":true})");
  CHECK(home("set_volume", R"({"change":"up"})") == R"({"error":"already at maximum"})");
  CHECK(home("set_volume", R"({"level":0})") == R"({"ok":true})");
  CHECK(home("set_volume", R"({"change":"down"})") == R"({"error":"already at minimum"})");

  CHECK(home("add_to_list", R"({"list":"shopping","items":["Milk","two  eggs","milk"]})") == R"({"ok":true})");
  CHECK(home("read_list", R"({"list":"shopping"})") == R"({"items":["milk","two eggs"]})");
  CHECK(home("remove_from_list", R"({"list":"shopping","items":["milk","pistachios"]})") ==
        R"({"error":"pistachios are not on the list"})");
  CHECK(home("remove_from_list", R"({"list":"shopping","items":["milk"]})") == R"({"ok":true})");
  CHECK(home("read_list", R"({"list":"honeymoon"})") == R"({"error":"there is no honeymoon list"})");
  CHECK(home("clear_list", R"({"list":"shopping"})") == R"({"ok":true})");
  CHECK(home("clear_list", R"({"list":"shopping"})") == R"({"error":"the shopping list is already empty"})");
  for (int i = 0; i < 30; ++i) home("add_to_list", R"({"list":"to-do","items":["thing )" + std::to_string(i) + R"("]})");
  CHECK(home("read_list", R"({"list":"to-do"})").find(R"("21 more"])") != std::string::npos);
  for (size_t i = 0; i + 1 < kMaxItems; ++i) home("add_to_list", R"({"list":"shopping","items":["thing )" + std::to_string(i) + R"("]})");
  CHECK(home.raw("add_to_list", R"({"list":"shopping","items":["one","two"]})").say == "That list is full.");  // and "one" is not on it
  CHECK(home.tools.event()["lists"]["shopping"].size() == kMaxItems - 1);
}

TEST_CASE("the home is kept") {
  Folder folder;
  const std::string state = folder.file("home.json");
  {
    Flat home(state);
    home("set_timer", R"({"minutes":1,"name":"egg"})");
    home("set_timer", R"({"hours":2,"name":"bread"})");
    home("pause_timer", R"({"name":"bread"})");
    home("set_alarm", R"({"time":"07:00","day":"weekdays","name":"swim \"club\" \u00e9"})");
    home("add_to_list", R"({"list":"party","items":["hats"]})");
    home("set_light", R"({"rooms":["kitchen"],"brightness":7,"color":"red"})");
    home("set_thermostat", R"({"room":"study","temperature":25,"mode":"cool"})");
    home("play_music", R"({"title":"air"})");
    home("set_volume", R"({"level":33})");
    Tools second;
    std::string note, why;
    CHECK_FALSE(second.open({state, "", {}}, [] { return kNoon; }, &note, &why));
    CHECK(why == state + ": another assistant has it open");
  }
  const std::string before = content(state);
  Home parsed;
  std::string why;
  REQUIRE(parse_home(before, &parsed, &why));
  CHECK(home_text(parsed) == before);
  Flat again(state);
  CHECK(again.note.empty());
  CHECK(content(state) == before);
  // Two hours later: the egg is long done, the bread still waits.
  again.now_ms += 7200000;
  const auto ring = again.tools.ring();
  REQUIRE(ring);
  CHECK(ring->text == "Your egg timer ended 1 hour and 59 minutes ago.");
  CHECK(again("get_timer", R"({"name":"bread"})") == R"({"left":"2 hours"})");
}

TEST_CASE("a damaged home is told by name and kept aside") {
  const Home good;
  const std::string text = home_text(good);
  Folder folder;
  std::vector<std::string> damaged = {
      "", "{", "[]", "null", text.substr(0, text.size() / 2), text + "x", std::string(100000, '['), std::string(1 << 20, '\0')};
  const std::pair<const char*, const char*> changes[] = {
      {"\"version\": 1", "\"version\": 2"},
      {"\"version\": 1", "\"version\": \"1\""},
      {"\"timers\": []", "\"timers\": {}"},
      {"\"timers\": []", "\"timers\": [1]"},
      {"\"timers\": []", R"("timers": [{"id":1,"name":"x","seconds":99999999999,"due_ms":1,"paused":false,"ringing":false}])"},
      {"\"volume\": 50", "\"volume\": 500"},
      {"\"muted\": false", "\"muted\": 0"},
      {"\"next_id\": 1", "\"next_id\": 1.5"},
      {"\"alarms\": []", "\"alarms\": [{}]"},
      {"\"lights\": {}", "\"lights\": {\"a\":{}}"}};
  for (const auto& [from, to] : changes) {
    std::string bad = text;
    REQUIRE(bad.find(from) != std::string::npos);
    damaged.push_back(bad.replace(bad.find(from), std::string(from).size(), to));
  }
  for (size_t i = 0; i < damaged.size(); ++i) {
    const std::string state = folder.file(("home" + std::to_string(i) + ".json").c_str());
    std::ofstream(state, std::ios::binary) << damaged[i];
    std::filesystem::permissions(state, std::filesystem::perms(0644));
    Flat home(state);
    INFO(i << ": " << home.note);
    CHECK(home.note.find(state + ": ") == 0);
    const size_t at = home.note.find("kept as ");
    REQUIRE(at != std::string::npos);
    const std::string aside = home.note.substr(at + 8, home.note.find(',', at) - at - 8);
    CHECK(content(aside) == damaged[i]);
    for (const std::string& file : {aside, state}) CHECK(std::filesystem::status(file).permissions() == std::filesystem::perms(0600));
    CHECK(home("set_timer", R"({"minutes":1})") == R"({"ok":true})");
  }
}

TEST_CASE("what is named as a home and is no file is refused and stays") {
  Folder folder;
  Tools tools;
  std::string note, why;
  const std::string fifo = folder.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_FALSE(tools.open({fifo, "", {}}, [] { return kNoon; }, &note, &why));
  CHECK(why == fifo + ": is not a regular file");
  CHECK(std::filesystem::is_fifo(fifo));
  // A link leads to the home, which is kept where it lies; one in place of the lock or the temporary file leads nowhere.
  std::filesystem::create_symlink("real.json", folder.file("link.json"));
  Flat(folder.file("link.json"))("set_timer", R"({"minutes":1})");
  CHECK(std::filesystem::is_symlink(folder.file("link.json")));
  CHECK(content(folder.file("real.json")).find("\"timers\"") != std::string::npos);
  std::ofstream(folder.file("other")) << "precious";
  for (const char* name : {"home.json.lock", "home.json.tmp"}) {
    std::filesystem::create_symlink("other", folder.file(name));
    Tools more;
    CHECK_FALSE(more.open({folder.file("home.json"), "", {}}, [] { return kNoon; }, &note, &why));
    CHECK(content(folder.file("other")) == "precious");
    std::filesystem::remove(folder.file(name));
  }
}

TEST_CASE("what cannot be saved has not happened") {
  Folder folder;
  const std::string state = folder.file("home.json");
  Flat home(state);
  REQUIRE(home("set_timer", R"({"minutes":1})") == R"({"ok":true})");
  std::filesystem::create_directory(state + ".tmp");  // in the way
  const ToolResult result = home.raw("set_timer", R"({"minutes":2})");
  CHECK(result.say == "Sorry, I could not save that.");
  CHECK(home("get_timer") == R"({"left":"1 minute"})");
  std::filesystem::remove(state + ".tmp");
  CHECK(home("set_timer", R"({"minutes":2})") == R"({"ok":true})");
  Tools none;
  std::string note, why;
  CHECK_FALSE(none.open({"/nowhere/home.json", "", {}}, [] { return kNoon; }, &note, &why));
  CHECK(why.find("/nowhere/home.json") == 0);
}

TEST_CASE("200 kills lose nothing that was answered") {
  Folder folder;
  const std::string state = folder.file("home.json");
  std::mt19937 random(7);
  size_t answered = 0, killed_between = 0;
  for (int kill_number = 0; kill_number < 200; ++kill_number) {
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      close(pipe_ends[0]);
      Tools tools;
      std::string note, why;
      if (!tools.open({state, "", {}}, [] { return kNoon * 1000; }, &note, &why) || !note.empty()) _exit(3);
      for (int i = 0;; ++i) {
        // A new item, and the oldest goes, so that the list does not fill up: two effects.
        const std::string name = std::to_string(kill_number) + "-" + std::to_string(i);
        if (tools.call(R"({"name":"clear_list","arguments":{"list":"shopping"}})").json.empty()) _exit(4);
        if (tools.call(R"({"name":"add_to_list","arguments":{"list":"shopping","items":[")" + name + R"("]}})").json != R"({"ok":true})")
          _exit(5);
        if (write(pipe_ends[1], (name + "\n").data(), name.size() + 1) < 0) _exit(6);
      }
    }
    close(pipe_ends[1]);
    pollfd first = {pipe_ends[0], POLLIN, 0};
    if (kill_number % 4) REQUIRE(poll(&first, 1, 60000) == 1);  // one in four at any time from its start
    usleep(static_cast<useconds_t>(random() % 8000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    INFO("exit status " << status);
    REQUIRE(WIFSIGNALED(status));
    std::string told;
    char buffer[4096];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;) told.append(buffer, static_cast<size_t>(n));
    close(pipe_ends[0]);
    Home home;
    std::string why;
    INFO(why);
    if (!std::filesystem::exists(state)) continue;  // killed before the first effect
    REQUIRE(parse_home(content(state), &home, &why));
    if (told.empty()) continue;
    told.pop_back();
    const std::string last = told.substr(told.rfind('\n') == std::string::npos ? 0 : told.rfind('\n') + 1);
    const int number = std::atoi(last.substr(last.find('-') + 1).c_str());
    const auto& list = home.lists["shopping"];
    // The last effect that was answered, or one of the two that were being done.
    const std::string next = std::to_string(kill_number) + "-" + std::to_string(number + 1);
    REQUIRE(list.size() <= 1);
    CHECK((list.empty() || list[0] == last || list[0] == next));
    ++answered;
    killed_between += list.empty() || list[0] != last;
  }
  CHECK(answered >= 150);
  CHECK(killed_between > 0);
}
