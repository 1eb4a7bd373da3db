// CUDA kernels on the emulator. Here: the emulator itself, which must notice what a GPU would punish. The kernels' own checks are in
// check_cuda_*.cpp.
#include <cstring>

#include "cuda_bench.h"
#include "cuda_emulator.h"
#include "cuda_test.h"
#include "kernels_cuda/measure_args.h"
#include "tests/catch2.h"

using namespace linnet;

namespace {

struct Args {
  const int* x;
  int* y;
  uint32_t wrong;
};

// y = x reversed over the block, through shared memory. wrong: without the barrier.
LINNET_KERNEL(64) reverse(const Args a) {
  LINNET_SHARED int s[64];
  s[threadIdx.x] = a.x[threadIdx.x];
  if (!a.wrong) block_sync();
  a.y[threadIdx.x] = s[63 - threadIdx.x];
}
// wrong: some threads miss the barrier.
LINNET_KERNEL(64) diverge(const Args a) {
  if (a.wrong && threadIdx.x % 32 == 7) return;
  if (a.wrong == 2 && threadIdx.x % 32 == 8) warp_sync();
  block_sync();
}
// y = x through asynchronous copies. wrong: without the wait, 2: a byte off.
LINNET_KERNEL(64) copy(const Args a) {
  LINNET_DYNAMIC_SHARED(s);
  const auto* from = reinterpret_cast<const unsigned char*>(a.x + threadIdx.x * 4);
  copy_async16(s + threadIdx.x * 16, from + (a.wrong == 2));
  copy_async_commit();
  if (!a.wrong) copy_async_wait<0>();
  block_sync();
  std::memcpy(a.y + threadIdx.x * 4, s + threadIdx.x * 16, 16);
}
// y (16, 8) = x (16, 32) * x (its first 8 rows)^T, int8, and sums over lanes.
LINNET_KERNEL(32) product(const Args a) {
  const int lane = static_cast<int>(threadIdx.x), i = lane / 4, j = lane % 4;
  const auto word = [&](int row, int at) { return static_cast<uint32_t>(a.x[row * 8 + at]); };
  const uint32_t fa[4] = {word(i, j), word(i + 8, j), word(i, j + 4), word(i + 8, j + 4)}, fb[2] = {word(i, j), word(i, j + 4)};
  int c[4] = {};
  mma_i8(c, fa, fb);
  for (int e = 0; e < 4; ++e) a.y[(i + e / 2 * 8) * 8 + j * 2 + e % 2] = c[e];
  int sum = lane;
  for (int mask = 16; mask; mask /= 2) sum += shuffle_xor(sum, mask);
  a.y[128 + lane] = sum + (a.wrong ? 1 : 0);
}

template <void (*kKernel)(const Args)>
EmulatedKernel kernel(const char* name) {
  return {name, sizeof(Args), [](const void* args) {
            Args a;
            std::memcpy(&a, args, sizeof a);
            kKernel(a);
          }};
}

struct Words {
  test::DeviceMemory memory;
  int *x, *y;
  Words() : x(memory.take<int>(256)), y(memory.take<int>(256)) {
    for (int i = 0; i < 256; ++i) x[i] = i * 0x357F21 + 12345;
  }
};

}  // namespace

TEST_CASE("the emulator shows a barrier that is missing") {
  Words w;
  const auto reversed = [&](uint32_t wrong) {
    const Args a = {w.x, w.y, wrong};
    REQUIRE(emulate(kernel<reverse>("reverse"), {1, 1, 1}, 64, 0, &a));
    bool same = true;
    for (int i = 0; i < 64; ++i) same = same && w.y[i] == w.x[63 - i];
    return same;
  };
  for (int i = 0; i < 4; ++i) {
    CHECK(reversed(0));
    CHECK_FALSE(reversed(1));
  }
}

TEST_CASE("the emulator reports threads that go apart") {
  Words w;
  for (const uint32_t wrong : {0u, 1u, 2u}) {
    const Args a = {w.x, w.y, wrong};
    CHECK(emulate(kernel<diverge>("diverge"), {3, 2, 1}, 64, 0, &a) == (wrong == 0));
  }
}

TEST_CASE("asynchronous copies of the emulator land at the wait at the latest") {
  Words w;
  bool seen = false;
  for (int i = 0; i < 16; ++i) {
    Args a = {w.x, w.y, 0};
    std::memset(w.y, 0, 1024);
    REQUIRE(emulate(kernel<copy>("copy"), {1, 1, 1}, 64, 1024, &a));
    CHECK(std::memcmp(w.x, w.y, 1024) == 0);
    a.wrong = 1;
    REQUIRE(emulate(kernel<copy>("copy"), {1, 1, 1}, 64, 1024, &a));
    seen = seen || std::memcmp(w.x, w.y, 1024) != 0;
    a.wrong = 2;
    CHECK_FALSE(emulate(kernel<copy>("copy"), {1, 1, 1}, 64, 1024, &a));
  }
  CHECK(seen);
}

TEST_CASE("products and shuffles of the emulator's warps") {
  Words w;
  const Args a = {w.x, w.y, 0};
  REQUIRE(emulate(kernel<product>("product"), {1, 1, 1}, 32, 0, &a));
  const auto* bytes = reinterpret_cast<const int8_t*>(w.x);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int want = 0;
      for (int t = 0; t < 32; ++t) want += bytes[i * 32 + t] * bytes[j * 32 + t];
      CHECK(w.y[i * 8 + j] == want);
    }
  for (int i = 0; i < 32; ++i) CHECK(w.y[128 + i] == 31 * 32 / 2);
}

TEST_CASE("every kernel of the list is there") {
  for (uint32_t i = 0; i < kCudaKernels; ++i) CHECK(emulated_function(kCudaKernelNames[i]) != nullptr);
}

TEST_CASE("the plain read of a GPU's memory reads every word once, its peaks multiply as often as they say") {
  test::EmulatedQueue queue;
  for (const uint32_t bytes : {16u, 4096u, 300000u / 16 * 16}) {
    constexpr uint32_t kBlocks = 3, kSeen = kBlocks * kMeasureThreads / 32;
    auto* data = queue.memory.take<uint8_t>(bytes);
    auto* seen = queue.memory.take<uint32_t>(kSeen);
    uint32_t want = 0, got = 0, word, random = 5;
    for (uint32_t i = 0; i < bytes; i += 4) {
      word = random = random * 1664525u + 1013904223u;
      std::memcpy(data + i, &word, 4);
      want ^= word;
    }
    const ReadAllArgs a = {data, bytes, seen};
    cuda_launch(queue.q, kCuda_read_all, {kBlocks, 1, 1}, kMeasureThreads, 0, &a);
    REQUIRE(queue.q.failed == 0);
    for (uint32_t i = 0; i < kSeen; ++i) got ^= seen[i];
    CHECK(got == want);
  }
  // What a round adds is the same each time: of int8 exactly, of bf16 here too.
  for (const CudaKernel kernel : {kCuda_peak_i8, kCuda_peak_bf16}) {
    std::vector<uint32_t> sums[3];
    for (uint32_t rounds = 0; rounds < 3; ++rounds) {
      auto* seen = queue.memory.take<uint32_t>(kMeasureThreads);
      const PeakArgs a = {seen, rounds + 1};
      cuda_launch(queue.q, kernel, {1, 1, 1}, kMeasureThreads, 0, &a);
      REQUIRE(queue.q.failed == 0);
      sums[rounds].assign(seen, seen + kMeasureThreads);
    }
    CHECK(sums[0] != sums[1]);
    for (uint32_t i = 0; i < kMeasureThreads && kernel == kCuda_peak_i8; ++i) CHECK(sums[1][i] - sums[0][i] == sums[2][i] - sums[1][i]);
  }
}

TEST_CASE("speed on this machine's GPU", "[.bench]") {
  if (!test::cuda_device_or_skipped()) return;
#if LINNET_HAVE_CUDA
  CHECK(test::CudaBench{}.run() == "");
#endif
}
