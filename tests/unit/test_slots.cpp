// States beside the pages: a made-up layer whose state depends on every token before it and on their order goes through random calls, cut
// into chunks, cancelled, rolled back (from checkpoints on the tokens are computed again, in calls that may be cancelled too), forked,
// saved and loaded. Behind every token its state must be the one of a plain loop over all tokens of the sequence, to the bit.
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "runtime/backend.h"
#include "runtime/cache/cache.h"
#include "tests/catch2.h"
#include "tests/models.h"

using namespace linnet;

namespace {

constexpr uint32_t kLayers = 4, kSequences = 3, kContext = 4000;

// Layer 0 has pages alone, 1 and 3 a state alone, 2 both.
CacheLayer layer_of(const void*, uint32_t i) {
  CacheLayer l = {.k = LINNET_F32, .v = LINNET_F32, .n_heads = 1, .n_kv_heads = i % 2 ? 0u : 1u, .head_dim = 2, .latent = 0, .window = 0};
  if (i) l.slot = {.state_floats = 2 * i + 1, .row_floats = i};
  return l;
}

// What the layer makes of a token, and how that carries a state on.
float row_value(uint32_t layer, int32_t token, uint32_t j) { return static_cast<float>(token * 7 + static_cast<int32_t>(layer + j)); }
void step(const SlotPlan& p, const float* from, const float* row, float* to) {
  for (uint32_t j = 0; j < p.state_floats; ++j) to[j] = from[j] * 0.75f + row[j % p.row_floats] + static_cast<float>(j);
}

std::vector<float> plain(uint32_t layer, const SlotPlan& p, const std::vector<int32_t>& tokens, size_t n) {
  std::vector<float> state(p.state_floats, 0), row(p.row_floats);
  for (size_t t = 0; t < n; ++t) {
    for (uint32_t j = 0; j < p.row_floats; ++j) row[j] = row_value(layer, tokens[t], j);
    step(p, state.data(), row.data(), state.data());
  }
  return state;
}

// A cache in memory that held something else before.
struct Held {
  Cache cache{};
  test::Memory memory;
  static size_t bytes(const CachePlan& plan) {
    Arena counted;
    Cache c{};
    REQUIRE(c.layout_in(counted, counted, plan));
    return counted.used();
  }
  Held(const CachePlan& plan, int fill) : memory(bytes(plan), fill) {
    Arena arena(memory.p, bytes(plan));
    REQUIRE(cache.layout_in(arena, arena, plan));
    CHECK(arena.used() == bytes(plan));  // what was counted, to the byte
    cache.reset(nullptr);
  }
};

struct Written : SavedTo {
  std::vector<uint8_t> bytes;
  Written()
      : SavedTo{[](SavedTo& to, const void* data, size_t n) {
          const auto* p = static_cast<const uint8_t*>(data);
          std::vector<uint8_t>& all = static_cast<Written&>(to).bytes;
          all.insert(all.end(), p, p + n);
        }} {}
};

// A saved sequence without its file.
struct Saved {
  std::vector<int32_t> tokens;
  uint32_t cached = 0;
  uint32_t longest = 0;
  std::vector<CachePart> rows;
  std::vector<std::vector<uint8_t>> parts;
};

struct Sequence {
  std::vector<int32_t> tokens;
  uint32_t cached = 0;   // the others are to be computed again
  uint32_t longest = 0;  // since it was empty: what a rollback counts from
  uint32_t loaded = 0;   // no checkpoints before this token
  uint32_t first = 0;    // the first checkpoint, or 0
};

struct Walk {
  CachePlan plan;
  Held of;
  Sequence seqs[kSequences];
  std::mt19937 random;
  std::map<std::string, int> done;
  bool wrong_order = false;  // the layer goes through its rows as it must not
  bool wrong_place = false;  // checkpoints are said to be a token before where they are

  Walk(uint32_t n_rollback, uint32_t seed, uint32_t n_checkpoints = 0, uint32_t every = 1)
      : plan{kLayers,      kSequences, kContext, kContext * kSequences, 64,   n_rollback, LINNET_FULL_STOP, 0, false,
             &cpu_backend, nullptr,    layer_of, n_checkpoints,         every},
        of(plan, seed % 2 ? 0xFF : 0xA5),
        random(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random() % n); }

  // The pass of the layers with a state. Whether all states are the plain loop's.
  bool pass(uint32_t seq, uint32_t position, uint32_t n) {
    const std::vector<int32_t>& tokens = seqs[seq].tokens;
    bool right = true;
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const SlotPlan p = layer_of(nullptr, layer).slot;
      if (!p.state_floats) continue;
      const SlotView v = of.cache.slots.view(seq, layer);
      std::vector<float> row(p.row_floats);
      for (uint32_t t = position; t < position + n; ++t)
        for (uint32_t j = 0; j < p.row_floats && t >= v.keep_from; ++j) v.row(t)[j] = row_value(layer, tokens[t], j);
      std::vector<float> want = plain(layer, p, tokens, v.runs[0].first);
      for (uint32_t r = 0; r < v.n_runs; ++r) {
        const SlotRun& run = v.runs[r];
        const float* from = run.from;
        for (uint32_t i = 0; i < run.n; ++i) {
          const uint32_t t = run.first + i, of_row = wrong_order && t < v.position ? run.first : t;
          for (uint32_t j = 0; j < p.row_floats; ++j) row[j] = of_row < v.position ? v.row(of_row)[j] : row_value(layer, tokens[of_row], j);
          step(p, from, row.data(), run.to);
          from = run.to;
          for (uint32_t j = 0; j < p.row_floats; ++j) row[j] = row_value(layer, tokens[t], j);
          step(p, want.data(), row.data(), want.data());
          right &= std::memcmp(run.to, want.data(), p.state_floats * sizeof(float)) == 0;
        }
      }
    }
    return right;
  }

  // A call for the next n tokens that are not cached.
  bool call(uint32_t seq, uint32_t n, bool cancel) {
    Sequence& s = seqs[seq];
    const uint32_t length = s.cached;
    uint32_t taken[kMaxKvClasses] = {};
    REQUIRE(of.cache.has_room(seq, length, n, taken));
    of.cache.begin(seq, length, length + n);
    const uint32_t stop = cancel ? below(n + 1) : n;
    bool right = true;
    for (uint32_t at = 0; at < stop;) {
      const uint32_t m = std::min({1 + below(64), n - at, of.cache.until_checkpoint(seq, length + at)});
      of.cache.advance(seq, length + at, m);
      right &= pass(seq, length + at, m);
      at += m;
    }
    if (cancel) {
      of.cache.cancel(seq);
    } else {
      of.cache.commit(seq, length, length + n);
      s.cached += n;
      s.longest = std::max(s.longest, s.cached);
    }
    return right;
  }

  // What waits is computed before what is new, some of it in calls of its own.
  bool append(uint32_t seq, uint32_t n, bool cancel) {
    Sequence& s = seqs[seq];
    const uint32_t length = static_cast<uint32_t>(s.tokens.size());
    bool right = true;
    for (bool stopped = false; !stopped && s.cached < length && below(3);) {
      stopped = below(4) == 0;
      ++done[stopped ? "cancelled again" : "again"];
      right &= call(seq, 1 + below(length - s.cached), stopped);
    }
    for (uint32_t i = 0; i < n; ++i) s.tokens.push_back(static_cast<int32_t>(below(1000)));
    right &= call(seq, static_cast<uint32_t>(s.tokens.size()) - s.cached, cancel);
    if (cancel) s.tokens.resize(length);
    if (!cancel && below(3) == 0) of.cache.checkpoint(seq);
    if (const uint32_t i = of.cache.slots.slots[seq].n_checkpoints; wrong_place && i && of.cache.slots.checkpoints_of(seq)[i - 1].at > 1)
      --of.cache.slots.checkpoints_of(seq)[i - 1].at;
    if (!wrong_place) look(seq);
    return right;
  }

  // The checkpoints: no more than there may be, in order, of tokens that are there; the first stays.
  void look(uint32_t seq) {
    Sequence& s = seqs[seq];
    const Slot& slot = of.cache.slots.slots[seq];
    REQUIRE(slot.n_checkpoints <= plan.n_checkpoints);
    const SlotMark* const all = of.cache.slots.checkpoints_of(seq);
    uint32_t places = 0;
    for (uint32_t i = 0; i < plan.n_checkpoints; ++i) {
      if (i < slot.n_checkpoints) REQUIRE((all[i].at > (i ? all[i - 1].at : 0) && all[i].at <= s.cached));
      places += all[i].state;
    }
    REQUIRE(places == plan.n_checkpoints * (plan.n_checkpoints - (plan.n_checkpoints != 0)) / 2);
    if (s.first && plan.n_checkpoints > 1) REQUIRE((slot.n_checkpoints && all[0].at == s.first));
    s.first = slot.n_checkpoints ? all[0].at : 0;
  }

  // Where the cache can be cut so that a sequence of `keep` tokens is left.
  uint32_t base(uint32_t seq, uint32_t keep) {
    Sequence& s = seqs[seq];
    if (keep >= s.cached) return s.cached;
    const uint32_t at = of.cache.base(seq, keep);
    REQUIRE(at <= keep);
    if (at < keep) ++done["deep"];
    if (at < keep && keep >= s.loaded && plan.n_checkpoints > kContext / plan.checkpoint_every)
      CHECK(keep - at <= plan.checkpoint_every + 2 * plan.n_rollback);
    if (s.first > at) s.first = 0;
    return at;
  }

  Saved save(uint32_t seq) {
    Saved s = {seqs[seq].tokens, seqs[seq].cached, seqs[seq].longest, {}, {}};
    const uint32_t length = s.cached;
    const CacheBegin begin = of.cache.begin_of(seq);
    for (uint32_t i = 0; i < of.cache.n_parts(); ++i) {
      Written w;
      of.cache.save(seq, i, length, w);
      CHECK(w.bytes.size() == of.cache.saved_bytes(i, length, begin));
      s.rows.push_back(of.cache.part(i, 0, begin));
      s.parts.push_back(w.bytes);
    }
    return s;
  }
  // False where this cache has no room for its rows.
  bool load(uint32_t seq, const Saved& s) {
    CacheBegin saved{}, kept{};
    const uint32_t length = s.cached;
    for (uint32_t i = 0; i < of.cache.n_parts(); ++i) REQUIRE(of.cache.begin_at(i, s.rows[i], length, &saved));
    if (!of.cache.keep(saved, length, &kept)) return false;
    REQUIRE(of.cache.can_restore(seq, length, kept));
    of.cache.restore(seq, length, kept);
    for (uint32_t i = 0; i < of.cache.n_parts(); ++i) of.cache.load(seq, i, length, saved, s.parts[i].data());
    of.cache.checkpoint(seq);                                                                         // as state.cpp does
    seqs[seq] = {s.tokens, length, std::max(s.longest, kept.slots.at[0] + plan.n_rollback), length};  // no mark before it
    if (!wrong_place) look(seq);
    return true;
  }

  // Whether everything that was computed was right.
  bool step_once(std::vector<Saved>& files) {
    const uint32_t seq = below(kSequences), other = (seq + 1 + below(kSequences - 1)) % kSequences, what = below(10);
    Sequence& s = seqs[seq];
    const uint32_t length = static_cast<uint32_t>(s.tokens.size()), back = plan.n_rollback;
    if (length > kContext - 400) {
      of.cache.truncate(seq, 0);
      s = {};
      return true;
    }
    if (what < 5) {
      const uint32_t n = what < 2 ? 1 : what < 4 ? 1 + below(back) : 1 + below(4 * back > 300 ? 300 : 4 * back);
      const bool cancel = below(5) == 0;
      ++done[cancel ? "cancel" : "append"];
      return append(seq, n, cancel);
    }
    const uint32_t low = s.longest > back ? s.longest - back : 0;
    const bool any = plan.n_checkpoints && below(3) == 0;  // how far back
    const uint32_t keep = any ? below(length + 1) : length > low ? low + below(length - low + 1) : length;
    if (!any && keep < s.cached) REQUIRE(of.cache.can_truncate(seq, keep));  // n_rollback tokens are always there
    if (const uint32_t at = below(length + 1); !plan.n_checkpoints && !of.cache.can_truncate(seq, at))
      REQUIRE(of.cache.base(seq, at) == Cache::kNoBase);
    const bool marked = keep >= s.cached || of.cache.can_truncate(seq, keep);  // else a rollback counts from the checkpoint
    if (what == 5 || what == 6) {
      const uint32_t at = base(seq, keep);
      if (at < s.cached) of.cache.truncate(seq, at);
      s.tokens.resize(keep);
      s.cached = at;
      if (at == 0) s.loaded = s.first = 0;
      s.loaded = std::min(s.loaded, at);
      if (!marked) s.longest = at + back;  // no mark before it
      if (at == 0) s.longest = 0;
      ++done["truncate"];
    } else if (what == 7) {
      const uint32_t first = s.first, at = base(seq, keep);
      s.first = first;
      of.cache.truncate(other, 0);
      of.cache.fork(seq, other, at);
      seqs[other] = {{s.tokens.begin(), s.tokens.begin() + keep}, at, at ? s.longest : 0, std::min(s.loaded, at)};
      if (!marked && at) seqs[other].longest = at + back;
      if (!wrong_place) look(other);
      ++done["fork"];
    } else if (what == 8) {
      files.push_back(save(seq));
      const Saved again = save(seq);
      CHECK(again.parts == files.back().parts);
    } else if (!files.empty()) {
      ++done[load(seq, files[below(static_cast<uint32_t>(files.size()))]) ? "load" : "no room"];
    }
    return true;
  }
};

}  // namespace

TEST_CASE("states after random calls are those of a plain loop over the tokens") {
  for (const uint32_t back : {1u, 2u, 7u, 64u})
    for (uint32_t seed = 0; seed < 4; ++seed) {
      Walk walk(back, seed);
      std::vector<Saved> files;
      bool right = true;
      for (int i = 0; i < (kSanitized ? 400 : 3000) && right; ++i) right = walk.step_once(files);
      INFO("n_rollback " << back << ", seed " << seed);
      CHECK(right);
      for (const char* what : {"append", "cancel", "truncate", "fork", "load"}) CHECK(walk.done[what] > 10);
    }
}

TEST_CASE("states after cuts of any depth are those of a plain loop, with few checkpoints and with many") {
  std::map<std::string, int> done;
  for (const uint32_t n : {1u, 2u, 5u, 1000u})
    for (const uint32_t every : {5u, 60u, 500u}) {
      Walk walk(n == 2 ? 1 : 7, n + every, n, every);
      std::vector<Saved> files;
      bool right = true;
      for (int i = 0; i < (kSanitized ? 400 : 2000) && right; ++i) right = walk.step_once(files);
      INFO(n << " checkpoints, every " << every);
      CHECK(right);
      for (const auto& [what, count] : walk.done) done[what] += count;
    }
  for (const char* what : {"append", "cancel", "truncate", "fork", "load", "deep", "again", "cancelled again"})
    CHECK(done[what] > (kSanitized ? 10 : 50));
}

TEST_CASE("a state's walk notices a checkpoint in the wrong place") {
  Walk walk(7, 1, 5, 60);
  std::vector<Saved> files;
  walk.wrong_place = true;
  bool right = true;
  for (int i = 0; i < 600 && right; ++i) right = walk.step_once(files);
  CHECK_FALSE(right);
}

TEST_CASE("checkpoints: where they are, and which makes room") {
  Walk walk(8, 3, 3, 100);
  const auto points = [&] {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < walk.of.cache.slots.slots[0].n_checkpoints; ++i) out.push_back(walk.of.cache.slots.checkpoints_of(0)[i].at);
    return out;
  };
  const auto more = [&](uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) walk.seqs[0].tokens.push_back(static_cast<int32_t>(i));
    REQUIRE(walk.call(0, n, false));
  };
  using Points = std::vector<uint32_t>;
  more(250);
  CHECK((points() == Points{100, 200}));
  walk.of.cache.checkpoint(0);
  walk.of.cache.checkpoint(0);  // the same again is none
  CHECK((points() == Points{100, 200, 250}));
  for (int i = 0; i < 100; ++i) more(1);
  CHECK((points() == Points{100, 250, 350}));
  more(99);
  CHECK((points() == Points{100, 250, 350}));
  walk.seqs[0].tokens.resize(800);
  walk.call(0, 351, true);  // those of a cancelled call are gone
  for (const uint32_t at : points()) CHECK(at <= 449);
  CHECK(points()[0] == 100);
  CHECK(walk.of.cache.base(0, 400) == points().back());
  CHECK(walk.of.cache.base(0, 445) == 445);
  CHECK(walk.of.cache.base(0, 99) == 0);
  walk.of.cache.truncate(0, 100);
  CHECK((points() == Points{100}));
  walk.of.cache.truncate(0, 0);
  CHECK(points().empty());
}

TEST_CASE("a state's walk notices rows in another order") {
  Walk walk(7, 1);
  std::vector<Saved> files;
  walk.wrong_order = true;
  bool right = true;
  for (int i = 0; i < 300 && right; ++i) right = walk.step_once(files);
  CHECK_FALSE(right);
}

// Sessions with another n_rollback load what each other saved, unless theirs is too small for what a rollback left.
TEST_CASE("saved states go on in caches with another n_rollback") {
  Walk small(5, 1), large(40, 2);
  std::vector<Saved> files;
  bool right = true;
  for (int i = 0; i < 4000 && right; ++i) right = (i % 2 ? small : large).step_once(files);
  CHECK(right);
  CHECK(large.done["no room"] == 0);
  CHECK(small.done["no room"] > 0);
  CHECK(small.done["load"] > 5 * small.done["no room"]);
  // Just after a call, with its newest state in it, a state fits any.
  REQUIRE((large.append(0, 300, false) && small.load(1, large.save(0))));
  CHECK(small.append(1, 3, false));
}

TEST_CASE("a saved state that a session cannot go on from is refused") {
  Walk walk(8, 2);
  REQUIRE(walk.append(0, 100, false));
  const Saved s = walk.save(0);
  const Cache& cache = walk.of.cache;
  const uint32_t part = kLayers;  // the first of the states
  REQUIRE(cache.is_state(part));
  CHECK(cache.layer_of(part) == 1);
  CHECK((s.rows[part].first == 100 - 8 && s.rows[part].k_format == 100 && s.rows[part].v_format == 0));
  CHECK(cache.saved_bytes(1, 100, cache.begin_of(0)) == 0);  // a layer without pages
  CacheBegin saved{}, kept{};
  CHECK((cache.begin_at(part, s.rows[part], 100, &saved) && cache.begin_at(part + 1, s.rows[part + 1], 100, &saved)));
  CHECK(cache.keep(saved, 100, &kept));
  const auto refused = [&](uint32_t i, uint32_t first, uint32_t second, uint32_t third) {
    CachePart said = s.rows[i];
    said.first = first, said.k_format = second, said.v_format = third;
    CacheBegin of = saved;
    return !cache.begin_at(i, said, 100, &of);
  };
  CHECK(refused(part + 1, 93, 100, 0));  // not as the other states
  CHECK(refused(part + 1, 92, 99, 0));
  CHECK(refused(part, 101, 0, 0));  // more than the sequence has
  CHECK(refused(part, 92, 101, 0));
  CHECK(refused(part, 92, 92, 0));  // not ascending
  CHECK(refused(part, 92, 100, 96));
  CHECK(refused(part, 92, 0, 100));
  CHECK(refused(1, 1, 0, 0));   // pages of a layer that has none
  saved.slots = {{10, 50, 0}};  // more rows than there is room for
  CHECK_FALSE(cache.keep(saved, 100, &kept));
  saved.slots = {{10, 90, 95}};
  CHECK((cache.keep(saved, 100, &kept) && kept.slots.at[0] == 90 && kept.slots.at[1] == 95 && kept.slots.at[2] == 0));
  saved.slots = {{85, 95, 0}};  // marks too far from each other for this n_rollback
  CHECK((cache.keep(saved, 100, &kept) && kept.slots.at[0] == 85 && kept.slots.at[1] == 0));
  CHECK_FALSE(cache.can_truncate(0, 100 - 9));
  CHECK(cache.can_truncate(0, 100 - 8));
}

TEST_CASE("a cache without states has no memory for them") {
  const auto none = [](const void*, uint32_t) {
    return CacheLayer{.k = LINNET_F32, .v = LINNET_F32, .n_heads = 1, .n_kv_heads = 1, .head_dim = 2, .latent = 0, .window = 0};
  };
  CachePlan plan = {kLayers, 1, 64, 64, 16, 16, LINNET_FULL_STOP, 0, false, &cpu_backend, nullptr, none};
  Arena with, without;
  Cache cache{};
  KvCache pages{};
  REQUIRE((cache.layout_in(with, with, plan) && pages.layout_in(without, without, plan)));
  CHECK(with.used() == without.used());
  CHECK((!cache.slots.any() && cache.n_parts() == kLayers));
}
