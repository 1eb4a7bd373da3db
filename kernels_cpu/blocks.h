// Many rows by integer weights, for tiers whose products take unsigned weights: of four panels as many inputs as stay in the first-level
// cache are made unsigned bytes once, whatever their format, and all rows go by. Neither signs nor nibbles cost anything per row; sums of
// floats wait in memory for the next inputs, in the order of scalar.cpp. Included by avx512.h and avx_vnni.cpp, each compiled with its own
// flags; so everything here has internal linkage.
#pragma once
#include <immintrin.h>

#include "kernels.h"

namespace linnet {
namespace {

constexpr uint32_t kBlockK = 256;     // inputs; a multiple of all groups
constexpr uint32_t kBlockRows = 132;  // at most
constexpr uint32_t kBlockLeast = 26;  // from so many rows on one tile at least is of six, as the tile that fills a block on the way is

struct Block {
  alignas(64) uint8_t w[kBlockK * 64 + kBlockK / 16 * 256];  // a group after the other: of every four inputs 64 bytes a panel, value + 128;
                                                             // then [4][16] scales
  alignas(64) float total[kBlockRows][4][16];
  // Of blocks as GGUF has them: minima; sums of one block by a tile of one or two rows; of groups of 16 what x has for them.
  alignas(64) float w_min[kBlockK / 16][4][16], part[2][4][16], x_scale[kBlockRows][kBlockK / 16];
  alignas(64) int32_t x_sum128[kBlockRows][kBlockK / 16];
};

// What a tile of some rows reads of a block, and where its sums go.
struct BlockTile {
  const int8_t* x;
  size_t x_stride;
  const int32_t* sum128;  // of a row the first group's
  const float* scale;
  size_t x_groups;              // from a row's sum128 and scale to the next one's
  uint8_t* w;                   // of a Block
  size_t n, groups, rest;       // inputs per group, a multiple of 16, and how many groups; inputs of the last group, where it is shorter
  const float (*w_min)[4][16];  // by groups, or NULL; where there are some, codes are as they are, not 128 more
  float (*total)[4][16];        // of blocks as GGUF has them: the sums so far, beside which acc is of these inputs alone; else NULL
  float (*acc)[4][16];
  float* y;
  size_t y_stride;
  const char* ask;  // the next block's lines, to be asked for: one for every 16 inputs, or every group of a tile of three rows, since more
                    // at once would hold up what comes from the second-level cache
  const int8_t* source;  // of a tile that fills w, and asks for nothing: bytes of the first of four panels, source_stride apart
  size_t source_stride;
};

// The same for all rows.
struct BlockStep {
  uint32_t panel;
  bool first, last;
  uint32_t y_from,
      y_to;         // panels whose y is asked for: with many rows y comes from beyond the caches, and all at once would hold up the rest
  uint32_t asking;  // tiles that ask for lines of the same panel
  ptrdiff_t asked, to_next;  // bytes a tile asks for, and from a panel's last ones to those of the next panel, which may lie before
};

// Of the including file: a group's scales as floats; its n inputs of a panel as unsigned bytes, of every four inputs 256 bytes behind those
// of the last; sums of R rows set to zero; sums of R rows brought to y, as GemmArgs says.
template <bool kF16>
void fill_scales(const char* w_scale, float* to);
template <Codes kCodes>
void fill_codes(const int8_t* w, const char* w_scale, uint32_t n, uint8_t* to);
template <int R>
void start_rows(float (*acc)[4][16]);
template <int R>
void finish_rows(const GemmArgs& a, uint32_t panel, const float (*acc)[4][16], float* y);
// Of blocks as GGUF has them: what R rows have for minima, by groups; total += acc, and minima, as GemmArgs says.
template <int R>
void minima_of_rows(const BlockTile& t, float (*x_sum)[16]);
template <int R>
void add_block(const BlockTile& t, bool first, const float (*x_sum)[16]);

// Whether weights less their zero points are bytes: where some zero point is above 128, which no packer writes,
// they are not.
inline bool zeros_fit(const GemmArgs& a, size_t scale_step) {
  __m128i most = _mm_setzero_si128();
  for (uint32_t p = 0; p < a.n_panels; ++p) {
    const char* at = static_cast<const char*>(a.w_scale) + p * a.w_scale_stride + 32;
    for (uint32_t k = 0; k < a.k; k += a.x_group, at += scale_step)
      most = _mm_max_epu8(most, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(most, _mm_set1_epi8(-128)), _mm_set1_epi8(-128))) == 0xFFFF;
}

// What differs between formats: kept out of block_gemm(), so that there is one of it.
struct UnpackedBy;
struct BlockFormat {
  // Four panels' inputs from `from` on.
  void (*fill)(const GemmArgs& a, const BlockFormat& f, uint32_t panel, uint32_t from, uint32_t k, Block* to);
  size_t input, scale_step;  // bytes of a panel, and from one group's scales to the next's
  bool on_the_way;           // the first tile does the codes
  uint32_t group;            // of blocks as GGUF has them: 32 or 16 inputs; else 0
  bool minima;
  const UnpackedBy* by;  // of those
};

// kOnTheWay: the first tile does their codes.
template <Codes kCodes, bool kF16, bool kOnTheWay>
void block_fill(const GemmArgs& a, const BlockFormat& f, uint32_t panel, uint32_t from, uint32_t k, Block* to) {
  const size_t scale_step = f.scale_step;
  constexpr size_t kInput = kCodes == kBytes ? 16 : 8;  // bytes of a panel
  for (uint32_t p = 0; p < 4; ++p) {
    const int8_t* w = static_cast<const int8_t*>(a.w) + (panel + p) * a.w_stride + from * kInput;
    const char* w_scale = static_cast<const char*>(a.w_scale) + (panel + p) * a.w_scale_stride + from / a.x_group * scale_step;
    uint8_t* at = to->w + p * 64;
    for (uint32_t left = k; left; w_scale += scale_step) {
      const uint32_t group = left < a.x_group ? left : a.x_group;
      if (!kOnTheWay) fill_codes<kCodes>(w, w_scale, group, at);
      fill_scales<kF16>(w_scale, reinterpret_cast<float*>(at + group * size_t{64}));
      left -= group;
      w += group * kInput;
      at += group * 64 + 256;
    }
  }
}

// Dot::tile: acc[r][p] += the products of each group times both scales, in their order. Dot::tile_of_three: that, of groups of at most 32
// inputs; where there is t.total these are added to it (but for the first inputs, which are it) and minima behind them.
template <class Dot, int R, bool kFill>
inline void block_tile(const GemmArgs& a, const BlockStep& s, const BlockTile& t) {
  for (uint32_t p = s.y_from; p < s.y_to; ++p) {
    const float* y = t.y + p * 16;
    for (int r = 0; r < R; ++r, y += t.y_stride) asm volatile("prefetchw %0" ::"m"(*y));
  }
  if (s.first && !t.total) start_rows<R>(t.acc);
  if constexpr (R <= 3) {  // of groups of at most 32 inputs, as all blocks of GGUF files have
    alignas(64) float x_sum[R][16];
    if (t.w_min) minima_of_rows<R>(t, x_sum);  // before: behind the tile all would wait for them
    if constexpr (R == 3) {
      Dot::template tile_of_three<kFill>(t, s.first, x_sum);
    } else {
      if (t.total) start_rows<R>(t.acc);
      Dot::template tile<R, kFill>(t);
      if (t.total) add_block<R>(t, s.first, x_sum);
    }
    if (s.last) finish_rows<R>(a, s.panel, t.total ? t.total : t.acc, t.y);
  } else {
    Dot::template tile<R, kFill>(t);
    if (s.last) finish_rows<R>(a, s.panel, t.acc, t.y);
  }
}

template <int R>
inline void next_rows(BlockTile* t) {
  t->x += R * t->x_stride;
  t->sum128 += R * t->x_groups;
  t->scale += R * t->x_groups;
  t->total ? t->total += R : t->acc += R;
  t->y += R * t->y_stride;
}

// `tiles` times R rows. What is worked out for a tile takes ports from its products: everything moves on by additions.
template <class Dot, int R>
void block_tiles(const GemmArgs& a, const BlockStep& s, uint32_t tiles, BlockTile* t, uint32_t* asking) {
  for (; tiles; --tiles) {
    block_tile<Dot, R, false>(a, s, *t);
    next_rows<R>(t);
    t->ask += s.asked;
    if (++*asking == s.asking) *asking = 0, t->ask += s.to_next;
  }
}

template <class Dot, int R>
void filling_tile(const GemmArgs& a, const BlockStep& s, BlockTile* t) {
  block_tile<Dot, R, true>(a, s, *t);
  next_rows<R>(t);
}

// 20 rows and more (kBlockLeast where Dot::kFills; any number of blocks as GGUF has them) by all panels but the last n_panels % 4. Returns
// how many panels are done.
template <class Dot>
uint32_t block_gemm(const GemmArgs& a, const BlockFormat& f) {
  Block b;
  const uint32_t k = (a.k + 31) / 32 * 32, steps = (k + kBlockK - 1) / kBlockK, n_panels = a.n_panels / 4 * 4;
  const uint32_t fetching = steps < 4 ? steps : 4;                          // the last steps ask for y
  const bool threes = Dot::kGguf && (f.group ? f.group : a.x_group) <= 32;  // tiles of three rows, which ask once a group
  const uint32_t asks_for = threes && f.group != 16 ? a.x_group : 16, asking_tiles = static_cast<uint32_t>(f.input * asks_for + 63) / 64;
  for (uint32_t row = 0, blocks = (a.m + kBlockRows - 1) / kBlockRows; blocks; --blocks) {
    const uint32_t rows = (a.m - row) / blocks;  // tiles of three, then one of two or one; or of six, then of five
    const uint32_t tiles = threes ? rows / 3 : (rows + 5) / 6, fives = threes ? 0 : tiles * 6 - rows;
    for (uint32_t panel = 0; panel < n_panels; panel += 4)
      for (uint32_t i = 0, from = 0; i < steps; ++i, from += kBlockK) {
        const uint32_t left = k - from, inputs = left < kBlockK ? left : kBlockK, fetch = i + fetching - steps;
        f.fill(a, f, panel, from, inputs, &b);
        const BlockStep s = {
            .panel = panel,
            .first = i == 0,
            .last = i + 1 == steps,
            .y_from = fetch < fetching ? fetch * 4 / fetching : 0,
            .y_to = fetch < fetching ? (fetch + 1) * 4 / fetching : 0,
            .asking = asking_tiles,
            .asked = static_cast<ptrdiff_t>(inputs / asks_for * 64),
            .to_next = static_cast<ptrdiff_t>(a.w_stride) - static_cast<ptrdiff_t>(asking_tiles * (inputs / asks_for) * 64),
        };
        const size_t x_at = row * size_t{a.x_groups} + from / a.x_group;
        const bool halves = Dot::kGguf && f.group == 16;
        if constexpr (Dot::kGguf) {
          if (halves) Dot::halve_groups(a, row, rows, from, inputs, &b);
        }
        BlockTile t = {
            .x = static_cast<const int8_t*>(a.x) + row * a.x_stride + from,
            .x_stride = a.x_stride,
            .sum128 = halves ? b.x_sum128[0] : a.x_sum128 + x_at,
            .scale = halves ? b.x_scale[0] : a.x_scale + x_at,
            .x_groups = halves ? kBlockK / 16 : a.x_groups,
            .w = b.w,
            .n = halves ? 16 : a.x_group,
            .groups = inputs / (halves ? 16 : a.x_group),
            .rest = halves ? 0 : inputs % a.x_group,
            .w_min = f.minima ? b.w_min : nullptr,
            .total = f.group ? b.total : nullptr,
            .acc = f.group ? b.part : b.total,
            .y = a.y + row * a.y_stride + panel * size_t{16},
            .y_stride = a.y_stride,
            .ask = static_cast<const char*>(a.w) + (s.last ? (panel + 4) * a.w_stride : panel * a.w_stride + (from + kBlockK) * f.input),
            .source = static_cast<const int8_t*>(a.w) + panel * a.w_stride + from * f.input,
            .source_stride = a.w_stride,
        };
        uint32_t asking = 0;  // tiles that have asked for lines of this panel
        uint32_t large = tiles - fives;
        if constexpr (Dot::kFills) {
          if (f.on_the_way) {
            threes ? filling_tile<Dot, 3>(a, s, &t) : filling_tile<Dot, 6>(a, s, &t);
            --large;
          }
        }
        if constexpr (Dot::kGguf) {
          if (threes) block_tiles<Dot, 3>(a, s, large, &t, &asking), large = 0;
        }
        block_tiles<Dot, 6>(a, s, large, &t, &asking);
        block_tiles<Dot, 5>(a, s, fives, &t, &asking);
        if constexpr (Dot::kGguf) {
          if (threes && rows % 3) (rows % 3 == 2 ? block_tile<Dot, 2, false> : block_tile<Dot, 1, false>)(a, s, t);
        }
      }
    row += rows;
  }
  return n_panels;
}

// None are done where zero points do not fit.
template <class Dot, Codes kCodes, bool kF16>
uint32_t block_gemm(const GemmArgs& a, size_t scale_step) {
  constexpr bool kOnTheWay = Dot::kFills && kCodes == kBytes;
  if (kCodes == kNibblesZero && !zeros_fit(a, scale_step)) return 0;
  return block_gemm<Dot>(
      a, {block_fill<kCodes, kF16, kOnTheWay>, kCodes == kBytes ? size_t{16} : size_t{8}, scale_step, kOnTheWay, 0, false, nullptr});
}

}  // namespace
}  // namespace linnet
