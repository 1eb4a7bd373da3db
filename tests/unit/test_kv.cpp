// The KV cache behind the C ABI: windows, rollback, forks, several sequences, cancel, formats. Whatever is done to a sequence, its logits
// are those of a fresh session that computes its tokens at once and drops nothing.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "runtime/gguf.h"
#include "runtime/session.h"
#include "runtime/spec.h"
#include "tests/models.h"

using namespace test;

namespace {

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

constexpr uint32_t kContext = 400;

// Logits after `tokens` from a session that keeps all pages.
Row plain(const Model& model, const Tokens& tokens, const linnet_session_params& like) {
  linnet_session_params p = like;
  p.n_sequences = 1;
  p.n_pool = 0;
  p.n_rollback = p.n_context;
  p.n_chunk = 64;
  p.n_checkpoints = LINNET_CHECKPOINTS_NONE;
  p.parallel_for = nullptr;
  Session s(model, p);
  s.prefill(tokens);
  return s.logits();
}

Row logits_of(const Session& s, uint32_t seq) {
  const float* p = nullptr;
  size_t n = 0;
  REQUIRE(linnet_logits(s.s, seq, 0, &p, &n, nullptr) == LINNET_OK);
  return Row(p, p + n);
}

size_t bytes_of(const Session& s, const std::string& purpose) {
  const char* name = nullptr;
  size_t bytes = 0;
  for (uint32_t i = 0; linnet_session_memory(s.s, i, &name, &bytes, nullptr) == LINNET_OK; ++i)
    if (purpose == name) return bytes;
  return 0;
}

// One thread of the app's, which cancels the session when it is asked for the n-th time: in the midst of a call.
struct Canceller {
  linnet_session* s = nullptr;
  uint32_t left = 0;
  static void parallel_for(void* user, uint32_t, linnet_share_fn share, void* arg) {
    Canceller& c = *static_cast<Canceller*>(user);
    if (c.left && --c.left == 0) linnet_cancel(c.s);
    share(arg, 0, 1);
  }
};

const int kSteps = kShort ? 30 : kSanitized ? 100 : kFull ? 400 : 200, kCancels = kShort ? 50 : kSanitized ? 100 : kFull ? 1000 : 300;

}  // namespace

TEST_CASE("a random walk of prefill, decode, rollback, fork, save, load and cancel equals a plain cache") {
  const struct {
    const char* name;
    uint32_t k, v, n_checkpoints = LINNET_CHECKPOINTS_NONE, every = 0;
  } kinds[] = {{"mistral-window", LINNET_I8, LINNET_I8},
               {"qwen2-window", LINNET_I8, LINNET_F16},
               {"qwen2-window", LINNET_F8E4M3, LINNET_F8E5M2},
               {"llama", LINNET_F32, LINNET_I8},
               {"llama", LINNET_KIVI4, LINNET_KIVI2},
               {"qwen2-window", LINNET_KIVI2, LINNET_KIVI2},
               {"deepseek-v2", LINNET_I8, LINNET_I8},
               {"deepseek-v2-qlora", LINNET_F8E4M3, LINNET_F8E4M3},
               {"mixtral", LINNET_I8, LINNET_I8},
               {"deepseek-v3", LINNET_I8, LINNET_I8},
               {"llama4", LINNET_I8, LINNET_F16},
               {"lfm2", LINNET_I8, LINNET_I8},
               {"lfm2-taps", LINNET_KIVI4, LINNET_KIVI2},
               {"qwen3-5", LINNET_I8, LINNET_I8},
               {"qwen3-next", LINNET_I8, LINNET_F16},
               {"lfm2", LINNET_I8, LINNET_I8, 100, 7},
               {"lfm2-taps", LINNET_KIVI4, LINNET_KIVI2, 3, 50},
               {"qwen3-5", LINNET_I8, LINNET_I8, 1},
               {"qwen3-5", LINNET_I8, LINNET_F16, 0, 40},
               {"kimi-linear", LINNET_I8, LINNET_I8},
               {"gemma4-e2b", LINNET_I8, LINNET_I8},
               {"gemma3n", LINNET_I8, LINNET_I8},
               {"granite4-h", LINNET_I8, LINNET_I8},
               {"granite4-h-moe", LINNET_I8, LINNET_F16, 2, 40},
               {"nemotron-h-moe", LINNET_I8, LINNET_I8},
               {"lfm3", LINNET_I8, LINNET_I8, 2, 30},
               {"falcon-h1", LINNET_I8, LINNET_I8},
               {"falcon-h1-norm", LINNET_KIVI4, LINNET_KIVI2, 2, 40},
               {"apertus", LINNET_I8, LINNET_I8},
               {"phimoe", LINNET_I8, LINNET_F16},
               {"bitnet", LINNET_F8E4M3, LINNET_I8},
               {"switch", LINNET_I8, LINNET_I8}};
  int cancelled = 0;  // while tokens were computed again
  for (const auto& kind : kinds) {
    if (kRaces && kShort && kind.n_checkpoints != LINNET_CHECKPOINTS_NONE) continue;  // computed by one thread, which counts
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    const bool with_capacity = std::string(kind.name) == "switch";  // of experts: such sequences are not saved
    auto p = params(kind.k, 2, 16, 1, kContext);
    p.v_format = kind.v;
    p.n_sequences = 3;
    p.n_rollback = 24;
    p.n_pool = 2 * kContext;  // less than three whole sequences
    p.n_checkpoints = kind.n_checkpoints;
    p.checkpoint_every = kind.every;
    const bool deep = kind.n_checkpoints != LINNET_CHECKPOINTS_NONE;  // can be cut anywhere
    Canceller canceller;
    if (deep) p.parallel_for = Canceller::parallel_for, p.parallel_for_user = &canceller;
    const Session s(model, p);
    canceller.s = s.s;
    Random random(5);
    std::vector<Tokens> want(3);
    std::vector<size_t> longest(3, 0);
    std::map<std::string, int> done;
    linnet_error err{};
    for (int step = 0; step < (deep ? 3 : 1) * kSteps; ++step) {
      const uint32_t seq = random() % 3, other = (seq + 1 + random() % 2) % 3;
      Tokens& mine = want[seq];
      bool computed = false;
      const uint32_t what = random() % 9;
      if (what < 3) {
        const Tokens more = random_tokens(random, 1 + random() % (what == 0 ? 90 : 5), model.desc.n_vocab);
        if (random() % 10 == 0) linnet_cancel(s.s);
        const uint32_t replay = s.s->seqs[seq].replay;
        if (deep && random() % 3 == 0) canceller.left = 1 + random() % (3 + (replay + static_cast<uint32_t>(more.size())) / p.n_chunk);
        const linnet_status status = linnet_prefill(s.s, seq, more.data(), more.size(), &err);
        canceller.left = 0;
        INFO(kind.name << " step " << step << ": " << err.text);
        REQUIRE((status == LINNET_OK || status == LINNET_CANCELLED || status == LINNET_CONTEXT_FULL));
        ++done[linnet_status_text(status)];
        if (replay && status == LINNET_OK) ++done["computed again"];
        if (const uint32_t left = s.s->seqs[seq].replay; left && left < replay) ++done["cancelled on the way"];
        if (status == LINNET_OK) mine.insert(mine.end(), more.begin(), more.end()), computed = true;
        if (status == LINNET_CONTEXT_FULL) {
          REQUIRE(linnet_truncate(s.s, seq, 0, nullptr) == LINNET_OK);
          mine.clear();
          longest[seq] = 0;
        }
      } else if (what == 3 && !mine.empty() && mine.size() < kContext) {
        int32_t token = -1;
        const linnet_status status = linnet_decode(s.s, seq, &token, &err);
        // No logits after a rollback; no page left; a cancel that met no call.
        REQUIRE((status == LINNET_OK || status == LINNET_BAD_STATE || status == LINNET_CONTEXT_FULL || status == LINNET_CANCELLED));
        if (status == LINNET_OK) mine.push_back(token), computed = true, ++done["decode"];
      } else if (what == 4 && !mine.empty()) {
        const size_t back = deep && random() % 2 ? random() % mine.size() : random() % 40, keep = mine.size() - std::min(mine.size(), back);
        const linnet_status status = linnet_truncate(s.s, seq, keep, nullptr);
        REQUIRE((status == LINNET_OK || (!deep && status == LINNET_BAD_STATE && keep + p.n_rollback < longest[seq])));
        ++done[status == LINNET_OK ? "truncate" : "truncate refused"];
        if (status == LINNET_OK) mine.resize(keep);
        if (mine.empty()) longest[seq] = 0;
      } else if (what == 5 && !mine.empty()) {
        const size_t back = deep && random() % 2 ? random() % mine.size() : random() % 30;
        const size_t keep = random() % 2 ? mine.size() : mine.size() - std::min(mine.size(), back);
        const linnet_status status = linnet_fork(s.s, seq, other, keep, &err);
        REQUIRE((status == LINNET_OK || (!deep && status == LINNET_BAD_STATE && keep + p.n_rollback < longest[seq])));
        ++done[status == LINNET_OK ? "fork" : "fork refused"];
        if (status == LINNET_OK) {
          want[other].assign(mine.begin(), mine.begin() + static_cast<long>(keep));
          longest[other] = keep ? longest[seq] : 0;
        }
      } else if (what == 8 && !mine.empty()) {
        size_t n = 0;
        REQUIRE(linnet_state_need(s.s, seq, &n, &err) == LINNET_OK);
        std::vector<uint8_t> state(n);
        const linnet_status saved = linnet_state_save(s.s, seq, state.data(), state.size(), &n, &err);
        if (with_capacity) {
          REQUIRE((saved == LINNET_UNSUPPORTED && std::string(err.text).find("capacity") != std::string::npos));
          continue;
        }
        REQUIRE(saved == LINNET_OK);
        const linnet_status status = linnet_state_load(s.s, other, state.data(), n, &err);
        INFO(kind.name << " step " << step << ": " << err.text);
        REQUIRE((status == LINNET_OK || status == LINNET_CONTEXT_FULL));
        ++done[status == LINNET_OK ? "load" : "load refused"];
        if (status == LINNET_OK) {
          want[other] = mine;
          longest[other] = longest[seq];
          const int32_t next = static_cast<int32_t>(random() % model.desc.n_vocab);
          if (linnet_prefill(s.s, other, &next, 1, &err) == LINNET_OK) {
            want[other].push_back(next);
            REQUIRE(same_bytes(logits_of(s, other), plain(model, want[other], p)));
          }
        }
      } else if (what >= 6) {
        std::vector<Tokens> more;
        std::vector<linnet_rows> rows;
        for (int i = 0; i < 2; ++i) more.push_back(random_tokens(random, 1 + random() % 20, model.desc.n_vocab));
        rows = {{sizeof(linnet_rows), seq, more[0].size(), more[0].data()}, {sizeof(linnet_rows), other, more[1].size(), more[1].data()}};
        const linnet_status status = linnet_prefill_batch(s.s, rows.data(), 2, &err);
        REQUIRE((status == LINNET_OK || status == LINNET_CONTEXT_FULL || status == LINNET_CANCELLED));
        ++done[status == LINNET_OK ? "batch" : "batch refused"];
        if (status == LINNET_OK) {
          mine.insert(mine.end(), more[0].begin(), more[0].end());
          want[other].insert(want[other].end(), more[1].begin(), more[1].end());
          REQUIRE(same_bytes(logits_of(s, other), plain(model, want[other], p)));
          computed = true;
        } else if (status == LINNET_CONTEXT_FULL) {
          REQUIRE(linnet_truncate(s.s, seq, 0, nullptr) == LINNET_OK);
          mine.clear();
          longest[seq] = 0;
        }
      }
      if (deep && random() % 8 == 0) REQUIRE(linnet_checkpoint(s.s, seq, &err) == LINNET_OK);
      for (uint32_t i = 0; i < 3; ++i) {
        size_t n = 0;
        REQUIRE(linnet_length(s.s, i, &n, nullptr) == LINNET_OK);
        REQUIRE(n == want[i].size());
        longest[i] = std::max(longest[i], n);
      }
      INFO(kind.name << " step " << step << " seq " << seq << " of " << mine.size() << " tokens");
      if (computed) REQUIRE(same_bytes(logits_of(s, seq), plain(model, mine, p)));
    }
    std::printf("%s %s/%s:", kind.name, linnet_format_name(static_cast<linnet_format>(kind.k)),
                linnet_format_name(static_cast<linnet_format>(kind.v)));
    for (const auto& [name, n] : done) std::printf(" %s %d", name.c_str(), n);
    std::printf("\n");
    CHECK(done["LINNET_OK"] > 0);
    CHECK(done["batch"] > 0);
    CHECK((kShort || done["LINNET_CANCELLED"] > 0));
    CHECK((kShort || done["fork"] > 0));
    CHECK((kShort || done["truncate"] > 0));
    CHECK((kShort || (done["load"] > 0) != with_capacity));
    CHECK((kSanitized || (done["computed again"] > 0) == deep));
    cancelled += done["cancelled on the way"];
  }
  CHECK((kSanitized || cancelled > 0));
}

TEST_CASE("layers with a window hold the window, not the context") {
  const Model model("tests/golden/mistral-window", LINNET_I8G64), mixed("tests/golden/qwen2-window", LINNET_I8G64);
  const auto kv = [](const Model& m, uint32_t context) {
    auto p = params(LINNET_I8, 1, 16, 1, context);
    p.n_rollback = 8;
    return bytes_of(Session(m, p), "kv");
  };
  CHECK(kv(model, 1000) == kv(model, 100000));
  // Pages of a queue (window 21, a chunk of 16) and of a window at rest (rollback 8), of 2 layers with one KV head: K 16 * 64 + 64, V 16 *
  // 48 + 64.
  CHECK(kv(model, 1000) == ((21 + 16 + 15) / 16 + 1 + (21 + 8 + 15) / 16 + 1) * 2 * (16 * 64 + 64 + 16 * 48 + 64));
  CHECK(kv(mixed, 1600) - kv(mixed, 800) ==
        50 * 2 * (16 * 32 + 64 + 16 * 16 + 64));  // the one layer that sees all, two KV heads of 12 channels
}

TEST_CASE("pages in order lie in order, whatever was given back before") {
  const Model full("tests/golden/llama", LINNET_I8G64), window("tests/golden/mistral-window", LINNET_I8G64);
  // Places where the page after another one does not lie behind it.
  const auto seams = [](const Session& s) {
    const linnet::KvTable& t = s.s->cache.kv.table(0, 0);
    const linnet::KvClass& c = s.s->cache.kv.classes[0];
    uint32_t n = 0;
    for (uint32_t p = t.first + 1; p < t.end; ++p) n += t.slot[c.slot_of(p)] != t.slot[c.slot_of(p - 1)] + 1;
    return n;
  };
  Random random(5);
  Session a(full, params(LINNET_I8, 1, 64, 1, kContext));
  for (const uint32_t n : {300u, 40u, 390u}) {
    REQUIRE(linnet_truncate(a.s, 0, 0, nullptr) == LINNET_OK);
    a.prefill(random_tokens(random, n, 100));
    CHECK(a.s->cache.kv.table(0, 0).end == (n + 15) / 16);
    CHECK(seams(a) == 0);
  }
  Session b(window, params(LINNET_I8, 1, 64, 1, 4000));
  for (int i = 0; i < 60; ++i) {  // pages that the window leaves behind are taken again, round and round
    b.prefill(random_tokens(random, 20, 100));
    CHECK(seams(b) <= 1);
  }
}

namespace {

// Sets a u32 of a packed model's spec.
void set_spec(Model& model, const std::string& field, uint32_t value) {
  const std::string key = "linnet.spec." + field;
  char* at = static_cast<char*>(const_cast<void*>(model.image.view().data));
  for (size_t i = 0; i + key.size() < 65536; ++i)
    if (std::memcmp(at + i, key.data(), key.size()) == 0 && at[i + key.size()] == 4) {  // its type, u32
      std::memcpy(at + i + key.size() + 4, &value, 4);
      return;
    }
  FAIL("no field " << field);
}

// Logits after all tokens, in calls of `piece`.
Row in_pieces(const Model& model, const Tokens& tokens, const linnet_session_params& p, size_t piece) {
  const Session s(model, p);
  for (size_t at = 0; at < tokens.size(); at += piece) {
    linnet_error err{};
    check(linnet_prefill(s.s, 0, tokens.data() + at, std::min(piece, tokens.size() - at), &err), err);
  }
  return s.logits();
}

linnet_session_params full(uint32_t when, uint32_t context, uint32_t keep, uint32_t chunk, uint32_t kv, uint32_t threads = 1) {
  auto p = params(kv, threads, chunk, 1, context);
  p.when_full = when;
  p.n_keep = keep;
  return p;
}

}  // namespace

TEST_CASE("negative control: without its window the model's logits differ; dropping the oldest is that window") {
  Model with("tests/golden/mistral-window", LINNET_I8G64), without("tests/golden/mistral-window", LINNET_I8G64, 0, false);
  set_spec(without, "window", 0);
  without.open(0);
  Random random(3);
  const Tokens tokens = random_tokens(random, 100, with.desc.n_vocab), few(tokens.begin(), tokens.begin() + 20);
  const auto p = params(0, 1, 0, 1, 100);
  CHECK_FALSE(same_bytes(plain(with, tokens, p), plain(without, tokens, p)));
  CHECK(same_bytes(plain(with, few, p), plain(without, few, p)));
  for (const uint32_t chunk : {1u, 7u, 21u})
    CHECK(same_bytes(plain(with, tokens, p), in_pieces(without, tokens, full(LINNET_FULL_DROP_OLDEST, 21, 0, chunk, 0), chunk)));
}

TEST_CASE("when the context is full: what stays is what a model of one layer would see of a text without the rest") {
  // Keys and values of the first layer know nothing of other tokens, so a sequence with a hole equals one that never had what was in it.
  const char* const name = GENERATE("llama", "deepseek-v2");
  const std::string folder = std::string("tests/golden/") + name;
  Random random(8);
  Model one(folder, LINNET_F32, 0, false), nope(folder, LINNET_F32, 0, false);
  set_spec(one, "n_layers", 1);
  one.open(0);
  set_spec(nope, "n_layers", 1);
  set_spec(nope, "rope_kind", 0);
  nope.open(0);
  for (const uint32_t keep : {1u, 4u, 16u, 37u})
    for (const uint32_t total : {50u, 64u, 65u, 66u, 90u, 200u}) {
      const uint32_t context = 64;
      const Tokens tokens = random_tokens(random, total, one.desc.n_vocab);
      Tokens left(tokens.begin(), tokens.begin() + std::min(keep, total));
      if (total <= context)
        left = tokens;
      else
        left.insert(left.end(), tokens.end() - (context - keep), tokens.end());
      for (const uint32_t kv : {LINNET_F32, LINNET_I8}) {
        INFO(name << " keep " << keep << " of " << total << " kv " << kv);
        const double most = kv == LINNET_F32 ? 1e-5 : 2e-2;  // sinks are floats even where the others are not
        if (keep <= 16) {
          const Row streamed = in_pieces(one, tokens, full(LINNET_FULL_SINKS, context, keep, 8, kv), 8);
          CHECK(max_error({plain(one, left, params(kv, 1, 0, 1, 256))}, {streamed}) < most);
          if (total == 200 && kv == LINNET_F32) {  // negative control: another sink
            Tokens other = left;
            other[0] = (other[0] + 1) % static_cast<int32_t>(one.desc.n_vocab);
            CHECK(max_error({plain(one, other, params(kv, 1, 0, 1, 256))}, {streamed}) > 1e-3);
          }
        }
        if (total > nope.desc.n_context) continue;  // positions end there
        const Row dropped = in_pieces(nope, tokens, full(LINNET_FULL_DROP_OLDEST, context, keep, 8, kv), 8);
        CHECK(max_error({plain(nope, left, params(kv, 1, 0, 1, 256))}, {dropped}) < most);
      }
    }
}

TEST_CASE("when the context is full: the same bytes over chunks, threads, ISA and rollback") {
  for (const char* name : {"llama", "qwen2-window", "deepseek-v2"})
    for (const uint32_t when : {LINNET_FULL_DROP_OLDEST, LINNET_FULL_SINKS}) {
      const Model model(std::string("tests/golden/") + name, LINNET_I8G64),
          scalar(std::string("tests/golden/") + name, LINNET_I8G64, LINNET_ISA_SCALAR);
      Random random(when);
      const Tokens tokens = random_tokens(random, when == LINNET_FULL_SINKS ? (kSanitized ? 350 : 700) : 128, model.desc.n_vocab);
      const Row want = in_pieces(scalar, tokens, full(when, 48, 5, 1, LINNET_I8), 1);
      for (const uint32_t threads : {1u, 3u})
        for (const uint32_t chunk : {1u, 5u, 16u, 32u}) {
          if (kSanitized && (chunk == 1 || chunk == 16) == (threads == 1)) continue;
          auto p = full(when, 48, 5, chunk, LINNET_I8, threads);
          p.threads = LINNET_THREADS_OWN;
          INFO(name << " when_full " << when << " chunk " << chunk << " threads " << threads);
          CHECK(same_bytes(in_pieces(model, tokens, p, chunk), want));
        }
      // Wrong tokens again and again, taken back; cancelled calls; a fork.
      auto p = full(when, 48, 5, 16, LINNET_I8);
      p.n_sequences = 2;
      const Session s(model, p);
      linnet_error err{};
      for (size_t at = 0; at < tokens.size();) {
        const size_t n = std::min<size_t>(1 + random() % 16, tokens.size() - at);
        const Tokens wrong = random_tokens(random, 1 + random() % 16, model.desc.n_vocab);
        if (at + wrong.size() <= 128 || when == LINNET_FULL_SINKS) {
          check(linnet_prefill(s.s, 0, wrong.data(), wrong.size(), &err), err);
          REQUIRE(linnet_truncate(s.s, 0, at, nullptr) == LINNET_OK);
          linnet_cancel(s.s);
          REQUIRE(linnet_prefill(s.s, 0, wrong.data(), wrong.size(), &err) == LINNET_CANCELLED);
        }
        check(linnet_prefill(s.s, 0, tokens.data() + at, n, &err), err);
        at += n;
        if (random() % 4 == 0) {
          check(linnet_fork(s.s, 0, 1, at, &err), err);
          check(linnet_fork(s.s, 1, 0, at, &err), err);
        }
      }
      INFO(name << " when_full " << when);
      CHECK(same_bytes(s.logits(), want));
      const Tokens long_call = random_tokens(random, 20, model.desc.n_vocab);
      CHECK(linnet_prefill(s.s, 0, long_call.data(), long_call.size(), &err) == LINNET_CONTEXT_FULL);
      CHECK(bytes_of(s, "kv") == bytes_of(Session(model, p), "kv"));
    }
}

namespace {

// Attention of the first layer of mistral (one KV head) without RoPE, in doubles, from the packed f32 weights.
struct FirstLayer {
  uint32_t d_model, heads, dim;
  std::vector<double> embedding, q, k;  // (n, d_model)
  std::vector<double> norm;

  explicit FirstLayer(const Model& model) : d_model(model.desc.d_model), heads(model.desc.n_heads), dim(model.desc.head_dim) {
    auto gguf = std::make_unique<linnet::Gguf>();
    linnet_error err{};
    check(linnet::gguf_open(model.image.data, model.image.bytes, "image", gguf.get(), &err), err);
    linnet::ModelSpec spec;
    check(linnet::spec_read(*gguf, &spec, &err), err);
    const auto matrix = [&](linnet::Role role) {
      linnet::Matrix m;
      check(linnet::find_matrix(*gguf, role, 0, spec, &m, &err), err);
      std::vector<double> out(size_t{m.n} * m.k);
      for (uint32_t i = 0; i < m.n; ++i)
        for (uint32_t j = 0; j < m.k; ++j)
          out[size_t{i} * m.k + j] = static_cast<double>(static_cast<const float*>(m.panels)[(size_t{i / 16} * m.k + j) * 16 + i % 16]);
      return out;
    };
    embedding = matrix(linnet::kTokenEmbd);
    q = matrix(linnet::kAttnQ);
    k = matrix(linnet::kAttnK);
    const float* weight = nullptr;
    check(linnet::find_vector(*gguf, linnet::kAttnNorm, 0, spec, &weight, &err), err);
    norm.assign(weight, weight + d_model);
  }
  std::vector<double> times(const std::vector<double>& w, int32_t token) const {
    const double* x = embedding.data() + static_cast<size_t>(token) * d_model;
    double ss = 0;
    for (uint32_t i = 0; i < d_model; ++i) ss += x[i] * x[i];
    std::vector<double> y(w.size() / d_model, 0.0);
    for (size_t n = 0; n < y.size(); ++n)
      for (uint32_t i = 0; i < d_model; ++i) y[n] += w[n * d_model + i] * norm[i] * x[i] / std::sqrt(ss / d_model + 1e-5);
    return y;
  }
  // What each of `seen` draws from one query token, summed over the heads.
  std::vector<double> drawn(int32_t query, const Tokens& seen) const {
    const std::vector<double> qs = times(q, query);
    std::vector<double> sum(seen.size(), 0.0), e(seen.size());
    std::vector<std::vector<double>> keys;
    for (const int32_t t : seen) keys.push_back(times(k, t));
    for (uint32_t h = 0; h < heads; ++h) {
      double top = -1e30, all = 0;
      for (size_t t = 0; t < seen.size(); ++t) {
        e[t] = 0;
        for (uint32_t d = 0; d < dim; ++d) e[t] += qs[h * dim + d] * keys[t][d] / std::sqrt(static_cast<double>(dim));
        top = std::max(top, e[t]);
      }
      for (double& x : e) all += x = std::exp(x - top);
      for (size_t t = 0; t < seen.size(); ++t) sum[t] += e[t] / all;
    }
    return sum;
  }
};

std::unique_ptr<Model> first_layer_without_rope() {
  auto model = std::make_unique<Model>("tests/golden/mistral", LINNET_F32, 0, false);
  set_spec(*model, "n_layers", 1);
  set_spec(*model, "rope_kind", 0);
  model->open(0);
  return model;
}

}  // namespace

TEST_CASE("SnapKV keeps what the last tokens look at") {
  const auto model = first_layer_without_rope();
  const FirstLayer reference(*model);
  Random random(4);
  for (const uint32_t length : {90u, 141u, 200u}) {
    const uint32_t keep = 32;
    const Tokens tokens = random_tokens(random, length, model->desc.n_vocab);
    std::vector<double> drawn(length, 0.0);
    for (uint32_t p = length - 32; p < length; ++p) {
      const auto one = reference.drawn(tokens[p], Tokens(tokens.begin(), tokens.begin() + p + 1));
      for (size_t t = 0; t < one.size(); ++t) drawn[t] += one[t];
    }
    const uint32_t n = (length - 32) / 16 * 16;
    std::vector<std::pair<double, uint32_t>> order;
    for (uint32_t t = 0; t < n; ++t) {
      double best = 0;
      for (uint32_t j = t < 3 ? 0 : t - 3; j <= std::min(t + 3, n - 1); ++j) best = std::max(best, drawn[j]);
      order.emplace_back(-best, t);
    }
    std::sort(order.begin(), order.end());
    Tokens left, right;  // what stays, and the next best instead of the last of it
    for (uint32_t i = 0; i < keep; ++i) left.push_back(tokens[order[i].second]);
    right = left;
    right.back() = tokens[order[keep + 7].second];
    const int32_t next = 7;
    for (Tokens* t : {&left, &right}) {
      t->insert(t->end(), tokens.begin() + n, tokens.end());
      t->push_back(next);
    }
    for (const uint32_t chunk : {16u, 64u}) {
      auto p = params(LINNET_F32, 2, chunk, 1, 256);
      p.when_full = LINNET_FULL_SNAPKV;
      p.n_keep = keep;
      Session s(*model, p);
      s.prefill(tokens);
      CHECK(max_error({plain(*model, tokens, params(LINNET_F32, 1, 0, 1, 256))}, {s.logits()}) < 1e-5);  // the prompt itself saw all
      s.prefill({next});
      const Row got = s.logits();
      INFO("length " << length << " chunk " << chunk);
      CHECK(max_error({plain(*model, left, params(LINNET_F32, 1, 0, 1, 256))}, {got}) < 1e-5);
      CHECK(max_error({plain(*model, right, params(LINNET_F32, 1, 0, 1, 256))}, {got}) > 1e-5);  // negative control
    }
  }
}

TEST_CASE("heavy hitters: what drew least attention goes") {
  const auto model = first_layer_without_rope();
  const FirstLayer reference(*model);
  Random random(6);
  const uint32_t context = 64, keep = 32, rollback = 8, window = context - keep;
  auto p = params(LINNET_F32, 2, 8, 1, context);
  p.when_full = LINNET_FULL_HEAVY_HITTERS;
  p.n_keep = keep;
  p.n_rollback = rollback;
  Session s(*model, p);
  struct Slot {
    int32_t token;
    double drawn;
  };
  std::vector<Slot> kept, recent;
  uint32_t length = 0, first = keep / 16, replaced = 0;
  while (length < 128) {
    const uint32_t n = std::min(1 + random() % 8, 128 - length);
    const Tokens more = random_tokens(random, n, model->desc.n_vocab);
    s.prefill(more);
    Tokens seen;
    for (const auto* part : {&kept, &recent})
      for (const Slot& slot : *part) seen.push_back(slot.token);
    std::vector<double> drawn(kept.size() + recent.size() + n, 0.0);
    for (const int32_t token : more) {
      seen.push_back(token);
      const auto one = reference.drawn(token, seen);
      for (size_t t = 0; t < one.size(); ++t) drawn[t] += one[t];
    }
    INFO("length " << length << " + " << n);
    REQUIRE(max_error({plain(*model, seen, params(LINNET_F32, 1, 0, 1, 256))}, {s.logits()}) < 1e-5);
    for (uint32_t i = 0; i < n; ++i) recent.push_back({more[i], 0});
    for (size_t i = 0; i < drawn.size(); ++i) (i < kept.size() ? kept[i] : recent[i - kept.size()]).drawn += drawn[i];
    while (kept.size() < keep && !recent.empty()) {  // the first tokens fill the kept pages
      kept.push_back(recent.front());
      recent.erase(recent.begin());
    }
    length += n;
    const uint32_t back = length > rollback ? length - rollback : 0;
    for (; back >= window && first < (back + 1 - window) / 16; ++first)
      for (int i = 0; i < 16; ++i) {
        const auto least = std::min_element(kept.begin(), kept.end(), [](const Slot& a, const Slot& b) { return a.drawn < b.drawn; });
        if (recent.front().drawn > least->drawn) *least = recent.front(), ++replaced;
        recent.erase(recent.begin());
      }
  }
  CHECK(replaced > 3);
  std::printf("heavy hitters: %u of %u tokens that left took another's place\n", replaced, (first - keep / 16) * 16);
}

TEST_CASE("chosen tokens: cancel, rollback, forks, threads and room") {
  const Model model(GENERATE(as<std::string>{}, "tests/golden/llama", "tests/golden/deepseek-v2"), LINNET_I8G64);
  for (const uint32_t when : {LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV}) {
    Random random(when);
    auto p = params(LINNET_I8, 2, 16, 1, 176);
    p.threads = LINNET_THREADS_OWN;
    p.when_full = when;
    p.n_keep = 32;
    p.n_sequences = 2;
    p.n_pool = 192;
    const Session s(model, p);
    p.n_threads = 1;
    const Session other(model, p);
    linnet_error err{};
    const Tokens prompt = random_tokens(random, 150, model.desc.n_vocab);
    for (const Session* x : {&s, &other}) check(linnet_prefill(x->s, 0, prompt.data(), prompt.size(), &err), err);
    CHECK(same_bytes(s.logits(), other.logits()));
    INFO("when_full " << when);
    if (when == LINNET_FULL_SNAPKV) {  // 150 tokens became 32 and 38, so there is room for as many again
      CHECK(linnet_prefill(s.s, 1, prompt.data(), 110, &err) == LINNET_OK);
      CHECK(linnet_truncate(s.s, 0, 100, nullptr) == LINNET_BAD_STATE);
      REQUIRE(linnet_truncate(s.s, 1, 0, nullptr) == LINNET_OK);
    }
    for (int i = 0; i < 9; ++i) {
      const Tokens wrong = random_tokens(random, 3, model.desc.n_vocab), right = random_tokens(random, 1, model.desc.n_vocab);
      linnet_cancel(s.s);
      REQUIRE(linnet_prefill(s.s, 0, wrong.data(), wrong.size(), &err) == LINNET_CANCELLED);
      check(linnet_fork(s.s, 0, 1, 150 + static_cast<uint32_t>(i), &err), err);
      if (i < 7) check(linnet_prefill(s.s, 1, wrong.data(), wrong.size(), &err), err);  // the fork goes another way
      for (const Session* x : {&s, &other}) check(linnet_prefill(x->s, 0, right.data(), 1, &err), err);
      REQUIRE(same_bytes(s.logits(), other.logits()));
      if (i == 4 && when == LINNET_FULL_SNAPKV) {
        check(linnet_prefill(s.s, 0, wrong.data(), 2, &err), err);
        REQUIRE(linnet_truncate(s.s, 0, 155, nullptr) == LINNET_OK);
      }
    }
  }
}

TEST_CASE("cancel from another thread, at any moment of a prefill, leaves the session as it was") {
  for (const char* name : {"mistral-window", "llama", "lfm2", "qwen3-5", "granite4-h", "gemma3n"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_I8G64);
    auto p = params(LINNET_I8, 1, 16, 1, kContext);  // a core is left for the thread that cancels
    const Session s(model, p);
    Random random(17);
    const Tokens past = random_tokens(random, 70, model.desc.n_vocab), next = random_tokens(random, 3, model.desc.n_vocab);
    linnet_error first{};
    check(linnet_prefill(s.s, 0, past.data(), past.size(), &first), first);
    Tokens all = past;
    all.insert(all.end(), next.begin(), next.end());
    const Row want_past = s.logits(), want_next = plain(model, all, p);
    // How long a whole prefill takes is not measured once but followed, since others may run on the machine: a cancel that came too late
    // makes the range of delays shorter, one in time longer.
    uint32_t whole = 2000;  // microseconds
    const bool many = kFull || name == std::string("mistral-window");
    const int most = many ? kCancels : kCancels / 4;
    int cancelled = 0, tries = 0;
    for (; tries < 2 * most && cancelled < most; ++tries) {
      const Tokens more = random_tokens(random, 200 + random() % 120, model.desc.n_vocab);
      std::atomic<bool> ready{false}, go{false};
      const uint32_t delay = random() % whole;
      std::thread other([&] {
        ready = true;
        while (!go.load()) {
        }
        for (const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(delay);
             std::chrono::steady_clock::now() < until;) {
        }
        linnet_cancel(s.s);
      });
      linnet_error err{};
      while (!ready.load()) {
      }
      go = true;
      const linnet_status status = linnet_prefill(s.s, 0, more.data(), more.size(), &err);
      other.join();
      REQUIRE((status == LINNET_OK || status == LINNET_CANCELLED));
      whole = std::clamp(status == LINNET_CANCELLED ? whole + whole / 16 + 1 : whole - whole / 8, 1U, 1000000U);
      if (status == LINNET_CANCELLED) {
        ++cancelled;
        REQUIRE(s.length() == past.size());
        REQUIRE(same_bytes(s.logits(), want_past));
        check(linnet_prefill(s.s, 0, next.data(), next.size(), &err), err);
        REQUIRE(same_bytes(s.logits(), want_next));
        REQUIRE(linnet_truncate(s.s, 0, past.size(), nullptr) == LINNET_OK);
      } else {  // the cancel came too late: it stops the next call, and the sequence begins again
        int32_t token = 0;
        REQUIRE((linnet_decode(s.s, 0, &token, &err) == LINNET_CANCELLED || s.length() > past.size()));
        REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
      }
      if (s.length() != past.size() || linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK) {
        check(linnet_prefill(s.s, 0, past.data(), past.size(), &err), err);
        REQUIRE(same_bytes(s.logits(), want_past));
      }
    }
    std::printf("%s: %d of %d prefills cancelled on the way\n", name, cancelled, tries);
    CHECK(cancelled > most / 50);  // few where the machine is busy: the other thread comes too late
  }
}

TEST_CASE("rows have the same bits whoever shares the batch") {
  const Model model("tests/golden/qwen2-window", LINNET_I8G128);
  auto p = params(LINNET_I8, 2, 32, 1, kContext);
  p.n_sequences = 8;
  const Session s(model, p);
  Random random(9);
  std::vector<Tokens> tokens(8);
  std::vector<linnet_rows> rows;
  for (uint32_t i = 0; i < 8; ++i) tokens[i] = random_tokens(random, 1 + random() % 70, model.desc.n_vocab);
  for (uint32_t i = 0; i < 8; ++i) rows.push_back({sizeof(linnet_rows), 7 - i, tokens[7 - i].size(), tokens[7 - i].data()});
  linnet_error err{};
  check(linnet_prefill_batch(s.s, rows.data(), 8, &err), err);
  for (int round = 0; round < 5; ++round) {
    for (uint32_t i = 0; i < 8; ++i) REQUIRE(same_bytes(logits_of(s, i), plain(model, tokens[i], p)));
    std::vector<int32_t> next(8);
    for (uint32_t i = 0; i < 8; ++i) {
      REQUIRE(linnet_sample(s.s, i, &next[i], &err) == LINNET_OK);
      tokens[i].push_back(next[i]);
      rows[i] = {sizeof(linnet_rows), i, 1, &next[i]};
    }
    check(linnet_prefill_batch(s.s, rows.data(), 8, &err), err);
  }
}

TEST_CASE("forks: independent draws, shared pages, errors by name") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  auto p = params(LINNET_I8, 1, 16, 1, 160);
  p.n_sequences = 4;
  p.n_pool = 176;
  const Session s(model, p);
  Random random(2);
  const Tokens prompt = random_tokens(random, 120, model.desc.n_vocab);
  linnet_error err{};
  check(linnet_prefill(s.s, 0, prompt.data(), prompt.size(), &err), err);
  const auto drawing = sampling(1, 4);
  check(linnet_sampling_set(s.s, 0, &drawing, &err), err);
  for (uint32_t to = 1; to < 4; ++to) check(linnet_fork(s.s, 0, to, prompt.size(), &err), err);  // four times 120 tokens in 176 positions
  Tokens drawn[4];
  for (int i = 0; i < 8; ++i)
    for (uint32_t seq = 0; seq < 4; ++seq) {
      int32_t token = 0;
      const linnet_status status = linnet_decode(s.s, seq, &token, &err);
      check(status, err);
      drawn[seq].push_back(token);
    }
  for (uint32_t seq = 1; seq < 4; ++seq) CHECK(drawn[seq] == drawn[0]);  // the random state came along
  int32_t token = 0;
  linnet_status status = LINNET_OK;
  for (int i = 0; i < 120 && status == LINNET_OK; ++i) status = linnet_decode(s.s, static_cast<uint32_t>(i) % 4, &token, &err);
  CHECK(status == LINNET_CONTEXT_FULL);
  CHECK(std::string(err.text).find("pool of 176") != std::string::npos);
  REQUIRE(linnet_truncate(s.s, 3, 0, nullptr) == LINNET_OK);
  CHECK(linnet_decode(s.s, 2, &token, &err) == LINNET_OK);  // there is room again

  CHECK(linnet_fork(s.s, 0, 0, 1, &err) == LINNET_BAD_ARG);
  CHECK(linnet_fork(s.s, 0, 4, 1, &err) == LINNET_BAD_ARG);
  CHECK(linnet_fork(s.s, 0, 1, 10000, &err) == LINNET_BAD_ARG);
  const linnet_rows twice[2] = {{sizeof *twice, 1, 1, prompt.data()}, {sizeof *twice, 1, 1, prompt.data()}};
  CHECK(linnet_prefill_batch(s.s, twice, 2, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("named twice") != std::string::npos);
  CHECK(linnet_prefill_batch(s.s, twice, 0, &err) == LINNET_BAD_ARG);
  CHECK(linnet_prefill(s.s, 9, prompt.data(), 1, &err) == LINNET_BAD_ARG);
}

TEST_CASE("KV formats of single layers, and what is refused") {
  const Model model("tests/golden/llama-mha-linear", LINNET_I8G128);  // 4 layers
  Random random(1);
  const Tokens tokens = random_tokens(random, 100, model.desc.n_vocab);
  const linnet_kv_layers layers[] = {{sizeof *layers, 0, 3, LINNET_F32, 0}, {sizeof *layers, 1, 2, LINNET_I8, LINNET_F16}};
  auto p = params(LINNET_I8, 1, 32, 1, 128);
  p.kv_layers = layers;
  p.n_kv_layers = 1;
  const auto all_f32 = plain(model, tokens, params(LINNET_F32, 1, 32, 1, 128));
  CHECK(same_bytes(plain(model, tokens, p), all_f32));
  p.n_kv_layers = 2;
  const Row some = plain(model, tokens, p);
  CHECK_FALSE(same_bytes(some, all_f32));
  CHECK(kl(all_f32, some) < 5e-3);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  const auto refused = [&](linnet_kv_layers l, linnet_status status, const char* word) {
    l.size = sizeof l;
    p.kv_layers = &l;
    p.n_kv_layers = 1;
    CHECK(linnet_session_need(model.m, &p, &need, &err) == status);
    CHECK(std::string(err.text).find(word) != std::string::npos);
  };
  refused({0, 0, 4, LINNET_F32, 0}, LINNET_BAD_ARG, "layers 0..4");
  refused({0, 2, 1, LINNET_F32, 0}, LINNET_BAD_ARG, "layers 2..1");
  refused({0, 0, 1, LINNET_I4G64, 0}, LINNET_UNSUPPORTED, "i4g64");
  refused({0, 0, 1, 0, 99}, LINNET_UNSUPPORTED, "99");

  // A latent is K and V in one.
  const Model latent("tests/golden/deepseek-v2", LINNET_I8G128);
  auto q = params(LINNET_I8, 1, 32, 1, 128);
  q.v_format = LINNET_F16;
  CHECK(linnet_session_need(latent.m, &q, &need, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("V format f16 beside K format i8 in layer 0") != std::string::npos);
  const linnet_kv_layers second = {sizeof second, 1, 1, LINNET_BF16, LINNET_F32}, both = {sizeof both, 1, 1, LINNET_BF16, LINNET_BF16};
  q.v_format = 0;
  q.n_kv_layers = 1;
  q.kv_layers = &second;
  CHECK(linnet_session_need(latent.m, &q, &need, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("V format f32 beside K format bf16 in layer 1") != std::string::npos);
  q.kv_layers = &both;
  CHECK(kl(plain(latent, tokens, params(LINNET_F32, 1, 32, 1, 128)), plain(latent, tokens, q)) < 5e-3);
}

TEST_CASE("a window that moves is no chunk, even where both are as long") {
  const Model model("tests/golden/llama4", LINNET_I8G64);  // chunks of 18 in layers 0, 1 and 3
  auto p = params(LINNET_I8, 1, 4, 1, 18);
  p.when_full = LINNET_FULL_DROP_OLDEST;  // layer 2 sees the last 18
  const Session s(model, p);
  const linnet::KvCache& kv = s.s->cache.kv;
  CHECK((kv.n_classes == 2 && kv.class_of[2] != kv.class_of[0] && kv.class_of[3] == kv.class_of[0]));
  CHECK((kv.classes[kv.class_of[0]].chunked && !kv.classes[kv.class_of[2]].chunked));
}
