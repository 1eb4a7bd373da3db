#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if LINNET_HAVE_OPENMP
#include <omp.h>
#endif

#include "board.h"
#include "file.h"

namespace linnet {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  sched_yield();
#endif
}

void sleep_while(std::atomic<uint32_t>& word, uint32_t value) {
#if defined(__linux__)
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
  (void)word, (void)value;
  sched_yield();
#endif
}

void wake_all(std::atomic<uint32_t>& word) {
#if defined(__linux__)
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
#else
  (void)word;
#endif
}

// Waits until word != value. The sleeper count is raised before the last look at the word, and the waker changes the word before it looks at
// the count (both sequentially consistent), so no wake-up is lost.
void wait_change(std::atomic<uint32_t>& word, uint32_t value, std::atomic<uint32_t>& sleepers, uint32_t spin) {
  for (uint32_t i = 0; i < spin; ++i) {
    if (word.load(std::memory_order_acquire) != value) return;
    pause();
  }
  sleepers.fetch_add(1);
  while (word.load() == value) sleep_while(word, value);
  sleepers.fetch_sub(1);
}

void change(std::atomic<uint32_t>& word, std::atomic<uint32_t>& sleepers) {
  word.fetch_add(1);
  if (sleepers.load()) wake_all(word);
}

}  // namespace

void relax(uint32_t turn) {
  if (turn < 1000) pause();
  else sched_yield();
}

void Barrier::wait(uint32_t n) {
  if (n == 1) return;
  const uint32_t now = phase.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == n) {
    arrived.store(0, std::memory_order_relaxed);
    change(phase, sleepers);
  } else {
    wait_change(phase, now, sleepers, spin);
  }
}

struct alignas(64) TeamThread {
  Team* team;
  uint32_t id;
  pthread_t handle;
};

namespace {

// The word of a round tells who takes part, so that a thread that slept through rounds without it cannot take a later one for an earlier one.
constexpr uint32_t kTakePart = 0xFFFF;  // of the word; 0: quit. Above it rounds are counted

void next_round(Team& team, uint32_t n) {
  team.round.store((team.round.load(std::memory_order_relaxed) | kTakePart) + 1 + n);
  if (team.sleepers.load()) wake_all(team.round);
}

void* thread_main(void* p) {
  const TeamThread& me = *static_cast<TeamThread*>(p);
  Team& team = *me.team;
  uint32_t seen = kTakePart;
  bool idle = false;
  for (;;) {
    wait_change(team.round, seen, team.sleepers, idle ? 0 : team.barrier.spin);
    seen = team.round.load();
    const uint32_t n = seen & kTakePart;
    if (n == 0) return nullptr;
    idle = me.id >= n;
    if (idle) continue;
    team.fn(team.arg, me.id, n);
    team.done.wait(n);
  }
}

}  // namespace

Status team_kind(uint32_t threads, uint32_t* kind, Error* err) {
#if LINNET_HAVE_OPENMP
  const bool openmp = true;
#else
  const bool openmp = false;
#endif
  switch (threads) {
    case LINNET_THREADS_DEFAULT: *kind = openmp ? LINNET_THREADS_OPENMP : LINNET_THREADS_OWN; return LINNET_OK;
    case LINNET_THREADS_OWN: *kind = threads; return LINNET_OK;
    case LINNET_THREADS_OPENMP:
      if (!openmp) return fail(err, LINNET_UNSUPPORTED, "threads: this build has no OpenMP");
      *kind = threads;
      return LINNET_OK;
    default: return fail(err, LINNET_BAD_ARG, "threads: unknown value ", threads);
  }
}

void Team::layout_in(Arena& arena, uint32_t count, uint32_t use_kind) {
  if (use_kind != LINNET_THREADS_OWN || count < 2) return;
  threads = arena.take<TeamThread>("threads", count);
  stacks = arena.take<uint8_t>("threads", uint64_t{count - 1} * kThreadStackBytes + page_bytes());
}

// CPUs that this process may use, 0 if that is not known.
static uint32_t usable_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
#endif
  return 0;
}

Status Team::start(uint32_t count, uint32_t use_kind, uint32_t spin, Error* err) {
  n = n_active = count;
  kind = use_kind;
  round.store(kTakePart);
  // More threads than CPUs: whoever spins keeps the one it waits for from running.
  const uint32_t cpus = usable_cpus();
  barrier.spin = done.spin = cpus && count > cpus ? 0 : spin;
  n_started = 1;
  if (kind == LINNET_THREADS_OPENMP) {
    run([](void*, uint32_t, uint32_t) {}, nullptr);  // warms the runtime: its allocations happen here
    return LINNET_OK;
  }
  // Some systems take no stack that begins within a page.
  uint8_t* const first = stacks + (page_bytes() - reinterpret_cast<uintptr_t>(stacks) % page_bytes()) % page_bytes();
  for (uint32_t id = 1; id < n; ++id) {
    TeamThread& t = threads[id];
    t.team = this;
    t.id = id;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    int e = pthread_attr_setstack(&attr, first + (id - 1) * kThreadStackBytes, kThreadStackBytes);
    if (e == 0) e = pthread_create(&t.handle, &attr, thread_main, &t);
    pthread_attr_destroy(&attr);
    if (e != 0) {
      stop();
      return fail(err, LINNET_IO, "threads: cannot start thread ", id, " of ", n, " (errno ", e, ")");
    }
    ++n_started;
  }
  return LINNET_OK;
}

void Team::run(TeamFn f, void* a) {
  if (n_active == 1) return f(a, 0, 1);
#if LINNET_HAVE_OPENMP
  if (kind == LINNET_THREADS_OPENMP) {
#pragma omp parallel num_threads(static_cast<int>(n_active))
    f(a, static_cast<uint32_t>(omp_get_thread_num()), static_cast<uint32_t>(omp_get_num_threads()));
    return;
  }
#endif
  fn = f;
  arg = a;
  next_round(*this, n_active);
  f(a, 0, n_active);
  done.wait(n_active);
}

static void set_affinity(const linnet_cpus& cpus) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t i = 0; i < LINNET_MAX_CPUS && i < CPU_SETSIZE; ++i)
    if (cpu_in(cpus, i)) CPU_SET(i, &set);
  sched_setaffinity(0, sizeof set, &set);
#else
  (void)cpus;
#endif
}

CpuGuard::CpuGuard(const linnet_cpus& cpus) {
  if (!cpu_count(cpus)) return;
  before_ = cpu_affinity();
  const linnet_cpus both = cpu_both(before_, cpus);
  bound_ = cpu_count(both) && cpu_count(both) < cpu_count(before_);
  if (bound_) set_affinity(both);
}

CpuGuard::~CpuGuard() {
  if (bound_) set_affinity(before_);
}

void Team::bind(const linnet_cpus& cpus, int32_t priority) {
  if (n == 1 || kind > LINNET_THREADS_OWN || (!cpu_count(cpus) && priority == 0)) return;
  struct Wish {
    linnet_cpus cpus;
    int32_t priority;
  } wish = {cpus, priority};
  run([](void* p, uint32_t id, uint32_t) {
    const Wish& w = *static_cast<const Wish*>(p);
    if (id == 0) return;
    if (cpu_count(w.cpus)) set_affinity(w.cpus);
#if defined(__linux__)
    if (w.priority) setpriority(PRIO_PROCESS, 0, w.priority);  // of this thread alone, on Linux
#endif
  }, &wish);
}

void Team::stop() {
  if (kind == LINNET_THREADS_OWN && n_started > 1) {
    next_round(*this, 0);
    for (uint32_t id = 1; id < n_started; ++id) pthread_join(threads[id].handle, nullptr);
  }
  n_started = 1;
}

}  // namespace linnet
