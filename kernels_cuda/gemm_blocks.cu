// Products with blocks of GGUF files as they lie in the file, 256 inputs at a time. Warps and lanes have outputs and rows as in gemm.cu.
#include "block_kinds.h"
#include "products.h"

namespace linnet {

// Codes of 32 inputs for two products of 16 outputs, as Bytes in gemm.cu has them.
struct Fragments {
  uint32_t a[2][4];
};
template <class Kind>
LINNET_ON_GPU void fragments_of(const uint32_t (&w)[Kind::kLoads][4], uint32_t step, uint32_t c, Fragments& f) {
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t e = 0; e < 4; ++e) f.a[e / 2][i * 2 + e % 2] = Kind::codes(w, step, i, e, c);
}

// Sums of a group: of all 32 inputs, or of the half h of them.
template <class Kind>
LINNET_ON_GPU void multiply(int (&sum)[2][4], const Fragments& f, const uint32_t (&x)[2], uint32_t h) {
  const int start[4] = {kSumStart, kSumStart, kSumStart, kSumStart};
  for (uint32_t t = 0; t < 2; ++t) {
    if constexpr (Kind::kGroup == 32) {
      mma_i8(sum[t], f.a[t], x, start);
    } else {
      const uint32_t half[2] = {f.a[t][h * 2], f.a[t][h * 2 + 1]};
      mma_i8(sum[t], half, x[h], start);
    }
  }
}
template <class Kind>
LINNET_ON_GPU float sum_of(int sum) {
  const float v = float_of(static_cast<uint32_t>(sum));
  return Kind::kOne == 1 ? v - kSumZero : fma_of(v, Kind::kOne, kSumZero * -Kind::kOne);
}
// Minima of 256 inputs, and what they are multiplied with: of 32 inputs there are sums of x, of 16 they are made of its codes.
template <class Kind>
constexpr uint32_t kMinimaOf = Kind::kMin ? 256 / Kind::kGroup : 0;
LINNET_ON_GPU float x_sum_of(int32_t sum128, float scale) { return static_cast<float>(sum128) * 0.0078125f * scale; }
LINNET_ON_GPU float x_sum_of(const uint4& codes, float scale) {
  constexpr int kOnes = 0x01010101;
  int sum = dp4a(static_cast<int>(codes.x), kOnes, dp4a(static_cast<int>(codes.y), kOnes, 0));
  sum = dp4a(static_cast<int>(codes.z), kOnes, dp4a(static_cast<int>(codes.w), kOnes, sum));
  return static_cast<float>(-sum) * scale;
}

LINNET_ON_GPU void load_piece(const uint8_t* shared, uint32_t (&to)[4]) {
  const uint4 v = *reinterpret_cast<const uint4*>(shared);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// Scales of 256 inputs of this lane's panel on their way to shared memory; scales: of the panel, `there` bytes of them.
template <class Kind>
LINNET_ON_GPU void copy_scales(uint8_t* to, const uint8_t* scales, uint64_t there, uint32_t block, uint32_t lane) {
  for (uint32_t i = lane % 16 * 16; i < Kind::kScales; i += 256) {
    const uint64_t from = uint64_t{block} * Kind::kScales + i;
    if (from < there)
      copy_async16(to + i, scales + from);
    else
      *reinterpret_cast<uint4*>(to + i) = make_uint4(0, 0, 0, 0);
  }
}

// ---- few rows -----------------------------------------------------------------------------------------------------------------
// Each lane copies the pieces that it reads, 256 inputs ahead, and a warp its panels' scales. Where panels are few, `split` warps have
// every split-th 256 inputs; then what these give is kept in shared memory and added up in order by a thread for each output: [blocks of a
// round] minima (kMinima, 32), sums of x (kMinima, 8 rows), sums (m, 32).
template <class Kind>
LINNET_ON_GPU void gemv(const GemmArgs& a) {
  constexpr uint32_t kHalves = 32 / Kind::kGroup, kUnits = 8 / Kind::kSteps, kPitch = Kind::kScales + kScalePad,
                     kPieces = Kind::kPieces * 512, kTurn = kPieces + kPitch * 2, kMinima = kMinimaOf<Kind>,
                     kMinFloats = kMinima * (32 + 8);
  LINNET_DYNAMIC_SHARED(shared);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, pairs = kGemvWarps / a.split, local = warp / a.split,
                 turn = warp % a.split, column = lane / 4, c = lane % 4, j = lane / 4 % 4 * 4;
  uint8_t* const kept = shared + warp * 2 * kTurn;  // two of: pieces [kPieces][lanes][16], scales [panels of the warp][kPitch]
  float* const terms = reinterpret_cast<float*>(shared + kGemvWarps * 2 * kTurn);
  const uint32_t blocks = (a.w.k + 255) / 256;
  for (uint32_t z = blockIdx.z; z < works_of(a); z += gridDim.z) {
    Work work;
    if (!work_of(a, z, &work)) break;
    for (uint32_t row0 = blockIdx.y * kGemvRows; row0 < work.m; row0 += gridDim.y * kGemvRows) {
      const uint32_t m = work.m - row0 < kGemvRows ? work.m - row0 : kGemvRows, first = (blockIdx.x * pairs + local) * 2;
      const bool mine = first < a.panels;
      const uint32_t panel = first + lane / 16 < a.panels ? first + lane / 16 : a.panels - 1;
      const uint8_t *w = panel_at(a.w, work.panel + panel) + j * 4, *scales = scales_at(a.w, work.panel + panel);
      const uint8_t* x = work.x + uint64_t{row0 + (column < m ? column : m - 1)} * a.x_stride + c * 4;
      const uint32_t scale_at[2] = {(row0 + (c * 2 < m ? c * 2 : m - 1)) * a.x_groups,
                                    (row0 + (c * 2 + 1 < m ? c * 2 + 1 : m - 1)) * a.x_groups};
      const uint32_t of_block = kMinFloats + m * 32,
                     room = kBlocksShared / (pairs * of_block * static_cast<uint32_t>(sizeof(float))) / a.split * a.split,
                     round = a.split == 1 ? blocks : room;
      const auto copy = [&](uint32_t block, uint8_t* to) {
        const uint64_t from = uint64_t{block} * Kind::kBytes;
        for (uint32_t i = 0; i < Kind::kPieces; ++i)
          if (const uint32_t at = Kind::line(i, c) * 64; Kind::kBlock == 256 || from + at < a.w.panel_bytes)
            copy_async16(to + i * 512 + lane * 16, w + from + at);
        copy_scales<Kind>(to + kPieces + lane / 16 * kPitch, scales, a.w.scale_bytes, block, lane);
      };
      float acc[2][4] = {};  // without a split: this lane's outputs; else acc[0], of the thread's own outputs
      uint32_t slot = 0;
      warp_sync();  // those of other rows are done with
      if (mine && turn < blocks) copy(turn, kept);
      copy_async_commit();
      for (uint32_t begin = 0; begin < blocks; begin += round) {
        const uint32_t end = blocks - begin < round ? blocks : begin + round;
#pragma unroll 1
        for (uint32_t block = begin + turn; mine && block < end; block += a.split, slot ^= 1) {
          const uint8_t* const pieces = kept + slot * kTurn + column * 64;  // of four lanes
          const uint8_t* const entry = kept + slot * kTurn + kPieces + lane / 16 * kPitch;
          warp_sync();  // the others are done with what is overwritten
          if (block + a.split < blocks) copy(block + a.split, kept + (slot ^ 1) * kTurn);
          copy_async_commit();
          copy_async_wait<1>();
          warp_sync();
          float d[2][4] = {};
#pragma unroll(4 / Kind::kSteps)
          for (uint32_t u = 0; u < kUnits; ++u) {
            uint32_t of_unit[Kind::kLoads][4];
            for (uint32_t i = 0; i < Kind::kLoads; ++i)
              load_piece(pieces + Kind::piece(u, i) * 512 + Kind::whose(u, i, c) * 16, of_unit[i]);
#pragma unroll
            for (uint32_t s = 0; s < Kind::kSteps; ++s) {
              const uint32_t step = u * Kind::kSteps + s, g = block * 8 + step;
              const bool there = Kind::kBlock == 256 || g < a.x_groups;
              uint32_t in[2] = {};
              float x_scale[2] = {};
              for (uint32_t i = 0; there && i < 2; ++i) {
                in[i] = __ldg(reinterpret_cast<const uint32_t*>(x + g * 32 + i * 16));
                x_scale[i] = __ldg(work.x_scale + scale_at[i] + g);
              }
              Fragments f;
              fragments_of<Kind>(of_unit, step, c, f);
#pragma unroll
              for (uint32_t h = 0; h < kHalves; ++h) {
                int sum[2][4];
                float scale[4];
                multiply<Kind>(sum, f, in, h);
                Kind::scales(entry, step * kHalves + h, j, scale);
                for (uint32_t r = 0; r < 2; ++r)
                  for (uint32_t e = 0; e < 4; ++e)
                    d[r][e] = fma_of(sum_of<Kind>(sum[e / 2][e % 2 * 2 + r]), scale[e] * x_scale[r], d[r][e]);
              }
            }
          }
          // What minima need is the same for all rows or all outputs: each lane makes a part.
          float* const to = terms + (a.split == 1 ? warp : local * round + (block - begin)) * of_block;
          for (uint32_t g = c; Kind::kMin && g < kMinima; g += 4) {
            float min[4];
            Kind::minima(entry, g, j, min);
            *reinterpret_cast<float4*>(to + g * 32 + column * 4) = make_float4(min[0], min[1], min[2], min[3]);
          }
          for (uint32_t i = lane; Kind::kMin && i < kMinima * 8; i += 32) {
            const uint32_t row = row0 + (i % 8 < m ? i % 8 : m - 1), g = block * 8 + i / 8 / kHalves, at = row * a.x_groups + g;
            float sum = 0;
            if (Kind::kBlock == 256 || g < a.x_groups)
              sum = kHalves == 1 ? x_sum_of(__ldg(work.x_sum128 + at), __ldg(work.x_scale + at))
                                 : x_sum_of(load16(work.x + row * a.x_stride + block * 256 + i / 8 * 16), __ldg(work.x_scale + at));
            to[kMinima * 32 + i] = sum;
          }
          if (a.split == 1) {
            for (uint32_t r = 0; r < 2; ++r)
              for (uint32_t e = 0; e < 4; ++e) acc[r][e] = acc[r][e] + d[r][e];
            if (Kind::kMin) warp_sync();
            for (uint32_t g = 0; Kind::kMin && g < kMinima; ++g) {
              const float4 min = *reinterpret_cast<const float4*>(to + g * 32 + column * 4);
              const float2 by = *reinterpret_cast<const float2*>(to + kMinima * 32 + g * 8 + c * 2);
              for (uint32_t r = 0; r < 2; ++r) {
                acc[r][0] = fma_of(min.x, r ? by.y : by.x, acc[r][0]), acc[r][1] = fma_of(min.y, r ? by.y : by.x, acc[r][1]);
                acc[r][2] = fma_of(min.z, r ? by.y : by.x, acc[r][2]), acc[r][3] = fma_of(min.w, r ? by.y : by.x, acc[r][3]);
              }
            }
          } else {
            for (uint32_t r = 0; r < 2; ++r)
              for (uint32_t e = 0; c * 2 + r < m && e < 4; ++e) to[kMinFloats + (c * 2 + r) * 32 + column * 4 + e] = d[r][e];
          }
        }
        if (a.split == 1) continue;
        block_sync();
#pragma unroll
        for (uint32_t n = 0; n < 4; ++n) {  // four outputs of a thread at most, since split is 2 at least
          const uint32_t i = threadIdx.x + n * kGemvWarps * 32, row = i / 32 % m;
          if (i >= pairs * m * 32) break;
          const float* from = terms + i / (m * 32) * round * of_block;
#pragma unroll 1
          for (uint32_t block = begin; block < end; ++block, from += of_block) {
            acc[0][n] = acc[0][n] + from[kMinFloats + row * 32 + i % 32];
            for (uint32_t g = 0; Kind::kMin && g < kMinima; ++g)
              acc[0][n] = fma_of(from[g * 32 + i % 32], from[kMinima * 32 + g * 8 + row], acc[0][n]);
          }
        }
        block_sync();
      }
      if (a.split == 1) {
        if (!mine || first + lane / 16 >= a.panels) continue;
        for (uint32_t r = 0; r < 2; ++r)
          for (uint32_t e = 0; e < 4; ++e)
            if (c * 2 + r < m) store(a, work, row0 + c * 2 + r, panel, j + e, acc[r][e]);
      } else {
#pragma unroll
        for (uint32_t n = 0; n < 4; ++n) {
          const uint32_t i = threadIdx.x + n * kGemvWarps * 32, p = (blockIdx.x * pairs + i / (m * 32)) * 2 + i % 32 / 16;
          if (i < pairs * m * 32 && p < a.panels) store(a, work, row0 + i / 32 % m, p, i % 16, acc[0][n]);
        }
      }
    }
  }
}

// ---- many rows ----------------------------------------------------------------------------------------------------------------
// A block has 128 outputs and kTiles * 8 rows. What comes through shared memory is in stages of 256 inputs: x [8][rows][32], of which rows
// 4 .. 7 of every eight have the two halves of 32 inputs exchanged, so that lanes read from banks of their own; x's scales [8][rows], its
// sums [kMinima][rows], scales of the warps' panels. Weights go to registers, ahead.

// Loads go on beyond the last weights, to what is at hand: of one that waits for a condition the old value would be copied.
template <class Kind>
LINNET_ON_GPU void load_unit(const uint8_t* w, uint32_t c, uint32_t unit, uint32_t units, uint32_t (&to)[Kind::kLoads][4]) {
  constexpr uint32_t kUnits = 8 / Kind::kSteps;
  unit = unit < units ? unit : units - 1;
  const uint8_t* const from = w + uint64_t{unit / kUnits} * Kind::kBytes;
  for (uint32_t i = 0; i < Kind::kLoads; ++i) {
    const uint4 v = load16(from + Kind::line(Kind::piece(unit % kUnits, i), Kind::whose(unit % kUnits, i, c)) * 64);
    to[i][0] = v.x, to[i][1] = v.y, to[i][2] = v.z, to[i][3] = v.w;
  }
}
template <class Kind, uint32_t kTiles>
LINNET_ON_GPU void copy_stage(const GemmArgs& a, const Work& work, uint32_t row0, uint32_t block, const uint8_t* scales, uint8_t* to) {
  constexpr uint32_t kRows = kTiles * 8;
  for (uint32_t i = threadIdx.x; i < kRows * 16; i += kGemmWarps * 32) {
    const uint32_t row = i / 16, half = i % 16, from = row0 + row < work.m ? row0 + row : work.m - 1;
    uint8_t* const at = to + (half / 2 * kRows + row) * 32 + ((half ^ row / 4) & 1) * 16;
    if (block * 256 + half * 16 < a.w.k)
      copy_async16(at, work.x + uint64_t{from} * a.x_stride + uint64_t{block} * 256 + half * 16);
    else
      *reinterpret_cast<uint4*>(at) = make_uint4(0, 0, 0, 0);
  }
  auto* const x_scales = reinterpret_cast<float*>(to + kRows * 256);
  for (uint32_t i = threadIdx.x; i < kRows * 8; i += kGemmWarps * 32) {
    const uint32_t row = row0 + i % kRows, g = block * 8 + i / kRows, from = (row < work.m ? row : work.m - 1) * a.x_groups + g;
    if (g < a.x_groups) {
      copy_async4(x_scales + i, work.x_scale + from);
      if (Kind::kMin && Kind::kGroup == 32) copy_async4(x_scales + kRows * 8 + i, work.x_sum128 + from);
    } else {
      x_scales[i] = 0.0f;
      if (Kind::kMin && Kind::kGroup == 32) x_scales[kRows * 8 + i] = 0.0f;
    }
  }
  copy_scales<Kind>(to + kRows * kStageRow<kMinimaOf<Kind>> + threadIdx.x / 16 * (Kind::kScales + kScalePad), scales, a.w.scale_bytes,
                    block, threadIdx.x % 32);
}

template <class Kind, uint32_t kTiles>
LINNET_ON_GPU void gemm(const GemmArgs& a) {
  constexpr uint32_t kRows = kTiles * 8, kHalves = 32 / Kind::kGroup, kUnits = 8 / Kind::kSteps, kPitch = Kind::kScales + kScalePad,
                     kStages = kBlocksStages<kRows>, kMinima = kMinimaOf<Kind>, kRow = kStageRow<kMinima>,
                     kStage = kRows * kRow + kGemmWarps * 2 * kPitch;
  constexpr uint32_t kAhead = kTiles == 2 ? 4 / Kind::kSteps : 1;  // units of weights
  LINNET_DYNAMIC_SHARED(shared);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = lane / 4, c = lane % 4, j = lane / 4 % 4 * 4;
  const uint32_t units = (a.w.k + Kind::kSteps * 32 - 1) / (Kind::kSteps * 32), blocks = (a.w.k + 255) / 256;
  const uint32_t swap = column / 4 * 16;
  for (uint32_t z = blockIdx.z; z < works_of(a); z += gridDim.z) {
    Work work;
    if (!work_of(a, z, &work)) break;
    for (uint32_t row0 = blockIdx.x * kRows; row0 < work.m; row0 += gridDim.x * kRows) {
      const uint32_t mine = (blockIdx.y * kGemmWarps + warp) * 2 + lane / 16, panel = mine < a.panels ? mine : a.panels - 1;
      const uint8_t *w = panel_at(a.w, work.panel + panel) + j * 4, *scales = scales_at(a.w, work.panel + panel);
      float acc[kTiles][2][4] = {};
      uint32_t next[kAhead][Kind::kLoads][4];
      for (uint32_t u = 0; u < kAhead; ++u) load_unit<Kind>(w, c, u, units, next[u]);
      for (uint32_t s = 0; s < kStages - 1; ++s) {
        if (s < blocks) copy_stage<Kind, kTiles>(a, work, row0, s, scales, shared + s * kStage);
        copy_async_commit();
      }
#pragma unroll 1
      for (uint32_t block = 0; block < blocks; ++block) {
        uint8_t* const here = shared + block % kStages * kStage;
        copy_async_wait<kStages - 2>();
        auto* const x_scales = reinterpret_cast<float*>(here + kRows * 256);
        for (uint32_t i = threadIdx.x; kMinima == 8 && i < kRows * 8; i += kGemmWarps * 32)  // what this thread copied is there for it
          x_scales[kRows * 8 + i] = x_sum_of(reinterpret_cast<const int32_t*>(x_scales)[kRows * 8 + i], x_scales[i]);
        block_sync();
        if (block + kStages - 1 < blocks)
          copy_stage<Kind, kTiles>(a, work, row0, block + kStages - 1, scales, shared + (block + kStages - 1) % kStages * kStage);
        copy_async_commit();
        for (uint32_t i = threadIdx.x; kMinima == 16 && i < kRows * 16; i += kGemmWarps * 32) {
          const uint32_t row = i % kRows, g = i / kRows;
          const auto* const codes = reinterpret_cast<const uint4*>(here + (g / 2 * kRows + row) * 32 + ((g ^ row / 4) & 1) * 16);
          x_scales[kRows * 8 + i] = x_sum_of(*codes, x_scales[g / 2 * kRows + row]);
        }
        const uint8_t* const x = here + column * 32 + c * 4;
        const uint8_t* const entry = here + kRows * kRow + threadIdx.x / 16 * kPitch;
        float d[kTiles][2][4] = {};
#pragma unroll(kAhead)
        for (uint32_t u = 0; u < kUnits; ++u) {
#pragma unroll
          for (uint32_t s = 0; s < Kind::kSteps; ++s) {
            const uint32_t step = u * Kind::kSteps + s;
            Fragments f;
            fragments_of<Kind>(next[u % kAhead], step, c, f);
            if (s == Kind::kSteps - 1) load_unit<Kind>(w, c, block * kUnits + u + kAhead, units, next[u % kAhead]);
            float scale[kHalves][4];
            for (uint32_t h = 0; h < kHalves; ++h) Kind::scales(entry, step * kHalves + h, j, scale[h]);
#pragma unroll
            for (uint32_t t = 0; t < kTiles; ++t) {
              const uint8_t* const at = x + (step * kRows + t * 8) * 32;
              const uint32_t in[2] = {word_at(at + swap), word_at(at + (swap ^ 16))};
              const float2 both = *reinterpret_cast<const float2*>(x_scales + step * kRows + t * 8 + c * 2);
#pragma unroll
              for (uint32_t h = 0; h < kHalves; ++h) {
                int sum[2][4];
                multiply<Kind>(sum, f, in, h);
                for (uint32_t r = 0; r < 2; ++r)
                  for (uint32_t e = 0; e < 4; ++e) {
                    float& to = d[t][e / 2][e % 2 * 2 + r];
                    to = fma_of(sum_of<Kind>(sum[e / 2][e % 2 * 2 + r]), scale[h][e] * (r ? both.y : both.x), to);
                  }
              }
            }
          }
        }
#pragma unroll
        for (uint32_t t = 0; t < kTiles; ++t)
          for (uint32_t e = 0; e < 8; ++e) acc[t][e / 4][e % 4] = acc[t][e / 4][e % 4] + d[t][e / 4][e % 4];
        if (kMinima == 16) block_sync();  // sums of x are there
#pragma unroll 1
        for (uint32_t g = 0; Kind::kMin && g < kMinima; ++g) {
          float min[4];
          Kind::minima(entry, g, j, min);
#pragma unroll
          for (uint32_t t = 0; t < kTiles; ++t) {
            const float2 both = *reinterpret_cast<const float2*>(x_scales + (8 + g) * kRows + t * 8 + c * 2);
            for (uint32_t r = 0; r < 2; ++r)
              for (uint32_t e = 0; e < 4; ++e) {
                float& to = acc[t][e / 2][e % 2 * 2 + r];
                to = fma_of(min[e], r ? both.y : both.x, to);
              }
          }
        }
      }
      copy_async_wait<0>();
      block_sync();          // the stages are filled anew for other rows
      work_of(a, z, &work);  // again, or registers would hold it all the time
#pragma unroll
      for (uint32_t t = 0; t < kTiles; ++t)
        for (uint32_t r = 0; r < 2; ++r)
          for (uint32_t e = 0; e < 4; ++e) {
            const uint32_t row = row0 + t * 8 + c * 2 + r;
            if (row < work.m && mine < a.panels) store(a, work, row, panel, j + e, acc[t][e / 2][e % 2 * 2 + r]);
          }
    }
  }
}

// Blocks that a multiprocessor is to hold are said where the compiler would else aim at more than registers allow, and spill.
#define LINNET_SOME_0 LINNET_KERNEL(128)
#define LINNET_SOME_8 LINNET_KERNEL(128)
#define LINNET_SOME_16 LINNET_KERNEL_MIN(128, 3)
#define LINNET_X(NAME, name, kind, pieces, minima)                           \
  static_assert(kind::kPieces == pieces && kMinimaOf<kind> == minima);       \
  LINNET_KERNEL_MIN(128, 3) gemv_##name(const GemmArgs a) { gemv<kind>(a); } \
  LINNET_SOME_##minima gemm16_##name(const GemmArgs a) { gemm<kind, 2>(a); } \
  LINNET_KERNEL_MIN(128, 2) gemm64_##name(const GemmArgs a) { gemm<kind, 8>(a); }
LINNET_CUDA_BLOCKS(LINNET_X)
#undef LINNET_X

}  // namespace linnet
