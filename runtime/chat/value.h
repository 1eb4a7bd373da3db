// Values of chat templates, as Python has them. Each byte of a text knows whether it is the template's own or came out of the conversation
// (messages, tools, variables); other values know it as a whole. Values never change, namespaces, loops and iterators aside, so that a
// part of a text or of a list is a view of it, and nothing is freed while a template runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "view.h"

namespace linnet::chat {

enum class Kind : uint8_t {
  kMissing,    // a variable without a value, an argument that was not given; no template sees it
  kUndefined,  // a name without a value: printed as nothing, an error in most other places
  kNone,
  kBool,
  kInt,
  kFloat,
  kBig,  // an integer beyond 64 bits, as its digits: printed and compared, not computed with
  kText,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,       // keys(), values(), items() of a dict
  kIterator,   // can be run through once
  kNamespace,  // attributes that a template may set
  kFunction,   // a name of Function
  kMethod,     // of a value: a text's split
  kMacro,
  kLoop,
  kCycler,
  kJoiner,
};

enum : uint8_t {
  kData = 1,    // it came out of the conversation; a text with marks says it byte by byte
  kMarkup = 2,  // a text that `safe` made: what is added to it is escaped
  kWhole = 4,   // an undefined value whose text is the whole message; a group of groupby, whose items have names
  kNoKey = 8,   // a tuple with a list or a dict somewhere in it
};

enum : uint16_t { kKeys, kValues, kItems };  // which view of a dict

struct Value;
struct Range {
  int64_t start, stop, step;
  uint32_t n;
};
// A dict in the order of insertion: key and value of entry i are entries[2 i] and entries[2 i + 1].
struct Dict {
  const Value* entries;
  uint32_t n;
  uint32_t n_slots;       // of the index, a power of two; 0: none, since there are few entries
  const uint32_t* index;  // (n_slots) 1 + the entry, open addressing by hash_of(key); 0 = free
};
struct Iterator;   // machine.h
struct Namespace;  // machine.h
struct Method;
struct Macro;
struct Loop;
struct Cycler;

struct Value {
  Kind kind = Kind::kMissing;
  uint8_t flags = 0;
  uint16_t depth = 0;  // lists, tuples, dicts: how deep they nest, 1 for one of scalars (kMaxNesting); views: kKeys ...; a function: its
                       // FunctionId; an undefined value: 1 + Kind of what has no such attribute
  uint32_t n = 0;      // bytes of a text, items of a list or tuple, entries of a dict
  union {
    int64_t integer = 0;  // kInt, kBool
    double real;
    const char* text;  // kText, kBig; kUndefined: the name that has no value; UTF-8
    const Value* items;
    const Dict* dict;  // kDict, kView
    const Range* range;
    Iterator* iterator;
    Namespace* space;
    const Method* method;
    const Macro* macro;
    Loop* loop;
    Cycler* cycler;  // kCycler, kJoiner
  };
  const uint8_t* marks = nullptr;  // (n) of a text of both origins: 1 where a byte came out of the conversation; else nullptr

  bool is(Kind k) const { return kind == k; }
  bool is_text() const { return kind == Kind::kText; }
  bool is_list() const { return kind == Kind::kList || kind == Kind::kTuple; }
  bool is_integer() const { return kind == Kind::kInt || kind == Kind::kBool; }  // what Python takes for an index
  bool is_number() const { return is_integer() || kind == Kind::kFloat || kind == Kind::kBig; }
  uint8_t from() const { return flags & kData; }  // a text without marks, or anything else
  std::string_view view() const { return {text, n}; }
};

inline constexpr uint16_t kMaxNesting = 96;    // of lists in lists, also what repr, tojson and == go down
inline constexpr uint32_t kMaxRange = 100000;  // as in Jinja2's sandbox
inline constexpr uint32_t kDictIndexFrom = 9;  // entries from which a dict has an index

inline Value none() {
  Value v;
  v.kind = Kind::kNone;
  return v;
}
inline Value boolean(bool b, uint8_t from = 0) {
  Value v;
  v.kind = Kind::kBool, v.integer = b, v.flags = from;
  return v;
}
inline Value integer(int64_t i, uint8_t from = 0) {
  Value v;
  v.kind = Kind::kInt, v.integer = i, v.flags = from;
  return v;
}
inline Value real(double d, uint8_t from = 0) {
  Value v;
  v.kind = Kind::kFloat, v.real = d, v.flags = from;
  return v;
}
// A text that lives as long as the run: a literal, a part of the program.
inline Value text(std::string_view s, uint8_t from = 0) {
  Value v;
  v.kind = Kind::kText, v.text = s.data(), v.n = static_cast<uint32_t>(s.size()), v.flags = from;
  return v;
}
// Bytes [at, at + n) of a text.
inline Value part(const Value& of, size_t at, size_t n) {
  Value v = of;
  v.text += at;
  v.n = static_cast<uint32_t>(n);
  if (v.marks) v.marks += at;
  return v;
}
// What a value of two values is: of the conversation where one of them was.
inline uint8_t from_both(const Value& a, const Value& b) {
  const auto any = [](const Value& v) { return v.marks ? uint8_t{kData} : v.from(); };
  return static_cast<uint8_t>(any(a) | any(b));
}
inline Value undefined(std::string_view name, bool whole = false) {
  Value v;
  v.kind = Kind::kUndefined, v.text = name.data(), v.n = static_cast<uint32_t>(name.size());
  if (whole) v.flags = kWhole;
  return v;
}

}  // namespace linnet::chat
