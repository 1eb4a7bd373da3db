// Integer codes with scales and zero points, what GPTQ, AWQ and compressed-tensors have in common: weight = (code - zero point) * scale.
#pragma once
#include "hf_quant.h"

namespace linnet::convert {

// A tensor of scales, all of them numbers.
struct CodeScales {
  const uint8_t* data = nullptr;
  Format type = LINNET_F16;  // or F32 or BF16
  bool half = false;         // all of them are f16 numbers

  float at(size_t i) const;
};
Status code_scales(const QuantMatrix& m, std::string_view suffix, const std::vector<uint64_t>& shape, CodeScales* out, Error* err);

struct IntCodes {
  uint32_t n = 0, k = 0;
  uint32_t group = 0;  // inputs per scale; k or more: one for all
  uint8_t bits = 4;    // of the formats that hold what is left of the codes once their zero points are taken off, 4 or 8
  bool zeros = false;  // of 4 bits: there are zero points, and what is left may be -16..15
  CodeScales scales;
  std::function<void(uint32_t output, int16_t* to)> codes;   // k codes less their zero points
  std::function<size_t(uint32_t output, uint32_t g)> scale;  // which of the scales
  std::function<uint8_t(uint32_t output, uint32_t g)> zero;  // 0..16, where there are zero points
  std::vector<uint32_t> group_of;                            // of each input, below the number of groups; empty: input / group
};
// The group of each input that a tensor of I32 says, if it says another than input / group. required: the tensor has to be there.
Status code_groups(const QuantMatrix& m, std::string_view suffix, bool required, IntCodes* out, Error* err);
// How t is read, t->source_type but for.
Status read_codes(const QuantMatrix& m, IntCodes codes, SourceTensor* t, std::string* needs_format, Error* err);

}  // namespace linnet::convert
