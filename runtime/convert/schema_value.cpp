#include "schema_value.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "json.h"

namespace linnet::convert {
namespace {

struct TypeName {
  const char* name;
  uint32_t type;
};
constexpr TypeName kTypes[] = {{"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger}, {"number", kNumber},
                               {"string", kString}, {"array", kArray},     {"object", kObject}};

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

}  // namespace

Decimal::Decimal(const std::string& text) {
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
int64_t Decimal::rounded(bool up) const {
  int64_t n = 0;
  for (int64_t i = 0; i < point && n <= kMaxInteger; ++i) {
    const int64_t digit = i < static_cast<int64_t>(digits.size()) ? digits[static_cast<size_t>(i)] - '0' : 0;
    n = n > kMaxInteger / 10 ? kMaxInteger + 1 : n * 10 + digit;
  }
  n = std::min(n + (!whole() && up != negative), kMaxInteger + 1);
  return negative ? -n : n;
}

const Value* member(const Value& from, std::string_view key) {
  const auto at = std::find(from.keys.begin(), from.keys.end(), key);
  return at == from.keys.end() ? nullptr : &from.items[static_cast<size_t>(at - from.keys.begin())];
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
uint32_t type_named(std::string_view name) {
  for (const TypeName& t : kTypes)
    if (name == t.name) return t.type;
  return 0;
}

Status schema_parse(std::string_view text, const char* name, Value* out, Error* err) {
  JsonTree checked;
  LINNET_TRY(json_parse(text, name, &checked.root, err));
  json_clear(&checked.root);
  ValueBuilder builder(out);
  if (!nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder))
    return fail(err, LINNET_BAD_FILE, name, ": not valid JSON");
  return LINNET_OK;
}

}  // namespace linnet::convert
