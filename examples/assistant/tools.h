// The 26 tools of tools.json, acting on the home. Results have the form that the model was trained on (training/domains).
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "conversation.h"
#include "home.h"

namespace assistant {

struct ToolsConfig {
  std::string state;                 // file; "" keeps nothing
  std::string room = "living room";  // where the user is
  std::vector<std::string> rooms;    // that there are; empty: any that is named
};

// Any thread.
class Tools {
 public:
  using Clock = std::function<int64_t()>;  // Unix time in ms

  bool open(const ToolsConfig& config, Clock clock, std::string* note, std::string* why);
  // {"name":"...","arguments":{...}}. What cannot be saved has not happened.
  ToolResult call(std::string_view text, json* name_and_arguments = nullptr);
  // What rings now, as a sentence, and is from here on ringing; nothing: nullopt. `late`: it ended a while ago.
  struct Ring {
    std::string kind, name, text;
  };
  std::optional<Ring> ring();
  int64_t next_ring_ms() const;  // Unix time; INT64_MAX: never
  int64_t now_ms() const { return clock_(); }
  json event() const;  // {"event":"home",...}

 private:
  using Fn = json (Tools::*)(const json& args);
  static const std::pair<const char*, Fn> kTools[];
  json set_timer(const json&), cancel_timer(const json&), get_timer(const json&), pause_timer(const json&), resume_timer(const json&),
      add_to_timer(const json&);
  json set_alarm(const json&), cancel_alarm(const json&), get_alarms(const json&), snooze_alarm(const json&), get_time(const json&),
      get_date(const json&);
  json set_light(const json&), get_light(const json&), set_thermostat(const json&), get_temperature(const json&);
  json play_music(const json&), control_music(const json&), get_music(const json&), set_volume(const json&);
  json add_to_list(const json&), remove_from_list(const json&), read_list(const json&), clear_list(const json&), calculate_sum(const json&),
      convert(const json&);

  int64_t left_ms(const Timer& t) const;
  Timer* timer(const json& args, json* error);
  std::string day_word(const Alarm& a) const;
  bool on_day(const Alarm& a, const std::string& day) const;
  bool known(const std::string& room) const;
  json alarm_due(Alarm* a);

  mutable std::mutex mutex_;
  ToolsConfig config_;
  Clock clock_;
  HomeFile file_;
  Home home_;
  std::string say_;  // a sentence of the tool's own
};

}  // namespace assistant
