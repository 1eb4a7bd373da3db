// The driver's table, the choice of device code, and the driver over host memory that tests of the backend stand on.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>

#include "cuda_fake_driver.h"
#include "cuda_test.h"
#include "kernels_cuda/images.h"
#include "tests/catch2.h"

using namespace linnet;

namespace {

bool run_emulated(const char* kernel, const unsigned (&grid)[3], unsigned threads, unsigned shared_bytes, const void* args, size_t n_args) {
  const EmulatedKernel* k = emulated_kernel(kernel);
  return k && k->args_bytes == n_args && emulate(*k, {grid[0], grid[1], grid[2]}, threads, shared_bytes, args);
}

FakeCudaSetup setup_of(uint32_t arch, int driver_version = 13000) {
  FakeCudaSetup s;
  s.arch = arch;
  s.driver_version = driver_version;
  s.run = run_emulated;
  return s;
}

// A context, made current, and a stream.
struct Context {
  const CudaDriver& d;
  CuContext context = nullptr;
  CuStream stream = nullptr;
  explicit Context(const FakeCuda& fake) : d(*fake.driver()) {
    REQUIRE(d.init(0) == 0);
    REQUIRE(d.context_retain(&context, 0) == 0);
    REQUIRE(d.context_push(context) == 0);
    REQUIRE(d.stream_create(&stream, kCuStreamNonBlocking) == 0);
  }
  void end() {
    REQUIRE(d.stream_destroy(stream) == 0);
    REQUIRE(d.context_pop(nullptr) == 0);
    REQUIRE(d.context_release(0) == 0);
  }
};

}  // namespace

TEST_CASE("a driver that is not there, is no driver or is too old is told apart") {
  CudaDriver table;
  CHECK(std::string(cuda_driver_load({"libnone-of-this-name.so.1"}, &table)) == "no CUDA device: libcuda.so.1 is not there");
  CHECK(std::string(cuda_driver_load({"libm.so.6"}, &table)) == "no CUDA device: the driver is too old, it has no cuInit");
  CHECK(std::string(cuda_driver_load({LINNET_STUB_OLD}, &table)) == "no CUDA device: the driver is too old, it has no cuDriverGetVersion");
  CHECK(cuda_driver_load({"libnone-of-this-name.so.1", LINNET_STUB_WHOLE}, &table) == nullptr);
  CHECK(table.init(0) == 100);
  CHECK(table.error_name(0, nullptr) == 100);
  const char* why = nullptr;  // this machine's own: there, or why not
  if (!cuda_driver(&why)) CHECK(std::string(why).rfind("no CUDA device: ", 0) == 0);
}

TEST_CASE("what the driver says of its device, and every call of it failing once") {
  FakeCudaSetup s = setup_of(87, 12060);
  FakeCuda fake(s);
  linnet_cuda_device device = {};
  linnet_error err = {};
  CHECK(linnet_cuda_detect(&device, &err) == LINNET_BAD_ARG);
  device.size = sizeof device;
  REQUIRE(linnet_cuda_detect(&device, &err) == LINNET_OK);
  CHECK((device.compute == 87 && device.n_sms == 8 && device.driver == 12060 && device.compiled_for == 87 && !device.compiles_at_start &&
         device.integrated));
  CHECK((device.memory_bytes == size_t{8} << 30 && device.clock_mhz == 1020 && device.memory_bits == 128 && device.l2_bytes == 2 << 20));
  CHECK(std::string(device.name) == "fake GPU");
  const uint64_t n = fake.calls();
  CHECK(n > 8);
  uint64_t told = 0;
  for (uint64_t i = 1; i <= n; ++i) {
    linnet_cuda_device again = {};
    again.size = sizeof again;
    fake.fail_call(i, 999);
    const linnet_status status = linnet_cuda_detect(&again, &err);
    REQUIRE(fake.failed());
    INFO(fake.failed());
    if (status == LINNET_OK) continue;  // an attribute that a driver may leave out
    ++told;
    CHECK(status == LINNET_DEVICE);
    CHECK(again.compute == 0);
    CHECK(std::string(err.text).rfind("no CUDA device: ", 0) == 0);
  }
  CHECK(told == n - 5);
  linnet_cuda_device old = {};
  old.size = 8;  // of an app that knows two fields
  REQUIRE(linnet_cuda_detect(&old, &err) == LINNET_OK);
  CHECK((old.compute == 87 && old.n_sms == 0));
  CHECK(fake.left().empty());
}

TEST_CASE("no device, a driver that does not start, one that is too old, a GPU that is too old") {
  const auto text = [](FakeCudaSetup s, linnet_status expected) {
    FakeCuda fake(s);
    linnet_cuda_device device = {};
    linnet_error err = {};
    device.size = sizeof device;
    CHECK(linnet_cuda_detect(&device, &err) == expected);
    return std::string(err.text);
  };
  FakeCudaSetup s = setup_of(87);
  s.devices = 0;
  CHECK(text(s, LINNET_DEVICE) == "no CUDA device: the driver finds none");
  s.init_result = 34;
  CHECK(text(s, LINNET_DEVICE) == "no CUDA device: libcuda.so.1 is the toolkit's stub, not a driver");
  s.init_result = 999;
  CHECK(text(s, LINNET_DEVICE).find("cuInit failed") != std::string::npos);
  CHECK(text(setup_of(87, 11040), LINNET_DEVICE) ==
        "the CUDA driver is too old: it serves CUDA 11.4, kernels for compute capability 8.7 need 12.0");
  CHECK(text(setup_of(110, 12080), LINNET_DEVICE) ==
        "the CUDA driver is too old: it serves CUDA 12.8, kernels for compute capability 11.0 need 13.0");
  CHECK(text(setup_of(120, 12040), LINNET_DEVICE) ==
        "the CUDA driver is too old: it serves CUDA 12.4, kernels for compute capability 12.0 need 12.5");
  CHECK(text(setup_of(72), LINNET_UNSUPPORTED) == "this linnet has no kernels for a GPU of compute capability 7.2");
}

TEST_CASE("every GPU gets the device code that it runs, with all kernels in it") {
  constexpr struct {
    uint32_t arch, image;
    bool ptx;
  } kExpected[] = {{80, 80, false}, {86, 80, false}, {87, 87, false}, {88, 80, false},   {89, 80, false}, {90, 90, false},
                   {100, 80, true}, {101, 80, true}, {103, 80, true}, {110, 110, false}, {111, 80, true}, {120, 80, true}};
  for (const auto& e : kExpected) {
    INFO(e.arch);
    const CudaImage* image = nullptr;
    REQUIRE(cuda_image_for(e.arch, 13000, &image, nullptr) == LINNET_OK);
    CHECK((image->arch == e.image && image->ptx == e.ptx));
    CHECK(reinterpret_cast<uintptr_t>(image->data) % 64 == 0);
    FakeCuda fake(setup_of(e.arch));
    Context c(fake);
    CuModule module = nullptr;
    REQUIRE(c.d.module_load(&module, image->data) == 0);
    for (uint32_t i = 0; i < kCudaKernels; ++i) {
      CuFunction f = nullptr;
      INFO(kCudaKernelNames[i]);
      CHECK(c.d.module_function(&f, module, kCudaKernelNames[i]) == 0);
    }
    CuFunction none = nullptr;
    CHECK(c.d.module_function(&none, module, "no_such_kernel") == 500);
    CHECK(c.d.module_unload(module) == 0);
    for (const CudaImage* other = kCudaImages; other->arch; ++other)  // cubins that are not picked are what the GPU refuses
      if (!other->ptx && other->arch != image->arch) {
        const bool loads = c.d.module_load(&module, other->data) == 0;
        CHECK_FALSE(loads);
        if (loads) c.d.module_unload(module);
      }
    c.end();
    CHECK(fake.left().empty());
  }
  CHECK(cuda_image_pick(75) == nullptr);
  CHECK(cuda_image_pick(79) == nullptr);
}

TEST_CASE("the fake driver runs nothing before somebody waits, in the order of the stream") {
  FakeCuda fake(setup_of(87));
  Context c(fake);
  CuPointer a = 0, b = 0;
  REQUIRE(c.d.alloc(&a, 1000) == 0);
  REQUIRE(c.d.alloc(&b, 1000) == 0);
  CHECK(a % 256 == 0);
  CHECK((fake.bytes() == 2000 && fake.most_bytes() == 2000));
  uint8_t from[1000], to[1000];
  for (size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<uint8_t>(i * 7);
  std::memset(to, 1, sizeof to);
  CHECK(c.d.copy_to_device(a, from, sizeof from, c.stream) == 0);
  const uint8_t first = from[0];
  from[0] = 99;  // memory that is not pinned is free again
  CHECK(c.d.copy(b, a, 1000, c.stream) == 0);
  CHECK(c.d.set(a, 3, 1000, c.stream) == 0);
  CHECK(c.d.copy_to_host(to, b, 1000, c.stream) == 0);
  CHECK(fake.pending() == 4);
  CHECK((std::memcmp(to + 1, from + 1, 999) != 0 && to[5] == to[6] && to[5] != 1));  // garbage, not what was there
  CHECK(c.d.stream_wait(c.stream) == 0);
  CHECK((fake.pending() == 0 && to[0] == first && std::memcmp(to + 1, from + 1, 999) == 0));
  // Pinned memory is read when the copy's turn comes.
  void* pinned = nullptr;
  REQUIRE(c.d.alloc_host(&pinned, 1000) == 0);
  std::memset(pinned, 5, 1000);
  CHECK(c.d.copy_to_device(a, pinned, 1000, c.stream) == 0);
  std::memset(pinned, 6, 1000);
  CHECK(c.d.copy_to_host(to, a, 1000, c.stream) == 0);
  CHECK(c.d.stream_wait(c.stream) == 0);
  CHECK(to[999] == 6);
  // An event is waited for without what comes behind it.
  CuEvent event = nullptr;
  REQUIRE(c.d.event_create(&event, kCuEventNoTiming) == 0);
  CHECK(c.d.set(a, 8, 1000, c.stream) == 0);
  CHECK(c.d.copy_to_host(to, a, 1000, c.stream) == 0);
  CHECK(c.d.event_record(event, c.stream) == 0);
  CHECK(c.d.set(a, 9, 1000, c.stream) == 0);
  CHECK(c.d.event_wait(event) == 0);
  CHECK((to[5] == 8 && fake.pending() == 1));
  CHECK(fake.complaints().empty());
  CHECK(c.d.event_destroy(event) == 0);
  CHECK(c.d.free(a) == 0);
  CHECK(c.d.free(b) == 0);
  CHECK(c.d.free_host(pinned) == 0);
  c.end();
  CHECK((fake.left().empty() && fake.bytes() == 0 && fake.most_bytes() == 2000 && fake.calls("cuMemAlloc_v2") == 2));
}

TEST_CASE("the fake driver replays what was captured") {
  FakeCuda fake(setup_of(87));
  Context c(fake);
  CuPointer a = 0;
  void* host = nullptr;
  REQUIRE(c.d.alloc(&a, 64) == 0);
  REQUIRE(c.d.alloc_host(&host, 64) == 0);
  auto* bytes = static_cast<uint8_t*>(host);
  CuGraph graph = nullptr;
  CuGraphExec exec = nullptr;
  REQUIRE(c.d.capture_begin(c.stream, kCuCaptureThread) == 0);
  CHECK(c.d.copy_to_device(a, host, 32, c.stream) == 0);
  CHECK(c.d.copy_to_host(bytes + 32, a, 32, c.stream) == 0);
  REQUIRE(c.d.capture_end(c.stream, &graph) == 0);
  CHECK(fake.pending() == 0);
  REQUIRE(c.d.graph_make(&exec, graph, 0) == 0);
  CHECK(c.d.graph_destroy(graph) == 0);
  for (uint8_t i = 1; i < 4; ++i) {
    std::memset(bytes, i, 32);
    CHECK(c.d.graph_launch(exec, c.stream) == 0);
    CHECK(c.d.stream_wait(c.stream) == 0);
    CHECK((bytes[32] == i && bytes[63] == i));
  }
  CHECK(fake.complaints().empty());
  // What a capture forbids ends it.
  REQUIRE(c.d.capture_begin(c.stream, kCuCaptureThread) == 0);
  CHECK(c.d.stream_wait(c.stream) == 900);
  CHECK(c.d.capture_end(c.stream, &graph) == 901);
  CHECK(graph == nullptr);
  REQUIRE(c.d.capture_begin(c.stream, kCuCaptureThread) == 0);
  CuPointer b = 0;
  CHECK(c.d.alloc(&b, 64) == 900);
  CHECK(c.d.capture_end(c.stream, &graph) == 901);
  CHECK(fake.complaints().size() == 2);
  CHECK(fake.left().find("1 graphs made to run") != std::string::npos);
  CHECK(c.d.graph_exec_destroy(exec) == 0);
  CHECK(c.d.free_host(host) == 0);
  CHECK(c.d.free(a) == 0);
  c.end();
  CHECK(fake.left().empty());
}

TEST_CASE("the fake driver finds what is used wrongly, and fails where it is told") {
  FakeCudaSetup s = setup_of(87);
  s.memory_bytes = 1 << 20;
  s.largest_block = 1 << 18;
  FakeCuda fake(s);
  CuPointer a = 0, b = 0;
  CHECK(fake.driver()->alloc(&a, 64) == 3);  // cuInit has not run
  Context c(fake);
  CHECK(c.d.alloc(&a, (1 << 18) + 1) == 2);
  CHECK(fake.complaints().size() == 2);
  CuPointer all[4];
  for (CuPointer& p : all) REQUIRE(c.d.alloc(&p, 1 << 18) == 0);
  CHECK(c.d.alloc(&b, 1) == 2);  // nothing is left
  size_t free_bytes = 1, total = 0;
  CHECK((c.d.memory_info(&free_bytes, &total) == 0 && free_bytes == 0 && total == 1 << 20));
  CHECK(c.d.free(all[0] + 256) == 1);
  for (const CuPointer& p : all) CHECK(c.d.free(p) == 0);
  CHECK(c.d.free(all[0]) == 1);
  REQUIRE(c.d.alloc(&a, 100) == 0);
  CHECK(c.d.set(a, 0, 101, c.stream) == 1);
  uint8_t small[4] = {};
  CHECK(c.d.copy_to_device(a + 97, small, 4, c.stream) == 1);
  CHECK(c.d.copy_to_device(reinterpret_cast<CuPointer>(small), small, 4, c.stream) == 1);
  CHECK(c.d.stream_wait(nullptr) == 400);
  CHECK(fake.complaints().size() == 8);
  // The host may not look into device memory.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*reinterpret_cast<volatile uint8_t*>(a) & 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(!(WIFEXITED(status) && WEXITSTATUS(status) == 0));
  // One call fails, those behind it do not; after an error that a context does not survive all do, until it ends.
  fake.fail_call("cuMemsetD8Async", 2, 999);
  CHECK(c.d.set(a, 0, 1, c.stream) == 0);
  CHECK(c.d.set(a, 0, 1, c.stream) == 999);
  CHECK(std::string(fake.failed()) == "cuMemsetD8Async");
  CHECK(c.d.set(a, 0, 1, c.stream) == 0);
  fake.fail_call(1, 700);
  CHECK(c.d.stream_wait(c.stream) == 700);
  CHECK(c.d.free(a) == 700);
  CHECK(fake.bytes() == 100);
  CHECK(c.d.context_pop(nullptr) == 0);
  CHECK(c.d.context_release(0) == 0);
  CHECK((fake.left().empty() && fake.bytes() == 0));
}

TEST_CASE("the fake driver holds launches against what a kernel was compiled for") {
  if (kCudaKernels == 0) {
    WARN("skipped: there are no kernels");
    return;
  }
  FakeCudaSetup s = setup_of(87);
  s.run = nullptr;
  FakeCuda fake(s);
  Context c(fake);
  const CudaImage* image = nullptr;
  REQUIRE(cuda_image_for(87, 12060, &image, nullptr) == LINNET_OK);
  CuModule module = nullptr;
  CuFunction f = nullptr;
  REQUIRE(c.d.module_load(&module, image->data) == 0);
  const char* name = kCudaKernelNames[0];
  REQUIRE(c.d.module_function(&f, module, name) == 0);
  uint8_t args[4096] = {};
  void* params[1] = {args};
  CHECK(c.d.launch(f, 2, 1, 1, 32, 1, 1, 0, c.stream, params, nullptr) == 0);
  CHECK(fake.launches(name) == 0);
  CHECK(c.d.stream_wait(c.stream) == 0);
  CHECK(fake.launches(name) == 1);
  CHECK(c.d.launch(f, 2, 1, 1, 1025, 1, 1, 0, c.stream, params, nullptr) == 701);
  CHECK(c.d.launch(f, 0, 1, 1, 32, 1, 1, 0, c.stream, params, nullptr) == 1);
  CHECK(c.d.launch(f, 1, 70000, 1, 32, 1, 1, 0, c.stream, params, nullptr) == 1);
  CHECK(c.d.launch(f, 1, 1, 1, 32, 1, 1, 60 << 10, c.stream, params, nullptr) == 1);
  CHECK(c.d.function_set(f, kCuFuncDynamicShared, 60 << 10) == 0);
  CHECK(c.d.launch(f, 1, 1, 1, 32, 1, 1, 60 << 10, c.stream, params, nullptr) == 0);
  CHECK(c.d.function_set(f, kCuFuncDynamicShared, 200 << 10) == 1);
  CHECK(c.d.module_unload(module) == 0);
  c.end();
  CHECK(fake.left().empty());
}

TEST_CASE("the emulator's kernels take the bytes that the cubins' do") {
  for (const uint32_t arch : {80u, 87u, 90u, 110u}) {
    FakeCuda fake(setup_of(arch));
    Context c(fake);
    CuModule module = nullptr;
    const CudaImage* image = nullptr;
    REQUIRE(cuda_image_for(arch, 13000, &image, nullptr) == LINNET_OK);
    REQUIRE(c.d.module_load(&module, image->data) == 0);
    for (uint32_t i = 0; i < kCudaKernels; ++i) {
      INFO(kCudaKernelNames[i]);
      const EmulatedKernel* k = emulated_kernel(kCudaKernelNames[i]);
      REQUIRE(k);
      CHECK(fake.argument_bytes(kCudaKernelNames[i]) == k->args_bytes);
    }
    CHECK(c.d.module_unload(module) == 0);
    c.end();
  }
}
