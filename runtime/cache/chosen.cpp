// What is kept of a sequence by the attention that it drew: heavy hitters (H2O, Zhang et al. 2023) and SnapKV (Li et al. 2024). Every layer
// and KV head keeps tokens of its own: they take the places of others in the kept pages, one by one.
#include <algorithm>
#include <cstring>

#include "../backend.h"
#include "cache.h"
#include "page_policy.h"

namespace linnet {
namespace {

constexpr uint32_t kPool = 3;  // SnapKV: a token counts as much as the best of so many neighbours on each side

// Scales lie [16] per part, codes as kv_cache.h says.
void move_token(const KvLayout& l, const uint8_t* from, uint32_t i, uint8_t* to, uint32_t j) {
  const auto copy = [&](size_t at, size_t bytes) { std::memcpy(to + at + j * bytes, from + at + i * bytes, bytes); };
  const size_t kb = format_row(l.k).bits / 8, vb = format_row(l.v).bits / 8;
  if (kb == 1) {
    for (uint32_t d = 0; d < l.kpad; d += 4) copy(size_t{d} * kPagePositions, 4);
    for (uint32_t g = 0; g < l.k_groups; ++g) copy(l.k_scale_at + g * kPagePositions * sizeof(uint16_t), sizeof(uint16_t));
    if (l.k_groups == 0) copy(l.k_scale_at, sizeof(float));
  } else {
    for (uint32_t d = 0; d < l.head_dim; ++d) copy(size_t{d} * kPagePositions * kb, kb);
  }
  if (l.latent) return;
  if (vb == 1) {
    for (uint32_t d = 0; d < l.dpad; ++d) {
      const size_t channel = l.v_at + d / kPanel * size_t{256} + d % kPanel * 4;
      to[channel + j / 4 * 64 + j % 4] = from[channel + i / 4 * 64 + i % 4];
    }
    copy(l.v_scale_at, sizeof(float));
  } else {
    for (uint32_t d = 0; d < l.dpad; d += kPanel) copy(l.v_at + size_t{d} * kPagePositions * vb, kPanel * vb);
  }
}

struct Head {  // of one sequence, layer and KV head
  const KvClass& c;
  const KvTable& t;
  uint32_t layer, kv_head;
  uint8_t* at(uint32_t page) const { return c.head(layer, kv_head, t.slot[c.slot_of(page)]); }
  void move(uint32_t token, uint32_t kept) const {
    move_token(c.layout, at(token / kPagePositions), token % kPagePositions, at(kept / kPagePositions), kept % kPagePositions);
  }
};

// Calls fn(head, scores of the head, its fresh ones) for all layers and KV heads.
template <class Fn>
void each_head(const KvClass& c, const KvTable& t, uint32_t seq, Fn fn) {
  const size_t per_head = size_t{c.n_slots} * kPagePositions;
  for (uint32_t layer = 0; layer < c.n_layers; ++layer)
    for (uint32_t h = 0; h < c.layout.n_kv_heads; ++h) {
      const size_t at = (size_t{seq} * c.n_layers + layer) * c.scores_per_layer() + h * per_head;
      fn(Head{c, t, layer, h}, c.score + at, c.fresh + at);
    }
}

float* fresh_of(const KvClass& c, uint32_t seq) { return c.fresh + seq * c.n_layers * c.scores_per_layer(); }

void layout_scores(KvClass* c, uint32_t n_sequences, Arena& arena, Arena&) {
  const uint64_t scores = uint64_t{n_sequences} * c->n_layers * c->layout.n_kv_heads * c->n_slots * kPagePositions,
                 slots = uint64_t{c->n_slots} * kPagePositions;
  c->score = arena.take<float>("kv scores", scores);
  c->fresh = arena.take<float>("kv scores", scores);
  c->pooled = arena.take<float>("kv scores", slots);
  c->sorted = arena.take<float>("kv scores", slots);
}

// Saved as they are, so they must not hold what the memory held before.
void reset_scores(const KvCache& kv, const KvClass& c) {
  std::memset(c.score, 0, size_t{kv.n_sequences} * c.n_layers * c.scores_per_layer() * sizeof(float));
}

void fork_scores(const KvCache&, const KvClass& c, uint32_t from, uint32_t to) {
  const size_t scores = c.n_layers * c.scores_per_layer();
  std::memcpy(c.score + to * scores, c.score + from * scores, scores * sizeof(float));
}

// Rows from this position on add to `fresh` in the call that begins.
void observe(KvCache& kv, uint32_t seq, uint32_t i, uint32_t from) {
  const KvClass& c = kv.classes[i];
  kv.observe_from[seq] = from;
  if (from != UINT32_MAX) std::memset(fresh_of(c, seq), 0, c.n_layers * c.scores_per_layer() * sizeof(float));
}

// Kept pages that are shared with a fork are copied before they change.
void own_kept_pages(KvCache& kv, KvClass& c, KvTable& t) {
  for (uint32_t p = 0; p < c.keep_pages; ++p) {
    uint32_t& slot = t.slot[c.slot_of(p)];
    if (c.refs[slot] == 1) continue;
    const uint32_t own = kv.take(c);
    kv.copy_page(c, slot, own);
    kv.drop(c, slot);
    slot = own;
  }
}

// ---- heavy hitters

void begin_heavy(KvCache& kv, uint32_t seq, uint32_t i, uint32_t, uint32_t) { observe(kv, seq, i, 0); }

// What tokens drew in the call counts now; those that came with it begin with that.
void count_scores(KvCache& kv, uint32_t seq, uint32_t i, uint32_t before, uint32_t length) {
  const KvClass& c = kv.classes[i];
  each_head(c, kv.table(seq, i), seq, [&](const Head&, float* score, const float* fresh) {
    for (uint32_t p = before; p < length; ++p) score[c.slot_of(p / kPagePositions) * kPagePositions + p % kPagePositions] = 0;
    for (size_t k = 0; k < size_t{c.n_slots} * kPagePositions; ++k) score[k] += fresh[k];
  });
}

// A page leaves the recent ones: each of its tokens takes the place of the kept token that drew least, if that drew less.
void let_compete(KvCache& kv, uint32_t seq, uint32_t i, uint32_t page) {
  KvClass& c = kv.classes[i];
  KvTable& t = kv.table(seq, i);
  own_kept_pages(kv, c, t);
  each_head(c, t, seq, [&](const Head& head, float* score, const float*) {
    for (uint32_t k = 0; k < kPagePositions; ++k) {
      const float mine = score[c.slot_of(page) * kPagePositions + k];
      const uint32_t least = static_cast<uint32_t>(std::min_element(score, score + c.keep) - score);
      if (!(mine > score[least])) continue;
      head.move(page * kPagePositions + k, least);
      score[least] = mine;
    }
  });
}

uint64_t heavy_pool(KvClass* c, const CachePlan& p) { return queue_pool(c, p, c->window, p.n_rollback, 0); }  // calls pass no pages

// Scores of a page's tokens: float[16] of every KV head, n_slots pages apart.
float* scores_of(const KvCache& kv, uint32_t seq, uint32_t layer) {
  const KvClass& c = kv.classes[kv.class_of[layer]];
  return c.score + (size_t{seq} * c.n_layers + kv.layer_index[layer]) * c.scores_per_layer();
}
size_t score_at(const KvClass& c, uint32_t head, uint32_t page) { return (size_t{head} * c.n_slots + c.slot_of(page)) * kPagePositions; }
constexpr size_t kScoreBytes = kPagePositions * sizeof(float);

uint64_t scores_saved(const KvCache& kv, uint32_t c, uint32_t, uint32_t n_held) {
  return uint64_t{n_held} * kv.classes[c].layout.n_kv_heads * kScoreBytes;
}

void save_scores(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, SavedTo& to) {
  const KvClass& c = kv.classes[kv.class_of[layer]];
  const float* scores = scores_of(kv, seq, layer);
  for (uint32_t head = 0; head < c.layout.n_kv_heads; ++head)
    each_page(c, kv.table(seq, kv.class_of[layer]).first, pages_of(length),
              [&](uint32_t page) { to.put(to, scores + score_at(c, head, page), kScoreBytes); });
}

void load_scores(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, uint32_t first, const uint8_t* from) {
  const uint32_t i = kv.class_of[layer];
  const KvClass& c = kv.classes[i];
  float* scores = scores_of(kv, seq, layer);
  const uint32_t n_held = kv.held(i, length, first);
  std::memset(scores, 0, c.scores_per_layer() * sizeof(float));
  for (uint32_t head = 0; head < c.layout.n_kv_heads; ++head)
    each_page(c, kv.table(seq, i).first, pages_of(length), [&](uint32_t page) {
      const size_t place = page < c.keep_pages ? page : c.keep_pages + page - first;
      std::memcpy(scores + score_at(c, head, page), from + (head * n_held + place) * kScoreBytes, kScoreBytes);
    });
}

// ---- SnapKV

// Once, after a prompt: its last rows tell.
void begin_snap(KvCache& kv, uint32_t seq, uint32_t i, uint32_t length, uint32_t after) {
  const bool done = kv.table(seq, i).first > kv.classes[i].keep_pages || after - length == 1;
  observe(kv, seq, i, done ? UINT32_MAX : after > kObserved ? after - kObserved : 0);
}

// After a prompt: of all tokens before the last ones, those that the last ones looked at most are kept.
void choose(KvCache& kv, uint32_t seq, uint32_t i, uint32_t length) {
  KvClass& c = kv.classes[i];
  KvTable& t = kv.table(seq, i);
  const uint32_t recent = (length > kObserved ? length - kObserved : 0) / kPagePositions, n = recent * kPagePositions;
  if (t.first > c.keep_pages || n <= c.keep || kv.observe_from[seq] == UINT32_MAX) return;
  uint32_t shared = 0;
  for (uint32_t p = 0; p < c.keep_pages; ++p) shared += c.refs[t.slot[p]] > 1;
  if (shared > c.n_free) return;  // no room to let go of a fork's pages: all stay
  own_kept_pages(kv, c, t);
  each_head(c, t, seq, [&](const Head& head, float*, const float* fresh) {
    for (uint32_t k = 0; k < n; ++k) {
      const uint32_t from = k > kPool ? k - kPool : 0, to = k + kPool < n ? k + kPool : n - 1;
      c.sorted[k] = c.pooled[k] = *std::max_element(fresh + from, fresh + to + 1);
    }
    std::nth_element(c.sorted, c.sorted + (n - c.keep), c.sorted + n);
    const float least = c.sorted[n - c.keep];  // the weakest that stays; of equals the first ones
    uint32_t above = 0;
    for (uint32_t k = 0; k < n; ++k) above += c.pooled[k] > least;
    for (uint32_t k = 0, kept = 0, equal = c.keep - above; k < n; ++k) {
      if (c.pooled[k] < least || (c.pooled[k] == least && equal == 0)) continue;
      if (c.pooled[k] == least) --equal;
      if (k != kept) head.move(k, kept);  // never before what is still to be moved
      ++kept;
    }
  });
  for (t.first = c.keep_pages; t.first < recent; ++t.first) kv.drop(c, t.slot[c.slot_of(t.first)]);
}

}  // namespace

const PagePolicy kHeavyHitters = {.queue = true,
                                  .chosen = true,
                                  .pages = whole_pages,
                                  .first_seen = first_in_window,
                                  .pool = heavy_pool,
                                  .layout = layout_scores,
                                  .reset = reset_scores,
                                  .fork = fork_scores,
                                  .begin = begin_heavy,
                                  .computed = count_scores,
                                  .leaves = let_compete,
                                  .saved_bytes = scores_saved,
                                  .save = save_scores,
                                  .load = load_scores};
const PagePolicy kSnapKv = {.chosen = true,
                            .pages = whole_pages,
                            .first_seen = first_in_window,
                            .pool = whole_pool,
                            .layout = layout_scores,
                            .reset = reset_scores,
                            .fork = fork_scores,
                            .begin = begin_snap,
                            .committed = choose};

}  // namespace linnet
