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
  uint32_t n, unit, count, next, *ticket;

  // `pieces` pieces, at most as many as units, of n_items items: whole units but for the end of the last, the larger ones first. A single thread takes all at once.
  Pieces(const Worker& w, uint32_t n_items, uint32_t items_a_unit, uint32_t pieces) : n(n_items), unit(items_a_unit), count(n_items ? pieces : 0), next(0), ticket(nullptr) {
    if (w.n == 1) {
      count = count ? 1 : 0;
      return;
    }
    const uint32_t turn = w.n_pieces++;
    ticket = w.tickets + turn % kTickets;
    if (w.id == 0) __atomic_store_n(w.tickets + (turn + kTickets / 2) % kTickets, 0u, __ATOMIC_RELAXED);
  }
  Pieces(const Worker& w, uint32_t n_items) : Pieces(w, n_items, 1, n_items) {}
  bool take(Share* out) {
    const uint32_t i = ticket ? __atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED) : next++;
    if (i >= count) return false;
    const uint32_t units = (n - 1) / unit + 1, size = units / count, larger = units % count;
    const uint32_t from = (i * size + (i < larger ? i : larger)) * unit, to = from + (size + (i < larger)) * unit;
    *out = {from, to < n ? to : n};
    return true;
  }
};

void cpu_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans, uint32_t n_spans,
                   const RopeView& rope);
bool cpu_kv_pack(const Worker& w, const KvCache& kv, uint32_t layer, const RowSpan* spans, uint32_t n_spans);
void cpu_attention(const Worker& w, const AttentionArgs& a);
size_t attention_scratch_bytes(const KvCache& kv, uint32_t n_heads, uint32_t n_threads);

}  // namespace linnet
