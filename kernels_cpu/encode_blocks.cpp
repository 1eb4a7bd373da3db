// Blocks of GGUF files from floats: of some scales (and minima) for each group the ones with the least squared error. scalar.cpp says what
// the bytes stand for. Baseline code, the same bits everywhere.
#include "encode_blocks.h"

#include <cstring>

#include "../runtime/format.h"

namespace linnet {
namespace {

// Loops here are simple enough for the compiler to vectorise at baseline flags. Adding 1.5 * 2^23 rounds to an integer, ties to even.
float rint_clamped(float v, float lo, float hi) {
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return (v + 12582912.0f) - 12582912.0f;
}
float total(const float sum[16]) {
  float all = 0;
  for (size_t i = 0; i < 16; ++i) all += sum[i];
  return all;
}

// The f16 next to v that is not below it, so that no part of a scale comes out larger than its bits hold.
uint16_t half_above(float v) {
  const uint16_t h = f32_to_f16(v);
  return f16_to_f32(h) < v ? static_cast<uint16_t>(h + 1) : h;
}
bool put_half(uint16_t h, uint8_t* to) {
  std::memcpy(to, &h, 2);
  return (h & 0x7FFF) < 0x7C00;
}
void put_bits(uint32_t code, size_t shift, uint8_t* byte) { *byte = static_cast<uint8_t>(*byte | code << shift); }
// Codes of 32 weights, two to a byte: the upper ones belong to the second sixteen.
void put_nibbles(const float* q, uint8_t* to) {
  for (size_t i = 0; i < 16; ++i) to[i] = static_cast<uint8_t>(static_cast<uint32_t>(q[i]) & 15);
  for (size_t i = 0; i < 16; ++i) put_bits(static_cast<uint32_t>(q[16 + i]) & 15, 4, to + i);
}

// ---- groups with a minimum: value = scale * code - minimum, codes 0 to `most` ---------------------------------------------------

struct Group {
  float scale = 0, min = 0;
};

// Codes that scale and minimum give x, and the sum of squared errors. N: inputs, a multiple of 16.
template <size_t N>
float codes_of(const float* x, Group by, float most, float* q) {
  const float inverse = by.scale > 0 ? 1.0f / by.scale : 0;
  float error[16] = {};
  for (size_t i = 0; i < N; i += 16)
    for (size_t j = 0; j < 16; ++j) {
      q[i + j] = rint_clamped((x[i + j] + by.min) * inverse, 0, most);
      const float e = q[i + j] * by.scale - by.min - x[i + j];
      error[j] += e * e;
    }
  return total(error);
}

// The straight line through values and their codes, by least squares; `start` where it does not rise. low: no value is above 0 where the
// code is 0, as the minimum has no sign.
template <size_t N>
Group line_through(const float* x, const float* q, bool low, Group start) {
  double n = N, sum_q = 0, sum_qq = 0, sum_x = 0, sum_qx = 0;
  for (size_t i = 0; i < N; ++i) {
    const double c = static_cast<double>(q[i]), v = static_cast<double>(x[i]);
    sum_q += c, sum_qq += c * c, sum_x += v, sum_qx += c * v;
  }
  const double det = n * sum_qq - sum_q * sum_q;
  if (!(det > 0)) return start;
  const double scale = (n * sum_qx - sum_q * sum_x) / det, min = (sum_q * sum_qx - sum_qq * sum_x) / det;
  if (!(scale > 0)) return start;
  return min > 0 || !low ? Group{static_cast<float>(scale), static_cast<float>(min)} : Group{static_cast<float>(sum_qx / sum_qq), 0};
}

// Of some ranges somewhat narrower than x's own at either end, as they are and by the line through what their codes came from, the one with
// the least error.
template <size_t N>
Group best_group(const float* x, float most, bool low) {
  float lo = low ? 0 : x[0], hi = lo;
  for (size_t i = 0; i < N; ++i) lo = x[i] < lo ? x[i] : lo, hi = x[i] > hi ? x[i] : hi;
  Group best = {0, -lo};
  if (!(hi > lo)) return best;
  float q[N], least = __builtin_inff();
  const auto consider = [&](Group g) {
    const float error = codes_of<N>(x, g, most, q);
    if (error < least) least = error, best = g;
  };
  const float step = 0.04f * (hi - lo);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const float top = hi - step * static_cast<float>(a), inner = lo + step * static_cast<float>(b), bottom = low && inner > 0 ? 0 : inner;
      const Group start = {(top - bottom) / most, -bottom};
      consider(start);
      consider(line_through<N>(x, q, low, start));
    }
  codes_of<N>(x, best, most, q);
  consider(line_through<N>(x, q, low, best));
  return best;
}

// What is to be multiplied with d to give `part`, 0 to `most`.
int round_part(float part, float d, float most) { return d > 0 ? static_cast<int>(rint_clamped(part / d, 0, most)) : 0; }

// Rounds scale and minimum of a group to what they are to be multiplied with, together: of the nearest of each and those beside them the
// pair with the least error.
template <size_t N>
Group round_group(const float* x, Group group, float d, float d_min, int parts, float most, uint8_t* scale, uint8_t* min) {
  const int near = round_part(group.scale, d, static_cast<float>(parts)),
            near_min = round_part(group.min, d_min, static_cast<float>(parts));
  float least = __builtin_inff(), q[N];
  Group best;
  for (int s = near > 0 ? near - 1 : 0; s <= near + 1 && s <= parts; ++s)
    for (int m = near_min > 0 ? near_min - 1 : 0; m <= near_min + 1 && m <= parts; ++m) {
      const Group rounded = {d * static_cast<float>(s), d_min * static_cast<float>(m)};
      const float error = codes_of<N>(x, rounded, most, q);
      if (error < least) least = error, best = rounded, *scale = static_cast<uint8_t>(s), *min = static_cast<uint8_t>(m);
    }
  return best;
}

// Groups of a block of 256, with scales and minima of 0 to `parts`.
template <size_t N>
struct Groups {
  static constexpr size_t kCount = 256 / N;
  Group group[kCount];
  uint8_t scale[kCount] = {}, min[kCount] = {};

  bool find(const float* x, float most, int parts, uint8_t* d_to, uint8_t* d_min_to) {
    float most_scale = 0, most_min = 0;
    for (size_t g = 0; g < kCount; ++g) {
      group[g] = best_group<N>(x + g * N, most, true);
      most_scale = group[g].scale > most_scale ? group[g].scale : most_scale;
      most_min = group[g].min > most_min ? group[g].min : most_min;
    }
    const float n = static_cast<float>(parts);
    const uint16_t d = half_above(most_scale / n), d_min = half_above(most_min / n);
    if (!put_half(d, d_to) || !put_half(d_min, d_min_to)) return false;
    for (size_t g = 0; g < kCount; ++g)
      group[g] = round_group<N>(x + g * N, group[g], f16_to_f32(d), f16_to_f32(d_min), parts, most, &scale[g], &min[g]);
    return true;
  }
};

// The twelve bytes of an output's scales and minima, see scalar.cpp.
void join_parts(const uint8_t scale[8], const uint8_t min[8], uint8_t* to) {
  for (size_t g = 0; g < 4; ++g) {
    to[g] = static_cast<uint8_t>(scale[g] | scale[g + 4] >> 4 << 6);
    to[4 + g] = static_cast<uint8_t>(min[g] | min[g + 4] >> 4 << 6);
    to[8 + g] = static_cast<uint8_t>((scale[g + 4] & 15) | min[g + 4] << 4);
  }
}

// d, d_min, the twelve bytes, of Q5_K 32 bytes of fifth bits, and nibbles: each 32 bytes are two groups.
bool k45_block(const float* x, bool fifth, uint8_t* to) {
  const float most = fifth ? 31 : 15;
  Groups<32> groups;
  if (!groups.find(x, most, 63, to, to + 2)) return false;
  join_parts(groups.scale, groups.min, to + 4);
  uint8_t *const bits = to + 16, *const nibbles = bits + (fifth ? 32 : 0);
  std::memset(bits, 0, static_cast<size_t>(nibbles - bits) + 128);
  for (size_t g = 0; g < 8; ++g) {
    float q[32];
    codes_of<32>(x + g * 32, groups.group[g], most, q);
    for (size_t i = 0; i < 32; ++i) {
      const auto code = static_cast<uint32_t>(q[i]);
      put_bits(code & 15, g % 2 * 4, nibbles + g / 2 * 32 + i);
      if (fifth) put_bits(code >> 4, g, bits + i);
    }
  }
  return true;
}

// d and the minimum, of either sign, as f16; of Q5_1 four bytes of fifth bits; nibbles.
bool q45_1_block(const float* x, bool fifth, uint8_t* to) {
  const float most = fifth ? 31 : 15;
  const Group best = best_group<32>(x, most, false);
  const uint16_t d = f32_to_f16(best.scale), m = f32_to_f16(-best.min);
  if (!put_half(d, to) || !put_half(m, to + 2)) return false;
  float q[32];
  codes_of<32>(x, {f16_to_f32(d), -f16_to_f32(m)}, most, q);
  if (fifth) {
    std::memset(to + 4, 0, 4);
    for (size_t i = 0; i < 32; ++i) put_bits(static_cast<uint32_t>(q[i]) >> 4, i % 8, to + 4 + i / 8);
  }
  put_nibbles(q, to + (fifth ? 8 : 4));
  return true;
}

// ---- groups about zero: value = scale * code, codes `lo` to -lo - 1 ---------------------------------------------------------------

template <size_t N>
float signed_codes(const float* x, float scale, float lo, float* q) {
  const float inverse = scale != 0 ? 1.0f / scale : 0;
  float error[16] = {};
  for (size_t i = 0; i < N; i += 16)
    for (size_t j = 0; j < 16; ++j) {
      q[i + j] = rint_clamped(x[i + j] * inverse, lo, -lo - 1);
      const float e = q[i + j] * scale - x[i + j];
      error[j] += e * e;
    }
  return total(error);
}

// What multiplies codes to be nearest to x; 0 where they are all 0.
template <size_t N>
float slope(const float* x, const float* q) {
  float qq[16] = {}, qx[16] = {};
  for (size_t i = 0; i < N; i += 16)
    for (size_t j = 0; j < 16; ++j) qq[j] += q[i + j] * q[i + j], qx[j] += q[i + j] * x[i + j];
  return total(qq) > 0 ? total(qx) / total(qq) : 0;
}

// The largest value takes a code about `lo`, or what the line through its codes makes of the group.
template <size_t N>
float best_scale(const float* x, float lo) {
  float largest = 0;
  for (size_t i = 0; i < N; ++i)
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(largest)) largest = x[i];
  float best = 0, q[N], least = __builtin_inff();
  const auto consider = [&](float scale) {
    const float error = signed_codes<N>(x, scale, lo, q);
    if (error < least) least = error, best = scale;
  };
  for (int step = 0; step < 9 && largest != 0; ++step) {
    consider(largest / (lo - 1.0f + 0.25f * static_cast<float>(step)));
    if (const float line = slope<N>(x, q); line != 0) consider(line);
  }
  return best;
}

// Scales of the sixteen groups of a block, rounded to d times -most to most.
struct Scales {
  float part[16], d;
  bool find(const float* x, float lo, float most, uint8_t* to) {
    float largest = 0;
    for (size_t g = 0; g < 16; ++g) {
      part[g] = best_scale<16>(x + g * 16, lo);
      largest = __builtin_fabsf(part[g]) > largest ? __builtin_fabsf(part[g]) : largest;
    }
    const uint16_t h = half_above(largest / most);
    d = f16_to_f32(h);
    for (float& p : part) p = d > 0 ? rint_clamped(p / d, -most, most) : 0;
    return put_half(h, to);
  }
};

}  // namespace

bool q4_1_block(const float* x, uint8_t* to) { return q45_1_block(x, false, to); }
bool q5_1_block(const float* x, uint8_t* to) { return q45_1_block(x, true, to); }
bool q4_k_block(const float* x, uint8_t* to) { return k45_block(x, false, to); }
bool q5_k_block(const float* x, uint8_t* to) { return k45_block(x, true, to); }

// Sixteen bytes of scales and minima, 64 of codes (of each half four runs of 32), d, d_min.
bool q2_k_block(const float* x, uint8_t* to) {
  Groups<16> groups;
  if (!groups.find(x, 3, 15, to + 80, to + 82)) return false;
  std::memset(to + 16, 0, 64);
  for (size_t g = 0; g < 16; ++g) {
    float q[16];
    to[g] = static_cast<uint8_t>(groups.scale[g] | groups.min[g] << 4);
    codes_of<16>(x + g * 16, groups.group[g], 3, q);
    for (size_t i = 0; i < 16; ++i) put_bits(static_cast<uint32_t>(q[i]), g % 8 / 2 * 2, to + 16 + g / 8 * 32 + g % 2 * 16 + i);
  }
  return true;
}

// d, four bytes of fifth bits, nibbles.
bool q5_0_block(const float* x, uint8_t* to) {
  const uint16_t d = f32_to_f16(best_scale<32>(x, -16));
  float q[32];
  if (!put_half(d, to)) return false;
  signed_codes<32>(x, f16_to_f32(d), -16, q);
  std::memset(to + 2, 0, 4);
  for (size_t i = 0; i < 32; ++i) {
    q[i] += 16;
    put_bits(static_cast<uint32_t>(q[i]) >> 4, i % 8, to + 2 + i / 8);
  }
  put_nibbles(q, to + 6);
  return true;
}

// 32 bytes of third bits, 64 of lower ones, twelve of scales (four bits each, then the upper two), d.
bool q3_k_block(const float* x, uint8_t* to) {
  Scales s;
  if (!s.find(x, -4, 31, to + 108)) return false;
  std::memset(to, 0, 108);
  for (size_t g = 0; g < 16; ++g) {
    const auto scale = static_cast<uint32_t>(s.part[g] + 32);
    put_bits(scale & 15, g / 8 * 4, to + 96 + g % 8);
    put_bits(scale >> 4, g / 4 * 2, to + 104 + g % 4);
    float q[16];
    signed_codes<16>(x + g * 16, s.d * s.part[g], -4, q);
    for (size_t i = 0; i < 16; ++i) {
      const size_t half = g / 8, run = g % 8 / 2, at = g % 2 * 16 + i;
      const auto code = static_cast<uint32_t>(q[i] + 4);
      put_bits(code & 3, run * 2, to + 32 + half * 32 + at);
      put_bits(code >> 2, half * 4 + run, to + at);
    }
  }
  return true;
}

// Of each half 64 bytes of nibbles, then 32 bytes of upper bits; scales, d.
bool q6_k_block(const float* x, uint8_t* to) {
  Scales s;
  if (!s.find(x, -32, 127, to + 208)) return false;
  std::memset(to, 0, 192);
  for (size_t g = 0; g < 16; ++g) {
    to[192 + g] = static_cast<uint8_t>(static_cast<int8_t>(s.part[g]));
    float q[16];
    signed_codes<16>(x + g * 16, s.d * s.part[g], -32, q);
    for (size_t i = 0; i < 16; ++i) {
      const size_t half = g / 8, run = g % 8 / 2, at = g % 2 * 16 + i;
      const auto code = static_cast<uint32_t>(q[i] + 32);
      put_bits(code & 15, run / 2 * 4, to + half * 64 + run % 2 * 32 + at);
      put_bits(code >> 4, run * 2, to + 128 + half * 32 + at);
    }
  }
  return true;
}

namespace {

// ---- codes that stand for values of a table -----------------------------------------------------------------------------------------

constexpr float kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Of 32 weights: values of the table that are nearest to x / scale, and their codes.
float table_codes(const float* x, float scale, float* values, float* q) {
  const float inverse = scale != 0 ? 1.0f / scale : 0;
  float error[16] = {};
  for (size_t i = 0; i < 32; i += 16)
    for (size_t j = 0; j < 16; ++j) {
      const float v = x[i + j] * inverse;
      float value = kIq4[0], code = 0;
      for (size_t c = 1; c < 16; ++c) {
        const bool above = v > (kIq4[c - 1] + kIq4[c]) / 2;
        value = above ? kIq4[c] : value;
        code += above ? 1.0f : 0.0f;
      }
      values[i + j] = value, q[i + j] = code;
      const float e = value * scale - x[i + j];
      error[j] += e * e;
    }
  return total(error);
}

// Scales that give the largest value one about either end of the table, and what the lines through what they give make of them.
float best_table_scale(const float* x) {
  float largest = 0;
  for (size_t i = 0; i < 32; ++i)
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(largest)) largest = x[i];
  float best = 0, values[32], q[32], least = __builtin_inff();
  const auto consider = [&](float scale) {
    const float error = table_codes(x, scale, values, q);
    if (error < least) least = error, best = scale;
  };
  for (const float end : {kIq4[0], kIq4[15]})
    for (int step = 0; step < 5 && largest != 0; ++step) {
      consider(largest / (end * (1.12f - 0.08f * static_cast<float>(step))));
      if (const float line = slope<32>(x, values); line != 0) consider(line);
    }
  return best;
}

}  // namespace

// d, nibbles.
bool iq4_nl_block(const float* x, uint8_t* to) {
  const uint16_t d = f32_to_f16(best_table_scale(x));
  float values[32], q[32];
  if (!put_half(d, to)) return false;
  table_codes(x, f16_to_f32(d), values, q);
  put_nibbles(q, to + 2);
  return true;
}

// d, the upper two bits of the scales, their lower four, nibbles.
bool iq4_xs_block(const float* x, uint8_t* to) {
  float scale[8], largest = 0, values[32], q[32];
  for (size_t g = 0; g < 8; ++g) {
    scale[g] = best_table_scale(x + g * 32);
    if (__builtin_fabsf(scale[g]) > __builtin_fabsf(largest)) largest = scale[g];
  }
  const uint16_t d = half_above(__builtin_fabsf(largest) / 31);
  if (!put_half(d, to)) return false;
  std::memset(to + 2, 0, 6);
  for (size_t g = 0; g < 8; ++g) {
    const float near = f16_to_f32(d) > 0 ? rint_clamped(scale[g] / f16_to_f32(d), -31, 31) : 0;
    float part = near, least = __builtin_inff();
    for (const float p : {near - 1, near, near + 1}) {
      const float error = table_codes(x + g * 32, f16_to_f32(d) * p, values, q);
      if (p >= -32 && p <= 31 && error < least) least = error, part = p;
    }
    table_codes(x + g * 32, f16_to_f32(d) * part, values, q);
    const auto code = static_cast<uint32_t>(part + 32);
    put_bits(code & 15, g % 2 * 4, to + 4 + g / 2);
    put_bits(code >> 4, g % 4 * 2, to + 2 + g / 4);
    put_nibbles(q, to + 8 + g * 16);
  }
  return true;
}

// An exponent, nibbles: a sign and one of eight values.
bool mxfp4_block(const float* x, uint8_t* to) {
  constexpr float kValues[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  float largest = 0, q[32], best[32] = {}, least = __builtin_inff();
  for (size_t i = 0; i < 32; ++i) largest = __builtin_fabsf(x[i]) > largest ? __builtin_fabsf(x[i]) : largest;
  uint32_t bits;
  std::memcpy(&bits, &largest, 4);
  to[0] = 0;
  for (uint32_t e = bits >> 23 > 4 ? (bits >> 23) - 3 : 1; e <= bits >> 23; ++e) {
    const uint32_t power = e << 23, inverse_power = (254 - e) << 23;
    float scale, inverse, error[16] = {};
    std::memcpy(&scale, &power, 4);
    std::memcpy(&inverse, &inverse_power, 4);
    for (size_t i = 0; i < 32; i += 16)
      for (size_t j = 0; j < 16; ++j) {
        const float v = __builtin_fabsf(x[i + j]);
        float value = 0, code = x[i + j] < 0 ? 8 : 0;
        for (size_t c = 1; c < 8; ++c) {
          const bool above = v * inverse > (kValues[c - 1] + kValues[c]) / 2;
          value = above ? kValues[c] : value;
          code += above ? 1.0f : 0.0f;
        }
        q[i + j] = code;
        error[j] += (value * scale - v) * (value * scale - v);
      }
    if (total(error) < least) least = total(error), to[0] = static_cast<uint8_t>(e), std::memcpy(best, q, sizeof best);
  }
  put_nibbles(best, to + 1);
  return true;
}

namespace {

// ---- -1, 0 and 1 -----------------------------------------------------------------------------------------------------------------------

// q: codes 0 to 2. Those whose weights are nearer to d than to 0 are not 0; d is their mean, found from the largest one down until it
// stays.
bool ternary(const float* x, float* q, uint8_t* to) {
  float d = 0;
  for (size_t i = 0; i < 256; ++i) d = __builtin_fabsf(x[i]) > d ? __builtin_fabsf(x[i]) : d;
  for (int step = 0; step < 32; ++step) {
    float sum[16] = {}, n[16] = {};
    for (size_t i = 0; i < 256; i += 16)
      for (size_t j = 0; j < 16; ++j) {
        const float v = __builtin_fabsf(x[i + j]);
        const bool one = v > d / 2;
        sum[j] += one ? v : 0, n[j] += one ? 1.0f : 0.0f;
      }
    const float mean = total(n) > 0 ? total(sum) / total(n) : 0;
    if (mean == d) break;
    d = mean;
  }
  const uint16_t h = f32_to_f16(d);
  d = f16_to_f32(h);
  for (size_t i = 0; i < 256; ++i) q[i] = x[i] > d / 2 ? 2.0f : x[i] < -d / 2 ? 0.0f : 1.0f;
  return put_half(h, to);
}

}  // namespace

// Four codes to a byte, of each half four runs of 32; d.
bool tq2_0_block(const float* x, uint8_t* to) {
  float q[256];
  if (!ternary(x, q, to + 64)) return false;
  std::memset(to, 0, 64);
  for (size_t i = 0; i < 256; ++i) put_bits(static_cast<uint32_t>(q[i]), i % 128 / 32 * 2, to + i / 128 * 32 + i % 32);
  return true;
}

// Five codes to a byte, c of them as the fraction c / 3^5 of 256, rounded up: 32 bytes, then 16, and four of four codes; d.
bool tq1_0_block(const float* x, uint8_t* to) {
  float q[256];
  if (!ternary(x, q, to + 52)) return false;
  const struct {
    size_t bytes, codes;
  } runs[] = {{32, 5}, {16, 5}, {4, 4}};
  const float* from = q;
  for (const auto& run : runs) {
    for (size_t i = 0; i < run.bytes; ++i, ++to) {
      uint32_t c = 0;
      for (size_t j = 0; j < 5; ++j) c = c * 3 + (j < run.codes ? static_cast<uint32_t>(from[j * run.bytes + i]) : 0);
      *to = static_cast<uint8_t>((c * 256 + 242) / 243);
    }
    from += run.bytes * run.codes;
  }
  return true;
}

}  // namespace linnet
