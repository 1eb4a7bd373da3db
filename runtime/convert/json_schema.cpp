// compile_grammar: JSON Schema and lists of tools as automata. What is not known is refused, so that nothing which comes out breaks
// a rule that was not understood.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../guard.h"
#include "automaton.h"
#include "json.h"

namespace linnet::convert {
namespace {

constexpr int64_t kMaxInteger = 999'999'999'999'999'999;  // 18 digits
constexpr uint32_t kMaxDepth = 128, kMaxTwins = 1u << 20, kFractionDigits = 17;

enum Type : uint32_t { kNull = 1, kBoolean = 2, kInteger = 4, kNumber = 8, kString = 16, kArray = 32, kObject = 64 };
struct TypeName {
  const char* name;
  uint32_t type;
};
constexpr TypeName kTypes[] = {{"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger}, {"number", kNumber},
                               {"string", kString}, {"array", kArray},     {"object", kObject}};
// Keywords and the types that they are about; 0: they stand beside any.
constexpr TypeName kKeywords[] = {{"properties", kObject},
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

// A value as the schema has it: members in their order, numbers by their own characters.
struct Value {
  uint32_t type = kNull;  // kNumber for any number
  bool truth = false;
  std::string text = {};               // a string's, a number's characters
  std::vector<std::string> keys = {};  // of an object
  std::vector<Value> items = {};       // elements, values of members

  bool is(Type t) const { return type == t; }
};

// Builds a value of text that json_parse has taken: it bounds depth and size, and knows no key twice.
class ValueBuilder {
 public:
  explicit ValueBuilder(Value* root) : root_(root) {}
  bool null() { return add(kNull); }
  bool boolean(bool v) { return add(kBoolean)->truth = v, true; }
  bool number_integer(int64_t v) { return text(kNumber, v ? std::to_string(v) : "-0"); }  // only what begins with '-' comes here
  bool number_unsigned(uint64_t v) { return text(kNumber, std::to_string(v)); }
  bool number_float(double, std::string s) {
    for (char& c : s)
      if (!std::strchr("+-0123456789eE", c)) c = '.';  // the parser puts the locale's
    return text(kNumber, std::move(s));
  }
  bool string(std::string& s) { return text(kString, std::move(s)); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return open_.push_back(add(kObject)), true; }
  bool start_array(size_t) { return open_.push_back(add(kArray)), true; }
  bool end_object() { return open_.pop_back(), true; }
  bool end_array() { return open_.pop_back(), true; }
  bool key(std::string& name) { return open_.back()->keys.push_back(std::move(name)), true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  // Values that are still open have not moved: only the last element of each grows.
  Value* add(Type type) {
    Value* at = open_.empty() ? root_ : &open_.back()->items.emplace_back();
    at->type = type;
    return at;
  }
  bool text(Type type, std::string s) { return add(type)->text = std::move(s), true; }
  Value* root_;
  std::vector<Value*> open_;
};

// What a number is worth, exactly: 0.DIGITS * 10^point, no zeros at either end of the digits. Zero has none.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t point = 0;

  explicit Decimal(const std::string& text) {
    constexpr int64_t kFar = 1'000'000'000;  // beyond what a text can shift
    size_t i = text[0] == '-';
    bool behind = false;
    for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
      if (text[i] == '.') {
        behind = true;
        continue;
      }
      if (!behind) ++point;
      if (text[i] == '0' && digits.empty())
        --point;
      else
        digits += text[i];
    }
    if (i < text.size()) {
      const bool down = text[++i] == '-';
      int64_t shift = 0;
      for (i += down || text[i] == '+'; i < text.size(); ++i) shift = std::min(kFar, shift * 10 + (text[i] - '0'));
      point += down ? -shift : shift;
    }
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    negative = text[0] == '-' && !digits.empty();
    if (digits.empty()) point = 0;
  }
  bool operator==(const Decimal&) const = default;
  bool whole() const { return static_cast<int64_t>(digits.size()) <= point; }
  // The largest whole number that is not above it (the least one not below it), and what is beyond 18 digits as the first number that is.
  int64_t rounded(bool up) const {
    int64_t n = 0;
    for (int64_t i = 0; i < point && n <= kMaxInteger; ++i)
      n = n * 10 + (i < static_cast<int64_t>(digits.size()) ? digits[static_cast<size_t>(i)] - '0' : 0);
    n = std::min(n + (!whole() && up != negative), kMaxInteger + 1);
    return negative ? -n : n;
  }
};

const Value* member(const Value& from, std::string_view key) {
  const auto at = std::find(from.keys.begin(), from.keys.end(), key);
  return at == from.keys.end() ? nullptr : &from.items[static_cast<size_t>(at - from.keys.begin())];
}
bool silent(const std::string& key) {
  return std::any_of(std::begin(kSilent), std::end(kSilent), [&](const char* s) { return key == s; });
}
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }
std::string dump(const Value& v) {
  if (v.is(kNull)) return "null";
  if (v.is(kBoolean)) return v.truth ? "true" : "false";
  if (v.is(kNumber)) return v.text;
  if (v.is(kString)) return quoted(v.text);
  std::string out(1, v.is(kArray) ? '[' : '{');
  for (size_t i = 0; i < v.items.size(); ++i) {
    if (i) out += ',';
    if (v.is(kObject)) out += quoted(v.keys[i]) + ":";
    out += dump(v.items[i]);
  }
  return out += v.is(kArray) ? ']' : '}';
}
const char* type_name(const Value& v) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.type == v.type; })->name;
}

uint32_t type_of(const Value& v) { return v.is(kNumber) && Decimal(v.text).whole() ? kInteger | kNumber : v.type; }

// Whether two values are equal to JSON Schema, which knows no order of members, and of numbers what they are worth.
bool equal(const Value& a, const Value& b) {
  if (a.type != b.type || a.truth != b.truth || a.items.size() != b.items.size()) return false;
  if (a.is(kNumber)) return Decimal(a.text) == Decimal(b.text);
  if (!a.is(kObject)) return a.text == b.text && std::equal(a.items.begin(), a.items.end(), b.items.begin(), equal);
  for (size_t i = 0; i < a.keys.size(); ++i) {
    const Value* other = member(b, a.keys[i]);
    if (!other || !equal(a.items[i], *other)) return false;
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

  Status schema_alone(const Value& schema, std::vector<uint8_t>* out) {
    root_ = &schema;
    const uint32_t start = a_.node(), end = a_.node();
    if (value(start, end, schema, "#")) return a_.compile(start, end, name_, out, err_);
    return status_;
  }

  Status tools(const Value& list, bool or_text, std::vector<uint8_t>* out) {
    const uint32_t start = a_.node(), end = a_.node(), calls = a_.node();
    if (!list.is(kArray) || list.items.empty()) return bad("#", "tools are an array with one element and more"), status_;
    std::vector<std::string> names;
    for (size_t i = 0; i < list.items.size(); ++i)
      if (!tool(calls, end, list.items[i], "#/" + std::to_string(i), &names)) return status_;
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
    if (a_.full())
      status_ = fail(err_, LINNET_UNSUPPORTED, name_, ": the grammar has more than ", uint32_t{Automaton::kMaxNodes}, " nodes");
    return !a_.full();
  }

  bool tool(uint32_t from, uint32_t to, const Value& one, const std::string& place, std::vector<std::string>* names) {
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
        if (key != "type" && key != "name" && key != "description" && key != "parameters" && key != "strict" &&
            !(key == "function" && object != inner))
          return refuse(at, "'", key, "' is not supported in a tool");
    if (std::find(names->begin(), names->end(), name->text) != names->end()) return bad(at, "there is another tool ", dump(*name));
    names->push_back(name->text);
    const uint32_t arguments = a_.text(from, "{\"name\":" + dump(*name) + ",\"arguments\":"), end = a_.node();
    root_ = parameters;
    if (!parameters)
      a_.skip(a_.text(arguments, "{}"), end);
    else if (types(*parameters) != kObject || !member(*parameters, "type"))
      return refuse(at + "/parameters", "parameters are of type object");
    else if (!value(arguments, end, *parameters, at + "/parameters"))
      return false;
    a_.skip(a_.text(end, "}"), to);
    return true;
  }

  // What a $ref stands for; nullptr after refusing.
  const Value* target(const Value& ref, const std::string& place) {
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

  static uint32_t types(const Value& schema) {
    const Value* type = member(schema, "type");
    if (!type) return 0;
    uint32_t set = 0;
    const auto add = [&](const Value& one) {
      if (one.is(kString))
        for (const TypeName& t : kTypes) set |= one.text == t.name ? t.type : 0;
    };
    add(*type);
    if (type->is(kArray))
      for (const Value& one : type->items) add(one);
    return set;
  }

  bool check_types(const Value& schema, const std::string& place) {
    const Value* type = member(schema, "type");
    if (!type) return true;
    const auto known = [&](const Value& one) {
      return one.is(kString) && std::any_of(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return one.text == t.name; });
    };
    if (type->is(kArray) ? type->items.empty() || !std::all_of(type->items.begin(), type->items.end(), known) : !known(*type))
      return bad(place + "/type", "there is no type ", dump(*type));
    return true;
  }

  // Every keyword is known and has something to say here.
  bool check_keywords(const Value& schema, const std::string& place) {
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
      const auto* known = std::find_if(std::begin(kKeywords), std::end(kKeywords), [&](const TypeName& t) { return key == t.name; });
      if (known == std::end(kKeywords)) return refuse(place, "keyword '", key, "' is not supported");
      if (alone && key != alone && !(values && key == "type"))
        return refuse(place, "keyword '", key, "' beside '", alone, "' is not supported");
      if (known->type && !(known->type & types(schema))) return refuse(place, "keyword '", key, "' without its type is not supported");
    }
    if (!alone && !types(schema)) return refuse(place, "a schema without a type is not supported");
    return true;
  }

  bool value(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
    if (depth_ == kMaxDepth) return refuse(place, "schemas more than ", kMaxDepth, " deep, references followed");
    ++depth_;
    const bool ok = room() && check_keywords(schema, place) && known_value(from, to, schema, place);
    --depth_;
    return ok;
  }

  bool known_value(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
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

  bool reference(uint32_t from, uint32_t to, const Value& ref, const std::string& place) {
    const Value* schema = target(ref, place + "/$ref");
    if (!schema) return false;
    if (std::find(refs_.begin(), refs_.end(), schema) != refs_.end())
      return refuse(place + "/$ref", "recursion is not supported: ", ref.text, " stands in itself");
    refs_.push_back(schema);
    const bool ok = value(from, to, *schema, ref.text);
    refs_.pop_back();
    return ok;
  }

  bool constant(uint32_t from, uint32_t to, const Value& v, const Value& schema, const std::string& place) {
    if (!room()) return false;
    if (member(schema, "type") && !(types(schema) & type_of(v))) return bad(place, dump(v), " is not of the type");
    a_.skip(a_.text(from, dump(v)), to);
    return true;
  }

  bool alternatives(uint32_t from, uint32_t to, const Value& list, bool only_one, const std::string& place) {
    if (!list.is(kArray) || list.items.empty()) return bad(place, "an array with one element and more is wanted");
    for (size_t i = 0; i < list.items.size(); ++i)
      if (!value(from, to, list.items[i], place + "/" + std::to_string(i))) return false;
    for (size_t i = 0; only_one && i < list.items.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        uint32_t left = kMaxTwins;
        if (!apart(list.items[j], list.items[i], &left)) return refuse(place, "alternatives ", j, " and ", i, " may both hold: use anyOf");
      }
    return true;
  }

  // What a schema says, behind its references. They were followed before without going round.
  const Value& resolved(const Value& schema) {
    const Value* s = &schema;
    for (const Value* ref = member(*s, "$ref"); ref; ref = member(*s, "$ref")) {
      const Value* next = target(*ref, "");
      if (!next) break;
      s = next;
    }
    return *s;
  }
  // No value obeys both, as far as types, values and required properties tell. Both were compiled, and left bounds the work.
  bool apart(const Value& a, const Value& b, uint32_t* left) {
    if (*left == 0) return false;
    --*left;
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
    const Value *p = member(x, "properties"), *q = member(y, "properties"), *need_x = member(x, "required"),
                *need_y = member(y, "required");
    if (!p || !q || !need_x || !need_y) return false;
    for (const Value& key : need_x->items) {
      const Value *one = member(*p, key.text), *other = member(*q, key.text);
      if (std::any_of(need_y->items.begin(), need_y->items.end(), [&](const Value& k) { return k.text == key.text; }) && one && other &&
          apart(*one, *other, left))
        return true;
    }
    return false;
  }

  // ---- numbers ----

  bool bounds(const Value& schema, bool integer, const std::string& place, Bounds* out) {
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

  bool number(uint32_t from, uint32_t to, const Value& schema, bool integer, const std::string& place) {
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

  // ---- strings, arrays, objects ----

  // A count, or `other` where there is none.
  bool count(const Value& schema, const char* key, int64_t other, const std::string& place, int64_t* out) {
    const Value* v = member(schema, key);
    *out = other;
    if (!v) return true;
    if (!v->is(kNumber) || !Decimal(v->text).whole() || Decimal(v->text).negative)
      return bad(place + "/" + key, "a count is wanted, not ", dump(*v));
    *out = std::min(Decimal(v->text).rounded(false), int64_t{Automaton::kMaxNodes});  // which is refused where it is reached
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

  bool string(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
    const uint32_t begin = a_.text(from, "\""), end = a_.node();
    a_.skip(a_.text(end, "\""), to);
    if (const Value* pattern = member(schema, "pattern")) {
      if (!pattern->is(kString)) return bad(place + "/pattern", "a text is wanted");
      if (member(schema, "minLength") || member(schema, "maxLength"))
        return refuse(place, "keyword 'pattern' beside minLength or maxLength is not supported");
      std::string why;
      pattern_chars(&a_, begin, end, pattern->text, &why);
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

  bool array(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
    const Value *items = member(schema, "items"), *unique = member(schema, "uniqueItems");
    if (unique && (!unique->is(kBoolean) || unique->truth)) return refuse(place, "keyword 'uniqueItems' is not supported but for false");
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
    return repeat(first, end, std::max<int64_t>(least - 1, 0), most < 0 ? most : most - 1,
                  [&](uint32_t a, uint32_t b) { return value(a_.text(a, ","), b, *items, place + "/items"); });
  }

  bool object(uint32_t from, uint32_t to, const Value& schema, const std::string& place) {
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
    constexpr uint32_t kNowhere = 0xFFFFFFFF;
    uint32_t none = a_.text(from, "{"), some = kNowhere;
    for (size_t i = 0; i < properties->items.size(); ++i) {
      const std::string& key = properties->keys[i];
      const uint32_t begin = a_.node(), end = a_.node(), after = a_.node();
      const std::string name = quoted(key) + ":";
      if (none != kNowhere) a_.skip(a_.text(none, name), begin);
      if (some != kNowhere) a_.skip(a_.text(some, "," + name), begin);
      std::string step;
      for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
      if (!value(begin, end, properties->items[i], place + "/properties/" + step)) return false;
      a_.skip(end, after);
      if (std::binary_search(wanted.begin(), wanted.end(), key))
        none = kNowhere;
      else if (some != kNowhere)
        a_.skip(some, after);
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
  const Value* root_ = nullptr;     // in which references are looked up
  std::vector<const Value*> refs_;  // that are being followed
  uint32_t depth_ = 0;
};

}  // namespace

linnet_status compile_grammar(std::string_view text, const char* name, linnet_grammar_kind kind, uint8_t* out, size_t cap, size_t* n_bytes,
                              linnet_error* err) {
  return guarded(name, err, [&] {
    JsonTree checked;
    LINNET_TRY(json_parse(text, name, &checked.root, err));
    json_clear(&checked.root);
    Value tree;
    ValueBuilder builder(&tree);
    if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder))
      return fail(err, LINNET_BAD_FILE, name, ": not valid JSON");
    std::vector<uint8_t> blob;
    Compiler compiler(name, err);
    LINNET_TRY(kind == LINNET_GRAMMAR_SCHEMA ? compiler.schema_alone(tree, &blob)
                                             : compiler.tools(tree, kind == LINNET_GRAMMAR_TEXT_OR_CALL, &blob));
    *n_bytes = blob.size();
    if (blob.size() > cap) return fail(err, LINNET_TOO_SMALL, name, ": a grammar of ", blob.size(), " bytes, there is room for ", cap);
    std::memcpy(out, blob.data(), blob.size());
    return LINNET_OK;
  });
}

}  // namespace linnet::convert
