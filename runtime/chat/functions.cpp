// The functions that a template may call, and how arguments find their parameters.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {

bool take_args(Machine& m, const char* callee, const Args& args, std::initializer_list<std::string_view> names, uint32_t least,
               Value* out) {
  const uint32_t n = static_cast<uint32_t>(names.size());
  if (args.n > n) return m.fail(callee, "() takes at most ", n, " arguments, ", args.n, " were given");
  for (uint32_t i = 0; i < n; ++i) out[i] = i < args.n ? args.values[i] : Value{};
  for (uint32_t k = 0; k < args.n_named; ++k) {
    const std::string_view name = args.named[2 * k].view();
    uint32_t i = 0;
    while (i < n && names.begin()[i] != name) ++i;
    if (i == n) return m.fail(callee, "() got an unexpected keyword argument '", name, "'");
    if (!out[i].is(Kind::kMissing)) return m.fail(callee, "() got multiple values for argument '", name, "'");
    out[i] = args.named[2 * k + 1];
  }
  for (uint32_t i = 0; i < least; ++i)
    if (out[i].is(Kind::kMissing)) return m.fail(callee, "() missing 1 required positional argument: '", names.begin()[i], "'");
  return true;
}

namespace {

// ---- range, dict, namespace

bool make_range(Machine& m, const Args& args, Value* out) {
  if (args.n_named) return m.fail("range() takes no keyword arguments");
  if (args.n < 1 || args.n > 3) return m.fail("range() takes 1 to 3 arguments, ", args.n, " were given");
  uint8_t from = 0;
  for (uint32_t i = 0; i < args.n; ++i) {
    const Value& v = args.values[i];
    if (v.is(Kind::kUndefined)) return undefined_error(m, v);
    if (v.is(Kind::kBig)) return m.fail("range() of ", v.view(), ", an integer beyond 64 bits");
    if (!v.is_integer()) return m.fail("range() of a ", type_name(v), ", which is no integer");
    from |= v.from();
  }
  const int64_t start = args.n > 1 ? args.values[0].integer : 0;
  const int64_t stop = args.values[args.n > 1 ? 1 : 0].integer;
  const int64_t step = args.n > 2 ? args.values[2].integer : 1;
  if (step == 0) return m.fail("range() with step 0");
  const uint64_t first = static_cast<uint64_t>(start), end = static_cast<uint64_t>(stop);
  uint64_t n = 0;
  if (step > 0 ? start < stop : start > stop)
    n = step > 0 ? (end - first - 1) / static_cast<uint64_t>(step) + 1
                 : (first - end - 1) / (uint64_t{0} - static_cast<uint64_t>(step)) + 1;
  if (n > kMaxRange) return m.fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (", kMaxRange, ").");
  Range* const r = static_cast<Range*>(m.take(sizeof(Range)));
  if (!r) return false;
  *r = {start, stop, step, static_cast<uint32_t>(n)};
  Value v;
  v.kind = Kind::kRange, v.flags = from, v.range = r;
  *out = v;
  return true;
}

// dict(mapping or pairs, **named): entries in new memory, as make_dict takes them.
bool dict_entries(Machine& m, const char* callee, const Args& args, Value** entries, size_t* n) {
  if (args.n > 1) return m.fail(callee, "() takes at most 1 positional argument, ", args.n, " were given");
  Value list;
  const Value* const from = args.n ? &args.values[0] : nullptr;
  const bool mapping = from && from->is(Kind::kDict);
  if (from && from->is(Kind::kUndefined)) return undefined_error(m, *from);
  if (from && !mapping && !to_list(m, *from, &list)) return false;
  const size_t given = !from ? 0 : mapping ? from->n : list.n;
  *n = given + args.n_named;
  *entries = m.take_values(2 * *n);
  if (!*entries || !m.spend(*n)) return false;
  for (size_t i = 0; i < given; ++i) {
    const Value* entry = nullptr;
    Value pair;
    if (mapping) {
      entry = from->dict->entries + 2 * i;
    } else {
      if (!to_list(m, list.items[i], &pair)) return false;
      if (pair.n != 2) return m.fail(callee, "(): element ", i, " has length ", pair.n, "; 2 is required");
      entry = pair.items;
    }
    (*entries)[2 * i] = entry[0], (*entries)[2 * i + 1] = entry[1];
  }
  for (size_t i = 0; i < 2 * size_t{args.n_named}; ++i) (*entries)[2 * given + i] = args.named[i];
  return true;
}

bool make_namespace(Machine& m, const Args& args, Value* out) {
  Value* entries = nullptr;
  size_t n = 0;
  Value dict;
  if (!dict_entries(m, "namespace", args, &entries, &n) || !make_dict(m, entries, n, &dict)) return false;
  Namespace* const space = static_cast<Namespace*>(m.take(sizeof(Namespace)));
  const uint32_t room = dict.n + 4;  // a template often sets a few more
  Value* const names = m.take_values(room);
  Value* const values = m.take_values(room);
  if (!space || !names || !values) return false;
  for (uint32_t i = 0; i < dict.n; ++i) {
    const Value& name = dict.dict->entries[2 * i];
    if (!name.is_text()) return m.fail("a ", type_name(name), " is no name of a namespace's attribute");
    if (begins_with(name.view(), '_')) return m.fail("the attribute '", name.view(), "' of a namespace is private");
    names[i] = name, values[i] = dict.dict->entries[2 * i + 1];
  }
  *space = {names, values, dict.n, room};
  Value v;
  v.kind = Kind::kNamespace, v.space = space;
  *out = v;
  return true;
}

// What cycler() and joiner() give: `items` from the first on.
bool make_cycler(Machine& m, Kind kind, const Value& items, Value* out) {
  Cycler* const c = static_cast<Cycler*>(m.take(sizeof(Cycler)));
  if (!c) return false;
  *c = {items, 0};
  Value v;
  v.kind = kind, v.cycler = c;
  *out = v;
  return true;
}

// ---- strftime_now

constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

struct Moment {
  int64_t seconds;  // since 1970
  int64_t year;
  uint32_t month, day, hour, minute, second;  // month 0..11, day 1..31
  uint32_t weekday;                           // 0: Sunday
  uint32_t day_of_year;                       // 0..365
};

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Python's years are 1 to 9999.
bool moment_of(int64_t seconds, Moment* out) {
  if (seconds < -62135596800 || seconds > 253402300799) return false;
  const int64_t from_year_1 = seconds + 62135596800;
  const uint32_t of_day = static_cast<uint32_t>(from_year_1 % 86400);
  int64_t days = from_year_1 / 86400;
  const uint32_t weekday = static_cast<uint32_t>((days + 1) % 7);  // 1 January of year 1 was a Monday
  int64_t year = 1 + days / 146097 * 400;
  days %= 146097;
  while (days >= (is_leap(year) ? 366 : 365)) days -= is_leap(year++) ? 366 : 365;
  const uint32_t day_of_year = static_cast<uint32_t>(days);
  uint32_t month = 0, day = day_of_year;
  for (;; ++month) {
    const uint32_t length = month == 1 ? (is_leap(year) ? 29u : 28u) : month == 3 || month == 5 || month == 8 || month == 10 ? 30u : 31u;
    if (day < length) break;
    day -= length;
  }
  *out = {seconds, year, month, day + 1, of_day / 3600, of_day / 60 % 60, of_day % 60, weekday, day_of_year};
  return true;
}

// The year and the week of ISO 8601: those of the week's Thursday.
void iso_week(const Moment& t, int64_t* year, uint32_t* week) {
  int64_t thursday = int64_t{t.day_of_year} - (t.weekday + 6) % 7 + 3;
  *year = t.year;
  if (thursday < 0) thursday += is_leap(--*year) ? 366 : 365;
  if (const int64_t length = is_leap(*year) ? 366 : 365; thursday >= length) thursday -= length, ++*year;
  *week = static_cast<uint32_t>(thursday / 7 + 1);
}

// One conversion with its flags, as the C library reads it.
struct Conversion {
  char letter = 0, modifier = 0, pad = 0;
  bool upper = false, change = false;
  uint32_t width = 0;
  uint8_t from = 0;
};

bool put_time(Machine& m, const Value& format, const Moment& t, uint8_t from);

// What was put since `at` is moved to the right until it has `width` characters.
bool pad_left(Machine& m, size_t at, uint32_t width, char pad, uint8_t from) {
  const size_t bytes = m.n_out - at;
  const size_t chars = count_chars(text({m.out + at, bytes}));
  if (chars >= width) return true;
  const size_t more = width - chars;
  if (!put_fill(m, {&pad, 1}, more, from)) return false;
  std::memmove(m.out + at + more, m.out + at, bytes);
  std::memmove(m.marks + at + more, m.marks + at, bytes);
  std::memset(m.out + at, pad, more);
  std::memset(m.marks + at, from, more);
  return true;
}

bool put_number(Machine& m, const Conversion& c, int64_t v, uint32_t digits, bool blank = false) {
  const char pad = c.pad ? c.pad : blank ? '_' : '0';
  const size_t at = m.mark();
  if (!m.put_integer(v, c.from)) return false;
  if (pad != '-' && !pad_left(m, at, digits > c.width ? digits : c.width, pad == '_' ? ' ' : '0', c.from)) return false;
  return pad_left(m, at, c.width, ' ', c.from);
}

// What stands for a conversion: a text, or a format of its own. false in *known: there is no such conversion.
bool put_conversion(Machine& m, const Conversion& c, const Moment& t, bool* known) {
  const uint32_t hour12 = (t.hour + 11) % 12 + 1;
  int64_t year = 0;
  uint32_t week = 0;
  iso_week(t, &year, &week);
  std::string_view piece, format;
  bool upper = c.upper;
  switch (c.letter) {
    case 'a':
    case 'A':
      piece = kDays[t.weekday];
      if (c.letter == 'a') piece = cut(piece, 0, 3);
      upper |= c.change;
      break;
    case 'b':
    case 'h':
    case 'B':
      piece = kMonths[t.month];
      if (c.letter != 'B') piece = cut(piece, 0, 3);
      upper |= c.change;
      break;
    case 'p':
      piece = t.hour < 12 ? (c.change ? "am" : "AM") : (c.change ? "pm" : "PM");
      upper = false;
      break;
    case 'P':
      piece = t.hour < 12 ? "am" : "pm";
      upper = false;
      break;
    case 'n':
      piece = "\n";
      break;
    case 't':
      piece = "\t";
      break;
    case '%':
      piece = "%";
      break;
    case 'z':  // a naive time
    case 'Z':
      break;
    case 'c':
      format = "%a %b %e %H:%M:%S %Y";
      break;
    case 'D':
    case 'x':
      format = "%m/%d/%y";
      break;
    case 'F':
      format = "%Y-%m-%d";
      break;
    case 'R':
      format = "%H:%M";
      break;
    case 'r':
      format = "%I:%M:%S %p";
      break;
    case 'T':
    case 'X':
      format = "%H:%M:%S";
      break;
    case 'C':
      return put_number(m, c, t.year / 100, 1);
    case 'd':
      return put_number(m, c, t.day, 2);
    case 'e':
      return put_number(m, c, t.day, 2, true);
    case 'g':
      return put_number(m, c, year % 100, 2);
    case 'G':
      return put_number(m, c, year, 1);
    case 'H':
      return put_number(m, c, t.hour, 2);
    case 'I':
      return put_number(m, c, hour12, 2);
    case 'j':
      return put_number(m, c, t.day_of_year + 1, 3);
    case 'k':
      return put_number(m, c, t.hour, 2, true);
    case 'l':
      return put_number(m, c, hour12, 2, true);
    case 'm':
      return put_number(m, c, t.month + 1, 2);
    case 'M':
      return put_number(m, c, t.minute, 2);
    case 's':
      return put_number(m, c, t.seconds, 1);
    case 'S':
      return put_number(m, c, t.second, 2);
    case 'u':
      return put_number(m, c, (t.weekday + 6) % 7 + 1, 1);
    case 'U':
      return put_number(m, c, (t.day_of_year - t.weekday + 7) / 7, 2);
    case 'V':
      return put_number(m, c, week, 2);
    case 'w':
      return put_number(m, c, t.weekday, 1);
    case 'W':
      return put_number(m, c, (t.day_of_year - (t.weekday + 6) % 7 + 7) / 7, 2);
    case 'y':
      return put_number(m, c, t.year % 100, 2);
    case 'Y':
      return put_number(m, c, t.year, 1);
    default:
      *known = false;
      return true;
  }
  const size_t at = m.mark();
  if (!(format.empty() ? m.put(piece, c.from) : put_time(m, text(format), t, c.from))) return false;
  for (size_t i = at; upper && i < m.n_out; ++i)
    if (m.out[i] >= 'a' && m.out[i] <= 'z') m.out[i] = static_cast<char>(m.out[i] - 32);
  return c.letter == 'z' || pad_left(m, at, c.width, c.pad == '0' ? '0' : ' ', c.from);
}

// datetime.strftime in the C locale. `from` is added to what the format's own bytes say.
bool put_time(Machine& m, const Value& format, const Moment& t, uint8_t from) {
  const std::string_view s = format.view();
  for (size_t i = 0; i < s.size();) {
    const size_t percent = find_in(s, '%', i);
    const size_t plain = (percent == kNowhere ? s.size() : percent) - i;
    if (plain && !m.put(part(format, i, plain))) return false;
    i += plain;
    if (i == s.size()) break;
    Conversion c;
    c.from = from | (format.marks ? format.marks[i] : format.from());
    size_t k = i + 1;
    for (; k < s.size(); ++k) {
      if (s[k] == '_' || s[k] == '-' || s[k] == '0') {
        c.pad = s[k];
      } else if (s[k] == '^') {
        c.upper = true;
      } else if (s[k] == '#') {
        c.change = true;
      } else {
        break;
      }
    }
    for (; k < s.size() && s[k] >= '0' && s[k] <= '9'; ++k)
      c.width = c.width > 100000000 ? c.width : c.width * 10 + static_cast<uint32_t>(s[k] - '0');
    if (k < s.size() && (s[k] == 'E' || s[k] == 'O')) c.modifier = s[k++];
    bool known = k < s.size();
    if (known) c.letter = s[k];
    constexpr std::string_view kNoE = "aAbBdDeFgGhHIjklmMSUVwW", kNoO = "aAcDFxXY";
    if (c.modifier && has(c.modifier == 'E' ? kNoE : kNoO, c.letter)) known = false;
    if (c.letter == 'f' && k == i + 1) {  // the time has whole seconds
      if (!m.put("000000", c.from)) return false;
    } else {
      if (known && !put_conversion(m, c, t, &known)) return false;
      if (!known) {  // as it is
        const size_t at = m.mark();
        const size_t end = k < s.size() ? k + next_char(s.data() + k, s.size() - k).bytes : s.size();
        if (!m.put(part(format, i, end - i))) return false;
        for (size_t b = at; c.upper && b < m.n_out; ++b)
          if (m.out[b] >= 'a' && m.out[b] <= 'z') m.out[b] = static_cast<char>(m.out[b] - 32);
        if (!pad_left(m, at, c.width, c.pad == '0' ? '0' : ' ', c.from)) return false;
        i = end;
        continue;
      }
    }
    i = k + 1;
  }
  return true;
}

bool strftime_now(Machine& m, const Args& args, Value* out) {
  Value format;
  if (!take_args(m, "strftime_now", args, {"format"}, 1, &format)) return false;
  if (format.is(Kind::kUndefined)) return undefined_error(m, format);
  if (!format.is_text()) return m.fail("strftime_now() of a ", type_name(format), ", not of a text");
  if (has(format.view(), '\0')) return m.fail("strftime_now() of a text with a NUL");
  Moment t;
  if (!moment_of(m.now, &t)) return m.fail("strftime_now(): the time given is not in the years 1 to 9999");
  const size_t mark = m.mark();
  return put_time(m, format, t, 0) && m.finish(mark, out);
}

}  // namespace

bool call_function(Machine& m, FunctionId id, const Args& args, Value* out) {
  switch (id) {
    case FunctionId::kRangeOf:
      return make_range(m, args, out);
    case FunctionId::kDictOf: {
      Value* entries = nullptr;
      size_t n = 0;
      return dict_entries(m, "dict", args, &entries, &n) && make_dict(m, entries, n, out);
    }
    case FunctionId::kLipsum:
      return m.fail("lipsum() is refused: its text would differ from run to run");
    case FunctionId::kCyclerOf: {
      Value tuple;
      if (args.n_named) return m.fail("cycler() got an unexpected keyword argument '", args.named[0].view(), "'");
      if (!args.n) return m.fail("cycler(): at least one item has to be provided");
      Value* const items = m.take_values(args.n);
      if (!items) return false;
      for (uint32_t i = 0; i < args.n; ++i) items[i] = args.values[i];
      return make_list(m, Kind::kTuple, items, args.n, &tuple) && make_cycler(m, Kind::kCycler, tuple, out);
    }
    case FunctionId::kJoinerOf: {
      Value separator;
      if (!take_args(m, "joiner", args, {"sep"}, 0, &separator)) return false;
      return make_cycler(m, Kind::kJoiner, separator.is(Kind::kMissing) ? text(", ") : separator, out);
    }
    case FunctionId::kNamespaceOf:
      return make_namespace(m, args, out);
    case FunctionId::kRaise: {
      Value message;
      if (!take_args(m, "raise_exception", args, {"message"}, 1, &message) || !to_text(m, message, &message)) return false;
      m.status = linnet::fail(m.err, LINNET_BAD_ARG, message.view());
      if (m.err) m.err->line = m.line;
      return false;
    }
    case FunctionId::kStrftimeNow:
      return strftime_now(m, args, out);
    case FunctionId::kEnd:
      break;
  }
  return m.fail("a function that is not known");
}

}  // namespace linnet::chat
