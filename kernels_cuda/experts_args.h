// Arguments of the kernels in experts.cu.
#pragma once
#include "rows_args.h"

namespace linnet {

inline constexpr uint32_t kRouteExperts = 1024;  // most experts of a layer
inline constexpr uint32_t kGroupThreads = 1024;
inline constexpr uint32_t kGroupCounts = 6144;  // counters of (segment of pairs, expert) in shared memory

// Pairs of ops.h.
struct CudaPairs {
  uint32_t* experts;
  float* weights;
  uint32_t *places, *from, *first, *active, *n_active_experts;
};
// Capacity of ops.h; chosen is nullptr where there is no limit.
struct CudaCapacity {
  const CudaSpan* spans;
  const uint32_t* row_span;
  uint16_t* chosen;
  uint64_t chosen_stride;
  uint32_t most;
};
struct RouteArgs {
  float* logits;
  uint64_t stride;
  const float *correction, *weigh;
  uint32_t n_experts, n_active, sigmoid, normalise, mixer, n_groups, top_groups, group_best;
  float scale, near;
  CudaPairs pairs;
  CudaCapacity capacity;
};
struct GroupArgs {
  uint32_t n_pairs, n_experts, segments, segment_pairs;  // segment_pairs: a multiple of 32
  CudaPairs pairs;
};
struct LimitArgs {
  uint32_t n_pairs, n_active;
  CudaPairs pairs;
  CudaCapacity capacity;
};
struct GatherArgs {
  const float* x;
  float* y;  // nullptr: codes are copied from `in`
  uint64_t stride;
  uint32_t k, n_active, pieces, weigh;
  const uint32_t* from;
  const float* weights;
  CudaQuant in, q;
};
struct CombineArgs {
  const float *x, *shared, *gate;
  float* y;
  uint64_t stride, gate_stride;
  uint32_t n, n_active, pieces, weigh, accumulate;
  const uint32_t* places;
  const float* weights;
};

}  // namespace linnet
