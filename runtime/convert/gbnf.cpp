#include "gbnf.h"

#include <algorithm>

#include "../../platform/utf8.h"
#include "schema_value.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMaxGroups = 64, kMaxCount = 1u << 20, kMaxParts = 1u << 18;
// Nodes that a rule or a repeat is spread over at most; beyond that rules are called, and repeats counted.
constexpr uint64_t kMaxSpread = 1024, kMuch = 1u << 30;
constexpr uint32_t kNoRule = 0xFFFFFFFF;
constexpr int kMaxRepeats = 8;

// What a rule is made of.
struct Part {
  enum Kind : uint8_t { kChars, kRule, kSequence, kAlternatives, kRepeat } kind = kSequence;
  Vector<CharRange> chars = {};  // one of these
  uint32_t rule = 0;             // kRule
  uint32_t least = 1, most = 1;  // kRepeat, of its only part; most kMaxCount + 1: without end
  Vector<Part> parts = {};
};

class Gbnf {
 public:
  Gbnf(std::string_view text, const char* name, Error* err) : p_(text), name_(name), err_(err) {}

  Status compile(Vector<uint8_t>* out) {
    if (!parse()) return status_;
    find_recursion();
    // Without calls a grammar is quicker, but one automaton of all may be too large.
    const Status status = build(kMaxSpread, out);
    return status == LINNET_UNSUPPORTED ? build(0, out) : status;
  }

 private:
  struct Rule {
    String name;
    Part part = {};
    bool defined = false, recursive = false;
    uint32_t line = 0;          // where it is first named
    uint64_t nodes = 0;         // it is spread over, where it is not recursive
    uint32_t called = kNoRule;  // the automaton's rule
  };

  // ---- reading

  template <class... Parts>
  bool bad(const Parts&... parts) {
    if (status_ == LINNET_OK) status_ = fail(err_, LINNET_BAD_FILE, name_, ": line ", line_, ": ", parts...);
    return false;
  }
  bool failed() const { return status_ != LINNET_OK; }
  char peek() const { return at_ < p_.size() ? p_[at_] : '\0'; }
  static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  }

  // Blanks and comments, and where a rule goes on behind it the ends of lines too.
  void space(bool lines) {
    for (; at_ < p_.size(); ++at_) {
      const char c = p_[at_];
      if (c == '#') {
        while (at_ + 1 < p_.size() && p_[at_ + 1] != '\n' && p_[at_ + 1] != '\r') ++at_;
      } else if (c == '\n' || c == '\r') {
        if (!lines) return;
        line_ += c == '\n';
      } else if (c != ' ' && c != '\t') {
        return;
      }
    }
  }
  std::string_view word() {
    const size_t begin = at_;
    while (is_name_char(peek())) ++at_;
    return p_.substr(begin, at_ - begin);
  }
  uint32_t rule_named(std::string_view name) {
    const auto [at, is_new] = by_name_.try_emplace(String(name), static_cast<uint32_t>(rules_.size()));
    if (is_new) rules_.push_back({.name = String(name), .line = line_});
    return at->second;
  }

  bool parse() {
    for (space(true); at_ < p_.size(); space(true)) {
      const std::string_view name = word();
      if (name.empty()) return bad("a rule begins with its name, not with ", quoted_char());
      const uint32_t i = rule_named(name);
      space(false);
      if (p_.substr(at_, 3) != "::=") return bad("'::=' is wanted behind ", name);
      at_ += 3;
      if (rules_[i].defined) return bad("rule ", name, " is there already");
      rules_[i].defined = true;
      space(true);
      Part part = alternatives(false);
      if (failed()) return false;
      if (at_ < p_.size() && peek() != '\n' && peek() != '\r') return bad(quoted_char(), " where the end of rule ", name, " is wanted");
      rules_[i].part = std::move(part);
    }
    for (const Rule& r : rules_)
      if (!r.defined) return line_ = r.line, bad("there is no rule ", r.name);
    if (!by_name_.contains("root")) return line_ = 1, bad("there is no rule root");
    return true;
  }

  Part alternatives(bool nested) {
    Part out{.kind = Part::kAlternatives};
    for (;;) {
      out.parts.push_back(sequence(nested));
      if (failed() || peek() != '|') return out;
      ++at_;
      space(true);
    }
  }

  Part sequence(bool nested) {
    Part out;
    while (!failed() && at_ < p_.size()) {
      const char c = peek();
      Part one;
      if (c == '"') {
        one = literal();
      } else if (c == '[') {
        one = klass();
      } else if (c == '.') {
        ++at_;
        one = {.kind = Part::kChars, .chars = {{0, 0x10FFFF}}};
      } else if (c == '(') {
        if (++groups_ > kMaxGroups) bad("groups more than ", kMaxGroups, " deep");
        if (failed()) break;
        ++at_;
        space(true);
        one = alternatives(true);
        if (!failed() && peek() != ')') bad("a '(' that is not closed");
        ++at_;
        --groups_;
      } else if (is_name_char(c)) {
        one = {.kind = Part::kRule, .rule = rule_named(word())};
      } else if (c == '<' || c == '!') {
        bad("tokens of a model are not supported in grammars");
      } else {
        break;
      }
      space(nested);
      for (int n = 0; !failed() && repeat(&one); ++n) {
        if (n == kMaxRepeats) bad("more than ", kMaxRepeats, " quantifiers behind one another");
        space(nested);
      }
      if (++n_parts_ > kMaxParts) bad("the grammar has more than ", kMaxParts, " parts");
      out.parts.push_back(std::move(one));
    }
    return out;
  }

  bool repeat(Part* one) {
    uint32_t least = 0, most = kMaxCount + 1;
    switch (peek()) {
      case '*':
        break;
      case '+':
        least = 1;
        break;
      case '?':
        most = 1;
        break;
      case '{': {
        ++at_;
        space(false);
        if (!count(&least)) return false;
        most = least;
        space(false);
        if (peek() == ',') {
          ++at_;
          space(false);
          most = kMaxCount + 1;
          if (peek() != '}' && !count(&most)) return false;
          space(false);
        }
        if (peek() != '}') return bad("'}' is wanted behind a count");
        if (most < least) return bad("a repeat of ", least, " to ", most, " times");
        break;
      }
      default:
        return false;
    }
    ++at_;
    Part all{.kind = Part::kRepeat, .least = least, .most = most};
    all.parts.push_back(std::move(*one));
    *one = std::move(all);
    return true;
  }
  bool count(uint32_t* out) {
    const size_t begin = at_;
    for (*out = 0; peek() >= '0' && peek() <= '9' && *out <= kMaxCount; ++at_) *out = *out * 10 + static_cast<uint32_t>(peek() - '0');
    if (at_ == begin) return bad("a count is wanted, not ", quoted_char());
    return *out <= kMaxCount || bad("a count above ", kMaxCount);
  }

  Part literal() {
    ++at_;
    Part out;
    while (!failed() && at_ < p_.size() && peek() != '"') {
      const uint32_t c = character();
      out.parts.push_back({.kind = Part::kChars, .chars = {{c, c}}});
    }
    n_parts_ += static_cast<uint32_t>(out.parts.size());
    if (!failed() && peek() != '"') bad("a text that is not closed");
    ++at_;
    return out;
  }
  Part klass() {
    ++at_;
    const bool others = peek() == '^';
    at_ += others;
    Vector<CharRange> ranges;
    while (!failed() && at_ < p_.size() && peek() != ']') {
      CharRange r;
      r.first = r.last = character();
      if (peek() == '-' && at_ + 1 < p_.size() && p_[at_ + 1] != ']') {
        ++at_;
        r.last = character();
        if (!failed() && r.last < r.first) bad("a range of characters that is none");
      }
      ranges.push_back(r);
    }
    if (!failed() && peek() != ']') bad("a '[' that is not closed");
    ++at_;
    return {.kind = Part::kChars, .chars = others ? all_but(ranges) : merged(ranges)};
  }
  uint32_t character() {
    if (peek() != '\\') {
      const Char c = next_char(p_.data() + at_, p_.size() - at_);
      if (c.code == kBadByte) return bad("no UTF-8"), 0;
      line_ += c.code == '\n';
      at_ += c.bytes;
      return c.code;
    }
    ++at_;
    const char c = peek();
    ++at_;
    const auto hex = [&](uint32_t digits) -> uint32_t {
      uint32_t v = 0;
      for (; digits; --digits, ++at_) {
        const char d = peek();
        const uint32_t digit = d >= '0' && d <= '9'   ? static_cast<uint32_t>(d - '0')
                               : d >= 'a' && d <= 'f' ? static_cast<uint32_t>(d - 'a' + 10)
                               : d >= 'A' && d <= 'F' ? static_cast<uint32_t>(d - 'A' + 10)
                                                      : 16;
        if (digit == 16) return bad("an escape without its hexadecimal digits"), 0;
        v = v * 16 + digit;
      }
      if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000)) return bad("an escape of no character"), 0;
      return v;
    };
    switch (c) {
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'n':
        return '\n';
      default:
        if (c && std::string_view("\\\"[]-^").find(c) != std::string_view::npos) return static_cast<uint8_t>(c);
        return bad("an escape that is not known"), 0;
    }
  }
  String quoted_char() const {
    if (at_ >= p_.size()) return "the end";
    const Char c = next_char(p_.data() + at_, p_.size() - at_);
    return "'" + String(p_.substr(at_, c.bytes)) + "'";
  }

  // ---- building

  // Rules that lead back to themselves: each of a strong component with more than one, or that names itself (Tarjan 1972).
  void find_recursion() {
    Vector<Vector<uint32_t>> named(rules_.size());
    for (uint32_t i = 0; i < rules_.size(); ++i) {
      names_in(rules_[i].part, &named[i]);
      rules_[i].recursive = std::find(named[i].begin(), named[i].end(), i) != named[i].end();
    }
    Vector<uint32_t> order(rules_.size(), 0), low(rules_.size(), 0), open;
    Vector<bool> waits(rules_.size(), false);
    uint32_t next = 0;
    for (uint32_t first = 0; first < rules_.size(); ++first) {
      if (order[first]) continue;
      Vector<std::pair<uint32_t, size_t>> path;
      const auto enter = [&](uint32_t i) {
        order[i] = low[i] = ++next;
        open.push_back(i);
        waits[i] = true;
        path.push_back({i, 0});
      };
      enter(first);
      while (!path.empty()) {
        const uint32_t i = path.back().first;
        if (path.back().second < named[i].size()) {
          const uint32_t to = named[i][path.back().second++];
          if (!order[to])
            enter(to);
          else if (waits[to])
            low[i] = std::min(low[i], order[to]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[i]);
        if (low[i] != order[i]) continue;
        const bool several = open.back() != i;
        if (!several && !rules_[i].recursive) inner_first_.push_back(i);
        for (uint32_t j = kNoRule; j != i;) {
          j = open.back();
          open.pop_back();
          waits[j] = false;
          rules_[j].recursive |= several;
        }
      }
    }
  }
  static void names_in(const Part& part, Vector<uint32_t>* out) {
    if (part.kind == Part::kRule) out->push_back(part.rule);
    for (const Part& p : part.parts) names_in(p, out);
  }

  Status build(uint64_t spread, Vector<uint8_t>* out) {
    Automaton a;
    a_ = &a;
    spread_ = spread;
    for (Rule& r : rules_) r.called = kNoRule;
    for (const uint32_t i : inner_first_) rules_[i].nodes = nodes(rules_[i].part);
    const uint32_t start = a.node(), end = a.node();
    name_part(start, end, by_name_["root"]);
    while (!to_build_.empty() && !a.full()) {
      const auto [from, to, part] = to_build_.back();
      to_build_.pop_back();
      add(from, to, *part);
    }
    return a.compile(start, end, {}, name_, out, err_);
  }

  // Nodes that a part takes, as it is built.
  uint64_t nodes(const Part& part) const {
    switch (part.kind) {
      case Part::kChars:
        return 1 + part.chars.size();
      case Part::kRule:
        return is_called(part.rule) ? 1 : rules_[part.rule].nodes;
      case Part::kRepeat: {
        const uint64_t one = nodes(part.parts[0]), times = part.most > kMaxCount ? part.least + 1 : part.most;
        return one * times > spread_ && times > 1 ? 1 : one * times + 1;
      }
      default: {
        uint64_t sum = 1;
        for (const Part& p : part.parts) sum = std::min(sum + nodes(p), kMuch);
        return sum;
      }
    }
  }
  bool is_called(uint32_t i) const { return rules_[i].recursive || rules_[i].nodes > spread_; }

  void name_part(uint32_t from, uint32_t to, uint32_t i) {
    if (!is_called(i)) return add(from, to, rules_[i].part);
    if (rules_[i].called == kNoRule) {
      const uint32_t begin = a_->node(), end = a_->node();
      rules_[i].called = a_->rule(begin, end, "rule " + rules_[i].name);
      to_build_.push_back({begin, end, &rules_[i].part});
    }
    a_->call(from, to, rules_[i].called);
  }

  void add(uint32_t from, uint32_t to, const Part& part) {
    if (a_->full()) return;
    switch (part.kind) {
      case Part::kChars:
        for (const CharRange& r : part.chars) a_->utf8(from, to, r);
        return;
      case Part::kRule:
        return name_part(from, to, part.rule);
      case Part::kRepeat:
        return repeated(from, to, part);
      case Part::kSequence: {
        uint32_t at = from;
        for (const Part& p : part.parts) {
          const uint32_t next = a_->node();
          add(at, next, p);
          at = next;
        }
        return a_->skip(at, to);
      }
      case Part::kAlternatives:
        for (const Part& p : part.parts) {
          const uint32_t begin = a_->node(), end = a_->node();
          a_->skip(from, begin);
          add(begin, end, p);
          a_->skip(end, to);
        }
    }
  }
  void repeated(uint32_t from, uint32_t to, const Part& part) {
    const bool endless = part.most > kMaxCount;
    const Part& one = part.parts[0];
    if (part.most == 0) return a_->skip(from, to);
    if (nodes(part) == 1) {  // counted
      const uint32_t begin = a_->node(), end = a_->node();
      to_build_.push_back({begin, end, &one});
      return a_->call(from, to, a_->rule(begin, end, "a repeat"), part.least, endless ? 0 : part.most);
    }
    uint32_t at = a_->node();
    a_->skip(from, at);
    for (uint32_t i = 0; i < (endless ? part.least : part.most) && !a_->full(); ++i) {
      if (i >= part.least) a_->skip(at, to);
      const uint32_t next = a_->node();
      add(at, next, one);
      at = next;
    }
    if (endless) {
      const uint32_t loop = a_->node(), back = a_->node();
      a_->skip(at, loop);
      add(loop, back, one);
      a_->skip(back, loop);
      at = loop;
    }
    a_->skip(at, to);
  }

  const std::string_view p_;
  const char* name_;
  Error* err_;
  Status status_ = LINNET_OK;
  size_t at_ = 0;
  uint32_t line_ = 1, groups_ = 0, n_parts_ = 0;
  Vector<Rule> rules_;
  Map<String, uint32_t, std::less<>> by_name_;
  Vector<uint32_t> inner_first_;  // rules that are not recursive, behind those that they name
  Automaton* a_ = nullptr;
  uint64_t spread_ = 0;
  struct Pending {
    uint32_t from, to;
    const Part* part;
  };
  Vector<Pending> to_build_;
};

}  // namespace

Status compile_gbnf(std::string_view text, const char* name, Vector<uint8_t>* out, Error* err) {
  return Gbnf(text, name, err).compile(out);
}

Status compile_regex(std::string_view pattern, const char* name, Vector<uint8_t>* out, Error* err) {
  for (size_t at = 0; at < pattern.size();) {
    const Char c = next_char(pattern.data() + at, pattern.size() - at);
    if (c.code == kBadByte) return fail(err, LINNET_BAD_FILE, name, ": byte ", at, ": no UTF-8");
    at += c.bytes;
  }
  Automaton a;
  const uint32_t start = a.node(), end = a.node();
  String why;
  const auto write = [&a](uint32_t from, uint32_t to, const Vector<CharRange>& ranges) {
    for (const CharRange& r : ranges) a.utf8(from, to, r);
  };
  pattern_chars(&a, start, end, pattern, write, true, &why);
  if (!why.empty()) return fail(err, LINNET_UNSUPPORTED, name, ": ", why, " is not supported, in ", pattern);
  return a.compile(start, end, {}, name, out, err);
}

Status compile_choices(std::string_view json, const char* name, Vector<uint8_t>* out, Error* err) {
  Value list;
  LINNET_TRY(schema_parse(json, name, &list, err));
  if (!list.is(kArray) || list.items.empty()) return fail(err, LINNET_BAD_FILE, name, ": choices are an array of texts, one and more");
  Automaton a;
  const uint32_t start = a.node(), end = a.node();
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& one = list.items[i];
    if (!one.is(kString) || one.text.empty()) return fail(err, LINNET_BAD_FILE, name, ": #/", i, ": a choice is a text, not ", dump(one));
    a.skip(a.text(start, one.text), end);
  }
  return a.compile(start, end, {}, name, out, err);
}

}  // namespace linnet::convert
