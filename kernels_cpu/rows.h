// Operations on rows, sixteen lanes at a time: one text for every tier with vectors of floats, bit-equal to scalar.cpp. A tier's header
// says what its lanes are, and is included before, by files that are compiled with its flags; so everything here has internal linkage.
//   V, Vi, M                  16 floats; 16 int32; 16 times yes or no
//   load(p), store(p, v)      of all; load(p, n), store(p, v, n): of the first n, which may be more than 16; zeros beyond
//   all(f), all_int(i), first_lanes()   the same in each; 0.0f to 15.0f
//   add sub mul div, fma(x, y, z), fms, fnma   x * y + z, x * y - z, z - x * y, each rounded once
//   larger, smaller           x > y ? x : y, x < y ? x : y: the second operand where one is NaN
//   neg, abs, with_sign(v, of)   signs; v is not negative
//   lanes(n), without(m, less)   the first n of M, which may be more than 16; those of m that are not in less
//   above(x, y), not_below(x, y)   x > y; not x < y, so yes for NaN
//   keep(v, m), pick(m, v, w)   v where m, zeros or w elsewhere
//   to_int, power(z)          to the nearest, ties to even; 2^n of z = 12582912 + n
//   abs_bits, larger, add, sub, shift_right<N>, shift_left<N>, bits_of(c, mask)   of Vi
//   tree_sum, tree_max        by the tree 8-4-2-1; total, largest of Vi
//   store_bytes(q, c, n)      the first n as bytes; values fit
//   rotate_pairs(x, cos, sin, n)   8 pairs that lie beside each other, or n where that is less
//   kStateVectors             so many V of a state are worked on at once
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "kernels.h"

namespace linnet {
namespace {

INLINE uint32_t amax_of(const float* x, uint32_t n) {  // in line: rows come in groups as small as two vectors
  Vi max = all_int(0);
  for (uint32_t i = 0; i < n; i += 16) max = larger(max, abs_bits(load(x + i, n - i)));
  return static_cast<uint32_t>(largest(max));
}
uint32_t amax_bits(const float* x, uint32_t n) { return amax_of(x, n); }

// lo where v is NaN.
INLINE Vi round_clamped(V v, V lo, V hi) { return to_int(smaller(larger(v, lo), hi)); }

void codes(const float* x, uint32_t n, float inv, int8_t* q) {
  const V vi = all(inv), lo = all(-127.0f), hi = all(127.0f);
  for (uint32_t i = 0; i < n; i += 16) store_bytes(q + i, round_clamped(mul(load(x + i, n - i), vi), lo, hi), n - i);
}

uint32_t quantize_row(const float* x, uint32_t k, uint32_t group, int8_t* q, float* scale, int32_t* sum128) {
  const V lo = all(-127.0f), hi = all(127.0f);
  uint32_t finite = 1;
  for (uint32_t g = 0, from = 0; from < k; ++g, from += group) {
    const uint32_t n = k - from < group ? k - from : group;
    uint32_t amax_u = amax_of(x + from, n);
    const bool ok = amax_u < 0x7F800000u;
    if (!ok) finite = amax_u = 0;
    float amax;
    __builtin_memcpy(&amax, &amax_u, 4);
    const V inv = all(amax > 1e-30f ? 127.0f / amax : 0.0f);
    Vi sum = all_int(0);
    const uint32_t there = ok ? n : 0;
    for (uint32_t i = 0; i < (n + 31) / 32 * 32; i += 16) {  // stores run to the next multiple of 32
      const V v = i < there ? load(x + from + i, there - i) : all(0.0f);
      const Vi c = round_clamped(mul(v, inv), lo, hi);
      sum = add(sum, c);
      store_bytes(q + from + i, c, 16);
    }
    scale[g] = amax / 127.0f;
    sum128[g] = -128 * total(sum);
  }
  return finite;
}

void rmsnorm_row(const float* x, const float* w, uint32_t n, float eps, float* y) {
  V ss = all(0.0f);
  for (uint32_t i = 0; i < n; i += 16) {
    const V v = load(x + i, n - i);
    ss = fma(v, v, ss);  // lanes past the row add +0 to a sum of squares: no change
  }
  const V r = all(1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps));
  for (uint32_t i = 0; i < n; i += 16) store(y + i, mul(mul(load(x + i, n - i), r), load(w + i, n - i)), n - i);
}

void layernorm_row(const float* x, const float* w, const float* b, uint32_t n, float eps, float* y) {
  V s = all(0.0f), ss = all(0.0f);
  for (uint32_t i = 0; i < n; i += 16) s = add(s, load(x + i, n - i));  // lanes past the row add +0 to what is never -0
  const V mean = all(tree_sum(s) / static_cast<float>(n));
  for (uint32_t i = 0; i < n; i += 16) {
    V d = sub(load(x + i, n - i), mean);
    if (n - i < 16) d = keep(d, lanes(n - i));
    ss = fma(d, d, ss);
  }
  const V r = all(1.0f / __builtin_sqrtf(tree_sum(ss) / static_cast<float>(n) + eps));
  for (uint32_t i = 0; i < n; i += 16) {
    const V t = mul(sub(load(x + i, n - i), mean), r), wv = load(w + i, n - i);
    store(y + i, b ? fma(t, wv, load(b + i, n - i)) : mul(t, wv), n - i);
  }
}

// exp_one of scalar.cpp. Of what is zero at most: bounds change nothing, since results for what lies below are zeros.
struct ExpParts {
  V q, r, z;  // fma(q, r, 1) * power(z)
};
template <bool kAtMostZero = false>
INLINE ExpParts exp_parts(V x) {
  const V round = all(12582912.0f);
  const V t = kAtMostZero ? x : smaller(all(88.37f), larger(all(-87.33f), x));  // the second operand is kept if it is NaN
  const V z = fma(t, all(0x1.715476p+0f), round);
  const V n = sub(z, round);
  V r = fma(n, all(-0x1.62e400p-1f), t);
  r = fma(n, all(-0x1.7f7d1cp-20f), r);
  V p = all(0x1.6a2242p-10f);
  p = fma(p, r, all(0x1.123b0ep-7f));
  p = fma(p, r, all(0x1.5558f8p-5f));
  p = fma(p, r, all(0x1.555490p-3f));
  p = fma(p, r, all(0x1.fffffcp-2f));
  p = fma(p, r, all(1.0f));
  return {p, r, z};
}
template <bool kAtMostZero = false>
INLINE V exp16(V x) {
  const ExpParts e = exp_parts<kAtMostZero>(x);
  return keep(mul(fma(e.q, e.r, all(1.0f)), power(e.z)), not_below(x, all(-87.33f)));
}

void exp_row(float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16) store(x + i, exp16(load(x + i, n - i)), n - i);
}

// ---- y = f(g) * u; u may be NULL ------------------------------------------------------------------------------------------------

INLINE void store_times(float* y, V v, const float* u, uint32_t i, uint32_t n) { store(y + i, u ? mul(v, load(u + i, n - i)) : v, n - i); }

void silu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; i += 16) {
    const V v = load(g + i, n - i);
    store_times(y, div(v, add(all(1.0f), exp16(neg(v)))), u, i, n);
  }
}

void gelu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; i += 16) {
    const V v = load(g + i, n - i);
    const V e = exp16(mul(mul(v, all(-1.5957691216f)), fma(mul(v, all(0.044715f)), v, all(1.0f))));
    store_times(y, div(v, add(all(1.0f), e)), u, i, n);
  }
}

void gelu_erf_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  const V one = all(1.0f), half = all(0.5f);
  for (uint32_t i = 0; i < n; i += 16) {
    const V v = load(g + i, n - i), z = mul(abs(v), all(0.70710678f));
    const V t = div(one, fma(z, half, one));
    V p = all(-0x1.4a89a2p-4f);
    p = fma(p, t, all(0x1.0bbe4ap-2f));
    p = fma(p, t, all(-0x1.147ca4p-4f));
    p = fma(p, t, all(-0x1.35bc38p-1f));
    p = fma(p, t, all(0x1.0bd63ep-1f));
    p = fma(p, t, all(0x1.a2a500p-3f));
    p = fma(p, t, all(0x1.082df2p+0f));
    p = fma(p, t, all(-0x1.448ec4p+0f));
    const V h = mul(mul(t, half), exp16(fnma(z, z, p)));
    store_times(y, mul(v, pick(above(v, all(0.0f)), sub(one, h), h)), u, i, n);
  }
}

void taps_row(const float* const* rows, const float* w, uint32_t stride, uint32_t taps, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; i += 16) {
    V sum = mul(load(w + i, n - i), load(rows[0] + i, n - i));
    for (uint32_t t = 1; t < taps; ++t) sum = add(sum, mul(load(w + t * size_t{stride} + i, n - i), load(rows[t] + i, n - i)));
    store(y + i, sum, n - i);
  }
}

void sigmoid_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; i += 16) store_times(y, div(all(1.0f), add(all(1.0f), exp16(neg(load(g + i, n - i))))), u, i, n);
}

void relu_mul_row(const float* g, const float* u, uint32_t n, float* y) {
  for (uint32_t i = 0; i < n; i += 16) store_times(y, larger(load(g + i, n - i), all(0.0f)), u, i, n);
}

void xielu_row(const float* x, const float* by, uint32_t n, float* y) {
  const V p = all(by[0]), a = all(by[1]), beta = all(by[2]), eps = all(by[3]);
  for (uint32_t i = 0; i < n; i += 16) {
    const V v = load(x + i, n - i), line = mul(beta, v);
    const ExpParts e = exp_parts(smaller(v, eps));
    const V s = power(e.z), less = sub(fma(mul(e.q, e.r), s, sub(s, all(1.0f))), v);
    store(y + i, pick(above(v, all(0.0f)), fma(mul(p, v), v, line), fma(a, less, line)), n - i);
  }
}

// ---- sums and rotations ---------------------------------------------------------------------------------------------------------

void add_row(float* y, const float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; i += 16) store(y + i, add(load(y + i, n - i), load(x + i, n - i)), n - i);
}

void merge_row(float* y, const float* x, uint32_t n, float a, float b) {
  for (uint32_t i = 0; i < n; i += 16) store(y + i, fma(load(x + i, n - i), all(b), mul(load(y + i, n - i), all(a))), n - i);
}

// P vectors of a state's channels beside each other, or the first n of one, through all tokens: while these stay in the first-level cache.
// A token reads the state for the next one as it writes it.
template <DeltaKind kKind, uint32_t P, bool kTail>
inline void delta_channels(const DeltaSteps& a, uint32_t channel, uint32_t n) {
  constexpr bool kByKey = kKind == DeltaKind::kByKey, kCorrects = kKind != DeltaKind::kUncorrected;
  const auto at = [&](const float* p, uint32_t i) { return kTail ? load(p, n) : load(p + i * 16); };
  const auto put = [&](float* p, uint32_t i, V x) { kTail ? store(p, x, n) : store(p + i * 16, x); };
  float* const s = a.s + channel / kStatePanel * kStatePanel * a.key_dim + channel % kStatePanel;
  V read[P], out[P], d[P];
  UNROLL for (V& r : read) r = all(0.0f);
  float* row = s;
  for (uint32_t key = 0; kCorrects && key < a.key_dim; ++key, row += kStatePanel) UNROLL for (uint32_t i = 0; i < P; ++i) {
      if constexpr (kByKey)
        read[i] = fma(all(a.k[key]), mul(all(a.by_key[key]), at(row, i)), read[i]);
      else
        read[i] = fma(all(a.k[key]), at(row, i), read[i]);
    }
  for (uint32_t t = 0; t < a.n; ++t) {
    const float *q = a.q + t * a.stride, *k = a.k + t * a.stride, *v = a.v + t * a.stride + channel;
    const float* const fades = kByKey ? a.by_key + t * a.stride : nullptr;
    const V fade = all(kByKey ? 0.0f : a.fade[t]), beta = all(a.beta[t]);
    UNROLL for (uint32_t i = 0; i < P; ++i) {
      d[i] = mul(beta, !kCorrects ? at(v, i) : sub(at(v, i), kByKey ? read[i] : mul(fade, read[i])));
      read[i] = all(0.0f);
      out[i] = kCorrects ? read[i] : mul(all(a.skip), at(v, i));
    }
    row = s;
    const auto step = [&](auto reads) {
      for (uint32_t key = 0; key < a.key_dim; ++key, row += kStatePanel) {
        const V by_k = all(k[key]), by_q = all(q[key]), by_next = all(reads ? k[a.stride + key] : 0.0f);  // before stores, which may alias
        const V own = kByKey ? all(fades[key]) : fade, next = all(kByKey && reads ? fades[a.stride + key] : 0.0f);
        UNROLL for (uint32_t i = 0; i < P; ++i) {
          const V x = fma(by_k, d[i], mul(own, at(row, i)));
          put(row, i, x);
          out[i] = fma(by_q, x, out[i]);
          if constexpr (reads) read[i] = fma(by_next, kByKey ? mul(next, x) : x, read[i]);
        }
      }
    };
    if (kCorrects && t + 1 < a.n)
      step(std::bool_constant<kCorrects>());
    else
      step(std::false_type());
    UNROLL for (uint32_t i = 0; i < P; ++i) put(a.o + t * a.stride + channel, i, out[i]);
  }
}
template <DeltaKind kKind>
inline void delta_panels(const DeltaSteps& a) {
  uint32_t j = 0;
  static_assert(kStatePanel % (kStateVectors * 16) == 0);
  for (constexpr uint32_t n = kStateVectors * 16; j + n <= a.value_dim; j += n) delta_channels<kKind, kStateVectors, false>(a, j, 0);
  for (; j < a.value_dim; j += 16) delta_channels<kKind, 1, true>(a, j, a.value_dim - j);
}
void delta_steps(const DeltaSteps& a) {
  switch (a.kind) {
    case DeltaKind::kByHead:
      return delta_panels<DeltaKind::kByHead>(a);
    case DeltaKind::kByKey:
      return delta_panels<DeltaKind::kByKey>(a);
    case DeltaKind::kUncorrected:
      return delta_panels<DeltaKind::kUncorrected>(a);
  }
}

void scale_row(float* y, uint32_t n, float a) {
  for (uint32_t i = 0; i < n; i += 16) store(y + i, mul(load(y + i, n - i), all(a)), n - i);
}

void rope_row(float* x, const float* cos, const float* sin, uint32_t n_pairs, uint32_t interleaved) {
  if (interleaved) {
    for (uint32_t i = 0; i < n_pairs; i += 8) rotate_pairs(x + 2 * i, cos + i, sin + i, n_pairs - i);
    return;
  }
  for (uint32_t i = 0; i < n_pairs; i += 16) {
    const uint32_t n = n_pairs - i;
    const V a = load(x + i, n), b = load(x + n_pairs + i, n), c = load(cos + i, n), s = load(sin + i, n);
    store(x + i, fms(a, c, mul(b, s)), n);
    store(x + n_pairs + i, fma(b, c, mul(a, s)), n);
  }
}

// ---- attention ------------------------------------------------------------------------------------------------------------------

// Lanes of s[i..i + 15] that lie in from..to - 1.
INLINE M between(uint32_t i, uint32_t from, uint32_t to) {
  const M k = lanes(to - i);
  return from > i ? without(k, lanes(from - i)) : k;
}

INLINE V soft_cap(V v, float cap) {
  const V x = div(v, all(cap)), z = exp16(mul(abs(x), all(-2.0f))), one = all(1.0f);
  return mul(all(cap), with_sign(div(sub(one, z), add(one, z)), x));
}

INLINE V add_bias(V v, uint32_t i, float slope, float origin) {
  return fma(all(slope), sub(add(first_lanes(), all(static_cast<float>(i))), all(origin)), v);
}

// Asking: of line(), called at each step of 16, and done(next), what of `next` is asked for.
template <class Asking>
void softmax_block(float* s, uint32_t from, uint32_t to, uint32_t n_pad, float scale, float slope, float origin, float cap, float* m,
                   float* l, Fetch* next) {
  const V vs = all(scale), nothing = all(-__builtin_inff());
  V max = nothing, sum = all(0.0f);
  const uint32_t first = from / 16 * 16;
  for (uint32_t i = first; i < to; i += 16) {
    V v = mul(load(s + i), vs);  // n_pad is a multiple of 16
    if (slope != 0) v = add_bias(v, i, slope, origin);
    if (cap > 0) v = soft_cap(v, cap);
    store(s + i, v);
    if (to - i < 16 || from > i) v = pick(between(i, from, to), v, nothing);
    max = larger(v, max);
  }
  *m = tree_max(max) + 0.0f;
  const V vm = all(*m);
  for (uint32_t i = 0; i < first; i += 16) store(s + i, all(0.0f));
  uint32_t i = first;
  Asking asking(next, n_pad / 16, s);
  for (; i < to; i += 16) {
    asking.line();
    V e = exp16<true>(sub(load(s + i), vm));
    if (to - i < 16 || from > i) e = keep(e, between(i, from, to));
    store(s + i, e);
    sum = add(sum, e);
  }
  for (; i < n_pad; i += 16) store(s + i, all(0.0f));
  asking.done(next);
  *l = tree_sum(sum);
}

template <class Asking>
float planes(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo, Fetch* next) {
  V max = all(0.0f);
  for (uint32_t i = 0; i < n; i += 16) max = larger(mul(load(e + i), load(v_scale + i)), max);
  const float amax = tree_max(max);
  const V inv = all(amax > 1e-30f ? 16383.0f / amax : 0.0f);
  Asking asking(next, n / 16, e);
  for (uint32_t i = 0; i < n; i += 16) {
    asking.line();
    const Vi c = round_clamped(mul(mul(load(e + i), load(v_scale + i)), inv), all(0.0f), all(16383.0f));
    store_bytes(reinterpret_cast<int8_t*>(hi + i), shift_right<7>(c), 16);
    store_bytes(reinterpret_cast<int8_t*>(lo + i), bits_of(c, 127), 16);
  }
  asking.done(next);
  return amax / 16383.0f;
}

}  // namespace
}  // namespace linnet
