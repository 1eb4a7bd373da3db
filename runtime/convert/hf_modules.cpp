#include "hf_modules.h"

#include <utility>

#include "hf_config.h"
#include "json.h"
#include "safetensors.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

constexpr const char* kModules = "modules.json";
constexpr const char* kSettings = "config_sentence_transformers.json";

// A folder's JSON file of an object.
Status read_object(const std::string& folder, const std::string& name, JsonTree* tree, bool* found, Error* err) {
  std::string text;
  LINNET_TRY(read_file(folder + "/" + name, kConfigMaxBytes, &text, found, err));
  if (!*found) return LINNET_OK;
  LINNET_TRY(json_parse(text, name.c_str(), &tree->root, err));
  return tree->root.is_object() ? LINNET_OK : fail(err, LINNET_BAD_FILE, name, ": holds ", json_show(tree->root), ", not an object");
}

// A folder beside the model's files, and nothing else.
bool is_plain_name(const std::string& path) {
  for (const char c : path)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.')) return false;
  return !path.empty() && path.size() <= 64 && path[0] != '.';
}

Status wrong(const std::string& file, std::string_view key, const json& config, std::string_view wanted, Error* err) {
  const json* value = json_member(config, key);
  return value ? fail(err, LINNET_BAD_FILE, file, ": '", key, "' is ", json_show(*value), ", not ", wanted)
               : fail(err, LINNET_BAD_FILE, file, ": '", key, "' is missing");
}

// A flag that must be `only` where it is there.
Status check_flag(const std::string& file, std::string_view key, bool only, const json& config, Error* err) {
  bool value = only;
  const Got got = get_bool(config, key, &value);
  if (got == Got::kWrong) return wrong(file, key, config, "true or false", err);
  return value == only ? LINNET_OK : fail(err, LINNET_UNSUPPORTED, file, ": '", key, "' ", value ? "true" : "false", " is not supported");
}

// Which rows count: one way, said by name or by a flag for each.
Status read_pooling(const std::string& folder, const std::string& path, HfModules* out, Error* err) {
  static constexpr struct {
    std::string_view name, flag;
    uint32_t pooling;
  } kWays[] = {{"mean", "pooling_mode_mean_tokens", kPoolingMean},
               {"lasttoken", "pooling_mode_lasttoken", kPoolingLast},
               {"cls", "pooling_mode_cls_token", kPoolingCls},
               {"max", "pooling_mode_max_tokens", kPoolingNone},
               {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", kPoolingNone},
               {"weightedmean", "pooling_mode_weightedmean_tokens", kPoolingNone}};
  const std::string file = path + "/config.json";
  JsonTree tree;
  bool found = false;
  LINNET_TRY(read_object(folder, file, &tree, &found, err));
  if (!found) return fail(err, LINNET_BAD_FILE, kModules, ": '", file, "' is missing");
  const json& config = tree.root;
  std::string name;
  const Got named = get_string(config, "pooling_mode", &name);
  if (named == Got::kWrong) {
    const json* list = json_member(config, "pooling_mode");
    if (!list->is_array() || list->size() != 1 || !list->front().is_string())
      return fail(err, LINNET_UNSUPPORTED, file, ": 'pooling_mode' ", json_show(*list), " is not supported, only one way");
    name = *list->front().get_ptr<const json::string_t*>();
  }
  uint32_t n_ways = 0;
  for (const auto& way : kWays) {
    bool on = false;
    if (named != Got::kMissing) {
      on = way.name == name;
    } else if (get_bool(config, way.flag, &on) == Got::kWrong) {
      return wrong(file, way.flag, config, "true or false", err);
    }
    if (!on) continue;
    if (way.pooling == kPoolingNone) return fail(err, LINNET_UNSUPPORTED, file, ": pooling '", way.name, "' is not supported");
    out->pooling = way.pooling;
    ++n_ways;
  }
  if (n_ways == 0) return fail(err, LINNET_UNSUPPORTED, file, ": pooling '", name, "' is not supported");
  if (n_ways > 1) return fail(err, LINNET_UNSUPPORTED, file, ": ", n_ways, " ways of pooling side by side are not supported");
  return check_flag(file, "include_prompt", true, config, err);
}

Status read_dense(const std::string& folder, const std::string& path, HfModules* out, Error* err) {
  const std::string file = path + "/config.json";
  JsonTree tree;
  bool found = false;
  LINNET_TRY(read_object(folder, file, &tree, &found, err));
  if (!found) return fail(err, LINNET_BAD_FILE, kModules, ": '", file, "' is missing");
  const json& config = tree.root;
  HfDense dense{path, 0, 0, true};
  if (get_u32(config, "in_features", &dense.k) != Got::kFound || dense.k == 0 || dense.k > 65536)
    return wrong(file, "in_features", config, "a count up to 65536", err);
  if (get_u32(config, "out_features", &dense.n) != Got::kFound || dense.n == 0 || dense.n > 65536)
    return wrong(file, "out_features", config, "a count up to 65536", err);
  if (get_bool(config, "bias", &dense.bias) == Got::kWrong) return wrong(file, "bias", config, "true or false", err);
  std::string activation = "torch.nn.modules.activation.Tanh";  // what it is where nothing is said
  if (get_string(config, "activation_function", &activation) == Got::kWrong)
    return wrong(file, "activation_function", config, "a name", err);
  if (activation != "torch.nn.modules.linear.Identity")
    return fail(err, LINNET_UNSUPPORTED, file, ": 'activation_function' '", activation,
                "' is not supported, only torch.nn.modules.linear.Identity");
  LINNET_TRY(check_flag(file, "use_residual", false, config, err));
  for (const char* key : {"module_input_name", "module_output_name"}) {
    std::string of = "sentence_embedding";
    if (get_string(config, key, &of) == Got::kWrong || of != "sentence_embedding")
      return fail(err, LINNET_UNSUPPORTED, file, ": '", key, "' other than sentence_embedding is not supported");
  }
  out->dense.push_back(std::move(dense));
  return LINNET_OK;
}

}  // namespace

Status modules_from_folder(const std::string& folder, HfModules* out, Error* err) {
  *out = {};
  std::string text;
  LINNET_TRY(read_file(folder + "/" + kModules, kConfigMaxBytes, &text, &out->any, err));
  if (!out->any) return LINNET_OK;
  JsonTree tree;
  LINNET_TRY(json_parse(text, kModules, &tree.root, err));
  if (!tree.root.is_array() || tree.root.empty() || tree.root.size() > 16)
    return fail(err, LINNET_BAD_FILE, kModules, ": holds ", json_show(tree.root), ", not a list of up to 16 modules");
  uint32_t stage = 0;  // model, pooling, dense layers, normalising
  for (const json& module : tree.root) {
    std::string type, path;
    if (get_string(module, "type", &type) != Got::kFound) return wrong(kModules, "type", module, "a name", err);
    if (get_string(module, "path", &path) != Got::kFound) return wrong(kModules, "path", module, "a text", err);
    const std::string kind = type.substr(type.rfind('.') + 1);
    const uint32_t to = kind == "Transformer" ? 1 : kind == "Pooling" ? 2 : kind == "Dense" ? 3 : kind == "Normalize" ? 4 : 0;
    if (to == 0 || !type.starts_with("sentence_transformers."))
      return fail(err, LINNET_UNSUPPORTED, kModules, ": module '", type, "' is not supported");
    if (to < stage || (to == stage && kind != "Dense") || to > (stage < 2 ? stage + 1 : 4))
      return fail(err, LINNET_UNSUPPORTED, kModules, ": module '", type, "' in this place is not supported");
    stage = to;
    if (to == 1 ? !path.empty() : !is_plain_name(path))
      return fail(err, LINNET_UNSUPPORTED, kModules, ": 'path' '", path, "' of '", type, "' is not supported");
    if (to == 2) LINNET_TRY(read_pooling(folder, path, out, err));
    if (to == 3) LINNET_TRY(read_dense(folder, path, out, err));
    if (to == 4) out->normalise = true;
  }
  if (stage < 2) return fail(err, LINNET_UNSUPPORTED, kModules, ": there is no module that pools");
  if (out->dense.size() > 2)
    return fail(err, LINNET_UNSUPPORTED, kModules, ": ", out->dense.size(), " dense layers: at most 2 are supported");
  return LINNET_OK;
}

Status apply_modules(const HfModules& modules, ModelSpec* spec, Error* err) {
  if (!modules.any) return LINNET_OK;
  spec->pooling = modules.pooling;
  spec->pool_raw = !modules.normalise;
  uint32_t width = spec->d_model;
  for (const HfDense& d : modules.dense) {
    if (d.k != width)
      return fail(err, LINNET_BAD_FILE, d.folder, "/config.json: 'in_features' is ", d.k, ", what comes before has ", width);
    if (d.bias != modules.dense[0].bias)
      return fail(err, LINNET_UNSUPPORTED, d.folder, "/config.json: 'bias' of one dense layer and not of the other is not supported");
    width = d.n;
  }
  if (modules.dense.size() == 2) spec->dense_mid = modules.dense[0].n;
  if (!modules.dense.empty()) spec->dense_out = width, spec->dense_bias = modules.dense[0].bias;
  return spec_check(*spec, err, kModules);
}

Status add_dense(const std::string& folder, const HfModules& modules, Source* out, Error* err) {
  for (size_t i = 0; i < modules.dense.size(); ++i) {
    const HfDense& d = modules.dense[i];
    SafetensorsTensors tensors;
    SafetensorsIndex absent;
    std::shared_ptr<void> keep;
    LINNET_TRY(safetensors_open_folder(folder + "/" + d.folder, &tensors, &keep, &absent, err));
    for (const bool bias : {false, true}) {
      if (bias && !d.bias) continue;
      const char* const name = bias ? "linear.bias" : "linear.weight";
      const auto at = tensors.find(name);
      if (at == tensors.end()) return fail(err, LINNET_BAD_FILE, d.folder, ": tensor '", name, "' is missing");
      const SafetensorsTensor& found = at->second;
      const std::vector<uint64_t> shape = bias ? std::vector<uint64_t>{d.n} : std::vector<uint64_t>{d.n, d.k};
      if (found.shape != shape)
        return fail(err, LINNET_BAD_FILE, d.folder, ": tensor '", name, "' has shape ", shape_text(found.shape), ", not ",
                    shape_text(shape));
      if (found.format == LINNET_FORMAT_DEFAULT)
        return fail(err, LINNET_UNSUPPORTED, d.folder, ": tensor '", name, "': dtype ", found.dtype,
                    " is not supported, only F32, F16 and BF16");
      SourceTensor t;
      const bool last = i + 1 == modules.dense.size();
      t.role = bias ? (last ? kDense2Bias : kDense1Bias) : last ? kDense2 : kDense1;
      t.n = d.n, t.k = bias ? 1 : d.k;
      t.source_name = d.folder + "/" + name;
      t.source_type = found.dtype;
      t.rows = [found, keep, k = t.k](uint32_t first, uint32_t count, float* rows, Error*) {
        safetensors_read(found, uint64_t{first} * k, uint64_t{count} * k, rows);
        return LINNET_OK;
      };
      out->tensors.push_back(std::move(t));
    }
    for (const auto& [name, tensor] : tensors)
      if (name != "linear.weight" && (name != "linear.bias" || !d.bias))
        return fail(err, LINNET_UNSUPPORTED, d.folder, ": unknown tensor '", name, "'");
  }
  return LINNET_OK;
}

Status prompts_from_folder(const std::string& folder, EmbedPrompts* out, Error* err) {
  *out = {};
  JsonTree tree;
  bool found = false;
  LINNET_TRY(read_object(folder, kSettings, &tree, &found, err));
  if (!found) return LINNET_OK;
  if (const json* prompts = json_member(tree.root, "prompts"); prompts && !prompts->is_null()) {
    if (!prompts->is_object() || prompts->size() > kMaxEmbedPrompts)
      return wrong(kSettings, "prompts", tree.root, "an object of up to 64 texts", err);
    for (const auto& [name, value] : prompts->items()) {
      const auto* text = value.get_ptr<const json::string_t*>();
      if (!text || !embed_prompt_fits(name, *text))
        return fail(err, LINNET_BAD_FILE, kSettings, ": prompt '", name, "' is ", json_show(value),
                    ", not a text of up to 4096 bytes under a name of up to 64");
      out->texts.emplace_back(name, *text);
    }
  }
  if (get_string(tree.root, "default_prompt_name", &out->by_default) == Got::kWrong)
    return wrong(kSettings, "default_prompt_name", tree.root, "a text", err);
  return LINNET_OK;
}

}  // namespace linnet::convert
