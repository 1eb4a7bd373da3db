// Layers with a state, to the bit as kernels_cpu/short_conv.cpp and delta_net.cpp. What a tap sees of earlier tokens is the same wherever
// it is read: rows of the pass, rows that were kept, or the state. So convolutions of all rows stand beside each other. What the next pass
// reads is written by kernels of their own, since one of the states written may be the one that is read.
#include "exact.h"
#include "states_args.h"

namespace linnet {

LINNET_ON_GPU float* kept_row(const StateArgs& a, const CudaSlot& s, float* of, uint32_t token) {
  const uint32_t place = (token < s.length ? s.first_place + (token - s.first) : s.new_place + (token - s.keep_from)) % s.n_rows;
  return of + uint64_t{kCudaSlotStates} * a.state_floats + uint64_t{place} * a.row_floats;
}

// What goes into the convolution of a token, counted from taps - 1 before the first one on.
LINNET_ON_GPU float conv_input(const StateArgs& a, const CudaSpan& span, const CudaSlot& s, const CudaSlotRun& run, float* of, uint32_t at,
                               uint32_t channel) {
  if (at < run.first + a.taps - 1) return of[uint64_t{run.from} * a.state_floats + a.before + uint64_t{at - run.first} * a.n + channel];
  const uint32_t token = at - (a.taps - 1);
  if (token < s.position) return kept_row(a, s, of, token)[channel];
  const float* x = a.x + (span.row + (token - s.position)) * a.x_stride + channel;
  return a.gated ? x[0] * x[2 * uint64_t{a.n}] : x[0];
}

// Taps after each other from the oldest on, each product rounded. *newest: the token's own input.
LINNET_ON_GPU float convolved(const StateArgs& a, const CudaSpan& span, const CudaSlot& s, const CudaSlotRun& run, float* of,
                              const float* weight, uint32_t token, uint32_t channel, float* newest) {
  weight += uint64_t{channel} * a.taps;
  float v = conv_input(a, span, s, run, of, token, channel), sum = weight[0] * v;
  for (uint32_t tap = 1; tap < a.taps; ++tap) {
    v = conv_input(a, span, s, run, of, token + tap, channel);
    sum = sum + weight[tap] * v;
  }
  *newest = v;
  return sum;
}

LINNET_KERNEL(kStateThreads) conv_rows(const ConvArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, channel = blockIdx.x % a.pieces * kStateThreads + threadIdx.x;
  if (channel >= a.of.n) return;
  const uint32_t i = a.of.row_span[row];
  const CudaSpan span = a.of.spans[i];
  const CudaSlot& s = a.of.slots[i];
  float* of = a.of.states[uint64_t{i} * a.of.states_stride];
  const uint32_t token = s.position + (row - span.row);
  float newest;
  const float sum = convolved(a.of, span, s, s.runs[0], of, a.weight, token, channel, &newest);
  if (token >= s.keep_from) kept_row(a.of, s, of, token)[channel] = newest;
  a.y[row * a.y_stride + channel] = a.of.x[row * a.of.x_stride + a.of.n + channel] * sum;
}

// The rows in front of the convolution that the next token's taps reach back to, at the end of each run.
LINNET_KERNEL(kStateThreads) conv_states(const HistoryArgs a) {
  const uint32_t i = blockIdx.x / a.pieces, channel = blockIdx.x % a.pieces * kStateThreads + threadIdx.x, before = a.of.taps - 1;
  if (channel >= a.of.n) return;
  const CudaSpan span = a.of.spans[i];
  const CudaSlot& s = a.of.slots[i];
  float* of = a.of.states[uint64_t{i} * a.of.states_stride];
  for (uint32_t r = 0; r < s.n_runs; ++r) {
    const CudaSlotRun run = s.runs[r];
    float* to = of + uint64_t{run.to} * a.of.state_floats + a.of.before + channel;
    for (uint32_t j = 0; j < before; ++j)  // where `to` is `from`, what is read lies behind what is written
      to[uint64_t{j} * a.of.n] = conv_input(a.of, span, s, run, of, run.first + run.n + j, channel);
  }
}

// ---- gated delta nets -------------------------------------------------------------------------------------------------------

// rope_log of rope.cpp.
LINNET_ON_GPU double log_of(double x) {
  uint64_t bits = double_bits(x);
  int e = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m = double_of(bits);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
  return e * 6.93147180369123816490e-01 + (e * 1.90821492927058770002e-10 + 2 * t * sum);
}
LINNET_ON_GPU float softplus(float x) {
  const float e = exp_one(-abs_of(x));
  return static_cast<float>((x > 0 ? static_cast<double>(x) : 0) + log_of(1 + static_cast<double>(e)));
}
LINNET_ON_GPU float sigmoid_of(float x) { return 1.0f / (1.0f + exp_one(-x)); }
LINNET_ON_GPU float silu_of(float x) { return x / (1.0f + exp_one(-x)); }

// What makes the RMS of a row 1, each warp for itself.
LINNET_ON_GPU float rms_inverse(const float* x, uint32_t n, float eps) {
  float s = 0;
  for (uint32_t i = threadIdx.x % 16; i < n; i += 16) s = fma_of(x[i], x[i], s);
  return 1.0f / sqrt_of(tree_sum(s) / static_cast<float>(n) + eps);
}

// One block a span and value head; a thread has a channel of its state, whose keys follow each other.
LINNET_KERNEL(kStateThreads) delta_heads(const DeltaArgs a) {
  LINNET_SHARED float row[3 * kCudaMostDelta];  // q | k | v before q and k are of length 1
  LINNET_SHARED float keys[2 * kCudaMostDelta], fades[kCudaMostDelta], out[kCudaMostDelta], beta[1];
  const uint32_t i = blockIdx.x / a.value_heads, v = blockIdx.x % a.value_heads, values = a.value_heads / a.key_heads, thread = threadIdx.x;
  const uint32_t head = a.tiled ? v % a.key_heads : v / values, all_keys = a.key_heads * a.key_dim, n_fades = a.by_key ? a.key_dim : 1;
  const CudaSpan span = a.of.spans[i];
  const CudaSlot& s = a.of.slots[i];
  float* of = a.of.states[uint64_t{i} * a.of.states_stride];
  const uint64_t head_floats = uint64_t{(a.value_dim + kCudaDeltaPanel - 1) / kCudaDeltaPanel} * kCudaDeltaPanel * a.key_dim,
                 at = v * head_floats + uint64_t{thread / kCudaDeltaPanel} * kCudaDeltaPanel * a.key_dim + thread % kCudaDeltaPanel;
  for (uint32_t r = 0; r < s.n_runs; ++r) {
    const CudaSlotRun run = s.runs[r];
    const float* from = of + uint64_t{run.from} * a.of.state_floats + at;
    float* to = of + uint64_t{run.to} * a.of.state_floats + at;
    for (uint32_t token = run.first; token < run.first + run.n; ++token, from = to) {
      const bool is_new = token >= s.position;
      const uint64_t new_row = span.row + (token - s.position);
      for (uint32_t c = thread; c < 2 * a.key_dim + a.value_dim; c += blockDim.x) {
        const uint32_t channel = c < a.key_dim       ? head * a.key_dim + c
                                 : c < 2 * a.key_dim ? all_keys + head * a.key_dim + (c - a.key_dim)
                                                     : 2 * all_keys + v * a.value_dim + (c - 2 * a.key_dim);
        float newest;
        row[c] = silu_of(convolved(a.of, span, s, s.runs[0], of, a.conv, token, channel, &newest));
      }
      const float* kept = is_new ? nullptr : kept_row(a.of, s, of, token) + a.of.n;
      for (uint32_t key = thread; key < n_fades; key += blockDim.x)
        fades[key] = exp_one(a.a[v] * softplus(is_new ? a.alpha[new_row * a.alpha_stride + uint64_t{v} * n_fades + key]
                                                      : kept[a.value_heads + v * n_fades + key]));
      if (thread == 0) beta[0] = a.beta_scale * sigmoid_of(is_new ? a.beta[new_row * a.beta_stride + v] : kept[v]);
      block_sync();
      const float q_inverse = rms_inverse(row, a.key_dim, a.l2_eps), k_inverse = rms_inverse(row + a.key_dim, a.key_dim, a.l2_eps);
      for (uint32_t c = thread; c < 2 * a.key_dim; c += blockDim.x)
        keys[c] = c < a.key_dim ? (row[c] * q_inverse) * a.q_by : (row[c] * k_inverse) * a.k_by;
      block_sync();
      if (thread < a.value_dim) {
        const float *q = keys, *k = keys + a.key_dim, fade = fades[0];
        float read = 0, o = 0;
        for (uint32_t key = 0; key < a.key_dim; ++key) {
          const float x = from[key * kCudaDeltaPanel];
          read = fma_of(k[key], a.by_key ? fades[key] * x : x, read);
        }
        const float d = beta[0] * (row[2 * a.key_dim + thread] - (a.by_key ? read : fade * read));
        for (uint32_t key = 0; key < a.key_dim; ++key) {
          const float x = fma_of(k[key], d, (a.by_key ? fades[key] : fade) * from[key * kCudaDeltaPanel]);
          to[key * kCudaDeltaPanel] = x;
          o = fma_of(q[key], x, o);
        }
        out[thread] = o;
      } else if (from != to) {  // channels that fill up the last panel
        for (uint32_t key = 0; key < a.key_dim; ++key) to[key * kCudaDeltaPanel] = from[key * kCudaDeltaPanel];
      }
      block_sync();
      const float inverse = rms_inverse(out, a.value_dim, a.eps);
      if (is_new && thread < a.value_dim) {  // y: the gate before
        float* y = a.y + new_row * a.y_stride + v * a.value_dim + thread;
        *y = (a.by_key ? sigmoid_of(*y) : silu_of(*y)) * ((out[thread] * inverse) * a.norm[thread]);
      }
    }
  }
}

LINNET_KERNEL(kStateThreads) delta_keep(const DeltaArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, c = blockIdx.x % a.pieces * kStateThreads + threadIdx.x;
  if (c >= a.of.row_floats) return;
  const uint32_t i = a.of.row_span[row];
  const CudaSlot& s = a.of.slots[i];
  const uint32_t token = s.position + (row - a.of.spans[i].row);
  if (token < s.keep_from) return;
  kept_row(a.of, s, a.of.states[uint64_t{i} * a.of.states_stride], token)[c] =
      c < a.of.n                   ? a.of.x[row * a.of.x_stride + c]
      : c < a.of.n + a.value_heads ? a.beta[row * a.beta_stride + (c - a.of.n)]
                                   : a.alpha[row * a.alpha_stride + (c - a.of.n - a.value_heads)];
}

}  // namespace linnet
