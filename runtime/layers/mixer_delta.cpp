#include "mixer_delta.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool delta(const ModelSpec&, const LayerSpec& l) { return l.mixer == kMixerDelta; }
bool by_head(const ModelSpec& s, const LayerSpec& l) { return delta(s, l) && !s.delta_by_key; }
bool by_key(const ModelSpec& s, const LayerSpec& l) { return delta(s, l) && s.delta_by_key; }
uint32_t value_heads(const ModelSpec& s, const LayerSpec&) { return s.delta_value_heads; }
uint32_t fades_of(const ModelSpec& s) { return s.delta_value_heads * (s.delta_by_key ? s.delta_key_dim : 1); }
uint32_t fades(const ModelSpec& s, const LayerSpec&) { return fades_of(s); }
uint32_t delta_key_dim(const ModelSpec& s, const LayerSpec&) { return s.delta_key_dim; }
uint32_t delta_value_dim(const ModelSpec& s, const LayerSpec&) { return s.delta_value_dim; }
uint32_t delta_values(const ModelSpec& s, const LayerSpec&) { return s.delta_value_heads * s.delta_value_dim; }
uint32_t channels(const ModelSpec& s) { return 2 * s.delta_key_heads * s.delta_key_dim + s.delta_value_heads * s.delta_value_dim; }
uint32_t delta_channels(const ModelSpec& s, const LayerSpec&) { return channels(s); }
uint32_t delta_taps(const ModelSpec& s, const LayerSpec&) { return channels(s) * s.conv_taps; }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  DeltaNet& t = *new (tensors) DeltaNet{};
  LINNET_TRY(in.matrix(kDeltaIn, i, &t.in));
  const bool keys = in.model->spec.delta_by_key;
  LINNET_TRY(in.matrix(keys ? kDeltaGateB : kDeltaGate, i, &t.gate));
  LINNET_TRY(in.matrix(kDeltaGateA, i, &t.gate_low));
  LINNET_TRY(in.matrix(kDeltaFadeA, i, &t.alpha_low));
  LINNET_TRY(in.matrix(kDeltaBeta, i, &t.beta));
  LINNET_TRY(in.matrix(keys ? kDeltaFadeB : kDeltaAlpha, i, &t.alpha));
  LINNET_TRY(in.matrix(kDeltaOut, i, &t.out));
  LINNET_TRY(in.vector(kDeltaTaps, i, &t.taps));
  LINNET_TRY(in.vector(kDeltaDt, i, &t.dt));
  LINNET_TRY(in.vector(kDeltaA, i, &t.a));
  LINNET_TRY(in.vector(kDeltaNorm, i, &t.norm));
  if (!same_rows(t.in, keys ? t.gate_low : t.gate))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": qkv and gate have formats of different activation groups");
  return LINNET_OK;
}

// The state: of every value head S, then the rows before the convolution that the next one's taps reach back to. A row: those channels,
// then beta and alpha as projected.
CacheLayer cache(const ModelSpec& s, const LayerSpec&) {
  return state_layer({s.delta_value_heads * delta_state_floats(s.delta_key_dim, s.delta_value_dim) + (s.conv_taps - 1) * channels(s),
                      channels(s) + s.delta_value_heads + fades_of(s)});
}

struct Strides {
  size_t in, values, beta, alpha, low;
};
Strides strides(const ModelSpec& s) {
  return {row_floats(channels(s)), row_floats(uint64_t{s.delta_value_heads} * s.delta_value_dim), row_floats(s.delta_value_heads),
          row_floats(fades_of(s)), s.delta_by_key ? row_floats(s.delta_key_dim) : 0};
}

void need(const ModelSpec& s, const LayerSpec&, const void* tensors, Needs* needs) {
  const DeltaNet& t = *static_cast<const DeltaNet*>(tensors);
  const Strides of = strides(s);
  needs->need_wide(needs->n_rows * (of.in + of.values + of.beta + of.alpha + 2 * of.low));
  for (const Matrix* m : {&t.in, &t.gate, &t.gate_low, &t.out}) needs->codes.add(*m);
}

// Every row carries the states on, whichever are of use.
void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const DeltaNet& t = *static_cast<const DeltaNet*>(l.mixer);
  const ModelSpec& s = d.spec;
  const Activations& a = d.a;
  const Strides of = strides(s);
  float* const in = a.wide;                        // (m, 2 * Q + V)
  float* const gate = in + d.m * of.in;            // (m, V), then what comes out
  float* const beta = gate + d.m * of.values;      // (m, value_heads)
  float* const alpha = beta + d.m * of.beta;       // (m, value_heads, or of each its keys)
  float* const gate_low = alpha + d.m * of.alpha;  // (m, key_dim), where keys fade apart
  float* const alpha_low = gate_low + d.m * of.low;
  const QuantRows rows = d.norm(l.attn_norm, t.in);
  d.gemm(t.in, a.normed, a.d_stride, &rows, d.m, nullptr, false, in, of.in);
  d.gemm(t.beta, a.normed, a.d_stride, nullptr, d.m, nullptr, false, beta, of.beta);
  if (s.delta_by_key) {
    d.gemm(t.gate_low, a.normed, a.d_stride, &rows, d.m, nullptr, false, gate_low, of.low);
    d.gemm(t.alpha_low, a.normed, a.d_stride, nullptr, d.m, nullptr, false, alpha_low, of.low);
    d.sync();
    QuantRows low = quant_rows(a.codes, t.gate);
    if (low.q) d.ops.quantize(d.w, gate_low, of.low, d.m, s.delta_key_dim, &low);
    if (low.q) d.ops.sync(d.w);
    d.gemm(t.gate, gate_low, of.low, &low, d.m, nullptr, false, gate, of.values);
    d.gemm(t.alpha, alpha_low, of.low, nullptr, d.m, t.dt, false, alpha, of.alpha);
  } else {
    d.gemm(t.gate, a.normed, a.d_stride, &rows, d.m, nullptr, false, gate, of.values);
    d.gemm(t.alpha, a.normed, a.d_stride, nullptr, d.m, t.dt, false, alpha, of.alpha);
  }
  d.sync();
  d.ops.delta_net(d.w, {&d.s.cache.slots,
                        layer,
                        d.spans,
                        d.n_spans,
                        s.delta_key_heads,
                        s.delta_value_heads,
                        s.delta_key_dim,
                        s.delta_value_dim,
                        s.conv_taps,
                        s.delta_tiled != 0,
                        s.delta_by_key != 0,
                        s.delta_negative ? 2.0f : 1.0f,
                        s.delta_eps > 0 ? static_cast<float>(s.delta_eps) : d.eps(),
                        t.taps,
                        t.a,
                        t.norm,
                        in,
                        of.in,
                        beta,
                        alpha,
                        of.beta,
                        of.alpha,
                        gate,
                        of.values});
  d.ops.sync(d.w);
  if (first < d.m) d.project(t.out, nullptr, l.attn_post_norm, gate + first * of.values, of.values, first);
}

}  // namespace

const TensorRole kDeltaRoles[] = {LINNET_DELTA_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(DeltaNet) <= kMostTensorsBytes);
const LayerKind kDeltaKind = {sizeof(DeltaNet), load, cache, need, run};

}  // namespace linnet
