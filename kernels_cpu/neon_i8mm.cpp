// NEON with the int8 matrix instructions (ARMv8.6: Neoverse V1 and later, Cortex-A510, A715, Thor), bit-equal to scalar.cpp.
#if !defined(__ARM_FEATURE_DOTPROD) || !defined(__ARM_FEATURE_MATMUL_INT8)
#error "neon_i8mm.cpp needs -march=armv8.2-a+dotprod+i8mm"
#endif
#include "neon.h"
#include "unpacked_rows.h"

namespace linnet {
namespace {

// A row alone.
struct Sdot {
  static constexpr int kRows = 1;
  int32x4_t sum[4][2] = {};

  template <int kInput>
  static INLINE void dot4(int32x4_t& acc, int8x16_t w, int8x16_t x) {
    asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(acc) : "w"(w), "w"(x), "i"(kInput));
  }
  INLINE void add(int q, int half, const Pair& w, const int8x16_t* x) {
    if (half == 0) {
      dot4<0>(sum[q][0], w.first, *x);
      dot4<1>(sum[q][1], w.second, *x);
    } else {
      dot4<2>(sum[q][0], w.first, *x);
      dot4<3>(sum[q][1], w.second, *x);
    }
  }
  INLINE int32x4_t total(int q, int) const { return vaddq_s32(sum[q][0], sum[q][1]); }
};

// Two rows by two outputs by 8 inputs an instruction: the zips put the 8 inputs of an output side by side.
struct Smmla {
  static constexpr int kRows = 2;
  static INLINE void mmla(int32x4_t& acc, int8x16_t x, int32x4_t w) {  // GCC 12 copies the sums around the intrinsic
    asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(x), "w"(w));
  }
  int32x4_t sum[4][2] = {};  // of a quarter's outputs 0, 1 and 2, 3: row 0 in the low half, row 1 in the high one

  INLINE void add(int q, int half, const Pair& w, const int8x16_t* x) {
    const int64x2_t x0 = vreinterpretq_s64_s8(x[0]), x1 = vreinterpretq_s64_s8(x[1]);
    const int8x16_t rows = vreinterpretq_s8_s64(half == 0 ? vzip1q_s64(x0, x1) : vzip2q_s64(x0, x1));
    const int32x4_t a = vreinterpretq_s32_s8(w.first), b = vreinterpretq_s32_s8(w.second);
    mmla(sum[q][0], rows, vzip1q_s32(a, b));
    mmla(sum[q][1], rows, vzip2q_s32(a, b));
  }
  INLINE int32x4_t total(int q, int row) const {
    const int64x2_t a = vreinterpretq_s64_s32(sum[q][0]), b = vreinterpretq_s64_s32(sum[q][1]);
    return vreinterpretq_s32_s64(row == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
  }
};

using Int = IntKernels<Sdot, Smmla, 8, 2>;

// Register-only `smmla`: 32 multiply-adds each.
uint64_t peak_int8(uint64_t n) {
  int32x4_t acc[16];
  UNROLL for (int i = 0; i < 16; ++i) acc[i] = vdupq_n_s32(i);
  const int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(-5);
  for (uint64_t i = 0; i < n; ++i)
    UNROLL for (int j = 0; j < 16; ++j) asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(acc[j]) : "w"(a), "w"(b));
  UNROLL for (int i = 0; i < 16; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 16 * 32;
}

const GemmKernel kGemm[] = {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, Int::of < k##codes, w_group ? kStep##scale : kStepNone >, peak_int8},
#define LINNET_BLOCKS(name, NAME, kind, ...) \
  {LINNET_##NAME, 1, gemm_unpacked<kind, LINNET_##NAME, Int::of<kBytes, kStepF32>, RowProduct, &neon_table>, peak_int8},
#include "../runtime/formats.inc"
};

}  // namespace

const KernelTable neon_i8mm_table = {
    .isa = LINNET_ISA_NEON_I8MM,
    .gemm = kGemm,
    .n_gemm = sizeof kGemm / sizeof kGemm[0],
    .attn_pv = attn_pv_by<Smmla>,
};

}  // namespace linnet
