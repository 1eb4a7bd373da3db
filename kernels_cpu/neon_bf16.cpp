// NEON with bf16: FP8 weights times bf16 rows. Not the bits of scalar.cpp: the instruction adds in pairs, rounds to odd and flushes
// subnormals.
#if !defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#error "neon_bf16.cpp needs -march=armv8.2-a+bf16"
#endif
#include "neon.h"

namespace linnet {
namespace {

// A group of four inputs of 16 outputs: inputs 0 and 2 of four outputs in each of the first half, inputs 1 and 3 in the second.
struct Group {
  bfloat16x8_t pair[2][4];
};

template <bool kE4M3>
INLINE Group decode(const uint8_t* w) {
  Group g;
  UNROLL for (int q = 0; q < 4; ++q) {
    const uint32x4_t four = vreinterpretq_u32_u8(vld1q_u8(w + q * 16));
    UNROLL for (int half = 0; half < 2; ++half) g.pair[half][q] =
        vreinterpretq_bf16_u32(vsriq_n_u32(from_f8<kE4M3>(four, half + 2), from_f8<kE4M3>(four, half), 16));
  }
  return g;
}

// R rows by one panel: sums of `groups` decoded groups. x: bf16, of every four inputs in the order 0 2 1 3.
template <int R>
INLINE void add_groups(const GemmArgs& a, const uint8_t* x, const Group* g, uint32_t groups, V* acc) {
  for (uint32_t i = 0; i < groups; ++i, x += 8) {
    bfloat16x4_t s[R];
    UNROLL for (int r = 0; r < R; ++r) s[r] =
        vreinterpret_bf16_u16(vld1_u16(reinterpret_cast<const uint16_t*>(x + static_cast<size_t>(r) * a.x_stride)));
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int q = 0; q < 4; ++q) acc[r].v[q] =
        vbfdotq_lane_f32(acc[r].v[q], g[i].pair[0][q], s[r], 0);
    UNROLL for (int r = 0; r < R; ++r) UNROLL for (int q = 0; q < 4; ++q) acc[r].v[q] =
        vbfdotq_lane_f32(acc[r].v[q], g[i].pair[1][q], s[r], 1);
  }
}

// Four rows stay in registers over a block.
template <int R>
void block_tile(const GemmArgs& a, const uint8_t* x, const Group* block, uint32_t groups, V* sums) {
  V acc[R];
  UNROLL for (int r = 0; r < R; ++r) acc[r] = sums[r];
  add_groups<R>(a, x, block, groups, acc);
  UNROLL for (int r = 0; r < R; ++r) sums[r] = acc[r];
}

constexpr uint32_t kBlock = 64, kRows = 64;  // groups that are decoded once (8 KiB) for so many rows

template <bool kE4M3>
void gemm_f8(const GemmArgs* args) {
  const GemmArgs& a = *args;
  Group block[kBlock];
  V sums[kRows], total[kRows];
  const uint32_t all_groups = (a.k + 31) / 32 * 8, of_scale = a.w_group ? a.w_group / 4 : all_groups;
  for (uint32_t panel = 0; panel < a.n_panels; ++panel)
    for (uint32_t row = 0; row < a.m; row += kRows) {
      const uint32_t rows = a.m - row < kRows ? a.m - row : kRows;
      for (uint32_t r = 0; r < rows; ++r) sums[r] = all(0.0f);
      const auto* scales = reinterpret_cast<const float*>(static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride);
      for (uint32_t from = 0, groups; from < all_groups; from += groups) {
        const uint32_t most = of_scale - from % of_scale, rest = all_groups - from < most ? all_groups - from : most;
        groups = rest < kBlock ? rest : kBlock;
        const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride + from * size_t{64};
        const uint8_t* x = static_cast<const uint8_t*>(a.x) + row * a.x_stride + from * size_t{8};
        if (rows == 1) {  // nothing to share: decoded on the way
          for (uint32_t i = 0; i < groups; ++i) {
            const Group g = decode<kE4M3>(w + i * size_t{64});
            add_groups<1>(a, x + i * size_t{8}, &g, 1, sums);
          }
        } else {
          for (uint32_t i = 0; i < groups; ++i) block[i] = decode<kE4M3>(w + i * size_t{64});
          for (uint32_t r = 0; r < rows;) {
            const uint32_t step = rows - r >= 4 ? 4 : rows - r >= 2 ? 2 : 1;
            (step == 4 ? block_tile<4> : step == 2 ? block_tile<2> : block_tile<1>)(a, x + r * a.x_stride, block, groups, sums + r);
            r += step;
          }
        }
        if (groups < rest) continue;
        const uint32_t g = from / of_scale;
        const V scale = load(scales + g * size_t{16});
        for (uint32_t r = 0; r < rows; ++r) {
          total[r] = g ? fma(sums[r], scale, total[r]) : mul(sums[r], scale);
          sums[r] = all(0.0f);
        }
      }
      for (uint32_t r = 0; r < rows; ++r) finish(a, row + r, panel, total[r]);
    }
}

// Register-only `bfdot`: 8 multiply-adds each. Constants that GCC 12 does not take for halves, whose moves this CPU may not have.
uint64_t peak_bf16(uint64_t n) {
  float32x4_t acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = vdupq_n_f32(0.0f);
  const bfloat16x8_t u = vreinterpretq_bf16_u16(vdupq_n_u16(0x3F01)), s = vreinterpretq_bf16_u16(vdupq_n_u16(0x3E81));
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 16; ++j) asm volatile("bfdot %0.4s, %1.8h, %2.8h" : "+w"(acc[j]) : "w"(u), "w"(s));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 16 * 8;
}

const GemmKernel kGemm[] = {
    {LINNET_F8E4M3, 0, gemm_f8<true>, peak_bf16},
    {LINNET_F8E5M2, 0, gemm_f8<false>, peak_bf16},
    {LINNET_F8E4M3G128, 0, gemm_f8<true>, peak_bf16},
};

}  // namespace

const KernelTable neon_bf16_table = {
    .isa = LINNET_ISA_NEON_BF16,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
};

}  // namespace linnet
