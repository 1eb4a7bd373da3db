// The conversation: JSON as RFC 8259 has it, with Python's NaN and Infinity. One pass without recursion; the values of what is open lie at
// the end of the run's memory until it is closed and has their number.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

class Reader {
 public:
  Reader(Machine& m, std::string_view json) : m_(m), s_(json), room_(m.memory_bytes), top_(room_ / 8 * 8) {}

  bool read(Value* out) {
    const bool good = read_all(out);
    m_.memory_bytes = room_;
    if (good) trust_roles(*out);
    return good;
  }

 private:
  // An object or array that is open.
  struct Open {
    size_t top;  // of the values before it
    uint32_t n;  // values that it has, keys too
    bool object;
    Value key;  // the last one
  };

  // ---- errors
  template <class... Parts>
  bool refuse(Parts... parts) {
    // Of a long pointer the beginning is shown.
    char where[120];
    size_t n = 0;
    const auto add = [&where, &n](std::string_view s) {
      for (size_t i = 0; i < s.size() && n < sizeof where; ++i) where[n++] = s[i];
    };
    for (uint32_t i = 0; i < n_open_; ++i) {
      const Open& o = open_[i];
      if (o.object && !o.key.is_text()) break;
      add("/");
      if (o.object) {
        for (uint32_t k = 0; k < o.key.n; ++k)
          add(o.key.text[k] == '~' ? "~0" : o.key.text[k] == '/' ? "~1" : std::string_view(o.key.text + k, 1));
      } else {
        char digits[10];
        size_t at = sizeof digits;
        uint32_t v = o.n;
        do digits[--at] = static_cast<char>('0' + v % 10);
        while (v /= 10);
        add({digits + at, sizeof digits - at});
      }
    }
    const char* const in = n ? ", in " : "";
    m_.status =
        linnet::fail(m_.err, LINNET_BAD_ARG, "the conversation cannot be read: byte ", at_, in, std::string_view(where, n), ": ", parts...);
    return false;
  }
  bool full() {
    m_.memory_bytes = room_;
    return m_.full("bytes of values", room_);
  }

  // ---- values of what is open, from the end of the memory down
  bool push(const Value& v) {
    if (top_ < sizeof(Value) || top_ - sizeof(Value) < m_.n_memory) return full();
    top_ -= sizeof(Value);
    std::memcpy(m_.memory + top_, static_cast<const void*>(&v), sizeof v);
    m_.memory_bytes = top_;
    note_use();
    return true;
  }
  // Memory of the run for what stays, in front of those values.
  void* take_memory(size_t bytes) {
    const size_t at = (m_.n_memory + 7) / 8 * 8;
    if (!fits(at, bytes, top_)) return full(), nullptr;
    void* const p = m_.take(bytes);
    note_use();
    return p;
  }
  void note_use() {
    const size_t used = (m_.n_memory + 7) / 8 * 8 + room_ / 8 * 8 - top_;
    if (used > m_.peak) m_.peak = used;
  }
  // They become the items of the innermost container, which is no longer open.
  bool close(Value* out) {
    const Open& o = open_[n_open_ - 1];
    const size_t n = o.n;
    Value* const items = static_cast<Value*>(take_memory(n * sizeof(Value)));
    if (!items) return false;
    for (size_t i = 0; i < n; ++i) std::memcpy(static_cast<void*>(items + i), m_.memory + o.top - (i + 1) * sizeof(Value), sizeof(Value));
    top_ = m_.memory_bytes = o.top;
    --n_open_;
    if (!(o.object ? make_dict(m_, items, n / 2, out) : make_list(m_, Kind::kList, items, n, out))) return false;
    note_use();
    out->flags |= kData;
    return true;
  }

  // ---- the text
  void blanks() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\t' || s_[at_] == '\r')) ++at_;
  }
  bool take(char c) { return at_ < s_.size() && s_[at_] == c && ++at_; }
  bool take(std::string_view word) {
    if (cut(s_, at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool take_digits() {
    const size_t begin = at_;
    while (at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9') ++at_;
    return at_ > begin;
  }
  // Four hexadecimal digits behind a "\u".
  bool code_unit(uint32_t* out) {
    uint32_t code = 0;
    for (uint32_t i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < s_.size() ? s_[at_] : '\0', lower = static_cast<char>(c | 0x20);
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (lower < 'a' || lower > 'f')) return refuse("'\\u' takes four hexadecimal digits");
      code = code << 4 | static_cast<uint32_t>(digit ? c - '0' : lower - 'a' + 10);
    }
    *out = code;
    return true;
  }
  // What an escape stands for, behind its "\".
  bool escaped(uint32_t* code) {
    const char c = at_ < s_.size() ? s_[at_++] : '\0';
    constexpr std::string_view kNames = "\"\\/bfnrt", kCodes = "\"\\/\b\f\n\r\t";
    const size_t known = c ? find_in(kNames, c) : kNowhere;
    if (known != kNowhere) {
      *code = static_cast<uint32_t>(kCodes[known]);
      return true;
    }
    if (c != 'u') return refuse("an escape that JSON does not have");
    if (!code_unit(code)) return false;
    if (*code < 0xD800 || *code > 0xDFFF) return true;
    uint32_t low = 0;
    if (*code > 0xDBFF || !take("\\u")) return refuse("half a surrogate pair");
    if (!code_unit(&low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return refuse("half a surrogate pair");
    *code = 0x10000 + ((*code & 0x3FF) << 10 | (low & 0x3FF));
    return true;
  }
  // Behind the opening quote. What has no escapes stays where it is.
  bool read_text(Value* out) {
    const size_t begin = at_;
    bool escapes = false;
    while (at_ < s_.size() && s_[at_] != '"') {
      const Char c = next_char(s_.data() + at_, s_.size() - at_);
      if (c.code == kBadByte) return refuse("a byte that is no UTF-8");
      if (c.code < ' ') return refuse("a control character in a text");
      at_ += c.bytes;
      if (c.code != '\\') continue;
      uint32_t code = 0;
      if (!escaped(&code)) return false;
      escapes = true;
    }
    const size_t end = at_;
    if (!take('"')) return refuse("a text that does not end");
    *out = text(cut(s_, begin, end - begin), kData);
    return !escapes || unescape(begin, end, out);
  }
  bool unescape(size_t begin, size_t end, Value* out) {
    const size_t room = end - begin;  // no escape is shorter than what it stands for
    char* const to = static_cast<char*>(take_memory(room));
    if (!to) return false;
    size_t n = 0;
    for (at_ = begin; at_ < end;) {
      if (s_[at_] != '\\') {
        to[n++] = s_[at_++];
        continue;
      }
      ++at_;
      uint32_t code = 0;
      if (!escaped(&code)) return false;
      const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      for (size_t i = bytes; i-- > 1; code >>= 6) to[n + i] = static_cast<char>(0x80 | (code & 0x3F));
      to[n] = static_cast<char>(bytes == 1 ? code : (0xF00u >> bytes & 0xFF) | code);
      n += bytes;
    }
    at_ = end + 1;
    *out = text({to, n}, kData);
    return true;
  }
  bool read_number(Value* out) {
    const size_t begin = at_;
    take('-');
    if (!take('0') && !take_digits()) return refuse("a value is missing");
    const size_t whole = at_ - begin;
    if (take('.') && !take_digits()) return refuse("no digits behind a point");
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!take_digits()) return refuse("an exponent without digits");
    }
    const std::string_view number = cut(s_, begin, at_ - begin);
    if (number.size() > whole) {
      double d = 0;
      read_float(number, &d);
      *out = real(d, kData);
      return true;
    }
    constexpr size_t kMaxDigits = 4300;  // as Python
    if (whole - (number[0] == '-') > kMaxDigits) return refuse("an integer of more than ", kMaxDigits, " digits");
    int64_t i = 0;
    const bool big = read_int(number, 10, &i) == ReadInt::kBig;
    *out = integer(i, kData);
    if (big) *out = text(number, kData), out->kind = Kind::kBig;
    return true;
  }

  // One value, or the beginning of a container, which *opened tells.
  bool read_value(Value* out, bool* opened) {
    *opened = false;
    const char c = at_ < s_.size() ? s_[at_] : '\0';
    if (c == '"') return ++at_, read_text(out);
    if (c == '{' || c == '[') {
      if (n_open_ == kMaxJsonDepth) return refuse("more than ", kMaxJsonDepth, " levels");
      ++at_;
      open_[n_open_++] = {top_, 0, c == '{', {}};
      *opened = true;
      return true;
    }
    const auto word = [this, out](std::string_view name, const Value& v) { return take(name) && (*out = v, out->flags = kData, true); };
    double inf = 0, nan = 0;
    read_float("inf", &inf), read_float("nan", &nan);
    if (word("null", none()) || word("true", boolean(true)) || word("false", boolean(false)) || word("NaN", real(nan)) ||
        word("Infinity", real(inf)) || word("-Infinity", real(-inf)))
      return true;
    return read_number(out);
  }

  bool read_key() {
    Open& o = open_[n_open_ - 1];
    o.key = {};
    blanks();
    if (!take('"')) return refuse("a key is missing");
    Value key;
    if (!read_text(&key)) return false;
    o.key = key;
    blanks();
    if (!take(':')) return refuse("no ':' behind a key");
    if (!push(key)) return false;
    ++o.n;
    return true;
  }

  bool read_all(Value* out) {
    if (s_.size() > UINT32_MAX) return refuse("more than 4 GB");
    Value v;
    for (bool opened = false;;) {
      blanks();
      if (!read_value(&v, &opened)) return false;
      if (opened) {
        blanks();
        const Open& o = open_[n_open_ - 1];
        if (!take(o.object ? '}' : ']')) {
          if (o.object && !read_key()) return false;
          continue;
        }
        if (!close(&v)) return false;
      }
      // A value is there: it goes where it belongs, and closes what ends behind it.
      for (;;) {
        if (n_open_ == 0) {
          blanks();
          if (at_ < s_.size()) return refuse("something behind the value");
          *out = v;
          return true;
        }
        Open& o = open_[n_open_ - 1];
        if (!push(v)) return false;
        ++o.n;
        blanks();
        if (take(',')) {
          if (o.object && !read_key()) return false;
          break;
        }
        if (!take(o.object ? '}' : ']'))
          return refuse(o.object ? "neither ',' nor '}' behind a value" : "neither ',' nor ']' behind a value");
        if (!close(&v)) return false;
      }
    }
  }

  // A role is the application's choice, not what somebody wrote, and templates make marks of it: '<|' + role + '|>' is to be the token that
  // it spells. Small letters alone spell no token by themselves.
  void trust_roles(const Value& context) {
    const Value* const messages = context.is(Kind::kDict) ? find(m_, *context.dict, "messages") : nullptr;
    if (!messages || !messages->is(Kind::kList)) return;
    for (uint32_t i = 0; i < messages->n; ++i) {
      const Value& message = messages->items[i];
      const Value* const found = message.is(Kind::kDict) ? find(m_, *message.dict, "role") : nullptr;
      if (!found || !found->is_text() || found->n == 0 || found->n > 32) continue;
      bool plain = true;
      for (const char c : found->view()) plain = plain && (c == '_' || (c >= 'a' && c <= 'z'));
      if (plain) const_cast<Value*>(found)->flags = 0;  // it lies in memory that was filled here
    }
  }

  Machine& m_;
  std::string_view s_;
  const size_t room_;  // the memory of the run
  size_t top_;         // where the values of what is open begin; what is in front of it is free
  size_t at_ = 0;
  uint32_t n_open_ = 0;
  Open open_[kMaxJsonDepth];
};

}  // namespace

bool read_json(Machine& m, std::string_view json, Value* out) { return Reader(m, json).read(out); }

}  // namespace linnet::chat
