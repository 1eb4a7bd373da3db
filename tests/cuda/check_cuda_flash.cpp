// KV append and attention on CUDA against the CPU's over scalar's kernels: the same bytes in the pages, the same bits in the outputs.
#include <random>

#include "cuda_test.h"
#include "kernels_cpu/attention.h"
#include "kernels_cpu/registry.h"
#include "runtime/backend.h"
#include "runtime/cache/kv_cache.h"
#include "tests/catch2.h"
#include "tests/data.h"

using namespace linnet;

namespace {

constexpr float kScale = 0.3f;
constexpr uint32_t kLayers = 3;

struct Choice {
  const char* what;
  uint32_t n_heads, n_kv_heads, head_dim, latent;
  Format k, v;
  uint32_t window = 0;  // of layer 1; 0 and 2 see all
  bool chunked = false;
  uint32_t context = 600, keep = 0;  // keep: of LINNET_FULL_DROP_OLDEST
  float cap = 0;
  bool sinks = false, slopes = false;
};

CacheLayer layer_of(const void* of, uint32_t i) {
  const Choice& c = *static_cast<const Choice*>(of);
  return {c.k, c.v, c.n_heads, c.n_kv_heads, c.head_dim, c.latent, i == 1 ? c.window : 0};
}

// A cache whose page tables are the host's, with its pools in memory that ends where nobody may go on.
struct Cache {
  KvCache kv{};
  std::unique_ptr<uint8_t[]> memory;
  test::DeviceMemory pools;
  Cache(const Choice& c, uint32_t n_sequences, uint32_t n_chunk) {
    const CachePlan plan = {kLayers,
                            n_sequences,
                            c.context,
                            c.context * n_sequences,
                            n_chunk,
                            0,
                            c.keep ? LINNET_FULL_DROP_OLDEST : LINNET_FULL_STOP,
                            c.keep,
                            c.chunked,
                            &cpu_backend,
                            &c,
                            layer_of};
    Arena counted;
    REQUIRE(kv.layout_in(counted, counted, plan));
    memory = std::make_unique<uint8_t[]>(counted.used() + 64);
    Arena arena(memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64), counted.used());
    REQUIRE(kv.layout_in(arena, arena, plan));
    kv.reset();
    for (uint32_t i = 0; i < kv.n_classes; ++i) {
      auto* all = pools.take<uint8_t>(bytes(i), 0);
      for (uint32_t l = 0; l < kv.classes[i].n_layers; ++l) kv.classes[i].pools[l] = all + bytes(i) / kv.classes[i].n_layers * l;
    }
  }
  size_t bytes(uint32_t i) const { return size_t{kv.classes[i].n_layers} * kv.classes[i].n_pages * kv.classes[i].layout.page_bytes; }
};

struct Call {
  uint32_t n[4];  // rows of each sequence
};

struct Both {
  Choice c;
  uint32_t n_sequences, n_chunk, lengths[4] = {};
  Cache cpu, cuda;
  test::EmulatedQueue queue;
  Kernels kernels{};
  std::mt19937 random{7};
  uint32_t cpu_not_finite = 0;
  float bad = 0;  // put into keys and values where not 0

  Both(const Choice& choice, uint32_t sequences, uint32_t chunk, uint32_t n_sms = 8)
      : c(choice),
        n_sequences(sequences),
        n_chunk(chunk),
        cpu(c, sequences, chunk),
        cuda(c, sequences, chunk),
        queue(cuda_attention_scratch(cuda.kv, chunk, n_sms), n_sms, 87, chunk) {
    linnet_error err{};
    REQUIRE(kernels_resolve(LINNET_ISA_SCALAR, 0, &kernels, &err) == LINNET_OK);
  }

  std::vector<float> rows(uint32_t n, uint32_t width) {
    std::normal_distribution<float> normal;
    std::vector<float> x(size_t{n} * width);
    for (size_t i = 0; i < x.size(); ++i) x[i] = normal(random) * (i % 37 == 5 ? 8.0f : 1.0f) * (i / width % 23 == 3 ? 1e-33f : 1.0f);
    return x;
  }

  // Appends to layer `layer` and, where `look`, attends; the last `tail` rows alone where that is not 0.
  void call(uint32_t layer, const Call& of, bool look, uint32_t tail = 0) {
    std::vector<RowSpan> spans;
    std::vector<uint32_t> row_span;
    uint32_t m = 0;
    for (uint32_t s = n_sequences; s-- > 0;) {  // not in the order of sequences
      if (of.n[s] == 0) continue;
      spans.push_back({s, m, of.n[s], lengths[s]});
      row_span.insert(row_span.end(), of.n[s], static_cast<uint32_t>(spans.size() - 1));
      m += of.n[s];
      for (Cache* x : {&cpu, &cuda}) {
        x->kv.begin(s, lengths[s], lengths[s] + of.n[s]);
        x->kv.advance(s, lengths[s], of.n[s]);
      }
    }
    REQUIRE(m <= n_chunk);

    test::DeviceMemory d;
    CudaPass& pass = queue.q.pass;
    pass = {};
    uint32_t stride = 0;
    for (uint32_t i = 0; i < cuda.kv.n_classes; ++i) {
      pass.table_at[i] = stride;
      stride += cuda.kv.classes[i].n_slots;
    }
    pass.table_stride = stride;
    uint32_t* const tables = d.take<uint32_t>(stride * spans.size());
    for (size_t s = 0; s < spans.size(); ++s)
      for (uint32_t i = 0; i < cuda.kv.n_classes; ++i)
        std::memcpy(tables + s * stride + pass.table_at[i], cuda.kv.table(spans[s].seq, i).slot,
                    cuda.kv.classes[i].n_slots * sizeof(uint32_t));
    pass.tables = tables;
    pass.row_span = d.copy(row_span.data(), row_span.size());
    pass.spans = reinterpret_cast<const CudaSpan*>(d.copy(spans.data(), spans.size()));

    const uint32_t n_kv = c.n_kv_heads * c.head_dim, n_q = c.n_heads * c.head_dim;
    std::vector<float> k = rows(m, n_kv), v = rows(m, n_kv);
    if (bad != 0) k[5 % n_kv + n_kv * (m / 2)] = v[n_kv * (m - 1)] = bad;
    const Worker host = cpu_worker(), device = queue.worker();
    // The device's spans say nothing that the host's do for it: other positions, no sequence.
    std::vector<RowSpan> blind = spans;
    for (RowSpan& s : blind) s.seq = s.position = 0x7FFFFFFF;
    cpu_kv_append(host, cpu.kv, layer, k.data(), v.data(), n_kv, spans.data(), static_cast<uint32_t>(spans.size()), {});
    cuda_kv_append(device, cuda.kv, layer, d.copy(k.data(), k.size()), d.copy(v.data(), v.size()), n_kv, blind.data(),
                   static_cast<uint32_t>(blind.size()), {});
    REQUIRE(queue.q.failed == 0);
    if (bad == 0 || look)
      for (uint32_t i = 0; i < cpu.kv.n_classes; ++i)
        REQUIRE(std::memcmp(cpu.kv.classes[i].pools[0], cuda.kv.classes[i].pools[0], cpu.bytes(i)) == 0);

    if (look) {
      uint32_t n = m;
      if (tail) {
        REQUIRE(spans.size() == 1);
        n = tail;
        spans[0] = {spans[0].seq, 0, tail, spans[0].position + m - tail};
        blind[0].n = tail;
      }
      std::vector<float> q = rows(n, n_q), sinks = rows(1, c.n_heads), slopes(c.n_heads);
      for (uint32_t h = 0; h < c.n_heads; ++h) slopes[h] = 0.5f / static_cast<float>(h + 1);
      AttentionArgs a{};
      a.kv = &cpu.kv;
      a.layer = layer;
      a.spans = spans.data();
      a.n_spans = static_cast<uint32_t>(spans.size());
      a.q_stride = a.out_stride = n_q;
      a.n_heads = c.n_heads;
      a.scale = kScale;
      a.cap = c.cap;
      AttentionArgs b = a;
      b.kv = &cuda.kv;
      b.spans = blind.data();
      b.q = b.out = d.copy(q.data(), q.size());  // in place
      a.q = a.out = q.data();
      if (c.sinks) {
        a.sinks = sinks.data();
        b.sinks = d.copy(sinks.data(), sinks.size());
      }
      if (c.slopes) {
        a.slopes = slopes.data();
        b.slopes = d.copy(slopes.data(), slopes.size());
      }
      cpu_attention(host, a);
      cuda_attention(device, b);
      REQUIRE(queue.q.failed == 0);
      size_t differ = 0;
      for (size_t i = 0; i < q.size(); ++i) differ += std::memcmp(q.data() + i, b.out + i, 4) != 0;
      CHECK(differ == 0);
    }
    for (const RowSpan& s : spans)
      for (Cache* x : {&cpu, &cuda}) x->kv.commit(s.seq, lengths[s.seq], lengths[s.seq] + of.n[s.seq]);
    for (uint32_t s = 0; s < n_sequences; ++s) lengths[s] += of.n[s];
  }

  std::vector<uint8_t> scratch, shared;
  Worker cpu_worker() {
    const size_t bytes = attention_scratch_bytes(cpu.kv, 1) + 64;
    scratch.resize(bytes);
    shared.assign(cpu_shared_bytes(cpu.kv, 1) + 64, 0);
    const auto up = [](std::vector<uint8_t>& x) { return x.data() + (64 - reinterpret_cast<uintptr_t>(x.data()) % 64) % 64; };
    Worker w;
    w.kernels = &kernels;
    w.scratch = up(scratch);
    w.shared = up(shared);
    w.not_finite = &cpu_not_finite;
    return w;
  }
};

// A prompt in calls, of which the last ones are looked at; then single rows.
void run(const Choice& c, uint32_t length, uint32_t n_sms = 8) {
  INFO(c.what << ", " << c.n_heads << " heads of " << c.n_kv_heads << ", " << c.head_dim << " channels, " << format_name(c.k) << " and "
              << format_name(c.v));
  Both both(c, 1, 64, n_sms);
  const uint32_t layer = c.window ? 1 : 2;
  for (uint32_t at = 0; at + 45 < length; at += 45) both.call(layer, {{45}}, false);
  both.call(layer, {{19}}, true);
  both.call(layer, {{1}}, true);
  CHECK(both.cpu_not_finite == 0);
  CHECK(*both.queue.q.not_finite == 0);
}

}  // namespace

TEST_CASE("cuda attention: i8 pages, to the bit") {
  for (const Choice& c : {Choice{"llama", 8, 2, 64, 0, LINNET_I8, LINNET_I8}, Choice{"one each", 3, 3, 128, 0, LINNET_I8, LINNET_I8},
                          Choice{"odd", 10, 2, 80, 0, LINNET_I8, LINNET_I8}, Choice{"odder", 7, 1, 36, 0, LINNET_I8, LINNET_I8},
                          Choice{"small", 4, 2, 16, 0, LINNET_I8, LINNET_I8}, Choice{"smaller", 2, 1, 10, 0, LINNET_I8, LINNET_I8},
                          Choice{"wide", 4, 2, 256, 0, LINNET_I8, LINNET_I8}, Choice{"many heads", 21, 1, 48, 0, LINNET_I8, LINNET_I8}})
    run(c, 330);
}

TEST_CASE("cuda attention: FP8 and float pages, apart for keys and values") {
  const Format all[] = {LINNET_F8E4M3, LINNET_F8E5M2, LINNET_F32, LINNET_F16, LINNET_BF16};
  for (const Format f : all)
    for (const uint32_t dim : {64u, 20u}) run({"pages", 6, 2, dim, 0, f, f}, 290);
  run({"mixed", 6, 2, 32, 0, LINNET_I8, LINNET_F8E4M3}, 290);
  run({"mixed", 6, 2, 40, 0, LINNET_F8E4M3, LINNET_F8E5M2}, 290);
  run({"mixed", 6, 2, 16, 0, LINNET_F16, LINNET_I8}, 290);
  run({"mixed", 6, 2, 144, 0, LINNET_I8, LINNET_BF16}, 290);
}

TEST_CASE("cuda attention: latents") {
  for (const Format f : {LINNET_I8, LINNET_F8E4M3, LINNET_F8E5M2, LINNET_F16, LINNET_F32}) {
    if (!kSlow || f == LINNET_I8 || f == LINNET_F8E4M3) run({"latent", 16, 1, 192 + 32, 32, f, f}, 290);
    run({"latent", 5, 1, 64, 32, f, f}, 20);
  }
  if (!kSlow) run({"DeepSeek's", 16, 1, 576, 64, LINNET_I8, LINNET_I8}, 290);
}

TEST_CASE("cuda attention: windows, kept tokens, soft cap, ALiBi, learned sinks") {
  Choice c = {"window", 6, 2, 32, 0, LINNET_I8, LINNET_I8};
  for (const Format f : {LINNET_I8, LINNET_BF16}) {
    c.k = c.v = f;
    c.window = 300;
    run(c, 560);
    c.window = 33;
    run(c, 560);
    c.chunked = true;
    c.window = 288;
    run(c, 580);
    c.window = 0;
    c.chunked = false;
    c.cap = 3;
    run(c, 270);
    c.sinks = true;
    run(c, 270);
    c.cap = 0;
    run(c, 530);
    c.slopes = true;
    run(c, 530);
    c.sinks = c.slopes = false;
    c.context = 320;
    c.keep = 20;
    c.what = "kept tokens";
    run(c, 590);
    run(c, 320);  // windows that begin among them
    c.window = 40;
    run(c, 400);
    c.window = 0;
    c.keep = 280;
    c.context = 400;
    c.sinks = true;
    run(c, 690);
    run(c, 300);
    c = {"window", 6, 2, 32, 0, f, f};
  }
}

TEST_CASE("cuda attention: sequences in one batch, however they are cut") {
  for (const Format f : {LINNET_I8, LINNET_F8E4M3, LINNET_F32})
    for (const uint32_t n_sms : {1u, 8u, 64u})
      for (const uint64_t seed : {1u, 2u}) {
        emulated_seed(seed);
        INFO("format " << format_name(f) << ", " << n_sms << " multiprocessors, seed " << seed);
        Both both({"batch", 4, 2, 32, 0, f, f, 100}, 3, 64, n_sms);
        both.call(1, {{40, 3, 20}}, true);
        for (int i = 0; i < 6; ++i) both.call(1, {{50, 0, 4}}, false);
        both.call(1, {{1, 1, 1}}, true);      // decode
        both.call(1, {{4, 1, 0}}, true);      // a draft is looked through
        both.call(1, {{33, 1, 2}}, true);     // a prompt comes beside it
        both.call(1, {{30, 0, 0}}, true, 7);  // the last layer: only the last rows
        both.call(0, {{1, 1, 1}}, true);      // a layer that sees all, most of which it was never given
      }
  emulated_seed(0);
}

TEST_CASE("cuda attention: what is no number is told, and stored as the CPU does") {
  for (const Format f : {LINNET_I8, LINNET_F8E4M3, LINNET_F16, LINNET_F32}) {
    Both both({"bad", 4, 2, 48, 0, f, f}, 1, 64);
    both.call(0, {{20}}, false);
    CHECK(*both.queue.q.not_finite == 0);
    both.bad = f == LINNET_F16 ? 70000.0f : std::numeric_limits<float>::infinity();
    both.call(0, {{3}}, true);
    CHECK(both.cpu_not_finite == 1);
    CHECK(*both.queue.q.not_finite == 1);
    both.bad = std::numeric_limits<float>::quiet_NaN();
    both.call(0, {{3}}, true);
  }
  Both both({"large", 4, 2, 48, 0, LINNET_I8, LINNET_I8}, 1, 64);  // beyond what a scale in f16 can say
  both.bad = 1e7f;
  both.call(0, {{20}}, true);
  CHECK(both.cpu_not_finite == 0);
  CHECK(*both.queue.q.not_finite == 0);
}
