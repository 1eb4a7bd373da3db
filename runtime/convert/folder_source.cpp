// A Hugging Face folder as a Source: config.json + safetensors + tokenizer files.
#include <cstring>
#include <nlohmann/json.hpp>

#include "../architectures.h"
#include "hf_config.h"
#include "hf_quant.h"
#include "json.h"
#include "safetensors.h"
#include "source.h"

namespace linnet::convert {
namespace {

// The name of a role's tensor that the checkpoint uses (of expert 0, where they come one by one), or the first it could have.
std::string tensor_name(const SafetensorsTensors& tensors, const HfQuant& quant, Role role, uint32_t layer, const HfTensor** row = nullptr, uint32_t expert = 0) {
  char name[kRoleNameBytes];
  for (uint32_t number = 0; const HfTensor* found = hf_tensor_name(role, layer, name, number); ++number)
    if (tensors.count(name) || quant_has(tensors, quant, name)) {
      if (row) *row = found;
      if (expert) hf_tensor_name(role, layer, name, number, expert);
      return name;
    }
  const HfTensor* first = hf_tensor_name(role, layer, name);
  if (row) *row = first;
  return name;
}

// The folder's own name, or "" for "." and "/".
std::string base_name(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  path.erase(0, path.find_last_of('/') + 1);
  return path == "." || path == ".." ? "" : path;
}

// kv_b_proj holds of every head the rows of W_uk (qk_nope_dim, kv_lora_rank) and then those of W_uv (v_head_dim, kv_lora_rank). The absorbed form takes a
// query into the latent's space, so W_uk is transposed.
void read_kv_b(const SafetensorsTensor& found, const std::shared_ptr<void>& keep, const ModelSpec& s, SourceTensor* t) {
  const uint32_t rank = s.kv_lora_rank, nope = s.qk_nope_dim, v = s.v_head_dim;
  if (t->role == kAttnVB) {
    t->rows = [=, keep = keep](uint32_t first, uint32_t count, float* out, Error*) {
      for (uint32_t i = first; i < first + count; ++i, out += rank) safetensors_read(found, (uint64_t{i / v} * (nope + v) + nope + i % v) * rank, rank, out);
      return LINNET_OK;
    };
    return;
  }
  struct Head {
    uint32_t index = UINT32_MAX;
    std::vector<float> w;
  };
  t->rows = [=, keep = keep, head = std::make_shared<Head>()](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t i = first; i < first + count; ++i, out += nope) {
      if (head->index != i / rank) {
        head->index = i / rank;
        head->w.resize(size_t{nope} * rank);
        safetensors_read(found, uint64_t{head->index} * (nope + v) * rank, uint64_t{nope} * rank, head->w.data());
      }
      for (uint32_t j = 0; j < nope; ++j) out[j] = head->w[size_t{j} * rank + i % rank];
    }
    return LINNET_OK;
  };
}

Status find(const SafetensorsTensors& tensors, const std::string& name, const std::vector<uint64_t>& shape, const SafetensorsTensor** out, Error* err) {
  const auto at = tensors.find(name);
  if (at == tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing; config.json asks for it with shape ", shape_text(shape));
  const SafetensorsTensor& found = at->second;
  if (found.shape != shape)
    return fail(err, LINNET_BAD_FILE, found.file, ": tensor '", name, "' has shape ", shape_text(found.shape), ", config.json asks for ", shape_text(shape));
  if (found.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, found.file, ": tensor '", name, "': dtype ", found.dtype, " is not supported, only F32, F16 and BF16");
  *out = &found;
  return LINNET_OK;
}

// Rows of one matrix (t.n, t.k) or vector by its name, t.source_name.
Status read_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, Source* out, SourceTensor* t, Error* err) {
  const TensorRole& want = kRoles[t->role];
  const ModelSpec& spec = out->spec;
  std::vector<uint64_t> shape = want.matrix ? std::vector<uint64_t>{t->n, t->k} : std::vector<uint64_t>{t->n};
  if (t->role == kAttnKB || t->role == kAttnVB) shape = {spec.n_heads * (uint64_t{spec.qk_nope_dim} + spec.v_head_dim), spec.kv_lora_rank};
  if (want.matrix && quant_has(tensors, quant, t->source_name)) {
    bool act_order = false;
    LINNET_TRY(quant_tensor(tensors, quant, out->keep, t, &act_order, err));
    if (act_order)
      out->needs_format = "tensor '" + t->source_name + "' is in act-order (desc_act), whose groups no packed format has; ask for --weights i8g128 or another to have its values packed anew";
    return LINNET_OK;
  }
  const SafetensorsTensor* found = nullptr;
  LINNET_TRY(find(tensors, t->source_name, shape, &found, err));
  t->source_type = found->dtype;
  // Beside codes in small groups a matrix that was left out keeps to groups of that size: those that read the same rows must.
  if (want.matrix && want.per_layer && quant.group % 128 != 0) t->own = quant.group % 64 == 0 ? LINNET_I8G64 : LINNET_I8G32;
  if (t->role == kAttnKB || t->role == kAttnVB) {
    read_kv_b(*found, out->keep, spec, t);
  } else {
    t->rows = [found = *found, keep = out->keep, k = t->k](uint32_t first, uint32_t count, float* rows, Error*) {
      safetensors_read(found, uint64_t{first} * k, uint64_t{count} * k, rows);
      return LINNET_OK;
    };
  }
  if (t->role == kAttnKvA)  // the latent comes first in the file, the roped part here
    t->rows = [rows = t->rows, k = t->k, rope = spec.qk_rope_dim, rank = spec.kv_lora_rank](uint32_t first, uint32_t count, float* to, Error* e) {
      for (uint32_t i = first; i < first + count; ++i, to += k) LINNET_TRY(rows(i < rope ? rank + i : i - rope, 1, to, e));
      return LINNET_OK;
    };
  return LINNET_OK;
}

// Rows of one expert of a tensor that holds all of them, (t.n, t.k).
Status read_stacked(const SafetensorsTensors& tensors, HfStack stack, uint32_t part, uint32_t expert, Source* out, SourceTensor* t, Error* err) {
  const uint64_t n = t->n, k = t->k, all = part ? 2 * n : n;
  const bool vector = !kRoles[t->role].matrix, by_rows = stack == HfStack::kRows || vector, in_turns = part && stack == HfStack::kPairs;
  std::vector<uint64_t> shape = {out->spec.n_experts, all};
  if (!vector) shape.insert(by_rows ? shape.end() : shape.begin() + 1, k);
  const SafetensorsTensor* found = nullptr;
  LINNET_TRY(find(tensors, t->source_name, shape, &found, err));
  t->source_type = found->dtype;
  const uint64_t start = expert * all * k, skip = part == 2 ? (in_turns ? 1 : n) : 0, step = in_turns ? 2 : 1;
  t->rows = [=, f = *found, keep = out->keep](uint32_t first, uint32_t count, float* to, Error*) {
    if (by_rows) {
      for (uint64_t i = 0; i < count; ++i) safetensors_read(f, start + (skip + (first + i) * step) * k, k, to + i * k);
      return LINNET_OK;
    }
    std::vector<float> column(count * step);
    for (uint64_t j = 0; j < k; ++j) {
      safetensors_read(f, start + j * all + skip + first * step, (count - 1) * step + 1, column.data());
      for (uint64_t i = 0; i < count; ++i) to[i * k + j] = column[i * step];
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

// Matrices or vectors of the experts one behind the other, each padded to whole panels.
void stack_experts(std::vector<SourceTensor> parts, SourceTensor* t) {
  const uint32_t n = parts.front().n, padded = static_cast<uint32_t>(padded_n(n)), k = t->k;
  const auto experts = std::make_shared<std::vector<SourceTensor>>(std::move(parts));
  const SourceTensor& like = experts->front();
  t->source_type = like.source_type;
  t->rows = [=](uint32_t first, uint32_t count, float* to, Error* err) {
    for (uint32_t i = first, some; count; i += some, count -= some, to += size_t{some} * k) {
      const uint32_t row = i % padded, end = row < n ? n : padded;
      some = count < end - row ? count : end - row;
      if (row < n) LINNET_TRY((*experts)[i / padded].rows(row, some, to, err));
      else std::memset(to, 0, size_t{some} * k * sizeof *to);
    }
    return LINNET_OK;
  };
  t->own = like.own;
  bool alike = true;
  for (const SourceTensor& e : *experts) alike &= e.exact_bits == like.exact_bits && e.exact_zeros == like.exact_zeros && e.exact_group == like.exact_group && e.own == like.own;
  if (!alike) t->own = like.exact_group % 128 == 0 ? LINNET_I8G128 : like.exact_group % 64 == 0 ? LINNET_I8G64 : LINNET_I8G32;
  if (!alike || !like.exact_rows) return;
  t->exact_bits = like.exact_bits, t->exact_zeros = like.exact_zeros, t->exact_group = like.exact_group;
  t->exact_rows = [=](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
    const size_t groups = div_up(k, out.group);
    for (uint32_t r = 0; r < count; ++r) {
      const uint32_t row = (first + r) % padded;
      const ExactRows to = {out.codes + size_t{r} * k, out.scales + r * groups, out.zeros ? out.zeros + r * groups : nullptr, out.group};
      if (row < n) {
        LINNET_TRY((*experts)[(first + r) / padded].exact_rows(row, 1, to, err));
        continue;
      }
      std::memset(to.codes, 0, k);
      std::memset(to.scales, 0, groups * sizeof *to.scales);
      if (to.zeros) std::memset(to.zeros, 0, groups);
    }
    return LINNET_OK;
  };
}

Status add_tensor(const SafetensorsTensors& tensors, const HfQuant& quant, Role role, uint32_t layer, Source* out, Error* err) {
  const TensorRole& want = kRoles[role];
  const HfTensor* row = nullptr;
  SourceTensor tensor;
  tensor.role = role;
  tensor.layer = layer;
  tensor.n = want.n(out->spec);
  tensor.k = want.matrix ? want.k(out->spec) : 1;
  tensor.source_name = tensor_name(tensors, quant, role, layer, &row);
  if (!role_of_experts(role)) {
    LINNET_TRY(read_tensor(tensors, quant, out, &tensor, err));
  } else {
    std::vector<SourceTensor> parts(out->spec.n_experts, tensor);
    for (uint32_t e = 0; e < parts.size(); ++e) {
      SourceTensor& part = parts[e];
      part.n = expert_rows(role, out->spec);
      if (std::strchr(row->name, '#')) {
        part.source_name = tensor_name(tensors, quant, role, layer, nullptr, e);
        LINNET_TRY(read_tensor(tensors, quant, out, &part, err));
      } else {
        LINNET_TRY(read_stacked(tensors, architecture_by_hf(out->spec.architecture)->experts.stack, row->part, e, out, &part, err));
      }
    }
    stack_experts(std::move(parts), &tensor);
  }
  out->tensors.push_back(std::move(tensor));
  return LINNET_OK;
}

// Of a bias that a quantiser wrote though the model has none.
bool all_zero(const SafetensorsTensor& t) {
  for (uint64_t i = 0; i < t.bytes; ++i)
    if (t.data[i]) return false;
  return true;
}

// Every tensor of the files must be one that the model computes with, or known to be harmless.
// n_extra: layers behind the last that guess tokens further on (DeepSeek-V3); nothing here computes them.
Status check_unused(const SafetensorsTensors& tensors, const HfQuant& quant, const ModelSpec& spec, uint32_t n_extra, Error* err) {
  for (const auto& [stored, tensor] : tensors) {
    const std::string weight = quant_weight(stored), name = !weight.empty() && quant_has(tensors, quant, weight) ? weight : stored;
    if (name != stored && tensors.count(name)) return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", stored, "' beside '", name, "'");
    Role role = kRoleCount;
    uint32_t layer = 0, expert = 0;
    const HfTensor *row = nullptr, *used = nullptr;
    const HfName known = hf_tensor_role(name, &role, &layer, &row, &expert);
    if (known == HfName::kIgnored || (layer >= spec.n_layers && layer - spec.n_layers < n_extra)) continue;
    if (known == HfName::kUnknown) return fail(err, LINNET_UNSUPPORTED, tensor.file, ": unknown tensor '", name, "'");
    if (layer >= spec.n_layers) return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", name, "', but config.json has ", spec.n_layers, " layers");
    if (role_present(role, layer, spec)) {
      if (const std::string other = tensor_name(tensors, quant, role, layer, &used); used != row) return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", stored, "' beside '", other, "'");
      if (expert && expert >= spec.n_experts) return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", name, "', but config.json has ", spec.n_experts, " experts");
      continue;
    }
    if (quant.method != HfQuant::kNone && name.ends_with(".bias") && all_zero(tensor)) continue;
    if (role != kOutput || name != stored) return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", name, "' has no place in the model of config.json");
    // Tied, and written all the same: a copy changes nothing.
    const auto embd = tensors.find(tensor_name(tensors, quant, kTokenEmbd, 0));
    if (embd == tensors.end() || embd->second.shape != tensor.shape || embd->second.dtype != tensor.dtype ||
        std::memcmp(embd->second.data, tensor.data, static_cast<size_t>(tensor.bytes)) != 0)
      return fail(err, LINNET_BAD_FILE, tensor.file, ": '", name, "' differs from '", tensor_name(tensors, quant, kTokenEmbd, 0),
                  "', though config.json says tie_word_embeddings true");
  }
  return LINNET_OK;
}

// linnet_chat.json: {"user": {"prefix": "...", "suffix": "..."}, "assistant": {...}, "tool": {...}}; linnet's own, as Hugging Face folders only
// have Jinja templates (tokenizer_config.json or chat_template.jinja), which are carried over unread.
Status read_chat(const std::string& folder, Source* out, Error* err) {
  constexpr const char* label = "linnet_chat.json";
  std::string text;
  bool found = false;
  LINNET_TRY(read_file(folder + "/chat_template.jinja", kConfigMaxBytes, &out->chat_template, &found, err));
  LINNET_TRY(read_file(folder + "/tokenizer_config.json", kConfigMaxBytes, &text, &found, err));
  nlohmann::json config;
  if (found && out->chat_template.empty()) {
    LINNET_TRY(json_parse(text, "tokenizer_config.json", &config, err));
    get_string(config, "chat_template", &out->chat_template);  // some have a list of named templates: of no use here
  }
  LINNET_TRY(read_file(folder + "/" + label, kConfigMaxBytes, &text, &found, err));
  if (!found) return LINNET_OK;
  LINNET_TRY(json_parse(text, label, &config, err));
  if (!config.is_object()) return fail(err, LINNET_BAD_FILE, label, ": not an object");
  for (const auto& [name, texts] : config.items()) {
    uint32_t role = 0;
    while (role < LINNET_ROLE_COUNT && name != chat_role_name(role)) ++role;
    if (role == LINNET_ROLE_COUNT) return fail(err, LINNET_BAD_FILE, label, ": unknown role '", name, "'");
    for (const bool suffix : {false, true}) {
      const char* key = suffix ? "suffix" : "prefix";
      std::string value;
      if (get_string(texts, key, &value) != Got::kFound) return fail(err, LINNET_BAD_FILE, label, ": ", name, ".", key, " is missing or no string");
      LINNET_TRY(chat_set(&out->chat, role, suffix, value, label, err));
    }
    if (texts.size() != 2) return fail(err, LINNET_BAD_FILE, label, ": ", name, " has keys other than prefix and suffix");
  }
  return chat_check(out->chat, label, err);
}

}  // namespace

Status source_from_folder(const std::string& folder, Source* out, Error* err) {
  *out = {};
  std::string config;
  bool found = false;
  LINNET_TRY(read_file(folder + "/config.json", kConfigMaxBytes, &config, &found, err));
  if (!found) return fail(err, LINNET_BAD_FILE, "no config.json in ", folder);
  LINNET_TRY(spec_from_config(config, "config.json", &out->spec, err));
  HfQuant quant;
  LINNET_TRY(quant_from_config(config, "config.json", &quant, err));
  if (out->spec.kv_lora_rank && quant.method != HfQuant::kNone) return fail(err, LINNET_UNSUPPORTED, "config.json: 'quantization_config' beside 'kv_lora_rank' is not supported");
  out->name = base_name(folder);

  SafetensorsTensors tensors;
  LINNET_TRY(safetensors_open_folder(folder, &tensors, &out->keep, err));
  for (uint32_t r = 0; r < kRoleCount; r++) {
    const Role role = static_cast<Role>(r);
    for (uint32_t layer = 0; layer < (kRoles[r].per_layer ? out->spec.n_layers : 1); layer++)
      if (role_present(role, layer, out->spec)) LINNET_TRY(add_tensor(tensors, quant, role, layer, out, err));
  }
  nlohmann::json keys;
  uint32_t n_extra = 0;
  LINNET_TRY(json_parse(config, "config.json", &keys, err));
  if (get_u32(keys, "num_nextn_predict_layers", &n_extra) == Got::kWrong || n_extra > 64) return fail(err, LINNET_BAD_FILE, "config.json: 'num_nextn_predict_layers' is no small count");
  LINNET_TRY(check_unused(tensors, quant, out->spec, n_extra, err));
  LINNET_TRY(read_chat(folder, out, err));
  return tokenizer_from_folder(folder, &out->tokenizer, err);
}

}  // namespace linnet::convert
