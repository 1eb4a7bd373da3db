#include "tool_schemas.h"

#include "answer_parts.h"

namespace linnet::chat {

int hex_value(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return is_digit_char(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
bool code_unit(View s, size_t at, uint32_t* out) {
  *out = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = i < s.size() ? hex_value(s[i]) : -1;
    if (digit < 0) return false;
    *out = *out << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}
namespace {
size_t to_utf8(uint32_t code, char* out) {
  if (code < 0x80) return out[0] = static_cast<char>(code), 1;
  const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = n; --i; code >>= 6) out[i] = static_cast<char>(0x80 | (code & 0x3F));
  out[0] = static_cast<char>((0xF00 >> n & 0xFF) | code);
  return n;
}
}  // namespace

size_t json_char(View s, size_t* at, char (&out)[4]) {
  const char c = s[(*at)++];
  out[0] = c;
  if (c != '\\' || *at == s.size()) return 1;
  const char e = s[(*at)++];
  constexpr View kNames = "\"\\/bfnrt'", kCodes = "\"\\/\b\f\n\r\t'";
  if (const size_t known = find_in(kNames, e); known != kNowhere) return out[0] = kCodes[known], 1;
  uint32_t code = 0, low = 0;
  if (e != 'u' || !code_unit(s, *at, &code)) return --*at, 1;
  *at += 4;
  if (code >> 10 == 0xD800 >> 10 && cut(s, *at, 2) == "\\u" && code_unit(s, *at + 2, &low) && low >> 10 == 0xDC00 >> 10) {
    *at += 6;
    code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
  }
  return to_utf8(code >> 11 == 0xD800 >> 11 ? 0xFFFD : code, out);
}
namespace {
bool json_is(View escaped, View plain) {
  char bytes[4];
  for (size_t at = 0; at < escaped.size();) {
    const size_t n = json_char(escaped, &at, bytes);
    if (cut(plain, 0, n) != View(bytes, n)) return false;
    plain.remove_prefix(n);
  }
  return plain.empty();
}
}  // namespace

size_t json_end(View s, size_t at) {
  uint32_t depth = 0;
  bool text = false;
  for (; at < s.size(); ++at) {
    const char c = s[at];
    if (text) {
      if (c == '\\') ++at;
      text = c != '"';
      if (!text && !depth) return at + 1;
    } else if (c == '"') {
      text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (!depth) return at;
      if (!--depth) return at + 1;
    } else if (!depth && (c == ',' || is_blank(c))) {
      return at;
    }
  }
  return s.size();
}
namespace {
// Items of a list or members of an object, one after the other: *at is behind the last one, 0 in the beginning.
bool next_item(View of, size_t* at, View* item) {
  size_t p = skip_blanks(of, *at ? *at : size_t{1});
  if (p < of.size() && of[p] == ',') p = skip_blanks(of, p + 1);
  if (p >= of.size() || one_of(of[p], "]}:")) return false;
  *at = json_end(of, p);
  *item = cut(of, p, *at - p);
  return *at > p;
}
bool next_member(View of, size_t* at, View* key, View* value) {
  if (!next_item(of, at, key) || key->size() < 2 || key->front() != '"') return false;
  *key = key->substr(1, key->size() - 2);
  size_t p = skip_blanks(of, *at);
  if (p >= of.size() || of[p] != ':') return false;
  p = skip_blanks(of, p + 1);
  *at = json_end(of, p);
  *value = cut(of, p, *at - p);
  return true;
}
}  // namespace

View member(View object, View name) {
  View key, value;
  if (!object.empty() && object.front() == '{')
    for (size_t at = 0; next_member(object, &at, &key, &value);)
      if (json_is(key, name)) return value;
  return {};
}
bool find_tool(View tools, View name, View* parameters) {
  View tool;
  tools = trimmed(tools);
  if (tools.empty() || tools.front() != '[') return false;
  for (size_t at = 0; next_item(tools, &at, &tool);) {
    View function = member(tool, "function");
    if (function.empty() || function.front() != '{') function = tool;
    const View called = member(function, "name");
    if (called.size() < 2 || called.front() != '"' || !json_is(cut(called, 1, called.size() - 2), name)) continue;
    *parameters = member(function, "parameters");
    if (parameters->empty()) *parameters = member(function, "input_schema");
    return true;
  }
  return false;
}

uint32_t kind_of(View value) {
  if (value.empty()) return 0;
  switch (value.front()) {
    case '{':
      return kIsObject;
    case '[':
    case '(':
      return kIsList;
    case '"':
    case '\'':
      return kIsText;
    case 't':
    case 'T':
    case 'f':
    case 'F':
      return kIsBool;
    case 'n':
    case 'N':
      return kIsNull;
    default:
      return kIsNumber;
  }
}
View referred(View schema, View root) {
  for (int i = 0; i < 8; ++i) {
    const View ref = member(schema, "$ref");
    // "#/$defs/NAME", decoded: escapes of JSON, then ~1 and ~0
    char path[256];
    size_t n = 0;
    for (size_t at = 1; at + 1 < ref.size() && n + 4 < sizeof path;) {
      char c[4];
      const size_t bytes = json_char(cut(ref, 0, ref.size() - 1), &at, c);
      std::memcpy(path + n, c, bytes);
      n += bytes;
    }
    const View text(path, n);
    View next;
    for (const View folder : {View("$defs"), View("definitions")}) {
      const size_t name = 3 + folder.size();  // behind #/FOLDER/
      if (n <= name || !begins_with(text, "#/") || cut(text, 2, folder.size()) != folder || text[name - 1] != '/') continue;
      char plain[sizeof path];
      size_t k = 0;
      for (size_t at = name; at < n; ++at, ++k)
        if (path[at] == '~' && at + 1 < n)
          plain[k] = path[++at] == '1' ? '/' : '~';
        else
          plain[k] = path[at];
      next = member(member(root, folder), {plain, k});
    }
    if (next.empty()) break;
    schema = next;
  }
  return schema;
}

View holding(View schema, View root, View keyword) {
  schema = referred(schema, root);
  if (!member(schema, keyword).empty()) return schema;
  for (const View name : {View("anyOf"), View("oneOf")}) {
    const View list = member(schema, name);
    View item;
    if (!list.empty() && list.front() == '[')
      for (size_t at = 0; next_item(list, &at, &item);)
        if (const View one = referred(item, root); !member(one, keyword).empty()) return one;
  }
  return {};
}

// left: how many schemas may be looked at.
static uint32_t types_within(View schema, View root, uint32_t* left) {
  if (*left == 0) return 0;
  --*left;
  uint32_t types = 0;
  schema = referred(schema, root);
  const auto add = [&types](uint32_t t) {
    if (t == kIsText && !(types & ~uint32_t{kIsNull})) types |= kTextFirst;
    types |= t;
  };
  const auto is = [](View t, View name) { return t.size() > 1 && t.front() == '"' && json_is(cut(t, 1, t.size() - 2), name); };
  const auto add_name = [&](View t) {
    add(is(t, "string")                       ? kIsText
        : is(t, "integer") || is(t, "number") ? kIsNumber
        : is(t, "boolean")                    ? kIsBool
        : is(t, "null")                       ? kIsNull
        : is(t, "object")                     ? kIsObject
        : is(t, "array")                      ? kIsList
                                              : 0u);
  };
  View item;
  const View type = member(schema, "type");
  if (!type.empty() && type.front() == '[') {
    for (size_t at = 0; next_item(type, &at, &item);) add_name(item);
  } else {
    add_name(type);
  }
  if (types) return types;
  for (const View name : {View("anyOf"), View("oneOf"), View("allOf")}) {
    const View list = member(schema, name);
    if (list.empty() || list.front() != '[') continue;
    for (size_t at = 0; next_item(list, &at, &item);) {
      const uint32_t inner = types_within(item, root, left);
      if (inner & kTextFirst) add(kIsText);
      add(inner & ~uint32_t{kTextFirst});
    }
  }
  if (types) return types;
  const View choices = member(schema, "enum"), constant = member(schema, "const");
  if (!choices.empty() && choices.front() == '[')
    for (size_t at = 0; next_item(choices, &at, &item);) add(kind_of(item));
  if (!constant.empty()) add(kind_of(constant));
  if (!member(schema, "properties").empty()) add(kIsObject);
  if (!member(schema, "items").empty()) add(kIsList);
  return types;
}
uint32_t types_of(View schema, View root) {
  uint32_t left = 256;
  const uint32_t types = types_within(schema, root, &left);
  return left ? types : 0;
}

}  // namespace linnet::chat
