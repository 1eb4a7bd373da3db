// JSON Schema as automata: what obeys a schema, in one of several notations. What is not known is refused, so that nothing which comes out
// breaks a rule that was not understood.
#pragma once
#include "../include/linnet_convert.h"
#include "automaton.h"
#include "json_numbers.h"
#include "schema_merge.h"
#include "text_set.h"

namespace linnet::convert {

// How values are written.
enum class Notation : uint8_t {
  kCompact,  // JSON without white space
  kJson,     // JSON with white space between its tokens, or none
  kPython,
  kGemma,  // JSON with bare keys, and texts between marks
  kText,   // texts as they are, other values as kJson, and the mark that ends them
  kTags,   // the same, but objects and lists are tags: <key>value</key>
};

// What a format of texts is written as, a pattern; nullptr: it is not known.
const char* format_pattern(std::string_view format);

class SchemaCompiler {
 public:
  static constexpr int64_t kUnrolled = 64;  // times that something is repeated by states; beyond that it is counted

  // formats: unknown ones are remarks.
  SchemaCompiler(const char* name, Error* err, bool formats = false);

  // spaced: with white space as models write it.
  Status schema_alone(const Value& schema, bool spaced, Vector<uint8_t>* out);
  // A call of one of the tools, {"name":"...","arguments":{...}}, or a text.
  Status tools(const Value& list, bool or_text, bool spaced, Vector<uint8_t>* out);
  // What rules are, before the automaton is compiled.
  bool finish();
  // Values that hold themselves are nested no deeper than the parser of answers reads: rules are one for each depth.
  void bound_nesting() { bounded_ = true; }

  struct Tool {
    String name, place;
    const Value* parameters;  // nullptr: it takes none
  };
  bool read_tools(const Value& list, Vector<Tool>* out);
  // All that a tool takes, as one value.
  bool arguments(uint32_t from, uint32_t to, const Tool& tool, Notation notation);
  // The properties of an object, in their order, optional ones or not. lead: what stands before the first one, or before another. others:
  // members that are not named, whose keys are texts of a set (nullptr: there are none).
  using Lead = FunctionRef<uint32_t(uint32_t from, bool first)>;
  using Property = FunctionRef<bool(uint32_t from, uint32_t to, const String& key, const Value& schema, const String& place)>;
  using Others = FunctionRef<bool(uint32_t from, uint32_t to, const TextSet& keys, const Value& schema, const String& place)>;
  bool properties(uint32_t from, uint32_t to, const Value& schema, const String& place, bool some_at_least, const Lead& lead,
                  const Property& one, const Others& others);
  // <key>value</key>, behind the '<' that the mark of kTags ends with.
  bool tag(uint32_t from, uint32_t to, const String& key, const Value& schema, const String& place);
  bool value(uint32_t from, uint32_t to, const Value& schema, const String& place);
  // Every keyword is known and has something to say here.
  bool check_keywords(const Value& schema, const String& place);
  // How values are written from here on. mark: around texts of kGemma; that ends values of kText; that begins tags of kTags. never: marks
  // that no text holds, beside that one, of kJson inside of kText and kTags too. allowed: types that values of kText and kTags may have,
  // JSON Schema's.
  struct Style {
    Notation notation = Notation::kCompact;
    String mark = {};
    Vector<String> never = {};
    uint32_t allowed = ~0u;
    bool lines = false;  // a line end in front of kText's mark is none of the text's
  };
  void set_style(Style style) { style_ = std::move(style); }
  const Style& style() const { return style_; }
  // White space, or none; a blank, or none.
  uint32_t gap(uint32_t from);
  uint32_t blank(uint32_t from);
  // What the types of values of this schema are to the parser of answers, which sees them as text; 0: nothing that it could tell apart.
  uint32_t text_types(const Value& schema);

  Automaton& automaton() { return a_; }
  void set_root(const Value* root);  // in which references are looked up
  Status status() const { return status_; }

  template <class... Parts>
  bool refuse(const String& place, const Parts&... parts) {
    status_ = fail(err_, LINNET_UNSUPPORTED, name_, ": ", place, ": ", parts...);
    return false;
  }
  template <class... Parts>
  bool bad(const String& place, const Parts&... parts) {
    status_ = fail(err_, LINNET_BAD_FILE, name_, ": ", place, ": ", parts...);
    return false;
  }
  bool room();

 private:
  bool read_tool(const Value& one, const String& place, Vector<Tool>* out);
  // What a $ref stands for; nullptr after refusing.
  const Value* target(const Value& ref, const String& place);
  static uint32_t types(const Value& schema);
  bool check_types(const Value& schema, const String& place);
  bool checked_value(uint32_t from, uint32_t to, const Value& schema, const String& place);
  bool known_value(uint32_t from, uint32_t to, const Value& schema, const String& place);
  bool of_types(uint32_t from, uint32_t to, const Value& schema, uint32_t set, const String& place);
  bool reference(uint32_t from, uint32_t to, const Value& ref, const String& place);
  // The rule of a schema, or without one of any value, in the style at hand; one_char: of a text's character.
  uint32_t rule_of(const Value* schema, const String& place, bool one_char = false);
  bool is_recursive(const Value& target);
  bool any(uint32_t from, uint32_t to);
  // The texts that a schema of texts leaves, of characters that are written as they are.
  bool plain_texts(const Value& schema, const Vector<CharRange>& plain, const String& place, TextSet* out);
  bool other_keys(const Value& schema, const Value& pattern, const Vector<String>& named, const String& place, TextSet* out);
  Vector<CharRange> plain_characters() const;
  bool constant(uint32_t from, uint32_t to, const Value& v, const String& place);
  bool no_mark(const String& text, const String& place);
  bool literal(const Value& v, const String& place, String* out);
  bool alternatives(uint32_t from, uint32_t to, const Value& list, bool only_one, const String& place);
  // What a schema says, behind its references. They were followed before without going round.
  const Value& resolved(const Value& schema);
  // No value obeys both, as far as types, values and required properties tell. Both were compiled, and left bounds the work.
  bool apart(const Value& a, const Value& b, uint32_t* left);
  bool apart_here(const Value& a, const Value& b, uint32_t* left);

  struct Nested {
    SchemaCompiler* c;
    explicit Nested(SchemaCompiler* compiler) : c(compiler) { ++c->nesting_; }
    ~Nested() { --c->nesting_; }
    Nested(const Nested&) = delete;
  };
  bool raw() const { return style_.notation >= Notation::kText; }
  // A value that is no text, as JSON in front of the mark, where the style is raw.
  template <class Fn>
  bool as_json(uint32_t from, uint32_t to, const Fn& fn) {
    if (!raw()) return fn(from, to);
    const Style outer = style_;
    const uint32_t begin = a_.node(), end = a_.node();
    a_.skip(gap(from), begin);
    a_.skip(mark(gap(end)), to);
    style_ = {.notation = Notation::kJson, .never = outer.never};
    style_.never.push_back(outer.mark);
    const bool ok = fn(begin, end);
    style_ = outer;
    return ok;
  }
  uint32_t mark(uint32_t from);  // the style's
  void characters(uint32_t from, uint32_t to, const Vector<CharRange>& ranges);

  bool number(uint32_t from, uint32_t to, const Value& schema, bool integer, const String& place);

  // A count, or `other` where there is none.
  bool count(const Value& schema, const char* key, int64_t other, const String& place, int64_t* out);
  // least to most times (most < 0: without end) what `one` adds from one node to another.
  template <class Fn>
  bool repeat(uint32_t from, uint32_t to, int64_t least, int64_t most, const Fn& one) {
    if (std::max(least, most) > kUnrolled) {
      const uint32_t begin = a_.node(), end = a_.node();
      a_.call(from, to, a_.rule(begin, end, "a repeat"), static_cast<uint32_t>(least), most < 0 ? 0 : static_cast<uint32_t>(most));
      return one(begin, end);
    }
    uint32_t at = a_.node();
    a_.skip(from, at);
    for (int64_t i = 0; i < (most < 0 ? least : most); ++i) {
      if (!room()) return false;
      if (i >= least) a_.skip(at, to);
      const uint32_t next = a_.node();
      if (!one(at, next)) return false;
      at = next;
    }
    if (most < 0) {
      const uint32_t loop = a_.node();
      a_.skip(at, loop);
      if (!one(loop, loop)) return false;
      at = loop;
    }
    a_.skip(at, to);
    return true;
  }
  bool string(uint32_t from, uint32_t to, const Value& schema, const String& place);
  bool array(uint32_t from, uint32_t to, const Value& schema, const String& place);
  bool object(uint32_t from, uint32_t to, const Value& schema, const String& place);

  const Value anything_ = {.type = kBoolean, .truth = true}, nothing_ = {.type = kBoolean};  // no statics: those may use the heap
  Automaton a_;
  const char* name_;
  Error* err_;
  Status status_ = LINNET_OK;
  const String begin_ = "#", *place_ = &begin_;  // of the schema that is being compiled
  const Value* root_ = nullptr;
  String root_text_;
  bool formats_ = false, no_members_ = false;
  bool nested_ids_ = false;  // other places for references to be looked up in
  SchemaMerger merger_;
  Map<std::pair<const Value*, String>, uint32_t> rules_;  // by what they are of and the style that it is written in
  Map<const Value*, bool> recursive_;
  struct Pending {
    const Value* schema;
    const Value* root;
    String place;
    Style style;
    uint32_t start, end, tags, nesting;
    bool one_char;
  };
  Vector<Pending> pending_;  // insides of rules
  bool bounded_ = false, in_rule_ = false;
  uint32_t found_ = 0, looked_ = 0;
  uint32_t depth_ = 0, nesting_ = 0, tags_ = 0, apart_ = 0;  // of schemas; of objects and lists; of tags; of apart's calls
  Style style_;
};

// JSON, or the text of a grammar, to a grammar's bytes, as linnet_grammar_compile does it, whose arguments were checked.
Status compile_grammar(std::string_view text, const char* name, linnet_grammar_kind kind, Vector<uint8_t>* out, Error* err);

}  // namespace linnet::convert
