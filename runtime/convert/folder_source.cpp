// A Hugging Face folder as a Source: config.json + safetensors + tokenizer files.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "../../platform/folder.h"
#include "../architectures.h"
#include "hf_config.h"
#include "hf_modules.h"
#include "hf_quant.h"
#include "json.h"
#include "safetensors.h"
#include "source.h"

namespace linnet::convert {
namespace {

// What is read of a folder.
struct Folder {
  const HfConfig& config;
  const HfQuant& quant;
  SafetensorsTensors tensors;
  std::set<std::string> used;  // names that a role has taken

  const Architecture& arch() const { return *config.architecture; }
  bool has(const std::string& name) const { return tensors.count(name) || quant_has(tensors, quant, name); }
};

// The entry of the role and its name in these files; the first one's where none is there.
const HfTensor* find_name(const Folder& in, Role role, uint32_t layer, std::string* name, uint32_t expert = 0) {
  const HfNames& names = in.config.names;
  const HfTensor* first = nullptr;
  for (uint32_t i = 0; i < names.n_tensors; ++i) {
    if (names.tensors[i].role != role) continue;
    for (uint32_t root = 0; root < 2 && names.roots[root]; ++root) {
      const std::string full = hf_tensor_name(names, names.tensors[i], root, layer);
      if (!in.has(full)) continue;
      *name = expert ? hf_tensor_name(names, names.tensors[i], root, layer, expert) : full;
      return &names.tensors[i];
    }
    if (!first) first = &names.tensors[i], *name = hf_tensor_name(names, *first, 0, layer);
  }
  return first;
}

// Leaves t with n rows, of which row i is row map.at(i) of those that it had.
void take_rows(SourceTensor* t, uint32_t n, const RowMap& map) {
  if (map.at)
    choose_rows(t, n, map.at);
  else
    t->n = n;
}

// Rows of a matrix that lies as (inputs, outputs) from value `start` of a tensor on: a few outputs at a time, since they lie side by side.
void read_transposed(const SafetensorsTensor& found, const std::shared_ptr<void>& keep, const RowMap& map, uint64_t start,
                     SourceTensor* t) {
  t->rows = [found, keep, map, start, k = t->k](uint32_t first, uint32_t count, float* out, Error*) {
    std::vector<float> side(count);
    const auto at = [&map](uint32_t i) { return map.at ? map.at(i) : i; };
    for (uint32_t j = 0; j < k; ++j)
      for (uint32_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && at(first + i + run) == at(first + i) + run;) ++run;
        safetensors_read(found, start + uint64_t{j} * map.n + at(first + i), run, side.data());
        for (uint32_t r = 0; r < run; ++r) out[size_t{i + r} * k + j] = side[r];
      }
    return LINNET_OK;
  };
}

// Of a role that config.json alone says.
bool add_computed(const HfConfig& config, Role role, uint32_t layer, Source* out) {
  const Architecture& a = *config.architecture;
  const bool of_heads = role == kAttnQNorm || role == kAttnKNorm;
  const bool norm = of_heads || role == kAttnNorm || role == kFfnNorm || role == kOutputNorm || role == kEmbdNorm;
  if (role == kAttnVNorm || (norm && a.norms_of_ones) || (of_heads && a.qk_norm_of_ones)) {
    out->tensors.push_back(computed_tensor(role, layer, std::vector<float>(role_n(role, layer, out->spec), 1.0f)));
    return true;
  }
  const std::vector<float>* values = role == kAlibi       ? &config.alibi
                                     : role == kRopeShort ? &config.rope_short
                                     : role == kRopeLong  ? &config.rope_long
                                                          : nullptr;
  if (!values) return false;
  out->tensors.push_back(computed_tensor(role, layer, *values));
  return true;
}

// A vector that lies in a tensor for each head.
Status add_by_head(Folder* in, const HfTensor& entry, uint32_t layer, SourceTensor* t, const std::shared_ptr<void>& keep, Error* err) {
  const uint32_t dim = in->config.spec.head_dim;
  std::vector<SafetensorsTensor> heads;
  for (uint32_t h = 0; h < t->n / dim; ++h) {
    std::string name;
    for (uint32_t root = 0; root < 2 && in->config.names.roots[root] && !in->tensors.count(name); ++root)
      name = hf_tensor_name(in->config.names, entry, root, layer, h);
    const auto at = in->tensors.find(name);
    if (at == in->tensors.end())
      return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing; config.json asks for it with shape [", dim, "]");
    if (at->second.shape != std::vector<uint64_t>{dim})
      return fail(err, LINNET_BAD_FILE, at->second.file, ": tensor '", name, "' has shape ", shape_text(at->second.shape),
                  ", config.json asks for [", dim, "]");
    if (at->second.format == LINNET_FORMAT_DEFAULT)
      return fail(err, LINNET_UNSUPPORTED, at->second.file, ": tensor '", name, "': dtype ", at->second.dtype,
                  " is not supported, only F32, F16 and BF16");
    in->used.insert(name);
    heads.push_back(at->second);
  }
  t->source_type = heads[0].dtype;
  t->rows = [heads, keep, dim](uint32_t first, uint32_t count, float* out, Error*) {
    for (uint32_t i = first; i < first + count; ++i) safetensors_read(heads[i / dim], i % dim, 1, out++);
    return LINNET_OK;
  };
  return LINNET_OK;
}

Status find(Folder* in, const std::string& name, const std::vector<uint64_t>& shape, const SafetensorsTensor** out, Error* err) {
  const auto at = in->tensors.find(name);
  if (at == in->tensors.end())
    return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing; config.json asks for it with shape ", shape_text(shape));
  const SafetensorsTensor& found = at->second;
  if (found.shape != shape)
    return fail(err, LINNET_BAD_FILE, found.file, ": tensor '", name, "' has shape ", shape_text(found.shape), ", config.json asks for ",
                shape_text(shape));
  if (found.format == LINNET_FORMAT_DEFAULT)
    return fail(err, LINNET_UNSUPPORTED, found.file, ": tensor '", name, "': dtype ", found.dtype,
                " is not supported, only F32, F16 and BF16");
  in->used.insert(name);
  *out = &found;
  return LINNET_OK;
}

// Rows of a tensor's `entry` for one matrix (t->n, t->k) or vector by its name, t->source_name.
Status read_tensor(Folder* in, const HfTensor& entry, Source* out, SourceTensor* t, Error* err) {
  const TensorRole& want = role_row(t->role);
  const ModelSpec& spec = out->spec;
  const HfQuant& quant = in->quant;
  const std::string& name = t->source_name;
  const uint32_t n = t->n, k = t->k;
  const RowMap map = map_rows(entry, spec, t->layer, n);
  if (!map_fits(map, n)) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' has not the rows of its layer");
  std::vector<uint64_t> shape = want.matrix() ? std::vector<uint64_t>{map.n, k} : std::vector<uint64_t>{map.n};
  if (entry.transposed) shape = {k, map.n};
  if (t->role == kLayerEmbd) shape = {spec.layer_embd_vocab, uint64_t{spec.n_layers} * spec.layer_embd};
  if (t->role == kStreamPredict) shape = {kStreams * kStreams, kStreams};
  if (t->role == kStreamCorrect) shape = {kStreams, kStreams};
  if (t->role == kConvTaps || t->role == kDeltaTaps || t->role == kMambaTaps) shape = {n / spec.conv_taps, 1, spec.conv_taps};
  if (const auto at = in->tensors.find(name); t->role == kDeltaA && at != in->tensors.end() && at->second.shape.size() == 4)
    shape = {1, 1, n, 1};  // Kimi's
  if (const auto at = in->tensors.find(name); t->role == kDeltaTaps && at != in->tensors.end() && at->second.shape.size() == 2)
    shape = {n / spec.conv_taps, spec.conv_taps};
  if (const auto at = in->tensors.find(name); t->role == kRouterCorrection && at != in->tensors.end() && at->second.shape.size() == 2)
    shape = {1, map.n};  // ERNIE's
  if (const auto at = in->tensors.find(name); t->role == kFfnXielu && at != in->tensors.end() && at->second.shape.empty())
    shape = {};  // beta and eps are numbers
  if (t->role == kAttnKB || t->role == kAttnVB) shape = {spec.n_heads * (uint64_t{spec.qk_nope_dim} + spec.v_head_dim), spec.kv_lora_rank};
  if (spec.qk_norm == kQkNormLayer && (t->role == kAttnQNorm || t->role == kAttnKNorm)) shape = {n / spec.head_dim, spec.head_dim};
  if (want.matrix() && !entry.transposed && quant_has(in->tensors, quant, name)) {
    std::vector<std::string> parts;
    std::string needs_format;
    t->n = map.n;
    if (entry.role == kAttnKB || entry.role == kAttnVB) {
      SourceTensor both = *t;
      both.n = static_cast<uint32_t>(shape[0]), both.k = static_cast<uint32_t>(shape[1]);
      LINNET_TRY(quant_tensor(in->tensors, quant, out->keep, 0, 0, &both, &parts, &needs_format, err));
      t->source_type = both.source_type;
      t->quantised = true;
      read_kv_b(both.rows, spec, t);
    } else {
      LINNET_TRY(quant_tensor(in->tensors, quant, out->keep, 0, 0, t, &parts, &needs_format, err));
      take_rows(t, n, map);
    }
    t->source_bytes = t->source_bytes / map.n * n;  // several roles may share it
    in->used.insert(parts.begin(), parts.end());
    if (!needs_format.empty()) out->needs_format = std::move(needs_format);
    return LINNET_OK;
  }
  const SafetensorsTensor* found = nullptr;
  LINNET_TRY(find(in, name, shape, &found, err));
  t->source_type = found->dtype;
  if (t->role == kAttnKB || t->role == kAttnVB) {
    read_kv_b(
        [f = *found, keep = out->keep, rank = spec.kv_lora_rank](uint32_t first, uint32_t count, float* rows, Error*) {
          safetensors_read(f, uint64_t{first} * rank, uint64_t{count} * rank, rows);
          return LINNET_OK;
        },
        spec, t);
  } else if (entry.transposed) {
    read_transposed(*found, out->keep, map, 0, t);
  } else {
    t->rows = [f = *found, keep = out->keep, k](uint32_t first, uint32_t count, float* rows, Error*) {
      safetensors_read(f, uint64_t{first} * k, uint64_t{count} * k, rows);
      return LINNET_OK;
    };
    take_rows(t, n, map);
  }
  if (t->role == kRouterNorm) divide_router_norm(t, spec.d_model);
  if (t->role == kDeltaA || t->role == kMambaA)
    t->rows = [rows = t->rows](uint32_t first, uint32_t count, float* to, Error* e) {
      LINNET_TRY(rows(first, count, to, e));
      for (uint32_t i = 0; i < count; ++i) to[i] = -std::exp(to[i]);
      return LINNET_OK;
    };
  if (in->arch().norm_plus_one && role_row(t->role).norm())
    t->rows = [rows = t->rows](uint32_t first, uint32_t count, float* to, Error* e) {
      LINNET_TRY(rows(first, count, to, e));
      for (uint32_t i = 0; i < count; ++i) to[i] += 1;
      return LINNET_OK;
    };
  return LINNET_OK;
}

// A gated delta net's q, k and v, or their taps, what makes and unmakes residual streams, or xIELU's numbers, from a tensor each.
Status read_parts(Folder* in, Source* out, SourceTensor* t, Error* err) {
  const HfNames& names = in->config.names;
  const ModelSpec& s = out->spec;
  const uint32_t keys = s.delta_key_heads * s.delta_key_dim, by = t->role == kDeltaTaps ? s.conv_taps : 1;
  std::vector<SourceTensor> parts;
  for (uint32_t i = 0; i < names.n_tensors; ++i) {
    const HfTensor& entry = names.tensors[i];
    if (entry.role != t->role || entry.rows != HfRows::kPart) continue;
    SourceTensor& part = parts.emplace_back(*t);
    part.n = (t->role == kFfnXielu                              ? 1
              : t->role == kStreamsIn || t->role == kStreamsOut ? s.d_model
              : parts.size() < 3                                ? keys
                                                                : s.delta_value_heads * s.delta_value_dim) *
             by;
    part.source_name = hf_tensor_name(names, entry, 0, t->layer);
    if (names.roots[1] && !in->has(part.source_name)) part.source_name = hf_tensor_name(names, entry, 1, t->layer);
    LINNET_TRY(read_tensor(in, entry, out, &part, err));
  }
  *t = stacked(std::move(parts));
  return LINNET_OK;
}

// Rows (t->n, t->k) of one expert of a tensor that holds all of them, [experts, ...].
Status read_stacked(Folder* in, const HfTensor& entry, uint32_t expert, Source* out, SourceTensor* t, Error* err) {
  const RowMap map = map_rows(entry, out->spec, t->layer, t->n);
  const uint32_t n = t->n, k = t->k;
  if (quant_has(in->tensors, in->quant, t->source_name)) {  // codes lie along the inputs, whatever the values would
    std::vector<std::string> parts;
    t->n = map.n;
    LINNET_TRY(quant_tensor(in->tensors, in->quant, out->keep, out->spec.n_experts, expert, t, &parts, &out->needs_format, err));
    take_rows(t, n, map);
    t->source_bytes = t->source_bytes / map.n * n;
    in->used.insert(parts.begin(), parts.end());
    return LINNET_OK;
  }
  std::vector<uint64_t> shape = {out->spec.n_experts, map.n};
  if (role_row(t->role).matrix()) shape.insert(entry.transposed ? shape.begin() + 1 : shape.end(), k);
  const SafetensorsTensor* found = nullptr;
  LINNET_TRY(find(in, t->source_name, shape, &found, err));
  t->source_type = found->dtype;
  const uint64_t start = uint64_t{expert} * map.n * k;
  if (entry.transposed) {
    read_transposed(*found, out->keep, map, start, t);
    return LINNET_OK;
  }
  t->rows = [f = *found, keep = out->keep, start, k](uint32_t first, uint32_t count, float* rows, Error*) {
    safetensors_read(f, start + uint64_t{first} * k, uint64_t{count} * k, rows);
    return LINNET_OK;
  };
  take_rows(t, n, map);
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
      if (row < n)
        LINNET_TRY((*experts)[i / padded].rows(row, some, to, err));
      else
        std::memset(to, 0, size_t{some} * k * sizeof *to);
    }
    return LINNET_OK;
  };
  t->own = like.own;
  t->quantised = like.quantised;
  t->source_bytes = like.source_bytes * experts->size();
  for (const SourceTensor& e : *experts)
    if (e.order) t->order = e.order;  // no two need be the same: not kept
  const auto all = [&](const auto& same) { return std::all_of(experts->begin(), experts->end(), same); };
  const bool codes = all([&](const SourceTensor& e) { return e.exact_rows && e.exact == like.exact && e.own == like.own; });
  const bool blocks = all([&](const SourceTensor& e) { return e.gguf_blocks && e.gguf_format == like.gguf_format; });
  if (!codes && !blocks) t->own = LINNET_FORMAT_DEFAULT;  // match_groups knows what the rows' others have
  if (codes) {
    t->exact = like.exact;
    t->exact_rows = [=](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
      for (uint32_t r = 0; r < count; ++r) {
        const uint32_t row = (first + r) % padded;
        const ExactRows to = exact_rows_from(out, r, k);
        if (row < n)
          LINNET_TRY((*experts)[(first + r) / padded].exact_rows(row, 1, to, err));
        else
          exact_row_zero(to, k);
      }
      return LINNET_OK;
    };
  }
  if (!blocks) return;
  t->gguf_format = like.gguf_format;
  if (!all([](const SourceTensor& e) { return !e.outer; }))
    t->outer = [=](uint32_t first, uint32_t count, float* out) {
      for (uint32_t r = first; r < first + count; ++r, out += 2) {
        const SourceTensor& e = (*experts)[r / padded];
        if (r % padded < n && e.outer)
          e.outer(r % padded, 1, out);
        else
          out[0] = 1, out[1] = 0;
      }
    };
  t->gguf_blocks = [=, bytes = t->gguf_row_bytes()](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
    for (uint32_t r = first; r < first + count; ++r, out += bytes) {
      if (r % padded < n)
        LINNET_TRY((*experts)[r / padded].gguf_blocks(r % padded, 1, out, err));
      else
        std::memset(out, 0, bytes);
    }
    return LINNET_OK;
  };
}

// A tensor with factors is what its values are: codes would need scales of their own.
bool multiply_rows(const HfConfig& config, SourceTensor* t) {
  bool any = false;
  for (uint32_t i = 0; i < t->n && !any; ++i) any = config.factors(t->role, i) != std::pair(1.0f, 1.0f);
  if (!any) return false;
  t->exact_rows = nullptr, t->gguf_blocks = nullptr, t->outer = nullptr, t->panel = nullptr, t->order = nullptr;
  t->own = LINNET_FORMAT_DEFAULT;
  t->rows = [rows = t->rows, factors = config.factors, role = t->role, k = t->k](uint32_t first, uint32_t count, float* to, Error* e) {
    LINNET_TRY(rows(first, count, to, e));
    for (uint32_t i = first; i < first + count; ++i, to += k) {
      const auto [by, then] = factors(role, i);
      for (uint32_t j = 0; j < k; ++j) to[j] = to[j] * by * then;
    }
    return LINNET_OK;
  };
  return true;
}

Status add_tensor(Folder* in, Role role, uint32_t layer, Source* out, Error* err) {
  if (add_computed(in->config, role, layer, out)) return LINNET_OK;
  const TensorRole& want = role_row(role);
  const ModelSpec& spec = out->spec;
  SourceTensor tensor;
  const HfTensor* entry = find_name(*in, role, layer, &tensor.source_name);
  if (!entry)
    return fail(err, LINNET_UNSUPPORTED, "architecture '", spec.architecture, "': its checkpoints have no '", want.name,
                "', which config.json asks for");
  tensor.role = role;
  tensor.layer = layer;
  tensor.n = role_n(role, layer, spec);
  tensor.k = want.matrix() ? role_k(role, layer, spec) : 1;
  const bool one_by_one = std::strchr(entry->name, '*');
  if (role_row(role).of_experts()) {
    std::vector<SourceTensor> parts(spec.n_experts, tensor);
    for (uint32_t e = 0; e < parts.size(); ++e) {
      parts[e].n = expert_rows(role, spec);
      if (one_by_one) find_name(*in, role, layer, &parts[e].source_name, e);
      LINNET_TRY(one_by_one ? read_tensor(in, *entry, out, &parts[e], err) : read_stacked(in, *entry, e, out, &parts[e], err));
    }
    stack_experts(std::move(parts), &tensor);
  } else if (entry->rows == HfRows::kPart) {
    LINNET_TRY(read_parts(in, out, &tensor, err));
  } else {
    LINNET_TRY(one_by_one ? add_by_head(in, *entry, layer, &tensor, out->keep, err) : read_tensor(in, *entry, out, &tensor, err));
  }
  if (role == kFfnXielu) LINNET_TRY(check_xielu(tensor, "mlp.act_fn", err));
  if (in->config.factors && multiply_rows(in->config, &tensor)) out->adapters = false;
  if (float scale = 0; role == kLayerScale) {  // in packed files 0 counts as 1
    LINNET_TRY(tensor.rows(0, 1, &scale, err));
    if (scale == 0) return fail(err, LINNET_UNSUPPORTED, "tensor '", tensor.source_name, "' is 0: not supported");
  }
  out->tensors.push_back(std::move(tensor));
  return LINNET_OK;
}

// Layers behind the last that guess tokens further on, all of them or, where one lacks a tensor, none.
Status add_ahead_layers(Folder* in, const char* label, Source* out, Error* err) {
  HfConfig config = in->config;
  HfNames& names = config.names;
  uint32_t n = config.n_extra_layers;
  const char* key = "num_nextn_predict_layers";
  const auto any = [&](const std::string& prefix) {
    const auto at = in->tensors.lower_bound(prefix);
    return at != in->tensors.end() && at->first.starts_with(prefix);
  };
  if (!config.architecture->ahead) return LINNET_OK;
  if (names.ahead[0]) {
    names.first_layer = out->spec.n_layers;
    std::copy(std::begin(names.ahead), std::end(names.ahead), names.roots);
    std::copy(std::begin(names.ahead), std::end(names.ahead), names.tops);
    key = "mtp.layers";
    const auto layers = [&](uint32_t i) { return names.layers + std::to_string(i) + "."; };
    for (n = 0; n <= kMaxLayers && (any(names.roots[0] + layers(n)) || any(names.roots[1] + layers(n)));) ++n;
  } else if (const std::string first = names.layers + std::to_string(out->spec.n_layers) + "."; n > 0) {
    if (!any(names.roots[0] + first) && !(names.roots[1] && any(names.roots[1] + first))) return LINNET_OK;  // not published
  }
  if (n == 0) return LINNET_OK;
  LINNET_TRY(add_ahead(out, n, label, key, err));
  Source* const ahead = out->ahead.get();
  config.spec = ahead->spec;
  Folder of{config, in->quant, std::move(in->tensors), std::move(in->used)};
  const auto has = [&](Role role, uint32_t layer, std::string* name) { return find_name(of, role, layer, name) && of.has(*name); };
  std::string name;
  for (const AheadPart& part : kAheadParts)
    if (has(part.role, out->spec.n_layers, &name)) ahead->spec.ahead |= part.bit;
  std::string missing;
  Status status = each_ahead(ahead->spec, [&](Role role, uint32_t layer) {
    if (missing.empty() && !has(role, layer, &name)) missing = name;
    return LINNET_OK;
  });
  if (missing.empty())
    status = each_ahead(ahead->spec, [&](Role role, uint32_t layer) { return add_tensor(&of, role, layer, ahead, err); });
  in->tensors = std::move(of.tensors), in->used = std::move(of.used);
  LINNET_TRY(status);
  if (out->needs_format.empty()) out->needs_format = ahead->needs_format;
  if (!missing.empty()) drop_ahead(out, missing);
  return LINNET_OK;
}

// Of a bias that a quantiser wrote though the model has none.
bool all_zero(const SafetensorsTensor& t) {
  for (uint64_t i = 0; i < t.bytes; ++i)
    if (t.data[i]) return false;
  return true;
}

// Every tensor of the files must be one that the model computes with, or known to be harmless.
Status check_unused(const Folder& in, const ModelSpec& spec, bool ahead, Error* err) {
  for (const auto& [stored, tensor] : in.tensors) {
    if (in.used.count(stored) || quant_run_time(in.quant, stored)) continue;
    const std::string weight = quant_weight(in.quant, stored);  // itself where codes have that name
    if (weight.empty() && quant_has(in.tensors, in.quant, stored))
      return fail(err, LINNET_BAD_FILE, tensor.file, ": codes of ", in.quant.method->name, " beside '", stored, "'");
    const std::string name = !weight.empty() && quant_has(in.tensors, in.quant, weight) ? weight : stored;
    const HfTensor* entry = nullptr;
    uint32_t layer = 0;
    const HfName known = hf_tensor_find(in.config.names, name, &entry, &layer);
    const bool behind = layer >= spec.n_layers && layer - spec.n_layers < in.config.n_extra_layers;
    const auto mine = [&](const char* root) { return root && name.starts_with(root); };
    const bool zeros = in.quant.method && name.ends_with(".bias") && all_zero(tensor);
    if (ahead && (in.config.names.ahead[0] ? mine(in.config.names.ahead[0]) || mine(in.config.names.ahead[1]) : behind) &&
        (known != HfName::kIgnored || !behind)) {
      if (zeros && in.has(name.substr(0, name.size() - std::strlen("bias")) + "weight")) continue;
      return fail(err, LINNET_UNSUPPORTED, tensor.file, ": tensor '", name, "' has no place in the layers for speculation");
    }
    if (known == HfName::kIgnored || behind) continue;
    if (known == HfName::kUnknown) return fail(err, LINNET_UNSUPPORTED, tensor.file, ": unknown tensor '", name, "'");
    if (layer >= spec.n_layers)
      return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", name, "', but config.json has ", spec.n_layers, " layers");
    if (zeros) continue;
    if (layer_spec(spec, layer).kv_back && (entry->role == kAttnK || entry->role == kAttnV || entry->role == kAttnKNorm))
      continue;  // published, and never read
    if (entry->role != kOutput || name != stored)
      return fail(err, LINNET_BAD_FILE, tensor.file, ": tensor '", name, "' has no place in the model of config.json");
    // Tied, and written all the same: a copy changes nothing.
    std::string embedding;
    find_name(in, kTokenEmbd, 0, &embedding);
    const auto embd = in.tensors.find(embedding);
    if (embd == in.tensors.end() || embd->second.shape != tensor.shape || embd->second.dtype != tensor.dtype ||
        std::memcmp(embd->second.data, tensor.data, static_cast<size_t>(tensor.bytes)) != 0)
      return fail(err, LINNET_BAD_FILE, tensor.file, ": '", name, "' differs from '", embedding,
                  "', though config.json says tie_word_embeddings true");
  }
  return LINNET_OK;
}

// Why a tensor cannot be had; of one that only the index knows it says so.
Status refuse_tensor(Status status, const Error& why, const SafetensorsIndex& absent, Error* err) {
  const std::string_view text = why.text;
  for (const auto& [name, file] : absent)
    if (text.starts_with("tensor '" + name + "' is missing"))
      return fail(err, status, kSafetensorsIndex, ": tensor '", name, "' should be in '", file,
                  "', which is not there or does not hold it; the model needs it");
  return fail(err, status, text);
}

// The Jinja templates, and linnet_chat.json: {"user": {"prefix": "...", "suffix": "..."}, "assistant": {...}, "tool": {...}}, linnet's own.
Status read_chat(const std::string& folder, Source* out, Error* err) {
  constexpr const char* label = "linnet_chat.json";
  std::string text;
  bool found = false;
  LINNET_TRY(templates_from_folder(folder, &out->templates, err));
  JsonTree tree;
  nlohmann::json& config = tree.root;
  LINNET_TRY(read_file(folder + "/" + label, kConfigMaxBytes, &text, &found, err));
  if (!found) return LINNET_OK;
  LINNET_TRY(json_parse(text, label, &config, err));
  if (!config.is_object()) return fail(err, LINNET_BAD_FILE, label, ": not an object");
  for (const auto& [name, texts] : config.items()) {
    uint32_t role = LINNET_ROLE_SYSTEM;
    while (role < kRoleEnd && name != chat_role_name(role)) ++role;
    if (role == kRoleEnd) return fail(err, LINNET_BAD_FILE, label, ": unknown role '", name, "'");
    for (const bool suffix : {false, true}) {
      const char* key = suffix ? "suffix" : "prefix";
      std::string value;
      if (get_string(texts, key, &value) != Got::kFound)
        return fail(err, LINNET_BAD_FILE, label, ": ", name, ".", key, " is missing or no string");
      LINNET_TRY(chat_set(&out->chat, role, suffix, value, label, err));
    }
    if (texts.size() != 2) return fail(err, LINNET_BAD_FILE, label, ": ", name, " has keys other than prefix and suffix");
  }
  return chat_check(out->chat, label, err);
}

}  // namespace

std::string folder_name(std::string path) {
  path.resize(path.find_last_not_of(kSlashes) + 1);
  path.erase(0, path.find_last_of(kSlashes) + 1);
  return path == "." || path == ".." ? "" : path;
}

Status source_from_folder(const std::string& folder, Source* out, Error* err) {
  *out = {};
  std::string config;
  bool found = false;
  LINNET_TRY(read_file(folder + "/config.json", kConfigMaxBytes, &config, &found, err));
  if (!found) return fail(err, LINNET_BAD_FILE, PathName(folder), ": holds no config.json");
  HfConfig parsed;
  LINNET_TRY(read_config(config, "config.json", &parsed, err));
  HfModules modules;
  LINNET_TRY(modules_from_folder(folder, &modules, err));
  LINNET_TRY(apply_modules(modules, &parsed.spec, err));
  if (modules.any) parsed.headless = true;                                    // whatever class config.json names
  if (parsed.headless && !parsed.names.roots[1]) parsed.names.roots[1] = "";  // as a class without a head saves itself
  LINNET_TRY(prompts_from_folder(folder, &out->prompts, err));
  out->spec = parsed.spec;
  out->layers = parsed.layers;
  HfQuant quant;
  LINNET_TRY(quant_from_config(config, "config.json", &quant, err));
  if (std::string text; !quant.method) {
    LINNET_TRY(read_file(folder + "/" + kModelOptConfig, kConfigMaxBytes, &text, &found, err));
    if (found) LINNET_TRY(quant_from_modelopt(text, kModelOptConfig, &quant, err));
  }
  if (out->spec.kv_lora_rank && quant.method && quant.method != &kFp8)
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'quantization_config' beside 'kv_lora_rank' is not supported");
  out->name = folder_name(folder);

  Folder in{parsed, quant, {}, {}};
  SafetensorsIndex absent;
  LINNET_TRY(safetensors_open_folder(folder, &in.tensors, &out->keep, &absent, err));
  // A model that was saved without the LM head of its own: it makes vectors alone.
  if (std::string head; parsed.headless && !out->spec.tied && find_name(in, kOutput, 0, &head) && !in.has(head))
    out->spec.headless = parsed.spec.headless = 1;
  LINNET_TRY(add_dense(folder, modules, out, err));
  Error why = {};
  LINNET_TRY(each_tensor(out->spec, [&](Role role, uint32_t layer) {
    if (role >= kDense1 && role <= kDense2Bias) return LINNET_OK;
    const Status status = add_tensor(&in, role, layer, out, &why);
    return status == LINNET_OK ? LINNET_OK : refuse_tensor(status, why, absent, err);
  }));
  if (const Status status = add_ahead_layers(&in, "config.json", out, &why); status != LINNET_OK)
    return refuse_tensor(status, why, absent, err);
  LINNET_TRY(check_unused(in, out->spec, out->ahead != nullptr, err));
  LINNET_TRY(read_chat(folder, out, err));
  return tokenizer_from_folder(folder, &out->tokenizer, err, out->spec.n_vocab);
}

}  // namespace linnet::convert
