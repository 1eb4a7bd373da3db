// Short convolutions over time. A piece is some channels of a sequence's rows, which go through them in order; sums of channels stand by
// themselves, so that no way to cut changes a bit.
#include "short_conv.h"

#include <cstring>

#include "../runtime/cache/slots.h"

namespace linnet {
namespace {

constexpr uint32_t kChannels = 128;  // of a piece

// The taps of some channels, side by side; and the rows that they see, the oldest at `first`.
struct Window {
  uint32_t taps, n;
  alignas(64) float weight[kMostTaps][kChannels], rows[kMostTaps][kChannels];
  uint32_t first = 0;
  uint32_t at(uint32_t i) const { return (first + i) % taps; }

  Window(const ShortConvArgs& a, uint32_t channel, uint32_t count) : taps(a.taps), n(count) {
    for (uint32_t i = 0; i < taps; ++i)
      for (uint32_t c = 0; c < n; ++c) weight[i][c] = a.weight[(channel + c) * size_t{taps} + i];
  }
  void load(const float* state, uint32_t n_channels) {
    first = 0;
    for (uint32_t i = 0; i + 1 < taps; ++i) std::memcpy(rows[i], state + i * size_t{n_channels}, n * sizeof(float));
  }
  void store(float* state, uint32_t n_channels) const {
    for (uint32_t i = 0; i + 1 < taps; ++i) std::memcpy(state + i * size_t{n_channels}, rows[at(i)], n * sizeof(float));
  }
  float* newest() { return rows[at(taps - 1)]; }
  void step() { first = at(1); }
  void sum(float* y) const {
    for (uint32_t c = 0; c < n; ++c) y[c] = weight[0][c] * rows[first][c];
    for (uint32_t i = 1; i < taps; ++i) {
      const float *w = weight[i], *row = rows[at(i)];
      for (uint32_t c = 0; c < n; ++c) y[c] = y[c] + w[c] * row[c];
    }
  }
};

void piece(const ShortConvArgs& a, const RowSpan& span, uint32_t channel, uint32_t n) {
  const SlotView v = a.slots->view(span.seq, a.layer);
  Window window(a, channel, n);
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
  const uint32_t parts = static_cast<uint32_t>(div_up(a.n, kChannels));
  for_rows(w, a.n_spans * parts, [&](uint32_t i) {
    const uint32_t channel = i % parts * kChannels, left = a.n - channel;
    piece(a, a.spans[i / parts], channel, left < kChannels ? left : kChannels);
  });
}

}  // namespace linnet
