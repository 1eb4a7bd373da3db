// Schemas put together: what allOf, keywords beside $ref, anyOf and oneOf, and enum beside others come to as one schema each.
#pragma once
#include <functional>

#include "schema_value.h"

namespace linnet::convert {

// -1, 0, 1
int compare(const Decimal& a, const Decimal& b);
// Keywords that say nothing of values.
bool is_remark(const String& key);
// Keywords that come to others when a schema is made flat.
bool is_rewritten(const String& key);

class SchemaMerger {
 public:
  // What a $ref stands for; nullptr: it was refused.
  using Target = std::function<const Value*(const Value& ref)>;
  // Whether a text is found by a pattern, or is of a format; *known = false: the pattern or format is not supported.
  using Found = std::function<bool(const String& text, const Value& pattern, bool* known)>;
  SchemaMerger(Target target, Found found) : target_(std::move(target)), found_(std::move(found)) {}

  // The same, or a part of its values, without $ref and what is_rewritten() says, and with anyOf, oneOf, enum and const alone, as long as
  // the merger; nullptr: why() says what is in the way. A schema that is a $ref and no more is followed.
  const Value* flat(const Value& schema) { return flat(schema, 0); }
  // {"allOf": [a, b]}, or what that comes to where it is plain.
  const Value* together(const Value& a, const Value& b);
  bool finds(const String& text, const String& pattern, bool* known) { return found_(text, {.type = kString, .text = pattern}, known); }
  bool is_flat(const Value& schema) const;
  // Whether a value obeys; where something is not supported it does not.
  bool obeys(const Value& v, const Value& schema) { return obeys(v, schema, 0); }
  const String& why() const { return why_; }

 private:
  const Value* flat(const Value& schema, uint32_t depth);
  const Value* both(const Value& a, const Value& b, uint32_t depth);
  const Value* combine(const Value& a, const Value& b);
  const Value* rewritten(const Value& schema, uint32_t depth);
  const Value* unevaluated(const Value& flat_schema, const Value& left, bool properties, uint32_t depth);
  bool objects(const Value& a, const Value& b, Value* out);
  void arrays(const Value& a, const Value& b, Value* out);
  const Value* filtered(const Value& values, const Value& rest, uint32_t depth);
  bool obeys(const Value& v, const Value& schema, uint32_t depth);
  bool obeys_object(const Value& v, const Value& s, uint32_t depth);
  const Value* refuse(const String& why) {
    if (why_.empty()) why_ = why;
    return nullptr;
  }
  const Value* keep_one(const char* key, const Value& v) { return keep({.type = kObject, .keys = {key}, .items = {v}}); }
  const Value* keep(Value v) {
    made_.push_back(std::move(v));
    return &made_.back();
  }

  const Target target_;
  const Found found_;
  Deque<Value> made_;
  String why_;
  uint32_t work_ = 0, closed_ = 0;  // closed_: inside of what unevaluated... is said beside
};

}  // namespace linnet::convert
