// Attention of the CPU backend over paged KV; its blocks and merge order are the arithmetic contract's. Pieces: how threads share work.
#pragma once
#include "../runtime/kv.h"
#include "../runtime/ops.h"

namespace linnet {

struct Share {
  uint32_t from, to;
};

// Threads take pieces of an operation as they get done, since one core's memory may be slower than another's. Operations take turns with the
// counters: fewer than kTickets / 2 of them stand between two syncs, so the one reset here is used by nobody now.
struct Pieces {
  uint32_t count, size, next, *ticket;

  Pieces(const Worker& w, uint32_t n, uint32_t piece) : count(n), size(w.n == 1 ? n : piece), next(0), ticket(nullptr) {
    if (w.n == 1) return;
    const uint32_t turn = w.n_pieces++;
    ticket = w.tickets + turn % kTickets;
    if (w.id == 0) __atomic_store_n(w.tickets + (turn + kTickets / 2) % kTickets, 0u, __ATOMIC_RELAXED);
  }
  bool take(Share* out) {
    const uint32_t at = ticket ? __atomic_fetch_add(ticket, size, __ATOMIC_RELAXED) : next;
    next = count;
    if (at >= count) return false;
    *out = {at, count - at < size ? count : at + size};
    return true;
  }
};

void cpu_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans, uint32_t n_spans,
                   const RopeView& rope);
bool cpu_kv_pack(const Worker& w, const KvCache& kv, uint32_t layer, const RowSpan* spans, uint32_t n_spans);
void cpu_attention(const Worker& w, const AttentionArgs& a);
size_t attention_scratch_bytes(const KvCache& kv, uint32_t n_heads, uint32_t n_threads);

}  // namespace linnet
