// Few rows by blocks of code books, whose books are tables of bytes that instructions of VBMI read: 64 places at a time, of which each
// gives one half of its run. Included by avx512_bf16.cpp alone; so everything here has internal linkage.
#pragma once
#include "unpacked_rows.h"

namespace linnet {
namespace {

#include "books.inc"

// A half of each run: inputs 0 to 3 of eight in two bits each, or 0 and 1 of four in four; and the other.
template <size_t kRuns>
struct Halves {
  alignas(64) uint8_t first[kRuns], second[kRuns];
};
template <size_t kRuns>
constexpr Halves<kRuns> halves_of_eight(const uint16_t (&words)[kRuns]) {
  Halves<kRuns> h = {};
  for (size_t i = 0; i < kRuns; ++i) {
    h.first[i] = static_cast<uint8_t>(words[i] & 255);
    h.second[i] = static_cast<uint8_t>(words[i] >> 8);
  }
  return h;
}
template <size_t kRuns>
constexpr Halves<kRuns> halves_of_four(const uint16_t (&words)[kRuns]) {
  Halves<kRuns> h = {};
  for (size_t i = 0; i < kRuns; ++i) {
    h.first[i] = static_cast<uint8_t>((words[i] & 7) | (words[i] >> 3 & 7) << 4);
    h.second[i] = static_cast<uint8_t>((words[i] >> 6 & 7) | (words[i] >> 9 & 7) << 4);
  }
  return h;
}
constexpr Halves<256> kIq2XxsHalves = halves_of_eight(kIq2XxsBook), kIq3XxsHalves = halves_of_four(kIq3XxsBook);
constexpr Halves<512> kIq2XsHalves = halves_of_eight(kIq2XsBook), kIq3SHalves = halves_of_four(kIq3SBook);
constexpr Halves<1024> kIq2SHalves = halves_of_eight(kIq2SBook);
constexpr Halves<2048> kIq1Halves = halves_of_eight(kIq1Book);

// 64 bytes of constants.
struct Line64 {
  alignas(64) uint8_t of[64];
  INLINE __m512i v() const { return _mm512_load_si512(of); }
  INLINE void put(__m512i v) { _mm512_store_si512(of, v); }
};
// For vpmultishiftqb, which takes eight bits of the quadword from a bit on: byte j of each word from bit `from` + j * `step` of it.
constexpr Line64 shifts(int from, int step, int every = 4) {
  Line64 l = {};
  for (int i = 0; i < 64; ++i) l.of[i] = static_cast<uint8_t>((i / 4 % 2 * 32 + from + i % every * step) & 63);
  return l;
}
template <int kFrom, int kStep, int kEvery = 4>
INLINE __m512i shifted_bits(__m512i v) {
  static constexpr Line64 kShifts = shifts(kFrom, kStep, kEvery);
  return _mm512_multishift_epi64_epi8(kShifts.v(), v);
}

// 64 numbers of runs: the low byte of each, and where its bits from the eighth on are set.
struct Places {
  __m512i low;
  __mmask64 bits[3];  // as many as the book needs
};
INLINE __mmask64 where_set(__m512i v, int bit) { return _mm512_test_epi8_mask(v, _mm512_set1_epi8(static_cast<char>(bit))); }
// Of some at once, so that the table is read once for them.
template <size_t N>
struct Lines {
  __m512i of[N];
};
template <size_t kRuns, size_t N>
INLINE Lines<N> looked_up(const uint8_t* table, const Places (&at)[N]) {
  Lines<N> to;
  if constexpr (kRuns == 128) {
    const __m512i first = _mm512_load_si512(table), second = _mm512_load_si512(table + 64);
    UNROLL for (size_t i = 0; i < N; ++i) to.of[i] = _mm512_permutex2var_epi8(first, at[i].low, second);
  } else {
    const Lines<N> first = looked_up<kRuns / 2>(table, at), second = looked_up<kRuns / 2>(table + kRuns / 2, at);
    UNROLL for (size_t i = 0; i < N; ++i) to.of[i] = _mm512_mask_blend_epi8(at[i].bits[kRuns == 256   ? 0
                                                                                       : kRuns == 512 ? 1
                                                                                                      : 2],
                                                                            first.of[i], second.of[i]);
  }
  return to;
}
template <size_t N>
struct Found {
  Lines<N> first, second;
};
template <size_t kRuns, size_t N>
INLINE Found<N> found(const Halves<kRuns>& book, const Places (&at)[N]) {
  return {looked_up<kRuns>(book.first, at), looked_up<kRuns>(book.second, at)};
}

// The book of 2048 runs is in order, and so are second halves: of sixteen runs at most two follow each other. What the first has, how many
// of the sixteen have it, and what the others have.
struct Steps {
  alignas(64) uint8_t from[128], n[128], then[128];
};
constexpr Steps steps_of(const uint16_t (&words)[2048]) {
  Steps s = {};
  for (size_t i = 0; i < 128; ++i) {
    const uint16_t* run = words + i * 16;
    s.from[i] = static_cast<uint8_t>(run[0] >> 8);
    s.then[i] = static_cast<uint8_t>(run[15] >> 8);
    while (s.n[i] < 16 && run[s.n[i]] >> 8 == s.from[i]) ++s.n[i];
  }
  return s;
}
constexpr Steps kIq1Steps = steps_of(kIq1Book);
constexpr bool steps_are(const uint16_t (&words)[2048], const Steps& s) {
  for (size_t i = 0; i < 2048; ++i)
    if (words[i] >> 8 != (i % 16 < s.n[i / 16] ? s.from : s.then)[i / 16]) return false;
  return true;
}
static_assert(steps_are(kIq1Book, kIq1Steps));

// Codes of 64 inputs: what a table has for the low bits of `code` and, above them, a bit of `sign`.
template <int kBit, class Number>
constexpr Line64 table_of(const Number& number) {
  Line64 l = {};
  for (int i = 0; i < 64; ++i) l.of[i] = static_cast<uint8_t>(number(i % (1 << kBit), (i >> kBit) % 2));
  return l;
}
template <int kBit>
INLINE Bytes signed_code(const Line64& table, __m512i code, __m512i sign) {
  const __m512i both = _mm512_ternarylogic_epi32(code, sign, _mm512_set1_epi8(1 << kBit), 0xD8);  // that bit of sign, the others of code
  return {_mm512_permutexvar_epi8(both, table.v())};
}
constexpr int kLoudNumbers[4] = {8, 25, 43, 0};
constexpr int kNumbers3Xxs[8] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr Line64 kLoudCodes = table_of<2>([](int c, int less) { return 43 + (less ? -kLoudNumbers[c] : kLoudNumbers[c]); }),
                 kTernaryCodes = table_of<2>([](int c, int less) { return 9 + 8 * (c - 1) + (less ? -1 : 1); }),
                 k3XxsCodes = table_of<3>([](int c, int less) { return 62 + (less ? -kNumbers3Xxs[c] : kNumbers3Xxs[c]); }),
                 k3SCodes = table_of<3>([](int c, int less) { return 15 + (less ? -1 : 1) * (2 * c + 1); });
template <class Product>
constexpr int32_t kMore<Iq2Xxs, Product> = 43;
template <class Product>
constexpr int32_t kMore<Iq2Xs, Product> = 43;
template <class Product>
constexpr int32_t kMore<Iq2S, Product> = 43;
template <class Product>
constexpr int32_t kMore<Iq3Xxs, Product> = 62;
template <class Product>
constexpr int32_t kMore<Iq3S, Product> = 15;
template <class Product>
constexpr int32_t kMore<Iq1S, Product> = 1;
template <class Product>
constexpr int32_t kMore<Iq1M, Product> = 9;

// Of four times seven bits, in words: each with the bit that makes the number of them even.
constexpr Halves<128> even_table() {
  Halves<128> h = {};
  for (uint32_t i = 0; i < 128; ++i) h.first[i] = static_cast<uint8_t>(i | (0x6996u >> ((i ^ i >> 4) & 15) & 1) << 7);
  return h;
}
constexpr Halves<128> kEven = even_table();
INLINE __m512i even_signs(__m512i sevens) {
  const Places at[1] = {{sevens, {}}};
  return looked_up<128>(kEven.first, at).of[0];
}

template <class Kind>
  requires requires(const uint8_t* p) { Kind::outer(p); }
struct BlockScales<Kind> {
  const uint8_t *lines, *entry;
  const V d;
  explicit BlockScales(const BlockRows& b) : lines(b.lines), entry(b.entry), d(Kind::outer(b.entry)) {}
  INLINE V scale(size_t g) const { return Kind::scale(lines, entry, d, g); }
};

// The sums of 32 inputs of sixteen outputs: code(run, half) gives those of four inputs.
template <class Sums, class Code>
INLINE void sums_32(Sums* s, size_t g, const Code& code) {
  typename Sums::template Sum<255> sum[2];
  constexpr bool kSixteens = Sums::Kind::kGroup == 16;
  const int8_t* x = s->block.x + g * 32;
  const auto run = [&]<int r>() __attribute__((always_inline)) {
    s->add(&sum[kSixteens ? r / 2 : 0], code.template operator()<r, 0>(), x + r * 8);
    s->add(&sum[kSixteens ? r / 2 : 1], code.template operator()<r, 1>(), x + r * 8 + 4);
  };
  run.template operator()<0>();
  run.template operator()<1>();
  run.template operator()<2>();
  run.template operator()<3>();
  if (kSixteens) {
    s->put(s->total(sum[0]), g * 2);
    s->put(s->total(sum[1]), g * 2 + 1);
  } else {
    s->put(s->both(s->total(sum[0]), s->total(sum[1])), g);
  }
}
// Eights: `at` is the byte of a word that run r has.
template <int kBit, int at, int half>
INLINE __m512i sign_bits(__m512i signs) {
  return shifted_bits<at * 8 + half * 4 - kBit, 1>(signs);
}
template <int at, int half>
INLINE Bytes loud(__m512i first, __m512i second, __m512i signs) {
  return signed_code<2>(kLoudCodes, shifted_bits<at * 8, 2>(half ? second : first), sign_bits<2, at, half>(signs));
}
template <int at, int r, int half>
INLINE Bytes of_four(const Line64& codes, __m512i first, __m512i second, __m512i signs) {
  static constexpr Line64 kShifts = shifts(at * 8, 4, 2);
  const __m512i code =
      _mm512_mask_multishift_epi64_epi8(_mm512_multishift_epi64_epi8(kShifts.v(), first), 0xCCCCCCCCCCCCCCCCu, kShifts.v(), second);
  return signed_code<3>(codes, code, sign_bits<3, r, half>(signs));
}

INLINE __m512i line_of(const uint8_t* lines, size_t i) { return _mm512_loadu_si512(lines + i * 64); }
// Sixteen bytes of an entry as words.
INLINE __m512i entry_words(const uint8_t* bytes) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))); }
INLINE __m512i entry_pairs(const uint8_t* bytes) {
  return _mm512_or_si512(entry_words(bytes), _mm512_slli_epi32(entry_words(bytes + 16), 8));
}

template <class Sums>
INLINE void row_sums(Iq2Xxs, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t g = 0; g < 8; ++g) {
    UNROLL for (size_t i = 0; i < 2; ++i) b.ask(g * 2 + i);
    const __m512i low = line_of(b.lines, g * 2), signs = even_signs(shifted_bits<0, 7>(line_of(b.lines, g * 2 + 1)));
    const Places at[1] = {{low, {_mm512_movepi8_mask(low)}}};
    const auto runs = found(kIq2XxsHalves, at);
    sums_32(s, g,
            [&]<int r, int half>() __attribute__((always_inline)) { return loud<r, half>(runs.first.of[0], runs.second.of[0], signs); });
  }
}
// Groups of 32 inputs by twos.
template <class Sums>
INLINE void row_sums(Iq2Xs, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t g = 0; g < 8; g += 2) {
    Places at[2];
    __m512i signs[2];
    UNROLL for (size_t i = 0; i < 4; ++i) b.ask(g * 2 + i);
    UNROLL for (size_t i = 0; i < 2; ++i) {
      // Bytes of a word: of runs 0, 2, 1 and 3.
      const __m512i first = line_of(b.lines, (g + i) * 2), second = line_of(b.lines, (g + i) * 2 + 1),
                    odd = _mm512_set1_epi16(static_cast<short>(0xFF00)),
                    low = _mm512_ternarylogic_epi32(first, _mm512_slli_epi16(second, 8), odd, 0xD8),
                    high = _mm512_ternarylogic_epi32(_mm512_srli_epi16(first, 8), second, odd, 0xD8);
      at[i] = {low, {_mm512_movepi8_mask(low), where_set(high, 1)}};
      signs[i] = even_signs(_mm512_srli_epi16(high, 1));
    }
    const auto runs = found(kIq2XsHalves, at);
    _Pragma("GCC unroll 1") for (size_t i = 0; i < 2; ++i) sums_32(s, g + i, [&]<int r, int half>() __attribute__((always_inline)) {
      constexpr int kAt = r % 2 * 2 + r / 2;
      return loud<kAt, half>(runs.first.of[i], runs.second.of[i], signs[i]);
    });
  }
}
template <class Sums>
INLINE void row_sums(Iq2S, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t g = 0; g < 8; g += 2) {
    Places at[2];
    UNROLL for (size_t i = 0; i < 4; ++i) b.ask(g * 2 + i);
    UNROLL for (size_t i = 0; i < 2; ++i) {
      const __m512i low = line_of(b.lines, g + i), high = shifted_bits<0, 2>(entry_words(b.entry + 32 + (g + i) * 16));
      at[i] = {low, {_mm512_movepi8_mask(low), where_set(high, 1), where_set(high, 2)}};
    }
    const auto runs = found(kIq2SHalves, at);
    _Pragma("GCC unroll 1") for (size_t i = 0; i < 2; ++i) {
      const __m512i signs = line_of(b.lines, 8 + g + i);
      sums_32(s, g + i,
              [&]<int r, int half>() __attribute__((always_inline)) { return loud<r, half>(runs.first.of[i], runs.second.of[i], signs); });
    }
  }
}
template <class Sums>
INLINE void row_sums(Iq3Xxs, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t g = 0; g < 8; ++g) {
    Places at[2];
    UNROLL for (size_t i = 0; i < 3; ++i) b.ask(g * 3 + i);
    UNROLL for (size_t i = 0; i < 2; ++i) {
      const __m512i low = line_of(b.lines, g * 2 + i);
      at[i] = {low, {_mm512_movepi8_mask(low)}};
    }
    const __m512i signs = even_signs(shifted_bits<0, 7>(line_of(b.lines, 16 + g)));
    const auto runs = found(kIq3XxsHalves, at);
    sums_32(s, g, [&]<int r, int half>() __attribute__((always_inline)) {
      return of_four<r % 2 * 2 + half, r, half>(k3XxsCodes, runs.first.of[r / 2], runs.second.of[r / 2], signs);
    });
  }
}
template <class Sums>
INLINE void row_sums(Iq3S, Sums* s) {
  const BlockRows& b = s->block;
  for (size_t g = 0; g < 8; ++g) {
    UNROLL for (size_t i = 0; i < 3; ++i) b.ask(g * 3 + i);
    const __m512i first = line_of(b.lines, g * 2), second = line_of(b.lines, g * 2 + 1), signs = line_of(b.lines, 16 + g),
                  ninth = entry_words(b.entry + 32 + g * 16);
    const Places at[2] = {{first, {_mm512_movepi8_mask(first), where_set(shifted_bits<0, 1>(ninth), 1)}},
                          {second, {_mm512_movepi8_mask(second), where_set(shifted_bits<4, 1>(ninth), 1)}}};
    const auto runs = found(kIq3SHalves, at);
    sums_32(s, g, [&]<int r, int half>() __attribute__((always_inline)) {
      return of_four<r % 2 * 2 + half, r, half>(k3SCodes, runs.first.of[r / 2], runs.second.of[r / 2], signs);
    });
  }
}
// 2048 runs: of each 128, those places are looked up that lie there, and what is found takes the place of its number. kBits: where the
// words of an entry are that have a run's three upper bits, kStep apart. each(g, first, second, word): what 32 inputs have of that.
template <size_t kBits, int kStep, class Sums, class Each>
INLINE void ternary_runs(Sums* s, const Each& each) {
  const BlockRows& b = s->block;
  Line64 firsts[8], seconds[8];
  __m512i first[8], upper[8];
  UNROLL for (size_t g = 0; g < 8; ++g) {
    b.ask(g);
    const __m512i low = line_of(b.lines, g), high = shifted_bits<0, kStep>(entry_pairs(b.entry + kBits + g * 32)),
                  fifteen = _mm512_set1_epi8(15),
                  eighth = _mm512_ternarylogic_epi32(_mm512_srli_epi16(low, 4), _mm512_slli_epi16(high, 4), fifteen, 0xE4);  // seven bits
    const Places at[1] = {{eighth, {}}};
    const __mmask64 more = _mm512_cmpge_epu8_mask(_mm512_and_si512(low, fifteen), looked_up<128>(kIq1Steps.n, at).of[0]);
    seconds[g].put(_mm512_mask_blend_epi8(more, looked_up<128>(kIq1Steps.from, at).of[0], looked_up<128>(kIq1Steps.then, at).of[0]));
    first[g] = low;
    upper[g] = _mm512_and_si512(_mm512_srli_epi16(eighth, 3), fifteen);
  }
  for (size_t i = 0; i < 16; ++i) {
    const __m512i low = _mm512_load_si512(kIq1Halves.first + i * 128), high = _mm512_load_si512(kIq1Halves.first + i * 128 + 64),
                  here = _mm512_set1_epi8(static_cast<char>(i));
    UNROLL for (size_t g = 0; g < 8; ++g) first[g] =
        _mm512_mask2_permutex2var_epi8(low, first[g], _mm512_cmpeq_epi8_mask(upper[g], here), high);
  }
  UNROLL for (size_t g = 0; g < 8; ++g) firsts[g].put(first[g]);
  for (size_t g = 0; g < 8; ++g) each(g, firsts[g].v(), seconds[g].v(), entry_pairs(b.entry + kBits + g * 32));
}
template <int at, int half>
INLINE __m512i ternary_codes(__m512i first, __m512i second) {
  return shifted_bits<at * 8, 2>(half ? second : first);
}
// All 32 inputs of an output have the same eighth: it is taken off their sum.
template <class Sums>
INLINE void row_sums(Iq1S, Sums* s) {
  ternary_runs<32, 3>(s, [&](size_t g, __m512i first, __m512i second, __m512i word) __attribute__((always_inline)) {
    typename Sums::template Sum<2> sum[2];
    const int8_t* x = s->block.x + g * 32;
    const auto run = [&]<int r>() __attribute__((always_inline)) {
      s->add(&sum[0], masked({ternary_codes<r, 0>(first, second)}, 3), x + r * 8);
      s->add(&sum[1], masked({ternary_codes<r, 1>(first, second)}, 3), x + r * 8 + 4);
    };
    run.template operator()<0>();
    run.template operator()<1>();
    run.template operator()<2>();
    run.template operator()<3>();
    typename Sums::Total total = s->both(s->total(sum[0]), s->total(sum[1]));
    const __mmask16 less = _mm512_test_epi32_mask(word, _mm512_set1_epi32(1 << 15));
    UNROLL for (int r = 0; r < Sums::kRows; ++r) {
      const int32_t back = s->block.inputs[r * static_cast<int>(kKeptInputs)].back[g];  // which put() adds once
      total.of[r] =
          _mm512_add_epi32(_mm512_slli_epi32(total.of[r], 3), _mm512_mask_set1_epi32(_mm512_set1_epi32(6 * back), less, 8 * back));
    }
    s->put(total, g);
  });
}
template <class Sums>
INLINE void row_sums(Iq1M, Sums* s) {
  ternary_runs<0, 4>(s, [&](size_t g, __m512i first, __m512i second, __m512i word) __attribute__((always_inline)) {
    sums_32(s, g, [&]<int r, int half>() __attribute__((always_inline)) {
      return signed_code<2>(kTernaryCodes, ternary_codes<r, half>(first, second), shifted_bits<r * 4 + 3 - 2, 0>(word));
    });
  });
}

}  // namespace
}  // namespace linnet
