// AVX-512 with BF16 and VBMI: FP8 weights times bf16 rows, which are not the bits of scalar.cpp: the instruction adds in pairs and flushes
// subnormals. FP8 of the KV cache by tables of bytes, which are.
#if !defined(__AVX512VBMI__) || !defined(__AVX512BF16__)
#error "avx512_bf16.cpp needs -mavx512vbmi -mavx512bf16 and what avx512.cpp needs"
#endif
#include "avx512.h"
#include "avx512_books.h"

namespace linnet {
namespace {

// bf16 of the seven low bits of an FP8 code, as two tables of bytes.
struct HalvesOfFloats {
  alignas(64) uint8_t high[128], low[128];
};
template <bool kE4M3>
constexpr HalvesOfFloats make_table() {
  constexpr int kMantissa = kE4M3 ? 3 : 2, kBias = kE4M3 ? 7 : 15;
  HalvesOfFloats t{};
  for (int c = 0; c < 128; ++c) {
    int e = c >> kMantissa, m = c & ((1 << kMantissa) - 1), bits = 0;
    if (kE4M3 ? c == 0x7F : e == 31) {
      bits = kE4M3 || m ? 0x7FC0 : 0x7F80;
    } else if (c) {
      if (e)
        m |= 1 << kMantissa;
      else
        e = 1;
      for (; !(m >> kMantissa); m <<= 1) --e;  // a subnormal becomes normal
      bits = (e - kBias + 127) << 7 | (m & ((1 << kMantissa) - 1)) << (7 - kMantissa);
    }
    t.high[c] = static_cast<uint8_t>(bits >> 8);
    t.low[c] = static_cast<uint8_t>(bits & 255);
  }
  return t;
}
template <bool kE4M3>
constexpr HalvesOfFloats kTable = make_table<kE4M3>();

// Sixteen outputs by inputs 0 and 2, and by inputs 1 and 3, of a group of four.
struct Group {
  __m512i even, odd;
};
template <bool kE4M3>
inline __attribute__((always_inline)) Group decode(const void* p) {
  const HalvesOfFloats& t = kTable<kE4M3>;
  // As intrinsics, GCC 12 loads w three times, which is one load too many a cycle.
  __m512i w = _mm512_loadu_si512(p), sign;
  asm("" : "+v"(w));
  __m512i high = w, low = w;
  asm("vpermi2b %2, %1, %0" : "+v"(high) : "v"(_mm512_load_si512(t.high)), "v"(_mm512_load_si512(t.high + 64)));
  asm("vpermi2b %2, %1, %0" : "+v"(low) : "v"(_mm512_load_si512(t.low)), "v"(_mm512_load_si512(t.low + 64)));
  asm("vpandd %1, %2, %0" : "=v"(sign) : "v"(w), "v"(_mm512_set1_epi8(-128)));
  asm("vpord %1, %0, %0" : "+v"(high) : "v"(sign));
  // Blends, not vpternlogd: instructions with three sources are what limits Zen 4 here.
  return {_mm512_mask_blend_epi8(0x5555555555555555u, _mm512_slli_epi16(high, 8), low),
          _mm512_mask_blend_epi8(0x5555555555555555u, high, _mm512_srli_epi16(low, 8))};
}

inline __attribute__((always_inline)) void dot2(__m512& acc, __m512i w, __m512i x) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(acc) : "v"(w), "v"(x));
}

// Scales of a panel's group.
inline __attribute__((always_inline)) __m512 f8_scale(const GemmArgs& a, uint32_t panel, uint32_t group) {
  return _mm512_loadu_ps(static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride + group * size_t{64});
}

// A group's sum is that of two chains, inputs 0 and 2 of every four and inputs 1 and 3, whatever the number of rows.

// Few rows: weights stream through once, in one straight line, and are decoded on the way. Decoding takes more instructions than the core
// can look ahead while it waits for memory: lines are fetched early.
template <bool kE4M3, int R>
void few_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  const uint32_t all = (a.k + 31) / 32 * 8, of_scale = a.w_group ? a.w_group / 4 : all;
  __m512 total[R];
  UNROLL for (int r = 0; r < R; ++r) total[r] = _mm512_setzero_ps();
  for (uint32_t from = 0, scale_at = 0; from < all; from += of_scale, ++scale_at) {
    __m512 even[R], odd[R];
    UNROLL for (int r = 0; r < R; ++r) even[r] = odd[r] = _mm512_setzero_ps();
    for (uint32_t i = all - from < of_scale ? all - from : of_scale; i; --i, w += 64, x += 8) {
      _mm_prefetch(w + a.fetch_ahead, _MM_HINT_T0);
      const Group g = decode<kE4M3>(w);
      UNROLL for (int r = 0; r < R; ++r) {
        dot2(even[r], g.even, broadcast4(x + static_cast<size_t>(r) * a.x_stride));
        dot2(odd[r], g.odd, broadcast4(x + static_cast<size_t>(r) * a.x_stride + 4));
      }
    }
    const __m512 scale = f8_scale(a, panel, scale_at);
    UNROLL for (int r = 0; r < R; ++r) {
      const __m512 d = _mm512_add_ps(even[r], odd[r]);
      total[r] = from ? _mm512_fmadd_ps(d, scale, total[r]) : _mm512_mul_ps(d, scale);
    }
  }
  UNROLL for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel, total[r]);
}

// Many rows: a block of P panels is decoded into the first-level cache once for all of them; sums wait in `sums` between blocks.
constexpr uint32_t kBlock = 64;  // groups of four inputs
constexpr uint32_t kRows = 128;

// One of the two chains. x: its pair of every group, 8 bytes apart.
template <int R, int P>
void many_tile(const GemmArgs& a, const char* x, const __m512i* block, uint32_t groups, __m512* sums) {
  __m512 acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = sums[r * P + p];
  for (uint32_t i = 0; i < groups; ++i, block += P, x += 8) UNROLL for (int r = 0; r < R; ++r) {
      const __m512i s = broadcast4(x + static_cast<size_t>(r) * a.x_stride);
      UNROLL for (int p = 0; p < P; ++p) dot2(acc[r][p], block[p], s);
    }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) sums[r * P + p] = acc[r][p];
}

template <bool kE4M3, int P>
void many_rows(const GemmArgs& a, uint32_t row, uint32_t rows, uint32_t panel) {
  __m512i block[2][kBlock * P];
  __m512 sums[2][kRows * P], total[kRows * P];
  for (uint32_t i = 0; i < rows * P; ++i) sums[0][i] = sums[1][i] = _mm512_setzero_ps();
  const uint32_t all = (a.k + 31) / 32 * 8, of_scale = a.w_group ? a.w_group / 4 : all;
  for (uint32_t from = 0, groups; from < all; from += groups) {
    const uint32_t most = of_scale - from % of_scale, rest = all - from < most ? all - from : most;
    groups = rest < kBlock ? rest : kBlock;
    const char* w = static_cast<const char*>(a.w) + panel * a.w_stride + from * size_t{64};
    for (uint32_t i = 0; i < groups; ++i) UNROLL for (uint32_t p = 0; p < P; ++p) {
        const Group g = decode<kE4M3>(w + i * size_t{64} + p * a.w_stride);
        block[0][i * P + p] = g.even;
        block[1][i * P + p] = g.odd;
      }
    if (from + groups == all)
      for (uint32_t r = 0; r < rows; ++r) UNROLL for (uint32_t p = 0; p < P; ++p) fetch_y(a, row + r, panel + p);
    const char* x = static_cast<const char*>(a.x) + row * a.x_stride + from * size_t{8};
    for (uint32_t half = 0; half < 2; ++half)
      for (uint32_t r = 0; r < rows;) {
        const uint32_t left = rows - r;
        (left >= 4   ? many_tile<4, P>
         : left >= 2 ? many_tile<2, P>
                     : many_tile<1, P>)(a, x + r * a.x_stride + half * 4, block[half], groups, sums[half] + r * P);
        r += left >= 4 ? 4 : left >= 2 ? 2 : 1;
      }
    if (groups < rest) continue;
    UNROLL for (uint32_t p = 0; p < P; ++p) {
      const __m512 scale = f8_scale(a, panel + p, from / of_scale);
      for (uint32_t i = p; i < rows * P; i += P) {
        const __m512 d = _mm512_add_ps(sums[0][i], sums[1][i]);
        total[i] = from >= of_scale ? _mm512_fmadd_ps(d, scale, total[i]) : _mm512_mul_ps(d, scale);
        sums[0][i] = sums[1][i] = _mm512_setzero_ps();
      }
    }
  }
  for (uint32_t r = 0; r < rows; ++r) UNROLL for (uint32_t p = 0; p < P; ++p) finish(a, row + r, panel + p, total[r * P + p]);
}

template <bool kE4M3>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const bool many = a.m > 4;
    const uint32_t panels = many && a.n_panels - panel >= 4 ? 4 : 1;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, rows = many ? (left < kRows ? left : kRows) : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      if (many)
        (panels == 4 ? many_rows<kE4M3, 4> : many_rows<kE4M3, 1>)(a, row, rows, panel);
      else
        (rows == 4 ? few_tile<kE4M3, 4> : rows == 2 ? few_tile<kE4M3, 2> : few_tile<kE4M3, 1>)(a, row, panel);
      row += rows;
    }
    panel += panels;
  }
}

// ---- attention ----------------------------------------------------------------------------------------------------------------

void byte_table(const int8_t* table, const uint8_t* codes, size_t n, int8_t* q) {
  const __m512i t0 = _mm512_load_si512(table), t1 = _mm512_load_si512(table + 64);
  for (size_t i = 0; i < n; i += 64) {
    const __m512i w = _mm512_loadu_si512(codes + i), v = _mm512_permutex2var_epi8(t0, w, t1);
    _mm512_storeu_si512(q + i, _mm512_mask_sub_epi8(v, _mm512_movepi8_mask(w), _mm512_setzero_si512(), v));
  }
}

uint64_t peak_bf16(uint64_t n) {
  __m512 acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = _mm512_setzero_ps();
  const __m512i u = _mm512_set1_epi16(0x3F00), s = _mm512_set1_epi16(0x3E80);
  for (uint64_t i = 0; i < n; ++i) UNROLL for (int j = 0; j < 16; ++j) asm volatile("vdpbf16ps %2, %1, %0" : "+v"(acc[j]) : "v"(u), "v"(s));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 16 * 32;
}

// ---- blocks of code books -------------------------------------------------------------------------------------------------------

const GemmKernel& unpacking(linnet_format f) {
  const GemmKernel* k = avx512_vnni_table.gemm;
  while (k->w != f) ++k;
  return *k;
}
struct BookRows : DpbusdRows {
  static constexpr int kRows = 2;
  static constexpr uint32_t kManyRows = 6;
};
template <class Kind, linnet_format kFormat>
void gemm_books(const GemmArgs* a) {
  static constexpr FewRows kFew = few_rows_of<Kind, BookRows>();
  const FewRows* few = &kFew;
  asm("" : "+r"(few));  // GCC would make copies of what it calls for each
  if (a->m < few->many)
    few_rows_by_panels(*a, *few);
  else
    unpacking(kFormat).run(a);
}
template <linnet_format kFormat>
uint64_t peak_unpacking(uint64_t n) {
  return unpacking(kFormat).peak(n);
}

const GemmKernel kGemm[] = {{LINNET_F8E4M3, 0, gemm_f8<true>, peak_bf16},
                            {LINNET_F8E5M2, 0, gemm_f8<false>, peak_bf16},
                            {LINNET_F8E4M3G128, 0, gemm_f8<true>, peak_bf16},
#define LINNET_BOOKS(NAME, Kind) {LINNET_##NAME, 1, gemm_books<Kind, LINNET_##NAME>, peak_unpacking<LINNET_##NAME>},
                            LINNET_BOOKS(IQ2_XXS, Iq2Xxs) LINNET_BOOKS(IQ2_XS, Iq2Xs) LINNET_BOOKS(IQ2_S, Iq2S) LINNET_BOOKS(
                                IQ3_XXS, Iq3Xxs) LINNET_BOOKS(IQ3_S, Iq3S) LINNET_BOOKS(IQ1_S, Iq1S) LINNET_BOOKS(IQ1_M, Iq1M)};

}  // namespace

const KernelTable avx512_bf16_table = {
    .isa = LINNET_ISA_AVX512_BF16,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .byte_table = byte_table,
};

}  // namespace linnet
