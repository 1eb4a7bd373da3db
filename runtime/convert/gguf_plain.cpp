// A Source as a plain GGUF of its family, as other runtimes read it: order of rows, names, fused tensors, keys. gguf_source.cpp is the
// reverse, and what it would not read back as it was is refused.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "source.h"
#include "writer.h"

namespace linnet::convert {
namespace {

const Architecture& family(const ModelSpec& spec) { return *architecture_by_hf(spec.architecture); }

// Tensors whose rows lie in one as `rows` says.
Status fused(const ModelSpec& s, HfRows rows, const std::vector<SourceTensor>& parts, SourceTensor* to, Error* err) {
  *to = stacked(parts);
  const auto from = std::make_shared<std::vector<uint32_t>>(to->n);
  uint32_t first = 0;
  for (const SourceTensor& p : parts) {
    const RowMap map = map_rows({"", p.role, rows}, s, p.layer, p.n);
    if (map.n != to->n || !map_fits(map, p.n))
      return fail(err, LINNET_UNSUPPORTED, "plain GGUF: heads of layer ", p.layer, " are not those of its matrices");
    for (uint32_t i = 0; i < p.n; ++i) (*from)[map.at(i)] = first + i;
    first += p.n;
  }
  choose_rows(to, to->n, [from](uint32_t i) { return (*from)[i]; });
  return LINNET_OK;
}

// mscale_all_dim, which the score's growth came from; 0: none. It stands in a key of its own where it is not the usual 1.
double yarn_all(const Architecture& a, const ModelSpec& s) {
  const double log = 0.1 * std::log(s.rope_factor);
  if (s.rope_factor <= 1) return 0;
  if (a.latent)
    return s.attn_scale > 0 ? (std::sqrt(s.attn_scale * std::sqrt(static_cast<double>(s.qk_nope_dim + s.qk_rope_dim))) - 1) / log : 0;
  const double all = (yarn_grown(s, 1) / s.rope_attn_factor - 1) / log;
  return a.rope_temperature && all > 1e-9 ? all : 0;
}

void put_rope(const Architecture& a, const ModelSpec& s, const std::string& p, GgufBuilder* b) {
  if (s.rope_kind == kRopeNone && a.latent) b->u32(p + "rope.dimension_count", s.qk_rope_dim);
  if (s.rope_kind == kRopeNone) return;
  b->f32(p + "rope.freq_base", static_cast<float>(s.rope_base));
  if (s.rope_local_base > 0) b->f32(p + "rope.freq_base_swa", static_cast<float>(s.rope_local_base));
  b->u32(p + "rope.dimension_count", s.rope_dim);
  if (s.rope_scaling == kRopeScaleLinear || s.rope_scaling == kRopeScaleYarn) {
    b->text(p + "rope.scaling.type", s.rope_scaling == kRopeScaleYarn ? "yarn" : "linear");
    b->f32(p + "rope.scaling.factor", static_cast<float>(s.rope_factor));
  }
  // Phi-3's readers ask for it whatever the scaling.
  const uint32_t original = s.rope_original ? s.rope_original : a.absent.rope_original ? s.n_context : 0;
  if (original) b->u32(p + "rope.scaling.original_context_length", original);
  if (s.rope_scaling == kRopeScaleLong && (!a.minicpm || (s.rope_attn_factor > 0 && s.rope_attn_factor != 1)))
    b->f32(p + "rope.scaling.attn_factor", s.rope_attn_factor > 0 ? static_cast<float>(s.rope_attn_factor) : 1.0f);
  if (s.rope_scaling != kRopeScaleYarn) return;
  b->f32(p + "rope.scaling.yarn_beta_fast", static_cast<float>(s.rope_high));
  b->f32(p + "rope.scaling.yarn_beta_slow", static_cast<float>(s.rope_low));
  const double all = yarn_all(a, s);
  if (all > 0)
    b->f32(p + "rope.scaling.yarn_log_multiplier", static_cast<float>(a.form.yarn_log_10 ? all / 10 : all));
  else if (std::fabs(s.rope_attn_factor - yarn_grown(s, 1)) > 1e-9)
    b->f32(p + "rope.scaling.yarn_attn_factor", static_cast<float>(s.rope_attn_factor));
}

void put_experts(const Architecture& a, const ModelSpec& s, const std::string& p, GgufBuilder* b) {
  if (!a.experts.count) return;
  if (a.experts.shared_in_gguf) {
    const bool whole = s.n_experts && s.shared_ff % s.expert_ff == 0 && !a.one_step;  // which always counts them as one
    if (s.n_experts) b->u32(p + "expert_shared_count", whole ? s.shared_ff / s.expert_ff : s.shared_ff ? 1 : 0);
    if (s.n_experts) b->u32(p + "expert_shared_feed_forward_length", s.shared_ff);
  } else if (a.experts.group_best) {
    b->u32(p + "leading_dense_block_count", s.n_experts ? s.moe_first : s.n_layers);
    b->u32(p + "expert_shared_count", s.n_experts ? s.shared_ff / s.expert_ff : 0);
    if (!s.n_experts) b->u32(p + "expert_feed_forward_length", s.d_ff);  // asked for all the same
  }
  if (!s.n_experts) return;
  b->u32(p + "expert_count", s.n_experts);
  b->u32(p + "expert_used_count", s.n_active);
  b->u32(p + "expert_feed_forward_length", s.expert_ff);
  if (a.experts.shared_gate) b->u32(p + "expert_shared_feed_forward_length", s.shared_ff);
  const bool ernie = !a.experts.group_best && a.spec.router_correction && !a.short_conv;
  if (s.window_chunks || ernie) b->u32(p + "interleave_moe_layer_step", s.moe_step ? s.moe_step : 1);
  if (ernie) b->u32(p + "leading_dense_block_count", s.moe_first);
  if (a.short_conv) b->u32(p + "leading_dense_block_count", s.moe_first);
  if (a.short_conv) b->u32(p + "expert_gating_func", 2);
  if (!a.experts.group_best) return;
  b->u32(p + "expert_gating_func", s.router_kind == kRouterSigmoid ? 2 : 1);
  b->f32(p + "expert_weights_scale", s.router_scale > 0 ? static_cast<float>(s.router_scale) : 1.0f);
  if (s.router_norm && !a.experts.norm_in_gguf) b->boolean(p + "expert_weights_norm", true);
  if (s.router_groups) {
    b->u32(p + "expert_group_count", s.router_groups);
    b->u32(p + "expert_group_used_count", s.router_top_groups);
  }
}

void put_delta_nets(const Architecture& a, const ModelSpec& s, const std::string& p, GgufBuilder* b) {
  b->u32(p + "ssm.conv_kernel", s.conv_taps);
  if (s.delta_by_key) {  // as many heads as attention has
    b->u32(p + "kda.head_dim", s.delta_key_dim);
    return;
  }
  b->u32(p + "ssm.state_size", s.delta_key_dim);
  b->u32(p + "ssm.group_count", s.delta_key_heads);
  b->u32(p + "ssm.time_step_rank", s.delta_value_heads);
  b->u32(p + "ssm.inner_size", s.delta_value_heads * s.delta_value_dim);
  if (a.form.sections) b->i32s(p + "rope.dimension_sections", {11, 11, 10, 0});  // asked for; whatever they are, a text's are the same
  std::vector<bool> recurrent;
  for (uint32_t i = 0; i < s.n_layers; ++i) recurrent.push_back(layer_spec(s, i).mixer == kMixerDelta);
  b->booleans(p + "attention.recurrent_layers", recurrent);
  const uint32_t n_layers = s.n_layers - s.n_ahead;
  for (uint32_t interval = 1; interval <= n_layers + 1; ++interval) {  // what older readers look at
    uint32_t same = 0;
    while (same < n_layers && recurrent[same] == ((same + 1) % interval != 0)) ++same;
    if (same < n_layers) continue;
    b->u32(p + "full_attention_interval", interval);
    break;
  }
}

// Granite 4's experts have the width that files call the layers', the shared one that of its own key.
bool shared_by_key(const Architecture& a, const ModelSpec& s) { return a.mamba && s.mamba_heads && s.shared_ff && !a.experts.group_best; }

// ALiBi's largest exponent, from the first head's slope.
Status put_alibi(const Source& source, const Architecture& a, const std::string& p, GgufBuilder* b, Error* err) {
  const ModelSpec& s = source.spec;
  std::vector<float> slopes(s.n_heads);
  for (const SourceTensor& t : source.tensors)
    if (t.role == kAlibi && t.n == s.n_heads) LINNET_TRY(t.rows(0, t.n, slopes.data(), err));
  double n = 1;
  while (2 * n <= s.n_heads) n *= 2;
  const double most = std::nearbyint(-std::log2(static_cast<double>(slopes[0])) * n * 1024) / 1024;
  if (slopes != alibi_slopes(s, most, a.alibi_scaled) || (most != 8 && !(a.absent.alibi_bias_max > 0)))
    return fail(err, LINNET_UNSUPPORTED, "plain GGUF: '", a.gguf, "' cannot say the slopes of this model's ALiBi");
  if (a.absent.alibi_bias_max > 0) b->f32(p + "attention.max_alibi_bias", static_cast<float>(most));
  return LINNET_OK;
}

// xIELU's numbers, in lists by layer.
Status put_xielu(const Source& source, GgufBuilder* b, Error* err) {
  std::vector<float> lists[std::size(kXieluKeys)];
  for (std::vector<float>& list : lists) list.resize(source.spec.n_layers);
  for (const SourceTensor& t : source.tensors) {
    if (t.role != kFfnXielu) continue;
    float of[std::size(kXieluKeys)];
    LINNET_TRY(t.rows(0, t.n, of, err));
    for (size_t i = 0; i < std::size(of); ++i) lists[i][t.layer] = of[i];
  }
  for (size_t i = 0; i < std::size(lists); ++i) b->f32s(kXieluKeys[i], lists[i]);
  return LINNET_OK;
}

// Norms that readers make of ones.
Status check_ones(const SourceTensor& t, Error* err) {
  std::vector<float> values(t.n);
  LINNET_TRY(t.rows(0, t.n, values.data(), err));
  for (const float v : values)
    if (v != 1) return fail(err, LINNET_UNSUPPORTED, "plain GGUF: no place for the weights of '", t.source_name, "', which are not all 1");
  return LINNET_OK;
}

}  // namespace

bool norm_of_ones(const Architecture& a, Role role) {
  return role == kAttnVNorm || (a.qk_norm_of_ones && (role == kAttnQNorm || role == kAttnKNorm));
}

const char* norm_eps_key(const Architecture& a) {
  const bool other = a.spec.norm == kNormLayer || (a.one_step && !a.mamba_alone);  // Nemotron-H, though its norms are RMS
  return other ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon";
}

std::string gguf_tensor_name(const Architecture& a, const ModelSpec& spec, Role role, uint32_t layer) {
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  for (const GgufName& other : a.form.names) {
    if (!other.name || other.role != role) continue;
    if (!role_row(role).per_layer()) return other.name;
    if (role_present(kFfnNorm, layer, spec)) return "blk." + std::to_string(layer) + "." + other.name;
  }
  return name;
}

std::vector<DeltaPart> delta_parts(const ModelSpec& s, Role role) {
  const uint32_t each = role == kDeltaTaps ? s.conv_taps : 1, q = s.delta_key_heads * s.delta_key_dim * each,
                 v = s.delta_value_heads * s.delta_value_dim * each;
  if (role == kDeltaTaps) return {{"ssm_conv1d_q.weight", q}, {"ssm_conv1d_k.weight", q}, {"ssm_conv1d_v.weight", v}};
  return {{"attn_q.weight", q}, {"attn_k.weight", q}, {"attn_v.weight", v}};
}

std::vector<uint64_t> gguf_dims(Role role, const ModelSpec& spec, uint32_t k, uint32_t rows, uint32_t parts) {
  if (role == kRouterCorrection && spec.router_kind == kRouterSoftmax) return {rows, 1};  // ERNIE
  if (role_row(role).of_experts())
    return role_row(role).matrix() ? std::vector<uint64_t>{k, rows, parts} : std::vector<uint64_t>{rows, parts};
  if (role == kLayerEmbd) return {uint64_t{k} * spec.n_layers, rows / spec.n_layers};
  if (role == kStreamsIn || role == kStreamsOut) return {k, rows / (kStreams - 1), kStreams - 1};
  if (role == kStreamPredict || role == kStreamCorrect) return {kStreams, rows / kStreams};
  if (role == kAttnKB || role == kAttnVB) return {k, rows / spec.n_heads, spec.n_heads};
  if (role == kDeltaTaps && spec.delta_by_key) return {spec.conv_taps, 1, rows / spec.conv_taps, 1};
  if (role == kDeltaA && spec.delta_by_key) return {1, rows, 1, 1};
  if (role == kConvTaps || role == kDeltaTaps || role == kMambaTaps) return {spec.conv_taps, rows / spec.conv_taps};
  if (role == kMambaA || role == kMambaSkip) return {1, rows};
  if (role == kMambaNorm) return {rows / spec.mamba_groups, spec.mamba_groups};
  if ((role == kAttnQNorm || role == kAttnKNorm) && spec.qk_norm == kQkNormLayer) return {spec.head_dim, rows / spec.head_dim};
  return role_row(role).matrix() ? std::vector<uint64_t>{k, rows} : std::vector<uint64_t>{rows};
}

Status to_gguf_conventions(Source* source, Error* err) {
  ModelSpec& spec = source->spec;
  const Architecture* a = architecture_by_hf(spec.architecture);
  if (spec.n_layers == 0 || !a) return LINNET_OK;
  if (spec.headless) spec.headless = 0, spec.tied = 1;  // files without a head have readers take the embedding's
  if (a->form.none) return fail(err, LINNET_UNSUPPORTED, "plain GGUF: not of architecture '", spec.architecture, "'");
  if (spec.rope_kind == kRopeHalves && a->rope_gguf == kRopePairs) {
    if (spec.rope_dim != spec.head_dim && !spec.mamba_heads)  // whose converter takes all of a head whatever RoPE turns
      return fail(err, LINNET_UNSUPPORTED, "plain GGUF: rope_dim = ", spec.rope_dim, " of head_dim = ", spec.head_dim,
                  " cannot be reordered to pairs");
    for (SourceTensor& t : source->tensors) pairs_from_halves(&t, spec.head_dim);
    spec.rope_kind = kRopePairs;
  }
  if (a->form.tiled && spec.delta_value_heads != spec.delta_key_heads && !spec.delta_tiled) {
    for (SourceTensor& t : source->tensors) tile_values(&t, spec, true);
    spec.delta_tiled = 1;
  }
  if (spec.mamba_heads && spec.rope_kind == kRopeNone && spec.head_dim % 2 == 0)  // as their converter does all the same
    for (SourceTensor& t : source->tensors) pairs_from_halves(&t, spec.head_dim);
  if (a->gemma4 && !spec.rope_freqs) {
    std::vector<float> divisors(spec.rope_dim / 2, kNotTurned);
    std::fill_n(divisors.begin(), (spec.rope_turned ? spec.rope_turned : spec.rope_dim) / 2, 1.0f);
    source->tensors.push_back(computed_tensor(kRopeFreqs, 0, divisors));
    spec.rope_freqs = 1;
    spec.rope_turned = 0;
  }
  if (a->gemma3n && spec.layer_embd_vocab < spec.n_vocab) {  // readers have a row for every token
    for (SourceTensor& t : source->tensors)
      if (t.role == kLayerEmbd)
        choose_rows(&t, spec.n_vocab * spec.n_layers, [n = t.n, layers = spec.n_layers](uint32_t i) { return i < n ? i : i % layers; });
    spec.layer_embd_vocab = spec.n_vocab;
  }
  for (SourceTensor& t : source->tensors)
    if (t.role == kRouterNorm) multiply_router_norm(&t, spec.d_model);
  if (spec.rope_scaling == kRopeScaleLlama3) {
    if (spec.rope_freqs) return fail(err, LINNET_UNSUPPORTED, "plain GGUF: llama3 scaling beside rope_freqs");
    std::vector<float> divisors;
    for (const double d : llama3_divisors(spec)) divisors.push_back(static_cast<float>(d));
    source->tensors.push_back(computed_tensor(kRopeFreqs, 0, divisors));
    spec.rope_freqs = 1;
    spec.rope_scaling = kRopeScaleNone;
    spec.rope_factor = spec.rope_low = spec.rope_high = 1;
  }
  return LINNET_OK;
}

Status plain_tensors(const ModelSpec& spec, const std::vector<const SourceTensor*>& tensors, std::vector<PlainTensor>* out, Error* err) {
  const Architecture& a = family(spec);
  const auto of = [&](Role role, uint32_t layer) {
    for (const SourceTensor* t : tensors)
      if (t->role == role && t->layer == layer) return t;
    return static_cast<const SourceTensor*>(nullptr);
  };
  // What a tensor is written in one with. A packed file's layers may lack it, which no file of the family can say.
  const struct {
    bool is;
    Role role, with;
  } together[] = {{a.minicpm, kAttnKB, kAttnVB},
                  {a.form.qkv, kAttnQ, kAttnK},
                  {a.form.qkv, kAttnQ, kAttnV},
                  {a.form.qkv, kAttnQBias, kAttnKBias},
                  {a.form.qkv, kAttnQBias, kAttnVBias},
                  {a.delta && spec.attn_gate, kAttnQ, kAttnGate},
                  {a.form.beta_alpha, kDeltaBeta, kDeltaAlpha},
                  {a.form.gate_up, kFfnUp, kFfnGate},
                  {true, kMambaIn, kMambaDt},
                  {a.form.expert_gate_up, kExpertUp, kExpertGate}};
  for (const SourceTensor* t : tensors) {
    const Role role = t->role;
    const uint32_t layer = t->layer;
    for (const auto& row : together)
      if (row.is && row.role == role && !of(row.with, layer))
        return fail(err, LINNET_UNSUPPORTED, "plain GGUF: '", a.gguf, "' cannot say that layer ", layer, " has no ",
                    role_row(row.with).name);
    if (role == kAlibi || role == kFfnXielu) continue;  // put_alibi has compared what readers make, put_xielu has written keys
    if (norm_of_ones(a, role)) {
      LINNET_TRY(check_ones(*t, err));
      continue;
    }
    const std::string blk = "blk." + std::to_string(layer) + ".";
    if (a.form.qkv && (role == kAttnK || role == kAttnV || role == kAttnKBias || role == kAttnVBias)) continue;
    if (a.form.gate_up && role == kFfnGate) continue;
    if (a.form.expert_gate_up && role == kExpertGate) continue;
    if (role == kMambaDt || (a.delta && role == kAttnGate) || (a.form.beta_alpha && role == kDeltaAlpha)) continue;
    if (const uint32_t back = layer_spec(spec, layer).kv_back; a.gemma3n && back && role == kAttnQ)  // asked for, and never read
      for (const Role keys : {kAttnK, kAttnV, kAttnKNorm})
        if (const SourceTensor* other = of(keys, layer - back); other)
          out->push_back({gguf_tensor_name(a, spec, keys, layer), gguf_dims(keys, spec, other->k, other->n, 1), *other});
    if (spec.delta_by_key && (role == kDeltaIn || role == kDeltaTaps)) {
      uint32_t first = 0;
      for (const DeltaPart& part : delta_parts(spec, role)) {
        PlainTensor to = {blk + part.name, gguf_dims(role, spec, t->k, part.rows, 1), *t};
        choose_rows(&to.rows, part.rows, [first](uint32_t i) { return first + i; });
        first += part.rows;
        out->push_back(std::move(to));
      }
      continue;
    }
    if (a.minicpm && role == kAttnKB) {
      const SourceTensor kv_b = kv_b_of(*t, *of(kAttnVB, layer), spec);
      out->push_back({blk + "attn_kv_b.weight", {kv_b.k, kv_b.n}, kv_b});
    }
    if (a.minicpm && (role == kAttnKB || role == kAttnVB)) continue;
    PlainTensor to = {gguf_tensor_name(a, spec, role, layer), {}, *t};
    if (a.form.qkv && role == kAttnQ) to = {blk + "attn_qkv.weight", {}, stacked({*t, *of(kAttnK, layer), *of(kAttnV, layer)})};
    if (a.form.qkv && role == kAttnQBias) to = {blk + "attn_qkv.bias", {}, stacked({*t, *of(kAttnKBias, layer), *of(kAttnVBias, layer)})};
    if (a.delta && spec.attn_gate && role == kAttnQ) LINNET_TRY(fused(spec, HfRows::kGated, {*t, *of(kAttnGate, layer)}, &to.rows, err));
    if (a.form.beta_alpha && role == kDeltaBeta) {
      to.name = blk + "ssm_ba.weight";
      LINNET_TRY(fused(spec, HfRows::kKeyHeads, {*t, *of(kDeltaAlpha, layer)}, &to.rows, err));
    }
    if (a.form.gate_up && role == kFfnUp) to.rows = stacked({*of(kFfnGate, layer), *t});
    if (role == kMambaIn) to.rows = stacked({*t, *of(kMambaDt, layer)});
    if (a.form.expert_gate_up && role == kExpertUp) {
      const uint32_t rows = expert_rows(role, spec), padded = static_cast<uint32_t>(padded_n(rows)), up = spec.n_experts * padded;
      to = {blk + "ffn_gate_up_exps.weight", {t->k, 2 * uint64_t{rows}, spec.n_experts}, stacked({*of(kExpertGate, layer), *t})};
      choose_rows(&to.rows, 2 * rows * spec.n_experts, [=](uint32_t i) {
        const uint32_t row = i % (2 * rows);
        return i / (2 * rows) * padded + (row < rows ? row : up + row - rows);
      });
    } else if (role_row(role).of_experts()) {
      const uint32_t rows = expert_rows(role, spec), padded = static_cast<uint32_t>(padded_n(rows));
      choose_rows(&to.rows, rows * spec.n_experts, [=](uint32_t i) { return i / rows * padded + i % rows; });
      to.dims = gguf_dims(role, spec, t->k, rows, spec.n_experts);
    } else {
      to.dims = gguf_dims(role, spec, t->k, to.rows.n, 1);
    }
    if (role == kAttnKvA)  // the latent first
      choose_rows(&to.rows, t->n,
                  [rope = spec.qk_rope_dim, rank = spec.kv_lora_rank](uint32_t i) { return i < rank ? rope + i : i - rank; });
    if (to.dims[0] == 0) return fail(err, LINNET_BAD_STATE, "plain GGUF: tensor '", to.name, "' is empty");
    out->push_back(std::move(to));
  }
  return LINNET_OK;
}

void put_size_keys(const ModelSpec& s, const std::string& p, const char* norm_eps, uint32_t d_ff, bool absorbed, GgufBuilder* b) {
  b->u32(p + "context_length", s.n_context);
  b->u32(p + "embedding_length", s.d_model);
  b->u32(p + "block_count", s.n_layers);
  b->f32(p + norm_eps, static_cast<float>(s.norm_eps));
  std::vector<int32_t> heads, widths;
  bool attends = false, feeds = false, passed = false, beside = false;  // some layers do, some do not feed
  bool wider = s.streams, fewer = false;                                // some layers than others, or in a family whose files have lists
  uint32_t head_dim = absorbed ? s.head_dim : s.qk_nope_dim + s.qk_rope_dim;  // of layers that see all
  for (uint32_t i = s.n_layers; i--;)
    if (const LayerSpec l = layer_spec(s, i); !l.window && !s.kv_lora_rank) head_dim = l.head_dim;
  for (uint32_t i = 0; i < s.n_layers; ++i) {
    const LayerSpec l = layer_spec(s, i);
    beside = beside || l.mixer == kMixerAttentionMamba;
    const bool heads_of_own = l.mixer == kMixerAttention || l.mixer == kMixerLatent;
    attends = attends || heads_of_own || beside;
    feeds = feeds || l.feed_forward != kFeedForwardNothing;
    passed = passed || l.feed_forward == kFeedForwardNothing;
    wider = wider || (l.feed_forward == kFeedForwardDense && l.d_ff != s.d_ff);
    fewer = fewer || (l.mixer == kMixerAttention && l.n_kv_heads != s.n_kv_heads);
    heads.push_back(heads_of_own ? static_cast<int32_t>(l.n_kv_heads) : 0);
    widths.push_back(static_cast<int32_t>(l.feed_forward == kFeedForwardNothing   ? 0
                                          : l.feed_forward == kFeedForwardExperts ? s.expert_ff
                                                                                  : l.d_ff));
  }
  if ((passed && feeds) || wider)
    b->i32s(p + "feed_forward_length", widths);
  else
    b->u32(p + "feed_forward_length", passed ? 0 : d_ff);
  b->u32(p + "attention.head_count", attends || feeds ? s.n_heads : 0);
  if (!attends && !feeds) return;  // Mamba-2 alone
  if (fewer || ((s.conv_taps || passed) && !beside && (!s.delta_value_heads || s.delta_by_key)))
    b->i32s(p + "attention.head_count_kv", heads);
  else
    b->u32(p + "attention.head_count_kv", absorbed ? s.n_kv_heads : s.n_heads);
  b->u32(p + "attention.key_length", head_dim);
  b->u32(p + "attention.value_length", !absorbed ? s.v_head_dim : s.kv_lora_rank ? s.kv_lora_rank : head_dim);
}

Status put_plain_keys(const Source& source, GgufBuilder* b, Error* err) {
  const ModelSpec& s = source.ahead ? source.ahead->spec : source.spec;  // files count these layers among the others
  const Architecture& a = family(s);
  const std::string p = std::string(gguf_architecture(a, s)) + ".";
  if (s.n_ahead) b->u32(p + "nextn_predict_layers", s.n_ahead);
  put_size_keys(s, p, norm_eps_key(a), shared_by_key(a, s) ? s.expert_ff : s.d_ff, !a.minicpm, b);
  if (s.kv_lora_rank) {
    if (s.q_lora_rank) b->u32(p + "attention.q_lora_rank", s.q_lora_rank);
    b->u32(p + "attention.kv_lora_rank", s.kv_lora_rank);
    if (!a.minicpm) b->u32(p + "attention.key_length_mla", s.qk_nope_dim + s.qk_rope_dim);
    if (!a.minicpm) b->u32(p + "attention.value_length_mla", s.v_head_dim);
  }
  b->u32(p + "vocab_size", s.n_vocab);
  if (a.gemma3n || a.gemma4) {
    uint32_t shared = 0;
    for (uint32_t i = 0; i < s.n_layers; ++i) shared += layer_spec(s, i).kv_back != 0;
    b->u32(p + "attention.shared_kv_layers", shared);
    b->u32(p + "embedding_length_per_layer_input", s.layer_embd);
  }
  if (a.gemma3n) {
    std::vector<float> cuts;
    for (uint32_t i = 0; i < s.n_layers; ++i) cuts.push_back(layer_spec(s, i).sparse ? static_cast<float>(s.sparse_cut) : -INFINITY);
    b->u32(p + "altup.num_inputs", s.streams);
    b->u32(p + "altup.active_idx", 0);
    b->f32s(p + "activation_sparsity_scale", cuts);
  }
  if (a.gemma4) {
    b->u32(p + "attention.key_length_swa", s.head_dim);
    b->u32(p + "attention.value_length_swa", s.head_dim);
    b->u32(p + "rope.dimension_count_swa", s.rope_local_dim);
  }
  if (a.short_conv) b->u32(p + "shortconv.l_cache", s.conv_taps);
  if (a.delta) put_delta_nets(a, s, p, b);
  if (s.mamba_heads) {
    b->u32(p + "ssm.conv_kernel", s.conv_taps);
    b->u32(p + "ssm.state_size", s.mamba_state_dim);
    b->u32(p + "ssm.group_count", s.mamba_groups);
    b->u32(p + "ssm.inner_size", s.mamba_heads * s.mamba_head_dim);
    b->u32(p + "ssm.time_step_rank", s.mamba_heads);
    if (!a.mamba_alone && !a.mamba_beside) b->boolean(p + "rope.scaling.finetuned", s.rope_kind != kRopeNone);
    if (shared_by_key(a, s)) b->u32(p + "expert_shared_feed_forward_length", s.shared_ff);
  }
  if (a.falcon) b->text(p + "tensor_data_layout", "jploski");
  for (const HfFlag& f : a.flags)
    if (f.key && std::string_view(f.key) == "use_parallel_residual") b->boolean(p + f.key, s.residual == f.if_true);
  for (const GgufNumber& n : a.form.numbers) {
    if (!n.key || !(s.*n.field > 0 || n.absent > 0)) continue;
    b->f32(p + n.key, static_cast<float>(n.inverse ? 1 / s.*n.field : s.*n.field));
  }
  if (s.window || a.absent.rope_original) b->u32(p + "attention.sliding_window", s.bidirectional ? 2 * (s.window - 1) : s.window);
  if (s.window && a.absent.window_pattern) {
    std::vector<bool> windowed;
    for (uint32_t i = 0; i < s.n_layers; ++i) windowed.push_back(layer_spec(s, i).window != 0);
    b->booleans(p + "attention.sliding_window_pattern", windowed);
  }
  put_rope(a, s, p, b);
  put_experts(a, s, p, b);
  if (s.pooling) b->u32(p + "pooling_type", s.pooling == kPoolingMean ? 1 : s.pooling == kPoolingCls ? 2 : 3);
  if (s.dense_mid) {
    b->u32(p + "dense_2_feat_in", s.d_model);
    b->u32(p + "dense_2_feat_out", s.dense_mid);
    b->u32(p + "dense_3_feat_in", s.dense_mid);
    b->u32(p + "dense_3_feat_out", s.dense_out);
  }
  if (s.activation == kActXielu) LINNET_TRY(put_xielu(source, b, err));
  return s.alibi ? put_alibi(source, a, p, b, err) : LINNET_OK;
}

Status check_plain(const ModelSpec& spec, const GgufBuilder& b, Error* err) {
  ModelSpec read = {}, want = spec;
  std::shared_ptr<void> layers;
  LINNET_TRY(spec_of_plain(b.header(), b.file_bytes(), &read, &layers, err));
  for (uint32_t i = 0; i < spec.n_layers && i < read.n_layers; ++i) {
    const LayerSpec x = layer_spec(want, i), y = layer_spec(read, i);
    for (const LayerField& f : kLayerFields)
      if (std::memcmp(reinterpret_cast<const char*>(&x) + f.offset, reinterpret_cast<const char*>(&y) + f.offset, sizeof(uint32_t)) != 0 &&
          (want.layer_values[&f - kLayerFields] || read.layer_values[&f - kLayerFields]))
        return fail(err, LINNET_UNSUPPORTED, "plain GGUF: '", family(spec).gguf, "' cannot say ", f.name, " of each layer");
  }
  // 0 stands for what goes without saying.
  for (ModelSpec* s : {&read, &want}) {
    const uint32_t dim = s->kv_lora_rank ? s->qk_nope_dim + s->qk_rope_dim : s->head_dim;
    if (s->attn_scale == 0) s->attn_scale = 1 / std::sqrt(static_cast<double>(dim));
    for (double ModelSpec::* scale : {&ModelSpec::rope_attn_factor, &ModelSpec::embd_scale, &ModelSpec::residual_scale,
                                      &ModelSpec::logit_scale, &ModelSpec::router_scale})
      if (s->*scale == 0) s->*scale = 1;
  }
  for (size_t i = 0; i < kSpecFieldCount; ++i) {
    const SpecField& f = kSpecFields[i];
    const char *x = reinterpret_cast<const char*>(&want) + f.offset, *y = reinterpret_cast<const char*>(&read) + f.offset;
    uint32_t m, n;
    double d, e;
    std::memcpy(&m, x, sizeof m), std::memcpy(&n, y, sizeof n);
    if (f.type == SpecType::kU32 && m != n)
      return fail(err, LINNET_UNSUPPORTED, "plain GGUF: '", family(spec).gguf, "' cannot say ", f.name, " = ", m);
    if (f.type != SpecType::kF64) continue;
    std::memcpy(&d, x, sizeof d), std::memcpy(&e, y, sizeof e);
    if (static_cast<float>(d) != static_cast<float>(e))
      return fail(err, LINNET_UNSUPPORTED, "plain GGUF: '", family(spec).gguf, "' cannot say ", f.name, " = ", std::to_string(d));
  }
  return LINNET_OK;
}

}  // namespace linnet::convert
