// The tools of a conversation as the parser of answers asks for them: JSON that was read before, looked through in place.
#pragma once
#include <cstddef>
#include <cstdint>

#include "view.h"

namespace linnet::chat {

// The schema of what a tool takes. tools: a JSON list of {"type": "function", "function": {...}} or of the functions themselves.
bool find_tool(View tools, View name, View* parameters);
// The schema, or the first of its alternatives, that has this keyword; empty: none.
View holding(View schema, View root, View keyword);
// What stands behind {"$ref": "#/$defs/NAME"} or #/definitions/NAME of this root; the schema itself where it is no reference.
View referred(View schema, View root);
View member(View object, View name);  // a value as it stands there; empty where there is none
enum : uint32_t { kIsText = 1, kIsNumber = 2, kIsBool = 4, kIsNull = 8, kIsObject = 16, kIsList = 32, kTextFirst = 64 };
// What a schema allows; kTextFirst: a text before anything else but null. 0: it does not say.
uint32_t types_of(View schema, View root);
uint32_t kind_of(View value);                      // what it would be, by its first character
size_t json_end(View s, size_t at);                // behind the value that begins at `at`
int hex_value(char c);                             // -1: none
bool code_unit(View s, size_t at, uint32_t* out);  // four hexadecimal digits
// The next character of what stands between the quotes of a JSON text: its bytes; *at goes behind it.
size_t json_char(View s, size_t* at, char (&out)[4]);

}  // namespace linnet::chat
