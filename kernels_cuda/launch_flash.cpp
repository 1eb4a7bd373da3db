// KV append and attention on a GPU: how the rows of a batch are cut into tiles, and a tile's KV blocks among blocks of threads where tiles
// are few.
#include "../runtime/cache/kv_cache.h"
#include "cuda_queue.h"
#include "flash_args.h"

namespace linnet {
namespace {

constexpr uint32_t kSmallTile = 8, kLargeTile = 16;  // rows of flash8 and flash16
constexpr uint32_t kStateBytes =
    2048;  // of shared memory, for what these kernels have of fixed size (FlashState) and what CUDA keeps for itself
constexpr CuResult kTooLarge = 1;  // CUDA_ERROR_INVALID_VALUE: heads that no block of threads can hold

uint32_t up16(size_t bytes) { return static_cast<uint32_t>(align_up(bytes, 16)); }

KvArgs kv_args(const CudaQueue& q, const KvCache& kv, uint32_t layer) {
  const uint32_t c = kv.class_of[layer];
  const KvClass& k = kv.classes[c];
  const KvLayout& l = k.layout;
  KvArgs a{};
  a.pool = k.of_layer(kv.layer_index[layer]);
  a.spans = q.pass.spans;
  a.tables = q.pass.tables + q.pass.table_at[c];
  a.head_stride = uint64_t{k.n_pages} * l.head_bytes;
  a.table_stride = q.pass.table_stride;
  a.head_bytes = static_cast<uint32_t>(l.head_bytes);
  a.k_format = l.k;
  a.v_format = l.v;
  a.head_dim = l.head_dim;
  a.v_dim = l.v_dim;
  a.latent = l.latent;
  a.kpad = l.kpad;
  a.dpad = l.dpad;
  a.k_scale_at = static_cast<uint32_t>(l.k_scale_at);
  a.v_at = static_cast<uint32_t>(l.v_at);
  a.v_scale_at = static_cast<uint32_t>(l.v_scale_at);
  a.window = k.window;
  a.chunked = k.chunked;
  a.keep = k.keep;
  a.keep_pages = k.keep_pages;
  a.n_slots = k.n_slots;
  a.n_sinks = k.n_sinks;
  if (k.n_sinks) a.sinks = k.sinks + kv.layer_index[layer] * size_t{l.n_kv_heads} * k.sink_floats;
  a.sink_step = uint64_t{k.n_layers} * l.n_kv_heads * k.sink_floats;
  a.sink_floats = static_cast<uint32_t>(k.sink_floats);
  a.sink_values = static_cast<uint32_t>(align_up(size_t{kMaxSinks} * l.head_dim, 16));
  a.not_finite = q.not_finite;
  return a;
}

// KV blocks that a row sees at most: those of the kept tokens and of a queue of pages that begins anywhere.
uint32_t most_blocks(const KvClass& c) {
  return static_cast<uint32_t>(div_up(c.keep, kBlockPositions) +
                               div_up(uint64_t{c.n_slots - c.keep_pages} * kPagePositions, kBlockPositions) + 1);
}
// Rows (token x head) whose KV blocks are summed apart: a few tokens, or as many as keep the GPU busy.
uint32_t split_rows(uint32_t n_heads, uint32_t n_sms) { return 2 * n_heads > 8 * n_sms ? 2 * n_heads : 8 * n_sms; }
size_t part_bytes(uint64_t rows, uint32_t blocks, uint32_t dpad) {
  return static_cast<size_t>(align_up(rows * blocks * sizeof(FlashPart), 256) + align_up(rows * blocks * dpad * sizeof(float), 256));
}

// What rows begin with where there are sinks, FlashSinkArgs.
size_t begin_ml_bytes(uint64_t rows, uint32_t n_heads) { return static_cast<size_t>(align_up(rows * n_heads * sizeof(FlashPart), 256)); }
size_t begin_bytes(uint64_t rows, uint32_t n_heads, uint32_t dpad) {
  return begin_ml_bytes(rows, n_heads) + static_cast<size_t>(align_up(rows * n_heads * dpad * sizeof(float), 256));
}

// Places of the buffers in shared memory, and their bytes.
uint32_t share_memory(FlashArgs* a, uint32_t rows) {
  const KvArgs& kv = a->kv;
  const auto is_float = [](uint32_t f) { return f == kCudaF32 || f == kCudaF16 || f == kCudaBf16; };
  const bool floats = is_float(kv.k_format), by_channels = kv.latent && kv.v_format == kCudaI8;
  uint32_t at = 0;
  const auto take = [&at](size_t bytes) {
    const uint32_t here = at;
    at += up16(bytes);
    return here;
  };
  a->at_q = take(floats ? size_t{rows} * kv.head_dim * sizeof(float) : size_t{rows} * (kv.kpad + kQueryPad));
  a->at_x_scale = take(floats ? 0 : size_t{rows} * div_up(kv.head_dim, 32) * sizeof(float));
  a->at_s = take(size_t{rows} * (by_channels ? kScoreStride : kDotsPerRow) * sizeof(float));
  a->at_dots =
      by_channels ? take(size_t{rows} * kDotsPerRow * sizeof(int32_t)) : a->at_s;  // weights are of no more use once they are in planes
  a->at_planes = take(is_float(kv.v_format) ? 0 : size_t{2} * rows * kPlaneStride);
  a->at_v_scale = take(kBlockPositions * sizeof(float));
  a->at_acc = take(a->splits > 1 ? 0 : size_t{rows} * kv.dpad * sizeof(float));
  return at;
}

}  // namespace

size_t cuda_attention_scratch(const KvCache& kv, uint32_t n_chunk, uint32_t n_sms) {
  uint32_t blocks = 0, n_heads = 0, dpad = 0;  // the most of any layer
  bool sinks = false;
  for (uint32_t i = 0; i < kv.n_classes; ++i) {
    if (!kv.classes[i].groups() && most_blocks(kv.classes[i]) > blocks) blocks = most_blocks(kv.classes[i]);
    sinks |= kv.classes[i].n_sinks != 0;
    const KvLayout& l = kv.classes[i].layout;
    if (kv.classes[i].group * l.n_kv_heads > n_heads) n_heads = kv.classes[i].group * l.n_kv_heads;
    if (l.dpad > dpad) dpad = l.dpad;
  }
  const uint64_t all = uint64_t{n_chunk} * kLargeTile * n_heads, some = split_rows(n_heads, n_sms);
  return part_bytes(all < some ? all : some, blocks, dpad) + (sinks ? begin_bytes(n_chunk, n_heads, dpad) : 0);
}

void cuda_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans,
                    uint32_t n_spans, const RopeView& rope) {
  CudaQueue& q = cuda_queue(w);
  KvAppendArgs a{};
  a.kv = kv_args(q, kv, layer);
  a.row_span = q.pass.row_span;
  a.k = k;
  a.v = v;
  a.stride = stride;
  for (uint32_t i = 0; i < n_spans; ++i) a.n_rows += spans[i].n;
  a.n_kv_heads = kv.classes[kv.class_of[layer]].layout.n_kv_heads;
  a.cos = rope.cos;
  a.sin = rope.sin;
  a.n_pairs = rope.n_pairs;
  a.interleaved = rope.interleaved;
  a.factor = rope.factor;
  const uint32_t items = a.n_rows * a.n_kv_heads * (a.kv.latent ? 1 : 2);
  cuda_launch(q, kCuda_kv_append, {static_cast<uint32_t>(div_up(items, kAppendThreads / 32)), 1, 1}, kAppendThreads, 0, &a);
}

void cuda_attention(const Worker& w, const AttentionArgs& of) {
  CudaQueue& q = cuda_queue(w);
  const KvClass& c = of.kv->classes[of.kv->class_of[of.layer]];
  const uint32_t n_kv = c.layout.n_kv_heads;
  FlashArgs a{};
  a.kv = kv_args(q, *of.kv, of.layer);
  a.q = of.q;
  a.out = of.out;
  a.q_stride = of.q_stride;
  a.out_stride = of.out_stride;
  a.slopes = of.slopes;
  a.sinks = of.sinks;
  a.scale = of.scale;
  a.cap = of.cap;
  a.n_spans = of.n_spans;
  a.group = of.n_heads / n_kv;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < of.n_spans; ++i) {
    a.n_rows += of.spans[i].n;
    if (of.spans[i].n > longest) longest = of.spans[i].n;
  }
  a.one_each = longest == 1;
  uint8_t* scratch = q.scratch;
  size_t scratch_bytes = q.scratch_bytes;
  if (c.n_sinks) {
    FlashSinkArgs s{a.kv,
                    q.pass.row_span,
                    of.q,
                    of.q_stride,
                    of.sink_rope.cos,
                    of.sink_rope.sin,
                    of.sinks,
                    reinterpret_cast<FlashPart*>(scratch),
                    reinterpret_cast<float*>(scratch + begin_ml_bytes(a.n_rows, of.n_heads)),
                    of.n_spans,
                    a.n_rows,
                    of.n_heads,
                    a.group,
                    of.sink_rope.n_pairs,
                    of.sink_rope.interleaved,
                    of.scale,
                    of.cap};
    a.begin_ml = s.begin_ml;
    a.begin = s.begin;
    scratch += begin_bytes(a.n_rows, of.n_heads, a.kv.dpad);
    scratch_bytes -= begin_bytes(a.n_rows, of.n_heads, a.kv.dpad);
    cuda_launch(q, kCuda_flash_sinks, {static_cast<uint32_t>(div_up(uint64_t{a.n_rows} * of.n_heads, kSinkWarps)), 1, 1}, kSinkWarps * 32,
                0, &s);
  }

  uint32_t rows = uint64_t{longest} * a.group <= kSmallTile ? kSmallTile : kLargeTile;
  a.splits = 1;
  if (share_memory(&a, rows) + kStateBytes > q.shared_bytes) rows = kSmallTile;
  a.heads = a.group < rows ? a.group : rows;
  a.head_tiles = static_cast<uint32_t>(div_up(a.group, a.heads));
  a.tokens = rows / a.heads < longest ? rows / a.heads : longest;
  a.tile_rows = a.tokens * a.heads;
  uint32_t tiles = 0;
  for (uint32_t i = 0; i < of.n_spans; ++i) tiles += static_cast<uint32_t>(div_up(of.spans[i].n, a.tokens)) * a.head_tiles;

  // Few tiles, as in decode: their KV blocks are shared out so that there are four blocks of threads for each multiprocessor, whatever the
  // position.
  const uint32_t blocks = tiles * n_kv, part_rows = blocks * a.tile_rows;
  a.most_blocks = most_blocks(c);
  if (blocks < 2 * q.n_sms && part_rows <= split_rows(of.n_heads, q.n_sms) &&
      part_bytes(part_rows, a.most_blocks, a.kv.dpad) <= scratch_bytes) {
    const uint32_t want = static_cast<uint32_t>(div_up(4 * q.n_sms, blocks));
    a.splits = want < a.most_blocks ? want : a.most_blocks;
    a.part_ml = reinterpret_cast<FlashPart*>(scratch);
    a.part = reinterpret_cast<float*>(scratch + align_up(size_t{part_rows} * a.most_blocks * sizeof(FlashPart), 256));
  }
  const uint32_t shared = share_memory(&a, rows);
  if (shared + kStateBytes > q.shared_bytes && !q.failed) q.failed = kTooLarge;
  const bool i8 = a.kv.k_format == kCudaI8 && a.kv.v_format == kCudaI8 && !a.kv.latent;
  cuda_launch(q,
              rows == kSmallTile ? i8 ? kCuda_flash8_i8 : kCuda_flash8
              : i8               ? kCuda_flash16_i8
                                 : kCuda_flash16,
              {tiles, n_kv, a.splits}, kFlashThreads, shared, &a);
  if (a.splits > 1)
    cuda_launch(q, kCuda_flash_merge, {tiles, n_kv, a.tile_rows}, kMergeThreads,
                2 * a.most_blocks * static_cast<uint32_t>(sizeof(FlashPart)), &a);
}

}  // namespace linnet
