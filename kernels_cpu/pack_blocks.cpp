// Blocks of GGUF files as panels (format.h) and back: from files with every bit kept, and from floats.
#include <cstring>

#include "pack.h"

namespace linnet {
namespace {

constexpr size_t kValues = 256;  // of the larger blocks

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

// ---- groups with a minimum: value = scale * code - minimum, codes 0 to `most` ---------------------------------------------------

constexpr size_t kGroup = 32;  // inputs

struct Group {
  float scale = 0, min = 0;
};

// Codes that scale and minimum give x, and the sum of squared errors.
float codes_of(const float* x, Group by, float most, float* q) {
  const float inverse = by.scale > 0 ? 1.0f / by.scale : 0;
  float error[16] = {};
  for (size_t i = 0; i < kGroup; i += 16)
    for (size_t j = 0; j < 16; ++j) {
      q[i + j] = rint_clamped((x[i + j] + by.min) * inverse, 0, most);
      const float e = q[i + j] * by.scale - by.min - x[i + j];
      error[j] += e * e;
    }
  return total(error);
}

// The straight line through values and their codes, by least squares; `start` where it does not rise.
Group line_through(const float* x, const float* q, Group start) {
  double n = kGroup, sum_q = 0, sum_qq = 0, sum_x = 0, sum_qx = 0;
  for (size_t i = 0; i < kGroup; ++i) {
    const double c = static_cast<double>(q[i]), v = static_cast<double>(x[i]);
    sum_q += c, sum_qq += c * c, sum_x += v, sum_qx += c * v;
  }
  const double det = n * sum_qq - sum_q * sum_q;
  if (!(det > 0)) return start;
  const double scale = (n * sum_qx - sum_q * sum_x) / det, min = (sum_q * sum_qx - sum_qq * sum_x) / det;
  if (!(scale > 0)) return start;
  return min > 0 ? Group{static_cast<float>(scale), static_cast<float>(min)} : Group{static_cast<float>(sum_qx / sum_qq), 0};
}

// Of some ranges somewhat narrower than x's own at either end, as they are and by the line through what their codes came from, the one with
// the least error.
Group best_group(const float* x, float most) {
  float lo = 0, hi = 0;
  for (size_t i = 0; i < kGroup; ++i) lo = x[i] < lo ? x[i] : lo, hi = x[i] > hi ? x[i] : hi;
  Group best;
  if (!(hi > lo)) return best;
  float q[kGroup], least = __builtin_inff();
  const auto consider = [&](Group g) {
    const float error = codes_of(x, g, most, q);
    if (error < least) least = error, best = g;
  };
  for (const float top : {hi, 0.9f * hi, 0.8f * hi})
    for (const float bottom : {lo, 0.9f * lo, 0.8f * lo}) {
      const Group start = {(top - bottom) / most, -bottom};
      consider(start);
      consider(line_through(x, q, start));
    }
  codes_of(x, best, most, q);
  consider(line_through(x, q, best));
  return best;
}

// What is to be multiplied with d to give `part`.
int six_bits(float part, float d) { return d > 0 ? static_cast<int>(rint_clamped(part / d, 0, 63)) : 0; }

// Rounds scale and minimum of a group to what they are to be multiplied with, together: of the nearest of each and those beside them the
// pair with the least error.
Group round_group(const float* x, Group group, float d, float d_min, float most, uint8_t* scale, uint8_t* min) {
  const int near = six_bits(group.scale, d), near_min = six_bits(group.min, d_min);
  float least = __builtin_inff(), q[kGroup];
  Group best;
  for (int s = near > 0 ? near - 1 : 0; s <= near + 1 && s < 64; ++s)
    for (int m = near_min > 0 ? near_min - 1 : 0; m <= near_min + 1 && m < 64; ++m) {
      const Group rounded = {d * static_cast<float>(s), d_min * static_cast<float>(m)};
      const float error = codes_of(x, rounded, most, q);
      if (error < least) least = error, best = rounded, *scale = static_cast<uint8_t>(s), *min = static_cast<uint8_t>(m);
    }
  return best;
}

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
  Group groups[8];
  float most_scale = 0, most_min = 0;
  for (size_t g = 0; g < 8; ++g) {
    groups[g] = best_group(x + g * kGroup, most);
    most_scale = groups[g].scale > most_scale ? groups[g].scale : most_scale;
    most_min = groups[g].min > most_min ? groups[g].min : most_min;
  }
  const uint16_t d = half_above(most_scale / 63), d_min = half_above(most_min / 63);
  if (d >= 0x7C00u || d_min >= 0x7C00u) return false;
  uint8_t scale[8] = {}, min[8] = {};
  for (size_t g = 0; g < 8; ++g)
    groups[g] = round_group(x + g * kGroup, groups[g], f16_to_f32(d), f16_to_f32(d_min), most, &scale[g], &min[g]);
  std::memcpy(to, &d, 2);
  std::memcpy(to + 2, &d_min, 2);
  join_parts(scale, min, to + 4);
  uint8_t *const bits = to + 16, *const nibbles = bits + (fifth ? kGroup : 0);
  std::memset(bits, 0, static_cast<size_t>(nibbles - bits) + kValues / 2);
  for (size_t g = 0; g < 8; ++g) {
    float q[kGroup];
    codes_of(x + g * kGroup, groups[g], most, q);
    for (size_t i = 0; i < kGroup; ++i) {
      const auto code = static_cast<uint32_t>(q[i]);
      uint8_t& byte = nibbles[g / 2 * kGroup + i];
      byte = static_cast<uint8_t>(byte | (code & 15) << (g % 2 * 4));
      if (fifth) bits[i] = static_cast<uint8_t>(bits[i] | code >> 4 << g);
    }
  }
  return true;
}
bool q4_k_block(const float* x, uint8_t* to) { return k45_block(x, false, to); }
bool q5_k_block(const float* x, uint8_t* to) { return k45_block(x, true, to); }

// ---- groups about zero: value = scale * code, codes -32 to 31 ---------------------------------------------------------------------

constexpr size_t kHalfGroup = 16;

float signed_codes(const float* x, float scale, float* q) {
  const float inverse = scale != 0 ? 1.0f / scale : 0;
  float error[16];
  for (size_t i = 0; i < kHalfGroup; ++i) {
    q[i] = rint_clamped(x[i] * inverse, -32, 31);
    const float e = q[i] * scale - x[i];
    error[i] = e * e;
  }
  return total(error);
}

// The largest value takes a code about -32, or what the line through its codes makes of the group.
float best_scale(const float* x) {
  float largest = 0;
  for (size_t i = 0; i < kHalfGroup; ++i)
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(largest)) largest = x[i];
  float best = 0, q[kHalfGroup], least = __builtin_inff();
  const auto consider = [&](float scale) {
    const float error = signed_codes(x, scale, q);
    if (error < least) least = error, best = scale;
  };
  for (int step = 0; step < 9 && largest != 0; ++step) {
    consider(largest / (-33.0f + 0.25f * static_cast<float>(step)));
    float qq[16], qx[16];
    for (size_t i = 0; i < kHalfGroup; ++i) qq[i] = q[i] * q[i], qx[i] = q[i] * x[i];
    if (total(qq) > 0) consider(total(qx) / total(qq));
  }
  return best;
}

// Of each half 64 bytes of nibbles, then 32 bytes of upper bits, see scalar.cpp; scales, d.
bool q6_k_block(const float* x, uint8_t* to) {
  float scale[16], most = 0;
  for (size_t g = 0; g < 16; ++g) {
    scale[g] = best_scale(x + g * kHalfGroup);
    most = __builtin_fabsf(scale[g]) > most ? __builtin_fabsf(scale[g]) : most;
  }
  const uint16_t d = half_above(most / 127);
  if (d >= 0x7C00u) return false;
  std::memset(to, 0, 192);
  std::memcpy(to + 208, &d, 2);
  for (size_t g = 0; g < 16; ++g) {
    const float part = f16_to_f32(d) > 0 ? rint_clamped(scale[g] / f16_to_f32(d), -127, 127) : 0;
    to[192 + g] = static_cast<uint8_t>(static_cast<int8_t>(part));
    float q[kHalfGroup];
    signed_codes(x + g * kHalfGroup, f16_to_f32(d) * part, q);
    for (size_t i = 0; i < kHalfGroup; ++i) {
      const size_t half = g / 8, run = g % 8 / 2, at = g % 2 * kHalfGroup + i;
      const auto code = static_cast<uint32_t>(q[i] + 32);
      uint8_t &low = to[half * 64 + run % 2 * 32 + at], &high = to[128 + half * 32 + at];
      low = static_cast<uint8_t>(low | (code & 15) << (run / 2 * 4));
      high = static_cast<uint8_t>(high | code >> 4 << (run * 2));
    }
  }
  return true;
}

// ---- panels -----------------------------------------------------------------------------------------------------------------------

// Where the parts of a block lie: bytes in a file; codes of `n_codes` bytes from `codes` on, and `more` bytes of upper bits that stand
// elsewhere but come behind them in a panel; two-byte scales, then bytes of scales. block: what makes one of floats; nullptr: pack.cpp
// does.
struct Kind {
  Format format;
  uint32_t bytes, codes, n_codes, more, n_more, halves[2], n_halves, parts, n_parts;
  bool (*block)(const float* x, uint8_t* to);
};
constexpr Kind kKinds[] = {
    {LINNET_Q4_K, 144, 16, 128, 0, 0, {0, 2}, 2, 4, 12, q4_k_block},    {LINNET_Q5_K, 176, 48, 128, 16, 32, {0, 2}, 2, 4, 12, q5_k_block},
    {LINNET_Q6_K, 210, 0, 192, 0, 0, {208, 0}, 1, 192, 16, q6_k_block}, {LINNET_I8G32, 34, 2, 32, 0, 0, {0, 0}, 1, 0, 0, nullptr},  // Q8_0
    {LINNET_I4G32, 18, 2, 16, 0, 0, {0, 0}, 1, 0, 0, nullptr},                                                                      // Q4_0
};
const Kind* kind_of(Format f) {
  for (const Kind& k : kKinds)
    if (k.format == f) return &k;
  return nullptr;
}

// n bytes of one output's block, four to a line.
uint8_t* place_lines(const uint8_t* from, size_t n, size_t output, uint8_t* lines) {
  for (size_t i = 0; i < n; i += 4, lines += 64) std::memcpy(lines + output * 4, from + i, 4);
  return lines;
}
const uint8_t* take_lines(const uint8_t* lines, size_t n, size_t output, uint8_t* to) {
  for (size_t i = 0; i < n; i += 4, lines += 64) std::memcpy(to + i, lines + output * 4, 4);
  return lines;
}

// The two codes of a byte are 16 apart in a Q4_0, 4 in a panel. Where code i of a block is: its byte, the bits before it.
struct Nibble {
  size_t byte, bits;
};
Nibble in_file(size_t i) { return {i % 16, i / 16 * 4}; }
Nibble in_panel(size_t i) { return {i / 8 * 4 + i % 4, i & 4}; }
void move_nibbles(const uint8_t* from, Nibble (*at)(size_t), uint8_t* to, Nibble (*to_at)(size_t)) {
  uint8_t moved[16] = {};
  for (size_t i = 0; i < 32; ++i) {
    uint8_t& byte = moved[to_at(i).byte];
    byte = static_cast<uint8_t>(byte | (from[at(i).byte] >> at(i).bits & 15) << to_at(i).bits);
  }
  std::memcpy(to, moved, sizeof moved);
}

void place_block(const Kind& k, const uint8_t* block, size_t output, uint8_t* lines, uint8_t* entry) {
  const uint8_t* codes = block + k.codes;
  uint8_t moved[16];
  if (format_row(k.format).stored == Stored::kNibbles) move_nibbles(codes, in_file, moved, in_panel), codes = moved;
  place_lines(block + k.more, k.n_more, output, place_lines(codes, k.n_codes, output, lines));
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(entry + output * 2, block + k.halves[i], 2);
  for (size_t i = 0; i < k.n_parts; ++i, entry += kPanel) entry[output] = block[k.parts + i];
}
void take_block(const Kind& k, const uint8_t* lines, const uint8_t* entry, size_t output, uint8_t* block) {
  take_lines(take_lines(lines, k.n_codes, output, block + k.codes), k.n_more, output, block + k.more);
  if (format_row(k.format).stored == Stored::kNibbles) move_nibbles(block + k.codes, in_panel, block + k.codes, in_file);
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(block + k.halves[i], entry + output * 2, 2);
  for (size_t i = 0; i < k.n_parts; ++i, entry += kPanel) block[k.parts + i] = entry[output];
}

// block_of(row, i): block i of a row, nullptr: there is none to be had.
template <class BlockOf>
bool place_rows(Format f, uint32_t n_rows, uint32_t k, void* panel, void* scales, const BlockOf& block_of) {
  const Kind& kind = *kind_of(f);
  const size_t entry_bytes = kPanel * format_row(f).scale.bytes, values = gguf_block_values(f);
  std::memset(panel, 0, panel_bytes(f, k));
  std::memset(scales, 0, n_w_groups(f, k) * entry_bytes);
  for (size_t i = 0; i < k / values; ++i)
    for (size_t r = 0; r < n_rows; ++r) {
      const uint8_t* block = block_of(r, i);
      if (!block) return false;
      place_block(kind, block, r, static_cast<uint8_t*>(panel) + i * panel_bytes(f, values),
                  static_cast<uint8_t*>(scales) + i * entry_bytes);
    }
  return true;
}

// Whether squares of them can be added up. The largest scales are far below.
bool tame(const float* x, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; ++i) ok &= __builtin_fabsf(x[i]) < 0x1p40f;
  return ok;
}

}  // namespace

uint32_t gguf_block_values(Format f) { return format_row(f).w_group; }
uint32_t gguf_block_bytes(Format f) {
  const Kind* k = kind_of(f);
  return k ? k->bytes : 0;
}

bool gguf_blocks_finite(Format f, const uint8_t* blocks, size_t n) {
  const Kind& k = *kind_of(f);
  bool ok = true;
  for (; n; --n, blocks += k.bytes)
    for (size_t i = 0; i < k.n_halves; ++i) ok &= (blocks[k.halves[i] + 1] & 0x7C) != 0x7C;
  return ok;
}

void pack_gguf_blocks(Format f, const uint8_t* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  const size_t bytes = gguf_block_bytes(f);
  place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) { return rows + r * stride + i * bytes; });
}

void unpack_gguf_blocks(const void* panels, const void* scales, Format f, uint32_t k, uint32_t row, uint8_t* blocks) {
  const Kind& kind = *kind_of(f);
  const size_t values = gguf_block_values(f), entry_bytes = kPanel * format_row(f).scale.bytes, panel = row / kPanel;
  const uint8_t* lines = static_cast<const uint8_t*>(panels) + panel * panel_bytes(f, k);
  const uint8_t* entry = static_cast<const uint8_t*>(scales) + panel * n_w_groups(f, k) * entry_bytes;
  for (size_t i = 0; i < k / values; ++i, lines += panel_bytes(f, values), entry += entry_bytes, blocks += kind.bytes)
    take_block(kind, lines, entry, row % kPanel, blocks);
}

bool pack_blocks(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  uint8_t block[256];
  return place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) {
    const float* x = rows + r * stride + i * kValues;
    return tame(x, kValues) && kind_of(f)->block(x, block) ? block : nullptr;
  });
}

}  // namespace linnet
