#include "feed_forward_experts.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool has_experts(const ModelSpec&, const LayerSpec& l) { return l.feed_forward == kFeedForwardExperts; }
bool has_router_bias(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.router_bias; }
bool has_correction(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.router_correction; }
bool has_expert_bias(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.expert_bias; }
bool has_shared(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.shared_ff; }
bool has_gates(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && !s.ungated; }
bool has_shared_gates(const ModelSpec& s, const LayerSpec& l) { return has_shared(s, l) && !s.ungated; }
bool has_shared_gate(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.shared_gate; }
bool has_beside(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.moe_beside; }
uint32_t n_experts(const ModelSpec& s, const LayerSpec&) { return s.n_experts; }
uint32_t expert_ff(const ModelSpec& s, const LayerSpec&) { return s.expert_ff; }
uint32_t shared_ff(const ModelSpec& s, const LayerSpec&) { return s.shared_ff; }
uint32_t experts_up(const ModelSpec& s, const LayerSpec&) { return s.n_experts * static_cast<uint32_t>(padded_n(s.expert_ff)); }
uint32_t experts_down(const ModelSpec& s, const LayerSpec&) { return s.n_experts * static_cast<uint32_t>(padded_n(s.d_model)); }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  Experts& t = *new (tensors) Experts{};
  LINNET_TRY(in.matrix(kSharedGate, i, &t.shared_gate));
  LINNET_TRY(in.matrix(kSharedUp, i, &t.shared_up));
  LINNET_TRY(in.matrix(kSharedDown, i, &t.shared_down));
  LINNET_TRY(in.matrix(kRouter, i, &t.router));
  LINNET_TRY(in.vector(kRouterBias, i, &t.router_bias));
  LINNET_TRY(in.vector(kRouterCorrection, i, &t.router_correction));
  LINNET_TRY(in.matrix(kExpertGate, i, &t.gate));
  LINNET_TRY(in.matrix(kExpertUp, i, &t.up));
  LINNET_TRY(in.matrix(kExpertDown, i, &t.down));
  LINNET_TRY(in.vector(kExpertGateBias, i, &t.gate_bias));
  LINNET_TRY(in.vector(kExpertUpBias, i, &t.up_bias));
  LINNET_TRY(in.vector(kExpertDownBias, i, &t.down_bias));
  LINNET_TRY(in.matrix(kSharedGateInp, i, &t.shared_weight));
  LINNET_TRY(in.vector(kRouterNorm, i, &t.router_norm));
  LINNET_TRY(in.vector(kExpertNorm, i, &t.expert_norm));
  LINNET_TRY(in.vector(kSharedPostNorm, i, &t.shared_post_norm));
  LINNET_TRY(in.vector(kExpertPostNorm, i, &t.expert_post_norm));
  LINNET_TRY(in.vector(kExpertScale, i, &t.expert_scale));
  if ((t.gate.panels && !same_rows(t.gate, t.up)) || (t.shared_up.panels && !t.expert_norm && !same_rows(t.up, t.shared_up)))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i,
                ": gate and up of the experts (and of the shared one) have formats of different activation groups");
  if (t.shared_gate.panels && !same_rows(t.shared_gate, t.shared_up))
    return fail(in.err, LINNET_UNSUPPORTED, "model file: layer ", i, ": gate and up have formats of different activation groups");
  return LINNET_OK;
}

void need(const ModelSpec& s, const LayerSpec&, const void* tensors, Needs* needs) {
  const Experts& t = *static_cast<const Experts*>(tensors);
  needs->need_wide(needs->n_rows * (2 * row_floats(s.shared_ff) + 2 * s.n_active * row_floats(s.expert_ff)));
  for (const Matrix* m : {&t.shared_gate, &t.shared_up, &t.shared_down, &t.up}) needs->codes.add(*m);
  for (const Matrix* m : {&t.up, &t.down}) needs->pairs.add(*m);
}

// The router's choice for the rows in a.normed.
void choose(Decoder& d, const Experts& t, uint32_t layer) {
  const Ops& ops = d.ops;
  const ModelSpec& spec = d.spec;
  const Activations& a = d.a;
  const linnet_session& s = d.s;
  d.gemm(t.router, a.normed, a.d_stride, nullptr, d.m, t.router_bias, false, a.router, a.router_stride);
  if (t.shared_weight.panels) d.gemm(t.shared_weight, a.normed, a.d_stride, nullptr, d.m, nullptr, false, a.shared_gate, kPanel);
  d.sync();
  const float router_scale = spec.router_scale > 0 ? static_cast<float>(spec.router_scale) : 1.0f;
  const Sequence* seqs = s.seqs;
  const size_t per_layer = size_t{s.params.n_context} * spec.n_active;
  const Capacity capacity = {spec.expert_capacity, d.spans, d.n_spans, spec.expert_capacity ? seqs->chosen + layer * per_layer : nullptr,
                             s.params.n_sequences > 1 && spec.expert_capacity ? static_cast<size_t>(seqs[1].chosen - seqs[0].chosen) : 0};
  ops.route(d.w,
            {spec.n_experts, spec.n_active, spec.router_kind == kRouterSigmoid, spec.router_norm, spec.router_groups,
             spec.router_top_groups, spec.router_group_best, router_scale, t.router_correction, t.expert_scale,
             spec.router_kind == kRouterMixer, static_cast<float>(spec.router_near)},
            capacity, a.router, a.router_stride, d.m, a.pairs);
  ops.sync(d.w);
}

// The rows of each expert, which lie together, through its matrices, and with `shared` all rows through the shared expert beside them.
// in: the rows as gate and up read them. sum: to what is in `to` already.
void run_experts(Decoder& d, const Experts& t, const QuantRows& in, bool shared, bool sum, float* to) {
  const Ops& ops = d.ops;
  const Worker& w = d.w;
  const ModelSpec& spec = d.spec;
  const Activations& a = d.a;
  const uint32_t m = d.m;
  const size_t ff_row = row_floats(spec.shared_ff), expert_row = row_floats(spec.expert_ff);
  const uint32_t n_pairs = m * spec.n_active;
  const bool weigh_input = spec.router_input, gates = t.gate.panels;
  float* gate = a.wide;  // (m, shared_ff)
  float* up = gate + m * ff_row;
  float* pair_gate = a.wide + (shared ? 2 * m * ff_row : 0);  // (pairs, expert_ff)
  float* pair_up = pair_gate + n_pairs * expert_row;

  QuantRows pair_in = quant_rows(a.pair_q, t.up);
  float* rows = weigh_input || !in.q ? a.pair_rows : nullptr;
  ops.gather(w, a.normed, a.d_stride, &in, n_pairs, spec.d_model, spec.n_active, a.pairs, weigh_input, rows, in.q ? &pair_in : nullptr);
  ops.sync(w);
  if (gates) ops.gemm_experts(w, t.gate, spec.n_experts, a.pairs, rows, a.d_stride, &pair_in, t.gate_bias, pair_gate, expert_row);
  ops.gemm_experts(w, t.up, spec.n_experts, a.pairs, rows, a.d_stride, &pair_in, t.up_bias, pair_up, expert_row);
  if (shared) {
    if (gates) d.gemm(t.shared_gate, a.normed, a.d_stride, &in, m, nullptr, false, gate, ff_row);
    d.gemm(t.shared_up, a.normed, a.d_stride, &in, m, nullptr, false, up, ff_row);
  }
  d.sync();

  QuantRows pair_hidden = quant_rows(a.pair_q, t.down), hidden = quant_rows(a.codes, t.shared_down);
  ops.act_mul(w, spec.activation, static_cast<float>(spec.act_limit), gates ? pair_gate : pair_up, gates ? pair_up : nullptr, expert_row,
              n_pairs, spec.expert_ff, pair_gate, pair_hidden.q ? &pair_hidden : nullptr);
  if (shared)
    ops.act_mul(w, spec.activation, static_cast<float>(spec.act_limit), gates ? gate : up, gates ? up : nullptr, ff_row, m, spec.shared_ff,
                gate, hidden.q ? &hidden : nullptr);
  ops.sync(w);
  ops.gemm_experts(w, t.down, spec.n_experts, a.pairs, pair_gate, expert_row, &pair_hidden, t.down_bias, a.pair_rows, a.d_stride);
  const bool gated = t.shared_weight.panels;
  if (shared) d.gemm(t.shared_down, gate, ff_row, &hidden, m, nullptr, sum && !gated, gated ? a.normed : to, a.d_stride);
  d.sync();
  ops.combine(w, a.pair_rows, a.d_stride, m, spec.d_model, spec.n_active, a.pairs, !weigh_input, a.normed, gated ? a.shared_gate : nullptr,
              kPanel, sum || (shared && !gated), to);
  ops.sync(w);
}

// Two branches that add up: the shared expert and the others. The router and both branches read the residual stream through norms of their
// own, and what both give is normed before the sum.
void run_beside(Decoder& d, const Experts& t, const Norm& ffn_norm, uint32_t layer) {
  const Ops& ops = d.ops;
  const Worker& w = d.w;
  const ModelSpec& spec = d.spec;
  const Activations& a = d.a;
  const size_t ff_row = row_floats(spec.shared_ff);
  float* gate = a.wide;  // (m, shared_ff)
  float* up = gate + d.m * ff_row;
  const QuantRows in = d.norm(ffn_norm, t.shared_gate);
  d.gemm(t.shared_gate, a.normed, a.d_stride, &in, d.m, nullptr, false, gate, ff_row);
  d.gemm(t.shared_up, a.normed, a.d_stride, &in, d.m, nullptr, false, up, ff_row);
  d.sync();
  QuantRows hidden = quant_rows(a.codes, t.shared_down);
  ops.act_mul(w, spec.activation, static_cast<float>(spec.act_limit), gate, up, ff_row, d.m, spec.shared_ff, gate,
              hidden.q ? &hidden : nullptr);
  ops.sync(w);
  d.gemm(t.shared_down, gate, ff_row, &hidden, d.m, nullptr, false, a.branch, a.d_stride);
  d.sync();
  const auto norm = [&](const float* weight) { return Norm{weight, nullptr, spec.norm, d.eps()}; };
  ops.norm(w, a.branch, a.d_stride, norm(t.shared_post_norm), d.m, spec.d_model, a.branch, nullptr);
  d.norm(norm(t.router_norm), t.router);
  choose(d, t, layer);
  const QuantRows pairs_in = d.norm(norm(t.expert_norm), t.gate);
  run_experts(d, t, pairs_in, false, false, a.normed);
  ops.add(w, a.branch, a.normed, a.d_stride, norm(t.expert_post_norm), 0, d.m, spec.d_model);
  ops.sync(w);
}

void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t) {
  const Experts& t = *static_cast<const Experts*>(l.feed_forward);
  if (t.expert_norm) {
    run_beside(d, t, l.ffn_norm, layer);
  } else {
    const QuantRows in = d.norm(l.ffn_norm, t.up);
    choose(d, t, layer);
    run_experts(d, t, in, t.shared_up.panels, d.parallel() || !in_branch(d.spec), d.target());
  }
  d.settle(l.ffn_post_norm, 0);
}

}  // namespace

const TensorRole kExpertsRoles[] = {LINNET_EXPERTS_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(Experts) <= kMostTensorsBytes);
const LayerKind kExpertsKind = {sizeof(Experts), load, nullptr, need, run};

uint32_t expert_rows(Role role, const ModelSpec& s) { return role == kExpertDown || role == kExpertDownBias ? s.d_model : s.expert_ff; }

}  // namespace linnet
