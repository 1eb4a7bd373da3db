#include "json_schema.h"

#include <algorithm>
#include <set>

#include "../../platform/utf8.h"
#include "../chat/answer_parts.h"
#include "convert.h"
#include "gbnf.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMaxNesting = 60;  // of values; it reads 64
constexpr uint32_t kMaxDepth = 128, kMaxTwins = 1u << 20, kFractionDigits = 17;

// Keywords and the types that they are about; 0: they stand beside any.
struct Keyword {
  const char* name;
  uint32_t types;
};
constexpr Keyword kKeywords[] = {{"properties", kObject},
                                 {"required", kObject},
                                 {"additionalProperties", kObject},
                                 {"items", kArray},
                                 {"minItems", kArray},
                                 {"maxItems", kArray},
                                 {"uniqueItems", kArray},
                                 {"minLength", kString},
                                 {"maxLength", kString},
                                 {"pattern", kString},
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
constexpr const char* kSilent[] = {"title",     "description", "default", "examples", "deprecated", "readOnly",
                                   "writeOnly", "$schema",     "$id",     "$comment", "$defs",      "definitions"};

bool silent(const std::string& key) {
  return std::any_of(std::begin(kSilent), std::end(kSilent), [&](const char* s) { return key == s; });
}

}  // namespace

Status SchemaCompiler::schema_alone(const Value& schema, std::vector<uint8_t>* out) {
  set_root(&schema);
  const uint32_t start = a_.node(), end = a_.node();
  if (value(start, end, schema, "#")) return a_.compile(start, end, {}, name_, out, err_);
  return status_;
}

Status SchemaCompiler::tools(const Value& list, bool or_text, std::vector<uint8_t>* out) {
  const uint32_t start = a_.node(), end = a_.node(), calls = a_.node();
  std::vector<Tool> all;
  if (!read_tools(list, &all)) return status_;
  for (const Tool& tool : all) {
    const uint32_t begin = a_.text(calls, "{\"name\":" + quoted(tool.name) + ",\"arguments\":"), behind = a_.node();
    if (!arguments(begin, behind, tool, Notation::kCompact)) return status_;
    a_.skip(a_.text(behind, "}"), end);
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
  return a_.compile(start, end, {}, name_, out, err_);
}

bool SchemaCompiler::room() {
  if (a_.full()) status_ = fail(err_, LINNET_UNSUPPORTED, name_, ": the grammar has more than ", uint32_t{Automaton::kMaxNodes}, " nodes");
  return !a_.full();
}

bool SchemaCompiler::read_tools(const Value& list, std::vector<Tool>* out) {
  if (!list.is(kArray) || list.items.empty()) return bad("#", "tools are an array with one element and more");
  std::set<std::string> names;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (!read_tool(list.items[i], "#/" + std::to_string(i), out)) return false;
    if (!names.insert(out->back().name).second) return bad("#/" + std::to_string(i), "there is another tool ", quoted(out->back().name));
  }
  return true;
}

bool SchemaCompiler::read_tool(const Value& one, const std::string& place, std::vector<Tool>* out) {
  const Value* type = member(one, "type");
  if (type && (!type->is(kString) || type->text != "function"))
    return refuse(place + "/type", "tools of type function are known, not ", dump(*type));
  const Value* inner = member(one, "function");
  const Value& f = inner ? *inner : one;
  const std::string at = inner ? place + "/function" : place;
  const Value *name = member(f, "name"), *parameters = member(f, "parameters");
  if (!name || !name->is(kString) || name->text.empty()) return bad(at, "a tool without a name");
  for (const Value* object : {&one, &f})
    for (const std::string& key : object->keys)
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
  if (tool.parameters) return value(from, to, *tool.parameters, tool.place);
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
void SchemaCompiler::characters(uint32_t from, uint32_t to, const std::vector<CharRange>& ranges) {
  if (style_.notation == Notation::kPython) return a_.python_char(from, to, '\'', ranges);
  // As it is, but for those that a mark begins with.
  std::vector<CharRange> none = all_but(ranges);
  const auto leave_out = [&none](const std::string& mark) {
    const uint32_t c = next_char(mark.data(), mark.size()).code;
    none.push_back({c, c});
  };
  if (!style_.mark.empty()) leave_out(style_.mark);
  for (const std::string& mark : style_.never) leave_out(mark);
  if (style_.lines) leave_out("\r");  // at an end it would go with the line's
  if (style_.notation < Notation::kPython) return a_.json_char_of(from, to, all_but(none));
  for (const CharRange& r : all_but(none)) a_.utf8(from, to, r);
}

const Value* SchemaCompiler::target(const Value& ref, const std::string& place) {
  const std::string* path = ref.is(kString) ? &ref.text : nullptr;
  for (const char* folder : {"$defs", "definitions"}) {
    const std::string begin = std::string("#/") + folder + "/";
    if (!path || path->compare(0, begin.size(), begin) != 0) continue;
    std::string key;
    for (size_t i = begin.size(); i < path->size(); ++i) {
      if ((*path)[i] != '~')
        key += (*path)[i];
      else
        key += ++i < path->size() && (*path)[i] == '1' ? '/' : '~';
    }
    const Value* defs = root_ ? member(*root_, folder) : nullptr;
    const Value* found = defs && path->find('/', begin.size()) == path->npos ? member(*defs, key) : nullptr;
    if (!found) bad(place, "there is no ", *path);
    return found;
  }
  refuse(place, "$ref is to #/$defs/NAME or #/definitions/NAME, not ", dump(ref));
  return nullptr;
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

bool SchemaCompiler::check_types(const Value& schema, const std::string& place) {
  const Value* type = member(schema, "type");
  if (!type) return true;
  const auto known = [&](const Value& one) { return one.is(kString) && type_named(one.text); };
  if (type->is(kArray) ? type->items.empty() || !std::all_of(type->items.begin(), type->items.end(), known) : !known(*type))
    return bad(place + "/type", "there is no type ", dump(*type));
  return true;
}

bool SchemaCompiler::check_keywords(const Value& schema, const std::string& place) {
  if (schema.is(kBoolean))
    return refuse(place, schema.truth ? "true as a schema is not supported: say which type" : "false as a schema is not supported");
  if (!schema.is(kObject)) return bad(place, "a schema is an object, not ", type_name(schema));
  if (!check_types(schema, place)) return false;
  const char* alone = nullptr;  // what other keywords do not go with
  for (const char* key : {"$ref", "anyOf", "oneOf", "enum", "const"})
    if (!alone && member(schema, key)) alone = key;
  const bool values = alone && (alone[0] == 'e' || alone[0] == 'c');
  for (const std::string& key : schema.keys) {
    if (silent(key)) continue;
    const auto* known = std::find_if(std::begin(kKeywords), std::end(kKeywords), [&](const Keyword& k) { return key == k.name; });
    if (known == std::end(kKeywords)) return refuse(place, "keyword '", key, "' is not supported");
    if (alone && key != alone && !(values && key == "type"))
      return refuse(place, "keyword '", key, "' beside '", alone, "' is not supported");
    if (known->types && !(known->types & types(schema))) return refuse(place, "keyword '", key, "' without its type is not supported");
  }
  if (!alone && !types(schema)) return refuse(place, "a schema without a type is not supported");
  return true;
}

bool SchemaCompiler::value(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
  if (depth_ == kMaxDepth) return refuse(place, "schemas more than ", kMaxDepth, " deep, references followed");
  ++depth_;
  const bool ok = room() && check_keywords(schema, place) && known_value(from, to, schema, place);
  --depth_;
  return ok;
}

bool SchemaCompiler::known_value(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
  const uint32_t begin = a_.node(), end = a_.node();
  a_.skip(from, begin);
  a_.skip(end, to);
  if (const Value* ref = member(schema, "$ref")) return reference(begin, end, *ref, place);
  for (const char* key : {"anyOf", "oneOf"})
    if (const Value* list = member(schema, key)) return alternatives(begin, end, *list, key[0] == 'o', place + "/" + key);
  if (const Value* list = member(schema, "enum")) {
    if (!list->is(kArray) || list->items.empty()) return bad(place + "/enum", "enum is an array with one element and more");
    for (size_t i = 0; i < list->items.size(); ++i)
      if (!constant(begin, end, list->items[i], schema, place + "/enum/" + std::to_string(i))) return false;
    return true;
  }
  if (const Value* one = member(schema, "const")) return constant(begin, end, *one, schema, place + "/const");
  const uint32_t set = types(schema) & style_.allowed;
  if (!set) return true;  // another alternative has one that is
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

bool SchemaCompiler::reference(uint32_t from, uint32_t to, const Value& ref, const std::string& place) {
  const Value* schema = target(ref, place + "/$ref");
  if (!schema) return false;
  if (std::find(refs_.begin(), refs_.end(), schema) != refs_.end())
    return refuse(place + "/$ref", "recursion is not supported: ", ref.text, " stands in itself");
  refs_.push_back(schema);
  const bool ok = value(from, to, *schema, ref.text);
  refs_.pop_back();
  return ok;
}

bool SchemaCompiler::constant(uint32_t from, uint32_t to, const Value& v, const Value& schema, const std::string& place) {
  if (!room()) return false;
  if (member(schema, "type") && !(types(schema) & type_of(v))) return bad(place, dump(v), " is not of the type");
  if (!(type_of(v) & style_.allowed)) return true;
  if (raw() && v.is(kString) && style_.allowed & kNull && (v.text == "null" || v.text == "None")) return true;  // which would be null
  std::string text;
  if (!literal(v, place, &text)) return false;
  if (raw() && !v.is(kString)) return as_json(from, to, [&](uint32_t in, uint32_t out) { return a_.skip(a_.text(in, text), out), true; });
  const uint32_t end = a_.text(from, text);
  a_.skip(raw() ? mark(end) : end, to);
  return true;
}

bool SchemaCompiler::no_mark(const std::string& text, const std::string& place) {
  bool holds = !style_.mark.empty() && text.find(style_.mark) != text.npos;
  for (const std::string& mark : style_.never) holds |= text.find(mark) != text.npos;
  return !holds || refuse(place, quoted(text), " holds a mark of the model's format");
}

// A value as the style has it.
bool SchemaCompiler::literal(const Value& v, const std::string& place, std::string* out) {
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

bool SchemaCompiler::alternatives(uint32_t from, uint32_t to, const Value& list, bool only_one, const std::string& place) {
  if (!list.is(kArray) || list.items.empty()) return bad(place, "an array with one element and more is wanted");
  for (size_t i = 0; i < list.items.size(); ++i)
    if (!value(from, to, list.items[i], place + "/" + std::to_string(i))) return false;
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
  const Value* s = &schema;
  uint32_t hops = 0;
  for (const Value* ref = member(*s, "$ref"); ref && hops < kMaxDepth; ref = member(*s, "$ref"), ++hops) {
    const Value* next = target(*ref, "");
    if (!next) break;
    s = next;
  }
  return *s;
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
    std::vector<const Value*> out;
    if (const Value* list = member(s, "enum"))
      for (const Value& one : list->items) out.push_back(&one);
    else if (const Value* one_value = member(s, "const"))
      out.push_back(one_value);
    return out;
  };
  const auto kinds = [&](const Value& s, const std::vector<const Value*>& list) {
    uint32_t set = types(s) | (types(s) & kNumber ? uint32_t{kInteger} : 0);
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

bool SchemaCompiler::bounds(const Value& schema, bool integer, const std::string& place, Bounds* out) {
  for (const bool low : {true, false})
    for (const bool open : {false, true}) {
      const char* key = low ? (open ? "exclusiveMinimum" : "minimum") : (open ? "exclusiveMaximum" : "maximum");
      const Value* v = member(schema, key);
      if (!v) continue;
      if (!v->is(kNumber)) return bad(place + "/" + key, "a number is wanted, not ", dump(*v));
      out->any = true;
      const Decimal d(v->text);
      if (!integer && !d.whole()) return refuse(place + "/" + key, "bounds of numbers are whole, not ", dump(*v));
      int64_t bound = d.rounded(low);
      bool without = open && d.whole();
      if (integer && without) bound += low ? 1 : -1, without = false;
      if (low ? bound > out->low || (bound == out->low && without) : bound < out->high || (bound == out->high && without)) {
        (low ? out->low : out->high) = bound;
        (low ? out->above : out->below) = without;
      }
    }
  if (out->low > kMaxInteger || out->high < -kMaxInteger) return refuse(place, "all numbers within the bounds have more than 18 digits");
  if (out->low > out->high || (out->low == out->high && (out->above || out->below))) return bad(place, "no number is within the bounds");
  return true;
}

void SchemaCompiler::whole(uint32_t from, uint32_t to, int64_t low, int64_t high) {
  const std::string least = std::to_string(low), most = std::to_string(high);
  for (size_t digits = least.size(); digits <= most.size(); ++digits) {
    const std::string first = digits == least.size() ? least : "1" + std::string(digits - 1, '0');
    a_.between(from, to, first, digits == most.size() ? most : std::string(digits, '9'), '0', '9');
  }
}

void SchemaCompiler::fraction(uint32_t from, uint32_t to, bool zero, bool not_zero) {
  uint32_t seen = a_.node(), other = a_.node();  // only zeros so far; another digit was there
  a_.bytes(from, seen, '.', '.');
  for (uint32_t i = 0; i < kFractionDigits; ++i) {
    const uint32_t next = a_.node(), next_other = a_.node();
    a_.bytes(seen, next, '0', '0');
    if (!zero) {
      a_.bytes(seen, next_other, '1', '9');
      a_.bytes(other, next_other, '0', '9');
      a_.skip(next_other, to);
    }
    if (!not_zero) a_.skip(next, to);
    seen = next;
    other = next_other;
  }
}

void SchemaCompiler::between(uint32_t from, uint32_t to, const Bounds& b) {
  const uint32_t end = a_.node();
  a_.skip(end, to);
  const auto plain = [&](int64_t low, int64_t high, bool whole_too, bool zero, bool not_zero) {
    if (low > high) return;
    const uint32_t digits = a_.node();
    whole(from, digits, low, high);
    if (whole_too) a_.skip(digits, end);
    fraction(digits, end, zero, not_zero);
  };
  if (b.low == b.high) {
    if (!b.above && !b.below) plain(b.low, b.low, true, true, false);
    return;
  }
  plain(b.low, b.low, !b.above, false, b.above);
  plain(b.low + 1, b.high - 1, true, false, false);
  if (!b.below) plain(b.high, b.high, true, true, false);
}

bool SchemaCompiler::number(uint32_t from, uint32_t to, const Value& schema, bool integer, const std::string& place) {
  Bounds b;
  if (!bounds(schema, integer, place, &b)) return false;
  const uint32_t minus = a_.node();
  a_.bytes(from, minus, '-', '-');
  if (integer) {
    if (b.high >= 0) whole(from, to, std::max<int64_t>(b.low, 0), b.high);
    if (b.low < 0) whole(minus, to, std::max<int64_t>(-b.high, 1), -b.low);
    return true;
  }
  if (b.any) {  // without -0
    if (b.high >= 0) between(from, to, {true, std::max<int64_t>(b.low, 0), b.high, b.low >= 0 && b.above, b.below});
    if (b.low < 0) between(minus, to, {true, std::max<int64_t>(-b.high, 0), -b.low, b.high >= 0 || b.below, b.above});
    return true;
  }
  const uint32_t digits = a_.node(), e = a_.node(), sign = a_.node(), end = a_.node();
  whole(from, digits, 0, kMaxInteger);
  whole(minus, digits, 0, kMaxInteger);
  a_.skip(digits, end);
  fraction(digits, end, false, false);
  a_.skip(end, to);
  for (const uint8_t c : {uint8_t{'e'}, uint8_t{'E'}}) a_.bytes(end, e, c, c);
  for (const uint8_t c : {uint8_t{'+'}, uint8_t{'-'}}) a_.bytes(e, sign, c, c);
  a_.skip(e, sign);
  const uint32_t one = a_.node(), two = a_.node();
  a_.bytes(sign, one, '0', '9');
  a_.bytes(one, two, '0', '9');
  a_.skip(one, to);
  a_.skip(two, to);
  return true;
}

bool SchemaCompiler::count(const Value& schema, const char* key, int64_t other, const std::string& place, int64_t* out) {
  const Value* v = member(schema, key);
  *out = other;
  if (!v) return true;
  if (!v->is(kNumber) || !Decimal(v->text).whole() || Decimal(v->text).negative)
    return bad(place + "/" + key, "a count is wanted, not ", dump(*v));
  *out = std::min(Decimal(v->text).rounded(false), int64_t{Automaton::kMaxNodes});  // which is refused where it is reached
  return true;
}

bool SchemaCompiler::string(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
  const Value* pattern = member(schema, "pattern");
  int64_t least = 0, most = 0;
  if (!count(schema, "minLength", 0, place, &least) || !count(schema, "maxLength", -1, place, &most)) return false;
  if (most >= 0 && most < least) return bad(place, "minLength is above maxLength");
  const Notation n = style_.notation;
  const bool json = n < Notation::kPython, free = !pattern && least == 0 && most < 0;
  uint32_t begin = from, end = a_.node();
  if (json) {
    begin = a_.text(from, "\"");
    a_.skip(a_.text(end, "\""), to);
    if (free && !style_.never.empty()) {
      std::vector<Automaton::Mark> marks;
      for (const std::string& one : style_.never) marks.push_back({one, kNowhere});
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
      std::vector<Automaton::Mark> marks = {{style_.mark, to}};
      for (const std::string& one : style_.never) marks.push_back({one, kNowhere});
      a_.until(begin, marks, kNowhere);
      return room();
    }
    a_.skip(mark(end), to);
  }
  if (pattern) {
    if (!pattern->is(kString)) return bad(place + "/pattern", "a text is wanted");
    if (member(schema, "minLength") || member(schema, "maxLength"))
      return refuse(place, "keyword 'pattern' beside minLength or maxLength is not supported");
    std::string why;
    pattern_chars(
        &a_, begin, end, pattern->text, [this](uint32_t a, uint32_t b, const std::vector<CharRange>& ranges) { characters(a, b, ranges); },
        false, &why);
    return why.empty() ? room() : refuse(place + "/pattern", why, " is not supported, in ", dump(*pattern));
  }
  return repeat(begin, end, least, most, [&](uint32_t a, uint32_t b) {
    if (json && style_.never.empty())
      a_.json_char(a, b);
    else
      characters(a, b, {{0, 0x10FFFF}});
    return true;
  });
}

bool SchemaCompiler::tag(uint32_t from, uint32_t to, const std::string& key, const Value& schema, const std::string& place) {
  if (key.empty() || key[0] == '/' || key.find_first_of("<>") != key.npos) return refuse(place, quoted(key), " cannot be written as a tag");
  constexpr uint32_t kDeepest = 16;  // as the parser of answers holds them
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

bool SchemaCompiler::array(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
  const Value *items = member(schema, "items"), *unique = member(schema, "uniqueItems");
  if (unique && (!unique->is(kBoolean) || unique->truth)) return refuse(place, "keyword 'uniqueItems' is not supported but for false");
  int64_t least = 0, most = 0;
  if (!count(schema, "minItems", 0, place, &least) || !count(schema, "maxItems", -1, place, &most)) return false;
  if (most >= 0 && most < least) return bad(place, "minItems is above maxItems");
  const bool tags = style_.notation == Notation::kTags;
  const Nested here(this);
  if (nesting_ > kMaxNesting) return refuse(place, "values are nested more than ", kMaxNesting, " deep");
  const uint32_t begin = tags ? mark(gap(from)) : gap(a_.text(from, "[")), end = a_.node();
  a_.skip(tags ? end : a_.text(gap(end), "]"), to);
  if (least == 0 && tags)
    a_.skip(mark(a_.text(from, "[]")), to);
  else if (least == 0)
    a_.skip(begin, end);
  if (most == 0) return true;
  if (!items) return refuse(place, "an array without 'items' is not supported");
  const auto one = [&](uint32_t a, uint32_t b) {
    const uint32_t behind = a_.node();
    const bool ok = tags ? tag(a, behind, "item", *items, place + "/items") : value(a, behind, *items, place + "/items");
    a_.skip(tags ? mark(gap(behind)) : behind, b);
    return ok;
  };
  const uint32_t first = a_.node();
  if (!one(begin, first)) return false;
  return repeat(first, end, std::max<int64_t>(least - 1, 0), most < 0 ? most : most - 1,
                [&](uint32_t a, uint32_t b) { return one(tags ? a : gap(a_.text(a, ",")), b); });
}

bool SchemaCompiler::object(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
  const Nested here(this);
  if (nesting_ > kMaxNesting) return refuse(place, "values are nested more than ", kMaxNesting, " deep");
  if (style_.notation == Notation::kTags) {
    const Value* required = member(schema, "required");
    if (!required || required->items.empty()) a_.skip(mark(a_.text(from, "{}")), to);
    const bool list_too = style_.allowed & kArray;
    return properties(
        mark(gap(from)), to, schema, place, true, [](uint32_t at, bool) { return at; },
        [&](uint32_t a, uint32_t b, const std::string& key, const Value& one, const std::string& where) {
          if (key == "item" && list_too) return refuse(where, "the model's format cannot tell this object from a list");
          const uint32_t behind = a_.node();
          a_.skip(mark(gap(behind)), b);
          return tag(a, behind, key, one, where);
        });
  }
  const uint32_t end = a_.node();  // of all properties, so that white space in front of the end stands once
  a_.skip(a_.text(gap(end), "}"), to);
  return properties(
      gap(a_.text(from, "{")), end, schema, place, false, [&](uint32_t at, bool first) { return first ? at : gap(a_.text(at, ",")); },
      [&](uint32_t a, uint32_t b, const std::string& key, const Value& one, const std::string& where) {
        std::string name;
        if (style_.notation == Notation::kGemma && !key.empty() && key.find_first_of(":{}[],\n\"'<") == key.npos && key[0] != ' ' &&
            key.back() != ' ')
          name = key;
        else if (!literal({.type = kString, .text = key}, where, &name))
          return false;
        return value(blank(a_.text(a, name + ":")), b, one, where);
      });
}

bool SchemaCompiler::properties(uint32_t from, uint32_t to, const Value& schema, const std::string& place, bool some_at_least,
                                const Lead& lead, const Property& one) {
  const Value none_of = {.type = kObject}, nothing = {.type = kArray};
  const Value *properties = member(schema, "properties"), *required = member(schema, "required"),
              *more = member(schema, "additionalProperties");
  if (more && (!more->is(kBoolean) || more->truth)) return refuse(place, "keyword 'additionalProperties' is not supported but for false");
  if (!properties) properties = &none_of;
  if (!required) required = &nothing;
  if (!properties->is(kObject)) return bad(place + "/properties", "an object is wanted");
  if (!required->is(kArray)) return bad(place + "/required", "an array is wanted");
  std::vector<std::string> wanted;
  for (const Value& key : required->items) {
    if (!key.is(kString)) return bad(place + "/required", "names of properties are wanted, not ", dump(key));
    if (!member(*properties, key.text)) return refuse(place + "/required", dump(key), " is not among the properties");
    wanted.push_back(key.text);
  }
  std::sort(wanted.begin(), wanted.end());
  // Before each property: no member was written yet, or one was.
  uint32_t none = from, some = kNowhere;
  for (size_t i = 0; i < properties->items.size(); ++i) {
    const std::string& key = properties->keys[i];
    const uint32_t begin = a_.node(), end = a_.node(), after = a_.node();
    if (none != kNowhere) a_.skip(lead(none, true), begin);
    if (some != kNowhere) a_.skip(lead(some, false), begin);
    std::string step;
    for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    if (!one(begin, end, key, properties->items[i], place + "/properties/" + step)) return false;
    a_.skip(end, after);
    if (std::binary_search(wanted.begin(), wanted.end(), key))
      none = kNowhere;
    else if (some != kNowhere)
      a_.skip(some, after);
    some = after;
  }
  if (none != kNowhere && !some_at_least) a_.skip(none, to);
  if (some != kNowhere) a_.skip(some, to);
  return true;
}

// The parser of answers knows the first of these types that fits, and takes a text for a text before anything else.
uint32_t SchemaCompiler::text_types(const Value& schema) {
  if (root_ && root_text_.empty()) {  // what references lead to
    Value definitions = {.type = kObject};
    for (const char* folder : {"$defs", "definitions"})
      if (const Value* found = member(*root_, folder)) definitions.keys.push_back(folder), definitions.items.push_back(*found);
    root_text_ = dump(definitions);
  }
  const std::string text = dump(schema);
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

linnet_status compile_grammar(std::string_view json, const char* name, linnet_grammar_kind kind, std::vector<uint8_t>* out, Error* err) {
  if (kind == LINNET_GRAMMAR_GBNF) return compile_gbnf(json, name, out, err);
  if (kind == LINNET_GRAMMAR_REGEX) return compile_regex(json, name, out, err);
  if (kind == LINNET_GRAMMAR_CHOICES) return compile_choices(json, name, out, err);
  Value tree;
  LINNET_TRY(schema_parse(json, name, &tree, err));
  SchemaCompiler compiler(name, err);
  return kind == LINNET_GRAMMAR_SCHEMA ? compiler.schema_alone(tree, out) : compiler.tools(tree, kind == LINNET_GRAMMAR_TEXT_OR_CALL, out);
}

}  // namespace linnet::convert
