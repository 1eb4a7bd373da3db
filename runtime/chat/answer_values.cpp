// Values of calls on their way to JSON: JSON, Python and what Gemma writes.
#include "answer_parts.h"

namespace linnet::chat {

// Behind the JSON or Python text that begins at `at`.
size_t text_end(View s, size_t at) {
  for (size_t p = at + 1; p < s.size(); ++p) {
    if (s[p] == '\\')
      ++p;
    else if (s[p] == s[at])
      return p + 1;
  }
  return kMore;
}

void Answer::put_json(View t) {
  size_t from = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    const char c = t[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    put_args(cut(t, from, i - from));
    from = i + 1;
    constexpr View kCodes = "\b\f\n\r\t", kNames = "bfnrt";
    const size_t known = find_in(kCodes, c);
    const char kHex[] = "0123456789abcdef";
    if (c == '"' || c == '\\' || known != kNowhere) {
      const char escape[2] = {'\\', known != kNowhere ? kNames[known] : c};
      put_args({escape, 2});
    } else {
      const char escape[6] = {'\\', 'u', '0', '0', kHex[c >> 4 & 1], kHex[c & 15]};
      put_args({escape, 6});
    }
  }
  put_args(cut(t, from));
}

// A value as what its schema says, or as JSON; as a text where it is neither.
void Answer::put_typed(View value, View schema, bool json) {
  const View word = trimmed(value);
  const uint32_t kind = kind_of(word), types = types_of(schema, parameters_);
  bool as_text = word.empty();
  if (!json) {
    if (schema.empty())
      as_text = true;
    else if (types & kTextFirst)
      as_text = kind != kIsNull || !(types & kIsNull);
    else if (!(types & kind))
      as_text = as_text || kind == kIsText || (types & kIsText);
  }
  if (!as_text)
    for (const Arguments form : {Arguments::kJson, Arguments::kPython})
      if (reads(form, word, true)) {
        reads(form, word, false);
        return;
      }
  put_args("\"");
  put_json(value);
  put_args("\"");
}

void Answer::begin_literal(Arguments form, bool silent) {
  literal_ = {};
  literal_.form = form;
  literal_.silent = silent;
}

// Whether this is a value and no more; it goes out unless silent.
bool Answer::reads(Arguments form, View value, bool silent) {
  begin_literal(form, silent);
  size_t at = 0;
  const bool good = literal(value, &at, true) == Scan::kDone && skip_blanks(value, at) == value.size();
  literal_.silent = false;
  return good;
}

Answer::Scan Answer::literal(View s, size_t* at, bool whole) {
  Literal& l = literal_;
  for (;;) {
    if (l.text) {
      const Scan r = literal_text(s, at, whole);
      if (r != Scan::kDone) return r;
      if (!l.depth) return r;
      continue;
    }
    const size_t p = skip_blanks(s, *at);
    if (l.depth) put_args(cut(s, *at, p - *at));
    *at = p;
    if (p == s.size()) return Scan::kMore;
    const char c = s[p];
    const bool object = l.depth && (l.objects >> (l.depth - 1) & 1);
    const bool closing = l.depth && c == l.closers[l.depth - 1];
    if (closing && (l.want == Want::kNext || (l.first && l.want != Want::kColon))) {
      put_args(object ? "}" : "]");
      *at = p + 1;
      --l.depth;
      l.first = false;
      l.want = Want::kNext;
      if (!l.depth) return Scan::kDone;
      continue;
    }
    switch (l.want) {
      case Want::kNext: {
        if (c != ',') return Scan::kBroken;
        const size_t next = skip_blanks(s, p + 1);
        if (next == s.size()) return Scan::kMore;
        if (s[next] == l.closers[l.depth - 1]) {  // one comma too many
          if (l.form == Arguments::kJson) return Scan::kBroken;
          *at = next;
          continue;
        }
        put_args(",");
        *at = p + 1;
        l.want = object ? Want::kKey : Want::kValue;
        continue;
      }
      case Want::kColon:
        if (c != ':') return Scan::kBroken;
        put_args(":");
        *at = p + 1;
        l.want = Want::kValue;
        continue;
      case Want::kKey:
      case Want::kValue:
        break;
    }
    const bool key = l.want == Want::kKey;
    if (l.form == Arguments::kGemma && l.depth) {
      const size_t mark = match_mark(s, e_->quote.view(), p);
      if (mark == kMore) return Scan::kMore;
      if (mark != kNo) {
        l.text = l.marked = true;
        l.first = false;
        put_args("\"");
        *at = mark;
        continue;
      }
    }
    if (c == '"' || c == '\'') {
      l.text = true, l.marked = false, l.first = false;
      l.quote = c;
      put_args("\"");
      *at = p + 1;
      continue;
    }
    if (key) {
      if (l.form != Arguments::kGemma) return Scan::kBroken;
      size_t end = p;
      while (end < s.size() && s[end] != ':' && !one_of(s[end], "{}[],\n") && end - p <= kMaxName) ++end;
      if (end == s.size()) return Scan::kMore;
      if (s[end] != ':' || end == p) return Scan::kBroken;
      put_args("\"");
      put_json(trimmed(cut(s, p, end - p)));
      put_args("\"");
      *at = end;
      l.first = false;
      l.want = Want::kColon;
      continue;
    }
    const bool tuple = c == '(' && l.form == Arguments::kPython;
    if (c == '{' || c == '[' || tuple) {
      bool is_object = c == '{';
      if (is_object && l.form == Arguments::kPython) {
        // a set is a list
        const size_t next = skip_blanks(s, p + 1);
        if (next == s.size()) return Scan::kMore;
        if (s[next] == '"' || s[next] == '\'') {
          const size_t end = text_end(s, next), colon = end == kMore ? s.size() : skip_blanks(s, end);
          if (colon == s.size()) return Scan::kMore;
          is_object = s[colon] == ':';
        } else {
          is_object = s[next] == '}';
        }
      }
      if (l.depth == kMaxDepth) return Scan::kBroken;
      l.closers[l.depth] = c == '{' ? '}' : c == '[' ? ']' : ')';
      l.objects = is_object ? l.objects | uint64_t{1} << l.depth : l.objects & ~(uint64_t{1} << l.depth);
      ++l.depth;
      l.first = true;
      l.want = is_object ? Want::kKey : Want::kValue;
      put_args(is_object ? "{" : "[");
      *at = p + 1;
      continue;
    }
    const Scan r = literal_word(s, at, whole);
    if (r != Scan::kDone) return r;
    l.first = false;
    l.want = Want::kNext;
    if (!l.depth) return r;
  }
}

// Whether the quote before `at` ends its text. Python that models write has quotes inside of texts of the same quotes.
Answer::Scan Answer::text_closes(View s, size_t at, bool whole, bool* yes) const {
  const Literal& l = literal_;
  *yes = true;
  if (l.form == Arguments::kJson && l.quote == '"') return Scan::kDone;
  const bool ends = whole || final_;
  size_t p = skip_blanks(s, at);
  if (p == s.size()) return ends ? Scan::kDone : Scan::kMore;
  if (l.want == Want::kKey) return *yes = s[p] == ':', Scan::kDone;
  if (l.depth) return *yes = one_of(s[p], ",]})"), Scan::kDone;
  if (s[p] == ')') {
    const size_t next = skip_blanks(s, p + 1);
    if (next == s.size()) return ends ? Scan::kDone : Scan::kMore;
    *yes = one_of(s[next], "],;<[") || find_in(cut(s, p, next - p), '\n') != kNowhere;
    for (const Mark* m : {&e_->section_close, &e_->call_close}) *yes |= !m->empty() && s[next] == m->text[0];
    return Scan::kDone;
  }
  *yes = s[p] == ',';
  if (!*yes) return Scan::kDone;
  p = skip_blanks(s, p + 1);
  const size_t name = p;
  while (p < s.size() && is_word_char(s[p])) ++p;
  const size_t sign = skip_blanks(s, p);
  if (sign == s.size()) return ends ? Scan::kDone : Scan::kMore;
  *yes = (p > name && s[sign] == '=') || (p == name && s[sign] == ')');
  return Scan::kDone;
}

Answer::Scan Answer::literal_text(View s, size_t* at, bool whole) {
  Literal& l = literal_;
  const auto done = [&](size_t behind) {
    put_args("\"");
    *at = behind;
    l.text = false;
    l.want = l.want == Want::kKey ? Want::kColon : Want::kNext;
    return Scan::kDone;
  };
  size_t from = *at, p = from;
  const auto flush = [&] {
    put_args(cut(s, from, p - from));
    *at = from = p;
  };
  while (p < s.size()) {
    const char c = s[p];
    if (l.marked) {
      const size_t mark = match_mark(s, e_->quote.view(), p);
      if (mark == kNo) {
        if (static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\') {
          flush();
          put_json(cut(s, p, 1));
          from = p + 1;
        }
        ++p;
        continue;
      }
      flush();
      return mark == kMore ? Scan::kMore : done(mark);
    }
    if (c == l.quote) {
      bool yes = false;
      flush();
      if (text_closes(s, p + 1, whole, &yes) == Scan::kMore) return Scan::kMore;
      if (yes) return done(p + 1);
    }
    if (c == '"' || static_cast<uint8_t>(c) < 0x20) {
      flush();
      put_json(cut(s, p, 1));
      from = ++p;
      continue;
    }
    if (c != '\\') {
      ++p;
      continue;
    }
    flush();
    if (p + 1 == s.size()) return Scan::kMore;
    const char e = s[p + 1];
    size_t n = 2;
    if (one_of(e, "\"\\/bfnrt")) {
      put_args(cut(s, p, 2));
    } else if (e == '\'') {
      put_args("'");
    } else if (e == 'u') {
      for (size_t i = p + 2; i < p + 6; ++i) {
        if (i == s.size()) return Scan::kMore;
        if (hex_value(s[i]) < 0) break;
      }
      uint32_t code = 0, low = 0;
      if (!code_unit(s, p + 2, &code)) {
        put_args("\\\\");
        n = 1;
      } else {
        n = 6;
        if (code >> 10 == 0xD800 >> 10) {
          for (size_t i = p + 6; i < p + 12; ++i) {
            if (i == s.size()) return Scan::kMore;
            if (i == p + 6 ? s[i] != '\\' : i == p + 7 ? s[i] != 'u' : hex_value(s[i]) < 0) break;
          }
          if (cut(s, p + 6, 2) == "\\u" && code_unit(s, p + 8, &low) && low >> 10 == 0xDC00 >> 10) n = 12;
        }
        put_args(n == 6 && code >> 11 == 0xD800 >> 11 ? View("\\ufffd") : cut(s, p, n));
      }
    } else if (l.form == Arguments::kPython && e == 'x') {
      for (size_t i = p + 2; i < p + 4; ++i) {
        if (i == s.size()) return Scan::kMore;
        if (hex_value(s[i]) < 0) break;
      }
      if (hex_value(s[p + 2]) >= 0 && hex_value(s[p + 3]) >= 0) {
        put_args("\\u00");
        put_args(cut(s, p + 2, 2));
        n = 4;
      } else {
        put_args("\\\\");
        n = 1;
      }
    } else {
      put_args("\\\\");
      n = 1;
    }
    *at = from = p += n;
  }
  flush();
  return Scan::kMore;
}

// A number, or true, false, null as JSON or Python write them.
Answer::Scan Answer::literal_word(View s, size_t* at, bool whole) {
  size_t end = *at;
  while (end < s.size() && (is_word_char(s[end]) || one_of(s[end], "+-."))) ++end;
  if (end == s.size() && !whole) return Scan::kMore;
  const View w = cut(s, *at, end - *at);
  *at = end;
  const auto word = [this](View json) { return put_args(json), Scan::kDone; };
  if (w == "true" || w == "True") return word("true");
  if (w == "false" || w == "False") return word("false");
  if (w == "null" || w == "None") return word("null");
  size_t i = 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < w.size() && is_digit_char(w[i])) ++i;
    return cut(w, from, i - from);
  };
  const bool negative = !w.empty() && w[0] == '-';
  if (negative || (!w.empty() && w[0] == '+')) ++i;
  View integer = digits(), fraction, exponent;
  const bool point = i < w.size() && w[i] == '.';
  if (point) {
    ++i;
    fraction = digits();
  }
  if (integer.empty() && fraction.empty()) return Scan::kBroken;
  if (i < w.size() && (w[i] == 'e' || w[i] == 'E')) {
    const size_t from = i++;
    if (i < w.size() && (w[i] == '+' || w[i] == '-')) ++i;
    if (digits().empty()) return Scan::kBroken;
    exponent = cut(w, from);
  }
  if (i != w.size()) return Scan::kBroken;
  while (integer.size() > 1 && integer[0] == '0') integer.remove_prefix(1);
  if (negative) put_args("-");
  put_args(integer.empty() ? "0" : integer);
  if (point) put_args(".");
  if (point) put_args(fraction.empty() ? "0" : fraction);
  return word(exponent);
}

}  // namespace linnet::chat
