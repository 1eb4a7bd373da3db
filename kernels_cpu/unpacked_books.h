// The kinds of unpacked.h whose codes are runs out of books: sixteen outputs at a time, so that all but the reading of books is done in
// vectors. Included by unpacked.h alone; so everything here has internal linkage.
#pragma once
#include "kernels.h"

namespace linnet {
namespace {

// A word of each of sixteen outputs.
struct Words {
  uint32_t of[16];
};
INLINE Words line_words(const uint8_t* lines, size_t line) {
  Words w;
  __builtin_memcpy(&w, lines + line * 64, 64);
  return w;
}
template <class Word>
INLINE Words words(const Word& word) {
  Words w;
  for (int j = 0; j < 16; ++j) w.of[j] = word(j);
  return w;
}
// Bytes of an entry behind its f16.
template <size_t kHalves>
INLINE Words entry_bytes(const uint8_t* entry, size_t byte) {
  return words([&](int j) { return uint32_t{entry[kHalves * 32 + byte * 16 + static_cast<size_t>(j)]}; });
}
INLINE Words in_book(const uint16_t* book, const Words& at) {
  Words w;
  UNROLL for (int j = 0; j < 16; ++j) w.of[j] = book[at.of[j]];
  return w;
}
INLINE void put_words(int8_t* to, const Words& w) { __builtin_memcpy(to, &w, 64); }
// Four times two or three bits as bytes; a bit each of four.
constexpr uint32_t two_bits(uint32_t w) {
  const uint32_t pairs = ((w & 0xFF) | (w & 0xFF) << 12) & 0x000F000Fu;
  return (pairs | pairs << 6) & 0x03030303u;
}
constexpr uint32_t three_bits(uint32_t w) { return (w & 7) | (w << 5 & 0x700u) | (w << 10 & 0x70000u) | (w << 15 & 0x7000000u); }
constexpr uint32_t four_ones(uint32_t bits) { return (bits & 15) * 0x00204081u & 0x01010101u; }
// Seven bits and the one that makes the number of them even.
constexpr uint32_t even_bits(uint32_t seven) {
  const uint32_t half = seven ^ seven >> 4, quarter = half ^ half >> 2;
  return seven | ((quarter ^ quarter >> 1) & 1) << 7;
}
// Bytes above 0, minus where `ones` are; XOR flip.
template <int kFlip>
constexpr uint32_t with_signs(uint32_t bytes, uint32_t ones) {
  return ((bytes ^ ones * 255) + ones) ^ kFlip * 0x01010101u;
}
INLINE V small_floats(const Words& w) {
  int8_t bytes[16];
  for (int j = 0; j < 16; ++j) bytes[j] = static_cast<int8_t>(w.of[j]);
  Sixteen v;
  __builtin_memcpy(&v, bytes, 16);
  return from_bytes(v);
}

// Kind: where the parts of run r (eight inputs) and the scale of group g lie, and how large the numbers are.
template <class Kind, uint32_t kBits, uint32_t kGroup_, size_t kEntry_>
struct Runs {
  static constexpr size_t kLineBytes = kBits * 512, kEntry = kEntry_;
  static constexpr uint32_t kGroup = kGroup_;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t, const UnpackTo& to) {
    for (size_t r = 0; r < 32; ++r) {
      if (r * 64 < kLineBytes) fetch_line(lines + r * 64, to);
      int8_t* at = to.codes + r * 8 / kGroup * to.group + r * 8 % kGroup / 4 * to.line;
      Kind::template put<kFlip>(lines, entry, r, at, at + to.line);
    }
    const V d = Kind::outer(entry);
    for (size_t g = 0; g < 256 / kGroup; ++g) {
      const V s = fma(small_floats(Kind::part(lines, entry, g)), all(Kind::kTimes), all(Kind::kPlus));  // exact
      store(to.scale + g * to.scale_step, mul(mul(d, s), all(Kind::kShare)));
    }
  }
  static V outer(const uint8_t* entry) { return load_scales<true>(reinterpret_cast<const char*>(entry)); }

 protected:
  // Runs of 8, 25 and 43.
  template <int kFlip>
  static void put_loud(const uint16_t* book, const Words& index, const Words& signs, int8_t* first, int8_t* second) {
    const Words run = in_book(book, index);
    const auto loud = [](uint32_t w) {
      const uint32_t c = two_bits(w);
      return (c | c << 4) + (c >> 1 & 0x01010101u) + 0x08080808u;
    };
    put_words(first, words([&](int j) { return with_signs<kFlip>(loud(run.of[j]), four_ones(signs.of[j])); }));
    put_words(second, words([&](int j) { return with_signs<kFlip>(loud(run.of[j] >> 8), four_ones(signs.of[j] >> 4)); }));
  }
  // Runs of -1, 0 and 1, an eighth less where `less` is not 0 and an eighth more elsewhere.
  template <int kFlip>
  static void put_ternary(const Words& index, const Words& less, int8_t* first, int8_t* second) {
    const Words run = in_book(scalar_table.books->iq1, index);
    const auto eighths = [&](uint32_t w, int j) {  // 128 more than they are
      return (two_bits(w) * 8 + (less.of[j] ? 0x77777777u : 0x79797979u)) ^ (kFlip ^ 0x80) * 0x01010101u;
    };
    put_words(first, words([&](int j) { return eighths(run.of[j], j); }));
    put_words(second, words([&](int j) { return eighths(run.of[j] >> 8, j); }));
  }
};

struct Iq2Xxs : Runs<Iq2Xxs, 2, 32, kStepF16> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t*, size_t r, int8_t* first, int8_t* second) {
    const Words runs = line_words(lines, r / 4 * 2), rest = line_words(lines, r / 4 * 2 + 1);
    put_loud<kFlip>(scalar_table.books->iq2_xxs, words([&](int j) { return runs.of[j] >> (r % 4 * 8) & 255; }),
                    words([&](int j) { return even_bits(rest.of[j] >> (r % 4 * 7) & 127); }), first, second);
  }
  static Words part(const uint8_t* lines, const uint8_t*, size_t g) {
    const Words rest = line_words(lines, g * 2 + 1);
    return words([&](int j) { return rest.of[j] >> 28; });
  }
};
struct Iq2Xs : Runs<Iq2Xs, 2, 16, kStepHalf10> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t*, size_t r, int8_t* first, int8_t* second) {
    const Words two = line_words(lines, r / 2);
    put_loud<kFlip>(scalar_table.books->iq2_xs, words([&](int j) { return two.of[j] >> (r % 2 * 16) & 511; }),
                    words([&](int j) { return even_bits(two.of[j] >> (r % 2 * 16 + 9) & 127); }), first, second);
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words both = entry_bytes<1>(entry, g / 2);
    return words([&](int j) { return both.of[j] >> (g % 2 * 4) & 15; });
  }
};
struct Iq2S : Runs<Iq2S, 2, 16, kStepHalf18> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t* entry, size_t r, int8_t* first, int8_t* second) {
    const Words low = line_words(lines, r / 4), signs = line_words(lines, 8 + r / 4), high = entry_bytes<1>(entry, r / 4);
    put_loud<kFlip>(scalar_table.books->iq2_s,
                    words([&](int j) { return (low.of[j] >> (r % 4 * 8) & 255) | (high.of[j] >> (r % 4 * 2) & 3) << 8; }),
                    words([&](int j) { return signs.of[j] >> (r % 4 * 8); }), first, second);
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words both = entry_bytes<1>(entry, 8 + g / 2);
    return words([&](int j) { return both.of[j] >> (g % 2 * 4) & 15; });
  }
};
struct Iq3Xxs : Runs<Iq3Xxs, 3, 32, kStepF16> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.5f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t*, size_t r, int8_t* first, int8_t* second) {
    const Words two = line_words(lines, r / 2), rest = line_words(lines, 16 + r / 4);
    for (size_t half = 0; half < 2; ++half) {
      const Words run = in_book(scalar_table.books->iq3_xxs, words([&](int j) { return two.of[j] >> (r % 2 * 16 + half * 8) & 255; }));
      put_words(half ? second : first, words([&](int j) {
                  const uint32_t c = three_bits(run.of[j]), bytes = c * 8 + 0x04040404u + (c & c >> 1 & c >> 2 & 0x01010101u) * 2,
                                 signs = even_bits(rest.of[j] >> (r % 4 * 7) & 127) >> (half * 4);
                  return with_signs<kFlip>(bytes, four_ones(signs));
                }));
    }
  }
  static Words part(const uint8_t* lines, const uint8_t*, size_t g) {
    const Words rest = line_words(lines, 16 + g);
    return words([&](int j) { return rest.of[j] >> 28; });
  }
};
struct Iq3S : Runs<Iq3S, 3, 32, kStepHalf14> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 1;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t* entry, size_t r, int8_t* first, int8_t* second) {
    const Words two = line_words(lines, r / 2), rest = line_words(lines, 16 + r / 4), ninth = entry_bytes<1>(entry, r / 4);
    for (size_t half = 0; half < 2; ++half) {
      const Words run = in_book(scalar_table.books->iq3_s, words([&](int j) {
                                  return (two.of[j] >> (r % 2 * 16 + half * 8) & 255) | (ninth.of[j] >> (r % 4 * 2 + half) & 1) << 8;
                                }));
      put_words(half ? second : first, words([&](int j) {
                  const uint32_t bytes = three_bits(run.of[j]) * 2 + 0x01010101u;
                  return with_signs<kFlip>(bytes, four_ones(rest.of[j] >> (r % 4 * 8 + half * 4)));
                }));
    }
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words both = entry_bytes<1>(entry, 8 + g / 2);
    return words([&](int j) { return both.of[j] >> (g % 2 * 4) & 15; });
  }
};
struct Iq1S : Runs<Iq1S, 1, 32, kStepHalf18> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 0.125f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t* entry, size_t r, int8_t* first, int8_t* second) {
    const Words low = line_words(lines, r / 4), bits = group_bits(entry, r / 4);
    put_ternary<kFlip>(words([&](int j) { return (low.of[j] >> (r % 4 * 8) & 255) | (bits.of[j] >> (r % 4 * 3) & 7) << 8; }),
                       words([&](int j) { return bits.of[j] & 0x8000u; }), first, second);
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words bits = group_bits(entry, g);
    return words([&](int j) { return bits.of[j] >> 12 & 7; });
  }

 private:
  static Words group_bits(const uint8_t* entry, size_t g) {
    const Words low = entry_bytes<1>(entry, g * 2), high = entry_bytes<1>(entry, g * 2 + 1);
    return words([&](int j) { return low.of[j] | high.of[j] << 8; });
  }
};
struct Iq1M : Runs<Iq1M, 1, 16, kStepByte24> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 0.125f;
  template <int kFlip>
  static void put(const uint8_t* lines, const uint8_t* entry, size_t r, int8_t* first, int8_t* second) {
    const Words low = line_words(lines, r / 4), two = entry_bytes<0>(entry, r / 2);
    put_ternary<kFlip>(words([&](int j) { return (low.of[j] >> (r % 4 * 8) & 255) | (two.of[j] >> (r % 2 * 4) & 7) << 8; }),
                       words([&](int j) { return two.of[j] >> (r % 2 * 4) & 8; }), first, second);
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words bits = scale_bits(entry, g / 4);
    return words([&](int j) { return bits.of[j] >> (g % 4 * 3) & 7; });
  }
  static V outer(const uint8_t* entry) {
    uint16_t halves[16] = {};
    for (size_t i = 0; i < 4; ++i) {
      const Words bits = scale_bits(entry, i);
      for (int j = 0; j < 16; ++j) halves[j] = static_cast<uint16_t>(halves[j] | bits.of[j] >> 12 << (i * 4));
    }
    return load_scales<true>(reinterpret_cast<const char*>(halves));
  }

 private:
  static Words scale_bits(const uint8_t* entry, size_t i) {
    const Words low = entry_bytes<0>(entry, 16 + i * 2), high = entry_bytes<0>(entry, 17 + i * 2);
    return words([&](int j) { return low.of[j] | high.of[j] << 8; });
  }
};

}  // namespace
}  // namespace linnet
