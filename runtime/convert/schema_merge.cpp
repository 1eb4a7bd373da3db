#include "schema_merge.h"

#include <algorithm>
#include <numeric>

#include "../../platform/utf8.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMaxDepth = 64, kMaxWork = 1u << 14;
const Value kTrue = {.type = kBoolean, .truth = true}, kFalse = {.type = kBoolean};

Value text_value(String s) { return {.type = kString, .text = std::move(s)}; }
Value number_value(String s) { return {.type = kNumber, .text = std::move(s)}; }
void set(Value* object, const String& key, Value v) {
  const auto at = std::find(object->keys.begin(), object->keys.end(), key);
  if (at != object->keys.end()) {
    object->items[static_cast<size_t>(at - object->keys.begin())] = std::move(v);
    return;
  }
  object->keys.push_back(key);
  object->items.push_back(std::move(v));
}
Value without(const Value& object, std::initializer_list<const char*> keys) {
  Value out = {.type = kObject};
  for (size_t i = 0; i < object.keys.size(); ++i)
    if (!is_remark(object.keys[i]) && std::none_of(keys.begin(), keys.end(), [&](const char* k) { return object.keys[i] == k; }))
      set(&out, object.keys[i], object.items[i]);
  return out;
}
bool is_false(const Value& v) { return v.is(kBoolean) && !v.truth; }
bool is_true(const Value& v) { return v.is(kBoolean) ? v.truth : v.is(kObject) && without(v, {}).keys.empty(); }
Value all_of(const Value& a, const Value& b) {
  if (is_true(a)) return b;
  if (is_true(b) || equal(a, b)) return a;
  if (is_false(a) || is_false(b)) return kFalse;
  Value list = {.type = kArray}, out = {.type = kObject};
  // One list, however many come one by one: what is nested is taken apart by recursion.
  if (const Value* first = member(a, "allOf"); first && first->is(kArray) && a.keys.size() == 1)
    list = *first;
  else
    list.items.push_back(a);
  list.items.push_back(b);
  set(&out, "allOf", std::move(list));
  return out;
}
// How much is copied with it.
uint32_t weight(const Value& v) {
  uint32_t n = 1;
  for (const Value& one : v.items) n += weight(one);
  return n;
}
uint32_t types_said(const Value& schema) {
  const Value* type = member(schema, "type");
  if (!type) return ~0u;
  uint32_t set_of = 0;
  for (const Value* one = type->is(kArray) ? type->items.data() : type;
       one != (type->is(kArray) ? type->items.data() + type->items.size() : type + 1); ++one)
    set_of |= one->is(kString) ? type_named(one->text) : 0;
  return set_of & kNumber ? set_of | kInteger : set_of;
}
size_t n_characters(const String& s) {
  size_t n = 0;
  for (size_t at = 0; at < s.size(); ++n) at += next_char(s.data() + at, s.size() - at).bytes;
  return n;
}

}  // namespace

bool is_remark(const String& key) {
  static constexpr const char* kRemarks[] = {
      "title",    "description", "default",     "examples", "deprecated",  "readOnly",        "writeOnly",        "$schema",      "$id",
      "$comment", "$defs",       "definitions", "$anchor",  "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema"};
  return std::any_of(std::begin(kRemarks), std::end(kRemarks), [&](const char* s) { return key == s; });
}

bool is_rewritten(const String& key) {
  static constexpr const char* kRewritten[] = {"allOf",
                                               "not",
                                               "if",
                                               "then",
                                               "else",
                                               "contains",
                                               "minContains",
                                               "maxContains",
                                               "dependentRequired",
                                               "dependentSchemas",
                                               "dependencies",
                                               "unevaluatedProperties",
                                               "unevaluatedItems"};
  return std::any_of(std::begin(kRewritten), std::end(kRewritten), [&](const char* s) { return key == s; });
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  int order = 0;
  if (a.digits.empty() || b.digits.empty())
    order = static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
  else if (a.point != b.point)
    order = a.point < b.point ? -1 : 1;
  else
    order = a.digits.compare(b.digits);
  order = order < 0 ? -1 : order > 0;
  return a.negative ? -order : order;
}

const Value* SchemaMerger::together(const Value& a, const Value& b) { return keep(all_of(a, b)); }

bool SchemaMerger::is_flat(const Value& schema) const {
  if (!schema.is(kObject)) return true;
  size_t n = 0;
  bool alone = false;
  for (const String& key : schema.keys) {
    if (is_remark(key)) continue;
    ++n;
    if (is_rewritten(key)) return false;
    alone |= key == "$ref" || key == "anyOf" || key == "oneOf" || key == "enum" || key == "const";
  }
  return !alone || n == 1;
}

const Value* SchemaMerger::flat(const Value& schema, uint32_t depth) {
  if (!why_.empty()) return nullptr;
  if (depth > kMaxDepth || ++work_ > kMaxWork) return refuse("schemas that are put together without end");
  if (!schema.is(kObject)) return &schema;
  // What is left for keys and elements that nothing else beside it has spoken of.
  for (const char* key : {"unevaluatedProperties", "unevaluatedItems"})
    if (const Value* left = member(schema, key)) {
      ++closed_;
      const Value* rest = flat(*keep(without(schema, {key})), depth + 1);
      --closed_;
      return rest ? unevaluated(*rest, *left, key[11] == 'P', depth + 1) : nullptr;
    }
  if (const Value* ref = member(schema, "$ref")) {
    const Value* to = target_(*ref);
    if (!to || !(to = flat(*to, depth + 1))) return nullptr;
    const Value* rest = flat(*keep(without(schema, {"$ref"})), depth + 1);
    return rest ? both(*to, *rest, depth + 1) : nullptr;
  }
  if (const Value* list = member(schema, "allOf")) {
    if (!list->is(kArray) || list->items.empty()) return refuse("allOf is an array with one element and more");
    const Value* all = flat(*keep(without(schema, {"allOf"})), depth + 1);
    for (size_t i = 0; all && i < list->items.size(); ++i) {
      const Value* one = flat(list->items[i], depth + 1);
      all = one ? both(*all, *one, depth + 1) : nullptr;
    }
    return all;
  }
  if (is_flat(schema)) return &schema;
  for (const char* key : {"enum", "const"})
    if (const Value* values = member(schema, key)) {
      Value list = *values;
      if (key[0] == 'c') list = {.type = kArray, .items = {*values}};
      return filtered(list, *keep(without(schema, {key})), depth + 1);
    }
  if (std::any_of(schema.keys.begin(), schema.keys.end(), is_rewritten)) return rewritten(schema, depth + 1);
  for (const char* key : {"anyOf", "oneOf"})
    if (const Value* list = member(schema, key)) {
      const Value* rest = flat(*keep(without(schema, {key})), depth + 1);
      Value alone = {.type = kObject};
      set(&alone, key, *list);
      return rest ? both(*keep(std::move(alone)), *rest, depth + 1) : nullptr;
    }
  return &schema;
}

// allOf of what is left and of what stands for keywords that automata have no way to say.
const Value* SchemaMerger::rewritten(const Value& schema, uint32_t depth) {
  const Value rest = without(schema, {"not", "if", "then", "else", "contains", "minContains", "maxContains", "dependentRequired",
                                      "dependentSchemas", "dependencies"});
  Value list = {.type = kArray, .items = {rest}};
  // Members that are not named may come, and nothing wants to know which were spoken of.
  const bool open = !closed_ && !member(rest, "properties") && !member(rest, "additionalProperties");
  const auto object = [](std::initializer_list<std::pair<const char*, Value>> members) {
    Value out = {.type = kObject};
    for (const auto& [key, v] : members) set(&out, key, v);
    return out;
  };
  const auto absent = [&](const String& key) {
    Value properties = {.type = kObject}, out = {.type = kObject};
    set(&properties, key, kFalse);
    set(&out, "properties", std::move(properties));
    if (open) set(&out, "additionalProperties", kTrue);
    return out;
  };
  if (const Value* no = member(schema, "not")) {
    const Value s = no->is(kObject) ? without(*no, {}) : *no;
    if (is_true(s) || is_false(s)) {
      list.items.push_back(is_true(s) ? kFalse : kTrue);
    } else if (const uint32_t types = types_said(s);
               s.keys.size() == 1 && s.keys[0] == "type" && !(types & kInteger && !(types & kNumber))) {
      Value names = {.type = kArray};
      for (const char* name : {"null", "boolean", "number", "string", "array", "object"})
        if (!(types & type_named(name))) names.items.push_back(text_value(name));
      if (names.items.empty()) return &kFalse;
      list.items.push_back(object({{"type", names}}));
    } else if (const Value* names = member(s, "required"); names && s.keys.size() == 1 && names->items.size() == 1) {
      list.items.push_back(absent(names->items[0].text));
      list.items.push_back(object({{"type", text_value("object")}}));
    } else {
      return refuse("keyword 'not' of such a schema");
    }
  }
  const Value *condition = member(schema, "if"), *then = member(schema, "then"), *other = member(schema, "else");
  if (condition && (then || other)) {
    if (!is_true(*condition) && !is_false(*condition)) return refuse("keyword 'if'");
    if (const Value* one = is_true(*condition) ? then : other) list.items.push_back(*one);
  }
  // The elements that are to be there come first.
  if (const Value* s = member(schema, "contains")) {
    const Value *least = member(schema, "minContains"), *most = member(schema, "maxContains");
    const int64_t n = least && least->is(kNumber) ? Decimal(least->text).rounded(true) : 1;
    if (n > 16 || n < 0 || (least && !least->is(kNumber))) return refuse("keyword 'minContains' above 16");
    const Value* base = flat(*keep(Value(rest)), depth + 1);
    if (!base) return nullptr;
    const bool said =
        base->is(kObject) && (member(*base, "items") || member(*base, "prefixItems") || member(*base, "anyOf") || member(*base, "oneOf"));
    if (base->is(kObject) && member(*base, "prefixItems")) return refuse("keyword 'contains' beside 'prefixItems'");
    if (most && (said || !most->is(kNumber) || compare(Decimal(most->text), Decimal(decimal(n))) < 0 || n == 0))
      return refuse("keyword 'maxContains' here");
    if (n > 0) {
      Value first = {.type = kArray};
      for (int64_t i = 0; i < n; ++i) first.items.push_back(*s);
      Value out = object({{"prefixItems", first}, {"minItems", number_value(decimal(n))}});
      if (!most && !closed_) set(&out, "items", kTrue);
      list.items.push_back(std::move(out));
    }
  }
  for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
    const Value* all = member(schema, key);
    if (all && (!all->is(kObject) || all->keys.size() > 8)) return refuse(String(key) + " is an object of 8 members at most");
    for (size_t i = 0; all && i < all->keys.size(); ++i) {
      Value needs = {.type = kArray, .items = {text_value(all->keys[i])}};
      const Value& s = all->items[i];
      if (s.is(kArray)) needs.items.insert(needs.items.end(), s.items.begin(), s.items.end());
      Value there = object({{"required", needs}});
      if (open) set(&there, "additionalProperties", kTrue);
      if (!s.is(kArray)) there = all_of(there, s);
      list.items.push_back(object({{"anyOf", {.type = kArray, .items = {absent(all->keys[i]), there}}}}));
    }
  }
  return flat(*keep(object({{"allOf", list}})), depth + 1);
}

const Value* SchemaMerger::unevaluated(const Value& flat_schema, const Value& left, bool properties, uint32_t depth) {
  if (depth > kMaxDepth || ++work_ > kMaxWork) return refuse("schemas that are put together without end");
  if (!flat_schema.is(kObject)) return is_true(flat_schema) ? keep_one(properties ? "additionalProperties" : "items", left) : &flat_schema;
  for (const char* key : {"anyOf", "oneOf"})
    if (const Value* list = member(flat_schema, key)) {
      Value alternatives = {.type = kArray}, out = {.type = kObject};
      for (const Value& one : list->items) {
        const Value* l = flat(one, depth + 1);
        if (!l || !(l = unevaluated(*l, left, properties, depth + 1))) return nullptr;
        alternatives.items.push_back(*l);
      }
      set(&out, key, std::move(alternatives));
      return keep(std::move(out));
    }
  const char* key = properties ? "additionalProperties" : "items";
  if (member(flat_schema, "enum") || member(flat_schema, "const")) return refuse("keyword 'unevaluated...' beside enum or const");
  if (member(flat_schema, key)) return &flat_schema;
  Value out = flat_schema;
  set(&out, key, left);
  return keep(std::move(out));
}

// The values that obey the rest too.
const Value* SchemaMerger::filtered(const Value& values, const Value& rest, uint32_t depth) {
  if (!values.is(kArray)) return refuse("enum is an array");
  Value kept = {.type = kArray}, out = {.type = kObject};
  for (const Value& v : values.items)
    if (obeys(v, rest, depth)) kept.items.push_back(v);
  if (!why_.empty()) return nullptr;
  if (kept.items.empty()) return &kFalse;
  set(&out, "enum", std::move(kept));
  return keep(std::move(out));
}

const Value* SchemaMerger::both(const Value& a, const Value& b, uint32_t depth) {
  if (!why_.empty()) return nullptr;
  if (depth > kMaxDepth || ++work_ > kMaxWork) return refuse("schemas that are put together without end");
  if (is_false(a) || is_false(b)) return &kFalse;
  if (is_true(a)) return &b;
  if (is_true(b)) return &a;
  if (!a.is(kObject) || !b.is(kObject)) return refuse("a schema is an object");
  for (const bool first : {true, false})
    for (const char* key : {"anyOf", "oneOf"})
      if (const Value* list = member(first ? a : b, key)) {
        if (!list->is(kArray) || list->items.empty()) return refuse(String(key) + " is an array with one element and more");
        Value alternatives = {.type = kArray}, out = {.type = kObject};
        for (const Value& one : list->items) {
          const Value* l = flat(one, depth + 1);
          if (!l || !(l = first ? both(*l, b, depth + 1) : both(a, *l, depth + 1))) return nullptr;
          alternatives.items.push_back(*l);
        }
        set(&out, key, std::move(alternatives));
        return keep(std::move(out));
      }
  for (const bool first : {true, false})
    if (const Value* values = member(first ? a : b, "enum")) return filtered(*values, first ? b : a, depth + 1);
  for (const bool first : {true, false})
    if (const Value* v = member(first ? a : b, "const")) return filtered({.type = kArray, .items = {*v}}, first ? b : a, depth + 1);
  return combine(a, b);
}

const Value* SchemaMerger::combine(const Value& a, const Value& b) {
  const auto n_names = [](const Value& s) {
    const Value* names = member(s, "properties");
    return names ? std::min<uint64_t>(names->keys.size(), 1u << 20) : 0;
  };
  const uint64_t both_n = n_names(a) + n_names(b), work = (uint64_t{weight(a)} + weight(b)) / 256 + both_n * both_n / 4096;
  if (work > kMaxWork || (work_ += static_cast<uint32_t>(work)) > kMaxWork) return refuse("schemas that are put together without end");
  Value out = without(a, {});
  const uint32_t types = types_said(a) & types_said(b);
  for (size_t i = 0; i < b.keys.size(); ++i) {
    const String& key = b.keys[i];
    const Value& theirs = b.items[i];
    const Value* const ours = member(a, key);
    if (is_remark(key)) continue;
    if (key == "properties" || key == "patternProperties" || key == "additionalProperties" || key == "items" || key == "prefixItems")
      continue;
    if (!ours) {
      set(&out, key, theirs);
      continue;
    }
    const auto order = [&] { return compare(Decimal(ours->text), Decimal(theirs.text)); };
    const bool lower = key == "minimum" || key == "exclusiveMinimum" || key == "minLength" || key == "minItems" || key == "minProperties";
    const bool upper = key == "maximum" || key == "exclusiveMaximum" || key == "maxLength" || key == "maxItems" || key == "maxProperties";
    if (equal(*ours, theirs) || key == "type") continue;
    if ((lower || upper || key == "multipleOf") && !(ours->is(kNumber) && theirs.is(kNumber))) return refuse(key + " is a number");
    if (lower || upper) {
      if (lower ? order() < 0 : order() > 0) set(&out, key, theirs);
    } else if (key == "multipleOf") {
      const Decimal x(ours->text), y(theirs.text);
      const int64_t m = x.rounded(false), n = y.rounded(false), most = 1 << 20;
      if (!x.whole() || !y.whole() || m < 1 || n < 1 || m > most || n > most) return refuse("two multipleOf that are not put together");
      set(&out, key, number_value(decimal(std::lcm(m, n))));
    } else if (key == "required") {
      Value all = *ours;
      for (const Value& name : theirs.items)
        if (std::none_of(all.items.begin(), all.items.end(), [&](const Value& v) { return equal(v, name); })) all.items.push_back(name);
      set(&out, key, std::move(all));
    } else if (key == "pattern") {
      Value all = {.type = kArray};
      for (const Value* one : {ours, &theirs}) {
        if (one->is(kArray)) all.items.insert(all.items.end(), one->items.begin(), one->items.end());
        if (!one->is(kArray)) all.items.push_back(*one);
      }
      set(&out, key, std::move(all));
    } else if (key == "propertyNames") {
      set(&out, key, all_of(*ours, theirs));
    } else if (key == "uniqueItems") {
      set(&out, key, kTrue);
    } else {
      return refuse("keyword '" + key + "' twice");
    }
  }
  if (types == 0) return &kFalse;
  if (member(a, "type") || member(b, "type")) {
    Value names = {.type = kArray};
    for (const char* name : {"null", "boolean", "integer", "number", "string", "array", "object"})
      if (types & type_named(name) && !(type_named(name) == kInteger && types & kNumber)) names.items.push_back(text_value(name));
    set(&out, "type", std::move(names));
  }
  if (!objects(a, b, &out)) return nullptr;
  arrays(a, b, &out);
  return keep(std::move(out));
}

// A key obeys what each of the two says of it: of its name, of its pattern, or of all others.
bool SchemaMerger::objects(const Value& a, const Value& b, Value* out) {
  const Value none = {.type = kObject};
  const auto part = [&](const Value& s, const char* key) {
    const Value* v = member(s, key);
    return v && v->is(kObject) ? v : &none;
  };
  const Value *more_a = member(a, "additionalProperties"), *more_b = member(b, "additionalProperties");
  const Value *patterns_a = part(a, "patternProperties"), *patterns_b = part(b, "patternProperties");
  bool known = true;
  // Of a key that the other one names, or finds by a pattern.
  const auto says = [&](const Value& properties, const Value& patterns, const Value* more, const String& key) {
    Value all = kTrue;
    bool named = false;
    if (const Value* own = member(properties, key)) all = *own, named = true;
    for (size_t i = 0; i < patterns.keys.size(); ++i)
      if (found_(key, text_value(patterns.keys[i]), &known)) all = all_of(all, patterns.items[i]), named = true;
    return named || !more ? all : *more;
  };
  const Value *names_a = part(a, "properties"), *names_b = part(b, "properties");
  Value properties = {.type = kObject}, patterns = {.type = kObject};
  for (const Value* names : {names_a, names_b})
    for (const String& key : names->keys)
      if (!member(properties, key))
        set(&properties, key, all_of(says(*names_a, *patterns_a, more_a, key), says(*names_b, *patterns_b, more_b, key)));
  if (!known) return refuse("a pattern of patternProperties that is not supported"), false;
  // Patterns of one go against the others' additionalProperties; against patterns only where those say nothing.
  if (!patterns_a->keys.empty() && !patterns_b->keys.empty() && (more_a || more_b))
    return refuse("patternProperties of two schemas beside additionalProperties"), false;
  for (const bool first : {true, false}) {
    const Value &from = first ? *patterns_a : *patterns_b, *const more = first ? more_b : more_a;
    for (size_t i = 0; i < from.keys.size(); ++i) {
      const Value* there = member(patterns, from.keys[i]);
      Value one = more ? all_of(from.items[i], *more) : from.items[i];
      set(&patterns, from.keys[i], there ? all_of(*there, one) : one);
    }
  }
  if (!properties.keys.empty() || member(a, "properties") || member(b, "properties")) set(out, "properties", std::move(properties));
  if (!patterns.keys.empty()) set(out, "patternProperties", std::move(patterns));
  if (more_a || more_b) set(out, "additionalProperties", all_of(more_a ? *more_a : kTrue, more_b ? *more_b : kTrue));
  return true;
}

void SchemaMerger::arrays(const Value& a, const Value& b, Value* out) {
  const Value none = {.type = kArray};
  const Value *items_a = member(a, "items"), *items_b = member(b, "items"), *first_a = member(a, "prefixItems"),
              *first_b = member(b, "prefixItems");
  if (!first_a || !first_a->is(kArray)) first_a = &none;
  if (!first_b || !first_b->is(kArray)) first_b = &none;
  const auto at = [](const Value& first, const Value* items, size_t i) -> const Value& {
    return i < first.items.size() ? first.items[i] : items ? *items : kTrue;
  };
  Value first = {.type = kArray};
  for (size_t i = 0; i < std::max(first_a->items.size(), first_b->items.size()); ++i)
    first.items.push_back(all_of(at(*first_a, items_a, i), at(*first_b, items_b, i)));
  if (!first.items.empty()) set(out, "prefixItems", std::move(first));
  if (items_a || items_b) set(out, "items", all_of(items_a ? *items_a : kTrue, items_b ? *items_b : kTrue));
}

bool SchemaMerger::obeys(const Value& v, const Value& schema, uint32_t depth) {
  if (depth > kMaxDepth || ++work_ > kMaxWork) return refuse("values and schemas that are held together without end"), false;
  if (!schema.is(kObject)) return is_true(schema);
  if (!(type_of(v) & types_said(schema))) return false;
  const auto count = [&](size_t n, const String& key, const Value& s) {
    const int order = compare(Decimal(decimal(n)), Decimal(s.text));
    return s.is(kNumber) && (key[1] == 'i' ? order >= 0 : order <= 0);  // min..., max...
  };
  for (size_t i = 0; i < schema.keys.size(); ++i) {
    const String& key = schema.keys[i];
    const Value& s = schema.items[i];
    bool ok = true, known = true;
    if (is_remark(key) || key == "type" || key == "additionalProperties" || key == "patternProperties") {
      ok = true;
    } else if (key == "$ref") {
      const Value* to = target_(s);
      ok = to && obeys(v, *to, depth + 1);
    } else if (key == "allOf" || key == "anyOf" || key == "oneOf") {
      const auto n = std::count_if(s.items.begin(), s.items.end(), [&](const Value& one) { return obeys(v, one, depth + 1); });
      ok = key == "allOf" ? static_cast<size_t>(n) == s.items.size() : key == "anyOf" ? n > 0 : n == 1;
    } else if (key == "not") {
      ok = !obeys(v, s, depth + 1);
    } else if (key == "enum") {
      work_ += static_cast<uint32_t>(s.items.size() / 256);
      ok = std::any_of(s.items.begin(), s.items.end(), [&](const Value& one) { return equal(v, one); });
    } else if (key == "const") {
      ok = equal(v, s);
    } else if (key == "minimum" || key == "maximum" || key == "exclusiveMinimum" || key == "exclusiveMaximum") {
      const int order = v.is(kNumber) && s.is(kNumber) ? compare(Decimal(v.text), Decimal(s.text)) : 0;
      const bool open = key[0] == 'e', low = key.ends_with("inimum");
      ok = !v.is(kNumber) || (s.is(kNumber) && (order == 0 ? !open : (order > 0) == low));
    } else if (key == "multipleOf") {
      const Decimal x(v.is(kNumber) ? v.text : "0"), m(s.text);
      known = !v.is(kNumber) || (m.whole() && x.point <= 18 && m.point <= 18 && m.rounded(false) > 0);
      ok = !v.is(kNumber) || (known && x.whole() && x.rounded(false) % m.rounded(false) == 0);
    } else if (key == "minLength" || key == "maxLength") {
      ok = !v.is(kString) || count(n_characters(v.text), key, s);
    } else if (key == "pattern") {
      ok = !v.is(kString) ||
           (s.is(kArray) ? std::all_of(s.items.begin(), s.items.end(), [&](const Value& p) { return found_(v.text, p, &known); })
                         : found_(v.text, s, &known));
    } else if (key == "items") {
      const Value* first = member(schema, "prefixItems");
      for (size_t k = first ? first->items.size() : 0; v.is(kArray) && ok && k < v.items.size(); ++k) ok = obeys(v.items[k], s, depth + 1);
    } else if (key == "prefixItems") {
      for (size_t k = 0; v.is(kArray) && ok && k < std::min(v.items.size(), s.items.size()); ++k)
        ok = obeys(v.items[k], s.items[k], depth + 1);
    } else if (key == "minItems" || key == "maxItems") {
      ok = !v.is(kArray) || count(v.items.size(), key, s);
    } else if (key == "minProperties" || key == "maxProperties") {
      ok = !v.is(kObject) || count(v.items.size(), key, s);
    } else if (key == "required") {
      ok = !v.is(kObject) || std::all_of(s.items.begin(), s.items.end(), [&](const Value& name) { return member(v, name.text); });
    } else if (key == "properties") {
      ok = true;
    } else if (key == "propertyNames") {
      ok = !v.is(kObject) || std::all_of(v.keys.begin(), v.keys.end(), [&](const String& k) { return obeys(text_value(k), s, depth + 1); });
    } else if (key == "uniqueItems") {
      for (size_t k = 0; v.is(kArray) && is_true(s) && k < v.items.size(); ++k)
        for (size_t n = 0; n < k; ++n) ok &= !equal(v.items[k], v.items[n]);
    } else {
      known = false;
    }
    if (!known) return refuse("keyword '" + key + "' beside enum or const"), false;
    if (!ok) return false;
  }
  return !v.is(kObject) || obeys_object(v, schema, depth);
}

bool SchemaMerger::obeys_object(const Value& v, const Value& s, uint32_t depth) {
  const Value *properties = member(s, "properties"), *patterns = member(s, "patternProperties"), *more = member(s, "additionalProperties");
  bool known = true;
  for (size_t i = 0; i < v.keys.size(); ++i) {
    bool named = false;
    if (const Value* own = properties ? member(*properties, v.keys[i]) : nullptr) {
      named = true;
      if (!obeys(v.items[i], *own, depth + 1)) return false;
    }
    for (size_t k = 0; patterns && k < patterns->keys.size(); ++k)
      if (found_(v.keys[i], text_value(patterns->keys[k]), &known)) {
        named = true;
        if (!obeys(v.items[i], patterns->items[k], depth + 1)) return false;
      }
    if (!known) return refuse("a pattern of patternProperties that is not supported"), false;
    if (!named && more && !obeys(v.items[i], *more, depth + 1)) return false;
  }
  return true;
}

}  // namespace linnet::convert
