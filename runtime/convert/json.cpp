#include "json.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "../../platform/file.h"
#include "../../platform/reader.h"
#include "../guard.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

constexpr size_t kFirstRead = size_t{64} << 10;

// What Python writes that is no JSON, and numbers of the same length that nobody writes, which the parser is given instead.
struct NamedNumber {
  std::string_view name, stands_in;
  double value;
};
constexpr NamedNumber kNamedNumbers[] = {{"NaN", "0E0", NAN}, {"Infinity", "0E000000", INFINITY}, {"-Infinity", "-0E000000", -INFINITY}};

// Puts stand-ins where these names are values.
bool replace_names(std::string* text) {
  bool found = false, in_string = false;
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (i && std::strchr("[:, \t\r\n", (*text)[i - 1]) == nullptr) continue;
    for (const NamedNumber& n : kNamedNumbers) {
      const size_t end = i + n.name.size();
      if (text->compare(i, n.name.size(), n.name) != 0 || (end < text->size() && std::strchr(",]} \t\r\n", (*text)[end]) == nullptr))
        continue;
      text->replace(i, n.name.size(), n.stands_in);
      i = end - 1;
      found = true;
      break;
    }
  }
  return found;
}

// Builds the value while nlohmann's parser, which itself needs no stack, reports what it sees. Returning false stops the parser.
class Builder {
 public:
  Builder(const char* label, std::string_view text, bool names, json* root, Error* err)
      : label_(label), text_(text), names_(names), root_(root), err_(err) {}
  Status status() const { return status_; }

  bool null() { return add(json(nullptr)) != nullptr; }
  bool boolean(bool v) { return add(json(v)) != nullptr; }
  bool number_integer(json::number_integer_t v) { return add(json(v)) != nullptr; }
  bool number_unsigned(json::number_unsigned_t v) { return add(json(v)) != nullptr; }
  bool number_float(json::number_float_t v, const json::string_t& spelled) {
    for (const NamedNumber& n : kNamedNumbers)
      if (names_ && spelled == n.stands_in) v = n.value;
    return add(json(v)) != nullptr;
  }
  bool string(json::string_t& v) { return add(json(std::move(v))) != nullptr; }
  bool binary(json::binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(size_t) { return open(json(json::value_t::object)); }
  bool start_array(size_t) { return open(json(json::value_t::array)); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(json::string_t& name) {
    const auto [at, is_new] = open_.back()->get_ptr<json::object_t*>()->try_emplace(name);
    if (!is_new) return refuse("duplicate key '", name, "'");
    slot_ = &at->second;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const json::exception&) {  // position: bytes read, the bad one included
    return invalid_at(position > 0 ? std::min(position - 1, text_.size()) : 0);
  }
  bool invalid_at(size_t offset) {
    const TextPlace at = text_place(text_, offset);
    refuse("not valid JSON at line ", at.line, ", column ", at.column);
    if (err_) err_->line = at.line;
    return false;
  }

 private:
  template <class... Parts>
  bool refuse(const Parts&... parts) {
    status_ = fail(err_, LINNET_BAD_FILE, label_, ": ", parts...);
    return false;
  }
  // Where the next value belongs: the root, the slot of the key just read, or a new element of the open array.
  json* add(json&& value) {
    if (++n_values_ > kJsonMaxValues) {
      refuse("more than ", kJsonMaxValues, " values");
      return nullptr;
    }
    if (open_.empty()) {
      *root_ = std::move(value);
      return root_;
    }
    if (auto* array = open_.back()->get_ptr<json::array_t*>()) return &array->emplace_back(std::move(value));
    *slot_ = std::move(value);
    return slot_;
  }
  bool open(json&& value) {
    if (open_.size() == kJsonMaxDepth) return refuse("nested deeper than ", kJsonMaxDepth);
    json* const at = add(std::move(value));
    if (at) open_.push_back(at);
    return at != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const char* label_;
  std::string_view text_;
  bool names_;  // the text holds stand-ins
  json* root_;
  Error* err_;
  std::vector<json*> open_;  // objects and arrays around the next value, outermost first
  json* slot_ = nullptr;
  size_t n_values_ = 0;
  Status status_ = LINNET_OK;
};

Got found_or(const json* value, bool fits) {
  return !value ? Got::kMissing : value->is_null() ? Got::kNull : fits ? Got::kFound : Got::kWrong;
}

}  // namespace

TextPlace text_place(std::string_view text, size_t offset) {
  TextPlace at = {1, 1};
  for (const char c : text.substr(0, offset)) {
    at.column = c == '\n' ? 1 : at.column + 1;
    at.line += c == '\n';
  }
  return at;
}

void json_clear(json* value) noexcept {
  if (auto* array = value->get_ptr<json::array_t*>()) {
    for (json& v : *array) json_clear(&v);
    array->clear();
  } else if (auto* object = value->get_ptr<json::object_t*>()) {
    for (auto& [key, v] : *object) json_clear(&v);
    object->clear();
  }
  *value = nullptr;
}

static Status parse(std::string_view text, const char* label, bool names, json* out, Error* err) {
  json_clear(out);
  if (text.size() > kJsonMaxBytes)
    return fail(err, LINNET_BAD_FILE, label, ": ", text.size(), " bytes of JSON, the limit is ", kJsonMaxBytes);
  Builder builder(label, text, names, out, err);
  // The parser takes a zero byte for the end of its input and would not see what follows; no JSON text holds one.
  const size_t zero = text.find('\0');
  const bool parsed = zero != text.npos ? builder.invalid_at(zero) : json::sax_parse(text.data(), text.data() + text.size(), &builder);
  if (parsed) return LINNET_OK;
  json_clear(out);
  return builder.status();
}

Status json_parse_python(std::string text, const char* label, json* out, Error* err) {
  const bool names = text.size() <= kJsonMaxBytes && replace_names(&text);
  return parse(text, label, names, out, err);
}

Status json_parse(std::string_view text, const char* label, json* out, Error* err) { return parse(text, label, false, out, err); }

linnet_status read_file(const std::string& path, size_t max_bytes, std::string* out, bool* found, linnet_error* err) {
  return guarded(PathName(path), err, [&] {
    if (found) *found = true;
    Status status = LINNET_TOO_SMALL;
    size_t n = 0;
    for (size_t cap = std::min(max_bytes, kFirstRead);; cap = std::min(max_bytes, std::max(n, 2 * cap))) {
      out->resize(cap);
      status = file_read(path.c_str(), out->data(), cap, &n, err);
      if (status != LINNET_TOO_SMALL || cap == max_bytes) break;
    }
    const bool missing = status == LINNET_IO && (errno == ENOENT || errno == ENOTDIR);
    out->resize(status == LINNET_OK ? n : 0);
    if (found && missing) {
      *found = false;
      return LINNET_OK;
    }
    if (status == LINNET_OK && is_lfs_pointer(out->data(), out->size()))
      return fail(err, LINNET_BAD_FILE, PathName(path), ": ", kLfsPointer);
    if (status != LINNET_TOO_SMALL) return status;
    return fail(err, LINNET_BAD_FILE, PathName(path), ": ", n, " bytes, the limit for this file is ", max_bytes);
  });
}

const json* json_member(const json& from, std::string_view key) {
  const auto* object = from.get_ptr<const json::object_t*>();
  if (!object) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &at->second;
}

Got get_u32(const json& from, std::string_view key, uint32_t* out) {
  const json* value = json_member(from, key);
  const auto* number = value ? value->get_ptr<const json::number_unsigned_t*>() : nullptr;
  const bool fits = number && *number <= std::numeric_limits<uint32_t>::max();
  if (fits) *out = static_cast<uint32_t>(*number);
  return found_or(value, fits);
}

Got get_i64(const json& from, std::string_view key, int64_t* out) {
  const json* value = json_member(from, key);
  const auto* positive = value ? value->get_ptr<const json::number_unsigned_t*>() : nullptr;
  const auto* number = value ? value->get_ptr<const json::number_integer_t*>() : nullptr;  // both types are integers for get_ptr
  const bool fits = number && (!positive || *positive <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (fits) *out = *number;
  return found_or(value, fits);
}

Got get_double(const json& from, std::string_view key, double* out) {
  const json* value = json_member(from, key);
  const bool fits = value && value->is_number();
  if (fits && std::isfinite(value->get<double>()))
    *out = value->get<double>();
  else if (fits)
    return Got::kWrong;
  return found_or(value, fits);
}

Got get_bool(const json& from, std::string_view key, bool* out) {
  const json* value = json_member(from, key);
  const auto* flag = value ? value->get_ptr<const json::boolean_t*>() : nullptr;
  if (flag) *out = *flag;
  return found_or(value, flag != nullptr);
}

bool json_is(const json& value, std::string_view text) {
  const auto* s = value.get_ptr<const json::string_t*>();
  return s && *s == text;
}

Got get_string(const json& from, std::string_view key, std::string* out) {
  const json* value = json_member(from, key);
  const auto* text = value ? value->get_ptr<const json::string_t*>() : nullptr;
  if (text) *out = *text;
  return found_or(value, text != nullptr);
}

std::string json_show(const json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (const auto* text = value.get_ptr<const json::string_t*>())
    return '"' + (text->size() > 60 ? text->substr(0, 60) + "..." : *text) + '"';
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const double v = value.get<double>();
    return std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
  }
  return value.dump();
}

}  // namespace linnet::convert
