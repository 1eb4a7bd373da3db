// Attention runs over KV in blocks of 256 tokens by absolute position, in prefill and decode alike. A block yields (m, l, acc) from its own
// maximum; blocks merge left to right. A row sees only its own blocks, so neither its batch mates nor the tile it falls in change its bits.
// Tokens that a row may not see get weights of exact zeros, which add nothing to any sum.
#include "attention.h"

#include <cstring>

#include "kivi.h"
#include "registry.h"

namespace linnet {
namespace {

constexpr uint32_t kTileRows = 32;    // rows (token x query head of one KV head) that share each page read
constexpr uint32_t kMostRows = 1024;  // heads of one KV head, as the spec limits them
constexpr uint32_t kPagesPerBlock = kBlockPositions / kPagePositions;
constexpr int kSecondLevel = 2;                              // of the caches, as __builtin_prefetch counts
constexpr uint32_t kSome = 4;                                // pages whose scores are computed at a time
constexpr uint32_t kPanels = 2;                              // of 16 channels whose values are summed at a time
constexpr uint32_t kTurned = kLatentGroup * kPagePositions;  // bytes of a page that are values at a time, where they are a latent's
constexpr uint32_t kPartBlocks = 4;                          // blocks that a thread takes at a time where threads share a tile

uint32_t tile_tokens(uint32_t group) { return group >= kTileRows ? 1 : kTileRows / group; }
uint32_t tile_rows(uint32_t group) { return tile_tokens(group) * group; }
bool f8(Format f) { return f == LINNET_F8E4M3 || f == LINNET_F8E5M2; }
bool scaled(Format f) { return f == LINNET_I8 || f8(f); }

// FP8 codes without their sign as integers, so that they are multiplied as i8 is, exactly and at its speed: in units of `unit`, 127 of them
// the format's largest number, which is where append puts the largest of a head. That rounding is what i8 has; FP8's own is larger.
struct F8Table {
  alignas(64) int8_t code[128];
  float unit;
};
constexpr F8Table make_f8_table(bool e4m3) {
  const uint32_t mantissa = e4m3 ? 3 : 2;
  const uint64_t top = e4m3 ? uint64_t{14} << 15 : uint64_t{7} << 30;  // as `value` below
  F8Table t{};
  for (uint32_t c = 0; c < 128; ++c) {
    const uint32_t e = c >> mantissa, m = c & ((1u << mantissa) - 1);
    const uint64_t some = uint64_t{e ? m | 1u << mantissa : m} << (e ? e : 1),
                   value = some < top ? some : top;  // what is no number counts as the largest
    t.code[c] = static_cast<int8_t>((value * 127 + top / 2) / top);
  }
  t.unit = (e4m3 ? 448.0f : 57344.0f) / 127;
  return t;
}
constexpr F8Table kE4M3 = make_f8_table(true), kE5M2 = make_f8_table(false);
static_assert(kE4M3.code[0x7E] == 127 && kE4M3.code[0x38] == 0 && kE4M3.code[0x76] == 64 && kE5M2.code[0x7B] == 127 &&
              kE5M2.code[0x6F] == 16);  // 448, 1, 224; 57344, 7168
const F8Table& f8_table(Format f) { return f == LINNET_F8E4M3 ? kE4M3 : kE5M2; }

// What is known of a row after some of its blocks: the largest score, the sum of weights, the sum of values (dpad).
struct Running {
  float *m, *l, *acc;
};

// Buffers of one tile, cut from a thread's scratch.
struct Tile {
  QuantRows q;         // (rows, kpad) codes in groups of 32: K in i8 and FP8
  QuantRows second;    // the same codes where the keys of small heads have their second byte
  float* qf;           // (rows, head_dim): K in floats
  float* s;            // (rows, 256) scores, then e^(s - m)
  uint8_t *hi, *lo;    // (rows, 256) planes of P: V in i8 and FP8
  float* p_scale;      // (rows)
  int8_t* f8;          // integers of FP8: kSome pages of K, or kPanels panels of V of a block
  float* f8_scale;     // (kSome, 16) of K
  float* v_scale;      // (256)
  uint8_t* turned;     // (16 pages, kTurned) values of a latent, a few channels at a time
  Running own;         // (rows) of a tile that one thread works on alone
  Running blocks;      // (kPartBlocks, rows): l = 0 where a row sees nothing
  float* sink_keys;    // (head_dim, 16) and a row more
  Running sink_block;  // (rows) kept tokens and sinks, beside `blocks`
  uint32_t* position;  // (rows)
  uint8_t* unpacked;   // (16, head_bytes) pages of one block: KIVI
};

Running take_running(Arena& a, uint64_t rows, uint32_t dpad) {
  return {a.take<float>("", rows), a.take<float>("", rows), a.take<float>("", rows * dpad)};
}

// For layers of a class.
size_t cut_tile(Tile* t, uint8_t* mem, const KvCache& kv, const KvClass& of, uint32_t n_threads) {
  Arena a = mem ? Arena(mem, SIZE_MAX / 2) : Arena();
  const uint64_t rows = tile_rows(of.group);
  const KvLayout& l = of.layout;
  const uint32_t groups = static_cast<uint32_t>(div_up(l.head_dim, 32));
  t->q.q = a.take<uint8_t>("", rows * quant_stride(LINNET_I8, l.head_dim));
  t->q.scale = a.take<float>("", rows * groups);
  t->q.sum128 = a.take<int32_t>("", rows * groups);
  const uint64_t small = kv_small_head(l.head_dim) ? rows : 0;
  t->second.q = a.take<uint8_t>("", small * quant_stride(LINNET_I8, l.head_dim));
  t->second.scale = a.take<float>("", small);
  t->qf = a.take<float>("", rows * l.head_dim);
  t->s = a.take<float>("", rows * kBlockPositions);
  t->hi = a.take<uint8_t>("", rows * kBlockPositions);
  t->lo = a.take<uint8_t>("", rows * kBlockPositions);
  t->p_scale = a.take<float>("", rows);
  bool any = false;
  for (uint32_t i = 0; i < kv.n_classes; ++i) any |= f8(kv.classes[i].layout.k) || f8(kv.classes[i].layout.v);
  const uint64_t keys = uint64_t{kSome} * kPagePositions * align_up(l.head_dim, 32), values = uint64_t{kPanels} * kPanel * kBlockPositions,
                 codes = any ? keys > values ? keys : values : 0;
  t->f8 = a.take<int8_t>("", codes);
  t->f8_scale = a.take<float>("", any ? kSome * kPagePositions : 0);
  t->v_scale = a.take<float>("", kBlockPositions);
  t->turned = a.take<uint8_t>("", l.latent ? kPagesPerBlock * kTurned : 0);
  t->own = take_running(a, rows, l.dpad);
  t->blocks = take_running(a, rows * (n_threads > 1 ? kPartBlocks : 1), l.dpad);
  bool kept = false;
  for (uint32_t i = 0; i < kv.n_classes; ++i) kept |= kv.classes[i].keep || kv.classes[i].n_sinks;
  t->sink_keys = a.take<float>("", kept ? size_t{l.head_dim} * (kPagePositions + 1) : 0);
  t->sink_block = take_running(a, kept ? rows : 0, l.dpad);
  t->position = a.take<uint32_t>("", rows);
  size_t unpacked = 0;
  for (uint32_t i = 0; i < kv.n_classes; ++i)
    if (kv.classes[i].packed) unpacked = kPagesPerBlock * kv.classes[i].layout.head_bytes;
  t->unpacked = a.take<uint8_t>("", unpacked);
  return a.used();
}

// Tiles that the whole team works on: for each how many parts are merged, and what came of them.
struct SharedTiles {
  std::atomic<uint32_t>* merged;  // (tiles)
  Running running;                // (tiles, rows)
};
uint32_t shared_tiles(uint32_t n_threads) { return n_threads > 1 ? 4 * n_threads : 0; }  // more tiles than these keep all threads busy
size_t cut_shared(SharedTiles* t, uint8_t* mem, const KvClass& of, uint32_t n_threads) {
  Arena a = mem ? Arena(mem, SIZE_MAX / 2) : Arena();
  const uint64_t tiles = shared_tiles(n_threads);
  t->merged = a.take<std::atomic<uint32_t>>("", tiles);
  t->running = take_running(a, tiles * tile_rows(of.group), of.layout.dpad);
  return a.used();
}

// Query rows of one KV head over one layer of one sequence.
struct Item {
  KvView kv;
  uint32_t kv_head, row, n_tokens, rows;  // rows of the batch from `row` on; rows = n_tokens * group
  uint32_t position, end;                 // of the first, and behind the last that is there
  uint32_t seq = 0;
  uint32_t last() const { return position + n_tokens - 1; }
  uint32_t low(uint32_t p) const { return kv.of->chosen() ? kv.low : kv.of->low(p); }
  // Tokens from..to - 1 that a row at position p sees: of those kept from the beginning, before its window, or of the window itself.
  Share seen(bool kept, uint32_t p) const {
    return kept ? Share{0, low(p) < kv.of->keep ? low(p) : kv.of->keep} : Share{low(p), kv.of->high(p, end)};
  }
  uint32_t packed_pages() const { return kv.packed ? packed_groups(position + 1) * kGroupPages : 0; }  // that its rows see
  // That any row sees.
  Share seen(bool kept) const { return {seen(kept, position).from, seen(kept, last()).to}; }
};

void load_second(Tile& t, const KvLayout& kv, uint32_t r) {
  t.second.stride = t.q.stride;
  uint8_t* to = t.second.q + r * t.second.stride;
  std::memset(to, 0, kv.kpad);
  std::memcpy(to + kSecondByte, t.q.q + r * t.q.stride, kv.head_dim);
  t.second.scale[r] = t.q.scale[r] / 256.0f;
}

void load_queries(const Worker& w, Tile& t, const AttentionArgs& a, const Item& item, uint32_t group) {
  const KvLayout& kv = *item.kv.layout;
  t.q.format = LINNET_I8;
  t.q.stride = quant_stride(LINNET_I8, kv.head_dim);
  t.q.group = 32;
  t.q.groups = static_cast<uint32_t>(div_up(kv.head_dim, 32));
  for (uint32_t i = 0, r = 0; i < item.n_tokens; ++i)
    for (uint32_t g = 0; g < group; ++g, ++r) {
      const float* x = a.q + (item.row + i) * a.q_stride + (size_t{item.kv_head} * group + g) * kv.head_dim;
      t.position[r] = item.position + i;
      if (scaled(kv.k)) {
        if (!w.kernels->t.quantize_row(x, kv.head_dim, 32, reinterpret_cast<int8_t*>(t.q.q + r * t.q.stride),
                                       t.q.scale + size_t{r} * t.q.groups, t.q.sum128 + size_t{r} * t.q.groups))
          __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
        if (kv.k == LINNET_I8 && kv_small_head(kv.head_dim)) load_second(t, kv, r);
      } else {
        std::memcpy(t.qf + size_t{r} * kv.head_dim, x, kv.head_dim * sizeof(float));
      }
    }
}

// The next block's pages, asked for while this one's are worked on, since the hardware foresees too little of them. Evenly: a core waits
// for few lines at a time, and those behind them hold up what comes after. Kernels of some tiers ask as they go; what others leave is asked
// for behind them.
struct Ahead {
  const uint8_t* heads[kPagesPerBlock];
  uint32_t n = 0, bytes = 0;  // of them, of one
  // So many bytes more, for a kernel that can ask for them: those of them that lie in one piece.
  Fetch* more(uint32_t some) {
    left_ += some;
    open();
    return &next_;
  }
  // What a kernel has left of them. Inlined, or GCC drops it as doing nothing.
  [[gnu::always_inline]] inline void rest() {
    for (;; open()) {
      for (; next_.at < next_.until; next_.at += 64) __builtin_prefetch(next_.at, 0, kSecondLevel);
      left_ -= next_.at - from_;
      from_ = next_.at;
      if (left_ <= 0 || (next_.at >= end_ && page_ == n)) return;
    }
  }
  uint32_t share(uint32_t part, uint32_t steps) const { return n * bytes / kOfAll * part / steps; }

  static constexpr uint32_t kOfScores = 6, kOfWeights = 7, kOfValues = 4, kOfAll = 17;  // what of it, while those are computed

 private:
  void open() {
    if (next_.at >= end_ && page_ < n) {
      end_ = next_.at = heads[page_];
      for (; page_ < n && heads[page_] == end_; ++page_) end_ += bytes;
    }
    from_ = next_.at;
    const ptrdiff_t here = end_ - next_.at, some = left_ < here ? left_ : here;
    next_.until = next_.at + (some > 0 ? some : 0);
  }
  Fetch next_{};
  const uint8_t *from_ = nullptr, *end_ = nullptr;  // of the piece: where asking began or was settled, where it ends
  uint32_t page_ = 0;                               // the first behind it
  ptrdiff_t left_ = 0;                              // bytes still to ask for
};

// FP8 keys of a.n_panels pages.
void scores_f8(const Worker& w, const Tile& t, const KvLayout& kv, const uint8_t* const* heads, GemmArgs a) {
  const size_t codes = size_t{kv.kpad} * kPagePositions;
  const F8Table& table = f8_table(kv.k);
  for (uint32_t p = 0; p < a.n_panels; ++p) {
    w.kernels->t.byte_table(table.code, heads[p], codes, t.f8 + p * codes);
    std::memcpy(t.f8_scale + p * kPagePositions, heads[p] + kv.k_scale_at, kPagePositions * sizeof(float));
  }
  w.kernels->t.scale_row(t.f8_scale, a.n_panels * kPagePositions, table.unit);
  a.w_stride = codes;
  a.w_scale_stride = kPagePositions * sizeof(float);
  a.w = t.f8;
  a.w_scale = t.f8_scale;
  w.kernels->gemm[LINNET_I8].run(&a);
}

// s(rows, 16 * n) = q * K^T of n pages. Pages that lie one behind the other in the pool, as most do, or unpacked are one matrix.
void scores(const Worker& w, const Tile& t, const KvLayout& kv, const uint8_t* const* heads, uint32_t n, uint32_t rows, Ahead* ahead) {
  GemmArgs a{};
  const Format f = kv.k == LINNET_I8 ? LINNET_I8G32 : kv.k;  // a K page is a panel of 16 tokens with one f16 scale per 32 channels
  if (scaled(kv.k)) {
    a.x = t.q.q;
    a.x_stride = t.q.stride;
    a.x_scale = t.q.scale;
    a.x_sum128 = t.q.sum128;
    a.x_groups = t.q.groups;
    a.x_group = 32;
  } else {
    a.x = t.qf;
    a.x_stride = kv.head_dim * sizeof(float);
  }
  a.w_stride = a.w_scale_stride = kv.head_bytes;
  a.y_stride = kBlockPositions;
  a.m = rows;
  a.k = kv.head_dim;  // up to the next multiple of 32, in integers
  const uint32_t ahead_of_page = ahead ? ahead->share(Ahead::kOfScores, n) : 0;
  for (uint32_t from = 0; from < n; from += a.n_panels) {
    a.n_panels = 1;
    while (a.n_panels < kSome && from + a.n_panels < n &&
           (f8(kv.k) || heads[from + a.n_panels] == heads[from] + a.n_panels * kv.head_bytes))
      ++a.n_panels;
    a.next = ahead ? ahead->more(ahead_of_page * a.n_panels) : nullptr;
    a.y = t.s + from * kPagePositions;
    if (f8(kv.k)) {
      scores_f8(w, t, kv, heads + from, a);
      if (ahead) ahead->rest();
      continue;
    }
    a.w = heads[from];
    a.w_scale = heads[from] + kv.k_scale_at;
    w.kernels->gemm[f].run(&a);
    if (ahead) ahead->rest();
    if (kv.k != LINNET_I8 || !kv_small_head(kv.head_dim)) continue;
    GemmArgs b = a;
    b.next = nullptr;
    b.x = t.second.q;
    b.x_scale = t.second.scale;
    b.accumulate = 1;
    w.kernels->gemm[f].run(&b);
  }
}

// Of channels that share a scale of the keys: one f32 per token, as V's scales are.
void latent_scales(const uint8_t* from, float* to) {
  uint16_t half[kPagePositions];
  std::memcpy(half, from, sizeof half);
  for (uint32_t i = 0; i < kPagePositions; ++i) to[i] = f16_to_f32(half[i]);
}

// P times the latent, which lies in the K panels: turned into V panels a few channels at a time, in the first-level cache, for all rows.
void attend_latent(const Worker& w, Tile& t, const KvLayout& lay, const uint8_t* const* heads, uint32_t n_pages, uint32_t rows,
                   const Running& out) {
  const KernelTable& k = w.kernels->t;
  const uint32_t bytes = format_row(lay.k).bits / 8, step = kLatentGroup / bytes, n_pad = n_pages * kPagePositions;
  const void* values[kPagesPerBlock];
  for (uint32_t p = 0; p < n_pages; ++p) values[p] = t.turned + size_t{p} * kTurned;
  for (uint32_t c = lay.latent; c < lay.head_dim; c += step) {
    const uint32_t d_panels = (lay.head_dim - c < step ? lay.head_dim - c : step) / kPanel;
    float* acc = out.acc + (c - lay.latent);
    for (uint32_t p = 0; p < n_pages; ++p)
      k.turn_panels(bytes, heads[p] + size_t{c} * kPagePositions * bytes, d_panels, t.turned + size_t{p} * kTurned);
    if (lay.k == LINNET_I8) {
      for (uint32_t p = 0; p < n_pages; ++p)
        latent_scales(heads[p] + lay.k_scale_at + size_t{c / 32} * kPagePositions * sizeof(uint16_t), t.v_scale + p * kPagePositions);
      for (uint32_t r = 0; r < rows; ++r)
        t.p_scale[r] = k.planes(t.s + size_t{r} * kBlockPositions, t.v_scale, n_pad, t.hi + size_t{r} * kBlockPositions,
                                t.lo + size_t{r} * kBlockPositions, nullptr);
    } else if (f8(lay.k)) {
      for (uint32_t p = 0; p < n_pages; ++p) {
        uint8_t* const codes = t.turned + size_t{p} * kTurned;
        k.byte_table(f8_table(lay.k).code, codes, size_t{d_panels} * kPanel * kPagePositions, reinterpret_cast<int8_t*>(codes));
      }
    } else {
      k.attn_pv_float(lay.k, t.s, rows, values, n_pages, d_panels, acc, lay.dpad);
      continue;
    }
    k.attn_pv(t.hi, t.lo, rows, reinterpret_cast<const int8_t* const*>(values), n_pages, d_panels, t.p_scale, acc, lay.dpad, nullptr);
  }
}

// One block of the tile: tokens base..base + 255 as far as its rows see them, of the kept ones or of their windows. This thread works on
// the next ones up to position `stop`.
void attend_block(const Worker& w, Tile& t, const Item& item, bool kept, uint32_t base, uint32_t stop, const AttentionArgs& a,
                  const Running& out) {
  const KvLayout& lay = *item.kv.layout;
  const Share all = item.seen(kept);
  const uint32_t last = all.to - 1, foreseen = all.to < stop ? all.to : stop,
                 first_page = (all.from > base ? all.from : base) / kPagePositions;
  const uint32_t n_pages = (last < base + kBlockPositions - 1 ? last : base + kBlockPositions - 1) / kPagePositions - first_page + 1;
  const uint32_t from = first_page * kPagePositions, n_pad = n_pages * kPagePositions, group = a.n_heads / lay.n_kv_heads;
  const uint8_t* heads[kPagesPerBlock];
  const void* values[kPagesPerBlock];
  const uint32_t packed = item.packed_pages();
  for (uint32_t p = 0; p < n_pages; ++p) {
    const uint32_t page = first_page + p;
    if (page < packed) {  // whole groups, since nothing of a KIVI layer is out of sight
      uint8_t* const at = t.unpacked + p * lay.head_bytes;
      uint8_t* const both[kGroupPages] = {at, at + lay.head_bytes};
      if (p % kGroupPages == 0) kivi_unpack(item.kv.packed->layout, lay, item.kv.group(page / kGroupPages, item.kv_head), both);
      heads[p] = at;
    } else {
      heads[p] = item.kv.head(page, item.kv_head);
    }
    values[p] = heads[p] + lay.v_at;
  }
  Ahead ahead;
  for (uint32_t p = (base + kBlockPositions) / kPagePositions; ahead.n < kPagesPerBlock && p * kPagePositions < foreseen; ++p)
    if (p >= packed) ahead.heads[ahead.n++] = item.kv.head(p, item.kv_head);
  ahead.bytes = static_cast<uint32_t>(lay.head_bytes);
  scores(w, t, lay, heads, n_pages, item.rows, &ahead);
  const size_t v_scale_at = lay.latent ? lay.k_scale_at : lay.v_scale_at;
  const bool by_channels = lay.latent && lay.v == LINNET_I8;  // scales of their own, which attend_latent() sees to
  if (scaled(lay.v) && !by_channels)
    for (uint32_t p = 0; p < n_pages; ++p)
      std::memcpy(t.v_scale + p * kPagePositions, heads[p] + v_scale_at, kPagePositions * sizeof(float));
  if (f8(lay.v)) w.kernels->t.scale_row(t.v_scale, n_pad, f8_table(lay.v).unit);
  const uint32_t of_half = ahead.share(Ahead::kOfWeights, 2 * item.rows);
  for (uint32_t r = 0; r < item.rows; ++r) {
    Fetch* next = ahead.more(of_half);
    float* s = t.s + size_t{r} * kBlockPositions;
    const Share own = item.seen(kept, t.position[r]);
    const uint32_t begin = own.from > from ? own.from - from : 0, end = own.to <= from ? 0 : own.to - from < n_pad ? own.to - from : n_pad;
    if (begin >= end) {
      std::memset(s, 0, n_pad * sizeof(float));
      out.l[r] = 0;
    } else {
      w.kernels->t.softmax_block(s, begin, end, n_pad, a.scale, a.slopes ? a.slopes[item.kv_head * group + r % group] : 0.0f,
                                 static_cast<float>(t.position[r]) - static_cast<float>(from), a.cap, &out.m[r], &out.l[r], next);
    }
    ahead.rest();
    next = ahead.more(of_half);
    if (scaled(lay.v) && !by_channels)
      t.p_scale[r] = w.kernels->t.planes(s, t.v_scale, n_pad, t.hi + size_t{r} * kBlockPositions, t.lo + size_t{r} * kBlockPositions, next);
    ahead.rest();
  }
  if (lay.latent) return attend_latent(w, t, lay, heads, n_pages, item.rows, out);
  const uint32_t d_panels = lay.dpad / kPanel;
  if (scaled(lay.v)) {
    const uint32_t of_panel = ahead.share(Ahead::kOfValues, d_panels);
    for (uint32_t d = 0; d < d_panels; d += kPanels) {
      const uint32_t n = d_panels - d < kPanels ? d_panels - d : kPanels;
      Fetch* const next = ahead.more(of_panel * n);
      const int8_t* panels[kPagesPerBlock];
      for (uint32_t p = 0; p < n_pages; ++p) panels[p] = static_cast<const int8_t*>(values[p]) + d * kPanel * kPagePositions;
      for (uint32_t p = 0; f8(lay.v) && p < n_pages; ++p) {
        const size_t codes = size_t{n} * kPanel * kPagePositions;
        w.kernels->t.byte_table(f8_table(lay.v).code, reinterpret_cast<const uint8_t*>(panels[p]), codes, t.f8 + p * codes);
        panels[p] = t.f8 + p * codes;
      }
      w.kernels->t.attn_pv(t.hi, t.lo, item.rows, panels, n_pages, n, t.p_scale, out.acc + d * kPanel, lay.dpad, next);
      ahead.rest();
    }
    return;
  }
  ahead.more(ahead.share(Ahead::kOfValues, 1));
  ahead.rest();
  w.kernels->t.attn_pv_float(lay.v, t.s, item.rows, values, n_pages, d_panels, out.acc, lay.dpad);
}

// Folds a block into what is known of the tile's rows.
void merge(const Worker& w, const Running& run, const Running& block, uint32_t rows, uint32_t dpad) {
  float factor[2 * kMostRows];
  for (uint32_t r = 0; r < rows; ++r) {
    const float top = block.m[r] > run.m[r] ? block.m[r] : run.m[r];
    const bool both = block.l[r] != 0 && run.l[r] != 0;
    factor[2 * r] = both ? run.m[r] - top : 0;
    factor[2 * r + 1] = both ? block.m[r] - top : 0;
    if (both) run.m[r] = top;
  }
  w.kernels->t.exp_row(factor, 2 * rows);
  for (uint32_t r = 0; r < rows; ++r) {
    if (block.l[r] == 0) continue;
    float* acc = run.acc + size_t{r} * dpad;
    const float* add = block.acc + size_t{r} * dpad;
    if (run.l[r] == 0) {
      std::memcpy(acc, add, dpad * sizeof(float));
      run.m[r] = block.m[r];
      run.l[r] = block.l[r];
      continue;
    }
    run.l[r] = __builtin_fmaf(block.l[r], factor[2 * r + 1], run.l[r] * factor[2 * r]);
    w.kernels->t.merge_row(acc, add, dpad, factor[2 * r], factor[2 * r + 1]);
  }
}

// Sinks of the rows of one token that its window has left behind: keys moved up to just before the window, in floats (Xiao et al. 2023).
void attend_sinks(const Worker& w, Tile& t, const AttentionArgs& a, const Item& item, uint32_t token, uint32_t group, const Running& out) {
  const KvLayout& lay = *item.kv.layout;
  const uint32_t dim = lay.head_dim, low = item.low(item.position + token), n = low < item.kv.of->n_sinks ? low : item.kv.of->n_sinks;
  const float* keys = item.kv.sinks + item.kv_head * item.kv.of->sink_floats;  // (kMaxSinks, head_dim)
  const void* values = keys + align_up(size_t{kMaxSinks} * dim, 16);
  float* panel = t.sink_keys;                           // [head_dim][16]
  float* moved = panel + size_t{dim} * kPagePositions;  // (head_dim)
  std::memset(panel, 0, size_t{dim} * kPagePositions * sizeof(float));
  for (uint32_t i = 0; i < n; ++i) {
    std::memcpy(moved, keys + size_t{i} * dim, dim * sizeof(float));
    const size_t at = ((item.row + token) * size_t{kMaxSinks} + i) * a.sink_rope.n_pairs;
    if (a.sink_rope.n_pairs)
      w.kernels->t.rope_row(moved, a.sink_rope.cos + at, a.sink_rope.sin + at, a.sink_rope.n_pairs, a.sink_rope.interleaved);
    for (uint32_t d = 0; d < dim; ++d) panel[size_t{d} * kPagePositions + i] = moved[d];
  }
  GemmArgs g{};
  g.x = a.q + (item.row + token) * a.q_stride + size_t{item.kv_head} * group * dim;
  g.x_stride = dim * sizeof(float);
  g.w = panel;
  g.y = t.s;
  g.y_stride = kBlockPositions;
  g.m = group;
  g.n_panels = 1;
  g.k = dim;
  w.kernels->gemm[LINNET_F32].run(&g);
  for (uint32_t r = 0; r < group; ++r)
    w.kernels->t.softmax_block(t.s + size_t{r} * kBlockPositions, 0, n, kPagePositions, a.scale, 0.0f, 0.0f, a.cap, &out.m[r], &out.l[r],
                               nullptr);
  w.kernels->t.attn_pv_float(LINNET_F32, t.s, group, &values, 1, lay.dpad / kPanel, out.acc, lay.dpad);
}

Running rows_of(const Running& run, uint32_t first, uint32_t dpad) {
  return {run.m + first, run.l + first, run.acc + size_t{first} * dpad};
}

// Before the blocks of the windows: nothing; a learned sink of weight one and no value; tokens kept from the beginning.
void begin_rows(const Worker& w, Tile& t, const AttentionArgs& a, const Item& item, uint32_t group, const Running& run) {
  const uint32_t dpad = item.kv.layout->dpad;
  for (uint32_t r = 0; r < item.rows; ++r) run.l[r] = run.m[r] = 0;
  if (a.sinks) {
    std::memset(run.acc, 0, size_t{item.rows} * dpad * sizeof(float));
    for (uint32_t r = 0; r < item.rows; ++r) {
      run.m[r] = a.sinks[item.kv_head * group + r % group];
      run.l[r] = 1;
    }
  }
  for (uint32_t i = 0; item.kv.of->n_sinks && i < item.n_tokens; ++i) {
    if (item.low(item.position + i) == 0) continue;
    attend_sinks(w, t, a, item, i, group, t.sink_block);
    merge(w, rows_of(run, i * group, dpad), t.sink_block, group, dpad);
  }
  const Share kept = item.seen(true);
  for (uint32_t base = 0; base < kept.to; base += kBlockPositions) {
    attend_block(w, t, item, true, base, UINT32_MAX, a, t.sink_block);
    merge(w, run, t.sink_block, item.rows, dpad);
  }
}

// Adds to what tokens drew: the weights of all rows from `observe_from` on, once their sums are known.
void add_scores(const Worker& w, Tile& t, const AttentionArgs& a, const Item& item, uint32_t observe_from, const Running& run) {
  if (item.last() < observe_from) return;
  const KvLayout& lay = *item.kv.layout;
  float* fresh = item.kv.fresh + item.kv_head * size_t{item.kv.of->n_slots} * kPagePositions;
  for (const bool kept : {true, false}) {
    const Share all = item.seen(kept);
    for (uint32_t page = all.from / kPagePositions; page * kPagePositions < all.to; ++page) {
      const uint8_t* head = item.kv.head(page, item.kv_head);
      scores(w, t, lay, &head, 1, item.rows, nullptr);
      for (uint32_t r = 0; r < item.rows; ++r) {
        const Share own = item.seen(kept, t.position[r]);
        const uint32_t base = page * kPagePositions, begin = own.from > base ? own.from - base : 0,
                       end = own.to <= base                   ? 0
                             : own.to - base < kPagePositions ? own.to - base
                                                              : kPagePositions;
        if (begin >= end || t.position[r] < observe_from) continue;
        float m, l;
        w.kernels->t.softmax_block(t.s + size_t{r} * kBlockPositions, begin, end, kPagePositions, a.scale, 0.0f, 0.0f, a.cap, &m, &l,
                                   nullptr);
        float factor = m - run.m[r];
        w.kernels->t.exp_row(&factor, 1);
        w.kernels->t.merge_row(fresh + size_t{item.kv.of->slot_of(page)} * kPagePositions, t.s + size_t{r} * kBlockPositions,
                               kPagePositions, 1.0f, factor / run.l[r]);
      }
    }
  }
}

void end_rows(const Worker& w, const AttentionArgs& a, const Item& item, uint32_t group, const Running& run) {
  const KvLayout& lay = *item.kv.layout;
  for (uint32_t r = 0; r < item.rows; ++r) {
    float* acc = run.acc + size_t{r} * lay.dpad;
    w.kernels->t.scale_row(acc, lay.v_dim, 1.0f / run.l[r]);
    std::memcpy(a.out + (item.row + r / group) * a.out_stride + (size_t{item.kv_head} * group + r % group) * lay.head_dim, acc,
                lay.v_dim * sizeof(float));
  }
}

// Codes of n values with one scale, and whether they are finite.
uint32_t finite_amax(const Worker& w, const float* x, uint32_t n, float* amax) {
  const uint32_t bits = w.kernels->t.amax_bits(x, n);
  std::memcpy(amax, &bits, 4);
  if (bits < 0x7F800000u) return 1;
  __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
  return 0;
}

// FP8 codes of n values (a multiple of 4 is written) with one scale that puts the largest at the format's largest number.
float codes_f8(const Worker& w, Format f, const float* x, uint32_t n, uint8_t* codes) {
  const float top = f == LINNET_F8E4M3 ? 448.0f : 57344.0f;
  float amax;
  std::memset(codes, 0, static_cast<size_t>(align_up(n, 4)));
  if (!finite_amax(w, x, n, &amax) || !(amax > 1e-30f)) return 0;
  const float inv = top / amax;
  for (uint32_t i = 0; i < n; ++i) codes[i] = f == LINNET_F8E4M3 ? f32_to_f8e4m3(x[i] * inv) : f32_to_f8e5m2(x[i] * inv);
  return amax / top;
}

uint32_t storable(const Worker& w, Format f, const float* x, uint32_t n) {
  float amax;
  if (!finite_amax(w, x, n, &amax)) return 0;
  if (f != LINNET_F16 || amax <= 65504.0f) return 1;
  __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);  // f16 would overflow to infinity, and that poisons masked products
  return 0;
}

void store_float(Format f, uint8_t* to, float x) {
  if (f == LINNET_F32) {
    std::memcpy(to, &x, 4);
  } else {
    const uint16_t h = f == LINNET_F16 ? f32_to_f16(x) : f32_to_bf16(x);
    std::memcpy(to, &h, 2);
  }
}

// K: [k/4][16][4] bytes, or [head_dim][16].
void store_key(const Worker& w, const KvLayout& lay, uint8_t* head, uint32_t slot, const float* k) {
  const KernelTable& t = w.kernels->t;
  if (!scaled(lay.k)) {
    const size_t b = format_row(lay.k).bits / 8;
    if (!storable(w, lay.k, k, lay.head_dim)) return;
    for (uint32_t d = 0; d < lay.head_dim; ++d) store_float(lay.k, head + (size_t{d} * kPagePositions + slot) * b, k[d]);
    return;
  }
  alignas(64) uint8_t codes[1024];  // head_dim is at most this
  if (lay.k == LINNET_I8) {
    uint16_t* k_scale = reinterpret_cast<uint16_t*>(head + lay.k_scale_at);
    for (uint32_t from = 0, n; from < lay.head_dim; from += n) {
      const uint32_t most = lay.latent && from >= lay.latent ? kLatentGroup : 32;
      n = lay.head_dim - from < most ? lay.head_dim - from : most;
      float amax;
      const uint32_t finite = finite_amax(w, k + from, n, &amax);
      const float want = amax / 127.0f;
      const uint16_t half = finite ? f32_to_f16(want < 65504.0f ? want : 65504.0f) : uint16_t{0};
      const float rounded = f16_to_f32(half);
      std::memset(codes + from, 0, static_cast<size_t>(align_up(n, 32)));
      if (rounded > 0) t.codes(k + from, n, 1.0f / rounded, reinterpret_cast<int8_t*>(codes + from));
      if (rounded > 0 && kv_small_head(lay.head_dim)) {  // the only group
        float rest[kSecondByte];
        for (uint32_t d = 0; d < n; ++d) rest[d] = k[d] - static_cast<float>(static_cast<int8_t>(codes[d])) * rounded;
        t.codes(rest, n, 256.0f / rounded, reinterpret_cast<int8_t*>(codes + kSecondByte));
      }
      for (uint32_t g = from / 32; g < div_up(from + n, 32); ++g) k_scale[g * kPagePositions + slot] = half;
    }
  } else {
    const float scale = codes_f8(w, lay.k, k, lay.head_dim, codes);
    std::memset(codes + align_up(lay.head_dim, 4), 0, static_cast<size_t>(lay.kpad - align_up(lay.head_dim, 4)));
    std::memcpy(head + lay.k_scale_at + slot * 4, &scale, 4);
  }
  for (uint32_t d = 0; d < lay.kpad; d += 4) std::memcpy(head + size_t{d} * kPagePositions + slot * 4, codes + d, 4);
}

// V: [d/16][t/4][16][t%4] bytes, or [d/16][16 tokens][16].
void store_value(const Worker& w, const KvLayout& lay, uint8_t* head, uint32_t slot, const float* v) {
  const KernelTable& t = w.kernels->t;
  if (!scaled(lay.v)) {
    const size_t b = format_row(lay.v).bits / 8;
    if (!storable(w, lay.v, v, lay.head_dim)) return;
    for (uint32_t d = 0; d < lay.head_dim; ++d)
      store_float(lay.v, head + lay.v_at + ((size_t{d / kPanel} * kPagePositions + slot) * kPanel + d % kPanel) * b, v[d]);
    return;
  }
  alignas(64) uint8_t codes[1024];
  float scale = 0;
  if (lay.v == LINNET_I8) {
    float amax;
    if (finite_amax(w, v, lay.head_dim, &amax)) {
      scale = amax / 127.0f;
      t.codes(v, lay.head_dim, amax > 1e-30f ? 127.0f / amax : 0.0f, reinterpret_cast<int8_t*>(codes));
    } else {
      std::memset(codes, 0, lay.head_dim);
    }
  } else {
    scale = codes_f8(w, lay.v, v, lay.head_dim, codes);
  }
  std::memcpy(head + lay.v_scale_at + slot * 4, &scale, 4);
  uint8_t* to = head + lay.v_at + (slot / 4) * 64 + slot % 4;
  for (uint32_t d = 0; d < lay.head_dim; ++d) to[d / kPanel * size_t{256} + d % kPanel * 4] = codes[d];
}

}  // namespace

// The most that the layers of any class take.
template <class Bytes>
size_t most_of_classes(const KvCache& kv, Bytes bytes) {
  size_t most = 0;
  for (uint32_t i = 0; i < kv.n_classes; ++i)
    if (const size_t n = kv.classes[i].groups() ? 0 : bytes(kv.classes[i]); n > most) most = n;
  return most;
}

size_t attention_scratch_bytes(const KvCache& kv, uint32_t n_threads) {
  Tile t{};
  return most_of_classes(kv, [&](const KvClass& c) { return cut_tile(&t, nullptr, kv, c, n_threads); });
}

size_t cpu_shared_bytes(const KvCache& kv, uint32_t n_threads) {
  SharedTiles t{};
  return most_of_classes(kv, [&](const KvClass& c) { return cut_shared(&t, nullptr, c, n_threads); });
}

// A sink's key without its rotation, and its value, in floats.
void store_sink(const Worker& w, const KvView& view, uint32_t kv_head, uint32_t p, const float* k, const float* v, const RopeView& rope,
                size_t row) {
  const uint32_t dim = view.layout->head_dim;
  float* key = view.sinks + kv_head * view.of->sink_floats + size_t{p} * dim;
  float* values = view.sinks + kv_head * view.of->sink_floats + align_up(size_t{kMaxSinks} * dim, 16);
  std::memcpy(key, k, dim * sizeof(float));
  float back[512];  // at most half of head_dim
  for (uint32_t i = 0; i < rope.n_pairs; ++i) back[i] = -rope.sin[row * rope.n_pairs + i];
  if (rope.n_pairs) w.kernels->t.rope_row(key, rope.cos + row * rope.n_pairs, back, rope.n_pairs, rope.interleaved);
  if (rope.factor != 1) w.kernels->t.scale_row(key, 2 * rope.n_pairs, 1.0f / (rope.factor * rope.factor));
  for (uint32_t d = 0; d < view.layout->v_dim; ++d) values[(size_t{d / kPanel} * kPagePositions + p) * kPanel + d % kPanel] = v[d];
}

void cpu_kv_append(const Worker& w, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans,
                   uint32_t n_spans, const RopeView& rope) {
  const KvLayout& lay = kv.classes[kv.class_of[layer]].layout;
  for (uint32_t s = 0; s < n_spans; ++s) {
    const RowSpan& span = spans[s];
    const KvView view = kv.view(span.seq, layer);
    for_rows(w, lay.n_kv_heads * span.n, [&](uint32_t i) {  // head by head, so that threads seldom write to one page
      const uint32_t kv_head = i / span.n, row = i % span.n, p = span.position + row;
      uint8_t* head = view.head(p / kPagePositions, kv_head);
      const size_t at = (span.row + row) * stride + size_t{kv_head} * lay.head_dim;
      store_key(w, lay, head, p % kPagePositions, k + at);
      if (!lay.latent) store_value(w, lay, head, p % kPagePositions, v + at);
      if (p < view.of->n_sinks) store_sink(w, view, kv_head, p, k + at, lay.latent ? k + at + lay.latent : v + at, rope, span.row + row);
    });
  }
}

bool cpu_kv_pack(const Worker& w, const KvCache& kv, uint32_t layer, const RowSpan* spans, uint32_t n_spans) {
  bool any = false;
  for (uint32_t s = 0; s < n_spans; ++s) {
    const KvView view = kv.view(spans[s].seq, layer);
    if (!view.packed) return false;
    const uint32_t first = packed_groups(spans[s].position), n = packed_groups(spans[s].position + spans[s].n) - first,
                   n_heads = view.layout->n_kv_heads;
    any = any || n;
    for_rows(w, n * n_heads, [&](uint32_t i) {
      const uint32_t g = first + i / n_heads, kv_head = i % n_heads;
      const uint8_t* const pages[kGroupPages] = {view.head(g * kGroupPages, kv_head), view.head(g * kGroupPages + 1, kv_head)};
      kivi_pack(view.packed->layout, *view.layout, pages, view.group(g, kv_head));
    });
  }
  return any;
}

void cpu_attention(const Worker& w, const AttentionArgs& a) {
  const KvClass& of = a.kv->classes[a.kv->class_of[a.layer]];
  const KvLayout& lay = of.layout;
  const uint32_t group = of.group, tokens = tile_tokens(group), rows = tile_rows(group);
  Tile t{};
  cut_tile(&t, w.scratch, *a.kv, of, w.n);
  SharedTiles shared{};
  cut_shared(&shared, w.shared, of, w.n_most);

  // A span's rows in tiles of `tokens`. In KIVI a tile ends where its rows would see another group packed.
  const bool packed = of.packed;
  const uint32_t grid = packed ? kGroupPositions : tokens, per_grid = static_cast<uint32_t>(div_up(grid, tokens));
  const auto origin = [&](const RowSpan& s) { return packed ? s.position / grid * grid : s.position; };
  const auto tile_of = [&](uint32_t row) { return row / grid * per_grid + row % grid / tokens; };
  const auto tile_begin = [&](uint32_t tile) { return tile / per_grid * grid + tile % per_grid * tokens; };
  const auto tiles_of = [&](const RowSpan& s) { return tile_of(s.position + s.n - 1 - origin(s)) - tile_of(s.position - origin(s)) + 1; };

  uint32_t tiles = 0, most_blocks = 0;
  for (uint32_t s = 0; s < a.n_spans; ++s) {
    tiles += tiles_of(a.spans[s]);
    const Item whole = {a.kv->view(a.spans[s].seq, a.layer), 0, 0, a.spans[s].n, 0, a.spans[s].position,
                        a.spans[s].position + a.spans[s].n};
    const uint32_t blocks = whole.last() / kBlockPositions - whole.seen(false).from / kBlockPositions + 1;
    if (blocks > most_blocks) most_blocks = blocks;
  }
  const uint32_t items = tiles * lay.n_kv_heads;
  const auto make_item = [&](uint32_t i) {
    const uint32_t kv_head = i % lay.n_kv_heads;
    uint32_t tile = i / lay.n_kv_heads, s = 0;
    for (uint32_t n; tile >= (n = tiles_of(a.spans[s])); ++s) tile -= n;
    const RowSpan& span = a.spans[s];
    tile += tile_of(span.position - origin(span));
    const uint32_t begin = origin(span) + tile_begin(tile), end = origin(span) + tile_begin(tile + 1);  // positions
    const uint32_t from = begin > span.position ? begin - span.position : 0,
                   n = (end - span.position < span.n ? end - span.position : span.n) - from;
    return Item{a.kv->view(span.seq, a.layer), kv_head, span.row + from, n, n * group, span.position + from,
                span.position + span.n,        span.seq};
  };
  const auto whole_tile = [&](const Item& item) {
    load_queries(w, t, a, item, group);
    begin_rows(w, t, a, item, group, t.own);
    const Share recent = item.seen(false);
    for (uint32_t base = recent.from / kBlockPositions * kBlockPositions; base < recent.to; base += kBlockPositions) {
      attend_block(w, t, item, false, base, UINT32_MAX, a, t.blocks);
      merge(w, t.own, t.blocks, item.rows, lay.dpad);
    }
    if (item.kv.of->chosen()) add_scores(w, t, a, item, a.kv->observe_from[item.seq], t.own);
    end_rows(w, a, item, group, t.own);
  };

  if (a.kv->classes[a.kv->class_of[a.layer]].chosen()) {  // all tiles of a head are one thread's, so that their scores add up in one order
    Pieces pieces(w, lay.n_kv_heads);
    for (Share piece; pieces.take(&piece);)
      for (uint32_t head = piece.from; head < piece.to; ++head)
        for (uint32_t tile = 0; tile < tiles; ++tile) whole_tile(make_item(tile * lay.n_kv_heads + head));
    return;
  }
  if (items >= shared_tiles(w.n) || most_blocks <= kPartBlocks) {  // a thread a tile
    Pieces pieces(w, items);
    for (Share piece; pieces.take(&piece);)
      for (uint32_t i = piece.from; i < piece.to; ++i) whole_tile(make_item(i));
    return;
  }
  // Few tiles over many blocks: threads take parts of them, tile after tile, and fold theirs in when the parts before are.
  const uint32_t parts = static_cast<uint32_t>(div_up(most_blocks, kPartBlocks));
  Pieces pieces(w, parts * items);
  for (Share piece; pieces.take(&piece);) {
    const uint32_t i = piece.from % items, part = piece.from / items;
    const Item item = make_item(i);
    const Share recent = item.seen(false);
    const uint32_t begin = (recent.from / kBlockPositions + part * kPartBlocks) * kBlockPositions;
    const Running run = {shared.running.m + size_t{i} * rows, shared.running.l + size_t{i} * rows,
                         shared.running.acc + size_t{i} * rows * lay.dpad};
    Running done[kPartBlocks];
    uint32_t n = 0;
    for (uint32_t b = 0; b < kPartBlocks; ++b) {
      const uint32_t base = begin + b * kBlockPositions;
      if (base >= recent.to) break;
      if (n == 0) load_queries(w, t, a, item, group);
      done[n] = {t.blocks.m + size_t{n} * rows, t.blocks.l + size_t{n} * rows, t.blocks.acc + size_t{n} * rows * lay.dpad};
      attend_block(w, t, item, false, base, begin + kPartBlocks * kBlockPositions, a, done[n++]);
    }
    w.tickets->await(shared.merged[i], part, w.since);
    if (part == 0) {
      if (n == 0) load_queries(w, t, a, item, group);
      begin_rows(w, t, a, item, group, run);
    }
    for (uint32_t b = 0; b < n; ++b) merge(w, run, done[b], item.rows, lay.dpad);
    if (part + 1 == parts) end_rows(w, a, item, group, run);
    w.tickets->publish(shared.merged[i], part + 1 == parts ? 0u : part + 1);
  }
}

}  // namespace linnet
