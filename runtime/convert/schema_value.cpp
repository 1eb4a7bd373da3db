#include "schema_value.h"

#include <algorithm>

#include "../../platform/utf8.h"
#include "../tokenizer/unicode.h"
#include "json.h"

namespace linnet::convert {
namespace {

struct TypeName {
  const char* name;
  uint32_t type;
};
constexpr TypeName kTypes[] = {{"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger}, {"number", kNumber},
                               {"string", kString}, {"array", kArray},     {"object", kObject}};

// JSON, of which the values keep their spelling. Nothing is taken but what Values are made of.
class ValueReader {
 public:
  ValueReader(std::string_view text, const char* name, Error* err) : s_(text), name_(name), err_(err) {}

  Status read(Value* out) {
    if (s_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    if (value(out, 0)) {
      space();
      if (at_ < s_.size()) invalid();
    }
    return status_;
  }

 private:
  template <class... Parts>
  bool refuse(const Parts&... parts) {
    status_ = fail(err_, LINNET_BAD_FILE, name_, ": ", parts...);
    return false;
  }
  bool invalid() {
    const TextPlace at = text_place(s_, at_);
    refuse("not valid JSON at line ", at.line, ", column ", at.column);
    if (err_) err_->line = at.line;
    return false;
  }
  char here() const { return at_ < s_.size() ? s_[at_] : '\0'; }
  bool digit() const { return here() >= '0' && here() <= '9'; }
  bool take(char c) {
    if (at_ == s_.size() || s_[at_] != c) return false;
    ++at_;
    return true;
  }
  void space() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t' || s_[at_] == '\n' || s_[at_] == '\r')) ++at_;
  }
  bool word(std::string_view w) {
    for (const char c : w)
      if (!take(c)) return invalid();
    return true;
  }

  bool value(Value* v, size_t depth) {
    space();
    const char c = here();
    if (c == '{' || c == '[') {
      if (depth == kJsonMaxDepth) return refuse("nested deeper than ", kJsonMaxDepth);
      ++at_;
      v->type = c == '{' ? kObject : kArray;
      return c == '{' ? members(v, depth + 1) : elements(v, depth + 1);
    }
    if (c == '"') {
      v->type = kString;
      return string(&v->text);
    }
    if (c == '-' || digit()) {
      v->type = kNumber;
      return number(&v->text);
    }
    if (c == 'n') return word("null");
    v->type = kBoolean;
    v->truth = c == 't';
    return c == 't' ? word("true") : c == 'f' ? word("false") : invalid();
  }
  bool elements(Value* v, size_t depth) {
    space();
    if (take(']')) return true;
    do {
      if (!value(&v->items.emplace_back(), depth)) return false;
      space();
    } while (take(','));
    return take(']') || invalid();
  }
  bool members(Value* v, size_t depth) {
    space();
    if (take('}')) return true;
    do {
      space();
      if (here() != '"') return invalid();
      if (!string(&v->keys.emplace_back())) return false;
      space();
      if (!take(':')) return invalid();
      if (!value(&v->items.emplace_back(), depth)) return false;
      space();
    } while (take(','));
    return take('}') ? distinct(v->keys) : invalid();
  }
  bool distinct(const Vector<String>& keys) {
    Vector<std::string_view> sorted(keys.begin(), keys.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    return twice == sorted.end() || refuse("duplicate key '", *twice, "'");
  }
  // Its own characters, where a double can hold it.
  bool number(String* out) {
    const size_t begin = at_;
    take('-');
    if (!take('0')) {
      if (!digit()) return invalid();
      while (digit()) ++at_;
    }
    if (take('.')) {
      if (!digit()) return invalid();
      while (digit()) ++at_;
    }
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      if (!digit()) return invalid();
      while (digit()) ++at_;
    }
    *out = s_.substr(begin, at_ - begin);
    const Decimal d(*out);  // the least number that rounds to infinity begins with these digits
    return d.point < 309 || (d.point == 309 && d.digits < "17976931348623158079") || invalid();
  }
  bool hex4(uint32_t* code) {
    *code = 0;
    for (uint32_t i = 0; i < 4; ++i, ++at_) {
      const char c = here(), lower = static_cast<char>(c | 0x20);
      if (!digit() && (lower < 'a' || lower > 'f')) return invalid();
      *code = *code * 16 + static_cast<uint32_t>(digit() ? c - '0' : lower - 'a' + 10);
    }
    return true;
  }
  bool escape(String* out) {
    constexpr std::string_view kLetters = "\"\\/bfnrtu", kCodes = "\"\\/\b\f\n\r\t";
    const size_t which = kLetters.find(here());
    if (at_ == s_.size() || which == kLetters.npos) return invalid();
    ++at_;
    if (which < kCodes.size()) return out->push_back(kCodes[which]), true;
    uint32_t code = 0, low = 0;
    if (!hex4(&code)) return false;
    if (code >= 0xDC00 && code < 0xE000) return invalid();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!take('\\') || !take('u')) return invalid();
      if (!hex4(&low)) return false;
      if (low < 0xDC00 || low >= 0xE000) return invalid();
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    char bytes[4];
    return out->append(bytes, tok::put_char(code, bytes)), true;
  }
  bool string(String* out) {
    for (++at_; !take('"');) {
      if (at_ == s_.size() || static_cast<uint8_t>(here()) < 0x20) return invalid();
      if (take('\\')) {
        if (!escape(out)) return false;
        continue;
      }
      const Char c = next_char(s_.data() + at_, s_.size() - at_);
      if (c.code == kBadByte) return invalid();
      out->append(s_.substr(at_, c.bytes));
      at_ += c.bytes;
    }
    return true;
  }

  std::string_view s_;
  const char* name_;
  Error* err_;
  size_t at_ = 0;
  Status status_ = LINNET_OK;
};

}  // namespace

Decimal::Decimal(const String& text) {
  constexpr int64_t kFar = 1'000'000'000;  // beyond what a text can shift
  size_t i = text[0] == '-';
  bool behind = false;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      behind = true;
      continue;
    }
    if (!behind) ++point;
    if (text[i] == '0' && digits.empty())
      --point;
    else
      digits += text[i];
  }
  if (i < text.size()) {
    const bool down = text[++i] == '-';
    int64_t shift = 0;
    for (i += down || text[i] == '+'; i < text.size(); ++i) shift = std::min(kFar, shift * 10 + (text[i] - '0'));
    point += down ? -shift : shift;
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  negative = text[0] == '-' && !digits.empty();
  if (digits.empty()) point = 0;
}
int64_t Decimal::rounded(bool up) const {
  int64_t n = 0;
  for (int64_t i = 0; i < point && n <= kMaxInteger; ++i) {
    const int64_t digit = i < static_cast<int64_t>(digits.size()) ? digits[static_cast<size_t>(i)] - '0' : 0;
    n = n > kMaxInteger / 10 ? kMaxInteger + 1 : n * 10 + digit;
  }
  n = std::min(n + (!whole() && up != negative), kMaxInteger + 1);
  return negative ? -n : n;
}

const Value* member(const Value& from, std::string_view key) {
  const auto at = std::find(from.keys.begin(), from.keys.end(), key);
  return at == from.keys.end() ? nullptr : &from.items[static_cast<size_t>(at - from.keys.begin())];
}
String quoted(const String& text) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  String out = "\"";
  for (const char c : text) {
    const size_t which = kShort.find(c);
    if (which != kShort.npos)
      (out += '\\') += kLetters[which];
    else if (static_cast<uint8_t>(c) < 0x20)
      ((out += "\\u00") += c < 0x10 ? '0' : '1') += "0123456789abcdef"[c & 15];
    else
      out += c;
  }
  return out += '"';
}
String dump(const Value& v) {
  if (v.is(kNull)) return "null";
  if (v.is(kBoolean)) return v.truth ? "true" : "false";
  if (v.is(kNumber)) return v.text;
  if (v.is(kString)) return quoted(v.text);
  String out(1, v.is(kArray) ? '[' : '{');
  for (size_t i = 0; i < v.items.size(); ++i) {
    if (i) out += ',';
    if (v.is(kObject)) out += quoted(v.keys[i]) + ":";
    out += dump(v.items[i]);
  }
  return out += v.is(kArray) ? ']' : '}';
}
const char* type_name(const Value& v) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.type == v.type; })->name;
}

uint32_t type_of(const Value& v) { return v.is(kNumber) && Decimal(v.text).whole() ? kInteger | kNumber : v.type; }

bool equal(const Value& a, const Value& b) {
  if (a.type != b.type || a.truth != b.truth || a.items.size() != b.items.size()) return false;
  if (a.is(kNumber)) return Decimal(a.text) == Decimal(b.text);
  if (!a.is(kObject)) return a.text == b.text && std::equal(a.items.begin(), a.items.end(), b.items.begin(), equal);
  for (size_t i = 0; i < a.keys.size(); ++i) {
    const Value* other = member(b, a.keys[i]);
    if (!other || !equal(a.items[i], *other)) return false;
  }
  return true;
}
uint32_t type_named(std::string_view name) {
  for (const TypeName& t : kTypes)
    if (name == t.name) return t.type;
  return 0;
}

Status schema_parse(std::string_view text, const char* name, Value* out, Error* err) { return ValueReader(text, name, err).read(out); }

}  // namespace linnet::convert
