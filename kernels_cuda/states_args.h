// Arguments of the kernels in states.cu.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kStateThreads = 256;  // channels of a block

inline constexpr uint32_t kCudaMostDelta = 256, kCudaDeltaPanel = 32, kCudaMambaHeads = 4;

// What a layer has in memory of a sequence: states (kCudaSlotStates, state_floats), each of which holds at `before` the last taps - 1 rows
// (n) in front of a convolution; then rows (n_rows, row_floats) that were kept.
struct StateArgs {
  const CudaSpan* spans;
  const uint32_t* row_span;
  const CudaSlot* slots;
  float* const* states;  // of the layer, states_stride from one span to the next
  const float* x;        // (rows, n), or where `gated` (rows, 3 * n): b | c | u, of which b * u goes in
  uint64_t x_stride;
  uint32_t states_stride, state_floats, row_floats, before, n, taps, gated;
};
// ShortConvArgs of ops.h.
struct ConvArgs {
  StateArgs of;
  const float* weight;
  float* y;
  uint64_t y_stride;
  uint32_t pieces;
};
// Heads and the B and C of each group; groups 0: no Mamba-2.
struct MambaShape {
  uint32_t heads, groups, head_dim, state_dim;  // heads: of a group
};
struct HistoryArgs {
  StateArgs of;
  MambaShape mamba;
  uint32_t n, pieces;  // n: channels, of Mamba-2 those of all pieces
};
struct KeepArgs {
  StateArgs of;
  const float *second, *third;
  uint64_t second_stride, third_stride;
  uint32_t n_second, pieces;
};
// DeltaNetArgs of ops.h, whose rows that are kept have x, then beta and alpha.
struct DeltaArgs {
  StateArgs of;
  const float *conv, *a, *norm, *beta, *alpha;
  float* y;
  uint64_t beta_stride, alpha_stride, y_stride;
  uint32_t key_heads, value_heads, key_dim, value_dim, tiled, by_key, hold;
  float beta_scale, eps, l2_eps, q_by, k_by;
};
// A token's, in a block's memory.
struct DeltaRow {
  float q[kCudaMostDelta], k[kCudaMostDelta], fades[kCudaMostDelta];
  float row[3 * kCudaMostDelta];  // q | k | v before q and k are of length 1
  float out[kCudaMostDelta], beta;
};
// MambaArgs of ops.h, whose rows that are kept have x, then dt.
inline constexpr uint32_t kMambaTokens = 8;  // that a block goes through at a time
struct MambaHeadsArgs {
  StateArgs of;
  MambaShape shape;
  uint32_t block_heads;  // of a block: a part of a piece
  const float *conv, *conv_bias, *a, *skip, *dt;
  float* y;
  uint64_t dt_stride, y_stride;
  float dt_min, dt_max;
};
// A token's, in a block's memory.
struct MambaRow {
  float b[kCudaMostDelta], c[kCudaMostDelta], x[kCudaMostDelta];
  float fade[kCudaMambaHeads], dt[kCudaMambaHeads];
};

}  // namespace linnet
