#include "measure.h"

#include "../platform/file.h"
#include "../platform/fp.h"
#include "../platform/team.h"
#include "../runtime/format.h"
#include "../runtime/tensor.h"

namespace linnet {
namespace {

constexpr uint32_t kDecodeK = 2048, kDecodePanels = 64;                // a call's weights: 2 MiB
constexpr uint32_t kRows = 64, kPrefillK = 1024, kPrefillPanels = 16;  // weights of 256 KiB, which stay in a core's own cache
constexpr size_t kPage = 4096, kPanelPages = size_t{kDecodeK} * kPanel / kPage;

// What one thread multiplies, i8g128.
struct Scratch {
  alignas(64) int8_t panels[kPrefillPanels * 16 * kPrefillK];
  alignas(64) int8_t x[kRows * (kPrefillK + 64)];  // the first row is decode's too
  float w_scale[kDecodeK / 128 * 16];              // of every panel
  float x_scale[kRows * (kPrefillK / 128)];
  int32_t x_sum128[kRows * (kPrefillK / 128)];
  float y[kRows * kPrefillPanels * 16];
  uint64_t seen;
};
static_assert(kDecodeK <= kRows * (kPrefillK + 64) && kDecodeK / 128 <= kRows * (kPrefillK / 128));

void fill(Scratch* s) {
  uint32_t random = 1;
  const auto byte = [&random] { return static_cast<int8_t>((random = random * 1664525u + 1013904223u) >> 24); };
  for (int8_t& v : s->panels) v = byte();
  for (int8_t& v : s->x) v = static_cast<int8_t>(byte() / 2);
  for (float& v : s->w_scale) v = 0.01f;
  for (float& v : s->x_scale) v = 0.01f;
  for (int32_t& v : s->x_sum128) v = 128;  // any sum takes as long
}

GemmArgs product(Scratch* s, uint32_t m, uint32_t k, uint32_t n_panels, const void* w) {
  GemmArgs a{};
  a.x = s->x;
  a.x_stride = kPrefillK + 64;
  a.x_scale = s->x_scale;
  a.x_sum128 = s->x_sum128;
  a.x_groups = k / 128;
  a.x_group = 128;
  a.w = w;
  a.w_stride = size_t{k} * kPanel;
  a.w_scale = s->w_scale;
  a.y = s->y;
  a.y_stride = n_panels * size_t{kPanel};
  a.m = m;
  a.n_panels = n_panels;
  a.k = k;
  a.fetch_ahead = kFetchAhead;
  return a;
}

struct Job {
  const Kernels* kernels;
  Scratch* scratch;  // (threads)
  const uint8_t* data;
  size_t pages;
  uint64_t rounds;
  uint64_t done[256];  // multiply-adds of each thread
  Format peak_of;
};

void read_share(void* arg, uint32_t id, uint32_t n) {
  Job& j = *static_cast<Job*>(arg);
  const size_t from = j.pages * id / n, to = j.pages * (id + 1) / n;
  j.scratch[id].seen = j.kernels->t.read_all(j.data + from * kPage, (to - from) * kPage);
}
void peak_share(void* arg, uint32_t id, uint32_t) {
  Job& j = *static_cast<Job*>(arg);
  j.done[id] = j.kernels->gemm[j.peak_of].peak(j.rounds);
}
// The data as the weights of one row, from one end to the other.
void decode_share(void* arg, uint32_t id, uint32_t n) {
  Job& j = *static_cast<Job*>(arg);
  const FpGuard guard;
  const size_t panels = j.pages / kPanelPages, from = panels * id / n, to = panels * (id + 1) / n;
  for (size_t at = from; at < to; at += kDecodePanels) {
    const uint32_t count = static_cast<uint32_t>(to - at < kDecodePanels ? to - at : kDecodePanels);
    const GemmArgs a = product(&j.scratch[id], 1, kDecodeK, count, j.data + at * kPanelPages * kPage);
    j.kernels->gemm[LINNET_I8G128].run(&a);
  }
}
void prefill_share(void* arg, uint32_t id, uint32_t) {
  Job& j = *static_cast<Job*>(arg);
  const FpGuard guard;
  const GemmArgs a = product(&j.scratch[id], kRows, kPrefillK, kPrefillPanels, j.scratch[id].panels);
  for (uint64_t i = 0; i < j.rounds; ++i) j.kernels->gemm[LINNET_I8G128].run(&a);
  j.done[id] = j.rounds * kRows * kPrefillK * kPrefillPanels * kPanel;
}

uint64_t timed(Team& team, TeamFn fn, Job* job) {
  const uint64_t start = clock_ns();
  team.run(fn, job);
  return clock_ns() - start + 1;
}

// Rounds that take about `ns`, found by this thread alone: on a busy machine it takes milliseconds until a team is together.
uint64_t rounds_of(TeamFn fn, Job* job, uint64_t trial, uint64_t ns) {
  uint64_t best = UINT64_MAX;
  job->rounds = trial;
  for (int rep = 0; rep < 3; ++rep) {
    const uint64_t start = clock_ns();
    fn(job, 0, 1);
    const uint64_t took = clock_ns() - start + 1;
    best = took < best ? took : best;
  }
  return trial * ns / best + 1;
}

// The best of five: 10^12 operations per second.
double best_tops(Team& team, TeamFn fn, Job* job, uint32_t n_threads) {
  double best = 0;
  for (int rep = 0; rep < 5; ++rep) {
    const uint64_t ns = timed(team, fn, job);
    uint64_t macs = 0;
    for (uint32_t i = 0; i < n_threads; ++i) macs += job->done[i];
    const double tops = 2 * static_cast<double>(macs) / static_cast<double>(ns) / 1000;
    best = tops > best ? tops : best;
  }
  return best;
}
double best_gb_s(Team& team, TeamFn fn, Job* job, double bytes) {
  double best = 0;
  for (int rep = 0; rep < 5; ++rep) {
    const double gb_s = bytes / static_cast<double>(timed(team, fn, job));
    best = gb_s > best ? gb_s : best;
  }
  return best;
}

}  // namespace

Status cpu_measure(const Kernels& kernels, uint32_t n_threads, const void* data, size_t bytes, bool products, linnet_measurement* out,
                   Error* err) {
  Team team;
  uint32_t kind = 0;
  LINNET_TRY(team_kind(LINNET_THREADS_DEFAULT, &kind, err));
  Arena count;
  const auto layout = [&](Arena& arena) {
    team.layout_in(arena, n_threads, kind);
    return arena.take<Scratch>("measure", n_threads);
  };
  layout(count);
  void* mem = memory_alloc(count.used());
  if (!mem) return fail(err, LINNET_NO_MEMORY, "measure: no memory for ", n_threads, " threads");
  Arena arena(mem, count.used());
  Job job{&kernels, layout(arena), static_cast<const uint8_t*>(data), data ? bytes / kPage : 0, 0, {}, LINNET_I8};
  Status status = team.start(n_threads, kind, 20000, err);
  if (status == LINNET_OK) {
    for (uint32_t i = 0; i < n_threads; ++i) fill(&job.scratch[i]);
    out->isa = kernels.t.isa;
    if (job.pages) out->read_gb_s = best_gb_s(team, read_share, &job, static_cast<double>(job.pages) * kPage);
    job.rounds = rounds_of(peak_share, &job, 20000, 10000000);
    out->int8_tops = best_tops(team, peak_share, &job, n_threads);
    if (products) {
      for (const Format f : {LINNET_F8E4M3, LINNET_F32}) {
        job.peak_of = f;
        job.rounds = rounds_of(peak_share, &job, 20000, 10000000);
        (f == LINNET_F32 ? out->float_tops : out->f8_tops) = best_tops(team, peak_share, &job, n_threads);
      }
      job.rounds = rounds_of(prefill_share, &job, 1, 10000000);
      out->prefill_tops = best_tops(team, prefill_share, &job, n_threads);
    }
    if (const size_t all = job.pages / kPanelPages * kPanelPages; products && all) {  // of a slow tier no more than takes 50 ms
      job.pages = all < 4096 ? all : 4096;
      const uint64_t ns = timed(team, decode_share, &job), most = (job.pages * 50000000 / ns / kPanelPages + 1) * kPanelPages;
      job.pages = all < most ? all : static_cast<size_t>(most);
      out->decode_gb_s = best_gb_s(team, decode_share, &job, static_cast<double>(job.pages) * kPage);
    }
    team.stop();
  }
  memory_free(mem, count.used());
  return status;
}

Status profile_kernels(const linnet_profile& p, bool timed, Kernels* out, Error* err) {
  LINNET_TRY(kernels_resolve(p.isa == LINNET_ISA_AUTO ? isa_of_prefill(p.prefill) : p.isa, p.isa_mask, out, err));
  if (!timed || p.isa != LINNET_ISA_AUTO || p.prefill != LINNET_PREFILL_MEASURED) return LINNET_OK;
  const uint32_t n_threads = p.n_threads ? p.n_threads : 1;
  linnet_measurement best{}, library{};
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) {
    Kernels other;
    if (!by_name(t->isa) || kernels_resolve(t->isa, p.isa_mask, &other, nullptr) != LINNET_OK) continue;
    if (best.prefill_tops == 0) LINNET_TRY(cpu_measure(*out, n_threads, nullptr, 0, true, &best, err));
    LINNET_TRY(cpu_measure(other, n_threads, nullptr, 0, true, &library, err));
    if (library.prefill_tops <= best.prefill_tops) continue;
    *out = other;
    best = library;
  }
  return LINNET_OK;
}

}  // namespace linnet
