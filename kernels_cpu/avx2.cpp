// AVX2 with FMA and F16C, bit-equal to scalar.cpp.
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "avx2.cpp needs -mavx2 -mfma -mf16c"
#endif
#include "avx2.h"

#include "float_tables.h"
#include "rows.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

// ---- rows -------------------------------------------------------------------------------------------------------------------

void bf16_row(const float* x, uint32_t k, uint16_t* y) {
  // Of every four the order 0 2 1 3.
  const __m256i order =
      _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
  const auto rounded = [](__m256 v) {
    const __m256i u = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i r = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), odd),
                  quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    return _mm256_srli_epi32(_mm256_blendv_epi8(r, quiet, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q))), 16);
  };
  for (uint32_t i = 0; i < (k + 31) / 32 * 32; i += 16) {
    const V v = i < k ? load(x + i, k - i) : all(0.0f);
    const __m256i h = _mm256_permute4x64_epi64(_mm256_packus_epi32(rounded(v.a), rounded(v.b)), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), _mm256_shuffle_epi8(h, order));
  }
}

uint32_t find_above(const float* x, uint32_t n, uint32_t from, float t) {
  const __m256 vt = _mm256_set1_ps(t);
  for (; from + 32 <= n; from += 32) {
    uint32_t m = 0;
    UNROLL for (int j = 0; j < 4; ++j) m |=
        static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + from + j * 8), vt, _CMP_GT_OQ))) << (j * 8);
    if (m) return from + static_cast<uint32_t>(__builtin_ctz(m));
  }
  for (; from < n; ++from)
    if (x[from] > t) return from;
  return n;
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// What a kernel asks for of the next block as it goes: a line per step, where more than half of them are wanted.
struct Asking {
  const uint8_t* at;
  size_t step;  // 0: nothing is wanted, and what is asked for is at hand
  Asking(const Fetch* next, size_t lines, const void* here) : at(static_cast<const uint8_t*>(here)), step(0) {
    if (next && next->until - next->at > static_cast<ptrdiff_t>(lines * 32)) at = next->at, step = 64;
  }
  INLINE void line() {
    _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1);
    at += step;
  }
  void done(Fetch* next) const {
    if (step) next->at = at;
  }
};

// acc += products of int16, in pairs. As intrinsics, GCC 12 multiplies first and adds when it is out of registers.
INLINE void dot2(__m256i& acc, __m256i u, __m256i s) {
  __m256i t;
  asm("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0" : "+x"(acc), "=&x"(t) : "x"(s), "x"(u));
}

// R rows by one panel of 16 channels. Weights of 14 bits times bytes as int16: both planes in one product, of tokens 0 and 2 and of 1 and 3
// of four. even, odd: (R, 64) such pairs of weights.
template <int R>
void pv_tile(const int32_t (*even)[64], const int32_t (*odd)[64], const int8_t* const* pages, uint32_t n_pages, size_t offset,
             const float* p_scale, float* acc, size_t acc_stride, Asking& out) {
  Asking asking = out;
  __m256i dot[R][2];
  UNROLL for (int r = 0; r < R; ++r) dot[r][0] = dot[r][1] = _mm256_setzero_si256();
  for (uint32_t i = 0; i < n_pages; ++i) {
    const int8_t* v = pages[i] + offset;
#pragma GCC unroll 1  // four times the code was no faster
    for (uint32_t t = 0; t < 4; ++t) {
      asking.line();
      const __m256i v0 = load32(v + t * 64), v1 = load32(v + t * 64 + 32);
      UNROLL for (int second = 0; second < 2; ++second) {
        const __m256i w0 = _mm256_srai_epi16(second ? v0 : _mm256_slli_epi16(v0, 8), 8),
                      w1 = _mm256_srai_epi16(second ? v1 : _mm256_slli_epi16(v1, 8), 8);
        UNROLL for (int r = 0; r < R; ++r) {
          const __m256i p = _mm256_set1_epi32((second ? odd : even)[r][i * 4 + t]);
          dot2(dot[r][0], p, w0);
          dot2(dot[r][1], p, w1);
        }
      }
    }
  }
  out = asking;
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int j = 0; j < 2; ++j) _mm256_storeu_ps(
      acc + static_cast<size_t>(r) * acc_stride + j * 8, _mm256_mul_ps(_mm256_cvtepi32_ps(dot[r][j]), _mm256_set1_ps(p_scale[r])));
}

void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
             const float* p_scale, float* acc, size_t acc_stride, Fetch* next) {
  alignas(32) int32_t even[4][64], odd[4][64];
  const __m128i low = _mm_set1_epi16(255);
  for (uint32_t r = 0; r < rows;) {
    const uint32_t step = rows - r < 4 ? rows - r : 4;
    for (uint32_t i = 0; i < step; ++i)
      for (uint32_t at = 0; at < n_pages * 16; at += 16) {
        const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(hi + (r + i) * size_t{256} + at)),
                      l = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lo + (r + i) * size_t{256} + at));
        _mm_store_si128(reinterpret_cast<__m128i*>(even[i] + at / 4),
                        _mm_or_si128(_mm_slli_epi16(_mm_and_si128(h, low), 7), _mm_and_si128(l, low)));
        _mm_store_si128(reinterpret_cast<__m128i*>(odd[i] + at / 4),
                        _mm_or_si128(_mm_slli_epi16(_mm_srli_epi16(h, 8), 7), _mm_srli_epi16(l, 8)));
      }
    for (uint32_t d = 0; d < d_panels; ++d) {
      Asking asking(next, n_pages * size_t{4}, pages[0]);
      (step == 4   ? pv_tile<4>
       : step == 3 ? pv_tile<3>
       : step == 2 ? pv_tile<2>
                   : pv_tile<1>)(even, odd, pages, n_pages, d * size_t{256}, p_scale + r, acc + r * acc_stride + d * size_t{16}, acc_stride,
                                 asking);
      asking.done(next);
    }
    r += step;
  }
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

// acc += dot of 4 bytes of w with 4 bytes of x, per lane; u = |w|. The sign of w goes to x, whose codes are -127..127, so that `pmaddubsw`
// has an unsigned side of at most 128: a pair of products stays below 2^15. As intrinsics, GCC 12 keeps more sums alive than there are
// registers.
INLINE void dot_signed(__m256i& acc, __m256i u, __m256i w, __m256i x, __m256i ones) {
  __m256i t;
  asm("vpsignb %2, %3, %1\n\tvpmaddubsw %1, %4, %1\n\tvpmaddwd %5, %1, %1\n\tvpaddd %1, %0, %0"
      : "+x"(acc), "=&x"(t)
      : "x"(w), "x"(x), "x"(u), "x"(ones));
}

// R rows by P panels over the whole k. kF16: the weights' scales, else f32. step: bytes from one group's weight scales to the next, 0 for
// format i8.
template <int R, int P, bool kF16>
void int_tile(const GemmArgs& a, uint32_t row, uint32_t panel, uint32_t step) {
  const size_t x_stride = a.x_stride, w_stride = a.w_stride, groups = a.x_groups;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * groups;
  const __m256i ones = _mm256_set1_epi16(1);
  // Of attention's keys the next block's lines instead, one for each.
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(a.k + 31) / 32 * 512;
  const bool ask = kF16 && P == 1 && a.next && a.next->until - a.next->at > bytes / 2;
  const char* const fetch = ask ? reinterpret_cast<const char*>(a.next->at) : reinterpret_cast<const char*>(w) + a.fetch_ahead;
  const ptrdiff_t ahead = fetch - reinterpret_cast<const char*>(w);
  if (ask) a.next->at += bytes;
  V acc[R][P];
  UNROLL for (uint32_t r = 0; r < R; ++r) UNROLL for (uint32_t p = 0; p < P; ++p) {
    fetch_y(a, row + r, panel + p);
    acc[r][p] = all(0.0f);
  }
  for (uint32_t left = (a.k + 31) / 32 * 32; left; w_scale += step, ++x_scale) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    __m256i dot[R][P][2];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) dot[r][p][0] = dot[r][p][1] = _mm256_setzero_si256();
    for (const int8_t* end = x + group; x != end; x += 16, w += 256) UNROLL for (int i = 0; i < 4; ++i) {
        UNROLL for (int p = 0; p < P; ++p) {
          const int8_t* at = w + static_cast<size_t>(p) * w_stride + i * 64;
          if (P < 4) _mm_prefetch(reinterpret_cast<const char*>(at) + ahead, _MM_HINT_T0);
          const __m256i w0 = load32(at), w1 = load32(at + 32), u0 = _mm256_abs_epi8(w0), u1 = _mm256_abs_epi8(w1);
          UNROLL for (int r = 0; r < R; ++r) {
            const __m256i v = broadcast4(x + static_cast<size_t>(r) * x_stride + i * 4);
            dot_signed(dot[r][p][0], u0, w0, v, ones);
            dot_signed(dot[r][p][1], u1, w1, v, ones);
          }
        }
      }
    UNROLL for (int p = 0; p < P; ++p) {
      const V ws = load_scales<kF16>(w_scale + static_cast<size_t>(p) * a.w_scale_stride);
      UNROLL for (int r = 0; r < R; ++r) {
        const V d = {_mm256_cvtepi32_ps(dot[r][p][0]), _mm256_cvtepi32_ps(dot[r][p][1])};
        acc[r][p] = fma(d, mul(ws, all(x_scale[static_cast<size_t>(r) * groups])), acc[r][p]);
      }
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

// A matrix in tiles of at most four rows; of one row four panels at a time where there are so many, of two rows two: several streams of
// memory are read faster than one.
struct Tiles {
  void (*rows4)(const GemmArgs&, uint32_t row, uint32_t panel, uint32_t step);
  decltype(rows4) rows3, rows2_panels2, rows2, panels4, one;
};
void by_tiles(const GemmArgs& a, const Tiles& tiles, uint32_t step) {
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const uint32_t left = a.n_panels - panel, panels = a.m == 1 && left >= 4 ? 4 : a.m == 2 && left >= 2 ? 2 : 1;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t rows = a.m - row < 4 ? a.m - row : 4;
      (rows == 4     ? tiles.rows4
       : rows == 3   ? tiles.rows3
       : rows == 2   ? panels == 2 ? tiles.rows2_panels2 : tiles.rows2
       : panels == 4 ? tiles.panels4
                     : tiles.one)(a, row, panel, step);
      row += rows;
    }
    panel += panels;
  }
}

template <bool kF16, uint32_t kStep>
void gemm_int(const GemmArgs* a) {
  by_tiles(
      *a,
      {int_tile<4, 1, kF16>, int_tile<3, 1, kF16>, int_tile<2, 2, kF16>, int_tile<2, 1, kF16>, int_tile<1, 4, kF16>, int_tile<1, 1, kF16>},
      kStep);
}

// Four-bit codes are stored + 8 (or + their zero point), so they are the unsigned side and the sums start at what takes that back. Products
// of 32 inputs fit in 16 bits: 8 * 2 * 15 * 127 < 2^15. sum += products of unsigned bytes of u and signed ones of x, in pairs of 16 bits.
// As intrinsics, GCC 12 multiplies first and adds when it is out of registers.
INLINE void add_pairs(__m256i& sum, __m256i u, __m256i x) {
  __m256i t;
  asm("vpmaddubsw %2, %3, %1\n\tvpaddw %1, %0, %0" : "+x"(sum), "=&x"(t) : "x"(x), "x"(u));
}

// R rows by P panels over the whole k, R * P at most 4: 8 outputs of each at a time, or there would be too few registers for two kinds of
// sums. step: bytes from one group's weight scales to the next; with zero points behind them 48.
template <int R, int P>
void i4_tile(const GemmArgs& a, uint32_t row, uint32_t panel, uint32_t step) {
  const size_t x_stride = a.x_stride, w_stride = a.w_stride, groups = a.x_groups;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * groups;
  const int32_t* x_sum = a.x_sum128 + row * groups;
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  __m256 acc[R][P][2];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p][0] = acc[r][p][1] = _mm256_setzero_ps();
  for (uint32_t left = (a.k + 31) / 32 * 32; left; w_scale += step, ++x_scale, ++x_sum) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    UNROLL for (int half = 0; half < 2; ++half) {
      __m256i dot[R][P];
      UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) {
        const int32_t sum128 = x_sum[static_cast<size_t>(r) * groups];
        dot[r][p] =
            step == 48 ? zero_sum(w_scale + static_cast<size_t>(p) * a.w_scale_stride, half, sum128) : _mm256_set1_epi32(sum128 / 16);
      }
      const int8_t* of_half = w + half * 32;
      for (const int8_t *xi = x, *end = x + group; xi != end; xi += 32, of_half += 256) {
        __m256i sum[R][P];
        UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) sum[r][p] = _mm256_setzero_si256();
        UNROLL for (int i = 0; i < 4; ++i) UNROLL for (int p = 0; p < P; ++p) {
          const int8_t* at = of_half + static_cast<size_t>(p) * w_stride + i * 64;
          if (P < 4 && half == 0) _mm_prefetch(reinterpret_cast<const char*>(at) + a.fetch_ahead, _MM_HINT_T0);
          const __m256i codes = load32(at);
          UNROLL for (int j = 0; j < 2; ++j) {
            const __m256i u = _mm256_and_si256(j ? _mm256_srli_epi16(codes, 4) : codes, low);
            UNROLL for (int r = 0; r < R; ++r) add_pairs(sum[r][p], u, broadcast4(xi + static_cast<size_t>(r) * x_stride + i * 8 + j * 4));
          }
        }
        UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) dot[r][p] =
            _mm256_add_epi32(dot[r][p], _mm256_madd_epi16(sum[r][p], ones));
      }
      UNROLL for (int p = 0; p < P; ++p) {
        const char* at = w_scale + static_cast<size_t>(p) * a.w_scale_stride + half * 16;
        const __m256 ws = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
        UNROLL for (int r = 0; r < R; ++r) acc[r][p][half] = _mm256_fmadd_ps(
            _mm256_cvtepi32_ps(dot[r][p]), _mm256_mul_ps(ws, _mm256_set1_ps(x_scale[static_cast<size_t>(r) * groups])), acc[r][p][half]);
      }
    }
    x += group;
    w += group * size_t{8};
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), {acc[r][p][0], acc[r][p][1]});
}

template <uint32_t kStep>
void gemm_i4(const GemmArgs* a) {
  by_tiles(*a, {i4_tile<4, 1>, i4_tile<3, 1>, i4_tile<2, 2>, i4_tile<2, 1>, i4_tile<1, 4>, i4_tile<1, 1>}, kStep);
}

struct F32 {
  static constexpr size_t kBytes = 4;
  static INLINE V load16(const char* p) { return load(reinterpret_cast<const float*>(p)); }
};
struct F16 {
  static constexpr size_t kBytes = 2;
  static INLINE V load16(const char* p) { return load_scales<true>(p); }
};
INLINE __m256 from_bf16(const char* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}
struct Bf16 {
  static constexpr size_t kBytes = 2;
  static INLINE V load16(const char* p) { return {from_bf16(p), from_bf16(p + 16)}; }
};

// One chain of fmaf over k per output; R * P pairs of chains hide its latency.
template <class W, int R, int P>
void float_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  V acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = all(0.0f);
  for (uint32_t i = 0; i < a.k; ++i) {
    UNROLL for (int p = 0; p < P; ++p) {
      const V wv = W::load16(w + static_cast<size_t>(p) * a.w_stride + i * 16 * W::kBytes);
      UNROLL for (int r = 0; r < R; ++r) {
        const __m256 s = _mm256_castsi256_ps(broadcast4(x + static_cast<size_t>(r) * a.x_stride + i * size_t{4}));
        acc[r][p] = fma({s, s}, wv, acc[r][p]);
      }
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

template <class W>
void gemm_float(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const uint32_t panels = a.m < 4 && a.n_panels - panel >= 4 ? 4 : 1;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t rows = panels == 1 && a.m - row >= 4 ? 4 : 1;
      (rows == 4 ? float_tile<W, 4, 1> : panels == 4 ? float_tile<W, 1, 4> : float_tile<W, 1, 1>)(a, row, panel);
      row += rows;
    }
    panel += panels;
  }
}

// Both halves of sixteen floats, of which the instruction chooses by three bits.
struct FloatTable {
  __m256 low, high;
  static INLINE FloatTable load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static INLINE Vi words(const uint8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
  }
  template <int kShift>
  INLINE __m256 at(__m256i words) const {
    const __m256i by = kShift ? _mm256_srli_epi32(words, kShift) : words, top = kShift < 28 ? _mm256_slli_epi32(words, 28 - kShift) : words;
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, by), _mm256_permutevar8x32_ps(high, by), _mm256_castsi256_ps(top));
  }
  template <int kShift>
  INLINE V at(Vi words) const {
    return {at<kShift>(words.a), at<kShift>(words.b)};
  }
};
constexpr TableTiles kTiles = {2, 1, 4, 1};

// FP8 of input j of 8 outputs: its seven bits lie at the top of an f32's exponent and mantissa, and an exact product puts the exponent
// right, subnormals included. kAny: infinities and NaNs too.
template <bool kE4M3, bool kAny>
INLINE __m256 from_f8(__m256i four, int j) {
  const __m256i at_top = _mm256_slli_epi32(four, 24 - 8 * j);
  const __m256i u = _mm256_and_si256(kE4M3 ? _mm256_srai_epi32(at_top, 4) : _mm256_srai_epi32(at_top, 3),
                                     _mm256_set1_epi32(static_cast<int32_t>(kE4M3 ? 0x87F00000u : 0x8FE00000u)));
  const __m256 f = _mm256_mul_ps(_mm256_castsi256_ps(u), _mm256_set1_ps(kE4M3 ? 0x1p120f : 0x1p112f));
  if (!kAny) return f;
  const __m256i magnitude = _mm256_and_si256(u, _mm256_set1_epi32(0x7FFFFFFF));
  const __m256i special = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(kE4M3 ? 0x07EFFFFF : 0x0F7FFFFF));
  return _mm256_or_ps(f, _mm256_castsi256_ps(_mm256_and_si256(special, _mm256_set1_epi32(kE4M3 ? 0x7FC00000 : 0x7F800000))));
}
// Whether all of these are numbers.
template <bool kE4M3>
INLINE bool numbers(__m256i a, __m256i b) {
  const __m256i low7 = _mm256_set1_epi8(127), top = _mm256_set1_epi8(kE4M3 ? 0x7E : 0x7B);
  const __m256i none =
      _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_and_si256(a, low7), top), _mm256_cmpgt_epi8(_mm256_and_si256(b, low7), top));
  return _mm256_testz_si256(none, none);
}
// Four inputs of 16 outputs, infinities and NaNs too. Apart, or GCC has what both ways share done before it knows which.
template <bool kE4M3>
[[gnu::noinline, gnu::cold]] void any_f8(const int8_t* w, float (*to)[16]) {
  for (int j = 0; j < 4; ++j) store(to[j], {from_f8<kE4M3, true>(load32(w), j), from_f8<kE4M3, true>(load32(w + 32), j)});
}
// x in bf16, of every four the order 0 2 1 3: input j of four, in all lanes.
INLINE __m256 one_of_four(const char* x, int j) {
  const __m256i pair = broadcast4(x + j % 2 * 4);
  return _mm256_castsi256_ps(j < 2 ? _mm256_slli_epi32(pair, 16)
                                   : _mm256_and_si256(pair, _mm256_set1_epi32(static_cast<int32_t>(0xFFFF0000u))));
}

// Scales of a panel's group.
INLINE V f8_scale(const GemmArgs& a, uint32_t panel, uint32_t group) {
  return load(reinterpret_cast<const float*>(static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride) + group * size_t{16});
}

// Few rows: R of them by P panels, weights turned into floats as they come. Of one row two panels, whose sums do not wait for each other.
template <bool kE4M3, int R, int P>
void f8_tile(const GemmArgs& a, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x);
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * a.w_stride;
  const uint32_t kpad = (a.k + 31) / 32 * 32, group = a.w_group ? a.w_group : kpad;
  V total[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) total[r][p] = all(0.0f);
  for (uint32_t from = 0, g = 0; from < kpad; from += group, ++g) {
    V acc[R][P];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = all(0.0f);
    for (uint32_t i = kpad - from < group ? kpad - from : group; i; i -= 4, w += 64, x += 8) UNROLL for (int p = 0; p < P; ++p) {
        const int8_t* at = w + static_cast<size_t>(p) * a.w_stride;
        const auto add_four = [&](auto&& weights) {
          UNROLL for (int j = 0; j < 4; ++j) {
            const V wv = weights(j);
            UNROLL for (int r = 0; r < R; ++r) {
              const __m256 xv = one_of_four(x + static_cast<size_t>(r) * a.x_stride, j);
              acc[r][p] = fma({xv, xv}, wv, acc[r][p]);
            }
          }
        };
        const __m256i w0 = load32(at), w1 = load32(at + 32);
        if (__builtin_expect(numbers<kE4M3>(w0, w1), 1)) {
          add_four([&](int j) { return V{from_f8<kE4M3, false>(w0, j), from_f8<kE4M3, false>(w1, j)}; });
        } else {
          alignas(32) float any[4][16];
          any_f8<kE4M3>(at, any);
          add_four([&](int j) { return load(any[j]); });
        }
      }
    UNROLL for (int p = 0; p < P; ++p) {
      const V scale = f8_scale(a, panel + static_cast<uint32_t>(p), g);
      UNROLL for (int r = 0; r < R; ++r) total[r][p] = g ? fma(acc[r][p], scale, total[r][p]) : mul(acc[r][p], scale);
    }
  }
  UNROLL for (int p = 0; p < P; ++p) UNROLL for (int r = 0; r < R; ++r)
      finish(a, static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), total[r][p]);
}

// Many: a piece of some panels becomes floats once for all of them, and so does each row's for all these panels, in the first-level cache.
constexpr uint32_t kPiece = 64, kPiecePanels = 4, kPieceRows = 64;  // inputs, of which groups are a multiple; panels, rows

template <bool kE4M3>
void f8_piece(const int8_t* w, uint32_t n, float (*to)[16]) {
  for (uint32_t i = 0; i < n; i += 4, w += 64) {
    const __m256i w0 = load32(w), w1 = load32(w + 32);
    if (__builtin_expect(numbers<kE4M3>(w0, w1), 1))
      UNROLL for (int j = 0; j < 4; ++j)
          store(to[i + static_cast<uint32_t>(j)], {from_f8<kE4M3, false>(w0, j), from_f8<kE4M3, false>(w1, j)});
    else
      any_f8<kE4M3>(w, to + i);
  }
}
// n inputs of a row (a multiple of 32), as one_of_four has them.
void bf16_piece(const char* x, uint32_t n, float* to) {
  for (uint32_t i = 0; i < n; i += 16) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i * size_t{2}));
    const __m256d first = _mm256_castsi256_pd(_mm256_slli_epi32(v, 16)),
                  second = _mm256_castsi256_pd(_mm256_and_si256(v, _mm256_set1_epi32(static_cast<int32_t>(0xFFFF0000u))));
    const __m256 low = _mm256_castpd_ps(_mm256_unpacklo_pd(first, second)), high = _mm256_castpd_ps(_mm256_unpackhi_pd(first, second));
    store(to + i, {_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31)});
  }
}
template <int R>
void f8_rows(const float (*w)[16], const float (*x)[kPiece], uint32_t n, float (*sum)[16]) {
  V acc[R];
  UNROLL for (int r = 0; r < R; ++r) acc[r] = load(sum[r]);
  for (uint32_t i = 0; i < n; ++i) {
    const V wv = load(w[i]);
    UNROLL for (int r = 0; r < R; ++r) acc[r] = fma(all(x[r][i]), wv, acc[r]);
  }
  UNROLL for (int r = 0; r < R; ++r) store(sum[r], acc[r]);
}

template <bool kE4M3>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  if (a.m <= 4) {
    for (uint32_t panel = 0; panel < a.n_panels;) {
      const uint32_t panels = a.m == 1 && a.n_panels - panel >= 2 ? 2 : 1;
      (a.m == 4      ? f8_tile<kE4M3, 4, 1>
       : a.m == 3    ? f8_tile<kE4M3, 3, 1>
       : a.m == 2    ? f8_tile<kE4M3, 2, 1>
       : panels == 2 ? f8_tile<kE4M3, 1, 2>
                     : f8_tile<kE4M3, 1, 1>)(a, panel);
      panel += panels;
    }
    return;
  }
  constexpr uint32_t kMost = 6;
  static constexpr void (*kRows[kMost + 1])(const float(*)[16], const float(*)[kPiece], uint32_t, float(*)[16]) = {
      nullptr, f8_rows<1>, f8_rows<2>, f8_rows<3>, f8_rows<4>, f8_rows<5>, f8_rows<6>};
  alignas(32) float w[kPiecePanels][kPiece][16], x[kMost][kPiece], sum[kPiecePanels][kPieceRows][16], total[kPiecePanels][kPieceRows][16];
  const uint32_t k = (a.k + 31) / 32 * 32, group = a.w_group ? a.w_group : k;
  for (uint32_t panel = 0; panel < a.n_panels; panel += kPiecePanels)
    for (uint32_t row = 0; row < a.m; row += kPieceRows) {
      const uint32_t panels = a.n_panels - panel < kPiecePanels ? a.n_panels - panel : kPiecePanels,
                     rows = a.m - row < kPieceRows ? a.m - row : kPieceRows;
      for (uint32_t p = 0; p < panels; ++p)
        for (uint32_t r = 0; r < rows; ++r) store(sum[p][r], all(0.0f));
      for (uint32_t from = 0; from < k; from += kPiece) {
        const uint32_t n = k - from < kPiece ? k - from : kPiece;
        for (uint32_t p = 0; p < panels; ++p)
          f8_piece<kE4M3>(static_cast<const int8_t*>(a.w) + (panel + p) * a.w_stride + from * size_t{16}, n, w[p]);
        for (uint32_t r = 0; r < rows;) {
          const uint32_t left = rows - r, tiles = (left + kMost - 1) / kMost, some = (left + tiles - 1) / tiles;  // of like size
          for (uint32_t i = 0; i < some; ++i)
            bf16_piece(static_cast<const char*>(a.x) + (row + r + i) * a.x_stride + from * size_t{2}, n, x[i]);
          for (uint32_t p = 0; p < panels; ++p) kRows[some](w[p], x, n, sum[p] + r);
          r += some;
        }
        if (from + n < k && (from + n) % group) continue;
        const uint32_t g = from / group;
        for (uint32_t p = 0; p < panels; ++p) {
          const V scale = f8_scale(a, panel + p, g);
          for (uint32_t r = 0; r < rows; ++r) {
            const V d = load(sum[p][r]);
            store(total[p][r], g ? fma(d, scale, load(total[p][r])) : mul(d, scale));
            store(sum[p][r], all(0.0f));
          }
        }
      }
      for (uint32_t p = 0; p < panels; ++p)
        for (uint32_t r = 0; r < rows; ++r) finish(a, row + r, panel + p, load(total[p][r]));
    }
}

// ---- attention over float pages -----------------------------------------------------------------------------------------------

// R rows by one panel of 16 channels; one chain over the tokens per output.
template <class Load, int R>
void pv_float_tile(const float* e, const void* const* pages, uint32_t n_pages, uint32_t panel, float* acc, size_t acc_stride) {
  V sum[R];
  UNROLL for (int r = 0; r < R; ++r) sum[r] = all(0.0f);
  for (uint32_t i = 0; i < n_pages; ++i, e += 16) {
    const char* v = static_cast<const char*>(pages[i]) + panel * Load::kPanelBytes;
    for (uint32_t t = 0; t < 16; t += 4) UNROLL for (uint32_t j = 0; j < 4; ++j) {
        const V vv = Load::token(v, t, j);
        UNROLL for (int r = 0; r < R; ++r) sum[r] = fma(all(e[static_cast<uint32_t>(r) * 256 + t + j]), vv, sum[r]);
      }
  }
  UNROLL for (int r = 0; r < R; ++r) store(acc + static_cast<size_t>(r) * acc_stride, sum[r]);
}
template <class W>
struct Wide {
  static constexpr size_t kPanelBytes = 256 * W::kBytes;
  static INLINE V token(const char* v, uint32_t t, uint32_t j) { return W::load16(v + (t + j) * 16 * W::kBytes); }
};
template <class Load>
void pv_float(const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels, float* acc, size_t acc_stride) {
  for (uint32_t d = 0; d < d_panels; ++d)
    for (uint32_t r = 0; r < rows;) {
      const uint32_t step = rows - r >= 4 ? 4 : 1;
      (step == 4 ? pv_float_tile<Load, 4> : pv_float_tile<Load, 1>)(e + r * size_t{256}, pages, n_pages, d,
                                                                    acc + r * acc_stride + d * size_t{16}, acc_stride);
      r += step;
    }
}
// 8 by 8 of 2 bytes and 4 by 4 of 4; rows are 16 long.
void turn_2(const uint16_t* from, uint16_t* to) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * 16));
  for (int i = 0; i < 4; ++i) b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]), b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  for (int i = 0; i < 4; ++i) a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]), a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  for (int i = 0; i < 4; ++i) b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]), b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  for (int i = 0; i < 8; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * 16), b[i]);
}
void turn_4(const float* from, float* to) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 16), c = _mm_loadu_ps(from + 32), d = _mm_loadu_ps(from + 48);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + 16, b);
  _mm_storeu_ps(to + 32, c);
  _mm_storeu_ps(to + 48, d);
}

void turn_panels(uint32_t bytes, const void* k, uint32_t n, void* v) {
  const uint8_t* from = static_cast<const uint8_t*>(k);
  uint8_t* to = static_cast<uint8_t*>(v);
  const __m128i four = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (uint32_t p = 0; p < n; ++p, from += 256 * bytes, to += 256 * bytes) {
    if (bytes == 1) {  // four tokens of four channels lie together
      for (int d = 0; d < 4; ++d)
        for (int t = 0; t < 4; ++t)
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to + t * 64 + d * 16),
                           _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + d * 64 + t * 16)), four));
    } else if (bytes == 2) {
      for (int d = 0; d < 16; d += 8)
        for (int t = 0; t < 16; t += 8)
          turn_2(reinterpret_cast<const uint16_t*>(from) + d * 16 + t, reinterpret_cast<uint16_t*>(to) + t * 16 + d);
    } else {
      for (int d = 0; d < 16; d += 4)
        for (int t = 0; t < 16; t += 4)
          turn_4(reinterpret_cast<const float*>(from) + d * 16 + t, reinterpret_cast<float*>(to) + t * 16 + d);
    }
  }
}

void attn_pv_float(linnet_format v, const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels,
                   float* acc, size_t acc_stride) {
  (v == LINNET_F32   ? pv_float<Wide<F32>>
   : v == LINNET_F16 ? pv_float<Wide<F16>>
                     : pv_float<Wide<Bf16>>)(e, rows, pages, n_pages, d_panels, acc, acc_stride);
}

// Tables of 16: a byte shuffle gives zero where bit 7 of its index is set, as in a code less all that stands before its table. A code
// beyond a table meets it by its low bits, so each holds what differs from the one before. FP8's begin with zeros alone, which are left
// out.
void byte_table(const int8_t* table, const uint8_t* codes, size_t n, int8_t* q) {
  const __m256i low7 = _mm256_set1_epi8(127), one = _mm256_set1_epi8(1);
  __m256i t[8], before = _mm256_setzero_si256();
  UNROLL for (int k = 0; k < 8; ++k) {
    const __m256i own = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table + k * 16)));
    t[k] = _mm256_xor_si256(own, before);
    before = own;
  }
  int first = 0;
  while (first < 8 && _mm256_testz_si256(t[first], t[first])) ++first;
  for (size_t i = 0; i < n; i += 64) {
    __m256i w[2], c[2], v[2];
    UNROLL for (int j = 0; j < 2; ++j) {
      w[j] = load32(reinterpret_cast<const int8_t*>(codes) + i + j * 32);
      c[j] = _mm256_sub_epi8(_mm256_and_si256(w[j], low7), _mm256_set1_epi8(static_cast<char>(first * 16)));
      v[j] = _mm256_setzero_si256();
    }
    for (int k = first; k < 8; ++k) UNROLL for (int j = 0; j < 2; ++j) {
        v[j] = _mm256_xor_si256(v[j], _mm256_shuffle_epi8(t[k], c[j]));
        c[j] = _mm256_sub_epi8(c[j], _mm256_set1_epi8(16));
      }
    UNROLL for (int j = 0; j < 2; ++j)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i + j * 32), _mm256_sign_epi8(v[j], _mm256_or_si256(w[j], one)));
  }
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

// The shortest exact sequence for signed codes: `pmaddwd` and an addition, 16 multiply-adds.
uint64_t peak_int8(uint64_t n) {
  __m256i acc[10], t;
  const __m256i u = _mm256_set1_epi16(3), s = _mm256_set1_epi16(-5);
  UNROLL for (int i = 0; i < 10; ++i) acc[i] = _mm256_set1_epi32(i);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 10; ++j) asm volatile("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0" : "+x"(acc[j]), "=&x"(t) : "x"(s), "x"(u));
  UNROLL for (int i = 0; i < 10; ++i) asm volatile("" ::"x"(acc[i]));
  return n * 10 * 16;
}

uint64_t read_all(const void* p, size_t bytes) {
  const int8_t* c = static_cast<const int8_t*>(p);
  __m256i sum[8];
  UNROLL for (int i = 0; i < 8; ++i) sum[i] = _mm256_setzero_si256();
  for (size_t at = 0; at < bytes; at += 256) UNROLL for (int i = 0; i < 8; ++i) sum[i] = _mm256_xor_si256(sum[i], load32(c + at + i * 32));
  UNROLL for (int i = 1; i < 8; ++i) sum[0] = _mm256_xor_si256(sum[0], sum[i]);
  alignas(32) uint64_t v[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(v), sum[0]);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// 4 bits: the products of two inputs are added in 16 bits.
uint64_t peak_i4(uint64_t n) {
  __m256i acc[10], t;
  const __m256i u = _mm256_set1_epi8(3), s = _mm256_set1_epi8(-5);
  UNROLL for (int i = 0; i < 10; ++i) acc[i] = _mm256_set1_epi32(i);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 10;
                ++j) asm volatile("vpmaddubsw %2, %3, %1\n\tvpaddw %1, %0, %0" : "+x"(acc[j]), "=&x"(t) : "x"(s), "x"(u));
  UNROLL for (int i = 0; i < 10; ++i) asm volatile("" ::"x"(acc[i]));
  return n * 10 * 32;
}

uint64_t peak_f32(uint64_t n) {
  __m256 acc[12];
  UNROLL for (int i = 0; i < 12; ++i) acc[i] = _mm256_setzero_ps();
  const __m256 u = _mm256_set1_ps(0.5f), s = _mm256_set1_ps(0.25f);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("vfmadd231ps %2, %1, %0" : "+x"(acc[j]) : "x"(u), "x"(s));
  UNROLL for (int i = 0; i < 12; ++i) asm volatile("" ::"x"(acc[i]));
  return n * 12 * 8;
}

template <Codes kCodes, uint32_t kStep>
constexpr auto gemm_of() {
  if constexpr (kCodes == kBytes)
    return gemm_int < kStep != 0 && kStep != kStepF32, kStep > ;
  else
    return gemm_i4<kStep>;
}

// Products of pairs of bytes are added in 16 bits as long as they fit there.
struct Maddubs {
  static constexpr int kMost = 127, kRegisters = 8, kRows = 2;
  static constexpr uint32_t kManyRows = UINT32_MAX, kManyDear = 5;
  static INLINE __m256i four(const int8_t* x) { return broadcast4(x); }
  template <int kMost>
  struct Sum {
    static constexpr int kFit = 32767 / (2 * 127 * kMost);
    Bytes pairs = {};
    Vi sum = {};
    int n = 0;  // lines

    INLINE void add(Bytes codes, __m256i x) {
      if (n % kFit == 0) {
        if (n) sum = total();
        pairs = {_mm256_maddubs_epi16(codes.a, x), _mm256_maddubs_epi16(codes.b, x)};
      } else {
        add_pairs(pairs.a, codes.a, x);
        add_pairs(pairs.b, codes.b, x);
      }
      ++n;
    }
    INLINE Vi total() const {
      const __m256i ones = _mm256_set1_epi16(1);
      const Vi t = {_mm256_madd_epi16(pairs.a, ones), _mm256_madd_epi16(pairs.b, ones)};
      return n > kFit ? linnet::add(sum, t) : t;
    }
  };
};
// The sign of x goes to the codes.
template <>
struct Maddubs::Sum<0> {
  Vi sum = all_int(0);
  INLINE void add(Bytes codes, __m256i x) {
    const __m256i u = _mm256_abs_epi8(x), ones = _mm256_set1_epi16(1);
    dot_signed(sum.a, u, x, codes.a, ones);
    dot_signed(sum.b, u, x, codes.b, ones);
  }
  INLINE Vi total() const { return sum; }
};

const GemmKernel kGemm[] = {
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, 1, gemm_float<type>, peak_f32},
#define LINNET_FP8(name, NAME, ...) {LINNET_##NAME, 1, gemm_f8 < LINNET_##NAME != LINNET_F8E5M2 >, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_of<k##codes, w_group ? kStep##scale : kStepNone>(), bits == 4 ? peak_i4 : peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) \
  {LINNET_##NAME, 1, gemm_unpacked<kind, LINNET_##NAME, gemm_of<kBytes, kStepF32>(), Maddubs>, peak_int8},
#define LINNET_TABLES(name, NAME, table, scale) \
  {LINNET_##NAME, 1, gemm_table<&FloatTables::table, kStep##scale, FloatTable, kTiles>, peak_f32},
#include "../runtime/formats.inc"
};

constexpr UnpackBlocks kUnpack[] = {
#define LINNET_BLOCKS(name, NAME, kind, ...) kind::unpack<0>,
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable avx2_table = {
    .isa = LINNET_ISA_AVX2,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .quantize_row = quantize_row,
    .bf16_row = bf16_row,
    .amax_bits = amax_bits,
    .codes = codes,
    .rmsnorm_row = rmsnorm_row,
    .layernorm_row = layernorm_row,
    .silu_mul_row = silu_mul_row,
    .gelu_mul_row = gelu_mul_row,
    .gelu_erf_mul_row = gelu_erf_mul_row,
    .sigmoid_mul_row = sigmoid_mul_row,
    .relu_mul_row = relu_mul_row,
    .xielu_row = xielu_row,
    .taps_row = taps_row,
    .add_row = add_row,
    .rope_row = rope_row,
    .softmax_block = softmax_block<Asking>,
    .planes = planes<Asking>,
    .attn_pv = attn_pv,
    .attn_pv_float = attn_pv_float,
    .byte_table = byte_table,
    .turn_panels = turn_panels,
    .merge_row = merge_row,
    .delta_steps = delta_steps,
    .scale_row = scale_row,
    .find_above = find_above,
    .exp_row = exp_row,
    .unpack = kUnpack,
    .read_all = read_all,
};

}  // namespace linnet
