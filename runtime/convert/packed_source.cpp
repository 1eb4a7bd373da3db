// A packed file as a Source: every weight with the value that it has there.
#include <algorithm>
#include <cstring>

#include "../../kernels_cpu/pack.h"
#include "source.h"

namespace linnet::convert {
namespace {

void read_matrix(const Matrix& m, SourceTensor* t) {
  t->source_type = format_name(m.format);
  t->rows = [m](uint32_t first, uint32_t count, float* to, Error*) {
    for (uint32_t i = first; i < first + count; ++i, to += m.k) unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, to);
    return LINNET_OK;
  };
  if (!gguf_block_bytes(m.format) || m.k % gguf_block_values(m.format)) return;
  t->gguf_format = m.format;
  const auto outer = [m](uint32_t first, uint32_t count, float* to) {
    for (uint32_t i = first; i < first + count; ++i, to += 2) unpack_outer(m.scales, m.format, m.k, i, to);
  };
  float two[2];
  for (uint32_t i = 0; format_row(m.format).scale.outer && !t->outer && i < m.n; ++i)
    if (outer(i, 1, two); two[0] != 1 || two[1] != 0) t->outer = outer;
  t->gguf_blocks = [m, name = t->source_name](uint32_t first, uint32_t count, uint8_t* to, Error* err) {
    const uint32_t blocks = m.k / gguf_block_values(m.format);
    for (uint32_t i = first; i < first + count; ++i, to += size_t{blocks} * gguf_block_bytes(m.format)) {
      unpack_gguf_blocks(m.panels, m.scales, m.format, m.k, i, to);
      if (!gguf_blocks_finite(m.format, to, blocks))
        return fail(err, LINNET_BAD_FILE, "tensor '", name, "': a scale of row ", i, " is infinite or not a number");
    }
    return LINNET_OK;
  };
}

// Inputs in an order of their own go back to where rows have them.
Status restore_inputs(const Gguf& g, Source* source, Error* err) {
  static constexpr struct {
    Role order, reader;
  } kReaders[] = {{kAttnInOrder, kAttnQ},    {kAttnInOrder, kAttnK},  {kAttnInOrder, kAttnV}, {kAttnInOrder, kAttnGate},
                  {kAttnOutOrder, kAttnOut}, {kFfnInOrder, kFfnGate}, {kFfnInOrder, kFfnUp}};
  ModelSpec& spec = source->spec;
  for (SourceTensor& t : source->tensors)
    for (const auto& [role, reader] : kReaders) {
      const float* order = nullptr;
      if (t.role == reader) LINNET_TRY(find_order(g, role, t.layer, spec, &order, err));
      if (!order) continue;
      std::vector<uint32_t> place(t.k);
      for (uint32_t j = 0; j < t.k; ++j) place[static_cast<uint32_t>(order[j])] = j;
      choose_inputs(&t, std::make_shared<std::vector<uint32_t>>(std::move(place)));
    }
  std::erase_if(source->tensors, [](const SourceTensor& t) {
    return std::any_of(std::begin(kReaders), std::end(kReaders), [&t](const auto& r) { return t.role == r.order; });
  });
  for (uint32_t f = 0; f < kLayerFieldCount; ++f)
    if (kLayerFields[f].offset == offsetof(LayerSpec, orders)) spec.layer_values[f] = nullptr;
  return LINNET_OK;
}

Status add_tensor(const Gguf& g, Role role, uint32_t layer, Source* out, Error* err) {
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  SourceTensor t;
  t.role = role, t.layer = layer, t.n = role_n(role, layer, out->spec), t.k = 1;
  t.source_name = name;
  if (role_row(role).matrix()) {
    Matrix m;
    LINNET_TRY(find_matrix(g, role, layer, out->spec, &m, err));
    t.k = m.k;
    read_matrix(m, &t);
  } else {
    const float* values = nullptr;
    LINNET_TRY(find_vector(g, role, layer, out->spec, &values, err));
    t.source_type = "f32";
    t.rows = [values](uint32_t first, uint32_t count, float* to, Error*) {
      std::memcpy(to, values + first, count * sizeof *to);
      return LINNET_OK;
    };
  }
  out->tensors.push_back(std::move(t));
  return LINNET_OK;
}

// What lies behind the model's layers.
Status add_ahead_layers(const Gguf& g, Source* out, Error* err) {
  const std::string key = std::string(gguf_architecture(*architecture_by_hf(out->spec.architecture), out->spec)) + ".nextn_predict_layers";
  GgufValue v;
  if (!g.key(key, &v) || v.type != kGgufU32 || v.u == 0) return LINNET_OK;
  LINNET_TRY(add_ahead(out, static_cast<uint32_t>(v.u), g.label, key, err));
  Source* const ahead = out->ahead.get();
  for (const AheadPart& part : kAheadParts) {
    char name[kRoleNameBytes];
    role_name(part.role, out->spec.n_layers, name);
    GgufTensor t;
    if (g.tensor((role_row(part.role).matrix() ? "linnet." : "") + std::string(name), &t)) ahead->spec.ahead |= part.bit;
  }
  return each_ahead(ahead->spec, [&](Role role, uint32_t layer) { return add_tensor(g, role, layer, ahead, err); });
}

// What spec_read leaves in the file.
Status own_layers(Source* source, Error* err, PathName label) {
  ModelSpec& s = source->spec;
  const auto values = std::make_shared<std::vector<uint8_t>>(kLayerFieldCount * size_t{s.n_layers} * sizeof(uint32_t));
  uint8_t* to = values->data();
  for (const uint8_t*& of : s.layer_values) {
    if (!of) continue;
    std::memcpy(to, of, size_t{s.n_layers} * sizeof(uint32_t));
    of = to;
    to += size_t{s.n_layers} * sizeof(uint32_t);
  }
  source->layers = values;
  return spec_check(s, err, label);
}

}  // namespace

void prompts_from_gguf(const Gguf& file, EmbedPrompts* out) {
  constexpr std::string_view kPrefix = kEmbedPromptPrefix;
  GgufValue v;
  if (file.key(kEmbedDefaultPrompt, &v) && v.type == kGgufString) out->by_default = v.text;
  for (uint32_t i = 0; i < file.n_keys && out->texts.size() < kMaxEmbedPrompts; ++i) {
    std::string_view key;
    file.key_entry(i, &key, &v);
    if (key.starts_with(kPrefix) && v.type == kGgufString && embed_prompt_fits(key.substr(kPrefix.size()), v.text))
      out->texts.emplace_back(key.substr(kPrefix.size()), v.text);
  }
}

Status source_from_packed(const std::string& path, Source* out, bool* packed, Error* err) {
  *out = {};
  struct File {
    std::string path;
    Mapped mapped;
    Gguf gguf;
  };
  const auto file = std::make_shared<File>();
  out->keep = file;
  file->path = path;
  LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &file->mapped.view, err));
  const Gguf& g = file->gguf;
  LINNET_TRY(gguf_open(file->mapped.view.data, file->mapped.view.bytes, file->path.c_str(), &file->gguf, err));
  *packed = is_packed(g);
  if (!*packed) return LINNET_OK;
  ModelSpec& spec = out->spec;
  LINNET_TRY(spec_read(g, &spec, err));
  LINNET_TRY(own_layers(out, err, g.label));
  if (spec.n_layers && !architecture_by_hf(spec.architecture))
    return fail(err, LINNET_UNSUPPORTED, g.label, ": architecture '", spec.architecture, "' is not supported");
  if (spec.n_layers) LINNET_TRY(each_tensor(spec, [&](Role role, uint32_t layer) { return add_tensor(g, role, layer, out, err); }));
  LINNET_TRY(restore_inputs(g, out, err));
  if (spec.n_layers) LINNET_TRY(add_ahead_layers(g, out, err));
  GgufValue v;
  if (g.key("general.name", &v) && v.type == kGgufString) out->name = v.text;
  templates_from_gguf(g, &out->templates);
  LINNET_TRY(chat_read(g, &out->chat, err));
  prompts_from_gguf(g, &out->prompts);
  GgufTensor tables;
  if (!g.tensor(kTokenizerTensor, &tables)) return LINNET_OK;
  LINNET_TRY(tokenizer_keys(g, &out->tokenizer, err));
  out->tokenizer.bytes.assign(tables.data, tables.data + tables.bytes);
  return LINNET_OK;
}

}  // namespace linnet::convert
