// KIVI (Liu et al. 2024): 32 tokens of one KV head from two i8 pages to a packed group (kv_cache.h says how it lies) and back. Integers,
// and products of f32 that are the same everywhere, and which tokens a row sees packed depends on its position alone (packed_groups): so
// logits keep the rule of exact bytes over instruction sets, threads, chunks, batch mates and rollback. What is given up is that codes in
// the cache never change: once, i8 becomes 4 or 2 bits.
#pragma once
#include "../runtime/cache/kv_cache.h"

namespace linnet {

inline constexpr uint32_t kGroupPages = kGroupPositions / kPagePositions;

// pages: heads of i8 pages of layout `from`.
void kivi_pack(const KvLayout& packed, const KvLayout& from, const uint8_t* const* pages, uint8_t* group);
// Not what lies beyond head_dim, but for rounding up to 8 channels of K and 16 of V.
void kivi_unpack(const KvLayout& packed, const KvLayout& to, const uint8_t* group, uint8_t* const* pages);

}  // namespace linnet
