// Formats: how numbers are stored. A new format is one row here, a scalar encode/decode, a packer and kernels.
#pragma once
#include <cstdint>
#include <string_view>

#include "../platform/reader.h"
#include "include/linnet.h"

namespace linnet {

using Format = linnet_format;  // LINNET_F32 ...

inline constexpr uint32_t kPanel = 16;                  // outputs per panel, positions per KV page
inline constexpr uint32_t kPadK = 32;                   // inputs of panels of bytes and nibbles are padded to this
inline constexpr uint32_t kMaxFormat = LINNET_I4G128Z;  // of weights; those behind it are for KV caches alone

struct FormatRow {
  Format format;
  const char* name;
  Format x;             // the activations that it is multiplied with: f32, i8 (codes and scales, see QuantRows) or bf16
  uint8_t bits;         // per weight
  uint8_t run;          // consecutive inputs of one output that lie together in a panel
  uint16_t x_group;     // inputs per activation scale (integer formats)
  uint16_t w_group;     // inputs per weight scale, 0 = one scale per output (or none)
  uint8_t scale_bytes;  // 4 = f32, 2 = f16, 3 = f16 and a zero point, 0 = none
};

// Indexed by linnet_format.
inline constexpr FormatRow kFormats[LINNET_KIVI2 + 1] = {
    {LINNET_FORMAT_DEFAULT, nullptr, LINNET_FORMAT_DEFAULT, 0, 0, 0, 0, 0},
    {LINNET_F32, "f32", LINNET_F32, 32, 1, 0, 0, 0},
    {LINNET_F16, "f16", LINNET_F32, 16, 1, 0, 0, 0},
    {LINNET_BF16, "bf16", LINNET_F32, 16, 1, 0, 0, 0},
    {LINNET_I8, "i8", LINNET_I8, 8, 4, 128, 0, 4},
    {LINNET_I8G128, "i8g128", LINNET_I8, 8, 4, 128, 128, 4},
    {LINNET_I8G64, "i8g64", LINNET_I8, 8, 4, 64, 64, 4},
    {LINNET_I8G32, "i8g32", LINNET_I8, 8, 4, 32, 32, 2},
    {LINNET_F8E4M3, "f8e4m3", LINNET_BF16, 8, 4, 0, 0, 4},
    {LINNET_F8E5M2, "f8e5m2", LINNET_BF16, 8, 4, 0, 0, 4},
    {LINNET_I4G128, "i4g128", LINNET_I8, 4, 8, 128, 128, 2},
    {LINNET_I4G64, "i4g64", LINNET_I8, 4, 8, 64, 64, 2},
    {LINNET_I4G32, "i4g32", LINNET_I8, 4, 8, 32, 32, 2},
    {LINNET_I4G128Z, "i4g128z", LINNET_I8, 4, 8, 128, 128, 3},
    {LINNET_KIVI4, "kivi4", LINNET_FORMAT_DEFAULT, 4, 0, 0, 0, 0},
    {LINNET_KIVI2, "kivi2", LINNET_FORMAT_DEFAULT, 2, 0, 0, 0, 0},
};

constexpr bool format_known(uint32_t f) { return f >= LINNET_F32 && f <= kMaxFormat; }
constexpr const FormatRow& format_row(Format f) { return kFormats[f]; }
constexpr bool format_integer(Format f) { return format_row(f).x == LINNET_I8; }

// A packed matrix y = x * W^T, W (n, k): panels of 16 outputs, then scales [n/16][groups][16] (groups = 1 for i8 and FP8).
//   f32 f16 bf16  [n/16][k][16]
//   i8*, f8*      [n/16][kpad/4][16][4] bytes
//   i4*           [n/16][kpad/8][16][4] bytes: byte b holds code + 8 of input 8 i + b in its low half, of input 8 i + 4 + b in its high
//                 half
//   i4g128z       the same with codes as they are; a group's 16 f16 scales are followed by its 16 zero points, a byte each: weight = scale
//                 * (code - zero)
// n is padded to 16 and kpad = k rounded up to 32 with zeros (f32, f16, bf16: kpad = k); padded scales are 0. Panels and scales start at
// multiples of 64.
constexpr uint64_t padded_n(uint64_t n) { return align_up(n, kPanel); }
constexpr uint64_t padded_k(Format f, uint64_t k) { return format_row(f).run > 1 ? align_up(k, kPadK) : k; }
constexpr uint64_t n_x_groups(Format f, uint64_t k) { return format_integer(f) ? div_up(k, format_row(f).x_group) : 0; }
constexpr uint64_t n_w_groups(Format f, uint64_t k) {
  const FormatRow& r = format_row(f);
  return r.scale_bytes == 0 ? 0 : r.w_group ? div_up(k, r.w_group) : 1;
}
constexpr uint64_t panel_bytes(Format f, uint64_t k) { return kPanel * padded_k(f, k) * format_row(f).bits / 8; }  // one panel
// n, k are at most 2^31, so none of this overflows.
constexpr uint64_t scales_offset(Format f, uint64_t n, uint64_t k) { return align_up(padded_n(n) / kPanel * panel_bytes(f, k), 64); }
constexpr uint64_t packed_bytes(Format f, uint64_t n, uint64_t k) {
  return align_up(scales_offset(f, n, k) + padded_n(n) * n_w_groups(f, k) * format_row(f).scale_bytes, 64);
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
