// From text to ids and back: added tokens are found first, what lies between them is normalised, searched for added tokens of the second
// kind, cut into words and encoded (bpe.cpp). Everything works on the blob and on the caller's scratch.
#include "tokenizer.h"

#include <cstring>

#include "../reader.h"
#include "blob.h"
#include "bpe.h"
#include "unicode.h"

namespace linnet {
namespace tok {
namespace {

// ---- checking a blob ----------------------------------------------------------------------------------------------------

Status bad(Error* err, const char* field, uint64_t value) {
  return fail(err, LINNET_BAD_FILE, "tokenizer tables: ", field, " ", value, " is out of range");
}

Status check_header(const Header& h, size_t bytes, uint32_t n_vocab, Error* err) {
  if (h.magic != kMagic) return fail(err, LINNET_BAD_FILE, "tokenizer tables: magic is ", h.magic, ", not ", kMagic);
  if (h.version != kVersion)
    return fail(err, LINNET_UNSUPPORTED, "tokenizer tables: version ", h.version, ", this linnet reads ", kVersion,
                ": convert the model again");
  if (h.bytes != bytes) return fail(err, LINNET_BAD_FILE, "tokenizer tables: ", bytes, " bytes, the header says ", h.bytes);
  if (h.kind != kByteLevel && h.kind != kSpm) return bad(err, "kind", h.kind);
  if (h.split > kSplitDigitsGpt2 || (h.split == kSplitNone) != (h.kind == kSpm)) return bad(err, "split", h.split);
  if (h.prefix > kPrefixFirst || (h.prefix && h.kind != kSpm)) return bad(err, "prefix", h.prefix);
  if ((h.flags & ~kKnownFlags) || ((h.flags & kNfc) && h.kind == kSpm)) return bad(err, "flags", h.flags);
  if (h.n_tokens == 0 || h.n_tokens > kMaxTokens) return bad(err, "n_tokens", h.n_tokens);
  if (h.n_tokens > n_vocab)
    return fail(err, LINNET_BAD_FILE, "tokenizer tables: ", h.n_tokens, " tokens, the model's vocabulary has ", n_vocab);
  if (h.n_symbols < h.n_tokens || h.n_symbols > 2 * kMaxTokens || (h.kind == kByteLevel && h.n_symbols > h.n_tokens))
    return bad(err, "n_symbols", h.n_symbols);
  if (h.merge_probe > kMaxProbe) return bad(err, "merge_probe", h.merge_probe);
  if (h.word_probe > kMaxProbe) return bad(err, "word_probe", h.word_probe);
  const auto is_id = [&h](int32_t id) { return id >= 0 && static_cast<uint32_t>(id) < h.n_tokens; };
  for (const int32_t id : {h.bos_id, h.eos_id, h.unk_id})
    if (id != -1 && !is_id(id)) return fail(err, LINNET_BAD_FILE, "tokenizer tables: special token ", id, " is out of range");
  if (h.n_before > kMaxAround || h.n_after > kMaxAround)
    return bad(err, "n_before or n_after", h.n_before > h.n_after ? h.n_before : h.n_after);
  for (uint32_t i = 0; i < kMaxAround; ++i) {
    if (i < h.n_before && !is_id(h.before[i])) return bad(err, "token before a text", static_cast<uint32_t>(h.before[i]));
    if (i < h.n_after && !is_id(h.after[i])) return bad(err, "token after a text", static_cast<uint32_t>(h.after[i]));
  }
  return LINNET_OK;
}

Status check_sections(const Header& h, Error* err) {
  static constexpr uint32_t kElement[kSectionCount] = {4, 1, 1, 4, sizeof(MergeSlot), 4, sizeof(Added), sizeof(Added), 1};
  for (uint32_t i = 0; i < kSectionCount; ++i) {
    const Section& s = h.section[i];
    if (s.at % 8 != 0 || s.at < sizeof(Header) || !fits(s.at, uint64_t{s.count} * kElement[i], h.bytes))
      return fail(err, LINNET_BAD_FILE, "tokenizer tables: section ", i, " at ", s.at, " with ", s.count, " elements is outside the table");
  }
  if (h.section[kTextAt].count != h.n_symbols + 1) return bad(err, "number of text offsets", h.section[kTextAt].count);
  if (h.section[kTokenFlags].count != h.n_tokens) return bad(err, "number of token flags", h.section[kTokenFlags].count);
  if (h.section[kByteIds].count != 256) return bad(err, "number of byte tokens", h.section[kByteIds].count);
  if (h.merge_probe > h.section[kMerges].count) return bad(err, "merge_probe", h.merge_probe);
  if (h.word_probe > h.section[kWords].count) return bad(err, "word_probe", h.word_probe);
  return LINNET_OK;
}

Status check_symbols(const Tables& t, Error* err) {
  const Header& h = *t.header;
  if (t.text_at[0] != 0) return bad(err, "text offset", t.text_at[0]);
  for (uint32_t i = 0; i < h.n_symbols; ++i)
    if (t.text_at[i + 1] < t.text_at[i]) return bad(err, "text offset", t.text_at[i + 1]);
  if (t.text_at[h.n_symbols] > t.count(kText)) return bad(err, "text offset", t.text_at[h.n_symbols]);
  for (uint32_t i = 0; i < 256; ++i) {
    const int32_t id = t.byte_ids[i];
    if (id != -1 && (id < 0 || static_cast<uint32_t>(id) >= h.n_tokens)) return bad(err, "byte token", static_cast<uint32_t>(id));
  }
  for (uint32_t i = 0; i < t.count(kMerges); ++i) {
    const MergeSlot& m = t.merges[i];
    if (m.left == kEmpty) continue;
    if (m.left >= h.n_symbols || m.right >= h.n_symbols || m.result >= h.n_symbols) return bad(err, "merge", i);
    // encode_spm finds its place in the text by the lengths of symbols.
    const auto size = [&t](uint32_t id) { return uint64_t{t.text_at[id + 1]} - t.text_at[id]; };
    if (h.kind == kSpm && size(m.left) + size(m.right) != size(m.result)) return bad(err, "length of the result of merge", i);
    if (m.result >= h.n_tokens) return bad(err, "result of merge", i);
  }
  for (uint32_t i = 0; i < t.count(kWords); ++i)
    if (t.words[i] > h.n_symbols) return bad(err, "word", t.words[i]);
  return LINNET_OK;
}

// Negative, 0 or positive as a stands before, at or after b.
int compare(std::string_view a, std::string_view b) {
  const size_t n = a.size() < b.size() ? a.size() : b.size();
  const int order = n ? std::memcmp(a.data(), b.data(), n) : 0;
  return order ? order : a.size() < b.size() ? -1 : a.size() > b.size();
}

Status check_added(const Tables& t, SectionId list, Error* err) {
  for (uint32_t i = 0; i < t.count(list); ++i) {
    const Added& a = t.added(list)[i];
    if (a.text_bytes == 0 || !fits(a.text_at, a.text_bytes, t.count(kAddedText))) return bad(err, "text of added token", a.id);
    if (a.id >= t.header->n_tokens) return bad(err, "added token", a.id);
    if (a.flags & ~kAddedKnownFlags) return bad(err, "flags of added token", a.flags);
    if (i && compare(t.added_text_of(t.added(list)[i - 1]), t.added_text_of(a)) >= 0) return bad(err, "order of added token", a.id);
  }
  return LINNET_OK;
}

// ---- added tokens in a text -----------------------------------------------------------------------------------------------

// The longest token of a list that the text begins with, nullptr if none. The list is sorted, so the tokens that share the bytes seen so
// far are neighbours, and one that ends here stands first among them.
const Added* longest_added(const Tables& t, SectionId list, std::string_view text, bool specials) {
  const Added* added = t.added(list);
  uint32_t low = 0, high = t.count(list);
  const Added* found = nullptr;
  for (size_t depth = 0; low < high; ++depth) {
    if (depth && added[low].text_bytes == depth) {
      if (specials || !(added[low].flags & kAddedSpecial)) found = &added[low];
      if (++low == high) break;
    }
    if (depth == text.size()) break;
    const uint8_t want = static_cast<uint8_t>(text[depth]);
    // First entry in [from, high) whose byte at `depth` is at least `byte`.
    const auto lower = [&](uint32_t from, uint32_t byte) {
      uint32_t end = high;
      while (from < end) {
        const uint32_t middle = from + (end - from) / 2;
        if (static_cast<uint8_t>(t.added_text[added[middle].text_at + depth]) < byte)
          from = middle + 1;
        else
          end = middle;
      }
      return from;
    };
    low = lower(low, want);
    high = lower(low, want + 1u);
  }
  return found;
}

// Calls gap(text) for each non-empty stretch between the tokens of a list, and writes the tokens.
template <class Gap>
void split_added(const Tables& t, SectionId list, std::string_view text, bool specials, IdSink* out, const Gap& gap) {
  if (text.empty()) return;
  if (t.count(list) == 0) return gap(text);
  const auto piece = [text](size_t from, size_t to) { return std::string_view(text.data() + from, to - from); };
  bool first_byte[256] = {};
  for (uint32_t i = 0; i < t.count(list); ++i) first_byte[static_cast<uint8_t>(t.added_text[t.added(list)[i].text_at])] = true;
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const Added* a = first_byte[static_cast<uint8_t>(text[i])] ? longest_added(t, list, piece(i, text.size()), specials) : nullptr;
    if (!a) {
      ++i;
      continue;
    }
    size_t begin = i, end = i + a->text_bytes;
    if (a->flags & kAddedLeftStrip) {
      for (size_t back = begin; back > done;) {  // over whole characters of white space
        size_t start = back - 1;
        while (start > done && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80 && back - start < 4) --start;
        const Char c = next_char(text.data() + start, back - start);
        if (char_class(c.code) != CharClass::kSpace || c.bytes != back - start) break;
        begin = back = start;
      }
    }
    if (a->flags & kAddedRightStrip) {
      while (end < text.size()) {
        const Char c = next_char(text.data() + end, text.size() - end);
        if (char_class(c.code) != CharClass::kSpace) break;
        end += c.bytes;
      }
    }
    if (begin > done) gap(piece(done, begin));
    out->push(static_cast<int32_t>(a->id));
    i = done = end;
  }
  if (text.size() > done) gap(piece(done, text.size()));
}

// ---- one call -------------------------------------------------------------------------------------------------------------

// Bytes of a normalised text, at most.
uint64_t normal_bytes(const Header& h, uint64_t text_bytes) {
  return h.kind == kSpm ? text_bytes + 2 : h.flags & kNfc ? 3 * text_bytes : 0;
}
// Symbols of a word, at most.
uint64_t max_symbols(const Header& h, uint64_t text_bytes) {
  const uint64_t normal = normal_bytes(h, text_bytes);
  return normal ? normal : text_bytes;
}

class Encoder {
 public:
  Encoder(const Tables& t, std::string_view text, uint32_t flags, uint8_t* scratch, IdSink* out)
      : t_(t), text_(text), specials_(!(flags & LINNET_NO_PARSE_SPECIAL)), out_(out) {
    const uint64_t symbols = max_symbols(*t.header, text.size());
    work_.heap = reinterpret_cast<uint64_t*>(scratch);
    work_.cells = reinterpret_cast<uint32_t*>(scratch + symbols * sizeof(uint64_t));
    normal_ = reinterpret_cast<char*>(scratch + bpe_work_bytes(symbols));
  }

  void run() {
    split_added(t_, kAddedRaw, text_, specials_, out_, [this](std::string_view s) { segment(s); });
  }

 private:
  void segment(std::string_view raw) {
    const bool at_start = raw.data() == text_.data();
    if (t_.header->kind == kByteLevel) {
      std::string_view s = raw;
      // NFC may use the merge memory, which is free meanwhile: three words per byte of the text.
      if (t_.has(kNfc)) s = {normal_, nfc(raw.data(), raw.size(), normal_, reinterpret_cast<uint32_t*>(work_.heap))};
      split_added(t_, kAddedNormal, s, specials_, out_, [this](std::string_view gap) { words(gap); });
      return;
    }
    // normal_[0] is left free, for the space that kPrefixAlways and kPrefixFirst may put there.
    size_t n = 1;
    if (t_.header->prefix == kPrefixSegment) normal_[n++] = ' ';
    for (size_t i = 0; i < raw.size();) {
      const bool meta = raw.size() - i >= 3 && std::memcmp(raw.data() + i, "\xE2\x96\x81", 3) == 0;  // U+2581
      normal_[n++] = meta ? ' ' : raw[i];
      i += meta ? 3 : 1;
    }
    const std::string_view s(normal_ + 1, n - 1);
    split_added(t_, kAddedNormal, s, specials_, out_, [this, s, at_start](std::string_view gap) {
      const bool first = at_start && gap.data() == s.data();
      const bool wanted = t_.header->prefix == kPrefixAlways || (t_.header->prefix == kPrefixFirst && first);
      if (!wanted || gap[0] == ' ') return encode_spm(t_, gap.data(), gap.size(), work_, out_);
      // What stands before the gap was encoded already.
      char* const with_space = normal_ + (gap.data() - normal_) - 1;
      *with_space = ' ';
      encode_spm(t_, with_space, gap.size() + 1, work_, out_);
    });
  }

  void words(std::string_view s) {
    const Split split = static_cast<Split>(t_.header->split);
    for (size_t i = 0; i < s.size();) {
      const size_t n = word_bytes(split, s.data(), i, s.size());
      encode_bytes(t_, s.data() + i, n, work_, out_);
      i += n;
    }
  }

  const Tables& t_;
  const std::string_view text_;
  const bool specials_;
  IdSink* out_;
  BpeWork work_;
  char* normal_;
};

}  // namespace
}  // namespace tok

Status tokenizer_open(const void* blob, size_t bytes, uint32_t n_vocab, Tokenizer* out, Error* err) {
  using namespace tok;
  if (!blob || reinterpret_cast<uintptr_t>(blob) % 8 != 0)
    return fail(err, LINNET_BAD_ARG, "tokenizer tables must lie at a multiple of 8 bytes");
  if (bytes < sizeof(Header)) return fail(err, LINNET_BAD_FILE, "tokenizer tables: ", bytes, " bytes are too few for a header");
  Tokenizer view;
  view.blob = static_cast<const uint8_t*>(blob);
  view.bytes = bytes;
  const Header& h = *reinterpret_cast<const Header*>(view.blob);
  LINNET_TRY(check_header(h, bytes, n_vocab, err));
  LINNET_TRY(check_sections(h, err));
  const Tables t(view);
  LINNET_TRY(check_symbols(t, err));
  LINNET_TRY(check_added(t, kAddedRaw, err));
  LINNET_TRY(check_added(t, kAddedNormal, err));
  view.n_tokens = h.n_tokens;
  view.bos_id = h.bos_id;
  view.eos_id = h.eos_id;
  *out = view;
  return LINNET_OK;
}

size_t tokenize_scratch_bytes(const Tokenizer& t, size_t text_bytes) {
  if (text_bytes > tok::kMaxText) return SIZE_MAX;
  const tok::Header& h = *tok::Tables(t).header;
  const uint64_t bytes = alignof(uint64_t) - 1 + tok::bpe_work_bytes(tok::max_symbols(h, text_bytes)) + tok::normal_bytes(h, text_bytes);
  return bytes > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(bytes);
}

Status tokenize(const Tokenizer& tokenizer, std::string_view text, uint32_t flags, void* scratch, size_t scratch_bytes, int32_t* out,
                size_t cap, size_t* n_tokens, Error* err) {
  using namespace tok;
  if (text.size() > kMaxText)
    return fail(err, LINNET_BAD_ARG, "a text of ", text.size(), " bytes; at most ", kMaxText, " are taken at once");
  if (flags & ~uint32_t{LINNET_NO_ADD_SPECIAL | LINNET_NO_PARSE_SPECIAL})
    return fail(err, LINNET_BAD_ARG, "unknown tokenize flags ", flags);
  const size_t need = tokenize_scratch_bytes(tokenizer, text.size());
  if (scratch_bytes < need || !scratch)
    return fail(err, LINNET_TOO_SMALL, "tokenize needs ", need, " bytes of scratch, has ", scratch_bytes);
  const Tables t(tokenizer);
  IdSink sink{out, cap};
  const bool around = !(flags & LINNET_NO_ADD_SPECIAL);
  for (uint32_t i = 0; around && i < t.header->n_before; ++i) sink.push(t.header->before[i]);
  const uintptr_t at = reinterpret_cast<uintptr_t>(scratch), aligned = align_up(at, alignof(uint64_t));
  Encoder(t, text, flags, static_cast<uint8_t*>(scratch) + (aligned - at), &sink).run();
  for (uint32_t i = 0; around && i < t.header->n_after; ++i) sink.push(t.header->after[i]);
  *n_tokens = sink.n;
  return sink.n > cap ? fail(err, LINNET_TOO_SMALL, sink.n, " tokens, there is room for ", cap) : LINNET_OK;
}

std::string_view token_bytes(const Tokenizer& tokenizer, int32_t id, bool first) {
  const tok::Tables t(tokenizer);
  if (id < 0 || static_cast<uint32_t>(id) >= t.header->n_tokens) return {};
  std::string_view s = t.symbol_text(static_cast<uint32_t>(id));
  if (first && t.has(tok::kStripSpace) && !s.empty() && s[0] == ' ') s.remove_prefix(1);
  return s;
}

Status detokenize(const Tokenizer& tokenizer, const int32_t* ids, size_t n, char* out, size_t cap, size_t* n_bytes, Error* err) {
  size_t total = 0;
  for (size_t i = 0; i < n; ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= tokenizer.n_tokens)
      return fail(err, LINNET_BAD_ARG, "token ", i, " is ", ids[i], ", the tokenizer has ids below ", tokenizer.n_tokens);
    const std::string_view s = token_bytes(tokenizer, ids[i], i == 0);
    if (total < cap && !s.empty()) std::memcpy(out + total, s.data(), s.size() < cap - total ? s.size() : cap - total);
    total += s.size();
  }
  *n_bytes = total;
  return total > cap ? fail(err, LINNET_TOO_SMALL, total, " bytes of text, there is room for ", cap) : LINNET_OK;
}

bool token_is_eog(const Tokenizer& tokenizer, int32_t id) {
  if (id < 0 || static_cast<uint32_t>(id) >= tokenizer.n_tokens) return false;
  return (tok::Tables(tokenizer).token_flags[id] & tok::kEog) != 0;
}

}  // namespace linnet
