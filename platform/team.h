// Threads of work: run(fn) calls fn(arg, id, n) once on each of n threads that are alive together, the caller being thread 0, and
// returns when all are done; barrier.wait(n) lets them wait for each other inside. Spinning is bounded, then threads sleep.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../runtime/arena.h"
#include "../runtime/status.h"

namespace linnet {

// One turn of a thread that waits for another one's memory: a pause, after many the processor is given up.
void relax(uint32_t turn);

struct alignas(64) Barrier {
  std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> phase{0};
  std::atomic<uint32_t> sleepers{0};
  uint32_t spin = 0;  // pauses before a thread sleeps
  void wait(uint32_t n);
};

// n: threads that really run, at most the team's (OpenMP and the app may grant fewer).
using TeamFn = void (*)(void* arg, uint32_t id, uint32_t n);

#if defined(__SANITIZE_THREAD__)
inline constexpr size_t kThreadStackBytes = size_t{2} << 20;  // ThreadSanitizer keeps its own data there
#else
inline constexpr size_t kThreadStackBytes = size_t{256} << 10;
#endif

// Binds the thread that makes it to those of `cpus` that it may use, as long as it lives; an empty set binds nothing.
class CpuGuard {
 public:
  explicit CpuGuard(const linnet_cpus& cpus);
  CpuGuard(const CpuGuard&) = delete;
  CpuGuard& operator=(const CpuGuard&) = delete;
  ~CpuGuard();

 private:
  linnet_cpus before_{};
  bool bound_ = false;
};

struct TeamThread;
struct Team {
  Barrier barrier;  // for fn
  Barrier done;     // own threads: end of a round
  std::atomic<uint32_t> round{0}, sleepers{0};
  uint32_t n = 1, kind = 0, n_started = 0;  // kind: linnet_threads, never DEFAULT
  uint32_t n_active = 1;                    // 1..n: those that take part in the next run; may change between runs, the others sleep
  TeamThread* threads = nullptr;            // (n), own threads
  uint8_t* stacks = nullptr;                // a page, then (n - 1, kThreadStackBytes)
  TeamFn fn = nullptr;
  void* arg = nullptr;
  linnet_parallel_for app = nullptr;  // the app's threads, set before start
  void* app_user = nullptr;
  std::atomic<uint32_t> ran{0};       // shares that the app's threads took up in this round

  void layout_in(Arena& arena, uint32_t n, uint32_t kind);
  Status start(uint32_t n, uint32_t kind, uint32_t spin, Error* err);
  void run(TeamFn fn, void* arg);
  // Once it has started: the threads beside the caller's run on `cpus` (empty: anywhere) and at that nice value. A wish: a system that refuses it is left alone.
  void bind(const linnet_cpus& cpus, int32_t priority);
  void stop();
};

// linnet_threads -> a kind that this build has; LINNET_THREADS_DEFAULT picks one.
Status team_kind(uint32_t threads, uint32_t* kind, Error* err);

}  // namespace linnet
