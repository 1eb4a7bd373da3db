// A model that hears: immutable after init, weights in the caller's file. The CPU computes it.
#pragma once
#include "../../kernels_cpu/registry.h"
#include "../../platform/arena.h"
#include "../backend.h"
#include "../include/linnet_audio.h"
#include "../ops.h"
#include "../tokenizer/tokenizer.h"
#include "audio_spec.h"

namespace linnet {

// Attention of a layer, q, k, v and out (d_model, d_model). Biases may be nullptr; k has none.
struct AudioAttention {
  Norm norm;
  Matrix q, k, v, out;
  const float *q_bias, *v_bias, *out_bias;
};
struct AudioFeedForward {
  Norm norm;
  Matrix gate, up, down;  // gate: empty where there is none
  const float *gate_bias, *up_bias, *down_bias;
};
struct EncoderLayer {
  AudioAttention attention;
  AudioFeedForward feed_forward;
};
struct DecoderLayer {
  AudioAttention attention, cross;
  AudioFeedForward feed_forward;
};

}  // namespace linnet

// The type that linnet_audio.h leaves opaque.
struct linnet_audio {
  linnet::AudioSpec spec;
  const linnet::Backend* backend;
  linnet::Kernels kernels;
  linnet_profile profile;
  linnet::Matrix conv[3];
  const float* conv_bias[3];                    // or nullptr
  linnet::Norm conv_norm;                       // of all rows and channels at once; weight nullptr: none
  linnet::Matrix mel;                           // (n_mels, kFftBins) or empty
  linnet::Matrix enc_positions, dec_positions;  // (n_audio, d_model), (n_text, d_model) or empty
  linnet::Norm enc_norm, dec_norm;
  linnet::Matrix embedding;  // (n_vocab, d_model), the head too
  linnet::EncoderLayer* encoder;
  linnet::DecoderLayer* decoder;
  linnet::Tokenizer tokenizer;
  uint32_t *suppressed, *suppressed_first;  // (n_vocab bits) of tokens that are never drawn, and not as the first of a text
  char languages[linnet::kMaxLanguages][8];
  char name[128];
  uint64_t n_params, weight_bytes;
  linnet::Format main_format;
  linnet::Arena arena;
};

namespace linnet {

Status audio_need(linnet_view file, const linnet_profile& profile, linnet_need* out, Error* err);
Status audio_init(linnet_audio** out, void* mem, size_t bytes, linnet_view file, const linnet_profile& profile, Error* err);

}  // namespace linnet
