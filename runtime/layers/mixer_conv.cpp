#include "mixer_conv.h"

#include <new>

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool conv(const ModelSpec&, const LayerSpec& l) { return l.mixer == kMixerConv; }
uint32_t three_d_model(const ModelSpec& s, const LayerSpec&) { return 3 * s.d_model; }
uint32_t conv_weights(const ModelSpec& s, const LayerSpec&) { return s.conv_taps * s.d_model; }

Status load(Loader& in, uint32_t i, const LayerSpec&, void* tensors) {
  ShortConv& t = *new (tensors) ShortConv{};
  LINNET_TRY(in.matrix(kConvIn, i, &t.in));
  LINNET_TRY(in.vector(kConvTaps, i, &t.taps));
  return in.matrix(kConvOut, i, &t.out);
}

// No pages; the state are the rows of s that the next one's taps reach back to.
CacheLayer cache(const ModelSpec& s, const LayerSpec&) { return state_layer({(s.conv_taps - 1) * s.d_model, s.d_model}); }

size_t in_stride(const ModelSpec& s) { return row_floats(3 * uint64_t{s.d_model}); }

void need(const ModelSpec& s, const LayerSpec&, const void* tensors, Needs* needs) {
  const ShortConv& t = *static_cast<const ShortConv*>(tensors);
  needs->need_wide(needs->n_rows * (in_stride(s) + row_floats(s.d_model)));
  needs->codes.add(t.in);
  needs->codes.add(t.out);
}

// Every row carries the state on, whichever are of use.
void run(Decoder& d, const Layer& l, uint32_t layer, uint32_t first) {
  const ShortConv& t = *static_cast<const ShortConv*>(l.mixer);
  const Activations& a = d.a;
  const size_t in_row = in_stride(d.spec);
  float* const in = a.wide;            // (m, 3 * d_model)
  float* const y = in + d.m * in_row;  // (m, d_model)
  const QuantRows rows = d.norm(l.attn_norm, t.in);
  d.gemm(t.in, a.normed, a.d_stride, &rows, d.m, nullptr, false, in, in_row);
  d.sync();
  d.ops.short_conv(d.w, {&d.s.cache.slots, layer, d.spans, d.n_spans, in, in_row, d.spec.d_model, t.taps, d.spec.conv_taps, y, a.d_stride});
  d.ops.sync(d.w);
  if (first < d.m) d.project(t.out, nullptr, l.attn_post_norm, y + first * a.d_stride, a.d_stride, first);
}

}  // namespace

const TensorRole kConvRoles[] = {LINNET_CONV_ROLES(LINNET_LAYER_ROLE)};
static_assert(sizeof(ShortConv) <= kMostTensorsBytes);
const LayerKind kConvKind = {sizeof(ShortConv), load, cache, need, run};

}  // namespace linnet
