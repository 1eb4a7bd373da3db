// Values of schemas and of lists of tools, as they were written.
#pragma once
#include <cstdint>
#include <string_view>

#include "../../platform/status.h"
#include "grammar_memory.h"

namespace linnet::convert {

inline constexpr int64_t kMaxInteger = 999'999'999'999'999'999;  // 18 digits

enum Type : uint32_t { kNull = 1, kBoolean = 2, kInteger = 4, kNumber = 8, kString = 16, kArray = 32, kObject = 64 };
// A value as the schema has it: members in their order, numbers by their own characters.
struct Value {
  uint32_t type = kNull;  // kNumber for any number
  bool truth = false;
  String text = {};          // a string's, a number's characters
  Vector<String> keys = {};  // of an object
  Vector<Value> items = {};  // elements, values of members

  bool is(Type t) const { return type == t; }
};
// Takes the texts that json_parse takes, without its heap.
Status schema_parse(std::string_view text, const char* name, Value* out, Error* err);

// What a number is worth, exactly: 0.DIGITS * 10^point, no zeros at either end of the digits. Zero has none.
struct Decimal {
  bool negative = false;
  String digits;
  int64_t point = 0;

  explicit Decimal(const String& text);
  bool operator==(const Decimal&) const = default;
  bool whole() const { return static_cast<int64_t>(digits.size()) <= point; }
  // The largest whole number that is not above it (the least one not below it), and what is beyond 18 digits as the first number that is.
  int64_t rounded(bool up) const;
};

const Value* member(const Value& from, std::string_view key);  // nullptr: there is none
String quoted(const String& text);
String dump(const Value& v);  // JSON without white space
const char* type_name(const Value& v);
uint32_t type_of(const Value& v);
uint32_t type_named(std::string_view name);  // 0: there is none
// Whether two values are equal to JSON Schema, which knows no order of members, and of numbers what they are worth.
bool equal(const Value& a, const Value& b);

}  // namespace linnet::convert
