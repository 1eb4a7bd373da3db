// Convolutions over time: some channels of a sequence's rows, the weights of their taps and the rows that the next one sees. Sums of
// channels stand by themselves, so that no way to cut changes a bit.
#pragma once
#include <cstring>

#include "../runtime/cache/slots.h"
#include "../runtime/ops.h"
#include "kernels.h"

namespace linnet {

struct Taps {
  static constexpr uint32_t kChannels = 128;  // at most
  static constexpr uint32_t kAhead = 4;       // rows that are asked for before they are read: a pass's rows lie far apart

  const KernelTable& kernels;
  uint32_t taps, n;
  alignas(64) float weight[kMostTaps][kChannels], rows[kMostTaps][kChannels];  // the oldest row at `first`
  const float* of[kMostTaps];                                                  // rows, or where they lie
  uint32_t first = 0;
  uint32_t at(uint32_t i) const { return first + i < taps ? first + i : first + i - taps; }

  // Of w (channels, taps) count channels from `channel` on.
  Taps(const KernelTable& k, const float* w, uint32_t n_taps, uint32_t channel, uint32_t count) : kernels(k), taps(n_taps), n(count) {
    for (uint32_t i = 0; i < taps; ++i)
      for (uint32_t c = 0; c < n; ++c) weight[i][c] = w[(channel + c) * size_t{taps} + i];
  }
  // state: (taps - 1, stride), the oldest first.
  void load(const float* state, size_t stride) {
    first = 0;
    for (uint32_t i = 0; i + 1 < taps; ++i) {
      std::memcpy(rows[i], state + i * stride, n * sizeof(float));
      of[i] = rows[i];
    }
  }
  void store(float* state, size_t stride) const {
    for (uint32_t i = 0; i + 1 < taps; ++i) std::memcpy(state + i * stride, of[at(i)], n * sizeof(float));
  }
  float* newest() {
    const uint32_t i = at(taps - 1);
    of[i] = rows[i];
    return rows[i];
  }
  void newest_lies(const float* row) { of[at(taps - 1)] = row; }  // until it is the oldest
  void step() { first = at(1); }
  void sum(float* y) const {
    const float* in_order[kMostTaps];
    for (uint32_t i = 0; i < taps; ++i) in_order[i] = of[at(i)];
    kernels.taps_row(in_order, weight[0], kChannels, taps, n, y);
  }
  // Tokens from .. from + count - 1 of a pass: from `channel` on of x (rows from view.position on, x_stride) what lies there, of earlier
  // ones of their kept rows, and `keeps` those to come; sums to y (n, y_stride), which is not in x. state as above.
  void pass(const SlotView& view, uint32_t from, uint32_t count, uint32_t channel, const float* x, size_t x_stride, bool keeps,
            float* state, size_t stride, float* y, size_t y_stride) {
    load(state, stride);
    for (uint32_t token = from; token < from + count; ++token, step(), y += y_stride) {
      float* const kept = token < view.position || token >= view.keep_from ? view.row(token) + channel : nullptr;
      if (token < view.position) {
        std::memcpy(newest(), kept, n * sizeof(float));  // later tokens' rows may take its place
      } else {
        const float* const row = x + size_t{token - view.position} * x_stride + channel;
        if (from + count - token > kAhead)
          for (uint32_t c = 0; c < n; c += 16) __builtin_prefetch(row + kAhead * x_stride + c);
        newest_lies(row);
        if (keeps && kept) std::memcpy(kept, row, n * sizeof(float));
      }
      sum(y);
    }
    store(state, stride);
  }
};

}  // namespace linnet
