// Prefill by oneDNN, for builds with -DLINNET_ONEDNN=ON and only where it is asked for by name: int8 products of many rows, one scale group
// at a time. Dots are exact and the epilogue is linnet's, so the bits are scalar.cpp's. Few rows and odd panels go to avx512_vnni.
//
// oneDNN 2.x reads P16K4 (its tag BA16a16b4a) in its fast path only where the whole matrix is given: of a part along k it says that strides
// are not its own and takes a reference loop. A scale group is such a part, so its codes are copied, 16 KiB at a time, into a buffer that
// stays in the cache, and their sums are taken on the way. Calls of oneDNN allocate memory of its own.
#if !defined(__AVX512VNNI__)
#error "onednn.cpp needs the flags of avx512_vnni.cpp"
#endif
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include "avx512.h"

namespace linnet {
namespace {

constexpr uint32_t kRows = 64, kPanels = 8, kCols = kPanels * 16,
                   kFewest = 48;  // a call's rows and outputs; with fewer rows than kFewest the rest of a call costs more
constexpr uint32_t kMaxGroup = 128, kSlots = 64;

// What one call needs; as many threads as there are slots compute at a time, others take avx512_vnni.
struct Slot {
  alignas(64) uint8_t x[kRows * kMaxGroup];  // (kRows, group): codes + 128
  alignas(64) int8_t w[kCols * kMaxGroup];   // kPanels panels of (group)
  alignas(64) int32_t dot[kRows * kCols];    // (kRows, kCols)
  alignas(64) float acc[kRows * kCols];      // (kRows, kCols)
  alignas(64) int32_t sum128[kCols];         // 128 * sum of an output's codes
  alignas(64) uint8_t scratch[16384];
  dnnl_stream_t stream;
  dnnl_exec_arg_t args[2][4];  // of each Product
  uint32_t taken;
};
Slot g_slots[kSlots];

struct Product {
  uint32_t group;
  dnnl_primitive_t primitive;
};
Product g_products[2] = {{128, nullptr}, {64, nullptr}};

// How a matrix lies: oneDNN 3 keeps such descriptions to itself, oneDNN 2 has them as structs.
#if DNNL_VERSION_MAJOR >= 3
using LayoutView = const_dnnl_memory_desc_t;
struct Layout {
  dnnl_memory_desc_t desc = nullptr;
  ~Layout() { dnnl_memory_desc_destroy(desc); }
  LayoutView view() const { return desc; }
  bool describe(const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_create_with_tag(&desc, 2, dims, type, tag) == dnnl_success;
  }
};
dnnl_status_t describe_product(dnnl_primitive_desc_t* desc, const Layout& x, const Layout& w, const Layout& y, dnnl_primitive_attr_t attr,
                               dnnl_engine_t engine) {
  return dnnl_matmul_primitive_desc_create(desc, engine, x.view(), w.view(), nullptr, y.view(), attr);
}
#else
using LayoutView = const dnnl_memory_desc_t*;
struct Layout {
  dnnl_memory_desc_t desc;
  LayoutView view() const { return &desc; }
  bool describe(const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_init_by_tag(&desc, 2, dims, type, tag) == dnnl_success;
  }
};
dnnl_status_t describe_product(dnnl_primitive_desc_t* desc, const Layout& x, const Layout& w, const Layout& y, dnnl_primitive_attr_t attr,
                               dnnl_engine_t engine) {
  dnnl_matmul_desc_t product;
  const dnnl_status_t status = dnnl_matmul_desc_init(&product, x.view(), w.view(), nullptr, y.view());
  return status == dnnl_success ? dnnl_primitive_desc_create(desc, &product, attr, engine, nullptr) : status;
}
#endif

bool make_product(dnnl_engine_t engine, uint32_t index) {
  const int64_t group = g_products[index].group;
  const dnnl_dims_t x_dims = {kRows, group}, w_dims = {group, kCols}, y_dims = {kRows, kCols};
  Layout x, w, y;
  dnnl_primitive_attr_t attr = nullptr;
  dnnl_primitive_desc_t desc = nullptr;
  bool ok = x.describe(x_dims, dnnl_u8, dnnl_ab) && w.describe(w_dims, dnnl_s8, dnnl_BA16a16b4a) && y.describe(y_dims, dnnl_s32, dnnl_ab) &&
            dnnl_primitive_attr_create(&attr) == dnnl_success &&
            dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user) == dnnl_success &&
            describe_product(&desc, x, w, y, attr, engine) == dnnl_success;
  const char* how = "";
  ok = ok && dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &how) == dnnl_success && __builtin_memcmp(how, "brg", 3) == 0;
  const LayoutView scratch = ok ? dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0) : nullptr;
  ok = ok && (!scratch || dnnl_memory_desc_get_size(scratch) <= sizeof g_slots[0].scratch) &&
       dnnl_primitive_create(&g_products[index].primitive, desc) == dnnl_success;
  for (uint32_t i = 0; ok && i < kSlots; ++i) {
    Slot& s = g_slots[i];
    dnnl_exec_arg_t* to = s.args[index];
    const struct {
      int arg;
      LayoutView desc;
      void* data;
    } all[4] = {{DNNL_ARG_SRC, x.view(), s.x},
                {DNNL_ARG_WEIGHTS, w.view(), s.w},
                {DNNL_ARG_DST, y.view(), s.dot},
                {DNNL_ARG_SCRATCHPAD, scratch, s.scratch}};
    for (uint32_t j = 0; ok && j < 4; ++j) {
      to[j].arg = all[j].arg;
      ok = dnnl_memory_create(&to[j].memory, all[j].desc, engine, all[j].data) == dnnl_success;
    }
  }
  dnnl_primitive_desc_destroy(desc);
  dnnl_primitive_attr_destroy(attr);
  return ok;
}

// Once per process, at the first model that asks for this tier; what it makes stays.
bool make_all() {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);  // each of linnet's threads calls for itself
  dnnl_engine_t engine = nullptr;
  bool ok = dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success && make_product(engine, 0) && make_product(engine, 1);
  for (uint32_t i = 0; ok && i < kSlots; ++i)
    ok = dnnl_stream_create(&g_slots[i].stream, engine, dnnl_stream_default_flags) == dnnl_success;
  omp_set_num_threads(threads);
  return ok;
}
const char* start() {
  static uint32_t state;  // 0 nobody came, 1 being made, 2 there, 3 refused
  uint32_t seen = 0;
  if (__atomic_compare_exchange_n(&state, &seen, 1u, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    seen = make_all() ? 2 : 3;
    __atomic_store_n(&state, seen, __ATOMIC_RELEASE);
  }
  while (seen == 1) {
    __builtin_ia32_pause();
    seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  }
  return seen == 2 ? nullptr : "the library that it calls has no fast kernel for this CPU";
}

Slot* take_slot() {
  for (Slot& s : g_slots)
    if (!__atomic_load_n(&s.taken, __ATOMIC_RELAXED) && !__atomic_exchange_n(&s.taken, 1u, __ATOMIC_ACQUIRE)) return &s;
  return nullptr;
}

// kPanels panels' codes of one group, zeros where k ends, and the sums.
void copy_codes(const GemmArgs& a, const char* w, uint32_t n, uint32_t group, Slot* s) {
  const __m512i all128 = _mm512_set1_epi8(-128);
  for (uint32_t p = 0; p < kPanels; ++p, w += a.w_stride) {
    int8_t* to = s->w + p * 16 * group;
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n * 16; i += 64) {
      const __m512i v = _mm512_loadu_si512(w + i);
      _mm512_store_si512(to + i, v);
      sum = _mm512_dpbusd_epi32(sum, all128, v);
    }
    for (uint32_t i = n * 16; i < group * 16; i += 64) _mm512_store_si512(to + i, _mm512_setzero_si512());
    _mm512_store_si512(s->sum128 + p * 16, sum);
  }
}

// `rows` rows from `row` by kPanels panels from `panel`. False if oneDNN found no memory; y is as it was then.
bool block(const GemmArgs& a, uint32_t row, uint32_t rows, uint32_t panel, uint32_t index, size_t scale_step, Slot* s) {
  const uint32_t group = g_products[index].group, kpad = (a.k + 31) / 32 * 32;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  const char* scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  for (uint32_t g = 0, from = 0; from < kpad; ++g, from += group, scale += scale_step) {
    const uint32_t n = kpad - from < group ? kpad - from : group;
    copy_codes(a, w + from * size_t{16}, n, group, s);
    for (uint32_t r = 0; r < rows; ++r) {
      const uint8_t* x = static_cast<const uint8_t*>(a.x) + (row + r) * a.x_stride + from;
      for (uint32_t i = 0; i < n; i += 32)
        _mm256_store_si256(reinterpret_cast<__m256i*>(s->x + r * group + i),
                           _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)), _mm256_set1_epi8(-128)));
    }
    if (dnnl_primitive_execute(g_products[index].primitive, s->stream, 4, s->args[index]) != dnnl_success) return false;
    const float* x_scale = a.x_scale + row * size_t{a.x_groups} + g;
    for (uint32_t p = 0; p < kPanels; ++p) {
      const __m512 ws = _mm512_loadu_ps(scale + p * a.w_scale_stride);
      const __m512i sum128 = _mm512_load_si512(s->sum128 + p * 16);
      for (uint32_t r = 0; r < rows; ++r) {
        float* acc = s->acc + r * kCols + p * 16;
        const __m512 dot = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_load_si512(s->dot + r * kCols + p * 16), sum128));
        _mm512_store_ps(acc, _mm512_fmadd_ps(dot, _mm512_mul_ps(ws, _mm512_set1_ps(x_scale[size_t{r} * a.x_groups])),
                                             g ? _mm512_load_ps(acc) : _mm512_setzero_ps()));
      }
    }
  }
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t p = 0; p < kPanels; ++p) finish(a, row + r, panel + p, _mm512_load_ps(s->acc + r * kCols + p * 16));
  return true;
}

// `rows` rows from `row` by `panels` panels from `panel` of a.
GemmArgs part(const GemmArgs& a, uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels) {
  GemmArgs b = a;
  b.x = static_cast<const char*>(a.x) + row * a.x_stride;
  b.x_scale = a.x_scale + row * size_t{a.x_groups};
  b.x_sum128 = a.x_sum128 + row * size_t{a.x_groups};
  b.w = static_cast<const char*>(a.w) + panel * a.w_stride;
  b.w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
  b.y = a.y + row * a.y_stride + panel * size_t{16};
  if (a.bias) b.bias = a.bias + panel * size_t{16};
  b.m = rows;
  b.n_panels = panels;
  return b;
}

template <linnet_format kFormat>
void gemm(const GemmArgs* args) {
  const GemmArgs& a = *args;
  constexpr uint32_t kIndex = kFormat == LINNET_I8G64 ? 1 : 0;
  constexpr size_t kScaleStep = kFormat == LINNET_I8 ? 0 : 64;
  void (*const few)(const GemmArgs*) = vnni_gemm(kFormat).run;
  Slot* s = a.m >= kFewest && a.n_panels >= kPanels && a.x_group == g_products[kIndex].group ? take_slot() : nullptr;
  if (!s) return few(args);
  const uint32_t panels = a.n_panels / kPanels * kPanels, rows = a.m % kRows < kFewest ? a.m / kRows * kRows : a.m;
  for (uint32_t panel = 0; panel < panels; panel += kPanels)
    for (uint32_t row = 0; row < rows; row += kRows) {
      const uint32_t n = rows - row < kRows ? rows - row : kRows;
      if (block(a, row, n, panel, kIndex, kScaleStep, s)) continue;
      const GemmArgs instead = part(a, row, n, panel, kPanels);
      few(&instead);
    }
  __atomic_store_n(&s->taken, 0u, __ATOMIC_RELEASE);
  if (rows < a.m) {
    const GemmArgs rest = part(a, rows, a.m - rows, 0, panels);
    few(&rest);
  }
  if (panels < a.n_panels) {
    const GemmArgs rest = part(a, 0, a.m, panels, a.n_panels - panels);
    few(&rest);
  }
}

uint64_t peak_int8(uint64_t n) { return vnni_gemm(LINNET_I8).peak(n); }

const GemmKernel kGemm[] = {
    {LINNET_I8, 1, gemm<LINNET_I8>, peak_int8},
    {LINNET_I8G128, 1, gemm<LINNET_I8G128>, peak_int8},
    {LINNET_I8G64, 1, gemm<LINNET_I8G64>, peak_int8},
};

}  // namespace

const KernelTable onednn_table = {
    .isa = LINNET_ISA_ONEDNN,
    .start = start,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
};

}  // namespace linnet
