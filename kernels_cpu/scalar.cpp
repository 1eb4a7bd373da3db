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
// The exponent is put right by an exact product, subnormals too. E4M3 has one NaN and no infinities; E5M2 is the upper half of an f16.
float from_f8e4m3(uint8_t c) {
  const uint32_t a = c & 0x7Fu, sign = static_cast<uint32_t>(c & 0x80u) << 24;
  return from_bits(sign | (a == 0x7F ? 0x7FC00000u : bits(from_bits(a << 20) * 0x1p120f)));
}
float from_f8e5m2(uint8_t c) { return from_f16(static_cast<uint16_t>(c << 8)); }

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
struct ExpParts {
  float q, r, power;  // fmaf(q, r, 1) * power
};
ExpParts exp_parts(float x) {
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
  return {p, r, from_bits((bits(z) << 23) + 0x3F800000u)};
}
float exp_one(float x) {
  const ExpParts e = exp_parts(x);
  return x < -87.33f ? 0.0f : __builtin_fmaf(e.q, e.r, 1.0f) * e.power;
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

// Where input i of a bf16 row stands: 0 2 1 3 of every four.
uint32_t bf16_place(uint32_t i) { return (i & ~3u) | (i & 1) << 1 | (i >> 1 & 1); }

void bf16_row(const float* x, uint32_t k, uint16_t* y) {
  for (uint32_t i = 0; i < round_up(k, 32); ++i) {
    const uint32_t u = i < k ? bits(x[i]) : 0;
    y[bf16_place(i)] = static_cast<uint16_t>((u & 0x7FFFFFFFu) > 0x7F800000u ? u >> 16 | 0x40u : (u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
  }
}

void rmsnorm_row(const float* x, const float* w, uint32_t n, float eps, float* y) {
  float ss[16] = {};
  for (uint32_t i = 0; i < n; ++i) ss[i % 16] = __builtin_fmaf(x[i], x[i], ss[i % 16]);
  const float r = 1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps);
  for (uint32_t i = 0; i < n; ++i) y[i] = (x[i] * r) * w[i];
}

void layernorm_row(const float* x, const float* w, const float* b, uint32_t n, float eps, float* y) {
  float s[16] = {}, ss[16] = {};
  for (uint32_t i = 0; i < n; ++i) s[i % 16] = s[i % 16] + x[i];
  const float mean = tree_sum(s) / static_cast<float>(n);
  for (uint32_t i = 0; i < n; ++i) ss[i % 16] = __builtin_fmaf(x[i] - mean, x[i] - mean, ss[i % 16]);
  const float r = 1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps);
  for (uint32_t i = 0; i < n; ++i) {
    const float t = (x[i] - mean) * r;
    y[i] = b ? __builtin_fmaf(t, w[i], b[i]) : t * w[i];
  }
}

float times(float v, const float* u, uint32_t i) { return u ? v * u[i] : v; }

void silu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = times(g[i] / (1.0f + exp_one(-g[i])), u, i);
}

void gelu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) {
    const float e = exp_one((g[i] * -1.5957691216f) * __builtin_fmaf(g[i] * 0.044715f, g[i], 1.0f));
    y[i] = times(g[i] / (1.0f + e), u, i);
  }
}

// Half of erfc(z) for z = |g| / sqrt 2 by t = 1 / (1 + z / 2): ln(erfc(z) / t) + z^2 is a polynomial of degree 7 in t but for 4e-8, minimax
// by what GELU shows of it. The whole is within 2e-7 * |g| of the exact value.
void gelu_erf_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) {
    const float z = __builtin_fabsf(g[i]) * 0.70710678f, t = 1.0f / __builtin_fmaf(z, 0.5f, 1.0f);
    float p = -0x1.4a89a2p-4f;
    p = __builtin_fmaf(p, t, 0x1.0bbe4ap-2f);
    p = __builtin_fmaf(p, t, -0x1.147ca4p-4f);
    p = __builtin_fmaf(p, t, -0x1.35bc38p-1f);
    p = __builtin_fmaf(p, t, 0x1.0bd63ep-1f);
    p = __builtin_fmaf(p, t, 0x1.a2a500p-3f);
    p = __builtin_fmaf(p, t, 0x1.082df2p+0f);
    p = __builtin_fmaf(p, t, -0x1.448ec4p+0f);
    const float h = (t * 0.5f) * exp_one(__builtin_fmaf(-z, z, p));
    y[i] = times(g[i] * (g[i] > 0 ? 1.0f - h : h), u, i);
  }
}

void sigmoid_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = times(1.0f / (1.0f + exp_one(-g[i])), u, i);
}

void taps_row(const float* const* rows, const float* w, uint32_t stride, uint32_t taps, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) {
    float sum = w[i] * rows[0][i];
    for (uint32_t t = 1; t < taps; ++t) sum = sum + w[t * size_t{stride} + i] * rows[t][i];
    y[i] = sum;
  }
}

void relu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = times(larger(g[i], 0.0f), u, i);
}

void xielu_row(const float* x, const float* by, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) {
    const float v = x[i], line = by[2] * v;
    const ExpParts e = exp_parts(v < by[3] ? v : by[3]);
    const float less = __builtin_fmaf(e.q * e.r, e.power, e.power - 1.0f) - v;
    y[i] = v > 0 ? __builtin_fmaf(by[0] * v, v, line) : __builtin_fmaf(by[1], less, line);
  }
}

uint32_t find_above(const float* x, uint32_t n, uint32_t from, float t) {
  for (; from < n; ++from)
    if (x[from] > t) return from;
  return n;
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

void delta_steps(const DeltaSteps& a) {
  for (uint32_t t = 0; t < a.n; ++t) {
    const float *q = a.q + t * a.stride, *k = a.k + t * a.stride;
    for (uint32_t j = 0; j < a.value_dim; ++j) {
      float* const s = a.s + j / kStatePanel * kStatePanel * a.key_dim + j % kStatePanel;
      const float* const by_key = a.kind == DeltaKind::kByKey ? a.by_key + t * a.stride : nullptr;
      const bool corrects = a.kind != DeltaKind::kUncorrected;
      const float v = a.v[t * a.stride + j];
      float read = 0, out = corrects ? 0 : a.skip * v;
      for (uint32_t i = 0; corrects && i < a.key_dim; ++i) {
        const float x = s[i * kStatePanel];
        read = __builtin_fmaf(k[i], by_key ? by_key[i] * x : x, read);
      }
      const float d = a.beta[t] * (!corrects ? v : v - (by_key ? read : a.fade[t] * read));
      for (uint32_t i = 0; i < a.key_dim; ++i) {
        float& x = s[i * kStatePanel];
        x = __builtin_fmaf(k[i], d, (by_key ? by_key[i] : a.fade[t]) * x);
        out = __builtin_fmaf(q[i], x, out);
      }
      a.o[t * a.stride + j] = out;
    }
  }
}

void scale_row(float* y, uint32_t n, float a) {
  for (uint32_t i = 0; i < n; ++i) y[i] = y[i] * a;
}

void sum_row(double* sum, const float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) sum[i] = sum[i] + static_cast<double>(x[i]);
}
void unit_row(float* x, uint32_t n) {
  float ss[16] = {};
  for (uint32_t i = 0; i < n; ++i) ss[i % 16] = __builtin_fmaf(x[i], x[i], ss[i % 16]);
  const float length = larger(__builtin_sqrtf(tree_sum(ss)), 1e-12f);
  for (uint32_t i = 0; i < n; ++i) x[i] = x[i] / length;
}

void exp_row(float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x[i] = exp_one(x[i]);
}

// ---- attention --------------------------------------------------------------------------------------------------------------

void softmax_block(float* s, uint32_t from, uint32_t to, uint32_t n_pad, float scale, float slope, float origin, float cap, float* m,
                   float* l, Fetch*) {
  float max[16], sum[16] = {};
  for (float& v : max) v = -__builtin_inff();
  for (uint32_t t = from; t < to; ++t) {
    s[t] = s[t] * scale;
    if (slope != 0) s[t] = __builtin_fmaf(slope, static_cast<float>(t) - origin, s[t]);
    if (cap > 0) {
      const float x = s[t] / cap, z = exp_one(__builtin_fabsf(x) * -2.0f);
      s[t] = cap * __builtin_copysignf((1.0f - z) / (1.0f + z), x);
    }
    max[t % 16] = larger(s[t], max[t % 16]);
  }
  *m = tree_max(max) + 0.0f;
  for (uint32_t t = 0; t < n_pad; ++t) {
    s[t] = t >= from && t < to ? exp_one(s[t] - *m) : 0.0f;
    sum[t % 16] = sum[t % 16] + s[t];
  }
  *l = tree_sum(sum);
}

float planes(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo, Fetch*) {
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

void byte_table(const int8_t* table, const uint8_t* codes, size_t n, int8_t* q) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t v = table[codes[i] & 127];
    q[i] = static_cast<int8_t>(codes[i] & 128 ? -v : v);
  }
}

void attn_pv(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
             const float* p_scale, float* acc, size_t acc_stride, Fetch*) {
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

template <class T, float (*kValue)(T)>
void pv_float(const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels, float* acc, size_t acc_stride) {
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t d = 0; d < d_panels; ++d)
      for (uint32_t j = 0; j < 16; ++j) {
        float sum = 0;
        for (uint32_t t = 0; t < n_pages * 16; ++t) {
          const uint32_t at = d * 256 + t % 16 * 16 + j;
          sum = __builtin_fmaf(e[r * size_t{256} + t], kValue(static_cast<const T*>(pages[t / 16])[at]), sum);
        }
        acc[r * acc_stride + d * 16 + j] = sum;
      }
}
float same(float x) { return x; }

void attn_pv_float(linnet_format v, const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels,
                   float* acc, size_t acc_stride) {
  switch (v) {
    case LINNET_F32:
      return pv_float<float, same>(e, rows, pages, n_pages, d_panels, acc, acc_stride);
    case LINNET_F16:
      return pv_float<uint16_t, from_f16>(e, rows, pages, n_pages, d_panels, acc, acc_stride);
    case LINNET_BF16:
      return pv_float<uint16_t, from_bf16>(e, rows, pages, n_pages, d_panels, acc, acc_stride);
    default:
      return;
  }
}

void turn_panels(uint32_t bytes, const void* k, uint32_t n, void* v) {
  const uint8_t* from = static_cast<const uint8_t*>(k);
  uint8_t* to = static_cast<uint8_t*>(v);
  for (uint32_t p = 0; p < n; ++p)
    for (uint32_t d = 0; d < 16; ++d)
      for (uint32_t t = 0; t < 16; ++t) {
        const uint32_t i = bytes == 1 ? d / 4 * 64 + t * 4 + d % 4 : d * 16 + t, j = bytes == 1 ? t / 4 * 64 + d * 4 + t % 4 : t * 16 + d;
        for (uint32_t b = 0; b < bytes; ++b) to[(size_t{p} * 256 + j) * bytes + b] = from[(size_t{p} * 256 + i) * bytes + b];
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
template <ScaleStep kStep>
float scale_at(const void* panel_scales, uint32_t g, int j) {
  const char* at = static_cast<const char*>(panel_scales) + g * size_t{kStep};
  if (kStep != kStepF32) return from_f16(reinterpret_cast<const uint16_t*>(at)[j]);
  return reinterpret_cast<const float*>(at)[j];
}

// Integer weights of one output: a byte holds one, or two of which the upper half is four inputs further on.
int32_t code_i8(const uint8_t* panel, size_t i, size_t j) { return static_cast<int8_t>(panel[i / 4 * 64 + j * 4 + i % 4]); }
int32_t nibble(const uint8_t* panel, size_t i, size_t j) { return panel[i / 8 * 64 + j * 4 + i % 4] >> (i & 4) & 15; }

// Weight (i, j) of group g of a panel without its scale.
template <Codes kCodes>
int32_t code_at(const uint8_t* panel, const void* panel_scales, uint32_t g, size_t i, size_t j) {
  if (kCodes == kBytes) return code_i8(panel, i, j);
  if (kCodes == kNibbles) return nibble(panel, i, j) - 8;
  return nibble(panel, i, j) - static_cast<const uint8_t*>(panel_scales)[g * size_t{kStepF16Zero} + kStepF16 + j];
}

template <Codes kCodes, bool kGroups, ScaleStep kStep>
void gemm_int(const GemmArgs* args) {
  const GemmArgs& a = *args;
  const uint32_t kpad = round_up(a.k, 32);
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      float acc[16] = {};
      for (uint32_t g = 0; g < a.x_groups; ++g) {
        const uint32_t from = g * a.x_group, to = kpad - from < a.x_group ? kpad : from + a.x_group;
        int32_t dot[16] = {};
        for (uint32_t i = from; i < to; ++i)
          for (uint32_t j = 0; j < 16; ++j) dot[j] += code_at<kCodes>(w, w_scale, g, i, j) * x[i];
        const float x_scale = a.x_scale[row * size_t{a.x_groups} + g];
        for (int j = 0; j < 16; ++j)
          acc[j] = __builtin_fmaf(static_cast<float>(dot[j]), scale_at<kStep>(w_scale, kGroups ? g : 0, j) * x_scale, acc[j]);
      }
      store(a, row, panel, acc);
    }
  }
}

// ---- blocks of GGUF files -----------------------------------------------------------------------------------------------------

// What one output has of a block: bytes of its lines, and of its entry f16 first, then bytes; outer factors in front of the end of all that
// its panel has of scales.
struct Output {
  const uint8_t *lines, *entry, *end;
  size_t j;
  uint32_t operator[](size_t byte) const { return lines[byte / 4 * 64 + j * 4 + byte % 4]; }
  uint32_t word(size_t byte) const { return (*this)[byte] | (*this)[byte + 1] << 8 | (*this)[byte + 2] << 16 | (*this)[byte + 3] << 24; }
  float half(size_t i) const {
    uint16_t h;
    __builtin_memcpy(&h, entry + i * 32 + j * 2, 2);
    return from_f16(h);
  }
  uint32_t part(size_t halves, size_t byte) const { return entry[halves * 32 + byte * 16 + j]; }
  float outer(size_t i) const {
    float f;
    __builtin_memcpy(&f, end - 128 + i * 64 + j * 4, 4);
    return f;
  }
};

// Kinds: weight = scale(g) * code - min(g), g being its group of kGroup inputs in the block. run: codes of inputs 8 r to 8 r + 7.
// kBytes: of an output's lines.
template <uint32_t kBlock_, uint32_t kGroup_, uint32_t kBytes_, bool kMin_ = false>
struct Shape {
  static constexpr uint32_t kBlock = kBlock_, kGroup = kGroup_, kBytes = kBytes_;
  static constexpr bool kMin = kMin_;
  static float min(const Output&, size_t) { return 0; }
};

// Nibbles, of which two groups of 32 share bytes.
struct Q4K : Shape<256, 32, 128, true> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(o[r / 8 * 32 + r % 4 * 8 + i] >> (r / 4 % 2 * 4) & 15);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * part(o, 0, g); }
  static float min(const Output& o, size_t g) { return o.half(1) * part(o, 4, g); }

 private:
  // Six bits of a group's scale (first 0) or minimum (first 4): those of groups 0 to 3 have bytes of their own, whose upper bits are those
  // of the other four; their lower ones share a byte.
  static float part(const Output& o, size_t first, size_t g) {
    const uint32_t low = o.part(2, first + g % 4), rest = o.part(2, 8 + g % 4) >> first & 15;
    return static_cast<float>(g < 4 ? low & 63 : rest | low >> 6 << 4);
  }
};
// Where kernels take 32 bytes along with the first 32 of others, four of each lie together: these, and those.
inline size_t beside(size_t byte) { return byte / 4 * 8 + 4 + byte % 4; }
inline size_t around(size_t byte) { return byte < 32 ? beside(byte) - 4 : byte + 32; }
// Fifth bits, of 32 bytes a bit for each group.
struct Q5K : Q4K {
  static constexpr uint32_t kBytes = 160;
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) {
      const size_t at = r % 4 * 8 + i;
      c[i] = static_cast<int8_t>((o[around(r / 8 * 32 + at)] >> (r / 4 % 2 * 4) & 15) | (o[beside(at)] >> (r / 4) & 1) << 4);
    }
  }
};
// Halves of 128 inputs: of four times 32 the nibbles of two lie together, and two upper bits of all; four bytes of each of the three.
struct Q6K : Shape<256, 16, 192> {
  static void run(const Output& o, size_t r, int8_t* c) {
    const size_t half = r / 16, quarter = r % 16 / 4;
    for (size_t i = 0; i < 8; ++i) {
      const size_t at = half * 96 + (r % 4 * 2 + i / 4) * 12 + i % 4;
      const uint32_t low = o[at + quarter % 2 * 4] >> (quarter / 2 * 4) & 15, high = o[at + 8] >> (quarter * 2) & 3;
      c[i] = static_cast<int8_t>(static_cast<int32_t>(low | high << 4) - 32);
    }
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * static_cast<float>(static_cast<int8_t>(o.part(1, g))); }
};
// Two bits: of each half of 128 inputs four times 32 lie in 32 bytes.
inline size_t two_bits_at(size_t r, size_t i) { return r / 16 * 32 + r % 4 * 8 + i; }
inline uint32_t two_bits(uint32_t byte, size_t r) { return byte >> (r % 16 / 4 * 2) & 3; }
struct Q2K : Shape<256, 16, 64, true> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(two_bits(o[two_bits_at(r, i)], r));
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * static_cast<float>(o.part(2, g) & 15); }
  static float min(const Output& o, size_t g) { return o.half(1) * static_cast<float>(o.part(2, g) >> 4); }
};
// 4 less where a third bit is not set. Six bits of scale: four of them in the first eight bytes, two in the last four.
struct Q3K : Shape<256, 16, 96> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t two = two_bits(o[around(two_bits_at(r, i))], r);
      c[i] = static_cast<int8_t>(static_cast<int32_t>(two) - (o[beside(r % 4 * 8 + i)] >> (r / 4) & 1 ? 0 : 4));
    }
  }
  static float scale(const Output& o, size_t g) {
    const uint32_t low = o.part(1, g % 8) >> (g / 8 * 4) & 15, high = o.part(1, 8 + g % 4) >> (g / 4 * 2) & 3;
    return o.half(0) * static_cast<float>(static_cast<int32_t>(low | high << 4) - 32);
  }
};

// Blocks of 32: a byte's nibbles are inputs i and i + 16.
inline uint32_t nibble_32(const Output& o, size_t r, size_t i) { return o[r / 4 * 16 + r % 2 * 8 + i] >> (r % 4 / 2 * 4) & 15; }
struct Q41 : Shape<32, 32, 16, true> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(nibble_32(o, r, i));
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
  static float min(const Output& o, size_t) { return -o.half(1); }
};
// A word of fifth bits lies behind them.
struct Q51 : Shape<32, 32, 20, true> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(nibble_32(o, r, i) | (o[16 + r] >> i & 1) << 4);
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
  static float min(const Output& o, size_t) { return -o.half(1); }
};
struct Q50 : Shape<32, 32, 20> {
  static void run(const Output& o, size_t r, int8_t* c) {
    Q51::run(o, r, c);
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(c[i] - 16);
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
};

// A scale and a zero point of 16 bits: f16 or, where the scale's sign is set, bf16. added: to (code - 8) * scale, else taken off the code.
struct ScaleZero {
  float scale, zero;
  explicit ScaleZero(const Output& o) {
    uint16_t of[2];
    for (size_t i = 0; i < 2; ++i) __builtin_memcpy(&of[i], o.entry + i * 32 + o.j * 2, 2);
    const bool wide = of[0] & 0x8000;
    scale = wide ? from_bf16(of[0] & 0x7FFF) : from_f16(of[0]);
    zero = wide ? from_bf16(of[1]) : from_f16(of[1]);
  }
  float min(bool added) const {
    const float eight = scale * 8.0f;
    return added ? eight - zero : zero * scale;
  }
  // As those who made them have it, where a product with a minimum taken off may be another float.
  float value(bool added, int8_t code) const {
    const float scaled = (static_cast<float>(code) - 8.0f) * scale, left = static_cast<float>(code) - zero;
    return added ? scaled + zero : left * scale;
  }
};
template <uint32_t kOf, bool kAdded>
struct Zero4 : Shape<kOf, 32, kOf / 2, true> {};
template <class Kind>
constexpr bool kZero = false;
template <class Kind>
constexpr bool kZeroAdded = false;
template <uint32_t kOf, bool kAdded>
constexpr bool kZero<Zero4<kOf, kAdded>> = true;
template <uint32_t kOf, bool kAdded>
constexpr bool kZeroAdded<Zero4<kOf, kAdded>> = kAdded;
__attribute__((noinline)) void unpack_zero(uint32_t block, bool added, const uint8_t* lines, const uint8_t* entry, uint32_t k, size_t first,
                                           size_t end, const UnpackTo& to) {
  for (uint32_t from = 0; from < k; from += 32, lines += 256)
    for (size_t j = first; j < end; ++j) {
      const Output o = {lines, entry + from / block * kStepF16Min, nullptr, j};
      for (uint32_t r = 0; r < 4; ++r) {
        int8_t c[8];
        Q41::run(o, r, c);
        int8_t* at = to.codes + from / 32 * to.group + r * 2 * to.line + j * 4;
        __builtin_memcpy(at, c, 4);
        __builtin_memcpy(at + to.line, c + 4, 4);
      }
      const ScaleZero z(o);
      to.scale[from / 32 * to.scale_step + j] = z.scale;
      to.min[from / 32 * to.min_step + j] = z.min(added);
    }
}
__attribute__((noinline)) float zero_value(bool added, const Output& o, int8_t code) { return ScaleZero(o).value(added, code); }
using Hqq32 = Zero4<32, false>;
using Hqq64 = Zero4<64, false>;
using Hqq128 = Zero4<128, false>;
using Ao32 = Zero4<32, true>;
using Ao64 = Zero4<64, true>;
using Ao128 = Zero4<128, true>;

// Nibbles that choose from a table.
constexpr int8_t kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};  // twice the numbers
struct Iq4Nl : Shape<32, 32, 16> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = kUneven[nibble_32(o, r, i)];
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
};
// Six bits of scale: two in the first two bytes, four in the others.
struct Iq4Xs : Shape<256, 32, 128> {
  static void run(const Output& o, size_t r, int8_t* c) { Iq4Nl::run(o, r, c); }
  static float scale(const Output& o, size_t g) {
    const uint32_t low = o.part(1, 2 + g / 2) >> (g % 2 * 4) & 15, high = o.part(1, g / 4) >> (g % 4 * 2) & 3;
    return o.half(0) * static_cast<float>(static_cast<int32_t>(low | high << 4) - 32);
  }
};
// A power of two in a byte, halved.
struct Mxfp4 : Shape<32, 32, 16> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = kE2m1[nibble_32(o, r, i)];
  }
  static float scale(const Output& o, size_t) {
    const uint32_t e = o.part(0, 0);
    return from_bits(e < 2 ? 0x200000u << e : (e - 1) << 23);
  }
};
// Of each sixteen inputs a byte's nibbles are i and i + 8; an E4M3 without a sign, halved, times the output's outer factor.
struct Nvfp4 : Shape<64, 16, 32> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = kE2m1[o[r / 2 * 8 + i] >> (r % 2 * 4) & 15];
  }
  static float scale(const Output& o, size_t g) {
    const uint32_t v = o.part(0, g), a = v & 127;
    const float s = v == 127 ? 0 : from_bits(a << 20) * 0x1p119f;
    return __builtin_fmaf(s, o.outer(0), s * o.outer(1));
  }
};

// Ternary. Five of them are a fraction of 3^5 in a byte, which times powers of three has one after the other in front; the last 20 bytes,
// 16 of five and 4 of four, lie in the entry.
struct Tq1 : Shape<256, 32, 32> {
  static void run(const Output& o, size_t r, int8_t* c) {
    static constexpr uint8_t kPower[5] = {1, 3, 9, 27, 81};
    for (size_t i = 0; i < 8; ++i) {
      const size_t at = r * 8 + i;
      const uint32_t byte = at < 160 ? o[at % 32] : o.part(1, at < 240 ? at % 16 : 16 + at % 4);
      const uint8_t power = kPower[at < 160 ? at / 32 : at < 240 ? (at - 160) / 16 : (at - 240) / 4];
      c[i] = static_cast<int8_t>(static_cast<int32_t>((byte * power & 255) * 3 >> 8) - 1);
    }
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
};
struct Tq2 : Shape<256, 32, 64> {
  static void run(const Output& o, size_t r, int8_t* c) {
    for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(static_cast<int32_t>(two_bits(o[two_bits_at(r, i)], r)) - 1);
  }
  static float scale(const Output& o, size_t) { return o.half(0); }
};
struct Tq2F32 : Tq2 {
  static float scale(const Output& o, size_t) { return o.outer(0); }
};

// Books of runs, as IqBooks has them.
#include "books.inc"
template <size_t kRuns>
struct Book {
  uint32_t of[kRuns];
};
template <size_t kRuns>
constexpr Book<kRuns> of_eight(const uint16_t (&words)[kRuns]) {
  Book<kRuns> b = {};
  for (size_t i = 0; i < kRuns; ++i)
    for (uint32_t n = 0; n < 8; ++n) b.of[i] |= (uint32_t{words[i]} >> (n * 2) & 3) << (n % 4 * 8 + n / 4 * 4);
  return b;
}
template <size_t kRuns>
constexpr Book<kRuns> of_four(const uint16_t (&words)[kRuns], const uint8_t (&values)[8]) {
  Book<kRuns> b = {};
  for (size_t i = 0; i < kRuns; ++i)
    for (uint32_t n = 0; n < 4; ++n) b.of[i] |= uint32_t{values[words[i] >> (n * 3) & 7]} << (n * 8);
  return b;
}
constexpr Book<256> kIq2Xxs = of_eight(kIq2XxsBook), kIq3Xxs = of_four(kIq3XxsBook, {4, 12, 20, 28, 36, 44, 52, 62});
constexpr Book<512> kIq2Xs = of_eight(kIq2XsBook), kIq3S = of_four(kIq3SBook, {1, 3, 5, 7, 9, 11, 13, 15});
constexpr Book<1024> kIq2S = of_eight(kIq2SBook);
constexpr Book<2048> kIq1 = of_eight(kIq1Book);
uint32_t code_of_run(uint32_t run, size_t i) { return run >> (i % 4 * 8 + i / 4 * 4) & 15; }
// Minus where bits of `signs` are set.
int8_t with_sign(uint32_t v, uint32_t signs, size_t i) {
  return static_cast<int8_t>(signs >> i & 1 ? -static_cast<int32_t>(v) : static_cast<int32_t>(v));
}
void put_loud(uint32_t run, uint32_t signs, int8_t* c) {
  static constexpr uint8_t kLoud[4] = {8, 25, 43, 0};
  for (size_t i = 0; i < 8; ++i) c[i] = with_sign(kLoud[code_of_run(run, i)], signs, i);
}
void put_fours(uint32_t first, uint32_t second, uint32_t signs, int8_t* c) {
  for (size_t i = 0; i < 8; ++i) c[i] = with_sign((i < 4 ? first : second) >> (i % 4 * 8) & 255, signs, i);
}
// -1, 0 and 1 in eighths, and one more or less.
void put_ternary(uint32_t run, bool less, int8_t* c) {
  for (size_t i = 0; i < 8; ++i) c[i] = static_cast<int8_t>(8 * static_cast<int32_t>(code_of_run(run, i)) - (less ? 9 : 7));
}
// Seven bits and the one that makes the number of them even.
uint32_t even(uint32_t seven) { return seven | (0x6996u >> ((seven ^ seven >> 4) & 15) & 1) << 7; }
float four_bits(const Output& o, size_t first, size_t g) { return static_cast<float>(o.part(1, first + g / 2) >> (g % 2 * 4) & 15); }

// Of each 32 inputs four bytes of runs, then a word of four times seven signs and four bits of scale.
struct Iq2Xxs : Shape<256, 32, 64> {
  static void run(const Output& o, size_t r, int8_t* c) {
    put_loud(kIq2Xxs.of[o[r / 4 * 8 + r % 4]], even(o.word(r / 4 * 8 + 4) >> (r % 4 * 7) & 127), c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * (0.5f + static_cast<float>(o[g * 8 + 7] >> 4)) * 0.25f; }
};
// Nine bits of run and seven of signs.
struct Iq2Xs : Shape<256, 16, 64> {
  static void run(const Output& o, size_t r, int8_t* c) {
    const uint32_t word = o[r * 2] | o[r * 2 + 1] << 8;
    put_loud(kIq2Xs.of[word & 511], even(word >> 9), c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * (0.5f + four_bits(o, 0, g)) * 0.25f; }
};
// A byte of run and one of signs; two upper bits in the entry, before the scales.
struct Iq2S : Shape<256, 16, 64> {
  static void run(const Output& o, size_t r, int8_t* c) {
    put_loud(kIq2S.of[o[r] | (o.part(1, r / 4) >> (r % 4 * 2) & 3) << 8], o[32 + r], c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * (0.5f + four_bits(o, 8, g)) * 0.25f; }
};
// Two bytes of runs of four; words of signs and scales behind all of them.
struct Iq3Xxs : Shape<256, 32, 96> {
  static void run(const Output& o, size_t r, int8_t* c) {
    put_fours(kIq3Xxs.of[o[r * 2]], kIq3Xxs.of[o[r * 2 + 1]], even(o.word(64 + r / 4 * 4) >> (r % 4 * 7) & 127), c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * (0.5f + static_cast<float>(o[64 + g * 4 + 3] >> 4)) * 0.5f; }
};
// Two bytes of runs of four, whose ninth bits are in the entry, and a byte of signs.
struct Iq3S : Shape<256, 32, 96> {
  static void run(const Output& o, size_t r, int8_t* c) {
    const uint32_t ninth = o.part(1, r / 4) >> (r % 4 * 2);
    put_fours(kIq3S.of[o[r * 2] | (ninth & 1) << 8], kIq3S.of[o[r * 2 + 1] | (ninth & 2) << 7], o[64 + r], c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * (1.0f + 2.0f * four_bits(o, 8, g)); }
};
// Runs of -1, 0 and 1, an eighth more or less. Of each 32 inputs two bytes in the entry: three upper bits of four runs, three of scale, and
// whether it is less.
struct Iq1S : Shape<256, 32, 32> {
  static void run(const Output& o, size_t r, int8_t* c) {
    const uint32_t bits = word(o, r / 4);
    put_ternary(kIq1.of[o[r] | (bits >> (r % 4 * 3) & 7) << 8], bits & 0x8000, c);
  }
  static float scale(const Output& o, size_t g) { return o.half(0) * static_cast<float>(2 * (word(o, g) >> 12 & 7) + 1) * 0.125f; }

 private:
  static uint32_t word(const Output& o, size_t g) { return o.part(1, g * 2) | o.part(1, g * 2 + 1) << 8; }
};
// Of each run three upper bits and whether it is less in half a byte; then words of four times three bits of scale, whose upper four bits
// are an f16.
struct Iq1M : Shape<256, 16, 32> {
  static void run(const Output& o, size_t r, int8_t* c) {
    const uint32_t bits = o.part(0, r / 2) >> (r % 2 * 4);
    put_ternary(kIq1.of[o[r] | (bits & 7) << 8], bits & 8, c);
  }
  static float scale(const Output& o, size_t g) {
    uint32_t half = 0;
    for (size_t i = 0; i < 4; ++i) half |= word(o, i) >> 12 << (i * 4);
    return from_f16(static_cast<uint16_t>(half)) * static_cast<float>(2 * (word(o, g / 4) >> (g % 4 * 3) & 7) + 1) * 0.125f;
  }

 private:
  static uint32_t word(const Output& o, size_t i) { return o.part(0, 16 + i * 2) | o.part(0, 17 + i * 2) << 8; }
};

// k inputs of a panel, at most 256: outputs `first` to `end` - 1.
template <class Kind, ScaleStep kStep>
void unpack_kind(const uint8_t* lines, const uint8_t* entry, uint32_t k, size_t first, size_t end, const UnpackTo& to) {
  for (uint32_t from = 0; from < k; from += Kind::kBlock, lines += Kind::kBytes * 16, entry += kStep)
    for (size_t j = first; j < end; ++j) {
      const Output o = {lines, entry, to.end, j};
      for (uint32_t r = 0; r < Kind::kBlock / 8; ++r) {
        int8_t c[8];
        Kind::run(o, r, c);
        const uint32_t i = from + r * 8;
        int8_t* at = to.codes + i / Kind::kGroup * to.group + i % Kind::kGroup / 4 * to.line + j * 4;
        __builtin_memcpy(at, c, 4);
        __builtin_memcpy(at + to.line, c + 4, 4);
      }
      for (uint32_t g = 0; g < Kind::kBlock / Kind::kGroup; ++g) {
        const size_t at = from / Kind::kGroup + g;
        to.scale[at * to.scale_step + j] = Kind::scale(o, g);
        if (Kind::kMin) to.min[at * to.min_step + j] = Kind::min(o, g);
      }
    }
}
template <class Kind>
void unpack_zero_kind(const uint8_t* lines, const uint8_t* entry, uint32_t k, size_t first, size_t end, const UnpackTo& to) {
  unpack_zero(Kind::kBlock, kZeroAdded<Kind>, lines, entry, k, first, end, to);
}

template <class Kind, ScaleStep kStep>
constexpr auto unpack_of() {
  if constexpr (kZero<Kind>)
    return unpack_zero_kind<Kind>;
  else
    return unpack_kind<Kind, kStep>;
}

struct KindRow {
  void (*unpack)(const uint8_t* lines, const uint8_t* entry, uint32_t k, size_t first, size_t end, const UnpackTo& to);
  uint32_t block, group, lines, entry, outer;  // inputs; bytes of a block of a panel, and of outer factors
  bool min;
  bool zero, added;  // Zero4
};
template <class Kind, uint32_t kBlock, uint32_t kBits, ScaleStep kStep, uint32_t kOuter>
constexpr KindRow kind_row() {
  static_assert(Kind::kBlock == kBlock && Kind::kBytes * 8 == kBlock * kBits && Kind::kGroup <= 32, "as formats.inc says");
  return {unpack_of<Kind, kStep>(), kBlock, Kind::kGroup, Kind::kBytes * 16, kStep, kOuter, Kind::kMin, kZero<Kind>, kZeroAdded<Kind>};
}
const KindRow& kind_row(linnet_format f) {
  static constexpr KindRow kRows[] = {
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) kind_row<kind, block, bits, kStep##scale, kOuter##scale>(),
#include "../runtime/formats.inc"
  };
  static constexpr linnet_format kFormats[] = {
#define LINNET_BLOCKS(name, NAME, ...) LINNET_##NAME,
#include "../runtime/formats.inc"
  };
  uint32_t i = 0;
  while (kFormats[i] != f) ++i;
  return kRows[i];
}

__attribute__((noinline)) void gemm_kind(const GemmArgs& a, const KindRow& kind) {
  int8_t codes[256 * 16];
  float scale[16][16], min[16][16];
  UnpackTo to = {codes, 64, kind.group * size_t{16}, scale[0], min[0], 16, 16, 0, nullptr};
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m; ++row) {
      to.end = static_cast<const uint8_t*>(a.w_scale) + (panel + size_t{1}) * a.w_scale_stride;
      const uint8_t *lines = static_cast<const uint8_t*>(a.w) + panel * a.w_stride,
                    *entry = static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride;
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      const float* x_scale = a.x_scale + row * size_t{a.x_groups};
      float acc[16] = {};
      for (uint32_t from = 0; from < a.k; from += 256, lines += kind.lines * 256 / kind.block, entry += kind.entry * 256 / kind.block) {
        const uint32_t k = a.k - from < 256 ? a.k - from : 256, groups = k / kind.group;
        kind.unpack(lines, entry, k, 0, 16, to);
        float d[16] = {}, x_sum[16];
        for (uint32_t g = 0; g < groups; ++g) {
          int32_t dot[16] = {}, sum = 0;
          const float xs = x_scale[(from + g * kind.group) / 32];
          for (uint32_t i = g * kind.group; i < (g + 1) * kind.group; ++i) {
            sum += x[from + i];
            for (uint32_t j = 0; j < 16; ++j) dot[j] += codes[i / 4 * 64 + j * 4 + i % 4] * x[from + i];
          }
          for (uint32_t j = 0; j < 16; ++j) d[j] = __builtin_fmaf(static_cast<float>(dot[j]), scale[g][j] * xs, d[j]);
          x_sum[g] = static_cast<float>(-sum) * xs;
        }
        for (uint32_t j = 0; j < 16; ++j) acc[j] = from ? acc[j] + d[j] : d[j];
        for (uint32_t g = 0; kind.min && g < groups; ++g)
          for (uint32_t j = 0; j < 16; ++j) acc[j] = __builtin_fmaf(min[g][j], x_sum[g], acc[j]);
      }
      store(a, row, panel, acc);
    }
}

template <linnet_format kFormat>
void gemm_blocks(const GemmArgs* a) {
  gemm_kind(*a, kind_row(kFormat));
}

// The values of GGUF's own order of operations, say (d * scale) * code - d_min * minimum.
void gather_blocks(linnet_format f, const void* panels, const void* scales, uint32_t k, uint32_t row, float* y) {
  const KindRow& kind = kind_row(f);
  const size_t blocks = k / kind.block, j = row % 16, panel_scales = blocks * kind.entry + kind.outer;
  const uint8_t *lines = static_cast<const uint8_t*>(panels) + row / 16 * blocks * kind.lines,
                *entry = static_cast<const uint8_t*>(scales) + row / 16 * panel_scales;
  int8_t codes[256 * 16];
  float scale[16][16], min[16][16];
  const UnpackTo to = {codes, 64, kind.group * size_t{16}, scale[0], min[0], 16, 16, 0, entry + panel_scales};
  for (size_t b = 0; b < blocks; ++b, lines += kind.lines, entry += kind.entry, y += kind.block) {
    kind.unpack(lines, entry, kind.block, j, j + 1, to);
    for (uint32_t i = 0; i < kind.block; ++i) {
      const int8_t code = codes[i / 4 * 64 + j * 4 + i % 4];
      y[i] = scale[i / kind.group][j] * static_cast<float>(code);
      if (kind.zero)
        y[i] = zero_value(kind.added, {lines, entry, nullptr, j}, code);
      else if (kind.min)
        y[i] = y[i] - min[i / kind.group][j];
    }
  }
}

float to_float(float v, float) { return v; }
float to_float(uint16_t v, uint16_t) { return from_f16(v); }
using F32 = float;
using F16 = uint16_t;
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

// Made from what bitsandbytes 0.50.2 gives out: get_4bit_type(), and create_dynamic_map(), whose numbers below zero are those above it.
constexpr float kAboveZero[127] = {
    5.5000004e-07f, 3.2500002e-06f, 7.75e-06f,      2.1249998e-05f, 4.375e-05f,     6.625e-05f,    8.875e-05f,    0.00015625001f,
    0.00026875004f, 0.00038125002f, 0.00049375003f, 0.0006062501f,  0.00071875006f, 0.00083125f,   0.0009437501f, 0.0012812499f,
    0.00184375f,    0.00240625f,    0.00296875f,    0.0035312497f,  0.00409375f,    0.0046562497f, 0.0052187503f, 0.00578125f,
    0.00634375f,    0.00690625f,    0.00746875f,    0.00803125f,    0.00859375f,    0.009156249f,  0.00971875f,   0.01140625f,
    0.01421875f,    0.01703125f,    0.019843752f,   0.02265625f,    0.02546875f,    0.028281251f,  0.03109375f,   0.03390625f,
    0.036718752f,   0.03953125f,    0.042343747f,   0.04515625f,    0.04796875f,    0.05078125f,   0.05359375f,   0.05640625f,
    0.059218753f,   0.06203125f,    0.06484375f,    0.067656256f,   0.070468746f,   0.07328125f,   0.07609375f,   0.07890625f,
    0.08171876f,    0.08453125f,    0.08734375f,    0.09015625f,    0.092968754f,   0.09578126f,   0.09859375f,   0.107031256f,
    0.12109375f,    0.13515624f,    0.14921875f,    0.16328125f,    0.17734376f,    0.19140625f,   0.20546874f,   0.21953125f,
    0.23359375f,    0.24765624f,    0.26171875f,    0.27578127f,    0.28984374f,    0.30390626f,   0.31796873f,   0.33203125f,
    0.34609374f,    0.36015624f,    0.37421876f,    0.38828123f,    0.40234375f,    0.41640624f,   0.43046874f,   0.44453126f,
    0.45859373f,    0.47265625f,    0.4867187f,     0.50078124f,    0.5148437f,     0.5289062f,    0.54296875f,   0.5570313f,
    0.5710938f,     0.58515626f,    0.5992187f,     0.61328125f,    0.6273438f,     0.6414063f,    0.65546876f,   0.6695312f,
    0.68359375f,    0.6976563f,     0.7117188f,     0.72578126f,    0.7398437f,     0.75390625f,   0.7679688f,    0.78203124f,
    0.79609376f,    0.8101562f,     0.82421875f,    0.8382813f,     0.85234374f,    0.86640626f,   0.8804687f,    0.89453125f,
    0.9085938f,     0.92265624f,    0.93671876f,    0.9507812f,     0.96484375f,    0.9789063f,    0.99296874f,
};
constexpr FloatTables make_tables() {
  FloatTables t = {{-1.0f, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f, 0.0795803f, 0.1609302f,
                    0.2461123f, 0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f},
                   {0.0f, 0.0052083335f, 0.6666667f, 1.0f, 0.33333334f, 0.5f, 0.16666667f, 0.25f, 0.0f, -0.0052083335f, -0.6666667f, -1.0f,
                    -0.33333334f, -0.5f, -0.16666667f, -0.25f},
                   {}};
  for (size_t i = 0; i < 127; ++i) {
    t.scales[128 + i] = kAboveZero[i];
    t.scales[126 - i] = -kAboveZero[i];
  }
  t.scales[255] = 1.0f;
  return t;
}
constexpr FloatTables kFloatTables = make_tables();

// The scale of group g of output j, of a row of k inputs.
float table_scale(bool nested, const void* panel_scales, uint32_t k, uint32_t g, size_t j) {
  const auto* s = static_cast<const float*>(panel_scales);
  if (!nested) return s[g * size_t{16} + j];
  const size_t rows = (k / 64 + 254) / 256 + 1;
  const auto* bytes = reinterpret_cast<const uint8_t*>(s + (1 + rows) * 16);
  const float outer = s[(1 + (g + bytes[j]) / 256) * 16 + j], scale = kFloatTables.scales[bytes[16 + g * size_t{16} + j]] * outer;
  return scale + s[j];
}
__attribute__((noinline)) void gemm_tables(const GemmArgs& a, const float* table, bool nested) {
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const float* x = reinterpret_cast<const float*>(static_cast<const char*>(a.x) + row * a.x_stride);
      float acc[16] = {}, scale[16] = {};
      for (uint32_t i = 0; i < a.k; ++i)
        for (uint32_t j = 0; j < 16; ++j) {
          if (i % 64 == 0) scale[j] = table_scale(nested, w_scale, a.k, i / 64, j);
          const float weight = table[nibble(w, i, j)] * scale[j];
          acc[j] = __builtin_fmaf(x[i], weight, acc[j]);
        }
      store(a, row, panel, acc);
    }
  }
}
template <const float (FloatTables::*kTable)[16], ScaleStep kStep>
void gemm_table(const GemmArgs* args) {
  gemm_tables(*args, kFloatTables.*kTable, kStep != kStepF32);
}

struct E4m3 {
  static float of(uint8_t c) { return from_f8e4m3(c); }
};
struct E5m2 {
  static float of(uint8_t c) { return from_f8e5m2(c); }
};

// FP8: the sum over k as for floats, of each group alone, times the output's scale.
template <float (*kValue)(uint8_t)>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  const uint32_t kpad = round_up(a.k, 32), group = a.w_group ? a.w_group : kpad;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const uint16_t* x = reinterpret_cast<const uint16_t*>(static_cast<const char*>(a.x) + row * a.x_stride);
      float acc[16] = {};
      for (uint32_t from = 0, g = 0; from < kpad; from += group, ++g) {
        float d[16] = {};
        for (uint32_t i = from; i < kpad && i < from + group; ++i)
          for (uint32_t j = 0; j < 16; ++j)
            d[j] = __builtin_fmaf(from_bf16(x[bf16_place(i)]), kValue(w[i / 4 * size_t{64} + j * 4 + i % 4]), d[j]);
        for (int j = 0; j < 16; ++j) {
          const float scale = scale_at<kStepF32>(w_scale, g, j);
          acc[j] = g ? __builtin_fmaf(d[j], scale, acc[j]) : d[j] * scale;
        }
      }
      store(a, row, panel, acc);
    }
  }
}

// Weight (i, j) of a panel without its scale: of group g, whose zero points lie in s.
template <class W>
float float_of(const uint8_t* w, const void*, uint32_t, size_t i, size_t j) {
  W v;
  __builtin_memcpy(&v, w + (i * 16 + j) * sizeof v, sizeof v);
  return to_float(v, W{});
}
template <float (*kValue)(uint8_t)>
float f8_of(const uint8_t* w, const void*, uint32_t, size_t i, size_t j) {
  return kValue(w[i / 4 * 64 + j * 4 + i % 4]);
}
template <Codes kCodes>
float code_of(const uint8_t* w, const void* s, uint32_t g, size_t i, size_t j) {
  return static_cast<float>(code_at<kCodes>(w, s, g, i, j));
}

// One output of a matrix; group: inputs per scale, 0: all.
template <ScaleStep kStep, float (*kValue)(const uint8_t*, const void*, uint32_t, size_t, size_t)>
void gather(const void* panels, const void* scales, uint32_t k, uint32_t row, size_t panel_bytes, uint32_t group, float* y) {
  const size_t panel = row / 16, j = row % 16, groups = group ? (k + group - 1) / group : 1;
  const uint8_t* w = static_cast<const uint8_t*>(panels) + panel * panel_bytes;
  const uint8_t* s = kStep == kStepNone ? nullptr : static_cast<const uint8_t*>(scales) + panel * groups * kStep;
  for (uint32_t i = 0; i < k; ++i) {
    const uint32_t g = group ? i / group : 0;
    const float v = kValue(w, s, g, i, j);
    y[i] = kStep == kStepNone ? v : v * scale_at<kStep>(s, g, static_cast<int>(j));
  }
}

__attribute__((noinline)) void gather_table(const float* table, bool nested, const void* panels, const void* scales, uint32_t k,
                                            uint32_t row, float* y) {
  const size_t panel = row / 16, j = row % 16, groups = k / 64,
               step = nested ? 64 * (2 + (groups + 254) / 256) + 16 * (1 + groups) : groups * kStepF32;
  const uint8_t* w = static_cast<const uint8_t*>(panels) + panel * k * 8;
  const void* s = static_cast<const uint8_t*>(scales) + panel * step;
  float scale = 0;
  for (uint32_t i = 0; i < k; ++i) {
    if (i % 64 == 0) scale = table_scale(nested, s, k, i / 64, j);
    y[i] = table[nibble(w, i, j)] * scale;
  }
}

void gather_row(linnet_format f, const void* panels, const void* scales, uint32_t n, uint32_t k, uint32_t row, float* y) {
  (void)n;
  const size_t bytes = round_up(k, 32) * size_t{16};
  switch (f) {
#define LINNET_FLOATS(name, NAME, type, bits) \
  case LINNET_##NAME:                         \
    return gather<kStepNone, float_of<type>>(panels, scales, k, row, size_t{k} * sizeof(type) * 16, 0, y);
#define LINNET_FP8(name, NAME, type, w_group, kv) \
  case LINNET_##NAME:                             \
    return gather<kStepF32, f8_of<type::of>>(panels, scales, k, row, bytes, w_group, y);
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  case LINNET_##NAME:                                                            \
    return gather<kStep##scale, code_of<k##codes>>(panels, scales, k, row, bytes * bits / 8, w_group, y);
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) \
  case LINNET_##NAME:                                       \
    return gather_blocks(f, panels, scales, k, row, y);
#define LINNET_TABLES(name, NAME, table, scale) \
  case LINNET_##NAME:                           \
    return gather_table(kFloatTables.table, kStep##scale != kStepF32, panels, scales, k, row, y);
#define LINNET_KV_ALONE(name, NAME, bits) case LINNET_##NAME:
#include "../runtime/formats.inc"
    case LINNET_FORMAT_DEFAULT:
      return;
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

// A chain of fmaf would wait for itself: four.
uint64_t peak_f32(uint64_t n) {
  float a = 1, b = 2, c = 3, d = 4;
  for (uint64_t i = 0; i < n; ++i) {
    asm volatile("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d));  // or the compiler folds the loop
    a = __builtin_fmaf(a, 0.5f, 1.0f);
    b = __builtin_fmaf(b, 0.5f, 1.0f);
    c = __builtin_fmaf(c, 0.5f, 1.0f);
    d = __builtin_fmaf(d, 0.5f, 1.0f);
  }
  asm volatile("" ::"m"(a), "m"(b), "m"(c), "m"(d));
  return n * 4;
}

const GemmKernel kGemm[] = {
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, 1, gemm_float<type>, peak_f32},
#define LINNET_FP8(name, NAME, type, ...) {LINNET_##NAME, 1, gemm_f8<type::of>, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_int<k##codes, (w_group != 0), kStep##scale>, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) {LINNET_##NAME, 1, gemm_blocks<LINNET_##NAME>, peak_int8},
#define LINNET_TABLES(name, NAME, table, scale) {LINNET_##NAME, 1, gemm_table<&FloatTables::table, kStep##scale>, peak_f32},
#include "../runtime/formats.inc"
};

constexpr IqBooks kBooks = {kIq2Xxs.of, kIq2Xs.of, kIq2S.of, kIq3Xxs.of, kIq3S.of, kIq1.of};

constexpr KernelTable kTable = {
    .isa = LINNET_ISA_SCALAR,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .quantize_row = quantize_row,
    .bf16_row = bf16_row,
    .amax_bits = amax_bits,
    .codes = codes,
    .rmsnorm_row = rmsnorm_row,
    .layernorm_row = layernorm_row,
    .silu_mul_row = silu_mul_row,
    .gelu_mul_row = gelu_mul_row,
    .gelu_erf_mul_row = gelu_erf_mul_row,
    .sigmoid_mul_row = sigmoid_mul_row,
    .relu_mul_row = relu_mul_row,
    .xielu_row = xielu_row,
    .taps_row = taps_row,
    .add_row = add_row,
    .rope_row = rope_row,
    .softmax_block = softmax_block,
    .planes = planes,
    .attn_pv = attn_pv,
    .attn_pv_float = attn_pv_float,
    .byte_table = byte_table,
    .turn_panels = turn_panels,
    .merge_row = merge_row,
    .delta_steps = delta_steps,
    .scale_row = scale_row,
    .sum_row = sum_row,
    .unit_row = unit_row,
    .find_above = find_above,
    .exp_row = exp_row,
    .gather_row = gather_row,
    .books = &kBooks,
    .tables = &kFloatTables,
    .read_all = read_all,
};

}  // namespace

#if !LINNET_IN_NEON32
const KernelTable scalar_table = kTable;
#endif

}  // namespace linnet
