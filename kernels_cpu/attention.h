// Attention of the CPU backend over paged KV; its blocks and merge order are the arithmetic contract's.
#pragma once
#include "../runtime/kv.h"
#include "../runtime/ops.h"

namespace linnet {

void cpu_kv_append(const Worker& w, const KvView& kv, uint32_t layer, const float* k, const float* v, size_t stride, const uint32_t* positions,
                   uint32_t m);
void cpu_attention(const Worker& w, const KvView& kv, uint32_t layer, const float* q, size_t q_stride, uint32_t n_heads, const uint32_t* positions,
                   uint32_t m, float scale, float* out, size_t out_stride);

}  // namespace linnet
