// Attention of the CPU backend over paged KV; its blocks and merge order are the arithmetic contract's.
#pragma once
#include "../runtime/cache/kv_cache.h"
#include "../runtime/ops.h"

namespace linnet {

void cpu_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans,
                   uint32_t n_spans, const RopeView& rope);
bool cpu_kv_pack(const Worker& w, const KvCache& kv, uint32_t layer, const RowSpan* spans, uint32_t n_spans);
void cpu_attention(const Worker& w, const AttentionArgs& a);
size_t attention_scratch_bytes(const KvCache& kv, uint32_t n_threads);

}  // namespace linnet
