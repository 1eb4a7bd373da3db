// config.json with its keys as linnet calls them: which family it is of, that nothing in it is unknown, and checked access. hf_config.cpp
// makes a ModelSpec of it.
#pragma once
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../architectures.h"
#include "json.h"

namespace linnet::convert {

template <size_t N>
bool listed(const std::string_view (&list)[N], std::string_view key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

class ConfigKeys {
 public:
  ConfigKeys(JsonTree&& config, const char* label, Error* err) : tree_(std::move(config)), label_(label), err_(err) {}
  // The first call: finds the family, gives the keys their names, and refuses those that are not known.
  Status open();

 protected:
  using json = nlohmann::json;
  template <class... Parts>
  Status refuse(Status code, const Parts&... parts) {
    return fail(err_, code, label_, ": ", parts...);
  }
  Status wrong(std::string_view key, const json& value, std::string_view wanted);
  Status missing(std::string_view key);
  std::string shown(std::string_view key) const;
  Status check_only(const HfOnly& only, const json& value);
  // Numbers, within the range of the spec's field. What is absent or null leaves the field as it is, or is refused.
  Status read_number(const json& from, const char* key, uint32_t ModelSpec::* field, ModelSpec* spec);
  Status read_number(const json& from, const char* key, double ModelSpec::* field, ModelSpec* spec);
  template <class T>
  Status read_required(const json& from, const char* key, T ModelSpec::* field, ModelSpec* spec) {
    const json* value = json_member(from, key);
    return !value || value->is_null() ? missing(key) : read_number(from, key, field, spec);
  }
  Status read_flag(const char* key, bool absent, bool* out);
  Status read_count(const char* key, uint32_t* out);  // 0 allowed; absent or null leaves *out

  JsonTree tree_;
  json& config_ = tree_.root;
  const char* label_;
  Error* err_;
  const Architecture* arch_ = nullptr;
  bool headless_ = false;           // the class of the family without an LM head
  const HfWhole* whole_ = nullptr;  // the model that the decoder is a part of

 private:
  Status pick_architecture();
  Status rename_keys();
  Status put_key(const std::string& key, const std::string& name, json* value);
  bool of_row(std::string_view key) const;
  Status check_keys();

  std::map<std::string, std::string> names_;  // of keys that the file has under another name
};

}  // namespace linnet::convert
