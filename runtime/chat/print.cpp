// Values as texts: str, repr and ascii of Python, JSON as transformers' tojson writes it, and escaped for HTML. What comes of a value keeps
// the value's origin: the brackets of a list of the conversation are the conversation's, the items say for themselves what they are.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

constexpr size_t kEscapeBytes = 12;  // a surrogate pair as JSON writes it

// "\", a letter, and the code in so many hexadecimal digits.
std::string_view code_escape(char letter, uint32_t code, uint32_t digits, char* room) {
  room[0] = '\\', room[1] = letter;
  for (uint32_t i = 0; i < digits; ++i) room[2 + i] = "0123456789abcdef"[code >> 4 * (digits - 1 - i) & 15];
  return {room, 2 + size_t{digits}};
}

// A text with what `escape` gives instead of a character, which is nothing for one that stays.
template <class Escape>
bool put_escaped(Machine& m, const Value& t, Escape escape) {
  if (!m.spend(1 + t.n / 16)) return false;
  size_t done = 0;
  for (size_t i = 0; i < t.n;) {
    const Char c = next_char(t.text + i, t.n - i);
    char room[kEscapeBytes];
    const std::string_view instead = c.code == kBadByte ? std::string_view() : escape(c.code, room);
    if (!instead.empty()) {
      if (!m.put(part(t, done, i - done)) || !m.put(instead, t.marks ? t.marks[i] : t.from())) return false;
      done = i + c.bytes;
    }
    i += c.bytes;
  }
  return m.put(part(t, done, t.n - done));
}

uint8_t any_from(const Value& t) { return t.marks ? uint8_t{kData} : t.from(); }

bool put_quoted(Machine& m, const Value& t, bool ascii) {
  const std::string_view s = t.view();
  const char quote = has(s, '\'') && !has(s, '"') ? '"' : '\'';
  const uint8_t from = any_from(t);
  const bool markup = (t.flags & kMarkup) != 0;
  const auto escape = [quote, ascii](uint32_t code, char* room) -> std::string_view {
    if (code == static_cast<uint32_t>(quote)) return quote == '"' ? "\\\"" : "\\'";
    if (code == '\\') return "\\\\";
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    if (code >= ' ' && code < 0x7F) return {};
    if (code >= 0x80 && !ascii && is_printable(code)) return {};
    return code < 0x100     ? code_escape('x', code, 2, room)
           : code < 0x10000 ? code_escape('u', code, 4, room)
                            : code_escape('U', code, 8, room);
  };
  return (!markup || m.put("Markup(", from)) && m.put({&quote, 1}, from) && put_escaped(m, t, escape) && m.put({&quote, 1}, from) &&
         (!markup || m.put(")", from));
}

// repr(v), where `ascii` with no other characters. Namespaces may hold one another, lists no more than kMaxNesting of one another.
class Printer {
 public:
  Printer(Machine& m, bool ascii) : m_(m), ascii_(ascii) {}

  bool put(const Value& v) {
    if (!m_.spend(1)) return false;
    const uint8_t from = v.from();
    switch (v.kind) {
      case Kind::kMissing:
      case Kind::kUndefined:
        return m_.put("Undefined", 0);
      case Kind::kNone:
        return m_.put("None", from);
      case Kind::kBool:
        return m_.put(v.integer ? "True" : "False", from);
      case Kind::kInt:
        return m_.put_integer(v.integer, from);
      case Kind::kFloat:
        return put_float(m_, v.real, 'r', 0, 0, from);
      case Kind::kBig:
        return m_.put(v.view(), from);
      case Kind::kText:
        return put_quoted(m_, v, ascii_);
      case Kind::kRange:
        return m_.put("range(", from) && m_.put_integer(v.range->start, from) && m_.put(", ", from) &&
               m_.put_integer(v.range->stop, from) && (v.range->step == 1 || (m_.put(", ", from) && m_.put_integer(v.range->step, from))) &&
               m_.put(")", from);
      case Kind::kMacro: {
        const Function& f = *v.macro->function;
        return m_.put("<Macro ", from) &&
               (f.name == kNoName ? m_.put("anonymous", from) : put_quoted(m_, text(m_.program->text(f.name)), ascii_)) &&
               m_.put(">", from);
      }
      case Kind::kLoop: {
        int64_t n = 0;
        return length(m_, v, &n) && m_.put("<LoopContext ", from) && m_.put_integer(v.loop->index, from) && m_.put("/", from) &&
               m_.put_integer(n, from) && m_.put(">", from);
      }
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kDict:
      case Kind::kView:
      case Kind::kNamespace: {
        if (depth_ == 2 * kMaxNesting) return m_.fail("values nest too deep to be printed");
        ++depth_;
        const bool good = v.is(Kind::kNamespace) ? put_namespace(v) : v.is_list() ? put_list(v) : put_dict(v);
        --depth_;
        return good;
      }
      default:
        return m_.fail("a ", type_name(v), " cannot be printed: Python writes its address in memory");
    }
  }

 private:
  bool put_list(const Value& v) {
    const bool tuple = v.is(Kind::kTuple);
    const uint8_t from = v.from();
    if (!m_.put(tuple ? "(" : "[", from)) return false;
    for (uint32_t i = 0; i < v.n; ++i)
      if ((i && !m_.put(", ", from)) || !put(v.items[i])) return false;
    return m_.put(!tuple ? "]" : v.n == 1 ? ",)" : ")", from);
  }
  bool put_dict(const Value& v) {
    const bool view = v.is(Kind::kView), keys = !view || v.depth != kValues, values = !view || v.depth != kKeys,
               pair = view && keys && values;
    const uint8_t from = v.from();
    if (view ? !m_.put(type_name(v), from) || !m_.put("([", from) : !m_.put("{", from)) return false;
    for (uint32_t i = 0; i < v.dict->n; ++i) {
      const Value* const entry = v.dict->entries + 2 * size_t{i};
      if ((i && !m_.put(", ", from)) || (pair && !m_.put("(", from)) || (keys && !put(entry[0])) ||
          (keys && values && !m_.put(pair ? ", " : ": ", from)) || (values && !put(entry[1])) || (pair && !m_.put(")", from)))
        return false;
    }
    return m_.put(view ? "])" : "}", from);
  }
  struct Around {
    const Namespace* space;
    const Around* around;
  };
  bool put_namespace(const Value& v) {
    const Namespace& space = *v.space;
    for (const Around* a = around_; a; a = a->around)
      if (a->space == &space) return m_.put("<Namespace {...}>", 0);
    const Around here = {&space, around_};
    around_ = &here;
    if (!m_.put("<Namespace {", 0)) return false;
    for (uint32_t i = 0; i < space.n; ++i)
      if ((i && !m_.put(", ", 0)) || !put(space.names[i]) || !m_.put(": ", 0) || !put(space.values[i])) return false;
    around_ = here.around;
    return m_.put("}>", 0);
  }

  Machine& m_;
  bool ascii_;
  uint32_t depth_ = 0;
  const Around* around_ = nullptr;  // the namespaces that are being printed
};

// json.dumps. Lists and dicts alone hold others, at most kMaxNesting deep.
struct Json {
  Machine& m;
  bool ascii, sort;
  Value indent;  // what a level is moved in by: blanks, a text, or missing: all on one line
  Value between, behind_key;

  bool put(const Value& v, uint32_t level) {
    if (!m.spend(1)) return false;
    switch (v.kind) {
      case Kind::kText:
        return put_text(v);
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
      case Kind::kBig:
        return put_scalar(v);
      case Kind::kList:
      case Kind::kTuple:
        return put_list(v, level);
      case Kind::kDict:
        return put_dict(v, level);
      default:
        return m.fail("a ", type_name(v), " cannot be written as JSON");
    }
  }
  bool put_text(const Value& t) {
    const uint8_t from = any_from(t);
    const auto escape = [all = ascii](uint32_t code, char* room) -> std::string_view {
      switch (code) {
        case '"':
          return "\\\"";
        case '\\':
          return "\\\\";
        case '\n':
          return "\\n";
        case '\r':
          return "\\r";
        case '\t':
          return "\\t";
        case '\b':
          return "\\b";
        case '\f':
          return "\\f";
      }
      if (code >= ' ' && (!all || code < 0x7F)) return {};
      if (code < 0x10000) return code_escape('u', code, 4, room);
      code_escape('u', 0xD7C0 + (code >> 10), 4, room);
      code_escape('u', 0xDC00 | (code & 0x3FF), 4, room + 6);
      return {room, 12};
    };
    return m.put("\"", from) && put_escaped(m, t, escape) && m.put("\"", from);
  }
  bool put_scalar(const Value& v) {
    const uint8_t from = v.from();
    if (v.is(Kind::kNone)) return m.put("null", from);
    if (v.is(Kind::kBool)) return m.put(v.integer ? "true" : "false", from);
    if (v.is(Kind::kInt)) return m.put_integer(v.integer, from);
    if (v.is(Kind::kBig)) return m.put(v.view(), from);
    if (v.real != v.real) return m.put("NaN", from);
    if (v.real - v.real != 0) return m.put(v.real < 0 ? "-Infinity" : "Infinity", from);
    return put_float(m, v.real, 'r', 0, 0, from);
  }
  // What a template gives to stand in a list is the list's where that is the conversation's.
  bool put_mark(const Value& t, uint8_t from) { return from ? m.put(t.view(), from) : m.put(t); }
  bool new_line(uint32_t level, uint8_t from) {
    if (indent.is(Kind::kMissing)) return true;
    if (!m.put("\n", from)) return false;
    if (!indent.is_text()) return indent.integer <= 0 || put_fill(m, " ", static_cast<uint64_t>(indent.integer) * level, from);
    for (uint32_t i = 0; i < level; ++i)
      if (!put_mark(indent, from)) return false;
    return true;
  }
  bool put_list(const Value& v, uint32_t level) {
    const uint8_t from = v.from();
    if (!v.n) return m.put("[]", from);
    if (!m.put("[", from)) return false;
    for (uint32_t i = 0; i < v.n; ++i)
      if ((i && !put_mark(between, from)) || !new_line(level + 1, from) || !put(v.items[i], level + 1)) return false;
    return new_line(level, from) && m.put("]", from);
  }
  bool put_dict(const Value& v, uint32_t level) {
    const uint8_t from = v.from();
    if (!v.n) return m.put("{}", from);
    const uint32_t* order = nullptr;
    if (!m.put("{", from) || (sort && !order_keys(*v.dict, &order))) return false;
    for (uint32_t i = 0; i < v.n; ++i) {
      const Value* const entry = v.dict->entries + 2 * size_t{order ? order[i] : i};
      if ((i && !put_mark(between, from)) || !new_line(level + 1, from) || !put_key(entry[0]) || !put_mark(behind_key, from) ||
          !put(entry[1], level + 1))
        return false;
    }
    return new_line(level, from) && m.put("}", from);
  }
  bool put_key(const Value& key) {
    if (key.is_text()) return put_text(key);
    if (!key.is_number() && !key.is(Kind::kNone)) return m.fail("a ", type_name(key), " cannot be a key in JSON");
    return m.put("\"", key.from()) && put_scalar(key) && m.put("\"", key.from());
  }
  // The entries by key, by heap sort.
  bool order_keys(const Dict& d, const uint32_t** out) {
    uint32_t* const at = static_cast<uint32_t*>(m.take(d.n * sizeof(uint32_t)));
    if (!at) return false;
    for (uint32_t i = 0; i < d.n; ++i) at[i] = i;
    const auto less = [this, &d](uint32_t a, uint32_t b, bool* yes) {
      int order = 0;
      if (!chat::order(m, d.entries[2 * size_t{a}], d.entries[2 * size_t{b}], &order)) return false;
      *yes = order == -1;
      return true;
    };
    const auto sink = [at, &less](size_t top, size_t n) {
      for (size_t child; (child = 2 * top + 1) < n; top = child) {
        bool yes = false;
        if (child + 1 < n) {
          if (!less(at[child], at[child + 1], &yes)) return false;
          child += yes;
        }
        if (!less(at[top], at[child], &yes)) return false;
        if (!yes) break;
        const uint32_t held = at[top];
        at[top] = at[child], at[child] = held;
      }
      return true;
    };
    for (size_t i = d.n / 2; i-- > 0;)
      if (!sink(i, d.n)) return false;
    for (size_t n = d.n; n-- > 1;) {
      const uint32_t held = at[0];
      at[0] = at[n], at[n] = held;
      if (!sink(0, n)) return false;
    }
    *out = at;
    return true;
  }
};

}  // namespace

bool put_fill(Machine& m, std::string_view one, uint64_t times, uint8_t from) {
  char block[64];
  size_t n = 0;
  for (; n < times && (n + 1) * one.size() <= sizeof block; ++n) std::memcpy(block + n * one.size(), one.data(), one.size());
  for (; times; times -= n) {
    if (times < n) n = static_cast<size_t>(times);
    if (!m.put({block, n * one.size()}, from)) return false;
  }
  return true;
}

bool put_str(Machine& m, const Value& v) {
  if (v.is_text()) return m.put(v);
  if (v.is(Kind::kUndefined) || v.is(Kind::kMissing)) return true;
  return put_repr(m, v);
}

bool put_repr(Machine& m, const Value& v) { return Printer(m, false).put(v); }
bool put_ascii(Machine& m, const Value& v) { return Printer(m, true).put(v); }

bool to_text(Machine& m, const Value& v, Value* out) {
  if (v.is_text()) {
    *out = v;
    out->flags = v.from();
    return true;
  }
  const size_t mark = m.mark();
  return put_str(m, v) && m.finish(mark, out);
}

bool to_json(Machine& m, const Value& v, bool ascii, const Value& indent, const Value& separators, bool sort_keys, Value* out) {
  Json json = {m, ascii, sort_keys, {}, text(", "), text(": ")};
  if (!indent.is(Kind::kMissing) && !indent.is(Kind::kNone)) {
    if (indent.is(Kind::kUndefined)) return undefined_error(m, indent);
    if (!indent.is_integer() && !indent.is_text()) return m.fail("tojson cannot indent by a ", type_name(indent));
    json.indent = indent;
    if (!indent.is_text() && indent.integer > INT32_MAX) json.indent.integer = INT32_MAX;  // no text is that long
    json.between = text(",");
  }
  if (!separators.is(Kind::kMissing) && !separators.is(Kind::kNone)) {
    Value two;
    if (!to_list(m, separators, &two)) return false;
    if (two.n != 2 || !two.items[0].is_text() || !two.items[1].is_text()) return m.fail("separators of tojson are two texts");
    json.between = two.items[0], json.behind_key = two.items[1];
  }
  const size_t mark = m.mark();
  return json.put(v, 0) && m.finish(mark, out);
}

bool escape(Machine& m, const Value& v, Value* out) {
  if (v.is_text() && find_one_of(v.view(), "&<>'\"") == kNowhere) {
    *out = v;
  } else if (!v.is_text() || !(v.flags & kMarkup)) {
    Value t;
    if (!to_text(m, v, &t)) return false;
    const size_t mark = m.mark();
    const auto entity = [](uint32_t code, char*) -> std::string_view {
      return code == '&' ? "&amp;" : code == '<' ? "&lt;" : code == '>' ? "&gt;" : code == '\'' ? "&#39;" : code == '"' ? "&#34;" : "";
    };
    if (!put_escaped(m, t, entity) || !m.finish(mark, out)) return false;
  } else {
    *out = v;
  }
  out->flags |= kMarkup;
  return true;
}

}  // namespace linnet::chat
