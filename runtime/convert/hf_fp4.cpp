// MXFP4 (OCP Microscaling v1.0), in which gpt-oss has its experts: X_blocks and X_scales for X.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMxBlock = 32;
constexpr int8_t kMxCodes[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice the values
constexpr uint32_t kMxSmallest = 104, kMxLargest = 143;                                     // 2^(scale - 128) is an f16

// 2^(scale - 128), what those codes are to be multiplied by.
float mx_scale(uint8_t scale) { return std::ldexp(1.0f, int{scale} - 128); }

}  // namespace

int8_t mxfp4_code(uint8_t nibble) { return kMxCodes[nibble & 15]; }

bool mxfp4_scale(const int8_t codes[32], uint8_t scale, uint16_t* half) {
  const bool zeros = std::all_of(codes, codes + kMxBlock, [](int8_t c) { return c == 0; });
  *half = zeros ? uint16_t{0} : f32_to_f16(mx_scale(scale));
  return zeros || (scale >= kMxSmallest && scale <= kMxLargest);
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
  const uint8_t *blocks = nullptr, *scales = nullptr;
  LINNET_TRY(quant_part(m, "_blocks", "U8", {m.n_experts, n_rows, groups, kMxBlock / 2}, &blocks, err));
  LINNET_TRY(quant_part(m, "_scales", "U8", {m.n_experts, n_rows, groups}, &scales, err));
  blocks += uint64_t{expert} * n_rows * groups * (kMxBlock / 2);
  scales += uint64_t{expert} * n_rows * groups;
  const auto codes_of = [blocks, groups](uint64_t row, int8_t* to) {  // the low half of a byte comes first
    const uint8_t* b = blocks + row * groups * (kMxBlock / 2);
    for (uint32_t i = 0; i < groups * kMxBlock; ++i) to[i] = kMxCodes[b[i / 2] >> (i % 2 * 4) & 15];
  };
  const auto bad = [name = t->source_name, expert](uint8_t scale, const char* what, Error* e) {
    return fail(e, LINNET_UNSUPPORTED, "tensor '", name, "_scales': expert ", expert, " has the scale ", int{scale}, what);
  };
  t->source_type = "MXFP4";
  t->rows = [=, keep = m.keep](uint32_t first, uint32_t count, float* out, Error* e) {
    std::vector<int8_t> codes(k);
    for (uint32_t r = 0; r < count; ++r, out += k) {
      codes_of(first + r, codes.data());
      for (uint32_t i = 0; i < k; ++i) {
        const uint8_t scale = scales[uint64_t{first + r} * groups + i / kMxBlock];
        if (scale == 255) return bad(scale, ", which is not a number", e);
        out[i] = static_cast<float>(codes[i]) * mx_scale(scale);
      }
    }
    (void)keep;
    return LINNET_OK;
  };
  t->exact = {.bits = 8, .half = true, .group = kMxBlock};
  t->own = exact_format(t->exact, k);
  t->exact_rows = [=, keep = m.keep](uint32_t first, uint32_t count, const ExactRows& out, Error* e) {
    for (uint32_t r = 0; r < count; ++r) {
      int8_t* codes = out.codes + size_t{r} * k;
      codes_of(first + r, codes);
      for (uint32_t g = 0; g < groups; ++g) {
        const uint8_t scale = scales[uint64_t{first + r} * groups + g];
        if (!mxfp4_scale(codes + g * kMxBlock, scale, out.halves + size_t{r} * groups + g))
          return bad(scale, ", which an f16 cannot hold: ask for --weights i8g128 or another", e);
      }
    }
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

}  // namespace

const QuantMethod kMxfp4 = {"mxfp4", "", kMarks, kParts, {}, true, config, read};

}  // namespace linnet::convert
