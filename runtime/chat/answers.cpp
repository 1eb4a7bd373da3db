#include "answers.h"

#include "../../platform/utf8.h"
#include "answer_parts.h"

namespace linnet::chat {
namespace {

constexpr size_t kMaxHeader = 1024;  // of a message of harmony
constexpr uint32_t kMaxTries = 32;   // attempts at calls in the same bytes

}  // namespace

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

bool is_mark(const Envelope& e, View text) {
  if (text.empty()) return false;
  const auto fits = [text](View mark) {
    // not every token with a '<'
    return find_in(mark, text) != kNowhere || (mark.size() > 3 && find_in(text, mark) != kNowhere);
  };
  if (e.head == Head::kHarmony) {
    for (const View mark : {kMessage, kStart, kChannel, kConstrain})
      if (fits(mark)) return true;
    for (const View mark : kMessageEnds)
      if (fits(mark)) return true;
  }
  for (const Mark* m = &e.reason_open; m != &e.switch_name; ++m)
    if (fits(m->view())) return true;
  return false;
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
  emit(kind, cut(t, 0, last));
  put_blanks(&b, cut(t, last));
}

// A piece of reasoning, or a message: white space around it goes, and a line end parts it from the one before.
void Answer::begin_piece(bool reasoning) {
  reasoning_ = reasoning;
  Blanks& b = reasoning ? reason_ : content_;
  b.n = 0;
  if (b.begun) b.text[b.n++] = '\n';
  b.skip = true;
}

// ---- the text

size_t Answer::match(const Mark& mark, size_t at) const { return mark.empty() ? kNo : match_mark(text(), mark.view(), at); }
size_t Answer::skip(size_t at) const { return skip_blanks(text(), at); }

void Answer::begin(const Envelope& envelope, std::string_view rendered, std::string_view tools, void* memory, size_t bytes, AnswerSink sink,
                   void* user) {
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

  const View prompt = trimmed(rendered);
  const auto open = [prompt](const Mark& m) { return !m.empty() && ends_with(prompt, m.view()); };
  if (open(e.reason_close)) {
    // it is over
  } else if (open(e.reason_open)) {
    begin_piece(true);
    prompt_reasons_ = true;
  } else if (open(e.content_open)) {
    content_opened_ = true;
  } else if (e.head == Head::kHarmony) {
    if (ends_with(prompt, "<|start|>assistant")) state_ = State::kHeader;
  } else if (open(e.call_open)) {
    begin_call(0, 0, State::kHead);
  } else if (open(e.section_open[0]) || open(e.section_open[1])) {
    this->open(0, State::kSection);
  }
}

void Answer::feed(std::string_view text) {
  View t = text;
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
    const View rest = cut(text(), skip(0));
    if (begins_with(e_->section_close.view(), rest)) take(text().size());
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
  View parameters;
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
  if (!ends || (!tools_.empty() && !find_tool(tools_, cut(s, from, p - from), &parameters))) return none;
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
    put(cut(s, 0, i));
    take(i);
    return true;
  }
  if (s.empty()) return false;
  const Found f = mark_at(0);
  if (f.end == kMore) return false;
  switch (f.what) {
    case What::kReasonOpen:
      begin_piece(true);
      prompt_reasons_ = false;
      break;
    case What::kReasonClose:
      if (reasoning_) emit(AnswerKind::kReasoned, {});
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
      put(cut(s, 0, n));
      take(n);
      return true;
    }
  }
  take(f.end);
  return true;
}

// ---- calls

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
  parameters_ = {};
  next_ = State::kClose;
  literal_.silent = false;
  state_ = next;
}

// The name is known; false: no tool is called so.
bool Answer::announce() {
  const View name = cut(text(), name_at_, name_n_);
  if (!find_tool(tools_, name, &parameters_) && bare_ && !tools_.empty()) return false;
  announced_ = true;
  emit(AnswerKind::kCall, name, cut(text(), id_at_, id_n_));
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
  put(cut(text(), 0, start_));
  take(start_);
  return true;
}

bool Answer::call_ended(size_t at) {
  emit(AnswerKind::kCallEnd, {}, cut(text(), id_at_, id_n_));
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
  bool in_channel = false, role = !begins_with(s, kStart), type = false;
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
    const View word = cut(s, at, end - at), to = cut(word, 0, 3);
    const bool names = begins_with(View("to="), to);
    if (end == s.size()) return names || !role || in_channel ? false : broken();
    if (names && word.size() > 3 && recipient.empty())
      recipient = cut(word, 3);
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
    if (begins_with(recipient, kFunctions) && recipient.size() > kFunctions.size())
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
  const bool object = s[at] == '{' && (keys || (e.head == Head::kText && e.arguments != Arguments::kGemma));
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
  if (object && (e.head == Head::kNameKey || (e.head == Head::kText && e.arguments != Arguments::kGemma))) {  // JSON after all, too
    at_ = at + 1;
    state_ = State::kKey;
    return true;
  }
  if (e.head == Head::kText || (e.head == Head::kNameKey && e.python)) return name_step(at, python || e.head == Head::kNameKey);
  if (e.head != Head::kNameIsKey || !object) return broken();
  const size_t name = skip(at + 1);
  if (name == s.size()) return false;
  if (s[name] != '"') return broken();
  const size_t end = find_in(s, '"', name + 1);
  if (end == kNowhere) return s.size() - name > kMaxName ? broken() : false;
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
    id_at_ = at, id_n_ = trimmed(cut(s, at, p - at)).size();
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
  View name = cut(s, name_at_, name_n_);
  if (!python && !e.content_open.empty() && name == e.content_open.view()) {
    // no call: it is said to everybody
    begin_piece(false);
    content_opened_ = true;
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
      name = cut(name, 0, digits - 1);
    }
  }
  const View prefix = e.name_prefix.view();
  if (!prefix.empty() && begins_with(name, prefix) && name.size() > prefix.size()) name.remove_prefix(prefix.size());
  constexpr View kMethod = ".call";
  if (python && e.python && ends_with(name, kMethod) && name.size() > kMethod.size()) name.remove_suffix(kMethod.size());
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

}  // namespace linnet::chat
