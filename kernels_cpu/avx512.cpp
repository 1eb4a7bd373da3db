// AVX-512 F, BW, VL and DQ, bit-equal to scalar.cpp.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__)
#error "avx512.cpp needs -mavx512f -mavx512bw -mavx512vl -mavx512dq"
#endif
#include "avx512.h"

#include "float_tables.h"
#include "rows.h"

namespace linnet {
namespace {

// ---- rows -------------------------------------------------------------------------------------------------------------------

void bf16_row(const float* x, uint32_t k, uint16_t* y) {
  // Of every four the order 0 2 1 3, in both halves of 32.
  const __m512i order = _mm512_set_epi16(31, 29, 30, 28, 27, 25, 26, 24, 23, 21, 22, 20, 19, 17, 18, 16, 15, 13, 14, 12, 11, 9, 10, 8, 7, 5,
                                         6, 4, 3, 1, 2, 0);
  for (uint32_t i = 0; i < k; i += 32) {
    __m256i h[2];
    UNROLL for (uint32_t j = 0; j < 2; ++j) {
      const __m512 v = _mm512_maskz_loadu_ps(i + j * 16 < k ? lanes(k - i - j * 16) : 0, x + i + j * 16);
      const __m512i u = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
      const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7FFF)), odd);
      const __m512i r = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), u, _mm512_set1_epi32(0x400000));
      h[j] = _mm512_cvtepi32_epi16(_mm512_srli_epi32(r, 16));
    }
    const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(h[0]), h[1], 1);
    _mm512_storeu_si512(y + i, _mm512_permutexvar_epi16(order, both));
  }
}

uint32_t find_above(const float* x, uint32_t n, uint32_t from, float t) {
  const __m512 vt = _mm512_set1_ps(t);
  for (; from + 64 <= n; from += 64) {
    __mmask16 m[4];
    UNROLL for (int j = 0; j < 4; ++j) m[j] = _mm512_cmp_ps_mask(_mm512_loadu_ps(x + from + j * 16), vt, _CMP_GT_OQ);
    if (m[0] | m[1] | m[2] | m[3])
      return from +
             static_cast<uint32_t>(__builtin_ctzll(uint64_t{m[0]} | uint64_t{m[1]} << 16 | uint64_t{m[2]} << 32 | uint64_t{m[3]} << 48));
  }
  for (; from < n; from += 16) {
    const __mmask16 k = lanes(n - from), m = _mm512_mask_cmp_ps_mask(k, _mm512_maskz_loadu_ps(k, x + from), vt, _CMP_GT_OQ);
    if (m) return from + static_cast<uint32_t>(__builtin_ctz(m));
  }
  return n;
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// Not those of rows.h: rows come four vectors at a time; one chain of maxima, or one vector's exponential after the other's, would be
// waited for.
void softmax_block(float* s, uint32_t from, uint32_t to, uint32_t n_pad, float scale, float slope, float origin, float cap, float* m,
                   float* l, Fetch* next) {
  const bool asking = asks<kAskWeights>(next, n_pad / 64);
  const __m512 vs = _mm512_set1_ps(scale);
  __m512 max[4], sum = _mm512_setzero_ps();
  UNROLL for (int j = 0; j < 4; ++j) max[j] = _mm512_set1_ps(-__builtin_inff());
  const uint32_t first = from / 16 * 16;
  const auto whole = [&](uint32_t i) { return i >= from && i + 64 <= to; };
  const auto seen = [&](uint32_t i) { return static_cast<__mmask16>(lanes(to - i) & (from > i ? 0xFFFFu << (from - i) : 0xFFFFu)); };
  for (uint32_t i = first; i < to;) {
    if (whole(i) && !(cap > 0) && slope == 0) {
      UNROLL for (int j = 0; j < 4; ++j) {
        const __m512 v = _mm512_mul_ps(_mm512_loadu_ps(s + i + j * 16), vs);
        _mm512_storeu_ps(s + i + j * 16, v);
        max[j] = _mm512_max_ps(v, max[j]);
      }
      i += 64;
      continue;
    }
    __m512 v = _mm512_mul_ps(_mm512_loadu_ps(s + i), vs);  // n_pad is a multiple of 16
    if (slope != 0) v = add_bias(v, i, slope, origin);
    if (cap > 0) v = soft_cap(v, cap);
    _mm512_storeu_ps(s + i, v);
    max[0] = _mm512_mask_max_ps(max[0], seen(i), v, max[0]);
    i += 16;
  }
  *m = tree_max(_mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3]))) + 0.0f;
  const __m512 vm = _mm512_set1_ps(*m);
  for (uint32_t i = 0; i < first; i += 16) _mm512_storeu_ps(s + i, _mm512_setzero_ps());
  uint32_t i = first;
  while (i < to) {
    if (whole(i)) {
      if (asking) ask<kAskWeights>(next->at);
      __m512 e[4];
      UNROLL for (int j = 0; j < 4; ++j) e[j] = exp16<true>(_mm512_sub_ps(_mm512_loadu_ps(s + i + j * 16), vm));
      UNROLL for (int j = 0; j < 4; ++j) {
        _mm512_storeu_ps(s + i + j * 16, e[j]);
        sum = _mm512_add_ps(sum, e[j]);
      }
      i += 64;
      continue;
    }
    const __m512 e = _mm512_maskz_mov_ps(seen(i), exp16<true>(_mm512_sub_ps(_mm512_loadu_ps(s + i), vm)));
    _mm512_storeu_ps(s + i, e);
    sum = _mm512_add_ps(sum, e);
    i += 16;
  }
  for (; i < n_pad; i += 16) _mm512_storeu_ps(s + i, _mm512_setzero_ps());
  *l = tree_sum(sum);
}

float planes(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo, Fetch* next) {
  const bool asking = asks<kAskWeights>(next, n / 64);
  __m512 max[4];
  UNROLL for (int j = 0; j < 4; ++j) max[j] = _mm512_setzero_ps();
  const auto product = [&](uint32_t i) { return _mm512_mul_ps(_mm512_loadu_ps(e + i), _mm512_loadu_ps(v_scale + i)); };
  uint32_t i = 0;
  for (; i + 64 <= n; i += 64)
    UNROLL for (int j = 0; j < 4; ++j) max[j] = _mm512_max_ps(product(i + static_cast<uint32_t>(j) * 16), max[j]);
  for (; i < n; i += 16) max[0] = _mm512_max_ps(product(i), max[0]);
  const float amax = tree_max(_mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3])));
  const __m512 inv = _mm512_set1_ps(amax > 1e-30f ? 16383.0f / amax : 0.0f);
  const auto code = [&](uint32_t at) {
    return _mm512_cvtps_epi32(_mm512_mul_ps(product(at), inv));
  };  // at most 16383: nothing is larger than amax; what is negative (scales of a damaged state) becomes 0 below
  const __m512i low = _mm512_set1_epi16(127),
                order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);  // undoes how packs take turns
  for (i = 0; i + 64 <= n; i += 64) {
    if (asking) ask<kAskWeights>(next->at);
    __m512i c[4];
    UNROLL for (int j = 0; j < 4; ++j) c[j] = code(i + static_cast<uint32_t>(j) * 16);
    const __m512i a = _mm512_packus_epi32(c[0], c[1]), b = _mm512_packus_epi32(c[2], c[3]);
    _mm512_storeu_si512(hi + i, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(_mm512_srli_epi16(a, 7), _mm512_srli_epi16(b, 7))));
    _mm512_storeu_si512(lo + i, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(_mm512_and_si512(a, low), _mm512_and_si512(b, low))));
  }
  for (; i < n; i += 16) {
    const __m512i c = _mm512_max_epi32(code(i), _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hi + i), _mm512_cvtepi32_epi8(_mm512_srli_epi32(c, 7)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(lo + i), _mm512_cvtepi32_epi8(_mm512_and_si512(c, _mm512_set1_epi32(127))));
  }
  return amax / 16383.0f;
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

// Without VNNI. Where u is at most 127 the products of two neighbours fit in 16 bits: attention and four-bit codes.
struct Pairs {
  static constexpr bool kTwoPanels = false;
  static inline __attribute__((always_inline)) void add(__m512i& acc, __m512i u, __m512i s) {
    acc = _mm512_add_epi32(acc, _mm512_madd_epi16(_mm512_maddubs_epi16(u, s), _mm512_set1_epi16(1)));
  }
};

// Bytes 0 and 2 of every four as int16 pairs, and bytes 1 and 3.
inline __attribute__((always_inline)) __m512i even_bytes(__m512i v) { return _mm512_srai_epi16(_mm512_slli_epi16(v, 8), 8); }
inline __attribute__((always_inline)) __m512i odd_bytes(__m512i v) { return _mm512_srai_epi16(v, 8); }

// Eight-bit codes, R rows by `panels` (at most 4) panels over the whole k; x is widened once per group for all panels.
// scale_step: bytes from one group's weight scales to the next, 0 for format i8.
template <int R, bool kF16>
void wide_tile(const GemmArgs& a, uint32_t row, uint32_t panel, uint32_t panels, size_t scale_step) {
  __m512 acc[4][R];
  alignas(64) int32_t x_even[R][32], x_odd[R][32];  // of one group: a pair of int16 per k-group
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * a.w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * size_t{a.x_groups};
  for (uint32_t p = 0; p < panels; ++p)
    for (int r = 0; r < R; ++r) {
      fetch_y(a, row + static_cast<uint32_t>(r), panel + p);
      acc[p][r] = _mm512_setzero_ps();
    }
  for (uint32_t left = (a.k + 31) / 32 * 32; left;) {
    const uint32_t group = left < a.x_group ? left : a.x_group, steps = group / 4;
    left -= group;
    for (uint32_t i = 0; i < steps; i += 8) {
      UNROLL for (int r = 0; r < R; ++r) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + static_cast<size_t>(r) * a.x_stride + i * 4));
        _mm256_store_si256(reinterpret_cast<__m256i*>(x_even[r] + i), _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8));
        _mm256_store_si256(reinterpret_cast<__m256i*>(x_odd[r] + i), _mm256_srai_epi16(v, 8));
      }
    }
    for (uint32_t p = 0; p < panels; ++p) {
      const int8_t* wp = w + p * a.w_stride;
      __m512i dot[R];
      UNROLL for (int r = 0; r < R; ++r) dot[r] = _mm512_setzero_si512();
      for (uint32_t i = 0; i < steps; ++i, wp += 64) {
        const __m512i v = _mm512_loadu_si512(wp), even = even_bytes(v), odd = odd_bytes(v);
        UNROLL for (int r = 0; r < R; ++r) {
          dot[r] = _mm512_add_epi32(dot[r], _mm512_madd_epi16(even, _mm512_set1_epi32(x_even[r][i])));
          dot[r] = _mm512_add_epi32(dot[r], _mm512_madd_epi16(odd, _mm512_set1_epi32(x_odd[r][i])));
        }
      }
      const char* at = w_scale + p * a.w_scale_stride;
      const __m512 ws = load_scales<kF16>(at);
      UNROLL for (int r = 0; r < R; ++r) acc[p][r] = _mm512_fmadd_ps(
          _mm512_cvtepi32_ps(dot[r]), _mm512_mul_ps(ws, _mm512_set1_ps(x_scale[static_cast<size_t>(r) * a.x_groups])), acc[p][r]);
    }
    x += group;
    w += group * size_t{16};
    w_scale += scale_step;
    ++x_scale;
  }
  for (uint32_t p = 0; p < panels; ++p)
    for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel + p, acc[p][r]);
}

template <bool kF16>
void gemm_wide(const GemmArgs* args, size_t scale_step) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const uint32_t panels = a.m > 8 && a.n_panels - panel >= 4 ? 4 : 1;  // few rows: memory in one straight line
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, rows = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      (rows == 8   ? wide_tile<8, kF16>
       : rows == 4 ? wide_tile<4, kF16>
       : rows == 2 ? wide_tile<2, kF16>
                   : wide_tile<1, kF16>)(a, row, panel, panels, scale_step);
      row += rows;
    }
    panel += panels;
  }
}

template <Codes kCodes, uint32_t kStep>
void gemm_of(const GemmArgs* a) {
  if constexpr (kCodes == kBytes)
    gemm_wide<kStep != 0 && kStep != kStepF32>(a, kStep);
  else
    gemm_int<Pairs, kCodes, kStep != kStepF32>(a, kStep);
}

struct F32 {
  static constexpr size_t kBytes = 4;
  static inline __attribute__((always_inline)) __m512 load(const char* p) { return _mm512_loadu_ps(p); }
};
struct F16 {
  static constexpr size_t kBytes = 2;
  static inline __attribute__((always_inline)) __m512 load(const char* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
};
struct Bf16 {
  static constexpr size_t kBytes = 2;
  static inline __attribute__((always_inline)) __m512 load(const char* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
  }
};

// One chain of fmaf over k per output; R * P chains hide its latency.
template <class W, int R, int P>
void float_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  __m512 acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = _mm512_setzero_ps();
  for (uint32_t i = 0; i < a.k; ++i) {
    __m512 wv[P];
    UNROLL for (int p = 0; p < P; ++p) wv[p] = W::load(w + static_cast<size_t>(p) * a.w_stride + i * 16 * W::kBytes);
    UNROLL for (int r = 0; r < R; ++r) {
      const __m512 s = _mm512_castsi512_ps(broadcast4(x + static_cast<size_t>(r) * a.x_stride + i * size_t{4}));
      UNROLL for (int p = 0; p < P; ++p) acc[r][p] = _mm512_fmadd_ps(s, wv[p], acc[r][p]);
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

template <class W>
void gemm_float(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const bool four = a.n_panels - panel >= 4;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      if (four)
        (rows == 4 ? float_tile<W, 4, 4> : rows == 2 ? float_tile<W, 2, 4> : float_tile<W, 1, 4>)(a, row, panel);
      else
        (rows == 4 ? float_tile<W, 4, 1> : rows == 2 ? float_tile<W, 2, 1> : float_tile<W, 1, 1>)(a, row, panel);
      row += rows;
    }
    panel += four ? 4 : 1;
  }
}

struct FloatTable {
  __m512 of;
  static inline __attribute__((always_inline)) FloatTable load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static inline __attribute__((always_inline)) Vi words(const uint8_t* p) { return _mm512_loadu_si512(p); }
  template <int kShift>
  inline __attribute__((always_inline)) V at(Vi words) const {  // the instruction takes four bits
    return _mm512_permutexvar_ps(kShift ? _mm512_srli_epi32(words, kShift) : words, of);
  }
};
constexpr TableTiles kTiles = {4, 4, 4, 4};

// FP8 of input j of 16 outputs: its seven bits lie at the top of an f32's exponent and mantissa, and an exact product puts the exponent
// right, subnormals included.
template <bool kE4M3>
inline __attribute__((always_inline)) __m512 from_f8(__m512i four, int j) {
  const __m512i at_top = _mm512_sll_epi32(four, _mm_cvtsi32_si128(24 - 8 * j));
  const __m512i u = _mm512_and_si512(kE4M3 ? _mm512_srai_epi32(at_top, 4) : _mm512_srai_epi32(at_top, 3),
                                     _mm512_set1_epi32(static_cast<int32_t>(kE4M3 ? 0x87F00000u : 0x8FE00000u)));
  const __m512i magnitude = _mm512_and_si512(u, _mm512_set1_epi32(0x7FFFFFFF));
  const __mmask16 special = kE4M3 ? _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x07F00000))
                                  : _mm512_cmpge_epi32_mask(magnitude, _mm512_set1_epi32(0x0F800000));
  const __m512i f = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(u), _mm512_set1_ps(kE4M3 ? 0x1p120f : 0x1p112f)));
  return _mm512_castsi512_ps(_mm512_mask_or_epi32(f, special, f, _mm512_set1_epi32(kE4M3 ? 0x7FC00000 : 0x7F800000)));
}

template <bool kE4M3, int R>
void f8_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const uint32_t kpad = (a.k + 31) / 32 * 32, group = a.w_group ? a.w_group : kpad;
  __m512 total[R];
  UNROLL for (int r = 0; r < R; ++r) total[r] = _mm512_setzero_ps();
  for (uint32_t from = 0; from < kpad; from += group, w_scale += 64) {
    __m512 acc[R];
    UNROLL for (int r = 0; r < R; ++r) acc[r] = _mm512_setzero_ps();
    for (uint32_t i = kpad - from < group ? kpad - from : group; i; i -= 4, w += 64, x += 8) {
      const __m512i four = _mm512_loadu_si512(w);
      UNROLL for (int j = 0; j < 4; ++j) {
        const __m512 wv = from_f8<kE4M3>(four, j);
        UNROLL for (int r = 0; r < R; ++r) {  // x: inputs 0 2, then 1 3
          const __m512i pair = broadcast4(x + static_cast<size_t>(r) * a.x_stride + j % 2 * 4);
          const __m512i xv =
              j < 2 ? _mm512_slli_epi32(pair, 16) : _mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int32_t>(0xFFFF0000u)));
          acc[r] = _mm512_fmadd_ps(_mm512_castsi512_ps(xv), wv, acc[r]);
        }
      }
    }
    const __m512 scale = _mm512_loadu_ps(w_scale);
    UNROLL for (int r = 0; r < R; ++r) total[r] = from ? _mm512_fmadd_ps(acc[r], scale, total[r]) : _mm512_mul_ps(acc[r], scale);
  }
  UNROLL for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel, total[r]);
}

template <bool kE4M3>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, rows = left >= 8 ? 8 : left >= 4 ? 4 : 1;
      (rows == 8 ? f8_tile<kE4M3, 8> : rows == 4 ? f8_tile<kE4M3, 4> : f8_tile<kE4M3, 1>)(a, row, panel);
      row += rows;
    }
}

// ---- attention over float pages -----------------------------------------------------------------------------------------------

// R rows by P panels of 16 channels; one chain over the tokens per output. Load::token(v, t): 16 channels of token t of a page's panel.
template <class Load, int R, int P>
void pv_float_tile(const float* e, const void* const* pages, uint32_t n_pages, uint32_t panel, float* acc, size_t acc_stride) {
  __m512 sum[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) sum[r][p] = _mm512_setzero_ps();
  for (uint32_t i = 0; i < n_pages; ++i, e += 16) {
    const char* v = static_cast<const char*>(pages[i]) + panel * Load::kPanelBytes;
    for (uint32_t t = 0; t < 16; t += 4) UNROLL for (uint32_t j = 0; j < 4; ++j) {
        __m512 vv[P];
        UNROLL for (int p = 0; p < P; ++p) vv[p] = Load::token(v + static_cast<size_t>(p) * Load::kPanelBytes, t, j);
        UNROLL for (int r = 0; r < R; ++r) {
          const __m512 x = _mm512_set1_ps(e[static_cast<uint32_t>(r) * 256 + t + j]);
          UNROLL for (int p = 0; p < P; ++p) sum[r][p] = _mm512_fmadd_ps(x, vv[p], sum[r][p]);
        }
      }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      _mm512_storeu_ps(acc + static_cast<size_t>(r) * acc_stride + p * 16, sum[r][p]);
}
template <class W>
struct Wide {
  static constexpr size_t kPanelBytes = 256 * W::kBytes;
  static inline __attribute__((always_inline)) __m512 token(const char* v, uint32_t t, uint32_t j) {
    return W::load(v + (t + j) * 16 * W::kBytes);
  }
};
template <class Load>
void pv_float(const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels, float* acc, size_t acc_stride) {
  for (uint32_t d = 0; d < d_panels;) {
    const bool two = d_panels - d >= 2;
    for (uint32_t r = 0; r < rows;) {
      const uint32_t left = rows - r, step = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      const auto tile = two ? (step == 8   ? pv_float_tile<Load, 8, 2>
                               : step == 4 ? pv_float_tile<Load, 4, 2>
                               : step == 2 ? pv_float_tile<Load, 2, 2>
                                           : pv_float_tile<Load, 1, 2>)
                            : (step == 8   ? pv_float_tile<Load, 8, 1>
                               : step == 4 ? pv_float_tile<Load, 4, 1>
                               : step == 2 ? pv_float_tile<Load, 2, 1>
                                           : pv_float_tile<Load, 1, 1>);
      tile(e + r * size_t{256}, pages, n_pages, d, acc + r * acc_stride + d * size_t{16}, acc_stride);
      r += step;
    }
    d += two ? 2 : 1;
  }
}
void attn_pv_float(linnet_format v, const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels,
                   float* acc, size_t acc_stride) {
  (v == LINNET_F32   ? pv_float<Wide<F32>>
   : v == LINNET_F16 ? pv_float<Wide<F16>>
                     : pv_float<Wide<Bf16>>)(e, rows, pages, n_pages, d_panels, acc, acc_stride);
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

// The shortest exact sequence for signed codes: `vpmaddwd` and an addition, 32 multiply-adds. A dozen of each at a time: taking turns
// measured slower.
uint64_t peak_int8(uint64_t n) {
  __m512i acc[12], t[12];
  const __m512i u = _mm512_set1_epi16(3), s = _mm512_set1_epi16(-5);
  UNROLL for (int i = 0; i < 12; ++i) acc[i] = _mm512_set1_epi32(i);
  for (uint64_t i = 0; i < n; ++i) {
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("vpmaddwd %1, %2, %0" : "=v"(t[j]) : "v"(s), "v"(u));
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("vpaddd %1, %0, %0" : "+v"(acc[j]) : "v"(t[j]));
  }
  UNROLL for (int i = 0; i < 12; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 12 * 32;
}

// 4 bits: the products of two inputs are added in 16 bits.
uint64_t peak_i4(uint64_t n) {
  __m512i acc[12], t[12];
  const __m512i u = _mm512_set1_epi8(3), s = _mm512_set1_epi8(-5);
  UNROLL for (int i = 0; i < 12; ++i) acc[i] = _mm512_set1_epi32(i);
  for (uint64_t i = 0; i < n; ++i) {
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("vpmaddubsw %1, %2, %0" : "=v"(t[j]) : "v"(s), "v"(u));
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("vpaddw %1, %0, %0" : "+v"(acc[j]) : "v"(t[j]));
  }
  UNROLL for (int i = 0; i < 12; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 12 * 64;
}

uint64_t read_all(const void* p, size_t bytes) {
  const char* c = static_cast<const char*>(p);
  __m512i sum[8];
  UNROLL for (int i = 0; i < 8; ++i) sum[i] = _mm512_setzero_si512();
  for (size_t at = 0; at < bytes; at += 512)
    UNROLL for (int i = 0; i < 8; ++i) sum[i] = _mm512_xor_si512(sum[i], _mm512_loadu_si512(c + at + i * 64));
  UNROLL for (int i = 1; i < 8; ++i) sum[0] = _mm512_xor_si512(sum[0], sum[i]);
  uint64_t v[8], all = 0;
  _mm512_storeu_si512(v, sum[0]);
  UNROLL for (int i = 0; i < 8; ++i) all ^= v[i];
  return all;
}

uint64_t peak_f32(uint64_t n) {
  __m512 acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = _mm512_setzero_ps();
  const __m512 u = _mm512_set1_ps(0.5f), s = _mm512_set1_ps(0.25f);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 16; ++j) asm volatile("vfmadd231ps %2, %1, %0" : "+v"(acc[j]) : "v"(u), "v"(s));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 16 * 16;
}

const GemmKernel kGemm[] = {
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, 1, gemm_float<type>, peak_f32},
#define LINNET_FP8(name, NAME, ...) {LINNET_##NAME, 1, gemm_f8 < LINNET_##NAME != LINNET_F8E5M2 >, peak_f32},
#define LINNET_TABLES(name, NAME, table, scale) \
  {LINNET_##NAME, 1, gemm_table<&FloatTables::table, kStep##scale, FloatTable, kTiles>, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_of < k##codes, w_group ? kStep##scale : kStepNone >, bits == 4 ? peak_i4 : peak_int8},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable avx512_table = {
    .isa = LINNET_ISA_AVX512,
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
    .softmax_block = softmax_block,
    .planes = planes,
    .attn_pv = attn_pv_by<Pairs>,
    .attn_pv_float = attn_pv_float,
    .merge_row = merge_row,
    .delta_steps = delta_steps,
    .scale_row = scale_row,
    .find_above = find_above,
    .exp_row = exp_row,
    .read_all = read_all,
};

}  // namespace linnet
