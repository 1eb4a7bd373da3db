// KIVI (Liu et al. 2024): of a layer's tokens all but the last ones wait in packed groups, each a page of a class of their own that is
// never written to again; the tail before them is i8 pages, of which those of packed groups leave.
#include <cstring>

#include "cache.h"
#include "page_policy.h"

namespace linnet {

Status check_groups(const CacheLayer& l, uint32_t i, uint32_t when_full, Error* err) {
  if (kv_kivi(l.k) != kv_kivi(l.v))
    return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has K in ", format_name(l.k), " and V in ", format_name(l.v), ": ",
                kGroupFormatNames, " go with each other alone");
  if (!kv_kivi(l.k)) return LINNET_OK;
  if (when_full != LINNET_FULL_STOP)
    return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has its KV cache in ", format_name(l.k), " and when_full is ", when_full,
                ": KIVI is for LINNET_FULL_STOP alone");
  if (l.latent)
    return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has its KV cache in ", format_name(l.k),
                ": the model caches a latent, which KIVI does not pack");
  return LINNET_OK;
}

KvLayout packed_layout(Format k, Format v, uint32_t n_kv_heads, uint32_t head_dim) {
  KvLayout l{};
  l.k = k;
  l.v = v;
  l.head_dim = l.v_dim = head_dim;
  l.n_kv_heads = n_kv_heads;
  l.dpad = static_cast<uint32_t>(align_up(head_dim, kPanel));
  l.k_groups = static_cast<uint32_t>(div_up(head_dim, 32));
  l.k_rows = static_cast<uint32_t>(align_up(head_dim, 8) / 4);
  l.k_scale_at = size_t{l.k_rows} * 64 * format_row(k).bits / 4;
  l.v_at = l.k_scale_at + l.k_rows * size_t{8} + l.k_groups * sizeof(uint16_t);
  l.v_scale_at = l.v_at + size_t{l.dpad} / 4 * 64 * format_row(v).bits / 4;
  l.head_bytes = static_cast<size_t>(align_up(l.v_scale_at + kGroupPositions * (size_t{2} * l.k_groups + sizeof(uint16_t)), 16));
  l.page_bytes = n_kv_heads * l.head_bytes;
  return l;
}

namespace {

uint32_t first_of_tail(const KvClass&, uint32_t position) { return packed_groups(position) * (kGroupPositions / kPagePositions); }
uint32_t first_group(const KvClass&, uint32_t) { return 0; }

uint64_t tail_pool(KvClass* c, const CachePlan& p) {
  constexpr uint32_t kTail = 2 * kGroupPositions;  // most tokens at the end that are not packed
  return queue_pool(c, p, kTail, 0, pages_of(uint64_t{kTail} + p.n_rollback) + 1);
}

uint64_t group_pool(KvClass* c, const CachePlan& p) {
  c->n_slots = packed_groups(p.n_context);
  const uint64_t all = uint64_t{p.n_sequences} * c->n_slots, n = p.n_pool / kGroupPositions;
  return n < all ? n : all;
}

uint64_t groups_saved(const KvCache& kv, uint32_t c, uint32_t length, uint32_t) {
  return uint64_t{packed_groups(length)} * kv.classes[kv.classes[c].packed].layout.page_bytes;
}

void save_groups(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, SavedTo& to) {
  const KvView v = kv.view(seq, layer);
  for (uint32_t g = 0; g < packed_groups(length); ++g)
    for (uint32_t head = 0; head < v.packed->layout.n_kv_heads; ++head) to.put(to, v.group(g, head), v.packed->layout.head_bytes);
}

void load_groups(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, uint32_t, const uint8_t* from) {
  const KvView v = kv.view(seq, layer);
  const KvLayout& l = v.packed->layout;
  for (uint32_t g = 0; g < packed_groups(length); ++g)
    for (uint32_t head = 0; head < l.n_kv_heads; ++head)
      std::memcpy(v.group(g, head), from + g * l.page_bytes + head * l.head_bytes, l.head_bytes);
}

}  // namespace

const PagePolicy kTailOfGroups = {.queue = true,
                                  .pages = whole_pages,
                                  .first_seen = first_of_tail,
                                  .pool = tail_pool,
                                  .saved_bytes = groups_saved,
                                  .save = save_groups,
                                  .load = load_groups};
const PagePolicy kPackedGroups = {.sealed = true, .pages = packed_groups, .first_seen = first_group, .pool = group_pool};

}  // namespace linnet
