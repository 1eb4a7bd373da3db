// Attention alone, against sums in doubles over what was appended: windows, soft cap and learned sinks in every combination.
#include <random>

#include "kernels_cpu/attention.h"
#include "kernels_cpu/registry.h"
#include "platform/team.h"
#include "runtime/backend.h"
#include "tests/models.h"

using namespace linnet;

namespace {

struct Shape {
  uint32_t n_heads, n_kv_heads, head_dim;
};
struct Choice {
  Shape shape;
  Format format;
  uint32_t window;
  float cap;
  bool sinks;
};
constexpr uint32_t kTokens = 400;  // two blocks
constexpr float kScale = 0.3f;

CacheLayer layer_of(const void* of, uint32_t) {
  const Choice& c = *static_cast<const Choice*>(of);
  return {c.format, c.format, c.shape.n_heads, c.shape.n_kv_heads, c.shape.head_dim, 0, c.window};
}

struct Rows {
  std::vector<float> q, k, v, sinks;  // (kTokens, n_heads * head_dim), (kTokens, n_kv_heads * head_dim) twice, (n_heads)
};
Rows random_rows(const Shape& s, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Rows r;
  const auto fill = [&](std::vector<float>& x, size_t n) {
    for (size_t i = 0; i < n; ++i) x.push_back(normal(random));
  };
  fill(r.q, size_t{kTokens} * s.n_heads * s.head_dim);
  fill(r.k, size_t{kTokens} * s.n_kv_heads * s.head_dim);
  fill(r.v, size_t{kTokens} * s.n_kv_heads * s.head_dim);
  fill(r.sinks, s.n_heads);
  return r;
}

// All rows, appended and attended to in calls of `chunk`. (kTokens, n_heads * head_dim)
std::vector<float> attend(const Choice& c, const Rows& rows, uint32_t isa, uint32_t n_threads, uint32_t chunk) {
  KvCache kv{};
  const CachePlan plan = {1, 1, kTokens, kTokens, chunk, 0, LINNET_FULL_STOP, 0, false, &cpu_backend, &c, layer_of};
  Kernels kernels{};
  linnet_error err{};
  Arena counted;
  Team team;
  REQUIRE(kv.layout_in(counted, counted, plan));
  team.layout_in(counted, n_threads, LINNET_THREADS_OWN);
  test::Memory memory(counted.used());
  Arena arena(memory.p, counted.used());
  REQUIRE(kv.layout_in(arena, arena, plan));
  team.layout_in(arena, n_threads, LINNET_THREADS_OWN);
  kv.reset();
  test::check(kernels_resolve(isa, 0, &kernels, &err), err);
  test::check(team.start(n_threads, LINNET_THREADS_OWN, 300, &err), err);

  const size_t scratch = align_up(attention_scratch_bytes(kv, n_threads), 64), shared = align_up(cpu_shared_bytes(kv, n_threads), 64);
  test::Memory buffers(n_threads * scratch + shared + 64);
  uint8_t* const of_all = static_cast<uint8_t*>(buffers.p) + n_threads * scratch;
  std::memset(of_all, 0, shared);
  uint32_t not_finite = 0;
  std::vector<float> out(rows.q.size());

  struct Call {
    const Choice* c;
    const Rows* rows;
    KvCache* kv;
    Team* team;
    const Kernels* kernels;
    uint8_t *scratch, *shared;
    size_t scratch_bytes;
    uint32_t* not_finite;
    RowSpan span;
    float* out;
  } call = {&c, &rows, &kv, &team, &kernels, static_cast<uint8_t*>(buffers.p), of_all, scratch, &not_finite, {}, out.data()};
  for (uint32_t at = 0; at < kTokens; at += call.span.n) {
    call.span = {0, 0, std::min(chunk, kTokens - at), at};
    kv.begin(0, at, at + call.span.n);
    kv.advance(0, at, call.span.n);
    team.pass(
        [](void* arg, uint32_t id, uint32_t n) {
          const Call& x = *static_cast<const Call*>(arg);
          const Shape& s = x.c->shape;
          Worker w;
          w.id = id;
          w.n = n;
          w.tickets = n > 1 ? &x.team->tickets : nullptr;
          w.since = ticks_now();
          w.kernels = x.kernels;
          w.scratch = x.scratch + id * x.scratch_bytes;
          w.shared = x.shared;
          w.n_most = n;
          w.not_finite = x.not_finite;
          const size_t from = size_t{x.span.position} * s.head_dim;
          cpu_kv_append(w, *x.kv, 0, x.rows->k.data() + from * s.n_kv_heads, x.rows->v.data() + from * s.n_kv_heads,
                        size_t{s.n_kv_heads} * s.head_dim, &x.span, 1, {});
          sync(w);
          AttentionArgs a{};
          a.kv = x.kv;
          a.spans = &x.span;
          a.n_spans = 1;
          a.q = x.rows->q.data() + from * s.n_heads;
          a.q_stride = a.out_stride = size_t{s.n_heads} * s.head_dim;
          a.n_heads = s.n_heads;
          a.scale = kScale;
          a.cap = x.c->cap;
          a.sinks = x.c->sinks ? x.rows->sinks.data() : nullptr;
          a.out = x.out + from * s.n_heads;
          cpu_attention(w, a);
        },
        &call, call.span.n);
    kv.commit(0, at, at + call.span.n);
  }
  team.stop();
  CHECK(not_finite == 0);
  return out;
}

std::vector<double> in_doubles(const Choice& c, const Rows& rows) {
  const Shape& s = c.shape;
  std::vector<double> out;
  const auto d = [](float x) { return static_cast<double>(x); };
  for (uint32_t p = 0; p < kTokens; ++p)
    for (uint32_t h = 0; h < s.n_heads; ++h) {
      const uint32_t kv_head = h / (s.n_heads / s.n_kv_heads), from = c.window && p >= c.window ? p + 1 - c.window : 0;
      const float* q = rows.q.data() + (size_t{p} * s.n_heads + h) * s.head_dim;
      double sum = c.sinks ? std::exp(d(rows.sinks[h])) : 0;
      std::vector<double> acc(s.head_dim);
      for (uint32_t t = from; t <= p; ++t) {
        const size_t at = (size_t{t} * s.n_kv_heads + kv_head) * s.head_dim;
        double score = 0;
        for (uint32_t i = 0; i < s.head_dim; ++i) score += d(q[i]) * d(rows.k[at + i]);
        score *= d(kScale);
        if (c.cap > 0) score = d(c.cap) * std::tanh(score / d(c.cap));
        const double e = std::exp(score);
        sum += e;
        for (uint32_t i = 0; i < s.head_dim; ++i) acc[i] += e * d(rows.v[at + i]);
      }
      for (const double a : acc) out.push_back(a / sum);
    }
  return out;
}

}  // namespace

TEST_CASE("pieces of an operation: each item once, whole units, sizes a unit apart, larger ones first") {
  Tickets tickets;
  Member w{};
  for (w.n = 1; w.n <= 2; ++w.n) {
    w.tickets = w.n > 1 ? &tickets : nullptr;
    for (const uint32_t n : {0u, 1u, 4u, 7u, 35u, 76u, 304u, 8016u})
      for (const uint32_t unit : {1u, 4u}) {
        const uint32_t units = (n + unit - 1) / unit;
        for (const uint32_t count : {units, units < 8 ? units : 8}) {
          CAPTURE(w.n, n, unit, count);
          Pieces pieces(w, n, unit, count);
          uint32_t at = 0, taken = 0, before = UINT32_MAX, first = 0;
          for (Share piece; pieces.take(&piece); ++taken) {
            const uint32_t size = (piece.to - piece.from + unit - 1) / unit;
            if (taken == 0) first = size;
            REQUIRE(piece.from == at);
            REQUIRE((piece.to > at && piece.to <= n && (piece.to % unit == 0 || piece.to == n)));
            REQUIRE((size <= before && size + 1 >= first));
            before = size;
            at = piece.to;
          }
          REQUIRE(at == n);
          REQUIRE(taken == (w.n == 1 ? n != 0 : count));
          REQUIRE(tickets.done == w.begun);
        }
      }
  }
}

TEST_CASE("attention equals doubles: windows, soft cap, learned sinks") {
  const std::vector<linnet_isa> here = test::tiers();
  const Shape shapes[] = {{4, 2, 24}, {5, 1, 64}, {6, 6, 16}};
  for (const Shape& shape : shapes) {
    if (kSanitized && &shape != shapes + 2) continue;
    const Rows rows = random_rows(shape, shape.head_dim);
    for (const uint32_t window : {0u, 100u})
      for (const float cap : {0.0f, 2.0f})
        for (const bool sinks : {false, true}) {
          Choice c = {shape, LINNET_F32, window, cap, sinks};
          INFO("heads " << shape.n_heads << " of " << shape.n_kv_heads << ", window " << window << ", cap " << cap << ", sinks " << sinks);
          const std::vector<double> want = in_doubles(c, rows);
          const std::vector<float> plain = attend(c, rows, LINNET_ISA_SCALAR, 1, kTokens);
          double worst = 0;
          for (size_t i = 0; i < want.size(); ++i) worst = std::max(worst, std::fabs(want[i] - static_cast<double>(plain[i])));
          CHECK(worst < 2e-5);
          // The same bytes in every tier, from threads that share the blocks of a head, and in another cut; in integers too.
          for (const Format f : {LINNET_F32, LINNET_I8, LINNET_F8E4M3}) {
            if (f != LINNET_F32 && sinks != (cap > 0)) continue;
            c.format = f;
            const std::vector<float> one = f == LINNET_F32 ? plain : attend(c, rows, LINNET_ISA_SCALAR, 1, kTokens);
            for (const linnet_isa isa : here)
              if (!kSanitized || isa == here.back()) REQUIRE(test::same_bytes(attend(c, rows, static_cast<uint32_t>(isa), 1, 37), one));
            REQUIRE(test::same_bytes(attend(c, rows, LINNET_ISA_AUTO, 3, 1 + kTokens / 2), one));
            if (f == LINNET_F32) continue;
            double squares = 0, errors = 0;
            for (size_t i = 0; i < want.size(); ++i) {
              const double e = static_cast<double>(one[i]) - want[i];
              squares += want[i] * want[i];
              errors += e * e;
            }
            CHECK(std::sqrt(errors / squares) < (f == LINNET_I8 ? 0.02 : 0.1));
          }
        }
  }
}
