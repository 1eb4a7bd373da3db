// Formats: how numbers are stored. The list of them is formats.inc.
#pragma once
#include <cstdint>
#include <string_view>

#include "../platform/reader.h"
#include "include/linnet.h"

namespace linnet {

using Format = linnet_format;  // LINNET_F32 ...

inline constexpr uint32_t kPanel = 16;  // outputs per panel, positions per KV page
inline constexpr uint32_t kPadK = 32;   // inputs of panels of bytes and nibbles are padded to this

// An entry of scales beside a panel: what one output has for one group of inputs.
struct ScaleRow {
  uint8_t bytes;
  bool half;      // scales are f16, else f32
  bool zero;      // each group's 16 scales are followed by its 16 zero points, a byte each
  uint8_t outer;  // bytes of an output behind the panel's entries: two f32 whose sum all of its scales are multiplied by
};
#define LINNET_SCALE(name, bytes, half, zero, outer) inline constexpr ScaleRow kScale##name = {bytes, half, zero, outer};
#include "formats.inc"

// How the numbers of a panel lie and what they stand for, see below.
enum class Stored : uint8_t {
  kNone,
  kGroups,  // of the KV cache alone
  kBlocks,  // blocks of GGUF files, see below
  kTables,  // nibbles that choose from floats
#define LINNET_TYPE(name) k##name,
#define LINNET_CODE(name) k##name,
#include "formats.inc"
};

struct FormatRow {
  Format format;
  Format x;  // the activations that it is multiplied with: f32, i8 (codes and scales, see QuantRows) or bf16; none: not of weights
  const char* name;
  uint16_t x_group;  // inputs per activation scale (integer formats)
  uint16_t w_group;  // inputs per entry of scales, 0 = one per output (or none)
  uint8_t bits;      // per weight
  uint8_t run;       // consecutive inputs of one output that lie together in a panel; of blocks bytes
  Stored stored;
  ScaleRow scale;
};

// Indexed by linnet_format.
inline constexpr FormatRow kFormats[] = {
    {LINNET_FORMAT_DEFAULT, LINNET_FORMAT_DEFAULT, nullptr, 0, 0, 0, 0, Stored::kNone, kScaleNone},
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, LINNET_F32, #name, 0, 0, bits, 1, Stored::k##type, kScaleNone},
#define LINNET_FP8(name, NAME, type, w_group, kv) {LINNET_##NAME, LINNET_BF16, #name, 0, w_group, 8, 4, Stored::k##type, kScaleF32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, LINNET_I8, #name, x_group, w_group, bits, 32 / bits, Stored::k##codes, kScale##scale},
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) \
  {LINNET_##NAME, LINNET_I8, #name, 32, block, bits, 4, Stored::kBlocks, kScale##scale},
#define LINNET_TABLES(name, NAME, table, scale) {LINNET_##NAME, LINNET_F32, #name, 0, 64, 4, 8, Stored::kTables, kScale##scale},
#define LINNET_KV_ALONE(name, NAME, bits) {LINNET_##NAME, LINNET_FORMAT_DEFAULT, #name, 0, 0, bits, 0, Stored::kGroups, kScaleNone},
#include "formats.inc"
};
inline constexpr uint32_t kFormatCount = sizeof kFormats / sizeof kFormats[0];

constexpr const FormatRow& format_row(Format f) { return kFormats[f]; }
constexpr bool format_known(uint32_t f) { return f < kFormatCount && kFormats[f].x != LINNET_FORMAT_DEFAULT; }  // of weights
constexpr bool format_integer(Format f) { return format_row(f).x == LINNET_I8; }

// The last that is known, and that rows lie where their numbers say.
constexpr uint32_t last_format() {
  uint32_t last = 0;
  for (uint32_t i = 0; i < kFormatCount; ++i)
    if (format_known(i)) last = i;
  return last;
}
inline constexpr uint32_t kMaxFormat = last_format();  // of weights
constexpr bool formats_in_order() {
  for (uint32_t i = 0; i < kFormatCount; ++i)
    if (kFormats[i].format != i) return false;
  return true;
}
static_assert(formats_in_order());

// Whether K and V of the cache may have it, and whether it packs them in groups of tokens.
constexpr bool format_kv(uint32_t f) {
  switch (f) {
#define LINNET_FLOATS(name, NAME, ...) case LINNET_##NAME:
#define LINNET_FP8(name, NAME, type, w_group, kv) LINNET_CASE_##kv(NAME)
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) LINNET_CASE_##kv(NAME)
#define LINNET_KV_ALONE(name, NAME, ...) case LINNET_##NAME:
#define LINNET_CASE_KV(NAME) case LINNET_##NAME:
#define LINNET_CASE_NONE(NAME)
#include "formats.inc"
    return true;
    default:
      return false;
  }
}
constexpr bool format_groups(uint32_t f) {
  switch (f) {
#define LINNET_KV_ALONE(name, NAME, ...) case LINNET_##NAME:
#include "formats.inc"
    return true;
    default:
      return false;
  }
}

// Of those: "kivi4, kivi2".
inline constexpr const char* kGroupFormatNames = &
#define LINNET_KV_ALONE(name, ...) ", " #name
#include "formats.inc"
                                                 [2];

// Those of the KV cache: "f32, f16, ...".
inline constexpr const char* kKvFormatNames = &
#define LINNET_FLOATS(name, ...) ", " #name
#define LINNET_FP8(name, NAME, type, w_group, kv) LINNET_NAME_##kv(name)
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) LINNET_NAME_##kv(name)
#define LINNET_KV_ALONE(name, ...) ", " #name
#define LINNET_NAME_KV(name) ", " #name
#define LINNET_NAME_NONE(name)
#include "formats.inc"
                                              [2];

// A packed matrix y = x * W^T, W (n, k): panels of 16 outputs, then scales [n/16][groups][16] (groups = 1 for i8 and FP8).
//   floats         [n/16][k][16]
//   FP8, bytes     [n/16][kpad/4][16][4] bytes
//   nibbles        [n/16][kpad/8][16][4] bytes: byte b holds code + 8 of input 8 i + b in its low half, of input 8 i + 4 + b in its high
//   half nibbles, zero  the same with codes as they are; weight = scale * (code - zero point)
//   tables         the same codes; weight = table[code] * scale of 64 inputs. dq: scale = map[c] * outer + offset, a panel's scales being
//                  [16] f32 offset, [nested_rows][16] f32 outer, [16] bytes p and then [k/64][16] bytes c: group g has row (g + p) / 256
//                  of outer, since a checkpoint counts 256 groups over the ends of rows
//   blocks         [n/16][k/block][lines][16][4] bytes: of the codes that a block of a GGUF file has, four bytes of each output lie
//                  together, in the file's order, what is behind other parts there (signs) behind the rest; but where bits of a code lie
//                  apart, in the order in which kernels want them (format_by_use): memory is read in one straight line. Scales
//                  [n/16][k/block] entries: [16] f16 for each of the block's, then [16] of each byte that is left: pack_blocks.cpp says
//                  which they are, scalar.cpp what they stand for
//   nvfp4          blocks with [2][16] f32 behind a panel's entries: weight = code * fmaf(scale, first, scale * second), in f32. The
//                  second is 0 where a factor is multiplied by; with it the quotient by a factor comes out to its last bit, too
// n is padded to 16 and kpad = k rounded up to 32 with zeros (f32, f16, bf16: kpad = k); padded scales are 0. Panels and scales start at
// multiples of 64.
constexpr bool format_by_use(Format f) { return f == LINNET_Q5_K || f == LINNET_Q6_K || f == LINNET_Q3_K; }
inline constexpr uint32_t kByUseVersion = 5;  // linnet.layout_version since when they do
constexpr uint64_t padded_n(uint64_t n) { return align_up(n, kPanel); }
constexpr uint64_t padded_k(Format f, uint64_t k) { return format_row(f).run > 1 ? align_up(k, kPadK) : k; }
// What a row's inputs must be a multiple of.
constexpr uint32_t format_block(Format f) {
  return format_row(f).stored == Stored::kBlocks || format_row(f).stored == Stored::kTables ? format_row(f).w_group : 1;
}
constexpr uint64_t n_x_groups(Format f, uint64_t k) { return format_integer(f) ? div_up(k, format_row(f).x_group) : 0; }
constexpr uint64_t n_w_groups(Format f, uint64_t k) {
  const FormatRow& r = format_row(f);
  return r.scale.bytes == 0 ? 0 : r.w_group ? div_up(k, r.w_group) : 1;
}
// Rows of outer scales: what 255 groups before the first one and k inputs begin of 256 groups each.
constexpr bool format_nested(Format f) { return format_row(f).stored == Stored::kTables && format_row(f).scale.bytes == 1; }
constexpr uint64_t nested_rows(uint64_t k) { return k / 64 ? (k / 64 + 254) / 256 + 1 : 0; }
constexpr uint64_t panel_bytes(Format f, uint64_t k) { return kPanel * padded_k(f, k) * format_row(f).bits / 8; }  // one panel
constexpr uint64_t panel_scale_bytes(Format f, uint64_t k) {
  const uint64_t nested = format_nested(f) ? 4 * (1 + nested_rows(k)) + 1 : 0;
  return kPanel * (n_w_groups(f, k) * format_row(f).scale.bytes + format_row(f).scale.outer + nested);
}
// n, k are at most 2^31, so none of this overflows.
constexpr uint64_t scales_offset(Format f, uint64_t n, uint64_t k) { return align_up(padded_n(n) / kPanel * panel_bytes(f, k), 64); }
constexpr uint64_t packed_bytes(Format f, uint64_t n, uint64_t k) {
  return align_up(scales_offset(f, n, k) + padded_n(n) / kPanel * panel_scale_bytes(f, k), 64);
}

// Conversions, exact to the bit everywhere (round to nearest even).
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);
inline float bf16_to_f32(uint16_t h) {
  const uint32_t u = static_cast<uint32_t>(h) << 16;
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
}
uint16_t f32_to_bf16(float f);
// FP8; what lies beyond the largest number becomes it, infinities too, and NaN stays NaN.
float f8e4m3_to_f32(uint8_t c);
uint8_t f32_to_f8e4m3(float f);
float f8e5m2_to_f32(uint8_t c);
uint8_t f32_to_f8e5m2(float f);

const char* format_name(Format f);               // nullptr if unknown
Format format_from_name(std::string_view name);  // LINNET_FORMAT_DEFAULT if unknown

}  // namespace linnet
