// Device code as C++ for the host: the other half of kernels_cuda/device.h. Every thread of a block is a fiber with a stack of its own;
// barriers, shuffles and products of a warp are what fibers wait at. cuda_emulator.cpp runs them, in an order that a seed changes, so that
// a barrier that is missing shows. Included by device.h; the host side of tests is in cuda_test.h.
#pragma once
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels_cuda/cuda_types.h"

#define LINNET_EMULATED 1
#define LINNET_KERNEL(threads) static void
#define LINNET_KERNEL_MIN(threads, blocks) static void
#define LINNET_ON_GPU [[maybe_unused]] static inline
// In a section of their own, to be filled with garbage before every block. They are shared by all fibers of the one block that runs.
#define LINNET_SHARED __attribute__((section("linnet_shared"))) static
#define LINNET_DYNAMIC_SHARED(name) unsigned char* const name = linnet::emulated_dynamic_shared()
#define LINNET_CONSTANT static const
#define __align__(n) __attribute__((aligned(n)))

struct uint2 {
  unsigned x, y;
} __align__(8);
struct uint4 {
  unsigned x, y, z, w;
} __align__(16);
struct int2 {
  int x, y;
} __align__(8);
struct int4 {
  int x, y, z, w;
} __align__(16);
struct float2 {
  float x, y;
} __align__(8);
struct float4 {
  float x, y, z, w;
} __align__(16);
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct CudaIndex {
  unsigned x, y, z;
};
extern CudaIndex threadIdx, blockIdx, blockDim, gridDim;

namespace linnet {

unsigned char* emulated_dynamic_shared();
// Ends the launch, which fails with this sentence.
[[noreturn]] void emulated_fail(const char* what);
// Waits until all lanes of the warp are here with the same operation, which then runs once over what each brought.
using WarpOperation = void (*)(void* const of_lane[32]);
void emulated_warp(WarpOperation op, void* mine);
void emulated_block_barrier();
void emulated_copy(void* shared, const void* global, uint32_t bytes);
void emulated_copy_commit();
void emulated_copy_wait(unsigned pending);

void warp_nothing(void* const of_lane[32]);
void warp_mma_i8(void* const of_lane[32]);
void warp_mma_bf16(void* const of_lane[32]);
void warp_mma_f16(void* const of_lane[32]);
template <class Acc>
struct MmaOperands {
  Acc* c;
  const uint32_t *a, *b;
};
float emulated_f32_of_f16(uint16_t h);
uint16_t emulated_f16_of_f32(float f);
uint32_t emulated_mul_bf16(uint32_t a, uint32_t b);

template <class T>
struct ShuffleOperand {
  T v, got;
  int lane;
};
template <class T>
void warp_shuffle(void* const of_lane[32]) {
  for (int i = 0; i < 32; ++i) {
    auto* o = static_cast<ShuffleOperand<T>*>(of_lane[i]);
    o->got = static_cast<ShuffleOperand<T>*>(of_lane[o->lane & 31])->v;
  }
}
template <class T>
inline T emulated_shuffle(T v, int lane) {
  ShuffleOperand<T> mine = {v, v, lane};
  emulated_warp(warp_shuffle<T>, &mine);
  return mine.got;
}
struct VoteOperand {
  bool mine;
  uint32_t all;
};
inline void warp_vote(void* const of_lane[32]) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < 32; ++i) all |= (static_cast<VoteOperand*>(of_lane[i])->mine ? 1u : 0u) << i;
  for (uint32_t i = 0; i < 32; ++i) static_cast<VoteOperand*>(of_lane[i])->all = all;
}

LINNET_ON_GPU int lane_now() { return static_cast<int>(threadIdx.x % 32); }
LINNET_ON_GPU int dp4a(int a, int b, int c) {
  int8_t x[4], y[4];
  std::memcpy(x, &a, 4);
  std::memcpy(y, &b, 4);
  return c + x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
}
LINNET_ON_GPU int shuffle_xor(int v, int mask) { return emulated_shuffle(v, lane_now() ^ mask); }
LINNET_ON_GPU float shuffle_xor(float v, int mask) { return emulated_shuffle(v, lane_now() ^ mask); }
LINNET_ON_GPU int shuffle(int v, int lane) { return emulated_shuffle(v, lane); }
LINNET_ON_GPU float shuffle(float v, int lane) { return emulated_shuffle(v, lane); }
LINNET_ON_GPU void warp_sync() { emulated_warp(warp_nothing, nullptr); }
LINNET_ON_GPU void block_sync() { emulated_block_barrier(); }
LINNET_ON_GPU float float_of(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
LINNET_ON_GPU uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
LINNET_ON_GPU double double_of(uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, 8);
  return d;
}
LINNET_ON_GPU uint64_t double_bits(double d) {
  uint64_t u;
  std::memcpy(&u, &d, 8);
  return u;
}
LINNET_ON_GPU float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LINNET_ON_GPU float sqrt_of(float a) { return __builtin_sqrtf(a); }
LINNET_ON_GPU float round_even(float a) { return __builtin_rintf(a); }
LINNET_ON_GPU float f32_of_f16(uint16_t h) { return emulated_f32_of_f16(h); }
LINNET_ON_GPU uint16_t f16_of_f32(float f) { return emulated_f16_of_f32(f); }
LINNET_ON_GPU uint32_t mul_bf16(uint32_t a, uint32_t b) { return emulated_mul_bf16(a, b); }
LINNET_ON_GPU uint4 load16(const void* p) {
  if (reinterpret_cast<uintptr_t>(p) % 16) emulated_fail("load16 of an address that is not aligned to 16");
  uint4 v;
  std::memcpy(&v, p, 16);
  return v;
}
LINNET_ON_GPU void mma_i8(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaOperands<int> mine = {c, a, b};
  emulated_warp(warp_mma_i8, &mine);
}
LINNET_ON_GPU void mma_i8(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const int (&c)[4]) {
  for (int i = 0; i < 4; ++i) d[i] = c[i];
  mma_i8(d, a, b);
}
LINNET_ON_GPU void mma_i8(int (&d)[4], const uint32_t (&a)[2], uint32_t b, const int (&c)[4]) {
  const uint32_t whole_a[4] = {a[0], a[1], 0, 0}, whole_b[2] = {b, 0};
  mma_i8(d, whole_a, whole_b, c);
}
LINNET_ON_GPU void mma_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaOperands<float> mine = {c, a, b};
  emulated_warp(warp_mma_bf16, &mine);
}
LINNET_ON_GPU void mma_f16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaOperands<float> mine = {c, a, b};
  emulated_warp(warp_mma_f16, &mine);
}
// Lands at once or as late as a wait allows, by the seed.
LINNET_ON_GPU void copy_async16(void* shared, const void* global) { emulated_copy(shared, global, 16); }
LINNET_ON_GPU void copy_async4(void* shared, const void* global) { emulated_copy(shared, global, 4); }
LINNET_ON_GPU void copy_async_commit() { emulated_copy_commit(); }
template <int n>
LINNET_ON_GPU void copy_async_wait() {
  emulated_copy_wait(n);
}

}  // namespace linnet

// CUDA's own names.
LINNET_ON_GPU void __syncthreads() { linnet::emulated_block_barrier(); }
LINNET_ON_GPU void __syncwarp() { linnet::warp_sync(); }
LINNET_ON_GPU void __threadfence() {}
LINNET_ON_GPU void __threadfence_block() {}
template <class T>
LINNET_ON_GPU T __ldg(const T* p) {
  return *p;
}
template <class T>
LINNET_ON_GPU T __shfl_sync(unsigned, T v, int lane) {
  return linnet::emulated_shuffle(v, lane);
}
template <class T>
LINNET_ON_GPU T __shfl_xor_sync(unsigned, T v, int mask) {
  return linnet::emulated_shuffle(v, linnet::lane_now() ^ mask);
}
template <class T>
LINNET_ON_GPU T __shfl_down_sync(unsigned, T v, unsigned by) {
  return linnet::emulated_shuffle(
      v, linnet::lane_now() + static_cast<int>(by) < 32 ? linnet::lane_now() + static_cast<int>(by) : linnet::lane_now());
}
template <class T>
LINNET_ON_GPU T __shfl_up_sync(unsigned, T v, unsigned by) {
  return linnet::emulated_shuffle(
      v, linnet::lane_now() >= static_cast<int>(by) ? linnet::lane_now() - static_cast<int>(by) : linnet::lane_now());
}
LINNET_ON_GPU unsigned __ballot_sync(unsigned, int vote) {
  linnet::VoteOperand mine = {vote != 0, 0};
  linnet::emulated_warp(linnet::warp_vote, &mine);
  return mine.all;
}
LINNET_ON_GPU int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
LINNET_ON_GPU int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) == 0xFFFFFFFFu; }
LINNET_ON_GPU int __popc(unsigned v) { return __builtin_popcount(v); }
LINNET_ON_GPU int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
LINNET_ON_GPU int __ffs(int v) { return __builtin_ffs(v); }
// Four bytes of a and b (b's are 4..7), by the low three bits of each nibble of `by`; its top bit spreads the byte's sign.
LINNET_ON_GPU unsigned __byte_perm(unsigned a, unsigned b, unsigned by) {
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned pick = by >> (i * 4) & 15, byte = static_cast<unsigned>(both >> (pick % 8 * 8)) & 255;
    out |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << (i * 8);
  }
  return out;
}
// One host thread runs all fibers, and none is interrupted.
template <class T>
LINNET_ON_GPU T atomicAdd(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = static_cast<T>(old + v);
  return old;
}
template <class T>
LINNET_ON_GPU T atomicOr(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = old | v;
  return old;
}
template <class T>
LINNET_ON_GPU T atomicAnd(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = old & v;
  return old;
}
template <class T>
LINNET_ON_GPU T atomicMax(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = old > v ? old : v;
  return old;
}
template <class T>
LINNET_ON_GPU T atomicMin(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = old < v ? old : v;
  return old;
}
template <class T>
LINNET_ON_GPU T atomicExch(T* p, std::type_identity_t<T> v) {
  const T old = *p;
  *p = v;
  return old;
}
template <class T>
LINNET_ON_GPU T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  const T old = *p;
  if (old == expected) *p = v;
  return old;
}
