#include "mixer_attention.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool latent(const LayerSpec& l) { return l.mixer == kMixerLatent; }
bool own_heads(const LayerSpec& l) { return l.mixer == kMixerAttention || l.mixer == kMixerAttentionMamba; }
bool heads(const LayerSpec& l) { return own_heads(l) || latent(l); }
uint32_t q_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (latent(l) ? s.qk_nope_dim + s.qk_rope_dim : l.head_dim); }
uint32_t out_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (latent(l) ? s.v_head_dim : l.head_dim); }
uint32_t kv_dim(const ModelSpec&, const LayerSpec& l) { return l.n_kv_heads * l.head_dim; }
// Norms of all heads at once, or of every head its own, have weights for each head.
uint32_t of_heads(const ModelSpec& s, uint32_t n, uint32_t dim) {
  return s.qk_norm == kQkNormAll || s.qk_norm == kQkNormLayer ? n * dim : dim;
}
uint32_t q_norm_dim(const ModelSpec& s, const LayerSpec& l) { return of_heads(s, l.n_heads, l.head_dim); }
uint32_t k_norm_dim(const ModelSpec& s, const LayerSpec& l) { return of_heads(s, l.n_kv_heads, l.head_dim); }
bool has_attn_norm(const ModelSpec& s, const LayerSpec& l) { return norm_before(s, l) && l.mixer != kMixerNoMixer; }
bool has_heads(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && heads(l); }
bool no_q_lora(const ModelSpec& s, const LayerSpec& l) { return has_heads(s, l) && !s.q_lora_rank; }
bool has_gate(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && l.mixer == kMixerAttention && s.attn_gate; }
bool has_kv(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && own_heads(l) && !l.kv_back; }
bool has_v(const ModelSpec& s, const LayerSpec& l) { return has_kv(s, l) && !(s.values_of_keys && !l.window); }
bool has_v_norm(const ModelSpec& s, const LayerSpec& l) { return has_kv(s, l) && s.v_norm; }
bool has_qkv_bias(const ModelSpec& s, const LayerSpec& l) { return heads(l) && s.qkv_bias; }
bool has_kv_bias(const ModelSpec& s, const LayerSpec& l) { return heads(l) && !l.kv_back && s.qkv_bias; }
bool has_v_bias(const ModelSpec& s, const LayerSpec& l) { return has_kv_bias(s, l) && !(s.values_of_keys && !l.window); }
bool has_out_bias(const ModelSpec& s, const LayerSpec& l) { return heads(l) && s.out_bias; }
bool has_qk_norm(const ModelSpec& s, const LayerSpec& l) { return heads(l) && s.qk_norm; }
bool has_k_norm(const ModelSpec& s, const LayerSpec& l) { return heads(l) && !l.kv_back && s.qk_norm; }
bool has_k_norm_bias(const ModelSpec& s, const LayerSpec& l) { return heads(l) && !l.kv_back && s.qk_norm == kQkNormLayerShared; }
bool has_qk_norm_bias(const ModelSpec& s, const LayerSpec& l) { return heads(l) && s.qk_norm == kQkNormLayerShared; }
bool has_sinks(const ModelSpec& s, const LayerSpec& l) { return heads(l) && s.attn_sinks; }
bool has_in_order(const ModelSpec&, const LayerSpec& l) { return l.orders & kOrderQkv; }
bool has_out_order(const ModelSpec&, const LayerSpec& l) { return l.orders & kOrderAttnOut; }
bool has_inner_norm(const ModelSpec& s, const LayerSpec& l) { return has_heads(s, l) && s.inner_norm; }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  Attention& t = *new (tensors) Attention{};
  LINNET_TRY(in.matrix(kAttnQ, i, &t.q));
  LINNET_TRY(in.matrix(kAttnK, i, &t.k));
  LINNET_TRY(in.matrix(kAttnV, i, &t.v));
  LINNET_TRY(in.matrix(kAttnGate, i, &t.gate));
  LINNET_TRY(in.matrix(kAttnOut, i, &t.out));
  LINNET_TRY(in.vector(kAttnQBias, i, &t.q_bias));
  LINNET_TRY(in.vector(kAttnKBias, i, &t.k_bias));
  LINNET_TRY(in.vector(kAttnVBias, i, &t.v_bias));
  LINNET_TRY(in.vector(kAttnOutBias, i, &t.out_bias));
  LINNET_TRY(in.vector(kAttnQNorm, i, &t.q_norm));
  LINNET_TRY(in.vector(kAttnKNorm, i, &t.k_norm));
  LINNET_TRY(in.vector(kAttnQNormBias, i, &t.q_norm_bias));
  LINNET_TRY(in.vector(kAttnKNormBias, i, &t.k_norm_bias));
  LINNET_TRY(in.vector(kAttnVNorm, i, &t.v_norm));
  LINNET_TRY(in.vector(kAttnSinks, i, &t.sinks));
  LINNET_TRY(in.order(kAttnInOrder, i, &t.in_order));
  LINNET_TRY(in.order(kAttnOutOrder, i, &t.out_order));
  LINNET_TRY(in.vector(kAttnInnerNorm, i, &t.inner_norm));
  if (t.gate.panels && !same_rows(t.q, t.gate))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": q and its gate have formats of different activation groups");
  if ((t.k.panels && !same_rows(t.q, t.k)) || (t.v.panels && !same_rows(t.q, t.v)))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": q, k and v have formats of different activation groups");
  return LINNET_OK;
}

CacheLayer cache(const ModelSpec&, const LayerSpec& l) { return pages_of_heads(l, 0); }

size_t q_stride(const LayerSpec& l) { return row_floats(uint64_t{l.n_heads} * l.head_dim); }
size_t kv_stride(const LayerSpec& l) { return row_floats(uint64_t{l.n_kv_heads} * l.head_dim); }

void need(const ModelSpec& s, const LayerSpec& l, const void* tensors, Needs* needs) {
  const Attention& t = *static_cast<const Attention*>(tensors);
  needs->need_wide(needs->n_rows * ((t.gate.panels ? 2 : 1) * q_stride(l) + 2 * kv_stride(l)));
  if (t.in_order) needs->need_wide(needs->n_rows * row_floats(s.d_model));
  if (t.out_order) needs->need_wide(needs->n_rows * 2 * q_stride(l));
  for (const Matrix* m : {&t.q, &t.k, &t.v, &t.gate, &t.out}) needs->codes.add(*m);
}

// Keys and values of all rows are appended, unless they are another layer's; attention is of rows `first`.. alone, in batches of one span.
void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const Attention& t = *static_cast<const Attention*>(l.mixer);
  const Ops& ops = d.ops;
  const Worker& w = d.w;
  const ModelSpec& spec = d.spec;
  const Activations& a = d.a;
  const bool own = !l.spec.kv_back;
  const uint32_t m = d.m, n = m - first, n_heads = l.spec.n_heads, n_kv = l.spec.n_kv_heads, dim = l.spec.head_dim;
  const size_t q_row = q_stride(l.spec), kv_row = kv_stride(l.spec);
  float* q = a.wide;         // (m, n_heads * head_dim)
  float* k = q + m * q_row;  // (m, n_kv_heads * head_dim)
  float* v = k + m * kv_row;
  float* gate = v + m * kv_row;  // as q, where there is one
  const QuantRows in = d.norm(l.attn_norm, t.q, t.in_order), in_q = rows_from(in, first);
  if (own) d.gemm(t.k, a.normed, a.d_stride, &in, m, t.k_bias, false, k, kv_row);
  if (t.v.panels) d.gemm(t.v, a.normed, a.d_stride, &in, m, t.v_bias, false, v, kv_row);
  d.gemm(t.q, a.normed + first * a.d_stride, a.d_stride, &in_q, n, t.q_bias, false, q, q_row);
  if (t.gate.panels) d.gemm(t.gate, a.normed + first * a.d_stride, a.d_stride, &in_q, n, nullptr, false, gate, q_row);
  d.sync();

  if (own && !t.v.panels) {
    ops.norm(w, k, kv_row, {}, m, n_kv * dim, v, nullptr);  // a copy
    ops.sync(w);
  }
  if (spec.clip_qkv > 0) {
    const float limit = static_cast<float>(spec.clip_qkv);
    ops.clip(w, q, q_row, limit, n, n_heads * dim);
    if (own) ops.clip(w, k, kv_row, limit, m, n_kv * dim);
    if (own) ops.clip(w, v, kv_row, limit, m, n_kv * dim);
    ops.sync(w);
  }
  if (spec.qk_norm == kQkNormAll) {
    ops.norm(w, q, q_row, {t.q_norm, nullptr, kNormRms, d.eps()}, n, n_heads * dim, q, nullptr);
    if (own) ops.norm(w, k, kv_row, {t.k_norm, nullptr, kNormRms, d.eps()}, m, n_kv * dim, k, nullptr);
    ops.sync(w);
  }
  const RopeView rope = d.rope_of(l.spec, 0, false);
  ops.rope(w, q, q_row, n, n_heads, dim, {t.q_norm, t.q_norm_bias, spec.qk_norm, d.eps()}, d.rope_of(l.spec, first, false));
  if (own) ops.rope(w, k, kv_row, m, n_kv, dim, {t.k_norm, t.k_norm_bias, spec.qk_norm, d.eps()}, rope);
  if (t.v_norm) ops.rope(w, v, kv_row, m, n_kv, dim, {t.v_norm, nullptr, kQkNormHead, d.eps()}, {});
  ops.sync(w);
  if (spec.temp_scale > 0 && (spec.temp_all || rope.n_pairs == 0))
    ops.scale_rows(w, q, q_row, a.rows.temperature + first, n, n_heads * dim);
  if (own) ops.kv_append(w, d.kv, layer, k, v, kv_row, d.spans, d.n_spans, rope);
  ops.sync(w);
  if (own && ops.kv_pack(w, d.kv, layer, d.spans, d.n_spans)) ops.sync(w);
  if (n == 0) return;
  d.attend(l.spec, layer, first, q, 1.0f / __builtin_sqrtf(static_cast<float>(dim)), t.sinks);
  if (t.gate.panels) {
    ops.act_mul(w, kActSigmoid, 0, gate, q, q_row, n, n_heads * dim, q, nullptr);
    ops.sync(w);
  }
  if (t.inner_norm) {
    ops.norm(w, q, q_row, {t.inner_norm, nullptr, kNormRms, d.eps()}, n, n_heads * dim, q, nullptr);
    ops.sync(w);
  }
  d.project(t.out, t.out_bias, l.attn_post_norm, q, q_row, first, t.out_order);
}

}  // namespace

const TensorRole kAttentionRoles[] = {LINNET_ATTENTION_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(Attention) <= kMostTensorsBytes);
const LayerKind kAttentionKind = {sizeof(Attention), load, cache, need, run};

}  // namespace linnet
