// What host and device both read: plain structs that are kernels' arguments. Included by device code too, which has no headers of the host.
#pragma once
#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;  // as 64-bit Linux has it; size_t is NVRTC's own
typedef unsigned long uint64_t;
#else
#include <cstddef>
#include <cstdint>
#endif

namespace linnet {

// Numbers of linnet.h and format.h that kernels tell formats by; ops_cuda.cpp holds them against those.
enum CudaFormat : uint32_t {
  kCudaF32 = 1,
  kCudaF16,
  kCudaBf16,
  kCudaI8,
  kCudaI8G128,
  kCudaI8G64,
  kCudaI8G32,
  kCudaF8E4M3,
  kCudaF8E5M2,
  kCudaI4G128,
  kCudaI4G64,
  kCudaI4G32,
  kCudaI4G128Z,
  kCudaQ4_K = 16,
  kCudaQ5_K,
  kCudaQ6_K,
  kCudaQ4_1,
  kCudaQ5_0,
  kCudaQ5_1,
  kCudaQ2_K,
  kCudaQ3_K,
  kCudaIQ4_NL,
  kCudaIQ4_XS,
  kCudaMXFP4,
};
// Blocks of GGUF files that there are kernels for: number, kernels' names, kind (block_kinds.h), its pieces and the minima that an output
// has, of 256 inputs. Models with others are refused.
// clang-format off: a list
#define LINNET_CUDA_BLOCKS(X)                                                                                                            \
  X(Q4_K, q4_k, Q4K, 8, 8) X(Q5_K, q5_k, Q5K, 10, 8) X(Q6_K, q6_k, Q6K, 12, 0) X(MXFP4, mxfp4, Mxfp4, 8, 0) \
  X(IQ4_XS, iq4_xs, Iq4Xs, 8, 0) X(IQ4_NL, iq4_nl, Iq4Nl, 8, 0) X(Q5_0, q5_0, Q50, 10, 0) X(Q3_K, q3_k, Q3K, 6, 0) \
  X(Q2_K, q2_k, Q2K, 4, 16) X(Q4_1, q4_1, Q41, 8, 8) X(Q5_1, q5_1, Q51, 10, 8)
// clang-format on

// A packed matrix (n, k) in device memory: the bytes of the file, in blocks that are cut between panels.
inline constexpr uint32_t kMaxMatrixParts = 16;
struct CudaMatrix {
  uint32_t format, n, k, n_panels;    // n_panels = ceil(n / 16)
  uint32_t part_panels;               // panels of each part but the last
  uint32_t w_groups;                  // weight scales per output
  uint64_t panel_bytes, scale_bytes;  // of one panel
  const uint8_t* panels[kMaxMatrixParts];
  const uint8_t* scales[kMaxMatrixParts];
};

// Rows row..row + n - 1 of a batch are positions position.. of sequence seq; the same bytes as RowSpan.
struct CudaSpan {
  uint32_t seq, row, n, position;
};

// How a pass carries on the states of a span's sequence: SlotView of slots.h, with states by their numbers.
inline constexpr uint32_t kCudaSlotStates = 4;
struct CudaSlotRun {
  uint32_t first, n, from, to;
};
struct CudaSlot {
  CudaSlotRun runs[2];
  uint32_t n_runs, position, keep_from, n_rows, first, first_place, length, new_place;
};

// What the host says anew for every pass. It lies in device memory at places that stay the same while a session lives, so that one graph of
// kernels serves all passes of its shape.
struct CudaPass {
  const int32_t* tokens;     // (chunk)
  const CudaSpan* spans;     // (sequences)
  const uint32_t* row_span;  // (chunk) the span that a row is of
  const uint32_t* tables;    // (sequences, table_stride) page tables of the spans' sequences: of class c the slots from table_at[c] on
  uint32_t table_stride, table_at[8];
  const CudaSlot* slots;  // (sequences) of the spans
  float* const* states;   // (sequences, n_layers) of the spans' sequences what SlotLayer::of has for them
  uint32_t n_layers;      // of the model where one has a state, else 0
};

}  // namespace linnet
