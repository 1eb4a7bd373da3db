#include "session.h"

#include <cstring>
#include <new>

#include "../platform/board.h"
#include "../platform/file.h"
#include "../platform/fp.h"
#include "forward.h"
#include "power.h"
#include "rope.h"
#include "text_out.h"

namespace linnet {
namespace {

constexpr uint32_t kMaxContext = 1u << 24, kMaxChunk = 4096, kMaxThreads = 256, kMaxSequences = 64, kDefaultSpin = 20000;

size_t row_floats(uint64_t n) { return static_cast<size_t>(padded_n(n)); }

template <class Fn>
void each_matrix(const linnet_model& model, Fn fn) {
  for (uint32_t i = 0; i < model.spec.n_layers; ++i) {
    const Layer& l = model.layers[i];
    for (const Matrix* m : {&l.q, &l.k, &l.v, &l.q_a, &l.kv_a, &l.out, &l.gate, &l.up, &l.down, &l.expert_gate})
      if (m->panels) fn(*m);
  }
  for (const Matrix* m : {&model.head, &model.embd_in, &model.embd_out})
    if (m->panels) fn(*m);
}

// What the rows of a chunk of c take in layers with experts, beside what all layers use.
void layout_experts(Arena& arena, const linnet_model& model, uint64_t c, Activations* a) {
  const ModelSpec& spec = model.spec;
  const uint64_t pairs = c * spec.n_active;
  uint64_t longest = 0, groups = 0;
  for (uint32_t i = 0; i < spec.n_layers; ++i)
    for (const Matrix* m : {&model.layers[i].expert_gate, &model.layers[i].expert_down}) {
      const Format x = format_row(m->format).x;
      if (!m->panels || x == LINNET_F32) continue;
      if (quant_stride(x, m->k) > longest) longest = quant_stride(x, m->k);
      if (n_x_groups(m->format, m->k) > groups) groups = n_x_groups(m->format, m->k);
    }
  a->router = arena.take<float>("activations", c * a->router_stride);
  a->shared_gate = arena.take<float>("activations", spec.shared_gate ? c * kPanel : 0);
  a->pair_rows = arena.take<float>("activations", pairs * a->d_stride);
  a->pair_q.q = arena.take<uint8_t>("activations", pairs * longest);
  a->pair_q.scale = arena.take<float>("activations", pairs * groups);
  a->pair_q.sum128 = arena.take<int32_t>("activations", pairs * groups);
  a->pairs.experts = arena.take<uint32_t>("activations", pairs);
  a->pairs.weights = arena.take<float>("activations", pairs);
  a->pairs.places = arena.take<uint32_t>("activations", pairs);
  a->pairs.from = arena.take<uint32_t>("activations", pairs);
  a->pairs.first = arena.take<uint32_t>("activations", spec.n_experts + 2);
  a->pairs.active = arena.take<uint32_t>("activations", spec.n_experts);
  a->pairs.n_active_experts = arena.take<uint32_t>("activations", 1);
}

void layout_rows(Arena& arena, const linnet_model& model, const linnet_session_params& p, uint32_t n_ropes, RowTables* t) {
  const ModelSpec& spec = model.spec;
  const uint64_t c = p.n_chunk, n_pairs = spec.rope_kind == kRopeNone ? 0 : spec.rope_dim / 2;
  t->cos = arena.take<float>("activations", n_ropes * c * n_pairs);
  t->sin = arena.take<float>("activations", n_ropes * c * n_pairs);
  const uint64_t sink_floats = p.when_full == LINNET_FULL_SINKS ? n_ropes * c * kMaxSinks * n_pairs : 0;
  t->sink_cos = arena.take<float>("activations", sink_floats);
  t->sink_sin = arena.take<float>("activations", sink_floats);
  if (!sink_floats) t->sink_cos = t->sink_sin = nullptr;
  t->tokens = arena.take<int32_t>("activations", c);
  t->temperature = arena.take<float>("activations", spec.temp_scale > 0 ? c : 0);
  t->positions = arena.take<int32_t>("activations", spec.positions ? c : 0);
}

void layout_activations(const Places& places, const linnet_model& model, const linnet_session_params& p, Activations* a) {
  Arena& arena = places.device;
  const ModelSpec& spec = model.spec;
  const uint64_t c = p.n_chunk;
  a->d_stride = row_floats(spec.d_model);
  a->q_stride = row_floats(uint64_t{spec.n_heads} * spec.head_dim);
  a->kv_stride = row_floats(uint64_t{spec.n_kv_heads} * spec.head_dim);
  for (uint32_t i = 0; i < spec.n_layers; ++i)
    if (row_floats(model.layers[i].up.n) > a->ff_stride) a->ff_stride = row_floats(model.layers[i].up.n);
  a->embd_stride = row_floats(spec.embd_dim);
  if (spec.kv_lora_rank) {
    const uint32_t qk = spec.qk_nope_dim + spec.qk_rope_dim, wider = qk > spec.v_head_dim ? qk : spec.v_head_dim;
    a->heads_stride = row_floats(uint64_t{spec.n_heads} * wider);
    if (row_floats(spec.q_lora_rank) > a->q_stride) a->q_stride = row_floats(spec.q_lora_rank);
  }
  if (spec.n_experts) {
    a->expert_stride = row_floats(spec.expert_ff);
    a->router_stride = row_floats(spec.n_experts);
  }
  const uint64_t qkv = a->q_stride + (spec.kv_lora_rank ? a->kv_stride + a->heads_stride : 2 * a->kv_stride), gate_up = (spec.ungated ? 1 : 2) * a->ff_stride + 2 * spec.n_active * a->expert_stride;
  uint64_t wide = qkv > gate_up ? qkv : gate_up;
  if (a->embd_stride > wide) wide = a->embd_stride;
  uint64_t longest = 0, groups = 0;
  each_matrix(model, [&](const Matrix& m) {
    const Format x = format_row(m.format).x;
    if (x == LINNET_F32) return;
    if (quant_stride(x, m.k) > longest) longest = quant_stride(x, m.k);
    if (n_x_groups(m.format, m.k) > groups) groups = n_x_groups(m.format, m.k);
  });
  a->x = arena.take<float>("activations", c * a->d_stride);
  a->normed = arena.take<float>("activations", c * a->d_stride);
  a->branch = arena.take<float>("activations", in_branch(spec) ? c * a->d_stride : 0);
  a->wide = arena.take<float>("activations", c * wide);
  a->codes = arena.take<uint8_t>("activations", c * longest);
  a->scales = arena.take<float>("activations", c * groups);
  a->sums = arena.take<int32_t>("activations", c * groups);
  const uint64_t n_pairs = spec.rope_kind == kRopeNone ? 0 : spec.rope_dim / 2;
  a->n_ropes = spec.rope_local_base > 0 ? 2 : 1;
  a->n_rope_rows = p.n_chunk;
  a->inv_freq = places.host.take<double>("activations", a->n_ropes * n_pairs);
  layout_rows(arena, model, p, a->n_ropes, &a->rows);
  a->made = a->rows;
  if (&places.device != &places.host) layout_rows(places.pinned, model, p, a->n_ropes, &a->made);
  if (spec.n_experts) layout_experts(arena, model, c, a);
}

void start_rope(const linnet_model& model, uint32_t length, const Activations& a) {
  const ModelSpec& spec = model.spec;
  if (spec.rope_kind == kRopeNone) return;
  rope_frequencies(spec, model.rope, length, a.inv_freq);
  if (a.n_ropes > 1) rope_frequencies(spec.rope_local_base, spec.rope_dim, a.inv_freq + spec.rope_dim / 2);
}

struct KvChoice {
  const ModelSpec& spec;
  const linnet_session_params& params;
};

// The formats and the window of one layer.
void kv_layer(const void* of, uint32_t i, Format* k, Format* v, uint32_t* window) {
  const KvChoice& c = *static_cast<const KvChoice*>(of);
  const linnet_session_params& p = c.params;
  *k = static_cast<Format>(p.kv_format);
  *v = static_cast<Format>(p.v_format);
  *window = layer_window(c.spec, i);
  for (uint32_t j = 0; j < p.n_kv_layers; ++j) {  // later ones count
    const linnet_kv_layers& l = p.kv_layers[j];
    if (i < l.first || i > l.last) continue;
    if (l.k_format) *k = static_cast<Format>(l.k_format);
    *v = l.v_format ? static_cast<Format>(l.v_format) : *k;
  }
}

// Whether a sequence may be longer than what is held of it.
bool drops_tokens(const linnet_session_params& p) { return p.when_full != LINNET_FULL_STOP && p.when_full != LINNET_FULL_SNAPKV; }
// What penalties look back on and what may be rolled back stays where tokens are forgotten.
uint32_t remembered(const linnet_session_params& p) { return p.n_rollback + 1024; }
uint64_t history_tokens(const linnet_session_params& p) { return drops_tokens(p) ? uint64_t{p.n_context} + remembered(p) : p.n_context; }

DeviceSession device_plan(const linnet_session& f, const linnet_model& model, const linnet_session_params& p) {
  const ModelSpec& spec = model.spec;
  const uint32_t head_k = spec.kv_lora_rank == 0 ? 0 : spec.qk_nope_dim > spec.kv_lora_rank ? spec.qk_nope_dim : spec.kv_lora_rank;
  return {p.n_chunk, p.n_sequences, p.n_logits > p.n_sequences ? p.n_logits : p.n_sequences, spec.n_heads, head_k, spec.n_vocab, f.logits_stride, &f.kv};
}

bool fill(linnet_session& f, const Places& places, const linnet_model& model, const linnet_session_params& p) {
  Arena& arena = places.host;
  const ModelSpec& spec = model.spec;
  const KvChoice choice = {spec, p};
  f.kv.device_ops = model.own;
  if (!f.kv.layout_in(arena, places.device, {spec.n_layers, spec.n_kv_heads, spec.head_dim, spec.qk_rope_dim, p.n_sequences, p.n_context, p.n_pool, p.n_chunk, p.n_rollback, p.when_full, p.n_keep, spec.window_chunks != 0, &model.profile, &choice, kv_layer})) return false;
  layout_activations(places, model, p, &f.act);
  f.logits_stride = row_floats(spec.n_vocab);
  const DeviceSession plan = device_plan(f, model, p);
  if (model.own) {
    f.device = f.kv.device = arena.take<uint8_t>("session", model.own->session_bytes);
    f.act.logits = places.device.take<float>("logits", uint64_t{plan.n_logits} * f.logits_stride);
    size_t page = 0;
    for (uint32_t i = 0; i < f.kv.n_classes; ++i) page = f.kv.classes[i].layout.page_bytes > page ? f.kv.classes[i].layout.page_bytes : page;
    f.page = places.pinned.take<uint8_t>("kv", page);
    model.own->session_layout(f.device, model.device, places.device, places.pinned, plan);
  } else {
    f.act.scratch_stride = static_cast<size_t>(align_up(cpu_scratch_bytes(f.kv, spec.n_heads, p.n_threads, plan.head_k), kAlign));
    f.act.scratch = arena.take<uint8_t>("activations", uint64_t{p.n_threads} * f.act.scratch_stride);
    const size_t shared = cpu_shared_bytes(f.kv, spec.n_heads, p.n_threads);
    f.act.shared = arena.take<uint8_t>("activations", shared);
    if (f.act.shared) std::memset(f.act.shared, 0, shared);
  }
  f.seqs = arena.take<Sequence>("sequences", p.n_sequences);
  f.spans = arena.take<RowSpan>("sequences", p.n_sequences);
  f.parts_done = arena.take<uint32_t>("sequences", p.n_sequences);
  f.taken = arena.take<uint32_t>("sequences", kMaxKvClasses);
  f.logit_rows = arena.take<uint32_t>("sequences", p.n_logits > p.n_sequences ? p.n_logits : p.n_sequences);
  for (uint32_t i = 0; i < p.n_sequences; ++i) {
    float* logits = arena.take<float>("logits", uint64_t{p.n_logits} * f.logits_stride);
    int32_t* history = arena.take<int32_t>("history", history_tokens(p));
    uint16_t* chosen = places.device.take<uint16_t>(model.own ? "activations" : "history", spec.expert_capacity ? uint64_t{spec.n_layers} * p.n_context * spec.n_active : 0);
    if (f.seqs) f.seqs[i] = {.length = 0, .pending = 0, .history = history, .n_forgotten = 0, .logits = logits, .n_logit_rows = 0, .chosen = chosen, .n_draws = 0, .place = {}};
  }
  f.batch_logits = arena.take<float>("logits", p.n_sequences > 1 ? uint64_t{p.n_sequences} * f.logits_stride : 0);
  f.sampler.order = arena.take<uint64_t>("sampling", spec.n_vocab);
  f.sampler.logits = arena.take<float>("sampling", spec.n_vocab);
  f.held = arena.take<char>("text", kHeldBytes);
  f.utf8 = arena.take<char>("text", 3 * kHeldBytes);
  f.team.layout_in(arena, p.n_threads, p.threads);
  return true;
}

Status check_kv_format(uint32_t f, const char* what, Error* err) {
  if (kv_format_known(f)) return LINNET_OK;
  const char* name = format_name(static_cast<Format>(f));
  return fail(err, LINNET_UNSUPPORTED, "session: ", what, " ", name ? name : "?", " (", f, "): one of f32, f16, bf16, i8, f8e4m3, f8e5m2, kivi4, kivi2");
}

// What the backend has no kernels for.
Status check_device(const linnet_model& model, const linnet_session_params& p, Error* err) {
  if (!model.own) return LINNET_OK;
  if (p.when_full != LINNET_FULL_STOP && p.when_full != LINNET_FULL_DROP_OLDEST)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p.when_full, ": with ", model.own->name, " sequences stop when they are full, or drop their oldest tokens");
  for (uint32_t i = 0; i <= p.n_kv_layers; ++i)
    for (const uint32_t f : {i ? p.kv_layers[i - 1].k_format : p.kv_format, i ? p.kv_layers[i - 1].v_format : p.v_format})
      if (kv_kivi(static_cast<Format>(f))) return fail(err, LINNET_UNSUPPORTED, "session: KV format ", format_name(static_cast<Format>(f)), " is not to be had with ", model.own->name);
  return LINNET_OK;
}

// What happens when the context is full; fills in n_keep and n_rollback.
Status check_when_full(linnet_session_params* p, Error* err) {
  const bool chosen = p->when_full == LINNET_FULL_HEAVY_HITTERS || p->when_full == LINNET_FULL_SNAPKV;
  if (p->when_full > LINNET_FULL_SNAPKV) return fail(err, LINNET_BAD_ARG, "session: when_full is ", p->when_full, ", there is no such way");
  if (p->when_full == LINNET_FULL_STOP) p->n_keep = 0;
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_SINKS) p->n_keep = 4;
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_HEAVY_HITTERS) p->n_keep = p->n_context / 2;
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_SNAPKV) p->n_keep = p->n_context / 4;
  if (p->when_full == LINNET_FULL_SINKS && p->n_keep > kMaxSinks) return fail(err, LINNET_BAD_ARG, "session: n_keep is ", p->n_keep, ", at most ", kMaxSinks, " sinks");
  if (chosen && p->n_keep < p->n_context) p->n_keep = static_cast<uint32_t>(align_up(p->n_keep, kPagePositions));  // whole pages
  if (p->n_keep >= p->n_context) return fail(err, LINNET_BAD_ARG, "session: n_keep is ", p->n_keep, ", must be less than n_context = ", p->n_context);
  if (p->n_rollback == 0) p->n_rollback = drops_tokens(*p) && p->n_chunk > p->n_context - p->n_keep ? p->n_context - p->n_keep : p->n_chunk;
  if (drops_tokens(*p) && p->n_context - p->n_keep < p->n_rollback)
    return fail(err, LINNET_BAD_ARG, "session: n_context is ", p->n_context, ", too small for n_keep = ", p->n_keep, " tokens that stay and n_rollback = ", p->n_rollback);
  return LINNET_OK;
}

// Ways to tell positions that do not go with every length or every way to drop tokens; fills in rope_length.
Status check_positions(const ModelSpec& spec, linnet_session_params* p, Error* err) {
  if (p->rope_length > kMaxContext) return fail(err, LINNET_BAD_ARG, "session: rope_length is ", p->rope_length, ", at most ", kMaxContext);
  if (p->rope_length == 0) p->rope_length = p->n_context;
  if (spec.positions && p->n_context > spec.positions - spec.position_offset)
    return fail(err, LINNET_BAD_ARG, "session: n_context is ", p->n_context, ", the model has ", spec.positions - spec.position_offset, " learned positions");
  const char* what = spec.positions ? "learned positions" : spec.alibi ? "ALiBi" : nullptr;
  if (what && p->when_full != LINNET_FULL_STOP) return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full, ": not in a model with ", what);
  if (spec.qk_norm == kQkNormHeadAfter && p->when_full == LINNET_FULL_SINKS)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full, ": sinks move unrotated keys, and the model norms keys after RoPE");
  return LINNET_OK;
}

Places count_places(SessionSizes* sizes, const linnet_model& model) {
  if (!model.own) return {sizes->host, sizes->host, sizes->host};
  sizes->blocks.limit = model.own->block_limit(model.profile);
  sizes->pinned_blocks.limit = UINT64_MAX;  // one
  sizes->device = Arena(&sizes->blocks, true);
  sizes->pinned = Arena(&sizes->pinned_blocks, true);
  return {sizes->host, sizes->device, sizes->pinned};
}

// Formats of single layers: every one known, and in few enough combinations with the windows.
Status check_kv_layers(const linnet_model& model, const linnet_session_params& p, Error* err) {
  if (p.n_kv_layers > 1024 || (p.n_kv_layers && !p.kv_layers)) return fail(err, LINNET_BAD_ARG, "session: n_kv_layers is ", p.n_kv_layers, p.kv_layers ? ", at most 1024" : ", kv_layers is NULL");
  for (uint32_t i = 0; i < p.n_kv_layers; ++i) {
    const linnet_kv_layers& l = p.kv_layers[i];
    if (l.first > l.last || l.last >= model.spec.n_layers)
      return fail(err, LINNET_BAD_ARG, "session: kv_layers[", i, "] is for layers ", l.first, "..", l.last, ", the model has 0..", model.spec.n_layers - 1);
    if (l.k_format) LINNET_TRY(check_kv_format(l.k_format, "kv_layers: K format", err));
    if (l.v_format) LINNET_TRY(check_kv_format(l.v_format, "kv_layers: V format", err));
  }
  const KvChoice choice = {model.spec, p};
  for (uint32_t i = 0; i < model.spec.n_layers; ++i) {
    Format k, v;
    uint32_t window;
    kv_layer(&choice, i, &k, &v, &window);
    if (model.spec.window_chunks && window && p.when_full != LINNET_FULL_STOP && window > p.n_context - p.n_keep)
      return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " sees chunks of ", window, " tokens, of which when_full = ", p.when_full, " would keep ", p.n_context - p.n_keep);
    if (kv_kivi(k) != kv_kivi(v)) return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has K in ", format_name(k), " and V in ", format_name(v), ": kivi4 and kivi2 go with each other alone");
    if (kv_kivi(k) && p.when_full != LINNET_FULL_STOP)
      return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has its KV cache in ", format_name(k), " and when_full is ", p.when_full, ": KIVI is for LINNET_FULL_STOP alone");
    if (!model.spec.kv_lora_rank) continue;
    if (kv_kivi(k)) return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " has its KV cache in ", format_name(k), ": the model caches a latent, which KIVI does not pack");
    if (k != v) return fail(err, LINNET_UNSUPPORTED, "session: V format ", format_name(v), " beside K format ", format_name(k), " in layer ", i, ": the model caches one latent that is both");
  }
  linnet_session counted{};
  SessionSizes sizes;
  if (!fill(counted, count_places(&sizes, model), model, p))
    return fail(err, LINNET_UNSUPPORTED, "session: the layers need more than ", kMaxKvClasses, " combinations of K format, V format and window, of which those in kivi4 and kivi2 count twice");
  return LINNET_OK;
}

Status check_generate(const linnet_session& s, const linnet_generate_params& p, Error* err) {
  if (p.n_stop > kMaxStops) return fail(err, LINNET_BAD_ARG, "generate: n_stop is ", p.n_stop, ", at most ", kMaxStops);
  if (p.n_stop && !p.stop) return fail(err, LINNET_BAD_ARG, "generate: stop is NULL, n_stop is ", p.n_stop);
  for (uint32_t i = 0; i < p.n_stop; ++i) {
    const size_t len = p.stop[i] ? strnlen(p.stop[i], kMaxStopBytes + 1) : 0;
    if (len == 0 || len > kMaxStopBytes) return fail(err, LINNET_BAD_ARG, "generate: stop[", i, "] is empty or longer than ", kMaxStopBytes, " bytes");
  }
  if (p.n_stop && !s.model->tokenizer.blob) return fail(err, LINNET_UNSUPPORTED, "generate: stop strings need a tokenizer, the model has none");
  return LINNET_OK;
}

// What the model's profile says where the caller does not.
void take_profile(const linnet_model& model, linnet_session_params* p) {
  const linnet_profile& profile = model.profile;
  const auto take = [](uint32_t* to, uint32_t from) {
    if (*to == 0) *to = from;
  };
  if (p->kv_format == 0) take(&p->v_format, profile.v_format);
  take(&p->kv_format, profile.k_format);
  take(&p->n_context, profile.n_context < model.spec.n_context ? profile.n_context : model.spec.n_context);
  take(&p->n_chunk, profile.n_chunk);
  take(&p->n_threads, profile.n_threads);
  if (!p->parallel_for) take(&p->threads, profile.threads);  // the app's threads are asked for by their hook
  take(&p->spin, profile.wait == LINNET_WAIT_SLEEP ? 1 : profile.spin);
  if (p->when_full == LINNET_FULL_STOP) take(&p->n_keep, profile.when_full == LINNET_FULL_STOP ? 0 : profile.n_keep);
  take(&p->when_full, profile.when_full);
}

Status resolve_params(const linnet_model& model, linnet_session_params p, linnet_session_params* out, Error* err) {
  p.size = sizeof p;
  take_profile(model, &p);
  if (model.spec.n_layers == 0) return fail(err, LINNET_UNSUPPORTED, "session: the model holds only a vocabulary");
  if (p.n_context == 0) p.n_context = model.spec.n_context < 4096 ? model.spec.n_context : 4096;
  if (p.n_context > kMaxContext) return fail(err, LINNET_BAD_ARG, "session: n_context is ", p.n_context, ", at most ", kMaxContext);
  if (p.n_chunk == 0) p.n_chunk = 256;
  if (p.n_chunk > kMaxChunk) return fail(err, LINNET_BAD_ARG, "session: n_chunk is ", p.n_chunk, ", at most ", kMaxChunk);
  if (p.n_chunk > p.n_context) p.n_chunk = p.n_context;
  if (p.kv_format == 0) p.kv_format = LINNET_I8;
  if (p.v_format == 0) p.v_format = p.kv_format;
  LINNET_TRY(check_kv_format(p.kv_format, "KV format", err));
  LINNET_TRY(check_kv_format(p.v_format, "V format", err));
  if (p.n_threads == 0) p.n_threads = 1;
  if (p.n_threads > kMaxThreads) return fail(err, LINNET_BAD_ARG, "session: n_threads is ", p.n_threads, ", at most ", kMaxThreads);
  if (p.parallel_for && p.threads == LINNET_THREADS_DEFAULT) p.threads = LINNET_THREADS_APP;
  if ((p.threads == LINNET_THREADS_APP) != (p.parallel_for != nullptr))
    return fail(err, LINNET_BAD_ARG, "session: threads is ", p.threads, p.parallel_for ? ", but parallel_for is set: LINNET_THREADS_APP (3) or 0" : " (LINNET_THREADS_APP), but parallel_for is NULL");
  LINNET_TRY(team_kind(p.threads, &p.threads, err));
  if (p.spin == 0) p.spin = kDefaultSpin;
  if (p.n_logits == 0) p.n_logits = 1;
  if (p.n_logits > p.n_chunk) return fail(err, LINNET_BAD_ARG, "session: n_logits is ", p.n_logits, ", at most n_chunk = ", p.n_chunk);
  if (p.n_sequences == 0) p.n_sequences = 1;
  if (p.n_sequences > kMaxSequences) return fail(err, LINNET_BAD_ARG, "session: n_sequences is ", p.n_sequences, ", at most ", kMaxSequences);
  if (p.n_pool == 0) p.n_pool = p.n_sequences * p.n_context;
  if (p.n_pool < p.n_context || p.n_pool > p.n_sequences * p.n_context)
    return fail(err, LINNET_BAD_ARG, "session: n_pool is ", p.n_pool, ", must be n_context = ", p.n_context, " to n_sequences times that");
  if (p.n_rollback > p.n_context) p.n_rollback = p.n_context;
  LINNET_TRY(check_when_full(&p, err));
  LINNET_TRY(check_positions(model.spec, &p, err));
  if (model.spec.expert_capacity && p.when_full != LINNET_FULL_STOP)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p.when_full, ": the model's experts have a capacity of ", model.spec.expert_capacity, ", counted over all positions");
  if (model.own) p.n_threads = 1, p.threads = LINNET_THREADS_OWN, p.parallel_for = nullptr;  // the device's queue is fed by the caller's
  if (p.n_kv_layers == 0 || p.kv_layers) LINNET_TRY(check_device(model, p, err));
  LINNET_TRY(check_kv_layers(model, p, err));
  *out = p;
  return LINNET_OK;
}

// The profile's memory cap; `wished` is what the caller said.
Status check_cap(const linnet_model& model, const linnet_session_params& wished, const linnet_session_params& p, Error* err) {
  const uint64_t cap = model.profile.memory_bytes, fixed = model.weight_bytes + model.arena.used();
  if (cap == 0) return LINNET_OK;
  const auto bytes = [&](const linnet_session_params& q) {
    SessionSizes count;
    session_count(&count, model, q);
    return count.ok() ? uint64_t{count.host.used()} + count.device.used() + count.pinned.used() : SIZE_MAX / 2;
  };
  const uint64_t need = bytes(p);
  if (fixed + need <= cap) return LINNET_OK;
  // The longest context that fits. Very short ones may be no context at all with what else is asked for: those count as fitting until the end.
  const auto with_context = [&](uint32_t n, linnet_session_params* q) {
    linnet_session_params w = wished;
    w.n_context = n;
    w.n_pool = 0;
    return resolve_params(model, w, q, nullptr) == LINNET_OK;
  };
  linnet_session_params q;
  uint32_t fits = 0;
  for (uint32_t above = p.n_context; above - fits > 1;) {
    const uint32_t n = fits + (above - fits) / 2;
    if (!with_context(n, &q) || fixed + bytes(q) <= cap) fits = n;
    else above = n;
  }
  if (fits && (!with_context(fits, &q) || fixed + bytes(q) > cap)) fits = 0;
  const char* format = nullptr;
  for (const linnet_format f : {LINNET_F16, LINNET_I8, LINNET_KIVI4, LINNET_KIVI2}) {
    linnet_session_params w = wished;
    w.kv_format = w.v_format = f;
    w.n_kv_layers = 0;
    w.kv_layers = nullptr;
    if (!format && resolve_params(model, w, &q, nullptr) == LINNET_OK && fixed + bytes(q) <= cap) format = format_name(f);
  }
  char context[16] = "";
  size_t digits = 0;
  for (uint32_t v = fits, ten = 1000000000; ten; v %= ten, ten /= 10)
    if (v / ten || digits) context[digits++] = static_cast<char>('0' + v / ten);
  return fail(err, LINNET_TOO_SMALL, "session: weights of ", model.weight_bytes, " bytes, ", model.arena.used(), " of the model and ", need, " of a session of ", p.n_context,
              " positions are more than the profile's memory cap of ", cap, fits ? "; n_context = " : "", context, fits && format ? ", or" : format ? ";" : "", format ? " a KV cache in " : "",
              format ? format : "", fits || format ? " fits" : "; no context fits");
}

}  // namespace

Status session_params(const linnet_model& model, const linnet_session_params* in, linnet_session_params* out, Error* err) {
  linnet_session_params wished{};
  if (in) {
    if (in->size < sizeof(uint32_t)) return fail(err, LINNET_BAD_ARG, "session: size is ", in->size);
    std::memcpy(&wished, in, in->size < sizeof wished ? in->size : sizeof wished);
  }
  LINNET_TRY(resolve_params(model, wished, out, err));
  return check_cap(model, wished, *out, err);
}

linnet_session* session_layout(const Places& places, const linnet_model& model, const linnet_session_params& params) {
  linnet_session* s = places.host.take<linnet_session>("session", 1);
  if (s) {
    new (s) linnet_session{};
    fill(*s, places, model, params);
  } else {
    linnet_session counted{};
    fill(counted, places, model, params);
  }
  return s;
}

void session_count(SessionSizes* out, const linnet_model& model, const linnet_session_params& params) { session_layout(count_places(out, model), model, params); }

Status session_fits(const SessionSizes& sizes, const linnet_session_params& p, Error* err) {
  if (!sizes.host.ok() || !sizes.pinned.ok()) return fail(err, LINNET_BAD_ARG, "session: n_context = ", p.n_context, " needs more bytes than this machine can address");
  if (!sizes.device.ok())
    return fail(err, LINNET_TOO_SMALL, "session: n_context = ", p.n_context, " and n_chunk = ", p.n_chunk, " need a piece of device memory larger than the blocks of ", sizes.blocks.limit, " bytes, or more than ",
                uint32_t{Blocks::kMax}, " blocks");
  return LINNET_OK;
}

Status session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model, const linnet_session_params* in, Error* err) {
  linnet_session_params params;
  LINNET_TRY(session_params(*model, in, &params, err));
  SessionSizes sizes;
  session_count(&sizes, *model, params);
  LINNET_TRY(session_fits(sizes, params, err));
  if (sizes.host.used() > bytes) return fail(err, LINNET_TOO_SMALL, "session: memory of ", bytes, " bytes, needs ", sizes.host.used());
  const linnet_cpus cpus = cpu_both(model->profile.cpus, cpu_affinity());
  if (cpu_count(model->profile.cpus) && !cpu_count(cpus) && cpu_count(cpu_affinity()))
    return fail(err, LINNET_BAD_PROFILE, "session: the profile names ", cpu_count(model->profile.cpus), " CPUs, of which this thread may use none");
  memory_huge(mem, bytes, model->profile.huge_pages);
  const DeviceOps* own = model->own;
  if (own) {
    LINNET_TRY(own->alloc(model->device, &sizes.blocks, false, err));
    if (const Status status = own->alloc(model->device, &sizes.pinned_blocks, true, err); status != LINNET_OK) {
      own->release(model->device, &sizes.blocks, false);
      return status;
    }
  }
  Arena arena(mem, bytes), device(&sizes.blocks, false), pinned(&sizes.pinned_blocks, false);
  linnet_session* s = session_layout(own ? Places{arena, device, pinned} : Places{arena, arena, arena}, *model, params);
  s->model = model;
  s->params = params;
  s->arena = arena;
  s->kv.reset();
  if (own) {
    s->device_memory = device;
    s->pinned = pinned;
    *own->session_blocks(s->device, false) = sizes.blocks;
    *own->session_blocks(s->device, true) = sizes.pinned_blocks;
    if (const Status status = own->session_start(s->device, model->device, err); status != LINNET_OK) {
      own->release(model->device, &sizes.pinned_blocks, true);
      own->release(model->device, &sizes.blocks, false);
      return status;
    }
  }
  start_rope(*model, params.rope_length, s->act);
  s->sampler.exp_row = model->kernels.t.exp_row;
  s->sampler.find_above = model->kernels.t.find_above;
  s->stats.size = sizeof s->stats;
  s->stats.n_threads = params.n_threads;
  s->stats.memory_bytes = arena.used();
  LINNET_TRY(sampling_check(nullptr, &s->sampler.params, err));
  s->team.app = params.parallel_for;
  s->team.app_user = params.parallel_for_user;
  s->cpus = cpus;
  const CpuGuard bound(cpus);  // new threads inherit it, and more threads than CPUs do not spin
  LINNET_TRY(s->team.start(params.n_threads, params.threads, params.spin, err));
  s->team.bind(cpus, model->profile.priority);
  *out = s;
  return LINNET_OK;
}

void session_fini(linnet_session& s) {
  s.team.stop();
  const DeviceOps* own = s.model->own;
  if (!own) return;
  own->session_stop(s.device);
  own->release(s.model->device, own->session_blocks(s.device, true), true);
  own->release(s.model->device, own->session_blocks(s.device, false), false);
}

uint32_t session_length(const linnet_session& s, uint32_t seq) { return s.seqs[seq].length + s.seqs[seq].pending; }

void session_grammar(linnet_session& s, uint32_t seq, linnet_grammar* grammar) {
  const uint32_t n = session_length(s, seq);
  s.seqs[seq].place = {.grammar = grammar, .from = n, .from_state = 0, .at = n, .state = 0};
}

namespace {

// The first `keep` tokens are left.
void rewind(GrammarPlace& p, uint32_t keep) {
  if (keep < p.from) p.from = keep, p.from_state = 0;
  if (keep < p.at) p.at = p.from, p.state = p.from_state;
}

// As far as token `end`, which the sequence remembers as all from p.from on.
void follow(Sequence& seq, uint32_t end) {
  GrammarPlace& p = seq.place;
  for (; p.at < end; ++p.at) p.state = grammar_advance(*p.grammar, p.state, seq.history[p.at - seq.n_forgotten]);
}

}  // namespace

Status session_truncate(linnet_session& s, uint32_t i, uint32_t keep, Error* err) {
  Sequence& seq = s.seqs[i];
  if (keep == session_length(s, i)) return LINNET_OK;
  if (keep < seq.length) {
    if (!s.kv.can_truncate(i, keep))
      return fail(err, LINNET_BAD_STATE, "truncate: layers with a window or in KIVI no longer hold what a sequence of ", keep, " tokens sees: it has ", seq.length, ", n_rollback is ", s.params.n_rollback);
    s.kv.truncate(i, keep);
    seq.length = keep;
  }
  if (keep == 0) seq.n_forgotten = 0;
  seq.pending = 0;
  seq.n_logit_rows = 0;
  rewind(seq.place, keep);
  return LINNET_OK;
}

uint32_t session_most(const linnet_session& s) {
  switch (s.params.when_full) {
    case LINNET_FULL_DROP_OLDEST:
    case LINNET_FULL_HEAVY_HITTERS: return s.model->spec.n_context > s.params.n_context ? s.model->spec.n_context : s.params.n_context;
    case LINNET_FULL_SINKS: return (1u << 31) - 1;
    default: return s.params.n_context;
  }
}

uint64_t session_history(const linnet_session& s) { return history_tokens(s.params); }

Status session_fork(linnet_session& s, uint32_t from, uint32_t to, uint32_t keep, Error* err) {
  const Sequence& a = s.seqs[from];
  Sequence& b = s.seqs[to];
  if (keep < a.length && !s.kv.can_truncate(from, keep))
    return fail(err, LINNET_BAD_STATE, "fork: layers with a window or in KIVI no longer hold what a sequence of ", keep, " tokens sees: it has ", a.length, ", n_rollback is ", s.params.n_rollback);
  s.kv.truncate(to, 0);
  b.length = keep < a.length ? keep : a.length;
  b.pending = keep > a.length;
  s.kv.fork(from, to, b.length);
  b.n_forgotten = keep ? a.n_forgotten : 0;
  const DeviceGuard device(s);
  std::memcpy(b.history, a.history, (keep - b.n_forgotten) * sizeof *b.history);
  if (const ModelSpec& spec = s.model->spec; spec.expert_capacity)
    for (uint32_t i = 0; i < spec.n_layers; ++i) {
      const size_t layer = size_t{i} * s.params.n_context * spec.n_active;
      const size_t bytes = size_t{b.length} * spec.n_active * sizeof *b.chosen;
      if (s.device) s.model->own->copy(s.device, reinterpret_cast<uint8_t*>(b.chosen + layer), reinterpret_cast<const uint8_t*>(a.chosen + layer), 0, bytes, bytes != 0);
      else std::memcpy(b.chosen + layer, a.chosen + layer, bytes);
    }
  b.n_logit_rows = keep == session_length(s, from) ? a.n_logit_rows : 0;
  std::memcpy(b.logits, a.logits, b.n_logit_rows * s.logits_stride * sizeof *b.logits);
  b.n_draws = a.n_draws;
  b.place = a.place;
  rewind(b.place, keep);
  return LINNET_OK;
}

namespace {

// Tokens of one sequence to be computed: the one that is pending, then others.
struct PartRows {
  uint32_t seq, n, n_logits;
  const int32_t* tokens;  // (n - pending)
};

int32_t* history_end(Sequence& seq) { return seq.history + seq.length - seq.n_forgotten; }

// Room for `n` tokens more after seq.length; forgets old ones.
void make_room(const linnet_session& s, Sequence& seq, uint32_t n) {
  const uint32_t have = seq.length - seq.n_forgotten, stay = remembered(s.params);
  if (have + n <= history_tokens(s.params)) return;
  if (GrammarPlace& p = seq.place; p.grammar && p.from < seq.n_forgotten + have - stay) {  // its beginning is forgotten, so the state there is kept
    rewind(p, p.from);
    follow(seq, seq.n_forgotten + have - stay);
    p.from = p.at;
    p.from_state = p.state;
  }
  std::memmove(seq.history, seq.history + have - stay, stay * sizeof *seq.history);
  seq.n_forgotten += have - stay;
}

void remember(const linnet_session& s, Sequence& seq, const int32_t* tokens, uint32_t n) {
  make_room(s, seq, n);
  if (n) std::memcpy(history_end(seq), tokens, n * sizeof *tokens);  // the pending token alone: there are no others
}

// Ends the call for its sequences: all that was computed counts, or nothing does.
void end_call(linnet_session& s, const PartRows* parts, uint32_t n_parts, bool ok) {
  for (uint32_t i = 0; i < n_parts; ++i) {
    Sequence& seq = s.seqs[parts[i].seq];
    if (ok) {
      const uint32_t before = seq.length;
      seq.length += seq.pending;
      remember(s, seq, parts[i].tokens, parts[i].n - seq.pending);
      seq.length += parts[i].n - seq.pending;
      seq.pending = 0;
      seq.n_logit_rows = parts[i].n_logits;
      s.kv.commit(parts[i].seq, before, seq.length);
    } else {
      s.kv.cancel(parts[i].seq);
    }
  }
}

// Fills a batch of at most n_chunk rows with what is left of the parts, in their order. Rows that get logits are in one batch with each other,
// so the batch before it may be cut short. Returns its rows.
uint32_t next_batch(linnet_session& s, const PartRows* parts, uint32_t n_parts, Batch* batch) {
  uint32_t m = 0;
  batch->n_spans = batch->n_logits = 0;
  for (uint32_t i = 0; i < n_parts && m < s.params.n_chunk; ++i) {
    const PartRows& part = parts[i];
    Sequence& seq = s.seqs[part.seq];
    const uint32_t done = s.parts_done[i], left = part.n - done, room = s.params.n_chunk - m;
    uint32_t n = left < room ? left : room;
    if (n < left && left - n < part.n_logits) n = left - part.n_logits;
    if (n == 0) continue;
    s.kv.advance(part.seq, seq.length + done, n);
    s.spans[batch->n_spans++] = {part.seq, m, n, seq.length + done};
    for (uint32_t j = 0; j < n; ++j) s.act.made.tokens[m + j] = done + j < seq.pending ? *history_end(seq) : part.tokens[done + j - seq.pending];
    m += n;
    s.parts_done[i] += n;
    if (done + n == part.n)
      for (uint32_t j = part.n_logits; j; --j) s.logit_rows[batch->n_logits++] = m - j;
  }
  return m;
}

// Computes the parts, of different sequences each. All or nothing.
Status compute(linnet_session& s, const PartRows* parts, uint32_t n_parts, Error* err) {
  const CpuGuard bound(s.cpus);
  const DeviceGuard device(s);
  LINNET_TRY(device.check(err));
  std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
  for (uint32_t i = 0; i < n_parts; ++i)
    if (!s.kv.has_room(parts[i].seq, s.seqs[parts[i].seq].length, parts[i].n, s.taken))
      return fail(err, LINNET_CONTEXT_FULL, "the pool of ", s.params.n_pool, " positions for all sequences has no room for ", parts[i].n, " tokens more in sequence ", parts[i].seq);
  for (uint32_t i = 0; i < n_parts; ++i) {
    s.kv.begin(parts[i].seq, s.seqs[parts[i].seq].length, s.seqs[parts[i].seq].length + parts[i].n);
    s.parts_done[i] = 0;
  }
  Status status = LINNET_OK;
  Batch batch{};
  batch.spans = s.spans;
  batch.logit_rows = s.logit_rows;
  while (status == LINNET_OK && (batch.m = next_batch(s, parts, n_parts, &batch)) != 0) {
    // Logits of one sequence go where they belong; those of several are told apart afterwards.
    const bool one = batch.n_spans == 1;
    batch.logits = one ? s.seqs[batch.spans[0].seq].logits : s.batch_logits;
    status = forward(s, batch, err);
    if (status != LINNET_OK) {
      // A cancelled pass never came to the logits.
      if (status != LINNET_CANCELLED && one && batch.n_logits) s.seqs[batch.spans[0].seq].n_logit_rows = 0;
      break;
    }
    if (!one)
      for (uint32_t i = 0, row = 0; i < batch.n_spans && row < batch.n_logits; ++i) {
        const RowSpan& span = batch.spans[i];
        for (Sequence& seq = s.seqs[span.seq]; row < batch.n_logits && batch.logit_rows[row] < span.row + span.n; ++row)
          std::memcpy(seq.logits, batch.logits + row * s.logits_stride, s.logits_stride * sizeof(float));  // several parts have one row each
      }
    govern(s, batch.m == batch.n_spans);
  }
  for (uint32_t i = 0; status != LINNET_OK && n_parts > 1 && i < n_parts; ++i)
    if (s.parts_done[i] == parts[i].n) s.seqs[parts[i].seq].n_logit_rows = 0;  // they may be those of tokens that do not count now
  end_call(s, parts, n_parts, status == LINNET_OK);
  return status;
}

// One row of decoding: the pending token, or this one.
Status compute_one(linnet_session& s, uint32_t seq, const int32_t* token, Error* err) {
  const uint64_t start = clock_ns();
  const PartRows part = {seq, 1, 1, token};
  LINNET_TRY(compute(s, &part, 1, err));
  ++s.stats.decode_tokens;
  s.stats.decode_ns += clock_ns() - start;
  s.stats.decode_bytes = s.model->decode_bytes + s.kv.read_bytes(s.seqs[seq].length - 1);
  return LINNET_OK;
}

// The logits after the last token, where that is still to be computed.
Status catch_up(linnet_session& s, uint32_t i, Error* err) {
  Sequence& seq = s.seqs[i];
  if (!seq.pending) return LINNET_OK;
  return compute_one(s, i, nullptr, err);
}

// A token was drawn: how long it took.
void note_draw(linnet_session& s) {
  const uint64_t now = clock_ns();
  if (s.ttft_pending) {
    s.stats.first_token_ns = now - s.ttft_start_ns;
    s.ttft_pending = false;
  } else if (s.last_sample_ns) {
    s.stats.last_token_ns = now - s.last_sample_ns;
    if (s.stats.last_token_ns > s.stats.max_token_ns) s.stats.max_token_ns = s.stats.last_token_ns;
  }
  s.last_sample_ns = now;
}

// no_eog: end-of-generation tokens are text to the caller, and none of a grammar's.
Status draw(linnet_session& s, Sequence& seq, bool no_eog, int32_t* token, Error* err) {
  TokenMask mask;
  if (seq.place.grammar) {
    follow(seq, seq.length);
    LINNET_TRY(grammar_mask(*seq.place.grammar, seq.place.state, no_eog, &mask, err));
  }
  const FpGuard guard;
  s.sampler.n_draws = seq.n_draws;
  *token = sample(s.sampler, seq.logits + (seq.n_logit_rows - 1) * s.logits_stride, s.model->spec.n_vocab, seq.history, seq.length - seq.n_forgotten, mask);
  seq.n_draws = s.sampler.n_draws;
  note_draw(s);
  return LINNET_OK;
}

bool text_complete(Sequence& seq) {
  if (!seq.place.grammar) return false;
  follow(seq, seq.length + seq.pending);
  return grammar_complete(*seq.place.grammar, seq.place.state);
}

// linnet_generate on a device: it draws, and the pass of the token that is drawn begins before the host has seen it. Where that ends the generation the pass does not count.
Status generate_ahead(linnet_session& s, uint32_t id, const linnet_generate_params& params, TextOut& text, linnet_stop* why, Error* err) {
  const CpuGuard bound(s.cpus);
  const DeviceGuard device(s);
  const DeviceOps& own = *s.model->own;
  const Tokenizer& tokenizer = s.model->tokenizer;
  Sequence& seq = s.seqs[id];
  if (session_length(s, id) == session_most(s)) {
    *why = LINNET_STOP_CONTEXT;
    return LINNET_OK;
  }
  LINNET_TRY(catch_up(s, id, err) == LINNET_CANCELLED ? (*why = LINNET_STOP_CANCEL, LINNET_CANCELLED) : device.check(err));
  bool begun = false, kept = false;  // kept: the last row of logits is the device's alone
  Status status = LINNET_OK;
  for (uint32_t i = 0; *why == LINNET_STOP_NONE && status == LINNET_OK; ++i) {
    if (params.max_tokens && i == params.max_tokens) {
      *why = LINNET_STOP_LENGTH;
      break;
    }
    if (session_length(s, id) == session_most(s)) {
      *why = LINNET_STOP_CONTEXT;
      break;
    }
    if (s.cancel.exchange(0, std::memory_order_relaxed)) {
      *why = LINNET_STOP_CANCEL;
      break;
    }
    if (seq.pending) {  // its pass found no room ahead of time
      status = catch_up(s, id, err);
      begun = kept = false;
      if (status == LINNET_CANCELLED) *why = LINNET_STOP_CANCEL;
      if (status != LINNET_OK) break;
    }
    const uint64_t start = clock_ns();
    if (!begun || !own.draw_room(s.device))
      own.draw_begin(s.device, s.sampler.params, seq.n_draws, seq.history, seq.length - seq.n_forgotten, kept ? nullptr : seq.logits + (seq.n_logit_rows - 1) * s.logits_stride);
    begun = true;
    std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
    const bool ahead = i + 1 != params.max_tokens && seq.length + 1 < session_most(s) && s.kv.has_room(id, seq.length, 1, s.taken);
    if (ahead) {
      s.kv.begin(id, seq.length, seq.length + 1);
      s.kv.advance(id, seq.length, 1);
      s.spans[0] = {id, 0, 1, seq.length};
      s.logit_rows[0] = 0;
      forward_ahead(s, {s.spans, 1, 1, s.logit_rows, 1, nullptr});
    } else {
      own.draw(s.device, s.act.rows.tokens);
    }
    int32_t token = 0;
    uint32_t not_finite = 0;
    status = own.drawn(s.device, &token, &seq.n_draws, &not_finite, err);
    if (status == LINNET_OK && not_finite) {
      status = fail(err, LINNET_NOT_FINITE, "an activation became infinite or NaN at position ", seq.length ? seq.length - 1 : 0);
      if (kept) {  // the token that it was of is passed on, and stays to be computed
        if (ahead) s.kv.cancel(id);
        s.kv.truncate(id, --seq.length);
        seq.pending = 1;
        return status;
      }
    }
    if (status == LINNET_OK) {
      note_draw(s);
      if (!params.ignore_eos && tokenizer.blob && token_is_eog(tokenizer, token)) {
        *why = LINNET_STOP_EOS;
      } else {
        make_room(s, seq, 1);
        *history_end(seq) = token;
        seq.pending = 1;
        pass_token(text, token, tokenizer.blob ? token_bytes(tokenizer, token, false) : std::string_view(), why);
      }
    }
    if (!ahead) continue;
    if (*why != LINNET_STOP_NONE || status != LINNET_OK) {
      s.kv.cancel(id);
      break;
    }
    s.kv.commit(id, seq.length, seq.length + 1);
    ++seq.length;
    seq.pending = 0;
    seq.n_logit_rows = 1;
    own.keep_logits(s.device, s.act.logits);
    kept = true;
    ++s.stats.decode_tokens;
    s.stats.decode_ns += clock_ns() - start;
    s.stats.decode_bytes = s.model->decode_bytes + s.kv.read_bytes(seq.length - 1);
    govern(s, true);
  }
  if (kept && status == LINNET_OK) status = own.kept_logits(s.device, seq.logits, err);  // the row that the last token was drawn from, or that the next one will be
  return status;
}

Status check_rows(const linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err) {
  if (n_rows == 0 || n_rows > s.params.n_sequences) return fail(err, LINNET_BAD_ARG, "prefill: n_rows is ", n_rows, ", must be 1..", s.params.n_sequences);
  for (uint32_t j = 0; j < n_rows; ++j) {
    const linnet_rows& r = rows[j];
    if (r.seq >= s.params.n_sequences) return fail(err, LINNET_BAD_ARG, "prefill: seq is ", r.seq, ", this session holds 0..", s.params.n_sequences - 1);
    for (uint32_t i = 0; i < j; ++i)
      if (rows[i].seq == r.seq) return fail(err, LINNET_BAD_ARG, "prefill: sequence ", r.seq, " is named twice");
    if (r.n_tokens == 0) return fail(err, LINNET_BAD_ARG, "prefill: no tokens");
    if (!r.tokens) return fail(err, LINNET_BAD_ARG, "prefill: tokens is NULL");
    for (size_t i = 0; i < r.n_tokens; ++i)
      if (r.tokens[i] < 0 || static_cast<uint32_t>(r.tokens[i]) >= s.model->spec.n_vocab)
        return fail(err, LINNET_BAD_ARG, "prefill: token ", r.tokens[i], " at ", i, " is outside 0..", s.model->spec.n_vocab - 1);
    const uint32_t before = session_length(s, r.seq);
    if (r.n_tokens > session_most(s) - before)
      return fail(err, LINNET_CONTEXT_FULL, "prefill: ", r.n_tokens, " tokens after ", before, " do not fit the context of ", session_most(s));
    const uint32_t short_call = s.params.n_chunk > s.params.n_rollback ? s.params.n_chunk : s.params.n_rollback;
    if (drops_tokens(s.params) && before + r.n_tokens > s.params.n_context && r.n_tokens > short_call)
      return fail(err, LINNET_CONTEXT_FULL, "prefill: ", r.n_tokens, " tokens after ", before, " in one call: past n_context = ", s.params.n_context, ", where old ones are dropped, a call brings at most ",
                  short_call);
  }
  return LINNET_OK;
}

}  // namespace

Status session_prefill(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err) {
  LINNET_TRY(check_rows(s, rows, n_rows, err));
  const uint64_t start = clock_ns();
  PartRows parts[kMaxSequences];
  for (uint32_t i = 0; i < n_rows; ++i) {
    const Sequence& seq = s.seqs[rows[i].seq];
    const uint32_t n = static_cast<uint32_t>(rows[i].n_tokens);
    parts[i] = {rows[i].seq, n + seq.pending, n_rows > 1 ? 1 : n < s.params.n_logits ? n : s.params.n_logits, rows[i].tokens};
  }
  LINNET_TRY(compute(s, parts, n_rows, err));
  for (uint32_t i = 0; i < n_rows; ++i) s.stats.prefill_tokens += rows[i].n_tokens;
  if (!s.ttft_pending) {
    s.ttft_pending = true;
    s.ttft_start_ns = start;
  }
  s.stats.prefill_ns += clock_ns() - start;
  return LINNET_OK;
}

Status session_sample(linnet_session& s, uint32_t seq, int32_t* token, Error* err) {
  LINNET_TRY(catch_up(s, seq, err));
  if (s.seqs[seq].n_logit_rows == 0) return fail(err, LINNET_BAD_STATE, "sample: no logits; prefill first");
  return draw(s, s.seqs[seq], false, token, err);
}

Status session_decode(linnet_session& s, uint32_t i, int32_t* token, Error* err) {
  Sequence& seq = s.seqs[i];
  // Room first, so that a full context costs no draw of the generator.
  if (session_length(s, i) == session_most(s)) return fail(err, LINNET_CONTEXT_FULL, "decode: the context of ", session_most(s), " is full");
  const uint64_t draws = seq.n_draws;
  int32_t drawn = -1;
  LINNET_TRY(session_sample(s, i, &drawn, err));
  if (const Status status = compute_one(s, i, &drawn, err); status != LINNET_OK) {
    seq.n_draws = draws;
    return status;
  }
  *token = drawn;
  return LINNET_OK;
}

Status session_generate(linnet_session& s, uint32_t seq_id, const linnet_generate_params& params, linnet_token_fn fn, void* user, linnet_stop* why, Error* err) {
  LINNET_TRY(check_generate(s, params, err));
  Sequence& seq = s.seqs[seq_id];
  if (seq.n_logit_rows == 0 && !seq.pending) return fail(err, LINNET_BAD_STATE, "generate: no logits; prefill first");
  const Tokenizer& tokenizer = s.model->tokenizer;
  TextOut text{s.held, s.utf8, params, fn, user};
  Status status = LINNET_OK;
  *why = LINNET_STOP_NONE;
  if (s.device && !seq.place.grammar) {
    status = generate_ahead(s, seq_id, params, text, why, err);
    text.emit(-1, text.n, true);
    return status == LINNET_CANCELLED ? LINNET_OK : status;
  }
  for (uint32_t i = 0; *why == LINNET_STOP_NONE; ++i) {
    int32_t token = -1;
    if (text_complete(seq)) {
      *why = LINNET_STOP_GRAMMAR;
    } else if (params.max_tokens && i == params.max_tokens) {
      *why = LINNET_STOP_LENGTH;
    } else if (session_length(s, seq_id) == session_most(s)) {
      *why = LINNET_STOP_CONTEXT;
    } else if (status = catch_up(s, seq_id, err); status != LINNET_OK) {
      *why = status == LINNET_CANCELLED ? LINNET_STOP_CANCEL : LINNET_STOP_NONE;
      break;
    } else if (status = draw(s, seq, params.ignore_eos != 0, &token, err); status != LINNET_OK) {
      break;
    } else if (!params.ignore_eos && tokenizer.blob && token_is_eog(tokenizer, token)) {
      *why = LINNET_STOP_EOS;
    } else {
      // In the sequence at once, computed when its logits are needed: the last token of a generation costs nothing.
      make_room(s, seq, 1);
      *history_end(seq) = token;
      seq.pending = 1;
      pass_token(text, token, tokenizer.blob ? token_bytes(tokenizer, token, false) : std::string_view(), why);
    }
  }
  text.emit(-1, text.n, true);
  return status == LINNET_CANCELLED ? LINNET_OK : status;
}

}  // namespace linnet
