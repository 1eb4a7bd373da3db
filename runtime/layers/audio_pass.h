// The rows of an encoder of sound, or of the decoder that looks at what it gave, as one thread of the team sees them.
#pragma once
#include "../audio/audio_session.h"

namespace linnet {

struct AudioPass : Pass {
  linnet_audio_session& s;
  // Of the encoder.
  const float* pcm = nullptr;
  size_t n = 0, n_window = 0;
  // Of the decoder.
  uint32_t n_cross = 0;
  const uint32_t* logit_rows = nullptr;
  void (*score)(void* arg, uint32_t row) = nullptr;
  void* arg = nullptr;
  AudioPass(linnet_audio_session& session, uint32_t rows, void (*compute)(Pass&, const Worker&, bool, float*));
};

struct AudioWorker {
  const Worker& w;
  AudioPass& pass;
  linnet_audio_session& s;
  const linnet_audio& m;
  const AudioSpec& spec;
  const Ops& ops;
  AudioRows a;
  AudioWorker(Pass& p, const Worker& worker, bool encoder);

  size_t stride() const { return spec.d_model; }  // a multiple of 16
  void sync() const { ops.sync(w); }
  // A cancel that came since is seen by all behind the next sync.
  void look() const;
  bool stopped() const { return pass.stop.load(std::memory_order_relaxed); }
  // Normed rows in a.normed, and what `next` reads of them.
  QuantRows norm(const Norm& by, const Matrix& next, const float* x, uint32_t rows) const;
  // x = x + heads * out^T, the heads' values having been made.
  void project(const AudioAttention& t, float* heads, uint32_t rows, float* x) const;
  void feed_forward(const AudioFeedForward& t, uint32_t act, uint32_t d_ff, uint32_t rows, float* x) const;
};

void audio_need(const AudioFeedForward& t, uint32_t d_ff, Needs* needs);
void audio_need(const AudioAttention& t, Needs* needs);

// All operations of a pass.
void encode_audio(Pass& pass, const Worker& w, bool whole, float* to);
void decode_audio(Pass& pass, const Worker& w, bool whole, float* to);
// Rows that the first convolution gives at most; floats of all that convolutions make of a chunk; rows of it that are quantised at once.
uint64_t audio_first_rows(const AudioSpec& s);
uint64_t audio_front_floats(const AudioSpec& s);
uint64_t audio_front_rows(const AudioSpec& s);

}  // namespace linnet
