// Lights, heating, music, lists and sums.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "calculator.h"
#include "tool_args.h"
#include "tools.h"

namespace assistant {
namespace {

// What a simulated player has: old enough to be everybody's.
constexpr const char* kLibrary[][2] = {{"clair de lune", "debussy"},
                                       {"the entertainer", "scott joplin"},
                                       {"ode to joy", "beethoven"},
                                       {"spring", "vivaldi"},
                                       {"the blue danube", "johann strauss"},
                                       {"the swan", "saint saens"},
                                       {"air", "bach"},
                                       {"morning mood", "grieg"},
                                       {"the nutcracker", "tchaikovsky"},
                                       {"nocturne", "chopin"}};
constexpr size_t kPieces = std::size(kLibrary);

}  // namespace

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
    if (!change.empty())
      l.brightness = std::clamp((l.on ? l.brightness : 0) + (change == "brighter" ? 20 : -20), change == "brighter" ? 20 : 5, 100),
      l.on = true;
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
  if (room != "home" && (!known(room) || (!home_.climate.contains(room) && home_.climate.size() >= kMaxRooms)))
    return error("there is no thermostat " + located(room));
  const Climate house = home_.climate["home"];
  const auto set = [&](Climate& c) {
    if (args.contains("temperature"))
      c.temperature = static_cast<int>(std::clamp<int64_t>(number_of(args, "temperature", c.temperature), -50, 150));
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
  if (action == "stop")
    m = {};
  else if (action == "pause" || action == "resume")
    m.paused = action == "pause";
  else if (action == "shuffle")
    m.shuffle = true;
  else if (action == "repeat")
    m.repeat = true;
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
  if ((change == "up" && home_.volume == 100) || (change == "down" && home_.volume == 0))
    return error(change == "up" ? "already at maximum" : "already at minimum");
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
  if (!home_.lists.contains(name) && home_.lists.size() >= kMaxLists)
    return say_ = "There are too many lists already.", error("too many lists");
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

}  // namespace assistant
