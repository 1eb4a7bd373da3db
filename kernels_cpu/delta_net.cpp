// Gated delta nets. A piece is a key head of a sequence with the value heads that share it, which goes through the rows in order, some
// tokens at a time; sums of a value's channels stand by themselves, over keys in their order, so that no way to cut changes a bit.
#include "delta_net.h"

#include <cstring>

#include "../runtime/rope.h"
#include "registry.h"
#include "taps.h"

namespace linnet {
namespace {

static_assert(kMostDeltaFloats <= kStateFloats && kDeltaPanel == kStatePanel);

// The channels of a key head and its value heads, in rows of q | k | v of all heads, in a row of their own, and the weights beside them.
struct Head {
  const DeltaNetArgs& a;
  uint32_t head, values, n;  // values: of this key head
  uint32_t keys, width;      // channels of all key heads; of a row

  Head(const DeltaNetArgs& args, uint32_t i) : a(args), head(i), values(a.value_heads / a.key_heads) {
    n = 2 * a.key_dim + values * a.value_dim;
    keys = a.key_heads * a.key_dim;
    width = 2 * keys + a.value_heads * a.value_dim;
  }
  uint32_t value(uint32_t i) const { return a.tiled ? i * a.key_heads + head : head * values + i; }
  // fn(first channel, channels, where in the row of its own) for channels that lie together, Taps::kChannels at most.
  template <class Fn>
  void each_part(Fn fn) const {
    uint32_t to = 0;
    const auto part = [&](uint32_t channel, uint32_t count) {
      for (uint32_t some; count; count -= some, channel += some, to += some) {
        some = count < Taps::kChannels ? count : Taps::kChannels;
        fn(channel, some, to);
      }
    };
    part(head * a.key_dim, a.key_dim);
    part(keys + head * a.key_dim, a.key_dim);
    for (uint32_t i = 0; i < values; ++i) part(2 * keys + value(i) * a.value_dim, a.value_dim);
  }
};

}  // namespace

void softplus_row(const KernelTable& t, float* x, uint32_t n) {
  float e[kStateTokens];
  for (uint32_t some; n; n -= some, x += some) {
    some = n < kStateTokens ? n : kStateTokens;
    for (uint32_t i = 0; i < some; ++i) e[i] = -__builtin_fabsf(x[i]);
    t.exp_row(e, some);
    for (uint32_t i = 0; i < some; ++i) x[i] = static_cast<float>((x[i] > 0 ? double{x[i]} : 0) + rope_log(1 + double{e[i]}));
  }
}

namespace {

void sigmoid(const KernelTable& t, float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x[i] = -x[i];
  t.exp_row(x, n);
  for (uint32_t i = 0; i < n; ++i) x[i] = 1 / (1 + x[i]);
}

void piece(const Worker& w, const DeltaNetArgs& a, const RowSpan& span, const Head& h) {
  const KernelTable& t = w.kernels->t;
  const SlotView view = a.slots->view(span.seq, a.layer);
  const size_t head_floats = delta_state_floats(a.key_dim, a.value_dim), states = a.value_heads * head_floats;
  const uint32_t n_row = h.n + (a.by_key ? a.key_dim : 0), most = kStateFloats / n_row < kStateTokens ? kStateFloats / n_row : kStateTokens;
  alignas(64) float rows[kStateFloats], q_by[kMostDeltaDim], k_by[kMostDeltaDim], fade[kStateTokens],
      beta[kStateTokens];  // rows: (tokens, n, and the keys' fades)
  for (uint32_t i = 0; i < a.key_dim; ++i) {
    q_by[i] = 1 / static_cast<float>(a.key_dim);
    k_by[i] = 1 / __builtin_sqrtf(static_cast<float>(a.key_dim));
  }
  const float l2_eps = 1e-6f / static_cast<float>(a.key_dim);  // of the sum of squares
  for (uint32_t r = 0; r < view.n_runs; ++r) {
    const SlotRun& run = view.runs[r];
    float* const before = run.to + states;  // (taps - 1, width): the rows that the next one's taps reach back to
    if (run.from != run.to) {
      for (uint32_t i = 0; i < h.values; ++i)
        std::memcpy(run.to + h.value(i) * head_floats, run.from + h.value(i) * head_floats, head_floats * sizeof(float));
      h.each_part([&](uint32_t channel, uint32_t n, uint32_t) {
        for (uint32_t i = 0; i + 1 < a.taps; ++i)
          std::memcpy(before + i * size_t{h.width} + channel, run.from + states + i * size_t{h.width} + channel, n * sizeof(float));
      });
    }
    for (uint32_t first = run.first, end = run.first + run.n, m; first < end; first += m) {
      m = end - first < most ? end - first : most;
      const auto row = [&](uint32_t i) { return span.row + size_t{first + i - view.position}; };  // of tokens that are new
      h.each_part([&](uint32_t channel, uint32_t n, uint32_t to) {
        Taps(t, a.conv, a.taps, channel, n)
            .pass(view, first, m, channel, a.x + span.row * a.x_stride, a.x_stride, true, before + channel, h.width, rows + to, n_row);
      });
      for (uint32_t i = 0; i < m; ++i) {
        float* const c = rows + i * size_t{n_row};
        t.silu_mul_row(c, nullptr, h.n, c);
        t.rmsnorm_row(c, q_by, a.key_dim, l2_eps, c);
        t.rmsnorm_row(c + a.key_dim, k_by, a.key_dim, l2_eps, c + a.key_dim);
      }
      for (uint32_t j = 0; j < h.values; ++j) {
        const uint32_t v = h.value(j);
        for (uint32_t i = 0; i < m; ++i) {
          const uint32_t token = first + i;
          float* const kept = token < view.position || token >= view.keep_from ? view.row(token) + h.width + v : nullptr;
          beta[i] = token < view.position ? kept[0] : a.beta[row(i) * a.beta_stride + v];
          if (kept) kept[0] = beta[i];
          if (token >= view.position)
            for (uint32_t c = 0; c < a.value_dim; c += 16) __builtin_prefetch(a.y + row(i) * a.y_stride + v * a.value_dim + c);
          const uint32_t n_fades = a.by_key ? a.key_dim : 1;
          float *const to = a.by_key ? rows + i * size_t{n_row} + h.n : fade + i, *const kept_fades =
                                                                                      kept ? kept - v + a.value_heads + size_t{v} * n_fades
                                                                                           : nullptr;
          const float* const alpha = token < view.position ? kept_fades : a.alpha + row(i) * a.alpha_stride + size_t{v} * n_fades;
          std::memcpy(to, alpha, n_fades * sizeof(float));
          if (kept && token >= view.position) std::memcpy(kept_fades, to, n_fades * sizeof(float));
          if (!a.by_key) continue;
          softplus_row(t, to, n_fades);
          for (uint32_t key = 0; key < n_fades; ++key) to[key] = a.a[v] * to[key];
          t.exp_row(to, n_fades);
        }
        sigmoid(t, beta, m);
        for (uint32_t i = 0; i < m; ++i) beta[i] = a.beta_scale * beta[i];
        if (!a.by_key) {
          softplus_row(t, fade, m);
          for (uint32_t i = 0; i < m; ++i) fade[i] = a.a[v] * fade[i];
          t.exp_row(fade, m);
        }
        float* const o = rows + 2 * a.key_dim + j * a.value_dim;  // the values before
        t.delta_steps({run.to + v * head_floats, a.key_dim, a.value_dim, m, rows, rows + a.key_dim, o, o, n_row, fade, beta,
                       a.by_key ? DeltaKind::kByKey : DeltaKind::kByHead, rows + h.n});
        for (uint32_t i = 0; i < m; ++i) {
          if (first + i < view.position) continue;
          float *const y = a.y + row(i) * a.y_stride + v * a.value_dim, *const of = o + i * size_t{n_row};  // y: the gate before
          t.rmsnorm_row(of, a.norm, a.value_dim, a.eps, of);
          (a.by_key ? t.sigmoid_mul_row : t.silu_mul_row)(y, of, a.value_dim, y);
        }
      }
    }
  }
}

}  // namespace

void cpu_delta_net(const Worker& w, const DeltaNetArgs& a) {
  for_rows(w, a.n_spans * a.key_heads, [&](uint32_t i) { piece(w, a, a.spans[i / a.key_heads], Head(a, i % a.key_heads)); });
}

}  // namespace linnet
