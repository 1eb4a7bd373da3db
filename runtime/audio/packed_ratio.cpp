// What DEFLATE (RFC 1951) would make of a text, without the bytes: matches are found as zlib finds them, codes are counted.
#include <cstring>

#include "transcribe.h"

namespace linnet {
namespace {

constexpr uint32_t kHash = 4096, kLeast = 3, kMost = 258, kChain = 64;

// Bits behind the code of a length or a distance.
uint32_t extra_of_length(uint32_t n) {
  uint32_t extra = 0;
  for (uint32_t top = 10; n > top && extra < 5; top += 4u << ++extra) {
  }
  return n == kMost ? 0 : extra;
}
uint32_t log2_of(uint32_t v) { return 31 - static_cast<uint32_t>(__builtin_clz(v)); }
uint32_t extra_of_distance(uint32_t d) { return d <= 4 ? 0 : log2_of(d - 1) - 1; }

// log2 of how rare something is, in 1/256 of a bit.
uint32_t rarity(uint32_t count, uint32_t all) {
  uint32_t bits = 0;
  uint64_t a = all, b = count;  // all / count, by squaring
  while (a >= 2 * b) ++bits, b *= 2;
  double x = static_cast<double>(a) / static_cast<double>(b);
  uint32_t fine = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    x *= x;
    fine = fine * 2 + (x >= 2);
    if (x >= 2) x /= 2;
  }
  return bits * 256 + fine;
}

}  // namespace

float packed_ratio(const char* text, size_t n, uint16_t* seen) {
  if (n == 0) return 0;
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const auto hash = [&](size_t i) { return (at(i) << 16 ^ at(i + 1) << 8 ^ at(i + 2)) * 2654435761u >> 20; };
  std::memset(seen, 0, kHash * sizeof *seen);
  uint32_t literals[256] = {}, n_literals = 0, n_matches = 0, lengths[32] = {}, distances[32] = {};
  uint64_t extra = 0, fixed = 0;
  for (size_t i = 0; i < n;) {
    uint32_t best = 0, distance = 0;
    if (i + kLeast <= n && i < UINT16_MAX) {
      uint16_t& last = seen[hash(i)];  // 1 + where the same three bytes were last
      if (last) {
        // Of the places before it those that a chain would lead to are looked at directly: texts are short.
        uint32_t tries = 0;
        for (size_t j = last; j-- > 0 && tries < kChain && i - j <= 32768;) {
          if (text[j] != text[i] || std::memcmp(text + j, text + i, kLeast) != 0) continue;
          ++tries;
          uint32_t length = kLeast;
          while (length < kMost && i + length < n && text[j + length] == text[i + length]) ++length;
          if (length > best) best = length, distance = static_cast<uint32_t>(i - j);
        }
      }
    }
    const uint32_t step = best ? best : 1;
    if (best) {
      ++n_matches;
      extra += extra_of_length(best) + extra_of_distance(distance);
      ++lengths[best <= 10 ? best - kLeast : 8 + 4 * (extra_of_length(best) ? extra_of_length(best) - 1 : 0) % 20];
      ++distances[distance <= 4 ? distance - 1 : 2 * log2_of(distance - 1) + ((distance - 1) >> (log2_of(distance - 1) - 1) & 1)];
      fixed += (best <= 114 ? 7 : 8) + 5;
    } else {
      ++literals[at(i)];
      ++n_literals;
      fixed += at(i) < 144 ? 8 : 9;
    }
    for (size_t j = i; j < i + step && j + kLeast <= n && j < UINT16_MAX; ++j) seen[hash(j)] = static_cast<uint16_t>(j + 1);
    i += step;
  }
  // Codes of its own: what they cost, and what it costs to say them.
  uint64_t own = 0;
  uint32_t kinds = 0, n_lengths = 0;
  const uint32_t all = n_literals + n_matches + 1;
  for (const uint32_t count : literals)
    if (count) own += uint64_t{count} * rarity(count, all), ++kinds;
  for (const uint32_t count : lengths)
    if (count) own += uint64_t{count} * rarity(count, all), ++kinds, ++n_lengths;
  own += rarity(1, all);
  for (const uint32_t count : distances)
    if (count) own += uint64_t{count} * rarity(count, n_matches), ++kinds;
  own = own / 256 + 14 + 60 + 7 * uint64_t{kinds} / 2 + 40;
  const uint64_t bits = 3 + extra + (own < fixed + 7 ? own : fixed + 7), bytes = (bits + 7) / 8 + 6;
  return static_cast<float>(n) / static_cast<float>(bytes);
}

}  // namespace linnet
