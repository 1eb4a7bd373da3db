#include "model.h"

#include <cstring>
#include <new>

#include "../kernels_cpu/measure.h"
#include "../platform/file.h"
#include "layers/loader.h"
#include "lora.h"

namespace linnet {

// Tells models apart by what decides their numbers. Weights are mapped and may be many gigabytes, so of each tensor only both ends are
// read: 8 KiB are enough to know another training run or another format by, and take no time.
struct ModelHash {
  static constexpr size_t kEnd = 4096;
  uint64_t h = 0x6C696E6E65743031u;

  void word(uint64_t w) {  // one-to-one in w and in h: a difference is never lost at its own step
    h = (h ^ w) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  void bytes(const void* data, size_t n) {
    const auto* p = static_cast<const uint8_t*>(data);
    word(n);
    for (size_t i = 0; i < n; i += 8) {
      uint64_t w = 0;
      std::memcpy(&w, p + i, n - i < 8 ? n - i : 8);
      word(w);
    }
  }
  // Fields that are 0 do not count: those of newer layout versions are 0 in the files of older ones, whose hashes must stay.
  void spec(const ModelSpec& s) {
    for (size_t i = 0; i < kSpecFieldCount; ++i) {
      const SpecField& f = kSpecFields[i];
      const char* at = reinterpret_cast<const char*>(&s) + f.offset;
      uint64_t value = 0;
      if (f.type != SpecType::kText) std::memcpy(&value, at, f.type == SpecType::kU32 ? sizeof(uint32_t) : sizeof(double));
      if (f.type != SpecType::kText && value == 0) continue;
      bytes(f.name, std::strlen(f.name));
      if (f.type == SpecType::kText)
        bytes(at, std::strlen(at));
      else
        word(value);
    }
    for (uint32_t f = 0; f < kLayerFieldCount; ++f)
      if (s.layer_values[f]) {
        bytes(kLayerFields[f].name, std::strlen(kLayerFields[f].name));
        bytes(s.layer_values[f], size_t{s.n_layers} * sizeof(uint32_t));
      }
  }
  // By name, not by number: those of the roles may change. Called for 23 roles: a copy for each would be 15 KB of code.
  [[gnu::noinline]] void tensor(Role role, uint32_t layer, Format format, uint64_t n, uint64_t k, const void* data, uint64_t size) {
    bytes(role_row(role).name, std::strlen(role_row(role).name));
    for (const uint64_t w : {uint64_t{layer}, uint64_t{format}, n, k, size}) word(w);
    const size_t end = size < kEnd ? static_cast<size_t>(size) : kEnd;
    bytes(data, end);
    bytes(static_cast<const uint8_t*>(data) + size - end, end);
  }
};

Status Loader::find(Role role, uint32_t layer, Matrix* out) {
  LINNET_TRY(find_matrix(file, role, layer, model->spec, out, err));
  if (!out->panels) return LINNET_OK;
  const ModelSpec& spec = model->spec;
  out->slot = lora_slot(role, layer, spec);
  const bool experts = role_row(role).of_experts();  // of those a token reads only some
  const uint64_t weights = (experts ? uint64_t{spec.n_experts} * expert_rows(role, spec) : out->n) * out->k,
                 bytes = packed_bytes(out->format, out->n, out->k);
  model->n_params += weights;
  model->weight_bytes += bytes;
  if (role == kLayerEmbd) model->layer_embd_bytes += bytes;
  hash.tensor(role, layer, out->format, out->n, out->k, out->panels, bytes);
  if (role == kDense1 || role == kDense2) return backend.matrix(to, out, err);  // no pass reads them
  const Part part = role_row(role).part;
  part_bytes[part] += bytes;
  part_weights[part] += weights;
  if (part != kPartEmbedding && role != kOutput) {
    format_bytes[out->format] += bytes;
    model->decode_bytes += experts ? bytes / spec.n_experts * spec.n_active : bytes;
    model->matrix_ops += 2 * (experts ? weights / spec.n_experts * spec.n_active : weights);
  }
  return LINNET_OK;
}
Status Loader::matrix(Role role, uint32_t layer, Matrix* out, bool for_host) {
  LINNET_TRY(find(role, layer, out));
  return out->panels && !for_host ? backend.matrix(to, out, err) : LINNET_OK;
}
Status Loader::matrices(Role role, uint32_t count, Matrix* out) {
  Matrix all;
  LINNET_TRY(find(role, 0, &all));
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = all;
    if (!all.panels) continue;
    out[i].n = all.n / count;
    const size_t panel = size_t{i} * out[i].n / kPanel;
    out[i].panels = static_cast<const uint8_t*>(all.panels) + panel * static_cast<size_t>(panel_bytes(all.format, all.k));
    if (all.scales)
      out[i].scales = static_cast<const uint8_t*>(all.scales) + panel * static_cast<size_t>(panel_scale_bytes(all.format, all.k));
    LINNET_TRY(backend.matrix(to, &out[i], err));
  }
  return LINNET_OK;
}
Status Loader::vector(Role role, uint32_t layer, const float** out, bool for_host) {
  LINNET_TRY(find_vector(file, role, layer, model->spec, out, err));
  if (*out) {
    const uint64_t n = role_n(role, layer, model->spec);
    model->n_params += n;
    model->weight_bytes += align_up(n * sizeof(float), 64);
    hash.tensor(role, layer, LINNET_F32, n, 1, *out, n * sizeof(float));
    if (!for_host) return backend.vector(to, out, padded_n(n), err);
  }
  return LINNET_OK;
}
Status Loader::order(Role role, uint32_t layer, const float** out) {
  LINNET_TRY(find_order(file, role, layer, model->spec, out, err));
  if (*out && !backend.ops->reorder)
    return fail(err, LINNET_UNSUPPORTED, backend.name, ": layer ", layer,
                ": inputs in an order of their own (act-order) are for CPUs alone: convert with --weights i8g128 or another");
  return vector(role, layer, out);
}
Status Loader::norm(Role weight, Role bias, uint32_t layer, Norm* out) {
  out->kind = model->spec.norm;
  out->eps = static_cast<float>(model->spec.norm_eps);
  LINNET_TRY(vector(weight, layer, &out->weight));
  return vector(bias, layer, &out->bias);
}

namespace {

// What the layout depends on.
struct Sizes {
  uint32_t n_layers;
  size_t tensors_bytes;  // of all layers
  size_t values_bytes;   // of what the file says of all layers
  size_t tokenizer_bytes;
  const Backend* backend;
  uint32_t n_matrices;  // matrix_bytes each
};

struct Parts {
  linnet_model* model;
  Layer* layers;
  uint8_t *values, *tensors, *tokenizer, *handle, *matrices;
};

size_t mixer_bytes(const LayerSpec& l) { return static_cast<size_t>(align_up(kMixers[l.mixer]->tensors_bytes, kAlign)); }
size_t feed_forward_bytes(const LayerSpec& l) {
  return static_cast<size_t>(align_up(kFeedForwards[l.feed_forward]->tensors_bytes, kAlign));
}

Parts lay_out(Arena& a, const Sizes& s) {
  Parts p;
  p.values = a.take<uint8_t>("model", s.values_bytes);  // before all else: how much that takes depends on them
  p.model = a.take<linnet_model>("model", 1);
  p.layers = a.take<Layer>("model", s.n_layers);
  p.tensors = a.take<uint8_t>("model", s.tensors_bytes);
  p.tokenizer = a.take<uint8_t>("tokenizer", s.tokenizer_bytes);
  p.handle = a.take<uint8_t>("model", s.backend->model_bytes);
  p.matrices = a.take<uint8_t>("model", s.backend->matrix_bytes * s.n_matrices);
  return p;
}

// Sizes of what layers have.
void count_layers(const ModelSpec& spec, Sizes* sizes) {
  sizes->n_layers = spec.n_layers;
  sizes->tensors_bytes = 0;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const LayerSpec l = layer_spec(spec, i);
    sizes->tensors_bytes += mixer_bytes(l) + feed_forward_bytes(l);
  }
}

Status open_file(linnet_view file, Gguf* gguf, ModelSpec* spec, Sizes* sizes, GgufTensor* tokenizer, Error* err) {
  LINNET_TRY(gguf_open(file.data, file.bytes, "model file", gguf, err));
  LINNET_TRY(spec_read(*gguf, spec, err));
  *tokenizer = {};
  if (gguf->tensor(kTokenizerTensor, tokenizer) && tokenizer->type != kGgmlI8)
    return fail(err, LINNET_BAD_FILE, "model file: tensor '", kTokenizerTensor, "' has type ", tokenizer->type, ", not I8");
  sizes->values_bytes = 0;
  for (const uint8_t* values : spec->layer_values) sizes->values_bytes += values ? size_t{spec->n_layers} * sizeof(uint32_t) : 0;
  sizes->tokenizer_bytes = static_cast<size_t>(tokenizer->bytes);
  return LINNET_OK;
}

// Factors of RoPE frequencies.
Status factors(Loader& in, Role role, const float** out) {
  LINNET_TRY(in.vector(role, 0, out, true));
  for (uint32_t i = 0; *out && i < in.model->spec.rope_dim / 2; ++i)
    if (!((*out)[i] > 1e-6f && (*out)[i] < 1e6f))
      return fail(in.err, LINNET_BAD_FILE, "model file: ", role_row(role).name, "[", i, "] is out of range");
  return LINNET_OK;
}

Status load_layer(Loader& in, uint32_t i, Layer* l) {
  LINNET_TRY(in.norm(kAttnNorm, kAttnNormBias, i, &l->attn_norm));
  LINNET_TRY(in.norm(kAttnPostNorm, kAttnPostNormBias, i, &l->attn_post_norm));
  LINNET_TRY(kMixers[l->spec.mixer]->load(in, i, l->spec, l->mixer));
  LINNET_TRY(in.norm(kFfnNorm, kFfnNormBias, i, &l->ffn_norm));
  LINNET_TRY(in.norm(kFfnPostNorm, kFfnPostNormBias, i, &l->ffn_post_norm));
  if (in.model->spec.residual == kResidualParallel) l->ffn_norm = l->attn_norm;
  LINNET_TRY(kFeedForwards[l->spec.feed_forward]->load(in, i, l->spec, l->feed_forward));
  LINNET_TRY(load_streams(in, i, &l->streams));
  return load_layer_input(in, i, &l->input);
}

Status load_weights(Loader& in) {
  linnet_model* m = in.model;
  in.hash.spec(m->spec);
  if (m->spec.n_layers == 0) return LINNET_OK;  // only a vocabulary
  LINNET_TRY(in.matrix(kTokenEmbd, 0, &m->embedding));
  LINNET_TRY(in.matrix(kOutput, 0, &m->head));
  if (m->spec.tied) m->head = m->embedding;
  m->head.slot = lora_slot(kOutput, 0, m->spec);  // what an adapter adds to the head, the embedding does not have
  LINNET_TRY(in.norm(kOutputNorm, kOutputNormBias, 0, &m->output_norm));
  LINNET_TRY(in.matrix(kPosEmbd, 0, &m->positions));
  LINNET_TRY(in.norm(kEmbdNorm, kEmbdNormBias, 0, &m->embd_norm));
  LINNET_TRY(in.matrix(kLayerEmbd, 0, &m->layer_embd, !in.backend.ops->embed_layers));
  LINNET_TRY(in.matrix(kLayerEmbdProj, 0, &m->layer_embd_proj));
  LINNET_TRY(in.vector(kLayerEmbdNorm, 0, &m->layer_embd_norm));
  LINNET_TRY(in.matrices(kStreamsIn, kStreams - 1, m->streams_in));
  LINNET_TRY(in.matrices(kStreamsOut, kStreams - 1, m->streams_out));
  LINNET_TRY(in.matrix(kEmbdIn, 0, &m->embd_in));
  LINNET_TRY(in.matrix(kEmbdOut, 0, &m->embd_out));
  LINNET_TRY(in.matrix(kDense1, 0, &m->dense[0]));
  LINNET_TRY(in.matrix(kDense2, 0, &m->dense[1]));
  LINNET_TRY(in.vector(kDense1Bias, 0, &m->dense_bias[0]));
  LINNET_TRY(in.vector(kDense2Bias, 0, &m->dense_bias[1]));
  LINNET_TRY(in.vector(kOutputBias, 0, &m->head_bias));
  LINNET_TRY(in.vector(kAlibi, 0, &m->alibi));
  LINNET_TRY(factors(in, kRopeFreqs, &m->rope.all));
  LINNET_TRY(factors(in, kRopeShort, &m->rope.up_to_original));
  LINNET_TRY(factors(in, kRopeLong, &m->rope.beyond));
  for (uint32_t i = 0; i < m->spec.n_layers; ++i) {
    alignas(kAlign) uint8_t room[2][kMostTensorsBytes];
    Layer counted{layer_spec(m->spec, i), {}, {}, {}, {}, room[0], room[1], {}, {}};
    LINNET_TRY(load_layer(in, i, m->layers ? &m->layers[i] : &counted));
  }
  m->head_ops = 2 * uint64_t{m->head.n} * m->head.k;
  if (m->head.panels) m->decode_bytes += packed_bytes(m->head.format, m->head.n, m->head.k);
  m->main_format = LINNET_F32;
  for (uint32_t f = 1; f <= kMaxFormat; ++f)
    if (in.format_bytes[f] > in.format_bytes[m->main_format]) m->main_format = static_cast<Format>(f);
  for (uint32_t p = 0; p < kPartCount; ++p)
    m->bits[p] = in.part_weights[p] ? 8.0 * static_cast<double>(in.part_bytes[p]) / static_cast<double>(in.part_weights[p]) : 0.0;
  if (m->spec.tied) m->bits[kPartHead] = m->bits[kPartEmbedding];
  return LINNET_OK;
}

void copy_name(const Gguf& file, char (&out)[128]) {
  GgufValue v;
  out[0] = '\0';
  if (file.key("general.name", &v) && v.type == kGgufString) copy_text(v.text, out);
}

// How adapters fit the file.
void read_adapters(const Gguf& file, linnet_model* m) {
  GgufValue v, pairs;
  if (!file.key(kLoraExponentsKey, &v) || !file.key(kLoraPairsKey, &pairs)) return;
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->spec.n_layers; ++i) {
    const LayerSpec l = layer_spec(m->spec, i);
    n += uint64_t{l.n_kv_heads} * l.head_dim;
  }
  if (v.type != kGgufArray || v.array_type != kGgufU8 || (v.count && v.count != n) || pairs.type != kGgufU32 ||
      pairs.u > (kLoraPairs | kLoraTiled))
    return;  // not of these layers: adapters are refused
  if (v.count) m->key_exponents = reinterpret_cast<const uint8_t*>(v.raw.data());
  m->gguf_orders = static_cast<uint32_t>(pairs.u);
  if (!file.key("general.architecture", &v) || v.type != kGgufString || v.text.size() >= sizeof m->family) return;
  std::memcpy(m->family, v.text.data(), v.text.size());
  m->adapters = true;
}

}  // namespace

void copy_text(std::string_view text, char (&out)[128]) {
  size_t n = text.size() < sizeof out - 1 ? text.size() : sizeof out - 1;
  while (n && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;  // not inside a character
  std::memcpy(out, text.data(), n);
  out[n] = '\0';
}

Status check_profile(const linnet_profile& p, Error* err) {
  const struct {
    const char* name;
    uint64_t value, max;
  } fields[] = {{"n_threads", p.n_threads, 256},
                {"threads", p.threads, LINNET_THREADS_APP},
                {"wait", p.wait, LINNET_WAIT_SLEEP},
                {"cores", p.cores, LINNET_CORES_LITTLE},
                {"spin", p.spin, 1u << 30},
                {"n_context", p.n_context, 1u << 24},
                {"n_chunk", p.n_chunk, 4096},
                {"when_full", p.when_full, LINNET_FULL_SNAPKV},
                {"huge_pages", p.huge_pages, LINNET_SWITCH_OFF},
                {"prefill", p.prefill, LINNET_PREFILL_MEASURED},
                {"battery", p.battery, LINNET_BATTERY_SAVE}};
  for (const auto& f : fields)
    if (f.value > f.max) return fail(err, LINNET_BAD_PROFILE, "profile: ", f.name, " is ", f.value, ", at most ", f.max);
  if (!isa_name(p.isa)) return fail(err, LINNET_BAD_PROFILE, "profile: isa is ", p.isa, ", there is no such tier");
  for (const uint32_t* f : {&p.k_format, &p.v_format})
    if (*f && !format_kv(*f))
      return fail(err, LINNET_BAD_PROFILE, "profile: ", f == &p.k_format ? "k_format" : "v_format", " is ", *f, ", none of ",
                  kKvFormatNames);
  LINNET_TRY(backend_profile(p, err));
  if (p.priority < -20 || p.priority > 19) return fail(err, LINNET_BAD_PROFILE, "profile: priority is ", p.priority, ", must be -20..19");
  return LINNET_OK;
}

// What finds the weights for a backend.
struct Finder {
  const Gguf& gguf;
  const Backend& backend;
  linnet_model* model;
  Error* err;

  static Status load(void* arg, WeightsTo& to) {
    const Finder& f = *static_cast<const Finder*>(arg);
    ModelHash hash;
    Loader loader{f.gguf, f.model, f.err, hash, f.backend, to};
    LINNET_TRY(load_weights(loader));
    f.model->hash = hash.h;
    return LINNET_OK;
  }
};

// What computes, and what the weights take of memory that is not the app's.
static Status count_weights(const Gguf& gguf, const ModelSpec& spec, const linnet_profile& profile, Sizes* sizes, ModelFootprint* memory,
                            Error* err) {
  LINNET_TRY(backend_choose(profile, &sizes->backend, err));
  for (const Backend* other = backend_otherwise(profile, sizes->backend);; other = nullptr) {
    linnet_model counted{};
    counted.spec = spec;
    Finder finder = {gguf, *sizes->backend, &counted, other ? nullptr : err};
    const Status status = sizes->backend->count(profile, Finder::load, &finder, memory, &sizes->n_matrices, finder.err);
    if (status == LINNET_OK || !other) return status;
    sizes->backend = other;
    sizes->n_matrices = 0;
    memory->own = {};
    memory->blocks.n = 0;
  }
}

Status model_need(linnet_view file, const linnet_profile& profile, linnet_need* out, Error* err) {
  Gguf gguf;
  ModelSpec spec;
  Sizes sizes{};
  GgufTensor tokenizer;
  Kernels kernels;
  LINNET_TRY(check_profile(profile, err));
  LINNET_TRY(profile_kernels(profile, false, &kernels, err));
  LINNET_TRY(open_file(file, &gguf, &spec, &sizes, &tokenizer, err));
  count_layers(spec, &sizes);
  ModelFootprint memory;
  LINNET_TRY(count_weights(gguf, spec, profile, &sizes, &memory, err));
  lay_out(memory.host, sizes);
  *out = {sizeof *out, kAlign, memory.host.used(), static_cast<size_t>(memory.blocks.total())};
  return LINNET_OK;
}

void model_fini(linnet_model& m) { m.backend->unload(m.handle); }

Status model_init(linnet_model** out, void* mem, size_t bytes, linnet_view file, const linnet_profile& profile, Error* err) {
  Gguf gguf;
  ModelSpec spec;
  Sizes sizes{};
  GgufTensor tokenizer;
  LINNET_TRY(check_profile(profile, err));
  LINNET_TRY(open_file(file, &gguf, &spec, &sizes, &tokenizer, err));
  if (sizes.values_bytes && sizes.values_bytes <= bytes) {  // copied first, then checked and counted: the file may change under us
    auto* values = static_cast<uint8_t*>(mem);
    for (const uint8_t*& of : spec.layer_values) {
      if (!of) continue;
      std::memcpy(values, of, size_t{spec.n_layers} * sizeof(uint32_t));
      of = values;
      values += size_t{spec.n_layers} * sizeof(uint32_t);
    }
    LINNET_TRY(spec_check(spec, err, "model file"));
  }
  count_layers(spec, &sizes);
  ModelFootprint memory;
  LINNET_TRY(count_weights(gguf, spec, profile, &sizes, &memory, err));
  lay_out(memory.host, sizes);
  if (const size_t used = memory.host.used(); used > bytes)
    return fail(err, LINNET_TOO_SMALL, "model: memory of ", bytes, " bytes, needs ", used);
  Arena arena(mem, bytes);
  memory_huge(mem, bytes, profile.huge_pages);
  const Parts p = lay_out(arena, sizes);
  linnet_model* m = new (p.model) linnet_model{};
  m->backend = sizes.backend;
  m->handle = p.handle;
  m->layers = p.layers;
  m->arena = arena;
  m->spec = spec;
  uint8_t* tensors = p.tensors;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const LayerSpec l = layer_spec(spec, i);
    new (&m->layers[i]) Layer{l, {}, {}, {}, {}, tensors, tensors + mixer_bytes(l), {}};
    tensors += mixer_bytes(l) + feed_forward_bytes(l);
  }
  m->profile = profile;
  LINNET_TRY(profile_kernels(profile, true, &m->kernels, err));
  copy_name(gguf, m->name);
  read_adapters(gguf, m);
  LINNET_TRY(chat_read(gguf, &m->chat, err));
  if (sizes.tokenizer_bytes) {
    m->tokenizer_blob = p.tokenizer;
    std::memcpy(m->tokenizer_blob, tokenizer.data, sizes.tokenizer_bytes);  // copied first, then checked: the file may change under us
    LINNET_TRY(tokenizer_open(m->tokenizer_blob, sizes.tokenizer_bytes, spec.n_vocab, &m->tokenizer, err));
  }
  Finder finder = {gguf, *m->backend, m, err};
  const size_t at = static_cast<size_t>(gguf.data_offset);
  LINNET_TRY(m->backend->load(m->handle, p.matrices, profile, gguf.data + at, gguf.bytes - at, Finder::load, &finder, &memory,
                              err));  // last: what fails after it would have to give memory back
  m->own = memory.own;
  if (profile.memory_bytes && resident_bytes(*m) + arena.used() > profile.memory_bytes) {
    model_fini(*m);
    return fail(err, LINNET_TOO_SMALL, "model: ", resident_bytes(*m), " bytes of weights and ", arena.used(),
                " of its own are more than the profile's memory cap of ", profile.memory_bytes, "; a format of fewer bits may fit");
  }
  *out = m;
  return LINNET_OK;
}

}  // namespace linnet
