#include "decoder.h"

namespace linnet {

RopeView Decoder::rope_of(const LayerSpec& l, uint32_t first, bool sinks) const {
  const bool local = l.rope == LayerRope::kLocal;
  const uint32_t n_pairs = l.rope == LayerRope::kNone ? 0 : a.rows.n_pairs[local];
  const size_t places = !sinks ? 1 : a.rows.sink_cos ? kMaxSinks : 0, at = a.rows.rope_at(local, first) * places;
  const float factor = local || spec.rope_attn_factor == 0 ? 1.0f : static_cast<float>(spec.rope_attn_factor);
  return {(sinks ? a.rows.sink_cos : a.rows.cos) + at, (sinks ? a.rows.sink_sin : a.rows.sin) + at, n_pairs, spec.rope_kind == kRopePairs,
          factor};
}

bool Decoder::adapted(const Matrix& mat) const {
  for (uint32_t i = 0; i < n_lora_rows && mat.slot; ++i)
    for (uint32_t j = 0; j < lora_rows[i].use->n; ++j)
      if (lora_rows[i].use->of[j].parts[mat.slot].a.panels) return true;
  return false;
}

void Decoder::gemm(const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t rows, const float* bias,
                   bool accumulate, float* y, size_t y_stride) {
  ops.gemm(w, mat, x, x_stride, q, rows, bias, accumulate, y, y_stride);
  if (rows == 0 || !adapted(mat)) return;
  const size_t t_stride = row_floats(s.params.lora_rank);
  LoraArgs& to = waiting[n_waiting];
  to = {lora_rows, n_lora_rows, mat.slot, rows, x, x_stride, a.lora + n_waiting * s.params.n_chunk * t_stride, t_stride, y, y_stride};
  ops.lora_down(w, to);
  ++n_waiting;
}

void Decoder::sync() {
  ops.sync(w);
  if (n_waiting == 0) return;
  for (uint32_t i = 0; i < n_waiting; ++i) ops.lora_up(w, waiting[i]);
  n_waiting = 0;
  ops.sync(w);
}

QuantRows Decoder::norm(const Norm& by, const Matrix& next, const float* order) {
  QuantRows q = quant_rows(a.codes, next);
  QuantRows* const to = q.q ? &q : nullptr;
  ops.norm(w, a.x, a.d_stride, by, m, spec.d_model, order ? a.wide : a.normed, order ? nullptr : to);
  ops.sync(w);
  if (!order) return q;
  ops.reorder(w, a.wide, a.d_stride, order, m, spec.d_model, a.normed, to);
  ops.sync(w);
  return q;
}

void Decoder::settle(const Norm& post, uint32_t first) {
  const size_t at = first * a.d_stride;
  const float residual_scale = static_cast<float>(spec.residual_scale);
  if (in_branch(spec))
    ops.add(w, a.x + at, a.branch + at, a.d_stride, post, residual_scale, m - first, spec.d_model);
  else if (spec.residual == kResidualAfter)
    ops.norm(w, a.x + at, a.d_stride, post, m - first, spec.d_model, a.x + at, nullptr);
  else
    return;
  ops.sync(w);
}

void Decoder::attend(const LayerSpec& l, uint32_t layer, uint32_t first, float* q, float scale, const float* sinks) {
  const size_t stride = row_floats(uint64_t{l.n_heads} * l.head_dim);
  const RowSpan tail = {spans[0].seq, 0, m - first, spans[0].position + first};
  ops.attention(w, {&kv, layer, first ? &tail : spans, first ? 1 : n_spans, q, stride, l.n_heads,
                    spec.attn_scale > 0 ? static_cast<float>(spec.attn_scale) : scale, static_cast<float>(spec.attn_softcap), model.alibi,
                    sinks, q, stride, rope_of(l, first, true)});
  ops.sync(w);
}

void Decoder::project(const Matrix& out, const float* bias, const Norm& post, float* heads, size_t stride, uint32_t first,
                      const float* order) {
  QuantRows rows = quant_rows(a.codes, out);
  if (order) {
    float* const room = heads + m * stride;
    ops.reorder(w, heads, stride, order, m - first, out.k, room, rows.q ? &rows : nullptr);
    heads = room;
  } else if (rows.q) {
    ops.quantize(w, heads, stride, m - first, out.k, &rows);
  }
  if (order || rows.q) ops.sync(w);
  gemm(out, heads, stride, &rows, m - first, bias, !in_branch(spec), target() + first * a.d_stride, a.d_stride);
  sync();
  if (!parallel()) settle(post, first);
}

}  // namespace linnet
