// BitNet: weights -1, 0 or 1 times one number for the matrix. X.weight has four outputs' codes in a byte, a quarter of the matrix apart,
// and X.weight_scale what they are multiplied with (linear_class autobitlinear) or divided by (bitlinear); or floats are there, of which
// the codes are made as the model is loaded (quantization_mode online). Activations, which transformers rounds to 8 bits by the row, have
// what the format has.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {"linear_class", "modules_to_not_convert", "quant_method", "quantization_mode", "rms_norm_eps"};
constexpr std::string_view kMarks[] = {".weight_scale"};
constexpr std::string_view kParts[] = {".weight", ".weight_scale"};
constexpr std::string_view kFloatMarks[] = {".weight"};
constexpr uint32_t kOfByte = 4;

struct BitNetSettings {
  bool divides = false;
};

// Of all matrices but the embedding and the LM head, as transformers takes it where config.json does not name others.
bool of_tokens(std::string_view base) { return base.ends_with("embed_tokens") || base.ends_with("lm_head"); }

Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  std::string linear, mode;
  LINNET_TRY(quant_keys(q, label, kKnownKeys, err));
  LINNET_TRY(quant_word(q, label, "linear_class", &linear, err));
  LINNET_TRY(quant_word(q, label, "quantization_mode", &mode, err));
  if (!linear.empty() && linear != "bitlinear" && linear != "autobitlinear")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.linear_class '", linear,
                "' is not supported, only bitlinear and autobitlinear");
  if (!mode.empty() && mode != "offline" && mode != "online")
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quantization_mode '", mode,
                "' is not supported, only offline and online");
  out->settings = BitNetSettings{linear != "autobitlinear"};
  if (mode != "online" || linear != "autobitlinear") return LINNET_OK;
  const nlohmann::json* others = json_member(q, "modules_to_not_convert");
  if (others && !others->is_null() && *others != nlohmann::json::array({"lm_head"}))
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.modules_to_not_convert ", json_show(*others),
                " beside quantization_mode online is not supported, only null and [\"lm_head\"]");
  out->method = &kBitNetOnline;
  return LINNET_OK;
}

// A matrix of k inputs. row: codes of one output; scale: what they are multiplied with, finite wherever a row could be had.
struct Ternary {
  uint32_t k;
  std::function<Status(uint32_t output, int8_t* codes, Error* err)> row;
  std::function<float()> scale;
};

// An f32 holds the scale, whichever way it comes.
void read_ternary(Ternary from, SourceTensor* t) {
  const auto c = std::make_shared<const Ternary>(std::move(from));
  const uint32_t k = c->k, block = gguf_block_values(LINNET_TQ2_F32);
  t->rows = [c, k](uint32_t first, uint32_t count, float* out, Error* err) {
    std::vector<int8_t> codes(k);
    for (uint32_t o = first; o < first + count; ++o) {
      LINNET_TRY(c->row(o, codes.data(), err));
      for (const int8_t code : codes) *out++ = static_cast<float>(code) * c->scale();
    }
    return LINNET_OK;
  };
  t->exact = {.bits = 8, .group = static_cast<uint32_t>(align_up(k, 128))};
  t->exact_rows = [c, k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
    for (uint32_t r = 0; r < count; ++r) {
      LINNET_TRY(c->row(first + r, out.codes + size_t{r} * k, err));
      out.scales[r] = c->scale();
    }
    return LINNET_OK;
  };
  t->own = exact_format(t->exact, k);
  if (k % block) return;
  t->own = t->gguf_format = LINNET_TQ2_F32;
  t->outer = [c](uint32_t, uint32_t count, float* out) {
    for (uint32_t i = 0; i < count; ++i, out += 2) out[0] = c->scale(), out[1] = 0;
  };
  t->gguf_blocks = [c, k](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
    std::vector<int8_t> codes(k);
    std::memset(out, 0, size_t{count} * k / kOfByte);
    for (uint32_t o = first; o < first + count; ++o, out += k / kOfByte) {  // of 128 inputs 32 have the lowest bits of bytes, and so on
      LINNET_TRY(c->row(o, codes.data(), err));
      for (uint32_t i = 0; i < k; ++i)
        out[i / 128 * 32 + i % 32] = static_cast<uint8_t>(out[i / 128 * 32 + i % 32] | (codes[i] + 1) << (i % 128 / 32 * 2));
    }
    return LINNET_OK;
  };
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string*, Error* err) {
  const uint32_t n = t->n, k = t->k;
  const uint8_t* codes = nullptr;
  if (n % kOfByte) return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, ".weight': ", n, " outputs are no whole bytes of ", kOfByte);
  LINNET_TRY(quant_part(m, ".weight", "U8", {n / kOfByte, k}, &codes, err));
  const std::string name = m.base + ".weight_scale";
  const SafetensorsTensor& stored = m.tensors.find(name)->second;
  float scale = 0;
  if (stored.format == LINNET_FORMAT_DEFAULT || (!stored.shape.empty() && stored.shape != std::vector<uint64_t>{1}))
    return fail(err, LINNET_UNSUPPORTED, stored.file, ": tensor '", name, "': ", stored.dtype, " of shape ", shape_text(stored.shape),
                ", not one number in F32, F16 or BF16");
  safetensors_read(stored, 0, 1, &scale);
  if (std::any_cast<const BitNetSettings&>(m.quant.settings).divides) scale = 1 / scale;
  if (!std::isfinite(scale))
    return fail(err, LINNET_BAD_FILE, stored.file, ": tensor '", name, "' or what is divided by it is infinite or not a number");
  t->source_type = "ternary";
  const auto row = [=, named = t->source_name, keep = m.keep](uint32_t output, int8_t* to, Error* e) {
    const uint8_t* const bytes = codes + uint64_t{output % (n / kOfByte)} * k;
    const uint32_t shift = output / (n / kOfByte) * 2;
    for (uint32_t i = 0; i < k; ++i) {
      const uint32_t code = bytes[i] >> shift & 3;
      if (code == 3) return fail(e, LINNET_BAD_FILE, "tensor '", named, "': the code of output ", output, ", input ", i, " is 3");
      to[i] = static_cast<int8_t>(static_cast<int32_t>(code) - 1);
    }
    (void)keep;
    return LINNET_OK;
  };
  read_ternary({k, row, [scale] { return scale; }}, t);
  return LINNET_OK;
}

// Floats that become codes: w / mean |w|, rounded.
struct Masters {
  SafetensorsTensor stored;
  std::shared_ptr<void> keep;
  uint64_t n_values;
  std::once_flag once = {};
  float inverse = 0, scale = 0;  // of the mean, and what a code stands for in the type of the floats

  // The mean is added up in doubles. Read when it is asked for first: it takes all of the matrix.
  void look() {
    std::call_once(once, [&] {
      double sum = 0;
      std::vector<float> some(65536);
      for (uint64_t at = 0; at < n_values; at += some.size()) {
        const uint64_t count = std::min<uint64_t>(some.size(), n_values - at);
        safetensors_read(stored, at, count, some.data());
        for (uint64_t i = 0; i < count; ++i) sum += static_cast<double>(std::fabs(some[i]));
      }
      const auto mean = static_cast<float>(sum / static_cast<double>(n_values));
      inverse = 1 / (mean < 1e-5f ? 1e-5f : mean);  // NaN stays
      scale = 1 / inverse;
      if (stored.format == LINNET_BF16) scale = bf16_to_f32(f32_to_bf16(scale));
      if (stored.format == LINNET_F16) scale = f16_to_f32(f32_to_f16(scale));
    });
  }
};

Status read_online(const QuantMatrix& m, SourceTensor* t, std::string*, Error* err) {
  const SafetensorsTensor& stored = m.tensors.find(m.base + ".weight")->second;
  const uint8_t* values = nullptr;
  if (stored.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, stored.file, ": tensor '", t->source_name, "': dtype ", stored.dtype,
                " is not supported, only F32, F16 and BF16");
  LINNET_TRY(quant_part(m, ".weight", stored.dtype, {t->n, t->k}, &values, err));
  const auto of = std::shared_ptr<Masters>(new Masters{stored, m.keep, uint64_t{t->n} * t->k});
  t->source_type = stored.dtype;
  const auto row = [of, k = t->k, named = t->source_name](uint32_t output, int8_t* to, Error* e) {
    of->look();
    if (!std::isfinite(of->scale) || !(of->inverse > 0))
      return fail(e, LINNET_BAD_FILE, of->stored.file, ": tensor '", named, "' holds infinities or what is not a number");
    std::vector<float> w(k);
    safetensors_read(of->stored, uint64_t{output} * k, k, w.data());
    for (uint32_t i = 0; i < k; ++i) {
      const float v = std::nearbyint(w[i] * of->inverse);
      to[i] = static_cast<int8_t>(v > 1 ? 1 : v < -1 ? -1 : v);
    }
    return LINNET_OK;
  };
  read_ternary({t->k, row, [of] { return of->look(), of->scale; }}, t);
  return LINNET_OK;
}

}  // namespace

const QuantMethod kBitNet = {"bitnet", ".weight", kMarks, kParts, {}, false, config, read};
const QuantMethod kBitNetOnline = {"bitnet", ".weight", kFloatMarks, kFloatMarks, {}, false, config, read_online, of_tokens};

}  // namespace linnet::convert
