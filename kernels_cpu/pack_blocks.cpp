// Blocks of GGUF files as panels (format.h) and back: from files with every bit kept, and from floats.
#include <cstring>

#include "encode_blocks.h"
#include "kernels.h"
#include "pack.h"

namespace linnet {
namespace {

struct Run {
  uint32_t at, n;
};
// Lines of a panel by the order in which `lines` names what they hold: the same; eight of fifth or third bits, each behind one of
// the first eight others; Q6_K's halves of 128 inputs, eight times two of nibbles and one of upper bits.
size_t in_order(size_t i) { return i; }
template <size_t kOthers>
size_t beside(size_t i) {
  return i < 8 ? i * 2 : i < kOthers ? i + 8 : (i - kOthers) * 2 + 1;
}
size_t by_threes(size_t i) { return i < 32 ? i / 16 * 24 + i % 8 * 3 + i / 8 % 2 : (i - 32) / 8 * 24 + i % 8 * 3 + 2; }
// Where the parts of a block lie, bytes in a file: what lies in a panel, in its order; f16; what follows them in an entry of scales.
struct Kind {
  Format format;
  uint32_t bytes;
  Run lines[2];
  uint32_t n_halves, halves[2];
  Run parts[2];
  EncodeBlock* block;  // or NULL: files alone have it, or pack.cpp packs it
  size_t (*line)(size_t) = in_order;
};
constexpr Kind kKinds[] = {
    {LINNET_Q4_K, 144, {{16, 128}}, 2, {0, 2}, {{4, 12}}, q4_k_block},
    {LINNET_Q5_K, 176, {{48, 128}, {16, 32}}, 2, {0, 2}, {{4, 12}}, q5_k_block, beside<32>},
    {LINNET_Q6_K, 210, {{0, 192}}, 1, {208}, {{192, 16}}, q6_k_block, by_threes},
    {LINNET_Q4_1, 20, {{4, 16}}, 2, {0, 2}, {}, q4_1_block},
    {LINNET_Q5_0, 22, {{6, 16}, {2, 4}}, 1, {0}, {}, q5_0_block},
    {LINNET_Q5_1, 24, {{8, 16}, {4, 4}}, 2, {0, 2}, {}, q5_1_block},
    {LINNET_Q2_K, 84, {{16, 64}}, 2, {80, 82}, {{0, 16}}, q2_k_block},
    {LINNET_Q3_K, 110, {{32, 64}, {0, 32}}, 1, {108}, {{96, 12}}, q3_k_block, beside<16>},
    {LINNET_IQ4_NL, 18, {{2, 16}}, 1, {0}, {}, iq4_nl_block},
    {LINNET_IQ4_XS, 136, {{8, 128}}, 1, {0}, {{2, 6}}, iq4_xs_block},
    {LINNET_MXFP4, 17, {{1, 16}}, 0, {}, {{0, 1}}, mxfp4_block},
    {LINNET_NVFP4, 36, {{4, 32}}, 0, {}, {{0, 4}}, nullptr},
    {LINNET_TQ1_0, 54, {{0, 32}}, 1, {52}, {{32, 20}}, tq1_0_block},
    {LINNET_TQ2_0, 66, {{0, 64}}, 1, {64}, {}, tq2_0_block},
    {LINNET_IQ2_XXS, 66, {{2, 64}}, 1, {0}, {}, nullptr},
    {LINNET_IQ2_XS, 74, {{2, 64}}, 1, {0}, {{66, 8}}, nullptr},
    {LINNET_IQ2_S, 82, {{2, 64}}, 1, {0}, {{66, 16}}, nullptr},
    {LINNET_IQ3_XXS, 98, {{2, 96}}, 1, {0}, {}, nullptr},
    {LINNET_IQ3_S, 110, {{2, 64}, {74, 32}}, 1, {0}, {{66, 8}, {106, 4}}, nullptr},
    {LINNET_IQ1_S, 50, {{2, 32}}, 1, {0}, {{34, 16}}, nullptr},
    {LINNET_IQ1_M, 56, {{0, 32}}, 0, {}, {{32, 24}}, nullptr},
    {LINNET_HQQ4G32, 20, {{4, 16}}, 2, {0, 2}, {}, nullptr},
    {LINNET_HQQ4G64, 36, {{4, 32}}, 2, {0, 2}, {}, nullptr},
    {LINNET_HQQ4G128, 68, {{4, 64}}, 2, {0, 2}, {}, nullptr},
    {LINNET_AO4G32, 20, {{4, 16}}, 2, {0, 2}, {}, nullptr},
    {LINNET_AO4G64, 36, {{4, 32}}, 2, {0, 2}, {}, nullptr},
    {LINNET_AO4G128, 68, {{4, 64}}, 2, {0, 2}, {}, nullptr},
    {LINNET_TQ2_F32, 64, {{0, 64}}, 0, {}, {}, nullptr},
    {LINNET_I8G32, 34, {{2, 32}}, 1, {0}, {}, nullptr},  // Q8_0
    {LINNET_I4G32, 18, {{2, 16}}, 1, {0}, {}, nullptr},  // Q4_0
};
// Every byte has its place, as many as formats.inc says.
constexpr bool kinds_are_whole() {
  for (const Kind& k : kKinds) {
    const FormatRow& row = format_row(k.format);
    const uint32_t lines = k.lines[0].n + k.lines[1].n, entry = k.n_halves * 2 + k.parts[0].n + k.parts[1].n;
    if (lines * 8 != uint32_t{row.w_group} * row.bits || entry != row.scale.bytes || lines + entry != k.bytes) return false;
  }
  uint32_t n = 2;  // i8g32, i4g32
  for (const FormatRow& row : kFormats) n += row.stored == Stored::kBlocks;
  return n == sizeof kKinds / sizeof kKinds[0];
}
static_assert(kinds_are_whole());

const Kind* kind_of(Format f) {
  for (const Kind& k : kKinds)
    if (k.format == f) return &k;
  return nullptr;
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

// Four bytes of one output's block to a line.
void place_block(const Kind& k, const uint8_t* block, size_t output, uint8_t* lines, uint8_t* entry) {
  uint8_t moved[18];
  if (format_row(k.format).stored == Stored::kNibbles) {
    std::memcpy(moved, block, sizeof moved);
    move_nibbles(block + 2, in_file, moved + 2, in_panel);
    block = moved;
  }
  size_t line = 0;
  for (const Run& run : k.lines)
    for (size_t i = 0; i < run.n; i += 4) std::memcpy(lines + k.line(line++) * 64 + output * 4, block + run.at + i, 4);
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(entry + output * 2, block + k.halves[i], 2);
  for (const Run& run : k.parts)
    for (size_t i = 0; i < run.n; ++i, entry += kPanel) entry[output] = block[run.at + i];
}
void take_block(const Kind& k, const uint8_t* lines, const uint8_t* entry, size_t output, uint8_t* block) {
  size_t line = 0;
  for (const Run& run : k.lines)
    for (size_t i = 0; i < run.n; i += 4) std::memcpy(block + run.at + i, lines + k.line(line++) * 64 + output * 4, 4);
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(block + k.halves[i], entry + output * 2, 2);
  for (const Run& run : k.parts)
    for (size_t i = 0; i < run.n; ++i, entry += kPanel) block[run.at + i] = entry[output];
  if (format_row(k.format).stored == Stored::kNibbles) move_nibbles(block + 2, in_panel, block + 2, in_file);
}

// The outer factors of one output of a panel.
constexpr float kOne[2] = {1, 0};
uint8_t* outer_place(Format f, uint32_t k, void* scales, size_t row, size_t i) {
  return static_cast<uint8_t*>(scales) + panel_scale_bytes(f, k) - (2 - i) * kPanel * 4 + row * 4;
}
void put_outer(Format f, uint32_t k, void* scales, size_t row, const float factors[2]) {
  for (size_t i = 0; i < 2; ++i) std::memcpy(outer_place(f, k, scales, row, i), &factors[i], 4);
}

// block_of(row, i): block i of a row, nullptr: there is none to be had.
template <class BlockOf>
bool place_rows(Format f, uint32_t n_rows, uint32_t k, void* panel, void* scales, const BlockOf& block_of) {
  const Kind& kind = *kind_of(f);
  const size_t entry_bytes = kPanel * format_row(f).scale.bytes, values = gguf_block_values(f);
  std::memset(panel, 0, panel_bytes(f, k));
  std::memset(scales, 0, panel_scale_bytes(f, k));
  if (format_row(f).scale.outer)
    for (size_t r = 0; r < n_rows; ++r) put_outer(f, k, scales, r, kOne);
  for (size_t i = 0; i < k / values; ++i)
    for (size_t r = 0; r < n_rows; ++r) {
      const uint8_t* block = block_of(r, i);
      if (!block) return false;
      place_block(kind, block, r, static_cast<uint8_t*>(panel) + i * panel_bytes(f, values),
                  static_cast<uint8_t*>(scales) + i * entry_bytes);
    }
  return true;
}

// ---- tables: groups of 64 inputs as bitsandbytes has them ----

// 32 bytes of codes, upper halves first; then the f32 scale, or its code, the f32 that this is a part of, and the f32 that is added.
constexpr uint32_t kTableGroup = 64, kTableCodes = 32, kTableBytes = 36, kNestedBytes = 41;
bool is_table(Format f) { return format_row(f).stored == Stored::kTables; }

// Input i of a group in a checkpoint; in a panel, for output 0.
Nibble in_checkpoint(size_t i) { return {i / 2, (i & 1) ^ 1}; }
Nibble in_lines(size_t i) { return {i / 8 * 64 + i % 4, i >> 2 & 1}; }

float table_scale(Format f, const uint8_t* group) {
  float scale[2];
  if (!format_nested(f)) {
    std::memcpy(scale, group + kTableCodes, 4);
    return scale[0];
  }
  std::memcpy(scale, group + kTableCodes + 1, 8);
  const float inner = scalar_table.tables->scales[group[kTableCodes]] * scale[0];
  return inner + scale[1];
}

// Parts of double quantisation in a panel's scales.
struct Nested {
  uint8_t *offset, *outer, *first, *codes;
  Nested(uint8_t* scales, uint32_t k) : offset(scales), outer(scales + 64), first(outer + nested_rows(k) * 64), codes(first + kPanel) {}
  uint8_t* outer_of(size_t group, size_t output) const { return outer + (group + first[output]) / 256 * 64 + output * 4; }
};

void pack_table(Format f, const uint8_t* rows, size_t stride, uint32_t n_rows, uint32_t k, uint8_t* panel, uint8_t* scales) {
  const size_t groups = k / kTableGroup, bytes = gguf_block_bytes(f);
  std::memset(panel, 0, panel_bytes(f, k));
  std::memset(scales, 0, panel_scale_bytes(f, k));
  for (size_t r = 0; r < n_rows; ++r, rows += stride) {
    const Nested nested(scales, k);
    if (format_nested(f))  // where one outer scale follows another: 256 groups of the checkpoint end
      for (size_t g = 1; g < groups && !nested.first[r]; ++g)
        if (std::memcmp(rows + g * bytes + 33, rows + (g - 1) * bytes + 33, 4)) nested.first[r] = static_cast<uint8_t>(256 - g % 256);
    for (size_t g = 0; g < groups; ++g) {
      const uint8_t* from = rows + g * bytes;
      for (size_t i = 0; i < kTableGroup; ++i) {
        const Nibble at = in_checkpoint(i), to = in_lines(i);
        uint8_t& byte = panel[g * 512 + to.byte + r * 4];
        byte = static_cast<uint8_t>(byte | (from[at.byte] >> at.bits * 4 & 15) << to.bits * 4);
      }
      if (!format_nested(f)) {
        std::memcpy(scales + (g * kPanel + r) * 4, from + kTableCodes, 4);
        continue;
      }
      nested.codes[g * kPanel + r] = from[kTableCodes];
      std::memcpy(nested.outer_of(g, r), from + kTableCodes + 1, 4);
      std::memcpy(nested.offset + r * 4, from + kTableCodes + 5, 4);
    }
  }
}
void unpack_table(const uint8_t* panel, const uint8_t* scales, Format f, uint32_t k, size_t r, uint8_t* to) {
  for (size_t g = 0; g < k / kTableGroup; ++g, to += gguf_block_bytes(f)) {
    std::memset(to, 0, kTableCodes);
    for (size_t i = 0; i < kTableGroup; ++i) {
      const Nibble at = in_lines(i), into = in_checkpoint(i);
      to[into.byte] = static_cast<uint8_t>(to[into.byte] | (panel[g * 512 + at.byte + r * 4] >> at.bits * 4 & 15) << into.bits * 4);
    }
    if (!format_nested(f)) {
      std::memcpy(to + kTableCodes, scales + (g * kPanel + r) * 4, 4);
      continue;
    }
    const Nested nested(const_cast<uint8_t*>(scales), k);
    to[kTableCodes] = nested.codes[g * kPanel + r];
    std::memcpy(to + kTableCodes + 1, nested.outer_of(g, r), 4);
    std::memcpy(to + kTableCodes + 5, nested.offset + r * 4, 4);
  }
}

// How a zero point of 16 bits lies in a block (formats.inc).
enum class ZeroPoint : uint8_t { kNone, kTaken, kAdded };

// Whether squares of them can be added up. The largest scales are far below.
bool tame(const float* x, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; ++i) ok &= __builtin_fabsf(x[i]) < 0x1p40f;
  return ok;
}

}  // namespace

uint32_t gguf_block_values(Format f) { return format_row(f).w_group; }
uint32_t gguf_block_bytes(Format f) {
  if (is_table(f)) return format_nested(f) ? kNestedBytes : kTableBytes;
  const Kind* k = kind_of(f);
  return k ? k->bytes : 0;
}

uint32_t gguf_block_halves(Format f, uint32_t at[2]) {
  if (is_table(f)) return 0;
  const Kind& k = *kind_of(f);
  for (uint32_t i = 0; i < k.n_halves; ++i) at[i] = k.halves[i];
  return k.n_halves;
}

static ZeroPoint zero_of(Format f) {
  return f == LINNET_HQQ4G32 || f == LINNET_HQQ4G64 || f == LINNET_HQQ4G128 ? ZeroPoint::kTaken
         : f == LINNET_AO4G32 || f == LINNET_AO4G64 || f == LINNET_AO4G128  ? ZeroPoint::kAdded
                                                                            : ZeroPoint::kNone;
}
// Weights of all codes and what products take of the block.
static bool zero_block_finite(Format f, const uint8_t* block) {
  uint16_t of[2];
  std::memcpy(of, block, sizeof of);
  const bool wide = of[0] & 0x8000;
  const float scale = wide ? bf16_to_f32(of[0] & 0x7FFF) : f16_to_f32(of[0]), zero = wide ? bf16_to_f32(of[1]) : f16_to_f32(of[1]);
  const bool added = zero_of(f) == ZeroPoint::kAdded;
  const float least = added ? scale * -8.0f + zero : (0.0f - zero) * scale, most = added ? scale * 7.0f + zero : (15.0f - zero) * scale;
  return __builtin_isfinite(scale) && __builtin_isfinite(zero) && __builtin_isfinite(scale * 15.0f) && __builtin_isfinite(least) &&
         __builtin_isfinite(most);
}

bool gguf_blocks_finite(Format f, const uint8_t* blocks, size_t n) {
  bool ok = true;
  if (is_table(f)) {
    for (; n; --n, blocks += gguf_block_bytes(f)) ok &= __builtin_fabsf(table_scale(f, blocks)) <= 0x1.FFFFFEp127f;
    return ok;
  }
  const Kind& k = *kind_of(f);
  if (zero_of(f) != ZeroPoint::kNone) {
    for (; n; --n, blocks += k.bytes) ok &= zero_block_finite(f, blocks);
    return ok;
  }
  for (; n; --n, blocks += k.bytes) {
    for (size_t i = 0; i < k.n_halves; ++i) ok &= (blocks[k.halves[i] + 1] & 0x7C) != 0x7C;
    if (f == LINNET_MXFP4) ok &= blocks[0] <= 252;  // times 12, halved
    if (f == LINNET_IQ1_M)
      ok &= (blocks[55] & 0xF0) + (blocks[53] >> 4 & 0x0C) != 0x7C && (blocks[55] & 0xF0) + (blocks[53] >> 4 & 0x0C) != 0xFC;
  }
  return ok;
}

bool packs_floats(Format f) { return !is_table(f) && (format_row(f).stored != Stored::kBlocks || kind_of(f)->block); }

void pack_gguf_blocks(Format f, const uint8_t* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales,
                      const float* outer) {
  if (is_table(f)) return pack_table(f, rows, stride, n_rows, k, static_cast<uint8_t*>(panel), static_cast<uint8_t*>(scales));
  const size_t bytes = gguf_block_bytes(f);
  place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) { return rows + r * stride + i * bytes; });
  for (size_t r = 0; outer && r < n_rows; ++r) put_outer(f, k, scales, r, outer + r * 2);
}

bool outer_factor(float factor, bool divides, float out[2]) {
  if (!(factor >= 0x1p-80f && factor <= 0x1p80f)) return false;  // so that no product below loses bits; NaN is not either
  out[0] = divides ? 1.0f / factor : factor;
  out[1] = divides ? __builtin_fmaf(-out[0], factor, 1.0f) / factor : 0.0f;
  for (int m = 8; m < 16; ++m) {  // all bits that a scale may have; powers of two change nothing
    const auto s = static_cast<float>(m);
    if (__builtin_fmaf(s, out[0], s * out[1]) != (divides ? s / factor : s * factor)) return false;
  }
  return true;
}

void unpack_outer(const void* scales, Format f, uint32_t k, uint32_t row, float out[2]) {
  auto* const panel = static_cast<uint8_t*>(const_cast<void*>(scales)) + row / kPanel * panel_scale_bytes(f, k);
  for (size_t i = 0; i < 2; ++i) std::memcpy(&out[i], outer_place(f, k, panel, row % kPanel, i), 4);
}

void unpack_gguf_blocks(const void* panels, const void* scales, Format f, uint32_t k, uint32_t row, uint8_t* blocks) {
  if (is_table(f))
    return unpack_table(static_cast<const uint8_t*>(panels) + row / kPanel * panel_bytes(f, k),
                        static_cast<const uint8_t*>(scales) + row / kPanel * panel_scale_bytes(f, k), f, k, row % kPanel, blocks);
  const Kind& kind = *kind_of(f);
  const size_t values = gguf_block_values(f), entry_bytes = kPanel * format_row(f).scale.bytes, panel = row / kPanel;
  const uint8_t* lines = static_cast<const uint8_t*>(panels) + panel * panel_bytes(f, k);
  const uint8_t* entry = static_cast<const uint8_t*>(scales) + panel * panel_scale_bytes(f, k);
  for (size_t i = 0; i < k / values; ++i, lines += panel_bytes(f, values), entry += entry_bytes, blocks += kind.bytes)
    take_block(kind, lines, entry, row % kPanel, blocks);
}

bool pack_blocks(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  uint8_t block[256];
  if (!packs_floats(f)) return false;
  return place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) {
    const float* x = rows + r * stride + i * gguf_block_values(f);
    return tame(x, gguf_block_values(f)) && kind_of(f)->block(x, block) ? block : nullptr;
  });
}

}  // namespace linnet
