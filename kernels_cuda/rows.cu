// Rows of activations: norms, RoPE, activations, quantising. Every kernel gives the bits of scalar.cpp.
#include "exact.h"

namespace linnet {

// What of a row is summed up: x - mean, or its squares, added by one rounding or rounded before.
enum RowSum : uint32_t { kSum, kSquares, kRoundedSquares };
// In 16 partial sums by index % 16: two half warps alike walk over a tile while the other warps wait.
LINNET_ON_GPU float row_sum(uint32_t of, const float* x, uint32_t n, float mean, float* tile, float* total) {
  const uint32_t thread = threadIdx.x;
  float s = 0;
#pragma unroll 1
  for (uint32_t from = 0; from < n; from += kNormTile) {
    const uint32_t count = n - from < kNormTile ? n - from : kNormTile;
    block_sync();  // the tile before has been read
    float v[4], next[16];
#pragma unroll 4
    for (uint32_t i = thread * 4; i < count; i += kRowThreads * 4) {
      load_quad(x + from, i, count, v);
      for (uint32_t j = 0; j < 4; ++j) v[j] = v[j] - mean;
      for (uint32_t j = 0; j < 4 && of == kRoundedSquares; ++j) v[j] = v[j] * v[j];
      store_quad(tile, i, kNormTile, v);
    }
    block_sync();
    if (thread >= 32) continue;
    uint32_t i = thread % 16;
    const uint32_t steps = count / 256;
    for (uint32_t j = 0; j < 16; ++j) next[j] = tile[i + 16 * j];
#pragma unroll 1
    for (uint32_t e = 0; e < steps; ++e, i += 256) {  // sixteen are loaded while sixteen are added, 4 cycles each
      float now[16];
      for (uint32_t j = 0; j < 16; ++j) now[j] = next[j];
      for (uint32_t j = 0; j < 16; ++j) next[j] = tile[i + 256 + 16 * j];  // past the end there is room, and nobody looks at it
      for (uint32_t j = 0; j < 16; ++j) s = fma_of(now[j], of == kSquares ? now[j] : 1.0f, s);
    }
#pragma unroll 1
    for (; i < count; i += 16) s = fma_of(tile[i], of == kSquares ? tile[i] : 1.0f, s);
  }
  if (thread < 32) {
    s = tree_sum(s);
    if (thread == 0) *total = s;
  }
  block_sync();
  return *total;
}

// One block a row.
LINNET_KERNEL(kRowThreads) norm_rows(const NormArgs a) {
  LINNET_SHARED __align__(16) float tile[kNormTile + 256];
  LINNET_SHARED float totals[2];
  const uint32_t row = blockIdx.x, n = a.n;
  const float* x = a.x + row * a.stride;
  float* y = a.y + row * a.stride;
  float mean = 0, r = 0;
#pragma unroll 1
  for (uint32_t squares = a.kind == kCudaNormLayer ? 0 : 1; a.kind != kCudaNormNone && squares < 2; ++squares) {
    const float by_n = row_sum(squares, x, n, mean, tile, totals + squares) / static_cast<float>(n);
    if (squares)
      r = 1.0f / sqrt_of(by_n + a.eps);
    else
      mean = by_n;
  }
#pragma unroll 2
  for (uint32_t from = threadIdx.x / 32 * 128; from < n; from += kPiece) {
    const uint32_t i = from + threadIdx.x % 32 * 4;
    float v[4], w[4], b[4];
    load_quad(x, i, n, v);
    if (a.kind != kCudaNormNone) {
      load_quad(a.weight, i, n, w);
      for (uint32_t j = 0; j < 4; ++j) v[j] = a.kind == kCudaNormLayer ? (v[j] - mean) * r : v[j] * r;
      if (a.kind == kCudaNormLayer && a.bias) {
        load_quad(a.bias, i, n, b);
        for (uint32_t j = 0; j < 4; ++j) v[j] = fma_of(v[j], w[j], b[j]);
      } else {
        for (uint32_t j = 0; j < 4; ++j) v[j] = v[j] * w[j];
      }
    }
    if (a.add) {
      load_quad(y, i, n, b);
      for (uint32_t j = 0; j < 4; ++j) v[j] = fma_of(v[j], a.scale, b[j]);  // by 1 a sum
    }
    store_quad(y, i, n, v);
    if (a.q.kind) quantize_quad(a.q, row, i, n, v);
  }
}

LINNET_KERNEL(kRowThreads) change_rows(const ChangeArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  if (i >= a.n) return;
  float* x = a.x + row * a.stride;
  float v[4];
  load_quad(x, i, a.n, v);
  const float factor = a.factors ? a.factors[row] : a.by;
  for (uint32_t j = 0; j < 4; ++j) {
    if (a.factors || (a.by != 0 && a.by != 1)) v[j] = v[j] * factor;
    if (a.cap > 0) v[j] = soft_cap(v[j], a.cap);
    if (a.limit > 0) v[j] = v[j] > a.limit ? a.limit : v[j] < -a.limit ? -a.limit : v[j];
  }
  store_quad(x, i, a.n, v);
}

LINNET_KERNEL(kRowThreads) quantize_rows(const QuantizeArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  float v[4];
  load_quad(a.x + row * a.stride, i, a.k, v);
  quantize_quad(a.q, row, i, a.k, v);
}

LINNET_KERNEL(kRowThreads) term_rows(const TermArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  uint8_t* to = a.to + row * a.stride;
  const bool inside = i < (a.k + 31) / 32 * 32;
  float v[4];
  load_quad(reinterpret_cast<const float*>(a.x + row * a.x_stride), i, a.k, v);
  int most = 0;
  for (uint32_t j = 0; j < 4; ++j) {
    const int b = static_cast<int>(bits_of(v[j]) & 0x7FFFFFFFu);
    most = b > most ? b : most;
  }
  for (int lanes = 16; lanes; lanes /= 2) {
    const int b = shuffle_xor(most, lanes);
    most = b > most ? b : most;
  }
  const bool finite = most < 0x7F800000;
  if (!finite) *a.not_finite = 1;
  const float amax = finite ? float_of(static_cast<uint32_t>(most)) : 0.0f;
  for (uint32_t j = 0; j < 4; ++j) v[j] = finite ? v[j] : 0.0f;
  if (a.kind == kCudaF16) {  // a power of two that brings the largest to 2^14
    const uint32_t e = bits_of(amax) >> 23;
    const float inv = amax > 1e-30f ? float_of((268u - e) << 23) : 0.0f, scale = amax > 1e-30f ? float_of((e - 14u) << 23) : 0.0f;
    if (i % 128 == 0 && i < a.k) a.scale[uint64_t{row} * a.groups + i / 128] = scale;
    uint32_t term[2][4];
    for (uint32_t j = 0; j < 4; ++j) {
      const float s = v[j] * inv;
      term[0][j] = f16_of_f32(s);
      term[1][j] = f16_of_f32(s - f32_of_f16(static_cast<uint16_t>(term[0][j])));
    }
    for (uint32_t t = 0; t < 2 && inside; ++t)
      *reinterpret_cast<uint2*>(to + i / 32 * 128 + t * 64 + i % 32 * 2) =
          make_uint2(term[t][0] | term[t][1] << 16, term[t][2] | term[t][3] << 16);
  } else {  // cut, not rounded: three times 8 bits are all that a float has, and none becomes infinite
    for (uint32_t t = 0; t < 3; ++t) {
      uint32_t bits[4];
      for (uint32_t j = 0; j < 4; ++j) {
        bits[j] = bits_of(v[j]) & 0xFFFF0000u;
        v[j] = v[j] - float_of(bits[j]);
      }
      if (inside)
        *reinterpret_cast<uint2*>(to + i / 32 * 192 + t * 64 + i % 32 * 2) = make_uint2(bits[0] >> 16 | bits[1], bits[2] >> 16 | bits[3]);
    }
  }
}

// All but relu and its square are made of one exponential.
LINNET_ON_GPU float activate(uint32_t act, float g) {
  if (act == kCudaRelu) return g > 0 ? g : 0.0f;
  if (act == kCudaRelu2) return g > 0 ? g * g : 0.0f;
  float by = -g, t = 0;
  if (act == kCudaGeluTanh) by = (g * -1.5957691216f) * fma_of(g * 0.044715f, g, 1.0f);
  if (act == kCudaGeluErf) {
    const float z = abs_of(g) * 0.70710678f;
    t = 1.0f / fma_of(z, 0.5f, 1.0f);
    float p = -0x1.4a89a2p-4f;
    p = fma_of(p, t, 0x1.0bbe4ap-2f);
    p = fma_of(p, t, -0x1.147ca4p-4f);
    p = fma_of(p, t, -0x1.35bc38p-1f);
    p = fma_of(p, t, 0x1.0bd63ep-1f);
    p = fma_of(p, t, 0x1.a2a500p-3f);
    p = fma_of(p, t, 0x1.082df2p+0f);
    p = fma_of(p, t, -0x1.448ec4p+0f);
    by = fma_of(-z, z, p);
  }
  const float e = exp_one(by), h = (t * 0.5f) * e;
  if (act == kCudaGeluErf) return g * (g > 0 ? 1.0f - h : h);
  return (act == kCudaSigmoid ? 1.0f : g) / (1.0f + e);
}

// One block a row's group.
LINNET_KERNEL(kRowThreads) gated_norm_rows(const GatedRowsArgs a) {
  LINNET_SHARED __align__(16) float tile[kNormTile + 256];
  LINNET_SHARED float total;
  const uint32_t row = blockIdx.x / a.groups, at = blockIdx.x % a.groups * a.n, n = a.n;
  float* y = a.y + row * a.stride + at;
  const float* gate = a.gate + row * a.gate_stride + at;
  const bool norms = a.weight != nullptr;
  float r = 0;
#pragma unroll 1
  for (uint32_t pass = norms && a.norm_first ? 1 : 0; pass < (norms ? 2u : 1u);
       ++pass) {  // 0: the gate alone; 1: the norm, and the gate behind it
    if (pass) r = 1.0f / sqrt_of(row_sum(kSquares, y, n, 0.0f, tile, &total) / static_cast<float>(n) + a.eps);
#pragma unroll 1
    for (uint32_t i = threadIdx.x * 4; i < n; i += kPiece) {
      float v[4], w[4], g[4];
      load_quad(y, i, n, v);
      if (pass) {
        load_quad(a.weight + at, i, n, w);
        for (uint32_t j = 0; j < 4; ++j) v[j] = (v[j] * r) * w[j];
      }
      if (!pass || a.norm_first) {
        load_quad(gate, i, n, g);
        for (uint32_t j = 0; j < 4; ++j) v[j] = activate(kCudaSilu, g[j]) * v[j];
      }
      store_quad(y, i, n, v);
    }
  }
}

LINNET_KERNEL(kRowThreads) act_mul_rows(const ActMulArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  constexpr float kAlpha = 1.702f, kInverse = 1.0f / kAlpha;
  float v[4], u[4];
  load_quad(a.gate + row * a.stride, i, a.n, v);
  if (a.up) load_quad(a.up + row * a.stride, i, a.n, u);
  for (uint32_t j = 0; j < 4; ++j) {
    if (a.act == kCudaSwigluClamped) {
      v[j] = (v[j] > a.limit ? a.limit : v[j]) * kAlpha;
      u[j] = ((u[j] > a.limit ? a.limit : u[j] < -a.limit ? -a.limit : u[j]) + 1.0f) * kInverse;
    }
    v[j] = activate(a.act, v[j]);
    if (a.up) v[j] = v[j] * u[j];
  }
  store_quad(a.y + row * a.stride, i, a.n, v);
  if (a.q.kind) quantize_quad(a.q, row, i, a.n, v);
}

LINNET_KERNEL(kRowThreads) xielu_rows(const XieluArgs a) {
  LINNET_SHARED float by[2];  // what is made of alpha_p and alpha_n
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  const float beta = a.by[2], eps = a.by[3];
  if (threadIdx.x < 2) by[threadIdx.x] = (threadIdx.x ? beta : 0.0f) + softplus(a.by[threadIdx.x]);
  block_sync();
  float v[4];
  load_quad(a.x + row * a.stride, i, a.n, v);
  for (uint32_t j = 0; j < 4; ++j) {
    const float x = v[j], line = beta * x;
    const ExpParts e = exp_parts(x < eps ? x : eps);
    const float less = fma_of(e.q * e.r, e.power, e.power - 1.0f) - x;
    v[j] = x > 0 ? fma_of(by[0] * x, x, line) : fma_of(by[1], less, line);
  }
  store_quad(a.x + row * a.stride, i, a.n, v);
  if (a.q.kind) quantize_quad(a.q, row, i, a.n, v);
}

// t of a row: tanh of what the router says.
LINNET_ON_GPU void stream_weights(const StreamsArgs& a, uint32_t row, float (&t)[kCudaStreams]) {
  for (uint32_t i = 0; i < kCudaStreams; ++i) t[i] = soft_cap(a.router[row * kCudaStreamRouter + i] / static_cast<float>(a.n), 1.0f);
}
LINNET_ON_GPU float coefficient(const float* coefs, const float (&t)[kCudaStreams], float c) {
  for (uint32_t i = 0; i < kCudaStreams; ++i) c = c + coefs[i] * t[i];
  return c;
}

LINNET_KERNEL(kRowThreads) predict_rows(const StreamsArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, at = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  if (at >= a.n) return;
  float t[kCudaStreams], old[kCudaStreams][4];
  stream_weights(a, row, t);
  for (uint32_t i = 0; i < kCudaStreams; ++i) load_quad(a.streams + i * a.apart + row * a.stride, at, a.n, old[i]);
  for (uint32_t i = 0; i < kCudaStreams; ++i) {
    float v[4];
    for (uint32_t e = 0; e < 4; ++e) v[e] = old[i][e];
    for (uint32_t j = 0; j < kCudaStreams; ++j) {
      const float c = coefficient(a.coefs + (i * kCudaStreams + j) * kCudaStreams, t, 0.0f);
      for (uint32_t e = 0; e < 4; ++e) v[e] = fma_of(old[j][e], c, v[e]);
    }
    store_quad(a.streams + i * a.apart + row * a.stride, at, a.n, v);
    if (i == 0) store_quad(a.x + row * a.stride, at, a.n, v);
  }
}

LINNET_KERNEL(kRowThreads) correct_rows(const StreamsArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, at = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  if (at >= a.n) return;
  float t[kCudaStreams], d[4], v[4], scale[4];
  stream_weights(a, row, t);
  load_quad(a.x + row * a.stride, at, a.n, d);
  load_quad(a.streams + row * a.stride, at, a.n, v);
  load_quad(a.scale, at, a.n, scale);
  for (uint32_t e = 0; e < 4; ++e) d[e] = fma_of(v[e], -1.0f, d[e]);
  for (uint32_t i = 0; i < kCudaStreams; ++i) {
    float* stream = a.streams + i * a.apart + row * a.stride;
    const float c = coefficient(a.coefs + i * kCudaStreams, t, 1.0f);
    load_quad(stream, at, a.n, v);
    for (uint32_t e = 0; e < 4; ++e) v[e] = fma_of(d[e], c, v[e]);
    store_quad(stream, at, a.n, v);
    for (uint32_t e = 0; e < 4; ++e) v[e] = v[e] * scale[e];
    if (i == 0) store_quad(a.x + row * a.stride, at, a.n, v);
  }
}

// One block a row.
LINNET_KERNEL(kRowThreads) match_rows(const MatchArgs a) {
  LINNET_SHARED __align__(16) float tile[kNormTile + 256];
  LINNET_SHARED float total;
  float* x = a.x + blockIdx.x * a.stride;
  float means[2];
#pragma unroll 1
  for (uint32_t i = 0; i < 2; ++i)
    means[i] = row_sum(kRoundedSquares, i ? a.like + blockIdx.x * a.stride : x, a.n, 0.0f, tile, &total) / static_cast<float>(a.n);
  const float by = sqrt_of(means[1]) / sqrt_of(means[0] > 1e-5f ? means[0] : 1e-5f);
  for (uint32_t i = threadIdx.x * 4; i < a.n; i += kPiece) {
    float v[4];
    load_quad(x, i, a.n, v);
    for (uint32_t j = 0; j < 4; ++j) v[j] = v[j] * by;
    store_quad(x, i, a.n, v);
  }
}

// One block a row.
LINNET_KERNEL(kRowThreads) sparsify_rows(const SparsifyArgs a) {
  LINNET_SHARED __align__(16) float tile[kNormTile + 256];
  LINNET_SHARED float total;
  float* x = a.x + blockIdx.x * a.stride;
  float mean = 0, least = 0;
#pragma unroll 1
  for (uint32_t i = 0; i < 2; ++i) {
    const float by_n = row_sum(i ? kRoundedSquares : kSum, x, a.n, mean, tile, &total) / static_cast<float>(a.n);
    if (i)
      least = mean + sqrt_of(by_n) * a.cut;
    else
      mean = by_n;
  }
  for (uint32_t i = threadIdx.x * 4; i < a.n; i += kPiece) {
    float v[4];
    load_quad(x, i, a.n, v);
    for (uint32_t j = 0; j < 4; ++j) {
      v[j] = v[j] - least;
      v[j] = v[j] < 0 ? 0.0f : v[j];  // NaN stays
    }
    store_quad(x, i, a.n, v);
  }
}

// As row_sum, of a head by one warp.
LINNET_ON_GPU float head_sum(bool squares, const float* x, uint32_t n, float mean) {
  float s = 0;
  for (uint32_t i = threadIdx.x % 16; i < n; i += 16) s = fma_of(x[i] - mean, squares ? x[i] - mean : 1.0f, s);
  s = tree_sum(s);
  warp_sync();
  return s;
}

// One warp a head.
LINNET_KERNEL(128) rope_heads(const RopeArgs a) {
  const uint32_t item = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, n = a.head_dim;
  if (item >= a.m * a.n_heads) return;
  const uint32_t row = item / a.n_heads, head = item % a.n_heads;
  float* x = a.x + row * a.stride + uint64_t{head} * n;
  const float* weight = a.weight ? a.weight + uint64_t{head} * a.weight_stride : nullptr;
  float mean = 0, r = 0;
  if (a.kind == kCudaNormLayer) mean = head_sum(false, x, n, 0.0f) / static_cast<float>(n);
  if (a.kind != kCudaNormNone) r = 1.0f / sqrt_of(head_sum(true, x, n, mean) / static_cast<float>(n) + a.eps);
  const auto normed = [&](uint32_t i) {
    if (a.kind == kCudaNormNone) return x[i];
    if (a.kind == kCudaNormRms) return (x[i] * r) * weight[i];
    const float t = (x[i] - mean) * r;
    return a.bias ? fma_of(t, weight[i], a.bias[i]) : t * weight[i];
  };
  for (uint32_t p = lane; p < a.n_pairs; p += 32) {
    const uint32_t i = a.interleaved ? 2 * p : p, j = a.interleaved ? i + 1 : p + a.n_pairs;
    const float c = a.cos[uint64_t{row} * a.n_pairs + p], s = a.sin[uint64_t{row} * a.n_pairs + p], u = normed(i), v = normed(j);
    x[i] = fma_of(u, c, -(v * s));
    x[j] = fma_of(v, c, u * s);
  }
  if (a.kind != kCudaNormNone)
    for (uint32_t i = 2 * a.n_pairs + lane; i < n; i += 32) x[i] = normed(i);
  if (!a.after) return;
  warp_sync();
  r = 1.0f / sqrt_of(head_sum(true, x, n, 0.0f) / static_cast<float>(n) + a.eps);
  for (uint32_t i = lane; i < n; i += 32) x[i] = (x[i] * r) * weight[i];
}

LINNET_KERNEL(kRowThreads) check_finite(const FiniteArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  float v[4];
  load_quad(a.x + row * a.stride, i, a.n, v);
  for (uint32_t j = 0; j < 4; ++j)
    if ((bits_of(v[j]) & 0x7FFFFFFFu) >= 0x7F800000u) *a.not_finite = 1;
}

}  // namespace linnet
