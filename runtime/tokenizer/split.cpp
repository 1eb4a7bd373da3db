// Splitters: what the pre-tokenisers' regular expressions match, written out. tests/test_tokenizer.cpp holds them against PCRE2.
#include "unicode.h"

namespace linnet::tok {
namespace {

#include "unicode_class.inc"

// A cursor over the text that looks at one character.
struct Cursor {
  const char* text;
  size_t at, n;
  Char c;
  CharClass kind;

  Cursor(const char* t, size_t start, size_t end) : text(t), at(start), n(end) { look(); }
  bool more() const { return at < n; }
  bool is(uint32_t code) const { return more() && c.code == code; }
  bool is(CharClass k) const { return more() && kind == k; }
  bool newline() const { return is('\r') || is('\n'); }
  void next() {
    at += c.bytes;
    look();
  }
  void skip(CharClass k) {
    while (is(k)) next();
  }

 private:
  void look() {
    c = more() ? next_char(text + at, n - at) : Char{kBadByte, 0};
    kind = char_class(c.code);
  }
};

// 's|'t|'re|'ve|'m|'ll|'d: bytes after the apostrophe, 0 = none. any_case also takes U+017F, the long s, as case folding does.
size_t contraction(const char* p, size_t n, bool any_case) {
  if (n == 0) return 0;
  const auto lower = [any_case](char c) { return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  const char a = lower(p[0]);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 1;
  if (n < 2) return 0;
  const char b = lower(p[1]);
  if (((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l')) return 2;
  if (any_case && p[0] == '\xC5' && p[1] == '\xBF') return 2;
  return 0;
}

// \s+(?!\S)|\s+ at a run of white space [start, end) whose last character begins at `last`: the run, less its last character where
// something follows.
size_t space_word(size_t start, size_t last, size_t end, bool something_follows) {
  return (something_follows && last > start ? last : end) - start;
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// With `digits` each number is a word of its own beforehand, and what lies between numbers is split as if nothing were around it.
size_t gpt2_word(const char* text, size_t start, size_t n, bool digits) {
  Cursor at(text, start, n);
  if (digits && at.is(CharClass::kNumber)) return at.c.bytes;
  if (at.is('\''))
    if (const size_t more = contraction(text + start + 1, n - start - 1, false)) return 1 + more;
  if (at.is(' ')) at.next();
  if (at.more() && at.kind != CharClass::kSpace && !(digits && at.kind == CharClass::kNumber)) {
    at.skip(at.kind);
    return at.at - start;
  }
  at = Cursor(text, start, n);
  size_t last = start;
  while (at.is(CharClass::kSpace)) {
    last = at.at;
    at.next();
  }
  return space_word(start, last, at.at, at.more() && !(digits && at.kind == CharClass::kNumber));
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max_digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t llama3_word(const char* text, size_t start, size_t n, uint32_t max_digits) {
  Cursor at(text, start, n);
  if (at.is('\''))
    if (const size_t more = contraction(text + start + 1, n - start - 1, true)) return 1 + more;
  if (at.kind == CharClass::kNumber) {
    for (uint32_t i = 0; i < max_digits && at.is(CharClass::kNumber); ++i) at.next();
    return at.at - start;
  }
  Cursor after = at;
  if (at.kind != CharClass::kLetter && !at.newline()) after.next();
  if (after.is(CharClass::kLetter)) {
    after.skip(CharClass::kLetter);
    return after.at - start;
  }
  if (at.is(' ')) at.next();
  if (at.is(CharClass::kOther)) {
    at.skip(CharClass::kOther);
    while (at.newline()) at.next();
    return at.at - start;
  }
  at = Cursor(text, start, n);
  size_t last = start, line_end = 0;  // of the run: start of its last character, end of its last line break
  while (at.is(CharClass::kSpace)) {
    last = at.at;
    if (at.newline()) line_end = at.at + 1;
    at.next();
  }
  if (line_end) return line_end - start;
  return space_word(start, last, at.at, at.more());
}

}  // namespace

CharClass char_class(uint32_t code) {
  const uint32_t block = code / 128;
  if (block >= sizeof kClassIndex / sizeof kClassIndex[0]) return CharClass::kOther;
  const uint32_t bits = kClassBits[kClassIndex[block] * 32u + code % 128 / 4];
  return static_cast<CharClass>(bits >> code % 4 * 2 & 3);
}

size_t word_bytes(Split split, const char* text, size_t at, size_t n) {
  switch (split) {
    case kSplitGpt2:
      return gpt2_word(text, at, n, false);
    case kSplitDigitsGpt2:
      return gpt2_word(text, at, n, true);
    case kSplitLlama3:
      return llama3_word(text, at, n, 3);
    case kSplitQwen2:
      return llama3_word(text, at, n, 1);
    case kSplitNone:
      break;
  }
  return n - at;
}

}  // namespace linnet::tok
