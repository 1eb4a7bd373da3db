// What the kernels of flash.cu take: the KV cache of one layer as the device sees it, and how attention is cut into blocks of threads.
// Offsets of shared memory are the host's (launch_flash.cpp), so that they are computed in one place.
#pragma once
#include "cuda_types.h"

namespace linnet {

inline constexpr uint32_t kFlashThreads = 256;
inline constexpr uint32_t kFlashSlice = 128;   // channels of values at a time
inline constexpr uint32_t kScoreStride = 260;  // floats between the scores of two rows; the step over 256 spreads them over the banks
inline constexpr uint32_t kPlaneStride = 272;  // bytes between two rows of a plane of P
inline constexpr uint32_t kQueryPad = 16;      // bytes behind the codes of a row of queries
inline constexpr uint32_t kDotsPerRow = 288;   // of what warps sum apart: channels + 4 each, 8 * 32 channels at most
inline constexpr uint32_t kSinkWarps = 4;
inline constexpr uint32_t kAppendThreads = 128, kMergeThreads = 128;

// One layer's pages and the batch's spans. Pages: kv_cache.h, KvLayout and KvClass.
struct KvArgs {
  uint8_t* pool;  // (n_kv_heads, n_pages, head_bytes)
  const CudaSpan* spans;
  const uint32_t* tables;  // (spans, table_stride) slots of this layer's class
  uint64_t head_stride;    // bytes between two KV heads
  uint32_t table_stride, head_bytes;
  uint32_t k_format, v_format, head_dim, v_dim, latent, kpad, dpad;
  uint32_t k_scale_at, v_at, v_scale_at;
  uint32_t window, chunked, keep, keep_pages, n_slots;
  uint32_t n_sinks;  // tokens of the beginning that rows go on to see (kv_cache.h), in floats:
  float* sinks;      // (n_kv_heads, sink_floats) of every sequence, sink_step apart: keys as they are before RoPE (16, head_dim), from
                     // sink_values on values [dpad/16][16 tokens][16]
  uint64_t sink_step;
  uint32_t sink_floats, sink_values;
  uint32_t* not_finite;
};

struct KvAppendArgs {
  KvArgs kv;
  const uint32_t* row_span;
  const float *k, *v;  // (rows, n_kv_heads * head_dim)
  uint64_t stride;
  uint32_t n_rows, n_kv_heads;
  const float *cos, *sin;  // (rows, n_pairs) that k was rotated by
  uint32_t n_pairs, interleaved;
  float factor;  // that cos and sin hold too
};

struct FlashPart {
  float m, l;  // of one KV block: the largest score, the sum of weights, which is 0 where the row sees nothing of it
};

// A warp a row and query head: what its learned sink and the sinks that its window has left come to, where attention begins. Grid: (n_rows
// * n_heads / kSinkWarps).
struct FlashSinkArgs {
  KvArgs kv;
  const uint32_t* row_span;
  const float* q;  // (rows, n_heads * head_dim)
  uint64_t q_stride;
  const float *cos, *sin;                                          // (rows, 16, n_pairs) where the sinks stand for each row
  const float* sinks;                                              // (n_heads) or nullptr
  FlashPart* begin_ml;                                             // (rows, n_heads)
  float* begin;                                                    // (rows, n_heads, dpad)
  uint32_t n_spans, n_rows, n_heads, group, n_pairs, interleaved;  // n_rows: as FlashArgs has it
  float scale, cap;
};

// A block of threads works on a tile: `tokens` rows of the batch by `heads` query heads of one KV head. Grid: (tiles, n_kv_heads, splits);
// split s takes the KV blocks s, s + splits, ...
struct FlashArgs {
  KvArgs kv;
  const float* q;  // (rows, n_heads * head_dim)
  float* out;
  uint64_t q_stride, out_stride;
  const float *slopes, *sinks;  // (n_heads) or nullptr
  const FlashPart* begin_ml;    // FlashSinkArgs, or nullptr: rows begin with `sinks`, or with nothing
  const float* begin;
  float* part;               // splits > 1: (n_kv_heads, tiles, most_blocks, tile_rows, dpad) sums of every KV block; merged by flash_merge
  FlashPart* part_ml;        // the same without dpad
  uint32_t n_spans, n_rows;  // n_rows: of one span, whose last ones they are; where there are several, all are there
  uint32_t group, tokens, heads, head_tiles,
      tile_rows;  // heads = min(group, rows of the kernel), head_tiles = ceil(group / heads), tile_rows = tokens * heads
  uint32_t one_each, splits, most_blocks;  // one_each: every span has one row
  float scale, cap;
  uint32_t at_q, at_x_scale, at_s, at_dots, at_planes, at_v_scale, at_acc;  // bytes into shared memory
};

}  // namespace linnet
