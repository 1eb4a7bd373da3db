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

void relu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; ++i) y[i] = times(larger(g[i], 0.0f), u, i);
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

void scale_row(float* y, uint32_t n, float a) {
  for (uint32_t i = 0; i < n; ++i) y[i] = y[i] * a;
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

float half_at(const uint8_t* halves, size_t i) { return from_f16(static_cast<uint16_t>(halves[i * 2] | halves[i * 2 + 1] << 8)); }

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

// Kinds of blocks: weight (i, j) of a panel is code * scale - min of its group; g: of the entry's groups, j: of 16 outputs.
struct Q4K {
  static constexpr uint32_t kGroup = 32, kLines = 32;
  static constexpr bool kMin = true;
  static int32_t nibble(const uint8_t* block, size_t i, size_t j) { return block[i / 64 * 512 + line(i, j)] >> (i / 32 % 2 * 4) & 15; }
  static int32_t code(const uint8_t* panel, size_t i, size_t j) { return nibble(panel + i / 256 * kLines * 64, i % 256, j); }
  static float scale(const uint8_t* entry, size_t g, size_t j) { return half_at(entry, j) * part(entry, 0, g, j); }
  static float min(const uint8_t* entry, size_t g, size_t j) { return half_at(entry, 16 + j) * part(entry, 4, g, j); }

  // Where input i of 32 lies behind the first line of these.
  static size_t line(size_t i, size_t j) { return i % 32 / 4 * 64 + j * 4 + i % 4; }

 private:
  // Six bits of a group's scale (first 0) or minimum (first 4): those of groups 0 to 3 have bytes of their own, whose upper bits are those
  // of the other four; their lower ones share a byte.
  static float part(const uint8_t* entry, size_t first, size_t g, size_t j) {
    const uint8_t* s = entry + 64 + j;
    const int32_t low = s[(first + g % 4) * 16], rest = s[(8 + g % 4) * 16] >> first & 15;
    return static_cast<float>(g < 4 ? low & 63 : rest | low >> 6 << 4);
  }
};
struct Q5K : Q4K {
  static constexpr uint32_t kLines = 40;
  static int32_t code(const uint8_t* panel, size_t i, size_t j) {
    const uint8_t* block = panel + i / 256 * kLines * 64;
    return nibble(block, i % 256, j) | (block[2048 + line(i, j)] >> (i % 256 / 32) & 1) << 4;
  }
};
// Halves of 128 inputs: of four times 32 the nibbles of two lie together, and two upper bits of all.
struct Q6K {
  static constexpr uint32_t kGroup = 16, kLines = 48;
  static constexpr bool kMin = false;
  static int32_t code(const uint8_t* panel, size_t i, size_t j) {
    const uint8_t* block = panel + i / 256 * kLines * 64;
    const size_t half = i % 256 / 128, run = i % 128 / 32, at = Q4K::line(i, j);
    const int32_t low = block[half * 1024 + run % 2 * 512 + at] >> (run / 2 * 4) & 15,
                  high = block[2048 + half * 512 + at] >> (run * 2) & 3;
    return (low | high << 4) - 32;
  }
  static float scale(const uint8_t* entry, size_t g, size_t j) {
    return half_at(entry, j) * static_cast<float>(static_cast<int8_t>(entry[32 + g * 16 + j]));
  }
  static float min(const uint8_t*, size_t, size_t) { return 0; }
};

template <class Kind, uint32_t kBlock, ScaleStep kStep>
void gemm_blocks(const GemmArgs* args) {
  const GemmArgs& a = *args;
  static_assert(kBlock == 256);
  constexpr uint32_t kGroups = kBlock / Kind::kGroup;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
    const uint8_t* w_scale = static_cast<const uint8_t*>(a.w_scale) + panel * a.w_scale_stride;
    const auto entry = [&](uint32_t g) { return w_scale + g / kGroups * size_t{kStep}; };
    for (uint32_t row = 0; row < a.m; ++row) {
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      const float* x_scale = a.x_scale + row * size_t{a.x_groups};
      float acc[16];
      for (uint32_t from = 0; from < a.k; from += kBlock) {
        const uint32_t first = from / Kind::kGroup, to = first + kGroups;
        float d[16] = {}, x_sum[kGroups];
        for (uint32_t g = first; g < to; ++g) {
          const float xs = x_scale[g * Kind::kGroup / 32];
          int32_t dot[16] = {}, sum = 0;
          for (uint32_t i = g * Kind::kGroup; i < (g + 1) * Kind::kGroup; ++i) {
            sum += x[i];
            for (uint32_t j = 0; j < 16; ++j) dot[j] += Kind::code(w, i, j) * x[i];
          }
          for (uint32_t j = 0; j < 16; ++j)
            d[j] = __builtin_fmaf(static_cast<float>(dot[j]), Kind::scale(entry(g), g % kGroups, j) * xs, d[j]);
          x_sum[g - first] = static_cast<float>(-sum) * xs;
        }
        for (uint32_t j = 0; j < 16; ++j) acc[j] = from ? acc[j] + d[j] : d[j];
        for (uint32_t g = first; Kind::kMin && g < to; ++g)
          for (uint32_t j = 0; j < 16; ++j) acc[j] = __builtin_fmaf(Kind::min(entry(g), g % kGroups, j), x_sum[g - first], acc[j]);
      }
      store(a, row, panel, acc);
    }
  }
}

// The values of GGUF's own order of operations: (d * scale) * code - d_min * minimum.
template <class Kind, uint32_t kBlock, ScaleStep kStep>
void gather_blocks(const void* panels, const void* scales, uint32_t k, uint32_t row, size_t panel_bytes, float* y) {
  const size_t panel = row / 16, j = row % 16;
  const uint8_t* w = static_cast<const uint8_t*>(panels) + panel * panel_bytes;
  const uint8_t* s = static_cast<const uint8_t*>(scales) + panel * (k / kBlock) * kStep;
  for (uint32_t i = 0; i < k; ++i) {
    const uint8_t* entry = s + i / kBlock * size_t{kStep};
    const uint32_t g = i % kBlock / Kind::kGroup;
    y[i] = Kind::scale(entry, g, j) * static_cast<float>(Kind::code(w, i, j));
    if (Kind::kMin) y[i] = y[i] - Kind::min(entry, g, j);
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

// FP8: the sum over k as for floats, then times the output's scale.
template <float (*kValue)(uint8_t)>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const uint16_t* x = reinterpret_cast<const uint16_t*>(static_cast<const char*>(a.x) + row * a.x_stride);
      float acc[16] = {};
      for (uint32_t i = 0; i < round_up(a.k, 32); ++i)
        for (uint32_t j = 0; j < 16; ++j)
          acc[j] = __builtin_fmaf(from_bf16(x[bf16_place(i)]), kValue(w[i / 4 * size_t{64} + j * 4 + i % 4]), acc[j]);
      for (int j = 0; j < 16; ++j) acc[j] = acc[j] * scale_at<kStepF32>(w_scale, 0, j);
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

void gather_row(linnet_format f, const void* panels, const void* scales, uint32_t n, uint32_t k, uint32_t row, float* y) {
  (void)n;
  const size_t bytes = round_up(k, 32) * size_t{16};
  switch (f) {
#define LINNET_FLOATS(name, NAME, type, bits) \
  case LINNET_##NAME:                         \
    return gather<kStepNone, float_of<type>>(panels, scales, k, row, size_t{k} * sizeof(type) * 16, 0, y);
#define LINNET_FP8(name, NAME, type) \
  case LINNET_##NAME:                \
    return gather<kStepF32, f8_of<from_##name>>(panels, scales, k, row, bytes, 0, y);
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  case LINNET_##NAME:                                                            \
    return gather<kStep##scale, code_of<k##codes>>(panels, scales, k, row, bytes * bits / 8, w_group, y);
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) \
  case LINNET_##NAME:                                       \
    return gather_blocks<kind, block, kStep##scale>(panels, scales, k, row, bytes * bits / 8, y);
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
#define LINNET_FP8(name, NAME, type) {LINNET_##NAME, 1, gemm_f8<from_##name>, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_int<k##codes, (w_group != 0), kStep##scale>, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, bits, block, scale) {LINNET_##NAME, 1, gemm_blocks<kind, block, kStep##scale>, peak_int8},
#include "../runtime/formats.inc"
};

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
    .add_row = add_row,
    .rope_row = rope_row,
    .softmax_block = softmax_block,
    .planes = planes,
    .attn_pv = attn_pv,
    .attn_pv_float = attn_pv_float,
    .byte_table = byte_table,
    .turn_panels = turn_panels,
    .merge_row = merge_row,
    .scale_row = scale_row,
    .find_above = find_above,
    .exp_row = exp_row,
    .gather_row = gather_row,
    .read_all = read_all,
};

}  // namespace

#if !LINNET_IN_NEON32
const KernelTable scalar_table = kTable;
#endif

}  // namespace linnet
