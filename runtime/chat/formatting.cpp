// Python's three ways to format: "%..." % v, str.format, and format(v, spec). What a format says itself has the origin that it has in the
// format; what a value becomes has the value's.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

constexpr int64_t kMaxWidth = INT32_MAX;  // larger ones are as good as this one: no text is that long

bool too_wide(Machine& m) { return m.fail("a width or precision in a format is too large"); }
uint8_t from_at(const Value& t, size_t at) { return t.marks && at < t.n ? t.marks[at] : t.from(); }
bool is_figure(char c) { return c >= '0' && c <= '9'; }

// A number in a text from *at on; what is beyond kMaxWidth stays there. Returns how many digits it has.
size_t read_digits(std::string_view s, size_t* at, int64_t* out) {
  const size_t begin = *at;
  int64_t v = 0;
  for (; *at < s.size() && is_figure(s[*at]); ++*at) v = v < kMaxWidth ? v * 10 + (s[*at] - '0') : v;
  if (*at > begin) *out = v < kMaxWidth ? v : kMaxWidth;
  return *at - begin;
}

// Where a value stands: how wide, on which side (<, >, ^, or = for zeros behind the sign), and what fills the rest.
struct Field {
  int64_t width = 0;
  char align = 0;
  std::string_view fill = " ";
  uint8_t fill_from = 0;
  size_t before(size_t rest) const { return align == '>' || align == '=' ? rest : align == '^' ? rest / 2 : 0; }
};

bool put_field(Machine& m, const Field& f, const Value& t) {
  const size_t n = f.width > 0 ? count_chars(t) : 0, rest = static_cast<size_t>(f.width) > n ? static_cast<size_t>(f.width) - n : 0;
  const size_t before = f.before(rest);
  return put_fill(m, f.fill, before, f.fill_from) && m.put(t) && put_fill(m, f.fill, rest - before, f.fill_from);
}

// The parts of a number: a sign or 0, "0x", the digits that may be grouped, what stands behind them.
struct Number {
  char sign = 0;
  std::string_view prefix, digits, rest;
  char comma = 0;  // between groups
  uint32_t group = 3;
  uint8_t from = 0;
};

bool put_number(Machine& m, const Field& f, const Number& v) {
  const size_t width = static_cast<size_t>(f.width), fixed = (v.sign != 0) + v.prefix.size() + v.rest.size();
  if (width > m.out_bytes) return put_fill(m, f.fill, width, 0);  // which says that it is too long
  // Zeros that fill are grouped as the digits are.
  size_t digits = v.digits.size(), commas = 0;
  if (v.comma && digits) {
    if (f.fill == "0" && f.align == '=') {
      while (fixed + digits + (digits - 1) / v.group < width) ++digits;
    }
    commas = (digits - 1) / v.group;
  }
  const size_t n = fixed + digits + commas, rest = width > n ? width - n : 0, before = f.before(rest);
  const uint8_t fill_from = f.fill_from | v.from;
  if (f.align != '=' && !put_fill(m, f.fill, before, fill_from)) return false;
  if ((v.sign && !m.put({&v.sign, 1}, v.from)) || !m.put(v.prefix, v.from)) return false;
  if (f.align == '=' && !put_fill(m, f.fill, rest, fill_from)) return false;
  if (commas || digits > v.digits.size()) {
    const size_t zeros = digits - v.digits.size();
    for (size_t i = 0; i < digits; ++i) {
      if (i && (digits - i) % v.group == 0 && !m.put({&v.comma, 1}, v.from)) return false;
      if (!m.put(i < zeros ? std::string_view("0") : cut(v.digits, i - zeros, 1), v.from)) return false;
    }
    if (!m.spend(digits)) return false;
  } else if (!m.put(v.digits, v.from)) {
    return false;
  }
  return m.put(v.rest, v.from) && (f.align == '=' || put_fill(m, f.fill, rest - before, fill_from));
}

// The digits of an integer in a base; "x" and "X" are 16.
struct Digits {
  char room[64];
  std::string_view view;
  bool negative;
};
bool digits_of(Machine& m, const Value& v, char kind, Digits* out) {
  if (v.is(Kind::kBig)) {
    if (kind == 'b' || kind == 'o' || kind == 'x' || kind == 'X')
      return m.fail("an integer beyond 64 bits cannot be written with '", kind, "'");
    out->negative = v.text[0] == '-';
    out->view = cut(v.view(), out->negative);
    return true;
  }
  const uint32_t base = kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'x' || kind == 'X' ? 16 : 10;
  out->negative = v.integer < 0;
  uint64_t rest = out->negative ? uint64_t{0} - static_cast<uint64_t>(v.integer) : static_cast<uint64_t>(v.integer);
  size_t at = sizeof out->room;
  const char* const figures = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  do out->room[--at] = figures[rest % base];
  while (rest /= base);
  out->view = {out->room + at, sizeof out->room - at};
  return true;
}

std::string_view prefix_of(char kind) { return kind == 'b' ? "0b" : kind == 'o' ? "0o" : kind == 'x' ? "0x" : kind == 'X' ? "0X" : ""; }
char sign_of(bool negative, char asked) { return negative ? '-' : asked == '-' ? '\0' : asked; }

bool to_real(Machine& m, const Value& v, double* out) {
  *out = v.is(Kind::kFloat) ? v.real : static_cast<double>(v.is(Kind::kBig) ? 0 : v.integer);
  if (!v.is(Kind::kBig)) return true;
  read_float(v.view(), out);
  return *out - *out == 0 || m.fail("an integer is too large for a float");
}

bool to_char(Machine& m, const Value& v, char (&room)[4], std::string_view* out) {
  if (!v.is_integer() || v.integer < 0 || v.integer > 0x10FFFF) return m.fail("a character of code 0 to 0x10ffff is needed");
  if (v.integer >= 0xD800 && v.integer < 0xE000) return m.fail("half a surrogate pair is no character");
  const size_t mark = m.mark();
  if (!m.put_char(static_cast<uint32_t>(v.integer), 0)) return false;
  *out = {room, m.mark() - mark};
  std::memcpy(room, m.out + mark, m.mark() - mark);
  m.drop(mark);
  return true;
}

// A float without its sign in the parts of a Number; the text lives in the run's memory.
bool float_parts(Machine& m, double v, char kind, uint32_t precision, uint32_t flags, bool percent, Number* out) {
  Value t;
  const size_t mark = m.mark();
  if (!put_float(m, v, kind, precision, flags, 0) || (percent && !m.put("%", 0)) || !m.finish(mark, &t)) return false;
  std::string_view s = t.view();
  if (s[0] == '-') out->sign = '-', s = cut(s, 1);
  size_t n = 0;
  while (n < s.size() && is_figure(s[n])) ++n;
  out->digits = cut(s, 0, n), out->rest = cut(s, n);
  return true;
}

// ---- format(v, spec)

struct Spec {
  Field field;
  bool alternate = false, no_negative_zero = false;
  char sign = '-';
  bool sign_given = false;
  char comma = 0;
  int64_t precision = -1;
  char type = 0;
};

bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

bool read_spec(Machine& m, const Value& spec, char align, Spec* out) {
  const std::string_view s = spec.view();
  size_t at = 0;
  const auto take = [&s, &at](char c) { return at < s.size() && s[at] == c && ++at; };
  bool filled = false;
  const size_t first = s.empty() ? 0 : next_char(s.data(), s.size()).bytes;
  out->field.fill_from = from_at(spec, 0);
  if (first < s.size() && is_align(s[first])) {
    out->field.fill = cut(s, 0, first), out->field.align = s[first];
    filled = true, at = first + 1;
  } else if (!s.empty() && is_align(s[0])) {
    out->field.align = s[at++];
  }
  if (at < s.size() && (s[at] == '+' || s[at] == '-' || s[at] == ' ')) out->sign = s[at++], out->sign_given = true;
  out->no_negative_zero = take('z');
  out->alternate = take('#');
  if (!filled) out->field.fill_from = from_at(spec, at < s.size() ? at : 0);
  if (!filled && take('0')) {
    out->field.fill = "0";
    if (!out->field.align && align == '>') out->field.align = '=';
  }
  if (!out->field.align) out->field.align = align;
  read_digits(s, &at, &out->field.width);
  if (take(',')) out->comma = ',';
  if (take('_')) {
    if (out->comma) return m.fail("a format spec has both ',' and '_'");
    out->comma = '_';
  }
  if (take(',')) return m.fail("a format spec has both ',' and '_'");
  if (take('.') && !read_digits(s, &at, &out->precision)) return m.fail("a format spec without digits behind the point: '", s, "'");
  if (at < s.size()) out->type = s[at++];
  if (at < s.size() || (at && s[at - 1] == '\0')) return m.fail("not a format spec: '", s, "'");
  constexpr std::string_view kGrouped = "defgEG%F";
  if (out->comma && out->type && !has(kGrouped, out->type) && (out->comma == ',' || !has("boxX", out->type)))
    return m.fail("'", out->comma, "' does not go with format type '", out->type, "'");
  return true;
}

bool unknown_type(Machine& m, const Spec& s, const Value& v) { return m.fail("format type '", s.type, "' is not for a ", type_name(v)); }

bool put_text_spec(Machine& m, const Value& v, const Value& spec) {
  Spec s;
  if (!read_spec(m, spec, '<', &s)) return false;
  if (s.type && s.type != 's') return unknown_type(m, s, v);
  if (s.sign_given || s.no_negative_zero || s.alternate || s.field.align == '=' || s.comma)
    return m.fail("a format spec for numbers, of a str: '", spec.view(), "'");
  const size_t n = s.precision < 0 ? v.n : char_place(v, static_cast<size_t>(s.precision));
  return put_field(m, s.field, part(v, 0, n));
}

bool put_float_spec(Machine& m, const Value& v, const Spec& s) {
  char kind = s.type;
  double d = 0;
  if (!to_real(m, v, &d)) return false;
  uint32_t flags = 0;
  if (s.alternate) flags |= kFloatPoint;
  if (s.no_negative_zero) flags |= kFloatNoNegativeZero;
  int64_t precision = s.precision;
  if (!kind) {
    kind = precision < 0 ? 'r' : 'g';
    flags |= kFloatZero;
  } else if (kind == 'n') {
    kind = 'g';
  } else if (kind == '%') {
    kind = 'f', d *= 100;
  } else if (!has("eEfFgG", kind)) {
    return unknown_type(m, s, v);
  }
  if (precision < 0) precision = 6;
  if (precision == kMaxWidth) return too_wide(m);
  Number n;
  n.comma = s.comma, n.from = v.from();
  if (!float_parts(m, d, kind, static_cast<uint32_t>(precision), flags, s.type == '%', &n)) return false;
  n.sign = sign_of(n.sign == '-', s.sign);
  return put_number(m, s.field, n);
}

bool put_integer_spec(Machine& m, const Value& v, const Spec& s) {
  if (has("eEfFgG%", s.type ? s.type : 'd')) return put_float_spec(m, v, s);
  if (s.precision >= 0) return m.fail("a precision is not for an int");
  if (s.no_negative_zero) return m.fail("'z' is not for an int");
  Number n;
  n.from = v.from(), n.comma = s.comma;
  Digits digits;
  char room[4];
  if (s.type == 'c') {
    if (s.sign_given || s.alternate) return m.fail("format type 'c' has no sign and no '#'");
    if (!to_char(m, v, room, &n.rest)) return false;
    // Its bytes are one character.
    Field field = s.field;
    if (field.width > 0) field.width += static_cast<int64_t>(n.rest.size()) - 1;
    return put_number(m, field, n);
  }
  if (s.type && !has("bdnoxX", s.type)) return unknown_type(m, s, v);
  if (!digits_of(m, v, s.type ? s.type : 'd', &digits)) return false;
  n.digits = digits.view, n.sign = sign_of(digits.negative, s.sign);
  if (s.alternate) n.prefix = prefix_of(s.type);
  if (!prefix_of(s.type).empty()) n.group = 4;
  return put_number(m, s.field, n);
}

// ---- "%..." % v

struct Percent {
  Machine& m;
  const Value& format;
  const Value* items;  // what is not taken yet
  uint32_t n;
  const Value* mapping;
  bool markup;
  size_t at = 0;

  bool next(Value* out) {
    if (!n) return m.fail("more places in a format than values for it: '", format.view(), "'");
    *out = *items++;
    --n;
    return true;
  }
  bool more() const { return at < format.n; }
  char peek() const { return format.text[at]; }

  // "*" or digits.
  bool number(int64_t* out) {
    if (more() && peek() == '*') {
      ++at;
      Value v;
      if (!next(&v)) return false;
      if (markup || !v.is_integer()) return m.fail("'*' in a format takes an int, not a ", type_name(v));
      *out = v.integer;
    } else {
      read_digits(format.view(), &at, out);
    }
    return (*out < kMaxWidth && *out > -kMaxWidth) || too_wide(m);
  }

  Value keyed;  // what "(name)" gave
  bool key() {
    const size_t begin = ++at;
    for (uint32_t open = 1; open; ++at) {
      if (!more()) return m.fail("a format whose '%(' does not end: '", format.view(), "'");
      open += peek() == '(';
      open -= peek() == ')';
    }
    const Value name = part(format, begin, at - 1 - begin);
    if (!mapping) return m.fail("'%(", name.view(), ")' takes a dict");
    if (mapping->is(Kind::kUndefined)) return undefined_error(m, *mapping);
    const Value* const v = mapping->is(Kind::kDict) ? find(m, *mapping->dict, name) : nullptr;
    if (!v) return m.fail("a ", type_name(*mapping), " has no '", name.view(), "' for a format");
    keyed = *v;
    items = &keyed, n = 1;
    return true;
  }

  bool place() {
    const uint8_t from = from_at(format, at++);
    if (more() && peek() == '%') return m.put(part(format, at++, 1));
    if (more() && peek() == '(' && !key()) return false;
    bool left = false, zero = false, alternate = false, plus = false, blank = false;
    for (; more(); ++at) {
      const char c = peek();
      if (c != '-' && c != '+' && c != ' ' && c != '#' && c != '0') break;
      left |= c == '-', plus |= c == '+', blank |= c == ' ', alternate |= c == '#', zero |= c == '0';
    }
    Field field;
    field.fill_from = from;
    int64_t precision = -1;
    if (!number(&field.width)) return false;
    if (field.width < 0) left = true, field.width = -field.width;
    if (more() && peek() == '.') {
      ++at;
      precision = 0;
      if (!number(&precision)) return false;
      if (precision < 0) precision = 0;
    }
    if (more() && (peek() == 'h' || peek() == 'l' || peek() == 'L')) ++at;
    if (!more()) return m.fail("a format that ends within a '%': '", format.view(), "'");
    const Char c = next_char(format.text + at, format.n - at);
    const Value kind_text = part(format, at, c.bytes);
    char kind = c.bytes == 1 ? peek() : '\0';
    at += c.bytes;
    field.align = left ? '<' : '>';
    Value v;
    if (!next(&v)) return false;
    if (kind == 's' || kind == 'r' || kind == 'a') return put_text_of(v, kind, field, precision);
    if (kind == 'c') {
      char room[4];
      Value t = v;
      if (v.is_text() && !markup) {
        if (count_chars(v) != 1) return m.fail("'%c' takes one character");
      } else {
        std::string_view s;
        if (markup || !v.is_integer()) return m.fail("'%c' takes an int or a character, not a ", type_name(v));
        if (!to_char(m, v, room, &s)) return false;
        t = text(s, v.from());
      }
      return put_field(m, field, t);
    }
    if (zero && !left) field.fill = "0", field.align = '=';
    Number number;
    number.from = v.from();
    const char sign = plus ? '+' : blank ? ' ' : '-';
    if (kind == 'i' || kind == 'u') kind = 'd';
    if (kind == 'd' || kind == 'o' || kind == 'x' || kind == 'X') return put_whole(v, kind, field, precision, alternate, sign, &number);
    if (!kind || !has("eEfFgG", kind)) return m.fail("'%", kind_text.view(), "' in a format is not known");
    if (!check_number(v, kind)) return false;
    double d = 0;
    uint32_t flags = 0;
    if (alternate) flags |= kFloatPoint;
    if (!to_real(m, v, &d) || !float_parts(m, d, kind, static_cast<uint32_t>(precision < 0 ? 6 : precision), flags, false, &number))
      return false;
    number.sign = sign_of(number.sign == '-', sign);
    return put_number(m, field, number);
  }

  bool check_number(const Value& v, char kind) {
    if (v.is(Kind::kUndefined)) return undefined_error(m, v);
    return v.is_number() || m.fail("'%", kind, "' takes a number, not a ", type_name(v));
  }

  bool put_text_of(const Value& v, char kind, const Field& field, int64_t precision) {
    Value t;
    if (kind == 's') {
      if (!(markup ? escape(m, v, &t) : to_text(m, v, &t))) return false;
    } else {
      const size_t mark = m.mark();
      if (!(kind == 'r' ? put_repr(m, v) : put_ascii(m, v)) || !m.finish(mark, &t)) return false;
      if (markup && !escape(m, t, &t)) return false;
    }
    return put_field(m, field, part(t, 0, precision < 0 ? t.n : char_place(t, static_cast<size_t>(precision))));
  }

  bool put_whole(const Value& v, char kind, const Field& field, int64_t precision, bool alternate, char sign, Number* number) {
    if (!check_number(v, kind)) return false;
    if (kind != 'd' && (v.is(Kind::kFloat) || markup)) return m.fail("'%", kind, "' takes an int");
    Value whole = v;
    if (v.is(Kind::kFloat)) {
      if (v.real - v.real != 0) return m.fail("'%d' takes no number that is not finite");
      if (v.real > -9e18 && v.real < 9e18) {
        whole = integer(static_cast<int64_t>(v.real));
      } else {
        // So large that it is whole.
        const size_t mark = m.mark();
        if (!put_float(m, v.real, 'f', 0, 0, 0) || !m.finish(mark, &whole)) return false;
        whole.kind = Kind::kBig;
      }
    }
    Digits digits;
    if (!digits_of(m, whole, kind, &digits)) return false;
    number->sign = sign_of(digits.negative, sign);
    number->digits = digits.view;
    if (alternate) number->prefix = prefix_of(kind);
    if (precision <= static_cast<int64_t>(digits.view.size())) return put_number(m, field, *number);
    // A precision says how many digits there are at least.
    Value t;
    const size_t mark = m.mark();
    if (!put_fill(m, "0", static_cast<uint64_t>(precision) - digits.view.size(), 0) || !m.put(digits.view, 0) || !m.finish(mark, &t))
      return false;
    number->digits = t.view();
    return put_number(m, field, *number);
  }
};

// ---- str.format

struct Formatter {
  Machine& m;
  const Args& args;
  bool markup;
  int64_t automatic = 0;  // the number of the next "{}"; -1: they have numbers

  bool broken(const Value& t, const char* what) { return m.fail(what, " in the format '", t.view(), "'"); }

  // The value of "name", "0", "0.a[b]".
  bool field(const Value& t, size_t begin, size_t end, Value* out) {
    size_t at = begin;
    while (at < end && t.text[at] != '.' && t.text[at] != '[') ++at;
    const std::string_view first = cut(t.view(), begin, at - begin);
    int64_t number = -1;
    size_t n = 0;
    read_digits(first, &n, &number);
    if (first.empty() && at == end) {
      if (automatic < 0) return broken(t, "'{}' beside places with numbers");
      number = automatic++;
    } else if (n == first.size() && at == end) {
      if (automatic > 0) return broken(t, "places with numbers beside '{}'");
      automatic = -1;
    }
    const Value* found = nullptr;
    if (number >= 0 && n == first.size()) {
      if (static_cast<uint64_t>(number) < args.n) found = args.values + number;
    } else {
      for (uint32_t i = 0; i < args.n_named && !found; ++i)
        if (args.named[2 * size_t{i}].view() == first) found = args.named + 2 * size_t{i} + 1;
    }
    if (!found) return m.fail("no value for '{", cut(t.view(), begin, end - begin), "}' of a format");
    Value v = *found;
    while (at < end) {
      const bool attribute = t.text[at] == '.';
      if (!attribute && t.text[at] != '[') return broken(t, "neither '.' nor '[' behind a ']'");
      size_t stop = ++at;
      while (stop < end && (attribute ? t.text[stop] != '.' && t.text[stop] != '[' : t.text[stop] != ']')) ++stop;
      if (!attribute && stop == end) return broken(t, "a '[' without ']'");
      if (stop == at) return broken(t, "an empty name");
      const Value name = part(t, at, stop - at);
      number = -1;
      size_t digits = 0;
      read_digits(name.view(), &digits, &number);
      const Value of = v;
      if (attribute) {
        if (!get_attribute(m, of, name.view(), &v)) return false;
      } else if (!get_item(m, of, digits == name.n ? integer(number) : name, &v)) {
        return false;
      }
      at = attribute ? stop : stop + 1;
    }
    *out = v;
    return true;
  }

  bool put_value(const Value& t, const Value& v, uint32_t conversion, const Value& spec) {
    Value shown = v;
    if (conversion == 'r' || conversion == 'a') {
      const size_t mark = m.mark();
      if (!(conversion == 'r' ? put_repr(m, v) : put_ascii(m, v)) || !m.finish(mark, &shown)) return false;
    } else if (conversion == 's') {
      if (!to_text(m, v, &shown)) return false;
    } else if (conversion) {
      return broken(t, "a conversion that is none of '!s', '!r', '!a'");
    }
    if (markup && shown.is_text() && (shown.flags & kMarkup)) {
      if (spec.n) return broken(t, "a format spec for a markup");
      return m.put(shown);
    }
    Value text;
    if (!format_spec(m, shown, spec, &text)) return false;
    return (!markup || escape(m, text, &text)) && m.put(text);
  }

  // Writes t; `levels` more may lie in its format specs.
  bool run(const Value& t, uint32_t levels) {
    const std::string_view s = t.view();
    if (!m.spend(1 + s.size() / 8)) return false;
    for (size_t at = 0; at < s.size();) {
      const size_t brace = find_one_of(s, "{}", at), end = brace == kNowhere ? s.size() : brace;
      if (!m.put(part(t, at, end - at))) return false;
      if (end == s.size()) break;
      at = end + 1;
      if (at < s.size() && s[at] == s[end]) {
        if (!m.put(part(t, at, 1))) return false;
        ++at;
        continue;
      }
      if (s[end] == '}') return broken(t, "a single '}'");
      // The name ends at "!", ":" or "}", which may lie in its brackets.
      const size_t name = at;
      for (; at < s.size() && s[at] != '}' && s[at] != ':' && s[at] != '!'; ++at) {
        if (s[at] == '{') return broken(t, "'{' in a name");
        if (s[at] == '[') at = find_in(s, ']', at);
        if (at == kNowhere) break;
      }
      if (at >= s.size()) return broken(t, "a '{' without '}'");
      const size_t name_end = at;
      uint32_t conversion = 0;
      Value spec = part(t, at, 0);
      if (s[at] == '!') {
        if (++at == s.size()) return broken(t, "an end behind '!'");
        const Char c = next_char(s.data() + at, s.size() - at);
        conversion = c.code;
        at += c.bytes;
        if (at == s.size()) return broken(t, "a '{' without '}'");
        if (s[at] != '}' && s[at] != ':') return broken(t, "neither ':' nor '}' behind a conversion");
      }
      if (s[at] == ':') {
        const size_t begin = ++at;
        for (uint32_t open = 1; at < s.size(); ++at) {
          open += s[at] == '{';
          open -= s[at] == '}';
          if (!open) break;
        }
        if (at == s.size()) return broken(t, "a '{' without '}'");
        spec = part(t, begin, at - begin);
      }
      ++at;
      Value v;
      if (!field(t, name, name_end, &v)) return false;
      if (spec.n && find_one_of(spec.view(), "{}") != kNowhere) {
        if (!levels) return broken(t, "format specs nested too deep");
        const size_t mark = m.mark();
        if (!run(spec, levels - 1) || !m.finish(mark, &spec)) return false;
      }
      if (!put_value(t, v, conversion, spec)) return false;
    }
    return true;
  }
};

}  // namespace

bool format_spec(Machine& m, const Value& v, const Value& spec, Value* out) {
  if (!spec.n) return to_text(m, v, out);
  const size_t mark = m.mark();
  if (v.is_text()) return put_text_spec(m, v, spec) && m.finish(mark, out);
  if (!v.is_number()) return m.fail("a ", type_name(v), " takes no format spec: '", spec.view(), "'");
  Spec s;
  if (!read_spec(m, spec, '>', &s)) return false;
  return (v.is(Kind::kFloat) ? put_float_spec(m, v, s) : put_integer_spec(m, v, s)) && m.finish(mark, out);
}

bool percent(Machine& m, const Value& format, const Value& v, Value* out) {
  const bool tuple = v.is(Kind::kTuple);
  // What Python can ask for an item, but for tuples and texts.
  const bool mapping = v.is(Kind::kDict) || v.is(Kind::kList) || v.is(Kind::kRange) || v.is(Kind::kUndefined);
  const bool markup = (format.flags & kMarkup) != 0;
  Percent p = {m, format, tuple ? v.items : &v, tuple ? v.n : 1, mapping ? &v : nullptr, markup, 0, {}};
  const size_t mark = m.mark();
  const std::string_view s = format.view();
  if (!m.spend(1 + s.size() / 8)) return false;
  while (p.at < s.size()) {
    const size_t sign = find_in(s, '%', p.at), end = sign == kNowhere ? s.size() : sign;
    if (!m.put(part(format, p.at, end - p.at))) return false;
    p.at = end;
    if (end < s.size() && !p.place()) return false;
  }
  if (p.n && !mapping) return m.fail("more values than places for them in the format '", s, "'");
  if (!m.finish(mark, out)) return false;
  if (markup) out->flags |= kMarkup;
  return true;
}

bool format(Machine& m, const Value& format, const Args& args, Value* out) {
  const bool markup = (format.flags & kMarkup) != 0;
  Formatter f = {m, args, markup, 0};
  const size_t mark = m.mark();
  if (!f.run(format, 1) || !m.finish(mark, out)) return false;
  if (markup) out->flags |= kMarkup;
  return true;
}

}  // namespace linnet::chat
