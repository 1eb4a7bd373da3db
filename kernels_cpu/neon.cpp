// NEON of every 64-bit ARM (Cortex-A53, A72: no dot product), bit-equal to scalar.cpp.
#include "neon.h"

#include "float_tables.h"
#include "rows.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

// ---- rows -------------------------------------------------------------------------------------------------------------------

void bf16_row(const float* x, uint32_t k, uint16_t* y) {
  const uint8_t kOrder[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};  // 0 2 1 3 of every four
  const uint8x16_t order = vld1q_u8(kOrder);
  for (uint32_t i = 0; i < (k + 31) / 32 * 32; i += 16) {
    const V v = i < k ? load(x + i, k - i) : all(0.0f);
    uint16x4_t h[4];
    UNROLL for (int j = 0; j < 4; ++j) {
      const uint32x4_t u = vreinterpretq_u32_f32(v.v[j]), odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
      const uint32x4_t rounded = vaddq_u32(vaddq_u32(u, vdupq_n_u32(0x7FFF)), odd), quiet = vorrq_u32(u, vdupq_n_u32(0x400000));
      h[j] = vshrn_n_u32(vbslq_u32(vceqq_f32(v.v[j], v.v[j]), rounded, quiet), 16);
    }
    UNROLL for (int j = 0; j < 4; j += 2)
        vst1q_u8(reinterpret_cast<uint8_t*>(y + i + j * 4), vqtbl1q_u8(vreinterpretq_u8_u16(vcombine_u16(h[j], h[j + 1])), order));
  }
}

uint32_t find_above(const float* x, uint32_t n, uint32_t from, float t) {
  const float32x4_t vt = vdupq_n_f32(t);
  for (; from + 16 <= n; from += 16) {
    uint32x4_t m = vdupq_n_u32(0);
    UNROLL for (int j = 0; j < 4; ++j) m = vorrq_u32(m, vcgtq_f32(vld1q_f32(x + from + j * 4), vt));
    if (vmaxvq_u32(m)) break;
  }
  for (; from < n; ++from)
    if (x[from] > t) return from;
  return n;
}

// What rows.h asks for of the next block: nothing.
struct Silent {
  Silent(const Fetch*, size_t, const void*) {}
  INLINE void line() {}
  void done(Fetch*) const {}
};

// ---- matrices ---------------------------------------------------------------------------------------------------------------

// Without a dot product: of 8 inputs the products of two fit in 16 bits (2 * 128 * 127 < 2^15), and are then added in pairs to 32 bits.
struct Widen {
  static constexpr int kRows = 1;
  int32x4_t sum[4][2] = {};  // of a quarter's outputs 0, 1 and 2, 3: two sums each

  INLINE void add(int q, int half, const Pair& w, const int8x16_t* x) {
    const int32x4_t xs = vreinterpretq_s32_s8(*x);
    const int8x16_t a = vreinterpretq_s8_s32(half == 0 ? vdupq_laneq_s32(xs, 0) : vdupq_laneq_s32(xs, 2));
    const int8x16_t b = vreinterpretq_s8_s32(half == 0 ? vdupq_laneq_s32(xs, 1) : vdupq_laneq_s32(xs, 3));
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(w.first), vget_low_s8(a)), vget_low_s8(w.second), vget_low_s8(b));
    const int16x8_t high = vmlal_high_s8(vmull_high_s8(w.first, a), w.second, b);
    sum[q][0] = vpadalq_s16(sum[q][0], low);
    sum[q][1] = vpadalq_s16(sum[q][1], high);
  }
  INLINE int32x4_t total(int q, int) const { return vpaddq_s32(sum[q][0], sum[q][1]); }
};

using Int = IntKernels<Widen, Widen, 2, 4>;

struct F32 {
  static constexpr size_t kBytes = 4;
  static INLINE V load16(const char* p) { return load(reinterpret_cast<const float*>(p)); }
};
struct F16 {
  static constexpr size_t kBytes = 2;
  static INLINE V load16(const char* p) { return load_scales<true>(p); }
};
struct Bf16 {
  static constexpr size_t kBytes = 2;
  static INLINE V load16(const char* p) {
    V r;
    UNROLL for (int i = 0; i < 4; ++i) r.v[i] =
        vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(reinterpret_cast<const uint16_t*>(p) + i * 4), 16));
    return r;
  }
};

INLINE V times(V w, float x, V acc) {
  UNROLL for (int i = 0; i < 4; ++i) acc.v[i] = vfmaq_n_f32(acc.v[i], w.v[i], x);
  return acc;
}

// One chain of fmaf over k per output; R * P fours of chains hide its latency.
template <class W, int R, int P>
void float_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const char* w = static_cast<const char*>(a.w) + panel * a.w_stride;
  V acc[R][P];
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p) acc[r][p] = all(0.0f);
  for (uint32_t i = 0; i < a.k; ++i) {
    UNROLL for (int p = 0; p < P; ++p) {
      const V wv = W::load16(w + static_cast<size_t>(p) * a.w_stride + i * 16 * W::kBytes);
      UNROLL for (int r = 0; r < R; ++r) acc[r][p] =
          times(wv, *reinterpret_cast<const float*>(x + static_cast<size_t>(r) * a.x_stride + i * size_t{4}), acc[r][p]);
    }
  }
  UNROLL for (int r = 0; r < R; ++r) UNROLL for (int p = 0; p < P; ++p)
      finish(a, row + static_cast<uint32_t>(r), panel + static_cast<uint32_t>(p), acc[r][p]);
}

template <class W>
void gemm_float(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels;) {
    const uint32_t panels = a.m < 4 && a.n_panels - panel >= 2 ? 2 : 1;
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t rows = panels == 1 && a.m - row >= 4 ? 4 : 1;
      (rows == 4 ? float_tile<W, 4, 1> : panels == 2 ? float_tile<W, 1, 2> : float_tile<W, 1, 1>)(a, row, panel);
      row += rows;
    }
    panel += panels;
  }
}

// Sixteen floats as bytes, of which the instruction chooses sixteen.
struct FloatTable {
  uint8x16x4_t of;
  static INLINE FloatTable load(const float* p) {
    FloatTable t;
    UNROLL for (int i = 0; i < 4; ++i) t.of.val[i] = vreinterpretq_u8_f32(vld1q_f32(p + i * 4));
    return t;
  }
  static INLINE Vi words(const uint8_t* p) {
    Vi r;
    UNROLL for (int i = 0; i < 4; ++i) r.v[i] = vreinterpretq_s32_u8(vld1q_u8(p + i * 16));
    return r;
  }
  template <int kShift>
  INLINE V at(Vi words) const {
    V r;
    UNROLL for (int i = 0; i < 4; ++i) {
      const uint32x4_t code = vandq_u32(vshlq_u32(vreinterpretq_u32_s32(words.v[i]), vdupq_n_s32(-kShift)), vdupq_n_u32(15));
      const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100u), code, 0x04040404u);
      r.v[i] = vreinterpretq_f32_u8(vqtbl4q_u8(of, vreinterpretq_u8_u32(bytes)));
    }
    return r;
  }
};
constexpr TableTiles kTiles = {2, 1, 4, 1};

template <bool kE4M3, int R>
void f8_tile(const GemmArgs& a, uint32_t row, uint32_t panel) {
  const char* x = static_cast<const char*>(a.x) + row * a.x_stride;
  const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
  const auto* scales = reinterpret_cast<const float*>(static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride);
  const uint32_t kpad = (a.k + 31) / 32 * 32, group = a.w_group ? a.w_group : kpad;
  V total[R];
  UNROLL for (int r = 0; r < R; ++r) total[r] = all(0.0f);
  for (uint32_t from = 0; from < kpad; from += group, scales += 16) {
    V acc[R];
    UNROLL for (int r = 0; r < R; ++r) acc[r] = all(0.0f);
    for (uint32_t i = kpad - from < group ? kpad - from : group; i; i -= 4, w += 64, x += 8) {
      uint32x4_t four[4];
      float32x4_t xv[R];  // inputs 0 2 1 3
      UNROLL for (int q = 0; q < 4; ++q) four[q] = vreinterpretq_u32_u8(vld1q_u8(w + q * 16));
      UNROLL for (int r = 0; r < R; ++r) xv[r] =
          vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(reinterpret_cast<const uint16_t*>(x + static_cast<size_t>(r) * a.x_stride)), 16));
      UNROLL for (int j = 0; j < 4; ++j) UNROLL for (int q = 0; q < 4; ++q) {
        const float32x4_t wv = vreinterpretq_f32_u32(from_f8<kE4M3>(four[q], j));
        UNROLL for (int r = 0; r < R; ++r) acc[r].v[q] = j == 0   ? vfmaq_laneq_f32(acc[r].v[q], wv, xv[r], 0)
                                                         : j == 1 ? vfmaq_laneq_f32(acc[r].v[q], wv, xv[r], 2)
                                                         : j == 2 ? vfmaq_laneq_f32(acc[r].v[q], wv, xv[r], 1)
                                                                  : vfmaq_laneq_f32(acc[r].v[q], wv, xv[r], 3);
      }
    }
    const V scale = load(scales);
    UNROLL for (int r = 0; r < R; ++r) total[r] = from ? fma(acc[r], scale, total[r]) : mul(acc[r], scale);
  }
  UNROLL for (int r = 0; r < R; ++r) finish(a, row + static_cast<uint32_t>(r), panel, total[r]);
}

template <bool kE4M3>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m;) {
      const uint32_t rows = a.m - row >= 4 ? 4 : 1;
      (rows == 4 ? f8_tile<kE4M3, 4> : f8_tile<kE4M3, 1>)(a, row, panel);
      row += rows;
    }
}

// ---- attention over float pages -----------------------------------------------------------------------------------------------

// R rows by one panel of 16 channels; one chain over the tokens per output.
template <class Load, int R>
void pv_float_tile(const float* e, const void* const* pages, uint32_t n_pages, uint32_t panel, float* acc, size_t acc_stride) {
  V sum[R];
  UNROLL for (int r = 0; r < R; ++r) sum[r] = all(0.0f);
  for (uint32_t i = 0; i < n_pages; ++i, e += 16) {
    const char* v = static_cast<const char*>(pages[i]) + panel * Load::kPanelBytes;
    for (uint32_t t = 0; t < 16; t += 4) UNROLL for (uint32_t j = 0; j < 4; ++j) {
        const V vv = Load::token(v, t, j);
        UNROLL for (int r = 0; r < R; ++r) sum[r] = fma(all(e[static_cast<uint32_t>(r) * 256 + t + j]), vv, sum[r]);
      }
  }
  UNROLL for (int r = 0; r < R; ++r) store(acc + static_cast<size_t>(r) * acc_stride, sum[r]);
}
template <class W>
struct Wide {
  static constexpr size_t kPanelBytes = 256 * W::kBytes;
  static INLINE V token(const char* v, uint32_t t, uint32_t j) { return W::load16(v + (t + j) * 16 * W::kBytes); }
};
template <class Load>
void pv_float(const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels, float* acc, size_t acc_stride) {
  for (uint32_t d = 0; d < d_panels; ++d)
    for (uint32_t r = 0; r < rows;) {
      const uint32_t step = rows - r >= 4 ? 4 : 1;
      (step == 4 ? pv_float_tile<Load, 4> : pv_float_tile<Load, 1>)(e + r * size_t{256}, pages, n_pages, d,
                                                                    acc + r * acc_stride + d * size_t{16}, acc_stride);
      r += step;
    }
}
// 8 by 8 of 2 bytes and 4 by 4 of 4; rows are 16 long.
void turn_2(const uint16_t* from, uint16_t* to) {
  uint16x8_t a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = vld1q_u16(from + i * 16);
  for (int i = 0; i < 4; ++i) b[2 * i] = vzip1q_u16(a[i], a[i + 4]), b[2 * i + 1] = vzip2q_u16(a[i], a[i + 4]);
  for (int i = 0; i < 4; ++i) a[2 * i] = vzip1q_u16(b[i], b[i + 4]), a[2 * i + 1] = vzip2q_u16(b[i], b[i + 4]);
  for (int i = 0; i < 4; ++i) b[2 * i] = vzip1q_u16(a[i], a[i + 4]), b[2 * i + 1] = vzip2q_u16(a[i], a[i + 4]);
  for (int i = 0; i < 8; ++i) vst1q_u16(to + i * 16, b[i]);
}
void turn_4(const float* from, float* to) {
  float32x4_t a[4], b[4];
  for (int i = 0; i < 4; ++i) a[i] = vld1q_f32(from + i * 16);
  for (int i = 0; i < 2; ++i) b[2 * i] = vzip1q_f32(a[i], a[i + 2]), b[2 * i + 1] = vzip2q_f32(a[i], a[i + 2]);
  for (int i = 0; i < 2; ++i) a[2 * i] = vzip1q_f32(b[i], b[i + 2]), a[2 * i + 1] = vzip2q_f32(b[i], b[i + 2]);
  for (int i = 0; i < 4; ++i) vst1q_f32(to + i * 16, a[i]);
}

void turn_panels(uint32_t bytes, const void* k, uint32_t n, void* v) {
  static constexpr uint8_t kFour[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const uint8_t* from = static_cast<const uint8_t*>(k);
  uint8_t* to = static_cast<uint8_t*>(v);
  const uint8x16_t four = vld1q_u8(kFour);
  for (uint32_t p = 0; p < n; ++p, from += 256 * bytes, to += 256 * bytes) {
    if (bytes == 1) {  // four tokens of four channels lie together
      for (int d = 0; d < 4; ++d)
        for (int t = 0; t < 4; ++t) vst1q_u8(to + t * 64 + d * 16, vqtbl1q_u8(vld1q_u8(from + d * 64 + t * 16), four));
    } else if (bytes == 2) {
      for (int d = 0; d < 16; d += 8)
        for (int t = 0; t < 16; t += 8)
          turn_2(reinterpret_cast<const uint16_t*>(from) + d * 16 + t, reinterpret_cast<uint16_t*>(to) + t * 16 + d);
    } else {
      for (int d = 0; d < 16; d += 4)
        for (int t = 0; t < 16; t += 4)
          turn_4(reinterpret_cast<const float*>(from) + d * 16 + t, reinterpret_cast<float*>(to) + t * 16 + d);
    }
  }
}

void attn_pv_float(linnet_format v, const float* e, uint32_t rows, const void* const* pages, uint32_t n_pages, uint32_t d_panels,
                   float* acc, size_t acc_stride) {
  (v == LINNET_F32   ? pv_float<Wide<F32>>
   : v == LINNET_F16 ? pv_float<Wide<F16>>
                     : pv_float<Wide<Bf16>>)(e, rows, pages, n_pages, d_panels, acc, acc_stride);
}

void byte_table(const int8_t* table, const uint8_t* codes, size_t n, int8_t* q) {
  int8x16x4_t t[2];
  UNROLL for (int half = 0; half < 2; ++half) UNROLL for (int k = 0; k < 4; ++k) t[half].val[k] = vld1q_s8(table + half * 64 + k * 16);
  for (size_t i = 0; i < n; i += 16) {
    const uint8x16_t w = vld1q_u8(codes + i), c = vandq_u8(w, vdupq_n_u8(127));  // outside of its half an index changes nothing
    const int8x16_t v = vqtbx4q_s8(vqtbl4q_s8(t[0], c), t[1], veorq_u8(c, vdupq_n_u8(64)));
    vst1q_s8(q + i, vbslq_s8(vtstq_u8(w, vdupq_n_u8(128)), vnegq_s8(v), v));
  }
}

// ---- for benches --------------------------------------------------------------------------------------------------------------

// The shortest exact sequence for signed codes: two products of 8, and their sums in pairs: 16 multiply-adds.
uint64_t peak_int8(uint64_t n) {
  int32x4_t acc[8], t[8];
  const int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(-5);
  UNROLL for (int i = 0; i < 8; ++i) acc[i] = vdupq_n_s32(i);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 8; ++j) asm volatile(
        "smull %1.8h, %2.8b, %3.8b\n\tsmlal2 %1.8h, %2.16b, %3.16b\n\tsadalp %0.4s, %1.8h" : "+w"(acc[j]), "=&w"(t[j]) : "w"(a), "w"(b));
  UNROLL for (int i = 0; i < 8; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 8 * 16;
}

uint64_t read_all(const void* p, size_t bytes) {
  const uint8_t* c = static_cast<const uint8_t*>(p);
  uint8x16_t sum[8];
  UNROLL for (int i = 0; i < 8; ++i) sum[i] = vdupq_n_u8(0);
  for (size_t at = 0; at < bytes; at += 128) UNROLL for (int i = 0; i < 8; ++i) sum[i] = veorq_u8(sum[i], vld1q_u8(c + at + i * 16));
  UNROLL for (int i = 1; i < 8; ++i) sum[0] = veorq_u8(sum[0], sum[i]);
  const uint64x2_t v = vreinterpretq_u64_u8(sum[0]);
  return vgetq_lane_u64(v, 0) ^ vgetq_lane_u64(v, 1);
}

uint64_t peak_f32(uint64_t n) {
  float32x4_t acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = vdupq_n_f32(0.0f);
  const float32x4_t a = vdupq_n_f32(0.5f), b = vdupq_n_f32(0.25f);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 16; ++j) asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc[j]) : "w"(a), "w"(b));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 16 * 4;
}

// Products are added in 16 bits as long as they fit there.
struct RowProduct {
  static constexpr int kMost = 127, kRegisters = 8, kRows = 1;
  static constexpr uint32_t kManyRows = 3, kManyDear = 2;
  static INLINE int8x16_t four(const int8_t* x) { return four_inputs(x); }
  template <int kMost>
  struct Sum {
    static constexpr int kFit = 32767 / (127 * (kMost ? kMost : 127));
    int16x8_t products[4][2];
    int32x4_t pairs[4][2];
    int n = 0;  // lines

    INLINE void add(Bytes codes, int8x16_t x) {
      UNROLL for (int q = 0; q < 4; ++q) {
        const int8x16_t w = vreinterpretq_s8_u8(codes.v[q]);
        if (n % kFit == 0) {
          if (n) UNROLL for (int h = 0; h < 2; ++h) pairs[q][h] = in_pairs(q, h);
          products[q][0] = vmull_s8(vget_low_s8(w), vget_low_s8(x));
          products[q][1] = vmull_high_s8(w, x);
        } else {
          products[q][0] = vmlal_s8(products[q][0], vget_low_s8(w), vget_low_s8(x));
          products[q][1] = vmlal_high_s8(products[q][1], w, x);
        }
      }
      ++n;
    }
    INLINE int32x4_t in_pairs(int q, int h) const {
      return n > kFit ? vpadalq_s16(pairs[q][h], products[q][h]) : vpaddlq_s16(products[q][h]);
    }
    INLINE Vi total() const {
      Vi t;
      UNROLL for (int q = 0; q < 4; ++q) t.v[q] = vpaddq_s32(in_pairs(q, 0), in_pairs(q, 1));
      return t;
    }
  };
};

const GemmKernel kGemm[] = {
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, 1, gemm_float<type>, peak_f32},
#define LINNET_FP8(name, NAME, ...) {LINNET_##NAME, 1, gemm_f8 < LINNET_##NAME != LINNET_F8E5M2 >, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) \
  {LINNET_##NAME, 1, gemm_unpacked<kind, LINNET_##NAME, Int::of<kBytes, kStepF32>, RowProduct>, peak_int8},
#define LINNET_TABLES(name, NAME, table, scale) \
  {LINNET_##NAME, 1, gemm_table<&FloatTables::table, kStep##scale, FloatTable, kTiles>, peak_f32},
#include "../runtime/formats.inc"
};

constexpr UnpackBlocks kUnpack[] = {
#define LINNET_BLOCKS(name, NAME, kind, ...) kind::unpack<0>,
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable neon_table = {
    .isa = LINNET_ISA_NEON,
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
    .softmax_block = softmax_block<Silent>,
    .planes = planes<Silent>,
    .attn_pv = attn_pv_by<Widen>,
    .attn_pv_float = attn_pv_float,
    .byte_table = byte_table,
    .turn_panels = turn_panels,
    .merge_row = merge_row,
    .delta_steps = delta_steps,
    .scale_row = scale_row,
    .find_above = find_above,
    .exp_row = exp_row,
    .unpack = kUnpack,
    .read_all = read_all,
};

}  // namespace linnet
