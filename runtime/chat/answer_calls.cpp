// How the arguments of a call are written: an object, pairs, tags, Python.
#include "answer_parts.h"

namespace linnet::chat {

// ---- calls that are objects

bool Answer::key_step() {
  const Envelope& e = *e_;
  const View s = text();
  const size_t at = skip(at_);
  if (at == s.size()) return false;
  if (s[at] == '}') return object_ended(at + 1);
  if (!one_of(s[at], "\"'")) return broken();
  const size_t end = text_end(s, at);
  const View key = end == kMore ? cut(s, at + 1) : cut(s, at + 1, end - at - 2);
  if (bare_ && first_) {
    bool fits = false;
    for (const View name : {e.name_key.view(), View("name"), View("type"), View("function")})
      fits |= end == kMore ? begins_with(name, key) : !name.empty() && name == key;
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
    const View name = quoted ? cut(s, v + 1, value - v - 2) : View();
    if (name.empty() || name.size() > kMaxName || find_in(name, '\\') != kNowhere || find_in(name, '\n') != kNowhere) return broken();
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
    const View args = cut(text(), args_at_, args_n_);
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
  const View s = cut(text(), 0, to - 1);
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
    const View key = trimmed(cut(s, begin, p - begin));
    if (key.empty()) return broken();
    put_key(key);
    key_at_ = static_cast<size_t>(key.data() - s.data()), key_n_ = key.size();
    const View schema = member(member(parameters_, "properties"), key);
    const uint32_t types = types_of(schema, parameters_);
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
    put_json(cut(s, at_, p - at_));
    at_ = p;
    if (end == kMore) return false;
    put_args("\"");
    at_ = behind;
    state_ = State::kPair;
    return true;
  }
  put_json(cut(s, at_));
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
    View value = cut(s, at_, end - at_);
    if (e_->value_lines) {
      if (begins_with(value, "\r\n")) value.remove_prefix(1);
      if (begins_with(value, "\n")) value.remove_prefix(1);
    }
    put_typed(value, member(member(parameters_, "properties"), cut(s, key_at_, key_n_)), value_json_);
    at_ = behind;
    state_ = State::kPair;
    return true;
  }
  return false;
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
  const View key = cut(s, name, end - name);
  if (key.empty()) return broken();
  at_ = end + 1;
  if (closes) {
    if (key != cut(s, top->at, top->n)) return broken();
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
    const size_t close = find_in(s, '>', inner);
    if (close == kNowhere) return s.size() - inner > kMaxName ? broken() : again();
    if (s[inner] == '<' && s[inner + 1] != '/') child = cut(s, inner + 1, close - inner - 1);
  }
  if (n_tags_ == kMaxTags) return broken();
  const View around = top ? holding(top->schema, parameters_, top->list ? "items" : "properties") : parameters_;
  const View schema = top && top->list ? member(around, "items") : member(member(around, "properties"), key);
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
  const bool object = (types_of(schema, parameters_) & (kIsObject | kIsList)) == kIsObject;
  tags_[n_tags_++] = {name, end - name, child == "item" && !object, true, schema};
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
    const View name = cut(s, top.at, top.n), rest = cut(s, tag + 2, top.n + 1);
    if (rest.size() <= top.n) return false;
    if (!begins_with(rest, name) || rest.back() != '>') return broken();
    put_typed(cut(s, at_, scan_ - at_), top.schema, false);
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
  put_key(cut(s, at, end - at));
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

}  // namespace linnet::chat
