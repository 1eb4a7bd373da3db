// Numbers to texts and texts to numbers, right to the last digit, as Python has them. All of it is whole-number arithmetic: a double is
// m * 2^e, so that its decimal digits end, and whoever has them all can round and compare them like a text.
#include "machine.h"

namespace linnet::chat {
namespace {

constexpr size_t kDigits = 801;                  // a double has 767 at most, the middle of two one more; as many of a text are kept
constexpr size_t kWords = 90;                    // of 32 bits: what is compared, 801 digits or 2^54 * 5^1131, has less than 2,690 bits
constexpr int32_t kLeastExponent = -1074;        // of the last bit of a double
constexpr uint64_t kHidden = uint64_t{1} << 52;  // the bit that a double does not store

// 0.DIGITS * 10^point, without zeros in front; no digits: 0.
struct Decimal {
  char digits[kDigits];
  uint32_t n = 0;
  int32_t point = 0;
  char digit(int64_t i) const { return i >= 0 && i < n ? digits[i] : '0'; }
};

// A double without its sign.
struct Binary {
  uint64_t m;
  int32_t e;
  bool negative, finite;
};
Binary binary_of(double v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  const uint64_t m = bits & (kHidden - 1);
  const int32_t exponent = static_cast<int32_t>(bits >> 52 & 0x7FF);
  return {exponent ? m | kHidden : m, exponent ? exponent - 1 + kLeastExponent : kLeastExponent, bits >> 63 != 0, exponent != 0x7FF};
}
double double_of(uint64_t bits) {
  double v = 0;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
constexpr uint64_t kInfinity = uint64_t{0x7FF} << 52, kNan = kInfinity | kHidden >> 1;

// A natural number; callers stay below kWords.
struct Natural {
  uint32_t words[kWords];
  size_t n = 0;
  explicit Natural(uint64_t v) {
    for (; v; v >>= 32) words[n++] = static_cast<uint32_t>(v);
  }
  void multiply(uint32_t by, uint32_t add = 0) {
    uint64_t carry = add;
    for (size_t i = 0; i < n; ++i) {
      carry += uint64_t{words[i]} * by;
      words[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry) words[n++] = static_cast<uint32_t>(carry);
  }
  // Times 2^k or 5^k.
  void scale(uint32_t base, uint32_t k) {
    for (; k >= 13; k -= 13) multiply(base == 2 ? 1u << 13 : 1220703125);
    for (; k; --k) multiply(base);
  }
  // Divides by 10^9 and returns the rest.
  uint32_t take_nine() {
    uint64_t rest = 0;
    for (size_t i = n; i-- > 0;) {
      rest = rest << 32 | words[i];
      words[i] = static_cast<uint32_t>(rest / 1000000000);
      rest %= 1000000000;
    }
    while (n && words[n - 1] == 0) --n;
    return static_cast<uint32_t>(rest);
  }
};

// All digits of m * 2^e: m * 2^-k is m * 5^k * 10^-k.
void decimal_of(uint64_t m, int32_t e, Decimal* d) {
  Natural v(m);
  v.scale(e < 0 ? 5 : 2, static_cast<uint32_t>(e < 0 ? -e : e));
  size_t at = kDigits;
  while (v.n) {
    uint32_t nine = v.take_nine();
    for (uint32_t i = 0; i < 9; ++i, nine /= 10) d->digits[--at] = static_cast<char>('0' + nine % 10);
  }
  while (at < kDigits && d->digits[at] == '0') ++at;
  d->n = static_cast<uint32_t>(kDigits - at);
  std::memmove(d->digits, d->digits + at, d->n);
  d->point = static_cast<int32_t>(d->n) + (e < 0 ? e : 0);
}

// Of a number and m * 2^e, which is about as large: -1, 0, 1.
int compare(const Decimal& d, uint64_t m, int32_t e) {
  Natural a(0), b(m);
  for (uint32_t i = 0; i < d.n; ++i) a.multiply(10, static_cast<uint32_t>(d.digits[i] - '0'));
  const int32_t tens = d.point - static_cast<int32_t>(d.n), twos = tens - e;
  (tens < 0 ? b : a).scale(5, static_cast<uint32_t>(tens < 0 ? -tens : tens));
  (twos < 0 ? b : a).scale(2, static_cast<uint32_t>(twos < 0 ? -twos : twos));
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  for (size_t i = a.n; i-- > 0;)
    if (a.words[i] != b.words[i]) return a.words[i] < b.words[i] ? -1 : 1;
  return 0;
}

// One more in the last digit.
void add_one(Decimal* d) {
  while (d->n && d->digits[d->n - 1] == '9') --d->n;
  if (d->n) {
    ++d->digits[d->n - 1];
    return;
  }
  d->digits[0] = '1';
  d->n = 1;
  ++d->point;
}

// To the nearest number of `keep` digits, half-way to the even one; keep <= 0 may leave none, or a 1 where the last kept digit would be.
void round_digits(Decimal* d, int64_t keep) {
  if (keep >= d->n) return;
  bool up = false;
  if (keep >= 0) {
    const char next = d->digits[keep];
    bool more = false;
    for (uint32_t i = static_cast<uint32_t>(keep) + 1; i < d->n && !more; ++i) more = d->digits[i] != '0';
    up = next > '5' || (next == '5' && (more || (keep > 0 && (d->digits[keep - 1] & 1))));
  }
  d->n = keep > 0 ? static_cast<uint32_t>(keep) : 0;
  if (up) add_one(d);
}

// Where a number is written: in a buffer, or in the text of a run.
struct Sink {
  Machine* m;
  uint8_t from;
  char* out;
  size_t n;
  bool put(std::string_view s) {
    if (m) return m->put(s, from);
    std::memcpy(out + n, s.data(), s.size());
    n += s.size();
    return true;
  }
  // Digits [begin, end) of a number, which may lie on either side of those that it has.
  bool digits(const Decimal& d, int64_t begin, int64_t end) {
    constexpr std::string_view kZeros = "0000000000000000";
    while (begin < end) {
      const int64_t stop = begin < 0 ? 0 : begin < d.n ? d.n : INT64_MAX, to = stop < end ? stop : end;
      const bool own = begin >= 0 && begin < d.n;
      const size_t want = static_cast<size_t>(to - begin), n_put = own || want < kZeros.size() ? want : kZeros.size();
      if (!put(own ? std::string_view(d.digits + begin, n_put) : cut(kZeros, 0, n_put))) return false;
      begin += static_cast<int64_t>(n_put);
    }
    return true;
  }
};

bool write(Sink* s, const Decimal& d, bool negative, int64_t fraction, char exponent, bool point) {
  if (negative && !s->put("-")) return false;
  const int64_t whole = exponent ? 1 : d.point;
  if (!(whole > 0 ? s->digits(d, 0, whole) : s->put("0"))) return false;
  if ((point || fraction > 0) && !s->put(".")) return false;
  if (!s->digits(d, whole, whole + fraction)) return false;
  if (!exponent) return true;
  const int32_t e = d.n ? d.point - 1 : 0, size = e < 0 ? -e : e;
  char text[5] = {exponent, e < 0 ? '-' : '+'};
  size_t n = 2;
  if (size >= 100) text[n++] = static_cast<char>('0' + size / 100);
  text[n++] = static_cast<char>('0' + size / 10 % 10);
  text[n++] = static_cast<char>('0' + size % 10);
  return s->put({text, n});
}

std::string_view not_finite(const Binary& b, bool upper) {
  if (b.m != kHidden) return upper ? "NAN" : "nan";
  return b.negative ? (upper ? "-INF" : "-inf") : upper ? "INF" : "inf";
}

// m * 2^e with the highest bit of m set.
struct Scaled {
  uint64_t m;
  int32_t e;
};
Scaled times(const Scaled& a, const Scaled& b) {
  const uint64_t a1 = a.m >> 32, a0 = a.m & 0xFFFFFFFF, b1 = b.m >> 32, b0 = b.m & 0xFFFFFFFF;
  const uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (mid & 0xFFFFFFFF);
  const uint64_t high = a1 * b1 + (mid >> 32) + (mid2 >> 32);
  if (high >> 63) return {high, a.e + b.e + 64};
  return {high << 1 | (mid2 >> 31 & 1), a.e + b.e + 63};
}
Scaled over(const Scaled& a, const Scaled& b) {
  uint64_t rest = a.m, quotient = 0;
  int32_t bits = 64;
  if (rest >= b.m) rest -= b.m, quotient = 1, bits = 63;
  for (int32_t i = 0; i < bits; ++i) {
    const bool carry = rest >> 63;
    rest <<= 1;
    const bool one = carry || rest >= b.m;
    if (one) rest -= b.m;
    quotient = quotient << 1 | one;
  }
  return {quotient, a.e - b.e - bits};
}

// The double that is nearest to a number of at most kDigits digits.
double nearest(const Decimal& d) {
  if (d.n == 0 || d.point < -330) return 0;
  if (d.point > 310) return double_of(kInfinity);
  // First with 64 bits, which are wrong by less than kSlack: too many digits cut off, and one bit for each product.
  constexpr uint64_t kSlack = 256;
  const uint32_t used = d.n < 19 ? d.n : 19;
  uint64_t first = 0;
  for (uint32_t i = 0; i < used; ++i) first = first * 10 + static_cast<uint64_t>(d.digits[i] - '0');
  Scaled v = {first, 0};
  while (!(v.m >> 63)) v.m <<= 1, --v.e;
  const int32_t tens = d.point - static_cast<int32_t>(used);
  Scaled power = {uint64_t{1} << 63, -63}, square = {uint64_t{10} << 60, -60};
  for (uint32_t k = static_cast<uint32_t>(tens < 0 ? -tens : tens); k; k >>= 1, square = times(square, square))
    if (k & 1) power = times(power, square);
  v = tens < 0 ? over(v, power) : times(v, power);
  // Rounded to the bits that a double of this size has; near the middle of two the digits decide.
  int32_t cut = kLeastExponent - v.e;
  if (cut < 11) cut = 11;
  if (cut > 64) {
    const int32_t more = cut - 64;
    v.m = more < 64 ? v.m >> more : 0;
    v.e += more, cut = 64;
  }
  uint64_t m = cut == 64 ? 0 : v.m >> cut;
  const uint64_t half = uint64_t{1} << (cut - 1), low = v.m - (cut == 64 ? 0 : m << cut);
  const int32_t e = v.e + cut;
  bool up = low > half;
  if ((up ? low - half : half - low) <= kSlack) {
    const int order = compare(d, 2 * m + 1, e - 1);
    up = order > 0 || (order == 0 && (m & 1));
  }
  m += up;
  int32_t exponent = e - kLeastExponent + (m >= kHidden);  // as it is stored
  if (m == 2 * kHidden) m = kHidden, ++exponent;
  if (exponent >= 0x7FF) return double_of(kInfinity);
  return double_of(static_cast<uint64_t>(exponent) << 52 | (m & (kHidden - 1)));
}

// The shortest digits that read back; of those the nearest ones.
void shortest(const Binary& b, Decimal* d) {
  d->n = 0, d->point = 1;
  if (b.m == 0) return;
  Decimal exact;
  decimal_of(b.m, b.e, &exact);
  const bool full = b.m >= kHidden;  // where a double has all its bits, no two numbers of 15 digits read as the same one
  const double v = double_of(static_cast<uint64_t>(b.e - kLeastExponent + full) << 52 | (b.m & (kHidden - 1)));
  for (uint32_t n = full ? 15 : 1;; ++n) {
    *d = exact;
    round_digits(d, n);
    // Above a power of two doubles lie farther apart: there the next number up may read back where the nearest one, below, does not.
    if (nearest(*d) != v) {
      if (b.m != kHidden) continue;
      *d = exact;
      if (n < d->n) d->n = n, add_one(d);
      if (nearest(*d) != v) continue;
    }
    while (d->digits[d->n - 1] == '0') --d->n;
    return;
  }
}

bool is_figure(char c) { return c >= '0' && c <= '9'; }
bool same_word(std::string_view s, std::string_view lower) {
  if (s.size() != lower.size()) return false;
  for (size_t i = 0; i < s.size(); ++i)
    if ((s[i] | 0x20) != lower[i]) return false;
  return true;
}
// "_" stands between two digits alone.
bool between_digits(std::string_view s, size_t at) {
  return s[at] == '_' && at > 0 && is_figure(s[at - 1]) && at + 1 < s.size() && is_figure(s[at + 1]);
}

}  // namespace

size_t float_repr(double v, char (&out)[kNumberBytes]) {
  Sink s = {nullptr, 0, out, 0};
  const Binary b = binary_of(v);
  if (!b.finite) {
    s.put(not_finite(b, false));
    return s.n;
  }
  Decimal d;
  shortest(b, &d);
  const bool exponent = d.point <= -4 || d.point > 16;
  const int64_t fraction = exponent ? int64_t{d.n} - 1 : int64_t{d.n} - d.point;
  write(&s, d, b.negative, !exponent && fraction < 1 ? 1 : fraction, exponent ? 'e' : '\0', false);
  return s.n;
}

bool put_float(Machine& m, double v, char kind, uint32_t precision, uint32_t flags, uint8_t from) {
  Sink s = {&m, from, nullptr, 0};
  const bool upper = kind < 'a';
  const Binary b = binary_of(v);
  if (!b.finite) return s.put(not_finite(b, upper));
  if (!m.spend(1 + static_cast<uint64_t>(int64_t{b.e} * b.e) / 1024)) return false;  // the more digits, the longer they are
  if (kind == 'r') {
    char room[kNumberBytes];
    const std::string_view repr = {room, float_repr((flags & kFloatNoNegativeZero) && b.m == 0 ? 0.0 : v, room)};
    const size_t e = (flags & kFloatPoint) && find_in(repr, '.') == kNowhere ? find_in(repr, 'e') : kNowhere;
    return s.put(cut(repr, 0, e)) && (e == kNowhere || (s.put(".") && s.put(cut(repr, e))));
  }
  Decimal d;
  decimal_of(b.m, b.e, &d);
  if (d.n == 0) d.point = 1;
  const char exponent = upper ? 'E' : 'e';
  const bool alternate = (flags & kFloatPoint) != 0;
  char used = kind == 'e' || kind == 'E' ? exponent : '\0';
  int64_t fraction = precision;
  if (kind == 'g' || kind == 'G') {
    const int64_t digits = precision ? precision : 1;
    round_digits(&d, digits);
    if (d.point <= -4 || d.point > digits - ((flags & kFloatZero) != 0)) used = exponent;
    while (d.n && d.digits[d.n - 1] == '0') --d.n;
    fraction = (alternate ? digits : d.n ? int64_t{d.n} : 1) - (used ? 1 : d.point);
    if (fraction < 0) fraction = 0;
    if ((flags & kFloatZero) && !used && fraction < 1) fraction = 1;
  } else {
    round_digits(&d, used ? fraction + 1 : fraction + d.point);
  }
  return write(&s, d, b.negative && !((flags & kFloatNoNegativeZero) && d.n == 0), fraction, used, alternate);
}

bool round_float(double v, int64_t digits, double* out) {
  const Binary b = binary_of(v);
  if (!b.finite || digits > 323) {
    *out = v;
    return true;
  }
  if (digits < -308) {
    *out = b.negative ? -0.0 : 0.0;
    return true;
  }
  Decimal d;
  decimal_of(b.m, b.e, &d);
  round_digits(&d, d.point + digits);
  const double rounded = nearest(d);
  *out = b.negative ? -rounded : rounded;
  return binary_of(rounded).finite;
}

bool read_float(std::string_view s, double* out) {
  const bool negative = !s.empty() && s[0] == '-';
  if (negative || (!s.empty() && s[0] == '+')) s = cut(s, 1);
  if (same_word(s, "inf") || same_word(s, "infinity") || same_word(s, "nan")) {
    *out = (s[0] | 0x20) == 'n' ? double_of(kNan) : double_of(kInfinity | uint64_t{negative} << 63);
    return true;
  }
  Decimal d;
  bool digits = false, behind = false, more = false;
  int64_t point = 0;
  size_t i = 0;
  for (; i < s.size(); ++i) {
    if (s[i] == '.' && !behind) {
      behind = true;
    } else if (is_figure(s[i])) {
      digits = true;
      if (d.n == 0 && s[i] == '0') {
        point -= behind;
        continue;
      }
      point += !behind;
      if (d.n < kDigits - 1)
        d.digits[d.n++] = s[i];
      else
        more |= s[i] != '0';
    } else if (!between_digits(s, i)) {
      break;
    }
  }
  if (!digits) return false;
  if (i < s.size()) {
    if ((s[i] | 0x20) != 'e') return false;
    ++i;
    const bool minus = i < s.size() && s[i] == '-';
    if (minus || (i < s.size() && s[i] == '+')) ++i;
    if (i == s.size() || !is_figure(s[i])) return false;
    int64_t exponent = 0;
    for (; i < s.size(); ++i) {
      if (is_figure(s[i])) {
        if (exponent < int64_t{1} << 40) exponent = exponent * 10 + (s[i] - '0');
      } else if (!between_digits(s, i)) {
        return false;
      }
    }
    point += minus ? -exponent : exponent;
  }
  if (more) d.digits[d.n++] = '1';  // what is cut off is less than any digit that is compared with it
  constexpr int64_t kFar = 1000;    // beyond every double
  d.point = static_cast<int32_t>(point > kFar ? kFar : point < -kFar ? -kFar : point);
  const double v = nearest(d);
  *out = negative ? -v : v;
  return true;
}

ReadInt read_int(std::string_view s, uint32_t base, int64_t* out) {
  const bool negative = !s.empty() && s[0] == '-';
  if (negative || (!s.empty() && s[0] == '+')) s = cut(s, 1);
  bool between = false;  // a "_" may stand here
  if (s.size() > 1 && s[0] == '0') {
    const char c = static_cast<char>(s[1] | 0x20);
    const uint32_t named = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    if (named && (base == 0 || base == named)) {
      s = cut(s, 2);
      base = named, between = true;
    }
  }
  const bool plain = base == 0;  // as Python's sources write it: no zeros in front of other digits
  if (plain) base = 10;
  uint64_t v = 0;
  bool big = false, digits = false, zero = false;
  for (const char c : s) {
    if (c == '_') {
      if (!between) return ReadInt::kNone;
      between = false;
      continue;
    }
    const char lower = static_cast<char>(c | 0x20);
    const uint32_t digit = is_figure(c)                   ? static_cast<uint32_t>(c - '0')
                           : lower >= 'a' && lower <= 'z' ? static_cast<uint32_t>(lower - 'a' + 10)
                                                          : 36;
    if (digit >= base) return ReadInt::kNone;
    zero |= !digits && digit == 0;
    digits = between = true;
    big |= v > (UINT64_MAX - digit) / base;
    v = v * base + digit;
  }
  if (!digits || !between || (plain && zero && (v || big))) return ReadInt::kNone;
  if (big || v > static_cast<uint64_t>(INT64_MAX) + negative) return ReadInt::kBig;
  *out = static_cast<int64_t>(negative ? uint64_t{0} - v : v);
  return ReadInt::kInt;
}

}  // namespace linnet::chat
