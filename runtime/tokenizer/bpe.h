// Byte pair encoding of one word (or of a whole SentencePiece text) in caller memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "blob.h"

namespace linnet::tok {

// Ids on their way out: writes what fits, counts all.
struct IdSink {
  int32_t* out;
  size_t cap, n = 0;
  void push(int32_t id) {
    if (n < cap) out[n] = id;
    ++n;
  }
};

// Words for texts of up to n bytes: cells (n) and heap (n).
struct BpeWork {
  uint32_t* cells;
  uint64_t* heap;
};
constexpr uint64_t bpe_work_bytes(uint64_t n) { return n * (sizeof(uint32_t) + sizeof(uint64_t)); }

// One word of a byte-level text, n >= 1 bytes. Bytes without a token are left out, as the reference does.
void encode_bytes(const Tables& t, const char* word, size_t n, const BpeWork& work, IdSink* out);
// A stretch of an SPM text, spaces as ' '. Characters that are no symbol become byte tokens or the unknown token.
void encode_spm(const Tables& t, const char* text, size_t n, const BpeWork& work, IdSink* out);

}  // namespace linnet::tok
