#include "json_numbers.h"

#include <algorithm>

namespace linnet::convert {
namespace {

constexpr uint32_t kFractionDigits = 17;
constexpr uint32_t kSureDigits = 15;  // numbers of so many digits that differ are different doubles

// Whole numbers low .. high, 0 <= low <= high, as digits.
void whole(Automaton* a, uint32_t from, uint32_t to, int64_t low, int64_t high) {
  if (low > high) return;
  const String least = decimal(low), most = decimal(high);
  for (size_t digits = least.size(); digits <= most.size(); ++digits) {
    const String first = digits == least.size() ? least : "1" + String(digits - 1, '0');
    a->between(from, to, first, digits == most.size() ? most : String(digits, '9'), '0', '9');
  }
}

// '.' and digits. zero: all of them are 0; not_zero: some are not.
void fraction(Automaton* a, uint32_t from, uint32_t to, bool zero, bool not_zero) {
  uint32_t seen = a->node(), other = a->node();  // only zeros so far; another digit was there
  a->bytes(from, seen, '.', '.');
  for (uint32_t i = 0; i < kFractionDigits; ++i) {
    const uint32_t next = a->node(), next_other = a->node();
    a->bytes(seen, next, '0', '0');
    if (!zero) {
      a->bytes(seen, next_other, '1', '9');
      a->bytes(other, next_other, '0', '9');
      a->skip(next_other, to);
    }
    if (!not_zero) a->skip(next, to);
    seen = next;
    other = next_other;
  }
}

// Numbers from low to high, 0 <= low <= high, both whole, with a fraction or not. above: low is none of them.
void between_whole(Automaton* a, uint32_t from, uint32_t to, int64_t low, int64_t high, bool above) {
  const uint32_t end = a->node();
  a->skip(end, to);
  const auto plain = [&](int64_t first, int64_t last, bool whole_too, bool zero, bool not_zero) {
    if (first > last) return;
    const uint32_t digits = a->node();
    whole(a, from, digits, first, last);
    if (whole_too) a->skip(digits, end);
    fraction(a, digits, end, zero, not_zero);
  };
  if (low == high) {
    if (!above) plain(low, low, true, true, false);
    return;
  }
  plain(low, low, !above, false, above);
  plain(low + 1, high - 1, true, false, false);
  plain(high, high, true, true, false);
}

// The digits of a bound that is not negative, in front of the point and behind it.
struct Digits {
  int64_t before;
  String behind;
  explicit Digits(const Decimal& d) : before(d.rounded(false)) {
    if (d.negative || d.whole()) return;
    if (d.point < 0) behind.assign(static_cast<size_t>(std::min<int64_t>(-d.point, kFractionDigits + 1)), '0');
    behind += d.digits.substr(static_cast<size_t>(std::clamp<int64_t>(d.point, 0, static_cast<int64_t>(d.digits.size()))));
  }
};

// Digits behind the point that are above those of a bound (or below them), or the same where that is allowed.
void beside(Automaton* a, uint32_t from, uint32_t to, const String& bound, bool above, bool open) {
  const uint32_t digits = static_cast<uint32_t>(std::min<size_t>(bound.size(), kFractionDigits));
  Vector<uint32_t> free(kFractionDigits + 1);
  for (uint32_t& node : free) node = a->node();
  for (uint32_t i = 0; i < kFractionDigits; ++i) a->bytes(free[i], free[i + 1], '0', '9');
  for (uint32_t i = 1; i <= kFractionDigits; ++i) a->skip(free[i], to);
  uint32_t tight = a->node();
  a->bytes(from, tight, '.', '.');
  for (uint32_t i = 0; i < digits; ++i) {
    const uint8_t d = static_cast<uint8_t>(bound[i]);
    if (above && d < '9') a->bytes(tight, free[i + 1], static_cast<uint8_t>(d + 1), '9');
    if (!above && d > '0') a->bytes(tight, free[i + 1], '0', static_cast<uint8_t>(d - 1));
    if (!above && i) a->skip(tight, to);
    const uint32_t next = a->node();
    a->bytes(tight, next, d, d);
    tight = next;
  }
  if (digits < bound.size()) {  // longer than what is written: no text is the same
    if (!above) a->skip(tight, to);
    return;
  }
  for (uint32_t i = digits; i <= kFractionDigits; ++i) {  // the same so far, then zeros
    if (!open) a->skip(tight, to);
    if (i == kFractionDigits) break;
    if (above) a->bytes(tight, free[i + 1], '1', '9');
    const uint32_t next = a->node();
    a->bytes(tight, next, '0', '0');
    tight = next;
  }
}

// Not below a bound, not above one; neither is negative.
void at_least(Automaton* a, uint32_t from, uint32_t to, const Decimal& bound, bool open) {
  const Digits d(bound);
  const uint32_t more = a->node(), same = a->node();
  whole(a, from, more, d.before + 1, kMaxInteger);
  a->skip(more, to);
  fraction(a, more, to, false, false);
  if (d.before > kMaxInteger) return;
  whole(a, from, same, d.before, d.before);
  if (d.behind.empty()) {
    if (!open) a->skip(same, to);
    fraction(a, same, to, false, open);
  } else {
    beside(a, same, to, d.behind, true, open);
  }
}
void at_most(Automaton* a, uint32_t from, uint32_t to, const Decimal& bound, bool open) {
  const Digits d(bound);
  const uint32_t less = a->node(), same = a->node();
  whole(a, from, less, 0, std::min(d.before - 1, kMaxInteger));
  a->skip(less, to);
  fraction(a, less, to, false, false);
  if (d.before > kMaxInteger) return;
  whole(a, from, same, d.before, d.before);
  if (d.behind.empty()) {
    if (open) return;
    a->skip(same, to);
    fraction(a, same, to, true, false);
  } else {
    a->skip(same, to);
    beside(a, same, to, d.behind, false, open);
  }
}

// Doubles are a step of 1 and more apart from here on: what stands behind the point may carry a number over a bound.
bool is_large(const Decimal& d) { return !d.digits.empty() && d.point > int64_t{kSureDigits}; }
bool has_large(const Range& r) { return (r.has_low && is_large(r.low)) || (r.has_high && is_large(r.high)); }

Decimal minus(Decimal d) {
  d.negative = !d.negative && !d.digits.empty();
  return d;
}
// Of the numbers that are not negative those within the bounds; of 15 digits at most where a bound is not to be reached, so that it is not
// reached in double either. zero: 0 is one.
bool part(const Range& r, bool zero, TextSet* out) {
  const bool low_counts = r.has_low && !r.low.negative;
  const Decimal low = low_counts ? r.low : Decimal("0");
  TextSet above, below, digits, both;
  Automaton a, b, c;
  const uint32_t a0 = a.node(), a1 = a.node(), b0 = b.node(), b1 = b.node();
  at_least(&a, a0, a1, low, (low_counts && r.above) || (!zero && low.digits.empty()));
  if (!texts_of(a, a0, a1, &above)) return false;
  if (r.has_high) {
    at_most(&b, b0, b1, r.high, r.below);
    if (!texts_of(b, b0, b1, &below) || !in_both(above, below, &both)) return false;
    above = both;
  }
  const bool open = (low_counts && r.above) || (r.has_high && r.below), large = has_large(r);
  if (!open && !large) return *out = above, true;
  const uint32_t start = c.node(), end = c.node();
  uint32_t at = start;
  if (large) {  // whole ones of any length, others as far as doubles tell them apart
    const uint32_t all = c.node();
    c.skip(start, all);
    c.bytes(all, all, '0', '9');
    c.skip(all, end);
  }
  for (uint32_t i = 0; i < kSureDigits; ++i) {
    const uint32_t next = c.node();
    c.bytes(at, next, '0', '9');
    c.bytes(next, next, '.', '.');
    c.skip(next, end);
    at = next;
  }
  return texts_of(c, start, end, &digits) && in_both(above, digits, out);
}

}  // namespace

void add_integers(Automaton* a, uint32_t from, uint32_t to, const Range& range) {
  int64_t low = -kMaxInteger, high = kMaxInteger;
  if (range.has_low) low = range.low.rounded(true) + (range.above && range.low.whole());
  if (range.has_high) high = range.high.rounded(false) - (range.below && range.high.whole());
  low = std::max(low, -kMaxInteger), high = std::min(high, kMaxInteger);
  const uint32_t minus_sign = a->node();
  a->bytes(from, minus_sign, '-', '-');
  if (high >= 0) whole(a, from, to, std::max<int64_t>(low, 0), high);
  if (low < 0) whole(a, minus_sign, to, std::max<int64_t>(-high, 1), -low);
}

bool add_numbers(Automaton* a, uint32_t from, uint32_t to, const Range& range) {
  const uint32_t sign = a->node();
  a->bytes(from, sign, '-', '-');
  const bool positive = !range.has_high || !range.high.negative, negative = !range.has_low || range.low.negative;
  if (!range.above && !range.below && !has_large(range) && (!range.has_low || range.low.whole()) &&
      (!range.has_high || range.high.whole())) {
    const int64_t low = range.has_low ? range.low.rounded(true) : -kMaxInteger,
                  high = range.has_high ? range.high.rounded(false) : kMaxInteger;
    if (low > high) return true;
    if (high >= 0) between_whole(a, from, to, std::max<int64_t>(low, 0), std::min(high, kMaxInteger), false);
    if (low < 0) between_whole(a, sign, to, std::max<int64_t>(-high, 0), std::min(-low, kMaxInteger), high >= 0);
    return true;
  }
  TextSet texts;
  if (positive) {
    if (!part(range, true, &texts)) return false;
    add_texts(a, from, to, texts);
  }
  if (negative) {
    Range mirrored;
    mirrored.has_low = range.has_high, mirrored.has_high = range.has_low;
    mirrored.low = minus(range.high), mirrored.high = minus(range.low);
    mirrored.above = range.below, mirrored.below = range.above;
    if (!part(mirrored, false, &texts)) return false;
    add_texts(a, sign, to, texts);
  }
  return true;
}

void add_any_number(Automaton* a, uint32_t from, uint32_t to) {
  const uint32_t minus_sign = a->node(), digits = a->node(), e = a->node(), sign = a->node(), end = a->node();
  a->bytes(from, minus_sign, '-', '-');
  whole(a, from, digits, 0, kMaxInteger);
  whole(a, minus_sign, digits, 0, kMaxInteger);
  a->skip(digits, end);
  fraction(a, digits, end, false, false);
  a->skip(end, to);
  for (const uint8_t c : {uint8_t{'e'}, uint8_t{'E'}}) a->bytes(end, e, c, c);
  for (const uint8_t c : {uint8_t{'+'}, uint8_t{'-'}}) a->bytes(e, sign, c, c);
  a->skip(e, sign);
  const uint32_t one = a->node(), two = a->node();
  a->bytes(sign, one, '0', '9');
  a->bytes(one, two, '0', '9');
  a->skip(one, to);
  a->skip(two, to);
}

bool add_multiples(Automaton* a, uint32_t from, uint32_t to, const Range& range, int64_t n) {
  constexpr int64_t kMost = 3000;  // a state for each remainder and length
  if (n > kMost) return false;
  Automaton within, multiple;
  const uint32_t w0 = within.node(), w1 = within.node(), m0 = multiple.node(), m1 = multiple.node();
  add_integers(&within, w0, w1, range);
  Vector<uint32_t> rest(static_cast<size_t>(n));
  for (uint32_t& node : rest) node = multiple.node();
  const uint32_t digits = multiple.node();
  multiple.skip(m0, digits);
  multiple.bytes(m0, digits, '-', '-');
  for (int64_t r = 0; r < n; ++r)
    for (int64_t d = 0; d < 10; ++d) {
      const uint8_t digit = static_cast<uint8_t>('0' + d);
      if (r == 0) multiple.bytes(digits, rest[static_cast<size_t>(d % n)], digit, digit);
      multiple.bytes(rest[static_cast<size_t>(r)], rest[static_cast<size_t>((r * 10 + d) % n)], digit, digit);
    }
  multiple.skip(rest[0], m1);
  TextSet x, y, both;
  if (!texts_of(within, w0, w1, &x) || !texts_of(multiple, m0, m1, &y) || !in_both(x, y, &both)) return false;
  add_texts(a, from, to, both);
  return true;
}

}  // namespace linnet::convert
