// What the NEON tiers share: sixteen lanes as four registers, and the integer matrix kernels over a way to multiply bytes (Dot). Included
// by neon*.cpp alone, each compiled with its own flags; so everything here has internal linkage.
#pragma once
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE inline __attribute__((always_inline))

namespace linnet {
namespace {

constexpr uint32_t kStateVectors = 1;

struct V {
  float32x4_t v[4];
};
struct Vi {
  int32x4_t v[4];
};
struct M {
  uint32x4_t v[4];  // a lane's bits are all set or all clear
};

INLINE V all(float f) {
  const float32x4_t v = vdupq_n_f32(f);
  return {{v, v, v, v}};
}
// The first n of 16 floats (n may be more than 16), zeros beyond; nothing past them is touched. Tails go through a copy.
INLINE V load(const float* p, uint32_t n = 16) {
  if (n >= 16) return {{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
  alignas(16) float tail[16] = {};
  __builtin_memcpy(tail, p, n * sizeof(float));
  return {{vld1q_f32(tail), vld1q_f32(tail + 4), vld1q_f32(tail + 8), vld1q_f32(tail + 12)}};
}
INLINE void store(float* p, V x, uint32_t n = 16) {
  alignas(16) float tail[16];
  float* to = n < 16 ? tail : p;
  UNROLL for (int i = 0; i < 4; ++i) vst1q_f32(to + i * 4, x.v[i]);
  if (n < 16) __builtin_memcpy(p, tail, n * sizeof(float));
}
#define LINNET_EACH(name, expression)                       \
  INLINE V name(V x, V y) {                                 \
    V r;                                                    \
    UNROLL for (int i = 0; i < 4; ++i) r.v[i] = expression; \
    return r;                                               \
  }
LINNET_EACH(add, vaddq_f32(x.v[i], y.v[i]))
LINNET_EACH(sub, vsubq_f32(x.v[i], y.v[i]))
LINNET_EACH(mul, vmulq_f32(x.v[i], y.v[i]))
LINNET_EACH(div, vdivq_f32(x.v[i], y.v[i]))
// x > y ? x : y, and x < y ? x : y: the second operand where one is NaN.
LINNET_EACH(larger, vbslq_f32(vcgtq_f32(x.v[i], y.v[i]), x.v[i], y.v[i]))
LINNET_EACH(smaller, vbslq_f32(vcltq_f32(x.v[i], y.v[i]), x.v[i], y.v[i]))
#undef LINNET_EACH
INLINE V fma(V x, V y, V z) {
  UNROLL for (int i = 0; i < 4; ++i) z.v[i] = vfmaq_f32(z.v[i], x.v[i], y.v[i]);
  return z;
}

// ---- for rows.h -----------------------------------------------------------------------------------------------------------------

INLINE Vi all_int(int32_t i) {
  const int32x4_t v = vdupq_n_s32(i);
  return {{v, v, v, v}};
}
INLINE V first_lanes() {
  static const float kFirst[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return load(kFirst);
}
#define LINNET_EACH(type, name, arguments, expression)      \
  INLINE type name arguments {                              \
    type r;                                                 \
    UNROLL for (int i = 0; i < 4; ++i) r.v[i] = expression; \
    return r;                                               \
  }
LINNET_EACH(V, fms, (V x, V y, V z), vfmaq_f32(vnegq_f32(z.v[i]), x.v[i], y.v[i]))
LINNET_EACH(V, fnma, (V x, V y, V z), vfmsq_f32(z.v[i], x.v[i], y.v[i]))
LINNET_EACH(V, neg, (V x), vnegq_f32(x.v[i]))
LINNET_EACH(V, abs, (V x), vabsq_f32(x.v[i]))
LINNET_EACH(V, with_sign, (V v, V of), vbslq_f32(vdupq_n_u32(0x80000000u), of.v[i], v.v[i]))
LINNET_EACH(M, without, (M m, M less), vbicq_u32(m.v[i], less.v[i]))
LINNET_EACH(M, above, (V x, V y), vcgtq_f32(x.v[i], y.v[i]))
LINNET_EACH(M, not_below, (V x, V y), vmvnq_u32(vcltq_f32(x.v[i], y.v[i])))
LINNET_EACH(V, keep, (V v, M m), vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v.v[i]), m.v[i])))
LINNET_EACH(V, pick, (M m, V v, V w), vbslq_f32(m.v[i], v.v[i], w.v[i]))
LINNET_EACH(Vi, to_int, (V v), vcvtnq_s32_f32(v.v[i]))
LINNET_EACH(V, power, (V z), vreinterpretq_f32_s32(vaddq_s32(vshlq_n_s32(vreinterpretq_s32_f32(z.v[i]), 23), vdupq_n_s32(0x3F800000))))
LINNET_EACH(Vi, abs_bits, (V v), vreinterpretq_s32_f32(vabsq_f32(v.v[i])))
LINNET_EACH(Vi, larger, (Vi x, Vi y), vmaxq_s32(x.v[i], y.v[i]))
LINNET_EACH(Vi, add, (Vi x, Vi y), vaddq_s32(x.v[i], y.v[i]))
LINNET_EACH(Vi, sub, (Vi x, Vi y), vsubq_s32(x.v[i], y.v[i]))
LINNET_EACH(Vi, bits_of, (Vi c, int32_t mask), vandq_s32(c.v[i], vdupq_n_s32(mask)))
template <int N>
LINNET_EACH(Vi, shift_right, (Vi c), vshrq_n_s32(c.v[i], N))
template <int N>
LINNET_EACH(Vi, shift_left, (Vi c), vshlq_n_s32(c.v[i], N))
template <int N>
LINNET_EACH(Vi, divided, (Vi c), vshrq_n_s32(c.v[i], N))
#undef LINNET_EACH
INLINE M lanes(uint32_t n) {
  const uint32_t first[4] = {0, 1, 2, 3};
  M m;
  UNROLL for (uint32_t i = 0; i < 4; ++i) m.v[i] = vcltq_u32(vaddq_u32(vld1q_u32(first), vdupq_n_u32(i * 4)), vdupq_n_u32(n));
  return m;
}

INLINE float tree_sum(V x) {
  const float32x4_t a = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
  const float32x2_t b = vadd_f32(vget_low_f32(a), vget_high_f32(a));
  return vget_lane_f32(b, 0) + vget_lane_f32(b, 1);
}
INLINE float32x4_t larger4(float32x4_t x, float32x4_t y) { return vbslq_f32(vcgtq_f32(x, y), x, y); }
INLINE float tree_max(V x) {
  const float32x4_t a = larger4(larger4(x.v[0], x.v[2]), larger4(x.v[1], x.v[3]));
  const float32x2_t l = vget_low_f32(a), h = vget_high_f32(a), b = vbsl_f32(vcgt_f32(l, h), l, h);
  const float s = vget_lane_f32(b, 0), t = vget_lane_f32(b, 1);
  return s > t ? s : t;
}
INLINE int32_t largest(Vi x) { return vmaxvq_s32(vmaxq_s32(vmaxq_s32(x.v[0], x.v[1]), vmaxq_s32(x.v[2], x.v[3]))); }
INLINE int32_t total(Vi x) { return vaddvq_s32(vaddq_s32(vaddq_s32(x.v[0], x.v[1]), vaddq_s32(x.v[2], x.v[3]))); }
INLINE void store_bytes(int8_t* q, Vi c, uint32_t n) {
  const int8x16_t bytes = vcombine_s8(vmovn_s16(vcombine_s16(vmovn_s32(c.v[0]), vmovn_s32(c.v[1]))),
                                      vmovn_s16(vcombine_s16(vmovn_s32(c.v[2]), vmovn_s32(c.v[3]))));
  if (n >= 16) return vst1q_s8(q, bytes);
  int8_t tail[16];
  vst1q_s8(tail, bytes);
  for (uint32_t j = 0; j < n; ++j) q[j] = tail[j];
}
INLINE void rotate_pairs(float* x, const float* cos, const float* sin, uint32_t n) {
  if (n > 8) n = 8;
  float both[16] = {}, c[8] = {}, s[8] = {};
  __builtin_memcpy(both, x, n * 8);
  __builtin_memcpy(c, cos, n * 4);
  __builtin_memcpy(s, sin, n * 4);
  UNROLL for (int j = 0; j < 8; j += 4) {
    float32x4x2_t ab = vld2q_f32(both + 2 * j);
    const float32x4_t vc = vld1q_f32(c + j), vs = vld1q_f32(s + j), a = ab.val[0], b = ab.val[1];
    ab.val[0] = vfmaq_f32(vnegq_f32(vmulq_f32(b, vs)), a, vc);
    ab.val[1] = vfmaq_f32(vmulq_f32(a, vs), b, vc);
    vst2q_f32(both + 2 * j, ab);
  }
  __builtin_memcpy(x, both, n * 8);
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------

INLINE void finish(const GemmArgs& a, size_t row, uint32_t panel, V acc) {
  float* y = a.y + row * a.y_stride + panel * size_t{16};
  const V r = a.bias ? add(acc, load(a.bias + panel * size_t{16})) : acc;
  store(y, a.accumulate ? add(load(y), r) : r);
}

// The bits of FP8 input `input` of four outputs as f32: its seven bits lie at the top of an f32's exponent and mantissa, and an exact
// product puts the exponent right, subnormals included. The upper half is the bf16.
template <bool kE4M3>
INLINE uint32x4_t from_f8(uint32x4_t four, int input) {
  constexpr int kDown = kE4M3 ? 4 : 3;
  const uint32x4_t at_top = vshlq_u32(four, vdupq_n_s32(24 - 8 * input));
  const uint32x4_t u =
      vandq_u32(vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(at_top), kDown)), vdupq_n_u32(kE4M3 ? 0x87F00000u : 0x8FE00000u));
  const uint32x4_t magnitude = vbicq_u32(u, vdupq_n_u32(0x80000000u));
  const uint32x4_t special = kE4M3 ? vceqq_u32(magnitude, vdupq_n_u32(0x07F00000u)) : vcgeq_u32(magnitude, vdupq_n_u32(0x0F800000u));
  const float32x4_t f = vmulq_n_f32(vreinterpretq_f32_u32(u), kE4M3 ? 0x1p120f : 0x1p112f);
  return vorrq_u32(vreinterpretq_u32_f32(f), vandq_u32(special, vdupq_n_u32(kE4M3 ? 0x7FC00000u : 0x7F800000u)));
}

// Sixteen signed bytes.
template <class Sixteen>
INLINE Vi widened(const Sixteen& bytes) {
  int8x16_t b;
  __builtin_memcpy(&b, &bytes, 16);
  const int16x8_t low = vmovl_s8(vget_low_s8(b)), high = vmovl_high_s8(b);
  return {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)}};
}
template <bool kF16>
INLINE V load_scales(const char* p) {
  if (!kF16) return load(reinterpret_cast<const float*>(p));
  V r;
  UNROLL for (int i = 0; i < 4; ++i) r.v[i] = vcvt_f32_f16(vld1_f16(reinterpret_cast<const float16_t*>(p) + i * 4));
  return r;
}

INLINE void prefetch(const uint8_t* p) { asm volatile("prfm pldl1keep, %0" ::"Q"(*p)); }
struct Bytes {
  uint8x16_t v[4];
};
INLINE Bytes load_bytes(const uint8_t* p) { return {{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}}; }
INLINE Bytes masked(Bytes v, int bits) {
  UNROLL for (uint8x16_t& b : v.v) b = vandq_u8(b, vdupq_n_u8(static_cast<uint8_t>(bits)));
  return v;
}
INLINE Bytes up(Bytes v, int n) {
  UNROLL for (uint8x16_t& b : v.v) b = vshlq_u8(b, vdupq_n_s8(static_cast<int8_t>(n)));
  return v;
}
INLINE Bytes down(Bytes v, int n) { return up(v, -n); }
INLINE Bytes join(Bytes v, Bytes w) {
  UNROLL for (int i = 0; i < 4; ++i) v.v[i] = vorrq_u8(v.v[i], w.v[i]);
  return v;
}
INLINE Bytes where(Bytes v, int at) {
  const auto byte = static_cast<uint8_t>(at / 8);
  const uint8_t kWhich[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  const uint8x16_t which = vaddq_u8(vld1q_u8(kWhich), vdupq_n_u8(byte)),
                   bits = vreinterpretq_u8_u32(vdupq_n_u32(at % 8 ? 0x80402010u : 0x08040201u));
  UNROLL for (uint8x16_t& b : v.v) b = vtstq_u8(vqtbl1q_u8(b, which), bits);
  return v;
}
INLINE Bytes flip(Bytes v, int bits) {
  UNROLL for (uint8x16_t& b : v.v) b = veorq_u8(b, vdupq_n_u8(static_cast<uint8_t>(bits)));
  return v;
}
INLINE Bytes thirds(Bytes v) {
  UNROLL for (uint8x16_t& b : v.v) b = vshrq_n_u8(vhaddq_u8(b, vshrq_n_u8(b, 1)), 6);
  return v;
}
INLINE Bytes side_by_side(const uint8_t* p) {
  uint16x8_t pairs[2][2];  // of outputs 0 to 7 and 8 to 15
  UNROLL for (int i = 0; i < 2; ++i) {
    const uint8x16_t first = vld1q_u8(p + i * 32), second = vld1q_u8(p + i * 32 + 16);
    pairs[0][i] = vreinterpretq_u16_u8(vzip1q_u8(first, second));
    pairs[1][i] = vreinterpretq_u16_u8(vzip2q_u8(first, second));
  }
  Bytes v;
  UNROLL for (int i = 0; i < 2; ++i) {
    v.v[i * 2] = vreinterpretq_u8_u16(vzip1q_u16(pairs[i][0], pairs[i][1]));
    v.v[i * 2 + 1] = vreinterpretq_u8_u16(vzip2q_u16(pairs[i][0], pairs[i][1]));
  }
  return v;
}
INLINE Bytes plus(Bytes v, Bytes w) {
  UNROLL for (int i = 0; i < 4; ++i) v.v[i] = vaddq_u8(v.v[i], w.v[i]);
  return v;
}
INLINE Bytes negated(Bytes v, Bytes w) {
  UNROLL for (int i = 0; i < 4; ++i) v.v[i] = vsubq_u8(veorq_u8(v.v[i], w.v[i]), w.v[i]);
  return v;
}
template <class At>
INLINE Bytes from_book(const uint32_t* book, const At& at) {
  Bytes v;
  UNROLL for (int i = 0; i < 4; ++i) {
    uint32x4_t w = vdupq_n_u32(book[at(i * 4)]);
    w = vld1q_lane_u32(book + at(i * 4 + 1), w, 1);
    w = vld1q_lane_u32(book + at(i * 4 + 2), w, 2);
    v.v[i] = vreinterpretq_u8_u32(vld1q_lane_u32(book + at(i * 4 + 3), w, 3));
  }
  return v;
}
INLINE void store_bytes(int8_t* p, Bytes v) { UNROLL for (int i = 0; i < 4; ++i) vst1q_u8(reinterpret_cast<uint8_t*>(p) + i * 16, v.v[i]); }
INLINE Bytes chosen(const int8_t* table, Bytes v) {
  UNROLL for (uint8x16_t& b : v.v) b = vreinterpretq_u8_s8(vqtbl1q_s8(vld1q_s8(table), b));
  return v;
}
INLINE V floats(Vi x) {
  V r;
  UNROLL for (int i = 0; i < 4; ++i) r.v[i] = vcvtq_f32_s32(x.v[i]);
  return r;
}
INLINE void choose(const int8_t* table, const uint8_t* nibbles, int8_t* low, int8_t* high) {
  const int8x16_t t = vld1q_s8(table);
  UNROLL for (int i = 0; i < 64; i += 16) {
    const uint8x16_t both = vld1q_u8(nibbles + i);
    vst1q_s8(low + i, vqtbl1q_s8(t, vandq_u8(both, vdupq_n_u8(15))));
    vst1q_s8(high + i, vqtbl1q_s8(t, vshrq_n_u8(both, 4)));
  }
}
// kNibblesZero: what takes back the zero points of quarter q of a panel, which lie behind its group's scales.
INLINE int32x4_t zero_sum(const char* scales, int q, int32_t sum128) {
  uint32_t four;
  __builtin_memcpy(&four, scales + 32 + q * 4, 4);
  const uint16x8_t zeros = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)));
  return vmulq_n_s32(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(zeros))), sum128 / 128);
}

// Codes of 4 outputs (quarter q of a panel) by 8 inputs, as two registers of 4 inputs each. Four-bit codes stay 0..15.
struct Pair {
  int8x16_t first, second;
};
template <Codes kCodes>
INLINE Pair load_pair(const uint8_t* w, int q) {
  if (kCodes != kBytes) {
    const uint8x16_t v = vld1q_u8(w + q * 16);
    return {vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15))), vreinterpretq_s8_u8(vshrq_n_u8(v, 4))};
  }
  return {vreinterpretq_s8_u8(vld1q_u8(w + q * 16)), vreinterpretq_s8_u8(vld1q_u8(w + 64 + q * 16))};
}

constexpr uint32_t kBlockK =
    256;  // inputs; a multiple of all groups: a panel's weights, 4 KiB, stay in the first-level cache while the rows go by
constexpr uint32_t kBlockRows = 132;  // at most

// Which inputs: `n` from `from` on, whole groups but at the end.
struct Part {
  uint32_t from, n;
};

// R rows by one panel by some inputs, kQuarters of its quarters at a time, as many as sums fit in the registers. scale_step: bytes from one
// group's weight scales to the next, 0 for format i8. acc[r * 4]: a row's sums before and after, in memory, since the registers are the
// inner loop's.
template <class Dot, int R, int kQuarters, Codes kCodes, bool kF16>
void int_tile(const GemmArgs& a, uint32_t row, uint32_t panel, Part part, size_t scale_step, float (*acc)[16]) {
  constexpr size_t kEight = kCodes == kBytes ? 128 : 64;  // bytes of 8 inputs
  const size_t group_from = part.from / a.x_group;
  const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride + part.from;
  const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride + part.from / 8 * kEight;
  const char* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride + group_from * scale_step;
  const float* x_scale = a.x_scale + row * size_t{a.x_groups} + group_from;
  const int32_t* x_sum = a.x_sum128 + row * size_t{a.x_groups} + group_from;
  if (part.from == 0)
    for (int r = 0; r < R; ++r) store(acc[r * 4], all(0.0f));
  for (uint32_t left = part.n; left;) {
    const uint32_t group = left < a.x_group ? left : a.x_group;
    left -= group;
    const V ws = load_scales<kF16>(w_scale);
    UNROLL for (int first = 0; first < 4; first += kQuarters) {
      Dot dot[(R + Dot::kRows - 1) / Dot::kRows];
      const uint8_t* wq = w;
      for (const int8_t *xq = x, *end = x + group; xq != end; xq += 16, wq += 2 * kEight) {
        int8x16_t xv[R];
        UNROLL for (int r = 0; r < R; ++r) xv[r] = vld1q_s8(xq + static_cast<size_t>(r) * a.x_stride);
        UNROLL for (int half = 0; half < 2; ++half) UNROLL for (int q = first; q < first + kQuarters; ++q) {
          const Pair p = load_pair<kCodes>(wq + static_cast<size_t>(half) * kEight, q);
          UNROLL for (int r = 0; r < R; r += Dot::kRows) dot[r / Dot::kRows].add(q, half, p, xv + r);
        }
      }
      UNROLL for (int r = 0; r < R; ++r) {
        const float xs = x_scale[static_cast<size_t>(r) * a.x_groups];
        const int32_t sum128 = x_sum[static_cast<size_t>(r) * a.x_groups];  // takes back what codes are stored more
        int32x4_t back = vdupq_n_s32(kCodes == kNibbles ? sum128 / 16 : 0);
        UNROLL for (int q = first; q < first + kQuarters; ++q) {
          if (kCodes == kNibblesZero) back = zero_sum(w_scale, q, sum128);
          const float32x4_t d = vcvtq_f32_s32(vaddq_s32(dot[r / Dot::kRows].total(q, r % Dot::kRows), back));
          vst1q_f32(acc[r * 4] + q * 4, vfmaq_f32(vld1q_f32(acc[r * 4] + q * 4), d, vmulq_n_f32(ws.v[q], xs)));
        }
      }
    }
    x += group;
    w += group / 8 * kEight;
    w_scale += scale_step;
    ++x_scale;
    ++x_sum;
  }
  if (part.from + part.n >= a.k)
    for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel, load(acc[r * 4]));
}

// One multiplies for a row alone, Many for 2 and R rows (R a power of two). More than R rows go by a part of a panel's inputs at a time,
// which stays in the first-level cache, and by four panels before the next part, so that x comes from beyond the second-level one less
// often.
template <class One, class Many, int R, int kQuarters, Codes kCodes, bool kF16>
void gemm_int(const GemmArgs* args, size_t scale_step) {
  using Tile = void (*)(const GemmArgs&, uint32_t, uint32_t, Part, size_t, float(*)[16]);
  const GemmArgs& a = *args;
  const uint32_t k = (a.k + 31) / 32 * 32, most = a.m > R ? kBlockK : k;
  alignas(16) float acc[kBlockRows * 4][16];  // [row][panel]
  for (uint32_t from = 0, blocks = (a.m + kBlockRows - 1) / kBlockRows; blocks; --blocks) {
    const uint32_t to = from + (a.m - from) / blocks;
    for (uint32_t panel = 0; panel < a.n_panels; panel += 4)
      for (Part part{0, 0}; part.from < k; part.from += part.n) {
        part.n = k - part.from < most ? k - part.from : most;
        for (uint32_t p = 0; p < 4 && panel + p < a.n_panels; ++p)
          for (uint32_t row = from; row < to;) {
            const uint32_t left = to - row;
            uint32_t rows = 1;
            Tile tile = int_tile<One, 1, 4, kCodes, kF16>;
            if (left >= R)
              rows = R, tile = int_tile<Many, R, kQuarters, kCodes, kF16>;
            else if (R > 4 && left >= 4)
              rows = 4, tile = int_tile < Many, R < 4 ? R : 4, 4, kCodes, kF16 > ;
            else if (left >= 2)
              rows = 2, tile = int_tile<Many, 2, 4, kCodes, kF16>;
            tile(a, row, panel + p, part, scale_step, acc + (row - from) * 4 + p);
            row += rows;
          }
      }
    from = to;
  }
}

// The integer entries of a tier; kStep as scale_step.
template <class One, class Many, int R, int kQuarters>
struct IntKernels {
  template <Codes kCodes, uint32_t kStep>
  static void of(const GemmArgs* a) {
    gemm_int<One, Many, R, kQuarters, kCodes, kStep != 0 && kStep != kStepF32>(a, kStep);
  }
};

// ---- attention --------------------------------------------------------------------------------------------------------------

// One row by one panel of 16 channels: both planes of P are rows of the same product.
template <class Dot>
void attn_pv_by(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
                const float* p_scale, float* acc, size_t acc_stride, Fetch*) {
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t d = 0; d < d_panels; ++d) {
      Dot dot[2 / Dot::kRows];
      for (uint32_t i = 0; i < n_pages; ++i) {
        const uint8_t* v = reinterpret_cast<const uint8_t*>(pages[i]) + d * size_t{256};
        const int8x16_t xv[2] = {vreinterpretq_s8_u8(vld1q_u8(hi + r * size_t{256} + i * 16)),
                                 vreinterpretq_s8_u8(vld1q_u8(lo + r * size_t{256} + i * 16))};
        UNROLL for (int half = 0; half < 2; ++half) UNROLL for (int q = 0; q < 4; ++q) {
          const Pair p = load_pair<kBytes>(v + half * 128, q);
          UNROLL for (int j = 0; j < 2; j += Dot::kRows) dot[j / Dot::kRows].add(q, half, p, xv + j);
        }
      }
      float* out = acc + r * acc_stride + d * size_t{16};
      UNROLL for (int q = 0; q < 4; ++q) {
        const int32x4_t sum = vaddq_s32(vshlq_n_s32(dot[0].total(q, 0), 7), dot[1 / Dot::kRows].total(q, 1 % Dot::kRows));
        vst1q_f32(out + q * 4, vmulq_n_f32(vcvtq_f32_s32(sum), p_scale[r]));
      }
    }
}

// Four inputs, beside the codes of all outputs.
INLINE int8x16_t four_inputs(const int8_t* x) {
  uint32_t four;
  __builtin_memcpy(&four, x, 4);
  return vreinterpretq_s8_u32(vdupq_n_u32(four));
}
#if defined(__ARM_FEATURE_DOTPROD)
struct RowProduct {
  static constexpr int kMost = 127, kRegisters = 8, kRows = 2;
  static constexpr uint32_t kManyRows = 3, kManyDear = 3;
  static INLINE int8x16_t four(const int8_t* x) { return four_inputs(x); }
  template <int kMost>
  struct Sum {
    Vi sum = all_int(0);
    INLINE void add(Bytes codes, int8x16_t x) {
      UNROLL for (int q = 0; q < 4; ++q) asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum.v[q]) : "w"(codes.v[q]), "w"(x));
    }
    INLINE Vi total() const { return sum; }
  };
};
#endif

}  // namespace
}  // namespace linnet
