// Blocks of GGUF files by one row, without unpacking: a line's codes go into the tier's product as they are made. For tiers that have,
// beside what rows.h lists:
//   Bytes                     64 of them
//   load_bytes(p); masked(v, bits), down(v, n), up(v, n) (bits of the neighbour come in), join(v, w), less(v, n); chosen(table, nibbles)
//   floats(Vi)
//   Product::add(Vi, Bytes, x), Product::add_unsigned (bytes up to 127): plus the products of four bytes each with four of x
#pragma once
#include "unpacked.h"

namespace linnet {
namespace {

// The sums of at most 256 inputs of a row, each group's times its scale.
struct RowSums {
  const uint8_t* lines;
  const int8_t* x;
  const float* x_scale;  // of groups of 32
  const float (*scale)[16];
  size_t ahead;
  V d = all(0.0f);

  INLINE Bytes line(size_t i) const {
    __builtin_prefetch(lines + ahead + i * 64);
    return load_bytes(lines + i * 64);
  }
  INLINE void add(Vi dot, size_t g, float of_x) { d = fma(floats(dot), mul(load(scale[g]), all(of_x)), d); }
};

template <class Product, bool kFifth>
INLINE void row_k45(RowSums* s) {
  UNROLL for (int g = 0; g < 8; g += 2) {
    Vi dot[2] = {all_int(0), all_int(0)};
    for (size_t t = 0; t < 8; ++t) {
      const Bytes v = s->line(static_cast<size_t>(g) * 4 + t);
      Bytes code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      if (kFifth) {
        const Bytes fifth = load_bytes(s->lines + 2048 + t * 64);
        code[0] = join(code[0], masked(g < 4 ? up(fifth, 4 - g) : down(fifth, g - 4), 16));
        code[1] = join(code[1], masked(g < 3 ? up(fifth, 3 - g) : down(fifth, g - 3), 16));
      }
      UNROLL for (size_t h = 0; h < 2; ++h) dot[h] =
          Product::add_unsigned(dot[h], code[h], s->x + static_cast<size_t>(g) * 32 + h * 32 + t * 4);
    }
    UNROLL for (size_t h = 0; h < 2; ++h) s->add(dot[h], static_cast<size_t>(g) + h, s->x_scale[static_cast<size_t>(g) + h]);
  }
  if (kFifth) UNROLL for (size_t t = 0; t < 8; ++t) __builtin_prefetch(s->lines + s->ahead + 2048 + t * 64);
}
template <class Product>
INLINE void row_sums(Q4K, uint32_t, RowSums* s) {
  row_k45<Product, false>(s);
}
template <class Product>
INLINE void row_sums(Q5K, uint32_t, RowSums* s) {
  row_k45<Product, true>(s);
}
template <class Product>
INLINE void row_sums(Q6K, uint32_t, RowSums* s) {
  for (size_t half = 0; half < 2; ++half) {
    Vi dot[2][4];
    UNROLL for (size_t p = 0; p < 2; ++p) {
      UNROLL for (int q = 0; q < 4; ++q) dot[p][q] = all_int(0);
      for (size_t t = p * 4; t < p * 4 + 4; ++t) {
        const Bytes low[2] = {s->line(half * 16 + t), s->line(half * 16 + 8 + t)}, high = s->line(32 + half * 8 + t);
        UNROLL for (int q = 0; q < 4; ++q) {
          const Bytes nibble = masked(q < 2 ? low[q % 2] : down(low[q % 2], 4), 15), two = masked(q < 2    ? up(high, 4 - q * 2)
                                                                                                  : q == 2 ? high
                                                                                                           : down(high, 2),
                                                                                                  0x30);
          dot[p][q] = Product::add(dot[p][q], less(join(nibble, two), 32), s->x + half * 128 + static_cast<size_t>(q) * 32 + t * 4);
        }
      }
    }
    UNROLL for (size_t q = 0; q < 4; ++q) UNROLL for (size_t p = 0; p < 2; ++p)
        s->add(dot[p][q], half * 8 + q * 2 + p, s->x_scale[half * 4 + q]);
  }
}
// kTable: of signed numbers, or NULL: codes as they are.
template <class Product, size_t kLines>
INLINE void row_nibbles(const int8_t* table, uint32_t k, RowSums* s) {
  constexpr size_t kGroup = kLines * 8;
  for (size_t g = 0; g < k / kGroup; ++g) {
    Vi dot = all_int(0);
    UNROLL for (size_t t = 0; t < kLines; ++t) {
      const Bytes v = s->line(g * kLines + t), code[2] = {masked(v, 15), masked(down(v, 4), 15)};
      UNROLL for (size_t h = 0; h < 2; ++h) {
        const int8_t* x = s->x + g * kGroup + h * kGroup / 2 + t * 4;
        dot = table ? Product::add(dot, chosen(table, code[h]), x) : Product::add_unsigned(dot, code[h], x);
      }
    }
    s->add(dot, g, s->x_scale[g * kGroup / 32]);
  }
}
template <class Product>
INLINE void row_sums(Q41, uint32_t k, RowSums* s) {
  row_nibbles<Product, 4>(nullptr, k, s);
}
template <class Product>
INLINE void row_sums(Iq4Nl, uint32_t k, RowSums* s) {
  row_nibbles<Product, 4>(kUneven<0>.of, k, s);
}
template <class Product>
INLINE void row_sums(Iq4Xs, uint32_t k, RowSums* s) {
  row_nibbles<Product, 4>(kUneven<0>.of, k, s);
}
template <class Product>
INLINE void row_sums(Mxfp4, uint32_t k, RowSums* s) {
  row_nibbles<Product, 4>(kE2m1<0>.of, k, s);
}
template <class Product>
INLINE void row_sums(Nvfp4, uint32_t k, RowSums* s) {
  row_nibbles<Product, 2>(kE2m1<0>.of, k, s);
}
template <class Product, size_t kParts, bool kThird, int kLess>
INLINE void row_two_bits(RowSums* s) {
  for (size_t half = 0; half < 2; ++half) {
    Vi dot[kParts][4];
    UNROLL for (size_t p = 0; p < kParts; ++p) {
      UNROLL for (int q = 0; q < 4; ++q) dot[p][q] = all_int(0);
      for (size_t t = p * 8 / kParts; t < (p + 1) * 8 / kParts; ++t) {
        const Bytes v = s->line(half * 8 + t);
        Bytes third = v;
        if (kThird) third = down(s->line(16 + t), half ? 4 : 0);
        UNROLL for (int q = 0; q < 4; ++q) {
          Bytes code = masked(down(v, q * 2), 3);
          if (kThird) code = join(code, masked(q < 2 ? up(third, 2 - q) : down(third, q - 2), 4));
          const int8_t* x = s->x + half * 128 + static_cast<size_t>(q) * 32 + t * 4;
          dot[p][q] = kLess ? Product::add(dot[p][q], less(code, kLess), x) : Product::add_unsigned(dot[p][q], code, x);
        }
      }
    }
    UNROLL for (size_t q = 0; q < 4; ++q) UNROLL for (size_t p = 0; p < kParts; ++p)
        s->add(dot[p][q], (half * 4 + q) * kParts + p, s->x_scale[half * 4 + q]);
  }
}
template <class Product>
INLINE void row_sums(Q2K, uint32_t, RowSums* s) {
  row_two_bits<Product, 2, false, 0>(s);
}
template <class Product>
INLINE void row_sums(Q3K, uint32_t, RowSums* s) {
  row_two_bits<Product, 2, true, 4>(s);
}
template <class Product>
INLINE void row_sums(Tq2, uint32_t, RowSums* s) {
  row_two_bits<Product, 1, false, 1>(s);
}

template <class Kind, class Product>
concept HasRowSums = requires(RowSums* s) { row_sums<Product>(Kind{}, 256u, s); };

// A kind's own scales, `step` bytes for 256 inputs, and those of kLikeQ41, which are asked for at run time.
template <class Kind>
struct OwnScales {
  static constexpr size_t step = Kind::kEntry;
  static INLINE void make(const uint8_t* entry, uint32_t k, const UnpackTo& to) { Kind::scales(entry, k, to); }
};
struct AskedScales {
  BlockScales* make;
  size_t step;
};
template <class Kind, class Product, class Scales>
void rows_alone(const GemmArgs& a, const Scales& scales) {
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m; ++row) {
      const uint8_t *lines = static_cast<const uint8_t*>(a.w) + panel * a.w_stride,
                    *entry = static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride, *const end = entry + a.w_scale_stride;
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      const float* x_scale = a.x_scale + row * size_t{a.x_groups};
      V acc = all(0.0f);
      for (uint32_t from = 0; from < a.k; from += kUnpackedK, lines += Kind::kLineBytes, entry += scales.step) {
        const uint32_t k = a.k - from < kUnpackedK ? a.k - from : kUnpackedK;
        alignas(64) float scale[16][16], min[16][16];
        scales.make(entry, k, {nullptr, 0, 0, scale[0], min[0], 16, 16, 0, end});
        RowSums sums = {lines, x + from, x_scale + from / 32, scale, a.fetch_ahead};
        row_sums<Product>(Kind{}, k, &sums);
        acc = from ? add(acc, sums.d) : sums.d;
        for (uint32_t g = 0; Kind::kMin && g < k / Kind::kGroup; ++g) {
          int32_t sum = 0;
          for (uint32_t i = 0; i < Kind::kGroup; ++i) sum += x[from + g * Kind::kGroup + i];
          acc = fma(load(min[g]), all(static_cast<float>(-sum) * x_scale[(from + g * Kind::kGroup) / 32]), acc);
        }
      }
      finish(a, row, panel, acc);
    }
}

// A format's place among those of blocks.
constexpr uint32_t block_index(linnet_format f) {
  uint32_t i = 0;
#define LINNET_BLOCKS(name, NAME, ...) i += LINNET_##NAME < f;
#include "../runtime/formats.inc"
  return i;
}

// A row or two of the kinds above, or whatever there is. kBase: the tier that unpacks, or NULL: this one.
template <class Kind, linnet_format kFormat, void (*kProduct)(const GemmArgs*), class Product, const KernelTable* kBase = nullptr>
void gemm_unpacked(const GemmArgs* args) {
  if constexpr (kLikeQ41<Kind>) {
    AskedScales scales = {Kind::scales, Kind::kEntry};
    asm("" : "+r"(scales.make), "+r"(scales.step));  // or GCC makes a copy for each
    if (args->m <= 2) return rows_alone<Q41, Product>(*args, scales);
  } else if constexpr (HasRowSums<Kind, Product>) {
    if (args->m <= 2) return rows_alone<Kind, Product>(*args, OwnScales<Kind>());
  }
  if constexpr (kBase != nullptr)
    unpacked(*args, {kBase->unpack[block_index(kFormat)], Kind::kLineBytes, Kind::kEntry, Kind::kGroup, Kind::kMin, kProduct, nullptr});
  else
    unpacked(*args, unpacked_by<Kind, kProduct>());
}

}  // namespace
}  // namespace linnet
