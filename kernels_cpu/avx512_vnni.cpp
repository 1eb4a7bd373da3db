// AVX-512 with VNNI, bit-equal to scalar.cpp: the integer products.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "avx512_vnni.cpp needs -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni"
#endif
#include "avx512.h"

namespace linnet {
namespace {

// GCC 12 copies the accumulators around the intrinsic, which halves a kernel's speed.
struct Vnni {
  static constexpr bool kTwoPanels = true;
  static inline __attribute__((always_inline)) void add(__m512i& acc, __m512i u, __m512i s) { asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s)); }
};
using Int = IntKernels<Vnni>;

uint64_t peak_int8(uint64_t n) {
  __m512i acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_epi32(i);
  const __m512i u = _mm512_set1_epi8(3), s = _mm512_set1_epi8(-5);
  for (uint64_t i = 0; i < n; ++i) UNROLL for (int j = 0; j < 16; ++j) asm volatile("vpdpbusd %2, %1, %0" : "+v"(acc[j]) : "v"(u), "v"(s));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return n * 16 * 64;
}

const GemmKernel kGemm[] = {
    {LINNET_I8, 1, Int::i8, peak_int8},
    {LINNET_I8G128, 1, Int::i8_f32, peak_int8},
    {LINNET_I8G64, 1, Int::i8_f32, peak_int8},
    {LINNET_I8G32, 1, Int::i8_f16, peak_int8},
    {LINNET_I4G128, 1, Int::i4, peak_int8},
    {LINNET_I4G64, 1, Int::i4, peak_int8},
    {LINNET_I4G32, 1, Int::i4, peak_int8},
    {LINNET_I4G128Z, 1, Int::i4_zero, peak_int8},
};

}  // namespace

const KernelTable avx512_vnni_table = {
    .isa = LINNET_ISA_AVX512_VNNI,
    .required = kCpuAvx2 | kCpuFma | kCpuF16c | kCpuAvx512 | kCpuAvx512Vnni,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv_by<Vnni>,
};

}  // namespace linnet
