// What the AVX2 tiers share. Sixteen lanes are a pair of registers: lanes 0-7 and 8-15. Included by avx2.cpp and avx_vnni.cpp alone, each
// compiled with its own flags; so everything here has internal linkage.
#pragma once
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE inline __attribute__((always_inline))

namespace linnet {
namespace {

struct V {
  __m256 a, b;
};
struct Vi {
  __m256i a, b;
};

// The first n of 16 floats (n may be more than 16), zeros beyond; nothing past them is touched. Tails go through a copy: they are
// rare, and emulators differ over masked loads.
INLINE V load(const float* p, uint32_t n = 16) {
  alignas(32) float tail[16] = {};
  if (n < 16) p = static_cast<const float*>(__builtin_memcpy(tail, p, n * sizeof(float)));
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
INLINE void store(float* p, V v, uint32_t n = 16) {
  alignas(32) float tail[16];
  float* to = n < 16 ? tail : p;
  _mm256_storeu_ps(to, v.a);
  _mm256_storeu_ps(to + 8, v.b);
  if (n < 16) __builtin_memcpy(p, tail, n * sizeof(float));
}
INLINE V all(float f) { return {_mm256_set1_ps(f), _mm256_set1_ps(f)}; }
INLINE V add(V x, V y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
INLINE V sub(V x, V y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
INLINE V mul(V x, V y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
INLINE V div(V x, V y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
INLINE V fma(V x, V y, V z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
INLINE V fms(V x, V y, V z) { return {_mm256_fmsub_ps(x.a, y.a, z.a), _mm256_fmsub_ps(x.b, y.b, z.b)}; }
// x > y ? x : y, and x < y ? x : y: the second operand where one is NaN.
INLINE V larger(V x, V y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
INLINE V smaller(V x, V y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }

INLINE __m256i load32(const int8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
INLINE __m256i broadcast4(const void* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return _mm256_set1_epi32(v);
}

INLINE void finish_at(const GemmArgs& a, float* y, uint32_t panel, V acc) {
  const V r = a.bias ? add(acc, load(a.bias + panel * size_t{16})) : acc;
  store(y, a.accumulate ? add(load(y), r) : r);
}
INLINE void finish(const GemmArgs& a, size_t row, uint32_t panel, V acc) {
  finish_at(a, a.y + row * a.y_stride + panel * size_t{16}, panel, acc);
}

// With many rows y is larger than the caches, and its lines take as long to come as a short k to multiply: ask for them before.
INLINE void fetch_y(const GemmArgs& a, uint32_t row, uint32_t panel) {
  asm volatile("prefetchw %0" ::"m"(a.y[row * a.y_stride + panel * size_t{16}]));
}

template <bool kF16>
INLINE V load_scales(const char* p) {
  if (!kF16) return load(reinterpret_cast<const float*>(p));
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}
// i4g128z: the zero points of half a panel, which lie behind its group's scales, and what takes them back. sum128 as in GemmArgs.
INLINE __m256i zeros(const char* scales, int half) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales + 32 + half * 8)));
}
INLINE __m256i zero_sum(const char* scales, int half, int32_t sum128) {
  return _mm256_mullo_epi32(zeros(scales, half), _mm256_set1_epi32(sum128 / 128));
}

}  // namespace
}  // namespace linnet
