#include "hf_quant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "json.h"

namespace linnet::convert {
namespace {

// Keys that say how a checkpoint was made or is to be run elsewhere, not what its codes mean.
constexpr std::string_view kHarmless[] = {"act_group_aware",
                                          "backend",
                                          "batch_size",
                                          "block_name_to_quantize",
                                          "cache_block_outputs",
                                          "damp_auto_increment",
                                          "damp_percent",
                                          "dataset",
                                          "disable_exllama",
                                          "do_fuse",
                                          "exllama_config",
                                          "fuse_max_seq_len",
                                          "lm_head",
                                          "max_input_length",
                                          "meta",
                                          "model_file_base_name",
                                          "model_name_or_path",
                                          "model_seqlen",
                                          "module_name_preceding_first_block",
                                          "modules_in_block_to_quantize",
                                          "modules_to_fuse",
                                          "modules_to_not_convert",
                                          "pack_dtype",
                                          "pad_token_id",
                                          "static_groups",
                                          "sym",
                                          "tokenizer",
                                          "true_sequential",
                                          "use_cuda_fp16",
                                          "use_exllama",
                                          "zero_point"};
constexpr std::string_view kRead[] = {"bits",       "w_bit",  "checkpoint_format", "desc_act",     "format",
                                      "group_size", "method", "q_group_size",      "quant_method", "version"};

constexpr std::string_view kSuffixes[] = {".qweight", ".qzeros", ".scales", ".g_idx"};

// AWQ puts the eight outputs of a word in this order: output j lies in nibble kAwqPlace[j].
constexpr uint8_t kAwqPlace[8] = {0, 4, 1, 5, 2, 6, 3, 7};

// The parts of one matrix, n outputs by k inputs.
struct Codes4 {
  const uint8_t *qweight, *qzeros, *scales;
  uint32_t n, k, group, add;
  bool awq;
  std::vector<uint32_t> group_of;  // of each input; empty: input / group

  static uint32_t nibble(const uint8_t* words, size_t word, uint32_t place) {
    uint32_t w;
    std::memcpy(&w, words + word * 4, 4);
    return w >> (4 * place) & 15;
  }
  uint32_t group_at(uint32_t i) const { return group_of.empty() ? i / group : group_of[i]; }
  uint32_t code(uint32_t i, uint32_t output) const {
    return awq ? nibble(qweight, size_t{i} * (n / 8) + output / 8, kAwqPlace[output % 8])
               : nibble(qweight, size_t{i / 8} * n + output, i % 8);
  }
  uint32_t zero(uint32_t g, uint32_t output) const {
    return nibble(qzeros, size_t{g} * (n / 8) + output / 8, awq ? kAwqPlace[output % 8] : output % 8) + add;
  }
  uint16_t scale(uint32_t g, uint32_t output) const {
    uint16_t h;
    std::memcpy(&h, scales + (size_t{g} * n + output) * 2, 2);
    return h;
  }
};

Status part(const SafetensorsTensors& tensors, const std::string& base, std::string_view suffix, std::string_view dtype,
            const std::vector<uint64_t>& shape, const uint8_t** out, Error* err) {
  const std::string name = base + std::string(suffix);
  const auto at = tensors.find(name);
  if (at == tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
  const SafetensorsTensor& t = at->second;
  if (t.dtype != dtype) return fail(err, LINNET_UNSUPPORTED, t.file, ": tensor '", name, "': dtype ", t.dtype, ", not ", dtype);
  if (t.shape != shape)
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", name, "' has shape ", shape_text(t.shape), ", config.json asks for ",
                shape_text(shape));
  *out = t.data;
  return LINNET_OK;
}

// A number under one of two names; 0 where both are absent or null.
Status number(const nlohmann::json& from, const char* label, const char* key, const char* other, int64_t* out, Error* err) {
  int64_t values[2] = {0, 0};
  for (const char* k : {key, other})
    if (get_i64(from, k, &values[k == other]) == Got::kWrong)
      return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", k, " is no integer");
  if (values[0] && values[1] && values[0] != values[1])
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " = ", values[0], ", but ", other, " = ", values[1]);
  *out = values[0] ? values[0] : values[1];
  return LINNET_OK;
}

// *out (a default before) in lower case; several keys may say the same.
Status word(const nlohmann::json& from, const char* label, const char* key, std::string* out, Error* err) {
  std::string text;
  const Got got = get_string(from, key, &text);
  if (got == Got::kWrong) return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " is no string");
  if (got != Got::kFound) return LINNET_OK;
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (!out->empty() && *out != text)
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " is '", text, "', another key says '", *out, "'");
  *out = text;
  return LINNET_OK;
}

// A pair of sizes: outputs and inputs that share a scale.
Status block_size(const nlohmann::json& size, const char* label, const char* key, HfQuant* out, Error* err) {
  const bool pair = size.is_array() && size.size() == 2 && size[0].is_number_unsigned() && size[1].is_number_unsigned();
  const uint64_t rows = pair ? size[0].get<uint64_t>() : 0, inputs = pair ? size[1].get<uint64_t>() : 0;
  if (rows < 1 || rows > 65536 || inputs < 1 || inputs > 65536)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.", key, " is no pair of sizes");
  out->block_rows = static_cast<uint32_t>(rows);
  out->group = static_cast<uint32_t>(inputs);
  return LINNET_OK;
}

// Weights in e4m3 with a scale for each block or, in older exports, one for a matrix; how activations and caches were rounded elsewhere is
// of no concern here.
Status fp8_from_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  constexpr std::string_view kKeys[] = {
      "quant_method", "fmt", "weight_block_size", "activation_scheme", "modules_to_not_convert", "ignored_layers", "kv_cache_scheme"};
  out->method = HfQuant::kFp8;
  std::string format = "e4m3";
  for (const auto& [key, value] : q.items())
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys) && !value.is_null())
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: key '", key, "' (", json_show(value), ") is not supported");
  if (get_string(q, "fmt", &format) == Got::kWrong || format != "e4m3")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.fmt is not supported, only e4m3");
  const nlohmann::json* size = json_member(q, "weight_block_size");
  return size && !size->is_null() ? block_size(*size, label, "weight_block_size", out, err) : LINNET_OK;
}

// compressed-tensors, of which only weights in e4m3 are read.
Status compressed_from_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  constexpr std::string_view kKeys[] = {"config_groups",   "format",       "global_compression_ratio", "ignore",
                                        "kv_cache_scheme", "quant_method", "quantization_status",      "version"};
  out->method = HfQuant::kFp8;
  for (const auto& [key, value] : q.items())
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys) && !value.is_null() &&
        !(value.is_structured() && value.empty()))
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: key '", key, "' (", json_show(value), ") is not supported");
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
    LINNET_TRY(block_size(size ? *size : nlohmann::json(), label, "block_structure", out, err));
  }
  return LINNET_OK;
}

Status fp8_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, SourceTensor* t, Error* err);

}  // namespace

Status quant_from_config(std::string_view text, const char* label, HfQuant* out, Error* err) {
  *out = {};
  JsonTree tree;
  nlohmann::json& config = tree.root;
  LINNET_TRY(json_parse_python(std::string(text), label, &config, err));
  const nlohmann::json* q = json_member(config, "quantization_config");
  if (!q || q->is_null()) return LINNET_OK;
  if (!q->is_object()) return fail(err, LINNET_BAD_FILE, label, ": quantization_config is ", json_show(*q), ", not an object");
  std::string method, format;
  if (get_string(*q, "quant_method", &method) != Got::kFound)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_method is missing or no string");
  if (method == "gptq")
    out->method = HfQuant::kGptq;
  else if (method == "awq")
    out->method = HfQuant::kAwq;
  else if (method == "mxfp4")
    out->method = HfQuant::kMxfp4;
  else if (method == "fp8")
    return fp8_from_config(*q, label, out, err);
  else if (method == "compressed-tensors")
    return compressed_from_config(*q, label, out, err);
  else
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_method '", method,
                "' is not supported, only gptq, awq, mxfp4, fp8 and compressed-tensors");
  for (const auto& [key, value] : q->items()) {
    const auto listed = [&key = key](const auto& list) { return std::find(std::begin(list), std::end(list), key) != std::end(list); };
    const bool empty = value.is_null() || value == false || (value.is_structured() && value.empty());
    if (!listed(kHarmless) && !listed(kRead) && !empty)
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: key '", key, "' (", json_show(value), ") is not supported");
  }
  if (out->method == HfQuant::kMxfp4) return LINNET_OK;  // there is one kind
  int64_t bits = 0, group = 0;
  LINNET_TRY(word(*q, label, "method", &method, err));  // newer files say everything twice
  LINNET_TRY(number(*q, label, "bits", "w_bit", &bits, err));
  LINNET_TRY(number(*q, label, "group_size", "q_group_size", &group, err));
  if (bits != 4) return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.bits = ", bits, " is not supported, only 4");
  if (group != -1 && (group < 32 || group > 65536 || group % 32 != 0))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.group_size = ", group, " is no multiple of 32 (nor -1)");
  out->group = group == -1 ? 0 : static_cast<uint32_t>(group);
  const bool awq = out->method == HfQuant::kAwq;
  for (const char* key : {"checkpoint_format", "format", "version"})
    if (awq || std::string_view(key) != "version") LINNET_TRY(word(*q, label, key, &format, err));
  if (awq && !format.empty() && format != "gemm")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: format '", format, "' of awq is not supported, only gemm");
  if (!awq && !format.empty() && format != "gptq" && format != "gptq_v2")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: format '", format,
                "' of gptq is not supported, only gptq and gptq_v2");
  out->add = !awq && format != "gptq_v2";
  if (get_bool(*q, "desc_act", &out->act_order) == Got::kWrong)
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.desc_act is neither true nor false");
  return LINNET_OK;
}

std::string quant_weight(std::string_view name) {
  for (const std::string_view suffix : kSuffixes)
    if (name.ends_with(suffix)) return std::string(name.substr(0, name.size() - suffix.size())) + ".weight";
  return "";
}

std::string fp8_scale_name(const SafetensorsTensors& tensors, const std::string& weight) {
  for (const char* suffix : {"_scale_inv", "_scale"})  // multiplied with, whatever the name
    if (tensors.count(weight + suffix)) return weight + suffix;
  return "";
}

bool fp8_run_time(std::string_view name) {
  for (const std::string_view suffix : {".input_scale", ".output_scale", ".q_scale", ".k_scale", ".v_scale", ".kv_scale"})
    if (name.ends_with(suffix)) return true;
  return false;
}

bool quant_has(const SafetensorsTensors& tensors, const HfQuant& quant, const std::string& weight) {
  constexpr std::string_view kWeight = ".weight";
  if (quant.method == HfQuant::kFp8) return !fp8_scale_name(tensors, weight).empty();
  return (quant.method == HfQuant::kGptq || quant.method == HfQuant::kAwq) && weight.ends_with(kWeight) &&
         tensors.count(weight.substr(0, weight.size() - kWeight.size()) + ".qweight");
}

Status quant_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, SourceTensor* t,
                    bool* act_order, Error* err) {
  *act_order = false;
  if (quant.method == HfQuant::kFp8) return fp8_tensor(tensors, quant, keep, t, err);
  const std::string base = t->source_name.substr(0, t->source_name.size() - std::string_view(".weight").size());
  const bool awq = quant.method == HfQuant::kAwq;
  const uint32_t n = t->n, k = t->k, group = quant.group ? quant.group : k, n_groups = static_cast<uint32_t>(div_up(k, group));
  if (n % 8 != 0 || k % 8 != 0)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "': ", n, " x ", k, " codes of 4 bits are no whole words");
  auto codes = std::make_shared<Codes4>();
  *codes = {nullptr, nullptr, nullptr, n, k, group, quant.add, awq, {}};
  const std::vector<uint64_t> words = awq ? std::vector<uint64_t>{k, n / 8} : std::vector<uint64_t>{k / 8, n};
  LINNET_TRY(part(tensors, base, ".qweight", "I32", words, &codes->qweight, err));
  LINNET_TRY(part(tensors, base, ".qzeros", "I32", {n_groups, n / 8}, &codes->qzeros, err));
  LINNET_TRY(part(tensors, base, ".scales", "F16", {n_groups, n}, &codes->scales, err));
  *act_order = false;
  if (quant.act_order && !awq && n_groups > 1 && !tensors.count(base + ".g_idx"))
    return fail(err, LINNET_BAD_FILE, "tensor '", base, ".g_idx' is missing, though desc_act is true");
  if (tensors.count(base + ".g_idx")) {
    const uint8_t* g_idx = nullptr;
    LINNET_TRY(part(tensors, base, ".g_idx", "I32", {k}, &g_idx, err));
    std::vector<uint32_t> group_of(k);
    std::memcpy(group_of.data(), g_idx, size_t{k} * 4);
    for (uint32_t i = 0; i < k; ++i) {
      if (group_of[i] >= n_groups)
        return fail(err, LINNET_BAD_FILE, "tensor '", base, ".g_idx': group ", group_of[i], " of input ", i, ", there are ", n_groups);
      *act_order |= group_of[i] != i / group;
    }
    if (*act_order) codes->group_of = std::move(group_of);
  }
  bool symmetric = true;
  for (uint32_t g = 0; g < n_groups; ++g)
    for (uint32_t output = 0; output < n; ++output) {
      symmetric &= codes->zero(g, output) == 8;
      if ((codes->scale(g, output) & 0x7C00u) == 0x7C00u)
        return fail(err, LINNET_BAD_FILE, "tensor '", base, ".scales': the scale of output ", output, " is infinite or not a number");
    }

  t->source_type = awq ? "AWQ" : "GPTQ";
  t->rows = [codes, keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t i = 0; i < codes->k; ++i) {
        const uint32_t g = codes->group_at(i), output = first + r;
        out[size_t{r} * codes->k + i] =
            static_cast<float>(static_cast<int32_t>(codes->code(i, output)) - static_cast<int32_t>(codes->zero(g, output))) *
            f16_to_f32(codes->scale(g, output));
      }
    return LINNET_OK;
  };
  t->exact_group = quant.group ? quant.group : static_cast<uint32_t>(align_up(k, 128));
  if (*act_order) return LINNET_OK;
  t->exact_bits = 4;
  t->exact_zeros = !symmetric;
  t->own = exact_format(t->exact_group, t->exact_bits, t->exact_zeros);
  t->exact_rows = [codes, keep, n_groups](uint32_t first, uint32_t count, const ExactRows& out, Error*) {
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t output = first + r;
      for (uint32_t g = 0; g < n_groups; ++g) {
        const uint32_t zero = codes->zero(g, output), from = g * codes->group, end = std::min(codes->k, from + codes->group);
        out.scales[size_t{r} * n_groups + g] = codes->scale(g, output);
        if (out.zeros) out.zeros[size_t{r} * n_groups + g] = static_cast<uint8_t>(zero);
        for (uint32_t i = from; i < end; ++i)
          out.codes[size_t{r} * codes->k + i] =
              static_cast<int8_t>(static_cast<int32_t>(codes->code(i, output)) - static_cast<int32_t>(zero));
      }
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

namespace {

constexpr uint32_t kMxBlock = 32;
constexpr int8_t kMxCodes[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice the values
constexpr uint32_t kMxSmallest = 104, kMxLargest = 143;                                     // 2^(scale - 128) is an f16

// 2^(scale - 128), what those codes are to be multiplied by.
float mx_scale(uint8_t scale) { return std::ldexp(1.0f, int{scale} - 128); }

}  // namespace

namespace {

Status fp8_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, SourceTensor* t, Error* err) {
  const uint32_t n = t->n, k = t->k;
  const uint8_t* codes = nullptr;
  LINNET_TRY(part(tensors, t->source_name, "", "F8_E4M3", {n, k}, &codes, err));
  const std::string name = fp8_scale_name(tensors, t->source_name);
  const SafetensorsTensor& stored = tensors.find(name)->second;
  const std::vector<uint64_t>& shape = stored.shape;
  // A block is a whole matrix, an output, or of the size that config.json says.
  const bool one = std::all_of(shape.begin(), shape.end(), [](uint64_t side) { return side == 1; });
  const bool by_output = !quant.block_rows && (shape == std::vector<uint64_t>{n} || shape == std::vector<uint64_t>{n, 1});
  const uint32_t block_rows = quant.block_rows ? quant.block_rows : by_output ? 1 : n, block = quant.block_rows ? quant.group : k;
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
  t->rows = [=](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < k; ++i) *out++ = f8e4m3_to_f32(codes[uint64_t{r} * k + i]) * (*scales)[r / block_rows * across + i / block];
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

}  // namespace

int8_t mxfp4_code(uint8_t nibble) { return kMxCodes[nibble & 15]; }

bool mxfp4_scale(const int8_t codes[32], uint8_t scale, uint16_t* half) {
  const bool zeros = std::all_of(codes, codes + kMxBlock, [](int8_t c) { return c == 0; });
  *half = zeros ? uint16_t{0} : f32_to_f16(mx_scale(scale));
  return zeros || (scale >= kMxSmallest && scale <= kMxLargest);
}

bool mxfp4_has(const SafetensorsTensors& tensors, const HfQuant& quant, const std::string& name) {
  return quant.method == HfQuant::kMxfp4 && tensors.count(name + "_blocks");
}

Status mxfp4_tensor(const SafetensorsTensors& tensors, const std::shared_ptr<void>& keep, uint32_t n_experts, uint32_t expert,
                    uint32_t n_rows, SourceTensor* t, Error* err) {
  const uint32_t k = t->k, groups = k / kMxBlock;
  if (k % kMxBlock)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "_blocks': ", k, " inputs are no whole blocks of ", kMxBlock);
  const uint8_t *blocks = nullptr, *scales = nullptr;
  LINNET_TRY(part(tensors, t->source_name, "_blocks", "U8", {n_experts, n_rows, groups, kMxBlock / 2}, &blocks, err));
  LINNET_TRY(part(tensors, t->source_name, "_scales", "U8", {n_experts, n_rows, groups}, &scales, err));
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
  t->own = exact_format(kMxBlock, 8, false);
  t->rows = [=](uint32_t first, uint32_t count, float* out, Error* e) {
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
  t->exact_bits = 8;
  t->exact_group = kMxBlock;
  t->exact_rows = [=](uint32_t first, uint32_t count, const ExactRows& out, Error* e) {
    for (uint32_t r = 0; r < count; ++r) {
      int8_t* codes = out.codes + size_t{r} * k;
      codes_of(first + r, codes);
      for (uint32_t g = 0; g < groups; ++g) {
        const uint8_t scale = scales[uint64_t{first + r} * groups + g];
        if (!mxfp4_scale(codes + g * kMxBlock, scale, out.scales + size_t{r} * groups + g))
          return bad(scale, ", which an f16 cannot hold: ask for --weights i8g128 or another", e);
      }
    }
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

}  // namespace linnet::convert
