#include "streams.h"

#include "decoder.h"
#include "loader.h"
#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
uint32_t streams(const ModelSpec&, const LayerSpec&) { return kStreams; }
uint32_t predict_coefs(const ModelSpec&, const LayerSpec&) { return kStreams * kStreams * kStreams; }
uint32_t correct_coefs(const ModelSpec&, const LayerSpec&) { return kStreams * kStreams; }
uint32_t laurel_rank(const ModelSpec& s, const LayerSpec&) { return s.laurel_rank; }

}  // namespace

const TensorRole kStreamRoles[] = {LINNET_STREAM_ROLES(LINNET_LAYER_ROLE)};

Status load_streams(Loader& in, uint32_t i, StreamTensors* out) {
  LINNET_TRY(in.matrix(kStreamRouter, i, &out->router));
  LINNET_TRY(in.vector(kStreamRouterNorm, i, &out->router_norm));
  LINNET_TRY(in.vector(kStreamPredict, i, &out->predict));
  LINNET_TRY(in.vector(kStreamCorrect, i, &out->correct));
  LINNET_TRY(in.vector(kStreamScale, i, &out->scale));
  LINNET_TRY(in.matrix(kLaurelIn, i, &out->laurel_in));
  LINNET_TRY(in.matrix(kLaurelOut, i, &out->laurel_out));
  return in.vector(kLaurelNorm, i, &out->laurel_norm);
}

// The embeddings are the first stream, projections of them as long as they are the others.
void Decoder::start_streams() {
  QuantRows rows = quant_rows(a.codes, model.streams_in[0]);
  ops.norm(w, a.x, a.d_stride, {}, m, spec.d_model, a.streams.x, nullptr);  // a copy
  if (rows.q) ops.quantize(w, a.x, a.d_stride, m, spec.d_model, &rows);
  ops.sync(w);
  for (uint32_t i = 1; i < kStreams; ++i)
    ops.gemm(w, model.streams_in[i - 1], a.x, a.d_stride, &rows, m, nullptr, false, a.streams.at(i), a.d_stride);
  ops.sync(w);
  for (uint32_t i = 1; i < kStreams; ++i) ops.match(w, a.streams.at(i), a.streams.x, a.d_stride, m, spec.d_model);
  ops.sync(w);
}

// a.x becomes the mean of the streams, all as long as the first.
void Decoder::end_streams() {
  QuantRows rows = quant_rows(a.codes, model.streams_out[0]);
  ops.norm(w, a.streams.x, a.d_stride, {}, m, spec.d_model, a.x, nullptr);
  for (uint32_t i = 1; i < kStreams; ++i) {
    if (rows.q) ops.quantize(w, a.streams.at(i), a.d_stride, m, spec.d_model, &rows);
    if (rows.q) ops.sync(w);
    ops.gemm(w, model.streams_out[i - 1], a.streams.at(i), a.d_stride, &rows, m, nullptr, false, a.branch, a.d_stride);
    ops.sync(w);
    ops.match(w, a.branch, a.streams.x, a.d_stride, m, spec.d_model);
    ops.sync(w);
    ops.add(w, a.x, a.branch, a.d_stride, {}, 0, m, spec.d_model);
    ops.sync(w);
  }
  ops.scale(w, a.x, a.d_stride, 1.0f / kStreams, 0, m, spec.d_model);
  ops.sync(w);
}

void Decoder::route_streams(const StreamTensors& t, const float* x) {
  ops.norm(w, x, a.d_stride, {t.router_norm, nullptr, spec.norm, eps()}, m, spec.d_model, a.normed, nullptr);
  ops.sync(w);
  ops.gemm(w, t.router, a.normed, a.d_stride, nullptr, m, nullptr, false, a.streams.router, kPanel);
  ops.sync(w);
}

void Decoder::predict(const StreamTensors& t) {
  route_streams(t, a.streams.x);
  ops.predict(w, a.streams, t.predict, m, spec.d_model, a.d_stride, a.x);
  ops.sync(w);
}

void Decoder::laurel(const StreamTensors& t, const float* normed) {
  const size_t row = row_floats(spec.laurel_rank);
  QuantRows in = quant_rows(a.codes, t.laurel_in), rows = quant_rows(a.codes, t.laurel_out);
  float* low = a.wide;  // (m, laurel_rank)
  if (in.q) ops.quantize(w, normed, a.d_stride, m, spec.d_model, &in);
  if (in.q) ops.sync(w);
  ops.gemm(w, t.laurel_in, normed, a.d_stride, &in, m, nullptr, false, low, row);
  ops.sync(w);
  if (rows.q) ops.quantize(w, low, row, m, spec.laurel_rank, &rows);
  if (rows.q) ops.sync(w);
  ops.gemm(w, t.laurel_out, low, row, &rows, m, nullptr, false, a.branch, a.d_stride);
  ops.sync(w);
  ops.norm(w, a.branch, a.d_stride, {t.laurel_norm, nullptr, spec.norm, eps()}, m, spec.d_model, a.branch, nullptr);
  ops.sync(w);
  ops.add(w, a.branch, const_cast<float*>(normed), a.d_stride, {}, 0, m, spec.d_model);
  ops.sync(w);
  ops.add(w, a.x, a.branch, a.d_stride, {}, 0, m, spec.d_model);
  ops.sync(w);
  ops.scale(w, a.x, a.d_stride, 0.70710678f, 0, m, spec.d_model);
  ops.sync(w);
}

void Decoder::correct(const StreamTensors& t) {
  route_streams(t, a.x);
  ops.correct(w, a.streams, t.correct, t.scale, m, spec.d_model, a.d_stride, a.x);
  ops.sync(w);
}

}  // namespace linnet
