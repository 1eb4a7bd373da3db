// AMX-INT8, bit-equal to scalar.cpp: many rows by integer weights. A panel's 16 groups of four inputs are a tile of 16 rows of 64 bytes as
// they lie, and tdpbssd multiplies signed bytes by signed ones: sixteen rows of x by sixteen outputs by 64 inputs, or a group of 32, at a
// time. Few rows go to avx512_vnni.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "amx.cpp needs the flags of avx512_vnni.cpp"
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "avx512.h"

namespace linnet {
namespace {

// Linux keeps the tiles' 8 KiB per thread only for processes that ask.
const char* start() {
#if !defined(__linux__)
  return "linnet asks Linux alone for its tiles";
#else
  constexpr long kAsk = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kAsk, kTileData) == 0 ? nullptr : "the operating system refuses its tiles";
#endif
}

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, none[14] = {};
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
constexpr TileShapes kShapes = {.row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
constexpr TileShapes kShapes32 = {.row_bytes = {64, 64, 64, 64, 32, 32, 64, 64},
                                  .rows = {16, 16, 16, 16, 16, 16, 8, 8}};  // groups of 32 inputs: half as much of x and of weights

// Intrinsics of GCC 12 name eight bytes of the shapes as what they read.
struct Tiles {
  explicit Tiles(const TileShapes& shapes = kShapes) { asm volatile("ldtilecfg %0" ::"m"(shapes)); }
  ~Tiles() { asm volatile("tilerelease" ::: "memory"); }
  Tiles(const Tiles&) = delete;
};

template <int T>
inline __attribute__((always_inline)) void tile_load(const void* p, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(T) : "memory");
}
template <int T>
inline __attribute__((always_inline)) void tile_store(void* p) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(size_t{64}), "i"(T) : "memory");
}
template <int T>
inline __attribute__((always_inline)) void tile_zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(T) : "memory");
}
template <int T, int X, int W>
inline __attribute__((always_inline)) void tile_dot() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(T), "i"(X), "i"(W) : "memory");
}

constexpr uint32_t kRows = 16, kPanels = 4, kMaxGroup = 128;
constexpr uint32_t kTileRows = 64;  // whose sums, with a group's inputs and weights, stay in the first-level cache

// Sixteen rows by four panels by a group: where its dots go, scaled.
struct Step {
  const float* in;       // [panel][row][16] sums before this group
  float* out;            // and with it, may be `in`
  const float* x_scale;  // of the first row; the next one's x_groups further
  const char* w_scale;   // of the first panel
};

struct TileBlock {
  alignas(64) int32_t dot[kPanels][16][16];
  Step last;              // whose dots are in tiles 0 to 3
  size_t x_scale_stride;  // bytes, as are the others
  size_t w_scale_stride, w_stride;
  const int8_t* soon;  // rows of the next step
  size_t soon_stride;
  char apart[1976];  // dot and acc at the same place of a page, but for half of it: a load waits for an older store of the same lower
                     // twelve bits
  alignas(64) float acc[kTileRows / kRows][kPanels][16][16];
  alignas(64) float zeros[kPanels][16][16];
  alignas(64) int8_t w[kPanels][kMaxGroup * 16];  // codes of a group that are not bytes, or no multiple of 64
  alignas(64) int8_t x[kRows][kMaxGroup];         // inputs of the latter
};
static_assert(offsetof(TileBlock, dot) == 0 && offsetof(TileBlock, acc) % 4096 == 2048);

// Sixteen rows of x by four panels by what a tile holds of inputs or twice that (kTwo), and between these products the scales of the last
// step's: out = fmaf(dot, w_scale * x_scale, in). All of it is one asm: what compilers put between the rows takes the ports that these
// need, and doubled the time. zmm16 to 31: the rows' x_scale.
template <bool kF16, bool kTwo>
__attribute__((noinline)) void step(TileBlock* b, const int8_t* x, size_t x_stride, const int8_t* w) {
  const char* w_scale = b->last.w_scale;
  const float *in = b->last.in, *x_scale = b->last.x_scale;
  float* out = b->last.out;
  size_t stride3;
  // clang-format off: instructions, a step a line
#define LINNET_ROW(P, r, xs)                                                                                                             \
  "vcvtdq2ps " #P "*1024+" #r "*64(%[b]), %%zmm1\n\tvmulps %%zmm" #xs ", %%zmm0, %%zmm2\n\t"                                             \
  "vfmadd213ps " #P "*1024+" #r "*64(%[in]), %%zmm2, %%zmm1\n\tvmovaps %%zmm1, " #P "*1024+" #r "*64(%[out])\n\t"
#define LINNET_SOON(at) "prefetcht0 " at "\n\tprefetcht0 64" at "\n\t"
#define LINNET_ROWS(P)                                                                                                                   \
  LINNET_ROW(P, 0, 16) LINNET_ROW(P, 1, 17) LINNET_ROW(P, 2, 18) LINNET_SOON("(%[x])") LINNET_ROW(P, 3, 19) LINNET_ROW(P, 4, 20)         \
  LINNET_ROW(P, 5, 21) LINNET_ROW(P, 6, 22) LINNET_SOON("(%[x],%[stride])") LINNET_ROW(P, 7, 23) LINNET_ROW(P, 8, 24)                    \
  LINNET_ROW(P, 9, 25) LINNET_ROW(P, 10, 26) LINNET_SOON("(%[x],%[stride],2)") LINNET_ROW(P, 11, 27) LINNET_ROW(P, 12, 28)               \
  LINNET_ROW(P, 13, 29) LINNET_ROW(P, 14, 30) LINNET_SOON("(%[x],%[stride3])") LINNET_ROW(P, 15, 31)
#define LINNET_FIRST(P) "tileloadd (%[w],%[line],1), %%tmm6\n\ttdpbssd %%tmm6, %%tmm4, %%tmm" #P "\n\t"
#define LINNET_BOTH(P) LINNET_FIRST(P) "tileloadd 1024(%[w],%[line],1), %%tmm7\n\ttdpbssd %%tmm7, %%tmm5, %%tmm" #P "\n\t"
#define LINNET_PANEL(P, DOTS, SCALES)                                                                                                    \
  "tilestored %%tmm" #P ", " #P "*1024(%[b],%[line],1)\n\ttilezero %%tmm" #P "\n\t" DOTS(P) SCALES " (%[ws]), %%zmm0\n\t"                \
  LINNET_ROWS(P)                                                                                                                         \
  "add %c[w_stride](%[b]), %[w]\n\tadd %c[ws_stride](%[b]), %[ws]\n\tlea (%[x],%[stride],4), %[x]\n\t"
#define LINNET_SCALE(at, to) "vbroadcastss " at ", %%zmm" #to "\n\t"
#define LINNET_STEP(SECOND, DOTS, SCALES)                                                                                                \
  asm volatile("tileloadd (%[x],%[stride],1), %%tmm4\n\t" SECOND                                                                         \
               "mov %c[xs_stride](%[b]), %[stride]\n\tlea (%[stride],%[stride],2), %[stride3]\n\t"                                       \
               LINNET_SCALE("(%[xs])", 16) LINNET_SCALE("(%[xs],%[stride])", 17)                                                         \
               LINNET_SCALE("(%[xs],%[stride],2)", 18) LINNET_SCALE("(%[xs],%[stride3])", 19)                                            \
               LINNET_SCALE("(%[xs],%[stride],4)", 20) LINNET_SCALE("(%[xs],%[stride3],2)", 22)                                          \
               LINNET_SCALE("(%[xs],%[stride],8)", 24) LINNET_SCALE("(%[xs],%[stride3],4)", 28) "add %[stride], %[xs]\n\t"               \
               LINNET_SCALE("(%[xs],%[stride],4)", 21) LINNET_SCALE("(%[xs],%[stride3],2)", 23)                                          \
               LINNET_SCALE("(%[xs],%[stride],8)", 25) LINNET_SCALE("(%[xs],%[stride3],4)", 29) "add %[stride], %[xs]\n\t"               \
               LINNET_SCALE("(%[xs],%[stride],8)", 26) LINNET_SCALE("(%[xs],%[stride3],4)", 30) "add %[stride], %[xs]\n\t"               \
               LINNET_SCALE("(%[xs],%[stride],8)", 27) LINNET_SCALE("(%[xs],%[stride3],4)", 31)                                          \
               "mov %c[soon](%[b]), %[x]\n\tmov %c[soon_stride](%[b]), %[stride]\n\tlea (%[stride],%[stride],2), %[stride3]\n\t"         \
               LINNET_PANEL(0, DOTS, SCALES) LINNET_PANEL(1, DOTS, SCALES) LINNET_PANEL(2, DOTS, SCALES) LINNET_PANEL(3, DOTS, SCALES)   \
               : [x] "+&r"(x), [stride] "+&r"(x_stride), [w] "+&r"(w), [ws] "+&r"(w_scale), [xs] "+&r"(x_scale),                         \
                 [stride3] "=&r"(stride3)                                                                                                \
               : [b] "r"(b), [in] "r"(in), [out] "r"(out), [line] "r"(size_t{64}),                                                       \
                 [xs_stride] "i"(offsetof(TileBlock, x_scale_stride)), [ws_stride] "i"(offsetof(TileBlock, w_scale_stride)),             \
                 [w_stride] "i"(offsetof(TileBlock, w_stride)), [soon] "i"(offsetof(TileBlock, soon)),                                   \
                 [soon_stride] "i"(offsetof(TileBlock, soon_stride))                                                                     \
               : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",         \
                 "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31")
// clang-format on
#define LINNET_X2 "tileloadd 64(%[x],%[stride],1), %%tmm5\n\t"
  if constexpr (kTwo && kF16)
    LINNET_STEP(LINNET_X2, LINNET_BOTH, "vcvtph2ps");
  else if constexpr (kTwo)
    LINNET_STEP(LINNET_X2, LINNET_BOTH, "vmovups");
  else if constexpr (kF16)
    LINNET_STEP("", LINNET_FIRST, "vcvtph2ps");
  else
    LINNET_STEP("", LINNET_FIRST, "vmovups");
#undef LINNET_X2
#undef LINNET_STEP
#undef LINNET_SCALE
#undef LINNET_PANEL
#undef LINNET_BOTH
#undef LINNET_FIRST
#undef LINNET_ROWS
#undef LINNET_SOON
#undef LINNET_ROW
}

// The scales of what is left in the tiles.
void finish(TileBlock* b, bool f16) {
  tile_store<0>(b->dot[0]);
  tile_store<1>(b->dot[1]);
  tile_store<2>(b->dot[2]);
  tile_store<3>(b->dot[3]);
  const Step s = b->last;
  const size_t x_stride = b->x_scale_stride / sizeof(float);
  for (uint32_t p = 0; p < kPanels; ++p) {
    const char* at = s.w_scale + p * b->w_scale_stride;
    const __m512 ws = f16 ? _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))) : _mm512_loadu_ps(at);
    const float* xs = s.x_scale;
    UNROLL for (uint32_t r = 0; r < 16; ++r, xs += x_stride) {
      const size_t i = p * 256 + r * 16;
      _mm512_store_ps(s.out + i, _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(b->dot[p][r])),
                                                 _mm512_mul_ps(ws, _mm512_set1_ps(*xs)), _mm512_load_ps(s.in + i)));
    }
  }
}

// Codes of n inputs (a multiple of 32) of four panels as signed bytes, zeros up to whole tiles.
void bytes_of(const GemmArgs& a, Codes codes, const int8_t* w, const char* w_scale, uint32_t n, TileBlock* b) {
  const __m512i low = _mm512_set1_epi8(15);
  for (uint32_t p = 0; p < kPanels; ++p, w += a.w_stride, w_scale += a.w_scale_stride) {
    const int8_t* from = w;
    int8_t *to = b->w[p], *const end = to + (a.x_group == 32 ? n : (n + 63) / 64 * 64) * 16;
    __m512i zero = _mm512_set1_epi8(8);
    if (codes == kNibblesZero)
      zero = _mm512_mullo_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w_scale + 32))),
                                _mm512_set1_epi32(0x01010101));
    if (codes == kBytes) {
      for (uint32_t i = 0; i < n; i += 4, to += 64, from += 64) _mm512_store_si512(to, _mm512_loadu_si512(from));
    } else {
      for (uint32_t i = 0; i < n; i += 8, to += 128, from += 64) {
        const __m512i v = _mm512_loadu_si512(from);
        _mm512_store_si512(to, _mm512_sub_epi8(_mm512_and_si512(v, low), zero));
        _mm512_store_si512(to + 64, _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(v, 4), low), zero));
      }
    }
    for (; to != end; to += 64) _mm512_store_si512(to, _mm512_setzero_si512());
  }
}

// n inputs (a multiple of 32) of a step's rows, zeros up to a multiple of 64.
void pad_rows(const int8_t* x, size_t x_stride, uint32_t n, int8_t (*to)[kMaxGroup]) {
  for (uint32_t r = 0; r < kRows; ++r, x += x_stride)
    for (uint32_t i = 0; i < (n + 63) / 64 * 64; i += 32)
      _mm256_store_si256(reinterpret_cast<__m256i*>(to[r] + i),
                         i < n ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)) : _mm256_setzero_si256());
}

// `rows` rows from `row` by four panels, of which those from new_panel on are stored. The last sixteen rows may reach back into those
// before.
void tile_block(const GemmArgs& a, Codes kind, bool f16, size_t scale_step, uint32_t row, uint32_t rows, uint32_t panel, uint32_t new_panel,
                TileBlock* b) {
  const size_t input = kind == kBytes ? 16 : 8;  // bytes of a panel
  const uint32_t k = (a.k + 31) / 32 * 32, steps = (rows + kRows - 1) / kRows, groups = (k - 1) / a.x_group + 1;
  // Rows of y are asked for by all steps: many at once would keep weights from coming.
  const size_t y_stride = a.y_stride;
  const float *y = a.y + row * y_stride + panel * size_t{16}, *const y_end = y + rows * y_stride;
  const uint32_t y_asked = (rows - 1) / (steps * groups) + 1;
  uint32_t first[kTileRows / kRows];
  for (uint32_t s = 0; s < steps; ++s) first[s] = row + s * kRows + kRows <= a.m ? row + s * kRows : a.m - kRows;
  const int8_t *codes = static_cast<const int8_t*>(a.w) + panel * a.w_stride, *all_x = static_cast<const int8_t*>(a.x);
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  // All steps of these panels share in asking for the next ones, which may be in memory. Few rows would have to ask for many lines each,
  // more than a core waits for.
  const size_t next = kPanels * a.w_stride, asked = a.m < kTileRows ? 0 : next * kRows / a.m / groups + 1;
  const int8_t* ask = codes + next + next * row / a.m;
  b->last = {b->zeros[0][0], b->acc[0][0][0], a.x_scale, w_scale};  // of whatever the tiles hold: the second step writes acc[0] anew
  for (uint32_t from = 0, g = 0; from < k; from += a.x_group, ++g, codes += a.x_group * input, w_scale += scale_step) {
    const uint32_t n = k - from < a.x_group ? k - from : a.x_group;
    const bool padded = a.x_group != 32 && n % 64 != 0, copied = kind != kBytes || padded;
    if (copied) bytes_of(a, kind, codes, w_scale, n, b);
    const int8_t* w = copied ? b->w[0] : codes;
    b->w_stride = copied ? sizeof b->w[0] : a.w_stride;
    for (uint32_t s = 0; s < steps; ++s, ask += asked) {
      for (uint32_t i = 0; i < y_asked && y != y_end; ++i, y += y_stride)
        UNROLL for (uint32_t p = 0; p < kPanels; ++p) asm volatile("prefetchw %0" ::"m"(y[p * 16]));
      for (size_t i = 0; i < asked; i += 64) _mm_prefetch(reinterpret_cast<const char*>(ask + i), _MM_HINT_T1);
      const int8_t* x = all_x + first[s] * a.x_stride + from;
      b->soon = s + 1 < steps ? all_x + first[s + 1] * a.x_stride + from : all_x + first[0] * a.x_stride + from + n;
      if (padded) pad_rows(x, a.x_stride, n, b->x), x = b->x[0];
      (n > 64 ? f16 ? step<true, true> : step<false, true>
       : f16 ? step<true, false>
              : step<false, false>)(b, x, padded ? kMaxGroup : a.x_stride, w);
      b->last = {g ? b->acc[s][0][0] : b->zeros[0][0], b->acc[s][0][0], a.x_scale + first[s] * size_t{a.x_groups} + g, w_scale};
    }
  }
  finish(b, f16);
  const GemmArgs plain = a;  // nothing that is stored changes it: it stays in registers
  for (uint32_t s = 0; s < steps; ++s)
    for (uint32_t r = row + s * kRows - first[s]; r < kRows; ++r) {
      const float(*acc)[16] = b->acc[s][0] + r;
      float* to = plain.y + (first[s] + r) * y_stride + panel * size_t{16};
      for (uint32_t p = new_panel - panel; p < kPanels; ++p) store_at(plain, to + p * 16, panel + p, _mm512_load_ps(acc[p * 16]));
    }
}

__attribute__((noinline)) void tile_gemm(const GemmArgs& a, Codes kind, bool f16, size_t scale_step) {
  const Tiles tiles(a.x_group == 32 ? kShapes32 : kShapes);
  TileBlock b;
  __builtin_memset(b.zeros, 0, sizeof b.zeros);
  b.x_scale_stride = a.x_groups * sizeof(float);
  b.w_scale_stride = a.w_scale_stride;
  b.soon_stride = a.x_stride;
  for (uint32_t panel = 0; panel < a.n_panels; panel += kPanels)
    for (uint32_t row = 0; row < a.m; row += kTileRows)
      tile_block(a, kind, f16, scale_step, row, a.m - row < kTileRows ? a.m - row : kTileRows,
                 panel + kPanels <= a.n_panels ? panel : a.n_panels - kPanels, panel, &b);
}

// Attention's FP8 keys, which are i8 in groups of 32, come four panels at a time: AVX-512 is a little faster.
template <linnet_format kFormat, Codes kCodes, bool kF16, size_t kScaleStep>
void gemm(const GemmArgs* args) {
  if (args->m < kRows || args->n_panels < kPanels || (kFormat == LINNET_I8 && args->x_group == 32) ||
      (kCodes == kNibblesZero && !zeros_fit(*args, kScaleStep)))
    return vnni_gemm(kFormat).run(args);
  size_t scale_step = kScaleStep;
  Codes kind = kCodes;
  asm("" : "+r"(scale_step), "+r"(kind));  // GCC would make a copy of 4 kB for each
  tile_gemm(*args, kind, kF16, scale_step);
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// Sixteen rows and more; weights of 7 bits are signed bytes as well. Of 16 channels the tokens of four pages become a tile, by a copy, for
// all rows.
void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
             const float* p_scale, float* acc, size_t acc_stride, Fetch* next) {
  if (rows < kRows) return avx512_vnni_table.attn_pv(hi, lo, rows, pages, n_pages, d_panels, p_scale, acc, acc_stride, next);
  const Tiles tiles;
  alignas(64) int8_t v[256 * 16];  // (n_tiles, 16 groups of four tokens, 16 channels, 4)
  alignas(64) int32_t dot[4][16][16];
  alignas(64) uint8_t ends[4][kRows][64];  // weights of up to three pages; what lies behind them is multiplied by zeros
  const uint32_t n_tiles = (n_pages + 3) / 4;
  for (uint32_t i = n_pages * 256; i < n_tiles * 1024; i += 64) _mm512_store_si512(v + i, _mm512_setzero_si512());
  for (uint32_t d = 0; d < d_panels; ++d) {
    for (uint32_t i = 0; i < n_pages; ++i)
      UNROLL for (uint32_t j = 0; j < 256; j += 64) _mm512_store_si512(v + i * 256 + j, _mm512_loadu_si512(pages[i] + d * size_t{256} + j));
    for (uint32_t row = 0; row < rows; row += 2 * kRows) {  // the last rows may be some that were there before
      const uint32_t first = row + kRows <= rows ? row : rows - kRows, second = row + 2 * kRows <= rows ? row + kRows : rows - kRows;
      tile_zero<0>(), tile_zero<1>(), tile_zero<2>(), tile_zero<3>();
      const uint8_t* planes[4] = {hi + first * size_t{256}, lo + first * size_t{256}, hi + second * size_t{256}, lo + second * size_t{256}};
      const auto tile = [&](uint32_t t, size_t stride) {
        tile_load<6>(v + t * 1024, 64);
        tile_load<4>(planes[0], stride);
        tile_dot<0, 4, 6>();
        tile_load<5>(planes[1], stride);
        tile_dot<1, 5, 6>();
        tile_load<4>(planes[2], stride);
        tile_dot<2, 4, 6>();
        tile_load<5>(planes[3], stride);
        tile_dot<3, 5, 6>();
      };
      uint32_t t = 0;
      for (; t < n_pages / 4; ++t) {
        tile(t, 256);
        for (const uint8_t*& p : planes) p += 64;
      }
      if (t < n_tiles) {  // the last row's weights may end where memory does
        for (int i = 0; i < 4; ++i) {
          for (uint32_t r = 0; r < kRows; ++r) __builtin_memcpy(ends[i][r], planes[i] + r * 256, n_pages % 4 * 16);
          planes[i] = ends[i][0];
        }
        tile(t, 64);
      }
      tile_store<0>(dot[0]), tile_store<1>(dot[1]), tile_store<2>(dot[2]), tile_store<3>(dot[3]);
      for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t from = half ? second : first;
        UNROLL for (uint32_t r = 0; r < kRows; ++r) {
          const __m512i sum =
              _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(dot[half * 2][r]), 7), _mm512_load_si512(dot[half * 2 + 1][r]));
          _mm512_storeu_ps(acc + (from + r) * acc_stride + d * size_t{16},
                           _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(p_scale[from + r])));
        }
      }
    }
  }
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

// What no kernel of groups can leave out: of a group 16 rows by 16 outputs, its products, its sums, which reach the registers through
// memory alone, and their scales.
template <int P>
inline __attribute__((always_inline)) void peak_unit(int32_t (*dot)[16][16], uint32_t group, __m512 ws, __m512 xs, __m512* acc) {
  tile_store<P>(dot[P]);
  tile_zero<P>();
  tile_dot<P, 4, 6>();
  if (group == 128) tile_dot<P, 5, 7>();
  UNROLL for (int r = 0; r < 16; ++r) {
    __m512 s;
    asm volatile("vmulps %1, %2, %0" : "=v"(s) : "v"(ws), "v"(xs));
    acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(dot[(P + 1) % 4][r])), s, acc[r]);
  }
}
uint64_t peak(uint64_t n, uint32_t group) {
  asm("" : "+r"(group));  // one copy
  const Tiles tiles(group == 32 ? kShapes32 : kShapes);
  alignas(64) int32_t dot[4][16][16] = {};
  tile_load<4>(dot[0], 64), tile_load<5>(dot[1], 64), tile_load<6>(dot[2], 64),
      tile_load<7>(dot[3], 64);  // products of tiles that nothing was loaded to take longer
  __m512 acc[16];
  const __m512 ws = _mm512_set1_ps(0.5f), xs = _mm512_set1_ps(0.25f);
  UNROLL for (int r = 0; r < 16; ++r) acc[r] = _mm512_setzero_ps();
  for (uint64_t i = 0; i < n; ++i) {
    peak_unit<0>(dot, group, ws, xs, acc);
    peak_unit<1>(dot, group, ws, xs, acc);
    peak_unit<2>(dot, group, ws, xs, acc);
    peak_unit<3>(dot, group, ws, xs, acc);
  }
  UNROLL for (int r = 0; r < 16; ++r) asm volatile("" ::"v"(acc[r]));
  return n * 4 * 16 * 16 * group;
}
uint64_t peak128(uint64_t n) { return peak(n, 128); }
uint64_t peak64(uint64_t n) { return peak(n, 64); }
uint64_t peak32(uint64_t n) { return peak(n, 32); }

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm < LINNET_##NAME, k##codes, kStep##scale != kStepF32, w_group ? kStep##scale : kStepNone >, peak##x_group},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable amx_table = {
    .isa = LINNET_ISA_AMX,
    .start = start,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv,
};

}  // namespace linnet
