// Layers with a state on a GPU. What a pass does with the states lies in device memory (CudaSlot), so that recorded passes serve every
// call.
#include "../runtime/cache/slots.h"
#include "cuda_queue.h"
#include "states_args.h"

namespace linnet {

static_assert(kCudaMostTaps == kMostTaps && kCudaSlotStates == kSlotStates);

CudaSlot cuda_slot(const Slots& slots, uint32_t seq) {
  const uint32_t layer = slots.layer_of(0);  // all say the same
  const SlotView v = slots.view(seq, layer);
  const SlotLayer& l = slots.layers[layer];
  CudaSlot s{};
  for (uint32_t r = 0; r < v.n_runs; ++r) {
    const auto number = [&](const float* state) {
      return static_cast<uint32_t>(static_cast<size_t>(state - l.of[seq]) / l.plan.state_floats);
    };
    s.runs[r] = {v.runs[r].first, v.runs[r].n, number(v.runs[r].from), number(v.runs[r].to)};
  }
  s.n_runs = v.n_runs;
  s.position = v.position;
  s.keep_from = v.keep_from;
  s.n_rows = v.n_rows;
  s.first = v.first;
  s.first_place = v.first_place;
  s.length = v.length;
  s.new_place = v.new_place;
  return s;
}

void cuda_short_conv(const Worker& w, const ShortConvArgs& of) {
  CudaQueue& q = cuda_queue(w);
  const uint32_t pieces = (of.n + kStateThreads - 1) / kStateThreads;
  const ConvArgs a = {q.pass.spans, q.pass.row_span, q.pass.slots, q.pass.states + of.layer, of.x, of.weight,
                      of.y,         of.x_stride,     of.y_stride,  q.pass.n_layers,          of.n, of.taps,
                      pieces};
  uint32_t m = 0;
  for (uint32_t i = 0; i < of.n_spans; ++i) m += of.spans[i].n;
  cuda_launch(q, kCuda_conv_rows, {m * pieces, 1, 1}, kStateThreads, 0, &a);
  cuda_launch(q, kCuda_conv_states, {of.n_spans * pieces, 1, 1}, kStateThreads, 0, &a);
}

}  // namespace linnet
