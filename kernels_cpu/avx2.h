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

constexpr uint32_t kStateVectors = 1;

struct V {
  __m256 a, b;
};
struct Vi {
  __m256i a, b;
};
struct M {
  __m256 a, b;  // a lane's bits are all set or all clear
};

// The first n of 16 floats (n may be more than 16), zeros beyond; nothing past them is touched. Tails go through a copy: they are
// rare, and emulators differ over masked loads.
INLINE V load(const float* p, uint32_t n = 16) {
  if (n >= 16) return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  alignas(32) float tail[16] = {};
  __builtin_memcpy(tail, p, n * sizeof(float));
  return {_mm256_load_ps(tail), _mm256_load_ps(tail + 8)};
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

// ---- for rows.h -----------------------------------------------------------------------------------------------------------------

INLINE Vi all_int(int32_t i) { return {_mm256_set1_epi32(i), _mm256_set1_epi32(i)}; }
INLINE V first_lanes() { return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)}; }
INLINE V fnma(V x, V y, V z) { return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)}; }
INLINE V neg(V x) { return {_mm256_xor_ps(x.a, _mm256_set1_ps(-0.0f)), _mm256_xor_ps(x.b, _mm256_set1_ps(-0.0f))}; }
INLINE V abs(V x) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.a), _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.b)}; }
INLINE V with_sign(V v, V of) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(v.a, _mm256_and_ps(sign, of.a)), _mm256_or_ps(v.b, _mm256_and_ps(sign, of.b))};
}

alignas(32) const int32_t kTail[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
INLINE M lanes(uint32_t n) {
  const float* p = reinterpret_cast<const float*>(kTail + 16 - (n < 16 ? n : 16));
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
INLINE M without(M m, M less) { return {_mm256_andnot_ps(less.a, m.a), _mm256_andnot_ps(less.b, m.b)}; }
INLINE M above(V x, V y) { return {_mm256_cmp_ps(x.a, y.a, _CMP_GT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_GT_OQ)}; }
INLINE M not_below(V x, V y) { return {_mm256_cmp_ps(x.a, y.a, _CMP_NLT_UQ), _mm256_cmp_ps(x.b, y.b, _CMP_NLT_UQ)}; }
INLINE V keep(V v, M m) { return {_mm256_and_ps(v.a, m.a), _mm256_and_ps(v.b, m.b)}; }
INLINE V pick(M m, V v, V w) { return {_mm256_blendv_ps(w.a, v.a, m.a), _mm256_blendv_ps(w.b, v.b, m.b)}; }

// The instruction's rounding is the caller's MXCSR: to nearest even.
INLINE Vi to_int(V v) { return {_mm256_cvtps_epi32(v.a), _mm256_cvtps_epi32(v.b)}; }
INLINE __m256 power(__m256 z) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(z), 23), _mm256_set1_epi32(0x3F800000)));
}
INLINE V power(V z) { return {power(z.a), power(z.b)}; }
INLINE Vi abs_bits(V v) {
  const V m = abs(v);
  return {_mm256_castps_si256(m.a), _mm256_castps_si256(m.b)};
}
INLINE Vi larger(Vi x, Vi y) { return {_mm256_max_epi32(x.a, y.a), _mm256_max_epi32(x.b, y.b)}; }
INLINE Vi add(Vi x, Vi y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
INLINE Vi sub(Vi x, Vi y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
template <int N>
INLINE Vi shift_right(Vi c) {
  return {_mm256_srli_epi32(c.a, N), _mm256_srli_epi32(c.b, N)};
}
template <int N>
INLINE Vi shift_left(Vi c) {
  return {_mm256_slli_epi32(c.a, N), _mm256_slli_epi32(c.b, N)};
}
INLINE Vi bits_of(Vi c, int32_t mask) {
  return {_mm256_and_si256(c.a, _mm256_set1_epi32(mask)), _mm256_and_si256(c.b, _mm256_set1_epi32(mask))};
}

INLINE float tree_sum(V v) {
  const __m256 a = _mm256_add_ps(v.a, v.b);
  const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
INLINE float tree_max(V v) {
  const __m256 a = _mm256_max_ps(v.a, v.b);
  const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}

INLINE int32_t largest(Vi v) {
  const __m256i x = _mm256_max_epi32(v.a, v.b);
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4E));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xB1));
  return _mm_cvtsi128_si32(m);
}
INLINE int32_t total(Vi v) {
  const __m256i x = _mm256_add_epi32(v.a, v.b);
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
  return _mm_cvtsi128_si32(s);
}
INLINE void store_bytes(int8_t* q, Vi c, uint32_t n) {
  const __m256i h = _mm256_permute4x64_epi64(_mm256_packs_epi32(c.a, c.b), 0xD8);
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  if (n >= 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(q), bytes);
  alignas(16) int8_t tail[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(tail), bytes);
  for (uint32_t j = 0; j < n; ++j) q[j] = tail[j];
}

// Each of the first 8 lanes twice, over sixteen.
INLINE V twice(const float* p, uint32_t n) {
  const __m256 v = n >= 8 ? _mm256_loadu_ps(p) : load(p, n).a;
  return {_mm256_permutevar8x32_ps(v, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)),
          _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7))};
}
INLINE void rotate_pairs(float* x, const float* cos, const float* sin, uint32_t n) {
  const V ab = load(x, n < 8 ? 2 * n : 16), c = twice(cos, n), s = twice(sin, n);
  const V ba = {_mm256_permute_ps(ab.a, 0xB1), _mm256_permute_ps(ab.b, 0xB1)}, t = mul(ba, s);
  store(x, {_mm256_fmaddsub_ps(ab.a, c.a, t.a), _mm256_fmaddsub_ps(ab.b, c.b, t.b)}, n < 8 ? 2 * n : 16);  // even lanes subtract
}

// ---- matrices -------------------------------------------------------------------------------------------------------------------

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

// Sixteen signed bytes.
template <class Sixteen>
INLINE Vi widened(const Sixteen& bytes) {
  __m128i b;
  __builtin_memcpy(&b, &bytes, 16);
  return {_mm256_cvtepi8_epi32(b), _mm256_cvtepi8_epi32(_mm_srli_si128(b, 8))};
}
template <bool kF16>
INLINE V load_scales(const char* p) {
  if (!kF16) return load(reinterpret_cast<const float*>(p));
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}
template <int N>
INLINE Vi divided(Vi v) {
  return {_mm256_srai_epi32(v.a, N), _mm256_srai_epi32(v.b, N)};
}
INLINE void prefetch(const uint8_t* p) { asm volatile("prefetcht0 %0" ::"m"(*p)); }
struct Bytes {
  __m256i a, b;
};
INLINE Bytes load_bytes(const uint8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
}
INLINE Bytes masked(Bytes v, int bits) {
  const __m256i m = _mm256_set1_epi8(static_cast<char>(bits));
  return {_mm256_and_si256(v.a, m), _mm256_and_si256(v.b, m)};
}
INLINE Bytes down(Bytes v, int n) { return {_mm256_srli_epi16(v.a, n), _mm256_srli_epi16(v.b, n)}; }
INLINE Bytes up(Bytes v, int n) { return {_mm256_slli_epi16(v.a, n), _mm256_slli_epi16(v.b, n)}; }
INLINE Bytes join(Bytes v, Bytes w) { return {_mm256_or_si256(v.a, w.a), _mm256_or_si256(v.b, w.b)}; }
INLINE Bytes where(Bytes v, int at) {
  const int byte = at / 8 * 0x01010101;
  const __m256i which = _mm256_setr_epi32(byte, byte + 0x04040404, byte + 0x08080808, byte + 0x0C0C0C0C, byte, byte + 0x04040404,
                                          byte + 0x08080808, byte + 0x0C0C0C0C),
                bits = _mm256_set1_epi32(at % 8 ? static_cast<int32_t>(0x80402010u) : 0x08040201);
  const auto one = [&](__m256i w) { return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(w, which), bits), bits); };
  return {one(v.a), one(v.b)};
}
INLINE Bytes chosen(const int8_t* table, Bytes v) {
  const __m256i t = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(t, v.a), _mm256_shuffle_epi8(t, v.b)};
}
INLINE Bytes flip(Bytes v, int bits) {
  const __m256i b = _mm256_set1_epi8(static_cast<char>(bits));
  return {_mm256_xor_si256(v.a, b), _mm256_xor_si256(v.b, b)};
}
INLINE Bytes thirds(Bytes v) {
  const auto one = [](__m256i b) {
    const __m256i least = _mm256_subs_epu8(b, _mm256_set1_epi8(1));  // averages round up
    return _mm256_and_si256(_mm256_srli_epi16(_mm256_avg_epu8(least, _mm256_avg_epu8(least, _mm256_setzero_si256())), 6),
                            _mm256_set1_epi8(3));
  };
  return {one(v.a), one(v.b)};
}
INLINE Bytes side_by_side(const uint8_t* p) {
  const auto row = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * 16)); };
  const __m128i low[2] = {_mm_unpacklo_epi8(row(0), row(1)), _mm_unpacklo_epi8(row(2), row(3))},
                high[2] = {_mm_unpackhi_epi8(row(0), row(1)), _mm_unpackhi_epi8(row(2), row(3))};
  return {_mm256_set_m128i(_mm_unpackhi_epi16(low[0], low[1]), _mm_unpacklo_epi16(low[0], low[1])),
          _mm256_set_m128i(_mm_unpackhi_epi16(high[0], high[1]), _mm_unpacklo_epi16(high[0], high[1]))};
}
INLINE Bytes plus(Bytes v, Bytes w) { return {_mm256_add_epi8(v.a, w.a), _mm256_add_epi8(v.b, w.b)}; }
INLINE Bytes negated(Bytes v, Bytes w) {
  return {_mm256_sub_epi8(_mm256_xor_si256(v.a, w.a), w.a), _mm256_sub_epi8(_mm256_xor_si256(v.b, w.b), w.b)};
}
// By pairs: insertions one after the other take a cycle each.
template <class At>
INLINE Bytes from_book(const uint32_t* book, const At& at) {
  const auto one = [&](int j) { return _mm_cvtsi32_si128(static_cast<int32_t>(book[at(j)])); };
  const auto two = [&](int j) { return _mm_unpacklo_epi32(one(j), one(j + 1)); };
  const auto four = [&](int j) { return _mm_unpacklo_epi64(two(j), two(j + 2)); };
  return {_mm256_set_m128i(four(4), four(0)), _mm256_set_m128i(four(12), four(8))};
}
INLINE void store_bytes(int8_t* p, Bytes v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v.a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), v.b);
}
INLINE V floats(Vi v) { return {_mm256_cvtepi32_ps(v.a), _mm256_cvtepi32_ps(v.b)}; }
INLINE void choose(const int8_t* table, const uint8_t* nibbles, int8_t* low, int8_t* high) {
  const __m256i t = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), four = _mm256_set1_epi8(15);
  UNROLL for (int i = 0; i < 64; i += 32) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(nibbles + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(low + i), _mm256_shuffle_epi8(t, _mm256_and_si256(both, four)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(high + i), _mm256_shuffle_epi8(t, _mm256_and_si256(_mm256_srli_epi16(both, 4), four)));
  }
}
// kNibblesZero: the zero points of half a panel, which lie behind its group's scales, and what takes them back. sum128 as in GemmArgs.
INLINE __m256i zeros(const char* scales, int half) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales + 32 + half * 8)));
}
INLINE __m256i zero_sum(const char* scales, int half, int32_t sum128) {
  return _mm256_mullo_epi32(zeros(scales, half), _mm256_set1_epi32(sum128 / 128));
}

}  // namespace
}  // namespace linnet
