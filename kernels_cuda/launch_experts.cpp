#include "cuda_queue.h"
#include "experts_args.h"

namespace linnet {
namespace {

CudaPairs pairs_of(const Pairs& p) { return {p.experts, p.weights, p.places, p.from, p.first, p.active, p.n_active_experts}; }
uint32_t pieces_of(uint32_t n) { return (n + kPiece - 1) / kPiece; }

}  // namespace

// What is left of the logits are the logits: scores stay in shared memory.
void cuda_route(const Worker& w, const Router& r, const Capacity& capacity, float* logits, size_t stride, uint32_t m, const Pairs& pairs) {
  CudaQueue& q = cuda_queue(w);
  const uint32_t n_pairs = m * r.n_active;
  if (n_pairs == 0) return;
  const CudaCapacity limit = {q.pass.spans, q.pass.row_span, capacity.most ? capacity.chosen : nullptr, capacity.chosen_stride,
                              capacity.most};
  const RouteArgs route = {logits,  stride,     r.correction, r.weigh,      r.n_experts, r.n_active, r.sigmoid,       r.normalise,
                           r.mixer, r.n_groups, r.top_groups, r.group_best, r.scale,     r.near,     pairs_of(pairs), limit};
  cuda_launch(q, kCuda_route_rows, {m, 1, 1}, 32, 0, &route);

  const uint32_t most = kGroupCounts / r.n_experts < 32 ? kGroupCounts / r.n_experts : 32, wanted = (n_pairs + 31) / 32,
                 segments = wanted < most ? wanted : most;
  const GroupArgs group = {n_pairs, r.n_experts, segments, (wanted + segments - 1) / segments * 32, pairs_of(pairs)};
  const uint32_t busy = segments * 32 > r.n_experts ? segments * 32 : (r.n_experts + 31) / 32 * 32;
  cuda_launch(q, kCuda_group_pairs, {1, 1, 1}, busy, 0, &group);
  if (!limit.chosen) return;
  const LimitArgs cut = {n_pairs, r.n_active, pairs_of(pairs), limit};
  cuda_launch(q, kCuda_limit_pairs, {(n_pairs + 3) / 4, 1, 1}, 128, 0, &cut);
}

void cuda_gather(const Worker& w, const float* x, size_t stride, const QuantRows* q, uint32_t n_pairs, uint32_t k, uint32_t n_active,
                 const Pairs& pairs, bool weigh, float* y, QuantRows* pair_q) {
  CudaQueue& queue = cuda_queue(w);
  const GatherArgs a = {x,
                        y,
                        stride,
                        k,
                        n_active,
                        pieces_of(k),
                        weigh,
                        pairs.from,
                        pairs.weights,
                        cuda_quant(queue, y ? nullptr : q),
                        cuda_quant(queue, pair_q)};
  cuda_launch(queue, kCuda_gather_pairs, {n_pairs * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

void cuda_combine(const Worker& w, const float* x, size_t stride, uint32_t m, uint32_t n, uint32_t n_active, const Pairs& pairs, bool weigh,
                  const float* shared, const float* gate, size_t gate_stride, bool accumulate, float* y) {
  const CombineArgs a = {x,        shared,       gate,  y,          stride,       gate_stride,  n,
                         n_active, pieces_of(n), weigh, accumulate, pairs.places, pairs.weights};
  cuda_launch(cuda_queue(w), kCuda_combine_pairs, {m * a.pieces, 1, 1}, kRowThreads, 0, &a);
}

}  // namespace linnet
