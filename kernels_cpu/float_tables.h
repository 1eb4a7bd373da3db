// Weights that are floats out of a table of sixteen, times the scale of 64 inputs. Included by tiers that have what rows.h lists and a
// class Table with
//   load(p)         the sixteen
//   words(p)        Vi of 16 outputs, a word of each is eight inputs
//   at<shift>(Vi)   what the table has for the four bits from `shift` on of each word
// Everything here has internal linkage.
#pragma once
#include "kernels.h"

namespace linnet {
namespace {

// One row and two: their panels side by side. Many: rows by panels at a time.
struct TableTiles {
  int one, two, rows, panels;
};
constexpr uint32_t kTableGroup = 64, kFewTableRows = 4, kManyTableRows = 64, kManyTablePanels = 4;
constexpr uint32_t kScaledGroups = 4;  // whose scales are made at a time

// Scales of some groups of a panel of double quantisation (format.h).
__attribute__((noinline)) void nested_scales(const void* panel_scales, uint32_t k, uint32_t group, uint32_t n, float (*to)[16]) {
  const auto* s = static_cast<const float*>(panel_scales);
  const size_t rows = (k / kTableGroup + 254) / 256 + 1;
  const auto* bytes = reinterpret_cast<const uint8_t*>(s + (1 + rows) * 16);
  const float* const map = scalar_table.tables->scales;
  const V offset = load(s);
  uint32_t changes = 1;  // whether outer scales do, from one group to the next: hardly ever, but of the first
  alignas(64) float inner[16], outer[16];
  for (size_t g = group; g < group + n; ++g, ++to) {
    for (size_t j = 0; j < 16; ++j) changes |= (g + bytes[j]) % 256 == 0;
    if (changes) UNROLL for (size_t j = 0; j < 16; ++j) outer[j] = s[(1 + (g + bytes[j]) / 256) * 16 + j];
    changes = 0;
    const uint8_t* codes = bytes + 16 + g * 16;
    UNROLL for (size_t j = 0; j < 16; ++j) inner[j] = map[codes[j]];
    store(*to, add(mul(load(inner), load(outer)), offset));
  }
}
// Of either kind: where they lie, or what is made of them.
INLINE const float* table_scales(bool nested, const void* panel_scales, uint32_t k, uint32_t group, uint32_t n, float (*made)[16]) {
  if (!nested) return static_cast<const float*>(panel_scales) + group * size_t{16};
  nested_scales(panel_scales, k, group, n, made);
  return made[0];
}

template <int kInput>
struct Input {
  static constexpr int kValue = kInput;
};
// use(input, weights of that input of P panels), for eight inputs of which a panel's words lie `stride` bytes behind the other's.
template <int P, class Table, class Use>
INLINE void each_of_eight(const Table& table, const uint8_t* w, size_t stride, const V* scale, const Use& use) {
  Vi words[P];
  UNROLL for (int p = 0; p < P; ++p) words[p] = Table::words(w + static_cast<size_t>(p) * stride);
  const auto one = [&](auto input) {
    constexpr int kInput = decltype(input)::kValue, kShift = kInput % 4 * 8 + kInput / 4 * 4;
    V v[P];
    UNROLL for (int p = 0; p < P; ++p) v[p] = mul(table.template at<kShift>(words[p]), scale[p]);
    use(kInput, v);
  };
  one(Input<0>{}), one(Input<1>{}), one(Input<2>{}), one(Input<3>{}), one(Input<4>{}), one(Input<5>{}), one(Input<6>{}), one(Input<7>{});
}

// R rows by P panels, as their weights are made.
template <class Table, int R, int P>
__attribute__((noinline)) void few_table_rows(const GemmArgs& a, const float* table_of, bool nested, uint32_t row, uint32_t panel) {
  const Table table = Table::load(table_of);
  const char *x = static_cast<const char*>(a.x) + row * a.x_stride, *s = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
  alignas(64) float scales[P][kScaledGroups][16];
  V acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = all(0.0f);
  const uint32_t groups = a.k / kTableGroup;
  for (uint32_t from = 0; from < groups; from += kScaledGroups) {
    const uint32_t n = groups - from < kScaledGroups ? groups - from : kScaledGroups;
    const float* scale_of[P];
    UNROLL for (int p = 0; p < P; ++p) scale_of[p] =
        table_scales(nested, s + static_cast<size_t>(p) * a.w_scale_stride, a.k, from, n, scales[p]);
    for (uint32_t g = 0; g < n; ++g) {
      V scale[P];
      UNROLL for (int p = 0; p < P; ++p) scale[p] = load(scale_of[p] + g * size_t{16});
      for (uint32_t i = 0; i < kTableGroup; i += 8, w += 64, x += 32) {
        UNROLL for (int p = 0; p < P; ++p) __builtin_prefetch(w + static_cast<size_t>(p) * a.w_stride + a.fetch_ahead);
        each_of_eight<P>(table, w, a.w_stride, scale, [&](int input, const V* v) {
          UNROLL for (int r = 0; r < R; ++r) {
            const V by = all(reinterpret_cast<const float*>(x + static_cast<size_t>(r) * a.x_stride)[input]);
            UNROLL for (int p = 0; p < P; ++p) acc[r][p] = fma(by, v[p], acc[r][p]);
          }
        });
      }
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

// Many rows: a group of at most four panels becomes floats in the first-level cache, and sums wait there.
struct TableBlock {
  alignas(64) float w[kTableGroup][kManyTablePanels][16];
  alignas(64) float acc[kManyTableRows][kManyTablePanels][16];
};
template <int R, int P>
void add_table_group(const char* x, size_t x_stride, const float (*w)[kManyTablePanels][16], float (*sums)[kManyTablePanels][16],
                     uint32_t panel) {
  V acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = load(sums[r][panel + static_cast<uint32_t>(p)]);
  for (uint32_t i = 0; i < kTableGroup; ++i, x += 4) {
    V v[P];
    UNROLL for (int p = 0; p < P; ++p) v[p] = load(w[i][panel + static_cast<uint32_t>(p)]);
    UNROLL for (int r = 0; r < R; ++r) {
      const V by = all(*reinterpret_cast<const float*>(x + static_cast<size_t>(r) * x_stride));
      UNROLL for (int p = 0; p < P; ++p) acc[r][p] = fma(by, v[p], acc[r][p]);
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) store(sums[r][panel + static_cast<uint32_t>(p)], acc[r][p]);
}
template <class Table, TableTiles kTiles>
__attribute__((noinline)) void many_table_rows(const GemmArgs& a, const float* table_of, bool nested, uint32_t row, uint32_t rows,
                                               uint32_t panel, uint32_t panels) {
  const Table table = Table::load(table_of);
  TableBlock b;
  __builtin_memset(b.acc, 0, rows * sizeof b.acc[0]);
  for (uint32_t g = 0; g < a.k / kTableGroup; ++g) {
    for (uint32_t p = 0; p < panels; ++p) {
      alignas(64) float scale[1][16];
      const V by = load(table_scales(nested, static_cast<const char*>(a.w_scale) + (panel + p) * a.w_scale_stride, a.k, g, 1, scale));
      const uint8_t* w = static_cast<const uint8_t*>(a.w) + (panel + p) * a.w_stride + g * size_t{512};
      for (uint32_t i = 0; i < kTableGroup; i += 8, w += 64)
        each_of_eight<1>(table, w, 0, &by, [&](int input, const V* v) { store(b.w[i + static_cast<uint32_t>(input)][p], v[0]); });
    }
    const char* x = static_cast<const char*>(a.x) + row * a.x_stride + g * (kTableGroup * sizeof(float));
    for (uint32_t p = 0; p < panels;) {
      const bool wide = panels - p >= static_cast<uint32_t>(kTiles.panels);
      for (uint32_t r = 0; r < rows;) {
        const bool tall = rows - r >= static_cast<uint32_t>(kTiles.rows);
        (tall   ? wide ? add_table_group<kTiles.rows, kTiles.panels> : add_table_group<kTiles.rows, 1>
           : wide ? add_table_group<1, kTiles.panels>
                : add_table_group<1, 1>)(x + r * a.x_stride, a.x_stride, b.w, b.acc + r, p);
        r += tall ? static_cast<uint32_t>(kTiles.rows) : 1;
      }
      p += wide ? static_cast<uint32_t>(kTiles.panels) : 1;
    }
  }
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t p = 0; p < panels; ++p) finish(a, row + r, panel + p, load(b.acc[r][p]));
}

template <class Table, TableTiles kTiles>
__attribute__((noinline)) void gemm_tables(const GemmArgs& a, const float* table, bool nested) {
  if (a.m > kFewTableRows) {
    for (uint32_t panel = 0; panel < a.n_panels; panel += kManyTablePanels)
      for (uint32_t row = 0; row < a.m; row += kManyTableRows)
        many_table_rows<Table, kTiles>(a, table, nested, row, a.m - row < kManyTableRows ? a.m - row : kManyTableRows, panel,
                                       a.n_panels - panel < kManyTablePanels ? a.n_panels - panel : kManyTablePanels);
    return;
  }
  for (uint32_t row = 0; row < a.m; row += 2) {
    const bool two = a.m - row >= 2;
    const uint32_t side = static_cast<uint32_t>(two ? kTiles.two : kTiles.one);
    for (uint32_t panel = 0; panel < a.n_panels;) {
      const bool wide = a.n_panels - panel >= side;
      (two    ? wide ? few_table_rows<Table, 2, kTiles.two> : few_table_rows<Table, 2, 1>
          : wide ? few_table_rows<Table, 1, kTiles.one>
              : few_table_rows<Table, 1, 1>)(a, table, nested, row, panel);
      panel += wide ? side : 1;
    }
  }
}
template <const float (FloatTables::*kTable)[16], ScaleStep kStep, class Table, TableTiles kTiles>
void gemm_table(const GemmArgs* args) {
  const float* table = scalar_table.tables->*kTable;
  bool nested = kStep != kStepF32;
  asm("" : "+r"(table), "+r"(nested));  // or GCC makes a copy for each
  gemm_tables<Table, kTiles>(*args, table, nested);
}

}  // namespace
}  // namespace linnet
