#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

#include "images.h"

namespace linnet {
namespace {

constexpr const char* kMissing[] = {
#define LINNET_X(name, symbol, params) "no CUDA device: the driver is too old, it has no " symbol,
    LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
};

struct Loaded {
  CudaDriver table;
  const char* why;  // nullptr: the table may be used
};
Loaded g_machine;
pthread_once_t g_once = PTHREAD_ONCE_INIT;
std::atomic<const CudaDriver*> g_replaced{nullptr};

const char* start(const CudaDriver& driver) {
  switch (driver.init(0)) {
    case 0:
      break;
    case 34:
      return "no CUDA device: libcuda.so.1 is the toolkit's stub, not a driver";
    case 100:
      return "no CUDA device: the driver finds none";
    case 803:
      return "no CUDA device: libcuda.so.1 is of another version than the kernel's driver";
    default:
      return "no CUDA device: cuInit failed; may this process open /dev/nvidia* or /dev/nvhost* and nvmap?";
  }
  int n = 0;
  return driver.device_count(&n) == 0 && n > 0 ? nullptr : "no CUDA device: the driver finds none";
}

void load_machine() {
  // The last two: where JetPack 6 and older ones have it, if nobody ran ldconfig, as in some containers. It is never unloaded: it has
  // threads of its own.
  g_machine.why = cuda_driver_load(
      {"libcuda.so.1", "libcuda.so", "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1"},
      &g_machine.table);
  if (!g_machine.why) g_machine.why = start(g_machine.table);
}

}  // namespace

const char* cuda_driver_load(std::initializer_list<const char*> names, CudaDriver* table) {
  void* library = nullptr;
  for (const char* name : names)
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return "no CUDA device: libcuda.so.1 is not there";
  uint32_t i = 0;
#define LINNET_X(name, symbol, params)                                        \
  table->name = reinterpret_cast<CuResult(*) params>(dlsym(library, symbol)); \
  if (!table->name) return kMissing[i];                                       \
  ++i;
  LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
  return nullptr;
}

const CudaDriver* cuda_driver(const char** why) {
  const CudaDriver* driver = g_replaced.load(std::memory_order_acquire);
  const char* reason = nullptr;
  if (driver) {
    reason = start(*driver);
  } else {
    pthread_once(&g_once, load_machine);
    driver = &g_machine.table;
    reason = g_machine.why;
  }
  if (why) *why = reason;
  return reason ? nullptr : driver;
}

void cuda_driver_replace(const CudaDriver* table) { g_replaced.store(table, std::memory_order_release); }

Status cuda_detect(linnet_cuda_device* out, Error* err) {
  const char* why = nullptr;
  const CudaDriver* driver = cuda_driver(&why);
  if (!driver) return fail(err, LINNET_DEVICE, why);
  linnet_cuda_device d = {};
  CuDevice device = 0;
  int version = 0, major = 0, minor = 0, sms = 0;
  size_t bytes = 0;
  const char* call = "cuDriverGetVersion";
  CuResult failed = driver->driver_version(&version);
  const auto next = [&](const char* name, auto&& make) {
    if (failed) return;
    call = name;
    failed = make();
  };
  const auto attribute = [&](int* value, CuAttribute which) {
    next("cuDeviceGetAttribute", [&] { return driver->device_attribute(value, which, device); });
  };
  next("cuDeviceGet", [&] { return driver->device_get(&device, 0); });
  next("cuDeviceGetName", [&] { return driver->device_name(d.name, sizeof d.name, device); });
  next("cuDeviceTotalMem", [&] { return driver->device_memory(&bytes, device); });
  attribute(&major, kCuMajor);
  attribute(&minor, kCuMinor);
  attribute(&sms, kCuSms);
  if (failed) {
    const char* name = nullptr;
    if (driver->error_name(failed, &name) != 0) name = nullptr;
    return fail(err, LINNET_DEVICE, "no CUDA device: ", call, " failed: ", name ? name : "error", " (", failed, ")");
  }
  // What a driver may leave out.
  const auto optional = [&](CuAttribute which) {
    int value = 0;
    return driver->device_attribute(&value, which, device) == 0 && value > 0 ? static_cast<uint32_t>(value) : 0;
  };
  d.size = sizeof d;
  d.compute = static_cast<uint32_t>(major * 10 + minor);
  d.n_sms = static_cast<uint32_t>(sms);
  d.driver = static_cast<uint32_t>(version);
  d.memory_bytes = bytes;
  d.integrated = optional(kCuIntegrated);
  d.clock_mhz = optional(kCuClockKhz) / 1000;
  d.memory_clock_mhz = optional(kCuMemoryClockKhz) / 1000;
  d.memory_bits = optional(kCuBusBits);
  d.l2_bytes = optional(kCuL2Bytes);
  d.name[sizeof d.name - 1] = '\0';
  const CudaImage* image = nullptr;
  LINNET_TRY(cuda_image_for(d.compute, version, &image, err));
  d.compiled_for = image->arch;
  d.compiles_at_start = image->ptx;
  *out = d;
  return LINNET_OK;
}

}  // namespace linnet
