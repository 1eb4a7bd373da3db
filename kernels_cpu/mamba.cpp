// Mamba-2. A piece is some heads of a group and a sequence, which go through the rows in order, some tokens at a time, with the group's B
// and C, whose convolution each piece does for itself; sums of a head's channels stand by themselves, over the state's rows in their order,
// so that no way to cut changes a bit.
#include "mamba.h"

#include "delta_net.h"
#include "registry.h"
#include "taps.h"

namespace linnet {
namespace {

static_assert(2 * kMostDeltaDim + kMambaHeads * kMostDeltaDim <= kStateFloats);

// Channels of a piece in a row of its own: B | C | x of its heads.
struct Heads {
  const MambaArgs& a;
  uint32_t group, first, count;  // heads first .. first + count - 1
  uint32_t n, before;            // channels; of all pieces before this one
  bool keeps;                    // the group's first piece: B and C are kept once

  Heads(const MambaArgs& args, uint32_t i) : a(args) {
    const uint32_t heads = a.heads / a.groups, pieces = mamba_pieces(heads), part = i % pieces * kMambaHeads;
    group = i / pieces;
    first = group * heads + part;
    count = heads - part < kMambaHeads ? heads - part : kMambaHeads;
    n = 2 * a.state_dim + count * a.head_dim;
    before = i * 2 * a.state_dim + first * a.head_dim;
    keeps = part == 0;
  }
  // fn(first channel, channels, where in the row of its own, whether this piece keeps them), Taps::kChannels at most.
  template <class Fn>
  void each_part(Fn fn) const {
    const uint32_t inner = a.heads * a.head_dim, b = inner + group * a.state_dim, c = b + a.groups * a.state_dim;
    const auto part = [&](uint32_t channel, uint32_t some, uint32_t to, bool kept) {
      for (uint32_t i = 0, m; i < some; i += m) {
        m = some - i < Taps::kChannels ? some - i : Taps::kChannels;
        fn(channel + i, m, to + i, kept);
      }
    };
    part(b, a.state_dim, 0, keeps);
    part(c, a.state_dim, a.state_dim, keeps);
    part(first * a.head_dim, count * a.head_dim, 2 * a.state_dim, true);
  }
};

void piece(const Worker& w, const MambaArgs& a, const RowSpan& span, const Heads& h) {
  const KernelTable& t = w.kernels->t;
  const SlotView view = a.slots->view(span.seq, a.layer);
  const uint32_t width = a.heads * a.head_dim + 2 * a.groups * a.state_dim;
  const size_t head_floats = delta_state_floats(a.state_dim, a.head_dim);
  const size_t taps_at = a.heads * head_floats + (a.taps - 1) * size_t{h.before}, taps_floats = (a.taps - 1) * size_t{h.n};
  const uint32_t most = kStateFloats / h.n < kStateTokens ? kStateFloats / h.n : kStateTokens;
  alignas(64) float rows[kStateFloats], bias[2 * kMostDeltaDim + kMambaHeads * kMostDeltaDim], fade[kStateTokens], dt[kStateTokens];
  if (a.conv_bias)
    h.each_part([&](uint32_t channel, uint32_t n, uint32_t to, bool) { std::memcpy(bias + to, a.conv_bias + channel, n * sizeof(float)); });
  for (uint32_t r = 0; r < view.n_runs; ++r) {
    const SlotRun& run = view.runs[r];
    if (run.from != run.to) {
      std::memcpy(run.to + h.first * head_floats, run.from + h.first * head_floats, h.count * head_floats * sizeof(float));
      std::memcpy(run.to + taps_at, run.from + taps_at, taps_floats * sizeof(float));
    }
    for (uint32_t first = run.first, end = run.first + run.n, m; first < end; first += m) {
      m = end - first < most ? end - first : most;
      h.each_part([&](uint32_t channel, uint32_t n, uint32_t to, bool keeps) {
        Taps(t, a.conv, a.taps, channel, n)
            .pass(view, first, m, channel, a.x + span.row * a.x_stride, a.x_stride, keeps, run.to + taps_at + to, h.n, rows + to, h.n);
      });
      for (uint32_t i = 0; i < m; ++i) {
        float* const c = rows + i * size_t{h.n};
        if (a.conv_bias) t.add_row(c, bias, h.n);
        t.silu_mul_row(c, nullptr, h.n, c);
      }
      for (uint32_t j = 0; j < h.count; ++j) {
        const uint32_t head = h.first + j;
        for (uint32_t i = 0; i < m; ++i) {
          const uint32_t token = first + i;
          float* const kept = token < view.position || token >= view.keep_from ? view.row(token) + width + head : nullptr;
          dt[i] = token < view.position ? *kept : a.dt[(span.row + size_t{token - view.position}) * a.dt_stride + head];
          if (kept) *kept = dt[i];
        }
        softplus_row(t, dt, m);
        for (uint32_t i = 0; i < m; ++i) {
          if (dt[i] < a.dt_min) dt[i] = a.dt_min;
          if (a.dt_max > 0 && dt[i] > a.dt_max) dt[i] = a.dt_max;
          fade[i] = a.a[head] * dt[i];
        }
        t.exp_row(fade, m);
        float* const x = rows + 2 * a.state_dim + j * a.head_dim;  // then what comes out
        t.delta_steps({run.to + head * head_floats, a.state_dim, a.head_dim, m, rows + a.state_dim, rows, x, x, h.n, fade, dt,
                       DeltaKind::kUncorrected, nullptr, a.skip[head]});
        for (uint32_t i = 0; i < m; ++i)
          if (first + i >= view.position)
            std::memcpy(a.y + (span.row + size_t{first + i - view.position}) * a.y_stride + head * a.head_dim, x + i * size_t{h.n},
                        a.head_dim * sizeof(float));
      }
    }
  }
}

}  // namespace

void cpu_mamba(const Worker& w, const MambaArgs& a) {
  const uint32_t pieces = a.groups * mamba_pieces(a.heads / a.groups);
  for_rows(w, a.n_spans * pieces, [&](uint32_t i) { piece(w, a, a.spans[i / pieces], Heads(a, i % pieces)); });
}

void cpu_gated_norm(const Worker& w, const GatedNormArgs& a) {
  const KernelTable& t = w.kernels->t;
  const uint32_t n = a.n / a.groups;
  for_rows(w, a.m * a.groups, [&](uint32_t i) {
    const uint32_t row = i / a.groups, at = i % a.groups * n;
    float* const y = a.y + row * a.stride + at;
    if (a.norm_first && a.weight) t.rmsnorm_row(y, a.weight + at, n, a.eps, y);
    t.silu_mul_row(a.gate + row * a.gate_stride + at, y, n, y);
    if (!a.norm_first && a.weight) t.rmsnorm_row(y, a.weight + at, n, a.eps, y);
  });
}

}  // namespace linnet
