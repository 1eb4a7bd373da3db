#include "answers.h"

#include "../../platform/utf8.h"

namespace linnet::chat {
namespace {

using View = std::string_view;

constexpr size_t kNo = SIZE_MAX, kMore = SIZE_MAX - 1;
constexpr size_t kMaxName = 256;     // bytes of a name, a key, an id
constexpr size_t kMaxHeader = 1024;  // of a message of harmony
constexpr uint32_t kMaxTries = 32;   // attempts at calls in the same bytes
constexpr View kMessage = "<|message|>", kStart = "<|start|>", kChannel = "<|channel|>", kConstrain = "<|constrain|>";
constexpr View kMessageEnds[] = {"<|end|>", "<|call|>", "<|return|>"};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) {
  return is_digit_char(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}
bool is_name_char(char c) { return is_word_char(c) || c == '-' || c == '.' || c == ':' || c == '/' || c == '@' || c == '$'; }
bool one_of(char c, View set) { return set.find(c) != View::npos; }
View trimmed(View s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}
size_t skip_blanks(View s, size_t at) {
  while (at < s.size() && is_blank(s[at])) ++at;
  return at;
}

// Where the mark ends that begins at `at`; kNo; kMore: it may be one. White space in it stands for any, also none, which is allowed between
// tags as well.
size_t match_mark(View s, View mark, size_t at) {
  for (size_t i = 0; i < mark.size();) {
    if (is_blank(mark[i]) || (i && mark[i - 1] == '>' && mark[i] == '<')) {
      while (is_blank(mark[i])) ++i;
      at = skip_blanks(s, at);
    }
    if (at == s.size()) return kMore;
    if (s[at++] != mark[i++]) return kNo;
  }
  return at;
}

// ---- the tools: JSON that was read before ---------------------------------------------------------------------------------------

int hex_value(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit_char(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
bool code_unit(View s, size_t at, uint32_t* out) {
  *out = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = i < s.size() ? hex_value(s[i]) : -1;
    if (digit < 0) return false;
    *out = *out << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}
size_t to_utf8(uint32_t code, char* out) {
  if (code < 0x80) return out[0] = static_cast<char>(code), 1;
  const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = n; --i; code >>= 6) out[i] = static_cast<char>(0x80 | (code & 0x3F));
  out[0] = static_cast<char>((0xF00 >> n & 0xFF) | code);
  return n;
}
// The next character of what stands between the quotes of a JSON text: its bytes; *at goes behind it.
size_t json_char(View s, size_t* at, char (&out)[4]) {
  const char c = s[(*at)++];
  out[0] = c;
  if (c != '\\' || *at == s.size()) return 1;
  const char e = s[(*at)++];
  constexpr View kNames = "\"\\/bfnrt'", kCodes = "\"\\/\b\f\n\r\t'";
  if (const size_t known = kNames.find(e); known != View::npos) return out[0] = kCodes[known], 1;
  uint32_t code = 0, low = 0;
  if (e != 'u' || !code_unit(s, *at, &code)) return --*at, 1;
  *at += 4;
  if (code >> 10 == 0xD800 >> 10 && s.substr(*at, 2) == "\\u" && code_unit(s, *at + 2, &low) && low >> 10 == 0xDC00 >> 10) {
    *at += 6;
    code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
  }
  return to_utf8(code >> 11 == 0xD800 >> 11 ? 0xFFFD : code, out);
}
bool json_is(View escaped, View plain) {
  char bytes[4];
  for (size_t at = 0; at < escaped.size();) {
    const size_t n = json_char(escaped, &at, bytes);
    if (plain.substr(0, n) != View(bytes, n)) return false;
    plain.remove_prefix(n);
  }
  return plain.empty();
}
// Behind the value that begins at `at`.
size_t json_end(View s, size_t at) {
  uint32_t depth = 0;
  bool text = false;
  for (; at < s.size(); ++at) {
    const char c = s[at];
    if (text) {
      if (c == '\\') ++at;
      text = c != '"';
      if (!text && !depth) return at + 1;
    } else if (c == '"') {
      text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (!depth) return at;
      if (!--depth) return at + 1;
    } else if (!depth && (c == ',' || is_blank(c))) {
      return at;
    }
  }
  return s.size();
}
// Items of a list or members of an object, one after the other: *at is behind the last one, 0 in the beginning.
bool next_item(View of, size_t* at, View* item) {
  size_t p = skip_blanks(of, *at ? *at : size_t{1});
  if (p < of.size() && of[p] == ',') p = skip_blanks(of, p + 1);
  if (p >= of.size() || one_of(of[p], "]}:")) return false;
  *at = json_end(of, p);
  *item = of.substr(p, *at - p);
  return *at > p;
}
bool next_member(View of, size_t* at, View* key, View* value) {
  if (!next_item(of, at, key) || key->size() < 2 || key->front() != '"') return false;
  *key = key->substr(1, key->size() - 2);
  size_t p = skip_blanks(of, *at);
  if (p >= of.size() || of[p] != ':') return false;
  p = skip_blanks(of, p + 1);
  *at = json_end(of, p);
  *value = of.substr(p, *at - p);
  return true;
}
View member(View object, View name) {
  View key, value;
  if (!object.empty() && object.front() == '{')
    for (size_t at = 0; next_member(object, &at, &key, &value);)
      if (json_is(key, name)) return value;
  return {};
}
// The schemas of the arguments of a tool.
bool find_tool(View tools, View name, View* properties) {
  View tool;
  tools = trimmed(tools);
  if (tools.empty() || tools.front() != '[') return false;
  for (size_t at = 0; next_item(tools, &at, &tool);) {
    View function = member(tool, "function");
    if (function.empty() || function.front() != '{') function = tool;
    const View called = member(function, "name");
    if (called.size() < 2 || called.front() != '"' || !json_is(called.substr(1, called.size() - 2), name)) continue;
    View parameters = member(function, "parameters");
    if (parameters.empty()) parameters = member(function, "input_schema");
    *properties = member(parameters, "properties");
    return true;
  }
  return false;
}

enum : uint32_t { kIsText = 1, kIsNumber = 2, kIsBool = 4, kIsNull = 8, kIsObject = 16, kIsList = 32, kTextFirst = 64 };
uint32_t kind_of(View value) {
  if (value.empty()) return 0;
  switch (value.front()) {
    case '{':
      return kIsObject;
    case '[':
    case '(':
      return kIsList;
    case '"':
    case '\'':
      return kIsText;
    case 't':
    case 'T':
    case 'f':
    case 'F':
      return kIsBool;
    case 'n':
    case 'N':
      return kIsNull;
    default:
      return kIsNumber;
  }
}
// What a schema allows; kTextFirst: a text before anything else but null. 0: it does not say.
uint32_t types_of(View schema, uint32_t depth = 0) {
  uint32_t types = 0;
  const auto add = [&types](uint32_t t) {
    if (t == kIsText && !(types & ~uint32_t{kIsNull})) types |= kTextFirst;
    types |= t;
  };
  const auto add_name = [&add](View t) {
    add(t == "\"string\""                         ? kIsText
        : t == "\"integer\"" || t == "\"number\"" ? kIsNumber
        : t == "\"boolean\""                      ? kIsBool
        : t == "\"null\""                         ? kIsNull
        : t == "\"object\""                       ? kIsObject
        : t == "\"array\""                        ? kIsList
                                                  : 0u);
  };
  View item;
  const View type = member(schema, "type");
  if (!type.empty() && type.front() == '[') {
    for (size_t at = 0; next_item(type, &at, &item);) add_name(item);
  } else {
    add_name(type);
  }
  if (types) return types;
  for (const View name : {View("anyOf"), View("oneOf"), View("allOf")}) {
    const View list = member(schema, name);
    if (list.empty() || list.front() != '[' || depth == 8) continue;
    for (size_t at = 0; next_item(list, &at, &item);) {
      const uint32_t inner = types_of(item, depth + 1);
      if (inner & kTextFirst) add(kIsText);
      add(inner & ~uint32_t{kTextFirst});
    }
  }
  if (types) return types;
  const View choices = member(schema, "enum"), constant = member(schema, "const");
  if (!choices.empty() && choices.front() == '[')
    for (size_t at = 0; next_item(choices, &at, &item);) add(kind_of(item));
  if (!constant.empty()) add(kind_of(constant));
  if (!member(schema, "properties").empty()) add(kIsObject);
  if (!member(schema, "items").empty()) add(kIsList);
  return types;
}

}  // namespace

// ---- the envelope ------------------------------------------------------------------------------------------------------------------

Status envelope_open(const void* data, size_t bytes, const char* name, Envelope* out, Error* err) {
  const auto refuse = [&](const char* why) { return fail(err, LINNET_BAD_FILE, name, ": the envelope of answers ", why); };
  if (bytes != sizeof(Envelope)) return refuse("has another size");
  Envelope e;
  std::memcpy(&e, data, sizeof e);
  if (e.magic != kEnvelopeMagic || e.version != kEnvelopeVersion) return refuse("is of another version");
  if (e.head > Head::kHarmony || e.arguments > Arguments::kGemma || e.bare > Bare::kAlone) return refuse("has a form that is not known");
  const Mark* const marks = &e.reason_open;
  constexpr size_t kMarks = (sizeof(Envelope) - offsetof(Envelope, reason_open)) / sizeof(Mark);
  for (size_t i = 0; i < kMarks; ++i) {
    const View mark = marks[i].view();
    if (mark.size() == kMarkBytes) return refuse("has a mark without an end");
    for (size_t k = mark.size(); k < kMarkBytes; ++k)
      if (marks[i].text[k]) return refuse("has a mark with a zero");
    if (trimmed(mark).size() != mark.size()) return refuse("has a mark with white space around it");
    for (View rest = mark; !rest.empty();) {
      const Char c = next_char(rest.data(), rest.size());
      if (c.code == kBadByte) return refuse("has a mark that is no UTF-8");
      rest.remove_prefix(c.bytes);
    }
  }
  if (e.head == Head::kText && e.arguments == Arguments::kPairs && (e.key_open.empty() || e.key_close.empty() || e.value_close.empty()))
    return refuse("has pairs without marks");
  if (e.head == Head::kText && e.arguments == Arguments::kGemma && e.quote.empty()) return refuse("has texts without marks");
  *out = e;
  return LINNET_OK;
}

// ---- what goes out -----------------------------------------------------------------------------------------------------------------

void Answer::emit(AnswerKind kind, View text, View id) { sink_(user_, {kind, text, id}); }

void Answer::put_blanks(Blanks* b, View blanks) {
  for (const char c : blanks) {
    if (b->n == sizeof b->text) {  // so many are text
      emit(reasoning_ ? AnswerKind::kReasoning : AnswerKind::kContent, {b->text, b->n});
      b->n = 0;
    }
    b->text[b->n++] = c;
  }
}

// Text of reasoning or content.
void Answer::put(View t) {
  Blanks& b = reasoning_ ? reason_ : content_;
  const AnswerKind kind = reasoning_ ? AnswerKind::kReasoning : AnswerKind::kContent;
  const size_t first = skip_blanks(t, 0);
  if (first == t.size()) {
    if (!b.skip) put_blanks(&b, t);
    return;
  }
  size_t last = t.size();
  while (is_blank(t[last - 1])) --last;
  if (b.skip) {
    t.remove_prefix(first);
    last -= first;
  }
  if (b.n) emit(kind, {b.text, b.n});
  b.n = 0;
  b.begun = true, b.skip = prompt_reasons_ = false;
  if (!reasoning_) opens_ = false;
  emit(kind, t.substr(0, last));
  put_blanks(&b, t.substr(last));
}

// A piece of reasoning, or a message: white space around it goes, and a line end parts it from the one before.
void Answer::begin_piece(bool reasoning) {
  reasoning_ = reasoning;
  Blanks& b = reasoning ? reason_ : content_;
  b.n = 0;
  if (b.begun) b.text[b.n++] = '\n';
  b.skip = true;
}

void Answer::put_json(View t) {
  size_t from = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    const char c = t[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') continue;
    put_args(t.substr(from, i - from));
    from = i + 1;
    constexpr View kCodes = "\b\f\n\r\t", kNames = "bfnrt";
    const size_t known = kCodes.find(c);
    const char kHex[] = "0123456789abcdef";
    if (c == '"' || c == '\\' || known != View::npos) {
      const char escape[2] = {'\\', known != View::npos ? kNames[known] : c};
      put_args({escape, 2});
    } else {
      const char escape[6] = {'\\', 'u', '0', '0', kHex[c >> 4 & 1], kHex[c & 15]};
      put_args({escape, 6});
    }
  }
  put_args(t.substr(from));
}

// ---- the text --------------------------------------------------------------------------------------------------------------------------

size_t Answer::match(const Mark& mark, size_t at) const { return mark.empty() ? kNo : match_mark(text(), mark.view(), at); }
size_t Answer::skip(size_t at) const { return skip_blanks(text(), at); }

void Answer::begin(const Envelope& envelope, View prompt, View tools, void* memory, size_t bytes, AnswerSink sink, void* user) {
  *this = Answer();
  e_ = &envelope;
  tools_ = tools;
  memory_ = static_cast<char*>(memory);
  room_ = bytes / 2;
  sink_ = sink, user_ = user;
  reason_.skip = content_.skip = true;
  const Envelope& e = envelope;
  const auto begins = [this](View mark) {
    if (!mark.empty()) starts_[static_cast<uint8_t>(mark[0]) >> 6] |= uint64_t{1} << (mark[0] & 63);
  };
  for (const Mark* m : {&e.reason_open, &e.reason_close, &e.content_open, &e.content_close, &e.section_open[0], &e.section_open[1],
                        &e.call_open, &e.end[0], &e.end[1]})
    begins(m->view());
  if (e.head == Head::kHarmony) begins(kStart);
  if (e.bare != Bare::kNever) begins("{"), begins("[");

  prompt = trimmed(prompt);
  const auto open = [prompt](const Mark& m) { return !m.empty() && prompt.ends_with(m.view()); };
  if (open(e.reason_close)) {
    // it is over
  } else if (open(e.reason_open)) {
    begin_piece(true);
    prompt_reasons_ = true;
  } else if (open(e.content_open)) {
    content_opened_ = true;
  } else if (e.head == Head::kHarmony) {
    if (prompt.ends_with("<|start|>assistant")) state_ = State::kHeader;
  } else if (open(e.call_open)) {
    begin_call(0, 0, State::kHead);
  } else if (open(e.section_open[0]) || open(e.section_open[1])) {
    this->open(0, State::kSection);
  }
}

void Answer::feed(View t) {
  while (!t.empty()) {
    if (from_) {
      std::memmove(memory_, memory_ + from_, n_ - from_);
      n_ -= from_, from_ = 0;
    }
    size_t n = room_ - n_;
    if (!n) {  // a call that is too long
      lose();
      continue;
    }
    if (n > t.size()) n = t.size();
    std::memcpy(memory_ + n_, t.data(), n);
    n_ += n;
    t.remove_prefix(n);
    while (step()) {
    }
  }
}

void Answer::end() {
  final_ = true;
  while (step()) {
  }
  if (state_ == State::kSection && n_in_section_) {
    // the section may end without its mark, or in the middle of it
    const View rest = text().substr(skip(0));
    if (e_->section_close.view().starts_with(rest)) take(text().size());
  }
  if (!text().empty()) lose();
}

// What is held is text.
void Answer::lose() {
  if (announced_) emit(AnswerKind::kCallLost, {});
  announced_ = section_ = false;
  put(text());
  take(text().size());
  state_ = State::kText;
}

bool Answer::step() {
  switch (state_) {
    case State::kText:
      return text_step();
    case State::kBetween:
      return between_step();
    case State::kHeader:
      return header_step();
    case State::kSection:
      return section_step();
    case State::kHead:
      return head_step();
    case State::kKey:
      return key_step();
    case State::kSkip:
      return skip_step();
    case State::kNextKey:
      return next_key_step();
    case State::kNamed:
      return named_step();
    case State::kObject:
      return object_step();
    case State::kJson:
    case State::kPython:
      return arguments_step();
    case State::kPair:
      return pair_step();
    case State::kTextValue:
      return text_value_step();
    case State::kValue:
      return value_step();
    case State::kTag:
      return tag_step();
    case State::kTagText:
      return tag_text_step();
    case State::kParameter:
      return parameter_step();
    case State::kNextParameter:
      return next_parameter_step();
    case State::kClose:
      return close_step();
  }
  return false;
}

bool Answer::is_harmony_end(size_t at, size_t* end) const {
  *end = kNo;
  for (const View mark : kMessageEnds) {
    const size_t r = match_mark(text(), mark, at);
    if (r < kMore) return *end = r, true;
    if (r == kMore) *end = kMore;
  }
  return false;
}

// Of the marks that begin here the longest; kMore where one of them may begin.
Answer::Found Answer::mark_at(size_t at) const {
  const Envelope& e = *e_;
  const View s = text();
  Found best = {What::kNothing, 0};
  bool more = false;
  const auto consider = [&](size_t end, What what) {
    if (end == kMore)
      more = true;
    else if (end != kNo && end > best.end)
      best = {what, end};
  };
  const bool tired = base_ + at < tried_until_ && tries_ > kMaxTries;
  if (e.head == Head::kHarmony) {
    size_t end = 0;
    is_harmony_end(at, &end);
    consider(end, What::kMessageEnd);
    if (!tired) {
      consider(match_mark(s, kStart, at), What::kMessage);
      consider(match_mark(s, kChannel, at), What::kMessage);
    }
  } else {
    if (reasoning_) {
      consider(match(e.reason_close, at), What::kReasonClose);
      if (reason_.skip) consider(match(e.reason_open, at), What::kReasonOpen);
    } else {
      if (opens_) {
        consider(match(e.reason_open, at), What::kReasonOpen);
        consider(match(e.reason_close, at), What::kReasonClose);
        if (!content_opened_) consider(match(e.content_open, at), What::kContentOpen);
      }
      if (content_opened_ || e.content_open.empty()) consider(match(e.content_close, at), What::kContentClose);
    }
    if (e.head != Head::kNone && !tired && (!reasoning_ || e.ends_reasoning || prompt_reasons_)) {
      for (const Mark& m : e.section_open) consider(match(m, at), What::kSection);
      consider(match(e.call_open, at), What::kCall);
      if (!reasoning_ && opens_ && e.bare != Bare::kNever) {
        const Found bare = bare_at(at);
        if (bare.what != What::kNothing) consider(bare.end, bare.what);
      }
    }
  }
  for (const Mark& m : e.end) {
    // one that ends the text
    const size_t end = match(m, at);
    if (end >= kMore) {
      consider(end, What::kEnd);
    } else if (skip(end) == s.size()) {
      if (!final_)
        more = true;
      else
        consider(s.size(), What::kEnd);
    }
  }
  if (more && !final_) return {What::kNothing, kMore};
  return best;
}

// A call without a mark.
Answer::Found Answer::bare_at(size_t at) const {
  const View s = text();
  const Found none = {What::kNothing, 0}, more = {What::kBare, kMore};
  const bool object = e_->head == Head::kNameKey;
  if (s[at] == '{') return object ? Found{What::kBare, at + 1} : none;
  View properties;
  size_t p = at;
  if (s[at] == '[') {
    p = skip(at + 1);
    if (p == s.size()) return more;
    if (object) return s[p] == '{' ? Found{What::kBare, at + 1} : none;
  }
  if (e_->head != Head::kText) return none;
  const size_t from = p;
  while (p < s.size() && p - from < kMaxName && is_name_char(s[p])) ++p;
  if (p == s.size()) return more;
  const bool ends = e_->arguments == Arguments::kPython ? s[at] == '[' && s[p] == '(' : s[p] == '\n' && !tools_.empty();
  if (!ends || (!tools_.empty() && !find_tool(tools_, s.substr(from, p - from), &properties))) return none;
  return {What::kBare, at + 1};
}

bool Answer::text_step() {
  const View s = text();
  size_t i = 0;
  const bool names = e_->bare != Bare::kNever && e_->head == Head::kText && opens_ && !reasoning_;  // a name may begin with any letter
  if (names) {
    i = skip(0);
  } else {
    while (i < s.size() && !(starts_[static_cast<uint8_t>(s[i]) >> 6] >> (s[i] & 63) & 1)) ++i;
  }
  if (i) {
    put(s.substr(0, i));
    take(i);
    return true;
  }
  if (s.empty()) return false;
  const Found f = mark_at(0);
  if (f.end == kMore) return false;
  switch (f.what) {
    case What::kReasonOpen:
      begin_piece(true);
      break;
    case What::kReasonClose:
      reasoning_ = false;
      break;
    case What::kContentOpen:
      content_opened_ = true;
      break;
    case What::kContentClose:
      content_opened_ = false;
      break;
    case What::kMessageEnd:
      reasoning_ = false;
      break;
    case What::kEnd:
      break;
    case What::kSection:
      open(f.end, State::kSection);
      return true;
    case What::kCall:
      begin_call(f.end, f.end, State::kHead);
      return true;
    case What::kMessage:
      open(f.end, State::kHeader);
      return true;
    case What::kBare:
      open(f.end, State::kSection);
      bare_ = true;
      at_ = 0;
      if (s[0] != '[') {
        section_ = false;
        begin_call(f.end, 0, State::kHead);
      }
      return true;
    case What::kNothing: {
      // a whole character, so that no event ends inside of one
      const uint8_t lead = static_cast<uint8_t>(s[0]);
      size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
      if (n > s.size() && !final_) return false;
      n = n > s.size() ? s.size() : n;
      put(s.substr(0, n));
      take(n);
      return true;
    }
  }
  take(f.end);
  return true;
}

// ---- calls -----------------------------------------------------------------------------------------------------------------------------

// What stands up to `end` began something.
void Answer::open(size_t end, State next) {
  start_ = at_ = end;
  section_ = next == State::kSection;
  list_ = bare_ = announced_ = false;
  n_in_section_ = 0;
  state_ = next;
}
void Answer::begin_call(size_t start, size_t at, State next) {
  start_ = start, at_ = at;
  announced_ = told_ = null_args_ = other_keys_ = false;
  first_ = true;
  name_at_ = name_n_ = id_at_ = id_n_ = args_at_ = args_n_ = 0;
  n_wraps_ = n_tags_ = 0;
  properties_ = {};
  next_ = State::kClose;
  literal_.silent = false;
  state_ = next;
}

// The name is known; false: no tool is called so.
bool Answer::announce() {
  const View name = text().substr(name_at_, name_n_);
  if (!find_tool(tools_, name, &properties_) && bare_ && !tools_.empty()) return false;
  announced_ = true;
  emit(AnswerKind::kCall, name, text().substr(id_at_, id_n_));
  return true;
}

// It was no call: its first mark is text, and what follows is looked at again.
bool Answer::broken() {
  if (announced_) emit(AnswerKind::kCallLost, {});
  announced_ = section_ = false;
  if (base_ >= tried_until_) tries_ = 0;
  ++tries_;
  if (base_ + at_ > tried_until_) tried_until_ = base_ + at_;
  state_ = State::kText;
  put(text().substr(0, start_));
  take(start_);
  return true;
}

bool Answer::call_ended(size_t at) {
  emit(AnswerKind::kCallEnd, {}, text().substr(id_at_, id_n_));
  announced_ = false;
  take(at);
  start_ = at_ = 0;
  ++n_in_section_;
  reasoning_ = false;
  opens_ = true;
  state_ = section_ ? State::kSection : State::kBetween;
  return true;
}

bool Answer::between_step() {
  const View s = text();
  size_t at = skip(0);
  if (at == s.size() && !final_) return false;
  if (at < s.size()) {
    if (bare_ && one_of(s[at], ",;")) {
      const size_t p = skip(at + 1);
      if (p == s.size() && !final_) return false;
      if (p < s.size() && s[p] == '{') {
        begin_call(p + 1, p, State::kHead);
        return true;
      }
    }
    const size_t close = match(e_->section_close, at);  // of a section that nothing began
    if (close == kMore && !final_) return false;
    if (close < kMore) {
      take(close);
      return true;
    }
    const bool bare = bare_;
    const Found f = mark_at(at);
    if (f.end == kMore) return false;
    if (f.what == What::kSection) {
      open(f.end, State::kSection);
      return true;
    }
    if (f.what == What::kCall || (f.what == What::kBare && s[at] == '{')) {
      begin_call(f.end, f.what == What::kCall ? f.end : at, State::kHead);
      bare_ = bare && f.what == What::kBare;
      return true;
    }
  }
  state_ = State::kText;
  return true;
}

// [<|start|> role] [to=R] [<|channel|> C] [to=R] [<|constrain|>] [type] <|message|>; the role may stand in the prompt.
bool Answer::header_step() {
  const View s = text();
  View recipient, channel;
  bool in_channel = false, role = !s.starts_with(kStart), type = false;
  size_t at = 0, end = 0;
  for (;; at = end) {
    at = skip(at);
    if (at > kMaxHeader) return broken();
    if (at == s.size()) return false;
    if (s[at] == '<') {
      bool more = false;
      const auto is = [&](View mark) {
        const size_t r = match_mark(s, mark, at);
        more |= r == kMore;
        if (r >= kMore) return false;
        end = r;
        return true;
      };
      if (is(kMessage)) break;
      if (is(kChannel) && !in_channel) {
        in_channel = true;
      } else if (!(is(kStart) && at == 0) && !(is(kConstrain) && !type)) {
        return more ? false : broken();
      }
      continue;
    }
    end = at;
    while (end < s.size() && !is_blank(s[end]) && s[end] != '<') ++end;
    const View word = s.substr(at, end - at), to = word.substr(0, 3);
    const bool names = View("to=").starts_with(to);
    if (end == s.size()) return names || !role || in_channel ? false : broken();
    if (names && word.size() > 3 && recipient.empty())
      recipient = word.substr(3);
    else if (in_channel && channel.empty())
      channel = word;
    else if (!role)
      role = true;
    else if (in_channel && !type)
      type = true;
    else
      return broken();
  }
  if (!recipient.empty()) {
    begin_call(end, end, State::kHead);
    name_at_ = static_cast<size_t>(recipient.data() - s.data());
    name_n_ = recipient.size();
    constexpr View kFunctions = "functions.";
    if (recipient.starts_with(kFunctions) && recipient.size() > kFunctions.size())
      name_at_ += kFunctions.size(), name_n_ -= kFunctions.size();
    return true;
  }
  begin_piece(channel == "analysis");
  take(end);
  state_ = State::kText;
  return true;
}

bool Answer::section_step() {
  const Envelope& e = *e_;
  const View s = text();
  size_t at = skip(at_);
  if (at == s.size()) return false;
  const bool python = e.arguments == Arguments::kPython, keys = e.head == Head::kNameKey || e.head == Head::kNameIsKey || python;
  if (n_in_section_ && one_of(s[at], ",;")) {
    at = skip(at + 1);
    if (at == s.size()) return false;
  }
  if (!n_in_section_ && !list_ && keys && s[at] == '[') {
    list_ = true;
    at_ = at + 1;
    return true;
  }
  if (list_ && s[at] == ']' && n_in_section_) {
    list_ = false;
    take(at + 1);
    if (bare_) section_ = false, state_ = State::kBetween;
    return true;
  }
  const size_t close = match(e.section_close, at), call = match(e.call_open, at);
  if (close == kMore || call == kMore) return false;
  if (close != kNo && n_in_section_) {
    take(close);
    section_ = false;
    state_ = State::kBetween;
    return true;
  }
  if (call != kNo) {
    begin_call(call, call, State::kHead);
    return true;
  }
  const bool object = s[at] == '{' && keys;
  const bool name = is_word_char(s[at]) && (python || e.python || (e.head == Head::kText && e.call_open.empty()));
  if (object || name) {
    begin_call(n_in_section_ ? at + 1 : start_ ? start_ : at + 1, at, State::kHead);
    return true;
  }
  if (!n_in_section_) return broken();
  section_ = false;
  state_ = State::kBetween;
  return true;
}

bool Answer::head_step() {
  const Envelope& e = *e_;
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (e.head == Head::kHarmony) {
    size_t end = 0;
    const bool none = is_harmony_end(at, &end);
    if (end == kMore) return false;
    if (!none && s[at] != '{') return broken();
    announce();
    if (!none) return begin_json(at, State::kClose);
    put_args("{}");
    at_ = at;
    state_ = State::kClose;
    return true;
  }
  const bool object = s[at] == '{', python = e.arguments == Arguments::kPython;
  if (object && (e.head == Head::kNameKey || python)) {
    at_ = at + 1;
    state_ = State::kKey;
    return true;
  }
  if (e.head == Head::kText || (e.head == Head::kNameKey && e.python)) return name_step(at, python || e.head == Head::kNameKey);
  if (e.head != Head::kNameIsKey || !object) return broken();
  const size_t name = skip(at + 1);
  if (name == s.size()) return false;
  if (s[name] != '"') return broken();
  const size_t end = s.find('"', name + 1);
  if (end == View::npos) return s.size() - name > kMaxName ? broken() : false;
  const size_t colon = skip(end + 1);
  if (colon == s.size()) return false;
  const size_t value = skip(colon + 1);
  if (s[colon] != ':' || end == name + 1) return broken();
  if (value == s.size()) return false;
  name_at_ = name + 1, name_n_ = end - name - 1;
  if (!announce()) return broken();
  return begin_json(value, State::kNamed);
}

// The name as text, what stands around it, and what begins the arguments.
bool Answer::name_step(size_t at, bool python) {
  const Envelope& e = *e_;
  const View s = text();
  if (!e.id_open.empty()) {
    size_t p = at, end = kNo;
    for (; (end = match(e.id_open, p)) == kNo; ++p)
      if (p == s.size() || p - at > kMaxName || s[p] == '\n') return p == s.size() ? false : broken();
    if (end == kMore) return false;
    id_at_ = at, id_n_ = trimmed(s.substr(at, p - at)).size();
    at = skip(end);
  }
  const Arguments form = python ? Arguments::kPython : e.arguments;
  const auto stops = [&](size_t p, bool id, bool* more) {
    bool stop = is_blank(s[p]) || (s[p] == '{' && (form == Arguments::kJson || form == Arguments::kGemma)) || (s[p] == '(' && python);
    for (const Mark* m : {&e.args_open, &e.id_close, &e.key_open, &e.call_close, &e.section_close}) {
      if (python || (m == &e.id_close && id)) continue;
      const size_t end = match(*m, p);
      if (end == kMore) *more = true;
      if (end < kMore) stop = true;
    }
    return stop;
  };
  // A name or an id: 0 bytes where it goes on.
  const auto run = [&](size_t from, bool id, bool* bad) {
    bool more = false;
    for (size_t p = from;; ++p) {
      if (p == s.size()) return kMore;
      const bool stop = stops(p, id, &more);
      if (more) return kMore;
      if (stop) return p;
      if ((!is_name_char(s[p]) && s[p] != e.counted) || p - from > kMaxName) return *bad = true, p;
    }
  };
  bool bad = false;
  size_t end = run(at, false, &bad);
  if (end == kMore) return false;
  if (bad || end == at) return broken();
  name_at_ = at, name_n_ = end - at;
  at = skip(end);
  if (at == s.size()) return false;
  if (const size_t id = python ? kNo : match(e.id_close, at); id != kNo) {
    if (id == kMore) return false;
    at = skip(id);
    end = run(at, true, &bad);
    if (end == kMore) return false;
    if (bad) return broken();
    id_at_ = at, id_n_ = end - at;
    at = skip(end);
    if (at == s.size()) return false;
  }
  View name = s.substr(name_at_, name_n_);
  if (!python && !e.content_open.empty() && name == e.content_open.view()) {
    // no call: it is said to everybody
    begin_piece(false);
    take(at);
    section_ = false;
    state_ = State::kText;
    return true;
  }
  if (!python && !e.args_open.empty()) {
    const size_t args = match(e.args_open, at);
    if (args == kMore) return false;
    if (args == kNo) return broken();
    at = skip(args);
    if (at == s.size()) return false;
  }
  if (e.counted) {
    size_t digits = name.size();
    while (digits && is_digit_char(name[digits - 1])) --digits;
    if (digits > 1 && digits < name.size() && name[digits - 1] == e.counted) {
      id_at_ = name_at_, id_n_ = name_n_;
      name = name.substr(0, digits - 1);
    }
  }
  const View prefix = e.name_prefix.view();
  if (!prefix.empty() && name.starts_with(prefix) && name.size() > prefix.size()) name.remove_prefix(prefix.size());
  constexpr View kCall = ".call";
  if (python && e.python && name.ends_with(kCall) && name.size() > kCall.size()) name.remove_suffix(kCall.size());
  name_at_ = static_cast<size_t>(name.data() - s.data());
  name_n_ = name.size();
  const bool fits = python                      ? s[at] == '('
                    : form == Arguments::kGemma ? s[at] == '{'
                    : form == Arguments::kJson  ? s[at] == '{' || s[at] == '"'
                                                : true;
  if (!fits || !announce()) return broken();
  if (form == Arguments::kJson) return begin_json(at, State::kClose);
  at_ = at;
  if (python) {
    at_ = at + 1;
    state_ = State::kParameter;
  } else if (form == Arguments::kGemma) {
    begin_literal(form, false);
    next_ = State::kClose;
    state_ = State::kJson;
  } else {
    state_ = form == Arguments::kPairs ? State::kPair : State::kTag;
  }
  return true;
}

// ---- calls that are objects

namespace {
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
}  // namespace

bool Answer::key_step() {
  const Envelope& e = *e_;
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] == '}') return object_ended(at + 1);
  if (!one_of(s[at], "\"'")) return broken();
  const size_t end = text_end(s, at);
  const View key = end == kMore ? s.substr(at + 1) : s.substr(at + 1, end - at - 2);
  if (bare_ && first_) {
    bool fits = false;
    for (const View name : {e.name_key.view(), View("name"), View("type"), View("function")})
      fits |= end == kMore ? name.starts_with(key) : !name.empty() && name == key;
    if (!fits) return broken();
  }
  if (end == kMore) return false;
  size_t v = skip(end);
  if (v == s.size()) return false;
  if (s[v] != ':') return broken();
  v = skip(v + 1);
  if (v == s.size()) return false;
  const bool quoted = one_of(s[v], "\"'"), object = s[v] == '{';
  const size_t value = quoted ? text_end(s, v) : v;
  const bool names = key == "name" || key == e.name_key.view() || (key == "function" && quoted);
  const bool args = key == "arguments" || key == "parameters" || key == e.args_key.view();
  const bool id = !e.id_key.empty() && key == e.id_key.view();
  if (value == kMore && (names || args || id)) return false;
  first_ = false;
  if (names && name_n_) return broken();
  if (names) {
    const View name = quoted ? s.substr(v + 1, value - v - 2) : View();
    if (name.empty() || name.size() > kMaxName || name.find('\\') != View::npos || name.find('\n') != View::npos) return broken();
    name_at_ = v + 1, name_n_ = name.size();
    at_ = value;
    if (!announce()) return broken();
    state_ = State::kNextKey;
    return true;
  }
  if (key == "function" && object && !n_wraps_) {
    ++n_wraps_;
    at_ = v + 1;
    return true;
  }
  if (args && (told_ || args_n_ || null_args_)) return broken();
  if (args && object && name_n_) {
    told_ = true;
    return begin_json(v, State::kNextKey);
  }
  if (args && quoted) {
    at_ = value;
    args_at_ = v, args_n_ = value - v;
    if (name_n_) {
      if (!text_argument(v, value)) return broken();
      told_ = true;
    }
    state_ = State::kNextKey;
    return true;
  }
  if (args) {
    if (!object && s[v] != 'n' && s[v] != 'N') return broken();
    if (object)
      args_at_ = v;
    else
      null_args_ = true;
  } else if (id) {
    id_at_ = quoted ? v + 1 : v;
    id_n_ = quoted ? value - v - 2 : json_end(s, v) - v;
    if (!quoted && v + id_n_ == s.size()) return id_n_ = 0, false;
  } else if (key != "type" && key != "id") {
    other_keys_ = true;
  }
  at_ = v;
  begin_literal(Arguments::kJson, true);
  state_ = State::kSkip;
  return true;
}

bool Answer::skip_step() {
  const Scan r = literal(text(), &at_, false);
  if (r == Scan::kMore) return false;
  literal_.silent = false;
  if (r == Scan::kBroken) return broken();
  if (args_at_ && !args_n_) args_n_ = at_ - args_at_;
  state_ = State::kNextKey;
  return true;
}

bool Answer::next_key_step() {
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] == '}') return object_ended(at + 1);
  if (s[at] != ',') return broken();
  at_ = at + 1;
  state_ = State::kKey;
  return true;
}

bool Answer::object_ended(size_t at) {
  at_ = at;
  if (n_wraps_) {
    --n_wraps_;
    state_ = State::kNextKey;
    return true;
  }
  if (!name_n_ || (!told_ && !args_n_ && (bare_ || other_keys_) && !null_args_)) return broken();
  if (!told_ && args_n_) {
    const View args = text().substr(args_at_, args_n_);
    if (args[0] == '{')
      reads(Arguments::kJson, args, false);
    else if (!text_argument(args_at_, args_at_ + args_n_))
      return broken();
  } else if (!told_) {
    put_args("{}");
  }
  state_ = State::kClose;
  return true;
}

bool Answer::named_step() {
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] != '}') return broken();
  at_ = at + 1;
  state_ = State::kClose;
  return true;
}

// An object, or a text that holds one.
bool Answer::begin_json(size_t at, State next) {
  at_ = at;
  next_ = next;
  state_ = State::kObject;
  return true;
}
bool Answer::object_step() {
  const View s = text();
  if (s[at_] == '"') {
    const size_t end = text_end(s, at_);
    if (end == kMore) return false;
    if (!text_argument(at_, end)) return broken();
    at_ = end;
    state_ = next_;
    return true;
  }
  if (s[at_] != '{') return broken();
  begin_literal(Arguments::kJson, false);
  state_ = State::kJson;
  return true;
}

bool Answer::text_argument(size_t from, size_t to) {
  const View s = text().substr(0, to - 1);
  char* const out = memory_ + room_;
  size_t n = 0;
  char bytes[4];
  for (size_t at = from + 1; at < s.size();) {
    const size_t k = json_char(s, &at, bytes);
    std::memcpy(out + n, bytes, k);
    n += k;
  }
  const View value = trimmed({out, n});
  if (value.empty() || value[0] != '{' || !reads(Arguments::kJson, value, true)) return false;
  return reads(Arguments::kJson, value, false);
}

bool Answer::arguments_step() {
  const Scan r = literal(text(), &at_, false);
  if (r == Scan::kMore) return false;
  if (r == Scan::kBroken) return broken();
  state_ = state_ == State::kPython ? State::kNextParameter : next_;
  return true;
}

// ---- calls that are pairs, tags or Python

void Answer::put_key(View key) {
  put_args(first_ ? "{\"" : ", \"");
  first_ = false;
  put_json(key);
  put_args("\": ");
}

bool Answer::pair_step() {
  const Envelope& e = *e_;
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  const size_t begin = match(e.key_open, at);
  if (begin == kMore) return false;
  at_ = at;
  if (begin == kNo) {
    put_args(first_ ? "{}" : "}");
    state_ = State::kClose;
    return true;
  }
  for (size_t p = begin;; ++p) {
    if (p == s.size()) return false;
    const size_t close = match(e.key_close, p), other = match(e.key_close_other, p);
    if (close == kMore || other == kMore) return false;
    if (close == kNo && other == kNo) {
      if (s[p] == '\n' || p - begin > kMaxName) return broken();
      continue;
    }
    const View key = trimmed(s.substr(begin, p - begin));
    if (key.empty()) return broken();
    put_key(key);
    key_at_ = static_cast<size_t>(key.data() - s.data()), key_n_ = key.size();
    const View schema = member(properties_, key);
    const uint32_t types = types_of(schema);
    value_json_ = close == kNo;
    const bool is_text = !value_json_ && (!e.key_close_other.empty() || schema.empty() || (types & ~uint32_t{kTextFirst}) == kIsText);
    at_ = scan_ = close == kNo ? other : close;
    state_ = is_text ? State::kTextValue : State::kValue;
    told_ = false;  // of the value
    return true;
  }
}

// Whether a value ends here, kMore: it may; *behind: where the text goes on.
size_t Answer::value_end(size_t at, size_t* behind) const {
  const Envelope& e = *e_;
  const View s = text();
  size_t close = match(e.value_close, at);
  if (close == kMore) return kMore;
  if (close != kNo) return *behind = close, at;
  if (!e.value_lines || !one_of(s[at], "\r\n")) return kNo;
  const size_t line = s[at] == '\n' ? at + 1 : at + 2;
  if (line > s.size() || (s[at] == '\r' && at + 1 == s.size())) return kMore;
  if (s[line - 1] != '\n') return kNo;
  close = match(e.value_close, line);
  if (close == kMore) return kMore;
  if (close != kNo) return *behind = close, at;
  // its mark was forgotten
  const size_t key = match(e.key_open, line), call = match(e.call_close, line);
  if (key == kMore || call == kMore) return kMore;
  if (key != kNo || call != kNo) return *behind = line, at;
  return kNo;
}

bool Answer::text_value_step() {
  const View s = text();
  if (!told_) {
    if (at_ == s.size()) return false;
    size_t p = at_;
    if (e_->value_lines && s[p] == '\r') {
      if (p + 1 == s.size()) return false;
      if (s[p + 1] == '\n') ++p;
    }
    if (e_->value_lines && s[p] == '\n') at_ = p + 1;
    told_ = true;
    put_args("\"");
  }
  size_t behind = 0;
  for (size_t p = at_; p < s.size(); ++p) {
    const size_t end = value_end(p, &behind);
    if (end == kNo) continue;
    put_json(s.substr(at_, p - at_));
    at_ = p;
    if (end == kMore) return false;
    put_args("\"");
    at_ = behind;
    state_ = State::kPair;
    return true;
  }
  put_json(s.substr(at_));
  at_ = s.size();
  return false;
}

bool Answer::value_step() {
  const View s = text();
  size_t behind = 0;
  for (; scan_ < s.size(); ++scan_) {
    const size_t end = value_end(scan_, &behind);
    if (end == kMore) return false;
    if (end == kNo) continue;
    View value = s.substr(at_, end - at_);
    if (e_->value_lines) {
      if (value.starts_with("\r\n")) value.remove_prefix(1);
      if (value.starts_with("\n")) value.remove_prefix(1);
    }
    put_typed(value, member(properties_, s.substr(key_at_, key_n_)), value_json_);
    at_ = behind;
    state_ = State::kPair;
    return true;
  }
  return false;
}

// A value as what its schema says, or as JSON; as a text where it is neither.
void Answer::put_typed(View value, View schema, bool json) {
  const View word = trimmed(value);
  const uint32_t kind = kind_of(word), types = types_of(schema);
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

bool Answer::tag_step() {
  const Envelope& e = *e_;
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  const size_t tag = match_mark(s, e.tag_prefix.view(), at);
  if (tag == kMore || (tag != kNo && tag + 1 >= s.size())) return false;
  Tag* const top = n_tags_ ? &tags_[n_tags_ - 1] : nullptr;
  const bool closes = tag != kNo && s[tag] == '<' && s[tag + 1] == '/';
  if (!top && (tag == kNo || closes)) {
    put_args(first_ ? "{}" : "}");
    at_ = at;
    state_ = State::kClose;
    return true;
  }
  if (tag == kNo || s[tag] != '<') return broken();
  const size_t name = tag + (closes ? 2 : 1);
  size_t end = name;
  while (end < s.size() && s[end] != '>') ++end;
  if (end - name > kMaxName) return broken();
  if (end == s.size()) return false;
  const View key = s.substr(name, end - name);
  if (key.empty()) return broken();
  at_ = end + 1;
  if (closes) {
    if (key != s.substr(top->at, top->n)) return broken();
    put_args(top->list ? top->first ? "[]" : "]" : top->first ? "{}" : "}");
    --n_tags_;
    return true;
  }
  // what it holds: other tags, or a text
  const size_t inside = skip(at_), inner = inside == s.size() ? kMore : match_mark(s, e.tag_prefix.view(), inside);
  const auto again = [&] { return at_ = at, false; };
  if (inner == kMore) return again();
  View child;
  if (inner != kNo && (inner == s.size() || s[inner] == '<')) {
    if (inner + 1 >= s.size()) return again();
    const size_t close = s.find('>', inner);
    if (close == View::npos) return s.size() - inner > kMaxName ? broken() : again();
    if (s[inner] == '<' && s[inner + 1] != '/') child = s.substr(inner + 1, close - inner - 1);
  }
  if (n_tags_ == kMaxTags) return broken();
  View schema = top ? top->list ? member(top->schema, "items") : member(member(top->schema, "properties"), key) : member(properties_, key);
  if (!top) {
    put_key(key);
  } else if (top->list) {
    put_args(top->first ? "[" : ", ");
  } else {
    put_args(top->first ? "{\"" : ", \"");
    put_json(key);
    put_args("\": ");
  }
  if (top) top->first = false;
  tags_[n_tags_++] = {name, end - name, child == "item", true, schema};
  if (child.empty()) {
    scan_ = at_;
    state_ = State::kTagText;
  }
  return true;
}

bool Answer::tag_text_step() {
  const View s = text();
  for (; scan_ < s.size(); ++scan_) {
    const size_t tag = match_mark(s, e_->tag_prefix.view(), scan_);
    if (tag == kNo) continue;
    if (tag == kMore || tag == s.size()) return false;
    if (s[tag] != '<') continue;
    if (tag + 1 == s.size()) return false;
    if (s[tag + 1] != '/') continue;
    Tag& top = tags_[n_tags_ - 1];
    const View name = s.substr(top.at, top.n), rest = s.substr(tag + 2, top.n + 1);
    if (rest.size() <= top.n) return false;
    if (!rest.starts_with(name) || rest.back() != '>') return broken();
    put_typed(s.substr(at_, scan_ - at_), top.schema, false);
    at_ = tag + 2 + rest.size();
    --n_tags_;
    state_ = State::kTag;
    return true;
  }
  return false;
}

bool Answer::parameter_step() {
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] == ')') {
    put_args(first_ ? "{}" : "}");
    at_ = at + 1;
    state_ = State::kClose;
    return true;
  }
  size_t end = at;
  while (end < s.size() && end - at <= kMaxName && is_word_char(s[end])) ++end;
  const size_t sign = skip(end);
  if (sign == s.size()) return false;
  if (end == at || s[sign] != '=') return broken();
  put_key(s.substr(at, end - at));
  at_ = sign + 1;
  begin_literal(Arguments::kPython, false);
  state_ = State::kPython;
  return true;
}

bool Answer::next_parameter_step() {
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] != ',' && s[at] != ')') return broken();
  at_ = s[at] == ',' ? at + 1 : at;
  state_ = State::kParameter;
  return true;
}

// Behind the arguments. Where the mark is forgotten another one may stand there, or the answer ends.
bool Answer::close_step() {
  const Envelope& e = *e_;
  const View s = text();
  const bool harmony = e.head == Head::kHarmony,
             open_ended = e.head == Head::kText && (e.arguments == Arguments::kPairs || e.arguments == Arguments::kTags);
  const size_t at = skip(at_);
  if (bare_ && e.bare == Bare::kAlone) {
    if (at < s.size()) {
      const Found f = mark_at(at);
      if (f.end == kMore) return false;
      if (f.what != What::kEnd) return broken();
    }
    return at < s.size() || final_ ? call_ended(at_) : false;
  }
  if (!harmony && e.call_close.empty()) return call_ended(at_);
  if (at == s.size()) return final_ && !open_ended ? call_ended(at) : false;
  size_t end = kNo;
  if (harmony)
    is_harmony_end(at, &end);
  else
    end = match(e.call_close, at);
  if (end < kMore) return call_ended(end);
  bool more = end == kMore, next = false;
  const Mark* const others[] = {&e.section_close, &e.section_open[0], &e.section_open[1], &e.call_open, &e.end[0], &e.end[1]};
  for (const Mark* m : others) {
    const size_t r = match(*m, at);
    more |= r == kMore;
    next |= r < kMore;
  }
  if (harmony) {
    const size_t r = match_mark(s, kStart, at);
    more |= r == kMore;
    next |= r < kMore;
  }
  if (more && !final_) return false;
  if (next) return call_ended(at);
  if (more) return !open_ended && call_ended(s.size());
  return broken();
}

// ---- values ----------------------------------------------------------------------------------------------------------------------------

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
    if (l.depth) put_args(s.substr(*at, p - *at));
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
    if (l.form == Arguments::kGemma) {
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
      put_json(trimmed(s.substr(p, end - p)));
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
    *yes = one_of(s[next], "],;<[") || s.substr(p, next - p).find('\n') != View::npos;
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
    put_args(s.substr(from, p - from));
    *at = from = p;
  };
  while (p < s.size()) {
    const char c = s[p];
    if (l.marked) {
      const size_t mark = match_mark(s, e_->quote.view(), p);
      if (mark == kNo) {
        if (static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\') {
          flush();
          put_json(s.substr(p, 1));
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
      put_json(s.substr(p, 1));
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
      put_args(s.substr(p, 2));
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
          if (s.substr(p + 6, 2) == "\\u" && code_unit(s, p + 8, &low) && low >> 10 == 0xDC00 >> 10) n = 12;
        }
        put_args(n == 6 && code >> 11 == 0xD800 >> 11 ? View("\\ufffd") : s.substr(p, n));
      }
    } else if (l.form == Arguments::kPython && e == 'x') {
      for (size_t i = p + 2; i < p + 4; ++i) {
        if (i == s.size()) return Scan::kMore;
        if (hex_value(s[i]) < 0) break;
      }
      if (hex_value(s[p + 2]) >= 0 && hex_value(s[p + 3]) >= 0) {
        put_args("\\u00");
        put_args(s.substr(p + 2, 2));
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
  const View w = s.substr(*at, end - *at);
  *at = end;
  const auto word = [this](View json) { return put_args(json), Scan::kDone; };
  if (w == "true" || w == "True") return word("true");
  if (w == "false" || w == "False") return word("false");
  if (w == "null" || w == "None") return word("null");
  size_t i = 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < w.size() && is_digit_char(w[i])) ++i;
    return w.substr(from, i - from);
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
    exponent = w.substr(from);
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
