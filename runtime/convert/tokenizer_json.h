// The parts of a tokenizer.json, each with a reader of its own: model and added tokens in tokenizer_json.cpp, what happens to texts before
// the model sees them in tokenizer_normal.cpp, what tokens become in tokenizer_decode.cpp.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"
#include "tokenizer_parts.h"

namespace linnet::convert {

using nlohmann::json;

inline constexpr const char* kFile = "tokenizer.json";
inline constexpr std::string_view kMeta = "\xE2\x96\x81";  // U+2581

inline bool is_null(const json* v) { return !v || v->is_null(); }
inline const std::string* text_of(const json* v) { return v ? v->get_ptr<const std::string*>() : nullptr; }

// The part of a tokenizer.json that is looked at, for the error texts.
template <class... Parts>
Status bad(Error* err, const Parts&... parts) {
  return fail(err, LINNET_BAD_FILE, kFile, ": ", parts...);
}
Status unknown(Error* err, const char* field, const json* value);
Status unknown(Error* err, const char* field, const json& value);

// A field that may be missing or null, then *out stays as it is. where: "file: field".
Status read_bool(const json& from, const char* where, const char* key, bool* out, Error* err);
Status read_text(const json& from, const char* where, const char* key, std::string* out, Error* err);

Status read_added_flags(const json& from, const char* where, AddedToken* out, Error* err);
// Makes a token of the vocabulary a special one that is found in texts.
Status add_special(uint32_t id, TokenizerParts* parts, Error* err);

bool type_is(const json& value, const char* type);
// A Sequence's members under `key`, those of Sequences among them too, or the value itself as the only one.
std::vector<const json*> members(const json& value, const char* key);
bool replaces_space(const json& value, std::string_view from, std::string_view to);

// What the normalizer says that its steps do not.
struct Normal {
  bool replaces = false;    // ' ' becomes U+2581, which is done behind all steps
  bool han = false;         // BertNormalizer sets Han characters apart
  bool byte_level = false;  // bytes become letters, as ByteLevel in the pre_tokenizer does it
};
Status read_normalizer(const json* value, Normal* normal, TokenizerParts* parts, Error* err);
// Sets kind, splits and prefix.
Status read_pre_tokenizer(const json* value, const Normal& normal, TokenizerParts* parts, Error* err);
Status read_decoder(const json* value, TokenizerParts* parts, Error* err);
Status read_post_processor(const json* value, TokenizerParts* parts, Error* err);

}  // namespace linnet::convert
