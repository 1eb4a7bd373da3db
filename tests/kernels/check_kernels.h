// Shared by check_kernels.cpp (every kernel against scalar.cpp), check_scalar.cpp (scalar.cpp against doubles) and
// bench_kernels.cpp (the same kernels timed).
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "kernels_cpu/kernels.h"
#include "runtime/format.h"

namespace check {

using namespace linnet;

inline uint32_t g_cases = std::getenv("LINNET_TEST_FULL") ? 60 : 24;  // random cases per entry
inline uint32_t g_passed, g_failed, g_skipped;

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

// ---- buffers between guard pages ------------------------------------------------------------------------------------------------

class Guarded {
 public:
  explicit Guarded(size_t max_bytes) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    room_ = (max_bytes + page_ - 1) / page_ * page_;
    base_ = static_cast<uint8_t*>(mmap(nullptr, room_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_, page_, PROT_NONE) || mprotect(base_ + page_ + room_, page_, PROT_NONE)) {
      std::fprintf(stderr, "check_kernels: no memory for buffers\n");
      std::exit(1);
    }
  }
  Guarded(const Guarded&) = delete;
  // `bytes` that end at the guard page, or begin after the other one; filled with a pattern.
  template <class T>
  T* take(size_t count, bool at_front = false) {
    const size_t bytes = count * sizeof(T);
    if (bytes > room_) {
      std::fprintf(stderr, "check_kernels: a test buffer of %zu bytes is too small for %zu\n", room_, bytes);
      std::exit(1);
    }
    uint8_t* p = base_ + page_ + (at_front ? 0 : room_ - bytes);
    std::memset(p, 0xA5, bytes);
    return reinterpret_cast<T*>(p);
  }

 private:
  size_t page_ = 0, room_ = 0;
  uint8_t* base_ = nullptr;
};

struct Buffers {
  Guarded x{1 << 22}, w{1 << 22}, s{1 << 18}, xs{1 << 16}, sum{1 << 16}, bias{1 << 14}, a{1 << 18}, b{1 << 18}, c{1 << 18}, d{1 << 18};
};
inline Buffers& buffers() {
  static Buffers b;
  return b;
}

// ---- reporting ------------------------------------------------------------------------------------------------------------------

// One (tier, entry): cases counted, the first failure told.
class Entry {
 public:
  Entry(const char* tier, const char* name, const char* what = "") : tier_(tier), name_(name), what_(what) {}
  Entry(const Entry&) = delete;
  ~Entry() {
    if (failed_) {
      ++g_failed;
    } else {
      ++g_passed;
      std::printf("%-12s %-16s ok, %u cases %s\n", tier_, name_, cases_, what_);
    }
  }
  bool ok() const { return !failed_; }
  template <class... Args>
  void expect(bool good, const char* format, Args... args) {
    ++cases_;
    if (good || failed_) return;
    failed_ = true;
    std::printf("%-12s %-16s FAILED, case %u: ", tier_, name_, cases_);
    if constexpr (sizeof...(args) == 0)
      std::fputs(format, stdout);
    else
      std::printf(format, args...);
    std::printf("\n");
  }
  // Equal bytes; NaN equals NaN where nan_ok (their payload is nobody's promise).
  template <class T, class... Args>
  void same(const T* want, const T* got, size_t n, const char* format, Args... args) {
    ++cases_;
    if (failed_ || std::memcmp(want, got, n * sizeof(T)) == 0) return;
    for (size_t i = 0; i < n; ++i) {
      if (std::memcmp(want + i, got + i, sizeof(T)) == 0 || (want[i] != want[i] && got[i] != got[i])) continue;
      failed_ = true;
      std::printf("%-12s %-16s FAILED, case %u: ", tier_, name_, cases_);
      std::printf(format, args...);
      std::printf(": [%zu] is %.9g, not %.9g\n", i, static_cast<double>(got[i]), static_cast<double>(want[i]));
      return;
    }
  }

 private:
  const char *tier_, *name_, *what_;
  uint32_t cases_ = 0;
  bool failed_ = false;
};

// ---- values ---------------------------------------------------------------------------------------------------------------------

inline uint32_t random_size(Rng& rng) {
  static const uint32_t kHostile[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 384, 1000};
  return rng.below(3) ? kHostile[rng.below(sizeof kHostile / sizeof kHostile[0])] : rng.pick(1, 700);
}

// The same of whole blocks.
inline uint32_t random_rows_size(linnet_format f, Rng& rng) { return static_cast<uint32_t>(align_up(random_size(rng), format_block(f))); }

// Ordinary numbers, with zeros, denormals, huge and tiny ones mixed in as `style` says.
inline void fill_floats(float* x, size_t n, Rng& rng) {
  const uint32_t style = rng.below(6);
  for (size_t i = 0; i < n; ++i) {
    const float u = rng.unit();
    if (style == 0)
      x[i] = u * 1e18f;
    else if (style == 1)
      x[i] = u * 1e-18f;
    else if (style == 2)
      x[i] = rng.below(4) ? 0.0f : u * 1e-40f;
    else if (style == 3)
      x[i] = rng.below(8) ? u : -0.0f;
    else
      x[i] = u * 4.0f;
  }
  if (style == 5 && n) x[rng.below(static_cast<uint32_t>(n))] = 3e3f;
}

inline void spoil(float* x, size_t n, Rng& rng) {
  static const float kBad[] = {INFINITY, -INFINITY, NAN, -NAN};
  x[rng.below(static_cast<uint32_t>(n))] = kBad[rng.below(4)];
}

// ---- cases --------------------------------------------------------------------------------------------------------------------

struct GemmCase {
  linnet_format f;
  uint32_t m, n_panels, k, x_stride_extra;
  bool bias, accumulate;
  GemmArgs a;
};

void make_gemm_case(linnet_format f, Rng& rng, GemmCase* c);
inline size_t y_floats(const GemmArgs& a) { return (a.m - 1) * a.y_stride + size_t{a.n_panels} * 16; }

inline void start_y(const GemmArgs& a, float* y) {
  for (size_t i = 0; i < y_floats(a); ++i) y[i] = static_cast<float>(i % 97) - 48.0f;
}

struct PvCase {
  uint32_t rows, n_pages, d_panels;
  const uint8_t *hi, *lo;
  const int8_t* pages[16];
  const float* scale;
};

void make_pv_case(Rng& rng, PvCase* c);

// Of output j and input t: where their group's 16 scales begin.
inline const uint8_t* scales_at(const GemmArgs& a, linnet_format f, size_t j, size_t t) {
  const FormatRow& row = format_row(f);
  return static_cast<const uint8_t*>(a.w_scale) + j / 16 * a.w_scale_stride + (row.w_group ? t / row.w_group : 0) * 16 * row.scale.bytes;
}

// Weight of output j and input t of an integer format without its scale.
inline int code_at(const GemmArgs& a, linnet_format f, size_t j, size_t t) {
  const FormatRow& row = format_row(f);
  const uint8_t* p = static_cast<const uint8_t*>(a.w) + j / 16 * a.w_stride;
  if (row.bits == 8) return static_cast<int8_t>(p[t / 4 * 64 + j % 16 * 4 + t % 4]);
  return (p[t / 8 * 64 + j % 16 * 4 + t % 4] >> (t & 4) & 15) - (row.scale.zero ? scales_at(a, f, j, t)[32 + j % 16] : 8);
}

// HQQ's and torchao's.
inline bool zero_points(linnet_format f) { return f >= LINNET_HQQ4G32 && f <= LINNET_AO4G128; }

// One format's matrix W (n, k) packed with random codes (all 256 of them) or floats.
// Gives a block of random bytes scales that are finite, and of a size that weights have.
void put_block_scales(linnet_format f, uint8_t* block, Rng& rng);
uint64_t fill_matrix(linnet_format f, uint32_t n, uint32_t k, void* packed, Rng& rng);

// A matrix entry against 64-bit integers and doubles: scalar.cpp's, and those of other tiers that do not give its bits.
void check_gemm_reference(const char* tier, const GemmKernel& kernel, Rng& rng);
void check_gather(const char* tier, const KernelTable& t, Rng& rng);
void check_scalar(const KernelTable& scalar, Rng& rng);
// Another library's product, as a bar beside the bench's figures; the file of one that the tests found fills it before main.
struct Bar {
  const char* name;
  // One run of the product (m, k) by (n, k)^T on thread `id` of `threads`; nullptr: it has none for f. Integer formats: the packed matrix
  // at `panels` is read in place.
  std::function<void(uint32_t id)> (*job)(linnet_format f, uint32_t n, uint32_t k, uint32_t m, uint32_t threads, void* panels);
};
inline Bar g_bar;
int run_bench(const char* isa, const char* weights, uint32_t threads, uint32_t reps, uint64_t seed);

}  // namespace check
