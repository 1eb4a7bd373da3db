// Shared by check_kernels.cpp (every kernel against scalar.cpp, and scalar.cpp against doubles) and bench_kernels.cpp (the
// same kernels timed).
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "kernels_cpu/kernels.h"
#include "runtime/format.h"

namespace check {

// splitmix64.
struct Rng {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  uint32_t pick(uint32_t lo, uint32_t hi) { return lo + below(hi - lo + 1); }
  float unit() { return static_cast<float>(static_cast<int32_t>(next() >> 40) - (1 << 23)) * 0x1p-23f; }  // -1..1
};

// One format's matrix W (n, k) packed with random codes (all 256 of them) or floats.
uint64_t fill_matrix(linnet_format f, uint32_t n, uint32_t k, void* packed, Rng& rng);

int run_bench(const char* isa, uint32_t threads, uint32_t reps, uint64_t seed);

}  // namespace check
