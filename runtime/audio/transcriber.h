// What texts of what is heard are put together in.
#pragma once
#include "audio_model.h"

namespace linnet {

inline constexpr uint32_t kMostHotWords = 256, kMostHotTokens = 1024, kMostTemperatures = 16;

// A text that grows, or is whole.
struct Hypothesis {
  uint32_t n;       // tokens behind the prompt, the end's not among them
  uint32_t seq;     // its place in the cache
  double sum;       // of its tokens' log probabilities, the end's too where it has come
  int32_t* tokens;  // (n_text)
  float* logprobs;  // (n_text)
};
// What may follow a text.
struct Candidate {
  int32_t token;
  float logprob;
};
struct HotWord {
  uint32_t first, n;  // of its tokens
  float bias;
};

struct Transcriber {
  Hypothesis *live, *next, *done;  // (n_beams) each
  Candidate* candidates;           // (n_beams, n_beams + 1)
  float* room;                     // (n_beams, logits_stride)
  int32_t* prompt;                 // (n_text) of the window
  int32_t* said;                   // (n_text) text before it
  uint32_t n_prompt, n_said;
  int32_t* hot_tokens;  // (kMostHotTokens)
  HotWord* hot_words;   // (kMostHotWords)
  uint32_t n_hot_words;
  uint8_t* scratch;  // of the tokenizer
  size_t scratch_bytes;
  char* text;  // of a segment
  size_t text_bytes;
  linnet_audio_word* words;  // (n_text)
  uint16_t* seen;            // (4096) of packed_ratio()
};
void transcribe_layout(Arena& arena, const linnet_audio& audio, uint32_t n_beams, size_t logits_stride, Transcriber* out);

}  // namespace linnet
