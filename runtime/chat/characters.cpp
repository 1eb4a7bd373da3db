// Classes and cases of characters as Python's str has them: what the tokenizer's kinds say, and beside them the tables of unicode_case.inc.
#include "../tokenizer/unicode.h"
#include "machine.h"

namespace linnet::chat {
namespace {

struct CaseRange {
  uint32_t range;  // first code point << 11 | how many more
  int32_t how;     // what is added << 2 | distance of one to the next
};
struct CaseMany {
  uint16_t code, to[3];  // 0 behind the last one
};

#include "unicode_case.inc"

using tok::CharKind;
using tok::kinds;

constexpr uint32_t kNoText = kinds(CharKind::kOther) | kinds(CharKind::kSpace) | kinds(CharKind::kControl);

bool of(uint32_t code, uint32_t set) { return tok::is_kind(tok::char_kind(code), set); }

// The last of n ascending entries whose first code point is not above `code`; nullptr where there is none.
template <class Entry, class First>
const Entry* last_from(const Entry* entries, size_t n, uint32_t code, First first) {
  size_t low = 0;
  while (n) {
    const size_t half = n / 2;
    if (first(entries[low + half]) <= code) {
      low += half + 1, n -= half + 1;
    } else {
      n = half;
    }
  }
  return low ? entries + low - 1 : nullptr;
}

template <size_t N>
bool in(const uint32_t (&ranges)[N], uint32_t code) {
  const uint32_t* r = last_from(ranges, N, code, [](uint32_t range) { return range >> 11; });
  return r && code - (*r >> 11) <= (*r & 2047);
}

// One character for one.
template <size_t N>
bool map_one(const CaseRange (&rows)[N], uint32_t code, uint32_t* out) {
  const CaseRange* r = last_from(rows, N, code, [](const CaseRange& row) { return row.range >> 11; });
  if (!r) return false;
  const uint32_t behind = code - (r->range >> 11), step = static_cast<uint32_t>(r->how & 3);
  if (behind % step || behind / step > (r->range & 2047)) return false;
  *out = code + static_cast<uint32_t>(r->how >> 2);
  return true;
}

template <size_t N>
size_t map_many(const CaseMany (&rows)[N], uint32_t code, uint32_t (&out)[3]) {
  const CaseMany* r = last_from(rows, N, code, [](const CaseMany& row) { return uint32_t{row.code}; });
  if (!r || r->code != code) return 0;
  size_t n = 0;
  while (n < 3 && r->to[n]) out[n] = r->to[n], ++n;
  return n;
}

template <size_t N, size_t M>
size_t map(const CaseMany (&many)[N], const CaseRange (&one)[M], uint32_t code, uint32_t (&out)[3]) {
  const size_t n = map_many(many, code, out);
  if (n) return n;
  out[0] = code;
  map_one(one, code, &out[0]);
  return 1;
}

}  // namespace

bool is_printable(uint32_t code) { return code == ' ' || !of(code, kNoText); }
bool is_space(uint32_t code) { return (code >= 0x1C && code < 0x20) || of(code, kinds(CharKind::kSpace)); }
bool is_alpha(uint32_t code) { return of(code, tok::kLetters); }
bool is_decimal(uint32_t code) { return in(kDecimal, code); }
bool is_digit(uint32_t code) { return in(kDecimal, code) || in(kDigitToo, code); }
bool is_numeric(uint32_t code) { return of(code, kinds(CharKind::kNumber)) || in(kNumericToo, code); }
bool is_titlecase(uint32_t code) { return in(kTitlecase, code); }
bool is_upper(uint32_t code) { return of(code, kinds(CharKind::kUpper)) ? !is_titlecase(code) : in(kUpperToo, code); }
bool is_lower(uint32_t code) { return of(code, kinds(CharKind::kLower)) || in(kLowerToo, code); }
bool is_case_ignorable(uint32_t code) { return of(code, kinds(CharKind::kMark)) || in(kIgnorableToo, code); }
bool is_identifier_start(uint32_t code) { return is_alpha(code) != in(kStartOther, code); }
bool is_identifier_part(uint32_t code) {
  return (is_identifier_start(code) || is_decimal(code) || of(code, tok::kMarks)) != in(kPartOther, code);
}

// Decimal digits lie in rows of ten from 0 on, the mathematical ones in five rows side by side.
int decimal_value(uint32_t code) {
  const uint32_t* r = last_from(kDecimal, sizeof(kDecimal) / sizeof(uint32_t), code, [](uint32_t range) { return range >> 11; });
  return r && code - (*r >> 11) <= (*r & 2047) ? static_cast<int>((code - (*r >> 11)) % 10) : -1;
}

bool ends_line(uint32_t code) {
  return (code >= 10 && code <= 13) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

size_t to_upper(uint32_t code, uint32_t (&out)[3]) { return map(kUpperMany, kUpper, code, out); }
size_t to_lower(uint32_t code, uint32_t (&out)[3]) { return map(kLowerMany, kLower, code, out); }
size_t to_title(uint32_t code, uint32_t (&out)[3]) {
  const size_t n = map_many(kTitleMany, code, out);
  if (n) return n;
  return map_one(kTitle, code, &out[0]) ? 1 : to_upper(code, out);
}

// Folding is the lower case of the upper case, with three exceptions: Cherokee folds to its upper case, the dotless i stays itself, and the
// capital sharp s is ss too.
size_t to_folded(uint32_t code, uint32_t (&out)[3]) {
  out[0] = code;
  if (code == 0x131) return 1;
  if (code == 0x1E9E) return out[0] = out[1] = 's', 2;
  const size_t n = to_upper(code, out);
  if ((code >= 0x13A0 && code < 0x1400) || (code >= 0xAB70 && code < 0xABC0)) return n;
  if (n == 1) return to_lower(out[0], out);
  for (size_t i = 0; i < n; ++i) map_one(kLower, out[i], &out[i]);
  return n;
}

}  // namespace linnet::chat
