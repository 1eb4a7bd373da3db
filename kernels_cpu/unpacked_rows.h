// Blocks of GGUF files by a few rows, without unpacking: a line's codes go into the tier's product as they are made. For tiers that have,
// beside what rows.h lists:
//   Bytes                     64 of them
//   load_bytes(p); masked(v, bits), down(v, n), up(v, n) (bits of the neighbour come in), join(v, w); chosen(table, nibbles)
//   where(v, at)              bits `at` to at + 3 of each word, as 0 or 255 in its four bytes; at is a multiple of 4
//   plus(v, w), flip(v, bits) sums of bytes, XOR; thirds(v): 3 v / 256; side_by_side(p): of four runs of sixteen bytes, words
//   floats(Vi); divided<N>(Vi): by 2^N, of signed ones
//   Product::kMost            the largest code that it multiplies
//   Product::kRegisters       of a line each
//   Product::kRows            how many rows share codes at most: 1, 2 or 4
//   Product::kManyRows        from so many on, blocks are unpacked once for all rows; kManyDear: of codes that are signed or digits
//   Product::four(x)          four inputs
//   Product::Sum<kMost>       the sum of at most 32 inputs of 16 outputs, by codes of 0 to kMost, or -127 to 127 where kMost is 0, in
//                             lines of four: add(Bytes, four); total(): Vi
#pragma once
#include "unpacked.h"

namespace linnet {
namespace {

// What a row has for the groups of at most 256 inputs: minus the sum of their codes, times what the weights' codes are more than they stand
// for, or times its scale, for minima. No kind has both.
union GroupInputs {
  int32_t back[16];
  float sum[16];
};
constexpr uint32_t kKeptInputs = 32;

// At most 256 inputs of some rows by a panel.
struct BlockRows {
  const uint8_t *lines, *entry;
  const uint8_t* end;    // of the panel's scales
  const uint8_t* ahead;  // lines that are asked for meanwhile
  uint32_t zeros;        // of kinds with zero points: inputs that share one, and 1 more where it is added
  const int8_t* x;
  size_t x_stride;
  const GroupInputs* inputs;  // of row r: [r * kKeptInputs]
  const float* x_scale;       // of groups of 32, of row r: [r * x_groups]
  size_t x_groups;
  uint32_t k;
  bool first;  // of a row
  V* sums;     // [row]

  // Asks for line i. Lines are asked for in the order in which they lie, since in that of their use memory is slower, and one after the
  // other where it stands: compilers would move the intrinsic, and many at once hold up what is loaded.
  INLINE void ask(size_t i) const { prefetch(ahead + i * 64); }
};

// What codes are more than they stand for.
template <class Kind, class Product>
constexpr int32_t kMore = 0;
template <class Product>
constexpr int32_t kMore<Q6K, Product> = 32;
template <class Product>
constexpr int32_t kMore<Q50, Product> = 16;
template <class Product>
constexpr int32_t kMore<Iq4Nl, Product> = Product::kMost == 255 ? 128 : 0;
template <class Product>
constexpr int32_t kMore<Iq4Xs, Product> = kMore<Iq4Nl, Product>;
template <class Product>
constexpr int32_t kMore<Mxfp4, Product> = 12;
template <class Product>
constexpr int32_t kMore<Nvfp4, Product> = 12;
template <class Product>
constexpr int32_t kMore<Q3K, Product> = 4;
template <class Product>
constexpr int32_t kMore<Tq1, Product> = 1;
template <class Product>
constexpr int32_t kMore<Tq2, Product> = 1;
template <class Product>
constexpr int32_t kMore<Tq2F32, Product> = 1;
// Whether its numbers of a table are signed to the product.
template <class Kind, class Product>
constexpr bool kSigned = false;
template <class Product>
constexpr bool kSigned<Iq4Nl, Product> = Product::kMost < 255;
template <class Product>
constexpr bool kSigned<Iq4Xs, Product> = Product::kMost < 255;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 14 does not see that no block has more than 256 inputs
#endif
// Scales and minima of a block: worked out as they are used, or before, as the parts of which they are made or whole.
template <class Kind>
struct BlockScales {
  const uint8_t* entry;
  explicit BlockScales(const BlockRows& b) : entry(b.entry) {}
  INLINE V scale(size_t g) const { return Kind::scale(entry, g); }
  INLINE V min(size_t g) const { return Kind::min(entry, g); }
};
template <HasParts Kind>
struct BlockScales<Kind> {
  Parts parts;
  V d, d_min;
  explicit BlockScales(const BlockRows& b) {
    put_parts<Kind>(b.entry, &parts);
    d = first_scales(b.entry);
    if (Kind::kMin) d_min = first_scales(b.entry + 32);
  }
  INLINE V scale(size_t g) const { return mul(d, from_bytes(parts.scale[g])); }
  INLINE V min(size_t g) const { return mul(d_min, from_bytes(parts.min[g])); }
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class Kind>
struct WholeScales {
  alignas(64) float of[256 / Kind::kGroup][16];
  explicit WholeScales(const BlockRows& b) {
    const UnpackTo to = {nullptr, 0, 0, of[0], nullptr, 16, 0, 0, b.end};
    if constexpr (requires { Kind::scales(b.entry, b.k, to); })
      Kind::scales(b.entry, b.k, to);
    else
      put_scales<Kind>(b.entry, b.k, to);
  }
  INLINE V scale(size_t g) const { return load(of[g]); }
};
template <>
struct BlockScales<Mxfp4> : WholeScales<Mxfp4> {
  using WholeScales::WholeScales;
};
template <>
struct BlockScales<Nvfp4> : WholeScales<Nvfp4> {
  using WholeScales::WholeScales;
};
template <>
struct BlockScales<Tq2F32> {
  V d;
  explicit BlockScales(const BlockRows& b) : d(Tq2F32::outer(b.end)) {}
  INLINE V scale(size_t) const { return d; }
};

template <>
struct BlockScales<ZeroPoints> {
  alignas(64) float of[8][16], less[8][16];
  explicit BlockScales(const BlockRows& b) {
    zero_scales(b.entry, b.k, b.zeros & ~1u, b.zeros & 1, {nullptr, 0, 0, of[0], less[0], 16, 16, 0, nullptr});
  }
  INLINE V scale(size_t g) const { return load(of[g]); }
  INLINE V min(size_t g) const { return load(less[g]); }
};

// Of R rows, as the groups come.
template <class Kind_, class Product_, int R>
struct RowSums {
  using Kind = Kind_;
  using Product = Product_;
  static constexpr int kRows = R;
  const BlockRows& block;
  const BlockScales<Kind> scales;
  V d[R];

  explicit RowSums(const BlockRows& b) : block(b), scales(b) { UNROLL for (V& v : d) v = all(0.0f); }

  template <int kMost>
  struct Sum {
    typename Product::template Sum<kMost> of[R];
  };
  struct Total {
    Vi of[R];
  };
  // Both sixteens of 32 inputs: twice the code where sums stay in registers, else a loop.
  template <class Do>
  INLINE static void each_part(const Do& part) {
    if constexpr (R * 8 * 2 <= Product::kRegisters) {
      part(0);
      part(1);
    } else {
      for (size_t i = 0; i < 2; ++i) part(i);
    }
  }
  template <int kMost>
  INLINE void add(Sum<kMost>* sum, Bytes codes, const int8_t* x) const {
    UNROLL for (size_t r = 0; r < R; ++r) sum->of[r].add(codes, Product::four(x + r * block.x_stride));
  }
  template <int kMost>
  INLINE static Total total(const Sum<kMost>& sum) {
    Total t;
    UNROLL for (size_t r = 0; r < R; ++r) t.of[r] = sum.of[r].total();
    return t;
  }
  INLINE static Total both(Total t, const Total& u) {
    UNROLL for (size_t r = 0; r < R; ++r) t.of[r] = linnet::add(t.of[r], u.of[r]);
    return t;
  }
  INLINE void put(const Total& total, size_t g) {
    const V scale = scales.scale(g);
    UNROLL for (size_t r = 0; r < R; ++r) {
      Vi t = total.of[r];
      if (kMore<Kind, Product> != 0) t = linnet::add(t, all_int(block.inputs[r * kKeptInputs].back[g]));
      d[r] = fma(floats(t), mul(scale, all(block.x_scale[r * block.x_groups + g * Kind::kGroup / 32])), d[r]);
    }
  }
  INLINE void finish() {
    const size_t groups = (Kind::kBlock == 256 ? 256 : block.k) / Kind::kGroup;
    if (!block.first) UNROLL for (size_t r = 0; r < R; ++r) d[r] = linnet::add(block.sums[r], d[r]);
    if constexpr (Kind::kMin)
      for (size_t g = 0; g < groups; ++g) {
        const V min = scales.min(g);
        UNROLL for (size_t r = 0; r < R; ++r) d[r] = fma(min, all(block.inputs[r * kKeptInputs].sum[g]), d[r]);
      }
    UNROLL for (size_t r = 0; r < R; ++r) block.sums[r] = d[r];
  }
};

template <bool kFifth, class Sums>
INLINE void sums_k45(Sums* s) {
  const BlockRows& b = s->block;
  const uint8_t *const fifths = b.lines + 64, *lines = b.lines;
  const int8_t* x = b.x;
  for (size_t g = 0; g < b.k / 32; g += 2, x += 64) {
    const size_t step = kFifth && g == 0 ? 128 : 64;
    typename Sums::template Sum<kFifth ? 31 : 15> sum[2];
    UNROLL for (size_t t = 0; t < 8; ++t) {
      b.ask(kFifth ? g * 5 + t * 5 / 4 : g * 4 + t);
      if (kFifth && t % 4 == 3) b.ask(g * 5 + t * 5 / 4 + 1);
      const Bytes v = load_bytes(lines + t * step);
      Bytes code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      if (kFifth) {
        const Bytes fifth = down(load_bytes(fifths + t * 128), static_cast<int>(g));
        code[0] = join(code[0], masked(up(fifth, 4), 16));
        code[1] = join(code[1], masked(up(fifth, 3), 16));
      }
      UNROLL for (size_t h = 0; h < 2; ++h) s->add(&sum[h], code[h], x + h * 32 + t * 4);
    }
    UNROLL for (size_t h = 0; h < 2; ++h) s->put(s->total(sum[h]), g + h);
    lines += 8 * step;
  }
}
template <class Sums>
INLINE void row_sums(Q4K, Sums* s) {
  sums_k45<false>(s);
}
template <class Sums>
INLINE void row_sums(Q5K, Sums* s) {
  sums_k45<true>(s);
}
template <class Sums>
INLINE void row_sums(Q6K, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t half = 0; half < b.k / 128; ++half) {
    typename Sums::Total total[8];
    s->each_part([&](size_t part) __attribute__((always_inline)) {
      const uint8_t* lines = b.lines + half * 1536 + part * 768;
      const int8_t* x = b.x + half * 128 + part * 16;
      typename Sums::template Sum<63> sum[4];
      UNROLL for (size_t t = 0; t < 4; ++t) {
        UNROLL for (size_t j = 0; j < 3; ++j) b.ask(((half * 2 + part) * 4 + t) * 3 + j);
        const Bytes low[2] = {load_bytes(lines + t * 192), load_bytes(lines + t * 192 + 64)}, high = load_bytes(lines + t * 192 + 128);
        UNROLL for (int q = 0; q < 4; ++q) {
          const Bytes two = q < 2 ? up(high, 4 - q * 2) : q == 2 ? high : down(high, 2);
          s->add(&sum[q], join(masked(q < 2 ? low[q % 2] : down(low[q % 2], 4), 15), masked(two, 0x30)), x + q * 32 + t * 4);
        }
      }
      UNROLL for (size_t q = 0; q < 4; ++q) total[q * 2 + part] = s->total(sum[q]);
    });
    UNROLL for (size_t g = 0; g < 8; ++g) s->put(total[g], half * 8 + g);
  }
}
// table: of codes of 0 to kMost, or of signed ones where that is 0; NULL: codes as they are.
template <size_t kLines, int kMost, bool kFifth, class Sums>
INLINE void sums_nibbles(const int8_t* table, Sums* s) {
  constexpr size_t kGroup = kLines * 8, kStep = kLines + kFifth;
  const BlockRows& b = s->block;
  const uint8_t* lines = b.lines;
  const int8_t* x = b.x;
  for (size_t g = 0; g < b.k / kGroup; ++g, lines += kStep * 64, x += kGroup) {
    typename Sums::template Sum<kMost> sum;
    Bytes fifth = {};
    if (kFifth) fifth = load_bytes(lines + kLines * 64);
    UNROLL for (size_t t = 0; t < kLines; ++t) {
      b.ask(g * kStep + t);
      if (kFifth && t + 1 == kLines) b.ask(g * kStep + kLines);
      const Bytes v = load_bytes(lines + t * 64);
      Bytes code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      UNROLL for (size_t h = 0; h < 2; ++h) {
        if (table) code[h] = chosen(table, code[h]);
        if (kFifth) code[h] = join(code[h], masked(where(fifth, static_cast<int>(h * 16 + t * 4)), 16));
        s->add(&sum, code[h], x + h * kGroup / 2 + t * 4);
      }
    }
    s->put(s->total(sum), g);
  }
}
template <class Sums>
INLINE void row_sums(Q41, Sums* s) {
  sums_nibbles<4, 15, false>(nullptr, s);
}
template <class Sums>
INLINE void row_sums(ZeroPoints, Sums* s) {
  row_sums(Q41{}, s);
}
template <class Sums>
INLINE void row_sums(Q50, Sums* s) {
  sums_nibbles<4, 31, true>(nullptr, s);
}
template <class Sums>
INLINE void row_sums(Q51, Sums* s) {
  sums_nibbles<4, 31, true>(nullptr, s);
}
template <class Sums>
INLINE void row_sums(Iq4Nl, Sums* s) {
  if constexpr (Sums::Product::kMost == 255)
    sums_nibbles<4, 255, false>(kUneven<0x80>.of, s);
  else
    sums_nibbles<4, 0, false>(kUneven<0>.of, s);
}
template <class Sums>
INLINE void row_sums(Iq4Xs, Sums* s) {
  row_sums(Iq4Nl{}, s);
}
template <class Sums>
INLINE void row_sums(Mxfp4, Sums* s) {
  sums_nibbles<4, 24, false>(kE2m1More.of, s);
}
template <class Sums>
INLINE void row_sums(Nvfp4, Sums* s) {
  sums_nibbles<2, 24, false>(kE2m1More.of, s);
}
template <bool kThird, class Sums>
INLINE void sums_two_bits(Sums* s) {
  constexpr size_t kLines = 4;
  const BlockRows& b = s->block;
  for (size_t half = 0; half < b.k / 128; ++half) {
    typename Sums::Total total[8];
    s->each_part([&](size_t part) __attribute__((always_inline)) {
      const size_t step = kThird && half == 0 ? 128 : 64;
      const uint8_t *lines = b.lines + half * (kThird ? 1024 : 512) + part * kLines * step, *thirds = b.lines + part * 512 + 64;
      const int8_t* x = b.x + half * 128 + part * 16;
      typename Sums::template Sum<kThird ? 7 : 3> sum[4];
      UNROLL for (size_t t = 0; t < kLines; ++t) {
        const size_t line = half * 8 + part * kLines + t;
        b.ask(kThird ? line * 3 / 2 : line);
        if (kThird && t % 2) b.ask(line * 3 / 2 + 1);
        const Bytes v = load_bytes(lines + t * step);
        Bytes third = v;
        if (kThird) third = down(load_bytes(thirds + t * 128), static_cast<int>(half * 4));
        UNROLL for (int q = 0; q < 4; ++q) {
          Bytes code = masked(down(v, q * 2), 3);
          if (kThird) code = join(code, masked(q < 2 ? up(third, 2 - q) : down(third, q - 2), 4));
          s->add(&sum[q], code, x + q * 32 + t * 4);
        }
      }
      UNROLL for (size_t q = 0; q < 4; ++q) total[q * 2 + part] = s->total(sum[q]);
    });
    if (Sums::Kind::kGroup == 16)
      UNROLL for (size_t g = 0; g < 8; ++g) s->put(total[g], half * 8 + g);
    else
      UNROLL for (size_t g = 0; g < 4; ++g) s->put(s->both(total[g * 2], total[g * 2 + 1]), half * 4 + g);
  }
}
template <class Sums>
INLINE void row_sums(Q2K, Sums* s) {
  sums_two_bits<false>(s);
}
template <class Sums>
INLINE void row_sums(Q3K, Sums* s) {
  sums_two_bits<true>(s);
}
template <class Sums>
INLINE void row_sums(Tq2, Sums* s) {
  sums_two_bits<false>(s);
}
template <class Sums>
INLINE void row_sums(Tq2F32, Sums* s) {
  sums_two_bits<false>(s);
}
// The sum of a group by digits. A byte v has the digit d in front: 3 v = 256 d + what has the next one. So for few rows of products that
// take all bytes 256 times their sum is made of the bytes as they are, which costs a product more and not the taking of digits.
template <class Sums>
struct DigitSum {
  static constexpr bool kInRegisters = Sums::kRows == 1 || Sums::kRows * 8 <= Sums::Product::kRegisters;
  static constexpr bool kByBytes = Sums::Product::kMost == 255 && kInRegisters && Sums::kRows <= 2;
  typename Sums::template Sum<kByBytes ? 255 : 2> sum[1 + kByBytes];
  INLINE void add(const Sums& s, Bytes v, Bytes next, const int8_t* x) {
    s.add(&sum[0], kByBytes ? v : thirds(v), x);
    if constexpr (kByBytes) s.add(&sum[1], next, x);
  }
  INLINE typename Sums::Total total() const {
    typename Sums::Total t = Sums::total(sum[0]);
    if constexpr (kByBytes) {
      const typename Sums::Total next = Sums::total(sum[1]);
      UNROLL for (int r = 0; r < Sums::kRows; ++r) t.of[r] = divided<8>(sub(linnet::add(t.of[r], shift_left<1>(t.of[r])), next.of[r]));
    }
    return t;
  }
};
template <class Sums>
INLINE void row_sums(Tq1, Sums* s) {
  const BlockRows& b = s->block;
  const auto each = [](size_t n, const auto& line) __attribute__((always_inline)) {  // sums that are in memory take a loop, of less code
    if constexpr (DigitSum<Sums>::kInRegisters)
      UNROLL for (size_t t = 0; t < n; ++t) line(t);
    else
      for (size_t t = 0; t < n; ++t) line(t);
  };
  {
    DigitSum<Sums> sum[5];
    each(8, [&](size_t t) __attribute__((always_inline)) {
      b.ask(t);
      Bytes v = load_bytes(b.lines + t * 64);
      UNROLL for (size_t g = 0; g < 5; ++g) {
        const Bytes next = plus(v, plus(v, v));
        sum[g].add(*s, v, next, b.x + g * 32 + t * 4);
        v = next;
      }
    });
    UNROLL for (size_t g = 0; g < 5; ++g) s->put(sum[g].total(), g);
  }
  DigitSum<Sums> sum[3];
  each(4, [&](size_t t) __attribute__((always_inline)) {
    Bytes v = Tq1::rest(b.entry, t);
    UNROLL for (size_t digit = 0; digit < 5; ++digit) {
      const Bytes next = plus(v, plus(v, v));
      sum[digit / 2].add(*s, v, next, b.x + 160 + digit * 16 + t * 4);
      v = next;
    }
  });
  Bytes v = Tq1::rest(b.entry, 4);
  UNROLL for (size_t digit = 0; digit < 4; ++digit) {
    const Bytes next = plus(v, plus(v, v));
    sum[2].add(*s, v, next, b.x + 240 + digit * 4);
    v = next;
  }
  UNROLL for (size_t g = 0; g < 3; ++g) s->put(sum[g].total(), 5 + g);
}

// Whether its codes cost more than others', so that blocks are unpacked for fewer rows.
template <class Kind, class Product>
constexpr bool kDear = kSigned<Kind, Product>;
template <class Product>
constexpr bool kDear<Tq1, Product> = true;

// A kind's blocks by 1, 2 and 4 rows, or some of these.
struct FewRows {
  void (*block[3])(const BlockRows& b);
  size_t lines, entry;
  uint32_t group;
  int32_t more;
  uint32_t many;
  uint32_t zeros;
};
template <class Kind, class Product, int R>
void block_rows(const BlockRows& b) {
  RowSums<Kind, Product, R> sums(b);
  row_sums(Kind{}, &sums);
  sums.finish();
}
template <class Kind, class Product>
concept HasRowSums = requires(RowSums<Kind, Product, 1>* s) { row_sums(Kind{}, s); };
// The kind whose code few rows run through.
template <class Kind>
struct FewAs {
  using Of = Kind;
  static constexpr uint32_t kZeros = 0;
};
template <uint32_t kOf, bool kAdded>
struct FewAs<Zero4<kOf, kAdded>> {
  using Of = ZeroPoints;
  static constexpr uint32_t kZeros = kOf + kAdded;
};
template <class Kind_, class Product>
constexpr FewRows few_rows_of() {
  using Kind = typename FewAs<Kind_>::Of;
  FewRows f = {};
  if constexpr (HasRowSums<Kind, Product>) {
    f = {{block_rows<Kind, Product, 1>},
         Kind::kLineBytes,
         Kind_::kEntry,
         Kind::kGroup,
         kMore<Kind, Product>,
         kDear<Kind, Product> ? Product::kManyDear : Product::kManyRows,
         FewAs<Kind_>::kZeros};
    if constexpr (Product::kRows >= 2) f.block[1] = block_rows<Kind, Product, 2>;
    if constexpr (Product::kRows == 4) f.block[2] = block_rows<Kind, Product, 4>;
  }
  return f;
}

inline void group_inputs(const GemmArgs& a, const FewRows& by, size_t row, uint32_t from, uint32_t k, GroupInputs* to) {
  const uint8_t* x = static_cast<const uint8_t*>(a.x) + row * a.x_stride + from;
  const size_t at = row * a.x_groups + from / 32;
  for (size_t i = 0; i < k / 32; ++i) {
    const auto put = [&](size_t g, int32_t less) {
      if (by.more)
        to->back[g] = less * by.more;
      else
        to->sum[g] = static_cast<float>(less) * a.x_scale[at + i];
    };
    const int32_t both = a.x_sum128[at + i] / 128;
    if (by.group == 32) {
      put(i, both);
    } else {
      const int32_t first = -total(widened(load_sixteen(x + i * 32)));
      put(i * 2, first);
      put(i * 2 + 1, both - first);
    }
  }
}

// 1, 2 or 4 rows by a.n_panels panels from `first` on. A panel after the other, and little beside it: lines come through the first-level
// cache as fast as it has room for them.
inline void few_rows(const GemmArgs& a, const FewRows& by, uint32_t first, uint32_t row, uint32_t rows) {
  GroupInputs inputs[4 * kKeptInputs];  // made ready once for all panels, if there are no more
  const uint32_t blocks = (a.k + kUnpackedK - 1) / kUnpackedK;
  V sums[4];
  const size_t entries_ahead = a.fetch_ahead * by.entry / by.lines;
  for (uint32_t panel = first; panel < first + a.n_panels; ++panel) {
    const uint8_t *lines = static_cast<const uint8_t*>(a.w) + panel * a.w_stride,
                  *entry = static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride, *const end = entry + a.w_scale_stride;
    for (uint32_t block = 0; block < blocks; ++block, lines += by.lines, entry += by.entry) {
      const uint32_t from = block * kUnpackedK, k = a.k - from < kUnpackedK ? a.k - from : kUnpackedK;
      GroupInputs* const at = inputs + block % kKeptInputs;
      for (size_t i = 0; i < by.entry; i += 64) prefetch(entry + entries_ahead + i);  // a stream that CPUs lose
      if (panel == first || blocks > kKeptInputs)
        for (uint32_t r = 0; r < rows; ++r) group_inputs(a, by, row + r, from, k, at + r * kKeptInputs);
      by.block[rows / 2]({.lines = lines,
                          .entry = entry,
                          .end = end,
                          .ahead = lines + a.fetch_ahead,
                          .zeros = by.zeros,
                          .x = static_cast<const int8_t*>(a.x) + row * a.x_stride + from,
                          .x_stride = a.x_stride,
                          .inputs = at,
                          .x_scale = a.x_scale + row * size_t{a.x_groups} + from / 32,
                          .x_groups = a.x_groups,
                          .k = k,
                          .first = block == 0,
                          .sums = sums});
    }
    for (uint32_t r = 0; r < rows; ++r) finish(a, row + r, panel, sums[r]);
  }
}

[[gnu::noinline]] inline void few_rows_by_panels(const GemmArgs& args, const FewRows& few) {
  GemmArgs a = args;
  constexpr uint32_t kPanels = 8;  // that stay in the caches while the rows go by, if there are more than two
  for (uint32_t panel = 0, end = a.n_panels; panel < end; panel += a.n_panels) {
    a.n_panels = a.m > 2 && end - panel > kPanels ? kPanels : end - panel;
    for (uint32_t row = 0, rows; row < a.m; row += rows) {
      const uint32_t left = a.m - row;
      rows = left >= 4 && few.block[2] ? 4 : left >= 2 && few.block[1] ? 2 : 1;
      few_rows(a, few, panel, row, rows);
    }
  }
}
[[gnu::noinline]] inline void gemm_blocks(const GemmArgs& a, const FewRows& few, const UnpackedBy& by) {
  if (a.m >= few.many)
    unpacked(a, by);
  else
    few_rows_by_panels(a, few);
}

// Said by a specialisation: GCC's -fsanitize=undefined takes no comparison of addresses for a constant.
template <const KernelTable* kBase>
constexpr bool kOtherUnpacks = true;
template <>
constexpr bool kOtherUnpacks<nullptr> = false;
// kBase: the tier that unpacks, or NULL: this one.
template <class Kind, linnet_format kFormat, void (*kProduct)(const GemmArgs*), class Product, const KernelTable* kBase = nullptr>
void gemm_unpacked(const GemmArgs* args) {
  static constexpr FewRows kFew = few_rows_of<Kind, Product>();
  static constexpr UnpackedBy kBy = [] {
    if constexpr (kOtherUnpacks<kBase>)
      return UnpackedBy{nullptr, Kind::kLineBytes, Kind::kEntry, Kind::kGroup, Kind::kMin, kProduct, kBase, kFormat};
    else
      return unpacked_by<Kind, kProduct>();
  }();
  gemm_blocks(*args, kFew, kBy);
}

}  // namespace
}  // namespace linnet
