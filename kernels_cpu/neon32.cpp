// NEON of 32-bit ARM (Cortex-A7, A15 and later), bit-equal to scalar.cpp. Its NEON flushes denormals, so floats stay in the VFP:
// scalar.cpp's own code with hardware for fmaf, which the baseline lacks; only products of codes are vectors.
#if !defined(__ARM_NEON) || !defined(__ARM_FEATURE_FMA)
#error "neon32.cpp needs -mfpu=neon-vfpv4"
#endif
#include <arm_neon.h>

#define LINNET_IN_NEON32 1
#include "scalar.cpp"

namespace linnet {
namespace {

// Products of 16 outputs by 4 inputs, added in pairs to 32 bits.
struct Sums {
  int32x4_t of[4][2];  // of a quarter's outputs 0, 1 and 2, 3: two sums each
};
inline void add(Sums& s, int q, int8x16_t w, int8x8_t x) {
  s.of[q][0] = vpadalq_s16(s.of[q][0], vmull_s8(vget_low_s8(w), x));
  s.of[q][1] = vpadalq_s16(s.of[q][1], vmull_s8(vget_high_s8(w), x));
}
inline void total(const Sums& s, int32_t dot[16]) {
  for (int q = 0; q < 4; ++q)
    for (int half = 0; half < 2; ++half)
      vst1_s32(dot + q * 4 + half * 2, vpadd_s32(vget_low_s32(s.of[q][half]), vget_high_s32(s.of[q][half])));
}
inline int8x8_t four(const void* x) {  // four inputs, twice
  int32_t word;
  __builtin_memcpy(&word, x, 4);
  return vreinterpret_s8_s32(vdup_n_s32(word));
}

template <Codes kCodes, bool kGroups, ScaleStep kStep>
void gemm_codes(const GemmArgs* args) {
  const GemmArgs& a = *args;
  const uint32_t kpad = round_up(a.k, 32);
  for (uint32_t panel = 0; panel < a.n_panels; ++panel) {
    const void* w_scale = static_cast<const char*>(a.w_scale) + panel * a.w_scale_stride;
    for (uint32_t row = 0; row < a.m; ++row) {
      const uint8_t* w = static_cast<const uint8_t*>(a.w) + panel * a.w_stride;
      const int8_t* x = static_cast<const int8_t*>(a.x) + row * a.x_stride;
      float acc[16] = {};
      for (uint32_t g = 0; g < a.x_groups; ++g) {
        const uint32_t from = g * a.x_group, n = kpad - from < a.x_group ? kpad - from : a.x_group;
        Sums sums = {};
        for (uint32_t i = 0; i < n; i += 8, x += 8, w += kCodes == kBytes ? 128 : 64) {
          const int8x8_t first = four(x), second = four(x + 4);
          for (int q = 0; q < 4; ++q) {
            const uint8x16_t v = vld1q_u8(w + q * 16);
            if (kCodes == kBytes) {
              add(sums, q, vreinterpretq_s8_u8(v), first);
              add(sums, q, vreinterpretq_s8_u8(vld1q_u8(w + 64 + q * 16)), second);
            } else {
              add(sums, q, vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15))), first);
              add(sums, q, vreinterpretq_s8_u8(vshrq_n_u8(v, 4)), second);
            }
          }
        }
        int32_t dot[16];
        total(sums, dot);
        const float x_scale = a.x_scale[row * size_t{a.x_groups} + g];
        const int32_t sum128 = a.x_sum128[row * size_t{a.x_groups} + g];  // takes back what codes are stored more
        for (uint32_t j = 0; j < 16; ++j) {
          if (kCodes == kNibbles) dot[j] += sum128 / 16;
          if (kCodes == kNibblesZero) dot[j] += sum128 / 128 * static_cast<const uint8_t*>(w_scale)[g * size_t{48} + 32 + j];
          const float scale = scale_at<kStep>(w_scale, kGroups ? g : 0, static_cast<int>(j));
          acc[j] = __builtin_fmaf(static_cast<float>(dot[j]), scale * x_scale, acc[j]);
        }
      }
      store(a, row, panel, acc);
    }
  }
}

void attn_pv_codes(const uint8_t* hi, const uint8_t* lo, uint32_t rows, const int8_t* const* pages, uint32_t n_pages, uint32_t d_panels,
                   const float* p_scale, float* acc, size_t acc_stride, Fetch*) {
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t d = 0; d < d_panels; ++d) {
      Sums sums[2] = {};
      for (uint32_t i = 0; i < n_pages; ++i)
        for (uint32_t t = 0; t < 16; t += 4) {
          const int8x8_t x[2] = {four(hi + r * size_t{256} + i * 16 + t), four(lo + r * size_t{256} + i * 16 + t)};
          for (int q = 0; q < 4; ++q) {
            const int8x16_t v = vld1q_s8(pages[i] + d * size_t{256} + t * 16 + q * 16);
            for (int j = 0; j < 2; ++j) add(sums[j], q, v, x[j]);
          }
        }
      int32_t dot[2][16];
      for (int j = 0; j < 2; ++j) total(sums[j], dot[j]);
      float* out = acc + r * acc_stride + d * size_t{16};
      for (int j = 0; j < 16; ++j) out[j] = static_cast<float>(128 * dot[0][j] + dot[1][j]) * p_scale[r];
    }
}

// The shortest exact sequence: 8 products, added in pairs.
uint64_t peak_codes(uint64_t n) {
  int32x4_t acc[8];
  const int8x8_t a = vdup_n_s8(3), b = vdup_n_s8(-5);
  for (int i = 0; i < 8; ++i) acc[i] = vdupq_n_s32(i);
  for (uint64_t i = 0; i < n; ++i)
    for (int j = 0; j < 8; ++j) {
      int16x8_t t;
      asm volatile("vmull.s8 %q1, %P2, %P3\n\tvpadal.s16 %q0, %q1" : "+w"(acc[j]), "=&w"(t) : "w"(a), "w"(b));
    }
  for (int i = 0; i < 8; ++i) asm volatile("" ::"w"(acc[i]));
  return n * 8 * 8;
}

uint64_t read_vectors(const void* p, size_t bytes) {
  const uint8_t* c = static_cast<const uint8_t*>(p);
  uint8x16_t sum[4] = {};
  for (size_t at = 0; at < bytes; at += 64)
    for (int i = 0; i < 4; ++i) sum[i] = veorq_u8(sum[i], vld1q_u8(c + at + i * 16));
  const uint64x2_t v = vreinterpretq_u64_u8(veorq_u8(veorq_u8(sum[0], sum[1]), veorq_u8(sum[2], sum[3])));
  return vgetq_lane_u64(v, 0) ^ vgetq_lane_u64(v, 1);
}

const GemmKernel kGemm32[] = {
#define LINNET_FLOATS(name, NAME, type, bits) {LINNET_##NAME, 1, gemm_float<type>, peak_f32},
#define LINNET_FP8(name, NAME, type, ...) {LINNET_##NAME, 1, gemm_f8<type::of>, peak_f32},
#define LINNET_TABLES(name, NAME, table, scale) {LINNET_##NAME, 1, gemm_table<&FloatTables::table, kStep##scale>, peak_f32},
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  {LINNET_##NAME, 1, gemm_codes<k##codes, (w_group != 0), kStep##scale>, peak_codes},
#include "../runtime/formats.inc"
};

constexpr KernelTable with_codes() {
  KernelTable t = kTable;
  t.isa = LINNET_ISA_NEON;
  t.gemm = kGemm32;
  t.n_gemm = sizeof kGemm32 / sizeof kGemm32[0];
  t.attn_pv = attn_pv_codes;
  t.read_all = read_vectors;
  return t;
}

}  // namespace

const KernelTable neon_table = with_codes();

}  // namespace linnet
