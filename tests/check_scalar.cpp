// scalar.cpp, which all tiers are held against, held against 64-bit integers, doubles and the packer.
#include <vector>

#include "check_kernels.h"
#include "kernels_cpu/pack.h"

namespace check {
namespace {

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
            const double ws = row.scale_bytes == 2 ? f16_to_f32(static_cast<const uint16_t*>(c.a.w_scale)[at])
                                                   : static_cast<const float*>(c.a.w_scale)[at];
            wv = static_cast<const int8_t*>(c.a.w)[j / 16 * c.a.w_stride + t / 4 * 64 + j % 16 * 4 + t % 4] * ws;
            xv = static_cast<double>(reinterpret_cast<const int8_t*>(x)[t]) *
                 static_cast<double>(c.a.x_scale[r * size_t{c.a.x_groups} + t / row.x_group]);
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
        entry.expect(std::fabs(got - want) <= bound || size > 1e37, "m %u panels %u k %u row %u output %zu: %.9g, not %.9g", c.m,
                     c.n_panels, c.k, r, j, got, want);
      }
    }
  }
}

// ---- scalar.cpp against doubles -------------------------------------------------------------------------------------------------------

double ulp_of(double v) {
  int e = 0;
  std::frexp(v, &e);
  return std::ldexp(1.0, (e < -125 ? -125 : e) - 24);
}

void reference_exp(const KernelTable& s) {
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
          const double want = std::exp(static_cast<double>(in[j] > 88.37f ? 88.37f : in[j])),
                       err = std::fabs(static_cast<double>(x[j]) - want) / ulp_of(want);
          worst = err > worst ? err : worst;
          entry.expect(err <= 1.0, "exp(%.9g) is %.9g: %.3f ulp off", static_cast<double>(in[j]), static_cast<double>(x[j]), err);
        }
      }
    }
  }
  float special[4] = {INFINITY, -INFINITY, NAN, 0.0f};
  s.exp_row(special, 4);
  entry.expect(special[0] > 2.3e38f && special[0] < INFINITY && special[1] == 0.0f && special[2] != special[2] && special[3] == 1.0f,
               "special values");
  std::printf("scalar  exp: largest error %.3f ulp\n", worst);
}

void reference_rows(const KernelTable& s, Rng& rng) {
  Buffers& b = buffers();
  Entry norm("scalar", "rmsnorm_row", "against doubles"), silu("scalar", "silu_mul_row", "against doubles"),
      rope("scalar", "rope_row", "against doubles"), quant("scalar", "quantize_row", "against doubles"),
      rest("scalar", "add, merge, scale", "against doubles");
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
      silu.expect(near(y[j], want, std::fabs(want)), "silu(%.9g): %.9g, not %.9g", static_cast<double>(x[j]), static_cast<double>(y[j]),
                  want);
    }
    std::memcpy(y, x, 8 * n);
    float* turn = b.d.take<float>(n);
    for (uint32_t j = 0; j < n; ++j) turn[j] = rng.unit();
    s.rope_row(y, w, turn, n, i % 2);
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t ia = i % 2 ? 2 * j : j, ib = i % 2 ? 2 * j + 1 : j + n;
      const double a = static_cast<double>(x[ia]), c = static_cast<double>(w[j]), d = static_cast<double>(x[ib]),
                   t = static_cast<double>(turn[j]);
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
        quant.expect(std::fabs(back - want) <= 0.5001 * static_cast<double>(scale[g]) && q[j] != -128, "k %u group %u [%u]: %.9g, not %.9g",
                     n, group, j, back, want);
      }
      quant.expect(sum[g] == -128 * total && (!zeroed || scale[g] == 0.0f), "k %u group %u sum", n, g);
    }
  }
}

void reference_attention(const KernelTable& s, Rng& rng) {
  Buffers& b = buffers();
  Entry soft("scalar", "softmax_block", "against doubles"), plane("scalar", "planes", "against doubles"),
      pv("scalar", "attn_pv", "against 64-bit integers");
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
    soft.expect(static_cast<double>(m) == max && std::fabs(static_cast<double>(l) / sum - 1) < 1e-5, "n %u: m %.9g l %.9g", n,
                static_cast<double>(m), static_cast<double>(l));

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
          dot +=
              int64_t{c.hi[r * 256 + t] * 128 + c.lo[r * 256 + t]} * c.pages[t / 16][d / 16 * 256 + t % 16 / 4 * 64 + d % 16 * 4 + t % 4];
        const float want = static_cast<float>(dot) * c.scale[r], got = acc[r * c.d_panels * size_t{16} + d];
        pv.expect(want == got, "rows %u pages %u row %u channel %u: %.9g, not %.9g", c.rows, c.n_pages, r, d, static_cast<double>(got),
                  static_cast<double>(want));
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
        for (uint32_t t = j / group * group; r < rows && t < k && t < (j / group + 1) * group; ++t)
          amax = std::fmax(amax, static_cast<double>(std::fabs(x[r * stride + t])));
        const double want = r < rows ? static_cast<double>(x[r * stride + j]) : 0.0;
        const double bound = info.integer      ? amax / 253 + 1e-7
                             : f == LINNET_F32 ? 0
                                               : std::fabs(want) * (f == LINNET_F16 ? 0x1p-11 : 0x1p-8) + 1e-7;
        entry.expect(std::fabs(static_cast<double>(y[j]) - want) <= bound, "%s k %u row %u [%u]: %.9g, not %.9g", format_name(f), k, r, j,
                     static_cast<double>(y[j]), want);
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

}  // namespace

void check_gather(const char* tier, const KernelTable& t, Rng& rng) {
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
  // Every f16 there is: infinities, NaN and subnormals too.
  uint16_t* halves = b.w.take<uint16_t>(65536);
  for (uint32_t i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  float *y1 = b.a.take<float>(4096), *y2 = b.b.take<float>(4096);
  for (uint32_t row = 0; row < 16; ++row) {
    unpack_row(halves, nullptr, LINNET_F16, 16, 4096, row, y1);
    t.gather_row(LINNET_F16, halves, nullptr, 16, 4096, row, y2);
    entry.same(y1, y2, 4096, "all f16, row %u", row);
  }
}

void check_scalar(const KernelTable& scalar, Rng& rng) {
  for (uint32_t i = 0; i < scalar.n_gemm; ++i) check_gemm_reference(scalar.gemm[i], rng);
  reference_exp(scalar);
  reference_rows(scalar, rng);
  reference_attention(scalar, rng);
  reference_pack(rng);
  check_gather("scalar", scalar, rng);
}

}  // namespace check
