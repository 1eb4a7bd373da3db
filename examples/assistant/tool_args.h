// What the tools' files share: arguments of calls, and words for results.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "calendar.h"
#include "home.h"

namespace assistant {

inline constexpr size_t kMaxSpoken = 10;  // items of a list that are read out

inline const json kOk = {{"ok", true}};
inline json error(const std::string& what) { return {{"error", what}}; }

inline std::string text_of(const json& args, const char* name) {
  const auto it = args.find(name);
  return it != args.end() && it->is_string() ? it->get<std::string>() : "";
}
inline int64_t number_of(const json& args, const char* name, int64_t otherwise) {
  const auto it = args.find(name);
  if (it == args.end() || !it->is_number()) return otherwise;
  return static_cast<int64_t>(std::clamp(it->get<double>(), -1e15, 1e15));
}
inline bool flag_of(const json& args, const char* name) {
  const auto it = args.find(name);
  return it != args.end() && it->is_boolean() && it->get<bool>();
}
inline std::vector<std::string> texts_of(const json& args, const char* name) {
  std::vector<std::string> out;
  const auto it = args.find(name);
  if (it != args.end() && it->is_array())
    for (const json& j : *it)
      if (j.is_string()) out.push_back(j.get<std::string>());
  return out;
}

// "The  Kitchen" and "kitchen" are one; of days the article stays.
inline std::string plain(const std::string& name, bool with_article = false) {
  std::string out;
  for (const char c : name.substr(0, kMaxName)) {
    if (c == ' ' && (out.empty() || out.back() == ' ')) continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80 && name.size() > kMaxName)
    out.pop_back();  // no half of a character
  return out.starts_with("the ") && !with_article ? out.substr(4) : out;
}

inline std::string several(int64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// "1 hour and 30 minutes"; beside hours seconds are not said.
inline std::string duration_text(int64_t s) {
  std::string out;
  const auto add = [&](int64_t n, const char* what) {
    if (n) out += (out.empty() ? "" : " and ") + several(n, what);
  };
  add(s / 3600, "hour"), add(s / 60 % 60, "minute");
  if (s < 3600) add(s % 60, "second");
  return out.empty() ? "0 seconds" : out;
}

inline std::string timer_name(const Timer& t) {
  if (!t.name.empty()) return t.name + " timer";
  std::string length = duration_text(t.seconds);
  if (length.ends_with('s')) length.pop_back();
  return length + " timer";
}

inline std::string located(const std::string& room) {
  if (room == "upstairs" || room == "downstairs" || room == "outside") return room;
  return (room.find("'s ") != std::string::npos ? "in " : "in the ") + room;
}

inline bool repeats(const std::string& day) { return day == "daily" || day == "weekdays" || day == "weekends"; }
inline bool repeats_on(const std::string& day, Day d) {
  const bool weekend = weekday(d) == 0 || weekday(d) == 6;
  return day == "daily" || weekend == (day == "weekends");
}

inline int64_t seconds_of(const json& args) {
  double s = 0;
  for (const auto& [name, unit] : {std::pair{"hours", 3600}, {"minutes", 60}, {"seconds", 1}})
    s += static_cast<double>(number_of(args, name, 0)) * unit;
  return static_cast<int64_t>(std::clamp(s, -1e9, 1e9));
}

}  // namespace assistant
