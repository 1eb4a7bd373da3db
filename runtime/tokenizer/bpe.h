// Encoding of one word (or of a whole SentencePiece text) in caller memory: byte pair encoding in bpe.cpp, Unigram and WordPiece in
// pieces.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "blob.h"

namespace linnet::tok {

// Ids on their way out: writes what fits, counts all.
struct IdSink {
  int32_t* out;
  size_t cap, n = 0;
  uint64_t steps = 0;    // candidates and bytes looked at: what a test holds against the text's length
  bool unknown = false;  // kNoUnknown: there was what is no token
  void push(int32_t id) {
    if (n < cap) out[n] = id;
    ++n;
  }
};

// Memory for texts of up to n bytes, or of cells_of.
struct BpeWork {
  uint64_t* heap;   // n + 1
  uint32_t* cells;  // n + 1
  uint32_t* ids;    // n + 1, Unigram only
};
constexpr uint64_t work_bytes(uint64_t n, bool unigram) { return (n + 1) * (sizeof(uint64_t) + (unigram ? 2 : 1) * sizeof(uint32_t)); }

// One word of a byte-level text, n >= 1 bytes. Bytes without a token are left out, as the reference does.
void encode_bytes(const Tables& t, const char* word, size_t n, const BpeWork& work, IdSink* out);
// A stretch of an SPM text, spaces as ' '. Characters that are no symbol become byte tokens or the unknown token.
void encode_spm(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out);
// The pieces with the greatest sum of scores. Pieces and unknown runs as encode_spm.
void encode_unigram(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out);
// The longest piece first, again and again; one unknown token for a word that does not come out even.
void encode_wordpiece(const Tables& t, const char* word, size_t n, IdSink* out);

// Symbols that a text of n bytes is at first: more than n where the affixes of its characters may become bytes.
uint64_t cells_of(const Tables& t, uint64_t n);
// Bytes (or the unknown token) for text that is no token. last_unknown: the token written before was the unknown one.
void put_unknown(const Tables& t, std::string_view text, bool* last_unknown, IdSink* out);

}  // namespace linnet::tok
