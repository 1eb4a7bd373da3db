#include "hf_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace linnet::convert {

float CodeScales::at(size_t i) const {
  uint16_t half_bits;
  float v;
  if (type == LINNET_F32) return std::memcpy(&v, data + i * 4, 4), v;
  std::memcpy(&half_bits, data + i * 2, 2);
  return type == LINNET_F16 ? f16_to_f32(half_bits) : bf16_to_f32(half_bits);
}

Status code_scales(const QuantMatrix& m, std::string_view suffix, const std::vector<uint64_t>& shape, CodeScales* out, Error* err) {
  const std::string name = m.base + std::string(suffix);
  const auto at = m.tensors.find(name);
  if (at == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
  const SafetensorsTensor& t = at->second;
  if (t.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, t.file, ": tensor '", name, "': dtype ", t.dtype, " is not supported, only F32, F16 and BF16");
  if (t.shape != shape)
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", name, "' has shape ", shape_text(t.shape), ", config.json asks for ",
                shape_text(shape));
  *out = {t.data, t.format, true};
  uint64_t n = 1;
  for (const uint64_t side : shape) n *= side;
  for (size_t i = 0; i < n; ++i) {
    const float v = out->at(i);
    if (!std::isfinite(v)) return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", name, "'[", i, "] is infinite or not a number");
    out->half = out->half && (t.format == LINNET_F16 || f16_to_f32(f32_to_f16(v)) == v);
  }
  return LINNET_OK;
}

Status code_groups(const QuantMatrix& m, std::string_view suffix, bool required, IntCodes* out, Error* err) {
  const std::string name = m.base + std::string(suffix);
  const uint32_t n_groups = static_cast<uint32_t>(div_up(out->k, out->group));
  if (!m.tensors.count(name)) {
    if (required && n_groups > 1)
      return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing, though config.json asks for act-order");
    return LINNET_OK;
  }
  const uint8_t* stored = nullptr;
  LINNET_TRY(quant_part(m, suffix, "I32", {out->k}, &stored, err));
  std::vector<uint32_t> group_of(out->k);
  std::memcpy(group_of.data(), stored, size_t{out->k} * 4);
  bool moved = false;
  for (uint32_t i = 0; i < out->k; ++i) {
    if (group_of[i] >= n_groups)
      return fail(err, LINNET_BAD_FILE, "tensor '", name, "': group ", group_of[i], " of input ", i, ", there are ", n_groups);
    moved |= group_of[i] != i / out->group;
  }
  if (moved) out->group_of = std::move(group_of);
  return LINNET_OK;
}

namespace {

// Inputs by their groups, those of one as they stand; nullptr where a group has not as many as its scale is for.
InputsInOrder sorted_by_group(const IntCodes& c) {
  auto order = std::make_shared<std::vector<uint32_t>>(c.k);
  std::vector<uint32_t> next(div_up(c.k, c.group));
  for (uint32_t g = 0; g < next.size(); ++g) next[g] = g * c.group;
  for (uint32_t i = 0; i < c.k; ++i) {
    uint32_t& at = next[c.group_of[i]];
    if (at == std::min(c.k, (c.group_of[i] + 1) * c.group)) return nullptr;
    (*order)[at++] = i;
  }
  return order;
}

}  // namespace

Status read_codes(const QuantMatrix& m, IntCodes from, SourceTensor* t, std::string* needs_format, Error*) {
  const auto c = std::make_shared<const IntCodes>(std::move(from));
  const uint32_t n_groups = static_cast<uint32_t>(div_up(c->k, c->group));
  t->rows = [c, keep = m.keep](uint32_t first, uint32_t count, float* out, Error*) {
    std::vector<int16_t> codes(c->k);
    for (uint32_t o = first; o < first + count; ++o, out += c->k) {
      c->codes(o, codes.data());
      for (uint32_t i = 0; i < c->k; ++i)
        out[i] = static_cast<float>(codes[i]) * c->scales.at(c->scale(o, c->group_of.empty() ? i / c->group : c->group_of[i]));
    }
    return LINNET_OK;
  };
  InputsInOrder order;
  if (!c->group_of.empty() && !(order = sorted_by_group(*c))) {
    *needs_format = "tensor '" + t->source_name + "' is in act-order with groups of unequal sizes, which no packed format has; ask for " +
                    "--weights i8g128 or another to have its values packed anew";
    return LINNET_OK;
  }
  const ExactForm form = {.bits = c->bits,
                          .zeros = c->zeros,
                          .half = c->scales.half,
                          .group = c->group < c->k ? c->group : static_cast<uint32_t>(align_up(c->k, 128))};
  t->own = exact_format(form, c->k);
  if (t->own == LINNET_FORMAT_DEFAULT || !pack_exact(t->own, form, c->k)) {
    t->own = LINNET_FORMAT_DEFAULT;
    *needs_format = "tensor '" + t->source_name + "' has groups of " + std::to_string(c->group) +
                    (c->scales.half ? " inputs" : " inputs with scales that are no f16") +
                    ", which no packed format has; ask for --weights f32, i8g128 or another to have its values packed anew";
    return LINNET_OK;
  }
  t->exact = form;
  t->order = order;
  t->exact_rows = [c, keep = m.keep, n_groups, order, name = t->source_name](uint32_t first, uint32_t count, const ExactRows& out,
                                                                             Error* err) {
    std::vector<int16_t> codes(c->k);
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t o = first + r;
      c->codes(o, codes.data());
      int8_t* const to = out.codes + size_t{r} * c->k;
      for (uint32_t i = 0; i < c->k; ++i) {
        const int16_t code = codes[order ? (*order)[i] : i];
        if (code < -128 || code > 127)
          return fail(err, LINNET_UNSUPPORTED, "tensor '", name, "': a code of output ", o, " less its zero point is ", code,
                      ", which 8 bits cannot hold: ask for --weights i8g128 or another to have its values packed anew");
        to[i] = static_cast<int8_t>(code);
      }
      for (uint32_t g = 0; g < n_groups; ++g) {
        const size_t at = size_t{r} * n_groups + g;
        const float scale = c->scales.at(c->scale(o, g));
        if (out.halves) out.halves[at] = f32_to_f16(scale);
        if (out.scales) out.scales[at] = scale;
        if (out.zeros) out.zeros[at] = c->zero(o, g);
      }
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

}  // namespace linnet::convert
