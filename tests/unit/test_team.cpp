// Threads of work: nobody waits for a thread that holds no piece, waits are short, and how many compute follows what they are worth.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "platform/file.h"
#include "platform/team.h"
#include "tests/data.h"
#include "tests/models.h"

using namespace linnet;

namespace {

class OwnTeam {
 public:
  OwnTeam(uint32_t n, uint32_t spin) {
    Arena counted;
    team.layout_in(counted, n, LINNET_THREADS_OWN);
    memory_ = std::make_unique<test::Memory>(counted.used());
    Arena arena(memory_->p, counted.used());
    team.layout_in(arena, n, LINNET_THREADS_OWN);
    linnet_error err{};
    test::check(team.start(n, LINNET_THREADS_OWN, spin, &err), err);
  }
  ~OwnTeam() { team.stop(); }
  OwnTeam(const OwnTeam&) = delete;
  OwnTeam& operator=(const OwnTeam&) = delete;
  Team team;

 private:
  std::unique_ptr<test::Memory> memory_;
};

// Whether it came true; a fault would wait for ever.
template <class Ready>
bool in_time(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

constexpr uint32_t kOps = 40, kPieces = 7;

struct Job {
  Team* team;
  std::atomic<uint32_t> done[kOps][kPieces]{}, others{0}, wrong{0};
  std::atomic<bool> caller_done{false};
  uint32_t late_from = UINT32_MAX;  // threads from this number on come once the caller is done

  // All operations; behind each sync everything before it is there.
  void compute(uint32_t id, uint32_t n) {
    const Member w = {.id = id, .n = n, .tickets = n > 1 ? &team->tickets : nullptr, .since = ticks_now()};
    for (uint32_t op = 0; op < kOps; ++op) {
      Pieces pieces(w, kPieces);
      for (Share piece; pieces.take(&piece);)
        for (uint32_t i = piece.from; i < piece.to; ++i) {
          done[op][i].fetch_add(1, std::memory_order_relaxed);
          if (id) others.fetch_add(1);
        }
      sync(w);
      for (uint32_t i = 0; i < kPieces; ++i) wrong += done[op][i].load(std::memory_order_relaxed) != 1;
    }
  }
};

}  // namespace

TEST_CASE("a pass is computed by who comes: late threads are done without, each piece is done once") {
  for (const uint32_t n : {1u, 2u, 4u}) {
    OwnTeam own(n, 1000);
    for (uint32_t late_from = 1; late_from <= n; ++late_from) {
      Job job;
      job.team = &own.team;
      job.late_from = late_from;
      own.team.pass(
          [](void* arg, uint32_t id, uint32_t count) {
            Job& j = *static_cast<Job*>(arg);
            if (id >= j.late_from) j.wrong += !in_time([&] { return j.caller_done.load(); });
            j.compute(id, count);
            if (id == 0) j.caller_done = true;
          },
          &job, 1);
      CAPTURE(n, late_from);
      CHECK(job.wrong == 0);
      if (late_from == 1) CHECK(job.others == 0);
    }
  }
}

TEST_CASE("many passes in a row, each piece is done once and nobody sleeps for ever") {
  for (const uint32_t n : {2u, 3u, 5u}) {  // where that is more than there are CPUs all of them sleep at every sync
    OwnTeam own(n, 50);
    for (uint32_t i = 0; i < 2000; ++i) {
      Job job;
      job.team = &own.team;
      own.team.pass([](void* arg, uint32_t id, uint32_t count) { static_cast<Job*>(arg)->compute(id, count); }, &job, 1);
      REQUIRE(job.wrong == 0);
      if (i % 100) continue;  // and what every thread has to do
      std::atomic<uint32_t> ran{0};
      own.team.run([](void* arg, uint32_t id,
                      uint32_t count) { static_cast<std::atomic<uint32_t>*>(arg)->fetch_add(1 + (id << 8) + (count << 16)); },
                   &ran);
      REQUIRE(ran == n + ((n * (n - 1) / 2) << 8) + ((n * n) << 16));
    }
  }
}

TEST_CASE("a thread that is stopped within a piece holds up that piece alone, and who waits for it sleeps") {
  OwnTeam own(2, 1u << 30);  // pauses without end: the wait is bounded by time
  struct Stopped {
    Team* team;
    std::atomic<uint32_t> held{0}, free{0}, wrong{0};
    double cpu = 0, wall = 0;
  } job;
  job.team = &own.team;
  own.team.pass(
      [](void* arg, uint32_t id, uint32_t n) {
        Stopped& j = *static_cast<Stopped*>(arg);
        const Member w = {.id = id, .n = n, .tickets = &j.team->tickets, .since = ticks_now()};
        Pieces pieces(w, 100);
        if (id == 0) j.wrong += !in_time([&] { return j.held.load() == 1; });
        for (Share piece; pieces.take(&piece);) {
          if (id == 0) {
            ++j.free;
            continue;
          }
          if (j.held.exchange(1)) continue;
          j.wrong += !in_time([&] { return j.free.load() == 99; });
          sleep_ns(300'000'000);
        }
        const auto cpu = [] {
          timespec t{};
          clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
          return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
        };
        const double cpu_before = cpu();
        const uint64_t before = clock_ns();
        sync(w);
        if (id == 0) j.cpu = cpu() - cpu_before, j.wall = 1e-9 * static_cast<double>(clock_ns() - before);
      },
      &job, 1);
  CHECK(job.wrong == 0);
  CHECK(job.free == 99);
  CHECK(job.cpu < 0.2 * job.wall);
  CHECK(own.team.tickets.late > 0);
}

TEST_CASE("own threads take no signals of the app's, which has its mask as before") {
  const auto takes = [] {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return !sigismember(&now, SIGTERM) || !sigismember(&now, SIGALRM);
  };
  OwnTeam own(3, 100);
  std::atomic<uint32_t> taking{0};
  own.team.run(
      [](void* arg, uint32_t id, uint32_t) {
        sigset_t now;
        pthread_sigmask(SIG_BLOCK, nullptr, &now);
        if (id && (!sigismember(&now, SIGTERM) || !sigismember(&now, SIGALRM) || sigismember(&now, SIGSEGV)))
          ++*static_cast<std::atomic<uint32_t>*>(arg);
      },
      &taking);
  CHECK(taking == 0);
  CHECK(takes());
}

// OpenMP's runtimes end the process where they get no thread, and hang in a child whose parent has used them.
TEST_CASE("OpenMP without threads, and behind fork(), is refused") {
  uint32_t kind = LINNET_THREADS_OPENMP;
  linnet_error err{};
  if (team_kind(kind, &kind, &err) != LINNET_OK) {
    std::puts("skipped: this build has no OpenMP");
    return;
  }
  constexpr int kNoLimit = 100;
  const auto in_child = [](uint32_t n, bool without_memory) {  // what start() returns there
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      const rlimit none = {1, 1};
      if (without_memory &&
          (setrlimit(RLIMIT_AS, &none) != 0 || mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED))
        _exit(kNoLimit);
      Team team;
      linnet_error e{};
      alarm(20);
      const Status status = team.start(n, LINNET_THREADS_OPENMP, 100, &e);
      _exit(-static_cast<int>(status));
    }
    int state = 0;
    REQUIRE(waitpid(pid, &state, 0) == pid);
    REQUIRE(WIFEXITED(state));
    return -WEXITSTATUS(state);
  };
  if (kSanitized)
    std::puts("skipped: threads without memory: sanitizers end the process themselves");
  else if (const int status = in_child(256, true); status == -kNoLimit)
    std::puts("skipped: threads without memory: this system (an emulator?) has no limit of memory");
  else
    CHECK(status == LINNET_IO);
  Team team;
  test::check(team.start(2, kind, 100, &err), err);
  std::atomic<uint32_t> ran{0};
  team.run([](void* arg, uint32_t, uint32_t) { ++*static_cast<std::atomic<uint32_t>*>(arg); }, &ran);
  CHECK(ran == 2);
  CHECK(in_child(2, false) == LINNET_UNSUPPORTED);
}

namespace {

// Passes of a team of two beside other work: what a pass takes with one thread and with two, and how long of that one waits for the other.
struct Beside {
  double one, two, late;
};
constexpr uint64_t kWindow = 20'000'000;  // of ticks that are nanoseconds

// `passes` passes; how long they took.
double simulate(Granted& g, uint64_t* now, uint32_t passes, const Beside& beside, uint32_t* with_two, uint32_t luck = 0,
                uint32_t* random = nullptr) {
  const uint64_t begin = *now;
  for (uint32_t i = 0; i < passes; ++i) {
    const uint32_t n = g.threads(2, *now, 1'000'000'000);
    bool lucky = false;
    if (luck) lucky = (*random = *random * 1664525 + 1013904223) >> 16 < luck;
    const uint64_t took = static_cast<uint64_t>(n == 1 ? beside.one : lucky ? beside.one / 2 : beside.two);
    *now += took;
    *with_two += n == 2;
    g.passed(took, n == 2 && !lucky ? static_cast<uint64_t>(beside.late) : 0, 1, 1.0 / 16, kWindow, *now);
  }
  return static_cast<double>(*now - begin);
}

}  // namespace

TEST_CASE("how many threads compute follows what they are worth") {
  for (const double ms : {0.2, 5.0, 40.0}) {
    CAPTURE(ms);
    const double one = ms * 1e6;
    const Beside idle = {one, 0.6 * one, 0}, loaded = {one, 2.5 * one, 1.6 * one}, worth = {one, 0.8 * one, 0.3 * one};
    const uint32_t passes = static_cast<uint32_t>(20'000 / ms);
    uint64_t now = 1;
    uint32_t with_two = 0, random = 7;
    Granted g;
    simulate(g, &now, passes, idle, &with_two);
    CHECK(with_two == passes);  // nothing is tried where nobody waits
    // Threads that cost more than they bring: as fast as one, but for the trials.
    CHECK(simulate(g, &now, passes, loaded, &with_two) < 1.04 * passes * one);
    // Every third pass of two is quick, by luck.
    CHECK(simulate(g, &now, passes, loaded, &with_two, 65536 / 3, &random) < 1.10 * passes * one);
    // The other work ends: both again within two seconds.
    simulate(g, &now, static_cast<uint32_t>(2500 / ms), idle, &with_two);
    with_two = 0;
    simulate(g, &now, passes, idle, &with_two);
    CHECK(with_two == passes);
    // Beside work that takes less than they bring both stay, but for the trials.
    CHECK(simulate(g, &now, passes, worth, &with_two) < 1.04 * passes * worth.two);
  }
}
