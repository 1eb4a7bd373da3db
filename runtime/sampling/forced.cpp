#include "forced.h"

#include "../../platform/arena.h"

namespace linnet {

void forced_layout(Arena& arena, const Tokenizer& t, Forced* f) {
  constexpr uint32_t kBytes = kForcedBehind + kForcedBytes;
  f->scratch_bytes = tokenize_scratch_bytes(t, kBytes);
  f->text = arena.take<char>("jump-forward", kBytes);
  f->tokens = arena.take<int32_t>("jump-forward", kBytes);
  f->scratch = arena.take<uint8_t>("jump-forward", f->scratch_bytes);
  f->at = f->n = f->row = 0;
}

void forced_find(linnet_grammar& g, uint32_t state, const int32_t* said, size_t n_said, uint32_t most, Forced* f) {
  const Tokenizer& t = g.model->tokenizer;
  f->at = f->n = 0;
  char next[kForcedBytes];
  const size_t n_next = most ? grammar_forced(g, state, next, sizeof next) : 0;
  if (n_next == 0) return;
  size_t n = 0, first = n_said;
  while (first && n + token_bytes(t, said[first - 1], false).size() <= kForcedBehind) n += token_bytes(t, said[--first], false).size();
  size_t at = 0;
  for (size_t i = first; i < n_said; ++i) {
    const std::string_view s = token_bytes(t, said[i], false);
    std::memcpy(f->text + at, s.data(), s.size());
    at += s.size();
  }
  std::memcpy(f->text + at, next, n_next);
  size_t n_tokens = 0;
  if (tokenize(t, {f->text, at + n_next}, LINNET_PARSE_SPECIAL, f->scratch, f->scratch_bytes, f->tokens, kForcedBehind + kForcedBytes,
               &n_tokens, nullptr) != LINNET_OK)
    return;
  // From the end on: a tokenizer may put a space in front of its text.
  size_t left = n_next, begin = n_tokens;
  while (begin && left) {
    const size_t bytes = token_bytes(t, f->tokens[begin - 1], false).size();
    if (bytes == 0 || bytes > left) return;
    left -= bytes;
    --begin;
  }
  if (left) return;
  f->at = static_cast<uint32_t>(begin);
  f->n = static_cast<uint32_t>(n_tokens - begin) < most ? static_cast<uint32_t>(n_tokens - begin) : most;
}

}  // namespace linnet
