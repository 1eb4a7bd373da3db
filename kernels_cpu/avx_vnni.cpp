// AVX2 with AVX-VNNI, bit-equal to scalar.cpp: the integer products.
#if !defined(__AVXVNNI__)
#error "avx_vnni.cpp needs -mavxvnni and what avx2.cpp needs"
#endif
#include "avx2.h"
#include "blocks.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

// acc += dot of 4 unsigned bytes of u with 4 signed bytes of s, per lane. GCC 12 copies accumulators around the intrinsic.
INLINE void dot4(__m256i& acc, __m256i u, __m256i s) { asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(u), "x"(s)); }

// Group i of four inputs of a panel as unsigned bytes: eight-bit codes with their sign bit flipped, four-bit codes as they are stored, + 8
// or + their zero point.
template <Codes kCodes>
INLINE __m256i unsigned_codes(const int8_t* w, int i, int half) {
  if (kCodes == kBytes) return _mm256_xor_si256(load32(w + i * 64 + half * 32), _mm256_set1_epi8(-128));
  const __m256i v = load32(w + i / 2 * 64 + half * 32);
  return _mm256_and_si256(i % 2 ? _mm256_srli_epi16(v, 4) : v, _mm256_set1_epi8(15));
}

// R rows by one panel over the whole k; sums start at what takes back the codes' offset. scale_step: bytes from one group's weight scales
// to the next, 0 for format i8.
template <int R, Codes kCodes, bool kF16>
void int_tile(const GemmArgs& a, uint32_t row, uint32_t panel, size_t scale_step) {
  constexpr int kChains = R == 1 ? 2 : 1;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
  const int8_t* w = static_cast<const int8_t*>(a.w) + panel * a.w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const float* x_scale = a.x_scale + row * size_t{a.x_groups};
  const int32_t* x_sum = a.x_sum128 + row * size_t{a.x_groups};
  V acc[R];
  UNROLL for (int r = 0; r < R; ++r) acc[r] = all(0.0f);
  for (uint32_t left = (a.k + 31) / 32 * 32; left; w_scale += scale_step, ++x_scale, ++x_sum) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    __m256i dot[R][2][kChains];
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int half = 0; half < 2; ++half) {
      const int32_t sum = x_sum[static_cast<size_t>(r) * a.x_groups];
      dot[r][half][0] = kCodes == kNibblesZero ? zero_sum(w_scale, half, sum) : _mm256_set1_epi32(kCodes == kNibbles ? sum / 16 : sum);
      if (kChains == 2) dot[r][half][kChains - 1] = _mm256_setzero_si256();
    }
    for (const int8_t* end = x + group; x != end; x += 16, w += kCodes == kBytes ? 256 : 128) UNROLL for (int i = 0; i < 4; ++i) {
        const __m256i u0 = unsigned_codes<kCodes>(w, i, 0), u1 = unsigned_codes<kCodes>(w, i, 1);
        UNROLL for (int r = 0; r < R; ++r) {
          const __m256i s = broadcast4(x + static_cast<size_t>(r) * a.x_stride + i * 4);
          dot4(dot[r][0][i % kChains], u0, s);
          dot4(dot[r][1][i % kChains], u1, s);
        }
      }
    const V ws = load_scales<kF16>(w_scale);
    UNROLL for (int r = 0; r < R; ++r) {
      if (kChains == 2)
        UNROLL for (int half = 0; half < 2; ++half) dot[r][half][0] = _mm256_add_epi32(dot[r][half][0], dot[r][half][kChains - 1]);
      const V d = {_mm256_cvtepi32_ps(dot[r][0][0]), _mm256_cvtepi32_ps(dot[r][1][0])};
      acc[r] = fma(d, mul(ws, all(x_scale[static_cast<size_t>(r) * a.x_groups])), acc[r]);
    }
  }
  UNROLL for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel, acc[r]);
}

template <int R>
INLINE void start_rows(float (*acc)[4][16]) {
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < 4; ++p) store(acc[r][p], all(0.0f));
}
template <int R>
INLINE void finish_rows(const GemmArgs& a, uint32_t panel, const float (*acc)[4][16], float* y) {
  UNROLL for (int r = 0; r < R; ++r, y += a.y_stride) UNROLL for (uint32_t p = 0; p < 4; ++p)
      finish_at(a, y + p * 16, panel + p, load(acc[r][p]));
}

template <bool kF16>
INLINE void fill_scales(const char* w_scale, float* to) {
  store(to, load_scales<kF16>(w_scale));
}

template <Codes kCodes>
void fill_codes(const int8_t* w, const char* w_scale, uint32_t n, uint8_t* to) {
  __m256i offset[2];  // of bytes unsigned_codes() did it
  UNROLL for (int half = 0; half < 2; ++half) {
    offset[half] = _mm256_set1_epi8(kCodes == kBytes ? 0 : 120);
    if (kCodes == kNibblesZero)
      offset[half] = _mm256_sub_epi8(_mm256_set1_epi8(-128), _mm256_mullo_epi32(zeros(w_scale, half), _mm256_set1_epi32(0x01010101)));
  }
  for (uint32_t i = 0; i < n; i += 16, w += kCodes == kBytes ? 256 : 128, to += 1024)
    UNROLL for (int j = 0; j < 8; ++j) _mm256_store_si256(reinterpret_cast<__m256i*>(to + j / 2 * 256 + j % 2 * 32),
                                                          _mm256_add_epi8(unsigned_codes<kCodes>(w, j / 2, j % 2), offset[j % 2]));
}

struct Vnni {
  static constexpr bool kFills = false, kGguf = false;
  template <int R, bool>
  static __attribute__((noinline)) void tile(const BlockTile& t) {
    const int8_t* x = t.x;
    const uint8_t* w = t.w;
    const char* ask = t.ask;
    const size_t x_stride = t.x_stride;
    for (size_t g = 0, n = t.n; g < t.groups + (t.rest != 0); ++g, x += n, w += n * 64 + 256) {
      if (g == t.groups) n = t.rest;
      for (uint32_t p = 0; p < 4; ++p) {
        __m256i dot[R][2];
        UNROLL for (int r = 0; r < R; ++r) dot[r][0] = dot[r][1] = _mm256_set1_epi32(t.sum128[static_cast<size_t>(r) * t.x_groups + g]);
        const uint8_t* wi = w + p * 64;
        for (const int8_t *xi = x, *end = x + n; xi != end; xi += 16, wi += 1024) {
          if (p == 0) {
            _mm_prefetch(ask, _MM_HINT_T1);
            ask += 64;
          }
          UNROLL for (int i = 0; i < 4; ++i) {
            const __m256i u0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(wi + i * 256)),
                          u1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(wi + i * 256 + 32));
            UNROLL for (int r = 0; r < R; ++r) {
              const __m256i s = broadcast4(xi + static_cast<size_t>(r) * x_stride + i * 4);
              dot4(dot[r][0], u0, s);
              dot4(dot[r][1], u1, s);
            }
          }
        }
        const V ws = load(reinterpret_cast<const float*>(w + n * 64) + p * 16);
        UNROLL for (int r = 0; r < R; ++r) {
          const V d = {_mm256_cvtepi32_ps(dot[r][0]), _mm256_cvtepi32_ps(dot[r][1])};
          store(t.acc[r][p], fma(d, mul(ws, all(t.scale[static_cast<size_t>(r) * t.x_groups + g])), load(t.acc[r][p])));
        }
      }
    }
  }
};

template <Codes kCodes, bool kF16>
void gemm_int(const GemmArgs* args, size_t scale_step) {
  const GemmArgs& a = *args;
  uint32_t panel = a.m >= 20 ? block_gemm<Vnni, kCodes, kF16>(a, scale_step) : 0;
  for (; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
      (rows == 4   ? int_tile<4, kCodes, kF16>
       : rows == 2 ? int_tile<2, kCodes, kF16>
                   : int_tile<1, kCodes, kF16>)(a, row, panel, scale_step);
      row += rows;
    }
}

template <Codes kCodes, uint32_t kStep>
void gemm_of(const GemmArgs* a) {
  gemm_int<kCodes, kStep != 0 && kStep != kStepF32>(a, kStep);
}

uint64_t peak_int8(uint64_t n) {
  __m256i acc[12];
  UNROLL for (int i = 0; i < 12; ++i) acc[i] = _mm256_set1_epi32(i);
  const __m256i u = _mm256_set1_epi8(3), s = _mm256_set1_epi8(-5);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 12; ++j) asm volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc[j]) : "x"(u), "x"(s));
  UNROLL for (int i = 0; i < 12; ++i) asm volatile("" ::"x"(acc[i]));
  return n * 12 * 32;
}

struct Dpbusd {
  static constexpr int kMost = 255, kRegisters = 8, kRows = 2;
  static constexpr uint32_t kManyRows = 5, kManyDear = 3;
  static INLINE __m256i four(const int8_t* x) { return broadcast4(x); }
  template <int kMost>
  struct Sum {
    Vi sum = all_int(0);
    INLINE void add(Bytes codes, __m256i x) {
      dot4(sum.a, codes.a, x);
      dot4(sum.b, codes.b, x);
    }
    INLINE Vi total() const { return sum; }
  };
};

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) \
  {LINNET_##NAME, 1, gemm_unpacked<kind, LINNET_##NAME, gemm_of<kBytes, kStepF32>, Dpbusd, &avx2_table>, peak_int8},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable avx_vnni_table = {
    .isa = LINNET_ISA_AVX_VNNI,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
};

}  // namespace linnet
