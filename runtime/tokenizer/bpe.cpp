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
struct Affixed {
  char key[2 * kMaxPattern + 4];
  size_t n = 0;
  Affixed(const Tables& t, std::string_view one, bool first, bool last) {
    if (!first) put(t.affix(false));
    put(one);
    if (last) put(t.affix(true));
  }
  void put(std::string_view s) {
    if (!s.empty()) std::memcpy(key + n, s.data(), s.size());
    n += s.size();
  }
  std::string_view text() const { return {key, n}; }
};

constexpr std::string_view kMark = "\xE2\x96\x81";  // U+2581

bool all_bytes(const Tables& t, std::string_view text) {
  for (const char c : text)
    if (t.byte_ids[static_cast<uint8_t>(c)] < 0) return false;
  return true;
}
// Calls put(token) for each byte of a text if all have a token. spaced: ' ' is U+2581.
template <class Put>
bool as_bytes(const Tables& t, std::string_view text, bool spaced, const Put& put) {
  const auto bytes_of = [&](size_t i) { return spaced && text[i] == ' ' ? kMark : std::string_view(text.data() + i, 1); };
  for (size_t i = 0; i < text.size(); ++i)
    if (!all_bytes(t, bytes_of(i))) return false;
  for (size_t i = 0; i < text.size(); ++i)
    for (const char c : bytes_of(i)) put(t.byte_ids[static_cast<uint8_t>(c)]);
  return true;
}

// The symbols that a word begins with. What is none is its bytes, or the unknown token, which comes behind bytes that follow it; without
// one it is nothing at all, so that its neighbours may merge.
class Cells {
 public:
  Cells(const Tables& t, uint32_t* cells, IdSink* out) : t_(t), cells_(cells), out_(out) {}
  void add(std::string_view text, int32_t symbol) {
    if (symbol < 0) return add_unknown(text);
    if (waits_) flush();
    put(symbol);
  }
  size_t end() {
    if (waits_) flush();
    return n_;
  }

 private:
  void put(int32_t symbol) { cells_[n_++] = static_cast<uint32_t>(symbol) | kOne; }
  void flush() {
    put(t_.header->unk_id);
    waits_ = false;
  }
  void add_unknown(std::string_view text) {
    if (as_bytes(t_, text, t_.spaced(), [this](int32_t id) { put(id); })) return;
    out_->unknown = true;
    if (t_.header->unk_id < 0) return;
    if (waits_ && !t_.has(kFuseUnk)) flush();
    waits_ = true;
  }

  const Tables& t_;
  uint32_t* cells_;
  IdSink* out_;
  size_t n_ = 0;
  bool waits_ = false;
};

void encode_spm_word(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out) {
  const bool affixed = t.has(kAffixed);
  Cells cells(t, work.cells, out);
  for (size_t i = 0; i < n;) {
    const Char c = next_char(text + i, n - i);
    const std::string_view one(text + i, c.bytes);
    if (affixed) {
      const Affixed key(t, one, i == 0, i + c.bytes == n);
      cells.add(key.text(), t.word(key.text()));
    } else {
      cells.add(one, t.word(one));
    }
    i += c.bytes;
  }
  const size_t n_cells = cells.end();
  Merger merger(t, work, n_cells);
  merger.run();
  out->steps += merger.steps();
  bool last_unknown = false;
  for (size_t i = 0; i < n_cells; i += merger.length(i)) {
    const uint32_t id = merger.id(i);
    if (id >= t.header->n_tokens) {
      put_unknown(t, t.symbol_text(id), &last_unknown, out);
      continue;
    }
    const bool unknown = static_cast<int32_t>(id) == t.header->unk_id;
    if (!unknown || !last_unknown || !t.has(kFuseUnk)) out->push(static_cast<int32_t>(id));
    last_unknown = unknown;
  }
}

}  // namespace

uint64_t cells_of(const Tables& t, uint64_t n) {
  const bool affixed = t.has(kAffixed);
  const bool mark = t.header->kind == kSpm && t.spaced() && all_bytes(t, kMark) && (affixed || t.word(" ") < 0);
  return (mark ? 3 : 1) * (n + (affixed ? n * t.affix(false).size() + t.affix(true).size() : 0));
}

void put_unknown(const Tables& t, std::string_view text, bool* last_unknown, IdSink* out) {
  if (as_bytes(t, text, t.spaced(), [out](int32_t id) { out->push(id); })) {
    *last_unknown = false;
    return;
  }
  out->unknown = true;
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
