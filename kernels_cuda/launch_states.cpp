// Layers with a state on a GPU. What a pass does with the states lies in device memory (CudaSlot), so that recorded passes serve every
// call.
#include "../runtime/cache/slots.h"
#include "cuda_queue.h"
#include "states_args.h"

namespace linnet {

static_assert(kCudaSlotStates == kSlotStates && kCudaDeltaPanel == kDeltaPanel && kCudaMostDelta == kMostDeltaDim &&
              kMostDeltaDim <= kStateThreads && kCudaMambaHeads == kMambaHeads);

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

namespace {

constexpr uint32_t kDeltaOwn = 8192;  // of delta_heads
static_assert(sizeof(DeltaRow) <= kDeltaOwn - 512);

uint32_t pieces_of(uint32_t n) { return (n + kStateThreads - 1) / kStateThreads; }
uint32_t rows_of(const RowSpan* spans, uint32_t n_spans) {
  uint32_t m = 0;
  for (uint32_t i = 0; i < n_spans; ++i) m += spans[i].n;
  return m;
}

// before: where the rows in front of the convolution of n channels begin in a state.
StateArgs state_args(const CudaQueue& q, const Slots& slots, uint32_t layer, const float* x, size_t x_stride, uint32_t before, uint32_t n,
                     uint32_t taps, bool gated) {
  const SlotPlan& p = slots.layers[layer].plan;
  return {q.pass.spans,
          q.pass.row_span,
          q.pass.slots,
          q.pass.states + layer,
          x,
          x_stride,
          q.pass.n_layers,
          p.state_floats,
          p.row_floats,
          before,
          n,
          taps,
          gated};
}

void carry_on(CudaQueue& q, const StateArgs& of, uint32_t n_spans, uint32_t n, const MambaShape& mamba = {}) {
  const HistoryArgs a = {of, mamba, n, pieces_of(n)};
  cuda_launch(q, kCuda_conv_states, {n_spans * a.pieces, 1, 1}, kStateThreads, 0, &a);
}

void keep(CudaQueue& q, KeepArgs a, uint32_t m) {
  a.pieces = pieces_of(a.of.row_floats);
  cuda_launch(q, kCuda_keep_rows, {m * a.pieces, 1, 1}, kStateThreads, 0, &a);
}

}  // namespace

void cuda_short_conv(const Worker& w, const ShortConvArgs& of) {
  CudaQueue& q = cuda_queue(w);
  const ConvArgs a = {state_args(q, *of.slots, of.layer, of.x, of.x_stride, 0, of.n, of.taps, true), of.weight, of.y, of.y_stride,
                      pieces_of(of.n)};
  cuda_launch(q, kCuda_conv_rows, {rows_of(of.spans, of.n_spans) * a.pieces, 1, 1}, kStateThreads, 0, &a);
  carry_on(q, a.of, of.n_spans, of.n);
}

void cuda_delta_net(const Worker& w, const DeltaNetArgs& of) {
  CudaQueue& q = cuda_queue(w);
  const uint32_t channels = 2 * of.key_heads * of.key_dim + of.value_heads * of.value_dim;
  const float dim = static_cast<float>(of.key_dim);
  // A prompt's tokens find the state in the block's memory, where that has room for it; a decoded one reads and writes it once anyway.
  const uint32_t threads = (of.value_dim + 31) / 32 * 32, held = of.key_dim * threads * static_cast<uint32_t>(sizeof(float)),
                 m = rows_of(of.spans, of.n_spans);
  const bool hold = m > of.n_spans && held + kDeltaOwn <= q.shared_bytes;
  const DeltaArgs a = {state_args(q, *of.slots, of.layer, of.x, of.x_stride, of.value_heads * delta_state_floats(of.key_dim, of.value_dim),
                                  channels, of.taps, false),
                       of.conv,
                       of.a,
                       of.norm,
                       of.beta,
                       of.alpha,
                       of.y,
                       of.beta_stride,
                       of.alpha_stride,
                       of.y_stride,
                       of.key_heads,
                       of.value_heads,
                       of.key_dim,
                       of.value_dim,
                       of.tiled,
                       of.by_key,
                       hold,
                       of.beta_scale,
                       of.eps,
                       1e-6f / dim,
                       1 / dim,
                       1 / __builtin_sqrtf(dim)};
  cuda_launch(q, kCuda_delta_heads, {of.n_spans * of.value_heads, 1, 1}, threads, hold ? held : 0, &a);
  keep(q, {a.of, of.beta, of.alpha, of.beta_stride, of.alpha_stride, of.value_heads, 0}, m);
  carry_on(q, a.of, of.n_spans, channels);
}

void cuda_mamba(const Worker& w, const MambaArgs& of) {
  CudaQueue& q = cuda_queue(w);
  const MambaShape shape = {of.heads / of.groups, of.groups, of.head_dim, of.state_dim};
  const uint32_t inner = of.heads * of.head_dim, channels = inner + 2 * of.groups * of.state_dim,
                 width = (of.head_dim + kDeltaPanel - 1) / kDeltaPanel * kDeltaPanel;
  const StateArgs state = state_args(q, *of.slots, of.layer, of.x, of.x_stride, of.heads * delta_state_floats(of.state_dim, of.head_dim),
                                     channels, of.taps, false);
  // As many heads share a block's B and C as leave blocks for all multiprocessors.
  uint32_t heads = kMambaHeads;
  const auto blocks = [&] { return of.n_spans * of.groups * ((shape.heads + heads - 1) / heads); };
  while (heads > 1 && (heads * width > kStateThreads || blocks() < 2 * q.n_sms)) heads /= 2;
  const MambaHeadsArgs a = {state, shape, heads,        of.conv,     of.conv_bias, of.a,     of.skip,
                            of.dt, of.y,  of.dt_stride, of.y_stride, of.dt_min,    of.dt_max};
  const uint32_t least = kStateThreads / 2;  // the convolutions are more channels
  cuda_launch(q, kCuda_mamba_heads, {blocks(), 1, 1}, heads * width > least ? heads * width : least, 0, &a);
  keep(q, {state, of.dt, nullptr, of.dt_stride, 0, of.heads, 0}, rows_of(of.spans, of.n_spans));
  carry_on(q, state, of.n_spans, inner + of.groups * mamba_pieces(shape.heads) * 2 * of.state_dim, shape);
}

}  // namespace linnet
