// KV cache: pages of 16 positions for all KV heads of a layer. Layers whose pages look alike and that see the same window form a class,
// with one pool of reference-counted pages; every sequence has one page table per class. K pages are panels of 16 tokens by head_dim, V
// pages are the panels of P times V, so both products are weight kernels. What becomes of pages that rows no longer see is a class's policy
// (page_policy.h). Layers in a KIVI format have two classes: a tail of i8 pages, and packed groups.
#pragma once
#include <cstdint>

#include "../../platform/arena.h"
#include "../../platform/status.h"
#include "../format.h"
#include "../ops.h"
#include "cache_plan.h"

namespace linnet {

struct PagePolicy;
struct SavedTo;

inline constexpr uint32_t kPagePositions = 16;
inline constexpr uint32_t kBlockPositions = 256;  // attention works on blocks of this many absolute positions
inline constexpr uint32_t kGroupPositions = 32;   // of a packed group, two pages
inline constexpr uint32_t kMaxKvClasses = 8, kNoPages = 255;
inline constexpr uint32_t kMaxSinks = kPagePositions;
inline constexpr uint32_t kObserved = 32;  // last tokens of a prompt whose attention SnapKV goes by

// Where the parts of one KV head lie inside its share of a page:
//   i8      K codes [kpad/4][16][4], K scales f16 [ceil(head_dim/32)][16]; V codes [dpad/16][4][16][4], V scales f32 [16]. Rounding
//           averages out over the channels of a head; heads of at most 16 use the padding for their keys' second bytes: channel 16 + c is
//           what code c leaves, in 1/256
//   FP8     the same codes, K and V scales f32 [16]: one per token
//   floats  K [head_dim][16]; V [dpad/16][16 tokens][16]
//   KIVI    32 tokens, as rows of 64 codes like those of two i8 pages: K ceil(head_dim/8)*2 rows [k/4][16][4], V [dpad/16][4][16][4]. 4
//           bits: byte j of row r holds code j of that row of the first page in its low half, of the second page in its high half. 2 bits:
//           two rows a byte, those of row 2i+1 above. K: smallest values i8 and ranges u8 of every channel, f16 scales
//           [ceil(head_dim/32)]; V: smallest values and ranges [ceil(head_dim/32)][32 tokens], bf16 scales [32 tokens]. A value is
//           (smallest + range * code / largest code) * scale (kernels_cpu/kivi.cpp)
// kpad = head_dim rounded up to 32, dpad = v_dim to 16. Every part starts at a multiple of 64, of KIVI's groups at even bytes.
// Latent attention: no V. Its values are the keys' channels from `latent` on, which in i8 share one scale per kLatentGroup (stored per 32
// as ever).
struct KvLayout {
  Format k, v;
  uint32_t head_dim, n_kv_heads;
  uint32_t latent, v_dim;  // latent: 0 = values of their own, of v_dim = head_dim channels
  uint32_t kpad, dpad, k_groups;
  uint32_t k_rows;                                  // KIVI: of 64 codes
  size_t k_scale_at, v_at, v_scale_at, head_bytes;  // within a head's share
  size_t page_bytes;                                // of one layer: n_kv_heads * head_bytes
};
inline constexpr uint32_t kSecondByte = 16;
inline constexpr uint32_t kLatentGroup = 128;
constexpr bool kv_small_head(uint32_t head_dim) { return head_dim <= kSecondByte; }
constexpr bool kv_kivi(Format f) { return format_groups(f); }
// KIVI: groups that are packed in a sequence of `length` tokens, as its last row saw it. A row at a multiple of 32 packs the group that
// ends 32 tokens before it: so what a row sees packed depends on its position alone.
constexpr uint32_t packed_groups(uint32_t length) { return length > 2 * kGroupPositions ? (length - 1) / kGroupPositions - 1 : 0; }
// Formats that do not go with each other, with a latent or with how tokens are dropped.
Status check_pages(const CacheLayer& layer, uint32_t i, uint32_t when_full, Error* err);
KvLayout kv_layout(Format k, Format v, uint32_t n_kv_heads, uint32_t head_dim, uint32_t latent);

struct KvClass {
  KvLayout layout;
  const PagePolicy* policy;
  uint32_t group;      // heads that look at one KV head
  uint32_t window;     // a row at position p sees t > p - window; 0 = all
  bool chunked;        // of those the ones of its own chunk of `window` positions alone
  bool bidirectional;  // and t < p + window behind it
  uint32_t keep;       // and t < keep
  uint32_t n_sinks;    // and t < n_sinks, moved up to the window: their keys wait unrotated (StreamingLLM)
  uint32_t keep_pages;
  uint32_t packed;               // of a KIVI tail: the class of the same layers' packed groups, the next one; 0 = none
  uint32_t n_layers, n_readers;  // layers whose pages they are; those that read them
  uint32_t n_pages;              // in the pool
  uint32_t n_slots;              // of a page table: more pages a sequence never holds at once
  uint8_t** pools;  // (n_layers) each (n_kv_heads, n_pages, head_bytes): what a head reads of pages in order lies in one piece. All in one,
                    // or in pieces of a layer or more
  uint32_t* refs;   // (n_pages) page tables that hold the page
  uint32_t n_free;
  uint32_t lowest;  // no page before this one is free
  // Of every sequence, layer and KV head: keys of the sinks as they are before RoPE (kMaxSinks, head_dim), then their values as a page of
  // floats.
  float* sinks;  // (n_sequences, n_layers, n_kv_heads, sink_floats)
  size_t sink_floats;
  // Heavy hitters and SnapKV: the kept pages hold tokens that attention chose, of every layer and KV head its own, and a row sees them and
  // all pages from the table's first on. `score`: attention that every slot's token has drawn; `fresh`: in the running call.
  float *score, *fresh;                                             // (n_sequences, n_layers, n_kv_heads, n_slots * 16) or nullptr
  float *pooled, *sorted;                                           // (n_slots * 16)
  uint8_t* of_layer(uint32_t layer) const { return pools[layer]; }  // layer: its place among the class
  uint8_t* head(uint32_t layer, uint32_t kv_head, uint32_t page) const {
    return of_layer(layer) + (size_t{kv_head} * n_pages + page) * layout.head_bytes;
  }  // page: of the pool
  size_t scores_per_layer() const { return size_t{layout.n_kv_heads} * n_slots * kPagePositions; }
  // Behind the last token that a row at position p sees, where tokens up to `end` are there.
  uint32_t high(uint32_t p, uint32_t end) const { return !bidirectional ? p + 1 : window && end - p > window ? p + window : end; }
  // The first token that a row at position p sees.
  uint32_t low(uint32_t p) const { return window == 0 || p < window ? 0 : chunked ? p / window * window : p + 1 - window; }
  bool chosen() const { return fresh != nullptr; }
  bool groups() const { return kv_kivi(layout.k); }  // a page is one packed group
  // Kept pages lie before the queue of the others.
  uint32_t slot_of(uint32_t page) const { return page < keep_pages ? page : keep_pages + (page - keep_pages) % (n_slots - keep_pages); }
};

// Pages of one sequence in one class: page i holds positions 16 * i .. 16 * i + 15 and is slot[slot_of(i)], for i < keep_pages and first <=
// i, i < end.
struct KvTable {
  uint32_t* slot;
  uint32_t first, end;
  uint32_t* saved;  // (n_slots) the slots as they were when the running call began; their pages stay until it ends
  uint32_t saved_first, saved_end;
};

// Calls fn(page) for all pages that a table of `first` and `end` holds.
template <class Fn>
void each_page(const KvClass& c, uint32_t first, uint32_t end, Fn fn) {
  for (uint32_t p = 0; p < c.keep_pages && p < end; ++p) fn(p);
  for (uint32_t p = first; p < end; ++p) fn(p);
}

// What kernels see of one sequence in one layer.
struct KvView {
  const KvLayout* layout;
  uint32_t index;  // of the layer among its class
  const uint32_t* slot;
  const KvClass* of;
  float* sinks;           // (n_kv_heads, sink_floats)
  float* fresh;           // (n_kv_heads, n_slots * 16): attention that tokens draw in this call, or nullptr
  uint32_t low;           // with chosen tokens: the first token behind them
  const KvClass* packed;  // KIVI: its groups, or nullptr
  const uint32_t* group_slot;
  uint8_t* head(uint32_t page, uint32_t kv_head) const { return of->head(index, kv_head, slot[of->slot_of(page)]); }
  uint8_t* group(uint32_t g, uint32_t kv_head) const { return packed->head(index, kv_head, group_slot[g]); }
};

struct KvCache {
  uint32_t n_classes, n_layers, n_sequences, n_rollback;
  KvClass classes[kMaxKvClasses];
  uint8_t* class_of;       // (n_layers), kNoPages where a layer has none
  uint16_t* layer_index;   // (n_layers) the layer's place among its class
  KvTable* tables;         // (n_sequences, n_classes)
  uint32_t* observe_from;  // (n_sequences) rows from this position on add to `fresh`
  const Backend* backend;  // whose memory the pools are
  void* session;           // its handle of the session

  // False if the layers need more than kMaxKvClasses classes. pools: where those lie, which may be `arena`.
  bool layout_in(Arena& arena, Arena& pools, const CachePlan& plan);
  void reset();  // after layout_in on real memory; the backend's session has been started

  KvTable& table(uint32_t seq, uint32_t c) const { return tables[seq * n_classes + c]; }
  KvView view(uint32_t seq, uint32_t layer) const {
    const KvClass& c = classes[class_of[layer]];
    const uint32_t index = layer_index[layer];
    const KvTable& t = table(seq, class_of[layer]);
    const size_t of_all = size_t{seq} * c.n_layers + index;
    const KvClass* p = c.packed ? &classes[c.packed] : nullptr;
    return {&c.layout,
            index,
            t.slot,
            &c,
            c.n_sinks ? c.sinks + of_all * c.layout.n_kv_heads * c.sink_floats : nullptr,
            c.chosen() ? c.fresh + of_all * c.scores_per_layer() : nullptr,
            c.chosen() && t.first > c.keep_pages ? t.first * kPagePositions : 0,
            p,
            p ? table(seq, c.packed).slot : nullptr};
  }
  // The formats of a layer: those that it was asked for in.
  const KvLayout& formats(uint32_t layer) const {
    const KvClass& c = classes[class_of[layer]];
    return c.packed ? classes[c.packed].layout : c.layout;
  }

  bool has_pages(uint32_t layer) const { return class_of[layer] != kNoPages; }
  // Whether a layer's pages are no other layer's before it; the first layer of a class.
  bool owns(uint32_t layer) const;
  uint32_t first_of_class(uint32_t c) const;

  // The calls of Cache (cache.h), for the pages.
  void begin(uint32_t seq, uint32_t length, uint32_t after);
  bool has_room(uint32_t seq, uint32_t length, uint32_t n_more, uint32_t* taken) const;  // taken: (n_classes), summed up over sequences
  void advance(uint32_t seq, uint32_t length, uint32_t n_more);
  void commit(uint32_t seq, uint32_t before, uint32_t length);
  void cancel(uint32_t seq);
  bool can_truncate(uint32_t seq, uint32_t keep) const;
  void truncate(uint32_t seq, uint32_t keep);
  void fork(uint32_t from, uint32_t to, uint32_t keep);

  // A saved sequence. `first`: of each class the page that those behind the kept ones begin with. gone: whether a sequence of `length`
  // positions cannot be with that page. first_kept: the first of those that a sequence of this length holds on to, for rows after a
  // rollback too, where it had `first` so far.
  bool gone(uint32_t c, uint32_t first, uint32_t length) const;
  uint32_t first_kept(uint32_t c, uint32_t first, uint32_t length) const;
  uint32_t held(uint32_t c, uint32_t length, uint32_t first) const;  // pages, kept ones included
  size_t sink_bytes(uint32_t c) const { return classes[c].layout.n_kv_heads * classes[c].sink_floats * sizeof(float); }  // of a layer
  uint64_t saved_bytes(uint32_t layer, uint32_t length, const uint32_t* first) const;
  void save(uint32_t seq, uint32_t layer, uint32_t length, SavedTo& to) const;
  bool can_restore(uint32_t seq, uint32_t length, const uint32_t* first) const;
  void restore(uint32_t seq, uint32_t length, const uint32_t* first);
  // Fills a layer's pages from what save() wrote of a sequence that began with `saved`.
  void load(uint32_t seq, uint32_t layer, uint32_t length, const uint32_t* saved, const uint8_t* from);
  // One of its pages (page_bytes).
  void save_page(uint32_t seq, uint32_t layer, uint32_t page, SavedTo& to) const;
  void load_page(uint32_t seq, uint32_t layer, uint32_t page, const uint8_t* from);

  // Bytes that one decoded row at this position reads.
  uint64_t read_bytes(uint32_t length) const;

  // For policies.
  // A page for a sequence to write to: `wanted` if that is free, or the first that is.
  uint32_t take(KvClass& c, uint32_t wanted = 0);
  void drop(KvClass& c, uint32_t page);
  void copy_page(KvClass& c, uint32_t from, uint32_t to);

 private:
  static bool saved(const KvClass& c, const KvTable& t, uint32_t page);
  template <class Fn>
  void each_run(const KvClass& c, Fn fn) const;
};

}  // namespace linnet
