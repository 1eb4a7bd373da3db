#include "kv.h"

#include <cstring>

namespace linnet {

KvLayout kv_layout(Format format, uint32_t n_layers, uint32_t n_kv_heads, uint32_t head_dim) {
  KvLayout l{};
  l.format = format;
  l.head_dim = head_dim;
  l.n_kv_heads = n_kv_heads;
  l.n_layers = n_layers;
  l.dpad = static_cast<uint32_t>(align_up(head_dim, kPanel));
  l.kpad = static_cast<uint32_t>(padded_k(format, head_dim));
  const size_t value = format_row(format).bytes;
  const size_t k_bytes = kPagePositions * l.kpad * value, v_bytes = kPagePositions * l.dpad * value;
  l.k_scale_at = align_up(k_bytes, 64);
  if (format_row(format).integer) {
    l.k_groups = static_cast<uint32_t>(div_up(head_dim, 32));
    l.v_at = l.k_scale_at + align_up(l.k_groups * kPagePositions * sizeof(uint16_t), 64);
    l.v_scale_at = l.v_at + v_bytes;
    l.head_bytes = l.v_scale_at + align_up(kPagePositions * sizeof(float), 64);
  } else {
    l.v_at = l.k_scale_at;
    l.v_scale_at = l.head_bytes = l.v_at + align_up(v_bytes, 64);
  }
  l.page_bytes = n_kv_heads * l.head_bytes;
  return l;
}

void KvCache::layout_in(Arena& arena, const KvLayout& kv, uint32_t n_context) {
  layout = kv;
  n_pages = static_cast<uint32_t>(div_up(n_context, kPagePositions));
  table = arena.take<uint32_t>("page table", n_pages);
  free_pages = arena.take<uint32_t>("page table", n_pages);
  uint64_t bytes = 0;
  if (!checked_mul(uint64_t{kv.n_layers} * n_pages, kv.page_bytes, &bytes)) bytes = UINT64_MAX;  // the arena refuses it
  pool = arena.take<uint8_t>("kv", bytes);
}

void KvCache::reset() {
  n_free = n_pages;
  n_used_pages = length = 0;
  for (uint32_t i = 0; i < n_pages; ++i) {
    table[i] = kNoPage;
    free_pages[i] = n_pages - 1 - i;  // page 0 on top
  }
}

bool KvCache::reserve(uint32_t n_positions) {
  const uint32_t want = static_cast<uint32_t>(div_up(n_positions, kPagePositions));
  if (want > n_pages || want > n_used_pages + n_free) return false;
  while (n_used_pages < want) {
    const uint32_t page = free_pages[--n_free];
    for (uint32_t layer = 0; layer < layout.n_layers; ++layer)
      std::memset(pool + (size_t{layer} * n_pages + page) * layout.page_bytes, 0, layout.page_bytes);
    table[n_used_pages++] = page;
  }
  return true;
}

void KvCache::truncate(uint32_t keep) {
  if (keep < length) length = keep;
  const uint32_t want = static_cast<uint32_t>(div_up(length, kPagePositions));
  while (n_used_pages > want) {
    free_pages[n_free++] = table[--n_used_pages];
    table[n_used_pages] = kNoPage;
  }
}

}  // namespace linnet
