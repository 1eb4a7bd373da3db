// Automata over bytes: built as nodes and arcs, some of which read nothing, and made deterministic for the core
// (runtime/sampling/grammar.h).
#pragma once
#include <cstdint>
#include <string_view>

#include "../../platform/status.h"
#include "grammar_memory.h"

namespace linnet::convert {

inline constexpr uint32_t kNowhere = 0xFFFFFFFF;  // no node

// Characters from first to last.
struct CharRange {
  uint32_t first, last;
};

// Pieces of an automaton lead from one node to another. They add no arc into `from` and none out of the node that they return or end in,
// unless both are given, so that what begins or ends in the same node are alternatives.
class Automaton {
 public:
  static constexpr uint32_t kMaxNodes = 1u << 20;

  uint32_t node();  // the last one again when there are too many
  uint32_t n_nodes() const { return static_cast<uint32_t>(heads_.size()); }
  bool full() const { return heads_.size() >= kMaxNodes || arcs_.size() >= 4 * size_t{kMaxNodes}; }

  // From here on bytes are a mark's, for which special tokens may stand (runtime/sampling/grammar.h), or are not.
  void own(bool yes) { own_ = yes; }
  void skip(uint32_t from, uint32_t to);                           // reads nothing
  void bytes(uint32_t from, uint32_t to, uint8_t lo, uint8_t hi);  // one byte
  uint32_t text(uint32_t from, std::string_view s);
  // Texts of the same length between two others, byte by byte, where the later bytes may be least .. most.
  void between(uint32_t from, uint32_t to, std::string_view lo, std::string_view hi, uint8_t least, uint8_t most);
  // One character in UTF-8.
  void utf8(uint32_t from, uint32_t to, CharRange range);
  // One character inside a JSON string: in UTF-8 or in any of its escapes; and one of these, as it is or, where it must be escaped, in the
  // shortest way.
  void json_char(uint32_t from, uint32_t to);
  void json_escape(uint32_t from, uint32_t to);  // the rest of an escape, behind its backslash
  void json_char_of(uint32_t from, uint32_t to, const Vector<CharRange>& ranges);

  // One character of `ranges` as Python writes it between such quotes.
  void python_char(uint32_t from, uint32_t to, char quote, const Vector<CharRange>& ranges);

  struct Mark {
    String text;
    uint32_t to;            // where it leads; kNowhere: it may not come
    bool in_front = false;  // it counts at the beginning alone
  };
  // A rule of the grammar: what leads from `start` to `end`, which nothing but calls of it leads into. It may be called before its inside
  // is built, and from there too. name: for errors.
  uint32_t rule(uint32_t start, uint32_t end, String name);
  // What the rule reads, `least` to `most` times (most 0: without end), counted while a text is read: by a stack, not by states.
  void call(uint32_t from, uint32_t to, uint32_t rule, uint32_t least = 1, uint32_t most = 1);

  // A text up to the first of the marks, which is read. White space in a mark stands for any, also none, which may be between tags as well.
  // end: where the text may end without a mark, or kNowhere. json: inside of a JSON text, of which escapes are no part of marks.
  void until(uint32_t from, const Vector<Mark>& marks, uint32_t end, bool json = false);

  // Whether these bytes lead from one node to the other, without calls; takes as many steps as there are arcs for each of them, whatever it
  // looks for.
  bool reads(uint32_t from, uint32_t to, std::string_view s) const;

  // What was added since there were `from` nodes stands at this place. The innermost one with half of all is where an automaton is too
  // large.
  void part(uint32_t from, const String& place);
  const char* largest() const;  // "" = there are no parts

  struct Start {
    String mark;  // that the prompt ends with
    uint32_t node;
  };
  // The blob of what leads from `start` to `end`; starts: where else a text may begin, at most kGrammarMaxStarts. LINNET_UNSUPPORTED: too
  // many states, or a rule that begins with itself. LINNET_BAD_FILE: nothing leads there.
  Status compile(uint32_t start, uint32_t end, const Vector<Start>& starts, const char* name, Vector<uint8_t>* out, Error* err) const;

 private:
  struct Arc {
    uint32_t to, next;  // next arc out of the same node
    uint8_t lo, hi;
    bool reads, own;
    bool calls = false;  // `to` is one of calls_
  };
  struct Rule {
    uint32_t start, end;
    String name;
    bool empty = false;  // it may read nothing
  };
  struct Call {
    uint32_t to, rule, least, most;
  };
  void find_empty(Vector<Rule>* rules) const;
  friend class Determiner;
  void add(uint32_t from, const Arc& arc);
  Vector<uint32_t> heads_;  // first arc out of each node
  Vector<Arc> arcs_;
  Map<std::pair<uint32_t, String>, uint32_t> rests_;  // between: where it leads, the bytes of the rest; from which node
  Vector<Rule> rules_;
  Vector<Call> calls_;
  struct Part {
    uint32_t n_nodes;
    String place;
  };
  Vector<Part> parts_;  // those that may have half of all: the inner ones come first
  bool own_ = false;
};

// Ranges in order, without overlaps; and all other characters.
Vector<CharRange> merged(Vector<CharRange> ranges);
Vector<CharRange> all_but(const Vector<CharRange>& ranges);

// The strings that a pattern is found in, from `from` to `to`, without the quotes; write: one character of them. whole: the strings that it
// is, from one end to the other. *why: what is not supported in the pattern, "" = nothing.
using WriteChar = FunctionRef<void(uint32_t from, uint32_t to, const Vector<CharRange>& ranges)>;
void pattern_chars(Automaton* a, uint32_t from, uint32_t to, std::string_view pattern, const WriteChar& write, bool whole, String* why);

}  // namespace linnet::convert
