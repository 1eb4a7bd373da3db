#include "template_probe.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "../chat/render.h"

namespace linnet::convert {
namespace {

using chat::Arguments;
using chat::Bare;
using chat::Envelope;
using chat::Head;
using chat::Mark;
using View = std::string_view;
using Text = std::string;

// What is looked for in renderings: words that survive trimming, changing of quotes and sorting.
constexpr View kUser = "UUuserUU", kContent = "CCtextCC", kReason = "RRreasonRR", kName1 = "NNoneNN", kName2 = "NNtwoNN",
               kValue1 = "VVoneVV", kValue2 = "VVtwoVV", kId1 = "abcdef123", kId2 = "ghijkl456";
constexpr uint64_t kStepsEach = 1'000'000, kMaxSteps = 50'000'000;  // of a rendering, and of all
constexpr int64_t kNow = 1795000000;                                // in November 2026
constexpr char kIdChar = '\x01';                                    // every id becomes this before anything is compared
constexpr View kArgs1 = R"({"kka": "VVoneVV"})", kArgs2 = R"({"kka": "VVtwoVV"})",
               kArgsAll = R"({"kka": "VVoneVV", "kkb": 4711, "kkc": true, "kkd": ["p", "q"], "kke": {"a": "b"}})";
constexpr View kProperties =
    R"({"kka": {"type": "string", "description": "d"}, "kkb": {"type": "integer", "description": "d"}, "kkc": {"type": "boolean", "description": "d"}, "kkd": {"type": "array", "items": {"type": "string"}, "description": "d"}, "kke": {"type": "object", "properties": {"a": {"type": "string", "description": "d"}}, "description": "d"}})";

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool word_char(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool contains(View s, View what) { return s.find(what) != View::npos; }
View trim(View s) {
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}
Text quoted(View s) {
  Text out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<uint8_t>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + '"';
}
void replace_all(Text* s, View what, View with) {
  for (size_t at = 0; (at = s->find(what, at)) != Text::npos; at += with.size()) s->replace(at, what.size(), with);
}
bool set(Mark* m, View s) {
  s = trim(s);
  *m = {};
  if (s.size() >= chat::kMarkBytes || contains(s, View("\x01", 1))) return false;
  std::copy(s.begin(), s.end(), m->text);
  return true;
}

// Texts in pieces that a mark consists of whole: an added token, <...>, [UPPER], a word, a character.
class Pieces {
 public:
  explicit Pieces(const std::vector<Text>& added) {
    for (const Text& t : added)
      if (t.size() > 1) added_.push_back(t);
    std::sort(added_.begin(), added_.end(), [](const Text& a, const Text& b) { return a.size() > b.size(); });
    if (added_.size() > 2048) added_.resize(2048);
  }
  std::vector<View> cut(View s) const {
    std::vector<View> out;
    for (size_t at = 0; at < s.size();) {
      const size_t n = piece(s.substr(at));
      out.push_back(s.substr(at, n));
      at += n;
    }
    return out;
  }
  // The pieces that two texts begin or end with both.
  View common_begin(View a, View b) const {
    const std::vector<View> x = cut(a), y = cut(b);
    size_t n = 0, bytes = 0;
    for (; n < x.size() && n < y.size() && x[n] == y[n]; ++n) bytes += x[n].size();
    return a.substr(0, bytes);
  }
  View common_end(View a, View b) const {
    const std::vector<View> x = cut(a), y = cut(b);
    size_t n = 0, bytes = 0;
    for (; n < x.size() && n < y.size() && x[x.size() - 1 - n] == y[y.size() - 1 - n]; ++n) bytes += x[x.size() - 1 - n].size();
    return a.substr(a.size() - bytes);
  }

 private:
  size_t piece(View s) const {
    for (const Text& t : added_)
      if (s.starts_with(t)) return t.size();
    if (s[0] == '<') {
      const size_t end = s.find_first_of("<>\n", 1);
      if (end != View::npos && s[end] == '>' && end > 1 && end < 64) return end + 1;
    }
    if (s[0] == '[') {
      size_t end = 1;
      while (end < s.size() && ((s[end] >= 'A' && s[end] <= 'Z') || s[end] == '_' || s[end] == ' ' || s[end] == '/')) ++end;
      if (end > 1 && end < s.size() && s[end] == ']') return end + 1;
    }
    size_t n = 0;
    while (n < s.size() && word_char(s[n])) ++n;
    if (n) return n;
    for (n = 1; n < s.size() && (static_cast<uint8_t>(s[n]) & 0xC0) == 0x80;) ++n;
    return n;
  }
  std::vector<Text> added_;
};

// An object of JSON or of Python's repr in a rendering.
struct Object {
  size_t begin = 0, end = 0;
  std::vector<std::pair<Text, View>> members;
};
size_t value_end(View s, size_t at) {
  uint32_t depth = 0;
  char quote = 0;
  for (; at < s.size(); ++at) {
    const char c = s[at];
    if (quote) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
        if (!depth) return at + 1;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (!depth) return at;
      if (!--depth) return at + 1;
    } else if (!depth && (c == ',' || blank(c))) {
      return at;
    }
  }
  return View::npos;
}
bool read_object(View s, size_t at, Object* out) {
  *out = {};
  out->begin = at;
  const auto skip = [&] {
    while (at < s.size() && blank(s[at])) ++at;
    return at < s.size();
  };
  ++at;
  while (skip()) {
    if (s[at] == '}') return out->end = at + 1, true;
    if (!out->members.empty()) {
      if (s[at] != ',') return false;
      ++at;
      if (!skip()) return false;
    }
    if (s[at] != '"' && s[at] != '\'') return false;
    size_t end = value_end(s, at);
    if (end == View::npos) return false;
    const Text key(s.substr(at + 1, end - at - 2));
    at = end;
    if (!skip() || s[at] != ':') return false;
    ++at;
    if (!skip()) return false;
    end = value_end(s, at);
    if (end == View::npos || end == at) return false;
    out->members.emplace_back(key, s.substr(at, end - at));
    at = end;
  }
  return false;
}
View unquoted(View v) { return v.size() > 1 && (v[0] == '"' || v[0] == '\'') ? v.substr(1, v.size() - 2) : v; }
// The object around `at` that has the name for a value or a key; {"function": {...}} is one with what it holds.
bool find_object(View s, size_t at, View name, Object* out) {
  bool found = false;
  for (size_t i = at; i > 0 && (i = s.rfind('{', i - 1)) != View::npos;) {
    Object o;
    if (!read_object(s, i, &o) || o.end <= at) continue;
    if (found) {
      const bool wraps = std::any_of(o.members.begin(), o.members.end(),
                                     [&](const auto& m) { return m.first == "function" && m.second.data() == s.data() + out->begin; });
      if (!wraps) return true;
      out->begin = o.begin, out->end = o.end;
      return true;
    }
    found = std::any_of(o.members.begin(), o.members.end(), [&](const auto& m) {
      return m.first == name || (m.second[0] != '{' && m.second[0] != '[' && contains(m.second, name));
    });
    if (found) *out = o;
    if (i == 0) break;
  }
  return found;
}

class Learner {
 public:
  Learner(View text, const std::vector<uint8_t>& program, const Text& tokens, const std::vector<Text>& added, Envelope* e,
          ReasoningSwitch* reasoning)
      : text_(text), tokens_(tokens), added_(added), pieces_(added), e_(e), switch_(reasoning) {
    linnet_template_params params = {};
    params.size = sizeof params;
    params.text_bytes = size_t{1} << 19;
    params.value_bytes = size_t{4} << 20;
    params.max_steps = kStepsEach;
    const View own = tokens_.empty() ? View(R"({"bos_token": "", "eos_token": "<EOS>"})") : View(tokens_);
    params.tokens = own.data();
    params.tokens_bytes = static_cast<uint32_t>(own.size());
    linnet_view from = {};
    from.data = program.data();
    from.bytes = program.size();
    size_t bytes = 0;
    if (template_need(from, nullptr, params, &bytes, nullptr) != LINNET_OK) return;
    memory_.resize(bytes + 64);
    void* const at = reinterpret_cast<void*>(align_up(reinterpret_cast<uintptr_t>(memory_.data()), 64));
    if (template_init(&t_, at, bytes, from, nullptr, nullptr, params, nullptr) != LINNET_OK) t_ = nullptr;
  }

  void learn() {
    *e_ = {};
    *switch_ = {};
    e_->magic = chat::kEnvelopeMagic, e_->version = chat::kEnvelopeVersion;
    if (t_) {
      learn_prompt();
      learn_call();
      learn_reasoning();
      learn_content();
    }
    complete();
  }

 private:
  // ---- renderings

  // A template that takes long says less.
  std::optional<Text> run(View conversation) {
    if (steps_ > kMaxSteps) return {};
    linnet_rendered out = {};
    out.size = sizeof out;
    const Status status = template_render(*t_, conversation, kNow, &out, nullptr);
    steps_ += 2000 + (status == LINNET_OK ? out.steps : status == LINNET_TOO_SMALL ? kStepsEach : kStepsEach / 16);
    if (status != LINNET_OK) return {};
    return Text(out.text, out.text_bytes);
  }

  // What stands behind the last user's text.
  std::optional<Text> render(View messages, bool tools, View more = {}) {
    const auto tool = [](View name) {
      return R"({"type": "function", "function": {"name": )" + quoted(name) +
             R"(, "description": "d", "parameters": {"type": "object", "properties": )" + Text(kProperties) + R"(, "required": ["kka"]}}})";
    };
    const Text list = "[" + tool(kName1) + ", " + tool(kName2) + "]";
    Text c = R"({"messages": [)" + Text(messages) + R"(], "tools": )" + (tools ? list : "null") + R"(, "documents": null)";
    if (tools && contains(text_, "functions")) c += ", \"functions\": " + quoted(list);
    if (!contains(more, "add_generation_prompt")) c += R"(, "add_generation_prompt": false)";
    if (!more.empty()) c += ", " + Text(more);
    c += "}";
    auto rendered = run(c);
    if (!rendered) return {};
    Text& s = *rendered;
    const size_t at = s.rfind(kUser);
    if (at == Text::npos) return {};
    s.erase(0, at + kUser.size());
    for (const View id : {kId1, kId2}) replace_all(&s, id, View(&kIdChar, 1));
    return rendered;
  }
  std::optional<Text> render_any(View messages, View more = {}) {
    auto s = render(messages, true, more);
    return s ? s : render(messages, false, more);
  }
  static Text user(View text = kUser) { return R"({"role": "user", "content": )" + quoted(text) + "}"; }
  Text assistant(View content, View more) const {
    Text m = R"({"role": "assistant")";
    if (!content.empty())
      m += ", \"content\": " + quoted(content);
    else if (empty_content_ != Empty::kMissing)
      m += empty_content_ == Empty::kNull ? ", \"content\": null" : ", \"content\": \"\"";
    return m + (more.empty() ? "" : ", ") + Text(more) + "}";
  }
  Text call(View id, View name, View args) const {
    return R"({"id": )" + quoted(id) + R"(, "type": "function", "function": {"name": )" + quoted(name) + R"(, "arguments": )" +
           (args_as_text_ ? quoted(args) : Text(args)) + "}}";
  }
  std::optional<Text> render_calls(const Text& calls, View content = {}, View more = {}) {
    const Text m = user() + ", " + assistant(content, R"("tool_calls": [)" + calls + "]" + (more.empty() ? "" : ", ") + Text(more));
    return tools_ ? render(m, true) : render(m, false);
  }

  // ---- steps

  void learn_prompt() {
    const View on = R"("add_generation_prompt": true)";
    auto g = render(user(), false, on);
    if (!g) g = render(user(), true, on);
    prompt_ = g.value_or("");
    text_answer_ = render(user() + ", " + assistant(kContent, ""), false).value_or("");
    if (!contains(text_answer_, kContent)) text_answer_ = render(user() + ", " + assistant(kContent, ""), true).value_or("");
    // the prompt with each variable that may be a switch
    prompts_ = {prompt_};
    std::vector<Text> names = {"enable_thinking", "thinking"};
    std::set<Text> seen = {"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token",
                           "message",  "loop",  "functions"};
    for (size_t i = 0; i < text_.size() && names.size() < 160;) {
      size_t end = i;
      while (end < text_.size() && word_char(text_[end])) ++end;
      if (end > i && end - i < 40 && !(i && text_[i - 1] == '.')) {
        const Text name(text_.substr(i, end - i));
        const bool used = contains(name, "think") || contains(name, "reason") ||
                          (text_.substr(0, i).ends_with("if ") || text_.substr(0, i).ends_with("not "));
        if (used && seen.insert(name).second && (name[0] < '0' || name[0] > '9')) names.push_back(name);
      }
      i = end + 1;
    }
    for (const Text& name : names) {
      if (!contains(text_, name)) continue;
      const auto with = [&](View value) { return render(user(), false, Text(on) + ", " + quoted(name) + ": " + Text(value)); };
      const auto yes = with("true"), no = with("false"), zero = with("0");
      bool found = false;
      for (const auto& p : {yes, no, contains(name, "budget") ? zero : std::nullopt})
        if (p && *p != prompt_) {
          if (std::find(prompts_.begin(), prompts_.end(), *p) == prompts_.end()) prompts_.push_back(*p);
          found = true;
        }
      if (!found || !switch_->variable.empty()) continue;
      const bool number = contains(name, "budget");
      *switch_ = {name, number ? "-1" : "true", number ? "0" : "false"};
    }
    for (const View word : {"/think", "/no_think", "/nothink"})
      if (contains(text_, word)) {
        const auto p = render(R"({"role": "system", "content": )" + quoted(word) + "}, " + user(), false, on);
        if (p && *p != prompt_) prompts_.push_back(*p);
      }
  }

  void learn_call() {
    std::optional<Text> one;
    for (const Empty empty : {Empty::kText, Empty::kNull, Empty::kMissing})
      for (const bool as_text : {false, true})
        for (const bool tools : {true, false})
          for (const bool result : {false, true}) {
            if (one) continue;
            empty_content_ = empty, args_as_text_ = as_text, tools_ = tools;
            const Text tail = result ? R"(, {"role": "tool", "name": "NNoneNN", "tool_call_id": "abcdef123", "content": "x"})" : "";
            auto s = render(user() + ", " + assistant("", R"("tool_calls": [)" + call(kId1, kName1, kArgs1) + "]") + tail, tools);
            if (s && contains(*s, kName1) && contains(*s, kValue1) && !contains(*s, "\\\"kka\\\"")) one = s;
          }
    if (!one) {
      empty_content_ = Empty::kText, args_as_text_ = false, tools_ = false;
      return;
    }
    one_ = *one;
    two_ = render_calls(call(kId1, kName1, kArgs1) + ", " + call(kId2, kName2, kArgs2)).value_or("");
    if (!contains(two_, kName2) || !contains(two_, kValue2)) two_.clear();
    all_ = render_calls(call(kId1, kName1, kArgsAll)).value_or("");
    const size_t name = one_.find(kName1);
    header_ = pieces_.common_begin(View(one_).substr(0, name), prompt_);
    Text begin, between, end;
    Object o, o2;
    const bool good = find_object(one_, name, kName1, &o) && (contains(View(one_).substr(o.begin, o.end - o.begin), kValue1))
                          ? learn_object(o, &begin, &between, &end)
                          : learn_text(name, &begin, &between, &end);
    if (!good) {
      e_->head = Head::kNone;
      return;
    }
    learn_marks(begin, between, end);
  }

  bool learn_object(const Object& o, Text* begin, Text* between, Text* end) {
    Envelope& e = *e_;
    e.arguments = Arguments::kJson;
    for (const auto& [key, value] : o.members) {
      if (key == kName1 && value[0] == '{')
        e.head = Head::kNameIsKey;
      else if (value[0] != '{' && value[0] != '[' && contains(value, kName1) && unquoted(value) == kName1)
        e.head = Head::kNameKey, set(&e.name_key, key);
      else if (value[0] == '{' && contains(value, kValue1))
        set(&e.args_key, key);
      else if (unquoted(value) == View(&kIdChar, 1) || unquoted(value) == "0")
        set(&e.id_key, key);
    }
    if (e.head == Head::kNone) return false;
    *begin = one_.substr(0, o.begin);
    *end = one_.substr(o.end);
    Object o2;
    if (!two_.empty() && find_object(two_, two_.find(kName2), kName2, &o2)) {
      Object o1;
      if (!find_object(two_, two_.find(kName1), kName1, &o1) || o1.end > o2.begin) return true;
      *between = two_.substr(o1.end, o2.begin - o1.end);
      *end = two_.substr(o2.end);
    } else {
      two_.clear();
    }
    return true;
  }

  bool learn_text(size_t name, Text* begin, Text* between, Text* end) {
    Envelope& e = *e_;
    const View s = one_;
    *begin = one_.substr(0, name);
    const size_t behind = name + kName1.size();
    Object args;
    size_t open = behind;
    bool json = false;
    while (!json && (open = s.find('{', open)) != View::npos) {
      json = read_object(s, open, &args) && args.members.size() == 1 && args.members[0].first == "kka" &&
             unquoted(args.members[0].second) == kValue1;
      if (!json) ++open;
    }
    e.head = Head::kText;
    if (json) {
      e.arguments = Arguments::kJson;
      Text mid(s.substr(behind, open - behind)), other = mid;
      *end = one_.substr(args.end);
      if (!two_.empty()) {
        const size_t second = two_.find(kName2), mark = two_.find('{', second);
        Object a1, a2;
        const size_t first_end = two_.find('{', two_.find(kName1));
        if (second != Text::npos && mark != Text::npos && read_object(two_, mark, &a2) && read_object(two_, first_end, &a1) &&
            a1.end <= second) {
          other = two_.substr(second + kName2.size(), mark - second - kName2.size());
          *between = two_.substr(a1.end, second - a1.end);
          *end = two_.substr(a2.end);
        } else {
          two_.clear();
        }
      }
      return learn_name_end(mid, other);
    }
    const size_t key = s.find("kka", behind), value = key == View::npos ? key : s.find(kValue1, key);
    if (value == View::npos) return false;
    const Text open_text(s.substr(behind, key - behind)), eq_text(s.substr(key + 3, value - key - 3));
    const size_t value_behind = value + kValue1.size();
    *end = one_.substr(value_behind);
    if (!two_.empty()) {
      const size_t v1 = two_.find(kValue1), n2 = two_.find(kName2, v1), v2 = n2 == Text::npos ? n2 : two_.find(kValue2, n2);
      if (v2 == Text::npos) {
        two_.clear();
      } else {
        *between = two_.substr(v1 + kValue1.size(), n2 - v1 - kValue1.size());
        *end = two_.substr(v2 + kValue2.size());
      }
    }
    return learn_pairs(open_text, eq_text, *end);
  }

  // What stands between the name and JSON: of one call and of the second of two.
  bool learn_name_end(const Text& mid, const Text& other) {
    Envelope& e = *e_;
    const size_t id = mid.find(kIdChar);
    if (id != Text::npos) return set(&e.id_close, View(mid).substr(0, id)) && set(&e.args_open, View(mid).substr(id + 1));
    if (mid != other) {
      // a number that counts
      size_t at = 0;
      while (at < mid.size() && at < other.size() && mid[at] == other[at]) ++at;
      const auto digit = [](char c) { return c >= '0' && c <= '9'; };
      if (at == 0 || at >= mid.size() || !digit(mid[at]) || digit(mid[at - 1])) return false;
      e.counted = static_cast<uint8_t>(mid[at - 1]);
      size_t behind = at;
      while (behind < mid.size() && digit(mid[behind])) ++behind;
      return at == 1 && set(&e.args_open, View(mid).substr(behind));
    }
    return set(&e.args_open, mid);
  }

  bool learn_pairs(const Text& open, const Text& eq, Text& rest) {
    Envelope& e = *e_;
    e.arguments = Arguments::kPairs;
    const View all = all_;
    Text eq_other, between;
    const size_t a = all.find("kka", std::min(all.find(kName1), all.size())), va = a == View::npos ? a : all.find(kValue1, a);
    const size_t b = va == View::npos ? va : all.find("kkb", va), vb = b == View::npos ? b : all.find("4711", b);
    if (vb == View::npos) return false;
    between = all.substr(va + kValue1.size(), b - va - kValue1.size());
    eq_other = all.substr(b + 3, vb - b - 3);
    Text key_open(pieces_.common_end(open, between));
    Text args_open = open.substr(0, open.size() - key_open.size());
    Text value_close = between.substr(0, between.size() - key_open.size());
    const Text quote(trim(eq.starts_with(eq_other) ? View(eq).substr(eq_other.size()) : View()));
    const View sign = trim(eq_other);
    if (trim(open) == "(" && sign == "=") {
      e.arguments = Arguments::kPython;
      const size_t end = rest.find(')');
      if (end == Text::npos) return false;
      rest.erase(0, end + 1);
      return true;
    }
    if (trim(open) == "{" && sign == ":" && !quote.empty()) {
      e.arguments = Arguments::kGemma;
      const size_t end = rest.find('}');
      if (end == Text::npos) return false;
      rest.erase(0, end + 1);
      return set(&e.quote, quote);
    }
    if (contains(value_close, "kka")) {
      // the key is the tag
      const size_t at = value_close.find("</kka>");
      const Text prefix = at == Text::npos ? "" : value_close.substr(0, at);
      if (at == Text::npos || trim(eq) != ">" || trim(key_open) != Text(trim(prefix)) + "<") return false;
      e.arguments = Arguments::kTags;
      rest.erase(0, rest.find("</kka>") + 6);
      return set(&e.tag_prefix, prefix) && set(&e.args_open, args_open);
    }
    e.value_lines = eq.ends_with('\n') && between.starts_with('\n');
    if (!set(&e.args_open, args_open) || !set(&e.key_open, key_open) || !set(&e.key_close, eq) || !set(&e.value_close, value_close))
      return false;
    if (trim(eq_other) != trim(eq) && !set(&e.key_close_other, eq_other)) return false;
    // a closing mark of the value that stands in front of what closes the call
    const View closing = trim(View(value_close));
    const size_t at = rest.find(closing);
    if (closing.empty() || at == Text::npos || !trim(View(rest).substr(0, at)).empty()) return false;
    rest.erase(0, at + closing.size());
    return !e.key_open.empty() && !e.key_close.empty();
  }

  // begin: in front of the first call, from the turn's header on; between: two calls, or empty; end: behind the last one.
  void learn_marks(Text begin, Text between, Text end) {
    Envelope& e = *e_;
    View front = View(begin).substr(std::min(header_.size(), begin.size()));
    View call_open, call_close, section_open, section_close;
    if (!two_.empty()) {
      // of pairs and Python the arguments' own end stands in `between` too
      const size_t inner = own_end(between);
      between.erase(0, inner);
      call_close = pieces_.common_begin(between, end);
      call_open = pieces_.common_end(begin, between);
      if (call_open.size() == between.size())
        call_close = {};
      else if (call_open.size() + call_close.size() > between.size())
        call_open = View(between).substr(call_close.size());
      if (call_open.size() > begin.size() || !View(begin).ends_with(call_open)) call_open = {};
      // what lies in the header is no mark of a call, unless the prompt opens it
      if (call_open.size() > front.size()) {
        View rest = trim(call_open);
        section_open = {};
        if (!trim(front).empty()) rest = trim(front);
        call_open = rest;
      } else {
        section_open = front.substr(0, front.size() - call_open.size());
      }
      section_close = View(end).substr(call_close.size());
    } else {
      call_open = front;
      section_close = end;
    }
    section_close = trim(section_close);
    turn_end_ = Text(pieces_.common_end(section_close, trim(text_end())));
    Text close(section_close.substr(0, section_close.size() - turn_end_.size()));
    Text opened(without_reasoning(section_open)), open(two_.empty() ? without_reasoning(call_open) : call_open);
    if (two_.empty()) {
      call_close = trim(close);
    }
    Text list_close = two_.empty() ? "" : Text(trim(close));
    const bool list = e.head == Head::kNameKey || e.head == Head::kNameIsKey || e.arguments == Arguments::kPython;
    Text call_end(trim(call_close)), call_begin(trim(open));
    opened = trim(opened);
    if (list) {
      // brackets of a list are no marks
      for (Text* t : {&opened, &call_begin})
        if (t->ends_with('[')) *t = trim(View(*t).substr(0, t->size() - 1));
      for (Text* t : {&list_close, &call_end})
        if (t->starts_with(']')) *t = trim(View(*t).substr(1));
    }
    if (call_end == "," || call_end == ";") call_end.clear();
    if (call_begin == "," || call_begin == ";") call_begin.clear();
    // an id in front of the name
    if (const size_t id = call_begin.find(kIdChar); id != Text::npos) {
      set(&e.id_open, View(call_begin).substr(id + 1));
      call_begin.resize(id);
    }
    // what the name begins with: functions.N, call:N
    if (e.head == Head::kText) {
      size_t at = call_begin.size();
      while (at && (word_char(call_begin[at - 1]) || call_begin[at - 1] == '.' || call_begin[at - 1] == ':')) --at;
      if (at && at < call_begin.size() && (call_begin[at - 1] == '>' || call_begin[at - 1] == ']') &&
          (call_begin.back() == '.' || call_begin.back() == ':')) {
        set(&e.name_prefix, View(call_begin).substr(at));
        call_begin.resize(at);
      }
    }
    if (e.arguments == Arguments::kTags) {
      // what all tags begin with may have gone to the tag before
      const Text prefix(e.tag_prefix.view());
      const auto cut = [&prefix](Text* t) {
        const bool there = !prefix.empty() && t->ends_with(prefix);
        if (there) *t = trim(View(*t).substr(0, t->size() - prefix.size()));
        return there;
      };
      if (cut(&opened)) call_begin = prefix + call_begin;
      if (cut(&call_end)) list_close = prefix + list_close;
    }
    // a mark behind the last call of none in front is one of the turn's end
    if (opened.empty() && !list_close.empty() && !call_begin.empty()) {
      set_end(1, list_close);
      list_close.clear();
    }
    // <a> <b ... </b> </a>: calls in sections
    if (opened.empty() && list_close.empty()) {
      const size_t end_of_first = call_begin.find('>');
      if (call_begin.starts_with('<') && end_of_first != Text::npos && end_of_first + 1 < call_begin.size()) {
        const Text closing = "</" + call_begin.substr(1, end_of_first);
        if (call_end.size() > closing.size() && call_end.ends_with(closing)) {
          opened = call_begin.substr(0, end_of_first + 1);
          list_close = closing;
          call_begin = trim(View(call_begin).substr(end_of_first + 1));
          call_end = trim(View(call_end).substr(0, call_end.size() - closing.size()));
        }
      }
    }
    if (call_end == call_begin && call_end.starts_with('<') && call_end.ends_with('>'))
      call_end = partner(call_end);  // one that was misspelt
    // values printed as they are, and objects that were not read as such, have no marks
    bool good = true;
    for (const Text* t : {&opened, &list_close, &call_begin, &call_end})
      for (const View sign : {"{'", "{\"", "'}", "\"}", "':", "\":"}) good &= !contains(*t, sign);
    good = good && set(&e.section_open[0], opened) && set(&e.section_close, list_close) && set(&e.call_open, call_begin) &&
           set(&e.call_close, call_end);
    if (!good) {
      e.head = Head::kNone;
      return;
    }
    if (e.section_open[0].empty() && e.call_open.empty()) e.bare = Bare::kBegins;
  }
  size_t own_end(const Text& between) const {
    const Envelope& e = *e_;
    if (e.head != Head::kText) return 0;
    if (e.arguments == Arguments::kPython) return std::min(between.find(')'), between.size() - 1) + 1;
    if (e.arguments == Arguments::kGemma) return std::min(between.find('}'), between.size() - 1) + 1;
    if (e.arguments == Arguments::kTags) return std::min(between.find("</kka>"), between.size() - 6) + 6;
    if (e.arguments == Arguments::kPairs) {
      const size_t at = between.find(e.value_close.view());
      return at == Text::npos ? 0 : at + e.value_close.view().size();
    }
    return 0;
  }
  // Behind a text that the assistant says.
  View text_end() const {
    const size_t at = text_answer_.find(kContent);
    return at == Text::npos ? View() : View(text_answer_).substr(at + kContent.size());
  }
  // In front of it, from the header on.
  View text_begin() const {
    const size_t at = text_answer_.find(kContent);
    if (at == Text::npos) return {};
    const View begin = View(text_answer_).substr(0, at);
    return begin.substr(pieces_.common_begin(begin, prompt_).size());
  }
  // A mark that does not belong to calls: what stands in front of a text as well.
  Text without_reasoning(View s) const {
    const View begin = text_begin();
    const View common = pieces_.common_begin(s, begin);
    if (!trim(common).empty()) s.remove_prefix(common.size());
    return Text(s);
  }

  // ---- reasoning

  std::vector<Text> marks_of(View s) const {
    std::vector<Text> out;
    for (const View p : pieces_.cut(s))
      if (p.size() > 2 && (p[0] == '<' || p[0] == '[')) out.emplace_back(p);
    return out;
  }
  // </x> of <x>, <|END_X|> of <|START_X|>, [/X] of [X].
  static Text partner(const Text& open) {
    Text close = open;
    if (const size_t at = close.find("START_"); at != Text::npos) return close.replace(at, 6, "END_");
    if (close.size() > 1 && (close[0] == '<' || close[0] == '[') && close[1] != '/') return close.insert(1, "/");
    return "";
  }
  static Text opener(const Text& close) {
    Text open = close;
    if (const size_t at = open.find("END_"); at != Text::npos) return open.replace(at, 4, "START_");
    if (open.size() > 2 && open[1] == '/') return open.erase(1, 1);
    return "";
  }

  void learn_reasoning() {
    if (learn_shown_reasoning()) return;
    // what the prompt opens or closes, with the switch on and off
    Text base = prompts_[0];
    for (const Text& p : prompts_) base = pieces_.common_begin(base, p);
    if (!text_answer_.empty()) base = pieces_.common_begin(base, text_answer_);
    Text open, close;
    const auto take = [&](View tail) {
      const std::vector<Text> marks = marks_of(tail);
      if (marks.empty() || !trim(tail).ends_with(marks.back())) return;
      for (size_t i = 0; i < marks.size(); ++i) {
        const bool closing = marks[i].size() > 2 && (marks[i][1] == '/' || contains(marks[i], "END_"));
        if (closing && close.empty()) close = marks[i];
        if (!closing && open.empty() && (contains(text_, partner(marks[i])) || contains(marks[i], "think"))) open = marks[i];
      }
    };
    for (const Text& p : prompts_) take(View(p).substr(std::min(base.size(), p.size())));
    if (const size_t at = text_answer_.find(kContent); at != Text::npos && open.empty() && close.empty()) {
      const Text begin(text_begin());
      if (contains(begin, "think") || contains(begin, "THINK")) take(begin);
    }
    const Text cut = content_cut();
    if (!cut.empty()) close = cut;
    if (open.empty() && !close.empty()) open = opener(close);
    if (close.empty() && !open.empty()) close = partner(open);
    if (open.empty() || close.empty()) return;
    if (set(&e_->reason_open, open)) set(&e_->reason_close, close);
  }

  bool learn_shown_reasoning() {
    const Text field = R"("reasoning_content": "RRreasonRR", "reasoning": "RRreasonRR", "thinking": "RRreasonRR")";
    const Text one = call(kId1, kName1, kArgs1);
    const Text result = R"(, {"role": "tool", "name": "NNoneNN", "tool_call_id": "abcdef123", "content": "x"})";
    const View keep =
        R"("enable_thinking": true, "thinking": true, "skip_think": false, "keep_past_thinking": true, "preserve_thinking": true)";
    const Text with_call = assistant("", R"("tool_calls": [)" + one + "], " + field);
    const Text content = assistant(kContent, field);
    const std::pair<Text, View> tries[] = {
        {user() + ", " + content, {}},
        {user() + ", " + content, keep},
        {user() + ", " + with_call, {}},
        {user() + ", " + with_call + result, {}},
        {user() +
             R"(, {"role": "assistant", "content": [{"type": "thinking", "thinking": "RRreasonRR"}, {"type": "text", "text": "CCtextCC"}]})",
         {}},
        {user() +
             R"(, {"role": "assistant", "content": {"blocks": [{"type": "thoughts", "text": "RRreasonRR"}, {"type": "response", "text": "CCtextCC"}]}})",
         {}},
    };
    for (const auto& [messages, more] : tries)
      for (const bool tools : {false, true}) {
        const auto s = render(messages, tools, more);
        const size_t at = s ? s->find(kReason) : Text::npos;
        if (at == Text::npos) continue;
        const View before = View(*s).substr(0, at), behind = View(*s).substr(at + kReason.size());
        const View near = before.substr(before.size() > 60 ? before.size() - 60 : 0);
        if (contains(near, "{'type") || contains(near, "{\"type") || contains(near, "'thinking'") || contains(near, "\"thinking\"") ||
            contains(near, "'text': ") || contains(near, "\"text\": "))
          continue;  // the list as it is
        View header = pieces_.common_begin(before, prompt_);
        if (contains(one_, kName1) && !trim(header).empty()) header = shorter(header, pieces_.common_begin(before, one_), before);
        Text open(trim(before.substr(std::min(header.size(), before.size()))));
        const View tail = trim(View(prompt_).substr(pieces_.common_begin(prompt_, text_answer_).size()));
        if (open.empty() && marks_of(tail).empty()) open = tail;
        if (const auto marks = marks_of(before); open.empty() && !marks.empty() && trim(before).ends_with(marks.back()))
          open = marks.back();
        size_t end = std::min(behind.find(kContent), behind.find(kName1));
        if (end == View::npos) end = behind.size();
        Text close(trim(behind.substr(0, end)));
        // marks of the content or of calls behind it are theirs
        const Text common = reasoning_end(behind, with_call + result, with_call);
        if (!common.empty()) close = common;
        if (const auto marks = marks_of(close); !marks.empty() && close.starts_with(marks[0])) {
          const Text own = partner(open);
          if (!own.empty() && close.starts_with(own))
            close = own;
          else if (common.empty())
            close = marks[0];
        }
        if (open.empty() || close.empty()) continue;
        // of several marks in front the last one
        if (const auto marks = marks_of(open); marks.size() > 1 && open.ends_with(marks.back())) open = marks.back();
        if (!set(&e_->reason_open, open) || !set(&e_->reason_close, close)) {
          e_->reason_open = e_->reason_close = {};
          continue;
        }
        return true;
      }
    return false;
  }
  // What stands behind the reasoning both of a text and of a call.
  Text reasoning_end(View behind, const Text& answered, const Text& alone) {
    if (!contains(behind, kContent)) return "";
    for (const Text* messages : {&alone, &answered})
      for (const bool tools : {true, false}) {
        const auto s = render(user() + ", " + *messages, tools);
        const size_t at = s ? s->find(kReason) : Text::npos;
        if (at != Text::npos) return Text(trim(pieces_.common_begin(behind, View(*s).substr(at + kReason.size()))));
      }
    return "";
  }
  static View shorter(View a, View b, View of) { return of.substr(0, std::min(a.size(), b.size())); }

  // Which text of the template, in the middle of a message, makes it leave out what stands before: the shortest.
  Text content_cut() {
    std::set<Text> seen;
    Text best;
    const auto attempt = [&](View mark) {
      const View core = trim(mark);
      if (core.size() < 3 || core.size() > 40 || std::all_of(core.begin(), core.end(), word_char) || seen.size() > 120 ||
          !seen.insert(Text(core)).second)
        return;
      if (!best.empty() && core.size() >= best.size()) return;
      for (const bool more : {false, true}) {
        const auto s = render_from(R"({"role": "user", "content": "QQ"}, {"role": "assistant", "content": )" +
                                   quoted(Text(kReason) + Text(mark) + Text(kContent)) + "}" +
                                   (more ? ", {\"role\": \"user\", \"content\": \"z\"}" : ""));
        if (s && contains(*s, kContent) && !contains(*s, kReason)) best = core;
      }
    };
    for (const Text& mark : marks_of(text_)) attempt(mark);
    for (size_t i = 0; i < text_.size() && best.empty(); ++i) {
      const char q = text_[i];
      if (q != '\'' && q != '"') continue;
      const size_t end = text_.find_first_of(q == '"' ? "\"\n" : "'\n", i + 1);
      if (end == View::npos || text_[end] != q) continue;
      Text mark(text_.substr(i + 1, end - i - 1));
      i = end;
      replace_all(&mark, "\\n", "\n");
      attempt(mark);
    }
    return best;
  }
  std::optional<Text> render_from(View messages) {
    Text c = R"({"messages": [)" + Text(messages) + R"(], "tools": null, "documents": null, "add_generation_prompt": false})";
    return run(c);
  }

  // ---- content

  void learn_content() {
    Envelope& e = *e_;
    View begin = text_begin(), end = trim(text_end());
    if (!e.reason_close.empty())
      if (const size_t at = begin.rfind(e.reason_close.view()); at != View::npos) begin.remove_prefix(at + e.reason_close.view().size());
    if (!e.reason_open.empty())
      if (const size_t at = begin.rfind(e.reason_open.view()); at != View::npos) begin.remove_prefix(at + e.reason_open.view().size());
    View mark = trim(begin);
    const size_t newline = mark.find('\n');
    if (!mark.empty() && newline == View::npos && (mark[0] == '<' || mark[0] == '[' || e.call_open.view() == ">>>" || !e.call_open.empty()))
      set(&e.content_open, mark);
    if (!turn_end_.empty() && end.size() > turn_end_.size()) {
      const View close = trim(end.substr(0, end.size() - turn_end_.size()));
      if (close.size() > 2 && !contains(close, "\n")) set(&e.content_close, close);
    }
    if (e.content_open.empty() != e.content_close.empty() && e.head != Head::kText && e.content_close.empty()) e.content_open = {};
    set_end(0, end.substr(end.size() > turn_end_.size() && !turn_end_.empty() ? end.size() - turn_end_.size() : 0));
  }
  void set_end(size_t i, View end) {
    end = trim(end);
    const std::vector<View> pieces = pieces_.cut(end);
    if (pieces.empty() || (end[0] != '<' && end[0] != '[')) return;
    View mark = pieces[0];
    if (mark.size() < 3) mark = end.substr(0, end.find_first_of(" \n\r\t"));
    if (mark.size() > 2 && mark.size() < 40 && mark != "<EOS>") set(&e_->end[i], mark);
  }

  // ---- families

  bool has(View mark) const { return contains(text_, mark) || std::find(added_.begin(), added_.end(), mark) != added_.end(); }
  void keys(View open, View close = {}, View other = {}) {
    Envelope& e = *e_;
    calls_clear();
    e.head = Head::kNameKey;
    set(&e.section_open[0], open), set(&e.section_open[1], other), set(&e.section_close, close);
    set(&e.name_key, "name"), set(&e.args_key, "arguments");
  }
  void calls_clear() {
    Envelope& e = *e_;
    e.head = Head::kNone, e.arguments = Arguments::kJson, e.bare = Bare::kNever, e.value_lines = e.counted = e.python = 0;
    for (Mark* m : {&e.section_open[0], &e.section_open[1], &e.section_close, &e.call_open, &e.call_close, &e.name_key, &e.args_key,
                    &e.id_key, &e.name_prefix, &e.id_open, &e.id_close, &e.args_open, &e.key_open, &e.key_close, &e.key_close_other,
                    &e.value_close, &e.quote, &e.tag_prefix})
      *m = {};
  }
  void thinks(View open = "<think>", View close = "</think>") {
    if (e_->reason_close.empty()) set(&e_->reason_open, open), set(&e_->reason_close, close);
  }
  void says(View open, View close) {
    if (e_->content_open.empty()) set(&e_->content_open, open), set(&e_->content_close, close);
  }

  // What probes do not show, by the marks of a family.
  void complete() {
    Envelope& e = *e_;
    const bool none = e.head == Head::kNone;
    if (contains(text_, "<|channel|>") && contains(text_, "<|message|>")) {
      *e_ = {};
      e.magic = chat::kEnvelopeMagic, e.version = chat::kEnvelopeVersion;
      e.head = Head::kHarmony;
      return;
    }
    if (e.head == Head::kNameKey && e.bare == Bare::kBegins && (has("<|python_tag|>") || contains(text_, "ipython"))) {
      // Llama: built-in tools are called in Python
      set(&e.section_open[0], "<|python_tag|>");
      e.python = 1;
      set(&e.end[1], "<|eom_id|>");
    }
    if (has("<|tool_calls_section_begin|>")) {  // Kimi
      calls_clear();
      e.head = Head::kText;
      e.counted = ':';
      e.ends_reasoning = 1;
      set(&e.section_open[0], "<|tool_calls_section_begin|>"), set(&e.section_close, "<|tool_calls_section_end|>");
      set(&e.call_open, "<|tool_call_begin|>"), set(&e.call_close, "<|tool_call_end|>"), set(&e.args_open, "<|tool_call_argument_begin|>");
      set(&e.name_prefix, "functions.");
      thinks();
    } else if (has("<\uff5ctool\u2581call\u2581begin\uff5c>") && (e.head != Head::kText || e.arguments != Arguments::kJson)) {  // DeepSeek
      calls_clear();
      e.head = Head::kText;
      const bool old = contains(text_, "```json");
      set(&e.section_open[0], "<\uff5ctool\u2581calls\u2581begin\uff5c>"), set(&e.section_close, "<\uff5ctool\u2581calls\u2581end\uff5c>");
      set(&e.call_open,
          old ? "<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>" : "<\uff5ctool\u2581call\u2581begin\uff5c>");
      set(&e.call_close, old ? "```<\uff5ctool\u2581call\u2581end\uff5c>" : "<\uff5ctool\u2581call\u2581end\uff5c>");
      set(&e.args_open, old ? "```json" : "<\uff5ctool\u2581sep\uff5c>");
      thinks();
    } else if (none && (has("<|tool_call_start|>") || has("<|tool_list_start|>") || contains(text_, "List of tools: ["))) {  // LFM2
      calls_clear();
      e.head = Head::kText, e.arguments = Arguments::kPython;
      set(&e.section_open[0], "<|tool_call_start|>"), set(&e.section_close, "<|tool_call_end|>");
      thinks();
    } else if (has("<|/tool|>") || has("<|/tool_call|>") || contains(text_, "functools")) {  // Phi-4-mini, Firefunction
      keys("<|tool_call|>", "<|/tool_call|>", "functools");
      thinks();
    } else if (none && has("<|tool_call|>")) {  // Granite 3
      keys("<|tool_call|>", "", "<tool_call>");
      thinks();
      if (contains(text_, "<response>")) says("<response>", "</response>");
    } else if (none && has("<start_function_call>")) {  // FunctionGemma
      calls_clear();
      e.head = Head::kText, e.arguments = Arguments::kGemma;
      set(&e.call_open, "<start_function_call>"), set(&e.call_close, "<end_function_call>"), set(&e.name_prefix, "call:"),
          set(&e.quote, "<escape>");
    } else if (none && (has("<|START_ACTION|>") || has("<|START_RESPONSE|>"))) {  // Command
      keys("<|START_ACTION|>", "<|END_ACTION|>");
      set(&e.name_key, "tool_name"), set(&e.args_key, "parameters"), set(&e.id_key, "tool_call_id");
      thinks("<|START_THINKING|>", "<|END_THINKING|>");
      says("<|START_RESPONSE|>", "<|END_RESPONSE|>");
    } else if (none && contains(text_, "Action:") && contains(text_, "```json") && contains(text_, "tool_name")) {  // Command R+
      keys("Action: ```json", "```");
      set(&e.name_key, "tool_name"), set(&e.args_key, "parameters");
    } else if (none && has("[TOOL_CALLS]") && has("[ARGS]")) {  // Mistral
      calls_clear();
      e.head = Head::kText;
      set(&e.call_open, "[TOOL_CALLS]"), set(&e.id_close, "[CALL_ID]"), set(&e.args_open, "[ARGS]");
    } else if (none && has("[TOOL_CALLS]")) {
      keys("[TOOL_CALLS]");
      set(&e.id_key, "id");
    } else if (none && has("<tool_sep>")) {  // Hunyuan 3
      calls_clear();
      e.head = Head::kText, e.arguments = Arguments::kPairs;
      set(&e.section_open[0], "<tool_calls>"), set(&e.section_close, "</tool_calls>"), set(&e.call_open, "<tool_call>"),
          set(&e.call_close, "</tool_call>");
      set(&e.args_open, "<tool_sep>"), set(&e.key_open, "<arg_key>"), set(&e.key_close, "</arg_key>\n<arg_value>"),
          set(&e.value_close, "</arg_value>");
      thinks();
      says("<answer>", "</answer>");
    } else if (none && has("<tool_calls>")) {
      keys("<tool_calls>", "</tool_calls>");
    } else if (none && has("<TOOLCALL>")) {
      keys("<TOOLCALL>", "</TOOLCALL>");
    } else if (none && has("<|observation|>") && contains(text_, "metadata")) {  // GLM-4
      calls_clear();
      e.head = Head::kText, e.bare = Bare::kBegins;
    } else if (none) {  // what many models do
      const bool known = has("<tool_call>");
      keys("");
      set(&e.section_open[0], "<tool_call>"), set(&e.section_close, "</tool_call>");
      if (!known) e.bare = Bare::kAlone;
      thinks();
    }
    // models that say their answer between marks which their templates do not show
    if (e.head != Head::kNone && (has("<answer>") || has("<|extra_0|>") || contains(text_, "hy_")) &&
        contains(View(e.section_open[0].text), "<tool_calls>"))
      says("<answer>", "</answer>");
    if (contains(text_, "[BEGIN FINAL RESPONSE]")) {
      thinks("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]");
      if (contains(text_, "[END FINAL RESPONSE]")) set(&e.content_close, "[END FINAL RESPONSE]");
    }
    if (has("<|START_THINKING|>")) thinks("<|START_THINKING|>", "<|END_THINKING|>");
    if (e.head == Head::kNameKey && has("<response>") && !e.reason_close.empty()) says("<response>", "</response>");
    if (has("<minimax:tool_call>")) e.ends_reasoning = 1;
    // an empty reasoning in front of calls is none of their marks
    for (Mark* m : {&e.section_open[0], &e.call_open, &e.content_open})
      for (const Mark* reason : {&e.reason_close, &e.reason_open}) {
        const View mark = m->view();
        const size_t at = reason->empty() ? View::npos : mark.rfind(reason->view());
        if (at != View::npos) set(m, Text(mark.substr(at + reason->view().size())));
      }
  }

  enum class Empty { kText, kNull, kMissing };
  View text_;
  Text tokens_;
  const std::vector<Text>& added_;
  Pieces pieces_;
  Envelope* e_;
  ReasoningSwitch* switch_;
  std::vector<uint8_t> memory_;
  linnet_template* t_ = nullptr;
  Empty empty_content_ = Empty::kText;
  bool args_as_text_ = false, tools_ = false;
  Text prompt_, text_answer_, one_, two_, all_, turn_end_;
  Text header_;
  uint64_t steps_ = 0;
  std::vector<Text> prompts_;
};

}  // namespace

void learn_envelope(View text, const std::vector<uint8_t>& program, const Text& tokens, const std::vector<Text>& added, Envelope* out,
                    ReasoningSwitch* reasoning) {
  Learner learner(text, program, tokens, added, out, reasoning);
  learner.learn();
  Envelope checked;
  if (chat::envelope_open(out, sizeof *out, "template", &checked, nullptr) == LINNET_OK) return;
  const Mark open = out->reason_open, close = out->reason_close;
  *out = {};
  out->magic = chat::kEnvelopeMagic, out->version = chat::kEnvelopeVersion;
  if (chat::envelope_open(out, sizeof *out, "template", &checked, nullptr) == LINNET_OK && !close.empty())
    out->reason_open = open, out->reason_close = close;
}

}  // namespace linnet::convert
