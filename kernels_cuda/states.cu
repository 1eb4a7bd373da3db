// Layers with a state: as kernels_cpu/short_conv.cpp, to the bit. Rows of a pass stand beside each other, since what a tap sees of earlier
// tokens is the same wherever it is read: products of the pass, rows that were kept, or the state. A second kernel writes the states, of
// which one may be the one that the first reads.
#include "exact.h"
#include "states_args.h"

namespace linnet {

LINNET_ON_GPU uint32_t place_of(const CudaSlot& s, uint32_t token) {
  return (token < s.length ? s.first_place + (token - s.first) : s.new_place + (token - s.keep_from)) % s.n_rows;
}
LINNET_ON_GPU float* conv_row(const ConvArgs& a, const CudaSlot& s, float* of, uint32_t token) {
  return of + uint64_t{kCudaSlotStates} * (a.taps - 1) * a.n + uint64_t{place_of(s, token)} * a.n;
}

// What goes into the convolution of a token, counted from taps - 1 before the first one on.
LINNET_ON_GPU float conv_input(const ConvArgs& a, const CudaSpan& span, const CudaSlot& s, const CudaSlotRun& run, float* of, uint32_t at,
                               uint32_t channel) {
  const uint32_t before = a.taps - 1;
  if (at < run.first + before) return of[(uint64_t{run.from} * before + (at - run.first)) * a.n + channel];
  const uint32_t token = at - before;
  if (token < s.position) return conv_row(a, s, of, token)[channel];
  const float* b = a.x + (span.row + (token - s.position)) * a.x_stride + channel;
  return b[0] * b[2 * uint64_t{a.n}];
}

LINNET_KERNEL(kStateThreads) conv_rows(const ConvArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, channel = blockIdx.x % a.pieces * kStateThreads + threadIdx.x;
  if (channel >= a.n) return;
  const uint32_t i = a.row_span[row];
  const CudaSpan span = a.spans[i];
  const CudaSlot& s = a.slots[i];
  const CudaSlotRun run = s.runs[0];
  float* of = a.states[uint64_t{i} * a.states_stride];
  const float* weight = a.weight + uint64_t{channel} * a.taps;
  const uint32_t token = s.position + (row - span.row);
  float v = conv_input(a, span, s, run, of, token, channel), sum = weight[0] * v;
  for (uint32_t tap = 1; tap < a.taps; ++tap) {
    v = conv_input(a, span, s, run, of, token + tap, channel);
    sum = sum + weight[tap] * v;
  }
  if (token >= s.keep_from) conv_row(a, s, of, token)[channel] = v;
  a.y[row * a.y_stride + channel] = a.x[row * a.x_stride + a.n + channel] * sum;
}

LINNET_KERNEL(kStateThreads) conv_states(const ConvArgs a) {
  const uint32_t i = blockIdx.x / a.pieces, channel = blockIdx.x % a.pieces * kStateThreads + threadIdx.x, before = a.taps - 1;
  if (channel >= a.n) return;
  const CudaSpan span = a.spans[i];
  const CudaSlot& s = a.slots[i];
  float* of = a.states[uint64_t{i} * a.states_stride];
  for (uint32_t r = 0; r < s.n_runs; ++r) {
    const CudaSlotRun run = s.runs[r];
    float v[kCudaMostTaps - 1];
#pragma unroll
    for (uint32_t j = 0; j < kCudaMostTaps - 1; ++j)
      v[j] = j < before ? conv_input(a, span, s, run, of, run.first + run.n + j, channel) : 0.0f;
#pragma unroll
    for (uint32_t j = 0; j < kCudaMostTaps - 1; ++j)
      if (j < before) of[(uint64_t{run.to} * before + j) * a.n + channel] = v[j];
  }
}

}  // namespace linnet
