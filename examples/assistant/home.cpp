#include "home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "files.h"

namespace assistant {
namespace {

constexpr size_t kMaxFile = 4 << 20;

// Reads members of an object one by one; the first that is missing, of another type or out of range fails all that follow.
class Reader {
 public:
  Reader(const json& object, std::string where, std::string* why) : object_(object), where_(std::move(where)), why_(why) {
    if (!object.is_object()) fail("", "is no object");
  }
  bool ok() const { return ok_; }
  bool fail(const std::string& name, const char* what) {
    if (ok_) *why_ = where_ + (name.empty() || where_.empty() ? "" : ".") + name + " " + what;
    return ok_ = false;
  }
  const json* get(const char* name, size_t max = 0) {  // max: of an array or object
    if (!ok_) return nullptr;
    const auto it = object_.find(name);
    if (it == object_.end()) return fail(name, "is missing"), nullptr;
    if (max && it->size() > max) return fail(name, "holds too much"), nullptr;
    return &*it;
  }
  template <typename T>
  void number(const char* name, T* out, int64_t min, int64_t max) {
    const json* j = get(name);
    if (!j) return;
    if (!j->is_number_integer() || j->get<int64_t>() < min || j->get<int64_t>() > max)
      fail(name, "is out of range");
    else
      *out = static_cast<T>(j->get<int64_t>());
  }
  void flag(const char* name, bool* out) {
    const json* j = get(name);
    if (j && !j->is_boolean())
      fail(name, "is neither true nor false");
    else if (j)
      *out = j->get<bool>();
  }
  void text(const char* name, std::string* out) {
    if (const json* j = get(name)) plain(name, *j, out);
  }
  void plain(const char* name, const json& j, std::string* out) {
    if (!j.is_string() || j.get_ref<const std::string&>().size() > kMaxName)
      fail(name, "is no text of at most 200 bytes");
    else
      *out = j.get<std::string>();
  }

 private:
  const json& object_;
  std::string where_, *why_;
  bool ok_ = true;
};

constexpr int64_t kFar = int64_t{1} << 52;

bool read_timers(Reader& top, Home* home, std::string* why) {
  const json* all = top.get("timers", kMaxTimers);
  if (!all || !all->is_array()) return top.fail("timers", "is no array");
  for (const json& j : *all) {
    Reader r(j, "timers[" + std::to_string(home->timers.size()) + "]", why);
    Timer t;
    r.number("id", &t.id, 1, kFar), r.number("seconds", &t.seconds, 1, kMaxTimer), r.text("name", &t.name),
        r.number("due_ms", &t.due_ms, 0, kFar);
    r.flag("paused", &t.paused), r.flag("ringing", &t.ringing);
    if (!r.ok()) return false;
    home->timers.push_back(t);
  }
  return true;
}

bool read_alarms(Reader& top, Home* home, std::string* why) {
  const json* all = top.get("alarms", kMaxAlarms);
  if (!all || !all->is_array()) return top.fail("alarms", "is no array");
  for (const json& j : *all) {
    Reader r(j, "alarms[" + std::to_string(home->alarms.size()) + "]", why);
    Alarm a;
    r.number("id", &a.id, 1, kFar), r.number("due_s", &a.due_s, 0, kFar), r.number("minute", &a.minute, 0, 1439), r.text("day", &a.day),
        r.text("name", &a.name);
    r.number("rang_s", &a.rang_s, 0, kFar);
    if (!r.ok()) return false;
    home->alarms.push_back(a);
  }
  return true;
}

bool read_rooms(Reader& top, Home* home, std::string* why) {
  const json *lists = top.get("lists", kMaxLists), *lights = top.get("lights", kMaxRooms), *climate = top.get("thermostat", kMaxRooms);
  if (!top.ok()) return false;
  if (!lists->is_object() || !lights->is_object() || !climate->is_object()) return top.fail("lists, lights or thermostat", "is no object");
  for (const auto& [name, items] : lists->items()) {
    if (name.size() > kMaxName || !items.is_array() || items.size() > kMaxItems)
      return top.fail("lists." + name.substr(0, 40), "is no list");
    std::vector<std::string>& list = home->lists[name];
    for (const json& item : items) {
      list.emplace_back();
      top.plain("lists: an item", item, &list.back());
    }
  }
  for (const auto& [name, j] : lights->items()) {
    Reader r(j, "lights." + name.substr(0, 40), why);
    Light l;
    r.flag("on", &l.on), r.number("brightness", &l.brightness, 0, 100), r.text("color", &l.color);
    if (!r.ok() || name.size() > kMaxName) return r.fail("", "has too long a name");
    home->lights[name] = l;
  }
  for (const auto& [name, j] : climate->items()) {
    Reader r(j, "thermostat." + name.substr(0, 40), why);
    Climate c;
    r.number("temperature", &c.temperature, -1000, 1000), r.text("mode", &c.mode);
    if (!r.ok() || name.size() > kMaxName) return r.fail("", "has too long a name");
    home->climate[name] = c;
  }
  return top.ok();
}

}  // namespace

std::string home_text(const Home& h) {
  json timers = json::array(), alarms = json::array(), lights = json::object(), climate = json::object();
  for (const Timer& t : h.timers)
    timers.push_back(
        {{"id", t.id}, {"name", t.name}, {"seconds", t.seconds}, {"due_ms", t.due_ms}, {"paused", t.paused}, {"ringing", t.ringing}});
  for (const Alarm& a : h.alarms)
    alarms.push_back({{"id", a.id}, {"name", a.name}, {"minute", a.minute}, {"day", a.day}, {"due_s", a.due_s}, {"rang_s", a.rang_s}});
  for (const auto& [room, l] : h.lights) lights[room] = {{"on", l.on}, {"brightness", l.brightness}, {"color", l.color}};
  for (const auto& [room, c] : h.climate) climate[room] = {{"temperature", c.temperature}, {"mode", c.mode}};
  const Music& m = h.music;
  const json all = {{"version", 1},
                    {"next_id", h.next_id},
                    {"timers", timers},
                    {"alarms", alarms},
                    {"lists", h.lists},
                    {"lights", lights},
                    {"thermostat", climate},
                    {"music",
                     {{"playing", m.playing},
                      {"paused", m.paused},
                      {"shuffle", m.shuffle},
                      {"repeat", m.repeat},
                      {"title", m.title},
                      {"artist", m.artist}}},
                    {"volume", h.volume},
                    {"muted", h.muted}};
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

bool parse_home(const std::string& text, Home* out, std::string* why) {
  const json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) return *why = "is no JSON", false;
  Home home;
  home.climate.clear();
  home.lists.clear();
  Reader top(all, "", why);
  int version = 0;
  top.number("version", &version, 1, 1);
  top.number("next_id", &home.next_id, 1, kFar);
  if (!top.ok() || !read_timers(top, &home, why) || !read_alarms(top, &home, why) || !read_rooms(top, &home, why)) return false;
  top.number("volume", &home.volume, 0, 100);
  top.flag("muted", &home.muted);
  if (const json* j = top.get("music")) {
    Reader r(*j, "music", why);
    Music& m = home.music;
    r.flag("playing", &m.playing), r.flag("paused", &m.paused), r.flag("shuffle", &m.shuffle), r.flag("repeat", &m.repeat),
        r.text("title", &m.title), r.text("artist", &m.artist);
    if (!r.ok()) return false;
  }
  if (!top.ok()) return false;
  home.lists.try_emplace("shopping");
  home.lists.try_emplace("to-do");
  home.climate.try_emplace("home");
  *out = std::move(home);
  return true;
}

HomeFile::~HomeFile() {
  if (lock_ >= 0) close(lock_);
}

bool HomeFile::open(const std::string& path, Home* home, std::string* note, std::string* why) {
  path_ = path;
  if (path.empty()) return true;
  const auto failed = [&](const std::string& what) { return *why = path + ": " + what, false; };
  lock_ = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (lock_ < 0) return failed(std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) return failed(errno == EWOULDBLOCK ? "another assistant has it open" : std::strerror(errno));
  std::string text, damage = "is larger than 4 MiB";
  bool found = false;
  const linnet_status status = read_file(path, kMaxFile, &text, &found, why);
  if (status != LINNET_OK && status != LINNET_BAD_FILE) return false;
  why->clear();
  if (!found || (status == LINNET_OK && parse_home(text, home, &damage))) return true;
  // Nothing is lost: what could not be read lies beside, for its owner's eyes as before.
  std::string aside;
  struct stat st = {};
  for (int i = 0; i < 1000; ++i) {
    aside = path + ".damaged-" + std::to_string(std::time(nullptr)) + (i ? "-" + std::to_string(i) : "");
    if (lstat(aside.c_str(), &st) != 0) break;
  }
  if (chmod(path.c_str(), 0600) != 0 || std::rename(path.c_str(), aside.c_str()) != 0)
    return failed(damage + ", and cannot be put aside: " + std::strerror(errno));
  *note = path + ": " + damage + "; it is kept as " + aside + ", and the home begins anew";
  return true;
}

bool HomeFile::save(const Home& home, std::string* why) {
  if (path_.empty()) return true;
  const std::string text = home_text(home);
  linnet_error err = {};
  return linnet_file_save(path_.c_str(), text.data(), text.size(), 0600, &err) == LINNET_OK || (*why = err.text, false);
}

}  // namespace assistant
