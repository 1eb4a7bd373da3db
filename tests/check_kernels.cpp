// Every entry of every tier against scalar.cpp, byte for byte, over odd sizes and hostile values, in buffers that end (or
// begin) at a page which must not be touched; scalar.cpp itself against doubles and 64-bit integers; and negative controls.
//   check_kernels [--seed N] [--isa TIER] [--cases N] | --bench [--isa TIER] [--threads N] [--reps N]
#include "check_kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels_cpu/pack.h"
#include "kernels_cpu/registry.h"

using namespace linnet;

namespace check {
namespace {

uint32_t g_cases = 60;  // random cases per entry
uint32_t g_passed, g_failed, g_skipped;

// ---- buffers between guard pages ------------------------------------------------------------------------------------------------

class Guarded {
 public:
  explicit Guarded(size_t max_bytes) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    room_ = (max_bytes + page_ - 1) / page_ * page_;
    base_ = static_cast<uint8_t*>(mmap(nullptr, room_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_, page_, PROT_NONE) || mprotect(base_ + page_ + room_, page_, PROT_NONE)) {
      std::fprintf(stderr, "check_kernels: no memory for buffers\n");
      std::exit(1);
    }
  }
  Guarded(const Guarded&) = delete;
  // `bytes` that end at the guard page, or begin after the other one; filled with a pattern.
  template <class T>
  T* take(size_t count, bool at_front = false) {
    const size_t bytes = count * sizeof(T);
    if (bytes > room_) {
      std::fprintf(stderr, "check_kernels: a test buffer of %zu bytes is too small for %zu\n", room_, bytes);
      std::exit(1);
    }
    uint8_t* p = base_ + page_ + (at_front ? 0 : room_ - bytes);
    std::memset(p, 0xA5, bytes);
    return reinterpret_cast<T*>(p);
  }

 private:
  size_t page_ = 0, room_ = 0;
  uint8_t* base_ = nullptr;
};

struct Buffers {
  Guarded x{1 << 20}, w{1 << 20}, s{1 << 18}, xs{1 << 16}, sum{1 << 16}, bias{1 << 14}, a{1 << 18}, b{1 << 18}, c{1 << 18}, d{1 << 18};
};
Buffers& buffers() {
  static Buffers b;
  return b;
}

// ---- reporting ------------------------------------------------------------------------------------------------------------------

// One (tier, entry): cases counted, the first failure told.
class Entry {
 public:
  Entry(const char* tier, const char* name, const char* what = "") : tier_(tier), name_(name), what_(what) {}
  Entry(const Entry&) = delete;
  ~Entry() {
    if (failed_) {
      ++g_failed;
    } else {
      ++g_passed;
      std::printf("%-7s %-22s ok, %u cases %s\n", tier_, name_, cases_, what_);
    }
  }
  bool ok() const { return !failed_; }
  template <class... Args>
  void expect(bool good, const char* format, Args... args) {
    ++cases_;
    if (good || failed_) return;
    failed_ = true;
    std::printf("%-7s %-22s FAILED, case %u: ", tier_, name_, cases_);
    if constexpr (sizeof...(args) == 0)
      std::fputs(format, stdout);
    else
      std::printf(format, args...);
    std::printf("\n");
  }
  // Equal bytes; NaN equals NaN where nan_ok (their payload is nobody's promise).
  template <class T, class... Args>
  void same(const T* want, const T* got, size_t n, const char* format, Args... args) {
    ++cases_;
    if (failed_ || std::memcmp(want, got, n * sizeof(T)) == 0) return;
    for (size_t i = 0; i < n; ++i) {
      if (std::memcmp(want + i, got + i, sizeof(T)) == 0 || (want[i] != want[i] && got[i] != got[i])) continue;
      failed_ = true;
      std::printf("%-7s %-22s FAILED, case %u: ", tier_, name_, cases_);
      std::printf(format, args...);
      std::printf(": [%zu] is %.9g, not %.9g\n", i, static_cast<double>(got[i]), static_cast<double>(want[i]));
      return;
    }
  }

 private:
  const char *tier_, *name_, *what_;
  uint32_t cases_ = 0;
  bool failed_ = false;
};

// ---- values ---------------------------------------------------------------------------------------------------------------------

uint32_t random_size(Rng& rng) {
  static const uint32_t kHostile[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 384, 1000};
  return rng.below(3) ? kHostile[rng.below(sizeof kHostile / sizeof kHostile[0])] : rng.pick(1, 700);
}

// Ordinary numbers, with zeros, denormals, huge and tiny ones mixed in as `style` says.
void fill_floats(float* x, size_t n, Rng& rng) {
  const uint32_t style = rng.below(6);
  for (size_t i = 0; i < n; ++i) {
    const float u = rng.unit();
    if (style == 0)
      x[i] = u * 1e18f;
    else if (style == 1)
      x[i] = u * 1e-18f;
    else if (style == 2)
      x[i] = rng.below(4) ? 0.0f : u * 1e-40f;
    else if (style == 3)
      x[i] = rng.below(8) ? u : -0.0f;
    else
      x[i] = u * 4.0f;
  }
  if (style == 5 && n) x[rng.below(static_cast<uint32_t>(n))] = 3e3f;
}

void spoil(float* x, size_t n, Rng& rng) {
  static const float kBad[] = {INFINITY, -INFINITY, NAN, -NAN};
  x[rng.below(static_cast<uint32_t>(n))] = kBad[rng.below(4)];
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------------

struct GemmCase {
  linnet_format f;
  uint32_t m, n_panels, k, x_stride_extra;
  bool bias, accumulate;
  GemmArgs a;
};

void make_gemm_case(linnet_format f, Rng& rng, GemmCase* c) {
  Buffers& b = buffers();
  const FormatRow& row = format_row(f);
  *c = {f, rng.pick(1, 17), rng.pick(1, 9), random_size(rng), rng.below(3) * 32, rng.below(2) != 0, rng.below(2) != 0, {}};
  if (rng.below(8) == 0) c->m = 33;
  const bool front = rng.below(4) == 0;
  const size_t kpad = padded_k(f, c->k), n = size_t{c->n_panels} * 16, groups = n_x_groups(f, c->k), w_groups = n_w_groups(f, c->k);
  GemmArgs& a = c->a;
  a.m = c->m;
  a.n_panels = c->n_panels;
  a.k = c->k;
  a.accumulate = c->accumulate;
  uint8_t* packed = new uint8_t[packed_bytes(f, n, c->k)];
  fill_matrix(f, static_cast<uint32_t>(n), c->k, packed, rng);
  uint8_t* w = b.w.take<uint8_t>(n / 16 * panel_bytes(f, c->k), front);
  std::memcpy(w, packed, n / 16 * panel_bytes(f, c->k));
  if (row.integer && rng.below(6) == 0)  // extremes: where a saturating instruction would give itself away
    for (size_t i = 0; i < n / 16 * panel_bytes(f, c->k); ++i) w[i] = w[i] == 0 ? 0 : rng.below(4) ? 0x80 : 0x7F;
  a.w = w;
  a.w_stride = panel_bytes(f, c->k);
  if (row.integer) {
    uint8_t* s = b.s.take<uint8_t>(n * w_groups * row.scale_bytes, front);
    std::memcpy(s, packed + scales_offset(f, n, c->k), n * w_groups * row.scale_bytes);
    a.w_scale = s;
    a.w_scale_stride = w_groups * 16 * row.scale_bytes;
    a.x_stride = kpad + c->x_stride_extra;
    int8_t* x = b.x.take<int8_t>((c->m - 1) * a.x_stride + kpad, front);
    float* xs = b.xs.take<float>(c->m * groups, front);
    int32_t* sum = b.sum.take<int32_t>(c->m * groups, front);
    const uint32_t style = rng.below(4);
    for (uint32_t r = 0; r < c->m; ++r) {
      for (size_t i = 0; i < kpad; ++i) {
        const int v = style == 0 ? (rng.below(2) ? 127 : -127) : style == 1 ? 127 : static_cast<int>(rng.below(255)) - 127;
        x[r * a.x_stride + i] = static_cast<int8_t>(i < c->k ? v : 0);
      }
      for (size_t g = 0; g < groups; ++g) {
        int32_t total = 0;
        for (size_t i = g * row.x_group; i < kpad && i < (g + 1) * row.x_group; ++i) total += x[r * a.x_stride + i];
        sum[r * groups + g] = -128 * total;
        xs[r * groups + g] = rng.below(16) ? std::fabs(rng.unit()) * (style == 2 ? 1e20f : 1e-2f) : rng.below(2) ? 0.0f : 1e-41f;
      }
    }
    a.x = x;
    a.x_scale = xs;
    a.x_sum128 = sum;
    a.x_groups = static_cast<uint32_t>(groups);
    a.x_group = row.x_group;
  } else {
    a.x_stride = (c->k + c->x_stride_extra) * 4;
    float* x = b.x.take<float>((c->m - 1) * a.x_stride / 4 + c->k, front);
    fill_floats(x, (c->m - 1) * a.x_stride / 4 + c->k, rng);
    a.x = x;
  }
  delete[] packed;
  if (c->bias) {
    float* bias = b.bias.take<float>(n, front);
    fill_floats(bias, n, rng);
    a.bias = bias;
  }
  a.y_stride = n + rng.below(3) * 16;
}

size_t y_floats(const GemmArgs& a) { return (a.m - 1) * a.y_stride + size_t{a.n_panels} * 16; }

void start_y(const GemmArgs& a, float* y) {
  for (size_t i = 0; i < y_floats(a); ++i) y[i] = static_cast<float>(i % 97) - 48.0f;
}

// Negative control: one weight scale (or weight) off by 2 % must show, and putting it back must heal.
void control_gemm(const GemmKernel& kernel, const GemmKernel& ref, GemmCase* c, float* want, float* got, Entry* entry) {
  GemmArgs a = c->a;
  const FormatRow& row = format_row(kernel.w);
  a.bias = nullptr;
  a.accumulate = 0;
  uint8_t* spot = static_cast<uint8_t*>(const_cast<void*>(row.integer ? a.w_scale : a.w));
  const uint32_t bytes = row.integer ? row.scale_bytes : row.bytes;
  const auto set = [&](float v) {
    const uint16_t h = kernel.w == LINNET_BF16 ? f32_to_bf16(v) : f32_to_f16(v);
    std::memcpy(spot, bytes == 4 ? static_cast<const void*>(&v) : &h, bytes);
  };
  if (row.integer) {  // row 0 agrees in sign with output 0, so that the spoilt dot is not 0
    int8_t *x = static_cast<int8_t*>(const_cast<void*>(a.x)), *w = static_cast<int8_t*>(const_cast<void*>(a.w));
    int32_t total = 0;
    w[0] = 99;
    for (uint32_t t = 0; t < a.k && t < a.x_group; ++t) {
      x[t] = w[t / 4 * 64 + t % 4] < 0 ? -1 : 1;
      total += x[t];
    }
    const_cast<int32_t*>(a.x_sum128)[0] = -128 * total;
    for (uint32_t g = 0; g < a.x_groups; ++g) const_cast<float*>(a.x_scale)[g] = 0.01f;
  } else {
    static_cast<float*>(const_cast<void*>(a.x))[0] = 1e18f;  // outweighs the rest of the row
  }
  set(0.5f);
  a.y = want;
  ref.run(&a);
  set(0.51f);
  a.y = got;
  kernel.run(&a);
  entry->expect(std::memcmp(want, got, 4) != 0, "a spoilt matrix is not noticed, k %u", a.k);
  set(0.5f);
  kernel.run(&a);
  entry->expect(std::memcmp(want, got, 4) == 0, "a healed matrix differs, k %u", a.k);
}

void check_gemm(const char* tier, const GemmKernel& kernel, const GemmKernel& ref, Rng& rng) {
  char name[32];
  std::snprintf(name, sizeof name, "gemm %s", format_name(kernel.w));
  Entry entry(tier, name);
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases && entry.ok(); ++i) {
    GemmCase c;
    make_gemm_case(kernel.w, rng, &c);
    float* want = b.a.take<float>(y_floats(c.a));
    float* got = b.b.take<float>(y_floats(c.a), i % 4 == 0);
    start_y(c.a, want);
    start_y(c.a, got);
    c.a.y = want;
    ref.run(&c.a);
    c.a.y = got;
    kernel.run(&c.a);
    entry.same(want, got, y_floats(c.a), "m %u panels %u k %u bias %d accumulate %d", c.m, c.n_panels, c.k, c.bias, c.accumulate);
    // A row alone, and the panels one by one, give the same bits.
    float* alone = b.c.take<float>(size_t{c.n_panels} * 16);
    GemmArgs one = c.a;
    const uint32_t r = rng.below(c.m);
    one.m = 1;
    one.x = static_cast<const char*>(c.a.x) + r * c.a.x_stride;
    one.x_scale = c.a.x_scale ? c.a.x_scale + r * size_t{c.a.x_groups} : nullptr;
    one.x_sum128 = c.a.x_sum128 ? c.a.x_sum128 + r * size_t{c.a.x_groups} : nullptr;
    start_y(c.a, want);
    std::memcpy(alone, want + r * c.a.y_stride, size_t{c.n_panels} * 64);
    for (uint32_t p = 0; p < c.n_panels; ++p) {
      GemmArgs part = one;
      part.n_panels = 1;
      part.w = static_cast<const char*>(one.w) + p * one.w_stride;
      part.w_scale = one.w_scale ? static_cast<const char*>(one.w_scale) + p * one.w_scale_stride : nullptr;
      part.bias = one.bias ? one.bias + p * size_t{16} : nullptr;
      part.y = alone + p * size_t{16};
      kernel.run(&part);
    }
    entry.same(got + r * c.a.y_stride, alone, size_t{c.n_panels} * 16, "row %u of m %u alone, panels %u k %u", r, c.m, c.n_panels, c.k);
    if (i < 3) {
      c.a.y = got;
      control_gemm(kernel, ref, &c, want, got, &entry);
    }
  }
}

// scalar.cpp against 64-bit integers and doubles.
void check_gemm_reference(const GemmKernel& kernel, Rng& rng) {
  char name[32];
  std::snprintf(name, sizeof name, "gemm %s", format_name(kernel.w));
  Entry entry("scalar", name, "against doubles");
  const FormatRow& row = format_row(kernel.w);
  Buffers& b = buffers();
  for (uint32_t i = 0; i < g_cases && entry.ok(); ++i) {
    GemmCase c;
    make_gemm_case(kernel.w, rng, &c);
    float* y = b.a.take<float>(y_floats(c.a));
    start_y(c.a, y);
    c.a.y = y;
    kernel.run(&c.a);
    const size_t n = size_t{c.n_panels} * 16, w_groups = n_w_groups(kernel.w, c.k);
    std::vector<float> w(c.k);
    for (size_t j = 0; j < n; j += 1 + rng.below(7)) {
      unpack_row(c.a.w, c.a.w_scale, kernel.w, static_cast<uint32_t>(n), c.k, static_cast<uint32_t>(j), w.data());
      for (uint32_t r = 0; r < c.m; ++r) {
        double sum = 0, size = 0;
        for (uint32_t t = 0; t < c.k; ++t) {
          const char* x = static_cast<const char*>(c.a.x) + r * c.a.x_stride;
          double xv, wv = w[t];
          if (row.integer) {
            // unpack_row rounds code * scale; take the code itself.
            const size_t at = (j / 16 * w_groups + (row.w_group ? t / row.w_group : 0)) * 16 + j % 16;
            const double ws = row.scale_bytes == 2 ? f16_to_f32(static_cast<const uint16_t*>(c.a.w_scale)[at]) : static_cast<const float*>(c.a.w_scale)[at];
            wv = static_cast<const int8_t*>(c.a.w)[j / 16 * c.a.w_stride + t / 4 * 64 + j % 16 * 4 + t % 4] * ws;
            xv = static_cast<double>(reinterpret_cast<const int8_t*>(x)[t]) * static_cast<double>(c.a.x_scale[r * size_t{c.a.x_groups} + t / row.x_group]);
          } else {
            xv = static_cast<double>(reinterpret_cast<const float*>(x)[t]);
          }
          sum += xv * wv;
          size += std::fabs(xv * wv);
        }
        const double start = static_cast<double>(static_cast<float>((r * c.a.y_stride + j) % 97) - 48.0f);
        const double bias = c.a.bias ? static_cast<double>(c.a.bias[j]) : 0.0;
        const double want = sum + bias + (c.accumulate ? start : 0.0);
        const double bound = (size * (c.k + 4) + std::fabs(bias) + 64.0) * 0x1p-23 + 1e-35 * c.k;
        const double got = static_cast<double>(y[r * c.a.y_stride + j]);
        entry.expect(std::fabs(got - want) <= bound || size > 1e37, "m %u panels %u k %u row %u output %zu: %.9g, not %.9g", c.m, c.n_panels, c.k, r, j,
                     got, want);
      }
    }
  }
}

// ---- rows -----------------------------------------------------------------------------------------------------------------------

using T = KernelTable;

void check_quantize(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "quantize_row");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t k = random_size(rng), group = 32u << rng.below(3), kpad = (k + 31) / 32 * 32, groups = (k + group - 1) / group;
    float* x = b.x.take<float>(k, i % 2);
    fill_floats(x, k, rng);
    if (rng.below(4) == 0) spoil(x, k, rng);
    if (rng.below(4) == 0)
      for (uint32_t j = 0; j < k; ++j) x[j] = std::fabs(x[j]) < 1e3f ? std::nearbyint(x[j] * 8) + 0.5f : x[j];  // ties
    int8_t *q1 = b.a.take<int8_t>(kpad), *q2 = b.b.take<int8_t>(kpad, i % 2);
    float *s1 = b.s.take<float>(groups), *s2 = b.xs.take<float>(groups, i % 2);
    int32_t *m1 = b.sum.take<int32_t>(groups), *m2 = b.c.take<int32_t>(groups, i % 2);
    const uint32_t ok1 = ref.quantize_row(x, k, group, q1, s1, m1), ok2 = t.quantize_row(x, k, group, q2, s2, m2);
    entry.expect(ok1 == ok2, "k %u: result %u, not %u", k, ok2, ok1);
    entry.same(q1, q2, kpad, "codes, k %u group %u", k, group);
    entry.same(s1, s2, groups, "scales, k %u group %u", k, group);
    entry.same(m1, m2, groups, "sums, k %u group %u", k, group);
  }
}

void check_codes(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "codes");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t n = random_size(rng);
    float* x = b.x.take<float>(n, i % 2);
    fill_floats(x, n, rng);
    const float inv = i % 5 == 0 ? 0.5f : 127.0f / (std::fabs(rng.unit()) * 4 + 1e-3f);
    int8_t *q1 = b.a.take<int8_t>(n), *q2 = b.b.take<int8_t>(n, i % 2);
    ref.codes(x, n, inv, q1);
    t.codes(x, n, inv, q2);
    entry.same(q1, q2, n, "n %u inv %g", n, static_cast<double>(inv));
  }
}

void check_amax(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "amax_bits");
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t n = random_size(rng);
    float* x = buffers().x.take<float>(n, i % 2);
    fill_floats(x, n, rng);
    if (rng.below(3) == 0) spoil(x, n, rng);
    entry.expect(ref.amax_bits(x, n) == t.amax_bits(x, n), "n %u", n);
  }
}

// Kernels that map n floats (and a second operand) to n floats in place or apart.
template <class Run>
void check_map(const char* tier, const char* name, const T& t, const T& ref, Rng& rng, Run run) {
  Entry entry(tier, name);
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t n = random_size(rng);
    const bool front = i % 2;
    float *x1 = b.a.take<float>(n, front), *x2 = b.b.take<float>(n, front), *w = b.w.take<float>(n, front), *y1 = b.c.take<float>(n, front),
          *y2 = b.d.take<float>(n, front);
    fill_floats(x1, n, rng);
    fill_floats(w, n, rng);
    if (i % 3 == 0)
      for (uint32_t j = 0; j < n; ++j) x1[j] = rng.unit() * 100.0f;
    if (i % 7 == 0) spoil(x1, n, rng);
    std::memcpy(x2, x1, n * 4);
    const bool in_place = i % 3 == 1;
    const float f = rng.unit(), g = rng.unit();
    run(ref, x1, w, n, f, g, in_place ? x1 : y1);
    run(t, x2, w, n, f, g, in_place ? x2 : y2);
    entry.same(x1, x2, n, "n %u in place %d", n, in_place);
    entry.same(y1, y2, n, "n %u apart", n);
  }
}

void check_rope(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "rope_row");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t n = random_size(rng), mode = i % 2;
    const bool front = i % 4 > 1;
    float *x1 = b.a.take<float>(2 * n), *x2 = b.b.take<float>(2 * n, front), *c = b.c.take<float>(n, front), *s = b.d.take<float>(n, front);
    fill_floats(x1, 2 * n, rng);
    std::memcpy(x2, x1, n * 8);
    for (uint32_t j = 0; j < n; ++j) c[j] = rng.unit(), s[j] = rng.unit();
    ref.rope_row(x1, c, s, n, mode);
    t.rope_row(x2, c, s, n, mode);
    entry.same(x1, x2, 2 * n, "pairs %u interleaved %u", n, mode);
  }
}

// ---- attention ------------------------------------------------------------------------------------------------------------------

void check_softmax(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "softmax_block");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t n = rng.pick(1, 256), n_pad = i % 3 ? (n + 15) / 16 * 16 : 256;
    float *s1 = b.a.take<float>(n_pad), *s2 = b.b.take<float>(n_pad, i % 2), *p1 = b.c.take<float>(n_pad), *p2 = b.d.take<float>(n_pad, i % 2);
    const float spread = i % 5 == 0 ? 0.0f : i % 5 == 1 ? 300.0f : 10.0f;
    for (uint32_t j = 0; j < n_pad; ++j) s1[j] = rng.below(9) ? rng.unit() * spread : -0.0f;
    if (i % 11 == 0) spoil(s1, n, rng);
    std::memcpy(s2, s1, n_pad * 4);
    float m1 = 0, l1 = 0, m2 = 0, l2 = 0;
    const bool in_place = i % 3 == 1;
    ref.softmax_block(s1, n, n_pad, 0.125f, in_place ? s1 : p1, &m1, &l1);
    t.softmax_block(s2, n, n_pad, 0.125f, in_place ? s2 : p2, &m2, &l2);
    entry.same(s1, s2, n, "scores, n %u pad %u", n, n_pad);
    entry.same(in_place ? s1 : p1, in_place ? s2 : p2, n_pad, "p, n %u pad %u", n, n_pad);
    entry.same(&m1, &m2, 1, "m, n %u", n);
    entry.same(&l1, &l2, 1, "l, n %u", n);
  }
}

void check_planes(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "planes");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t n = rng.pick(1, 16) * 16;
    float *e = b.a.take<float>(n, i % 2), *v = b.b.take<float>(n, i % 2);
    for (uint32_t j = 0; j < n; ++j) {
      e[j] = rng.below(4) ? std::fabs(rng.unit()) : 0.0f;
      v[j] = std::fabs(rng.unit()) * (i % 4 == 0 ? 1e-38f : i % 4 == 1 ? 1e20f : 0.02f);
    }
    uint8_t *h1 = b.c.take<uint8_t>(n), *l1 = b.d.take<uint8_t>(n), *h2 = b.s.take<uint8_t>(n, i % 2), *l2 = b.w.take<uint8_t>(n, i % 2);
    const float s1 = ref.planes(e, v, n, h1, l1), s2 = t.planes(e, v, n, h2, l2);
    entry.same(&s1, &s2, 1, "scale, n %u", n);
    entry.same(h1, h2, n, "high plane, n %u", n);
    entry.same(l1, l2, n, "low plane, n %u", n);
  }
}

struct PvCase {
  uint32_t rows, n_pages, d_panels;
  const uint8_t *hi, *lo;
  const int8_t* pages[16];
  const float* scale;
};

void make_pv_case(Rng& rng, PvCase* c) {
  Buffers& b = buffers();
  c->rows = rng.pick(1, 9);
  c->n_pages = rng.pick(1, 16);
  c->d_panels = rng.pick(1, 9);
  // Only the last row's used bytes lie before the guard page.
  const size_t plane = (c->rows - 1) * size_t{256} + c->n_pages * 16, page = c->d_panels * size_t{256};
  const bool front = rng.below(2) != 0, extreme = rng.below(3) == 0;
  uint8_t *hi = b.a.take<uint8_t>(plane, front), *lo = b.b.take<uint8_t>(plane, front);
  int8_t* v = b.w.take<int8_t>(page * c->n_pages, front);
  float* scale = b.s.take<float>(c->rows, front);
  for (size_t i = 0; i < plane; ++i) hi[i] = extreme ? 127 : static_cast<uint8_t>(rng.below(128)), lo[i] = extreme ? 127 : static_cast<uint8_t>(rng.below(128));
  for (size_t i = 0; i < page * c->n_pages; ++i) v[i] = extreme ? -128 : static_cast<int8_t>(rng.below(256));
  for (uint32_t i = 0; i < c->n_pages; ++i) c->pages[i] = v + (c->n_pages - 1 - i) * page;
  for (uint32_t i = 0; i < c->rows; ++i) scale[i] = std::fabs(rng.unit());
  c->hi = hi;
  c->lo = lo;
  c->scale = scale;
}

void check_pv(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "attn_pv");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 3 * g_cases; ++i) {
    PvCase c;
    make_pv_case(rng, &c);
    const size_t stride = c.d_panels * size_t{16} + (i % 2) * 16, floats = (c.rows - 1) * stride + c.d_panels * size_t{16};
    float *a1 = b.c.take<float>(floats), *a2 = b.d.take<float>(floats, i % 2);
    ref.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, a1, stride);
    t.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, a2, stride);
    entry.same(a1, a2, floats, "rows %u pages %u panels %u", c.rows, c.n_pages, c.d_panels);
  }
}

void check_gather(const char* tier, const T& t, Rng& rng) {
  Entry entry(tier, "gather_row", "against unpack_row");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    GemmCase c;
    const linnet_format f = static_cast<linnet_format>(LINNET_F32 + i % kMaxFormat);
    make_gemm_case(f, rng, &c);
    const uint32_t n = c.n_panels * 16;
    float *y1 = b.a.take<float>(c.k), *y2 = b.b.take<float>(c.k, i % 2);
    for (uint32_t row = 0; row < n; row += 5) {
      unpack_row(c.a.w, c.a.w_scale, f, n, c.k, row, y1);
      t.gather_row(f, c.a.w, c.a.w_scale, n, c.k, row, y2);
      entry.same(y1, y2, c.k, "%s n %u k %u row %u", format_name(f), n, c.k, row);
    }
  }
}

// The loops that benches divide by: read_all must see every byte, peak_int8 must do what it says it does.
void check_bench_loops(const char* tier, const T& t, Rng& rng) {
  Entry entry(tier, "read_all, peak_int8");
  for (uint32_t pages = 1; pages < 6; ++pages) {
    uint8_t* p = buffers().x.take<uint8_t>(pages * size_t{4096});
    for (size_t i = 0; i < pages * size_t{4096}; ++i) p[i] = static_cast<uint8_t>(rng.next());
    const uint64_t before = t.read_all(p, pages * size_t{4096});
    for (int i = 0; i < 40; ++i) {
      uint8_t& byte = p[rng.below(pages * 4096)];
      byte = static_cast<uint8_t>(byte ^ 0x40);
      entry.expect(t.read_all(p, pages * size_t{4096}) != before, "a changed byte is not read, %u pages", pages);
      byte = static_cast<uint8_t>(byte ^ 0x40);
    }
  }
  entry.expect(t.peak_int8(20) == 2 * t.peak_int8(10) && t.peak_int8(1) > 0, "operations do not grow with rounds");
}

void check_tier(const char* name, const T& t, const T& ref, Rng& rng) {
  const KernelTable& s = ref;
  for (uint32_t i = 0; i < t.n_gemm; ++i)
    for (uint32_t j = 0; j < s.n_gemm; ++j)
      if (s.gemm[j].w == t.gemm[i].w) check_gemm(name, t.gemm[i], s.gemm[j], rng);
  if (t.quantize_row) check_quantize(name, t, s, rng);
  if (t.amax_bits) check_amax(name, t, s, rng);
  if (t.codes) check_codes(name, t, s, rng);
  if (t.rmsnorm_row)
    check_map(name, "rmsnorm_row", t, s, rng,
              [](const T& k, float* x, const float* w, uint32_t n, float f, float, float* y) { k.rmsnorm_row(x, w, n, std::fabs(f) * 1e-5f, y); });
  if (t.silu_mul_row)
    check_map(name, "silu_mul_row", t, s, rng, [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.silu_mul_row(x, w, n, y); });
  if (t.add_row) check_map(name, "add_row", t, s, rng, [](const T& k, float* x, const float* w, uint32_t n, float, float, float*) { k.add_row(x, w, n); });
  if (t.merge_row)
    check_map(name, "merge_row", t, s, rng, [](const T& k, float* x, const float* w, uint32_t n, float f, float g, float*) { k.merge_row(x, w, n, f, g); });
  if (t.scale_row)
    check_map(name, "scale_row", t, s, rng, [](const T& k, float* x, const float*, uint32_t n, float f, float, float*) { k.scale_row(x, n, f); });
  if (t.exp_row) check_map(name, "exp_row", t, s, rng, [](const T& k, float* x, const float*, uint32_t n, float, float, float*) { k.exp_row(x, n); });
  if (t.rope_row) check_rope(name, t, s, rng);
  if (t.softmax_block) check_softmax(name, t, s, rng);
  if (t.planes) check_planes(name, t, s, rng);
  if (t.attn_pv) check_pv(name, t, s, rng);
  if (t.gather_row) check_gather(name, t, rng);
  if (t.read_all && t.peak_int8) check_bench_loops(name, t, rng);
}

// ---- scalar.cpp against doubles -------------------------------------------------------------------------------------------------------

double ulp_of(double v) {
  int e = 0;
  std::frexp(v, &e);
  return std::ldexp(1.0, (e < -125 ? -125 : e) - 24);
}

void reference_exp(const T& s) {
  Entry entry("scalar", "exp_row", "against doubles");
  double worst = 0;
  float x[16];
  for (uint32_t sign = 0; sign < 2; ++sign) {
    for (uint32_t u = 0; u < 0x42D00000u; u += 997 * 16) {  // up to 104
      float in[16];
      for (uint32_t j = 0; j < 16; ++j) {
        const uint32_t v = (u + j * 997) | sign << 31;
        std::memcpy(in + j, &v, 4);
      }
      std::memcpy(x, in, sizeof x);
      s.exp_row(x, 16);
      for (int j = 0; j < 16; ++j) {
        if (in[j] < -87.33f) {
          entry.expect(x[j] == 0.0f, "exp(%.9g) is %.9g", static_cast<double>(in[j]), static_cast<double>(x[j]));
        } else {
          const double want = std::exp(static_cast<double>(in[j] > 88.37f ? 88.37f : in[j])), err = std::fabs(static_cast<double>(x[j]) - want) / ulp_of(want);
          worst = err > worst ? err : worst;
          entry.expect(err <= 1.0, "exp(%.9g) is %.9g: %.3f ulp off", static_cast<double>(in[j]), static_cast<double>(x[j]), err);
        }
      }
    }
  }
  float special[4] = {INFINITY, -INFINITY, NAN, 0.0f};
  s.exp_row(special, 4);
  entry.expect(special[0] > 2.3e38f && special[0] < INFINITY && special[1] == 0.0f && special[2] != special[2] && special[3] == 1.0f, "special values");
  std::printf("scalar  exp: largest error %.3f ulp\n", worst);
}

void reference_rows(const T& s, Rng& rng) {
  Buffers& b = buffers();
  Entry norm("scalar", "rmsnorm_row", "against doubles"), silu("scalar", "silu_mul_row", "against doubles"), rope("scalar", "rope_row", "against doubles"),
      quant("scalar", "quantize_row", "against doubles"), rest("scalar", "add, merge, scale", "against doubles");
  const auto near = [](float got, double want, double size) { return std::fabs(static_cast<double>(got) - want) <= size * 1e-6 + 1e-37; };
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t n = random_size(rng);
    float *x = b.a.take<float>(2 * n), *w = b.b.take<float>(n), *y = b.c.take<float>(2 * n);
    for (uint32_t j = 0; j < 2 * n; ++j) x[j] = rng.unit() * (i % 2 ? 30.0f : 0.5f);
    for (uint32_t j = 0; j < n; ++j) w[j] = rng.unit();
    s.rmsnorm_row(x, w, n, 1e-5f, y);
    double ss = 0;
    for (uint32_t j = 0; j < n; ++j) ss += static_cast<double>(x[j]) * static_cast<double>(x[j]);
    const double r = 1 / std::sqrt(ss / n + static_cast<double>(1e-5f));
    for (uint32_t j = 0; j < n; ++j) {
      const double want = static_cast<double>(x[j]) * r * static_cast<double>(w[j]);
      norm.expect(near(y[j], want, std::fabs(want)), "n %u [%u]: %.9g, not %.9g", n, j, static_cast<double>(y[j]), want);
    }
    s.silu_mul_row(x, w, n, y);
    for (uint32_t j = 0; j < n; ++j) {
      const double want = static_cast<double>(x[j]) / (1 + std::exp(-static_cast<double>(x[j]))) * static_cast<double>(w[j]);
      silu.expect(near(y[j], want, std::fabs(want)), "silu(%.9g): %.9g, not %.9g", static_cast<double>(x[j]), static_cast<double>(y[j]), want);
    }
    std::memcpy(y, x, 8 * n);
    float* turn = b.d.take<float>(n);
    for (uint32_t j = 0; j < n; ++j) turn[j] = rng.unit();
    s.rope_row(y, w, turn, n, i % 2);
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t ia = i % 2 ? 2 * j : j, ib = i % 2 ? 2 * j + 1 : j + n;
      const double a = static_cast<double>(x[ia]), c = static_cast<double>(w[j]), d = static_cast<double>(x[ib]), t = static_cast<double>(turn[j]);
      rope.expect(near(y[ia], a * c - d * t, 60) && near(y[ib], d * c + a * t, 60), "pairs %u [%u]", n, j);
    }
    std::memcpy(y, x, 4 * n);
    s.add_row(y, w, n);
    s.merge_row(y, x, n, 0.25f, 3.0f);
    s.scale_row(y, n, 1.5f);
    for (uint32_t j = 0; j < n; ++j) {
      const double want = ((static_cast<double>(x[j]) + static_cast<double>(w[j])) * 0.25 + static_cast<double>(x[j]) * 3) * 1.5;
      rest.expect(near(y[j], want, 200), "n %u [%u]", n, j);
    }
    const uint32_t group = 32u << rng.below(3), kpad = (n + 31) / 32 * 32;
    int8_t* q = b.w.take<int8_t>(kpad);
    float* scale = b.s.take<float>((n + group - 1) / group);
    int32_t* sum = b.sum.take<int32_t>((n + group - 1) / group);
    const bool spoilt = i % 5 == 0;
    const uint32_t bad = rng.below(n);
    if (spoilt) x[bad] = i % 2 ? NAN : -INFINITY;
    quant.expect(s.quantize_row(x, n, group, q, scale, sum) == (spoilt ? 0u : 1u), "k %u: a bad value is not told", n);
    for (uint32_t g = 0; g * group < n; ++g) {
      int32_t total = 0;
      const bool zeroed = spoilt && bad / group == g;
      for (uint32_t j = g * group; j < kpad && j < (g + 1) * group; ++j) {
        total += q[j];
        const double want = j < n && !zeroed ? static_cast<double>(x[j]) : 0.0, back = q[j] * static_cast<double>(scale[g]);
        quant.expect(std::fabs(back - want) <= 0.5001 * static_cast<double>(scale[g]) && q[j] != -128, "k %u group %u [%u]: %.9g, not %.9g", n, group, j, back, want);
      }
      quant.expect(sum[g] == -128 * total && (!zeroed || scale[g] == 0.0f), "k %u group %u sum", n, g);
    }
  }
}

void reference_attention(const T& s, Rng& rng) {
  Buffers& b = buffers();
  Entry soft("scalar", "softmax_block", "against doubles"), plane("scalar", "planes", "against doubles"), pv("scalar", "attn_pv", "against 64-bit integers");
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t n = rng.pick(1, 256), n_pad = (n + 15) / 16 * 16;
    float *x = b.a.take<float>(n), *in = b.b.take<float>(n), *p = b.c.take<float>(n_pad), m, l;
    for (uint32_t j = 0; j < n; ++j) in[j] = x[j] = rng.unit() * 30;
    s.softmax_block(x, n, n_pad, 0.25f, p, &m, &l);
    double max = -1e30, sum = 0;
    for (uint32_t j = 0; j < n; ++j) max = std::fmax(max, static_cast<double>(in[j] * 0.25f));
    for (uint32_t j = 0; j < n; ++j) {
      const double e = std::exp(static_cast<double>(in[j] * 0.25f) - max);
      sum += e;
      soft.expect(std::fabs(static_cast<double>(p[j]) - e) < 1e-6, "n %u [%u]", n, j);
    }
    for (uint32_t j = n; j < n_pad; ++j) soft.expect(p[j] == 0.0f, "n %u pad [%u]", n, j);
    soft.expect(static_cast<double>(m) == max && std::fabs(static_cast<double>(l) / sum - 1) < 1e-5, "n %u: m %.9g l %.9g", n, static_cast<double>(m), static_cast<double>(l));

    float* v = b.d.take<float>(n_pad);
    for (uint32_t j = 0; j < n_pad; ++j) v[j] = std::fabs(rng.unit()) * 0.1f;
    uint8_t *hi = b.s.take<uint8_t>(n_pad), *lo = b.xs.take<uint8_t>(n_pad);
    const double unit = static_cast<double>(s.planes(p, v, n_pad, hi, lo));
    for (uint32_t j = 0; j < n_pad; ++j) {
      const double want = static_cast<double>(p[j]) * static_cast<double>(v[j]), back = (hi[j] * 128 + lo[j]) * unit;
      plane.expect(hi[j] < 128 && lo[j] < 128 && std::fabs(want - back) <= 0.502 * unit, "n %u [%u]: %.9g, not %.9g", n_pad, j, back, want);
    }

    PvCase c;
    make_pv_case(rng, &c);
    float* acc = b.c.take<float>(c.rows * c.d_panels * size_t{16});
    s.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, acc, c.d_panels * size_t{16});
    for (uint32_t r = 0; r < c.rows; ++r)
      for (uint32_t d = 0; d < c.d_panels * 16; ++d) {
        int64_t dot = 0;
        for (uint32_t t = 0; t < c.n_pages * 16; ++t)
          dot += int64_t{c.hi[r * 256 + t] * 128 + c.lo[r * 256 + t]} * c.pages[t / 16][d / 16 * 256 + t % 16 / 4 * 64 + d % 16 * 4 + t % 4];
        const float want = static_cast<float>(dot) * c.scale[r], got = acc[r * c.d_panels * size_t{16} + d];
        pv.expect(want == got, "rows %u pages %u row %u channel %u: %.9g, not %.9g", c.rows, c.n_pages, r, d, static_cast<double>(got), static_cast<double>(want));
      }
  }
}

// pack_panel and back: the error is half a step, every code survives pack_panel_exact, and what is not finite is refused.
void reference_pack(Rng& rng) {
  Entry entry("scalar", "pack", "and back");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const linnet_format f = static_cast<linnet_format>(LINNET_F32 + i % kMaxFormat);
    const FormatRow& info = format_row(f);
    const uint32_t k = random_size(rng), rows = rng.pick(1, 16), stride = k + rng.below(3);
    float *x = b.x.take<float>((rows - 1) * size_t{stride} + k), *y = b.a.take<float>(k);
    uint8_t *panel = b.w.take<uint8_t>(panel_bytes(f, k)), *scales = b.s.take<uint8_t>(n_w_groups(f, k) * 16 * info.scale_bytes);
    for (size_t j = 0; j < (rows - 1) * size_t{stride} + k; ++j) x[j] = i % 9 == 0 ? 0.0f : rng.unit() * 2;
    entry.expect(pack_panel(f, x, stride, rows, k, panel, scales), "%s refused", format_name(f));
    for (uint32_t r = 0; r < 16; ++r) {
      unpack_row(panel, scales, f, 16, k, r, y);
      const uint32_t group = info.w_group ? info.w_group : k;
      for (uint32_t j = 0; j < k; ++j) {
        double amax = 0;
        for (uint32_t t = j / group * group; r < rows && t < k && t < (j / group + 1) * group; ++t) amax = std::fmax(amax, static_cast<double>(std::fabs(x[r * stride + t])));
        const double want = r < rows ? static_cast<double>(x[r * stride + j]) : 0.0;
        const double bound = info.integer ? amax / 253 + 1e-7 : f == LINNET_F32 ? 0 : std::fabs(want) * (f == LINNET_F16 ? 0x1p-11 : 0x1p-8) + 1e-7;
        entry.expect(std::fabs(static_cast<double>(y[j]) - want) <= bound, "%s k %u row %u [%u]: %.9g, not %.9g", format_name(f), k, r, j, static_cast<double>(y[j]), want);
      }
    }
    spoil(x + (rows - 1) * size_t{stride}, k, rng);
    entry.expect(!pack_panel(f, x, stride, rows, k, panel, scales), "%s takes what is not finite", format_name(f));
  }
  int8_t codes[2 * 256];
  uint16_t scales[2 * 8], panel_scales[8 * 16];
  static int8_t panel[256 * 16];
  for (int i = 0; i < 512; ++i) codes[i] = static_cast<int8_t>(i * 7);
  for (int i = 0; i < 16; ++i) scales[i] = f32_to_f16(0.5f + static_cast<float>(i));
  pack_panel_exact(codes, scales, 2, 256, panel, panel_scales);
  float y[256];
  for (uint32_t r = 0; r < 2; ++r) {
    unpack_row(panel, panel_scales, LINNET_I8G32, 16, 256, r, y);
    for (uint32_t i = 0; i < 256; ++i)
      entry.expect(y[i] == static_cast<float>(codes[r * 256 + i]) * f16_to_f32(scales[r * 8 + i / 32]), "exact codes, row %u [%u]", r, i);
  }
}

// ---- the registry -------------------------------------------------------------------------------------------------------------------

void check_registry() {
  Entry entry("all", "registry");
  Error err{};
  Kernels k{};
  uint32_t best = 0;
  const uint64_t cpu = cpu_bits();
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) {
    const bool have = !(t->required & ~cpu);
    const Status s = kernels_resolve(t->isa, 0, &k, &err);
    entry.expect(have ? s == LINNET_OK && k.t.isa == t->isa : s == LINNET_UNSUPPORTED && std::strstr(err.text, isa_name(t->isa)), "forcing %s: %s",
                 isa_name(t->isa), err.text);
    if (have) {
      best = t->isa;
      entry.expect(!t->codes || k.t.codes == t->codes, "forcing %s runs another tier", isa_name(t->isa));
      for (uint32_t j = 0; j < t->n_gemm; ++j) entry.expect(k.gemm[t->gemm[j].w].run == t->gemm[j].run, "gemm of %s", isa_name(t->isa));
      for (uint32_t f = LINNET_F32; f <= kMaxFormat; ++f) entry.expect(k.gemm[f].run != nullptr && k.gemm[f].w == f, "%s has no gemm for format %u", isa_name(t->isa), f);
      const KernelTable& r = k.t;
      entry.expect(r.quantize_row && r.amax_bits && r.codes && r.rmsnorm_row && r.silu_mul_row && r.add_row && r.rope_row && r.softmax_block && r.planes && r.attn_pv &&
                       r.merge_row && r.scale_row && r.exp_row && r.gather_row && r.peak_int8 && r.read_all,
                   "%s has a hole", isa_name(t->isa));
    }
    entry.expect(kernels_resolve(t->isa, 1u << (t->isa == 1 ? 2 : 1), &k, &err) == LINNET_UNSUPPORTED && std::strstr(err.text, "isa_mask"), "mask against %s", isa_name(t->isa));
  }
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 0, &k, &err) == LINNET_OK && k.t.isa == best, "auto is not the strongest");
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 1u << LINNET_ISA_SCALAR, &k, &err) == LINNET_OK && k.t.isa == LINNET_ISA_SCALAR, "mask of scalar");
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 1u << 31, &k, &err) == LINNET_UNSUPPORTED, "mask of nothing");
  entry.expect(kernels_resolve(99, 0, &k, &err) == LINNET_BAD_ARG, "tier 99");
}

}  // namespace

uint64_t fill_matrix(linnet_format f, uint32_t n, uint32_t k, void* packed, Rng& rng) {
  const FormatRow& row = format_row(f);
  const size_t kpad = padded_k(f, k), np = padded_n(n);
  uint8_t* p = static_cast<uint8_t*>(packed);
  const size_t bytes = packed_bytes(f, n, k);
  std::memset(p, 0, bytes);
  if (!row.integer) {
    for (size_t i = 0; i < np * k; ++i) {
      const float v = rng.below(16) ? rng.unit() : rng.unit() * 1e-6f;
      if (f == LINNET_F32)
        std::memcpy(p + i * 4, &v, 4);
      else {
        const uint16_t h = f == LINNET_F16 ? f32_to_f16(v) : f32_to_bf16(v);
        std::memcpy(p + i * 2, &h, 2);
      }
    }
    return bytes;
  }
  for (size_t i = 0; i < np * kpad; i += 8) {
    const uint64_t r = rng.next();
    std::memcpy(p + i, &r, 8);
  }
  for (size_t panel = 0; panel < np / 16; ++panel)  // padding
    for (size_t t = k; t < kpad; ++t)
      for (size_t j = 0; j < 16; ++j) p[panel * kpad * 16 + t / 4 * 64 + j * 4 + t % 4] = 0;
  for (size_t i = 0; i < np * n_w_groups(f, k); ++i) {
    const float s = std::fabs(rng.unit()) * 0.01f;
    if (row.scale_bytes == 4) {
      std::memcpy(p + scales_offset(f, n, k) + i * 4, &s, 4);
    } else {
      const uint16_t h = rng.below(8) ? f32_to_f16(s) : static_cast<uint16_t>(rng.below(0x400));  // subnormals too
      std::memcpy(p + scales_offset(f, n, k) + i * 2, &h, 2);
    }
  }
  return bytes;
}

int run_checks(const char* isa, uint64_t seed) {
  std::printf("check_kernels: seed %llu\n", static_cast<unsigned long long>(seed));
  bool known = isa == nullptr;
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) known |= isa && !std::strcmp(isa, isa_name(t->isa));
  if (!known) {
    std::fprintf(stderr, "check_kernels: this build has no tier '%s'\n", isa);
    return 2;
  }
  Rng rng{seed};
  const KernelTable& scalar = *kernel_tier(0);
  if (!isa || !std::strcmp(isa, "scalar")) {
    check_registry();
    for (uint32_t i = 0; i < scalar.n_gemm; ++i) check_gemm_reference(scalar.gemm[i], rng);
    reference_exp(scalar);
    reference_rows(scalar, rng);
    reference_attention(scalar, rng);
    reference_pack(rng);
    check_gather("scalar", scalar, rng);
    check_bench_loops("scalar", scalar, rng);
  }
  for (uint32_t i = 1; const KernelTable* t = kernel_tier(i); ++i) {
    const char* name = isa_name(t->isa);
    if (isa && std::strcmp(isa, name) != 0) continue;
    if (const uint64_t lacks = t->required & ~cpu_bits()) {
      std::printf("skipped: %s (this CPU has no %s)\n", name, cpu_bit_name(lacks));
      ++g_skipped;
      continue;
    }
    check_tier(name, *t, scalar, rng);
  }
  std::printf("check_kernels: %u passed, %u failed, %u skipped\n", g_passed, g_failed, g_skipped);
  return g_failed ? 1 : 0;
}

}  // namespace check

int main(int argc, char** argv) {
  uint64_t seed = 1;
  uint32_t threads = 0, reps = 9;
  const char* isa = nullptr;
  bool bench = false;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&](const char* name) { return !std::strcmp(argv[i], name) && i + 1 < argc ? argv[++i] : nullptr; };
    if (!std::strcmp(argv[i], "--bench"))
      bench = true;
    else if (const char* v = value("--seed"))
      seed = std::strtoull(v, nullptr, 0);
    else if (const char* v2 = value("--isa"))
      isa = v2;
    else if (const char* v3 = value("--threads"))
      threads = static_cast<uint32_t>(std::strtoul(v3, nullptr, 0));
    else if (const char* v4 = value("--reps"))
      reps = static_cast<uint32_t>(std::strtoul(v4, nullptr, 0));
    else if (const char* v5 = value("--cases"))
      check::g_cases = static_cast<uint32_t>(std::strtoul(v5, nullptr, 0));
    else {
      std::fprintf(stderr, "usage: check_kernels [--seed N] [--isa TIER] [--cases N] | --bench [--isa TIER] [--threads N] [--reps N]\n");
      return 2;
    }
  }
  return bench ? check::run_bench(isa, threads, reps, seed) : check::run_checks(isa, seed);
}
