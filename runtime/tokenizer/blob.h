// The tokenizer's tables as they lie in a file: one blob of little-endian words, offsets from its start, nothing to fix up.
// Written by convert/tokenizer_build.cpp, checked by tokenizer_open.
//
// A symbol is what BPE merges: ids below n_tokens are tokens; ids from there on are single characters that stand in pieces of a
// SentencePiece vocabulary without being tokens themselves (what is left of them at the end is written as bytes).
// Texts of tokens are what they decode to: byte-level tokens as raw bytes, SentencePiece ones with ' ' for U+2581, byte tokens as the byte.
#pragma once
#include <cstdint>
#include <string_view>

#include "tokenizer.h"

namespace linnet::tok {

inline constexpr uint32_t kMagic = 0x4b544e4c;  // "LNTK"
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kMaxTokens = 1u << 21;
inline constexpr uint32_t kMaxProbe = 4096;     // slots looked at for one key
inline constexpr uint32_t kMaxAround = 4;       // special tokens put before a text, and after it
inline constexpr uint32_t kMaxText = 1u << 27;  // bytes of one text

enum Kind : uint32_t { kByteLevel = 1, kSpm = 2 };
// How a text is cut into words before BPE.
enum Split : uint32_t { kSplitNone = 0, kSplitGpt2 = 1, kSplitLlama3 = 2, kSplitQwen2 = 3, kSplitDigitsGpt2 = 4 };
// When an SPM text gets a space put in front. Segment: each stretch between raw added tokens. Always: each stretch between added tokens
// of both lists that does not begin with a space. First: as Always, but only where the text begins.
enum Prefix : uint32_t { kPrefixNever = 0, kPrefixSegment = 1, kPrefixAlways = 2, kPrefixFirst = 3 };
enum Flag : uint32_t {
  kNfc = 1,
  kIgnoreMerges = 2,  // a word that is a token is not split
  kFuseUnk = 4,       // a run of unknown characters is one unknown token
  kStripSpace = 8,    // detokenize leaves out one leading space
  kWordwise = 16,     // SPM: no merge makes a space behind another character, so a text may be cut in front of its runs of spaces
  kKnownFlags = 31,
};
enum TokenFlag : uint8_t { kControl = 1, kUserDefined = 2, kByte = 4, kUnknown = 8, kEog = 16 };

struct MergeSlot {
  uint32_t left, right, rank, result;  // left = kEmpty: a free slot
};
inline constexpr uint32_t kEmpty = 0xFFFFFFFF;

// A token that is found in the text before BPE sees it.
struct Added {
  uint32_t text_at, text_bytes;  // in kAddedText
  uint32_t id, flags;
};
enum AddedFlag : uint32_t { kAddedSpecial = 1, kAddedLeftStrip = 2, kAddedRightStrip = 4, kAddedKnownFlags = 7 };

enum SectionId : uint32_t {
  kTextAt,       // uint32_t[n_symbols + 1]: where each symbol's text begins in kText
  kText,         // bytes
  kTokenFlags,   // uint8_t[n_tokens]
  kByteIds,      // int32_t[256]: token of a byte, -1 = none
  kMerges,       // MergeSlot[], open addressing by (left, right)
  kWords,        // uint32_t[], open addressing by text: symbol + 1, 0 = free. SPM: single characters; kIgnoreMerges: all plain tokens
  kAddedRaw,     // Added[] in order of text: found in the text as it is
  kAddedNormal,  // Added[] in order of text: found in the normalised text
  kAddedText,    // bytes
  kSectionCount
};
struct Section {
  uint32_t at, count;  // byte offset, a multiple of 8; elements
};

struct Header {
  uint32_t magic, version, bytes;
  uint32_t kind, split, prefix, flags;
  uint32_t n_tokens, n_symbols;
  int32_t bos_id, eos_id, unk_id;
  uint32_t n_before, n_after;
  int32_t before[kMaxAround], after[kMaxAround];  // special tokens around a text
  uint32_t merge_probe, word_probe;               // most slots from a key's home to where it lies, plus one
  uint32_t max_word;                              // bytes of the longest text in kWords
  uint32_t pad;
  Section section[kSectionCount];
};
static_assert(sizeof(Header) % 8 == 0);

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
      : header(reinterpret_cast<const Header*>(t.blob)),
        text_at(at<uint32_t>(t, kTextAt)),
        text(at<char>(t, kText)),
        token_flags(at<uint8_t>(t, kTokenFlags)),
        byte_ids(at<int32_t>(t, kByteIds)),
        merges(at<MergeSlot>(t, kMerges)),
        words(at<uint32_t>(t, kWords)),
        added_text(at<char>(t, kAddedText)) {}

  std::string_view symbol_text(uint32_t id) const { return {text + text_at[id], text_at[id + 1] - text_at[id]}; }
  bool has(Flag flag) const { return (header->flags & flag) != 0; }
  uint32_t count(SectionId id) const { return header->section[id].count; }
  const Added* added(SectionId id) const {
    return reinterpret_cast<const Added*>(reinterpret_cast<const char*>(header) + header->section[id].at);
  }
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

  const Header* header;
  const uint32_t* text_at;
  const char* text;
  const uint8_t* token_flags;
  const int32_t* byte_ids;
  const MergeSlot* merges;
  const uint32_t* words;
  const char* added_text;

 private:
  template <class T>
  static const T* at(const Tokenizer& t, SectionId id) {
    return reinterpret_cast<const T*>(t.blob + reinterpret_cast<const Header*>(t.blob)->section[id].at);
  }
};

}  // namespace linnet::tok
