// 4-bit checkpoints of GPTQ (Frantar et al. 2022, arXiv:2210.17323) and AWQ (Lin et al. 2023, arXiv:2306.00978): quantization_config of
// config.json, and tensors .qweight, .qzeros, .scales (and .g_idx) where others have .weight. MXFP4 (OCP Microscaling v1.0), in which
// gpt-oss has its experts: X_blocks and X_scales for X. FP8: X.weight in e4m3 and X.weight_scale_inv or X.weight_scale, what each block of
// it is multiplied by (DeepSeek-V3), each output, or all of it (compressed-tensors and older exports).
#pragma once
#include <string>
#include <string_view>

#include "safetensors.h"
#include "source.h"

namespace linnet::convert {

struct HfQuant {
  enum Method : uint8_t { kNone, kGptq, kAwq, kMxfp4, kFp8 };
  Method method = kNone;
  uint32_t group = 0;       // inputs per scale; 0: one scale per output
  uint32_t block_rows = 0;  // FP8: outputs per scale, of `group` inputs; 0: one scale for a matrix or for each output
  uint32_t add = 0;         // to stored zero points: GPTQ's first checkpoint format keeps them less one (and cannot hold a zero point of 0)
  bool act_order = false;   // desc_act: .g_idx must be there
};

// kNone where config.json has no quantization_config. Another method, other bits or a key that linnet does not know is refused by name.
Status quant_from_config(std::string_view text, const char* label, HfQuant* out, Error* err);

// For a tensor "X.qweight", "X.qzeros", "X.scales" or "X.g_idx": "X.weight". Else "".
std::string quant_weight(std::string_view name);

// FP8: the tensor that holds the scales of `weight`, or "".
std::string fp8_scale_name(const SafetensorsTensors& tensors, const std::string& weight);
// FP8: scales of activations and caches, which those who run the model in FP8 need.
bool fp8_run_time(std::string_view name);

// Whether the matrix `weight` ("X.weight") is stored as codes.
bool quant_has(const SafetensorsTensors& tensors, const HfQuant& quant, const std::string& weight);

// Fills how *t (role, n, k and source_name are set) is read, checks its parts' types and shapes. *act_order: its inputs are not grouped in
// their order, so that only its values can be taken, not its codes.
Status quant_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, SourceTensor* t,
                    bool* act_order, Error* err);

// MXFP4 of the experts: whether the tensor `name` is stored so, and how the rows (t->k inputs) of one expert of the n_rows that each has
// are read. Values are (0 0.5 1 1.5 2 3 4 6, or minus that) * 2^(scale - 127) in blocks of 32 inputs: as twice the first and half the
// second they are codes of i8g32 and f16 scales bit for bit, for scales of 2^-23 to 2^16; others are refused where they are to be kept as
// codes.
int8_t mxfp4_code(uint8_t nibble);                                        // twice the value
bool mxfp4_scale(const int8_t codes[32], uint8_t scale, uint16_t* half);  // 2^(scale - 128) for those codes as an f16; false: it has none
bool mxfp4_has(const SafetensorsTensors& tensors, const HfQuant& quant, const std::string& name);
Status mxfp4_tensor(const SafetensorsTensors& tensors, const std::shared_ptr<void>& keep, uint32_t n_experts, uint32_t expert,
                    uint32_t n_rows, SourceTensor* t, Error* err);

}  // namespace linnet::convert
