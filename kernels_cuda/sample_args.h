// Sampling on the GPU: what a token is drawn from and where it goes. All of it is device memory, so that a graph of kernels draws with what
// is there when it runs.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kSampleThreads = 256;
inline constexpr uint32_t kSampleSlice = 4096;  // logits of a block
inline constexpr uint32_t kSampleMost = 1024;   // candidates sorted at once, and tokens that penalties look back at, at most

// Of a sequence: linnet_sampling as sampling_check leaves it, and what has been drawn. A draw adds to n_draws, one that appends to
// n_history.
struct CudaSampler {
  float temperature, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty;
  uint32_t top_k, penalty_last_n;
  uint64_t seed, n_draws;
  uint32_t n_history, reserved;
};
// Where not_finite is not 0 the token is 0 and nothing has been drawn or appended. The queue's not_finite stays set until the host clears
// it.
struct CudaSampleResult {
  int32_t token;
  uint32_t not_finite;
};
struct CudaSampleArgs {
  const float* logits;  // (rows, stride)
  uint64_t stride;
  uint32_t n_rows, n_vocab;
  uint32_t append;        // 1: the token becomes the last of its sequence's history, where there is room
  const CudaSpan* spans;  // row i is of sequence spans[i].seq; nullptr: of sequence i
  CudaSampler* samplers;  // (sequences)
  int32_t* history;       // (sequences, history_stride)
  uint64_t history_stride;
  int32_t* tokens;            // (rows) for the next pass
  CudaSampleResult* results;  // (rows)
};

struct SampleArgs {
  CudaSampleArgs of;
  uint64_t* candidates;  // (rows, slices * kSampleMost)
  float* values;         // (rows, n_vocab) logits after penalties, where there are more candidates than kSampleMost
  uint32_t* not_finite;  // set where a logit is infinite or NaN
  uint32_t n_slices;
};

}  // namespace linnet
