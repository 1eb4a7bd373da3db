// The tokenizer's tables as they lie in a file: one blob of little-endian words, offsets from its start, nothing to fix up.
// Written by convert/tokenizer_build.cpp, checked by tokenizer_open.
//
// A symbol is what BPE merges: ids below n_tokens are tokens; ids from there on are single characters that stand in pieces of a
// SentencePiece vocabulary without being tokens themselves (what is left of them at the end is written as bytes).
// Texts of tokens are what they decode to: byte-level tokens as raw bytes, SentencePiece and Unigram ones with ' ' for U+2581, byte tokens
// as the byte, WordPiece ones with the space in front that a word begins with. With kAsSpelled they are what the vocabulary spells, and
// what they decode to, where that is something else, is in kShown.
//
// A text goes through the steps (normalising), then the splits, each of which cuts the pieces of the one before; a model encodes what is
// left.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizer.h"
#include "trie.h"

namespace linnet::tok {

inline constexpr uint32_t kMagic = 0x4b544e4c;  // "LNTK"
inline constexpr uint32_t kVersion = 5;
inline constexpr uint32_t kMaxTokens = 1u << 21;
inline constexpr uint32_t kMaxProbe = 4096;     // slots looked at for one key
inline constexpr uint32_t kMaxAround = 4;       // special tokens put before a text, and after it
inline constexpr uint32_t kMaxText = 1u << 27;  // bytes of one text
inline constexpr uint32_t kMaxSplits = 8, kMaxSteps = 8;
inline constexpr uint32_t kMaxGrowth = 31;  // bytes of a normalised text per byte of the text
inline constexpr uint32_t kMaxSlack = 4096;
inline constexpr uint32_t kMaxPiece = 512;   // bytes of a piece in kTrie
inline constexpr uint32_t kMaxPattern = 64;  // bytes that a kStepReplace looks for

enum Kind : uint32_t { kByteLevel = 1, kSpm = 2, kUnigram = 3, kWordPiece = 4 };
// How a piece of text is cut, by what the pre-tokenisers' regular expressions match (see split.cpp). What lies between matches is a piece,
// too.
enum Split : uint32_t {
  kSplitNone = 0,
  kSplitGpt2 = 1,
  kSplitLlama3 = 2,
  kSplitQwen2 = 3,
  kSplitO200k = 4,
  kSplitTekken = 5,
  kSplitDeepseek3 = 6,
  kSplitBloom = 7,
  kSplitNumber = 8,         // a number, as Digits sees them
  kSplitNumbers3 = 9,       // \p{N}{1,3}
  kSplitNumbers = 10,       // a run of them
  kSplitAscii3 = 11,        // [0-9][0-9][0-9]
  kSplitByteNumbers = 12,   // runs of bytes that are numbers as letters of a byte-level text: Digits behind ByteLevel
  kSplitPunctuation = 13,   // runs of \p{P} and ASCII symbols
  kSplitLine = 14,          // [\r\n]
  kSplitSpaceLetters = 15,  // \s?\p{L}+
  kSplitSpacePunct = 16,    // \s?\p{P}+
  kSplitSpaceCased = 17,    // \s?[A-Za-zµÀ-Ö...]+ of DeepSeek-LLM
  kSplitSpaceMarks = 18,    // \s?[!-/:-~！-／：-～‘-‟　-。]+ of DeepSeek-LLM
  kSplitEndSpace = 19,      // \s+$
  kSplitHan = 20,           // [一-龥ࠀ-一가-퟿]+
  kSplitHanKana = 21,       // [一-龥぀-ゟ゠-ヿ]+
  kSplitWhitespace = 22,    // white space separates and is dropped
  kSplitMetaspace = 23,     // in front of each ' ' (which stands for U+2581)
  kSplitBert = 24,          // white space separates and is dropped, each punctuation mark is by itself
  kSplitBertHan = 25,       // and so is each Han character
  // Steps that cut nothing, since version 5: what comes behind them sees another text.
  kSplitSpaces = 26,        // U+2581 is ' ' from here on
  kSplitSpacesAlways = 27,  // and there is one in front
  kSplitSpacesFirst = 28,   // likewise, where the text begins
  kSplitMarks = 29,         // ' ' is U+2581 again
  kSplitPrefix = 30,        // a space in front, unless there is one
  kSplitLetters = 31,       // bytes are the letters that byte-level tokens spell them with
  kSplitCount,
  kSplitPattern = 256,  // from here on: the pattern of that number
};
// What becomes of a pattern's matches and of the gaps between them: the behaviours of the tokenizers library, inverted or not.
enum PatternMode : uint32_t {
  kPatternIsolated = 0,     // each is a piece
  kPatternDropMatches = 1,  // matches go
  kPatternDropGaps = 2,     // gaps go
  kPatternGapWith = 3,      // a gap takes the match behind it along
  kPatternWithGap = 4,      // a match takes the gap behind it along
  kPatternContiguous = 5,   // matches in a row are one piece
  kPatternModes
};
inline constexpr uint32_t kPatternBlock = 128, kPatternBlocks = 0x110000 / kPatternBlock;
inline constexpr uint32_t kPatternStart = 1;       // state 0: nothing can match any more
inline constexpr uint32_t kPatternMatch = 0x8000;  // of a transition: a match ends in front of the character
inline constexpr uint32_t kMaxClasses = 255, kMaxStates = kPatternMatch - 1;
inline constexpr uint32_t kMaxLooks = 8;  // of a pattern
// Bytes of what such a step makes of one byte; 1: it works in place, or cuts.
constexpr uint32_t split_growth(uint32_t split) { return split == kSplitMarks ? 3 : split == kSplitLetters ? 2 : 1; }
inline constexpr uint32_t kMaxSplitGrowth = 6;  // of all splits
// An automaton over classes of code points. Offsets are elements of the sections named.
struct Pattern {
  uint32_t mode, n_classes, n_states;
  uint32_t blocks_at;             // in kPatternBlockOf: the block of each kPatternBlock code points
  uint32_t classes_at, n_blocks;  // in kPatternClassOf: the class of each code point of a block
  uint32_t next_at;               // in kPatternNext: [n_states][(n_classes + 1) << looks], the last class for the end of the text
};
// What a pattern asks about the text in front of or behind a place, by an automaton of its own that reads the text once from one end to the
// other, ahead of the pattern. Its answers are bits: number k of a pattern's reads columns class << k | the bits of those before it, and
// the pattern itself those of all. kPatternMatch of a transition: the answer is yes in front of the character.
struct Look {
  uint32_t pattern;            // in order
  uint32_t ahead;              // 1: what follows the place, read from the end of the text on. 0: what is in front of it
  uint32_t n_states, next_at;  // as in Pattern
};
struct PatternTables {
  uint32_t mode, n_classes;
  const uint16_t *blocks, *next;
  const uint8_t* classes;
  uint32_t n_looks = 0;
  const Look* looks = nullptr;
  const uint16_t* all_next = nullptr;  // what a Look's next_at is an offset in
};
// When an SPM text gets a space put in front. Segment: each stretch between raw added tokens. Always: each stretch between added tokens
// of both lists that does not begin with a space. First: as Always, but only where the text begins.
// Word: each word that the first split, kSplitWhitespace, makes.
enum Prefix : uint32_t { kPrefixNever = 0, kPrefixSegment = 1, kPrefixAlways = 2, kPrefixFirst = 3, kPrefixWord = 4 };
enum Flag : uint32_t {
  kIgnoreMerges = 2,   // a word that is a token is not split
  kFuseUnk = 4,        // a run of unknown characters is one unknown token
  kStripSpace = 8,     // detokenize leaves out one leading space
  kWordwise = 16,      // SPM: no merge makes a space behind another character, so a text may be cut in front of its runs of spaces
  kFloatScores = 32,   // Unigram: sums are rounded to float, as SentencePiece does; otherwise double
  kStripSpaces = 64,   // detokenize leaves out all spaces that the first token begins with
  kSolidSpaces = 128,  // normalising writes U+2581 for spaces, so that tokens of kAddedNormal take none with them
  kAsSpelled = 256,    // kSpm, kUnigram: ' ' is a space in texts, and U+2581 is nothing else unless a split says so
  kLateSpaces = 512,   // U+2581 becomes a space behind the tokens of kAddedNormal, which are looked for in the text as it was
  kAffixed = 1024,     // kSpm: characters of a word are looked up with Header::cont_at's affixes
  kEndsShown = 2048,   // and the suffix that it has there is a space where a token is shown, or nothing in the last one
  kNoUnknown = 4096,   // a text with what is no token, nor written as bytes, is refused: there is no unknown token
  kKnownFlags = 8190,
};
enum TokenFlag : uint8_t {
  kControl = 1,
  kUserDefined = 2,
  kByte = 4,
  kUnknown = 8,
  kEog = 16,
  kContinues = 32
};  // kContinues: see Header::hidden

// One step of normalising a text.
enum StepOp : uint32_t {
  kStepNfc = 1,
  kStepNfd = 2,
  kStepMap = 3,        // arg: a CharMap
  kStepReplace = 4,    // arg: a Replace
  kStepRuns = 5,       // arg: a Replace; runs of two or more spaces become its second text
  kStepPrepend = 6,    // arg: a Replace; its second text goes in front
  kStepStrip = 7,      // arg: 1 = white space at the start, 2 = at the end
  kStepSqueeze = 8,    // spaces at the start, at the end and behind other spaces go
  kStepCharsmap = 9,   // SentencePiece's compiled rules, the longest match first
  kStepClusters = 10,  // the same as the tokenizers library applies them: to whole short grapheme clusters, the shortest match
  kStepPattern = 11,   // arg: a pattern << 16 | a Replace; the pattern's matches become its second text
  kStepCount
};
struct Step {
  uint32_t op, arg;
};
struct CharRange {  // these characters become that text of kNormalText
  uint32_t first, last, text_at, text_bytes;
};
struct CharMap {
  uint32_t first, count;  // ranges in kCharRanges, in order
};
struct Replace {
  uint32_t from_at, from_bytes, to_at, to_bytes;  // in kNormalText
};

struct MergeSlot {
  uint32_t left, right, rank, result;  // left = kEmpty: a free slot
};
inline constexpr uint32_t kEmpty = 0xFFFFFFFF;

// A token that is found in the text before BPE sees it.
struct Added {
  uint32_t text_at, text_bytes;  // in kAddedText
  uint32_t id, flags;
};
enum AddedFlag : uint32_t { kAddedSpecial = 1, kAddedLeftStrip = 2, kAddedRightStrip = 4, kAddedSingleWord = 8, kAddedKnownFlags = 15 };

enum SectionId : uint32_t {
  kTextAt,          // uint32_t[n_symbols + 1]: where each symbol's text begins in kText
  kText,            // bytes
  kTokenFlags,      // uint8_t[n_tokens]
  kByteIds,         // int32_t[256]: token of a byte, -1 = none
  kMerges,          // MergeSlot[], open addressing by (left, right)
  kWords,           // uint32_t[], open addressing by text: symbol + 1, 0 = free. SPM: single characters; kIgnoreMerges: all plain tokens
  kAddedRaw,        // Added[] in order of text: found in the text as it is
  kAddedNormal,     // Added[] in order of text: found in the normalised text
  kAddedText,       // bytes
  kCharRanges,      // CharRange[]
  kCharMaps,        // CharMap[]
  kReplaces,        // Replace[]
  kNormalText,      // bytes
  kCharsmap,        // uint32_t[], a double array (trie.h): values are offsets in kCharsmapText
  kCharsmapText,    // bytes, each text ends with a 0
  kTrie,            // uint32_t[], likewise: values are token ids. Unigram and WordPiece
  kScores,          // double[n_tokens]. Unigram
  kPatterns,        // Pattern[]; from here on since version 3
  kPatternBlockOf,  // uint16_t[]
  kPatternClassOf,  // uint8_t[]
  kPatternNext,     // uint16_t[]
  kPatternLooks,    // Look[]; from here on since version 4
  kShownAt,         // uint32_t[2 * n_tokens + 1]: where in kShown begins what each token decodes to behind others, and what at the start
  kShown,           // bytes; none: tokens decode to their texts
  kSectionCount
};
struct Section {
  uint32_t at, count;  // byte offset, a multiple of 8; elements
};

struct Header {
  uint32_t magic, version, bytes;
  uint32_t kind, prefix, flags;
  uint32_t n_splits, n_steps;
  uint32_t splits[kMaxSplits];
  Step steps[kMaxSteps];
  uint32_t growth, slack;  // a normalised text has at most growth * bytes + slack bytes
  uint32_t n_tokens, n_symbols;
  int32_t bos_id, eos_id, unk_id;
  uint32_t n_before, n_after;
  int32_t before[kMaxAround], after[kMaxAround];  // special tokens around a text
  uint32_t merge_probe, word_probe;               // most slots from a key's home to where it lies, plus one
  uint32_t max_word;                              // bytes of the longest text in kWords
  uint32_t max_piece;                             // bytes of the longest key in kTrie
  uint32_t max_chars;                             // WordPiece: longer words are unknown
  uint32_t cont_at, cont_bytes;                   // in kNormalText. WordPiece: what pieces inside a word begin with in kTrie ("##").
                                                  // kAffixed: what characters but the first have in front, a 0, what the last has behind it
  uint32_t hidden;                                // bytes of a kContinues token's text that are shown only where it begins a text
  double unknown_score;                           // Unigram
  Section section[kSectionCount];
};
static_assert(sizeof(Header) % 8 == 0 && sizeof(Header) <= sizeof(Tokenizer::header));

// Version 2: the sections up to kScores. Version 3: up to kPatternNext. Version 4: no splits from kSplitSpaces on, no kNoUnknown, and
// kAffixed with kAsSpelled only; otherwise as 5.
inline constexpr uint32_t kHeader2Bytes = offsetof(Header, section) + (kScores + 1) * sizeof(Section);
inline constexpr uint32_t kHeader3Bytes = offsetof(Header, section) + (kPatternNext + 1) * sizeof(Section);

// Version 1: one split, NFC as a flag (1), and only the sections up to kAddedText.
struct Header1 {
  uint32_t magic, version, bytes;
  uint32_t kind, split, prefix, flags;
  uint32_t n_tokens, n_symbols;
  int32_t bos_id, eos_id, unk_id;
  uint32_t n_before, n_after;
  int32_t before[kMaxAround], after[kMaxAround];
  uint32_t merge_probe, word_probe, max_word, pad;
  Section section[kAddedText + 1];
};
static_assert(sizeof(Header1) % 8 == 0);
inline constexpr uint32_t kNfc1 = 1, kSplitDigitsGpt2 = 4;  // splits 0 to 3 are those of today

// Where a key's slots begin; the tables have any size, not only powers of two.
inline uint32_t home_slot(uint64_t hash, uint32_t slots) { return static_cast<uint32_t>(((hash >> 32) * slots) >> 32); }
inline uint64_t pair_hash(uint32_t left, uint32_t right) {
  uint64_t h = (uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  return h * 0xBF58476D1CE4E5B9u;
}
inline uint64_t text_hash(std::string_view s) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const char c : s) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  h ^= h >> 29;
  return h * 0xBF58476D1CE4E5B9u;
}

// Pointers into an opened blob.
struct Tables {
  explicit Tables(const Tokenizer& t)
      : header(reinterpret_cast<const Header*>(t.header)),
        text_at(at<uint32_t>(t, kTextAt)),
        text(at<char>(t, kText)),
        token_flags(at<uint8_t>(t, kTokenFlags)),
        byte_ids(at<int32_t>(t, kByteIds)),
        merges(at<MergeSlot>(t, kMerges)),
        words(at<uint32_t>(t, kWords)),
        added_text(at<char>(t, kAddedText)),
        char_ranges(at<CharRange>(t, kCharRanges)),
        char_maps(at<CharMap>(t, kCharMaps)),
        replaces(at<Replace>(t, kReplaces)),
        normal_text(at<char>(t, kNormalText)),
        scores(at<double>(t, kScores)),
        base_(t.blob) {}

  std::string_view symbol_text(uint32_t id) const { return {text + text_at[id], text_at[id + 1] - text_at[id]}; }
  std::string_view shown_text(uint32_t id, bool first) const {
    const uint32_t* const from = at_section<uint32_t>(kShownAt) + 2 * id + first;
    return {at_section<char>(kShown) + from[0], from[1] - from[0]};
  }
  bool has(Flag flag) const { return (header->flags & flag) != 0; }
  uint32_t count(SectionId id) const { return header->section[id].count; }
  const Added* added(SectionId id) const { return reinterpret_cast<const Added*>(base_ + header->section[id].at); }
  std::string_view added_text_of(const Added& a) const { return {added_text + a.text_at, a.text_bytes}; }

  // The slot of a pair, nullptr if it does not merge.
  const MergeSlot* merge(uint32_t left, uint32_t right) const {
    const uint32_t slots = count(kMerges);
    uint32_t i = home_slot(pair_hash(left, right), slots);
    for (uint32_t tries = header->merge_probe; tries; --tries) {
      const MergeSlot& slot = merges[i];
      if (slot.left == left && slot.right == right) return &slot;
      if (slot.left == kEmpty) return nullptr;
      if (++i == slots) i = 0;
    }
    return nullptr;
  }
  // The symbol with this text in kWords, -1 if there is none.
  int32_t word(std::string_view s) const {
    if (s.size() > header->max_word) return -1;
    const uint32_t slots = count(kWords);
    uint32_t i = home_slot(text_hash(s), slots);
    for (uint32_t tries = header->word_probe; tries; --tries) {
      if (words[i] == 0) return -1;
      if (symbol_text(words[i] - 1) == s) return static_cast<int32_t>(words[i] - 1);
      if (++i == slots) i = 0;
    }
    return -1;
  }

  // Whether ' ' stands for U+2581 where words are encoded.
  bool spaced() const {
    bool so = (header->kind == kSpm || header->kind == kUnigram) && !has(kAsSpelled);
    for (uint32_t i = 0; i < header->n_splits; ++i)
      so = header->splits[i] != kSplitMarks && (so || (header->splits[i] >= kSplitSpaces && header->splits[i] <= kSplitSpacesFirst));
    return so;
  }

  // kAffixed.
  std::string_view affix(bool behind) const {
    const std::string_view both(normal_text + header->cont_at, header->cont_bytes);
    size_t zero = 0;
    while (zero < both.size() && both[zero]) ++zero;
    if (!behind) return {both.data(), zero};
    return zero < both.size() ? std::string_view(both.data() + zero + 1, both.size() - zero - 1) : std::string_view();
  }

  const Header* header;
  const uint32_t* text_at;
  const char* text;
  const uint8_t* token_flags;
  const int32_t* byte_ids;
  const MergeSlot* merges;
  const uint32_t* words;
  const char* added_text;
  const CharRange* char_ranges;
  const CharMap* char_maps;
  const Replace* replaces;
  const char* normal_text;
  const double* scores;

  const Look* looks() const { return at_section<Look>(kPatternLooks); }
  uint32_t looks_of(uint32_t pattern, const Look** first) const {
    const uint32_t n = count(kPatternLooks);
    uint32_t from = 0;
    while (from < n && looks()[from].pattern != pattern) ++from;
    uint32_t end = from;
    while (end < n && looks()[end].pattern == pattern) ++end;
    *first = looks() + from;
    return end - from;
  }
  const Pattern& pattern_at(uint32_t i) const { return reinterpret_cast<const Pattern*>(base_ + header->section[kPatterns].at)[i]; }
  PatternTables pattern(uint32_t i) const {
    const auto section = [this](SectionId id) { return base_ + header->section[id].at; };
    const Pattern& p = pattern_at(i);
    const auto* const all = reinterpret_cast<const uint16_t*>(section(kPatternNext));
    PatternTables out = {p.mode, p.n_classes, reinterpret_cast<const uint16_t*>(section(kPatternBlockOf)) + p.blocks_at, all + p.next_at,
                         section(kPatternClassOf) + p.classes_at};
    out.n_looks = looks_of(i, &out.looks);
    out.all_next = all;
    return out;
  }
  Trie trie(SectionId id) const { return {reinterpret_cast<const uint32_t*>(base_ + header->section[id].at), count(id)}; }
  std::string_view charsmap_text(uint32_t offset) const {  // "" for an offset that is none
    const uint32_t n = count(kCharsmapText);
    const char* const all = reinterpret_cast<const char*>(base_ + header->section[kCharsmapText].at);
    uint32_t end = offset;
    while (end < n && all[end]) ++end;
    return end < n ? std::string_view(all + offset, end - offset) : std::string_view();
  }

  template <class T>
  const T* at_section(SectionId id) const {
    return reinterpret_cast<const T*>(base_ + header->section[id].at);
  }

 private:
  template <class T>
  static const T* at(const Tokenizer& t, SectionId id) {
    return reinterpret_cast<const T*>(t.blob + reinterpret_cast<const Header*>(t.header)->section[id].at);
  }
  const uint8_t* base_;
};

}  // namespace linnet::tok
