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

  // As blocks.h says, and the next rows of x are asked for. All of it is one asm, since compilers move and spill twenty-four sums. zmm0 to 23: these; 24 to
  // 27: four inputs of four panels, then their scales; 28 to 31: four inputs of a row, then products of scales.
  template <int R>
  static inline __attribute__((always_inline)) void group(float (*acc)[4][16], const int8_t* x, size_t x_stride, const int32_t* sum128, const float* scale, size_t x_groups, const uint8_t* w,
                                                           const float (*w_scale)[16], uint32_t n, const char* ask) {
    static_assert((R == 5 || R == 6) && kBlockK == 256);
    const int8_t* const end = x + n;
    const size_t x3 = x_stride * 3, x5 = x_stride * 5, next_row = x_groups * 4;
    const int8_t* soon = x + R * x_stride;
#define LINNET_START(a, b, c, d) \
  "vpbroadcastd (%[sum]), %%zmm" #a "\n\tadd %[row], %[sum]\n\tvmovdqa64 %%zmm" #a ", %%zmm" #b "\n\tvmovdqa64 %%zmm" #a ", %%zmm" #c "\n\tvmovdqa64 %%zmm" #a ", %%zmm" #d "\n\t"
#define LINNET_ROW(i, at, a, b, c, d)                                                                                           \
  "vpbroadcastd " #i "*4" at ", %%zmm28\n\tvpdpbusd %%zmm28, %%zmm24, %%zmm" #a "\n\tvpdpbusd %%zmm28, %%zmm25, %%zmm" #b "\n\t" \
  "vpdpbusd %%zmm28, %%zmm26, %%zmm" #c "\n\tvpdpbusd %%zmm28, %%zmm27, %%zmm" #d "\n\t"
#define LINNET_PANEL(r, p, ws, a, s)                                                                         \
  "vcvtdq2ps %%zmm" #a ", %%zmm" #a "\n\tvmulps (%[scale])%{1to16%}, %%zmm" #ws ", %%zmm" #s "\n\t"           \
  "vfmadd213ps " #r "*256+" #p "*64(%[acc]), %%zmm" #s ", %%zmm" #a "\n\tvmovaps %%zmm" #a ", " #r "*256+" #p "*64(%[acc])\n\t"
#define LINNET_END(r, a, b, c, d) LINNET_PANEL(r, 0, 24, a, 28) LINNET_PANEL(r, 1, 25, b, 29) LINNET_PANEL(r, 2, 26, c, 30) LINNET_PANEL(r, 3, 27, d, 31) "add %[row], %[scale]\n\t"
#define LINNET_STEP5(i)                                                                                                                                    \
  "vmovdqa64 " #i "*64(%[w]), %%zmm24\n\tvmovdqa64 4096+" #i "*64(%[w]), %%zmm25\n\tvmovdqa64 8192+" #i "*64(%[w]), %%zmm26\n\tvmovdqa64 12288+" #i "*64(%[w]), %%zmm27\n\t" \
  LINNET_ROW(i, "(%[x])", 0, 1, 2, 3) LINNET_ROW(i, "(%[x],%[x1])", 4, 5, 6, 7) LINNET_ROW(i, "(%[x],%[x1],2)", 8, 9, 10, 11)                                \
  LINNET_ROW(i, "(%[x],%[x3])", 12, 13, 14, 15) LINNET_ROW(i, "(%[x],%[x1],4)", 16, 17, 18, 19)
#define LINNET_STEP6(i) LINNET_STEP5(i) LINNET_ROW(i, "(%[x],%[x5])", 20, 21, 22, 23)
#define LINNET_STARTS5 LINNET_START(0, 1, 2, 3) LINNET_START(4, 5, 6, 7) LINNET_START(8, 9, 10, 11) LINNET_START(12, 13, 14, 15) LINNET_START(16, 17, 18, 19)
#define LINNET_STARTS6 LINNET_STARTS5 LINNET_START(20, 21, 22, 23)
#define LINNET_ENDS5 LINNET_END(0, 0, 1, 2, 3) LINNET_END(1, 4, 5, 6, 7) LINNET_END(2, 8, 9, 10, 11) LINNET_END(3, 12, 13, 14, 15) LINNET_END(4, 16, 17, 18, 19)
#define LINNET_ENDS6 LINNET_ENDS5 LINNET_END(5, 20, 21, 22, 23)
#define LINNET_GROUP(R)                                                                                                                                    \
  asm volatile(LINNET_STARTS##R ".p2align 5\n1:\n\tprefetcht1 (%[ask])\n\tprefetcht0 (%[soon])\n\tprefetcht0 64(%[soon])\n\t" LINNET_STEP##R(0) LINNET_STEP##R(1) LINNET_STEP##R(2) LINNET_STEP##R(3)          \
               "add %[x1], %[soon]\n\tadd $16, %[x]\n\tadd $256, %[w]\n\tadd $64, %[ask]\n\tcmp %[end], %[x]\n\tjne 1b\n\t"                                                         \
               "vmovaps (%[ws]), %%zmm24\n\tvmovaps 64(%[ws]), %%zmm25\n\tvmovaps 128(%[ws]), %%zmm26\n\tvmovaps 192(%[ws]), %%zmm27\n\t" LINNET_ENDS##R      \
               : [x] "+&r"(x), [w] "+&r"(w), [ask] "+&r"(ask), [soon] "+&r"(soon), [sum] "+&r"(sum128), [scale] "+&r"(scale)                                                                                                \
               : [x1] "r"(x_stride), [x3] "r"(x3), [x5] "r"(x5), [row] "r"(next_row), [end] "r"(end), [ws] "r"(w_scale), [acc] "r"(acc)                                                                                                            \
               : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", \
                 "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31")
    if constexpr (R == 5)
      LINNET_GROUP(5);
    else
      LINNET_GROUP(6);
#undef LINNET_GROUP
#undef LINNET_ENDS6
#undef LINNET_ENDS5
#undef LINNET_STARTS6
#undef LINNET_STARTS5
#undef LINNET_STEP6
#undef LINNET_STEP5
#undef LINNET_END
#undef LINNET_PANEL
#undef LINNET_ROW
#undef LINNET_START
  }
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
