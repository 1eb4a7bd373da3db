#include "feed_forward.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool dense(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && l.feed_forward == kFeedForwardDense; }
uint32_t d_ff(const ModelSpec&, const LayerSpec& l) { return l.d_ff; }
bool has_gate(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && !s.ungated; }
bool has_gate_bias(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.mlp_bias && !s.ungated; }
bool has_mlp_bias(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.mlp_bias; }
bool has_in_order(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && (l.orders & kOrderGateUp); }
bool has_xielu(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.activation == kActXielu; }
bool has_inner_norm(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.inner_norm; }
uint32_t four(const ModelSpec&, const LayerSpec&) { return 4; }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  FeedForwardTensors& t = *new (tensors) FeedForwardTensors{};
  LINNET_TRY(in.matrix(kFfnGate, i, &t.gate));
  LINNET_TRY(in.matrix(kFfnUp, i, &t.up));
  LINNET_TRY(in.matrix(kFfnDown, i, &t.down));
  LINNET_TRY(in.vector(kFfnGateBias, i, &t.gate_bias));
  LINNET_TRY(in.vector(kFfnUpBias, i, &t.up_bias));
  LINNET_TRY(in.vector(kFfnDownBias, i, &t.down_bias));
  LINNET_TRY(in.order(kFfnInOrder, i, &t.in_order));
  LINNET_TRY(in.vector(kFfnXielu, i, &t.xielu));
  LINNET_TRY(in.vector(kFfnInnerNorm, i, &t.inner_norm));
  if (t.gate.panels && !same_rows(t.gate, t.up))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": gate and up have formats of different activation groups");
  return LINNET_OK;
}

void need(const ModelSpec& s, const LayerSpec& l, const void* tensors, Needs* needs) {
  const FeedForwardTensors& t = *static_cast<const FeedForwardTensors*>(tensors);
  const bool tiles = format_row(t.down.format).x != LINNET_F32 && needs->n_rows > needs->few_rows && !l.sparse && !t.xielu && !t.inner_norm;
  needs->need_wide((tiles ? needs->few_rows : needs->n_rows) * (s.ungated ? 1 : 2) * row_floats(l.d_ff));
  if (t.in_order) needs->need_wide(needs->n_rows * row_floats(s.d_model));
  for (const Matrix* m : {&t.gate, &t.up}) needs->codes.add(*m);
  needs->hidden.add(t.down);
}

void run(Decoder& d, const Layer& l, uint32_t, uint32_t) {
  const FeedForwardTensors& t = *static_cast<const FeedForwardTensors*>(l.feed_forward);
  const Activations& a = d.a;
  const size_t ff_row = row_floats(l.spec.d_ff);
  float* hidden = a.wide;  // (gate and up, m, d_ff), as gate_up() has it
  const QuantRows in = d.norm(l.ffn_norm, t.up, t.in_order);
  QuantRows rows = quant_rows(a.hidden, t.down);
  QuantRows* const down = rows.q ? &rows : nullptr;
  QuantRows* const to = t.inner_norm ? nullptr : down;
  if (l.spec.sparse) {  // whole rows of gates are looked at
    float* up = hidden + d.m * ff_row;
    d.gemm(t.gate, a.normed, a.d_stride, &in, d.m, t.gate_bias, false, hidden, ff_row);
    d.gemm(t.up, a.normed, a.d_stride, &in, d.m, t.up_bias, false, up, ff_row);
    d.sync();
    d.ops.sparsify(d.w, hidden, ff_row, static_cast<float>(d.spec.sparse_cut), d.m, l.spec.d_ff);
    d.ops.sync(d.w);
    d.ops.act_mul(d.w, d.spec.activation, static_cast<float>(d.spec.act_limit), hidden, up, ff_row, d.m, l.spec.d_ff, hidden, to);
  } else if (t.xielu) {
    d.gemm(t.up, a.normed, a.d_stride, &in, d.m, t.up_bias, false, hidden, ff_row);
    d.sync();
    d.ops.xielu(d.w, hidden, ff_row, t.xielu, d.m, l.spec.d_ff, to);
  } else if (d.adapted(t.gate) || d.adapted(t.up) || d.adapted(t.down)) {  // what they add to, and what they read, has to be there in f32
    float* up = t.gate.panels ? hidden + d.m * ff_row : nullptr;
    if (up) d.gemm(t.gate, a.normed, a.d_stride, &in, d.m, t.gate_bias, false, hidden, ff_row);
    d.gemm(t.up, a.normed, a.d_stride, &in, d.m, t.up_bias, false, up ? up : hidden, ff_row);
    d.sync();
    d.ops.act_mul(d.w, d.spec.activation, static_cast<float>(d.spec.act_limit), hidden, up, ff_row, d.m, l.spec.d_ff, hidden, to);
  } else {
    d.ops.gate_up(d.w, {t.gate, t.up, t.gate_bias, t.up_bias, d.spec.activation, static_cast<float>(d.spec.act_limit)}, a.normed,
                  a.d_stride, &in, d.m, hidden, ff_row, to);
  }
  d.ops.sync(d.w);
  if (t.inner_norm) {
    d.ops.norm(d.w, hidden, ff_row, {t.inner_norm, nullptr, kNormRms, d.eps()}, d.m, l.spec.d_ff, hidden, down);
    d.ops.sync(d.w);
  }
  d.gemm(t.down, hidden, ff_row, &rows, d.m, t.down_bias, d.parallel() || !in_branch(d.spec), d.target(), a.d_stride);
  d.sync();
  d.settle(l.ffn_post_norm, 0);
}

}  // namespace

const TensorRole kDenseRoles[] = {LINNET_FEED_FORWARD_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(FeedForwardTensors) <= kMostTensorsBytes);
const LayerKind kDenseKind = {sizeof(FeedForwardTensors), load, nullptr, need, run};

}  // namespace linnet
