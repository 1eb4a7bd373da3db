// A CUDA driver over host memory, for tests of the host side where there is no GPU. It is stricter than a driver:
//   streams    nothing runs before somebody waits for it, so that a host that reads too early reads garbage;
//   memory     counted to the byte, every block with pages behind it that nobody may touch, filled with garbage; device memory can be
//              touched by kernels and copies alone (protect), so a host that follows a device pointer dies; blocks larger than
//              largest_block and what passes memory_bytes are refused;
//   modules    must be cubins of the very GPU or PTX that it can compile; kernels are looked up in them, launches held against what they
//              were compiled for;
//   graphs     are captured, copied and replayed with the arguments they were captured with;
//   failures   any call can be made to fail. What is used wrongly fails too, with a sentence in `complaints`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels_cuda/driver.h"

namespace linnet {

struct FakeCudaSetup {
  uint32_t arch = 87, n_sms = 8;
  int driver_version = 12060, devices = 1, init_result = 0;
  size_t memory_bytes = size_t{8} << 30, largest_block = size_t{256} << 20;
  bool integrated = true, protect = true;
  // Runs a kernel over these arguments; false: it failed. Not given: kernels do nothing. n_args: bytes that it was compiled for.
  bool (*run)(const char* kernel, const unsigned (&grid)[3], unsigned threads, unsigned shared_bytes, const void* args,
              size_t n_args) = nullptr;
};

// While it lives cuda_driver() is this one. One at a time.
class FakeCuda {
 public:
  explicit FakeCuda(const FakeCudaSetup& setup = {});
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  const CudaDriver* driver() const;
  uint64_t calls() const;                           // so far, of any function
  uint64_t calls(const char* symbol) const;         // of "cuMemAlloc_v2"
  uint64_t launches(const char* kernel) const;      // that have run
  size_t argument_bytes(const char* kernel) const;  // that it was compiled for, in the modules that are loaded; 0: it is in none
  void fail_call(uint64_t n, CuResult code);        // the n-th call from now on (1 = the next) does nothing and returns code
  void fail_call(const char* symbol, uint64_t n, CuResult code);
  // Codes that real drivers repeat for every later call of the context (illegal address, launch failed, ...) stay until this.
  void heal();
  const char* failed() const;                                    // the function that was made to fail, nullptr if none was reached yet
  size_t bytes() const, most_bytes() const, host_bytes() const;  // of device memory now and at most; of host memory that it gave
  size_t pending() const;                                        // operations that nobody has waited for
  // Live blocks, streams, events, modules, graphs and contexts, one line each: "" where all was given back.
  std::string left() const;
  const std::vector<std::string>& complaints() const;
};

}  // namespace linnet
