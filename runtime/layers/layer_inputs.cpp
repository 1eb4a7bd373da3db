#include "layer_inputs.h"

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool has_layer_scale(const ModelSpec& s, const LayerSpec&) { return s.layer_scale; }

}  // namespace

const TensorRole kLayerInputRoles[] = {LINNET_LAYER_INPUT_ROLES(LINNET_LAYER_ROLE)};

Status load_layer_input(Loader& in, uint32_t i, LayerInput* out) {
  const float* scale = nullptr;
  LINNET_TRY(in.matrix(kInputGate, i, &out->gate));
  LINNET_TRY(in.matrix(kInputProj, i, &out->proj));
  LINNET_TRY(in.vector(kInputNorm, i, &out->norm));
  LINNET_TRY(in.vector(kLayerScale, i, &scale, true));
  out->scale = scale ? *scale : 1;
  if (out->scale == 0) out->scale = 1;               // as all factors; files of sizes alone have it
  if (!(out->scale > -1e30f && out->scale < 1e30f))  // NaN, too
    return fail(in.err, LINNET_BAD_FILE, "model file: layer ", i, ": ", role_row(kLayerScale).name, " is out of range");
  return LINNET_OK;
}

// Of every token and layer: (its row of the table * sqrt(n) + norm(projection of its embedding)) / sqrt(2), n = layer_embd.
void Decoder::layer_inputs() {
  const uint32_t n = spec.layer_embd;
  const uint32_t all = spec.n_layers * n;  // a row is as long, a multiple of 16
  QuantRows rows = quant_rows(a.codes, model.layer_embd_proj);
  float* const table = a.rows.layer_floats ? a.rows.layer_rows : a.wide;  // (m, n_layers * layer_embd)
  if (!a.rows.layer_floats) ops.embed_layers(w, model.layer_embd, a.rows.tokens, m, spec.n_layers, table, n);
  if (rows.q) ops.quantize(w, a.x, a.d_stride, m, spec.d_model, &rows);
  ops.sync(w);
  ops.gemm(w, model.layer_embd_proj, a.x, a.d_stride, &rows, m, nullptr, false, a.layer_in, all);
  ops.sync(w);
  ops.scale(w, a.layer_in, all, 1.0f / __builtin_sqrtf(static_cast<float>(spec.d_model)), 0, m, all);
  ops.sync(w);
  ops.rope(w, a.layer_in, all, m, spec.n_layers, n, {model.layer_embd_norm, nullptr, kQkNormHead, eps()}, {});
  ops.sync(w);
  ops.add(w, a.layer_in, table, all, {}, __builtin_sqrtf(static_cast<float>(n)), m, all);
  ops.sync(w);
  ops.scale(w, a.layer_in, all, 0.70710678f, 0, m, all);
  ops.sync(w);
}

void Decoder::layer_input(const LayerInput& t, uint32_t layer) {
  if (t.gate.panels) {
    const uint32_t n = spec.layer_embd;
    const size_t all = size_t{spec.n_layers} * n;
    float* gate = a.wide;  // (m, layer_embd), as far apart as the rows of layer_in
    QuantRows in = quant_rows(a.codes, t.gate), rows = quant_rows(a.codes, t.proj);
    if (in.q) ops.quantize(w, a.x, a.d_stride, m, spec.d_model, &in);
    if (in.q) ops.sync(w);
    ops.gemm(w, t.gate, a.x, a.d_stride, &in, m, nullptr, false, gate, all);
    ops.sync(w);
    ops.act_mul(w, spec.activation, 0, gate, a.layer_in + size_t{layer} * n, all, m, n, gate, rows.q ? &rows : nullptr);
    ops.sync(w);
    ops.gemm(w, t.proj, gate, all, &rows, m, nullptr, false, a.branch, a.d_stride);
    ops.sync(w);
    const Norm post = {t.norm, nullptr, spec.norm, eps()};
    if (spec.streams) {  // the first one has read, the others get it
      ops.norm(w, a.branch, a.d_stride, post, m, spec.d_model, a.branch, nullptr);
      ops.sync(w);
      for (uint32_t i = 1; i < kStreams; ++i) ops.add(w, a.streams.at(i), a.branch, a.d_stride, {}, 0, m, spec.d_model);
    } else {
      ops.add(w, a.x, a.branch, a.d_stride, post, 0, m, spec.d_model);
    }
    ops.sync(w);
  }
  if (t.scale == 1) return;
  ops.scale(w, a.x, a.d_stride, t.scale, 0, m, spec.d_model);
  ops.sync(w);
}

}  // namespace linnet
