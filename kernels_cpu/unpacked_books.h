// The kinds of unpacked.h whose codes are runs out of books, or digits: sixteen outputs at a time, so that all but the reading of books is
// done in vectors. Included by unpacked.h alone; so everything here has internal linkage.
#pragma once
#include "kernels.h"

namespace linnet {
namespace {

// A word of each of sixteen outputs.
#if defined(__AVX512F__)
typedef uint32_t Fours __attribute__((vector_size(64)));
#elif defined(__AVX2__)
typedef uint32_t Fours __attribute__((vector_size(32)));
#else
typedef uint32_t Fours __attribute__((vector_size(16)));
#endif
struct Words {
  Fours of[64 / sizeof(Fours)];
};
template <class To, class From>
INLINE To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
INLINE Words line_words(const uint8_t* lines, size_t line) { return same_bits<Words>(load_bytes(lines + line * 64)); }
template <class Word>
INLINE Words words(const Word& word) {
  Words w;
  UNROLL for (size_t i = 0; i < 64 / sizeof(Fours); ++i) w.of[i] = word(i);
  return w;
}
// Bytes of an entry behind its f16.
template <size_t kHalves>
INLINE Words entry_bytes(const uint8_t* entry, size_t byte) {
  return same_bits<Words>(bits_of(widened(load_sixteen(entry + kHalves * 32 + byte * 16)), 255));
}
INLINE Words two_bytes(Words low, Words high) {
  return words([&](size_t i) { return low.of[i] | high.of[i] << 8; });
}
INLINE Bytes shifted(const Words& w, size_t by) {
  return same_bits<Bytes>(words([&](size_t i) { return w.of[i] >> by; }));
}
// Seven bits from `from` on and the one that makes the number of them even.
INLINE Bytes even_bits(const Words& w, size_t from) {
  return same_bits<Bytes>(words([&](size_t i) {
    const Fours seven = w.of[i] >> from & 127, half = seven ^ seven >> 4, quarter = half ^ half >> 2;
    return seven | ((quarter ^ quarter >> 1) & 1) << 7;
  }));
}

// Eight inputs of sixteen outputs, as two lines of four.
struct Run {
  Bytes first, second;
};
// Runs of 8, 25 and 43; signs: eight bits of each word.
template <class At>
INLINE Run loud(const uint32_t* book, const At& at, Bytes signs) {
  static constexpr Table kLoud = {{8, 25, 43}};
  const Bytes run = from_book(book, at);
  return {negated(chosen(kLoud.of, masked(run, 15)), where(signs, 0)),
          negated(chosen(kLoud.of, masked(down(run, 4), 15)), where(signs, 4))};
}
template <class First, class Second>
INLINE Run of_fours(const uint32_t* book, const First& first, const Second& second, Bytes signs) {
  return {negated(from_book(book, first), where(signs, 0)), negated(from_book(book, second), where(signs, 4))};
}
// Runs of -1, 0 and 1, an eighth more, or less where the uppermost bit of `less` is set.
template <class At>
INLINE Run ternary(const At& at, const Words& less) {
  static constexpr Table kEighths = {{-8, 0, 8}};
  const Bytes run = from_book(scalar_table.books->iq1, at),
              eighth = same_bits<Bytes>(words([&](size_t i) { return (0 - (less.of[i] >> 31)) | 0x01010101u; }));
  return {plus(chosen(kEighths.of, masked(run, 15)), eighth), plus(chosen(kEighths.of, masked(down(run, 4), 15)), eighth)};
}
// What chooses runs: bytes or words of a line, or numbers that were worked out.
template <class T>
struct InLine {
  const uint8_t* from;
  uint32_t mask;
  INLINE uint32_t operator()(int j) const {
    T v;
    __builtin_memcpy(&v, from + j * 4, sizeof v);
    return v & mask;
  }
};
struct Numbers {
  alignas(64) uint32_t of[16];
  explicit Numbers(const Words& w) { __builtin_memcpy(of, &w, 64); }
  INLINE uint32_t operator()(int j) const { return of[j]; }
};

// Kind: run(lines, entry, g, r): run r of four of 32 inputs g, as signed bytes; part(lines, entry, g): of the scale of a group; and how
// large the numbers are.
template <class Kind, uint32_t kBits, uint32_t kGroup_, size_t kEntry_>
struct Runs {
  static constexpr size_t kBlock = 256, kLineBytes = kBits * 512, kEntry = kEntry_;
  static constexpr uint32_t kGroup = kGroup_;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    const size_t line = to.line, group = to.group, ahead = to.ahead;
    int8_t* codes = to.codes;
    for (size_t r = 0; r < k / 8; codes += group) {
      int8_t* at = codes;
      for (size_t i = 0; i < kGroup / 8; ++i, ++r, at += 2 * line) {
        if (r < kBits * 8) prefetch(lines + ahead + r * 64);
        const Run run = Kind::run(lines, entry, r / 4, r % 4);
        store_bytes(at, flip(run.first, kFlip));
        store_bytes(at + line, flip(run.second, kFlip));
      }
    }
    put_scales(lines, entry, to.scale, to.scale_step);
  }
  [[gnu::noinline]] static void put_scales(const uint8_t* lines, const uint8_t* entry, float* to, size_t step) {
    const V d = Kind::outer(entry);
    for (size_t g = 0; g < 256 / kGroup; ++g) store(to + g * step, scale(lines, entry, d, g));
  }
  static INLINE V scale(const uint8_t* lines, const uint8_t* entry, V d, size_t g) {
    const V s = fma(floats(same_bits<Vi>(Kind::part(lines, entry, g))), all(Kind::kTimes), all(Kind::kPlus));  // exact
    return mul(mul(d, s), all(Kind::kShare));
  }
  static V outer(const uint8_t* entry) { return first_scales(entry); }

 protected:
  static Words four_bits(const uint8_t* entry, size_t first, size_t g) {
    const Words both = entry_bytes<1>(entry, first + g / 2);
    return words([&](size_t i) { return both.of[i] >> (g % 2 * 4) & 15; });
  }
};

struct Iq2Xxs : Runs<Iq2Xxs, 2, 32, kStepF16> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  static INLINE Run run(const uint8_t* lines, const uint8_t*, size_t g, size_t r) {
    return loud(scalar_table.books->iq2_xxs, InLine<uint8_t>{lines + g * 128 + r, 255}, even_bits(line_words(lines, g * 2 + 1), r * 7));
  }
  static Words part(const uint8_t* lines, const uint8_t*, size_t g) {
    const Words rest = line_words(lines, g * 2 + 1);
    return words([&](size_t i) { return rest.of[i] >> 28; });
  }
};
struct Iq2Xs : Runs<Iq2Xs, 2, 16, kStepHalf10> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  static INLINE Run run(const uint8_t* lines, const uint8_t*, size_t g, size_t r) {
    const size_t line = g * 2 + r / 2, half = r % 2;
    return loud(scalar_table.books->iq2_xs, InLine<uint16_t>{lines + line * 64 + half * 2, 511},
                even_bits(line_words(lines, line), half * 16 + 9));
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) { return four_bits(entry, 0, g); }
};
struct Iq2S : Runs<Iq2S, 2, 16, kStepHalf18> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.25f;
  static INLINE Run run(const uint8_t* lines, const uint8_t* entry, size_t g, size_t r) {
    const Words low = line_words(lines, g), high = entry_bytes<1>(entry, g);
    const Numbers at(words([&](size_t i) { return (low.of[i] >> (r * 8) & 255) | (high.of[i] >> (r * 2) & 3) << 8; }));
    return loud(scalar_table.books->iq2_s, at, shifted(line_words(lines, 8 + g), r * 8));
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) { return four_bits(entry, 8, g); }
};
struct Iq3Xxs : Runs<Iq3Xxs, 3, 32, kStepF16> {
  static constexpr float kTimes = 1, kPlus = 0.5f, kShare = 0.5f;
  static INLINE Run run(const uint8_t* lines, const uint8_t*, size_t g, size_t r) {
    const uint8_t* const at = lines + (g * 2 + r / 2) * 64 + r % 2 * 2;
    return of_fours(scalar_table.books->iq3_xxs, InLine<uint8_t>{at, 255}, InLine<uint8_t>{at + 1, 255},
                    even_bits(line_words(lines, 16 + g), r * 7));
  }
  static Words part(const uint8_t* lines, const uint8_t*, size_t g) {
    const Words rest = line_words(lines, 16 + g);
    return words([&](size_t i) { return rest.of[i] >> 28; });
  }
};
struct Iq3S : Runs<Iq3S, 3, 32, kStepHalf14> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 1;
  static INLINE Run run(const uint8_t* lines, const uint8_t* entry, size_t g, size_t r) {
    const Words two = line_words(lines, g * 2 + r / 2), ninth = entry_bytes<1>(entry, g);
    const auto at = [&](size_t half) {
      return Numbers(
          words([&](size_t i) { return (two.of[i] >> (r % 2 * 16 + half * 8) & 255) | (ninth.of[i] >> (r * 2 + half) & 1) << 8; }));
    };
    return of_fours(scalar_table.books->iq3_s, at(0), at(1), shifted(line_words(lines, 16 + g), r * 8));
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) { return four_bits(entry, 8, g); }
};
struct Iq1S : Runs<Iq1S, 1, 32, kStepHalf18> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 0.125f;
  static INLINE Run run(const uint8_t* lines, const uint8_t* entry, size_t g, size_t r) {
    const Words low = line_words(lines, g), bits = group_bits(entry, g);
    const Numbers at(words([&](size_t i) { return (low.of[i] >> (r * 8) & 255) | (bits.of[i] >> (r * 3) & 7) << 8; }));
    return ternary(at, words([&](size_t i) { return bits.of[i] << 16; }));
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words bits = group_bits(entry, g);
    return words([&](size_t i) { return bits.of[i] >> 12 & 7; });
  }

 private:
  static Words group_bits(const uint8_t* entry, size_t g) {
    return two_bytes(entry_bytes<1>(entry, g * 2), entry_bytes<1>(entry, g * 2 + 1));
  }
};
struct Iq1M : Runs<Iq1M, 1, 16, kStepByte24> {
  static constexpr float kTimes = 2, kPlus = 1, kShare = 0.125f;
  static INLINE Run run(const uint8_t* lines, const uint8_t* entry, size_t g, size_t r) {
    const Words low = line_words(lines, g), two = entry_bytes<0>(entry, g * 2 + r / 2);
    const Numbers at(words([&](size_t i) { return (low.of[i] >> (r * 8) & 255) | (two.of[i] >> (r % 2 * 4) & 7) << 8; }));
    return ternary(at, words([&](size_t i) { return two.of[i] << (28 - r % 2 * 4); }));
  }
  static Words part(const uint8_t*, const uint8_t* entry, size_t g) {
    const Words bits = scale_bits(entry, g / 4);
    return words([&](size_t i) { return bits.of[i] >> (g % 4 * 3) & 7; });
  }
  static V outer(const uint8_t* entry) {
    uint32_t halves[16] = {};
    for (size_t i = 0; i < 4; ++i) {
      const Numbers bits(scale_bits(entry, i));
      for (int j = 0; j < 16; ++j) halves[j] |= bits.of[j] >> 12 << (i * 4);
    }
    uint16_t half[16];
    for (int j = 0; j < 16; ++j) half[j] = static_cast<uint16_t>(halves[j]);
    return load_scales<true>(reinterpret_cast<const char*>(half));
  }

 private:
  static Words scale_bits(const uint8_t* entry, size_t i) {
    return two_bytes(entry_bytes<0>(entry, 16 + i * 2), entry_bytes<0>(entry, 17 + i * 2));
  }
};

// Ternary: five digits of a byte, the first of them its thirds; times three it has the next. The last 20 bytes of a block lie in the entry:
// 16 of five digits, 4 of four.
struct Tq1 {
  static constexpr size_t kBlock = 256, kLineBytes = 512, kEntry = kStepHalf22;
  static constexpr uint32_t kGroup = 32;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to) {
    for (size_t t = 0; t < k / 32; ++t) {
      fetch_line(lines + t * 64, to);
      digits<kFlip>(load_bytes(lines + t * 64), t * 4, 32, 5, to);
    }
    for (size_t t = 0; t < 5; ++t) digits<kFlip>(rest(entry, t), t < 4 ? 160 + t * 4 : 240, t < 4 ? 16 : 4, t < 4 ? 5 : 4, to);
    put_scales<Tq1>(entry, 256, to);
  }
  // Four bytes of an output side by side.
  static INLINE Bytes rest(const uint8_t* entry, size_t t) { return side_by_side(entry + 32 + t * 64); }
  static V scale(const uint8_t* entry, size_t) { return first_scales(entry); }

 private:
  // Digits of four inputs from `from` on, and of those `step` further on.
  template <int kFlip>
  static void digits(Bytes v, size_t from, size_t step, int n, const UnpackTo& to) {
    for (int digit = 0; digit < n; ++digit, from += step) {
      store_bytes(place<kGroup>(to, from), plus(thirds(v), flip(Bytes{}, kFlip ? 127 : 255)));
      v = plus(v, plus(v, v));
    }
  }
};

}  // namespace
}  // namespace linnet
