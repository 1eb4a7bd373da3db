// Classes of characters (of Unicode 16), words, NFC and NFD (14): what the tokenizer needs of Unicode.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../platform/utf8.h"
#include "blob.h"

namespace linnet::tok {

// General categories, as far as tokenizers tell them apart. kSpace is White_Space, which goes before the category.
enum class CharKind : uint8_t {
  kOther = 0,        // unassigned, surrogates, bad bytes
  kUpper = 1,        // Lu, Lt
  kLower = 2,        // Ll
  kLetter = 3,       // Lm, Lo
  kMark = 4,         // Mn
  kSpacingMark = 5,  // Mc, Me
  kNumber = 6,       // N
  kSpace = 7,
  kPunct = 8,     // P
  kSymbol = 9,    // S
  kControl = 10,  // Cc, Cf, Co
};
CharKind char_kind(uint32_t code);  // kBadByte is kOther
inline bool is_kind(CharKind kind, uint32_t set) { return (set >> static_cast<uint32_t>(kind) & 1) != 0; }
constexpr uint32_t kinds(CharKind kind) { return 1u << static_cast<uint32_t>(kind); }
constexpr uint32_t kLetters = kinds(CharKind::kUpper) | kinds(CharKind::kLower) | kinds(CharKind::kLetter);
constexpr uint32_t kMarks = kinds(CharKind::kMark) | kinds(CharKind::kSpacingMark);

enum class CharClass : uint8_t { kOther = 0, kLetter = 1, kNumber = 2, kSpace = 3 };  // \p{L}, \p{N}, White_Space
CharClass char_class(uint32_t code);                                                  // kBadByte is kOther

// What the library's Whitespace and the edges of its added tokens call \w: letters, marks, decimal and letter numbers, connectors such as
// '_', and circled letters.
bool is_word(uint32_t code);
// What the tokenizers library takes for punctuation: \p{P} of an older Unicode, and the other marks of ASCII.
bool is_library_punctuation(uint32_t code);
// Whether the last character of text[0, n) is one.
bool ends_in_word(const char* text, size_t n);
// Where the white space at the end of text[0, n) begins, of which `solid` counts as none.
size_t end_space(const char* text, size_t n, uint32_t solid = kBadByte);

// Bytes of the piece that begins at `at` < n, as the split cuts text[0, n). Linear over a whole text.
size_t word_bytes(Split split, const char* text, size_t at, size_t n);
// Whether the split drops this piece: white space that separates.
inline bool drops(Split split, const char* piece, size_t n) {
  return (split == kSplitWhitespace || split == kSplitBert || split == kSplitBertHan) &&
         char_class(next_char(piece, n).code) == CharClass::kSpace;
}

// What byte-level tokens spell a byte with: printable Latin-1 bytes as themselves, the others in order from U+0100 on.
constexpr uint32_t letter_of_byte(uint8_t b) {
  return b <= 0x20 ? 0x100u + b : b >= 0x7F && b <= 0xA0 ? 0x121u + b - 0x7F : b == 0xAD ? 0x143u : b;
}

// 1 to 4 bytes.
size_t put_char(uint32_t code, char* out);
// Text on its way out: what does not fit is left out, and said.
struct Writer {
  char* out;
  size_t cap, n = 0;
  bool full = false;
  void put(const char* text, size_t bytes) {
    if (bytes > cap - n) {
      full = true;
      return;
    }
    for (size_t i = 0; i < bytes; ++i) out[n + i] = text[i];
    n += bytes;
  }
};

// NFC and NFD. Bad bytes pass as they are. At most 3 * n bytes are written; work holds 3 * n words.
void nfc(const char* text, size_t n, Writer* out, uint32_t* work);
void nfd(const char* text, size_t n, Writer* out, uint32_t* work);

// One step of normalising. work: 3 * n words.
void apply_step(const Tables& t, const Step& step, std::string_view text, Writer* out, uint32_t* work);

}  // namespace linnet::tok
