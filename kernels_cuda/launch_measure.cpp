// What a GPU reaches, timed by its own clock between two events.
#include "cuda_queue.h"
#include "measure_args.h"

namespace linnet {
namespace {

constexpr uint32_t kReps = 5, kReads = 8;  // the best of kReps; reads between two events
constexpr uint32_t kTrialRounds = 256, kMostRounds = 1 << 20;
constexpr double kPeakMs = 10;

struct Clock {
  CudaQueue& q;
  CuEvent start = nullptr, end = nullptr;

  void keep(CuResult result) {
    if (q.failed == 0) q.failed = result;
  }
  explicit Clock(CudaQueue& queue) : q(queue) {
    keep(q.driver->event_create(&start, kCuEventDefault));
    if (q.failed == 0) keep(q.driver->event_create(&end, kCuEventDefault));
  }
  ~Clock() {
    for (CuEvent e : {start, end})
      if (e) q.driver->event_destroy(e);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  // Milliseconds of `times` launches, the best of kReps after one that warms up; 0 after a failure.
  double best(CudaKernel kernel, uint32_t times, const void* args) {
    double least = 0;
    for (uint32_t rep = 0; rep <= kReps && q.failed == 0; ++rep) {
      float ms = 0;
      keep(q.driver->event_record(start, q.stream));
      for (uint32_t i = 0; i < times; ++i) cuda_launch(q, kernel, {q.n_sms * kMeasureBlocks, 1, 1}, kMeasureThreads, 0, args);
      if (q.failed == 0) keep(q.driver->event_record(end, q.stream));
      if (q.failed == 0) keep(q.driver->event_wait(end));
      if (q.failed == 0) keep(q.driver->event_ms(&ms, start, end));
      if (rep > 0 && ms > 0 && (least <= 0 || ms < least)) least = ms;
    }
    return q.failed ? 0 : least;
  }
  // 10^12 operations per second. macs: multiply-adds of a warp's product.
  double tops(CudaKernel kernel, double macs, PeakArgs a) {
    a.rounds = kTrialRounds;
    const double trial = best(kernel, 1, &a), rounds = trial > 0 ? kPeakMs / trial * kTrialRounds : 0;
    if (rounds > kTrialRounds) a.rounds = rounds < kMostRounds ? static_cast<uint32_t>(rounds) : kMostRounds;
    const double ms = best(kernel, 1, &a), warps = double{kMeasureBlocks} * q.n_sms * kMeasureThreads / 32;
    return ms > 0 ? 2 * macs * kPeakChains * a.rounds * warps / (ms * 1e9) : 0;
  }
};

}  // namespace

void cuda_measure(CudaQueue& q, uint64_t bytes, bool products, linnet_measurement* out) {
  CuPointer data = 0, seen = 0;
  const uint64_t seen_bytes = uint64_t{q.n_sms} * kMeasureBlocks * kMeasureThreads * sizeof(uint32_t);
  bytes &= ~uint64_t{15};
  q.failed = q.driver->alloc(&seen, seen_bytes);
  if (q.failed == 0 && bytes) q.failed = q.driver->alloc(&data, bytes);
  if (q.failed == 0 && bytes) q.failed = q.driver->set(data, 0x5A, bytes, q.stream);
  if (q.failed == 0) {
    Clock clock(q);
    auto* to = reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(seen));
    const ReadAllArgs read = {reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(data)), bytes, to};
    const double ms = bytes ? clock.best(kCuda_read_all, kReads, &read) : 0;
    out->read_gb_s = ms > 0 ? static_cast<double>(bytes) * kReads / (ms * 1e6) : 0;
    out->int8_tops = clock.tops(kCuda_peak_i8, 16 * 8 * 32, {to, 0});
    if (products) out->f8_tops = clock.tops(kCuda_peak_bf16, 16 * 8 * 16, {to, 0});  // what multiplies FP8 is bf16
    clock.keep(q.driver->stream_wait(q.stream));  // after a failure too: kernels must not outlive their memory
  }
  if (data) q.driver->free(data);
  if (seen) q.driver->free(seen);
}

}  // namespace linnet
