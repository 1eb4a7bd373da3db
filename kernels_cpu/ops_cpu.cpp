// The CPU backend: every operation is cut into shares of rows, heads or panels, one per thread. How it is cut changes no bits.
#include <cstring>

#include "../runtime/ops.h"
#include "attention.h"
#include "registry.h"

namespace linnet {
namespace {

struct Share {
  uint32_t from, to;
};
// [0, count) in steps of `unit` (the last may be short), one contiguous share per thread.
Share share(const Worker& w, uint32_t count, uint32_t unit) {
  const uint64_t units = div_up(count, unit);
  const uint64_t from = units * w.id / w.n * unit, to = units * (w.id + 1) / w.n * unit;
  return {static_cast<uint32_t>(from < count ? from : count), static_cast<uint32_t>(to < count ? to : count)};
}

void quantize_rows(const Worker& w, const float* x, size_t x_stride, Share rows, uint32_t k, QuantRows* q) {
  for (uint32_t i = rows.from; i < rows.to; ++i)
    if (!w.kernels->t.quantize_row(x + i * x_stride, k, q->group, q->q + i * q->stride, q->scale + size_t{i} * q->groups,
                                   q->sum128 + size_t{i} * q->groups))
      __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
}

void sync(const Worker& w) { w.sync_fn(w.team, w.n); }

void embed(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride) {
  const Share rows = share(w, m, 1);
  for (uint32_t i = rows.from; i < rows.to; ++i)
    w.kernels->t.gather_row(table.format, table.panels, table.scales, table.n, table.k, static_cast<uint32_t>(tokens[i]), y + i * y_stride);
}

void norm(const Worker& w, const float* x, size_t stride, const float* weight, float eps, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  const Share rows = share(w, m, 1);
  for (uint32_t i = rows.from; i < rows.to; ++i) w.kernels->t.rmsnorm_row(x + i * stride, weight, n, eps, y + i * stride);
  if (q) quantize_rows(w, y, stride, rows, n, q);
}

void quantize(const Worker& w, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q) {
  quantize_rows(w, x, x_stride, share(w, m, 1), k, q);
}

void gemm(const Worker& w, const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias, bool accumulate,
          float* y, size_t y_stride) {
  const FormatRow& row = format_row(mat.format);
  const uint32_t n_panels = static_cast<uint32_t>(padded_n(mat.n) / kPanel);
  const Share panels = share(w, n_panels, n_panels >= 16 * w.n ? 4 : 1);  // whole groups of four where there are enough
  if (panels.from == panels.to || m == 0) return;
  GemmArgs a{};
  if (row.integer) {
    a.x = q->q;
    a.x_stride = q->stride;
    a.x_scale = q->scale;
    a.x_sum128 = q->sum128;
    a.x_groups = q->groups;
    a.x_group = q->group;
    a.w_scale_stride = n_w_groups(mat.format, mat.k) * kPanel * row.scale_bytes;
    a.w_scale = static_cast<const uint8_t*>(mat.scales) + panels.from * a.w_scale_stride;
  } else {
    a.x = x;
    a.x_stride = x_stride * sizeof(float);
  }
  a.w_stride = panel_bytes(mat.format, mat.k);
  a.w = static_cast<const uint8_t*>(mat.panels) + panels.from * a.w_stride;
  a.y = y + panels.from * kPanel;
  a.y_stride = y_stride;
  a.bias = bias ? bias + panels.from * kPanel : nullptr;
  a.m = m;
  a.n_panels = panels.to - panels.from;
  a.k = mat.k;
  a.accumulate = accumulate;
  w.kernels->gemm[mat.format].run(&a);
}

void rope(const Worker& w, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const float* norm_weight, float eps,
          const RopeView& view) {
  const Share items = share(w, m * n_heads, 1);
  for (uint32_t i = items.from; i < items.to; ++i) {
    const uint32_t row = i / n_heads;
    float* head = x + row * stride + size_t{i % n_heads} * head_dim;
    if (norm_weight) w.kernels->t.rmsnorm_row(head, norm_weight, head_dim, eps, head);
    if (view.n_pairs)
      w.kernels->t.rope_row(head, view.cos + size_t{row} * view.n_pairs, view.sin + size_t{row} * view.n_pairs, view.n_pairs, view.interleaved);
  }
}

void act_mul(const Worker& w, const float* gate, const float* up, size_t stride, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  const Share rows = share(w, m, 1);
  for (uint32_t i = rows.from; i < rows.to; ++i) w.kernels->t.silu_mul_row(gate + i * stride, up + i * stride, n, y + i * stride);
  if (q) quantize_rows(w, y, stride, rows, n, q);
}

}  // namespace

const Ops cpu_ops = {
    .sync = sync,
    .embed = embed,
    .norm = norm,
    .quantize = quantize,
    .gemm = gemm,
    .rope = rope,
    .kv_append = cpu_kv_append,
    .attention = cpu_attention,
    .act_mul = act_mul,
};

}  // namespace linnet
