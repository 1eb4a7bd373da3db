// What a model that hears is: an encoder of sound and a decoder of text that looks at what it gives (Whisper, Radford et al. 2022, arXiv
// 2212.04356; Moonshine, Jeffries et al. 2024, arXiv 2410.15608). It is no decoder of tokens alone, so it has a spec and tensors of its
// own.
#pragma once
#include "../gguf.h"
#include "../spec.h"

namespace linnet {

enum AudioKind : uint32_t {
  kAudioWhisper = 1,   // log-mel spectra, two convolutions, learned positions
  kAudioMoonshine = 2  // the sound itself, three convolutions, RoPE
};

inline constexpr uint32_t kSampleRate = 16000;
inline constexpr uint32_t kMaxAudioLayers = 128, kMaxLanguages = 128, kMaxSuppressed = 1024;
// Of Whisper: a spectrum of 25 ms every 10 ms, 30 s at most.
inline constexpr uint32_t kFftSize = 400, kFftBins = kFftSize / 2 + 1, kHop = 160;

// Under "linnet.audio.<name>" in packed files; all but those of `tokens` decide shapes. Token ids are -1 + u32 where there may be none.
struct AudioSpec {
  uint32_t kind;                  // AudioKind
  uint32_t n_mels;                // channels of a spectrum; Moonshine: 0
  uint32_t d_model;               // of both parts, a multiple of 16
  uint32_t n_heads;               // of both; each d_model / n_heads wide
  uint32_t n_encoder, n_decoder;  // layers
  uint32_t d_ff_encoder, d_ff_decoder;
  uint32_t n_vocab;
  uint32_t n_audio;   // rows that the encoder gives at most
  uint32_t n_text;    // tokens that the decoder takes at most
  uint32_t rope_dim;  // Moonshine: channels of a head that turn
  uint32_t rope_base;
  uint32_t start, end;  // tokens: a text begins with `start` and ends with `end`
  // Whisper's, each 1 + its id, 0: none.
  uint32_t previous, no_speech, no_timestamps, transcribe, translate;
  uint32_t first_timestamp;  // 1 + the id of <|0.00|>; each further one is 0.02 s later
  uint32_t first_language, n_languages;
  uint32_t head_dim() const { return d_model / n_heads; }
  bool whisper() const { return kind == kAudioWhisper; }
};
struct AudioField {
  const char* name;
  uint16_t offset;
  uint32_t min, max;
};
extern const AudioField kAudioFields[];
extern const uint32_t kAudioFieldCount;
inline constexpr char kAudioPrefix[] = "linnet.audio.";
inline constexpr char kAudioLanguages[] = "linnet.audio.languages";               // texts: codes of the language tokens in their order
inline constexpr char kAudioSuppressed[] = "linnet.audio.suppressed";             // u32s: tokens that are never drawn
inline constexpr char kAudioSuppressedFirst[] = "linnet.audio.suppressed_first";  // ... not as the first of a text

// Convolutions over time as products: a row's inputs are `taps` rows one behind the other, `stride` rows on from one output to the next.
struct Convolution {
  uint32_t n, inputs, taps, stride;
};
uint32_t audio_convolutions(const AudioSpec& s, Convolution out[3]);  // how many there are
uint64_t audio_window(const AudioSpec& s);                            // most samples that it hears at once

enum AudioPart : uint8_t { kOfAudio, kOfEncoder, kOfDecoder };
struct AudioTensorRow {
  using Size = uint32_t (*)(const AudioSpec&);
  const char* name;  // those of layers without "encoder.blk.<i>." and "decoder.blk.<i>."
  AudioPart part;
  uint8_t flags;  // RoleFlag: kRoleMatrix, kRoleF32
  Size n, k;
  bool (*present)(const AudioSpec&);
  bool matrix() const { return flags & kRoleMatrix; }
};
enum AudioTensor : uint32_t {
  kAudioConv1,
  kAudioConv1Bias,
  kAudioConvNorm,
  kAudioConvNormBias,
  kAudioConv2,
  kAudioConv2Bias,
  kAudioConv3,
  kAudioConv3Bias,
  kAudioMel,
  kAudioEncPositions,
  kAudioEncAttnNorm,
  kAudioEncAttnNormBias,
  kAudioEncQ,
  kAudioEncQBias,
  kAudioEncK,
  kAudioEncV,
  kAudioEncVBias,
  kAudioEncOut,
  kAudioEncOutBias,
  kAudioEncFfnNorm,
  kAudioEncFfnNormBias,
  kAudioEncUp,
  kAudioEncUpBias,
  kAudioEncDown,
  kAudioEncDownBias,
  kAudioEncNorm,
  kAudioEncNormBias,
  kAudioTokenEmbd,
  kAudioDecPositions,
  kAudioDecAttnNorm,
  kAudioDecAttnNormBias,
  kAudioDecQ,
  kAudioDecQBias,
  kAudioDecK,
  kAudioDecV,
  kAudioDecVBias,
  kAudioDecOut,
  kAudioDecOutBias,
  kAudioCrossNorm,
  kAudioCrossNormBias,
  kAudioCrossQ,
  kAudioCrossQBias,
  kAudioCrossK,
  kAudioCrossV,
  kAudioCrossVBias,
  kAudioCrossOut,
  kAudioCrossOutBias,
  kAudioDecFfnNorm,
  kAudioDecFfnNormBias,
  kAudioDecGate,
  kAudioDecGateBias,
  kAudioDecUp,
  kAudioDecUpBias,
  kAudioDecDown,
  kAudioDecDownBias,
  kAudioDecNorm,
  kAudioDecNormBias,
  kAudioTensorCount
};
const AudioTensorRow& audio_row(AudioTensor t);
uint32_t audio_layers(const AudioSpec& s, AudioTensor t);   // how many layers have one; 1 for those of the model
void audio_name(AudioTensor t, uint32_t layer, char* out);  // kRoleNameBytes
template <class Fn>
Status each_audio_tensor(const AudioSpec& s, Fn fn) {
  for (uint32_t t = 0; t < kAudioTensorCount; ++t)
    for (uint32_t i = 0; audio_row(AudioTensor{t}).present(s) && i < audio_layers(s, AudioTensor{t}); ++i)
      LINNET_TRY(fn(AudioTensor{t}, i));
  return LINNET_OK;
}

// Ranges, and what fields must be to each other.
Status audio_check(const AudioSpec& s, Error* err, PathName label = "audio model");
bool is_audio(const Gguf& file);  // whether a packed file is one
Status audio_read(const Gguf& file, AudioSpec* out, Error* err);

}  // namespace linnet
