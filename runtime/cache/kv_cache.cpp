#include "kv_cache.h"

#include <cstring>

#include "../backend.h"
#include "cache.h"
#include "page_policy.h"

namespace linnet {
namespace {

// Of a page, 128 MiB at most: fits everywhere.
size_t up(uint64_t bytes, uint64_t to) { return static_cast<size_t>(align_up(bytes, to)); }

bool float_kv(Format f) { return format_row(f).x == LINNET_F32; }

}  // namespace

Status check_pages(const CacheLayer& l, uint32_t i, uint32_t when_full, Error* err) {
  if (l.n_kv_heads == 0) return LINNET_OK;
  LINNET_TRY(check_groups(l, i, when_full, err));
  if (l.latent && l.k != l.v)
    return fail(err, LINNET_UNSUPPORTED, "session: V format ", format_name(l.v), " beside K format ", format_name(l.k), " in layer ", i,
                ": the model caches one latent that is both");
  return LINNET_OK;
}

KvLayout kv_layout(Format k, Format v, uint32_t n_kv_heads, uint32_t head_dim, uint32_t latent) {
  if (kv_kivi(k)) return packed_layout(k, v, n_kv_heads, head_dim);
  KvLayout l{};
  l.k = k;
  l.v = v;
  l.head_dim = head_dim;
  l.n_kv_heads = n_kv_heads;
  l.latent = latent;
  l.v_dim = head_dim - latent;
  l.dpad = static_cast<uint32_t>(align_up(l.v_dim, kPanel));
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

namespace {

// The class that a layer is of, without its room. Layers that would see more than is held keep what stays of the rest.
KvClass class_like(const CachePlan& p, const CacheLayer& layer) {
  const bool packs = kv_kivi(layer.k) && layer.window == 0;  // windows are short
  const Format k = kv_kivi(layer.k) ? LINNET_I8 : layer.k, v = kv_kivi(layer.k) ? LINNET_I8 : layer.v;
  const bool cut = p.when_full != LINNET_FULL_STOP && (layer.window == 0 || layer.window > p.n_context - p.n_keep);
  KvClass c{};
  c.layout = kv_layout(k, v, layer.n_kv_heads, layer.head_dim, layer.latent);
  c.group = layer.n_heads / layer.n_kv_heads;
  c.window = layer.window;
  if (cut)
    c.window = endless(p.when_full) ? p.n_context - p.n_keep : 0;
  else if (!endless(p.when_full) && layer.window >= p.n_context)
    c.window = 0;  // never leaves anything out
  c.chunked = p.chunked && c.window && !cut;
  c.bidirectional = p.bidirectional;
  c.policy = packs ? &kTailOfGroups : c.window ? &kWindow : &kKeepAll;
  if (!cut) return c;
  if (p.when_full == LINNET_FULL_SINKS) {
    c.policy = &kSinks;
    c.n_sinks = p.n_keep;
    return c;
  }
  if (p.when_full == LINNET_FULL_HEAVY_HITTERS) c.policy = &kHeavyHitters;
  if (p.when_full == LINNET_FULL_SNAPKV) c.policy = &kSnapKv;
  c.keep = p.n_keep;
  c.keep_pages = pages_of(p.n_keep);
  return c;
}

bool same_formats(const KvLayout& a, const KvLayout& b) { return a.k == b.k && a.v == b.v; }
bool same_class(const KvClass& a, const KvClass& b) {
  return a.policy == b.policy && same_formats(a.layout, b.layout) && a.layout.n_kv_heads == b.layout.n_kv_heads &&
         a.layout.head_dim == b.layout.head_dim && a.layout.latent == b.layout.latent && a.group == b.group && a.window == b.window &&
         a.chunked == b.chunked && a.keep == b.keep && a.n_sinks == b.n_sinks;
}

}  // namespace

bool KvCache::layout_in(Arena& arena, Arena& pools, const CachePlan& p) {
  n_layers = p.n_layers;
  n_sequences = p.n_sequences;
  n_rollback = p.n_rollback;
  n_classes = 0;
  backend = p.backend;
  class_of = arena.take<uint8_t>("page tables", n_layers);
  layer_index = arena.take<uint16_t>("page tables", n_layers);
  for (uint32_t i = 0; i < n_layers; ++i) {
    const CacheLayer layer = p.layer(p.of, i);
    if (layer.n_kv_heads == 0 || layer.back) {  // no pages of its own
      if (class_of) class_of[i] = layer.back ? class_of[i - layer.back] : static_cast<uint8_t>(kNoPages);
      if (class_of) layer_index[i] = layer.back ? layer_index[i - layer.back] : uint16_t{0};
      if (class_of && layer.back) {
        KvClass& c = classes[class_of[i]];
        ++c.n_readers;
        if (c.packed) ++classes[c.packed].n_readers;
      }
      continue;
    }
    const KvClass like = class_like(p, layer);
    const bool packs = like.policy == &kTailOfGroups;
    const KvLayout packed = packs ? kv_layout(layer.k, layer.v, layer.n_kv_heads, layer.head_dim, layer.latent) : KvLayout{};
    uint32_t c = 0;
    while (c < n_classes && !(same_class(classes[c], like) && (!packs || same_formats(classes[classes[c].packed].layout, packed)))) ++c;
    if (c + packs >= kMaxKvClasses) return false;
    if (c == n_classes) {
      classes[n_classes++] = like;
      if (packs) {
        classes[c].packed = n_classes;
        classes[n_classes] = {};
        classes[n_classes].layout = packed;
        classes[n_classes++].policy = &kPackedGroups;
      }
    }
    if (class_of) {
      class_of[i] = static_cast<uint8_t>(c);
      layer_index[i] = static_cast<uint16_t>(classes[c].n_layers);
    }
    for (uint32_t of = c; of <= c + packs; ++of) ++classes[of].n_layers, ++classes[of].n_readers;
  }
  tables = arena.take<KvTable>("page tables", uint64_t{n_sequences} * n_classes);
  observe_from = arena.take<uint32_t>("page tables", n_sequences);
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    uint64_t n_pages = c.policy->pool(&c, p);
    if (n_sequences > 1 && !c.policy->sealed)
      n_pages += n_sequences;  // a call may copy the last page of each while it holds on to the old ones
    c.n_pages = static_cast<uint32_t>(n_pages);
    c.refs = arena.take<uint32_t>("page tables", n_pages);
    for (uint32_t s = 0; s < n_sequences; ++s)
      for (uint32_t** slots : {tables ? &tables[s * n_classes + i].slot : nullptr, tables ? &tables[s * n_classes + i].saved : nullptr}) {
        uint32_t* at = arena.take<uint32_t>("page tables", c.n_slots);
        if (slots) *slots = at;
      }
    if (c.policy->layout) c.policy->layout(&c, n_sequences, arena, pools);
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

bool KvCache::owns(uint32_t layer) const {
  for (uint32_t i = 0; i < layer; ++i)
    if (class_of[i] == class_of[layer] && layer_index[i] == layer_index[layer]) return false;
  return has_pages(layer);
}

uint32_t KvCache::first_of_class(uint32_t c) const {
  uint32_t layer = 0;
  while (class_of[layer] != c) ++layer;
  return layer;
}

void KvCache::reset() {
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    c.n_free = c.n_pages;
    c.lowest = 0;
    std::memset(c.refs, 0, c.n_pages * sizeof *c.refs);
    if (c.policy->reset) c.policy->reset(*this, c);
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
static uint32_t behind(const KvClass& c, const KvTable& t, uint32_t p) { return p ? t.slot[c.slot_of(p - 1)] + 1 : 0; }

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
    if (c.policy->begin) c.policy->begin(*this, seq, i, length, after);
    t.saved_first = c.policy->queue || t.end <= t.first
                        ? t.first
                        : t.end - 1;  // without a window nothing but a shared last page, or a kept one, is ever replaced
    t.saved_end = t.end;
    each_page(c, t.saved_first, t.end, [&](uint32_t p) { t.saved[c.slot_of(p)] = t.slot[c.slot_of(p)]; });
  }
}

// Whether `page` of the table is one that cancel would put back.
bool KvCache::saved(const KvClass& c, const KvTable& t, uint32_t page) {
  if (page >= t.saved_end) return false;
  if (page >= c.keep_pages && page < t.saved_first) return !c.policy->queue;
  return t.saved[c.slot_of(page)] == t.slot[c.slot_of(page)];
}

bool KvCache::has_room(uint32_t seq, uint32_t length, uint32_t n_more, uint32_t* taken) const {
  bool room = true;
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    if (c.policy->queue) continue;  // made for the most that sequences can hold
    const KvTable& t = table(seq, i);
    const bool copied = !c.policy->sealed && length % kPagePositions && c.refs[t.slot[c.slot_of(t.end - 1)]] > 1;
    taken[i] += c.policy->pages(length + n_more) - t.end + copied;
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
    for (const uint32_t first = c.policy->chosen ? 0 : c.policy->first_seen(c, back < length ? back : length);
         t.first < first && t.first < t.end; ++t.first)
      if (!saved(c, t, t.first)) drop(c, t.slot[c.slot_of(t.first)]);
    if (length % kPagePositions && !c.policy->sealed) {
      uint32_t& last = t.slot[c.slot_of(t.end - 1)];
      if (c.refs[last] > 1) {  // written to by this sequence alone
        const uint32_t own = take(c);
        copy_page(c, last, own);
        if (!saved(c, t, t.end - 1)) drop(c, last);
        last = own;
      }
    }
    for (const uint32_t end = c.policy->pages(length + n_more); t.end < end; ++t.end)
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
    if (c.policy->computed) c.policy->computed(*this, seq, i, before, length);
    for (const uint32_t first = c.policy->first_seen(c, back); t.first < first && t.first < t.end; ++t.first) {
      if (c.policy->leaves) c.policy->leaves(*this, seq, i, t.first);
      drop(c, t.slot[c.slot_of(t.first)]);
    }
    if (c.policy->committed) c.policy->committed(*this, seq, i, length);
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
    if (c.policy->queue) t.first = t.saved_first;
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
    const uint32_t end = c.policy->pages(keep);
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
    b.end = c.policy->pages(keep);
    b.first = first_kept(i, a.first, keep);
    each_page(c, b.first, b.end, [&](uint32_t p) {
      b.slot[c.slot_of(p)] = a.slot[c.slot_of(p)];
      ++c.refs[b.slot[c.slot_of(p)]];
    });
    if (c.policy->fork) c.policy->fork(*this, c, from, to);
  }
}

bool KvCache::gone(uint32_t i, uint32_t first, uint32_t length) const {
  const KvClass& c = classes[i];
  return c.policy->chosen ? first > c.keep_pages && first > length / kPagePositions : first > c.policy->first_seen(c, length);
}

uint32_t KvCache::first_kept(uint32_t i, uint32_t first, uint32_t length) const {
  const KvClass& c = classes[i];
  if (c.policy->chosen) return first;  // what is dropped takes part in a choice first
  const uint32_t kept = c.policy->first_seen(c, length > n_rollback ? length - n_rollback : 0);
  return kept > first ? kept : first;
}

uint32_t KvCache::held(uint32_t i, uint32_t length, uint32_t first) const {
  const KvClass& c = classes[i];
  const uint32_t end = c.policy->pages(length), kept = c.keep_pages;
  return (kept < end ? kept : end) + (first < end ? end - first : 0);
}

uint64_t KvCache::saved_bytes(uint32_t layer, uint32_t length, const uint32_t* first) const {
  const uint32_t i = class_of[layer];
  const KvClass& c = classes[i];
  const uint32_t n_held = held(i, length, first[i]);
  return uint64_t{n_held} * c.layout.page_bytes + (c.policy->saved_bytes ? c.policy->saved_bytes(*this, i, length, n_held) : 0);
}

void KvCache::save_page(uint32_t seq, uint32_t layer, uint32_t page, SavedTo& to) const {
  const KvView v = view(seq, layer);
  const KvClass& c = *v.of;
  const size_t bytes = c.layout.head_bytes;
  size_t step = 0;
  const uint8_t* at = backend->read(session, v.head(page, 0), c.n_pages * bytes, bytes, c.layout.n_kv_heads, &step);  // all heads at once
  for (uint32_t head = 0; head < c.layout.n_kv_heads; ++head) to.put(to, at + head * step, bytes);
}

void KvCache::load_page(uint32_t seq, uint32_t layer, uint32_t page, const uint8_t* from) {
  const KvView v = view(seq, layer);
  const size_t bytes = v.of->layout.head_bytes;
  backend->write(session, v.head(page, 0), from, v.of->n_pages * bytes, bytes, v.of->layout.n_kv_heads);
}

void KvCache::save(uint32_t seq, uint32_t layer, uint32_t length, SavedTo& to) const {
  const KvClass& c = classes[class_of[layer]];
  each_page(c, table(seq, class_of[layer]).first, c.policy->pages(length), [&](uint32_t page) { save_page(seq, layer, page, to); });
  if (c.policy->save) c.policy->save(*this, seq, layer, length, to);
}

void KvCache::load(uint32_t seq, uint32_t layer, uint32_t length, const uint32_t* saved, const uint8_t* from) {
  const uint32_t i = class_of[layer];
  const KvClass& c = classes[i];
  each_page(c, table(seq, i).first, c.policy->pages(length), [&](uint32_t page) {
    const size_t place = page < c.keep_pages ? page : c.keep_pages + page - saved[i];
    load_page(seq, layer, page, from + place * c.layout.page_bytes);
  });
  const size_t behind = held(i, length, saved[i]) * c.layout.page_bytes;
  if (c.policy->load) c.policy->load(*this, seq, layer, length, saved[i], from + behind);
}

bool KvCache::can_restore(uint32_t seq, uint32_t length, const uint32_t* first) const {
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    const KvTable& t = table(seq, i);
    uint32_t room = c.n_free;  // and what it gives back
    each_page(c, t.first, t.end, [&](uint32_t p) { room += c.refs[t.slot[c.slot_of(p)]] == 1; });
    const uint32_t n = held(i, length, first[i]);
    if (n > room || n > c.n_slots || (c.policy->pages(length) > first[i] && c.policy->pages(length) - first[i] > c.n_slots - c.keep_pages))
      return false;
  }
  return true;
}

void KvCache::restore(uint32_t seq, uint32_t length, const uint32_t* first) {
  truncate(seq, 0);
  for (uint32_t i = 0; i < n_classes; ++i) {
    KvClass& c = classes[i];
    KvTable& t = table(seq, i);
    t.end = c.policy->pages(length);
    t.first = first[i];
    each_page(c, t.first, t.end, [&](uint32_t p) { t.slot[c.slot_of(p)] = take(c, behind(c, t, p)); });
  }
}

uint64_t KvCache::read_bytes(uint32_t length) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < n_classes; ++i) {
    const KvClass& c = classes[i];
    const uint32_t end = c.policy->pages(length + 1), first = c.policy->first_seen(c, length),
                   kept = c.keep_pages < end ? c.keep_pages : end;
    bytes += uint64_t{kept + (end > first ? end - first : 0)} * c.n_readers * c.layout.page_bytes;
    bytes += uint64_t{c.n_sinks} * c.n_readers * c.layout.n_kv_heads * (c.layout.head_dim + c.layout.v_dim) * sizeof(float);
  }
  return bytes;
}

}  // namespace linnet
