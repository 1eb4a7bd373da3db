// The arithmetic contract in plain code: what every other tier must give to the bit. Compiled for the baseline of the machine.
// Here fmaf may be a call into libm; it is correctly rounded everywhere, so its bits cannot differ.
#include "kernels.h"

namespace linnet {
namespace {

uint32_t bits(float f) {
  uint32_t u;
  __builtin_memcpy(&u, &f, 4);
  return u;
}
float from_bits(uint32_t u) {
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
}
float from_f16(uint16_t h) {
  const uint32_t a = (h & 0x7FFFu), sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  if (a >= 0x7C00u) return from_bits(sign | 0x7F800000u | a << 13 | (a > 0x7C00u ? 0x00400000u : 0u));
  return from_bits(sign | bits(from_bits(a << 13) * 0x1p112f));  // exact, subnormals too
}
float from_bf16(uint16_t h) { return from_bits(static_cast<uint32_t>(h) << 16); }

// Adding this rounds |v| <= 2^22 to an integer, ties to even, and leaves it in the low bits.
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23

// The integer nearest to v clamped to lo..hi, ties to even; NaN gives lo.
int32_t round_clamped(float v, float lo, float hi) {
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return static_cast<int32_t>(bits(v + kRound) - bits(kRound));
}

// 0 below -87.33, where e^x leaves the normal numbers; e^88.37 above 88.37, so that the result is always finite; NaN for NaN.
// Error below 1 ulp between. e^x = 2^n * e^r with n = rint(x / ln 2) and ln 2 in two parts; the polynomial is minimax.
float exp_one(float x) {
  float t = x < -87.33f ? -87.33f : x;
  t = t > 88.37f ? 88.37f : t;
  const float z = __builtin_fmaf(t, 0x1.715476p+0f, kRound);
  const float n = z - kRound;
  float r = __builtin_fmaf(n, -0x1.62e400p-1f, t);
  r = __builtin_fmaf(n, -0x1.7f7d1cp-20f, r);
  float p = 0x1.6a2242p-10f;
  p = __builtin_fmaf(p, r, 0x1.123b0ep-7f);
  p = __builtin_fmaf(p, r, 0x1.5558f8p-5f);
  p = __builtin_fmaf(p, r, 0x1.555490p-3f);
  p = __builtin_fmaf(p, r, 0x1.fffffcp-2f);
  p = __builtin_fmaf(p, r, 1.0f);
  p = __builtin_fmaf(p, r, 1.0f);
  const float e = p * from_bits((bits(z) << 23) + 0x3F800000u);
  return x < -87.33f ? 0.0f : e;
}

// Rows are summed as 16 partial sums by index % 16, then by this tree.
float tree_sum(float s[16]) {
  for (int step = 8; step; step /= 2)
    for (int i = 0; i < step; ++i) s[i] = s[i] + s[i + step];
  return s[0];
}
float larger(float a, float b) { return a > b ? a : b; }
float tree_max(float s[16]) {
  for (int step = 8; step; step /= 2)
    for (int i = 0; i < step; ++i) s[i] = larger(s[i], s[i + step]);
  return s[0];
}

uint32_t round_up(uint32_t v, uint32_t to) { return (v + to - 1) / to * to; }

// ---- rows -------------------------------------------------------------------------------------------------------------------

uint32_t amax_bits(const float* x, uint32_t n) {
  uint32_t max = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t a = bits(x[i]) & 0x7FFFFFFFu;
    max = a > max ? a : max;
  }
  return max;
}

void codes(const float* x, uint32_t n, float inv, int8_t* q) {
  for (uint32_t i = 0; i < n; ++i) q[i] = static_cast<int8_t>(round_clamped(x[i] * inv, -127.0f, 127.0f));
}

uint32_t quantize_row(const float* x, uint32_t k, uint32_t group, int8_t* q, float* scale, int32_t* sum128) {
  uint32_t finite = 1;
  for (uint32_t g = 0, from = 0; from < k; ++g, from += group) {
    const uint32_t n = k - from < group ? k - from : group;
    uint32_t amax_u = amax_bits(x + from, n);
    const bool ok = amax_u < 0x7F800000u;
    if (!ok) finite = amax_u = 0;
    const float amax = from_bits(amax_u);
    int32_t sum = 0;
    if (ok) codes(x + from, n, amax > 1e-30f ? 127.0f / amax : 0.0f, q + from);
    for (uint32_t i = ok ? n : 0; i < round_up(n, 32); ++i) q[from + i] = 0;
    for (uint32_t i = 0; i < n; ++i) sum += q[from + i];
    scale[g] = amax / 127.0f;
    sum128[g] = -128 * sum;
  }
  return finite;
}

void rmsnorm_row(const float* x, const float* w, uint32_t n, float eps, float* y) {
  float ss[16] = {};
  for (uint32_t i = 0; i < n; ++i) ss[i % 16] = __builtin_fmaf(x[i], x[i], ss[i % 16]);
  const float r = 1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps);
  for (uint32_t i = 0; i < n; ++i) y[i] = (x[i] * r) * w[i];
}

void silu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = (g[i] / (1.0f + exp_one(-g[i]))) * u[i];
}

void add_row(float* y, const float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) y[i] = y[i] + x[i];
}

void rope_row(float* x, const float* cos, const float* sin, uint32_t n_pairs, uint32_t interleaved) {
  for (uint32_t i = 0; i < n_pairs; ++i) {
    float* pa = interleaved ? x + 2 * i : x + i;
    float* pb = interleaved ? x + 2 * i + 1 : x + i + n_pairs;
    const float a = *pa, b = *pb;
    *pa = __builtin_fmaf(a, cos[i], -(b * sin[i]));
    *pb = __builtin_fmaf(b, cos[i], a * sin[i]);
  }
}

void merge_row(float* y, const float* x, uint32_t n, float a, float b) {
  for (uint32_t i = 0; i < n; ++i) y[i] = __builtin_fmaf(x[i], b, y[i] * a);
}

void scale_row(float* y, uint32_t n, float a) {
  for (uint32_t i = 0; i < n; ++i) y[i] = y[i] * a;
}

void exp_row(float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x[i] = exp_one(x[i]);
}

// ---- attention --------------------------------------------------------------------------------------------------------------

void softmax_block(float* s, uint32_t n, uint32_t n_pad, float scale, float* p, float* m, float* l) {
  float max[16], sum[16] = {};
  for (float& v : max) v = -__builtin_inff();
  for (uint32_t t = 0; t < n; ++t) {
    s[t] = s[t] * scale;
    max[t % 16] = larger(s[t], max[t % 16]);
  }
  *m = tree_max(max);
  for (uint32_t t = 0; t < n_pad; ++t) {
    p[t] = t < n ? exp_one(s[t] - *m) : 0.0f;
    sum[t % 16] = sum[t % 16] + p[t];
  }
  *l = tree_sum(sum);
}

float planes(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo) {
  float max[16] = {};
  for (uint32_t t = 0; t < n; ++t) max[t % 16] = larger(e[t] * v_scale[t], max[t % 16]);
  const float amax = tree_max(max);
  const float inv = amax > 1e-30f ? 16383.0f / amax : 0.0f;
  for (uint32_t t = 0; t < n; ++t) {
    const int32_t c = round_clamped((e[t] * v_scale[t]) * inv, 0.0f, 16383.0f);
    hi[t] = static_cast<uint8_t>(c >> 7);
    lo[t] = static_cast<uint8_t>(c & 127);
  }
  return amax / 16383.0f;
}

void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
             const float* p_scale, float* acc, size_t acc_stride) {
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t d = 0; d < d_panels; ++d) {
      int32_t dot_hi[16] = {}, dot_lo[16] = {};
      for (uint32_t t = 0; t < n_pages * 16; ++t) {
        const int8_t* v = pages[t / 16] + d * 256 + t % 16 / 4 * 64 + t % 4;
        for (int j = 0; j < 16; ++j) {
          dot_hi[j] += hi[r * 256 + t] * v[j * 4];
          dot_lo[j] += lo[r * 256 + t] * v[j * 4];
        }
      }
      float* out = acc + r * acc_stride + d * 16;
      for (int j = 0; j < 16; ++j) out[j] = static_cast<float>(128 * dot_hi[j] + dot_lo[j]) * p_scale[r];
    }
  }
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

void store(const GemmArgs& a, uint32_t row, uint32_t panel, const float acc[16]) {
  float* y = a.y + row * a.y_stride + panel * 16;
  for (int j = 0; j < 16; ++j) {
    const float r = a.bias ? acc[j] + a.bias[panel * 16 + static_cast<uint32_t>(j)] : acc[j];
    y[j] = a.accumulate ? y[j] + r : r;
  }
}

// Scale j of w_scale group g of a panel.
template <bool kF16>
float scale_at(const void* panel_scales, uint32_t g, int j) {
  const size_t i = g * size_t{16} + static_cast<uint32_t>(j);
  if (kF16) return from_f16(static_cast<const uint16_t*>(panel_scales)[i]);
  return static_cast<const float*>(panel_scales)[i];
}

template <bool kGroups, bool kF16>
void gemm_int(const GemmArgs* args) {
  const GemmArgs& a = *args;
  const uint32_t kpad = round_up(a.k, 32);
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const int8_t* w = static_cast<const int8_t*>(a.w) + panel * a.w_stride;
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      float acc[16] = {};
      for (uint32_t g = 0; g < a.x_groups; ++g) {
        const uint32_t from = g * a.x_group, to = kpad - from < a.x_group ? kpad : from + a.x_group;
        int32_t dot[16] = {};
        for (uint32_t i = from; i < to; i += 4)
          for (int j = 0; j < 16; ++j)
            for (uint32_t b = 0; b < 4; ++b) dot[j] += w[i * size_t{16} + static_cast<uint32_t>(j) * 4 + b] * x[i + b];
        const float x_scale = a.x_scale[row * size_t{a.x_groups} + g];
        for (int j = 0; j < 16; ++j)
          acc[j] = __builtin_fmaf(static_cast<float>(dot[j]), scale_at<kF16>(w_scale, kGroups ? g : 0, j) * x_scale, acc[j]);
      }
      store(a, row, panel, acc);
    }
  }
}

float to_float(float v, float) { return v; }
float to_float(uint16_t v, uint16_t) { return from_f16(v); }
struct Bf16 {
  uint16_t v;
};
float to_float(Bf16 v, Bf16) { return from_bf16(v.v); }

template <class W>
void gemm_float(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const W* w = reinterpret_cast<const W*>(static_cast<const char*>(a.w) + panel * a.w_stride);
    for (uint32_t row = 0; row < a.m; ++row) {
      const float* x = reinterpret_cast<const float*>(static_cast<const char*>(a.x) + row * a.x_stride);
      float acc[16] = {};
      for (uint32_t i = 0; i < a.k; ++i)
        for (uint32_t j = 0; j < 16; ++j) acc[j] = __builtin_fmaf(x[i], to_float(w[i * size_t{16} + j], W{}), acc[j]);
      store(a, row, panel, acc);
    }
  }
}

void gather_row(linnet_format f, const void* panels, const void* scales, uint32_t n, uint32_t k, uint32_t row, float* y) {
  (void)n;
  const size_t panel = row / 16, j = row % 16;
  if (f == LINNET_F32 || f == LINNET_F16 || f == LINNET_BF16) {
    for (uint32_t i = 0; i < k; ++i) {
      const size_t at = (panel * k + i) * 16 + j;
      if (f == LINNET_F32)
        y[i] = static_cast<const float*>(panels)[at];
      else if (f == LINNET_F16)
        y[i] = from_f16(static_cast<const uint16_t*>(panels)[at]);
      else
        y[i] = from_bf16(static_cast<const uint16_t*>(panels)[at]);
    }
    return;
  }
  const size_t kpad = round_up(k, 32);
  const uint32_t group = f == LINNET_I8 ? 0 : f == LINNET_I8G128 ? 128 : f == LINNET_I8G64 ? 64 : 32;
  const size_t groups = group ? (k + group - 1) / group : 1;
  const int8_t* w = static_cast<const int8_t*>(panels) + panel * kpad * 16;
  for (uint32_t i = 0; i < k; ++i) {
    const size_t at = (panel * groups + (group ? i / group : 0)) * 16 + j;
    const float scale = f == LINNET_I8G32 ? from_f16(static_cast<const uint16_t*>(scales)[at]) : static_cast<const float*>(scales)[at];
    y[i] = static_cast<float>(w[i / 4 * size_t{64} + j * 4 + i % 4]) * scale;
  }
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

uint64_t peak_int8(uint64_t n) {
  uint32_t a = 1, b = 2, c = 3, d = 4;
  for (uint64_t i = 0; i < n; ++i) {
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));  // or the compiler folds the loop
    a += a * 3;
    b += b * 5;
    c += c * 7;
    d += d * 9;
  }
  asm volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d));
  return n * 4;
}

uint64_t read_all(const void* p, size_t bytes) {
  uint64_t sum[4] = {};
  const char* c = static_cast<const char*>(p);
  for (size_t i = 0; i < bytes; i += 32) {
    uint64_t v[4];
    __builtin_memcpy(v, c + i, 32);
    for (int j = 0; j < 4; ++j) sum[j] ^= v[j];
  }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

const GemmKernel kGemm[] = {
    {LINNET_F32, 1, gemm_float<float>},      {LINNET_F16, 1, gemm_float<uint16_t>},     {LINNET_BF16, 1, gemm_float<Bf16>},
    {LINNET_I8, 1, gemm_int<false, false>},  {LINNET_I8G128, 1, gemm_int<true, false>}, {LINNET_I8G64, 1, gemm_int<true, false>},
    {LINNET_I8G32, 1, gemm_int<true, true>},
};

}  // namespace

const KernelTable scalar_table = {
    .isa = LINNET_ISA_SCALAR,
    .required = 0,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .quantize_row = quantize_row,
    .amax_bits = amax_bits,
    .codes = codes,
    .rmsnorm_row = rmsnorm_row,
    .silu_mul_row = silu_mul_row,
    .add_row = add_row,
    .rope_row = rope_row,
    .softmax_block = softmax_block,
    .planes = planes,
    .attn_pv = attn_pv,
    .merge_row = merge_row,
    .scale_row = scale_row,
    .exp_row = exp_row,
    .gather_row = gather_row,
    .peak_int8 = peak_int8,
    .read_all = read_all,
};

}  // namespace linnet
