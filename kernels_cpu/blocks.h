// Many rows by integer weights, for tiers whose products take unsigned weights: of four panels as many inputs as stay in the first-level cache are made
// unsigned bytes once, whatever their format, and all rows go by. Neither signs nor nibbles cost anything per row; sums of floats wait in memory for the
// next inputs, in the order of scalar.cpp. Included by avx512.h and avx_vnni.cpp, each compiled with its own flags; so everything here has internal linkage.
#pragma once
#include <immintrin.h>

#include "kernels.h"

namespace linnet {
namespace {

constexpr uint32_t kBlockK = 256;      // inputs; a multiple of all groups
constexpr uint32_t kBlockRows = 132;   // at most

struct Block {
  alignas(64) uint8_t w[4][kBlockK * 16];  // value + 128, as panels lie
  alignas(64) float w_scale[kBlockK / 32][4][16];
  alignas(64) float acc[kBlockRows][4][16];
  uint32_t panel, from, k;
  const char* next;            // lines of the next inputs: those to ask for
  uint32_t next_lines, asked;  // lines a panel, and how many of this one were asked for
};

// Of the including file: a group's n inputs of a panel as unsigned bytes, and its scales as floats; what becomes of the sums of a row and panel; a row's y of
// a panel asked for.
template <Codes kCodes, bool kF16>
void fill_group(const int8_t* w, const char* w_scale, uint32_t n, uint8_t* to, float* scale);
inline void store_block(const GemmArgs& a, uint32_t row, uint32_t panel, const float* acc);
inline void fetch_y(const GemmArgs& a, uint32_t row, uint32_t panel);

// Whether weights of format i4g128z, code - zero point, are bytes: where some zero point is above 128, which no packer writes, they are not.
inline bool zeros_fit(const GemmArgs& a, size_t scale_step) {
  __m128i most = _mm_setzero_si128();
  for (uint32_t p = 0; p < a.n_panels; ++p) {
    const char* at = static_cast<const char*>(a.w_scale) + p * a.w_scale_stride + 32;
    for (uint32_t k = 0; k < a.k; k += a.x_group, at += scale_step) most = _mm_max_epu8(most, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(most, _mm_set1_epi8(-128)), _mm_set1_epi8(-128))) == 0xFFFF;
}

template <Codes kCodes, bool kF16>
void block_fill(const GemmArgs& a, size_t scale_step, Block* b) {
  constexpr size_t kInput = kCodes == kBytes ? 16 : 8;  // bytes of a panel
  for (uint32_t p = 0; p < 4; ++p) {
    const int8_t* w = static_cast<const int8_t*>(a.w) + (b->panel + p) * a.w_stride + b->from * kInput;
    const char* w_scale = static_cast<const char*>(a.w_scale) + (b->panel + p) * a.w_scale_stride + b->from / a.x_group * scale_step;
    for (uint32_t from = 0, g = 0; from < b->k; from += a.x_group, ++g, w_scale += scale_step)
      fill_group<kCodes, kF16>(w + from * kInput, w_scale, b->k - from < a.x_group ? b->k - from : a.x_group, b->w[p] + from * 16, b->w_scale[g][p]);
  }
}

// R rows: of x from `row` on, of the block's sums from `at` on. Dot::group: acc[r][p] += the products of a group of n inputs (a multiple of 16) times both
// scales, of R rows of x by four panels; a row's sum128 and scale lie x_groups behind those of the last one. Asks for n / 16 lines from `ask` on.
template <class Dot, int R>
void block_tile(const GemmArgs& a, uint32_t row, uint32_t at, Block* b) {
  const bool last = b->from + b->k >= a.k;
  for (uint32_t r = 0; last && r < R; ++r)
    for (uint32_t p = 0; p < 4; ++p) fetch_y(a, row + r, b->panel + p);
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride + b->from;
  const uint8_t* w = b->w[0];
  size_t x_at = row * size_t{a.x_groups} + b->from / a.x_group;
  for (uint32_t g = 0, left = b->k; left; ++g, ++x_at) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    // One line for 16 inputs: more at once would hold up the sums and inputs that come from the second-level cache.
    if (b->asked >= b->next_lines) {
      b->next += a.w_stride;
      b->asked = 0;
    }
    Dot::template group<R>(b->acc + at, x, a.x_stride, a.x_sum128 + x_at, a.x_scale + x_at, a.x_groups, w, b->w_scale[g], group, b->next + b->asked * size_t{64});
    b->asked += group / 16;
    x += group;
    w += group * 16;
  }
  for (uint32_t r = 0; last && r < R; ++r)
    for (uint32_t p = 0; p < 4; ++p) store_block(a, row + r, b->panel + p, b->acc[at + r][p]);
}

// 20 rows and more by all panels but the last n_panels % 4. Returns how many panels are done: none where zero points do not fit.
template <class Dot, Codes kCodes, bool kF16>
uint32_t block_gemm(const GemmArgs& a, size_t scale_step) {
  constexpr size_t kInput = kCodes == kBytes ? 16 : 8;  // bytes of a panel
  if (kCodes == kNibblesZero && !zeros_fit(a, scale_step)) return 0;
  Block b;
  const uint32_t k = (a.k + 31) / 32 * 32, n_panels = a.n_panels / 4 * 4;
  for (uint32_t row = 0, blocks = (a.m + kBlockRows - 1) / kBlockRows; blocks; --blocks) {
    const uint32_t rows = (a.m - row) / blocks, tiles = (rows + 5) / 6;
    for (b.panel = 0; b.panel < n_panels; b.panel += 4) {
      __builtin_memset(b.acc, 0, rows * sizeof b.acc[0]);
      for (b.from = 0; b.from < k; b.from += kBlockK) {
        b.k = k - b.from < kBlockK ? k - b.from : kBlockK;
        block_fill<kCodes, kF16>(a, scale_step, &b);
        b.next = static_cast<const char*>(a.w) + (b.from + kBlockK < k ? b.panel * a.w_stride + (b.from + kBlockK) * kInput : (b.panel + 4) * a.w_stride);
        b.next_lines = static_cast<uint32_t>(b.k * kInput / 64);
        b.asked = 0;
        for (uint32_t at = 0, left = tiles; left; --left) {
          const uint32_t step = (rows - at) / left;  // five or six
          (step == 6 ? block_tile<Dot, 6> : block_tile<Dot, 5>)(a, row + at, at, &b);
          at += step;
        }
      }
    }
    row += rows;
  }
  return n_panels;
}

}  // namespace
}  // namespace linnet
