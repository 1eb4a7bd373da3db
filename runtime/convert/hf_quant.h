// Folders whose matrices a quantiser has left as codes: quantization_config of config.json, and tensors of other names where others have
// X.weight. A family of methods is a file, a method a row of kQuantMethods.
#pragma once
#include <any>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"
#include "safetensors.h"
#include "source.h"

namespace linnet::convert {

struct QuantMethod;

// What quantization_config says; method nullptr: nothing is quantised.
struct HfQuant {
  const QuantMethod* method = nullptr;
  std::any settings;  // the method's own
};

// One matrix, or one expert's part of a tensor that holds those of all, as config.json has it.
struct QuantMatrix {
  const SafetensorsTensors& tensors;
  const HfQuant& quant;
  std::string base;                 // its name without the method's `weight`
  uint32_t n_experts = 0;           // that lie in one tensor; 0: each matrix has tensors of its own
  uint32_t expert = 0;              // which of them
  std::shared_ptr<void> keep = {};  // what the closures read from
};

struct QuantMethod {
  const char* name;                            // quantization_config.quant_method
  const char* weight;                          // how the names end of matrices that may be codes: ".weight"
  std::span<const std::string_view> marks;     // X + one of these is there: X + weight is stored as codes
  std::span<const std::string_view> parts;     // X + one of these belongs to X + weight, marks among them
  std::span<const std::string_view> run_time;  // endings of what those need who quantise activations and caches in advance: passed over
  bool stacks_experts;                         // takes tensors that hold all experts
  // Keys and values that would change what the codes mean and are not known are refused by name.
  Status (*config)(const nlohmann::json& q, const char* label, HfQuant* out, Error* err);
  // How t, with role, n, k and source_name set, is read: checks types and shapes of its parts; sets source_type, rows and, where a format
  // holds codes and scales bit for bit, exact and exact_rows or gguf_format and gguf_blocks, and `own`. *needs_format: why none does.
  Status (*read)(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err);
  bool (*leaves)(std::string_view base) = nullptr;  // optional: which matrices are no codes, whatever the marks say
};
extern const QuantMethod kGptq, kAwq, kAutoRound, kIntelAutoRound, kMxfp4, kFp8, kFbgemmFp8, kModelOpt, kQuark, kCompressedTensors,
    kBitsandbytes, kHqq, kTorchao, kBitNet,
    kBitNetOnline;  // which config.json does not name: kBitNet.config says so

// No method where config.json has no quantization_config. Another method is refused by name.
Status quant_from_config(std::string_view text, const char* label, HfQuant* out, Error* err);
// hf_quant_config.json, in which ModelOpt says the same beside a config.json without it.
inline constexpr const char* kModelOptConfig = "hf_quant_config.json";
Status quant_from_modelopt(std::string_view text, const char* label, HfQuant* out, Error* err);

// The matrix that a tensor is a part of, by its name alone: "X.qweight" -> "X.weight", else "".
std::string quant_weight(const HfQuant& quant, std::string_view name);
bool quant_run_time(const HfQuant& quant, std::string_view name);
// Whether the matrix `weight` ("X.weight") is stored as codes.
bool quant_has(const SafetensorsTensors& tensors, const HfQuant& quant, std::string_view weight);
// Fills how *t is read, and its bytes. *used: gets the names of its parts.
Status quant_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, uint32_t n_experts,
                    uint32_t expert, SourceTensor* t, std::vector<std::string>* used, std::string* needs_format, Error* err);

// ---- for methods -------------------------------------------------------------------------------------------------------------------

// The tensor base + suffix of that type and shape.
Status quant_part(const QuantMatrix& m, std::string_view suffix, std::string_view dtype, const std::vector<uint64_t>& shape,
                  const uint8_t** out, Error* err);
// A number under one of two names (other: nullptr for none); 0 where both are absent or null.
Status quant_number(const nlohmann::json& from, const char* label, const char* key, const char* other, int64_t* out, Error* err);
// *out (a default before) in lower case; several keys may say the same.
Status quant_word(const nlohmann::json& from, const char* label, const char* key, std::string* out, Error* err);
// A pair of sizes: outputs and inputs that share a scale.
Status quant_block_size(const nlohmann::json& size, const char* label, const char* key, uint32_t* rows, uint32_t* inputs, Error* err);
// Refuses keys that are not listed, but those whose value is null, false or empty.
Status quant_keys(const nlohmann::json& q, const char* label, std::span<const std::string_view> known, Error* err);

// hf_fp8.cpp, for compressed-tensors as well: weights in e4m3 with a scale for each block of that many outputs (0: for the whole matrix or
// for each output) and inputs.
inline constexpr std::string_view kRunTimeScales[] = {".input_scale", ".output_scale", ".q_scale", ".k_scale", ".v_scale", ".kv_scale"};
struct Fp8Settings {
  uint32_t block_rows = 0, block_inputs = 0;
};
Status fp8_read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err);

// hf_fp4.cpp, for methods that have X.weight_scale: MXFP4, with powers of two (U8) for each 32 inputs, or, where there is a factor for the
// whole matrix, NVFP4, with scales in e4m3 for each 16, which the factor multiplies or divides.
struct Fp4Names {
  std::string_view codes, factor;  // X + codes; factor: "" of MXFP4
  bool divides;
};
Status fp4_read(const QuantMatrix& m, const Fp4Names& names, SourceTensor* t, std::string* needs_format, Error* err);

// hf_fp4.cpp, for GGUF files as well: MXFP4's values are (0 0.5 1 1.5 2 3 4 6, or minus that) * 2^(scale - 127) in blocks of 32 inputs: as
// twice the first and half the second they are codes of i8g32 and f16 scales bit for bit, for scales of 2^-23 to 2^16.
int8_t mxfp4_code(uint8_t nibble);                                        // twice the value
bool mxfp4_scale(const int8_t codes[32], uint8_t scale, uint16_t* half);  // 2^(scale - 128) for those codes as an f16; false: it has none

}  // namespace linnet::convert
