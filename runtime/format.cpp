#include "format.h"

#include <iterator>

namespace linnet {
namespace {
uint32_t bits(float f) {
  uint32_t u;
  __builtin_memcpy(&u, &f, 4);
  return u;
}
float from_bits(uint32_t u) {
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
}
}  // namespace

float f16_to_f32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 31u, mantissa = h & 0x3FFu;
  if (exponent == 31) return from_bits(sign | 0x7F800000u | mantissa << 13 | (mantissa ? 0x00400000u : 0u));
  if (exponent == 0) {
    if (mantissa == 0) return from_bits(sign);
    exponent = 1;
    while (!(mantissa & 0x400u)) {  // normalise a subnormal
      mantissa <<= 1;
      --exponent;
    }
    mantissa &= 0x3FFu;
  }
  return from_bits(sign | (exponent + 112u) << 23 | mantissa << 13);
}

uint16_t f32_to_f16(float f) {
  const uint32_t u = bits(f), sign = u >> 16 & 0x8000u, a = u & 0x7FFFFFFFu;
  if (a > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | (a >> 13 & 0x3FFu));  // NaN stays NaN, quiet
  if (a >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (a < 0x38800000u) {  // subnormal or zero
    if (a < 0x33000000u) return static_cast<uint16_t>(sign);
    const uint32_t shift = 126u - (a >> 23), m = (a & 0x7FFFFFu) | 0x800000u;
    const uint32_t half = 1u << (shift - 1), rest = m & ((1u << shift) - 1);
    uint32_t r = m >> shift;
    if (rest > half || (rest == half && (r & 1))) ++r;
    return static_cast<uint16_t>(sign | r);
  }
  const uint32_t r = a - 0x38000000u;
  return static_cast<uint16_t>(sign | ((r + 0xFFFu + (r >> 13 & 1u)) >> 13));  // a carry may reach infinity, as it should
}

uint16_t f32_to_bf16(float f) {
  const uint32_t u = bits(f);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>(u >> 16 | 0x40u);
  return static_cast<uint16_t>((u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
}

namespace {
// kMantissa bits of mantissa, the exponent's bias, the smallest normal number, the code of the largest number.
template <int kMantissa, uint32_t kBias, uint32_t kLargest>
uint8_t f32_to_f8(float f) {
  constexpr uint32_t kShift = 23 - kMantissa, kSmallest = (128u - kBias) << 23;  // bits of the smallest normal number
  const uint32_t u = bits(f), a = u & 0x7FFFFFFFu;
  uint32_t r;
  if (a > 0x7F800000u) {
    r = 0x7F;
  } else if (a < kSmallest) {  // adding this number leaves as many bits behind the point as a subnormal has
    const float magic = from_bits(kSmallest + (kShift << 23));
    r = bits(from_bits(a) + magic) - bits(magic);
  } else {
    r = ((a + ((1u << (kShift - 1)) - 1) + (a >> kShift & 1u)) >> kShift) - ((127u - kBias) << kMantissa);
    r = r > kLargest ? kLargest : r;
  }
  return static_cast<uint8_t>(r | (u >> 24 & 0x80u));
}
}  // namespace

float f8e4m3_to_f32(uint8_t c) {
  const uint32_t sign = static_cast<uint32_t>(c & 0x80u) << 24, e = c >> 3 & 15u, m = c & 7u;
  if ((c & 0x7Fu) == 0x7Fu) return from_bits(sign | 0x7FC00000u);
  if (e == 0) return from_bits(sign | bits(static_cast<float>(m) * 0x1p-9f));
  return from_bits(sign | (e + 120u) << 23 | m << 20);
}
float f8e5m2_to_f32(uint8_t c) { return f16_to_f32(static_cast<uint16_t>(c << 8)); }
uint8_t f32_to_f8e4m3(float f) { return f32_to_f8<3, 7, 0x7E>(f); }
uint8_t f32_to_f8e5m2(float f) { return f32_to_f8<2, 15, 0x7B>(f); }

const char* format_name(Format f) { return f < kFormatCount ? kFormats[f].name : nullptr; }

Format format_from_name(std::string_view name) {
  for (const FormatRow& r : kFormats)
    if (r.name && name == r.name) return r.format;
  return LINNET_FORMAT_DEFAULT;
}

}  // namespace linnet
