// KernelTable: what one instruction set offers to the CPU backend. scalar.cpp states the arithmetic; every other tier gives
// the same bits.
//
// A tier's file includes only this header, <stdint.h>, <stddef.h> and its intrinsics, and everything in it is static but the
// table: an inline function from a shared header, compiled with AVX-512 flags, could be the copy that the linker keeps.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "../runtime/include/linnet.h"

namespace linnet {

// y(m, n) = x(m, k) * W(n, k)^T over `n_panels` panels of 16 outputs. The caller pads: y rows hold n_panels * 16 floats.
//   Integer W: for each output, acc = 0; for each group g of x in order: acc = fmaf((float)dot_g, w_scale * x_scale, acc).
//   Float W:   acc = 0; for k in order: acc = fmaf(x[k], (float)w[k], acc).
//   Then r = bias ? acc + bias : acc; y = accumulate ? y + r : r.
// A row's bits depend neither on m nor on how the panels are cut into calls.
struct GemmArgs {
  const void* x;            // integer W: int8 (m, x_stride bytes), zeros from k to kpad; float W: float (m, x_stride bytes)
  size_t x_stride;          // bytes between rows of x
  const float* x_scale;     // (m, x_groups), integer W
  const int32_t* x_sum128;  // (m, x_groups): -128 * sum of codes, integer W
  uint32_t x_groups;        // ceil(k / x_group)
  uint32_t x_group;         // 128, 64 or 32: inputs per group, a multiple of 32
  const void* w;            // panels: int8 [kpad/4][16][4], or float type [k][16]
  size_t w_stride;          // bytes between panels
  const void* w_scale;      // f32 or f16 [w_groups][16] per panel
  size_t w_scale_stride;    // bytes between the scales of two panels
  float* y;
  size_t y_stride;    // floats between rows
  const float* bias;  // [n_panels * 16] or NULL
  uint32_t m, n_panels, k;
  uint32_t accumulate;
};

struct GemmKernel {
  linnet_format w;
  uint32_t exact;  // 1: the bits of scalar.cpp
  void (*run)(const GemmArgs*);
};

// What a tier may ask of the CPU.
enum CpuBit : uint64_t {
  kCpuAvx2 = 1u << 0,
  kCpuFma = 1u << 1,
  kCpuF16c = 1u << 2,
  kCpuAvx512 = 1u << 3,  // F, BW, VL, DQ and an operating system that saves the registers
  kCpuAvx512Vnni = 1u << 4,
};
// One tier. Null members are inherited from the next weaker tier that has them.
struct KernelTable {
  linnet_isa isa;
  uint64_t required;  // CpuBit mask: all must be present
  const GemmKernel* gemm;
  uint32_t n_gemm;

  // Codes of one row in groups of `group` (a multiple of 32; the last may be short). Per group: amax = max |x|;
  // inv = amax > 1e-30f ? 127 / amax : 0; q = rint(x * inv) clamped to +-127; scale = amax / 127; sum128 = -128 * sum(q).
  // Zeros from k to the next multiple of 32. A group whose amax is not finite gets zeros, and the result is 0, else 1.
  uint32_t (*quantize_row)(const float* x, uint32_t k, uint32_t group, int8_t* q, float* scale, int32_t* sum128);
  // Bits of max |x| (an integer maximum of the absolute values' bits, so that NaN > infinity > all numbers).
  uint32_t (*amax_bits)(const float* x, uint32_t n);
  // q = rint(x * inv) clamped to +-127.
  void (*codes)(const float* x, uint32_t n, float inv, int8_t* q);
  // ss[i % 16] = fmaf(x, x, ss[i % 16]), tree 8-4-2-1; r = 1 / sqrtf(ss / n + eps); y = (x * r) * w. x may be y.
  void (*rmsnorm_row)(const float* x, const float* w, uint32_t n, float eps, float* y);
  // y = (g / (1 + exp(-g))) * u. y may be g or u.
  void (*silu_mul_row)(const float* g, const float* u, uint32_t n, float* y);
  // y = y + x.
  void (*add_row)(float* y, const float* x, uint32_t n);
  // Rotates pairs (a, b) by (cos, sin): a' = fmaf(a, cos, -(b * sin)), b' = fmaf(b, cos, a * sin).
  // interleaved = 0: pair i is (x[i], x[i + n_pairs]); 1: (x[2i], x[2i + 1]).
  void (*rope_row)(float* x, const float* cos, const float* sin, uint32_t n_pairs, uint32_t interleaved);
  // One block of attention for one row. s[t] = s[t] * scale for t < n (1..256); *m = max; e[t] = exp(s[t] - m);
  // *l = 16 partial sums by t % 16, tree 8-4-2-1. p (may be s) gets e, and zeros from n to n_pad (a multiple of 16, <= 256).
  void (*softmax_block)(float* s, uint32_t n, uint32_t n_pad, float scale, float* p, float* m, float* l);
  // p = e * v_scale per token, then to 14 bits: amax = max p; inv = amax > 1e-30f ? 16383 / amax : 0;
  // c = rint(p * inv) clamped to 0..16383; hi = c >> 7, lo = c & 127. Returns amax / 16383. n is a multiple of 16.
  float (*planes)(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo);
  // acc[r][j] = (float)(128 * dot(hi[r], v[., j]) + dot(lo[r], v[., j])) * p_scale[r] over n_pages pages of 16 tokens and
  // d_panels * 16 channels. hi, lo: (rows, 256). pages[i]: int8 [d/16][4][16][4] (token t: group t / 4, byte t % 4).
  void (*attn_pv)(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
                  const float* p_scale, float* acc, size_t acc_stride);
  // y = fmaf(x, b, y * a).
  void (*merge_row)(float* y, const float* x, uint32_t n, float a, float b);
  // y = y * a.
  void (*scale_row)(float* y, uint32_t n, float a);
  // e^x as linnet defines it (scalar.cpp), in place.
  void (*exp_row)(float* x, uint32_t n);
  // y = (float) w[row, :] for one output of a packed matrix: integer formats code * scale, floats as they are.
  void (*gather_row)(linnet_format f, const void* panels, const void* scales, uint32_t n, uint32_t k, uint32_t row, float* y);

  // Register-only loop of this tier's int8 dot instruction: `n` rounds, returns the number of multiply-adds done. For benches.
  uint64_t (*peak_int8)(uint64_t n);
  // Reads all bytes (a multiple of 4096) once with plain loads; returns a value that depends on them. For benches.
  uint64_t (*read_all)(const void* p, size_t bytes);
};

// One per tier's file; registry.cpp knows which of them this build has.
extern const KernelTable scalar_table, avx2_table, avx512_table;

}  // namespace linnet
