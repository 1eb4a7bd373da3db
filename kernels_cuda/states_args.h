// Arguments of the kernels in states.cu.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kStateThreads = 256;  // channels of a block
inline constexpr uint32_t kCudaMostTaps = 16;

// ShortConvArgs of ops.h. A layer's memory of a sequence are its states (kCudaSlotStates, taps - 1, n), then rows (n_rows, n).
struct ConvArgs {
  const CudaSpan* spans;
  const uint32_t* row_span;
  const CudaSlot* slots;
  float* const* states;  // of the layer, states_stride from one span to the next
  const float *x, *weight;
  float* y;
  uint64_t x_stride, y_stride;
  uint32_t states_stride, n, taps, pieces;
};

}  // namespace linnet
