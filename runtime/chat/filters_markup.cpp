// Filters of HTML, XML and URLs.
#include "../../platform/utf8.h"
#include "filters.h"

namespace linnet::chat {
namespace {

// ---- striptags: works in place on what lies behind `mark`, which only becomes shorter

struct InPlace {
  Machine& m;
  size_t begin, to;  // what is done is [begin, to)
  char* s() const { return m.out; }
  void keep(size_t at) { m.out[to] = m.out[at], m.marks[to] = m.marks[at], ++to; }
  std::string_view left(size_t at) const { return {m.out + at, m.n_out - at}; }
  std::string_view done() const { return {m.out + begin, to - begin}; }
  void end() { m.n_out = to; }
};

// Takes off comments, <!-- to -->; what comes together may be one again. One without an end stays, with all behind it.
void strip_comments(InPlace t) {
  size_t at = t.begin;
  while (at < t.m.n_out) {
    t.keep(at++);
    if (!ends_with(t.done(), "<!--")) continue;
    // The end may use the hyphens of the begin.
    const std::string_view left = t.left(at);
    const size_t far = find_in(left, "-->");
    const bool near = begins_with(left, ">") || begins_with(left, "->");
    if (!near && far == kNowhere) break;
    at += near ? find_in(left, '>') + 1 : far + 3;
    t.to -= 4;
  }
  while (at < t.m.n_out) t.keep(at++);
  t.end();
}

void strip_tags(InPlace t) {
  size_t at = t.begin;
  for (bool more = true; at < t.m.n_out; ++at) {
    const size_t tag = more && t.s()[at] == '<' ? find_in(t.left(at), '>') : kNowhere;
    if (tag != kNowhere) {
      at += tag;
      continue;
    }
    more = more && t.s()[at] != '<';
    t.keep(at);
  }
  t.end();
}

// Words with one blank between them.
void join_words(InPlace t) {
  bool space = false;
  for (size_t at = t.begin; at < t.m.n_out;) {
    const Char c = next_char(t.s() + at, t.m.n_out - at);
    if (is_space(c.code)) {
      if (!space && t.to > t.begin) t.s()[t.to] = ' ', t.m.marks[t.to] = t.m.marks[at], ++t.to;
      space = true;
      at += c.bytes;
      continue;
    }
    space = false;
    for (uint32_t i = 0; i < c.bytes; ++i) t.keep(at++);
  }
  if (space && t.to > t.begin) --t.to;
  t.end();
}

// The characters that HTML names with or without a semicolon: those of ASCII, and U+00A0 to U+00FF in their order.
bool named_character(std::string_view name, uint32_t* code) {
  struct Name {
    std::string_view name;
    uint32_t code;
  };
  static constexpr Name kAscii[] = {{"quot", '"'}, {"QUOT", '"'}, {"amp", '&'}, {"AMP", '&'},   {"lt", '<'},
                                    {"LT", '<'},   {"gt", '>'},   {"GT", '>'},  {"COPY", 0xA9}, {"REG", 0xAE}};
  static constexpr std::string_view kLatin =
      "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot "
      "cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml "
      "Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig "
      "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute "
      "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
  if (name.size() < 2 || name.size() > 6) return false;
  for (const Name& n : kAscii)
    if (n.name == name) return *code = n.code, true;
  *code = 0xA0;
  for (size_t at = 0; at < kLatin.size(); ++*code) {
    size_t end = find_in(kLatin, ' ', at);
    if (end > kLatin.size()) end = kLatin.size();
    if (cut(kLatin, at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}
// Some of those that need the semicolon.
bool named_with_semicolon(std::string_view name, uint32_t* code) {
  struct Name {
    std::string_view name;
    uint32_t code;
  };
  static constexpr Name kNames[] = {{"apos", '\''},    {"bull", 0x2022},  {"hellip", 0x2026}, {"ndash", 0x2013}, {"mdash", 0x2014},
                                    {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"ldquo", 0x201C},  {"rdquo", 0x201D}, {"euro", 0x20AC},
                                    {"trade", 0x2122}, {"larr", 0x2190},  {"rarr", 0x2192},   {"le", 0x2264},    {"ge", 0x2265},
                                    {"ne", 0x2260},    {"infin", 0x221E}};
  for (const Name& n : kNames)
    if (n.name == name) return *code = n.code, true;
  return named_character(name, code);
}

// What a number stands for: that of Windows' code page for the controls of C1; 0: nothing at all.
uint32_t numbered_character(uint32_t n) {
  static constexpr uint16_t kWindows[32] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021, 0x2C6,  0x2030, 0x160,
                                            0x2039, 0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                            0x2013, 0x2014, 0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
  if (n >= 0x80 && n < 0xA0) return kWindows[n - 0x80];
  if (n == 0 || (n >= 0xD800 && n < 0xE000) || n > 0x10FFFF) return 0xFFFD;
  const bool control = n < 0x20 && n != '\t' && n != '\n' && n != '\f' && n != '\r';
  return control || n == 0x7F || (n >= 0xFDD0 && n <= 0xFDEF) || (n & 0xFFFE) == 0xFFFE ? 0 : n;
}

bool is_name_char(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The reference that `s` begins with behind its "&": how many bytes it has, 0 if it is none, and its character (0: nothing).
bool read_reference(Machine& m, std::string_view s, size_t* bytes, uint32_t* code) {
  *bytes = 0;
  if (begins_with(s, '#')) {
    const bool hex = s.size() > 1 && (s[1] | 0x20) == 'x';
    const size_t first = hex ? 2 : 1;
    uint32_t n = 0;
    size_t i = first;
    for (; i < s.size(); ++i) {
      const int digit = hex_value(s[i]);
      if (digit < 0 || (!hex && digit > 9)) break;
      n = n > 0x10FFFF ? n : n * (hex ? 16 : 10) + static_cast<uint32_t>(digit);
    }
    if (i == first) return true;
    *code = numbered_character(n);
    *bytes = i < s.size() && s[i] == ';' ? i + 1 : i;
    return true;
  }
  size_t n = 0;
  bool plain = true;
  for (uint32_t chars = 0; chars < 32 && n < s.size() && !has("\t\n\f <&#;", s[n]); ++chars) {
    plain &= is_name_char(s[n]);
    n += next_char(s.data() + n, s.size() - n).bytes;
  }
  if (!n) return true;
  if (!m.spend(32)) return false;
  const bool closed = n < s.size() && s[n] == ';';
  if (closed ? named_with_semicolon(cut(s, 0, n), code) : named_character(cut(s, 0, n), code)) {
    *bytes = n + closed;
    return true;
  }
  if (closed && plain) return m.fail("striptags does not know the character '&", cut(s, 0, n), ";'");
  for (size_t k = n + closed - 1 < 6 ? n + closed - 1 : 6; k > 1; --k)
    if (named_character(cut(s, 0, k), code)) {
      *bytes = k;
      break;
    }
  return true;
}

bool unescape(InPlace t) {
  for (size_t at = t.begin; at < t.m.n_out;) {
    size_t bytes = 0;
    uint32_t code = 0;
    if (t.s()[at] == '&' && !read_reference(t.m, t.left(at + 1), &bytes, &code)) return false;
    if (!bytes) {
      t.keep(at++);
      continue;
    }
    uint8_t from = 0;
    for (size_t i = 0; i <= bytes; ++i) from |= t.m.marks[at + i];
    // No character is longer than what names it. The text behind is still to be read: it is written by hand, not put.
    const size_t end = t.m.n_out;
    t.m.n_out = t.to;
    const bool ok = code == 0 || t.m.put_char(code, from);
    t.to = t.m.n_out;
    t.m.n_out = end;
    if (!ok) return false;
    at += 1 + bytes;
  }
  t.end();
  return true;
}

bool strip_markup(Machine& m, const Value& v, Value* out) {
  Value t;
  const size_t mark = m.mark();
  if (!plain_text(m, v, &t) || !m.put(t) || !m.spend(t.n)) return false;
  const InPlace all = {m, mark, mark};
  strip_comments(all);
  strip_tags(all);
  join_words(all);
  return unescape(all) && m.finish(mark, out);
}

// ---- URLs

// A value as a part of a URL; in a query "/" is quoted too, and a blank is "+".
bool put_quoted(Machine& m, const Value& v, bool query) {
  Value t;
  if (!plain_text(m, v, &t) || !m.spend(t.n)) return false;
  for (size_t i = 0; i < t.n; ++i) {
    const char c = t.text[i];
    const uint8_t byte = static_cast<uint8_t>(c);
    const bool plain = is_name_char(c) || c == '_' || c == '.' || c == '-' || c == '~' || (c == '/' && !query);
    const char code[3] = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
    const std::string_view piece = plain ? std::string_view(&t.text[i], 1) : query && c == ' ' ? "+" : std::string_view(code, 3);
    if (!m.put(piece, from_at(t, i))) return false;
  }
  return true;
}

bool url_encode(Machine& m, const Value& v, Value* out) {
  const size_t mark = m.mark();
  Value list;
  const bool items =
      v.is_list() || v.is(Kind::kRange) || v.is(Kind::kView) || v.is(Kind::kIterator) || v.is(Kind::kLoop) || v.is(Kind::kUndefined);
  if (!items && !v.is(Kind::kDict)) return put_quoted(m, v, false) && m.finish(mark, out);
  if (items && !to_list(m, v, &list)) return false;
  const size_t n = items ? list.n : v.n;
  for (size_t i = 0; i < n; ++i) {
    Value pair;
    if (items && !to_list(m, list.items[i], &pair)) return false;
    if (items && pair.n != 2) return m.fail("urlencode: item ", i, " has ", pair.n, " values, 2 are needed");
    const Value* const entry = items ? pair.items : v.dict->entries + 2 * i;
    if ((i && !m.put("&", 0)) || !put_quoted(m, entry[0], true) || !m.put("=", 0) || !put_quoted(m, entry[1], true)) return false;
  }
  return m.finish(mark, out);
}

// ---- urlize

bool is_word(uint32_t code) { return code == '_' || is_alnum(code); }
// Lower case where it is ASCII's, also of what only looks like it: the long s, the Kelvin sign, i with or without its dot.
uint32_t fold(uint32_t code) {
  if (code >= 'A' && code <= 'Z') return code + 32;
  return code == 0x130 || code == 0x131 ? 'i' : code == 0x17F ? 's' : code == 0x212A ? 'k' : code;
}

// How many characters s has; nowhere if one of them is not `of` the kind.
template <class Of>
size_t count_all(std::string_view s, Of of) {
  size_t n = 0;
  for (size_t i = 0; i < s.size(); ++n) {
    const Char c = next_char(s.data() + i, s.size() - i);
    if (!of(c.code)) return kNowhere;
    i += c.bytes;
  }
  return n;
}
// The bytes of s that are `prefix` but for the case; 0: it does not begin so.
size_t folded_prefix(std::string_view s, std::string_view prefix) {
  size_t at = 0;
  for (const char p : prefix) {
    if (at == s.size()) return 0;
    const Char c = next_char(s.data() + at, s.size() - at);
    if (fold(c.code) != static_cast<uint8_t>(p)) return 0;
    at += c.bytes;
  }
  return at;
}
bool is_host_char(uint32_t code) { return is_word(code) || code == '%' || code == '-'; }

// Labels with dots before them, each of `least` to `most` characters; what stands behind the last dot is *top.
bool read_labels(std::string_view s, size_t least, size_t most, uint32_t* labels, std::string_view* top) {
  *labels = 0;
  for (;;) {
    const size_t dot = find_in(s, '.');
    if (dot == kNowhere) break;
    const size_t n = count_all(cut(s, 0, dot), is_host_char);
    if (n == kNowhere || n < least || n > most) return false;
    ++*labels;
    s = cut(s, dot + 1);
  }
  *top = s;
  return true;
}

bool is_top_level(std::string_view s) {
  const size_t n = count_all(s, [](uint32_t code) { return fold(code) >= 'a' && fold(code) <= 'z'; });
  if (n != kNowhere && n >= 2 && n <= 63) return true;
  const size_t xn = folded_prefix(s, "xn--");
  const size_t rest = xn ? count_all(cut(s, xn), [](uint32_t code) { return is_word(code) || code == '%'; }) : kNowhere;
  return rest != kNowhere && rest >= 2 && rest <= 59;
}
bool is_known_top_level(std::string_view s) {
  static constexpr std::string_view kKnown[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
  for (const std::string_view k : kKnown)
    if (const size_t n = folded_prefix(s, k); n && n == s.size()) return true;
  return false;
}

bool is_ipv4(std::string_view s) {
  for (int i = 0; i < 4; ++i) {
    const size_t dot = i < 3 ? find_in(s, '.') : s.size();
    if (dot == kNowhere) return false;
    const size_t n = count_all(cut(s, 0, dot), is_decimal);
    if (n == kNowhere || n < 1 || n > 3) return false;
    s = cut(s, i < 3 ? dot + 1 : dot);
  }
  return true;
}
// "[" two groups of up to 4 digits with colons, then 1 to 6 of them with or without "]"; its bytes, 0 if it is none.
size_t ipv6_bytes(std::string_view s) {
  if (!begins_with(s, '[')) return 0;
  uint32_t groups = 0, digits = 0, colons = 0;
  for (size_t i = 1; i < s.size();) {
    const Char c = next_char(s.data() + i, s.size() - i);
    i += c.bytes;
    if (c.code == ']') return colons >= 2 && groups + (digits + 3) / 4 <= 6 ? i : 0;
    if (c.code == ':') {
      if (colons < 2 ? digits > 4 : false) return 0;
      if (++colons > 2) groups += digits ? (digits + 3) / 4 : 1;
      digits = 0;
    } else if (is_decimal(c.code) || (fold(c.code) >= 'a' && fold(c.code) <= 'f')) {
      ++digits;
    } else {
      return 0;
    }
  }
  return 0;
}

// What may stand behind a host: a port, then a path, a query or a fragment.
bool is_rest(std::string_view s) {
  if (begins_with(s, ':')) {
    size_t end = 1;
    while (end < s.size() && !has("/?#", s[end])) ++end;
    const size_t n = count_all(cut(s, 1, end - 1), is_decimal);
    if (n == kNowhere || n < 1 || n > 5) return false;
    s = cut(s, end);
  }
  return s.empty() || s[0] == '/' || s[0] == '?' || s[0] == '#';
}

bool is_url(std::string_view s) {
  const auto host_of = [](std::string_view of) { return cut(of, 0, find_one_of(of, ":/?#")); };
  size_t scheme = folded_prefix(s, "https://");
  if (!scheme) scheme = folded_prefix(s, "http://");
  const size_t begin = scheme ? scheme : folded_prefix(s, "www.");
  uint32_t labels = 0;
  std::string_view top;
  if (begin) {
    const std::string_view host = host_of(cut(s, begin));
    if (is_rest(cut(s, begin + host.size())) && read_labels(host, 1, SIZE_MAX - 1, &labels, &top) && is_top_level(top)) return true;
    if (scheme && is_ipv4(host) && is_rest(cut(s, begin + host.size()))) return true;
    if (const size_t n = scheme ? ipv6_bytes(cut(s, begin)) : 0; n && is_rest(cut(s, begin + n))) return true;
  }
  const std::string_view host = host_of(s);
  return read_labels(host, 2, 63, &labels, &top) && labels && is_known_top_level(top) && is_rest(cut(s, host.size()));
}

bool is_email(std::string_view s) {
  const size_t at = find_last_in(s, '@');
  if (at == kNowhere || at == 0) return false;
  const std::string_view host = cut(s, at + 1);
  const size_t dot = find_last_in(host, '.');
  if (dot == kNowhere || dot == 0) return false;
  const auto in_host = [](uint32_t code) { return is_word(code) || code == '.' || code == '-'; };
  const size_t top = count_all(cut(host, dot + 1), is_word);
  return is_word(next_char(host.data(), host.size()).code) && count_all(cut(host, 0, dot), in_host) != kNowhere && top != kNowhere &&
         top > 0;
}

// As a scheme that a caller adds: two word characters or more, a colon, up to two slashes.
bool is_scheme(std::string_view s) {
  const size_t colon = find_in(s, ':');
  if (colon == kNowhere || s.size() - colon > 3) return false;
  for (const char c : cut(s, colon + 1))
    if (c != '/') return false;
  const size_t n = count_all(cut(s, 0, colon), [](uint32_t code) { return is_word(code) || code == '.' || code == '+' || code == '-'; });
  return n != kNowhere && n >= 2;
}

size_t count_of(std::string_view s, std::string_view what) {
  size_t n = 0;
  for (size_t at = find_in(s, what); at != kNowhere; at = find_in(s, what, at + what.size())) ++n;
  return n;
}

struct Links {
  Value rel, target;  // markups: of the attributes, empty without
  Value schemes;      // a list
  bool trims;
  int64_t most;  // characters of what is shown, if it trims
};

// <a href="BEFORE URL"...>SHOWN</a>
bool put_link(Machine& m, const Links& links, std::string_view before, const Value& url, const Value& shown, bool attributes, bool trims) {
  if (!m.put("<a href=\"", 0) || !m.put(before, 0) || !m.put(url) || !m.put("\"", 0)) return false;
  if (attributes && links.rel.n && !(m.put(" rel=\"", 0) && m.put(links.rel) && m.put("\"", 0))) return false;
  if (attributes && links.target.n && !(m.put(" target=\"", 0) && m.put(links.target) && m.put("\"", 0))) return false;
  if (!m.put(">", 0)) return false;
  const int64_t chars = static_cast<int64_t>(count_chars(shown));
  if (trims && links.trims && chars > links.most) {
    const int64_t kept = links.most >= 0 ? links.most : chars + links.most > 0 ? chars + links.most : 0;
    if (!m.put(part(shown, 0, char_place(shown, static_cast<size_t>(kept)))) || !m.put("...", 0)) return false;
  } else if (!m.put(shown)) {
    return false;
  }
  return m.put("</a>", 0);
}

// One word of the escaped text. What stands around a URL is no part of it: opening signs, closing ones without a partner, stops.
bool put_word(Machine& m, const Links& links, const Value& word) {
  const std::string_view s = word.view();
  size_t begin = 0;
  for (;;) {
    if (begin < s.size() && (s[begin] == '(' || s[begin] == '<')) {
      ++begin;
    } else if (begins_with(cut(s, begin), "&lt;")) {
      begin += 4;
    } else {
      break;
    }
  }
  size_t end = s.size();
  for (;;) {
    const std::string_view left = cut(s, begin, end - begin);
    if (ends_with(left, ')') || ends_with(left, '>') || ends_with(left, '.') || ends_with(left, ',')) {
      --end;
    } else if (ends_with(left, "&gt;")) {
      end -= 4;
    } else {
      break;
    }
  }
  static constexpr std::string_view kPairs[3][2] = {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
  for (const auto& pair : kPairs) {
    const std::string_view middle = cut(s, begin, end - begin);
    const size_t opened = count_of(middle, pair[0]);
    if (opened <= count_of(middle, pair[1])) continue;
    for (size_t i = 0; i < opened; ++i) {
      const size_t at = find_in(s, pair[1], end);
      if (at == kNowhere) break;
      end = at + pair[1].size();
    }
  }
  const Value url = piece(word, begin, end - begin);
  const std::string_view u = url.view();
  if (!m.spend(word.n) || !m.put(part(word, 0, begin))) return false;
  bool ok = true;
  if (is_url(u)) {
    const bool complete = begins_with(u, "https://") || begins_with(u, "http://");
    ok = put_link(m, links, complete ? "" : "https://", url, url, true, true);
  } else if (begins_with(u, "mailto:") && is_email(cut(u, 7))) {
    ok = put_link(m, links, "", url, piece(url, 7, url.n - 7), false, false);
  } else if (!begins_with(u, "www.") && !begins_with(u, '@') && find_in(u, ':') == kNowhere && is_email(u)) {
    ok = put_link(m, links, "mailto:", url, url, false, false);
  } else {
    bool linked = false;
    for (uint32_t i = 0; i < links.schemes.n && !linked; ++i) {
      const std::string_view scheme = links.schemes.items[i].view();
      linked = u != scheme && begins_with(u, scheme);
    }
    ok = linked ? put_link(m, links, "", url, url, true, false) : m.put(url);
  }
  return ok && m.put(part(word, end, word.n - end));
}

// The words of `rel` and those that are always there, each once and in order.
bool make_rel(Machine& m, const Value& rel, bool nofollow, Value* out) {
  Value words, t;
  if (truth(rel) && !rel.is_text()) return m.fail("urlize: rel must be a text, not a ", type_name(rel));
  if (!split(m, truth(rel) ? rel : text({}), none(), -1, false, &words)) return false;
  const size_t mark = m.mark();
  Value last = text({});
  for (;;) {
    Value next;
    const auto offer = [&](const Value& word) {
      if (compare(word.view(), last.view()) > 0 && (next.is(Kind::kMissing) || compare(word.view(), next.view()) < 0)) next = word;
    };
    if (nofollow) offer(text("nofollow"));
    offer(text("noopener"));
    for (uint32_t i = 0; i < words.n; ++i) offer(words.items[i]);
    if (!m.spend(words.n)) return false;
    if (next.is(Kind::kMissing)) break;
    if ((last.n && !m.put(" ", 0)) || !m.put(next)) return false;
    last = next;
  }
  return m.finish(mark, &t) && escape(m, t, out);
}

bool urlize(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[5], escaped;
  Links links = {};
  if (!take_args(m, "urlize", args, {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"}, 0, a)) return false;
  links.trims = !absent(a[0]);
  if (links.trims && !take_integer(m, FilterId::kUrlize, a[0], 0, &links.most)) return false;
  if (!make_rel(m, a[3], truth(a[1]), &links.rel) || !escape(m, truth(a[2]) ? a[2] : text({}), &links.target)) return false;
  if (!absent(a[4]) && !to_list(m, a[4], &links.schemes)) return false;
  for (uint32_t i = 0; i < links.schemes.n; ++i) {
    const Value& scheme = links.schemes.items[i];
    if (!scheme.is_text() || !is_scheme(scheme.view())) {
      const std::string_view what = scheme.is_text() ? scheme.view() : type_name(scheme);
      return m.fail("'", what, "' is not a valid URI scheme prefix.");
    }
  }
  if (a[4].is(Kind::kIterator)) links.schemes = {};  // run through already
  if (!escape(m, v, &escaped)) return false;
  const size_t mark = m.mark();
  for (size_t at = 0; at < escaped.n;) {
    size_t end = at;
    while (end < escaped.n && !is_space(next_char(escaped.text + end, escaped.n - end).code))
      end += next_char(escaped.text + end, escaped.n - end).bytes;
    if (end > at && !put_word(m, links, piece(escaped, at, end - at))) return false;
    if (end < escaped.n) {
      const uint32_t bytes = next_char(escaped.text + end, escaped.n - end).bytes;
      if (!m.put(part(escaped, end, bytes))) return false;
      end += bytes;
    }
    at = end;
  }
  return finish_as(m, mark, m.autoescape ? kMarkup : 0, out);
}

// ---- attributes

bool xml_attributes(Machine& m, const Value& v, const Args& args, Value* out) {
  Value space;
  if (!take_args(m, "xmlattr", args, {"autospace"}, 0, &space)) return false;
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  if (!v.is(Kind::kDict)) return m.fail("xmlattr of a ", type_name(v), ", which is no dict");
  const size_t mark = m.mark();
  bool blank = space.is(Kind::kMissing) || truth(space);  // whether one comes before the next
  for (uint32_t i = 0; i < v.n; ++i) {
    const Value& key = v.dict->entries[2 * i];
    const Value& value = v.dict->entries[2 * i + 1];
    if (value.is(Kind::kNone) || value.is(Kind::kUndefined)) continue;
    if (!key.is_text()) return m.fail("a ", type_name(key), " is no name of an attribute");
    if (find_one_of(key.view(), " \t\n\r\f\v/>=") != kNowhere) return m.fail("Invalid character in attribute name: '", key.view(), "'");
    Value name, quoted;
    if (!escape(m, key, &name) || !escape(m, value, &quoted)) return false;
    if ((blank && !m.put(" ", 0)) || !m.put(name) || !m.put("=\"", 0) || !m.put(quoted) || !m.put("\"", 0)) return false;
    blank = true;
  }
  return finish_as(m, mark, m.autoescape ? kMarkup : 0, out);
}

}  // namespace

bool filter_markup(Machine& m, FilterId id, const Value& v, const Args& args, Value* out) {
  if (id == FilterId::kUrlize) return urlize(m, v, args, out);
  if (id == FilterId::kXmlAttr) return xml_attributes(m, v, args, out);
  if (!take_args(m, filter_name(id).data(), args, {}, 0, nullptr)) return false;
  switch (id) {
    case FilterId::kE:
    case FilterId::kEscape:
      return escape(m, v, out);
    case FilterId::kForceEscape: {
      Value t;
      return plain_text(m, v, &t) && escape(m, t, out);
    }
    case FilterId::kSafe:
      if (!to_text(m, v, out)) return false;
      out->flags = static_cast<uint8_t>(out->flags | kMarkup);
      return true;
    case FilterId::kStripTags:
      return strip_markup(m, v, out);
    case FilterId::kUrlEncode:
      return url_encode(m, v, out);
    default:
      return m.fail("a filter that is not known");
  }
}

}  // namespace linnet::chat
