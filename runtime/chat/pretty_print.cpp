// The filter pprint: what Python's pprint makes of a value in lines of 80 characters.
#include "../../platform/utf8.h"
#include "filters.h"

namespace linnet::chat {
namespace {

constexpr int64_t kWidth = 80;

// Whether key a comes before b; what has no order goes by its type.
bool before(Machine& m, const Value& a, const Value& b, bool* out) {
  int o = 0;
  if (a.is(b.kind) || (a.is_number() && b.is_number())) {
    if (!order(m, a, b, &o)) return false;
  } else {
    o = compare(std::string_view(type_name(a)), type_name(b));
  }
  *out = o < 0;
  return true;
}

// The same value with the keys of its dicts in order.
bool in_order(Machine& m, const Value& v, Value* out) {
  *out = v;
  const bool dict = v.is(Kind::kDict);
  if (!v.n || (!dict && (!v.is_list() || (v.flags & kWhole)))) return true;
  const Value* const from = dict ? v.dict->entries : v.items;
  const size_t n = dict ? 2 * size_t{v.n} : v.n;
  Value* const to = m.take_values(n);
  if (!to || !m.spend(n)) return false;
  for (size_t i = 0; i < n; ++i)
    if (!in_order(m, from[i], &to[i])) return false;
  if (!dict) return make_list(m, v.kind, to, n, out);
  for (size_t i = 2; i < n; i += 2) {
    const Value key = to[i], value = to[i + 1];
    size_t at = i;
    for (bool less = true; at > 0; at -= 2) {
      if (!before(m, key, to[at - 2], &less)) return false;
      if (!less) break;
      to[at] = to[at - 2], to[at + 1] = to[at - 1];
    }
    to[at] = key, to[at + 1] = value;
  }
  return make_dict(m, to, v.n, out);
}

int64_t chars_since(const Machine& m, size_t mark) { return static_cast<int64_t>(count_chars(text({m.out + mark, m.n_out - mark}))); }

bool new_line(Machine& m, int64_t indent, uint8_t from) {
  return m.put("\n", from) && put_fill(m, " ", static_cast<uint64_t>(indent), from);
}

bool repr_chars(Machine& m, const Value& v, int64_t* chars) {
  const size_t mark = m.mark();
  if (!put_repr(m, v)) return false;
  *chars = chars_since(m, mark);
  m.drop(mark);
  return true;
}

// A text as one literal for each line, or for as many words as fit; in parentheses where it is the whole value.
bool put_long_text(Machine& m, const Value& v, int64_t indent, int64_t allowance, bool whole) {
  const size_t mark = m.mark();
  const uint8_t from = from_of(v);
  uint32_t n_literals = 0;
  Value lines;
  if (whole) ++indent, ++allowance;
  if (!split_lines(m, v, true, &lines) || (whole && !m.put("(", from))) return false;
  const auto put_literal = [&](const Value& literal) { return (!n_literals++ || new_line(m, indent, from)) && put_repr(m, literal); };
  for (uint32_t i = 0; i < lines.n; ++i) {
    const Value& line = lines.items[i];
    const bool last = i + 1 == lines.n;
    int64_t width = kWidth - indent, chars = 0;
    if (!repr_chars(m, line, &chars)) return false;
    if (chars <= width - (last ? allowance : 0)) {
      if (!put_literal(line)) return false;
      continue;
    }
    size_t begin = 0;  // of what goes into the next literal
    for (size_t at = 0; at < line.n;) {
      size_t end = at;
      for (bool space = false; end < line.n;) {  // a word and the white space behind it
        const Char c = next_char(line.text + end, line.n - end);
        if (space && !is_space(c.code)) break;
        space = is_space(c.code);
        end += c.bytes;
      }
      if (last && end == line.n) width -= allowance;
      if (!repr_chars(m, part(line, begin, end - begin), &chars)) return false;
      if (chars > width) {
        if (at > begin && !put_literal(part(line, begin, at - begin))) return false;
        begin = at;
      }
      at = end;
    }
    if (begin < line.n && !put_literal(part(line, begin, line.n - begin))) return false;
  }
  if (n_literals == 1) {
    m.drop(mark);
    return put_repr(m, v);
  }
  return !whole || m.put(")", from);
}

// `allowance` characters follow on the last line.
bool put_pretty(Machine& m, const Value& v, int64_t indent, int64_t allowance, bool whole) {
  const size_t mark = m.mark();
  if (!put_repr(m, v) || !m.spend((m.n_out - mark) / 32 + 1)) return false;
  const bool dict = v.is(Kind::kDict), literal = v.is_text() && v.n && !(v.flags & kMarkup);
  if (chars_since(m, mark) <= kWidth - indent - allowance || (!dict && !literal && (!v.is_list() || (v.flags & kWhole)))) return true;
  m.drop(mark);
  if (literal) return put_long_text(m, v, indent, allowance, whole);
  const uint8_t from = v.from();
  const std::string_view end = dict ? "}" : v.is(Kind::kList) ? "]" : v.n == 1 ? ",)" : ")";
  if (!m.put(dict ? "{" : v.is(Kind::kList) ? "[" : "(", from)) return false;
  for (uint32_t i = 0; i < v.n; ++i) {
    int64_t column = indent + 1;
    if (i && (!m.put(",", from) || !new_line(m, column, from))) return false;
    if (dict) {
      const size_t key = m.mark();
      if (!put_repr(m, v.dict->entries[2 * i]) || !m.put(": ", from)) return false;
      column += chars_since(m, key);
    }
    const int64_t follow = i + 1 < v.n ? 1 : allowance + static_cast<int64_t>(end.size());
    if (!put_pretty(m, dict ? v.dict->entries[2 * i + 1] : v.items[i], column, follow, false)) return false;
  }
  return m.put(end, from);
}

}  // namespace

bool pretty_print(Machine& m, const Value& v, Value* out) {
  Value ordered;
  if (!in_order(m, v, &ordered)) return false;
  const size_t mark = m.mark();
  return put_pretty(m, ordered, 0, 0, true) && m.finish(mark, out);
}

}  // namespace linnet::chat
