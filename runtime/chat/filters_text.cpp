// Filters that make a text of a text.
#include "../../platform/utf8.h"
#include "filters.h"

namespace linnet::chat {
namespace {

bool is_word(uint32_t code) { return code == '_' || is_alnum(code); }

bool need_text(Machine& m, FilterId id, const Value& v) {
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  return v.is_text() || m.fail("the filter '", filter_name(id), "' of a ", type_name(v), ", which is no text");
}

bool title(Machine& m, const Value& t, Value* out) {
  const size_t mark = m.mark();
  for (size_t at = 0; at < t.n;) {
    // A word: what stands between white space and opening signs.
    size_t end = at, first = 0;
    while (end < t.n) {
      const Char c = next_char(t.text + end, t.n - end);
      if (is_space(c.code) || (c.code < 0x80 && has("-({[<", static_cast<char>(c.code)))) break;
      if (end == at) first = c.bytes;
      end += c.bytes;
    }
    if (end == at) {
      const uint32_t bytes = next_char(t.text + at, t.n - at).bytes;
      if (!m.put(part(t, at, bytes))) return false;
      at += bytes;
      continue;
    }
    Value upper, lower;
    if (!change_case(m, part(t, at, first), Case::kUpper, &upper) ||
        !change_case(m, part(t, at + first, end - at - first), Case::kLower, &lower) || !m.put(upper) || !m.put(lower))
      return false;
    at = end;
  }
  return m.finish(mark, out);
}

bool replace_filter(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[3], t, old, with;
  int64_t most = -1;
  if (!take_args(m, "replace", args, {"old", "new", "count"}, 2, a)) return false;
  if (!a[2].is(Kind::kNone) && !take_integer(m, FilterId::kReplace, a[2], -1, &most)) return false;
  if (!m.autoescape)
    return plain_text(m, v, &t) && plain_text(m, a[0], &old) && plain_text(m, a[1], &with) && replace(m, t, old, with, most, out);
  const auto is_markup = [](const Value& x) { return x.is_text() && (x.flags & kMarkup) != 0; };
  const bool escapes = is_markup(a[0]) || (is_markup(a[1]) && !is_markup(v));
  if (!(escapes ? escape(m, v, &t) : soft_text(m, v, &t)) || !soft_text(m, a[0], &old)) return false;
  return (is_markup(t) ? escape(m, a[1], &with) : soft_text(m, a[1], &with)) && replace(m, t, old, with, most, out);
}

bool indent(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[3], by, lines, t;
  if (!take_args(m, "indent", args, {"width", "first", "blank"}, 0, a) || !need_text(m, FilterId::kIndent, v)) return false;
  if (a[0].is_text()) {
    by = a[0];
  } else {
    int64_t width = 0;
    if (!take_integer(m, FilterId::kIndent, a[0], 4, &width) || !binary(m, Op::kMultiply, text(" "), integer(width, a[0].from()), &by))
      return false;
  }
  const bool blank = truth(a[2]);
  const bool escapes = (by.flags & kMarkup) && !(v.flags & kMarkup);  // the lines, where what they are indented by is a markup
  by.flags = static_cast<uint8_t>(by.flags | (v.flags & kMarkup));
  // A line break more, so that one at the end counts as an empty line behind it.
  size_t mark = m.mark();
  if (!m.put(v) || !m.put("\n", v.n ? from_at(v, v.n - 1) : uint8_t{0}) || !m.finish(mark, &t) || !split_lines(m, t, false, &lines))
    return false;
  mark = m.mark();
  for (uint32_t i = 0; i < lines.n; ++i) {
    Value line = lines.items[i];
    const bool indented = i && (blank || line.n);
    if ((i && !m.put("\n", 0)) || (indented && !m.put(by))) return false;
    if (escapes && (indented || blank) && !escape(m, line, &line)) return false;
    if (!m.put(line)) return false;
  }
  if (!finish_as(m, mark, static_cast<uint8_t>(v.flags | (escapes && blank ? kMarkup : 0)), out)) return false;
  return !truth(a[1]) || binary(m, Op::kAdd, by, Value(*out), out);
}

bool truncate(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[4];
  int64_t most = 0, leeway = 5, chars = 0, n_end = 0;
  if (!take_args(m, "truncate", args, {"length", "killwords", "end", "leeway"}, 0, a) ||
      !take_integer(m, FilterId::kTruncate, a[0], 255, &most))
    return false;
  if (!a[3].is(Kind::kNone) && !take_integer(m, FilterId::kTruncate, a[3], 5, &leeway)) return false;
  const Value end = a[2].is(Kind::kMissing) ? text("...") : a[2];
  if (!length(m, end, &n_end) || !length(m, v, &chars)) return false;
  if (most < n_end) return m.fail("truncate: expected length >= ", n_end, ", got ", most);
  if (leeway < 0) return m.fail("truncate: expected leeway >= 0, got ", leeway);
  if (chars <= most || chars - most <= leeway) {
    *out = v;
    return true;
  }
  if (!need_text(m, FilterId::kTruncate, v)) return false;
  Value kept = piece(v, 0, char_place(v, static_cast<size_t>(most - n_end)));
  const size_t blank = find_last_in(kept.view(), ' ');
  if (!truth(a[1]) && blank != kNowhere) kept = piece(kept, 0, blank);
  return m.spend(v.n / 32) && binary(m, Op::kAdd, kept, end, out);
}

// ---- wordwrap: as Python's textwrap breaks lines

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(uint32_t code) { return is_word(code) && !is_decimal(code); }
// What may stand before a dash of two hyphens.
bool is_before_dash(uint32_t code) { return is_word(code) || (code < 0x80 && code && has("!\"'&.,?", static_cast<char>(code))); }
// The character before place i, which becomes its place; 0 where there is none.
uint32_t char_before(std::string_view s, size_t* i) {
  if (*i == 0) return 0;
  const size_t end = *i;
  while (--*i > 0 && (static_cast<uint8_t>(s[*i]) & 0xC0) == 0x80) {
  }
  return next_char(s.data() + *i, end - *i).code;
}
uint32_t char_at(std::string_view s, size_t i) { return i < s.size() ? next_char(s.data() + i, s.size() - i).code : 0; }

// Behind the hyphens at i, if there are two or more and a word follows; else i.
size_t dash_end(std::string_view s, size_t i) {
  size_t end = i;
  while (end < s.size() && s[end] == '-') ++end;
  return end - i >= 2 && is_word(char_at(s, end)) ? end : i;
}

// Whether a word may be broken behind the hyphen at i: letters around it, as in a-b-c and ab-cd.
bool is_hyphen(std::string_view s, size_t i) {
  size_t before = i;
  if (!is_letter(char_before(s, &before))) return false;
  const uint32_t second = char_before(s, &before);
  if (!is_letter(second) && (second != '-' || !is_letter(char_before(s, &before)))) return false;
  const Char after = i + 1 < s.size() ? next_char(s.data() + i + 1, s.size() - i - 1) : Char{0, 1};
  if (!is_letter(after.code)) return false;
  size_t next = i + 1 + after.bytes;
  if (next < s.size() && s[next] == '-') ++next;
  return is_letter(char_at(s, next));
}

// The end of the piece at `at` that is not broken: white space, a dash, a word or a part of one.
size_t chunk_end(std::string_view s, size_t at, bool hyphens) {
  size_t i = at;
  if (is_blank(s[at])) {
    while (i < s.size() && is_blank(s[i])) ++i;
    return i;
  }
  if (hyphens && s[at] == '-') {
    size_t before = at;
    if (is_before_dash(char_before(s, &before)) && dash_end(s, at) > at) return dash_end(s, at);
  }
  for (;;) {
    i += next_char(s.data() + i, s.size() - i).bytes;
    if (i == s.size() || is_blank(s[i])) return i;
    if (!hyphens || s[i] != '-') continue;
    if (is_hyphen(s, i)) return i + 1;
    size_t before = i;
    if (is_before_dash(char_before(s, &before)) && dash_end(s, i) > i) return i;
  }
}

bool all_space(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const Char c = next_char(s.data() + i, s.size() - i);
    if (!is_space(c.code)) return false;
    i += c.bytes;
  }
  return true;
}

struct Wrap {
  size_t width;
  bool break_words, split_hyphens, cut_hyphens;
  Value between;
};

bool put_line(Machine& m, const Wrap& w, const Value& line) {
  Value escaped;
  if (!(w.between.flags & kMarkup)) return m.put(line);
  return escape(m, line, &escaped) && m.put(escaped);
}

// One paragraph.
bool wrap(Machine& m, const Wrap& w, const Value& t) {
  const std::string_view s = t.view();
  const auto chars = [&t](size_t from, size_t to) { return count_chars(part(t, from, to - from)); };
  size_t at = 0, lines = 0;
  size_t end = s.empty() ? 0 : chunk_end(s, 0, w.split_hyphens), n_chunk = chars(0, end);  // the piece that comes next
  const auto advance = [&] {
    at = end;
    end = at < s.size() ? chunk_end(s, at, w.split_hyphens) : at;
    n_chunk = chars(at, end);
  };
  if (!m.spend(s.size())) return false;
  while (at < s.size()) {
    if (!m.spend((end - at) / 32 + 1)) return false;
    if (lines && all_space(cut(s, at, end - at))) advance();
    const size_t begin = at;
    size_t last = at, pieces = 0, length = 0;  // of the line; where its last piece begins
    while (at < s.size() && length + n_chunk <= w.width) {
      last = at, length += n_chunk, ++pieces;
      advance();
    }
    if (at < s.size() && n_chunk > w.width) {
      size_t left = w.width - length;
      if (w.break_words) {
        size_t to = at + char_place(part(t, at, end - at), left);
        if (w.cut_hyphens) {
          // Behind the last hyphen that fits, unless there are nothing but hyphens before it.
          const size_t hyphen = find_last_in(cut(s, at, to - at), '-');
          if (hyphen != kNowhere && hyphen > 0 && find_other_than(cut(s, at, hyphen), "-") != kNowhere) {
            to = at + hyphen + 1;
            left = chars(at, to);
          }
        }
        last = at, at = to, n_chunk -= left, ++pieces;
      } else if (!pieces) {
        last = at, ++pieces;
        advance();
      }
    }
    const bool dropped = pieces && all_space(cut(s, last, at - last));
    if (pieces == (dropped ? 1 : 0)) continue;
    if ((lines++ && !m.put(w.between)) || !put_line(m, w, part(t, begin, (dropped ? last : at) - begin))) return false;
  }
  return true;
}

bool word_wrap(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[4], lines;
  int64_t width = 0;
  if (!take_args(m, "wordwrap", args, {"width", "break_long_words", "wrapstring", "break_on_hyphens"}, 0, a) ||
      !take_integer(m, FilterId::kWordWrap, a[0], 79, &width) || !need_text(m, FilterId::kWordWrap, v) || !split_lines(m, v, false, &lines))
    return false;
  const Value between = absent(a[2]) ? text("\n") : a[2];
  if (!need_text(m, FilterId::kWordWrap, between)) return false;
  if (lines.n && width <= 0) return m.fail("wordwrap: invalid width ", width, " (must be > 0)");
  const bool cut_hyphens = a[3].is(Kind::kMissing) || truth(a[3]);
  const Wrap w = {static_cast<size_t>(width), a[1].is(Kind::kMissing) || truth(a[1]),
                  cut_hyphens && (a[3].is(Kind::kMissing) || a[3].is(Kind::kBool)), cut_hyphens, between};
  const size_t mark = m.mark();
  for (uint32_t i = 0; i < lines.n; ++i)
    if ((i && !m.put(between)) || !wrap(m, w, lines.items[i])) return false;
  return finish_as(m, mark, between.flags, out);
}

bool word_count(Machine& m, const Value& t, Value* out) {
  int64_t n = 0;
  bool inside = false;
  for (size_t i = 0; i < t.n;) {
    const Char c = next_char(t.text + i, t.n - i);
    const bool word = is_word(c.code);
    n += word && !inside;
    inside = word;
    i += c.bytes;
  }
  *out = integer(n, from_of(t));
  return m.spend(t.n);
}

bool format_filter(Machine& m, const Value& t, const Args& args, Value* out) {
  Value with;
  if (args.n && args.n_named) return m.fail("can't handle positional and keyword arguments at the same time");
  if (!args.n_named) return make_list(m, Kind::kTuple, args.values, args.n, &with) && percent(m, t, with, out);
  Value* const entries = m.take_values(2 * size_t{args.n_named});
  if (!entries) return false;
  for (uint32_t i = 0; i < 2 * args.n_named; ++i) entries[i] = args.named[i];
  return make_dict(m, entries, args.n_named, &with) && percent(m, t, with, out);
}

}  // namespace

bool filter_text(Machine& m, FilterId id, const Value& v, const Args& args, Value* out) {
  Value t, a[4];
  switch (id) {
    case FilterId::kIndent:
      return indent(m, v, args, out);
    case FilterId::kReplace:
      return replace_filter(m, v, args, out);
    case FilterId::kTruncate:
      return truncate(m, v, args, out);
    case FilterId::kWordWrap:
      return word_wrap(m, v, args, out);
    case FilterId::kToJson:
      return take_args(m, "tojson", args, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0, a) &&
             to_json(m, v, truth(a[0]), a[1], a[2], truth(a[3]), out);
    case FilterId::kFormat:
      return soft_text(m, v, &t) && format_filter(m, t, args, out);
    case FilterId::kCenter: {
      int64_t width = 0;
      return take_args(m, "center", args, {"width"}, 0, a) && take_integer(m, id, a[0], 80, &width) && soft_text(m, v, &t) &&
             pad(m, t, width, text(" "), kLeft | kRight, out);
    }
    case FilterId::kTrim:
      if (!take_args(m, "trim", args, {"chars"}, 0, a) || !soft_text(m, v, &t)) return false;
      return (absent(a[0]) || need_text(m, id, a[0])) && strip(m, t, a[0], kLeft | kRight, out);
    default:
      break;
  }
  if (!take_args(m, filter_name(id).data(), args, {}, 0, nullptr)) return false;
  if (id == FilterId::kPrettyPrint) return pretty_print(m, v, out);
  if (!soft_text(m, v, &t)) return false;
  switch (id) {
    case FilterId::kCapitalize:
      return change_case(m, t, Case::kCapitalize, out);
    case FilterId::kLower:
      return change_case(m, t, Case::kLower, out);
    case FilterId::kString:
      *out = t;
      return true;
    case FilterId::kTitle:
      return title(m, t, out);
    case FilterId::kUpper:
      return change_case(m, t, Case::kUpper, out);
    case FilterId::kWordCount:
      return word_count(m, t, out);
    default:
      return m.fail("a filter that is not known");
  }
}

}  // namespace linnet::chat
