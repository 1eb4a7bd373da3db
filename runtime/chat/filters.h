// The filters by kind: each file does those of its own. filters.cpp sends them there, and has the ones of numbers.
#pragma once
#include "machine.h"

namespace linnet::chat {

bool filter_list(Machine& m, FilterId id, const Value& v, const Args& args, Value* out);    // filters_lists.cpp
bool filter_text(Machine& m, FilterId id, const Value& v, const Args& args, Value* out);    // filters_text.cpp
bool filter_markup(Machine& m, FilterId id, const Value& v, const Args& args, Value* out);  // filters_markup.cpp
bool pretty_print(Machine& m, const Value& v, Value* out);                                  // pretty_print.cpp

// str(v): a text that is no markup. soft_text: a text as it is.
inline bool plain_text(Machine& m, const Value& v, Value* out) {
  if (!to_text(m, v, out)) return false;
  out->flags = out->from();
  return true;
}
inline bool soft_text(Machine& m, const Value& v, Value* out) {
  if (!v.is_text()) return to_text(m, v, out);
  *out = v;
  return true;
}
// A method of a text, for filters that are one.
inline bool call_text(Machine& m, const Value& self, std::string_view method, const Args& args, Value* out) {
  const Method of = {self, method};
  return call_method(m, of, args, out);
}
// What was put since `mark` as a text, which is a markup where `markup` has that flag.
inline bool finish_as(Machine& m, size_t mark, uint8_t markup, Value* out) {
  if (!m.finish(mark, out)) return false;
  out->flags = static_cast<uint8_t>(out->flags | (markup & kMarkup));
  return true;
}
// Whether an argument was left out, or is None where that says the same.
inline bool absent(const Value& v) { return v.is(Kind::kMissing) || v.is(Kind::kNone); }
inline uint8_t from_of(const Value& v) { return from_both(v, v); }
inline uint8_t from_at(const Value& text, size_t i) { return text.marks ? text.marks[i] : text.from(); }
// An argument that must be an integer; what is missing is `otherwise`.
inline bool take_integer(Machine& m, FilterId id, const Value& v, int64_t otherwise, int64_t* out) {
  *out = v.is(Kind::kMissing) ? otherwise : v.integer;
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  return v.is(Kind::kMissing) || v.is_integer() || m.fail("the filter '", filter_name(id), "' takes an integer, not a ", type_name(v));
}

// An attribute or key of an attribute of a value, as "a.b.0" names it.
struct Path {
  const Value* parts = nullptr;  // texts, integers
  uint32_t n = 0;
  Value instead;      // of an undefined value on the way; kMissing and none: nothing
  bool fold = false;  // a text in lower case
};
bool make_path(Machine& m, const Value& attribute, Path* out);
bool follow(Machine& m, const Path& path, const Value& v, Value* out);

}  // namespace linnet::chat
