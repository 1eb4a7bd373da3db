// Fields of a request's JSON: checked one by one, refused by name.
#pragma once

#include <linnet.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "served_model.h"

namespace server {

using json = nlohmann::ordered_json;  // a schema's members and a tool's stay in the order in which they came

// The body as a JSON object, or an array, of bounded depth and number of values.
bool read_json(const std::string& body, json* out, Refusal* why, bool list = false);

// Reads fields of one object; the first that is wrong is what `why` says, and what is read afterwards counts for nothing.
class Fields {
 public:
  Fields(const json& object, Refusal* why, std::string inside = {}) : object_(object), why_(why), inside_(std::move(inside)) {}
  bool ok() const { return ok_; }
  bool has(const char* name);  // and is not null
  const json* any(const char* name);
  bool flag(const char* name, bool absent);
  double number(const char* name, double least, double most, double absent);
  int64_t whole(const char* name, int64_t least, int64_t most, int64_t absent);
  std::string text(const char* name, const char* absent = "");
  const json* array(const char* name);
  const json* object(const char* name);
  std::string one_of(const char* name, std::initializer_list<const char*> words, const char* absent);
  void ignore(std::initializer_list<const char*> names);  // known, without an effect here
  // What was not asked for is not known.
  bool end();
  void refuse(const Refusal& why);
  void refuse(const std::string& name, const std::string& message, int status = 400, const char* code = "invalid_value");

 private:
  const json& object_;
  Refusal* why_;
  std::string inside_;
  std::vector<std::string> known_;
  bool ok_ = true;
};

// How tokens are drawn, from OpenAI's and llama.cpp's fields of those names.
bool read_sampling(Fields* fields, const Model& model, double temperature, linnet_sampling* out);
// llama.cpp's `lora`: [{"id": 0, "scale": 1.0}, ...], where those that are not named have no part; absent: as the model has them.
bool read_loras(Fields* fields, const Model& model, std::vector<float>* scales);
// ... what stands in that array, of so many adapters; false: what is wrong with it.
bool read_scales(const json& list, size_t n_loras, std::vector<float>* scales);
inline constexpr char kWrongScales[] = "must be objects of an id (of GET /lora-adapters) and a scale from -1000 to 1000";
uint64_t random_seed();
std::string random_id(const char* prefix);  // prefix and 24 characters
int64_t unix_seconds();

}  // namespace server
