// The device side of models and sessions: opening the GPU, its memory, weights on their way there, queues, recorded passes. Nothing here
// knows what is computed.
#include <sys/mman.h>

#include <cstring>
#include <new>

#include "../platform/arena.h"
#include "../platform/file.h"
#include "../platform/fp.h"
#include "../runtime/backend.h"
#include "../runtime/cache/kv_cache.h"
#include "../runtime/cache/slots.h"
#include "cuda_queue.h"
#include "images.h"
#include "sample_args.h"

namespace linnet {
namespace {

constexpr uint32_t kMaxRows = 64;               // of a recorded pass: sequences of a session
constexpr uint32_t kHistory = 4 * kSampleMost;  // tokens that penalties look back at, and room for new ones
constexpr size_t kStagingHalf = size_t{4} << 20;
constexpr uint64_t kDefaultBlock = uint64_t{256} << 20;
constexpr uint64_t kLeastRead = uint64_t{64} << 20;

struct CudaModel {
  const CudaDriver* driver;
  CuDevice device;
  CuContext context;
  CuModule module;
  CuFunction kernels[kCudaKernels];
  uint32_t n_sms, arch, shared_bytes;
  bool graphs, fast;
  uint64_t term_bytes;  // of a row for the matrix that takes most, cuda_terms_bytes
  // Weights go through two halves of pinned memory, one of which is filled while the other is copied.
  CuStream stream;
  uint8_t* staging;
  CuEvent copied[2];
  uint32_t half;
  uint32_t process;  // that made it, and has the device
  uint64_t block_limit;
  uint8_t* mapped;  // pages of the file that the device reads in place, or nullptr
};
struct CudaModelMemory {
  CudaModel model;
  alignas(kAlign) Blocks blocks;  // of its weights
};

struct CudaSession {
  CudaQueue queue;
  const CudaModel* model;
  Blocks blocks, pinned_blocks;
  // What the host writes for a pass, in pinned memory; queue.pass has the device's.
  CudaSpan* spans;     // (n_sequences)
  uint32_t* row_span;  // (n_chunk)
  uint32_t* tables;    // (n_sequences, table_stride)
  CudaSlot* slots;     // (n_sequences) and
  float** states;      // (n_sequences, n_layers) where layers have a state
  uint32_t* not_finite;
  // Drawing: pinned, and the device's.
  CudaSampler *sampler, *on_sampler, *drawn_with;  // drawn_with: pinned, what the device has made of it
  int32_t *history, *on_history;                   // (kHistory)
  CudaSampleResult *result, *on_result;
  float *logits, *kept;  // (most rows of a pass, logits_stride) and (logits_stride), of the device
  uint8_t* page;         // pinned, (the largest page of a layer) on its way between the device and a state
  uint32_t n_history;
  CuEvent drawn;
  CuEvent paced[2];
  uint32_t n_paced;
  CuGraphExec graphs[kMaxRows + 1];  // by rows
  uint32_t n_vocab;
  size_t logits_stride;
  uint32_t entered;  // by calls within calls
  bool bound;
};

struct Fetch {  // from the device
  void* host;
  const void* device;
  size_t bytes;
};

CudaModel& model_of(void* p) { return *static_cast<CudaModel*>(p); }
CudaSession& session_of(void* p) { return *static_cast<CudaSession*>(p); }
CuPointer pointer(const void* p) { return reinterpret_cast<uintptr_t>(p); }

Status failed(const CudaDriver& d, CuResult result, const char* what, Error* err) {
  const char* name = nullptr;
  if (d.error_name(result, &name) != 0 || !name) name = "?";
  return fail(err, LINNET_DEVICE, "cuda: ", what, ": ", name, " (", result, ")");
}
// Fails the calling function, with what the driver says.
#define LINNET_CUDA(driver, call, what)                                                                   \
  do {                                                                                                    \
    if (const CuResult result = (driver)->call; result != 0) return failed(*(driver), result, what, err); \
  } while (false)

Status probe(Error* err) {
  const char* why = nullptr;
  const CudaDriver* d = cuda_driver(&why);
  if (!d) return fail(err, LINNET_DEVICE, "cuda: ", why);
  CuDevice device;
  LINNET_CUDA(d, device_get(&device, 0), "no device");
  int major = 0, minor = 0, version = 0;
  LINNET_CUDA(d, device_attribute(&major, kCuMajor, device), "compute capability");
  LINNET_CUDA(d, device_attribute(&minor, kCuMinor, device), "compute capability");
  LINNET_CUDA(d, driver_version(&version), "driver's version");
  const CudaImage* image = nullptr;
  return cuda_image_for(static_cast<uint32_t>(major * 10 + minor), version, &image, err);
}

Status attribute(const CudaModel& m, CuAttribute which, const char* what, uint32_t* out, Error* err) {
  int value = 0;
  LINNET_CUDA(m.driver, device_attribute(&value, which, m.device), what);
  *out = value < 0 ? 0 : static_cast<uint32_t>(value);
  return LINNET_OK;
}

// The calling thread's current context is the model's while this lives.
struct Bound {
  const CudaModel& m;
  CuResult result;
  explicit Bound(const CudaModel& model) : m(model), result(model.driver->context_push(model.context)) {}
  ~Bound() {
    CuContext old;
    if (result == 0) m.driver->context_pop(&old);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
};

Status ready(CudaModel& m, const linnet_profile& profile, Error* err) {
  uint32_t major = 0, minor = 0, sms = 0;
  int version = 0;
  LINNET_TRY(attribute(m, kCuMajor, "compute capability", &major, err));
  LINNET_TRY(attribute(m, kCuMinor, "compute capability", &minor, err));
  LINNET_TRY(attribute(m, kCuSms, "number of multiprocessors", &sms, err));
  LINNET_TRY(attribute(m, kCuSharedPerBlockOptIn, "shared memory", &m.shared_bytes, err));
  LINNET_CUDA(m.driver, driver_version(&version), "driver's version");
  m.arch = major * 10 + minor;
  m.n_sms = profile.cuda_sms && profile.cuda_sms < sms ? profile.cuda_sms : sms;
  m.graphs = profile.cuda_graph != LINNET_SWITCH_OFF;
  m.fast = profile.cuda_gemm == LINNET_GEMM_FAST;
  const CudaImage* image = nullptr;
  LINNET_TRY(cuda_image_for(m.arch, version, &image, err));
  LINNET_CUDA(m.driver, context_retain(&m.context, m.device), "context");
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  LINNET_CUDA(m.driver, module_load(&m.module, image->data), "kernels of this GPU");
  for (uint32_t i = 0; i < kCudaKernels; ++i)
    LINNET_CUDA(m.driver, module_function(&m.kernels[i], m.module, kCudaKernelNames[i]), kCudaKernelNames[i]);
  for (uint32_t i = 0; i < kCudaKernels; ++i) {  // what a block may have beyond 48 KB has to be asked for
    int own = 0;
    LINNET_CUDA(m.driver, function_get(&own, kCuFuncShared, m.kernels[i]), kCudaKernelNames[i]);
    LINNET_CUDA(m.driver, function_set(m.kernels[i], kCuFuncDynamicShared, static_cast<int>(m.shared_bytes) - own), kCudaKernelNames[i]);
  }
  LINNET_CUDA(m.driver, stream_create(&m.stream, kCuStreamNonBlocking), "stream");
  return LINNET_OK;
}

// Whole pages around these bytes, which nobody writes.
Status map(CudaModel& m, const uint8_t* weights, size_t bytes, Error* err) {
  uint32_t integrated = 0;
  LINNET_TRY(attribute(m, kCuIntegrated, "kind of memory", &integrated, err));
  if (!integrated) return fail(err, LINNET_UNSUPPORTED, "cuda: cuda_zero_copy: the GPU has memory of its own");
  const uintptr_t page = page_bytes(), first = reinterpret_cast<uintptr_t>(weights) / page * page,
                  end = (reinterpret_cast<uintptr_t>(weights) + bytes + page - 1) / page * page;
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  if (const CuResult result =
          m.driver->host_register(reinterpret_cast<void*>(first), end - first, kCuHostRegisterMapped | kCuHostRegisterReadOnly);
      result != 0) {
    const char* name = nullptr;
    if (m.driver->error_name(result, &name) != 0 || !name) name = "?";
    return fail(err, LINNET_UNSUPPORTED, "cuda: cuda_zero_copy: the driver does not take the file's pages: ", name);
  }
  m.mapped = reinterpret_cast<uint8_t*>(first);
  return LINNET_OK;
}

void close(void* model) {
  CudaModel& m = model_of(model);
  if (m.context) {
    {
      const Bound bound(m);
      if (m.stream) m.driver->stream_wait(m.stream);
      if (m.mapped) m.driver->host_unregister(m.mapped);
      for (CuEvent e : m.copied)
        if (e) m.driver->event_destroy(e);
      if (m.staging) m.driver->free_host(m.staging);
      if (m.stream) m.driver->stream_destroy(m.stream);
      if (m.module) m.driver->module_unload(m.module);
    }
    m.driver->context_release(m.device);
  }
  m = {};
}

Status open(void* model, const linnet_profile& profile, const uint8_t* weights, size_t bytes, Error* err) {
  CudaModel& m = *new (model) CudaModel{};
  m.process = process_id();
  const char* why = nullptr;
  m.driver = cuda_driver(&why);
  if (!m.driver) return fail(err, LINNET_DEVICE, "cuda: ", why);
  LINNET_CUDA(m.driver, device_get(&m.device, 0), "no device");
  Status status = ready(m, profile, err);
  if (status == LINNET_OK && profile.cuda_zero_copy == LINNET_SWITCH_ON && bytes) status = map(m, weights, bytes, err);
  if (status != LINNET_OK) close(model);
  return status;
}

uint64_t block_limit(const linnet_profile& profile) { return profile.cuda_block_bytes ? profile.cuda_block_bytes : kDefaultBlock; }

void release(const CudaModel& m, Blocks* blocks, bool pinned) {
  const Bound bound(m);
  for (uint32_t i = 0; i < blocks->n; ++i)
    if (pinned)
      m.driver->free_host(blocks->base[i]);
    else
      m.driver->free(pointer(blocks->base[i]));
  blocks->n = 0;
}

// All blocks as counted, or none.
Status alloc_blocks(const CudaModel& m, Blocks* blocks, bool pinned, Error* err) {
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  for (uint32_t i = 0; i < blocks->n; ++i) {
    void* host = nullptr;
    CuPointer p = 0;
    const size_t bytes = static_cast<size_t>(blocks->bytes[i]);
    const CuResult result = pinned ? m.driver->alloc_host(&host, bytes) : m.driver->alloc(&p, bytes);
    if (result == 0) {
      blocks->base[i] = pinned ? static_cast<uint8_t*>(host) : reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(p));
      continue;
    }
    const uint64_t total = blocks->total();
    const uint32_t n = blocks->n;
    blocks->n = i;
    release(m, blocks, pinned);
    const char* name = nullptr;
    if (m.driver->error_name(result, &name) != 0 || !name) name = "?";
    return fail(err, LINNET_DEVICE, "cuda: block ", i, " of ", n, " with ", bytes, " of ", total, " bytes of ",
                pinned ? "pinned" : "device", " memory: ", name);
  }
  return LINNET_OK;
}

// ---- weights

// Pages of the file that are on the device now are given back to the system: where CPU and GPU share memory they would be held twice.
void drop_pages(const uint8_t* from, size_t bytes) {
#ifdef MADV_PAGEOUT
  const size_t page = page_bytes();
  const uintptr_t first = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page,
                  end = (reinterpret_cast<uintptr_t>(from) + bytes) / page * page;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_PAGEOUT);
#else
  (void)from, (void)bytes;
#endif
}

Status upload(CudaModel& m, const void* to, const void* from, size_t bytes, Error* err) {
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  if (!m.staging) {
    void* p = nullptr;
    LINNET_CUDA(m.driver, alloc_host(&p, 2 * kStagingHalf), "staging memory");
    m.staging = static_cast<uint8_t*>(p);
    for (CuEvent& e : m.copied) LINNET_CUDA(m.driver, event_create(&e, kCuEventNoTiming), "event");
  }
  for (size_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < kStagingHalf ? bytes - at : kStagingHalf;
    const uint32_t half = m.half++ & 1;
    uint8_t* staged = m.staging + half * kStagingHalf;
    if (m.half > 2) LINNET_CUDA(m.driver, event_wait(m.copied[half]), "copying weights");
    std::memcpy(staged, static_cast<const uint8_t*>(from) + at, n);
    drop_pages(static_cast<const uint8_t*>(from) + at, n);
    LINNET_CUDA(m.driver, copy_to_device(pointer(to) + at, staged, n, m.stream), "copying weights");
    LINNET_CUDA(m.driver, event_record(m.copied[half], m.stream), "copying weights");
  }
  return LINNET_OK;
}

// Where the device sees these bytes of the file.
Status in_file(CudaModel& m, const void* from, const uint8_t** to, Error* err) {
  CuPointer p = 0;
  LINNET_CUDA(m.driver, host_pointer(&p, m.mapped, 0), "the mapped file");
  *to = reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(p)) + (static_cast<const uint8_t*>(from) - m.mapped);
  return LINNET_OK;
}

// Whole parts of panels lie in a block; with cuda_zero_copy all is read where the file is.
Status matrix(WeightsTo& weights, Matrix* m, Error* err) {
  if (!cuda_multiplies(m->format))
    return fail(err, LINNET_UNSUPPORTED, "cuda: weights in ", format_name(m->format),
                " are for CPUs alone: convert with --weights i8g128 or another, or compute with --cuda auto");
  void *const model = weights.model, *const to = weights.matrices ? weights.matrices + weights.n_matrices * sizeof(CudaMatrix) : nullptr;
  ++weights.n_matrices;
  Arena& arena = *weights.memory;
  const bool in_place = weights.profile.cuda_zero_copy == LINNET_SWITCH_ON;
  CudaMatrix c{};
  const uint32_t n_panels = static_cast<uint32_t>(padded_n(m->n) / kPanel);
  const size_t panel = static_cast<size_t>(panel_bytes(m->format, m->k)), scale = static_cast<size_t>(panel_scale_bytes(m->format, m->k));
  // Panels and scales of a part are things of their own.
  const uint64_t limit = arena.block_limit(), most = panel > scale ? panel : scale;
  const uint64_t per_part = in_place ? n_panels : most <= limit ? limit / Blocks::kAlign * Blocks::kAlign / most : 0;
  if (per_part == 0 || div_up(n_panels, per_part) > kMaxMatrixParts)
    return fail(err, LINNET_TOO_SMALL, "cuda: a matrix of ", m->n, " by ", m->k, " in ", format_name(m->format), " takes more than ",
                kMaxMatrixParts, " blocks of ", limit, " bytes of device memory");
  c.format = m->format;
  c.n = m->n;
  c.k = m->k;
  c.n_panels = n_panels;
  c.part_panels = per_part < n_panels ? static_cast<uint32_t>(per_part) : n_panels;
  c.w_groups = static_cast<uint32_t>(n_w_groups(m->format, m->k));
  c.panel_bytes = panel;
  c.scale_bytes = scale;
  if (in_place && !arena.counting()) {
    CudaModel& of = model_of(model);
    const Bound bound(of);
    if (bound.result) return failed(*of.driver, bound.result, "context", err);
    const uint8_t *panels = nullptr, *scales = nullptr;
    LINNET_TRY(in_file(of, m->panels, &panels, err));
    if (scale) LINNET_TRY(in_file(of, m->scales, &scales, err));
    c.panels[0] = panels;
    c.scales[0] = scales;
  }
  for (uint32_t i = 0, first = 0; first < n_panels && !in_place; ++i, first += c.part_panels) {
    const size_t n = n_panels - first < c.part_panels ? n_panels - first : c.part_panels;
    uint8_t* panels = arena.take<uint8_t>("weights", n * panel);
    uint8_t* scales = arena.take<uint8_t>("weights", n * scale);
    if (arena.counting() || !arena.ok()) continue;
    c.panels[i] = panels;
    c.scales[i] = scales;
    LINNET_TRY(upload(model_of(model), panels, static_cast<const uint8_t*>(m->panels) + first * panel, n * panel, err));
    if (scale) LINNET_TRY(upload(model_of(model), scales, static_cast<const uint8_t*>(m->scales) + first * scale, n * scale, err));
  }
  if (arena.counting()) return LINNET_OK;
  if (CudaModel& of = model_of(model); of.fast && cuda_terms_bytes(m->format, m->k) > of.term_bytes)
    of.term_bytes = cuda_terms_bytes(m->format, m->k);
  m->panels = new (to) CudaMatrix(c);
  m->scales = nullptr;
  return LINNET_OK;
}

Status vector(WeightsTo& weights, const float** v, uint64_t n, Error* err) {
  Arena& arena = *weights.memory;
  float* to = arena.take<float>("weights", n);
  if (arena.counting() || !arena.ok()) return LINNET_OK;
  LINNET_TRY(upload(model_of(weights.model), to, *v, static_cast<size_t>(n) * sizeof(float), err));
  *v = to;
  return LINNET_OK;
}

Status loaded(void* model, Error* err) {
  CudaModel& m = model_of(model);
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  LINNET_CUDA(m.driver, stream_wait(m.stream), "copying weights");
  for (CuEvent& e : m.copied) {
    if (e) m.driver->event_destroy(e);
    e = nullptr;
  }
  if (m.staging) m.driver->free_host(m.staging);
  m.staging = nullptr;
  return LINNET_OK;
}

Status count(const linnet_profile& profile, LoadWeights load, void* arg, ModelFootprint* memory, uint32_t* n_matrices, Error* err) {
  memory->blocks.limit = block_limit(profile);
  memory->own = Arena(&memory->blocks, true);
  WeightsTo to = {profile, nullptr, &memory->own, nullptr, 0};
  LINNET_TRY(load(arg, to));
  *n_matrices = to.n_matrices;
  return memory->own.ok() ? LINNET_OK
                          : fail(err, LINNET_TOO_SMALL, "model: its weights are more than ", uint32_t{Blocks::kMax}, " blocks of ",
                                 memory->blocks.limit, " bytes of device memory");
}

// The memory is given back where that fails.
Status load(void* model, uint8_t* matrices, const linnet_profile& profile, const uint8_t* weights, size_t bytes, LoadWeights load_all,
            void* arg, ModelFootprint* memory, Error* err) {
  Blocks& blocks = *new (&static_cast<CudaModelMemory*>(model)->blocks) Blocks(memory->blocks);
  LINNET_TRY(open(model, profile, weights, bytes, err));
  CudaModel& m = model_of(model);
  Status status = alloc_blocks(m, &blocks, false, err);
  if (status == LINNET_OK) {
    memory->own = Arena(&blocks, false);
    WeightsTo to = {profile, model, &memory->own, matrices, 0};
    status = load_all(arg, to);
    if (status == LINNET_OK && !memory->own.ok()) status = fail(err, LINNET_BAD_FILE, "model file: it changed while it was loaded");
    if (status == LINNET_OK) status = loaded(model, err);
    if (status != LINNET_OK) release(m, &blocks, false);
  }
  if (status != LINNET_OK) close(model);
  return status;
}

void unload(void* model) {
  CudaModelMemory& m = *static_cast<CudaModelMemory*>(model);
  if (m.model.process != process_id()) return;
  release(m.model, &m.blocks, false);
  close(model);
}

// ---- the GPU's limits

Status measured(const CudaModel& m, uint64_t most, bool read, bool products, linnet_measurement* out, Error* err) {
  uint32_t l2 = 0;
  LINNET_TRY(attribute(m, kCuL2Bytes, "second-level cache", &l2, err));
  const uint64_t wanted =
      l2 * uint64_t{5} > kLeastRead ? l2 * uint64_t{5} : kLeastRead;  // what the cache keeps of a read is no help to the next
  CudaQueue q{};
  q.driver = m.driver;
  q.stream = m.stream;
  std::memcpy(q.kernels, m.kernels, sizeof q.kernels);
  q.n_sms = m.n_sms;
  const Bound bound(m);
  if (bound.result) return failed(*m.driver, bound.result, "context", err);
  cuda_measure(q, read ? (wanted < most ? wanted : most) : 0, products, out);
  return q.failed ? failed(*m.driver, q.failed, "measuring", err) : LINNET_OK;
}

Status measure(const linnet_profile& profile, const Kernels&, uint32_t, const void* data, size_t, bool products, linnet_measurement* out,
               Error* err) {
  CudaModel m{};
  linnet_profile no_file = profile;
  no_file.cuda_zero_copy = LINNET_SWITCH_OFF;
  LINNET_TRY(open(&m, no_file, nullptr, 0, err));
  const Status status = measured(m, block_limit(profile), data != nullptr, products, out, err);
  close(&m);
  return status;
}

// ---- sessions

// What there are no kernels for. The queue is fed by the caller's thread.
Status check_params(linnet_session_params* p, Error* err) {
  p->n_threads = 1;
  p->threads = LINNET_THREADS_OWN;
  p->parallel_for = nullptr;
  if (p->when_full == LINNET_FULL_HEAVY_HITTERS || p->when_full == LINNET_FULL_SNAPKV)
    return fail(err, LINNET_UNSUPPORTED, "session: when_full is ", p->when_full,
                ": with CUDA sequences stop when they are full, or drop their oldest tokens, with or without sinks");
  return LINNET_OK;
}

Places places(Footprint& memory, const linnet_profile& profile, bool counting) {
  if (counting) {
    memory.blocks.limit = block_limit(profile);
    memory.pinned_blocks.limit = UINT64_MAX;  // one
  }
  memory.own = Arena(&memory.blocks, counting);
  memory.pinned = Arena(&memory.pinned_blocks, counting);
  return {memory.host, memory.own, memory.pinned, true};
}

Status alloc(void* model, Footprint* memory, Error* err) {
  const CudaModel& m = model_of(model);
  if (const uint32_t here = process_id(); here != m.process)
    return fail(err, LINNET_BAD_STATE, "session: the model was made on the CUDA device by process ", m.process, ", this one is ", here,
                ": a device does not come along with a fork");
  LINNET_TRY(alloc_blocks(m, &memory->blocks, false, err));
  const Status status = alloc_blocks(m, &memory->pinned_blocks, true, err);
  if (status != LINNET_OK) release(m, &memory->blocks, false);
  return status;
}

void* layout(const Places& places, const void* model, const SessionPlan& plan) {
  void* const session = places.host.take<uint8_t>("session", sizeof(CudaSession));
  Arena &device = places.own, &pinned = places.pinned;
  CudaSession layout{};
  float* const logits = device.take<float>("logits", uint64_t{plan.n_logits} * plan.logits_stride);
  uint8_t* const page = pinned.take<uint8_t>("kv", plan.piece_bytes);
  CudaQueue counted{};
  CudaSession* s = session ? new (session) CudaSession{} : nullptr;
  CudaQueue& q = s ? s->queue : counted;
  q.pass.table_stride = 0;
  for (uint32_t c = 0; c < plan.kv->n_classes; ++c) {
    q.pass.table_at[c] = q.pass.table_stride;
    q.pass.table_stride += plan.kv->classes[c].n_slots;
  }
  const uint64_t tables = uint64_t{plan.n_sequences} * q.pass.table_stride;
  q.n_chunk = plan.n_chunk;
  q.pass.spans = device.take<CudaSpan>("queue", plan.n_sequences);
  q.pass.row_span = device.take<uint32_t>("queue", plan.n_chunk);
  q.pass.tables = device.take<uint32_t>("queue", tables);
  q.pass.n_layers = plan.slots->any() ? plan.slots->n_layers : 0;
  const uint64_t with_states = plan.slots->any() ? plan.n_sequences : 0, states = with_states * q.pass.n_layers;
  q.pass.slots = device.take<CudaSlot>("queue", with_states);
  q.pass.states = device.take<float*>("queue", states);
  q.not_finite = device.take<uint32_t>("queue", 1);
  const size_t attention = cuda_attention_scratch(*plan.kv, plan.n_chunk, static_cast<const CudaModel*>(model)->n_sms),
               heads = plan.head_k ? cuda_gemm_heads_scratch(plan.n_chunk, plan.n_heads, plan.head_k) : 0;
  q.scratch_bytes = attention > heads ? attention : heads;
  if (const uint64_t terms = plan.n_chunk * static_cast<const CudaModel*>(model)->term_bytes + 16; terms > q.scratch_bytes)
    q.scratch_bytes = static_cast<size_t>(terms);
  if (const size_t sample = cuda_sample_scratch(1, plan.n_vocab); sample > q.scratch_bytes) q.scratch_bytes = sample;
  q.scratch = device.take<uint8_t>("queue", q.scratch_bytes);
  CudaSpan* spans = pinned.take<CudaSpan>("queue", plan.n_sequences);
  uint32_t* row_span = pinned.take<uint32_t>("queue", plan.n_chunk);
  uint32_t* table_rows = pinned.take<uint32_t>("queue", tables);
  CudaSlot* slots = pinned.take<CudaSlot>("queue", with_states);
  float** states_of = pinned.take<float*>("queue", states);
  uint32_t* not_finite = pinned.take<uint32_t>("queue", 1);
  CudaSession& t = s ? *s : layout;
  t.logits = logits;
  t.page = page;
  q.pass.tokens = plan.rows->tokens;
  t.on_sampler = device.take<CudaSampler>("queue", 1);
  t.on_history = device.take<int32_t>("queue", kHistory);
  t.on_result = device.take<CudaSampleResult>("queue", 1);
  t.kept = device.take<float>("logits", plan.logits_stride);
  t.sampler = pinned.take<CudaSampler>("queue", 1);
  t.drawn_with = pinned.take<CudaSampler>("queue", 1);
  t.history = pinned.take<int32_t>("queue", kHistory);
  t.result = pinned.take<CudaSampleResult>("queue", 1);
  if (s) s->n_vocab = plan.n_vocab, s->logits_stride = plan.logits_stride;
  if (s)
    s->spans = spans, s->row_span = row_span, s->tables = table_rows, s->slots = slots, s->states = states_of, s->not_finite = not_finite;
  return s;
}

void end_queue(CudaSession& s) {
  const CudaModel& m = *s.model;
  const Bound bound(m);
  if (s.queue.stream) m.driver->stream_wait(s.queue.stream);
  for (CuGraphExec& g : s.graphs)
    if (g) m.driver->graph_exec_destroy(g);
  for (CuEvent e : s.paced)
    if (e) m.driver->event_destroy(e);
  if (s.drawn) m.driver->event_destroy(s.drawn);
  if (s.queue.stream) m.driver->stream_destroy(s.queue.stream);
}

void stop(void* session) {
  CudaSession& s = session_of(session);
  end_queue(s);
  release(*s.model, &s.pinned_blocks, true);
  release(*s.model, &s.blocks, false);
}

Status begin_queue(CudaSession& s, Error* err) {
  const CudaDriver* d = s.model->driver;
  LINNET_CUDA(d, stream_create(&s.queue.stream, kCuStreamNonBlocking), "stream");
  for (CuEvent& e : s.paced) LINNET_CUDA(d, event_create(&e, kCuEventNoTiming), "event");
  LINNET_CUDA(d, event_create(&s.drawn, kCuEventNoTiming), "event");
  LINNET_CUDA(d, set(pointer(s.queue.not_finite), 0, sizeof(uint32_t), s.queue.stream), "device memory");
  // What nobody has written yet is finite.
  for (uint32_t i = 0; i < s.blocks.n; ++i)
    LINNET_CUDA(d, set(pointer(s.blocks.base[i]), 0, static_cast<size_t>(s.blocks.bytes[i]), s.queue.stream), "device memory");
  LINNET_CUDA(d, stream_wait(s.queue.stream), "device memory");
  return LINNET_OK;
}

Status start(void* session, void* model, Footprint* memory, Error* err) {
  CudaSession& s = session_of(session);
  const CudaModel& m = model_of(model);
  s.model = &m;
  s.blocks = memory->blocks;
  s.pinned_blocks = memory->pinned_blocks;
  CudaQueue& q = s.queue;
  q.driver = m.driver;
  std::memcpy(q.kernels, m.kernels, sizeof q.kernels);
  q.n_sms = m.n_sms;
  q.arch = m.arch;
  q.shared_bytes = m.shared_bytes;
  q.fast = m.fast;
  Status status = LINNET_OK;
  {
    const Bound bound(m);
    if (bound.result)
      status = failed(*m.driver, bound.result, "context", err);
    else if (status = begin_queue(s, err); status != LINNET_OK)
      end_queue(s);
  }
  if (status == LINNET_OK) return LINNET_OK;
  release(m, &s.pinned_blocks, true);
  release(m, &s.blocks, false);
  return status;
}

void keep(CudaQueue& q, CuResult result) {
  if (q.failed == 0) q.failed = result;
}

void enter(void* session) {
  CudaSession& s = session_of(session);
  if (s.entered++) return;
  const CuResult result = s.model->driver->context_push(s.model->context);
  s.bound = result == 0;
  keep(s.queue, result);
}

void leave(void* session) {
  CudaSession& s = session_of(session);
  CuContext old;
  if (--s.entered == 0 && s.bound) s.model->driver->context_pop(&old);
}

void to_device(CudaQueue& q, const void* to, const void* from, size_t bytes) {
  if (q.failed == 0 && bytes) keep(q, q.driver->copy_to_device(pointer(to), from, bytes, q.stream));
}

// Passes before may not have counted: what they found is not to be told of others.
void clear_not_finite(CudaQueue& q) {
  if (q.failed == 0) keep(q, q.driver->set(pointer(q.not_finite), 0, sizeof(uint32_t), q.stream));
}

// What the host makes for a pass, which is copied to the device. drawn: the token of its one row is there already.
void begin(CudaSession& s, const Pass& p, bool drawn) {
  CudaQueue& q = s.queue;
  for (uint32_t row = 0; row < p.m; ++row) p.make(p, row);
  if (!drawn) clear_not_finite(q);
  static_assert(sizeof(CudaSpan) == sizeof(RowSpan));
  std::memcpy(s.spans, p.spans, p.n_spans * sizeof *s.spans);
  for (uint32_t i = 0; i < p.n_spans; ++i) {
    for (uint32_t j = 0; j < p.spans[i].n; ++j) s.row_span[p.spans[i].row + j] = i;
    for (uint32_t c = 0; c < p.kv->n_classes; ++c)
      std::memcpy(s.tables + size_t{i} * q.pass.table_stride + q.pass.table_at[c], p.kv->table(p.spans[i].seq, c).slot,
                  p.kv->classes[c].n_slots * sizeof(uint32_t));
    if (q.pass.n_layers) s.slots[i] = cuda_slot(*p.slots, p.spans[i].seq);
    for (uint32_t layer = 0; layer < q.pass.n_layers; ++layer)
      if (float** const of = p.slots->layers[layer].of) s.states[i * q.pass.n_layers + layer] = of[p.spans[i].seq];
  }
  to_device(q, q.pass.spans, s.spans, p.n_spans * sizeof *s.spans);
  to_device(q, q.pass.row_span, s.row_span, p.m * sizeof(uint32_t));
  to_device(q, q.pass.tables, s.tables, size_t{p.n_spans} * q.pass.table_stride * sizeof(uint32_t));
  if (q.pass.n_layers) {
    to_device(q, q.pass.slots, s.slots, p.n_spans * sizeof *s.slots);
    to_device(q, q.pass.states, s.states, size_t{p.n_spans} * q.pass.n_layers * sizeof *s.states);
  }
  if (!drawn) to_device(q, p.rows->tokens, p.made->tokens, p.m * sizeof(int32_t));
  if (p.rows->positions) to_device(q, p.rows->positions, p.made->positions, p.m * sizeof(int32_t));
  if (p.rows->temperature) to_device(q, p.rows->temperature, p.made->temperature, p.m * sizeof(float));
  if (p.rows->layer_floats) to_device(q, p.rows->layer_rows, p.made->layer_rows, size_t{p.m} * p.rows->layer_floats * sizeof(float));
  for (uint32_t r = 0; r < 2; ++r) {
    const size_t at = p.rows->rope_at(r, 0), bytes = size_t{p.m} * p.rows->n_pairs[r] * sizeof(float);
    to_device(q, p.rows->cos + at, p.made->cos + at, bytes);
    to_device(q, p.rows->sin + at, p.made->sin + at, bytes);
    if (!p.rows->sink_cos) continue;
    to_device(q, p.rows->sink_cos + at * kMaxSinks, p.made->sink_cos + at * kMaxSinks, kMaxSinks * bytes);
    to_device(q, p.rows->sink_sin + at * kMaxSinks, p.made->sink_sin + at * kMaxSinks, kMaxSinks * bytes);
  }
  q.n_rows = p.m;
  s.n_paced = 0;
}

// A pass whose operations are the same each time: runs the one that was recorded for m rows; false: there is none. Recording: operations
// between the two are kept, then run.
bool replay(CudaSession& s, uint32_t m) {
  if (!s.model->graphs || m > kMaxRows || !s.graphs[m]) return false;
  if (s.queue.failed == 0) keep(s.queue, s.model->driver->graph_launch(s.graphs[m], s.queue.stream));
  return true;
}

bool record(CudaSession& s) {
  if (!s.model->graphs || s.queue.failed) return false;
  keep(s.queue, s.model->driver->capture_begin(s.queue.stream, kCuCaptureThread));
  return s.queue.failed == 0;
}

void recorded(CudaSession& s, uint32_t m) {
  CudaQueue& q = s.queue;
  CuGraph graph = nullptr;
  const CuResult ended = q.driver->capture_end(q.stream, &graph);
  if (ended) q.driver->capture_end(q.stream, &graph);  // a stream that goes on capturing could not even be waited for
  keep(q, ended);
  if (q.failed == 0) keep(q, q.driver->graph_make(&s.graphs[m], graph, 0));
  if (graph) q.driver->graph_destroy(graph);
  if (q.failed == 0) keep(q, q.driver->graph_launch(s.graphs[m], q.stream));
}

Status check(void* session, Error* err) {
  const CudaQueue& q = session_of(session).queue;
  return q.failed ? failed(*q.driver, q.failed, "the session's work; it can only be ended", err) : LINNET_OK;
}

// Puts a pass into the queue. Decoding is recorded once for every number of rows.
void put(CudaSession& s, Pass& p, bool whole) {
  const bool decode = p.m == p.n_spans && p.n_logits == p.m;
  if (decode && replay(s, p.m)) return;
  const bool recording = decode && record(s);
  Worker w;
  w.queue = &s.queue;
  p.compute(p, w, whole || recording, s.logits);
  if (recording) recorded(s, p.m);
}

Status run(void* session, Pass& p, Error* err) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  const FpGuard guard;
  begin(s, p, false);
  put(s, p, false);
  const uint32_t n_logits = p.stop ? 0 : p.n_logits;
  *s.not_finite = 0;
  Worker w;
  w.queue = &q;
  if (n_logits) cuda_check_finite(w, s.logits, s.logits_stride, n_logits, s.n_vocab);
  if (q.failed == 0) keep(q, q.driver->copy_to_host(s.not_finite, pointer(q.not_finite), sizeof(uint32_t), q.stream));
  if (q.failed == 0 && n_logits)
    keep(q, q.driver->copy_to_host(p.logits, pointer(s.logits), n_logits * s.logits_stride * sizeof(float), q.stream));
  if (q.failed == 0) keep(q, q.driver->stream_wait(q.stream));
  if (q.failed == 0 && *s.not_finite) p.not_finite = 1;
  return check(session, err);
}

// What the next draws start from.
void draw_begin(CudaSession& s, const Draw& d) {
  const linnet_sampling& p = d.sampler->params;
  const uint32_t n = d.n_history < kSampleMost ? d.n_history : kSampleMost;
  *s.sampler = {
      p.temperature,      p.top_p, p.min_p, p.repeat_penalty, p.presence_penalty, p.frequency_penalty, p.top_k, p.penalty_last_n, p.seed,
      d.sampler->n_draws, n,       0};
  std::memcpy(s.history, d.history + (d.n_history - n), n * sizeof *d.history);
  s.n_history = n;
  to_device(s.queue, s.on_sampler, s.sampler, sizeof *s.sampler);
  to_device(s.queue, s.on_history, s.history, n * sizeof *s.history);
  if (d.logits) clear_not_finite(s.queue);
  if (d.logits) to_device(s.queue, s.kept, d.logits, s.logits_stride * sizeof(float));
}

// The token goes where the next pass reads that of its first row.
void draw(void* session, const Draw& d, Pass* next) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  const FpGuard guard;
  if (d.logits || s.n_history == kHistory) draw_begin(s, d);  // or the history is full
  if (next) begin(s, *next, true);
  cuda_sample(q, {s.kept, s.logits_stride, 1, s.n_vocab, 1, nullptr, s.on_sampler, s.on_history, kHistory,
                  const_cast<int32_t*>(q.pass.tokens), s.on_result});
  ++s.n_history;
  for (const auto& [host, device, bytes] : {Fetch{s.result, s.on_result, sizeof *s.result},
                                            {s.drawn_with, s.on_sampler, sizeof *s.drawn_with},
                                            {s.not_finite, q.not_finite, sizeof *s.not_finite}})
    if (q.failed == 0) keep(q, q.driver->copy_to_host(host, pointer(device), bytes, q.stream));
  if (q.failed == 0) keep(q, q.driver->event_record(s.drawn, q.stream));
  if (next) put(s, *next, true);  // a cancel is the caller's to see
}

Status drawn(void* session, Drawn* out, Error* err) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  if (q.failed == 0) keep(q, q.driver->event_wait(s.drawn));
  LINNET_TRY(check(session, err));
  *out = {s.result->token, s.drawn_with->n_draws, s.result->not_finite | *s.not_finite};
  return LINNET_OK;
}

void keep_logits(void* session) {
  CudaSession& s = session_of(session);
  if (s.queue.failed == 0)
    keep(s.queue, s.queue.driver->copy(pointer(s.kept), pointer(s.logits), s.logits_stride * sizeof(float), s.queue.stream));
}

Status kept_logits(void* session, float* to, Error* err) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  if (q.failed == 0) keep(q, q.driver->copy_to_host(to, pointer(s.kept), s.logits_stride * sizeof(float), q.stream));
  if (q.failed == 0) keep(q, q.driver->stream_wait(q.stream));
  return check(session, err);
}

void zero(void* session, uint8_t* p, size_t pitch, size_t bytes, uint32_t n) {
  CudaQueue& q = session_of(session).queue;
  if (q.failed == 0) keep(q, q.driver->set_rows(pointer(p), pitch, 0, bytes, n, q.stream));
}

void copy(void* session, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n) {
  CudaQueue& q = session_of(session).queue;
  for (uint32_t i = 0; i < n && q.failed == 0; ++i)
    keep(q, q.driver->copy(pointer(to + i * pitch), pointer(from + i * pitch), bytes, q.stream));
}

const uint8_t* read(void* session, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n, size_t* step) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  for (uint32_t i = 0; i < n && q.failed == 0; ++i)
    keep(q, q.driver->copy_to_host(s.page + i * bytes, pointer(from + i * pitch), bytes, q.stream));
  if (q.failed == 0) keep(q, q.driver->stream_wait(q.stream));
  *step = bytes;
  return s.page;
}

void write(void* session, uint8_t* to, const uint8_t* from, size_t pitch, size_t bytes, uint32_t n) {
  CudaSession& s = session_of(session);
  CudaQueue& q = s.queue;
  std::memcpy(s.page, from, n * bytes);
  for (uint32_t i = 0; i < n && q.failed == 0; ++i)
    keep(q, q.driver->copy_to_device(pointer(to + i * pitch), s.page + i * bytes, bytes, q.stream));
  if (q.failed == 0) keep(q, q.driver->stream_wait(q.stream));
}

}  // namespace

// Not while a pass is recorded, nor in one that runs ahead: those are whole.
void cuda_pace(const Worker& w) {
  CudaSession& s = *static_cast<CudaSession*>(w.queue);  // its queue is the first of it
  CudaQueue& q = s.queue;
  if (q.failed) return;
  if (s.n_paced > 1) keep(q, q.driver->event_wait(s.paced[s.n_paced & 1]));
  keep(q, q.driver->event_record(s.paced[s.n_paced++ & 1], q.stream));
}

const Backend cuda_backend = {
    .name = "CUDA",
    .ops = &cuda_ops,
    .chosen = "activations",
    .runs_ahead = true,
    .groups = false,
    .probe = probe,
    .measure = measure,
    .model_bytes = sizeof(CudaModelMemory),
    .matrix_bytes = sizeof(CudaMatrix),
    .count = count,
    .load = load,
    .unload = unload,
    .matrix = matrix,
    .vector = vector,
    .check_params = check_params,
    .places = places,
    .alloc = alloc,
    .layout = layout,
    .start = start,
    .stop = stop,
    .enter = enter,
    .leave = leave,
    .check = check,
    .run = run,
    .draw = draw,
    .drawn = drawn,
    .keep_logits = keep_logits,
    .kept_logits = kept_logits,
    .zero = zero,
    .copy = copy,
    .read = read,
    .write = write,
};

}  // namespace linnet
