// What stands behind `|`: filters of numbers, and where those of lists, texts and markup are.
#include "filters.h"

#include "../../platform/utf8.h"

namespace linnet::chat {
namespace {

// ---- numbers that stand in texts

// A text as int() and float() see it: without white space around it, with ASCII digits; what cannot be in a number becomes '?'. It lies
// behind what is written, and is gone with the next text.
bool number_text(Machine& m, const Value& v, std::string_view* out) {
  const size_t mark = m.mark();
  for (size_t i = 0; i < v.n;) {
    const Char c = next_char(v.text + i, v.n - i);
    i += c.bytes;
    const int value = decimal_value(c.code);
    const bool ascii = c.code > 0x20 && c.code < 0x7F;
    const char as = value >= 0 ? static_cast<char>('0' + value) : is_space(c.code) ? ' ' : ascii ? static_cast<char>(c.code) : '?';
    if (!m.put({&as, 1}, 0)) return false;
  }
  size_t begin = mark, end = m.n_out;
  while (begin < end && m.out[begin] == ' ') ++begin;
  while (begin < end && m.out[end - 1] == ' ') --end;
  m.drop(mark);
  *out = {m.out + begin, end - begin};
  return m.spend(v.n);
}

// float(v). *known is false where Python has a TypeError or a ValueError.
bool float_of(Machine& m, const Value& v, double* out, bool* known) {
  *known = true;
  switch (v.kind) {
    case Kind::kUndefined:
      return undefined_error(m, v);
    case Kind::kBool:
    case Kind::kInt:
      *out = static_cast<double>(v.integer);
      return true;
    case Kind::kFloat:
      *out = v.real;
      return true;
    case Kind::kBig:
      if (!read_float(v.view(), out) || __builtin_isinf(*out)) return m.fail("an integer that is too large for a float");
      return true;
    case Kind::kText: {
      std::string_view s;
      if (!number_text(m, v, &s)) return false;
      *known = read_float(s, out);
      return true;
    }
    default:
      *known = false;
      return true;
  }
}

// int(d), of a number that is finite.
bool whole_of(Machine& m, double d, uint8_t from, Value* out) {
  if (d >= -9223372036854775808.0 && d < 9223372036854775808.0) {
    *out = integer(static_cast<int64_t>(d), from);
    return true;
  }
  const size_t mark = m.mark();
  if (!put_float(m, d, 'f', 0, 0, from) || !m.finish(mark, out)) return false;
  out->kind = Kind::kBig;
  return true;
}

// int(text, base). *known is false where Python has a TypeError or a ValueError.
bool int_of_text(Machine& m, const Value& v, const Value& base, Value* out, bool* known) {
  *known = false;
  if (!base.is_integer() || (base.integer != 0 && (base.integer < 2 || base.integer > 36))) return true;
  std::string_view s;
  int64_t i = 0;
  if (!number_text(m, v, &s)) return false;
  const ReadInt got = read_int(s, static_cast<uint32_t>(base.integer), &i);
  *out = integer(i, from_of(v));
  *known = got == ReadInt::kInt;
  if (got != ReadInt::kBig) return true;
  if (find_other_than(s, "+-_0123456789") != kNowhere || (base.integer != 0 && base.integer != 10))
    return m.fail("an integer beyond 64 bits that is not in base 10");
  // Its digits alone; more than these are a ValueError.
  char* const digits = static_cast<char*>(m.take(s.size()));
  if (!digits) return false;
  size_t n = 0, all = 0;
  if (s[0] == '-') digits[n++] = '-';
  const size_t sign = n;
  for (const char c : s) {
    if (c < '0' || c > '9') continue;
    ++all;
    if (c != '0' || n > sign) digits[n++] = c;
  }
  *known = all <= 4300;
  *out = text({digits, n}, from_of(v));
  out->kind = Kind::kBig;
  return true;
}

bool to_int(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2];
  if (!take_args(m, "int", args, {"default", "base"}, 0, a)) return false;
  bool known = false;
  double d = 0;
  if (v.is_integer() || v.is(Kind::kBig)) {
    *out = v;
    if (v.is(Kind::kBool)) *out = integer(v.integer, v.from());
    return true;
  }
  if (v.is_text() && !int_of_text(m, v, a[1].is(Kind::kMissing) ? integer(10) : a[1], out, &known)) return false;
  if (known) return true;
  if (!float_of(m, v, &d, &known)) return false;
  if (known && __builtin_isfinite(d)) return whole_of(m, d, from_of(v), out);
  if (v.is(Kind::kFloat) && __builtin_isinf(d)) return m.fail("an infinite float is no integer");
  *out = a[0].is(Kind::kMissing) ? integer(0) : a[0];
  return true;
}

bool to_float(Machine& m, const Value& v, const Args& args, Value* out) {
  Value otherwise;
  bool known = false;
  double d = 0;
  if (!take_args(m, "float", args, {"default"}, 0, &otherwise) || !float_of(m, v, &d, &known)) return false;
  *out = known ? real(d, from_of(v)) : otherwise.is(Kind::kMissing) ? real(0) : otherwise;
  return true;
}

bool absolute(Machine& m, const Value& v, Value* out) {
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  if (!v.is_number()) return m.fail("abs() of a ", type_name(v));
  *out = v;
  if (v.is(Kind::kFloat)) {
    out->real = __builtin_fabs(v.real);
  } else if (v.is(Kind::kBig)) {
    if (v.text[0] == '-') *out = part(v, 1, v.n - 1);
  } else if (v.integer == INT64_MIN) {
    *out = text("9223372036854775808", v.from());
    out->kind = Kind::kBig;
  } else {
    *out = integer(v.integer < 0 ? -v.integer : v.integer, v.from());
  }
  return true;
}

// ---- round

// To a multiple of 10^k, halves to the even one.
bool round_integer(Machine& m, const Value& v, int64_t k, Value* out) {
  const uint8_t from = v.from();
  const uint64_t size = v.integer < 0 ? uint64_t{0} - static_cast<uint64_t>(v.integer) : static_cast<uint64_t>(v.integer);
  if (k > 19) return *out = integer(0, from), true;
  uint64_t unit = 1;
  for (int64_t i = 0; i < k; ++i) unit *= 10;
  uint64_t n = size / unit;
  const uint64_t left = size % unit, half = unit / 2;
  if (left > half || (left == half && unit > 1 && n % 2)) ++n;
  uint64_t rounded = 0;
  if (!checked_mul(n, unit, &rounded) || rounded > (v.integer < 0 ? uint64_t{1} << 63 : (uint64_t{1} << 63) - 1)) {
    const size_t mark = m.mark();
    if ((v.integer < 0 && !m.put("-", from)) || !m.put_integer(static_cast<int64_t>(n), from)) return false;
    for (int64_t i = 0; i < k; ++i)
      if (!m.put("0", from)) return false;
    if (!m.finish(mark, out)) return false;
    out->kind = Kind::kBig;
    return true;
  }
  *out = integer(static_cast<int64_t>(v.integer < 0 ? uint64_t{0} - rounded : rounded), from);
  return true;
}

bool round_up_or_down(Machine& m, const Value& v, const Value& precision, bool up, Value* out) {
  Value scale, scaled;
  if (!binary(m, Op::kPower, integer(10), precision, &scale) || !binary(m, Op::kMultiply, v, scale, &scaled)) return false;
  if (!scaled.is_number()) return m.fail("a ", type_name(scaled), " has no ", up ? "ceil" : "floor");
  if (scaled.is(Kind::kFloat)) {
    if (!__builtin_isfinite(scaled.real)) return m.fail("a float that is not finite is no integer");
    // Beyond 2^53 a float is whole.
    if (__builtin_fabs(scaled.real) < 9007199254740992.0) {
      int64_t whole = static_cast<int64_t>(scaled.real);
      whole += up ? static_cast<double>(whole) < scaled.real : -static_cast<int64_t>(static_cast<double>(whole) > scaled.real);
      scaled = integer(whole, from_of(scaled));
    }
  }
  return binary(m, Op::kDivide, scaled, scale, out);
}

bool round(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2];
  if (!take_args(m, "round", args, {"precision", "method"}, 0, a)) return false;
  const std::string_view method = a[1].is(Kind::kMissing) ? "common" : a[1].is_text() ? a[1].view() : std::string_view();
  if (method != "common" && method != "ceil" && method != "floor") return m.fail("method must be common, ceil or floor");
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  const Value precision = a[0].is(Kind::kMissing) ? integer(0) : a[0];
  if (method != "common") return round_up_or_down(m, v, precision, method == "ceil", out);
  if (!v.is_number()) return m.fail("a ", type_name(v), " cannot be rounded");
  int64_t digits = 0;
  if (!precision.is(Kind::kNone) && !take_integer(m, FilterId::kRound, precision, 0, &digits)) return false;
  if (v.is(Kind::kFloat)) {
    double d = 0;
    if (precision.is(Kind::kNone) && !__builtin_isfinite(v.real)) return m.fail("a float that is not finite is no integer");
    if (!round_float(v.real, digits, &d)) return m.fail("a rounded number that is too large for a float");
    if (precision.is(Kind::kNone)) return whole_of(m, d, v.from(), out);
    *out = real(d, from_both(v, precision));
    return true;
  }
  *out = v;
  if (v.is(Kind::kBig)) return digits >= 0 || m.fail("an integer beyond 64 bits, which linnet does not round");
  if (digits < 0) return round_integer(m, v, digits == INT64_MIN ? INT64_MAX : -digits, out);
  *out = integer(v.integer, v.from());
  return true;
}

bool file_size(Machine& m, const Value& v, const Args& args, Value* out) {
  Value binary_units;
  double bytes = 0;
  bool known = false;
  if (!take_args(m, "filesizeformat", args, {"binary"}, 0, &binary_units) || !float_of(m, v, &bytes, &known)) return false;
  if (!known) return m.fail("filesizeformat of a ", type_name(v), " that is no number");
  const uint8_t from = from_of(v);
  const bool by_1024 = truth(binary_units);
  const double base = by_1024 ? 1024 : 1000;
  const size_t mark = m.mark();
  if (bytes == 1) {
    *out = text("1 Byte", from);
    return true;
  }
  Value number;
  if (bytes < base) {
    if (__builtin_isinf(bytes)) return m.fail("an infinite float is no integer");
    if (!whole_of(m, bytes, from, &number)) return false;
    return put_str(m, number) && m.put(" Bytes", from) && m.finish(mark, out);
  }
  static constexpr double kUnits[] = {1e6, 1e9, 1e12, 1e15, 1e18, 1e21, 1e24, 1e27};
  double unit = base;
  uint32_t i = 0;
  for (; i < 8; ++i) {
    unit = by_1024 ? unit * 1024 : kUnits[i];
    // The double 1e24 is less than what it stands for.
    if (bytes < unit || (!by_1024 && i == 6 && bytes == unit)) break;
  }
  if (i == 8) i = 7;
  const char letter = "kMGTPEZY"[i];
  const char prefix = by_1024 && i == 0 ? 'K' : letter;
  return put_float(m, base * bytes / unit, 'f', 1, 0, from) && m.put(" ", from) && m.put({&prefix, 1}, from) &&
         m.put(by_1024 ? "iB" : "B", from) && m.finish(mark, out);
}

// ---- of any value

bool attribute(Machine& m, const Value& v, const Args& args, Value* out) {
  Value name;
  bool found = false;
  if (!take_args(m, "attr", args, {"name"}, 1, &name)) return false;
  if (!name.is_text()) return m.fail("the name of an attribute must be a text, not a ", type_name(name));
  if (!v.is(Kind::kDict)) return get_attribute(m, v, name.view(), out);
  if (!find_method(m, v, name.view(), &found, out)) return false;
  if (found) return true;  // the keys of a dict are none
  *out = undefined(name.view());
  out->depth = static_cast<uint16_t>(1 + static_cast<uint16_t>(Kind::kDict));
  return true;
}

bool otherwise(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2];
  if (!take_args(m, "default", args, {"default_value", "boolean"}, 0, a)) return false;
  *out = v;
  if (v.is(Kind::kUndefined) || (truth(a[1]) && !truth(v))) *out = a[0].is(Kind::kMissing) ? text({}) : a[0];
  return true;
}

}  // namespace

bool apply_filter(Machine& m, FilterId id, const Value& v, const Args& args, Value* out) {
  switch (id) {
    case FilterId::kBatch:
    case FilterId::kDictSort:
    case FilterId::kFirst:
    case FilterId::kGroupBy:
    case FilterId::kItems:
    case FilterId::kJoin:
    case FilterId::kLast:
    case FilterId::kList:
    case FilterId::kMap:
    case FilterId::kMax:
    case FilterId::kMin:
    case FilterId::kReject:
    case FilterId::kRejectAttr:
    case FilterId::kReverse:
    case FilterId::kSelect:
    case FilterId::kSelectAttr:
    case FilterId::kSlice:
    case FilterId::kSort:
    case FilterId::kSum:
    case FilterId::kUnique:
      return filter_list(m, id, v, args, out);
    case FilterId::kCapitalize:
    case FilterId::kCenter:
    case FilterId::kFormat:
    case FilterId::kIndent:
    case FilterId::kLower:
    case FilterId::kPrettyPrint:
    case FilterId::kReplace:
    case FilterId::kString:
    case FilterId::kTitle:
    case FilterId::kToJson:
    case FilterId::kTrim:
    case FilterId::kTruncate:
    case FilterId::kUpper:
    case FilterId::kWordCount:
    case FilterId::kWordWrap:
      return filter_text(m, id, v, args, out);
    case FilterId::kE:
    case FilterId::kEscape:
    case FilterId::kForceEscape:
    case FilterId::kSafe:
    case FilterId::kStripTags:
    case FilterId::kUrlEncode:
    case FilterId::kUrlize:
    case FilterId::kXmlAttr:
      return filter_markup(m, id, v, args, out);
    case FilterId::kAbs:
      return take_args(m, "abs", args, {}, 0, nullptr) && absolute(m, v, out);
    case FilterId::kAttr:
      return attribute(m, v, args, out);
    case FilterId::kCount:
    case FilterId::kLength: {
      int64_t n = 0;
      if (!take_args(m, "len", args, {}, 0, nullptr) || !length(m, v, &n)) return false;
      *out = integer(n, from_of(v));
      return true;
    }
    case FilterId::kD:
    case FilterId::kDefault:
      return otherwise(m, v, args, out);
    case FilterId::kFileSizeFormat:
      return file_size(m, v, args, out);
    case FilterId::kFloat:
      return to_float(m, v, args, out);
    case FilterId::kInt:
      return to_int(m, v, args, out);
    case FilterId::kRandom:
      return m.fail("the filter 'random' is refused: what it gives would differ from run to run");
    case FilterId::kRound:
      return round(m, v, args, out);
    case FilterId::kEnd:
      break;
  }
  return m.fail("a filter that is not known");
}

}  // namespace linnet::chat
