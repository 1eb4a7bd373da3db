// What is done with texts: looked for, cut, replaced, padded, changed in case. Every byte keeps its origin.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {
namespace {

// Where the character before `end` > 0 begins.
size_t before(std::string_view s, size_t end) {
  do --end;
  while (end > 0 && (static_cast<uint8_t>(s[end]) & 0xC0) == 0x80);
  return end;
}
Char char_at(std::string_view s, size_t at) { return next_char(s.data() + at, s.size() - at); }
uint32_t code_at(std::string_view s, size_t at) { return char_at(s, at).code; }

uint8_t origin(const Value& t, size_t at) { return t.marks ? t.marks[at] : t.from(); }

// Compares, and counts what it looked at: a text of one letter, looked for in such a text, costs the product of both.
struct Comparer {
  Machine& m;
  uint64_t looked_at = 0;
  bool able = true;  // steps are left
  bool same(const char* a, std::string_view b) {
    size_t i = 0;
    while (i < b.size() && a[i] == b[i]) ++i;
    looked_at += i + 1;
    if (looked_at >= 4096) pay();
    return i == b.size();
  }
  bool pay() {
    able = able && m.spend(looked_at / 16 + 1);
    looked_at = 0;
    return able;
  }
};

// Finishes a text that was made of `of`.
bool finish_as(Machine& m, size_t mark, const Value& of, Value* out) {
  if (!m.finish(mark, out)) return false;
  out->flags = static_cast<uint8_t>(out->flags | (of.flags & kMarkup));
  return true;
}

// A sigma at the end of a word has a form of its own: cased letters stand before it and none behind, what is ignorable aside.
uint32_t small_sigma(std::string_view s, size_t at) {
  bool cased = false;
  for (size_t i = at; i > 0 && !cased;) {
    i = before(s, i);
    const uint32_t code = code_at(s, i);
    if (is_case_ignorable(code)) continue;
    if (!is_cased(code)) break;
    cased = true;
  }
  for (size_t i = at + char_at(s, at).bytes; cased && i < s.size();) {
    const Char c = char_at(s, i);
    i += c.bytes;
    if (is_case_ignorable(c.code)) continue;
    cased = !is_cased(c.code);
    break;
  }
  return cased ? 0x3C2 : 0x3C3;
}

// Items that are pieces of a text: nothing else is taken between them, so that they lie in a row.
struct Pieces {
  Machine& m;
  const Value& text;
  Value* items;
  size_t n = 0;
  Pieces(Machine& machine, const Value& t) : m(machine), text(t), items(machine.take_values(0)) {}
  bool add(size_t from, size_t to) {
    if (!items || !m.take_values(1)) return false;
    items[n++] = piece(text, from, to - from);
    return true;
  }
  bool finish(Value* out) { return items && make_list(m, Kind::kList, items, n, out); }
  void reverse() {
    for (size_t i = 0; i < n / 2; ++i) {
      const Value v = items[i];
      items[i] = items[n - 1 - i];
      items[n - 1 - i] = v;
    }
  }
};

bool split_white(Machine& m, const Value& t, uint64_t most, Value* out) {
  Pieces list(m, t);
  const std::string_view s = t.view();
  for (size_t at = 0;;) {
    while (at < s.size() && is_space(code_at(s, at))) at += char_at(s, at).bytes;
    if (at == s.size()) return list.finish(out);
    size_t end = list.n == most ? s.size() : at;
    while (end < s.size() && !is_space(code_at(s, end))) end += char_at(s, end).bytes;
    if (!list.add(at, end)) return false;
    at = end;
  }
}

bool split_white_last(Machine& m, const Value& t, uint64_t most, Value* out) {
  Pieces list(m, t);
  const std::string_view s = t.view();
  for (size_t end = s.size();;) {
    while (end > 0 && is_space(code_at(s, before(s, end)))) end = before(s, end);
    if (end == 0) break;
    size_t at = list.n == most ? 0 : end;
    while (at > 0 && !is_space(code_at(s, before(s, at)))) at = before(s, at);
    if (!list.add(at, end)) return false;
    end = at;
  }
  list.reverse();
  return list.finish(out);
}

}  // namespace

Value piece(const Value& text, size_t at, size_t n) {
  Value v = part(text, at, n);
  if (!v.marks || (n && std::memchr(v.marks, v.marks[0] ^ kData, n))) return v;
  v.flags = static_cast<uint8_t>((v.flags & ~kData) | (n ? v.marks[0] : 0));
  v.marks = nullptr;
  return v;
}

bool find_bytes(Machine& m, std::string_view in, std::string_view what, size_t from, size_t* at) {
  *at = kNowhere;
  Comparer compare{m};
  for (size_t i = from; compare.able && i <= in.size() && what.size() <= in.size() - i; ++i) {
    if (!what.empty()) {
      const void* const p = std::memchr(in.data() + i, what[0], in.size() - i - what.size() + 1);
      const size_t next = p ? static_cast<size_t>(static_cast<const char*>(p) - in.data()) : in.size();
      compare.looked_at += (next - i) / 4;
      i = next;
      if (!p) break;
    }
    if (compare.same(in.data() + i, what)) {
      *at = i;
      break;
    }
  }
  return compare.pay();
}

bool find_last_bytes(Machine& m, std::string_view in, std::string_view what, size_t* at) {
  *at = kNowhere;
  Comparer compare{m};
  if (what.size() > in.size()) return true;
  for (size_t i = in.size() - what.size() + 1; compare.able && i-- > 0;) {
    if (!compare.same(in.data() + i, what)) continue;
    *at = i;
    break;
  }
  return compare.pay();
}

bool change_case(Machine& m, const Value& text, Case to, Value* out) {
  const std::string_view s = text.view();
  const size_t mark = m.mark();
  bool in_word = false;
  for (size_t i = 0; i < s.size();) {
    const Char c = char_at(s, i);
    uint32_t codes[3] = {c.code};
    size_t n = 1;
    const bool first = to == Case::kCapitalize ? i == 0 : !in_word;
    if (to == Case::kUpper || (to == Case::kSwap && is_lower(c.code))) {
      n = to_upper(c.code, codes);
    } else if (to == Case::kFold) {
      n = to_folded(c.code, codes);
    } else if (first && (to == Case::kTitle || to == Case::kCapitalize)) {
      n = to_title(c.code, codes);
    } else if (to != Case::kSwap || is_upper(c.code)) {
      if (c.code == 0x3A3) {
        codes[0] = small_sigma(s, i);
      } else {
        n = to_lower(c.code, codes);
      }
    }
    if (to == Case::kTitle) in_word = is_cased(c.code);
    for (size_t k = 0; k < n; ++k)
      if (!m.put_char(codes[k], origin(text, i))) return false;
    i += c.bytes;
  }
  return m.spend(s.size() / 4) && finish_as(m, mark, text, out);
}

bool strip(Machine& m, const Value& text, const Value& chars, uint32_t sides, Value* out) {
  const bool white = chars.is(Kind::kNone) || chars.is(Kind::kMissing);
  if (!white && !chars.is_text()) return m.fail("a text cannot be stripped of a ", type_name(chars));
  const std::string_view s = text.view(), set = white ? std::string_view() : chars.view();
  size_t at = 0, end = s.size();
  bool able = true;
  const auto goes = [&](size_t i) {
    const Char c = char_at(s, i);
    able = able && m.spend(set.size() / 16 + 1);
    return able && (white ? is_space(c.code) : find_in(set, cut(s, i, c.bytes)) != kNowhere);
  };
  if (sides & kLeft)
    while (at < end && goes(at)) at += char_at(s, at).bytes;
  if (sides & kRight)
    while (end > at && goes(before(s, end))) end = before(s, end);
  *out = piece(text, at, end - at);
  return able;
}

bool replace(Machine& m, const Value& text, const Value& from, const Value& to, int64_t most, Value* out) {
  const std::string_view s = text.view(), what = from.view();
  const uint64_t all = most < 0 ? UINT64_MAX : static_cast<uint64_t>(most);
  const size_t mark = m.mark();
  size_t at = 0;  // what lies before it is written
  uint64_t n = 0;
  for (; n < all; ++n) {
    size_t found = kNowhere;
    if (what.empty()) {  // before every character and behind the last one
      found = n == 0 ? 0 : at < s.size() ? at + char_at(s, at).bytes : kNowhere;
      if (!m.spend(1)) return false;
    } else if (!find_bytes(m, s, what, at, &found)) {
      return false;
    }
    if (found == kNowhere) break;
    if (!m.put(part(text, at, found - at)) || !m.put(to)) return false;
    at = found + what.size();
  }
  if (n == 0) {
    *out = text;
    return true;
  }
  return m.put(part(text, at, s.size() - at)) && finish_as(m, mark, text, out);
}

bool pad(Machine& m, const Value& text, int64_t width, const Value& fill, uint32_t sides, Value* out) {
  if (count_chars(fill) != 1) return m.fail("a text is filled with one character");
  const int64_t chars = static_cast<int64_t>(count_chars(text)), lacking = width > chars ? width - chars : 0;
  if (!m.spend(text.n / 32)) return false;
  if (!lacking) {
    *out = text;
    return true;
  }
  if (static_cast<uint64_t>(lacking) > m.out_bytes) return m.full("bytes of text", m.out_bytes);
  if (!m.spend(static_cast<uint64_t>(lacking) / 4)) return false;
  const int64_t left = sides == kLeft ? lacking : sides == kRight ? 0 : lacking / 2 + (lacking & width & 1);
  const size_t mark = m.mark();
  for (int64_t i = 0; i < left; ++i)
    if (!m.put(fill)) return false;
  if (!m.put(text)) return false;
  for (int64_t i = left; i < lacking; ++i)
    if (!m.put(fill)) return false;
  return finish_as(m, mark, text, out);
}

bool split(Machine& m, const Value& text, const Value& separator, int64_t most, bool last, Value* out) {
  const uint64_t cuts = most < 0 ? UINT64_MAX : static_cast<uint64_t>(most);
  const std::string_view s = text.view();
  if (separator.is(Kind::kNone) || separator.is(Kind::kMissing))
    return m.spend(s.size() / 4) && (last ? split_white_last(m, text, cuts, out) : split_white(m, text, cuts, out));
  if (!separator.is_text()) return m.fail("a text cannot be split at a ", type_name(separator));
  const std::string_view what = separator.view();
  if (what.empty()) return m.fail("a text cannot be split at an empty one");
  Pieces list(m, text);
  size_t at = 0, end = s.size(), found = 0;
  while (list.n < cuts) {
    if (!(last ? find_last_bytes(m, cut(s, 0, end), what, &found) : find_bytes(m, s, what, at, &found))) return false;
    if (found == kNowhere) break;
    if (!(last ? list.add(found + what.size(), end) : list.add(at, found))) return false;
    at = last ? 0 : found + what.size();
    end = last ? found : end;
  }
  if (!list.add(at, end)) return false;
  if (last) list.reverse();
  return list.finish(out);
}

bool split_lines(Machine& m, const Value& text, bool keep_ends, Value* out) {
  Pieces list(m, text);
  const std::string_view s = text.view();
  for (size_t at = 0; at < s.size();) {
    size_t end = at;
    while (end < s.size() && !ends_line(code_at(s, end))) end += char_at(s, end).bytes;
    size_t next = end;
    if (next < s.size()) next += s[next] == '\r' && next + 1 < s.size() && s[next + 1] == '\n' ? 2 : char_at(s, next).bytes;
    if (!list.add(at, keep_ends ? next : end)) return false;
    at = next;
  }
  return m.spend(s.size() / 4) && list.finish(out);
}

}  // namespace linnet::chat
