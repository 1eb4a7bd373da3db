// linnet_grammar_compile: JSON Schema and lists of tools as automata. What is not known is refused, so that nothing which comes out breaks a rule that was not understood.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "automaton.h"
#include "json.h"

namespace linnet::convert {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kMaxInteger = 999'999'999'999'999'999;  // 18 digits
constexpr uint32_t kMaxDepth = 128, kMaxTwins = 1u << 20, kFractionDigits = 17;

enum Type : uint32_t { kNull = 1, kBoolean = 2, kInteger = 4, kNumber = 8, kString = 16, kArray = 32, kObject = 64 };
struct TypeName {
  const char* name;
  uint32_t type;
};
constexpr TypeName kTypes[] = {{"null", kNull}, {"boolean", kBoolean}, {"integer", kInteger}, {"number", kNumber}, {"string", kString}, {"array", kArray}, {"object", kObject}};
// Keywords and the types that they are about; 0: they stand beside any.
constexpr TypeName kKeywords[] = {
    {"properties", kObject}, {"required", kObject}, {"additionalProperties", kObject}, {"items", kArray}, {"minItems", kArray}, {"maxItems", kArray}, {"uniqueItems", kArray},
    {"minLength", kString}, {"maxLength", kString}, {"pattern", kString}, {"minimum", kInteger | kNumber}, {"maximum", kInteger | kNumber},
    {"exclusiveMinimum", kInteger | kNumber}, {"exclusiveMaximum", kInteger | kNumber}, {"type", 0}, {"enum", 0}, {"const", 0}, {"anyOf", 0}, {"oneOf", 0}, {"$ref", 0}};
constexpr const char* kSilent[] = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$comment", "$defs", "definitions"};

const ordered_json* member(const ordered_json& from, const char* key) {
  if (!from.is_object()) return nullptr;
  const auto at = from.find(key);
  return at == from.end() ? nullptr : &*at;
}
bool silent(const std::string& key) {
  return std::any_of(std::begin(kSilent), std::end(kSilent), [&](const char* s) { return key == s; });
}
std::string dump(const ordered_json& v) { return v.dump(); }
const std::string& text_of(const ordered_json& v) { return *v.get_ptr<const std::string*>(); }

uint32_t type_of(const ordered_json& v) {
  switch (v.type()) {
    case ordered_json::value_t::null: return kNull;
    case ordered_json::value_t::boolean: return kBoolean;
    case ordered_json::value_t::number_integer:
    case ordered_json::value_t::number_unsigned: return kInteger | kNumber;
    case ordered_json::value_t::number_float: return std::floor(v.get<double>()) == v.get<double>() ? kInteger | kNumber : kNumber;
    case ordered_json::value_t::string: return kString;
    case ordered_json::value_t::array: return kArray;
    default: return kObject;
  }
}

// Whether two values are equal to JSON Schema, which knows no order of members.
bool equal(const ordered_json& a, const ordered_json& b) {
  if (a.is_array() && b.is_array())
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const ordered_json& x, const ordered_json& y) { return equal(x, y); });
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const ordered_json* other = member(b, key.c_str());
    if (!other || !equal(value, *other)) return false;
  }
  return true;
}

// Numbers from low to high; without them what has 18 digits.
struct Bounds {
  bool any = false;
  int64_t low = -kMaxInteger, high = kMaxInteger;
  bool above = false, below = false;  // low, high are not among them (numbers alone)
};

class Compiler {
 public:
  Compiler(const char* name, Error* err) : name_(name), err_(err) {}

  Status schema_alone(const ordered_json& schema, std::vector<uint8_t>* out) {
    root_ = &schema;
    const uint32_t start = a_.node(), end = a_.node();
    if (value(start, end, schema, "#")) return a_.compile(start, end, name_, out, err_);
    return status_;
  }

  Status tools(const ordered_json& list, bool or_text, std::vector<uint8_t>* out) {
    const uint32_t start = a_.node(), end = a_.node(), calls = a_.node();
    if (!list.is_array() || list.empty()) return bad("#", "tools are an array with one element and more"), status_;
    std::vector<std::string> names;
    for (size_t i = 0; i < list.size(); ++i)
      if (!tool(calls, end, list[i], "#/" + std::to_string(i), &names)) return status_;
    a_.skip(start, calls);
    if (or_text) {
      const uint32_t more = a_.node();
      // The first character is neither '{' nor white space of any kind.
      for (const CharRange& r : all_but({{9, 13}, {0x1C, ' '}, {'{', '{'}, {0x85, 0x85}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}}))
        a_.utf8(start, more, r);
      a_.utf8(more, more, {0, 0x10FFFF});
      a_.skip(more, end);
    }
    return a_.compile(start, end, name_, out, err_);
  }

 private:
  template <class... Parts>
  bool refuse(const std::string& place, const Parts&... parts) {
    status_ = fail(err_, LINNET_UNSUPPORTED, name_, ": ", place, ": ", parts...);
    return false;
  }
  template <class... Parts>
  bool bad(const std::string& place, const Parts&... parts) {
    status_ = fail(err_, LINNET_BAD_FILE, name_, ": ", place, ": ", parts...);
    return false;
  }
  bool room() {
    if (a_.full()) status_ = fail(err_, LINNET_UNSUPPORTED, name_, ": the grammar has more than ", uint32_t{Automaton::kMaxNodes}, " nodes");
    return !a_.full();
  }

  bool tool(uint32_t from, uint32_t to, const ordered_json& one, const std::string& place, std::vector<std::string>* names) {
    const ordered_json* type = member(one, "type");
    if (type && (!type->is_string() || text_of(*type) != "function")) return refuse(place + "/type", "tools of type function are known, not ", dump(*type));
    const ordered_json* inner = member(one, "function");
    const ordered_json& f = inner ? *inner : one;
    const std::string at = inner ? place + "/function" : place;
    const ordered_json *name = member(f, "name"), *parameters = member(f, "parameters");
    if (!name || !name->is_string() || text_of(*name).empty()) return bad(at, "a tool without a name");
    for (const ordered_json* object : {&one, &f})
      for (const auto& [key, ignored] : object->items())
        if (key != "type" && key != "name" && key != "description" && key != "parameters" && key != "strict" && !(key == "function" && object != inner)) return refuse(at, "'", key, "' is not supported in a tool");
    if (std::find(names->begin(), names->end(), text_of(*name)) != names->end()) return bad(at, "there is another tool ", dump(*name));
    names->push_back(text_of(*name));
    const uint32_t arguments = a_.text(from, "{\"name\":" + dump(*name) + ",\"arguments\":"), end = a_.node();
    root_ = parameters;
    if (!parameters) a_.skip(a_.text(arguments, "{}"), end);
    else if (types(*parameters) != kObject || !member(*parameters, "type")) return refuse(at + "/parameters", "parameters are of type object");
    else if (!value(arguments, end, *parameters, at + "/parameters")) return false;
    a_.skip(a_.text(end, "}"), to);
    return true;
  }

  // What a $ref stands for; nullptr after refusing.
  const ordered_json* target(const ordered_json& ref, const std::string& place) {
    const std::string* path = ref.get_ptr<const std::string*>();
    for (const char* folder : {"$defs", "definitions"}) {
      const std::string begin = std::string("#/") + folder + "/";
      if (!path || path->compare(0, begin.size(), begin) != 0) continue;
      std::string key;
      for (size_t i = begin.size(); i < path->size(); ++i) {
        if ((*path)[i] != '~') key += (*path)[i];
        else key += ++i < path->size() && (*path)[i] == '1' ? '/' : '~';
      }
      const ordered_json* defs = root_ ? member(*root_, folder) : nullptr;
      const ordered_json* found = defs && path->find('/', begin.size()) == path->npos ? member(*defs, key.c_str()) : nullptr;
      if (!found) bad(place, "there is no ", *path);
      return found;
    }
    refuse(place, "$ref is to #/$defs/NAME or #/definitions/NAME, not ", dump(ref));
    return nullptr;
  }

  static uint32_t types(const ordered_json& schema) {
    const ordered_json* type = member(schema, "type");
    if (!type) return 0;
    uint32_t set = 0;
    const auto add = [&](const ordered_json& one) {
      if (one.is_string())
        for (const TypeName& t : kTypes) set |= text_of(one) == t.name ? t.type : 0;
    };
    add(*type);
    if (type->is_array())
      for (const ordered_json& one : *type) add(one);
    return set;
  }

  bool check_types(const ordered_json& schema, const std::string& place) {
    const ordered_json* type = member(schema, "type");
    if (!type) return true;
    const auto known = [&](const ordered_json& one) {
      return one.is_string() && std::any_of(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return text_of(one) == t.name; });
    };
    if (type->is_array() ? type->empty() || !std::all_of(type->begin(), type->end(), known) : !known(*type)) return bad(place + "/type", "there is no type ", dump(*type));
    return true;
  }

  // Every keyword is known and has something to say here.
  bool check_keywords(const ordered_json& schema, const std::string& place) {
    if (schema.is_boolean()) return refuse(place, schema.get<bool>() ? "true as a schema is not supported: say which type" : "false as a schema is not supported");
    if (!schema.is_object()) return bad(place, "a schema is an object, not ", json_type(schema));
    if (!check_types(schema, place)) return false;
    const char* alone = nullptr;  // what other keywords do not go with
    for (const char* key : {"$ref", "anyOf", "oneOf", "enum", "const"})
      if (!alone && member(schema, key)) alone = key;
    const bool values = alone && (alone[0] == 'e' || alone[0] == 'c');
    for (const auto& [key, ignored] : schema.items()) {
      if (silent(key)) continue;
      const auto* known = std::find_if(std::begin(kKeywords), std::end(kKeywords), [&, &k = key](const TypeName& t) { return k == t.name; });
      if (known == std::end(kKeywords)) return refuse(place, "keyword '", key, "' is not supported");
      if (alone && key != alone && !(values && key == "type")) return refuse(place, "keyword '", key, "' beside '", alone, "' is not supported");
      if (known->type && !(known->type & types(schema))) return refuse(place, "keyword '", key, "' without its type is not supported");
    }
    if (!alone && !types(schema)) return refuse(place, "a schema without a type is not supported");
    return true;
  }
  static const char* json_type(const ordered_json& v) { return v.type_name(); }

  bool value(uint32_t from, uint32_t to, const ordered_json& schema, const std::string& place) {
    if (depth_ == kMaxDepth) return refuse(place, "schemas more than ", kMaxDepth, " deep, references followed");
    ++depth_;
    const bool ok = room() && check_keywords(schema, place) && known_value(from, to, schema, place);
    --depth_;
    return ok;
  }

  bool known_value(uint32_t from, uint32_t to, const ordered_json& schema, const std::string& place) {
    const uint32_t begin = a_.node(), end = a_.node();
    a_.skip(from, begin);
    a_.skip(end, to);
    if (const ordered_json* ref = member(schema, "$ref")) return reference(begin, end, *ref, place);
    for (const char* key : {"anyOf", "oneOf"})
      if (const ordered_json* list = member(schema, key)) return alternatives(begin, end, *list, key[0] == 'o', place + "/" + key);
    if (const ordered_json* list = member(schema, "enum")) {
      if (!list->is_array() || list->empty()) return bad(place + "/enum", "enum is an array with one element and more");
      for (size_t i = 0; i < list->size(); ++i)
        if (!constant(begin, end, (*list)[i], schema, place + "/enum/" + std::to_string(i))) return false;
      return true;
    }
    if (const ordered_json* one = member(schema, "const")) return constant(begin, end, *one, schema, place + "/const");
    const uint32_t set = types(schema);
    if (set & kNull) a_.skip(a_.text(begin, "null"), end);
    if (set & kBoolean) {
      a_.skip(a_.text(begin, "true"), end);
      a_.skip(a_.text(begin, "false"), end);
    }
    if (set & (kInteger | kNumber) && !number(begin, end, schema, !(set & kNumber), place)) return false;
    if (set & kString && !string(begin, end, schema, place)) return false;
    if (set & kArray && !array(begin, end, schema, place)) return false;
    return !(set & kObject) || object(begin, end, schema, place);
  }

  bool reference(uint32_t from, uint32_t to, const ordered_json& ref, const std::string& place) {
    const ordered_json* schema = target(ref, place + "/$ref");
    if (!schema) return false;
    if (std::find(refs_.begin(), refs_.end(), schema) != refs_.end()) return refuse(place + "/$ref", "recursion is not supported: ", text_of(ref), " stands in itself");
    refs_.push_back(schema);
    const bool ok = value(from, to, *schema, text_of(ref));
    refs_.pop_back();
    return ok;
  }

  bool constant(uint32_t from, uint32_t to, const ordered_json& v, const ordered_json& schema, const std::string& place) {
    if (!room()) return false;
    if (member(schema, "type") && !(types(schema) & type_of(v))) return bad(place, dump(v), " is not of the type");
    a_.skip(a_.text(from, dump(v)), to);
    return true;
  }

  bool alternatives(uint32_t from, uint32_t to, const ordered_json& list, bool only_one, const std::string& place) {
    if (!list.is_array() || list.empty()) return bad(place, "an array with one element and more is wanted");
    for (size_t i = 0; i < list.size(); ++i)
      if (!value(from, to, list[i], place + "/" + std::to_string(i))) return false;
    for (size_t i = 0; only_one && i < list.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        uint32_t left = kMaxTwins;
        if (!apart(list[j], list[i], &left)) return refuse(place, "alternatives ", j, " and ", i, " may both hold: use anyOf");
      }
    return true;
  }

  // What a schema says, behind its references. They were followed before without going round.
  const ordered_json& resolved(const ordered_json& schema) {
    const ordered_json* s = &schema;
    for (const ordered_json* ref = member(*s, "$ref"); ref; ref = member(*s, "$ref")) {
      const ordered_json* next = target(*ref, "");
      if (!next) break;
      s = next;
    }
    return *s;
  }
  // No value obeys both, as far as types, values and required properties tell. Both were compiled, and left bounds the work.
  bool apart(const ordered_json& a, const ordered_json& b, uint32_t* left) {
    if (*left == 0) return false;
    --*left;
    const ordered_json &x = resolved(a), &y = resolved(b);
    for (const bool first : {true, false})
      for (const char* key : {"anyOf", "oneOf"})
        if (const ordered_json* list = member(first ? x : y, key))
          return std::all_of(list->begin(), list->end(), [&](const ordered_json& one) { return first ? apart(one, y, left) : apart(x, one, left); });
    const auto values = [](const ordered_json& s) {
      std::vector<const ordered_json*> out;
      if (const ordered_json* list = member(s, "enum"))
        for (const ordered_json& one : *list) out.push_back(&one);
      else if (const ordered_json* one_value = member(s, "const")) out.push_back(one_value);
      return out;
    };
    const auto kinds = [&](const ordered_json& s, const std::vector<const ordered_json*>& list) {
      uint32_t set = types(s) | (types(s) & kNumber ? uint32_t{kInteger} : 0);
      if (list.empty()) return set;
      set = 0;
      for (const ordered_json* v : list) set |= type_of(*v);
      return set;
    };
    const auto of_x = values(x), of_y = values(y);
    if (!(kinds(x, of_x) & kinds(y, of_y))) return true;
    if (!of_x.empty() && !of_y.empty()) {
      if (of_x.size() * of_y.size() > *left) return false;
      *left -= static_cast<uint32_t>(of_x.size() * of_y.size());
      for (const ordered_json* v : of_x)
        for (const ordered_json* w : of_y)
          if (equal(*v, *w)) return false;
      return true;
    }
    if (types(x) != kObject || types(y) != kObject || !of_x.empty() || !of_y.empty()) return false;
    const ordered_json *p = member(x, "properties"), *q = member(y, "properties"), *need_x = member(x, "required"), *need_y = member(y, "required");
    if (!p || !q || !need_x || !need_y) return false;
    for (const ordered_json& key : *need_x) {
      const ordered_json *one = member(*p, text_of(key).c_str()), *other = member(*q, text_of(key).c_str());
      if (std::find(need_y->begin(), need_y->end(), key) != need_y->end() && one && other && apart(*one, *other, left)) return true;
    }
    return false;
  }

  // ---- numbers ----

  bool bounds(const ordered_json& schema, bool integer, const std::string& place, Bounds* out) {
    for (const bool low : {true, false})
      for (const bool open : {false, true}) {
        const char* key = low ? (open ? "exclusiveMinimum" : "minimum") : (open ? "exclusiveMaximum" : "maximum");
        const ordered_json* v = member(schema, key);
        if (!v) continue;
        if (!v->is_number()) return bad(place + "/" + key, "a number is wanted, not ", dump(*v));
        out->any = true;
        const double d = v->get<double>(), whole = low ? std::ceil(d) : std::floor(d);
        if (!integer && whole != d) return refuse(place + "/" + key, "bounds of numbers are whole, not ", dump(*v));
        if (v->is_number_float() && std::fabs(d) >= 9007199254740992.0) return refuse(place + "/" + key, dump(*v), " is too large to be exact");
        int64_t bound = v->is_number_float() ? static_cast<int64_t>(whole) : d >= 1e18 ? kMaxInteger + 1 : d <= -1e18 ? -kMaxInteger - 1 : v->get<int64_t>();
        bool without = open && whole == d;
        if (integer && without) bound += low ? 1 : -1, without = false;
        if (low ? bound > out->low || (bound == out->low && without) : bound < out->high || (bound == out->high && without)) {
          (low ? out->low : out->high) = bound;
          (low ? out->above : out->below) = without;
        }
      }
    if (out->low > out->high || (out->low == out->high && (out->above || out->below))) return bad(place, "no number is within the bounds");
    return true;
  }

  // Whole numbers low .. high, 0 <= low <= high, as digits.
  void whole(uint32_t from, uint32_t to, int64_t low, int64_t high) {
    const std::string least = std::to_string(low), most = std::to_string(high);
    for (size_t digits = least.size(); digits <= most.size(); ++digits) {
      const std::string first = digits == least.size() ? least : "1" + std::string(digits - 1, '0');
      a_.between(from, to, first, digits == most.size() ? most : std::string(digits, '9'), '0', '9');
    }
  }

  // '.' and digits. zero: all of them are 0; not_zero: some are not.
  void fraction(uint32_t from, uint32_t to, bool zero, bool not_zero) {
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

  // Numbers from low to high, 0 <= low <= high, with a fraction or not.
  void between(uint32_t from, uint32_t to, const Bounds& b) {
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

  bool number(uint32_t from, uint32_t to, const ordered_json& schema, bool integer, const std::string& place) {
    Bounds b;
    if (!bounds(schema, integer, place, &b)) return false;
    b.low = std::max(b.low, -kMaxInteger);
    b.high = std::min(b.high, kMaxInteger);
    if (b.low > b.high) return refuse(place, "all numbers within the bounds have more than 18 digits");
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

  // ---- strings, arrays, objects ----

  // A count, or `other` where there is none.
  bool count(const ordered_json& schema, const char* key, int64_t other, const std::string& place, int64_t* out) {
    const ordered_json* v = member(schema, key);
    *out = other;
    if (!v) return true;
    const double d = v->is_number() ? v->get<double>() : -1;
    if (!(d >= 0) || std::floor(d) != d) return bad(place + "/" + key, "a count is wanted, not ", dump(*v));
    *out = d < Automaton::kMaxNodes ? static_cast<int64_t>(d) : int64_t{Automaton::kMaxNodes};  // which is refused where it is reached
    return true;
  }

  // least to most times (most < 0: without end) what `one` adds from one node to another.
  template <class Fn>
  bool repeat(uint32_t from, uint32_t to, int64_t least, int64_t most, const Fn& one) {
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

  bool string(uint32_t from, uint32_t to, const ordered_json& schema, const std::string& place) {
    const uint32_t begin = a_.text(from, "\""), end = a_.node();
    a_.skip(a_.text(end, "\""), to);
    if (const ordered_json* pattern = member(schema, "pattern")) {
      if (!pattern->is_string()) return bad(place + "/pattern", "a text is wanted");
      if (member(schema, "minLength") || member(schema, "maxLength")) return refuse(place, "keyword 'pattern' beside minLength or maxLength is not supported");
      std::string why;
      pattern_chars(&a_, begin, end, text_of(*pattern), &why);
      return why.empty() ? room() : refuse(place + "/pattern", why, " is not supported, in ", dump(*pattern));
    }
    int64_t least = 0, most = 0;
    if (!count(schema, "minLength", 0, place, &least) || !count(schema, "maxLength", -1, place, &most)) return false;
    if (most >= 0 && most < least) return bad(place, "minLength is above maxLength");
    return repeat(begin, end, least, most, [&](uint32_t a, uint32_t b) {
      a_.json_char(a, b);
      return true;
    });
  }

  bool array(uint32_t from, uint32_t to, const ordered_json& schema, const std::string& place) {
    const ordered_json *items = member(schema, "items"), *unique = member(schema, "uniqueItems");
    if (unique && (!unique->is_boolean() || unique->get<bool>())) return refuse(place, "keyword 'uniqueItems' is not supported but for false");
    int64_t least = 0, most = 0;
    if (!count(schema, "minItems", 0, place, &least) || !count(schema, "maxItems", -1, place, &most)) return false;
    if (most >= 0 && most < least) return bad(place, "minItems is above maxItems");
    const uint32_t begin = a_.text(from, "["), end = a_.node();
    a_.skip(a_.text(end, "]"), to);
    if (least == 0) a_.skip(begin, end);
    if (most == 0) return true;
    if (!items) return refuse(place, "an array without 'items' is not supported");
    const uint32_t first = a_.node();
    if (!value(begin, first, *items, place + "/items")) return false;
    return repeat(first, end, std::max<int64_t>(least - 1, 0), most < 0 ? most : most - 1, [&](uint32_t a, uint32_t b) { return value(a_.text(a, ","), b, *items, place + "/items"); });
  }

  bool object(uint32_t from, uint32_t to, const ordered_json& schema, const std::string& place) {
    static const ordered_json kNoProperties = ordered_json::object(), kNothing = ordered_json::array();
    const ordered_json *properties = member(schema, "properties"), *required = member(schema, "required"), *more = member(schema, "additionalProperties");
    if (more && (!more->is_boolean() || more->get<bool>())) return refuse(place, "keyword 'additionalProperties' is not supported but for false");
    if (!properties) properties = &kNoProperties;
    if (!required) required = &kNothing;
    if (!properties->is_object()) return bad(place + "/properties", "an object is wanted");
    if (!required->is_array()) return bad(place + "/required", "an array is wanted");
    std::vector<std::string> wanted;
    for (const ordered_json& key : *required) {
      if (!key.is_string()) return bad(place + "/required", "names of properties are wanted, not ", dump(key));
      if (!member(*properties, text_of(key).c_str())) return refuse(place + "/required", dump(key), " is not among the properties");
      wanted.push_back(text_of(key));
    }
    std::sort(wanted.begin(), wanted.end());
    // Before each property: no member was written yet, or one was.
    constexpr uint32_t kNowhere = 0xFFFFFFFF;
    uint32_t none = a_.text(from, "{"), some = kNowhere;
    for (const auto& [key, sub] : properties->items()) {
      const uint32_t begin = a_.node(), end = a_.node(), after = a_.node();
      const std::string name = dump(ordered_json(key)) + ":";
      if (none != kNowhere) a_.skip(a_.text(none, name), begin);
      if (some != kNowhere) a_.skip(a_.text(some, "," + name), begin);
      std::string step;
      for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
      if (!value(begin, end, sub, place + "/properties/" + step)) return false;
      a_.skip(end, after);
      if (std::binary_search(wanted.begin(), wanted.end(), key)) none = kNowhere;
      else if (some != kNowhere) a_.skip(some, after);
      some = after;
    }
    for (const uint32_t at : {none, some})
      if (at != kNowhere) a_.skip(a_.text(at, "}"), to);
    return true;
  }

  Automaton a_;
  const char* name_;
  Error* err_;
  Status status_ = LINNET_OK;
  const ordered_json* root_ = nullptr;  // in which references are looked up
  std::vector<const ordered_json*> refs_;  // that are being followed
  uint32_t depth_ = 0;
};

}  // namespace
}  // namespace linnet::convert

using namespace linnet;

extern "C" linnet_status linnet_grammar_compile(linnet_view json, const char* name, linnet_grammar_kind kind, void* out, size_t cap, size_t* n_bytes, linnet_error* err) {
  if (!name) name = "grammar";
  if (!json.data || !n_bytes || (cap && !out)) return fail(err, LINNET_BAD_ARG, "linnet_grammar_compile: json.data, n_bytes or out is NULL");
  if (kind != LINNET_GRAMMAR_SCHEMA && kind != LINNET_GRAMMAR_CALL && kind != LINNET_GRAMMAR_TEXT_OR_CALL) return fail(err, LINNET_BAD_ARG, "linnet_grammar_compile: there is no kind ", uint32_t{kind});
  if (json.bytes > convert::kMaxGrammarJson) return fail(err, LINNET_BAD_FILE, name, ": ", json.bytes, " bytes, at most ", convert::kMaxGrammarJson);
  const std::string_view text(static_cast<const char*>(json.data), json.bytes);
  nlohmann::json checked;  // which has no order of members
  LINNET_TRY(convert::json_parse(text, name, &checked, err));
  const nlohmann::ordered_json tree = nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false);
  if (tree.is_discarded()) return fail(err, LINNET_BAD_FILE, name, ": not valid JSON");
  std::vector<uint8_t> blob;
  convert::Compiler compiler(name, err);
  LINNET_TRY(kind == LINNET_GRAMMAR_SCHEMA ? compiler.schema_alone(tree, &blob) : compiler.tools(tree, kind == LINNET_GRAMMAR_TEXT_OR_CALL, &blob));
  *n_bytes = blob.size();
  if (blob.size() > cap) return fail(err, LINNET_TOO_SMALL, name, ": a grammar of ", blob.size(), " bytes, there is room for ", cap);
  std::memcpy(out, blob.data(), blob.size());
  return LINNET_OK;
}
