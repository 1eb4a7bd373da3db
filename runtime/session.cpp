// A session's parameters, its layout in memory, its beginning and its end.
#include "session.h"

#include <cstring>
#include <new>

#include "../platform/board.h"
#include "../platform/file.h"
#include "layers/kinds.h"
#include "lora.h"
#include "params.h"
#include "rope.h"

namespace linnet {

Status check_seq(const linnet_session& s, uint32_t seq, Error* err) {
  return seq < s.params.n_sequences
             ? LINNET_OK
             : fail(err, LINNET_BAD_ARG, "seq is ", seq, ": this session holds sequences 0..", s.params.n_sequences - 1);
}

// A process that was forked off has a session's memory, but neither its threads nor what the backend holds.
Status check_process(const linnet_session& s, Error* err) {
  if (const uint32_t here = process_id(); here != s.process)
    return fail(err, LINNET_BAD_STATE, "this session belongs to process ", s.process, ", this one is ", here,
                ": after a fork a process makes sessions of its own");
  return LINNET_OK;
}
// For calls that change a session, or look at what calls are about to change.
Status check_idle(const linnet_session& s, Error* err) {
  LINNET_TRY(check_process(s, err));
  return s.within == Within::kNothing
             ? LINNET_OK
             : fail(err, LINNET_BAD_STATE, "called from inside another call on the same session: from its callback or hook");
}
namespace {

constexpr uint32_t kRollbackOfStates = 64;  // by default, where every token more takes room in each layer
constexpr uint32_t kCheckpoints = 4, kMostCheckpoints = 4096, kCheckpointEvery = 1024;
constexpr uint32_t kMaxContext = 1u << 24, kMaxChunk = 4096, kMaxThreads = 256, kDefaultSpin = 20000, kMostSpin = 1u << 30;

void take_rows(Arena& arena, const QuantRoom& room, uint64_t rows, QuantRows* q) {
  q->stride = static_cast<size_t>(room.bytes);  // 0: there are no such matrices
  q->q = arena.take<uint8_t>("activations", rows * room.bytes);
  q->scale = arena.take<float>("activations", rows * room.groups);
  q->sum128 = arena.take<int32_t>("activations", rows * room.groups);
}

// What the rows of a chunk of c take in layers with experts, beside what all layers use.
void layout_experts(Arena& arena, const linnet_model& model, uint64_t c, const QuantRoom& room, Activations* a) {
  const ModelSpec& spec = model.spec;
  const uint64_t pairs = c * spec.n_active;
  a->router_stride = row_floats(spec.n_experts);
  a->router = arena.take<float>("activations", c * a->router_stride);
  a->shared_gate = arena.take<float>("activations", spec.shared_gate ? c * kPanel : 0);
  a->pair_rows = arena.take<float>("activations", pairs * a->d_stride);
  take_rows(arena, room, pairs, &a->pair_q);
  a->pairs.experts = arena.take<uint32_t>("activations", pairs);
  a->pairs.weights = arena.take<float>("activations", pairs);
  a->pairs.places = arena.take<uint32_t>("activations", pairs);
  a->pairs.from = arena.take<uint32_t>("activations", pairs);
  a->pairs.first = arena.take<uint32_t>("activations", spec.n_experts + 2);
  a->pairs.active = arena.take<uint32_t>("activations", spec.n_experts);
  a->pairs.n_active_experts = arena.take<uint32_t>("activations", 1);
}

void layout_rows(Arena& arena, const linnet_model& model, const linnet_session_params& p, RowTables* t) {
  const ModelSpec& spec = model.spec;
  const uint64_t c = p.n_chunk;
  t->n_rows = p.n_chunk;
  t->n_pairs[0] = rope_channels(spec, LayerRope::kMain) / 2;
  t->n_pairs[1] = spec.rope_local_base > 0 ? rope_channels(spec, LayerRope::kLocal) / 2 : 0;
  const uint64_t floats = t->rope_at(1, p.n_chunk), sink_floats = p.when_full == LINNET_FULL_SINKS ? kMaxSinks * floats : 0;
  t->cos = arena.take<float>("activations", floats);
  t->sin = arena.take<float>("activations", floats);
  t->sink_cos = arena.take<float>("activations", sink_floats);
  t->sink_sin = arena.take<float>("activations", sink_floats);
  if (!sink_floats) t->sink_cos = t->sink_sin = nullptr;
  t->layer_floats = model.backend->ops->embed_layers ? 0 : spec.n_layers * spec.layer_embd;
  t->layer_rows = arena.take<float>("activations", c * t->layer_floats);
  t->tokens = arena.take<int32_t>("activations", c);
  t->temperature = arena.take<float>("activations", spec.temp_scale > 0 ? c : 0);
  t->positions = arena.take<int32_t>("activations", spec.positions ? c : 0);
}

void layout_activations(const Places& places, const linnet_model& model, const linnet_session_params& p, Activations* a) {
  Arena& arena = places.own;
  const ModelSpec& spec = model.spec;
  const uint64_t c = p.n_chunk;
  a->d_stride = row_floats(spec.d_model);
  a->embd_stride = row_floats(spec.embd_dim);
  // Adapters want whole products of all rows.
  Needs needs = {
      .n_rows = c, .few_rows = p.lora_rank ? p.n_chunk : model.backend->ops->gate_up_rows, .codes = {}, .hidden = {}, .pairs = {}};
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const Layer& l = model.layers[i];
    kMixers[l.spec.mixer]->need(spec, l.spec, l.mixer, &needs);
    kFeedForwards[l.spec.feed_forward]->need(spec, l.spec, l.feed_forward, &needs);
  }
  for (const Matrix* m : {&model.head, &model.embd_in, &model.embd_out}) needs.codes.add(*m);
  const uint64_t layer_in = c * spec.n_layers * spec.layer_embd;
  if (layer_in) {
    needs.codes.add(model.layer_embd_proj);
    for (uint32_t i = 0; i < spec.n_layers; ++i)
      for (const Matrix* m : {&model.layers[i].input.gate, &model.layers[i].input.proj}) needs.codes.add(*m);
  }
  needs.need_wide(layer_in);
  needs.need_wide(c * a->embd_stride);
  for (uint32_t i = 0; spec.streams && i < spec.n_layers; ++i)
    for (const Matrix* m : {&model.layers[i].streams.laurel_in, &model.layers[i].streams.laurel_out}) needs.codes.add(*m);
  for (const Matrix* m : {&model.streams_in[0], &model.streams_out[0]}) needs.codes.add(*m);
  needs.need_wide(c * row_floats(spec.laurel_rank));
  a->x = arena.take<float>("activations", c * a->d_stride);
  a->normed = arena.take<float>("activations", c * a->d_stride);
  a->branch = arena.take<float>("activations", in_branch(spec) ? c * a->d_stride : 0);
  a->wide = arena.take<float>("activations", needs.wide);
  a->streams.apart = p.n_chunk * a->d_stride;
  a->streams.x = arena.take<float>("activations", spec.streams * a->streams.apart);
  a->streams.router = arena.take<float>("activations", spec.streams ? c * kPanel : 0);
  a->layer_in = arena.take<float>("activations", layer_in);
  take_rows(arena, needs.codes, c, &a->codes);
  take_rows(arena, needs.hidden, c, &a->hidden);
  layout_rows(arena, model, p, &a->rows);
  a->lora = arena.take<float>("adapters", kLorasAtOnce * c * row_floats(p.lora_rank));
  a->inv_freq = places.host.take<double>("activations", a->rows.n_pairs[0] + a->rows.n_pairs[1]);
  a->made = a->rows;
  if (places.apart) layout_rows(places.pinned, model, p, &a->made);
  if (spec.n_experts) layout_experts(arena, model, c, needs.pairs, a);
}

void start_rope(const linnet_model& model, uint32_t length, const Activations& a) {
  const ModelSpec& spec = model.spec;
  if (spec.rope_kind == kRopeNone) return;
  rope_frequencies(spec, model.rope, length, a.inv_freq);
  if (a.made.n_pairs[1]) rope_frequencies(spec.rope_local_base, 2 * a.made.n_pairs[1], a.inv_freq + a.made.n_pairs[0]);
}

struct CacheChoice {
  const linnet_model& model;
  const linnet_session_params& params;
};

// What a layer keeps of its tokens, in the formats that are asked for.
CacheLayer cache_layer(const void* of, uint32_t i) {
  const CacheChoice& c = *static_cast<const CacheChoice*>(of);
  const linnet_session_params& p = c.params;
  const LayerSpec& spec = c.model.layers[i].spec;
  CacheLayer layer = kMixers[spec.mixer]->cache(c.model.spec, spec);
  layer.k = static_cast<Format>(p.k_format);
  layer.v = static_cast<Format>(p.v_format);
  const uint32_t of_pages = i - layer.back;
  for (uint32_t j = 0; j < p.n_kv_layers; ++j) {  // later ones count
    const linnet_kv_layers l = element(p.kv_layers, j);
    if (of_pages < l.first || of_pages > l.last) continue;
    if (l.k_format) layer.k = static_cast<Format>(l.k_format);
    layer.v = l.v_format ? static_cast<Format>(l.v_format) : layer.k;
  }
  return layer;
}

SessionPlan backend_plan(linnet_session& f, const linnet_model& model, const linnet_session_params& p) {
  const ModelSpec& spec = model.spec;
  return {.n_chunk = p.n_chunk,
          .n_sequences = p.n_sequences,
          .n_threads = p.n_threads,
          .n_logits = p.n_logits > p.n_sequences ? p.n_logits : p.n_sequences,
          .n_heads = spec.n_heads,
          .head_k = spec.kv_lora_rank == 0                 ? 0
                    : spec.qk_nope_dim > spec.kv_lora_rank ? spec.qk_nope_dim
                                                           : spec.kv_lora_rank,
          .gate_up_rows = f.act.hidden.stride ? p.n_chunk : 0,  // 0: no layer without experts quantises what its last matrix reads
          .n_vocab = spec.n_vocab,
          .logits_stride = f.logits_stride,
          .piece_bytes = f.cache.piece_bytes(),
          .kv = &f.cache.kv,
          .slots = &f.cache.slots,
          .rows = &f.act.rows,
          .kernels = &model.kernels,
          .team = &f.team,
          .host = &f.host};
}

bool fill(linnet_session& f, const Places& places, const linnet_model& model, const linnet_session_params& p) {
  Arena& arena = places.host;
  const ModelSpec& spec = model.spec;
  const CacheChoice choice = {model, p};
  if (!f.cache.layout_in(arena, places.own,
                         {spec.n_layers, p.n_sequences, p.n_context, p.n_pool, p.n_chunk, p.n_rollback, p.when_full, p.n_keep,
                          spec.window_chunks != 0, model.backend, &choice, cache_layer,
                          p.n_checkpoints == LINNET_CHECKPOINTS_NONE ? 0 : p.n_checkpoints, p.checkpoint_every, spec.bidirectional != 0}))
    return false;
  layout_activations(places, model, p, &f.act);
  f.logits_stride = row_floats(spec.n_vocab);
  f.embed.sum_stride = row_floats(spec.d_model);
  f.embed.stride = f.embed.sum_stride;
  for (const uint32_t n : {spec.dense_mid, spec.dense_out})
    if (row_floats(n) > f.embed.stride) f.embed.stride = row_floats(n);
  f.embed.sums = arena.take<double>("embeddings", p.n_sequences * f.embed.sum_stride);
  f.embed.vectors = arena.take<float>("embeddings", p.n_sequences * f.embed.stride);
  f.embed.other = arena.take<float>("embeddings", spec.dense_out ? p.n_sequences * f.embed.stride : 0);
  f.embed.pools = arena.take<PoolRows>("embeddings", p.n_sequences);
  f.handle = model.backend->layout(places, model.handle, backend_plan(f, model, p));
  f.seqs = arena.take<Sequence>("sequences", p.n_sequences);
  f.spans = arena.take<RowSpan>("sequences", p.n_sequences);
  f.lora_rows = arena.take<LoraRows>("adapters", p.lora_rank ? 2 * p.n_sequences : 0);
  f.parts_done = arena.take<uint32_t>("sequences", p.n_sequences);
  f.taken = arena.take<uint32_t>("sequences", kMaxKvClasses);
  f.logit_rows = arena.take<uint32_t>("sequences", p.n_logits > p.n_sequences ? p.n_logits : p.n_sequences);
  const uint64_t most_chosen = spec.expert_capacity ? uint64_t{spec.n_layers} * p.n_context * spec.n_active : 0;
  uint16_t* chosen = places.own.take<uint16_t>(model.backend->chosen,
                                               p.n_sequences * most_chosen);  // one piece: the kernels step from sequence to sequence
  for (uint32_t i = 0; i < p.n_sequences; ++i) {
    float* logits = arena.take<float>("logits", uint64_t{p.n_logits} * f.logits_stride);
    int32_t* history = arena.take<int32_t>("history", history_tokens(p));
    Generation* generation = arena.take<Generation>("text", 1);
    if (generation) generation->going = false;
    if (f.seqs)
      f.seqs[i] = {.length = 0,
                   .replay = 0,
                   .pending = 0,
                   .history = history,
                   .n_forgotten = 0,
                   .logits = logits,
                   .n_logit_rows = 0,
                   .chosen = chosen ? chosen + i * most_chosen : nullptr,
                   .sampling = {},
                   .n_draws = 0,
                   .mu = 0,
                   .generation = generation,
                   .place = {},
                   .lora = {},
                   .lora_hash = 0};
  }
  f.batch_logits = arena.take<float>("logits", p.n_sequences > 1 ? uint64_t{p.n_sequences} * f.logits_stride : 0);
  f.host.sampler.order = arena.take<uint64_t>("sampling", spec.n_vocab);
  f.host.sampler.logits = arena.take<float>("sampling", spec.n_vocab);
  f.utf8 = arena.take<char>("text", 3 * kHeldBytes);
  f.may_follow = arena.take<uint32_t>("sampling", (spec.n_vocab + 31) / 32);
  if (p.n_logits > 1 && model.tokenizer.blob) forced_layout(arena, model.tokenizer, &f.forced);
  f.team.layout_in(arena, p.n_threads, p.threads);
  return true;
}

Status check_kv_format(uint32_t f, const char* what, Error* err) {
  if (format_kv(f)) return LINNET_OK;
  const char* name = format_name(static_cast<Format>(f));
  return fail(err, LINNET_UNSUPPORTED, "session: ", what, " ", name ? name : "?", " (", f, "): one of ", kKvFormatNames);
}

bool has_states(const ModelSpec& s) {
  for (uint32_t i = 0; i < s.n_layers; ++i)
    if (const LayerSpec l = layer_spec(s, i); kMixers[l.mixer]->cache(s, l).slot.state_floats) return true;
  return false;
}

// What happens when the context is full; fills in n_keep and n_rollback.
Status check_when_full(const linnet_model& model, linnet_session_params* p, Error* err) {
  const bool chosen = p->when_full == LINNET_FULL_HEAVY_HITTERS || p->when_full == LINNET_FULL_SNAPKV;
  if (p->when_full == LINNET_FULL_DEFAULT) p->when_full = LINNET_FULL_STOP;
  if (p->when_full > LINNET_FULL_SNAPKV) return fail(err, LINNET_BAD_ARG, "session: when_full is ", p->when_full, ", there is no such way");
  if (p->when_full == LINNET_FULL_STOP) p->n_keep = 0;
  if (p->n_keep == LINNET_KEEP_NONE) {
    if (p->when_full != LINNET_FULL_DROP_OLDEST)
      return fail(err, LINNET_BAD_ARG, "session: n_keep is LINNET_KEEP_NONE, which is for LINNET_FULL_DROP_OLDEST; when_full is ",
                  p->when_full);
    p->n_keep = 0;
  }
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_SINKS) p->n_keep = 4;
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_HEAVY_HITTERS) p->n_keep = p->n_context / 2;
  if (p->n_keep == 0 && p->when_full == LINNET_FULL_SNAPKV) p->n_keep = p->n_context / 4;
  if (p->when_full == LINNET_FULL_SINKS && p->n_keep > kMaxSinks)
    return fail(err, LINNET_BAD_ARG, "session: n_keep is ", p->n_keep, ", at most ", kMaxSinks, " sinks");
  if (chosen && p->n_keep < p->n_context) p->n_keep = static_cast<uint32_t>(align_up(p->n_keep, kPagePositions));  // whole pages
  if (p->n_keep >= p->n_context)
    return fail(err, LINNET_BAD_ARG, "session: n_keep is ", p->n_keep, ", must be less than n_context = ", p->n_context);
  if (has_states(model.spec)) {
    if (p->when_full != LINNET_FULL_STOP)
      return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full,
                  ": not in a model whose layers carry a state, of which no token can be dropped");
    if (p->n_rollback == 0) p->n_rollback = p->n_context < kRollbackOfStates ? p->n_context : kRollbackOfStates;
  }
  if (p->n_rollback == 0) p->n_rollback = drops_tokens(*p) && p->n_chunk > p->n_context - p->n_keep ? p->n_context - p->n_keep : p->n_chunk;
  if (drops_tokens(*p) && p->n_context - p->n_keep < p->n_rollback)
    return fail(err, LINNET_BAD_ARG, "session: n_context is ", p->n_context, ", too small for n_keep = ", p->n_keep,
                " tokens that stay and n_rollback = ", p->n_rollback);
  return LINNET_OK;
}

// A model whose rows see what follows them: a text is one pass, of which nothing is kept.
Status check_bidirectional(const linnet_model& model, const linnet_session_params& p, Error* err) {
  if (!model.spec.bidirectional) return LINNET_OK;
  if (!model.backend->ops->pool)
    return fail(err, LINNET_UNSUPPORTED, "session: the model's attention is bidirectional, which ", model.backend->name, " has not");
  return p.when_full == LINNET_FULL_STOP
             ? LINNET_OK
             : fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p.when_full, ": not in a model whose attention is bidirectional");
}

// Ways to tell positions that do not go with every length or every way to drop tokens; fills in rope_length.
Status check_positions(const ModelSpec& spec, linnet_session_params* p, Error* err) {
  if (p->rope_length > kMaxContext) return fail(err, LINNET_BAD_ARG, "session: rope_length is ", p->rope_length, ", at most ", kMaxContext);
  if (p->rope_length == 0) p->rope_length = p->n_context;
  if (spec.positions && p->n_context > spec.positions - spec.position_offset)
    return fail(err, LINNET_BAD_ARG, "session: n_context is ", p->n_context, ", the model has ", spec.positions - spec.position_offset,
                " learned positions");
  const char* what = spec.positions ? "learned positions" : spec.alibi ? "ALiBi" : nullptr;
  if (what && p->when_full != LINNET_FULL_STOP)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full, ": not in a model with ", what);
  if (spec.qk_norm == kQkNormHeadAfter && p->when_full == LINNET_FULL_SINKS)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full,
                ": sinks move unrotated keys, and the model norms keys after RoPE");
  return LINNET_OK;
}

// Formats of single layers: every one known, and in few enough combinations with the windows.
Status check_kv_layers(const linnet_model& model, const linnet_session_params& p, Error* err) {
  for (uint32_t i = 0; i < p.n_kv_layers; ++i) {
    linnet_kv_layers l;
    LINNET_TRY(read_element(p.kv_layers, i, "session: kv_layers", &l, err));
    if (l.first > l.last || l.last >= model.spec.n_layers)
      return fail(err, LINNET_BAD_ARG, "session: kv_layers[", i, "] is for layers ", l.first, "..", l.last, ", the model has 0..",
                  model.spec.n_layers - 1);
    if (l.k_format) LINNET_TRY(check_kv_format(l.k_format, "kv_layers: K format", err));
    if (l.v_format) LINNET_TRY(check_kv_format(l.v_format, "kv_layers: V format", err));
  }
  const CacheChoice choice = {model, p};
  for (uint32_t i = 0; i < model.spec.n_layers; ++i) {
    const CacheLayer layer = cache_layer(&choice, i);
    if (model.spec.window_chunks && layer.window && p.when_full != LINNET_FULL_STOP && layer.window > p.n_context - p.n_keep)
      return fail(err, LINNET_UNSUPPORTED, "session: layer ", i, " sees chunks of ", layer.window,
                  " tokens, of which when_full = ", p.when_full, " would keep ", p.n_context - p.n_keep);
    for (const Format f : {layer.k, layer.v})
      if (format_groups(f) && !model.backend->groups)
        return fail(err, LINNET_UNSUPPORTED, "session: KV format ", format_name(f), " is not to be had with ", model.backend->name);
    if (model.spec.bidirectional && format_groups(layer.k))
      return fail(err, LINNET_UNSUPPORTED, "session: KV format ", format_name(layer.k), " in a model whose attention is bidirectional");
    LINNET_TRY(check_pages(layer, i, p.when_full, err));
  }
  linnet_session counted{};
  Footprint memory;
  if (!fill(counted, model.backend->places(memory, model.profile, true), model, p))
    return fail(err, LINNET_UNSUPPORTED, "session: the layers need more than ", kMaxKvClasses,
                " combinations of heads, K format, V format and window, of which those in ", kGroupFormatNames, " count twice");
  return LINNET_OK;
}

// What the model's profile says where the caller does not.
void take_profile(const linnet_model& model, linnet_session_params* p) {
  const linnet_profile& profile = model.profile;
  const auto take = [](uint32_t* to, uint32_t from) {
    if (*to == 0) *to = from;
  };
  if (p->k_format == 0) take(&p->v_format, profile.v_format);
  take(&p->k_format, profile.k_format);
  take(&p->n_context, profile.n_context < model.spec.n_context ? profile.n_context : model.spec.n_context);
  take(&p->n_chunk, profile.n_chunk);
  take(&p->n_threads, profile.n_threads);
  if (!p->parallel_for) take(&p->threads, profile.threads);  // the app's threads are asked for by their hook
  take(&p->wait, profile.wait);
  take(&p->spin, profile.spin);
  // n_keep is of a way to drop tokens, and goes by where that is said.
  if (p->when_full == LINNET_FULL_DEFAULT) {
    p->when_full = profile.when_full;
    take(&p->n_keep, profile.n_keep);
  }
}

Status resolve_params(const linnet_model& model, linnet_session_params p, linnet_session_params* out, Error* err) {
  p.size = sizeof p;
  take_profile(model, &p);
  if (model.spec.n_layers == 0) return fail(err, LINNET_UNSUPPORTED, "session: the model holds only a vocabulary");
  if (p.n_context == 0) p.n_context = model.spec.n_context < 4096 ? model.spec.n_context : 4096;
  if (p.n_context > kMaxContext) return fail(err, LINNET_BAD_ARG, "session: n_context is ", p.n_context, ", at most ", kMaxContext);
  if (p.n_chunk == 0) p.n_chunk = !model.spec.bidirectional ? 256 : p.n_context < kMaxChunk ? p.n_context : kMaxChunk;
  if (p.n_chunk > kMaxChunk) return fail(err, LINNET_BAD_ARG, "session: n_chunk is ", p.n_chunk, ", at most ", kMaxChunk);
  if (p.n_chunk > p.n_context) p.n_chunk = p.n_context;
  if (p.k_format == 0) p.k_format = LINNET_I8;
  if (p.v_format == 0) p.v_format = p.k_format;
  LINNET_TRY(check_kv_format(p.k_format, "KV format", err));
  LINNET_TRY(check_kv_format(p.v_format, "V format", err));
  if (p.n_threads == 0) p.n_threads = 1;
  if (p.n_threads > kMaxThreads) return fail(err, LINNET_BAD_ARG, "session: n_threads is ", p.n_threads, ", at most ", kMaxThreads);
  if (p.parallel_for && p.threads == LINNET_THREADS_DEFAULT) p.threads = LINNET_THREADS_APP;
  if ((p.threads == LINNET_THREADS_APP) != (p.parallel_for != nullptr))
    return fail(
        err, LINNET_BAD_ARG, "session: threads is ", p.threads,
        p.parallel_for ? ", but parallel_for is set: LINNET_THREADS_APP (3) or 0" : " (LINNET_THREADS_APP), but parallel_for is NULL");
  LINNET_TRY(team_kind(p.threads, &p.threads, err));
  if (p.wait > LINNET_WAIT_SLEEP) return fail(err, LINNET_BAD_ARG, "session: wait is ", p.wait, ", there is no such way");
  if (p.spin > kMostSpin) return fail(err, LINNET_BAD_ARG, "session: spin is ", p.spin, ", at most ", kMostSpin);
  if (p.spin == 0) p.spin = kDefaultSpin;
  if (p.wait == LINNET_WAIT_DEFAULT) p.wait = LINNET_WAIT_SPIN;
  if (p.wait == LINNET_WAIT_SLEEP) p.spin = 1;
  if (p.n_logits == 0) p.n_logits = 1;
  if (p.n_logits > p.n_chunk) return fail(err, LINNET_BAD_ARG, "session: n_logits is ", p.n_logits, ", at most n_chunk = ", p.n_chunk);
  if (p.n_sequences == 0) p.n_sequences = 1;
  if (p.n_sequences > kMaxSequences)
    return fail(err, LINNET_BAD_ARG, "session: n_sequences is ", p.n_sequences, ", at most ", kMaxSequences);
  if (p.n_pool == 0) p.n_pool = p.n_sequences * p.n_context;
  if (p.n_pool < p.n_context || p.n_pool > p.n_sequences * p.n_context)
    return fail(err, LINNET_BAD_ARG, "session: n_pool is ", p.n_pool, ", must be n_context = ", p.n_context, " to n_sequences times that");
  if (p.n_rollback > p.n_context) p.n_rollback = p.n_context;
  if (p.n_checkpoints == 0) p.n_checkpoints = kCheckpoints;
  if (p.n_checkpoints > kMostCheckpoints && p.n_checkpoints != LINNET_CHECKPOINTS_NONE)
    return fail(err, LINNET_BAD_ARG, "session: n_checkpoints is ", p.n_checkpoints, ", at most ", kMostCheckpoints,
                ", or LINNET_CHECKPOINTS_NONE");
  if (p.checkpoint_every == 0) p.checkpoint_every = kCheckpointEvery;
  if (p.checkpoint_every > kMaxContext)
    return fail(err, LINNET_BAD_ARG, "session: checkpoint_every is ", p.checkpoint_every, ", at most ", kMaxContext);
  if (p.lora_rank > kMostLoras * kMostLoraRank)
    return fail(err, LINNET_BAD_ARG, "session: lora_rank is ", p.lora_rank, ", at most ", kMostLoras * kMostLoraRank);
  if (p.reserved) return fail(err, LINNET_BAD_ARG, "session: reserved is ", p.reserved, ", must be 0");
  if (p.lora_rank) LINNET_TRY(lora_check(model, err));
  LINNET_TRY(check_when_full(model, &p, err));
  LINNET_TRY(check_bidirectional(model, p, err));
  LINNET_TRY(check_positions(model.spec, &p, err));
  if (model.spec.expert_capacity && p.when_full != LINNET_FULL_STOP)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p.when_full, ": the model's experts have a capacity of ",
                model.spec.expert_capacity, ", counted over all positions");
  if (p.n_kv_layers > 1024 || (p.n_kv_layers && !p.kv_layers))
    return fail(err, LINNET_BAD_ARG, "session: n_kv_layers is ", p.n_kv_layers, p.kv_layers ? ", at most 1024" : ", kv_layers is NULL");
  LINNET_TRY(model.backend->check_params(&p, err));
  LINNET_TRY(check_kv_layers(model, p, err));
  *out = p;
  return LINNET_OK;
}

// The profile's memory cap; `wished` is what the caller said.
Status check_cap(const linnet_model& model, const linnet_session_params& wished, const linnet_session_params& p, Error* err) {
  const uint64_t cap = model.profile.memory_bytes, fixed = resident_bytes(model) + model.arena.used();
  if (cap == 0) return LINNET_OK;
  const auto bytes = [&](const linnet_session_params& q) {
    Footprint count;
    session_count(&count, model, q);
    return count.ok() ? uint64_t{count.host.used()} + count.own.used() + count.pinned.used() : SIZE_MAX / 2;
  };
  const uint64_t need = bytes(p);
  if (fixed + need <= cap) return LINNET_OK;
  // The longest context that fits. Very short ones may be no context at all with what else is asked for: those count as fitting until the
  // end.
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
    if (!with_context(n, &q) || fixed + bytes(q) <= cap)
      fits = n;
    else
      above = n;
  }
  if (fits && (!with_context(fits, &q) || fixed + bytes(q) > cap)) fits = 0;
  // The largest format that fits, of each size the first.
  const char* format = nullptr;
  uint32_t bits = 32;
  for (const FormatRow& row : kFormats) {
    const Format f = row.format;
    if (format || !format_kv(f) || row.bits >= bits) continue;
    bits = row.bits;
    linnet_session_params w = wished;
    w.k_format = w.v_format = f;
    w.n_kv_layers = 0;
    w.kv_layers = nullptr;
    if (resolve_params(model, w, &q, nullptr) == LINNET_OK && fixed + bytes(q) <= cap) format = format_name(f);
  }
  char context[16] = "";
  size_t digits = 0;
  for (uint32_t v = fits, ten = 1000000000; ten; v %= ten, ten /= 10)
    if (v / ten || digits) context[digits++] = static_cast<char>('0' + v / ten);
  return fail(err, LINNET_TOO_SMALL, "session: weights of ", resident_bytes(model), " bytes, ", model.arena.used(), " of the model and ",
              need, " of a session of ", p.n_context, " positions are more than the profile's memory cap of ", cap,
              fits ? "; n_context = " : "", context,
              fits && format ? ", or"
              : format       ? ";"
                             : "",
              format ? " a KV cache in " : "", format ? format : "", fits || format ? " fits" : "; no context fits");
}

}  // namespace

Status session_params(const linnet_model& model, const linnet_session_params* in, linnet_session_params* out, Error* err) {
  linnet_session_params wished;
  LINNET_TRY(read_params(in, "session", &wished, err));
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

void session_count(Footprint* out, const linnet_model& model, const linnet_session_params& params) {
  session_layout(model.backend->places(*out, model.profile, true), model, params);
}

Status session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model, const linnet_session_params* in, Error* err) {
  linnet_session_params params;
  LINNET_TRY(session_params(*model, in, &params, err));
  Footprint memory;
  session_count(&memory, *model, params);
  LINNET_TRY(footprint_fits(memory, params, err));
  if (memory.host.used() > bytes) return fail(err, LINNET_TOO_SMALL, "session: memory of ", bytes, " bytes, needs ", memory.host.used());
  const linnet_cpus cpus = cpu_both(model->profile.cpus, cpu_affinity());
  if (cpu_count(model->profile.cpus) && !cpu_count(cpus) && cpu_count(cpu_affinity()))
    return fail(err, LINNET_BAD_PROFILE, "session: the profile names ", cpu_count(model->profile.cpus),
                " CPUs, of which this thread may use none");
  memory_huge(mem, bytes, model->profile.huge_pages);
  const Backend& backend = *model->backend;
  LINNET_TRY(backend.alloc(model->handle, &memory, err));
  memory.host = Arena(mem, bytes);
  linnet_session* s = session_layout(backend.places(memory, model->profile, false), *model, params);
  s->model = model;
  s->params = params;
  s->process = process_id();
  s->arena = memory.host;
  s->own = memory.own;
  s->pinned = memory.pinned;
  LINNET_TRY(backend.start(s->handle, model->handle, &memory, err));
  {
    const BackendGuard bound(*s);
    s->cache.reset(s->handle);
  }
  start_rope(*model, params.rope_length, s->act);
  s->host.sampler.exp_row = model->kernels.t.exp_row;
  s->host.sampler.find_above = model->kernels.t.find_above;
  if (model->tokenizer.blob) {
    s->host.sampler.text_of = &model->tokenizer;
    s->host.sampler.text = [](const void* of, int32_t token) { return token_bytes(*static_cast<const Tokenizer*>(of), token, false); };
  }
  s->stats.size = sizeof s->stats;
  s->stats.n_threads = params.n_threads;
  s->stats.memory_bytes = s->arena.used();
  s->team.app = params.parallel_for;
  s->team.app_user = params.parallel_for_user;
  s->cpus = cpus;
  const CpuGuard bound(cpus);  // new threads inherit it, and more threads than CPUs do not spin
  for (uint32_t i = 0; i < params.n_sequences; ++i) sampling_default(&s->seqs[i].sampling);
  if (const Status status = s->team.start(params.n_threads, params.threads, params.spin, err);
      status != LINNET_OK) {  // a failed team has stopped already
    backend.stop(s->handle);
    return status;
  }
  s->team.bind(cpus, model->profile.priority);
  *out = s;
  return LINNET_OK;
}

void session_fini(linnet_session& s) {
  s.team.stop();
  s.model->backend->stop(s.handle);
}

}  // namespace linnet
