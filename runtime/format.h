// Formats: how numbers are stored. A new format is one row here, a scalar encode/decode, a packer and kernels.
#pragma once
#include <cstdint>
#include <string_view>

#include "include/linnet.h"
#include "reader.h"

namespace linnet {

using Format = linnet_format;  // LINNET_F32 ...

inline constexpr uint32_t kPanel = 16;      // outputs per panel, positions per KV page
inline constexpr uint32_t kPadK = 32;       // inputs of integer panels are padded to this
inline constexpr uint32_t kMaxFormat = LINNET_I8G32;

struct FormatRow {
  Format format;
  const char* name;
  bool integer;          // weights are int8 codes in P16K4 panels; else floats in P16K1 panels
  uint8_t bytes;         // per weight
  uint16_t x_group;      // inputs per activation scale (integer formats), 0 = activations stay f32
  uint16_t w_group;      // inputs per weight scale, 0 = one scale per output (or none for floats)
  uint8_t scale_bytes;   // 4 = f32, 2 = f16, 0 = none
};

// Indexed by linnet_format.
inline constexpr FormatRow kFormats[kMaxFormat + 1] = {
    {LINNET_FORMAT_DEFAULT, nullptr, false, 0, 0, 0, 0},
    {LINNET_F32, "f32", false, 4, 0, 0, 0},
    {LINNET_F16, "f16", false, 2, 0, 0, 0},
    {LINNET_BF16, "bf16", false, 2, 0, 0, 0},
    {LINNET_I8, "i8", true, 1, 128, 0, 4},
    {LINNET_I8G128, "i8g128", true, 1, 128, 128, 4},
    {LINNET_I8G64, "i8g64", true, 1, 64, 64, 4},
    {LINNET_I8G32, "i8g32", true, 1, 32, 32, 2},
};

constexpr bool format_known(uint32_t f) { return f >= LINNET_F32 && f <= kMaxFormat; }
constexpr const FormatRow& format_row(Format f) { return kFormats[f]; }

// A packed matrix y = x * W^T, W (n, k):
//   integer formats  panels [n/16][kpad/4][16][4] of int8, then scales [n/16][groups][16]   (groups = 1 for i8)
//   float formats    panels [n/16][k][16] of the format's type, no scales
// n is padded to 16 and kpad = k rounded up to 32 with zeros; padded scales are 0. Panels and scales start at multiples of 64.
constexpr uint64_t padded_n(uint64_t n) { return align_up(n, kPanel); }
constexpr uint64_t padded_k(Format f, uint64_t k) { return format_row(f).integer ? align_up(k, kPadK) : k; }
constexpr uint64_t n_x_groups(Format f, uint64_t k) { return format_row(f).integer ? div_up(k, format_row(f).x_group) : 0; }
constexpr uint64_t n_w_groups(Format f, uint64_t k) {
  const FormatRow& r = format_row(f);
  return !r.integer ? 0 : r.w_group ? div_up(k, r.w_group) : 1;
}
constexpr uint64_t panel_bytes(Format f, uint64_t k) { return kPanel * padded_k(f, k) * format_row(f).bytes; }  // one panel
// n, k are at most 2^31, so none of this overflows.
constexpr uint64_t scales_offset(Format f, uint64_t n, uint64_t k) {
  return align_up(padded_n(n) / kPanel * panel_bytes(f, k), 64);
}
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

const char* format_name(Format f);               // nullptr if unknown
Format format_from_name(std::string_view name);  // LINNET_FORMAT_DEFAULT if unknown

}  // namespace linnet
