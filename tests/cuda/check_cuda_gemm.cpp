// gemm.cu against scalar.cpp: the same bits for integer and float weights; FP8 within a bound, and a row's bits whatever rows are beside
// it.
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "cuda_test.h"
#include "kernels_cpu/pack.h"
#include "kernels_cpu/registry.h"
#include "tests/catch2.h"
#include "tests/data.h"

using namespace linnet;
using test::DeviceMemory;
using test::EmulatedMatrix;
using test::EmulatedQueue;

namespace {

// All of weights that there are kernels for.
#define LINNET_FLOATS(name, NAME, ...) LINNET_##NAME,
#define LINNET_FP8(name, NAME, ...) LINNET_##NAME,
#define LINNET_CODES(name, NAME, ...) LINNET_##NAME,
#define LINNET_BLOCKS(name, NAME, ...) LINNET_##NAME,
const std::vector<Format> kAll = [] {
  std::vector<Format> all;
  for (const Format f : {
#include "runtime/formats.inc"
       })
    if (cuda_multiplies(f)) all.push_back(f);
  return all;
}();

// Inputs that rows of a format may have: k, or more where those are whole blocks.
uint32_t inputs(Format f, uint32_t k) { return static_cast<uint32_t>(align_up(k, format_block(f))); }

std::vector<float> random_floats(std::mt19937& random, size_t n) {
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(random);
  return v;
}

struct Packed {
  std::vector<uint8_t> bytes;
  const void *panels, *scales;
  Packed(std::mt19937& random, Format f, uint32_t n, uint32_t k) : bytes(packed_bytes(f, n, k) + 64) {
    uint8_t* p = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
    uint8_t* s = p + scales_offset(f, n, k);
    panels = p;
    scales = s;
    const std::vector<float> w = random_floats(random, size_t{n} * k);
    const size_t scale_bytes = panel_scale_bytes(f, k);
    for (uint32_t panel = 0; panel * 16 < n; ++panel)
      REQUIRE(pack_panel(f, w.data() + size_t{panel} * 16 * k, k, std::min(16u, n - panel * 16), k, p + panel * panel_bytes(f, k),
                         s + panel * scale_bytes));
    if (format_row(f).stored == Stored::kBlocks)  // every code
      for (size_t i = 0; i < padded_n(n) / kPanel * panel_bytes(f, k); ++i) p[i] = static_cast<uint8_t>(random());
    if (f == LINNET_MXFP4)  // scales that are not normal
      for (uint32_t i = 0; i < padded_n(n); ++i) s[i / 16 * scale_bytes + i % 16] = static_cast<uint8_t>(i % 3);
  }
};

// Rows of x as a format wants them: on the "device" what a kernel reads, and the same for scalar.cpp.
struct Rows {
  float* x;  // (m, stride floats)
  size_t stride;
  QuantRows q{};
  Rows(DeviceMemory& memory, std::mt19937& random, Format f, uint32_t m, uint32_t k) : stride(k + 16) {
    x = memory.copy(random_floats(random, m * stride).data(), m * stride);
    q = quantize(memory, f, x, stride, m, k);
  }
  static QuantRows quantize(DeviceMemory& memory, Format f, const float* x, size_t stride, uint32_t m, uint32_t k) {
    const FormatRow& row = format_row(f);
    const KernelTable& t = *kernel_tier(0);
    QuantRows q;
    if (row.x == LINNET_F32) return q;
    q.format = row.x;
    q.stride = quant_stride(row.x, k);
    q.group = row.x_group;
    q.groups = static_cast<uint32_t>(n_x_groups(f, k));
    q.q = memory.take<uint8_t>(m * q.stride);
    if (q.groups) q.scale = memory.take<float>(size_t{m} * q.groups), q.sum128 = memory.take<int32_t>(size_t{m} * q.groups);
    for (uint32_t r = 0; r < m; ++r) {
      if (row.x == LINNET_BF16)
        t.bf16_row(x + r * stride, k, reinterpret_cast<uint16_t*>(q.q + r * q.stride));
      else
        REQUIRE(t.quantize_row(x + r * stride, k, q.group, reinterpret_cast<int8_t*>(q.q + r * q.stride), q.scale + size_t{r} * q.groups,
                               q.sum128 + size_t{r} * q.groups));
    }
    return q;
  }
};

// Rows first.. of the rows, panels from `panel` on, by scalar.cpp.
void oracle(const Matrix& w, const Rows& rows, uint32_t first, uint32_t m, uint32_t panel, uint32_t n_panels, const float* bias,
            bool accumulate, float* y, size_t y_stride) {
  const FormatRow& row = format_row(w.format);
  GemmArgs a{};
  const bool floats = row.x == LINNET_F32;
  a.x_stride = floats ? rows.stride * 4 : rows.q.stride;
  a.x = (floats ? reinterpret_cast<const uint8_t*>(rows.x) : rows.q.q) + first * a.x_stride;
  a.x_scale = rows.q.scale + size_t{first} * rows.q.groups;
  a.x_sum128 = rows.q.sum128 + size_t{first} * rows.q.groups;
  a.x_groups = rows.q.groups;
  a.x_group = rows.q.group;
  a.w_stride = panel_bytes(w.format, w.k);
  a.w_scale_stride = panel_scale_bytes(w.format, w.k);
  a.w = static_cast<const uint8_t*>(w.panels) + panel * a.w_stride;
  a.w_scale = static_cast<const uint8_t*>(w.scales) + panel * a.w_scale_stride;
  a.bias = bias ? bias + panel * 16 : nullptr;
  a.y = y;
  a.y_stride = y_stride;
  a.m = m;
  a.k = w.k;
  a.n_panels = n_panels;
  a.accumulate = accumulate;
  const KernelTable& t = *kernel_tier(0);
  for (uint32_t i = 0; i < t.n_gemm; ++i)
    if (t.gemm[i].w == w.format) t.gemm[i].run(&a);
}

bool is_f8(Format f) { return f == LINNET_F8E4M3 || f == LINNET_F8E5M2; }

// Bits, or for FP8 a bound: sums in another order.
void check_same(Format f, const float* want, const float* got, size_t n, uint32_t k) {
  if (!is_f8(f)) {
    CHECK(std::memcmp(want, got, n * sizeof(float)) == 0);
    return;
  }
  float most = 0;
  for (size_t i = 0; i < n; ++i) most = std::max(most, std::fabs(want[i] - got[i]));
  CHECK(most <= 1e-6f * std::sqrt(static_cast<float>(k)) * 6);
}

struct Shape {
  uint32_t m, n, k, part_panels, n_sms;
};

}  // namespace

TEST_CASE("CUDA products of packed weights") {
  std::mt19937 random(5);
  const Shape kShapes[] = {{1, 96, 300, 0, 8},  {1, 40, 1100, 1, 1}, {3, 144, 128, 4, 2},  {8, 50, 650, 3, 32}, {8, 300, 96, 0, 1},
                           {9, 160, 416, 7, 8}, {33, 50, 31, 0, 8},  {70, 200, 544, 5, 1}, {600, 16, 32, 0, 1}, {7, 20, 1500, 0, 32}};
  for (const Format f : kAll)
    for (Shape s : kShapes) {
      if (kSlow && (s.m + f) % 3) continue;
      s.k = inputs(f, s.k);
      INFO(format_name(f) << " m " << s.m << " n " << s.n << " k " << s.k);
      EmulatedQueue queue(1 << 16, s.n_sms);
      DeviceMemory memory;
      const Packed packed(random, f, s.n, s.k);
      const EmulatedMatrix matrix(memory, f, s.n, s.k, packed.panels, packed.scales, s.part_panels);
      const Rows rows(memory, random, f, s.m, s.k);
      const size_t n = padded_n(s.n), stride = n + 3;
      const std::vector<float> start = random_floats(random, s.m * stride);
      const float* bias = s.m % 2 ? memory.copy(random_floats(random, n).data(), n) : nullptr;
      const bool accumulate = s.m == 3 || s.m == 8 || s.m == 33;
      std::vector<float> want = start;
      oracle(matrix.host, rows, 0, s.m, 0, matrix.cuda.n_panels, bias, accumulate, want.data(), stride);
      float* got = memory.copy(start.data(), start.size());
      cuda_gemm(queue.worker(), matrix.matrix(), rows.x, rows.stride, &rows.q, s.m, bias, accumulate, got, stride);
      REQUIRE(queue.q.failed == 0);
      check_same(f, want.data(), got, start.size(), s.k);
      if (!is_f8(f) || s.m == 1) continue;
      const uint32_t last = s.m - 1;  // alone it has the same bits
      QuantRows one = rows.q;
      one.q += last * one.stride;
      float* alone = memory.copy(start.data() + last * stride, stride);
      cuda_gemm(queue.worker(), matrix.matrix(), nullptr, 0, &one, 1, bias, accumulate, alone, stride);
      REQUIRE(queue.q.failed == 0);
      CHECK(std::memcmp(alone, got + last * stride, stride * sizeof(float)) == 0);
    }
}

TEST_CASE("CUDA products of every code of FP8") {
  for (const Format f : {LINNET_F8E4M3, LINNET_F8E5M2})
    for (const uint32_t m : {1u, 9u, 20u}) {
      EmulatedQueue queue;
      DeviceMemory memory;
      std::vector<uint8_t> panels(16 * panel_bytes(f, 1));
      for (uint32_t i = 0; i < 256; ++i) panels[i / 16 * panel_bytes(f, 1) + i % 16 * 4] = static_cast<uint8_t>(i);
      const std::vector<float> scales(256, 1.0f), ones(m, 1.0f);
      const EmulatedMatrix matrix(memory, f, 256, 1, panels.data(), scales.data());
      const QuantRows q = Rows::quantize(memory, f, ones.data(), 1, m, 1);
      float* y = memory.take<float>(m * 256);
      cuda_gemm(queue.worker(), matrix.matrix(), nullptr, 0, &q, m, nullptr, false, y, 256);
      for (uint32_t i = 0; i < m * 256; ++i) {
        const auto code = static_cast<uint8_t>(i % 256);
        const float want = f == LINNET_F8E4M3 ? f8e4m3_to_f32(code) : f8e5m2_to_f32(code);
        if (std::isfinite(want) && y[i] != want)
          FAIL("code " << i % 256 << " is " << y[i] << ", not " << want);  // packed files have no others
      }
    }
}

// cuda_gemm: fast. Against sums in double; the bounds are what the emulator's order of sums costs. A GPU's tensor cores cut what they align
// where the emulator rounds: 2^-22 of a group's sum of |x * w| for each of its 16 to 24 products.
TEST_CASE("CUDA products in terms: near the exact sums, a row's bits whatever rows are beside it") {
  std::mt19937 random(15);
  const Shape kShapes[] = {{9, 160, 416, 7, 8},  {33, 50, 31, 0, 8},  {70, 200, 544, 5, 1},
                           {24, 40, 1100, 1, 2}, {600, 16, 32, 0, 1}, {12, 33, 300, 0, 8}};
  for (const Format f : {LINNET_F16, LINNET_BF16}) {
    double worst = 0, worst_of_size = 0;
    for (const Shape& s : kShapes) {
      INFO(format_name(f) << " m " << s.m << " n " << s.n << " k " << s.k);
      EmulatedQueue queue(s.m * cuda_terms_bytes(f, s.k) + 16, s.n_sms, 90);
      queue.q.fast = true;
      DeviceMemory memory;
      const Packed packed(random, f, s.n, s.k);
      const EmulatedMatrix matrix(memory, f, s.n, s.k, packed.panels, packed.scales, s.part_panels);
      Rows rows(memory, random, f, s.m, s.k);
      const bool hostile = s.m == 12;
      for (uint32_t r = 0; r < s.m; ++r) {
        float* x = rows.x + r * rows.stride;
        const float by = std::ldexp(1.0f, static_cast<int>(random() % 121) - 60);  // rows far apart, and outliers in them
        for (uint32_t i = 0; i < s.k; ++i) x[i] *= by * (random() % 50 ? 1.0f : 300.0f);
        if (!hostile) continue;
        if (r == 0) x[3] = NAN;
        if (r == 1) x[130] = -INFINITY;
        if (r == 2) std::fill_n(x, s.k, 0.0f);
        if (r == 3) std::fill_n(x, s.k, 0.0f), x[7] = 3.3e38f;
        if (r == 4) std::fill_n(x, s.k, 1e-42f);
        if (r == 5) std::fill_n(x + 128, 128, 1e-35f);
        if (r == 6) x[299] = 1e30f;
      }
      rows.q = Rows::quantize(memory, f, rows.x, rows.stride, s.m, s.k);
      // x as it is multiplied.
      std::vector<double> x(size_t{s.m} * s.k), of_group = x;  // of_group: its largest
      bool finite = true;
      for (uint32_t r = 0; r < s.m; ++r)
        for (uint32_t g = 0; g < s.k; g += 128) {
          const uint32_t n = std::min(128u, s.k - g);
          float v[128], amax = 0;
          bool ok = true;
          for (uint32_t i = 0; i < n; ++i) {
            v[i] = rows.x[r * rows.stride + g + i];
            ok = ok && std::isfinite(v[i]);
            amax = std::max(amax, std::fabs(v[i]));
          }
          finite = finite && ok;
          const bool kept = ok && (f == LINNET_BF16 || amax > 1e-30f);
          for (uint32_t i = 0; i < n; ++i) {
            const size_t at = size_t{r} * s.k + g + i;
            x[at] = kept ? v[i] : 0;
            of_group[at] = kept ? amax : 0;
          }
        }
      const size_t n = padded_n(s.n), stride = n + 3;
      const std::vector<float> start = random_floats(random, s.m * stride);
      const float* bias = s.m % 2 ? memory.copy(random_floats(random, n).data(), n) : nullptr;
      const bool accumulate = s.m == 33;
      float* got = memory.copy(start.data(), start.size());
      cuda_gemm(queue.worker(), matrix.matrix(), rows.x, rows.stride, &rows.q, s.m, bias, accumulate, got, stride);
      REQUIRE(queue.q.failed == 0);
      CHECK(*queue.q.not_finite == !finite);
      CHECK(finite == !hostile);
      std::vector<float> w(s.k);
      uint32_t beyond = 0;
      for (uint32_t j = 0; j < s.n; ++j) {
        kernel_tier(0)->gather_row(f, packed.panels, packed.scales, s.n, s.k, j, w.data());
        for (uint32_t r = 0; r < s.m; ++r) {
          double want = (bias ? bias[j] : 0.0f) + double{accumulate ? start[r * stride + j] : 0.0f}, size = 0, tiny = 0;
          const double beside = std::fabs(bias ? bias[j] : 0.0f) + std::fabs(accumulate ? start[r * stride + j] : 0.0f);
          for (uint32_t i = 0; i < s.k; ++i) {
            const size_t at = size_t{r} * s.k + i;
            want += x[at] * w[i], size += std::fabs(x[at] * w[i]), tiny += of_group[at] * std::fabs(w[i]);
          }
          const float y = got[r * stride + j];
          if (std::fabs(want) > 3.4e38) continue;
          const double bound = std::ldexp(size, -21) + std::ldexp(beside, -22) + std::ldexp(tiny, -39) + 1e-38;
          if (!(std::fabs(y - want) <= bound)) ++beyond;
          worst = std::max(worst, std::fabs(y - want) / bound);
          if (size > beside && size > 1e-30) worst_of_size = std::max(worst_of_size, std::fabs(y - want) / size);
        }
      }
      CHECK(beyond == 0);
      if (s.m < 20) continue;
      const uint32_t from = s.m - 9;  // among others, in smaller blocks
      QuantRows some = rows.q;
      some.q += from * some.stride;
      float* again = memory.copy(start.data() + from * stride, 9 * stride);
      cuda_gemm(queue.worker(), matrix.matrix(), rows.x + from * rows.stride, rows.stride, &some, 9, bias, accumulate, again, stride);
      REQUIRE(queue.q.failed == 0);
      CHECK(std::memcmp(again, got + from * stride, 9 * stride * sizeof(float)) == 0);
    }
    std::printf("%s in terms: %.2f of the bound at most, %.1e of the sum of |x * w| from exact ones\n", format_name(f), worst,
                worst_of_size);
  }
}

TEST_CASE("CUDA products notice a spoilt scale") {
  std::mt19937 random(6);
  for (const uint32_t m : {2u, 20u}) {
    EmulatedQueue queue;
    DeviceMemory memory;
    const Packed packed(random, LINNET_I8G128, 64, 256);
    EmulatedMatrix matrix(memory, LINNET_I8G128, 64, 256, packed.panels, packed.scales);
    const Rows rows(memory, random, LINNET_I8G128, m, 256);
    std::vector<float> want(m * 64);
    oracle(matrix.host, rows, 0, m, 0, 4, nullptr, false, want.data(), 64);
    reinterpret_cast<float*>(const_cast<uint8_t*>(matrix.cuda.scales[0]))[37] *= 1.02f;
    float* got = memory.take<float>(m * 64);
    cuda_gemm(queue.worker(), matrix.matrix(), rows.x, rows.stride, &rows.q, m, nullptr, false, got, 64);
    CHECK(std::memcmp(want.data(), got, m * 64 * 4) != 0);
  }
}

TEST_CASE("CUDA rows of a packed embedding") {
  std::mt19937 random(7);
  for (const Format f : kAll)
    for (const uint32_t least : {300u, 33u}) {
      INFO(format_name(f));
      const uint32_t n = 75, k = inputs(f, least);
      EmulatedQueue queue;
      DeviceMemory memory;
      const Packed packed(random, f, n, k);
      const EmulatedMatrix matrix(memory, f, n, k, packed.panels, packed.scales, 2);
      const int32_t tokens[] = {0, 74, 33, 17};
      std::vector<float> want(4 * 528, 1.0f);
      for (uint32_t i = 0; i < 4; ++i)
        kernel_tier(0)->gather_row(f, packed.panels, packed.scales, n, k, static_cast<uint32_t>(tokens[i]), want.data() + i * 528);
      const std::vector<float> start(4 * 528, 1.0f);
      float* got = memory.copy(start.data(), start.size());
      cuda_embed(queue.worker(), matrix.matrix(), memory.copy(tokens, 4), 4, got, 528);
      REQUIRE(queue.q.failed == 0);
      CHECK(std::memcmp(want.data(), got, want.size() * 4) == 0);
    }
}

TEST_CASE("CUDA products of heads") {
  std::mt19937 random(8);
  const uint32_t n_heads = 3, n = 48, carry = 5;
  for (const Format f : kAll)
    for (const uint32_t m : {1u, 18u}) {
      INFO(format_name(f) << " m " << m);
      const uint32_t k = inputs(f, 200);
      EmulatedQueue queue(cuda_gemm_heads_scratch(m, n_heads, k));
      DeviceMemory memory;
      const Packed packed(random, f, n_heads * n, k);
      const EmulatedMatrix matrix(memory, f, n_heads * n, k, packed.panels, packed.scales, 4);
      const size_t x_head = k + carry + 3, x_stride = n_heads * x_head + 8, y_head = n + carry, y_stride = n_heads * y_head + 16;
      const float* x = memory.copy(random_floats(random, m * x_stride).data(), m * x_stride);
      const std::vector<float> start(m * y_stride, 2.0f);
      std::vector<float> want = start;
      for (uint32_t h = 0; h < n_heads; ++h) {
        Rows rows(memory, random, f, 0, k);
        rows.x = const_cast<float*>(x + h * x_head);
        rows.stride = x_stride;
        rows.q = Rows::quantize(memory, f, rows.x, x_stride, m, k);
        for (uint32_t r = 0; r < m; ++r) std::memcpy(want.data() + r * y_stride + h * y_head, x + r * x_stride + h * x_head + k, carry * 4);
        oracle(matrix.host, rows, 0, m, h * n / 16, n / 16, nullptr, false, want.data() + h * y_head + carry, y_stride);
      }
      float* got = memory.copy(start.data(), start.size());
      cuda_gemm_heads(queue.worker(), matrix.matrix(), n_heads, x, x_stride, x_head, m, carry, got, y_stride, y_head);
      REQUIRE(queue.q.failed == 0);
      check_same(f, want.data(), got, want.size(), k);
      CHECK(*queue.q.not_finite == 0);
    }
  // An infinite input: zeros, and it is told.
  const uint32_t k = 200;
  EmulatedQueue queue(cuda_gemm_heads_scratch(1, 1, k));
  DeviceMemory memory;
  const Packed packed(random, LINNET_I8G128, n, k);
  const EmulatedMatrix matrix(memory, LINNET_I8G128, n, k, packed.panels, packed.scales);
  std::vector<float> x(k, 0.0f);
  x[150] = INFINITY;
  float* y = memory.take<float>(n);
  cuda_gemm_heads(queue.worker(), matrix.matrix(), 1, memory.copy(x.data(), k), k, k, 1, 0, y, n, n);
  CHECK(*queue.q.not_finite == 1);
  for (uint32_t i = 0; i < n; ++i) CHECK(y[i] == 0);
}

TEST_CASE("CUDA products of experts") {
  std::mt19937 random(9);
  const uint32_t n_experts = 12, n = 48;
  // Pairs of each expert, some without any; more experts than a launch has matrices where rows are few, more rows than it has blocks for
  // where they are many.
  const uint32_t kFew[] = {1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1}, kMany[] = {11, 300, 3, 0, 20, 0, 0, 0, 64, 1, 0, 0};
  for (const Format f : kAll)
    for (const uint32_t* counts : {kFew, kMany}) {
      if (kSlow && counts == kMany && f % 3) continue;
      INFO(format_name(f));
      const uint32_t k = inputs(f, 160);
      EmulatedQueue queue;
      queue.q.n_rows = counts == kFew ? 1 : 300;
      DeviceMemory memory;
      std::vector<uint32_t> first(n_experts + 2), active;
      for (uint32_t e = 0; e < n_experts; ++e) {
        first[e + 1] = first[e] + counts[e];
        if (counts[e]) active.push_back(e);
      }
      const uint32_t n_pairs = first[n_experts], n_active = static_cast<uint32_t>(active.size());
      active.resize(n_experts, 0xFFFF);
      Pairs pairs{};
      pairs.first = memory.copy(first.data(), first.size());
      pairs.active = memory.copy(active.data(), active.size());
      pairs.n_active_experts = memory.copy(&n_active, 1);
      const Packed packed(random, f, n_experts * n, k);
      const EmulatedMatrix matrix(memory, f, n_experts * n, k, packed.panels, packed.scales, 4);
      const Rows rows(memory, random, f, n_pairs, k);
      const float* bias = memory.copy(random_floats(random, n_experts * n).data(), n_experts * n);
      std::vector<float> want(n_pairs * n);
      for (uint32_t e = 0; e < n_experts; ++e)
        oracle(matrix.host, rows, first[e], counts[e], e * n / 16, n / 16, bias, false, want.data() + size_t{first[e]} * n, n);
      float* got = memory.take<float>(want.size());
      cuda_gemm_experts(queue.worker(), matrix.matrix(), n_experts, pairs, rows.x, rows.stride, &rows.q, bias, got, n);
      REQUIRE(queue.q.failed == 0);
      check_same(f, want.data(), got, want.size(), k);
    }
}
