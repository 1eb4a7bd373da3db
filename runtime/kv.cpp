#include "kv.h"

#include <cstring>

#include "backend.h"

namespace linnet {
namespace {

uint32_t pages_of(uint64_t positions) { return static_cast<uint32_t>(div_up(positions, kPagePositions)); }

// The first page behind the kept ones that a row at `position` sees, or packs.
uint32_t first_page(const KvClass& c, uint32_t position) {
  if (c.packed) return packed_groups(position) * (kGroupPositions / kPagePositions);
  const uint32_t first = c.window && position >= c.window ? (position + 1 - c.window) / kPagePositions : 0;
  return first > c.keep_pages ? first : c.keep_pages;
}

// Of a page, 128 MiB at most: fits everywhere.
size_t up(uint64_t bytes, uint64_t to) { return static_cast<size_t>(align_up(bytes, to)); }

bool float_kv(Format f) { return format_row(f).x == LINNET_F32; }

}  // namespace

KvLayout kv_layout(Format k, Format v, uint32_t n_kv_heads, uint32_t head_dim, uint32_t latent) {
  KvLayout l{};
  l.k = k;
  l.v = v;
  l.head_dim = head_dim;
  l.n_kv_heads = n_kv_heads;
  l.latent = latent;
  l.v_dim = head_dim - latent;
  l.dpad = static_cast<uint32_t>(align_up(l.v_dim, kPanel));
  if (kv_kivi(k)) {
    l.k_groups = static_cast<uint32_t>(div_up(head_dim, 32));
    l.k_rows = static_cast<uint32_t>(align_up(head_dim, 8) / 4);
    l.k_scale_at = size_t{l.k_rows} * 64 * format_row(k).bits / 4;
    l.v_at = l.k_scale_at + l.k_rows * size_t{8} + l.k_groups * sizeof(uint16_t);
    l.v_scale_at = l.v_at + size_t{l.dpad} / 4 * 64 * format_row(v).bits / 4;
    l.head_bytes = up(l.v_scale_at + kGroupPositions * (size_t{2} * l.k_groups + sizeof(uint16_t)), 16);
    l.page_bytes = n_kv_heads * l.head_bytes;
    return l;
  }
  l.kpad = static_cast<uint32_t>(padded_k(k, head_dim));
  l.k_groups = k == LINNET_I8 ? static_cast<uint32_t>(div_up(head_dim, 32)) : 0;
  const auto scale_bytes = [](Format f) { return float_kv(f) ? size_t{0} : up(kPagePositions * sizeof(float), 64); };
  l.k_scale_at = up(size_t{kPagePositions} * l.kpad * format_row(k).bits / 8, 64);
  l.v_at = l.k_scale_at + (k == LINNET_I8 ? up(l.k_groups * kPagePositions * sizeof(uint16_t), 64) : scale_bytes(k));
  l.v_scale_at = l.v_at + (latent ? 0 : up(size_t{kPagePositions} * l.dpad * format_row(v).bits / 8, 64));
  l.head_bytes = l.v_scale_at + (latent ? 0 : scale_bytes(v));
  l.page_bytes = n_kv_heads * l.head_bytes;
  return l;
}

bool KvCache::layout_in(Arena& arena, Arena& pools, const KvPlan& p) {
  n_layers = p.n_layers;
  n_sequences = p.n_sequences;
  n_rollback = p.n_rollback;
  when_full = p.when_full;
  n_classes = 0;
  backend = p.backend;
  const bool endless =
      p.when_full == LINNET_FULL_DROP_OLDEST || p.when_full == LINNET_FULL_SINKS || p.when_full == LINNET_FULL_HEAVY_HITTERS;
  const bool chosen = p.when_full == LINNET_FULL_HEAVY_HITTERS || p.when_full == LINNET_FULL_SNAPKV;
  class_of = arena.take<uint8_t>("page tables", n_layers);
  layer_index = arena.take<uint16_t>("page tables", n_layers);
  for (uint32_t i = 0; i < n_layers; ++i) {
    const KvLayerPlan layer = p.layer(p.of, i);
    Format k = layer.k, v = layer.v;
    uint32_t window = layer.window;
    const uint32_t group = layer.n_heads / layer.n_kv_heads;
    if (window && kv_kivi(k)) k = v = LINNET_I8;  // windows are short
    // Layers that would see more than is held: with what stays of the rest.
    const bool cut = p.when_full && (window == 0 || window > p.n_context - p.n_keep);
    if (cut)
      window = endless ? p.n_context - p.n_keep : 0;
    else if (!endless && window >= p.n_context)
      window = 0;  // never leaves anything out
    const uint32_t keep = cut && p.when_full != LINNET_FULL_SINKS ? p.n_keep : 0,
                   n_sinks = cut && p.when_full == LINNET_FULL_SINKS ? p.n_keep : 0;
    const bool scored = cut && chosen;
    const auto same = [&](const KvClass& o) {
      const KvLayout& l = o.packed ? classes[o.packed].layout : o.layout;
      return !o.groups() && l.k == k && l.v == v && l.n_kv_heads == layer.n_kv_heads && l.head_dim == layer.head_dim &&
             l.latent == layer.latent && o.group == group && o.window == window && o.keep == keep && o.n_sinks == n_sinks;
    };
    uint32_t c = 0;
    while (c < n_classes && !same(classes[c])) ++c;
    if (c + kv_kivi(k) >= kMaxKvClasses) return false;
    if (c == n_classes) {
      classes[c] = {};
      if (kv_kivi(k)) {
        classes[c].packed = c + 1;
        classes[c + 1] = {};
        classes[c + 1].layout = kv_layout(k, v, layer.n_kv_heads, layer.head_dim, layer.latent);
        k = v = LINNET_I8;  // of the tail
        ++n_classes;
      }
      classes[c].layout = kv_layout(k, v, layer.n_kv_heads, layer.head_dim, layer.latent);
      classes[c].group = group;
      classes[c].window = window;
      classes[c].chunked = p.chunked && window && !cut;
      classes[c].keep = keep;
      classes[c].n_sinks = n_sinks;
      classes[c].keep_pages = pages_of(keep);
      classes[c].scored = scored;
      ++n_classes;
    }
    if (class_of) {
      class_of[i] = static_cast<uint8_t>(c);
      layer_index[i] = static_cast<uint16_t>(classes[c].n_layers);
    }
    ++classes[c].n_layers;
    if (classes[c].packed) ++classes[c + 1].n_layers;
  }
  tables = arena.take<KvTable>("page tables", uint64_t{n_sequences} * n_classes);
  observe_from = arena.take<uint32_t>("page tables", n_sequences);
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    uint64_t n_pages = c.groups() ? p.n_pool / kGroupPositions : pages_of(p.n_pool);
    c.n_slots = c.pages(p.n_context);
    if (c.groups() && n_pages > uint64_t{n_sequences} * c.n_slots) n_pages = uint64_t{n_sequences} * c.n_slots;
    if (c.queued()) {
      const uint32_t held = c.packed ? kKiviTail : c.window;
      // At rest a sequence holds its window and what may be rolled back. During a call those pages stay, and a chunk's own come to them.
      const uint32_t all = endless ? UINT32_MAX : pages_of(p.n_context), more = p.n_chunk > p.n_rollback ? p.n_chunk : p.n_rollback;
      const bool cut = endless && c.window == p.n_context - p.n_keep;
      const uint32_t queue = c.keep_pages + pages_of(uint64_t{held} + more + (c.scored ? p.n_rollback : 0)) + 1;
      // Where the context is cut, calls are short (session_prefill) and pass few pages; with scores they pass none.
      const uint32_t passed = c.scored ? 0 : pages_of(cut ? more : uint64_t{held} + p.n_rollback) + 1;
      n_pages = uint64_t{queue} + passed < all ? queue + passed : all;  // as many as all hold everything, and then nothing is ever dropped
      c.n_slots = n_pages == all || queue > all ? all : queue;
      n_pages *= n_sequences;
    }
    if (n_sequences > 1 && !c.groups()) n_pages += n_sequences;  // a call may copy the last page of each while it holds on to the old ones
    c.n_pages = static_cast<uint32_t>(n_pages);
    c.refs = arena.take<uint32_t>("page tables", n_pages);
    for (uint32_t s = 0; s < n_sequences; ++s)
      for (uint32_t** slots : {tables ? &tables[s * n_classes + i].slot : nullptr, tables ? &tables[s * n_classes + i].saved : nullptr}) {
        uint32_t* at = arena.take<uint32_t>("page tables", c.n_slots);
        if (slots) *slots = at;
      }
    c.sink_floats = c.n_sinks ? up(size_t{kMaxSinks} * c.layout.head_dim, 16) + size_t{kMaxSinks} * c.layout.dpad : 0;
    c.sinks = pools.take<float>("kv", uint64_t{n_sequences} * c.n_layers * c.layout.n_kv_heads * c.sink_floats);
    const uint64_t scores = c.scored ? uint64_t{n_sequences} * c.n_layers * c.layout.n_kv_heads * c.n_slots * kPagePositions : 0,
                   slots = c.scored ? uint64_t{c.n_slots} * kPagePositions : 0;
    c.score = arena.take<float>("kv scores", scores);
    c.fresh = arena.take<float>("kv scores", scores);
    c.pooled = arena.take<float>("kv scores", slots);
    c.sorted = arena.take<float>("kv scores", slots);
    if (!c.scored) c.score = c.fresh = nullptr;
    uint64_t layer = 0, bytes = 0;
    if (!checked_mul(n_pages, c.layout.page_bytes, &layer) || !checked_mul(layer, c.n_layers, &bytes))
      layer = bytes = UINT64_MAX;  // the arena refuses it
    c.pools = arena.take<uint8_t*>("page tables", c.n_layers);
    // Layers that lie in one piece.
    const uint64_t fit = layer ? pools.block_limit() / layer : c.n_layers;
    for (uint32_t at = 0; at < c.n_layers;) {
      const uint32_t n = fit == 0 ? 1 : fit < c.n_layers - at ? static_cast<uint32_t>(fit) : c.n_layers - at;
      uint8_t* piece = pools.take<uint8_t>("kv", n * layer);
      for (const uint32_t end = at + n; at < end; ++at, piece += piece ? layer : 0)
        if (c.pools) c.pools[at] = piece;
    }
  }
  return true;
}

void KvCache::reset() {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    c.n_free = c.n_pages;
    c.lowest = 0;
    std::memset(c.refs, 0, c.n_pages * sizeof *c.refs);
    // Saved as they are, so they must not hold what the memory held before.
    const size_t sinks = c.n_sinks ? size_t{n_sequences} * c.n_layers * sink_bytes(i) : 0;
    if (c.scored) std::memset(c.score, 0, size_t{n_sequences} * c.n_layers * c.scores_per_layer() * sizeof(float));
    if (sinks) backend->zero(session, reinterpret_cast<uint8_t*>(c.sinks), sinks, sinks, 1);
    for (uint32_t s = 0; s < n_sequences; ++s) {
      KvTable& t = table(s, i);
      t.end = t.saved_end = 0;
      t.first = t.saved_first = c.keep_pages;
    }
  }
}

// Calls fn(first head's pages, bytes to the next head's, heads) for layers whose pools lie one behind the other.
template <class Fn>
void KvCache::each_run(const KvClass& c, Fn fn) const {
  const size_t pitch = size_t{c.n_pages} * c.layout.head_bytes;
  for (uint32_t i = 0, n; i < c.n_layers; i += n) {
    for (n = 1; i + n < c.n_layers && c.pools[i + n] == c.pools[i] + n * c.layout.n_kv_heads * pitch; ++n) {
    }
    fn(c.pools[i], pitch, n * c.layout.n_kv_heads);
  }
}

// The place behind the page before page p of the table: attention reads pages that lie in order faster.
uint32_t KvCache::behind(const KvClass& c, const KvTable& t, uint32_t p) { return p ? t.slot[c.slot_of(p - 1)] + 1 : 0; }

// A page for a sequence to write to: `wanted` if that is free, or the first that is. What it held is of no use to anybody, but has to be
// finite.
uint32_t KvCache::take(KvClass& c, uint32_t wanted) {
  uint32_t page = wanted;
  if (page >= c.n_pages || c.refs[page]) {
    for (page = c.lowest; c.refs[page]; ++page) {
    }
    c.lowest = page;
  }
  --c.n_free;
  c.refs[page] = 1;
  const size_t bytes = c.layout.head_bytes;
  each_run(c, [&](uint8_t* p, size_t pitch, uint32_t n) { backend->zero(session, p + page * bytes, pitch, bytes, n); });
  return page;
}

void KvCache::copy_page(KvClass& c, uint32_t from, uint32_t to) {
  const size_t bytes = c.layout.head_bytes;
  each_run(c, [&](uint8_t* p, size_t pitch, uint32_t n) { backend->copy(session, p + to * bytes, p + from * bytes, pitch, bytes, n); });
}

void KvCache::drop(KvClass& c, uint32_t page) {
  if (--c.refs[page]) return;
  ++c.n_free;
  if (page < c.lowest) c.lowest = page;
}

void KvCache::begin(uint32_t seq, uint32_t length, uint32_t after) {
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    if (c.chosen()) begin_scores(seq, i, length, after);
    t.saved_first = c.queued() || t.end <= t.first
                        ? t.first
                        : t.end - 1;  // without a window nothing but a shared last page, or a kept one, is ever replaced
    t.saved_end = t.end;
    each_page(c, t.saved_first, t.end, [&](uint32_t p) { t.saved[c.slot_of(p)] = t.slot[c.slot_of(p)]; });
  }
}

// Whether `page` of the table is one that cancel would put back.
bool KvCache::saved(const KvClass& c, const KvTable& t, uint32_t page) {
  if (page >= t.saved_end) return false;
  if (page >= c.keep_pages && page < t.saved_first) return !c.queued();
  return t.saved[c.slot_of(page)] == t.slot[c.slot_of(page)];
}

bool KvCache::has_room(uint32_t seq, uint32_t length, uint32_t n_more, uint32_t* taken) const {
  bool room = true;
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    if (c.queued()) continue;  // made for the most that sequences can hold
    const KvTable& t = table(seq, i);
    const bool copied = !c.groups() && length % kPagePositions && c.refs[t.slot[c.slot_of(t.end - 1)]] > 1;
    taken[i] += c.pages(uint64_t{length} + n_more) - t.end + copied;
    room &= taken[i] <= c.n_free;
  }
  return room;
}

void KvCache::advance(uint32_t seq, uint32_t length, uint32_t n_more) {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    // What neither these rows see nor a row after a rollback.
    const uint32_t after = length + n_more, back = after > n_rollback ? after - n_rollback : 0;
    for (const uint32_t first = c.chosen() ? 0 : first_page(c, back < length ? back : length); t.first < first && t.first < t.end;
         ++t.first)
      if (!saved(c, t, t.first)) drop(c, t.slot[c.slot_of(t.first)]);
    if (length % kPagePositions && !c.groups()) {
      uint32_t& last = t.slot[c.slot_of(t.end - 1)];
      if (c.refs[last] > 1) {  // written to by this sequence alone
        const uint32_t own = take(c);
        copy_page(c, last, own);
        if (!saved(c, t, t.end - 1)) drop(c, last);
        last = own;
      }
    }
    for (const uint32_t end = c.pages(uint64_t{length} + n_more); t.end < end; ++t.end)
      t.slot[c.slot_of(t.end)] = take(c, behind(c, t, t.end));
  }
}

void KvCache::commit(uint32_t seq, uint32_t before, uint32_t length) {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    each_page(c, t.saved_first, t.saved_end, [&](uint32_t p) {
      if ((p >= c.keep_pages && p < t.first) || t.saved[c.slot_of(p)] != t.slot[c.slot_of(p)]) drop(c, t.saved[c.slot_of(p)]);
    });
    t.saved_end = 0;
    const uint32_t back = length > n_rollback ? length - n_rollback : 0;  // the shortest length to roll back to
    if (c.chosen()) end_scores(seq, i, before, length);
    for (const uint32_t first = first_page(c, back); t.first < first && t.first < t.end; ++t.first) {
      if (c.chosen()) let_compete(seq, i, t.first);
      drop(c, t.slot[c.slot_of(t.first)]);
    }
    if (when_full == LINNET_FULL_SNAPKV && c.chosen()) choose(seq, i, length);
  }
}

void KvCache::cancel(uint32_t seq) {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    each_page(c, t.first, t.end, [&](uint32_t p) {
      if (!saved(c, t, p)) drop(c, t.slot[c.slot_of(p)]);
    });
    each_page(c, t.saved_first, t.saved_end, [&](uint32_t p) { t.slot[c.slot_of(p)] = t.saved[c.slot_of(p)]; });
    if (c.queued()) t.first = t.saved_first;
    t.end = t.saved_end;
    t.saved_end = 0;
  }
}

bool KvCache::can_truncate(uint32_t seq, uint32_t keep) const {
  for (uint32_t i = 0; keep && i < n_classes; ++i)
    if (gone(i, table(seq, i).first, keep)) return false;
  return true;
}

void KvCache::truncate(uint32_t seq, uint32_t keep) {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    const uint32_t end = c.pages(keep);
    each_page(c, t.first, t.end, [&](uint32_t p) {
      if (p >= end) drop(c, t.slot[c.slot_of(p)]);
    });
    if (end < t.end) t.end = end;
    if (keep == 0) t.first = c.keep_pages;
  }
}

void KvCache::fork(uint32_t from, uint32_t to, uint32_t keep) {
  if (keep == 0) return;
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    const KvTable& a = table(from, i);
    KvTable& b = table(to, i);
    b.end = c.pages(keep);
    b.first = c.chosen() ? a.first : first_page(c, keep > n_rollback ? keep - n_rollback : 0);  // chosen tokens are those before a.first
    if (b.first < a.first) b.first = a.first;
    each_page(c, b.first, b.end, [&](uint32_t p) {
      b.slot[c.slot_of(p)] = a.slot[c.slot_of(p)];
      ++c.refs[b.slot[c.slot_of(p)]];
    });
    const size_t sinks = c.n_layers * c.layout.n_kv_heads * c.sink_floats;
    if (c.chosen()) {
      const size_t scores = c.n_layers * c.scores_per_layer();
      std::memcpy(c.score + to * scores, c.score + from * scores, scores * sizeof(float));
    }
    if (sinks)
      backend->copy(session, reinterpret_cast<uint8_t*>(c.sinks + to * sinks), reinterpret_cast<const uint8_t*>(c.sinks + from * sinks), 0,
                    sinks * sizeof(float), 1);
  }
}

bool KvCache::gone(uint32_t c, uint32_t first, uint32_t length) const {
  const KvClass& k = classes[c];
  return k.chosen() ? first > k.keep_pages && first > length / kPagePositions : first > first_page(k, length);
}

uint32_t KvCache::first_kept(uint32_t c, uint32_t first, uint32_t length) const {
  if (classes[c].chosen()) return first;  // what is dropped takes part in a choice first
  const uint32_t kept = first_page(classes[c], length > n_rollback ? length - n_rollback : 0);
  return kept > first ? kept : first;
}

uint32_t KvCache::held(uint32_t c, uint32_t length, uint32_t first) const {
  const uint32_t end = classes[c].pages(length), kept = classes[c].keep_pages;
  return (kept < end ? kept : end) + (first < end ? end - first : 0);
}

bool KvCache::can_restore(uint32_t seq, uint32_t length, const uint32_t* first) const {
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    const KvTable& t = table(seq, i);
    uint32_t room = c.n_free;  // and what it gives back
    each_page(c, t.first, t.end, [&](uint32_t p) { room += c.refs[t.slot[c.slot_of(p)]] == 1; });
    const uint32_t n = held(i, length, first[i]);
    if (n > room || n > c.n_slots || (c.pages(length) > first[i] && c.pages(length) - first[i] > c.n_slots - c.keep_pages)) return false;
  }
  return true;
}

void KvCache::restore(uint32_t seq, uint32_t length, const uint32_t* first) {
  truncate(seq, 0);
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    t.end = c.pages(length);
    t.first = first[i];
    each_page(c, t.first, t.end, [&](uint32_t p) { t.slot[c.slot_of(p)] = take(c, behind(c, t, p)); });
  }
}

uint64_t KvCache::read_bytes(uint32_t length) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    const uint32_t end = c.pages(uint64_t{length} + 1), first = first_page(c, length), kept = c.keep_pages < end ? c.keep_pages : end;
    bytes += uint64_t{kept + (end > first ? end - first : 0)} * c.n_layers * c.layout.page_bytes;
    bytes += uint64_t{c.n_sinks} * c.n_layers * c.layout.n_kv_heads * (c.layout.head_dim + c.layout.v_dim) * sizeof(float);
  }
  return bytes;
}

}  // namespace linnet
