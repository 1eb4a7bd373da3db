// The host side of tests that run CUDA kernels on the emulator: kernels by name, a driver table whose launch runs them, a queue over plain
// memory, packed matrices as a GPU has them.
#pragma once
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels_cuda/cuda_queue.h"

namespace linnet {

struct EmulatedKernel {
  const char* name;
  size_t args_bytes;
  void (*run)(const void* args);  // one thread
};
const EmulatedKernel* emulated_kernel(const char* name);  // nullptr: there is none
// Runs a grid. false: what a GPU would not do, or would do otherwise each time; emulated_error() says what.
bool emulate(const EmulatedKernel& kernel, CudaGrid grid, uint32_t threads, uint32_t shared_bytes, const void* args);
bool emulate(const char* kernel, CudaGrid grid, uint32_t threads, uint32_t shared_bytes, const void* args);
const char* emulated_error();
void emulated_seed(uint64_t seed);  // of the order in which blocks, warps and lanes run, and of when copies land
// CuFunction of a kernel by name, and a table of which `launch` is filled in.
CuFunction emulated_function(const char* kernel);
const CudaDriver& emulated_driver();

namespace test {

// Memory that ends at a page that nobody may touch; starts aligned to 16, to `align` where bytes are a multiple of it.
class DeviceMemory {
 public:
  template <class T>
  T* take(size_t n, int fill = 0xA5) {
    const size_t bytes = (n * sizeof(T) + 15) / 16 * 16, page = 4096, room = (bytes + page - 1) / page * page + page;
    auto* base = static_cast<uint8_t*>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE)) {
      std::fprintf(stderr, "no memory for a test's buffers\n");
      std::exit(1);
    }
    pieces_.push_back({base, room + page});
    std::memset(base, fill, room);
    return reinterpret_cast<T*>(base + room - bytes);
  }
  template <class T>
  T* copy(const T* from, size_t n) {
    T* to = take<T>(n);
    if (n) std::memcpy(to, from, n * sizeof(T));
    return to;
  }
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    for (const Piece& p : pieces_) munmap(p.at, p.bytes);
  }

 private:
  struct Piece {
    void* at;
    size_t bytes;
  };
  std::vector<Piece> pieces_;
};

// A queue whose launches run on the emulator at once.
struct EmulatedQueue {
  CudaQueue q{};
  DeviceMemory memory;
  explicit EmulatedQueue(size_t scratch_bytes = 1 << 20, uint32_t n_sms = 8, uint32_t arch = 87, uint32_t n_chunk = 64) {
    q.driver = &emulated_driver();
    for (uint32_t i = 0; i < kCudaKernels; ++i) q.kernels[i] = emulated_function(kCudaKernelNames[i]);
    q.n_sms = n_sms;
    q.arch = arch;
    q.shared_bytes = 101376;  // 163 KB on Orin; 99 is the least of all
    q.n_chunk = n_chunk;
    q.scratch = memory.take<uint8_t>(scratch_bytes);
    q.scratch_bytes = scratch_bytes;
    q.not_finite = memory.take<uint32_t>(1, 0);
  }
  Worker worker() {
    Worker w;
    w.scratch = q.scratch;
    w.not_finite = q.not_finite;
    w.queue = &q;
    return w;
  }
};

// A packed matrix, cut into parts of part_panels panels (0: one part), as CudaMatrix; matrix() is what operations take.
struct EmulatedMatrix {
  CudaMatrix cuda{};
  Matrix host{};  // panels and scales in one piece
  Matrix matrix() const {
    Matrix m = host;
    m.panels = &cuda;
    m.scales = nullptr;
    return m;
  }
  EmulatedMatrix(DeviceMemory& memory, Format format, uint32_t n, uint32_t k, const void* panels, const void* scales,
                 uint32_t part_panels = 0) {
    host.format = format;
    host.n = n;
    host.k = k;
    host.panels = panels;
    host.scales = scales;
    cuda.format = format;
    cuda.n = n;
    cuda.k = k;
    cuda.n_panels = static_cast<uint32_t>(padded_n(n) / kPanel);
    cuda.part_panels = part_panels ? part_panels : cuda.n_panels;
    cuda.w_groups = static_cast<uint32_t>(n_w_groups(format, k));
    cuda.panel_bytes = panel_bytes(format, k);
    cuda.scale_bytes = panel_scale_bytes(format, k);
    for (uint32_t from = 0, part = 0; from < cuda.n_panels; from += cuda.part_panels, ++part) {
      const size_t count = cuda.n_panels - from < cuda.part_panels ? cuda.n_panels - from : cuda.part_panels;
      if (part == kMaxMatrixParts) {
        std::fprintf(stderr, "too many parts of a matrix\n");
        std::exit(1);
      }
      cuda.panels[part] = memory.copy(static_cast<const uint8_t*>(panels) + from * cuda.panel_bytes, count * cuda.panel_bytes);
      if (cuda.scale_bytes)
        cuda.scales[part] = memory.copy(static_cast<const uint8_t*>(scales) + from * cuda.scale_bytes, count * cuda.scale_bytes);
    }
  }
};

// Whether this machine has a GPU that linnet can use; else says why the test is skipped.
inline bool cuda_device_or_skipped() {
  linnet_cuda_device device{};
  linnet_error err{};
  device.size = sizeof device;
  if (linnet_cuda_detect(&device, &err) == LINNET_OK) {
    std::printf("%s, compute capability %u.%u, %u SMs, driver for CUDA %u.%u\n", device.name, device.compute / 10, device.compute % 10,
                device.n_sms, device.driver / 1000, device.driver % 1000 / 10);
    return true;
  }
  std::printf("skipped: %s%s\n", std::strncmp(err.text, "no CUDA device", 14) == 0 ? "" : "no CUDA device: ", err.text);
  return false;
}

}  // namespace test
}  // namespace linnet
