// Methods and attributes of values, as Python has them and Jinja2's immutable sandbox lets them through.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

struct Row;
struct Call {
  Machine& m;
  const Row& row;
  const Value& self;
  const Args& args;
  Value* out;
};
using Run = bool (*)(const Call&);

// Kinds that a row is of.
constexpr uint32_t of(Kind kind) { return 1u << static_cast<uint32_t>(kind); }
constexpr uint32_t kText = of(Kind::kText), kDict = of(Kind::kDict), kList = of(Kind::kList), kSequence = kList | of(Kind::kTuple);
constexpr uint32_t kWholeNumber = of(Kind::kBool) | of(Kind::kInt), kFloat = of(Kind::kFloat), kRanges = of(Kind::kRange);
constexpr uint32_t kNumbers = kWholeNumber | of(Kind::kBig), kCyclers = of(Kind::kCycler), kJoiners = of(Kind::kJoiner);
constexpr uint32_t kMacros = of(Kind::kMacro), kGroups = of(Kind::kTuple) | 1u << 31;
constexpr uint32_t kMarkups = kText | 1u << 31;  // the bit: only values with the flag kMarkup or kWhole
constexpr uint32_t kAttribute = 1u << 30;        // the value itself is asked for, there is no call

struct Row {
  std::string_view name;
  uint32_t kinds;
  uint32_t how;  // what tells methods of one function apart
  Run run;       // nullptr: it changes its value, which the sandbox refuses
};

bool bad(const Call& c, std::string_view what) { return c.m.fail(type_name(c.self), ".", c.row.name, "(): ", what); }
bool bad_type(const Call& c, const Value& v, const char* wants) {
  if (v.is(Kind::kUndefined)) return undefined_error(c.m, v);
  return c.m.fail(type_name(c.self), ".", c.row.name, "(): ", wants, " is needed, not a ", type_name(v));
}

// Arguments by position alone.
bool takes(const Call& c, uint32_t least, uint32_t most) {
  if (c.args.n_named) return bad(c, "takes no arguments by name");
  if (c.args.n < least || c.args.n > most)
    return c.m.fail(type_name(c.self), ".", c.row.name, "(): ", c.args.n, " arguments, it takes ", least, " to ", most);
  return true;
}
Value argument(const Call& c, uint32_t i) { return i < c.args.n ? c.args.values[i] : Value(); }

bool take_text(const Call& c, const Value& v) { return v.is_text() || bad_type(c, v, "a text"); }
bool take_integer(const Call& c, const Value& v, int64_t* out) {
  if (v.is(Kind::kBig)) return bad(c, "an integer that is too large");
  if (!v.is_integer()) return bad_type(c, v, "an integer");
  *out = v.integer;
  return true;
}
bool take_count(const Call& c, const Value& v, int64_t absent, int64_t* out) {
  *out = absent;
  return v.is(Kind::kMissing) || take_integer(c, v, out);
}

// What Python keeps in a C int.
bool take_small(const Call& c, const Value& v, int64_t absent, int64_t* out) {
  if (!take_count(c, v, absent, out)) return false;
  return (*out >= INT32_MIN && *out <= INT32_MAX) || bad(c, "an integer that is too large");
}

bool give(const Call& c, const Value& v) {
  *c.out = v;
  return true;
}
bool give_integer(const Call& c, size_t v, const Value& a, const Value& b) {
  return give(c, integer(static_cast<int64_t>(v), from_both(a, b)));
}
bool give_bool(const Call& c, bool v, const Value& a, const Value& b) { return give(c, boolean(v, from_both(a, b))); }

// Start or end of a part of n items: from the end where negative.
bool take_place(const Call& c, const Value& v, bool none_is_absent, int64_t absent, int64_t n, int64_t* out) {
  if (v.is(Kind::kMissing) || (none_is_absent && v.is(Kind::kNone))) {
    *out = absent;
    return true;
  }
  int64_t place = 0;
  if (v.is(Kind::kBig)) {
    place = v.text[0] == '-' ? INT64_MIN : INT64_MAX;
  } else if (!take_integer(c, v, &place)) {
    return false;
  }
  if (place < 0) place = place < -n ? 0 : place + n;
  *out = place;
  return true;
}

// The part [start, end) of a text that arguments 1 and 2 tell, both in characters.
struct Window {
  bool none;     // it begins behind the end
  size_t chars;  // before it
  Value part;
};
bool take_window(const Call& c, Window* out) {
  const int64_t n = static_cast<int64_t>(count_chars(c.self));
  int64_t start = 0, end = n;
  if (!take_place(c, argument(c, 1), true, 0, n, &start) || !take_place(c, argument(c, 2), true, n, n, &end)) return false;
  end = end > n ? n : end;
  *out = {start > end, static_cast<size_t>(start), c.self};
  if (out->none || (start == 0 && end == n)) return c.m.spend(c.self.n / 32);
  const size_t at = char_place(c.self, static_cast<size_t>(start));
  const Value rest = part(c.self, at, c.self.n - at);
  out->part = part(rest, 0, char_place(rest, static_cast<size_t>(end - start)));
  return c.m.spend(c.self.n / 16);
}

// ---- texts

enum : uint32_t { kFromRight = 1, kMust = 2 };
bool text_find(const Call& c) {
  Window w;
  if (!takes(c, 1, 3) || !take_text(c, c.args.values[0]) || !take_window(c, &w)) return false;
  const Value& what = c.args.values[0];
  size_t at = kNowhere;
  if (!w.none && !(c.row.how & kFromRight ? find_last_bytes(c.m, w.part.view(), what.view(), &at)
                                          : find_bytes(c.m, w.part.view(), what.view(), 0, &at)))
    return false;
  if (at != kNowhere) return give_integer(c, w.chars + count_chars(part(w.part, 0, at)), c.self, what);
  return c.row.how & kMust ? bad(c, "the text is not there") : give(c, integer(-1, from_both(c.self, what)));
}

bool text_count(const Call& c) {
  Window w;
  if (!takes(c, 1, 3) || !take_text(c, c.args.values[0]) || !take_window(c, &w)) return false;
  const Value& what = c.args.values[0];
  if (w.none) return give_integer(c, 0, c.self, what);
  if (!what.n) return give_integer(c, count_chars(w.part) + 1, c.self, what);
  size_t n = 0;
  for (size_t at = 0;; at += what.n, ++n) {
    if (!find_bytes(c.m, w.part.view(), what.view(), at, &at)) return false;
    if (at == kNowhere) return give_integer(c, n, c.self, what);
  }
}

bool begins(std::string_view s, std::string_view with, uint32_t side) {
  return with.size() <= s.size() && (side & kLeft ? cut(s, 0, with.size()) : cut(s, s.size() - with.size())) == with;
}

// startswith, endswith: of a text or of one of a tuple.
bool text_begins(const Call& c) {
  Window w;
  if (!takes(c, 1, 3) || !take_window(c, &w)) return false;
  const Value& what = c.args.values[0];
  const bool several = what.is(Kind::kTuple);
  if (!several && !what.is_text()) return bad_type(c, what, "a text or a tuple of texts");
  bool is = false;
  for (uint32_t i = 0; i < (several ? what.n : 1) && !is; ++i) {
    const Value& one = several ? what.items[i] : what;
    if (!take_text(c, one) || !c.m.spend(one.n / 32 + 1)) return false;
    is = !w.none && begins(w.part.view(), one.view(), c.row.how);
  }
  return give_bool(c, is, c.self, what);
}

bool text_remove(const Call& c) {
  if (!takes(c, 1, 1) || !take_text(c, c.args.values[0])) return false;
  const std::string_view what = c.args.values[0].view();
  if (!begins(c.self.view(), what, c.row.how)) return give(c, c.self);
  return give(c, piece(c.self, c.row.how & kLeft ? what.size() : 0, c.self.n - what.size())) && c.m.spend(c.self.n / 32);
}

bool text_case(const Call& c) { return takes(c, 0, 0) && change_case(c.m, c.self, static_cast<Case>(c.row.how), c.out); }

bool text_strip(const Call& c) {
  if (!takes(c, 0, 1)) return false;
  const Value chars = argument(c, 0);
  if (!chars.is(Kind::kMissing) && !chars.is(Kind::kNone) && !take_text(c, chars)) return false;
  return strip(c.m, c.self, chars, c.row.how, c.out);
}

// What is put into a markup is escaped first.
bool escaped(const Call& c, const Value& v, Value* out) {
  *out = v;
  return !(c.self.flags & kMarkup) || escape(c.m, v, out);
}

bool text_replace(const Call& c) {
  int64_t most = -1;
  Value to;
  if (!takes(c, 2, 3) || !take_text(c, c.args.values[0]) || !take_count(c, argument(c, 2), -1, &most)) return false;
  return escaped(c, c.args.values[1], &to) && take_text(c, to) && replace(c.m, c.self, c.args.values[0], to, most, c.out);
}

bool text_pad(const Call& c) {
  int64_t width = 0;
  if (!takes(c, 1, 2) || !take_integer(c, c.args.values[0], &width)) return false;
  Value fill = text(" ");
  if (c.args.n == 2 && !escaped(c, c.args.values[1], &fill)) return false;
  if (!take_text(c, fill)) return false;
  fill.flags = static_cast<uint8_t>(fill.flags | c.args.values[0].from());
  if (c.args.values[0].from()) fill.marks = nullptr;
  return pad(c.m, c.self, width, fill, c.row.how, c.out);
}

bool text_zfill(const Call& c) {
  int64_t width = 0;
  if (!takes(c, 1, 1) || !take_integer(c, c.args.values[0], &width)) return false;
  const bool sign = c.self.n && (c.self.text[0] == '+' || c.self.text[0] == '-');
  // The sign, zeros, the rest.
  const Value digits = part(c.self, sign, c.self.n - sign);
  if (!pad(c.m, digits, width - (width > 0 && sign), text("0", c.args.values[0].from()), kLeft, c.out)) return false;
  if (c.out->n == digits.n) return give(c, c.self);
  const Value zeros = *c.out;
  const size_t mark = c.m.mark();
  if (!c.m.put(part(c.self, 0, sign)) || !c.m.put(zeros) || !c.m.finish(mark, c.out)) return false;
  c.out->flags = static_cast<uint8_t>(c.out->flags | (c.self.flags & kMarkup));
  return true;
}

bool text_expand_tabs(const Call& c) {
  Value size;
  int64_t tab = 8;
  if (!take_args(c.m, "expandtabs", c.args, {"tabsize"}, 0, &size) || !take_small(c, size, 8, &tab)) return false;
  const size_t mark = c.m.mark();
  uint64_t column = 0;
  for (size_t i = 0; i < c.self.n;) {
    const char ch = c.self.text[i];
    if (ch == '\t') {
      const uint64_t blanks = tab > 0 ? static_cast<uint64_t>(tab) - column % static_cast<uint64_t>(tab) : 0;
      const uint8_t from = (c.self.marks ? c.self.marks[i] : c.self.from()) | size.from();
      if (blanks > c.m.out_bytes) return c.m.full("bytes of text", c.m.out_bytes);
      for (uint64_t k = 0; k < blanks; ++k)
        if (!c.m.put(" ", from)) return false;
      if (!c.m.spend(blanks / 4)) return false;
      column += blanks;
      ++i;
      continue;
    }
    const uint32_t bytes = next_char(c.self.text + i, c.self.n - i).bytes;
    if (!c.m.put(part(c.self, i, bytes))) return false;
    column = ch == '\n' || ch == '\r' ? 0 : column + 1;
    i += bytes;
  }
  if (!c.m.spend(c.self.n / 4) || !c.m.finish(mark, c.out)) return false;
  c.out->flags = static_cast<uint8_t>(c.out->flags | (c.self.flags & kMarkup));
  return true;
}

bool text_split(const Call& c) {
  Value args[2];
  int64_t most = -1;
  const char* const name = c.row.how & kFromRight ? "rsplit" : "split";
  if (!take_args(c.m, name, c.args, {"sep", "maxsplit"}, 0, args) || !take_count(c, args[1], -1, &most)) return false;
  if (!args[0].is(Kind::kMissing) && !args[0].is(Kind::kNone) && !take_text(c, args[0])) return false;
  return split(c.m, c.self, args[0], most, c.row.how & kFromRight, c.out);
}

bool text_lines(const Call& c) {
  Value keep;
  int64_t ends = 0;
  return take_args(c.m, "splitlines", c.args, {"keepends"}, 0, &keep) && take_small(c, keep, 0, &ends) &&
         split_lines(c.m, c.self, ends != 0, c.out);
}

bool text_partition(const Call& c) {
  if (!takes(c, 1, 1) || !take_text(c, c.args.values[0])) return false;
  const std::string_view s = c.self.view(), what = c.args.values[0].view();
  if (what.empty()) return bad(c, "an empty separator");
  const bool right = c.row.how & kFromRight;
  size_t at = 0;
  if (!(right ? find_last_bytes(c.m, s, what, &at) : find_bytes(c.m, s, what, 0, &at))) return false;
  Value* const items = c.m.take_values(3);
  if (!items) return false;
  const size_t first = at != kNowhere ? at : right ? 0 : s.size(), found = at != kNowhere ? what.size() : 0;
  items[0] = piece(c.self, 0, first);
  items[1] = piece(c.self, first, found);
  items[2] = piece(c.self, first + found, s.size() - first - found);
  return make_list(c.m, Kind::kTuple, items, 3, c.out);
}

bool text_join(const Call& c) {
  if (!takes(c, 1, 1)) return false;
  Iterator it;
  if (!begin(c.m, c.args.values[0], &it)) return false;
  const size_t mark = c.m.mark();
  Value item;
  for (bool first = true;; first = false) {
    const Next got = next(c.m, &it, &item);
    if (got == Next::kFailed) return false;
    if (got == Next::kEnd) break;
    if (!escaped(c, item, &item) || !take_text(c, item)) return false;
    if ((!first && !c.m.put(c.self)) || !c.m.put(item)) return false;
  }
  if (!c.m.finish(mark, c.out)) return false;
  c.out->flags = static_cast<uint8_t>(c.out->flags | (c.self.flags & kMarkup));
  return true;
}

// What all characters of a text are, of which it has one at least.
bool text_is(const Call& c) {
  constexpr bool (*kTests[])(uint32_t) = {is_alnum, is_alpha, is_decimal, is_digit, is_numeric, is_printable, is_space};
  if (!takes(c, 0, 0)) return false;
  bool is = c.self.n != 0 || kTests[c.row.how] == is_printable;
  for (size_t i = 0; i < c.self.n && is;) {
    const Char ch = next_char(c.self.text + i, c.self.n - i);
    is = kTests[c.row.how](ch.code);
    i += ch.bytes;
  }
  return c.m.spend(c.self.n / 8) && give_bool(c, is, c.self, c.self);
}

bool text_is_ascii(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  bool is = true;
  for (size_t i = 0; i < c.self.n && is; ++i) is = static_cast<uint8_t>(c.self.text[i]) < 0x80;
  return c.m.spend(c.self.n / 32) && give_bool(c, is, c.self, c.self);
}

bool text_is_identifier(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  bool is = c.self.n != 0;
  for (size_t i = 0; i < c.self.n && is;) {
    const Char ch = next_char(c.self.text + i, c.self.n - i);
    is = i == 0 ? is_identifier_start(ch.code) : is_identifier_part(ch.code);
    i += ch.bytes;
  }
  return c.m.spend(c.self.n / 8) && give_bool(c, is, c.self, c.self);
}

// isupper, islower, istitle: one cased letter at least, and all of them in this case.
bool text_is_case(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  const Case want = static_cast<Case>(c.row.how);
  bool is = true, some = false, in_word = false;
  for (size_t i = 0; i < c.self.n && is;) {
    const Char ch = next_char(c.self.text + i, c.self.n - i);
    const bool upper = is_upper(ch.code), lower = is_lower(ch.code), title = is_titlecase(ch.code);
    if (want == Case::kUpper) {
      is = !lower && !title;
      some = some || upper;
    } else if (want == Case::kLower) {
      is = !upper && !title;
      some = some || lower;
    } else {
      const bool big = upper || title;
      is = big ? !in_word : !lower || in_word;
      in_word = big || lower;
      some = some || in_word;
    }
    i += ch.bytes;
  }
  return c.m.spend(c.self.n / 4) && give_bool(c, is && some, c.self, c.self);
}

bool text_format(const Call& c) { return format(c.m, c.self, c.args, c.out); }

bool text_format_map(const Call& c) {
  if (!takes(c, 1, 1)) return false;
  // Names are texts: other keys are no fields, and what is no dict has none.
  const Value& map = c.args.values[0];
  const uint32_t entries = map.is(Kind::kDict) ? map.n : 0;
  Value* const named = c.m.take_values(2 * size_t{entries});
  if (!named || !c.m.spend(entries)) return false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    if (!map.dict->entries[2 * i].is_text()) continue;
    named[2 * n] = map.dict->entries[2 * i];
    named[2 * n + 1] = map.dict->entries[2 * i + 1];
    ++n;
  }
  return format(c.m, c.self, {nullptr, 0, named, n}, c.out);
}

bool text_striptags(const Call& c) { return takes(c, 0, 0) && apply_filter(c.m, FilterId::kStripTags, c.self, c.args, c.out); }
bool text_escape(const Call& c) { return takes(c, 1, 1) && escape(c.m, c.args.values[0], c.out); }

bool refused(const Call& c) { return bad(c, "linnet does not have this method"); }

// ---- dicts, lists, tuples, ranges

bool dict_view(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  Value v = c.self;
  v.kind = Kind::kView;
  v.depth = static_cast<uint16_t>(c.row.how);
  return give(c, v);
}

bool dict_get(const Call& c) {
  if (!takes(c, 1, 2)) return false;
  const Value& key = c.args.values[0];
  if (!hashable(key)) return bad_type(c, key, "what may be a key");
  const Value* const v = find(c.m, *c.self.dict, key);
  return give(c, v ? *v : c.args.n == 2 ? c.args.values[1] : none());
}

// Values do not change, so that one is as good as its copy.
bool copy(const Call& c) { return takes(c, 0, 0) && give(c, c.self); }

bool dict_from_keys(const Call& c) {
  if (!takes(c, 1, 2)) return false;
  Value keys;
  if (!to_list(c.m, c.args.values[0], &keys)) return false;
  Value* const entries = c.m.take_values(2 * size_t{keys.n});
  if (!entries) return false;
  for (uint32_t i = 0; i < keys.n; ++i) {
    entries[2 * i] = keys.items[i];
    entries[2 * i + 1] = c.args.n == 2 ? c.args.values[1] : none();
  }
  return make_dict(c.m, entries, keys.n, c.out);
}

bool list_index(const Call& c) {
  if (!takes(c, 1, 3)) return false;
  int64_t start = 0, end = c.self.n;
  if (!take_place(c, argument(c, 1), false, 0, c.self.n, &start) || !take_place(c, argument(c, 2), false, c.self.n, c.self.n, &end))
    return false;
  for (int64_t i = start; i < end && i < c.self.n; ++i)
    if (equal(c.m, c.self.items[i], c.args.values[0])) return give_integer(c, static_cast<size_t>(i), c.self, c.args.values[0]);
  return c.m.status == LINNET_OK && bad(c, "the value is not there");
}

bool list_count(const Call& c) {
  if (!takes(c, 1, 1)) return false;
  size_t n = 0;
  for (uint32_t i = 0; i < c.self.n; ++i) n += equal(c.m, c.self.items[i], c.args.values[0]);
  return c.m.status == LINNET_OK && give_integer(c, n, c.self, c.args.values[0]);
}

bool range_find(const Call& c) {
  if (!takes(c, 1, 1)) return false;
  Iterator it;
  if (!begin(c.m, c.self, &it)) return false;
  Value item;
  for (size_t i = 0;; ++i) {
    const Next got = next(c.m, &it, &item);
    if (got == Next::kFailed) return false;
    if (got == Next::kEnd) break;
    if (equal(c.m, item, c.args.values[0])) return give_integer(c, c.row.how & kMust ? i : 1, c.self, c.args.values[0]);
  }
  return c.row.how & kMust ? bad(c, "the value is not there") : give_integer(c, 0, c.self, c.args.values[0]);
}

// ---- numbers

uint64_t size_of(const Value& v) {
  return v.integer < 0 ? uint64_t{0} - static_cast<uint64_t>(v.integer) : static_cast<uint64_t>(v.integer);
}

enum : uint32_t { kBitLength, kBitCount };
int bits_of(uint64_t v) {
  int n = 0;
  for (; v; v &= v - 1) ++n;
  return n;
}
bool int_bits(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  const uint64_t v = size_of(c.self);
  const int n = c.row.how == kBitCount ? bits_of(v) : v ? 64 - __builtin_clzll(v) : 0;
  return give_integer(c, static_cast<size_t>(n), c.self, c.self);
}

bool int_ratio(const Call& c) {
  return takes(c, 0, 0) && make_pair(c.m, integer(c.self.integer, c.self.from()), integer(1, c.self.from()), c.out);
}

bool itself(const Call& c) { return takes(c, 0, 0) && give(c, c.self.is(Kind::kBool) ? integer(c.self.integer, c.self.from()) : c.self); }

// A float as a whole number times a power of two.
void parts_of(double v, uint64_t* whole, int* exponent) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  const int power = static_cast<int>(bits >> 52 & 0x7FF);
  *whole = (bits & ((uint64_t{1} << 52) - 1)) | (power ? uint64_t{1} << 52 : 0);
  *exponent = (power ? power : 1) - 1075;
}
bool is_finite(double v) { return v - v == 0; }

bool float_is_integer(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  uint64_t whole = 0;
  int exponent = 0;
  parts_of(c.self.real, &whole, &exponent);
  const bool is = whole == 0 || exponent >= 0 || __builtin_ctzll(whole) >= -exponent;
  return give_bool(c, is && is_finite(c.self.real), c.self, c.self);
}

bool float_ratio(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  if (!is_finite(c.self.real)) return bad(c, "the number is not finite");
  uint64_t whole = 0, below = 1;
  int exponent = 0;
  parts_of(c.self.real, &whole, &exponent);
  const int zeros = whole ? __builtin_ctzll(whole) : 0;
  whole >>= zeros;
  exponent = whole ? exponent + zeros : 0;
  if (exponent < -62 || exponent > 62 || (exponent > 0 && whole >> (63 - exponent))) return bad(c, "an integer beyond 64 bits");
  if (exponent < 0) below <<= -exponent;
  if (exponent > 0) whole <<= exponent;
  const int64_t above = static_cast<int64_t>(whole);
  return make_pair(c.m, integer(c.self.real < 0 ? -above : above, c.self.from()), integer(static_cast<int64_t>(below), c.self.from()),
                   c.out);
}

bool float_hex(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  const double v = c.self.real;
  const uint8_t from = c.self.from();
  const size_t mark = c.m.mark();
  if (!is_finite(v)) return put_repr(c.m, c.self) && c.m.finish(mark, c.out);
  uint64_t whole = 0;
  int exponent = 0;
  parts_of(v, &whole, &exponent);
  char digits[13];
  for (size_t i = 0; i < sizeof digits; ++i) digits[i] = "0123456789abcdef"[whole >> (48 - 4 * i) & 15];
  if (!c.m.put(__builtin_signbit(v) ? "-0x" : "0x", from) || !c.m.put(whole >> 52 ? "1." : "0.", from)) return false;
  if (!c.m.put(whole ? std::string_view(digits, sizeof digits) : "0", from) || !c.m.put(whole == 0 || exponent >= -52 ? "p+" : "p", from))
    return false;
  return c.m.put_integer(whole ? exponent + 52 : 0, from) && c.m.finish(mark, c.out);
}

// ---- cyclers

bool cycler_next(const Call& c) {
  Cycler& cycler = *c.self.cycler;
  if (!takes(c, 0, 0)) return false;
  const uint32_t at = cycler.at;
  cycler.at = (at + 1) % cycler.items.n;
  return give(c, cycler.items.items[at]);
}
bool cycler_reset(const Call& c) {
  if (!takes(c, 0, 0)) return false;
  c.self.cycler->at = 0;
  return give(c, none());
}

// ---- attributes that are no methods

enum : uint32_t { kImaginary, kDenominator };
bool number_part(const Call& c) {
  if (c.self.is(Kind::kFloat)) return give(c, real(0, c.self.from()));
  return give(c, integer(c.row.how == kDenominator, c.self.from()));
}

bool group_part(const Call& c) { return give(c, c.self.items[c.row.how]); }

bool range_part(const Call& c) {
  const Range& r = *c.self.range;
  return give(c, integer(c.row.how == 0 ? r.start : c.row.how == 1 ? r.stop : r.step, c.self.from()));
}

bool cycler_current(const Call& c) { return give(c, c.self.cycler->items.items[c.self.cycler->at]); }
bool cycler_place(const Call& c) { return give(c, integer(c.self.cycler->at)); }
bool cycler_items(const Call& c) { return give(c, c.self.cycler->items); }
bool joiner_used(const Call& c) { return give(c, boolean(c.self.cycler->at != 0)); }

bool macro_name(const Call& c) {
  const uint32_t name = c.self.macro->function->name;
  return give(c, name == kNoName ? none() : text(c.m.program->text(name)));
}
bool macro_takes(const Call& c) { return give(c, boolean((c.self.macro->function->flags & c.row.how) != 0)); }
bool macro_arguments(const Call& c) {
  const Function& f = *c.self.macro->function;
  Value* const items = c.m.take_values(f.n_params);
  if (!items) return false;
  for (uint32_t i = 0; i < f.n_params; ++i) items[i] = text(c.m.program->text(c.m.program->names[f.slot_names + i]));
  return make_list(c.m, Kind::kTuple, items, f.n_params, c.out);
}

constexpr uint32_t how_of(Case to) { return static_cast<uint32_t>(to); }
constexpr Row kRows[] = {
    {"split", kText, 0, text_split},
    {"strip", kText, kLeft | kRight, text_strip},
    {"lstrip", kText, kLeft, text_strip},
    {"rstrip", kText, kRight, text_strip},
    {"startswith", kText, kLeft, text_begins},
    {"endswith", kText, kRight, text_begins},
    {"replace", kText, 0, text_replace},
    {"join", kText, 0, text_join},
    {"format", kText, 0, text_format},
    {"format_map", kText, 0, text_format_map},
    {"upper", kText, how_of(Case::kUpper), text_case},
    {"lower", kText, how_of(Case::kLower), text_case},
    {"title", kText, how_of(Case::kTitle), text_case},
    {"capitalize", kText, how_of(Case::kCapitalize), text_case},
    {"swapcase", kText, how_of(Case::kSwap), text_case},
    {"casefold", kText, how_of(Case::kFold), text_case},
    {"find", kText, 0, text_find},
    {"rfind", kText, kFromRight, text_find},
    {"index", kText, kMust, text_find},
    {"rindex", kText, kMust | kFromRight, text_find},
    {"count", kText, 0, text_count},
    {"removeprefix", kText, kLeft, text_remove},
    {"removesuffix", kText, kRight, text_remove},
    {"rsplit", kText, kFromRight, text_split},
    {"splitlines", kText, 0, text_lines},
    {"partition", kText, 0, text_partition},
    {"rpartition", kText, kFromRight, text_partition},
    {"center", kText, kLeft | kRight, text_pad},
    {"ljust", kText, kRight, text_pad},
    {"rjust", kText, kLeft, text_pad},
    {"zfill", kText, 0, text_zfill},
    {"expandtabs", kText, 0, text_expand_tabs},
    {"isalnum", kText, 0, text_is},
    {"isalpha", kText, 1, text_is},
    {"isdecimal", kText, 2, text_is},
    {"isdigit", kText, 3, text_is},
    {"isnumeric", kText, 4, text_is},
    {"isprintable", kText, 5, text_is},
    {"isspace", kText, 6, text_is},
    {"isascii", kText, 0, text_is_ascii},
    {"isidentifier", kText, 0, text_is_identifier},
    {"isupper", kText, how_of(Case::kUpper), text_is_case},
    {"islower", kText, how_of(Case::kLower), text_is_case},
    {"istitle", kText, how_of(Case::kTitle), text_is_case},
    {"encode", kText, 0, refused},
    {"maketrans", kText, 0, refused},
    {"translate", kText, 0, refused},
    {"striptags", kMarkups, 0, text_striptags},
    {"escape", kMarkups, 0, text_escape},
    {"unescape", kMarkups, 0, refused},
    {"items", kDict, kItems, dict_view},
    {"keys", kDict, kKeys, dict_view},
    {"values", kDict, kValues, dict_view},
    {"get", kDict, 0, dict_get},
    {"fromkeys", kDict | of(Kind::kFunction), 0, dict_from_keys},
    {"copy", kDict | kList, 0, copy},
    {"index", kSequence, 0, list_index},
    {"count", kSequence, 0, list_count},
    {"index", kRanges, kMust, range_find},
    {"count", kRanges, 0, range_find},
    {"append", kList, 0, nullptr},
    {"clear", kList | kDict, 0, nullptr},
    {"extend", kList, 0, nullptr},
    {"insert", kList, 0, nullptr},
    {"pop", kList | kDict, 0, nullptr},
    {"remove", kList, 0, nullptr},
    {"reverse", kList, 0, nullptr},
    {"sort", kList, 0, nullptr},
    {"popitem", kDict, 0, nullptr},
    {"setdefault", kDict, 0, nullptr},
    {"update", kDict, 0, nullptr},
    {"bit_length", kWholeNumber, kBitLength, int_bits},
    {"bit_count", kWholeNumber, kBitCount, int_bits},
    {"as_integer_ratio", kWholeNumber, 0, int_ratio},
    {"as_integer_ratio", kFloat, 0, float_ratio},
    {"conjugate", kNumbers | kFloat, 0, itself},
    {"to_bytes", kNumbers, 0, refused},
    {"from_bytes", kNumbers, 0, refused},
    {"bit_length", of(Kind::kBig), 0, refused},
    {"bit_count", of(Kind::kBig), 0, refused},
    {"as_integer_ratio", of(Kind::kBig), 0, refused},
    {"is_integer", kFloat, 0, float_is_integer},
    {"hex", kFloat, 0, float_hex},
    {"fromhex", kFloat, 0, refused},
    {"real", kNumbers | kFloat | kAttribute, 0, itself},
    {"imag", kNumbers | kFloat | kAttribute, kImaginary, number_part},
    {"numerator", kNumbers | kAttribute, 0, itself},
    {"denominator", kNumbers | kAttribute, kDenominator, number_part},
    {"start", kRanges | kAttribute, 0, range_part},
    {"stop", kRanges | kAttribute, 1, range_part},
    {"step", kRanges | kAttribute, 2, range_part},
    {"grouper", kGroups | kAttribute, 0, group_part},
    {"list", kGroups | kAttribute, 1, group_part},
    {"next", kCyclers, 0, cycler_next},
    {"reset", kCyclers, 0, cycler_reset},
    {"current", kCyclers | kAttribute, 0, cycler_current},
    {"pos", kCyclers | kAttribute, 0, cycler_place},
    {"items", kCyclers | kAttribute, 0, cycler_items},
    {"sep", kJoiners | kAttribute, 0, cycler_items},
    {"used", kJoiners | kAttribute, 0, joiner_used},
    {"name", kMacros | kAttribute, 0, macro_name},
    {"arguments", kMacros | kAttribute, 0, macro_arguments},
    {"catch_kwargs", kMacros | kAttribute, kTakesNamed, macro_takes},
    {"catch_varargs", kMacros | kAttribute, kTakesMore, macro_takes},
    {"caller", kMacros | kAttribute, kTakesCaller, macro_takes},
};

const Row* find_row(const Value& v, std::string_view name) {
  const bool flagged = v.flags & (kMarkup | kWhole);
  if (v.is(Kind::kFunction) && v.depth != static_cast<uint16_t>(FunctionId::kDictOf)) return nullptr;
  for (const Row& row : kRows)
    if ((row.kinds & of(v.kind)) && row.name == name && (flagged || row.kinds >> 31 == 0)) return &row;
  return nullptr;
}

// Names between double underscores that a dict has, others are keys; of an undefined value others are an error.
constexpr std::string_view kOfDicts =
    " class class_getitem contains delattr delitem dir doc eq format ge getattribute getitem getstate gt hash init init_subclass ior iter "
    "le "
    "len lt ne new or reduce reduce_ex repr reversed ror setattr setitem sizeof str subclasshook ";

bool is_internal(const Value& v, std::string_view name) {
  if (name.size() < 5 || cut(name, 0, 2) != "__" || cut(name, name.size() - 2) != "__") return false;
  const std::string_view inner = cut(name, 2, name.size() - 4);
  if (!v.is(Kind::kDict) && !v.is(Kind::kUndefined)) return true;
  for (size_t at = find_in(kOfDicts, inner); at != kNowhere; at = find_in(kOfDicts, inner, at + 1))
    if (kOfDicts[at - 1] == ' ' && kOfDicts[at + inner.size()] == ' ') return true;
  return false;
}

}  // namespace

bool find_method(Machine& m, const Value& of, std::string_view name, bool* found, Value* out) {
  const Row* const row = find_row(of, name);
  *found = row || is_internal(of, name);
  if (!*found) return true;
  if (row && row->run) {
    if (row->kinds & kAttribute) return row->run({m, *row, of, {}, out});
    Method* const method = static_cast<Method*>(m.take(sizeof(Method)));
    if (!method) return false;
    *method = {of, row->name};
    Value v;
    v.kind = Kind::kMethod;
    v.method = method;
    *out = v;
    return true;
  }
  // As in the sandbox such a name has no value, and its use says why.
  const size_t mark = m.mark();
  Value why;
  if (!m.put("the attribute '", 0) || !m.put(name, 0) || !m.put("' of a ", 0) || !m.put(type_name(of), 0)) return false;
  if (!m.put(" is not safe to use", 0) || !m.finish(mark, &why)) return false;
  *out = undefined(why.view(), true);
  return true;
}

bool call_method(Machine& m, const Method& method, const Args& args, Value* out) {
  const Row* const row = find_row(method.self, method.name);
  if (!row || !row->run) return m.fail("a ", type_name(method.self), " has no method '", method.name, "'");
  return row->run({m, *row, method.self, args, out});
}

}  // namespace linnet::chat
