// bitsandbytes (Dettmers et al. 2023, arXiv:2305.14314; 2022, arXiv:2208.07339). Four bits: X.weight holds codes of the flattened matrix,
// two a byte, the upper half first; X.weight.absmax what each block of them is multiplied by, or the code of it in
// X.weight.nested_quant_map, times X.weight.nested_absmax of 256 blocks, plus an offset (double quantisation); a JSON text in a tensor says
// the rest. Eight bits: X.weight holds codes, X.SCB 127 times the scale of each output.
#include <bit>
#include <cmath>
#include <cstring>

#include "../../kernels_cpu/kernels.h"
#include "hf_quant.h"

namespace linnet::convert {
namespace {

// What they say each tensor says, too, or it is of no concern for weights: what is computed with, and which modules are none of it.
constexpr std::string_view kKnownKeys[] = {"quant_method",
                                           "load_in_4bit",
                                           "load_in_8bit",
                                           "_load_in_4bit",
                                           "_load_in_8bit",
                                           "bnb_4bit_compute_dtype",
                                           "bnb_4bit_quant_storage",
                                           "bnb_4bit_quant_type",
                                           "bnb_4bit_use_double_quant",
                                           "llm_int8_enable_fp32_cpu_offload",
                                           "llm_int8_has_fp16_weight",
                                           "llm_int8_skip_modules",
                                           "llm_int8_threshold"};
constexpr std::string_view kMarks[] = {".weight.absmax", ".SCB"};
constexpr std::string_view kStates[] = {".weight.quant_state.bitsandbytes__nf4", ".weight.quant_state.bitsandbytes__fp4"};
constexpr std::string_view kParts[] = {
    ".weight",  ".weight.absmax", ".weight.quant_map", ".weight.nested_absmax", ".weight.nested_quant_map", kStates[0],
    kStates[1], ".SCB",           ".weight_format"};

Status config(const nlohmann::json& q, const char* label, HfQuant*, Error* err) { return quant_keys(q, label, kKnownKeys, err); }

float float_at(const uint8_t* from, uint64_t i) {
  float f;
  std::memcpy(&f, from + i * sizeof f, sizeof f);
  return f;
}

Status read_int8(const QuantMatrix& m, SourceTensor* t, Error* err) {
  const uint32_t n = t->n, k = t->k;
  const uint8_t *codes = nullptr, *scales = nullptr, *form = nullptr;
  LINNET_TRY(quant_part(m, ".weight", "I8", {n, k}, &codes, err));
  LINNET_TRY(quant_part(m, ".SCB", "F32", {n}, &scales, err));
  if (m.tensors.count(m.base + ".weight_format")) {
    LINNET_TRY(quant_part(m, ".weight_format", "U8", {}, &form, err));
    if (*form != 0)
      return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, ".weight_format': layout ", uint32_t{*form}, " is not supported, only rows");
  }
  for (uint32_t i = 0; i < n; ++i)
    if (!std::isfinite(float_at(scales, i)))
      return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".SCB': the scale of output ", i, " is infinite or not a number");
  t->source_type = "LLM.int8";
  t->rows = [=, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = first; r < first + count; ++r) {
      const float scale = float_at(scales, r) / 127.0f;
      for (uint32_t i = 0; i < k; ++i) *out++ = static_cast<float>(static_cast<int8_t>(codes[uint64_t{r} * k + i])) * scale;
    }
    (void)keep;
    return LINNET_OK;
  };
  t->exact = {.bits = 8, .group = k};
  t->own = exact_format(t->exact, k);
  t->exact_rows = [=, keep = m.keep](uint32_t first, uint32_t count, const ExactRows& out, Error*) {
    std::memcpy(out.codes, codes + uint64_t{first} * k, size_t{count} * k);
    for (uint32_t r = 0; r < count; ++r) out.scales[r] = float_at(scales, first + r) / 127.0f;
    (void)keep;
    return LINNET_OK;
  };
  return LINNET_OK;
}

constexpr uint32_t kGroup = 64;  // of nf4 and fp4; larger blocks are several groups of one scale
constexpr uint32_t kNested = 256;

// The parts of one matrix, n outputs by k inputs.
struct Codes4 {
  const uint8_t *codes, *absmax, *outer;  // outer: nullptr where scales are f32
  uint32_t k, block;
  float offset;
  Format format;

  const float* table() const {
    return format == LINNET_NF4 || format == LINNET_NF4_DQ ? scalar_table.tables->nf4 : scalar_table.tables->fp4;
  }
  uint64_t block_of(uint32_t row, uint32_t i) const { return (uint64_t{row} * k + i) / block; }
  float scale(uint64_t b) const {
    if (!outer) return float_at(absmax, b);
    const float inner = scalar_table.tables->scales[absmax[b]] * float_at(outer, b / kNested);
    return inner + offset;
  }
};

// The tensor's floats must be those of the format, to the bit, but for the sign of a zero.
Status check_map(const QuantMatrix& m, std::string_view suffix, const float* want, uint32_t n, Error* err) {
  const uint8_t* map = nullptr;
  LINNET_TRY(quant_part(m, suffix, "F32", {n}, &map, err));
  for (uint32_t i = 0; i < n; ++i)
    if (const float got = float_at(map, i); got != want[i])
      return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, suffix, "': code ", i, " stands for ", json_show(double{got}), ", not ",
                  json_show(double{want[i]}), ": other tables than bitsandbytes' own are not supported");
  return LINNET_OK;
}

Status read_state(const QuantMatrix& m, const SourceTensor& t, Codes4* out, Error* err) {
  const SafetensorsTensor* state = nullptr;
  std::string label, type, nested_type;
  for (const std::string_view suffix : kStates)
    if (const auto at = m.tensors.find(m.base + std::string(suffix)); at != m.tensors.end()) {
      if (state) return fail(err, LINNET_BAD_FILE, at->second.file, ": tensor '", at->first, "' beside '", label, "'");
      state = &at->second, label = at->first, type = suffix.substr(suffix.size() - 3);
    }
  if (!state) return fail(err, LINNET_BAD_FILE, "tensor '", m.base, kStates[0], "' is missing, and of fp4, too");
  if (state->dtype != "U8") return fail(err, LINNET_UNSUPPORTED, state->file, ": tensor '", label, "': dtype ", state->dtype, ", not U8");
  JsonTree tree;
  label = state->file + ": tensor '" + label + "'";
  LINNET_TRY(json_parse(std::string_view(reinterpret_cast<const char*>(state->data), state->bytes), label.c_str(), &tree.root, err));
  const nlohmann::json& q = tree.root;
  const nlohmann::json* shape = json_member(q, "shape");
  std::string said;
  uint32_t nested = 0;
  double offset = 0;
  if (get_string(q, "quant_type", &said) != Got::kFound || said != type)
    return fail(err, LINNET_BAD_FILE, label, ": quant_type is '", said, "', not '", type, "'");
  if (get_u32(q, "blocksize", &out->block) != Got::kFound || out->block < 32 || out->block > 4096 || !std::has_single_bit(out->block))
    return fail(err, LINNET_UNSUPPORTED, label, ": blocksize ", out->block, " is not supported, only powers of two from 32 to 4096");
  const auto side = [&](size_t i, uint64_t want) { return (*shape)[i].is_number_unsigned() && (*shape)[i].get<uint64_t>() == want; };
  if (!shape || !shape->is_array() || shape->size() != 2 || !side(0, t.n) || !side(1, t.k))
    return fail(err, LINNET_BAD_FILE, label, ": shape is missing or not ", shape_text({t.n, t.k}), ", as config.json asks for");
  const bool is_nested = m.tensors.count(m.base + ".weight.nested_absmax");
  if (is_nested && (get_u32(q, "nested_blocksize", &nested) != Got::kFound || nested != kNested ||
                    get_string(q, "nested_dtype", &nested_type) != Got::kFound || nested_type != "float32" ||
                    get_double(q, "nested_offset", &offset) != Got::kFound))
    return fail(err, LINNET_UNSUPPORTED, label, ": double quantisation is not of ", kNested, " blocks in float32 with an offset");
  out->offset = static_cast<float>(offset);
  out->format = type == "nf4" ? is_nested ? LINNET_NF4_DQ : LINNET_NF4 : is_nested ? LINNET_FP4_DQ : LINNET_FP4;
  return LINNET_OK;
}

Status read_codes4(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const uint32_t n = t->n, k = t->k;
  auto c = std::make_shared<Codes4>();
  *c = {};
  c->k = k;
  LINNET_TRY(read_state(m, *t, c.get(), err));
  const uint64_t blocks = div_up(uint64_t{n} * k, c->block);
  const auto weight = m.tensors.find(m.base + ".weight");
  if (weight == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".weight' is missing");
  if (weight->second.bytes != div_up(uint64_t{n} * k, 2))  // of whatever type: bnb_4bit_quant_storage
    return fail(err, LINNET_BAD_FILE, weight->second.file, ": tensor '", t->source_name, "' has ", weight->second.bytes, " bytes, ",
                div_up(uint64_t{n} * k, 2), " hold ", n, " x ", k, " codes of 4 bits");
  c->codes = weight->second.data;
  LINNET_TRY(check_map(m, ".weight.quant_map", c->table(), 16, err));
  if (format_nested(c->format)) {
    LINNET_TRY(check_map(m, ".weight.nested_quant_map", scalar_table.tables->scales, 256, err));
    LINNET_TRY(quant_part(m, ".weight.absmax", "U8", {blocks}, &c->absmax, err));
    LINNET_TRY(quant_part(m, ".weight.nested_absmax", "F32", {div_up(blocks, kNested)}, &c->outer, err));
  } else {
    LINNET_TRY(quant_part(m, ".weight.absmax", "F32", {blocks}, &c->absmax, err));
  }
  for (uint64_t b = 0; b < blocks; ++b)
    if (!std::isfinite(c->scale(b)))
      return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".weight.absmax': the scale of block ", b, " is infinite or not a number");

  t->source_type = c->format == LINNET_NF4 || c->format == LINNET_NF4_DQ ? "NF4" : "FP4";
  t->rows = [c, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    const float* const table = c->table();
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < c->k; ++i) {
        const uint64_t at = uint64_t{r} * c->k + i;
        *out++ = table[c->codes[at / 2] >> (at % 2 ? 0 : 4) & 15] * c->scale(c->block_of(r, i));
      }
    return LINNET_OK;
  };
  if (k % c->block || c->block < kGroup) {
    *needs_format = "tensor '" + t->source_name + "': blocks of " + std::to_string(c->block) + " of rows of " + std::to_string(k) +
                    " inputs, which no packed format has (only whole blocks of 64 or more); ask for --weights i8g32 or another to have its "
                    "values packed anew";
    return LINNET_OK;
  }
  t->own = t->gguf_format = c->format;
  t->gguf_blocks = [c, keep = m.keep](uint32_t first, uint32_t count, uint8_t* out, Error*) {
    const uint32_t bytes = gguf_block_bytes(c->format);
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t g = 0; g < c->k / kGroup; ++g, out += bytes) {
        const uint64_t b = c->block_of(r, g * kGroup);
        std::memcpy(out, c->codes + (uint64_t{r} * c->k + uint64_t{g} * kGroup) / 2, kGroup / 2);
        if (c->outer) {
          out[kGroup / 2] = c->absmax[b];
          std::memcpy(out + kGroup / 2 + 1, c->outer + b / kNested * 4, 4);
          std::memcpy(out + kGroup / 2 + 5, &c->offset, 4);
        } else {
          std::memcpy(out + kGroup / 2, c->absmax + b * 4, 4);
        }
      }
    return LINNET_OK;
  };
  return LINNET_OK;
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  return m.tensors.count(m.base + ".SCB") ? read_int8(m, t, err) : read_codes4(m, t, needs_format, err);
}

}  // namespace

const QuantMethod kBitsandbytes = {"bitsandbytes", ".weight", kMarks, kParts, {}, false, config, read};

}  // namespace linnet::convert
