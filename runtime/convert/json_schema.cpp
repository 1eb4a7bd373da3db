#include "json_schema.h"

#include <algorithm>
#include <utility>

#include "../../platform/utf8.h"
#include "../chat/answer_parts.h"
#include "convert.h"
#include "gbnf.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMaxNesting = 60;  // of values; it reads 64
constexpr uint32_t kMaxDepth = 128, kMaxTwins = 1u << 20;
constexpr size_t kMaxRules = 4096;
// Patterns that texts are held against; values that are looked at for references, of the whole schema.
constexpr uint32_t kMaxFound = 1u << 14, kMaxLooked = 1u << 21;

// Keywords and the types that they are about; 0: they stand beside any.
struct Keyword {
  const char* name;
  uint32_t types;
};
constexpr Keyword kKeywords[] = {{"properties", kObject},
                                 {"required", kObject},
                                 {"additionalProperties", kObject},
                                 {"patternProperties", kObject},
                                 {"propertyNames", kObject},
                                 {"minProperties", kObject},
                                 {"maxProperties", kObject},
                                 {"items", kArray},
                                 {"prefixItems", kArray},
                                 {"minItems", kArray},
                                 {"maxItems", kArray},
                                 {"uniqueItems", kArray},
                                 {"minLength", kString},
                                 {"maxLength", kString},
                                 {"pattern", kString},
                                 {"format", kString},
                                 {"multipleOf", kInteger | kNumber},
                                 {"minimum", kInteger | kNumber},
                                 {"maximum", kInteger | kNumber},
                                 {"exclusiveMinimum", kInteger | kNumber},
                                 {"exclusiveMaximum", kInteger | kNumber},
                                 {"type", 0},
                                 {"enum", 0},
                                 {"const", 0},
                                 {"anyOf", 0},
                                 {"oneOf", 0},
                                 {"$ref", 0}};
constexpr uint32_t kAnyType = kNull | kBoolean | kInteger | kNumber | kString | kArray | kObject;
// What a schema's keywords are about: its types, or where none are said those of its keywords; 0: nothing is said.
uint32_t about(const Value& schema, uint32_t said) {
  if (said || !schema.is(kObject)) return said;
  for (const String& key : schema.keys)
    for (const Keyword& k : kKeywords)
      if (key == k.name) said |= k.types;
  return said;
}

// A pattern, or what a format is written as.
bool add_plain(Automaton* a, uint32_t from, uint32_t to, const String& pattern, bool whole, const Vector<CharRange>& plain, String* why) {
  const Vector<CharRange> others = all_but(plain);
  const auto write = [&](uint32_t in, uint32_t out, const Vector<CharRange>& ranges) {
    Vector<CharRange> none = all_but(ranges);
    none.insert(none.end(), others.begin(), others.end());
    for (const CharRange& r : all_but(none)) a->utf8(in, out, r);
  };
  pattern_chars(a, from, to, pattern, write, whole, why);
  return why->empty();
}

}  // namespace

SchemaCompiler::SchemaCompiler(const char* name, Error* err, bool formats)
    : name_(name),
      err_(err),
      formats_(formats),
      merger_([this](const Value& ref) { return target(ref, ref.is(kString) ? ref.text : "#"); },
              [this](const String& text, const Value& pattern, bool* known) {
                if (++found_ > kMaxFound) return *known = false;
                Automaton a;
                const uint32_t from = a.node(), to = a.node();
                String why;
                *known = pattern.is(kString) && add_plain(&a, from, to, pattern.text, false, {{0, 0x10FFFF}}, &why) && !a.full();
                return *known && a.reads(from, to, text);
              }) {}

void SchemaCompiler::set_root(const Value* root) {
  root_ = root;
  root_text_.clear();
  nested_ids_ = false;
  Vector<const Value*> open = {root};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v) continue;
    if (v != root && member(*v, "$id") && member(*v, "$id")->is(kString)) nested_ids_ = true;
    for (const Value& one : v->items) open.push_back(&one);
  }
}

Status SchemaCompiler::schema_alone(const Value& schema, bool spaced, Vector<uint8_t>* out) {
  set_root(&schema);
  if (spaced) style_.notation = Notation::kJson;
  const uint32_t start = a_.node(), end = a_.node();
  if (value(start, end, schema, "#") && finish()) return a_.compile(start, end, {}, name_, out, err_);
  return status_;
}

bool SchemaCompiler::finish() {
  while (!pending_.empty()) {
    const Pending one = std::move(pending_.back());
    pending_.pop_back();
    if (root_ != one.root) set_root(one.root);
    style_ = one.style, tags_ = one.tags, nesting_ = one.nesting;
    in_rule_ = true;
    if (one.one_char) {
      if (style_.notation < Notation::kPython && style_.never.empty())
        a_.json_char(one.start, one.end);
      else
        characters(one.start, one.end, {{0, 0x10FFFF}});
    } else if (one.schema ? !value(one.start, one.end, *one.schema, one.place)
                          : !of_types(one.start, one.end, {.type = kObject}, kAnyType, one.place)) {
      return false;
    }
  }
  return room();
}

uint32_t SchemaCompiler::rule_of(const Value* schema, const String& place, bool one_char) {
  const uint32_t level = bounded_ && !one_char ? nesting_ : 0;
  String style = decimal(static_cast<int>(style_.notation)) + (style_.lines ? "l" : " ") + (one_char ? "c" : " ") +
                 decimal(style_.allowed) + "\n" + decimal(tags_) + "\n" + decimal(level) + "\n" + style_.mark;
  for (const String& mark : style_.never) style += "\n" + mark;
  const auto [at, is_new] = rules_.try_emplace({schema, std::move(style)}, 0);
  if (is_new) {
    const uint32_t start = a_.node(), end = a_.node();
    at->second = a_.rule(start, end, place);
    pending_.push_back({schema, root_, place, style_, start, end, tags_, level, one_char});
  }
  return at->second;
}

// Any value.
bool SchemaCompiler::any(uint32_t from, uint32_t to) {
  if (raw()) return of_types(from, to, {.type = kObject}, kAnyType & style_.allowed, "#");
  a_.call(from, to, rule_of(nullptr, "any value"));
  return room();
}

Status SchemaCompiler::tools(const Value& list, bool or_text, bool spaced, Vector<uint8_t>* out) {
  const uint32_t start = a_.node(), end = a_.node(), calls = a_.node();
  Vector<Tool> all;
  if (!read_tools(list, &all)) return status_;
  style_.notation = spaced ? Notation::kJson : Notation::kCompact;
  const Notation notation = style_.notation;
  for (const Tool& tool : all) {
    const auto key = [&](uint32_t at, const char* name) { return blank(a_.text(at, name)); };
    style_ = {.notation = notation};
    const uint32_t named = key(gap(a_.text(calls, "{")), "\"name\":"), behind = a_.node();
    const uint32_t begin = key(gap(a_.text(a_.text(named, quoted(tool.name)), ",")), "\"arguments\":");
    if (!arguments(begin, behind, tool, notation)) return status_;
    a_.skip(a_.text(gap(behind), "}"), end);
  }
  a_.skip(start, calls);
  if (or_text) {
    const uint32_t more = a_.node();
    // The first character is neither '{' nor white space of any kind.
    for (const CharRange& r : all_but({{9, 13},
                                       {0x1C, ' '},
                                       {'{', '{'},
                                       {0x85, 0x85},
                                       {0xA0, 0xA0},
                                       {0x1680, 0x1680},
                                       {0x2000, 0x200A},
                                       {0x2028, 0x2029},
                                       {0x202F, 0x202F},
                                       {0x205F, 0x205F},
                                       {0x3000, 0x3000},
                                       {0xFEFF, 0xFEFF}}))
      a_.utf8(start, more, r);
    a_.utf8(more, more, {0, 0x10FFFF});
    a_.skip(more, end);
  }
  return finish() ? a_.compile(start, end, {}, name_, out, err_) : status_;
}

bool SchemaCompiler::room() {
  if (a_.full())
    status_ =
        fail(err_, LINNET_UNSUPPORTED, name_, ": ", *place_, ": the grammar has more than ", uint32_t{Automaton::kMaxNodes}, " nodes");
  return !a_.full();
}

bool SchemaCompiler::read_tools(const Value& list, Vector<Tool>* out) {
  if (!list.is(kArray) || list.items.empty()) return bad("#", "tools are an array with one element and more");
  Set<String> names;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (!read_tool(list.items[i], "#/" + decimal(i), out)) return false;
    if (!names.insert(out->back().name).second) return bad("#/" + decimal(i), "there is another tool ", quoted(out->back().name));
  }
  return true;
}

bool SchemaCompiler::read_tool(const Value& one, const String& place, Vector<Tool>* out) {
  const Value* type = member(one, "type");
  if (type && (!type->is(kString) || type->text != "function"))
    return refuse(place + "/type", "tools of type function are known, not ", dump(*type));
  const Value* inner = member(one, "function");
  const Value& f = inner ? *inner : one;
  const String at = inner ? place + "/function" : place;
  const Value *name = member(f, "name"), *parameters = member(f, "parameters");
  if (!name || !name->is(kString) || name->text.empty()) return bad(at, "a tool without a name");
  for (const Value* object : {&one, &f})
    for (const String& key : object->keys)
      if (key != "type" && key != "name" && key != "description" && key != "parameters" && key != "strict" && key != "return" &&
          !(key == "function" && object != inner))
        return refuse(at, "'", key, "' is not supported in a tool");
  if (parameters && (types(*parameters) != kObject || !member(*parameters, "type")))
    return refuse(at + "/parameters", "parameters are of type object");
  out->push_back({name->text, at + "/parameters", parameters});
  return true;
}

bool SchemaCompiler::arguments(uint32_t from, uint32_t to, const Tool& tool, Notation notation) {
  set_root(tool.parameters);
  style_.notation = notation;
  no_members_ = true;  // parameters without properties take none
  if (tool.parameters) {
    const bool ok = value(from, to, *tool.parameters, tool.place);
    no_members_ = false;  // where they were no such object: it is not for others that come later
    return ok;
  }
  no_members_ = false;
  a_.skip(a_.text(gap(a_.text(from, "{")), "}"), to);
  return true;
}

// At most a blank, or one or two line ends and as many blanks as indent what is nested.
uint32_t SchemaCompiler::gap(uint32_t from) {
  if (style_.notation == Notation::kCompact || style_.notation == Notation::kGemma) return from;
  constexpr int kDeepest = 12;
  const uint32_t to = blank(from), line = a_.node();
  if (style_.notation == Notation::kPython) return to;
  a_.bytes(from, line, '\n', '\n');
  a_.skip(a_.text(from, "\n\n"), line);
  uint32_t at = line;
  for (int i = 0; i < kDeepest; ++i) {
    a_.skip(at, to);
    at = a_.text(at, " ");
  }
  a_.skip(at, to);
  return to;
}

uint32_t SchemaCompiler::blank(uint32_t from) {
  if (style_.notation == Notation::kCompact || style_.notation == Notation::kGemma) return from;
  const uint32_t to = a_.node();
  a_.skip(from, to);
  a_.bytes(from, to, ' ', ' ');
  return to;
}

uint32_t SchemaCompiler::mark(uint32_t from) {
  if (style_.lines) {
    const uint32_t line = a_.text(from, "\n");
    a_.skip(from, line);
    from = line;
  }
  a_.own(true);
  const uint32_t to = a_.text(from, style_.mark);
  a_.own(false);
  return to;
}

// One character of a text.
void SchemaCompiler::characters(uint32_t from, uint32_t to, const Vector<CharRange>& ranges) {
  if (style_.notation == Notation::kPython) return a_.python_char(from, to, '\'', ranges);
  // As it is, but for those that a mark begins with.
  Vector<CharRange> none = all_but(ranges);
  const auto leave_out = [&none](const String& mark) {
    const uint32_t c = next_char(mark.data(), mark.size()).code;
    none.push_back({c, c});
  };
  if (!style_.mark.empty()) leave_out(style_.mark);
  for (const String& mark : style_.never) leave_out(mark);
  if (style_.lines) leave_out("\r");  // at an end it would go with the line's
  if (style_.notation < Notation::kPython) return a_.json_char_of(from, to, all_but(none));
  for (const CharRange& r : all_but(none)) a_.utf8(from, to, r);
}

const Value* SchemaCompiler::target(const Value& ref, const String& place) {
  if (!ref.is(kString) || ref.text.empty() || ref.text[0] != '#')
    return refuse(place, "$ref is to # or #..., in the same schema, not ", dump(ref)), nullptr;
  if (nested_ids_) return refuse(place, "a $ref in a schema that has an $id inside"), nullptr;
  if (ref.text.size() > 1 && ref.text[1] != '/') {
    const Value* found = nullptr;
    Vector<const Value*> open = {root_};
    while (!open.empty() && !found) {
      const Value* v = open.back();
      open.pop_back();
      const Value* anchor = v ? member(*v, "$anchor") : nullptr;
      if (anchor && anchor->is(kString) && anchor->text == ref.text.substr(1)) found = v;
      for (size_t i = 0; v && i < v->items.size(); ++i)
        if (!v->is(kObject) || (v->keys[i] != "enum" && v->keys[i] != "const")) open.push_back(&v->items[i]);
    }
    if (!found) bad(place, "there is no ", ref.text);
    return found;
  }
  const Value* at = root_;
  for (size_t i = 1; at && i < ref.text.size();) {
    String key;
    for (++i; i < ref.text.size() && ref.text[i] != '/'; ++i) {
      const auto hex = [&](size_t k) {
        const size_t digit = k < ref.text.size() ? std::string_view("0123456789abcdefABCDEF").find(ref.text[k]) : std::string_view::npos;
        return digit == std::string_view::npos ? -1 : static_cast<int>(digit < 16 ? digit : digit - 6);
      };
      char c = ref.text[i];
      if (c == '%' && hex(i + 1) >= 0 && hex(i + 2) >= 0) c = static_cast<char>(hex(i + 1) * 16 + hex(i + 2)), i += 2;
      if (c == '~') c = ++i < ref.text.size() && ref.text[i] == '1' ? '/' : '~';
      key += c;
    }
    const Value* next = member(*at, key);
    if (at->is(kArray) && !key.empty() && key.size() < 6 && key.find_first_not_of("0123456789") == key.npos) {
      size_t n = 0;
      std::from_chars(key.data(), key.data() + key.size(), n);
      next = n < at->items.size() ? &at->items[n] : nullptr;
    }
    at = next;
  }
  if (!at) bad(place, "there is no ", ref.text);
  return at;
}

// Whether a reference leads from what it stands for back to it.
bool SchemaCompiler::is_recursive(const Value& to) {
  const auto [known, is_new] = recursive_.try_emplace(&to, false);
  if (!is_new) return known->second;
  Set<const Value*> seen;
  Vector<const Value*> open = {&to};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!seen.insert(v).second) continue;
    if (++looked_ > kMaxLooked) return recursive_[&to] = true;  // a rule is never wrong
    for (size_t i = 0; i < v->items.size(); ++i) {
      open.push_back(&v->items[i]);
      if (!v->is(kObject) || v->keys[i] != "$ref" || !v->items[i].is(kString)) continue;
      const Value* next = target(v->items[i], v->items[i].text);
      if (!next) return false;  // which is refused
      if (next == &to) return recursive_[&to] = true;
      open.push_back(next);
    }
  }
  return false;
}

uint32_t SchemaCompiler::types(const Value& schema) {
  const Value* type = member(schema, "type");
  if (!type) return 0;
  uint32_t set = 0;
  const auto add = [&](const Value& one) {
    if (one.is(kString)) set |= type_named(one.text);
  };
  add(*type);
  if (type->is(kArray))
    for (const Value& one : type->items) add(one);
  return set;
}

bool SchemaCompiler::check_types(const Value& schema, const String& place) {
  const Value* type = member(schema, "type");
  if (!type) return true;
  const auto known = [&](const Value& one) { return one.is(kString) && type_named(one.text); };
  if (type->is(kArray) ? type->items.empty() || !std::all_of(type->items.begin(), type->items.end(), known) : !known(*type))
    return bad(place + "/type", "there is no type ", dump(*type));
  return true;
}

bool SchemaCompiler::check_keywords(const Value& schema, const String& place) {
  if (schema.is(kBoolean)) return true;
  if (!schema.is(kObject)) return bad(place, "a schema is an object, not ", type_name(schema));
  if (!check_types(schema, place)) return false;
  for (const String& key : schema.keys) {
    if (is_remark(key) || is_rewritten(key)) continue;
    const auto* known = std::find_if(std::begin(kKeywords), std::end(kKeywords), [&](const Keyword& k) { return key == k.name; });
    if (known == std::end(kKeywords)) return refuse(place, "keyword '", key, "' is not supported");
  }
  return true;
}

bool SchemaCompiler::value(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  if (depth_ == kMaxDepth) return refuse(place, "schemas more than ", kMaxDepth, " deep, references followed");
  ++depth_;
  const String* const outer = std::exchange(place_, &place);
  if (GrammarMemory* const memory = GrammarMemory::here()) memory->at(place);
  const uint32_t n = a_.n_nodes();
  const bool ok = room() && check_keywords(schema, place) && checked_value(from, to, schema, place) && room();
  a_.part(n, place);
  place_ = outer;
  --depth_;
  return ok;
}

bool SchemaCompiler::checked_value(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  if (schema.is(kBoolean)) return !schema.truth || any(from, to);
  if (merger_.is_flat(schema)) return known_value(from, to, schema, place);
  if (style_.notation == Notation::kTags && !member(schema, "enum") && !member(schema, "const"))
    return refuse(place, "the model's format cannot tell values of schemas that are put together");
  const Value* one = merger_.flat(schema);
  if (status_ != LINNET_OK) return false;
  if (!one) return refuse(place, merger_.why(), " is not supported");
  return check_keywords(*one, place) && (one->is(kBoolean) ? checked_value(from, to, *one, place) : known_value(from, to, *one, place));
}

bool SchemaCompiler::known_value(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  const uint32_t begin = a_.node(), end = a_.node();
  a_.skip(from, begin);
  a_.skip(end, to);
  if (const Value* ref = member(schema, "$ref")) return reference(begin, end, *ref, place);
  for (const char* key : {"anyOf", "oneOf"})
    if (const Value* list = member(schema, key)) return alternatives(begin, end, *list, key[0] == 'o', place + "/" + key);
  if (const Value* list = member(schema, "enum")) {
    if (!list->is(kArray) || list->items.empty()) return bad(place + "/enum", "enum is an array with one element and more");
    for (size_t i = 0; i < list->items.size(); ++i)
      if (!constant(begin, end, list->items[i], place + "/enum/" + decimal(i))) return false;
    return true;
  }
  if (const Value* one = member(schema, "const")) return constant(begin, end, *one, place + "/const");
  const uint32_t said = about(schema, types(schema));
  return said ? of_types(begin, end, schema, said & style_.allowed, place) : any(begin, end);
}

// Values of these types; none: another alternative has one that is allowed.
bool SchemaCompiler::of_types(uint32_t begin, uint32_t end, const Value& schema, uint32_t set, const String& place) {
  if (set & kString && !string(begin, end, schema, place)) return false;
  if (style_.notation == Notation::kTags && set & (kArray | kObject)) {
    if (set & kArray && !array(begin, end, schema, place)) return false;
    if (set & kObject && !object(begin, end, schema, place)) return false;
    if (!(set & ~uint32_t{kString | kArray | kObject})) return true;
  }
  const uint32_t rest = style_.notation == Notation::kTags ? set & ~uint32_t{kArray | kObject} : set;
  if (!(rest & ~uint32_t{kString})) return true;
  return as_json(begin, end, [&](uint32_t in, uint32_t out) {
    const bool python = style_.notation == Notation::kPython;
    const auto word = [&](const char* json, const char* other) {
      a_.skip(a_.text(in, json), out);
      if (python) a_.skip(a_.text(in, other), out);
    };
    if (rest & kNull) word("null", "None");
    if (rest & kBoolean) word("true", "True"), word("false", "False");
    if (rest & (kInteger | kNumber) && !number(in, out, schema, !(rest & kNumber), place)) return false;
    if (rest & kArray && !array(in, out, schema, place)) return false;
    return !(rest & kObject) || object(in, out, schema, place);
  });
}

bool SchemaCompiler::reference(uint32_t from, uint32_t to, const Value& ref, const String& place) {
  const Value* schema = target(ref, place + "/$ref");
  if (!schema) return false;
  if (!is_recursive(*schema)) return status_ == LINNET_OK && value(from, to, *schema, ref.text);
  if (rules_.size() > kMaxRules) return refuse(place, "more than ", kMaxRules, " rules");
  a_.call(from, to, rule_of(schema, ref.text));
  return room();
}

bool SchemaCompiler::constant(uint32_t from, uint32_t to, const Value& v, const String& place) {
  if (!room()) return false;
  if (!(type_of(v) & style_.allowed)) return true;
  if (raw() && v.is(kString) && style_.allowed & kNull && (v.text == "null" || v.text == "None")) return true;  // which would be null
  String text;
  if (!literal(v, place, &text)) return false;
  if (raw() && !v.is(kString)) return as_json(from, to, [&](uint32_t in, uint32_t out) { return a_.skip(a_.text(in, text), out), true; });
  const uint32_t end = a_.text(from, text);
  a_.skip(raw() ? mark(end) : end, to);
  return true;
}

bool SchemaCompiler::no_mark(const String& text, const String& place) {
  bool holds = !style_.mark.empty() && text.find(style_.mark) != text.npos;
  for (const String& mark : style_.never) holds |= text.find(mark) != text.npos;
  return !holds || refuse(place, quoted(text), " holds a mark of the model's format");
}

// A value as the style has it.
bool SchemaCompiler::literal(const Value& v, const String& place, String* out) {
  const Notation n = style_.notation;
  if (n == Notation::kCompact || n == Notation::kJson || (raw() && !v.is(kString))) {
    *out += dump(v);
    return no_mark(*out, place);
  }
  switch (v.type) {
    case kString: {
      if (n == Notation::kPython) {
        *out += '\'';
        for (const char c : v.text) {
          if (static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r')
            return refuse(place, dump(v), " holds a control character");
          if (c == '\n' || c == '\t' || c == '\r')
            *out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
          else if (c == '\'' || c == '\\')
            (*out += '\\') += c;
          else
            *out += c;
        }
        *out += '\'';
        return true;
      }
      if (!no_mark(v.text, place)) return false;
      if (raw() && !v.text.empty() && (chat::one_of(v.text[0], "\r\n") || chat::one_of(v.text.back(), "\r\n")))
        return refuse(place, dump(v), " has a line end that the format would lose");
      *out += raw() ? v.text : style_.mark + v.text + style_.mark;
      return true;
    }
    case kArray:
    case kObject:
      *out += v.is(kArray) ? '[' : '{';
      for (size_t i = 0; i < v.items.size(); ++i) {
        if (i) *out += n == Notation::kPython ? ", " : ",";
        if (v.is(kObject)) {
          if (!literal({.type = kString, .text = v.keys[i]}, place, out)) return false;
          *out += n == Notation::kPython ? ": " : ":";
        }
        if (!literal(v.items[i], place, out)) return false;
      }
      *out += v.is(kArray) ? ']' : '}';
      return true;
    case kNull:
      *out += n == Notation::kPython ? "None" : "null";
      return true;
    case kBoolean:
      *out += n == Notation::kPython ? (v.truth ? "True" : "False") : v.truth ? "true" : "false";
      return true;
    default:
      *out += v.text;
      return true;
  }
}

bool SchemaCompiler::alternatives(uint32_t from, uint32_t to, const Value& list, bool only_one, const String& place) {
  if (!list.is(kArray) || list.items.empty()) return bad(place, "an array with one element and more is wanted");
  for (size_t i = 0; i < list.items.size(); ++i)
    if (!value(from, to, list.items[i], place + "/" + decimal(i))) return false;
  if (style_.notation == Notation::kTags)  // the parser of answers takes the first that has properties, or items, for all
    for (const uint32_t kind : {uint32_t{kObject}, uint32_t{kArray}})
      if (std::count_if(list.items.begin(), list.items.end(), [&](const Value& one) { return types(resolved(one)) & kind; }) > 1)
        return refuse(place, "the model's format cannot tell which of these alternatives a value is");
  uint32_t left = kMaxTwins;
  for (size_t i = 0; only_one && i < list.items.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (!apart(list.items[j], list.items[i], &left)) return refuse(place, "alternatives ", j, " and ", i, " may both hold: use anyOf");
    }
  return true;
}

const Value& SchemaCompiler::resolved(const Value& schema) {
  if (member(schema, "$ref") || !merger_.is_flat(schema))
    if (const Value* flat = merger_.flat(schema)) return *flat;
  return schema;
}

bool SchemaCompiler::apart(const Value& a, const Value& b, uint32_t* left) {
  if (*left == 0 || apart_ == kMaxDepth) return false;
  --*left;
  ++apart_;
  const bool yes = apart_here(a, b, left);
  --apart_;
  return yes;
}
bool SchemaCompiler::apart_here(const Value& a, const Value& b, uint32_t* left) {
  const Value &x = resolved(a), &y = resolved(b);
  for (const bool first : {true, false})
    for (const char* key : {"anyOf", "oneOf"})
      if (const Value* list = member(first ? x : y, key))
        return std::all_of(list->items.begin(), list->items.end(),
                           [&](const Value& one) { return first ? apart(one, y, left) : apart(x, one, left); });
  const auto values = [](const Value& s) {
    Vector<const Value*> out;
    if (const Value* list = member(s, "enum"))
      for (const Value& one : list->items) out.push_back(&one);
    else if (const Value* one_value = member(s, "const"))
      out.push_back(one_value);
    return out;
  };
  const auto kinds = [&](const Value& s, const Vector<const Value*>& list) {
    if (s.is(kBoolean)) return s.truth ? kAnyType : 0u;
    uint32_t set = member(s, "type") ? types(s) | (types(s) & kNumber ? uint32_t{kInteger} : 0) : kAnyType;
    if (list.empty()) return set;
    set = 0;
    for (const Value* v : list) set |= type_of(*v);
    return set;
  };
  const auto of_x = values(x), of_y = values(y);
  if (!(kinds(x, of_x) & kinds(y, of_y))) return true;
  if (!of_x.empty() && !of_y.empty()) {
    if (of_x.size() * of_y.size() > *left) return false;
    *left -= static_cast<uint32_t>(of_x.size() * of_y.size());
    for (const Value* v : of_x)
      for (const Value* w : of_y)
        if (equal(*v, *w)) return false;
    return true;
  }
  if (types(x) != kObject || types(y) != kObject || !of_x.empty() || !of_y.empty()) return false;
  const Value *p = member(x, "properties"), *q = member(y, "properties"), *need_x = member(x, "required"), *need_y = member(y, "required");
  if (!p || !q || !need_x || !need_y) return false;
  for (const Value& key : need_x->items) {
    const Value *one = member(*p, key.text), *other = member(*q, key.text);
    if (std::any_of(need_y->items.begin(), need_y->items.end(), [&](const Value& k) { return k.text == key.text; }) && one && other &&
        apart(*one, *other, left))
      return true;
  }
  return false;
}

bool SchemaCompiler::number(uint32_t from, uint32_t to, const Value& schema, bool integer, const String& place) {
  Range range;
  for (const bool low : {true, false})
    for (const bool open : {false, true}) {
      const char* key = low ? (open ? "exclusiveMinimum" : "minimum") : (open ? "exclusiveMaximum" : "maximum");
      const Value* v = member(schema, key);
      if (!v) continue;
      if (!v->is(kNumber)) return bad(place + "/" + key, "a number is wanted, not ", dump(*v));
      const Decimal d(v->text);
      bool &has = low ? range.has_low : range.has_high, &without = low ? range.above : range.below;
      Decimal& bound = low ? range.low : range.high;
      const int order = has ? compare(d, bound) : 0;
      if (!has || (low ? order > 0 : order < 0) || (order == 0 && open)) bound = d, without = open;
      has = true;
    }
  // Of numbers OpenAPI's formats: a range, or nothing that is to be heeded here.
  if (const Value* format = member(schema, "format"); format && !(types(schema) & kString)) {
    if (!format->is(kString)) return bad(place + "/format", "a text is wanted");
    if (format->text == "int32") {
      const Decimal low("-2147483648"), high("2147483647");
      if (!range.has_low || compare(range.low, low) < 0) range.low = low, range.above = false;
      if (!range.has_high || compare(range.high, high) > 0) range.high = high, range.below = false;
      range.has_low = range.has_high = true;
    } else if (format->text != "int64" && format->text != "float" && format->text != "double" && !formats_) {
      return refuse(place, "format ", dump(*format), " is not supported");
    }
  }
  const Decimal most(decimal(kMaxInteger)), least(decimal(-kMaxInteger));
  if ((range.has_low && compare(range.low, most) > 0) || (range.has_high && compare(range.high, least) < 0))
    return refuse(place, "all numbers within the bounds have more than 18 digits");
  if (const Value* multiple = member(schema, "multipleOf")) {
    const Decimal d(multiple->is(kNumber) ? multiple->text : "0");
    if (d.negative || d.digits.empty()) return bad(place + "/multipleOf", "a number above 0 is wanted, not ", dump(*multiple));
    if (!d.whole() || !add_multiples(&a_, from, to, range, d.rounded(false)))
      return refuse(place + "/multipleOf", "multiples of whole numbers up to 3000 are known, not of ", dump(*multiple));
    return room();
  }
  if (integer)
    add_integers(&a_, from, to, range);
  else if (!range.has_low && !range.has_high)
    add_any_number(&a_, from, to);
  else if (!add_numbers(&a_, from, to, range))
    return refuse(place, "numbers within such bounds take too many states");
  return room();
}

bool SchemaCompiler::count(const Value& schema, const char* key, int64_t other, const String& place, int64_t* out) {
  const Value* v = member(schema, key);
  *out = other;
  if (!v) return true;
  if (!v->is(kNumber) || !Decimal(v->text).whole() || Decimal(v->text).negative)
    return bad(place + "/" + key, "a count is wanted, not ", dump(*v));
  const int64_t n = Decimal(v->text).rounded(false);
  *out = std::min(n, int64_t{Automaton::kMaxNodes});  // fewer than may be are a part of them, but not fewer than must be
  if (n > *out && key[1] == 'i') return refuse(place + "/" + key, "at most ", *out, " are counted, not ", dump(*v));
  return true;
}

// Characters that a text of the style may hold as they are.
Vector<CharRange> SchemaCompiler::plain_characters() const {
  Vector<CharRange> none = {{0, 0x1F}};
  const auto leave_out = [&none](const String& mark) {
    const uint32_t c = next_char(mark.data(), mark.size()).code;
    none.push_back({c, c});
  };
  if (style_.notation < Notation::kPython) none.insert(none.end(), {{'"', '"'}, {'\\', '\\'}});
  if (style_.notation == Notation::kPython) none.insert(none.end(), {{'\'', '\''}, {'\\', '\\'}});
  if (!style_.mark.empty()) leave_out(style_.mark);
  for (const String& mark : style_.never) leave_out(mark);
  return all_but(none);
}

bool SchemaCompiler::plain_texts(const Value& schema, const Vector<CharRange>& plain, const String& place, TextSet* out) {
  int64_t least = 0, most = 0;
  if (!count(schema, "minLength", 0, place, &least) || !count(schema, "maxLength", -1, place, &most)) return false;
  const auto large = [&] { return refuse(place, "pattern, format and length together take too many states"); };
  if (std::max(least, most) > 4096) return large();
  Automaton a;
  const uint32_t start = a.node(), end = a.node();
  uint32_t at = a.node();
  a.skip(start, at);
  const auto one = [&](uint32_t from, uint32_t to) {
    for (const CharRange& r : plain) a.utf8(from, to, r);
  };
  for (int64_t i = 0; i < (most < 0 ? least : most); ++i) {
    if (i >= least) a.skip(at, end);
    const uint32_t next = a.node();
    one(at, next);
    at = next;
  }
  if (most < 0) one(at, at);
  if (most < 0 || most >= least) a.skip(at, end);
  if (!texts_of(a, start, end, out)) return large();
  const auto and_also = [&](const String& pattern, bool whole, const char* key) {
    Automaton b;
    const uint32_t from = b.node(), to = b.node();
    String why;
    if (!add_plain(&b, from, to, pattern, whole, plain, &why))
      return refuse(place + "/" + key, why, " is not supported, in ", quoted(pattern));
    TextSet more, both;
    if (!texts_of(b, from, to, &more) || !in_both(*out, more, &both)) return large();
    *out = std::move(both);
    return true;
  };
  if (const Value* pattern = member(schema, "pattern")) {
    if (pattern->is(kArray)) {
      for (const Value& p : pattern->items)
        if (!p.is(kString) || !and_also(p.text, false, "pattern"))
          return status_ != LINNET_OK ? false : bad(place + "/pattern", "a text is wanted");
    } else if (!pattern->is(kString)) {
      return bad(place + "/pattern", "a text is wanted");
    } else if (!and_also(pattern->text, false, "pattern")) {
      return false;
    }
  }
  if (const Value* format = member(schema, "format")) {
    const char* pattern = format->is(kString) ? format_pattern(format->text) : nullptr;
    if (pattern) return and_also(pattern, true, "format");
  }
  return true;
}

bool SchemaCompiler::string(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  const Value *pattern = member(schema, "pattern"), *format = member(schema, "format");
  if (format) {
    if (!format->is(kString)) return bad(place + "/format", "a text is wanted");
    if (!format_pattern(format->text)) {
      if (!formats_) return refuse(place, "format ", dump(*format), " is not supported");
      format = nullptr;
    }
  }
  int64_t least = 0, most = 0;
  if (!count(schema, "minLength", 0, place, &least) || !count(schema, "maxLength", -1, place, &most)) return false;
  if (most >= 0 && most < least) return true;  // no text is
  const Notation n = style_.notation;
  const bool json = n < Notation::kPython, free = !pattern && !format && least == 0 && most < 0;
  uint32_t begin = from, end = a_.node();
  if (json) {
    begin = a_.text(from, "\"");
    a_.skip(a_.text(end, "\""), to);
    if (free && !style_.never.empty()) {
      Vector<Automaton::Mark> marks;
      for (const String& one : style_.never) marks.push_back({one, kNowhere});
      a_.until(begin, marks, end, true);
      return room();
    }
  } else if (n == Notation::kPython) {
    begin = a_.text(from, "'");
    a_.skip(a_.text(end, "'"), to);
    if (free) {
      const uint32_t other = a_.text(from, "\"");
      a_.python_char(other, other, '"', {{0, 0x10FFFF}});
      a_.skip(a_.text(other, "\""), to);
    }
  } else {
    if (!raw()) begin = mark(from);
    if (free) {
      Vector<Automaton::Mark> marks = {{style_.mark, to}};
      for (const String& one : style_.never) marks.push_back({one, kNowhere});
      a_.until(begin, marks, kNowhere);
      return room();
    }
    a_.skip(mark(end), to);
  }
  const bool lengths = member(schema, "minLength") || member(schema, "maxLength");
  if ((pattern && (lengths || format || pattern->is(kArray))) || (format && lengths)) {
    TextSet texts;
    if (!plain_texts(schema, plain_characters(), place, &texts)) return false;
    add_texts(&a_, begin, end, texts);
    return room();
  }
  if (pattern || format) {
    if (pattern && !pattern->is(kString)) return bad(place + "/pattern", "a text is wanted");
    const String text = pattern ? pattern->text : format_pattern(format->text);
    String why;
    pattern_chars(
        &a_, begin, end, text, [this](uint32_t a, uint32_t b, const Vector<CharRange>& ranges) { characters(a, b, ranges); },
        format != nullptr, &why);
    return why.empty() ? room() : refuse(place + "/pattern", why, " is not supported, in ", quoted(text));
  }
  if (std::max(least, most) > kUnrolled) {
    a_.call(begin, end, rule_of(nullptr, "a text's characters", true), static_cast<uint32_t>(least),
            most < 0 ? 0 : static_cast<uint32_t>(most));
    return room();
  }
  return repeat(begin, end, least, most, [&](uint32_t a, uint32_t b) {
    if (json && style_.never.empty())
      a_.json_char(a, b);
    else
      characters(a, b, {{0, 0x10FFFF}});
    return true;
  });
}

bool SchemaCompiler::tag(uint32_t from, uint32_t to, const String& key, const Value& schema, const String& place) {
  if (key.empty() || key[0] == '/' || key.find_first_of("<>") != key.npos) return refuse(place, quoted(key), " cannot be written as a tag");
  constexpr uint32_t kDeepest = 16;                // as the parser of answers holds them
  if (tags_ == kDeepest && in_rule_) return true;  // what holds itself ends here
  if (key.size() > chat::kMaxName || tags_ == kDeepest) return refuse(place, "a longer name, or deeper tags, than are read");
  const uint32_t end = a_.node(), outer = style_.allowed;
  style_.allowed = text_types(schema);
  if (!style_.allowed) return refuse(place, "the model's format cannot tell of which type a value is");
  ++tags_;
  const bool ok = value(a_.text(from, key + ">"), end, schema, place);
  --tags_;
  style_.allowed = outer;
  a_.skip(a_.text(end, "/" + key + ">"), to);
  return ok;
}

bool SchemaCompiler::array(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  const Value *items = member(schema, "items"), *unique = member(schema, "uniqueItems"), *prefix = member(schema, "prefixItems");
  if (prefix && (!prefix->is(kArray) || prefix->items.empty()))
    return bad(place + "/prefixItems", "an array with one element and more is wanted");
  int64_t least = 0, most = 0;
  if (!count(schema, "minItems", 0, place, &least) || !count(schema, "maxItems", -1, place, &most)) return false;
  const bool tags = style_.notation == Notation::kTags;
  if (tags && prefix) return refuse(place, "keyword 'prefixItems' is not supported in the model's format");
  const Nested here(this);
  if (nesting_ > kMaxNesting) return in_rule_ || refuse(place, "values are nested more than ", kMaxNesting, " deep");
  // What is not said of elements behind the first ones is not written, unless it must be.
  const int64_t n_first = prefix ? static_cast<int64_t>(prefix->items.size()) : 0;
  if (!items && (!prefix || least > n_first)) items = &anything_;
  if (items && items->is(kBoolean) && !items->truth) items = nullptr;
  if (!items && (most < 0 || most > n_first)) most = n_first;
  if (most >= 0 && most < least) return true;  // no array is
  if (unique && (!unique->is(kBoolean) || unique->truth) && (most < 0 || most > 1))
    return refuse(place, "keyword 'uniqueItems' is not supported but for false");
  const uint32_t begin = tags ? mark(gap(from)) : gap(a_.text(from, "[")), end = a_.node();
  a_.skip(tags ? end : a_.text(gap(end), "]"), to);
  if (least == 0 && tags)
    a_.skip(mark(a_.text(from, "[]")), to);
  else if (least == 0)
    a_.skip(begin, end);
  if (most == 0) return true;
  const auto one = [&](uint32_t a, uint32_t b, const Value& element, const String& where) {
    const uint32_t behind = a_.node();
    const bool ok = tags ? tag(a, behind, "item", element, where) : value(a, behind, element, where);
    a_.skip(tags ? mark(gap(behind)) : behind, b);
    return ok;
  };
  uint32_t at = begin;
  const auto next = [&](uint32_t node, bool first) { return tags || first ? node : gap(a_.text(node, ",")); };
  int64_t n = 0;
  for (; n < n_first && (most < 0 || n < most); ++n) {
    if (n >= least) a_.skip(at, end);
    const uint32_t behind = a_.node();
    if (!one(next(at, n == 0), behind, prefix->items[static_cast<size_t>(n)], place + "/prefixItems/" + decimal(n))) return false;
    at = behind;
  }
  if (n == most) return a_.skip(at, end), room();
  if (n == 0) {
    const uint32_t first = a_.node();
    if (!one(begin, first, *items, place + "/items")) return false;
    at = first, n = 1;
  }
  return repeat(at, end, std::max<int64_t>(least - n, 0), most < 0 ? most : most - n,
                [&](uint32_t a, uint32_t b) { return one(next(a, false), b, *items, place + "/items"); });
}

bool SchemaCompiler::object(uint32_t from, uint32_t to, const Value& schema, const String& place) {
  const Nested here(this);
  if (nesting_ > kMaxNesting) return in_rule_ || refuse(place, "values are nested more than ", kMaxNesting, " deep");
  if (style_.notation == Notation::kTags) {
    const Value* required = member(schema, "required");
    if (!required || required->items.empty()) a_.skip(mark(a_.text(from, "{}")), to);
    const bool list_too = style_.allowed & kArray;
    return properties(
        mark(gap(from)), to, schema, place, true, [](uint32_t at, bool) { return at; },
        [&](uint32_t a, uint32_t b, const String& key, const Value& one, const String& where) {
          if (key == "item" && list_too) return refuse(where, "the model's format cannot tell this object from a list");
          const uint32_t behind = a_.node();
          a_.skip(mark(gap(behind)), b);
          return tag(a, behind, key, one, where);
        },
        nullptr);
  }
  const bool gemma = style_.notation == Notation::kGemma;
  const uint32_t end = a_.node();  // of all properties, so that white space in front of the end stands once
  a_.skip(a_.text(gap(end), "}"), to);
  return properties(
      gap(a_.text(from, "{")), end, schema, place, false, [&](uint32_t at, bool first) { return first ? at : gap(a_.text(at, ",")); },
      [&](uint32_t a, uint32_t b, const String& key, const Value& one, const String& where) {
        String name;
        if (gemma && !key.empty() && key.find_first_of(":{}[],\n\"'<") == key.npos && key[0] != ' ' && key.back() != ' ')
          name = key;
        else if (!literal({.type = kString, .text = key}, where, &name))
          return false;
        return value(blank(a_.text(a, name + ":")), b, one, where);
      },
      [&](uint32_t a, uint32_t b, const TextSet& keys, const Value& one, const String& where) {
        const String quote = gemma ? "" : style_.notation == Notation::kPython ? "'" : "\"";
        const uint32_t behind = a_.node();
        add_texts(&a_, a_.text(a, quote), behind, keys);
        return value(blank(a_.text(behind, quote + ":")), b, one, where);
      });
}

// Keys that are not named: those that a pattern finds, or such as none of them does. pattern: which; null: none.
bool SchemaCompiler::other_keys(const Value& schema, const Value& pattern, const Vector<String>& named, const String& place, TextSet* out) {
  const auto large = [&] { return refuse(place, "keys that are not named take too many states"); };
  const Vector<CharRange> kNames = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  const Vector<CharRange> plain = style_.notation == Notation::kGemma ? kNames : plain_characters();
  Automaton any, names;
  const uint32_t any_start = any.node(), any_end = any.node(), names_start = names.node(), names_end = names.node();
  for (const CharRange& r : plain) any.utf8(any_start, any_end, r), any.utf8(any_end, any_end, r);
  if (style_.notation != Notation::kGemma) any.skip(any_start, any_end);
  for (const String& name : named) names.skip(names.text(names_start, name), names_end);
  TextSet keys, some, left;
  if (!texts_of(any, any_start, any_end, &keys) || !texts_of(names, names_start, names_end, &some) || !in_first(keys, some, &left))
    return large();
  keys = std::move(left);
  if (const Value* patterns = member(schema, "patternProperties"))
    for (const String& one : patterns->keys) {
      Automaton a;
      const uint32_t from = a.node(), to = a.node();
      String why;
      if (!add_plain(&a, from, to, one, false, plain, &why))
        return refuse(place + "/patternProperties", why, " is not supported, in ", quoted(one));
      if (!texts_of(a, from, to, &some) || !(pattern.is(kString) && one == pattern.text ? in_both : in_first)(keys, some, &left))
        return large();
      keys = std::move(left);
    }
  if (const Value* obeyed = member(schema, "propertyNames")) {
    const Value* rule = merger_.flat(*obeyed);
    if (!rule) return status_ != LINNET_OK ? false : refuse(place + "/propertyNames", merger_.why(), " is not supported");
    const String where = place + "/propertyNames";
    if (!check_keywords(*rule, where)) return false;
    const Value* list = member(*rule, "enum");
    const Value* one = member(*rule, "const");
    if (rule->is(kBoolean)) return rule->truth ? (*out = keys, true) : (*out = {}, true);
    if (member(*rule, "anyOf") || member(*rule, "oneOf")) return refuse(where, "alternatives are not supported");
    if (list || one) {
      Automaton a;
      const uint32_t from = a.node(), to = a.node();
      for (size_t i = 0; i < (list ? list->items.size() : 1); ++i)
        if (const Value& v = list ? list->items[i] : *one; v.is(kString)) a.skip(a.text(from, v.text), to);
      if (!texts_of(a, from, to, &some)) return large();
    } else if (types(*rule) && !(types(*rule) & kString)) {
      some = {};
    } else if (const Value* format = member(*rule, "format");
               format && !(format->is(kString) && format_pattern(format->text)) && !formats_) {
      return refuse(where, "format ", dump(*format), " is not supported");
    } else if (!plain_texts(*rule, plain, where, &some)) {
      return false;
    }
    if (!in_both(keys, some, &left)) return large();
    keys = std::move(left);
  }
  *out = std::move(keys);
  return true;
}

bool SchemaCompiler::properties(uint32_t from, uint32_t to, const Value& schema, const String& place, bool some_at_least, const Lead& lead,
                                const Property& one, const Others& others) {
  const Value none_of = {.type = kObject}, nothing = {.type = kArray};
  const Value *properties = member(schema, "properties"), *required = member(schema, "required"),
              *more = member(schema, "additionalProperties"), *patterns = member(schema, "patternProperties"),
              *names = member(schema, "propertyNames");
  // Where nothing is said of members they are any; what stands beside named ones without being said is not written.
  const bool closed = std::exchange(no_members_, false), open = !properties && !patterns && !more && !closed;
  if (!properties) properties = &none_of;
  if (!required) required = &nothing;
  if (!patterns) patterns = &none_of;
  if (!properties->is(kObject)) return bad(place + "/properties", "an object is wanted");
  if (!patterns->is(kObject)) return bad(place + "/patternProperties", "an object is wanted");
  if (!required->is(kArray)) return bad(place + "/required", "an array is wanted");
  if (!others && (!patterns->keys.empty() || (more && !(more->is(kBoolean) && (!more->truth || !properties->keys.empty())))))
    return refuse(place, "members that are not named are not supported in the model's format");
  int64_t least = 0, most = 0;
  if (!count(schema, "minProperties", 0, place, &least) || !count(schema, "maxProperties", -1, place, &most)) return false;
  struct Named {
    String key;
    const Value* schema;
    bool wanted;
    String place;
  };
  Vector<Named> all;
  Vector<String> keys;
  Set<String> wanted;
  for (const Value& key : required->items) {
    if (!key.is(kString)) return bad(place + "/required", "names of properties are wanted, not ", dump(key));
    wanted.insert(key.text);
  }
  const auto step = [](const String& key) {
    String out;
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : String(1, c);
    return out;
  };
  bool known = true;
  const auto add = [&](const String& key, const Value* own, const String& where) {
    const Value* s = own;
    for (size_t i = 0; i < patterns->keys.size(); ++i) {
      if (!merger_.finds(key, patterns->keys[i], &known)) continue;
      s = s ? merger_.together(*s, patterns->items[i]) : &patterns->items[i];
    }
    if (!s) s = more ? more : &anything_;
    if (names && !merger_.obeys({.type = kString, .text = key}, *names)) s = &nothing_;
    keys.push_back(key);
    if (!(s->is(kBoolean) && !s->truth) || wanted.contains(key)) all.push_back({key, s, wanted.contains(key), where});
  };
  for (size_t i = 0; i < properties->items.size(); ++i)
    add(properties->keys[i], &properties->items[i], place + "/properties/" + step(properties->keys[i]));
  Set<String> seen;
  for (const Value& key : required->items)
    if (!member(*properties, key.text) && seen.insert(key.text).second) add(key.text, nullptr, place + "/required");
  if (!known) return refuse(place + "/patternProperties", "a pattern that is not supported");
  if (!merger_.why().empty()) return refuse(place, merger_.why(), " is not supported");
  const int64_t n_wanted = std::count_if(all.begin(), all.end(), [](const Named& n) { return n.wanted; });
  if (most >= 0 && most < n_wanted) return true;  // no object is
  if (most >= 0) {                                // optional ones as far as there may be so many
    int64_t left = most - n_wanted;
    std::erase_if(all, [&](const Named& n) { return !n.wanted && left-- <= 0; });
  }
  struct Other {
    TextSet keys;
    const Value* schema;
    String place;
  };
  Vector<Other> more_keys;
  const int64_t left = most < 0 ? -1 : most - static_cast<int64_t>(all.size());
  if (others && left != 0) {
    for (size_t i = 0; i < patterns->keys.size(); ++i) {
      Other o{{}, &patterns->items[i], place + "/patternProperties/" + step(patterns->keys[i])};
      if (!other_keys(schema, {.type = kString, .text = patterns->keys[i]}, keys, place, &o.keys)) return false;
      more_keys.push_back(std::move(o));
    }
    if (open || (more && !(more->is(kBoolean) && (!more->truth || closed)))) {
      Other o{{}, more ? more : &anything_, place + "/additionalProperties"};
      if (!other_keys(schema, {}, keys, place, &o.keys)) return false;
      more_keys.push_back(std::move(o));
    }
    std::erase_if(more_keys, [](const Other& o) { return o.keys.edges.empty() || (o.schema->is(kBoolean) && !o.schema->truth); });
  }
  if (least > n_wanted) {
    if (least == 1) {
      some_at_least = true;
    } else if (more_keys.empty() && least >= static_cast<int64_t>(all.size())) {
      if (least > static_cast<int64_t>(all.size())) return true;  // no object has so many
      for (Named& n : all) n.wanted = true;
    } else {
      return refuse(place, "keyword 'minProperties' above 1 and the members that are required is not supported");
    }
  }
  // Before each property: no member was written yet, or one was.
  uint32_t none = from, some = kNowhere;
  const auto begin_member = [&](uint32_t begin) {
    if (none != kNowhere) a_.skip(lead(none, true), begin);
    if (some != kNowhere) a_.skip(lead(some, false), begin);
  };
  for (const Named& n : all) {
    const uint32_t begin = a_.node(), end = a_.node(), after = a_.node();
    begin_member(begin);
    if (!one(begin, end, n.key, *n.schema, n.place)) return false;
    a_.skip(end, after);
    if (n.wanted)
      none = kNowhere;
    else if (some != kNowhere)
      a_.skip(some, after);
    some = after;
  }
  if (none != kNowhere && !some_at_least) a_.skip(none, to);
  if (some != kNowhere) a_.skip(some, to);
  if (more_keys.empty()) return true;
  const uint32_t begin = a_.node(), behind = a_.node();
  begin_member(begin);
  const auto any_of = [&](uint32_t a, uint32_t b) {
    return std::all_of(more_keys.begin(), more_keys.end(), [&](const Other& o) { return others(a, b, o.keys, *o.schema, o.place); });
  };
  return any_of(begin, behind) &&
         repeat(behind, to, 0, left < 0 ? -1 : left - 1, [&](uint32_t a, uint32_t b) { return any_of(lead(a, false), b); });
}

// The parser of answers knows the first of these types that fits, and takes a text for a text before anything else.
uint32_t SchemaCompiler::text_types(const Value& schema) {
  if (root_ && root_text_.empty()) {  // what references lead to
    Value definitions = {.type = kObject};
    for (const char* folder : {"$defs", "definitions"})
      if (const Value* found = member(*root_, folder)) definitions.keys.push_back(folder), definitions.items.push_back(*found);
    root_text_ = dump(definitions);
  }
  const String text = dump(schema);
  const uint32_t t = chat::types_of(text, root_text_);
  if (!t) return 0;
  uint32_t set = t & chat::kIsNull ? uint32_t{kNull} : 0;
  if (t & chat::kTextFirst || (t & ~uint32_t{chat::kTextFirst}) == chat::kIsText) return set | kString;
  if (t & chat::kIsNumber) set |= kInteger | kNumber;
  if (t & chat::kIsBool) set |= kBoolean;
  if (t & chat::kIsObject) set |= kObject;
  if (t & chat::kIsList) set |= kArray;
  return set;
}

Status compile_grammar(std::string_view text, const char* name, linnet_grammar_kind kind, Vector<uint8_t>* out, Error* err) {
  const uint32_t what = kind & ~uint32_t{LINNET_GRAMMAR_SPACED | LINNET_GRAMMAR_ANY_FORMAT};
  if (what == LINNET_GRAMMAR_GBNF) return compile_gbnf(text, name, out, err);
  if (what == LINNET_GRAMMAR_REGEX) return compile_regex(text, name, out, err);
  if (what == LINNET_GRAMMAR_CHOICES) return compile_choices(text, name, out, err);
  Value tree;
  LINNET_TRY(schema_parse(text, name, &tree, err));
  SchemaCompiler compiler(name, err, kind & LINNET_GRAMMAR_ANY_FORMAT);
  const bool spaced = kind & LINNET_GRAMMAR_SPACED;
  return what == LINNET_GRAMMAR_SCHEMA ? compiler.schema_alone(tree, spaced, out)
                                       : compiler.tools(tree, what == LINNET_GRAMMAR_TEXT_OR_CALL, spaced, out);
}

}  // namespace linnet::convert
