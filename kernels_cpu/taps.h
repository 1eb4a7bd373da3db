// Convolutions over time: some channels of a sequence's rows, the weights of their taps and the rows that the next one sees. Sums of
// channels stand by themselves, so that no way to cut changes a bit.
#pragma once
#include <cstring>

#include "../runtime/cache/slots.h"
#include "../runtime/ops.h"

namespace linnet {

struct Taps {
  static constexpr uint32_t kChannels = 128;  // at most

  uint32_t taps, n;
  alignas(64) float weight[kMostTaps][kChannels], rows[kMostTaps][kChannels];  // the oldest row at `first`
  uint32_t first = 0;
  uint32_t at(uint32_t i) const { return first + i < taps ? first + i : first + i - taps; }

  // Of w (channels, taps) count channels from `channel` on.
  Taps(const float* w, uint32_t n_taps, uint32_t channel, uint32_t count) : taps(n_taps), n(count) {
    for (uint32_t i = 0; i < taps; ++i)
      for (uint32_t c = 0; c < n; ++c) weight[i][c] = w[(channel + c) * size_t{taps} + i];
  }
  // state: (taps - 1, stride), the oldest first.
  void load(const float* state, size_t stride) {
    first = 0;
    for (uint32_t i = 0; i + 1 < taps; ++i) std::memcpy(rows[i], state + i * stride, n * sizeof(float));
  }
  void store(float* state, size_t stride) const {
    for (uint32_t i = 0; i + 1 < taps; ++i) std::memcpy(state + i * stride, rows[at(i)], n * sizeof(float));
  }
  float* newest() { return rows[at(taps - 1)]; }
  void step() { first = at(1); }
  // Taps after each other from the oldest on, each product rounded.
  void sum(float* y) const {
    for (uint32_t c = 0; c < n; ++c) y[c] = weight[0][c] * rows[first][c];
    for (uint32_t i = 1; i < taps; ++i) {
      const float *w = weight[i], *row = rows[at(i)];
      for (uint32_t c = 0; c < n; ++c) y[c] = y[c] + w[c] * row[c];
    }
  }
  // Tokens from .. from + count - 1 of a pass: from `channel` on of x (rows from view.position on, x_stride) what lies there, of earlier
  // ones of their kept rows, and `keeps` those to come; sums to y (n, y_stride). state as above.
  void pass(const SlotView& view, uint32_t from, uint32_t count, uint32_t channel, const float* x, size_t x_stride, bool keeps,
            float* state, size_t stride, float* y, size_t y_stride) {
    load(state, stride);
    for (uint32_t token = from; token < from + count; ++token, step(), y += y_stride) {
      float *const row = newest(), *const kept = token < view.position || token >= view.keep_from ? view.row(token) + channel : nullptr;
      std::memcpy(row, token < view.position ? kept : x + size_t{token - view.position} * x_stride + channel, n * sizeof(float));
      if (keeps && token >= view.position && kept) std::memcpy(kept, row, n * sizeof(float));
      sum(y);
    }
    store(state, stride);
  }
};

}  // namespace linnet
