// UTF-8, classes of characters, words and NFC: what the tokenizer needs of Unicode (version 14).
#pragma once
#include <cstddef>
#include <cstdint>

#include "blob.h"

namespace linnet::tok {

inline constexpr uint32_t kBadByte = 0xFFFFFFFF;  // "code point" of a byte that is no UTF-8

struct Char {
  uint32_t code;   // or kBadByte
  uint32_t bytes;  // 1..4; 1 for a bad byte
};

// The character at p, n >= 1 bytes left. Overlong forms, surrogates and cut-off characters are bad bytes, one at a time.
inline Char next_char(const char* p, size_t n) {
  const auto byte = [p](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(p[i])); };
  const uint32_t b = byte(0);
  if (b < 0x80) return {b, 1};
  const uint32_t need = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : 2;
  if (b < 0xC2 || b > 0xF4 || n < need) return {kBadByte, 1};
  uint32_t code = b & (0x7Fu >> need);
  for (uint32_t i = 1; i < need; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kBadByte, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (need == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) return {kBadByte, 1};
  if (need == 4 && (code < 0x10000 || code > 0x10FFFF)) return {kBadByte, 1};
  return {code, need};
}

enum class CharClass : uint8_t { kOther = 0, kLetter = 1, kNumber = 2, kSpace = 3 };  // \p{L}, \p{N}, White_Space
CharClass char_class(uint32_t code);                                                  // kBadByte is kOther

// Bytes of the word that begins at `at` < n, what the model's regular expression would match there. Linear over a whole text.
size_t word_bytes(Split split, const char* text, size_t at, size_t n);

// NFC. Bad bytes pass as they are. out holds 3 * n bytes, work 3 * n words. Returns the bytes written.
size_t nfc(const char* text, size_t n, char* out, uint32_t* work);

}  // namespace linnet::tok
