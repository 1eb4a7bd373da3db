// Rounding and denormals belong to the host app; the arithmetic contract needs round-to-nearest without flush-to-zero. Each computing
// thread holds one of these while it works.
#pragma once
#include <cstdint>

namespace linnet {

class FpGuard {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FpGuard() : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(0x1F80); }
  ~FpGuard() { __builtin_ia32_ldmxcsr(saved_); }

 private:
  uint32_t saved_;
#elif defined(__aarch64__)
  FpGuard() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
  }
  ~FpGuard() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }

 private:
  uint64_t saved_;
#elif defined(__arm__) && defined(__ARM_FP)
  FpGuard() {
    asm volatile("vmrs %0, fpscr" : "=r"(saved_));
    asm volatile("vmsr fpscr, %0" ::"r"(0));
  }
  ~FpGuard() { asm volatile("vmsr fpscr, %0" ::"r"(saved_)); }

 private:
  uint32_t saved_;
#else
  FpGuard() {}
#endif
};

}  // namespace linnet
