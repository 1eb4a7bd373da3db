// Memory: need equals used, each purpose follows its formula, one byte less is refused, and nothing is allocated between init and fini. The
// interposer below counts every malloc, new and mmap of the process while it is armed, of mmap only what maps no file.
#include <dlfcn.h>
#include <linnet_convert.h>
#include <linnet_lora.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "platform/arena.h"
#include "runtime/convert/tokenizer_build.h"
#include "runtime/gguf.h"
#include "runtime/spec.h"
#include "runtime/tokenizer/blob.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/models.h"
#include "tests/templates.h"

// AddressSanitizer and ThreadSanitizer bring their own malloc: there the interposer would fight with them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INTERPOSED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INTERPOSED 0
#endif
#endif
#ifndef INTERPOSED
#define INTERPOSED 1
#endif

#if INTERPOSED
static std::atomic<bool> armed{false};
static std::atomic<long> n_allocations{0};
static std::atomic<long> left{-1};         // allocations until one fails; -1: none does
static std::atomic<bool> for_good{false};  // all that follow it fail too

static bool refused() {
  if (armed) ++n_allocations;
  if (left < 0 || (left > 0 && left-- > 0)) return false;
  if (!for_good)
    left = -2;  // was reached
  else
    ++n_allocations;
  errno = ENOMEM;
  return true;
}

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t n) { return refused() ? nullptr : __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return refused() ? nullptr : __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return refused() ? nullptr : __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { return refused() ? nullptr : __libc_memalign(a, n); }
int posix_memalign(void** out, size_t a, size_t n) {
  *out = refused() ? nullptr : __libc_memalign(a, n);
  return *out ? 0 : ENOMEM;
}
void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) {
  if (fd < 0 && refused()) return MAP_FAILED;  // a file that is mapped takes no memory
  static auto real = reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  return real(at, n, prot, flags, fd, offset);
}
}
#endif

using namespace test;

namespace {

size_t up(size_t v, size_t a) { return (v + a - 1) / a * a; }

using Table = std::map<std::string, size_t>;
Table session_table(const Session& s) {
  Table t;
  const char* purpose = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; linnet_session_memory(s.s, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i) t[purpose] = bytes;
  return t;
}

bool within_1_percent(size_t got, double want) { return std::fabs(static_cast<double>(got) - want) <= 0.01 * want; }

void check_tables(const char* source, uint32_t chunk) {
  const Model model(source, LINNET_I8G64);
  for (const uint32_t kv : {LINNET_I8, LINNET_F32, LINNET_F16, LINNET_BF16, LINNET_F8E4M3, LINNET_F8E5M2})
    for (const uint32_t threads : {1u, 3u}) {
      auto p = params(kv, threads, chunk, 4, 1000);
      const uint32_t kv_v = kv == LINNET_F16 ? uint32_t{LINNET_I8} : kv;  // K and V apart
      p.v_format = kv_v;
      p.threads = LINNET_THREADS_OWN;
      const Session s(model, p);
      const Table table = session_table(s);
      size_t sum = 0;
      for (const auto& [purpose, bytes] : table) sum += bytes;
      CHECK(sum == s.bytes);
      linnet_stats stats{};
      stats.size = sizeof stats;
      REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
      CHECK(stats.memory_bytes == s.bytes);
      const char* purpose = nullptr;
      size_t bytes = 0;
      for (uint32_t i = 0; linnet_session_plan(model.m, &p, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i)
        CHECK(table.at(purpose) == bytes);

      // The formulas, from the model's numbers and the documented formats alone.
      const auto& d = model.desc;
      const size_t pages = (1000 + 15) / 16, kpad = up(d.head_dim, 32), dpad = up(d.head_dim, 16), groups = (d.head_dim + 31) / 32;
      const auto value = [](uint32_t f) {
        return f == LINNET_F32 ? size_t{4} : f == LINNET_F16 || f == LINNET_BF16 ? size_t{2} : size_t{1};
      };
      const size_t head =
          (value(kv) > 1 ? up(16 * d.head_dim * value(kv), 64) : 16 * kpad + (kv == LINNET_I8 ? up(16 * groups * 2, 64) : 64)) +
          up(16 * dpad * value(kv_v), 64) + (value(kv_v) > 1 ? 0 : 64);
      CHECK(within_1_percent(table.at("kv"), static_cast<double>(pages * d.n_layers * d.n_kv_heads * head)));
      CHECK(table.at("page tables") == 3 * up(pages * 4, 64) + 2 * 64 + 2 * 64 +
                                           up(d.n_layers * 8, 64));  // references, slots twice; a layer's class and place; the table, and
                                                                     // from where it is observed; where the pools of layers lie
      CHECK(within_1_percent(table.at("logits"), 4.0 * static_cast<double>(up(d.n_vocab, 16)) * 4));
      CHECK(within_1_percent(table.at("sampling"),
                             static_cast<double>(up(d.n_vocab * 8, 64) + up(d.n_vocab * 4, 64) + up((d.n_vocab + 31) / 32 * 4, 64))));
      CHECK(within_1_percent(table.at("history"), static_cast<double>(up(4 * 1000, 64))));
      CHECK(within_1_percent(table.at("text"),
                             4 * 4096 + 2 * 16 * 256 + 256 * 8 + 256));   // what is held back and passed on, and stop strings
      CHECK(table.at("embeddings") == up(d.d_model, 16) * (8 + 4) + 64);  // a sum and a vector, and what rows are summed up
      if (threads > 1) CHECK(within_1_percent(table.at("threads"), static_cast<double>((threads - 1) * 256 * 1024 + threads * 64)));
      const size_t dm = up(d.d_model, 16), q = up(size_t{d.n_heads} * d.head_dim, 16), k = up(size_t{d.n_kv_heads} * d.head_dim, 16),
                   ff = up(d.d_ff, 16);
      const auto codes = [c = size_t{chunk}](size_t n) {
        return c * (up(n, 32) + 64) + 2 * c * 4 * ((n + 63) / 64);
      };  // of a chunk's rows, with scales and sums
      // Gate and up of more than 8 rows are made 132 rows by 128 outputs at a time, in each thread's scratch.
      const size_t rows = chunk * 4 * 2 * dm + 4 * std::max(chunk * (q + 2 * k), 8 * 2 * ff) +
                          codes(std::max<size_t>(d.d_model, size_t{d.n_heads} * d.head_dim)) + codes(d.d_ff) +
                          2 * chunk * 4 * (d.head_dim / 2) + chunk * 4;
      const size_t group = d.n_heads / d.n_kv_heads, tile = 32 / group * group;
      const auto running = [&](size_t n) { return 2 * up(n * 4, 64) + n * dpad * 4; };  // m, l, acc
      const size_t second = d.head_dim <= 16 ? up(tile * (kpad + 64), 64) + up(tile * 4, 64) : 0;
      const bool f8 = kv == LINNET_F8E4M3 || kv == LINNET_F8E5M2;
      const size_t integers = f8 ? std::max<size_t>(4 * 16 * kpad, 2 * 16 * 256) + 4 * 16 * 4
                                 : 0;  // of four pages of K or two panels of a block of V, and scales
      const size_t attention = second + integers + up(tile * (kpad + 64), 64) + 2 * up(tile * groups * 4, 64) +
                               up(tile * d.head_dim * 4, 64) + tile * 256 * (4 + 1 + 1) + 1024 + 2 * up(tile * 4, 64) + running(tile) +
                               running(tile * (threads > 1 ? 4 : 1));
      const size_t scratch = std::max<size_t>(attention, 2 * 4 * std::min(chunk, 132u) * 128);
      const size_t shared = threads > 1 ? up(4 * threads * 4, 64) + running(4 * threads * tile) : 0;  // tiles that all threads work on
      CHECK(within_1_percent(table.at("activations"), static_cast<double>(rows + threads * scratch + shared)));
    }
}

}  // namespace

TEST_CASE("need equals used, by purpose, and the plan says the same") {
  check_tables("tests/golden/llama", 64);
  check_tables("synthetic:wide-tiny", 16);   // eight rows of its gate and up take more than a chunk's queries, keys and values
  check_tables("synthetic:wide-tiny", 140);  // and a tile of both more than attention's scratch
}

TEST_CASE("a latent's pages: nothing beside it, whatever the number of heads") {
  const Model model("tests/golden/deepseek-v2", LINNET_I8G64);
  const size_t rope = 32, rank = 160, pages = (1000 + 15) / 16;
  REQUIRE(model.desc.n_heads * (18 + rope) != rope + rank);
  for (const uint32_t kv : {LINNET_I8, LINNET_F32, LINNET_F16, LINNET_BF16, LINNET_F8E4M3, LINNET_F8E5M2})
    for (const uint32_t threads : {1u, 3u}) {
      auto p = params(kv, threads, 64, 4, 1000);
      p.threads = LINNET_THREADS_OWN;
      const Session s(model, p);
      const Table table = session_table(s);
      size_t sum = 0;
      for (const auto& [purpose, bytes] : table) sum += bytes;
      CHECK(sum == s.bytes);
      const char* purpose = nullptr;
      size_t bytes = 0;
      for (uint32_t i = 0; linnet_session_plan(model.m, &p, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i)
        CHECK(table.at(purpose) == bytes);
      const size_t value = kv == LINNET_F32                        ? 4
                           : kv == LINNET_F16 || kv == LINNET_BF16 ? 2
                                                                   : 1,
                   scales = kv == LINNET_I8 ? (rope + rank) / 32 * 16 * 2
                            : value == 1    ? 64
                                            : 0;
      CHECK(table.at("kv") == pages * model.desc.n_layers * (16 * (rope + rank) * value + scales));
    }
}

TEST_CASE("experts: the activations are those of a chunk's rows, each with its experts") {
  const Model model("synthetic:moe-tiny", LINNET_I8G64);
  const auto activations = [&](uint32_t chunk) {
    return session_table(Session(model, params(LINNET_I8, 1, chunk, 1, 512)))["activations"];
  };
  const size_t active = 3, d = 256, ff = 176, pair = 2 * ff * 4 + d * 4 + 256 + 64 + 2 * 4 * 4 + 4 * 4,
               row = 2 * d * 4 + (d + 64) + 2 * 4 * 4 + 2 * 32 * 4 + 4 + 32 * 4;
  CHECK(within_1_percent(activations(256) - activations(64), 192.0 * static_cast<double>(row + active * pair)));
}

namespace {

// Which pages are read: they are taken away, and the first access to each brings it back and marks it. Two threads
// may reach a page at once: a page is marked, not counted.
const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
struct Watched {
  uint8_t* from;
  size_t bytes;
  std::unique_ptr<std::atomic<bool>[]> read;  // (pages())
  size_t pages() const { return bytes / kPage; }
  size_t reads() const { return static_cast<size_t>(std::count(read.get(), read.get() + pages(), true)); }
};
std::vector<Watched> watched;

void on_fault(int, siginfo_t* info, void*) {
  auto* at = static_cast<uint8_t*>(info->si_addr);
  for (Watched& w : watched)
    if (at >= w.from && at < w.from + w.bytes) {
      const size_t page = static_cast<size_t>(at - w.from) / kPage;
      w.read[page] = true;
      mprotect(w.from + page * kPage, kPage, PROT_READ | PROT_WRITE);
      return;
    }
  signal(SIGSEGV, SIG_DFL);  // a fault of another kind
}

}  // namespace

TEST_CASE("experts: pages of those that no row goes through are never read") {
  const Model model("synthetic:moe-tiny", LINNET_I8G64);
  const auto gguf = std::make_unique<linnet::Gguf>();
  linnet_error err{};
  linnet::ModelSpec spec;
  check(linnet::gguf_open(model.image.data, model.image.bytes, "image", gguf.get(), &err), err);
  check(linnet::spec_read(*gguf, &spec, &err), err);
  const linnet::Role roles[] = {linnet::kExpertGate, linnet::kExpertUp, linnet::kExpertDown};
  Session s(model, params(LINNET_I8, 2, 8, 1, 64));
  watched.clear();
  for (uint32_t layer = 0; layer < spec.n_layers; ++layer)
    for (const linnet::Role role : roles) {
      linnet::Matrix m;
      check(linnet::find_matrix(*gguf, role, layer, spec, &m, &err), err);
      const size_t size = m.n / spec.n_experts / 16 * linnet::panel_bytes(m.format, m.k);
      for (uint32_t e = 0; e < spec.n_experts; ++e) {  // whole pages of the expert alone
        const auto begin = reinterpret_cast<uintptr_t>(m.panels) + e * size, first = (begin + kPage - 1) / kPage * kPage,
                   end = (begin + size) / kPage * kPage;
        if (end <= first) continue;  // large pages
        watched.push_back({reinterpret_cast<uint8_t*>(first), end - first, std::make_unique<std::atomic<bool>[]>((end - first) / kPage)});
      }
    }
  struct sigaction act{}, before{};
  act.sa_sigaction = on_fault;
  act.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGSEGV, &act, &before) == 0);
  for (const Watched& w : watched) REQUIRE(mprotect(w.from, w.bytes, PROT_NONE) == 0);
  s.prefill({7});
  const auto touched = [&] {
    std::vector<uint32_t> n(watched.size() / spec.n_experts);
    for (size_t i = 0; i < watched.size(); ++i) {
      const size_t reads = watched[i].reads();
      CHECK((reads == 0 || reads == watched[i].pages()));  // all of an expert or nothing
      n[i / spec.n_experts] += reads > 0;
    }
    return n;
  };
  for (const uint32_t n : touched()) CHECK(n == spec.n_active);
  s.prefill({7, 8, 9, 10, 11, 12});
  for (const uint32_t n : touched()) {
    CHECK(n > spec.n_active);  // negative control: other rows go through others
    CHECK(n < spec.n_experts);
  }
  for (const Watched& w : watched) REQUIRE(mprotect(w.from, w.bytes, PROT_READ | PROT_WRITE) == 0);
  REQUIRE(sigaction(SIGSEGV, &before, nullptr) == 0);
}

TEST_CASE("embeddings of layers: a token's own pages of their table are read, and caps do not count it") {
  const Model model("synthetic:layers-tiny", LINNET_I8);
  const auto gguf = std::make_unique<linnet::Gguf>();
  linnet_error err{};
  linnet::ModelSpec spec;
  linnet::Matrix m;
  check(linnet::gguf_open(model.image.data, model.image.bytes, "image", gguf.get(), &err), err);
  check(linnet::spec_read(*gguf, &spec, &err), err);
  check(linnet::find_matrix(*gguf, linnet::kLayerEmbd, 0, spec, &m, &err), err);
  const uint64_t bytes = linnet::packed_bytes(m.format, m.n, m.k);
  CHECK(model.desc.layer_embd_bytes == bytes);
  CHECK(bytes >= uint64_t{spec.layer_embd_vocab} * spec.n_layers * spec.layer_embd);
  CHECK(Model("synthetic:wide-tiny", LINNET_I8).desc.layer_embd_bytes == 0);

  Session s(model, params(LINNET_I8, 2, 8, 1, 64));
  const auto table = reinterpret_cast<uintptr_t>(m.panels), first = (table + kPage - 1) / kPage * kPage,
             end = (table + bytes) / kPage * kPage;
  REQUIRE(end > first + 64 * kPage);
  watched.clear();
  watched.push_back({reinterpret_cast<uint8_t*>(first), end - first, std::make_unique<std::atomic<bool>[]>((end - first) / kPage)});
  struct sigaction act{}, before{};
  act.sa_sigaction = on_fault;
  act.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGSEGV, &act, &before) == 0);
  REQUIRE(mprotect(watched[0].from, watched[0].bytes, PROT_NONE) == 0);
  std::set<size_t> own;  // pages that hold rows of these tokens, and their scales
  const auto add = [&](uint64_t from, uint64_t size) {
    for (uint64_t at = from / kPage * kPage; at < from + size; at += kPage)
      if (at >= first && at < end) own.insert((at - first) / kPage);
  };
  const auto prefill = [&](const Tokens& tokens) {
    const uint64_t panel = linnet::panel_bytes(m.format, m.k), scales = linnet::panel_scale_bytes(m.format, m.k);
    for (const int32_t token : tokens)
      for (uint32_t layer = 0; layer < spec.n_layers; ++layer) {
        const uint64_t p = (static_cast<uint64_t>(token) * spec.n_layers + layer) / 16;
        add(table + p * panel, panel);
        add(reinterpret_cast<uintptr_t>(m.scales) + p * scales, scales);
      }
    s.prefill(tokens);
    size_t read = 0;
    for (size_t i = 0; i < watched[0].pages(); ++i) {
      if (watched[0].read[i]) CHECK(own.count(i) == 1);
      read += watched[0].read[i];
    }
    return read;
  };
  const size_t one = prefill({7});
  CHECK((one >= 1 && one <= 4));
  const size_t more = prefill({100, 200, 300, 400, 500, 7});
  CHECK((more >= one + 5 && more <= 6 * 4));  // negative control: other tokens read others
  CHECK(more < watched[0].pages() / 4);
  REQUIRE(mprotect(watched[0].from, watched[0].bytes, PROT_READ | PROT_WRITE) == 0);
  REQUIRE(sigaction(SIGSEGV, &before, nullptr) == 0);

  // A cap is for what is read whole.
  linnet_need own_bytes{}, session{};
  own_bytes.size = session.size = sizeof own_bytes;
  const linnet_view file = model.image.view();
  auto p = params(LINNET_I8, 1, 8, 1, 64);
  check(linnet_model_need(&file, nullptr, &own_bytes, &err), err);
  check(linnet_session_need(model.m, &p, &session, &err), err);
  linnet_profile profile{};
  profile.size = sizeof profile;
  void* const memory = linnet_mem_alloc(own_bytes.bytes);
  for (const uint64_t less : {0u, 1u}) {
    linnet_model* capped = nullptr;
    profile.memory_bytes = model.desc.weight_bytes - bytes + own_bytes.bytes + session.bytes - less;
    check(linnet_model_init(&capped, memory, own_bytes.bytes, &file, &profile, &err), err);
    CHECK(linnet_session_need(capped, &p, &session, &err) == (less ? LINNET_TOO_SMALL : LINNET_OK));
    linnet_model_fini(capped);
  }
  linnet_model* capped = nullptr;
  profile.memory_bytes = model.desc.weight_bytes - bytes;
  CHECK(linnet_model_init(&capped, memory, own_bytes.bytes, &file, &profile, &err) == LINNET_TOO_SMALL);
  linnet_mem_free(memory, own_bytes.bytes);
}

TEST_CASE("in blocks nothing is placed that was not counted") {
  linnet::Blocks blocks;
  blocks.limit = 1024;
  linnet::Arena counted(&blocks, true);
  for (const uint64_t n : {600u, 700u, 100u}) counted.take<uint8_t>("x", n);
  REQUIRE((counted.ok() && blocks.n == 2 && blocks.bytes[0] == 768 && blocks.bytes[1] == 1024));
  std::vector<uint8_t> memory[] = {std::vector<uint8_t>(768), std::vector<uint8_t>(1024)};
  for (int i = 0; i < 2; ++i) blocks.base[i] = memory[i].data();
  linnet::Arena same(&blocks, false), longer(&blocks, false), more(&blocks, false);
  for (const uint64_t n : {600u, 700u, 100u}) CHECK(same.take<uint8_t>("x", n));
  CHECK((same.ok() && blocks.n == 2));
  CHECK((longer.take<uint8_t>("x", 800u) == nullptr && !longer.ok()));
  for (const uint64_t n : {600u, 700u, 100u}) CHECK(more.take<uint8_t>("x", n));
  CHECK((more.take<uint8_t>("x", 300u) == nullptr && !more.ok()));
}

TEST_CASE("checkpoints: what they take is a purpose of its own, in models with states alone") {
  const Model states("tests/golden/qwen3-5", LINNET_I8G64), pages("tests/golden/qwen3", LINNET_I8G64);
  for (const uint32_t sequences : {1u, 3u}) {
    const auto taken = [&](const Model& model, uint32_t n) {
      auto p = params(LINNET_I8, 1, 16, 1, 400);
      p.n_sequences = sequences;
      p.n_checkpoints = n;
      const Session s(model, p);
      size_t sum = 0;
      const Table table = session_table(s);
      for (const auto& [purpose, bytes] : table) sum += bytes;
      CHECK(sum == s.bytes);
      const char* purpose = nullptr;
      size_t bytes = 0;
      for (uint32_t i = 0; linnet_session_plan(model.m, &p, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i)
        CHECK(table.at(purpose) == bytes);
      return table.count("checkpoints") ? table.at("checkpoints") : 0;
    };
    const size_t one = taken(states, 16) / 16;  // so many lie on whole lines of the arena, whatever a state's size
    CHECK(one > sequences * 1000);
    CHECK(taken(states, 32) == 32 * one);
    CHECK(one % sequences == 0);
    for (const auto& [n, most] : {std::pair{7u, 7 * one}, std::pair{0u, 4 * one}}) {
      CHECK(taken(states, n) >= most);
      CHECK(taken(states, n) < most + one / 8);
    }
    CHECK(taken(states, LINNET_CHECKPOINTS_NONE) == 0);
    CHECK(taken(pages, 7) == 0);
  }
}

TEST_CASE("one byte less is refused with the number") {
  const Model model(GENERATE(as<std::string>{}, "tests/golden/qwen3", "tests/golden/deepseek-v2-qlora", "tests/golden/qwen2-moe",
                             "tests/golden/qwen3-5", "tests/golden/falcon-h1"),
                    LINNET_I8G128);
  const auto p = params();
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  check(linnet_session_need(model.m, &p, &need, &err), err);
  Memory memory(need.bytes);
  linnet_session* s = nullptr;
  CHECK(linnet_session_init(&s, memory.p, need.bytes - 1, model.m, &p, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(need.bytes)) != std::string::npos);
  CHECK(s == nullptr);

  const linnet_view file = model.image.view();
  linnet_need model_need{.size = sizeof model_need};
  check(linnet_model_need(&file, nullptr, &model_need, &err), err);
  Memory other(model_need.bytes);
  linnet_model* m = nullptr;
  CHECK(linnet_model_init(&m, other.p, model_need.bytes - 1, &file, nullptr, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(model_need.bytes)) != std::string::npos);
  CHECK(linnet_model_init(&m, static_cast<char*>(other.p) + 8, model_need.bytes, &file, nullptr, &err) == LINNET_BAD_ARG);
  size_t sum = 0, bytes = 0;
  const char* purpose = nullptr;
  check(linnet_model_init(&m, other.p, model_need.bytes, &file, nullptr, &err), err);
  for (uint32_t i = 0; linnet_model_memory(m, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i) sum += bytes;
  CHECK(sum == model_need.bytes);
}

TEST_CASE("templates: need equals use, and a cap that was reached is no end") {
  const std::string text =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content | upper }}{% for i in range(m.n or 0) %}{% set x = [i] * 20 %}.{% endfor %}{% "
      "endfor %}";
  std::vector<uint8_t> program(1 << 14);
  linnet_error err{};
  size_t n = 0;
  check(linnet_template_compile(text.data(), text.size(), nullptr, program.data(), program.size(), &n, &err), err);
  const linnet_view from = {program.data(), n};
  linnet_template_params params{};
  params.size = sizeof params;
  params.text_bytes = 1000;
  params.value_bytes = 64 << 10;
  params.max_steps = 5000;
  linnet_need need{.size = sizeof need}, more{.size = sizeof more};
  check(linnet_template_need(&from, nullptr, &params, &need, &err), err);
  // Text and marks, values, the program, and what lies beside them.
  CHECK((need.bytes > 2 * 1000 + (64 << 10) + n && need.bytes < 2 * 1000 + (64 << 10) + n + 4096));
  params.text_bytes += 6400;
  check(linnet_template_need(&from, nullptr, &params, &more, &err), err);
  CHECK(more.bytes == need.bytes + 2 * 6400);
  params.text_bytes -= 6400;
  {
    const Memory memory(need.bytes);
    linnet_template* t = nullptr;
    CHECK(linnet_template_init(&t, memory.p, need.bytes - 1, &from, nullptr, nullptr, &params, &err) == LINNET_TOO_SMALL);
    CHECK(std::string(err.text).find(std::to_string(need.bytes)) != std::string::npos);
    CHECK(t == nullptr);
    CHECK(linnet_template_init(&t, static_cast<char*>(memory.p) + 8, need.bytes, &from, nullptr, nullptr, &params, &err) == LINNET_BAD_ARG);
    check(linnet_template_init(&t, memory.p, need.bytes, &from, nullptr, nullptr, &params, &err), err);
    const auto render = [&](const std::string& messages, linnet_rendered* out) {
      const std::string json = "{\"messages\":[" + messages + "]}";
      err = {};
      return linnet_template_render(t, json.data(), json.size(), 0, out, &err);
    };
    linnet_rendered out{.size = sizeof out};
    const auto still_works = [&] {
      check(render(R"({"role":"user","content":"hi","n":3})", &out), err);
      CHECK(std::string(out.text, out.text_bytes) == "<|user|>HI...");
      CHECK((out.value_bytes > 0 && out.value_bytes <= 64 << 10 && out.steps > 0 && out.steps <= 5000));
    };
    still_works();
    const linnet_rendered first = out;
    const auto ends = [&](const std::string& messages, const char* what) {
      INFO(what);
      CHECK(render(messages, &out) == LINNET_TOO_SMALL);
      INFO(err.text);
      CHECK(std::string(err.text).find(what) != std::string::npos);
      still_works();
      CHECK((out.value_bytes == first.value_bytes && out.steps == first.steps));
    };
    ends(R"({"role":"user","content":")" + std::string(1200, 'x') + "\"}", "1000 bytes of text");
    ends(R"({"role":"user","content":")" + std::string(980, 'x') + R"(","n":50})", "1000 bytes of text");
    ends(R"({"role":"user","content":"a","n":400})", "65536 bytes of values");
    // A conversation that does not fit: its values, before the template sees them.
    std::string long_one = R"({"role":"user","content":"a","x":[)";
    for (int i = 0; i < 3000; ++i) long_one += i ? ",1" : "1";
    ends(long_one + "]}", "65536 bytes of values");
    // Exactly what it took is enough, and one less is not.
    struct Exact {
      const char* what;
      size_t text, values;
      uint64_t steps;
    };
    const size_t text_bytes = std::strlen("<|user|>HI...");
    for (const Exact& e : {Exact{"text", text_bytes, 64 << 10, 5000}, Exact{"text", text_bytes - 1, 64 << 10, 5000},
                           Exact{"values", 1000, first.value_bytes, 5000}, Exact{"values", 1000, first.value_bytes - 1, 5000},
                           Exact{"steps", 1000, 64 << 10, first.steps}, Exact{"steps", 1000, 64 << 10, first.steps - 1}}) {
      const bool enough = (e.text == text_bytes || e.text == 1000) && e.values != first.value_bytes - 1 && e.steps != first.steps - 1;
      linnet_template_params exact = params;
      exact.text_bytes = e.text, exact.value_bytes = e.values, exact.max_steps = e.steps;
      check(linnet_template_need(&from, nullptr, &exact, &more, &err), err);
      const Memory small(more.bytes);
      t = nullptr;
      check(linnet_template_init(&t, small.p, more.bytes, &from, nullptr, nullptr, &exact, &err), err);
      INFO(e.what << (enough ? "" : ", one less"));
      CHECK(render(R"({"role":"user","content":"hi","n":3})", nullptr) == (enough ? LINNET_OK : LINNET_TOO_SMALL));
      CHECK((enough || std::string(err.text).find(e.what) != std::string::npos));
    }
  }
}

#if INTERPOSED
namespace {
struct Calls {
  size_t n = 0, n_content = 0;
  static void hear(void* user, const linnet_answer_event* e) {
    Calls& c = *static_cast<Calls*>(user);
    c.n += e->kind == LINNET_ANSWER_CALL_END;
    c.n_content += e->kind == LINNET_ANSWER_CONTENT ? e->text_bytes : 0;
  }
};
}  // namespace
#endif

TEST_CASE("no allocation between init and fini") {
#if INTERPOSED
  const std::string folder = data_path("models/stories260K");
  const bool text = !folder.empty();
  const Model model(text ? folder : "tests/golden/llama", LINNET_I8G64);
  const std::string prompt = "Once upon a time there was a little girl who loved to play outside.";
  std::vector<char> scratch(1 << 20);
  Tokens tokens(512);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 7 % model.desc.n_vocab);
  size_t n = 40, used = 0;
  std::vector<uint8_t> state_memory(1 << 22);
  AppPool pool(2);
  for (const uint32_t threads : {1u, 2u, 3u}) {  // 3: two of the app's
    auto p = params(LINNET_I8, threads < 3 ? threads : 2, 32, 1, 400);
    if (threads == 3)
      p.parallel_for = AppPool::parallel_for, p.parallel_for_user = &pool;
    else
      p.threads = LINNET_THREADS_OWN;
    Session s(model, p);
    linnet_sampling sampling{.size = sizeof sampling};
    REQUIRE(linnet_sampling_init(&sampling, nullptr) == LINNET_OK);
    sampling.temperature = 0.9f;
    sampling.top_k = 40;
    sampling.top_p = 0.95f;
    sampling.min_p = 0.02f;
    sampling.repeat_penalty = 1.1f;
    sampling.seed = 42;
    linnet_generate_params g{};
    g.size = sizeof g;
    g.max_tokens = 200;
    g.ignore_eos = 1;
    const char* stops[] = {"never to be seen"};
    g.stop = stops;
    g.n_stop = text ? 1 : 0;
    const char* banned[] = {"e", "a ", "the"};  // taken back again and again
    g.banned = banned;
    g.n_banned = text ? 3 : 0;
    linnet_generated end{.size = sizeof end};
    linnet_error err{};
    linnet_status status[16] = {};
    std::vector<char> state(1 << 22);
    const std::string path = "/tmp/linnet-test-memory-" + std::to_string(getpid()) + ".state";
    size_t state_bytes = 0;

    n_allocations = 0;
    std::vector<char>* control = new std::vector<char>(100);  // the interposer itself works
    armed = true;
    control->resize(100000);
    armed = false;
    REQUIRE(n_allocations > 0);
    delete control;

    n_allocations = 0;
    armed = true;
    if (text)
      status[0] = linnet_tokenize(model.m, prompt.data(), prompt.size(), LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL, scratch.data(),
                                  scratch.size(), tokens.data(), tokens.size(), &n, &err);
    status[1] = linnet_sampling_set(s.s, 0, &sampling, &err);
    status[2] = linnet_prefill(s.s, 0, tokens.data(), n, &err);
    status[3] = linnet_generate(s.s, 0, &g, nullptr, nullptr, &end, &err);
    if (text) status[4] = linnet_detokenize(model.m, tokens.data(), n, 0, scratch.data(), scratch.size(), &used, &err);
    status[5] = linnet_state_need(s.s, 0, &state_bytes, &err);
    status[6] = linnet_state_save(s.s, 0, state.data(), state.size(), &state_bytes, &err);
    status[7] = linnet_state_save_file(s.s, 0, path.c_str(), &err);
    status[8] = linnet_state_load_file(s.s, 0, path.c_str(), &err);
    status[9] = linnet_state_load(s.s, 0, state.data(), state_bytes, &err);
    // To be pulled, and what came of it.
    g.max_tokens = 20;
    status[10] = linnet_generate_begin(s.s, 0, &g, &err);
    linnet_generated pulled{.size = sizeof pulled};
    uint32_t n_next = 0, kind = 0;
    for (; pulled.why == LINNET_STOP_NONE && n_next < 3000 && status[11] == LINNET_OK; ++n_next)
      status[11] = linnet_generate_next(s.s, 0, &pulled, &err);
    status[12] = linnet_tokens(s.s, 0, 3, tokens.data(), tokens.size(), &used, &err);
    if (text) status[13] = linnet_token_kind(model.m, tokens[0], &kind, &err);
    status[14] = linnet_sampling_get(s.s, 0, &sampling, &err);
    status[15] = linnet_sampling_init(&sampling, &err);
    armed = false;
    unlink(path.c_str());
    for (const linnet_status one : status) check(one, err);
    CHECK(end.why == LINNET_STOP_LENGTH);
    CHECK((pulled.why == LINNET_STOP_LENGTH && pulled.n_tokens == 20));
    CHECK(used == n + 220 - 3);
    CHECK(s.length() == n + 220);
    CHECK(n_allocations == 0);
  }

  // Checkpoints of states: taken, gone back to, computed again from; a fork and a load.
  {
    const Model states("tests/golden/qwen3-5", LINNET_I8G64);
    auto p = params(LINNET_I8, 2, 16, 1, 400);
    p.threads = LINNET_THREADS_OWN;
    p.n_sequences = 2;
    p.n_rollback = 5;
    p.n_checkpoints = 3;
    p.checkpoint_every = 50;
    Session s(states, p);
    Tokens few(200);
    for (size_t i = 0; i < few.size(); ++i) few[i] = static_cast<int32_t>(i * 7 % states.desc.n_vocab);
    linnet_error err{};
    linnet_status status[8] = {};
    n_allocations = 0;
    armed = true;
    status[0] = linnet_prefill(s.s, 0, few.data(), few.size(), &err);
    status[1] = linnet_checkpoint(s.s, 0, &err);
    status[2] = linnet_fork(s.s, 0, 1, 130, &err);
    status[3] = linnet_truncate(s.s, 0, 40, &err);
    status[4] = linnet_state_save(s.s, 0, state_memory.data(), state_memory.size(), &used, &err);
    status[5] = linnet_prefill(s.s, 0, few.data(), 20, &err);
    status[6] = linnet_state_load(s.s, 0, state_memory.data(), used, &err);
    const linnet_rows rows[] = {{sizeof *rows, 0, 3, few.data()}, {sizeof *rows, 1, 5, few.data()}};
    status[7] = linnet_prefill_batch(s.s, rows, 2, &err);
    armed = false;
    for (const linnet_status one : status) check(one, err);
    CHECK(n_allocations == 0);
  }

  // A board, sensors and a governor in their own memory, and a session that it holds.
  {
    auto p = params(LINNET_I8, 2, 32, 1, 400);
    p.threads = LINNET_THREADS_OWN;
    Session s(model, p);
    linnet_error err{};
    linnet_need needs[3];
    for (linnet_need& need : needs) need.size = sizeof need;
    check(linnet_board_need(&needs[0], &err), err);
    check(linnet_sensors_need(&needs[1], &err), err);
    check(linnet_power_need(&needs[2], &err), err);
    const Memory memory[] = {Memory(needs[0].bytes), Memory(needs[1].bytes), Memory(needs[2].bytes)};
    linnet_board* board = nullptr;
    linnet_sensors* sensors = nullptr;
    linnet_power* power = nullptr;
    linnet_board_desc desc{.size = sizeof desc};
    linnet_cluster cluster{.size = sizeof cluster};
    linnet_reading reading{.size = sizeof reading};
    linnet_power_state state{.size = sizeof state};
    linnet_profile profile{.size = sizeof profile};
    profile.temperature_limit = 80;
    linnet_power_params held{.size = sizeof held};
    held.n_threads = 2;
    linnet_status status[13] = {};
    n_allocations = 0;
    armed = true;
    status[0] = linnet_board_init(&board, memory[0].p, needs[0].bytes, nullptr, &err);
    if (board) {
      status[1] = linnet_board_info(board, &desc, &err);
      status[2] = linnet_board_cluster(board, 0, &cluster, &err);
      status[3] = linnet_profile_fit(&profile, board, &err);
    }
    status[4] = linnet_sensors_init(&sensors, memory[1].p, needs[1].bytes, nullptr, &err);
    status[5] = linnet_sensors_read(sensors, 0, &reading, &err);
    status[6] = linnet_sensors_last(sensors, &reading, &err);
    held.sensors = sensors;
    status[7] = linnet_power_init(&power, memory[2].p, needs[2].bytes, &profile, &held, &err);
    status[8] = linnet_power_step(power, 1, 1000, &state, &err);
    status[9] = linnet_power_set(s.s, power, &err);
    status[10] = linnet_prefill(s.s, 0, tokens.data(), 20, &err);
    int32_t token = -1;
    for (int i = 0; i < 5 && status[11] == LINNET_OK; ++i) status[11] = linnet_decode(s.s, 0, &token, &err);
    status[12] = linnet_power_get(power, &state, &err);
    armed = false;
    for (const linnet_status one : status) check(one, err);
    CHECK((desc.n_cpus >= 1 && state.n_threads >= 1));
    CHECK(n_allocations == 0);
  }

  // A template in its own memory: made, rendered and tokenised, twice, and an answer to each.
  if (text) {
    const std::string jinja =
        "{%- macro say(m) -%}{{ m.role | title }}: {{ m.content | trim }}{%- endmacro -%}"
        "{{ bos_token }}{% for m in messages if m.content %}{{ say(m) }}{{ m.x | tojson(indent=2) if m.x is defined }}{{ '%5.2f' | "
        "format(0.5) }}\n"
        "{% endfor %}{{ messages | map(attribute='role') | list | sort | join(', ') }}{% if add_generation_prompt %}assistant:{% endif %}";
    std::vector<uint8_t> program(1 << 16);
    linnet_error err{};
    size_t n_program = 0;
    check(linnet_template_compile(jinja.data(), jinja.size(), nullptr, program.data(), program.size(), &n_program, &err), err);
    auto p = params(LINNET_I8, 1, 32, 1, 400);
    p.threads = LINNET_THREADS_OWN;
    Session s(model, p);
    linnet_template_params of{};
    of.size = sizeof of;
    of.tokens = R"({"bos_token":"<s>","eos_token":"</s>"})";
    of.tokens_bytes = static_cast<uint32_t>(std::strlen(of.tokens));
    of.text_bytes = 4096;
    of.value_bytes = 256 << 10;
    const linnet_view from = {program.data(), n_program};
    linnet_need need{.size = sizeof need};
    check(linnet_template_need(&from, nullptr, &of, &need, &err), err);
    const Memory memory(need.bytes);
    linnet_template* t = nullptr;
    linnet_need of_answer{.size = sizeof of_answer};
    check(linnet_answer_need(2000, &of_answer, &err), err);
    CHECK((of_answer.bytes > 2 * 2000 && of_answer.bytes < 2 * 2000 + 8192));
    const Memory its(of_answer.bytes);
    linnet_answer* answer = nullptr;
    Calls calls;
    const std::string turns[] = {
        R"({"messages":[{"role":"user","content":" Once \u00e9 ","x":{"a":[1,2.5,null]}}],"add_generation_prompt":true})",
        R"({"messages":[{"role":"user","content":" Once \u00e9 ","x":{"a":[1,2.5,null]}},{"role":"assistant","content":"a time"},)"
        R"({"role":"user","content":"And then?"}],"add_generation_prompt":true})"};
    linnet_generate_params g{};
    g.size = sizeof g;
    g.max_tokens = 10;
    g.ignore_eos = 1;
    linnet_generated end{.size = sizeof end};
    linnet_rendered out{.size = sizeof out};
    Tokens held(600), all(600);
    size_t scratch_bytes = 0, n_all = 0, keep = 0, length = 0;
    // what it says is taken apart, and a call behind it
    const auto token = [](void* user, int32_t, const char* utf8, size_t n_bytes) {
      return linnet_answer_feed(static_cast<linnet_answer*>(user), utf8, n_bytes, nullptr) != LINNET_OK ? 1 : 0;
    };
    constexpr char kCall[] = "<tool_call>{\"name\": \"act\", \"arguments\": {\"what\": [1, \"x\"]}}</tool_call>";
    linnet_status status[23] = {};
    n_allocations = 0;
    armed = true;
    status[0] = linnet_template_need(&from, nullptr, &of, &need, &err);
    status[1] = linnet_template_init(&t, memory.p, need.bytes, &from, nullptr, model.m, &of, &err);
    const linnet_status one_less = linnet_answer_init(&answer, its.p, of_answer.bytes - 1, t, 2000, &err);
    status[2] = linnet_answer_init(&answer, its.p, of_answer.bytes, t, 2000, &err);
    for (size_t i = 0; t && answer && i < 2; ++i) {
      linnet_status* const of_turn = status + 3 + 10 * i;
      of_turn[0] = linnet_template_render(t, turns[i].data(), turns[i].size(), 1700000000, &out, &err);
      of_turn[1] = linnet_tokenize_need(model.m, out.text_bytes, &scratch_bytes, &err);
      of_turn[2] =
          linnet_template_tokens(t, held.data(), length, scratch.data(), scratch_bytes, all.data(), all.size(), &n_all, &keep, &err);
      of_turn[3] = linnet_truncate(s.s, 0, keep, &err);
      of_turn[4] = linnet_prefill(s.s, 0, all.data() + keep, n_all - keep, &err);
      of_turn[5] = linnet_answer_begin(answer, nullptr, 0, Calls::hear, &calls, &err);
      of_turn[6] = linnet_generate(s.s, 0, &g, token, answer, &end, &err);
      of_turn[7] = linnet_answer_feed(answer, kCall, sizeof kCall - 1, &err);
      of_turn[8] = linnet_answer_end(answer, &err);
      of_turn[9] = linnet_tokens(s.s, 0, 0, held.data(), held.size(), &length, &err);
    }
    armed = false;
    CHECK(one_less == LINNET_TOO_SMALL);
    for (const linnet_status one : status) check(one, err);
    CHECK((calls.n == 2 && calls.n_content > 0));
    CHECK((keep > 10 && length == n_all + 10));
    CHECK(std::string(out.text, 3) == "<s>");
    CHECK(n_allocations == 0);
  } else {
    std::printf("skipped: no model with a tokenizer for the template\n");
  }

  // A grammar in its own memory: made, kept to and rolled back.
  const std::string tools =
      R"([{"name":"act","parameters":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}}}}])";
  std::vector<char> blob(1 << 16), again(1 << 16);
  linnet_error err{};
  check(
      linnet_grammar_compile(nullptr, tools.data(), tools.size(), nullptr, LINNET_GRAMMAR_TEXT_OR_CALL, blob.data(), blob.size(), &n, &err),
      err);
  {
    linnet_need need{.size = sizeof need};
    check(linnet_grammar_compiler_need(5000, &need, &err), err);
    const Memory memory(need.bytes);
    linnet_grammar_compiler* compiler = nullptr;
    check(linnet_grammar_compiler_init(&compiler, memory.p, need.bytes, 5000, &err), err);
    constexpr const char* kSchema =
        R"({"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string","pattern":"^[A-Z][a-z]{1,99}$"},"born":{"format":"date"},)"
        R"("score":{"type":"number","minimum":-1.5,"maximum":1e3},"n":{"type":"integer","multipleOf":7},"left":{"$ref":"#/$defs/tree"}},)"
        R"("required":["name"],"additionalProperties":{"enum":[1,"a",null,{"b":[1e2]}]}}},"anyOf":[{"$ref":"#/$defs/tree"},{"type":"array",)"
        R"("items":{"allOf":[{"type":"string","minLength":3},{"maxLength":100}]},"minItems":1},{}]})";
    constexpr const char* kTexts[] = {"root ::= \"a\" (b | [^x-z]{2,70})* \"\\u00e4\"\n b ::= \"(\" root \")\"", "(yes|no|[0-9]{1,80})",
                                      "[\"a\",\"ab\",\"\\u00e9\"]"};
    size_t n_again = 0, sizes[4] = {};
    linnet_status status[5] = {};
    n_allocations = 0;
    armed = true;
    status[0] = linnet_grammar_compile(compiler, tools.data(), tools.size(), nullptr, LINNET_GRAMMAR_TEXT_OR_CALL, again.data(),
                                       again.size(), &n_again, &err);
    const bool same = n == n_again && std::memcmp(blob.data(), again.data(), n) == 0;
    status[1] =
        linnet_grammar_compile(compiler, kSchema, std::strlen(kSchema), nullptr,
                               linnet_grammar_kind(LINNET_GRAMMAR_SCHEMA | LINNET_GRAMMAR_SPACED), again.data(), 0, &sizes[0], &err);
    for (uint32_t i = 0; i < 3; ++i)
      status[2 + i] = linnet_grammar_compile(compiler, kTexts[i], std::strlen(kTexts[i]), nullptr,
                                             linnet_grammar_kind(LINNET_GRAMMAR_GBNF + i), again.data(), 0, &sizes[1 + i], &err);
    armed = false;
    CHECK(same);
    check(status[0], err);
    for (uint32_t i = 1; i < 5; ++i) CHECK(status[i] == LINNET_TOO_SMALL);
    for (const size_t size : sizes) CHECK(size > 50);
    CHECK(n_allocations == 0);
  }
  if (text) {
    auto p = params(LINNET_I8, 1, 32, 1, 400);
    p.threads = LINNET_THREADS_OWN;
    Session s(model, p);
    linnet_need need{.size = sizeof need};
    check(linnet_grammar_need(model.m, blob.data(), n, &need, &err), err);
    const Memory memory(need.bytes);
    linnet_grammar* grammar = nullptr;
    linnet_generated end[2] = {{.size = sizeof *end}, {.size = sizeof *end}};
    linnet_status status[6] = {};
    linnet_generate_params g{};
    g.size = sizeof g;
    g.max_tokens = 100;
    n_allocations = 0;
    armed = true;
    status[0] = linnet_grammar_init(&grammar, memory.p, need.bytes, model.m, blob.data(), n, &err);
    status[1] = linnet_prefill(s.s, 0, tokens.data(), 20, &err);
    status[2] = linnet_grammar_set(s.s, 0, grammar, &err);
    status[3] = linnet_generate(s.s, 0, &g, nullptr, nullptr, &end[0], &err);
    status[4] = linnet_truncate(s.s, 0, 30, nullptr);
    status[5] = linnet_prefill(s.s, 0, tokens.data(), 1, &err);
    (void)linnet_generate(s.s, 0, &g, nullptr, nullptr, &end[1], &err);  // or what was prefilled does not obey
    armed = false;
    for (const linnet_status one : status) check(one, err);
    CHECK(end[0].why != LINNET_STOP_NONE);
    CHECK(n_allocations == 0);
  } else {
    std::printf("skipped: no model with a tokenizer for the grammar\n");
  }
#else
  std::printf("skipped: the sanitizer owns malloc here\n");
#endif
}

TEST_CASE("adapters: need equals use, what sessions count for them, and no allocation from init on") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  linnet::convert::Loaded file;
  linnet_error err{};
  check(linnet::convert::load_adapter("tests/golden/lora/llama-all", model.image.view(), &file, &err), err);
  linnet_need need{.size = sizeof need};
  check(linnet_lora_need(model.m, &file.file, &need, &err), err);
  const Memory memory(need.bytes);
  auto p = params(LINNET_I8, 2, 32, 1, 200);
  p.threads = LINNET_THREADS_OWN;
  p.n_sequences = 2;
  const Session none(model, p);
  p.lora_rank = 17;
  const Session s(model, p);
  CHECK(session_table(none).at("adapters") == 0);
  CHECK(session_table(s).at("adapters") == up(4 * 32 * 32 * sizeof(float), 64) + up(2 * sizeof(linnet::LoraRows), 64));
  CHECK(session_table(s).at("activations") >= session_table(none).at("activations"));
  Tokens tokens(100);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 7 % model.desc.n_vocab);
  std::vector<uint8_t> state(1 << 22);
  linnet_lora* lora = nullptr;
  linnet_status status[8] = {};
  size_t n = 0;
  int32_t token = -1;
#if INTERPOSED
  n_allocations = 0;
  armed = true;
#endif
  status[0] = linnet_lora_init(&lora, memory.p, need.bytes, model.m, &file.file, &err);
  const linnet_lora* of = lora;
  status[1] = linnet_lora_set(s.s, 1, &of, nullptr, 1, &err);
  const linnet_rows rows[] = {{.size = sizeof(linnet_rows), .seq = 0, .n_tokens = 50, .tokens = tokens.data()},
                              {.size = sizeof(linnet_rows), .seq = 1, .n_tokens = tokens.size(), .tokens = tokens.data()}};
  status[2] = linnet_prefill_batch(s.s, rows, 2, &err);
  status[3] = linnet_decode(s.s, 1, &token, &err);
  status[4] = linnet_state_save(s.s, 1, state.data(), state.size(), &n, &err);
  status[5] = linnet_truncate(s.s, 1, 0, &err);
  status[6] = linnet_state_load(s.s, 1, state.data(), n, &err);
  status[7] = linnet_fork(s.s, 1, 0, 10, &err);
#if INTERPOSED
  armed = false;
  CHECK(n_allocations == 0);
#endif
  for (const linnet_status one : status) check(one, err);
  linnet::convert::unload(&file);
}

TEST_CASE("tokenizers allocate nothing") {
#if INTERPOSED
  const std::string text = "Don't  STOP: naïve Ångström 1234567 + 中文 кот \xF0\x9F\x98\x80\r\n\n <s> x_y \xFF\xC3 ends  ";
  size_t n_tokenizers = 0, n_patterns = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/tokenizers")) {
    if (!entry.is_directory()) continue;
    linnet::convert::TokenizerBlob made;
    linnet_error err{};
    check(linnet::convert::tokenizer_from_folder(entry.path().string(), &made, &err), err);
    std::vector<uint64_t> blob((made.bytes.size() + 7) / 8);
    std::memcpy(blob.data(), made.bytes.data(), made.bytes.size());
    CAPTURE(entry.path().string());
    linnet::Tokenizer t;
    check(linnet::tokenizer_open(blob.data(), made.bytes.size(), 1u << 22, &t, &err), err);
    const Memory scratch(linnet::tokenize_scratch_bytes(t, text.size()));
    Tokens tokens(8 * text.size());
    std::vector<char> back(64 * text.size());
    size_t n = 0, n_back = 0;
    linnet_status status[3] = {};
    n_allocations = 0;
    armed = true;
    status[0] = linnet::tokenizer_open(blob.data(), made.bytes.size(), 1u << 22, &t, &err);
    status[1] = linnet::tokenize(t, text, LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL, scratch.p,
                                 linnet::tokenize_scratch_bytes(t, text.size()), tokens.data(), tokens.size(), &n, &err);
    status[2] = linnet::detokenize(t, tokens.data(), n, 0, back.data(), back.size(), &n_back, &err);
    armed = false;
    for (const linnet_status one : status) check(one, err);
    CHECK(n_allocations == 0);
    CHECK((n > 5 && n_back > 20));
    ++n_tokenizers;
    n_patterns += linnet::tok::Tables(t).count(linnet::tok::kPatterns) != 0;
  }
  CHECK((n_tokenizers > 20 && n_patterns > 0));
#else
  std::printf("skipped: the sanitizer owns malloc here\n");
#endif
}

#if INTERPOSED
namespace {

// fn(&err) with its 1st, 2nd, ... allocation failing, alone and with all that follow, until it needs no more of them. Every time it says
// so, or did without; after(status, err) looks at what it left behind. Of long calls every one at first, then ever fewer unless
// LINNET_TEST_FULL is set.
template <class Fn, class After>
void every_allocation(const char* what, const Fn& fn, const After& after) {
  for (const bool all : {false, true}) {
    long k = 0, failures = 0;
    for (;; k += kFull ? 1 : 1 + k / 20) {
      INFO(what << ": allocation " << k << (all ? " and all behind it" : ""));
      linnet_error err{};
      for_good = all;
      n_allocations = 0;
      left = k;
      const linnet_status status = fn(&err);
      const bool reached = left == -2 || n_allocations > 0;
      left = -1;
      if (!reached) {
        INFO(err.text);
        REQUIRE(status == LINNET_OK);
        after(status, err);
        break;
      }
      if (status != LINNET_OK) {
        ++failures;
        INFO(err.text);
        REQUIRE(status == LINNET_NO_MEMORY);
        REQUIRE(err.code == LINNET_NO_MEMORY);
        REQUIRE(std::string(err.text).find("memory") != std::string::npos);
      }
      after(status, err);
    }
    CHECK(failures > 0);
    std::printf("%s: %ld allocations%s, %ld failed calls\n", what, k, all ? ", all behind fail too" : "", failures);
  }
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("convert: every allocation may fail") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("linnet-memory-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string out = folder / "out.gguf";
  linnet::convert::Options options, plain;
  plain.plain = true;
  for (const auto& [source, how] : {std::pair<std::string, const linnet::convert::Options*>{"tests/golden/llama", &options},
                                    {"tests/golden/gemma3-whole", &options},
                                    {"tests/golden/phi3", &plain},
                                    {"tests/golden/falcon-h1", &options},
                                    {"tests/golden/kimi-linear", &plain}}) {
    every_allocation(
        source.c_str(),
        [&, &source = source, how = how](linnet_error* err) { return linnet::convert::convert_to_file(source, out, *how, err); },
        [&](linnet_status status, const linnet_error&) {
          REQUIRE(files_in(folder) == (status == LINNET_OK ? 1u : 0u));
          std::filesystem::remove(out);
        });
  }
  linnet_error err{};
  REQUIRE(linnet::convert::convert_to_file("tests/golden/phi3", out, plain, &err) == LINNET_OK);
  linnet::convert::Image image;
  const auto drop = [&](linnet_status status, const linnet_error&) {
    REQUIRE((image.data != nullptr) == (status == LINNET_OK));
    linnet::convert::image_free(&image);
  };
  every_allocation("a plain GGUF", [&](linnet_error* e) { return linnet::convert::convert_to_memory(out, options, &image, e); }, drop);
  options.vocab_only = true;
  for (const std::string source :
       {"tests/golden/tokenizers/wordpiece-txt", "tests/golden/tokenizers/unigram-spm", "tests/golden/tokenizers/metaspace"})
    every_allocation(source.c_str(), [&](linnet_error* e) { return linnet::convert::convert_to_memory(source, options, &image, e); }, drop);
  linnet::convert::Description description;
  every_allocation(
      "describe", [&](linnet_error* e) { return linnet::convert::describe(out, &description, e); },
      [&](linnet_status status, const linnet_error&) {
        REQUIRE(description.tensors.empty() == (status != LINNET_OK));
        description = {};
      });
  linnet::convert::Loaded loaded;
  every_allocation(
      "load", [&](linnet_error* e) { return linnet::convert::load(out, LINNET_LOAD_MAP, {}, &loaded, e); },
      [&](linnet_status status, const linnet_error&) {
        REQUIRE((loaded.file.data != nullptr) == (status == LINNET_OK));
        linnet::convert::unload(&loaded);
      });
  linnet::convert::Cost cost;
  every_allocation(
      "cost", [&](linnet_error* e) { return linnet::convert::cost(out, {}, &cost, e); }, [](linnet_status, const linnet_error&) {});
  std::filesystem::remove_all(folder);
}

TEST_CASE("grammars: every allocation may fail") {
  CHECK(std::string(linnet_status_text(LINNET_NO_MEMORY)) == "LINNET_NO_MEMORY");
  const std::string tools =
      R"([{"name":"set","parameters":{"type":"object","properties":{"a":{"enum":[1,"x",{"b":[1E2,{"c":null}]}]},"d":{"type":"string","pattern":"[a-c]+"},)"
      R"("e":{"oneOf":[{"type":"integer","minimum":3},{"$ref":"#/$defs/f"}]}},"required":["a"],"$defs":{"f":{"type":"array","items":{"type":"number"}}}}}])";
  std::vector<char> blob(1 << 16, 'x');
  const std::vector<char> before = blob;
  size_t n = 7;
  every_allocation(
      "linnet_grammar_compile",
      [&](linnet_error* err) {
        return linnet_grammar_compile(nullptr, tools.data(), tools.size(), "tools", LINNET_GRAMMAR_TEXT_OR_CALL, blob.data(), blob.size(),
                                      &n, err);
      },
      [&](linnet_status status, const linnet_error&) {
        if (status != LINNET_OK) REQUIRE((n == 7 && blob == before));
        n = 7;
        std::copy(before.begin(), before.end(), blob.begin());
      });
}

TEST_CASE("grammars of calls: every allocation may fail") {
  const std::string jinja =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for t in m.tool_calls %}<call {{ t.function.name }}>{% for k, v in "
      "t.function.arguments.items() %}<arg {{ k }}>{{ v if v is string else v|tojson }}</arg>{% endfor %}</call>{% endfor %}<|end|>{% "
      "endfor %}";
  const std::string tools =
      R"([{"name":"set","parameters":{"type":"object","properties":{"a":{"type":"string"},"d":{"type":"array","items":{"type":"number"}}}}}])";
  const Program program(jinja);
  const Template t(program.view);
  std::vector<char> blob(1 << 16, 'x');
  const std::vector<char> before = blob;
  size_t n = 7;
  every_allocation(
      "linnet_grammar_calls",
      [&](linnet_error* err) {
        return linnet_grammar_calls(nullptr, t.t, tools.data(), tools.size(), "tools", nullptr, blob.data(), blob.size(), &n, err);
      },
      [&](linnet_status status, const linnet_error&) {
        if (status != LINNET_OK) REQUIRE((n == 7 && blob == before));
        n = 7;
        std::copy(before.begin(), before.end(), blob.begin());
      });
}

#if LINNET_TEST_PROFILES
TEST_CASE("templates: every allocation may fail") {
  const std::string text =
      "{%- macro f(a, b=[1, {'x': 2}]) -%}{{ a | map('upper') | join(b) }}{% call(c) g(1, *a, **b) %}{{ c.d[1:2] }}{% endcall %}{%- "
      "endmacro -%}"
      "{% for m in messages recursive %}{% if m is string and not m.x %}{{ loop(m) ~ 1.5e3 }}{% else %}{% set ns.x = 'y' %}{% endif %}{% "
      "endfor %}";
  std::vector<char> program(1 << 16, 'x');
  const std::vector<char> before = program;
  size_t n = 7;
  every_allocation(
      "linnet_template_compile",
      [&](linnet_error* err) { return linnet_template_compile(text.data(), text.size(), "t", program.data(), program.size(), &n, err); },
      [&](linnet_status status, const linnet_error&) {
        if (status != LINNET_OK) REQUIRE((n == 7 && program == before));
        n = 7;
        std::copy(before.begin(), before.end(), program.begin());
      });
}

TEST_CASE("profiles: every allocation may fail") {
  linnet_need need{.size = sizeof need};
  linnet_board* board = nullptr;
  linnet_error err{};
  check(linnet_board_need(&need, &err), err);
  const Memory memory(need.bytes);
  check(linnet_board_init(&board, memory.p, need.bytes, nullptr, &err), err);
  linnet_profile profile{};
  linnet_match match{};
  const auto untouched = [&](linnet_status status, const linnet_error&) {
    if (status != LINNET_OK) REQUIRE((profile.n_threads == 0 && profile.name[0] == 0 && match.points == 0 && match.why[0] == 0));
    profile = {}, match = {};
    profile.size = sizeof profile, match.size = sizeof match;
  };
  untouched(LINNET_OK, err);
  every_allocation(
      "linnet_profile_read",
      [&](linnet_error* e) { return linnet_profile_read("configs/raspberry-pi-5.yaml", board, &profile, &match, e); }, untouched);
  every_allocation(
      "linnet_profile_pick", [&](linnet_error* e) { return linnet_profile_pick("configs", board, &profile, nullptr, 0, &match, e); },
      untouched);
}
#endif
#else
TEST_CASE("every allocation may fail") { std::printf("skipped: with sanitizers, which bring their own malloc\n"); }
#endif
