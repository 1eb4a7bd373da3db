#include "sensors.h"

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "file.h"
#include "sysfs.h"

namespace linnet {
namespace {

[[maybe_unused]] constexpr uint32_t kMaxEntries = 256;  // of a folder that are looked at
constexpr double kMostWatts = 2000;                     // what no device that linnet runs on draws: a counter that says so was reset
constexpr double kLongestGap = 10;  // seconds between two readings of power; nobody knows what was drawn in a longer one

// A whole number and nothing else.
bool number(std::string_view s, int64_t* out) {
  const bool negative = !s.empty() && s[0] == '-';
  int64_t v = 0;
  if (s.size() == negative || s.size() - negative > 18) return false;
  for (size_t i = negative; i < s.size(); ++i) {
    if (s[i] < '0' || s[i] > '9') return false;
    v = v * 10 + (s[i] - '0');
  }
  *out = negative ? -v : v;
  return true;
}

[[gnu::noinline]] bool number_in(const Path& path, int64_t low, int64_t high, int64_t* out) {
  int64_t v;
  if (!number(Line(path).view(), &v) || v < low || v > high) return false;
  *out = v;
  return true;
}

bool begins(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && std::memcmp(text.data(), with.data(), with.size()) == 0;
}

// Calls fn(name) for what lies in a folder and begins with `prefix`.
template <class Fn>
void each_entry(const Path& folder, std::string_view prefix, Fn fn) {
#if defined(__linux__)
  const int fd = folder.open(O_DIRECTORY);
  if (fd < 0) return;
  // struct linux_dirent64: inode and offset of 8 bytes each, length of 2, type of 1, then the name. readdir would allocate.
  alignas(8) char buffer[2048];
  uint32_t seen = 0;
  for (long n; seen < kMaxEntries && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at + 19 < n;) {
      uint16_t length = 0;
      std::memcpy(&length, buffer + at + 16, sizeof length);
      if (length < 20 || at + length > n) break;
      const std::string_view name(buffer + at + 19, strnlen(buffer + at + 19, length - 19u));
      at += length;
      if (name[0] == '.' || !begins(name, prefix)) continue;
      if (++seen > kMaxEntries) break;
      fn(name);
    }
  close(fd);
#else
  (void)folder, (void)prefix, (void)fn;
#endif
}

bool holds(std::string_view text, std::string_view word) {
  for (size_t i = 0; i + word.size() <= text.size(); ++i) {
    size_t j = 0;
    while (j < word.size() && ((text[i + j] >= 'A' && text[i + j] <= 'Z' ? text[i + j] + 32 : text[i + j]) == word[j])) ++j;
    if (j == word.size()) return true;
  }
  return false;
}

// Zones of CPUs and of the chip around them. "soc" alone is the state of charge on some phones.
bool of_cpu(std::string_view type) {
  if (type == "soc") return false;
  for (const char* word : {"cpu", "core", "pkg", "soc", "tj", "k10temp"})
    if (holds(type, word)) return true;
  return false;
}

struct Hottest {
  bool any = false, any_cpu = false;
  float all = 0, cpu = 0;
  uint32_t n = 0;
  // Thousandths of a degree; a few drivers give whole degrees. What is not there often reads as 0, or far below the possible.
  [[gnu::noinline]] void take(const Path& file, bool cpu_zone) {
    int64_t v;
    if (!number_in(file, -40'000, 150'000, &v) || v == 0) return;
    const float t = v > 0 && v <= 150 ? static_cast<float>(v) : static_cast<float>(v) / 1000;
    ++n;
    if (!any || t > all) all = t;
    any = true;
    if (!cpu_zone) return;
    if (!any_cpu || t > cpu) cpu = t;
    any_cpu = true;
  }
};

void read_temperature(linnet_sensors& s) {
  Hottest hottest;
  const Path zones = Path(s.root) << "/sys/class/thermal", chips = Path(s.root) << "/sys/class/hwmon";
  each_entry(zones, "thermal_zone", [&](std::string_view name) {
    const Path zone = zones / name;
    hottest.take(zone / "temp", of_cpu(Line(zone / "type").view()));
  });
  if (!hottest.any_cpu)  // PCs have these instead
    each_entry(chips, "hwmon", [&](std::string_view name) {
      const Path chip = chips / name;
      const Line what(chip / "name");
      if (of_cpu(what.view())) hottest.take(chip / "temp1_input", true);
    });
  s.n_zones = hottest.n;
  if (!hottest.any) return;
  s.temperature = hottest.any_cpu ? hottest.cpu : hottest.all;
  s.has |= LINNET_HAS_TEMPERATURE;
}

void read_frequency(linnet_sensors& s) {
  const Path cpus = Path(s.root) << "/sys/devices/system/cpu";
  int64_t fastest = 0, most = 0;
  each_entry(cpus, "cpu", [&](std::string_view name) {
    int64_t now, max;
    const Path cpu = cpus / name / "cpufreq";
    if (name.size() < 4 || name[3] < '0' || name[3] > '9' || !number_in(cpu / "scaling_cur_freq", 1, 20'000'000, &now)) return;
    if (now > fastest) fastest = now;
    if (number_in(cpu / "cpuinfo_max_freq", 1, 20'000'000, &max) && max > most) most = max;
  });
  if (fastest == 0) return;
  s.cpu_mhz = static_cast<uint32_t>(fastest / 1000);
  s.cpu_max_mhz = static_cast<uint32_t>(most / 1000);
  s.has |= LINNET_HAS_FREQUENCY;
}

void read_battery(linnet_sensors& s) {
  const Path supplies = Path(s.root) << "/sys/class/power_supply";
  each_entry(supplies, "", [&](std::string_view name) {
    const Path supply = supplies / name;
    if (Line(supply / "type").view() != "Battery" || Line(supply / "scope").view() == "Device") return;  // a mouse has one too
    const Line status(supply / "status");
    if (status.n == 0) return;
    s.has |= LINNET_HAS_BATTERY;
    if (status.view() == "Discharging") s.on_battery = 1;
  });
}

void add_energy(linnet_sensors& s, const char* source, double joules, double watts) {
  s.energy_source = source;
  s.joules += joules;
  s.watts += static_cast<float>(watts);
  s.has |= LINNET_HAS_ENERGY;
}

// RAPL counts microjoules of a package and begins anew at max_energy_range_uj. The first reading says nothing, it is only where the next
// one starts.
void read_rapl(linnet_sensors& s, double seconds) {
  const Path zones = Path(s.root) << "/sys/class/powercap";
  bool refused = false, gap = false;
  double joules = 0;
  uint32_t n = 0, ids[linnet_sensors::kMaxMeters];
  uint64_t counts[linnet_sensors::kMaxMeters];
  each_entry(zones, "intel-rapl:", [&](std::string_view name) {  // AMD's too are called so
    // intel-rapl:0 is a package, intel-rapl:0:1 a part of it, of which memory alone is not counted in the package.
    const Path zone = zones / name;
    const bool package = name.find(':', 11) == std::string_view::npos;
    const Line what(zone / "name");
    if (n == linnet_sensors::kMaxMeters || (package ? !begins(what.view(), "package") : what.view() != "dram")) return;
    int64_t uj, range;
    const Line energy(zone / "energy_uj");
    if (energy.n == 0) refused |= errno == EACCES || errno == EPERM;
    if (!number(energy.view(), &uj) || uj < 0) return;
    uint32_t id = 1;
    for (size_t i = 11; i < name.size(); ++i) id = id * 11 + (name[i] == ':' ? 10u : static_cast<uint32_t>(name[i] - '0') % 10);
    const uint64_t now = static_cast<uint64_t>(uj);
    for (uint32_t i = 0; i < s.n_meters; ++i) {
      if (s.meter_ids[i] != id) continue;
      const uint64_t before = s.meter_uj[i];
      bool known = now >= before;
      uint64_t used = now - before;
      if (!known && number_in(zone / "max_energy_range_uj", 1, INT64_MAX, &range) && static_cast<uint64_t>(range) >= before) {
        known = true;
        used = now + (static_cast<uint64_t>(range) - before);
      }
      if (known && static_cast<double>(used) * 1e-6 <= kMostWatts * seconds + 0.1)
        joules += static_cast<double>(used) * 1e-6;
      else
        gap = true;
    }
    ids[n] = id;
    counts[n++] = now;
  });
  gap |= n < s.n_meters;
  s.n_meters = n;
  std::memcpy(s.meter_ids, ids, n * sizeof *ids);
  std::memcpy(s.meter_uj, counts, n * sizeof *counts);
  s.energy_gaps += gap;
  if (refused && n == 0)
    s.no_energy = "/sys/class/powercap/intel-rapl:*/energy_uj: permission denied (on most systems the superuser alone may read it)";
  if (n) add_energy(s, "rapl", joules, seconds > 0 ? joules / seconds : 0);
}

// INA3221 gives volts and amperes of up to three rails: VDD_IN is all of the board where there is one, else the rails add up to it.
void read_ina3221(linnet_sensors& s, double seconds) {
  const Path chips = Path(s.root) << "/sys/class/hwmon";
  double sum = 0, board = -1;
  uint32_t n = 0;
  each_entry(chips, "hwmon", [&](std::string_view name) {
    const Path chip = chips / name;
    if (Line(chip / "name").view() != "ina3221") return;
    static constexpr struct {
      const char *label, *volt, *ampere;
    } kRails[] = {
        {"in1_label", "in1_input", "curr1_input"}, {"in2_label", "in2_input", "curr2_input"}, {"in3_label", "in3_input", "curr3_input"}};
    for (const auto& rail : kRails) {
      int64_t mv, ma;
      if (!number_in(chip / rail.volt, 0, 100'000, &mv) || !number_in(chip / rail.ampere, 0, 100'000, &ma)) continue;
      const double watts = static_cast<double>(mv) * static_cast<double>(ma) * 1e-6;
      sum += watts;
      ++n;
      if (Line(chip / rail.label).view() == "VDD_IN") board = watts;
    }
  });
  // Power is taken as straight between two readings that lie close enough and are of the same rails.
  const bool follows = s.n_meters && n == s.n_meters && seconds <= kLongestGap;
  const double before = s.rail_watts;
  s.energy_gaps += s.n_meters && !follows;
  s.rail_watts = board >= 0 ? board : sum;
  s.n_meters = n;
  if (n) add_energy(s, "ina3221", follows ? (before + s.rail_watts) / 2 * seconds : 0, s.rail_watts);
}

void read_energy(linnet_sensors& s, double seconds) {
  const std::string_view source = s.energy_source ? s.energy_source : "";  // it stays what it was first
  s.no_energy = "there is no energy counter (RAPL) and no power sensor (INA3221) below /sys";
  if (source != "ina3221") read_rapl(s, seconds);
  if (source != "rapl" && !(s.has & LINNET_HAS_ENERGY)) read_ina3221(s, seconds);
  if (s.has & LINNET_HAS_ENERGY) s.no_energy = nullptr;
}

}  // namespace

void sensors_read(linnet_sensors& s, uint64_t now_ns) {
  const uint64_t before = s.time_ns;
  s.time_ns = now_ns ? now_ns : clock_ns();
  s.has = s.n_zones = s.cpu_mhz = s.cpu_max_mhz = s.on_battery = 0;
  s.temperature = s.watts = 0;
  read_temperature(s);
  read_frequency(s);
  read_battery(s);
  read_energy(s, before && s.time_ns > before ? static_cast<double>(s.time_ns - before) * 1e-9 : 0);
}

}  // namespace linnet
