#include "hf_quant.h"

#include <algorithm>
#include <iterator>

namespace linnet::convert {
namespace {

constexpr const QuantMethod* kQuantMethods[] = {&kGptq,     &kAwq,   &kAutoRound,         &kIntelAutoRound, &kMxfp4, &kFp8,     &kFbgemmFp8,
                                                &kModelOpt, &kQuark, &kCompressedTensors, &kBitsandbytes,   &kHqq,   &kTorchao, &kBitNet};

// "gptq, awq and mxfp4"
std::string method_names() {
  std::string names;
  for (size_t i = 0; i < std::size(kQuantMethods); ++i)
    names += (i == 0 ? "" : i + 1 == std::size(kQuantMethods) ? " and " : ", ") + std::string(kQuantMethods[i]->name);
  return names;
}

}  // namespace

Status quant_from_config(std::string_view text, const char* label, HfQuant* out, Error* err) {
  *out = {};
  JsonTree tree;
  nlohmann::json& config = tree.root;
  LINNET_TRY(json_parse_python(std::string(text), label, &config, err));
  const nlohmann::json* q = json_member(config, "quantization_config");
  if (!q || q->is_null()) return LINNET_OK;
  if (!q->is_object()) return fail(err, LINNET_BAD_FILE, label, ": quantization_config is ", json_show(*q), ", not an object");
  std::string method;
  if (get_string(*q, "quant_method", &method) != Got::kFound)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_method is missing or no string");
  for (const QuantMethod* m : kQuantMethods)
    if (method == m->name) {
      out->method = m;
      return m->config(*q, label, out, err);
    }
  return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.quant_method '", method, "' is not supported, only ", method_names());
}

Status quant_from_modelopt(std::string_view text, const char* label, HfQuant* out, Error* err) {
  *out = {};
  JsonTree tree;
  LINNET_TRY(json_parse_python(std::string(text), label, &tree.root, err));
  const nlohmann::json* q = json_member(tree.root, "quantization");
  if (!q || !q->is_object()) return fail(err, LINNET_BAD_FILE, label, ": quantization is missing or no object");
  out->method = &kModelOpt;
  return kModelOpt.config(*q, label, out, err);
}

std::string quant_weight(const HfQuant& quant, std::string_view name) {
  if (!quant.method) return "";
  for (const std::string_view part : quant.method->parts)
    if (name.ends_with(part)) return std::string(name.substr(0, name.size() - part.size())) + quant.method->weight;
  return "";
}

bool quant_run_time(const HfQuant& quant, std::string_view name) {
  if (!quant.method) return false;
  const auto& endings = quant.method->run_time;
  return std::any_of(endings.begin(), endings.end(), [name](std::string_view ending) { return name.ends_with(ending); });
}

bool quant_has(const SafetensorsTensors& tensors, const HfQuant& quant, std::string_view weight) {
  if (!quant.method || !weight.ends_with(quant.method->weight)) return false;
  const std::string base(weight.substr(0, weight.size() - std::string_view(quant.method->weight).size()));
  if (quant.method->leaves && quant.method->leaves(base)) return false;
  const auto& marks = quant.method->marks;
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return tensors.count(base + std::string(mark)); });
}

Status quant_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, const std::shared_ptr<void>& keep, uint32_t n_experts,
                    uint32_t expert, SourceTensor* t, std::vector<std::string>* used, std::string* needs_format, Error* err) {
  const QuantMethod& method = *quant.method;
  const std::string base = t->source_name.substr(0, t->source_name.size() - std::string_view(method.weight).size());
  if (n_experts && !method.stacks_experts)
    return fail(err, LINNET_UNSUPPORTED, "tensor '", t->source_name, "': codes of ", method.name,
                " of all experts in one tensor are not supported");
  LINNET_TRY(method.read({tensors, quant, base, n_experts, expert, keep}, t, needs_format, err));
  t->quantised = true;
  t->source_bytes = 0;
  for (const std::string_view part : method.parts)
    if (const auto at = tensors.find(base + std::string(part)); at != tensors.end()) {
      used->push_back(at->first);
      t->source_bytes += at->second.bytes / (n_experts ? n_experts : 1);
    }
  return LINNET_OK;
}

Status quant_part(const QuantMatrix& m, std::string_view suffix, std::string_view dtype, const std::vector<uint64_t>& shape,
                  const uint8_t** out, Error* err) {
  const std::string name = m.base + std::string(suffix);
  const auto at = m.tensors.find(name);
  if (at == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
  const SafetensorsTensor& t = at->second;
  if (t.dtype != dtype) return fail(err, LINNET_UNSUPPORTED, t.file, ": tensor '", name, "': dtype ", t.dtype, ", not ", dtype);
  if (t.shape != shape)
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", name, "' has shape ", shape_text(t.shape), ", config.json asks for ",
                shape_text(shape));
  *out = t.data;
  return LINNET_OK;
}

Status quant_number(const nlohmann::json& from, const char* label, const char* key, const char* other, int64_t* out, Error* err) {
  int64_t values[2] = {0, 0};
  for (const char* k : {key, other})
    if (k && get_i64(from, k, &values[k == other]) == Got::kWrong)
      return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", k, " is no integer");
  if (values[0] && values[1] && values[0] != values[1])
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " = ", values[0], ", but ", other, " = ", values[1]);
  *out = values[0] ? values[0] : values[1];
  return LINNET_OK;
}

Status quant_word(const nlohmann::json& from, const char* label, const char* key, std::string* out, Error* err) {
  std::string text;
  const Got got = get_string(from, key, &text);
  if (got == Got::kWrong) return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " is no string");
  if (got != Got::kFound) return LINNET_OK;
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (!out->empty() && *out != text)
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.", key, " is '", text, "', another key says '", *out, "'");
  *out = text;
  return LINNET_OK;
}

Status quant_block_size(const nlohmann::json& size, const char* label, const char* key, uint32_t* rows, uint32_t* inputs, Error* err) {
  const bool pair = size.is_array() && size.size() == 2 && size[0].is_number_unsigned() && size[1].is_number_unsigned();
  const uint64_t down = pair ? size[0].get<uint64_t>() : 0, across = pair ? size[1].get<uint64_t>() : 0;
  if (down < 1 || down > 65536 || across < 1 || across > 65536)
    return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config.", key, " is no pair of sizes");
  *rows = static_cast<uint32_t>(down);
  *inputs = static_cast<uint32_t>(across);
  return LINNET_OK;
}

Status quant_keys(const nlohmann::json& q, const char* label, std::span<const std::string_view> known, Error* err) {
  for (const auto& [key, value] : q.items()) {
    const bool empty = value.is_null() || value == false || (value.is_structured() && value.empty());
    if (!empty && std::find(known.begin(), known.end(), key) == known.end())
      return fail(err, LINNET_UNSUPPORTED, label, ": quantization_config: key '", key, "' (", json_show(value), ") is not supported");
  }
  return LINNET_OK;
}

}  // namespace linnet::convert
