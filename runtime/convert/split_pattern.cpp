// A pattern is parsed into a tree, written as a program of ordered choices, and made deterministic: a state is the list of the program's
// places that are still possible, in the order in which backtracking would try them. What is asked about more than the next character is an
// automaton of its own, the answers of which are read as parts of the characters (tok::Look).
#include "split_pattern.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "../../platform/utf8.h"
#include "../tokenizer/blob.h"
#include "../tokenizer/unicode.h"
#include "automaton.h"

namespace linnet::convert {
namespace {

struct PropertyRange {
  uint32_t first;
  uint8_t category, script;
};
#include "library_classes.inc"
#include "library_scripts.inc"
#include "unicode_properties.inc"

constexpr size_t kMaxPatternBytes = 1u << 14, kMaxSets = 1024, kMaxProgram = 1u << 15, kMaxTable = 1u << 19;
constexpr size_t kMaxSteps = size_t{1} << 26, kMaxPairs = size_t{1} << 23;  // so that a hostile pattern takes seconds at most
constexpr uint32_t kMaxDepth = 64, kMaxRepeat = 1024, kForever = 0xFFFFFFFF, kLastCode = 0x10FFFF, kNoLook = 0xFFFFFFFF;
constexpr uint32_t kMaxBehind = 8;  // characters that a look-behind reads

// ---- sets of code points ------------------------------------------------------------------------------------------------

// In order, with a gap between any two. `end`: of a condition on the next character, whether the text's end will do.
struct CharSet {
  Vector<CharRange> ranges;
  bool end = false;
  uint32_t look = kNoLook;  // a condition that is none on the next character: this look's answer is `yes`
  bool yes = true;

  bool has(uint32_t code) const {
    const auto at = std::upper_bound(ranges.begin(), ranges.end(), code, [](uint32_t c, const CharRange& r) { return c < r.first; });
    return at != ranges.begin() && code <= at[-1].last;
  }
  void add(uint32_t first, uint32_t last) { ranges.push_back({first, last}); }
  void add(const CharSet& other) { ranges.insert(ranges.end(), other.ranges.begin(), other.ranges.end()); }
  void sort() { ranges = merged(std::move(ranges)); }
};
CharSet inverse(const CharSet& of) {
  CharSet out;
  uint32_t from = 0;
  for (const CharRange& r : of.ranges) {
    if (r.first > from) out.add(from, r.first - 1);
    from = r.last + 1;
  }
  if (from <= kLastCode) out.add(from, kLastCode);
  out.end = !of.end;
  return out;
}
CharSet both(const CharSet& a, const CharSet& b) {
  CharSet out;
  for (const CharRange& x : a.ranges)
    for (const CharRange& y : b.ranges)
      if (std::max(x.first, y.first) <= std::min(x.last, y.last)) out.add(std::max(x.first, y.first), std::min(x.last, y.last));
  return out;
}
template <class Has>
CharSet set_of(const Has& has) {
  CharSet out;
  for (uint32_t c = 0; c <= kLastCode; ++c)
    if (has(c)) out.add(c, c);
  out.sort();
  return out;
}

const CharSet& white_space() {
  static const CharSet set = set_of([](uint32_t c) { return tok::char_class(c) == tok::CharClass::kSpace; });
  return set;
}
// In Oniguruma joiners are none. By itself, \w has the superscripts and fractions of Latin-1 too, which it has not inside of classes.
const CharSet& word_characters() {
  static const CharSet set = set_of([](uint32_t c) { return tok::is_word(c) && c != 0x200C && c != 0x200D; });
  return set;
}
constexpr CharRange kLatinNumbers[] = {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}};
CharSet word_by_itself() {
  CharSet set = word_characters();
  for (const CharRange& r : kLatinNumbers) set.add(r.first, r.last);
  set.sort();
  return set;
}

CharSet hex_digits() {
  CharSet set;
  for (const CharRange r : {CharRange{'0', '9'}, {'A', 'F'}, {'a', 'f'}}) set.add(r.first, r.last);
  return set;
}

struct LongName {
  std::string_view name, category;
};
constexpr LongName kLongNames[] = {{"letter", "L"},
                                   {"uppercaseletter", "Lu"},
                                   {"lowercaseletter", "Ll"},
                                   {"titlecaseletter", "Lt"},
                                   {"modifierletter", "Lm"},
                                   {"otherletter", "Lo"},
                                   {"mark", "M"},
                                   {"nonspacingmark", "Mn"},
                                   {"spacingmark", "Mc"},
                                   {"enclosingmark", "Me"},
                                   {"number", "N"},
                                   {"decimalnumber", "Nd"},
                                   {"letternumber", "Nl"},
                                   {"othernumber", "No"},
                                   {"punctuation", "P"},
                                   {"symbol", "S"},
                                   {"mathsymbol", "Sm"},
                                   {"currencysymbol", "Sc"},
                                   {"modifiersymbol", "Sk"},
                                   {"othersymbol", "So"},
                                   {"separator", "Z"},
                                   {"spaceseparator", "Zs"},
                                   {"lineseparator", "Zl"},
                                   {"paragraphseparator", "Zp"},
                                   {"other", "C"},
                                   {"control", "Cc"},
                                   {"format", "Cf"},
                                   {"privateuse", "Co"},
                                   {"dashpunctuation", "Pd"},
                                   {"openpunctuation", "Ps"},
                                   {"closepunctuation", "Pe"},
                                   {"connectorpunctuation", "Pc"},
                                   {"initialpunctuation", "Pi"},
                                   {"finalpunctuation", "Pf"},
                                   {"otherpunctuation", "Po"}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_letter(uint32_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

bool posix_class(std::string_view name, CharSet* out);

// The class of each code point, in blocks that are kept once.
void class_blocks(const std::vector<uint8_t>& all, SplitTables* out) {
  std::map<std::string, uint16_t> blocks;
  for (auto at = all.begin(); at != all.end(); at += tok::kPatternBlock) {
    const auto [block, is_new] = blocks.try_emplace(std::string(at, at + tok::kPatternBlock), static_cast<uint16_t>(blocks.size()));
    if (is_new) out->classes.insert(out->classes.end(), at, at + tok::kPatternBlock);
    out->blocks.push_back(block->second);
  }
}

// The characters of a general category, a script or a POSIX class; false: there is none of that name.
bool property(std::string_view spelled, CharSet* out) {
  if (spelled == "=word") {
    *out = set_of([](uint32_t c) { return tok::is_word(c); });
    return true;
  }
  std::string name;
  for (const char c : spelled)
    if (c != ' ' && c != '_' && c != '-') name.push_back(lower(c));
  if (name == "punct") name = "p";  // [:punct:] has the symbols, too
  if (name == "alphabetic") name = "alpha";
  if (name != "word" && posix_class(name, out)) return true;  // \p{word} is not the same inside of classes
  std::string_view category = name;
  for (const LongName& l : kLongNames)
    if (l.name == name) category = l.category;
  const auto in_category = [category](std::string_view of) {
    return lower(category[0]) == lower(of[0]) && (category.size() == 1 || lower(category[1]) == of[1]);
  };
  const auto script = std::find(std::begin(kScripts), std::end(kScripts), name);
  const bool known = !category.empty() && category.size() <= 2 && std::any_of(std::begin(kCategories), std::end(kCategories), in_category);
  if (!known && script == std::end(kScripts)) return false;
  for (size_t i = 0; i < std::size(kProperties); ++i) {
    const PropertyRange& p = kProperties[i];
    const uint32_t last = i + 1 < std::size(kProperties) ? kProperties[i + 1].first - 1 : kLastCode;
    if (known ? in_category(kCategories[p.category]) : p.script == script - std::begin(kScripts)) out->add(p.first, last);
  }
  out->sort();
  return true;
}

// [:name:] as Oniguruma has it for Unicode. False: there is none of that name.
bool posix_class(std::string_view name, CharSet* out) {
  const auto categories = [out](std::initializer_list<std::string_view> names) {
    for (const std::string_view category : names) property(category, out);
  };
  const auto add = [out](const auto& ranges) {
    for (const CharRange& r : ranges) out->add(r.first, r.last);
  };
  if (name == "alpha" || name == "alnum") {
    CharSet others;
    for (const char* category : {"M", "Nd", "Pc"}) property(category, &others);
    *out = both(word_characters(), inverse(others));
    add(kAlphabeticMarks);
    if (name == "alnum") categories({"Nd"});
  } else if (name == "ascii") {
    out->add(0, 0x7F);
  } else if (name == "blank") {
    categories({"Zs"});
    out->add('\t', '\t');
  } else if (name == "cntrl") {
    categories({"Cc"});
  } else if (name == "digit") {
    categories({"Nd"});
  } else if (name == "graph") {
    categories({"L", "M", "N", "P", "S", "Cf", "Co"});
  } else if (name == "lower") {
    categories({"Ll"});
    add(kOtherLower);
  } else if (name == "print") {
    categories({"L", "M", "N", "P", "S", "Cf", "Co", "Zs"});
  } else if (name == "punct") {
    categories({"P", "S"});
  } else if (name == "space") {
    *out = white_space();
  } else if (name == "upper") {
    categories({"Lu"});
    add(kOtherUpper);
  } else if (name == "word") {
    *out = word_characters();
  } else if (name == "xdigit") {
    *out = hex_digits();
  } else {
    return false;
  }
  out->sort();
  return true;
}

// ---- parsing ------------------------------------------------------------------------------------------------------------

struct Node {
  enum Kind : uint8_t { kSet, kCondition, kSequence, kChoice, kRepeat, kAtomic } kind;
  uint32_t set = 0;  // kSet, kCondition
  std::vector<uint32_t> parts = {};
  uint32_t least = 0, most = 0;  // kRepeat
  bool lazy = false;
};

struct Options {  // (?i), (?m): '.' is a line break, too, (?x)
  bool any_case = false, all = false, extended = false;
};

class Parser {
 public:
  Parser(std::string_view pattern, const char* label, Error* err) : s_(pattern), label_(label), err_(err) {}

  Status run(uint32_t* root) {
    if (s_.size() > kMaxPatternBytes) return refuse("more than ", kMaxPatternBytes, " bytes");
    for (size_t i = 0; i < s_.size(); i += next_char(s_.data() + i, s_.size() - i).bytes)
      if (next_char(s_.data() + i, s_.size() - i).code == kBadByte) return refuse("a byte that is no text");
    LINNET_TRY(choice(0, root));
    if (more()) return refuse("')' without '('");
    matches_nothing = may_be_empty(*root);
    return LINNET_OK;
  }

  struct Look {
    uint32_t root;
    bool ahead;
  };
  std::vector<Node> nodes;
  std::vector<CharSet> sets;
  std::vector<Look> looks;       // what one asks about has a lower number
  bool matches_nothing = false;  // the whole may

  template <class... Parts>
  Status refuse(const Parts&... what) {
    return fail(err_, LINNET_UNSUPPORTED, label_, ": the pre_tokenizer's pattern is not supported: ", what..., " at byte ",
                std::min(at_, s_.size()), " of ", s_);
  }

 private:
  bool more() const { return at_ < s_.size(); }
  bool is(char c, size_t ahead = 0) const { return at_ + ahead < s_.size() && s_[at_ + ahead] == c; }
  bool take(std::string_view text) {
    if (s_.compare(at_, text.size(), text) != 0) return false;
    at_ += text.size();
    return true;
  }
  uint32_t take_char() {
    const Char c = next_char(s_.data() + at_, s_.size() - at_);
    at_ += c.bytes;
    return c.code;
  }
  uint32_t add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<uint32_t>(nodes.size() - 1);
  }
  uint32_t add_set(Node::Kind kind, CharSet set) {
    sets.push_back(std::move(set));
    return add({kind, static_cast<uint32_t>(sets.size() - 1)});
  }
  // The condition that this look's answer is `yes`.
  uint32_t add_answer(uint32_t look, bool yes) {
    CharSet set;
    set.look = look;
    set.yes = yes;
    return add_set(Node::kCondition, std::move(set));
  }
  Status add_look(uint32_t root, bool ahead, uint32_t* out) {
    if (looks.size() == tok::kMaxLooks) return refuse("more than ", tok::kMaxLooks, " looks ahead and behind");
    *out = static_cast<uint32_t>(looks.size());
    looks.push_back({root, ahead});
    return LINNET_OK;
  }
  // Whether a character of the set stands in front; asked for once.
  Status look_behind(CharSet set, uint32_t* known, uint32_t* out) {
    if (*known == kNoLook) LINNET_TRY(add_look(add_set(Node::kSet, std::move(set)), false, known));
    *out = *known;
    return LINNET_OK;
  }

  // The most characters that it reads.
  uint64_t longest(uint32_t id) const {
    const Node& n = nodes[id];
    uint64_t most = n.kind == Node::kSet;
    for (const uint32_t part : n.parts) most = n.kind == Node::kSequence ? most + longest(part) : std::max(most, longest(part));
    return n.kind == Node::kRepeat ? std::min(most * n.most, uint64_t{kForever}) : std::min(most, uint64_t{kForever});
  }

  // \b, \B, ^, \A and \Z.
  Status anchor(char which, uint32_t* out) {
    CharSet any;
    any.add(0, kLastCode);
    uint32_t look = 0;
    if (which == 'b' || which == 'B') {
      ++bounds_;
      CharSet word = word_by_itself();
      LINNET_TRY(look_behind(word, &word_behind_, &look));
      const bool apart = which == 'b';  // on one side a word, on the other none
      const uint32_t next = add_set(Node::kCondition, word), no_next = add_set(Node::kCondition, inverse(word));
      const uint32_t word_first = add({Node::kSequence, 0, {add_answer(look, true), apart ? no_next : next}});
      const uint32_t word_last = add({Node::kSequence, 0, {add_answer(look, false), apart ? next : no_next}});
      *out = add({Node::kChoice, 0, {word_first, word_last}});
    } else if (which == '^') {  // at the end it is none behind a line break
      CharSet others;
      others.add('\n', '\n');
      LINNET_TRY(look_behind(inverse(others), &others_behind_, &look));
      const uint32_t line = add({Node::kSequence, 0, {add_answer(look, false), add_set(Node::kCondition, any)}});
      LINNET_TRY(look_behind(any, &any_behind_, &look));
      *out = add({Node::kChoice, 0, {add_answer(look, false), line}});
    } else if (which == 'A') {
      LINNET_TRY(look_behind(any, &any_behind_, &look));
      *out = add_answer(look, false);
    } else {
      CharSet line, end;
      line.add('\n', '\n');
      end.end = true;
      const uint32_t last = add_set(Node::kCondition, end);
      const uint32_t line_end = add({Node::kSequence, 0, {add_set(Node::kSet, line), last}});
      LINNET_TRY(add_look(line_end, true, &look));
      *out = add({Node::kChoice, 0, {last, add_answer(look, true)}});
    }
    return LINNET_OK;
  }

  bool may_be_empty(uint32_t id) const {
    const Node& n = nodes[id];
    const auto empty = [this](uint32_t part) { return may_be_empty(part); };
    switch (n.kind) {
      case Node::kSet:
        return false;
      case Node::kCondition:
        return true;
      case Node::kSequence:
        return std::all_of(n.parts.begin(), n.parts.end(), empty);
      case Node::kChoice:
        return std::any_of(n.parts.begin(), n.parts.end(), empty);
      case Node::kAtomic:
        return empty(n.parts[0]);
      default:
        return n.least == 0 || empty(n.parts[0]);
    }
  }

  // joined: of (?:a), where the library sees letters in front and behind as one text.
  Status choice(uint32_t depth, uint32_t* out, bool joined = false) {
    if (depth > kMaxDepth) return refuse("groups more than ", kMaxDepth, " deep");
    Node node{Node::kChoice};
    do {
      if (!joined || !node.parts.empty()) last_letter_ = 0;
      uint32_t part = 0;
      LINNET_TRY(sequence(depth, &part));
      node.parts.push_back(part);
    } while (take("|"));
    if (!joined || node.parts.size() > 1) last_letter_ = 0;
    *out = node.parts.size() == 1 ? node.parts[0] : add(std::move(node));
    return LINNET_OK;
  }

  Status sequence(uint32_t depth, uint32_t* out) {
    Node node{Node::kSequence};
    for (;;) {
      LINNET_TRY(skip());
      if (!more() || is('|') || is(')')) break;
      uint32_t part = 0;
      LINNET_TRY(atom(depth, &part));
      LINNET_TRY(repeats(&part));
      if (sets.size() > kMaxSets) return refuse("more than ", kMaxSets, " classes");
      node.parts.push_back(part);
    }
    *out = node.parts.size() == 1 ? node.parts[0] : add(std::move(node));
    return LINNET_OK;
  }

  // Comments, and white space where (?x) says so.
  Status skip() {
    for (;;) {
      if (take("(?#")) {
        while (more() && !is(')')) at_ += is('\\') ? 2 : 1;
        at_ = std::min(at_, s_.size());
        if (!take(")")) return refuse("the end inside a comment");
      } else if (on_.extended && is('#')) {
        at_ = std::min(s_.find('\n', at_), s_.size());
      } else if (on_.extended && more() && (is(' ') || (s_[at_] >= '\t' && s_[at_] <= '\r'))) {
        ++at_;
      } else {
        return LINNET_OK;
      }
    }
  }

  Status repeats(uint32_t* part) {
    uint32_t least = 0, most = kForever;
    LINNET_TRY(skip());
    const size_t from = at_;
    const bool interval = is('{');
    if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (interval) {
      LINNET_TRY(read_interval(&least, &most));
    } else if (!take("*")) {
      return LINNET_OK;
    }
    last_letter_ = 0;
    const Node::Kind kind = nodes[*part].kind;
    const auto refuse_at = [&](const char* what) {
      at_ = from;
      return refuse(what);
    };
    if (kind == Node::kCondition) return refuse_at("a repeated condition");
    // Libraries do not agree on what ends such a loop.
    if (most > 1 && may_be_empty(*part)) return refuse_at("a repeat of what may match nothing");
    const bool possessive = is('+'), lazy = is('?');
    if (interval && (possessive || (lazy && least == most))) return refuse_at("a mark behind {}");
    at_ += possessive || lazy;
    LINNET_TRY(skip());
    if (is('*') || is('+') || is('?') || is('{')) return refuse_at("a repeat of a repeat");
    if (!possessive) {
      *part = add({Node::kRepeat, 0, {*part}, least, most, lazy});
      return LINNET_OK;
    }
    ++held_;
    if (kind != Node::kSet) {
      *part = add({Node::kAtomic, 0, {add({Node::kRepeat, 0, {*part}, least, most})}});
      return LINNET_OK;
    }
    // A run that gives nothing back ends where the class does.
    const uint32_t stop = add_set(Node::kCondition, inverse(sets[nodes[*part].set]));
    if (most == 1) {
      *part = add({Node::kChoice, 0, {*part, stop}});
    } else {
      const uint32_t loop = add({Node::kRepeat, 0, {*part}, least, most});
      *part = add({Node::kSequence, 0, {loop, stop}});
    }
    return LINNET_OK;
  }

  bool read_number(uint32_t* out) {
    const size_t from = at_;
    *out = 0;
    for (; more() && s_[at_] >= '0' && s_[at_] <= '9' && at_ - from < 5; ++at_) *out = *out * 10 + static_cast<uint32_t>(s_[at_] - '0');
    return at_ > from;
  }
  Status read_interval(uint32_t* least, uint32_t* most) {
    const size_t from = at_++;
    const bool first = read_number(least);
    *most = *least;
    bool second = first;
    if (take(",")) {
      second = read_number(most);
      if (!second) *most = kForever;
    }
    const bool closed = take("}");
    if (closed && (first || second) && *least <= *most && *least <= kMaxRepeat && (*most == kForever || *most <= kMaxRepeat))
      return LINNET_OK;
    at_ = from;
    return refuse("a repeat other than up to ", kMaxRepeat, " times");
  }

  Status atom(uint32_t depth, uint32_t* out) {
    const char c = s_[at_];
    if (c == '(') return group(depth, out);
    if (take("\\R")) {
      line_break(out);
      return LINNET_OK;
    }
    CharSet set;
    if (c == '[') {
      last_letter_ = 0;
      ++at_;
      LINNET_TRY(char_class(depth, &set));
    } else if (c == '.') {
      last_letter_ = 0;
      ++at_;
      if (!on_.all) set.add('\n', '\n');
      set = inverse(set);
      set.end = false;
    } else if (c == '$' || s_.compare(at_, 2, "\\z") == 0) {
      at_ += c == '$' ? 1 : 2;
      set.end = true;
      if (c == '$') set.add('\n', '\n');  // in Oniguruma it is the end of any line
      *out = add_set(Node::kCondition, std::move(set));
      return LINNET_OK;
    } else if (c == '^') {
      ++at_;
      last_letter_ = 0;
      return anchor('^', out);
    } else if (c == '\\' && at_ + 1 < s_.size() && std::string_view("bBAZ").find(s_[at_ + 1]) != std::string_view::npos) {
      at_ += 2;
      last_letter_ = 0;
      return anchor(s_[at_ - 1], out);
    } else if (c == '*' || c == '+' || c == '?' || c == '{') {
      return refuse("a repeat of nothing");
    } else {
      uint32_t code = 0;
      bool is_char = true;
      if (c == '\\')
        LINNET_TRY(escape(false, &set, &is_char, &code));
      else
        code = take_char();
      if (on_.extended && c != '\\' && code >= 0x80 && white_space().has(code)) return refuse("white space beyond ASCII behind (?x)");
      if (is_char) LINNET_TRY(add_char(code, code, &set));
      LINNET_TRY(no_ligature(is_char ? code : 0));
      set.sort();
    }
    *out = add_set(Node::kSet, std::move(set));
    return LINNET_OK;
  }

  // (?>\r\n|[\n-\r\u0085\u2028\u2029])
  void line_break(uint32_t* out) {
    CharSet any, first, second;
    for (const CharRange r : {CharRange{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}) any.add(r.first, r.last);
    first.add('\r', '\r');
    second.add('\n', '\n');
    const uint32_t two = add({Node::kSequence, 0, {add_set(Node::kSet, first), add_set(Node::kSet, second)}});
    *out = add({Node::kAtomic, 0, {add({Node::kChoice, 0, {two, add_set(Node::kSet, any)}})}});
    ++held_;
    last_letter_ = 0;
  }

  // Without case, Oniguruma takes one character for two letters: U+00DF for "ss", U+FB01 for "fi".
  Status no_ligature(uint32_t code) {
    const char letter = static_cast<char>(code < 0x80 && is_letter(code) ? code | 32 : 0);
    const char pair[] = {last_letter_, letter};
    for (const std::string_view two : {"ss", "ff", "fi", "fl", "st"})
      if (on_.any_case && two == std::string_view(pair, 2)) return refuse("'", two, "' without case");
    last_letter_ = letter;
    return LINNET_OK;
  }

  // Characters, in both cases where case is ignored.
  Status add_char(uint32_t first, uint32_t last, CharSet* set) {
    set->add(first, last);
    if (!on_.any_case) return LINNET_OK;
    if (last >= 0x80) return refuse("a character beyond ASCII without case");
    for (uint32_t c = first; c <= last; ++c) {
      if (!is_letter(c)) continue;
      set->add(c ^ 32, c ^ 32);
      if ((c | 32) == 's') set->add(0x17F, 0x17F);
      if ((c | 32) == 'k') set->add(0x212A, 0x212A);
    }
    return LINNET_OK;
  }

  // Behind '(' as in (?i), (?m-x:a): false: it is no such group, and nothing is read.
  bool options(bool* whole_rest) {
    size_t i = at_ + 1;
    Options now = on_;
    bool off = false;
    for (; is('?') && i < s_.size() && std::string_view("imx-").find(s_[i]) != std::string_view::npos; ++i) {
      const bool yes = !off;
      if (s_[i] == '-' && off) return false;
      off = off || s_[i] == '-';
      if (s_[i] == 'i') now.any_case = yes;
      if (s_[i] == 'm') now.all = yes;
      if (s_[i] == 'x') now.extended = yes;
    }
    if (i == at_ + 1 || i >= s_.size() || (s_[i] != ':' && s_[i] != ')')) return false;
    *whole_rest = s_[i] == ')';
    at_ = i + 1;
    on_ = now;
    return true;
  }
  // Behind '(' as in (?<name>a): a group as any other.
  bool name() {
    if (!is('?') || (!is('<', 1) && !is('\'', 1))) return false;
    size_t i = at_ + 2;
    const auto letter = [this, &i] { return i < s_.size() && (is_letter(static_cast<uint8_t>(s_[i])) || s_[i] == '_'); };
    if (!letter()) return false;
    while (letter() || (i < s_.size() && s_[i] >= '0' && s_[i] <= '9')) ++i;
    if (i >= s_.size() || s_[i] != (is('<', 1) ? '>' : '\'')) return false;
    at_ = i + 1;
    return true;
  }

  Status group(uint32_t depth, uint32_t* out) {
    const size_t from = at_++;
    const Options outer = on_;
    const uint32_t held = held_, bounds = bounds_;
    bool condition = false, negated = false, behind = false, atomic = false, whole_rest = false;
    const bool joined = take("?:");
    if (!joined) last_letter_ = 0;
    if (joined || name()) {
    } else if (take("?>")) {
      atomic = true;
      ++held_;
    } else if (is('?') && (is('=', 1) || is('!', 1))) {
      condition = true;
      negated = is('!', 1);
      at_ += 2;
    } else if (is('?') && is('<', 1) && (is('=', 2) || is('!', 2))) {
      condition = behind = true;
      negated = is('!', 2);
      at_ += 3;
    } else if (options(&whole_rest)) {
      if (whole_rest) {  // It holds up to the end of the group, for all alternatives that come behind it, which are one group.
        LINNET_TRY(choice(depth + 1, out));
        on_ = outer;
        return LINNET_OK;
      }
    } else if (is('?')) {
      at_ = from;
      const char* const what = is('<', 2) || is('\'', 2) ? "a group's name"
                               : is('(', 2)              ? "a condition on a group"
                               : is('~', 2)              ? "an absent operator"
                                                         : "a group with such a mark";
      return refuse(what);
    } else if (is('*')) {
      at_ = from;
      return refuse("a callout");
    }
    LINNET_TRY(choice(depth + 1, out, joined));
    if (!take(")")) return refuse("the end inside a group");
    on_ = outer;
    if (atomic) *out = add({Node::kAtomic, 0, {*out}});
    if (!condition) return LINNET_OK;
    // In the library what stands in look-behind reads no further than to its end, and at the text's start \B holds there.
    const char* const odd = held != held_                             ? "a possessive repeat or an atomic group"
                            : bounds != bounds_ && may_be_empty(*out) ? "a word boundary and no character"
                                                                      : nullptr;
    if (behind && odd) {
      at_ = from;
      return refuse(odd, " in look-behind");
    }
    CharSet set;
    if (behind || !as_condition(*out, &set)) {
      const size_t end = at_;
      at_ = from;
      if (behind && longest(*out) > kMaxBehind) return refuse("look-behind of more than ", kMaxBehind, " characters");
      uint32_t look = 0;
      LINNET_TRY(add_look(*out, !behind, &look));
      at_ = end;
      *out = add_answer(look, !negated);
      return LINNET_OK;
    }
    set.sort();
    *out = add_set(Node::kCondition, negated ? inverse(set) : std::move(set));
    return LINNET_OK;
  }

  // The next characters that let a look-ahead pass.
  bool as_condition(uint32_t id, CharSet* out) const {
    const Node& n = nodes[id];
    if (n.kind == Node::kChoice) return std::all_of(n.parts.begin(), n.parts.end(), [&](uint32_t part) { return as_condition(part, out); });
    if (n.kind == Node::kRepeat && n.least == 1) return as_condition(n.parts[0], out);
    if ((n.kind != Node::kSet && n.kind != Node::kCondition) || sets[n.set].look != kNoLook) return false;
    out->add(sets[n.set]);
    out->end = out->end || sets[n.set].end;
    return true;
  }

  // Behind '['. Sets joined by && are cut with each other, and all of it is inverted where it says so.
  Status char_class(uint32_t depth, CharSet* out) {
    if (depth > kMaxDepth) return refuse("classes more than ", kMaxDepth, " deep");
    const bool negated = take("^");
    if (negated && on_.any_case) return refuse("an inverted class without case");
    bool cut = false;
    CharSet now;
    for (bool empty = true;; empty = false) {
      if (!more()) return refuse("the end inside a class");
      if (empty && is(']')) return refuse("an empty class");
      const bool joined = s_.compare(at_, 2, "&&") == 0;
      if (joined && on_.any_case) return refuse("'&&' without case");
      if (joined || is(']')) {
        if (empty) return refuse("'&&' without a class");
        now.sort();
        *out = cut ? both(*out, now) : std::move(now);
        at_ += joined ? 2 : 1;
        if (!joined) break;
        cut = true;
        now = {};
        if (is(']') || s_.compare(at_, 2, "&&") == 0) return refuse("'&&' without a class");
      }
      LINNET_TRY(class_item(depth, &now));
    }
    if (negated) *out = inverse(*out);
    out->end = false;
    return LINNET_OK;
  }

  Status class_item(uint32_t depth, CharSet* now) {
    const size_t from = at_;
    if (is('[')) {
      CharSet inner;
      if (is(':', 1)) {
        LINNET_TRY(posix_item(&inner));
        now->add(inner);
        return no_range();
      }
      ++at_;
      LINNET_TRY(char_class(depth + 1, &inner));
      now->add(inner);
      return no_range();
    }
    uint32_t first = 0;
    bool is_char = true;
    LINNET_TRY(class_char(now, &is_char, &first));
    if (!is_char) return no_range();
    if (first == '-' && at_ - from == 1) {  // by itself only at an end
      const bool ends = s_[from - 1] == '[' || s_[from - 1] == '^' || is(']');
      if (!ends) return refuse("'-' inside a class");
    }
    uint32_t last = first;
    if (is('-') && !is(']', 1)) {
      ++at_;
      if (is('[')) return refuse("a range up to a class");
      LINNET_TRY(class_char(now, &is_char, &last));
      if (!is_char || last < first) return refuse("a range that is none");
    }
    return add_char(first, last, now);
  }
  Status posix_item(CharSet* out) {
    const size_t name = at_ + (is('^', 2) ? 3 : 2), end = s_.find(":]", name);
    if (end == s_.npos || !posix_class(s_.substr(name, end - name), out)) return refuse("a POSIX class of such a name");
    if (on_.any_case) return refuse("a POSIX class without case");
    if (is('^', 2)) *out = inverse(*out);
    at_ = end + 2;
    return LINNET_OK;
  }
  Status no_range() { return is('-') && !is(']', 1) ? refuse("a range from a class on") : LINNET_OK; }
  Status class_char(CharSet* now, bool* is_char, uint32_t* code) {
    *is_char = true;
    if (!more()) return refuse("the end inside a class");
    if (is('\\')) return escape(true, now, is_char, code);
    *code = take_char();
    return LINNET_OK;
  }

  // A class is added to *set, a character is *code.
  Status escape(bool in_class, CharSet* set, bool* is_char, uint32_t* code) {
    const size_t from = at_++;
    const auto refuse_at = [&](const char* what) {
      at_ = from;
      return refuse(what, " '", std::string_view(s_).substr(from, 2), "'");
    };
    if (!more()) return refuse_at("an unfinished escape");
    const uint32_t c = take_char();
    *is_char = false;
    CharSet found;
    switch (c) {
      case 'd':
      case 'D':
        property("Nd", &found);
        break;
      case 's':
      case 'S':
        found = white_space();
        break;
      case 'w':
      case 'W':
        found = in_class ? word_characters() : word_by_itself();
        break;
      case 'h':
      case 'H':
        found = hex_digits();
        break;
      case 'p':
      case 'P': {
        if (on_.any_case && in_class) return refuse_at("without case, an escape");
        const size_t end = is('{') ? s_.find('}', at_) : s_.npos;
        if (end == s_.npos) return refuse_at("an escape without {}");
        std::string_view name = s_.substr(at_ + 1, end - at_ - 1);
        const bool inverted = !name.empty() && name[0] == '^';
        if (inverted) name.remove_prefix(1);
        if (!property(name, &found)) return refuse("a property '", name, "'");
        at_ = end + 1;
        if (inverted) found = inverse(found);
        break;
      }
      default:
        *is_char = true;
        return escaped_char(c, from, code);
    }
    if (c == 'D' || c == 'S' || c == 'W' || c == 'H' || c == 'P') found = inverse(found);
    set->add(found);
    return LINNET_OK;
  }

  Status escaped_char(uint32_t c, size_t from, uint32_t* code) {
    constexpr std::pair<char, char> kControls[] = {{'r', '\r'}, {'n', '\n'}, {'t', '\t'}, {'f', '\f'}, {'v', '\v'}, {'a', 7}, {'e', 27}};
    for (const auto& [letter, control] : kControls)
      if (c == static_cast<uint32_t>(letter)) {
        *code = static_cast<uint32_t>(control);
        return LINNET_OK;
      }
    const bool braces = c == 'x' && is('{');
    if (c == 'u' || c == 'x') {
      at_ += braces;
      const size_t digits = at_, most = braces ? 6 : c == 'u' ? 4 : 2;
      for (*code = 0; more() && at_ - digits < most; ++at_) {
        const char d = lower(s_[at_]);
        if (d >= '0' && d <= '9')
          *code = *code * 16 + static_cast<uint32_t>(d - '0');
        else if (d >= 'a' && d <= 'f')
          *code = *code * 16 + static_cast<uint32_t>(d - 'a' + 10);
        else
          break;
      }
      const size_t n = at_ - digits;
      const bool whole = braces ? n && take("}") : n == most;
      const bool good = *code <= kLastCode && (*code < 0xD800 || *code >= 0xE000) && (c == 'u' || braces || *code < 0x80);
      if (whole && good) return LINNET_OK;
    } else if (!is_letter(c) && !(c >= '0' && c <= '9')) {
      *code = c;
      return LINNET_OK;
    }
    at_ = from;
    const bool reference = (c >= '1' && c <= '9') || c == 'k';
    const char* const what = reference                          ? "a back-reference"
                             : c == 'g'                         ? "a call of a group"
                             : c == 'b' || c == 'B'             ? "a word boundary"
                             : c == 'A' || c == 'G' || c == 'Z' ? "an anchor"
                                                                : "an escape";
    return refuse(what, " '", s_.substr(from, 2), "'");
  }

  const std::string_view s_;
  const char* label_;
  Error* err_;
  size_t at_ = 0;
  Options on_;
  char last_letter_ = 0;            // the letter right before, lower case
  uint32_t held_ = 0, bounds_ = 0;  // atomic groups and possessive repeats, \b and \B up to here
  uint32_t word_behind_ = kNoLook, others_behind_ = kNoLook, any_behind_ = kNoLook;
};

// ---- the program, and its states ----------------------------------------------------------------------------------------

struct Op {
  enum Kind : uint8_t { kRead, kCondition, kEither, kMatch } kind;
  uint32_t set, next, other;  // kEither: next is tried first
};

struct Arc {  // of an atomic group's state; the first one of a state is where the group ends, the others read
  uint32_t set, to;
};
struct OwnSet {  // symbols with the answers of so many looks
  uint32_t bits;
  const std::vector<bool>* has;
};

class Compiler {
 public:
  Compiler(Parser* parsed, SplitTables* out) : p_(*parsed), out_(*out) {}

  Status run(uint32_t root) {
    if (!classes()) return p_.refuse("more than ", tok::kMaxClasses, " kinds of characters");
    uint32_t start = 0;
    for (const Parser::Look& look : p_.looks) {
      LINNET_TRY(atomic_groups(look.root, look.ahead));
      LINNET_TRY(write_all(look.root, &start));
      seen_.assign(program_.size(), 0);
      if (look.ahead) sort_places();
      const auto next = [&](const State& from, uint32_t symbol, State* to) {
        return look.ahead ? ahead(from, start, symbol, to) : behind(from, start, symbol, to);
      };
      if (!look_states(look.ahead, next)) return p_.refuse("more states than fit");
      bit_of_.push_back(bits_++);
    }
    LINNET_TRY(atomic_groups(root, true));
    LINNET_TRY(write_all(root, &start));
    if (!states(start, &out_.next)) return p_.refuse("more states than fit");
    out_.n_states = static_cast<uint32_t>(out_.next.size() / width());
    if (!reads_once()) return p_.refuse("what reads the same text again and again");
    out_.may_be_empty = p_.matches_nothing;
    return LINNET_OK;
  }

 private:
  // From the end to the beginning: each piece is written once what comes behind it is known.
  Status write_all(uint32_t root, uint32_t* start) {
    program_ = {{Op::kMatch, 0, 0, 0}};
    *start = write(root, 0);
    if (program_.size() > kMaxProgram) return p_.refuse("repeats of more than ", kMaxProgram, " steps");
    return LINNET_OK;
  }

  uint32_t add(Op op) {
    if (program_.size() <= kMaxProgram) program_.push_back(op);
    return static_cast<uint32_t>(program_.size() - 1);
  }

  uint32_t write(uint32_t id, uint32_t next) {
    const Node& n = p_.nodes[id];
    if (program_.size() > kMaxProgram) return next;
    switch (n.kind) {
      case Node::kSet:
        return add({Op::kRead, n.set, next, 0});
      case Node::kCondition:
        return add({Op::kCondition, n.set, next, 0});
      case Node::kSequence:
        for (size_t i = n.parts.size(); i-- > 0;) next = write(n.parts[i], next);
        return next;
      case Node::kChoice: {
        uint32_t rest = write(n.parts.back(), next);
        for (size_t i = n.parts.size() - 1; i-- > 0;) rest = either(write(n.parts[i], next), rest, false);
        return rest;
      }
      case Node::kAtomic:
        return write_atomic(atomic_.at(id), next);
      default:
        break;
    }
    uint32_t at = next;
    if (n.most == kForever) {
      const uint32_t loop = add({Op::kEither, 0, next, next});
      const uint32_t body = write(n.parts[0], loop);
      (n.lazy ? program_[loop].other : program_[loop].next) = body;
      at = loop;
    } else {
      for (uint32_t i = n.least; i < n.most && program_.size() <= kMaxProgram; ++i) at = either(write(n.parts[0], at), next, n.lazy);
    }
    for (uint32_t i = 0; i < n.least && program_.size() <= kMaxProgram; ++i) at = write(n.parts[0], at);
    return at;
  }
  uint32_t either(uint32_t first, uint32_t second, bool swapped) {
    return add({Op::kEither, 0, swapped ? second : first, swapped ? first : second});
  }

  // Each state is a place: it is left where its group's match ends, or reads on.
  uint32_t write_atomic(const std::vector<std::vector<Arc>>& states, uint32_t next) {
    std::vector<uint32_t> heads;
    for (size_t i = 0; i < states.size(); ++i) heads.push_back(either(next, next, false));
    for (size_t i = 0; i < states.size() && program_.size() <= kMaxProgram; ++i) {
      uint32_t rest = add({Op::kCondition, states[i][0].set, next, 0});
      for (size_t k = 1; k < states[i].size(); ++k)
        rest = either(add({Op::kRead, states[i][k].set, heads[states[i][k].to], 0}), rest, false);
      program_[heads[i]].next = program_[heads[i]].other = rest;
    }
    return heads[0];
  }

  // The first match of (?>A) from a place on is what A by itself, made deterministic, says last. So A is written as those states, which are
  // left where a match ends behind which none ends as the text goes on: there is one way through them, and trying it in any order is the
  // same. Whether none ends is often known from the next character; else a look ahead of its own answers it for a state.
  // Inner groups come first. last: nothing stands behind the node, so that nothing could make it give back, and it is as any group.
  Status atomic_groups(uint32_t id, bool last) {
    Node& n = p_.nodes[id];
    for (size_t i = 0; i < n.parts.size(); ++i) {
      const bool stays = n.kind == Node::kChoice || (n.kind == Node::kSequence && i + 1 == n.parts.size());
      LINNET_TRY(atomic_groups(n.parts[i], n.kind == Node::kAtomic || (last && stays)));
    }
    if (n.kind == Node::kAtomic && last) n.kind = Node::kSequence;
    return n.kind == Node::kAtomic ? atomic_group(id) : LINNET_OK;
  }

  Status atomic_group(uint32_t id) {
    uint32_t start = 0;
    LINNET_TRY(write_all(p_.nodes[id].parts[0], &start));
    std::vector<uint16_t> next;
    if (!states(start, &next) || !keep_last_matches(&next) || !merge_states(&next)) return p_.refuse("more states than fit");
    constexpr uint16_t kMatch = tok::kPatternMatch;
    const uint32_t bits = bits_, kinds = width(), n = static_cast<uint32_t>(next.size() / kinds);
    const auto row = [&](uint32_t state, uint32_t symbol) {  // of a symbol with the answers that came since
      return next[state * kinds + (symbol >> bits_ << bits | (symbol & ((1u << bits) - 1)))];
    };
    const auto unsure = [](uint16_t to) { return (to & kMatch) && to != kMatch; };
    std::vector<uint32_t> look(n, kNoLook);
    for (uint32_t state = 1; state < n; ++state) {
      if (std::none_of(next.begin() + state * kinds, next.begin() + (state + 1) * kinds, unsure)) continue;
      if (p_.looks.size() + ++own_looks_ > tok::kMaxLooks)
        return p_.refuse("more than ", tok::kMaxLooks, " looks ahead and behind, with those of atomic groups");
      // From behind a character: the states from which a match ends there or later.
      const auto leads = [&](const State& from, uint32_t symbol, State* to) {
        const auto on = [&](uint16_t there) { return std::binary_search(from.begin(), from.end(), uint32_t{there} & ~uint32_t{kMatch}); };
        to->clear();
        steps_ += n;
        for (uint32_t s = 1; s < n; ++s)
          if ((row(s, symbol) & kMatch) || on(row(s, symbol))) to->push_back(s);
        return on(row(state, symbol));
      };
      if (!look_states(true, leads)) return p_.refuse("more states than fit");
      look[state] = bits_++;
    }
    auto& written = atomic_[id];
    for (uint32_t state = 1; state < n; ++state) {
      std::map<uint32_t, std::vector<bool>> by_goal;
      by_goal[0].assign(width(), false);  // where the group ends, even if it does nowhere
      for (uint32_t symbol = 0; symbol < width(); ++symbol) {
        uint16_t to = row(state, symbol);
        if (unsure(to)) to = symbol >> look[state] & 1 ? to & ~kMatch : kMatch;
        if (to == 0) continue;
        std::vector<bool>& set = by_goal[to & ~kMatch];
        set.resize(width());
        set[symbol] = true;
      }
      written.emplace_back();
      for (auto& [goal, set] : by_goal) {
        const auto [at, is_new] = own_sets_.try_emplace(std::move(set), static_cast<uint32_t>(p_.sets.size() + own_sets_.size()));
        if (own_sets_.size() > kMaxSets) return p_.refuse("more than ", kMaxSets, " classes of atomic groups");
        if (is_new) own_set_.push_back({bits_, &at->first});
        written.back().push_back({at->second, goal - 1});
      }
    }
    return LINNET_OK;
  }

  // Takes out matches behind which another one is sure to end, and what reads on though none will. False: too many steps.
  bool keep_last_matches(std::vector<uint16_t>* next) {
    constexpr uint16_t kMatch = tok::kPatternMatch;
    const size_t kinds = width(), n = next->size() / kinds;
    std::vector<bool> may(n, false), will(n, true);
    will[0] = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t state = n; state-- > 1;) {
        const auto from = next->begin() + static_cast<ptrdiff_t>(state * kinds), to = from + static_cast<ptrdiff_t>(kinds);
        const bool can = std::any_of(from, to, [&](uint16_t t) { return (t & kMatch) || may[t]; });
        const bool must = std::all_of(from, to, [&](uint16_t t) { return (t & kMatch) || will[t]; });
        changed = changed || can != may[state] || must != will[state];
        may[state] = can, will[state] = must;
      }
      if ((steps_ += next->size()) > kMaxSteps) return false;
    }
    for (uint16_t& t : *next) {
      const uint16_t to = t & ~kMatch;
      t = !may[to] ? t & kMatch : will[to] ? to : t;
    }
    return true;
  }
  // States that go on alike become one; the first two stay the first two. False: too many steps.
  bool merge_states(std::vector<uint16_t>* next) {
    constexpr uint16_t kMatch = tok::kPatternMatch;
    const size_t kinds = width(), n = next->size() / kinds;
    std::vector<uint16_t> group(n, 1);
    group[0] = 0;
    for (size_t before = 0, groups = 2; before != groups;) {
      before = groups;
      std::map<std::vector<uint16_t>, uint16_t> known;
      std::vector<uint16_t> now(n, 0), key;
      for (size_t state = 1; state < n; ++state) {
        key.assign(1, group[state]);
        for (size_t k = state * kinds; k < (state + 1) * kinds; ++k)
          key.push_back(static_cast<uint16_t>(group[(*next)[k] & ~kMatch] | ((*next)[k] & kMatch)));
        now[state] = known.try_emplace(key, static_cast<uint16_t>(known.size() + 1)).first->second;
      }
      group = std::move(now);
      groups = known.size() + 1;
      if ((steps_ += next->size()) > kMaxSteps) return false;
    }
    std::vector<uint16_t> merged(kinds, 0);
    for (size_t state = 1; state < n; ++state)
      if (group[state] * kinds == merged.size())
        for (size_t k = state * kinds; k < (state + 1) * kinds; ++k)
          merged.push_back(static_cast<uint16_t>(group[(*next)[k] & ~kMatch] | ((*next)[k] & kMatch)));
    *next = std::move(merged);
    return true;
  }

  // Code points that no set tells apart are of one class.
  bool classes() {
    std::vector<uint32_t> cuts = {0};
    for (const CharSet& s : p_.sets)
      for (const CharRange& r : s.ranges) {
        cuts.push_back(r.first);
        cuts.push_back(r.last + 1);
      }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.back() == kLastCode + 1) cuts.pop_back();
    std::map<std::vector<bool>, uint32_t> known;
    std::vector<uint8_t> all(kLastCode + 1);
    for (size_t i = 0; i < cuts.size(); ++i) {
      std::vector<bool> in;
      for (const CharSet& s : p_.sets) in.push_back(s.has(cuts[i]));
      const auto [at, is_new] = known.try_emplace(in, static_cast<uint32_t>(known.size()));
      if (is_new) in_set_.push_back(std::move(in));
      if (known.size() > tok::kMaxClasses) return false;
      const uint32_t end = i + 1 < cuts.size() ? cuts[i + 1] : kLastCode + 1;
      std::fill(all.begin() + cuts[i], all.begin() + end, static_cast<uint8_t>(at->second));
    }
    std::vector<bool> end;
    for (const CharSet& s : p_.sets) end.push_back(s.end);
    in_set_.push_back(std::move(end));
    out_.n_classes = static_cast<uint32_t>(known.size());
    class_blocks(all, &out_);
    return true;
  }

  using State = std::vector<uint32_t>;
  uint32_t width() const { return (out_.n_classes + 1) << bits_; }
  // A symbol is a class, or the end, and the answers of the looks that come before.
  bool in(uint32_t symbol, uint32_t set) const {
    if (set >= p_.sets.size()) {
      const OwnSet& own = own_set_[set - p_.sets.size()];
      return (*own.has)[symbol >> bits_ << own.bits | (symbol & ((1u << own.bits) - 1))];
    }
    const CharSet& s = p_.sets[set];
    return s.look == kNoLook ? in_set_[symbol >> bits_][set] : (symbol >> bit_of_[s.look] & 1) == s.yes;
  }
  bool reads(uint32_t symbol, const Op& op) const { return op.kind == Op::kRead && symbol >> bits_ < out_.n_classes && in(symbol, op.set); }

  // Places that are possible behind a character, where a reading may begin at any place. True: one ends in front of the character.
  bool behind(const State& from, uint32_t start, uint32_t symbol, State* out) {
    out->clear();
    ++mark_;
    todo_ = from;
    todo_.push_back(start);
    bool found = false;
    while (!todo_.empty()) {
      const uint32_t at = todo_.back();
      todo_.pop_back();
      ++steps_;
      if (seen_[at] == mark_) continue;
      seen_[at] = mark_;
      const Op& op = program_[at];
      found = found || op.kind == Op::kMatch;
      if (op.kind == Op::kEither) todo_.insert(todo_.end(), {op.next, op.other});
      if (op.kind == Op::kCondition && in(symbol, op.set)) todo_.push_back(op.next);
      if (reads(symbol, op)) out->push_back(op.next);
    }
    std::sort(out->begin(), out->end());
    out->erase(std::unique(out->begin(), out->end()), out->end());
    return found;
  }
  // Places from which the rest of the text, with the character in front of it, leads to the end; of those that stand behind a reading.
  bool ahead(const State& from, uint32_t start, uint32_t symbol, State* out) {
    out->clear();
    leads_.assign(program_.size(), false);
    steps_ += program_.size();
    for (const uint32_t at : order_) {
      const Op& op = program_[at];
      if (op.kind == Op::kMatch)
        leads_[at] = true;
      else if (op.kind == Op::kEither)
        leads_[at] = leads_[op.next] || leads_[op.other];
      else if (op.kind == Op::kCondition)
        leads_[at] = in(symbol, op.set) && leads_[op.next];
      else
        leads_[at] = reads(symbol, op) && std::binary_search(from.begin(), from.end(), op.next);
    }
    for (const uint32_t at : after_reads_)
      if (leads_[at]) out->push_back(at);
    return leads_[start];
  }
  // The places, each behind those that its value follows from without reading. What is repeated reads, so there is no circle.
  void sort_places() {
    std::vector<uint8_t> state(program_.size(), 0);
    order_.clear();
    after_reads_.clear();
    for (uint32_t root = 0; root < program_.size(); ++root) {
      if (program_[root].kind == Op::kRead) after_reads_.push_back(program_[root].next);
      todo_ = {root};
      while (!todo_.empty()) {
        const uint32_t at = todo_.back();
        const Op& op = program_[at];
        if (state[at]++) {
          if (state[at] == 2) order_.push_back(at);
          state[at] = 2;
          todo_.pop_back();
          continue;
        }
        if (op.kind == Op::kEither && !state[op.other]) todo_.push_back(op.other);
        if ((op.kind == Op::kEither || op.kind == Op::kCondition) && !state[op.next]) todo_.push_back(op.next);
      }
    }
    std::sort(after_reads_.begin(), after_reads_.end());
    after_reads_.erase(std::unique(after_reads_.begin(), after_reads_.end()), after_reads_.end());
  }

  // next(state, symbol, &to): the answer in front of the symbol.
  template <class Next>
  bool look_states(bool is_ahead, const Next& next) {
    SplitTables::Look look{is_ahead};
    std::map<State, uint32_t> known = {{{}, 0}};
    std::vector<State> all = {{}};
    State to;
    for (size_t i = 0; i < all.size(); ++i) {
      if ((i + 1) * width() > kMaxTable) return false;
      for (uint32_t symbol = 0; symbol < width(); ++symbol) {
        if (steps_ > kMaxSteps) return false;
        const bool yes = next(all[i], symbol, &to);
        const auto [at, is_new] = known.try_emplace(to, static_cast<uint32_t>(all.size()));
        if (is_new) all.push_back(to);
        if (at->second >= tok::kMaxStates) return false;
        look.next.push_back(static_cast<uint16_t>(at->second | (yes ? tok::kPatternMatch : 0)));
      }
    }
    look.n_states = static_cast<uint32_t>(all.size());
    out_.looks.push_back(std::move(look));
    return true;
  }

  // What is possible behind a character of the class. True: a match ends in front of it, and nothing that would be tried after that counts.
  bool step(const State& from, uint32_t symbol, State* out) {
    out->clear();
    ++mark_;
    std::vector<uint32_t>& todo = todo_;
    todo.assign(from.rbegin(), from.rend());
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      ++steps_;
      if (seen_[at] == mark_) continue;
      seen_[at] = mark_;
      const Op& op = program_[at];
      if (op.kind == Op::kMatch) return true;
      if (op.kind == Op::kEither) {
        todo.push_back(op.other);
        todo.push_back(op.next);
      } else if (op.kind == Op::kCondition) {
        if (in(symbol, op.set)) todo.push_back(op.next);
      } else if (taken_[op.next] != mark_ && reads(symbol, op)) {
        taken_[op.next] = mark_;
        out->push_back(op.next);
      }
    }
    return false;
  }

  // The state behind each symbol, for each state: 0 is none, kPatternStart the first one.
  bool states(uint32_t start, std::vector<uint16_t>* next) {
    seen_.assign(program_.size(), 0);
    taken_.assign(program_.size(), 0);
    std::map<State, uint32_t> known = {{{}, 0}, {{start}, tok::kPatternStart}};
    std::vector<State> all = {{}, {start}};
    next->assign(width(), 0);
    State to;
    for (size_t i = 1; i < all.size(); ++i) {
      if (all.size() > tok::kMaxStates || (i + 1) * width() > kMaxTable || steps_ > kMaxSteps) return false;
      for (uint32_t symbol = 0; symbol < width(); ++symbol) {
        const bool match = step(all[i], symbol, &to);
        const auto [at, is_new] = known.try_emplace(to, static_cast<uint32_t>(all.size()));
        if (is_new) all.push_back(to);
        if (at->second > tok::kMaxStates) return false;
        next->push_back(static_cast<uint16_t>(at->second | (match ? tok::kPatternMatch : 0)));
      }
    }
    return true;
  }

  // A match is looked for from where the one before ended, or one character on where there was none. What was read beyond that is read
  // again. That is linear unless two readers, the second of which began behind the first, can both go on for ever without a match and then
  // end without one. Where they go on in one and the same state, tok::PatternMemory keeps it from being read twice.
  bool reads_once() {
    const uint32_t n = out_.n_states;
    const auto to = [this](uint64_t state, uint32_t kind) { return out_.next[static_cast<size_t>(state) * width() + kind]; };
    const uint32_t end = out_.n_classes << bits_;  // the end of the text from here on
    // Whether reading may end without a further match.
    std::vector<bool> fails(n);
    uint32_t rounds = 0;
    for (bool changed = true; changed;) {
      changed = false;
      if (++rounds > 100) return false;
      for (uint32_t state = n - 1; state > 0; --state)
        for (uint32_t kind = 0; kind < width() && !fails[state]; ++kind) {
          const uint32_t next = to(state, kind);
          fails[state] = next == 0 || (!(next & tok::kPatternMatch) && (kind >= end || fails[next]));
          changed = changed || fails[state];
        }
    }
    enum : uint8_t { kNew, kOnTheWay, kDone };
    std::unordered_map<uint64_t, uint8_t> pairs;
    std::vector<uint64_t> todo;
    const auto reach = [&](uint32_t first, uint32_t second) {
      first &= ~uint32_t{tok::kPatternMatch}, second &= ~uint32_t{tok::kPatternMatch};
      const uint64_t pair = uint64_t{first} * n + second;
      if (fails[first] && second && pairs.try_emplace(pair, kNew).second) todo.push_back(pair);
    };
    for (uint32_t state = 1; state < n; ++state) reach(state, tok::kPatternStart);
    while (!todo.empty() && pairs.size() * width() <= kMaxPairs) {
      const uint64_t pair = todo.back();
      todo.pop_back();
      for (uint32_t kind = 0; kind < end; ++kind)
        if (!(to(pair / n, kind) & tok::kPatternMatch)) reach(to(pair / n, kind), to(pair % n, kind));
    }
    if (pairs.size() * width() > kMaxPairs) return false;
    std::vector<std::pair<uint64_t, uint32_t>> way;  // a pair, and the kind to go on with
    for (auto& [from, mark] : pairs) {
      if (mark == kNew) way.push_back({from, 0});
      while (!way.empty()) {
        const auto [pair, kind] = way.back();
        if (kind == 0) pairs[pair] = kOnTheWay;
        if (kind == end) {
          pairs[pair] = kDone;
          way.pop_back();
          continue;
        }
        ++way.back().second;
        const uint32_t first = to(pair / n, kind), second = to(pair % n, kind);
        if (((first | second) & tok::kPatternMatch) || !fails[first] || !fails[second]) continue;
        const uint64_t next = uint64_t{first} * n + second;
        if (next == pair && first == second) continue;
        const uint8_t seen = pairs[next];
        if (seen == kOnTheWay) return false;
        if (seen == kNew) way.push_back({next, 0});
      }
    }
    return true;
  }

  Parser& p_;
  SplitTables& out_;
  std::vector<Op> program_;
  std::vector<std::vector<bool>> in_set_;  // by class, the last one the text's end
  std::vector<uint32_t> seen_, taken_, todo_;
  std::vector<uint32_t> order_, after_reads_;  // places for ahead()
  std::vector<bool> leads_;
  uint32_t mark_ = 0, bits_ = 0;  // bits_: looks whose answers are read
  std::vector<uint32_t> bit_of_;  // of a pattern's look; those of atomic groups stand between
  size_t own_looks_ = 0;
  std::map<uint32_t, std::vector<std::vector<Arc>>> atomic_;  // by node, for each state
  std::map<std::vector<bool>, uint32_t> own_sets_;            // of symbols; they are numbered behind the parser's
  std::vector<OwnSet> own_set_;
  size_t steps_ = 0;
};

}  // namespace

Status compile_split(std::string_view pattern, const char* label, SplitTables* out, Error* err, bool meta) {
  Parser parser(pattern, label, err);
  uint32_t root = 0;
  out->text = pattern;
  LINNET_TRY(parser.run(&root));
  for (CharSet& set : parser.sets) {
    if (!meta || set.look != kNoLook) continue;
    const bool has = set.has(0x2581);
    if (has == set.has(' ')) continue;
    CharSet space;
    space.add(' ', ' ');
    if (has)
      set.add(' ', ' ');
    else
      set.ranges = both(set, inverse(space)).ranges;
    set.sort();
  }
  return Compiler(&parser, out).run(root);
}

// A state for each script; what is of any stays in it, and is a gap in front of the first.
void script_tables(SplitTables* out, bool meta) {
  const auto script = [](std::string_view name) {
    return static_cast<uint8_t>(std::find(std::begin(kScripts), std::end(kScripts), name) - std::begin(kScripts));
  };
  const uint8_t any = script("unknown"), han = script("han"), hiragana = script("hiragana"), katakana = script("katakana");
  std::vector<uint8_t> all(kLastCode + 1);
  for (size_t i = 0; i < std::size(kProperties); ++i) {
    const uint32_t end = i + 1 < std::size(kProperties) ? kProperties[i + 1].first : kLastCode + 1;
    const uint8_t of = kProperties[i].script;
    std::fill(all.begin() + kProperties[i].first, all.begin() + end, of == hiragana || of == katakana ? han : of);
  }
  for (const CharRange& r : kAnyScript) std::fill(all.begin() + r.first, all.begin() + r.last + 1, any);
  for (const auto& [code, like] : kOddScripts) all[code] = all[like];
  if (meta) all[' '] = all[0x2581];
  std::vector<uint8_t> number(std::size(kScripts), UINT8_MAX);
  number[any] = 0;
  uint8_t n = 1;
  for (uint8_t& c : all) {
    if (number[c] == UINT8_MAX) number[c] = n++;
    c = number[c];
  }
  class_blocks(all, out);
  out->mode = tok::kPatternDropGaps;
  out->n_classes = n;
  out->n_states = n + 1u;
  const auto inside = [](uint32_t kind) { return static_cast<uint16_t>(tok::kPatternStart + kind); };
  for (uint32_t state = 0; state < out->n_states; ++state)
    for (uint32_t kind = 0; kind <= n; ++kind) {
      const bool is_script = kind > 0 && kind < n;
      uint16_t next = state == tok::kPatternStart && is_script ? inside(kind) : uint16_t{0};
      if (state > tok::kPatternStart) next = kind == 0 || inside(kind) == state ? static_cast<uint16_t>(state) : tok::kPatternMatch;
      out->next.push_back(next);
    }
}

std::string literal_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const uint32_t code = static_cast<uint8_t>(c);
    if (code < 0x80 && !is_letter(code) && !(code >= '0' && code <= '9')) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace linnet::convert
