#include "spec.h"

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

bool always(const ModelSpec& s) { return s.n_layers > 0; }
uint32_t one(const ModelSpec&) { return 1; }
uint32_t d_model(const ModelSpec& s) { return s.d_model; }
uint32_t embd_dim(const ModelSpec& s) { return s.embd_dim ? s.embd_dim : s.d_model; }
uint32_t positions(const ModelSpec& s) { return s.positions; }
uint32_t d_ff(const ModelSpec& s) { return s.d_ff; }
uint32_t n_vocab(const ModelSpec& s) { return s.n_vocab; }
uint32_t n_heads(const ModelSpec& s) { return s.n_heads; }
uint32_t head_dim(const ModelSpec& s) { return s.head_dim; }
uint32_t q_dim(const ModelSpec& s) { return s.n_heads * (s.kv_lora_rank ? s.qk_nope_dim + s.qk_rope_dim : s.head_dim); }
uint32_t out_dim(const ModelSpec& s) { return s.n_heads * (s.kv_lora_rank ? s.v_head_dim : s.head_dim); }
uint32_t kv_dim(const ModelSpec& s) { return s.n_kv_heads * s.head_dim; }
uint32_t rope_pairs(const ModelSpec& s) { return s.rope_dim / 2; }
uint32_t q_norm_dim(const ModelSpec& s) {
  return s.qk_norm == kQkNormAll || s.qk_norm == kQkNormLayer ? s.n_heads * s.head_dim : s.head_dim;
}
uint32_t k_norm_dim(const ModelSpec& s) {
  return s.qk_norm == kQkNormAll || s.qk_norm == kQkNormLayer ? s.n_kv_heads * s.head_dim : s.head_dim;
}
bool untied(const ModelSpec& s) { return s.n_layers > 0 && !s.tied; }
bool has_freqs(const ModelSpec& s) { return s.rope_freqs; }
bool has_long(const ModelSpec& s) { return s.rope_scaling == kRopeScaleLong; }
bool has_positions(const ModelSpec& s) { return s.positions; }
bool has_embd_norm(const ModelSpec& s) { return s.embd_norm; }
bool has_embd_norm_bias(const ModelSpec& s) { return s.embd_norm && s.norm_bias; }
bool has_embd_dim(const ModelSpec& s) { return s.embd_dim; }
bool has_final_norm(const ModelSpec& s) { return s.n_layers > 0 && !s.no_final_norm; }
bool has_final_norm_bias(const ModelSpec& s) { return s.norm_bias && !s.no_final_norm; }
bool has_head_bias(const ModelSpec& s) { return s.head_bias; }
bool has_alibi(const ModelSpec& s) { return s.alibi; }
bool has_attn_norm(const ModelSpec& s) { return s.n_layers > 0 && s.residual != kResidualPost && s.residual != kResidualAfter; }
bool has_attn_norm_bias(const ModelSpec& s) { return s.norm_bias && has_attn_norm(s); }
bool has_ffn_norm(const ModelSpec& s) { return has_attn_norm(s) && s.residual != kResidualParallel; }
bool has_ffn_norm_bias(const ModelSpec& s) { return s.norm_bias && has_ffn_norm(s); }
bool has_post_norms(const ModelSpec& s) { return s.residual >= kResidualPost; }
bool has_post_norm_biases(const ModelSpec& s) { return s.norm_bias && has_post_norms(s); }
bool has_gate(const ModelSpec& s) { return s.n_layers > 0 && !s.ungated; }
bool has_gate_bias(const ModelSpec& s) { return s.mlp_bias && !s.ungated; }
bool has_qkv_bias(const ModelSpec& s) { return s.qkv_bias; }
bool has_out_bias(const ModelSpec& s) { return s.out_bias; }
bool has_mlp_bias(const ModelSpec& s) { return s.mlp_bias; }
bool has_qk_norm(const ModelSpec& s) { return s.qk_norm; }
bool has_qk_norm_bias(const ModelSpec& s) { return s.qk_norm == kQkNormLayerShared; }
bool has_sinks(const ModelSpec& s) { return s.attn_sinks; }
bool latent(const ModelSpec& s) { return s.kv_lora_rank; }
bool not_latent(const ModelSpec& s) { return s.n_layers > 0 && !s.kv_lora_rank; }
bool has_q_lora(const ModelSpec& s) { return s.q_lora_rank; }
bool no_q_lora(const ModelSpec& s) { return s.n_layers > 0 && !s.q_lora_rank; }
uint32_t q_lora_rank(const ModelSpec& s) { return s.q_lora_rank; }
uint32_t kv_lora_rank(const ModelSpec& s) { return s.kv_lora_rank; }
uint32_t qk_nope_dim(const ModelSpec& s) { return s.qk_nope_dim; }
uint32_t latents_of_heads(const ModelSpec& s) { return s.n_heads * s.kv_lora_rank; }
bool has_moe(const ModelSpec& s) { return s.n_experts; }
bool has_router_bias(const ModelSpec& s) { return s.router_bias; }
bool has_correction(const ModelSpec& s) { return s.router_correction; }
bool has_expert_bias(const ModelSpec& s) { return s.expert_bias; }
bool has_shared(const ModelSpec& s) { return s.shared_ff; }
bool has_shared_gate(const ModelSpec& s) { return s.shared_gate; }
uint32_t n_experts(const ModelSpec& s) { return s.n_experts; }
uint32_t expert_ff(const ModelSpec& s) { return s.expert_ff; }
uint32_t shared_ff(const ModelSpec& s) { return s.shared_ff; }
uint32_t experts_up(const ModelSpec& s) { return s.n_experts * static_cast<uint32_t>(padded_n(s.expert_ff)); }
uint32_t experts_down(const ModelSpec& s) { return s.n_experts * static_cast<uint32_t>(padded_n(s.d_model)); }

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
    FIELD(n_layers, kU32, 0, 1024),
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
    FIELD(activation, kU32, kActSilu, kActSigmoid, 1, kActSilu),
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
    FIELD(residual, kU32, kResidualSerial, kResidualAfter, 3),
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
    FIELD(router_kind, kU32, kRouterSoftmax, kRouterSigmoid, 3),
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
};
const size_t kSpecFieldCount = sizeof kSpecFields / sizeof *kSpecFields;

const TensorRole kRoles[kRoleCount] = {
    // name, per_layer, matrix, n, k, present; in the order of Role
    {"token_embd.weight", false, true, n_vocab, embd_dim, always},
    {"output_norm.weight", false, false, d_model, one, has_final_norm},
    {"output.weight", false, true, n_vocab, embd_dim, untied},
    {"rope_freqs.weight", false, false, rope_pairs, one, has_freqs},
    {"position_embd.weight", false, true, positions, d_model, has_positions},
    {"token_embd_norm.weight", false, false, d_model, one, has_embd_norm},
    {"token_embd_norm.bias", false, false, d_model, one, has_embd_norm_bias},
    {"token_embd_in.weight", false, true, d_model, embd_dim, has_embd_dim},
    {"token_embd_out.weight", false, true, embd_dim, d_model, has_embd_dim},
    {"output_norm.bias", false, false, d_model, one, has_final_norm_bias},
    {"output.bias", false, false, n_vocab, one, has_head_bias},
    {"alibi_slopes.weight", false, false, n_heads, one, has_alibi},
    {"rope_factors_short.weight", false, false, rope_pairs, one, has_long},
    {"rope_factors_long.weight", false, false, rope_pairs, one, has_long},
    {"attn_norm.weight", true, false, d_model, one, has_attn_norm},
    {"attn_q.weight", true, true, q_dim, d_model, no_q_lora},
    {"attn_k.weight", true, true, kv_dim, d_model, not_latent},
    {"attn_v.weight", true, true, kv_dim, d_model, not_latent},
    {"attn_output.weight", true, true, d_model, out_dim, always},
    {"attn_q.bias", true, false, q_dim, one, has_qkv_bias},
    {"attn_k.bias", true, false, kv_dim, one, has_qkv_bias},
    {"attn_v.bias", true, false, kv_dim, one, has_qkv_bias},
    {"attn_output.bias", true, false, d_model, one, has_out_bias},
    {"attn_q_norm.weight", true, false, q_norm_dim, one, has_qk_norm},
    {"attn_k_norm.weight", true, false, k_norm_dim, one, has_qk_norm},
    {"attn_q_norm.bias", true, false, head_dim, one, has_qk_norm_bias},
    {"attn_k_norm.bias", true, false, head_dim, one, has_qk_norm_bias},
    {"attn_sinks.weight", true, false, n_heads, one, has_sinks},
    {"attn_q_a.weight", true, true, q_lora_rank, d_model, has_q_lora},
    {"attn_q_a_norm.weight", true, false, q_lora_rank, one, has_q_lora},
    {"attn_q_b.weight", true, true, q_dim, q_lora_rank, has_q_lora},
    {"attn_kv_a_mqa.weight", true, true, head_dim, d_model, latent},
    {"attn_kv_a_norm.weight", true, false, kv_lora_rank, one, latent},
    {"attn_k_b.weight", true, true, latents_of_heads, qk_nope_dim, latent},
    {"attn_v_b.weight", true, true, out_dim, kv_lora_rank, latent},
    {"attn_norm.bias", true, false, d_model, one, has_attn_norm_bias},
    {"post_attention_norm.weight", true, false, d_model, one, has_post_norms},
    {"post_attention_norm.bias", true, false, d_model, one, has_post_norm_biases},
    {"ffn_norm.bias", true, false, d_model, one, has_ffn_norm_bias},
    {"post_ffw_norm.weight", true, false, d_model, one, has_post_norms},
    {"post_ffw_norm.bias", true, false, d_model, one, has_post_norm_biases},
    {"ffn_norm.weight", true, false, d_model, one, has_ffn_norm},
    {"ffn_gate.weight", true, true, d_ff, d_model, has_gate},
    {"ffn_up.weight", true, true, d_ff, d_model, always},
    {"ffn_down.weight", true, true, d_model, d_ff, always},
    {"ffn_gate.bias", true, false, d_ff, one, has_gate_bias},
    {"ffn_up.bias", true, false, d_ff, one, has_mlp_bias},
    {"ffn_down.bias", true, false, d_model, one, has_mlp_bias},
    {"ffn_gate_inp.weight", true, true, n_experts, d_model, has_moe},
    {"ffn_gate_inp.bias", true, false, n_experts, one, has_router_bias},
    {"exp_probs_b.bias", true, false, n_experts, one, has_correction},
    {"ffn_gate_exps.weight", true, true, experts_up, d_model, has_moe},
    {"ffn_up_exps.weight", true, true, experts_up, d_model, has_moe},
    {"ffn_down_exps.weight", true, true, experts_down, expert_ff, has_moe},
    {"ffn_gate_exps.bias", true, false, experts_up, one, has_expert_bias},
    {"ffn_up_exps.bias", true, false, experts_up, one, has_expert_bias},
    {"ffn_down_exps.bias", true, false, experts_down, one, has_expert_bias},
    {"ffn_gate_inp_shexp.weight", true, true, one, d_model, has_shared_gate},
    {"ffn_gate_shexp.weight", true, true, shared_ff, d_model, has_shared},
    {"ffn_up_shexp.weight", true, true, shared_ff, d_model, has_shared},
    {"ffn_down_shexp.weight", true, true, d_model, shared_ff, has_shared},
};

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
  if (s.n_kv_heads != 1 || s.head_dim != s.qk_rope_dim + s.kv_lora_rank || s.rope_dim != s.qk_rope_dim)
    return fail(err, LINNET_BAD_FILE, label, ": n_kv_heads, head_dim and rope_dim are ", s.n_kv_heads, ", ", s.head_dim, " and ",
                s.rope_dim, ", not those of a latent: 1, ", s.qk_rope_dim + s.kv_lora_rank, " and ", s.qk_rope_dim);
  if (s.qkv_bias || s.qk_norm)
    return fail(err, LINNET_UNSUPPORTED, label, ": qkv_bias = ", s.qkv_bias, " or qk_norm = ", s.qk_norm, " beside kv_lora_rank");
  return LINNET_OK;
}

Status check_moe(const ModelSpec& s, Error* err, PathName label) {
  if (!s.n_experts) {
    if (s.n_active || s.expert_ff || s.shared_ff || s.shared_gate || s.router_correction || s.router_bias || s.expert_bias ||
        s.router_groups || s.expert_capacity)
      return fail(err, LINNET_BAD_FILE, label, ": n_active, expert_ff, shared_ff or a field of the router beside n_experts = 0");
    return LINNET_OK;
  }
  if (s.n_active == 0 || s.n_active > s.n_experts)
    return fail(err, LINNET_BAD_FILE, label, ": n_active = ", s.n_active, " of n_experts = ", s.n_experts);
  if (s.expert_ff == 0) return fail(err, LINNET_BAD_FILE, label, ": expert_ff = 0 beside n_experts = ", s.n_experts);
  if (s.shared_gate && !s.shared_ff) return fail(err, LINNET_BAD_FILE, label, ": shared_gate = 1 beside shared_ff = 0");
  if (s.ungated) return fail(err, LINNET_UNSUPPORTED, label, ": ungated = 1 beside n_experts = ", s.n_experts);
  if (!s.router_groups) return LINNET_OK;
  const uint32_t size = s.n_experts / s.router_groups;
  if (s.n_experts % s.router_groups || s.router_top_groups == 0 || s.router_top_groups > s.router_groups || s.router_group_best == 0 ||
      s.router_group_best > size || s.n_active > s.router_top_groups * size)
    return fail(err, LINNET_BAD_FILE, label, ": router_groups, router_top_groups and router_group_best are ", s.router_groups, ", ",
                s.router_top_groups, " and ", s.router_group_best, " beside n_experts = ", s.n_experts, " and n_active = ", s.n_active);
  return LINNET_OK;
}

}  // namespace

uint32_t layer_window(const ModelSpec& s, uint32_t layer) {
  const bool all = layer < s.window_from || (s.window_pattern && (layer + 1) % s.window_pattern == 0);
  return all ? 0 : s.window;
}

bool layer_moe(const ModelSpec& s, uint32_t layer) {
  return s.n_experts && layer >= s.moe_first && (s.moe_step == 0 || (layer - s.moe_first) % s.moe_step == 0);
}

uint32_t expert_rows(Role role, const ModelSpec& s) { return role == kExpertDown || role == kExpertDownBias ? s.d_model : s.expert_ff; }

bool role_present(Role role, uint32_t layer, const ModelSpec& s) {
  if (!kRoles[role].present(s)) return false;
  if (role >= kFfnGate && role <= kFfnDownBias) return !layer_moe(s, layer);
  return role < kRouter || layer_moe(s, layer);
}

LayerRope layer_rope(const ModelSpec& s, uint32_t layer) {
  if (s.rope_kind == kRopeNone || (s.nope_pattern && (layer + 1) % s.nope_pattern == 0)) return LayerRope::kNone;
  return s.rope_local_base > 0 && layer_window(s, layer) ? LayerRope::kLocal : LayerRope::kMain;
}

uint32_t spec_version(const ModelSpec& s) {
  uint32_t version = 1;
  for (size_t i = 0; i < kSpecFieldCount; ++i) {
    const SpecField& f = kSpecFields[i];
    const double value = f.type == kU32 ? get_u32(s, f) : f.type == kF64 ? get_f64(s, f) : 0;
    const uint32_t needs = value > f.max_2 ? 3 : value != 0 ? f.since : 1;
    if (needs > version) version = needs;
  }
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
  if (s.rope_dim % 2 || s.rope_dim > s.head_dim || (s.rope_kind != kRopeNone && s.rope_dim == 0))
    return fail(err, LINNET_BAD_FILE, label, ": rope_dim = ", s.rope_dim, " is odd, 0 or more than head_dim = ", s.head_dim);
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
  LINNET_TRY(check_moe(s, err, label));
  return check_latent(s, err, label);
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
  if (version.u > kLayoutVersion)
    return fail(err, LINNET_UNSUPPORTED, file.label, ": ", kLayoutKey, " = ", version.u, ": made by a newer linnet; this one reads up to ",
                kLayoutVersion);
  for (size_t i = 0; i < kSpecFieldCount; ++i) LINNET_TRY(read_field(file, static_cast<uint32_t>(version.u), kSpecFields[i], out, err));
  constexpr std::string_view kPrefix = "linnet.spec.";
  for (uint32_t i = 0; i < file.n_keys; ++i) {
    std::string_view key;
    GgufValue v;
    file.key_entry(i, &key, &v);
    if (key.size() <= kPrefix.size() || std::memcmp(key.data(), kPrefix.data(), kPrefix.size()) != 0) continue;
    bool known = false;
    for (size_t f = 0; f < kSpecFieldCount && !known; ++f) {
      const std::string_view name = kSpecFields[f].name;
      known = name.size() == key.size() - kPrefix.size() && std::memcmp(name.data(), key.data() + kPrefix.size(), name.size()) == 0;
    }
    if (!known) return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key, "' is unknown: made by a newer linnet");
  }
  return spec_check(*out, err, file.label);
}

void role_name(Role role, uint32_t layer, char* out) {
  Name name;
  if (kRoles[role].per_layer) {
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = static_cast<char>('0' + layer % 10);
    while (layer /= 10);
    name.add("blk.").add(digits + at).add(".");
  }
  name.add(kRoles[role].name);
  std::memcpy(out, name.text, name.n + 1);  // the longest name has 31 bytes
}

Status find_matrix(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, Matrix* out, Error* err) {
  *out = {};
  const TensorRole& r = kRoles[role];
  if (!role_present(role, layer, spec)) return LINNET_OK;
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  Name key, tensor;
  key.add("linnet.tensor.").add(name);
  tensor.add("linnet.").add(name);
  uint64_t shape[4] = {};  // format, n, k, group
  LINNET_TRY(read_shape(file, key.view(), shape, err));
  if (shape[0] > UINT32_MAX || !format_known(static_cast<uint32_t>(shape[0])))
    return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key.view(), "': unknown format ", shape[0], ": made by a newer linnet");
  const auto format = static_cast<Format>(shape[0]);
  const uint32_t n = r.n(spec), k = r.k(spec);
  if (role_f32(role) && format != LINNET_F32)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': format ", shape[0], ", not f32");
  if (shape[1] != n || shape[2] != k || shape[3] != format_row(format).w_group)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key.view(), "': n, k, group = ", shape[1], ", ", shape[2], ", ", shape[3],
                ", not ", n, ", ", k, ", ", format_row(format).w_group);
  GgufTensor t;
  if (!file.tensor(tensor.view(), &t)) return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", tensor.view(), "' is missing");
  LINNET_TRY(read_place(file, t, kGgmlI8, packed_bytes(format, n, k), err));
  *out = {format, n, k, t.data, format_row(format).scale_bytes ? t.data + scales_offset(format, n, k) : nullptr};
  return LINNET_OK;
}

Status find_vector(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, const float** out, Error* err) {
  *out = nullptr;
  const TensorRole& r = kRoles[role];
  if (!role_present(role, layer, spec)) return LINNET_OK;
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  GgufTensor t;
  if (!file.tensor(name, &t)) return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", name, "' is missing");
  LINNET_TRY(read_place(file, t, kGgmlF32, uint64_t{r.n(spec)} * sizeof(float), err));
  *out = reinterpret_cast<const float*>(t.data);
  return LINNET_OK;
}

}  // namespace linnet
