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

struct CachePlan {
  uint32_t n_layers, n_sequences, n_context, n_pool, n_chunk, n_rollback;
  uint32_t when_full, n_keep;  // linnet_when_full, and how many tokens stay
  bool chunked;                // windows are chunks
  const Backend* backend;
  const void* of;  // whatever the next one reads
  CacheLayer (*layer)(const void* of, uint32_t i);
};

}  // namespace linnet
