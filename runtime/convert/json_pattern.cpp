// Patterns of JSON Schema, which are ECMA-262's: the part of them that is regular and needs no look around.
#include "automaton.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMaxGroups = 32, kMaxRepeat = 1000;

class PatternReader {
 public:
  PatternReader(Automaton* a, std::string_view pattern, const WriteChar& write, bool whole, String* why)
      : a_(*a), p_(pattern), write_(write), whole_(whole), why_(*why) {}

  // Alternatives with their anchors; a pattern without them is found anywhere.
  void all(uint32_t from, uint32_t to) {
    do {
      uint32_t at = a_.node();
      a_.skip(from, at);
      if (peek() == '^')
        ++at_;
      else if (!whole_)
        at = anything(at);
      at = sequence(at, true);
      if (peek() == '$')
        ++at_;
      else if (!whole_)
        at = anything(at);
      a_.skip(at, to);
      if (!done() && peek() != '|') refuse(peek() == ')' ? "a ')' that closes nothing" : "'$' before the end");
    } while (next_alternative());
  }

 private:
  bool done() const { return at_ == p_.size() || !why_.empty() || a_.full(); }
  char peek() const { return at_ < p_.size() ? p_[at_] : '\0'; }
  bool next_alternative() {
    if (done() || peek() != '|') return false;
    ++at_;
    return true;
  }
  void refuse(const String& what) {
    if (why_.empty()) why_ = what;
  }

  uint32_t anything(uint32_t from) {
    const uint32_t loop = a_.node();
    a_.skip(from, loop);
    write_(loop, loop, {{0, 0x10FFFF}});
    return loop;
  }

  uint32_t sequence(uint32_t from, bool top) {
    while (!done() && peek() != '|' && peek() != ')' && !(top && peek() == '$')) from = repeated(from);
    return from;
  }

  uint32_t repeated(uint32_t from) {
    const size_t begin = at_;
    uint32_t first = a_.node();
    a_.skip(from, first);
    uint32_t end = atom(first);
    uint32_t least = 1, most = 1;
    if (done() || !quantifier(&least, &most)) return end;
    const size_t behind = at_;
    const auto again = [&](uint32_t node) {
      at_ = begin;
      const uint32_t to = atom(node);
      at_ = behind;
      return to;
    };
    // The first is there already: it is passed by where none need be.
    const uint32_t out = a_.node();
    if (most == 0) {
      a_.skip(from, out);
      return out;
    }
    for (uint32_t i = 1; i < least && !done_of_repeat(); ++i) end = again(end);
    if (least == 0) a_.skip(from, out);
    if (most == kMaxRepeat + 1) {
      const uint32_t loop = a_.node();
      a_.skip(end, loop);
      a_.skip(again(loop), loop);
      end = loop;
    } else {
      for (uint32_t i = least ? least : 1; i < most && !done_of_repeat(); ++i) {
        a_.skip(end, out);
        end = again(end);
      }
    }
    a_.skip(end, out);
    return out;
  }
  bool done_of_repeat() const { return !why_.empty() || a_.full(); }

  bool quantifier(uint32_t* least, uint32_t* most) {
    switch (peek()) {
      case '*':
        *least = 0, *most = kMaxRepeat + 1;
        break;
      case '+':
        *least = 1, *most = kMaxRepeat + 1;
        break;
      case '?':
        *least = 0, *most = 1;
        break;
      case '{': {
        ++at_;
        if (!count(least)) return false;
        *most = *least;
        if (peek() == ',') {
          ++at_;
          if (peek() == '}')
            *most = kMaxRepeat + 1;
          else if (!count(most))
            return false;
        }
        if (peek() != '}' || *most < *least) return refuse("a '{' that is no count"), false;
        break;
      }
      default:
        return false;
    }
    ++at_;
    if (!done() && (peek() == '?' || peek() == '+' || peek() == '*' || peek() == '{')) refuse("a quantifier behind another");
    return true;
  }
  bool count(uint32_t* out) {
    const size_t begin = at_;
    for (*out = 0; peek() >= '0' && peek() <= '9' && *out <= kMaxRepeat; ++at_) *out = *out * 10 + static_cast<uint32_t>(peek() - '0');
    if (at_ > begin && *out <= kMaxRepeat) return true;
    refuse(*out > kMaxRepeat ? "a count above 1000" : "a '{' that is no count");
    return false;
  }

  uint32_t one_of(uint32_t from, const Vector<CharRange>& ranges) {
    const uint32_t to = a_.node();
    write_(from, to, ranges);
    return to;
  }

  uint32_t atom(uint32_t from) {
    const char c = peek();
    if (c == '(') return group(from);
    if (c == '[') return one_of(from, klass());
    if (c == '.') return ++at_, one_of(from, all_but({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}));
    if (c == '\\') return one_of(from, escape(false));
    if (c == '*' || c == '+' || c == '?' || c == '{' || c == '}' || c == ']' || c == '^' || c == '$') {
      refuse(String("'") + c + "' where it stands");
      return from;
    }
    const uint32_t character = next();
    return one_of(from, {{character, character}});
  }

  uint32_t group(uint32_t from) {
    if (++depth_ > kMaxGroups) refuse("groups more than 32 deep");
    ++at_;
    if (peek() == '?') {
      if (p_.substr(at_, 2) != "?:") return refuse("a group that begins with '(?'"), from;
      at_ += 2;
    }
    const uint32_t to = a_.node();
    do {
      const uint32_t begin = a_.node();
      a_.skip(from, begin);
      a_.skip(sequence(begin, false), to);
    } while (next_alternative());
    if (peek() == ')')
      ++at_;
    else
      refuse("a '(' that is not closed");
    --depth_;
    return to;
  }

  // A character of the pattern, which is UTF-8 that was checked.
  uint32_t next() {
    const auto byte = [this] { return at_ < p_.size() ? static_cast<uint8_t>(p_[at_++]) : uint8_t{0}; };
    const uint32_t lead = byte();
    if (lead < 0x80) return lead;
    uint32_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3, c = lead & (0x3Fu >> more);
    for (; more; --more) c = c << 6 | (byte() & 0x3Fu);
    return c;
  }

  Vector<CharRange> escape(bool in_class) {
    ++at_;
    const char c = peek();
    const auto hex = [&](size_t digits) -> Vector<CharRange> {
      uint32_t v = 0;
      for (size_t i = 0; i < digits; ++i, ++at_) {
        const char d = peek();
        const uint32_t digit = d >= '0' && d <= '9'   ? static_cast<uint32_t>(d - '0')
                               : d >= 'a' && d <= 'f' ? static_cast<uint32_t>(d - 'a' + 10)
                               : d >= 'A' && d <= 'F' ? static_cast<uint32_t>(d - 'A' + 10)
                                                      : 16;
        if (digit == 16) return refuse("an escape without its hexadecimal digits"), Vector<CharRange>{};
        v = v * 16 + digit;
      }
      if (v >= 0xD800 && v <= 0xDFFF) refuse("half of a surrogate pair");
      return {{v, v}};
    };
    const Vector<CharRange> kDigits = {{'0', '9'}}, kWords = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
                            kSpaces = {{9, 13},          {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                                       {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    ++at_;
    switch (c) {
      case 'd':
        return kDigits;
      case 'D':
        return all_but(kDigits);
      case 'w':
        return kWords;
      case 'W':
        return all_but(kWords);
      case 's':
        return kSpaces;
      case 'S':
        return all_but(kSpaces);
      case 't':
        return {{'\t', '\t'}};
      case 'n':
        return {{'\n', '\n'}};
      case 'v':
        return {{'\v', '\v'}};
      case 'f':
        return {{'\f', '\f'}};
      case 'r':
        return {{'\r', '\r'}};
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      default:
        break;
    }
    const uint32_t u = static_cast<uint8_t>(c);
    if (c != '\0' && std::string_view("^$\\.*+?()[]{}|/-").find(c) != std::string_view::npos && (in_class || c != '-')) return {{u, u}};
    refuse(c ? String("'\\") + (u < 0x80 ? c : '?') + "'" : "a '\\' at the end");
    return {};
  }

  Vector<CharRange> klass() {
    ++at_;
    const bool not_these = peek() == '^';
    at_ += not_these;
    Vector<CharRange> ranges;
    while (!done() && peek() != ']') {
      const auto item = [&] {
        if (peek() == '\\') return escape(true);
        const uint32_t c = next();
        return Vector<CharRange>{{c, c}};
      };
      Vector<CharRange> one = item();
      if (peek() == '-' && at_ + 1 < p_.size() && p_[at_ + 1] != ']') {
        ++at_;
        const Vector<CharRange> other = item();
        const bool single = one.size() == 1 && other.size() == 1 && one[0].first == one[0].last && other[0].first == other[0].last;
        if (!single || other[0].first < one[0].first) return refuse("a range of characters that is none"), ranges;
        one[0].last = other[0].first;
      }
      ranges.insert(ranges.end(), one.begin(), one.end());
    }
    if (peek() == ']')
      ++at_;
    else
      refuse("a '[' that is not closed");
    return not_these ? all_but(ranges) : merged(ranges);
  }

  Automaton& a_;
  const std::string_view p_;
  const WriteChar& write_;
  const bool whole_;
  String& why_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace

void pattern_chars(Automaton* a, uint32_t from, uint32_t to, std::string_view pattern, const WriteChar& write, bool whole, String* why) {
  PatternReader(a, pattern, write, whole, why).all(from, to);
}

}  // namespace linnet::convert
