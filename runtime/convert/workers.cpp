#include "workers.h"

#include <algorithm>

#include "../../platform/board.h"
#include "../../platform/file.h"
#include "../guard.h"

namespace linnet::convert {

// One call of run().
struct Workers::Round {
  struct Failure {
    uint32_t job = UINT32_MAX;
    Status status = LINNET_OK;
    Error err = {};
  };
  uint32_t n_jobs;
  const Job& job;
  const std::function<Status(Error* err)>& between;
  std::vector<Failure> failures;  // the first one of each thread, which is its least
  std::atomic<uint32_t> next{0}, end{UINT32_MAX};
  Failure stopped = {};

  void work(uint32_t thread) {
    for (uint32_t i; (i = next.fetch_add(1)) < n_jobs && i < end.load();) {
      Failure& f = failures[thread];
      const Status status = guarded("convert", &f.err, [&] { return job(i, thread, &f.err); });
      if (status != LINNET_OK) {
        f.job = i;
        f.status = status;
        for (uint32_t least = end.load(); i < least && !end.compare_exchange_weak(least, i);) {
        }
        return;
      }
      if (thread) continue;
      stopped.status = guarded("convert", &stopped.err, [&] { return between(&stopped.err); });
      if (stopped.status == LINNET_OK) continue;
      end = 0;
      return;
    }
  }
};

Workers::Workers(uint32_t n_threads) {
  const uint32_t cpus = std::max(1u, cpu_count(cpu_affinity()));
  n_ = n_threads ? std::min(n_threads, cpus) : cpus;
}

Workers::~Workers() {
  if (started_) team_.stop();
  memory_free(memory_, memory_bytes_);
}

// A system that gives no threads, or no memory for them, leaves the caller's.
void Workers::start() {
  started_ = true;
  Arena count;
  team_.layout_in(count, n_, LINNET_THREADS_OWN);
  memory_bytes_ = count.used() ? count.used() : 1;
  memory_ = memory_alloc(memory_bytes_);
  bool made = memory_ != nullptr;
  if (made) {
    Arena arena(memory_, memory_bytes_);
    team_.layout_in(arena, n_, LINNET_THREADS_OWN);
    made = team_.start(n_, LINNET_THREADS_OWN, 1, nullptr) == LINNET_OK;
  }
  if (!made) (void)team_.start(n_ = 1, LINNET_THREADS_OWN, 1, nullptr);
}

Status Workers::run(uint32_t n_jobs, const Job& job, const std::function<Status(Error* err)>& between, Error* err) {
  if (!started_ && n_ > 1 && n_jobs > 1) start();
  Round round{n_jobs, job, between, std::vector<Round::Failure>(n_)};
  if (n_ > 1 && n_jobs > 1)
    team_.run([](void* r, uint32_t id, uint32_t) { static_cast<Round*>(r)->work(id); }, &round);
  else
    round.work(0);
  const Round::Failure* first = &round.stopped;
  if (first->status == LINNET_OK)
    for (const Round::Failure& f : round.failures)
      if (f.job < first->job) first = &f;
  if (first->status != LINNET_OK && err) *err = first->err;
  return first->status;
}

}  // namespace linnet::convert
