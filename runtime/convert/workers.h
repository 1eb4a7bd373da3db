// Threads that share the pieces of a conversion. What comes out does not depend on how many they are.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "../../platform/team.h"

namespace linnet::convert {

class Workers {
 public:
  // 0, or more than this process has CPUs: as many as it has.
  explicit Workers(uint32_t n_threads);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();
  uint32_t threads() const { return n_; }
  // job(i, thread) for all i < n_jobs, thread < threads(), and now and then `between` in the caller's thread. After a failure none that
  // follows is begun: the failure of the least i is what is returned, as of one thread; one of `between` comes before all of them.
  using Job = std::function<Status(uint32_t i, uint32_t thread, Error* err)>;
  Status run(uint32_t n_jobs, const Job& job, const std::function<Status(Error* err)>& between, Error* err);

 private:
  struct Round;
  void start();
  uint32_t n_;
  bool started_ = false;
  Team team_;
  void* memory_ = nullptr;
  size_t memory_bytes_ = 0;
};

}  // namespace linnet::convert
