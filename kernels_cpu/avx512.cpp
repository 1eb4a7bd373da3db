// AVX-512 with VNNI, bit-equal to scalar.cpp.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "avx512.cpp needs -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni"
#endif
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

#include "kernels.h"

namespace linnet {
namespace {

#define UNROLL _Pragma("GCC unroll 16")

// acc += dot of 4 unsigned bytes of u with 4 signed bytes of s, per lane. GCC 12 copies the accumulators around the intrinsic,
// which halves a kernel's speed.
inline __attribute__((always_inline)) void dot4(__m512i& acc, __m512i u, __m512i s) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s));
}

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

// ---- rows -------------------------------------------------------------------------------------------------------------------

uint32_t amax_bits(const float* x, uint32_t n) {
  const __m512i abs = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i max = _mm512_setzero_si512();
  for (uint32_t i = 0; i < n; i += 16)
    max = _mm512_max_epi32(max, _mm512_and_si512(_mm512_castps_si512(_mm512_maskz_loadu_ps(lanes(n - i), x + i)), abs));
  return static_cast<uint32_t>(_mm512_reduce_max_epi32(max));
}

// The instruction's rounding is the caller's MXCSR: to nearest even.
inline __attribute__((always_inline)) __m512i codes16(__m512 x, __m512 inv, __m512 lo, __m512 hi) {
  return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(x, inv), lo), hi));
}

void codes(const float* x, uint32_t n, float inv, int8_t* q) {
  const __m512 vi = _mm512_set1_ps(inv), lo = _mm512_set1_ps(-127.0f), hi = _mm512_set1_ps(127.0f);
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    _mm512_mask_cvtepi32_storeu_epi8(q + i, k, codes16(_mm512_maskz_loadu_ps(k, x + i), vi, lo, hi));
  }
}

uint32_t quantize_row(const float* x, uint32_t k, uint32_t group, int8_t* q, float* scale, int32_t* sum128) {
  const __m512 lo = _mm512_set1_ps(-127.0f), hi = _mm512_set1_ps(127.0f);
  uint32_t finite = 1;
  for (uint32_t g = 0, from = 0; from < k; ++g, from += group) {
    const uint32_t n = k - from < group ? k - from : group;
    uint32_t amax_u = amax_bits(x + from, n);
    const bool ok = amax_u < 0x7F800000u;
    if (!ok) finite = amax_u = 0;
    float amax;
    __builtin_memcpy(&amax, &amax_u, 4);
    const __m512 inv = _mm512_set1_ps(amax > 1e-30f ? 127.0f / amax : 0.0f);
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += 32) {  // stores run to the next multiple of 32
      UNROLL for (uint32_t j = 0; j < 32; j += 16) {
        const __mmask16 mask = ok && i + j < n ? lanes(n - i - j) : 0;
        const __m512i c = codes16(_mm512_maskz_loadu_ps(mask, x + from + i + j), inv, lo, hi);
        sum = _mm512_add_epi32(sum, c);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(q + from + i + j), _mm512_cvtepi32_epi8(c));
      }
    }
    scale[g] = amax / 127.0f;
    sum128[g] = -128 * _mm512_reduce_add_epi32(sum);
  }
  return finite;
}

void rmsnorm_row(const float* x, const float* w, uint32_t n, float eps, float* y) {
  __m512 ss = _mm512_setzero_ps();
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    const __m512 v = _mm512_maskz_loadu_ps(k, x + i);
    ss = _mm512_mask3_fmadd_ps(v, v, ss, k);
  }
  const __m512 r = _mm512_set1_ps(1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps));
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    _mm512_mask_storeu_ps(y + i, k, _mm512_mul_ps(_mm512_mul_ps(_mm512_maskz_loadu_ps(k, x + i), r), _mm512_maskz_loadu_ps(k, w + i)));
  }
}

// exp_one of scalar.cpp, sixteen at a time.
inline __attribute__((always_inline)) __m512 exp16(__m512 x) {
  const __m512 low = _mm512_set1_ps(-87.33f), round = _mm512_set1_ps(12582912.0f);
  const __m512 t = _mm512_min_ps(_mm512_set1_ps(88.37f), _mm512_max_ps(low, x));  // the second operand is kept if it is NaN
  const __m512 z = _mm512_fmadd_ps(t, _mm512_set1_ps(0x1.715476p+0f), round);
  const __m512 n = _mm512_sub_ps(z, round);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.62e400p-1f), t);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.7f7d1cp-20f), r);
  __m512 p = _mm512_set1_ps(0x1.6a2242p-10f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.123b0ep-7f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.5558f8p-5f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.555490p-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffffcp-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  const __m512i scale = _mm512_add_epi32(_mm512_slli_epi32(_mm512_castps_si512(z), 23), _mm512_set1_epi32(0x3F800000));
  return _mm512_maskz_mul_ps(_mm512_cmp_ps_mask(x, low, _CMP_NLT_UQ), p, _mm512_castsi512_ps(scale));
}

void exp_row(float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    _mm512_mask_storeu_ps(x + i, k, exp16(_mm512_maskz_loadu_ps(k, x + i)));
  }
}

void silu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  const __m512 one = _mm512_set1_ps(1.0f), sign = _mm512_set1_ps(-0.0f);
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    const __m512 v = _mm512_maskz_loadu_ps(k, g + i);
    const __m512 s = _mm512_div_ps(v, _mm512_add_ps(one, exp16(_mm512_xor_ps(v, sign))));
    _mm512_mask_storeu_ps(y + i, k, _mm512_mul_ps(s, _mm512_maskz_loadu_ps(k, u + i)));
  }
}

void add_row(float* y, const float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    _mm512_mask_storeu_ps(y + i, k, _mm512_add_ps(_mm512_maskz_loadu_ps(k, y + i), _mm512_maskz_loadu_ps(k, x + i)));
  }
}

void rope_row(float* x, const float* cos, const float* sin, uint32_t n_pairs, uint32_t interleaved) {
  if (!interleaved) {
    for (uint32_t i = 0; i < n_pairs; i += 16) {
      const __mmask16 k = lanes(n_pairs - i);
      const __m512 a = _mm512_maskz_loadu_ps(k, x + i), b = _mm512_maskz_loadu_ps(k, x + n_pairs + i);
      const __m512 c = _mm512_maskz_loadu_ps(k, cos + i), s = _mm512_maskz_loadu_ps(k, sin + i);
      _mm512_mask_storeu_ps(x + i, k, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
      _mm512_mask_storeu_ps(x + n_pairs + i, k, _mm512_fmadd_ps(b, c, _mm512_mul_ps(a, s)));
    }
    return;
  }
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  for (uint32_t i = 0; i < n_pairs; i += 8) {
    const uint32_t n = n_pairs - i;
    const __mmask16 k = lanes(n < 8 ? 2 * n : 16), half = lanes(n < 8 ? n : 8);
    const __m512 ab = _mm512_maskz_loadu_ps(k, x + 2 * i);
    const __m512 c = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, cos + i));
    const __m512 s = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, sin + i));
    const __m512 ba = _mm512_permute_ps(ab, 0xB1);
    _mm512_mask_storeu_ps(x + 2 * i, k, _mm512_fmaddsub_ps(ab, c, _mm512_mul_ps(ba, s)));  // even lanes subtract
  }
}

void merge_row(float* y, const float* x, uint32_t n, float a, float b) {
  const __m512 va = _mm512_set1_ps(a), vb = _mm512_set1_ps(b);
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    const __m512 ya = _mm512_mul_ps(_mm512_maskz_loadu_ps(k, y + i), va);
    _mm512_mask_storeu_ps(y + i, k, _mm512_fmadd_ps(_mm512_maskz_loadu_ps(k, x + i), vb, ya));
  }
}

void scale_row(float* y, uint32_t n, float a) {
  const __m512 va = _mm512_set1_ps(a);
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    _mm512_mask_storeu_ps(y + i, k, _mm512_mul_ps(_mm512_maskz_loadu_ps(k, y + i), va));
  }
}

// ---- attention --------------------------------------------------------------------------------------------------------------

void softmax_block(float* s, uint32_t n, uint32_t n_pad, float scale, float* p, float* m, float* l) {
  const __m512 vs = _mm512_set1_ps(scale);
  __m512 max = _mm512_set1_ps(-__builtin_inff()), sum = _mm512_setzero_ps();
  for (uint32_t i = 0; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    const __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(k, s + i), vs);
    _mm512_mask_storeu_ps(s + i, k, v);
    max = _mm512_mask_max_ps(max, k, v, max);
  }
  *m = tree_max(max);
  const __m512 vm = _mm512_set1_ps(*m);
  uint32_t i = 0;
  for (; i < n; i += 16) {
    const __mmask16 k = lanes(n - i);
    const __m512 e = _mm512_maskz_mov_ps(k, exp16(_mm512_sub_ps(_mm512_maskz_loadu_ps(k, s + i), vm)));
    _mm512_storeu_ps(p + i, e);  // n_pad is a multiple of 16
    sum = _mm512_add_ps(sum, e);
  }
  for (; i < n_pad; i += 16) _mm512_storeu_ps(p + i, _mm512_setzero_ps());
  *l = tree_sum(sum);
}

float planes(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo) {
  __m512 max = _mm512_setzero_ps();
  for (uint32_t i = 0; i < n; i += 16) max = _mm512_max_ps(_mm512_mul_ps(_mm512_loadu_ps(e + i), _mm512_loadu_ps(v_scale + i)), max);
  const float amax = tree_max(max);
  const __m512 inv = _mm512_set1_ps(amax > 1e-30f ? 16383.0f / amax : 0.0f), zero = _mm512_setzero_ps(), top = _mm512_set1_ps(16383.0f);
  for (uint32_t i = 0; i < n; i += 16) {
    const __m512i c = codes16(_mm512_mul_ps(_mm512_loadu_ps(e + i), _mm512_loadu_ps(v_scale + i)), inv, zero, top);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hi + i), _mm512_cvtepi32_epi8(_mm512_srli_epi32(c, 7)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(lo + i), _mm512_cvtepi32_epi8(_mm512_and_si512(c, _mm512_set1_epi32(127))));
  }
  return amax / 16383.0f;
}

// R rows by P panels of 16 channels. P is the unsigned side, V the signed one.
template <int R, int P>
void pv_tile(const uint8_t* hi, const uint8_t* lo, const int8_t* const* pages, uint32_t n_pages, size_t offset, const float* p_scale,
             float* acc, size_t acc_stride) {
  __m512i dh[R][P], dl[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) dh[r][p] = dl[r][p] = _mm512_setzero_si512();
  for (uint32_t i = 0; i < n_pages; ++i) {
    const int8_t* v = pages[i] + offset;
    for (uint32_t t = 0; t < 4; ++t) {
      __m512i vv[P];
      UNROLL for (int p = 0; p < P; ++p) vv[p] = _mm512_loadu_si512(v + p * 256 + t * 64);
      UNROLL for (int r = 0; r < R; ++r) {
        const __m512i h = broadcast4(hi + r * 256 + i * 16 + t * 4), l = broadcast4(lo + r * 256 + i * 16 + t * 4);
        UNROLL for (int p = 0; p < P; ++p) dot4(dh[r][p], h, vv[p]);
        UNROLL for (int p = 0; p < P; ++p) dot4(dl[r][p], l, vv[p]);
      }
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) {
    const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(dh[r][p], 7), dl[r][p]);
    _mm512_storeu_ps(acc + static_cast<size_t>(r) * acc_stride + p * 16,
                     _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(p_scale[r])));
  }
}

void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
             const float* p_scale, float* acc, size_t acc_stride) {
  for (uint32_t r = 0; r < rows;) {
    const uint32_t left = rows - r, step = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const uint8_t *h = hi + r * size_t{256}, *l = lo + r * size_t{256};
    float* out = acc + r * acc_stride;
    uint32_t d = 0;
    for (; d + 2 <= d_panels; d += 2)
      (step == 4   ? pv_tile<4, 2>
       : step == 2 ? pv_tile<2, 2>
                   : pv_tile<1, 2>)(h, l, pages, n_pages, d * size_t{256}, p_scale + r, out + d * 16, acc_stride);
    if (d < d_panels)
      (step == 4   ? pv_tile<4, 1>
       : step == 2 ? pv_tile<2, 1>
                   : pv_tile<1, 1>)(h, l, pages, n_pages, d * size_t{256}, p_scale + r, out + d * 16, acc_stride);
    r += step;
  }
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

inline __attribute__((always_inline)) void store(const GemmArgs& a, size_t row, uint32_t panel, __m512 acc) {
  float* y = a.y + row * a.y_stride + panel * size_t{16};
  const __m512 r = a.bias ? _mm512_add_ps(acc, _mm512_loadu_ps(a.bias + panel * size_t{16})) : acc;
  _mm512_storeu_ps(y, a.accumulate ? _mm512_add_ps(_mm512_loadu_ps(y), r) : r);
}

// R rows by P panels over the whole k. The unsigned side are the weights with their sign bit flipped (code + 128); the sums
// start at -128 * sum(x), which takes that back. scale_step: bytes from one group's weight scales to the next, 0 for format i8.
// One panel at a time (P = 1) reads memory in one straight line, as fast as it can be read; integer sums are split over k (kChains)
// where few rows would wait for each other. Four panels (P = 4) are for many rows, with the weights in the cache: sixteen sums.
template <int R, int P, bool kF16>
void int_tile(const GemmArgs& a, uint32_t row, uint32_t panel, size_t scale_step) {
  constexpr int kChains = R * P <= 2 ? 2 : 1;
  const __m512i flip = _mm512_set1_epi8(-128);
  const size_t x_stride = a.x_stride, w_stride = a.w_stride, groups = a.x_groups;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * groups;
  const int32_t* x_sum = a.x_sum128 + row * groups;
  // Three rows and more push each other out of the first-level cache while weights stream through: fetch these past it, early.
  // Not for a lone panel, a KV page: what lies behind it is not wanted.
  const size_t ahead = a.n_panels > 1 ? 4096 : 0;
  __m512 acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = _mm512_setzero_ps();
  for (uint32_t left = (a.k + 31) / 32 * 32; left;) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    __m512i dot[R][P][kChains];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) {
      dot[r][p][0] = _mm512_set1_epi32(x_sum[static_cast<size_t>(r) * groups]);
      if (kChains == 2) dot[r][p][kChains - 1] = _mm512_setzero_si512();
    }
    for (const int8_t* end = x + group; x != end; x += 16, w += 256) {
      UNROLL for (int i = 0; i < 4; ++i) {
        if (P == 1 && R >= 3) _mm_prefetch(reinterpret_cast<const char*>(w) + ahead + i * 64, _MM_HINT_NTA);
        __m512i u[P];
        UNROLL for (int p = 0; p < P; ++p) u[p] =
            _mm512_xor_si512(_mm512_loadu_si512(w + static_cast<size_t>(p) * w_stride + i * 64), flip);
        UNROLL for (int r = 0; r < R; ++r) {
          const __m512i s = broadcast4(x + static_cast<size_t>(r) * x_stride + i * 4);
          UNROLL for (int p = 0; p < P; ++p) dot4(dot[r][p][i % kChains], u[p], s);
        }
      }
    }
    UNROLL for (int p = 0; p < P; ++p) {
      const char* at = w_scale + static_cast<size_t>(p) * a.w_scale_stride;
      const __m512 ws = kF16 ? _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))) : _mm512_loadu_ps(at);
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
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      store(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

template <bool kF16>
void gemm_int(const GemmArgs* args, size_t scale_step) {
  using Tile = void (*)(const GemmArgs&, uint32_t, uint32_t, size_t);
  static constexpr Tile kOne[9] = {nullptr,
                                   int_tile<1, 1, kF16>,
                                   int_tile<2, 1, kF16>,
                                   int_tile<3, 1, kF16>,
                                   int_tile<4, 1, kF16>,
                                   int_tile<5, 1, kF16>,
                                   int_tile<6, 1, kF16>,
                                   int_tile<7, 1, kF16>,
                                   int_tile<8, 1, kF16>};
  static constexpr Tile kFour[5] = {nullptr, int_tile<1, 4, kF16>, int_tile<2, 4, kF16>, int_tile<3, 4, kF16>, int_tile<4, 4, kF16>};
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const bool four = a.m > 8 && a.n_panels - panel >= 4;
    const uint32_t most = four ? 4 : 8;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t rows = a.m - row < most ? a.m - row : most;
      (four ? kFour : kOne)[rows](a, row, panel, scale_step);
      row += rows;
    }
    panel += four ? 4 : 1;
  }
}

void gemm_i8(const GemmArgs* a) { gemm_int<false>(a, 0); }
void gemm_i8_f32(const GemmArgs* a) { gemm_int<false>(a, 64); }
void gemm_i8_f16(const GemmArgs* a) { gemm_int<true>(a, 32); }

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
      store(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
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

// ---- for benches --------------------------------------------------------------------------------------------------------------

uint64_t peak_int8(uint64_t n) {
  __m512i acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_epi32(i);
  const __m512i u = _mm512_set1_epi8(3), s = _mm512_set1_epi8(-5);
  for (uint64_t i = 0; i < n; ++i) UNROLL for (int j = 0; j < 16; ++j) asm volatile("vpdpbusd %2, %1, %0" : "+v"(acc[j]) : "v"(u), "v"(s));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 16 * 64;
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

const GemmKernel kGemm[] = {
    {LINNET_F32, 1, gemm_float<F32>}, {LINNET_F16, 1, gemm_float<F16>}, {LINNET_BF16, 1, gemm_float<Bf16>}, {LINNET_I8, 1, gemm_i8},
    {LINNET_I8G128, 1, gemm_i8_f32},  {LINNET_I8G64, 1, gemm_i8_f32},   {LINNET_I8G32, 1, gemm_i8_f16},
};

}  // namespace

const KernelTable avx512_table = {
    .isa = LINNET_ISA_AVX512,
    .required = kCpuAvx2 | kCpuFma | kCpuF16c | kCpuAvx512 | kCpuAvx512Vnni,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .quantize_row = quantize_row,
    .amax_bits = amax_bits,
    .codes = codes,
    .rmsnorm_row = rmsnorm_row,
    .silu_mul_row = silu_mul_row,
    .add_row = add_row,
    .rope_row = rope_row,
    .softmax_block = softmax_block,
    .planes = planes,
    .attn_pv = attn_pv,
    .merge_row = merge_row,
    .scale_row = scale_row,
    .exp_row = exp_row,
    .gather_row = nullptr,
    .peak_int8 = peak_int8,
    .read_all = read_all,
};

}  // namespace linnet
