// Merges happen in order of (rank, position), as the reference algorithm's repeated "find the best pair" would do them: a heap of
// candidate pairs over the symbols of the word, n log n in the worst case.
//
// The symbols are a list without pointers. Symbol i covers `length` cells [i, i + length): its first cell holds id and a mark, its second
// and its last cell hold the length, so that both neighbours are found; whatever else lies inside carries no mark.
#include "bpe.h"

#include <cstring>

#include "unicode.h"

namespace linnet::tok {
namespace {

constexpr uint32_t kOne = 0x80000000, kMany = 0x40000000, kMarks = kOne | kMany;  // symbol of one cell, of more

class Merger {
 public:
  Merger(const Tables& t, const BpeWork& work, size_t n) : t_(t), cells_(work.cells), heap_(work.heap), n_(n) {}

  // Cells hold n ids, each marked kOne. In the end they hold what is left.
  void run() {
    refill();
    while (size_) {
      const uint64_t best = pop();
      ++steps_;
      const size_t left = static_cast<uint32_t>(best);
      if (!(cells_[left] & kMarks)) continue;  // went into another symbol meanwhile
      const size_t right = left + length(left);
      if (right >= n_) continue;
      const MergeSlot* merge = t_.merge(id(left), id(right));
      if (!merge || merge->rank != best >> 32) continue;  // its neighbour is another one meanwhile
      join(left, right, merge->result);
      // Stale candidates may fill the heap; a refill leaves one per living pair. Each refill comes after about twice as many merges as the
      // one before, so there are few.
      if (size_ + 2 > n_) {
        refill();
        continue;
      }
      if (left) consider(left - (cells_[left - 1] & kOne ? 1 : cells_[left - 1]));
      consider(left);
    }
  }

  uint64_t steps() const { return steps_; }
  uint32_t id(size_t at) const { return cells_[at] & ~kMarks; }
  size_t length(size_t at) const { return cells_[at] & kOne ? 1 : cells_[at + 1]; }

 private:
  void join(size_t left, size_t right, uint32_t result) {
    const size_t cells = right + length(right) - left;
    cells_[right] = 0;
    cells_[left] = result | kMany;
    cells_[left + 1] = static_cast<uint32_t>(cells);
    cells_[left + cells - 1] = static_cast<uint32_t>(cells);
  }

  // The candidate of the pair that begins at `left`, 0 = none.
  bool candidate(size_t left, uint64_t* out) const {
    const size_t right = left + length(left);
    if (right >= n_) return false;
    const MergeSlot* merge = t_.merge(id(left), id(right));
    if (!merge) return false;
    *out = uint64_t{merge->rank} << 32 | left;
    return true;
  }
  void consider(size_t left) {
    uint64_t c;
    if (!candidate(left, &c)) return;
    size_t i = size_++;
    for (; i && c < heap_[(i - 1) / 2]; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = c;
  }
  void refill() {
    size_ = 0;
    steps_ += n_;
    for (size_t i = 0; i < n_; i += length(i))
      if (candidate(i, &heap_[size_])) ++size_;
    for (size_t i = size_ / 2; i-- > 0;) sift_down(i, heap_[i]);
  }
  uint64_t pop() {
    const uint64_t best = heap_[0];
    if (--size_) sift_down(0, heap_[size_]);
    return best;
  }
  void sift_down(size_t i, uint64_t c) {
    for (size_t child; (child = 2 * i + 1) < size_; i = child) {
      if (child + 1 < size_ && heap_[child + 1] < heap_[child]) ++child;
      if (c <= heap_[child]) break;
      heap_[i] = heap_[child];
    }
    heap_[i] = c;
  }

  const Tables& t_;
  uint32_t* cells_;
  uint64_t* heap_;
  size_t n_, size_ = 0;
  uint64_t steps_ = 0;
};

// A character of a word, with what those have in front that are not the first, and the last one behind it.
int32_t affixed_symbol(const Tables& t, std::string_view one, bool first, bool last) {
  char key[kMaxPattern + 4];
  size_t n = 0;
  const auto put = [&](std::string_view s) {
    if (!s.empty()) std::memcpy(key + n, s.data(), s.size());
    n += s.size();
  };
  if (!first) put(t.affix(false));
  put(one);
  if (last) put(t.affix(true));
  return t.word({key, n});
}

void encode_spm_word(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out) {
  const uint32_t bytes_from = t.header->n_symbols;  // ids of characters that are no symbol: no merge has them
  const bool affixed = t.has(kAffixed);
  size_t cells = 0;
  for (size_t i = 0; i < n;) {
    const Char c = next_char(text + i, n - i);
    const int32_t symbol = affixed ? affixed_symbol(t, {text + i, c.bytes}, i == 0, i + c.bytes == n) : t.word({text + i, c.bytes});
    // What an unknown character is is read from the text again below; its id tells the length.
    work.cells[cells++] = (symbol >= 0 ? static_cast<uint32_t>(symbol) : bytes_from + c.bytes) | kOne;
    i += c.bytes;
  }
  Merger merger(t, work, cells);
  merger.run();
  out->steps += merger.steps();
  bool last_unknown = false;
  size_t at = 0;  // in text
  for (size_t i = 0; i < cells; i += merger.length(i)) {
    const uint32_t id = merger.id(i);
    // Of affixed symbols no place in the text is known, nor asked for, since none is written as bytes.
    const size_t bytes = affixed ? 1 : id < bytes_from ? t.symbol_text(id).size() : id - bytes_from;
    if (id < t.header->n_tokens) {
      out->push(static_cast<int32_t>(id));
      last_unknown = false;
    } else {
      put_unknown(t, {text + at, bytes}, &last_unknown, out);
    }
    if (!affixed) at += bytes;
  }
}

}  // namespace

void put_unknown(const Tables& t, std::string_view text, bool* last_unknown, IdSink* out) {
  bool all = true;
  for (const char c : text) all = all && t.byte_ids[static_cast<uint8_t>(c)] >= 0;
  if (all) {
    for (const char c : text) out->push(t.byte_ids[static_cast<uint8_t>(c)]);
    *last_unknown = false;
    return;
  }
  if (t.header->unk_id < 0) return;
  if (!*last_unknown || !t.has(kFuseUnk)) out->push(t.header->unk_id);
  *last_unknown = true;
}

void encode_bytes(const Tables& t, const char* word, size_t n, const BpeWork& work, IdSink* out) {
  if (t.has(kIgnoreMerges)) {
    if (const int32_t id = t.word({word, n}); id >= 0) return out->push(id);
  }
  size_t cells = 0;
  for (size_t i = 0; i < n; ++i)
    if (const int32_t id = t.byte_ids[static_cast<uint8_t>(word[i])]; id >= 0) work.cells[cells++] = static_cast<uint32_t>(id) | kOne;
  Merger merger(t, work, cells);
  merger.run();
  out->steps += merger.steps();
  for (size_t i = 0; i < cells; i += merger.length(i)) out->push(static_cast<int32_t>(merger.id(i)));
}

void encode_spm(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out) {
  // Short words stay in the cache; the result is the same.
  size_t from = 0;
  for (size_t i = 1; t.has(kWordwise) && i < n; ++i) {
    if (text[i] != ' ' || text[i - 1] == ' ') continue;
    encode_spm_word(t, text + from, i - from, work, out);
    from = i;
  }
  if (from < n) encode_spm_word(t, text + from, n - from, work, out);
}

}  // namespace linnet::tok
