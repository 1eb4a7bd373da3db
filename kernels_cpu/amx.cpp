// AMX-INT8, bit-equal to scalar.cpp: many rows by integer weights. A panel's 16 groups of four inputs are a tile of 16 rows of 64 bytes as they lie, and
// tdpbssd multiplies signed bytes by signed ones: sixteen rows of x by sixteen outputs by 64 inputs at a time. Few rows go to avx512_vnni.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) || !defined(__AVX512VNNI__)
#error "amx.cpp needs the flags of avx512_vnni.cpp"
#endif
#include <sys/syscall.h>
#include <unistd.h>

#include "avx512.h"

namespace linnet {
namespace {

// Linux keeps the tiles' 8 KiB per thread only for processes that ask.
const char* start() {
  constexpr long kAsk = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kAsk, kTileData) == 0 ? nullptr : "the operating system refuses its tiles";
}

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, none[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes kShapes;
alignas(64) constexpr int32_t kZeros[16] = {};

// All eight tiles are 16 rows of 64 bytes. Intrinsics of GCC 12 name eight bytes of the shapes as what they read.
struct Tiles {
  Tiles() { asm volatile("ldtilecfg %0" ::"m"(kShapes)); }
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
template <int T, int X, int W>
inline __attribute__((always_inline)) void tile_dot() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(T), "i"(X), "i"(W) : "memory");
}

constexpr uint32_t kRows = 16, kPanels = 4, kMaxGroup = 128;
constexpr uint32_t kTileRows = 32;  // whose sums, with a group's inputs and weights, leave most of the first-level cache free; 64 and 128 were slower

// Sixteen rows by four panels by a group: where its dots go, scaled.
struct Step {
  float (*acc)[16][16];  // [panel][row]
  const float* x_scale;  // of the first row; the next one's x_groups further
  const char* w_scale;   // of the first panel
};

struct TileBlock {
  alignas(64) float acc[kTileRows / kRows][kPanels][16][16];
  alignas(64) float spare[kPanels][16][16];       // for what is in tiles and dot before the first step
  alignas(64) int32_t dot[kPanels][16][16];
  alignas(64) int8_t w[kPanels][kMaxGroup * 16];  // codes of a group that are not bytes, or no multiple of 64
  alignas(64) int8_t x[kTileRows][kMaxGroup];     // inputs of the latter
  Step last, before;  // dots of the last step are in tiles 0 to 3; of the one before only panel 3's wait, in dot
};

// Rows [kFrom, kFrom + kCount) of a panel: acc = fmaf(dot, w_scale * x_scale, acc).
template <bool kF16, int kFrom, int kCount>
inline __attribute__((always_inline)) void scale_rows(const GemmArgs& a, const TileBlock& b, const Step& s, uint32_t panel) {
  const char* at = s.w_scale + panel * a.w_scale_stride;
  const __m512 ws = kF16 ? _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))) : _mm512_loadu_ps(at);
  const float* xs = s.x_scale + kFrom * size_t{a.x_groups};
  UNROLL for (int r = kFrom; r < kFrom + kCount; ++r, xs += a.x_groups) {
    float* acc = s.acc[panel][r];
    _mm512_store_ps(acc, _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(b.dot[panel][r])), _mm512_mul_ps(ws, _mm512_set1_ps(*xs)), _mm512_load_ps(acc)));
  }
}

// Panel P: what its tile holds of the last step goes to dot, then the first 64 inputs. tilezero takes as long as a product, a load of zeros nothing.
template <int P>
inline __attribute__((always_inline)) void first_half(TileBlock& b, const int8_t* w) {
  tile_store<P>(b.dot[P]);
  tile_load<P>(kZeros, 0);
  tile_load<6 + P % 2>(w, 64);
  tile_dot<P, 4, 6 + P % 2>();
}
template <int P>
inline __attribute__((always_inline)) void second_half(const int8_t* w) {
  tile_load<6 + P % 2>(w + 1024, 64);
  tile_dot<P, 5, 6 + P % 2>();
}

// Sixteen rows of x by four panels by 128 inputs, and between these products the scales of the last step's.
template <bool kF16>
inline __attribute__((always_inline)) void step128(const GemmArgs& a, TileBlock& b, const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, const Step& last, const Step& before) {
  tile_load<4>(x, x_stride);
  tile_load<5>(x + 64, x_stride);
  first_half<0>(b, w);
  scale_rows<kF16, 0, 8>(a, b, before, 3);
  first_half<1>(b, w + w_stride);
  scale_rows<kF16, 8, 8>(a, b, before, 3);
  first_half<2>(b, w + 2 * w_stride);
  scale_rows<kF16, 0, 8>(a, b, last, 0);
  first_half<3>(b, w + 3 * w_stride);
  scale_rows<kF16, 8, 8>(a, b, last, 0);
  second_half<0>(w);
  scale_rows<kF16, 0, 8>(a, b, last, 1);
  second_half<1>(w + w_stride);
  scale_rows<kF16, 8, 8>(a, b, last, 1);
  second_half<2>(w + 2 * w_stride);
  scale_rows<kF16, 0, 8>(a, b, last, 2);
  second_half<3>(w + 3 * w_stride);
  scale_rows<kF16, 8, 8>(a, b, last, 2);
}
// The same by 64.
template <bool kF16>
inline __attribute__((always_inline)) void step64(const GemmArgs& a, TileBlock& b, const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, const Step& last, const Step& before) {
  tile_load<4>(x, x_stride);
  first_half<0>(b, w);
  scale_rows<kF16, 0, 16>(a, b, before, 3);
  first_half<1>(b, w + w_stride);
  scale_rows<kF16, 0, 16>(a, b, last, 0);
  first_half<2>(b, w + 2 * w_stride);
  scale_rows<kF16, 0, 16>(a, b, last, 1);
  first_half<3>(b, w + 3 * w_stride);
  scale_rows<kF16, 0, 16>(a, b, last, 2);
}

// The scales of what is left in the tiles.
template <bool kF16>
void finish(const GemmArgs& a, TileBlock& b) {
  scale_rows<kF16, 0, 16>(a, b, b.before, 3);
  tile_store<0>(b.dot[0]);
  tile_store<1>(b.dot[1]);
  tile_store<2>(b.dot[2]);
  tile_store<3>(b.dot[3]);
  for (uint32_t p = 0; p < kPanels; ++p) scale_rows<kF16, 0, 16>(a, b, b.last, p);
}

// Codes of n inputs (a multiple of 32) of four panels as signed bytes, zeros up to a multiple of 64.
template <Codes kCodes>
void bytes_of(const GemmArgs& a, const int8_t* w, const char* w_scale, uint32_t n, TileBlock* b) {
  for (uint32_t p = 0; p < kPanels; ++p, w += a.w_stride, w_scale += a.w_scale_stride) {
    const int8_t* from = w;
    int8_t *to = b->w[p], *const end = to + (n + 63) / 64 * 64 * 16;
    __m512i zero = _mm512_set1_epi8(8);
    if (kCodes == kNibblesZero) zero = _mm512_mullo_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w_scale + 32))), _mm512_set1_epi32(0x01010101));
    for (uint32_t i = 0; i < n; i += 8, to += 128, from += kCodes == kBytes ? 128 : 64) {
      const __m512i v = _mm512_loadu_si512(from), low = _mm512_set1_epi8(15);
      _mm512_store_si512(to, kCodes == kBytes ? v : _mm512_sub_epi8(_mm512_and_si512(v, low), zero));
      _mm512_store_si512(to + 64, kCodes == kBytes ? _mm512_loadu_si512(from + 64) : _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(v, 4), low), zero));
    }
    for (; to != end; to += 64) _mm512_store_si512(to, _mm512_setzero_si512());
  }
}

// n inputs (a multiple of 32) of a step's rows, zeros up to a multiple of 64.
void pad_rows(const int8_t* x, size_t x_stride, uint32_t n, int8_t (*to)[kMaxGroup]) {
  for (uint32_t r = 0; r < kRows; ++r, x += x_stride)
    for (uint32_t i = 0; i < (n + 63) / 64 * 64; i += 32)
      _mm256_store_si256(reinterpret_cast<__m256i*>(to[r] + i), i < n ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)) : _mm256_setzero_si256());
}

// `rows` rows from `row` by four panels, of which those from new_panel on are stored. The last sixteen rows may reach back into those before.
template <Codes kCodes>
void tile_block(const GemmArgs& a, size_t scale_step, uint32_t row, uint32_t rows, uint32_t panel, uint32_t new_panel, TileBlock* b) {
  constexpr size_t kInput = kCodes == kBytes ? 16 : 8;  // bytes of a panel
  const uint32_t k = (a.k + 31) / 32 * 32, steps = (rows + kRows - 1) / kRows;
  uint32_t first[kTileRows / kRows];
  for (uint32_t s = 0; s < steps; ++s) {
    first[s] = row + s * kRows + kRows <= a.m ? row + s * kRows : a.m - kRows;
    for (uint32_t i = 0; i < kPanels * 16; ++i) _mm512_store_ps(b->acc[s][0][0] + i * 16, _mm512_setzero_ps());
  }
  const int8_t* codes = static_cast<const int8_t*>(a.w) + panel * a.w_stride;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  b->last = b->before = {b->spare, a.x_scale, w_scale};
  for (uint32_t from = 0, g = 0; from < k; from += a.x_group, ++g, codes += a.x_group * kInput, w_scale += scale_step) {
    const uint32_t n = k - from < a.x_group ? k - from : a.x_group;
    const bool padded = n % 64 != 0, copied = kCodes != kBytes || padded;
    if (copied) bytes_of<kCodes>(a, codes, w_scale, n, b);
    const int8_t* w = copied ? b->w[0] : codes;
    const size_t w_stride = copied ? sizeof b->w[0] : a.w_stride, x_stride = padded ? kMaxGroup : a.x_stride;
    for (uint32_t s = 0; s < steps; ++s) {
      if (from + n == k)
        for (uint32_t r = 0; r < kRows; ++r) UNROLL for (uint32_t p = 0; p < kPanels; ++p) fetch_y(a, first[s] + r, panel + p);
      const int8_t* x = static_cast<const int8_t*>(a.x) + first[s] * a.x_stride + from;
      if (padded) pad_rows(x, a.x_stride, n, b->x + s * kRows), x = b->x[s * kRows];
      const Step last = b->last, before = b->before;
      if (n > 64) step128<kCodes != kBytes>(a, *b, x, x_stride, w, w_stride, last, before);
      else step64<kCodes != kBytes>(a, *b, x, x_stride, w, w_stride, last, before);
      b->before = last;
      b->last = {b->acc[s], a.x_scale + first[s] * size_t{a.x_groups} + g, w_scale};
    }
  }
  finish<kCodes != kBytes>(a, *b);
  for (uint32_t s = 0; s < steps; ++s)
    for (uint32_t r = row + s * kRows - first[s]; r < kRows; ++r)
      for (uint32_t p = new_panel - panel; p < kPanels; ++p) store(a, first[s] + r, panel + p, _mm512_load_ps(b->acc[s][p][r]));
}

template <Codes kCodes>
__attribute__((noinline)) void tile_gemm(const GemmArgs& a, size_t scale_step) {
  const Tiles tiles;
  TileBlock b;
  for (uint32_t i = 0; i < kPanels * 16; ++i) _mm512_store_ps(b.spare[0][0] + i * 16, _mm512_setzero_ps());
  for (uint32_t panel = 0; panel < a.n_panels; panel += kPanels)
    for (uint32_t row = 0; row < a.m; row += kTileRows)
      tile_block<kCodes>(a, scale_step, row, a.m - row < kTileRows ? a.m - row : kTileRows, panel + kPanels <= a.n_panels ? panel : a.n_panels - kPanels, panel, &b);
}

template <linnet_format kFormat, Codes kCodes, size_t kScaleStep>
void gemm(const GemmArgs* args) {
  if (args->m < kRows || args->n_panels < kPanels || args->x_group < 64 || (kCodes == kNibblesZero && !zeros_fit(*args, kScaleStep))) return vnni_gemm(kFormat).run(args);
  size_t scale_step = kScaleStep;
  asm("" : "+r"(scale_step));  // GCC would make a copy of 9 kB for each
  tile_gemm<kCodes>(*args, scale_step);
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// Sixteen rows and more; weights of 7 bits are signed bytes as well. Of 16 channels the tokens of four pages become a tile, by a copy, for all rows.
void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels, const float* p_scale, float* acc, size_t acc_stride, Fetch* next) {
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
      tile_load<0>(kZeros, 0), tile_load<1>(kZeros, 0), tile_load<2>(kZeros, 0), tile_load<3>(kZeros, 0);
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
          const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(dot[half * 2][r]), 7), _mm512_load_si512(dot[half * 2 + 1][r]));
          _mm512_storeu_ps(acc + (from + r) * acc_stride + d * size_t{16}, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(p_scale[from + r])));
        }
      }
    }
  }
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

// What no kernel of groups can leave out: of a group 16 rows by 16 outputs, its products, its sums, which reach the registers through memory alone, and their scales.
template <int P>
inline __attribute__((always_inline)) void peak_unit(int32_t (*dot)[16][16], uint32_t group, __m512 ws, __m512 xs, __m512* acc) {
  tile_store<P>(dot[P]);
  tile_load<P>(kZeros, 0);
  tile_dot<P, 4, 6>();
  if (group == 128) tile_dot<P, 5, 7>();
  UNROLL for (int r = 0; r < 16; ++r) {
    __m512 s;
    asm volatile("vmulps %1, %2, %0" : "=v"(s) : "v"(ws), "v"(xs));
    acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(dot[(P + 1) % 4][r])), s, acc[r]);
  }
}
uint64_t peak(uint64_t n, uint32_t group) {
  const Tiles tiles;
  alignas(64) int32_t dot[4][16][16] = {};
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

const GemmKernel kGemm[] = {
    {LINNET_I8, 1, gemm<LINNET_I8, kBytes, 0>, peak128},
    {LINNET_I8G128, 1, gemm<LINNET_I8G128, kBytes, 64>, peak128},
    {LINNET_I8G64, 1, gemm<LINNET_I8G64, kBytes, 64>, peak64},
    {LINNET_I4G128, 1, gemm<LINNET_I4G128, kNibbles, 32>, peak128},
    {LINNET_I4G64, 1, gemm<LINNET_I4G64, kNibbles, 32>, peak64},
    {LINNET_I4G128Z, 1, gemm<LINNET_I4G128Z, kNibblesZero, 48>, peak128},
};

}  // namespace

const KernelTable amx_table = {
    .isa = LINNET_ISA_AMX,
    .required = kCpuAvx2 | kCpuFma | kCpuF16c | kCpuAvx512 | kCpuAvx512Vnni | kCpuAmx,
    .start = start,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv,
};

}  // namespace linnet
