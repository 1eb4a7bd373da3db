// What the assistant's tools act on, and how it is kept: one JSON file, replaced whole after every effect.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assistant {

using json = nlohmann::ordered_json;

struct Timer {
  int64_t id = 0, seconds = 0;  // as set
  std::string name;
  int64_t due_ms = 0;  // Unix time; while it is held: what is left
  bool paused = false, ringing = false;
};
struct Alarm {
  int64_t id = 0, due_s = 0;
  int minute = 0;         // of the day
  std::string day, name;  // as said; "daily", "weekdays" and "weekends" come again
  int64_t rang_s = 0;     // since when it rings; 0: it does not
};
struct Light {
  bool on = false;
  int brightness = 100;
  std::string color;
};
struct Climate {
  int temperature = 20;
  std::string mode = "auto";
};
struct Music {
  bool playing = false, paused = false, shuffle = false, repeat = false;
  std::string title, artist;
};

struct Home {
  int64_t next_id = 1;
  std::vector<Timer> timers;
  std::vector<Alarm> alarms;
  std::map<std::string, std::vector<std::string>> lists = {{"shopping", {}}, {"to-do", {}}};
  std::map<std::string, Light> lights;
  std::map<std::string, Climate> climate = {{"home", {}}};
  Music music;
  int volume = 50;
  bool muted = false;
};

// Limits on what is kept, also on what a file may hold.
inline constexpr size_t kMaxTimers = 32, kMaxAlarms = 64, kMaxLists = 32, kMaxItems = 200, kMaxRooms = 64, kMaxName = 200;
inline constexpr int64_t kMaxTimer = 100 * 86400;  // seconds

std::string home_text(const Home& home);
// False: *why names the field and what is wrong with it.
bool parse_home(const std::string& text, Home* home, std::string* why);

// The file. Only one process at a time may have it open.
class HomeFile {
 public:
  ~HomeFile();
  // "" keeps nothing. A file that is damaged is put aside under a name of its own, which *note tells, and the home begins anew.
  bool open(const std::string& path, Home* home, std::string* note, std::string* why);
  // By linnet_file_save: whatever happens there is the old home or the new one, for its owner alone.
  bool save(const Home& home, std::string* why);

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace assistant
