#include "model.h"

#include <cstring>
#include <new>

#include "rope.h"

namespace linnet {
namespace {

// What the layout depends on.
struct Sizes {
  uint32_t n_layers, n_pairs;
  size_t tokenizer_bytes;
};

struct Parts {
  linnet_model* model;
  Layer* layers;
  double* inv_freq;
  uint8_t* tokenizer;
};

Parts lay_out(Arena& a, const Sizes& s) {
  Parts p;
  p.model = a.take<linnet_model>("model", 1);
  p.layers = a.take<Layer>("model", s.n_layers);
  p.inv_freq = a.take<double>("model", s.n_pairs);
  p.tokenizer = a.take<uint8_t>("tokenizer", s.tokenizer_bytes);
  return p;
}

Status open_file(linnet_view file, Gguf* gguf, ModelSpec* spec, Sizes* sizes, GgufTensor* tokenizer, Error* err) {
  LINNET_TRY(gguf_open(file.data, file.bytes, "model file", gguf, err));
  LINNET_TRY(spec_read(*gguf, spec, err));
  *tokenizer = {};
  if (gguf->tensor(kTokenizerTensor, tokenizer) && tokenizer->type != kGgmlI8)
    return fail(err, LINNET_BAD_FILE, "model file: tensor '", kTokenizerTensor, "' has type ", tokenizer->type, ", not I8");
  *sizes = {spec->n_layers, spec->rope_kind == kRopeNone ? 0 : spec->rope_dim / 2, static_cast<size_t>(tokenizer->bytes)};
  return LINNET_OK;
}

struct Loader {
  const Gguf& file;
  linnet_model* model;
  Error* err;
  uint64_t format_bytes[kMaxFormat + 1] = {};

  Status matrix(Role role, uint32_t layer, Matrix* out) {
    LINNET_TRY(find_matrix(file, role, layer, model->spec, out, err));
    if (!out->panels) return LINNET_OK;
    const uint64_t weights = uint64_t{out->n} * out->k, bytes = packed_bytes(out->format, out->n, out->k);
    model->n_params += weights;
    model->weight_bytes += bytes;
    format_bytes[out->format] += bytes;
    if (role != kTokenEmbd && role != kOutput) {
      model->decode_bytes += bytes;
      model->matrix_ops += 2 * weights;
    }
    return LINNET_OK;
  }
  Status vector(Role role, uint32_t layer, const float** out) {
    LINNET_TRY(find_vector(file, role, layer, model->spec, out, err));
    if (*out) {
      const uint64_t n = kRoles[role].n(model->spec);
      model->n_params += n;
      model->weight_bytes += align_up(n * sizeof(float), 64);
    }
    return LINNET_OK;
  }
};

uint32_t x_group(const Matrix& m) { return format_row(m.format).x_group; }

Status load_layer(Loader& in, uint32_t i, Layer* l) {
  LINNET_TRY(in.vector(kAttnNorm, i, &l->attn_norm));
  LINNET_TRY(in.matrix(kAttnQ, i, &l->q));
  LINNET_TRY(in.matrix(kAttnK, i, &l->k));
  LINNET_TRY(in.matrix(kAttnV, i, &l->v));
  LINNET_TRY(in.matrix(kAttnOut, i, &l->out));
  LINNET_TRY(in.vector(kAttnQBias, i, &l->q_bias));
  LINNET_TRY(in.vector(kAttnKBias, i, &l->k_bias));
  LINNET_TRY(in.vector(kAttnVBias, i, &l->v_bias));
  LINNET_TRY(in.vector(kAttnOutBias, i, &l->out_bias));
  LINNET_TRY(in.vector(kAttnQNorm, i, &l->q_norm));
  LINNET_TRY(in.vector(kAttnKNorm, i, &l->k_norm));
  LINNET_TRY(in.vector(kFfnNorm, i, &l->ffn_norm));
  LINNET_TRY(in.matrix(kFfnGate, i, &l->gate));
  LINNET_TRY(in.matrix(kFfnUp, i, &l->up));
  LINNET_TRY(in.matrix(kFfnDown, i, &l->down));
  LINNET_TRY(in.vector(kFfnGateBias, i, &l->gate_bias));
  LINNET_TRY(in.vector(kFfnUpBias, i, &l->up_bias));
  LINNET_TRY(in.vector(kFfnDownBias, i, &l->down_bias));
  // Matrices that read the same rows share one quantisation of them.
  if (x_group(l->q) != x_group(l->k) || x_group(l->q) != x_group(l->v))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": q, k and v have formats of different activation groups");
  if (x_group(l->gate) != x_group(l->up))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": gate and up have formats of different activation groups");
  return LINNET_OK;
}

Status load_weights(Loader& in) {
  linnet_model* m = in.model;
  if (m->spec.n_layers == 0) return LINNET_OK;  // only a vocabulary
  LINNET_TRY(in.matrix(kTokenEmbd, 0, &m->embedding));
  LINNET_TRY(in.matrix(kOutput, 0, &m->head));
  if (m->spec.tied) m->head = m->embedding;
  LINNET_TRY(in.vector(kOutputNorm, 0, &m->output_norm));
  const float* freq_factors = nullptr;
  LINNET_TRY(in.vector(kRopeFreqs, 0, &freq_factors));
  for (uint32_t i = 0; i < m->spec.n_layers; ++i) LINNET_TRY(load_layer(in, i, &m->layers[i]));
  for (uint32_t i = 0; freq_factors && i < m->spec.rope_dim / 2; ++i)
    if (!(freq_factors[i] > 1e-6f && freq_factors[i] < 1e6f)) return fail(in.err, LINNET_BAD_FILE, "model file: rope_freqs.weight[", i, "] is out of range");
  if (m->spec.rope_kind != kRopeNone) rope_frequencies(m->spec, freq_factors, m->inv_freq);
  m->head_ops = 2 * uint64_t{m->head.n} * m->head.k;
  m->decode_bytes += packed_bytes(m->head.format, m->head.n, m->head.k);
  m->main_format = LINNET_F32;
  for (uint32_t f = 1; f <= kMaxFormat; ++f)
    if (in.format_bytes[f] > in.format_bytes[m->main_format]) m->main_format = static_cast<Format>(f);
  return LINNET_OK;
}

void copy_name(const Gguf& file, char (&out)[128]) {
  GgufValue v;
  out[0] = '\0';
  if (!file.key("general.name", &v) || v.type != kGgufString) return;
  size_t n = v.text.size() < sizeof out - 1 ? v.text.size() : sizeof out - 1;
  while (n && n < v.text.size() && (static_cast<unsigned char>(v.text[n]) & 0xC0) == 0x80) --n;  // not inside a character
  std::memcpy(out, v.text.data(), n);
  out[n] = '\0';
}

}  // namespace

Status model_need(linnet_view file, const linnet_profile& profile, linnet_need* out, Error* err) {
  Gguf gguf;
  ModelSpec spec;
  Sizes sizes;
  GgufTensor tokenizer;
  Kernels kernels;
  LINNET_TRY(kernels_resolve(profile.isa, profile.isa_mask, &kernels, err));
  LINNET_TRY(open_file(file, &gguf, &spec, &sizes, &tokenizer, err));
  Arena arena;
  lay_out(arena, sizes);
  *out = {arena.used(), kAlign};
  return LINNET_OK;
}

Status model_init(linnet_model** out, void* mem, size_t bytes, linnet_view file, const linnet_profile& profile, Error* err) {
  Gguf gguf;
  ModelSpec spec;
  Sizes sizes;
  GgufTensor tokenizer;
  LINNET_TRY(open_file(file, &gguf, &spec, &sizes, &tokenizer, err));
  Arena count, arena(mem, bytes);
  lay_out(count, sizes);
  if (count.used() > bytes) return fail(err, LINNET_TOO_SMALL, "model: memory of ", bytes, " bytes, needs ", count.used());
  const Parts p = lay_out(arena, sizes);
  linnet_model* m = new (p.model) linnet_model{};
  m->spec = spec;
  m->ops = &cpu_ops;
  m->layers = p.layers;
  m->inv_freq = p.inv_freq;
  m->arena = arena;
  for (uint32_t i = 0; i < spec.n_layers; ++i) new (&m->layers[i]) Layer{};
  LINNET_TRY(kernels_resolve(profile.isa, profile.isa_mask, &m->kernels, err));
  Loader loader{gguf, m, err};
  LINNET_TRY(load_weights(loader));
  copy_name(gguf, m->name);
  LINNET_TRY(chat_read(gguf, &m->chat, err));
  if (sizes.tokenizer_bytes) {
    m->tokenizer_blob = p.tokenizer;
    std::memcpy(m->tokenizer_blob, tokenizer.data, sizes.tokenizer_bytes);  // copied first, then checked: the file may change under us
    LINNET_TRY(tokenizer_open(m->tokenizer_blob, sizes.tokenizer_bytes, spec.n_vocab, &m->tokenizer, err));
  }
  *out = m;
  return LINNET_OK;
}

}  // namespace linnet
