// AVX-512 with VNNI, bit-equal to scalar.cpp: the integer products.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "avx512_vnni.cpp needs -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni"
#endif
#include "avx512.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

struct Vnni : Dpbusd {
  static constexpr bool kTwoPanels = true;
  static constexpr bool kFills = true, kGguf = true;
  static void halve_groups(const GemmArgs& a, uint32_t row, uint32_t rows, uint32_t from, uint32_t k, Block* b);
  // As blocks.h says. All of it is one asm: compilers move and spill twenty-four sums, and what they put between two groups takes ports
  // from products. zmm0 to 23: these; 24 to 27: four inputs of four panels, then their scales; 28: four inputs of a row; 28 to 31: products
  // of scales. kFill: panels are read where they lie, their sign bits flipped (by zmm29) and left in t.w, which costs less than a copy
  // before; the other tiles ask for the next rows of x.
  template <int R, bool kFill>
  static inline __attribute__((always_inline)) void large_tile(const BlockTile& t) {
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
  }

  // Of groups of 16 or 32 inputs, whose ends cost a third of their products: three rows, whose twelve sums of floats stay in registers.
  // Where there are minima codes are not negative as they are, and sums start at 0. first, x_sum: of blocks as GGUF has them, whose sums go
  // to t.total, minima behind them. zmm0 to 11: sums of products; 12 to 23: of floats; 24 to 27 as above, then minima; 28, 30, 31: four
  // inputs of a row, products of scales, what minima are multiplied with; 29: flips.
  template <bool kFill>
  static inline __attribute__((always_inline)) void tile_of_three(const BlockTile& t, bool first, const float (*x_sum)[16]) {
    const int8_t *x = t.x, *source = t.source;
    const char* ask = t.ask;
    uint8_t* w = t.w;
    const int32_t* sum = t.sum128;
    const float* scale = t.scale;
    const size_t x1 = t.x_stride, x3 = x1 * 3, x5 = x1 * 5, row = t.x_groups * 4, w1 = t.source_stride, w3 = w1 * 3;
    size_t groups = t.groups, at;
    static constexpr uint32_t kFlipBits = 0x80808080;
    const struct {
      const float *w_min, *x_sum;
      size_t minima, first;
    } more = {t.w_min ? t.w_min[0][0] : nullptr, x_sum[0], t.w_min ? t.groups : 0, first};
    static_assert(sizeof more == 32);
#define LINNET_EACH_SUM(do) \
  do (0, 12) do(1, 13) do(2, 14) do(3, 15) do(4, 16) do(5, 17) do(6, 18) do(7, 19) do(8, 20) do(9, 21) do(10, 22) do(11, 23)
#define LINNET_TAKE(i, sum) "vmovaps " #i "*64(%[acc]), %%zmm" #sum "\n\t"
#define LINNET_NONE(i, sum) "vpxord %%zmm" #sum ", %%zmm" #sum ", %%zmm" #sum "\n\t"
#define LINNET_TOTAL(i, sum) "vaddps " #i "*64(%[acc]), %%zmm" #sum ", %%zmm" #sum "\n\t"
#define LINNET_MINIMA(at, a, b, c, d)                                                                                   \
  "vbroadcastss " at ", %%zmm28\n\tvfmadd231ps %%zmm28, %%zmm24, %%zmm" #a "\n\tvfmadd231ps %%zmm28, %%zmm25, %%zmm" #b \
  "\n\t"                                                                                                                \
  "vfmadd231ps %%zmm28, %%zmm26, %%zmm" #c "\n\tvfmadd231ps %%zmm28, %%zmm27, %%zmm" #d "\n\t"
#define LINNET_PUT(i, sum) "vmovaps %%zmm" #sum ", " #i "*64(%[acc])\n\t"
#define LINNET_SUMS(at, ws, a, total, s)                                                 \
  "vcvtdq2ps %%zmm" #a ", %%zmm" #a "\n\tvmulps " at "%{1to16%}, %%zmm" #ws ", %%zmm" #s \
  "\n\t"                                                                                 \
  "vfmadd231ps %%zmm" #s ", %%zmm" #a ", %%zmm" #total "\n\t"
#define LINNET_DOTS3(i)                     \
  LINNET_DOT(i, "(%[x])", 0, 1, 2, 3)       \
  LINNET_DOT(i, "(%[x],%[x1])", 4, 5, 6, 7) \
  LINNET_DOT(i, "(%[x],%[x1],2)", 8, 9, 10, 11)
#define LINNET_ZERO(a) "vpxord %%zmm" #a ", %%zmm" #a ", %%zmm" #a "\n\t"
#define LINNET_ZEROS(at, r, a, b, c, d) LINNET_ZERO(a) LINNET_ZERO(b) LINNET_ZERO(c) LINNET_ZERO(d)
#define LINNET_TILE3(TAKE, START, BEFORE, LOAD, AFTER, END, ...) \
  asm volatile(                                                                                                                        \
      LINNET_EACH_SUM(TAKE) ".p2align 5\n1:\n\t" START("(%[sum])", 0, 0, 1, 2, 3) START("(%[sum],%[row])", 1, 4, 5, 6, 7)       \
          START("(%[sum],%[row],2)", 2, 8, 9, 10, 11) BEFORE "mov %[n], %[at]\n\t.p2align 5\n2:\n\t" LOAD(0) LINNET_DOTS3(0) LOAD(1)    \
              LINNET_DOTS3(1) LOAD(2) LINNET_DOTS3(2) LOAD(3) LINNET_DOTS3(3) AFTER                                                    \
      "add $16, %[x]\n\tadd $1024, %[w]\n\tsub $16, %[at]\n\tjnz 2b\n\t"                                                               \
      "vmovaps (%[w]), %%zmm24\n\tvmovaps 64(%[w]), %%zmm25\n\tvmovaps 128(%[w]), %%zmm26\n\tvmovaps 192(%[w]), %%zmm27\n\t"           \
      LINNET_SUMS("(%[scale])", 24, 0, 12, 28) LINNET_SUMS("(%[scale])", 25, 1, 13, 30) LINNET_SUMS("(%[scale])", 26, 2, 14, 31)       \
          LINNET_SUMS("(%[scale])", 27, 3, 15, 28) LINNET_SUMS("(%[scale],%[row])", 24, 4, 16, 30)                                     \
              LINNET_SUMS("(%[scale],%[row])", 25, 5, 17, 31) LINNET_SUMS("(%[scale],%[row])", 26, 6, 18, 28)                          \
                  LINNET_SUMS("(%[scale],%[row])", 27, 7, 19, 30) LINNET_SUMS("(%[scale],%[row],2)", 24, 8, 20, 31)                    \
                      LINNET_SUMS("(%[scale],%[row],2)", 25, 9, 21, 28) LINNET_SUMS("(%[scale],%[row],2)", 26, 10, 22, 30)             \
                          LINNET_SUMS("(%[scale],%[row],2)", 27, 11, 23, 31) "add $256, %[w]\n\tadd $4, %[sum]\n\tadd $4, "           \
                                                                             "%[scale]\n\tsub $1, %[groups]\n\tjnz 1b\n\t"           \
          END LINNET_EACH_SUM(LINNET_PUT)                                                                                                  \
      : [x] "+&r"(x), [w] "+&r"(w), [sum] "+&r"(sum), [scale] "+&r"(scale), [groups] "+&r"(groups), [at] "=&r"(at),                    \
        __VA_ARGS__[x1] "r"(x1), [row] "r"(row), [acc] "r"(acc), [n] "r"(t.n)                                                        \
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",  \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31")
#define LINNET_ASK3 \
  "prefetcht1 (%[ask])\n\tprefetcht0 (%[x],%[x3])\n\tprefetcht0 (%[x],%[x1],4)\n\tprefetcht0 (%[x],%[x5])\n\tadd $64, %[ask]\n\t"
#define LINNET_BLOCK_END \
  "cmpq $0, 24(%[more])\n\tjne 3f\n\t" LINNET_EACH_SUM(LINNET_TOTAL) "3:\n\tmov 16(%[more]), %[groups]\n\t"                     \
  "test %[groups], %[groups]\n\tjz 5f\n\tmov (%[more]), %[w]\n\tmov 8(%[more]), %[x]\n\t.p2align 5\n4:\n\t"                     \
  "vmovaps (%[w]), %%zmm24\n\tvmovaps 64(%[w]), %%zmm25\n\tvmovaps 128(%[w]), %%zmm26\n\tvmovaps 192(%[w]), %%zmm27\n\t"        \
  LINNET_MINIMA("(%[x])", 12, 13, 14, 15) LINNET_MINIMA("64(%[x])", 16, 17, 18, 19) LINNET_MINIMA("128(%[x])", 20, 21, 22, 23)     \
  "add $256, %[w]\n\tadd $4, %[x]\n\tsub $1, %[groups]\n\tjnz 4b\n\t5:\n\t"
#define LINNET_BLOCK3(START)                                     \
  LINNET_TILE3(LINNET_NONE, START, LINNET_ASK3, LINNET_LOAD, "", \
               LINNET_BLOCK_END, [ask] "+&r"(ask) : [x3] "r"(x3), [x5] "r"(x5), [more] "r"(&more), )
    float* const acc = t.total ? t.total[0][0] : t.acc[0][0];
    if constexpr (kFill)
      LINNET_TILE3(LINNET_TAKE, LINNET_START, "vpbroadcastd %[flip], %%zmm29\n\t", LINNET_FILL, "add $256, %[source]\n\t",
                   "", [source] "+&r"(source) : [w1] "r"(w1), [w3] "r"(w3), [flip] "m"(kFlipBits), );
    else if (!t.total)
      LINNET_TILE3(LINNET_TAKE, LINNET_START, LINNET_ASK3, LINNET_LOAD, "", "", [ask] "+&r"(ask) : [x3] "r"(x3), [x5] "r"(x5), );
    else if (t.w_min)
      LINNET_BLOCK3(LINNET_ZEROS);
    else
      LINNET_BLOCK3(LINNET_START);
#undef LINNET_BLOCK3
#undef LINNET_BLOCK_END
#undef LINNET_ASK3
#undef LINNET_TILE3
#undef LINNET_ZEROS
#undef LINNET_ZERO
#undef LINNET_DOTS3
#undef LINNET_SUMS
#undef LINNET_PUT
#undef LINNET_MINIMA
#undef LINNET_TOTAL
#undef LINNET_NONE
#undef LINNET_TAKE
#undef LINNET_EACH_SUM
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

  template <int R, bool kFill>
  static inline __attribute__((always_inline)) void tile(const BlockTile& t) {
    if constexpr (R < 5)
      few_rows<Vnni, R>(t);
    else
      large_tile<R, kFill>(t);
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

// ---- blocks of GGUF files -----------------------------------------------------------------------------------------------------

// The sums of 64 bytes in sixteens: each in the four lanes of its own.
inline __attribute__((always_inline)) __m512i sums_of_16(__m512i x) {
  __m512i sum = _mm512_setzero_si512();
  Vnni::add(sum, _mm512_set1_epi8(1), x);
  sum = _mm512_add_epi32(sum, _mm512_shuffle_epi32(sum, _MM_PERM_CDAB));
  return _mm512_add_epi32(sum, _mm512_shuffle_epi32(sum, _MM_PERM_BADC));
}

// What x has for groups of 16 of k inputs.
void Vnni::halve_groups(const GemmArgs& a, uint32_t row, uint32_t rows, uint32_t from, uint32_t k, Block* b) {
  const __m512i fourth = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0),
                twice = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
  const auto groups = static_cast<__mmask8>((1u << (k / 32)) - 1);
  for (uint32_t r = 0; r < rows; ++r) {
    const int8_t* x = static_cast<const int8_t*>(a.x) + (row + r) * a.x_stride + from;
    for (uint32_t i = 0; i < k; i += 64) {
      const __m512i sixty_four = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(k - i < 64 ? 0xFF : 0xFFFF), x + i),
                    sums = _mm512_permutexvar_epi32(fourth, _mm512_slli_epi32(sums_of_16(sixty_four), 7));
      _mm_store_si128(reinterpret_cast<__m128i*>(b->x_sum128[r] + i / 16),
                      _mm_sub_epi32(_mm_setzero_si128(), _mm512_castsi512_si128(sums)));
    }
    const __m256 scale = _mm256_maskz_loadu_ps(groups, a.x_scale + (row + r) * size_t{a.x_groups} + from / 32);
    _mm512_store_ps(b->x_scale[r], _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(scale)));
  }
}

// Four panels, as block_fill.
void gguf_fill(const GemmArgs& a, const BlockFormat& f, uint32_t panel, uint32_t from, uint32_t k, Block* to) {
  const UnpackedBy& by = *f.by;
  const size_t group_bytes = by.group * size_t{64} + 256;
  for (uint32_t p = 0; p < 4; ++p) {
    uint8_t* const at = to->w + p * 64;
    by.unpack(static_cast<const uint8_t*>(a.w) + (panel + p) * a.w_stride + from / kBlockK * by.lines,
              static_cast<const uint8_t*>(a.w_scale) + (panel + p) * a.w_scale_stride + from / kBlockK * by.entry, k,
              {reinterpret_cast<int8_t*>(at), 256, group_bytes, reinterpret_cast<float*>(at + by.group * size_t{64}), to->w_min[0][p],
               group_bytes / 4, 64, a.m < kBlockLeast ? by.lines : 0,
               static_cast<const uint8_t*>(a.w_scale) + (panel + p + size_t{1}) * a.w_scale_stride});
  }
}

// What the product of bytes takes: they are unsigned in a block.
void product_of_unsigned(const GemmArgs* args) {
  GemmArgs a = *args;
  for (uint32_t p = 0; p < a.n_panels; ++p) {
    auto* w = static_cast<uint8_t*>(const_cast<void*>(a.w)) + p * a.w_stride;
    for (uint32_t i = 0; i < a.k * 16; i += 64)
      _mm512_storeu_si512(w + i, _mm512_xor_si512(_mm512_loadu_si512(w + i), _mm512_set1_epi8(-128)));
  }
  Int::of<kBytes, kStepF32>(&a);
}

// Many rows by four panels at a time as long as there are so many.
__attribute__((noinline)) void gemm_gguf(GemmArgs a, const FewRows& few, const UnpackedBy& by) {
  const BlockFormat f = {gguf_fill, by.lines / kBlockK, by.entry, false, by.group, by.min, &by};
  const uint32_t done = a.m >= (few.lines ? few.many : 1) ? block_gemm<Vnni>(a, f) : 0;
  if (done == a.n_panels) return;
  a.w = static_cast<const uint8_t*>(a.w) + done * a.w_stride;
  a.w_scale = static_cast<const uint8_t*>(a.w_scale) + done * a.w_scale_stride;
  if (a.bias) a.bias += done * size_t{16};
  a.y += done * size_t{16};
  a.n_panels -= done;
  gemm_blocks(a, few, by);
}

template <class Kind>
void gemm_kind(const GemmArgs* a) {
  static constexpr UnpackedBy kBy =
      Kind::kMin ? unpacked_by<Kind, Int::of<kBytes, kStepF32>>() : unpacked_by<Kind, product_of_unsigned, 0x80>();
  static constexpr FewRows kFew = few_rows_of<Kind, DpbusdRows>();
  gemm_gguf(*a, kFew, kBy);
}

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) {LINNET_##NAME, 1, gemm_kind<kind>, peak_int8},
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
