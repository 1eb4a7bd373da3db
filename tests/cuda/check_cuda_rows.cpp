// rows.cu, experts.cu, states.cu and sample.cu against the CPU's operations by the scalar tier, bit by bit.
#include <cmath>
#include <random>

#include "cuda_test.h"
#include "kernels_cpu/registry.h"
#include "kernels_cuda/sample_args.h"
#include "runtime/backend.h"
#include "runtime/cache/cache.h"
#include "runtime/sampling/sampling.h"
#include "tests/catch2.h"
#include "tests/data.h"

using namespace linnet;

namespace {

using Random = std::mt19937;
uint32_t pick(Random& r, uint32_t lo, uint32_t hi) { return lo + static_cast<uint32_t>(r() % (hi - lo + 1)); }
std::vector<float> normal(Random& r, size_t n, float by = 1) {
  std::normal_distribution<float> d(0, by);
  std::vector<float> v(n);
  for (float& x : v) x = d(r);
  return v;
}

const Kernels& scalar() {
  static const Kernels k = [] {
    Kernels kernels{};
    linnet_error err{};
    REQUIRE(kernels_resolve(LINNET_ISA_SCALAR, 0, &kernels, &err) == LINNET_OK);
    return kernels;
  }();
  return k;
}

// The same buffers twice: of the CPU's operation and of the kernel's.
template <class T>
struct Two {
  T *cpu, *gpu;
};
class Twins {
 public:
  explicit Twins(uint64_t seed) {
    emulated_seed(seed);
    cpu.kernels = &scalar();
    cpu.not_finite = &not_finite;
    gpu = queue.worker();
  }
  // compared: nobody may write elsewhere, and both must write the same.
  template <class T>
  Two<T> take(size_t n, const T* from = nullptr, bool compared = true) {
    Two<T> two = {queue.memory.take<T>(n), queue.memory.take<T>(n)};
    if (from && n) std::memcpy(two.cpu, from, n * sizeof(T)), std::memcpy(two.gpu, from, n * sizeof(T));
    if (compared) all_.push_back({two.cpu, two.gpu, n * sizeof(T)});
    return two;
  }
  template <class T>
  Two<T> take(const std::vector<T>& from, bool compared = true) {
    return take(from.size(), from.data(), compared);
  }
  // Rows of m by k for a format's x; kind LINNET_F32: none.
  Two<QuantRows> quant(Format kind, uint32_t group, uint32_t m, uint32_t k) {
    if (kind == LINNET_F32) return {nullptr, nullptr};
    const size_t stride = quant_stride(kind, k);
    const uint32_t groups = kind == LINNET_I8 ? static_cast<uint32_t>(div_up(k, group)) : 0;
    const auto q = take<uint8_t>(m * stride);
    const auto scale = take<float>(size_t{m} * groups);
    const auto sum = take<int32_t>(size_t{m} * groups);
    rows_.push_back(std::make_unique<QuantRows>(QuantRows{kind, q.cpu, scale.cpu, sum.cpu, stride, group, groups}));
    rows_.push_back(std::make_unique<QuantRows>(QuantRows{kind, q.gpu, scale.gpu, sum.gpu, stride, group, groups}));
    return {rows_[rows_.size() - 2].get(), rows_.back().get()};
  }
  bool same() const {
    if (queue.q.failed || not_finite != *queue.q.not_finite) return false;
    for (const Pair& p : all_)
      if (std::memcmp(p.cpu, p.gpu, p.bytes)) return false;
    return true;
  }

  test::EmulatedQueue queue;
  Worker cpu, gpu;
  uint32_t not_finite = 0;

 private:
  struct Pair {
    const void *cpu, *gpu;
    size_t bytes;
  };
  std::vector<Pair> all_;
  std::vector<std::unique_ptr<QuantRows>> rows_;
};

struct Kind {
  Format format;
  uint32_t group;
};
constexpr Kind kKinds[] = {{LINNET_F32, 0}, {LINNET_I8, 128}, {LINNET_I8, 64}, {LINNET_I8, 32}, {LINNET_BF16, 0}};
constexpr uint32_t kLengths[] = {1, 7, 32, 50, 128, 200, 576, 1024, 1500, 4096, 4500};

// Draws as the host does it.
Sampler host_sampler(const linnet_sampling& params, uint64_t n_draws, std::vector<uint64_t>* order, std::vector<float>* logits) {
  Sampler s{};
  s.params = params, s.n_draws = n_draws;
  s.exp_row = scalar().t.exp_row, s.find_above = scalar().t.find_above;
  s.order = order->data(), s.logits = logits->data();
  return s;
}

}  // namespace

TEST_CASE("CUDA norms give the bits of the CPU", "[cuda][rows]") {
  Random random(1);
  for (uint32_t c = 0; c < 90; ++c) {
    const uint32_t n = kLengths[c % 11], m = pick(random, 1, 3), which = pick(random, 0, 3);
    const Kind kind = kKinds[c % 5];
    const size_t stride = align_up(n, 16) + 16;
    Twins t(c);
    const auto x = t.take(normal(random, m * stride, 3), true), w = t.take(normal(random, n)), b = t.take(normal(random, n));
    const bool in_place = c & 1;
    const auto y = in_place ? x : t.take<float>(m * stride);
    const auto q = t.quant(kind.format, kind.group, m, n);
    const auto norm = [&](bool gpu) {
      return Norm{which == 0 ? nullptr
                  : gpu      ? w.gpu
                             : w.cpu,
                  which == 2 ? (gpu ? b.gpu : b.cpu) : nullptr, which >= 2 ? kNormLayer : kNormRms, 1e-5f};
    };
    cpu_ops.norm(t.cpu, x.cpu, stride, norm(false), m, n, y.cpu, q.cpu);
    cuda_norm(t.gpu, x.gpu, stride, norm(true), m, n, y.gpu, q.gpu);
    CAPTURE(c, n, m, which);
    CHECK(t.same());

    Twins s(c);
    const float scale = c % 3 == 0 ? 0.0f : c % 3 == 1 ? 1.0f : 0.37f;
    const auto to = s.take(normal(random, m * stride)), branch = s.take(normal(random, m * stride, 2), false);
    cpu_ops.add(s.cpu, to.cpu, branch.cpu, stride, norm(false), scale, m, n);
    cuda_add(s.gpu, to.gpu, branch.gpu, stride, norm(true), scale, m, n);
    CHECK(s.same());
  }
}

TEST_CASE("CUDA rows are quantised to the CPU's bytes", "[cuda][rows]") {
  Random random(2);
  for (uint32_t c = 0; c < 55; ++c) {
    const uint32_t k = kLengths[c % 11], m = pick(random, 1, 3), offset = pick(random, 0, 3);
    const Kind kind = kKinds[1 + c % 4];
    const size_t stride = k + 5;  // rows that are not aligned
    Twins t(c);
    std::vector<float> values = normal(random, m * stride + 4, 5);
    if (c % 3 == 0) std::fill_n(values.begin(), k / 2 + 4, 0.0f);
    if (c % 3 == 1) values[offset + pick(random, 0, k - 1)] = c & 1 ? INFINITY : -NAN;
    if (c % 7 == 0) values[offset + pick(random, 0, k - 1)] = 1e-42f;
    const auto x = t.take(values);
    const auto q = t.quant(kind.format, kind.group, m, k);
    cpu_ops.quantize(t.cpu, x.cpu + offset, stride, m, k, q.cpu);
    cuda_quantize(t.gpu, x.gpu + offset, stride, m, k, q.gpu);
    CAPTURE(c, k, m, offset);
    CHECK(t.same());
    if (kind.format == LINNET_I8) CHECK(t.not_finite == (c % 3 == 1));

    Twins f(c);
    const auto logits = f.take(values);
    cuda_check_finite(f.gpu, logits.gpu + offset, stride, m, k);
    CHECK(*f.queue.q.not_finite == (c % 3 == 1));
  }
}

TEST_CASE("CUDA scales, caps, clips and rotates as the CPU", "[cuda][rows]") {
  Random random(3);
  for (uint32_t c = 0; c < 66; ++c) {
    const uint32_t n = kLengths[c % 11], m = pick(random, 1, 3);
    const size_t stride = n + 3;
    Twins t(c);
    const auto x = t.take(normal(random, m * stride, 20)), factors = t.take(normal(random, m));
    const float by = c % 3 == 0 ? 0.0f : c % 3 == 1 ? 1.0f : 1.7f, cap = c & 1 ? 30.0f : 0.0f;
    cpu_ops.scale(t.cpu, x.cpu, stride, by, cap, m, n);
    cuda_scale(t.gpu, x.gpu, stride, by, cap, m, n);
    CAPTURE(c, n, m);
    CHECK(t.same());
    cpu_ops.clip(t.cpu, x.cpu, stride, 7, m, n);
    cuda_clip(t.gpu, x.gpu, stride, 7, m, n);
    CHECK(t.same());
    cpu_ops.scale_rows(t.cpu, x.cpu, stride, factors.cpu, m, n);
    cuda_scale_rows(t.gpu, x.gpu, stride, factors.gpu, m, n);
    CHECK(t.same());
  }
  constexpr uint32_t kDims[] = {16, 24, 64, 80, 128, 192};
  for (uint32_t c = 0; c < 96; ++c) {
    const uint32_t kind = c % 6, dim = kDims[c / 6 % 6], m = pick(random, 1, 3), n_heads = pick(random, 1, 5),
                   n_pairs = c % 5 == 0 ? 0 : pick(random, 1, dim / 2);
    const size_t stride = n_heads * dim + 7;
    Twins t(c);
    const auto x = t.take(normal(random, m * stride)), w = t.take(normal(random, n_heads * dim)), b = t.take(normal(random, dim)),
               cos = t.take(normal(random, m * n_pairs)), sin = t.take(normal(random, m * n_pairs));
    const uint32_t interleaved = c / 2 % 2;
    const bool weights = kind && c % 7;
    cpu_ops.rope(t.cpu, x.cpu, stride, m, n_heads, dim, {weights ? w.cpu : nullptr, b.cpu, kind, 1e-6f},
                 {cos.cpu, sin.cpu, n_pairs, interleaved, 1});
    cuda_rope(t.gpu, x.gpu, stride, m, n_heads, dim, {weights ? w.gpu : nullptr, b.gpu, kind, 1e-6f},
              {cos.gpu, sin.gpu, n_pairs, interleaved, 1});
    CAPTURE(c, kind, dim, n_heads, n_pairs, interleaved);
    CHECK(t.same());
  }
}

TEST_CASE("CUDA activations give the bits of the CPU", "[cuda][rows]") {
  Random random(4);
  for (uint32_t c = 0; c < 77; ++c) {
    const uint32_t act = c % 7, n = kLengths[pick(random, 0, 10)], m = pick(random, 1, 3);
    const Kind kind = kKinds[c % 5];
    const bool gated = act == kActSwigluClamped || c % 4, in_place = c & 1,
               whole = act != kActSwigluClamped && act != kActRelu2;  // these may write to gate and up
    const size_t stride = align_up(n, 16);
    Twins t(c);
    const auto gate = t.take(normal(random, m * stride, c % 9 == 0 ? 60.0f : 3.0f), whole || in_place),
               up = t.take(normal(random, m * stride, 4), whole);
    const auto y = in_place ? gate : t.take<float>(m * stride);
    const auto q = t.quant(kind.format, kind.group, m, n);
    cpu_ops.act_mul(t.cpu, act, 7, gate.cpu, gated ? up.cpu : nullptr, stride, m, n, y.cpu, q.cpu);
    cuda_act_mul(t.gpu, act, 7, gate.gpu, gated ? up.gpu : nullptr, stride, m, n, y.gpu, q.gpu);
    CAPTURE(c, act, n, m, gated, in_place);
    CHECK(t.same());
  }
}

TEST_CASE("CUDA's xIELU gives the bits of the CPU", "[cuda][rows]") {
  Random random(9);
  for (uint32_t c = 0; c < 55; ++c) {
    const uint32_t n = kLengths[c % 11], m = pick(random, 1, 3);
    const Kind kind = kKinds[c % 5];
    const size_t stride = align_up(n, 16);
    Twins t(c);
    const auto x = t.take(normal(random, m * stride, c % 9 == 0 ? 60.0f : c % 2 ? 2.0f : 1e-4f));
    std::vector<float> by = normal(random, 4);
    by[3] = c % 4 ? -1e-6f : -0.5f;
    const auto with = t.take(by);
    const auto q = t.quant(kind.format, kind.group, m, n);
    cpu_ops.xielu(t.cpu, x.cpu, stride, with.cpu, m, n, q.cpu);
    cuda_ops.xielu(t.gpu, x.gpu, stride, with.gpu, m, n, q.gpu);
    CAPTURE(c, n, m);
    CHECK(t.same());
  }
}

TEST_CASE("CUDA predicts, corrects and matches residual streams and makes gates sparse as the CPU", "[cuda][rows]") {
  Random random(10);
  for (uint32_t c = 0; c < 44; ++c) {
    const uint32_t n = kLengths[c % 11], m = pick(random, 1, 3);
    const size_t stride = align_up(n, 16), apart = (m + 2) * stride;
    Twins t(c);
    const auto streams = t.take(normal(random, kStreams * apart)),
               router = t.take(normal(random, m * kPanel, 3.0f * static_cast<float>(n))), x = t.take(normal(random, m * stride)),
               like = t.take(normal(random, m * stride, c % 4 ? 1.0f : 1e-9f)),
               gates = t.take(normal(random, m * stride, c % 3 ? 1.0f : 30.0f)), scale = t.take(normal(random, n)),
               coefs = t.take(normal(random, kStreams * kStreams * kStreams, 0.3f));
    const Streams cpu = {streams.cpu, apart, router.cpu}, gpu = {streams.gpu, apart, router.gpu};
    CAPTURE(c, n, m);
    cpu_ops.predict(t.cpu, cpu, coefs.cpu, m, n, stride, x.cpu);
    cuda_ops.predict(t.gpu, gpu, coefs.gpu, m, n, stride, x.gpu);
    CHECK(t.same());
    std::vector<float> changed = normal(random, m * stride);
    std::copy(changed.begin(), changed.end(), x.cpu);
    std::copy(changed.begin(), changed.end(), x.gpu);
    cpu_ops.correct(t.cpu, cpu, coefs.cpu, scale.cpu, m, n, stride, x.cpu);
    cuda_ops.correct(t.gpu, gpu, coefs.gpu, scale.gpu, m, n, stride, x.gpu);
    CHECK(t.same());
    const bool like_them = c & 1;
    cpu_ops.match(t.cpu, like_them ? like.cpu : x.cpu, like_them ? x.cpu : like.cpu, stride, m, n);
    cuda_ops.match(t.gpu, like_them ? like.gpu : x.gpu, like_them ? x.gpu : like.gpu, stride, m, n);
    CHECK(t.same());
    cpu_ops.sparsify(t.cpu, gates.cpu, stride, 1.645f, m, n);
    cuda_ops.sparsify(t.gpu, gates.gpu, stride, 1.645f, m, n);
    CHECK(t.same());
    if (n > 100) CHECK(std::count(gates.gpu, gates.gpu + n, 0.0f) > n / 2);
  }
}

TEST_CASE("CUDA chooses, sorts, gathers and adds up experts as the CPU", "[cuda][experts]") {
  Random random(5);
  struct Shape {
    uint32_t n_experts, n_active, n_groups, top_groups, group_best;
  };
  constexpr Shape kShapes[] = {{8, 2, 0, 0, 0},  {60, 4, 0, 0, 0},      {256, 8, 8, 4, 2}, {16, 1, 0, 0, 0},
                               {64, 6, 8, 3, 1}, {1024, 22, 64, 40, 3}, {3, 3, 0, 0, 0},   {128, 8, 0, 0, 0}};
  for (uint32_t c = 0; c < 40; ++c) {
    const bool mixer = c >= 32;
    const Shape s = mixer ? Shape{c == 39 ? 1024 : c - 30, 2, 0, 0, 0} : kShapes[c % 8];
    const uint32_t m = c % 4 == 0 ? 1 : pick(random, 1, 48), n_pairs = m * s.n_active, k = kLengths[pick(random, 0, 7)],
                   most = c % 3 ? 0 : pick(random, 1, 4);
    const size_t stride = align_up(s.n_experts, 16), d_stride = align_up(k, 16);
    Twins t(c);
    std::vector<float> scores = normal(random, m * stride);
    if (c & 1)
      for (float& v : scores) v = std::round(v * 2) / 2;  // ties
    const auto logits = t.take(scores, false);
    const auto correction = t.take(normal(random, s.n_experts, 0.1f));
    const auto factors = t.take(normal(random, s.n_experts));
    const bool corrected = (c & 2) && !mixer, weighed = c % 3 == 1;
    const auto router = [&](const float* by, const float* weigh) {
      return Router{s.n_experts,
                    s.n_active,
                    mixer ? 0 : c / 2 % 2,
                    mixer ? 0 : c / 4 % 2,
                    s.n_groups,
                    s.top_groups,
                    s.group_best,
                    1.5f,
                    corrected ? by : nullptr,
                    weighed && !mixer ? weigh : nullptr,
                    mixer,
                    c & 1 ? 0.5f : 0.02f};
    };
    const auto experts = t.take<uint32_t>(n_pairs), places = t.take<uint32_t>(n_pairs), from = t.take<uint32_t>(n_pairs),
               first = t.take<uint32_t>(s.n_experts + 2), active = t.take<uint32_t>(s.n_experts), n_active = t.take<uint32_t>(1);
    const auto weights = t.take<float>(n_pairs);
    const Pairs cpu = {experts.cpu, weights.cpu, places.cpu, from.cpu, first.cpu, active.cpu, n_active.cpu};
    const Pairs gpu = {experts.gpu, weights.gpu, places.gpu, from.gpu, first.gpu, active.gpu, n_active.gpu};

    // Two sequences, the second one first; each has a past.
    const uint32_t cut = m / 2;
    const RowSpan spans[2] = {{1, 0, cut, 3}, {0, cut, m - cut, 5}};
    std::vector<uint32_t> span_of(m);
    for (uint32_t i = 0; i < m; ++i) span_of[i] = i >= cut;
    const size_t chosen_stride = size_t{60} * s.n_active;
    std::vector<uint16_t> past(2 * chosen_stride);
    for (uint16_t& e : past) e = static_cast<uint16_t>(pick(random, 0, s.n_experts - 1));
    const auto chosen = t.take(past);
    static_assert(sizeof(CudaSpan) == sizeof(RowSpan));
    t.queue.q.pass.spans = reinterpret_cast<const CudaSpan*>(t.queue.memory.copy(spans, 2));
    t.queue.q.pass.row_span = t.queue.memory.copy(span_of.data(), m);
    const RowSpan* const host_spans = cut ? spans : spans + 1;
    cpu_ops.route(t.cpu, router(correction.cpu, factors.cpu), {most, host_spans, cut ? 2u : 1u, chosen.cpu, chosen_stride}, logits.cpu,
                  stride, m, cpu);
    cuda_route(t.gpu, router(correction.gpu, factors.gpu), {most, nullptr, cut ? 2u : 1u, chosen.gpu, chosen_stride}, logits.gpu, stride, m,
               gpu);
    std::fill_n(active.cpu + *n_active.cpu, s.n_experts - *n_active.cpu, 0u);  // says nothing
    std::fill_n(active.gpu + *n_active.cpu, s.n_experts - *n_active.cpu, 0u);
    CAPTURE(c, s.n_experts, s.n_active, m, most, k);
    REQUIRE(t.same());

    const Kind kind = kKinds[c % 5];
    const bool weigh = c & 1, rows = weigh || kind.format == LINNET_F32;
    const auto x = t.take(normal(random, m * d_stride, 2));
    const auto y = t.take<float>(n_pairs * d_stride);
    const auto q = t.quant(kind.format, kind.group, m, k), pair_q = t.quant(kind.format, kind.group, n_pairs, k);
    if (q.cpu) cpu_ops.quantize(t.cpu, x.cpu, d_stride, m, k, q.cpu), cpu_ops.quantize(t.cpu, x.gpu, d_stride, m, k, q.gpu);
    cpu_ops.gather(t.cpu, x.cpu, d_stride, q.cpu, n_pairs, k, s.n_active, cpu, weigh, rows ? y.cpu : nullptr, pair_q.cpu);
    cuda_gather(t.gpu, x.gpu, d_stride, q.gpu, n_pairs, k, s.n_active, gpu, weigh, rows ? y.gpu : nullptr, pair_q.gpu);
    CHECK(t.same());

    const auto out = t.take(normal(random, n_pairs * d_stride)), shared = t.take(normal(random, m * d_stride)),
               gate = t.take(normal(random, m * 16)), sum = t.take(normal(random, m * d_stride));
    const bool gated = c & 4, accumulate = c & 8;
    cpu_ops.combine(t.cpu, out.cpu, d_stride, m, k, s.n_active, cpu, !weigh, shared.cpu, gated ? gate.cpu : nullptr, 16, accumulate,
                    sum.cpu);
    cuda_combine(t.gpu, out.gpu, d_stride, m, k, s.n_active, gpu, !weigh, shared.gpu, gated ? gate.gpu : nullptr, 16, accumulate, sum.gpu);
    CHECK(t.same());
  }
}

namespace {

// The same slots twice, in memory of the host that held something else: the CPU's operation and the kernels go through the same calls.
class TwinSlots {
 public:
  static constexpr uint32_t kSequences = 3;
  TwinSlots(Twins& t, const SlotPlan& of, uint32_t n_rollback, uint32_t chunk) : slot_(of) {
    const CachePlan plan = {
        .n_layers = 2,
        .n_sequences = kSequences,
        .n_context = 4096,
        .n_pool = 4096,
        .n_chunk = chunk,
        .n_rollback = n_rollback,
        .when_full = LINNET_FULL_STOP,
        .n_keep = 0,
        .chunked = false,
        .backend = &cpu_backend,
        .of = &slot_,
        .layer = [](const void* slot, uint32_t i) { return state_layer(i ? *static_cast<const SlotPlan*>(slot) : SlotPlan{}); }};
    Arena counted;
    REQUIRE(cpu.layout_in(counted, counted, plan));
    const size_t bytes = counted.used();
    for (Cache* c : {&cpu, &gpu}) {
      Arena arena(t.queue.memory.take<uint8_t>(align_up(bytes, 64)), bytes);
      REQUIRE(c->layout_in(arena, arena, plan));
      c->reset(nullptr);
    }
  }
  // What a pass is told, as the host of a GPU does.
  void pass(test::EmulatedQueue& queue, const std::vector<RowSpan>& spans) {
    test::DeviceMemory& m = queue.memory;
    CudaPass& p = queue.q.pass;
    std::vector<CudaSlot> of;
    std::vector<float*> states;
    std::vector<uint32_t> rows;
    for (const RowSpan& s : spans) {
      of.push_back(cuda_slot(gpu.slots, s.seq));
      states.push_back(nullptr);
      states.push_back(gpu.slots.layers[1].of[s.seq]);
      rows.insert(rows.end(), s.n, static_cast<uint32_t>(&s - spans.data()));
    }
    p.spans = m.copy(reinterpret_cast<const CudaSpan*>(spans.data()), spans.size());
    p.row_span = m.copy(rows.data(), rows.size());
    p.slots = m.copy(of.data(), of.size());
    p.states = m.copy(states.data(), states.size());
    p.n_layers = 2;
  }
  // All states that are marks', and all rows since the first.
  bool same() const {
    struct Written : SavedTo {
      std::vector<uint8_t> bytes;
    };
    for (uint32_t seq = 0; seq < kSequences; ++seq) {
      std::vector<uint8_t> all[2];
      for (const Cache* c : {&cpu, &gpu}) {
        Written to{};
        to.put = [](SavedTo& s, const void* data, size_t n) {
          auto& bytes = static_cast<Written&>(s).bytes;
          bytes.insert(bytes.end(), static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + n);
        };
        c->slots.save(seq, 1, to);
        all[c == &gpu] = to.bytes;
      }
      if (all[0] != all[1]) return false;
    }
    return true;
  }
  Cache cpu{}, gpu{};
  uint32_t length[kSequences] = {};

 private:
  SlotPlan slot_;
};

struct Carried {
  size_t passes, two_runs, replays;
};

// A layer with such a state through calls in chunks, some cancelled, and rollbacks. pass(slots, spans, m): both operations, of m rows.
template <class Pass>
void carry_on(Random& r, Twins& t, const SlotPlan& plan, Carried* seen, Pass pass) {
  constexpr uint32_t kSequences = TwinSlots::kSequences;
  const uint32_t rollback = pick(r, 1, 9), chunk = pick(r, 1, 12);
  INFO("rollback " << rollback << ", chunk " << chunk);
  TwinSlots slots(t, plan, rollback, chunk);
  Cache* const both[] = {&slots.cpu, &slots.gpu};
  for (uint32_t step = 0; step < 10; ++step) {
    uint32_t more[kSequences];
    for (uint32_t seq = 0; seq < kSequences; ++seq) {
      more[seq] = pick(r, 0, 2) ? pick(r, 0, 20) : pick(r, 0, 1);
      for (Cache* c : both)
        if (more[seq]) c->begin(seq, slots.length[seq], slots.length[seq] + more[seq]);
    }
    for (uint32_t done = 0; done < 20; done += chunk) {
      std::vector<RowSpan> spans;
      uint32_t m = 0;
      for (uint32_t seq = 0; seq < kSequences; ++seq) {
        if (done >= more[seq]) continue;
        const uint32_t count = more[seq] - done < chunk ? more[seq] - done : chunk, position = slots.length[seq] + done;
        for (Cache* c : both) c->advance(seq, position, count);
        spans.push_back({seq, m, count, position});
        m += count;
      }
      if (spans.empty()) break;
      for (const RowSpan& s : spans) {
        const SlotView v = slots.cpu.slots.view(s.seq, 1);
        seen->two_runs += v.n_runs == 2;
        seen->replays += v.runs[0].first < v.position;
      }
      ++seen->passes;
      slots.pass(t.queue, spans);
      pass(slots, spans, m);
      REQUIRE(t.same());
    }
    for (uint32_t seq = 0; seq < kSequences; ++seq) {
      if (!more[seq]) continue;
      const bool cancel = pick(r, 0, 4) == 0;
      for (Cache* c : both) {
        if (cancel)
          c->cancel(seq);
        else
          c->commit(seq, slots.length[seq], slots.length[seq] + more[seq]);
      }
      if (!cancel) slots.length[seq] += more[seq];
      uint32_t keep = slots.length[seq];
      for (uint32_t back = pick(r, 0, 1) ? pick(r, 0, 2 * rollback) : 0; back && keep > 1 && slots.cpu.can_truncate(seq, keep - 1); --back)
        --keep;
      for (Cache* c : both) c->truncate(seq, keep);
      slots.length[seq] = keep;
    }
    REQUIRE(slots.same());
  }
}

}  // namespace

TEST_CASE("CUDA carries the states of short convolutions on as the CPU, through calls, chunks, cancels and rollbacks", "[cuda][states]") {
  Random r(19);
  Carried seen{};
  for (uint32_t round = 0; round < (kSlow ? 8 : 40); ++round) {
    Twins t(300 + round);
    const uint32_t taps = round == 0 ? kMostTaps : pick(r, 2, 5), n = pick(r, 1, 600);
    INFO("round " << round << ": " << taps << " taps, " << n << " channels");
    const auto weight = t.take(normal(r, size_t{n} * taps), false);
    carry_on(r, t, {(taps - 1) * n, n}, &seen, [&](TwinSlots& s, const std::vector<RowSpan>& spans, uint32_t m) {
      const size_t x_stride = 3 * size_t{n} + 5, y_stride = n + 3;
      const auto x = t.take(normal(r, m * x_stride));
      const auto y = t.take<float>(m * y_stride);
      const uint32_t n_spans = static_cast<uint32_t>(spans.size());
      cpu_ops.short_conv(t.cpu, {&s.cpu.slots, 1, spans.data(), n_spans, x.cpu, x_stride, n, weight.cpu, taps, y.cpu, y_stride});
      cuda_ops.short_conv(t.gpu, {&s.gpu.slots, 1, spans.data(), n_spans, x.gpu, x_stride, n, weight.gpu, taps, y.gpu, y_stride});
    });
  }
  std::printf("%zu passes, %zu with two runs, %zu that went through kept rows again\n", seen.passes, seen.two_runs, seen.replays);
  CHECK((seen.two_runs > 10 && seen.replays > 10));
}

TEST_CASE("CUDA carries the states of gated delta nets on as the CPU, through calls, chunks, cancels and rollbacks", "[cuda][states]") {
  Random r(23);
  Carried seen{};
  for (uint32_t round = 0; round < (kSlow ? 4 : 16); ++round) {
    Twins t(400 + round);
    const bool by_key = round % 3 == 2;
    const uint32_t key_heads = pick(r, 1, 2), values = by_key ? 1 : pick(r, 1, 3), key_dim = round == 0 ? kMostDeltaDim : pick(r, 1, 70),
                   value_dim = round == 1 ? kMostDeltaDim : pick(r, 1, 70), taps = pick(r, 2, 4), heads = key_heads * values,
                   n = 2 * key_heads * key_dim + heads * value_dim, n_fades = heads * (by_key ? key_dim : 1);
    INFO("round " << round << ": " << key_heads << " key heads of " << key_dim << ", " << heads << " value heads of " << value_dim);
    const auto conv = t.take(normal(r, size_t{n} * taps), false);
    std::vector<float> rates = normal(r, heads);
    for (float& a : rates) a = -std::fabs(a);
    const auto a = t.take(rates, false), norm = t.take(normal(r, value_dim), false);
    const SlotPlan plan = {heads * delta_state_floats(key_dim, value_dim) + (taps - 1) * n, n + heads + n_fades};
    carry_on(r, t, plan, &seen, [&](TwinSlots& s, const std::vector<RowSpan>& spans, uint32_t m) {
      const size_t x_stride = n + 3, beta_stride = heads + 1, alpha_stride = n_fades + 2, y_stride = size_t{heads} * value_dim + 5;
      const auto x = t.take(normal(r, m * x_stride)), beta = t.take(normal(r, m * beta_stride, 2)),
                 alpha = t.take(normal(r, m * alpha_stride, 4)), y = t.take(normal(r, m * y_stride));
      const auto args = [&](const Cache& c, auto of) {
        DeltaNetArgs d{};
        d.slots = &c.slots, d.layer = 1, d.spans = spans.data(), d.n_spans = static_cast<uint32_t>(spans.size());
        d.key_heads = key_heads, d.value_heads = heads, d.key_dim = key_dim, d.value_dim = value_dim, d.taps = taps;
        d.tiled = round % 2, d.by_key = by_key, d.beta_scale = round % 4 ? 1.0f : 2.0f, d.eps = 1e-6f;
        d.conv = of(conv), d.a = of(a), d.norm = of(norm), d.x = of(x), d.beta = of(beta), d.alpha = of(alpha), d.y = of(y);
        d.x_stride = x_stride, d.beta_stride = beta_stride, d.alpha_stride = alpha_stride, d.y_stride = y_stride;
        return d;
      };
      cpu_ops.delta_net(t.cpu, args(s.cpu, [](const Two<float>& two) { return two.cpu; }));
      cuda_ops.delta_net(t.gpu, args(s.gpu, [](const Two<float>& two) { return two.gpu; }));
    });
  }
  std::printf("%zu passes, %zu with two runs, %zu that went through kept rows again\n", seen.passes, seen.two_runs, seen.replays);
  CHECK((seen.two_runs > 10 && seen.replays > 10));
}

TEST_CASE("CUDA carries the states of Mamba-2 on as the CPU, through calls, chunks, cancels and rollbacks", "[cuda][states]") {
  Random r(29);
  Carried seen{};
  for (uint32_t round = 0; round < (kSlow ? 6 : 24); ++round) {
    Twins t(500 + round);
    t.queue.q.n_sms = round % 2 ? 1 : 8;  // how many heads a block has
    const uint32_t groups = pick(r, 1, 3), of_group = pick(r, 1, 9), heads = groups * of_group,
                   head_dim = round == 0 ? kMostDeltaDim : pick(r, 1, 70), state_dim = round == 1 ? kMostDeltaDim : pick(r, 1, 70),
                   taps = pick(r, 2, 4), inner = heads * head_dim, n = inner + 2 * groups * state_dim;
    INFO("round " << round << ": " << heads << " heads of " << head_dim << " in " << groups << " groups of " << state_dim);
    const auto conv = t.take(normal(r, size_t{n} * taps), false), bias = t.take(normal(r, n), false),
               skip = t.take(normal(r, heads), false);
    std::vector<float> rates = normal(r, heads);
    for (float& a : rates) a = -std::fabs(a);
    const auto a = t.take(rates, false);
    const SlotPlan plan = {
        heads * delta_state_floats(state_dim, head_dim) + (taps - 1) * (inner + groups * mamba_pieces(of_group) * 2 * state_dim),
        n + heads};
    carry_on(r, t, plan, &seen, [&](TwinSlots& s, const std::vector<RowSpan>& spans, uint32_t m) {
      const size_t x_stride = n + 3, dt_stride = heads + 1, y_stride = size_t{inner} + 5;
      const auto x = t.take(normal(r, m * x_stride)), dt = t.take(normal(r, m * dt_stride, 3)), y = t.take(normal(r, m * y_stride));
      const auto args = [&](const Cache& c, auto of) {
        MambaArgs d{};
        d.slots = &c.slots, d.layer = 1, d.spans = spans.data(), d.n_spans = static_cast<uint32_t>(spans.size());
        d.heads = heads, d.groups = groups, d.head_dim = head_dim, d.state_dim = state_dim, d.taps = taps;
        d.dt_min = round % 3 ? 0.0f : 0.25f, d.dt_max = round % 3 ? 0.0f : 2.0f;
        d.conv = of(conv), d.conv_bias = round % 4 ? of(bias) : nullptr, d.a = of(a), d.skip = of(skip), d.x = of(x), d.dt = of(dt);
        d.y = of(y), d.x_stride = x_stride, d.dt_stride = dt_stride, d.y_stride = y_stride;
        return d;
      };
      cpu_ops.mamba(t.cpu, args(s.cpu, [](const Two<float>& two) { return two.cpu; }));
      cuda_ops.mamba(t.gpu, args(s.gpu, [](const Two<float>& two) { return two.gpu; }));
    });
  }
  std::printf("%zu passes, %zu with two runs, %zu that went through kept rows again\n", seen.passes, seen.two_runs, seen.replays);
  CHECK((seen.two_runs > 10 && seen.replays > 10));
}

TEST_CASE("CUDA gates and norms what comes out of Mamba-2 as the CPU", "[cuda][rows]") {
  Random random(8);
  for (uint32_t c = 0; c < 66; ++c) {
    const uint32_t of_group = kLengths[c % 11], groups = pick(random, 1, 3), n = groups * of_group, m = pick(random, 1, 3);
    const size_t stride = n + 3, gate_stride = n + pick(random, 0, 4);
    Twins t(c);
    const auto y = t.take(normal(random, m * stride, 3)), gate = t.take(normal(random, m * gate_stride, 4)), w = t.take(normal(random, n));
    const bool first = c & 1, weights = c % 5;
    cpu_ops.gated_norm(t.cpu, {gate.cpu, gate_stride, y.cpu, stride, weights ? w.cpu : nullptr, 1e-5f, groups, first, m, n});
    cuda_ops.gated_norm(t.gpu, {gate.gpu, gate_stride, y.gpu, stride, weights ? w.gpu : nullptr, 1e-5f, groups, first, m, n});
    CAPTURE(c, of_group, groups, m, first, weights);
    CHECK(t.same());
  }
}

TEST_CASE("CUDA draws the tokens that the CPU draws", "[cuda][sample]") {
  Random random(6);
  constexpr uint32_t kVocabs[] = {5, 300, 1024, 4096, 4097, 9000, 12500};
  for (uint32_t c = 0; c < 84; c += kSlow ? 5 : 1) {
    const uint32_t n_vocab = kVocabs[c % 7], n_rows = c % 4 == 3 ? 2 : 1;
    const size_t stride = align_up(n_vocab, 16);
    test::EmulatedQueue queue(cuda_sample_scratch(n_rows, n_vocab));
    emulated_seed(c);
    std::vector<float> values = normal(random, n_rows * stride, c & 1 ? 1.0f : 4.0f);
    if (c % 5 == 0)
      for (float& v : values) v = std::round(v);  // many ties, -0 too
    if (c % 5 == 1)
      for (float& v : values) v = c & 1 ? 2.0f : -0.0f;  // nothing but ties
    linnet_sampling in;
    sampling_default(&in);
    in.temperature = c % 6 == 0 ? 0.0f : 0.3f + static_cast<float>(c % 4) * 0.5f;
    in.top_k = c % 3 == 0 ? 0 : c % 11 == 0 ? 1024 : c % 13 == 0 ? 2500 : pick(random, 1, 60);
    if (c % 9 == 3) in.temperature = 4;                  // most of the probability lies beyond the candidates that are sorted at once
    in.top_p = c % 5 == 1 ? 0.5f : c % 2 ? 0.8f : 1.0f;  // half of equal ones exactly
    if (c % 17 == 2) in.top_p = 0;                       // the likeliest alone
    in.min_p = c % 3 ? 0.05f : 0.0f;
    in.seed = random();
    if (c % 4 == 1)
      in.repeat_penalty = 1.3f, in.presence_penalty = 0.4f, in.frequency_penalty = 0.2f, in.penalty_last_n = c % 8 == 1 ? 1024 : 20;
    linnet_sampling checked;
    linnet_error err{};
    REQUIRE(sampling_check(&in, &checked, &err) == LINNET_OK);
    REQUIRE(cuda_can_sample(checked));

    const uint32_t n_history = pick(random, 0, 70), room = 200;
    std::vector<int32_t> history(size_t{2} * room);
    for (int32_t& id : history) id = static_cast<int32_t>(pick(random, 0, n_vocab < 40 ? n_vocab - 1 : 39));
    std::vector<CudaSampler> samplers(2);
    std::vector<Sampler> hosts(2);
    std::vector<uint64_t> order(n_vocab);
    std::vector<float> copy(n_vocab);
    for (uint32_t i = 0; i < 2; ++i) {
      samplers[i] = {checked.temperature,
                     checked.top_p,
                     checked.min_p,
                     checked.repeat_penalty,
                     checked.presence_penalty,
                     checked.frequency_penalty,
                     checked.top_k,
                     checked.penalty_last_n,
                     checked.seed + i,
                     3,
                     n_history,
                     0};
      hosts[i] = host_sampler(checked, 3, &order, &copy);
      hosts[i].params.seed += i;
    }
    const CudaSpan spans[2] = {{1, 0, 1, 0}, {0, 1, 1, 0}};
    CudaSampleArgs a{};
    a.logits = queue.memory.copy(values.data(), values.size());
    a.stride = stride;
    a.n_rows = n_rows;
    a.n_vocab = n_vocab;
    a.append = 1;
    a.spans = n_rows > 1 ? queue.memory.copy(spans, 2) : nullptr;
    a.samplers = queue.memory.copy(samplers.data(), 2);
    a.history = queue.memory.copy(history.data(), history.size());
    a.history_stride = room;
    a.tokens = queue.memory.take<int32_t>(2);
    a.results = queue.memory.take<CudaSampleResult>(2);
    std::vector<uint32_t> length(2, n_history);
    for (uint32_t draw = 0; draw < 3; ++draw) {
      cuda_sample(queue.q, a);
      REQUIRE(queue.q.failed == 0);
      for (uint32_t row = 0; row < n_rows; ++row) {
        const uint32_t seq = a.spans ? spans[row].seq : row;
        int32_t* past = history.data() + seq * room;
        const int32_t token = sample(hosts[seq], values.data() + row * stride, n_vocab, past, length[seq]);
        past[length[seq]++] = token;
        CAPTURE(c, n_vocab, checked.top_k, checked.temperature, draw, row);
        CHECK(a.tokens[row] == token);
        CHECK(a.results[row].token == token);
        CHECK(a.results[row].not_finite == 0);
        CHECK(a.samplers[seq].n_draws == hosts[seq].n_draws);
        CHECK(a.samplers[seq].n_history == length[seq]);
      }
    }
    CHECK(std::memcmp(a.history, history.data(), history.size() * sizeof(int32_t)) == 0);

    values[pick(random, 0, n_vocab - 1)] = c & 1 ? NAN : -INFINITY;
    std::memcpy(const_cast<float*>(a.logits), values.data(), values.size() * sizeof(float));
    const std::vector<uint64_t> before = {a.samplers[0].n_draws, a.samplers[1].n_draws};
    cuda_sample(queue.q, a);
    REQUIRE(queue.q.failed == 0);
    CHECK(a.results[0].not_finite == 1);
    CHECK(a.tokens[0] == 0);
    CHECK((a.samplers[0].n_draws == before[0] && a.samplers[1].n_draws == before[1]));
  }
}

TEST_CASE("CUDA cuts a whole vocabulary where the CPU cuts it", "[cuda][sample]") {
  struct Cut {
    float spread, top_p, min_p;
    uint32_t draws;
  };
  constexpr Cut kCuts[] = {{0.1f, 0.9f, 0, 60}, {0.1f, 0.97f, 0.1f, 60}, {0.1f, 1, 0.3f, 60}, {0.1f, 1, 0, 30},
                           {0.5f, 1, 0.08f, 6}, {0.5f, 0.9f, 0.08f, 6},  {0.5f, 0.9f, 0, 6},  {0.5f, 1, 0, 6}};
  constexpr uint32_t kVocab = 5000;
  Random random(7);
  for (const Cut& cut : kCuts) {
    test::EmulatedQueue queue(cuda_sample_scratch(1, kVocab));
    std::vector<float> values = normal(random, kVocab, cut.spread);
    if (cut.spread < 0.2f)  // a few that count
      for (uint32_t i = 0; i < 6; ++i) values[pick(random, 0, kVocab - 1)] = 11.5f - static_cast<float>(i) * 0.4f;
    linnet_sampling in, p;
    linnet_error err{};
    sampling_default(&in);
    in.temperature = 0.9f;
    in.top_p = cut.top_p;
    in.min_p = cut.min_p;
    in.seed = random();
    REQUIRE(sampling_check(&in, &p, &err) == LINNET_OK);
    std::vector<uint64_t> order(kVocab);
    std::vector<float> copy(kVocab);
    Sampler host = host_sampler(p, 0, &order, &copy);
    const CudaSampler sampler = {p.temperature,
                                 p.top_p,
                                 p.min_p,
                                 p.repeat_penalty,
                                 p.presence_penalty,
                                 p.frequency_penalty,
                                 p.top_k,
                                 p.penalty_last_n,
                                 p.seed,
                                 0,
                                 0,
                                 0};
    CudaSampleArgs a{};
    a.logits = queue.memory.copy(values.data(), values.size());
    a.stride = a.n_vocab = kVocab;
    a.n_rows = 1;
    a.samplers = queue.memory.copy(&sampler, 1);
    a.tokens = queue.memory.take<int32_t>(1);
    a.results = queue.memory.take<CudaSampleResult>(1);
    for (uint32_t draw = 0; draw < cut.draws; ++draw) {
      cuda_sample(queue.q, a);
      REQUIRE(queue.q.failed == 0);
      CAPTURE(cut.spread, cut.top_p, cut.min_p, draw);
      CHECK(a.tokens[0] == sample(host, values.data(), kVocab, nullptr, 0));
    }
  }
}
