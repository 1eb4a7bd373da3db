// NEON with the dot product instructions (ARMv8.2 and later: Cortex-A55, A76, A78AE), bit-equal to scalar.cpp.
#if !defined(__ARM_FEATURE_DOTPROD)
#error "neon_dotprod.cpp needs -march=armv8.2-a+dotprod"
#endif
#include "neon.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

// One instruction is 4 outputs by 4 inputs; kChains sums a quarter, so that a row alone does not wait for itself.
template <int kChains>
struct Sdot {
  static constexpr int kRows = 1;
  int32x4_t sum[4][kChains] = {};

  template <int kInput>
  static INLINE void dot4(int32x4_t& acc, int8x16_t w, int8x16_t x) {  // GCC 12 copies the sums around the intrinsic
    asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(acc) : "w"(w), "w"(x), "i"(kInput));
  }
  INLINE void add(int q, int half, const Pair& w, const int8x16_t* x) {
    if (half == 0) {
      dot4<0>(sum[q][0], w.first, *x);
      dot4<1>(sum[q][kChains - 1], w.second, *x);
    } else {
      dot4<2>(sum[q][0], w.first, *x);
      dot4<3>(sum[q][kChains - 1], w.second, *x);
    }
  }
  INLINE int32x4_t total(int q, int) const { return kChains == 1 ? sum[q][0] : vaddq_s32(sum[q][0], sum[q][kChains - 1]); }
};

using Int = IntKernels<Sdot<2>, Sdot<1>, 8, 2>;

// Register-only `sdot`: 16 multiply-adds each.
uint64_t peak_int8(uint64_t n) {
  int32x4_t acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = vdupq_n_s32(i);
  const int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(-5);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 16; ++j) asm volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc[j]) : "w"(a), "w"(b));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 16 * 16;
}

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) \
  {LINNET_##NAME, 1, gemm_unpacked<kind, LINNET_##NAME, Int::of<kBytes, kStepF32>, RowProduct, &neon_table>, peak_int8},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable neon_dotprod_table = {
    .isa = LINNET_ISA_NEON_DOTPROD,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv_by<Sdot<1>>,
};

}  // namespace linnet
