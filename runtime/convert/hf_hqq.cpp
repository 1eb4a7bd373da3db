// HQQ (Badri and Shaji 2023): X.W_q holds codes of the flattened matrix in rows of group_size, packed over the rows: of four bits the first
// half of the rows lies in the upper halves of bytes, the second in the lower ones. weight = (code - zero) * scale in f32, X.zero and
// X.scale being floats of each group. All else about a matrix lies in tensors of one value, texts as bytes.
#include <cmath>
#include <cstring>

#include "hf_quant.h"

namespace linnet::convert {
namespace {

// What they say the tensors of each matrix say.
constexpr std::string_view kKnownKeys[] = {"quant_method", "quant_config", "skip_modules"};
constexpr std::string_view kMarks[] = {".W_q"};
constexpr std::string_view kParts[] = {".W_q",
                                       ".nbits",
                                       ".group_size",
                                       ".shape",
                                       ".scale",
                                       ".zero",
                                       ".axis",
                                       ".packing",
                                       ".view_as_float",
                                       ".quant_scale",
                                       ".quant_zero",
                                       ".unpack_view_dtype",
                                       ".compute_dtype",
                                       ".offload_meta",
                                       ".channel_wise",
                                       ".encoded_state_dict",
                                       ".optimize",
                                       ".round_zero",
                                       ".stores_quant_config"};

Status config(const nlohmann::json& q, const char* label, HfQuant*, Error* err) { return quant_keys(q, label, kKnownKeys, err); }

// Codes of so many bits side by side in a byte or word, of which the first rows have the upper ones.
struct PackedAs {
  std::string_view name, dtype;
  uint32_t bits, word_bits, of_word;  // bits of a code, of a word; codes in a word
};
constexpr PackedAs kPackings[] = {{"8bit_u8", "U8", 8, 8, 1},
                                  {"4bit_u8", "U8", 4, 8, 2},
                                  {"3bit_32", "I32", 3, 32, 10},
                                  {"2bit_u8", "U8", 2, 8, 4},
                                  {"1bit_u8", "U8", 1, 8, 8}};

// One matrix of n outputs by k inputs, in groups of the flattened one.
struct Groups {
  const uint8_t *codes, *scale, *zero;
  uint32_t k, group;
  uint64_t step;  // rows of codes, each of a group
  const PackedAs* packing;
  Format type;  // of scale and zero

  uint32_t code(uint64_t g, uint32_t i) const {
    const uint64_t at = g % step * group + i;
    uint32_t word = 0;
    std::memcpy(&word, codes + at * (packing->word_bits / 8), packing->word_bits / 8);
    return word >> (packing->bits * (packing->of_word - 1 - static_cast<uint32_t>(g / step))) & ((1u << packing->bits) - 1);
  }
  static uint16_t half(const uint8_t* from, uint64_t g) {
    uint16_t h;
    std::memcpy(&h, from + g * 2, 2);
    return h;
  }
  float number(const uint8_t* from, uint64_t g) const {
    float f;
    if (type != LINNET_F32) return type == LINNET_F16 ? f16_to_f32(half(from, g)) : bf16_to_f32(half(from, g));
    std::memcpy(&f, from + g * 4, 4);
    return f;
  }
};

// A tensor of one number.
Status one(const QuantMatrix& m, std::string_view suffix, uint32_t* out, Error* err) {
  const auto at = m.tensors.find(m.base + std::string(suffix));
  if (at == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", m.base, suffix, "' is missing");
  const SafetensorsTensor& t = at->second;
  int32_t value = -1;
  if (t.dtype == "U8" && t.bytes == 1)
    value = *t.data;
  else if (t.dtype == "I32" && t.bytes == 4)
    std::memcpy(&value, t.data, 4);
  if (value < 0)
    return fail(err, LINNET_UNSUPPORTED, t.file, ": tensor '", at->first, "': ", t.dtype, " ", shape_text(t.shape), " of ", value,
                " is no number from 0 on");
  *out = static_cast<uint32_t>(value);
  return LINNET_OK;
}

Status expect(const QuantMatrix& m, std::string_view suffix, uint32_t want, const char* what, Error* err) {
  uint32_t got = 0;
  LINNET_TRY(one(m, suffix, &got, err));
  if (got == want) return LINNET_OK;
  return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, suffix, "' is ", got, ": HQQ with ", what, " is not supported, only ", want);
}

Status read_parts(const QuantMatrix& m, const SourceTensor& t, Groups* out, Error* err) {
  const uint8_t* shape = nullptr;
  uint64_t sides[2];
  LINNET_TRY(quant_part(m, ".shape", "I64", {2}, &shape, err));
  std::memcpy(sides, shape, sizeof sides);
  if (sides[0] != t.n || sides[1] != t.k)
    return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".shape' is ", shape_text({sides[0], sides[1]}), ", config.json asks for ",
                shape_text({t.n, t.k}));
  LINNET_TRY(expect(m, ".axis", 1, "groups along the other axis", err));
  LINNET_TRY(expect(m, ".quant_scale", 0, "quantised scales", err));
  LINNET_TRY(expect(m, ".quant_zero", 0, "quantised zero points", err));
  LINNET_TRY(one(m, ".group_size", &out->group, err));
  const uint64_t values = uint64_t{t.n} * t.k, groups = out->group ? values / out->group : 0;
  if (groups == 0 || values % out->group)
    return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".group_size' is ", out->group, ", of ", t.n, " x ", t.k, " weights");
  const auto packing = m.tensors.find(m.base + ".packing");
  const std::string_view name = packing == m.tensors.end() ? std::string_view()
                                                           : std::string_view(reinterpret_cast<const char*>(packing->second.data),
                                                                              static_cast<size_t>(packing->second.bytes));
  for (const PackedAs& p : kPackings)
    if (p.name == name) out->packing = &p;
  if (!out->packing) {
    std::string shown(name.substr(0, 32));
    for (char& c : shown) c = c < ' ' || c > '~' ? '?' : c;
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, ".packing' is '", shown, "', which is not supported");
  }
  out->k = t.k;
  out->step = div_up(groups, out->packing->of_word);
  if (out->packing->bits != 3 && groups % out->packing->of_word)
    return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".W_q': ", groups, " groups are no whole bytes");
  const SafetensorsTensor& codes = m.tensors.find(m.base + ".W_q")->second;
  const uint64_t bytes = out->step * out->group * (out->packing->word_bits / 8);  // of whatever type: view_as_float
  if (codes.bytes != bytes)
    return fail(err, LINNET_BAD_FILE, codes.file, ": tensor '", m.base, ".W_q' has ", codes.bytes, " bytes, ", bytes, " hold ", t.n, " x ",
                t.k, " codes in ", name);
  out->codes = codes.data;
  const auto scale = m.tensors.find(m.base + ".scale");
  if (scale == m.tensors.end() || scale->second.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", m.base, ".scale' is missing or not in F32, F16 or BF16");
  out->type = scale->second.format;
  LINNET_TRY(quant_part(m, ".scale", scale->second.dtype, {groups, 1}, &out->scale, err));
  LINNET_TRY(quant_part(m, ".zero", scale->second.dtype, {groups, 1}, &out->zero, err));
  const float most = static_cast<float>((1u << out->packing->bits) - 1);
  for (uint64_t g = 0; g < groups; ++g) {
    const float s = out->number(out->scale, g), z = out->number(out->zero, g);
    if (!std::isfinite(s) || !std::isfinite(z) || !std::isfinite(z * s) || !std::isfinite((most - z) * s) || !std::isfinite(most * s))
      return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".scale': scale or zero point of group ", g, " is infinite or not a number");
  }
  return LINNET_OK;
}

// The format that has these codes and the 16 bits of scales and zero points, with the blocks' inputs; or none. Of fewer than four bits
// they are as exact, though not at their own size.
Format format_of(const Groups& c, uint64_t groups) {
  if (c.packing->bits > 4 || c.type == LINNET_F32 || c.group % 32 || c.k % c.group) return LINNET_FORMAT_DEFAULT;
  for (uint64_t g = 0; g < groups; ++g)
    if (Groups::half(c.scale, g) & 0x8000) return LINNET_FORMAT_DEFAULT;  // the sign says which type
  return c.group % 128 == 0 ? LINNET_HQQ4G128 : c.group % 64 == 0 ? LINNET_HQQ4G64 : LINNET_HQQ4G32;
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  auto c = std::make_shared<Groups>();
  *c = {};
  LINNET_TRY(read_parts(m, *t, c.get(), err));
  t->source_type = "HQQ";
  t->rows = [c, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint64_t i = uint64_t{first} * c->k, end = i + uint64_t{count} * c->k; i < end; ++i) {
      const uint64_t g = i / c->group;
      const float less = static_cast<float>(c->code(g, static_cast<uint32_t>(i % c->group))) - c->number(c->zero, g);
      *out++ = less * c->number(c->scale, g);
    }
    return LINNET_OK;
  };
  const Format f = format_of(*c, uint64_t{t->n} * t->k / c->group);
  if (f == LINNET_FORMAT_DEFAULT) {
    *needs_format =
        "tensor '" + t->source_name + "' is HQQ in " + std::string(c->packing->name) + " and groups of " + std::to_string(c->group) +
        ", which no packed format has (only up to 4 bits, whole groups of a multiple of 32, scales in 16 bits); ask for --weights "
        "i8g32 or another to have its values packed anew";
    return LINNET_OK;
  }
  t->own = t->gguf_format = f;
  t->gguf_blocks = [c, f, keep = m.keep](uint32_t first, uint32_t count, uint8_t* out, Error*) {
    const uint32_t block = gguf_block_values(f), bytes = gguf_block_bytes(f);
    for (uint64_t i = uint64_t{first} * c->k, end = i + uint64_t{count} * c->k; i < end; i += block, out += bytes) {
      const uint64_t g = i / c->group;
      const uint32_t from = static_cast<uint32_t>(i % c->group);
      const uint16_t of[2] = {static_cast<uint16_t>(Groups::half(c->scale, g) | (c->type == LINNET_BF16 ? 0x8000 : 0)),
                              Groups::half(c->zero, g)};
      std::memcpy(out, of, sizeof of);
      for (uint32_t j = 0; j < block / 2; ++j) {
        const uint32_t low = from + j / 16 * 32 + j % 16;
        out[4 + j] = static_cast<uint8_t>(c->code(g, low) | c->code(g, low + 16) << 4);
      }
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

}  // namespace

const QuantMethod kHqq = {"hqq", ".weight", kMarks, kParts, {}, false, config, read};

}  // namespace linnet::convert
