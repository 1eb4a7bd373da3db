#include "audio_session.h"

#include <new>

#include "../../platform/board.h"
#include "../../platform/file.h"
#include "../layers/audio_pass.h"
#include "../params.h"
#include "../rope.h"

namespace linnet {
namespace {

constexpr uint32_t kMaxThreads = 256, kSpin = 20000;

struct KvChoice {
  const AudioSpec& spec;
  Format k, v;
};
CacheLayer kv_layer(const void* of, uint32_t) {
  const KvChoice& c = *static_cast<const KvChoice*>(of);
  return {
      .k = c.k, .v = c.v, .n_heads = c.spec.n_heads, .n_kv_heads = c.spec.n_heads, .head_dim = c.spec.head_dim(), .latent = 0, .window = 0};
}

void take_codes(Arena& arena, const QuantRoom& room, uint64_t rows, QuantRows* out) {
  out->q = arena.take<uint8_t>("activations", rows * room.bytes);
  out->scale = arena.take<float>("activations", rows * room.groups);
  out->sum128 = arena.take<int32_t>("activations", rows * room.groups);
}

// coded: rows that are quantised at once.
void take_rows(Arena& arena, const Needs& needs, uint64_t all, uint64_t coded, uint64_t d, AudioRows* out) {
  out->x = arena.take<float>("activations", all * d);
  out->normed = arena.take<float>("activations", needs.n_rows * d);
  out->wide = arena.take<float>("activations", needs.wide);
  take_codes(arena, needs.codes, coded, &out->codes);
  take_codes(arena, needs.hidden, needs.n_rows, &out->hidden);
}

void fill(linnet_audio_session& f, Arena& arena, const linnet_audio& audio, const linnet_audio_session_params& p) {
  const AudioSpec& spec = audio.spec;
  const KvChoice choice = {spec, static_cast<Format>(p.k_format), static_cast<Format>(p.v_format)};
  const auto plan = [&](uint32_t n_layers, uint32_t n_seqs, uint32_t n_context, bool both_ways) {
    CachePlan c{};
    c.n_layers = n_layers, c.n_sequences = n_seqs, c.n_context = n_context;
    c.n_pool = n_seqs > 1 ? (p.n_beams + 1) * n_context : n_context;
    c.n_chunk = n_context, c.n_rollback = 1, c.when_full = LINNET_FULL_STOP;
    c.backend = audio.backend, c.of = &choice, c.layer = kv_layer, c.bidirectional = both_ways;
    return c;
  };
  f.heard.layout_in(arena, arena, plan(1, 1, spec.n_audio, true));
  f.cross.layout_in(arena, arena, plan(spec.n_decoder, 1, spec.n_audio, true));
  f.text.layout_in(arena, arena, plan(spec.n_decoder, 2 * p.n_beams, spec.n_text, false));

  mel_layout(arena, spec.n_mels, p.n_threads, &f.mel);
  f.spectra = arena.take<float>("spectra", spec.n_mels ? uint64_t{2 * spec.n_audio + 2} * spec.n_mels : 0);
  f.sums = arena.take<double>("activations", spec.whisper() ? 0 : 2 * audio_first_rows(spec));
  const uint32_t few = audio.backend->ops->gate_up_rows;
  Needs encoder = {.n_rows = kAudioChunk, .few_rows = few, .codes = {}, .hidden = {}, .pairs = {}};
  Needs decoder = {.n_rows = kTextChunk, .few_rows = few, .codes = {}, .hidden = {}, .pairs = {}};
  for (const Matrix& m : audio.conv) encoder.codes.add(m);
  encoder.need_wide(audio_front_floats(spec));
  for (uint32_t i = 0; i < spec.n_encoder; ++i) {
    audio_need(audio.encoder[i].attention, &encoder);
    audio_need(audio.encoder[i].feed_forward, spec.d_ff_encoder, &encoder);
  }
  for (uint32_t i = 0; i < spec.n_decoder; ++i) {
    audio_need(audio.decoder[i].cross, &encoder);
    audio_need(audio.decoder[i].cross, &decoder);
    audio_need(audio.decoder[i].attention, &decoder);
    audio_need(audio.decoder[i].feed_forward, spec.d_ff_decoder, &decoder);
  }
  decoder.codes.add(audio.embedding);
  take_rows(arena, encoder, spec.n_audio, audio_front_rows(spec), spec.d_model, &f.enc);
  take_rows(arena, decoder, kTextChunk, kTextChunk, spec.d_model, &f.dec);
  const uint32_t pairs = spec.rope_dim / 2;
  f.inv_freq = arena.take<double>("activations", pairs);
  f.cos = arena.take<float>("activations", uint64_t{pairs} * spec.n_audio);
  f.sin = arena.take<float>("activations", uint64_t{pairs} * spec.n_audio);
  f.text_cos = arena.take<float>("activations", uint64_t{pairs} * kTextChunk);
  f.text_sin = arena.take<float>("activations", uint64_t{pairs} * kTextChunk);
  f.tokens = arena.take<int32_t>("activations", kTextChunk);
  f.positions = arena.take<int32_t>("activations", spec.n_audio + kTextChunk);
  f.spans = arena.take<RowSpan>("activations", kTextChunk);
  f.cross_spans = arena.take<RowSpan>("activations", kTextChunk);
  f.logits_stride = row_floats(spec.n_vocab);
  f.logits = arena.take<float>("logits", uint64_t{p.n_beams} * f.logits_stride);
  f.lengths = arena.take<uint32_t>("sequences", 2 * p.n_beams);
  transcribe_layout(arena, audio, p.n_beams, f.logits_stride, &f.transcriber);
  f.host = {};
  const SessionPlan session = {.n_chunk = kAudioChunk,
                               .n_sequences = 2 * p.n_beams,
                               .n_threads = p.n_threads,
                               .n_logits = p.n_beams,
                               .n_heads = spec.n_heads,
                               .head_k = 0,
                               .gate_up_rows = kAudioChunk,
                               .n_vocab = spec.n_vocab,
                               .logits_stride = f.logits_stride,
                               .piece_bytes = 0,
                               .kv = &f.text,
                               .slots = nullptr,
                               .rows = nullptr,
                               .kernels = &audio.kernels,
                               .team = &f.team,
                               .host = &f.host};
  f.handle = audio.backend->layout({arena, arena, arena, false}, nullptr, session);
  f.team.layout_in(arena, p.n_threads, p.threads);
}

Status run(linnet_audio_session& s, AudioPass& pass, Error* err) {
  pass.stop = s.cancel.exchange(0, std::memory_order_relaxed);
  if (!pass.stop) LINNET_TRY(s.audio->backend->run(s.handle, pass, err));
  if (pass.stop) return fail(err, LINNET_CANCELLED, "cancelled");
  if (pass.not_finite) return fail(err, LINNET_NOT_FINITE, "audio: an activation became infinite or NaN");
  return LINNET_OK;
}

}  // namespace

Status audio_session_params(const linnet_audio& audio, const linnet_audio_session_params* in, linnet_audio_session_params* out,
                            Error* err) {
  linnet_audio_session_params p;
  LINNET_TRY(read_params(in, "audio session", &p, err));
  const linnet_profile& profile = audio.profile;
  if (p.n_threads == 0) p.n_threads = profile.n_threads ? profile.n_threads : 1;
  if (p.n_threads > kMaxThreads) return fail(err, LINNET_BAD_ARG, "audio session: n_threads is ", p.n_threads, ", at most ", kMaxThreads);
  if (p.threads == 0) p.threads = profile.threads;
  if (p.threads == LINNET_THREADS_APP)
    return fail(err, LINNET_UNSUPPORTED, "audio session: threads is LINNET_THREADS_APP, which there is no hook for");
  LINNET_TRY(team_kind(p.threads, &p.threads, err));
  if (p.n_beams == 0) p.n_beams = 1;
  if (p.n_beams > kMostBeams) return fail(err, LINNET_BAD_ARG, "audio session: n_beams is ", p.n_beams, ", at most ", kMostBeams);
  if (p.k_format == 0) p.k_format = LINNET_I8;
  if (p.v_format == 0) p.v_format = p.k_format;
  for (const uint32_t f : {p.k_format, p.v_format})
    if (!format_kv(f) || format_groups(f))
      return fail(err, LINNET_UNSUPPORTED, "audio session: KV format ", f, " is none of ", kKvFormatNames, " but for groups");
  *out = p;
  return LINNET_OK;
}

linnet_audio_session* audio_session_layout(Arena& arena, const linnet_audio& audio, const linnet_audio_session_params& params) {
  linnet_audio_session* s = arena.take<linnet_audio_session>("session", 1);
  if (s) {
    new (s) linnet_audio_session{};
    fill(*s, arena, audio, params);
  } else {
    linnet_audio_session counted{};
    fill(counted, arena, audio, params);
  }
  return s;
}

Status audio_session_init(linnet_audio_session** out, void* mem, size_t bytes, const linnet_audio* audio,
                          const linnet_audio_session_params* in, Error* err) {
  linnet_audio_session_params params;
  LINNET_TRY(audio_session_params(*audio, in, &params, err));
  Arena counted;
  audio_session_layout(counted, *audio, params);
  if (!counted.ok() || counted.used() > bytes)
    return fail(err, LINNET_TOO_SMALL, "audio session: memory of ", bytes, " bytes, needs ", counted.used());
  const AudioSpec& spec = audio->spec;
  memory_huge(mem, bytes, audio->profile.huge_pages);
  Arena arena(mem, bytes);
  linnet_audio_session* const s = audio_session_layout(arena, *audio, params);
  s->audio = audio;
  s->params = params;
  s->process = process_id();
  s->arena = arena;
  for (KvCache* kv : {&s->heard, &s->cross, &s->text}) {
    kv->session = s->handle;
    kv->reset();
  }
  for (uint32_t i = 0; i < spec.n_mels; ++i)
    audio->kernels.t.gather_row(audio->mel.format, audio->mel.panels, audio->mel.scales, audio->mel.n, audio->mel.k, i,
                                s->mel.filters + size_t{i} * kFftBins);
  if (spec.n_mels) mel_start(&s->mel);
  for (uint32_t i = 0; i < spec.n_audio; ++i) s->positions[i] = static_cast<int32_t>(i);
  const uint32_t pairs = spec.rope_dim / 2;
  if (pairs) rope_frequencies(spec.rope_base, spec.rope_dim, s->inv_freq);
  for (uint32_t i = 0; pairs && i < spec.n_audio; ++i)
    rope_fill(s->inv_freq, pairs, i, 1, s->cos + size_t{i} * pairs, s->sin + size_t{i} * pairs);
  for (uint32_t i = 0; i < audio_texts(*s); ++i) s->lengths[i] = 0;
  s->cpus = cpu_both(audio->profile.cpus, cpu_affinity());
  const CpuGuard bound(s->cpus);
  LINNET_TRY(s->team.start(params.n_threads, params.threads, audio->profile.spin ? audio->profile.spin : kSpin, err));
  s->team.bind(s->cpus, audio->profile.priority);
  *out = s;
  return LINNET_OK;
}

uint32_t audio_rows_of(const AudioSpec& s, size_t n) {
  if (s.whisper()) return static_cast<uint32_t>(n / (2 * kHop) < s.n_audio ? n / (2 * kHop) : s.n_audio);
  Convolution c[3] = {};
  uint64_t rows = n;
  for (uint32_t i = 0; i < audio_convolutions(s, c); ++i) rows = rows < c[i].taps ? 0 : (rows - c[i].taps) / c[i].stride + 1;
  return static_cast<uint32_t>(rows < s.n_audio ? rows : s.n_audio);
}

void audio_clear(linnet_audio_session& s, uint32_t seq) {
  s.text.truncate(seq, 0);
  s.lengths[seq] = 0;
}

void audio_fork(linnet_audio_session& s, uint32_t from, uint32_t to) {
  audio_clear(s, to);
  s.text.fork(from, to, s.lengths[from]);
  s.lengths[to] = s.lengths[from];
}

Status audio_hear(linnet_audio_session& s, const float* pcm, size_t n, size_t n_window, Error* err) {
  const uint32_t rows = audio_rows_of(s.audio->spec, n_window);
  if (n && s.audio->kernels.t.amax_bits(pcm, static_cast<uint32_t>(n)) >= 0x7F800000u)
    return fail(err, LINNET_NOT_FINITE, "audio: a sample is infinite or NaN");
  for (uint32_t i = 0; i < audio_texts(s); ++i) audio_clear(s, i);
  s.n_states = 0;
  for (KvCache* kv : {&s.heard, &s.cross}) {
    kv->truncate(0, 0);
    kv->begin(0, 0, rows);
    kv->advance(0, 0, rows);
    kv->commit(0, 0, rows);
  }
  AudioPass pass(s, rows, encode_audio);
  pass.pcm = pcm;
  pass.n = n;
  pass.n_window = n_window;
  LINNET_TRY(run(s, pass, err));
  s.n_states = rows;
  return LINNET_OK;
}

Status audio_read(linnet_audio_session& s, const TextRows* in, uint32_t n_in, Error* err, void (*score)(void* arg, uint32_t row),
                  void* arg) {
  const AudioSpec& spec = s.audio->spec;
  const uint32_t pairs = spec.rope_dim / 2;
  uint32_t rows = 0, logit_rows[kMostBeams], n_cross = 0;
  for (uint32_t i = 0; i < n_in; ++i) {
    const TextRows& t = in[i];
    const uint32_t length = s.lengths[t.seq];
    if (t.n > spec.n_text - length)
      return fail(err, LINNET_CONTEXT_FULL, "audio: a text of ", length, " tokens and ", t.n, " more, the model has room for ",
                  spec.n_text);
    s.spans[i] = {t.seq, rows, t.n, length};
    for (uint32_t r = 0; r < t.n; ++r, ++rows) {
      s.tokens[rows] = t.tokens[r];
      s.positions[spec.n_audio + rows] = static_cast<int32_t>(length + r);
      if (pairs) rope_fill(s.inv_freq, pairs, length + r, 1, s.text_cos + size_t{rows} * pairs, s.text_sin + size_t{rows} * pairs);
    }
    logit_rows[i] = rows - 1;
  }
  // All look at the same rows, whichever text they are of; a span is never longer than what was heard.
  for (uint32_t r = 0, n; r < rows; r += n) {
    n = rows - r < s.n_states ? rows - r : s.n_states;
    s.cross_spans[n_cross++] = {0, r, n, s.n_states - n};
  }
  for (uint32_t i = 0; i < n_in; ++i) {
    const uint32_t length = s.lengths[in[i].seq];
    s.text.begin(in[i].seq, length, length + in[i].n);
    s.text.advance(in[i].seq, length, in[i].n);
  }
  AudioPass pass(s, rows, decode_audio);
  pass.spans = s.spans;
  pass.n_spans = n_in;
  pass.n_cross = n_cross;
  pass.n_logits = n_in;
  pass.logit_rows = logit_rows;
  pass.score = score, pass.arg = arg;
  const Status status = run(s, pass, err);
  for (uint32_t i = 0; i < n_in; ++i) {
    const uint32_t length = s.lengths[in[i].seq];
    if (status != LINNET_OK) {
      s.text.cancel(in[i].seq);
    } else {
      s.text.commit(in[i].seq, length, length + in[i].n);
      s.lengths[in[i].seq] = length + in[i].n;
    }
  }
  return status;
}

}  // namespace linnet
