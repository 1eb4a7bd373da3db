// What a kind of layer step is: how it is loaded, what rows need on their way through it, and its steps. The decoder knows two tables of
// them, mixers and feed-forward steps; each kind has its file here.
#pragma once
#include "../cache/cache_plan.h"
#include "../ops.h"
#include "../spec.h"

namespace linnet {

struct Decoder;
struct Layer;
struct Loader;

// Row lengths are rounded up to 16 floats.
inline size_t row_floats(uint64_t n) { return static_cast<size_t>(padded_n(n)); }

// Room for quantised rows that any of some matrices reads.
struct QuantRoom {
  uint64_t bytes = 0, groups = 0;  // of a row

  void add(const Matrix& m) {
    const Format x = format_row(m.format).x;
    if (!m.panels || x == LINNET_F32) return;
    if (quant_stride(x, m.k) > bytes) bytes = quant_stride(x, m.k);
    if (n_x_groups(m.format, m.k) > groups) groups = n_x_groups(m.format, m.k);
  }
};

// Buffers as rows for `w`'s format; q of no use (nullptr) where it reads f32.
inline QuantRows quant_rows(const QuantRows& room, const Matrix& w) {
  const FormatRow& f = format_row(w.format);
  if (f.x == LINNET_F32) return {};
  return {f.x, room.q, room.scale, room.sum128, quant_stride(f.x, w.k), f.x_group, static_cast<uint32_t>(n_x_groups(w.format, w.k))};
}

inline QuantRows rows_from(const QuantRows& q, uint32_t first) {
  return {q.format, q.q + first * q.stride, q.scale + size_t{first} * q.groups, q.sum128 + size_t{first} * q.groups, q.stride, q.group,
          q.groups};
}

// What a chunk of rows takes in buffers that all layers use one after the other.
struct Needs {
  uint64_t n_rows;    // of a chunk
  uint32_t few_rows;  // up to so many gate_up() makes whole products even where what follows is quantised
  uint64_t wide = 0;  // floats of the buffer for what is wider than the residual stream
  QuantRoom codes, hidden, pairs;

  void need_wide(uint64_t floats) { wide = floats > wide ? floats : wide; }
};

inline constexpr size_t kMostTensorsBytes = 1024;  // of a kind

// What a mixer keeps of its tokens, without the formats.
inline CacheLayer pages_of_heads(const LayerSpec& l, uint32_t latent) {
  return {.k = LINNET_I8,
          .v = LINNET_I8,
          .n_heads = l.n_heads,
          .n_kv_heads = l.n_kv_heads,
          .head_dim = l.head_dim,
          .latent = latent,
          .window = l.window,
          .back = l.kv_back};
}

struct LayerKind {
  size_t tensors_bytes;  // of its tensors, which `tensors` below is
  Status (*load)(Loader& in, uint32_t layer, const LayerSpec& spec, void* tensors);
  CacheLayer (*cache)(const ModelSpec& model, const LayerSpec& spec);  // of mixers
  void (*need)(const ModelSpec& model, const LayerSpec& spec, const void* tensors, Needs* needs);
  // Rows of the decoder's batch into the residual stream; those before `first` are of no use any more but for what is cached of them.
  void (*run)(Decoder& d, const Layer& l, uint32_t layer, uint32_t first);
};
#define LINNET_MIXER(name, roles) extern const LayerKind k##name##Kind;
#define LINNET_FEED_FORWARD LINNET_MIXER
#include "kinds.inc"
extern const LayerKind* const kMixers[];        // by Mixer
extern const LayerKind* const kFeedForwards[];  // by FeedForward

// Matrices that read the same rows share one quantisation of them.
bool same_rows(const Matrix& a, const Matrix& b);

}  // namespace linnet
