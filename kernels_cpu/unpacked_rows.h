// Blocks of GGUF files by a few rows, without unpacking: a line's codes go into the tier's product as they are made. For tiers that have,
// beside what rows.h lists:
//   Bytes                     64 of them
//   load_bytes(p); masked(v, bits), down(v, n), up(v, n) (bits of the neighbour come in), join(v, w); chosen(table, nibbles)
//   spread(v, at)             bits `at` to at + 3 of each word, as 16 in its four bytes; at is a multiple of 4
//   floats(Vi)
//   Product::kMost            the largest code that it multiplies
//   Product::kManyRows        from so many on, blocks are unpacked once for all rows; kManySigned: of signed codes
//   Product::four(x)          four inputs
//   Product::Sum<kMost>       the sum of at most 32 inputs of 16 outputs, by codes of 0 to kMost, or -127 to 127 where kMost is 0, in
//                             lines of four: add(Bytes, four); total(): Vi
#pragma once
#include "unpacked.h"

namespace linnet {
namespace {

// At most 256 inputs of one or two rows by a panel, and the sums of its groups.
struct RowSums {
  const uint8_t* lines;
  const uint8_t* ahead;  // lines that are asked for meanwhile
  const int8_t* x;
  size_t x_stride;
  uint32_t k;
  Vi (*total)[16];  // [row][group]

  // Asks for lines from `first` on, in the order in which they lie: in that in which they are used memory is slower.
  template <size_t kLines>
  INLINE void ask(size_t first) const {
    UNROLL for (size_t i = 0; i < kLines; ++i) __builtin_prefetch(ahead + (first + i) * 64);
  }
};
// A group's, of R rows.
template <class Product, int kMost, int R>
struct GroupSum {
  typename Product::template Sum<kMost> of[R];
  INLINE void add(const RowSums& s, Bytes codes, const int8_t* x) {
    UNROLL for (size_t r = 0; r < R; ++r) of[r].add(codes, Product::four(x + r * s.x_stride));
  }
  INLINE void put(const RowSums& s, size_t g) const { UNROLL for (size_t r = 0; r < R; ++r) s.total[r][g] = of[r].total(); }
};

template <class Product, int R, bool kFifth>
INLINE void sums_k45(const RowSums& s) {
  const uint8_t *lines = s.lines, *const fifths = lines + 2048;
  const int8_t* x = s.x;
  for (size_t g = 0; g < s.k / 32; g += 2, lines += 512, x += 64) {
    GroupSum<Product, kFifth ? 31 : 15, R> sum[2];
    s.ask<kFifth ? 10 : 8>(g / 2 * (kFifth ? 10 : 8));
    UNROLL for (size_t t = 0; t < 8; ++t) {
      const Bytes v = load_bytes(lines + t * 64);
      Bytes code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      if (kFifth) {
        const Bytes fifth = down(load_bytes(fifths + t * 64), static_cast<int>(g));
        code[0] = join(code[0], masked(up(fifth, 4), 16));
        code[1] = join(code[1], masked(up(fifth, 3), 16));
      }
      UNROLL for (size_t h = 0; h < 2; ++h) sum[h].add(s, code[h], x + h * 32 + t * 4);
    }
    UNROLL for (size_t h = 0; h < 2; ++h) sum[h].put(s, g + h);
  }
}
template <class Product, int R>
INLINE void row_sums(Q4K, const RowSums& s) {
  sums_k45<Product, R, false>(s);
}
template <class Product, int R>
INLINE void row_sums(Q5K, const RowSums& s) {
  sums_k45<Product, R, true>(s);
}
template <class Product, int R>
INLINE void row_sums(Q6K, const RowSums& s) {
  for (size_t i = 0; i < s.k / 64; ++i) {
    const size_t half = i / 2, part = i % 2;
    const uint8_t *lows = s.lines + half * 1024 + part * 256, *highs = s.lines + 2048 + i * 256;
    const int8_t* x = s.x + half * 128 + part * 16;
    GroupSum<Product, 63, R> sum[4];
    s.ask<12>(i * 12);
    UNROLL for (size_t t = 0; t < 4; ++t) {
      const Bytes low[2] = {load_bytes(lows + t * 64), load_bytes(lows + 512 + t * 64)}, high = load_bytes(highs + t * 64);
      UNROLL for (int q = 0; q < 4; ++q) {
        const Bytes two = q < 2 ? up(high, 4 - q * 2) : q == 2 ? high : down(high, 2);
        sum[q].add(s, join(masked(q < 2 ? low[q % 2] : down(low[q % 2], 4), 15), masked(two, 0x30)), x + q * 32 + t * 4);
      }
    }
    UNROLL for (size_t q = 0; q < 4; ++q) sum[q].put(s, half * 8 + q * 2 + part);
  }
}
// table: of codes of 0 to kMost, or of signed ones where that is 0; NULL: codes as they are.
template <class Product, int R, size_t kLines, int kMost, bool kFifth>
INLINE void sums_nibbles(const int8_t* table, const RowSums& s) {
  constexpr size_t kGroup = kLines * 8, kStep = kLines + kFifth;
  const uint8_t* lines = s.lines;
  const int8_t* x = s.x;
  for (size_t g = 0; g < s.k / kGroup; ++g, lines += kStep * 64, x += kGroup) {
    GroupSum<Product, kMost, R> sum;
    s.ask<kStep>(g * kStep);
    Bytes fifth = {};
    if (kFifth) fifth = load_bytes(lines + kLines * 64);
    UNROLL for (size_t t = 0; t < kLines; ++t) {
      const Bytes v = load_bytes(lines + t * 64);
      Bytes code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      UNROLL for (size_t h = 0; h < 2; ++h) {
        if (table) code[h] = chosen(table, code[h]);
        if (kFifth) code[h] = join(code[h], spread(fifth, static_cast<int>(h * 16 + t * 4)));
        sum.add(s, code[h], x + h * kGroup / 2 + t * 4);
      }
    }
    sum.put(s, g);
  }
}
template <class Product, int R>
INLINE void row_sums(Q41, const RowSums& s) {
  sums_nibbles<Product, R, 4, 15, false>(nullptr, s);
}
template <class Product, int R>
INLINE void row_sums(Q50, const RowSums& s) {
  sums_nibbles<Product, R, 4, 31, true>(nullptr, s);
}
template <class Product, int R>
INLINE void row_sums(Q51, const RowSums& s) {
  sums_nibbles<Product, R, 4, 31, true>(nullptr, s);
}
// Of numbers of a table that the product takes as signed ones alone.
template <class Kind, class Product>
constexpr bool kSigned = false;
template <class Product>
constexpr bool kSigned<Iq4Nl, Product> = Product::kMost < 255;
template <class Product>
constexpr bool kSigned<Iq4Xs, Product> = kSigned<Iq4Nl, Product>;

template <class Product, int R>
INLINE void row_sums(Iq4Nl, const RowSums& s) {
  if constexpr (kSigned<Iq4Nl, Product>)
    sums_nibbles<Product, R, 4, 0, false>(kUneven<0>.of, s);
  else
    sums_nibbles<Product, R, 4, 255, false>(kUneven<0x80>.of, s);
}
template <class Product, int R>
INLINE void row_sums(Iq4Xs, const RowSums& s) {
  row_sums<Product, R>(Iq4Nl{}, s);
}
template <class Product, int R>
INLINE void row_sums(Mxfp4, const RowSums& s) {
  sums_nibbles<Product, R, 4, 24, false>(kE2m1More.of, s);
}
template <class Product, int R>
INLINE void row_sums(Nvfp4, const RowSums& s) {
  sums_nibbles<Product, R, 2, 24, false>(kE2m1More.of, s);
}
template <class Product, int R, size_t kGroup, bool kThird>
INLINE void sums_two_bits(const RowSums& s) {
  constexpr size_t kParts = 32 / kGroup;
  for (size_t i = 0; i < s.k / 4 / kGroup; ++i) {
    const size_t half = i / kParts, part = i % kParts;
    const uint8_t *lines = s.lines + i * kGroup * 16, *thirds = s.lines + 1024 + part * kGroup * 16;
    const int8_t* x = s.x + half * 128 + part * kGroup;
    GroupSum<Product, kThird ? 7 : 3, R> sum[4];
    constexpr size_t kLines = (kThird ? 24 : 16) / (2 * kParts);
    s.ask<kLines>(i * kLines);
    UNROLL for (size_t t = 0; t < kGroup / 4; ++t) {
      const Bytes v = load_bytes(lines + t * 64);
      Bytes third = v;
      if (kThird) third = down(load_bytes(thirds + t * 64), static_cast<int>(half * 4));
      UNROLL for (int q = 0; q < 4; ++q) {
        Bytes code = masked(down(v, q * 2), 3);
        if (kThird) code = join(code, masked(q < 2 ? up(third, 2 - q) : down(third, q - 2), 4));
        sum[q].add(s, code, x + q * 32 + t * 4);
      }
    }
    UNROLL for (size_t q = 0; q < 4; ++q) sum[q].put(s, (half * 4 + q) * kParts + part);
  }
}
template <class Product, int R>
INLINE void row_sums(Q2K, const RowSums& s) {
  sums_two_bits<Product, R, 16, false>(s);
}
template <class Product, int R>
INLINE void row_sums(Q3K, const RowSums& s) {
  sums_two_bits<Product, R, 16, true>(s);
}
template <class Product, int R>
INLINE void row_sums(Tq2, const RowSums& s) {
  sums_two_bits<Product, R, 32, false>(s);
}

// What codes are more than they stand for.
template <class Kind, class Product>
constexpr int32_t kMore = 0;
template <class Product>
constexpr int32_t kMore<Q6K, Product> = 32;
template <class Product>
constexpr int32_t kMore<Q50, Product> = 16;
template <class Product>
constexpr int32_t kMore<Iq4Nl, Product> = kSigned<Iq4Nl, Product> ? 0 : 128;
template <class Product>
constexpr int32_t kMore<Iq4Xs, Product> = kMore<Iq4Nl, Product>;
template <class Product>
constexpr int32_t kMore<Mxfp4, Product> = 12;
template <class Product>
constexpr int32_t kMore<Nvfp4, Product> = 12;
template <class Product>
constexpr int32_t kMore<Q3K, Product> = 4;
template <class Product>
constexpr int32_t kMore<Tq2, Product> = 1;

// A kind's scales, and its sums of one row and of two.
struct FewRows {
  void (*scales)(const uint8_t* entry, uint32_t k, const UnpackTo& to);
  void (*sums[2])(const RowSums& s);
  size_t lines, entry;
  uint32_t group;
  int32_t more;
  uint32_t many;
  bool min;
};
template <class Kind, class Product, int R>
void row_sums_of(const RowSums& s) {
  row_sums<Product, R>(Kind{}, s);
}
template <class Kind, class Product>
concept HasRowSums = requires(RowSums s) { row_sums<Product, 1>(Kind{}, s); };
template <class Kind, class Product>
constexpr FewRows few_rows_of() {
  return {put_scales<Kind>,
          {row_sums_of<Kind, Product, 1>, row_sums_of<Kind, Product, 2>},
          Kind::kLineBytes,
          Kind::kEntry,
          Kind::kGroup,
          kMore<Kind, Product>,
          kSigned<Kind, Product> ? Product::kManySigned : Product::kManyRows,
          Kind::kMin};
}

// What a row has for the groups of at most 256 inputs: what takes back what codes are more than they stand for, and factors of scales and
// of minima.
struct GroupInputs {
  int32_t back[16];
  float scale[16], sum[16];
};
inline void group_inputs(const GemmArgs& a, const FewRows& by, size_t row, uint32_t from, uint32_t k, GroupInputs* to) {
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride + from;
  const size_t at = row * a.x_groups + from / 32;
  int32_t less[16] = {};
  *to = {};
  for (size_t i = 0; i < k / 32; ++i) {
    const int32_t both = a.x_sum128[at + i] / 128;
    if (by.group == 32) {
      less[i] = both;
      to->scale[i] = a.x_scale[at + i];
    } else {
      less[i * 2] = -total(widened(load_sixteen(reinterpret_cast<const uint8_t*>(x + i * 32))));
      less[i * 2 + 1] = both - less[i * 2];
      to->scale[i * 2] = to->scale[i * 2 + 1] = a.x_scale[at + i];
    }
  }
  for (int g = 0; g < 16; ++g) {
    to->back[g] = less[g] * by.more;
    to->sum[g] = static_cast<float>(less[g]) * to->scale[g];
  }
}

// One or two rows by a.n_panels panels from `first` on. A panel after the other, and little beside it: lines come through the first-level
// cache as fast as it has room for them.
inline void few_rows(const GemmArgs& a, const FewRows& by, uint32_t first, uint32_t row, uint32_t rows) {
  constexpr uint32_t kKept = 32;  // blocks whose inputs are made ready once for all panels, if there are no more
  GroupInputs inputs[2][kKept];
  const uint32_t blocks = (a.k + kUnpackedK - 1) / kUnpackedK;
  for (uint32_t panel = first; panel < first + a.n_panels; ++panel) {
    const uint8_t *lines = static_cast<const uint8_t*>(a.w) + panel * a.w_stride,
                  *entry = static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride;
    V acc[2];
    for (uint32_t block = 0; block < blocks; ++block, lines += by.lines, entry += by.entry) {
      const uint32_t from = block * kUnpackedK, k = a.k - from < kUnpackedK ? a.k - from : kUnpackedK;
      alignas(64) float scale[16][16], min[16][16];
      by.scales(entry, k, {nullptr, 0, 0, scale[0], min[0], 16, 16, 0});
      Vi total[2][16];
      by.sums[rows - 1]({.lines = lines,
                         .ahead = lines + a.fetch_ahead,
                         .x = static_cast<const int8_t*>(a.x) + row * a.x_stride + from,
                         .x_stride = a.x_stride,
                         .k = k,
                         .total = total});
      for (uint32_t r = 0; r < rows; ++r) {
        GroupInputs& x = inputs[r][block % kKept];
        if (panel == first || blocks > kKept) group_inputs(a, by, row + r, from, k, &x);
        V d = all(0.0f);
        for (size_t g = 0; g < k / by.group; ++g)
          d = fma(floats(add(total[r][g], all_int(x.back[g]))), mul(load(scale[g]), all(x.scale[g])), d);
        acc[r] = block ? add(acc[r], d) : d;
        if (by.min)
          for (size_t g = 0; g < k / by.group; ++g) acc[r] = fma(load(min[g]), all(x.sum[g]), acc[r]);
      }
    }
    for (uint32_t r = 0; r < rows; ++r) finish(a, row + r, panel, acc[r]);
  }
}

[[gnu::noinline]] inline void gemm_blocks(GemmArgs a, const FewRows& few, const UnpackedBy& by) {
  if (a.m >= few.many) return unpacked(a, by);
  constexpr uint32_t kPanels = 8;  // that stay in the caches while the rows go by, if there are more than two
  for (uint32_t panel = 0, end = a.n_panels; panel < end; panel += a.n_panels) {
    a.n_panels = a.m > 2 && end - panel > kPanels ? kPanels : end - panel;
    for (uint32_t row = 0; row < a.m; row += 2) few_rows(a, few, panel, row, a.m - row < 2 ? 1 : 2);
  }
}

// kBase: the tier that unpacks, or NULL: this one.
template <class Kind, linnet_format kFormat, void (*kProduct)(const GemmArgs*), class Product, const KernelTable* kBase = nullptr>
void gemm_unpacked(const GemmArgs* args) {
  static constexpr FewRows kFew = [] {
    if constexpr (HasRowSums<Kind, Product>)
      return few_rows_of<Kind, Product>();
    else
      return FewRows{};
  }();
  if constexpr (kBase != nullptr)
    gemm_blocks(*args, kFew, {kBase->unpack[kFormat - LINNET_Q4_K], Kind::kLineBytes, Kind::kEntry, Kind::kGroup, Kind::kMin, kProduct});
  else
    gemm_blocks(*args, kFew, unpacked_by<Kind, kProduct>());
}

}  // namespace
}  // namespace linnet
