// What `linnet inspect --cost` shows: operations and bytes of a pass by step, counted from shapes. Nothing is packed and nothing runs.
#include <algorithm>
#include <cmath>
#include <memory>

#include "../cache/kv_cache.h"
#include "../layers/kinds.h"
#include "convert.h"
#include "source.h"

namespace linnet::convert {
namespace {

constexpr const char* kStepNames[kStepCount] = {"embedding",         "norms and biases", "q, k, v",       "attention",
                                                "attention output",  "router",           "gate, up",      "down",
                                                "experts: gate, up", "experts: down",    "shared expert", "LM head"};

Arithmetic arithmetic(Format f) {
  const Format x = format_row(f).x;
  return x == LINNET_BF16 ? Arithmetic::kF8 : x == LINNET_F32 ? Arithmetic::kFloat : Arithmetic::kInt8;
}

// A tensor of the model as it lies in a packed file.
struct Tensor {
  Role role;
  uint32_t layer;
  Format format;
};

class Counter {
 public:
  Counter(const ModelSpec& spec, const CostParams& params, Cost* out) : s_(spec), params_(params), out_(out) {}

  void count(const std::vector<Tensor>& tensors) {
    for (CostPass* pass : {&out_->prefill, &out_->decode}) {
      pass->steps.assign(kStepCount, {});
      for (int i = 0; i < kStepCount; ++i) pass->steps[static_cast<size_t>(i)].name = kStepNames[i];
    }
    for (const Tensor& t : tensors) {
      tensor(t, params_.prompt, &out_->prefill);
      tensor(t, 1, &out_->decode);
      const double n = weights(t), bytes = tensor_bytes(t);
      out_->weights += n;
      out_->weight_bytes += bytes;
      if (!role_row(t.role).per_layer() || t.layer + 1 != s_.n_layers) continue;
      out_->layer_weights += n;
      out_->layer_bytes += bytes;
      if (role_row(t.role).matrix()) out_->layer_ops += ops(t, params_.prompt);
    }
    if (s_.tied) {  // the head reads the embedding's table, from one end to the other
      const auto table = std::find_if(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.role == kTokenEmbd; });
      if (table != tensors.end())
        for (CostPass* pass : {&out_->prefill, &out_->decode}) head(*table, pass);
    }
    for (uint32_t layer = 0; layer < s_.n_layers; ++layer) attention(layer);
    for (CostPass* pass : {&out_->prefill, &out_->decode}) {
      pass->steps.erase(std::remove_if(pass->steps.begin(), pass->steps.end(),
                                       [](const CostStep& c) { return c.ops + c.weight_bytes + c.kv_bytes == 0; }),
                        pass->steps.end());
    }
  }

 private:
  double n_of(const Tensor& t) const {
    return role_row(t.role).of_experts() ? double{1} * s_.n_experts * expert_rows(t.role, s_) : role_n(t.role, t.layer, s_);
  }
  double weights(const Tensor& t) const { return n_of(t) * role_k(t.role, t.layer, s_); }
  double tensor_bytes(const Tensor& t) const {
    return role_row(t.role).matrix() ? static_cast<double>(packed_bytes(t.format, role_n(t.role, t.layer, s_), role_k(t.role, t.layer, s_)))
                                     : 4.0 * role_n(t.role, t.layer, s_);
  }
  double ops(const Tensor& t, double rows) const {
    return 2 * rows * weights(t) * (role_row(t.role).of_experts() ? double{1} * s_.n_active / s_.n_experts : 1);
  }
  // Rows spread evenly over experts leave so many of them unread.
  double touched(const Tensor& t, double rows) const {
    return role_row(t.role).of_experts() ? 1 - std::pow(1 - double{1} * s_.n_active / s_.n_experts, rows) : 1;
  }

  void head(const Tensor& t, CostPass* pass) {  // logits of one row
    CostStep& c = pass->steps[kStepHead];
    c.by = arithmetic(t.format);
    c.ops += ops(t, 1);
    c.weight_bytes += tensor_bytes(t);
  }
  void tensor(const Tensor& t, double rows, CostPass* pass) {
    const Step step = role_row(t.role).step;
    CostStep& c = pass->steps[step];
    if (step == kStepHead) return head(t, pass);
    if (t.role == kDense1 || t.role == kDense2) return;  // of a text's vector, behind its passes
    if (t.role == kLayerEmbd) rows *= s_.n_layers;
    if (t.role == kTokenEmbd || t.role == kPosEmbd || t.role == kLayerEmbd) {  // a row of the table for each token, and of layers
      c.weight_bytes += std::min(1.0, rows / role_n(t.role, t.layer, s_)) * tensor_bytes(t);
      return;
    }
    c.weight_bytes += tensor_bytes(t) * touched(t, rows);
    if (!role_row(t.role).matrix()) return;
    c.by = arithmetic(t.format);
    c.ops += ops(t, rows);
  }

  // Every row against all rows of the prompt, or as many as its window lets it see. What is cached is written once, and read once a pass.
  void attention(uint32_t layer) {
    const LayerSpec l = layer_spec(s_, layer);
    const CacheLayer c = kMixers[l.mixer]->cache(s_, l);
    const double state = c.slot.state_floats * sizeof(float);
    out_->prefill.steps[kStepAttention].kv_bytes += 2 * state;  // read and written once a pass, where its rows stay near
    out_->decode.steps[kStepAttention].kv_bytes += 2 * state;
    if (c.n_kv_heads == 0) return;
    const double seen_at_most = l.window ? l.window : 1e18, latent = s_.kv_lora_rank;
    const double values = latent > 0 ? latent : l.head_dim, keys = l.head_dim;
    const KvLayout kv = kv_layout(params_.k, params_.v, c.n_kv_heads, c.head_dim, c.latent);
    const double bytes = static_cast<double>(kv.page_bytes) / (kv_kivi(params_.k) ? kGroupPositions : kPagePositions);
    const double own = l.kv_back ? 0 : 1;
    out_->kv_bytes_per_token += own * bytes;
    const auto add = [&](double rows, double held, CostPass* pass) {
      const double seen = std::min(held, seen_at_most);
      CostStep& step = pass->steps[kStepAttention];
      step.by = arithmetic(params_.k) == Arithmetic::kFloat ? Arithmetic::kFloat : Arithmetic::kInt8;  // FP8 caches become integers
      const double products = 2 * rows * seen * l.n_heads * (keys + values);
      step.ops += products;
      if (pass == &out_->prefill && layer + 1 == s_.n_layers) out_->layer_ops += products;
      step.kv_bytes += own * rows * bytes + (rows > 1 ? held : seen) * bytes;
    };
    add(params_.prompt, params_.prompt, &out_->prefill);
    add(1, params_.depth + 1.0, &out_->decode);
  }

  const ModelSpec& s_;
  const CostParams& params_;
  Cost* out_;
};

Status tensors_of(const Gguf& file, const ModelSpec& spec, Format asked, std::vector<Tensor>* out, Error* err) {
  return each_tensor(spec, [&](Role role, uint32_t layer) {
    Tensor t = {role, layer, LINNET_F32};
    if (role_row(role).matrix()) {
      Matrix m;
      LINNET_TRY(find_matrix(file, role, layer, spec, &m, err));
      t.format = asked == LINNET_FORMAT_DEFAULT || role_row(role).f32() ? m.format : asked;
    }
    out->push_back(t);
    return LINNET_OK;
  });
}

// The most weights are in this format.
Format format_of_most(const std::vector<Tensor>& tensors, const ModelSpec& spec) {
  double by[kMaxFormat + 1] = {};
  for (const Tensor& t : tensors)
    if (role_row(t.role).matrix() && role_row(t.role).per_layer())
      by[t.format] += double{1} * role_n(t.role, t.layer, spec) * role_k(t.role, t.layer, spec);
  return static_cast<Format>(std::max_element(by, by + kMaxFormat + 1) - by);
}

Status cost_of(const std::string& path, const CostParams& params, Cost* out, Error* err) {
  Source source;
  Mapped mapped;  // spec.layer_values may point into it
  ModelSpec spec = {};
  std::vector<Tensor> tensors;
  bool packed = false;
  if (params.weights != LINNET_FORMAT_DEFAULT && !format_known(static_cast<uint32_t>(params.weights)))
    return fail(err, LINNET_BAD_ARG, "cost: no weights are in format ", uint32_t{params.weights});
  if (is_synthetic(path)) {
    LINNET_TRY(source_synthetic(path.substr(kSynthetic.size()), 1, &source, err));
  } else if (is_folder(path)) {
    LINNET_TRY(source_from_folder(path, &source, err));
  } else {
    LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &mapped.view, err));
    const auto file = std::make_unique<Gguf>();
    LINNET_TRY(gguf_open(mapped.view.data, mapped.view.bytes, path.c_str(), file.get(), err));
    packed = is_packed(*file);
    if (packed) LINNET_TRY(spec_read(*file, &spec, err));
    if (packed) LINNET_TRY(tensors_of(*file, spec, params.weights, &tensors, err));
    if (!packed) LINNET_TRY(source_from_gguf(path, &source, err));
  }
  if (!packed) {
    const Options options = {.weights = params.weights, .floats = params.floats};
    spec = source.spec;
    match_groups(&source, options);
    LINNET_TRY(order_inputs(&source, options, err));
    for (const SourceTensor& t : source.tensors) tensors.push_back({t.role, t.layer, packed_format(t, options)});
  }
  if (spec.n_layers == 0) return fail(err, LINNET_UNSUPPORTED, PathName(path), ": only a vocabulary, nothing to compute");
  CostParams p = params;
  if (p.k == LINNET_FORMAT_DEFAULT) p.k = LINNET_I8;
  if (p.v == LINNET_FORMAT_DEFAULT) p.v = LINNET_I8;
  if (kv_kivi(p.k) != kv_kivi(p.v) || (kv_kivi(p.k) && spec.kv_lora_rank))
    return fail(err, LINNET_BAD_ARG, "cost: KIVI is for K and V together, and not for latent attention");
  out->weights_format = format_of_most(tensors, spec);
  out->k = p.k;
  out->v = p.v;
  out->n_layers = spec.n_layers;
  Counter(spec, p, out).count(tensors);
  return LINNET_OK;
}

}  // namespace

linnet_status cost(const std::string& path, const CostParams& params, Cost* out, linnet_error* err) {
  return guarded_source(path, err, [&] {
    Cost c;
    LINNET_TRY(cost_of(path, params, &c, err));
    *out = std::move(c);
    return LINNET_OK;
  });
}

}  // namespace linnet::convert
