// Sizes that tensors of several kinds have.
#pragma once
#include "../spec.h"

namespace linnet::sizes {

inline uint32_t one(const ModelSpec&, const LayerSpec&) { return 1; }
inline uint32_t d_model(const ModelSpec& s, const LayerSpec&) { return s.d_model; }
inline uint32_t n_heads(const ModelSpec&, const LayerSpec& l) { return l.n_heads; }
inline uint32_t head_dim(const ModelSpec&, const LayerSpec& l) { return l.head_dim; }
inline uint32_t layer_embd(const ModelSpec& s, const LayerSpec&) { return s.layer_embd; }
inline bool has_layer_embd(const ModelSpec& s, const LayerSpec&) { return s.layer_embd; }
inline bool has_streams(const ModelSpec& s, const LayerSpec&) { return s.streams; }
inline bool always(const ModelSpec& s, const LayerSpec&) { return s.n_layers > 0; }

}  // namespace linnet::sizes
