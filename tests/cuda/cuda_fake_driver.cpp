#include "cuda_fake_driver.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace linnet {
namespace {

enum : CuResult {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinary = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kLaunchFailed = 719,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
};
bool is_sticky(CuResult r) { return r == kIllegalAddress || r == 715 || r == 717 || r == 718 || r == kLaunchFailed; }

constexpr const char* kSymbols[] = {
#define LINNET_X(name, symbol, params) symbol,
    LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
};
enum Call : size_t {
#define LINNET_X(name, symbol, params) kCall_##name,
  LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
      kCalls
};
constexpr size_t kPage = 4096, kRound = 256;  // a driver's blocks begin at multiples of 256 bytes

struct Block {
  uint8_t* base;  // of the mapping: pages, then one that nobody may touch
  size_t mapped, bytes;
};
struct Kernel {
  std::string name;
  size_t n_args = 0, static_shared = 0;
  unsigned max_threads = 1024;
  int dynamic_shared = 0;  // that was asked for
};
struct Module {
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};
struct Event;
struct Operation {
  std::function<CuResult()> run;
  Event* event = nullptr;
};
struct Graph {
  std::vector<Operation> nodes;
};
struct Stream {
  std::vector<Operation> queue;
  Graph* capture = nullptr;
  bool capture_broken = false;
};
struct Event {
  Stream* stream = nullptr;
  bool recorded = false, timed = true;
  double ms = 0;
};

struct State {
  FakeCudaSetup setup;
  bool started = false;
  std::map<uint8_t*, Block> blocks;  // by what the caller knows
  std::map<uint8_t*, size_t> host_blocks, registered;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Module*> modules;
  std::set<Graph*> graphs, execs;
  std::map<std::string, uint64_t> launches;
  std::vector<CuContext> contexts;  // current ones
  uint64_t retained = 0;
  size_t bytes = 0, most = 0, host_bytes = 0;
  uint64_t calls = 0, calls_of[kCalls] = {};
  uint64_t fail_at = 0, fail_of_at = 0;
  size_t fail_of = kCalls;
  CuResult fail_code = 0, dead = 0;
  const char* failed = nullptr;
  double clock_ms = 0;
  std::vector<std::string> complaints;
  bool open = false;  // device memory may be touched
};
std::unique_ptr<State> g;
std::recursive_mutex g_mutex;

CuResult complain(CuResult r, const std::string& what) {
  g->complaints.push_back(what);
  return r;
}

// Before every call: is it to fail?
CuResult enter(size_t call, bool needs_context) {
  ++g->calls;
  ++g->calls_of[call];
  if (g->calls == g->fail_at || (call == g->fail_of && g->calls_of[call] == g->fail_of_at)) {
    g->failed = kSymbols[call];
    if (is_sticky(g->fail_code)) g->dead = g->fail_code;
    return g->fail_code;
  }
  if (call == kCall_error_name || call == kCall_init || call == kCall_driver_version) return 0;
  if (!g->started) return complain(kNotInitialized, std::string(kSymbols[call]) + " before cuInit");
  if (needs_context && g->contexts.empty()) return complain(kInvalidContext, std::string(kSymbols[call]) + " without a current context");
  return needs_context ? g->dead : 0;
}
#define ENTER(name, context)                                 \
  const std::lock_guard<std::recursive_mutex> lock(g_mutex); \
  if (const CuResult r_ = enter(kCall_##name, context)) return r_

// Device memory may be touched while one of these lives.
struct Open {
  const bool was = g->open;
  Open() { set(true); }
  ~Open() { set(was); }
  static void set(bool open) {
    if (g->open == open || !g->setup.protect) return;
    g->open = open;
    for (const auto& [p, b] : g->blocks) mprotect(b.base, b.mapped - kPage, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
};

bool inside(CuPointer p, size_t bytes) {
  auto* at = reinterpret_cast<uint8_t*>(p);
  auto it = g->blocks.upper_bound(at);
  if (it != g->blocks.begin() && bytes <= std::prev(it)->second.bytes && at <= std::prev(it)->first + (std::prev(it)->second.bytes - bytes))
    return true;
  for (const auto& [q, n] : g->registered)
    if (at >= q && bytes <= n && at + bytes <= q + n) return true;
  for (const auto& [q, n] : g->host_blocks)
    if (at >= q && bytes <= n && at + bytes <= q + n) return true;
  return false;
}
bool pinned(const void* p, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(p);
  for (const auto* list : {&g->host_blocks, &g->registered})
    for (const auto& [q, n] : *list)
      if (at >= q && bytes <= n && at + bytes <= q + n) return true;
  return false;
}
Stream* stream_of(CuStream s) {
  auto* stream = reinterpret_cast<Stream*>(s);
  return g->streams.count(stream) ? stream : nullptr;
}

CuResult put(Call call, CuStream s, Operation op) {
  Stream* stream = stream_of(s);
  if (!stream) return complain(kInvalidHandle, std::string(kSymbols[call]) + ": no such stream");
  (stream->capture ? stream->capture->nodes : stream->queue).push_back(std::move(op));
  return 0;
}

// Runs what waits, up to and with the event.
CuResult run(Stream* stream, const Event* until) {
  const Open open;
  size_t done = 0;
  CuResult result = 0;
  while (done < stream->queue.size() && !result) {
    const Operation& op = stream->queue[done++];
    g->clock_ms += 0.01;
    if (op.event) {
      op.event->recorded = true, op.event->ms = g->clock_ms, op.event->stream = nullptr;
      if (op.event == until) break;
    } else {
      result = op.run();
    }
  }
  stream->queue.erase(stream->queue.begin(), stream->queue.begin() + static_cast<std::ptrdiff_t>(done));
  if (result) g->dead = result;
  return result;
}
CuResult run_all() {
  for (Stream* s : g->streams)
    if (const CuResult r = run(s, nullptr)) return r;
  return 0;
}
// What a capture may not do.
bool capturing(Call call) {
  for (Stream* s : g->streams)
    if (s->capture) {
      s->capture_broken = true;
      complain(0, std::string(kSymbols[call]) + " while a stream is captured");
      return true;
    }
  return false;
}

// ---- images -----------------------------------------------------------------------------------------------------------------

template <class T>
T at(const uint8_t* p, size_t offset) {
  T v;
  std::memcpy(&v, p + offset, sizeof v);
  return v;
}

// ELF of a cubin: its GPU, and of every kernel (.text.NAME) the bytes of its parameters, its threads at most and its shared memory.
CuResult read_cubin(const uint8_t* d, Module* module) {
  if (at<uint16_t>(d, 18) != 190) return kInvalidImage;
  const uint32_t flags = at<uint32_t>(d, 48), arch = d[8] >= 8 ? flags >> 8 & 255 : flags & 255, device = g->setup.arch;
  const bool jetson = arch == 87 || arch == 110 || device == 87 || device == 110;
  if (arch != device && (jetson || arch / 10 != device / 10 || arch > device)) return kNoBinary;
  if (g->setup.driver_version < (d[8] >= 8 ? 13000 : 12000)) return kInvalidImage;
  const auto table = at<uint64_t>(d, 40);
  const auto n = at<uint16_t>(d, 60), names = at<uint16_t>(d, 62);
  const auto section = [&](uint32_t i) { return d + table + i * 64; };
  const uint8_t* text = d + at<uint64_t>(section(names), 24);
  const auto name = [&](uint32_t i) { return std::string(reinterpret_cast<const char*>(text + at<uint32_t>(section(i), 0))); };
  for (uint32_t i = 0; i < n; ++i)
    if (name(i).rfind(".text.", 0) == 0) {
      auto k = std::make_unique<Kernel>();
      k->name = name(i).substr(6);
      module->kernels[k->name] = std::move(k);
    }
  for (uint32_t i = 0; i < n; ++i) {
    const std::string s = name(i);
    const uint8_t* data = d + at<uint64_t>(section(i), 24);
    const auto bytes = at<uint64_t>(section(i), 32);
    if (s.rfind(".nv.shared.", 0) == 0 && module->kernels.count(s.substr(11))) module->kernels[s.substr(11)]->static_shared = bytes;
    if (s.rfind(".nv.info.", 0) != 0 || !module->kernels.count(s.substr(9))) continue;
    Kernel& k = *module->kernels[s.substr(9)];
    for (size_t p = 0; p + 4 <= bytes;) {  // kind, name, and 16 bits that are the value or, with kind 4, the bytes behind
      const uint8_t kind = data[p], what = data[p + 1];
      const auto value = at<uint16_t>(data, p + 2);
      if (what == 0x19) k.n_args = value;
      if (what == 0x05 && kind == 4) k.max_threads = at<uint32_t>(data, p + 4);
      p += 4 + (kind == 4 ? value : 0u);
    }
  }
  return 0;
}

// PTX: ".entry NAME(", ".param .align 8 .b8 NAME_param_0[24]", ".maxntid 256".
CuResult read_ptx(const char* text, Module* module) {
  const char* version = std::strstr(text, ".version ");
  const char* target = std::strstr(text, ".target sm_");
  if (!version || !target) return kInvalidImage;
  if (g->setup.arch < static_cast<uint32_t>(std::atoi(target + 11))) return kNoBinary;
  for (const char* p = text; (p = std::strstr(p, ".entry "));) {
    p += 7;
    const char *open = std::strchr(p, '('), *body = std::strchr(p, '{');
    if (!open || !body) return kInvalidImage;
    auto k = std::make_unique<Kernel>();
    k->name = std::string(p, open);
    const std::string head(open, body);
    if (const size_t b = head.find('['); b != std::string::npos) k->n_args = static_cast<size_t>(std::atoi(head.c_str() + b + 1));
    if (const size_t t = head.find(".maxntid "); t != std::string::npos)
      k->max_threads = static_cast<unsigned>(std::atoi(head.c_str() + t + 9));
    module->kernels[k->name] = std::move(k);
  }
  return 0;
}

size_t shared_limit(bool opted) {
  const uint32_t a = g->setup.arch;
  return size_t{!opted ? 48u : a == 80 || a == 87 ? 163u : a == 86 || a == 89 ? 99u : 227u} << 10;
}

// Ends the context with all that is in it.
void give_back() {
  for (const auto& [p, b] : g->blocks) munmap(b.base, b.mapped);
  for (const auto& [p, n] : g->host_blocks) std::free(p);
  for (Stream* s : g->streams) delete s->capture, delete s;
  for (Event* e : g->events) delete e;
  for (Module* m : g->modules) delete m;
  for (Graph* x : g->graphs) delete x;
  for (Graph* x : g->execs) delete x;
  g->blocks.clear(), g->host_blocks.clear(), g->registered.clear(), g->streams.clear(), g->events.clear(), g->modules.clear(),
      g->graphs.clear(), g->execs.clear();
  g->bytes = g->host_bytes = 0, g->dead = 0;
}

// ---- the functions ------------------------------------------------------------------------------------------------------------

CuResult f_init(unsigned flags) {
  ENTER(init, false);
  if (flags) return complain(kInvalidValue, "cuInit: flags");
  if (g->setup.init_result) return g->setup.init_result;
  g->started = true;
  return 0;
}
CuResult f_driver_version(int* version) {
  ENTER(driver_version, false);
  *version = g->setup.driver_version;
  return 0;
}
CuResult f_device_count(int* n) {
  ENTER(device_count, false);
  *n = g->setup.devices;
  return 0;
}
CuResult f_device_get(CuDevice* device, int i) {
  ENTER(device_get, false);
  if (i < 0 || i >= g->setup.devices) return kInvalidDevice;
  *device = i;
  return 0;
}
CuResult f_device_name(char* name, int cap, CuDevice) {
  ENTER(device_name, false);
  std::snprintf(name, static_cast<size_t>(cap), "fake GPU");
  return 0;
}
CuResult f_device_attribute(int* value, CuAttribute which, CuDevice) {
  ENTER(device_attribute, false);
  const FakeCudaSetup& s = g->setup;
  switch (which) {
    case kCuSms:
      *value = static_cast<int>(s.n_sms);
      break;
    case kCuMajor:
      *value = static_cast<int>(s.arch / 10);
      break;
    case kCuMinor:
      *value = static_cast<int>(s.arch % 10);
      break;
    case kCuIntegrated:
      *value = s.integrated;
      break;
    case kCuUnifiedAddressing:
      *value = 1;
      break;
    case kCuSharedPerBlock:
      *value = static_cast<int>(shared_limit(false));
      break;
    case kCuSharedPerBlockOptIn:
      *value = static_cast<int>(shared_limit(true));
      break;
    case kCuClockKhz:
      *value = 1020000;
      break;
    case kCuMemoryClockKhz:
      *value = 3199000;
      break;
    case kCuBusBits:
      *value = 128;
      break;
    case kCuL2Bytes:
      *value = 2 << 20;
      break;
    default:
      return kInvalidValue;
  }
  return 0;
}
CuResult f_device_memory(size_t* bytes, CuDevice) {
  ENTER(device_memory, false);
  *bytes = g->setup.memory_bytes;
  return 0;
}
CuResult f_context_retain(CuContext* context, CuDevice) {
  ENTER(context_retain, false);
  ++g->retained;
  *context = reinterpret_cast<CuContext>(g.get());
  return 0;
}
CuResult f_context_release(CuDevice) {
  ENTER(context_release, false);
  if (!g->retained) return complain(kInvalidContext, "the context was released more often than it was retained");
  if (--g->retained == 0 && g->dead) give_back();  // what a context that failed holds can be given back with it alone
  return 0;
}
CuResult f_context_push(CuContext context) {
  ENTER(context_push, false);
  if (context != reinterpret_cast<CuContext>(g.get()) || !g->retained)
    return complain(kInvalidContext, "cuCtxPushCurrent: no such context");
  g->contexts.push_back(context);
  return 0;
}
CuResult f_context_pop(CuContext* context) {
  ENTER(context_pop, false);
  if (g->contexts.empty()) return complain(kInvalidContext, "cuCtxPopCurrent: none is current");
  if (context) *context = g->contexts.back();
  g->contexts.pop_back();
  return 0;
}
CuResult f_memory_info(size_t* free, size_t* total) {
  ENTER(memory_info, true);
  *free = g->setup.memory_bytes - g->bytes;
  *total = g->setup.memory_bytes;
  return 0;
}
CuResult f_alloc(CuPointer* p, size_t bytes) {
  ENTER(alloc, true);
  if (capturing(kCall_alloc)) return kCaptureUnsupported;
  if (!bytes) return complain(kInvalidValue, "cuMemAlloc of no bytes");
  if (bytes > g->setup.largest_block)
    return complain(kOutOfMemory,
                    "cuMemAlloc of " + std::to_string(bytes) + " bytes: blocks may have " + std::to_string(g->setup.largest_block));
  if (bytes > g->setup.memory_bytes - g->bytes) return kOutOfMemory;
  const size_t rounded = (bytes + kRound - 1) / kRound * kRound, pages = (rounded + kPage - 1) / kPage * kPage;
  void* base = mmap(nullptr, pages + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return kOutOfMemory;
  std::memset(base, 0xC5, pages);
  mprotect(static_cast<uint8_t*>(base) + pages, kPage, PROT_NONE);
  if (g->setup.protect && !g->open) mprotect(base, pages, PROT_NONE);
  uint8_t* user = static_cast<uint8_t*>(base) + (pages - rounded);
  g->blocks[user] = {static_cast<uint8_t*>(base), pages + kPage, bytes};
  g->bytes += bytes;
  g->most = g->bytes > g->most ? g->bytes : g->most;
  *p = reinterpret_cast<CuPointer>(user);
  return 0;
}
CuResult f_free(CuPointer p) {
  ENTER(free, true);
  if (capturing(kCall_free)) return kCaptureUnsupported;
  const auto it = g->blocks.find(reinterpret_cast<uint8_t*>(p));
  if (it == g->blocks.end()) return complain(kInvalidValue, "cuMemFree of what is no block, or free already");
  if (const CuResult r = run_all()) return r;
  g->bytes -= it->second.bytes;
  munmap(it->second.base, it->second.mapped);
  g->blocks.erase(it);
  return 0;
}
CuResult f_alloc_host(void** p, size_t bytes) {
  ENTER(alloc_host, true);
  if (capturing(kCall_alloc_host)) return kCaptureUnsupported;
  *p = std::malloc(bytes);
  if (!*p) return kOutOfMemory;
  std::memset(*p, 0xC5, bytes);
  g->host_blocks[static_cast<uint8_t*>(*p)] = bytes;
  g->host_bytes += bytes;
  return 0;
}
CuResult f_free_host(void* p) {
  ENTER(free_host, true);
  const auto it = g->host_blocks.find(static_cast<uint8_t*>(p));
  if (it == g->host_blocks.end()) return complain(kInvalidValue, "cuMemFreeHost of what is no block, or free already");
  if (const CuResult r = run_all()) return r;
  g->host_bytes -= it->second;
  g->host_blocks.erase(it);
  std::free(p);
  return 0;
}
CuResult f_host_register(void* p, size_t bytes, unsigned flags) {
  ENTER(host_register, true);
  const auto* from = static_cast<uint8_t*>(p);
  if (!(flags & kCuHostRegisterMapped) || reinterpret_cast<uintptr_t>(p) % kPage || bytes % kPage)
    return complain(kInvalidValue, "cuMemHostRegister not mapped, or not of whole pages");
  for (const auto& [q, n] : g->registered)
    if (from < q + n && q < from + bytes) return complain(kInvalidValue, "cuMemHostRegister of pages that are registered");
  if (!p || !bytes || g->registered.count(static_cast<uint8_t*>(p)))
    return complain(kInvalidValue, "cuMemHostRegister of nothing, or again");
  g->registered[static_cast<uint8_t*>(p)] = bytes;
  return 0;
}
CuResult f_host_unregister(void* p) {
  ENTER(host_unregister, true);
  if (const CuResult r = run_all()) return r;
  return g->registered.erase(static_cast<uint8_t*>(p)) ? 0 : complain(kInvalidValue, "cuMemHostUnregister of what is not registered");
}
CuResult f_host_pointer(CuPointer* device, void* p, unsigned flags) {
  ENTER(host_pointer, true);
  if (flags || !pinned(p, 1)) return complain(kInvalidValue, "cuMemHostGetDevicePointer of memory that is not pinned");
  *device = reinterpret_cast<CuPointer>(p);
  return 0;
}
CuResult f_copy_to_device(CuPointer to, const void* from, size_t bytes, CuStream s) {
  ENTER(copy_to_device, true);
  if (!inside(to, bytes)) return complain(kInvalidValue, "cuMemcpyHtoD past a block");
  if (pinned(from, bytes))
    return put(kCall_copy_to_device, s,
               {[=] { return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0; }});  // read when its turn comes
  Stream* stream = stream_of(s);
  if (stream && stream->capture) return complain(kInvalidValue, "a copy from memory that is not pinned is captured");
  const auto* p = static_cast<const uint8_t*>(from);
  return put(kCall_copy_to_device, s, {[to, copy = std::vector<uint8_t>(p, p + bytes)] {
               return std::memcpy(reinterpret_cast<void*>(to), copy.data(), copy.size()), 0;
             }});
}
CuResult f_copy_to_host(void* to, CuPointer from, size_t bytes, CuStream s) {
  ENTER(copy_to_host, true);
  if (!inside(from, bytes)) return complain(kInvalidValue, "cuMemcpyDtoH past a block");
  std::memset(to, 0xC5, bytes);  // it may be written at any time from now on
  return put(kCall_copy_to_host, s, {[=] { return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0; }});
}
CuResult f_copy(CuPointer to, CuPointer from, size_t bytes, CuStream s) {
  ENTER(copy, true);
  if (!inside(to, bytes) || !inside(from, bytes)) return complain(kInvalidValue, "cuMemcpyDtoD past a block");
  if (to < from + bytes && from < to + bytes && bytes) return complain(kInvalidValue, "cuMemcpyDtoD of what overlaps");
  return put(kCall_copy, s, {[=] { return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes), 0; }});
}
CuResult f_set(CuPointer to, unsigned char value, size_t bytes, CuStream s) {
  ENTER(set, true);
  if (!inside(to, bytes)) return complain(kInvalidValue, "cuMemsetD8 past a block");
  return put(kCall_set, s, {[=] { return std::memset(reinterpret_cast<void*>(to), value, bytes), 0; }});
}
CuResult f_set_rows(CuPointer to, size_t pitch, unsigned char value, size_t bytes, size_t rows, CuStream s) {
  ENTER(set_rows, true);
  if (!rows || !bytes || pitch < bytes || !inside(to, (rows - 1) * pitch + bytes))
    return complain(kInvalidValue, "cuMemsetD2D8 past a block");
  return put(kCall_set_rows, s, {[=] {
               for (size_t i = 0; i < rows; ++i) std::memset(reinterpret_cast<uint8_t*>(to) + i * pitch, value, bytes);
               return 0;
             }});
}
CuResult f_stream_create(CuStream* stream, unsigned) {
  ENTER(stream_create, true);
  auto* s = new Stream;
  g->streams.insert(s);
  *stream = reinterpret_cast<CuStream>(s);
  return 0;
}
CuResult f_stream_destroy(CuStream stream) {
  ENTER(stream_destroy, true);
  Stream* s = stream_of(stream);
  if (!s) return complain(kInvalidHandle, "cuStreamDestroy: no such stream");
  const CuResult r = s->capture ? complain(kInvalidValue, "cuStreamDestroy: it is captured") : run(s, nullptr);
  if (s->capture) g->graphs.erase(s->capture), delete s->capture;
  g->streams.erase(s);
  delete s;
  return r;
}
CuResult f_stream_wait(CuStream stream) {
  ENTER(stream_wait, true);
  Stream* s = stream_of(stream);
  if (!s) return complain(kInvalidHandle, "cuStreamSynchronize: no such stream");
  if (s->capture) {
    s->capture_broken = true;
    return complain(kCaptureUnsupported, "cuStreamSynchronize while the stream is captured");
  }
  return run(s, nullptr);
}
CuResult f_capture_begin(CuStream stream, unsigned mode) {
  ENTER(capture_begin, true);
  Stream* s = stream_of(stream);
  if (!s || s->capture || mode > 2) return complain(kInvalidValue, "cuStreamBeginCapture: no such stream, or captured already");
  s->capture = new Graph;
  s->capture_broken = false;
  return 0;
}
CuResult f_capture_end(CuStream stream, CuGraph* graph) {
  ENTER(capture_end, true);
  Stream* s = stream_of(stream);
  if (!s || !s->capture) return complain(kInvalidValue, "cuStreamEndCapture: nothing is captured");
  Graph* made = s->capture;
  s->capture = nullptr;
  *graph = nullptr;
  if (s->capture_broken) {
    delete made;
    return kCaptureInvalidated;
  }
  g->graphs.insert(made);
  *graph = reinterpret_cast<CuGraph>(made);
  return 0;
}
CuResult f_graph_make(CuGraphExec* exec, CuGraph graph, unsigned long long) {
  ENTER(graph_make, true);
  auto* from = reinterpret_cast<Graph*>(graph);
  if (!g->graphs.count(from)) return complain(kInvalidHandle, "cuGraphInstantiate: no such graph");
  auto* made = new Graph(*from);
  g->execs.insert(made);
  *exec = reinterpret_cast<CuGraphExec>(made);
  return 0;
}
CuResult f_graph_launch(CuGraphExec exec, CuStream stream) {
  ENTER(graph_launch, true);
  auto* e = reinterpret_cast<Graph*>(exec);
  Stream* s = stream_of(stream);
  if (!g->execs.count(e) || !s || s->capture) return complain(kInvalidHandle, "cuGraphLaunch: no such graph or stream, or it is captured");
  s->queue.insert(s->queue.end(), e->nodes.begin(), e->nodes.end());
  return 0;
}
CuResult f_graph_exec_destroy(CuGraphExec exec) {
  ENTER(graph_exec_destroy, true);
  auto* e = reinterpret_cast<Graph*>(exec);
  if (!g->execs.erase(e)) return complain(kInvalidHandle, "cuGraphExecDestroy: no such graph");
  delete e;
  return 0;
}
CuResult f_graph_destroy(CuGraph graph) {
  ENTER(graph_destroy, true);
  auto* e = reinterpret_cast<Graph*>(graph);
  if (!g->graphs.erase(e)) return complain(kInvalidHandle, "cuGraphDestroy: no such graph");
  delete e;
  return 0;
}
CuResult f_event_create(CuEvent* event, unsigned flags) {
  ENTER(event_create, true);
  auto* e = new Event;
  e->timed = !(flags & kCuEventNoTiming);
  g->events.insert(e);
  *event = reinterpret_cast<CuEvent>(e);
  return 0;
}
CuResult f_event_destroy(CuEvent event) {
  ENTER(event_destroy, true);
  auto* e = reinterpret_cast<Event*>(event);
  if (!g->events.count(e)) return complain(kInvalidHandle, "cuEventDestroy: no such event");
  for (Stream* s : g->streams)
    for (Operation& op : s->queue)
      if (op.event == e) op = {[] { return 0; }};
  g->events.erase(e);
  delete e;
  return 0;
}
CuResult f_event_record(CuEvent event, CuStream stream) {
  ENTER(event_record, true);
  auto* e = reinterpret_cast<Event*>(event);
  Stream* s = stream_of(stream);
  if (!g->events.count(e) || !s) return complain(kInvalidHandle, "cuEventRecord: no such event or stream");
  if (s->capture) return complain(kInvalidValue, "cuEventRecord while the stream is captured");
  e->stream = s;
  e->recorded = false;
  Operation op;
  op.event = e;
  return put(kCall_event_record, stream, std::move(op));
}
CuResult f_event_wait(CuEvent event) {
  ENTER(event_wait, true);
  auto* e = reinterpret_cast<Event*>(event);
  if (!g->events.count(e)) return complain(kInvalidHandle, "cuEventSynchronize: no such event");
  return e->stream && g->streams.count(e->stream) ? run(e->stream, e) : 0;
}
CuResult f_event_ms(float* ms, CuEvent from, CuEvent to) {
  ENTER(event_ms, true);
  const auto *a = reinterpret_cast<Event*>(from), *b = reinterpret_cast<Event*>(to);
  if (!g->events.count(const_cast<Event*>(a)) || !g->events.count(const_cast<Event*>(b)) || !a->timed || !b->timed)
    return complain(kInvalidHandle, "cuEventElapsedTime: events without time");
  if (!a->recorded || !b->recorded) return kNotReady;
  *ms = static_cast<float>(b->ms - a->ms);
  return 0;
}
CuResult f_module_load(CuModule* module, const void* image) {
  ENTER(module_load, true);
  auto made = std::make_unique<Module>();
  const bool elf = std::memcmp(image, "\177ELF", 4) == 0;
  if (const CuResult r =
          elf ? read_cubin(static_cast<const uint8_t*>(image), made.get()) : read_ptx(static_cast<const char*>(image), made.get()))
    return complain(r, "cuModuleLoadData: not for this GPU");
  g->modules.insert(made.get());
  *module = reinterpret_cast<CuModule>(made.release());
  return 0;
}
CuResult f_module_unload(CuModule module) {
  ENTER(module_unload, true);
  auto* m = reinterpret_cast<Module*>(module);
  if (!g->modules.erase(m)) return complain(kInvalidHandle, "cuModuleUnload: no such module");
  delete m;
  return 0;
}
Kernel* kernel_of(CuFunction f) {
  for (Module* m : g->modules)
    for (const auto& [name, k] : m->kernels)
      if (k.get() == reinterpret_cast<Kernel*>(f)) return k.get();
  return nullptr;
}
CuResult f_module_function(CuFunction* function, CuModule module, const char* name) {
  ENTER(module_function, true);
  auto* m = reinterpret_cast<Module*>(module);
  if (!g->modules.count(m)) return complain(kInvalidHandle, "cuModuleGetFunction: no such module");
  const auto it = m->kernels.find(name);
  if (it == m->kernels.end()) return complain(kNotFound, std::string("cuModuleGetFunction: no kernel ") + name);
  *function = reinterpret_cast<CuFunction>(it->second.get());
  return 0;
}
CuResult f_function_get(int* value, int attribute, CuFunction function) {
  ENTER(function_get, true);
  Kernel* k = kernel_of(function);
  if (!k || attribute != kCuFuncShared) return complain(kInvalidValue, "cuFuncGetAttribute: no such function or attribute");
  *value = static_cast<int>(k->static_shared);
  return 0;
}
CuResult f_function_set(CuFunction function, int attribute, int value) {
  ENTER(function_set, true);
  Kernel* k = kernel_of(function);
  if (!k || attribute != kCuFuncDynamicShared) return complain(kInvalidValue, "cuFuncSetAttribute: no such function or attribute");
  if (value < 0 || k->static_shared + static_cast<size_t>(value) > shared_limit(true))
    return complain(kInvalidValue, k->name + ": more shared memory than a block may have");
  k->dynamic_shared = value;
  return 0;
}
CuResult f_launch(CuFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                  CuStream stream, void** params, void** extra) {
  ENTER(launch, true);
  Kernel* k = kernel_of(function);
  if (!k || extra || !params) return complain(kInvalidHandle, "cuLaunchKernel: no such function, or no arguments");
  const size_t threads = size_t{bx} * by * bz;
  if (!gx || !gy || !gz || !threads || gx > 0x7FFFFFFF || gy > 65535 || gz > 65535)
    return complain(kInvalidValue, k->name + ": a grid of " + std::to_string(gx) + " x " + std::to_string(gy) + " x " + std::to_string(gz));
  if (threads > k->max_threads)
    return complain(kOutOfResources, k->name + ": " + std::to_string(threads) + " threads, compiled for " + std::to_string(k->max_threads));
  if (k->static_shared + shared_bytes > shared_limit(false) && shared_bytes > static_cast<unsigned>(k->dynamic_shared))
    return complain(kInvalidValue,
                    k->name + ": " + std::to_string(shared_bytes) + " bytes of shared memory were not asked for by cuFuncSetAttribute");
  const auto* args = static_cast<const uint8_t*>(params[0]);
  return put(kCall_launch, stream,
             {[=, name = k->name, n_args = k->n_args, copy = std::vector<uint8_t>(args, args + k->n_args)]() -> CuResult {
               ++g->launches[name];
               const unsigned grid[3] = {gx, gy, gz};
               alignas(16) uint8_t aligned[4096];
               std::memcpy(aligned, copy.data(), copy.size());
               if (!g->setup.run || g->setup.run(name.c_str(), grid, static_cast<unsigned>(threads), shared_bytes, aligned, n_args))
                 return 0;
               return complain(kLaunchFailed, name + ": failed in the emulator");
             }});
}
CuResult f_error_name(CuResult error, const char** name) {
  ENTER(error_name, false);
  static constexpr struct {
    CuResult code;
    const char* name;
  } kNames[] = {{1, "CUDA_ERROR_INVALID_VALUE"},     {2, "CUDA_ERROR_OUT_OF_MEMORY"},   {100, "CUDA_ERROR_NO_DEVICE"},
                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}, {999, "CUDA_ERROR_UNKNOWN"}};
  for (const auto& n : kNames)
    if (n.code == error) return *name = n.name, 0;
  return kInvalidValue;
}

constexpr CudaDriver kTable = {
#define LINNET_X(name, symbol, params) f_##name,
    LINNET_CUDA_DRIVER(LINNET_X)
#undef LINNET_X
};

}  // namespace

FakeCuda::FakeCuda(const FakeCudaSetup& setup) {
  g = std::make_unique<State>();
  g->setup = setup;
  cuda_driver_replace(&kTable);
}
FakeCuda::~FakeCuda() {
  cuda_driver_replace(nullptr);
  give_back();
  g.reset();
}
const CudaDriver* FakeCuda::driver() const { return &kTable; }
uint64_t FakeCuda::calls() const { return g->calls; }
static size_t call_of(const char* symbol) {
  for (size_t i = 0; i < kCalls; ++i)
    if (std::strcmp(kSymbols[i], symbol) == 0) return i;
  std::fprintf(stderr, "cuda_fake_driver: no function %s\n", symbol);
  std::abort();
}
uint64_t FakeCuda::calls(const char* symbol) const { return g->calls_of[call_of(symbol)]; }
uint64_t FakeCuda::launches(const char* kernel) const {
  const auto it = g->launches.find(kernel);
  return it == g->launches.end() ? 0 : it->second;
}
size_t FakeCuda::argument_bytes(const char* kernel) const {
  for (const Module* m : g->modules)
    if (const auto it = m->kernels.find(kernel); it != m->kernels.end()) return it->second->n_args;
  return 0;
}
void FakeCuda::fail_call(uint64_t n, CuResult code) {
  g->fail_at = g->calls + n, g->fail_code = code, g->failed = nullptr, g->fail_of = kCalls;
}
void FakeCuda::fail_call(const char* symbol, uint64_t n, CuResult code) {
  g->fail_of = call_of(symbol);
  g->fail_of_at = g->calls_of[g->fail_of] + n, g->fail_code = code, g->failed = nullptr, g->fail_at = 0;
}
void FakeCuda::heal() { g->dead = 0, g->fail_at = 0, g->fail_of = kCalls; }
const char* FakeCuda::failed() const { return g->failed; }
size_t FakeCuda::bytes() const { return g->bytes; }
size_t FakeCuda::most_bytes() const { return g->most; }
size_t FakeCuda::host_bytes() const { return g->host_bytes; }
size_t FakeCuda::pending() const {
  size_t n = 0;
  for (const Stream* s : g->streams) n += s->queue.size();
  return n;
}
std::string FakeCuda::left() const {
  std::string out;
  for (const auto& [p, b] : g->blocks) out += "device memory, " + std::to_string(b.bytes) + " bytes\n";
  for (const auto& [p, n] : g->host_blocks) out += "host memory, " + std::to_string(n) + " bytes\n";
  for (const auto& [p, n] : g->registered) out += "registered memory, " + std::to_string(n) + " bytes\n";
  const auto count = [&](size_t n, const char* what) {
    if (n) out += std::to_string(n) + " " + what + "\n";
  };
  count(g->streams.size(), "streams");
  count(g->events.size(), "events");
  count(g->modules.size(), "modules");
  count(g->graphs.size(), "graphs");
  count(g->execs.size(), "graphs made to run");
  count(g->retained, "retained contexts");
  count(g->contexts.size(), "current contexts");
  return out;
}
const std::vector<std::string>& FakeCuda::complaints() const { return g->complaints; }

}  // namespace linnet
