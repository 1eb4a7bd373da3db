// JSON of model folders, read with nlohmann/json under limits: depth, size, number of values, duplicate keys, invalid UTF-8 and trailing
// bytes are refused by name; nothing throws but where an allocation fails. A byte order mark at the start is skipped, a number that no
// double holds is refused.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../../platform/status.h"
#include "convert.h"  // read_file

namespace linnet::convert {

inline constexpr size_t kJsonMaxDepth = 64;
inline constexpr size_t kJsonMaxBytes = size_t{256} << 20;
inline constexpr size_t kJsonMaxValues = size_t{8} << 20;  // in all, objects and arrays included: the largest vocabularies have 2 million

// Leaves null. nlohmann's own destructor puts what a value holds on a stack of its own, on the heap, which must not fail where an
// allocation has failed already: every tree goes through here first, and none is copied. At most kJsonMaxDepth deep.
void json_clear(nlohmann::json* value) noexcept;
struct JsonTree {
  nlohmann::json root;
  JsonTree() = default;
  JsonTree(JsonTree&& other) noexcept : root(std::move(other.root)) {}
  ~JsonTree() { json_clear(&root); }
};

// Where a byte of a text is: from 1, columns in bytes.
struct TextPlace {
  uint32_t line, column;
};
TextPlace text_place(std::string_view text, size_t offset);

// label names the file in error texts. On failure *out is null; where the place is known, err->line is set. *out belongs to a JsonTree.
Status json_parse(std::string_view text, const char* label, nlohmann::json* out, Error* err);
// The same for files that Python writes, whose NaN, Infinity and -Infinity are numbers, though no getter takes them.
Status json_parse_python(std::string text, const char* label, nlohmann::json* out, Error* err);

// Checked access. nlohmann's own at(), get<T>() and operator[] throw on what they do not like: use these for anything that comes from a
// file. *out is written only if the answer is kFound; `from` may be any value, it need not be an object.
enum class Got { kFound, kMissing, kNull, kWrong };                                   // kWrong: another type, or a number out of range
const nlohmann::json* json_member(const nlohmann::json& from, std::string_view key);  // nullptr where there is none
Got get_u32(const nlohmann::json& from, std::string_view key, uint32_t* out);         // 64.0 is kWrong: not an integer
Got get_i64(const nlohmann::json& from, std::string_view key, int64_t* out);
Got get_double(const nlohmann::json& from, std::string_view key, double* out);  // integers too
Got get_bool(const nlohmann::json& from, std::string_view key, bool* out);
Got get_string(const nlohmann::json& from, std::string_view key, std::string* out);
// Whether it is this text. nlohmann's own == makes a value of a literal first, where nothing may throw.
bool json_is(const nlohmann::json& value, std::string_view text);
// A value for an error text: 12, "text" (shortened), an array, an object.
std::string json_show(const nlohmann::json& value);

}  // namespace linnet::convert
