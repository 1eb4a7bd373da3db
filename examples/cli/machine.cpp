// What Linux says about this machine: CPUs, caches, memory, and the limits of the control group.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cli.h"

namespace linnet::cli {
namespace {

// First line of a small file, "" where it cannot be read.
std::string first_line(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return "";
  char line[512] = "";
  const bool ok = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  std::string text = ok ? line : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

// Value behind "key   :" in a file of such lines.
std::string line_value(const char* path, std::string_view key) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return "";
  char line[4096];
  std::string value;
  while (value.empty() && std::fgets(line, sizeof line, file)) {
    std::string_view s = line;
    if (s.substr(0, key.size()) != key) continue;
    s.remove_prefix(key.size());
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == ':')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == '\n' || s.back() == ' ')) s.remove_suffix(1);
    value = s;
  }
  std::fclose(file);
  return value;
}

uint64_t leading_number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

// "32K", "1024K", "8M"
uint64_t cache_bytes(const std::string& text) {
  const uint64_t n = leading_number(text);
  return text.find('M') != std::string::npos ? n << 20 : text.find('K') != std::string::npos ? n << 10 : n;
}

std::string cpu_name() {
  std::string name = line_value("/proc/cpuinfo", "model name");
  if (name.empty()) name = first_line("/proc/device-tree/model");  // boards
  return name.empty() ? "unknown" : name;
}

void read_cpus(Machine* m) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  uint32_t cpus = 0, first = CPU_SETSIZE;
  std::set<std::string> cores;
  for (uint32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    first = std::min(first, i);
    ++cpus;
    const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/";
    const std::string core = first_line(dir + "physical_package_id") + ":" + first_line(dir + "core_id");
    cores.insert(core == ":" ? std::to_string(i) : core);
  }
  m->cpus = std::max(1u, cpus);
  m->cores = std::max(1u, static_cast<uint32_t>(cores.size()));
  for (int i = 0; i < 16 && cpus; ++i) {
    const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(first) + "/cache/index" + std::to_string(i) + "/";
    const std::string size = first_line(dir + "size");
    if (size.empty()) break;
    m->caches.push_back({static_cast<uint32_t>(leading_number(first_line(dir + "level"))), first_line(dir + "type"), cache_bytes(size),
                         first_line(dir + "shared_cpu_list")});
  }
}

void limit_memory(Machine* m, const std::string& text) {
  const uint64_t bytes = leading_number(text);  // "max" reads as 0
  if (bytes > 0 && bytes < m->memory_bytes && (m->memory_limit == 0 || bytes < m->memory_limit)) m->memory_limit = bytes;
}

void limit_cpu(Machine* m, double quota, double period) {
  if (quota > 0 && period > 0 && (m->cpu_quota == 0 || quota / period < m->cpu_quota)) m->cpu_quota = quota / period;
}

// Version 2: limits of this group and of all above it. Version 1: those of the mounted root, which is where containers see theirs.
void read_control_group(Machine* m) {
  std::string group = line_value("/proc/self/cgroup", "0::");
  for (;;) {
    const std::string dir = "/sys/fs/cgroup" + group + "/";
    limit_memory(m, first_line(dir + "memory.max"));
    double quota = 0, period = 0;
    if (std::sscanf(first_line(dir + "cpu.max").c_str(), "%lf %lf", &quota, &period) == 2) limit_cpu(m, quota, period);
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) break;
    group.resize(slash);
  }
  limit_memory(m, first_line("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  limit_cpu(m, std::strtod(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str(), nullptr),
            std::strtod(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str(), nullptr));
}

}  // namespace

Machine machine() {
  Machine m;
  m.cpu = cpu_name();
  read_cpus(&m);
  m.memory_bytes = leading_number(line_value("/proc/meminfo", "MemTotal")) << 10;
  m.available_bytes = leading_number(line_value("/proc/meminfo", "MemAvailable")) << 10;
  read_control_group(&m);
  return m;
}

uint32_t default_threads() {
  const Machine m = machine();
  uint32_t n = m.cores;
  if (m.cpu_quota > 0) n = std::min(n, static_cast<uint32_t>(std::ceil(m.cpu_quota)));
  return std::clamp(n, 1u, 256u);
}

uint64_t peak_rss_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

std::string sysroot() {
  const char* root = std::getenv("LINNET_SYSROOT");
  return root ? root : "";
}

uint64_t usable_memory() {
  const Machine m = machine();
  return m.memory_limit ? std::min(m.available_bytes, m.memory_limit) : m.available_bytes;
}

Limits limits_of(const linnet_profile& p) { return {p.read_gb_s, p.int8_tops, p.f8_tops, p.float_tops}; }

bool measure_limits(const Args& args, const linnet_profile& profile, uint32_t threads, Limits* out) {
  Memory buffer;
  if (!buffer.alloc(measure_bytes(machine()))) {
    failed(args, "no memory to measure with");
    return false;
  }
  std::memset(buffer.data, 1, buffer.bytes);  // memory that was never written is one page of zeros
  linnet_measurement m = {};
  m.size = sizeof m;
  linnet_error err = {};
  if (linnet_measure(&profile, threads, buffer.data, buffer.bytes, &m, &err) != LINNET_OK) {
    failed(args, err);
    return false;
  }
  *out = {m.read_gb_s, m.int8_tops, m.f8_tops, m.float_tops};
  return true;
}

double floor_of(const convert::CostStep& step, const Limits& limits, bool* compute) {
  const double tops = step.by == convert::Arithmetic::kInt8 ? limits.int8_tops : step.by == convert::Arithmetic::kF8 ? limits.f8_tops : limits.float_tops;
  const double read = (step.weight_bytes + step.kv_bytes) / (limits.read_gb_s * 1e9), work = step.ops / (tops * 1e12);
  if (compute) *compute = work > read;
  return std::max(read, work);
}

double floor_of(const convert::CostPass& pass, const Limits& limits) {
  double seconds = 0;
  for (const convert::CostStep& c : pass.steps) seconds += floor_of(c, limits, nullptr);
  return seconds;
}

size_t measure_bytes(const Machine& m) {
  uint64_t room = m.available_bytes;
  if (m.memory_limit) room = std::min(room, m.memory_limit);
  return static_cast<size_t>(std::clamp<uint64_t>(room / 4, 64u << 20, 1u << 30)) & ~size_t{4095};
}

}  // namespace linnet::cli
