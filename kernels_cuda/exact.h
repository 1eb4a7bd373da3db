// The arithmetic of kernels_cpu/scalar.cpp in device code: the same operations in the same order, so the same bits.
#pragma once
#include "device.h"
#include "rows_args.h"

namespace linnet {

// The integer nearest to v clamped to lo..hi, ties to even; NaN gives lo.
LINNET_ON_GPU int round_clamped(float v, float lo, float hi) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23 leaves an integer in the low bits
  v = v > lo ? v : lo;
  v = v < hi ? v : hi;
  return static_cast<int>(bits_of(v + kRound) - bits_of(kRound));
}

struct ExpParts {
  float q, r, power;  // fma_of(q, r, 1) * power
};
LINNET_ON_GPU ExpParts exp_parts(float x) {
  constexpr float kRound = 12582912.0f;
  float t = x < -87.33f ? -87.33f : x;
  t = t > 88.37f ? 88.37f : t;
  const float z = fma_of(t, 0x1.715476p+0f, kRound);
  const float n = z - kRound;
  float r = fma_of(n, -0x1.62e400p-1f, t);
  r = fma_of(n, -0x1.7f7d1cp-20f, r);
  float p = 0x1.6a2242p-10f;
  p = fma_of(p, r, 0x1.123b0ep-7f);
  p = fma_of(p, r, 0x1.5558f8p-5f);
  p = fma_of(p, r, 0x1.555490p-3f);
  p = fma_of(p, r, 0x1.fffffcp-2f);
  p = fma_of(p, r, 1.0f);
  return {p, r, float_of((bits_of(z) << 23) + 0x3F800000u)};
}
LINNET_ON_GPU float exp_one(float x) {
  const ExpParts e = exp_parts(x);
  return x < -87.33f ? 0.0f : fma_of(e.q, e.r, 1.0f) * e.power;
}

LINNET_ON_GPU float abs_of(float v) { return float_of(bits_of(v) & 0x7FFFFFFFu); }
LINNET_ON_GPU float with_sign_of(float v, float sign) { return float_of((bits_of(v) & 0x7FFFFFFFu) | (bits_of(sign) & 0x80000000u)); }
// rope_log of rope.cpp.
LINNET_ON_GPU double log_of(double x) {
  uint64_t bits = double_bits(x);
  int e = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m = double_of(bits);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
  return e * 6.93147180369123816490e-01 + (e * 1.90821492927058770002e-10 + 2 * t * sum);
}
LINNET_ON_GPU float softplus(float x) {
  const float e = exp_one(-abs_of(x));
  return static_cast<float>((x > 0 ? static_cast<double>(x) : 0) + log_of(1 + static_cast<double>(e)));
}
// cap * tanh(x / cap).
LINNET_ON_GPU float soft_cap(float x, float cap) {
  const float z = exp_one(abs_of(x / cap) * -2.0f);
  return cap * with_sign_of((1.0f - z) / (1.0f + z), x);
}

// The tree 8-4-2-1 over 16 partial sums, lane l of a whole warp holding number l % 16.
LINNET_ON_GPU float tree_sum(float s) {
  for (int step = 8; step; step /= 2) s = s + shuffle_xor(s, step);
  return s;
}

LINNET_ON_GPU uint32_t bf16_of(float f) {
  const uint32_t u = bits_of(f);
  return (u & 0x7FFFFFFFu) > 0x7F800000u ? u >> 16 | 0x40u : (u + 0x7FFFu + (u >> 16 & 1u)) >> 16;
}

// Rows go through warps as quads: lane l of a warp has elements i = 128 * span + 4 * l to i + 3; zeros from n on.
LINNET_ON_GPU void load_quad(const float* x, uint32_t i, uint32_t n, float (&v)[4]) {
  if (i + 4 <= n && (reinterpret_cast<size_t>(x + i) & 15) == 0) {
    const float4 t = *reinterpret_cast<const float4*>(x + i);
    v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
  } else {
    for (uint32_t j = 0; j < 4; ++j) v[j] = i + j < n ? x[i + j] : 0.0f;
  }
}
LINNET_ON_GPU void store_quad(float* y, uint32_t i, uint32_t n, const float (&v)[4]) {
  if (i + 4 <= n && (reinterpret_cast<size_t>(y + i) & 15) == 0) {
    float4 t;
    t.x = v[0], t.y = v[1], t.z = v[2], t.w = v[3];
    *reinterpret_cast<float4*>(y + i) = t;
  } else {
    for (uint32_t j = 0; j < 4; ++j)
      if (i + j < n) y[i + j] = v[j];
  }
}

// A quad of a row of k into q, with its group's scale and sum: groups are runs of lanes. All lanes of the warp call it.
LINNET_ON_GPU void quantize_quad(const CudaQuant& q, uint32_t row, uint32_t i, uint32_t k, float (&v)[4]) {
  for (uint32_t j = 0; j < 4; ++j)
    if (i + j >= k) v[j] = 0;
  uint8_t* to = q.q + row * q.stride;
  const bool inside = i < (k + 31) / 32 * 32;
  if (q.kind == kCudaBf16) {
    uint2 t;  // order 0 2 1 3
    t.x = bf16_of(v[0]) | bf16_of(v[2]) << 16;
    t.y = bf16_of(v[1]) | bf16_of(v[3]) << 16;
    if (inside) *reinterpret_cast<uint2*>(to + i * 2) = t;
    return;
  }
  int most = 0;
  for (uint32_t j = 0; j < 4; ++j) {
    const int a = static_cast<int>(bits_of(v[j]) & 0x7FFFFFFFu);
    most = a > most ? a : most;
  }
  for (uint32_t lanes = 1; lanes * 4 < q.group; lanes *= 2) {
    const int a = shuffle_xor(most, static_cast<int>(lanes));
    most = a > most ? a : most;
  }
  const bool ok = most < 0x7F800000;
  const float amax = ok ? float_of(static_cast<uint32_t>(most)) : 0.0f;
  const float inv = amax > 1e-30f ? 127.0f / amax : 0.0f;
  int sum = 0;
  uint32_t codes = 0;
  for (uint32_t j = 0; j < 4; ++j) {
    const int c = ok ? round_clamped(v[j] * inv, -127.0f, 127.0f) : 0;
    sum += c;
    codes |= (static_cast<uint32_t>(c) & 255u) << (8 * j);
  }
  for (uint32_t lanes = 1; lanes * 4 < q.group; lanes *= 2) sum += shuffle_xor(sum, static_cast<int>(lanes));
  if (!ok) *q.not_finite = 1;
  if (inside) *reinterpret_cast<uint32_t*>(to + i) = codes;
  if (i % q.group == 0 && i < k) {
    const uint64_t at = uint64_t{row} * q.groups + i / q.group;
    q.scale[at] = amax / 127.0f;
    q.sum128[at] = -128 * sum;
  }
}

}  // namespace linnet
