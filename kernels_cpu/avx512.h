// What the AVX-512 tiers share: the integer kernels over a way to multiply bytes (Dot: acc += the products of 4 unsigned bytes of u with 4
// signed bytes of s, per lane). Included by tiers that stand on avx512, each compiled with its own flags; so everything here has internal
// linkage.
#pragma once
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own header does so on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#include <stddef.h>
#include <stdint.h>

#include "blocks.h"

#define UNROLL _Pragma("GCC unroll 16")

namespace linnet {
namespace {

inline __attribute__((always_inline)) __m512i broadcast4(const void* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return _mm512_set1_epi32(v);
}

// Lanes of a row's tail: the first n of 16, n >= 1.
inline __attribute__((always_inline)) __mmask16 lanes(uint32_t n) { return static_cast<__mmask16>(n >= 16 ? 0xFFFFu : (1u << n) - 1u); }

inline __attribute__((always_inline)) float tree_sum(__m512 v) {
  const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}

inline __attribute__((always_inline)) float tree_max(__m512 v) {
  const __m256 a = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}

// By the instruction of tiers with VNNI. GCC 12 copies the sums around the intrinsic, which halves a kernel's speed.
struct Dpbusd {
  static inline __attribute__((always_inline)) void add(__m512i& acc, __m512i u, __m512i s) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s));
  }
};

// ---- for rows.h -----------------------------------------------------------------------------------------------------------------

#define INLINE inline __attribute__((always_inline))

constexpr uint32_t kStateVectors = 2;

using V = __m512;
using Vi = __m512i;
using M = __mmask16;

INLINE V load(const float* p) { return _mm512_loadu_ps(p); }
INLINE V load(const float* p, uint32_t n) { return _mm512_maskz_loadu_ps(lanes(n), p); }
INLINE void store(float* p, V v) { _mm512_storeu_ps(p, v); }
INLINE void store(float* p, V v, uint32_t n) { _mm512_mask_storeu_ps(p, lanes(n), v); }
INLINE V all(float f) { return _mm512_set1_ps(f); }
INLINE Vi all_int(int32_t i) { return _mm512_set1_epi32(i); }
INLINE V first_lanes() { return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
INLINE V add(V x, V y) { return _mm512_add_ps(x, y); }
INLINE V sub(V x, V y) { return _mm512_sub_ps(x, y); }
INLINE V mul(V x, V y) { return _mm512_mul_ps(x, y); }
INLINE V div(V x, V y) { return _mm512_div_ps(x, y); }
INLINE V fma(V x, V y, V z) { return _mm512_fmadd_ps(x, y, z); }
INLINE V fms(V x, V y, V z) { return _mm512_fmsub_ps(x, y, z); }
INLINE V fnma(V x, V y, V z) { return _mm512_fnmadd_ps(x, y, z); }
INLINE V larger(V x, V y) { return _mm512_max_ps(x, y); }
INLINE V smaller(V x, V y) { return _mm512_min_ps(x, y); }
INLINE V neg(V x) { return _mm512_xor_ps(x, _mm512_set1_ps(-0.0f)); }
INLINE V abs(V x) { return _mm512_abs_ps(x); }
INLINE V with_sign(V v, V of) { return _mm512_or_ps(v, _mm512_and_ps(_mm512_set1_ps(-0.0f), of)); }
INLINE M without(M m, M less) { return static_cast<M>(m & ~less); }
INLINE M above(V x, V y) { return _mm512_cmp_ps_mask(x, y, _CMP_GT_OQ); }
INLINE M not_below(V x, V y) { return _mm512_cmp_ps_mask(x, y, _CMP_NLT_UQ); }
INLINE V keep(V v, M m) { return _mm512_maskz_mov_ps(m, v); }
INLINE V pick(M m, V v, V w) { return _mm512_mask_blend_ps(m, w, v); }
INLINE Vi to_int(V v) { return _mm512_cvtps_epi32(v); }  // its rounding is the caller's MXCSR: to nearest even
INLINE V power(V z) {
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_slli_epi32(_mm512_castps_si512(z), 23), _mm512_set1_epi32(0x3F800000)));
}
INLINE Vi abs_bits(V v) { return _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7FFFFFFF)); }
INLINE Vi larger(Vi x, Vi y) { return _mm512_max_epi32(x, y); }
INLINE Vi add(Vi x, Vi y) { return _mm512_add_epi32(x, y); }
INLINE Vi sub(Vi x, Vi y) { return _mm512_sub_epi32(x, y); }
template <int N>
INLINE Vi shift_right(Vi c) {
  return _mm512_srli_epi32(c, N);
}
template <int N>
INLINE Vi shift_left(Vi c) {
  return _mm512_slli_epi32(c, N);
}
INLINE Vi bits_of(Vi c, int32_t mask) { return _mm512_and_si512(c, _mm512_set1_epi32(mask)); }
INLINE int32_t largest(Vi v) { return _mm512_reduce_max_epi32(v); }
INLINE int32_t total(Vi v) { return _mm512_reduce_add_epi32(v); }
INLINE void store_bytes(int8_t* q, Vi c, uint32_t n) {
  if (n >= 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(q), _mm512_cvtepi32_epi8(c));
  else
    _mm512_mask_cvtepi32_storeu_epi8(q, lanes(n), c);
}
INLINE void rotate_pairs(float* x, const float* cos, const float* sin, uint32_t n) {
  const Vi twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  const M k = lanes(n < 8 ? 2 * n : 16), half = lanes(n < 8 ? n : 8);
  const V ab = _mm512_maskz_loadu_ps(k, x);
  const V c = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, cos)),
          s = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, sin));
  const V ba = _mm512_permute_ps(ab, 0xB1);
  _mm512_mask_storeu_ps(x, k, _mm512_fmaddsub_ps(ab, c, _mm512_mul_ps(ba, s)));  // even lanes subtract
}

// Lines that kernels ask for in a step (16 products, or 64 tokens' weights): with up to four rows as many in all as a block of attention
// has.
constexpr int kAskScores = 3, kAskWeights = 7, kAskPv = 1;

// Asks for the next N lines.
template <int N>
inline __attribute__((always_inline)) void ask(const uint8_t*& at) {
  UNROLL for (int i = 0; i < N; ++i) _mm_prefetch(reinterpret_cast<const char*>(at) + i * 64, _MM_HINT_T1);
  at += N * 64;
}

// Whether a tile of so many steps should ask for N lines in each: it does so to its end, where more than half of
// them are wanted; asked at every step, GCC would move its sums around.
template <int N>
inline bool asks(const Fetch* next, size_t steps) {
  return next && next->until - next->at > static_cast<ptrdiff_t>(steps * N * 32);
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// R rows by P panels of 16 channels. P is the unsigned side, V the signed one. kAsk: asks for lines of `next`.
template <class Dot, int R, int P, bool kAsk>
void pv_tile(const uint8_t* hi, const uint8_t* lo, const int8_t* const* pages, uint32_t n_pages, size_t offset, const float* p_scale,
             float* acc, size_t acc_stride, Fetch* next) {
  __m512i dh[R][P], dl[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) dh[r][p] = dl[r][p] = _mm512_setzero_si512();
  const uint8_t* at = kAsk ? next->at : nullptr;
  for (uint32_t i = 0; i < n_pages; ++i) {
    const int8_t* v = pages[i] + offset;
    for (uint32_t t = 0; t < 4; ++t) {
      if (kAsk) ask<kAskPv>(at);
      __m512i vv[P];
      UNROLL for (int p = 0; p < P; ++p) vv[p] = _mm512_loadu_si512(v + p * 256 + t * 64);
      UNROLL for (int r = 0; r < R; ++r) {
        const __m512i h = broadcast4(hi + r * 256 + i * 16 + t * 4), l = broadcast4(lo + r * 256 + i * 16 + t * 4);
        UNROLL for (int p = 0; p < P; ++p) Dot::add(dh[r][p], h, vv[p]);
        UNROLL for (int p = 0; p < P; ++p) Dot::add(dl[r][p], l, vv[p]);
      }
    }
  }
  if (kAsk) next->at = at;
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) {
    const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(dh[r][p], 7), dl[r][p]);
    _mm512_storeu_ps(acc + static_cast<size_t>(r) * acc_stride + p * 16,
                     _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(p_scale[r])));
  }
}

template <class Dot>
void attn_pv_by(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
                const float* p_scale, float* acc, size_t acc_stride, Fetch* next) {
  for (uint32_t r = 0; r < rows;) {
    const uint32_t left = rows - r, step = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const uint8_t *h = hi + r * size_t{256}, *l = lo + r * size_t{256};
    float* out = acc + r * acc_stride;
    uint32_t d = 0;
    for (; d + 2 <= d_panels; d += 2) {
      const bool ask = asks<kAskPv>(next, n_pages * size_t{4});
      (step == 4   ? ask ? pv_tile<Dot, 4, 2, true> : pv_tile<Dot, 4, 2, false>
         : step == 2 ? ask ? pv_tile<Dot, 2, 2, true> : pv_tile<Dot, 2, 2, false>
         : ask ? pv_tile<Dot, 1, 2, true>
                   : pv_tile<Dot, 1, 2, false>)(h, l, pages, n_pages, d * size_t{256}, p_scale + r, out + d * 16, acc_stride, next);
    }
    if (d < d_panels)
      (step == 4   ? pv_tile<Dot, 4, 1, false>
       : step == 2 ? pv_tile<Dot, 2, 1, false>
                   : pv_tile<Dot, 1, 1, false>)(h, l, pages, n_pages, d * size_t{256}, p_scale + r, out + d * 16, acc_stride, next);
    r += step;
  }
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

inline __attribute__((always_inline)) void store_at(const GemmArgs& a, float* y, uint32_t panel, __m512 acc) {
  const __m512 r = a.bias ? _mm512_add_ps(acc, _mm512_loadu_ps(a.bias + panel * size_t{16})) : acc;
  _mm512_storeu_ps(y, a.accumulate ? _mm512_add_ps(_mm512_loadu_ps(y), r) : r);
}
inline __attribute__((always_inline)) void finish(const GemmArgs& a, size_t row, uint32_t panel, __m512 acc) {
  store_at(a, a.y + row * a.y_stride + panel * size_t{16}, panel, acc);
}
// Sixteen signed bytes.
template <class Sixteen>
INLINE Vi widened(const Sixteen& bytes) {
  __m128i b;
  __builtin_memcpy(&b, &bytes, 16);
  return _mm512_cvtepi8_epi32(b);
}
INLINE V floats(Vi v) { return _mm512_cvtepi32_ps(v); }
template <int N>
INLINE Vi divided(Vi v) {
  return _mm512_srai_epi32(v, N);
}

INLINE void prefetch(const uint8_t* p) { asm volatile("prefetcht0 %0" ::"m"(*p)); }
struct Bytes {
  __m512i v;
};
INLINE Bytes load_bytes(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
INLINE Bytes masked(Bytes v, int bits) { return {_mm512_and_si512(v.v, _mm512_set1_epi8(static_cast<char>(bits)))}; }
INLINE Bytes down(Bytes v, int n) { return {_mm512_srli_epi16(v.v, static_cast<unsigned>(n))}; }
INLINE Bytes up(Bytes v, int n) { return {_mm512_slli_epi16(v.v, static_cast<unsigned>(n))}; }
INLINE Bytes join(Bytes v, Bytes w) { return {_mm512_or_si512(v.v, w.v)}; }
INLINE Bytes chosen(const int8_t* table, Bytes v) {
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), v.v)};
}
INLINE Bytes where(Bytes v, int at) {
  const __m512i which =
                    _mm512_add_epi8(_mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0), _mm512_set1_epi8(static_cast<char>(at / 8))),
                bits = _mm512_set1_epi32(at % 8 ? static_cast<int32_t>(0x80402010u) : 0x08040201);
  return {_mm512_movm_epi8(_mm512_test_epi8_mask(_mm512_shuffle_epi8(v.v, which), bits))};
}
INLINE Bytes flip(Bytes v, int bits) { return {_mm512_xor_si512(v.v, _mm512_set1_epi8(static_cast<char>(bits)))}; }
INLINE Bytes thirds(Bytes v) {
  const __m512i least = _mm512_subs_epu8(v.v, _mm512_set1_epi8(1));  // averages round up
  return {
      _mm512_and_si512(_mm512_srli_epi16(_mm512_avg_epu8(least, _mm512_avg_epu8(least, _mm512_setzero_si512())), 6), _mm512_set1_epi8(3))};
}
INLINE Bytes side_by_side(const uint8_t* p) {
  const __m512i words =
      _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), _mm512_loadu_si512(p));
  return {_mm512_shuffle_epi8(words, _mm512_set4_epi32(0x0F0B0703, 0x0E0A0602, 0x0D090501, 0x0C080400))};
}
INLINE Bytes plus(Bytes v, Bytes w) { return {_mm512_add_epi8(v.v, w.v)}; }
INLINE Bytes negated(Bytes v, Bytes w) { return {_mm512_sub_epi8(_mm512_xor_si512(v.v, w.v), w.v)}; }
// By pairs: insertions one after the other take a cycle each.
template <class At>
INLINE Bytes from_book(const uint32_t* book, const At& at) {
  const auto one = [&](int j) { return _mm_cvtsi32_si128(static_cast<int32_t>(book[at(j)])); };
  const auto two = [&](int j) { return _mm_unpacklo_epi32(one(j), one(j + 1)); };
  const auto four = [&](int j) { return _mm_unpacklo_epi64(two(j), two(j + 2)); };
  const __m256i low = _mm256_set_m128i(four(4), four(0)), high = _mm256_set_m128i(four(12), four(8));
  return {_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
}
INLINE void store_bytes(int8_t* p, Bytes v) { _mm512_storeu_si512(p, v.v); }
INLINE void choose(const int8_t* table, const uint8_t* nibbles, int8_t* low, int8_t* high) {
  const __m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), four = _mm512_set1_epi8(15),
                both = _mm512_loadu_si512(nibbles);
  _mm512_storeu_si512(low, _mm512_shuffle_epi8(t, _mm512_and_si512(both, four)));
  _mm512_storeu_si512(high, _mm512_shuffle_epi8(t, _mm512_and_si512(_mm512_srli_epi16(both, 4), four)));
}
// For unpacked_rows.h.
struct DpbusdRows {
  static constexpr int kMost = 255, kRegisters = 32, kRows = 4;
  static constexpr uint32_t kManyRows = 12, kManyDear = 12;
  static INLINE __m512i four(const int8_t* x) { return broadcast4(x); }
  template <int kMost>
  struct Sum {
    __m512i sum = _mm512_setzero_si512();
    INLINE void add(Bytes codes, __m512i x) { Dpbusd::add(sum, codes.v, x); }
    INLINE Vi total() const { return sum; }
  };
};
template <bool kF16>
inline __attribute__((always_inline)) __m512 load_scales(const char* p) {
  return kF16 ? _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))) : _mm512_loadu_ps(p);
}

// With many rows y is larger than the caches, and its lines take as long to come as a short k to multiply: ask for them before.
inline __attribute__((always_inline)) void fetch_y(const GemmArgs& a, uint32_t row, uint32_t panel) {
  asm volatile("prefetchw %0" ::"m"(a.y[row * a.y_stride + panel * size_t{16}]));
}

// Group i of four inputs of a panel as unsigned bytes.
template <Codes kCodes>
inline __attribute__((always_inline)) __m512i unsigned_codes(const int8_t* w, int i) {
  if (kCodes == kBytes) return _mm512_xor_si512(_mm512_loadu_si512(w + i * 64), _mm512_set1_epi8(-128));
  const __m512i v = _mm512_loadu_si512(w + i / 2 * 64);
  return _mm512_and_si512(i % 2 ? _mm512_srli_epi16(v, 4) : v, _mm512_set1_epi8(15));
}

// R rows by P panels over the whole k. The unsigned side are the weights with their sign bit flipped (code + 128); the sums
// start at -128 * sum(x), which takes that back. Four-bit codes are stored + 8, or + their zero point. scale_step: bytes from one group's
// weight scales to the next, 0 for format i8. One panel at a time (P = 1) reads memory in one straight line, as fast as it can be read;
// integer sums are split over k (kChains) where few rows would wait for each other. With the weights in the caches sixteen sums go side by
// side: four rows of four panels, or of many rows eight of two (Dot::kTwoPanels), since CPUs whose two ports for 512-bit work also flip the
// sign bits lose one instruction in nine to that, not one in five.
template <class Dot, int R, int P, Codes kCodes, bool kF16, bool kAsk = false>
void int_tile(const GemmArgs& a, uint32_t row, uint32_t panel, size_t scale_step) {
  constexpr int kChains = R * P <= 2 ? 2 : 1, kSixteen = kCodes == kBytes ? 256 : 128;  // bytes of 16 inputs
  constexpr bool kOf32 = kCodes == kBytes && kF16;                                      // i8g32
  const size_t x_stride = a.x_stride, w_stride = a.w_stride, groups = a.x_groups;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * groups;
  const int32_t* x_sum = a.x_sum128 + row * groups;
  // Three rows and more push each other out of the first-level cache while weights stream through: fetch these past it, early.
  const size_t ahead = a.fetch_ahead * (kCodes == kBytes ? 2 : 1);  // bytes are taken faster than nibbles
  const uint8_t* next = kAsk ? a.next->at : nullptr;
  __m512 acc[R][P];
  if (P > 1) UNROLL for (uint32_t r = 0; r < R; ++r) UNROLL for (uint32_t p = 0; p < P; ++p) fetch_y(a, row + r, panel + p);
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = _mm512_setzero_ps();
  for (uint32_t left = (a.k + 31) / 32 * 32; left;) {
    const uint32_t group = kOf32 ? 32 : left < a.x_group ? left : a.x_group;
    left -= group;
    __m512i dot[R][P][kChains];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) {
      const int32_t sum = x_sum[static_cast<size_t>(r) * groups];
      if (kCodes == kNibblesZero) {
        const char* zeros = w_scale + static_cast<size_t>(p) * a.w_scale_stride + 32;
        dot[r][p][0] = _mm512_mullo_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(zeros))),
                                          _mm512_set1_epi32(sum / 128));
      } else {
        dot[r][p][0] = _mm512_set1_epi32(kCodes == kNibbles ? sum / 16 : sum);
      }
      if (kChains == 2) dot[r][p][kChains - 1] = _mm512_setzero_si512();
    }
    if (kOf32 && P == 1) _mm_prefetch(w_scale + 2048, _MM_HINT_T0);  // half a line for 512 bytes of weights: a stream that CPUs lose
    for (const int8_t* end = x + group; x != end; x += 16, w += kSixteen) {
      UNROLL for (int i = 0; i < 4; ++i) {
        if (kAsk) ask<kAskScores>(next);
        if (P == 1 && i * 64 < kSixteen)
          _mm_prefetch(reinterpret_cast<const char*>(w) + ahead + i * 64, R >= 3 ? _MM_HINT_T1 : _MM_HINT_T0);
        if (P == 2 && i * 64 < kSixteen)
          UNROLL for (int p = 0; p < P; ++p)
              _mm_prefetch(reinterpret_cast<const char*>(w) + static_cast<size_t>(p) * w_stride + 512 + i * 64, _MM_HINT_T0);
        __m512i u[P];
        UNROLL for (int p = 0; p < P; ++p) u[p] = unsigned_codes<kCodes>(w + static_cast<size_t>(p) * w_stride, i);
        UNROLL for (int r = 0; r < R; ++r) {
          const __m512i s = broadcast4(x + static_cast<size_t>(r) * x_stride + i * 4);
          UNROLL for (int p = 0; p < P; ++p) Dot::add(dot[r][p][i % kChains], u[p], s);
        }
      }
    }
    UNROLL for (int p = 0; p < P; ++p) {
      const char* at = w_scale + static_cast<size_t>(p) * a.w_scale_stride;
      const __m512 ws = load_scales<kF16>(at);
      UNROLL for (int r = 0; r < R; ++r) {
        if (kChains == 2) dot[r][p][0] = _mm512_add_epi32(dot[r][p][0], dot[r][p][kChains - 1]);
        const __m512 s = _mm512_mul_ps(ws, _mm512_set1_ps(x_scale[static_cast<size_t>(r) * groups]));
        acc[r][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r][p][0]), s, acc[r][p]);
      }
    }
    w_scale += scale_step;
    ++x_scale;
    ++x_sum;
  }
  if (kAsk) a.next->at = next;
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

// ---- many rows ----------------------------------------------------------------------------------------------------------------

// What minima are multiplied with, of at most 16 groups.
inline __attribute__((always_inline)) __m512 x_sums(const int32_t* sum128, const float* scale, size_t groups) {
  const auto there = static_cast<__mmask16>((1u << groups) - 1);
  const __m512 sum = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(there, sum128));
  return _mm512_mul_ps(_mm512_mul_ps(sum, _mm512_set1_ps(0x1p-7f)), _mm512_maskz_loadu_ps(there, scale));
}

template <int R>
inline __attribute__((always_inline)) void start_rows(float (*acc)[4][16]) {
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) _mm512_store_ps(acc[r][p], _mm512_setzero_ps());
}

template <int R>
inline __attribute__((always_inline)) void finish_rows(const GemmArgs& a, uint32_t panel, const float (*acc)[4][16], float* y) {
  if (a.bias || a.accumulate) {  // asked once, not at every store
    for (int r = 0; r < R; ++r, y += a.y_stride)
      UNROLL for (uint32_t p = 0; p < 4; ++p) store_at(a, y + p * 16, panel + p, _mm512_load_ps(acc[r][p]));
  } else {
    UNROLL for (int r = 0; r < R; ++r, y += a.y_stride) UNROLL for (int p = 0; p < 4; ++p)
        _mm512_storeu_ps(y + p * 16, _mm512_load_ps(acc[r][p]));
  }
}

// Fewer rows than the large tiles have, of whole groups.
template <class Dot, int R>
inline __attribute__((always_inline)) void few_rows(const BlockTile& t) {
  const uint8_t* w = t.w;
  const int8_t* x = t.x;
  for (size_t g = 0; g < t.groups; ++g, w += 256) {
    __m512i dot[R][4];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) dot[r][p] =
        _mm512_set1_epi32(t.w_min ? 0 : t.sum128[static_cast<size_t>(r) * t.x_groups + g]);
    for (const int8_t* end = x + t.n; x != end; x += 4, w += 256) {
      __m512i u[4];
      UNROLL for (int p = 0; p < 4; ++p) u[p] = _mm512_load_si512(w + p * 64);
      UNROLL for (int r = 0; r < R; ++r) {
        const __m512i s = broadcast4(x + static_cast<size_t>(r) * t.x_stride);
        UNROLL for (int p = 0; p < 4; ++p) Dot::add(dot[r][p], u[p], s);
      }
    }
    UNROLL for (int p = 0; p < 4; ++p) {
      const __m512 scale = _mm512_load_ps(w + p * 64);
      UNROLL for (int r = 0; r < R; ++r) {
        const __m512 s = _mm512_mul_ps(scale, _mm512_set1_ps(t.scale[static_cast<size_t>(r) * t.x_groups + g]));
        _mm512_store_ps(t.acc[r][p], _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r][p]), s, _mm512_load_ps(t.acc[r][p])));
      }
    }
  }
}

template <int R>
inline __attribute__((always_inline)) void minima_of_rows(const BlockTile& t, float (*x_sum)[16]) {
  UNROLL for (int r = 0; r < R; ++r) {
    const size_t at = static_cast<size_t>(r) * t.x_groups;
    _mm512_store_ps(x_sum[r], x_sums(t.sum128 + at, t.scale + at, t.groups));
  }
}
template <int R>
__attribute__((noinline)) void add_block(const BlockTile& t, bool first, const float (*x_sum)[16]) {
  __m512 acc[R][4];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) acc[r][p] = _mm512_load_ps(t.acc[r][p]);
  if (!first)
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) acc[r][p] =
        _mm512_add_ps(acc[r][p], _mm512_load_ps(t.total[r][p]));
  if (t.w_min) {
    for (size_t g = 0; g < t.groups; ++g) {
      __m512 w[4];
      UNROLL for (int p = 0; p < 4; ++p) {
        w[p] = _mm512_load_ps(t.w_min[g][p]);
        asm("" : "+v"(w[p]));  // else it is loaded for every row
      }
      UNROLL for (int r = 0; r < R; ++r) {
        const __m512 x = _mm512_set1_ps(x_sum[r][g]);
        UNROLL for (int p = 0; p < 4; ++p) acc[r][p] = _mm512_fmadd_ps(w[p], x, acc[r][p]);
      }
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) _mm512_store_ps(t.total[r][p], acc[r][p]);
}

template <bool kF16>
inline void fill_scales(const char* w_scale, float* to) {
  _mm512_store_ps(to, load_scales<kF16>(w_scale));
}

template <Codes kCodes>
void fill_codes(const int8_t* w, const char* w_scale, uint32_t n, uint8_t* to) {
  __m512i offset = _mm512_set1_epi8(kCodes == kBytes ? 0 : 120);  // of bytes unsigned_codes() did it
  if (kCodes == kNibblesZero) {
    const __m512i zeros = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w_scale + 32)));
    offset = _mm512_sub_epi8(_mm512_set1_epi8(-128), _mm512_mullo_epi32(zeros, _mm512_set1_epi32(0x01010101)));
  }
  for (uint32_t i = 0; i < n; i += 16, w += kCodes == kBytes ? 256 : 128, to += 1024)
    UNROLL for (int j = 0; j < 4; ++j) _mm512_store_si512(to + j * 256, _mm512_add_epi8(unsigned_codes<kCodes>(w, j), offset));
}

template <class Dot, Codes kCodes, bool kF16>
void gemm_int(const GemmArgs* args, size_t scale_step) {
  using Tile = void (*)(const GemmArgs&, uint32_t, uint32_t, size_t);
#define LINNET_TILE(rows, panels) int_tile<Dot, rows, panels, kCodes, kF16>
  static constexpr Tile kOne[9] = {nullptr,           LINNET_TILE(1, 1), LINNET_TILE(2, 1), LINNET_TILE(3, 1), LINNET_TILE(4, 1),
                                   LINNET_TILE(5, 1), LINNET_TILE(6, 1), LINNET_TILE(7, 1), LINNET_TILE(8, 1)};
  const GemmArgs& a = *args;
  const bool in_caches = a.m > 8 || (a.m > 1 && a.fetch_ahead == 0);
  uint32_t panel = 0;
  if constexpr (Dot::kTwoPanels) {
    if (a.m >= kBlockLeast) panel = block_gemm<Dot, kCodes, kF16>(a, scale_step);
  }
  while (panel < a.n_panels) {
    const uint32_t left = a.n_panels - panel;
    uint32_t panels = 1;
    const Tile* tiles = kOne;  // by rows; missing ones are made of smaller ones
    if constexpr (Dot::kTwoPanels) {
      static constexpr Tile kTwo[9] = {nullptr, LINNET_TILE(1, 2), LINNET_TILE(2, 2), nullptr,          LINNET_TILE(4, 2),
                                       nullptr, nullptr,           nullptr,           LINNET_TILE(8, 2)};
      if (in_caches && left >= 2) panels = 2, tiles = kTwo;
    }
    if constexpr (!Dot::kTwoPanels || kCodes == kBytes) {  // few rows in the caches are those of attention, whose codes are bytes
      static constexpr Tile kFour[5] = {nullptr, LINNET_TILE(1, 4), LINNET_TILE(2, 4), kCodes == kBytes ? LINNET_TILE(3, 4) : nullptr,
                                        LINNET_TILE(4, 4)};
      if (in_caches && left >= 4 && (a.m <= 4 || !Dot::kTwoPanels)) panels = 4, tiles = kFour;
      if constexpr (kF16 && kCodes == kBytes) {
        static constexpr Tile kAsking[5] = {nullptr, int_tile<Dot, 1, 4, kCodes, kF16, true>, int_tile<Dot, 2, 4, kCodes, kF16, true>,
                                            int_tile<Dot, 3, 4, kCodes, kF16, true>, int_tile<Dot, 4, 4, kCodes, kF16, true>};
        if (tiles == kFour && asks<kAskScores>(a.next, a.k / 4)) tiles = kAsking;
      }
    }
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t most = panels == 4 ? 4 : 8;
      uint32_t rows = a.m - row < most ? a.m - row : most;
      while (!tiles[rows]) --rows;
      tiles[rows](a, row, panel, scale_step);
      row += rows;
    }
    panel += panels;
  }
#undef LINNET_TILE
}

// What avx512_vnni has for a format: tiers for many rows leave few to it.
inline const GemmKernel& vnni_gemm(linnet_format f) {
  const GemmKernel* k = avx512_vnni_table.gemm;
  while (k->w != f) ++k;
  return *k;
}

// The integer entries of a tier; kStep as scale_step.
template <class Dot>
struct IntKernels {
  template <Codes kCodes, uint32_t kStep>
  static void of(const GemmArgs* a) {
    gemm_int<Dot, kCodes, kStep != 0 && kStep != kStepF32>(a, kStep);
  }
};

}  // namespace
}  // namespace linnet
