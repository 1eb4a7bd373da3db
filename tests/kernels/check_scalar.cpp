// scalar.cpp, which all tiers are held against, held against 64-bit integers, doubles and the packer.
#include <array>
#include <cmath>
#include <vector>

#include "check_kernels.h"
#include "kernels_cpu/pack.h"
#include "runtime/convert/ggml_types.h"
#include "runtime/gguf.h"

namespace check {

static constexpr uint32_t kOrder[4] = {0, 2, 1, 3};  // how rows of bf16 lie

void check_gemm_reference(const char* tier, const GemmKernel& kernel, Rng& rng) {
  char name[32];
  std::snprintf(name, sizeof name, "gemm %s", format_name(kernel.w));
  Entry entry(tier, name, "against doubles");
  const FormatRow& row = format_row(kernel.w);
  Buffers& b = buffers();
  const uint32_t cases = row.stored == Stored::kBlocks ? g_cases / 3 + 1 : g_cases;
  for (uint32_t i = 0; i < cases && entry.ok(); ++i) {
    GemmCase c;
    make_gemm_case(kernel.w, rng, &c);
    float* y = b.a.take<float>(y_floats(c.a));
    start_y(c.a, y);
    c.a.y = y;
    kernel.run(&c.a);
    const size_t n = size_t{c.n_panels} * 16;
    std::vector<float> w(c.k);
    for (size_t j = 0; j < n; j += 1 + rng.below(7)) {
      unpack_row(c.a.w, c.a.w_scale, kernel.w, static_cast<uint32_t>(n), c.k, static_cast<uint32_t>(j), w.data());
      double largest = 0;  // what makes a small weight may be as large as others are: a code's product and what is taken off it
      if (row.stored == Stored::kBlocks)
        for (const float v : w) largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
      for (uint32_t r = 0; r < c.m; ++r) {
        double sum = 0, size = 0;
        for (uint32_t t = 0; t < c.k; ++t) {
          const char* x = static_cast<const char*>(c.a.x) + r * c.a.x_stride;
          double xv, wv = static_cast<double>(w[t]);
          if (row.x == LINNET_I8) {
            if (row.stored != Stored::kBlocks) {  // unpack_row rounds code * scale; take the code itself
              const uint8_t* scales = scales_at(c.a, kernel.w, j, t);
              const double ws = static_cast<double>(row.scale.bytes == 4 ? reinterpret_cast<const float*>(scales)[j % 16]
                                                                         : f16_to_f32(reinterpret_cast<const uint16_t*>(scales)[j % 16]));
              wv = code_at(c.a, kernel.w, j, t) * ws;
            }
            xv = static_cast<double>(reinterpret_cast<const int8_t*>(x)[t]) *
                 static_cast<double>(c.a.x_scale[r * size_t{c.a.x_groups} + t / c.a.x_group]);
          } else if (row.x == LINNET_BF16) {
            xv = static_cast<double>(bf16_to_f32(reinterpret_cast<const uint16_t*>(x)[t / 4 * 4 + kOrder[t % 4]]));
          } else {
            xv = static_cast<double>(reinterpret_cast<const float*>(x)[t]);
          }
          sum += xv * wv;
          size += std::fabs(xv * wv) + std::fabs(xv) * largest;
        }
        const double start = static_cast<double>(static_cast<float>((r * c.a.y_stride + j) % 97) - 48.0f);
        const double bias = c.a.bias ? static_cast<double>(c.a.bias[j]) : 0.0;
        const double want = sum + bias + (c.accumulate ? start : 0.0);
        const double bound = (size * (c.k + 4) + std::fabs(bias) + 64.0) * 0x1p-23 + 1e-35 * c.k;
        const double got = static_cast<double>(y[r * c.a.y_stride + j]);
        entry.expect(std::isnan(want) ? std::isnan(got) : std::fabs(got - want) <= bound || std::isinf(size) || size > 1e37,
                     "m %u panels %u k %u row %u output %zu: %.9g, not %.9g", c.m, c.n_panels, c.k, r, j, got, want);
      }
    }
  }
}

namespace {

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
  {
    Entry entry("scalar", "bf16_row", "against f32_to_bf16");
    for (uint32_t i = 0; i < g_cases; ++i) {
      float x[35];
      uint16_t y[64];
      fill_floats(x, 35, rng);
      if (i % 2) spoil(x, 35, rng);
      s.bf16_row(x, 35, y);
      for (uint32_t t = 0; t < 64; ++t) entry.expect(y[t / 4 * 4 + kOrder[t % 4]] == (t < 35 ? f32_to_bf16(x[t]) : 0), "[%u]", t);
    }
  }
  Buffers& b = buffers();
  Entry norm("scalar", "rmsnorm_row", "against doubles"), silu("scalar", "silu_mul_row", "against doubles"),
      rope("scalar", "rope_row", "against doubles"), quant("scalar", "quantize_row", "against doubles"),
      rest("scalar", "add, merge, scale", "against doubles"), taps("scalar", "taps_row", "against doubles"),
      gelu("scalar", "gelu_mul_row", "against doubles"), gelu_erf("scalar", "gelu_erf_mul_row", "against doubles"),
      relu("scalar", "relu_mul_row", "by its definition"), xielu("scalar", "xielu_row", "against doubles"),
      sigmoid("scalar", "sigmoid_mul_row", "against doubles"), layer("scalar", "layernorm_row", "against doubles"),
      find("scalar", "find_above", "by its definition");
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
    for (const uint32_t count : {1u, 2u}) {
      const float* const rows[] = {w, x};
      s.taps_row(rows, x, n, count, n, y);
      for (uint32_t j = 0; j < n; ++j) {
        double want = 0, size = 0;
        for (uint32_t tap = 0; tap < count; ++tap) {
          const double product = static_cast<double>(rows[tap][j]) * static_cast<double>(x[tap * n + j]);
          want += product;
          size += std::fabs(product);
        }
        taps.expect(near(y[j], want, size), "taps %u n %u [%u]: %.9g, not %.9g", count, n, j, static_cast<double>(y[j]), want);
      }
    }
    s.sigmoid_mul_row(x, w, n, y);
    for (uint32_t j = 0; j < n; ++j) {
      const double want = static_cast<double>(w[j]) / (1 + std::exp(-static_cast<double>(x[j])));
      sigmoid.expect(near(y[j], want, std::fabs(want)), "sigmoid(%.9g): %.9g, not %.9g", static_cast<double>(x[j]),
                     static_cast<double>(y[j]), want);
    }
    s.gelu_mul_row(x, w, n, y);
    for (uint32_t j = 0; j < n; ++j) {
      const double v = static_cast<double>(x[j]),
                   want = 0.5 * v * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (v + 0.044715 * v * v * v))) *
                          static_cast<double>(w[j]);
      gelu.expect(std::fabs(static_cast<double>(y[j]) - want) <= std::fabs(want) * 3e-5 + 1e-7, "gelu(%.9g): %.9g, not %.9g", v,
                  static_cast<double>(y[j]), want);
    }
    s.gelu_erf_mul_row(x, nullptr, n, y);
    for (uint32_t j = 0; j < n; ++j) {
      const double v = static_cast<double>(x[j]), want = 0.5 * v * std::erfc(-v * 0.70710678118654752440);
      gelu_erf.expect(std::fabs(static_cast<double>(y[j]) - want) <= std::fabs(v) * 2.5e-7, "gelu(%.9g): %.9g, not %.9g", v,
                      static_cast<double>(y[j]), want);
    }
    s.relu_mul_row(x, w, n, y);
    for (uint32_t j = 0; j < n; ++j)
      relu.expect(y[j] == (x[j] > 0 ? x[j] : 0.0f) * w[j], "relu(%.9g): %.9g", static_cast<double>(x[j]), static_cast<double>(y[j]));
    const float by[] = {0.5f + std::fabs(rng.unit()), 0.5f + std::fabs(rng.unit()), std::fabs(rng.unit()), i % 3 ? -1e-6f : -0.25f};
    s.xielu_row(x, by, n, y);
    for (uint32_t j = 0; j < n; ++j) {
      const double v = static_cast<double>(x[j]), line = static_cast<double>(by[2]) * v,
                   want = v > 0 ? static_cast<double>(by[0]) * v * v + line
                                : static_cast<double>(by[1]) * (std::expm1(std::fmin(v, static_cast<double>(by[3]))) - v) + line;
      xielu.expect(std::fabs(static_cast<double>(y[j]) - want) <= std::fabs(v) * (1 + std::fabs(v)) * 5e-7 + (i % 3 ? 1e-12 : 1e-7),
                   "xielu(%.9g): %.9g, not %.9g", v, static_cast<double>(y[j]), want);
    }
    float* bias = b.d.take<float>(n);
    for (uint32_t j = 0; j < n; ++j) bias[j] = rng.unit();
    s.layernorm_row(x, w, i % 3 ? bias : nullptr, n, 1e-5f, y);
    double mean = 0, var = 0;
    for (uint32_t j = 0; j < n; ++j) mean += static_cast<double>(x[j]) / n;
    for (uint32_t j = 0; j < n; ++j) var += (static_cast<double>(x[j]) - mean) * (static_cast<double>(x[j]) - mean) / n;
    for (uint32_t j = 0; j < n; ++j) {
      const double want = (static_cast<double>(x[j]) - mean) / std::sqrt(var + static_cast<double>(1e-5f)) * static_cast<double>(w[j]) +
                          (i % 3 ? static_cast<double>(bias[j]) : 0.0);
      layer.expect(std::fabs(static_cast<double>(y[j]) - want) <= 1e-5 + 4e-6 / std::sqrt(var + 1e-5), "n %u [%u]: %.9g, not %.9g", n, j,
                   static_cast<double>(y[j]), want);
    }
    const uint32_t from = rng.below(n + 1), found = s.find_above(x, n, from, w[0]);
    bool right = found == n || (found >= from && x[found] > w[0]);
    for (uint32_t j = from; j < found; ++j) right = right && !(x[j] > w[0]);
    find.expect(right && found >= from, "n %u from %u: %u", n, from, found);
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
    double* sums = b.d.take<double>(n);
    std::memset(sums, 0, n * sizeof *sums);
    s.sum_row(sums, x, n);
    s.sum_row(sums, w, n);
    std::memcpy(y, x, 4 * n);
    s.unit_row(y, n);
    double square = 0;
    for (uint32_t j = 0; j < n; ++j) square += static_cast<double>(x[j]) * static_cast<double>(x[j]);
    for (uint32_t j = 0; j < n; ++j) {
      rest.expect(sums[j] == static_cast<double>(x[j]) + static_cast<double>(w[j]), "sum n %u [%u]", n, j);
      rest.expect(near(y[j], static_cast<double>(x[j]) / std::sqrt(square), 1), "unit n %u [%u]", n, j);
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
      pv("scalar", "attn_pv", "against 64-bit integers"), pv_float("scalar", "attn_pv_float", "against doubles");
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    const uint32_t n = rng.pick(1, 256), n_pad = (n + 15) / 16 * 16, from = i % 2 ? rng.pick(0, n - 1) : 0;
    float *p = b.a.take<float>(n_pad), *in = b.b.take<float>(n_pad), m, l;
    const double cap = i % 4 < 2 ? 0 : 5, slope = i % 3 ? 0 : 0.375, origin = i % 5 ? n : 2 * n;
    for (uint32_t j = 0; j < n_pad; ++j) in[j] = p[j] = rng.unit() * 30;
    s.softmax_block(p, from, n, n_pad, 0.25f, static_cast<float>(slope), static_cast<float>(origin), static_cast<float>(cap), &m, &l,
                    nullptr);
    double max = -1e30, sum = 0;
    const auto score = [&](uint32_t j) {
      const double x = static_cast<double>(in[j] * 0.25f) + slope * (j - origin);
      return cap > 0 ? cap * std::tanh(x / cap) : x;
    };
    for (uint32_t j = from; j < n; ++j) max = std::fmax(max, score(j));
    for (uint32_t j = from; j < n; ++j) {
      const double e = std::exp(score(j) - max);
      sum += e;
      // Scores are floats: with slopes some are near 80, and half a unit in their last place is as much as the exponential's own error.
      soft.expect(std::fabs(static_cast<double>(p[j]) - e) < 4e-6 + (std::fabs(score(j)) + std::fabs(max)) * 0x1p-24,
                  "%u to %u [%u]: %.9g, not %.9g", from, n, j, static_cast<double>(p[j]), e);
    }
    for (uint32_t j = 0; j < n_pad; ++j) soft.expect((j >= from && j < n) || p[j] == 0.0f, "%u to %u pad [%u]", from, n, j);
    soft.expect(std::fabs(static_cast<double>(m) - max) < 4e-6 && std::fabs(static_cast<double>(l) / sum - 1) < 1e-5,
                "%u to %u: m %.9g l %.9g", from, n, static_cast<double>(m), static_cast<double>(l));

    float* v = b.d.take<float>(n_pad);
    for (uint32_t j = 0; j < n_pad; ++j) v[j] = std::fabs(rng.unit()) * 0.1f;
    uint8_t *hi = b.s.take<uint8_t>(n_pad), *lo = b.xs.take<uint8_t>(n_pad);
    const double unit = static_cast<double>(s.planes(p, v, n_pad, hi, lo, nullptr));
    for (uint32_t j = 0; j < n_pad; ++j) {
      const double want = static_cast<double>(p[j]) * static_cast<double>(v[j]), back = (hi[j] * 128 + lo[j]) * unit;
      plane.expect(hi[j] < 128 && lo[j] < 128 && std::fabs(want - back) <= 0.502 * unit, "n %u [%u]: %.9g, not %.9g", n_pad, j, back, want);
    }

    PvCase c;
    make_pv_case(rng, &c);
    float* acc = b.c.take<float>(c.rows * c.d_panels * size_t{16});
    s.attn_pv(c.hi, c.lo, c.rows, c.pages, c.n_pages, c.d_panels, c.scale, acc, c.d_panels * size_t{16}, nullptr);
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

    const uint32_t rows = rng.pick(1, 3), pages = rng.pick(1, 4), f = rng.pick(0, 2);
    const linnet_format format = std::array{LINNET_F32, LINNET_F16, LINNET_BF16}[f];
    uint8_t* store = b.w.take<uint8_t>(pages * size_t{1024});
    float *e = b.a.take<float>(rows * size_t{256}), *out = b.c.take<float>(rows * size_t{16});
    const void* at[4];
    std::vector<double> value(pages * size_t{256});  // (token, channel)
    for (uint32_t j = 0; j < rows * 256; ++j) e[j] = std::fabs(rng.unit());
    for (uint32_t t = 0; t < pages * 16; ++t)
      for (uint32_t d = 0; d < 16; ++d) {
        const float x0 = rng.unit();
        const uint32_t in_page = t % 16;
        uint8_t* page = store + t / 16 * size_t{1024};
        at[t / 16] = page;
        float back = x0;
        if (format == LINNET_F32) {
          std::memcpy(page + (in_page * 16 + d) * 4, &x0, 4);
        } else {
          const uint16_t h = format == LINNET_F16 ? f32_to_f16(x0) : f32_to_bf16(x0);
          back = format == LINNET_F16 ? f16_to_f32(h) : bf16_to_f32(h);
          std::memcpy(page + (in_page * 16 + d) * 2, &h, 2);
        }
        value[t * 16 + d] = static_cast<double>(back);
      }
    s.attn_pv_float(format, e, rows, at, pages, 1, out, 16);
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t d = 0; d < 16; ++d) {
        double want = 0;
        for (uint32_t t = 0; t < pages * 16; ++t) want += static_cast<double>(e[r * 256 + t]) * value[t * 16 + d];
        pv_float.expect(std::fabs(want - static_cast<double>(out[r * 16 + d])) < 1e-5, "%s row %u channel %u: %.9g, not %.9g",
                        linnet_format_name(format), r, d, static_cast<double>(out[r * 16 + d]), want);
      }
  }
}

// pack_panel and back: the error is half a step, every code survives pack_panel_exact, and what is not finite is refused.
void reference_pack(Rng& rng) {
  Entry entry("scalar", "pack", "and back");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const linnet_format f = static_cast<linnet_format>(LINNET_F32 + i % kMaxFormat);
    if (!format_known(f) || !packs_floats(f)) continue;
    const FormatRow& info = format_row(f);
    const uint32_t k = random_rows_size(f, rng), rows = rng.pick(1, 16), stride = k + rng.below(3);
    float *x = b.x.take<float>((rows - 1) * size_t{stride} + k), *y = b.a.take<float>(k);
    uint8_t *panel = b.w.take<uint8_t>(panel_bytes(f, k)), *scales = b.s.take<uint8_t>(panel_scale_bytes(f, k));
    const bool zeros = rng.below(9) == 0;
    for (size_t j = 0; j < (rows - 1) * size_t{stride} + k; ++j) x[j] = zeros ? 0.0f : rng.unit() * 2;
    entry.expect(pack_panel(f, x, stride, rows, k, panel, scales), "%s refused", format_name(f));
    for (uint32_t r = 0; r < 16; ++r) {
      unpack_row(panel, scales, f, 16, k, r, y);
      const uint32_t group = info.w_group ? info.w_group : k;
      for (uint32_t j = 0; j < k; ++j) {
        double amax = 0;
        for (uint32_t t = j / group * group; r < rows && t < k && t < (j / group + 1) * group; ++t)
          amax = std::fmax(amax, static_cast<double>(std::fabs(x[r * stride + t])));
        const double want = r < rows ? static_cast<double>(x[r * stride + j]) : 0.0;
        const double bound =
            info.stored == Stored::kBlocks ? amax * (info.bits <= 2   ? 0.8
                                                     : info.bits == 3 ? 0.4
                                                     : info.bits == 4 ? 0.25
                                                     : info.bits == 5 ? 0.1
                                                                      : 0.045)  // half a step and more, for narrower ranges
            : info.bits == 4        ? amax * (info.scale.zero ? 0.42 : 0.225)   // where a scale of amax / 9 cuts a value off at code 7
            : (info.x == LINNET_I8) ? amax / 253 + 1e-7
            : info.stored == Stored::kE4m3 ? std::fmax(std::fabs(want) * 0x1p-4, amax * 0x1p-18) * 1.0001
            : f == LINNET_F8E5M2           ? std::fmax(std::fabs(want) * 0x1p-3, amax * 0x1p-32) * 1.0001
            : f == LINNET_F32              ? 0
                                           : std::fabs(want) * (f == LINNET_F16 ? 0x1p-11 : 0x1p-8) + 1e-7;
        entry.expect(std::fabs(static_cast<double>(y[j]) - want) <= bound, "%s k %u row %u [%u]: %.9g, not %.9g", format_name(f), k, r, j,
                     static_cast<double>(y[j]), want);
      }
    }
    for (uint32_t r = 0; info.scale.zero && r < rows; ++r) {  // no group is further off than the plain span in 15 steps makes it
      unpack_row(panel, scales, f, 16, k, r, y);
      for (uint32_t from = 0; from < k; from += info.w_group) {
        const uint32_t end = k - from < info.w_group ? k : from + info.w_group;
        double lo = 0, hi = 0, error = 0;
        for (uint32_t j = from; j < end; ++j) {
          const double v = static_cast<double>(x[r * stride + j]);
          lo = std::fmin(lo, v), hi = std::fmax(hi, v), error += (static_cast<double>(y[j]) - v) * (static_cast<double>(y[j]) - v);
        }
        entry.expect(error <= (end - from) * std::pow(0.52 * (hi - lo) / 15, 2) + 1e-12, "%s k %u row %u group at %u", format_name(f), k, r,
                     from);
      }
    }
    spoil(x + (rows - 1) * size_t{stride}, k, rng);
    entry.expect(!pack_panel(f, x, stride, rows, k, panel, scales), "%s takes what is not finite", format_name(f));
  }
  // Every code of both FP8 formats, there and back, and its neighbours' middle, which goes to the even one.
  for (uint32_t c = 0; c < 256; ++c) {
    const uint8_t code = static_cast<uint8_t>(c);
    for (const bool e4m3 : {true, false}) {
      const auto value = [&](uint32_t u) { return e4m3 ? f8e4m3_to_f32(static_cast<uint8_t>(u)) : f8e5m2_to_f32(static_cast<uint8_t>(u)); };
      const auto back = [&](float v) { return e4m3 ? f32_to_f8e4m3(v) : f32_to_f8e5m2(v); };
      const uint32_t magnitude = c & 0x7F, mantissa = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, e = magnitude >> mantissa,
                     m = magnitude & ((1u << mantissa) - 1);
      const double want = std::ldexp(m + (e ? 1u << mantissa : 0u), static_cast<int>(e ? e : 1) - static_cast<int>(bias + mantissa));
      const uint32_t largest = e4m3 ? 0x7E : 0x7B;
      if (magnitude <= largest) {
        entry.expect(static_cast<double>(value(c)) == (c & 0x80 ? -want : want) && back(value(c)) == code, "FP8 code %u e4m3 %d", c, e4m3);
        if (magnitude < largest) {
          const float middle = (value(c) + value(c + 1)) / 2;
          const uint8_t even = static_cast<uint8_t>(c + (c & 1)), lower = back(std::nextafterf(middle, value(c))),
                        upper = back(std::nextafterf(middle, value(c + 1)));
          entry.expect(back(middle) == even && lower == code && upper == code + 1, "FP8 rounding at code %u e4m3 %d", c, e4m3);
        }
        entry.expect(
            back(c & 0x80 ? -1e30f : 1e30f) == ((c & 0x80) | largest) && back(c & 0x80 ? -INFINITY : INFINITY) == ((c & 0x80) | largest),
            "FP8 saturation");
      } else if (!e4m3 && magnitude == 0x7C) {
        entry.expect(std::isinf(value(c)) && std::signbit(value(c)) == (c >= 0x80), "FP8 infinity");
      } else {
        entry.expect(std::isnan(value(c)) && (back(value(c)) & 0x7F) == 0x7F, "FP8 NaN %u", c);
      }
    }
  }
  int8_t codes[2 * 256];
  uint16_t scales[2 * 8], panel_scales[8 * 16];
  static int8_t panel[256 * 16];
  for (int i = 0; i < 512; ++i) codes[i] = static_cast<int8_t>(i * 7);
  for (int i = 0; i < 16; ++i) scales[i] = f32_to_f16(0.5f + static_cast<float>(i));
  pack_panel_exact(LINNET_I8G32, {codes, scales, nullptr, nullptr, 32}, 2, 256, panel, panel_scales);
  float y[256];
  for (uint32_t r = 0; r < 2; ++r) {
    unpack_row(panel, panel_scales, LINNET_I8G32, 16, 256, r, y);
    for (uint32_t i = 0; i < 256; ++i)
      entry.expect(y[i] == static_cast<float>(codes[r * 256 + i]) * f16_to_f32(scales[r * 8 + i / 32]), "exact codes, row %u [%u]", r, i);
  }
  for (int i = 0; i < 512; ++i) codes[i] = static_cast<int8_t>(i * 7 % 16 - 8);
  pack_panel_exact(LINNET_I4G32, {codes, scales, nullptr, nullptr, 32}, 2, 256, panel, panel_scales);
  for (uint32_t r = 0; r < 2; ++r) {
    unpack_row(panel, panel_scales, LINNET_I4G32, 16, 256, r, y);
    for (uint32_t i = 0; i < 256; ++i)
      entry.expect(y[i] == static_cast<float>(codes[r * 256 + i]) * f16_to_f32(scales[r * 8 + i / 32]), "exact 4-bit codes, row %u [%u]", r,
                   i);
  }
  // Zero points, groups of 128 of which two share a scale: to both formats that hold them.
  uint8_t zeros[2];
  for (uint32_t r = 0; r < 2; ++r) zeros[r] = static_cast<uint8_t>(3 + 13 * r);
  for (uint32_t i = 0; i < 512; ++i) codes[i] = static_cast<int8_t>(static_cast<int>(i * 7 % 16) - zeros[i / 256]);
  static float wide_scales[8 * 16];
  for (const Format f : {LINNET_I4G128Z, LINNET_I4G64Z, LINNET_I4G32Z, LINNET_I8G128}) {
    entry.expect(pack_exact(f, {.bits = 4, .zeros = true, .half = true, .group = 256}, 256), "%s holds zero points", format_name(f));
    pack_panel_exact(f, {codes, scales, nullptr, zeros, 256}, 2, 256, panel, wide_scales);
    for (uint32_t r = 0; r < 2; ++r) {
      unpack_row(panel, wide_scales, f, 16, 256, r, y);
      for (uint32_t i = 0; i < 256; ++i)
        entry.expect(y[i] == static_cast<float>(codes[r * 256 + i]) * f16_to_f32(scales[r]), "%s: codes with zero points, row %u [%u]",
                     format_name(f), r, i);
    }
  }
  // FP8 and bytes with one f32 scale an output.
  static float one[16];
  for (int i = 0; i < 512; ++i) codes[i] = static_cast<int8_t>(i * 7 % 126);
  const float per_output[2] = {0.1f, 3.3e-9f};
  for (const Format f : {LINNET_F8E4M3, LINNET_I8}) {
    const bool fp8 = f == LINNET_F8E4M3;
    entry.expect(pack_exact(f, {.bits = 8, .e4m3 = fp8, .group = 256}, 256), "%s holds a scale per output", format_name(f));
    pack_panel_exact(f, {codes, nullptr, const_cast<float*>(per_output), nullptr, 256}, 2, 256, panel, one);
    for (uint32_t r = 0; r < 2; ++r) {
      unpack_row(panel, one, f, 16, 256, r, y);
      for (uint32_t i = 0; i < 256; ++i) {
        const int8_t code = codes[r * 256 + i];
        entry.expect(y[i] == (fp8 ? f8e4m3_to_f32(static_cast<uint8_t>(code)) : static_cast<float>(code)) * per_output[r],
                     "%s as it is, row %u [%u]", format_name(f), r, i);
      }
    }
  }
  const auto fits = [](Format f, uint8_t bits, bool e4m3, bool has_zeros, bool half, uint32_t group) {
    return pack_exact(f, {.bits = bits, .e4m3 = e4m3, .zeros = has_zeros, .half = half, .group = group}, 256);
  };
  entry.expect(!fits(LINNET_I4G128, 4, false, true, true, 128) && !fits(LINNET_I4G64, 4, false, false, true, 96) &&
                   !fits(LINNET_I8, 4, false, false, true, 128) && !fits(LINNET_I4G32, 8, false, false, true, 32) &&
                   !fits(LINNET_I8G32, 8, false, false, false, 32) && !fits(LINNET_I8, 8, true, false, false, 256) &&
                   !fits(LINNET_F8E4M3, 8, false, false, false, 256) && !fits(LINNET_F8E4M3, 8, true, false, false, 128) &&
                   !fits(LINNET_F32, 8, false, false, true, 128),
               "what does not fit is not exact");
}

// Blocks as they are: each weight is what the reader of GGUF files makes of the block, and back they are the same bytes.
void reference_blocks(Rng& rng) {
  Entry entry("scalar", "blocks", "as GGUF files have them");
  Buffers& b = buffers();
  uint32_t kinds = 0;
  for (uint32_t type = 0; type < 64; ++type) {
    const FormatRow& row = format_row(type == kGgmlQ8_0 ? LINNET_I8G32 : type == kGgmlQ4_0 ? LINNET_I4G32 : convert::format_of_ggml(type));
    if (row.format == LINNET_FORMAT_DEFAULT) continue;
    kinds += row.stored == Stored::kBlocks;
    const GgmlType block = ggml_type(type);
    entry.expect(block.values == row.w_group && block.bytes == gguf_block_bytes(row.format), "%s: %u bytes", row.name, block.bytes);
    for (uint32_t i = 0; i < g_cases && entry.ok(); ++i) {
      const uint32_t k = row.w_group * rng.pick(1, 5), rows = rng.pick(1, 16);
      const size_t bytes = k / row.w_group * block.bytes, stride = bytes + rng.below(2) * block.bytes;
      uint8_t *blocks = b.x.take<uint8_t>(rows * stride, i % 2), *panel = b.w.take<uint8_t>(panel_bytes(row.format, k)),
              *scales = b.s.take<uint8_t>(panel_scale_bytes(row.format, k));
      float *want = b.a.take<float>(k), *got = b.b.take<float>(k);
      std::vector<uint8_t> again(bytes);
      for (size_t at = 0; at < rows * stride; ++at) blocks[at] = static_cast<uint8_t>(rng.next());
      for (size_t at = 0; at < rows * stride; at += block.bytes) put_block_scales(row.format, blocks + at, rng);
      entry.expect(gguf_blocks_finite(row.format, blocks, rows * stride / block.bytes), "%s: not finite", row.name);
      pack_gguf_blocks(row.format, blocks, stride, rows, k, panel, scales);
      for (uint32_t r = 0; r < 16; ++r) {
        unpack_row(panel, scales, row.format, 16, k, r, got);
        if (r < rows) {
          convert::ggml_values(type, blocks + r * stride, k, want);
          entry.same(want, got, k, "%s k %u row %u of %u", row.name, k, r, rows);
        }
        for (uint32_t t = 0; t < k; ++t)  // outputs that are not there: zeros of either sign
          entry.expect(r < rows ? std::isfinite(got[t]) : got[t] == 0, "%s k %u row %u of %u: %g", row.name, k, r, rows,
                       static_cast<double>(got[t]));
        if (r >= rows) continue;
        unpack_gguf_blocks(panel, scales, row.format, k, r, again.data());
        entry.expect(std::memcmp(again.data(), blocks + r * stride, bytes) == 0, "%s k %u row %u of %u: not back", row.name, k, r, rows);
      }
    }
  }
  for (const FormatRow& row : kFormats) kinds -= row.stored == Stored::kBlocks && !zero_points(row.format) && row.format != LINNET_TQ2_F32;
  entry.expect(kinds == 0, "a format has no type of its name");
}

// Scales of NVFP4 times and by a factor of the whole output, to the last bit.
void reference_outer(Rng& rng) {
  Entry entry("scalar", "outer factors", "of nvfp4");
  constexpr uint32_t k = 192;
  constexpr float kE2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint32_t i = 0; i < 16 * g_cases && entry.ok(); ++i) {
    uint8_t blocks[2][k / 64 * 36], back[k / 64 * 36];
    std::vector<uint8_t> panel(panel_bytes(LINNET_NVFP4, k)), scales(panel_scale_bytes(LINNET_NVFP4, k));
    for (auto& row : blocks)
      for (size_t at = 0; at < sizeof row; ++at) row[at] = static_cast<uint8_t>(rng.next() & (at % 36 < 4 ? 127 : 255));
    const float factor[2] = {std::ldexp(1.0f + std::fabs(rng.unit()), static_cast<int>(rng.below(60)) - 40),
                             448.0f * 6 / std::fabs(rng.unit())};
    float outer[2][2], got[k];
    for (uint32_t r = 0; r < 2; ++r)
      entry.expect(outer_factor(factor[r], r == 1, outer[r]), "%.9g refused", static_cast<double>(factor[r]));
    pack_gguf_blocks(LINNET_NVFP4, blocks[0], sizeof blocks[0], 2, k, panel.data(), scales.data(), outer[0]);
    for (uint32_t r = 0; r < 2; ++r) {
      unpack_row(panel.data(), scales.data(), LINNET_NVFP4, 2, k, r, got);
      for (uint32_t t = 0; t < k; ++t) {
        const uint8_t *block = blocks[r] + t / 64 * 36, at = block[t % 64 / 16], byte = block[4 + t % 64 / 16 * 8 + t % 8],
                      nibble = byte >> (t % 16 / 8 * 4) & 15;
        const float s = at == 127 ? 0 : f8e4m3_to_f32(at), of = r ? s / factor[r] : s * factor[r],
                    want = kE2m1[nibble & 7] * of * (nibble & 8 ? -1.0f : 1.0f);
        entry.expect(got[t] == want, "factor %.9g %s: %.9g, not %.9g", static_cast<double>(factor[r]), r ? "divides" : "multiplies",
                     static_cast<double>(got[t]), static_cast<double>(want));
      }
      unpack_gguf_blocks(panel.data(), scales.data(), LINNET_NVFP4, k, r, back);
      float two[2];
      unpack_outer(scales.data(), LINNET_NVFP4, k, r, two);
      entry.expect(std::memcmp(back, blocks[r], sizeof back) == 0 && std::memcmp(two, outer[r], sizeof two) == 0, "not back");
    }
  }
  float two[2];
  for (const float bad : {0.0f, -1.0f, __builtin_inff(), __builtin_nanf(""), 0x1p-81f, 0x1p81f})
    entry.expect(!outer_factor(bad, false, two) && !outer_factor(bad, true, two), "%g taken", static_cast<double>(bad));
}

// Codes -1 to 2 times an output's f32, of 128 inputs 32 in the lowest bits of bytes, and so on.
void reference_ternary(Rng& rng) {
  Entry entry("scalar", "tq2_f32", "by its definition");
  for (uint32_t c = 0; c < g_cases; ++c) {
    const uint32_t k = 256 * rng.pick(1, 5), n = rng.pick(1, 16), bytes = k / 4;
    std::vector<uint8_t> blocks(n * bytes), back(bytes), panel(panel_bytes(LINNET_TQ2_F32, k)),
        scales(panel_scale_bytes(LINNET_TQ2_F32, k));
    std::vector<float> outer(n * 2), row(k);
    for (uint8_t& v : blocks) v = static_cast<uint8_t>(rng.next());
    for (uint32_t r = 0; r < n; ++r) outer[r * 2] = rng.unit();
    pack_gguf_blocks(LINNET_TQ2_F32, blocks.data(), bytes, n, k, panel.data(), scales.data(), outer.data());
    for (uint32_t r = 0; r < kPanel; ++r) {
      unpack_row(panel.data(), scales.data(), LINNET_TQ2_F32, kPanel, k, r, row.data());
      for (uint32_t i = 0; i < k; ++i) {
        const int code = r < n ? (blocks[r * bytes + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3) - 1 : 0;
        const float want = static_cast<float>(code) * (r < n ? outer[r * 2] : 0.0f);
        entry.expect(row[i] == want, "k %u output %u input %u: %.9g, not %.9g", k, r, i, static_cast<double>(row[i]),
                     static_cast<double>(want));
      }
      if (r >= n) continue;
      float two[2];
      unpack_gguf_blocks(panel.data(), scales.data(), LINNET_TQ2_F32, k, r, back.data());
      unpack_outer(scales.data(), LINNET_TQ2_F32, k, r, two);
      entry.expect(std::memcmp(back.data(), &blocks[r * bytes], bytes) == 0 && two[0] == outer[r * 2] && two[1] == 0, "not back");
    }
  }
}

// Zero points of 16 bits: weights are what HQQ and torchao make of them, and back they are the same bytes.
void reference_zero_points(Rng& rng) {
  Entry entry("scalar", "zero points", "of 16 bits");
  for (const FormatRow& row : kFormats) {
    if (!zero_points(row.format)) continue;
    const uint32_t block = row.w_group, k = block * 3, bytes = gguf_block_bytes(row.format);
    std::vector<uint8_t> blocks(16 * 3 * bytes), panel(panel_bytes(row.format, k)), scales(panel_scale_bytes(row.format, k)),
        again(3 * bytes);
    std::vector<float> y(k);
    for (uint8_t& v : blocks) v = static_cast<uint8_t>(rng.next());
    for (size_t at = 0; at < blocks.size(); at += bytes) put_block_scales(row.format, blocks.data() + at, rng);
    entry.expect(gguf_blocks_finite(row.format, blocks.data(), 48), "%s: not finite", row.name);
    pack_gguf_blocks(row.format, blocks.data(), 3 * bytes, 16, k, panel.data(), scales.data());
    for (uint32_t r = 0; r < 16; ++r) {
      unpack_row(panel.data(), scales.data(), row.format, 16, k, r, y.data());
      unpack_gguf_blocks(panel.data(), scales.data(), row.format, k, r, again.data());
      entry.expect(!std::memcmp(again.data(), blocks.data() + r * 3 * bytes, again.size()), "%s row %u: not back", row.name, r);
      for (uint32_t i = 0; i < k; ++i) {
        const uint8_t* from = blocks.data() + (r * 3 + i / block) * bytes;
        uint16_t of[2];
        std::memcpy(of, from, 4);
        const bool wide = of[0] & 0x8000, added = row.format >= LINNET_AO4G32;
        const float scale = wide ? bf16_to_f32(of[0] & 0x7FFF) : f16_to_f32(of[0]), zero = wide ? bf16_to_f32(of[1]) : f16_to_f32(of[1]);
        const float code = static_cast<float>(from[4 + i % block / 32 * 16 + i % 16] >> (i % 32 / 16 * 4) & 15);
        const float less = code - (added ? 8.0f : zero), product = less * scale, want = added ? product + zero : product;
        entry.expect(y[i] == want, "%s row %u [%u]: %.9g, not %.9g", row.name, r, i, static_cast<double>(y[i]), static_cast<double>(want));
      }
    }
    const uint16_t bad[2] = {0x7C00, 0x3C00};  // an infinite scale
    std::memcpy(blocks.data(), bad, sizeof bad);
    entry.expect(!gguf_blocks_finite(row.format, blocks.data(), 1), "%s: finite", row.name);
  }
}

// Tables: the bits of f32 weights of the same values, and back they are the same bytes.
void reference_tables(Rng& rng) {
  Entry entry("scalar", "tables", "as f32 weights");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 4 * g_cases; ++i) {
    const linnet_format f = static_cast<linnet_format>(LINNET_F32 + i % kMaxFormat);
    if (!format_known(f) || format_row(f).stored != Stored::kTables) continue;
    GemmCase c;
    make_gemm_case(f, rng, &c);
    const uint32_t n = c.n_panels * 16, k = c.k;
    float *want = b.a.take<float>(y_floats(c.a)), *got = b.b.take<float>(y_floats(c.a));
    start_y(c.a, want);
    start_y(c.a, got);
    std::vector<float> row(k), panels(size_t{n} * k);
    const size_t bytes = k / format_row(f).w_group * gguf_block_bytes(f);
    std::vector<uint8_t> blocks(16 * bytes), panel(panel_bytes(f, k)), scales(panel_scale_bytes(f, k));
    for (uint32_t o = 0; o < n; ++o) {
      unpack_row(c.a.w, c.a.w_scale, f, n, k, o, row.data());
      for (uint32_t t = 0; t < k; ++t) panels[(size_t{o} / 16 * k + t) * 16 + o % 16] = row[t];
      unpack_gguf_blocks(c.a.w, c.a.w_scale, f, k, o, blocks.data() + o % 16 * bytes);
      if (o % 16 != 15) continue;
      entry.expect(gguf_blocks_finite(f, blocks.data(), 16 * (k / 64)), "%s: not finite", format_name(f));
      pack_gguf_blocks(f, blocks.data(), bytes, 16, k, panel.data(), scales.data());
      entry.expect(!std::memcmp(panel.data(), static_cast<const uint8_t*>(c.a.w) + o / 16 * c.a.w_stride, panel.size()) &&
                       !std::memcmp(scales.data(), static_cast<const uint8_t*>(c.a.w_scale) + o / 16 * c.a.w_scale_stride, scales.size()),
                   "%s k %u panel %u: not back", format_name(f), k, o / 16);
    }
    GemmArgs a = c.a;
    a.y = got;
    for (uint32_t g = 0; g < scalar_table.n_gemm; ++g)
      if (scalar_table.gemm[g].w == f) scalar_table.gemm[g].run(&a);
    a.w = panels.data();
    a.w_stride = size_t{k} * 64;
    a.w_scale = nullptr;
    a.y = want;
    for (uint32_t g = 0; g < scalar_table.n_gemm; ++g)
      if (scalar_table.gemm[g].w == LINNET_F32) scalar_table.gemm[g].run(&a);
    entry.same(want, got, y_floats(c.a), "%s m %u panels %u k %u", format_name(f), c.m, c.n_panels, k);
  }
}

}  // namespace

void check_gather(const char* tier, const KernelTable& t, Rng& rng) {
  Entry entry(tier, "gather_row", "against unpack_row");
  Buffers& b = buffers();
  for (uint32_t i = 0; i < 2 * g_cases; ++i) {
    GemmCase c;
    const linnet_format f = static_cast<linnet_format>(LINNET_F32 + i % kMaxFormat);
    if (!format_known(f)) continue;
    make_gemm_case(f, rng, &c);
    const uint32_t n = c.n_panels * 16;
    float *y1 = b.a.take<float>(c.k), *y2 = b.b.take<float>(c.k, rng.below(2));
    for (uint32_t row = 0; row < n; row += 5) {
      unpack_row(c.a.w, c.a.w_scale, f, n, c.k, row, y1);
      t.gather_row(f, c.a.w, c.a.w_scale, n, c.k, row, y2);
      entry.same(y1, y2, c.k, "%s n %u k %u row %u", format_name(f), n, c.k, row);
    }
  }
  // Every f16 and bf16 there is, and every FP8: infinities, NaN and subnormals too.
  uint16_t* halves = b.w.take<uint16_t>(65536);
  for (uint32_t i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  float *y1 = b.a.take<float>(4096), *y2 = b.b.take<float>(4096), scales[16];
  for (float& s : scales) s = 1.0f;
  for (uint32_t row = 0; row < 16; ++row)
    for (const linnet_format f : {LINNET_F16, LINNET_BF16, LINNET_F8E4M3, LINNET_F8E5M2}) {
      unpack_row(halves, scales, f, 16, 4096, row, y1);
      t.gather_row(f, halves, scales, 16, 4096, row, y2);
      entry.same(y1, y2, 4096, "all of %s, row %u", format_name(f), row);
    }
}

void check_scalar(const KernelTable& scalar, Rng& rng) {
  for (uint32_t i = 0; i < scalar.n_gemm; ++i) check_gemm_reference("scalar", scalar.gemm[i], rng);
  reference_exp(scalar);
  reference_rows(scalar, rng);
  reference_attention(scalar, rng);
  reference_pack(rng);
  reference_blocks(rng);
  reference_outer(rng);
  reference_tables(rng);
  reference_ternary(rng);
  reference_zero_points(rng);
  check_gather("scalar", scalar, rng);
}

}  // namespace check
