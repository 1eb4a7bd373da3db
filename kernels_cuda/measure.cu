// The two limits of a GPU: a plain read of its memory, and tensor cores that multiply registers and wait for nothing.
#include "device.h"
#include "measure_args.h"

namespace linnet {

// Eight loads of 16 bytes are under way in each thread; a warp's are next to each other.
LINNET_KERNEL(kMeasureThreads) read_all(const ReadAllArgs a) {
  constexpr uint32_t kLoads = 8;
  const uint64_t n = a.bytes / 16, step = uint64_t{gridDim.x} * kMeasureThreads;
  uint64_t i = uint64_t{blockIdx.x} * kMeasureThreads + threadIdx.x;
  uint32_t seen = 0;
  for (; i + (kLoads - 1) * step < n; i += kLoads * step) {
    uint4 v[kLoads];
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) v[j] = load16(a.data + (i + j * step) * 16);
#pragma unroll
    for (uint32_t j = 0; j < kLoads; ++j) seen ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  for (; i < n; i += step) {
    const uint4 v = load16(a.data + i * 16);
    seen ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  for (int lanes = 16; lanes; lanes /= 2) seen ^= static_cast<uint32_t>(shuffle_xor(static_cast<int>(seen), lanes));
  if (threadIdx.x % 32 == 0) a.seen[(blockIdx.x * kMeasureThreads + threadIdx.x) / 32] = seen;
}

// Bits that draw the power of real ones.
LINNET_ON_GPU uint32_t bits_for(uint32_t i) { return (i + 1) * 0x9E3779B9u ^ (i + 7) * 0x85EBCA6Bu; }

LINNET_KERNEL(kMeasureThreads) peak_i8(const PeakArgs a) {
  uint32_t x[4], y[2];
  int sum[kPeakChains][4];
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j) x[j] = bits_for(threadIdx.x * 4 + j);
#pragma unroll
  for (uint32_t j = 0; j < 2; ++j) y[j] = bits_for(threadIdx.x * 2 + j + blockIdx.x);
#pragma unroll
  for (uint32_t c = 0; c < kPeakChains; ++c)
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) sum[c][j] = static_cast<int>(c);  // or they would be one
#pragma unroll 4
  for (uint32_t r = 0; r < a.rounds; ++r)
#pragma unroll
    for (uint32_t c = 0; c < kPeakChains; ++c) mma_i8(sum[c], x, y);
  uint32_t seen = 0;
#pragma unroll
  for (uint32_t c = 0; c < kPeakChains; ++c)
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) seen += static_cast<uint32_t>(sum[c][j]);
  a.seen[blockIdx.x * kMeasureThreads + threadIdx.x] = seen;
}

LINNET_KERNEL(kMeasureThreads) peak_bf16(const PeakArgs a) {
  uint32_t x[4], y[2];
  float sum[kPeakChains][4];
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j) x[j] = (bits_for(threadIdx.x * 4 + j) & 0x807F807Fu) | 0x3F003F00u;  // +-0.5 .. 1
#pragma unroll
  for (uint32_t j = 0; j < 2; ++j) y[j] = (bits_for(threadIdx.x * 2 + j + blockIdx.x) & 0x807F807Fu) | 0x3F003F00u;
#pragma unroll
  for (uint32_t c = 0; c < kPeakChains; ++c)
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) sum[c][j] = static_cast<float>(c);
#pragma unroll 4
  for (uint32_t r = 0; r < a.rounds; ++r)
#pragma unroll
    for (uint32_t c = 0; c < kPeakChains; ++c) mma_bf16(sum[c], x, y);
  uint32_t seen = 0;
#pragma unroll
  for (uint32_t c = 0; c < kPeakChains; ++c)
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) seen += bits_of(sum[c][j]);
  a.seen[blockIdx.x * kMeasureThreads + threadIdx.x] = seen;
}

}  // namespace linnet
