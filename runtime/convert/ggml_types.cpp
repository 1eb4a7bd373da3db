#include "ggml_types.h"

#include <cstring>
#include <string>
#include <vector>

#include "../../kernels_cpu/pack.h"
#include "../gguf.h"

namespace linnet::convert {
namespace {

// One block of a type -> its values. d: scale.
using Block = void (*)(const uint8_t* b, float* y);

uint16_t u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
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
void q8_0(const uint8_t* b, float* y) {
  const float d = half(b);
  for (int i = 0; i < 32; ++i) y[i] = d * static_cast<float>(static_cast<int8_t>(b[2 + i]));
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
    case kGgmlQ8_0:
      return q8_0;
    default:
      return nullptr;
  }
}

constexpr PlainForm kPlainForms[] = {
    {LINNET_F32, "f32", kGgmlF32, 0},
    {LINNET_F16, "f16", kGgmlF16, 1},
    {LINNET_BF16, "bf16", kGgmlBF16, 32},
    {LINNET_I8G32, "q8_0", kGgmlQ8_0, 7},
    {LINNET_I4G32, "q4_0", kGgmlQ4_0, 2},
    {LINNET_Q4_1, "q4_1", kGgmlQ4_1, 3},
    {LINNET_Q5_0, "q5_0", kGgmlQ5_0, 8},
    {LINNET_Q5_1, "q5_1", kGgmlQ5_1, 9},
    {LINNET_Q2_K, "q2_k", kGgmlQ2_K, 21},
    {LINNET_Q3_K, "q3_k", kGgmlQ3_K, 11},
    {LINNET_Q4_K, "q4_k", kGgmlQ4_K, 14},
    {LINNET_Q5_K, "q5_k", kGgmlQ5_K, 16},
    {LINNET_Q6_K, "q6_k", kGgmlQ6_K, 18},
    {LINNET_IQ4_NL, "iq4_nl", kGgmlIQ4_NL, 25},
    {LINNET_IQ4_XS, "iq4_xs", kGgmlIQ4_XS, 30},
    {LINNET_MXFP4, "mxfp4", kGgmlMXFP4, 38},
    {LINNET_NVFP4, "nvfp4", kGgmlNVFP4, 39},
    {LINNET_TQ1_0, "tq1_0", kGgmlTQ1_0, 36},
    {LINNET_TQ2_0, "tq2_0", kGgmlTQ2_0, 37},
    {LINNET_IQ2_XXS, "iq2_xxs", kGgmlIQ2_XXS, 19},
    {LINNET_IQ2_XS, "iq2_xs", kGgmlIQ2_XS, 20},
    {LINNET_IQ2_S, "iq2_s", kGgmlIQ2_S, 28},
    {LINNET_IQ3_XXS, "iq3_xxs", kGgmlIQ3_XXS, 23},
    {LINNET_IQ3_S, "iq3_s", kGgmlIQ3_S, 26},
    {LINNET_IQ1_S, "iq1_s", kGgmlIQ1_S, 24},
    {LINNET_IQ1_M, "iq1_m", kGgmlIQ1_M, 31},
};

}  // namespace

const PlainForm* plain_form(Format f) {
  for (const PlainForm& p : kPlainForms)
    if (p.format == f) return &p;
  return nullptr;
}

Format format_of_ggml(uint32_t type) {
  std::string name = ggml_type(type).values > 1 ? ggml_type(type).name : "";
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const Format f = format_from_name(name);
  return format_row(f).stored == Stored::kBlocks ? f : LINNET_FORMAT_DEFAULT;
}

bool ggml_readable(uint32_t type) { return block_of(type) != nullptr || format_of_ggml(type) != LINNET_FORMAT_DEFAULT; }

// Sixteen blocks are a panel.
void block_values(Format f, const uint8_t* data, size_t n_blocks, const float outer[2], float* out) {
  const uint32_t values = gguf_block_values(f), bytes = gguf_block_bytes(f);
  std::vector<uint64_t> panel(panel_bytes(f, values) / 8), scales(panel_scale_bytes(f, values) / 8);
  float all[kPanel][2];
  for (float(&two)[2] : all) std::memcpy(two, outer, sizeof two);
  for (size_t from = 0; from < n_blocks; from += kPanel, data += size_t{kPanel} * bytes) {
    const auto rows = static_cast<uint32_t>(n_blocks - from < kPanel ? n_blocks - from : kPanel);
    pack_gguf_blocks(f, data, bytes, rows, values, panel.data(), scales.data(), format_row(f).scale.outer ? all[0] : nullptr);
    for (uint32_t i = 0; i < rows; ++i, out += values) unpack_row(panel.data(), scales.data(), f, kPanel, values, i, out);
  }
}

void ggml_values(uint32_t type, const uint8_t* data, size_t n, float* out) {
  if (type == kGgmlF32) {
    std::memcpy(out, data, n * sizeof *out);
    return;
  }
  if (type == kGgmlF16) return halves(data, n, out);
  const Block block = block_of(type);
  const GgmlType row = ggml_type(type);
  constexpr float kOnes[2] = {1, 0};
  if (!block) return block_values(format_of_ggml(type), data, n / row.values, kOnes, out);
  for (size_t i = 0; i < n; i += row.values, data += row.bytes) block(data, out + i);
}

}  // namespace linnet::convert
