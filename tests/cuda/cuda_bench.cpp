#include "cuda_bench.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>

#include "kernels_cuda/cuda_queue.h"
#include "kernels_cuda/images.h"
#include "runtime/backend.h"
#include "runtime/cache/kv_cache.h"

namespace linnet::test {
namespace {

struct Gpu {
  const CudaDriver* d = nullptr;
  CuDevice device = 0;
  CuContext context = nullptr;
  CuModule module = nullptr;
  CuEvent start = nullptr, end = nullptr;
  CudaQueue q{};
  uint64_t l2 = 0;
  std::string wrong;
  std::vector<CuPointer> blocks;

  bool ok(CuResult result, const char* what) {
    if (result && wrong.empty()) wrong = std::string(what) + ": CUDA error " + std::to_string(result);
    return wrong.empty();
  }
  uint32_t attribute(CuAttribute which) {
    int value = 0;
    ok(d->device_attribute(&value, which, device), "attributes");
    return static_cast<uint32_t>(value);
  }
  bool open() {
    const char* why = nullptr;
    if (!(d = cuda_driver(&why))) return wrong = why, false;
    int version = 0;
    if (!ok(d->device_get(&device, 0), "device") || !ok(d->driver_version(&version), "driver")) return false;
    q.driver = d;
    q.n_sms = attribute(kCuSms);
    q.arch = attribute(kCuMajor) * 10 + attribute(kCuMinor);
    q.shared_bytes = attribute(kCuSharedPerBlockOptIn);
    l2 = attribute(kCuL2Bytes);
    const CudaImage* image = nullptr;
    linnet_error err{};
    if (!wrong.empty()) return false;
    if (cuda_image_for(q.arch, version, &image, &err) != LINNET_OK) return wrong = err.text, false;
    if (!ok(d->context_retain(&context, device), "context") || !ok(d->context_push(context), "context") ||
        !ok(d->module_load(&module, image->data), "kernels"))
      return false;
    for (uint32_t i = 0; i < kCudaKernels; ++i) {
      int own = 0;
      if (!ok(d->module_function(&q.kernels[i], module, kCudaKernelNames[i]), kCudaKernelNames[i]) ||
          !ok(d->function_get(&own, kCuFuncShared, q.kernels[i]), kCudaKernelNames[i]) ||
          !ok(d->function_set(q.kernels[i], kCuFuncDynamicShared, static_cast<int>(q.shared_bytes) - own), kCudaKernelNames[i]))
        return false;
    }
    return ok(d->stream_create(&q.stream, kCuStreamNonBlocking), "stream") && ok(d->event_create(&start, kCuEventDefault), "event") &&
           ok(d->event_create(&end, kCuEventDefault), "event");
  }
  ~Gpu() {
    if (!context) return;
    if (q.stream) d->stream_wait(q.stream);
    release(0);
    for (CuEvent e : {start, end})
      if (e) d->event_destroy(e);
    if (q.stream) d->stream_destroy(q.stream);
    if (module) d->module_unload(module);
    CuContext old;
    d->context_pop(&old);
    d->context_release(device);
  }
  void release(size_t keep) {
    for (; blocks.size() > keep; blocks.pop_back()) d->free(blocks.back());
  }
  template <class T = uint8_t>
  T* take(size_t n, unsigned char fill) {
    CuPointer p = 0;
    const size_t bytes = std::max<size_t>(n * sizeof(T), 16);
    if (!ok(d->alloc(&p, bytes), "device memory")) return nullptr;
    blocks.push_back(p);
    ok(d->set(p, fill, bytes, q.stream), "device memory");
    return reinterpret_cast<T*>(static_cast<uintptr_t>(p));
  }
  template <class T>
  T* copy(const T* from, size_t n) {
    T* to = take<T>(n, 0);
    if (to)
      ok(d->copy_to_device(reinterpret_cast<uintptr_t>(to), from, n * sizeof(T), q.stream), "copy"), ok(d->stream_wait(q.stream), "copy");
    return to;
  }
  // Codes as a model's: zeros would draw less power.
  uint8_t* random(size_t n) {
    static const std::vector<uint8_t> some = [] {
      std::mt19937 r(1);
      std::vector<uint8_t> v(1 << 20);
      for (uint8_t& b : v) b = static_cast<uint8_t>(r());
      return v;
    }();
    uint8_t* to = take(n, 0);
    for (size_t at = 0; to && at < n && wrong.empty(); at += some.size())
      ok(d->copy_to_device(reinterpret_cast<uintptr_t>(to + at), some.data(), std::min(some.size(), n - at), q.stream), "copy");
    ok(d->stream_wait(q.stream), "copy");
    return to;
  }
  Worker worker() {
    Worker w;
    w.queue = &q;
    return w;
  }
  // Milliseconds, the best of five after one that warms up; as a graph, which is how a decode pass goes: the host is too slow for small
  // kernels of a large GPU.
  double best(const std::function<void()>& launches) {
    CuGraph graph = nullptr;
    CuGraphExec exec = nullptr;
    if (!ok(d->capture_begin(q.stream, kCuCaptureThread), "graph")) return 0;
    launches();
    ok(d->capture_end(q.stream, &graph), "graph");
    if (ok(q.failed, "launch")) ok(d->graph_make(&exec, graph, 0), "graph");
    if (graph) d->graph_destroy(graph);
    double least = 0;
    for (int rep = 0; rep < 6 && wrong.empty(); ++rep) {
      float ms = 0;
      if (ok(d->event_record(start, q.stream), "event") && ok(d->graph_launch(exec, q.stream), "launch") &&
          ok(d->event_record(end, q.stream), "event") && ok(d->event_wait(end), "waiting"))
        ok(d->event_ms(&ms, start, end), "time");
      if (rep > 0 && (least <= 0 || ms < least)) least = ms;
    }
    if (exec) d->graph_exec_destroy(exec);
    return least;
  }
};

// Bytes and milliseconds of products of m rows with several copies of a matrix, so that each comes from memory.
bool product(Gpu& gpu, Format format, CudaBench::Shape s, uint32_t m, uint64_t least, double* bytes, double* ms) {
  const FormatRow& f = format_row(format);
  const uint64_t n_panels = padded_n(s.n) / kPanel, panel = panel_bytes(format, s.k), scale = panel_scale_bytes(format, s.k),
                 of_one = n_panels * (panel + scale);
  const size_t held = gpu.blocks.size();
  std::vector<CudaMatrix> copies(static_cast<size_t>(std::max<uint64_t>(1, (least + of_one - 1) / of_one)));
  for (CudaMatrix& c : copies) {
    c = {};
    c.format = format, c.n = s.n, c.k = s.k;
    c.n_panels = c.part_panels = static_cast<uint32_t>(n_panels);
    c.w_groups = static_cast<uint32_t>(n_w_groups(format, s.k));
    c.panel_bytes = panel, c.scale_bytes = scale;
    c.panels[0] = gpu.random(static_cast<size_t>(n_panels * panel));
    c.scales[0] = gpu.take(static_cast<size_t>(n_panels * scale), 0x20);  // small, as f16 and as f32
  }
  QuantRows x;
  x.format = f.x;
  x.stride = quant_stride(f.x, s.k);
  x.group = f.x_group;
  x.groups = static_cast<uint32_t>(n_x_groups(format, s.k));
  x.q = gpu.take(m * x.stride, 0x21);
  x.scale = gpu.take<float>(size_t{m} * x.groups, 0x20);
  x.sum128 = gpu.take<int32_t>(size_t{m} * x.groups, 0);
  float* y = gpu.take<float>(size_t{m} * s.n, 0);
  Matrix w{};
  w.format = format, w.n = s.n, w.k = s.k;
  *bytes = static_cast<double>(of_one) * static_cast<double>(copies.size());
  *ms = gpu.wrong.empty() ? gpu.best([&] {
    for (const CudaMatrix& c : copies) {
      w.panels = &c;
      cuda_gemm(gpu.worker(), w, nullptr, 0, &x, m, nullptr, false, y, s.n);
    }
  })
                          : 0;
  *ms /= static_cast<double>(copies.size());
  *bytes /= static_cast<double>(copies.size());
  gpu.d->stream_wait(gpu.q.stream);
  gpu.release(held);
  return gpu.wrong.empty();
}

// One row that looks back at `depth` positions, in each of n_layers layers.
bool attention(Gpu& gpu, const CudaBench& b, double* bytes, double* ms) {
  KvCache kv{};
  const auto layer = [](const void* of, uint32_t) -> CacheLayer {
    const CudaBench& c = *static_cast<const CudaBench*>(of);
    return {LINNET_I8, LINNET_I8, c.n_heads, c.n_kv_heads, c.head_dim, 0, 0};
  };
  const CachePlan plan = {b.n_layers, 1, b.depth, b.depth, b.depth, 0, LINNET_FULL_STOP, 0, false, &cpu_backend, &b, layer};
  Arena counted;
  if (!kv.layout_in(counted, counted, plan)) return gpu.wrong = "the cache's layers do not go together", false;
  std::vector<uint8_t> memory(counted.used() + 64);  // the pools too, where the pages that are taken are cleared
  Arena arena(memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64, counted.used());
  kv.layout_in(arena, arena, plan);
  kv.reset();
  kv.begin(0, 0, b.depth);
  kv.advance(0, 0, b.depth);
  KvClass& c = kv.classes[0];
  const size_t held = gpu.blocks.size(), pool = size_t{c.n_pages} * c.layout.page_bytes;
  for (uint32_t l = 0; l < c.n_layers; ++l) c.pools[l] = gpu.take(pool, 0x21);  // codes of 33, scales that are small
  const RowSpan span = {0, 0, 1, b.depth - 1};
  const uint32_t zero = 0;
  gpu.q.pass = {};
  gpu.q.pass.spans = reinterpret_cast<const CudaSpan*>(gpu.copy(&span, 1));
  gpu.q.pass.row_span = gpu.copy(&zero, 1);
  gpu.q.pass.tables = gpu.copy(kv.table(0, 0).slot, c.n_slots);
  gpu.q.pass.table_stride = c.n_slots;
  gpu.q.n_chunk = gpu.q.n_rows = 1;
  gpu.q.scratch_bytes = cuda_attention_scratch(kv, 1, gpu.q.n_sms);
  gpu.q.scratch = gpu.take(gpu.q.scratch_bytes, 0);
  gpu.q.not_finite = gpu.take<uint32_t>(1, 0);
  AttentionArgs a{};
  a.kv = &kv;
  a.spans = &span;
  a.n_spans = 1;
  a.q_stride = a.out_stride = b.n_heads * b.head_dim;
  a.q = gpu.take<float>(a.q_stride, 0x3C);
  a.out = gpu.take<float>(a.q_stride, 0);
  a.n_heads = b.n_heads;
  a.scale = 0.1f;
  *bytes = static_cast<double>((b.depth + kPagePositions - 1) / kPagePositions * c.layout.page_bytes);
  *ms = gpu.wrong.empty() ? gpu.best([&] {
    for (a.layer = 0; a.layer < b.n_layers; ++a.layer) cuda_attention(gpu.worker(), a);
  }) / b.n_layers
                          : 0;
  gpu.d->stream_wait(gpu.q.stream);
  gpu.release(held);
  return gpu.wrong.empty();
}

}  // namespace

std::string CudaBench::run() {
  Gpu gpu;
  if (!gpu.open()) return gpu.wrong;
  linnet_measurement before{}, after{};
  for (int i = 0; i < (print ? 3 : 1); ++i) cuda_measure(gpu.q, read_bytes, true, &before);  // clocks come up meanwhile
  const uint64_t least = std::max(least_bytes, least_bytes ? gpu.l2 * 5 : 0);
  enum Limit { kRead, kInt8, kBf16 };
  std::vector<Limit> limits;  // of each figure
  const auto add = [&](const std::string& what, double reached, Limit limit, double target) {
    figures.push_back({what, reached, 0, target});
    limits.push_back(limit);
  };
  double bytes = 0, ms = 0;
  for (const Format f : {LINNET_I8G128, LINNET_I4G64, LINNET_F8E4M3})
    for (const Shape& s : shapes) {
      const std::string name = std::string(format_name(f)) + " " + std::to_string(s.n) + " x " + std::to_string(s.k);
      if (!product(gpu, f, s, 1, least, &bytes, &ms)) return name + ": " + gpu.wrong;
      add("GEMV, " + name, bytes / (ms * 1e6), kRead, 0.80);
      if (!product(gpu, f, s, rows, 0, &bytes, &ms)) return name + ": " + gpu.wrong;
      add("GEMM, " + std::to_string(rows) + " rows, " + name, 2.0 * rows * s.n * s.k / (ms * 1e9), f == LINNET_F8E4M3 ? kBf16 : kInt8,
          0.60);
    }
  if (!attention(gpu, *this, &bytes, &ms)) return "attention: " + gpu.wrong;
  add("attention of a token at " + std::to_string(depth) + ", i8", bytes / (ms * 1e6), kRead, 0.75);
  cuda_measure(gpu.q, read_bytes, true, &after);
  if (!gpu.ok(gpu.q.failed, "measuring")) return gpu.wrong;
  if (print)
    std::printf("plain read %.1f GB/s before, %.1f after; tensor cores %.2f and %.2f TOPS int8, %.2f and %.2f bf16\n", before.read_gb_s,
                after.read_gb_s, before.int8_tops, after.int8_tops, before.f8_tops, after.f8_tops);
  for (size_t i = 0; i < figures.size(); ++i) {
    Figure& f = figures[i];
    const auto mean = [&](double linnet_measurement::* m) { return (before.*m + after.*m) / 2; };
    f.limit = mean(limits[i] == kRead   ? &linnet_measurement::read_gb_s
                   : limits[i] == kInt8 ? &linnet_measurement::int8_tops
                                        : &linnet_measurement::f8_tops);
    if (!print) continue;
    std::printf("%-44s %9.2f %s = %.2f of %s, target %.2f%s\n", f.what.c_str(), f.reached, limits[i] == kRead ? "GB/s" : "TOPS",
                f.reached / f.limit,
                limits[i] == kRead   ? "the plain read"
                : limits[i] == kInt8 ? "the int8 peak"
                                     : "the bf16 peak",
                f.target, f.reached < f.target * f.limit ? ": BELOW" : "");
  }
  return "";
}

}  // namespace linnet::test
