// Splitters: what the pre-tokenisers' regular expressions match, written out. tests/unit/test_tokenizer.cpp holds them against PCRE2.
#include "unicode.h"

namespace linnet::tok {
namespace {

#include "unicode_class.inc"

CharClass class_of(CharKind kind) {
  constexpr CharClass kOf[] = {CharClass::kOther, CharClass::kLetter, CharClass::kLetter, CharClass::kLetter,
                               CharClass::kOther, CharClass::kOther,  CharClass::kNumber, CharClass::kSpace,
                               CharClass::kOther, CharClass::kOther,  CharClass::kOther};
  return kOf[static_cast<uint32_t>(kind)];
}

// A cursor over the text that looks at one character.
struct Cursor {
  const char* text;
  size_t at, n;
  Char c;
  CharKind fine;
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
    fine = char_kind(c.code);
    kind = class_of(fine);
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

// \s*[\r\n]+|\s+(?!\S)|\s+
size_t line_or_space_word(const char* text, size_t start, size_t n) {
  Cursor at(text, start, n);
  size_t last = start, line_end = 0;  // of the run: start of its last character, end of its last line break
  while (at.is(CharClass::kSpace)) {
    last = at.at;
    if (at.newline()) line_end = at.at + 1;
    at.next();
  }
  if (line_end) return line_end - start;
  return space_word(start, last, at.at, at.more());
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t gpt2_word(const char* text, size_t start, size_t n) {
  Cursor at(text, start, n);
  if (at.is('\''))
    if (const size_t more = contraction(text + start + 1, n - start - 1, false)) return 1 + more;
  if (at.is(' ')) at.next();
  if (at.more() && at.kind != CharClass::kSpace) {
    at.skip(at.kind);
    return at.at - start;
  }
  at = Cursor(text, start, n);
  size_t last = start;
  while (at.is(CharClass::kSpace)) {
    last = at.at;
    at.next();
  }
  return space_word(start, last, at.at, at.more());
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
  return line_or_space_word(text, start, n);
}

// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
// C|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]* C
// |\p{N}{1,max_digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+       C = (?i:'s|'t|'re|'ve|'m|'ll|'d)? or nothing
size_t o200k_word(const char* text, size_t start, size_t n, uint32_t max_digits, bool contractions) {
  constexpr uint32_t kBoth = kinds(CharKind::kLetter) | kMarks;
  constexpr uint32_t kUppers = kinds(CharKind::kUpper) | kBoth, kLowers = kinds(CharKind::kLower) | kBoth;
  const auto with_contraction = [&](size_t end) {
    if (contractions && end < n && text[end] == '\'') {
      const size_t more = contraction(text + end + 1, n - end - 1, true);
      if (more) end += 1 + more;
    }
    return end - start;
  };
  Cursor at(text, start, n);
  Cursor after = at;
  const bool leads = !is_kind(at.fine, kLetters) && at.kind != CharClass::kNumber && !at.newline();
  if (leads) after.next();
  size_t both_end = 0;  // end of the last character of the run that the lower half may begin with
  while (after.more() && is_kind(after.fine, kUppers)) {
    const bool both = is_kind(after.fine, kBoth);
    after.next();
    if (both) both_end = after.at;
  }
  if (after.more() && is_kind(after.fine, kLowers)) {
    while (after.more() && is_kind(after.fine, kLowers)) after.next();
    return with_contraction(after.at);
  }
  if (both_end) return with_contraction(both_end);
  // A mark that leads may also be the word itself.
  if (leads && is_kind(at.fine, kMarks)) return with_contraction(start + at.c.bytes);
  if (after.at > start + (leads ? at.c.bytes : 0)) return with_contraction(after.at);
  if (at.kind == CharClass::kNumber) {
    for (uint32_t i = 0; i < max_digits && at.is(CharClass::kNumber); ++i) at.next();
    return at.at - start;
  }
  if (at.is(' ')) at.next();
  if (at.is(CharClass::kOther)) {
    at.skip(CharClass::kOther);
    while (at.newline() || at.is('/')) at.next();
    return at.at - start;
  }
  return line_or_space_word(text, start, n);
}

// ---- expressions that do not match everywhere: the bytes of a match that begins at `start`, 0 = none -------------------------

bool ascii_letter(uint32_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
bool ascii_mark(uint32_t c) { return c > ' ' && c < 0x7F && !ascii_letter(c) && (c < '0' || c > '9'); }

// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t deepseek3_match(const char* text, size_t start, size_t n) {
  constexpr uint32_t kWord = kLetters | kMarks, kSigns = kinds(CharKind::kPunct) | kinds(CharKind::kSymbol);
  Cursor at(text, start, n);
  Cursor after = at;
  if (ascii_mark(at.c.code)) {
    after.next();
    if (after.more() && ascii_letter(after.c.code)) {
      while (after.more() && ascii_letter(after.c.code)) after.next();
      return after.at - start;
    }
  }
  after = at;
  if (!is_kind(at.fine, kWord | kSigns) && !at.newline()) after.next();
  if (after.more() && is_kind(after.fine, kWord)) {
    while (after.more() && is_kind(after.fine, kWord)) after.next();
    return after.at - start;
  }
  after = at;
  if (after.is(' ')) after.next();
  if (after.more() && is_kind(after.fine, kSigns)) {
    while (after.more() && is_kind(after.fine, kSigns)) after.next();
    while (after.newline()) after.next();
    return after.at - start;
  }
  return at.is(CharClass::kSpace) ? line_or_space_word(text, start, n) : 0;
}

struct CodeRange {
  uint32_t first, last;
};
// The letters with case that DeepSeek-LLM's expression lists.
constexpr CodeRange kCased[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xB5, 0xB5},       {0xC0, 0xD6},       {0xD8, 0xF6},       {0xF8, 0x1BA},
    {0x1BC, 0x1BF},     {0x1C4, 0x293},     {0x295, 0x2AF},     {0x370, 0x373},     {0x376, 0x376},     {0x377, 0x377},
    {0x37B, 0x37D},     {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x38A},     {0x38C, 0x38C},     {0x38E, 0x3A1},
    {0x3A3, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x52F},     {0x531, 0x556},     {0x10A0, 0x10C5},   {0x13A0, 0x13F5},
    {0x13F8, 0x13FD},   {0x1C90, 0x1CBA},   {0x1CBD, 0x1CBF},   {0x1D00, 0x1D2B},   {0x1D6B, 0x1D77},   {0x1D79, 0x1D9A},
    {0x1E00, 0x1F15},   {0x1F18, 0x1F1D},   {0x1F20, 0x1F45},   {0x1F48, 0x1F4D},   {0x1F50, 0x1F57},   {0x1F59, 0x1F59},
    {0x1F5B, 0x1F5B},   {0x1F5D, 0x1F5D},   {0x1F5F, 0x1F7D},   {0x1F80, 0x1FB4},   {0x1FB6, 0x1FBC},   {0x1FBE, 0x1FBE},
    {0x1FC2, 0x1FC4},   {0x1FC6, 0x1FCC},   {0x1FD0, 0x1FD3},   {0x1FD6, 0x1FDB},   {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FF4},
    {0x1FF6, 0x1FFC},   {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},
    {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2134},   {0x2139, 0x2139},
    {0x213C, 0x213F},   {0x2145, 0x2149},   {0x214E, 0x214E},   {0x2183, 0x2183},   {0x2184, 0x2184},   {0x2C00, 0x2C7B},
    {0x2C7E, 0x2CE4},   {0x2CEB, 0x2CEE},   {0x2CF2, 0x2CF2},   {0x2CF3, 0x2CF3},   {0xA640, 0xA66D},   {0xA680, 0xA69B},
    {0xA722, 0xA76F},   {0xA771, 0xA787},   {0xA78B, 0xA78E},   {0xAB70, 0xABBF},   {0xFB00, 0xFB06},   {0xFB13, 0xFB17},
    {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},   {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB}, {0x10C80, 0x10CB2},
    {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943},
};
#include "library_kinds.inc"
template <size_t n>
bool in_ranges(const CodeRange (&table)[n], uint32_t code) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (code > table[middle].last)
      low = middle + 1;
    else if (code < table[middle].first)
      high = middle;
    else
      return true;
  }
  return false;
}
bool is_cased(const Cursor& at) { return in_ranges(kCased, at.c.code); }
bool is_deepseek_mark(const Cursor& at) {
  const uint32_t c = at.c.code;
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '~') || (c >= 0xFF01 && c <= 0xFF0F) || (c >= 0xFF1A && c <= 0xFF5E) ||
         (c >= 0x2018 && c <= 0x201F) || (c >= 0x3000 && c <= 0x3002);
}
bool is_han(const Cursor& at) { return (at.c.code >= 0x800 && at.c.code <= 0x9FA5) || (at.c.code >= 0xAC00 && at.c.code <= 0xD7FF); }
bool is_han_or_kana(const Cursor& at) {
  return (at.c.code >= 0x4E00 && at.c.code <= 0x9FA5) || (at.c.code >= 0x3040 && at.c.code <= 0x30FF);
}
bool is_letter(const Cursor& at) { return at.kind == CharClass::kLetter; }
bool is_number(const Cursor& at) { return at.kind == CharClass::kNumber; }
// As the library's Digits sees them: by tables of a newer Unicode.
bool is_digit(const Cursor& at) { return is_number(at) || (at.c.code >= kOddDigits[0].first && in_ranges(kOddDigits, at.c.code)); }
bool is_punct(const Cursor& at) { return at.fine == CharKind::kPunct; }
bool is_punctuation(const Cursor& at) {
  return is_punct(at) != (at.c.code >= 0x80 && in_ranges(kOddPunctuation, at.c.code)) || ascii_mark(at.c.code);
}
// What BLOOM's words are made of: not ( ) | . , ... and no white space.
bool in_bloom_word(const Cursor& at) {
  switch (at.c.code) {
    case '(':
    case ')':
    case '|':
    case '.':
    case ',':
    case '!':
    case '?':
    case 0x2026:
    case 0x3002:
    case 0xFF0C:
    case 0x3001:
    case 0x0964:
    case 0x06D4:
    case 0x060C:
      return false;
    default:
      return at.kind != CharClass::kSpace;
  }
}

// [in]{1,most}
template <class In>
size_t run(const char* text, size_t start, size_t n, const In& in, uint32_t most = UINT32_MAX) {
  Cursor at(text, start, n);
  for (uint32_t i = 0; i < most && at.more() && in(at); ++i) at.next();
  return at.at - start;
}
// \s?[in]+
template <class In>
size_t space_run(const char* text, size_t start, size_t n, const In& in) {
  const Cursor at(text, start, n);
  if (at.kind == CharClass::kSpace)
    if (const size_t more = run(text, start + at.c.bytes, n, in)) return at.c.bytes + more;
  return run(text, start, n, in);
}

// Bytes whose letters in a byte-level text are numbers: the digits and, as themselves, superscripts and fractions of Latin-1.
bool is_byte_number(uint8_t b) { return (b >= '0' && b <= '9') || b == 0xB2 || b == 0xB3 || b == 0xB9 || (b >= 0xBC && b <= 0xBE); }

bool is_bert_han(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
         (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}
size_t bert_match(const char* text, size_t start, size_t n, bool han) {
  Cursor at(text, start, n);
  if (at.kind == CharClass::kSpace) return run(text, start, n, [](const Cursor& c) { return c.kind == CharClass::kSpace; });
  return is_punctuation(at) || (han && is_bert_han(at.c.code)) ? at.c.bytes : 0;
}

size_t match(Split split, const char* text, size_t at, size_t n) {
  switch (split) {
    case kSplitDeepseek3:
      return deepseek3_match(text, at, n);
    case kSplitBloom: {
      const size_t space = text[at] == ' ';
      const size_t more = run(text, at + space, n, in_bloom_word);
      return more ? space + more : 0;
    }
    case kSplitNumber:
      return run(text, at, n, is_digit, 1);
    case kSplitNumbers3:
      return run(text, at, n, is_number, 3);
    case kSplitNumbers:
      return run(text, at, n, is_digit);
    case kSplitAscii3: {
      const auto digit = [&](size_t i) { return i < n && text[i] >= '0' && text[i] <= '9'; };
      return digit(at) && digit(at + 1) && digit(at + 2) ? 3 : 0;
    }
    case kSplitPunctuation:
      return run(text, at, n, is_punctuation);
    case kSplitLine:
      return text[at] == '\r' || text[at] == '\n';
    case kSplitSpaceLetters:
      return space_run(text, at, n, is_letter);
    case kSplitSpacePunct:
      return space_run(text, at, n, is_punct);
    case kSplitSpaceCased:
      return space_run(text, at, n, is_cased);
    case kSplitSpaceMarks:
      return space_run(text, at, n, is_deepseek_mark);
    case kSplitHan:
      return run(text, at, n, is_han);
    case kSplitHanKana:
      return run(text, at, n, is_han_or_kana);
    case kSplitWhitespace:
      return run(text, at, n, [](const Cursor& c) { return c.kind == CharClass::kSpace; });
    case kSplitBert:
    case kSplitBertHan:
      return bert_match(text, at, n, split == kSplitBertHan);
    default:
      return 0;
  }
}

// The character that text[0, n), n >= 1, ends in; a bad byte where its last bytes are none.
Char last_char(const char* text, size_t n) {
  size_t start = n - 1;
  while (start && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80 && n - start < 4) --start;
  const Char c = next_char(text + start, n - start);
  return c.bytes == n - start ? c : Char{kBadByte, 1};
}

}  // namespace

CharKind char_kind(uint32_t code) {
  const uint32_t block = code / 128;
  if (block >= sizeof kKindIndex / sizeof kKindIndex[0]) return CharKind::kOther;
  return static_cast<CharKind>(kKindBits[kKindIndex[block] * 64u + code % 128 / 2] >> code % 2 * 4 & 15);
}

CharClass char_class(uint32_t code) { return class_of(char_kind(code)); }

bool is_library_punctuation(uint32_t code) {
  return (char_kind(code) == CharKind::kPunct) != in_ranges(kOddPunctuation, code) || ascii_mark(code);
}

bool is_word(uint32_t code) {
  const bool connects = code == '_' || code == 0x203F || code == 0x2040 || code == 0x2054 || code == 0xFE33 || code == 0xFE34 ||
                        (code >= 0xFE4D && code <= 0xFE4F) || code == 0xFF3F;
  const bool letter =
      is_kind(char_kind(code), kLetters | kMarks | kinds(CharKind::kNumber)) || connects || code == 0x200C || code == 0x200D;
  return letter != in_ranges(kOddWords, code);
}

bool ends_in_word(const char* text, size_t n) { return n && is_word(last_char(text, n).code); }

size_t end_space(const char* text, size_t n, uint32_t solid) {
  while (n) {
    const Char c = last_char(text, n);
    if (char_class(c.code) != CharClass::kSpace || c.code == solid) break;
    n -= c.bytes;
  }
  return n;
}

size_t word_bytes(Split split, const char* text, size_t at, size_t n) {
  switch (split) {
    case kSplitNone:
    case kSplitCount:
      return n - at;
    case kSplitGpt2:
      return gpt2_word(text, at, n);
    case kSplitLlama3:
      return llama3_word(text, at, n, 3);
    case kSplitQwen2:
      return llama3_word(text, at, n, 1);
    case kSplitO200k:
      return o200k_word(text, at, n, 3, true);
    case kSplitTekken:
      return o200k_word(text, at, n, 1, false);
    case kSplitEndSpace: {
      const size_t end = end_space(text, n);
      return (at < end ? end : n) - at;
    }
    case kSplitByteNumbers: {
      size_t end = at + 1;
      const bool number = is_byte_number(static_cast<uint8_t>(text[at]));
      while (end < n && is_byte_number(static_cast<uint8_t>(text[end])) == number) ++end;
      return end - at;
    }
    case kSplitMetaspace: {
      size_t end = at + 1;
      while (end < n && text[end] != ' ') ++end;
      return end - at;
    }
    default:
      break;
  }
  if (const size_t bytes = match(split, text, at, n)) return bytes;
  size_t end = at;
  do end += next_char(text + end, n - end).bytes;
  while (end < n && !match(split, text, end, n));
  return end - at;
}

}  // namespace linnet::tok
