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
// [0, count), one contiguous share per thread.
Share share(const Worker& w, uint32_t count) {
  return {static_cast<uint32_t>(uint64_t{count} * w.id / w.n), static_cast<uint32_t>(uint64_t{count} * (w.id + 1) / w.n)};
}

void quantize_rows(const Worker& w, const float* x, size_t x_stride, Share rows, uint32_t k, QuantRows* q) {
  for (uint32_t i = rows.from; i < rows.to; ++i)
    if (!w.kernels->t.quantize_row(x + i * x_stride, k, q->group, q->q + i * q->stride, q->scale + size_t{i} * q->groups,
                                   q->sum128 + size_t{i} * q->groups))
      __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
}

void sync(const Worker& w) { w.sync_fn(w.team, w.n); }

void embed(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride) {
  const Share rows = share(w, m);
  for (uint32_t i = rows.from; i < rows.to; ++i)
    w.kernels->t.gather_row(table.format, table.panels, table.scales, table.n, table.k, static_cast<uint32_t>(tokens[i]), y + i * y_stride);
}

void norm(const Worker& w, const float* x, size_t stride, const float* weight, float eps, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  const Share rows = share(w, m);
  for (uint32_t i = rows.from; i < rows.to; ++i) w.kernels->t.rmsnorm_row(x + i * stride, weight, n, eps, y + i * stride);
  if (q) quantize_rows(w, y, stride, rows, n, q);
}

void quantize(const Worker& w, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q) {
  quantize_rows(w, x, x_stride, share(w, m), k, q);
}

// Threads take pieces of a matrix as they get done, since one core's memory may be slower than another's. Matrices take turns with the
// counters: fewer than kTickets / 2 of them stand between two syncs, so the one reset here is used by nobody now.
struct Pieces {
  const Worker& w;
  uint32_t count, size, next, *ticket;

  Pieces(const Worker& worker, uint32_t n_panels) : w(worker), count(n_panels), size(n_panels), next(0), ticket(nullptr) {
    if (w.n == 1) return;
    const uint32_t turn = w.n_gemm++;
    ticket = w.tickets + turn % kTickets;
    if (w.id == 0) __atomic_store_n(w.tickets + (turn + kTickets / 2) % kTickets, 0u, __ATOMIC_RELAXED);
    const uint32_t fine = n_panels / (w.n * 4);  // about four pieces a thread, whole groups of four panels where there are enough
    size = fine >= 4 ? fine / 4 * 4 : n_panels >= 8 * w.n ? 4 : 1;
  }
  bool take(Share* out) {
    const uint32_t at = ticket ? __atomic_fetch_add(ticket, size, __ATOMIC_RELAXED) : next;
    next = count;
    if (at >= count) return false;
    *out = {at, count - at < size ? count : at + size};
    return true;
  }
};

void gemm(const Worker& w, const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias, bool accumulate,
          float* y, size_t y_stride) {
  if (m == 0) return;
  const FormatRow& row = format_row(mat.format);
  const uint32_t n_panels = static_cast<uint32_t>(padded_n(mat.n) / kPanel);
  GemmArgs a{};
  if (row.integer) {
    a.x = q->q;
    a.x_stride = q->stride;
    a.x_scale = q->scale;
    a.x_sum128 = q->sum128;
    a.x_groups = q->groups;
    a.x_group = q->group;
    a.w_scale_stride = n_w_groups(mat.format, mat.k) * kPanel * row.scale_bytes;
  } else {
    a.x = x;
    a.x_stride = x_stride * sizeof(float);
  }
  a.w_stride = panel_bytes(mat.format, mat.k);
  a.y_stride = y_stride;
  a.m = m;
  a.k = mat.k;
  a.accumulate = accumulate;
  Pieces pieces(w, n_panels);
  for (Share panels; pieces.take(&panels);) {
    a.w = static_cast<const uint8_t*>(mat.panels) + panels.from * a.w_stride;
    a.w_scale = static_cast<const uint8_t*>(mat.scales) + panels.from * a.w_scale_stride;
    a.y = y + panels.from * kPanel;
    a.bias = bias ? bias + panels.from * kPanel : nullptr;
    a.n_panels = panels.to - panels.from;
    w.kernels->gemm[mat.format].run(&a);
  }
}

void rope(const Worker& w, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const float* norm_weight, float eps,
          const RopeView& view) {
  const Share items = share(w, m * n_heads);
  for (uint32_t i = items.from; i < items.to; ++i) {
    const uint32_t row = i / n_heads;
    float* head = x + row * stride + size_t{i % n_heads} * head_dim;
    if (norm_weight) w.kernels->t.rmsnorm_row(head, norm_weight, head_dim, eps, head);
    if (view.n_pairs)
      w.kernels->t.rope_row(head, view.cos + size_t{row} * view.n_pairs, view.sin + size_t{row} * view.n_pairs, view.n_pairs, view.interleaved);
  }
}

void act_mul(const Worker& w, const float* gate, const float* up, size_t stride, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  const Share rows = share(w, m);
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
