// AVX-512 with VNNI, bit-equal to scalar.cpp: the integer products.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "avx512_vnni.cpp needs -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni"
#endif
#include "avx512.h"
#include "unpacked.h"

namespace linnet {
namespace {

// GCC 12 copies the accumulators around the intrinsic, which halves a kernel's speed.
struct Vnni {
  static constexpr bool kTwoPanels = true;
  static inline __attribute__((always_inline)) void add(__m512i& acc, __m512i u, __m512i s) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(u), "v"(s));
  }

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

// The parts of a block of 16 outputs: of each of its groups 16 bytes of scales and of minima, and what they are to be multiplied with.
struct K4Parts {
  alignas(64) uint8_t scale[8][16], min[8][16];
  __m512 d, d_min;
};
inline __attribute__((always_inline)) void load_parts(const uint8_t* entry, K4Parts* to) {
  const __m512i six = _mm512_set1_epi8(63), four = _mm512_set1_epi8(15), top = _mm512_set1_epi8(0x30);
  const __m512i s = _mm512_loadu_si512(entry + 64), m = _mm512_loadu_si512(entry + 128), rest = _mm512_loadu_si512(entry + 192);
  const auto upper = [&](__m512i low, __m512i v) {
    return _mm512_or_si512(_mm512_and_si512(v, four), _mm512_and_si512(_mm512_srli_epi16(low, 2), top));
  };
  _mm512_store_si512(to->scale, _mm512_and_si512(s, six));
  _mm512_store_si512(to->scale + 4, upper(s, rest));
  _mm512_store_si512(to->min, _mm512_and_si512(m, six));
  _mm512_store_si512(to->min + 4, upper(m, _mm512_srli_epi16(rest, 4)));
  to->d = load_scales<true>(reinterpret_cast<const char*>(entry));
  to->d_min = load_scales<true>(reinterpret_cast<const char*>(entry + 32));
}
inline __attribute__((always_inline)) __m512 times(__m512 by, __m512i part) { return _mm512_mul_ps(by, _mm512_cvtepi32_ps(part)); }
inline __attribute__((always_inline)) __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Where it stands: compilers move the intrinsic, and many at once hold up the products.
inline __attribute__((always_inline)) void prefetch(const uint8_t* p) { asm volatile("prefetcht0 %0" ::"m"(*p)); }

// What a few rows have of a matrix, by blocks; x_scale and x_sum128 of row r are r * groups further on.
struct FewRows {
  const int8_t* x;
  size_t x_stride, groups;
  const float* x_scale;
  const int32_t* x_sum128;
  const uint8_t *w, *entry, *end;
  size_t ahead;
  FewRows(const GemmArgs& a, uint32_t row, uint32_t panel)
      : x(static_cast<const int8_t*>(a.x) + row * a.x_stride),
        x_stride(a.x_stride),
        groups(a.x_groups),
        x_scale(a.x_scale + row * groups),
        x_sum128(a.x_sum128 + row * groups),
        w(static_cast<const uint8_t*>(a.w) + panel * a.w_stride),
        entry(static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride),
        end(entry + a.w_scale_stride),
        ahead(a.fetch_ahead) {}
  __m512i four(int r, size_t at) const { return broadcast4(x + static_cast<size_t>(r) * x_stride + at); }
  __m512 scale(int r, size_t g) const { return _mm512_set1_ps(x_scale[static_cast<size_t>(r) * groups + g]); }
  int32_t sum128(int r, size_t g) const { return x_sum128[static_cast<size_t>(r) * groups + g]; }
};
#define EACH_ROW UNROLL for (int r = 0; r < R; ++r)

// Q4_K and Q5_K: codes are unsigned as they are.
template <class Kind, int R>
void few_k45(const GemmArgs& a, const UnpackedBy&, uint32_t row, uint32_t panel) {
  constexpr bool kFifth = Kind::kLineBytes != Q4K::kLineBytes;
  FewRows at(a, row, panel);
  const __m512i four = _mm512_set1_epi8(15), sixteen = _mm512_set1_epi8(16);
  __m512 acc[R];
  EACH_ROW acc[r] = _mm512_setzero_ps();
  for (uint32_t block = 0; block < a.k / 256;
       ++block, at.entry += Kind::kEntry, at.x_scale += 8, at.x_sum128 += 8, at.w += Kind::kLineBytes) {
    K4Parts parts;
    load_parts(at.entry, &parts);
    __m512 d[R];
    EACH_ROW d[r] = _mm512_setzero_ps();
    const uint8_t* w = at.w;
    __m512i bit[2] = {_mm512_set1_epi8(1), _mm512_set1_epi8(2)};
    for (uint32_t g = 0; g < 8; g += 2, at.x += 64, w += 512) {
      __m512i dot[R][2];
      EACH_ROW UNROLL for (int h = 0; h < 2; ++h) dot[r][h] = _mm512_setzero_si512();
      UNROLL for (int i = 0; i < 8; ++i) {
        prefetch(w + at.ahead + i * 64);
        const __m512i both = _mm512_loadu_si512(w + i * 64);
        __m512i code[2] = {_mm512_and_si512(both, four), _mm512_and_si512(_mm512_srli_epi16(both, 4), four)};
        if (kFifth) {
          const __m512i fifth = _mm512_loadu_si512(at.w + 2048 + i * 64);
          UNROLL for (int h = 0; h < 2; ++h) code[h] =
              _mm512_mask_add_epi8(code[h], _mm512_test_epi8_mask(fifth, bit[h]), code[h], sixteen);
        }
        UNROLL for (int h = 0; h < 2; ++h) EACH_ROW Vnni::add(dot[r][h], code[h], at.four(r, static_cast<size_t>(h * 32 + i * 4)));
      }
      UNROLL for (uint32_t h = 0; h < 2; ++h) {
        const __m512 scale = times(parts.d, _mm512_cvtepu8_epi32(load16(parts.scale[g + h])));
        EACH_ROW d[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r][h]), _mm512_mul_ps(scale, at.scale(r, g + h)), d[r]);
        bit[h] = _mm512_slli_epi16(bit[h], 2);
      }
    }
    if (kFifth) UNROLL for (int i = 0; i < 8; ++i) prefetch(w + at.ahead + i * 64);
    alignas(64) float sums[R][16];
    EACH_ROW {
      acc[r] = block ? _mm512_add_ps(acc[r], d[r]) : d[r];
      _mm512_store_ps(sums[r],
                      x_sums(at.x_sum128 + static_cast<size_t>(r) * at.groups, at.x_scale + static_cast<size_t>(r) * at.groups, 8));
    }
    for (uint32_t g = 0; g < 8; ++g) {
      const __m512 min = times(parts.d_min, _mm512_cvtepu8_epi32(load16(parts.min[g])));
      EACH_ROW acc[r] = _mm512_fmadd_ps(min, _mm512_set1_ps(sums[r][g]), acc[r]);
    }
  }
  EACH_ROW finish(a, row + static_cast<uint32_t>(r), panel, acc[r]);
}

// Q6_K: codes are 32 more than they stand for; the sums start at what takes that back.
template <int R>
void few_q6_k(const GemmArgs& a, const UnpackedBy&, uint32_t row, uint32_t panel) {
  FewRows at(a, row, panel);
  const __m512i four = _mm512_set1_epi8(15), upper = _mm512_set1_epi8(0x30);
  __m512 acc[R];
  EACH_ROW acc[r] = _mm512_setzero_ps();
  for (uint32_t block = 0; block < a.k / 256; ++block, at.entry += Q6K::kEntry, at.x_scale += 8, at.w += Q6K::kLineBytes) {
    alignas(64) int32_t start[R][64];
    EACH_ROW UNROLL for (int i = 0; i < 4; ++i) {
      const __m512i x = _mm512_loadu_si512(at.x + static_cast<size_t>(r) * at.x_stride + i * 64);
      _mm512_store_si512(start[r] + i * 16, _mm512_mullo_epi32(sums_of_16(x), _mm512_set1_epi32(-32)));
    }
    const __m512 by = load_scales<true>(reinterpret_cast<const char*>(at.entry));
    __m512 d[R];
    EACH_ROW d[r] = _mm512_setzero_ps();
    for (uint32_t half = 0; half < 2; ++half, at.x += 128) {
      const uint8_t *low = at.w + half * 1024, *high = at.w + 2048 + half * 512;
      // The runs 0 and 2, then 1 and 3, share lines of low bits.
      __m512i dot[R][4][2];
      EACH_ROW UNROLL for (uint32_t run = 0; run < 4; ++run) UNROLL for (uint32_t h = 0; h < 2; ++h) dot[r][run][h] =
          _mm512_set1_epi32(start[r][(half * 8 + run * 2 + h) * 4]);
      UNROLL for (uint32_t i = 0; i < 8; ++i) {
        UNROLL for (uint32_t j = 0; j < 3; ++j) prefetch(at.w + at.ahead + ((half * 8 + i) * 3 + j) * 64);
        const __m512i bits = _mm512_loadu_si512(high + i * 64),
                      l[2] = {_mm512_loadu_si512(low + i * 64), _mm512_loadu_si512(low + 512 + i * 64)};
        UNROLL for (uint32_t run = 0; run < 4; ++run) {
          const __m512i nibble = _mm512_and_si512(run < 2 ? l[run % 2] : _mm512_srli_epi16(l[run % 2], 4), four);
          const __m512i two = run == 0   ? _mm512_slli_epi16(bits, 4)
                              : run == 1 ? _mm512_slli_epi16(bits, 2)
                              : run == 2 ? bits
                                         : _mm512_srli_epi16(bits, 2);
          const __m512i code = _mm512_or_si512(nibble, _mm512_and_si512(two, upper));
          EACH_ROW Vnni::add(dot[r][run][i / 4], code, at.four(r, run * 32 + i * 4));
        }
      }
      UNROLL for (uint32_t run = 0; run < 4; ++run) UNROLL for (uint32_t h = 0; h < 2; ++h) {
        const uint32_t g = half * 8 + run * 2 + h;
        const __m512 scale = times(by, _mm512_cvtepi8_epi32(load16(at.entry + 32 + g * 16)));
        EACH_ROW d[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r][run][h]), _mm512_mul_ps(scale, at.scale(r, g / 2)), d[r]);
      }
    }
    EACH_ROW acc[r] = block ? _mm512_add_ps(acc[r], d[r]) : d[r];
  }
  EACH_ROW finish(a, row + static_cast<uint32_t>(r), panel, acc[r]);
}

// What a kind's codes are more than they stand for, and the scales of group g of a block, as the kinds of unpacked.h have them.
template <class Kind>
struct RowOf;
template <size_t kStep>
struct HalfRow {
  static constexpr bool kHasTable = false;
  static constexpr Table kTable = {};
  static __m512 scale(const uint8_t* entry, uint32_t g, const uint8_t*) { return first_scales(entry + g * kStep); }
  static __m512 min(const uint8_t* entry, uint32_t g) { return neg(first_scales(entry + g * kStep + 32)); }
};
template <>
struct RowOf<Iq4Nl> : HalfRow<kStepF16> {
  static constexpr int kMore = 128;
  static constexpr bool kHasTable = true;
  static constexpr Table kTable = kUneven<0x80>;
};
template <>
struct RowOf<Q41> : HalfRow<kStepF16Min> {
  static constexpr int kMore = 0;
};
// Zero4: scales and minima of 256 inputs are made before.
struct Q41Made : Q41 {};
template <>
struct RowOf<Q41Made> : RowOf<Q41> {};
template <>
struct RowOf<Q50> : HalfRow<kStepF16> {
  static constexpr int kMore = 16;
};
template <>
struct RowOf<Q51> : HalfRow<kStepF16Min> {
  static constexpr int kMore = 0;
};
template <>
struct RowOf<Iq4Xs> : HalfRow<0> {
  static constexpr int kMore = 128;
  static constexpr bool kHasTable = true;
  static constexpr Table kTable = kUneven<0x80>;
  static __m512 scale(const uint8_t* entry, uint32_t g, const uint8_t*) {
    const __m128i low = _mm_and_si128(_mm_srli_epi16(load16(entry + 64 + g / 2 * 16), static_cast<int>(g % 2 * 4)), _mm_set1_epi8(15)),
                  high = _mm_and_si128(_mm_srli_epi16(load16(entry + 32 + g / 4 * 16), static_cast<int>(g % 4 * 2)), _mm_set1_epi8(3)),
                  part = _mm_sub_epi8(_mm_or_si128(low, _mm_slli_epi16(high, 4)), _mm_set1_epi8(32));
    return times(first_scales(entry), _mm512_cvtepi8_epi32(part));
  }
};
template <>
struct RowOf<Mxfp4> : HalfRow<0> {
  static constexpr int kMore = 128;
  static constexpr bool kHasTable = true;
  static constexpr Table kTable = kE2m1<0x80>;
  static __m512 scale(const uint8_t* entry, uint32_t g, const uint8_t*) {
    const __m512i e = _mm512_cvtepu8_epi32(load16(entry + g * 16)), one = _mm512_set1_epi32(1);
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(_mm512_slli_epi32(_mm512_sub_epi32(e, one), 23), _mm512_cmple_epi32_mask(e, one),
                                                      _mm512_set1_epi32(0x200000), e));
  }
};

// NVFP4's scales are made of sixteen a group, see unpacked.h.
template <>
struct RowOf<Nvfp4> : HalfRow<0> {
  static constexpr int kMore = 128;
  static constexpr bool kHasTable = true;
  static constexpr Table kTable = kE2m1<0x80>;
  // As an f16 an e4m3 is a 256th of what it is: the outer factors make up for that, and halve it.
  static __m512 scale(const uint8_t* entry, uint32_t g, const uint8_t* end) {
    const __m128i v = load16(entry + g * 16),
                  bits = _mm_and_si128(_mm_maskz_mov_epi8(_mm_cmpneq_epi8_mask(v, _mm_set1_epi8(127)), v), _mm_set1_epi8(127));
    const __m512 s = _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(bits), 7)), up = _mm512_set1_ps(128.0f);
    return _mm512_fmadd_ps(s, _mm512_mul_ps(_mm512_loadu_ps(end - 128), up),
                           _mm512_mul_ps(s, _mm512_mul_ps(_mm512_loadu_ps(end - 64), up)));
  }
};

// A few rows by nibbles, of which a byte has inputs i and i + half a group.
template <class Kind, int R>
void few_nibbles(const GemmArgs& a, const UnpackedBy& by, uint32_t row, uint32_t panel) {
  using Of = RowOf<Kind>;
  constexpr bool kMade = __is_same(Kind, Q41Made);
  constexpr int kLines = Kind::kGroup / 8;
  constexpr bool kFifth = Kind::kLineBytes > 2048;
  constexpr uint32_t kGroup = Kind::kGroup;
  FewRows at(a, row, panel);
  const __m512i four = _mm512_set1_epi8(15), sixteen = _mm512_set1_epi8(16), first = _mm512_set1_epi32(0x08040201),
                second = _mm512_slli_epi32(first, 4);
  const __m512i table = Of::kHasTable ? _mm512_broadcast_i32x4(load16(reinterpret_cast<const uint8_t*>(Of::kTable.of))) : four;
  __m512 acc[R];
  EACH_ROW acc[r] = _mm512_setzero_ps();
  for (uint32_t from = 0; from < a.k; from += 256, at.entry += kMade ? by.entry : Kind::kEntry, at.x_scale += 8, at.x_sum128 += 8) {
    const uint32_t k = a.k - from < 256 ? a.k - from : 256, groups = k / kGroup;
    alignas(64) float scales[8][16], minima[8][16];
    if (kMade) by.scales(at.entry, k, {nullptr, 0, 0, scales[0], minima[0], 16, 16, 0, nullptr});
    alignas(64) int32_t start[R][64];  // of sixteens, each four times
    if (kGroup == 16) {
      EACH_ROW for (uint32_t i = 0; i < k; i += 64) {
        const __m512i x =
            _mm512_maskz_loadu_epi32(static_cast<__mmask16>(k - i < 64 ? 0xFF : 0xFFFF), at.x + static_cast<size_t>(r) * at.x_stride + i);
        _mm512_store_si512(start[r] + i / 4, _mm512_slli_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), sums_of_16(x)), 7));
      }
    }
    __m512 d[R];
    EACH_ROW d[r] = _mm512_setzero_ps();
    for (uint32_t g = 0; g < groups; ++g, at.x += kGroup, at.w += Kind::kLineBytes / 256 * kGroup) {
      __m512i dot[R][2];
      EACH_ROW {
        dot[r][0] = _mm512_set1_epi32(kGroup == 16 ? start[r][g * 4]
                                      : Of::kMore  ? at.sum128(r, g) / (128 / (Of::kMore ? Of::kMore : 1))
                                                   : 0);
        dot[r][1] = _mm512_setzero_si512();
      }
      const __m512i fifth = kFifth ? _mm512_loadu_si512(at.w + 256) : four;
      if (kFifth) prefetch(at.w + at.ahead + 256);
      UNROLL for (int t = 0; t < kLines; ++t) {
        prefetch(at.w + at.ahead + t * 64);
        const __m512i both = _mm512_loadu_si512(at.w + t * 64);
        __m512i code[2] = {_mm512_and_si512(both, four), _mm512_and_si512(_mm512_srli_epi16(both, 4), four)};
        UNROLL for (int h = 0; h < 2; ++h) {
          if (Of::kHasTable) code[h] = _mm512_shuffle_epi8(table, code[h]);
          if (kFifth) {  // the byte of these four inputs and the next or last, in all four
            const __m512i eight = _mm512_shuffle_epi8(fifth, _mm512_add_epi8(_mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0),
                                                                             _mm512_set1_epi8(static_cast<char>(h * 2 + t / 2))));
            code[h] = _mm512_mask_add_epi8(code[h], _mm512_test_epi8_mask(eight, t % 2 ? second : first), code[h], sixteen);
          }
          EACH_ROW Vnni::add(dot[r][h], code[h], at.four(r, static_cast<size_t>(h) * kGroup / 2 + static_cast<size_t>(t) * 4));
        }
      }
      const __m512 scale = kMade ? _mm512_load_ps(scales[g]) : Of::scale(at.entry, g, at.end);
      EACH_ROW d[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(dot[r][0], dot[r][1])),
                                      _mm512_mul_ps(scale, at.scale(r, g * kGroup / 32)), d[r]);
    }
    EACH_ROW acc[r] = from ? _mm512_add_ps(acc[r], d[r]) : d[r];
    if (Kind::kMin) {
      alignas(64) float sums[R][16];
      EACH_ROW _mm512_store_ps(
          sums[r], x_sums(at.x_sum128 + static_cast<size_t>(r) * at.groups, at.x_scale + static_cast<size_t>(r) * at.groups, groups));
      for (uint32_t g = 0; g < groups; ++g) {
        const __m512 min = kMade ? _mm512_load_ps(minima[g]) : Of::min(at.entry, g);
        EACH_ROW acc[r] = _mm512_fmadd_ps(min, _mm512_set1_ps(sums[r][g]), acc[r]);
      }
    }
  }
  EACH_ROW finish(a, row + static_cast<uint32_t>(r), panel, acc[r]);
}

// Two bits, and where a code is 4 more than it stands for a third one; of groups of 16 the sums of x are made here.
template <>
struct RowOf<Tq2> {
  static constexpr int kMore = 1;
  static __m512 scale(const uint8_t* entry, uint32_t) { return first_scales(entry); }
};
template <>
struct RowOf<Q2K> {
  static constexpr int kMore = 0;
  static __m512 scale(const uint8_t* entry, uint32_t g) {
    return times(first_scales(entry), _mm512_cvtepu8_epi32(_mm_and_si128(load16(entry + 64 + g * 16), _mm_set1_epi8(15))));
  }
  static __m512 min(const uint8_t* entry, uint32_t g) {
    return times(first_scales(entry + 32),
                 _mm512_cvtepu8_epi32(_mm_and_si128(_mm_srli_epi16(load16(entry + 64 + g * 16), 4), _mm_set1_epi8(15))));
  }
};
template <>
struct RowOf<Q3K> {
  static constexpr int kMore = 4;
  static __m512 scale(const uint8_t* entry, uint32_t g) {
    const __m128i low = _mm_and_si128(_mm_srli_epi16(load16(entry + 32 + g % 8 * 16), static_cast<int>(g / 8 * 4)), _mm_set1_epi8(15)),
                  high = _mm_and_si128(_mm_srli_epi16(load16(entry + 160 + g % 4 * 16), static_cast<int>(g / 4 * 2)), _mm_set1_epi8(3)),
                  part = _mm_sub_epi8(_mm_or_si128(low, _mm_slli_epi16(high, 4)), _mm_set1_epi8(32));
    return times(first_scales(entry), _mm512_cvtepi8_epi32(part));
  }
};

template <class Kind, int R>
void few_two_bits(const GemmArgs& a, const UnpackedBy&, uint32_t row, uint32_t panel) {
  using Of = RowOf<Kind>;
  constexpr bool kThird = Kind::kLineBytes > 1024;
  constexpr uint32_t kParts = 32 / Kind::kGroup;
  FewRows at(a, row, panel);
  const __m512i two = _mm512_set1_epi8(3), four = _mm512_set1_epi8(4);
  __m512 acc[R];
  EACH_ROW acc[r] = _mm512_setzero_ps();
  for (uint32_t block = 0; block < a.k / 256;
       ++block, at.entry += Kind::kEntry, at.x_scale += 8, at.x_sum128 += 8, at.w += Kind::kLineBytes) {
    alignas(64) int32_t sum[R][4][16];  // of sixteens, each four times
    if (kParts == 2)
      EACH_ROW UNROLL for (int i = 0; i < 4; ++i)
          _mm512_store_si512(sum[r][i], sums_of_16(_mm512_loadu_si512(at.x + static_cast<size_t>(r) * at.x_stride + i * 64)));
    const auto sum_of = [&](int r, uint32_t g) { return kParts == 2 ? sum[r][g / 4][g % 4 * 4] : at.sum128(r, g) / -128; };
    __m512 d[R];
    EACH_ROW d[r] = _mm512_setzero_ps();
    for (uint32_t half = 0; half < 2; ++half, at.x += 128) {
      const uint8_t* w = at.w + half * 512;
      __m512i dot[R][4][kParts];
      EACH_ROW UNROLL for (uint32_t q = 0; q < 4; ++q) UNROLL for (uint32_t p = 0; p < kParts; ++p) dot[r][q][p] =
          Of::kMore ? _mm512_set1_epi32(-Of::kMore * sum_of(r, (half * 4 + q) * kParts + p)) : _mm512_setzero_si512();
      UNROLL for (uint32_t t = 0; t < 8; ++t) {
        prefetch(w + at.ahead + t * 64);
        if (kThird && half) prefetch(at.w + at.ahead + 1024 + t * 64);
        const __m512i v = _mm512_loadu_si512(w + t * 64);
        __m512i third = v;
        if (kThird) third = _mm512_srl_epi16(_mm512_loadu_si512(at.w + 1024 + t * 64), _mm_cvtsi32_si128(half ? 4 : 0));
        UNROLL for (uint32_t q = 0; q < 4; ++q) {
          __m512i code = _mm512_and_si512(_mm512_srli_epi16(v, q * 2), two);
          if (kThird) {
            const __m512i at_four = q < 2 ? _mm512_slli_epi16(third, 2 - q) : _mm512_srli_epi16(third, q - 2);
            code = _mm512_ternarylogic_epi32(code, at_four, four, 0xF8);  // code or (at_four and four)
          }
          EACH_ROW Vnni::add(dot[r][q][t * kParts / 8], code, at.four(r, q * 32 + t * 4));
        }
      }
      UNROLL for (uint32_t q = 0; q < 4; ++q) UNROLL for (uint32_t p = 0; p < kParts; ++p) {
        const uint32_t i = half * 4 + q;
        const __m512 scale = Of::scale(at.entry, i * kParts + p);
        EACH_ROW d[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[r][q][p]), _mm512_mul_ps(scale, at.scale(r, i)), d[r]);
      }
    }
    EACH_ROW acc[r] = block ? _mm512_add_ps(acc[r], d[r]) : d[r];
    if constexpr (Kind::kMin) {
      for (uint32_t g = 0; g < 256 / Kind::kGroup; ++g) {
        const __m512 min = Of::min(at.entry, g);
        EACH_ROW acc[r] =
            _mm512_fmadd_ps(min, _mm512_mul_ps(_mm512_set1_ps(static_cast<float>(-sum_of(r, g))), at.scale(r, g / kParts)), acc[r]);
      }
    }
  }
  EACH_ROW finish(a, row + static_cast<uint32_t>(r), panel, acc[r]);
}

// Of kinds that have products of their own for 1, 2 and 4 rows, or some of these.
struct Few {
  void (*of[3])(const GemmArgs& a, const UnpackedBy& by, uint32_t row, uint32_t panel);
};
template <class Kind>
constexpr Few kFew = {};
template <uint32_t kOf, bool kAdded>
constexpr Few kFew<Zero4<kOf, kAdded>> = {{few_nibbles<Q41Made, 1>, few_nibbles<Q41Made, 2>}};
template <>
constexpr Few kFew<Q4K> = {{few_k45<Q4K, 1>, few_k45<Q4K, 2>, few_k45<Q4K, 4>}};
template <>
constexpr Few kFew<Q5K> = {{few_k45<Q5K, 1>, few_k45<Q5K, 2>, few_k45<Q5K, 4>}};
template <>
constexpr Few kFew<Q6K> = {{few_q6_k<1>, few_q6_k<2>}};
#define LINNET_FEW_NIBBLES(kind) \
  template <>                    \
  constexpr Few kFew<kind> = {{few_nibbles<kind, 1>, few_nibbles<kind, 2>}};
LINNET_FEW_NIBBLES(Q41)
LINNET_FEW_NIBBLES(Q50)
LINNET_FEW_NIBBLES(Q51)
LINNET_FEW_NIBBLES(Iq4Nl)
LINNET_FEW_NIBBLES(Nvfp4)
template <>
constexpr Few kFew<Iq4Xs> = {{few_nibbles<Iq4Xs, 1>, few_nibbles<Iq4Xs, 2>, few_nibbles<Iq4Xs, 4>}};
template <>
constexpr Few kFew<Mxfp4> = {{few_nibbles<Mxfp4, 1>, few_nibbles<Mxfp4, 2>, few_nibbles<Mxfp4, 4>}};
template <>
constexpr Few kFew<Q2K> = {{few_two_bits<Q2K, 1>, few_two_bits<Q2K, 2>}};
template <>
constexpr Few kFew<Q3K> = {{few_two_bits<Q3K, 1>, few_two_bits<Q3K, 2>}};
template <>
constexpr Few kFew<Tq2> = {{few_two_bits<Tq2, 1>, few_two_bits<Tq2, 2>, few_two_bits<Tq2, 4>}};

// From so many rows on, panels are unpacked once for all of them.
constexpr uint32_t kManyRows = 12;

__attribute__((noinline)) void gemm_gguf(GemmArgs a, const UnpackedBy& by, const Few& few) {
  const BlockFormat f = {gguf_fill, by.lines / kBlockK, by.entry, false, by.group, by.min, &by};
  const uint32_t done = a.m >= (few.of[0] ? kManyRows : 2) ? block_gemm<Vnni>(a, f) : 0;
  if (done == a.n_panels) return;
  a.w = static_cast<const uint8_t*>(a.w) + done * a.w_stride;
  a.w_scale = static_cast<const uint8_t*>(a.w_scale) + done * a.w_scale_stride;
  if (a.bias) a.bias += done * size_t{16};
  a.y += done * size_t{16};
  a.n_panels -= done;
  if (!few.of[0] || a.m >= kManyRows) return unpacked(a, by);
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t left = a.m - row, i = left >= 4 && few.of[2] ? 2 : left >= 2 ? 1 : 0;
      few.of[i](a, by, row, panel);
      row += 1u << i;
    }
}

template <class Kind>
void gemm_blocks(const GemmArgs* a) {
  static constexpr UnpackedBy kBy = unpacked_by<Kind, product_of_unsigned, 0x80>();
  gemm_gguf(*a, kBy, kFew<Kind>);
}

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) {LINNET_##NAME, 1, gemm_blocks<kind>, peak_int8},
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
