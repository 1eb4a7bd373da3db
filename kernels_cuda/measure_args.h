// Arguments of the kernels of measure.cu.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kMeasureThreads = 256;
inline constexpr uint32_t kMeasureBlocks = 4;  // of an SM
inline constexpr uint32_t kPeakChains = 8;     // products of a warp that do not wait for each other

struct ReadAllArgs {
  const uint8_t* data;  // bytes of it, a multiple of 16
  uint64_t bytes;
  uint32_t* seen;  // (blocks, warps of a block) the exclusive or of the 32-bit words that each warp has read
};
struct PeakArgs {
  uint32_t* seen;   // (blocks, threads)
  uint32_t rounds;  // each of kPeakChains products of a warp
};

}  // namespace linnet
