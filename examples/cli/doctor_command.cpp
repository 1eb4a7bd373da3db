// linnet doctor: what holds this board back. Reads what the kernel says, changes nothing.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "../../platform/folder.h"
#include "cli.h"

namespace linnet::cli {
namespace {

enum State { kFine, kHolds, kUnknown };  // "fine", "holds back", "unknown"

struct Finding {
  const char* what;
  State state;
  std::string text, remedy;
};
using Findings = std::vector<Finding>;

constexpr const char* kStates[] = {"fine", "holds back", "unknown"};

uint64_t number_of(const std::string& text, int base = 10) { return std::strtoull(text.c_str(), nullptr, base); }

bool has_cpu(const linnet_cpus& cpus, uint32_t i) { return cpus.word[i / 64] >> (i % 64) & 1; }

void governor(const Board& b, Findings* out) {
  linnet_cpus slow = {}, capped = {};
  std::set<std::string> names, slow_names;
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) {
    if (!has_cpu(b.cpus, i)) continue;
    const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpufreq/", name = read_system(dir + "scaling_governor");
    if (name.empty()) continue;
    names.insert(name);
    // In these drivers' hands 'powersave' goes up to the full clock under load.
    const std::string driver = read_system(dir + "scaling_driver");
    const bool dynamic = driver == "intel_pstate" || driver == "amd-pstate-epp";
    if ((name == "powersave" && !dynamic) || name == "conservative" || name == "userspace") {
      slow.word[i / 64] |= uint64_t{1} << (i % 64);
      slow_names.insert(name);
    }
    const uint64_t most = number_of(read_system(dir + "cpuinfo_max_freq")), now = number_of(read_system(dir + "scaling_max_freq"));
    if (most && now && now < most / 100 * 95) capped.word[i / 64] |= uint64_t{1} << (i % 64);
  }
  std::string list, slow_list;
  for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
  for (const std::string& n : slow_names) slow_list += (slow_list.empty() ? "" : ", ") + n;
  const std::string slow_cpus = cpus_text(slow), capped_cpus = cpus_text(capped);
  if (names.empty())
    out->push_back({"governor", kUnknown, "the system does not say how it sets clocks", ""});
  else if (!slow_cpus.empty())
    out->push_back({"governor", kHolds, slow_list + " on CPUs " + slow_cpus + ": clocks stay low under load",
                    "as root: for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $g; done"});
  else
    out->push_back({"governor", kFine, list, ""});
  if (!capped_cpus.empty())
    out->push_back({"clock", kHolds, "CPUs " + capped_cpus + " may not run at their full clock (scaling_max_freq)",
                    "raise scaling_max_freq, or choose a stronger power mode"});
}

// Bits of the Raspberry Pi's firmware, as its documentation has them for `vcgencmd get_throttled`: now, and 16 higher since the board
// started.
constexpr struct {
  uint32_t bit;
  const char* text;
} kThrottled[] = {{0, "under-voltage"}, {1, "clock capped"}, {2, "throttled"}, {3, "soft temperature limit"}};

void throttling(const Board& b, Findings* out) {
  const size_t before = out->size();
  bool known = false;
  const std::string bits_text = read_system("/sys/devices/platform/soc/soc:firmware/get_throttled");
  if (!bits_text.empty()) {
    known = true;
    const uint64_t bits = number_of(bits_text, 16);
    std::string now, since;
    for (const auto& t : kThrottled) {
      if (bits >> t.bit & 1)
        now += (now.empty() ? "" : ", ") + std::string(t.text);
      else if (bits >> (t.bit + 16) & 1)
        since += (since.empty() ? "" : ", ") + std::string(t.text);
    }
    if (!now.empty())
      out->push_back({"throttling", kHolds, "now: " + now,
                      bits & 1 ? "a power supply and cable that hold 5 V (5 A for a Pi 5, 3 A for a Pi 4)" : "cool the board"});
    if (!since.empty())
      out->push_back({"throttling", kHolds, "since the start: " + since,
                      bits >> 16 & 1 ? "a power supply and cable that hold 5 V" : "cool the board"});
  }
  for (uint32_t i = 0; i < 16; ++i) {
    const std::string dir = "/sys/class/hwmon/hwmon" + std::to_string(i) + "/";
    if (read_system(dir + "name") != "rpi_volt") continue;
    known = true;
    if (bits_text.empty() && read_system(dir + "in0_lcrit_alarm") == "1")
      out->push_back({"throttling", kHolds, "under-voltage", "a power supply and cable that hold 5 V"});
  }
  for (uint32_t i = 0; i < 64; ++i) {
    const std::string dir = "/sys/class/thermal/cooling_device" + std::to_string(i) + "/", type = read_system(dir + "type");
    if (type.empty()) continue;
    if (type.find("cpufreq") == std::string::npos && type != "Processor") continue;
    known = true;
    if (number_of(read_system(dir + "cur_state")))
      out->push_back({"throttling", kHolds, "the kernel lowers the CPU's clock for its temperature (" + type + ")",
                      "cool the board, or hold a lower temperature with power.temperature_limit"});
  }
  for (uint32_t i = 0; i < b.n_zones; ++i) {
    known = true;
    if (b.zones[i].millidegrees < 80000) continue;
    char degrees[16];
    std::snprintf(degrees, sizeof degrees, "%.1f", b.zones[i].millidegrees / 1000.0);
    out->push_back({"throttling", kHolds,
                    std::string(b.zones[i].type) + " is at " + degrees + " degrees Celsius: most boards slow down from 80 or 85 on",
                    "cool the board"});
  }
  if (out->size() == before) out->push_back({"throttling", known ? kFine : kUnknown, known ? "none seen" : "no sensor answers", ""});
}

void memory(const Args& args, const Board& b, Findings* out) {
  if (b.swap_used_bytes > 64u << 20)
    out->push_back({"swap", kHolds,
                    human_bytes(b.swap_used_bytes) + " of " + human_bytes(b.swap_bytes) +
                        " in use: memory is short, and weights may be read from storage again and again",
                    "end other programs, or take a smaller model"});
  else
    out->push_back({"swap", kFine, b.swap_bytes ? "there, not in use" : "none", ""});
  const std::string huge = read_system("/sys/kernel/mm/transparent_hugepage/enabled");
  if (huge.empty())
    out->push_back({"huge pages", kUnknown, "the kernel has none", ""});
  else if (huge.find("[never]") != std::string::npos)
    out->push_back({"huge pages", kHolds, "switched off: large models wait for address translation",
                    "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"});
  else
    out->push_back({"huge pages", kFine, huge, ""});
  uint64_t room = b.available_bytes;
  if (b.memory_limit_bytes && b.memory_limit_bytes < room) room = b.memory_limit_bytes;
  if (b.memory_limit_bytes)
    out->push_back({"memory limit", kHolds,
                    "the control group grants " + human_bytes(b.memory_limit_bytes) + " of " + human_bytes(b.memory_bytes),
                    "raise the container's memory limit, or set memory_mib in the profile"});
  if (!args.given("-m")) return;
  const std::string path = args.text("-m");
  const PathInfo info = path_info(path);
  if (!info.there) {
    out->push_back({"page cache", kUnknown, path + ": " + std::strerror(errno), ""});
  } else if (info.bytes > room) {
    out->push_back({"page cache", kHolds,
                    path + " has " + human_bytes(info.bytes) + ", memory has room for " + human_bytes(room) +
                        ": every token reads weights from storage",
                    "a format of fewer bits or a smaller model; mixtures of experts may still do, as idle experts are not read"});
  } else {
    out->push_back({"page cache", kFine, human_bytes(info.bytes) + " of weights fit in " + human_bytes(room), ""});
  }
}

void processors(const Board& b, Findings* out) {
  bool wide = false;
  for (uint32_t i = 0; i < b.n_clusters; ++i) wide |= b.clusters[i].implementer == 0x41 && b.clusters[i].part_id >= 0xd03;
  if (b.arch == LINNET_ARCH_ARM && wide)
    out->push_back(
        {"32-bit system", kHolds,
         "a 32-bit system on 64-bit cores (" + std::string(b.clusters[0].part) + "): slower kernels, and a process has at most 3 or 4 GB",
         "install a 64-bit system"});
  else if (b.arch == LINNET_ARCH_ARM)
    out->push_back({"32-bit system", kHolds, "32-bit cores: slower kernels, and a process has at most 3 or 4 GB", ""});
  else
    out->push_back({"32-bit system", kFine, "64 bits", ""});
  char text[128];
  if (b.cpu_quota > 0) {
    std::snprintf(text, sizeof text, "%.2f CPUs of time on %u CPUs: %u thread%s", b.cpu_quota, b.n_cpus, b.n_threads,
                  b.n_threads == 1 ? "" : "s");
    out->push_back({"quota", kHolds, text, "give the container whole CPUs (--cpuset-cpus) in place of a quota (--cpus)"});
  } else {
    out->push_back({"quota", kFine, "none", ""});
  }
  uint32_t online = 0;
  for (uint32_t i = 0; i < b.n_clusters; ++i)
    for (const uint64_t w : b.clusters[i].cpus.word) online += static_cast<uint32_t>(__builtin_popcountll(w));
  if (b.n_cpus < online)
    out->push_back({"CPUs", kHolds,
                    "this process may use " + cpus_text(b.cpus) + ", " + std::to_string(b.n_cpus) + " of " + std::to_string(online),
                    "taskset or the container's cpuset decides that"});
  const std::string load_text = read_system("/proc/loadavg");
  const double load = std::strtod(load_text.c_str(), nullptr);
  std::snprintf(text, sizeof text, "%.1f of %u CPUs were busy in the last minute", load, online);
  if (load_text.empty())
    out->push_back({"load", kUnknown, "the system does not say", ""});
  else if (load > 0.25 * online)
    out->push_back({"load", kHolds,
                    std::string(text) + ": other work takes its share of them, and where threads cost more than they bring fewer compute",
                    "end what else runs"});
  else
    out->push_back({"load", kFine, text, ""});
}

void gpu(Findings* out) {
  if (!sysroot().empty()) return;  // another board's cannot be asked
  linnet_cuda_device device = {};
  linnet_error err = {};
  device.size = sizeof device;
  const linnet_status status = linnet_cuda_detect(&device, &err);
  if (status == LINNET_OK)
    out->push_back({"GPU", kFine, device.name, ""});
  else if (!is_jetson())
    out->push_back({"GPU", kFine, err.text, ""});
  else
    out->push_back({"GPU", kHolds, err.text,
                    status == LINNET_UNSUPPORTED ? "build linnet with LINNET_CUDA=ON"
                                                 : "install JetPack's CUDA driver (nvidia-l4t-cuda), and let this process open it"});
}

int run(const Args& args) {
  const Board& b = board();
  Findings findings;
  processors(b, &findings);
  governor(b, &findings);
  throttling(b, &findings);
  gpu(&findings);
  memory(args, b, &findings);
  const auto n = std::count_if(findings.begin(), findings.end(), [](const Finding& f) { return f.state == kHolds; });
  if (args.json()) {
    Json json;
    json.object().field("board", std::string(b.model)).field("holds_back", int64_t{n}).key("findings").array();
    for (const Finding& f : findings)
      json.object().field("what", f.what).field("state", kStates[f.state]).field("text", f.text).field("remedy", f.remedy).end();
    json.end().end().print();
    return kExitOk;
  }
  for (const Finding& f : findings) {
    std::printf("%-14s %-11s %s\n", f.what, kStates[f.state], printable(f.text).c_str());
    if (!f.remedy.empty()) std::printf("%-14s %-11s remedy: %s\n", "", "", printable(f.remedy).c_str());
  }
  std::printf(n ? "%d thing%s hold%s this board back\n" : "nothing seems to hold this board back\n", static_cast<int>(n), n == 1 ? "" : "s",
              n == 1 ? "s" : "");
  return kExitOk;
}

}  // namespace

Command doctor_command() {
  return {"doctor",
          "what holds this board back: clocks, heat, power supply, memory, limits",
          "",
          0,
          0,
          "example: linnet doctor -m model.gguf",
          {{"-m, --model", "M", Kind::kModel, "also say whether this file fits in memory"}},
          run};
}

}  // namespace linnet::cli
