// The prefix cache behind the C ABI: whatever was kept and dropped, a sequence that begins by a match has the logits of one that was
// computed as a whole; and what is kept is found.
#include <linnet_serve.h>

#include <algorithm>
#include <map>
#include <random>

#include "runtime/cache/prefix.h"
#include "tests/models.h"

using namespace test;

namespace {

constexpr uint32_t kContext = 300;

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  uint32_t operator()(uint32_t n) { return static_cast<uint32_t>(engine()) % n; }
};

size_t need_of(const Session& s, size_t budget) {
  linnet_need need{};
  need.size = sizeof need;
  linnet_error err{};
  check(linnet_prefix_need(s.s, budget, &need, &err), err);
  return static_cast<size_t>(need.bytes);
}

struct Prefix {
  size_t bytes;
  Memory memory;
  linnet_prefix* p = nullptr;
  Prefix(const Session& s, size_t budget) : bytes(need_of(s, budget)), memory(bytes) {
    REQUIRE(bytes <= budget);
    linnet_error err{};
    check(linnet_prefix_init(&p, memory.p, bytes, s.s, &err), err);
  }
  linnet_prefix_desc info() const {
    linnet_prefix_desc d{};
    d.size = sizeof d;
    REQUIRE(linnet_prefix_info(p, &d, nullptr) == LINNET_OK);
    return d;
  }
};

Row logits_of(const Session& s, uint32_t seq) {
  const float* p = nullptr;
  size_t n = 0;
  REQUIRE(linnet_logits(s.s, seq, 0, &p, &n, nullptr) == LINNET_OK);
  return Row(p, p + n);
}

// Logits of sequences from a session of its own that computes each as a whole, once.
struct Plain {
  const Session s;
  std::map<Tokens, Row> seen;
  Plain(const Model& model, linnet_session_params p)
      : s(model, [&] {
          p.n_sequences = 1;
          p.n_pool = 0;
          p.n_chunk = 64;
          return p;
        }()) {}
  const Row& operator()(const Tokens& tokens) {
    Row& row = seen[tokens];
    if (row.empty()) {
      linnet_error err{};
      check(linnet_truncate(s.s, 0, 0, &err), err);
      check(linnet_prefill(s.s, 0, tokens.data(), tokens.size(), &err), err);
      row = logits_of(s, 0);
    }
    return row;
  }
};

Tokens tokens_of(const Session& s, uint32_t seq) {
  size_t n = 0;
  REQUIRE(linnet_length(s.s, seq, &n, nullptr) == LINNET_OK);
  Tokens t(n);
  REQUIRE(linnet_tokens(s.s, seq, 0, t.data(), n, &n, nullptr) == LINNET_OK);
  return t;
}

size_t common(const Tokens& a, const Tokens& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i;
}

// What was kept; less than that after a drop, and then not surely a place to go on from in models with windows.
struct Kept {
  Tokens tokens;
  bool surely = true;
};
// How much of a prompt must be in a cache that has dropped nothing by itself, and may be: with states the longest that was kept, as a
// whole; where all layers keep all pages any beginning of any.
struct Expected {
  size_t least = 0, most = 0;
};
Expected expected(const std::vector<Kept>& kept, const Tokens& prompt, bool states, bool windows) {
  Expected e;
  for (const Kept& k : kept) {
    const size_t same = common(k.tokens, prompt);
    const bool whole = same == k.tokens.size();
    if (k.surely && (whole || (!states && !windows))) e.least = std::max(e.least, same);
    if (whole || !states) e.most = std::max(e.most, same);
  }
  return e;
}
// After tokens[0, n) of a sequence were dropped: nodes are of 16 tokens, and a shorter sequence may be in a longer one's.
void forget(std::vector<Kept>& kept, const Tokens& of, size_t n, bool states, bool windows) {
  if (n == 0) return kept.clear();
  const size_t stays = (n - 1) / 16 * 16;
  std::erase_if(kept, [&](const Kept& k) { return states && common(k.tokens, of) >= n; });
  for (Kept& k : kept) {
    const size_t same = common(k.tokens, of);
    if (states || same <= stays) continue;
    if (same >= n) k = {Tokens(k.tokens.begin(), k.tokens.begin() + static_cast<ptrdiff_t>(stays)), k.surely && !windows};
    if (same < n && same == k.tokens.size()) k.surely = false;
  }
}

struct Kind {
  const char* name;
  uint32_t k, v;
  bool states, windows;
};
constexpr Kind kKinds[] = {{"llama", LINNET_I8, LINNET_I8, false, false},         {"llama", LINNET_F32, LINNET_F8E4M3, false, false},
                           {"mistral-window", LINNET_I8, LINNET_I8, false, true}, {"qwen2-window", LINNET_F8E4M3, LINNET_F16, false, true},
                           {"deepseek-v2", LINNET_I8, LINNET_I8, false, false},   {"mixtral", LINNET_I8, LINNET_I8, false, false},
                           {"llama4", LINNET_I8, LINNET_F16, false, true},        {"gemma4-e2b", LINNET_I8, LINNET_I8, false, true},
                           {"gemma3n", LINNET_I8, LINNET_I8, false, true},        {"lfm2", LINNET_I8, LINNET_I8, true, false},
                           {"qwen3-5", LINNET_I8, LINNET_F16, true, false},       {"granite4-h", LINNET_I8, LINNET_I8, true, false},
                           {"mamba2", LINNET_I8, LINNET_I8, true, false},         {"lfm3", LINNET_I8, LINNET_I8, true, true}};

linnet_session_params session_of(const Kind& kind) {
  auto p = params(kind.k, 2, 16, 1, kContext);
  p.v_format = kind.v;
  p.n_sequences = 3;
  p.n_rollback = 24;
  return p;
}

// What one page and one state take, roughly: from the least budget that is taken.
size_t least_budget(const Session& s) {
  linnet_need need{};
  need.size = sizeof need;
  size_t low = 1, high = size_t{64} << 20;
  while (low + 1 < high) {
    const size_t middle = (low + high) / 2;
    (linnet_prefix_need(s.s, middle, &need, nullptr) == LINNET_OK ? high : low) = middle;
  }
  return high;
}

}  // namespace

TEST_CASE("random walk: what begins by a match has the bytes of what was computed as a whole, under any budget") {
  const int n_steps = kSanitized ? 60 : 250;
  for (const Kind& kind : kKinds) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    const auto p = session_of(kind);
    const Session s(model, p);
    Plain plain(model, p);
    const size_t least = least_budget(s);
    for (const size_t budget : {least, 4 * least, 20 * least, size_t{48} << 20}) {
      const Prefix cache(s, budget);
      const bool ample = budget == size_t{48} << 20;
      Random random(static_cast<uint32_t>(budget) + 3);
      std::vector<Kept> kept;
      std::vector<Tokens> prompts;
      size_t taken_in_all = 0, matches = 0;
      linnet_error err{};
      CAPTURE(kind.name, kind.k, budget, least);
      for (int step = 0; step < n_steps; ++step) {
        const uint32_t seq = random(3);
        Tokens prompt;
        if (!prompts.empty() && random(5)) {
          const Tokens& like = prompts[random(static_cast<uint32_t>(prompts.size()))];
          prompt.assign(like.begin(), like.begin() + 1 + random(static_cast<uint32_t>(like.size())));
        }
        const uint32_t more = 1 + random(random(3) ? 20 : 90);
        for (uint32_t i = 0; i < more && prompt.size() < kContext - 8; ++i)
          prompt.push_back(static_cast<int32_t>(random(model.desc.n_vocab)));
        size_t taken = 99;
        check(linnet_prefix_match(cache.p, s.s, seq, prompt.data(), prompt.size() - 1, &taken, &err), err);
        REQUIRE(taken < prompt.size());
        REQUIRE(tokens_of(s, seq) == Tokens(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(taken)));
        if (ample) {
          const Expected e = expected(kept, Tokens(prompt.begin(), prompt.end() - 1), kind.states, kind.windows);
          REQUIRE(cache.info().n_dropped == 0);
          REQUIRE(taken >= e.least);
          REQUIRE(taken <= e.most);
        }
        taken_in_all += taken;
        matches += taken > 0;
        const auto prefill = [&](size_t to) {
          const size_t from = tokens_of(s, seq).size();
          check(linnet_prefill(s.s, seq, prompt.data() + from, to - from, &err), err);
        };
        const auto keep = [&] {
          size_t n = 0;
          check(linnet_prefix_keep(cache.p, s.s, seq, &n, &err), err);
          const Tokens all = tokens_of(s, seq);
          REQUIRE(n <= all.size());
          if (ample) REQUIRE(n == all.size());
          if (ample) kept.push_back({all});
        };
        if (prompt.size() - taken > 2 && random(3) == 0) {  // where others may part from it
          prefill(taken + 1 + random(static_cast<uint32_t>(prompt.size() - taken - 1)));
          keep();
        }
        prefill(prompt.size());
        REQUIRE(same_bytes(logits_of(s, seq), plain(prompt)));
        if (random(2)) keep();
        if (random(3) == 0) {  // it goes on, and what was kept of it stays as it was
          for (uint32_t i = 1 + random(6); i-- > 0;) {
            int32_t token = 0;
            check(linnet_decode(s.s, seq, &token, &err), err);
            prompt.push_back(token);
          }
          REQUIRE(same_bytes(logits_of(s, seq), plain(prompt)));
          if (random(2)) keep();
          if (random(2)) {
            const size_t cut = prompt.size() - random(static_cast<uint32_t>(std::min<size_t>(prompt.size(), p.n_rollback)));
            if (cut && linnet_truncate(s.s, seq, cut - 1, nullptr) == LINNET_OK) {
              check(linnet_prefill(s.s, seq, &prompt[cut - 1], 1, &err), err);
              prompt.resize(cut);
              REQUIRE(same_bytes(logits_of(s, seq), plain(prompt)));
            }
          }
        }
        prompts.push_back(prompt);
        if (random(40) == 0) {
          const Tokens& of = prompts[random(static_cast<uint32_t>(prompts.size()))];
          const size_t n = random(4) ? 1 + random(static_cast<uint32_t>(of.size())) : 0;
          check(linnet_prefix_drop(cache.p, of.data(), n, &err), err);
          forget(kept, of, n, kind.states, kind.windows);
          if (n == 0) REQUIRE(cache.info().n_nodes == 0);
          if (n == 0) REQUIRE(cache.info().used_bytes == 0);
        }
      }
      if (budget != least) CHECK(matches > (budget == 4 * least ? 0 : static_cast<size_t>(n_steps) / 10));
      if (ample) CHECK(taken_in_all > static_cast<size_t>(n_steps) * (kind.states ? 1 : 5));
      if (budget == least) CHECK(cache.info().n_dropped > 0);
    }
  }
}

namespace {

Tokens counting(uint32_t n) {
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(3 + i % 50));
  return t;
}

size_t keep(const Prefix& cache, const Session& s, uint32_t seq) {
  size_t n = 0;
  linnet_error err{};
  check(linnet_prefix_keep(cache.p, s.s, seq, &n, &err), err);
  return n;
}
size_t match(const Prefix& cache, const Session& s, uint32_t seq, const Tokens& tokens) {
  size_t n = 0;
  linnet_error err{};
  check(linnet_prefix_match(cache.p, s.s, seq, tokens.data(), tokens.size(), &n, &err), err);
  return n;
}
void prefill(const Session& s, uint32_t seq, const Tokens& tokens, size_t from = 0) {
  linnet_error err{};
  check(linnet_prefill(s.s, seq, tokens.data() + from, tokens.size() - from, &err), err);
}

}  // namespace

TEST_CASE("sessions of one model share a cache: other threads, chunks and numbers of sequences") {
  for (const Kind& kind : {kKinds[0], kKinds[10]}) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    auto p = session_of(kind);
    const Session a(model, p);
    p.n_threads = 1;
    p.n_chunk = 7;
    p.n_sequences = 1;
    p.n_context = 200;
    p.n_rollback = 3;
    const Session b(model, p);
    const Prefix cache(a, size_t{1} << 20);
    const Tokens tokens = counting(120);
    prefill(a, 1, Tokens(tokens.begin(), tokens.begin() + 90));
    CHECK(keep(cache, a, 1) == 90);
    CHECK(match(cache, b, 0, tokens) == 90);
    prefill(b, 0, tokens, 90);
    prefill(a, 1, tokens, 90);
    CHECK(same_bytes(logits_of(b, 0), logits_of(a, 1)));
    CHECK(cache.info().n_states == (kind.states ? 1 : 0));
  }
}

TEST_CASE("negative control: a byte that changes in a page or a state is seen in the logits") {
  for (const Kind& kind : {kKinds[0], kKinds[12]}) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    const Session s(model, session_of(kind));
    const Prefix cache(s, size_t{256} << 10);
    const Tokens tokens = counting(49);
    prefill(s, 0, Tokens(tokens.begin(), tokens.begin() + 48));
    CHECK(keep(cache, s, 0) == 48);
    prefill(s, 0, tokens, 48);
    const Row right = logits_of(s, 0);
    CHECK(match(cache, s, 1, tokens) == 48);
    prefill(s, 1, tokens, 48);
    CHECK(same_bytes(logits_of(s, 1), right));
    for (size_t i = 0; i < cache.p->unit_bytes; ++i) cache.p->units[i] ^= 0x10;
    CHECK(match(cache, s, 1, tokens) == 48);
    prefill(s, 1, tokens, 48);
    CHECK_FALSE(same_bytes(logits_of(s, 1), right));
  }
}

TEST_CASE("what does not fit is refused by name, and leaves all as it was") {
  const Model model("tests/golden/llama", LINNET_I8G64), other("tests/golden/qwen2-window", LINNET_I8G64);
  auto p = session_of(kKinds[0]);
  p.n_pool = kContext;
  const Session s(model, p);
  const Prefix cache(s, size_t{1} << 20);
  linnet_error err{};
  linnet_need need{};
  need.size = sizeof need;
  size_t n = 77;

  CHECK(linnet_prefix_need(s.s, 100, &need, &err) == LINNET_TOO_SMALL);
  CHECK_THAT(err.text, Contains("100 bytes do not hold one page"));
  const Memory small(4096);
  linnet_prefix* none = nullptr;
  CHECK(linnet_prefix_init(&none, small.p, 4096, s.s, &err) == LINNET_TOO_SMALL);
  CHECK(none == nullptr);
  CHECK(linnet_prefix_init(&none, static_cast<char*>(small.p) + 1, 4000, s.s, &err) == LINNET_BAD_ARG);
  CHECK(linnet_prefix_need(nullptr, 100, &need, &err) == LINNET_BAD_ARG);

  const Tokens tokens = counting(100);
  const Session window(other, session_of(kKinds[3]));
  CHECK(linnet_prefix_keep(cache.p, window.s, 0, &n, &err) == LINNET_BAD_ARG);
  CHECK_THAT(err.text, Contains("another model"));
  auto of_f16 = p;
  of_f16.k_format = LINNET_F16;
  const Session halves(model, of_f16);
  CHECK(linnet_prefix_match(cache.p, halves.s, 0, tokens.data(), 5, &n, &err) == LINNET_BAD_ARG);
  auto of_kivi = p;
  of_kivi.k_format = of_kivi.v_format = LINNET_KIVI4;
  const Session kivi(model, of_kivi);
  CHECK(linnet_prefix_need(kivi.s, 1 << 20, &need, &err) == LINNET_UNSUPPORTED);
  auto drops = p;
  drops.n_pool = 0;
  drops.when_full = LINNET_FULL_SINKS;
  const Session sinks(model, drops);
  CHECK(linnet_prefix_need(sinks.s, 1 << 20, &need, &err) == LINNET_UNSUPPORTED);
  CHECK_THAT(err.text, Contains("when_full is 3"));
  const Model capacity("tests/golden/switch", LINNET_I8G64);
  const Session experts(capacity, session_of(kKinds[0]));
  CHECK(linnet_prefix_need(experts.s, 1 << 20, &need, &err) == LINNET_UNSUPPORTED);

  CHECK(linnet_prefix_keep(cache.p, s.s, 3, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_prefix_match(cache.p, s.s, 0, nullptr, 1, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_prefix_match(cache.p, s.s, 0, tokens.data(), SIZE_MAX, &n, &err) == LINNET_BAD_ARG);
  CHECK(linnet_prefix_drop(cache.p, nullptr, 1, &err) == LINNET_BAD_ARG);
  CHECK(keep(cache, s, 0) == 0);  // of an empty sequence there is nothing
  CHECK(match(cache, s, 0, tokens) == 0);
  CHECK(match(cache, s, 0, {}) == 0);

  // No room in the session's pool: 100 tokens are kept, sequence 1 takes most of it.
  prefill(s, 0, tokens);
  CHECK(keep(cache, s, 0) == 100);
  check(linnet_truncate(s.s, 0, 0, &err), err);
  prefill(s, 1, counting(250));
  const Row before = logits_of(s, 1);
  prefill(s, 2, counting(20));
  const Row mine = logits_of(s, 2);
  CHECK(linnet_prefix_match(cache.p, s.s, 2, tokens.data(), 100, &n, &err) == LINNET_CONTEXT_FULL);
  CHECK_THAT(err.text, Contains("no room for 100 tokens"));
  CHECK(same_bytes(logits_of(s, 2), mine));
  CHECK(same_bytes(logits_of(s, 1), before));
  CHECK(match(cache, s, 2, counting(30)) == 30);
}

TEST_CASE("a token that waits to be computed is not kept, and a sequence can be cut behind a match") {
  for (const Kind& kind : {kKinds[0], kKinds[9]}) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    const Session s(model, session_of(kind));
    const Prefix cache(s, size_t{4} << 20);
    prefill(s, 0, counting(40));
    linnet_generate_params g{};
    g.size = sizeof g;
    g.max_tokens = 5;
    g.ignore_eos = 1;
    linnet_generated out{};
    out.size = sizeof out;
    linnet_error err{};
    check(linnet_generate(s.s, 0, &g, nullptr, nullptr, &out, &err), err);
    const Tokens all = tokens_of(s, 0);
    REQUIRE(all.size() == 45);
    CHECK(keep(cache, s, 0) == 44);
    CHECK(match(cache, s, 1, all) == 44);
    const size_t cut = 10;
    check(linnet_truncate(s.s, 1, cut, &err), err);
    prefill(s, 1, all, cut);
    prefill(s, 2, all);
    CHECK(same_bytes(logits_of(s, 1), logits_of(s, 2)));
  }
}

TEST_CASE("exported pieces go to another cache, whole and from a token on, and what is damaged is refused") {
  for (const Kind& kind : {kKinds[0], kKinds[2], kKinds[10], kKinds[13]}) {
    const Model model(std::string("tests/golden/") + kind.name, LINNET_I8G64);
    const Session s(model, session_of(kind));
    const Prefix from(s, size_t{16} << 20);
    linnet_error err{};
    const Tokens tokens = counting(90);
    prefill(s, 0, Tokens(tokens.begin(), tokens.begin() + 40));
    CHECK(keep(from, s, 0) == 40);
    prefill(s, 0, tokens, 40);
    CHECK(keep(from, s, 0) == 90);
    const auto exported = [&](size_t n, size_t first, size_t to) {
      size_t bytes = 0, there = 0;
      CHECK(linnet_prefix_export(from.p, tokens.data(), n, first, nullptr, 0, &bytes, &there, &err) == LINNET_TOO_SMALL);
      std::string out(bytes, '\0');
      check(linnet_prefix_export(from.p, tokens.data(), n, first, out.data(), bytes, &bytes, &there, &err), err);
      CHECK(bytes == out.size());
      CHECK(there == to);
      return out;
    };
    const std::string whole = exported(90, 0, 90), begin = exported(64, 0, 64), end = exported(90, 64, 90);
    size_t n = 0;
    CHECK(linnet_prefix_export(from.p, tokens.data(), 90, 8, nullptr, 0, &n, &n, &err) == LINNET_BAD_ARG);
    Tokens next = tokens;
    next.push_back(1);
    prefill(s, 0, next, 90);
    const Row right = logits_of(s, 0);
    const auto goes_on = [&](const Prefix& cache) {
      CHECK(match(cache, s, 1, tokens) == 90);
      prefill(s, 1, next, 90);
      CHECK(same_bytes(logits_of(s, 1), right));
    };
    {
      const Prefix to(s, size_t{16} << 20);
      check(linnet_prefix_import(to.p, whole.data(), whole.size(), &n, &err), err);
      CHECK(n == 90);
      goes_on(to);
      const linnet_prefix_desc before = to.info();
      check(linnet_prefix_import(to.p, whole.data(), whole.size(), nullptr, &err), err);  // is there already
      CHECK(to.info().used_bytes == before.used_bytes);
    }
    const Prefix to(s, size_t{16} << 20);
    CHECK(linnet_prefix_import(to.p, end.data(), end.size(), &n, &err) == LINNET_BAD_STATE);
    CHECK_THAT(err.text, Contains("from token 64 on: those before them are there up to token 0"));
    check(linnet_prefix_import(to.p, begin.data(), begin.size(), &n, &err), err);
    CHECK(n == 64);
    check(linnet_prefix_import(to.p, end.data(), end.size(), &n, &err), err);
    CHECK(n == 90);
    goes_on(to);

    // Any byte that changes, and any length but the right one.
    const linnet_prefix_desc before = to.info();
    for (size_t i = 0; i < whole.size(); i += i < 600 ? 1 : 509) {
      std::string bad = whole;
      bad[i] = static_cast<char>(bad[i] ^ 0x40);
      const linnet_status status = linnet_prefix_import(to.p, bad.data(), bad.size(), &n, &err);
      CHECK((status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED));
      CHECK(linnet_prefix_import(to.p, whole.data(), i, &n, &err) == LINNET_BAD_FILE);
    }
    CHECK(linnet_prefix_import(to.p, (whole + '\0').data(), whole.size() + 1, &n, &err) == LINNET_BAD_FILE);
    CHECK(to.info().n_nodes == before.n_nodes);
    CHECK(to.info().used_bytes == before.used_bytes);

    // Into one that is too small for all.
    const Prefix small(s, 3 * least_budget(s));
    check(linnet_prefix_import(small.p, whole.data(), whole.size(), &n, &err), err);
    CHECK((kind.states || n < 90));  // a state has the room of many pages
    CHECK(match(small, s, 2, tokens) <= n);
  }
  const Model llama("tests/golden/llama", LINNET_I8G64);
  auto p = session_of(kKinds[0]);
  const Session a(llama, p);
  p.v_format = LINNET_F16;
  const Session b(llama, p);
  const Prefix of_a(a, size_t{1} << 20), of_b(b, size_t{1} << 20);
  prefill(a, 0, counting(20));
  CHECK(keep(of_a, a, 0) == 20);
  std::string bytes(size_t{1} << 20, '\0');
  size_t n = 0;
  linnet_error err{};
  const Tokens tokens = counting(20);
  check(linnet_prefix_export(of_a.p, tokens.data(), 20, 0, bytes.data(), bytes.size(), &n, nullptr, &err), err);
  CHECK(linnet_prefix_import(of_b.p, bytes.data(), n, nullptr, &err) == LINNET_UNSUPPORTED);
  CHECK_THAT(err.text, Contains("other KV formats"));
  check(linnet_prefix_export(of_b.p, tokens.data(), 20, 0, bytes.data(), bytes.size(), &n, nullptr, &err), err);  // of nothing
  check(linnet_prefix_import(of_b.p, bytes.data(), n, nullptr, &err), err);
}
