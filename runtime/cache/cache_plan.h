// How a session's cache is made: what each layer keeps of its tokens, pages of keys and values or a state.
#pragma once
#include <cstdint>

#include "../format.h"

namespace linnet {

struct Backend;

// What a layer with a state keeps; both 0: none.
struct SlotPlan {
  uint32_t state_floats = 0;  // the state
  uint32_t row_floats = 0;    // what carries it on by a token
};

struct CacheLayer {
  Format k, v;
  uint32_t n_heads, n_kv_heads, head_dim, latent;  // n_kv_heads: 0 = no pages; latent: 0, or where values begin in keys (KvLayout)
  uint32_t window;
  uint32_t back = 0;  // the layer so many before this one has the pages that this one reads; 0: its own
  SlotPlan slot = {};
};
// Of a layer that has a state and no pages.
inline CacheLayer state_layer(SlotPlan slot) {
  return {.k = LINNET_I8, .v = LINNET_I8, .n_heads = 1, .n_kv_heads = 0, .head_dim = 1, .latent = 0, .window = 0, .slot = slot};
}

struct CachePlan {
  uint32_t n_layers, n_sequences, n_context, n_pool, n_chunk, n_rollback;
  uint32_t when_full, n_keep;  // linnet_when_full, and how many tokens stay
  bool chunked;                // windows are chunks
  const Backend* backend;
  const void* of;  // whatever the next one reads
  CacheLayer (*layer)(const void* of, uint32_t i);
  uint32_t n_checkpoints = 0, checkpoint_every = 1;  // of states: how many of a sequence, and tokens from one to the next
  bool bidirectional = false;                        // rows see what lies behind them, too
};

}  // namespace linnet
