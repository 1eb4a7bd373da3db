// check_kernels --bench: every GEMM entry over shapes, each beside the peak loop of its entry (GemmKernel::peak; m >= 8) or the plain read
// of the same memory (m < 8), both measured just before and just after it. Figures are medians over the repetitions; "share" is
// the median of the ratios, so that a machine that changes its speed does not change it. Time is the processor time of the
// busiest thread: what other processes take away does not count. Where the tests found another library (g_bar) its figure for the same
// shape stands at the end: int8 sums over the whole k without scales, or float products.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "check_kernels.h"
#include "kernels_cpu/registry.h"
#include "runtime/tensor.h"

using namespace linnet;

namespace check {
namespace {

// n threads that spin for work; the caller is thread 0.
class Team {
 public:
  explicit Team(uint32_t n) : n_(n), seconds_(n) {
    for (uint32_t i = 1; i < n; ++i) threads_.emplace_back([this, i] { loop(i); });
  }
  ~Team() {
    job_ = nullptr;
    round_.fetch_add(1);
    for (std::thread& t : threads_) t.join();
  }
  // Runs job(id) on all threads; seconds of the busiest.
  double run(const std::function<void(uint32_t)>& job) {
    job_ = &job;
    left_.store(n_ - 1);
    round_.fetch_add(1);
    timed(0);
    while (left_.load()) {
    }
    return *std::max_element(seconds_.begin(), seconds_.end());
  }
  uint32_t size() const { return n_; }

 private:
  void loop(uint32_t id) {
    for (uint32_t seen = 0;;) {
      while (round_.load() == seen) {
      }
      seen = round_.load();
      if (!job_) return;
      timed(id);
      left_.fetch_sub(1);
    }
  }
  void timed(uint32_t id) {
    const double from = processor_seconds();
    (*job_)(id);
    seconds_[id] = processor_seconds() - from;
  }
  static double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  }
  uint32_t n_;
  std::vector<double> seconds_;
  const std::function<void(uint32_t)>* job_ = nullptr;
  std::atomic<uint32_t> round_{0}, left_{0};
  std::vector<std::thread> threads_;
};

constexpr size_t kPool = size_t{768} << 20;
constexpr uint32_t kMaxM = 512;

struct Bench {
  const Kernels& k;
  Team& team;
  uint32_t reps;
  uint8_t* pool;  // kPool bytes
  Rng rng;

  double read_rate() {  // bytes/s
    const size_t share = kPool / team.size() / 4096 * 4096;
    std::atomic<uint64_t> sink{0};
    return static_cast<double>(share * team.size()) /
           team.run([&](uint32_t id) { sink.fetch_add(k.t.read_all(pool + id * share, share)); });
  }
  double peak_rate(linnet_format f) {  // multiply-adds/s; 5 ms or so
    std::atomic<uint64_t> done{0};
    const uint64_t rounds = k.t.isa == LINNET_ISA_SCALAR ? 2000000 : 1000000;
    const double s = team.run([&](uint32_t id) {
      const uint64_t ops = k.gemm[f].peak(rounds);
      if (id == 0) done = ops;
    });
    return static_cast<double>(done.load() * team.size()) / s;
  }
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void bench_gemm(Bench& b, linnet_format f, uint32_t n, uint32_t k, uint32_t m) {
  const FormatRow& row = format_row(f);
  const size_t bytes = packed_bytes(f, n, k), copies = m < 8 ? kPool / bytes : 1, groups = n_x_groups(f, k);
  fill_matrix(f, n, k, b.pool, b.rng);
  if (row.x == LINNET_BF16) {  // any codes would make every 16th value subnormal, which weights hardly ever are
    const auto near_normal = [&] { return (b.rng.unit() + b.rng.unit() + b.rng.unit()) / 3; };
    for (size_t i = 0; i < padded_n(n) * padded_k(f, k); ++i)
      b.pool[i] = f != LINNET_F8E5M2 ? f32_to_f8e4m3(near_normal() * 448) : f32_to_f8e5m2(near_normal() * 57344);
  }
  for (size_t i = 1; i < copies; ++i) std::memcpy(b.pool + i * bytes, b.pool, bytes);
  // A line more per row, as the sessions' buffers have it: rows of a power of two would share their cache sets.
  const size_t stride = row.x == LINNET_F32 ? k * 4 : quant_stride(row.x, k);
  std::vector<uint8_t> x(m * stride);
  const uint32_t n_panels = static_cast<uint32_t>(padded_n(n) / 16);
  std::vector<float> xs(m * std::max<size_t>(groups, 1), 0.01f), y(size_t{m} * n_panels * 16), xf(size_t{m} * k);
  std::vector<int32_t> sum(xs.size());
  for (float& v : xf) v = b.rng.unit();
  if ((row.x == LINNET_I8)) {
    for (uint32_t r = 0; r < m; ++r)
      b.k.t.quantize_row(xf.data() + size_t{r} * k, k, row.x_group, reinterpret_cast<int8_t*>(x.data() + r * stride),
                         xs.data() + r * groups, sum.data() + r * groups);
  } else if (row.x == LINNET_BF16) {
    for (uint32_t r = 0; r < m; ++r) b.k.t.bf16_row(xf.data() + size_t{r} * k, k, reinterpret_cast<uint16_t*>(x.data() + r * stride));
  } else {
    std::memcpy(x.data(), xf.data(), x.size());
  }
  const auto job = [&](uint32_t id) {
    const uint32_t from = n_panels * id / b.team.size(), to = n_panels * (id + 1) / b.team.size();
    for (size_t c = 0; c < copies; ++c) {
      GemmArgs a{};
      a.x = x.data();
      a.x_stride = stride;
      a.x_scale = xs.data();
      a.x_sum128 = sum.data();
      a.x_groups = static_cast<uint32_t>(groups);
      a.x_group = row.x_group;
      a.w_stride = panel_bytes(f, k);
      a.w = b.pool + c * bytes + from * a.w_stride;
      a.w_scale_stride = panel_scale_bytes(f, k);
      a.w_scale = b.pool + c * bytes + scales_offset(f, n, k) + from * a.w_scale_stride;
      a.y = y.data() + from * 16;
      a.y_stride = size_t{n_panels} * 16;
      a.m = m;
      a.n_panels = to - from;
      a.k = k;
      a.w_group = row.w_group;
      a.fetch_ahead = kFetchAhead;  // as linnet does
      b.k.gemm[f].run(&a);
    }
  };
  const double ops = 2.0 * m * n * k * static_cast<double>(copies), moved = static_cast<double>(bytes * copies);
  b.team.run(job);
  std::vector<double> seconds, shares, limits;
  const bool by_read = m < 8;
  for (uint32_t i = 0; i < b.reps; ++i) {
    const double before = by_read ? b.read_rate() : b.peak_rate(f) * 2, s = b.team.run(job),
                 after = by_read ? b.read_rate() : b.peak_rate(f) * 2;
    seconds.push_back(s / static_cast<double>(copies));
    limits.push_back((before + after) / 2);
    shares.push_back((by_read ? moved : ops) / s / limits.back());
  }
  char bar[64] = "";
  if (m >= 16 && g_bar.job) {
    std::vector<double> theirs;
    if (const auto other = g_bar.job(f, n, k, m, b.team.size(), b.pool)) {
      b.team.run(other);
      for (uint32_t i = 0; i < b.reps; ++i) theirs.push_back(b.team.run(other));
      std::snprintf(bar, sizeof bar, "   %s %.1f GOP/s", g_bar.name, ops / median(theirs) * 1e-9);
    }
  }
  const double s = median(seconds), best = *std::max_element(shares.begin(), shares.end());
  std::printf("%-12s %u thr  %-7s %6u x %-6u m %-4u %10.1f us %9.1f GOP/s %7.2f GB/s   %s %.3f (best %.3f) of %.1f %s%s\n",
              isa_name(b.k.t.isa), b.team.size(), format_name(f), n, k, m, s * 1e6, ops / static_cast<double>(copies) / s * 1e-9,
              static_cast<double>(bytes) / s * 1e-9, by_read ? "read share" : "peak share", median(shares), best, median(limits) * 1e-9,
              by_read ? "GB/s" : "GOP/s", bar);
  std::fflush(stdout);
}

void bench_rows(Bench& b) {
  const uint32_t n = 4096;
  std::vector<float> x(n), w(n), y(n), sc(n);
  std::vector<int8_t> q(n);
  std::vector<int32_t> sum(n);
  std::vector<uint8_t> hi(n), lo(n);
  for (uint32_t i = 0; i < n; ++i) x[i] = b.rng.unit(), w[i] = b.rng.unit();
  const KernelTable& t = b.k.t;
  const auto time = [&](const char* name, uint32_t count, const std::function<void()>& fn) {
    std::vector<double> s;
    for (uint32_t i = 0; i < b.reps; ++i) {
      const double one = b.team.run([&](uint32_t id) {
        if (id == 0)
          for (int j = 0; j < 200; ++j) fn();
      });
      s.push_back(one / 200);
    }
    std::printf("%-12s %-14s n %-5u %9.2f ns per 1000\n", isa_name(t.isa), name, count, median(s) * 1e12 / count);
  };
  time("quantize_row", n, [&] { t.quantize_row(x.data(), n, 128, q.data(), sc.data(), sum.data()); });
  time("rmsnorm_row", n, [&] { t.rmsnorm_row(x.data(), w.data(), n, 1e-5f, y.data()); });
  time("layernorm_row", n, [&] { t.layernorm_row(x.data(), w.data(), w.data(), n, 1e-5f, y.data()); });
  time("gelu_mul_row", n, [&] { t.gelu_mul_row(x.data(), w.data(), n, y.data()); });
  time("gelu_erf_mul_row", n, [&] { t.gelu_erf_mul_row(x.data(), w.data(), n, y.data()); });
  time("sigmoid_mul_row", n, [&] { t.sigmoid_mul_row(x.data(), w.data(), n, y.data()); });
  time("relu_mul_row", n, [&] { t.relu_mul_row(x.data(), w.data(), n, y.data()); });
  const float xielu[] = {1.0f, 0.8f, 0.5f, -1e-6f};
  time("xielu_row", n, [&] { t.xielu_row(x.data(), xielu, n, y.data()); });
  volatile uint32_t found = 0;
  time("find_above", n, [&] { found = t.find_above(x.data(), n, 0, 2.0f); });
  time("silu_mul_row", n, [&] { t.silu_mul_row(x.data(), w.data(), n, y.data()); });
  const float* const taps[] = {x.data(), w.data(), x.data(), w.data()};
  time("taps_row", n / 4, [&] { t.taps_row(taps, w.data(), n / 4, 4, n / 4, y.data()); });
  time("add_row", n, [&] { t.add_row(y.data(), x.data(), n); });
  time("rope_row", n / 2, [&] { t.rope_row(y.data(), x.data(), w.data(), n / 2, 0); });
  time("rope_row pairs", n / 2, [&] { t.rope_row(y.data(), x.data(), w.data(), n / 2, 1); });
  float m, l;
  time("softmax_block", 256, [&] {
    std::memcpy(y.data(), x.data(), 1024);
    t.softmax_block(y.data(), 0, 256, 256, 1.0f, 0.0f, 0.0f, 0.0f, &m, &l, nullptr);
  });
  time("planes", 256, [&] { t.planes(y.data(), y.data(), 256, hi.data(), lo.data(), nullptr); });
  const int8_t* pages[16];
  for (int i = 0; i < 16; ++i) pages[i] = reinterpret_cast<const int8_t*>(b.pool) + i * 8192;
  for (const uint32_t rows : {1u, 4u, 8u}) {
    char name[32];
    std::snprintf(name, sizeof name, "attn_pv %u rows", rows);
    time(name, rows * 256 * 64, [&] { t.attn_pv(hi.data(), lo.data(), rows, pages, 16, 4, w.data(), y.data(), 64, nullptr); });
  }
  std::vector<int8_t> scores(64 * 16);
  for (const uint32_t rows : {1u, 4u, 8u}) {  // q K^T of one page, head_dim 64
    char name[32];
    std::snprintf(name, sizeof name, "q k %u rows", rows);
    GemmArgs a{};
    a.x = q.data(), a.x_stride = 64, a.x_scale = x.data(), a.x_sum128 = sum.data(), a.x_groups = 2, a.x_group = 32;
    a.w = b.pool, a.w_stride = 1024, a.w_scale = b.pool + 4096, a.w_scale_stride = 64, a.y = y.data(), a.y_stride = 256;
    a.m = rows, a.n_panels = 1, a.k = 64;
    time(name, rows * 16 * 64, [&] { b.k.gemm[LINNET_I8G32].run(&a); });
  }
}

}  // namespace

int run_bench(const char* isa, const char* weights, uint32_t threads, uint32_t reps, uint64_t seed) {
  uint8_t* pool = static_cast<uint8_t*>(mmap(nullptr, kPool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pool == MAP_FAILED) {
    std::fprintf(stderr, "check_kernels: no memory for the bench\n");
    return 1;
  }
  madvise(pool, kPool, MADV_HUGEPAGE);
  std::memset(pool, 1, kPool);
  const struct {
    uint32_t n, k;
  } shapes[] = {{2048, 2048}, {8192, 2048}, {2048, 8192}, {896, 4864}, {4864, 896}, {1000, 2048}};
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) {
    if (isa ? std::strcmp(isa, isa_name(t->isa)) != 0 : t->isa == LINNET_ISA_SCALAR) continue;
    Kernels kernels;
    Error err{};
    if (kernels_resolve(t->isa, 0, &kernels, &err) != LINNET_OK) {
      std::printf("skipped: %s\n", err.text);
      continue;
    }
    for (uint32_t n = threads ? threads : 1; n <= (threads ? threads : 2); ++n) {
      Team team(n);
      Bench b{kernels, team, std::max(reps, 1u), pool, Rng{seed}};
      // Every format on one shape; one of them on all.
      for (const FormatRow& row : kFormats) {
        const Format f = row.format;
        if (!format_known(f)) continue;
        if (std::strcmp(weights ? weights : "i8g128", format_name(f))) {
          if (!weights) bench_gemm(b, f, 2048, 2048, 1), bench_gemm(b, f, 2048, 2048, 128);
        } else {
          for (const auto& s : shapes)
            for (const uint32_t m : {1u, 2u, 4u, 8u, 16u, 128u, kMaxM})
              bench_gemm(b, f, s.n, static_cast<uint32_t>(align_up(s.k, format_block(f))), m);
        }
      }
      if (n == 1 && !weights) bench_rows(b);
    }
  }
  munmap(pool, kPool);
  return 0;
}

}  // namespace check
