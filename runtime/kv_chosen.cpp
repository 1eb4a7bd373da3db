// What is kept of a sequence by the attention that it drew: heavy hitters (H2O, Zhang et al. 2023) and SnapKV (Li et al. 2024). Every layer
// and KV head keeps tokens of its own: they take the places of others in the kept pages, one by one.
#include <algorithm>
#include <cstring>

#include "kv.h"

namespace linnet {
namespace {

constexpr uint32_t kPool = 3;  // SnapKV: a token counts as much as the best of so many neighbours on each side

// Scales lie [16] per part, codes as kv.h says.
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

}  // namespace

void KvCache::begin_scores(uint32_t seq, uint32_t i, uint32_t length, uint32_t after) {
  const KvClass& c = classes[i];
  const bool snap = when_full == LINNET_FULL_SNAPKV, once = snap && (table(seq, i).first > c.keep_pages || after - length == 1);
  observe_from[seq] = once ? UINT32_MAX : snap && after > kObserved ? after - kObserved : 0;
  const size_t scores = c.n_layers * c.scores_per_layer();
  if (!once) std::memset(c.fresh + seq * scores, 0, scores * sizeof(float));
}

// What tokens drew in the call counts now; those that came with it begin with that.
void KvCache::end_scores(uint32_t seq, uint32_t i, uint32_t before, uint32_t length) {
  KvClass& c = classes[i];
  const KvTable& t = table(seq, i);
  if (when_full != LINNET_FULL_HEAVY_HITTERS) return;
  each_head(c, t, seq, [&](const Head&, float* score, const float* fresh) {
    for (uint32_t p = before; p < length; ++p) score[c.slot_of(p / kPagePositions) * kPagePositions + p % kPagePositions] = 0;
    for (size_t k = 0; k < size_t{c.n_slots} * kPagePositions; ++k) score[k] += fresh[k];
  });
}

// Kept pages that are shared with a fork are copied before they change.
void KvCache::own_kept_pages(KvClass& c, KvTable& t) {
  for (uint32_t p = 0; p < c.keep_pages; ++p) {
    uint32_t& slot = t.slot[c.slot_of(p)];
    if (c.refs[slot] == 1) continue;
    const uint32_t own = take(c);
    copy_page(c, slot, own);
    drop(c, slot);
    slot = own;
  }
}

// A page leaves the recent ones: each of its tokens takes the place of the kept token that drew least, if that drew less.
void KvCache::let_compete(uint32_t seq, uint32_t i, uint32_t page) {
  KvClass& c = classes[i];
  KvTable& t = table(seq, i);
  own_kept_pages(c, t);
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

// After a prompt: of all tokens before the last ones, those that the last ones looked at most are kept.
void KvCache::choose(uint32_t seq, uint32_t i, uint32_t length) {
  KvClass& c = classes[i];
  KvTable& t = table(seq, i);
  const uint32_t recent = (length > kObserved ? length - kObserved : 0) / kPagePositions, n = recent * kPagePositions;
  if (t.first > c.keep_pages || n <= c.keep || observe_from[seq] == UINT32_MAX) return;
  uint32_t shared = 0;
  for (uint32_t p = 0; p < c.keep_pages; ++p) shared += c.refs[t.slot[p]] > 1;
  if (shared > c.n_free) return;  // no room to let go of a fork's pages: all stay
  own_kept_pages(c, t);
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
  for (t.first = c.keep_pages; t.first < recent; ++t.first) drop(c, t.slot[c.slot_of(t.first)]);
}

}  // namespace linnet
