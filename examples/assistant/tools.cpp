#include "tools.h"

#include <algorithm>
#include <cmath>

#include "calculator.h"
#include "calendar.h"

namespace assistant {
namespace {

constexpr int64_t kRinging = 600;  // seconds until it falls silent by itself
constexpr int kSnooze = 9;         // minutes
constexpr size_t kMaxSpoken = 10;  // items of a list that are read out

const json kOk = {{"ok", true}};
json error(const std::string& what) { return {{"error", what}}; }

std::string text_of(const json& args, const char* name) {
  const auto it = args.find(name);
  return it != args.end() && it->is_string() ? it->get<std::string>() : "";
}
int64_t number_of(const json& args, const char* name, int64_t otherwise) {
  const auto it = args.find(name);
  if (it == args.end() || !it->is_number()) return otherwise;
  return static_cast<int64_t>(std::clamp(it->get<double>(), -1e15, 1e15));
}
bool flag_of(const json& args, const char* name) {
  const auto it = args.find(name);
  return it != args.end() && it->is_boolean() && it->get<bool>();
}
std::vector<std::string> texts_of(const json& args, const char* name) {
  std::vector<std::string> out;
  const auto it = args.find(name);
  if (it != args.end() && it->is_array())
    for (const json& j : *it)
      if (j.is_string()) out.push_back(j.get<std::string>());
  return out;
}

// "The  Kitchen" and "kitchen" are one; of days the article stays.
std::string plain(const std::string& name, bool with_article = false) {
  std::string out;
  for (const char c : name.substr(0, kMaxName)) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80 && name.size() > kMaxName) out.pop_back();  // no half of a character
  return out.starts_with("the ") && !with_article ? out.substr(4) : out;
}

std::string several(int64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// "1 hour and 30 minutes"; beside hours seconds are not said.
std::string duration_text(int64_t s) {
  std::string out;
  const auto add = [&](int64_t n, const char* what) {
    if (n) out += (out.empty() ? "" : " and ") + several(n, what);
  };
  add(s / 3600, "hour"), add(s / 60 % 60, "minute");
  if (s < 3600) add(s % 60, "second");
  return out.empty() ? "0 seconds" : out;
}

std::string timer_name(const Timer& t) {
  if (!t.name.empty()) return t.name + " timer";
  std::string length = duration_text(t.seconds);
  if (length.ends_with('s')) length.pop_back();
  return length + " timer";
}

std::string located(const std::string& room) {
  if (room == "upstairs" || room == "downstairs" || room == "outside") return room;
  return (room.find("'s ") != std::string::npos ? "in " : "in the ") + room;
}

bool repeats(const std::string& day) { return day == "daily" || day == "weekdays" || day == "weekends"; }
bool repeats_on(const std::string& day, Day d) {
  const bool weekend = weekday(d) == 0 || weekday(d) == 6;
  return day == "daily" || weekend == (day == "weekends");
}

int64_t seconds_of(const json& args) {
  double s = 0;
  for (const auto& [name, unit] : {std::pair{"hours", 3600}, {"minutes", 60}, {"seconds", 1}}) s += static_cast<double>(number_of(args, name, 0)) * unit;
  return static_cast<int64_t>(std::clamp(s, -1e9, 1e9));
}

// What a simulated player has: old enough to be everybody's.
constexpr const char* kLibrary[][2] = {{"clair de lune", "debussy"}, {"the entertainer", "scott joplin"}, {"ode to joy", "beethoven"}, {"spring", "vivaldi"}, {"the blue danube", "johann strauss"},
    {"the swan", "saint saens"}, {"air", "bach"}, {"morning mood", "grieg"}, {"the nutcracker", "tchaikovsky"}, {"nocturne", "chopin"}};
constexpr size_t kPieces = std::size(kLibrary);

}  // namespace

const std::pair<const char*, Tools::Fn> Tools::kTools[] = {
    {"set_timer", &Tools::set_timer}, {"cancel_timer", &Tools::cancel_timer}, {"get_timer", &Tools::get_timer}, {"pause_timer", &Tools::pause_timer}, {"resume_timer", &Tools::resume_timer},
    {"add_to_timer", &Tools::add_to_timer}, {"set_alarm", &Tools::set_alarm}, {"cancel_alarm", &Tools::cancel_alarm}, {"get_alarms", &Tools::get_alarms}, {"snooze_alarm", &Tools::snooze_alarm},
    {"get_time", &Tools::get_time}, {"get_date", &Tools::get_date}, {"set_light", &Tools::set_light}, {"get_light", &Tools::get_light}, {"set_thermostat", &Tools::set_thermostat},
    {"get_temperature", &Tools::get_temperature}, {"play_music", &Tools::play_music}, {"control_music", &Tools::control_music}, {"get_music", &Tools::get_music}, {"set_volume", &Tools::set_volume},
    {"add_to_list", &Tools::add_to_list}, {"remove_from_list", &Tools::remove_from_list}, {"read_list", &Tools::read_list}, {"clear_list", &Tools::clear_list}, {"calculate", &Tools::calculate_sum},
    {"convert_units", &Tools::convert}};

bool Tools::open(const ToolsConfig& config, Clock clock, std::string* note, std::string* why) {
  config_ = config;
  for (std::string& room : config_.rooms) room = plain(room);
  config_.room = plain(config_.room);
  clock_ = std::move(clock);
  if (!file_.open(config_.state, &home_, note, why)) return false;
  for (const std::string& room : config_.rooms) home_.lights.try_emplace(room);
  return file_.save(home_, why);  // a folder that cannot be written to is told now
}

ToolResult Tools::call(std::string_view text, json* parsed) {
  const std::lock_guard lock(mutex_);
  json call = json::parse(text, nullptr, false);
  if (parsed) *parsed = call;
  const std::string name = call.is_object() ? text_of(call, "name") : "";
  for (const auto& [known, fn] : kTools) {
    if (name != known) continue;
    const Home before = home_;
    const std::string was = home_text(home_);
    const json empty = json::object();
    const auto args = call.find("arguments");
    say_.clear();
    json result = (this->*fn)(args != call.end() && args->is_object() ? *args : empty);
    std::string why;
    if (result.contains("error")) home_ = before;
    if (home_text(home_) != was && !file_.save(home_, &why)) {
      home_ = before;
      result = error(why);
      say_ = "Sorry, I could not save that.";
    }
    return {result.dump(-1, ' ', false, json::error_handler_t::replace), say_};
  }
  return {error("no such tool").dump(), "Sorry, I can't do that."};
}

// ---- timers -----------------------------------------------------------------------------------------------------------------

int64_t Tools::left_ms(const Timer& t) const { return t.paused ? t.due_ms : std::max<int64_t>(0, t.due_ms - clock_()); }

// The timer that is meant: by name, else by length, else the one that was set last.
Timer* Tools::timer(const json& args, json* no) {
  const std::string name = plain(text_of(args, "name"));
  const bool by_length = seconds_of(args) > 0;
  for (auto t = home_.timers.rbegin(); t != home_.timers.rend(); ++t)
    if (!t->ringing && (name.empty() || t->name == name)) return &*t;
  *no = error(name.empty() || by_length ? "no timer running" : "no " + name + " timer");
  return nullptr;
}

json Tools::set_timer(const json& args) {
  const int64_t s = seconds_of(args);
  if (s <= 0) return say_ = "How long should the timer run?", error("no time given");
  if (s > kMaxTimer) return say_ = "A timer can run for a hundred days at most.", error("too long");
  if (home_.timers.size() >= kMaxTimers) return say_ = "There are too many timers already.", error("too many timers");
  home_.timers.push_back({home_.next_id++, s, plain(text_of(args, "name")), clock_() + s * 1000});
  return kOk;
}

json Tools::cancel_timer(const json& args) {
  std::vector<Timer>& all = home_.timers;
  const std::string name = plain(text_of(args, "name"));
  const int64_t s = seconds_of(args);
  if (all.empty()) return error(name.empty() ? "no timer running" : "no " + name + " timer");
  if (flag_of(args, "all")) return all.clear(), kOk;
  // A ringing one first, then the one that was set last.
  auto found = all.end();
  for (auto t = all.begin(); t != all.end(); ++t)
    if ((name.empty() || t->name == name) && (s == 0 || t->seconds == s) && (found == all.end() || t->ringing || !found->ringing)) found = t;
  if (found == all.end()) return error(name.empty() ? "no timer running" : "no " + name + " timer");
  all.erase(found);
  return kOk;
}

json Tools::get_timer(const json& args) {
  json no;
  Timer* t = timer(args, &no);
  if (!t) return no;
  json many = json::array();
  for (const Timer& each : home_.timers)
    if (!each.ringing && many.size() < kMaxSpoken)
      many.push_back({{"name", each.name.empty() ? timer_name(each) : each.name}, {"left", duration_text((left_ms(each) + 999) / 1000)}});
  if (!text_of(args, "name").empty() || many.size() == 1) return {{"left", duration_text((left_ms(*t) + 999) / 1000)}};
  return {{"timers", many}};
}

json Tools::pause_timer(const json& args) {
  json no;
  Timer* t = timer(args, &no);
  if (!t) return no;
  if (!t->paused) t->due_ms = left_ms(*t), t->paused = true;
  return kOk;
}

json Tools::resume_timer(const json& args) {
  json no;
  Timer* t = nullptr;
  const std::string name = plain(text_of(args, "name"));
  for (Timer& each : home_.timers)  // one that is held before one that runs
    if (each.paused && (name.empty() || each.name == name)) t = &each;
  if (!t && !(t = timer(args, &no))) return no;
  if (t->paused) t->due_ms += clock_(), t->paused = false;
  return kOk;
}

json Tools::add_to_timer(const json& args) {
  json no, which = args;
  for (const char* unit : {"hours", "minutes", "seconds"}) which.erase(unit);
  Timer* t = timer(which, &no);
  if (!t) return no;
  const int64_t s = seconds_of(args);
  if (s <= 0) return say_ = "How much longer should it run?", error("no time given");
  if (left_ms(*t) / 1000 + s > kMaxTimer) return say_ = "A timer can run for a hundred days at most.", error("too long");
  t->due_ms += s * 1000;
  return kOk;
}

// ---- alarms -----------------------------------------------------------------------------------------------------------------

json Tools::alarm_due(Alarm* a) {
  int minute_now = 0;
  const Day today = local_day(clock_() / 1000, &minute_now);
  const int64_t days = days_since_1970(today);
  const bool past = a->minute <= minute_now;
  Day day = today;
  if (a->day.empty() || repeats(a->day)) {
    for (int64_t d = days + past;; ++d)
      if (day = day_of(d); a->day.empty() || repeats_on(a->day, day)) break;
  } else if (!parse_day(a->day, today, &day)) {
    return say_ = "I don't know which day that is.", error("unknown day");
  } else if (day == today && past) {
    if (weekday_named(a->day) >= 0) day = day_of(days + 7);
    else if (a->day == "tonight" && a->minute < 6 * 60) day = day_of(days + 1);
    else return say_ = "That time has already passed.", error("time has passed");
  } else if (days_since_1970(day) < days) {
    return say_ = "That day has already passed.", error("day has passed");
  }
  a->due_s = local_time(day, a->minute);
  return nullptr;
}

json Tools::set_alarm(const json& args) {
  const std::string time = text_of(args, "time");
  const auto digit = [&](size_t i) { return i < time.size() && time[i] >= '0' && time[i] <= '9' ? time[i] - '0' : -1; };
  const int hour = digit(0) * 10 + digit(1), minute = digit(3) * 10 + digit(4);
  if (time.size() != 5 || time[2] != ':' || std::min({digit(0), digit(1), digit(3), digit(4)}) < 0 || hour > 23 || minute > 59)
    return say_ = "I don't know which time that is.", error("no time of day");
  if (home_.alarms.size() >= kMaxAlarms) return say_ = "There are too many alarms already.", error("too many alarms");
  Alarm a = {home_.next_id, 0, hour * 60 + minute, plain(text_of(args, "day"), true), plain(text_of(args, "name"))};
  if (json no = alarm_due(&a); !no.is_null()) return no;
  ++home_.next_id;
  home_.alarms.push_back(a);
  return kOk;
}

// "today", "friday", or as it was said.
std::string Tools::day_word(const Alarm& a) const {
  if (a.day.empty() || repeats(a.day)) return a.day;
  const Day due = local_day(a.due_s), today = local_day(clock_() / 1000);
  const int64_t ahead = days_since_1970(due) - days_since_1970(today);
  return ahead == 0 ? (a.day == "tonight" ? "tonight" : "today") : ahead == 1 ? "tomorrow" : a.day;
}

bool Tools::on_day(const Alarm& a, const std::string& day) const {
  Day wanted;
  if (day.empty() || day == a.day) return true;
  if (repeats(day) || !parse_day(day, local_day(clock_() / 1000), &wanted)) return false;
  return repeats(a.day) ? repeats_on(a.day, wanted) : local_day(a.due_s) == wanted;
}

json Tools::cancel_alarm(const json& args) {
  std::vector<Alarm>& all = home_.alarms;
  const std::string time = text_of(args, "time"), day = plain(text_of(args, "day"), true), name = plain(text_of(args, "name"));
  const bool every = flag_of(args, "all"), any = time.empty() && day.empty() && name.empty();
  if (all.empty()) return error(every || any ? "no alarm set" : "no such alarm");
  const auto matches = [&](const Alarm& a) {
    char clock[16];
    std::snprintf(clock, sizeof clock, "%02d:%02d", a.minute / 60 % 24, a.minute % 60);
    return (time.empty() || time == clock) && (name.empty() || a.name == name) && on_day(a, day);
  };
  if (every) return std::erase_if(all, matches) ? kOk : error("no such alarm");
  // The one that rings, else the next one.
  auto found = all.end();
  for (auto a = all.begin(); a != all.end(); ++a)
    if (matches(*a) && (found == all.end() || (a->rang_s && !found->rang_s) || (!a->rang_s == !found->rang_s && a->due_s < found->due_s))) found = a;
  if (found == all.end()) return error("no such alarm");
  if (found->rang_s && repeats(found->day)) found->rang_s = 0;  // it rings again another day
  else all.erase(found);
  return kOk;
}

json Tools::get_alarms(const json& args) {
  const std::string day = plain(text_of(args, "day"), true);
  std::vector<Alarm> all = home_.alarms;
  std::sort(all.begin(), all.end(), [](const Alarm& a, const Alarm& b) { return a.due_s < b.due_s; });
  json out = json::array();
  for (const Alarm& a : all) {
    if (!on_day(a, day) || out.size() >= kMaxSpoken) continue;
    char clock[16];
    std::snprintf(clock, sizeof clock, "%02d:%02d", a.minute / 60 % 24, a.minute % 60);
    json each = {{"time", clock}};
    const std::string when = day.empty() ? day_word(a) : day;
    if (!when.empty()) each["day"] = when;
    if (!a.name.empty()) each["name"] = a.name;
    out.push_back(each);
  }
  return {{"alarms", out}};
}

json Tools::snooze_alarm(const json& args) {
  const int64_t minutes = std::clamp<int64_t>(number_of(args, "minutes", kSnooze), 1, 1440);
  for (Alarm& a : home_.alarms) {
    if (!a.rang_s) continue;
    a.rang_s = 0;
    Alarm again = {home_.next_id++, clock_() / 1000 + minutes * 60, 0, "", a.name};
    local_day(again.due_s, &again.minute);
    if (!repeats(a.day)) a = again;
    else if (home_.alarms.size() < kMaxAlarms) home_.alarms.push_back(again);
    return kOk;
  }
  return error("no alarm ringing");
}

// ---- what rings -----------------------------------------------------------------------------------------------------------------

std::optional<Tools::Ring> Tools::ring() {
  const std::lock_guard lock(mutex_);
  const int64_t now = clock_();
  std::optional<Ring> out;
  const std::string was = home_text(home_);
  std::erase_if(home_.timers, [&](const Timer& t) { return t.ringing && now - t.due_ms > kRinging * 1000; });
  std::erase_if(home_.alarms, [&](Alarm& a) {
    if (!a.rang_s || now / 1000 - a.rang_s <= kRinging) return false;
    a.rang_s = 0;
    return !repeats(a.day);
  });
  for (auto t = home_.timers.begin(); !out && t != home_.timers.end(); ++t) {
    if (t->paused || t->ringing || t->due_ms > now) continue;
    const int64_t late = (now - t->due_ms) / 1000;  // nobody was there to ring
    out = Ring{"timer", t->name, "Your " + timer_name(*t) + (late < 60 ? " is done." : " ended " + duration_text(late) + " ago.")};
    if (late > kRinging) home_.timers.erase(t);
    else t->ringing = true;
    break;
  }
  for (auto a = home_.alarms.begin(); !out && a != home_.alarms.end(); ++a) {
    if (a->rang_s || a->due_s > now / 1000) continue;
    const int64_t late = now / 1000 - a->due_s;
    out = Ring{"alarm", a->name, (late < 60 ? "It's " : "Your alarm was due at ") + clock_text(a->minute) + (a->name.empty() ? "." : ": " + a->name + ".")};
    if (late <= kRinging) a->rang_s = now / 1000;
    if (repeats(a->day)) alarm_due(&*a);
    else if (late > kRinging) home_.alarms.erase(a);
    break;
  }
  std::string why;
  if (home_text(home_) != was) file_.save(home_, &why);  // a home that cannot be saved rings all the same
  return out;
}

int64_t Tools::next_ring_ms() const {
  const std::lock_guard lock(mutex_);
  int64_t next = INT64_MAX;
  for (const Timer& t : home_.timers)
    if (!t.paused) next = std::min(next, t.ringing ? t.due_ms + kRinging * 1000 + 1000 : t.due_ms);
  for (const Alarm& a : home_.alarms) next = std::min(next, a.rang_s ? (a.rang_s + kRinging + 1) * 1000 : a.due_s * 1000);
  return next;
}

// ---- the clock --------------------------------------------------------------------------------------------------------------------

json Tools::get_time(const json& args) {
  const std::string place = text_of(args, "place");
  int minute = 0;
  if (place.empty()) local_day(clock_() / 1000, &minute);
  else if (!time_in(place, clock_() / 1000, &minute)) return error("unknown place");
  return {{"time", clock_text(minute)}};
}

json Tools::get_date(const json& args) {
  Day day;
  if (!parse_day(text_of(args, "day"), local_day(clock_() / 1000), &day)) return say_ = "I don't know which day that is.", error("unknown day");
  return {{"date", date_text(day)}};
}

// ---- lights, heating ----------------------------------------------------------------------------------------------------------------

bool Tools::known(const std::string& room) const {
  const auto& rooms = config_.rooms;
  if (rooms.empty()) return home_.lights.contains(room) || home_.lights.size() < kMaxRooms;
  return room == config_.room || std::find(rooms.begin(), rooms.end(), room) != rooms.end();
}

json Tools::set_light(const json& args) {
  std::vector<std::string> rooms = texts_of(args, "rooms");
  for (std::string& room : rooms) room = plain(room);
  const bool all = rooms.size() == 1 && rooms[0] == "all";
  if (rooms.empty()) rooms = {config_.room};
  if (all) {
    rooms.clear();
    home_.lights.try_emplace(config_.room);
    for (const auto& [room, light] : home_.lights) rooms.push_back(room);
  }
  for (const std::string& room : rooms)
    if (room.empty() || !known(room) || (home_.lights.try_emplace(room), home_.lights.size() > kMaxRooms)) {
      home_.lights.erase(room);
      return error("there is no light " + located(room));
    }
  const std::string state = text_of(args, "state"), change = text_of(args, "change"), color = text_of(args, "color");
  for (const std::string& room : rooms) {
    Light& l = home_.lights[room];
    if (const int64_t b = number_of(args, "brightness", -1); b >= 0 && b <= 100) l.brightness = static_cast<int>(b), l.on = b > 0;
    if (!change.empty()) l.brightness = std::clamp((l.on ? l.brightness : 0) + (change == "brighter" ? 20 : -20), change == "brighter" ? 20 : 5, 100), l.on = true;
    if (!color.empty()) l.color = plain(color), l.on = true;
    if (!state.empty()) l.on = state == "on";
    if (l.on && l.brightness == 0) l.brightness = 100;
  }
  return kOk;
}

json Tools::get_light(const json& args) {
  std::vector<std::string> rooms = texts_of(args, "rooms");
  json on = json::array();
  if (rooms.size() == 1 && rooms[0] == "all") {
    for (const auto& [room, light] : home_.lights)
      if (light.on && on.size() < kMaxSpoken) on.push_back(room);
    return {{"on", on}};
  }
  if (rooms.empty()) rooms = {config_.room};
  for (const std::string& said : rooms) {
    const std::string room = plain(said);
    const auto it = home_.lights.find(room);
    if (it == home_.lights.end() && !known(room)) return error("there is no light " + located(room));
    if (it != home_.lights.end() && it->second.on) on.push_back(room);
  }
  return {{"on", on}};
}

json Tools::set_thermostat(const json& args) {
  const std::string said = plain(text_of(args, "room")), room = said.empty() ? "home" : said;
  const std::string mode = text_of(args, "mode"), change = text_of(args, "change");
  if (room != "home" && (!known(room) || (!home_.climate.contains(room) && home_.climate.size() >= kMaxRooms))) return error("there is no thermostat " + located(room));
  const Climate house = home_.climate["home"];
  const auto set = [&](Climate& c) {
    if (args.contains("temperature")) c.temperature = static_cast<int>(std::clamp<int64_t>(number_of(args, "temperature", c.temperature), -50, 150));
    const int by = static_cast<int>(std::clamp<int64_t>(number_of(args, "degrees", 1), 1, 50));
    if (!change.empty()) c.temperature = std::clamp(c.temperature + (change == "up" ? by : -by), -50, 150);
    if (!mode.empty()) c.mode = mode == "on" ? "auto" : mode;
  };
  set(home_.climate.try_emplace(room, house).first->second);
  if (room == "home")  // the whole home
    for (auto& [name, c] : home_.climate)
      if (name != "home") set(c);
  return kOk;
}

json Tools::get_temperature(const json& args) {
  const std::string room = plain(text_of(args, "room"));
  if (!room.empty() && !known(room)) return error("there is no thermometer " + located(room));
  const auto it = home_.climate.find(room);
  const Climate& c = it != home_.climate.end() ? it->second : home_.climate["home"];
  return {{"temperature", several(c.temperature, "degree")}};  // a simulated home is as warm as it should be
}

// ---- music ------------------------------------------------------------------------------------------------------------------------

json Tools::play_music(const json& args) {
  Music& m = home_.music;
  m = {true, false, m.shuffle, false, plain(text_of(args, "title")), plain(text_of(args, "artist"))};
  if (m.title.empty()) {
    const size_t i = static_cast<size_t>(clock_() / 1000) % kPieces;
    m.title = kLibrary[i][0];
    if (m.artist.empty()) m.artist = kLibrary[i][1];
  }
  return kOk;
}

json Tools::control_music(const json& args) {
  Music& m = home_.music;
  const std::string action = text_of(args, "action");
  if (!m.playing) return error("nothing is playing");
  if (action == "stop") m = {};
  else if (action == "pause" || action == "resume") m.paused = action == "pause";
  else if (action == "shuffle") m.shuffle = true;
  else if (action == "repeat") m.repeat = true;
  else {
    size_t i = 0;
    while (i < kPieces && m.title != kLibrary[i][0]) ++i;
    i = (i + (action == "next" ? 1 : kPieces - 1)) % kPieces;
    m.title = kLibrary[i][0], m.artist = kLibrary[i][1], m.paused = false;
  }
  return kOk;
}

json Tools::get_music(const json&) {
  const Music& m = home_.music;
  if (!m.playing) return error("nothing is playing");
  if (m.artist.empty()) say_ = "This is " + m.title + ".";
  return {{"title", m.title}, {"artist", m.artist}};
}

json Tools::set_volume(const json& args) {
  const std::string change = text_of(args, "change");
  if (change == "mute" || change == "unmute") return home_.muted = change == "mute", kOk;
  if ((change == "up" && home_.volume == 100) || (change == "down" && home_.volume == 0)) return error(change == "up" ? "already at maximum" : "already at minimum");
  if (args.contains("level")) home_.volume = static_cast<int>(std::clamp<int64_t>(number_of(args, "level", 50), 0, 100));
  if (change == "up" || change == "down") home_.volume = std::clamp(home_.volume + (change == "up" ? 10 : -10), 0, 100);
  home_.muted = false;
  return kOk;
}

// ---- lists --------------------------------------------------------------------------------------------------------------------------

json Tools::add_to_list(const json& args) {
  const std::string name = plain(text_of(args, "list"));
  const std::vector<std::string> items = texts_of(args, "items");
  if (name.empty() || items.empty()) return say_ = "What should I add?", error("nothing to add");
  if (!home_.lists.contains(name) && home_.lists.size() >= kMaxLists) return say_ = "There are too many lists already.", error("too many lists");
  std::vector<std::string>& list = home_.lists[name];
  for (const std::string& said : items) {
    const std::string item = plain(said);
    if (item.empty() || std::find(list.begin(), list.end(), item) != list.end()) continue;
    if (list.size() >= kMaxItems) return say_ = "That list is full.", error("the list is full");
    list.push_back(item);
  }
  return kOk;
}

json Tools::remove_from_list(const json& args) {
  const std::string name = plain(text_of(args, "list"));
  const auto it = home_.lists.find(name);
  if (it == home_.lists.end()) return error("there is no " + name + " list");
  const std::vector<std::string> items = texts_of(args, "items");
  for (const std::string& said : items) {
    const std::string item = plain(said);
    if (std::find(it->second.begin(), it->second.end(), item) != it->second.end()) continue;
    const bool many = name != "to-do" && item.ends_with("s") && !item.ends_with("ss");
    return error(item + (many ? " are" : " is") + " not on the list");
  }
  for (const std::string& said : items) std::erase(it->second, plain(said));
  return kOk;
}

json Tools::read_list(const json& args) {
  const std::string name = plain(text_of(args, "list"));
  const auto it = home_.lists.find(name);
  if (it == home_.lists.end()) return error("there is no " + name + " list");
  const std::vector<std::string>& list = it->second;
  json items = json::array();
  size_t bytes = 0;
  for (const std::string& item : list) {
    if (items.size() + 1 >= kMaxSpoken || bytes + item.size() > 300) break;
    items.push_back(item);
    bytes += item.size();
  }
  if (items.size() < list.size()) items.push_back(std::to_string(list.size() - items.size()) + " more");
  return {{"items", items}};
}

json Tools::clear_list(const json& args) {
  const std::string name = plain(text_of(args, "list"));
  const auto it = home_.lists.find(name);
  if (it == home_.lists.end() || it->second.empty()) return error("the " + name + " list is already empty");
  it->second.clear();
  if (name != "shopping" && name != "to-do") home_.lists.erase(it);
  return kOk;
}

// ---- numbers --------------------------------------------------------------------------------------------------------------------------

json Tools::calculate_sum(const json& args) {
  double x = 0;
  std::string why;
  if (!calculate(text_of(args, "expression"), &x, &why)) return say_ = "I can't do that: " + why + ".", error(why);
  x = two_decimals(x);
  if (x == std::floor(x)) return {{"result", static_cast<int64_t>(x)}};
  return {{"result", x}};
}

json Tools::convert(const json& args) {
  double x = 0;
  std::string why;
  const auto it = args.find("value");
  const double value = it != args.end() && it->is_number() ? it->get<double>() : 0;
  if (!convert_units(value, plain(text_of(args, "from")), plain(text_of(args, "to")), &x, &why)) {
    if (why == "the number is too large") say_ = "That number is too large.";
    return error(why);
  }
  x = two_decimals(x);
  if (x == std::floor(x)) return {{"result", static_cast<int64_t>(x)}};
  return {{"result", x}};
}

// ---- what is shown ----------------------------------------------------------------------------------------------------------------------

json Tools::event() const {
  const std::lock_guard lock(mutex_);
  json timers = json::array(), alarms = json::array(), lights = json::object(), climate = json::object();
  for (const Timer& t : home_.timers)
    timers.push_back({{"name", t.name}, {"left_s", static_cast<double>(left_ms(t)) / 1000}, {"paused", t.paused}, {"ringing", t.ringing}});
  for (const Alarm& a : home_.alarms) {
    char clock[16];
    std::snprintf(clock, sizeof clock, "%02d:%02d", a.minute / 60 % 24, a.minute % 60);
    alarms.push_back({{"time", clock}, {"day", day_word(a)}, {"name", a.name}, {"ringing", a.rang_s != 0}});
  }
  for (const auto& [room, l] : home_.lights) lights[room] = {{"on", l.on}, {"brightness", l.brightness}, {"color", l.color}};
  for (const auto& [room, c] : home_.climate) climate[room] = {{"temperature", c.temperature}, {"mode", c.mode}};
  const Music& m = home_.music;
  return {{"event", "home"}, {"timers", timers}, {"alarms", alarms}, {"lists", home_.lists}, {"lights", lights}, {"thermostat", climate},
      {"music", {{"playing", m.playing && !m.paused}, {"title", m.title}, {"artist", m.artist}}}, {"volume", home_.volume}, {"muted", home_.muted}};
}

}  // namespace assistant
