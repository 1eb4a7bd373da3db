// Timers, alarms, the clock and the calendar.
#include <algorithm>
#include <cstdio>

#include "calendar.h"
#include "tool_args.h"
#include "tools.h"

namespace assistant {
namespace {

constexpr int kSnooze = 9;  // minutes

}  // namespace

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
    if ((name.empty() || t->name == name) && (s == 0 || t->seconds == s) && (found == all.end() || t->ringing || !found->ringing))
      found = t;
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
    if (weekday_named(a->day) >= 0)
      day = day_of(days + 7);
    else if (a->day == "tonight" && a->minute < 6 * 60)
      day = day_of(days + 1);
    else
      return say_ = "That time has already passed.", error("time has passed");
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
    if (matches(*a) && (found == all.end() || (a->rang_s && !found->rang_s) || (!a->rang_s == !found->rang_s && a->due_s < found->due_s)))
      found = a;
  if (found == all.end()) return error("no such alarm");
  if (found->rang_s && repeats(found->day))
    found->rang_s = 0;  // it rings again another day
  else
    all.erase(found);
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
    if (!repeats(a.day))
      a = again;
    else if (home_.alarms.size() < kMaxAlarms)
      home_.alarms.push_back(again);
    return kOk;
  }
  return error("no alarm ringing");
}

// ---- the clock --------------------------------------------------------------------------------------------------------------------

json Tools::get_time(const json& args) {
  const std::string place = text_of(args, "place");
  int minute = 0;
  if (place.empty())
    local_day(clock_() / 1000, &minute);
  else if (!time_in(place, clock_() / 1000, &minute))
    return error("unknown place");
  return {{"time", clock_text(minute)}};
}

json Tools::get_date(const json& args) {
  Day day;
  if (!parse_day(text_of(args, "day"), local_day(clock_() / 1000), &day))
    return say_ = "I don't know which day that is.", error("unknown day");
  return {{"date", date_text(day)}};
}

}  // namespace assistant
