// Arguments of the kernels in rows.cu.
#pragma once
#include "cuda_types.h"

namespace linnet {

// QuantRows of one operation; kind 0: nothing is quantised.
struct CudaQuant {
  uint8_t* q;       // (m, stride)
  float* scale;     // (m, groups)
  int32_t* sum128;  // (m, groups)
  uint32_t* not_finite;
  uint64_t stride;               // bytes
  uint32_t kind, group, groups;  // kind: 0, kCudaI8 or kCudaBf16
};

enum CudaNormKind : uint32_t { kCudaNormNone, kCudaNormRms, kCudaNormLayer };
enum CudaActivation : uint32_t { kCudaSilu, kCudaGeluTanh, kCudaGeluErf, kCudaRelu, kCudaSwigluClamped, kCudaSigmoid, kCudaRelu2 };

inline constexpr uint32_t kRowThreads = 256;
inline constexpr uint32_t kNormTile = 4096;          // floats of a row in shared memory at a time
inline constexpr uint32_t kPiece = kRowThreads * 4;  // elements of a row that a block takes where elements are apart

// y = norm(x) of each row, or with `add` y += norm(x) * scale. x may be y.
struct NormArgs {
  const float* x;
  float* y;
  const float *weight, *bias;
  uint64_t stride;
  uint32_t n, kind, add;
  float eps, scale;
  CudaQuant q;
};
// GatedNormArgs of ops.h; n: of a group.
struct GatedRowsArgs {
  const float* gate;
  float* y;
  const float* weight;
  uint64_t gate_stride, stride;
  uint32_t n, groups, norm_first;
  float eps;
};
// x = clip(cap(x * factors[row] * by)); what is 0 or nullptr is left out.
struct ChangeArgs {
  float* x;
  const float* factors;
  uint64_t stride;
  uint32_t n, pieces;
  float by, cap, limit;
};
struct QuantizeArgs {
  const float* x;
  uint64_t stride;
  uint32_t k, pieces;
  CudaQuant q;
};
struct ActMulArgs {
  const float *gate, *up;
  float* y;
  uint64_t stride;
  uint32_t n, pieces, act;
  float limit;
  CudaQuant q;
};
// by: of ops.h.
struct XieluArgs {
  float* x;
  const float* by;
  uint64_t stride;
  uint32_t n, pieces;
  CudaQuant q;
};
// Streams of ops.h; scale, of correct alone: (n).
inline constexpr uint32_t kCudaStreams = 4, kCudaStreamRouter = 16;
struct StreamsArgs {
  float* streams;
  uint64_t apart;
  const float *router, *coefs, *scale;
  float* x;
  uint64_t stride;
  uint32_t n, pieces;
};
struct MatchArgs {
  float* x;
  const float* like;
  uint64_t stride;
  uint32_t n;
};
struct SparsifyArgs {
  float* x;
  uint64_t stride;
  uint32_t n;
  float cut;
};
// Of every head: a norm (kind), RoPE, an RMS norm after it (after).
struct RopeArgs {
  float* x;
  const float *weight, *bias, *cos, *sin;
  uint64_t stride;
  uint32_t m, n_heads, head_dim, n_pairs, interleaved;
  uint32_t kind, after, weight_stride;  // floats from one head's weights to the next's
  float eps;
};
// Rows for products on tensor cores that are not the CPU's: floats in terms of the weights' format. Of every 32 inputs the first terms,
// then the second ones, ... A group of 128 inputs has a scale, in bf16 none; one that is not finite gives zeros and is told.
struct TermArgs {
  const uint8_t* x;
  uint8_t* to;   // (m, stride)
  float* scale;  // (m, groups)
  uint32_t* not_finite;
  uint64_t x_stride, stride;         // bytes
  uint32_t k, pieces, groups, kind;  // kind: kCudaF16, kCudaBf16
};
struct FiniteArgs {
  const float* x;
  uint64_t stride;
  uint32_t* not_finite;
  uint32_t n, pieces;
};

}  // namespace linnet
