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
  static inline __attribute__((always_inline)) void add(__m512i& acc, __m512i u, __m512i s) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s));
  }

  static constexpr bool kFills = true;
  // As blocks.h says. All of it is one asm: compilers move and spill twenty-four sums, and what they put between two groups takes ports
  // from products. zmm0 to 23: these; 24 to 27: four inputs of four panels, then their scales; 28: four inputs of a row; 28 to 31: products
  // of scales. kFill: panels are read where they lie, their sign bits flipped (by zmm29) and left in t.w, which costs less than a copy
  // before; the other tiles ask for the next rows of x.
  template <int R, bool kFill>
  static inline __attribute__((always_inline)) void tile(const BlockTile& t) {
    static_assert(R == 6 || (R == 5 && !kFill));
    const int8_t *x = t.x, *soon, *source = t.source;
    const char* ask = t.ask;
    uint8_t* w = t.w;
    const size_t x1 = t.x_stride, x3 = x1 * 3, x5 = x1 * 5, row = t.x_groups * 4, w1 = t.source_stride, w3 = w1 * 3;
    size_t at;  // a row's sum128 or scale, and how many inputs are left
    // What there are no registers for, by its offset.
    struct {
      const int32_t* sum;
      const float* scale;
      size_t row3, n, groups, flip;
    } more = {t.sum128, t.scale, row * 3, t.groups ? t.n : t.rest, t.groups ? t.groups : 1, 0x80808080};
    static_assert(sizeof more == 48);
#define LINNET_SUM "(%[more])"
#define LINNET_SCALE "8(%[more])"
#define LINNET_ROW3 "16(%[more])"
#define LINNET_N "24(%[more])"
#define LINNET_GROUPS "32(%[more])"
#define LINNET_FLIP_BITS "40(%[more])"
#define LINNET_START(at, r, a, b, c, d)                                                                                                \
  "vpbroadcastd " at ", %%zmm" #a "\n\tvmovdqa64 %%zmm" #a ", %%zmm" #b "\n\tvmovdqa64 %%zmm" #a ", %%zmm" #c "\n\tvmovdqa64 %%zmm" #a \
  ", %%zmm" #d "\n\t"
#define LINNET_PANEL(at, r, p, ws, a, s)                                                 \
  "vcvtdq2ps %%zmm" #a ", %%zmm" #a "\n\tvmulps " at "%{1to16%}, %%zmm" #ws ", %%zmm" #s \
  "\n\t"                                                                                 \
  "vfmadd213ps " #r "*256+" #p "*64(%[acc]), %%zmm" #s ", %%zmm" #a "\n\tvmovaps %%zmm" #a ", " #r "*256+" #p "*64(%[acc])\n\t"
#define LINNET_END(at, r, a, b, c, d) \
  LINNET_PANEL(at, r, 0, 24, a, 28) LINNET_PANEL(at, r, 1, 25, b, 29) LINNET_PANEL(at, r, 2, 26, c, 30) LINNET_PANEL(at, r, 3, 27, d, 31)
#define LINNET_ROWS5(do, of)                                                                   \
  "mov " of ", %[at]\n\t" do("(%[at])", 0, 0, 1, 2, 3) do("(%[at],%[row])", 1, 4, 5, 6, 7) do( \
      "(%[at],%[row],2)", 2, 8, 9, 10, 11) "add " LINNET_ROW3                                  \
                                           ", %[at]\n\t" do("(%[at])", 3, 12, 13, 14, 15) do("(%[at],%[row])", 4, 16, 17, 18, 19)
#define LINNET_ROWS6(do, of) LINNET_ROWS5(do, of) do("(%[at],%[row],2)", 5, 20, 21, 22, 23)
#define LINNET_DOT(i, at, a, b, c, d)                                                                                     \
  "vpbroadcastd " #i "*4" at ", %%zmm28\n\tvpdpbusd %%zmm28, %%zmm24, %%zmm" #a "\n\tvpdpbusd %%zmm28, %%zmm25, %%zmm" #b \
  "\n\t"                                                                                                                  \
  "vpdpbusd %%zmm28, %%zmm26, %%zmm" #c "\n\tvpdpbusd %%zmm28, %%zmm27, %%zmm" #d "\n\t"
#define LINNET_DOTS5(i)                         \
  LINNET_DOT(i, "(%[x])", 0, 1, 2, 3)           \
  LINNET_DOT(i, "(%[x],%[x1])", 4, 5, 6, 7)     \
  LINNET_DOT(i, "(%[x],%[x1],2)", 8, 9, 10, 11) \
  LINNET_DOT(i, "(%[x],%[x3])", 12, 13, 14, 15) LINNET_DOT(i, "(%[x],%[x1],4)", 16, 17, 18, 19)
#define LINNET_DOTS6(i) LINNET_DOTS5(i) LINNET_DOT(i, "(%[x],%[x5])", 20, 21, 22, 23)
#define LINNET_LOAD(i)                                                                             \
  "vmovdqa64 " #i "*256(%[w]), %%zmm24\n\tvmovdqa64 " #i "*256+64(%[w]), %%zmm25\n\tvmovdqa64 " #i \
  "*256+128(%[w]), %%zmm26\n\tvmovdqa64 " #i "*256+192(%[w]), %%zmm27\n\t"
#define LINNET_FLIP(i, p, at, to) "vpxord " #i "*64" at ", %%zmm29, %%zmm" #to "\n\tvmovdqa64 %%zmm" #to ", " #i "*256+" #p "*64(%[w])\n\t"
#define LINNET_FILL(i)                 \
  LINNET_FLIP(i, 0, "(%[source])", 24) \
  LINNET_FLIP(i, 1, "(%[source],%[w1])", 25) LINNET_FLIP(i, 2, "(%[source],%[w1],2)", 26) LINNET_FLIP(i, 3, "(%[source],%[w3])", 27)
#define LINNET_TILE(R, BEFORE, ASK, LOAD, AFTER, ...)                                                                                  \
  asm volatile(                                                                                                                        \
      ".p2align 5\n1:\n\t" LINNET_ROWS##R(LINNET_START, LINNET_SUM) BEFORE "mov " LINNET_N ", %[at]\n\t.p2align 5\n2:\n\t" ASK LOAD(0) \
          LINNET_DOTS##R(0) LOAD(1) LINNET_DOTS##R(1) LOAD(2) LINNET_DOTS##R(2) LOAD(3) LINNET_DOTS##R(3) AFTER                        \
      "add $16, %[x]\n\tadd $1024, %[w]\n\tsub $16, %[at]\n\tjnz 2b\n\t"                                                               \
      "vmovaps (%[w]), %%zmm24\n\tvmovaps 64(%[w]), %%zmm25\n\tvmovaps 128(%[w]), %%zmm26\n\tvmovaps 192(%[w]), "                      \
      "%%zmm27\n\t" LINNET_ROWS##R(LINNET_END, LINNET_SCALE) "add $256, %[w]\n\taddq $4, " LINNET_SUM "\n\taddq $4, " LINNET_SCALE     \
                                                             "\n\tsubq $1, " LINNET_GROUPS "\n\tjnz 1b\n\t"                            \
      : [x] "+&r"(x), [w] "+&r"(w), [at] "=&r"(at),                                                                                    \
        __VA_ARGS__[x1] "r"(x1), [x3] "r"(x3), [x5] "r"(x5), [row] "r"(row), [acc] "r"(t.acc), [more] "r"(&more)                       \
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",  \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31")
#define LINNET_SOON(at) "lea " at ", %[soon]\n\t"
#define LINNET_ASK "prefetcht1 (%[ask])\n\tprefetcht0 (%[soon])\n\tprefetcht0 64(%[soon])\n\tadd $64, %[ask]\n\tadd %[x1], %[soon]\n\t"
    for (;;) {
      if constexpr (kFill)
        LINNET_TILE(6, "vpbroadcastd " LINNET_FLIP_BITS ", %%zmm29\n\t", "", LINNET_FILL,
                    "add $256, %[source]\n\t", [source] "+&r"(source) : [w1] "r"(w1), [w3] "r"(w3), );
      else if constexpr (R == 6)
        LINNET_TILE(6, LINNET_SOON("(%[x],%[x3],2)"), LINNET_ASK, LINNET_LOAD, "", [ask] "+&r"(ask), [soon] "=&r"(soon) :);
      else
        LINNET_TILE(5, LINNET_SOON("(%[x],%[x5])"), LINNET_ASK, LINNET_LOAD, "", [ask] "+&r"(ask), [soon] "=&r"(soon) :);
      if (more.n == t.rest || t.rest == 0) return;
      more.n = t.rest;
      more.groups = 1;
    }
#undef LINNET_ASK
#undef LINNET_SOON
#undef LINNET_TILE
#undef LINNET_FILL
#undef LINNET_FLIP
#undef LINNET_LOAD
#undef LINNET_DOTS6
#undef LINNET_DOTS5
#undef LINNET_DOT
#undef LINNET_ROWS6
#undef LINNET_ROWS5
#undef LINNET_END
#undef LINNET_PANEL
#undef LINNET_START
#undef LINNET_FLIP_BITS
#undef LINNET_GROUPS
#undef LINNET_N
#undef LINNET_ROW3
#undef LINNET_SCALE
#undef LINNET_SUM
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
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable avx512_vnni_table = {
    .isa = LINNET_ISA_AVX512_VNNI,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv_by<Vnni>,
};

}  // namespace linnet
