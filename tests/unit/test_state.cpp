// Saved sequences: what is loaded goes on with the same bytes, in sessions of any other size; what is damaged, cut short or foreign is
// refused by name and changes nothing; a process killed while it saves leaves the old state or the new one.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "platform/crc32c.h"
#include "tests/models.h"

using namespace test;

namespace {

const int kKills = kSanitized ? 50
                   : kFull    ? 1000
                              : 200,
          kFlips = kSanitized ? 300
                   : kFull    ? 1 << 30
                              : 20000,
          kMutations = kSanitized ? 300 : 5000;

using Bytes = std::vector<uint8_t>;
struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine()); }
};

Tokens random_tokens(Random& random, uint32_t n, uint32_t n_vocab) {
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

Bytes save(const Session& s, uint32_t seq = 0) {
  linnet_error err{};
  size_t need = 0, n = 0;
  check(linnet_state_need(s.s, seq, &need, &err), err);
  Bytes out(need);
  check(linnet_state_save(s.s, seq, out.data(), need, &n, &err), err);
  REQUIRE(n == need);
  return out;
}
linnet_status load(const Session& s, const Bytes& state, linnet_error* err, uint32_t seq = 0) {
  return linnet_state_load(s.s, seq, state.data(), state.size(), err);
}
void must_load(const Session& s, const Bytes& state, uint32_t seq = 0) {
  linnet_error err{};
  check(load(s, state, &err, seq), err);
}

void set_sampling(const Session& s, float temperature, uint64_t seed) {
  auto p = sampling(temperature, seed);
  p.top_k = 50;
  p.top_p = 0.97f;
  p.repeat_penalty = 1.2f;
  linnet_error err{};
  check(linnet_sampling_set(s.s, 0, &p, &err), err);
}

Row logits_of(const Session& s, uint32_t seq) {
  const float* p = nullptr;
  size_t n = 0;
  REQUIRE(linnet_logits(s.s, seq, 0, &p, &n, nullptr) == LINNET_OK);
  return Row(p, p + n);
}

// The next n tokens and all their logits.
struct Story {
  Tokens tokens;
  std::vector<Row> logits;
};
Story go_on(const Session& s, int n, uint32_t seq = 0) {
  Story out;
  linnet_error err{};
  for (int i = 0; i < n; ++i) {
    int32_t token = -1;
    check(linnet_decode(s.s, seq, &token, &err), err);
    out.tokens.push_back(token);
    out.logits.push_back(logits_of(s, seq));
  }
  return out;
}
bool same(const Story& a, const Story& b) {
  if (a.tokens != b.tokens) return false;
  for (size_t i = 0; i < a.logits.size(); ++i)
    if (!same_bytes(a.logits[i], b.logits[i])) return false;
  return true;
}

void generate(const Session& s, uint32_t n) {
  linnet_generate_params g{};
  g.size = sizeof g;
  g.max_tokens = n;
  g.ignore_eos = 1;
  linnet_generated end{.size = sizeof end};
  linnet_error err{};
  check(linnet_generate(s.s, 0, &g, nullptr, nullptr, &end, &err), err);
}

// ---- the format, read anew from its description in runtime/state.h ------------------------------------------------------------

uint32_t plain_crc(const uint8_t* p, size_t n) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < n; ++i) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}
template <class T>
T get(const Bytes& b, size_t at) {
  T v;
  REQUIRE(at + sizeof v <= b.size());
  std::memcpy(&v, b.data() + at, sizeof v);
  return v;
}
template <class T>
void put(Bytes& b, size_t at, T v) {
  REQUIRE(at + sizeof v <= b.size());
  std::memcpy(b.data() + at, &v, sizeof v);
}
constexpr size_t kVersionAt = 8, kHeaderBytesAt = 12, kHashAt = 24, kVocabAt = 32, kLengthAt = 48, kPendingAt = 52, kRowsAt = 56,
                 kForgottenAt = 60, kFullAt = 64, kLayersAt = 80;

struct Section {
  uint32_t kind, index;
  size_t from, payload, bytes;
};
std::vector<Section> sections(const Bytes& b) {
  std::vector<Section> out;
  for (size_t at = get<uint32_t>(b, kHeaderBytesAt); at < b.size();) {
    const auto bytes = static_cast<size_t>(get<uint64_t>(b, at + 8));
    out.push_back({get<uint32_t>(b, at), get<uint32_t>(b, at + 4), at, at + 16, bytes});
    at += 16 + bytes + 4;
  }
  return out;
}
// Makes all CRCs right again, so that what stands behind them is reached.
void repair(Bytes& b, const std::vector<Section>& where, uint32_t header_bytes) {
  put(b, header_bytes - 4, plain_crc(b.data(), header_bytes - 4));
  for (const Section& s : where)
    if (s.payload + s.bytes + 4 <= b.size()) put(b, s.payload + s.bytes, plain_crc(b.data() + s.from, 16 + s.bytes));
}

struct Folder {
  std::string path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "linnet-state-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& e : std::filesystem::directory_iterator(path)) out.push_back(e.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }
};

linnet_session_params some(uint32_t k, uint32_t v, uint32_t context) {
  auto p = params(k, 1, 16, 1, context);
  p.v_format = v;
  return p;
}

}  // namespace

TEST_CASE("CRC-32C is the published one, in one piece or in several") {
  CHECK(linnet::crc32c(0, "123456789", 9) == 0xE3069283u);
  const Bytes zeros(32, 0), ones(32, 0xFF);  // RFC 3720, B.4
  CHECK(linnet::crc32c(0, zeros.data(), 32) == 0x8A9136AAu);
  CHECK(linnet::crc32c(0, ones.data(), 32) == 0x62A8AB43u);
  Random random(1);
  Bytes b(300);
  for (uint8_t& x : b) x = static_cast<uint8_t>(random());
  for (size_t n = 0; n <= b.size(); ++n) {
    const size_t cut = n ? random() % n : 0;
    REQUIRE(linnet::crc32c(0, b.data(), n) == plain_crc(b.data(), n));
    REQUIRE(linnet::crc32c(linnet::crc32c(0, b.data(), cut), b.data() + cut, n - cut) == plain_crc(b.data(), n));
  }
}

TEST_CASE("a loaded sequence goes on with the same tokens and logits, in sessions of other sizes") {
  const struct {
    const char* name;
    uint32_t k, v;
  } kinds[] = {{"llama", LINNET_I8, LINNET_I8},
               {"llama", LINNET_F32, LINNET_F16},
               {"mistral-window", LINNET_I8, LINNET_I8},
               {"mistral-window", LINNET_BF16, LINNET_I8},
               {"qwen2-window", LINNET_I8, LINNET_F16},
               {"qwen2-window", LINNET_F8E4M3, LINNET_F8E5M2},
               {"qwen3", LINNET_F16, LINNET_BF16},
               {"llama", LINNET_KIVI4, LINNET_KIVI2},
               {"qwen2-window", LINNET_KIVI2, LINNET_KIVI2},
               {"deepseek-v2", LINNET_I8, LINNET_I8},
               {"deepseek-v2", LINNET_F8E5M2, LINNET_F8E5M2},
               {"deepseek-v2-qlora", LINNET_F16, LINNET_F16}};
  Random random(7);
  int loads = 0;
  for (const auto& kind : kinds) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    for (const uint32_t n_prompt : {1u, 15u, 16u, 75u, 160u}) {
      INFO(kind.name << " " << kind.k << "/" << kind.v << ", prompt of " << n_prompt);
      Session from(model, some(kind.k, kind.v, 400));
      set_sampling(from, 0.9f, n_prompt);
      from.prefill(random_tokens(random, n_prompt, model.desc.n_vocab));
      const bool pending = n_prompt % 2;
      if (pending)
        generate(from, 9);  // the last of them is not computed yet
      else
        go_on(from, 9);
      const Bytes state = save(from);
      CHECK((save(from) == state));
      const Row logits = from.logits();
      const Story want = go_on(from, 12);

      auto small = some(kind.k, kind.v, n_prompt + 9 + 12);
      small.n_chunk = 1;
      auto large = some(kind.k, kind.v, 1000);
      large.n_chunk = 64;
      large.n_threads = 2;
      large.n_logits = 5;
      large.n_rollback = 200;
      auto several = some(kind.k, kind.v, 300);
      several.n_sequences = 3;
      several.n_rollback = 3;
      for (const auto& p : {small, large, several}) {
        const Session to(model, p);
        linnet_error err{};
        const uint32_t seq = p.n_sequences > 1 ? 2 : 0;
        const Tokens other = random_tokens(random, 40, model.desc.n_vocab);  // in the way, and beside it
        if (p.n_context > 100) check(linnet_prefill(to.s, seq, other.data(), other.size(), &err), err);
        if (seq) check(linnet_prefill(to.s, 0, other.data(), other.size(), &err), err);
        const Row beside = seq ? logits_of(to, 0) : Row();
        must_load(to, state, seq);
        ++loads;
        size_t length = 0;
        REQUIRE(linnet_length(to.s, seq, &length, nullptr) == LINNET_OK);
        CHECK(length == n_prompt + 9);
        CHECK(same_bytes(logits_of(to, seq), logits));
        if (p.n_rollback < 100) {  // n_rollback left out: pages that the first session still held may be dropped
          const Bytes again = save(to, seq);
          CHECK(again.size() <= state.size());
          must_load(to, again, seq);
        } else {
          CHECK((save(to, seq) == state));
        }
        CHECK(same(go_on(to, 12, seq), want));
        if (seq) CHECK(same_bytes(logits_of(to, 0), beside));
      }
    }
  }
  std::printf("%d loads go on with the same bytes\n", loads);
}

TEST_CASE("rollback after a load, and windows that one session needs and the other does not") {
  for (const char* name : {"mistral-window", "qwen2-window", "llama"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_I8G64);
    Random random(11);
    const Tokens tokens = random_tokens(random, 120, model.desc.n_vocab), more = random_tokens(random, 5, model.desc.n_vocab);
    auto p = some(LINNET_I8, LINNET_I8, 200);
    p.n_rollback = 24;
    Session from(model, p), to(model, p);
    from.prefill(tokens);
    must_load(to, save(from));
    for (const size_t keep : {110u, 96u}) {
      REQUIRE(linnet_truncate(from.s, 0, keep, nullptr) == LINNET_OK);
      REQUIRE(linnet_truncate(to.s, 0, keep, nullptr) == LINNET_OK);
      const Bytes cut = save(from);  // without logits
      from.prefill(more);
      to.prefill(more);
      CHECK(same_bytes(from.logits(), to.logits()));
      must_load(to, cut);
      const float* logits = nullptr;
      size_t n = 0;
      CHECK(linnet_logits(to.s, 0, 0, &logits, &n, nullptr) == LINNET_BAD_STATE);
      to.prefill(more);
      CHECK(same_bytes(from.logits(), to.logits()));
    }
    // What had been dropped before saving cannot be taken back where more could be.
    must_load(from, save(to));
    auto far = p;
    far.n_rollback = 150;
    const Session all(model, far);
    must_load(all, save(from));
    CHECK(linnet_truncate(all.s, 0, 40, nullptr) == (std::string(name) == "llama" ? LINNET_OK : LINNET_BAD_STATE));
    must_load(all, save(from));
    CHECK(same(go_on(all, 5), go_on(from, 5)));

    // A window that is no shorter than the context makes no class of its own.
    const Tokens few(tokens.begin(), tokens.begin() + 12), rest(tokens.begin() + 12, tokens.end());
    for (const uint32_t context : {18u, 200u}) {
      Session a(model, some(LINNET_I8, LINNET_F16, context)), b(model, some(LINNET_I8, LINNET_F16, 218 - context)),
          plain(model, some(LINNET_I8, LINNET_F16, 200));
      a.prefill(few);
      must_load(b, save(a));
      CHECK((save(a) == save(b)));
      CHECK(same_bytes(a.logits(), b.logits()));
      Session& longer = context == 200 ? a : b;
      if (context == 18) must_load(longer, save(a));
      longer.prefill(rest);
      plain.prefill(tokens);
      CHECK(same_bytes(longer.logits(), plain.logits()));
    }
  }
}

TEST_CASE("sequences that have dropped tokens: the oldest, with and without sinks, and those that drew no attention") {
  for (const char* name : {"llama", "qwen2-window", "deepseek-v2"})
    for (const uint32_t when_full : {LINNET_FULL_DROP_OLDEST, LINNET_FULL_SINKS, LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV})
      for (const uint32_t n_keep : {5u, 16u})
        for (const uint32_t n : {3u, 50u, 90u, 1700u}) {
          INFO(name << ", when_full " << when_full << ", keep " << n_keep << ", " << n << " tokens");
          const Model model(std::string("tests/golden/") + name, LINNET_I8G64);
          const uint32_t v = name[0] == 'd' ? LINNET_I8 : LINNET_F16;  // a latent is K and V in one
          auto p = some(LINNET_I8, v, 64);
          p.when_full = when_full;
          p.n_keep = n_keep;
          if (when_full == LINNET_FULL_SNAPKV) p.n_context = 200;
          if (when_full != LINNET_FULL_SINKS && n + 35 > std::max(model.desc.n_context, p.n_context)) continue;
          Session from(model, p);
          set_sampling(from, 0.8f, n);
          Random random(n);
          const uint32_t at_once = when_full == LINNET_FULL_SNAPKV ? n : 10;
          for (uint32_t i = 0; i < n; i += at_once) from.prefill(random_tokens(random, std::min(at_once, n - i), model.desc.n_vocab));
          generate(from, 5);
          const Bytes state = save(from);
          const Story want = go_on(from, 30);
          auto other = p;
          other.n_chunk = 5;
          other.n_threads = 2;
          other.n_sequences = 2;
          auto more = p;
          if (when_full != LINNET_FULL_HEAVY_HITTERS) other.n_rollback = 5, more.n_rollback = 40;
          if (when_full == LINNET_FULL_HEAVY_HITTERS) other.n_rollback = 16;
          for (const auto& q : {p, other, more}) {
            linnet_error err{};
            const Session to(model, q);
            const uint32_t seq = q.n_sequences > 1 ? 1 : 0;
            must_load(from, state);
            must_load(to, state, seq);
            if (q.n_rollback != 5) CHECK((save(to, seq) == state));
            CHECK(same(go_on(to, 30, seq), want));
            must_load(to, state, seq);
            size_t length = 0;
            REQUIRE(linnet_length(to.s, seq, &length, nullptr) == LINNET_OK);
            if (linnet_truncate(to.s, seq, length - 4, nullptr) == LINNET_OK) {
              REQUIRE(linnet_prefill(to.s, seq, want.tokens.data(), 1, &err) == LINNET_OK);
              REQUIRE(linnet_truncate(from.s, 0, length - 4, nullptr) == LINNET_OK);
              REQUIRE(linnet_prefill(from.s, 0, want.tokens.data(), 1, &err) == LINNET_OK);
              CHECK(same_bytes(logits_of(to, seq), from.logits()));
              must_load(from, state);
            } else {
              CHECK(length > 64 - n_keep);
            }
          }
          auto wider = p;
          wider.n_context = 80;
          linnet_error err{};
          auto back = p;
          back.n_rollback = 7;
          for (const auto& q : {wider, some(LINNET_I8, v, 200)}) CHECK(load(Session(model, q), state, &err) == LINNET_UNSUPPORTED);
          if (when_full == LINNET_FULL_HEAVY_HITTERS) CHECK(load(Session(model, back), state, &err) == LINNET_UNSUPPORTED);
        }
}

TEST_CASE("rows of logits, forks, pools") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  Random random(3);
  const Tokens tokens = random_tokens(random, 120, model.desc.n_vocab);
  {
    Session from(model, params(0, 1, 16, 6, 200)), to(model, params(0, 1, 16, 3, 200));
    from.prefill(tokens);
    must_load(to, save(from));
    for (uint32_t back = 0; back < 3; ++back) CHECK(same_bytes(to.logits(back), from.logits(back)));
    const float* logits = nullptr;
    size_t n = 0;
    CHECK(linnet_logits(to.s, 0, 3, &logits, &n, nullptr) == LINNET_BAD_ARG);
    Session empty(model, params());
    CHECK(linnet_truncate(to.s, 0, 0, nullptr) == LINNET_OK);
    must_load(empty, save(to));  // a sequence without tokens is one too
    CHECK(empty.length() == 0);
    must_load(from, save(to));
    CHECK(from.length() == 0);
  }
  auto p = params(0, 1, 16, 1, 160);
  p.n_sequences = 4;
  p.n_pool = 176;
  const Session s(model, p);
  linnet_error err{};
  check(linnet_prefill(s.s, 0, tokens.data(), tokens.size(), &err), err);
  set_sampling(s, 1, 4);
  const Bytes state = save(s);
  check(linnet_fork(s.s, 0, 1, tokens.size(), &err), err);
  const Bytes fork = save(s, 1);
  CHECK((fork == state));
  for (const uint32_t seq : {2u, 1u}) {  // its shared pages do not come back
    CHECK(load(s, state, &err, seq) == LINNET_CONTEXT_FULL);
    CHECK(std::string(err.text).find("pool of 176") != std::string::npos);
    CHECK((save(s, 1) == fork));
  }
  REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
  for (int i = 0; i < 50; ++i) must_load(s, state, 1);  // gives back what it takes
  const Story story = go_on(s, 20, 1);
  must_load(s, state, 1);
  CHECK(same(go_on(s, 20, 1), story));
}

TEST_CASE("states: what is to be computed again is saved as such, and computed where it is loaded") {
  for (const char* name : {"qwen3-5", "lfm2"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_I8G64);
    Random random(7);
    const Tokens tokens = random_tokens(random, 200, model.desc.n_vocab), more = random_tokens(random, 5, model.desc.n_vocab);
    auto p = some(LINNET_I8, LINNET_I8, 300);
    p.n_rollback = 8;
    p.checkpoint_every = 50;
    Session from(model, p), fresh(model, p);
    from.prefill(tokens);
    CHECK(get<uint32_t>(save(from), kVersionAt) == 3);  // what an older version reads too
    for (const size_t keep : {170u, 102u, 100u, 30u}) {
      INFO(name << ", " << keep << " of 200");
      REQUIRE(linnet_truncate(from.s, 0, keep, nullptr) == LINNET_OK);
      const Bytes state = save(from);
      const bool replay = keep != 100;
      CHECK(get<uint32_t>(state, kVersionAt) == (replay ? 4 : 3));
      CHECK(get<uint32_t>(state, kPendingAt) == 2 * (keep % 50));
      CHECK(get<uint32_t>(state, kLengthAt) == keep / 50 * 50);
      size_t length = 0;
      REQUIRE((linnet_state_length(state.data(), state.size(), &length, nullptr) == LINNET_OK && length == keep));
      REQUIRE(linnet_truncate(fresh.s, 0, 0, nullptr) == LINNET_OK);
      fresh.prefill(Tokens(tokens.begin(), tokens.begin() + static_cast<long>(keep)));
      fresh.prefill(more);
      auto none = p, two = p;
      none.n_checkpoints = LINNET_CHECKPOINTS_NONE;
      none.n_chunk = 3;
      two.n_sequences = 2;
      two.n_checkpoints = 1;
      two.n_rollback = 30;
      for (const auto& q : {p, none, two}) {
        Session to(model, q);
        to.prefill(more);
        linnet_error err{};
        CHECK(linnet_truncate(to.s, 0, 1, &err) == LINNET_OK);
        must_load(to, state);
        CHECK((save(to) == state));
        const float* logits = nullptr;
        CHECK(linnet_logits(to.s, 0, 0, &logits, &length, nullptr) == LINNET_BAD_STATE);
        int32_t token = 0;
        CHECK(linnet_decode(to.s, 0, &token, &err) == LINNET_BAD_STATE);  // as after any rollback
        CHECK(to.length() == keep);
        to.prefill(more);
        CHECK(to.length() == keep + more.size());
        CHECK(same_bytes(to.logits(), fresh.logits()));
        const bool none_left = q.n_checkpoints == LINNET_CHECKPOINTS_NONE;
        CHECK(linnet_truncate(to.s, 0, 9, &err) == (none_left ? LINNET_BAD_STATE : LINNET_OK));
        if (none_left) CHECK(std::string(err.text).find("no checkpoints") != std::string::npos);
      }
    }
  }
}

TEST_CASE("states: a cut goes back to where a checkpoint was asked for") {
  const Model model("tests/golden/lfm2", LINNET_I8G64);
  Random random(9);
  auto p = some(LINNET_I8, LINNET_I8, 300);
  p.n_rollback = 8;
  const Tokens tokens = random_tokens(random, 100, model.desc.n_vocab);
  Session s(model, p);
  for (size_t i = 0; i < tokens.size(); ++i) {
    s.prefill({tokens[i]});
    if (i + 1 == 37 || i + 1 == 61) REQUIRE(linnet_checkpoint(s.s, 0, nullptr) == LINNET_OK);
  }
  for (const auto& [keep, base] :
       {std::pair{95u, 95u}, std::pair{80u, 61u}, std::pair{61u, 61u}, std::pair{60u, 37u}, std::pair{36u, 0u}}) {
    REQUIRE(linnet_truncate(s.s, 0, keep, nullptr) == LINNET_OK);
    INFO(keep);
    CHECK(get<uint32_t>(save(s), kLengthAt) == base);
  }
}

// ---- refusals -------------------------------------------------------------------------------------------------------------------------

namespace {

// A session with a sequence of its own, which must not notice anything.
struct Witness {
  Session session;
  Bytes before;
  Witness(const Model& model, const linnet_session_params& p) : session(model, p) {
    Random random(99);
    set_sampling(session, 0.7f, 12345);
    session.prefill(random_tokens(random, std::min(30u, p.n_context / 2), model.desc.n_vocab));
    go_on(session, 3);
    before = save(session);
  }
  linnet_status load_refused(const Bytes& state, linnet_error* err) {
    *err = {};
    // Memory of exactly this size, so that ASan sees a byte too far.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[state.size() + 1]);
    std::copy(state.begin(), state.end(), exact.get() + 1);
    const linnet_status status = linnet_state_load(session.s, 0, exact.get() + 1, state.size(), err);
    if (status != LINNET_OK) REQUIRE((save(session) == before));
    return status;
  }
  void refuses(const Bytes& state, linnet_status want, const std::string& word) {
    linnet_error err{};
    const linnet_status status = load_refused(state, &err);
    INFO(err.text);
    CHECK(status == want);
    CHECK(std::string(err.text).find(word) != std::string::npos);
  }
};

Bytes small_state(const Model& model, const linnet_session_params& p = some(LINNET_I8, LINNET_I8, 100), uint32_t n_tokens = 40) {
  Session s(model, p);
  Random random(5);
  set_sampling(s, 0.9f, 3);
  for (uint32_t i = 0; i < n_tokens; i += 10) s.prefill(random_tokens(random, 10, model.desc.n_vocab));
  generate(s, 4);
  return save(s);
}
// 23 tokens to be computed again behind a checkpoint at 30.
Bytes cut_state(const Model& model, const linnet_session_params& p) {
  Session s(model, p);
  Random random(5);
  for (const uint32_t n : {30u, 50u}) s.prefill(random_tokens(random, n, model.desc.n_vocab));
  REQUIRE(linnet_truncate(s.s, 0, 53, nullptr) == LINNET_OK);
  return save(s);
}

}  // namespace

TEST_CASE("every bit that flips and every byte that is missing is found") {
  const Model model("tests/golden/mistral-window", LINNET_I8G64);
  const Bytes state = small_state(model);
  Witness witness(model, some(LINNET_I8, LINNET_I8, 120));
  const auto header_bytes = get<uint32_t>(state, kHeaderBytesAt);
  Random random(1);
  linnet_error err{};
  std::map<std::string, int> found;
  const size_t every = state.size() * 8 > static_cast<size_t>(kFlips) ? state.size() * 8 / static_cast<size_t>(kFlips) | 1
                                                                      : 1;  // odd: every bit of a byte comes up
  int flips = 0;
  for (size_t bit = 0; bit < state.size() * 8; bit += bit / 8 < header_bytes ? 1 : every) {
    Bytes bad = state;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ 1u << bit % 8);
    if (!kSanitized && random() % 8 == 0) bad[random() % bad.size()] ^= 0x55;  // and some with a second one elsewhere
    if (bad == state) continue;
    const linnet_status status = witness.load_refused(bad, &err);
    INFO("bit " << bit << ": " << err.text);
    REQUIRE((status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED));
    REQUIRE(std::string(err.text).substr(0, 7) == "state: ");
    ++found[std::string(err.text).substr(7, std::string(err.text).find(' ', 8) - 7)];
    ++flips;
  }
  std::printf("a state of %zu bytes: %d flips refused (", state.size(), flips);
  for (const auto& [word, n] : found) std::printf(" %s %d", word.c_str(), n);
  std::printf(" )\n");
  int cuts = 0;
  for (size_t n = 0; n < state.size(); n += n < header_bytes + 200u || every == 1 ? 1 : 97, ++cuts) {
    const linnet_status status = witness.load_refused(Bytes(state.begin(), state.begin() + static_cast<long>(n)), &err);
    INFO("first " << n << " bytes: " << err.text);
    REQUIRE(status == LINNET_BAD_FILE);
  }
  std::printf("%d lengths refused\n", cuts);
  Bytes more = state;
  more.push_back(0);
  witness.refuses(more, LINNET_BAD_FILE, "made longer");
  must_load(witness.session, state);  // and the whole is taken
}

TEST_CASE("what is foreign is refused by name") {
  const Model model("tests/golden/mistral-window", LINNET_I8G64);
  const Bytes state = small_state(model);
  const auto where = sections(state);
  const auto header_bytes = get<uint32_t>(state, kHeaderBytesAt);
  const uint32_t n_layers = model.desc.n_layers;
  REQUIRE(where.size() == 3 + n_layers);
  Witness witness(model, some(LINNET_I8, LINNET_I8, 120));
  const auto with = [&](const std::function<void(Bytes&)>& change) {
    Bytes b = state;
    change(b);
    repair(b, where, header_bytes);
    return b;
  };
  // Rows of the header for layers with a state, which this model does not have; and a header that holds no whole rows.
  for (const auto& [more, status, text] :
       {std::tuple{20u, LINNET_UNSUPPORTED, "other layers have a state"}, std::tuple{20u * (n_layers + 1), LINNET_BAD_FILE, "header of"},
        std::tuple{4u, LINNET_BAD_FILE, "header of"}}) {
    Bytes b = state;
    b.insert(b.begin() + (header_bytes - 4), more, uint8_t{0});
    put(b, kHeaderBytesAt, header_bytes + more);
    put(b, kHeaderBytesAt + 4, uint64_t{b.size()});
    repair(b, sections(b), header_bytes + more);
    witness.refuses(b, status, text);
  }
  witness.refuses({}, LINNET_BAD_FILE, "LNTSTATE");
  witness.refuses(Bytes(1000, 'G'), LINNET_BAD_FILE, "LNTSTATE");
  for (const uint32_t version : {0u, 1u, 2u, 7u, 0x01000000u})
    witness.refuses(with([&](Bytes& b) { put(b, kVersionAt, version); }), LINNET_UNSUPPORTED,
                    "version " + std::to_string(version) + ", this linnet reads 3 to 6");
  witness.refuses(with([&](Bytes& b) { put(b, kVersionAt, uint32_t{4}), put(b, kPendingAt, uint32_t{2}), put(b, kRowsAt, uint32_t{0}); }),
                  LINNET_BAD_FILE, "pending 2 in a model without states");
  {
    const Model with_states("tests/golden/qwen3-5", LINNET_I8G64);
    auto p = some(LINNET_I8, LINNET_I8, 120);
    Session s(with_states, p);
    Random random(4);
    s.prefill(random_tokens(random, 100, with_states.desc.n_vocab));
    REQUIRE(linnet_truncate(s.s, 0, 20, nullptr) == LINNET_OK);
    const Bytes cut = save(s);
    REQUIRE((get<uint32_t>(cut, kVersionAt) == 4 && get<uint32_t>(cut, kPendingAt) == 40 && get<uint32_t>(cut, kLengthAt) == 0));
    Witness other(with_states, p);
    const auto changed = [&](size_t at, uint32_t value) {
      Bytes b = cut;
      put(b, at, value);
      repair(b, sections(b), get<uint32_t>(cut, kHeaderBytesAt));
      return b;
    };
    other.refuses(changed(kPendingAt, 0xFFFFFFFF), LINNET_CONTEXT_FULL, "do not fit the context of 120");
    other.refuses(changed(kPendingAt, 42), LINNET_BAD_FILE, "positions make");
    other.refuses(changed(kVersionAt, 3), LINNET_BAD_FILE, "pending 40");
    other.refuses(changed(kRowsAt, 1), LINNET_BAD_FILE, "n_logit_rows 1");
    other.refuses(changed(kForgottenAt, 1), LINNET_BAD_FILE, "n_forgotten 1");
  }
  witness.refuses(with([&](Bytes& b) { put(b, kHashAt, uint64_t{0xABCDEF}); }), LINNET_UNSUPPORTED, "another model (hash 0000000000abcdef");
  witness.refuses(with([&](Bytes& b) { put(b, kVocabAt, uint32_t{7}); }), LINNET_UNSUPPORTED, "n_vocab 7");
  witness.refuses(with([&](Bytes& b) { put(b, kPendingAt, uint32_t{2}); }), LINNET_BAD_FILE, "pending 2");
  witness.refuses(with([&](Bytes& b) { put(b, kRowsAt, uint32_t{1000}); }), LINNET_BAD_FILE, "n_logit_rows 1000");
  witness.refuses(with([&](Bytes& b) { put(b, kRowsAt, uint32_t{2}); }), LINNET_BAD_FILE, "positions make");
  witness.refuses(with([&](Bytes& b) { put(b, kForgottenAt, uint32_t{45}); }), LINNET_BAD_FILE, "n_forgotten 45");
  witness.refuses(with([&](Bytes& b) { put(b, kForgottenAt, uint32_t{20}); }), LINNET_BAD_FILE, "n_forgotten 20");
  witness.refuses(with([&](Bytes& b) { put(b, kFullAt, uint32_t{LINNET_FULL_DROP_OLDEST}); }), LINNET_UNSUPPORTED, "when_full 2");
  witness.refuses(with([&](Bytes& b) { put(b, kLengthAt, uint32_t{50}); }), LINNET_BAD_FILE, "positions make");
  witness.refuses(with([&](Bytes& b) { put(b, kLengthAt, uint32_t{0xFFFFFFFF}); }), LINNET_CONTEXT_FULL, "context of 120");
  witness.refuses(with([&](Bytes& b) { put(b, kLayersAt, uint32_t{LINNET_F16}); }), LINNET_UNSUPPORTED, "layer 0 has K in f16");
  witness.refuses(with([&](Bytes& b) { put(b, kLayersAt + 24, uint32_t{99}); }), LINNET_UNSUPPORTED, "V in ? (99)");
  witness.refuses(with([&](Bytes& b) { put(b, kLayersAt + 8, uint32_t{22}); }), LINNET_UNSUPPORTED, "window of 22");
  witness.refuses(with([&](Bytes& b) { put(b, kLayersAt + 16, uint32_t{1000}); }), LINNET_BAD_FILE, "layer 0 begins with page 1000");
  witness.refuses(with([&](Bytes& b) {
                    put(b, kLayersAt + 16, uint32_t{0});
                    put(b, kLayersAt + 36, uint32_t{1});
                  }),
                  LINNET_BAD_FILE, "layer 1 begins with page 1");
  for (const int32_t token : {-1, static_cast<int32_t>(model.desc.n_vocab), INT32_MIN})
    witness.refuses(with([&](Bytes& b) { put(b, where[0].payload + 20, token); }), LINNET_BAD_FILE,
                    "token " + std::to_string(token) + " at 5");
  witness.refuses(with([&](Bytes& b) { put(b, where[1].payload + 20, std::nanf("")); }), LINNET_BAD_FILE, "'sampler'");
  witness.refuses(with([&](Bytes& b) { put(b, where[1].payload + 48, uint32_t{5000}); }), LINNET_BAD_FILE, "'sampler'");
  witness.refuses(with([&](Bytes& b) { put(b, where[3].from, uint32_t{9}); }), LINNET_BAD_FILE, "section 'kv 0'");
  witness.refuses(with([&](Bytes& b) { put(b, where[2].from + 8, ~uint64_t{0}); }), LINNET_BAD_FILE, "section 'logits'");
  {
    Bytes b = state;
    b[where[4].payload + 100] ^= 1;
    witness.refuses(b, LINNET_BAD_FILE, "CRC of section 'kv 1'");
  }
  Witness narrow(model, some(LINNET_I8, LINNET_I8, 43));
  narrow.refuses(state, LINNET_CONTEXT_FULL, "44 tokens do not fit the context of 43");
  for (const auto& [k, v] : {std::pair{LINNET_F16, LINNET_I8}, std::pair{LINNET_I8, LINNET_F32}}) {
    Witness other(model, some(k, v, 120));
    other.refuses(state, LINNET_UNSUPPORTED, std::string("this session has ") + linnet_format_name(k) + " and " + linnet_format_name(v));
  }
  const Model others[] = {{"tests/golden/mistral-window", LINNET_I8G128},
                          {"tests/golden/mistral-window", LINNET_I8},
                          {"tests/golden/mistral-window", LINNET_F8E4M3},
                          {"tests/golden/llama", LINNET_I8G64}};
  for (const Model& other : others) {
    Witness w(other, some(LINNET_I8, LINNET_I8, 120));
    w.refuses(state, LINNET_UNSUPPORTED, "another model (hash ");
  }
  // One changed number of the spec, or one changed weight at a tensor's end, is another model; the same file twice is the same.
  for (const int change : {0, 1, 2}) {
    Model again("tests/golden/mistral-window", LINNET_I8G64, 0, false);
    auto* bytes = static_cast<uint8_t*>(const_cast<void*>(again.image.view().data));
    if (change == 1) bytes[again.image.view().bytes - 64] ^= 1;
    if (change == 2) {
      const std::string key = "linnet.spec.norm_eps";
      auto* at = std::search(bytes, bytes + 65536, key.begin(), key.end());
      REQUIRE(at != bytes + 65536);
      at[key.size() + 4] ^= 1;
    }
    again.open(0);
    Witness w(again, some(LINNET_I8, LINNET_I8, 120));
    linnet_error err{};
    CHECK(w.load_refused(state, &err) == (change ? LINNET_UNSUPPORTED : LINNET_OK));
  }
}

TEST_CASE("states made up by somebody touch no memory but their own") {
  const Model window("tests/golden/qwen2-window", LINNET_I8G64), with_states("tests/golden/qwen3-5", LINNET_I8G64);
  auto sinks = some(LINNET_I8, LINNET_I8, 64), heavy = sinks, states = some(LINNET_I8, LINNET_I8, 121);
  states.n_rollback = 5;
  sinks.when_full = LINNET_FULL_SINKS;
  heavy.when_full = LINNET_FULL_HEAVY_HITTERS;
  for (const auto& p : {some(LINNET_I8, LINNET_I8, 120), sinks, heavy, some(LINNET_KIVI2, LINNET_KIVI4, 200), states}) {
    const Model& model = p.n_context == 121 ? with_states : window;
    const Bytes state = p.n_context == 121 ? cut_state(model, p)
                                           : small_state(model, p,
                                                         p.when_full == LINNET_FULL_SINKS ? 1700
                                                         : p.when_full                    ? 90
                                                         : p.k_format == LINNET_KIVI2     ? 126
                                                                                          : 40);
    const auto where = sections(state);
    const auto header_bytes = get<uint32_t>(state, kHeaderBytesAt);
    Witness witness(model, p);
    Random random(23);
    int taken = 0, refused = 0;
    for (int i = 0; i < kMutations; ++i) {
      Bytes bad = state;
      for (uint32_t n = 1 + random() % 3; n; --n) {
        const uint32_t what = random() % 5;
        const size_t at = what == 0   ? 8 + random() % (header_bytes - 12)
                          : what == 1 ? where[random() % where.size()].from + random() % 16
                          : what == 2 ? kLengthAt + random() % 4 * 4
                                      : random() % (bad.size() - 8);
        const uint32_t values[] = {
            0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x7FC00000, static_cast<uint32_t>(random()), static_cast<uint32_t>(random() % 2000)};
        put(bad, what == 3 ? at : at / 4 * 4, values[random() % 8]);
      }
      if (random() % 4 == 0) bad.resize(random() % bad.size());
      if (bad.size() > header_bytes) repair(bad, where, header_bytes);
      linnet_error err{};
      if (witness.load_refused(bad, &err) != LINNET_OK) {
        ++refused;
        continue;
      }
      ++taken;
      int32_t token = 0;
      size_t length = 0;
      for (int j = 0; j < 3; ++j) (void)linnet_decode(witness.session.s, 0, &token, &err);  // whatever comes of such numbers
      REQUIRE(linnet_length(witness.session.s, 0, &length, nullptr) == LINNET_OK);
      const size_t keep = random() % (length + 1);
      if (linnet_truncate(witness.session.s, 0, keep, nullptr) == LINNET_OK) (void)linnet_prefill(witness.session.s, 0, &token, 1, &err);
      must_load(witness.session, witness.before);
      REQUIRE((save(witness.session) == witness.before));
    }
    std::printf("%d made-up states refused, %d taken\n", refused, taken);
    CHECK(refused > 0);
    CHECK(taken > 0);
  }
}

// ---- files
// ----------------------------------------------------------------------------------------------------------------------------------

TEST_CASE("files: the same bytes, replaced or left alone, errors by path") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  Session s(model, some(LINNET_I8, LINNET_I8, 300)), to(model, some(LINNET_I8, LINNET_I8, 300));
  Random random(8);
  s.prefill(random_tokens(random, 100, model.desc.n_vocab));
  set_sampling(s, 1, 6);
  const Folder folder;
  const std::string path = folder.path + "/talk";
  linnet_error err{};
  check(linnet_state_save_file(s.s, 0, path.c_str(), &err), err);
  const Bytes state = save(s);
  const auto file = [&] {
    const std::string text = slurp(path);
    return Bytes(text.begin(), text.end());
  };
  CHECK((file() == state));
  CHECK(folder.names() == std::vector<std::string>{"talk"});
  check(linnet_state_load_file(to.s, 0, path.c_str(), &err), err);
  CHECK(same(go_on(to, 10), go_on(s, 10)));
  size_t n = 0;
  check(linnet_state_length(state.data(), state.size(), &n, &err), err);
  CHECK(n == 100);
  CHECK(linnet_state_length(state.data(), 50, &n, &err) == LINNET_BAD_FILE);

  std::ofstream(path + ".bad") << "LNTSTATE and nothing else";
  CHECK(linnet_state_load_file(to.s, 0, (path + ".bad").c_str(), &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text) == path + ".bad: state: ends inside its header, after 25 bytes");
  REQUIRE(unlink((path + ".bad").c_str()) == 0);

  // What a killed process left is written over; what is no file of ours is not.
  std::ofstream(path + ".tmp") << std::string(1 << 20, 'x');
  check(linnet_state_save_file(s.s, 0, path.c_str(), &err), err);
  const Bytes second = save(s);
  CHECK((file() == second));
  CHECK(folder.names() == std::vector<std::string>{"talk"});
  const auto refused = [&](const std::string& where, const std::string& word) {
    INFO(where);
    CHECK(linnet_state_save_file(to.s, 0, where.c_str(), &err) == LINNET_IO);
    CHECK(std::string(err.text).find(word) != std::string::npos);
    CHECK((file() == second));
  };
  refused(folder.path + "/no/talk", "/no/talk: cannot open its folder: no such file or folder");
  refused(folder.path, "is not a regular file");
  const std::string fifo = folder.path + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  refused(fifo, "/fifo: is not a regular file");
  struct stat st{};
  CHECK((stat(fifo.c_str(), &st) == 0 && S_ISFIFO(st.st_mode)));
  REQUIRE(unlink(fifo.c_str()) == 0);
  refused("", "empty");
  refused(folder.path + "/" + std::string(300, 'n'), "nnn");  // the rest of the sentence has no room
  refused(folder.path + "/" + std::string(5000, 'n'), "name too long");
  REQUIRE(mkdir((path + ".tmp").c_str(), 0700) == 0);
  refused(path, "talk.tmp: cannot create: is a folder");
  REQUIRE(rmdir((path + ".tmp").c_str()) == 0);
  REQUIRE(symlink((path + ".other").c_str(), (path + ".tmp").c_str()) == 0);
  refused(path, "talk.tmp: cannot create");
  REQUIRE(unlink((path + ".tmp").c_str()) == 0);
  // Under the temporary name somebody's file has a second one: it keeps its bytes.
  std::ofstream(path + ".other") << "precious";
  REQUIRE(link((path + ".other").c_str(), (path + ".tmp").c_str()) == 0);
  check(linnet_state_save_file(s.s, 0, path.c_str(), &err), err);
  CHECK(slurp(path + ".other") == "precious");
  REQUIRE(unlink((path + ".other").c_str()) == 0);
  // What was kept from others stays so.
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  check(linnet_state_save_file(s.s, 0, path.c_str(), &err), err);
  CHECK((stat(path.c_str(), &st) == 0 && (st.st_mode & 0777) == 0600));
  // A link: what it leads to is replaced, or made; links in a circle, and to files that are open, are refused.
  const std::string to_talk = folder.path + "/link";
  for (const char* target : {"talk", "new"}) {
    REQUIRE(symlink(target, to_talk.c_str()) == 0);
    check(linnet_state_save_file(s.s, 0, to_talk.c_str(), &err), err);
    CHECK((lstat(to_talk.c_str(), &st) == 0 && S_ISLNK(st.st_mode)));
    CHECK(slurp(folder.path + "/" + target) == slurp(path));
    REQUIRE(unlink(to_talk.c_str()) == 0);
  }
  REQUIRE(unlink((folder.path + "/new").c_str()) == 0);
  REQUIRE(symlink("link", to_talk.c_str()) == 0);
  refused(to_talk, "too many links");
  REQUIRE(unlink(to_talk.c_str()) == 0);
  const int open_file = open(path.c_str(), O_RDONLY);
  refused("/proc/self/fd/" + std::to_string(open_file), "leads to a file that is open");
  close(open_file);
  CHECK(folder.names() == std::vector<std::string>{"talk"});
  CHECK(linnet_state_load_file(to.s, 0, (path + ".no").c_str(), &err) == LINNET_IO);

  // No room: in a process of its own, whose files may have 5000 bytes.
  if (const pid_t child = fork(); child == 0) {
    const rlimit limit = {5000, 5000};
    signal(SIGXFSZ, SIG_IGN);
    const Session mine(model, some(LINNET_I8, LINNET_I8, 300));
    must_load(mine, state);
    const bool ok = setrlimit(RLIMIT_FSIZE, &limit) == 0 && linnet_state_save_file(mine.s, 0, path.c_str(), &err) == LINNET_IO &&
                    std::string(err.text).find("talk.tmp: cannot write: file too large") != std::string::npos;
    _exit(ok ? 0 : 1);
  } else {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK((file() == second));
  CHECK(folder.names() == std::vector<std::string>{"talk"});

  // Arguments.
  CHECK(linnet_state_save(s.s, 0, nullptr, 0, &n, &err) == LINNET_TOO_SMALL);
  CHECK(n == second.size());
  Bytes out(n);
  CHECK(linnet_state_save(s.s, 0, out.data(), n - 1, &n, &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(n)) != std::string::npos);
  CHECK((out == Bytes(n)));
  CHECK(linnet_state_save(s.s, 1, out.data(), n, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_state_need(s.s, 1, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_state_load(to.s, 1, out.data(), n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_state_load(to.s, 0, nullptr, 5, &err) == LINNET_BAD_ARG);
  CHECK(linnet_state_load(nullptr, 0, out.data(), n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_state_save_file(s.s, 0, nullptr, &err) == LINNET_BAD_ARG);
  linnet_sampling p{};
  p.size = sizeof p;
  CHECK(linnet_sampling_get(s.s, 0, &p, nullptr) == LINNET_OK);
  CHECK((p.temperature == 1 && p.seed == 6 && p.penalty_last_n == 64));
}

TEST_CASE("several save to one path at once: it always holds one of theirs, whole") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  const Folder folder;
  const std::string path = folder.path + "/talk";
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Bytes> states;
  Random random(31);
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(std::make_unique<Session>(model, some(LINNET_F32, LINNET_F32, 300)));
    sessions.back()->prefill(random_tokens(random, 100u + 60u * static_cast<uint32_t>(i), model.desc.n_vocab));
    states.push_back(save(*sessions.back()));
  }
  linnet_error first{};
  check(linnet_state_save_file(sessions[0]->s, 0, path.c_str(), &first), first);
  std::atomic<int> running{3}, failures{0};
  std::vector<std::thread> threads;
  for (const auto& s : sessions)
    threads.emplace_back([&] {
      linnet_error err{};
      for (int i = 0; i < 60; ++i) failures += linnet_state_save_file(s->s, 0, path.c_str(), &err) != LINNET_OK;
      --running;
    });
  const Session reader(model, some(LINNET_F32, LINNET_F32, 300));
  int reads = 0, wrong = 0;
  for (; running || reads == 0; ++reads) {
    linnet_error err{};
    const bool ok = linnet_state_load_file(reader.s, 0, path.c_str(), &err) == LINNET_OK;
    wrong += !ok || std::find(states.begin(), states.end(), save(reader)) == states.end();
  }
  for (std::thread& t : threads) t.join();
  CHECK(failures == 0);
  CHECK(wrong == 0);
  CHECK(folder.names() == std::vector<std::string>{"talk"});
  std::printf("%d reads while three saved 60 times each\n", reads);
}

TEST_CASE("kill -9 at any moment of saving leaves the old state or the new one") {
  const Model model("tests/golden/llama", LINNET_I8G64);
  Session a(model, some(LINNET_F32, LINNET_F32, 400)), b(model, some(LINNET_F32, LINNET_F32, 400)),
      reader(model, some(LINNET_F32, LINNET_F32, 400));
  Random random(77);
  a.prefill(random_tokens(random, 390, model.desc.n_vocab));
  b.prefill(random_tokens(random, 250, model.desc.n_vocab));
  const Bytes state_a = save(a), state_b = save(b);
  const Folder folder;
  const std::string path = folder.path + "/talk";
  linnet_error err{};
  check(linnet_state_save_file(a.s, 0, path.c_str(), &err), err);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) check(linnet_state_save_file(a.s, 0, path.c_str(), &err), err);
  const auto one = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count() / 10 + 1;
  int n_a = 0, n_b = 0, left = 0, parts = 0;
  int begun[2];
  REQUIRE(pipe(begun) == 0);
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Session mine(model, some(LINNET_F32, LINNET_F32, 400)), other(model, some(LINNET_F32, LINNET_F32, 400));
      must_load(mine, state_a);
      must_load(other, state_b);
      linnet_error e{};
      if (write(begun[1], "", 1) != 1) _exit(1);
      for (;;)
        if (linnet_state_save_file(other.s, 0, path.c_str(), &e) != LINNET_OK ||
            linnet_state_save_file(mine.s, 0, path.c_str(), &e) != LINNET_OK)
          _exit(1);
    }
    char byte;
    REQUIRE(read(begun[0], &byte, 1) == 1);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (4 * static_cast<uint32_t>(one))));
    REQUIRE(kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    const linnet_status loaded = linnet_state_load_file(reader.s, 0, path.c_str(), &err);
    INFO("kill " << i << ": " << err.text);
    REQUIRE(loaded == LINNET_OK);
    const Bytes now = save(reader);
    REQUIRE((now == state_a || now == state_b));
    ++(now == state_a ? n_a : n_b);
    struct stat st;
    if (stat((path + ".tmp").c_str(), &st) == 0) {
      ++left;
      parts += st.st_size > 0 && static_cast<size_t>(st.st_size) < state_b.size();
    }
    REQUIRE(folder.names().size() <= 2);
  }
  close(begun[0]);
  close(begun[1]);
  std::printf(
      "%d kills (a save of %zu bytes takes %ld us): %d times the one state, %d the other; %d left a temporary file, %d of them with a part "
      "of the bytes\n",
      kKills, state_a.size(), static_cast<long>(one), n_a, n_b, left, parts);
  CHECK(n_a > 0);
  CHECK(n_b > 0);
  CHECK(left > 0);
  check(linnet_state_save_file(a.s, 0, path.c_str(), &err), err);
  CHECK(folder.names() == std::vector<std::string>{"talk"});
}
