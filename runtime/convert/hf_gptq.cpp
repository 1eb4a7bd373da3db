// GPTQ (Frantar et al. 2022, arXiv:2210.17323) in 2, 3, 4 and 8 bits and AWQ (Lin et al. 2023, arXiv:2306.00978) in 4: tensors .qweight,
// .qzeros, .scales and, of GPTQ, .g_idx, whoever made them.
#include <algorithm>
#include <cstring>

#include "hf_codes.h"

namespace linnet::convert {
namespace {

struct GptqSettings {
  bool awq = false;
  uint32_t bits = 4;
  uint32_t group = 0;      // inputs per scale; 0: one scale per output
  uint32_t add = 0;        // to stored zero points: GPTQ's first checkpoint format keeps them less one (and cannot hold a zero point of 0)
  bool act_order = false;  // desc_act: .g_idx must be there
};

// Those that say how a checkpoint was made or is to be run elsewhere, not what its codes mean, and those that are read.
constexpr std::string_view kKnownKeys[] = {"act_group_aware",
                                           "backend",
                                           "batch_size",
                                           "bits",
                                           "block_name_to_quantize",
                                           "cache_block_outputs",
                                           "checkpoint_format",
                                           "damp_auto_increment",
                                           "damp_percent",
                                           "dataset",
                                           "desc_act",
                                           "disable_exllama",
                                           "do_fuse",
                                           "exllama_config",
                                           "format",
                                           "fuse_max_seq_len",
                                           "group_size",
                                           "lm_head",
                                           "max_input_length",
                                           "meta",
                                           "method",
                                           "model_file_base_name",
                                           "model_name_or_path",
                                           "model_seqlen",
                                           "module_name_preceding_first_block",
                                           "modules_in_block_to_quantize",
                                           "modules_to_fuse",
                                           "modules_to_not_convert",
                                           "pack_dtype",
                                           "pad_token_id",
                                           "q_group_size",
                                           "quant_method",
                                           "static_groups",
                                           "sym",
                                           "tokenizer",
                                           "true_sequential",
                                           "use_cuda_fp16",
                                           "use_exllama",
                                           "version",
                                           "w_bit",
                                           "zero_point"};

// AWQ puts the eight outputs of a word in this order: output j lies in nibble kAwqPlace[j].
constexpr uint8_t kAwqPlace[8] = {0, 4, 1, 5, 2, 6, 3, 7};

// The parts of one matrix, n outputs by k inputs.
struct Words {
  const uint8_t *qweight, *qzeros;
  uint32_t n, k, bits, add;
  bool awq;

  static uint32_t word(const uint8_t* words, size_t at) {
    uint32_t w;
    std::memcpy(&w, words + at * 4, 4);
    return w;
  }
  // Numbers of `bits` bits one behind the other in words that are `stride` apart; of 3 bits some lie in two words.
  uint32_t number(const uint8_t* words, size_t first, size_t stride, uint32_t i) const {
    const uint32_t bit = i * bits, shift = bit % 32;
    const size_t at = first + bit / 32 * stride;
    uint32_t w = word(words, at) >> shift;
    if (shift + bits > 32) w |= word(words, at + stride) << (32 - shift);
    return w & ((1u << bits) - 1);
  }
  uint32_t code(uint32_t i, uint32_t output) const {
    return awq ? word(qweight, size_t{i} * (n / 8) + output / 8) >> (4 * kAwqPlace[output % 8]) & 15 : number(qweight, output, n, i);
  }
  uint32_t zero(uint32_t g, uint32_t output) const {
    const size_t row = size_t{g} * (size_t{n} * bits / 32);
    return awq ? word(qzeros, row + output / 8) >> (4 * kAwqPlace[output % 8]) & 15 : number(qzeros, row, 1, output) + add;
  }
};

// Settings of both; bits, group_size and packing are the same in all their configurations.
Status sizes(const nlohmann::json& q, const char* label, bool awq, GptqSettings* s, Error* err) {
  int64_t bits = 0, group = 0;
  LINNET_TRY(quant_number(q, label, "bits", "w_bit", &bits, err));
  LINNET_TRY(quant_number(q, label, "group_size", "q_group_size", &group, err));
  if (bits != 4 && (awq || (bits != 2 && bits != 3 && bits != 8)))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.bits = ", bits, " is not supported, only ",
                awq ? "4" : "2, 3, 4 and 8");
  if (group != -1 && (group < 32 || group > 65536 || group % 32 != 0))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.group_size = ", group, " is no multiple of 32 (nor -1)");
  s->bits = static_cast<uint32_t>(bits);
  s->group = group == -1 ? 0 : static_cast<uint32_t>(group);
  s->awq = awq;
  return LINNET_OK;
}

Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  GptqSettings s;
  const bool awq = out->method == &kAwq;
  std::string method = out->method->name, format;
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  LINNET_TRY(quant_word(q, label, "method", &method, err));  // newer files say everything twice
  LINNET_TRY(sizes(q, label, awq, &s, err));
  for (const char* key : {"checkpoint_format", "format", "version"})
    if (awq || std::string_view(key) != "version") LINNET_TRY(quant_word(q, label, key, &format, err));
  if (awq && !format.empty() && format != "gemm")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: format '", format, "' of awq is not supported, only gemm");
  if (!awq && !format.empty() && format != "gptq" && format != "gptq_v2")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: format '", format,
                "' of gptq is not supported, only gptq and gptq_v2");
  s.add = !awq && format != "gptq_v2";
  if (get_bool(q, "desc_act", &s.act_order) == Got::kWrong)
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.desc_act is neither true nor false");
  out->settings = s;
  return LINNET_OK;
}

// AutoRound packs as GPTQ or AWQ do. Layers may have settings of their own; those that were left out have no codes.
constexpr std::string_view kAutoRoundKeys[] = {"act_bits",
                                               "act_data_type",
                                               "act_dynamic",
                                               "act_group_size",
                                               "act_sym",
                                               "amp",
                                               "autoround_version",
                                               "batch_size",
                                               "bits",
                                               "block_name_to_quantize",
                                               "data_type",
                                               "dataset",
                                               "enable_alg_ext",
                                               "enable_deterministic_algorithms",
                                               "enable_minmax_tuning",
                                               "enable_norm_bias_tuning",
                                               "enable_quanted_input",
                                               "enable_torch_compile",
                                               "extra_config",
                                               "gradient_accumulate_steps",
                                               "group_size",
                                               "iters",
                                               "low_cpu_mem_usage",
                                               "low_gpu_mem_usage",
                                               "lr",
                                               "minmax_lr",
                                               "momentum",
                                               "not_use_best_mse",
                                               "nsamples",
                                               "packing_format",
                                               "quant_block_list",
                                               "quant_method",
                                               "sampler",
                                               "scale_dtype",
                                               "seqlen",
                                               "sym",
                                               "to_quant_block_names"};

Status auto_round_config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  GptqSettings s;
  std::string packing, type;
  LINNET_TRY(quant_keys(q, label, kAutoRoundKeys, err));
  LINNET_TRY(quant_word(q, label, "packing_format", &packing, err));
  LINNET_TRY(quant_word(q, label, "data_type", &type, err));
  int64_t act_bits = 0;
  LINNET_TRY(quant_number(q, label, "act_bits", nullptr, &act_bits, err));
  const bool minus_one = packing == "auto_round:auto_gptq";
  if (packing != "auto_round:auto_awq" && packing != "auto_round:gptqmodel" && packing != "auto_round" && !minus_one)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.packing_format '", packing,
                "' is not supported, only auto_round, auto_round:auto_gptq, auto_round:gptqmodel and auto_round:auto_awq");
  if (!type.empty() && type != "int")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.data_type '", type, "' is not supported, only int");
  if (act_bits && act_bits < 16)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.act_bits = ", act_bits, " is not supported, only 16 and more");
  LINNET_TRY(sizes(q, label, packing == "auto_round:auto_awq", &s, err));
  s.add = minus_one;
  const nlohmann::json *extra = json_member(q, "extra_config"), none = nlohmann::json::object();
  if (!extra || extra->is_null()) extra = &none;
  if (!extra->is_object())
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.extra_config is ", json_show(*extra), ", not an object");
  for (const auto& [layer, own] : extra->items()) {
    int64_t bits = s.bits, group = s.group ? s.group : -1;
    if (!own.is_object() || get_i64(own, "bits", &bits) == Got::kWrong || get_i64(own, "group_size", &group) == Got::kWrong)
      return fail(err, LINNET_BAD_FILE, label, ": quantization_config.extra_config.", layer,
                  ": no object, or bits or group_size no integer");
    if (bits < 16 && (bits != s.bits || group != (s.group ? s.group : -1)))
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.extra_config.", layer, ": bits = ", bits,
                  " and group_size = ", group, " of its own are not supported");
  }
  out->settings = s;
  return LINNET_OK;
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const auto& quant = std::any_cast<const GptqSettings&>(m.quant.settings);
  const bool awq = quant.awq;
  const uint32_t n = t->n, k = t->k, bits = quant.bits, group = quant.group ? quant.group : k,
                 n_groups = static_cast<uint32_t>(div_up(k, group));
  const uint64_t of_outputs = uint64_t{n} * bits, of_inputs = uint64_t{k} * bits;
  if (of_outputs % 32 || (!awq && of_inputs % 32))
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "': ", n, " x ", k, " codes of ", bits, " bits are no whole words");
  Words w = {nullptr, nullptr, n, k, bits, quant.add, awq};
  const std::vector<uint64_t> words = awq ? std::vector<uint64_t>{k, n / 8} : std::vector<uint64_t>{of_inputs / 32, n};
  LINNET_TRY(quant_part(m, ".qweight", "I32", words, &w.qweight, err));
  LINNET_TRY(quant_part(m, ".qzeros", "I32", {n_groups, of_outputs / 32}, &w.qzeros, err));
  IntCodes codes = {.n = n, .k = k, .group = group, .bits = static_cast<uint8_t>(bits == 8 ? 8 : 4)};
  LINNET_TRY(code_scales(m, ".scales", {n_groups, n}, &codes.scales, err));
  if (!awq) LINNET_TRY(code_groups(m, ".g_idx", quant.act_order, &codes, err));
  // Codes of 2 and 3 bits less their zero points are numbers of 4 bits.
  for (uint32_t g = 0; g < n_groups && bits == 4 && !codes.zeros; ++g)
    for (uint32_t output = 0; output < n; ++output) codes.zeros |= w.zero(g, output) != 8;
  codes.codes = [w, group, group_of = codes.group_of](uint32_t output, int16_t* to) {
    std::vector<uint32_t> zeros(div_up(w.k, group));
    for (uint32_t g = 0; g < zeros.size(); ++g) zeros[g] = w.zero(g, output);
    for (uint32_t i = 0; i < w.k; ++i)
      to[i] = static_cast<int16_t>(static_cast<int32_t>(w.code(i, output)) -
                                   static_cast<int32_t>(zeros[group_of.empty() ? i / group : group_of[i]]));
  };
  codes.scale = [n](uint32_t output, uint32_t g) { return size_t{g} * n + output; };
  codes.zero = [w](uint32_t output, uint32_t g) { return static_cast<uint8_t>(w.zero(g, output)); };
  t->source_type = awq ? "AWQ" : "GPTQ";
  return read_codes(m, std::move(codes), t, needs_format, err);
}

constexpr std::string_view kMarks[] = {".qweight"};
constexpr std::string_view kParts[] = {".qweight", ".qzeros", ".scales", ".g_idx"};

}  // namespace

const QuantMethod kGptq = {"gptq", ".weight", kMarks, kParts, {}, false, config, read};
const QuantMethod kAwq = {"awq", ".weight", kMarks, kParts, {}, false, config, read};
const QuantMethod kAutoRound = {"auto-round", ".weight", kMarks, kParts, {}, false, auto_round_config, read};
const QuantMethod kIntelAutoRound = {"intel/auto-round", ".weight", kMarks, kParts, {}, false, auto_round_config, read};

}  // namespace linnet::convert
