// Weights of 4 bits in E2M1: MXFP4 (OCP Microscaling v1.0), in which gpt-oss has its experts (X_blocks and X_scales for X), and NVFP4.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMxBlock = 32, kNvGroup = 16, kNvBlock = 64;
constexpr int8_t kMxCodes[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice the values
constexpr uint32_t kMxSmallest = 104, kMxLargest = 143;                                     // 2^(scale - 128) is an f16

// 2^(scale - 128), what those codes are to be multiplied by.
float mx_scale(uint8_t scale) { return std::ldexp(1.0f, int{scale} - 128); }

// Rows as folders have them: of two inputs the low half of a byte has the first.
struct Fp4 {
  const uint8_t *codes, *scales;  // (n, k / 2), (n, k / group)
  uint32_t k, group;
  float outer[2];     // NVFP4's, see format.h
  std::string named;  // the scales, for errors
  std::shared_ptr<void> keep;

  const uint8_t* row(uint64_t r) const { return codes + r * (k / 2); }
  const uint8_t* row_scales(uint64_t r) const { return scales + r * (k / group); }
  uint8_t nibble(uint64_t r, uint32_t i) const { return row(r)[i / 2] >> (i % 2 * 4) & 15; }
  Status bad(uint64_t r, uint8_t scale, const char* what, Error* err) const {
    return fail(err, LINNET_UNSUPPORTED, named, ": output ", r, " has the scale ", int{scale}, what);
  }
};

// A block of a GGUF file has the first half of its inputs in the low halves of bytes.
void move_nibbles(const uint8_t* from, size_t n, uint8_t* to) {
  const auto at = [from](size_t i) { return static_cast<uint32_t>(from[i / 2] >> (i % 2 * 4) & 15); };
  for (size_t j = 0; j < n / 2; ++j) to[j] = static_cast<uint8_t>(at(j) | at(j + n / 2) << 4);
}

// MXFP4: blocks as they are, or codes of i8g32.
void read_mx(const Fp4& f, SourceTensor* t) {
  const uint32_t groups = f.k / kMxBlock;
  t->source_type = "MXFP4";
  t->rows = [=](uint32_t first, uint32_t count, float* out, Error* err) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < f.k; ++i) {
        const uint8_t scale = f.row_scales(r)[i / kMxBlock];
        if (scale == 255) return f.bad(r, scale, ", which is not a number", err);
        *out++ = static_cast<float>(kMxCodes[f.nibble(r, i)]) * mx_scale(scale);
      }
    return LINNET_OK;
  };
  t->gguf_format = t->own = LINNET_MXFP4;
  t->gguf_blocks = [=](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t g = 0; g < groups; ++g, out += 1 + kMxBlock / 2) {
        out[0] = f.row_scales(r)[g];
        if (out[0] == 255) return f.bad(r, out[0], ", which is not a number", err);
        move_nibbles(f.row(r) + g * (kMxBlock / 2), kMxBlock, out + 1);
        if (!gguf_blocks_finite(LINNET_MXFP4, out, 1)) return f.bad(r, out[0], ", with which weights are too large for f32", err);
      }
    return LINNET_OK;
  };
  t->exact = {.bits = 8, .half = true, .group = kMxBlock};
  t->exact_rows = [=](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
    int8_t* codes = out.codes;
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t g = 0; g < groups; ++g, codes += kMxBlock) {
        for (uint32_t i = 0; i < kMxBlock; ++i) codes[i] = kMxCodes[f.nibble(r, g * kMxBlock + i)];
        const uint8_t scale = f.row_scales(r)[g];
        if (!mxfp4_scale(codes, scale, out.halves + size_t{r - first} * groups + g))
          return f.bad(r, scale, ", which an f16 cannot hold: ask for --weights i8g128 or another", err);
      }
    return LINNET_OK;
  };
}

// NVFP4: blocks of 64 as they are, with the matrix's factor for each output.
void read_nv(const Fp4& f, SourceTensor* t, std::string* needs_format) {
  const auto check = [f](uint64_t r, uint8_t scale, Error* err) {
    if ((scale & 127) == 127) return f.bad(r, scale, " (e4m3), which is not a number", err);
    return scale > 127 ? f.bad(r, scale, " (e4m3), which is below zero", err) : LINNET_OK;
  };
  t->source_type = "NVFP4";
  t->rows = [=](uint32_t first, uint32_t count, float* out, Error* err) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < f.k; ++i) {
        const uint8_t scale = f.row_scales(r)[i / kNvGroup];
        LINNET_TRY(check(r, scale, err));
        const float half = f8e4m3_to_f32(scale) * 0.5f;  // as the format has it
        *out++ = static_cast<float>(kMxCodes[f.nibble(r, i)]) * std::fmaf(half, f.outer[0], half * f.outer[1]);
      }
    return LINNET_OK;
  };
  if (f.k % kNvBlock) {
    *needs_format = "tensor '" + t->source_name + "': " + std::to_string(f.k) +
                    " inputs are no whole blocks of 64, which nvfp4 has; ask for --weights i8g32 or another to have its values packed anew";
    return;
  }
  t->gguf_format = t->own = LINNET_NVFP4;
  t->outer = [f](uint32_t, uint32_t count, float* out) {
    for (uint32_t i = 0; i < count; ++i, out += 2) std::memcpy(out, f.outer, sizeof f.outer);
  };
  t->gguf_blocks = [=](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t g = 0; g < f.k / kNvGroup; ++g) {
        uint8_t* const block = out + (r - first) * size_t{f.k / kNvBlock} * 36 + g / 4 * 36;
        block[g % 4] = f.row_scales(r)[g];
        LINNET_TRY(check(r, block[g % 4], err));
        move_nibbles(f.row(r) + g * (kNvGroup / 2), kNvGroup, block + 4 + g % 4 * (kNvGroup / 2));
      }
    return LINNET_OK;
  };
}

}  // namespace

int8_t mxfp4_code(uint8_t nibble) { return kMxCodes[nibble & 15]; }

bool mxfp4_scale(const int8_t codes[32], uint8_t scale, uint16_t* half) {
  const bool zeros = std::all_of(codes, codes + kMxBlock, [](int8_t c) { return c == 0; });
  *half = zeros && scale != 255 ? uint16_t{0} : f32_to_f16(mx_scale(scale));
  return (zeros && scale != 255) || (scale >= kMxSmallest && scale <= kMxLargest);
}

Status fp4_read(const QuantMatrix& m, const Fp4Names& names, SourceTensor* t, std::string* needs_format, Error* err) {
  const bool mx = names.factor.empty();
  const uint32_t n = t->n, k = t->k, group = mx ? kMxBlock : kNvGroup;
  Fp4 f = {nullptr, nullptr, k, group, {1, 0}, "tensor '" + m.base + ".weight_scale'", m.keep};
  if (k % group)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, std::string(names.codes), "': ", k, " inputs are no whole groups of ", group);
  LINNET_TRY(quant_part(m, names.codes, "U8", {n, k / 2}, &f.codes, err));
  LINNET_TRY(quant_part(m, ".weight_scale", mx ? "U8" : "F8_E4M3", {n, k / group}, &f.scales, err));
  if (mx) return read_mx(f, t), LINNET_OK;
  const std::string name = m.base + std::string(names.factor);
  const auto at = m.tensors.find(name);
  if (at == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
  if (at->second.dtype != "F32" || (!at->second.shape.empty() && at->second.shape != std::vector<uint64_t>{1}))
    return fail(err, LINNET_UNSUPPORTED, at->second.file, ": tensor '", name, "': ", at->second.dtype, " of shape ",
                shape_text(at->second.shape), ", not one number in F32");
  float factor;
  std::memcpy(&factor, at->second.data, sizeof factor);
  if (!outer_factor(factor, names.divides, f.outer))
    return fail(err, LINNET_UNSUPPORTED, at->second.file, ": tensor '", name, "' is not between 2^-80 and 2^80");
  return read_nv(f, t, needs_format), LINNET_OK;
}

namespace {

constexpr std::string_view kKnownKeys[] = {"modules_to_not_convert", "quant_method"};
constexpr std::string_view kMarks[] = {"_blocks"};
constexpr std::string_view kParts[] = {"_blocks", "_scales"};

// One kind is there.
Status config(const nlohmann::json& q, const char* label, HfQuant*, Error* err) { return quant_keys(q, label, kKnownKeys, err); }

Status read(const QuantMatrix& m, SourceTensor* t, std::string*, Error* err) {
  const uint32_t n_rows = t->n, k = t->k, groups = k / kMxBlock, expert = m.expert;
  if (!m.n_experts) return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, "_blocks': only experts are read as MXFP4");
  if (k % kMxBlock)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "_blocks': ", k, " inputs are no whole blocks of ", kMxBlock);
  Fp4 f = {nullptr, nullptr, k, kMxBlock, {1, 0}, "tensor '" + t->source_name + "_scales': expert " + std::to_string(expert), m.keep};
  LINNET_TRY(quant_part(m, "_blocks", "U8", {m.n_experts, n_rows, groups, kMxBlock / 2}, &f.codes, err));
  LINNET_TRY(quant_part(m, "_scales", "U8", {m.n_experts, n_rows, groups}, &f.scales, err));
  f.codes += uint64_t{expert} * n_rows * groups * (kMxBlock / 2);
  f.scales += uint64_t{expert} * n_rows * groups;
  return read_mx(f, t), LINNET_OK;
}

}  // namespace

const QuantMethod kMxfp4 = {"mxfp4", "", kMarks, kParts, {}, true, config, read};

}  // namespace linnet::convert
