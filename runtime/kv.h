// KV cache: pages of 16 positions for all KV heads of a layer, in one pool; one page table per sequence and layer class.
// K pages are panels of 16 tokens by head_dim, V pages are the panels of P times V, so both products are weight kernels.
#pragma once
#include <cstdint>

#include "arena.h"
#include "format.h"
#include "status.h"

namespace linnet {

inline constexpr uint32_t kPagePositions = 16;
inline constexpr uint32_t kBlockPositions = 256;  // attention works on blocks of this many absolute positions
inline constexpr uint32_t kNoPage = 0xFFFFFFFFu;

// Where the parts of one KV head lie inside its share of a page:
//   i8      K codes [kpad/4][16][4], K scales f16 [ceil(head_dim/32)][16], V codes [dpad/16][4][16][4], V scales f32 [16]
//   floats  K [head_dim][16], V [dpad/16][16 tokens][16]
// kpad = head_dim rounded up to 32, dpad to 16. Every part starts at a multiple of 64.
struct KvLayout {
  Format format;
  uint32_t head_dim, n_kv_heads, n_layers;
  uint32_t kpad, dpad, k_groups;
  size_t k_scale_at, v_at, v_scale_at, head_bytes;  // within a head's share
  size_t page_bytes;                                // of one layer: n_kv_heads * head_bytes
};
KvLayout kv_layout(Format format, uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim);

// What kernels see of one sequence.
struct KvView {
  KvLayout layout;
  uint8_t* pool;          // (n_layers, n_pages, page_bytes)
  const uint32_t* table;  // page of positions 16 * i .. 16 * i + 15
  uint32_t n_pages;       // in the pool, per layer
  uint8_t* head(uint32_t layer, uint32_t page, uint32_t kv_head) const {
    return pool + (static_cast<size_t>(layer) * n_pages + page) * layout.page_bytes + kv_head * layout.head_bytes;
  }
};

// The pool and the page table of the only sequence (later: of every sequence).
struct KvCache {
  KvLayout layout;
  uint8_t* pool;
  uint32_t* table;       // (n_pages)
  uint32_t* free_pages;  // stack
  uint32_t n_pages, n_free, n_used_pages, length;

  void layout_in(Arena& arena, const KvLayout& layout, uint32_t n_context);
  void reset();                       // after layout_in on real memory
  bool reserve(uint32_t n_positions); // takes and zeroes pages until n_positions fit; false if the pool is too small
  void truncate(uint32_t keep);       // gives back pages wholly past `keep`
  KvView view() const { return {layout, pool, table, n_pages}; }
};

}  // namespace linnet
