// Blocks of GGUF files by a tier's own product of bytes. 256 inputs of some panels become codes of a byte with f32 scales in the
// first-level cache, as i8g128 has them, but in groups of 32 or 16. Included by tiers with the vectors of rows.h
// and, of their own, choose(table, nibbles, low, high): what a table of 16 bytes has for the nibbles of 64 bytes; so everything here has
// internal linkage.
#pragma once
#include "kernels.h"

namespace linnet {
namespace {

constexpr uint32_t kUnpackedK = 256, kUnpackedPanels = 4, kUnpackedRows = 64;

// What 256 inputs of a panel become, with the scales of groups of 32 or 16, and their minima.
struct UnpackedPanel {
  alignas(64) int8_t codes[kUnpackedK * 16];
  alignas(64) float scale[16][16], min[16][16];
};
struct Unpacked {
  UnpackedPanel panel[kUnpackedPanels];
  alignas(64) float acc[kUnpackedRows][kUnpackedPanels * 16];
  float x_scale[kUnpackedRows][16];  // of groups of 16
  int32_t x_sum128[kUnpackedRows][16];
};

INLINE void fetch_line(const uint8_t* line, const UnpackTo& to) {
  if (to.ahead) __builtin_prefetch(line + to.ahead);
}

// Where input i goes.
template <uint32_t kGroup>
INLINE int8_t* place(const UnpackTo& to, size_t i) {
  return to.codes + i / kGroup * to.group + i % kGroup / 4 * to.line;
}
INLINE V first_scales(const uint8_t* entry) { return load_scales<true>(reinterpret_cast<const char*>(entry)); }

// A line as the tier's vectors; of plain words compilers make none.
#if defined(__AVX512F__)
typedef uint64_t Word __attribute__((vector_size(64)));
#elif defined(__AVX2__)
typedef uint64_t Word __attribute__((vector_size(32)));
#else
typedef uint64_t Word __attribute__((vector_size(16)));
#endif
constexpr size_t kWords = 64 / sizeof(Word);
struct Line {
  Word of[kWords];
};
constexpr uint64_t each(uint64_t byte) { return byte * 0x0101010101010101u; }
INLINE Line load_line(const uint8_t* from) {
  Line l;
  UNROLL for (size_t i = 0; i < kWords; ++i) __builtin_memcpy(&l.of[i], from + i * sizeof(Word), sizeof(Word));
  return l;
}
template <class Code>
INLINE void put_line(int8_t* to, const Code& code) {
  UNROLL for (size_t i = 0; i < kWords; ++i) {
    const Word w = code(i);
    __builtin_memcpy(to + i * sizeof w, &w, sizeof w);
  }
}
// Bytes of 0 to 127 less `less`, XOR flip.
template <int kFlip, class Bytes8>
INLINE Bytes8 taken_off(Bytes8 bytes, uint64_t less) {
  return less ? (bytes + each(128 - less)) ^ each(kFlip ^ 128) : bytes ^ each(kFlip);
}

// A byte of each output.
typedef uint64_t Sixteen __attribute__((vector_size(16)));
INLINE Sixteen load_sixteen(const uint8_t* from) {
  Sixteen v;
  __builtin_memcpy(&v, from, 16);
  return v;
}
INLINE Sixteen bits_of(Sixteen v, size_t from, uint64_t mask) { return v >> from & each(mask); }
INLINE V from_bytes(Sixteen v) { return floats(widened(v)); }
INLINE V from_bits(Vi bits) {
  V v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}

// Of kinds whose scales are bytes times a number of the block: these bytes, and those of minima.
struct Parts {
  Sixteen scale[16], min[16];
};
template <class Kind>
concept HasParts = requires(const uint8_t* entry) { Kind::part(entry, 0u); };
template <class Kind>
[[gnu::noinline]] void put_parts_of(const uint8_t* entry, Parts* to) {
  UNROLL for (size_t g = 0; g < 256 / Kind::kGroup; ++g) {
    to->scale[g] = Kind::part(entry, g);
    if constexpr (Kind::kMin) to->min[g] = Kind::min_part(entry, g);
  }
}
template <class Kind>
INLINE void put_parts(const uint8_t* entry, Parts* to) {
  put_parts_of<typename Kind::WithParts>(entry, to);
}
[[gnu::noinline]] inline void put_products(const uint8_t* entry, const Parts& parts, size_t groups, bool min, const UnpackTo& unpack_to) {
  const UnpackTo to = unpack_to;
  const V d = first_scales(entry), d_min = min ? first_scales(entry + 32) : d;
  for (size_t g = 0; g < groups; ++g) {
    store(to.scale + g * to.scale_step, mul(d, from_bytes(parts.scale[g])));
    if (min) store(to.min + g * to.min_step, mul(d_min, from_bytes(parts.min[g])));
  }
}
// What groups of k inputs are multiplied with, and their minima.
template <class Kind>
[[gnu::noinline]] void put_scales(const uint8_t* entry, uint32_t k, const UnpackTo& unpack_to) {
  if constexpr (HasParts<Kind>) {
    Parts parts;
    put_parts<Kind>(entry, &parts);
    put_products(entry, parts, 256 / Kind::kGroup, Kind::kMin, unpack_to);
  } else {
    const UnpackTo to = unpack_to;
    for (size_t g = 0; g < k / Kind::kGroup; ++g) {
      store(to.scale + g * to.scale_step, Kind::scale(entry, g));
      if constexpr (Kind::kMin) store(to.min + g * to.min_step, Kind::min(entry, g));
    }
  }
}

// Kinds of formats.inc: kLineBytes bytes of lines and kEntry of scales are 256 inputs. kFlip: 0x80, or 0 for signed bytes; k: at most 256.
struct Q4K {
  static constexpr size_t kBlock = 256, kLineBytes = 2048, kEntry = kStepHalf16;
  static constexpr uint32_t kGroup = 32;
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    for (size_t g = 0; g < 8; g += 2)
      for (size_t t = 0; t < 8; ++t, lines += 64) {
        fetch_line(lines, to);
        const Line v = load_line(lines);
        int8_t* at = to.codes + g * to.group + t * to.line;
        put_line(at, [&](size_t i) { return (v.of[i] & each(15)) ^ each(kFlip); });
        put_line(at + to.group, [&](size_t i) { return (v.of[i] >> 4 & each(15)) ^ each(kFlip); });
      }
    put_scales<Q4K>(entry, 256, to);
  }
  using WithParts = Q4K;
  static Sixteen part(const uint8_t* entry, size_t g) { return six_bits(entry + 64, entry + 192, 0, g); }
  static Sixteen min_part(const uint8_t* entry, size_t g) { return six_bits(entry + 128, entry + 192, 4, g); }

 private:
  static Sixteen six_bits(const uint8_t* own, const uint8_t* rest, size_t shift, size_t g) {
    const Sixteen v = load_sixteen(own + g % 4 * 16);
    return g < 4 ? v & each(63) : bits_of(load_sixteen(rest + g % 4 * 16), shift, 15) | (v >> 2 & each(0x30));
  }
};
struct Q5K : Q4K {
  static constexpr size_t kLineBytes = 2560;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    const uint8_t* const fifths = lines + 64;
    for (size_t g = 0; g < 8; g += 2)
      for (size_t t = 0; t < 8; ++t, lines += g == 0 ? 128 : 64) {
        fetch_line(lines, to);
        if (g == 0) fetch_line(lines + 64, to);
        const Line v = load_line(lines), fifth = load_line(fifths + t * 128);
        int8_t* at = to.codes + g * to.group + t * to.line;
        put_line(at, [&](size_t i) { return ((v.of[i] & each(15)) | (fifth.of[i] >> g & each(1)) << 4) ^ each(kFlip); });
        put_line(at + to.group,
                 [&](size_t i) { return ((v.of[i] >> 4 & each(15)) | (fifth.of[i] >> (g + 1) & each(1)) << 4) ^ each(kFlip); });
      }
    put_scales<Q5K>(entry, 256, to);
  }
};
struct Q6K {
  static constexpr size_t kBlock = 256, kLineBytes = 3072, kEntry = kStepHalf18;
  static constexpr uint32_t kGroup = 16;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    for (size_t half = 0; half < 2; ++half)
      for (size_t t = 0; t < 8; ++t, lines += 192) {
        UNROLL for (size_t i = 0; i < 3; ++i) fetch_line(lines + i * 64, to);
        const Line l[2] = {load_line(lines), load_line(lines + 64)}, h = load_line(lines + 128);
        UNROLL for (size_t q = 0; q < 4; ++q) put_line(place<kGroup>(to, half * 128 + q * 32 + t * 4), [&](size_t i) {
          const Word nibble = l[q % 2].of[i] >> (q / 2 * 4) & each(15);
          return taken_off<kFlip>(nibble | (h.of[i] >> (q * 2) & each(3)) << 4, 32);
        });
      }
    put_scales<Q6K>(entry, 256, to);
  }
  static V scale(const uint8_t* entry, size_t g) { return mul(from_bytes(load_sixteen(entry + 32 + g * 16)), first_scales(entry)); }
};

// Nibbles, of which a byte has inputs i and i + 16 of 32: kBlock of them have lines of their own, and behind these kMore bytes an output.
template <uint32_t kBlock_, uint32_t kMore, size_t kEntry_>
struct Nibbles32 {
  static constexpr size_t kBlock = kBlock_, kBytes = kBlock / 2 + kMore, kLineBytes = kBytes * 4096 / kBlock, kEntry = kEntry_;
  static constexpr uint32_t kGroup = 32;
  static constexpr bool kMin = false;

 protected:
  // The table's numbers, as bytes XOR flip.
  static void choose_all(const int8_t* table, uint32_t k, const uint8_t* lines, const UnpackTo& to) {
    for (size_t i = 0; i < k; i += 32)
      for (size_t t = 0; t < 4; ++t, lines += 64) {
        fetch_line(lines, to);
        int8_t* first = to.codes + i / 32 * to.group + t * to.line;
        choose(table, lines, first, first + 4 * to.line);
      }
  }
};
struct Table {
  int8_t of[16];
};
constexpr Table flipped(Table t, int flip) {
  for (int8_t& v : t.of) v = static_cast<int8_t>(v ^ flip);
  return t;
}
template <int kFlip>
constexpr Table kUneven = flipped({{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}}, kFlip);
template <int kFlip>
constexpr Table kE2m1 = flipped({{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}}, kFlip);
constexpr Table more(Table t, int by) {
  for (int8_t& v : t.of) v = static_cast<int8_t>(v + by);
  return t;
}
constexpr Table kE2m1More = more(kE2m1<0>, 12);
struct Iq4Nl : Nibbles32<32, 0, kStepF16 * 8> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    choose_all(kUneven<kFlip>.of, k, lines, to);
    put_scales<Iq4Nl>(entry, k, to);
  }
  static V scale(const uint8_t* entry, size_t g) { return first_scales(entry + g * kStepF16); }
};
struct Iq4Xs : Nibbles32<256, 0, kStepHalf8> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    choose_all(kUneven<kFlip>.of, k, lines, to);
    put_scales<Iq4Xs>(entry, k, to);
  }
  using WithParts = Iq4Xs;
  static Sixteen part(const uint8_t* entry, size_t g) {
    return taken_off<0>(
        bits_of(load_sixteen(entry + 64 + g / 2 * 16), g % 2 * 4, 15) | bits_of(load_sixteen(entry + 32 + g / 4 * 16), g % 4 * 2, 3) << 4,
        32);
  }
};
struct Mxfp4 : Nibbles32<32, 0, kStepByte1 * 8> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    choose_all(kE2m1<kFlip>.of, k, lines, to);
    put_scales<Mxfp4>(entry, k, to);
  }
  static V scale(const uint8_t* entry, size_t g) {
    const Vi e = bits_of(widened(load_sixteen(entry + g * 16)), 255), subnormal = shift_left<21>(add(e, all_int(1)));
    return from_bits(larger(shift_left<23>(add(e, all_int(-1))), subnormal));
  }
};
// Of each sixteen inputs a byte's nibbles are i and i + 8.
struct Nvfp4 {
  static constexpr size_t kBlock = 64, kLineBytes = 2048, kEntry = kStepByte4Outer * 4;
  static constexpr uint32_t kGroup = 16;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    for (size_t g = 0; g < k / 16; ++g)
      for (size_t t = 0; t < 2; ++t, lines += 64) {
        fetch_line(lines, to);
        int8_t* first = to.codes + g * to.group + t * to.line;
        choose(kE2m1<kFlip>.of, lines, first, first + 2 * to.line);
      }
    scales(entry, k, to);
  }
  static void scales(const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    const auto* outer = reinterpret_cast<const float*>(to.end) - 32;
    const V first = load(outer), second = load(outer + 16);
    for (size_t g = 0; g < k / 16; ++g) {
      const V half = inner(entry, g);
      store(to.scale + g * to.scale_step, fma(half, first, mul(half, second)));
    }
  }
  // Half of what an e4m3 is.
  static V inner(const uint8_t* entry, size_t g) {
    const Vi v = widened(load_sixteen(entry + g * 16));
    return keep(mul(from_bits(shift_left<20>(bits_of(v, 127))), all(0x1p119f)), above(all(127.0f), floats(v)));
  }
};
struct Q41 : Nibbles32<32, 0, kStepF16Min * 8> {
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    codes<kFlip>(lines, k, to);
    put_scales<Q41>(entry, k, to);
  }
  template <int kFlip>
  [[gnu::noinline]] static void codes(const uint8_t* lines, uint32_t k, const UnpackTo& to) {
    for (size_t i = 0; i < k; i += 32)
      for (size_t t = 0; t < 4; ++t, lines += 64) {
        fetch_line(lines, to);
        const Line v = load_line(lines);
        int8_t* at = to.codes + i / 32 * to.group + t * to.line;
        put_line(at, [&](size_t j) { return (v.of[j] & each(15)) ^ each(kFlip); });
        put_line(at + 4 * to.line, [&](size_t j) { return (v.of[j] >> 4 & each(15)) ^ each(kFlip); });
      }
  }
  static V scale(const uint8_t* entry, size_t g) { return first_scales(entry + g * kStepF16Min); }
  static V min(const uint8_t* entry, size_t g) { return neg(first_scales(entry + g * kStepF16Min + 32)); }
};
// The same codes with a scale and a zero point of 16 bits for a block: f16 or, where the scale's sign is set, bf16. added: the zero point
// is added to (code - 8) * scale, else taken off the code.
[[gnu::noinline]] inline void zero_scales(const uint8_t* entry, uint32_t k, uint32_t block, bool added, const UnpackTo& unpack_to) {
  const UnpackTo to = unpack_to;
  for (size_t g = 0; g < k / 32; entry += kStepF16Min) {
    uint16_t raw[2][16];
    alignas(64) float of[2][16];
    uint32_t bits[2][16];
    __builtin_memcpy(raw, entry, sizeof raw);
    store(of[0], first_scales(entry));
    store(of[1], first_scales(entry + 32));
    __builtin_memcpy(bits, of, sizeof bits);
    for (int j = 0; j < 16; ++j) {
      const uint32_t wide = 0u - (raw[0][j] >> 15), scale = (raw[0][j] & 0x7FFFu) << 16, zero = static_cast<uint32_t>(raw[1][j]) << 16;
      bits[0][j] = (bits[0][j] & ~wide) | (scale & wide);
      bits[1][j] = (bits[1][j] & ~wide) | (zero & wide);
    }
    __builtin_memcpy(of, bits, sizeof of);
    const V scale = load(of[0]), zero = load(of[1]), min = added ? sub(mul(scale, all(8.0f)), zero) : mul(zero, scale);
    for (const size_t end = g + block / 32; g < end; ++g) {
      store(to.scale + g * to.scale_step, scale);
      store(to.min + g * to.min_step, min);
    }
  }
}
// What all such kinds have together.
struct ZeroPoints : Nibbles32<32, 0, kStepF16Min * 8> {
  static constexpr bool kMin = true;
};
template <uint32_t kOf, bool kAdded>
struct Zero4 : Nibbles32<kOf, 0, kStepF16Min * 256 / kOf> {
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    Q41::codes<kFlip>(lines, k, to);
    zero_scales(entry, k, kOf, kAdded, to);
  }
};
using Hqq32 = Zero4<32, false>;
using Hqq64 = Zero4<64, false>;
using Hqq128 = Zero4<128, false>;
using Ao32 = Zero4<32, true>;
using Ao64 = Zero4<64, true>;
using Ao128 = Zero4<128, true>;
// A word of fifth bits lies behind them.
template <size_t kEntry, int kLess>
struct Q5 : Nibbles32<32, 4, kEntry> {
 protected:
  template <int kFlip>
  static void codes(const uint8_t* lines, uint32_t k, const UnpackTo& to) {
    for (size_t i = 0; i < k; i += 32, lines += 320) {
      const Line fifths = load_line(lines + 256);
      for (size_t t = 0; t < 5; ++t) fetch_line(lines + t * 64, to);
      for (size_t t = 0; t < 8; ++t) {
        const Line v = load_line(lines + t % 4 * 64);
        put_line(place<32>(to, i + t * 4), [&](size_t j) {
          // Four bits of each half of a word to its four bytes; the lowest of these stand where they were.
          const Word four = fifths.of[j] >> t * 4 & 0x0000000F0000000Fu, ones = (four | four << 7 | four << 14 | four << 21) & each(1);
          return taken_off<kFlip>((v.of[j] >> t / 4 * 4 & each(15)) | ones << 4, kLess);
        });
      }
    }
  }
};
struct Q50 : Q5<kStepF16 * 8, 16> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    codes<kFlip>(lines, k, to);
    put_scales<Q50>(entry, k, to);
  }
  static V scale(const uint8_t* entry, size_t g) { return first_scales(entry + g * kStepF16); }
};
struct Q51 : Q5<kStepF16Min * 8, 0> {
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    codes<kFlip>(lines, k, to);
    put_scales<Q51>(entry, k, to);
  }
  static V scale(const uint8_t* entry, size_t g) { return Q41::scale(entry, g); }
  static V min(const uint8_t* entry, size_t g) { return Q41::min(entry, g); }
};

// Two bits: of each half of 128 inputs four times 32 lie in 32 bytes. What is taken off: kLess, or 4 where a third bit is not set.
template <uint32_t kGroup_, bool kThird, int kLess, size_t kEntry_>
struct TwoBits {
  static constexpr size_t kBlock = 256, kLineBytes = kThird ? 1536 : 1024, kEntry = kEntry_;
  static constexpr uint32_t kGroup = kGroup_;
  static constexpr bool kMin = false;

 protected:
  template <int kFlip>
  static void codes(const uint8_t* lines, const UnpackTo& to) {
    const uint8_t* const thirds = lines + 64;
    for (size_t half = 0; half < 2; ++half)
      for (size_t t = 0; t < 8; ++t, lines += kThird && half == 0 ? 128 : 64) {
        fetch_line(lines, to);
        if (kThird && half == 0) fetch_line(lines + 64, to);
        const Line v = load_line(lines), third = load_line(kThird ? thirds + t * 128 : lines);
        UNROLL for (size_t q = 0; q < 4; ++q) put_line(place<kGroup>(to, half * 128 + q * 32 + t * 4), [&](size_t i) {
          const Word two = v.of[i] >> (q * 2) & each(3);
          return taken_off<kFlip>(kThird ? two | (third.of[i] >> (half * 4 + q) & each(1)) << 2 : two, kThird ? 4 : kLess);
        });
      }
  }
};
struct Q2K : TwoBits<16, false, 0, kStepHalf20> {
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    codes<kFlip>(lines, to);
    put_scales<Q2K>(entry, 256, to);
  }
  static V scale(const uint8_t* entry, size_t g) {
    return mul(from_bytes(bits_of(load_sixteen(entry + 64 + g * 16), 0, 15)), first_scales(entry));
  }
  static V min(const uint8_t* entry, size_t g) {
    return mul(from_bytes(bits_of(load_sixteen(entry + 64 + g * 16), 4, 15)), first_scales(entry + 32));
  }
};
struct Q3K : TwoBits<16, true, 0, kStepHalf14> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    codes<kFlip>(lines, to);
    put_scales<Q3K>(entry, 256, to);
  }
  using WithParts = Q3K;
  static Sixteen part(const uint8_t* entry, size_t g) {
    return taken_off<0>(
        bits_of(load_sixteen(entry + 32 + g % 8 * 16), g / 8 * 4, 15) | bits_of(load_sixteen(entry + 160 + g % 4 * 16), g / 4 * 2, 3) << 4,
        32);
  }
};
struct Tq2 : TwoBits<32, false, 1, kStepF16> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    codes<kFlip>(lines, to);
    put_scales<Tq2>(entry, 256, to);
  }
  static V scale(const uint8_t* entry, size_t) { return first_scales(entry); }
};
// An output's scale is its outer factor.
struct Tq2F32 : TwoBits<32, false, 1, kStepOuter> {
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t*, uint32_t, const UnpackTo& to) {
    codes<kFlip>(lines, to);
    for (size_t g = 0; g < 8; ++g) store(to.scale + g * to.scale_step, outer(to.end));
  }
  static V outer(const uint8_t* end) { return load(reinterpret_cast<const float*>(end) - 32); }
};

}  // namespace
}  // namespace linnet

#include "unpacked_books.h"

namespace linnet {
namespace {

// A format's place among those of blocks.
constexpr uint32_t block_index(linnet_format f) {
  uint32_t i = 0;
#define LINNET_BLOCKS(name, NAME, ...) i += LINNET_##NAME < f;
#include "../runtime/formats.inc"
  return i;
}

// A kind and a tier's product of i8g128.
struct UnpackedBy {
  UnpackBlocks unpack;  // or NULL: as `base` has it
  size_t lines, entry;
  uint32_t group;
  bool min;
  void (*product)(const GemmArgs*);
  const KernelTable* base;
  linnet_format format;
};

// Scales and sums of at most 256 inputs of some rows in groups of 16.
inline void halve_groups(const GemmArgs& a, Unpacked* u) {
  for (uint32_t r = 0; r < a.m; ++r) {
    const uint8_t* x = static_cast<const uint8_t*>(a.x) + r * a.x_stride;
    for (uint32_t g = 0; g < a.k / 16; ++g) {
      u->x_sum128[r][g] = -128 * total(widened(load_sixteen(x + g * 16)));
      u->x_scale[r][g] = a.x_scale[r * size_t{a.x_groups} + g / 2];
    }
  }
}

// acc += the minima of at most 256 inputs.
inline void add_minima(const GemmArgs& a, Unpacked* u) {
  for (uint32_t r = 0; r < a.m; ++r)
    for (uint32_t p = 0; p < a.n_panels; ++p) {
      V acc = load(u->acc[r] + p * 16);
      for (size_t g = 0, at = r * size_t{a.x_groups}; g < a.k / a.x_group; ++g, ++at)
        acc = fma(load(u->panel[p].min[g]), all(static_cast<float>(a.x_sum128[at]) * 0x1p-7f * a.x_scale[at]), acc);
      store(u->acc[r] + p * 16, acc);
    }
}

// The panels from `panel` on, at most four, for some rows.
inline void unpacked_panels(const GemmArgs& a, const UnpackedBy& by, uint32_t panel, uint32_t n_panels, uint32_t row, uint32_t rows,
                            Unpacked* u) {
  GemmArgs b = a;
  b.m = rows;
  b.n_panels = n_panels;
  b.w = u->panel[0].codes;
  b.w_scale = u->panel[0].scale;
  b.w_stride = b.w_scale_stride = sizeof u->panel[0];
  b.y = u->acc[0];
  b.y_stride = kUnpackedPanels * 16;
  b.bias = nullptr;
  b.fetch_ahead = 0;
  b.next = nullptr;
  const UnpackBlocks unpack = by.unpack ? by.unpack : by.base->unpack[block_index(by.format)];
  for (uint32_t block = 0, from = 0; from < a.k; ++block, from += kUnpackedK) {
    b.k = a.k - from < kUnpackedK ? a.k - from : kUnpackedK;
    for (uint32_t p = 0; p < n_panels; ++p) {
      UnpackedPanel& panel_of = u->panel[p];
      unpack(static_cast<const uint8_t*>(a.w) + (panel + p) * a.w_stride + block * by.lines,
             static_cast<const uint8_t*>(a.w_scale) + (panel + p) * a.w_scale_stride + block * by.entry, b.k,
             {panel_of.codes, 64, by.group * size_t{16}, panel_of.scale[0], panel_of.min[0], 16, 16, by.lines,
              static_cast<const uint8_t*>(a.w_scale) + (panel + p + size_t{1}) * a.w_scale_stride});
    }
    const size_t group = row * size_t{a.x_groups} + from / 32;
    b.x = static_cast<const int8_t*>(a.x) + row * a.x_stride + from;
    b.x_scale = a.x_scale + group;
    b.x_sum128 = a.x_sum128 + group;
    b.accumulate = block > 0;
    GemmArgs c = b;
    if (by.group == 16) {
      halve_groups(b, u);
      c.x_group = c.x_groups = 16;
      c.x_scale = u->x_scale[0];
      c.x_sum128 = u->x_sum128[0];
    }
    by.product(&c);
    if (by.min) add_minima(c, u);
  }
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t p = 0; p < n_panels; ++p) finish(a, row + r, panel + p, load(u->acc[r] + p * 16));
}

inline void unpacked(const GemmArgs& a, const UnpackedBy& by) {
  Unpacked u;
  for (uint32_t panel = 0; panel < a.n_panels; panel += kUnpackedPanels)
    for (uint32_t row = 0; row < a.m; row += kUnpackedRows)
      unpacked_panels(a, by, panel, a.n_panels - panel < kUnpackedPanels ? a.n_panels - panel : kUnpackedPanels, row,
                      a.m - row < kUnpackedRows ? a.m - row : kUnpackedRows, &u);
}

// kProduct: the tier's of i8g128.
template <class Kind, void (*kProduct)(const GemmArgs*), int kFlip = 0>
constexpr UnpackedBy unpacked_by() {
  return {Kind::template unpack<kFlip>, Kind::kLineBytes, Kind::kEntry, Kind::kGroup, Kind::kMin, kProduct, nullptr, {}};
}

}  // namespace
}  // namespace linnet
