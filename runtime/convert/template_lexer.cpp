// Tokens of a Jinja template, with trim_blocks and lstrip_blocks as transformers sets them.
#include "../../platform/utf8.h"
#include "../chat/machine.h"
#include "template_tree.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                           "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

// One kind of line end, and the last one gone.
std::string normal_lines(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\r') {
      out += '\n';
      if (i + 1 < s.size() && s[i + 1] == '\n') ++i;
    } else {
      out += s[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normal_lines(source)), s_(source_) {}

  std::vector<Token> all() {
    while (at_ < s_.size()) text();
    add(TokenType::kEnd, {});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw TemplateError{line_, what}; }
  bool looks_at(std::string_view what) const { return s_.compare(at_, what.size(), what) == 0; }
  void add(TokenType type, std::string text) { tokens_.push_back({type, line_, std::move(text)}); }
  void go_to(size_t to) {
    for (; at_ < to; ++at_) line_ += s_[at_] == '\n';
    line_start_ = to > 0 && s_[to - 1] == '\n';
  }
  size_t behind_space(size_t from) const {
    while (from < s_.size()) {
      const Char c = next_char(s_.data() + from, s_.size() - from);
      if (!chat::is_space(c.code)) break;
      from += c.bytes;
    }
    return from;
  }
  // Where the white space at the end of s_[from, to) begins.
  size_t before_space(size_t from, size_t to) const {
    while (to > from) {
      size_t begin = to - 1;
      while (begin > from && (static_cast<uint8_t>(s_[begin]) & 0xC0) == 0x80) --begin;
      if (!chat::is_space(next_char(s_.data() + begin, to - begin).code)) break;
      to = begin;
    }
    return to;
  }

  // Text up to the next tag, and that tag.
  void text() {
    size_t tag = at_;
    for (;; ++tag) {
      tag = s_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 >= s_.size()) {
        data(at_, s_.size());
        go_to(s_.size());
        return;
      }
      if (s_[tag + 1] == '%' || s_[tag + 1] == '{' || s_[tag + 1] == '#') break;
    }
    const char kind = s_[tag + 1];
    size_t inside = tag + 2;
    const char sign = inside < s_.size() && (s_[inside] == '-' || s_[inside] == '+') ? s_[inside] : ' ';
    if (sign != ' ') ++inside;
    data(at_, text_end(at_, tag, sign, kind != '{'));
    go_to(inside);
    if (kind == '#') return comment();
    if (kind == '%' && raw_begins(inside)) return raw();
    add(kind == '%' ? TokenType::kBlockBegin : TokenType::kVariableBegin, {});
    inner(kind == '%');
  }
  void data(size_t from, size_t to) {
    if (to > from) add(TokenType::kData, std::string(s_.substr(from, to - from)));
  }
  // Where the text before a tag ends: its sign takes white space, and lstrip_blocks the blanks of the tag's own line.
  size_t text_end(size_t from, size_t tag, char sign, bool block) const {
    if (sign == '-') return before_space(from, tag);
    if (sign == '+' || !block) return tag;
    size_t line = tag;
    while (line > from && s_[line - 1] != '\n') --line;
    if (line == from && !line_start_ && from > 0) return tag;
    return before_space(line, tag) == line ? line : tag;
  }
  // Behind the end of a block or a comment: its sign takes white space, trim_blocks one line end.
  size_t tag_end(size_t close, char sign) const {
    const size_t behind = close + 2;
    if (sign == '-') return behind_space(behind);
    return sign != '+' && behind < s_.size() && s_[behind] == '\n' ? behind + 1 : behind;
  }
  void comment() {
    const size_t close = s_.find("#}", at_);
    if (close == std::string_view::npos) fail("a comment without end");
    const char sign = close > at_ && (s_[close - 1] == '-' || s_[close - 1] == '+') ? s_[close - 1] : ' ';
    go_to(tag_end(close, sign));
  }

  bool word_at(size_t* at, std::string_view word) const {
    const size_t from = behind_space(*at);
    if (s_.compare(from, word.size(), word) != 0) return false;
    *at = behind_space(from + word.size());
    return true;
  }
  bool raw_begins(size_t at) {
    if (!word_at(&at, "raw")) return false;
    if (s_.compare(at, 3, "-%}") == 0)
      raw_ = behind_space(at + 3);
    else if (s_.compare(at, 2, "%}") == 0)
      raw_ = at + 2;
    else
      return false;
    return true;
  }
  void raw() {
    go_to(raw_);
    for (size_t tag = at_; (tag = s_.find("{%", tag)) != std::string_view::npos; ++tag) {
      size_t inside = tag + 2;
      const char sign = inside < s_.size() && (s_[inside] == '-' || s_[inside] == '+') ? s_[inside] : ' ';
      if (sign != ' ') ++inside;
      if (!word_at(&inside, "endraw")) continue;
      const char close = inside < s_.size() && (s_[inside] == '-' || s_[inside] == '+') ? s_[inside] : ' ';
      if (close != ' ') ++inside;
      if (s_.compare(inside, 2, "%}") != 0) continue;
      data(at_, text_end(at_, tag, sign, true));
      return go_to(tag_end(inside, close));
    }
    fail("raw without endraw");
  }

  // Tokens inside of a tag.
  void inner(bool block) {
    const std::string_view end = block ? "%}" : "}}";
    std::string open;
    while (at_ < s_.size()) {
      if (open.empty()) {
        const char sign = s_[at_] == '-' || (block && s_[at_] == '+') ? s_[at_] : ' ';
        const size_t close = at_ + (sign != ' ');
        if (s_.compare(close, 2, end) == 0) {
          add(block ? TokenType::kBlockEnd : TokenType::kVariableEnd, {});
          return go_to(block ? tag_end(close, sign) : sign == '-' ? behind_space(close + 2) : close + 2);
        }
      }
      const size_t space = behind_space(at_);
      if (space > at_) {
        go_to(space);
        continue;
      }
      if (number() || name()) continue;
      if (s_[at_] == '\'' || s_[at_] == '"') {
        string();
        continue;
      }
      sign(&open);
    }
    fail(block ? "a statement without end" : "an expression without end");
  }

  // Digits with single underscores between them, from `from` on; their end.
  size_t digits(size_t from, uint32_t base) const {
    const auto is = [base](char c) {
      const char l = lower(c);
      return is_digit(c) ? static_cast<uint32_t>(c - '0') < base : base == 16 && l >= 'a' && l <= 'f';
    };
    size_t end = from;
    while (end < s_.size() && (is(s_[end]) || (s_[end] == '_' && end > from && end + 1 < s_.size() && is(s_[end + 1])))) ++end;
    return end;
  }
  bool number() {
    if (!is_digit(s_[at_])) return false;
    const auto without = [](std::string_view s) {
      std::string out;
      for (const char c : s)
        if (c != '_') out += c;
      return out;
    };
    const size_t whole = digits(at_, 10);
    size_t end = whole;
    if (end + 1 < s_.size() && s_[end] == '.' && is_digit(s_[end + 1])) end = digits(end + 1, 10);
    if (end < s_.size() && lower(s_[end]) == 'e') {
      size_t exponent = end + 1;
      if (exponent < s_.size() && (s_[exponent] == '+' || s_[exponent] == '-')) ++exponent;
      if (exponent < s_.size() && is_digit(s_[exponent])) end = digits(exponent, 10);
    }
    // As in `1.2.3`, what stands behind a point is a number, but no float.
    if (end > whole && !(at_ > 0 && s_[at_ - 1] == '.')) {
      add(TokenType::kFloat, without(s_.substr(at_, end - at_)));
      go_to(end);
      return true;
    }
    end = whole;
    if (s_[at_] == '0') {
      const char kind = at_ + 1 < s_.size() ? lower(s_[at_ + 1]) : ' ';
      const uint32_t base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
      size_t from = at_ + 2;
      if (base && from < s_.size() && s_[from] == '_') ++from;
      const size_t prefixed = base ? digits(from, base) : 0;
      end = base && prefixed > from ? prefixed : digits(at_, 1);
    }
    add(TokenType::kInteger, without(s_.substr(at_, end - at_)));
    go_to(end);
    return true;
  }
  bool name() {
    size_t end = at_;
    while (end < s_.size()) {
      const Char c = next_char(s_.data() + end, s_.size() - end);
      const bool word = c.code < 0x80 ? (c.code == '_' || is_digit(static_cast<char>(c.code)) ||
                                         (lower(static_cast<char>(c.code)) >= 'a' && lower(static_cast<char>(c.code)) <= 'z'))
                                      : chat::is_identifier_part(c.code);
      if (!word) break;
      end += c.bytes;
    }
    if (end == at_) return false;
    add(TokenType::kName, std::string(s_.substr(at_, end - at_)));
    go_to(end);
    return true;
  }

  static void put(std::string* out, uint32_t code) {
    if (code < 0x80) {
      *out += static_cast<char>(code);
    } else if (code < 0x800) {
      *out += static_cast<char>(0xC0 | code >> 6);
      *out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      *out += static_cast<char>(0xE0 | code >> 12);
      *out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      *out += static_cast<char>(0xF0 | code >> 18);
      *out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      *out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  void string() {
    const char quote = s_[at_];
    std::string out;
    size_t i = at_ + 1;
    for (; i < s_.size() && s_[i] != quote; ++i) {
      if (s_[i] != '\\') {
        out += s_[i];
        continue;
      }
      if (++i == s_.size()) break;
      i = escape(i, &out);
    }
    if (i >= s_.size()) fail("a string without end");
    add(TokenType::kString, std::move(out));
    go_to(i + 1);
  }
  // What the escape whose letter stands at i is; returns its last character.
  size_t escape(size_t i, std::string* out) const {
    static constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    const char c = s_[i];
    if (c == '\n') return i;  // the line goes on
    const size_t simple = kLetters.find(c);
    if (simple != std::string_view::npos) {
      *out += kMeanings[simple];
      return i;
    }
    uint32_t code = 0;
    if (c >= '0' && c <= '7') {
      size_t end = i;
      for (; end < i + 3 && end < s_.size() && s_[end] >= '0' && s_[end] <= '7'; ++end)
        code = code * 8 + static_cast<uint32_t>(s_[end] - '0');
      put(out, code);
      return end - 1;
    }
    const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (c == 'N') fail("an escape \\N{...}, which linnet does not know");
    if (!length) {  // the backslash stays
      *out += '\\';
      *out += c;
      return i;
    }
    if (i + length >= s_.size()) fail("an escape that is cut off");
    for (size_t k = 1; k <= length; ++k) {
      const char d = lower(s_[i + k]);
      if (!is_digit(d) && !(d >= 'a' && d <= 'f')) fail("an escape that is cut off");
      code = code << 4 | static_cast<uint32_t>(is_digit(d) ? d - '0' : d - 'a' + 10);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) fail("an escape that is no character");
    put(out, code);
    return i + length;
  }

  void sign(std::string* open) {
    for (const std::string_view op : kOperators) {
      if (!looks_at(op)) continue;
      const char c = op[0];
      if (c == '(' || c == '[' || c == '{') *open += c == '(' ? ')' : c == '[' ? ']' : '}';
      if (c == ')' || c == ']' || c == '}') {
        if (open->empty()) fail(std::string("unexpected '") + c + "'");
        if (open->back() != c) fail(std::string("unexpected '") + c + "', expected '" + open->back() + "'");
        open->pop_back();
      }
      add(TokenType::kOperator, std::string(op));
      return go_to(at_ + op.size());
    }
    fail(std::string("unexpected character '") + s_[at_] + "'");
  }

  const std::string source_;
  const std::string_view s_;
  std::vector<Token> tokens_ = {};
  size_t at_ = 0, raw_ = 0;
  uint32_t line_ = 1;
  bool line_start_ = true;  // what was read last ended with a line
};

}  // namespace

std::vector<Token> template_tokens(std::string_view source) { return Lexer(source).all(); }

}  // namespace linnet::convert
