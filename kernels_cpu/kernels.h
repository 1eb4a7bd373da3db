// KernelTable: what one instruction set offers to the CPU backend. scalar.cpp states the arithmetic; every other tier gives
// the same bits.
//
// A tier's file includes only this header, those beside it, its intrinsics and C headers of the system, and everything in it is static but
// the table: an inline function from a shared header, compiled with AVX-512 flags, could be the copy that the linker keeps.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "../runtime/include/linnet_device.h"

namespace linnet {

// Memory that is read next, for kernels that can ask for it line by line between their products: from `at` on, which they move, up to
// `until` or less than a tile's worth behind it. A core waits for few lines at a time, and many asked for at once hold up the kernel's own.
struct Fetch {
  const uint8_t *at, *until;
};

// y(m, n) = x(m, k) * W(n, k)^T over `n_panels` panels of 16 outputs. The caller pads: y rows hold n_panels * 16 floats.
//   Integer W: for each output, acc = 0; for each group g of x in order: acc = fmaf((float)dot_g, w_scale * x_scale, acc).
//   Blocks:    for every 256 inputs, of the last fewer, d is such a sum over W's groups (32 or 16); acc = acc + d, of the first 256 d.
//              Where W has minima, then for each of these groups in order acc = fmaf(w_min, (float)(-sum(codes)) * x_scale, acc).
//   Float W:   acc = 0; for k in order: acc = fmaf(x[k], (float)w[k], acc). Tables: w[k] = table[code] * scale, rounded.
//   FP8:       the same over kpad, then acc = acc * w_scale. In groups: d is such a sum over a group; acc = d * w_scale of the first, then
//              acc = fmaf(d, w_scale, acc).
//   Then r = bias ? acc + bias : acc; y = accumulate ? y + r : r.
// A row's bits depend neither on m nor on how the panels are cut into calls.
inline constexpr size_t kFetchAhead = 4096;  // GemmArgs::fetch_ahead of weights that come from memory

struct GemmArgs {
  const void* x;            // (m, x_stride bytes). Integer W: int8; FP8: bf16, of every four inputs in the order 0 2 1 3; both
                            // with zeros from k to kpad (the next multiple of 32). Float W: float
  size_t x_stride;          // bytes between rows of x
  const float* x_scale;     // (m, x_groups), integer W
  const int32_t* x_sum128;  // (m, x_groups): -128 * sum of codes, integer W
  uint32_t x_groups;        // of a whole row: ceil(k / x_group), or more where k is a part of it
  uint32_t x_group;       // inputs per group: 128, 64 or 32, as W's format has it (format.h); attention's FP8 keys are i8 in groups of 32,
                          // and what unpacked.h makes of blocks is i8g128 in groups of 32 or 16
  const void* w;          // panels as format.h lays them out
  size_t w_stride;        // bytes between panels
  const void* w_scale;    // [w_groups][16] entries per panel as W's format has them (formats.inc), and behind them outer factors; float W:
                          // none
  size_t w_scale_stride;  // bytes between the scales of two panels
  float* y;
  size_t y_stride;    // floats between rows
  const float* bias;  // [n_panels * 16] or NULL
  uint32_t m, n_panels, k;
  uint32_t w_group;  // FP8: inputs per scale, a multiple of 32; 0: all
  uint32_t accumulate;
  size_t fetch_ahead;  // where few rows stream panels from memory, ask for bytes this far on; 0 = they are in the caches
  Fetch* next;         // or NULL; I8G32 alone
};

// Where at most 256 inputs of a panel of blocks go: lines of four inputs by 16 outputs, `line` bytes apart; groups of the
// kind, 32 or 16 inputs, `group` bytes apart; scales and minima of groups, some floats apart.
struct UnpackTo {
  int8_t* codes;
  size_t line, group;
  float *scale, *min;
  size_t scale_step, min_step;
  size_t ahead;        // how far on the lines are that are asked for meanwhile; 0: they are at hand
  const uint8_t* end;  // of all that the panel has of scales, where its outer factors are
};

// k inputs of a panel of blocks, at most 256, as bytes and floats.
using UnpackBlocks = void (*)(const uint8_t* lines, const uint8_t* entry, uint32_t k, const UnpackTo& to);

struct GemmKernel {
  linnet_format w;
  uint32_t exact;  // 1: the bits of scalar.cpp
  void (*run)(const GemmArgs*);
  // For benches: a register-only loop of the multiply that bounds this entry (amx: with the scales of its sums, which pass through memory);
  // `n` rounds, returns the number of multiply-adds done.
  uint64_t (*peak)(uint64_t n);
};

// How integer weights lie in a panel: a byte each; two a byte, + 8; two a byte, less the zero points behind the scales.
enum Codes : uint32_t {
#define LINNET_CODE(name) k##name,
#include "../runtime/formats.inc"
};
// Bytes between the scales of two groups of a panel, by what they are.
enum ScaleStep : uint32_t {
#define LINNET_SCALE(name, bytes, half, zero, outer) kStep##name = 16 * bytes,
#include "../runtime/formats.inc"
};
// ... and what a panel has behind them.
enum OuterBytes : uint32_t {
#define LINNET_SCALE(name, bytes, half, zero, outer) kOuter##name = 16 * outer,
#include "../runtime/formats.inc"
};

// Books of the IQ kinds of blocks, by the number of a run: of iq3 four numbers, of the others eight codes of which a byte has i and i + 4.
struct IqBooks {
  const uint32_t *iq2_xxs, *iq2_xs, *iq2_s, *iq3_xxs, *iq3_s, *iq1;
};

// What the codes of formats of tables choose from, and the map of the bytes that double quantisation makes of scales.
struct FloatTables {
  float nf4[16], fp4[16], scales[256];
};

inline constexpr uint32_t kStatePanel = 32;
// Tokens of a gated delta net's value head, one after the other. Of each, over keys i in their order: r = fmaf(k[i], s[i], r) from 0 on;
// d = beta * (v - fade * r); s[i] = fmaf(k[i], d, fade * s[i]); o = fmaf(q[i], s[i], o) from 0 on. Where keys fade apart
// r = fmaf(k[i], fade[i] * s[i], r); d = beta * (v - r); s[i] = fmaf(k[i], d, fade[i] * s[i]). Uncorrected (Mamba-2) there is no r:
// d = beta * v, and o begins with skip * v.
enum class DeltaKind : uint8_t { kByHead, kByKey, kUncorrected };
struct DeltaSteps {
  float* s;  // (value_dim / kStatePanel, rounded up; key_dim; kStatePanel)
  uint32_t key_dim, value_dim, n;
  const float *q, *k;        // (n, key_dim)
  const float* v;            // (n, value_dim)
  float* o;                  // the same, may be v
  size_t stride;             // floats between rows of q, k, v, o and by_key
  const float *fade, *beta;  // (n)
  DeltaKind kind = DeltaKind::kByHead;
  const float* by_key = nullptr;  // kByKey: (n, key_dim) instead of fade
  float skip = 0;                 // kUncorrected
};

// One tier. Null members are inherited from the next weaker tier that has them.
struct KernelTable {
  linnet_isa isa = LINNET_ISA_AUTO;
  const char* (*start)() = nullptr;  // makes what its kernels use, at every choice of it; says why it cannot
  const GemmKernel* gemm = nullptr;
  uint32_t n_gemm = 0;

  // Codes of one row in groups of `group` (a multiple of 32; the last may be short). Per group: amax = max |x|;
  // inv = amax > 1e-30f ? 127 / amax : 0; q = rint(x * inv) clamped to +-127; scale = amax / 127; sum128 = -128 * sum(q).
  // Zeros from k to the next multiple of 32. A group whose amax is not finite gets zeros, and the result is 0, else 1.
  uint32_t (*quantize_row)(const float* x, uint32_t k, uint32_t group, int8_t* q, float* scale, int32_t* sum128) = nullptr;
  // x to bf16, ties to even, NaN stays NaN; of every four inputs in the order 0 2 1 3; zeros from k to the next multiple of 32.
  void (*bf16_row)(const float* x, uint32_t k, uint16_t* y) = nullptr;
  // Bits of max |x| (an integer maximum of the absolute values' bits, so that NaN > infinity > all numbers).
  uint32_t (*amax_bits)(const float* x, uint32_t n) = nullptr;
  // q = rint(x * inv) clamped to +-127.
  void (*codes)(const float* x, uint32_t n, float inv, int8_t* q) = nullptr;
  // ss[i % 16] = fmaf(x, x, ss[i % 16]), tree 8-4-2-1; r = 1 / sqrtf(ss / n + eps); y = (x * r) * w. x may be y.
  void (*rmsnorm_row)(const float* x, const float* w, uint32_t n, float eps, float* y) = nullptr;
  // s[i % 16] = s[i % 16] + x, tree; mean = s / n; ss[i % 16] = fmaf(x - mean, x - mean, ss[i % 16]), tree; r = 1 / sqrtf(ss / n + eps);
  // y = fmaf((x - mean) * r, w, b), or the product alone where b is NULL. x may be y.
  void (*layernorm_row)(const float* x, const float* w, const float* b, uint32_t n, float eps, float* y) = nullptr;
  // y = (g / (1 + exp(-g))) * u, where u is NULL without the factor. y may be g or u. Both here and in the next four.
  void (*silu_mul_row)(const float* g, const float* u, uint32_t n, float* y) = nullptr;
  // GELU by tanh, which is a sigmoid: y = (g / (1 + exp((g * -2 sqrt(2 / pi)) * fmaf(g * 0.044715, g, 1)))) * u.
  void (*gelu_mul_row)(const float* g, const float* u, uint32_t n, float* y) = nullptr;
  // GELU by the error function: z = |g| * 0.70710678, t = 1 / fmaf(z, 0.5, 1), h = (t * 0.5) * exp(fmaf(-z, z, P(t))), which is erfc(z) /
  // 2; y = (g * (g > 0 ? 1 - h : h)) * u.
  void (*gelu_erf_mul_row)(const float* g, const float* u, uint32_t n, float* y) = nullptr;
  // y = (1 / (1 + exp(-g))) * u.
  void (*sigmoid_mul_row)(const float* g, const float* u, uint32_t n, float* y) = nullptr;
  // y = (g > 0 ? g : 0) * u.
  void (*relu_mul_row)(const float* g, const float* u, uint32_t n, float* y) = nullptr;
  // xIELU, by = (p, a, beta, eps): x > 0: y = fmaf(p * x, x, beta * x), else fmaf(a, (exp(t) - 1) - x, beta * x) with t = min(x, eps), and
  // exp(t) - 1 without what 1 would cost: fmaf(q * r, s, s - 1) where exp(t) is fmaf(q, r, 1) * s. y may be x.
  void (*xielu_row)(const float* x, const float* by, uint32_t n, float* y) = nullptr;
  // A convolution's taps, of kMostTaps rows at most: y = w[0] * rows[0], then y = y + w[i] * rows[i] in order, each rounded. w: (taps,
  // stride).
  void (*taps_row)(const float* const* rows, const float* w, uint32_t stride, uint32_t taps, uint32_t n, float* y) = nullptr;
  // y = y + x.
  void (*add_row)(float* y, const float* x, uint32_t n) = nullptr;
  // Rotates pairs (a, b) by (cos, sin): a' = fmaf(a, cos, -(b * sin)), b' = fmaf(b, cos, a * sin).
  // interleaved = 0: pair i is (x[i], x[i + n_pairs]); 1: (x[2i], x[2i + 1]).
  void (*rope_row)(float* x, const float* cos, const float* sin, uint32_t n_pairs, uint32_t interleaved) = nullptr;
  // One block of attention for one row, of which tokens from..to - 1 count (from < to). s[t] = s[t] * scale; where slope is not 0 (ALiBi)
  // then s[t] = fmaf(slope, t - origin, s[t]), origin being the row's own place as the block counts, an integer below 2^24; where cap > 0
  // cap * tanh(s / cap), with z = exp(-2 |x|), tanh(x) = +-(1 - z) / (1 + z); *m = max, of zeros the positive; e[t] = exp(s[t] - m); *l =
  // 16 partial sums by t % 16, tree 8-4-2-1. s becomes e, and zeros elsewhere up to n_pad (a multiple of 16, <= 256).
  void (*softmax_block)(float* s, uint32_t from, uint32_t to, uint32_t n_pad, float scale, float slope, float origin, float cap, float* m,
                        float* l, Fetch* next) = nullptr;  // next: or NULL
  // p = e * v_scale per token, then to 14 bits: amax = max p; inv = amax > 1e-30f ? 16383 / amax : 0;
  // c = rint(p * inv) clamped to 0..16383; hi = c >> 7, lo = c & 127. Returns amax / 16383. n is a multiple of 16.
  float (*planes)(const float* e, const float* v_scale, uint32_t n, uint8_t* hi, uint8_t* lo, Fetch* next) = nullptr;
  // acc[r][j] = (float)(128 * dot(hi[r], v[., j]) + dot(lo[r], v[., j])) * p_scale[r] over n_pages pages of 16 tokens and
  // d_panels * 16 channels. hi, lo: (rows, 256). pages[i]: int8 [d/16][4][16][4] (token t: group t / 4, byte t % 4).
  void (*attn_pv)(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
                  const float* p_scale, float* acc, size_t acc_stride, Fetch* next) = nullptr;
  // The same on pages of floats: acc = 0; for t in order: acc = fmaf(e[r][t], (float)v[t][j], acc). e: (rows, 256), finite.
  // pages[i]: f32, f16, bf16 [d/16][16 tokens][16]. A row's bits do not depend on `rows`, nor on pages where its e is zero.
  void (*attn_pv_float)(linnet_format v, const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels,
                        float* acc, size_t acc_stride) = nullptr;
  // q = +-table[code & 127], minus where the code's top bit is set. table: 0..127; aligned to 64; n is a multiple of 64; q may be codes.
  void (*byte_table)(const int8_t table[128], const uint8_t* codes, size_t n, int8_t* q) = nullptr;
  // Channels of a K page as panels of P times V: n panels of 16 channels by 16 tokens, of 1, 2 or 4 bytes each. k: [n * 4][16 tokens][4
  // channels] bytes, else [n * 16 channels][16 tokens]; v: pages of attn_pv and attn_pv_float.
  void (*turn_panels)(uint32_t bytes, const void* k, uint32_t n, void* v) = nullptr;
  // y = fmaf(x, b, y * a).
  void (*merge_row)(float* y, const float* x, uint32_t n, float a, float b) = nullptr;
  void (*delta_steps)(const DeltaSteps& steps) = nullptr;
  // y = y * a.
  void (*scale_row)(float* y, uint32_t n, float a) = nullptr;
  // sum = sum + (double)x: how rows are pooled.
  void (*sum_row)(double* sum, const float* x, uint32_t n) = nullptr;
  // ss[i % 16] = fmaf(x, x, ss[i % 16]), tree 8-4-2-1; x = x / max(sqrtf(ss), 1e-12f).
  void (*unit_row)(float* x, uint32_t n) = nullptr;
  // The first i >= from with x[i] > t, or n: what the largest of many logits are found with.
  uint32_t (*find_above)(const float* x, uint32_t n, uint32_t from, float t) = nullptr;
  // e^x as linnet defines it (scalar.cpp), in place.
  void (*exp_row)(float* x, uint32_t n) = nullptr;
  // y = (float) w[row, :] for one output of a packed matrix: integer formats code * scale, floats as they are.
  void (*gather_row)(linnet_format f, const void* panels, const void* scales, uint32_t n, uint32_t k, uint32_t row, float* y) = nullptr;

  // Of each format of blocks in their order; for tiers that multiply in another way and unpack as this one does.
  const UnpackBlocks* unpack = nullptr;

  const IqBooks* books = nullptr;       // of the scalar tier alone
  const FloatTables* tables = nullptr;  // the same

  // Reads all bytes (a multiple of 4096) once with plain loads; returns a value that depends on them. For benches.
  uint64_t (*read_all)(const void* p, size_t bytes) = nullptr;
};

// One per tier's file; registry.cpp knows which of them this build has.
#define LINNET_TIER(name, ...) extern const KernelTable name##_table;
#include "tiers.inc"

}  // namespace linnet
