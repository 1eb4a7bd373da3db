#include "board.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include "cpu.h"
#include "sysfs.h"

namespace linnet {
namespace {

constexpr uint32_t kMaxClusters = sizeof(linnet_board::clusters) / sizeof(linnet_cluster),
                   kMaxCaches = sizeof(linnet_board::caches) / sizeof(linnet_cache),
                   kMaxZones = sizeof(linnet_board::zones) / sizeof(linnet_zone);

// Lines of a text file; a line longer than the buffer is cut.
class Lines {
 public:
  explicit Lines(const Path& path) : fd_(path.open()) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    if (fd_ >= 0) close(fd_);
  }
  bool next(std::string_view* line) {
    if (fd_ < 0) return false;
    for (bool skip = false;;) {
      const char* end = static_cast<const char*>(std::memchr(buffer_ + from_, '\n', to_ - from_));
      if (end || (end_ && to_ > from_) || to_ - from_ == sizeof buffer_) {
        const size_t n = end ? static_cast<size_t>(end - buffer_) - from_ : to_ - from_;
        *line = std::string_view(buffer_ + from_, n);
        const bool cut = !end && !end_;
        from_ += n + (end ? 1 : 0);
        if (!skip) {
          skip_ = cut;
          return true;
        }
        skip = cut;
        continue;
      }
      if (end_) return false;
      skip = skip_;
      skip_ = false;
      fill();
    }
  }

 private:
  void fill() {
    std::memmove(buffer_, buffer_ + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
    ssize_t n;
    do n = read(fd_, buffer_ + to_, static_cast<unsigned>(sizeof buffer_ - to_));
    while (n < 0 && errno == EINTR);
    if (n <= 0 || (read_ += static_cast<size_t>(n)) > kMostBytes)
      end_ = true;
    else
      to_ += static_cast<size_t>(n);
  }
  static constexpr size_t kMostBytes = 16 << 20;  // ten times /proc/cpuinfo of a thousand CPUs
  int fd_;
  char buffer_[8192];
  size_t from_ = 0, to_ = 0, read_ = 0;
  bool end_ = false, skip_ = false;
};

// substr() would throw, and asks for the function that does.
std::string_view behind(std::string_view s, size_t n) {
  s.remove_prefix(n < s.size() ? n : s.size());
  return s;
}

// A whole number at the beginning of the text, and what stands behind it; false where there is none.
[[gnu::noinline]] bool number(std::string_view* s, uint64_t* out) {
  size_t n = 0;
  uint64_t v = 0;
  for (; n < s->size() && (*s)[n] >= '0' && (*s)[n] <= '9'; ++n)
    if (__builtin_mul_overflow(v, uint64_t{10}, &v) || __builtin_add_overflow(v, static_cast<uint64_t>((*s)[n] - '0'), &v)) v = UINT64_MAX;
  s->remove_prefix(n);
  *out = v;
  return n != 0;
}
uint64_t number(std::string_view s) {
  uint64_t v = 0;
  return number(&s, &v) ? v : 0;
}

template <size_t N>
void copy(char (&to)[N], std::string_view from) {
  const size_t n = from.size() < N - 1 ? from.size() : N - 1;
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<unsigned char>(from[i]) < 0x20 || from[i] == 0x7f ? '?' : from[i];
  to[n] = '\0';
}

// Cores by "CPU implementer" and "CPU part", names as GCC's -mcpu has them; in order: about half the work of another core in a cycle.
constexpr struct {
  uint32_t implementer, part;
  const char* name;
  bool in_order;
} kParts[] = {
    {0x41, 0xb76, "arm1176", true},        {0x41, 0xc05, "cortex-a5", true},       {0x41, 0xc07, "cortex-a7", true},
    {0x41, 0xc08, "cortex-a8", true},      {0x41, 0xc09, "cortex-a9", false},      {0x41, 0xc0f, "cortex-a15", false},
    {0x41, 0xd03, "cortex-a53", true},     {0x41, 0xd04, "cortex-a35", true},      {0x41, 0xd05, "cortex-a55", true},
    {0x41, 0xd07, "cortex-a57", false},    {0x41, 0xd08, "cortex-a72", false},     {0x41, 0xd09, "cortex-a73", false},
    {0x41, 0xd0a, "cortex-a75", false},    {0x41, 0xd0b, "cortex-a76", false},     {0x41, 0xd0c, "neoverse-n1", false},
    {0x41, 0xd0d, "cortex-a77", false},    {0x41, 0xd0e, "cortex-a76ae", false},   {0x41, 0xd40, "neoverse-v1", false},
    {0x41, 0xd41, "cortex-a78", false},    {0x41, 0xd42, "cortex-a78ae", false},   {0x41, 0xd44, "cortex-x1", false},
    {0x41, 0xd46, "cortex-a510", true},    {0x41, 0xd47, "cortex-a710", false},    {0x41, 0xd48, "cortex-x2", false},
    {0x41, 0xd49, "neoverse-n2", false},   {0x41, 0xd4b, "cortex-a78c", false},    {0x41, 0xd4d, "cortex-a715", false},
    {0x41, 0xd4e, "cortex-x3", false},     {0x41, 0xd4f, "neoverse-v2", false},    {0x41, 0xd80, "cortex-a520", true},
    {0x41, 0xd81, "cortex-a720", false},   {0x41, 0xd82, "cortex-x4", false},      {0x41, 0xd83, "neoverse-v3ae", false},
    {0x41, 0xd84, "neoverse-v3", false},   {0x41, 0xd85, "cortex-x925", false},    {0x41, 0xd87, "cortex-a725", false},
    {0x51, 0x001, "oryon", false},         {0x51, 0x802, "kryo-3xx-gold", false},  {0x51, 0x803, "kryo-3xx-silver", true},
    {0x51, 0x804, "kryo-4xx-gold", false}, {0x51, 0x805, "kryo-4xx-silver", true}, {0x4e, 0x004, "carmel", false},
};

struct Cpu {
  uint32_t implementer, part, capacity, max_mhz;
  bool sibling;  // another usable CPU of the same core comes before it
};
// What is collected before clusters are made of it.
struct Scan {
  Cpu cpus[LINNET_MAX_CPUS];
  linnet_cpus listed;  // CPUs of /proc/cpuinfo
  uint64_t bits;       // CpuBit
  bool arm;
};

uint32_t hex(std::string_view s) {
  if (s.substr(0, 2) == "0x") s.remove_prefix(2);
  uint32_t v = 0;
  for (const char c : s) v = v << 4 | static_cast<uint32_t>(c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0');
  return v;
}

void read_cpuinfo(const char* root, Scan* scan, linnet_board* out) {
  Lines lines(Path(root) << "/proc/cpuinfo");
  uint64_t cpu = 0;
  bool features = false;
  for (std::string_view line; lines.next(&line);) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(behind(line, colon + 1));
    if (key == "processor" && !value.empty() && value[0] >= '0' && value[0] <= '9') {
      cpu = number(value);
      if (cpu < LINNET_MAX_CPUS) cpu_add(&scan->listed, static_cast<uint32_t>(cpu));
    }
    if (key == "flags" || key == "Features") {
      scan->arm = key == "Features";
      const uint64_t bits = cpu_bits_of(value);
      scan->bits = features ? scan->bits & bits : bits;  // a program may run on any of them
      features = true;
      out->arch = !scan->arm ? LINNET_ARCH_X86_64 : has_word(value, "asimd") ? LINNET_ARCH_AARCH64 : LINNET_ARCH_ARM;
    }
    if (key == "model name" && !out->cpu[0]) copy(out->cpu, value);
    if (cpu >= LINNET_MAX_CPUS) continue;
    if (key == "CPU implementer") scan->cpus[cpu].implementer = hex(value);
    if (key == "CPU part") scan->cpus[cpu].part = hex(value);
  }
}

Path cpu_path(const char* root, uint32_t cpu) { return Path(root) << "/sys/devices/system/cpu/cpu" << cpu; }

void read_cpus(const char* root, Scan* scan, linnet_cpus online) {
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) {
    if (!cpu_in(online, i)) continue;
    Cpu& c = scan->cpus[i];
    c.capacity = static_cast<uint32_t>(number(Line(cpu_path(root, i) << "/cpu_capacity").view()));
    c.max_mhz = static_cast<uint32_t>(number(Line(cpu_path(root, i) << "/cpufreq/cpuinfo_max_freq").view()) / 1000);
  }
}

// Marks CPUs whose core is counted already; of those that this process may use.
uint32_t count_cores(const char* root, Scan* scan, const linnet_cpus& cpus) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) {
    if (!cpu_in(cpus, i)) continue;
    linnet_cpus core = {};
    if (cpu_parse(Line(cpu_path(root, i) << "/topology/thread_siblings_list").view(), &core))
      for (uint32_t j = 0; j < i; ++j) scan->cpus[i].sibling |= cpu_in(core, j) && cpu_in(cpus, j);
    n += !scan->cpus[i].sibling;
  }
  return n;
}

const char* part_name(const Cpu& c, bool* in_order) {
  for (const auto& p : kParts)
    if (p.implementer == c.implementer && p.part == c.part) {
      *in_order = p.in_order;
      return p.name;
    }
  return "";
}

// How much a core does, to be compared on one board alone: its capacity where the kernel says it, else its clock, twice unless it is in
// order.
uint64_t strength(const Cpu& c) {
  bool in_order = false;
  part_name(c, &in_order);
  return c.capacity ? c.capacity : uint64_t{c.max_mhz} * (in_order ? 1 : 2);
}
uint64_t strength(const linnet_cluster& c) { return c.strength; }

// CPUs of the same kind and about the same strength (boost clocks differ by some percent within a chip) are one cluster; strongest first.
void make_clusters(const Scan& scan, const linnet_cpus& online, linnet_board* out) {
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) {
    if (!cpu_in(online, i)) continue;
    const Cpu& c = scan.cpus[i];
    bool in_order = false;
    const char* name = part_name(c, &in_order);
    const uint64_t s = strength(c);
    linnet_cluster* mine = nullptr;
    for (uint32_t j = 0; j < out->n_clusters && !mine; ++j) {
      linnet_cluster& k = out->clusters[j];
      if (k.implementer == c.implementer && k.part_id == c.part && s * 10 >= strength(k) * 9 && strength(k) * 10 >= s * 9) mine = &k;
    }
    if (!mine) {
      if (out->n_clusters == kMaxClusters)
        mine = &out->clusters[kMaxClusters - 1];  // no board known has so many
      else
        mine = &out->clusters[out->n_clusters++];
      mine->implementer = c.implementer;
      mine->part_id = c.part;
      mine->strength = static_cast<uint32_t>(s);
      mine->capacity = c.capacity;
      copy(mine->part, name);
    }
    if (c.max_mhz > mine->max_mhz) mine->max_mhz = c.max_mhz;
    cpu_add(&mine->cpus, i);
  }
  for (uint32_t i = 1; i < out->n_clusters; ++i)
    for (uint32_t j = i; j && strength(out->clusters[j]) > strength(out->clusters[j - 1]); --j) {
      const linnet_cluster stronger = out->clusters[j];
      out->clusters[j] = out->clusters[j - 1];
      out->clusters[j - 1] = stronger;
    }
}

void read_caches(const char* root, uint32_t cpu, linnet_board* out) {
  for (uint32_t i = 0; i < kMaxCaches; ++i) {
    const auto entry = [&](const char* name) { return Line(cpu_path(root, cpu) << "/cache/index" << i << name); };
    const Line size = entry("/size"), type = entry("/type");
    if (size.view().empty()) return;
    linnet_cache& c = out->caches[out->n_caches++];
    std::string_view s = size.view();
    uint64_t n = 0;
    number(&s, &n);
    c.bytes = n << (s.substr(0, 1) == "M" ? 20 : s.substr(0, 1) == "K" ? 10 : 0);
    c.level = static_cast<uint32_t>(number(entry("/level").view()));
    copy(c.type, type.view());
    cpu_parse(entry("/shared_cpu_list").view(), &c.cpus);
  }
}

void read_zones(const char* root, linnet_board* out) {
  for (uint32_t i = 0; out->n_zones < kMaxZones; ++i) {
    const auto entry = [&](const char* name) { return Line(Path(root) << "/sys/class/thermal/thermal_zone" << i << name); };
    const Line type = entry("/type"), temperature = entry("/temp");
    if (type.view().empty()) return;
    std::string_view t = temperature.view();
    const bool negative = t.substr(0, 1) == "-";
    if (negative) t.remove_prefix(1);
    uint64_t milli = 0;
    if (!number(&t, &milli) || milli > 1000000) continue;  // a sensor that is switched off answers nothing
    linnet_zone& z = out->zones[out->n_zones++];
    copy(z.type, type.view());
    z.millidegrees = negative ? -static_cast<int32_t>(milli) : static_cast<int32_t>(milli);
  }
}

void limit_memory(linnet_board* out, std::string_view text) {
  const uint64_t bytes = number(text);  // "max" is none
  if (bytes && bytes < out->memory_bytes && (!out->memory_limit_bytes || bytes < out->memory_limit_bytes)) out->memory_limit_bytes = bytes;
}

void limit_cpu(linnet_board* out, uint64_t quota, uint64_t period) {
  if (!quota || !period) return;
  const double cpus = static_cast<double>(quota) / static_cast<double>(period);
  if (out->cpu_quota <= 0 || cpus < out->cpu_quota) out->cpu_quota = cpus;
}

// Limits of a control group and of all above it, in a folder of version 2 or of one controller of version 1. Containers see theirs at the
// mounted root.
void read_group(const char* root, std::string_view folder, std::string_view group, linnet_board* out) {
  for (;;) {
    const auto entry = [&](const char* name) { return Line(Path(root) << folder << group << name); };
    limit_memory(out, entry("/memory.max").view());
    limit_memory(out, entry("/memory.limit_in_bytes").view());
    const Line both = entry("/cpu.max"), quota = entry("/cpu.cfs_quota_us"),
               period = entry("/cpu.cfs_period_us");  // "150000 100000", "max 100000"; -1 is none
    std::string_view s = both.view();
    uint64_t n = 0;
    if (number(&s, &n)) limit_cpu(out, n, number(trim(s)));
    limit_cpu(out, number(quota.view()), number(period.view()));
    const size_t slash = group.rfind('/');
    if (slash == std::string_view::npos) return;
    group = group.substr(0, slash);
  }
}

void read_groups(const char* root, linnet_board* out) {
  Lines lines(Path(root) << "/proc/self/cgroup");  // "0::/user.slice", "4:cpu,cpuacct:/docker/1f"
  for (std::string_view line; lines.next(&line);) {
    const size_t first = line.find(':'), second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = behind(line, first + 1).substr(0, second - first - 1), group = trim(behind(line, second + 1));
    if (group == "/" || group.find("..") != std::string_view::npos) group = "";
    if (controllers.empty())
      read_group(root, "/sys/fs/cgroup", group, out);
    else if (has_word(controllers, "memory"))
      read_group(root, "/sys/fs/cgroup/memory", group, out);
    else if (controllers == "cpu" || controllers == "cpu,cpuacct" || controllers == "cpuacct,cpu") {
      read_group(root, "/sys/fs/cgroup/cpu", group, out);
      read_group(root, "/sys/fs/cgroup/cpu,cpuacct", group, out);
    }
  }
}

void read_memory(const char* root, linnet_board* out) {
  Lines lines(Path(root) << "/proc/meminfo");
  for (std::string_view line; lines.next(&line);) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const uint64_t kib = number(trim(behind(line, colon + 1)));
    if (kib > UINT64_MAX >> 10) continue;
    if (key == "MemTotal") out->memory_bytes = kib << 10;
    if (key == "MemAvailable") out->available_bytes = kib << 10;
    if (key == "SwapTotal") out->swap_bytes = kib << 10;
    if (key == "SwapFree") out->swap_used_bytes = out->swap_bytes > kib << 10 ? out->swap_bytes - (kib << 10) : 0;
  }
}

linnet_cpus allowed_cpus(const char* root) {
  if (!*root) return cpu_affinity();
  Lines lines(Path(root) << "/proc/self/status");
  linnet_cpus cpus = {};
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  for (std::string_view line; lines.next(&line);)
    if (line.substr(0, kKey.size()) == kKey) cpu_parse(trim(behind(line, kKey.size())), &cpus);
  return cpus;
}

}  // namespace

bool cpu_parse(std::string_view list, linnet_cpus* out) {
  linnet_cpus cpus = {};
  if (list.empty()) return false;
  for (;;) {
    uint64_t from = 0, to = 0;
    if (!number(&list, &from)) return false;
    to = from;
    if (!list.empty() && list.front() == '-') {
      list.remove_prefix(1);
      if (!number(&list, &to)) return false;
    }
    if (to < from) return false;
    for (uint64_t i = from; i <= to && i < LINNET_MAX_CPUS; ++i) cpu_add(&cpus, static_cast<uint32_t>(i));
    if (list.empty()) break;
    if (list.front() != ',') return false;
    list.remove_prefix(1);
  }
  *out = cpus;
  return true;
}

#if defined(__linux__)
linnet_cpus cpu_affinity() {
  linnet_cpus out = {};
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (uint32_t i = 0; i < LINNET_MAX_CPUS && i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) cpu_add(&out, i);
  return out;
}
#endif

Status board_detect(const char* root, linnet_board* out, uint64_t* seen, Error* err) {
  *out = {};
  out->size = sizeof(linnet_board_desc);
  Scan scan{};
  read_cpuinfo(root, &scan, out);
#if !defined(__linux__)
  const BoardFacts facts = *root ? BoardFacts{} : board_facts();
  if (!*root) {
    scan.listed = facts.cpus;
    scan.bits = cpu_bits();
    out->memory_bytes = facts.memory_bytes;
    out->available_bytes = facts.available_bytes;
    copy(out->cpu, facts.cpu);
    for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i) scan.cpus[i].sibling = !cpu_in(facts.primary, i);
  }
#endif
  linnet_cpus online = {};
  if (!cpu_parse(Line(Path(root) << "/sys/devices/system/cpu/online").view(), &online)) online = scan.listed;
  const linnet_cpus allowed = allowed_cpus(root);
  if (!cpu_count(online)) online = allowed;
  if (!cpu_count(online))
    return fail(err, LINNET_IO, *root ? root : "/proc", ": tells of no CPU: no /proc/cpuinfo, no /sys/devices/system/cpu/online");
  out->cpus = cpu_count(allowed) ? cpu_both(online, allowed) : online;
  if (!cpu_count(out->cpus)) out->cpus = online;  // this process runs on something
  out->n_cpus = cpu_count(out->cpus);
  read_cpus(root, &scan, online);
  out->n_cores = count_cores(root, &scan, out->cpus);
  make_clusters(scan, online, out);
  uint32_t first = 0;
  while (!cpu_in(out->clusters[0].cpus, first)) ++first;
  read_caches(root, first, out);
  read_memory(root, out);
  read_groups(root, out);
  read_zones(root, out);
  const Line model(Path(root) << "/proc/device-tree/model"), again(Path(root) << "/sys/firmware/devicetree/base/model"),
      product(Path(root) << "/sys/class/dmi/id/product_name");
  copy(out->model, !model.view().empty() ? model.view() : !again.view().empty() ? again.view() : product.view());
  const Line compatible(Path(root) << "/proc/device-tree/compatible", ' ');
  copy(out->compatible, compatible.view());
  if (scan.arm || !out->cpu[0]) copy(out->cpu, out->clusters[0].part);
  out->android = (Path(root) << "/system/build.prop").there();
  for (uint32_t i = 0; i < LINNET_MAX_CPUS; ++i)
    if (cpu_in(out->cpus, i) && !scan.cpus[i].sibling) cpu_add(&out->primary, i);
  linnet_profile p{};
  p.cores = LINNET_CORES_BIG;
  LINNET_TRY(profile_fit(&p, *out, err));
  out->n_threads = p.n_threads;
  *seen = scan.bits;
  return LINNET_OK;
}

Status profile_fit(linnet_profile* p, const linnet_board& board, Error* err) {
  if (p->cores > LINNET_CORES_LITTLE) return fail(err, LINNET_BAD_PROFILE, "profile: cores is ", p->cores, ", there is no such choice");
  linnet_cpus cpus = board.cpus;
  if (cpu_count(p->cpus)) {
    cpus = cpu_both(p->cpus, board.cpus);
    if (!cpu_count(cpus))
      return fail(err, LINNET_BAD_PROFILE, "cores: none of the ", cpu_count(p->cpus), " CPUs named is one of the ", board.n_cpus,
                  " that this process may use");
    p->cpus = cpus;
  } else if (p->cores > LINNET_CORES_ALL && board.n_clusters > 1) {
    linnet_cpus some = {};
    for (uint32_t i = 0; i < board.n_clusters; ++i) {
      const linnet_cluster& c = board.clusters[i];
      if (p->cores == LINNET_CORES_BIG ? 2 * strength(c) >= strength(board.clusters[0]) : i + 1 == board.n_clusters)
        for (uint32_t w = 0; w < LINNET_MAX_CPUS / 64; ++w) some.word[w] |= c.cpus.word[w];
    }
    some = cpu_both(some, board.cpus);
    if (cpu_count(some)) p->cpus = cpus = some;  // a process that was kept from those cores runs on what it has
  }
  // One thread per core: two on one share its multipliers. A quota of 1.5 CPUs is one thread: a second one would be stopped in every period
  // while the first waits for it.
  uint32_t most = cpu_count(cpu_both(cpus, board.primary));
  if (most == 0) most = cpu_count(cpus);
  if (p->n_threads == 0 && p->n_free_cores && most > 1) {
    // Cores that the profile does not take serve the rest of the device already.
    const uint32_t others = board.n_cores > most ? board.n_cores - most : 0, more = p->n_free_cores > others ? p->n_free_cores - others : 0;
    most = most > more + 1 ? most - more : 1;
  }
  const uint32_t usable = cpu_count(cpus);
  uint32_t n = p->n_threads ? p->n_threads : most;
  if (n > usable) n = usable;
  if (board.cpu_quota > 0 && static_cast<double>(n) > board.cpu_quota) n = board.cpu_quota < 2 ? 1 : static_cast<uint32_t>(board.cpu_quota);
  p->n_threads = n < 256 ? n : 256;
  return LINNET_OK;
}

}  // namespace linnet
