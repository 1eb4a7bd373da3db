// FP8: X.weight in e4m3 and X.weight_scale_inv or X.weight_scale, what each block of it is multiplied by (DeepSeek-V3), each output, or all
// of it (older exports).
#include <algorithm>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {
    "quant_method", "fmt", "weight_block_size", "activation_scheme", "modules_to_not_convert", "ignored_layers", "kv_cache_scheme"};
constexpr std::string_view kMarks[] = {".weight_scale_inv", ".weight_scale"};
constexpr std::string_view kParts[] = {".weight", ".weight_scale_inv", ".weight_scale"};

// How activations and caches were rounded elsewhere is of no concern here.
Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  Fp8Settings s;
  std::string format = "e4m3";
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  if (get_string(q, "fmt", &format) == Got::kWrong || format != "e4m3")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.fmt is not supported, only e4m3");
  if (const nlohmann::json* size = json_member(q, "weight_block_size"); size && !size->is_null())
    LINNET_TRY(quant_block_size(*size, label, "weight_block_size", &s.block_rows, &s.block_inputs, err));
  out->settings = s;
  return LINNET_OK;
}

}  // namespace

Status fp8_read(const QuantMatrix& m, SourceTensor* t, std::string*, Error* err) {
  const auto& quant = std::any_cast<const Fp8Settings&>(m.quant.settings);
  const uint32_t n = t->n, k = t->k;
  const uint8_t* codes = nullptr;
  LINNET_TRY(quant_part(m, ".weight", "F8_E4M3", {n, k}, &codes, err));
  const std::string inverse = m.base + ".weight_scale_inv";  // multiplied with, whatever the name
  const std::string name = m.tensors.count(inverse) ? inverse : m.base + ".weight_scale";
  const SafetensorsTensor& stored = m.tensors.find(name)->second;
  const std::vector<uint64_t>& shape = stored.shape;
  // A block is a whole matrix, an output, or of the size that config.json says.
  const bool one = std::all_of(shape.begin(), shape.end(), [](uint64_t side) { return side == 1; });
  const bool by_output = !quant.block_rows && (shape == std::vector<uint64_t>{n} || shape == std::vector<uint64_t>{n, 1});
  const uint32_t block_rows = quant.block_rows ? quant.block_rows : by_output ? 1 : n, block = quant.block_rows ? quant.block_inputs : k;
  const uint64_t across = div_up(k, block), down = div_up(n, block_rows);
  if (stored.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, stored.file, ": tensor '", name, "': dtype ", stored.dtype,
                " is not supported, only F32, F16 and BF16");
  if (!(one && down * across == 1) && !by_output && shape != std::vector<uint64_t>{down, across})
    return fail(err, LINNET_BAD_FILE, stored.file, ": tensor '", name, "' has shape ", shape_text(shape), ", config.json asks for ",
                shape_text({down, across}));
  const auto scales = std::make_shared<std::vector<float>>(down * across);
  safetensors_read(stored, 0, scales->size(), scales->data());
  t->source_type = "F8_E4M3";
  t->rows = [=, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < k; ++i) *out++ = f8e4m3_to_f32(codes[uint64_t{r} * k + i]) * (*scales)[r / block_rows * across + i / block];
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

const QuantMethod kFp8 = {"fp8", ".weight", kMarks, kParts, kRunTimeScales, false, config, fp8_read};

}  // namespace linnet::convert
