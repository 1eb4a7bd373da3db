#include "cuda_queue.h"
#include "sample_args.h"

namespace linnet {

bool cuda_can_sample(const linnet_sampling& s, uint32_t n_vocab) {
  return (s.temperature == 0 || n_vocab <= kSampleMost || (s.top_k && s.top_k <= kSampleMost)) && s.penalty_last_n <= kSampleMost;
}

size_t cuda_sample_scratch(uint32_t n_rows, uint32_t n_vocab) { return size_t{n_rows} * div_up(n_vocab, kSampleSlice) * kSampleMost * sizeof(uint64_t); }

void cuda_sample(CudaQueue& q, const CudaSampleArgs& args) {
  const SampleArgs a = {args, reinterpret_cast<uint64_t*>(q.scratch), q.not_finite, static_cast<uint32_t>(div_up(args.n_vocab, kSampleSlice))};
  cuda_launch(q, kCuda_sample_top, {a.n_slices, args.n_rows, 1}, kSampleThreads, 0, &a);
  cuda_launch(q, kCuda_sample_draw, {args.n_rows, 1, 1}, kSampleThreads, 0, &a);
}

}  // namespace linnet
