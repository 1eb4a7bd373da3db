#include "cuda_emulator.h"

#include <mutex>

#include "cuda_test.h"

#if defined(__SANITIZE_ADDRESS__)
#define LINNET_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LINNET_ASAN 1
#endif
#endif
#ifdef LINNET_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

CudaIndex threadIdx, blockIdx, blockDim, gridDim;

// From one stack to another: what a call must keep goes onto the old one, the rest is the compiler's.
extern "C" void linnet_switch_stack(void** save, void* to);
asm(R"(
.text
.p2align 4
.globl linnet_switch_stack
.hidden linnet_switch_stack
.type linnet_switch_stack,@function
linnet_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size linnet_switch_stack, .-linnet_switch_stack
)");

// Bounds of what LINNET_SHARED holds; absent where no kernel has any.
extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __start_linnet_shared[], __stop_linnet_shared[];

namespace linnet {

extern const EmulatedKernel emulated_gemm[], emulated_gemm_blocks[], emulated_rows[], emulated_experts[], emulated_flash[],
    emulated_states[], emulated_sample[], emulated_measure[];

namespace {

constexpr size_t kStack = 64 << 10, kMaxThreads = 1024, kMaxShared = 232448, kMaxCopies = 512;
constexpr uint64_t kCanary = 0x5AFE57AC5AFE57ACu;

enum State : uint8_t { kReady, kAtBarrier, kAtWarp, kDone };
struct Copy {
  void* to;
  const void* from;
  uint32_t bytes;
};
struct Fiber {
  void* stack_pointer;
  void* operand;
  WarpOperation op;
  State state;
  uint32_t n_copies, n_groups;
  uint32_t group_end[32];   // copies before the end of each group that was committed
  Copy copies[kMaxCopies];  // that have not landed
#ifdef LINNET_ASAN
  void* fake_stack;
#endif
};

struct Machine {
  std::mutex lock;
  uint8_t* stacks = nullptr;
  std::vector<Fiber> fibers{kMaxThreads};
  Fiber* now = nullptr;
  void* main_stack = nullptr;
  const EmulatedKernel* kernel = nullptr;
  const void* args = nullptr;
  bool failed = false, late_copies = true;
  uint64_t seed = 1;
  char error[512] = "";
  alignas(128) unsigned char shared[kMaxShared];
#ifdef LINNET_ASAN
  void* fake_stack = nullptr;
  const void* main_bottom = nullptr;
  size_t main_size = 0;
#endif
};
Machine g;

uint64_t next(uint64_t* state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}
void permute(uint32_t* order, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) order[i] = i;
  for (uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[next(&g.seed) % i]);
}

uint8_t* stack_of(size_t thread) { return g.stacks + thread * kStack; }

void to_main(bool for_good) {
  Fiber* me = g.now;
#ifdef LINNET_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &me->fake_stack, g.main_bottom, g.main_size);
#endif
  (void)for_good;
  linnet_switch_stack(&me->stack_pointer, g.main_stack);
#ifdef LINNET_ASAN
  __sanitizer_finish_switch_fiber(me->fake_stack, nullptr, nullptr);
#endif
}

void fiber_main() {
#ifdef LINNET_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &g.main_bottom, &g.main_size);
#endif
  g.kernel->run(g.args);
  g.now->state = kDone;
  to_main(true);
  __builtin_trap();
}

void run_fiber(uint32_t thread) {
  Fiber& f = g.fibers[thread];
  g.now = &f;
  threadIdx = {thread, 0, 0};
#ifdef LINNET_ASAN
  __sanitizer_start_switch_fiber(&g.fake_stack, stack_of(thread), kStack);
#endif
  linnet_switch_stack(&g.main_stack, f.stack_pointer);
#ifdef LINNET_ASAN
  __sanitizer_finish_switch_fiber(g.fake_stack, nullptr, nullptr);
#endif
}

void start_fiber(uint32_t thread) {
  Fiber& f = g.fibers[thread];
  uint8_t* stack = stack_of(thread);
  std::memcpy(stack, &kCanary, 8);
  auto* top = reinterpret_cast<uint64_t*>(stack + kStack) - 1;  // as after a call: 8 past a multiple of 16
  *--top = reinterpret_cast<uint64_t>(fiber_main);
  for (int i = 0; i < 6; ++i) *--top = 0;
  f.stack_pointer = top;
  f.state = kReady;
  f.n_copies = f.n_groups = 0;
}

bool fail(const char* what) {
  if (!g.failed)
    std::snprintf(g.error, sizeof g.error, "%s, block (%u, %u, %u): %s", g.kernel->name, blockIdx.x, blockIdx.y, blockIdx.z, what);
  g.failed = true;
  return false;
}

// Lanes of a warp go on until all wait for the block, or all have ended.
bool run_warp(uint32_t warp) {
  Fiber* lanes = &g.fibers[warp * 32];
  for (;;) {
    uint32_t order[32], n[4] = {};
    permute(order, 32);
    for (const uint32_t lane : order) {
      if (lanes[lane].state == kReady) run_fiber(warp * 32 + lane);
      if (g.failed) return false;
    }
    for (uint32_t i = 0; i < 32; ++i) ++n[lanes[i].state];
    if (n[kAtBarrier] == 32 || n[kDone] == 32) return true;
    if (n[kAtWarp] != 32)
      return fail(n[kAtWarp] ? "some lanes of a warp wait for others that are at a barrier of the block or have ended"
                             : "some lanes wait at a barrier of the block, others have ended");
    void* operands[32];
    for (uint32_t i = 0; i < 32; ++i) {
      if (lanes[i].op != lanes[0].op) return fail("lanes of a warp are at different operations");
      operands[i] = lanes[i].operand;
      lanes[i].state = kReady;
    }
    lanes[0].op(operands);
  }
}

bool run_block(uint32_t threads, uint32_t shared_bytes) {
  std::memset(g.shared, 0xC3, shared_bytes);
  if (__start_linnet_shared) std::memset(__start_linnet_shared, 0xC3, static_cast<size_t>(__stop_linnet_shared - __start_linnet_shared));
  for (uint32_t i = 0; i < threads; ++i) start_fiber(i);
  const uint32_t n_warps = threads / 32;
  for (;;) {
    uint32_t order[kMaxThreads / 32], n_done = 0;
    permute(order, n_warps);
    for (uint32_t w = 0; w < n_warps; ++w) {
      if (!run_warp(order[w])) return false;
      n_done += g.fibers[order[w] * 32].state == kDone;
    }
    for (uint32_t i = 0; i < threads; ++i) {
      uint64_t canary;
      std::memcpy(&canary, stack_of(i), 8);
      if (canary != kCanary) return fail("a thread's stack is too small");
    }
    if (n_done == n_warps) return true;
    if (n_done) return fail("some warps wait at a barrier of the block, others have ended");
    for (uint32_t i = 0; i < threads; ++i) g.fibers[i].state = kReady;
  }
}

void land(Fiber* f, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; ++i) std::memcpy(f->copies[i].to, f->copies[i].from, f->copies[i].bytes);
}

CuResult launch(CuFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                CuStream, void** params, void**) {
  if (!function || by != 1 || bz != 1) return 1;  // CUDA_ERROR_INVALID_VALUE
  if (emulate(*reinterpret_cast<const EmulatedKernel*>(function), {gx, gy, gz}, bx, shared_bytes, params[0])) return 0;
  std::fprintf(stderr, "emulator: %s\n", emulated_error());
  return 719;  // CUDA_ERROR_LAUNCH_FAILED
}

// Row i, input j of A (16, 4 * kRun * 2) and column i, input j of B as lanes hold them, kRun inputs in a register.
template <uint32_t kRun, class T>
void gather_operands(void* const of_lane[32], T (*a)[8 * kRun], T (*b)[8 * kRun]) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const auto* o = static_cast<const MmaOperands<int>*>(of_lane[lane]);
    const uint32_t i = lane / 4, j = lane % 4 * kRun;
    std::memcpy(&a[i][j], &o->a[0], 4);
    std::memcpy(&a[i + 8][j], &o->a[1], 4);
    std::memcpy(&a[i][j + 4 * kRun], &o->a[2], 4);
    std::memcpy(&a[i + 8][j + 4 * kRun], &o->a[3], 4);
    std::memcpy(&b[i][j], &o->b[0], 4);
    std::memcpy(&b[i][j + 4 * kRun], &o->b[1], 4);
  }
}
template <float (*kValue)(uint16_t)>
void mma_float(void* const of_lane[32]) {
  uint16_t a[16][16], b[8][16];
  float fa[16][16], fb[8][16];
  gather_operands<2>(of_lane, a, b);
  for (uint32_t j = 0; j < 16; ++j) {
    for (uint32_t i = 0; i < 16; ++i) fa[i][j] = kValue(a[i][j]);
    for (uint32_t i = 0; i < 8; ++i) fb[i][j] = kValue(b[i][j]);
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < 4; ++e) {
      float& c = static_cast<const MmaOperands<float>*>(of_lane[lane])->c[e];
      const uint32_t row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
      float sum = 0;  // exact products; their order is not the hardware's, which is nobody's promise
      for (uint32_t j = 0; j < 16; ++j) sum = sum + fa[row][j] * fb[column][j];
      c = c + sum;
    }
}

}  // namespace

unsigned char* emulated_dynamic_shared() { return g.shared; }
float emulated_f32_of_f16(uint16_t h) { return f16_to_f32(h); }
uint16_t emulated_f16_of_f32(float f) { return f32_to_f16(f); }
uint32_t emulated_mul_bf16(uint32_t a, uint32_t b) {
  const auto half = [](uint32_t v, int i) { return bf16_to_f32(static_cast<uint16_t>(v >> (i * 16))); };
  return static_cast<uint32_t>(f32_to_bf16(half(a, 0) * half(b, 0))) | static_cast<uint32_t>(f32_to_bf16(half(a, 1) * half(b, 1))) << 16;
}

void emulated_fail(const char* what) {
  fail(what);
  to_main(true);
  __builtin_trap();
}
void emulated_warp(WarpOperation op, void* mine) {
  Fiber* me = g.now;
  me->op = op;
  me->operand = mine;
  me->state = kAtWarp;
  to_main(false);
}
void emulated_block_barrier() {
  g.now->state = kAtBarrier;
  to_main(false);
}
void emulated_copy(void* shared, const void* global, uint32_t bytes) {
  if (reinterpret_cast<uintptr_t>(shared) % bytes || reinterpret_cast<uintptr_t>(global) % bytes)
    emulated_fail("an asynchronous copy of addresses that are not aligned to its bytes");
  Fiber* f = g.now;
  if (!g.late_copies) {
    std::memcpy(shared, global, bytes);
    return;
  }
  if (f->n_copies == kMaxCopies) emulated_fail("more copies under way than the emulator holds");
  f->copies[f->n_copies++] = {shared, global, bytes};
}
void emulated_copy_commit() {
  Fiber* f = g.now;
  if (f->n_groups == 32) {  // the oldest lands, as it may at any time
    land(f, 0, f->group_end[0]);
    const uint32_t gone = f->group_end[0];
    std::memmove(f->copies, f->copies + gone, (f->n_copies - gone) * sizeof(Copy));
    f->n_copies -= gone;
    for (uint32_t i = 1; i < 32; ++i) f->group_end[i - 1] = f->group_end[i] - gone;
    f->n_groups = 31;
  }
  f->group_end[f->n_groups++] = f->n_copies;
}
void emulated_copy_wait(unsigned pending) {
  Fiber* f = g.now;
  if (f->n_groups <= pending) return;
  const uint32_t groups = f->n_groups - pending, gone = f->group_end[groups - 1];
  land(f, 0, gone);
  std::memmove(f->copies, f->copies + gone, (f->n_copies - gone) * sizeof(Copy));
  f->n_copies -= gone;
  for (uint32_t i = 0; i < pending; ++i) f->group_end[i] = f->group_end[i + groups] - gone;
  f->n_groups = pending;
}

void warp_nothing(void* const[32]) {}
void warp_mma_i8(void* const of_lane[32]) {
  int8_t a[16][32], b[8][32];
  gather_operands<4>(of_lane, a, b);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t e = 0; e < 4; ++e) {
      int sum = 0;
      const int8_t *row = a[lane / 4 + e / 2 * 8], *column = b[lane % 4 * 2 + e % 2];
      for (uint32_t j = 0; j < 32; ++j) sum += row[j] * column[j];
      static_cast<const MmaOperands<int>*>(of_lane[lane])->c[e] += sum;
    }
}
void warp_mma_bf16(void* const of_lane[32]) { mma_float<bf16_to_f32>(of_lane); }
void warp_mma_f16(void* const of_lane[32]) { mma_float<f16_to_f32>(of_lane); }

const EmulatedKernel* emulated_kernel(const char* name) {
  for (const EmulatedKernel* table : {emulated_gemm, emulated_gemm_blocks, emulated_rows, emulated_experts, emulated_flash, emulated_states,
                                      emulated_sample, emulated_measure})
    for (; table->name; ++table)
      if (std::strcmp(table->name, name) == 0) return table;
  return nullptr;
}
CuFunction emulated_function(const char* kernel) {
  return reinterpret_cast<CuFunction>(const_cast<EmulatedKernel*>(emulated_kernel(kernel)));
}

bool emulate(const EmulatedKernel& kernel, CudaGrid grid, uint32_t threads, uint32_t shared_bytes, const void* args) {
  const std::lock_guard<std::mutex> guard(g.lock);
  g.kernel = &kernel;
  g.args = args;
  g.failed = false;
  g.late_copies = next(&g.seed) & 1;
  blockIdx = {0, 0, 0};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7FFFFFFFu || grid.y > 65535 || grid.z > 65535) return fail("no such grid");
  if (threads == 0 || threads > kMaxThreads || threads % 32) return fail("a block has whole warps, 32 at most");
  if (shared_bytes > kMaxShared) return fail("more shared memory than any GPU has");
  if (!g.stacks) {
    void* p = mmap(nullptr, kMaxThreads * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return fail("no memory for stacks");
    g.stacks = static_cast<uint8_t*>(p);
  }
  gridDim = {grid.x, grid.y, grid.z};
  blockDim = {threads, 1, 1};
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z, first = next(&g.seed) % blocks;
  const bool down = next(&g.seed) & 1;
  for (uint64_t i = 0; i < blocks; ++i) {  // from some block on, upwards or downwards
    const uint64_t at = down ? (first + blocks - i) % blocks : (first + i) % blocks;
    blockIdx = {static_cast<uint32_t>(at % grid.x), static_cast<uint32_t>(at / grid.x % grid.y),
                static_cast<uint32_t>(at / grid.x / grid.y)};
    if (!run_block(threads, shared_bytes)) return false;
  }
  return true;
}
bool emulate(const char* name, CudaGrid grid, uint32_t threads, uint32_t shared_bytes, const void* args) {
  const EmulatedKernel* kernel = emulated_kernel(name);
  if (kernel) return emulate(*kernel, grid, threads, shared_bytes, args);
  std::snprintf(g.error, sizeof g.error, "there is no kernel %s", name);
  return false;
}
const char* emulated_error() { return g.error; }
void emulated_seed(uint64_t seed) { g.seed = seed; }

const CudaDriver& emulated_driver() {
  static const CudaDriver table = [] {
    CudaDriver d;
    d.launch = launch;
    return d;
  }();
  return table;
}

}  // namespace linnet
