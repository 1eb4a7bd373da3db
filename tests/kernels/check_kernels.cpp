// Every entry of every tier against scalar.cpp, byte for byte, over odd sizes and hostile values, in buffers that end (or
// begin) at a page which must not be touched, with negative controls. scalar.cpp itself is held in check_scalar.cpp.
//   check_kernels [--seed N] [--isa TIER] [--cases N] [--require TIER] | --bench [--isa TIER] [--weights FORMAT] [--threads N] [--reps N]
#include "check_kernels.h"

#include <signal.h>
#include <sys/wait.h>

#include <tuple>
#include <vector>

#include "kernels_cpu/delta_net.h"
#include "kernels_cpu/pack.h"
#include "kernels_cpu/registry.h"
#include "runtime/cache/slots.h"

namespace check {
namespace {

// ---- matrices ---------------------------------------------------------------------------------------------------------------------

}  // namespace

void make_gemm_case(linnet_format f, Rng& rng, GemmCase* c) {
  Buffers& b = buffers();
  const FormatRow& row = format_row(f);
  *c = {f, rng.pick(1, 19), rng.pick(1, 9), random_rows_size(f, rng), rng.below(3) * 32, rng.below(2) != 0, rng.below(2) != 0, {}};
  if (rng.below(8) == 0) c->m = 33;
  if (rng.below(32) == 0) c->k = rng.pick(5, 7) * 256;  // more steps than ask for y
  if (rng.below(32) == 0) c->m = rng.pick(20, 140), c->n_panels = rng.pick(16, 18);
  if (rng.below(64) == 0) c->m = rng.pick(133, 280), c->n_panels = rng.pick(4, 7);
  const bool front = rng.below(4) == 0;
  const uint32_t x_group = f == LINNET_I8 && rng.below(4) == 0 ? 32 : row.x_group;  // as attention's FP8 keys
  const size_t kpad = padded_k(f, c->k), n = size_t{c->n_panels} * 16, groups = row.x == LINNET_I8 ? (c->k + x_group - 1) / x_group : 0;
  GemmArgs& a = c->a;
  a.m = c->m;
  a.n_panels = c->n_panels;
  a.k = c->k;
  a.w_group = row.x == LINNET_BF16 ? row.w_group : 0;
  a.accumulate = c->accumulate;
  uint8_t* packed = new uint8_t[packed_bytes(f, n, c->k)];
  fill_matrix(f, static_cast<uint32_t>(n), c->k, packed, rng);
  uint8_t* w = b.w.take<uint8_t>(n / 16 * panel_bytes(f, c->k), front);
  std::memcpy(w, packed, n / 16 * panel_bytes(f, c->k));
  if ((row.x == LINNET_I8) && rng.below(6) == 0 && row.stored != Stored::kBlocks)  // extremes: where a saturating instruction would show
    for (size_t i = 0; i < n / 16 * panel_bytes(f, c->k); ++i)
      w[i] = row.bits == 4 ? (rng.below(8) ? 0xFF : 0x0F) : w[i] == 0 ? 0 : rng.below(4) ? 0x80 : 0x7F;
  a.w = w;
  a.w_stride = panel_bytes(f, c->k);
  if (panel_scale_bytes(f, c->k)) {
    a.w_scale_stride = panel_scale_bytes(f, c->k);
    uint8_t* s = b.s.take<uint8_t>(n / 16 * a.w_scale_stride, front);
    std::memcpy(s, packed + scales_offset(f, n, c->k), n / 16 * a.w_scale_stride);
    a.w_scale = s;
  }
  if ((row.x == LINNET_I8)) {
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
        for (size_t i = g * x_group; i < kpad && i < (g + 1) * x_group; ++i) total += x[r * a.x_stride + i];
        sum[r * groups + g] = -128 * total;
        xs[r * groups + g] = rng.below(16) ? std::fabs(rng.unit()) * (style == 2 ? 1e20f : 1e-2f) : rng.below(2) ? 0.0f : 1e-41f;
      }
    }
    a.x = x;
    a.x_scale = xs;
    a.x_sum128 = sum;
    a.x_groups = static_cast<uint32_t>(groups);
    a.x_group = x_group;
  } else if (row.x == LINNET_BF16) {
    a.x_stride = (kpad + c->x_stride_extra) * 2;
    uint16_t* x = b.x.take<uint16_t>((c->m - 1) * a.x_stride / 2 + kpad, front);
    std::vector<float> floats(c->k);
    for (uint32_t r = 0; r < c->m; ++r) {
      fill_floats(floats.data(), c->k, rng);
      kernel_tier(0)->bf16_row(floats.data(), c->k, x + r * a.x_stride / 2);
    }
    a.x = x;
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

namespace {

// Negative control: one weight scale (or weight) off by 2 % must show, and putting it back must heal.
void control_gemm(const GemmKernel& kernel, const GemmKernel& ref, GemmCase* c, float* want, float* got, Entry* entry) {
  GemmArgs a = c->a;
  const FormatRow& row = format_row(kernel.w);
  a.bias = nullptr;
  a.accumulate = 0;
  uint8_t* spot = static_cast<uint8_t*>(const_cast<void*>(a.w_scale ? a.w_scale : a.w));
  // Of nested scales the offset is changed, an f32 that comes first, and so is an outer factor that stands alone.
  const bool one_float = format_nested(kernel.w) || (row.scale.outer && !row.scale.bytes);
  const uint32_t bytes = row.scale.half ? 2 : one_float ? 4 : row.scale.bytes ? row.scale.bytes : row.bits / 8;
  const bool of_bytes = row.stored == Stored::kBlocks && row.scale.bytes && !row.scale.half;
  if (kernel.w == LINNET_IQ1_M) {  // its scales lie behind bits of codes, with a digit each of what they are multiplied by
    spot += 16 * 16;
    for (uint32_t i = 0; i < 4; ++i)
      spot[(2 * i + 1) * 16] =
          static_cast<uint8_t>((spot[(2 * i + 1) * 16] & 0x0F) | (0x7800 >> 4 * i & 0xF) << 4);  // 32768: no block outweighs it
  }
  const auto set = [&](float v) {
    if (of_bytes) {
      const uint8_t scale = kernel.w == LINNET_IQ1_M ? 6 : kernel.w == LINNET_MXFP4 ? 127 : 0x70;
      *spot = static_cast<uint8_t>(scale + (v > 0.5f));
      return;
    }
    const uint16_t h = kernel.w == LINNET_BF16 ? f32_to_bf16(v) : f32_to_f16(v);
    std::memcpy(spot, bytes == 4 ? static_cast<const void*>(&v) : &h, bytes);
  };
  if ((row.x == LINNET_I8)) {  // row 0 agrees in sign with output 0, so that the spoilt dot is not 0
    int8_t* x = static_cast<int8_t*>(const_cast<void*>(a.x));
    int32_t total = 0;
    std::vector<float> w(a.k);
    if (row.stored == Stored::kBlocks) {                   // by what unpack_row makes of it; of an entry the first scale is known
      if (zero_points(kernel.w)) spot[32] = spot[33] = 0;  // or what is added may outweigh the codes
      set(0.5f);
      unpack_row(a.w, a.w_scale, kernel.w, kPanel, a.k, 0, w.data());
    } else {
      static_cast<uint8_t*>(const_cast<void*>(a.w))[0] = 99;
      if (row.scale.zero) static_cast<uint8_t*>(const_cast<void*>(a.w_scale))[32] = 0;
      for (uint32_t t = 0; t < a.k && t < a.x_group; ++t) w[t] = static_cast<float>(code_at(a, kernel.w, 0, t));
    }
    for (uint32_t t = 0; t < a.k && t < a.x_group; ++t) {
      x[t] = w[t] < 0 ? -1 : 1;
      total += x[t];
    }
    const_cast<int32_t*>(a.x_sum128)[0] = -128 * total;
    for (uint32_t g = 0; g < a.x_groups; ++g) const_cast<float*>(a.x_scale)[g] = 0.01f;
  } else {
    if (row.x == LINNET_BF16)
      static_cast<uint16_t*>(const_cast<void*>(a.x))[0] = f32_to_bf16(1e18f);
    else
      static_cast<float*>(const_cast<void*>(a.x))[0] = 1e18f;  // outweighs the rest of the row
    if (row.stored == Stored::kTables)
      static_cast<uint8_t*>(const_cast<void*>(a.w))[0] = 0x33;  // no zero
    else if (row.run > 1)
      for (uint32_t t = 0; t < a.k; ++t) static_cast<uint8_t*>(const_cast<void*>(a.w))[t / 4 * 64 + t % 4] = 0x3C;  // no NaN
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

// All 65,536 codes of the two-byte formats and all 256 of FP8, each times 1, with few rows and with many.
void check_every_code(const char* tier, const GemmKernel& kernel) {
  const FormatRow& row = format_row(kernel.w);
  if (row.bits != 16 && row.x != LINNET_BF16) return;
  char name[32];
  std::snprintf(name, sizeof name, "every %s", format_name(kernel.w));
  Entry entry(tier, name);
  const uint32_t n = 1u << row.bits, m = 9;
  const size_t kpad = padded_k(kernel.w, 1);
  std::vector<uint8_t> w(n / 16 * panel_bytes(kernel.w, 1));
  for (uint32_t i = 0; i < n; ++i) {
    if (row.bits == 16)
      std::memcpy(w.data() + i * 2, &i, 2);
    else
      w[i / 16 * panel_bytes(kernel.w, 1) + i % 16 * 4] = static_cast<uint8_t>(i);
  }
  const std::vector<float> scale(n, 1.0f), ones(m, 1.0f);
  std::vector<uint16_t> halves(m * kpad);
  for (uint32_t r = 0; r < m; ++r) halves[r * kpad] = f32_to_bf16(1.0f);
  std::vector<float> y(size_t{m} * n);
  GemmArgs a{};
  a.x = row.x == LINNET_BF16 ? static_cast<const void*>(halves.data()) : ones.data();
  a.x_stride = row.x == LINNET_BF16 ? kpad * 2 : 4;
  a.w = w.data();
  a.w_stride = panel_bytes(kernel.w, 1);
  a.w_scale = scale.data();
  a.w_scale_stride = 64;
  a.y = y.data();
  a.y_stride = n;
  a.n_panels = n / 16;
  a.k = 1;
  for (const uint32_t rows : {1u, m}) {
    a.m = rows;
    kernel.run(&a);
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t i = 0; i < n && entry.ok(); ++i) {
        const uint16_t half = static_cast<uint16_t>(i);
        const float want = kernel.w == LINNET_F16        ? f16_to_f32(half)
                           : kernel.w == LINNET_BF16     ? bf16_to_f32(half)
                           : row.stored == Stored::kE4m3 ? f8e4m3_to_f32(static_cast<uint8_t>(i))
                                                         : f8e5m2_to_f32(static_cast<uint8_t>(i)),
                    got = y[size_t{r} * n + i];
        entry.expect(std::isnan(want) ? std::isnan(got) : got == want, "code 0x%x is %.9g, not %.9g, row %u of %u", i, got, want, r, rows);
      }
  }
}

// Memory to ask for, in every other case, and whether a kernel moved on in it by whole lines.
alignas(64) uint8_t g_soon[1 << 16];
struct Soon {
  explicit Soon(uint32_t turn) : next(turn % 2 ? &fetch : nullptr) {}
  bool moved_by_lines() const { return fetch.at >= g_soon && (fetch.at - g_soon) % 64 == 0; }
  Fetch fetch{g_soon, g_soon + sizeof g_soon};
  Fetch* next;
};

void check_gemm(const char* tier, const GemmKernel& kernel, const GemmKernel& scalar, Rng& rng) {
  const GemmKernel& ref = kernel.exact ? scalar : kernel;  // the entry's own bits, whatever m is
  if (!kernel.exact) check_gemm_reference(tier, kernel, rng);
  char name[32];
  std::snprintf(name, sizeof name, "gemm %s", format_name(kernel.w));
  Entry entry(tier, name);
  Buffers& b = buffers();
  const uint32_t cases = format_row(kernel.w).stored == Stored::kBlocks ? g_cases + 2 : 4 * g_cases;  // most of a kind is others' code
  for (uint32_t i = 0; i < cases && entry.ok(); ++i) {
    GemmCase c;
    make_gemm_case(kernel.w, rng, &c);
    float* want = b.a.take<float>(y_floats(c.a));
    float* got = b.b.take<float>(y_floats(c.a), i % 4 == 0);
    start_y(c.a, want);
    start_y(c.a, got);
    c.a.y = want;
    ref.run(&c.a);
    c.a.y = got;
    Soon soon(i);
    c.a.next = soon.next;
    kernel.run(&c.a);
    c.a.next = nullptr;
    entry.expect(soon.moved_by_lines(), "asks for parts of lines, m %u panels %u k %u", c.m, c.n_panels, c.k);
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

// ---- rows -----------------------------------------------------------------------------------------------------------------------

using T = KernelTable;

void check_bf16(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "bf16_row");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t k = random_size(rng), kpad = (k + 31) / 32 * 32;
    float* x = b.x.take<float>(k, i % 2);
    fill_floats(x, k, rng);
    for (uint32_t j = 0; j < k; ++j) {
      uint32_t u;
      std::memcpy(&u, x + j, 4);
      if (rng.below(3) == 0) u = (u & 0xFFFF0000u) | 0x8000u;  // ties
      if (rng.below(9) == 0) u = static_cast<uint32_t>(rng.next());
      std::memcpy(x + j, &u, 4);
    }
    if (rng.below(2)) spoil(x, k, rng);
    uint16_t *y1 = b.a.take<uint16_t>(kpad), *y2 = b.b.take<uint16_t>(kpad, i % 2);
    ref.bf16_row(x, k, y1);
    t.bf16_row(x, k, y2);
    entry.same(y1, y2, kpad, "k %u", k);
  }
}

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
void check_map(const char* tier, const char* name, const T& t, const T& ref, Rng& rng, Run run, bool onto_second = false) {
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
      for (uint32_t j = 0; j < n; ++j) {
        static const float kEdges[] = {-87.33f, 87.33f, 88.37f, -88.37f, -87.33001f, 88.37001f};  // where exp is clamped
        x1[j] = rng.below(4) ? rng.unit() * 100.0f : kEdges[rng.below(6)];
      }
    if (i % 7 == 0) spoil(x1, n, rng);
    std::memcpy(x2, x1, n * 4);
    const bool in_place = i % 3 == 1;
    const float f = rng.unit(), g = rng.unit();
    run(ref, x1, w, n, f, g, in_place ? x1 : y1);
    run(t, x2, w, n, f, g, in_place ? x2 : y2);
    entry.same(x1, x2, n, "n %u in place %d", n, in_place);
    entry.same(y1, y2, n, "n %u apart", n);
    if (!onto_second) continue;
    float *x3 = b.x.take<float>(n), *w2 = b.s.take<float>(n);
    for (uint32_t j = 0; j < n; ++j) x3[j] = rng.unit() * 20.0f;
    std::memcpy(w2, w, n * 4);
    run(ref, x3, w, n, f, g, w);
    run(t, x3, w2, n, f, g, w2);
    entry.same(w, w2, n, "n %u onto the second operand", n);
  }
}

void check_find(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "find_above");
  for (uint32_t i = 0; i < 8 * g_cases; ++i) {
    const uint32_t n = random_size(rng), from = rng.below(n + 1);
    float* x = buffers().x.take<float>(n, i % 2);
    for (uint32_t j = 0; j < n; ++j) x[j] = rng.unit();
    if (i % 5 == 0) spoil(x, n, rng);
    const float bar = i % 3 == 0 ? x[rng.below(n)] : i % 3 == 1 ? 0.99f : 2.0f;  // equal is not above; few; none
    entry.expect(t.find_above(x, n, from, bar) == ref.find_above(x, n, from, bar), "n %u from %u", n, from);
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

void check_delta(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "delta_steps");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t keys = rng.pick(1, 40), values = rng.pick(1, i % 3 ? 40 : 200),
                   n = (values + linnet::kStatePanel - 1) / linnet::kStatePanel * linnet::kStatePanel * keys, tokens = rng.pick(1, 5),
                   stride = 3 * keys + values + i % 3;
    const auto kind = static_cast<linnet::DeltaKind>(i / 3 % 3);
    float *s1 = b.a.take<float>(n), *s2 = b.b.take<float>(n, i % 2), *x1 = b.c.take<float>(tokens * stride, i % 2),
          *x2 = b.d.take<float>(tokens * stride, i % 2), fade[5], beta[5];
    for (uint32_t j = 0; j < n; ++j) s1[j] = s2[j] = rng.unit();
    for (uint32_t j = 0; j < tokens * stride; ++j) x1[j] = x2[j] = rng.unit();
    for (uint32_t j = 0; j < 5; ++j) fade[j] = 0.5f + 0.1f * static_cast<float>(j), beta[j] = 0.9f - 0.1f * static_cast<float>(j);
    for (const auto& [table, s, x] : {std::tuple(&ref, s1, x1), std::tuple(&t, s2, x2)})
      table->delta_steps(
          {s, keys, values, tokens, x, x + keys, x + 2 * keys, x + 2 * keys, stride, fade, beta, kind, x + 2 * keys + values, 0.7f});
    entry.same(s1, s2, n, "states %u x %u, kind %u", keys, values, i / 3 % 3);
    entry.same(x1, x2, tokens * stride, "outputs of %u x %u, %u tokens, kind %u", keys, values, tokens, i / 3 % 3);
  }
}

// Inputs of a gated delta net whose value heads are grouped, and what comes out: (tokens, channels), (tokens, values), (tokens, heads).
struct DeltaCase {
  uint32_t tokens, key_heads, each, key_dim, value_dim, taps;
  bool by_key;
  std::vector<float> conv, a, norm, x, beta, alpha, y, state;
  uint32_t heads() const { return key_heads * each; }
  uint32_t fades() const { return by_key ? key_dim : 1; }     // of a head
  uint32_t first() const { return 2 * key_heads * key_dim; }  // channels before the values
  uint32_t channels() const { return first() + heads() * value_dim; }
  size_t head_floats() const { return delta_state_floats(key_dim, value_dim); }
};
// The same with value heads tiled, or back.
DeltaCase reordered(const DeltaCase& c, bool tiled) {
  const uint32_t by = tiled ? c.key_heads : c.each, n = c.heads();
  // `width` floats of each head behind the first floats of a row of `stride`.
  const auto move = [&](const std::vector<float>& from, size_t stride, size_t first, size_t width) {
    std::vector<float> to = from;
    for (size_t row = 0; row < from.size(); row += stride)
      for (uint32_t h = 0; h < n; ++h)
        std::memcpy(&to[row + first + h * width], &from[row + first + (h % by * (n / by) + h / by) * width], width * sizeof(float));
    return to;
  };
  DeltaCase out = c;
  out.conv = move(c.conv, size_t{c.channels()} * c.taps, size_t{c.first()} * c.taps, size_t{c.value_dim} * c.taps);
  out.x = move(c.x, c.channels(), c.first(), c.value_dim);
  out.a = move(c.a, n, 0, 1), out.beta = move(c.beta, n, 0, 1), out.alpha = move(c.alpha, size_t{n} * c.fades(), 0, c.fades());
  out.y = move(c.y, size_t{n} * c.value_dim, 0, c.value_dim);
  const size_t states = n * c.head_floats();
  const std::vector<float> of_heads(c.state.begin(), c.state.begin() + static_cast<std::ptrdiff_t>(states));
  const auto moved = move(of_heads, states, 0, c.head_floats());
  std::copy(moved.begin(), moved.end(), out.state.begin());
  const std::vector<float> rows(c.state.begin() + static_cast<std::ptrdiff_t>(states), c.state.end());
  const auto moved_rows = move(rows, c.channels(), c.first(), c.value_dim);
  std::copy(moved_rows.begin(), moved_rows.end(), out.state.begin() + static_cast<std::ptrdiff_t>(states));
  return out;
}

void run_delta(const Kernels& kernels, bool tiled, DeltaCase* c) {
  const uint32_t row_floats = c->channels() + c->heads() * (1 + c->fades());
  std::vector<float> memory(c->state);
  memory.resize(kSlotStates * c->state.size() + size_t{c->tokens} * row_floats);
  float* of[1] = {memory.data()};
  SlotLayer layer = {{static_cast<uint32_t>(c->state.size()), row_floats}, of};
  Slot slot{};
  slot.n_marks = 1;
  slot.after = c->tokens;
  slot.at = {c->tokens, 0};
  Slots slots{};
  slots.n_layers = slots.n_sequences = slots.n_states = 1;
  slots.n_rollback = slots.n_rows = c->tokens;
  slots.layers = &layer;
  slots.slots = &slot;
  const RowSpan span = {0, 0, c->tokens, 0};
  Worker w;
  w.kernels = &kernels;
  cpu_delta_net(w, {&slots,         0,
                    &span,          1,
                    c->key_heads,   c->heads(),
                    c->key_dim,     c->value_dim,
                    c->taps,        tiled,
                    c->by_key,      2.0f,
                    1e-6f,          c->conv.data(),
                    c->a.data(),    c->norm.data(),
                    c->x.data(),    c->channels(),
                    c->beta.data(), c->alpha.data(),
                    c->heads(),     size_t{c->heads()} * c->fades(),
                    c->y.data(),    size_t{c->heads()} * c->value_dim});
  std::copy(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(c->state.size()), c->state.begin());
}

// The whole net in both orders of value heads: what scalar gives with them grouped.
void check_delta_net(const char* tier, linnet_isa isa, Rng& rng) {
  Entry entry(tier, "delta_net", "(grouped and tiled, fades of heads and of keys)");
  Kernels scalar, kernels;
  Error err{};
  if (kernels_resolve(LINNET_ISA_SCALAR, 0, &scalar, &err) != LINNET_OK || kernels_resolve(isa, 0, &kernels, &err) != LINNET_OK)
    return entry.expect(false, "%s", err.text);
  for (uint32_t i = 0; i < g_cases / 4 + 1; ++i) {
    DeltaCase c = {rng.pick(1, 20),
                   rng.pick(1, 4),
                   rng.pick(1, 4),
                   rng.pick(1, 40),
                   rng.pick(1, 70),
                   rng.pick(2, 4),
                   i % 3 == 0,
                   {},
                   {},
                   {},
                   {},
                   {},
                   {},
                   {},
                   {}};
    const auto fill = [&](std::vector<float>* x, size_t n) {
      x->resize(n);
      for (float& v : *x) v = rng.unit();
    };
    const size_t values = size_t{c.heads()} * c.value_dim;
    fill(&c.conv, size_t{c.channels()} * c.taps), fill(&c.a, c.heads()), fill(&c.norm, c.value_dim);
    fill(&c.x, size_t{c.tokens} * c.channels()), fill(&c.y, c.tokens * values);
    fill(&c.beta, size_t{c.tokens} * c.heads()), fill(&c.alpha, size_t{c.tokens} * c.heads() * c.fades());
    fill(&c.state, c.heads() * c.head_floats() + size_t{c.taps - 1} * c.channels());
    for (float& v : c.a) v = -std::fabs(v);
    const DeltaCase tiled = reordered(c, true);
    DeltaCase want = c;
    run_delta(scalar, false, &want);
    for (const bool order : {false, true}) {
      DeltaCase got = order ? tiled : c;
      run_delta(kernels, order, &got);
      if (order) got = reordered(got, false);
      entry.same(want.y.data(), got.y.data(), want.y.size(), "%u x %u heads, tiled %d", c.key_heads, c.each, order);
      entry.same(want.state.data(), got.state.data(), want.state.size(), "states of %u x %u heads, tiled %d", c.key_heads, c.each, order);
    }
    if (c.key_heads == 1 || c.each == 1) continue;
    DeltaCase wrong = tiled;
    run_delta(kernels, false, &wrong);
    entry.expect(reordered(wrong, false).y != want.y, "the order of %u x %u heads changes nothing", c.key_heads, c.each);
  }
}

// ---- attention ------------------------------------------------------------------------------------------------------------------

void check_softmax(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "softmax_block");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const uint32_t to = rng.pick(1, 256), n_pad = i % 3 ? (to + 15) / 16 * 16 : 256, from = i % 2 ? 0 : rng.pick(0, to - 1);
    float *s1 = b.a.take<float>(n_pad), *s2 = b.b.take<float>(n_pad, i % 2);
    const float spread = i % 5 == 0 ? 0.0f : i % 5 == 1 ? 300.0f : 10.0f, cap = i % 7 < 3 ? 30.0f : 0.0f;
    for (uint32_t j = 0; j < n_pad; ++j) s1[j] = rng.below(9) ? rng.unit() * spread : -0.0f;
    if (i % 11 == 0) spoil(s1, n_pad, rng);  // what is masked may hold anything
    std::memcpy(s2, s1, n_pad * 4);
    float m1 = 0, l1 = 0, m2 = 0, l2 = 0;
    const float slope = i % 3 == 1 ? std::fabs(rng.unit()) : 0.0f, origin = static_cast<float>(rng.below(i % 2 ? 1 << 23 : 300));
    ref.softmax_block(s1, from, to, n_pad, 0.125f, slope, origin, cap, &m1, &l1, nullptr);
    Soon soon(i / 2);
    t.softmax_block(s2, from, to, n_pad, 0.125f, slope, origin, cap, &m2, &l2, soon.next);
    entry.expect(soon.moved_by_lines(), "asks for parts of lines, %u to %u", from, to);
    entry.same(s1, s2, n_pad, "weights, %u to %u of %u, cap %g", from, to, n_pad, static_cast<double>(cap));
    entry.same(&m1, &m2, 1, "m, %u to %u", from, to);
    entry.same(&l1, &l2, 1, "l, %u to %u", from, to);
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
    if (i % 8 == 0) spoil(i % 16 ? e : v, n, rng);
    if (i % 8 == 1) v[rng.below(n)] *= -1.0f;  // as a damaged state may have it
    uint8_t *h1 = b.c.take<uint8_t>(n), *l1 = b.d.take<uint8_t>(n), *h2 = b.s.take<uint8_t>(n, i % 2), *l2 = b.w.take<uint8_t>(n, i % 2);
    Soon soon(i / 2);
    const float s1 = ref.planes(e, v, n, h1, l1, nullptr), s2 = t.planes(e, v, n, h2, l2, soon.next);
    entry.expect(soon.moved_by_lines(), "asks for parts of lines, n %u", n);
    entry.same(&s1, &s2, 1, "scale, n %u", n);
    entry.same(h1, h2, n, "high plane, n %u", n);
    entry.same(l1, l2, n, "low plane, n %u", n);
  }
}

}  // namespace

void make_pv_case(Rng& rng, PvCase* c) {
  Buffers& b = buffers();
  c->rows = rng.below(4) ? rng.pick(1, 9) : rng.pick(10, 49);
  c->n_pages = rng.pick(1, 16);
  c->d_panels = rng.pick(1, 9);
  // Only the last row's used bytes lie before the guard page.
  const size_t plane = (c->rows - 1) * size_t{256} + c->n_pages * 16, page = c->d_panels * size_t{256};
  const bool front = rng.below(2) != 0, extreme = rng.below(3) == 0;
  uint8_t *hi = b.a.take<uint8_t>(plane, front), *lo = b.b.take<uint8_t>(plane, front);
  int8_t* v = b.w.take<int8_t>(page * c->n_pages, front);
  float* scale = b.s.take<float>(c->rows, front);
  for (size_t i = 0; i < plane; ++i)
    hi[i] = extreme ? 127 : static_cast<uint8_t>(rng.below(128)), lo[i] = extreme ? 127 : static_cast<uint8_t>(rng.below(128));
  for (size_t i = 0; i < page * c->n_pages; ++i) v[i] = extreme ? -128 : static_cast<int8_t>(rng.below(256));
  for (uint32_t i = 0; i < c->n_pages; ++i) c->pages[i] = v + (c->n_pages - 1 - i) * page;
  for (uint32_t i = 0; i < c->rows; ++i) scale[i] = std::fabs(rng.unit());
  c->hi = hi;
  c->lo = lo;
  c->scale = scale;
}

namespace {

void check_pv(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "attn_pv");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 3 * g_cases; ++i) {
    PvCase c;
    make_pv_case(rng, &c);
    const size_t stride = c.d_panels * size_t{16} + (i % 2) * 16, floats = (c.rows - 1) * stride + c.d_panels * size_t{16};
    float *a1 = b.c.take<float>(floats), *a2 = b.d.take<float>(floats, i % 2);
    Soon soon(i / 2);
    ref.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, a1, stride, nullptr);
    t.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, a2, stride, soon.next);
    entry.expect(soon.moved_by_lines(), "asks for parts of lines, rows %u", c.rows);
    entry.same(a1, a2, floats, "rows %u pages %u panels %u", c.rows, c.n_pages, c.d_panels);
  }
}

void check_pv_float(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "attn_pv_float");
  Buffers& b = buffers();
  const linnet_format formats[] = {LINNET_F32, LINNET_F16, LINNET_BF16};
  for (uint32_t i = 0; i < 5 * g_cases; ++i) {
    const linnet_format f = formats[i % 3];
    const uint32_t rows = rng.pick(1, 19), n_pages = rng.pick(1, 16), d_panels = rng.pick(1, 5), bytes = f == LINNET_F32 ? 4 : 2;
    const size_t page = d_panels * size_t{256} * bytes, weights = (rows - 1) * size_t{256} + n_pages * 16;
    const bool front = rng.below(2) != 0;
    float* e = b.a.take<float>(weights, front);
    uint8_t* v = b.w.take<uint8_t>(page * n_pages, front);
    for (size_t j = 0; j < weights; ++j) e[j] = rng.below(3) ? std::fabs(rng.unit()) : 0.0f;
    for (size_t j = 0; j < page * n_pages / bytes; ++j) {
      const float x = rng.unit();
      const uint16_t h = f == LINNET_F16 ? f32_to_f16(x) : f32_to_bf16(x);
      if (bytes == 4)
        std::memcpy(v + j * 4, &x, 4);
      else
        std::memcpy(v + j * 2, &h, 2);
    }
    const void* pages[16];
    for (uint32_t j = 0; j < n_pages; ++j) pages[j] = v + (n_pages - 1 - j) * page;
    const size_t stride = d_panels * size_t{16} + (i % 2) * 16, floats = (rows - 1) * stride + d_panels * size_t{16};
    float *a1 = b.c.take<float>(floats), *a2 = b.d.take<float>(floats, i % 2);
    ref.attn_pv_float(f, e, rows, pages, n_pages, d_panels, a1, stride);
    t.attn_pv_float(f, e, rows, pages, n_pages, d_panels, a2, stride);
    entry.same(a1, a2, floats, "%s rows %u pages %u panels %u", linnet_format_name(f), rows, n_pages, d_panels);
  }
}

void check_byte_table(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "byte_table");
  Buffers& b = buffers();
  alignas(64) int8_t table[128];
  for (uint32_t i = 0; i < 8; ++i) {
    for (int8_t& v : table) v = static_cast<int8_t>(rng.below(128));
    std::memset(table, 0, i % 2 * i * 16);                        // as FP8's begin
    const size_t n = i < 2 ? 256 : rng.pick(1, 20) * size_t{64};  // every code first
    uint8_t* codes = b.a.take<uint8_t>(n, i % 2 != 0);
    for (size_t j = 0; j < n; ++j) codes[j] = static_cast<uint8_t>(i < 2 ? j : rng.below(256));
    int8_t *q1 = b.c.take<int8_t>(n), *q2 = b.d.take<int8_t>(n, i % 4 > 1);
    ref.byte_table(table, codes, n, q1);
    t.byte_table(table, codes, n, q2);
    for (size_t j = 0; j < n; ++j) {
      const int32_t want = codes[j] & 128 ? -table[codes[j] & 127] : table[codes[j] & 127];
      entry.expect(q1[j] == want && q2[j] == want, "code %u: %d and %d, not %d", codes[j], q1[j], q2[j], want);
    }
  }
}

void check_turn(const char* tier, const T& t, const T& ref, Rng& rng) {
  Entry entry(tier, "turn_panels");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < g_cases; ++i) {
    const uint32_t bytes = 1u << i % 3, n = rng.pick(1, 9);
    const size_t size = n * size_t{256} * bytes;
    uint8_t *k = b.a.take<uint8_t>(size, i % 2), *v1 = b.c.take<uint8_t>(size), *v2 = b.d.take<uint8_t>(size, i % 2),
            *back = b.s.take<uint8_t>(size);
    for (size_t j = 0; j < size; ++j) k[j] = static_cast<uint8_t>(rng.next());
    ref.turn_panels(bytes, k, n, v1);
    t.turn_panels(bytes, k, n, v2);
    entry.same(v1, v2, size, "%u bytes, %u panels", bytes, n);
    t.turn_panels(bytes, v2, n, back);  // turned twice is as before
    entry.same(k, back, size, "%u bytes, %u panels, and back", bytes, n);
    const uint32_t d = rng.below(16), token = rng.below(16), from = bytes == 1 ? d / 4 * 64 + token * 4 + d % 4 : d * 16 + token,
                   to = bytes == 1 ? token / 4 * 64 + d * 4 + token % 4 : token * 16 + d;
    entry.same(k + from * bytes, v2 + to * bytes, bytes, "%u bytes, channel %u of token %u", bytes, d, token);
  }
}

// The loops that benches divide by: read_all must see every byte, the peak loops must do what they say they do.
void check_bench_loops(const char* tier, const T& t, Rng& rng) {
  Entry entry(tier, "read_all, peak loops");
  for (uint32_t pages = 1; t.read_all && pages < 6; ++pages) {
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
  for (uint32_t i = 0; i < t.n_gemm; ++i)
    entry.expect(t.gemm[i].peak(20) == 2 * t.gemm[i].peak(10) && t.gemm[i].peak(1) > 0, "operations of %s do not grow with rounds",
                 format_name(t.gemm[i].w));
}

void check_tier(const char* name, const T& t, const T& ref, Rng& rng) {
  const KernelTable& s = ref;
  for (uint32_t i = 0; i < t.n_gemm; ++i)
    for (uint32_t j = 0; j < s.n_gemm; ++j)
      if (s.gemm[j].w == t.gemm[i].w) check_gemm(name, t.gemm[i], s.gemm[j], rng);
  for (uint32_t i = 0; i < t.n_gemm; ++i) check_every_code(name, t.gemm[i]);
  if (t.quantize_row) check_quantize(name, t, s, rng);
  if (t.bf16_row) check_bf16(name, t, s, rng);
  if (t.amax_bits) check_amax(name, t, s, rng);
  if (t.codes) check_codes(name, t, s, rng);
  if (t.rmsnorm_row)
    check_map(name, "rmsnorm_row", t, s, rng, [](const T& k, float* x, const float* w, uint32_t n, float f, float, float* y) {
      k.rmsnorm_row(x, w, n, std::fabs(f) * 1e-5f, y);
    });
  if (t.layernorm_row)
    for (const bool bias : {false, true})
      check_map(name, bias ? "layernorm_row, bias" : "layernorm_row", t, s, rng,
                [bias](const T& k, float* x, const float* w, uint32_t n, float f, float, float* y) {
                  float* b = buffers().bias.take<float>(n);
                  for (uint32_t j = 0; j < n; ++j) b[j] = w[n - 1 - j];
                  k.layernorm_row(x, w, bias ? b : nullptr, n, std::fabs(f) * 1e-5f, y);
                });
  if (t.gelu_mul_row)
    check_map(
        name, "gelu_mul_row", t, s, rng,
        [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.gelu_mul_row(x, w, n, y); }, true);
  if (t.gelu_erf_mul_row)
    check_map(
        name, "gelu_erf_mul_row", t, s, rng,
        [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.gelu_erf_mul_row(x, w, n, y); }, true);
  for (const auto act : {&T::silu_mul_row, &T::gelu_mul_row, &T::gelu_erf_mul_row, &T::relu_mul_row, &T::sigmoid_mul_row})
    if (t.*act)
      check_map(name, "activations without a factor", t, s, rng,
                [act](const T& k, float* x, const float*, uint32_t n, float, float, float* y) { (k.*act)(x, nullptr, n, y); });
  if (t.sigmoid_mul_row)
    check_map(
        name, "sigmoid_mul_row", t, s, rng,
        [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.sigmoid_mul_row(x, w, n, y); }, true);
  if (t.relu_mul_row)
    check_map(
        name, "relu_mul_row", t, s, rng,
        [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.relu_mul_row(x, w, n, y); }, true);
  if (t.xielu_row)
    check_map(name, "xielu_row", t, s, rng, [](const T& k, float* x, const float*, uint32_t n, float f, float g, float* y) {
      const float by[] = {f, g, f * g, std::fabs(f) * (g < 0 ? -1e-6f : -0.5f)};
      k.xielu_row(x, by, n, y);
    });
  if (t.find_above) check_find(name, t, s, rng);
  if (t.silu_mul_row)
    check_map(
        name, "silu_mul_row", t, s, rng,
        [](const T& k, float* x, const float* w, uint32_t n, float, float, float* y) { k.silu_mul_row(x, w, n, y); }, true);
  if (t.taps_row)
    for (const uint32_t taps : {1u, 2u, 4u, 16u})
      check_map(name, "taps_row", t, s, rng, [taps](const T& k, float* x, const float* w, uint32_t n, float f, float, float* y) {
        std::vector<float> other(x, x + n), weights;
        const float* rows[16];
        for (uint32_t i = 0; i < taps; ++i) {
          rows[i] = i % 2 ? other.data() : x;
          for (uint32_t j = 0; j < n; ++j) weights.push_back(w[(i + j) % n]);
        }
        for (float& v : other) v *= f;
        k.taps_row(rows, weights.data(), n, taps, n, y);
      });
  if (t.add_row)
    check_map(name, "add_row", t, s, rng,
              [](const T& k, float* x, const float* w, uint32_t n, float, float, float*) { k.add_row(x, w, n); });
  if (t.merge_row)
    check_map(name, "merge_row", t, s, rng,
              [](const T& k, float* x, const float* w, uint32_t n, float f, float g, float*) { k.merge_row(x, w, n, f, g); });
  if (t.delta_steps) check_delta(name, t, s, rng);
  check_delta_net(name, t.isa, rng);
  if (t.scale_row)
    check_map(name, "scale_row", t, s, rng,
              [](const T& k, float* x, const float*, uint32_t n, float f, float, float*) { k.scale_row(x, n, f); });
  if (t.exp_row)
    check_map(name, "exp_row", t, s, rng, [](const T& k, float* x, const float*, uint32_t n, float, float, float*) { k.exp_row(x, n); });
  if (t.rope_row) check_rope(name, t, s, rng);
  if (t.softmax_block) check_softmax(name, t, s, rng);
  if (t.planes) check_planes(name, t, s, rng);
  if (t.attn_pv) check_pv(name, t, s, rng);
  if (t.attn_pv_float) check_pv_float(name, t, s, rng);
  if (t.byte_table) check_byte_table(name, t, s, rng);
  if (t.turn_panels) check_turn(name, t, s, rng);
  if (t.gather_row) check_gather(name, t, rng);
  check_bench_loops(name, t, rng);
}

// ---- the registry -------------------------------------------------------------------------------------------------------------------

// Bits that a tier asks for and this CPU does not have.
uint64_t lacks(const KernelTable& t) { return isa_row(t.isa)->required & ~cpu_bits(); }

#if defined(__x86_64__)
// Linux refuses AMX's tiles to a process whose signals have a stack too small for them: another tier takes their place, and amx by name
// says so. In a process of its own, since what is granted stays, and before this one asks.
void check_refused_tiles() {
  bool amx = false;
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) amx |= t->isa == LINNET_ISA_AMX && !lacks(*t);
  if (!amx) return;
  Entry entry("all", "refused tiles");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    static uint8_t stack[4096];
    const stack_t small = {stack, 0, sizeof stack};
    Kernels k;
    Error err{};
    if (sigaltstack(&small, nullptr)) _exit(3);
    if (kernels_resolve(LINNET_ISA_AMX, 0, &k, &err) != LINNET_UNSUPPORTED || !std::strstr(err.text, "'amx': the operating system refuses"))
      _exit(1);
    _exit(kernels_resolve(LINNET_ISA_AUTO, 0, &k, &err) == LINNET_OK && k.t.isa != LINNET_ISA_AMX ? 0 : 2);
  }
  int state = 0;
  const bool ended = child > 0 && waitpid(child, &state, 0) == child;
  if (ended && WIFEXITED(state) && WEXITSTATUS(state) == 3)
    std::printf("skipped: refused tiles: this Linux has no small stacks for signals\n");
  else
    entry.expect(ended && state == 0, "state %d of the process that is refused them", state);
}
#endif

void check_registry() {
  Entry entry("all", "registry");
  Error err{};
  Kernels k{};
  uint32_t best = 0;
  for (uint32_t i = 0; const KernelTable* t = kernel_tier(i); ++i) {
    const bool have = !lacks(*t) && (!t->start || !t->start());
    const Status s = kernels_resolve(t->isa, 0, &k, &err);
    entry.expect(have ? s == LINNET_OK && k.t.isa == t->isa : s == LINNET_UNSUPPORTED && std::strstr(err.text, isa_name(t->isa)),
                 "forcing %s: %s", isa_name(t->isa), err.text);
    if (have) {
      if (!by_name(t->isa)) best = t->isa;
      entry.expect(!t->codes || k.t.codes == t->codes, "forcing %s runs another tier", isa_name(t->isa));
      for (uint32_t j = 0; j < t->n_gemm; ++j) entry.expect(k.gemm[t->gemm[j].w].run == t->gemm[j].run, "gemm of %s", isa_name(t->isa));
      for (uint32_t f = LINNET_F32; f <= kMaxFormat; ++f)
        entry.expect(!format_known(f) || (k.gemm[f].run != nullptr && k.gemm[f].w == f), "%s has no gemm for format %u", isa_name(t->isa),
                     f);
      const KernelTable& r = k.t;
      entry.expect(r.quantize_row && r.bf16_row && r.amax_bits && r.codes && r.rmsnorm_row && r.layernorm_row && r.silu_mul_row &&
                       r.gelu_mul_row && r.gelu_erf_mul_row && r.relu_mul_row && r.xielu_row && r.sigmoid_mul_row && r.find_above &&
                       r.taps_row && r.add_row && r.rope_row && r.softmax_block && r.planes && r.attn_pv && r.attn_pv_float &&
                       r.byte_table && r.turn_panels && r.merge_row && r.delta_steps && r.scale_row && r.sum_row && r.unit_row &&
                       r.exp_row && r.gather_row && r.read_all,
                   "%s has a hole", isa_name(t->isa));
    }
    entry.expect(kernels_resolve(t->isa, 1u << (t->isa == 1 ? 2 : 1), &k, &err) == LINNET_UNSUPPORTED && std::strstr(err.text, "isa_mask"),
                 "mask against %s", isa_name(t->isa));
  }
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 0, &k, &err) == LINNET_OK && k.t.isa == best, "auto is not the strongest");
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 1u << LINNET_ISA_SCALAR, &k, &err) == LINNET_OK && k.t.isa == LINNET_ISA_SCALAR,
               "mask of scalar");
  entry.expect(kernels_resolve(LINNET_ISA_AUTO, 1u << 31, &k, &err) == LINNET_UNSUPPORTED, "mask of nothing");
  entry.expect(kernels_resolve(99, 0, &k, &err) == LINNET_BAD_ARG, "tier 99");
}

}  // namespace

void put_block_scales(linnet_format f, uint8_t* block, Rng& rng) {
  if (format_row(f).stored == Stored::kTables) {
    const float scale = rng.below(16) ? std::fabs(rng.unit()) * 0.1f : 1e-41f;
    if (!format_nested(f)) std::memcpy(block + 32, &scale, 4);
    return;
  }
  if (f >= LINNET_HQQ4G32 && f <= LINNET_AO4G128) {  // f16, or bf16 and a sign that says so
    const bool wide = rng.below(2), tiny = rng.below(8) == 0;
    const float scale = tiny ? 1e-7f : std::fabs(rng.unit()) * 0.01f, zero = tiny ? rng.unit() * 1e-3f : rng.unit() * 16;
    const uint16_t of[2] = {static_cast<uint16_t>(wide ? f32_to_bf16(scale) | 0x8000 : f32_to_f16(scale)),
                            wide ? f32_to_bf16(zero) : f32_to_f16(zero)};
    std::memcpy(block, of, sizeof of);
    return;
  }
  uint32_t halves[2];
  for (uint32_t i = 0, n = gguf_block_halves(f, halves); i < n; ++i) {
    const uint32_t small = rng.below(0x400) | rng.below(2) << 15;  // subnormals too
    const uint16_t h = rng.below(8) ? f32_to_f16(rng.unit() * 0.01f) : static_cast<uint16_t>(small);
    std::memcpy(block + halves[i], &h, 2);
  }
  if (f == LINNET_MXFP4) block[0] = static_cast<uint8_t>(rng.below(16) ? rng.pick(110, 125) : rng.below(4));
  if (f == LINNET_IQ1_M) block[55] = static_cast<uint8_t>((block[55] & 0x8F) | rng.below(3) << 4);  // upper bits of its f16
}

// Double quantisation: what groups of a row have together.
void put_outer_scales(uint8_t* row, uint32_t groups, Rng& rng) {
  const uint32_t first = rng.below(3) ? rng.below(256) : 255 - rng.below(groups) % 256;
  const float offset = rng.unit() * 0.1f;
  float outer = rng.unit() * 0.1f;
  for (uint32_t g = 0; g < groups; ++g, row += 41) {
    if ((g + first) % 256 == 0) outer = rng.below(16) ? rng.unit() * 0.1f : 1e-41f;
    std::memcpy(row + 33, &outer, 4);
    std::memcpy(row + 37, &offset, 4);
  }
}

uint64_t fill_matrix(linnet_format f, uint32_t n, uint32_t k, void* packed, Rng& rng) {
  const FormatRow& row = format_row(f);
  const size_t kpad = padded_k(f, k), np = padded_n(n);
  uint8_t* p = static_cast<uint8_t*>(packed);
  const size_t bytes = packed_bytes(f, n, k);
  std::memset(p, 0, bytes);
  if (format_block(f) > 1) {  // any bytes are blocks, but for their f16 scales
    const size_t stride = k / row.w_group * gguf_block_bytes(f);
    std::vector<uint8_t> blocks(kPanel * stride);
    for (uint32_t first = 0; first < n; first += kPanel) {
      const bool extremes = rng.below(6) == 0;  // as make_gemm_case has them of others
      for (uint8_t& v : blocks) v = extremes ? (rng.below(4) ? 0xFF : 0x00) : static_cast<uint8_t>(rng.next());
      for (size_t at = 0; extremes && f == LINNET_Q6_K && at < blocks.size(); ++at)  // bytes of scales are signed
        if (at % gguf_block_bytes(f) >= 192) blocks[at] = rng.below(2) ? 0x80 : 0x7F;
      for (size_t at = 0; at < blocks.size(); at += gguf_block_bytes(f)) put_block_scales(f, blocks.data() + at, rng);
      for (size_t r = 0; format_nested(f) && r < kPanel; ++r) put_outer_scales(blocks.data() + r * stride, k / row.w_group, rng);
      float outer[kPanel][2];
      for (float(&two)[2] : outer) two[0] = rng.unit(), two[1] = rng.below(2) ? 0 : two[0] * rng.unit() * 0x1p-24f;
      pack_gguf_blocks(f, blocks.data(), stride, n - first < kPanel ? n - first : kPanel, k, p + first / kPanel * panel_bytes(f, k),
                       p + scales_offset(f, n, k) + first / kPanel * panel_scale_bytes(f, k), row.scale.outer ? outer[0] : nullptr);
    }
    return bytes;
  }
  if (row.run == 1) {
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
  for (size_t i = 0; i < np * kpad * row.bits / 8; i += 8) {
    const uint64_t r = rng.next();
    std::memcpy(p + i, &r, 8);
  }
  for (size_t panel = 0; panel < np / 16; ++panel)  // padding
    for (size_t t = k; t < kpad; ++t)
      for (size_t j = 0; j < 16; ++j) {
        uint8_t* w = p + panel * panel_bytes(f, k);
        if (row.bits == 8)
          w[t / 4 * 64 + j * 4 + t % 4] = 0;
        else if (uint8_t& b = w[t / 8 * 64 + j * 4 + t % 4]; t & 4)
          b = static_cast<uint8_t>((b & 0x0F) | 0x80);
        else
          b = static_cast<uint8_t>((b & 0xF0) | 0x08);
      }
  if (!(row.x == LINNET_I8) && rng.below(8))  // FP8: one matrix in eight has NaN and infinities, which would drown the rest
    for (size_t i = 0; i < np * kpad; ++i)
      if ((p[i] & 0x7C) == 0x7C) p[i] ^= 0x40;
  const uint32_t most_zero = rng.below(3) ? 129 : 256;  // some kernels have another way for zero points beyond
  for (size_t i = 0; i < np * n_w_groups(f, k); ++i) {
    const float s = std::fabs(rng.unit()) * 0.01f;
    if (row.scale.bytes == 4) {
      std::memcpy(p + scales_offset(f, n, k) + i * 4, &s, 4);
    } else {
      const uint16_t h = rng.below(8) ? f32_to_f16(s) : static_cast<uint16_t>(rng.below(0x400));  // subnormals too
      const size_t step = row.scale.bytes * size_t{16};
      uint8_t* group = p + scales_offset(f, n, k) + i / 16 * step;
      std::memcpy(group + i % 16 * 2, &h, 2);
      if (row.scale.zero) group[32 + i % 16] = static_cast<uint8_t>(rng.below(8) ? rng.below(17) : rng.below(most_zero));
    }
  }
  return bytes;
}

// require: the tier that this CPU is known to have, with all weaker ones.
int run_checks(const char* isa, const char* require, uint64_t seed) {
  std::printf("check_kernels: seed %llu\n", static_cast<unsigned long long>(seed));
  uint32_t n_required = 0;
  for (const char* name : {isa, require}) {
    uint32_t at = 0;
    while (name && kernel_tier(at) && std::strcmp(name, isa_name(kernel_tier(at)->isa))) ++at;
    if (!kernel_tier(at)) {
      std::fprintf(stderr, "check_kernels: this build has no tier '%s'\n", name);
      return 2;
    }
    if (name == require && require) n_required = at + 1;
  }
  Rng rng{seed};
  const KernelTable& scalar = *kernel_tier(0);
  if (!isa || !std::strcmp(isa, "scalar")) {
#if defined(__x86_64__)
    check_refused_tiles();
#endif
    check_registry();
    check_scalar(scalar, rng);
    check_delta_net("scalar", LINNET_ISA_SCALAR, rng);
    for (uint32_t i = 0; i < scalar.n_gemm; ++i) check_every_code("scalar", scalar.gemm[i]);
    check_bench_loops("scalar", scalar, rng);
  }
  for (uint32_t i = 1; const KernelTable* t = kernel_tier(i); ++i) {
    const char* name = isa_name(t->isa);
    if (isa && std::strcmp(isa, name) != 0) continue;
    if (const uint64_t none = lacks(*t)) {
      std::printf("%s: %s (this CPU has no %s)\n", i < n_required ? "FAILED" : "skipped", name, cpu_bit_name(none));
      ++(i < n_required ? g_failed : g_skipped);
      continue;
    }
    if (const char* why = t->start ? t->start() : nullptr) {
      const bool granted = t->isa == LINNET_ISA_AMX && i >= n_required;  // by a system, which may not
      std::printf("%s: %s: %s\n", granted ? "skipped" : "FAILED", name, why);
      ++(granted ? g_skipped : g_failed);
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
  const char *isa = nullptr, *weights = nullptr, *require = nullptr;
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
    else if (const char* v6 = value("--weights"))
      weights = v6;
    else if (const char* v7 = value("--require"))
      require = v7;
    else {
      std::fprintf(stderr,
                   "usage: check_kernels [--seed N] [--isa TIER] [--cases N] [--require TIER] | --bench [--isa TIER] [--weights FORMAT] "
                   "[--threads N] [--reps N]\n");
      return 2;
    }
  }
  return bench ? check::run_bench(isa, weights, threads, reps, seed) : check::run_checks(isa, require, seed);
}
