// From text to ids and back: added tokens are found first, what lies between them is normalised (steps.cpp), searched for added tokens of
// the second kind, cut into words (split.cpp) and encoded (bpe.cpp, pieces.cpp). Everything works on the blob and on the caller's scratch.
#include "tokenizer.h"

#include <cstring>

#include "../../platform/reader.h"
#include "blob.h"
#include "bpe.h"
#include "pattern.h"
#include "unicode.h"

namespace linnet {
namespace tok {
namespace {

// ---- checking a blob ----------------------------------------------------------------------------------------------------

Status bad(Error* err, const char* field, uint64_t value) {
  return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", field, " ", value, " is out of range");
}

// The header as the newest version has it, and the bytes that it takes in the blob.
Status read_header(const uint8_t* blob, size_t bytes, Header* out, uint32_t* header_bytes, Error* err) {
  Header1 old;
  *out = {};
  if (bytes < sizeof old) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", bytes, " bytes are too few for a header");
  std::memcpy(&old, blob, sizeof old);
  if (old.magic != kMagic) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: magic is ", old.magic, ", not ", kMagic);
  if (old.version == 4 || old.version == kVersion) {
    if (bytes < sizeof *out) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", bytes, " bytes are too few for a header");
    std::memcpy(out, blob, sizeof *out);
    *header_bytes = sizeof *out;
    return LINNET_OK;
  }
  if (old.version == 2 || old.version == 3) {
    const uint32_t size = old.version == 2 ? kHeader2Bytes : kHeader3Bytes;
    if (bytes < size) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", bytes, " bytes are too few for a header");
    std::memcpy(out, blob, size);
    for (uint32_t i = old.version == 2 ? kPatterns : kPatternLooks; i < kSectionCount; ++i) out->section[i] = {size, 0};
    *header_bytes = size;
    return LINNET_OK;
  }
  if (old.version != 1)
    return fail(err, LINNET_UNSUPPORTED, "model file: tokenizer tables: version ", old.version, ", this linnet reads up to ", kVersion,
                ": made by a newer one");
  if (old.kind != kByteLevel && old.kind != kSpm) return bad(err, "kind", old.kind);
  if (old.split > kSplitDigitsGpt2 || (old.split == kSplitNone) != (old.kind == kSpm)) return bad(err, "split", old.split);
  Header& h = *out;
  h.magic = old.magic, h.version = kVersion, h.bytes = old.bytes, h.kind = old.kind, h.prefix = old.prefix, h.flags = old.flags & ~kNfc1;
  if (old.split == kSplitDigitsGpt2) h.splits[h.n_splits++] = kSplitNumber;
  if (old.split) h.splits[h.n_splits++] = old.split == kSplitDigitsGpt2 ? uint32_t{kSplitGpt2} : old.split;
  if (old.flags & kNfc1) h.steps[h.n_steps++] = {kStepNfc, 0};
  h.growth = h.n_steps ? 3 : 1;
  h.n_tokens = old.n_tokens, h.n_symbols = old.n_symbols, h.bos_id = old.bos_id, h.eos_id = old.eos_id, h.unk_id = old.unk_id;
  h.n_before = old.n_before, h.n_after = old.n_after;
  std::memcpy(h.before, old.before, sizeof h.before);
  std::memcpy(h.after, old.after, sizeof h.after);
  h.merge_probe = old.merge_probe, h.word_probe = old.word_probe, h.max_word = old.max_word;
  for (Section& s : h.section) s = {sizeof old, 0};
  std::memcpy(h.section, old.section, sizeof old.section);
  *header_bytes = sizeof old;
  return LINNET_OK;
}

Status check_header(const Header& h, size_t bytes, uint32_t n_vocab, Error* err) {
  if (h.bytes != bytes) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", bytes, " bytes, the header says ", h.bytes);
  if (h.kind < kByteLevel || h.kind > kWordPiece) return bad(err, "kind", h.kind);
  if (h.prefix > kPrefixWord || (h.prefix && h.kind == kWordPiece)) return bad(err, "prefix", h.prefix);
  if (h.flags & ~uint32_t{kKnownFlags}) return bad(err, "flags", h.flags);
  if ((h.flags & kAffixed && h.kind != kSpm) || (h.flags & kEndsShown && !(h.flags & kAffixed))) return bad(err, "flags", h.flags);
  if (h.n_splits > kMaxSplits) return bad(err, "n_splits", h.n_splits);
  for (uint32_t i = 0; i < h.n_splits; ++i)
    if (h.splits[i] >= kSplitCount && (h.splits[i] < kSplitPattern || h.splits[i] - kSplitPattern >= h.section[kPatterns].count))
      return bad(err, "split", h.splits[i]);
  uint32_t growth = 1;
  for (uint32_t i = 0; i < h.n_splits; ++i) growth *= split_growth(h.splits[i]);
  if (growth > kMaxSplitGrowth) return bad(err, "growth of splits", growth);
  if (h.prefix == kPrefixWord && (h.n_splits == 0 || h.splits[0] != kSplitWhitespace)) return bad(err, "prefix", h.prefix);
  if (h.n_steps > kMaxSteps) return bad(err, "n_steps", h.n_steps);
  if (h.growth == 0 || h.growth > kMaxGrowth) return bad(err, "growth", h.growth);
  if (h.slack > kMaxSlack) return bad(err, "slack", h.slack);
  if (h.max_piece > kMaxPiece) return bad(err, "max_piece", h.max_piece);
  if (h.hidden > kMaxPattern) return bad(err, "hidden", h.hidden);
  if (h.n_tokens == 0 || h.n_tokens > kMaxTokens) return bad(err, "n_tokens", h.n_tokens);
  if (h.n_tokens > n_vocab)
    return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: ", h.n_tokens, " tokens, the model's vocabulary has ", n_vocab);
  if (h.n_symbols < h.n_tokens || h.n_symbols > 2 * kMaxTokens || (h.kind == kByteLevel && h.n_symbols > h.n_tokens))
    return bad(err, "n_symbols", h.n_symbols);
  if (h.merge_probe > kMaxProbe) return bad(err, "merge_probe", h.merge_probe);
  if (h.word_probe > kMaxProbe) return bad(err, "word_probe", h.word_probe);
  const auto is_id = [&h](int32_t id) { return id >= 0 && static_cast<uint32_t>(id) < h.n_tokens; };
  for (const int32_t id : {h.bos_id, h.eos_id, h.unk_id})
    if (id != -1 && !is_id(id)) return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: special token ", id, " is out of range");
  if (h.n_before > kMaxAround || h.n_after > kMaxAround)
    return bad(err, "n_before or n_after", h.n_before > h.n_after ? h.n_before : h.n_after);
  for (uint32_t i = 0; i < kMaxAround; ++i) {
    if (i < h.n_before && !is_id(h.before[i])) return bad(err, "token before a text", static_cast<uint32_t>(h.before[i]));
    if (i < h.n_after && !is_id(h.after[i])) return bad(err, "token after a text", static_cast<uint32_t>(h.after[i]));
  }
  return LINNET_OK;
}

Status check_sections(const Header& h, uint32_t header_bytes, Error* err) {
  static constexpr uint32_t kElement[kSectionCount] = {4,
                                                       1,
                                                       1,
                                                       4,
                                                       sizeof(MergeSlot),
                                                       4,
                                                       sizeof(Added),
                                                       sizeof(Added),
                                                       1,
                                                       sizeof(CharRange),
                                                       sizeof(CharMap),
                                                       sizeof(Replace),
                                                       1,
                                                       4,
                                                       1,
                                                       4,
                                                       sizeof(double),
                                                       sizeof(Pattern),
                                                       2,
                                                       1,
                                                       2,
                                                       sizeof(Look),
                                                       4,
                                                       1};
  for (uint32_t i = 0; i < kSectionCount; ++i) {
    const Section& s = h.section[i];
    if (s.at % 8 != 0 || s.at < header_bytes || !fits(s.at, uint64_t{s.count} * kElement[i], h.bytes))
      return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: section ", i, " at ", s.at, " with ", s.count,
                  " elements is outside the table");
  }
  if (h.section[kTextAt].count != h.n_symbols + 1) return bad(err, "number of text offsets", h.section[kTextAt].count);
  if (h.section[kTokenFlags].count != h.n_tokens) return bad(err, "number of token flags", h.section[kTokenFlags].count);
  if (h.section[kByteIds].count != 256) return bad(err, "number of byte tokens", h.section[kByteIds].count);
  if (h.section[kScores].count != (h.kind == kUnigram ? h.n_tokens : 0)) return bad(err, "number of scores", h.section[kScores].count);
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
    if (h.kind == kSpm && !(h.flags & kAffixed) && size(m.left) + size(m.right) != size(m.result))
      return bad(err, "length of the result of merge", i);
    if (m.result >= h.n_tokens) return bad(err, "result of merge", i);
  }
  for (uint32_t i = 0; i < t.count(kWords); ++i)
    if (t.words[i] > h.n_symbols) return bad(err, "word", t.words[i]);
  const uint32_t n_shown = t.count(kShownAt), *const shown_at = t.at_section<uint32_t>(kShownAt);
  if (n_shown && n_shown != 2 * h.n_tokens + 1) return bad(err, "shown texts", n_shown);
  for (uint32_t i = 0; i < n_shown; ++i)
    if (shown_at[i] > t.count(kShown) || (i && shown_at[i] < shown_at[i - 1])) return bad(err, "place of shown text", i);
  return LINNET_OK;
}

Status check_steps(const Tables& t, Error* err) {
  const Header& h = *t.header;
  const auto text = [&t](uint32_t at, uint32_t bytes) { return fits(at, bytes, t.count(kNormalText)); };
  if (!text(h.cont_at, h.cont_bytes) || h.cont_bytes > kMaxPattern) return bad(err, "cont_bytes", h.cont_bytes);
  for (uint32_t i = 0; i < h.n_steps; ++i) {
    const Step& s = h.steps[i];
    if (s.op == 0 || s.op >= kStepCount) return bad(err, "step", s.op);
    const bool replaces = s.op == kStepReplace || s.op == kStepRuns || s.op == kStepPrepend;
    if (s.op == kStepMap ? s.arg >= t.count(kCharMaps) : replaces && s.arg >= t.count(kReplaces)) return bad(err, "argument of step", s.op);
    if (s.op == kStepPattern && (s.arg >> 16 >= t.count(kPatterns) || (s.arg & 0xFFFF) >= t.count(kReplaces)))
      return bad(err, "argument of step", s.op);
    if (s.op == kStepReplace && t.replaces[s.arg].from_bytes == 0) return bad(err, "pattern of step", s.op);
  }
  for (uint32_t i = 0; i < t.count(kReplaces); ++i) {
    const Replace& r = t.replaces[i];
    if (!text(r.from_at, r.from_bytes) || !text(r.to_at, r.to_bytes) || r.from_bytes > kMaxPattern || r.to_bytes > kMaxPattern)
      return bad(err, "replacement", i);
  }
  for (uint32_t i = 0; i < t.count(kCharMaps); ++i)
    if (!fits(t.char_maps[i].first, t.char_maps[i].count, t.count(kCharRanges))) return bad(err, "map", i);
  for (uint32_t i = 0; i < t.count(kCharRanges); ++i)
    if (!text(t.char_ranges[i].text_at, t.char_ranges[i].text_bytes)) return bad(err, "range of a map", i);
  return LINNET_OK;
}

Status check_patterns(const Tables& t, Error* err) {
  for (uint32_t i = 0; i < t.count(kPatternLooks); ++i)
    if (t.looks()[i].pattern >= t.count(kPatterns) || (i && t.looks()[i].pattern < t.looks()[i - 1].pattern))
      return bad(err, "pattern of a look", t.looks()[i].pattern);
  for (uint32_t i = 0; i < t.count(kPatterns); ++i) {
    const Pattern& p = t.pattern_at(i);
    if (p.mode >= kPatternModes) return bad(err, "mode of a pattern", p.mode);
    if (p.n_classes == 0 || p.n_classes > kMaxClasses) return bad(err, "classes of a pattern", p.n_classes);
    if (p.n_states <= kPatternStart || p.n_states > kMaxStates) return bad(err, "states of a pattern", p.n_states);
    const Look* looks = nullptr;
    const uint32_t n_looks = t.looks_of(i, &looks);
    if (n_looks > kMaxLooks) return bad(err, "looks of a pattern", n_looks);
    const uint32_t n_next = p.n_states * ((p.n_classes + 1) << n_looks);
    if (!fits(p.blocks_at, kPatternBlocks, t.count(kPatternBlockOf)) || p.n_blocks > kPatternBlocks ||
        !fits(p.classes_at, p.n_blocks * kPatternBlock, t.count(kPatternClassOf)) || !fits(p.next_at, n_next, t.count(kPatternNext)))
      return bad(err, "place of pattern", i);
    const PatternTables tables = t.pattern(i);
    for (uint32_t k = 0; k < kPatternBlocks; ++k)
      if (tables.blocks[k] >= p.n_blocks) return bad(err, "block of a pattern", tables.blocks[k]);
    for (uint32_t k = 0; k < p.n_blocks * kPatternBlock; ++k)
      if (tables.classes[k] >= p.n_classes) return bad(err, "class of a pattern", tables.classes[k]);
    for (uint32_t k = 0; k < n_next; ++k)
      if ((tables.next[k] & ~kPatternMatch) >= p.n_states) return bad(err, "state of a pattern", tables.next[k]);
    for (uint32_t k = 0; k < n_looks; ++k) {
      const Look& look = looks[k];
      if (look.ahead > 1) return bad(err, "direction of a look", look.ahead);
      if (look.n_states == 0 || look.n_states > kMaxStates) return bad(err, "states of a look", look.n_states);
      const uint32_t n = look.n_states * ((p.n_classes + 1) << k);
      if (!fits(look.next_at, n, t.count(kPatternNext))) return bad(err, "place of a look", look.next_at);
      for (uint32_t j = 0; j < n; ++j)
        if ((tables.all_next[look.next_at + j] & ~kPatternMatch) >= look.n_states)
          return bad(err, "state of a look", tables.all_next[look.next_at + j]);
    }
  }
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
const Added* longest_added(const Tables& t, SectionId list, std::string_view text) {
  const Added* added = t.added(list);
  uint32_t low = 0, high = t.count(list);
  const Added* found = nullptr;
  for (size_t depth = 0; low < high; ++depth) {
    if (depth && added[low].text_bytes == depth) {
      found = &added[low];
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

// Calls gap(text) for each non-empty stretch between the tokens of a list, and writes the tokens. As in the tokenizers library all tokens
// are found first, from left to right, the longest at each place; one that does not count (a special one without `specials`, or a single
// word inside another) still takes its text. The white space that a token takes with it (kAddedLeftStrip, kAddedRightStrip) is no gap, but
// a token in it counts all the same, and behind that the text goes on, white space that the first one took too. Only one that takes white
// space to its left as well and lies all in what was taken is nothing: there the library drops it, or panics.
// `foreign` (n bytes of the text, or nullptr): where it is 1 stands text of others, in which no token is, or with kTextInForeign no special
// one.
template <class Gap>
void split_added(const Tables& t, SectionId list, std::string_view text, const uint8_t* foreign, uint32_t specials, IdSink* out,
                 const Gap& gap) {
  if (text.empty()) return;
  if (t.count(list) == 0) return gap(text);
  const auto piece = [text](size_t from, size_t to) { return std::string_view(text.data() + from, to - from); };
  bool first_byte[256] = {};
  for (uint32_t i = 0; i < t.count(list); ++i) first_byte[static_cast<uint8_t>(t.added_text[t.added(list)[i].text_at])] = true;
  // Where normalising wrote U+2581 for ' ', it is no white space there.
  const uint32_t solid = list == kAddedNormal && t.has(kSolidSpaces) ? ' ' : kBadByte;
  size_t done = 0, space_end = 0;  // what the last token took with it ends here; white space that was looked through at its right does
  const bool all = !foreign || (specials & kTextInForeign);
  size_t own_end = all ? text.size() : 0;  // of the stretch without foreign text that i lies in
  for (size_t i = 0; i < text.size();) {
    if (!all && i >= own_end)
      for (own_end = i; own_end < text.size() && !foreign[own_end];) ++own_end;
    if (i == own_end) {
      ++i;
      continue;
    }
    const Added* a = first_byte[static_cast<uint8_t>(text[i])] ? longest_added(t, list, piece(i, own_end)) : nullptr;
    if (!a) {
      ++i;
      continue;
    }
    size_t begin = i, end = i + a->text_bytes;
    const size_t start = begin;
    i = end;
    if (!(specials & LINNET_PARSE_SPECIAL) && (a->flags & kAddedSpecial)) continue;
    if (foreign && (a->flags & kAddedSpecial) && std::memchr(foreign + begin, 1, a->text_bytes)) continue;
    if ((a->flags & kAddedSingleWord) &&
        (ends_in_word(text.data(), start) || (end < text.size() && is_word(next_char(text.data() + end, text.size() - end).code))))
      continue;
    if ((a->flags & kAddedLeftStrip) && start > done) {
      begin = done + end_space(text.data() + done, start - done, solid);
      out->steps += start - begin;
    }
    if (a->flags & kAddedRightStrip) {
      if (end >= space_end) {
        for (space_end = end; space_end < text.size();) {
          const Char c = next_char(text.data() + space_end, text.size() - space_end);
          if (char_class(c.code) != CharClass::kSpace || c.code == solid) break;
          space_end += c.bytes;
        }
        out->steps += space_end - end;
      }
      end = space_end;
    }
    if ((a->flags & kAddedLeftStrip) && end <= done) continue;
    if (begin > done) gap(piece(done, begin));
    out->push(static_cast<int32_t>(a->id));
    done = end;
  }
  if (text.size() > done) gap(piece(done, text.size()));
}

// ---- one call -------------------------------------------------------------------------------------------------------------

// Bytes of a normalised text, at most.
uint64_t normal_bytes(const Header& h, uint64_t text_bytes) { return h.growth * text_bytes + h.slack; }
bool metaspaced(const Header& h) { return (h.kind == kSpm || h.kind == kUnigram) && !(h.flags & kAsSpelled); }
// Whether splits change the text.
bool rewrites(const Header& h) {
  bool any = false;
  for (uint32_t i = 0; i < h.n_splits; ++i) any = any || (h.splits[i] >= kSplitSpaces && h.splits[i] < kSplitCount);
  return any;
}
// Whether a text is copied before it is encoded, and whether its steps take turns in a second buffer.
bool copies(const Header& h) { return metaspaced(h) || h.prefix || h.n_steps || rewrites(h); }
bool copies_twice(const Header& h) { return h.n_steps > 1 || (h.n_steps && (metaspaced(h) || h.prefix)); }
// A buffer has a free byte in front, for the space that a prefix rule may put there, and one for kPrefixSegment's.
uint64_t buffer_bytes(const Header& h, uint64_t text_bytes) { return normal_bytes(h, text_bytes) + 2; }
// Bytes of what splits make of a piece of n bytes in buffers of their own, of which there are so many; each has a free byte in front.
uint64_t wide_bytes(const Header& h, uint64_t n, uint32_t* buffers) {
  *buffers = 0;
  for (uint32_t i = 0; i < h.n_splits; ++i)
    if (const uint32_t growth = split_growth(h.splits[i]); growth > 1) n = n * growth + 1, ++*buffers;
  return n;
}
// What looks say about a piece, for each split that has any: a piece is done with before the next one of the same split comes.
uint32_t splits_with_looks(const Tables& t) {
  uint32_t n = 0;
  const Header& h = *t.header;
  for (uint32_t i = 0; i < h.n_splits && t.count(kPatternLooks); ++i)
    n += h.splits[i] >= kSplitPattern && t.pattern(h.splits[i] - kSplitPattern).n_looks;
  return n;
}
// The scratch of a text of so many bytes. First comes the memory of merging, then the buffers, those of splits, and what looks say.
struct Layout {
  uint64_t cap, wide, cells;  // bytes of a buffer, of a split's, and of the text that is merged, counted in symbols
  uint64_t wide_at, looks_at, bytes;
};
Layout layout_of(const Tables& t, uint64_t text_bytes) {
  const Header& h = *t.header;
  Layout out;
  uint32_t n_wide = 0;
  out.cap = buffer_bytes(h, text_bytes);
  out.wide = wide_bytes(h, out.cap, &n_wide);
  out.cells = cells_of(t, out.wide);
  out.wide_at = work_bytes(out.cells, h.kind == kUnigram) + (copies_twice(h) ? 2 : copies(h) ? 1 : 0) * out.cap;
  out.looks_at = out.wide_at + n_wide * out.wide;
  out.bytes = out.looks_at + splits_with_looks(t) * look_bytes(out.wide);
  return out;
}

class Encoder {
 public:
  Encoder(const Tables& t, std::string_view text, const uint8_t* foreign, uint32_t flags, uint8_t* scratch, IdSink* out)
      : t_(t), h_(*t.header), text_(text), foreign_(foreign), specials_(flags), out_(out), layout_(layout_of(t, text.size())) {
    cap_ = static_cast<size_t>(layout_.cap);
    const size_t cells = static_cast<size_t>(layout_.cells);
    work_.heap = reinterpret_cast<uint64_t*>(scratch);
    work_.cells = reinterpret_cast<uint32_t*>(work_.heap + cells + 1);
    work_.ids = work_.cells + cells + 1;
    buffer_[0] = reinterpret_cast<char*>(scratch + static_cast<size_t>(work_bytes(cells, h_.kind == kUnigram)));
    buffer_[1] = buffer_[0] + cap_;
    wide_ = reinterpret_cast<char*>(scratch + static_cast<size_t>(layout_.wide_at));
    looks_ = scratch + static_cast<size_t>(layout_.looks_at);
  }

  // false: the tables promised that texts grow less than this one did.
  bool run() {
    split_added(t_, kAddedRaw, text_, foreign_, specials_, out_, [this](std::string_view s) { segment(s); });
    return fits_;
  }

 private:
  void segment(std::string_view raw) {
    const bool at_start = raw.data() == text_.data();
    std::string_view s = raw;
    uint32_t turn = 0;
    for (uint32_t i = 0; i < h_.n_steps; ++i) {
      Writer writer{buffer_[turn] + 1, cap_ - 2};
      // The merge memory is free meanwhile: three words and more for each byte.
      apply_step(t_, h_.steps[i], s, &writer, reinterpret_cast<uint32_t*>(work_.heap));
      fits_ = fits_ && !writer.full;
      s = {writer.out, writer.n};
      out_->steps += raw.size();
      turn ^= 1;
    }
    if (s.empty()) return;
    if (metaspaced(h_) || h_.prefix || (h_.n_steps == 0 && copies(h_))) {
      char* const to = buffer_[turn] + 1;
      size_t n = 0;
      if (h_.prefix == kPrefixSegment) to[n++] = ' ';
      if (metaspaced(h_) && h_.prefix != kPrefixWord && !t_.has(kLateSpaces)) {
        n += with_spaces(s, to + n);
      } else {
        std::memcpy(to + n, s.data(), s.size());
        n += s.size();
      }
      s = {to, n};
    }
    start_ = at_start ? s.data() : nullptr;
    // Where normalising changed a text it is not known which of its bytes are foreign: then all are, if any is.
    const uint8_t* foreign = foreign_ ? foreign_ + (raw.data() - text_.data()) : nullptr;
    const bool same = s.size() == raw.size() && std::memcmp(s.data(), raw.data(), s.size()) == 0;
    const bool none = foreign && !same && !(specials_ & kTextInForeign) && std::memchr(foreign, 1, raw.size()) != nullptr;
    const auto gap = [this, s, at_start](std::string_view text) {
      if (t_.has(kLateSpaces) && metaspaced(h_)) text = {text.data(), with_spaces(text, in_buffer(text))};
      const bool first = at_start && text.data() == s.data();
      const bool wanted = h_.prefix == kPrefixAlways || (h_.prefix == kPrefixFirst && first);
      words(wanted ? prefixed(text) : text, 0);
    };
    if (none)
      gap(s);
    else
      split_added(t_, kAddedNormal, s, same ? foreign : nullptr, specials_, out_, gap);
  }

  // U+2581 -> ' '; `to` may be where s lies.
  static size_t with_spaces(std::string_view s, char* to) {
    size_t n = 0;
    for (size_t i = 0; i < s.size();) {
      const bool meta = s.size() - i >= 3 && std::memcmp(s.data() + i, "\xE2\x96\x81", 3) == 0;
      to[n++] = meta ? ' ' : s[i];
      i += meta ? 3 : 1;
    }
    return n;
  }

  // A space in front, unless there is one. What stands before s in the buffer was encoded already.
  std::string_view prefixed(std::string_view s) const {
    if (s[0] == ' ') return s;
    char* const with_space = in_buffer(s) - 1;
    *with_space = ' ';
    return {with_space, s.size() + 1};
  }
  char* in_buffer(std::string_view s) const { return buffer_[0] + (s.data() - buffer_[0]); }

  void words(std::string_view s, uint32_t depth) {
    if (depth == h_.n_splits) return encode(s);
    const uint32_t number = h_.splits[depth];
    if (number >= kSplitPattern) {
      const PatternTables pattern = t_.pattern(number - kSplitPattern);
      uint8_t* const marks = looks_;
      if (pattern.n_looks) looks_ += static_cast<size_t>(look_bytes(layout_.wide));
      pattern_words(pattern, s, depth, marks);
      looks_ = marks;
      return;
    }
    const Split split = static_cast<Split>(number);
    if (split >= kSplitSpaces) return rewritten(split, s, depth);
    for (size_t i = 0; i < s.size();) {
      const size_t n = word_bytes(split, s.data(), i, s.size());
      std::string_view word(s.data() + i, n);
      i += n;
      out_->steps += n;
      if (drops(split, word.data(), n)) continue;
      if (h_.prefix == kPrefixWord && depth == 0) {
        word = {word.data(), metaspaced(h_) ? with_spaces(word, in_buffer(word)) : n};
        word = prefixed(word);
      }
      words(word, depth + 1);
    }
  }

  // Splits that change a piece: in its place, where what stands in front of it is done with, or in a buffer of their own.
  [[gnu::noinline]] void rewritten(Split split, std::string_view s, uint32_t depth) {
    const char* const start = start_;
    char* const buffer = wide_;
    const bool first = s.data() == start;
    out_->steps += s.size();
    if (split <= kSplitSpacesFirst) s = {s.data(), with_spaces(s, in_buffer(s))};
    if (split == kSplitSpacesAlways || split == kSplitPrefix || (split == kSplitSpacesFirst && first)) s = prefixed(s);
    if (split_growth(split) > 1) {
      Writer writer{buffer + 1, static_cast<size_t>(layout_.wide) - 1};
      for (const char c : s) put_wide(split, c, &writer);
      s = {writer.out, writer.n};
      fits_ = fits_ && !writer.full;
      wide_ = buffer + static_cast<size_t>(layout_.wide);
      start_ = first ? s.data() : nullptr;
    }
    words(s, depth + 1);
    wide_ = buffer;
    start_ = start;
  }
  static void put_wide(Split split, char c, Writer* out) {
    char letter[4];
    if (split == kSplitLetters)
      out->put(letter, put_char(letter_of_byte(static_cast<uint8_t>(c)), letter));
    else if (c == ' ')
      out->put("\xE2\x96\x81", 3);
    else
      out->put(&c, 1);
  }

  void pattern_words(const PatternTables& pattern, std::string_view s, uint32_t depth, uint8_t* marks) {
    PatternMemory memory;
    read_looks(pattern, s.data(), s.size(), marks);
    memory.steps += pattern.n_looks * s.size();
    for (size_t i = 0; i < s.size();) {
      bool dropped = false;
      const size_t n = pattern_bytes(pattern, s.data(), i, s.size(), marks, &memory, &dropped);
      if (!dropped) words({s.data() + i, n}, depth + 1);
      i += n;
    }
    out_->steps += memory.steps;
  }

  void encode(std::string_view s) {
    switch (h_.kind) {
      case kByteLevel:
        return encode_bytes(t_, s.data(), s.size(), work_, out_);
      case kSpm:
        if (const int32_t id = t_.has(kIgnoreMerges) ? t_.word(s) : -1; id >= 0 && static_cast<uint32_t>(id) < h_.n_tokens)
          return out_->push(id);
        return encode_spm(t_, s.data(), s.size(), work_, out_);
      case kUnigram:
        return encode_unigram(t_, s.data(), s.size(), work_, out_);
      default:
        return encode_wordpiece(t_, s.data(), s.size(), out_);
    }
  }

  const Tables& t_;
  const Header& h_;
  const std::string_view text_;
  const uint8_t* foreign_;   // (bytes of text_) or nullptr
  const uint32_t specials_;  // flags of tokenize()
  IdSink* out_;
  BpeWork work_;
  const Layout layout_;
  char *buffer_[2], *wide_;      // wide_, looks_: for the splits from here on
  const char* start_ = nullptr;  // of the whole text, if a piece begins there
  uint8_t* looks_;
  size_t cap_;  // of a buffer
  bool fits_ = true;
};

}  // namespace
}  // namespace tok

Status tokenizer_open(const void* blob, size_t bytes, uint32_t n_vocab, Tokenizer* out, Error* err) {
  using namespace tok;
  if (!blob || reinterpret_cast<uintptr_t>(blob) % 8 != 0)
    return fail(err, LINNET_BAD_ARG, "tokenizer tables must lie at a multiple of 8 bytes");
  Tokenizer view;
  view.blob = static_cast<const uint8_t*>(blob);
  view.bytes = bytes;
  Header h;
  uint32_t header_bytes = 0;
  LINNET_TRY(read_header(view.blob, bytes, &h, &header_bytes, err));
  LINNET_TRY(check_header(h, bytes, n_vocab, err));
  LINNET_TRY(check_sections(h, header_bytes, err));
  std::memcpy(view.header, &h, sizeof h);
  const Tables t(view);
  LINNET_TRY(check_symbols(t, err));
  LINNET_TRY(check_steps(t, err));
  LINNET_TRY(check_patterns(t, err));
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
  const tok::Layout layout = tok::layout_of(tok::Tables(t), text_bytes);
  const uint64_t bytes = alignof(uint64_t) - 1 + layout.bytes;
  return bytes > SIZE_MAX || layout.cells > UINT32_MAX ? SIZE_MAX : static_cast<size_t>(bytes);
}

Status tokenize(const Tokenizer& tokenizer, std::string_view text, uint32_t flags, void* scratch, size_t scratch_bytes, int32_t* out,
                size_t cap, size_t* n_tokens, Error* err, uint64_t* steps, const uint8_t* foreign) {
  using namespace tok;
  if (text.size() > kMaxText)
    return fail(err, LINNET_BAD_ARG, "a text of ", text.size(), " bytes; at most ", kMaxText, " are taken at once");
  const size_t need = tokenize_scratch_bytes(tokenizer, text.size());
  if (scratch_bytes < need || !scratch)
    return fail(err, LINNET_TOO_SMALL, "tokenize needs ", need, " bytes of scratch, has ", scratch_bytes);
  const Tables t(tokenizer);
  IdSink sink{out, cap};
  const bool around = flags & LINNET_ADD_SPECIAL;
  for (uint32_t i = 0; around && i < t.header->n_before; ++i) sink.push(t.header->before[i]);
  const uintptr_t at = reinterpret_cast<uintptr_t>(scratch), aligned = static_cast<uintptr_t>(align_up(at, alignof(uint64_t)));
  if (!Encoder(t, text, foreign, flags, static_cast<uint8_t*>(scratch) + (aligned - at), &sink).run())
    return fail(err, LINNET_BAD_FILE, "model file: tokenizer tables: a text grows by more than ", t.header->growth,
                " times, as the tables say");
  if (sink.unknown && t.has(kNoUnknown))
    return fail(err, LINNET_UNSUPPORTED, "the text has what is no token, and the tokenizer has no unknown token for it");
  for (uint32_t i = 0; around && i < t.header->n_after; ++i) sink.push(t.header->after[i]);
  *n_tokens = sink.n;
  if (steps) *steps = sink.steps;
  return sink.n > cap ? fail(err, LINNET_TOO_SMALL, sink.n, " tokens, there is room for ", cap) : LINNET_OK;
}

std::string_view token_bytes(const Tokenizer& tokenizer, int32_t id, bool first) {
  const tok::Tables t(tokenizer);
  if (id < 0 || static_cast<uint32_t>(id) >= t.header->n_tokens) return {};
  if (t.count(tok::kShownAt)) return t.shown_text(static_cast<uint32_t>(id), first);
  std::string_view s = t.symbol_text(static_cast<uint32_t>(id));
  const size_t hidden = t.header->hidden < s.size() ? t.header->hidden : s.size();
  if (t.token_flags[id] & tok::kContinues)
    s.remove_prefix(first ? 0 : hidden);
  else if (first && t.has(tok::kStripSpace) && !s.empty() && s[0] == ' ')
    s.remove_prefix(1);
  while (first && t.has(tok::kStripSpaces) && !s.empty() && s[0] == ' ') s.remove_prefix(1);
  return s;
}

Status detokenize(const Tokenizer& tokenizer, const int32_t* ids, size_t n, uint32_t flags, char* out, size_t cap, size_t* n_bytes,
                  Error* err) {
  const auto skipped = [&](size_t i) { return (flags & LINNET_SKIP_SPECIAL) && token_is_special(tokenizer, ids[i]); };
  const tok::Tables t(tokenizer);
  size_t total = 0, end = n;  // of what is shown
  bool first = true;
  while (t.has(tok::kEndsShown) && end > 0 && skipped(end - 1)) --end;
  for (size_t i = 0; i < n; ++i) {
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= tokenizer.n_tokens)
      return fail(err, LINNET_BAD_ARG, "token ", i, " is ", ids[i], ", the tokenizer has ids below ", tokenizer.n_tokens);
    if (skipped(i)) continue;
    const auto put = [&](std::string_view s) {
      if (total < cap && !s.empty()) std::memcpy(out + total, s.data(), s.size() < cap - total ? s.size() : cap - total);
      total += s.size();
    };
    if (t.has(tok::kEndsShown) && i + 1 == end) {  // as it is spelled, but for its suffixes
      const std::string_view s = t.symbol_text(static_cast<uint32_t>(ids[i])), suffix = t.affix(true);
      size_t from = 0;
      for (size_t at; !suffix.empty() && (at = s.find(suffix, from)) != s.npos; from = at + suffix.size())
        put({s.data() + from, at - from});
      put({s.data() + from, s.size() - from});
    } else {
      put(token_bytes(tokenizer, ids[i], first));
    }
    first = false;
  }
  *n_bytes = total;
  return total > cap ? fail(err, LINNET_TOO_SMALL, total, " bytes of text, there is room for ", cap) : LINNET_OK;
}

static bool has_flag(const Tokenizer& tokenizer, int32_t id, uint32_t flag) {
  return id >= 0 && static_cast<uint32_t>(id) < tokenizer.n_tokens && (tok::Tables(tokenizer).token_flags[id] & flag);
}
bool token_is_eog(const Tokenizer& tokenizer, int32_t id) { return has_flag(tokenizer, id, tok::kEog); }
bool token_is_added(const Tokenizer& tokenizer, int32_t id) {
  if (!has_flag(tokenizer, id, tok::kControl | tok::kUserDefined | tok::kByte | tok::kUnknown)) return false;  // as most are
  const tok::Tables t(tokenizer);
  for (const tok::SectionId list : {tok::kAddedRaw, tok::kAddedNormal})
    for (uint32_t i = 0; i < t.count(list); ++i)
      if (t.added(list)[i].id == static_cast<uint32_t>(id)) return true;
  return false;
}
bool token_is_special(const Tokenizer& tokenizer, int32_t id) { return has_flag(tokenizer, id, tok::kControl | tok::kUnknown); }

}  // namespace linnet
