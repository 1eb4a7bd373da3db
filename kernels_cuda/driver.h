// The CUDA driver as a table of functions, filled from libcuda.so.1 by dlopen: no CUDA package is needed to build the host side or to run
// where there is no GPU. Types and numbers are those of the driver API's ABI (https://docs.nvidia.com/cuda/cuda-driver-api), written down
// here once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "../platform/status.h"

namespace linnet {

using CuResult = int;  // 0 = success
using CuDevice = int;
using CuContext = struct CuContextRecord*;
using CuModule = struct CuModuleRecord*;
using CuFunction = struct CuFunctionRecord*;
using CuStream = struct CuStreamRecord*;
using CuEvent = struct CuEventRecord*;
using CuGraph = struct CuGraphRecord*;
using CuGraphExec = struct CuGraphExecRecord*;
using CuPointer = unsigned long long;  // into device memory

enum CuAttribute : int {
  kCuSharedPerBlock = 8,
  kCuSms = 16,
  kCuIntegrated = 18,
  kCuUnifiedAddressing = 41,
  kCuClockKhz = 13,
  kCuMemoryClockKhz = 36,
  kCuBusBits = 37,
  kCuL2Bytes = 38,
  kCuMajor = 75,
  kCuMinor = 76,
  kCuSharedPerBlockOptIn = 97,
};
inline constexpr int kCuFuncShared = 1,
                     kCuFuncDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr unsigned kCuStreamNonBlocking = 1, kCuEventDefault = 0, kCuEventNoTiming = 2, kCuCaptureThread = 1,
                          kCuHostRegisterReadOnly = 8, kCuHostRegisterMapped = 2;

// X(result, name here, name in the library, parameters)
#define LINNET_CUDA_DRIVER(X)                                                                                                     \
  X(init, "cuInit", (unsigned flags))                                                                                             \
  X(driver_version, "cuDriverGetVersion", (int* version))                                                                         \
  X(device_count, "cuDeviceGetCount", (int* n))                                                                                   \
  X(device_get, "cuDeviceGet", (CuDevice * device, int i))                                                                        \
  X(device_name, "cuDeviceGetName", (char* name, int cap, CuDevice device))                                                       \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, CuAttribute which, CuDevice device))                                   \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t* bytes, CuDevice device))                                                       \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CuContext * context, CuDevice device))                                           \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CuDevice device))                                                           \
  X(context_push, "cuCtxPushCurrent_v2", (CuContext context))                                                                     \
  X(context_pop, "cuCtxPopCurrent_v2", (CuContext * context))                                                                     \
  X(memory_info, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                                                \
  X(alloc, "cuMemAlloc_v2", (CuPointer * p, size_t bytes))                                                                        \
  X(free, "cuMemFree_v2", (CuPointer p))                                                                                          \
  X(alloc_host, "cuMemAllocHost_v2", (void** p, size_t bytes))                                                                    \
  X(free_host, "cuMemFreeHost", (void* p))                                                                                        \
  X(host_register, "cuMemHostRegister_v2", (void* p, size_t bytes, unsigned flags))                                               \
  X(host_unregister, "cuMemHostUnregister", (void* p))                                                                            \
  X(host_pointer, "cuMemHostGetDevicePointer_v2", (CuPointer * device, void* p, unsigned flags))                                  \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (CuPointer to, const void* from, size_t bytes, CuStream stream))                      \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void* to, CuPointer from, size_t bytes, CuStream stream))                              \
  X(copy, "cuMemcpyDtoDAsync_v2", (CuPointer to, CuPointer from, size_t bytes, CuStream stream))                                  \
  X(set, "cuMemsetD8Async", (CuPointer to, unsigned char value, size_t bytes, CuStream stream))                                   \
  X(set_rows, "cuMemsetD2D8Async", (CuPointer to, size_t pitch, unsigned char value, size_t bytes, size_t rows, CuStream stream)) \
  X(stream_create, "cuStreamCreate", (CuStream * stream, unsigned flags))                                                         \
  X(stream_destroy, "cuStreamDestroy_v2", (CuStream stream))                                                                      \
  X(stream_wait, "cuStreamSynchronize", (CuStream stream))                                                                        \
  X(capture_begin, "cuStreamBeginCapture_v2", (CuStream stream, unsigned mode))                                                   \
  X(capture_end, "cuStreamEndCapture", (CuStream stream, CuGraph * graph))                                                        \
  X(graph_make, "cuGraphInstantiateWithFlags", (CuGraphExec * exec, CuGraph graph, unsigned long long flags))                     \
  X(graph_launch, "cuGraphLaunch", (CuGraphExec exec, CuStream stream))                                                           \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CuGraphExec exec))                                                                 \
  X(graph_destroy, "cuGraphDestroy", (CuGraph graph))                                                                             \
  X(event_create, "cuEventCreate", (CuEvent * event, unsigned flags))                                                             \
  X(event_destroy, "cuEventDestroy_v2", (CuEvent event))                                                                          \
  X(event_record, "cuEventRecord", (CuEvent event, CuStream stream))                                                              \
  X(event_wait, "cuEventSynchronize", (CuEvent event))                                                                            \
  X(event_ms, "cuEventElapsedTime", (float* ms, CuEvent from, CuEvent to))                                                        \
  X(module_load, "cuModuleLoadData", (CuModule * module, const void* image))                                                      \
  X(module_unload, "cuModuleUnload", (CuModule module))                                                                           \
  X(module_function, "cuModuleGetFunction", (CuFunction * function, CuModule module, const char* name))                           \
  X(function_get, "cuFuncGetAttribute", (int* value, int attribute, CuFunction function))                                         \
  X(function_set, "cuFuncSetAttribute", (CuFunction function, int attribute, int value))                                          \
  X(launch, "cuLaunchKernel",                                                                                                     \
    (CuFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,    \
     CuStream stream, void** params, void** extra))                                                                               \
  X(error_name, "cuGetErrorName", (CuResult error, const char** name))

struct CudaDriver {
#define LINNET_X(name, symbol, params) CuResult(*name) params = nullptr;
  LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
};

// The table of this machine's driver, loaded and started once; nullptr where there is none, and why (a static sentence: no library, a
// function missing in it, no device). Any thread.
const CudaDriver* cuda_driver(const char** why);
// Tests put their own table in its place, which is started at every call; nullptr: the machine's again.
void cuda_driver_replace(const CudaDriver* table);
// Fills the table from the first of these libraries that loads; nullptr, or why not.
const char* cuda_driver_load(std::initializer_list<const char*> names, CudaDriver* table);
// See linnet_cuda_detect.
Status cuda_detect(linnet_cuda_device* out, Error* err);

}  // namespace linnet
