#include "ggml_types.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "../gguf.h"
#include "hf_quant.h"

namespace linnet::convert {
namespace {

// One block of a type -> its values. d: scale, m: minimum.
using Block = void (*)(const uint8_t* b, float* y);

uint16_t u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
uint32_t u32(const uint8_t* p) { return u16(p) | static_cast<uint32_t>(u16(p + 2)) << 16; }
float half(const uint8_t* p) { return f16_to_f32(u16(p)); }

void f32(const uint8_t* b, float* y) { std::memcpy(y, b, 4); }
void f16(const uint8_t* b, float* y) { *y = half(b); }
void bf16(const uint8_t* b, float* y) { *y = bf16_to_f32(u16(b)); }

// Blocks of 32: value i is the low nibble of byte i, value i + 16 its high nibble.
void q4_0(const uint8_t* b, float* y) {
  const float d = half(b);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * static_cast<float>((b[2 + i] & 15) - 8);
    y[i + 16] = d * static_cast<float>((b[2 + i] >> 4) - 8);
  }
}
void q4_1(const uint8_t* b, float* y) {
  const float d = half(b), m = half(b + 2);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * static_cast<float>(b[4 + i] & 15) + m;
    y[i + 16] = d * static_cast<float>(b[4 + i] >> 4) + m;
  }
}
// The fifth bit of value i is bit i of a 32-bit word.
void q5_0(const uint8_t* b, float* y) {
  const float d = half(b);
  const uint32_t high = u32(b + 2);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t low = b[6 + i];
    y[i] = d * static_cast<float>(static_cast<int>((low & 15) | (high >> i & 1) << 4) - 16);
    y[i + 16] = d * static_cast<float>(static_cast<int>(low >> 4 | (high >> (i + 16) & 1) << 4) - 16);
  }
}
void q5_1(const uint8_t* b, float* y) {
  const float d = half(b), m = half(b + 2);
  const uint32_t high = u32(b + 4);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t low = b[8 + i];
    y[i] = d * static_cast<float>((low & 15) | (high >> i & 1) << 4) + m;
    y[i + 16] = d * static_cast<float>(low >> 4 | (high >> (i + 16) & 1) << 4) + m;
  }
}
void q8_0(const uint8_t* b, float* y) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i) y[i] = d * static_cast<float>(static_cast<int8_t>(b[2 + i]));
}

// A power of two in a byte, then nibbles as in Q4_0.
void mxfp4(const uint8_t* b, float* y) {
  const float d = b[0] == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, b[0] - 128);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * mxfp4_code(b[1 + i] & 15);
    y[i + 16] = d * mxfp4_code(b[1 + i] >> 4);
  }
}

// K-quants: 256 values in 8 groups of 32, whose 6-bit scales and minima are packed into 12 bytes.
void scale_and_min(const uint8_t* s, int group, float d, float d_min, float* scale, float* min) {
  int sc = s[group] & 63, mn = s[group + 4] & 63;
  if (group >= 4) {
    sc = (s[group + 4] & 15) | s[group - 4] >> 6 << 4;
    mn = s[group + 4] >> 4 | s[group] >> 6 << 4;
  }
  *scale = d * static_cast<float>(sc);
  *min = d_min * static_cast<float>(mn);
}
// Groups 2j and 2j + 1 are the low and high nibbles of 32 bytes; Q5_K's fifth bits are bits 2j and 2j + 1 of another 32 bytes.
void q45_k(const uint8_t* b, const uint8_t* fifth, const uint8_t* nibbles, float* y) {
  const float d = half(b), d_min = half(b + 2);
  for (int group = 0; group < 8; ++group) {
    float scale, min;
    scale_and_min(b + 4, group, d, d_min, &scale, &min);
    const uint8_t* q = nibbles + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int v = (group % 2 ? q[i] >> 4 : q[i] & 15) + (fifth ? (fifth[i] >> group & 1) << 4 : 0);
      y[group * 32 + i] = scale * static_cast<float>(v) - min;
    }
  }
}
void q4_k(const uint8_t* b, float* y) { q45_k(b, nullptr, b + 16, y); }
void q5_k(const uint8_t* b, float* y) { q45_k(b, b + 16, b + 48, y); }
// 16 groups of 16 with signed 8-bit scales. Each half of 128 values: four runs of 32, their low nibbles in 64 bytes (runs 0 and 1 low,
// 2 and 3 high), their upper two bits in 32 bytes.
void q6_k(const uint8_t* b, float* y) {
  const float d = half(b + 208);
  for (int part = 0; part < 2; ++part)
    for (int run = 0; run < 4; ++run)
      for (int i = 0; i < 32; ++i) {
        const int nibbles = b[part * 64 + run % 2 * 32 + i], low = run < 2 ? nibbles & 15 : nibbles >> 4;
        const int high = b[128 + part * 32 + i] >> (run * 2) & 3;
        const auto scale = static_cast<int8_t>(b[192 + part * 8 + run * 2 + i / 16]);
        y[part * 128 + run * 32 + i] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
      }
}

// f16_to_f32 without branches, which the compiler turns into vectors: the exponent is put right by an exact product, subnormals included.
void halves(const uint8_t* data, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) {
    uint16_t h;
    std::memcpy(&h, data + 2 * i, 2);
    const uint32_t magnitude = (h & 0x7FFFu) * 0x2000u, top = magnitude >= 0x0F800000u ? 0x7F800000u : 0;  // infinite or not a number
    float f;
    std::memcpy(&f, &magnitude, 4);
    f *= 0x1p112f;
    uint32_t u;
    std::memcpy(&u, &f, 4);
    u |= top | (h & 0x8000u) << 16;
    std::memcpy(out + i, &u, 4);
  }
}

Block block_of(uint32_t type) {
  switch (type) {
    case kGgmlF32:
      return f32;
    case kGgmlF16:
      return f16;
    case kGgmlBF16:
      return bf16;
    case kGgmlQ4_0:
      return q4_0;
    case kGgmlQ4_1:
      return q4_1;
    case kGgmlQ5_0:
      return q5_0;
    case kGgmlQ5_1:
      return q5_1;
    case kGgmlQ8_0:
      return q8_0;
    case kGgmlQ4_K:
      return q4_k;
    case kGgmlQ5_K:
      return q5_k;
    case kGgmlQ6_K:
      return q6_k;
    case kGgmlMXFP4:
      return mxfp4;
    default:
      return nullptr;
  }
}

constexpr PlainForm kPlainForms[] = {
    {LINNET_F32, "f32", kGgmlF32, 0},     {LINNET_F16, "f16", kGgmlF16, 1},     {LINNET_BF16, "bf16", kGgmlBF16, 32},
    {LINNET_I8G32, "q8_0", kGgmlQ8_0, 7}, {LINNET_I4G32, "q4_0", kGgmlQ4_0, 2}, {LINNET_Q4_K, "q4_k", kGgmlQ4_K, 14},
    {LINNET_Q5_K, "q5_k", kGgmlQ5_K, 16}, {LINNET_Q6_K, "q6_k", kGgmlQ6_K, 18},
};

}  // namespace

const PlainForm* plain_form(Format f) {
  for (const PlainForm& p : kPlainForms)
    if (p.format == f) return &p;
  return nullptr;
}

Format format_of_ggml(uint32_t type) {
  for (const PlainForm& p : kPlainForms)
    if (p.type == type && format_row(p.format).stored == Stored::kBlocks) return p.format;
  return LINNET_FORMAT_DEFAULT;
}

bool ggml_readable(uint32_t type) { return block_of(type) != nullptr; }

void ggml_values(uint32_t type, const uint8_t* data, size_t n, float* out) {
  if (type == kGgmlF32) {
    std::memcpy(out, data, n * sizeof *out);
    return;
  }
  if (type == kGgmlF16) return halves(data, n, out);
  const Block block = block_of(type);
  const GgmlType row = ggml_type(type);
  for (size_t i = 0; i < n; i += row.values, data += row.bytes) block(data, out + i);
}

}  // namespace linnet::convert
