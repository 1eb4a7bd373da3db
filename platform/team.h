// Threads of work. run(fn): each of n threads that are alive together, the caller being thread 0, calls fn(arg, id, n) once. pass(fn): the
// caller calls it, and the others as far as the machine runs them while it computes; what there is to do is cut into pieces (Tickets), and
// nobody waits for a thread that holds none. Waits are bounded in time, then threads sleep; how many threads a pass gets follows what they
// were worth (Granted).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arena.h"
#include "pieces.h"
#include "status.h"

namespace linnet {

// How many threads the passes of one kind get. Where time is lost to threads that hold a piece and are not run, or where fewer than wished
// compute, another number is tried for some milliseconds and kept if it is faster; trials that fail take a fiftieth of the time at most.
class Granted {
 public:
  // Of the next pass; a number that was found more than `pause` ago is forgotten. All times are ticks.
  uint32_t threads(uint32_t most, uint64_t now, uint64_t pause);
  // A pass that ended at `now`. late: ticks that a thread waited for others on average; bearable: which part of the time that may be.
  void passed(uint64_t took, uint64_t late, double work, double bearable, uint64_t window, uint64_t now);

 private:
  uint32_t most_ = 0, n_ = 0, trial_ = 0;    // threads wished, threads now, on trial (0: none)
  bool down_ = false;                        // which way the last trial went
  double each_ = 0;                          // ticks of a unit of work with n_ threads, lately
  double ticks_ = 0, late_ = 0, work_ = 0;   // of the window that fills
  uint64_t last_ = 0, next_ = 0, kept_ = 0;  // when the last pass ended, when the next trial may be, when more threads were kept
  uint64_t rest_ = 0;                        // windows from when threads were found too many until more are tried
};

// n: as many as the work is cut for, id < n.
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
  Tickets tickets;                              // of the pass that runs
  std::atomic<uint32_t> round{0}, sleepers{0};  // own threads: which round runs, or none
  alignas(64) std::atomic<uint32_t> inside{0};  // own threads that take part in it
  std::atomic<uint32_t> began{0}, waiting{0};   // that have begun it; whether the caller sleeps until they have, or have left
  uint32_t n = 1, kind = 0, n_started = 0;      // kind: linnet_threads, never DEFAULT
  uint32_t n_active = 1;          // 1..n: those that may take part in the next run or pass; may change between them, the others sleep
  TeamThread* threads = nullptr;  // (n), own threads
  uint8_t* stacks = nullptr;      // a page, then (n - 1, kThreadStackBytes)
  TeamFn fn = nullptr;
  void* arg = nullptr;
  linnet_parallel_fn app = nullptr;  // the app's threads, set before start
  void* app_user = nullptr;
  std::atomic<uint32_t> ran{0};  // shares that the app's threads took up in this round
  Granted granted[2];            // passes of few rows, and of many
  uint64_t ticks_a_ms = 1;

  void layout_in(Arena& arena, uint32_t n, uint32_t kind);
  Status start(uint32_t n, uint32_t kind, uint32_t spin, Error* err);
  void run(TeamFn fn, void* arg);
  // rows: of the pass, by which its time is held against others'. fn cuts its work by tickets, and into the same pieces on every thread.
  void pass(TeamFn fn, void* arg, uint32_t rows);
  // Once it has started: the threads beside the caller's run on `cpus` (empty: anywhere) and at that nice value. A wish: a system that
  // refuses it is left alone.
  void bind(const linnet_cpus& cpus, int32_t priority);
  void stop();

 private:
  void call(uint32_t n, bool all);
  void await_threads(std::atomic<uint32_t>& count, uint32_t value);
};

// linnet_threads -> a kind that this build has; LINNET_THREADS_DEFAULT picks one.
Status team_kind(uint32_t threads, uint32_t* kind, Error* err);

}  // namespace linnet
