// What Python's operators do with values, and its attributes, items and slices.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

bool too_big(Machine& m) { return m.fail("an integer beyond 64 bits, which linnet does not compute with"); }
bool no_operator(Machine& m, const char* sign, const Value& a, const Value& b) {
  if (a.is(Kind::kUndefined)) return undefined_error(m, a);
  if (b.is(Kind::kUndefined)) return undefined_error(m, b);
  return m.fail("a ", type_name(a), " ", sign, " a ", type_name(b), " is not possible");
}

double to_double(const Value& v) {
  double d = 0;
  if (v.is(Kind::kFloat)) return v.real;
  if (!v.is(Kind::kBig)) return static_cast<double>(v.integer);
  return read_float(v.view(), &d) ? d : 0;
}

double floor_of(double v) {
  if (!(v > -4.5e15 && v < 4.5e15)) return v;  // has no fraction
  const double whole = static_cast<double>(static_cast<int64_t>(v));
  return whole > v ? whole - 1 : whole == 0 && (v < 0 || 1 / v < 0) ? -0.0 : whole;
}

// The remainder of a / b that has a's sign, exact.
double remainder(double a, double b) {
  const double x = __builtin_fabs(a), y = __builtin_fabs(b);
  if (__builtin_isnan(a) || __builtin_isnan(b) || __builtin_isinf(a) || y == 0) return __builtin_nan("");
  double r = x;
  while (r >= y) {
    // The largest y * 2^k that is no more than r; taking it off is exact.
    double t = y;
    while (t <= r * 0.25) t *= 4;
    while (t <= r * 0.5) t *= 2;
    r -= t;
  }
  return __builtin_copysign(r, a);
}

bool floor_divide(Machine& m, const Value& a, const Value& b, bool modulo, Value* out) {
  const uint8_t from = from_both(a, b);
  if (a.is_integer() && b.is_integer()) {
    if (b.integer == 0) return m.fail("division by zero");
    if (a.integer == INT64_MIN && b.integer == -1) {
      if (!modulo) return too_big(m);
      *out = integer(0, from);
      return true;
    }
    int64_t q = a.integer / b.integer, r = a.integer % b.integer;
    if (r && (r < 0) != (b.integer < 0)) r += b.integer, --q;
    *out = integer(modulo ? r : q, from);
    return true;
  }
  const double x = to_double(a), y = to_double(b);
  if (y == 0) return m.fail("division by zero");
  double r = remainder(x, y);
  double q = (x - r) / y;
  if (r != 0) {
    if ((y < 0) != (r < 0)) r += y, q -= 1;
  } else {
    r = __builtin_copysign(0.0, y);
  }
  if (q != 0) {
    const double whole = floor_of(q);
    q = q - whole > 0.5 ? whole + 1 : whole;
  } else {
    q = __builtin_copysign(0.0, x / y);
  }
  *out = real(modulo ? r : q, from);
  return true;
}

// v ** n in twice the precision of a double, so that the last bit is right.
struct Twice {
  double hi, lo;
};
// a * b - hi, where hi is the product as a double: by Dekker's halves of 26 bits. Not by fma, which not every C library has right.
double lost(double a, double b, double hi) {
  double scale = 1;  // halves of very large numbers would not be finite
  for (double* const v : {&a, &b})
    if (*v > 0x1p900 || *v < -0x1p900) *v *= 0x1p-200, hi *= 0x1p-200, scale = 0x1p200;
  const auto half = [](double v) {
    const double t = 0x8000001 * v;
    return t - (t - v);
  };
  const double ah = half(a), bh = half(b), al = a - ah, bl = b - bh;
  return (((ah * bh - hi) + ah * bl + al * bh) + al * bl) * scale;
}
Twice times(Twice a, Twice b) {
  const double hi = a.hi * b.hi;
  if (!__builtin_isfinite(hi) || hi == 0) return {hi, 0};  // zeros keep their sign
  const double lo = lost(a.hi, b.hi, hi) + (a.hi * b.lo + a.lo * b.hi);
  const double sum = hi + lo;
  return {sum, lo - (sum - hi)};
}
double power(double v, uint64_t n) {
  Twice result = {1, 0}, base = {v, 0};
  for (; n; n >>= 1) {
    if (n & 1) result = times(result, base);
    if (n > 1) base = times(base, base);
  }
  return result.hi;
}

bool raise(Machine& m, const Value& a, const Value& b, Value* out) {
  const uint8_t from = from_both(a, b);
  if (a.is_integer() && b.is_integer() && b.integer >= 0) {
    int64_t result = 1, base = a.integer;
    for (uint64_t n = static_cast<uint64_t>(b.integer); n; n >>= 1) {
      if ((n & 1) && __builtin_mul_overflow(result, base, &result)) return too_big(m);
      if (n > 1 && __builtin_mul_overflow(base, base, &base)) return too_big(m);
    }
    *out = integer(result, from);
    return true;
  }
  const double x = to_double(a), y = to_double(b);
  double v = 0;
  if (y == 0.5 && x >= 0 && !__builtin_isinf(x)) {
    v = __builtin_sqrt(x);
  } else if (floor_of(y) == y && y > -9e15 && y < 9e15) {
    if (x == 0 && y < 0) return m.fail("0.0 cannot be raised to a negative power");
    v = power(x, static_cast<uint64_t>(__builtin_fabs(y)));
    if (y < 0) v = 1 / v;
    if (__builtin_isinf(v) && !__builtin_isinf(x)) return m.fail("a power that is too large");
  } else {
    return m.fail("** with an exponent that is no whole number is not known");
  }
  *out = real(v, from);
  return true;
}

// a / b, rounded once: as doubles integers beyond 2^53 would have been rounded before.
double quotient(int64_t a, int64_t b) {
  const auto size = [](int64_t v) { return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); };
  const uint64_t y = size(b);
  uint64_t q = size(a) / y, rest = size(a) % y;
  int32_t halves = 0;
  for (; rest && q < uint64_t{1} << 54; ++halves) {
    const bool carry = rest >> 63;
    rest <<= 1;
    q <<= 1;
    if (carry || rest >= y) rest -= y, q |= 1;
  }
  if (rest) q |= 1;
  double v = static_cast<double>(q);
  for (; halves; --halves) v *= 0.5;
  return (a < 0) != (b < 0) ? -v : v;
}

bool arithmetic(Machine& m, Op op, const Value& a, const Value& b, Value* out) {
  if (op == Op::kPower) return raise(m, a, b, out);
  if (op == Op::kFloorDivide || op == Op::kModulo) return floor_divide(m, a, b, op == Op::kModulo, out);
  const uint8_t from = from_both(a, b);
  if (op != Op::kDivide && a.is_integer() && b.is_integer()) {
    int64_t v = 0;
    const bool overflow = op == Op::kAdd        ? __builtin_add_overflow(a.integer, b.integer, &v)
                          : op == Op::kSubtract ? __builtin_sub_overflow(a.integer, b.integer, &v)
                                                : __builtin_mul_overflow(a.integer, b.integer, &v);
    if (overflow) return too_big(m);
    *out = integer(v, from);
    return true;
  }
  const double x = to_double(a), y = to_double(b);
  if (op == Op::kDivide && y == 0) return m.fail("division by zero");
  if (op == Op::kDivide && a.is_integer() && b.is_integer()) {
    *out = real(quotient(a.integer, b.integer), from);
    return true;
  }
  *out = real(op == Op::kAdd ? x + y : op == Op::kSubtract ? x - y : op == Op::kMultiply ? x * y : x / y, from);
  return true;
}

// a + b of two texts. Where a was the last thing that was made it grows in place: nobody sees behind its end.
bool join_two(Machine& m, const Value& a, const Value& b, Value* out) {
  if ((a.flags ^ b.flags) & kMarkup) {  // the plain side is escaped
    Value plain;
    if (!escape(m, a.flags & kMarkup ? b : a, &plain)) return false;
    return a.flags & kMarkup ? join_two(m, a, plain, out) : join_two(m, plain, b, out);
  }
  const uint8_t markup = a.flags & kMarkup;
  if (!a.marks && !b.marks && a.n && a.from() == b.from() && reinterpret_cast<const uint8_t*>(a.text) + a.n == m.memory + m.n_memory &&
      fits(m.n_memory, b.n, m.memory_bytes) && m.spend(b.n / 32)) {
    std::memcpy(m.memory + m.n_memory, b.text, b.n);
    m.n_memory += b.n;
    if (m.n_memory > m.peak) m.peak = m.n_memory;
    *out = a;
    out->n += b.n;
    return true;
  }
  const size_t mark = m.mark();
  if (!m.put(a) || !m.put(b) || !m.finish(mark, out)) return false;
  out->flags = static_cast<uint8_t>(out->flags | markup);
  return true;
}

bool repeat(Machine& m, const Value& v, const Value& count, Value* out) {
  if (count.is(Kind::kBig)) return m.fail("a count of ", count.view());
  const uint64_t n = count.integer > 0 ? static_cast<uint64_t>(count.integer) : 0;
  const uint8_t from = count.from();
  if (v.is_text()) {
    uint64_t bytes = 0;
    if (!checked_mul(v.n, n, &bytes) || bytes > m.out_bytes) return m.full("bytes of text", m.out_bytes);
    const size_t mark = m.mark();
    for (uint64_t i = 0; v.n && i < n; ++i)
      if (!m.put(v)) return false;
    if (from) std::memset(m.marks + mark, kData, m.n_out - mark);
    if (!m.finish(mark, out)) return false;
    out->flags = static_cast<uint8_t>(out->flags | (v.flags & kMarkup));
    return true;
  }
  uint64_t total = 0;
  if (!checked_mul(v.n, n, &total) || total > m.memory_bytes / sizeof(Value)) return m.full("bytes of values", m.memory_bytes);
  Value* const items = m.take_values(static_cast<size_t>(total));
  if (!items || !m.spend(total)) return false;
  for (size_t i = 0; i < total; ++i) items[i] = v.items[i % v.n];
  return make_list(m, v.kind, items, static_cast<size_t>(total), out);
}

int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer < b.integer ? -1 : a.integer > b.integer;
  if (a.is(Kind::kBig) && b.is(Kind::kBig)) {
    const bool minus = a.text[0] == '-';
    if (minus != (b.text[0] == '-')) return minus ? -1 : 1;
    const int digits = a.n != b.n ? (a.n < b.n ? -1 : 1) : std::memcmp(a.text, b.text, a.n);
    return digits == 0 ? 0 : (digits < 0) != minus ? -1 : 1;
  }
  if (a.is(Kind::kBig) && !b.is(Kind::kFloat)) return a.text[0] == '-' ? -1 : 1;
  if (b.is(Kind::kBig) && !a.is(Kind::kFloat)) return b.text[0] == '-' ? 1 : -1;
  const double x = to_double(a), y = to_double(b);
  if (__builtin_isnan(x) || __builtin_isnan(y)) return 2;
  if (x != y || a.is(b.kind)) return x < y ? -1 : x > y;
  // Equal as doubles, but an integer has more bits.
  const Value& i = a.is_integer() ? a : b;
  if (!i.is_integer()) return 0;
  const double d = a.is_integer() ? y : x;
  if (d >= 9223372036854775808.0) return a.is_integer() ? -1 : 1;
  const int64_t whole = static_cast<int64_t>(d);
  const int order = i.integer < whole ? -1 : i.integer > whole;
  return a.is_integer() ? order : -order;
}

bool same_range(const Range& a, const Range& b) {
  return a.n == b.n && (a.n == 0 || (a.start == b.start && (a.n == 1 || a.step == b.step)));
}

// The items of a list, the characters of a text, ... that a cut takes.
bool take_cut(Machine& m, const Value& of, const Cut& c, Value* out) {
  if (of.is(Kind::kRange)) {
    Range* const r = static_cast<Range*>(m.take(sizeof(Range)));
    int64_t step = 0;
    if (!r) return false;
    if (__builtin_mul_overflow(c.step, of.range->step, &step)) return too_big(m);
    *r = {of.range->start + c.first * of.range->step, of.range->start + c.stop * of.range->step, step, static_cast<uint32_t>(c.n)};
    *out = of;
    out->range = r;
    return true;
  }
  if (c.step == 1 && of.is_list()) {
    return make_list(m, of.kind, of.items + (c.n ? c.first : 0), c.n, out);
  }
  if (of.is_list()) {
    Value* const items = m.take_values(c.n);
    if (!items || !m.spend(c.n)) return false;
    for (size_t i = 0; i < c.n; ++i) items[i] = of.items[c.first + c.step * static_cast<int64_t>(i)];
    return make_list(m, of.kind, items, c.n, out);
  }
  if (c.step == 1) {
    const size_t begin = char_place(of, static_cast<size_t>(c.first));
    const size_t end = begin + char_place(part(of, begin, of.n - begin), c.n);
    *out = part(of, c.n ? begin : 0, c.n ? end - begin : 0);
    return m.spend(end / 32);
  }
  // Character by character, from one to the next, forwards or back.
  const size_t mark = m.mark();
  size_t at = char_place(of, static_cast<size_t>(c.n ? c.first : 0));
  for (size_t i = 0; i < c.n; ++i) {
    const uint32_t bytes = next_char(of.text + at, of.n - at).bytes;
    if (!m.put(part(of, at, bytes))) return false;
    for (int64_t k = 0; k < c.step && at < of.n; ++k) at += next_char(of.text + at, of.n - at).bytes;
    for (int64_t k = 0; k > c.step && at > 0; --k)
      while (--at > 0 && (static_cast<uint8_t>(of.text[at]) & 0xC0) == 0x80) {
      }
    const uint64_t far = static_cast<uint64_t>(c.step < 0 ? -(c.step + 1) : c.step);
    if (!m.spend((far < of.n ? far : of.n) / 32 + 1)) return false;
  }
  if (!m.finish(mark, out)) return false;
  out->flags = static_cast<uint8_t>(out->flags | (of.flags & kMarkup));
  return true;
}

bool has_items(const Value& v) { return v.is_text() || v.is_list() || v.is(Kind::kRange); }
size_t count_items(const Value& v) { return v.is_text() ? count_chars(v) : v.is(Kind::kRange) ? v.range->n : v.n; }

Value no_attribute(const Value& of, std::string_view name) {
  Value v = undefined(name);
  v.depth = static_cast<uint16_t>(1 + static_cast<uint16_t>(of.kind));
  return v;
}

// What Python's getattr finds.
bool attribute_of(Machine& m, const Value& of, std::string_view name, bool* found, Value* out) {
  if (of.is(Kind::kLoop)) return loop_attribute(m, of, name, found, out);
  if (!of.is(Kind::kNamespace)) return find_method(m, of, name, found, out);
  for (uint32_t i = 0; i < of.space->n; ++i)
    if (of.space->names[i].view() == name) {
      *out = of.space->values[i];
      return *found = m.spend(i);
    }
  *found = false;
  return true;
}

}  // namespace

const char* type_name(const Value& v) {
  switch (v.kind) {
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kBig:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return v.flags & kMarkup ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kView:
      return v.depth == kKeys ? "dict_keys" : v.depth == kValues ? "dict_values" : "dict_items";
    case Kind::kIterator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kFunction:
      return "function";
    case Kind::kMethod:
      return "method";
    case Kind::kMacro:
      return "Macro";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
    default:
      return "Undefined";
  }
}

bool undefined_error(Machine& m, const Value& v) {
  if (v.flags & kWhole) return m.fail(v.view());
  if (!v.depth) return m.fail("'", v.view(), "' is undefined");
  Value of;
  of.kind = static_cast<Kind>(v.depth - 1);
  return m.fail("a ", type_name(of), " has no attribute '", v.view(), "'");
}

bool truth(const Value& v) {
  switch (v.kind) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return v.integer != 0;
    case Kind::kFloat:
      return v.real != 0;
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
      return v.n != 0;
    case Kind::kView:
      return v.dict->n != 0;
    case Kind::kRange:
      return v.range->n != 0;
    default:
      return true;
  }
}

bool binary(Machine& m, Op op, const Value& a, const Value& b, Value* out) {
  if (op == Op::kModulo && a.is_text()) return percent(m, a, b, out);
  if (a.is_number() && b.is_number()) {
    // A float takes what an integer beyond 64 bits is nearest to, as in Python.
    if ((a.is(Kind::kBig) && !b.is(Kind::kFloat)) || (b.is(Kind::kBig) && !a.is(Kind::kFloat))) return too_big(m);
    return arithmetic(m, op, a, b, out);
  }
  if (op == Op::kAdd) {
    if (a.is_text() && b.is_text()) return join_two(m, a, b, out);
    if (a.is_list() && a.kind == b.kind) {
      Value* const items = m.take_values(size_t{a.n} + b.n);
      if (!items) return false;
      if (a.n) std::memcpy(static_cast<void*>(items), a.items, a.n * sizeof *items);
      if (b.n) std::memcpy(static_cast<void*>(items + a.n), b.items, b.n * sizeof *items);
      return make_list(m, a.kind, items, size_t{a.n} + b.n, out);
    }
  }
  if (op == Op::kMultiply) {
    const bool counts_a = a.is_integer() || a.is(Kind::kBig), counts_b = b.is_integer() || b.is(Kind::kBig);
    if ((a.is_text() || a.is_list()) && counts_b) return repeat(m, a, b, out);
    if ((b.is_text() || b.is_list()) && counts_a) return repeat(m, b, a, out);
  }
  static constexpr const char* kSigns[] = {"+", "-", "*", "/", "//", "%", "**"};
  return no_operator(m, kSigns[static_cast<uint32_t>(op) - static_cast<uint32_t>(Op::kAdd)], a, b);
}

bool unary(Machine& m, Op op, const Value& a, Value* out) {
  if (a.is(Kind::kUndefined)) return undefined_error(m, a);
  if (!a.is_number()) return m.fail(op == Op::kNegate ? "-" : "+", " of a ", type_name(a), " is not possible");
  if (a.is(Kind::kBig)) return op == Op::kNegate ? too_big(m) : (*out = a, true);
  if (a.is(Kind::kFloat)) {
    *out = real(op == Op::kNegate ? -a.real : a.real, a.from());
    return true;
  }
  if (op == Op::kNegate && a.integer == INT64_MIN) return too_big(m);
  *out = integer(op == Op::kNegate ? -a.integer : a.integer, a.from());
  return true;
}

bool equal(Machine& m, const Value& a, const Value& b) {
  if (!m.spend(1)) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      return a.n == b.n && (a.n == 0 || std::memcmp(a.text, b.text, a.n) == 0) && m.spend(a.n / 32);
    case Kind::kList:
    case Kind::kTuple:
      if (a.n != b.n) return false;
      if (a.items == b.items) return true;
      for (uint32_t i = 0; i < a.n; ++i)
        if (!equal(m, a.items[i], b.items[i])) return false;
      return true;
    case Kind::kDict:
      if (a.dict == b.dict) return true;
      if (a.n != b.n) return false;
      for (uint32_t i = 0; i < a.n; ++i) {
        const Value* const v = find(m, *b.dict, a.dict->entries[2 * i]);
        if (!v || !equal(m, a.dict->entries[2 * i + 1], *v)) return false;
      }
      return true;
    case Kind::kRange:
      return same_range(*a.range, *b.range);
    case Kind::kFunction:
      return a.depth == b.depth;
    case Kind::kView:
      return a.dict == b.dict && a.depth == b.depth && a.depth != kValues;
    default:
      return a.space == b.space;  // the same one
  }
}

bool order(Machine& m, const Value& a, const Value& b, int* out) {
  if (!m.spend(1)) return false;
  if (a.is_number() && b.is_number()) {
    *out = compare_numbers(a, b);
    return true;
  }
  if (a.is_text() && b.is_text()) {
    const size_t n = a.n < b.n ? a.n : b.n;
    const int bytes = n ? std::memcmp(a.text, b.text, n) : 0;  // UTF-8 has the order of its code points
    *out = bytes ? (bytes < 0 ? -1 : 1) : a.n < b.n ? -1 : a.n > b.n;
    return m.spend(n / 32);
  }
  if (a.is_list() && a.kind == b.kind) {
    for (uint32_t i = 0; i < a.n && i < b.n; ++i)
      if (!equal(m, a.items[i], b.items[i])) return order(m, a.items[i], b.items[i], out);
    *out = a.n < b.n ? -1 : a.n > b.n;
    return true;
  }
  return no_operator(m, "<", a, b);
}

bool contains(Machine& m, const Value& item, const Value& in, bool* out) {
  switch (in.kind) {
    case Kind::kText: {
      if (item.is(Kind::kUndefined)) return undefined_error(m, item);
      if (!item.is_text()) return m.fail("a ", type_name(item), " in a str is not possible");
      size_t at = 0;
      if (!find_bytes(m, in.view(), item.view(), 0, &at)) return false;
      *out = at != kNowhere;
      return true;
    }
    case Kind::kDict:
      if (!hashable(item)) return m.fail("a ", type_name(item), " cannot be a key of a dict");
      *out = find(m, *in.dict, item) != nullptr;
      return true;
    case Kind::kUndefined:
      *out = false;
      return true;
    default: {
      Iterator it;
      if (!begin(m, in, &it)) return false;
      *out = false;
      Value v;
      for (;;) {
        const Next got = next(m, &it, &v);
        if (got == Next::kFailed) return false;
        if (got == Next::kEnd) return true;
        if (equal(m, v, item)) return *out = true;
      }
    }
  }
}

bool get_attribute(Machine& m, const Value& of, std::string_view name, Value* out) {
  bool found = false;
  if (!attribute_of(m, of, name, &found, out)) return false;
  if (of.is(Kind::kUndefined) && !found) return undefined_error(m, of);
  if (found) return true;
  if (of.is(Kind::kDict))
    if (const Value* const v = find(m, *of.dict, name)) {
      *out = *v;
      return true;
    }
  *out = no_attribute(of, name);
  return true;
}

bool get_item(Machine& m, const Value& of, const Value& key, Value* out) {
  if (of.is(Kind::kUndefined)) return undefined_error(m, of);
  if (of.is(Kind::kDict)) {
    if (const Value* const v = find(m, *of.dict, key)) {
      *out = *v;
      return true;
    }
  } else if (has_items(of) && key.is_integer()) {
    const size_t n = count_items(of);
    const int64_t at = key.integer < 0 ? key.integer + static_cast<int64_t>(n) : key.integer;
    if (at >= 0 && static_cast<uint64_t>(at) < n) {
      if (of.is_list()) {
        *out = of.items[at];
      } else {
        if (!take_cut(m, of, {at, 1, 1}, out)) return false;
        if (of.is(Kind::kRange)) *out = integer(out->range->start, of.from());
      }
      return m.spend(n / 32);
    }
    *out = undefined({});
    out->depth = static_cast<uint16_t>(1 + static_cast<uint16_t>(of.kind));
    return true;
  }
  if (key.is_text()) {
    bool found = false;
    if (!attribute_of(m, of, key.view(), &found, out)) return false;
    if (found) return true;
  }
  *out = no_attribute(of, key.is_text() ? key.view() : std::string_view());
  return true;
}

bool cut(Machine& m, const Value& start, const Value& stop, const Value& step, size_t n, Cut* out) {
  const auto index = [&m](const Value& v, int64_t absent, int64_t* to) {
    if (v.is(Kind::kNone) || v.is(Kind::kMissing)) {
      *to = absent;
      return true;
    }
    if (v.is(Kind::kBig)) {
      *to = v.text[0] == '-' ? INT64_MIN : INT64_MAX;
      return true;
    }
    if (!v.is_integer()) return m.fail("a slice from or to a ", type_name(v), " is not possible");
    *to = v.integer;
    return true;
  };
  const int64_t size = static_cast<int64_t>(n);
  int64_t by = 0, from = 0, to = 0;
  if (!index(step, 1, &by)) return false;
  if (by == 0) return m.fail("a slice with step 0");
  if (!index(start, by < 0 ? INT64_MAX : 0, &from) || !index(stop, by < 0 ? INT64_MIN : INT64_MAX, &to)) return false;
  // Places count from the end where they are negative, and stop at the ends; an absent stop is not one of those.
  const bool to_begin = by < 0 && (stop.is(Kind::kNone) || stop.is(Kind::kMissing));
  const auto clamp = [size, by](int64_t v) {
    if (v < 0) v = v < -size ? -1 : v + size;
    const int64_t low = by < 0 ? -1 : 0, high = by < 0 ? size - 1 : size;
    return v < low ? low : v > high ? high : v;
  };
  from = clamp(from);
  to = to_begin ? -1 : clamp(to);
  const uint64_t span = by > 0 ? (to > from ? static_cast<uint64_t>(to - from) : 0) : (from > to ? static_cast<uint64_t>(from - to) : 0);
  const uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : uint64_t{0} - static_cast<uint64_t>(by);
  *out = {from, by, static_cast<size_t>(span / stride + (span % stride != 0)), to};
  return true;
}

bool slice(Machine& m, const Value& of, const Value& start, const Value& stop, const Value& step, Value* out) {
  if (of.is(Kind::kUndefined)) return undefined_error(m, of);
  if (!has_items(of)) return m.fail("a ", type_name(of), " cannot be sliced");
  Cut c;
  return cut(m, start, stop, step, count_items(of), &c) && m.spend(of.is_text() ? of.n / 32 : 0) && take_cut(m, of, c, out);
}

bool length(Machine& m, const Value& v, int64_t* out) {
  switch (v.kind) {
    case Kind::kUndefined:
      *out = 0;
      return true;
    case Kind::kText:
      *out = static_cast<int64_t>(count_chars(v));
      return m.spend(v.n / 32);
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
      *out = v.n;
      return true;
    case Kind::kView:
      *out = v.dict->n;
      return true;
    case Kind::kRange:
      *out = v.range->n;
      return true;
    case Kind::kLoop:
      return loop_length(m, v.loop, out);
    default:
      return m.fail("a ", type_name(v), " has no length");
  }
}

size_t count_chars(const Value& t) {
  size_t n = 0;
  for (uint32_t i = 0; i < t.n; ++i) n += (static_cast<uint8_t>(t.text[i]) & 0xC0) != 0x80;
  return n;
}

size_t char_place(const Value& t, size_t at) {
  size_t i = 0;
  for (; i < t.n; ++i)
    if ((static_cast<uint8_t>(t.text[i]) & 0xC0) != 0x80 && at-- == 0) break;
  return i;
}

}  // namespace linnet::chat
