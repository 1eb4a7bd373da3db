#include "adapters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "../../platform/folder.h"
#include "../lora.h"
#include "hf_config.h"
#include "json.h"
#include "safetensors.h"
#include "writer.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kTensors = "adapter_model.safetensors";
constexpr std::string_view kPrefix = "base_model.model.";
constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight";
// The model's own head, which PEFT saves beside a head's adapter. It is in the model already, so only its shape is looked at.
constexpr std::string_view kOwnHead = "lm_head.base_layer.weight";

// Keys of methods that linnet does not compute, where they hold something.
constexpr const char* kRefused[] = {"use_dora",          "use_qalora",   "lora_bias",       "alora_invocation_tokens",
                                    "layer_replication", "arrow_config", "modules_to_save", "trainable_token_indices",
                                    "target_parameters", "use_bdlora",   "megatron_config", "kasa_config",
                                    "monteclora_config"};
// Ways to begin that change the base's weights as well.
constexpr const char* kOtherBase[] = {"pissa", "olora", "corda", "loftq", "lora_ga"};

struct PeftConfig {
  double alpha = 8;
  bool root = false;                     // rsLoRA: alpha / sqrt(rank)
  bool tying = false;                    // a tied head's adapter is the embedding's as well
  std::map<std::string, double> alphas;  // of modules whose names end so
  std::string base;
};

bool says_nothing(const json& v) {
  return v.is_null() || (v.is_boolean() && !v.get<bool>()) || ((v.is_array() || v.is_object() || v.is_string()) && v.empty());
}

Status read_config(const std::string& folder, PeftConfig* out, Error* err) {
  std::string text;
  bool found = false;
  JsonTree tree;
  const json& c = tree.root;
  LINNET_TRY(read_file(folder + "/" + kConfig, kConfigMaxBytes, &text, &found, err));
  if (!found) return fail(err, LINNET_BAD_FILE, PathName(folder), ": holds no ", kConfig);
  LINNET_TRY(json_parse(text, kConfig, &tree.root, err));
  if (!c.is_object()) return fail(err, LINNET_BAD_FILE, kConfig, ": not an object");
  std::string type, bias = "none", begun;
  if (get_string(c, "peft_type", &type) != Got::kFound || type != "LORA")
    return fail(err, LINNET_UNSUPPORTED, kConfig, ": 'peft_type' is '", type, "', only LORA is supported");
  for (const char* key : kRefused)
    if (const json* v = json_member(c, key); v && !says_nothing(*v))
      return fail(err, LINNET_UNSUPPORTED, kConfig, ": '", key, "' ", json_show(*v), " is not supported",
                  std::string_view(key) == "use_dora" ? " (DoRA: merge it into the model's folder by PEFT)" : "");
  if (get_string(c, "bias", &bias) == Got::kFound && bias != "none")
    return fail(err, LINNET_UNSUPPORTED, kConfig, ": 'bias' \"", bias, "\" is not supported, only \"none\"");
  (void)get_string(c, "init_lora_weights", &begun);
  for (const char* other : kOtherBase)
    if (begun.starts_with(other))
      return fail(err, LINNET_UNSUPPORTED, kConfig, ": 'init_lora_weights' \"", begun,
                  "\" changes the model's weights as well: save the adapter as one to the original weights (path_initial_model_for_weight_"
                  "conversion)");
  if (get_double(c, "lora_alpha", &out->alpha) != Got::kFound || !(std::fabs(out->alpha) > 0 && std::fabs(out->alpha) <= 1e5))
    return fail(err, LINNET_BAD_FILE, kConfig, ": 'lora_alpha' is missing, 0, or no number within 1e5");
  if (get_bool(c, "use_rslora", &out->root) == Got::kWrong) return fail(err, LINNET_BAD_FILE, kConfig, ": 'use_rslora' is no flag");
  if (get_bool(c, "ensure_weight_tying", &out->tying) == Got::kWrong)
    return fail(err, LINNET_BAD_FILE, kConfig, ": 'ensure_weight_tying' is no flag");
  if (const json* alphas = json_member(c, "alpha_pattern"); alphas && alphas->is_object())
    for (const auto& [name, value] : alphas->items()) {
      double alpha = 0;
      if (get_double(*alphas, name, &alpha) != Got::kFound || !(std::fabs(alpha) > 0 && std::fabs(alpha) <= 1e5))
        return fail(err, LINNET_BAD_FILE, kConfig, ": 'alpha_pattern' of '", name, "' is 0, or no number within 1e5");
      if (name.find_first_of("^$*+?()[]{}|\\") != name.npos)
        return fail(err, LINNET_UNSUPPORTED, kConfig, ": 'alpha_pattern' has the expression '", name, "': only names of modules");
      out->alphas[name] = alpha;
    }
  (void)get_string(c, "base_model_name_or_path", &out->base);
  return LINNET_OK;
}

// What a module's B (A x) is multiplied with.
double scale_of(const PeftConfig& c, const std::string& module, uint32_t rank) {
  double alpha = c.alpha;
  for (const auto& [name, value] : c.alphas)
    if (module == name || (module.size() > name.size() && module.ends_with(name) && module[module.size() - name.size() - 1] == '.'))
      alpha = value;
  return alpha / (c.root ? std::sqrt(static_cast<double>(rank)) : static_cast<double>(rank));
}

// A role's share of one module.
struct Share {
  Role role;
  uint32_t layer, n, rank;
  RowMap map;
  const SafetensorsTensor *a, *b;
  double scale;
};

Status check_shape(const SafetensorsTensor& t, const std::string& name, uint64_t rows, uint64_t columns, Error* err) {
  if (t.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, t.file, ": tensor '", name, "': dtype ", t.dtype, " is not supported, only F32, F16 and BF16");
  if (t.shape != std::vector<uint64_t>{rows, columns})
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", name, "' has shape ", shape_text(t.shape), ", the model's matrix asks for ",
                shape_text({rows, columns}));
  return LINNET_OK;
}

// All shares of a folder's modules.
Status find_shares(const SafetensorsTensors& tensors, const PeftConfig& config, const ModelSpec& spec, std::vector<Share>* out,
                   Error* err) {
  const Architecture* const arch = architecture_by_hf(spec.architecture);
  if (!arch) return fail(err, LINNET_UNSUPPORTED, kTensors, ": the model's architecture '", spec.architecture, "' is not known");
  for (const auto& [name, tensor] : tensors) {
    const bool is_a = name.ends_with(kA), is_b = name.ends_with(kB);
    if (name.find("lora_magnitude_vector") != name.npos)
      return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name,
                  "': DoRA is not supported: merge it into the model's folder by PEFT");
    if (name.ends_with(kOwnHead) && lora_present(kOutput, 0, spec)) {
      LINNET_TRY(check_shape(tensor, name, role_n(kOutput, 0, spec), role_k(kOutput, 0, spec), err));
      continue;
    }
    if (!is_a && !is_b)
      return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "' is neither lora_A nor lora_B of a matrix: not supported");
    std::string module = name.substr(0, name.size() - kA.size());
    const auto other = tensors.find(module + std::string(is_a ? kB : kA));
    if (other == tensors.end()) return fail(err, LINNET_BAD_FILE, kTensors, ": tensor '", name, "' without its lora_", is_a ? 'B' : 'A');
    if (is_b) continue;  // with its A
    if (module.starts_with(kPrefix)) module.erase(0, kPrefix.size());
    std::string weight = module + ".weight";
    const HfTensor* found = nullptr;
    uint32_t layer = 0;
    if (hf_tensor_find(*arch->names, weight, &found, &layer) != HfName::kKnown)
      if (const size_t at = weight.find("language_model."); at != weight.npos) {  // a decoder within a model that sees
        weight.erase(at, std::strlen("language_model."));
        if (!weight.starts_with("model.")) weight = "model." + weight;
      }
    if (hf_tensor_find(*arch->names, weight, &found, &layer) != HfName::kKnown || layer >= spec.n_layers)
      return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "': the model (", spec.architecture, ") has no such matrix");
    if (tensor.shape.size() != 2 || tensor.shape[0] < 1 || tensor.shape[0] > kMostLoraRank)
      return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "' has shape ", shape_text(tensor.shape), ": ranks are 1 to ",
                  kMostLoraRank);
    const uint32_t rank = static_cast<uint32_t>(tensor.shape[0]);
    bool any = false;
    for (uint32_t i = 0; i < arch->names->n_tensors; ++i) {
      const HfTensor& entry = arch->names->tensors[i];
      if (std::strcmp(entry.name, found->name) != 0 || !role_row(entry.role).matrix()) continue;
      if (entry.rows == HfRows::kPart)
        return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "': ", kLoraMatrices,
                    ", nor of what is a part of a matrix here");
      const bool there = lora_present(entry.role, layer, spec);
      if (there && entry.role == kOutput && spec.tied && config.tying)
        return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name,
                    "': 'ensure_weight_tying' makes it the embedding's adapter as well, of which none are computed");
      if (there && !lora_slot(entry.role, layer, spec))
        return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "': ", kLoraMatrices);
      if (!there) continue;
      const uint32_t n = role_n(entry.role, layer, spec);
      Share s = {entry.role, layer, n, rank, map_rows(entry, spec, layer, n), &tensor, &other->second, scale_of(config, module, rank)};
      if (!map_fits(s.map, s.n)) return fail(err, LINNET_BAD_FILE, kTensors, ": tensor '", name, "' has not the rows of its layer");
      LINNET_TRY(check_shape(tensor, name, rank, role_k(entry.role, layer, spec), err));
      LINNET_TRY(check_shape(other->second, other->first, s.map.n, rank, err));
      out->push_back(std::move(s));
      any = true;
    }
    if (!any) return fail(err, LINNET_UNSUPPORTED, kTensors, ": tensor '", name, "': the model has no such matrix");
  }
  return out->empty() ? fail(err, LINNET_BAD_FILE, kTensors, ": holds no tensors") : LINNET_OK;
}

// A model as its family's checkpoints have it, and what GGUF files have in another order.
ModelSpec as_published(const ModelSpec& s, uint32_t* orders) {
  ModelSpec published = s;
  published.rope_kind = kRopeHalves;
  published.delta_tiled = 0;
  *orders = adapter_orders(published);
  return published;
}

uint32_t type_of(Format f) { return f == LINNET_F32 ? kGgmlF32 : f == LINNET_F16 ? kGgmlF16 : kGgmlBF16; }

Status put_values(const float* values, size_t n, Format f, Output* out, Error* err) {
  uint8_t* to = nullptr;
  const size_t each = f == LINNET_F32 ? 4 : 2;
  LINNET_TRY(out->claim(n * each, &to, err));
  for (size_t i = 0; i < n; ++i) {
    const uint16_t half = f == LINNET_F16 ? f32_to_f16(values[i]) : f == LINNET_BF16 ? f32_to_bf16(values[i]) : uint16_t{0};
    std::memcpy(to + i * each, each == 4 ? static_cast<const void*>(&values[i]) : &half, each);
  }
  return LINNET_OK;
}

// What one alpha for all modules does not say goes into B.
float beside(const Share& s, float alpha) { return static_cast<float>(s.scale * s.rank / static_cast<double>(alpha)); }

Status put_share(const Share& s, const ModelSpec& spec, float by, Format b_format, Output* out, Error* err) {
  const uint32_t k = role_k(s.role, s.layer, spec);
  uint32_t family = 0;
  const ModelSpec published = as_published(spec, &family);
  const LoraOrders order = lora_orders(published, s.role, s.layer, family);
  std::vector<float> row(std::max(k, s.rank)), turned(k);
  for (uint32_t r = 0; r < s.rank; ++r) {
    safetensors_read(*s.a, uint64_t{r} * k, k, row.data());
    for (uint32_t j = 0; j < k; ++j) turned[order.column(j)] = row[j];
    LINNET_TRY(put_values(turned.data(), k, s.a->format, out, err));
  }
  LINNET_TRY(out->pad(err));
  std::vector<uint32_t> rows(s.n);  // of the role, by their places in the file
  for (uint32_t i = 0; i < s.n; ++i) rows[order.row(i)] = i;
  for (const uint32_t in_role : rows) {
    safetensors_read(*s.b, uint64_t{s.map.at ? s.map.at(in_role) : in_role} * s.rank, s.rank, row.data());
    for (uint32_t r = 0; r < s.rank; ++r) row[r] *= by;
    LINNET_TRY(put_values(row.data(), s.rank, b_format, out, err));
  }
  return out->pad(err);
}

// An adapter in either form as a GGUF in memory, beside a model of this spec.
struct AdapterFile {
  Mapped mapped;
  Image image;
  std::unique_ptr<Gguf> gguf = std::make_unique<Gguf>();
  std::string label;
  AdapterFile() = default;
  AdapterFile(const AdapterFile&) = delete;
  AdapterFile& operator=(const AdapterFile&) = delete;
  ~AdapterFile() { image_free(&image); }
  Status open(const std::string& path, const ModelSpec& spec, Error* err) {
    label = path;
    linnet_view view = {};
    if (is_folder(path)) {
      LINNET_TRY(write_adapter(path, spec, {}, nullptr, &image, err));
      view = image.view();
    } else {
      LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &mapped.view, err));
      view = mapped.view;
    }
    return gguf_open(view.data, view.bytes, label.c_str(), gguf.get(), err);
  }
};

// One adapter in the matrices of a source.
struct Merge {
  Source* source;
  std::shared_ptr<AdapterFile> file;
  float scale;
};

Status merge_matrix(void* arg, const LoraTensors& l, Error* err) {
  const Merge& m = *static_cast<const Merge*>(arg);
  SourceTensor* t = nullptr;
  const auto find = [&](Role role) {
    for (SourceTensor& other : m.source->tensors)
      if (other.role == role && other.layer == l.layer) t = &other;
  };
  find(l.role);
  if (!t && l.role == kOutput && m.source->spec.tied) {  // a head of its own from here on: the embedding stays as it is
    find(kTokenEmbd);
    if (t) {
      SourceTensor head = *t;
      head.role = kOutput;
      m.source->tensors.push_back(std::move(head));
      t = &m.source->tensors.back();
      m.source->spec.tied = 0;
    }
  }
  if (!t) return fail(err, LINNET_BAD_FILE, m.file->label, ": tensor '", l.a.name, "': the model has no such matrix");
  const auto a = std::make_shared<std::vector<float>>(size_t{l.rank} * l.k);
  std::vector<float> row(l.k);
  for (uint32_t r = 0; r < l.rank; ++r) {
    lora_values(l.a, r, row.data());
    for (uint32_t j = 0; j < l.k; ++j) (*a)[size_t{r} * l.k + j] = row[l.column_of(j)];
  }
  // Their own codes no longer hold them.
  t->exact_rows = nullptr, t->gguf_blocks = nullptr, t->outer = nullptr, t->panel = nullptr, t->order = nullptr;
  t->exact = {}, t->gguf_format = t->own = LINNET_FORMAT_DEFAULT, t->quantised = false;
  t->rows = [rows = t->rows, a, l, keep = m.file, by = m.scale * l.scale](uint32_t first, uint32_t count, float* out, Error* e) {
    LINNET_TRY(rows(first, count, out, e));
    std::vector<float> b(l.rank), sum(l.k);
    for (uint32_t i = first; i < first + count; ++i, out += l.k) {
      lora_values(l.b, l.row_of(i), b.data());
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (uint32_t r = 0; r < l.rank; ++r)
        for (uint32_t j = 0; j < l.k; ++j) sum[j] += b[r] * (*a)[size_t{r} * l.k + j];
      for (uint32_t j = 0; j < l.k; ++j) out[j] += by * sum[j];
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

std::string family_of(const ModelSpec& spec) {
  const Architecture* a = architecture_by_hf(spec.architecture);
  return a ? gguf_architecture(*a, spec) : spec.architecture;
}

}  // namespace

bool is_adapter_folder(const std::string& path) {
  return !is_synthetic(path) && is_folder(path) && path_info(path + "/" + kConfig).there && !path_info(path + "/config.json").there;
}

Status spec_of_base(const std::string& folder, const std::string& base, ModelSpec* out, std::shared_ptr<void>* keep, Error* err) {
  PeftConfig config;
  if (base.empty()) LINNET_TRY(read_config(folder, &config, err));
  const std::string& path = base.empty() ? config.base : base;
  if (base.empty() && (path.empty() || !path_info(path).there))
    return fail(err, LINNET_BAD_ARG, PathName(folder), ": an adapter's shapes are its model's, and '", path,
                "' (base_model_name_or_path) is no path here: give the model as the base");
  const auto source = std::make_shared<Source>();
  bool packed = false;
  if (is_folder(path)) {
    LINNET_TRY(source_from_folder(path, source.get(), err));
  } else {
    LINNET_TRY(source_from_packed(path, source.get(), &packed, err));
    if (!packed) LINNET_TRY(source_from_gguf(path, source.get(), err));
  }
  LINNET_TRY(spec_check(source->spec, err, path.c_str()));
  *out = source->spec;
  *keep = source;
  return LINNET_OK;
}

Status write_adapter(const std::string& folder, const ModelSpec& spec, const Options& options, const std::string* path, Image* image,
                     Error* err) {
  PeftConfig config;
  LINNET_TRY(read_config(folder, &config, err));
  if (!path_info(folder + "/" + kTensors).there)
    return path_info(folder + "/adapter_model.bin").there
               ? fail(err, LINNET_UNSUPPORTED,
                      "adapter_model.bin is not read, since a pickle may run code: save the adapter as safetensors")
               : fail(err, LINNET_BAD_FILE, PathName(folder), ": holds no ", kTensors);
  Mapped file;
  SafetensorsTensors tensors;
  std::vector<Share> shares;
  LINNET_TRY(file_load((folder + "/" + kTensors).c_str(), LINNET_LOAD_MAP, {}, &file.view, err));
  LINNET_TRY(safetensors_parse(file.view.data, file.view.bytes, kTensors, &tensors, err));
  LINNET_TRY(find_shares(tensors, config, spec, &shares, err));

  GgufBuilder b(kPlainAlignment);
  const float alpha = static_cast<float>(shares.front().scale * shares.front().rank);
  b.text("general.type", "adapter");
  b.text("general.architecture", family_of(spec));
  if (const std::string name = folder_name(folder); !name.empty()) b.text("general.name", name);
  b.text("adapter.type", "lora");
  b.f32("adapter.lora.alpha", alpha);
  std::vector<Format> formats;  // of B
  for (const Share& s : shares) {
    char name[kRoleNameBytes];
    role_name(s.role, s.layer, name);
    formats.push_back(beside(s, alpha) == 1 ? s.b->format : LINNET_F32);
    const uint64_t k = role_k(s.role, s.layer, spec);
    const auto bytes = [](Format f, uint64_t n) { return n * (f == LINNET_F32 ? 4 : 2); };
    b.tensor(std::string(name) + ".lora_a", {k, s.rank}, type_of(s.a->format), bytes(s.a->format, k * s.rank));
    b.tensor(std::string(name) + ".lora_b", {s.rank, s.n}, type_of(formats.back()), bytes(formats.back(), uint64_t{s.n} * s.rank));
  }
  Output out(options, b);
  LINNET_TRY(path ? out.open_file(*path, err) : out.open_memory(err));
  const std::string header = b.header();
  LINNET_TRY(out.write(header.data(), header.size(), err));
  for (size_t i = 0; i < shares.size(); ++i) LINNET_TRY(put_share(shares[i], spec, beside(shares[i], alpha), formats[i], &out, err));
  if (options.file_bytes) *options.file_bytes = b.file_bytes();
  return path ? out.commit_file(err) : out.commit_memory(image, err);
}

Status merge_adapters(Source* source, const Options& options, Error* err) {
  for (const auto& [path, scale] : options.loras) {
    if (!std::isfinite(scale)) return fail(err, LINNET_BAD_ARG, PathName(path), ": its scale is not finite");
    const auto file = std::make_shared<AdapterFile>();
    const Status status = file->open(path, source->spec, err);
    if (status != LINNET_OK) {
      if (status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED) name_source(path, err);
      return status;
    }
    const std::string family = family_of(source->spec);
    Merge merge = {source, file, scale};
    LoraFile in = {*file->gguf, source->spec, family, adapter_orders(source->spec)};
    LINNET_TRY(lora_tensors(&in, &merge, merge_matrix, err));
  }
  return LINNET_OK;
}

}  // namespace linnet::convert
