// What team.cpp asks of the system, on Windows; thread_posix.h says more. CPUs are those of the process's first group of 64; threads have
// no priority of their own here.
#pragma once
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace linnet {
namespace {  // of team.cpp, which alone includes this

void sleep_while(std::atomic<uint32_t>& word, uint32_t value, uint32_t) { WaitOnAddress(&word, &value, sizeof word, INFINITE); }
void wake(std::atomic<uint32_t>& word, uint32_t) { WakeByAddressAll(&word); }
[[maybe_unused]] void yield_cpu() { SwitchToThread(); }

constexpr bool kThreadsHaveStacks = false;  // the system makes them

struct Thread {
  HANDLE handle;
  void* (*fn)(void*);
  void* arg;
  int start(void*, size_t stack_bytes, void* (*run)(void*), void* with) {
    fn = run;
    arg = with;
    const auto begin = [](void* p) -> DWORD {
      const Thread& me = *static_cast<Thread*>(p);
      me.fn(me.arg);
      return 0;
    };
    handle = CreateThread(nullptr, stack_bytes, begin, this, STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
    return handle ? 0 : static_cast<int>(GetLastError());
  }
  void join() {
    WaitForSingleObject(handle, INFINITE);
    CloseHandle(handle);
  }
};

struct SignalsHeld {
  SignalsHeld() {}  // there are none
};

void set_affinity(const linnet_cpus& cpus) { SetThreadAffinityMask(GetCurrentThread(), static_cast<DWORD_PTR>(cpus.word[0])); }

void set_priority(int32_t) {}

}  // namespace
}  // namespace linnet
