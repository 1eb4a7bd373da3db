// 4-bit checkpoints of GPTQ (Frantar et al. 2022, arXiv:2210.17323) and AWQ (Lin et al. 2023, arXiv:2306.00978): quantization_config of config.json,
// and tensors .qweight, .qzeros, .scales (and .g_idx) where others have .weight.
#pragma once
#include <string>
#include <string_view>

#include "safetensors.h"
#include "source.h"

namespace linnet::convert {

struct HfQuant {
  enum Method : uint8_t { kNone, kGptq, kAwq };
  Method method = kNone;
  uint32_t group = 0;  // inputs per scale; 0: one scale per output
  uint32_t add = 0;    // to stored zero points: GPTQ's first checkpoint format keeps them less one (and cannot hold a zero point of 0)
  bool act_order = false;  // desc_act: .g_idx must be there
};

// kNone where config.json has no quantization_config. Another method, other bits or a key that linnet does not know is refused by name.
Status quant_from_config(std::string_view text, const char* label, HfQuant* out, Error* err);

// For a tensor "X.qweight", "X.qzeros", "X.scales" or "X.g_idx": "X.weight". Else "".
std::string quant_weight(std::string_view name);

// Whether the matrix `weight` ("X.weight") is stored as codes.
bool quant_has(const SafetensorsTensors& tensors, const HfQuant& quant, const std::string& weight);

// Fills how *t (role, n, k and source_name are set) is read, checks its parts' types and shapes. *act_order: its inputs are not grouped in their order,
// so that only its values can be taken, not its codes.
Status quant_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, SourceTensor* t, bool* act_order, Error* err);

}  // namespace linnet::convert
