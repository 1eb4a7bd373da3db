// compressed-tensors, of which only weights in e4m3 are read.
#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {"config_groups",   "format",       "global_compression_ratio", "ignore",
                                           "kv_cache_scheme", "quant_method", "quantization_status",      "version"};
constexpr std::string_view kMarks[] = {".weight_scale"};
constexpr std::string_view kParts[] = {".weight", ".weight_scale"};

Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  Fp8Settings s;
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  std::string format;
  get_string(q, "format", &format);
  if (format != "float-quantized" && format != "naive-quantized")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.format '", format,
                "' of compressed-tensors is not supported, only float-quantized");
  const nlohmann::json* groups = json_member(q, "config_groups");
  if (!groups || !groups->is_object() || groups->empty())
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.config_groups is missing, empty or no object");
  for (const auto& [name, group] : groups->items()) {
    const nlohmann::json* weights = json_member(group, "weights");
    uint32_t bits = 0;
    bool symmetric = true;
    std::string type, strategy;
    if (weights)
      get_u32(*weights, "num_bits", &bits), get_string(*weights, "type", &type), get_string(*weights, "strategy", &strategy),
          get_bool(*weights, "symmetric", &symmetric);
    if (bits != 8 || type != "float" || !symmetric || (strategy != "tensor" && strategy != "channel" && strategy != "block"))
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.config_groups.", name, ": weights of ", bits, " bits, type '",
                  type, "', strategy '", strategy, "' are not supported, only 8 bits, float, with a scale for a tensor, channel or block");
    if (strategy != "block") continue;
    if (groups->size() > 1)
      return fail(err, LINNET_UNSUPPORTED, label,
                  ": quantization_config.config_groups: more than one beside a strategy of blocks is not supported");
    const nlohmann::json* size = json_member(*weights, "block_structure");
    LINNET_TRY(quant_block_size(size ? *size : nlohmann::json(), label, "block_structure", &s.block_rows, &s.block_inputs, err));
  }
  out->settings = s;
  return LINNET_OK;
}

}  // namespace

const QuantMethod kCompressedTensors = {"compressed-tensors", ".weight", kMarks, kParts, kRunTimeScales, false, config, fp8_read};

}  // namespace linnet::convert
