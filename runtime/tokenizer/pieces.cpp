// Unigram and WordPiece: both look pieces up in the trie of the vocabulary.
#include "bpe.h"
#include "unicode.h"

namespace linnet::tok {
namespace {

constexpr uint32_t kNoStart = UINT32_MAX;

double memory_of(uint64_t bits) {
  double v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
uint64_t bits_of(double v) {
  uint64_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  return bits;
}

}  // namespace

// heap[i]: the best sum of a way to i; cells[i]: where its last piece begins; ids[i]: that piece, n_tokens = unknown.
void encode_unigram(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out) {
  const Trie trie = t.trie(kTrie);
  const uint32_t unknown = t.header->n_tokens;
  const bool rounds = t.has(kFloatScores);
  for (size_t i = 0; i <= n; ++i) work.cells[i] = kNoStart;
  work.heap[0] = bits_of(0);
  for (size_t i = 0; i < n;) {
    const double base = memory_of(work.heap[i]);
    const auto offer = [&](size_t end, double score, uint32_t id) {
      double sum = base + score;
      if (rounds) sum = static_cast<float>(sum);
      if (work.cells[end] != kNoStart && !(sum > memory_of(work.heap[end]))) return false;
      work.heap[end] = bits_of(sum);
      work.cells[end] = static_cast<uint32_t>(i);
      work.ids[end] = id;
      return true;
    };
    const size_t one = next_char(text + i, n - i).bytes;
    bool single = false;
    Trie::Walk walk = trie.walk();
    for (size_t end = i; end < n && end - i < t.header->max_piece && walk.step(static_cast<uint8_t>(text[end]));) {
      ++end;
      ++out->steps;
      const int64_t id = walk.value();
      if (id < 0 || id >= int64_t{unknown}) continue;
      offer(end, t.scores[id], static_cast<uint32_t>(id));
      single = single || end - i == one;
    }
    if (!single && offer(i + one, t.header->unknown_score, unknown)) out->unknown = true;
    ++out->steps;
    i += one;
  }
  // The way back, turned round: cells[start] becomes the end of the piece that begins there.
  for (size_t end = n, next = n; end;) {
    const size_t start = work.cells[end];
    work.cells[end] = static_cast<uint32_t>(next);
    next = end;
    end = start;
    if (end == 0) work.cells[0] = static_cast<uint32_t>(next);
  }
  bool last_unknown = false;
  for (size_t i = 0; i < n;) {
    size_t end = work.cells[i];
    const uint32_t id = work.ids[end];
    if (id != unknown) {
      out->push(static_cast<int32_t>(id));
      last_unknown = false;
    } else {
      while (t.has(kFuseUnk) && end < n && work.ids[work.cells[end]] == unknown) end = work.cells[end];
      put_unknown(t, {text + i, end - i}, &last_unknown, out);
    }
    i = end;
  }
}

void encode_wordpiece(const Tables& t, const char* word, size_t n, IdSink* out) {
  const Header& h = *t.header;
  const Trie trie = t.trie(kTrie);
  const auto give_up = [&h, out](size_t from) {
    out->n = from;
    out->unknown = true;
    if (h.unk_id >= 0) out->push(h.unk_id);
  };
  uint32_t chars = 0;
  for (size_t i = 0; i < n && chars <= h.max_chars; ++chars) i += next_char(word + i, n - i).bytes;
  if (chars > h.max_chars) return give_up(out->n);
  Trie::Walk inside = trie.walk();
  bool has_inside = true;
  for (uint32_t i = 0; i < h.cont_bytes; ++i) has_inside = has_inside && inside.step(static_cast<uint8_t>(t.normal_text[h.cont_at + i]));
  const size_t first = out->n;
  for (size_t i = 0; i < n;) {
    Trie::Walk walk = i ? inside : trie.walk();
    size_t best_end = i;
    int64_t best = -1;
    for (size_t end = i; (i == 0 || has_inside) && end < n && end - i < h.max_piece && walk.step(static_cast<uint8_t>(word[end]));) {
      ++end;
      ++out->steps;
      const int64_t id = walk.value();
      if (id >= 0 && id < int64_t{h.n_tokens}) best = id, best_end = end;
    }
    if (best < 0) return give_up(first);
    out->push(static_cast<int32_t>(best));
    i = best_end;
  }
}

}  // namespace linnet::tok
