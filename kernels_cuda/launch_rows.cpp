#include "cuda_queue.h"
#include "rows_args.h"

namespace linnet {

static_assert(uint32_t{kCudaSilu} == kActSilu && uint32_t{kCudaGeluTanh} == kActGeluTanh && uint32_t{kCudaGeluErf} == kActGeluErf &&
              uint32_t{kCudaRelu} == kActRelu && uint32_t{kCudaSwigluClamped} == kActSwigluClamped &&
              uint32_t{kCudaSigmoid} == kActSigmoid && uint32_t{kCudaRelu2} == kActRelu2 && kCudaStreams == kStreams &&
              kCudaStreamRouter == kPanel);

CudaQuant cuda_quant(const CudaQueue& queue, const QuantRows* q) {
  if (!q) return {};
  return {q->q, q->scale, q->sum128, queue.not_finite, q->stride, static_cast<uint32_t>(q->format), q->group, q->groups};
}

namespace {

uint32_t pieces_of(uint32_t n) { return (n + kPiece - 1) / kPiece; }
uint32_t kind_of(const Norm& norm) { return !norm.weight ? kCudaNormNone : norm.kind == kNormLayer ? kCudaNormLayer : kCudaNormRms; }

void change(const Worker& w, const ChangeArgs& a, uint32_t m) {
  cuda_launch(cuda_queue(w), kCuda_change_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

}  // namespace

void cuda_norm(const Worker& w, const float* x, size_t stride, const Norm& norm, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  if (!norm.weight && x == y && !q) return;
  CudaQueue& queue = cuda_queue(w);
  const NormArgs a = {x, y, norm.weight, norm.bias, stride, n, kind_of(norm), 0, norm.eps, 1, cuda_quant(queue, q)};
  cuda_launch(queue, kCuda_norm_rows, {m, 1, 1}, kRowThreads, 0, &a);
}

void cuda_gated_norm(const Worker& w, const GatedNormArgs& of) {
  const GatedRowsArgs a = {of.gate, of.y, of.weight, of.gate_stride, of.stride, of.n / of.groups, of.groups, of.norm_first, of.eps};
  cuda_launch(cuda_queue(w), kCuda_gated_norm_rows, {of.m * of.groups, 1, 1}, kRowThreads, 0, &a);
}

void cuda_add(const Worker& w, float* y, float* x, size_t stride, const Norm& norm, float scale, uint32_t m, uint32_t n) {
  const NormArgs a = {x, y, norm.weight, norm.bias, stride, n, kind_of(norm), 1, norm.eps, scale == 0 ? 1 : scale, {}};
  cuda_launch(cuda_queue(w), kCuda_norm_rows, {m, 1, 1}, kRowThreads, 0, &a);
}

void cuda_scale(const Worker& w, float* x, size_t stride, float by, float cap, uint32_t m, uint32_t n) {
  change(w, {x, nullptr, stride, n, pieces_of(n), by, cap, 0}, m);
}

void cuda_clip(const Worker& w, float* x, size_t stride, float limit, uint32_t m, uint32_t n) {
  change(w, {x, nullptr, stride, n, pieces_of(n), 0, 0, limit}, m);
}

void cuda_scale_rows(const Worker& w, float* x, size_t stride, const float* factors, uint32_t m, uint32_t n) {
  change(w, {x, factors, stride, n, pieces_of(n), 0, 0, 0}, m);
}

void cuda_quantize(const Worker& w, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q) {
  CudaQueue& queue = cuda_queue(w);
  const QuantizeArgs a = {x, x_stride, k, pieces_of(k), cuda_quant(queue, q)};
  cuda_launch(queue, kCuda_quantize_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_rope(const Worker& w, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const HeadNorm& norm,
               const RopeView& rope) {
  const bool has = norm.weight;
  const bool layer = has && (norm.kind == kQkNormLayer || norm.kind == kQkNormLayerShared), head = has && norm.kind == kQkNormHead;
  const bool after = has && norm.kind == kQkNormHeadAfter && rope.n_pairs;
  if (!layer && !head && !rope.n_pairs) return;
  const RopeArgs a = {x,
                      norm.weight,
                      norm.kind == kQkNormLayerShared ? norm.bias : nullptr,
                      rope.cos,
                      rope.sin,
                      stride,
                      m,
                      n_heads,
                      head_dim,
                      rope.n_pairs,
                      rope.interleaved,
                      layer  ? kCudaNormLayer
                      : head ? kCudaNormRms
                             : kCudaNormNone,
                      after,
                      norm.kind == kQkNormLayer ? head_dim : 0,
                      norm.eps};
  cuda_launch(cuda_queue(w), kCuda_rope_heads, {(m * n_heads + 3) / 4, 1, 1}, 128, 0, &a);
}

// The clamped kind changes neither gate nor up here: nothing reads them afterwards.
void cuda_act_mul(const Worker& w, uint32_t act, float limit, float* gate, float* up, size_t stride, uint32_t m, uint32_t n, float* y,
                  QuantRows* q) {
  CudaQueue& queue = cuda_queue(w);
  const ActMulArgs a = {gate, up, y, stride, n, pieces_of(n), act, limit, cuda_quant(queue, q)};
  cuda_launch(queue, kCuda_act_mul_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_xielu(const Worker& w, float* x, size_t stride, const float* by, uint32_t m, uint32_t n, QuantRows* q) {
  CudaQueue& queue = cuda_queue(w);
  const XieluArgs a = {x, by, stride, n, pieces_of(n), cuda_quant(queue, q)};
  cuda_launch(queue, kCuda_xielu_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_predict(const Worker& w, const Streams& s, const float* coefs, uint32_t m, uint32_t n, size_t stride, float* to) {
  const StreamsArgs a = {s.x, s.apart, s.router, coefs, nullptr, to, stride, n, pieces_of(n)};
  cuda_launch(cuda_queue(w), kCuda_predict_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_correct(const Worker& w, const Streams& s, const float* coefs, const float* scale, uint32_t m, uint32_t n, size_t stride,
                  float* x) {
  const StreamsArgs a = {s.x, s.apart, s.router, coefs, scale, x, stride, n, pieces_of(n)};
  cuda_launch(cuda_queue(w), kCuda_correct_rows, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_match(const Worker& w, float* x, const float* like, size_t stride, uint32_t m, uint32_t n) {
  const MatchArgs a = {x, like, stride, n};
  cuda_launch(cuda_queue(w), kCuda_match_rows, {m, 1, 1}, kRowThreads, 0, &a);
}

void cuda_sparsify(const Worker& w, float* x, size_t stride, float cut, uint32_t m, uint32_t n) {
  const SparsifyArgs a = {x, stride, n, cut};
  cuda_launch(cuda_queue(w), kCuda_sparsify_rows, {m, 1, 1}, kRowThreads, 0, &a);
}

void cuda_check_finite(const Worker& w, const float* x, size_t stride, uint32_t m, uint32_t n) {
  CudaQueue& queue = cuda_queue(w);
  const FiniteArgs a = {x, stride, queue.not_finite, n, pieces_of(n)};
  cuda_launch(queue, kCuda_check_finite, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

}  // namespace linnet
