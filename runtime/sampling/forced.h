// Tokens that a grammar leaves no choice about ("jump-forward", Zheng et al. 2024: SGLang): of the text that alone may follow, those
// that the tokenizer gives behind what was said before. They are guesses: a model may spell such a text otherwise, so that each is drawn
// all the same, from logits that one pass gives for all of them.
#pragma once
#include "grammar.h"

namespace linnet {

class Arena;

inline constexpr uint32_t kForcedBytes = 256;  // of text that is looked ahead
inline constexpr uint32_t kForcedBehind = 64;  // ... and of text before it, which decides how it is split

struct Forced {
  char* text;        // (kForcedBehind + kForcedBytes)
  int32_t* tokens;   // (kForcedBehind + kForcedBytes)
  uint8_t* scratch;  // (scratch_bytes) the tokenizer's
  size_t scratch_bytes;
  uint32_t at, n;  // tokens[at, at + n) are computed and wait to be drawn
  uint32_t row;    // ... from the rows of logits behind this one
  uint32_t most;   // that are computed at once: as many as were right the last time, or as there are rows
};
void forced_layout(Arena& arena, const Tokenizer& t, Forced* f);
// f->tokens[f->at, f->at + f->n): at most `most` tokens behind `state`. said: the tokens of the answer so far, or the last of them.
void forced_find(linnet_grammar& g, uint32_t state, const int32_t* said, size_t n_said, uint32_t most, Forced* f);

}  // namespace linnet
