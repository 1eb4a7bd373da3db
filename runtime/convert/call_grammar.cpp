#include "call_grammar.h"

#include <algorithm>

#include "../chat/answer_parts.h"

namespace linnet::convert {
namespace {

using chat::Arguments;
using chat::Bare;
using chat::Envelope;
using chat::Head;
using Tool = SchemaCompiler::Tool;
using View = std::string_view;
using Marks = Vector<Automaton::Mark>;

// What the parser of answers takes for a call is what may be written, but no more than models write: what they may leave out without harm
// is wanted here, and names and arguments obey.
class CallCompiler {
 public:
  CallCompiler(const Envelope& envelope, const CallRules& rules, const char* name, Error* err)
      : e_(envelope), rules_(rules), schema_(name, err, rules.any_format), a_(schema_.automaton()), name_(name), err_(err) {}

  Status compile(const Value& list, Vector<uint8_t>* out) {
    Vector<Tool> all;
    if (!schema_.read_tools(list, &all)) return schema_.status();
    for (const Tool& tool : all) names_.push_back(tool.name);
    for (Tool& tool : all)
      if (rules_.chosen.empty() || tool.name == rules_.chosen) tools_.push_back(std::move(tool));
    if (tools_.empty()) return fail(err_, LINNET_BAD_ARG, name_, ": there is no tool '", rules_.chosen, "'");
    schema_.bound_nesting();
    bare_ =
        e_.bare != Bare::kNever &&
        (e_.head == Head::kNameKey || (e_.head == Head::kText && (e_.arguments == Arguments::kJson || e_.arguments == Arguments::kPython)));
    const bool marked = !e_.section_open[0].empty() || !e_.section_open[1].empty() || !e_.call_open.empty();
    if (e_.head == Head::kNone || (!(bare_ && e_.bare == Bare::kBegins) && !marked && e_.head != Head::kHarmony))
      return fail(err_, LINNET_UNSUPPORTED, name_, ": it is not known how the model writes calls");
    for (const Tool& tool : tools_)
      if (!writable(tool)) return schema_.status();
    for (uint32_t* node : {&start_, &end_, &behind_, &section_[0], &section_[1], &call_, &reason_, &answer_}) *node = a_.node();
    if (!(e_.head == Head::kHarmony ? harmony() : marks()) || !schema_.finish()) return schema_.status();
    return a_.compile(start_, end_, starts_, name_, out, err_);
  }

 private:
  // ---- pieces

  uint32_t mark(uint32_t from, View text) {
    a_.own(true);
    const uint32_t to = a_.text(from, text);
    a_.own(false);
    return to;
  }
  uint32_t mark(uint32_t from, const chat::Mark& m) { return mark(from, m.view()); }
  uint32_t gap(uint32_t from) {
    schema_.set_style({.notation = Notation::kJson});
    return schema_.gap(from);
  }
  uint32_t blank(uint32_t from) {
    schema_.set_style({.notation = Notation::kJson});
    return schema_.blank(from);
  }
  // An id as models make them.
  uint32_t id(uint32_t from) {
    constexpr int kLongest = 40;
    const uint32_t to = a_.node();
    for (int i = 0; i < kLongest; ++i) {
      const uint32_t next = a_.node();
      for (const auto& [lo, hi] : {std::pair{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}, {'-', '-'}})
        a_.bytes(from, next, static_cast<uint8_t>(lo), static_cast<uint8_t>(hi));
      a_.skip(next, to);
      from = next;
    }
    return to;
  }
  // What leads from `from` may be left out.
  uint32_t maybe(uint32_t from, uint32_t to) {
    a_.skip(from, to);
    return to;
  }

  bool writable(const Tool& tool) {
    const bool text = e_.head == Head::kText || e_.head == Head::kHarmony;
    bool good = tool.name != e_.content_open.view() && tool.name.size() <= chat::kMaxName;
    for (const char c : tool.name)
      good &= text ? chat::is_name_char(c) && c != e_.counted : c != '"' && c != '\\' && static_cast<uint8_t>(c) >= 0x20;
    if (e_.head == Head::kText && e_.name_prefix.empty() && e_.call_open.empty())  // what begins a section without a mark
      good &= chat::is_word_char(tool.name[0]);
    for (const chat::Mark* m : {&e_.args_open, &e_.id_open, &e_.id_close, &e_.key_open, &e_.call_close})
      good &= !text || m->empty() || tool.name.find(m->view()) == tool.name.npos;
    return good || schema_.refuse(tool.place, "the model's format has no way to write the name ", quoted(tool.name));
  }

  // ---- one call

  // In a section, behind call_open or by itself, up to the end of its arguments.
  bool call(uint32_t from, uint32_t to, bool bare) {
    for (const Tool& tool : tools_) {
      const bool ok = e_.head == Head::kNameKey     ? object(from, to, tool, bare)
                      : e_.head == Head::kNameIsKey ? keyed(from, to, tool)
                                                    : named(from, to, tool, bare);
      if (!ok || !schema_.room()) return false;
    }
    return true;
  }
  bool json(uint32_t from, uint32_t to, const Tool& tool) {
    schema_.set_style({.notation = Notation::kJson});
    return schema_.arguments(from, to, tool, Notation::kJson);
  }

  bool object(uint32_t from, uint32_t to, const Tool& tool, bool bare) {
    const View name_key = e_.name_key.empty() ? View("name") : e_.name_key.view(),
               args_key = e_.args_key.empty() ? View("arguments") : e_.args_key.view();
    const auto key = [&](uint32_t at, View k) { return blank(a_.text(at, "\"" + String(k) + "\":")); };
    uint32_t at = gap(a_.text(from, "{"));
    if (!e_.id_key.empty() && !bare) at = maybe(at, gap(a_.text(a_.text(id(a_.text(key(at, e_.id_key.view()), "\"")), "\""), ",")));
    if (name_key != "type" && e_.id_key.view() != "type") at = maybe(at, gap(a_.text(key(at, "type"), "\"function\",")));
    at = gap(a_.text(key(at, name_key), quoted(tool.name) + ","));
    const uint32_t end = a_.node();
    if (!json(key(at, args_key), end, tool)) return false;
    uint32_t last = gap(end);
    if (!e_.id_key.empty()) {
      const uint32_t more = a_.node();
      a_.skip(last, more);
      a_.skip(gap(a_.text(id(a_.text(key(gap(a_.text(last, ",")), e_.id_key.view()), "\"")), "\"")), more);
      last = more;
    }
    a_.skip(a_.text(last, "}"), to);
    return true;
  }

  bool keyed(uint32_t from, uint32_t to, const Tool& tool) {
    const uint32_t begin = gap(a_.text(gap(a_.text(from, "{")), quoted(tool.name) + ":")), end = a_.node();
    a_.skip(a_.text(gap(end), "}"), to);
    return json(begin, end, tool);
  }

  // The name as text.
  bool named(uint32_t from, uint32_t to, const Tool& tool, bool bare) {
    uint32_t at = from;
    if (!e_.id_open.empty()) at = gap(mark(blank(id(at)), e_.id_open));  // on one line
    at = a_.text(at, String(e_.name_prefix.view()) + tool.name);
    if (e_.counted) {
      const uint32_t one = a_.node(), two = a_.node(), begin = a_.text(at, String(1, static_cast<char>(e_.counted)));
      a_.bytes(begin, one, '0', '9');
      a_.bytes(one, two, '0', '9');
      at = maybe(one, two);
    }
    if (e_.arguments != Arguments::kPython) {
      if (!e_.id_close.empty()) {
        const uint32_t begin = at, behind = a_.node();
        a_.skip(id(mark(begin, e_.id_close)), behind);
        at = maybe(begin, behind);
      }
      if (!e_.args_open.empty()) at = gap(mark(gap(at), e_.args_open));
    }
    switch (e_.arguments) {
      case Arguments::kJson:
        if (e_.args_open.empty()) at = bare ? a_.text(at, "\n") : gap(at);
        return json(at, to, tool);
      case Arguments::kGemma:
        schema_.set_style({.notation = Notation::kGemma, .mark = String(e_.quote.view())});
        return schema_.arguments(at, to, tool, Notation::kGemma);
      case Arguments::kPairs:
        return pairs(at, to, tool);
      case Arguments::kTags:
        return tags(at, to, tool);
      case Arguments::kPython:
        return python(at, to, tool);
    }
    return false;
  }

  bool each(uint32_t from, uint32_t to, const Tool& tool, const SchemaCompiler::Lead& lead, const SchemaCompiler::Property& one) {
    schema_.set_root(tool.parameters);
    if (tool.parameters && !schema_.check_keywords(*tool.parameters, tool.place)) return false;
    if (tool.parameters) return schema_.properties(from, to, *tool.parameters, tool.place, false, lead, one, nullptr);
    a_.skip(from, to);
    return true;
  }

  bool pairs(uint32_t from, uint32_t to, const Tool& tool) {
    return each(
        from, to, tool, [this](uint32_t at, bool) { return blank(mark(gap(at), e_.key_open)); },
        [&](uint32_t a, uint32_t b, const String& key, const Value& schema, const String& place) {
          if (key.empty() || key.size() > chat::kMaxName || key.find_first_of("<>\"'=\r\n") != key.npos || key[0] == ' ' ||
              key.back() == ' ')
            return schema_.refuse(place, "the model's format has no way to write the key ", quoted(key));
          SchemaCompiler::Style style = {.notation = Notation::kText, .mark = String(e_.value_close.view())};
          style.lines = e_.value_lines;
          if (e_.value_lines) {
            style.never = {"\n" + String(e_.key_open.view())};
            if (!e_.call_close.empty()) style.never.push_back("\n" + String(e_.call_close.view()));
          }
          const uint32_t name = blank(a_.text(a, key)), texts = mark(name, e_.key_close);
          const bool told = !e_.key_close_other.empty();  // which values are texts
          style.allowed = told ? uint32_t{kString} : schema_.text_types(schema);
          // a mark that JSON itself may hold ends none
          const char first = e_.value_close.text[0];
          const bool in_words = (chat::is_word_char(first) && static_cast<uint8_t>(first) < 0x80) || View("+-.").find(first) != View::npos;
          const uint32_t json = in_words                                     ? 0
                                : View("{}[],:\"").find(first) != View::npos ? kNull | kBoolean | kInteger | kNumber
                                                                             : ~uint32_t{kString};
          style.allowed &= json | kString;
          if (!style.allowed) return schema_.refuse(place, "the model's format cannot tell of which type a value is");
          schema_.set_style(style);
          uint32_t begin = texts;
          if (e_.value_lines) begin = maybe(texts, a_.text(texts, "\n"));
          if (!schema_.value(begin, b, schema, place)) return false;
          if (!told) return true;
          style.allowed = json;
          schema_.set_style(style);
          return schema_.value(mark(name, e_.key_close_other), b, schema, place);
        });
  }

  bool tags(uint32_t from, uint32_t to, const Tool& tool) {
    const String open = String(e_.tag_prefix.view()) + "<";
    const auto style = [&] { schema_.set_style({.notation = Notation::kTags, .mark = open}); };
    return each(
        from, to, tool, [&](uint32_t at, bool) { return mark(gap(at), open); },
        [&](uint32_t a, uint32_t b, const String& key, const Value& schema, const String& place) {
          style();
          return schema_.tag(a, b, key, schema, place);
        });
  }

  bool python(uint32_t from, uint32_t to, const Tool& tool) {
    const uint32_t end = a_.node();
    a_.skip(a_.text(end, ")"), to);
    return each(
        a_.text(from, "("), end, tool, [&](uint32_t at, bool first) { return first ? at : blank(a_.text(at, ",")); },
        [&](uint32_t a, uint32_t b, const String& key, const Value& schema, const String& place) {
          if (key.empty() || key.size() > chat::kMaxName || !std::all_of(key.begin(), key.end(), chat::is_word_char))
            return schema_.refuse(place, quoted(key), " is no name of a parameter in Python");
          schema_.set_style({.notation = Notation::kPython});
          return schema_.value(a_.text(a, key + "="), b, schema, place);
        });
  }
  // ---- calls

  // Behind section_open.
  bool section(uint32_t from, uint32_t to, bool closed) {
    const bool python = e_.arguments == Arguments::kPython && e_.head == Head::kText, objects = e_.head != Head::kText;
    const uint32_t begin = gap(from), one = a_.node(), behind = a_.node(), end = a_.node();
    // as they are
    a_.skip(begin, one);
    if (!wrapped(one, behind)) return false;
    a_.skip(behind, end);
    if (rules_.parallel && !python) a_.skip(gap(behind), one);
    if (rules_.parallel && objects) a_.skip(gap(a_.text(gap(behind), ",")), one);
    // as a list
    if ((objects || python) && !list(begin, end, [this](uint32_t a, uint32_t b) { return wrapped(a, b); })) return false;
    a_.skip(closed && !e_.section_close.empty() ? mark(gap(end), e_.section_close) : end, to);
    return true;
  }
  template <class Fn>
  bool list(uint32_t from, uint32_t to, const Fn& one) {
    const uint32_t first = a_.node(), last = a_.node();
    a_.skip(gap(a_.text(from, "[")), first);
    if (!one(first, last)) return false;
    a_.skip(a_.text(gap(last), "]"), to);
    if (!rules_.parallel) return true;
    a_.skip(gap(a_.text(gap(last), ",")), first);
    if (e_.head == Head::kText) a_.skip(gap(a_.text(gap(last), ";")), first);
    return true;
  }
  // A call with the marks around it, if it has some.
  bool wrapped(uint32_t from, uint32_t to) {
    const uint32_t open = e_.call_open.empty() ? from : gap(mark(from, e_.call_open)), close = a_.node();
    a_.skip(e_.call_close.empty() ? close : mark(gap(close), e_.call_close), to);
    return call(open, close, false);
  }
  // Without marks, at the beginning of the answer.
  bool bare(uint32_t from, uint32_t to) {
    const bool objects = e_.head == Head::kNameKey, python = !objects && e_.arguments == Arguments::kPython;
    const auto one = [this](uint32_t a, uint32_t b) { return call(a, b, true); };
    if (!python) {
      const uint32_t begin = a_.node(), behind = a_.node();
      a_.skip(from, begin);
      if (!one(begin, behind)) return false;
      a_.skip(behind, to);
      if (rules_.parallel && objects && e_.bare == Bare::kBegins)
        for (const char* separator : {",", ";", "\n"}) a_.skip(gap(a_.text(gap(behind), separator)), begin);
    }
    return e_.bare == Bare::kAlone || !(objects || python) || list(from, to, one);
  }

  // Where calls begin: marks at any place, and what stands for one at the beginning.
  Marks openers(bool in_front) const {
    Marks out;
    for (size_t i = 0; i < 2; ++i)
      if (const chat::Mark& m = e_.section_open[i]; !m.empty())
        out.push_back({(in_front ? " " : "") + String(m.view()), section_[i], in_front});
    // inside of sections alone, where there are some
    if (!e_.call_open.empty())
      out.push_back({(in_front ? " " : "") + String(e_.call_open.view()), !rules_.required || out.empty() ? call_ : kNowhere, in_front});
    return out;
  }
  void open_calls(uint32_t from) {
    for (const Automaton::Mark& m : openers(false))
      if (m.to != kNowhere) a_.skip(mark(from, m.text), m.to);
  }
  // Calls and nothing else.
  bool calls(uint32_t from) {
    const uint32_t at = gap(from);
    open_calls(at);
    return !bare_ || e_.bare == Bare::kAlone || bare(at, behind_);
  }

  // Any text, until a call begins.
  bool text(uint32_t from, bool opened) {
    Marks marks = openers(false);
    const auto in_front = [&](const chat::Mark& m, uint32_t to) {
      if (!m.empty()) marks.push_back({" " + String(m.view()), to, true});
    };
    in_front(e_.reason_open, opened ? reason_said_ : reason_);
    in_front(e_.reason_close, opened ? content_ : answer_);
    if (!opened) in_front(e_.content_open, content_);
    if ((opened || e_.content_open.empty()) && !e_.content_close.empty()) marks.push_back({String(e_.content_close.view()), said_});
    if (!bare_) {
      a_.until(from, marks, end_);
      return schema_.room();
    }
    // No text begins as the parser knows calls by.
    Marks begun;
    if (e_.head == Head::kNameKey) {
      for (const View key : {View(e_.name_key.view()), View("name"), View("type"), View("function")})
        for (const char* quote : {"\"", "'"})
          for (const char* open : {" { ", " [ { "})
            if (!key.empty()) begun.push_back({open + (quote + String(key)) + quote, kNowhere, true});
    } else {
      for (const String& name : names_)
        begun.push_back({e_.arguments == Arguments::kPython ? " [ " + name + "(" : " " + name + "\n", kNowhere, true});
    }
    begun.insert(begun.end(), marks.begin(), marks.end());
    a_.until(from, begun, end_);
    // Where the whole answer is a call, nothing follows it.
    return bare(gap(from), e_.bare == Bare::kAlone ? end_ : behind_) && schema_.room();
  }

  bool marks() {
    content_ = a_.node(), said_ = a_.node(), reason_said_ = a_.node();
    a_.skip(behind_, end_);
    if (rules_.parallel) open_calls(gap(behind_));
    // the other spelling has no mark behind it
    if (!section(section_[0], behind_, true) || !section(section_[1], behind_, false)) return false;
    if (!e_.call_open.empty()) {
      const uint32_t close = a_.node();
      a_.skip(e_.call_close.empty() ? close : mark(gap(close), e_.call_close), behind_);
      if (!call(gap(call_), close, false)) return false;
    }
    // reasoning, up to its end
    Marks ends = {};
    if (e_.ends_reasoning) ends = openers(false);
    if (!e_.reason_close.empty()) {
      ends.push_back({String(e_.reason_close.view()), answer_});
      a_.until(reason_, ends, rules_.required ? kNowhere : end_);
      Marks back = ends;  // the same behind content_open, which comes once
      back.back().to = content_;
      if (!rules_.required) a_.until(reason_said_, back, end_);
    }
    if (rules_.required) {
      if (!e_.reason_open.empty() && !e_.reason_close.empty()) a_.skip(mark(gap(start_), e_.reason_open), reason_);
      a_.skip(answer_, start_);
      if (!calls(start_)) return false;
    } else {
      a_.skip(said_, end_);
      open_calls(gap(said_));
      a_.skip(answer_, start_);
      if (!text(start_, false) || !text(content_, true)) return false;
      // a call's mark that begins what is said to everybody
      const View open = e_.content_open.view();
      const bool named = std::all_of(open.begin(), open.end(), chat::is_name_char);
      if (!open.empty() && named && e_.id_open.empty() && e_.head == Head::kText && !e_.call_open.empty()) {
        const uint32_t everybody = a_.text(gap(call_), e_.content_open.view());
        for (const char c : {'\n', ' '}) a_.skip(a_.text(everybody, String(1, c)), content_said());
      }
    }
    // what a prompt has opened
    const auto begins = [this](const chat::Mark& m, uint32_t node) {
      if (!m.empty()) starts_.push_back({String(m.view()), node});
    };
    begins(e_.reason_close, answer_);
    if (!e_.reason_open.empty() && !e_.reason_close.empty()) {
      const uint32_t begun = a_.node();  // a model that does not reason after all may call at once
      for (const Automaton::Mark& m : openers(true)) ends.push_back(m);
      a_.until(begun, ends, rules_.required ? kNowhere : end_);
      begins(e_.reason_open, begun);
    }
    begins(e_.content_open, rules_.required ? start_ : content_);
    begins(e_.call_open, call_);
    for (size_t i = 0; i < 2; ++i) begins(e_.section_open[i], section_[i]);
    return schema_.room();
  }
  // Text without a mark in front that stands behind one of a call.
  uint32_t content_said() {
    if (everybody_ == kNowhere) {
      everybody_ = a_.node();
      a_.until(everybody_, openers(false), end_);
    }
    return everybody_;
  }

  // ---- messages with channels and recipients

  bool harmony() {
    using chat::kCall, chat::kChannel, chat::kConstrain, chat::kEnd, chat::kMessage, chat::kReturn, chat::kStart;
    // answer_: behind <|start|>assistant, which a prompt may lack
    const uint32_t channel = a_.node(), again = a_.node();
    a_.skip(mark(start_, kChannel), channel);
    a_.skip(answer_, start_);
    a_.skip(a_.text(mark(again, kStart), "assistant"), answer_);
    const auto says = [&](const char* name, bool may_end) {
      Marks marks = {{String(kEnd), again}};
      for (const View other : {kStart, kChannel, kCall}) marks.push_back({String(other), kNowhere});
      marks.push_back({String(kReturn), may_end ? end_ : kNowhere});
      a_.until(mark(a_.text(channel, name), kMessage), marks, may_end ? end_ : kNowhere);
    };
    says("analysis", false);
    if (!rules_.required) {
      says("commentary", true), says("final", true);
      a_.skip(again, end_);
    }
    a_.skip(behind_, end_);
    a_.skip(mark(behind_, kCall), end_);
    if (rules_.parallel)
      for (const View end : {kCall, kEnd}) a_.skip(a_.text(mark(mark(behind_, end), kStart), "assistant"), call_);
    // call_: the same, where a call is next
    const uint32_t next = a_.node();
    a_.skip(channel, next);
    a_.skip(mark(call_, kChannel), next);
    a_.skip(answer_, call_);
    for (const Tool& tool : tools_) {
      const String to = " to=functions." + tool.name;
      const uint32_t at = a_.node(), type = a_.node(), begin = a_.node();
      a_.skip(a_.text(next, "commentary" + to), at);
      a_.skip(a_.text(mark(a_.text(call_, to), kChannel), "commentary"), at);
      a_.skip(at, type);
      a_.skip(a_.text(at, " json"), type);
      a_.skip(a_.text(mark(blank(at), kConstrain), "json"), type);
      a_.skip(mark(type, kMessage), begin);
      if (!json(begin, behind_, tool)) return false;
    }
    starts_.push_back({String(kStart) + "assistant", answer_});
    return schema_.room();
  }

  const Envelope& e_;
  const CallRules& rules_;
  SchemaCompiler schema_;
  Automaton& a_;
  const char* name_;
  Error* err_;
  Vector<Tool> tools_;    // that may be called
  Vector<String> names_;  // of all
  bool bare_ = false;
  uint32_t start_ = 0, end_ = 0;
  uint32_t behind_ = 0, section_[2] = {}, call_ = 0;   // behind a call or a section of some, behind each section_open, behind call_open
  uint32_t reason_ = 0, answer_ = 0;                   // inside of reasoning, behind it
  uint32_t content_ = 0, said_ = 0, reason_said_ = 0;  // behind content_open, behind content_close, in reasoning behind content_open
  uint32_t everybody_ = kNowhere;
  Vector<Automaton::Start> starts_;
};

}  // namespace

Status compile_calls(const Value& tools, const Envelope& envelope, const CallRules& rules, const char* name, Vector<uint8_t>* out,
                     Error* err) {
  return CallCompiler(envelope, rules, name, err).compile(tools, out);
}

}  // namespace linnet::convert
