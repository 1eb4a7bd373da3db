// torchao, as transformers writes its tensors to safetensors: the parts of a matrix X.weight are X._weight_qdata, X._weight_scale and
// X._weight_zero_point. Which kind they are their types and shapes say: bytes of an integer or of e4m3 with a scale for all, for each
// output or group, weight = code * scale; or four bits from -8 on, two a byte, the lower half first, with scales and zero points (groups,
// outputs) of 16 bits, weight = code * scale + zero point, in f32. The same four bits also lie as a GPU's matrix kernel reads them, in
// words of eight (Int4PackingFormat.TILE_PACKED_TO_4D): outputs padded to 8, inputs to 1024, X._weight_scale_and_zero (groups, outputs, 2).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {"quant_method", "quant_type", "modules_to_not_convert", "include_input_output_embeddings",
                                           "untie_embedding_weights"};
// Configurations whose weights are such tensors; what they do to activations is of no concern here.
constexpr std::string_view kTypes[] = {"Int4WeightOnlyConfig",
                                       "Int8WeightOnlyConfig",
                                       "Float8WeightOnlyConfig",
                                       "Int8DynamicActivationInt8WeightConfig",
                                       "Float8DynamicActivationFloat8WeightConfig",
                                       "FqnToConfig",
                                       "ModuleFqnToConfig"};
constexpr std::string_view kMarks[] = {"._weight_qdata"};
constexpr std::string_view kParts[] = {"._weight_qdata", "._weight_scale", "._weight_zero_point", "._weight_scale_and_zero"};
constexpr std::string_view kRunTime[] = {"._weight_act_quant_scale", "._weight_act_quant_zero_point"};

// AMD's tiles have the shape of NVIDIA's, and other contents.
bool other_tiles(const nlohmann::json& type) {
  for (const auto& [key, value] : type.items())
    if ((key == "int4_tile_packed_ntile" && value != 8) || (value.is_object() && other_tiles(value))) return true;
  return false;
}

Status config(const nlohmann::json& q, const char* label, HfQuant*, Error* err) {
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  const nlohmann::json* type = json_member(q, "quant_type");
  const nlohmann::json* of = type ? json_member(*type, "default") : nullptr;
  std::string name;
  if (!of || get_string(*of, "_type", &name) != Got::kFound)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_type is no configuration of torchao under 'default'");
  if (std::find(std::begin(kTypes), std::end(kTypes), name) == std::end(kTypes))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_type: '", name, "' is not supported");
  if (other_tiles(*type))
    return fail(err, LINNET_UNSUPPORTED, label,
                ": quantization_config.quant_type: an int4_tile_packed_ntile other than 8 is not supported");
  return LINNET_OK;
}

// The scales of a matrix of bytes, f32: one for all, for each output, or for each group of inputs of it.
struct Bytes {
  const uint8_t* codes = nullptr;
  std::vector<float> scales;
  uint32_t k = 0, across = 1, group = 0;
  bool one = false, e4m3 = false;

  float scale(uint32_t row, uint32_t i) const { return scales[one ? 0 : size_t{row} * across + i / group]; }
  float value(uint64_t at) const { return e4m3 ? f8e4m3_to_f32(codes[at]) : static_cast<float>(static_cast<int8_t>(codes[at])); }
};

Status read_bytes(const QuantMatrix& m, const SafetensorsTensor& data, SourceTensor* t, std::string* needs_format, Error* err) {
  const uint32_t n = t->n, k = t->k;
  auto b = std::make_shared<Bytes>();
  b->codes = data.data;
  b->k = k;
  b->e4m3 = data.dtype == "F8_E4M3";
  const auto scale = m.tensors.find(m.base + "._weight_scale");
  if (scale == m.tensors.end() || scale->second.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, "._weight_scale' is missing or not in F32, F16 or BF16");
  const std::vector<uint64_t>& shape = scale->second.shape;
  b->one = std::all_of(shape.begin(), shape.end(), [](uint64_t side) { return side == 1; });
  if (!b->one && (shape.size() != 2 || shape[0] != n || k % shape[1]))
    return fail(err, LINNET_BAD_FILE, scale->second.file, ": tensor '", m.base, "._weight_scale' has shape ", shape_text(shape), ", of ", n,
                " x ", k, " weights");
  b->across = b->one ? 1 : static_cast<uint32_t>(shape[1]);
  b->group = k / b->across;
  b->scales.resize(b->one ? 1 : size_t{n} * b->across);
  safetensors_read(scale->second, 0, b->scales.size(), b->scales.data());
  for (size_t i = 0; i < b->scales.size(); ++i)
    if (!std::isfinite(b->scales[i]))
      return fail(err, LINNET_BAD_FILE, "tensor '", m.base, "._weight_scale': value ", i, " is infinite or not a number");
  if (const auto zero = m.tensors.find(m.base + "._weight_zero_point"); zero != m.tensors.end())
    if (std::any_of(zero->second.data, zero->second.data + zero->second.bytes, [](uint8_t byte) { return byte != 0; }))
      return fail(err, LINNET_UNSUPPORTED, zero->second.file, ": tensor '", m.base,
                  "._weight_zero_point': zero points of 8 bits other than 0 are not supported");
  for (uint64_t i = 0; b->e4m3 && i < uint64_t{n} * k; ++i)
    if ((b->codes[i] & 0x7F) == 0x7F)
      return fail(err, LINNET_BAD_FILE, data.file, ": tensor '", m.base, "._weight_qdata': weight ", i, " is not a number");
  t->source_type = b->e4m3 ? "F8_E4M3" : "torchao int8";
  t->rows = [b, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < b->k; ++i) *out++ = b->value(uint64_t{r} * b->k + i) * b->scale(r, i);
    return LINNET_OK;
  };
  t->exact = {.bits = 8, .e4m3 = b->e4m3, .group = b->group};
  t->own = b->group % kPadK == 0 || b->across == 1 ? exact_format(t->exact, k) : LINNET_FORMAT_DEFAULT;
  if (t->own == LINNET_FORMAT_DEFAULT) {
    t->exact = {};
    *needs_format = "tensor '" + t->source_name + "' has " + t->source_type + " in groups of " + std::to_string(b->group) +
                    " with f32 scales, which no packed format has; ask for --weights i8g32 or another to have its values packed anew";
    return LINNET_OK;
  }
  t->exact_rows = [b, keep = m.keep](uint32_t first, uint32_t count, const ExactRows& out, Error*) {
    std::memcpy(out.codes, b->codes + uint64_t{first} * b->k, size_t{count} * b->k);
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t g = 0; g < b->across; ++g) out.scales[size_t{r} * b->across + g] = b->scale(first + r, g * b->group);
    return LINNET_OK;
  };
  return LINNET_OK;
}

// n outputs by k inputs of four bits.
struct Codes4 {
  const uint8_t *codes, *scale, *zero;  // (n, k / 2), or words (n / 8, deep, 32, 4); (groups, scale_n), `step` bytes apart
  uint32_t k, group;
  Format type;
  uint64_t scale_n, step, deep;  // deep: tiles of 128 inputs by 8 outputs; 0: a matrix

  uint32_t code(uint32_t row, uint32_t i) const {  // from 0 on
    if (!deep) return (codes[uint64_t{row} * (k / 2) + i / 2] >> (i % 2 * 4) & 15) ^ 8;
    // Of 32 inputs a word has four pairs, 8 apart: the even ones in its lower half, the odd ones in its upper.
    const uint64_t lane = row % 8 * 4 + i % 8 / 2, at = ((row / 8 * deep + i / 128) * 32 + lane) * 4 + i % 128 / 32;
    uint32_t word;
    std::memcpy(&word, codes + at * 4, 4);
    return word >> (i % 2 * 16 + i % 32 / 8 * 4) & 15;
  }
  uint16_t half(const uint8_t* from, uint32_t row, uint32_t i) const {
    uint16_t h;
    std::memcpy(&h, from + (i / group * scale_n + row) * step, 2);
    return h;
  }
  float number(const uint8_t* from, uint32_t row, uint32_t i) const {
    const uint16_t h = half(from, row, i);
    return type == LINNET_F16 ? f16_to_f32(h) : bf16_to_f32(h);
  }
};

Status read_four_bits(const QuantMatrix& m, const std::shared_ptr<Codes4>& c, SourceTensor* t, Error* err) {
  if (t->k % kPadK)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "': rows of ", t->k, " inputs are no multiple of ", kPadK);
  for (uint32_t r = 0; r < t->n; ++r)
    for (uint32_t i = 0; i < t->k; i += c->group) {
      const float s = c->number(c->scale, r, i), z = c->number(c->zero, r, i);
      if (!std::isfinite(s) || !std::isfinite(z) || !std::isfinite(s * 15.0f) || !std::isfinite(s * -8.0f + z) ||
          !std::isfinite(s * 7.0f + z))
        return fail(err, LINNET_BAD_FILE, "tensor '", m.base, "._weight_scale': scale or zero point of output ", r,
                    " is infinite or not a number");
      if (std::signbit(s))
        return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, "._weight_scale': the scale of output ", r, " is negative");
    }
  const auto whole = [&](uint32_t block) { return c->group % block == 0 && c->k % block == 0; };
  const Format f = whole(128) ? LINNET_AO4G128 : whole(64) ? LINNET_AO4G64 : LINNET_AO4G32;
  t->source_type = "torchao int4";
  t->own = t->gguf_format = f;
  t->rows = [c, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < c->k; ++i) {
        const float scaled = (static_cast<float>(c->code(r, i)) - 8.0f) * c->number(c->scale, r, i);
        *out++ = scaled + c->number(c->zero, r, i);
      }
    return LINNET_OK;
  };
  t->gguf_blocks = [c, f, keep = m.keep](uint32_t first, uint32_t count, uint8_t* out, Error*) {
    const uint32_t block = gguf_block_values(f), bytes = gguf_block_bytes(f);
    for (uint32_t r = first; r < first + count; ++r)
      for (uint32_t i = 0; i < c->k; i += block, out += bytes) {
        const uint16_t of[2] = {static_cast<uint16_t>(c->half(c->scale, r, i) | (c->type == LINNET_BF16 ? 0x8000 : 0)),
                                c->half(c->zero, r, i)};
        std::memcpy(out, of, sizeof of);
        for (uint32_t j = 0; j < block / 2; ++j) {
          const uint32_t low = i + j / 16 * 32 + j % 16;
          out[4 + j] = static_cast<uint8_t>(c->code(r, low) | c->code(r, low + 16) << 4);
        }
      }
    return LINNET_OK;
  };
  return LINNET_OK;
}

Status read_matrix(const QuantMatrix& m, const SafetensorsTensor& data, SourceTensor* t, Error* err) {
  const uint32_t n = t->n, k = t->k;
  const auto scale = m.tensors.find(m.base + "._weight_scale");
  if (scale == m.tensors.end() || (scale->second.dtype != "F16" && scale->second.dtype != "BF16"))
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, "._weight_scale' is missing or not in F16 or BF16");
  const uint64_t groups = scale->second.shape.empty() ? 0 : scale->second.shape[0];
  if (groups == 0 || k % groups || k / groups % kPadK)
    return fail(err, LINNET_UNSUPPORTED, scale->second.file, ": tensor '", m.base, "._weight_scale' has shape ",
                shape_text(scale->second.shape), ": groups of ", k, " inputs are no multiple of ", kPadK);
  auto c = std::make_shared<Codes4>();
  *c = {data.data, nullptr, nullptr, k, static_cast<uint32_t>(k / groups), scale->second.format, n, 2, 0};
  LINNET_TRY(quant_part(m, "._weight_scale", scale->second.dtype, {groups, n}, &c->scale, err));
  LINNET_TRY(quant_part(m, "._weight_zero_point", scale->second.dtype, {groups, n}, &c->zero, err));
  return read_four_bits(m, c, t, err);
}

Status read_tiles(const QuantMatrix& m, const SafetensorsTensor& data, SourceTensor* t, Error* err) {
  const uint64_t across = div_up(t->n, 8), deep = align_up(t->k, 1024) / 128;
  const std::vector<uint64_t> shape = {across, deep, 32, 4};
  if (data.shape != shape)
    return fail(err, LINNET_BAD_FILE, data.file, ": tensor '", m.base, "._weight_qdata' has shape ", shape_text(data.shape),
                ", config.json asks for ", shape_text(shape));
  const auto both = m.tensors.find(m.base + "._weight_scale_and_zero");
  const uint64_t groups = both == m.tensors.end() || both->second.shape.empty() ? 0 : both->second.shape[0];
  if (groups == 0 || deep * 128 % groups || deep * 128 / groups % kPadK)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, "._weight_scale_and_zero' is missing or has no groups of a multiple of ",
                kPadK, " inputs");
  auto c = std::make_shared<Codes4>();
  *c = {data.data, nullptr, nullptr, t->k, static_cast<uint32_t>(deep * 128 / groups), LINNET_BF16, across * 8, 4, deep};
  LINNET_TRY(quant_part(m, "._weight_scale_and_zero", "BF16", {groups, across * 8, 2}, &c->scale, err));
  c->zero = c->scale + 2;
  return read_four_bits(m, c, t, err);
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const SafetensorsTensor& data = m.tensors.find(m.base + "._weight_qdata")->second;
  for (const std::string_view suffix : {"._weight_act_pre_scale", "._weight_per_tensor_scale"})
    if (m.tensors.count(m.base + std::string(suffix)))
      return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, suffix, "': this kind of torchao's tensors is not supported");
  const bool integers = data.dtype == "I8" || data.dtype == "U8", bytes = data.dtype == "I8" || data.dtype == "F8_E4M3";
  if (bytes && data.shape == std::vector<uint64_t>{t->n, t->k}) return read_bytes(m, data, t, needs_format, err);
  if (integers && t->k % 2 == 0 && data.shape == std::vector<uint64_t>{t->n, t->k / 2}) return read_matrix(m, data, t, err);
  if (data.dtype == "I32" && data.shape.size() == 4) return read_tiles(m, data, t, err);
  return fail(err, LINNET_UNSUPPORTED, data.file, ": tensor '", m.base, "._weight_qdata': ", data.dtype, " ", shape_text(data.shape),
              " of ", t->n, " x ", t->k,
              " weights is not supported, only int8, e4m3 and int4 (Int4PackingFormat.PLAIN, TILE_PACKED_TO_4D)");
}

}  // namespace

const QuantMethod kTorchao = {"torchao", ".weight", kMarks, kParts, kRunTime, false, config, read};

}  // namespace linnet::convert
