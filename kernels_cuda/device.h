// What device code is written in: CUDA's own names (threadIdx, __syncthreads, ...) and these few primitives, so that the same source also
// runs on a CPU under tests/cuda/cuda_emulator.h, which gives the other half of every definition here. Compiled with -fmad=false: float
// arithmetic is what is written, as in scalar.cpp.
#pragma once
#include "cuda_types.h"

#if defined(__CUDACC__)
#define LINNET_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define LINNET_KERNEL_MIN(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define LINNET_ON_GPU static __device__ __forceinline__
#define LINNET_SHARED __shared__
#define LINNET_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#define LINNET_CONSTANT static __constant__ const

namespace linnet {

LINNET_ON_GPU int dp4a(int a, int b, int c) { return __dp4a(a, b, c); }  // four int8 products of a and b, added to c
LINNET_ON_GPU int shuffle_xor(int v, int mask) { return __shfl_xor_sync(0xFFFFFFFFu, v, mask); }
LINNET_ON_GPU float shuffle_xor(float v, int mask) { return __shfl_xor_sync(0xFFFFFFFFu, v, mask); }
LINNET_ON_GPU int shuffle(int v, int lane) { return __shfl_sync(0xFFFFFFFFu, v, lane); }
LINNET_ON_GPU float shuffle(float v, int lane) { return __shfl_sync(0xFFFFFFFFu, v, lane); }
LINNET_ON_GPU void warp_sync() { __syncwarp(); }
LINNET_ON_GPU void block_sync() { __syncthreads(); }
LINNET_ON_GPU float float_of(uint32_t bits) { return __uint_as_float(bits); }
LINNET_ON_GPU uint32_t bits_of(float f) { return __float_as_uint(f); }
LINNET_ON_GPU double double_of(uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
LINNET_ON_GPU uint64_t double_bits(double d) { return static_cast<uint64_t>(__double_as_longlong(d)); }
LINNET_ON_GPU float fma_of(float a, float b, float c) { return __fmaf_rn(a, b, c); }
LINNET_ON_GPU float sqrt_of(float a) { return __fsqrt_rn(a); }
LINNET_ON_GPU float round_even(float a) { return rintf(a); }
LINNET_ON_GPU float f32_of_f16(uint16_t h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
LINNET_ON_GPU uint16_t f16_of_f32(float f) {
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
// Products of two pairs of bf16, rounded.
LINNET_ON_GPU uint32_t mul_bf16(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0x80008000u));
  return d;
}
// 16 bytes of global memory that no kernel writes while this one runs.
LINNET_ON_GPU uint4 load16(const void* p) { return __ldg(static_cast<const uint4*>(p)); }

// c(16, 8) += a(16, 32) * b(32, 8), int8. Lane l: a[0] = row l / 4, inputs 4 * (l % 4) .. + 3; a[1] = 8 rows on, a[2] = 16 inputs on, a[3]
// = both; b[0] = column l / 4, inputs 4 * (l % 4) .. + 3, b[1] = 16 inputs on; c[0], c[1] = row l / 4, columns 2 * (l % 4) and the next;
// c[2], c[3] = 8 rows on. So four bytes of a panel are a's as they lie.
LINNET_ON_GPU void mma_i8(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// d = c + a * b.
LINNET_ON_GPU void mma_i8(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
// The same of 16 inputs, a[0], a[1] and b[0] above.
LINNET_ON_GPU void mma_i8(int (&d)[4], const uint32_t (&a)[2], uint32_t b, const int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
// c(16, 8) += a(16, 16) * b(16, 8), bf16 pairs in f32. a[0] = row l / 4, inputs 2 * (l % 4), + 1; a[1] = 8 rows on, a[2] = 8 inputs on,
// a[3] = both; b[0] = column l / 4, the same inputs, b[1] = 8 on.
LINNET_ON_GPU void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// The same of f16 pairs.
LINNET_ON_GPU void mma_f16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// 16 bytes from global to shared memory while threads go on; both aligned to 16. Copies since the last commit are a group; wait<n> returns
// when all but the last n groups are there, for the thread that asked: block_sync() makes them everybody's.
LINNET_ON_GPU void copy_async16(void* shared, const void* global) {
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
// The same of 4 bytes, aligned to 4.
LINNET_ON_GPU void copy_async4(void* shared, const void* global) {
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
}
LINNET_ON_GPU void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
LINNET_ON_GPU void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

}  // namespace linnet
#else
#include "cuda_emulator.h"
#endif
