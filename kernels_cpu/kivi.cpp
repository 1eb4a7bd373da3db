#include "kivi.h"

#include <bit>
#include <cstring>

namespace linnet {
namespace {

constexpr uint32_t kRow = 64;  // codes of a row

// Where code `row` of a page is found.
struct Place {
  size_t byte;  // of the first of 64
  uint32_t shift;
};
Place place_of(uint32_t bits, uint32_t row, uint32_t page) {
  return bits == 4 ? Place{row * size_t{kRow}, 4 * page} : Place{row / 2 * size_t{kRow}, 4 * (row % 2) + 2 * page};
}

// Plain vectors of 16-bit numbers: every compiler and CPU has them. Bytes of even and odd numbers stand in halves of lanes.
using Lanes = uint16_t __attribute__((vector_size(16)));
using Words = uint32_t __attribute__((vector_size(16)));
static_assert(std::endian::native == std::endian::little);

// Smallest values and steps of the code of four lines (channels of K, tokens of V), with 8 bits behind the point: lines 0 and 2, 1 and 3.
struct Lines {
  Lanes low[2], step[2];
};
Lines lines_of(const uint8_t* lows, const uint8_t* ranges, uint32_t bits) {
  uint32_t low, range;
  std::memcpy(&low, lows, 4);
  std::memcpy(&range, ranges, 4);
  const auto l = reinterpret_cast<Lanes>(Words{low, low, low, low}), r = reinterpret_cast<Lanes>(Words{range, range, range, range});
  const uint16_t per_step = bits == 4 ? 255 / 15 : 255 / 3;
  const Lanes even = (r & 0xFF) * per_step, odd = (r >> 8) * per_step;
  return {{l << 8, l & 0xFF00}, {even + ((even + 128) >> 8), odd + ((odd + 128) >> 8)}};  // 256 / 255 of it
}

// A row of 64 codes, number j of line j % 4. kRest: what rounding leaves goes to `rest`, in 1/256.
template <uint16_t kShift, uint16_t kMask, bool kRest>
void unpack_row(const uint8_t* codes, const Lines& lines, uint8_t* out, uint8_t* rest) {
  for (uint32_t j = 0; j < kRow; j += sizeof(Lanes)) {
    Lanes w;
    std::memcpy(&w, codes + j, sizeof w);
    const Lanes even = lines.low[0] + lines.step[0] * (w >> kShift & kMask),
                odd = lines.low[1] + lines.step[1] * (w >> (8 + kShift) & kMask);
    const Lanes rounded = (even + 128) >> 8 | ((odd + 128) & 0xFF00), left = (even & 0xFF) | odd << 8;
    std::memcpy(out + j, &rounded, sizeof rounded);
    if (kRest) std::memcpy(rest + j, &left, sizeof left);
  }
}

// Shifts by what is known are vectors' own.
template <bool kRest>
void unpack_row(const uint8_t* codes, uint32_t bits, uint32_t shift, const Lines& lines, uint8_t* out, uint8_t* rest) {
  if (bits == 4) return shift ? unpack_row<4, 15, kRest>(codes, lines, out, rest) : unpack_row<0, 15, kRest>(codes, lines, out, rest);
  if (shift < 4) return shift ? unpack_row<2, 3, kRest>(codes, lines, out, rest) : unpack_row<0, 3, kRest>(codes, lines, out, rest);
  return shift == 6 ? unpack_row<6, 3, kRest>(codes, lines, out, rest) : unpack_row<4, 3, kRest>(codes, lines, out, rest);
}

// The code of what stands `above` the smallest value, of `most` over the range; halves up.
uint32_t code_of(float above, float range, uint32_t most) {
  if (!(range > 0)) return 0;
  const int c = static_cast<int>(above * (static_cast<float>(most) / range) + 0.5f);
  return c < 0 ? 0 : c > static_cast<int>(most) ? most : static_cast<uint32_t>(c);
}
int nearest(float x) { return static_cast<int>(x + 128.5f) - 128; }  // of -128 .. 127

void pack_keys(const KvLayout& packed, const KvLayout& from, const uint8_t* const* pages, uint8_t* group) {
  const uint32_t bits = format_row(packed.k).bits, most = (1u << bits) - 1;
  uint8_t *lows = group + packed.k_scale_at, *ranges = lows + packed.k_rows * 4;
  uint8_t* scales = ranges + packed.k_rows * 4;
  for (uint32_t g = 0; g < packed.k_groups; ++g) {
    // All tokens in the largest of their scales.
    float ratio[kGroupPositions], top = 0;
    uint16_t scale = 0;
    for (uint32_t t = 0; t < kGroupPositions; ++t) {
      uint16_t half;
      std::memcpy(&half, pages[t / kPagePositions] + from.k_scale_at + (g * kPagePositions + t % kPagePositions) * sizeof half,
                  sizeof half);
      ratio[t] = f16_to_f32(half);
      if (!(ratio[t] > top)) continue;
      top = ratio[t];
      scale = half;
    }
    for (float& r : ratio) {
      r = r / top;
      if (!(r >= 0 && r <= 1)) r = 0;  // no scales, or those of a state that somebody made up
    }
    std::memcpy(scales + g * sizeof scale, &scale, sizeof scale);
    for (uint32_t d = g * 32; d < g * 32 + 32 && d < packed.head_dim; ++d) {
      float x[kGroupPositions], low = 128, high = -128;
      for (uint32_t t = 0; t < kGroupPositions; ++t) {
        const uint8_t* page = pages[t / kPagePositions];
        const size_t at = d / 4 * size_t{kRow} + t % kPagePositions * 4 + d % 4;
        float code = static_cast<float>(static_cast<int8_t>(page[at]));
        if (kv_small_head(packed.head_dim)) code += static_cast<float>(static_cast<int8_t>(page[at + kSecondByte / 4 * kRow])) / 256.0f;
        x[t] = code * ratio[t];
        low = x[t] < low ? x[t] : low;
        high = x[t] > high ? x[t] : high;
      }
      const int least = nearest(low), range = nearest(high) - least;
      lows[d] = static_cast<uint8_t>(least);
      ranges[d] = static_cast<uint8_t>(range);
      for (uint32_t t = 0; t < kGroupPositions; ++t) {
        const Place to = place_of(bits, d / 4, t / kPagePositions);
        group[to.byte + t % kPagePositions * 4 + d % 4] |=
            static_cast<uint8_t>(code_of(x[t] - static_cast<float>(least), static_cast<float>(range), most) << to.shift);
      }
    }
  }
}

void pack_values(const KvLayout& packed, const KvLayout& from, const uint8_t* const* pages, uint8_t* group) {
  const uint32_t bits = format_row(packed.v).bits, most = (1u << bits) - 1;
  uint8_t *lows = group + packed.v_scale_at, *ranges = lows + packed.k_groups * kGroupPositions;
  uint8_t* scales = ranges + packed.k_groups * kGroupPositions;
  for (uint32_t t = 0; t < kGroupPositions; ++t) {
    const uint32_t in_page = t % kPagePositions;
    const uint8_t* page = pages[t / kPagePositions];
    float scale;
    std::memcpy(&scale, page + from.v_scale_at + in_page * sizeof scale, sizeof scale);
    const uint16_t half = f32_to_bf16(scale);
    std::memcpy(scales + t * sizeof half, &half, sizeof half);
    for (uint32_t g = 0; g < packed.k_groups; ++g) {
      const uint32_t end = g * 32 + 32 < packed.head_dim ? g * 32 + 32 : packed.head_dim;
      const auto row = [&](uint32_t d) { return d / kPanel * 4 + in_page / 4; };
      const auto at = [&](uint32_t d) { return d % kPanel * 4 + in_page % 4; };
      int low = 127, high = -128;
      for (uint32_t d = g * 32; d < end; ++d) {
        const int code = static_cast<int8_t>(page[from.v_at + row(d) * size_t{kRow} + at(d)]);
        low = code < low ? code : low;
        high = code > high ? code : high;
      }
      lows[g * kGroupPositions + t] = static_cast<uint8_t>(low);
      ranges[g * kGroupPositions + t] = static_cast<uint8_t>(high - low);
      for (uint32_t d = g * 32; d < end; ++d) {
        const int code = static_cast<int8_t>(page[from.v_at + row(d) * size_t{kRow} + at(d)]);
        const Place to = place_of(bits, row(d), t / kPagePositions);
        group[packed.v_at + to.byte + at(d)] |=
            static_cast<uint8_t>(code_of(static_cast<float>(code - low), static_cast<float>(high - low), most) << to.shift);
      }
    }
  }
}

}  // namespace

void kivi_pack(const KvLayout& packed, const KvLayout& from, const uint8_t* const* pages, uint8_t* group) {
  std::memset(group, 0, packed.head_bytes);
  pack_keys(packed, from, pages, group);
  pack_values(packed, from, pages, group);
}

void kivi_unpack(const KvLayout& packed, const KvLayout& to, const uint8_t* group, uint8_t* const* pages) {
  const uint32_t k_bits = format_row(packed.k).bits, v_bits = format_row(packed.v).bits;
  const uint8_t *const k_lows = group + packed.k_scale_at, *const k_ranges = k_lows + packed.k_rows * 4;
  for (uint32_t r = 0; r < packed.k_rows; ++r) {
    const Lines lines = lines_of(k_lows + r * 4, k_ranges + r * 4, k_bits);
    for (uint32_t p = 0; p < kGroupPages; ++p) {
      const Place from = place_of(k_bits, r, p);
      uint8_t* out = pages[p] + r * size_t{kRow};
      if (kv_small_head(packed.head_dim))
        unpack_row<true>(group + from.byte, k_bits, from.shift, lines, out, out + kSecondByte / 4 * kRow);
      else
        unpack_row<false>(group + from.byte, k_bits, from.shift, lines, out, nullptr);
    }
  }
  for (uint32_t g = 0; g < packed.k_groups; ++g) {
    uint16_t scale;
    std::memcpy(&scale, k_ranges + packed.k_rows * 4 + g * sizeof scale, sizeof scale);
    for (uint32_t p = 0; p < kGroupPages; ++p)
      for (uint32_t t = 0; t < kPagePositions; ++t)
        std::memcpy(pages[p] + to.k_scale_at + (g * kPagePositions + t) * sizeof scale, &scale, sizeof scale);
  }

  const uint32_t n = packed.k_groups * kGroupPositions;
  const uint8_t *const v_lows = group + packed.v_scale_at, *const v_ranges = v_lows + n, *const v_scales = v_ranges + n;
  for (uint32_t r = 0; r < packed.dpad / 4; ++r)
    for (uint32_t p = 0; p < kGroupPages; ++p) {
      const uint32_t token = r / 8 * kGroupPositions + p * kPagePositions + r % 4 * 4;  // the first of four, in r's group of channels
      const Place from = place_of(v_bits, r, p);
      unpack_row<false>(group + packed.v_at + from.byte, v_bits, from.shift, lines_of(v_lows + token, v_ranges + token, v_bits),
                        pages[p] + to.v_at + r * size_t{kRow}, nullptr);
    }
  for (uint32_t t = 0; t < kGroupPositions; ++t) {
    uint16_t half;
    std::memcpy(&half, v_scales + t * sizeof half, sizeof half);
    const float scale = bf16_to_f32(half);
    std::memcpy(pages[t / kPagePositions] + to.v_scale_at + t % kPagePositions * sizeof scale, &scale, sizeof scale);
  }
}

}  // namespace linnet
