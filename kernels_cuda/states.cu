// Layers with a state, to the bit as kernels_cpu/short_conv.cpp, delta_net.cpp and mamba.cpp. What a tap sees of earlier tokens is the same
// wherever it is read: rows of the pass, rows that were kept, or the state. So convolutions of all rows stand beside each other. What the
// next pass reads is written by kernels of their own, since one of the states written may be the one that is read.
#include "exact.h"
#include "states_args.h"

namespace linnet {

LINNET_ON_GPU float* kept_row(const StateArgs& a, const CudaSlot& s, float* of, uint32_t token) {
  const uint32_t place = (token < s.length ? s.first_place + (token - s.first) : s.new_place + (token - s.keep_from)) % s.n_rows;
  return of + uint64_t{kCudaSlotStates} * a.state_floats + uint64_t{place} * a.row_floats;
}

// A channel of what goes into a convolution, and where a state has it of the rows before, `step` floats apart.
struct StateChannel {
  uint32_t channel, step, at;
};
LINNET_ON_GPU StateChannel one_of(const StateArgs& a, uint32_t channel) { return {channel, a.n, a.before + channel}; }

// What goes into the convolution of a token, counted from taps - 1 before the first one on.
LINNET_ON_GPU float conv_input(const StateArgs& a, const CudaSpan& span, const CudaSlot& s, const CudaSlotRun& run, float* of, uint32_t at,
                               const StateChannel& c) {
  if (at < run.first + a.taps - 1) return of[uint64_t{run.from} * a.state_floats + c.at + uint64_t{at - run.first} * c.step];
  const uint32_t token = at - (a.taps - 1);
  if (token < s.position) return kept_row(a, s, of, token)[c.channel];
  const float* x = a.x + (span.row + (token - s.position)) * a.x_stride + c.channel;
  return a.gated ? x[0] * x[2 * uint64_t{a.n}] : x[0];
}

// Taps after each other from the oldest on, each product rounded. *newest: the token's own input.
LINNET_ON_GPU float convolved(const StateArgs& a, const CudaSpan& span, const CudaSlot& s, const CudaSlotRun& run, float* of,
                              const float* weight, uint32_t token, const StateChannel& c, float* newest) {
  weight += uint64_t{c.channel} * a.taps;
  float v = conv_input(a, span, s, run, of, token, c), sum = weight[0] * v;
  for (uint32_t tap = 1; tap < a.taps; ++tap) {
    v = conv_input(a, span, s, run, of, token + tap, c);
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
  const float sum = convolved(a.of, span, s, s.runs[0], of, a.weight, token, one_of(a.of, channel), &newest);
  if (token >= s.keep_from) kept_row(a.of, s, of, token)[channel] = newest;
  a.y[row * a.y_stride + channel] = a.of.x[row * a.of.x_stride + a.of.n + channel] * sum;
}

// Of Mamba-2 channel `local` of a piece (ops.h), B | C | x of its heads. States have the rows of each piece apart.
LINNET_ON_GPU StateChannel of_piece(const StateArgs& a, const MambaShape& m, uint32_t group, uint32_t piece, uint32_t local) {
  const uint32_t both = 2 * m.state_dim, pieces = (m.heads + kCudaMambaHeads - 1) / kCudaMambaHeads, first = piece * kCudaMambaHeads;
  const uint32_t heads = m.heads - first < kCudaMambaHeads ? m.heads - first : kCudaMambaHeads;
  const uint32_t before = group * (pieces * both + m.heads * m.head_dim) + piece * both + first * m.head_dim;
  const uint32_t inner = m.groups * m.heads * m.head_dim;
  const uint32_t channel = local >= both          ? (group * m.heads + first) * m.head_dim + (local - both)
                           : local >= m.state_dim ? inner + (m.groups + group) * m.state_dim + (local - m.state_dim)
                                                  : inner + group * m.state_dim + local;
  return {channel, both + heads * m.head_dim, a.before + (a.taps - 1) * before + local};
}

// The rows in front of the convolution that the next token's taps reach back to, at the end of each run.
LINNET_KERNEL(kStateThreads) conv_states(const HistoryArgs a) {
  const uint32_t i = blockIdx.x / a.pieces, n = blockIdx.x % a.pieces * kStateThreads + threadIdx.x, before = a.of.taps - 1;
  if (n >= a.n) return;
  StateChannel c = one_of(a.of, n);
  if (const MambaShape& m = a.mamba; m.groups) {
    const uint32_t whole = 2 * m.state_dim + kCudaMambaHeads * m.head_dim, of_group = a.n / m.groups;
    c = of_piece(a.of, m, n / of_group, n % of_group / whole, n % of_group % whole);
  }
  const CudaSpan span = a.of.spans[i];
  const CudaSlot& s = a.of.slots[i];
  float* of = a.of.states[uint64_t{i} * a.of.states_stride];
  for (uint32_t r = 0; r < s.n_runs; ++r) {
    const CudaSlotRun run = s.runs[r];
    float* to = of + uint64_t{run.to} * a.of.state_floats + c.at;
    for (uint32_t j = 0; j < before; ++j)  // where `to` is `from`, what is read lies behind what is written
      to[uint64_t{j} * c.step] = conv_input(a.of, span, s, run, of, run.first + run.n + j, c);
  }
}

// Rows that are kept: x, then what lies beside it.
LINNET_KERNEL(kStateThreads) keep_rows(const KeepArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, c = blockIdx.x % a.pieces * kStateThreads + threadIdx.x;
  if (c >= a.of.row_floats) return;
  const uint32_t i = a.of.row_span[row];
  const CudaSlot& s = a.of.slots[i];
  const uint32_t token = s.position + (row - a.of.spans[i].row);
  if (token < s.keep_from) return;
  kept_row(a.of, s, a.of.states[uint64_t{i} * a.of.states_stride], token)[c] =
      c < a.of.n                ? a.of.x[row * a.of.x_stride + c]
      : c < a.of.n + a.n_second ? a.second[row * a.second_stride + (c - a.of.n)]
                                : a.third[row * a.third_stride + (c - a.of.n - a.n_second)];
}

// ---- gated delta nets -------------------------------------------------------------------------------------------------------

LINNET_ON_GPU float sigmoid_of(float x) { return 1.0f / (1.0f + exp_one(-x)); }
LINNET_ON_GPU float silu_of(float x) { return x / (1.0f + exp_one(-x)); }

// What makes the RMS of a row 1, each warp for itself.
LINNET_ON_GPU float rms_inverse(const float* x, uint32_t n, float eps) {
  float s = 0;
  for (uint32_t i = threadIdx.x % 16; i < n; i += 16) s = fma_of(x[i], x[i], s);
  return 1.0f / sqrt_of(tree_sum(s) / static_cast<float>(n) + eps);
}

// One block a span and value head; a thread has a channel of its state, whose keys follow each other. hold: the block's memory has the
// state while several tokens go through it.
LINNET_KERNEL_MIN(kStateThreads, 2) delta_heads(const DeltaArgs a) {
  LINNET_SHARED DeltaRow m;
  LINNET_DYNAMIC_SHARED(held);
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
    float *to = of + uint64_t{run.to} * a.of.state_floats + at, *const state = to;
    const bool holds = a.hold && run.n > 1;
    const uint32_t step = holds ? blockDim.x : kCudaDeltaPanel;  // from key to key; a thread's own are nobody else's
    if (holds) {
      to = reinterpret_cast<float*>(held) + thread;
#pragma unroll 8
      for (uint32_t key = 0; key < a.key_dim; ++key) to[key * step] = from[key * kCudaDeltaPanel];
      from = to;
    }
#pragma unroll 1
    for (uint32_t token = run.first; token < run.first + run.n; ++token, from = to) {
      const bool is_new = token >= s.position;
      const uint64_t new_row = span.row + (token - s.position);
#pragma unroll 1
      for (uint32_t c = thread; c < 2 * a.key_dim + a.value_dim; c += blockDim.x) {
        const uint32_t channel = c < a.key_dim       ? head * a.key_dim + c
                                 : c < 2 * a.key_dim ? all_keys + head * a.key_dim + (c - a.key_dim)
                                                     : 2 * all_keys + v * a.value_dim + (c - 2 * a.key_dim);
        float newest;
        m.row[c] = silu_of(convolved(a.of, span, s, s.runs[0], of, a.conv, token, one_of(a.of, channel), &newest));
      }
      const float* kept = is_new ? nullptr : kept_row(a.of, s, of, token) + a.of.n;
#pragma unroll 1
      for (uint32_t key = thread; key < n_fades; key += blockDim.x)
        m.fades[key] = exp_one(a.a[v] * softplus(is_new ? a.alpha[new_row * a.alpha_stride + uint64_t{v} * n_fades + key]
                                                        : kept[a.value_heads + v * n_fades + key]));
      if (thread == 0) m.beta = a.beta_scale * sigmoid_of(is_new ? a.beta[new_row * a.beta_stride + v] : kept[v]);
      block_sync();
      const float q_inverse = rms_inverse(m.row, a.key_dim, a.l2_eps), k_inverse = rms_inverse(m.row + a.key_dim, a.key_dim, a.l2_eps);
#pragma unroll 1
      for (uint32_t c = thread; c < a.key_dim; c += blockDim.x) {
        m.q[c] = (m.row[c] * q_inverse) * a.q_by;
        m.k[c] = (m.row[a.key_dim + c] * k_inverse) * a.k_by;
      }
      block_sync();
      if (thread < a.value_dim) {
        const float fade = m.fades[0];
        float read = 0, o = 0;
#pragma unroll 8
        for (uint32_t key = 0; key < a.key_dim; ++key) {
          const float x = from[key * step];
          read = fma_of(m.k[key], a.by_key ? m.fades[key] * x : x, read);
        }
        const float d = m.beta * (m.row[2 * a.key_dim + thread] - (a.by_key ? read : fade * read));
        constexpr uint32_t kSome = 8;  // are read before the first is written
        uint32_t key = 0;
#pragma unroll 1
        for (; key + kSome <= a.key_dim; key += kSome) {
          float x[kSome];
          for (uint32_t j = 0; j < kSome; ++j) x[j] = from[(key + j) * step];
          for (uint32_t j = 0; j < kSome; ++j) {
            x[j] = fma_of(m.k[key + j], d, (a.by_key ? m.fades[key + j] : fade) * x[j]);
            o = fma_of(m.q[key + j], x[j], o);
          }
          for (uint32_t j = 0; j < kSome; ++j) to[(key + j) * step] = x[j];
        }
#pragma unroll 1
        for (; key < a.key_dim; ++key) {
          const float x = fma_of(m.k[key], d, (a.by_key ? m.fades[key] : fade) * from[key * step]);
          to[key * step] = x;
          o = fma_of(m.q[key], x, o);
        }
        m.out[thread] = o;
      } else if (from != to) {  // channels that fill up the last panel
        for (uint32_t key = 0; key < a.key_dim; ++key) to[key * step] = from[key * step];
      }
      block_sync();
      const float inverse = rms_inverse(m.out, a.value_dim, a.eps);
      if (is_new && thread < a.value_dim) {  // y: the gate before
        float* y = a.y + new_row * a.y_stride + v * a.value_dim + thread;
        *y = (a.by_key ? sigmoid_of(*y) : silu_of(*y)) * ((m.out[thread] * inverse) * a.norm[thread]);
      }
    }
#pragma unroll 8
    for (uint32_t key = 0; key < a.key_dim && holds; ++key) state[key * kCudaDeltaPanel] = to[key * step];
  }
}

// ---- Mamba-2 -----------------------------------------------------------------------------------------------------------------

// Tokens rows[0], rows[1], .. of a channel whose keys follow each other: each key goes through all of them at once, so that the state is
// read and written once, and the sums of tokens are as many chains.
template <uint32_t kTokens, uint32_t kKeys>
LINNET_ON_GPU void mamba_steps(const float* from, float* to, uint32_t keys, const MambaRow* rows, uint32_t x, uint32_t head, float skip,
                               float (&out)[kTokens]) {
  float fade[kTokens], d[kTokens];
  for (uint32_t t = 0; t < kTokens; ++t) {
    fade[t] = rows[t].fade[head];
    d[t] = rows[t].dt[head] * rows[t].x[x];
    out[t] = skip * rows[t].x[x];
  }
  uint32_t key = 0;
#pragma unroll 1
  for (; key + kKeys <= keys; key += kKeys) {
    float s[kKeys];
    for (uint32_t i = 0; i < kKeys; ++i) s[i] = from[(key + i) * kCudaDeltaPanel];
    for (uint32_t i = 0; i < kKeys; i += 4)
      for (uint32_t t = 0; t < kTokens; ++t) {
        const float4 b = *reinterpret_cast<const float4*>(rows[t].b + key + i), c = *reinterpret_cast<const float4*>(rows[t].c + key + i);
        s[i] = fma_of(b.x, d[t], fade[t] * s[i]), out[t] = fma_of(c.x, s[i], out[t]);
        s[i + 1] = fma_of(b.y, d[t], fade[t] * s[i + 1]), out[t] = fma_of(c.y, s[i + 1], out[t]);
        s[i + 2] = fma_of(b.z, d[t], fade[t] * s[i + 2]), out[t] = fma_of(c.z, s[i + 2], out[t]);
        s[i + 3] = fma_of(b.w, d[t], fade[t] * s[i + 3]), out[t] = fma_of(c.w, s[i + 3], out[t]);
      }
    for (uint32_t i = 0; i < kKeys; ++i) to[(key + i) * kCudaDeltaPanel] = s[i];
  }
#pragma unroll 1
  for (; key < keys; ++key) {
    float s = from[key * kCudaDeltaPanel];
    for (uint32_t t = 0; t < kTokens; ++t) s = fma_of(rows[t].b[key], d[t], fade[t] * s), out[t] = fma_of(rows[t].c[key], s, out[t]);
    to[key * kCudaDeltaPanel] = s;
  }
}

// One block a span and some heads of a group, which share B and C; a thread has a channel of a head's state. No channel reads another's,
// so that tokens wait for each other where their rows are made alone.
LINNET_KERNEL_MIN(kStateThreads, 2) mamba_heads(const MambaHeadsArgs a) {
  LINNET_SHARED __align__(16) MambaRow rows[kMambaTokens];
  const MambaShape& m = a.shape;
  const uint32_t parts = (m.heads + a.block_heads - 1) / a.block_heads, item = blockIdx.x % (m.groups * parts), thread = threadIdx.x;
  const uint32_t i = blockIdx.x / (m.groups * parts), group = item / parts, first = item % parts * a.block_heads;
  const uint32_t count = m.heads - first < a.block_heads ? m.heads - first : a.block_heads, head_0 = group * m.heads + first;
  const uint32_t keys = m.state_dim, n = 2 * keys + count * m.head_dim;
  const CudaSpan span = a.of.spans[i];
  const CudaSlot& s = a.of.slots[i];
  float* of = a.of.states[uint64_t{i} * a.of.states_stride];
  for (uint32_t r = 0; r < s.n_runs; ++r) {
    const CudaSlotRun run = s.runs[r];
    for (uint32_t token = run.first, end = run.first + run.n, some; token < end; token += some) {
      some = end - token < kMambaTokens ? end - token : kMambaTokens;
      block_sync();  // the rows before have been read
#pragma unroll 1
      for (uint32_t c = thread; c < some * count; c += blockDim.x) {
        const uint32_t t = c / count, h = c % count, now = token + t;
        float dt = softplus(now < s.position ? kept_row(a.of, s, of, now)[a.of.n + head_0 + h]
                                             : a.dt[(span.row + (now - s.position)) * a.dt_stride + head_0 + h]);
        if (dt < a.dt_min) dt = a.dt_min;
        if (a.dt_max > 0 && dt > a.dt_max) dt = a.dt_max;
        rows[t].dt[h] = dt;
        rows[t].fade[h] = exp_one(a.a[head_0 + h] * dt);
      }
#pragma unroll 1
      for (uint32_t c = thread; c < n; c += blockDim.x) {
        const StateChannel channel =
            of_piece(a.of, m, group, first / kCudaMambaHeads, c < 2 * keys ? c : c + first % kCudaMambaHeads * m.head_dim);
        const float bias = a.conv_bias ? a.conv_bias[channel.channel] : 0.0f;
#pragma unroll 1
        for (uint32_t t = 0; t < some; ++t) {
          float newest, v = convolved(a.of, span, s, s.runs[0], of, a.conv, token + t, channel, &newest);
          if (a.conv_bias) v = v + bias;
          (c < keys ? rows[t].b[c] : c < 2 * keys ? rows[t].c[c - keys] : rows[t].x[c - 2 * keys]) = silu_of(v);
        }
      }
      block_sync();
      const uint32_t width = (m.head_dim + kCudaDeltaPanel - 1) / kCudaDeltaPanel * kCudaDeltaPanel, head = thread / width,
                     j = thread % width;
      if (head >= count) continue;
      float* const state =
          of + (head_0 + head) * (uint64_t{width} * keys) + j / kCudaDeltaPanel * kCudaDeltaPanel * keys + j % kCudaDeltaPanel;
      const float* from = state + uint64_t{token == run.first ? run.from : run.to} * a.of.state_floats;
      float* to = state + uint64_t{run.to} * a.of.state_floats;
      if (j >= m.head_dim) {  // channels that fill up the last panel
        for (uint32_t key = 0; key < keys && from != to; ++key) to[key * kCudaDeltaPanel] = from[key * kCudaDeltaPanel];
        continue;
      }
      const uint32_t x = head * m.head_dim + j;
      const float skip = a.skip[head_0 + head];
      const auto give = [&](uint32_t now, float y) {
        if (now >= s.position) a.y[(span.row + (now - s.position)) * a.y_stride + head_0 * m.head_dim + x] = y;
      };
      if (some == kMambaTokens) {
        float out[kMambaTokens];
        mamba_steps<kMambaTokens, 4>(from, to, keys, rows, x, head, skip, out);
        for (uint32_t t = 0; t < kMambaTokens; ++t) give(token + t, out[t]);
        continue;
      }
#pragma unroll 1
      for (uint32_t t = 0; t < some; ++t) {
        float out[1];
        mamba_steps<1, 16>(t ? to : from, to, keys, rows + t, x, head, skip, out);
        give(token + t, out[0]);
      }
    }
  }
}

}  // namespace linnet
