// What team.cpp asks of the system: threads, sleep on a word of memory, CPUs that a thread may use. Linux and macOS; thread_windows.h has
// the same for Windows.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
extern "C" {  // macOS 14.4; the SDK's header is os/os_sync_wait_on_address.h
int os_sync_wait_on_address(void* addr, uint64_t value, size_t size, uint32_t flags);
int os_sync_wake_by_address_all(void* addr, size_t size, uint32_t flags);
}
#endif

namespace linnet {
namespace {  // of team.cpp, which alone includes this

// `who`: bits, of which a wake-up has to have one; elsewhere than on Linux all wake, and those who are not meant sleep again.
void sleep_while(std::atomic<uint32_t>& word, uint32_t value, uint32_t who) {
#if defined(__linux__)
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, nullptr, nullptr, who);
#elif defined(__APPLE__)
  (void)who, (void)os_sync_wait_on_address(&word, value, sizeof word, 0);
#else
  (void)word, (void)value, (void)who;
  sched_yield();
#endif
}

void wake(std::atomic<uint32_t>& word, uint32_t who) {
#if defined(__linux__)
  syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, nullptr, nullptr, who);
#elif defined(__APPLE__)
  (void)who, (void)os_sync_wake_by_address_all(&word, sizeof word, 0);
#else
  (void)word, (void)who;
#endif
}

[[maybe_unused]] void yield_cpu() { sched_yield(); }

constexpr bool kThreadsHaveStacks = true;  // whoever starts a thread gives it its stack

struct Thread {
  pthread_t handle;
  // 0, or an error number.
  int start(void* stack, size_t stack_bytes, void* (*fn)(void*), void* arg) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    int e = pthread_attr_setstack(&attr, stack, stack_bytes);
    if (e == 0) e = pthread_create(&handle, &attr, fn, arg);
    pthread_attr_destroy(&attr);
    return e;
  }
  void join() { pthread_join(handle, nullptr); }
};

// Threads that are started meanwhile take no signals: handlers of the app's are written for its own threads and their stacks; what a fault
// of this very thread raises cannot be held back.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&held, fault);
    pthread_sigmask(SIG_SETMASK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void set_affinity(const linnet_cpus& cpus) {
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

void set_priority(int32_t nice) {
#if defined(__linux__)
  setpriority(PRIO_PROCESS, 0, nice);  // of this thread alone, on Linux
#else
  (void)nice;
#endif
}

}  // namespace
}  // namespace linnet
