#include "spec.h"

#include "layers/sizes.h"

namespace linnet {
namespace {

using enum SpecType;

#define FIELD(name, type, min, max, ...) \
  {#name, type, static_cast<uint16_t>(offsetof(ModelSpec, name)), min, max __VA_OPT__(, ) __VA_ARGS__}

// Names are put together without a heap; they are cut, never overrun.
struct Name {
  char text[128];
  size_t n = 0;
  Name& add(const char* s) {
    while (*s && n + 1 < sizeof text) text[n++] = *s++;
    text[n] = '\0';
    return *this;
  }
  std::string_view view() const { return {text, n}; }
};

using namespace sizes;
uint32_t embd_dim(const ModelSpec& s, const LayerSpec&) { return s.embd_dim ? s.embd_dim : s.d_model; }
uint32_t positions(const ModelSpec& s, const LayerSpec&) { return s.positions; }
uint32_t n_vocab(const ModelSpec& s, const LayerSpec&) { return s.n_vocab; }
uint32_t n_slopes(const ModelSpec& s, const LayerSpec&) { return s.n_heads; }
uint32_t rope_pairs(const ModelSpec& s, const LayerSpec&) { return s.rope_dim / 2; }
uint32_t layer_embd_all(const ModelSpec& s, const LayerSpec&) { return s.n_layers * s.layer_embd; }
uint32_t layer_embd_rows(const ModelSpec& s, const LayerSpec&) { return s.layer_embd_vocab * s.n_layers; }
uint32_t other_streams(const ModelSpec& s, const LayerSpec&) { return (kStreams - 1) * s.d_model; }
bool untied(const ModelSpec& s, const LayerSpec&) { return s.n_layers > 0 && !s.tied && !s.headless; }
bool has_freqs(const ModelSpec& s, const LayerSpec&) { return s.rope_freqs; }
bool has_long(const ModelSpec& s, const LayerSpec&) { return s.rope_scaling == kRopeScaleLong; }
bool has_positions(const ModelSpec& s, const LayerSpec&) { return s.positions; }
bool has_embd_norm(const ModelSpec& s, const LayerSpec&) { return s.embd_norm; }
bool has_embd_norm_bias(const ModelSpec& s, const LayerSpec&) { return s.embd_norm && s.norm_bias; }
bool has_embd_dim(const ModelSpec& s, const LayerSpec&) { return s.embd_dim; }
bool has_final_norm(const ModelSpec& s, const LayerSpec&) { return s.n_layers > 0 && !s.no_final_norm; }
bool has_final_norm_bias(const ModelSpec& s, const LayerSpec&) { return s.norm_bias && !s.no_final_norm; }
bool has_head_bias(const ModelSpec& s, const LayerSpec&) { return s.head_bias && !s.headless; }
uint32_t dense_mid(const ModelSpec& s, const LayerSpec&) { return s.dense_mid; }
uint32_t dense_out(const ModelSpec& s, const LayerSpec&) { return s.dense_out; }
uint32_t dense_in(const ModelSpec& s, const LayerSpec&) { return s.dense_mid ? s.dense_mid : s.d_model; }
bool has_dense_mid(const ModelSpec& s, const LayerSpec&) { return s.dense_mid; }
bool has_dense_mid_bias(const ModelSpec& s, const LayerSpec&) { return s.dense_mid && s.dense_bias; }
bool has_dense(const ModelSpec& s, const LayerSpec&) { return s.dense_out; }
bool has_dense_bias(const ModelSpec& s, const LayerSpec&) { return s.dense_out && s.dense_bias; }
bool has_alibi(const ModelSpec& s, const LayerSpec&) { return s.alibi; }
bool has_attn_norm_bias(const ModelSpec& s, const LayerSpec& l) { return s.norm_bias && norm_before(s, l) && l.mixer != kMixerNoMixer; }
bool has_ffn_norm(const ModelSpec& s, const LayerSpec& l) {
  return norm_before(s, l) && s.residual != kResidualParallel && l.feed_forward != kFeedForwardNothing;
}
bool has_ffn_norm_bias(const ModelSpec& s, const LayerSpec& l) { return s.norm_bias && has_ffn_norm(s, l); }
bool has_post_norms(const ModelSpec& s, const LayerSpec& l) { return residual_of(s, l) >= kResidualPost; }
bool has_post_norm_biases(const ModelSpec& s, const LayerSpec& l) { return s.norm_bias && has_post_norms(s, l); }

uint32_t two_d_model(const ModelSpec& s, const LayerSpec&) { return 2 * s.d_model; }
bool has_ahead(const ModelSpec& s, const LayerSpec&) { return s.n_ahead > 0; }
bool has_ahead_embd(const ModelSpec& s, const LayerSpec&) { return s.ahead & kAheadEmbd; }
bool has_ahead_head_norm(const ModelSpec& s, const LayerSpec&) { return s.ahead & kAheadHeadNorm; }
bool has_ahead_head(const ModelSpec& s, const LayerSpec&) { return s.ahead & kAheadHead; }

uint32_t get_u32(const ModelSpec& s, const SpecField& f) {
  uint32_t v;
  std::memcpy(&v, reinterpret_cast<const char*>(&s) + f.offset, sizeof v);
  return v;
}
double get_f64(const ModelSpec& s, const SpecField& f) {
  double v;
  std::memcpy(&v, reinterpret_cast<const char*>(&s) + f.offset, sizeof v);
  return v;
}

Status read_field(const Gguf& file, uint32_t version, const SpecField& f, ModelSpec* out, Error* err) {
  Name key;
  key.add("linnet.spec.").add(f.name);
  GgufValue v;
  if (!file.key(key.view(), &v))
    return version < f.since ? LINNET_OK : fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "' is missing");
  char* to = reinterpret_cast<char*>(out) + f.offset;
  if (f.type == kU32 && v.type == kGgufU32) {
    const auto u = static_cast<uint32_t>(v.u);
    std::memcpy(to, &u, sizeof u);
  } else if (f.type == kF64 && v.type == kGgufF64) {
    std::memcpy(to, &v.f, sizeof v.f);
  } else if (f.type == kText && v.type == kGgufString) {
    if (v.text.size() >= sizeof out->architecture || std::memchr(v.text.data(), 0, v.text.size()))
      return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': a text of ", v.text.size(),
                  " bytes is too long or holds a NUL");
    std::memcpy(to, v.text.data(), v.text.size());
  } else {
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': value type ", v.type, " is not the field's");
  }
  return LINNET_OK;
}

constexpr std::string_view kSpecPrefix = "linnet.spec.", kLayerPrefix = "linnet.layer.";
constexpr uint32_t kLayersVersion = 4;  // since when layers may differ

// What follows the prefix; empty where the key does not begin with it.
std::string_view behind(std::string_view key, std::string_view prefix) {
  if (key.size() <= prefix.size() || std::memcmp(key.data(), prefix.data(), prefix.size()) != 0) return {};
  return {key.data() + prefix.size(), key.size() - prefix.size()};
}

// A field of all layers, or nullptr where the file leaves it to the spec.
Status read_layers(const Gguf& file, const LayerField& f, uint32_t n_layers, const uint8_t** out, Error* err) {
  Name key;
  key.add("linnet.layer.").add(f.name);
  GgufValue v;
  if (!file.key(key.view(), &v)) return LINNET_OK;
  if (v.type != kGgufArray || v.array_type != kGgufU32 || v.count != n_layers)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': not an array of ", n_layers, " u32");
  *out = reinterpret_cast<const uint8_t*>(v.raw.data());
  return LINNET_OK;
}

// u64[4] of linnet.tensor.<name>.
Status read_shape(const Gguf& file, std::string_view key, uint64_t* out, Error* err) {
  GgufValue v;
  if (!file.key(key, &v)) return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "' is missing");
  if (v.type != kGgufArray || v.array_type != kGgufU64 || v.count != 4)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "': not an array of four u64");
  std::memcpy(out, v.raw.data(), 4 * sizeof *out);
  return LINNET_OK;
}

// The bytes of a tensor, readable up to their rounding to 64.
Status read_place(const Gguf& file, const GgufTensor& t, uint32_t type, uint64_t bytes, Error* err) {
  if (t.type != type || t.n_dims != 1)
    return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", t.name, "': not ", ggml_type(type).name, " of one dimension");
  if (t.bytes != bytes) return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", t.name, "': ", t.bytes, " bytes, not ", bytes);
  if (reinterpret_cast<uintptr_t>(t.data) % 64)
    return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", t.name, "': its place in memory, offset ", t.offset,
                ", is not aligned to 64");
  if (!fits(t.offset, align_up(t.bytes, 64), file.bytes))
    return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", t.name, "': the file ends before its padding to 64 bytes");
  return LINNET_OK;
}

}  // namespace

const SpecField kSpecFields[] = {
    FIELD(architecture, kText, 1, 31),
    FIELD(n_layers, kU32, 0, kMaxLayers),
    FIELD(d_model, kU32, 1, 65536),
    FIELD(n_heads, kU32, 1, 1024),
    FIELD(n_kv_heads, kU32, 1, 1024),
    FIELD(head_dim, kU32, 1, 1024),
    FIELD(d_ff, kU32, 1, 1 << 20),
    FIELD(n_vocab, kU32, 1, 1 << 22),
    FIELD(n_context, kU32, 1, 1 << 24),
    FIELD(norm_eps, kF64, 1e-12, 1),
    FIELD(rope_kind, kU32, kRopeNone, kRopePairs),
    FIELD(rope_dim, kU32, 0, 1024),
    FIELD(rope_base, kF64, 1, 1e12),
    FIELD(rope_scaling, kU32, kRopeScaleNone, kRopeScaleYarn, 1, kRopeScaleLlama3),
    FIELD(rope_factor, kF64, 1e-3, 1e6),
    FIELD(rope_low, kF64, 0, 1e6),
    FIELD(rope_high, kF64, 0, 1e6),
    FIELD(rope_original, kU32, 0, 1 << 24),
    FIELD(rope_freqs, kU32, 0, 1),
    FIELD(activation, kU32, kActSilu, kActXielu, 1, kActSilu, kActSigmoid),
    FIELD(qkv_bias, kU32, 0, 1),
    FIELD(out_bias, kU32, 0, 1),
    FIELD(mlp_bias, kU32, 0, 1),
    FIELD(qk_norm, kU32, kQkNormNone, kQkNormLayerShared, 1, kQkNormHead),
    FIELD(tied, kU32, 0, 1),
    FIELD(window, kU32, 0, 1 << 24, 2),
    FIELD(window_pattern, kU32, 0, 1024, 2),
    FIELD(window_from, kU32, 0, 1024, 2),
    FIELD(attn_softcap, kF64, 0, 1e6, 2),
    FIELD(attn_sinks, kU32, 0, 1, 2),
    FIELD(kv_lora_rank, kU32, 0, 1024, 2),
    FIELD(q_lora_rank, kU32, 0, 65536, 2),
    FIELD(qk_nope_dim, kU32, 0, 1024, 2),
    FIELD(qk_rope_dim, kU32, 0, 1024, 2),
    FIELD(v_head_dim, kU32, 0, 1024, 2),
    FIELD(norm, kU32, kNormRms, kNormLayer, 3),
    FIELD(norm_bias, kU32, 0, 1, 3),
    FIELD(residual, kU32, kResidualSerial, kResidualByMixer, 3, kResidualAfter, kResidualAfter),
    FIELD(no_final_norm, kU32, 0, 1, 3),
    FIELD(ungated, kU32, 0, 1, 3),
    FIELD(head_bias, kU32, 0, 1, 3),
    FIELD(positions, kU32, 0, 1 << 24, 3),
    FIELD(position_offset, kU32, 0, 1024, 3),
    FIELD(alibi, kU32, 0, 1, 3),
    FIELD(nope_pattern, kU32, 0, 1024, 3),
    FIELD(rope_local_base, kF64, 0, 1e12, 3),
    FIELD(rope_attn_factor, kF64, 0, 1e3, 3),
    FIELD(attn_scale, kF64, 0, 1e6, 3),
    FIELD(embd_scale, kF64, 0, 1e6, 3),
    FIELD(residual_scale, kF64, 0, 1e6, 3),
    FIELD(logit_scale, kF64, 0, 1e6, 3),
    FIELD(logit_softcap, kF64, 0, 1e6, 3),
    FIELD(clip_qkv, kF64, 0, 1e6, 3),
    FIELD(embd_norm, kU32, 0, 1, 3),
    FIELD(embd_dim, kU32, 0, 65536, 3),
    FIELD(n_experts, kU32, 0, 1024, 3),
    FIELD(n_active, kU32, 0, 64, 3),
    FIELD(expert_ff, kU32, 0, 1 << 18, 3),
    FIELD(moe_first, kU32, 0, 1024, 3),
    FIELD(moe_step, kU32, 0, 1024, 3),
    FIELD(shared_ff, kU32, 0, 1 << 20, 3),
    FIELD(shared_gate, kU32, 0, 1, 3),
    FIELD(router_kind, kU32, kRouterSoftmax, kRouterMixer, 3, 1e300, kRouterSigmoid),
    FIELD(router_norm, kU32, 0, 1, 3),
    FIELD(router_scale, kF64, 0, 1e6, 3),
    FIELD(router_groups, kU32, 0, 1024, 3),
    FIELD(router_top_groups, kU32, 0, 1024, 3),
    FIELD(router_group_best, kU32, 0, 2, 3),
    FIELD(router_correction, kU32, 0, 1, 3),
    FIELD(router_bias, kU32, 0, 1, 3),
    FIELD(expert_bias, kU32, 0, 1, 3),
    FIELD(expert_capacity, kU32, 0, 1 << 24, 3),
    FIELD(router_input, kU32, 0, 1, 3),
    FIELD(window_chunks, kU32, 0, 1, 3),
    FIELD(temp_scale, kF64, 0, 1e3, 3),
    FIELD(temp_positions, kU32, 0, 1 << 24, 3),
    FIELD(temp_all, kU32, 0, 1, 3),
    FIELD(act_limit, kF64, 0, 1e6, 3),
    FIELD(rope_untruncated, kU32, 0, 1, 3),
    FIELD(rope_local_dim, kU32, 0, 1024, 4),
    FIELD(conv_taps, kU32, 0, kMostTaps, 6),
    FIELD(delta_key_heads, kU32, 0, 1024, 6),
    FIELD(delta_value_heads, kU32, 0, 1024, 6),
    FIELD(delta_key_dim, kU32, 0, kMostDeltaDim, 6),
    FIELD(delta_value_dim, kU32, 0, kMostDeltaDim, 6),
    FIELD(delta_tiled, kU32, 0, 1, 6),
    FIELD(delta_negative, kU32, 0, 1, 6),
    FIELD(delta_by_key, kU32, 0, 1, 6),
    FIELD(delta_eps, kF64, 0, 1, 6),
    FIELD(mamba_heads, kU32, 0, 1024, 6),
    FIELD(mamba_groups, kU32, 0, 1024, 6),
    FIELD(mamba_head_dim, kU32, 0, kMostDeltaDim, 6),
    FIELD(mamba_state_dim, kU32, 0, kMostDeltaDim, 6),
    FIELD(mamba_conv_bias, kU32, 0, 1, 6),
    FIELD(mamba_norm, kU32, kMambaNormNone, kMambaNormFirst, 6),
    FIELD(mamba_dt_min, kF64, 0, 1e6, 6),
    FIELD(mamba_dt_max, kF64, 0, 1e6, 6),
    FIELD(attn_gate, kU32, 0, 1, 6),
    FIELD(rope_turned, kU32, 0, 1024, 6),
    FIELD(v_norm, kU32, 0, 1, 6),
    FIELD(values_of_keys, kU32, 0, 1, 6),
    FIELD(layer_scale, kU32, 0, 1, 6),
    FIELD(layer_embd, kU32, 0, 1024, 6),
    FIELD(layer_embd_vocab, kU32, 0, 1 << 22, 6),
    FIELD(moe_beside, kU32, 0, 1, 6),
    FIELD(streams, kU32, 0, kStreams, 6),
    FIELD(laurel_rank, kU32, 0, 65536, 6),
    FIELD(sparse_cut, kF64, 0, 100, 6),
    FIELD(router_near, kF64, 0, 2, 6),
    FIELD(bidirectional, kU32, 0, 1, 7),
    FIELD(headless, kU32, 0, 1, 7),
    FIELD(pooling, kU32, kPoolingNone, kPoolingCls, 7),
    FIELD(pool_raw, kU32, 0, 1, 7),
    FIELD(dense_mid, kU32, 0, 65536, 7),
    FIELD(dense_out, kU32, 0, 65536, 7),
    FIELD(dense_bias, kU32, 0, 1, 7),
    FIELD(inner_norm, kU32, 0, 1, 7),
};
const size_t kSpecFieldCount = sizeof kSpecFields / sizeof *kSpecFields;

namespace {

const TensorRole *const kNoMixerRoles = nullptr, *const kAttentionMambaRoles = nullptr, *const kNothingRoles = nullptr;
const TensorRole kModelRoles[] = {LINNET_MODEL_ROLES(LINNET_MODEL_ROLE)};
const TensorRole kNormRoles[] = {LINNET_NORM_ROLES(LINNET_LAYER_ROLE)};
const TensorRole kAheadRoles[] = {LINNET_AHEAD_ROLES(LINNET_LAYER_ROLE)};

// In the order of Role.
const struct {
  const TensorRole* rows;
  uint32_t n;
} kRoleGroups[] = {
    {kModelRoles, LINNET_MODEL_ROLES(LINNET_ROLE_PLUS_ONE)},
#define LINNET_MIXER(name, roles) {k##name##Roles, 0 LINNET_##roles##_ROLES(LINNET_ROLE_PLUS_ONE)},
#include "layers/kinds.inc"
    {kNormRoles, LINNET_NORM_ROLES(LINNET_ROLE_PLUS_ONE)},
#define LINNET_FEED_FORWARD(name, roles) {k##name##Roles, 0 LINNET_##roles##_ROLES(LINNET_ROLE_PLUS_ONE)},
#include "layers/kinds.inc"
    {kLayerInputRoles, LINNET_LAYER_INPUT_ROLES(LINNET_ROLE_PLUS_ONE)},
    {kStreamRoles, LINNET_STREAM_ROLES(LINNET_ROLE_PLUS_ONE)},
    {kAheadRoles, LINNET_AHEAD_ROLES(LINNET_ROLE_PLUS_ONE)},
};

}  // namespace

const TensorRole& role_row(Role role) {
  uint32_t i = role, g = 0;
  for (; i >= kRoleGroups[g].n; ++g) i -= kRoleGroups[g].n;
  return kRoleGroups[g].rows[i];
}

uint32_t role_n(Role role, uint32_t layer, const ModelSpec& s) { return role_row(role).n(s, layer_spec(s, layer)); }
uint32_t role_k(Role role, uint32_t layer, const ModelSpec& s) { return role_row(role).k(s, layer_spec(s, layer)); }
bool role_present(Role role, uint32_t layer, const ModelSpec& s) { return role_row(role).present(s, layer_spec(s, layer)); }

namespace {

// Sizes of which the parts of a latent page and the panels of a head's matrices are whole numbers.
Status check_latent(const ModelSpec& s, Error* err, PathName label) {
  if (!s.kv_lora_rank) {
    if (s.q_lora_rank || s.qk_nope_dim || s.qk_rope_dim || s.v_head_dim)
      return fail(err, LINNET_BAD_FILE, label, ": q_lora_rank, qk_nope_dim, qk_rope_dim and v_head_dim are ", s.q_lora_rank, ", ",
                  s.qk_nope_dim, ", ", s.qk_rope_dim, " and ", s.v_head_dim, " without kv_lora_rank");
    return LINNET_OK;
  }
  if (s.kv_lora_rank % 32) return fail(err, LINNET_UNSUPPORTED, label, ": kv_lora_rank = ", s.kv_lora_rank, " is no multiple of 32");
  if (s.qk_rope_dim == 0 || s.qk_rope_dim % 32)
    return fail(err, LINNET_UNSUPPORTED, label, ": qk_rope_dim = ", s.qk_rope_dim, " is 0 or no multiple of 32");
  if (s.v_head_dim == 0 || s.v_head_dim % kPanel)
    return fail(err, LINNET_UNSUPPORTED, label, ": v_head_dim = ", s.v_head_dim, " is 0 or no multiple of ", kPanel);
  if (s.qk_nope_dim == 0) return fail(err, LINNET_BAD_FILE, label, ": qk_nope_dim = 0 beside kv_lora_rank = ", s.kv_lora_rank);
  if (s.n_kv_heads != 1 || s.head_dim != s.qk_rope_dim + s.kv_lora_rank ||
      (s.rope_dim != s.qk_rope_dim && (s.rope_dim || s.rope_kind != kRopeNone)))
    return fail(err, LINNET_BAD_FILE, label, ": n_kv_heads, head_dim and rope_dim are ", s.n_kv_heads, ", ", s.head_dim, " and ",
                s.rope_dim, ", not those of a latent: 1, ", s.qk_rope_dim + s.kv_lora_rank, " and ", s.qk_rope_dim);
  if (s.qkv_bias || s.qk_norm)
    return fail(err, LINNET_UNSUPPORTED, label, ": qkv_bias = ", s.qkv_bias, " or qk_norm = ", s.qk_norm, " beside kv_lora_rank");
  return LINNET_OK;
}

Status check_moe(const ModelSpec& s, Error* err, PathName label) {
  if (s.router_near > 0 && s.router_kind != kRouterMixer)
    return fail(err, LINNET_UNSUPPORTED, label, ": router_near beside router_kind = ", s.router_kind);
  if (!s.n_experts) {
    if (s.n_active || s.expert_ff || s.shared_ff || s.shared_gate || s.router_correction || s.router_bias || s.expert_bias ||
        s.router_groups || s.expert_capacity || s.moe_beside)
      return fail(err, LINNET_BAD_FILE, label, ": n_active, expert_ff, shared_ff or a field of the router beside n_experts = 0");
    return LINNET_OK;
  }
  if (s.n_active == 0 || s.n_active > s.n_experts)
    return fail(err, LINNET_BAD_FILE, label, ": n_active = ", s.n_active, " of n_experts = ", s.n_experts);
  if (s.expert_ff == 0) return fail(err, LINNET_BAD_FILE, label, ": expert_ff = 0 beside n_experts = ", s.n_experts);
  if (s.moe_beside && (!s.shared_ff || s.shared_gate || s.router_input || s.ungated || s.residual != kResidualSandwich))
    return fail(err, LINNET_UNSUPPORTED, label,
                ": moe_beside = 1 beside shared_ff, shared_gate, router_input, ungated and residual = ", s.shared_ff, ", ", s.shared_gate,
                ", ", s.router_input, ", ", s.ungated, " and ", s.residual);
  if (s.shared_gate && !s.shared_ff) return fail(err, LINNET_BAD_FILE, label, ": shared_gate = 1 beside shared_ff = 0");
  if (s.ungated && (s.expert_bias || s.router_input))
    return fail(err, LINNET_UNSUPPORTED, label, ": ungated = 1 beside expert_bias = ", s.expert_bias,
                " or router_input = ", s.router_input);
  if (s.router_kind == kRouterMixer && (s.n_active != 2 || s.router_norm || s.router_correction || s.router_groups))
    return fail(err, LINNET_UNSUPPORTED, label, ": router_kind = ", s.router_kind, " (sparse mixer) beside n_active = ", s.n_active,
                ", router_norm = ", s.router_norm, ", router_correction = ", s.router_correction, " or router_groups = ", s.router_groups);
  if (!s.router_groups) return LINNET_OK;
  const uint32_t size = s.n_experts / s.router_groups;
  if (s.n_experts % s.router_groups || s.router_top_groups == 0 || s.router_top_groups > s.router_groups || s.router_group_best == 0 ||
      s.router_group_best > size || s.n_active > s.router_top_groups * size)
    return fail(err, LINNET_BAD_FILE, label, ": router_groups, router_top_groups and router_group_best are ", s.router_groups, ", ",
                s.router_top_groups, " and ", s.router_group_best, " beside n_experts = ", s.n_experts, " and n_active = ", s.n_active);
  return LINNET_OK;
}

// A layer as the model's fields say it.
LayerSpec layer_of_model(const ModelSpec& s, uint32_t layer) {
  const bool sees_all = layer < s.window_from || (s.window_pattern && (layer + 1) % s.window_pattern == 0);
  const bool experts = s.n_experts && layer >= s.moe_first && (s.moe_step == 0 || (layer - s.moe_first) % s.moe_step == 0);
  const bool no_rope = s.rope_kind == kRopeNone || (s.nope_pattern && (layer + 1) % s.nope_pattern == 0);
  LayerSpec l;
  l.mixer = s.kv_lora_rank ? kMixerLatent : kMixerAttention;
  l.feed_forward = experts ? kFeedForwardExperts : kFeedForwardDense;
  l.n_heads = s.n_heads, l.n_kv_heads = s.n_kv_heads, l.head_dim = s.head_dim;
  l.d_ff = s.d_ff;
  l.window = sees_all ? 0 : s.window;
  l.kv_back = l.orders = l.sparse = 0;
  l.rope = no_rope ? LayerRope::kNone : s.rope_local_base > 0 && l.window ? LayerRope::kLocal : LayerRope::kMain;
  return l;
}

// And what layer_values say instead. Returns whether they say anything.
bool read_layer(const ModelSpec& s, uint32_t layer, LayerSpec* l) {
  bool said = false;
  for (uint32_t f = 0; f < kLayerFieldCount; ++f) {
    if (!s.layer_values[f]) continue;
    said = true;
    std::memcpy(reinterpret_cast<char*>(l) + kLayerFields[f].offset, s.layer_values[f] + size_t{layer} * sizeof(uint32_t),
                sizeof(uint32_t));
  }
  return said;
}

Status check_layer(const ModelSpec& s, uint32_t i, const LayerSpec& l, Error* err, PathName label) {
  for (const LayerField& f : kLayerFields) {
    uint32_t v;
    std::memcpy(&v, reinterpret_cast<const char*>(&l) + f.offset, sizeof v);
    if (v < f.min || v > f.max)
      return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": ", f.name, " = ", v, " is outside ", f.min, " to ", f.max);
  }
  if (l.n_heads % l.n_kv_heads)
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": n_heads = ", l.n_heads, " is no multiple of n_kv_heads = ", l.n_kv_heads);
  if (l.n_heads * l.head_dim > 131072u)
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": n_heads * head_dim = ", l.n_heads * l.head_dim, " is more than ", 131072);
  const uint32_t channels = rope_channels(s, l.rope);
  if (l.rope != LayerRope::kNone && (channels == 0 || channels > l.head_dim))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": RoPE of ", channels, " channels, where head_dim = ", l.head_dim);
  if (l.rope == LayerRope::kLocal && !(s.rope_local_base > 0))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": rope = ", static_cast<uint32_t>(l.rope), " beside rope_local_base = 0");
  if (s.alibi && l.n_heads != s.n_heads)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": n_heads = ", l.n_heads, " beside slopes of ALiBi for ", s.n_heads);
  if ((l.mixer == kMixerLatent) != (s.kv_lora_rank != 0) && !(l.mixer == kMixerDelta && s.kv_lora_rank))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": mixer = ", uint32_t{l.mixer}, " beside kv_lora_rank = ", s.kv_lora_rank);
  const LayerRope of_model = s.rope_kind == kRopeNone ? LayerRope::kNone : LayerRope::kMain;
  if (l.mixer == kMixerLatent && (l.n_heads != s.n_heads || l.n_kv_heads != 1 || l.head_dim != s.head_dim || l.rope != of_model))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": n_heads, n_kv_heads, head_dim and rope = ", l.n_heads, ", ", l.n_kv_heads,
                ", ", l.head_dim, ", ", static_cast<uint32_t>(l.rope), " are not those of the model's latent");
  if (l.mixer == kMixerConv && (s.conv_taps < 2 || l.window || l.rope != LayerRope::kNone))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": conv_taps, window and rope = ", s.conv_taps, ", ", l.window, ", ",
                static_cast<uint32_t>(l.rope), " of a short convolution, must be 2 and more, 0 and 0");
  if (l.mixer == kMixerDelta) {
    if (s.conv_taps < 2 || l.window || l.rope != LayerRope::kNone || !s.delta_key_heads || !s.delta_key_dim || !s.delta_value_dim ||
        !s.delta_value_heads || s.delta_value_heads % s.delta_key_heads)
      return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": a gated delta net of conv_taps = ", s.conv_taps, ", ", s.delta_key_heads,
                  " key heads of ", s.delta_key_dim, " and ", s.delta_value_heads, " value heads of ", s.delta_value_dim,
                  ", window and rope ", l.window, " and ", static_cast<uint32_t>(l.rope));
    const uint32_t n = (s.delta_by_key ? 3 : 2) * s.delta_key_dim + s.delta_value_heads / s.delta_key_heads * s.delta_value_dim;
    if (n > kMostDeltaFloats)
      return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": a gated delta net whose key heads with their values have ", n,
                  " channels, more than ", kMostDeltaFloats);
  }
  if ((l.mixer == kMixerMamba || l.mixer == kMixerAttentionMamba) &&
      (s.conv_taps < 2 || l.window || (l.rope != LayerRope::kNone && l.mixer == kMixerMamba) || !s.mamba_heads || !s.mamba_groups ||
       !s.mamba_head_dim || !s.mamba_state_dim || s.mamba_heads % s.mamba_groups ||
       (s.mamba_dt_max > 0 && s.mamba_dt_max < s.mamba_dt_min)))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": Mamba-2 of conv_taps = ", s.conv_taps, ", ", s.mamba_heads, " heads of ",
                s.mamba_head_dim, " in ", s.mamba_groups, " groups of ", s.mamba_state_dim, ", window and rope ", l.window, " and ",
                static_cast<uint32_t>(l.rope), ", or with mamba_dt_max below mamba_dt_min");
  if (l.mixer == kMixerAttentionMamba && (s.residual != kResidualSerial || s.attn_gate))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": attention beside Mamba-2 with residual = ", s.residual,
                " and attn_gate = ", s.attn_gate);
  if ((l.mixer == kMixerNoMixer || l.feed_forward == kFeedForwardNothing) && s.residual != kResidualSerial)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": without a mixer or a feed-forward step beside residual = ", s.residual);
  if (l.mixer == kMixerNoMixer && (l.rope != LayerRope::kNone || l.window))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": rope and window = ", static_cast<uint32_t>(l.rope), ", ", l.window,
                " without a mixer");
  if (l.kv_back) {
    if (l.kv_back > i || l.mixer != kMixerAttention)
      return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": kv_back = ", l.kv_back, ": no layer of attention with keys of its own");
    LayerSpec of = layer_of_model(s, i - l.kv_back);
    read_layer(s, i - l.kv_back, &of);
    if (of.mixer != l.mixer || of.kv_back || of.n_heads != l.n_heads || of.n_kv_heads != l.n_kv_heads || of.head_dim != l.head_dim ||
        of.window != l.window || of.rope != l.rope)
      return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": kv_back = ", l.kv_back,
                  ": that layer has other heads, another window, another RoPE or keys that are not its own");
  }
  if (l.sparse && (l.feed_forward != kFeedForwardDense || s.ungated || !(s.sparse_cut > 0)))
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": sparse = 1 beside feed_forward = ", uint32_t{l.feed_forward},
                ", ungated = ", s.ungated, " or sparse_cut = 0");
  if (s.streams && (l.mixer != kMixerAttention || l.feed_forward != kFeedForwardDense || (l.orders & kOrderQkv)))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": mixer = ", uint32_t{l.mixer},
                ", feed_forward = ", uint32_t{l.feed_forward}, " or orders = ", l.orders, " beside several residual streams");
  if (s.inner_norm && (l.mixer != kMixerAttention || l.feed_forward != kFeedForwardDense))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": mixer = ", uint32_t{l.mixer},
                " or feed_forward = ", uint32_t{l.feed_forward}, " beside inner_norm = ", s.inner_norm);
  const uint32_t no_orders =
      (l.mixer != kMixerAttention ? kOrderQkv | kOrderAttnOut : 0u) | (l.feed_forward != kFeedForwardDense ? uint32_t{kOrderGateUp} : 0u);
  if (l.orders & no_orders)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": orders = ", l.orders, " beside mixer = ", uint32_t{l.mixer},
                " and feed_forward = ", uint32_t{l.feed_forward});
  if (s.bidirectional && l.mixer != kMixerAttention)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer ", i, ": mixer = ", uint32_t{l.mixer}, " beside bidirectional = 1");
  if (l.feed_forward == kFeedForwardExperts && !s.n_experts)
    return fail(err, LINNET_BAD_FILE, label, ": layer ", i, ": feed_forward = ", uint32_t{l.feed_forward}, " beside n_experts = 0");
  return LINNET_OK;
}

}  // namespace

const LayerField kLayerFields[kLayerFieldCount] = {
    {"mixer", offsetof(LayerSpec, mixer), kMixerAttention, kMixerCount - 1},
    {"feed_forward", offsetof(LayerSpec, feed_forward), kFeedForwardDense, kFeedForwardCount - 1},
    {"rope", offsetof(LayerSpec, rope), static_cast<uint32_t>(LayerRope::kNone), static_cast<uint32_t>(LayerRope::kLocal)},
    {"n_heads", offsetof(LayerSpec, n_heads), 1, 1024},
    {"n_kv_heads", offsetof(LayerSpec, n_kv_heads), 1, 1024},
    {"head_dim", offsetof(LayerSpec, head_dim), 1, 1024},
    {"d_ff", offsetof(LayerSpec, d_ff), 1, 1 << 20},
    {"window", offsetof(LayerSpec, window), 0, 1 << 24},
    {"kv_back", offsetof(LayerSpec, kv_back), 0, 1024},
    {"sparse", offsetof(LayerSpec, sparse), 0, 1},
    {"orders", offsetof(LayerSpec, orders), 0, kOrderAll},
};

LayerSpec layer_spec(const ModelSpec& s, uint32_t layer) {
  LayerSpec l = layer_of_model(s, layer);
  if (read_layer(s, layer, &l) && check_layer(s, layer, l, nullptr, "") != LINNET_OK) return layer_of_model(s, layer);
  return l;
}

void without_mamba(ModelSpec* spec) {
  for (uint32_t ModelSpec::* field : {&ModelSpec::conv_taps, &ModelSpec::mamba_heads, &ModelSpec::mamba_groups, &ModelSpec::mamba_head_dim,
                                      &ModelSpec::mamba_state_dim, &ModelSpec::mamba_conv_bias, &ModelSpec::mamba_norm})
    spec->*field = 0;
}

uint32_t spec_version(const ModelSpec& s) {
  uint32_t version = 1;
  for (size_t i = 0; i < kSpecFieldCount; ++i) {
    const SpecField& f = kSpecFields[i];
    const double value = f.type == kU32 ? get_u32(s, f) : f.type == kF64 ? get_f64(s, f) : 0;
    const uint32_t needs = value > f.max_5 ? 6 : value > f.max_2 ? 3 : value != 0 ? f.since : 1;
    if (needs > version) version = needs;
  }
  for (const uint8_t* values : s.layer_values)
    if (values && version < kLayersVersion) version = kLayersVersion;
  return version;
}

Status spec_check(const ModelSpec& s, Error* err, PathName label) {
  for (size_t i = 0; i < kSpecFieldCount; ++i) {
    const SpecField& f = kSpecFields[i];
    if (s.n_layers == 0 && s.n_vocab >= 1) break;  // a vocabulary has no decoder
    if (f.type == kU32) {
      if (const uint32_t v = get_u32(s, f); v < f.min || v > f.max)
        return fail(err, LINNET_BAD_FILE, label, ": ", f.name, " = ", v, " is outside ", static_cast<uint64_t>(f.min), " to ",
                    static_cast<uint64_t>(f.max));
    } else if (f.type == kF64) {
      if (const double v = get_f64(s, f); !(v >= f.min && v <= f.max))
        return fail(err, LINNET_BAD_FILE, label, ": ", f.name, " is out of range");
    }
  }
  if (s.architecture[0] == '\0' || !std::memchr(s.architecture, 0, sizeof s.architecture))
    return fail(err, LINNET_BAD_FILE, label, ": architecture is empty or too long");
  if (s.n_vocab < 1 || s.n_vocab > 1u << 22)
    return fail(err, LINNET_BAD_FILE, label, ": n_vocab = ", s.n_vocab, " is outside 1 to ", 1u << 22);
  if (s.n_layers == 0) return LINNET_OK;
  if (s.n_heads % s.n_kv_heads)
    return fail(err, LINNET_BAD_FILE, label, ": n_heads = ", s.n_heads, " is no multiple of n_kv_heads = ", s.n_kv_heads);
  if (s.n_heads * s.head_dim > 131072u)
    return fail(err, LINNET_BAD_FILE, label, ": n_heads * head_dim = ", s.n_heads * s.head_dim, " is more than ", 131072);
  if (s.rope_dim % 2 || (s.rope_kind != kRopeNone && s.rope_dim == 0))
    return fail(err, LINNET_BAD_FILE, label, ": rope_dim = ", s.rope_dim, " is odd or 0");
  if (s.rope_local_dim % 2 || (s.rope_local_dim && !(s.rope_local_base > 0)))
    return fail(err, LINNET_BAD_FILE, label, ": rope_local_dim = ", s.rope_local_dim, " is odd or stands beside rope_local_base = 0");
  if (s.rope_scaling == kRopeScaleLlama3 && (s.rope_original == 0 || !(s.rope_high >= s.rope_low) || !(s.rope_low > 0)))
    return fail(err, LINNET_BAD_FILE, label, ": llama3 rope scaling needs rope_original > 0 (it is ", s.rope_original,
                ") and rope_high >= rope_low > 0");
  if (s.rope_scaling == kRopeScaleYarn && (s.rope_original == 0 || !(s.rope_high > 0) || !(s.rope_low > 0) || !(s.rope_base > 1)))
    return fail(err, LINNET_BAD_FILE, label, ": YaRN needs rope_original (it is ", s.rope_original,
                "), rope_low and rope_high above 0, rope_base above 1");
  if (rope_by_length(s) && s.rope_original == 0)
    return fail(err, LINNET_BAD_FILE, label, ": rope_scaling = ", s.rope_scaling, " needs rope_original > 0");
  if (s.rope_freqs && s.rope_kind == kRopeNone) return fail(err, LINNET_BAD_FILE, label, ": rope_freqs = 1 without RoPE");
  if (s.rope_scaling == kRopeScaleDynamic && s.rope_dim == 2)
    return fail(err, LINNET_UNSUPPORTED, label, ": dynamic rope scaling of rope_dim = 2");
  if (s.rope_local_base > 0 && s.rope_local_base < 1) return fail(err, LINNET_BAD_FILE, label, ": rope_local_base is below 1");
  if (s.norm_bias && s.norm != kNormLayer) return fail(err, LINNET_UNSUPPORTED, label, ": norm_bias = 1 beside norm = ", s.norm);
  if (s.positions && s.positions < uint64_t{s.n_context} + s.position_offset)
    return fail(err, LINNET_BAD_FILE, label, ": positions = ", s.positions,
                " are fewer than n_context + position_offset = ", uint64_t{s.n_context} + s.position_offset);
  if (s.kv_lora_rank && (s.alibi || s.clip_qkv > 0 || s.nope_pattern || s.rope_local_base > 0))
    return fail(err, LINNET_UNSUPPORTED, label, ": alibi, clip_qkv, nope_pattern or rope_local_base beside kv_lora_rank");
  if ((s.temp_scale > 0) != (s.temp_positions > 0) || (s.temp_scale > 0 && s.kv_lora_rank))
    return fail(err, LINNET_UNSUPPORTED, label, ": temp_scale and temp_positions = ", s.temp_positions,
                " go with each other alone, and not with kv_lora_rank = ", s.kv_lora_rank);
  if ((s.activation == kActSwigluClamped) != (s.act_limit > 0) || (s.act_limit > 0 && s.ungated))
    return fail(err, LINNET_BAD_FILE, label, ": activation = ", s.activation,
                " and act_limit, which go with each other alone, or ungated = ", s.ungated);
  if (s.activation == kActXielu && (!s.ungated || s.n_experts || s.layer_embd))
    return fail(err, LINNET_UNSUPPORTED, label, ": activation = ", s.activation, " (xIELU) beside ungated = ", s.ungated,
                ", n_experts = ", s.n_experts, " or layer_embd = ", s.layer_embd);
  if (s.rope_turned % 2 || s.rope_turned > s.rope_dim)
    return fail(err, LINNET_BAD_FILE, label, ": rope_turned = ", s.rope_turned, " is odd or more than rope_dim = ", s.rope_dim);
  if (s.kv_lora_rank && (s.v_norm || s.values_of_keys))
    return fail(err, LINNET_UNSUPPORTED, label, ": v_norm = ", s.v_norm, " or values_of_keys = ", s.values_of_keys, " beside kv_lora_rank");
  if (s.layer_embd % kPanel || (s.layer_embd != 0) != (s.layer_embd_vocab != 0))
    return fail(err, LINNET_UNSUPPORTED, label, ": layer_embd = ", s.layer_embd, " beside layer_embd_vocab = ", s.layer_embd_vocab,
                ", must be a multiple of ", kPanel, " and both 0 or neither");
  if (uint64_t{s.layer_embd_vocab} * s.n_layers > 1u << 30)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer_embd_vocab = ", s.layer_embd_vocab, " of n_layers = ", s.n_layers, ": more than ",
                1u << 30, " rows");
  if (s.layer_embd && s.residual != kResidualSandwich)
    return fail(err, LINNET_UNSUPPORTED, label, ": layer_embd = ", s.layer_embd, " beside residual = ", s.residual);
  if (s.streams && (s.streams != kStreams || !s.laurel_rank || !s.layer_embd || s.layer_scale || s.embd_dim || s.d_model % kPanel ||
                    s.residual != kResidualSandwich))
    return fail(err, LINNET_UNSUPPORTED, label, ": streams = ", s.streams,
                " beside laurel_rank, layer_embd, layer_scale, embd_dim, d_model and residual = ", s.laurel_rank, ", ", s.layer_embd, ", ",
                s.layer_scale, ", ", s.embd_dim, ", ", s.d_model, " and ", s.residual);
  if (s.headless && s.tied) return fail(err, LINNET_BAD_FILE, label, ": headless = 1 beside tied = 1");
  if (s.dense_mid && !s.dense_out) return fail(err, LINNET_BAD_FILE, label, ": dense_mid = ", s.dense_mid, " beside dense_out = 0");
  if (s.dense_bias && !s.dense_out) return fail(err, LINNET_BAD_FILE, label, ": dense_bias = 1 beside dense_out = 0");
  if (s.bidirectional && (s.window_chunks || s.expert_capacity || s.alibi))
    return fail(err, LINNET_UNSUPPORTED, label, ": bidirectional = 1 beside window_chunks = ", s.window_chunks,
                ", expert_capacity = ", s.expert_capacity, " or alibi = ", s.alibi);
  if (s.laurel_rank && !s.streams) return fail(err, LINNET_UNSUPPORTED, label, ": laurel_rank = ", s.laurel_rank, " beside streams = 0");
  LINNET_TRY(check_moe(s, err, label));
  LINNET_TRY(check_latent(s, err, label));
  for (uint32_t i = 0; i < s.n_layers; ++i) {
    LayerSpec l = layer_of_model(s, i);
    read_layer(s, i, &l);
    LINNET_TRY(check_layer(s, i, l, err, label));
  }
  return LINNET_OK;
}

bool is_packed(const Gguf& file) {
  GgufValue v;
  return file.key(kLayoutKey, &v);
}

Status spec_read(const Gguf& file, ModelSpec* out, Error* err) {
  *out = {};
  GgufValue version;
  if (!file.key(kLayoutKey, &version))
    return fail(err, LINNET_UNSUPPORTED, file.label, ": a plain GGUF file, not packed for linnet: run `linnet convert` on it");
  if (version.type != kGgufU32 || version.u == 0)
    return fail(err, LINNET_BAD_FILE, file.label, ": ", kLayoutKey, ": not a u32 of at least 1");
  GgufValue kind;
  if (file.key("linnet.audio.kind", &kind))
    return fail(err, LINNET_UNSUPPORTED, file.label,
                ": a model that hears, not one of language: linnet_audio.h and `linnet transcribe` read it");
  if (version.u > kLayoutVersion)
    return fail(err, LINNET_UNSUPPORTED, file.label, ": ", kLayoutKey, " = ", version.u, ": made by a newer linnet; this one reads up to ",
                kLayoutVersion);
  for (size_t i = 0; i < kSpecFieldCount; ++i) LINNET_TRY(read_field(file, static_cast<uint32_t>(version.u), kSpecFields[i], out, err));
  for (uint32_t i = 0; i < kLayerFieldCount && version.u >= kLayersVersion; ++i)
    LINNET_TRY(read_layers(file, kLayerFields[i], out->n_layers, &out->layer_values[i], err));
  for (uint32_t i = 0; i < file.n_keys; ++i) {
    std::string_view key;
    GgufValue v;
    file.key_entry(i, &key, &v);
    const std::string_view field = behind(key, kSpecPrefix), of_layers = behind(key, kLayerPrefix);
    bool known = field.empty() && of_layers.empty();
    for (size_t f = 0; f < kSpecFieldCount && !known; ++f) known = field == kSpecFields[f].name;
    for (uint32_t f = 0; f < kLayerFieldCount && !known && version.u >= kLayersVersion; ++f) known = of_layers == kLayerFields[f].name;
    if (!known) return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key, "' is unknown: made by a newer linnet");
  }
  return spec_check(*out, err, file.label);
}

void role_name(Role role, uint32_t layer, char* out) {
  Name name;
  if (role_row(role).per_layer()) {
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = static_cast<char>('0' + layer % 10);
    while (layer /= 10);
    name.add("blk.").add(digits + at).add(".");
  }
  name.add(role_row(role).name);
  std::memcpy(out, name.text, name.n + 1);  // the longest name has 31 bytes
}

Status packed_matrix(const Gguf& file, const char* name, uint32_t n, uint32_t k, bool f32, Matrix* out, Error* err) {
  Name key, tensor;
  key.add("linnet.tensor.").add(name);
  tensor.add("linnet.").add(name);
  uint64_t shape[4] = {};  // format, n, k, group
  LINNET_TRY(read_shape(file, key.view(), shape, err));
  if (shape[0] > UINT32_MAX || !format_known(static_cast<uint32_t>(shape[0])))
    return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key.view(), "': unknown format ", shape[0], ": made by a newer linnet");
  const auto format = static_cast<Format>(shape[0]);
  GgufValue version;
  if (format_by_use(format) && file.key(kLayoutKey, &version) && version.u < kByUseVersion)
    return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key.view(), "': ", format_name(format), " in the order of ", kLayoutKey,
                " = ", version.u, ": convert the model again");
  if (f32 && format != LINNET_F32)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': format ", shape[0], ", not f32");
  if (shape[1] != n || shape[2] != k || shape[3] != format_row(format).w_group)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': n, k, group = ", shape[1], ", ", shape[2], ", ", shape[3],
                ", not ", n, ", ", k, ", ", format_row(format).w_group);
  if (k % format_block(format))
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': rows have ", k, " inputs, ", format_name(format),
                " wants a multiple of ", format_block(format));
  GgufTensor t;
  if (!file.tensor(tensor.view(), &t)) return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", tensor.view(), "' is missing");
  LINNET_TRY(read_place(file, t, kGgmlI8, packed_bytes(format, n, k), err));
  *out = {format, n, k, t.data, panel_scale_bytes(format, k) ? t.data + scales_offset(format, n, k) : nullptr};
  return LINNET_OK;
}

Status packed_vector(const Gguf& file, const char* name, uint32_t n, const float** out, Error* err) {
  GgufTensor t;
  if (!file.tensor(name, &t)) return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", name, "' is missing");
  LINNET_TRY(read_place(file, t, kGgmlF32, uint64_t{n} * sizeof(float), err));
  *out = reinterpret_cast<const float*>(t.data);
  return LINNET_OK;
}

Status find_matrix(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, Matrix* out, Error* err) {
  *out = {};
  const TensorRole& r = role_row(role);
  const LayerSpec l = layer_spec(spec, layer);
  if (!r.present(spec, l)) return LINNET_OK;
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  return packed_matrix(file, name, r.n(spec, l), r.k(spec, l), r.f32(), out, err);
}

Status find_vector(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, const float** out, Error* err) {
  *out = nullptr;
  const TensorRole& r = role_row(role);
  const LayerSpec l = layer_spec(spec, layer);
  if (!r.present(spec, l)) return LINNET_OK;
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  return packed_vector(file, name, r.n(spec, l), out, err);
}

Status find_order(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, const float** out, Error* err) {
  const float* order = nullptr;
  *out = nullptr;
  LINNET_TRY(find_vector(file, role, layer, spec, &order, err));
  constexpr uint32_t kSome = 65536;  // channels that are looked for at a time
  const uint32_t n = order ? role_n(role, layer, spec) : 0;
  for (uint32_t from = 0; from < n; from += kSome) {
    uint64_t seen[kSome / 64] = {};
    for (uint32_t j = 0; j < n; ++j) {
      const float v = order[j];
      const uint32_t channel = v >= 0 && v < static_cast<float>(n) ? static_cast<uint32_t>(v) : n, i = channel - from;
      if (channel < n && static_cast<float>(channel) == v && i >= kSome) continue;
      if (channel == n || static_cast<float>(channel) != v || (seen[i / 64] >> (i % 64) & 1)) {
        char name[kRoleNameBytes];
        role_name(role, layer, name);
        return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", name, "'[", j, "] is none of ", n, " channels, or one of before");
      }
      seen[i / 64] |= uint64_t{1} << (i % 64);
    }
  }
  *out = order;
  return LINNET_OK;
}

}  // namespace linnet
