// Arguments of the kernels of gemm.cu.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kGemvRows = 8;           // rows that a product of few rows takes
inline constexpr uint32_t kGemvWarps = 4;          // of a block of it
inline constexpr uint32_t kGemvShared = 32 << 10;  // bytes of shared memory that it keeps terms in
inline constexpr uint32_t kGemmWarps = 4;          // of a block for more rows, each with two panels
// Of 128 inputs that it has in shared memory, by the bytes of x that a lane has of 32.
template <uint32_t kXBytes>
inline constexpr uint32_t kGemmStages = kXBytes == 8    ? 4
                                        : kXBytes == 16 ? 3
                                                        : 2;
inline constexpr uint32_t kStageScales = 128 + 16;  // bytes that a panel has there of groups of 64 and 32, and what keeps banks apart
// Of blocks of GGUF files 256 inputs at a time come through shared memory. Few rows: a warp's pieces and the scales of its two panels,
// twice, and minima with sums of x, or kBlocksShared bytes of terms. More rows: stages of x with its scales and sums (kStageRow bytes of a
// row) and the scales of a block's eight panels.
inline constexpr uint32_t kScalePad = 16;  // bytes between the scales of two panels, which lie in banks of their own so
inline constexpr uint32_t kBlocksShared = 16 << 10;
template <uint32_t kMinima>  // of 256 inputs
inline constexpr uint32_t kStageRow = 256 + (8 + kMinima) * 4;
template <uint32_t kRows>
inline constexpr uint32_t kBlocksStages = kRows == 16 ? 3 : 2;
inline constexpr uint32_t kFloatRows = 16;  // rows of a block of float weights, 4 times as many where rows are many

// y = x * W^T. A block's z is a matrix of several one below the other, each `panels` panels: of a head, or of the z-th expert that has
// pairs.
struct GemmArgs {
  CudaMatrix w;
  const uint8_t* x;         // codes, bf16, terms or floats as the kernel wants them
  const float* x_scale;     // (rows, x_groups): of codes and of terms in f16
  const int32_t* x_sum128;  // (rows, x_groups), i4g128z
  float* y;
  const float* bias;                                    // (all panels * 16) or nullptr
  uint64_t x_stride, y_stride;                          // bytes and floats between rows
  uint64_t x_z, scale_z, y_z;                           // heads: bytes, scales and floats from one to the next
  const uint32_t *first, *active, *n_active;            // of Pairs; nullptr: no experts
  uint32_t m;                                           // rows; experts have their own numbers
  uint32_t panels, x_groups, group, accumulate, split;  // split: warps that share k in a product of few rows
  uint32_t zero;                                        // 0
};

struct EmbedArgs {
  CudaMatrix table;
  const int32_t* tokens;
  float* y;
  uint64_t y_stride;
  uint32_t group;  // inputs per weight scale, 0: one for all
};

// Rows of heads for gemm_heads: quantised, and the floats behind them carried over to y.
struct HeadRowsArgs {
  const float* x;
  uint64_t x_stride, x_head, y_stride, y_head;  // floats
  float* y;
  uint8_t* q;    // (n_heads, m, stride) or nullptr: floats stay as they are
  float* scale;  // (n_heads, m, groups)
  int32_t* sum128;
  uint64_t stride;  // bytes
  uint32_t* not_finite;
  uint32_t k, carry, group, groups, bf16;
};

}  // namespace linnet
