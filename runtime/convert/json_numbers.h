// Numbers of JSON as texts: within bounds, multiples of a number.
#pragma once
#include "schema_merge.h"
#include "text_set.h"

namespace linnet::convert {

// What bounds a number; of both keywords for one end the narrower one.
struct Range {
  bool has_low = false, has_high = false;
  Decimal low = Decimal("0"), high = Decimal("0");
  bool above = false, below = false;  // low, high are not among them
};

// Whole numbers of at most 18 digits, without -0.
void add_integers(Automaton* a, uint32_t from, uint32_t to, const Range& range);
// Numbers without an exponent, and with 17 digits behind the point at most; without -0.
bool add_numbers(Automaton* a, uint32_t from, uint32_t to, const Range& range);
// Any number, with up to 17 digits behind the point and two of an exponent.
void add_any_number(Automaton* a, uint32_t from, uint32_t to);
// Those of the whole numbers within bounds that are multiples of n >= 1. False: n is too large.
bool add_multiples(Automaton* a, uint32_t from, uint32_t to, const Range& range, int64_t n);

}  // namespace linnet::convert
