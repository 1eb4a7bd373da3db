#include "cuda_queue.h"
#include "sample_args.h"

namespace linnet {

static_assert(kSampleMost == 1024);  // kMaxPenaltyTokens of sampling.h: what sampling_check lets through can be drawn

bool cuda_can_sample(const linnet_sampling& s) { return s.penalty_last_n <= kSampleMost; }

size_t cuda_sample_scratch(uint32_t n_rows, uint32_t n_vocab) {
  return size_t{n_rows} * (div_up(n_vocab, kSampleSlice) * kSampleMost * sizeof(uint64_t) + n_vocab * sizeof(float));
}

void cuda_sample(CudaQueue& q, const CudaSampleArgs& args) {
  const uint32_t n_slices = static_cast<uint32_t>(div_up(args.n_vocab, kSampleSlice));
  uint64_t* const candidates = reinterpret_cast<uint64_t*>(q.scratch);
  const SampleArgs a = {args, candidates, reinterpret_cast<float*>(candidates + size_t{args.n_rows} * n_slices * kSampleMost), q.not_finite,
                        n_slices};
  cuda_launch(q, kCuda_sample_top, {a.n_slices, args.n_rows, 1}, kSampleThreads, 0, &a);
  cuda_launch(q, kCuda_sample_draw, {args.n_rows, 1, 1}, kSampleThreads, 0, &a);
}

}  // namespace linnet
