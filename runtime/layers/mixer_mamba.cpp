#include "mixer_mamba.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool mamba(const ModelSpec&, const LayerSpec& l) { return l.mixer == kMixerMamba || l.mixer == kMixerAttentionMamba; }
bool has_conv_bias(const ModelSpec& s, const LayerSpec& l) { return mamba(s, l) && s.mamba_conv_bias; }
bool has_mamba_norm(const ModelSpec& s, const LayerSpec& l) { return mamba(s, l) && s.mamba_norm; }
uint32_t mamba_heads(const ModelSpec& s, const LayerSpec&) { return s.mamba_heads; }
uint32_t inner(const ModelSpec& s) { return s.mamba_heads * s.mamba_head_dim; }
uint32_t channels(const ModelSpec& s) { return inner(s) + 2 * s.mamba_groups * s.mamba_state_dim; }
uint32_t mamba_inner(const ModelSpec& s, const LayerSpec&) { return inner(s); }
uint32_t mamba_channels(const ModelSpec& s, const LayerSpec&) { return channels(s); }
uint32_t mamba_in(const ModelSpec& s, const LayerSpec&) { return inner(s) + channels(s); }
uint32_t mamba_taps(const ModelSpec& s, const LayerSpec&) { return channels(s) * s.conv_taps; }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  Mamba& t = *new (tensors) Mamba{};
  LINNET_TRY(in.matrix(kMambaIn, i, &t.in));
  LINNET_TRY(in.matrix(kMambaDt, i, &t.dt));
  LINNET_TRY(in.matrix(kMambaOut, i, &t.out));
  LINNET_TRY(in.vector(kMambaTaps, i, &t.taps));
  LINNET_TRY(in.vector(kMambaConvBias, i, &t.conv_bias));
  LINNET_TRY(in.vector(kMambaDtBias, i, &t.dt_bias));
  LINNET_TRY(in.vector(kMambaA, i, &t.a));
  LINNET_TRY(in.vector(kMambaSkip, i, &t.skip));
  return in.vector(kMambaNorm, i, &t.norm);
}

// The state: of every head S, then of every piece (ops.h) the rows before the convolution that the next one's taps reach back to. A row:
// those channels once, then dt as projected.
CacheLayer cache(const ModelSpec& s, const LayerSpec&) {
  const uint32_t pieces = s.mamba_groups * mamba_pieces(s.mamba_heads / s.mamba_groups);
  return state_layer({s.mamba_heads * delta_state_floats(s.mamba_state_dim, s.mamba_head_dim) +
                          (s.conv_taps - 1) * (inner(s) + pieces * 2 * s.mamba_state_dim),
                      channels(s) + s.mamba_heads});
}

struct Strides {
  size_t in, dt, inner;
};
Strides strides(const ModelSpec& s) {
  return {row_floats(uint64_t{inner(s)} + channels(s)), row_floats(s.mamba_heads), row_floats(inner(s))};
}

void need(const ModelSpec& s, const LayerSpec&, const void* tensors, Needs* needs) {
  const Mamba& t = *static_cast<const Mamba*>(tensors);
  const Strides of = strides(s);
  needs->need_wide(needs->n_rows * (of.in + of.dt + of.inner));
  needs->codes.add(t.in);
  needs->codes.add(t.out);
}

// Normed rows, in a.normed and quantised, into the residual stream. Every one carries the states on, whichever are of use.
void mix(Decoder& d, const Mamba& t, const Norm& post, uint32_t layer, uint32_t first, const QuantRows& rows) {
  const ModelSpec& s = d.spec;
  const Activations& a = d.a;
  const Strides of = strides(s);
  float* const in = a.wide;            // (m, 2 * I + 2 * N)
  float* const dt = in + d.m * of.in;  // (m, heads)
  float* const y = dt + d.m * of.dt;   // (m, I)
  d.gemm(t.in, a.normed, a.d_stride, &rows, d.m, nullptr, false, in, of.in);
  d.gemm(t.dt, a.normed, a.d_stride, nullptr, d.m, t.dt_bias, false, dt, of.dt);
  d.sync();
  d.ops.mamba(d.w, {&d.s.cache.slots,
                    layer,
                    d.spans,
                    d.n_spans,
                    s.mamba_heads,
                    s.mamba_groups,
                    s.mamba_head_dim,
                    s.mamba_state_dim,
                    s.conv_taps,
                    static_cast<float>(s.mamba_dt_min),
                    static_cast<float>(s.mamba_dt_max),
                    t.taps,
                    t.conv_bias,
                    t.a,
                    t.skip,
                    in + inner(s),
                    of.in,
                    dt,
                    of.dt,
                    y,
                    of.inner});
  d.ops.sync(d.w);
  if (first >= d.m) return;
  d.ops.gated_norm(d.w, {in + first * of.in, of.in, y + first * of.inner, of.inner, t.norm, d.eps(), s.mamba_groups,
                         s.mamba_norm == kMambaNormFirst, d.m - first, inner(s)});
  d.ops.sync(d.w);
  d.project(t.out, nullptr, post, y + first * of.inner, of.inner, first);
}

void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const Mamba& t = *static_cast<const Mamba*>(l.mixer);
  mix(d, t, l.attn_post_norm, layer, first, d.norm(l.attn_norm, t.in));
}

// Attention and Mamba-2 side by side (Falcon-H1): both read the same normed rows.
struct AttentionMamba {
  Attention attention;  // first: its kind finds it there
  Mamba mamba;
};

Status load_both(Loader& in, uint32_t i, const LayerSpec& spec, void* tensors) {
  AttentionMamba& t = *new (tensors) AttentionMamba{};
  LINNET_TRY(kAttentionKind.load(in, i, spec, &t.attention));
  return load(in, i, spec, &t.mamba);
}

CacheLayer cache_both(const ModelSpec& s, const LayerSpec& l) {
  CacheLayer both = kAttentionKind.cache(s, l);
  both.slot = cache(s, l).slot;
  return both;
}

void need_both(const ModelSpec& s, const LayerSpec& l, const void* tensors, Needs* needs) {
  const AttentionMamba& t = *static_cast<const AttentionMamba*>(tensors);
  kAttentionKind.need(s, l, &t.attention, needs);
  need(s, l, &t.mamba, needs);
}

void run_both(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const Mamba& t = static_cast<const AttentionMamba*>(l.mixer)->mamba;
  kAttentionKind.run(d, l, layer, first);
  QuantRows rows = quant_rows(d.a.codes, t.in);  // of the rows that attention has normed
  if (rows.q) {
    d.ops.quantize(d.w, d.a.normed, d.a.d_stride, d.m, d.spec.d_model, &rows);
    d.ops.sync(d.w);
  }
  mix(d, t, l.attn_post_norm, layer, first, rows);
}

}  // namespace

const TensorRole kMambaRoles[] = {LINNET_MAMBA_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(AttentionMamba) <= kMostTensorsBytes);
const LayerKind kMambaKind = {sizeof(Mamba), load, cache, need, run};
const LayerKind kAttentionMambaKind = {sizeof(AttentionMamba), load_both, cache_both, need_both, run_both};

}  // namespace linnet
