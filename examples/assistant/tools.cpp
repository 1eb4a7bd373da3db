#include "tools.h"

#include <algorithm>

#include "calendar.h"
#include "tool_args.h"

namespace assistant {
namespace {

constexpr int64_t kRinging = 600;  // seconds until it falls silent by itself

}  // namespace

const std::pair<const char*, Tools::Fn> Tools::kTools[] = {{"set_timer", &Tools::set_timer},
                                                           {"cancel_timer", &Tools::cancel_timer},
                                                           {"get_timer", &Tools::get_timer},
                                                           {"pause_timer", &Tools::pause_timer},
                                                           {"resume_timer", &Tools::resume_timer},
                                                           {"add_to_timer", &Tools::add_to_timer},
                                                           {"set_alarm", &Tools::set_alarm},
                                                           {"cancel_alarm", &Tools::cancel_alarm},
                                                           {"get_alarms", &Tools::get_alarms},
                                                           {"snooze_alarm", &Tools::snooze_alarm},
                                                           {"get_time", &Tools::get_time},
                                                           {"get_date", &Tools::get_date},
                                                           {"set_light", &Tools::set_light},
                                                           {"get_light", &Tools::get_light},
                                                           {"set_thermostat", &Tools::set_thermostat},
                                                           {"get_temperature", &Tools::get_temperature},
                                                           {"play_music", &Tools::play_music},
                                                           {"control_music", &Tools::control_music},
                                                           {"get_music", &Tools::get_music},
                                                           {"set_volume", &Tools::set_volume},
                                                           {"add_to_list", &Tools::add_to_list},
                                                           {"remove_from_list", &Tools::remove_from_list},
                                                           {"read_list", &Tools::read_list},
                                                           {"clear_list", &Tools::clear_list},
                                                           {"calculate", &Tools::calculate_sum},
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
    if (late > kRinging)
      home_.timers.erase(t);
    else
      t->ringing = true;
    break;
  }
  for (auto a = home_.alarms.begin(); !out && a != home_.alarms.end(); ++a) {
    if (a->rang_s || a->due_s > now / 1000) continue;
    const int64_t late = now / 1000 - a->due_s;
    out = Ring{"alarm", a->name,
               (late < 60 ? "It's " : "Your alarm was due at ") + clock_text(a->minute) + (a->name.empty() ? "." : ": " + a->name + ".")};
    if (late <= kRinging) a->rang_s = now / 1000;
    if (repeats(a->day))
      alarm_due(&*a);
    else if (late > kRinging)
      home_.alarms.erase(a);
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
  return {{"event", "home"},
          {"timers", timers},
          {"alarms", alarms},
          {"lists", home_.lists},
          {"lights", lights},
          {"thermostat", climate},
          {"music", {{"playing", m.playing && !m.paused}, {"title", m.title}, {"artist", m.artist}}},
          {"volume", home_.volume},
          {"muted", home_.muted}};
}

}  // namespace assistant
