// The CPU as a backend. Its memory is the app's and its queue the session's team, so that nothing has to be opened or copied, and no pass
// begins before the host has seen what the one before it drew.
#include <cstring>

#include "../platform/fp.h"
#include "../platform/team.h"
#include "../runtime/backend.h"
#include "../runtime/cache/kv_cache.h"
#include "measure.h"

namespace linnet {
namespace {

HostSide& host_of(void* session) { return *static_cast<HostSide*>(session); }

// Models: weights stay where the file is.
Status count(const linnet_profile&, LoadWeights, void*, ModelFootprint*, uint32_t*, Error*) { return LINNET_OK; }
Status load(void* model, uint8_t* matrices, const linnet_profile& profile, const uint8_t*, size_t, LoadWeights load, void* arg,
            ModelFootprint*, Error*) {
  WeightsTo to = {profile, model, nullptr, matrices, 0};
  return load(arg, to);
}
Status matrix(WeightsTo&, Matrix*, Error*) { return LINNET_OK; }
Status vector(WeightsTo&, const float**, uint64_t, Error*) { return LINNET_OK; }

Status check_params(linnet_session_params*, Error*) { return LINNET_OK; }
Places places(Footprint& memory, const linnet_profile&, bool) { return {memory.host, memory.host, memory.host, false}; }
Status alloc(void*, Footprint*, Error*) { return LINNET_OK; }

void* layout(const Places& places, const void*, const SessionPlan& plan) {
  HostSide& h = *plan.host;
  h.scratch_stride = static_cast<size_t>(align_up(cpu_scratch_bytes(*plan.kv, plan.n_threads, plan.head_k, plan.gate_up_rows), kAlign));
  h.scratch = places.host.take<uint8_t>("activations", uint64_t{plan.n_threads} * h.scratch_stride);
  const size_t shared = cpu_shared_bytes(*plan.kv, plan.n_threads);
  h.shared = places.host.take<uint8_t>("activations", shared);
  if (h.shared) std::memset(h.shared, 0, shared);
  h.team = plan.team;
  h.kernels = plan.kernels;
  h.n_threads = plan.n_threads;
  return &h;
}

Status start(void*, void*, Footprint*, Error*) { return LINNET_OK; }
void nothing(void*) {}
Status check(void*, Error*) { return LINNET_OK; }

struct Job {
  const HostSide& host;
  Pass& pass;
};

void share(void* arg, uint32_t id, uint32_t n) {
  const Job& job = *static_cast<const Job*>(arg);
  const HostSide& h = job.host;
  Pass& pass = job.pass;
  const FpGuard guard;
  Worker w;
  w.id = id;
  w.n = n;
  w.tickets = n > 1 ? &h.team->tickets : nullptr;
  w.since = ticks_now();
  w.kernels = h.kernels;
  w.scratch = h.scratch + id * h.scratch_stride;
  w.shared = h.shared;
  w.n_most = h.n_threads;
  w.not_finite = &pass.not_finite;
  for_rows(w, pass.m, [&](uint32_t row) { pass.make(pass, row); });
  pass.compute(pass, w, false, pass.logits);
}

Status run(void* session, Pass& pass, Error*) {
  const HostSide& h = host_of(session);
  Job job = {h, pass};
  h.team->pass(share, &job, pass.m);
  if (pass.stop) return LINNET_OK;
  for (uint32_t i = 0; i < pass.n_logits && !pass.not_finite; ++i)  // float formats have no other check
    if (h.kernels->t.amax_bits(pass.logits + i * pass.logits_stride, pass.n_vocab) >= 0x7F800000u) pass.not_finite = 1;
  return LINNET_OK;
}

void draw(void* session, const Draw& d, Pass*) {
  const FpGuard guard;
  host_of(session).drawn = sample(*d.sampler, d.logits, d.n_vocab, d.history, d.n_history);
}
Status drawn(void* session, Drawn* out, Error*) {
  const HostSide& h = host_of(session);
  *out = {h.drawn, h.sampler.n_draws, 0};
  return LINNET_OK;
}
Status kept_logits(void*, float*, Error*) { return LINNET_OK; }  // they are the host's already

void zero(void*, uint8_t* p, size_t pitch, size_t bytes, uint32_t n) {
  for (; n; --n, p += pitch) std::memset(p, 0, bytes);
}
void copy(void*, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n) {
  for (; n; --n, to += pitch, from += pitch) std::memcpy(to, from, bytes);
}
const uint8_t* read(void*, const uint8_t* from, size_t pitch, size_t, uint32_t, size_t* step) {
  *step = pitch;
  return from;
}
void write(void*, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n) {
  for (; n; --n, to += pitch, from += bytes) std::memcpy(to, from, bytes);
}

}  // namespace

const Backend cpu_backend = {
    .name = nullptr,
    .ops = &cpu_ops,
    .chosen = "history",
    .runs_ahead = false,
    .groups = true,
    .probe = [](Error*) { return Status{LINNET_OK}; },
    .measure = [](const linnet_profile&, const Kernels& kernels, uint32_t n_threads, const void* data, size_t bytes, bool products,
                  linnet_measurement* out, Error* err) { return cpu_measure(kernels, n_threads, data, bytes, products, out, err); },
    .model_bytes = 0,
    .matrix_bytes = 0,
    .count = count,
    .load = load,
    .unload = nothing,
    .matrix = matrix,
    .vector = vector,
    .check_params = check_params,
    .places = places,
    .alloc = alloc,
    .layout = layout,
    .start = start,
    .stop = nothing,
    .enter = nothing,
    .leave = nothing,
    .check = check,
    .run = run,
    .draw = draw,
    .drawn = drawn,
    .keep_logits = nothing,
    .kept_logits = kept_logits,
    .zero = zero,
    .copy = copy,
    .read = read,
    .write = write,
};

}  // namespace linnet
