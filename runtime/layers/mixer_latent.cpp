#include "mixer_latent.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool latent(const ModelSpec&, const LayerSpec& l) { return l.mixer == kMixerLatent; }
bool has_q_lora(const ModelSpec& s, const LayerSpec& l) { return l.mixer == kMixerLatent && s.q_lora_rank; }
uint32_t q_lora_rank(const ModelSpec& s, const LayerSpec&) { return s.q_lora_rank; }
uint32_t kv_lora_rank(const ModelSpec& s, const LayerSpec&) { return s.kv_lora_rank; }
uint32_t qk_nope_dim(const ModelSpec& s, const LayerSpec&) { return s.qk_nope_dim; }
uint32_t q_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (s.qk_nope_dim + s.qk_rope_dim); }
uint32_t out_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * s.v_head_dim; }
uint32_t latents_of_heads(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * s.kv_lora_rank; }

constexpr float kLatentEps = 1e-6f;  // of the norms of latents, whatever the other norms have

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  LatentAttention& t = *new (tensors) LatentAttention{};
  LINNET_TRY(in.matrix(in.model->spec.q_lora_rank ? kAttnQB : kAttnQ, i, &t.q));
  LINNET_TRY(in.matrix(kAttnQA, i, &t.q_a));
  LINNET_TRY(in.vector(kAttnQANorm, i, &t.q_a_norm));
  LINNET_TRY(in.matrix(kAttnKvA, i, &t.kv_a));
  LINNET_TRY(in.vector(kAttnKvANorm, i, &t.kv_a_norm));
  LINNET_TRY(in.matrix(kAttnKB, i, &t.k_b));
  LINNET_TRY(in.matrix(kAttnVB, i, &t.v_b));
  LINNET_TRY(in.matrix(kAttnOut, i, &t.out));
  LINNET_TRY(in.vector(kAttnOutBias, i, &t.out_bias));
  LINNET_TRY(in.vector(kAttnSinks, i, &t.sinks));
  if (const Matrix& q = t.q_a.panels ? t.q_a : t.q; !same_rows(q, t.kv_a))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": ", t.q_a.panels ? "q_a" : "q",
                " and kv_a have formats of different activation groups");
  return LINNET_OK;
}

CacheLayer cache(const ModelSpec& s, const LayerSpec& l) { return pages_of_heads(l, s.qk_rope_dim); }

// Rows of queries, which are latents of them before, then in the latent's channels; of keys; of heads as projected, later as they come out.
struct Rows {
  size_t q, k, heads;
};
Rows rows_of(const ModelSpec& s, const LayerSpec& l) {
  const uint32_t qk = s.qk_nope_dim + s.qk_rope_dim, wider = qk > s.v_head_dim ? qk : s.v_head_dim;
  const size_t q = row_floats(uint64_t{l.n_heads} * l.head_dim), low = row_floats(s.q_lora_rank);
  return {q > low ? q : low, row_floats(uint64_t{l.n_kv_heads} * l.head_dim), row_floats(uint64_t{l.n_heads} * wider)};
}

void need(const ModelSpec& s, const LayerSpec& l, const void* tensors, Needs* needs) {
  const LatentAttention& t = *static_cast<const LatentAttention*>(tensors);
  const Rows rows = rows_of(s, l);
  needs->need_wide(needs->n_rows * (rows.q + rows.k + rows.heads));
  for (const Matrix* m : {&t.q, &t.q_a, &t.kv_a, &t.out}) needs->codes.add(*m);
}

// W_uk takes each head's query to the latent, all heads look at the one key [roped part | latent] of a token, P times latent is what W_uv
// takes to the head's output.
void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const LatentAttention& t = *static_cast<const LatentAttention*>(l.mixer);
  const Ops& ops = d.ops;
  const Worker& w = d.w;
  const ModelSpec& spec = d.spec;
  const Activations& a = d.a;
  const Rows row = rows_of(spec, l.spec);
  const uint32_t m = d.m, n = m - first, n_heads = l.spec.n_heads, rope_dim = spec.qk_rope_dim, nope = spec.qk_nope_dim,
                 rank = spec.kv_lora_rank, dim = l.spec.head_dim;
  float* q = a.wide;             // (m, n_heads * head_dim), before that (m, q_lora_rank)
  float* k = q + m * row.q;      // (m, head_dim)
  float* heads = k + m * row.k;  // (m, n_heads * (nope + rope)), later (m, n_heads * v_head_dim)
  const QuantRows in = d.norm(l.attn_norm, t.kv_a), in_q = rows_from(in, first);
  const float* x_q = a.normed + first * a.d_stride;
  d.gemm(t.kv_a, a.normed, a.d_stride, &in, m, nullptr, false, k, row.k);
  if (t.q_a.panels)
    d.gemm(t.q_a, x_q, a.d_stride, &in_q, n, nullptr, false, q, row.q);
  else
    d.gemm(t.q, x_q, a.d_stride, &in_q, n, nullptr, false, heads, row.heads);
  d.sync();

  const RopeView rope = d.rope_of(l.spec, 0, false);
  ops.norm(w, k + rope_dim, row.k, {t.kv_a_norm, nullptr, kNormRms, kLatentEps}, m, rank, k + rope_dim, nullptr);
  ops.rope(w, k, row.k, m, 1, dim, {}, rope);
  if (t.q_a.panels) {
    QuantRows low = quant_rows(a.codes, t.q);
    ops.norm(w, q, row.q, {t.q_a_norm, nullptr, kNormRms, kLatentEps}, n, spec.q_lora_rank, q, low.q ? &low : nullptr);
    ops.sync(w);
    d.gemm(t.q, q, row.q, &low, n, nullptr, false, heads, row.heads);
  }
  d.sync();
  ops.rope(w, heads + nope, row.heads, n, n_heads, nope + rope_dim, {}, d.rope_of(l.spec, first, false));
  ops.kv_append(w, d.kv, layer, k, nullptr, row.k, d.spans, d.n_spans, rope);
  ops.sync(w);
  if (n == 0) return;
  const size_t out_row = row_floats(uint64_t{n_heads} * dim);
  ops.gemm_heads(w, t.k_b, n_heads, heads, row.heads, nope + rope_dim, n, rope_dim, q, out_row, dim);
  ops.sync(w);

  d.attend(l.spec, layer, first, q, 1.0f / __builtin_sqrtf(static_cast<float>(nope + rope_dim)), t.sinks);
  ops.gemm_heads(w, t.v_b, n_heads, q, out_row, dim, n, 0, heads, row.heads, spec.v_head_dim);
  ops.sync(w);
  d.project(t.out, t.out_bias, l.attn_post_norm, heads, row.heads, first);
}

}  // namespace

const TensorRole kLatentRoles[] = {LINNET_LATENT_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(LatentAttention) <= kMostTensorsBytes);
const LayerKind kLatentKind = {sizeof(LatentAttention), load, cache, need, run};

}  // namespace linnet
