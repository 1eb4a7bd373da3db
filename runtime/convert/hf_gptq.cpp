// 4-bit checkpoints of GPTQ (Frantar et al. 2022, arXiv:2210.17323) and AWQ (Lin et al. 2023, arXiv:2306.00978): tensors .qweight, .qzeros,
// .scales and, of GPTQ, .g_idx.
#include <algorithm>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

struct GptqSettings {
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

Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  GptqSettings s;
  const bool awq = out->method == &kAwq;
  std::string method = out->method->name, format;
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  int64_t bits = 0, group = 0;
  LINNET_TRY(quant_word(q, label, "method", &method, err));  // newer files say everything twice
  LINNET_TRY(quant_number(q, label, "bits", "w_bit", &bits, err));
  LINNET_TRY(quant_number(q, label, "group_size", "q_group_size", &group, err));
  if (bits != 4) return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.bits = ", bits, " is not supported, only 4");
  if (group != -1 && (group < 32 || group > 65536 || group % 32 != 0))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.group_size = ", group, " is no multiple of 32 (nor -1)");
  s.group = group == -1 ? 0 : static_cast<uint32_t>(group);
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

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const auto& quant = std::any_cast<const GptqSettings&>(m.quant.settings);
  const std::string& base = m.base;
  const bool awq = m.quant.method == &kAwq;
  const uint32_t n = t->n, k = t->k, group = quant.group ? quant.group : k, n_groups = static_cast<uint32_t>(div_up(k, group));
  if (n % 8 != 0 || k % 8 != 0)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "': ", n, " x ", k, " codes of 4 bits are no whole words");
  auto codes = std::make_shared<Codes4>();
  *codes = {nullptr, nullptr, nullptr, n, k, group, quant.add, awq, {}};
  const std::vector<uint64_t> words = awq ? std::vector<uint64_t>{k, n / 8} : std::vector<uint64_t>{k / 8, n};
  LINNET_TRY(quant_part(m, ".qweight", "I32", words, &codes->qweight, err));
  LINNET_TRY(quant_part(m, ".qzeros", "I32", {n_groups, n / 8}, &codes->qzeros, err));
  LINNET_TRY(quant_part(m, ".scales", "F16", {n_groups, n}, &codes->scales, err));
  bool act_order = false;
  if (quant.act_order && !awq && n_groups > 1 && !m.tensors.count(base + ".g_idx"))
    return fail(err, LINNET_BAD_FILE, "tensor '", base, ".g_idx' is missing, though desc_act is true");
  if (m.tensors.count(base + ".g_idx")) {
    const uint8_t* g_idx = nullptr;
    LINNET_TRY(quant_part(m, ".g_idx", "I32", {k}, &g_idx, err));
    std::vector<uint32_t> group_of(k);
    std::memcpy(group_of.data(), g_idx, size_t{k} * 4);
    for (uint32_t i = 0; i < k; ++i) {
      if (group_of[i] >= n_groups)
        return fail(err, LINNET_BAD_FILE, "tensor '", base, ".g_idx': group ", group_of[i], " of input ", i, ", there are ", n_groups);
      act_order |= group_of[i] != i / group;
    }
    if (act_order) codes->group_of = std::move(group_of);
  }
  bool symmetric = true;
  for (uint32_t g = 0; g < n_groups; ++g)
    for (uint32_t output = 0; output < n; ++output) {
      symmetric &= codes->zero(g, output) == 8;
      if ((codes->scale(g, output) & 0x7C00u) == 0x7C00u)
        return fail(err, LINNET_BAD_FILE, "tensor '", base, ".scales': the scale of output ", output, " is infinite or not a number");
    }

  t->source_type = awq ? "AWQ" : "GPTQ";
  t->rows = [codes, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t i = 0; i < codes->k; ++i) {
        const uint32_t g = codes->group_at(i), output = first + r;
        out[size_t{r} * codes->k + i] =
            static_cast<float>(static_cast<int32_t>(codes->code(i, output)) - static_cast<int32_t>(codes->zero(g, output))) *
            f16_to_f32(codes->scale(g, output));
      }
    return LINNET_OK;
  };
  if (act_order) {
    *needs_format = "tensor '" + t->source_name +
                    "' is in act-order (desc_act), whose groups no packed format has; ask for --weights i8g128 or another to have "
                    "its values packed anew";
    return LINNET_OK;
  }
  t->exact = {.bits = 4, .zeros = !symmetric, .half = true, .group = quant.group ? quant.group : static_cast<uint32_t>(align_up(k, 128))};
  t->own = exact_format(t->exact, k);
  t->exact_rows = [codes, keep = m.keep, n_groups](uint32_t first, uint32_t count, const ExactRows& out, Error*) {
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t output = first + r;
      for (uint32_t g = 0; g < n_groups; ++g) {
        const uint32_t zero = codes->zero(g, output), from = g * codes->group, end = std::min(codes->k, from + codes->group);
        out.halves[size_t{r} * n_groups + g] = codes->scale(g, output);
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

constexpr std::string_view kMarks[] = {".qweight"};
constexpr std::string_view kParts[] = {".qweight", ".qzeros", ".scales", ".g_idx"};

}  // namespace

const QuantMethod kGptq = {"gptq", ".weight", kMarks, kParts, {}, false, config, read};
const QuantMethod kAwq = {"awq", ".weight", kMarks, kParts, {}, false, config, read};

}  // namespace linnet::convert
