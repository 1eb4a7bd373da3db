// Gated delta nets. A piece is a key head of a sequence with the value heads that share it, which goes through the rows in order; sums of a
// value's channels stand by themselves, over keys in their order, so that no way to cut changes a bit.
#include "delta_net.h"

#include <cstring>

#include "../runtime/cache/slots.h"
#include "../runtime/rope.h"
#include "registry.h"

namespace linnet {
namespace {

// Channels of a piece in a row: of q, k and its values.
struct Channels {
  uint32_t at[3], n[3];
  uint32_t all() const { return n[0] + n[1] + n[2]; }
  // Of a whole row `from` one behind the other, or back.
  void take(const float* from, float* to) const {
    for (int i = 0; i < 3; to += n[i], ++i) std::memcpy(to, from + at[i], n[i] * sizeof *to);
  }
  void give(const float* from, float* to) const {
    for (int i = 0; i < 3; from += n[i], ++i) std::memcpy(to + at[i], from, n[i] * sizeof *to);
  }
};

// log(1 + exp(x)), the same on every machine.
float softplus(const KernelTable& t, float x) {
  float e = -__builtin_fabsf(x);
  t.exp_row(&e, 1);
  return static_cast<float>((x > 0 ? double{x} : 0) + rope_log(1 + double{e}));
}
float sigmoid(const KernelTable& t, float x) {
  float e = -x;
  t.exp_row(&e, 1);
  return 1 / (1 + e);
}

void piece(const Worker& w, const DeltaNetArgs& a, const RowSpan& span, uint32_t head) {
  const KernelTable& t = w.kernels->t;
  const SlotView view = a.slots->view(span.seq, a.layer);
  const uint32_t values = a.value_heads / a.key_heads, keys = a.key_heads * a.key_dim, width = 2 * keys + a.value_heads * a.value_dim,
                 first = head * values;
  const Channels c = {{head * a.key_dim, keys + head * a.key_dim, 2 * keys + first * a.value_dim},
                      {a.key_dim, a.key_dim, values * a.value_dim}};
  const uint32_t n = c.all();
  const size_t head_floats = size_t{a.key_dim} * a.value_dim, states = a.value_heads * head_floats;
  alignas(64) float rows[kMostDeltaFloats], mixed[kMostDeltaFloats / 2], q[kMostDeltaDim], k[kMostDeltaDim], o[kMostDeltaDim],
      q_by[kMostDeltaDim], k_by[kMostDeltaDim];  // rows: (taps, n)
  for (uint32_t i = 0; i < a.key_dim; ++i) {
    q_by[i] = 1 / static_cast<float>(a.key_dim);
    k_by[i] = 1 / __builtin_sqrtf(static_cast<float>(a.key_dim));
  }
  const float l2_eps = 1e-6f / static_cast<float>(a.key_dim);  // of the sum of squares
  for (uint32_t r = 0; r < view.n_runs; ++r) {
    const SlotRun& run = view.runs[r];
    if (run.from != run.to) std::memcpy(run.to + first * head_floats, run.from + first * head_floats, values * head_floats * sizeof(float));
    uint32_t oldest = 0;
    for (uint32_t i = 0; i + 1 < a.taps; ++i) c.take(run.from + states + i * size_t{width}, rows + i * size_t{n});
    for (uint32_t token = run.first; token < run.first + run.n; ++token) {
      const bool is_new = token >= view.position;
      const size_t row = is_new ? span.row + size_t{token - view.position} : 0;
      float* const newest = rows + (oldest + a.taps - 1) % a.taps * size_t{n};
      const float *beta = a.beta + row * a.heads_stride, *alpha = a.alpha + row * a.heads_stride;
      if (is_new) {
        c.take(a.x + row * a.x_stride, newest);
        if (token >= view.keep_from) {
          float* const kept = view.row(token);
          c.give(newest, kept);
          std::memcpy(kept + width + first, beta + first, values * sizeof(float));
          std::memcpy(kept + width + a.value_heads + first, alpha + first, values * sizeof(float));
        }
      } else {
        const float* const kept = view.row(token);
        c.take(kept, newest);
        beta = kept + width;
        alpha = beta + a.value_heads;
      }
      // The convolution, oldest first.
      const float* seen[kMostTaps];  // each (n)
      for (uint32_t tap = 0; tap < a.taps; ++tap) seen[tap] = rows + (oldest + tap) % a.taps * size_t{n};
      size_t channel = 0;
      for (int part = 0; part < 3; ++part)
        for (uint32_t i = 0; i < c.n[part]; ++i, ++channel) {
          const float* const taps = a.conv + (c.at[part] + i) * size_t{a.taps};
          float sum = taps[0] * seen[0][channel];
          for (uint32_t tap = 1; tap < a.taps; ++tap) sum = sum + taps[tap] * seen[tap][channel];
          mixed[channel] = sum;
        }
      oldest = (oldest + 1) % a.taps;
      t.silu_mul_row(mixed, nullptr, n, mixed);
      t.rmsnorm_row(mixed, q_by, a.key_dim, l2_eps, q);
      t.rmsnorm_row(mixed + a.key_dim, k_by, a.key_dim, l2_eps, k);
      for (uint32_t i = 0; i < values; ++i) {
        const uint32_t v = first + i;
        float fade = a.a[v] * softplus(t, alpha[v]);
        t.exp_row(&fade, 1);
        t.delta_step(run.to + v * head_floats, a.key_dim, a.value_dim, q, k, mixed + 2 * a.key_dim + i * a.value_dim, fade,
                     sigmoid(t, beta[v]), is_new ? o : nullptr);
        if (!is_new) continue;
        float* const y = a.y + row * a.y_stride + v * a.value_dim;  // the gate before
        t.rmsnorm_row(o, a.norm, a.value_dim, a.eps, o);
        t.silu_mul_row(y, o, a.value_dim, y);
      }
    }
    for (uint32_t i = 0; i + 1 < a.taps; ++i) c.give(rows + (oldest + i) % a.taps * size_t{n}, run.to + states + i * size_t{width});
  }
}

}  // namespace

void cpu_delta_net(const Worker& w, const DeltaNetArgs& a) {
  for_rows(w, a.n_spans * a.key_heads, [&](uint32_t i) { piece(w, a, a.spans[i / a.key_heads], i % a.key_heads); });
}

}  // namespace linnet
