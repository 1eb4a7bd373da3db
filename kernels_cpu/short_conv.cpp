// Gated short convolutions. A piece is some channels of a sequence's rows, which go through them in order.
#include "short_conv.h"

#include "../runtime/cache/slots.h"
#include "registry.h"
#include "taps.h"

namespace linnet {
namespace {

void piece(const Worker& w, const ShortConvArgs& a, const RowSpan& span, uint32_t channel, uint32_t n) {
  const SlotView v = a.slots->view(span.seq, a.layer);
  Taps window(w.kernels->t, a.weight, a.taps, channel, n);
  for (uint32_t r = 0; r < v.n_runs; ++r) {
    const SlotRun& run = v.runs[r];
    window.load(run.from + channel, a.n);
    for (uint32_t t = run.first; t < run.first + run.n; ++t, window.step()) {
      float* const s = window.newest();
      if (t < v.position) {
        std::memcpy(s, v.row(t) + channel, n * sizeof *s);
        continue;
      }
      const size_t row = span.row + size_t{t - v.position};
      const float *b = a.x + row * a.x_stride + channel, *c = b + a.n, *u = c + a.n;
      for (uint32_t i = 0; i < n; ++i) s[i] = b[i] * u[i];
      if (t >= v.keep_from) std::memcpy(v.row(t) + channel, s, n * sizeof *s);
      float* const y = a.y + row * a.y_stride + channel;
      window.sum(y);
      for (uint32_t i = 0; i < n; ++i) y[i] = c[i] * y[i];
    }
    window.store(run.to + channel, a.n);
  }
}

}  // namespace

void cpu_short_conv(const Worker& w, const ShortConvArgs& a) {
  const uint32_t parts = static_cast<uint32_t>(div_up(a.n, Taps::kChannels));
  for_rows(w, a.n_spans * parts, [&](uint32_t i) {
    const uint32_t channel = i % parts * Taps::kChannels, left = a.n - channel;
    piece(w, a, a.spans[i / parts], channel, left < Taps::kChannels ? left : Taps::kChannels);
  });
}

}  // namespace linnet
