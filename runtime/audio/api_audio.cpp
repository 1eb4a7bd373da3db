// The C ABI of models that hear: checks arguments, calls inward.
#include "../../platform/file.h"
#include "../params.h"
#include "transcribe.h"

using namespace linnet;

namespace {

Status profile_or_default(const linnet_profile* in, linnet_profile* out, Error* err) { return read_params(in, "profile", out, err); }

Status check_session(const linnet_audio_session& s, Error* err) {
  if (s.process != process_id())
    return fail(err, LINNET_BAD_STATE, "audio session: made by another process, from which this one was forked off");
  return s.within ? fail(err, LINNET_BAD_STATE, "audio session: a call of it is running") : LINNET_OK;
}

struct Within {
  linnet_audio_session& s;
  explicit Within(linnet_audio_session* session) : s(*session) { s.within = 1; }
  ~Within() { s.within = 0; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
};

}  // namespace

extern "C" {

linnet_status linnet_audio_need(const linnet_view* file, const linnet_profile* profile, linnet_need* out, linnet_error* err) {
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_NEED_ARG(out);
  linnet_profile p;
  linnet_need need;
  LINNET_TRY(profile_or_default(profile, &p, err));
  LINNET_TRY(audio_need(*file, p, &need, err));
  return write_need(out, need.bytes, 0, err);
}

linnet_status linnet_audio_init(linnet_audio** out, void* mem, size_t bytes, const linnet_view* file, const linnet_profile* profile,
                                linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(file);
  LINNET_NEED_ARG(file->data);
  LINNET_TRY(check_memory(mem, err));
  linnet_profile p;
  LINNET_TRY(profile_or_default(profile, &p, err));
  return audio_init(out, mem, bytes, *file, p, err);
}

linnet_status linnet_audio_info(const linnet_audio* audio, linnet_audio_desc* out, linnet_error* err) {
  LINNET_NEED_ARG(audio);
  LINNET_NEED_ARG(out);
  const AudioSpec& s = audio->spec;
  linnet_audio_desc d = {};
  d.size = sizeof d;
  d.d_model = s.d_model, d.n_heads = s.n_heads, d.n_encoder = s.n_encoder, d.n_decoder = s.n_decoder, d.n_vocab = s.n_vocab;
  d.n_mels = s.n_mels, d.n_states = s.n_audio, d.n_text = s.n_text, d.n_languages = s.n_languages;
  d.window_samples = audio_window(s);
  d.n_params = audio->n_params, d.weight_bytes = audio->weight_bytes;
  d.architecture = s.whisper() ? "whisper" : "moonshine";
  d.name = audio->name;
  d.weights = format_name(audio->main_format);
  return write_out(d, out, "audio", err);
}

const char* linnet_audio_language(const linnet_audio* audio, uint32_t i) {
  return audio && i < audio->spec.n_languages ? audio->languages[i] : nullptr;
}

linnet_status linnet_audio_session_need(const linnet_audio* audio, const linnet_audio_session_params* params, linnet_need* out,
                                        linnet_error* err) {
  LINNET_NEED_ARG(audio);
  LINNET_NEED_ARG(out);
  linnet_audio_session_params p;
  LINNET_TRY(audio_session_params(*audio, params, &p, err));
  Arena arena;
  audio_session_layout(arena, *audio, p);
  return arena.ok() ? write_need(out, arena.used(), 0, err) : fail(err, LINNET_TOO_SMALL, "audio session: more than memory can hold");
}

linnet_status linnet_audio_session_init(linnet_audio_session** out, void* mem, size_t bytes, const linnet_audio* audio,
                                        const linnet_audio_session_params* params, linnet_error* err) {
  LINNET_NEED_ARG(out);
  LINNET_NEED_ARG(mem);
  LINNET_NEED_ARG(audio);
  LINNET_TRY(check_memory(mem, err));
  return audio_session_init(out, mem, bytes, audio, params, err);
}

void linnet_audio_session_fini(linnet_audio_session* session) {
  if (!session || session->within || session->process != process_id()) return;
  session->team.stop();
}

void linnet_audio_cancel(linnet_audio_session* session) {
  if (session) session->cancel.store(1, std::memory_order_relaxed);
}

linnet_status linnet_transcribe(linnet_audio_session* session, const float* pcm, size_t n_samples, const linnet_transcribe_params* params,
                                linnet_segment_fn fn, void* user, linnet_transcribed* out, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_session(*session, err));
  if (n_samples) LINNET_NEED_ARG(pcm);
  LINNET_TRY(check_count(n_samples, sizeof *pcm, "transcribe: n_samples", err));
  linnet_transcribe_params p;
  LINNET_TRY(read_params(params, "transcribe", &p, err));
  if (out) LINNET_TRY(check_out(out, "transcribe", err));
  const Within call(session);
  linnet_transcribed done = {};
  const Status status = transcribe(*session, pcm, n_samples, p, fn, user, &done, err);
  if (out && done.size) LINNET_TRY(write_out(done, out, "transcribe", err));
  return status;
}

linnet_status linnet_audio_hear(linnet_audio_session* session, const float* pcm, size_t n_samples, size_t n_window, const float** states,
                                size_t* n_states, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_session(*session, err));
  if (n_samples) LINNET_NEED_ARG(pcm);
  const AudioSpec& spec = session->audio->spec;
  const uint64_t most = audio_window(spec);
  if (n_window == 0) n_window = spec.whisper() ? static_cast<size_t>(most) : n_samples;
  if (n_window > most || n_samples > n_window)
    return fail(err, LINNET_BAD_ARG, "audio: ", n_samples, " samples in a window of ", n_window, ", which may have up to ", most);
  if (!spec.whisper() && n_window != n_samples)
    return fail(err, LINNET_BAD_ARG, "audio: n_window is ", n_window, ": this model hears the ", n_samples, " samples alone");
  if (audio_rows_of(spec, n_window) == 0) return fail(err, LINNET_BAD_ARG, "audio: a window of ", n_window, " samples is too short");
  const Within call(session);
  LINNET_TRY(audio_hear(*session, pcm, n_samples, n_window, err));
  if (states) *states = session->enc.x;
  if (n_states) *n_states = session->n_states;
  return LINNET_OK;
}

linnet_status linnet_audio_read(linnet_audio_session* session, const int32_t* tokens, size_t n, const float** logits, linnet_error* err) {
  LINNET_NEED_ARG(session);
  LINNET_TRY(check_session(*session, err));
  LINNET_NEED_ARG(tokens);
  if (n == 0) return fail(err, LINNET_BAD_ARG, "audio: n is 0");
  const AudioSpec& spec = session->audio->spec;
  const uint32_t length = session->lengths[0];
  if (session->n_states == 0) return fail(err, LINNET_BAD_STATE, "audio: nothing was heard");
  if (n > spec.n_text - length)
    return fail(err, LINNET_CONTEXT_FULL, "audio: a text of ", length, " tokens and ", n, " more, the model has room for ", spec.n_text);
  for (size_t i = 0; i < n; ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= spec.n_vocab)
      return fail(err, LINNET_BAD_ARG, "audio: token ", i, " is ", tokens[i], ", the vocabulary has ", spec.n_vocab);
  const Within call(session);
  for (size_t at = 0; at < n;) {
    const TextRows rows = {0, n - at < kTextChunk ? static_cast<uint32_t>(n - at) : kTextChunk, tokens + at};
    if (const Status status = audio_read(*session, &rows, 1, err); status != LINNET_OK) {
      session->text.truncate(0, length);
      session->lengths[0] = length;
      return status;
    }
    at += rows.n;
  }
  if (logits) *logits = session->logits;
  return LINNET_OK;
}

}  // extern "C"
