#include "team.h"

#if LINNET_HAVE_OPENMP
#include <omp.h>
#endif

#include "board.h"
#include "file.h"
#if defined(_WIN32)
#include "thread_windows.h"
#else
#include "thread_posix.h"
#endif

namespace linnet {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#elif defined(__ARM_ARCH) && __ARM_ARCH >= 7
  asm volatile("yield" ::: "memory");
#else
  yield_cpu();
#endif
}

constexpr uint64_t kSpinUs = 30, kCalibrateNs = 20000;
constexpr uint32_t kAll = UINT32_MAX;  // of whom a wake-up is for

enum class Until : uint8_t { kReaches, kIs, kIsNot };
bool holds(const std::atomic<uint32_t>& word, Until until, uint32_t value, std::memory_order order) {
  const uint32_t v = word.load(order);
  return until == Until::kReaches ? static_cast<int32_t>(v - value) >= 0 : (v == value) == (until == Until::kIs);
}

// Whether it came true before `spin` was used up.
bool spin_until(const std::atomic<uint32_t>& word, Until until, uint32_t value, Spin spin, uint64_t start) {
  for (uint32_t i = 1;; ++i) {
    if (holds(word, until, value, std::memory_order_acquire)) return true;
    if (i >= spin.pauses || (i % 16 == 0 && ticks_since(start) > spin.ticks)) return false;
    pause();
  }
}

// The count of sleepers is raised before the last look at the word, and who changes the word does so before a look at the count (all
// sequentially consistent), so no wake-up is lost.
void sleep_until(std::atomic<uint32_t>& word, Until until, uint32_t value, std::atomic<uint32_t>& sleepers, uint32_t who = kAll) {
  sleepers.fetch_add(1);
  for (uint32_t v = word.load(); !holds(word, until, value, std::memory_order_seq_cst); v = word.load()) sleep_while(word, v, who);
  sleepers.fetch_sub(1);
}

}  // namespace

uint64_t slow_ticks() { return clock_ns(); }

bool Tickets::take(uint32_t first, uint32_t count, uint32_t at, uint32_t* piece) {
  do {
    if (static_cast<int32_t>(at - first - count) >= 0) return false;
  } while (!taken.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
  *piece = at - first;
  return true;
}

void Tickets::finish(uint32_t n) {
  done.fetch_add(n);
  if (sleepers.load()) wake(done, kAll);  // whoever still has to wait sleeps again
}

void Tickets::wait(uint32_t target, uint64_t* since) {
  if (!holds(done, Until::kReaches, target, std::memory_order_acquire)) {
    const uint64_t start = ticks_now();
    if (!spin_until(done, Until::kReaches, target, spin_from(*since), start)) {
      sleep_until(done, Until::kReaches, target, sleepers);
      late.fetch_add(ticks_since(start), std::memory_order_relaxed);
    }
  }
  *since = ticks_now();
}

void Tickets::await(std::atomic<uint32_t>& word, uint32_t value, uint64_t since) {
  const uint64_t start = ticks_now();
  if (spin_until(word, Until::kIs, value, spin_from(since), start)) return;
  sleep_until(word, Until::kIs, value, word_sleepers_);
  late.fetch_add(ticks_since(start), std::memory_order_relaxed);
}

void Tickets::publish(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value);
  if (word_sleepers_.load()) wake(word, kAll);
}

bool Pieces::take(uint32_t* piece) {
  *piece = mine_;
  // Behind a piece of its own a thread expects the next one: to look first would bring the counter's cache line over twice.
  if (w_.tickets ? !w_.tickets->take(first_, count_, mine_ ? first_ + next_ : w_.tickets->taken.load(std::memory_order_relaxed), piece)
                 : mine_ == count_) {
    if (w_.tickets && mine_) w_.tickets->finish(mine_);
    return false;
  }
  next_ = *piece + 1;
  ++mine_;
  return true;
}

Share Pieces::of(uint32_t piece, uint32_t n) const {
  const uint32_t units = n ? (n - 1) / unit_ + 1 : 0, size = units / count_, larger = units % count_;
  const uint32_t from = (piece * size + (piece < larger ? piece : larger)) * unit_, to = from + (size + (piece < larger)) * unit_;
  return {from < n ? from : n, to < n ? to : n};
}

bool Pieces::take(Share* out) {
  uint32_t piece;
  if (!take(&piece)) return false;
  *out = of(piece, n_);
  return true;
}

uint32_t Granted::threads(uint32_t most, uint64_t now, uint64_t pause) {
  if (most != most_ || now - last_ > pause) {  // what was worth something then says nothing now
    *this = {};
    most_ = n_ = most;
  }
  return trial_ ? trial_ : n_;
}

void Granted::passed(uint64_t took, uint64_t late, double work, double bearable, uint64_t window, uint64_t now) {
  constexpr double kBetter = 0.98, kDear = 50;         // what a failed trial cost, times this, passes before the next one
  constexpr uint64_t kLeastRest = 2, kMostRest = 100;  // windows
  last_ = now;
  ticks_ += static_cast<double>(took);
  late_ += static_cast<double>(late);
  work_ += work;
  if (ticks_ < static_cast<double>(window)) return;
  const double each = ticks_ / work_;
  const bool losing = late_ > bearable * ticks_, tried = trial_;
  if (tried && each < kBetter * each_) {
    // More threads that soon prove too many were luck: the next such trial comes later.
    if (!down_)
      kept_ = now;
    else if (rest_ && now - kept_ < kMostRest * window)
      rest_ = rest_ < kMostRest ? 2 * rest_ : kMostRest;
    else
      rest_ = kLeastRest;
    n_ = trial_;
    each_ = each;
    next_ = now + (down_ ? rest_ : kLeastRest) * window;
  } else if (tried) {
    const double cost = kDear * (ticks_ - each_ * work_), most = 1e4 * static_cast<double>(window);
    next_ = now + kLeastRest * window + (cost > 0 ? static_cast<uint64_t>(cost < most ? cost : most) : 0);
  } else {
    each_ = each;
  }
  trial_ = 0;
  ticks_ = late_ = work_ = 0;
  if (tried || now < next_) return;
  const bool fewer = losing && n_ > 1, more = n_ < most_;
  down_ = fewer && (!more || !down_);
  if (fewer || more) trial_ = down_ ? n_ - 1 : n_ + 1;
}

struct alignas(64) TeamThread {
  Team* team;
  uint32_t id;
  Thread thread;
};

namespace {

// The word of a round: how many take part, 0 while there is none; above that rounds are counted, so that a thread that slept through some
// cannot take a later one for an earlier one.
constexpr uint32_t kTakePart = 0xFFFF, kQuit = kTakePart;

uint32_t bit_of(uint32_t id) { return uint32_t{1} << (id < 31 ? id : 31); }

void* thread_main(void* p) {
  const TeamThread& me = *static_cast<TeamThread*>(p);
  Team& team = *me.team;
  uint32_t seen = 0;
  bool idle = false;  // of the last round
  for (;;) {
    const Spin spin = idle ? Spin{1, 0} : team.tickets.spin;
    if (!spin_until(team.round, Until::kIsNot, seen, spin, ticks_now()))
      sleep_until(team.round, Until::kIsNot, seen, team.sleepers, bit_of(me.id));
    seen = team.round.load();
    const uint32_t n = seen & kTakePart;
    if (n == kQuit) return nullptr;
    if (n) idle = me.id >= n;
    if (n == 0 || idle) continue;
    team.inside.fetch_add(1);
    if (team.round.load() == seen) {  // the caller looks at `inside` after it has ended the round
      team.began.fetch_add(1);
      if (team.waiting.load()) wake(team.began, kAll);
      team.fn(team.arg, me.id, n);
    }
    team.inside.fetch_sub(1);
    if (team.waiting.load()) wake(team.inside, kAll);
  }
}

void set_round(Team& team, uint32_t n) {
  team.round.store((team.round.load(std::memory_order_relaxed) | kTakePart) + 1 + n);
  if (n && team.sleepers.load()) wake(team.round, n > 31 ? kAll : bit_of(n) - 1);
}

}  // namespace

Status team_kind(uint32_t threads, uint32_t* kind, Error* err) {
  switch (threads) {
    case LINNET_THREADS_DEFAULT:
      *kind = LINNET_THREADS_OWN;
      return LINNET_OK;
    case LINNET_THREADS_OWN:
    case LINNET_THREADS_APP:
      *kind = threads;
      return LINNET_OK;
    case LINNET_THREADS_OPENMP:
#if LINNET_HAVE_OPENMP
      *kind = threads;
      return LINNET_OK;
#else
      return fail(err, LINNET_UNSUPPORTED, "threads: this build has no OpenMP");
#endif
    default:
      return fail(err, LINNET_BAD_ARG, "threads: unknown value ", threads);
  }
}

void Team::layout_in(Arena& arena, uint32_t count, uint32_t use_kind) {
  if (use_kind != LINNET_THREADS_OWN || count < 2) return;
  threads = arena.take<TeamThread>("threads", count);
  if (kThreadsHaveStacks) stacks = arena.take<uint8_t>("threads", uint64_t{count - 1} * kThreadStackBytes + page_bytes());
}

#if LINNET_HAVE_OPENMP
// OpenMP's runtimes end the process where they cannot make a thread, and some hang in a child of fork() that made none of their threads:
// such calls are refused before.
[[gnu::always_inline]] static inline Status check_openmp(uint32_t n, Error* err) {
  static std::atomic<uint32_t> used_by{0};
  const uint32_t me = process_id();
  uint32_t before = 0;
  if (!used_by.compare_exchange_strong(before, me) && before != me)
    return fail(err, LINNET_UNSUPPORTED,
                "threads: OpenMP has run before fork(), and its threads are not in this process; LINNET_THREADS_OWN works here");
  std::atomic<uint32_t> go{0}, asleep{0};
  struct Gate {
    std::atomic<uint32_t>&go, &asleep;
  } gate = {go, asleep};
  pthread_t made[256];
  uint32_t count = 0;
  int e = 0;
  while (count + 1 < n && e == 0) {
    e = pthread_create(
        &made[count], nullptr,
        [](void* p) -> void* {
          Gate& g = *static_cast<Gate*>(p);
          sleep_until(g.go, Until::kIs, 1, g.asleep);
          return nullptr;
        },
        &gate);
    count += e == 0;
  }
  go.store(1);
  if (asleep.load()) wake(go, kAll);
  for (uint32_t i = 0; i < count; ++i) pthread_join(made[i], nullptr);
  return e == 0 ? LINNET_OK : fail(err, LINNET_IO, "threads: the system gives ", count + 1, " of ", n, " threads (errno ", e, ")");
}
#endif

Status Team::start(uint32_t count, uint32_t use_kind, uint32_t spin, Error* err) {
  n = n_active = count;
  kind = use_kind;
  n_started = 1;
  const uint64_t ticks = ticks_now(), ns = clock_ns();
  uint64_t passed = 0;
  while (count > 1 && passed < kCalibrateNs) passed = clock_ns() - ns;
  if (passed) ticks_a_ms = (ticks_now() - ticks) * 1000000 / passed + 1;
  // More threads than CPUs: whoever spins keeps the one it waits for from running.
  const uint32_t cpus = cpu_count(cpu_affinity());
  tickets.spin = {cpus && count > cpus ? 1 : spin, ticks_a_ms / 1000 * kSpinUs};
  if (kind == LINNET_THREADS_APP || count == 1) return LINNET_OK;
#if LINNET_HAVE_OPENMP
  if (kind == LINNET_THREADS_OPENMP) {
    LINNET_TRY(check_openmp(count, err));
    run([](void*, uint32_t, uint32_t) {}, nullptr);  // warms the runtime: its allocations happen here
    return LINNET_OK;
  }
#endif
  int e = 0;
  {
    const SignalsHeld held;
    // Some systems take no stack that begins within a page.
    uint8_t* const first = stacks + (page_bytes() - reinterpret_cast<uintptr_t>(stacks) % page_bytes()) % page_bytes();
    while (n_started < n && e == 0) {
      TeamThread& t = threads[n_started];
      t.team = this;
      t.id = n_started;
      e = t.thread.start(kThreadsHaveStacks ? first + (n_started - 1) * kThreadStackBytes : nullptr, kThreadStackBytes, thread_main, &t);
      n_started += e == 0;
    }
  }
  if (e == 0) return LINNET_OK;
  const uint32_t failed = n_started;
  stop();
  return fail(err, LINNET_IO, "threads: cannot start thread ", failed, " of ", n, " (errno ", e, ")");
}

// Numbers that come from the app: past the team's there is no scratch memory.
static void app_share(void* p, uint32_t id, uint32_t count) {
  Team& team = *static_cast<Team*>(p);
  if (id >= count || count > team.n_active) return;
  team.ran.fetch_add(1, std::memory_order_relaxed);
  team.fn(team.arg, id, team.n_active);
}

// Until an own thread's count is `value`.
void Team::await_threads(std::atomic<uint32_t>& count, uint32_t value) {
  if (count.load() == value) return;  // in one order with the end of the round, which a thread that comes in now sees
  if (!spin_until(count, Until::kIs, value, tickets.spin, ticks_now())) sleep_until(count, Until::kIs, value, waiting);
}

// all: every thread calls fn; else those that come while the caller computes.
void Team::call(uint32_t count, bool all) {
#if LINNET_HAVE_OPENMP
  if (kind == LINNET_THREADS_OPENMP) {
#pragma omp parallel num_threads(static_cast<int>(count))
    fn(arg, static_cast<uint32_t>(omp_get_thread_num()), all ? static_cast<uint32_t>(omp_get_num_threads()) : count);
    return;
  }
#endif
  if (kind == LINNET_THREADS_APP) {
    ran.store(0, std::memory_order_relaxed);
    app(app_user, count, app_share, this);
    if (ran.load(std::memory_order_relaxed) == 0) fn(arg, 0, 1);
    return;
  }
  began.store(0, std::memory_order_relaxed);
  set_round(*this, count);
  fn(arg, 0, count);
  if (all) await_threads(began, count - 1);
  set_round(*this, 0);
  const uint64_t ended = ticks_now();
  await_threads(inside, 0);
  tickets.late.fetch_add(ticks_since(ended), std::memory_order_relaxed);
}

void Team::run(TeamFn f, void* a) {
  if (n_active == 1) return f(a, 0, 1);
  fn = f;
  arg = a;
  call(n_active, true);
  arg = nullptr;  // it is the caller's
}

void Team::pass(TeamFn f, void* a, uint32_t rows) {
  if (n_active == 1) return f(a, 0, 1);
  fn = f;
  arg = a;
  tickets.reset();
  if (kind != LINNET_THREADS_OWN) return call(n_active, false);
  // Many rows: a trial takes long, and fewer threads are slower unless the others hold them up most of the time.
  constexpr uint32_t kFewRows = 8;
  const bool many = rows > kFewRows;
  Granted& g = granted[many];
  const uint64_t start = ticks_now();
  const uint32_t count = g.threads(n_active, start, 10000 * ticks_a_ms);
  if (count == 1)
    f(a, 0, 1);
  else
    call(count, false);
  g.passed(ticks_since(start), count > 1 ? tickets.late.load(std::memory_order_relaxed) / (count - 1) : 0, many ? rows : 1,
           many ? 0.5 : 1.0 / 16, 20 * ticks_a_ms, ticks_now());
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
  if (n == 1 || kind == LINNET_THREADS_APP || (!cpu_count(cpus) && priority == 0)) return;  // the app's threads are the app's
  struct Wish {
    linnet_cpus cpus;
    int32_t priority;
  } wish = {cpus, priority};
  run(
      [](void* p, uint32_t id, uint32_t) {
        const Wish& w = *static_cast<const Wish*>(p);
        if (id == 0) return;
        if (cpu_count(w.cpus)) set_affinity(w.cpus);
        if (w.priority) set_priority(w.priority);
      },
      &wish);
}

void Team::stop() {
  if (kind == LINNET_THREADS_OWN && n_started > 1) {
    set_round(*this, kQuit);
    for (uint32_t id = 1; id < n_started; ++id) threads[id].thread.join();
  }
  n_started = 1;
}

}  // namespace linnet
