// FP8: X.weight in e4m3 and X.weight_scale_inv or X.weight_scale, what each block of it is multiplied by (DeepSeek-V3), each output, or all
// of it. Quark and ModelOpt, which have NVFP4 and MXFP4 as well, beside it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {"activation_scheme",      "fmt",          "ignored_layers", "kv_cache_scheme",
                                           "modules_to_not_convert", "quant_method", "scale_fmt",      "weight_block_size"};
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

constexpr std::string_view kFbgemmKeys[] = {"activation_scale_ub", "modules_to_not_convert", "quant_method"};

Status fbgemm_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  out->settings = Fp8Settings{};
  return quant_keys(q, label, kFbgemmKeys, err);
}

// ---- ModelOpt ----------------------------------------------------------------------------------------------------------------------

// NVFP4 has the codes of two inputs in a byte, and a factor behind the scales.
constexpr std::string_view kOptMarks[] = {".weight_scale"};
constexpr std::string_view kOptParts[] = {".weight", ".weight_scale", ".weight_scale_2"};
constexpr std::string_view kOptKeys[] = {"config_groups",   "exclude_modules", "group_size", "ignore",      "kv_cache_quant_algo",
                                         "kv_cache_scheme", "producer",        "quant_algo", "quant_method"};

Status modelopt_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  std::string algorithm;
  LINNET_TRY(quant_keys(q, label, kOptKeys, err));
  LINNET_TRY(quant_word(q, label, "quant_algo", &algorithm, err));
  if (algorithm != "fp8" && algorithm != "nvfp4")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_algo '", algorithm,
                "' of modelopt is not supported, only FP8 and NVFP4");
  int64_t group = 0;
  LINNET_TRY(quant_number(q, label, "group_size", nullptr, &group, err));
  if (group && (algorithm == "fp8" || group != 16))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.group_size = ", group, " of ", algorithm, " is not supported");
  out->settings = Fp8Settings{};
  return LINNET_OK;
}

bool of_bytes(const QuantMatrix& m) {
  const auto at = m.tensors.find(m.base + ".weight");
  return at != m.tensors.end() && at->second.dtype == "U8";
}

Status modelopt_read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  return of_bytes(m) ? fp4_read(m, {".weight", ".weight_scale_2", false}, t, needs_format, err) : fp8_read(m, t, needs_format, err);
}

// ---- Quark -------------------------------------------------------------------------------------------------------------------------

constexpr std::string_view kQuarkKeys[] = {"exclude",    "export",  "global_quant_config", "kv_cache_quant_config", "quant_method",
                                           "quant_mode", "version", "algo_config",         "kv_cache_post_rope"};
// They change weights before these are rounded, and nothing else.
constexpr std::string_view kQuarkBefore[] = {"autosmoothquant", "awq", "gptaq", "gptq", "smooth"};

Status quark_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  LINNET_TRY(quant_keys(q, label, kQuarkKeys, err));
  if (const nlohmann::json* before = json_member(q, "algo_config"); before && !before->is_null())
    for (const nlohmann::json& one : before->is_array() ? *before : nlohmann::json::array({*before})) {
      std::string name;
      if (get_string(one, "name", &name) != Got::kFound ||
          std::find(std::begin(kQuarkBefore), std::end(kQuarkBefore), name) == std::end(kQuarkBefore))
        return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.algo_config: '", name, "' is not supported");
    }
  const nlohmann::json* all = json_member(q, "global_quant_config");
  const nlohmann::json* weight = all ? json_member(*all, "weight") : nullptr;
  if (!weight || !weight->is_object())
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.global_quant_config.weight is missing or no object");
  std::string dtype, scheme, scale;
  int64_t group = 0;
  LINNET_TRY(quant_word(*weight, label, "dtype", &dtype, err));
  LINNET_TRY(quant_word(*weight, label, "qscheme", &scheme, err));
  LINNET_TRY(quant_word(*weight, label, "scale_format", &scale, err));
  LINNET_TRY(quant_number(*weight, label, "group_size", nullptr, &group, err));
  const bool fp8 = dtype == "fp8_e4m3" && (scheme == "per_tensor" || scheme == "per_channel"),
             mx = dtype == "fp4" && scheme == "per_group" && scale == "e8m0" && group == 32;
  if (!fp8 && !mx)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.global_quant_config.weight: dtype '", dtype, "', qscheme '", scheme,
                "', group_size ", group, ", scale_format '", scale,
                "' is not supported, only fp8_e4m3 per_tensor or per_channel, and fp4 in groups of 32 with e8m0");
  out->settings = Fp8Settings{};
  return LINNET_OK;
}

Status quark_read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  return of_bytes(m) ? fp4_read(m, {".weight", "", false}, t, needs_format, err) : fp8_read(m, t, needs_format, err);
}

}  // namespace

Status fp8_read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const auto& quant = std::any_cast<const Fp8Settings&>(m.quant.settings);
  const uint32_t n = t->n, k = t->k;
  const uint8_t* codes = nullptr;
  LINNET_TRY(quant_part(m, ".weight", "F8_E4M3", {n, k}, &codes, err));
  const std::string inverse = m.base + ".weight_scale_inv";  // multiplied with, whatever the name
  const std::string name = m.tensors.count(inverse) ? inverse : m.base + ".weight_scale";
  const auto found = m.tensors.find(name);
  if (found == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
  const SafetensorsTensor& stored = found->second;
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
  for (size_t i = 0; i < scales->size(); ++i)
    if (!std::isfinite((*scales)[i]))
      return fail(err, LINNET_BAD_FILE, stored.file, ": tensor '", name, "': scale ", i, " is infinite or not a number");
  t->source_type = "F8_E4M3";
  const auto check = [codes, k, named = t->source_name](uint32_t row, Error* e) {
    for (const uint8_t *at = codes + uint64_t{row} * k, *const end = at + k; at < end; ++at)
      if ((*at & 127) == 127)
        return fail(e, LINNET_BAD_FILE, "tensor '", named, "': the code of output ", row, ", input ", k - static_cast<uint32_t>(end - at),
                    " is not a number");
    return LINNET_OK;
  };
  t->rows = [=, keep = m.keep](uint32_t first, uint32_t count, float* out, Error* e) {
    for (uint32_t r = first; r < first + count; ++r) {
      LINNET_TRY(check(r, e));
      for (uint32_t i = 0; i < k; ++i) *out++ = f8e4m3_to_f32(codes[uint64_t{r} * k + i]) * (*scales)[r / block_rows * across + i / block];
    }
    (void)keep;
    return LINNET_OK;
  };
  if (across > 1 && block % format_row(LINNET_F8E4M3G128).w_group) {
    *needs_format = "tensor '" + t->source_name + "' has a scale for each " + std::to_string(block) +
                    " inputs, which no packed format of FP8 has; ask for --weights i8g32 or another to have its values packed anew";
    return LINNET_OK;
  }
  t->exact = {.bits = 8, .e4m3 = true, .group = block < k ? block : k};
  t->own = across > 1 ? LINNET_F8E4M3G128 : LINNET_F8E4M3;
  t->exact_rows = [=, keep = m.keep](uint32_t first, uint32_t count, const ExactRows& out, Error* e) {
    for (uint32_t r = 0; r < count; ++r) {
      LINNET_TRY(check(first + r, e));
      std::memcpy(out.codes + size_t{r} * k, codes + uint64_t{first + r} * k, k);
      std::copy_n(scales->data() + (first + r) / block_rows * across, across, out.scales + size_t{r} * across);
    }
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

const QuantMethod kFp8 = {"fp8", ".weight", kMarks, kParts, kRunTimeScales, false, config, fp8_read};
const QuantMethod kFbgemmFp8 = {"fbgemm_fp8", ".weight", kMarks, kParts, kRunTimeScales, false, fbgemm_config, fp8_read};
const QuantMethod kModelOpt = {"modelopt", ".weight", kOptMarks, kOptParts, kRunTimeScales, false, modelopt_config, modelopt_read};
const QuantMethod kQuark = {"quark", ".weight", kOptMarks, kOptParts, kRunTimeScales, false, quark_config, quark_read};

}  // namespace linnet::convert
