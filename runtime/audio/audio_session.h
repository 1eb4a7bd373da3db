// A session of a model that hears: the buffers of its encoder and its decoder, what both cache, and threads, all in the caller's memory.
#pragma once
#include <atomic>

#include "../../platform/team.h"
#include "../backend.h"
#include "../cache/kv_cache.h"
#include "../layers/kinds.h"
#include "audio_model.h"
#include "log_mel.h"

namespace linnet {

inline constexpr uint32_t kAudioChunk = 256;  // rows of the encoder that go through a layer at a time
inline constexpr uint32_t kTextChunk = 64;    // ... of the decoder
inline constexpr uint32_t kMostBeams = 16;

// Buffers of rows on their way.
struct AudioRows {
  float *x, *normed, *wide;  // x: (rows, d_model), all of the encoder's; normed: of a chunk
  QuantRows codes, hidden;
};

}  // namespace linnet

#include "transcriber.h"

// The type that linnet_audio.h leaves opaque.
struct linnet_audio_session {
  const linnet_audio* audio;
  linnet_audio_session_params params;  // defaults filled in
  linnet::Team team;
  linnet::HostSide host;
  void* handle;  // the backend's
  linnet_cpus cpus;
  // Keys and values: of the encoder's layer that is computed; of what the encoder gave, for each of the decoder's layers; of texts.
  linnet::KvCache heard, cross, text;
  linnet::LogMel mel;
  float* spectra;       // (frames + 2, n_mels), a row of zeros before and behind
  float loudest;        // of all spectra
  double* sums;         // Moonshine: (rows of the first convolution, 2) of values and their squares
  float mean, inverse;  // of all of them, and 1 / their deviation
  linnet::AudioRows enc, dec;
  double* inv_freq;                      // (rope_dim / 2)
  float *cos, *sin;                      // (n_audio, rope_dim / 2)
  float *text_cos, *text_sin;            // (kTextChunk, rope_dim / 2)
  int32_t *tokens, *positions;           // (n_audio and kTextChunk at most)
  linnet::RowSpan *spans, *cross_spans;  // (kTextChunk)
  float* logits;                         // (n_beams, logits_stride)
  size_t logits_stride;
  uint32_t n_states;  // rows that the encoder gave last
  uint32_t* lengths;  // (2 * n_beams) tokens of each text
  std::atomic<uint32_t> cancel;
  uint32_t within, process;
  linnet::Transcriber transcriber;
  linnet::Arena arena;
};

namespace linnet {

Status audio_session_params(const linnet_audio& audio, const linnet_audio_session_params* in, linnet_audio_session_params* out, Error* err);
linnet_audio_session* audio_session_layout(Arena& arena, const linnet_audio& audio, const linnet_audio_session_params& params);
Status audio_session_init(linnet_audio_session** out, void* mem, size_t bytes, const linnet_audio* audio,
                          const linnet_audio_session_params* in, Error* err);
// Texts of a session, for beams and what they become.
inline uint32_t audio_texts(const linnet_audio_session& s) { return 2 * s.params.n_beams; }

// The rows of `n` samples (of an encoder that is given no more), and how much silence is heard behind them: Whisper's windows have a
// length.
uint32_t audio_rows_of(const AudioSpec& s, size_t n_samples);
// Hears n samples: n_window of Whisper's, the others silence. The decoder then looks at what was heard; all texts are empty.
Status audio_hear(linnet_audio_session& s, const float* pcm, size_t n, size_t n_window, Error* err);
// Rows of one or several texts.
struct TextRows {
  uint32_t seq, n;
  const int32_t* tokens;
};
// Appends tokens to texts, at most kTextChunk in all, each text once, and computes the logits of the last row of each, in their order.
// score (may be nullptr): called for each row of logits when they are there, by any thread.
Status audio_read(linnet_audio_session& s, const TextRows* rows, uint32_t n_rows, Error* err,
                  void (*score)(void* arg, uint32_t row) = nullptr, void* arg = nullptr);
// `to` becomes what `from` is; and an empty text.
void audio_fork(linnet_audio_session& s, uint32_t from, uint32_t to);
void audio_clear(linnet_audio_session& s, uint32_t seq);

}  // namespace linnet
