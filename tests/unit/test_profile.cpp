// Boards recorded as text choose profiles; profiles are read strictly; what they say takes effect.
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "kernels_cpu/registry.h"
#include "platform/board.h"
#include "tests/models.h"

using namespace test;
namespace fs = std::filesystem;

namespace {

struct Folder {
  std::string path = "/tmp/linnet-test-XXXXXX";
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
};

void write_file(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Unpacks tests/data/boards/NAME.txt below `to`; see the README there.
void unpack(const std::string& name, const std::string& to) {
  std::ifstream in("tests/data/boards/" + name + ".txt");
  REQUIRE(in.good());
  std::vector<std::string> paths;
  std::string line, text;
  const auto flush = [&] {
    for (size_t at; (at = text.find("\\0")) != std::string::npos;) text.replace(at, 2, 1, '\0');
    for (const std::string& p : paths) write_file(to + p, text);
    text.clear();
  };
  while (std::getline(in, line)) {
    if (line.rfind("@ ", 0) == 0) {
      flush();
      const std::string path = line.substr(2);
      const size_t open = path.find('{'), close = path.find('}');
      paths.clear();
      if (open == std::string::npos)
        paths.push_back(path);
      else
        for (int i = std::stoi(path.substr(open + 1)); i <= std::stoi(path.substr(path.find('-', open) + 1)); ++i)
          paths.push_back(path.substr(0, open) + std::to_string(i) + path.substr(close + 1));
    } else if (!paths.empty()) {
      text += line + "\n";
    }
  }
  flush();
}

// A board in memory of its own, with what the calls say of it.
struct Board : linnet_board_desc {
  std::unique_ptr<Memory> memory;
  linnet_board* b = nullptr;
  linnet_error err{};
  linnet_status status;
  explicit Board(const char* root) : linnet_board_desc{} {
    linnet_need need{.size = sizeof need};
    check(linnet_board_need(&need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    status = linnet_board_init(&b, memory->p, need.bytes, root, &err);
    if (status != LINNET_OK) return;
    size = sizeof(linnet_board_desc);
    check(linnet_board_info(b, this, &err), err);
  }
  template <class Row>
  Row row(linnet_status (*call)(const linnet_board*, uint32_t, Row*, linnet_error*), uint32_t i) const {
    Row out{};
    linnet_error why{};
    out.size = sizeof out;
    check(call(b, i, &out, &why), why);
    return out;
  }
  linnet_cluster cluster(uint32_t i) const { return row(linnet_board_cluster, i); }
  linnet_cache cache(uint32_t i) const { return row(linnet_board_cache, i); }
  linnet_zone zone(uint32_t i) const { return row(linnet_board_zone, i); }
};
Board detect(const std::string& root) {
  Board out(root.c_str());
  check(out.status, out.err);
  return out;
}

linnet_cpus cpus(const char* list) {
  linnet_cpus out{};
  REQUIRE((!*list || linnet_cpus_parse(list, &out, nullptr) == LINNET_OK));
  return out;
}
bool same(const linnet_cpus& a, const linnet_cpus& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

linnet_status parse(const std::string& text, linnet_profile* out, linnet_error* err, const linnet_board* board = nullptr,
                    linnet_match* match = nullptr) {
  *out = {};
  *err = {};
  out->size = sizeof *out;
  return linnet_profile_parse(text.data(), text.size(), "p.yaml", board, out, match, err);
}

linnet_profile good(const std::string& text) {
  linnet_profile p{};
  linnet_error err{};
  check(parse(text, &p, &err), err);
  return p;
}

// "p.yaml:LINE:COLUMN: what"; the line must be one of the text.
void check_place(const linnet_error& err, const std::string& text) {
  INFO(err.text);
  unsigned line = 0, column = 0;
  int n = 0;
  const bool placed = err.code == LINNET_BAD_PROFILE && std::sscanf(err.text, "p.yaml:%u:%u: %n", &line, &column, &n) == 2 && n &&
                      err.text[n] && column >= 1;
  const size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r')) +
                       2;  // YAML's lines end in either, and more
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  REQUIRE((placed && err.line == line && line >= 1 && (!ascii || line <= lines)));
}

}  // namespace

TEST_CASE("recorded boards choose the expected profile, cores and formats") {
  const struct {
    const char *name, *profile, *isa_tier, *cpus, *weights, *kv;
    uint32_t threads, n_cpus, n_cores, clusters, isa, n_zones, default_threads;
    double quota;
    uint64_t limit_mib;
  } rows[] = {
      {"raspberry-pi-4", "raspberry-pi-4", "neon", "", "i8g32", "i8", 4, 4, 4, 1, LINNET_ISA_NEON, 1, 4, 0, 0},
      {"raspberry-pi-5", "raspberry-pi-5", "neon_dotprod", "", "i8g32", "i8", 4, 4, 4, 1, LINNET_ISA_NEON_DOTPROD, 1, 4, 0, 0},
      {"rk3588", "rk3588", "neon_dotprod", "4-7", "i8g32", "i8", 4, 8, 8, 2, LINNET_ISA_NEON_DOTPROD, 2, 4, 0, 0},
      {"jetson-agx-orin", "jetson-agx-orin", "neon_dotprod", "", "i8g32", "i8", 12, 12, 12, 1, LINNET_ISA_NEON_DOTPROD, 1, 12, 0, 0},
      {"phone", "android-phone", "auto", "2-7", "i4g128", "i8", 6, 8, 8, 3, LINNET_ISA_NEON_BF16, 0, 6, 0, 0},
      {"container", "x86-64-avx2", "auto", "", "i8g32", "i8", 1, 8, 4, 1, LINNET_ISA_AVX2, 0, 1, 1.5, 512},
      {"container-v1", "x86-64-avx2", "auto", "", "i8g32", "i8", 2, 3, 2, 1, LINNET_ISA_AVX2, 0, 2, 2.5, 1024},
  };
  for (const auto& row : rows) {
    DYNAMIC_SECTION(row.name) {
      const Folder root;
      unpack(row.name, root.path);
      const Board b = detect(root.path);
      CHECK(b.n_cpus == row.n_cpus);
      CHECK(b.n_cores == row.n_cores);
      CHECK(b.n_clusters == row.clusters);
      CHECK(b.n_zones == row.n_zones);
      CHECK(b.n_threads == row.default_threads);
      CHECK(b.cpu_quota == row.quota);
      CHECK(b.memory_limit_bytes >> 20 == row.limit_mib);
      CHECK(b.isa_mask >> row.isa == 1);  // and nothing stronger
      linnet_profile p{};
      linnet_match match{};
      linnet_error err{};
      char path[256] = "";
      p.size = sizeof p;
      match.size = sizeof match;
      check(linnet_profile_pick("configs", b.b, &p, path, sizeof path, &match, &err), err);
      CHECK(std::string(path) == "configs/" + std::string(row.profile) + ".yaml");
      CHECK(match.matches == 1);
      CHECK(p.n_threads == row.threads);
      CHECK(same(p.cpus, cpus(row.cpus)));
      CHECK(std::string(linnet_isa_name(static_cast<linnet_isa>(p.isa))) == row.isa_tier);
      CHECK((p.isa == 0 || (b.isa_mask >> p.isa & 1)));
      CHECK(std::string(linnet_format_name(static_cast<linnet_format>(p.weights))) == row.weights);
      CHECK(std::string(linnet_format_name(static_cast<linnet_format>(p.k_format))) == row.kv);
      CHECK(p.k_format == p.v_format);
    }
  }
  SECTION("details") {
    const Folder root;
    unpack("rk3588", root.path);
    const Board b = detect(root.path);
    CHECK(b.arch == LINNET_ARCH_AARCH64);
    CHECK(std::string(b.model) == "Radxa ROCK 5B");
    CHECK(std::string(b.compatible) == "radxa,rock-5b rockchip,rk3588");
    CHECK(std::string(b.cpu) == "cortex-a76");
    CHECK(std::string(b.cluster(1).part) == "cortex-a55");
    CHECK(same(b.cluster(0).cpus, cpus("4-7")));
    CHECK((b.cluster(1).capacity == 397 && b.cluster(1).max_mhz == 1800));
    CHECK((b.zone(1).millidegrees == 42500 && std::string(b.zone(1).type) == "bigcore0-thermal"));
    CHECK(b.memory_bytes == uint64_t{16215552} << 10);
    // Without capacities the clock and the kind of core decide.
    for (int i = 0; i < 8; ++i) fs::remove(root.path + "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpu_capacity");
    const Board again = detect(root.path);
    CHECK(same(again.cluster(0).cpus, cpus("4-7")));
    CHECK(again.cluster(0).strength > 2 * again.cluster(1).strength);
  }
  SECTION("caches") {
    const Folder root;
    unpack("raspberry-pi-5", root.path);
    const Board b = detect(root.path);
    REQUIRE(b.n_caches == 4);
    CHECK((b.cache(3).bytes == 2048 << 10 && b.cache(3).level == 3 && same(b.cache(3).cpus, cpus("0-3"))));
  }
  SECTION("a 32-bit system takes no profile of a 64-bit one") {
    const Folder root;
    unpack("raspberry-pi-4-32bit", root.path);
    const Board b = detect(root.path);
    CHECK(b.arch == LINNET_ARCH_ARM);
    CHECK(b.isa_mask == (1u << LINNET_ISA_SCALAR | 1u << LINNET_ISA_NEON));
    linnet_profile p{};
    linnet_error err{};
    p.size = sizeof p;
    CHECK(linnet_profile_pick("configs", b.b, &p, nullptr, 0, nullptr, &err) == LINNET_UNSUPPORTED);
  }
  SECTION("an empty folder is no board") {
    const Folder root;
    const Board b(root.path.c_str());
    CHECK((b.status == LINNET_IO && !b.b));
    CHECK(std::string(b.err.text).find(root.path) == 0);
  }
}

TEST_CASE("nonsense in /proc and /sys does no harm") {
  const char* names[] = {"phone", "container-v1", "rk3588"};
  const std::string nonsense[] = {"",
                                  "\n",
                                  "-1",
                                  "99999999999999999999999999",
                                  "0-4294967295",
                                  "3-1",
                                  ",,,",
                                  std::string(100000, 'x'),
                                  std::string(5000, '\0'),
                                  "processor : 999999999\nflags : \n",
                                  "0::/../../.."};
  for (const char* name : names) {
    if (kSanitized && name != names[1]) continue;
    const Folder root;
    unpack(name, root.path);
    std::vector<std::string> files;
    for (const auto& e : fs::recursive_directory_iterator(root.path))
      if (e.is_regular_file()) files.push_back(e.path());
    for (const std::string& f : files) {
      if (f.find("/cpu3/") == std::string::npos && f.find("/cpu") != std::string::npos && f.find("cpuinfo") == std::string::npos) continue;
      const std::string kept = slurp(f);
      for (const std::string& n : nonsense) {
        write_file(f, n);
        const Board b(root.path.c_str());
        INFO(f);
        REQUIRE((b.status == LINNET_OK || b.err.text[0]));
        if (b.status != LINNET_OK) continue;
        REQUIRE((b.n_threads >= 1 && b.n_threads <= b.n_cpus));
        REQUIRE((b.n_clusters >= 1 && b.n_clusters <= 8));
        REQUIRE(std::memchr(b.model, 0, sizeof b.model));
      }
      write_file(f, kept);
    }
  }
}

TEST_CASE("this machine: what /proc/cpuinfo says is what the CPU says") {
  const Board b(nullptr);
  check(b.status, b.err);
  linnet_board seen_board{};
  linnet_error err{};
  uint64_t bits = 0;
  check(linnet::board_detect("", &seen_board, &bits, &err), err);
  uint32_t built = 0;
  const uint32_t seen = linnet::isa_mask_of(bits);
  for (uint32_t i = LINNET_ISA_SCALAR; linnet_isa_name(static_cast<linnet_isa>(i)); ++i) {
    linnet_profile p{};
    p.size = sizeof p;
    p.isa = i;
    linnet_isa got;
    linnet_error why{};
    if (linnet::by_name(i)) continue;
    const linnet_status status = linnet_isa_pick(&p, &got, &why);
    if (std::string(why.text).find("refuses") != std::string::npos) continue;  // a system need not grant what the CPU has
    if (status == LINNET_OK || std::string(why.text).find("not in this build") == std::string::npos) built |= 1u << i;
    CHECK((b.isa_mask >> i & 1) == (status == LINNET_OK));
  }
  CHECK((b.isa_mask & built) == (seen & built));
  CHECK(b.n_cpus == linnet::cpu_count(linnet::cpu_affinity()));
  CHECK((b.n_threads >= 1 && b.n_threads <= b.n_cores && b.n_cores <= b.n_cpus));
  CHECK(b.memory_bytes > 0);
}

TEST_CASE("rows of a board: as many as it says, each as far as the caller's struct reaches") {
  const Folder root, other_root;
  unpack("rk3588", root.path);
  unpack("raspberry-pi-5", other_root.path);
  const Board rockchip = detect(root.path), pi = detect(other_root.path);
  linnet_error err{};
  const auto rows = [&]<class Row>(const Board& b, linnet_status (*call)(const linnet_board*, uint32_t, Row*, linnet_error*), uint32_t n,
                                   const char* what) {
    Row row{};
    row.size = sizeof row;
    for (uint32_t i = 0; i < n; ++i) {
      check(call(b.b, i, &row, &err), err);
      CHECK(row.size == sizeof row);
    }
    const Row last = row;
    for (const uint32_t i : {n, n + 1, UINT32_MAX}) {
      CHECK(call(b.b, i, &row, &err) == LINNET_BAD_ARG);
      CHECK(std::string(err.text) == "board: row " + std::to_string(i) + " of " + std::to_string(n) + " " + what);
    }
    CHECK(std::memcmp(&row, &last, sizeof row) == 0);  // as it was
    CHECK(call(nullptr, 0, &row, &err) == LINNET_BAD_ARG);
    CHECK(call(b.b, 0, nullptr, &err) == LINNET_BAD_ARG);
    row.size = 3;
    CHECK(call(b.b, 0, &row, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("size is 3") != std::string::npos);
    // An older app's struct, and a newer one's.
    Row pair[2];
    std::memset(pair, 0x5A, sizeof pair);
    pair[0].size = 8;
    check(call(b.b, 0, pair, &err), err);
    CHECK(pair[0].size == 8);
    const auto* bytes = reinterpret_cast<const uint8_t*>(pair);
    CHECK(std::all_of(bytes + 8, bytes + sizeof pair, [](uint8_t v) { return v == 0x5A; }));
    pair[0].size = sizeof pair;
    check(call(b.b, 0, pair, &err), err);
    CHECK(pair[0].size == sizeof(Row));
    CHECK(std::all_of(bytes + sizeof(Row), bytes + sizeof pair, [](uint8_t v) { return v == 0x5A; }));
  };
  REQUIRE((rockchip.n_clusters == 2 && rockchip.n_zones == 2 && pi.n_caches == 4));
  rows(rockchip, linnet_board_cluster, 2, "clusters");
  rows(pi, linnet_board_cache, 4, "caches");
  rows(rockchip, linnet_board_zone, 2, "zones");
}

TEST_CASE("a board takes the memory that it says, and no byte less") {
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  check(linnet_board_need(&need, &err), err);
  CHECK((need.size == sizeof need && need.align == 64 && need.bytes > 0 && need.device_bytes == 0));
  const Memory memory(need.bytes);
  linnet_board* b = nullptr;
  CHECK(linnet_board_init(&b, memory.p, need.bytes - 1, nullptr, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find("needs " + std::to_string(need.bytes)) != std::string::npos);
  CHECK(linnet_board_init(&b, static_cast<char*>(memory.p) + 8, need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_init(&b, nullptr, need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_init(nullptr, memory.p, need.bytes, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(b == nullptr);
  check(linnet_board_init(&b, memory.p, need.bytes, nullptr, &err), err);
  linnet_board_desc desc{.size = sizeof desc};
  CHECK(linnet_board_info(nullptr, &desc, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_info(b, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_board_need(nullptr, &err) == LINNET_BAD_ARG);
  need.size = 0;
  CHECK(linnet_board_need(&need, &err) == LINNET_BAD_ARG);
  // "" is the running system, as NULL is.
  const Board other(""), this_one(nullptr);
  check(other.status, other.err);
  CHECK((other.n_cpus == this_one.n_cpus && other.isa_mask == this_one.isa_mask));
  linnet_profile p{};
  CHECK(linnet_profile_fit(&p, b, &err) == LINNET_BAD_ARG);  // no size
  p.size = sizeof p;
  CHECK(linnet_profile_fit(&p, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_profile_fit(nullptr, b, &err) == LINNET_BAD_ARG);
  p.cores = LINNET_CORES_LITTLE + 1;
  CHECK(linnet_profile_fit(&p, b, &err) == LINNET_BAD_PROFILE);
  CHECK(std::string(err.text).find("cores is 4") != std::string::npos);
  CHECK(p.n_threads == 0);
}

TEST_CASE("a profile never gets more threads than the board gives") {
  const Folder root;
  unpack("rk3588", root.path);
  linnet_board b = *detect(root.path).b;  // quotas and masks are made up below
  linnet_error err{};
  const auto fitted = [&](const std::string& text) {
    linnet_profile p = good(text);
    check(linnet_profile_fit(&p, &b, &err), err);
    return p;
  };
  CHECK(fitted("name: x").n_threads == 8);
  CHECK(fitted("threads: 200").n_threads == 8);
  CHECK(fitted("threads: 3").n_threads == 3);
  CHECK(fitted("cores: big").n_threads == 4);
  CHECK(same(fitted("cores: big").cpus, cpus("4-7")));
  CHECK(same(fitted("cores: little").cpus, cpus("0-3")));
  CHECK(same(fitted("cores: 2,6-9").cpus, cpus("2,6-7")));
  CHECK(fitted("threads: 4\ncores: 2,6-9").n_threads == 3);
  CHECK(fitted("power: {free_cores: 1}").n_threads == 7);
  CHECK(fitted("power: {free_cores: 20}").n_threads == 1);
  CHECK(fitted("cores: big\npower: {free_cores: 1}").n_threads == 4);  // the little ones are free already
  CHECK(fitted("cores: big\npower: {free_cores: 5}").n_threads == 3);
  for (const auto& [quota, threads] : {std::pair{0.1, 1u}, {1.0, 1u}, {1.5, 1u}, {1.99, 1u}, {2.0, 2u}, {3.7, 3u}, {64.0, 8u}}) {
    b.cpu_quota = quota;
    CHECK(fitted("name: x").n_threads == threads);
    CHECK(fitted("threads: 8").n_threads == threads);
  }
  b.cpu_quota = 0;
  b.cpus = cpus("0-1");
  b.n_cpus = 2;
  CHECK(fitted("threads: 4").n_threads == 2);
  CHECK(fitted("cores: big").n_threads == 2);  // kept from those, it runs on what it has
  linnet_profile p = good("cores: 4-7");
  CHECK(linnet_profile_fit(&p, &b, &err) == LINNET_BAD_PROFILE);
  CHECK(std::string(err.text).find("none of the 4 CPUs") != std::string::npos);
}

TEST_CASE("every key of a profile") {
  const linnet_profile p = good(
      "# all of them\nname: 'a device'\nmatch:\n  arch: x86_64\n  isa: avx2\n  model: [a, \"b c\"]\n  cpu: xeon\n  part:\n    - "
      "cortex-a76\n    - cortex-a55\n  android: false\n  cores_min: 1\n"
      "  cores_max: 8\n  clusters_min: 1\n  memory_min_mib: 1\n  memory_max_mib: 99\nisa: scalar\nthreads: 3\nthread_kind: own\ncores: "
      "0-1,4\nwait: sleep\nspin: 7\nweights: i4g64\nkv: i8/f16\n"
      "context: 77\nchunk: 9\nwhen_full: sinks\nkeep: 5\nmemory_mib: 12\nhuge_pages: false\nprefill: measured\npower:\n  "
      "temperature_limit: 70.5\n  steps: [4, 2, 1]\n  tokens_per_s: 8.5\n"
      "  battery: save\n  priority: -3\n  free_cores: 2\npeaks: {read_gb_s: 1.5, int8_tops: 2, f8_tops: 3e-1, float_tops: 0.25}\ncuda:\n  "
      "sms: 8\n  graph: true\n  block_mib: 256\n  zero_copy: true\n  gemm: fast\n");
  CHECK(std::string(p.name) == "a device");
  CHECK((p.isa == LINNET_ISA_SCALAR && p.n_threads == 3 && p.threads == LINNET_THREADS_OWN && p.wait == LINNET_WAIT_SLEEP && p.spin == 7));
  CHECK(same(p.cpus, cpus("0,1,4")));
  CHECK((p.weights == LINNET_I4G64 && p.k_format == LINNET_I8 && p.v_format == LINNET_F16 && p.n_context == 77 && p.n_chunk == 9));
  CHECK((p.when_full == LINNET_FULL_SINKS && p.n_keep == 5 && p.memory_bytes == 12u << 20 && p.huge_pages == LINNET_SWITCH_OFF &&
         p.prefill == LINNET_PREFILL_MEASURED));
  CHECK((p.temperature_limit == 70.5f && p.steps[0] == 4 && p.steps[2] == 1 && p.steps[3] == 0 && p.tokens_per_s == 8.5f &&
         p.battery == LINNET_BATTERY_SAVE));
  CHECK((p.priority == -3 && p.n_free_cores == 2));
  CHECK((p.read_gb_s == 1.5 && p.int8_tops == 2 && p.f8_tops == 0.3 && p.float_tops == 0.25));
  CHECK((p.cuda_sms == 8 && p.cuda_graph == LINNET_SWITCH_ON && p.cuda_block_bytes == 256u << 20 && p.cuda_zero_copy == LINNET_SWITCH_ON &&
         p.cuda_gemm == LINNET_GEMM_FAST));
  CHECK(good("cuda: {gemm: exact}").cuda_gemm == LINNET_GEMM_EXACT);
  CHECK(good("cores: little").cores == LINNET_CORES_LITTLE);
}

TEST_CASE("what is no profile is refused with its place") {
  const struct {
    const char *text, *place, *word;
  } rows[] = {
      {"colour: red\n", "1:1", "unknown key 'colour'"},
      {"match:\n  colour: red\n", "2:3", "expected one of arch"},
      {"peaks: {threads: 1}\n", "1:9", "unknown key"},
      {"threads: many\n", "1:10", "many"},
      {"threads: '2'\n", "1:10", "1 to 256"},
      {"threads: 0\n", "1:10", "'0'"},
      {"threads: 257\n", "1:10", "257"},
      {"threads: 2.0\n", "1:10", "2.0"},
      {"threads: -1\n", "1:10", "-1"},
      {"threads: 99999999999999999999\n", "1:10", "9999"},
      {"threads: [2]\n", "1:10", "list"},
      {"threads:\n", "1:", "threads"},
      {"name: a\nname: b\n", "2:1", "twice"},
      {"power:\n  steps: [2]\n  steps: [1]\n", "3:3", "twice"},
      {"power: {battery: save}\npower: {battery: save}\n", "2:1", "twice"},
      {"isa: sse9\n", "1:6", "sse9"},
      {"kv: i3\n", "1:5", "i3"},
      {"kv: i8/\n", "1:5", "i8/"},
      {"kv: i8g128\n", "1:5", "KV"},
      {"weights: kivi4\n", "1:10", "kivi4"},
      {"name: 5\n", "1:7", "5"},
      {"name: yes: no\n", "1:", ""},
      {"name: &a x\n", "1:7", "anchor"},
      {"name: x\nisa: *a\n", "2:6", "alias"},
      {"name: !!str x\n", "1:7", "tag"},
      {"!profile\nname: x\n", "1:1", "tag"},
      {"name: [a]\n", "1:7", "list"},
      {"name: {a: b}\n", "1:7", "nested"},
      {"match: x\n", "1:8", "mapping"},
      {"match: [x]\n", "1:8", "mapping"},
      {"match: {model: [[x]]}\n", "1:17", "single value"},
      {"match: {model: {a: b}}\n", "1:16", "nested"},
      {"match: &m {arch: arm}\n", "1:8", "anchor"},
      {"match: {model: &m [a]}\n", "1:16", "anchor"},
      {"match: {model: []}\n", "1:16", "empty"},
      {"match: {arch: sparc}\n", "1:15", "x86_64"},
      {"match: {android: yes}\n", "1:18", "true or false"},
      {"huge_pages: 'true'\n", "1:13", "true"},
      {"cores: fast\n", "1:8", "4-7"},
      {"cores: 3-1\n", "1:8", "3-1"},
      {"power: {steps: 3}\n", "1:16", "list"},
      {"power: {steps: [1, 2]}\n", "1:20", "smaller"},
      {"power: {steps: [17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1]}\n", "1:57", "more than 16"},
      {"power: {priority: 20}\n", "1:19", "-20 to 19"},
      {"power: {temperature_limit: 0}\n", "1:28", "above 0"},
      {"peaks: {read_gb_s: nan}\n", "1:20", "nan"},
      {"peaks: {read_gb_s: inf}\n", "1:20", "inf"},
      {"peaks: {int8_tops: -1}\n", "1:20", "-1"},
      {"memory_mib: 1.5\n", "1:13", "MiB"},
      {"- a\n", "1:1", "list"},
      {"just text\n", "1:1", ""},
      {"", "1:1", ""},
      {"# nothing\n", "", ""},
      {"name: x\n---\nname: y\n", "2:1", "second"},
      {"%YAML 1.1\n---\nname: x\n", "", "directive"},
      {"name: 'x\n", "", ""},
      {"\tname: x\n", "1:", ""},
      {"&m\nname: x\n", "1:1", "anchor"},
      {"name: \xff\n", "", ""},
      {"chunk: 4097\n", "1:8", "4097"},
      {"? [a]\n: b\n", "1:3", "key"},
      {"? {a: b}\n: c\n", "1:3", "key"},
      {"name: \"\\q\"\n", "1:", ""},
      {"<<: {name: x}\n", "1:1", "<<"},
      {"{}{}\n", "1:", ""},
      {"name: |\n  a\n  b\nisa:\n  - x\n", "5:3", "list"},
      {"match:\n  match:\n    match: x\n", "2:3", "unknown key 'match'"},
      {"name: x\n...\nname: y\n", "", ""},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    linnet_profile p{};
    linnet_error err{};
    CHECK(parse(row.text, &p, &err) == LINNET_BAD_PROFILE);
    CHECK(std::string(err.text).find("p.yaml:" + std::string(row.place)) == 0);
    CHECK(std::string(err.text).find(row.word) != std::string::npos);
    check_place(err, row.text);
  }
  SECTION("bombs and depths") {
    linnet_profile p{};
    linnet_error err{};
    std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
    for (char c = 'b'; c <= 'z'; ++c)
      bomb += std::string(1, c) + ": &" + c + " [*" + char(c - 1) + ",*" + char(c - 1) + ",*" + char(c - 1) + "]\n";
    for (const std::string& text : {bomb, std::string(60000, '['), std::string(60000, '{'), "match: {model: " + std::string(60000, '['),
                                    std::string(30000, '-') + "\n", "name: \"" + std::string(60000, 'x') + "\"",
                                    std::string("name: ") + std::string(60000, ' ') + "'", std::string(20000, '?') + "\n",
                                    "x" + std::string(60000, 'x') + ": 1\n", std::string(60000, '\n') + "colour: 1"}) {
      CHECK(parse(text, &p, &err) == LINNET_BAD_PROFILE);
      check_place(err, text);
    }
    CHECK(parse("name: " + std::string(70000, 'x'), &p, &err) == LINNET_BAD_PROFILE);
    CHECK(std::string(err.text).find("64 KiB") != std::string::npos);
  }
  SECTION("arguments") {
    linnet_profile p{};
    linnet_error err{};
    CHECK(linnet_profile_parse("", 0, "x", nullptr, &p, nullptr, &err) == LINNET_BAD_ARG);  // size is not set
    p.size = sizeof p;
    CHECK(linnet_profile_parse(nullptr, 5, "x", nullptr, &p, nullptr, &err) == LINNET_BAD_ARG);
    CHECK(linnet_profile_read("/no/such/profile.yaml", nullptr, &p, nullptr, &err) == LINNET_IO);
    CHECK(std::string(err.text).find("/no/such/profile.yaml: ") == 0);
    linnet_profile old = {};
    old.size = 12;  // compiled against a header that ended with isa_mask
    old.n_threads = 99;
    CHECK(linnet_profile_parse("isa: avx2\nthreads: 4\n", 21, "x", nullptr, &old, nullptr, &err) == LINNET_OK);
    CHECK((old.size == 12 && old.isa == LINNET_ISA_AVX2 && old.n_threads == 99));
    const std::string path = std::string(300, 'd') + "/p.yaml";
    CHECK(linnet_profile_parse("x: 1", 4, path.c_str(), nullptr, &p, nullptr, &err) == LINNET_BAD_PROFILE);
    CHECK(std::string(err.text).find("/p.yaml:1:1: unknown key 'x'") != std::string::npos);
  }
}

TEST_CASE("damaged profiles and the yaml-test-suite never crash and name the place") {
  std::vector<std::string> files;
  for (const auto& e : fs::directory_iterator("configs"))
    if (e.path().extension() == ".yaml") files.push_back(e.path());
  REQUIRE(files.size() == 14);
  linnet_profile p{};
  linnet_error err{};
  for (const std::string& f : files) {
    const std::string text = slurp(f);
    check(parse(text, &p, &err), err);
    for (size_t i = 0; i < text.size(); i += kSanitized ? 29 : 3) {
      if (parse(text.substr(0, i), &p, &err) != LINNET_OK) check_place(err, text);
      for (const char c : {'\0', '\n', '[', '{', '&', '*', '!', ':', '"', '\xff'}) {
        std::string bad = text;
        bad[i] = c;
        if (parse(bad, &p, &err) != LINNET_OK) check_place(err, bad);
      }
    }
  }
  const std::string suite = data_path("vectors/yaml-test-suite");
  if (suite.empty()) return;
  size_t n = 0, n_read = 0;
  for (const auto& e : fs::recursive_directory_iterator(suite)) {
    if (e.path().filename() != "in.yaml") continue;
    const std::string text = slurp(e.path());
    INFO(e.path());
    ++n;
    if (parse(text, &p, &err) == LINNET_OK)
      ++n_read;
    else
      check_place(err, text);
  }
  CHECK(n > 300);
  CHECK(n_read <= 1);  // an empty mapping is a profile that says nothing; every other one has keys or forms that profiles have not
}

TEST_CASE("rules: the more exactly a profile says what the board is, the more points it gets") {
  const Folder root;
  unpack("raspberry-pi-5", root.path);
  const Board b = detect(root.path);
  const auto match = [&](const std::string& rules) {
    linnet_profile p{};
    linnet_match m{};
    linnet_error err{};
    m.size = sizeof m;
    check(parse(rules.empty() ? "name: x" : "match: {" + rules + "}", &p, &err, b.b, &m), err);
    return m;
  };
  CHECK(match("arch: aarch64").points == 1);
  CHECK(match("arch: aarch64, isa: neon").points < match("arch: aarch64, isa: neon_dotprod").points);
  CHECK(match("arch: aarch64, isa: neon_dotprod, cores_min: 2, clusters_min: 1, memory_min_mib: 100, android: false").points <
        match("part: cortex-a76").points);
  CHECK(match("part: [cortex-a55, cortex-a76], cores_max: 4").points < match("model: 'raspberry pi 5'").points);
  CHECK(match("model: bcm2712").matches == 1);
  for (const char* no :
       {"", "arch: x86_64", "isa: neon_i8mm", "model: 'Raspberry Pi 4'", "part: cortex-a7", "cores_min: 5", "cores_max: 3",
        "clusters_min: 2", "memory_min_mib: 9000", "memory_max_mib: 7000", "android: true", "cpu: xeon", "arch: aarch64, model: x"}) {
    INFO(no);
    CHECK(match(no).matches == 0);
    CHECK(match(no).points == 0);
    CHECK(match(no).why[0] != '\0');
  }
  CHECK(std::string(match("model: x").why) == "model 'x', but the board is a 'Raspberry Pi 5 Model B Rev 1.0'");
}

namespace {

// A model made with a profile.
struct Profiled {
  Model model{"tests/golden/llama", LINNET_I8G128, 0, false};
  linnet_error err{};
  linnet_status status;
  explicit Profiled(linnet_profile p) {
    p.size = sizeof p;
    linnet_need need{.size = sizeof need};
    const linnet_view file = model.image.view();
    status = linnet_model_need(&file, &p, &need, &err);
    if (status != LINNET_OK) return;
    model.memory = std::make_unique<Memory>(need.bytes);
    status = linnet_model_init(&model.m, model.memory->p, need.bytes, &file, &p, &err);
  }
  size_t need(const linnet_session_params& p) {
    linnet_need n{.size = sizeof n};
    check(linnet_session_need(model.m, &p, &n, &err), err);
    return n.bytes;
  }
};

}  // namespace

TEST_CASE("sessions take from the profile what they are not told") {
  linnet_session_params none{};
  none.size = sizeof none;
  Profiled plain({});
  REQUIRE(plain.status == LINNET_OK);
  linnet_profile p{};
  const auto equal = [&](const linnet_session_params& told) { return Profiled(p).need(none) == plain.need(told); };
  linnet_session_params told = none;
  SECTION("context") {
    p.n_context = told.n_context = 48;
    CHECK(equal(told));
    p.n_context = 1u << 24;  // no more than the model was trained for
    told.n_context = 0;
    CHECK(equal(told));
  }
  SECTION("formats") {
    p.k_format = told.k_format = LINNET_F16;
    p.v_format = told.v_format = LINNET_F32;
    CHECK(equal(told));
    told.k_format = told.v_format = LINNET_BF16;  // K and V as said, not V of the profile beside K of the caller
    linnet_session_params half = none;
    half.k_format = LINNET_BF16;
    CHECK(Profiled(p).need(half) == plain.need(told));
  }
  SECTION("chunk, threads, when_full") {
    p.n_chunk = told.n_chunk = 16;
    p.n_threads = told.n_threads = 3;
    p.threads = told.threads = LINNET_THREADS_OWN;
    p.n_context = told.n_context = 64;
    p.when_full = told.when_full = LINNET_FULL_SINKS;
    p.n_keep = told.n_keep = 2;
    CHECK(equal(told));
  }
  SECTION("the same bytes") {
    p.n_threads = 2;
    p.n_chunk = 5;
    p.huge_pages = LINNET_SWITCH_OFF;
    p.wait = LINNET_WAIT_SLEEP;
    Profiled made(p);
    REQUIRE(made.status == LINNET_OK);
    Session a(made.model, none), b(plain.model, none);
    linnet_stats stats{};
    stats.size = sizeof stats;
    REQUIRE(linnet_stats_get(a.s, &stats, nullptr) == LINNET_OK);
    CHECK(stats.n_threads == 2);
    const Tokens text = {1, 5, 9, 13, 2, 8, 30, 7};
    a.prefill(text);
    b.prefill(text);
    const float *la = nullptr, *lb = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(a.s, 0, 0, &la, &n, nullptr) == LINNET_OK);
    REQUIRE(linnet_logits(b.s, 0, 0, &lb, &n, nullptr) == LINNET_OK);
    CHECK(std::memcmp(la, lb, n * sizeof(float)) == 0);
  }
  SECTION("prefill backend") {
    linnet_profile onednn{};
    onednn.size = sizeof onednn;
    onednn.isa = LINNET_ISA_ONEDNN;
    linnet_isa isa = LINNET_ISA_AUTO;
    const bool there = linnet_isa_pick(&onednn, &isa, nullptr) == LINNET_OK;
    p.prefill = LINNET_PREFILL_ONEDNN;
    const Profiled library(p);
    CHECK(library.status == (there ? LINNET_OK : LINNET_UNSUPPORTED));
    if (!there) CHECK(std::string(library.err.text).find("isa 'onednn'") == 0);
    p.prefill = LINNET_PREFILL_MEASURED;
    CHECK(Profiled(p).status == LINNET_OK);
  }
  SECTION("choices out of range are refused by name") {
    linnet_error err{};
    const struct {
      const char* name;
      uint32_t linnet_profile::* field;
      uint32_t last;
    } choices[] = {{"isa", &linnet_profile::isa, LINNET_ISA_AMX},
                   {"threads", &linnet_profile::threads, LINNET_THREADS_APP},
                   {"wait", &linnet_profile::wait, LINNET_WAIT_SLEEP},
                   {"cores", &linnet_profile::cores, LINNET_CORES_LITTLE},
                   {"k_format", &linnet_profile::k_format, LINNET_KIVI2},
                   {"v_format", &linnet_profile::v_format, LINNET_KIVI2},
                   {"when_full", &linnet_profile::when_full, LINNET_FULL_SNAPKV},
                   {"huge_pages", &linnet_profile::huge_pages, LINNET_SWITCH_OFF},
                   {"prefill", &linnet_profile::prefill, LINNET_PREFILL_MEASURED},
                   {"battery", &linnet_profile::battery, LINNET_BATTERY_SAVE},
                   {"cuda", &linnet_profile::cuda, LINNET_CUDA_AUTO},
                   {"cuda_graph", &linnet_profile::cuda_graph, LINNET_SWITCH_OFF},
                   {"cuda_zero_copy", &linnet_profile::cuda_zero_copy, LINNET_SWITCH_OFF},
                   {"cuda_gemm", &linnet_profile::cuda_gemm, LINNET_GEMM_FAST}};
    for (const auto& choice : choices)
      for (const uint32_t value : {choice.last + 1, UINT32_MAX}) {
        linnet_profile wrong{};
        wrong.*choice.field = value;
        const Profiled made(wrong);
        INFO(made.err.text);
        CHECK(made.status == LINNET_BAD_PROFILE);
        CHECK(std::string(made.err.text).find(std::string("profile: ") + choice.name + " is " + std::to_string(value)) == 0);
        wrong.size = sizeof wrong;
        linnet_isa isa = LINNET_ISA_AUTO;
        linnet_measurement measured{};
        measured.size = sizeof measured;
        CHECK(linnet_isa_pick(&wrong, &isa, &err) == LINNET_BAD_PROFILE);
        CHECK(linnet_measure(&wrong, 1, nullptr, 0, &measured, &err) == LINNET_BAD_PROFILE);
      }
    for (const uint32_t format : {LINNET_I8G128, LINNET_I4G128Z}) {  // of weights alone
      linnet_profile wrong{};
      wrong.k_format = format;
      CHECK(Profiled(wrong).status == LINNET_BAD_PROFILE);
    }
    const struct {
      const char* name;
      uint32_t linnet_session_params::* field;
      uint32_t last;
    } told_choices[] = {{"KV format", &linnet_session_params::k_format, LINNET_KIVI2},
                        {"V format", &linnet_session_params::v_format, LINNET_KIVI2},
                        {"threads", &linnet_session_params::threads, LINNET_THREADS_APP},
                        {"wait", &linnet_session_params::wait, LINNET_WAIT_SLEEP},
                        {"when_full", &linnet_session_params::when_full, LINNET_FULL_SNAPKV}};
    for (const auto& choice : told_choices)
      for (const uint32_t value : {choice.last + 1, UINT32_MAX}) {
        linnet_session_params wrong = none;
        wrong.*choice.field = value;
        linnet_need need{.size = sizeof need};
        const linnet_status status = linnet_session_need(plain.model.m, &wrong, &need, &err);
        INFO(err.text);
        CHECK((status == LINNET_BAD_ARG || status == LINNET_UNSUPPORTED));
        CHECK(std::string(err.text).find(choice.name) != std::string::npos);
        CHECK(std::string(err.text).find(std::to_string(value)) != std::string::npos);
      }
  }
  SECTION("fields out of range are refused by name") {
    p.priority = 40;
    const Profiled made(p);
    CHECK(made.status == LINNET_BAD_PROFILE);
    CHECK(std::string(made.err.text).find("priority is 40") != std::string::npos);
  }
}

TEST_CASE("the memory cap refuses with numbers and says what would fit") {
  Profiled plain({});
  linnet_session_params asked{};
  asked.size = sizeof asked;
  asked.n_context = 512;
  asked.k_format = LINNET_F32;
  asked.n_chunk = 32;
  linnet_model_desc desc{};
  desc.size = sizeof desc;
  REQUIRE(linnet_model_info(plain.model.m, &desc, nullptr) == LINNET_OK);
  linnet_need own{.size = sizeof own};
  const linnet_view file = plain.model.image.view();
  REQUIRE(linnet_model_need(&file, nullptr, &own, nullptr) == LINNET_OK);
  const uint64_t fixed = desc.weight_bytes + own.bytes, whole = fixed + plain.need(asked);
  linnet_session_params smaller = asked;
  smaller.k_format = LINNET_F16;
  const uint64_t half = fixed + plain.need(smaller);

  linnet_profile p{};
  p.memory_bytes = whole;
  CHECK(Profiled(p).need(asked) == whole - fixed);
  --p.memory_bytes;  // one byte less is refused, in need, plan and init
  Profiled made(p);
  REQUIRE(made.status == LINNET_OK);
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  CHECK(linnet_session_need(made.model.m, &asked, &need, &err) == LINNET_TOO_SMALL);
  const std::string said = err.text;
  INFO(said);
  for (const uint64_t number : {p.memory_bytes, desc.weight_bytes, uint64_t{own.bytes}, whole - fixed, uint64_t{512}})
    CHECK(said.find(" " + std::to_string(number)) != std::string::npos);
  const char* purpose = nullptr;
  size_t bytes = 0;
  CHECK(linnet_session_plan(made.model.m, &asked, 0, &purpose, &bytes, &err) == LINNET_TOO_SMALL);
  const Memory memory(whole);
  linnet_session* s = nullptr;
  CHECK(linnet_session_init(&s, memory.p, whole, made.model.m, &asked, &err) == LINNET_TOO_SMALL);
  // What it suggests fits, and one position more does not.
  std::smatch m;
  REQUIRE(std::regex_search(said, m, std::regex("n_context = (\\d+), or a KV cache in (\\w+) fits")));
  linnet_session_params fits = asked;
  fits.n_context = static_cast<uint32_t>(std::stoul(m[1]));
  CHECK(fits.n_context < 512);
  CHECK(linnet_session_need(made.model.m, &fits, &need, &err) == LINNET_OK);
  ++fits.n_context;
  CHECK(linnet_session_need(made.model.m, &fits, &need, &err) == LINNET_TOO_SMALL);
  CHECK(m[2] == "f16");
  CHECK(half <= p.memory_bytes);
  // No context fits, but the model does; then not even the model.
  p.memory_bytes = fixed + 1000;
  Profiled tight(p);
  REQUIRE(tight.status == LINNET_OK);
  CHECK(linnet_session_need(tight.model.m, &asked, &need, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find("no context fits") != std::string::npos);
  p.memory_bytes = fixed - 1;
  const Profiled none(p);
  CHECK(none.status == LINNET_TOO_SMALL);
  CHECK(std::string(none.err.text).find(" " + std::to_string(fixed - 1)) != std::string::npos);
}

TEST_CASE("threads are bound to the profile's CPUs and get its priority; the caller keeps its own") {
  const linnet_cpus before = linnet::cpu_affinity();
  if (linnet::cpu_count(before) < 2) {
    std::printf("skipped: one CPU only, nothing to bind threads to\n");
    return;
  }
  uint32_t cpu = 0;
  while (!linnet::cpu_in(before, cpu)) ++cpu;
  linnet_profile p{};
  linnet::cpu_add(&p.cpus, cpu);
  p.n_threads = 3;
  p.threads = LINNET_THREADS_OWN;
  p.wait = LINNET_WAIT_SLEEP;
  p.priority = 7;
  Profiled made(p);
  linnet_session_params none{};
  none.size = sizeof none;
  none.n_context = 64;
  Session session(made.model, none);
  session.prefill({1, 2, 3});
  CHECK(same(linnet::cpu_affinity(), before));
  // Threads of this process that are bound to that CPU and have that priority.
  const auto workers = [&] {
    uint32_t n = 0;
    for (const auto& e : fs::directory_iterator("/proc/self/task")) {
      const int id = std::stoi(e.path().filename());
      cpu_set_t set;
      if (sched_getaffinity(id, sizeof set, &set) == 0)
        n += CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set) && getpriority(PRIO_PROCESS, static_cast<id_t>(id)) == 7;
    }
    return n;
  };
  CHECK(workers() == 2);
  // GCC's OpenMP has threads of its own for every thread that calls in, and ends them with it: no other test meets these.
  const std::string build = linnet_build_info();
  if (build.find("OpenMP") != std::string::npos && build.find("gcc") != std::string::npos) {
    p.threads = LINNET_THREADS_OPENMP;
    Profiled shared(p);
    uint32_t n = 0;
    std::thread([&] {
      Session other(shared.model, none);
      other.prefill({1, 2, 3});
      n = workers();
    }).join();
    CHECK(n == 4);
  }
  // CPUs that are not there at all.
  linnet_profile absent{};
  linnet::cpu_add(&absent.cpus, 255);
  if (linnet::cpu_in(before, 255)) return;
  Profiled other(absent);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  REQUIRE(linnet_session_need(other.model.m, &none, &need, &err) == LINNET_OK);
  const Memory memory(need.bytes);
  linnet_session* s = nullptr;
  CHECK(linnet_session_init(&s, memory.p, need.bytes, other.model.m, &none, &err) == LINNET_BAD_PROFILE);
}
