// Products with packed weights as they lie in the file. A warp takes two panels, 32 outputs, as A fragments straight from global memory, 16
// bytes a lane: four outputs by four inputs (eight of nibbles). What order the inputs of a group come in is free, since sums of integers
// are exact, so lane c of four has inputs 8 c .. 8 c + 7 of every 32, in x as well.
#include "block_kinds.h"
#include "gemm_args.h"
#include "products.h"

namespace linnet {

LINNET_ON_GPU float f32_of_bf16(uint16_t h) { return float_of(static_cast<uint32_t>(h) << 16); }
LINNET_ON_GPU float f32_of_e4m3(uint32_t c) {
  const uint32_t a = c & 0x7Fu, sign = (c & 0x80u) << 24;
  return float_of(sign | (a == 0x7F ? 0x7FC00000u : bits_of(float_of(a << 20) * 1.329227995784916e36f)));  // 2^120
}
LINNET_ON_GPU float f32_of_e5m2(uint32_t c) { return f32_of_f16(static_cast<uint16_t>(c << 8)); }

// ---- weights ------------------------------------------------------------------------------------------------------------------
// Of every 32 inputs: kLoads times 16 bytes of a lane; kX bytes of x in a lane, kTerms planes of them one behind the other; fragments for
// two products of 16 outputs, of which lane l's outputs are 4 * (l / 4 % 4) + 2 * t + 0 and 1 in panel l / 16; the parts of a group's sum.
// kGroups: x has a scale for each group; kScales: the weights have some.

struct Bytes {
  static constexpr uint32_t kLoads = 2, kX = 8, kTerms = 1, kStep = 512, kFill = 0;  // kStep: bytes of a panel
  static constexpr bool kInteger = true, kZeros = false, kGroups = true, kScales = true;
  using Sum = int;
  struct Fragments {
    uint32_t a[2][4];
  };
  LINNET_ON_GPU uint32_t place(uint32_t lane) { return lane % 4 * 128 + lane / 4 % 4 * 16; }
  // A fragment is of two loads. The compiler would put it together before every product, with as many moves as a zero that it does not know
  // costs once.
  LINNET_ON_GPU void decode(const uint4 (&w)[2], Fragments& f, uint32_t zero) {
    f.a[0][0] = w[0].x ^ zero, f.a[0][1] = w[0].y ^ zero, f.a[0][2] = w[1].x ^ zero, f.a[0][3] = w[1].y ^ zero;
    f.a[1][0] = w[0].z ^ zero, f.a[1][1] = w[0].w ^ zero, f.a[1][2] = w[1].z ^ zero, f.a[1][3] = w[1].w ^ zero;
  }
  LINNET_ON_GPU void multiply(int (&c)[2][4], const Fragments& f, int t, const uint32_t (&x)[2], bool first) {
    const int start[4] = {kSumStart, kSumStart, kSumStart, kSumStart};
    if (first)
      mma_i8(c[t], f.a[t], x, start);
    else
      mma_i8(c[t], f.a[t], x);
  }
  LINNET_ON_GPU float sum_of(int c) { return float_of(static_cast<uint32_t>(c)) - kSumZero; }
};

// (code - 8) * 16 is the nibble in a byte's upper half with its top bit turned.
struct Nibbles {
  static constexpr uint32_t kLoads = 1, kX = 8, kTerms = 1, kStep = 256, kFill = 0x88888888u;
  static constexpr bool kInteger = true, kZeros = true, kGroups = true, kScales = true;
  using Sum = int;
  using Fragments = Bytes::Fragments;
  LINNET_ON_GPU uint32_t place(uint32_t lane) { return lane % 4 * 64 + lane / 4 % 4 * 16; }
  LINNET_ON_GPU uint32_t low(uint32_t w) { return (w << 4 & 0xF0F0F0F0u) ^ 0x80808080u; }
  LINNET_ON_GPU uint32_t high(uint32_t w) { return (w & 0xF0F0F0F0u) ^ 0x80808080u; }
  LINNET_ON_GPU void decode(const uint4 (&w)[1], Fragments& f, uint32_t) {
    f.a[0][0] = low(w[0].x), f.a[0][1] = low(w[0].y), f.a[0][2] = high(w[0].x), f.a[0][3] = high(w[0].y);
    f.a[1][0] = low(w[0].z), f.a[1][1] = low(w[0].w), f.a[1][2] = high(w[0].z), f.a[1][3] = high(w[0].w);
  }
  LINNET_ON_GPU void multiply(int (&c)[2][4], const Fragments& f, int t, const uint32_t (&x)[2], bool first) {
    Bytes::multiply(c, f, t, x, first);
  }
  LINNET_ON_GPU float sum_of(int c) { return fma_of(float_of(static_cast<uint32_t>(c)), 0.0625f, kSumZero * -0.0625f); }
};

// Two of four FP8 codes (inputs 0 and 2, or 1 and 3, as x has them) as bf16: the exponent is put right by an exact product. Codes that are
// no numbers are not looked for.
template <uint32_t kShift, uint32_t kScale>
struct Fp8 {
  static constexpr uint32_t kLoads = 2, kX = 16, kTerms = 1, kStep = 512, kFill = 0;
  static constexpr bool kInteger = false, kZeros = false, kGroups = false, kScales = true;
  using Sum = float;
  struct Fragments {
    uint32_t a[2][2][4];
  };
  LINNET_ON_GPU uint32_t place(uint32_t lane) { return Bytes::place(lane); }
  LINNET_ON_GPU uint32_t pair(uint32_t w) { return mul_bf16((w & 0x00800080u) << 8 | (w & 0x007F007Fu) << kShift, kScale << 16 | kScale); }
  LINNET_ON_GPU void decode(const uint4 (&w)[2], Fragments& f, uint32_t) {
    for (int i = 0; i < 2; ++i) {
      f.a[0][i][0] = pair(w[i].x), f.a[0][i][1] = pair(w[i].y), f.a[0][i][2] = pair(w[i].x >> 8), f.a[0][i][3] = pair(w[i].y >> 8);
      f.a[1][i][0] = pair(w[i].z), f.a[1][i][1] = pair(w[i].w), f.a[1][i][2] = pair(w[i].z >> 8), f.a[1][i][3] = pair(w[i].w >> 8);
    }
  }
  LINNET_ON_GPU void multiply(float (&c)[2][4], const Fragments& f, int t, const uint32_t (&x)[4], bool first) {
    for (int e = 0; first && e < 4; ++e) c[t][e] = 0.0f;
    for (int i = 0; i < 2; ++i) {
      const uint32_t b[2] = {x[i * 2], x[i * 2 + 1]};
      mma_bf16(c[t], f.a[t][i], b);
    }
  }
  LINNET_ON_GPU float sum_of(float c) { return c; }
};
using E4m3 = Fp8<4, 0x7B80>;  // 2^120
using E5m2 = Fp8<5, 0x7780>;  // 2^112

// Float weights as they lie, [inputs][16]: a lane has four outputs of inputs 8 c .. 8 c + 7, 8 bytes of each. x is the sum of terms in the
// weights' format, whose products are exact.
template <bool kF16>
struct Terms {
  static constexpr uint32_t kLoads = 4, kTerms = kF16 ? 2 : 3, kX = 16 * kTerms, kStep = 1024, kFill = 0;
  static constexpr bool kInteger = false, kZeros = false, kGroups = kF16, kScales = false;
  using Sum = float;
  using Fragments = E4m3::Fragments;
  LINNET_ON_GPU uint32_t place(uint32_t lane) { return lane % 4 * 256 + lane / 4 % 4 * 8; }
  LINNET_ON_GPU uint32_t low(uint32_t a, uint32_t b) { return (a & 0xFFFFu) | b << 16; }
  LINNET_ON_GPU uint32_t high(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xFFFF0000u); }
  LINNET_ON_GPU void decode(const uint4 (&w)[4], Fragments& f, uint32_t) {
    for (int i = 0; i < 2; ++i) {
      const uint4 &a = w[i * 2], &b = w[i * 2 + 1];
      f.a[0][i][0] = low(a.x, a.z), f.a[0][i][1] = high(a.x, a.z), f.a[0][i][2] = low(b.x, b.z), f.a[0][i][3] = high(b.x, b.z);
      f.a[1][i][0] = low(a.y, a.w), f.a[1][i][1] = high(a.y, a.w), f.a[1][i][2] = low(b.y, b.w), f.a[1][i][3] = high(b.y, b.w);
    }
  }
  LINNET_ON_GPU void multiply(float (&c)[2][4], const Fragments& f, int t, const uint32_t (&x)[kX / 4], bool first) {
    for (int e = 0; first && e < 4; ++e) c[t][e] = 0.0f;
    for (int term = static_cast<int>(kTerms) - 1; term >= 0; --term)  // the smallest first
      for (int i = 0; i < 2; ++i) {
        const uint32_t b[2] = {x[term * 4 + i * 2], x[term * 4 + i * 2 + 1]};
        if (kF16)
          mma_f16(c[t], f.a[t][i], b);
        else
          mma_bf16(c[t], f.a[t][i], b);
      }
  }
  LINNET_ON_GPU float sum_of(float c) { return c; }
};

// 32 inputs of a panel; `panel` is where this lane reads in the first ones. there: 32s of inputs; of float weights the inputs from the
// lane's first on.
template <class W>
LINNET_ON_GPU void load_weights(const uint8_t* panel, uint32_t there, uint32_t step, uint4 (&w)[W::kLoads]) {
  for (uint32_t i = 0; i < W::kLoads; ++i) {
    if constexpr (W::kX <= 16) {
      w[i] = step < there ? load16(panel + step * W::kStep + i * 64) : make_uint4(W::kFill, W::kFill, W::kFill, W::kFill);
    } else {
      const auto* from = reinterpret_cast<const uint2*>(panel + uint64_t{step} * W::kStep + i * 64);
      const uint2 none = make_uint2(0, 0), a = step * 32 + i * 2 < there ? __ldg(from) : none,
                  b = step * 32 + i * 2 + 1 < there ? __ldg(from + 4) : none;
      w[i] = make_uint4(a.x, a.y, b.x, b.y);
    }
  }
}

// Scales of a lane's four outputs, of group g; zero: 8 less the zero points.
struct Scales {
  float s[4], zero[4];
};
template <class W>
LINNET_ON_GPU void load_scales(const CudaMatrix& w, const uint8_t* scales, bool zeros, uint32_t lane, uint32_t g, Scales& to) {
  const uint32_t j = lane / 4 % 4 * 4, at = w.w_groups == 1 ? 0 : g;
  for (int e = 0; e < 4; ++e) to.zero[e] = 0.0f, to.s[e] = 1.0f;
  if (!W::kScales) return;
  if (!W::kZeros) {
    const uint4 v = load16(scales + (at * uint64_t{16} + j) * 4);
    to.s[0] = float_of(v.x), to.s[1] = float_of(v.y), to.s[2] = float_of(v.z), to.s[3] = float_of(v.w);
    return;
  }
  const uint8_t* from = scales + at * uint64_t{zeros ? 48u : 32u};
  floats_of_halves(__ldg(reinterpret_cast<const uint2*>(from + j * 2)), to.s);
  if (!zeros) return;
  const uint32_t z = __ldg(reinterpret_cast<const uint32_t*>(from + 32 + j));
  for (uint32_t e = 0; e < 4; ++e) to.zero[e] = 8.0f - static_cast<float>(z >> (e * 8) & 255);
}

// Groups of 64 and 32 end too often to wait for theirs. Of 128 inputs a lane has at most 32 bytes of them: two of floats or four of halves.
template <class W>
LINNET_ON_GPU bool scales_are_floats(const CudaMatrix& w) {
  return !W::kZeros && w.format == kCudaI8G64;
}
// Few rows have them in registers, 128 inputs ahead: step s's group its f16 in part s, its floats in parts s - 1 and s. What is behind the
// last group is at hand.
template <class W>
LINNET_ON_GPU uint2 scale_part(const CudaMatrix& w, const uint8_t* scales, uint32_t lane, uint32_t group, uint32_t stage, uint32_t s) {
  const uint32_t j = lane / 4 % 4 * 4, g = stage * (128 / group) + s * 32 / group;
  const uint64_t at = g < w.w_groups ? g : w.w_groups - 1;
  return __ldg(reinterpret_cast<const uint2*>(scales + (scales_are_floats<W>(w) ? at * 64 + j * 4 + s % 2 * 8 : at * 32 + j * 2)));
}
template <class W>
LINNET_ON_GPU void join_parts(const CudaMatrix& w, const uint2& before, const uint2& last, Scales& to) {
  for (int e = 0; e < 4; ++e) to.zero[e] = 0.0f;
  if (scales_are_floats<W>(w))
    to.s[0] = float_of(before.x), to.s[1] = float_of(before.y), to.s[2] = float_of(last.x), to.s[3] = float_of(last.y);
  else
    floats_of_halves(last, to.s);
}

// ---- few rows -----------------------------------------------------------------------------------------------------------------
// Each warp has all groups of its panels, or, where those are few for the GPU, `split` warps have every split-th 128 inputs; then what the
// groups give is kept in shared memory and added up in order by a thread for each output.

struct Term {
  float sum, scale;
};

template <class W, bool kWide>
LINNET_ON_GPU void gemv(const GemmArgs& a) {
  LINNET_DYNAMIC_SHARED(shared);
  Term* terms = reinterpret_cast<Term*>(shared);  // [pairs of the block][groups of a round][m][32]
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, pairs = kGemvWarps / a.split, local = warp / a.split,
                 turn = warp % a.split;
  const uint32_t column = lane / 4, c = lane % 4;
  const uint32_t steps = (a.w.k + 31) / 32, stages = (a.w.k + 127) / 128, group = kWide ? 128 : a.group,
                 groups = kWide ? stages : a.x_groups, per_stage = 128 / group;
  const bool zeros = W::kZeros && kWide && a.w.format == kCudaI4G128Z;
  for (uint32_t z = blockIdx.z; z < works_of(a); z += gridDim.z) {
    Work work;
    if (!work_of(a, z, &work)) break;
    for (uint32_t row0 = blockIdx.y * kGemvRows; row0 < work.m; row0 += gridDim.y * kGemvRows) {
      const uint32_t m = work.m - row0 < kGemvRows ? work.m - row0 : kGemvRows, first = (blockIdx.x * pairs + local) * 2;
      const bool mine = first < a.panels;
      const uint32_t panel = first + lane / 16 < a.panels ? first + lane / 16 : a.panels - 1;
      const uint8_t *w = panel_at(a.w, work.panel + panel) + W::place(lane), *scales = scales_at(a.w, work.panel + panel);
      const uint8_t* x = work.x + uint64_t{row0 + (column < m ? column : m - 1)} * a.x_stride + c * W::kX;
      const uint32_t scale_at[2] = {(row0 + (c * 2 < m ? c * 2 : m - 1)) * a.x_groups,
                                    (row0 + (c * 2 + 1 < m ? c * 2 + 1 : m - 1)) * a.x_groups};
      // Groups of a round: whole stages, as many as terms have room for; without a split one round is all.
      const uint32_t room = kGemvShared / (pairs * m * 32 * static_cast<uint32_t>(sizeof(Term))) / per_stage;
      const uint32_t round = a.split == 1 ? stages : room;
      float acc[2][4] = {};  // without a split: this lane's outputs; else acc[0], of the thread's own outputs
      for (uint32_t begin = 0; begin < stages; begin += round) {
        const uint32_t end = stages - begin < round ? stages : begin + round;
        uint4 next[4][W::kLoads];
        uint2 parts[4];
        if (mine && begin + turn < end)
          for (uint32_t s = 0; s < 4; ++s) {
            load_weights<W>(w, steps, (begin + turn) * 4 + s, next[s]);
            if (!kWide) parts[s] = scale_part<W>(a.w, scales, lane, group, begin + turn, s);
          }
        for (uint32_t stage = begin + turn; mine && stage < end; stage += a.split) {
          typename W::Sum sum[2][4];
          Scales scale;
          if (W::kInteger && kWide) load_scales<W>(a.w, scales, zeros, lane, stage, scale);
#pragma unroll
          for (uint32_t s = 0; s < 4; ++s) {
            const uint32_t step = stage * 4 + s;
            typename W::Fragments f;
            W::decode(next[s], f, a.zero);
            if (stage + a.split < end) load_weights<W>(w, steps, step + a.split * 4, next[s]);
            uint32_t in[W::kX / 4] = {};
            if (step < steps) {
              if constexpr (W::kX == 8) {
                const uint2 v = __ldg(reinterpret_cast<const uint2*>(x + step * 32));
                in[0] = v.x, in[1] = v.y;
              } else {
                const uint4 v = load16(x + step * 64);
                in[0] = v.x, in[1] = v.y, in[2] = v.z, in[3] = v.w;
              }
            }
            const bool opens = kWide ? s == 0 : s * 32 % group == 0;  // a group
            W::multiply(sum, f, 0, in, opens);
            W::multiply(sum, f, 1, in, opens);
            if ((s + 1) * 32 % group) continue;
            const uint32_t g = stage * per_stage + s * 32 / group;
            if (g < groups) {
              if constexpr (!kWide) {
                join_parts<W>(a.w, parts[s ^ 1], parts[s], scale);
                parts[s] = scale_part<W>(a.w, scales, lane, group, stage + a.split, s);
                if (s % 2) parts[s - 1] = scale_part<W>(a.w, scales, lane, group, stage + a.split, s - 1);  // of 64, or there already
              }
              for (int r = 0; r < 2; ++r) {
                const float x_scale = W::kInteger ? __ldg(work.x_scale + scale_at[r] + g) : 1.0f;
                const float total = W::kInteger && zeros ? static_cast<float>(__ldg(work.x_sum128 + scale_at[r] + g)) * -0.0078125f : 0.0f;
                for (int e = 0; e < 4; ++e) {
                  float v = W::sum_of(sum[e / 2][e % 2 * 2 + r]);
                  if (W::kInteger && zeros) v = fma_of(scale.zero[e], total, v);
                  const float by = W::kInteger ? scale.s[e] * x_scale : 1.0f;
                  if (a.split == 1)
                    acc[r][e] = fma_of(v, by, acc[r][e]);
                  else if (c * 2 + static_cast<uint32_t>(r) < m)
                    terms[((local * round * per_stage + (g - begin * per_stage)) * m + c * 2 + static_cast<uint32_t>(r)) * 32 + column * 4 +
                          static_cast<uint32_t>(e)] = {v, by};
                }
              }
            }
          }
        }
        if (a.split == 1) continue;
        block_sync();
        const uint32_t count = (end * per_stage < groups ? end * per_stage : groups) - begin * per_stage;
#pragma unroll
        for (uint32_t n = 0; n < 4; ++n) {  // four outputs of a thread at most, since split is 2 at least
          const uint32_t i = threadIdx.x + n * kGemvWarps * 32;
          if (i >= pairs * m * 32) break;
          const Term* t = terms + (i / (m * 32) * round * per_stage * m + i / 32 % m) * 32 + i % 32;
          for (uint32_t g = 0; g < count; ++g) acc[0][n] = fma_of(t[g * m * 32].sum, t[g * m * 32].scale, acc[0][n]);
        }
        block_sync();
      }
      if (a.split == 1) {
        if (mine && first + lane / 16 < a.panels)
          for (int r = 0; r < 2; ++r)
            for (uint32_t e = 0; e < 4; ++e) {
              if (c * 2 + static_cast<uint32_t>(r) >= m) continue;
              const uint32_t j = lane / 4 % 4 * 4 + e;
              float v = acc[r][e];
              if (!W::kInteger) v = v * __ldg(reinterpret_cast<const float*>(scales) + j);
              store(a, work, row0 + c * 2 + static_cast<uint32_t>(r), panel, j, v);
            }
      } else {
#pragma unroll
        for (uint32_t n = 0; n < 4; ++n) {
          const uint32_t i = threadIdx.x + n * kGemvWarps * 32, p = (blockIdx.x * pairs + i / (m * 32)) * 2 + i % 32 / 16, j = i % 16;
          if (i >= pairs * m * 32 || p >= a.panels) continue;
          float v = acc[0][n];
          if (!W::kInteger) v = v * __ldg(reinterpret_cast<const float*>(scales_at(a.w, work.panel + p)) + j);
          store(a, work, row0 + i / 32 % m, p, j, v);
        }
      }
    }
  }
}

// kWide: groups of 128; the others' kernels are named s.
LINNET_KERNEL_MIN(128, 3) gemv_i8(const GemmArgs a) { gemv<Bytes, true>(a); }
LINNET_KERNEL_MIN(128, 3) gemv_i8s(const GemmArgs a) { gemv<Bytes, false>(a); }
LINNET_KERNEL_MIN(128, 3) gemv_i4(const GemmArgs a) { gemv<Nibbles, true>(a); }
LINNET_KERNEL_MIN(128, 3) gemv_i4s(const GemmArgs a) { gemv<Nibbles, false>(a); }
LINNET_KERNEL_MIN(128, 3) gemv_e4m3(const GemmArgs a) { gemv<E4m3, true>(a); }
LINNET_KERNEL_MIN(128, 3) gemv_e5m2(const GemmArgs a) { gemv<E5m2, true>(a); }

// ---- many rows ----------------------------------------------------------------------------------------------------------------
// A block has 128 outputs and kTiles * 8 rows. x comes through shared memory in stages of 128 inputs, [4][terms][rows][32 inputs]; weights
// go to registers ahead.

// A stage: x, then the scales of up to four groups of the rows, then where weights have zero points the groups' sums, of small groups the
// weights' scales, of each panel kStageScales bytes.
template <class W, bool kWide, uint32_t kTiles>
struct Stage {
  static constexpr uint32_t kRows = kTiles * 8, kRowBytes = W::kX * 4 / W::kTerms, kOfRow = W::kX * 16,
                            kX = kRows * kOfRow;  // kRowBytes: of 32 inputs in a plane
  static constexpr uint32_t kScales = W::kGroups ? kRows * 4 * (kWide ? 1 : 4) : 0, kSums = W::kZeros && kWide ? kRows * 4 : 0,
                            kPanels = kX + kScales + kSums, kBytes = kPanels + (kWide ? 0 : kGemmWarps * 2 * kStageScales);
  LINNET_ON_GPU uint32_t panel_at(uint32_t thread) { return kPanels + thread / 16 * kStageScales; }  // of the thread's
};

template <class W, bool kWide, uint32_t kTiles>
LINNET_ON_GPU void copy_stage(const GemmArgs& a, const Work& work, const uint8_t* scales, uint32_t row0, uint32_t stage, uint32_t groups,
                              bool zeros, uint8_t* to) {
  using S = Stage<W, kWide, kTiles>;
  const uint32_t steps = (a.w.k + 31) / 32;
  for (uint32_t i = threadIdx.x; i < S::kX / 16; i += kGemmWarps * 32) {
    const uint32_t row = i / (S::kOfRow / 16), at = i % (S::kOfRow / 16) * 16, plane = at / S::kRowBytes,
                   s = plane / W::kTerms;  // at: in the row's 128 inputs
    uint8_t* place = to + (plane * S::kRows + row) * S::kRowBytes + at % S::kRowBytes;
    const uint32_t from = row0 + row < work.m ? row0 + row : work.m - 1;
    if (stage * 4 + s < steps)
      copy_async16(place, work.x + uint64_t{from} * a.x_stride + uint64_t{stage} * S::kOfRow + at);
    else
      *reinterpret_cast<uint4*>(place) = make_uint4(0, 0, 0, 0);
  }
  const uint32_t per_stage = kWide ? 1 : 128 / a.group;
  for (uint32_t i = threadIdx.x; W::kGroups && i < S::kRows * per_stage; i += kGemmWarps * 32) {
    const uint32_t row = row0 + i % S::kRows, g = stage * per_stage + i / S::kRows,
                   from = (row < work.m ? row : work.m - 1) * a.x_groups + g;
    if (g >= groups) break;
    copy_async4(to + S::kX + i * 4, work.x_scale + from);
    if (S::kSums && zeros) copy_async4(to + S::kX + S::kScales + i * 4, work.x_sum128 + from);
  }
  if constexpr (!kWide) {
    const uint32_t bytes = per_stage * (scales_are_floats<W>(a.w) ? 64 : 32), at = threadIdx.x % 16 * 16;
    if (at < bytes && uint64_t{stage} * bytes + at < a.w.scale_bytes)
      copy_async16(to + S::panel_at(threadIdx.x) + at, scales + uint64_t{stage} * bytes + at);
  }
}

// Adds a group to what came before. scales: of x for this lane's rows, their sums `sums_at` bytes on.
template <class W, bool kZeros, uint32_t kTiles>
LINNET_ON_GPU void end_group(float (&acc)[kTiles][2][4], const typename W::Sum (&sum)[kTiles][2][4], const Scales& scale,
                             const uint8_t* scales, uint32_t sums_at) {
#pragma unroll
  for (uint32_t t = 0; t < kTiles; ++t) {
    const float2 both = *reinterpret_cast<const float2*>(scales + t * 32);
    int2 sums = {0, 0};
    if (kZeros) sums = *reinterpret_cast<const int2*>(scales + sums_at + t * 32);
    for (uint32_t r = 0; r < 2; ++r)
      for (uint32_t e = 0; e < 4; ++e) {
        float v = W::sum_of(sum[t][e / 2][e % 2 * 2 + r]);
        if (kZeros) v = fma_of(scale.zero[e], static_cast<float>(r ? sums.y : sums.x) * -0.0078125f, v);
        acc[t][e / 2][e % 2 * 2 + r] = fma_of(v, scale.s[e] * (r ? both.y : both.x), acc[t][e / 2][e % 2 * 2 + r]);
      }
  }
}

template <class W, bool kWide, uint32_t kTiles>
LINNET_ON_GPU void gemm(const GemmArgs& a) {
  using S = Stage<W, kWide, kTiles>;
  constexpr bool kTerms = W::kX > 16, kRolled = kTerms || (W::kGroups && !W::kInteger);  // kRolled: where registers are few
  constexpr uint32_t kRows = S::kRows, kStages = kGemmStages<W::kX>, kAhead = W::kInteger ? 4 : W::kX == 16 ? 2 : 1;
  LINNET_DYNAMIC_SHARED(shared);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = lane / 4, c = lane % 4;
  const uint32_t steps = (a.w.k + 31) / 32, stages = (a.w.k + 127) / 128, group = kWide ? 128 : a.group,
                 groups = kWide ? stages : a.x_groups, per_stage = 128 / group;
  const bool zeros = W::kZeros && kWide && a.w.format == kCudaI4G128Z;
  for (uint32_t z = blockIdx.z; z < works_of(a); z += gridDim.z) {
    Work work;
    if (!work_of(a, z, &work)) break;
    for (uint32_t row0 = blockIdx.x * kRows; row0 < work.m; row0 += gridDim.x * kRows) {
      const uint32_t mine = (blockIdx.y * kGemmWarps + warp) * 2 + lane / 16, panel = mine < a.panels ? mine : a.panels - 1;
      const uint8_t *w = panel_at(a.w, work.panel + panel) + W::place(lane), *scales = scales_at(a.w, work.panel + panel);
      float acc[kTiles][2][4];
      typename W::Sum sum[kTiles][2][4];
#pragma unroll
      for (uint32_t t = 0; t < kTiles; ++t) {
        for (int e = 0; e < 8; ++e) acc[t][e / 4][e % 4] = 0.0f;
      }
      uint4 next[kAhead][W::kLoads];
      const uint32_t there = !kTerms ? steps : a.w.k > c * 8 ? a.w.k - c * 8 : 0;  // float weights end with their inputs
      for (uint32_t s = 0; s < kAhead; ++s) load_weights<W>(w, there, s, next[s]);
      for (uint32_t s = 0; s < kStages - 1; ++s) {
        if (s < stages) copy_stage<W, kWide, kTiles>(a, work, scales, row0, s, groups, zeros, shared + s * S::kBytes);
        copy_async_commit();
      }
#pragma unroll 1
      for (uint32_t stage = 0; stage < stages; ++stage) {
        copy_async_wait<kStages - 2>();
        block_sync();
        if (stage + kStages - 1 < stages)
          copy_stage<W, kWide, kTiles>(a, work, scales, row0, stage + kStages - 1, groups, zeros,
                                       shared + (stage + kStages - 1) % kStages * S::kBytes);
        copy_async_commit();
        const uint8_t *here = shared + stage % kStages * S::kBytes, *x = here + column * S::kRowBytes + c * (S::kRowBytes / 4);
        if (kRolled)
          for (uint32_t i = 0; i < kTiles * 8; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
#pragma unroll(kRolled ? 1 : 4)
        for (uint32_t s = 0; s < 4; ++s) {
          typename W::Fragments f;
          W::decode(next[s % kAhead], f, a.zero);
          load_weights<W>(w, there, stage * 4 + s + kAhead, next[s % kAhead]);
          // One fragment for all rows and then the other.
          constexpr uint32_t kAtOnce = W::kX == 8 ? kTiles : 1;
#pragma unroll
          for (uint32_t from = 0; from < kTiles; from += kAtOnce) {
            uint32_t in[kAtOnce][W::kX / 4];
#pragma unroll
            for (uint32_t t = 0; t < kAtOnce; ++t) {
              const uint8_t* at = x + (s * W::kTerms * kRows + (from + t) * 8) * S::kRowBytes;
              if constexpr (W::kX == 8) {
                const uint2 v = *reinterpret_cast<const uint2*>(at);
                in[t][0] = v.x, in[t][1] = v.y;
              } else {
                for (uint32_t term = 0; term < W::kTerms; ++term) {
                  const uint4 v = *reinterpret_cast<const uint4*>(at + term * kRows * S::kRowBytes);
                  in[t][term * 4] = v.x, in[t][term * 4 + 1] = v.y, in[t][term * 4 + 2] = v.z, in[t][term * 4 + 3] = v.w;
                }
              }
            }
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (uint32_t t = 0; t < kAtOnce; ++t)
                W::multiply(sum[from + t], f, half, in[t], !kRolled && (kWide ? s == 0 : s * 32 % group == 0));
          }
          if ((s + 1) * 32 % group) continue;
          const uint32_t g = stage * per_stage + s * 32 / group;
          if (g >= groups) continue;
          if constexpr (W::kGroups) {
            Scales scale;
            if constexpr (kWide) {
              load_scales<W>(a.w, scales, zeros, lane, g, scale);
            } else {
              const uint32_t j = lane / 4 % 4 * 4, bytes = scales_are_floats<W>(a.w) ? 4 : 2;
              const auto* at = reinterpret_cast<const uint2*>(here + S::panel_at(threadIdx.x) + (s * 32 / group * 16 + j) * bytes);
              join_parts<W>(a.w, at[0], at[bytes / 4], scale);
            }
            const uint8_t* of_group = here + S::kX + s * 32 / group * kRows * 4 + c * 8;
            if (zeros)
              end_group<W, true, kTiles>(acc, sum, scale, of_group, S::kScales);
            else
              end_group<W, false, kTiles>(acc, sum, scale, of_group, S::kScales);
          } else {
#pragma unroll
            for (uint32_t t = 0; t < kTiles; ++t)
              for (int e = 0; e < 8; ++e) acc[t][e / 4][e % 4] = acc[t][e / 4][e % 4] + sum[t][e / 4][e % 4];
          }
        }
      }
      copy_async_wait<0>();
      block_sync();          // the stages are filled anew for other rows
      work_of(a, z, &work);  // again, or registers would hold it all the time
      scales = scales_at(a.w, work.panel + panel);
#pragma unroll
      for (uint32_t t = 0; t < kTiles; ++t)
        for (uint32_t r = 0; r < 2; ++r)
          for (uint32_t e = 0; e < 4; ++e) {
            const uint32_t row = row0 + t * 8 + c * 2 + r, j = lane / 4 % 4 * 4 + e;
            if (row >= work.m || mine >= a.panels) continue;
            float v = acc[t][e / 2][e % 2 * 2 + r];
            if (!W::kGroups && W::kScales) v = v * __ldg(reinterpret_cast<const float*>(scales) + j);
            store(a, work, row, panel, j, v);
          }
    }
  }
}

LINNET_KERNEL(128) gemm16_i8(const GemmArgs a) { gemm<Bytes, true, 2>(a); }
LINNET_KERNEL(128) gemm64_i8(const GemmArgs a) { gemm<Bytes, true, 8>(a); }
LINNET_KERNEL(128) gemm16_i8s(const GemmArgs a) { gemm<Bytes, false, 2>(a); }
LINNET_KERNEL(128) gemm64_i8s(const GemmArgs a) { gemm<Bytes, false, 8>(a); }
LINNET_KERNEL(128) gemm16_i4(const GemmArgs a) { gemm<Nibbles, true, 2>(a); }
LINNET_KERNEL(128) gemm64_i4(const GemmArgs a) { gemm<Nibbles, true, 8>(a); }
LINNET_KERNEL(128) gemm16_i4s(const GemmArgs a) { gemm<Nibbles, false, 2>(a); }
LINNET_KERNEL(128) gemm64_i4s(const GemmArgs a) { gemm<Nibbles, false, 8>(a); }
LINNET_KERNEL(128) gemm16_e4m3(const GemmArgs a) { gemm<E4m3, true, 2>(a); }
LINNET_KERNEL(128) gemm64_e4m3(const GemmArgs a) { gemm<E4m3, true, 8>(a); }
LINNET_KERNEL(128) gemm16_e5m2(const GemmArgs a) { gemm<E5m2, true, 2>(a); }
LINNET_KERNEL(128) gemm64_e5m2(const GemmArgs a) { gemm<E5m2, true, 8>(a); }
// Of x in terms.
LINNET_KERNEL(128) gemm16_terms_f16(const GemmArgs a) { gemm<Terms<true>, true, 2>(a); }
LINNET_KERNEL(128) gemm64_terms_f16(const GemmArgs a) { gemm<Terms<true>, true, 8>(a); }
LINNET_KERNEL(128) gemm16_terms_bf16(const GemmArgs a) { gemm<Terms<false>, true, 2>(a); }
LINNET_KERNEL(128) gemm64_terms_bf16(const GemmArgs a) { gemm<Terms<false>, true, 8>(a); }

// ---- float weights --------------------------------------------------------------------------------------------------------------
// One chain over k for each output, as scalar.cpp has it. A block has a panel and 16 * kEach rows, a thread an output of kEach rows;
// weights and x come through shared memory.

struct WeightF32 {
  using T = float;
  LINNET_ON_GPU float value(float v) { return v; }
};
struct WeightF16 {
  using T = uint16_t;
  LINNET_ON_GPU float value(uint16_t v) { return f32_of_f16(v); }
};
struct WeightBf16 {
  using T = uint16_t;
  LINNET_ON_GPU float value(uint16_t v) { return f32_of_bf16(v); }
};

template <class W, uint32_t kEach>
LINNET_ON_GPU void gemm_float(const GemmArgs& a) {
  using T = typename W::T;
  constexpr uint32_t kInputs = 64, kRows = kFloatRows * kEach, kPitch = kInputs + 4, kThreads = 256;
  LINNET_DYNAMIC_SHARED(shared);
  T* ws = reinterpret_cast<T*>(shared);                                         // [2][kInputs][16]
  float* xs = reinterpret_cast<float*>(shared + 2 * kInputs * 16 * sizeof(T));  // [2][kRows][kPitch]
  const uint32_t j = threadIdx.x % 16, lane_row = threadIdx.x / 16, k = a.w.k, tiles = (k + kInputs - 1) / kInputs;
  for (uint32_t z = blockIdx.z; z < works_of(a); z += gridDim.z) {
    Work work;
    if (!work_of(a, z, &work)) break;
    for (uint32_t row0 = blockIdx.y * kRows; row0 < work.m; row0 += gridDim.y * kRows) {
      const uint32_t panel = blockIdx.x;
      const uint8_t* w = panel_at(a.w, work.panel + panel);
      const uint32_t rows = work.m - row0 < kRows ? work.m - row0 : kRows;
      const auto fill = [&](uint32_t tile) {
        const uint32_t from = tile * kInputs, n = k - from < kInputs ? k - from : kInputs;
        uint8_t* to = reinterpret_cast<uint8_t*>(ws + tile % 2 * kInputs * 16);
        for (uint32_t i = threadIdx.x; i < n * 16 * sizeof(T) / 16; i += kThreads)
          copy_async16(to + i * 16, w + uint64_t{from} * 16 * sizeof(T) + i * 16);
        copy_async_commit();
        for (uint32_t i = threadIdx.x; i < rows * kInputs; i += kThreads) {
          const uint32_t row = i / kInputs, at = i % kInputs;
          if (at < n)
            xs[(tile % 2 * kRows + row) * kPitch + at] =
                reinterpret_cast<const float*>(work.x + uint64_t{row0 + row} * a.x_stride)[from + at];
        }
      };
      float acc[kEach] = {};
      fill(0);
      for (uint32_t tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) {
          fill(tile + 1);
          copy_async_wait<1>();
        } else {
          copy_async_wait<0>();
        }
        block_sync();
        const uint32_t n = k - tile * kInputs < kInputs ? k - tile * kInputs : kInputs;
        const T* wt = ws + tile % 2 * kInputs * 16 + j;
        const float* xt = xs + (tile % 2 * kRows + lane_row) * kPitch;
        for (uint32_t i = 0; i < n; ++i) {
          const float v = W::value(wt[i * 16]);
#pragma unroll
          for (uint32_t e = 0; e < kEach; ++e) acc[e] = fma_of(xt[e * kFloatRows * kPitch + i], v, acc[e]);
        }
        block_sync();
      }
      for (uint32_t e = 0; e < kEach; ++e)
        if (e * kFloatRows + lane_row < rows) store(a, work, row0 + e * kFloatRows + lane_row, panel, j, acc[e]);
    }
  }
}

LINNET_KERNEL(256) gemm16_f32(const GemmArgs a) { gemm_float<WeightF32, 1>(a); }
LINNET_KERNEL(256) gemm64_f32(const GemmArgs a) { gemm_float<WeightF32, 4>(a); }
LINNET_KERNEL(256) gemm16_f16(const GemmArgs a) { gemm_float<WeightF16, 1>(a); }
LINNET_KERNEL(256) gemm64_f16(const GemmArgs a) { gemm_float<WeightF16, 4>(a); }
LINNET_KERNEL(256) gemm16_bf16(const GemmArgs a) { gemm_float<WeightBf16, 1>(a); }
LINNET_KERNEL(256) gemm64_bf16(const GemmArgs a) { gemm_float<WeightBf16, 4>(a); }

// ---- rows -----------------------------------------------------------------------------------------------------------------------

// Block x: a row; the weights of its token.
LINNET_KERNEL(256) embed(const EmbedArgs a) {
  const uint32_t token = static_cast<uint32_t>(a.tokens[blockIdx.x]), panel = token / 16, j = token % 16;
  const uint8_t *w = panel_at(a.table, panel), *scales = a.table.scale_bytes ? scales_at(a.table, panel) : nullptr;
  float* y = a.y + blockIdx.x * a.y_stride;
  for (uint32_t i = threadIdx.x; i < a.table.k; i += 256) {
    const uint64_t g = a.group ? i / a.group : 0;
    const uint64_t at = uint64_t{i} * 16 + j, sc = g * 16 + j;
    const uint8_t byte = w[uint64_t{i / 4} * 64 + j * 4 + i % 4 < a.table.panel_bytes ? uint64_t{i / 4} * 64 + j * 4 + i % 4 : 0];
    const int nibble =
        w[uint64_t{i / 8} * 64 + j * 4 + i % 4 < a.table.panel_bytes ? uint64_t{i / 8} * 64 + j * 4 + i % 4 : 0] >> (i & 4) & 15;
    float v = 0;
    switch (a.table.format) {
      case kCudaF32:
        v = reinterpret_cast<const float*>(w)[at];
        break;
      case kCudaF16:
        v = f32_of_f16(reinterpret_cast<const uint16_t*>(w)[at]);
        break;
      case kCudaBf16:
        v = f32_of_bf16(reinterpret_cast<const uint16_t*>(w)[at]);
        break;
      case kCudaI8:
      case kCudaI8G128:
      case kCudaI8G64:
        v = static_cast<float>(static_cast<int8_t>(byte)) * reinterpret_cast<const float*>(scales)[sc];
        break;
      case kCudaI8G32:
        v = static_cast<float>(static_cast<int8_t>(byte)) * f32_of_f16(reinterpret_cast<const uint16_t*>(scales)[sc]);
        break;
      case kCudaF8E4M3:
        v = f32_of_e4m3(byte) * reinterpret_cast<const float*>(scales)[sc];
        break;
      case kCudaF8E5M2:
        v = f32_of_e5m2(byte) * reinterpret_cast<const float*>(scales)[sc];
        break;
      case kCudaI4G128:
      case kCudaI4G64:
      case kCudaI4G32:
        v = static_cast<float>(nibble - 8) * f32_of_f16(reinterpret_cast<const uint16_t*>(scales)[sc]);
        break;
      case kCudaI4G128Z: {
        const uint8_t* group = scales + g * 48;
        v = static_cast<float>(nibble - group[32 + j]) * f32_of_f16(reinterpret_cast<const uint16_t*>(group)[j]);
        break;
      }
#define LINNET_X(NAME, name, kind, ...)   \
  case kCuda##NAME:                       \
    v = weight_of<kind>(w, scales, i, j); \
    break;
        LINNET_CUDA_BLOCKS(LINNET_X)
#undef LINNET_X
      default:
        break;
    }
    y[i] = v;
  }
}

// Block x: a row, y: a head. Each warp quantises every eighth group.
LINNET_KERNEL(256) head_rows(const HeadRowsArgs a) {
  const uint32_t row = blockIdx.x, head = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32, kpad = (a.k + 31) / 32 * 32;
  const float* x = a.x + row * a.x_stride + head * a.x_head;
  for (uint32_t i = threadIdx.x; i < a.carry; i += 256) a.y[row * a.y_stride + head * a.y_head + i] = x[a.k + i];
  if (!a.q) return;
  const uint64_t at = uint64_t{head} * gridDim.x + row;
  if (a.bf16) {
    auto* q = reinterpret_cast<uint16_t*>(a.q + at * a.stride);
    for (uint32_t i = threadIdx.x; i < kpad; i += 256) {
      const uint32_t u = i < a.k ? bits_of(x[i]) : 0;
      q[(i & ~3u) | (i & 1) << 1 | (i >> 1 & 1)] =
          static_cast<uint16_t>((u & 0x7FFFFFFFu) > 0x7F800000u ? u >> 16 | 0x40u : (u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
    }
    return;
  }
  auto* q = reinterpret_cast<int8_t*>(a.q + at * a.stride);
  for (uint32_t g = warp; g < a.groups; g += 8) {
    const uint32_t from = g * a.group, end = kpad - from < a.group ? kpad : from + a.group;
    int most = 0;
    for (uint32_t i = from + lane; i < end; i += 32) {
      const int u = i < a.k ? static_cast<int>(bits_of(x[i]) & 0x7FFFFFFFu) : 0;
      most = u > most ? u : most;
    }
    for (int mask = 16; mask; mask /= 2) {
      const int other = shuffle_xor(most, mask);
      most = other > most ? other : most;
    }
    const bool finite = most < 0x7F800000;
    const float amax = finite ? float_of(static_cast<uint32_t>(most)) : 0.0f, inv = amax > 1e-30f ? 127.0f / amax : 0.0f;
    int sum = 0;
    for (uint32_t i = from + lane; i < end; i += 32) {
      float v = finite && i < a.k ? x[i] * inv : 0.0f;
      v = v > -127.0f ? v : -127.0f;
      v = v < 127.0f ? v : 127.0f;
      const int code = static_cast<int>(bits_of(v + kSumZero) - bits_of(kSumZero));
      q[i] = static_cast<int8_t>(code);
      sum += code;
    }
    for (int mask = 16; mask; mask /= 2) sum += shuffle_xor(sum, mask);
    if (lane) continue;
    a.scale[at * a.groups + g] = amax / 127.0f;
    a.sum128[at * a.groups + g] = -128 * sum;
    if (!finite) *a.not_finite = 1;
  }
}

}  // namespace linnet
