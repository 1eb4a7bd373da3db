// Layers that see all there is, or a window of it: pages that no row will see again leave. Sinks (StreamingLLM, Xiao et al. 2023): the
// first tokens stay in sight, moved up to the window.
#include "../backend.h"
#include "cache.h"
#include "page_policy.h"

namespace linnet {

uint32_t first_in_window(const KvClass& c, uint32_t position) {
  const uint32_t first = c.window && position >= c.window ? (position + 1 - c.window) / kPagePositions : 0;
  return first > c.keep_pages ? first : c.keep_pages;
}

// At rest a sequence holds its window and what may be rolled back. During a call those pages stay, and a chunk's own come to them.
uint64_t queue_pool(KvClass* c, const CachePlan& p, uint64_t held, uint64_t ahead, uint64_t passed) {
  const uint32_t all = endless(p.when_full) ? UINT32_MAX : pages_of(p.n_context),
                 more = p.n_chunk > p.n_rollback ? p.n_chunk : p.n_rollback;
  const uint32_t queue = c->keep_pages + pages_of(held + more + ahead) + 1;
  const uint64_t n = uint64_t{queue} + passed;
  // As many as all hold everything, and then nothing is ever dropped.
  c->n_slots = n >= all || queue > all ? all : queue;
  return p.n_sequences * (n < all ? n : all);
}

uint64_t whole_pool(KvClass* c, const CachePlan& p) {
  c->n_slots = pages_of(p.n_context);
  return pages_of(p.n_pool);
}

namespace {

uint64_t window_pool(KvClass* c, const CachePlan& p) {
  const uint32_t more = p.n_chunk > p.n_rollback ? p.n_chunk : p.n_rollback;
  // Where the context is cut, calls are short (session_prefill) and pass few pages.
  const bool cut = endless(p.when_full) && c->window == p.n_context - p.n_keep;
  return queue_pool(c, p, c->window, 0, pages_of(cut ? more : uint64_t{c->window} + p.n_rollback) + 1);
}

uint8_t* sinks_of(const KvClass& c, uint32_t seq) {
  return reinterpret_cast<uint8_t*>(c.sinks + size_t{seq} * c.n_layers * c.layout.n_kv_heads * c.sink_floats);
}
size_t sinks_bytes(const KvClass& c) { return size_t{c.n_layers} * c.layout.n_kv_heads * c.sink_floats * sizeof(float); }

void layout_sinks(KvClass* c, uint32_t n_sequences, Arena&, Arena& pools) {
  c->sink_floats = static_cast<size_t>(align_up(size_t{kMaxSinks} * c->layout.head_dim, 16)) + size_t{kMaxSinks} * c->layout.dpad;
  c->sinks = pools.take<float>("kv", n_sequences * sinks_bytes(*c) / sizeof(float));
}

// They are saved as they are, so they must not hold what the memory held before.
void reset_sinks(const KvCache& kv, const KvClass& c) {
  const size_t bytes = kv.n_sequences * sinks_bytes(c);
  kv.backend->zero(kv.session, sinks_of(c, 0), bytes, bytes, 1);
}

void fork_sinks(const KvCache& kv, const KvClass& c, uint32_t from, uint32_t to) {
  kv.backend->copy(kv.session, sinks_of(c, to), sinks_of(c, from), 0, sinks_bytes(c), 1);
}

uint64_t sinks_saved(const KvCache& kv, uint32_t c, uint32_t, uint32_t) { return kv.sink_bytes(c); }

void save_sinks(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t, SavedTo& to) {
  const size_t bytes = kv.sink_bytes(kv.class_of[layer]);
  size_t step = 0;
  to.put(to, kv.backend->read(kv.session, reinterpret_cast<const uint8_t*>(kv.view(seq, layer).sinks), 0, bytes, 1, &step), bytes);
}

void load_sinks(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t, uint32_t, const uint8_t* from) {
  kv.backend->write(kv.session, reinterpret_cast<uint8_t*>(kv.view(seq, layer).sinks), from, 0, kv.sink_bytes(kv.class_of[layer]), 1);
}

}  // namespace

const PagePolicy kKeepAll = {.pages = whole_pages, .first_seen = first_in_window, .pool = whole_pool};
const PagePolicy kWindow = {.queue = true, .pages = whole_pages, .first_seen = first_in_window, .pool = window_pool};
const PagePolicy kSinks = {.queue = true,
                           .pages = whole_pages,
                           .first_seen = first_in_window,
                           .pool = window_pool,
                           .layout = layout_sinks,
                           .reset = reset_sinks,
                           .fork = fork_sinks,
                           .saved_bytes = sinks_saved,
                           .save = save_sinks,
                           .load = load_sinks};

}  // namespace linnet
