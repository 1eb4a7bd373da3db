// Attention runs over KV in blocks of 256 tokens by absolute position, in prefill and decode alike. A block yields (m, l, acc) from its own
// maximum; blocks merge left to right. A row sees only its own blocks, so neither its batch mates nor the tile it falls in change its bits.
#include "attention.h"

#include <cstring>

#include "registry.h"

namespace linnet {
namespace {

constexpr uint32_t kTileRows = 32;  // rows (token x query head of one KV head) that share each page read
constexpr uint32_t kPagesPerBlock = kBlockPositions / kPagePositions;

uint32_t tile_tokens(uint32_t group) { return group >= kTileRows ? 1 : kTileRows / group; }

// Buffers of one tile, cut from a thread's scratch.
struct Tile {
  uint32_t rows = 0;      // capacity
  QuantRows q;            // (rows, kpad) codes in groups of 32: i8 pages
  float* qf;              // (rows, head_dim): float pages
  float* s;               // (rows, 256) scores, then e^(s - m)
  uint8_t *hi, *lo;       // (rows, 256) planes of P
  float *acc, *block;     // (rows, dpad)
  float *m, *l, *p_scale; // (rows)
  uint32_t* position;     // (rows)
  float* v_scale;         // (256)
};

size_t cut_tile(Tile* t, uint8_t* mem, const KvLayout& kv, uint32_t group) {
  Arena a = mem ? Arena(mem, SIZE_MAX / 2) : Arena();
  const uint32_t rows = t->rows = tile_tokens(group) * group;
  if (kv.format == LINNET_I8) {
    t->q.stride = quant_stride(kv.head_dim);
    t->q.group = 32;
    t->q.groups = kv.k_groups;
    t->q.q = a.take<int8_t>("", rows * t->q.stride);
    t->q.scale = a.take<float>("", uint64_t{rows} * kv.k_groups);
    t->q.sum128 = a.take<int32_t>("", uint64_t{rows} * kv.k_groups);
    t->hi = a.take<uint8_t>("", rows * kBlockPositions);
    t->lo = a.take<uint8_t>("", rows * kBlockPositions);
    t->v_scale = a.take<float>("", kBlockPositions);
  } else {
    t->qf = a.take<float>("", uint64_t{rows} * kv.head_dim);
  }
  t->s = a.take<float>("", rows * kBlockPositions);
  t->acc = a.take<float>("", uint64_t{rows} * kv.dpad);
  t->block = a.take<float>("", uint64_t{rows} * kv.dpad);
  t->m = a.take<float>("", rows);
  t->l = a.take<float>("", rows);
  t->p_scale = a.take<float>("", rows);
  t->position = a.take<uint32_t>("", rows);
  return a.used();
}

void load_queries(const Worker& w, Tile& t, const KvLayout& kv, const float* q, size_t q_stride, uint32_t n_tokens, uint32_t group) {
  for (uint32_t i = 0, r = 0; i < n_tokens; ++i)
    for (uint32_t g = 0; g < group; ++g, ++r) {
      const float* x = q + i * q_stride + size_t{g} * kv.head_dim;
      if (kv.format != LINNET_I8) {
        std::memcpy(t.qf + size_t{r} * kv.head_dim, x, kv.head_dim * sizeof(float));
      } else if (!w.kernels->t.quantize_row(x, kv.head_dim, 32, t.q.q + r * t.q.stride, t.q.scale + size_t{r} * t.q.groups,
                                            t.q.sum128 + size_t{r} * t.q.groups)) {
        __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
      }
    }
}

// s(rows, 16) = q * K^T of one page.
void page_scores(const Worker& w, const Tile& t, const KvLayout& kv, const uint8_t* head, uint32_t rows, float* s) {
  GemmArgs a{};
  Format f = kv.format;
  if (f == LINNET_I8) {
    f = LINNET_I8G32;  // a K page is a panel of 16 tokens with one f16 scale per 32 channels
    a.x = t.q.q;
    a.x_stride = t.q.stride;
    a.x_scale = t.q.scale;
    a.x_sum128 = t.q.sum128;
    a.x_groups = t.q.groups;
    a.x_group = 32;
    a.w_scale = head + kv.k_scale_at;
  } else {
    a.x = t.qf;
    a.x_stride = kv.head_dim * sizeof(float);
  }
  a.w = head;
  a.y = s;
  a.y_stride = kBlockPositions;
  a.m = rows;
  a.n_panels = 1;
  a.k = kv.head_dim;
  w.kernels->gemm[f].run(&a);
}

// block(rows, dpad) += e(rows, n) * V of one float page. Starting from zero and always adding keeps a row's bits apart from masked pages.
void page_values(const Worker& w, const Tile& t, const KvLayout& kv, const uint8_t* head, uint32_t rows, const float* e, uint32_t n) {
  GemmArgs a{};
  a.x = e;
  a.x_stride = kBlockPositions * sizeof(float);
  a.w = head + kv.v_at;
  a.w_stride = size_t{kPagePositions} * kPanel * format_row(kv.format).bytes;
  a.y = t.block;
  a.y_stride = kv.dpad;
  a.m = rows;
  a.n_panels = kv.dpad / kPanel;
  a.k = n;
  a.accumulate = 1;
  w.kernels->gemm[kv.format].run(&a);
}

// Folds the block's (m, l, acc) of row r into the running ones.
void merge(const Worker& w, Tile& t, uint32_t r, uint32_t dpad, bool first, float m, float l) {
  float* acc = t.acc + size_t{r} * dpad;
  const float* block = t.block + size_t{r} * dpad;
  if (first) {
    std::memcpy(acc, block, dpad * sizeof(float));
    t.m[r] = m;
    t.l[r] = l;
    return;
  }
  const float top = m > t.m[r] ? m : t.m[r];
  float ab[2] = {t.m[r] - top, m - top};
  w.kernels->t.exp_row(ab, 2);
  t.l[r] = __builtin_fmaf(l, ab[1], t.l[r] * ab[0]);
  t.m[r] = top;
  w.kernels->t.merge_row(acc, block, dpad, ab[0], ab[1]);
}

void attend_block(const Worker& w, Tile& t, const KvView& kv, uint32_t layer, uint32_t kv_head, uint32_t rows, uint32_t base, uint32_t n, float scale) {
  const KvLayout& lay = kv.layout;
  const uint32_t n_pages = static_cast<uint32_t>(div_up(n, kPagePositions)), n_pad = n_pages * kPagePositions;
  const uint8_t* heads[kPagesPerBlock];
  const int8_t* values[kPagesPerBlock];
  for (uint32_t p = 0; p < n_pages; ++p) {
    heads[p] = kv.head(layer, kv.table[base / kPagePositions + p], kv_head);
    page_scores(w, t, lay, heads[p], rows, t.s + p * kPagePositions);
    if (lay.format != LINNET_I8) continue;
    values[p] = reinterpret_cast<const int8_t*>(heads[p] + lay.v_at);
    std::memcpy(t.v_scale + p * kPagePositions, heads[p] + lay.v_scale_at, kPagePositions * sizeof(float));
  }
  float m[kTileRows > 256 ? kTileRows : 256], l[256];  // rows <= 256: heads per KV head are limited by the spec
  for (uint32_t r = 0; r < rows; ++r) {
    float* s = t.s + size_t{r} * kBlockPositions;
    if (t.position[r] < base) {  // this row ends in an earlier block
      std::memset(s, 0, n_pad * sizeof(float));
      m[r] = l[r] = 0;
    } else {
      const uint32_t left = t.position[r] + 1 - base;
      w.kernels->t.softmax_block(s, left < n ? left : n, n_pad, scale, s, &m[r], &l[r]);
    }
    if (lay.format == LINNET_I8)
      t.p_scale[r] = w.kernels->t.planes(s, t.v_scale, n_pad, t.hi + size_t{r} * kBlockPositions, t.lo + size_t{r} * kBlockPositions);
  }
  if (lay.format == LINNET_I8) {
    w.kernels->t.attn_pv(t.hi, t.lo, rows, values, n_pages, lay.dpad / kPanel, t.p_scale, t.block, lay.dpad);
  } else {
    std::memset(t.block, 0, size_t{rows} * lay.dpad * sizeof(float));
    for (uint32_t p = 0; p < n_pages; ++p) {
      const uint32_t left = n - p * kPagePositions;
      page_values(w, t, lay, heads[p], rows, t.s + p * kPagePositions, left < kPagePositions ? left : kPagePositions);
    }
  }
  for (uint32_t r = 0; r < rows; ++r)
    if (t.position[r] >= base) merge(w, t, r, lay.dpad, base == 0, m[r], l[r]);
}

void store_i8(const Worker& w, const KvLayout& lay, uint8_t* head, uint32_t slot, const float* k, const float* v) {
  const KernelTable& t = w.kernels->t;
  int8_t codes[64];
  uint16_t* k_scale = reinterpret_cast<uint16_t*>(head + lay.k_scale_at);
  uint32_t bad = 0;
  for (uint32_t g = 0; g < lay.k_groups; ++g) {  // K: [k/4][16][4], one f16 scale per 32 channels
    const uint32_t from = g * 32, n = lay.head_dim - from < 32 ? lay.head_dim - from : 32;
    const uint32_t amax_bits = t.amax_bits(k + from, n);
    bad |= amax_bits >= 0x7F800000u;
    float amax;
    std::memcpy(&amax, &amax_bits, 4);
    const float want = amax / 127.0f;
    const uint16_t half = bad ? uint16_t{0} : f32_to_f16(want < 65504.0f ? want : 65504.0f);
    const float rounded = f16_to_f32(half);
    std::memset(codes, 0, 32);
    if (rounded > 0) t.codes(k + from, n, 1.0f / rounded, codes);
    k_scale[g * kPagePositions + slot] = half;
    for (uint32_t j = 0; j < 32; j += 4) std::memcpy(head + size_t{from + j} * kPagePositions + slot * 4, codes + j, 4);
  }
  const uint32_t amax_bits = t.amax_bits(v, lay.head_dim);  // V: [d/16][t/4][16][t%4], one f32 scale per token
  bad |= amax_bits >= 0x7F800000u;
  float amax;
  std::memcpy(&amax, &amax_bits, 4);
  const float inv = !bad && amax > 1e-30f ? 127.0f / amax : 0.0f, scale = bad ? 0.0f : amax / 127.0f;
  std::memcpy(head + lay.v_scale_at + slot * 4, &scale, 4);
  uint8_t* to = head + lay.v_at + (slot / 4) * 64 + slot % 4;
  for (uint32_t d = 0; d < lay.head_dim; d += kPanel, to += kPagePositions * kPanel) {
    const uint32_t n = lay.head_dim - d < kPanel ? lay.head_dim - d : kPanel;
    if (bad) std::memset(codes, 0, kPanel);
    else t.codes(v + d, n, inv, codes);
    for (uint32_t j = 0; j < n; ++j) to[j * 4] = static_cast<uint8_t>(codes[j]);
  }
  if (bad) __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
}

void store_value(Format f, uint8_t* to, float x) {
  if (f == LINNET_F32) {
    std::memcpy(to, &x, 4);
  } else {
    const uint16_t h = f == LINNET_F16 ? f32_to_f16(x) : f32_to_bf16(x);
    std::memcpy(to, &h, 2);
  }
}

void store_float(const Worker& w, const KvLayout& lay, uint8_t* head, uint32_t slot, const float* k, const float* v) {
  const size_t b = format_row(lay.format).bytes;
  // f16 overflows to infinity past 65504; that too would poison masked products.
  const float limit = lay.format == LINNET_F16 ? 65504.0f : 3.3e38f;
  uint32_t bits = w.kernels->t.amax_bits(k, lay.head_dim);
  const uint32_t v_bits = w.kernels->t.amax_bits(v, lay.head_dim);
  if (v_bits > bits) bits = v_bits;
  float amax;
  std::memcpy(&amax, &bits, 4);
  if (!(amax <= limit)) {
    __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
    return;
  }
  for (uint32_t d = 0; d < lay.head_dim; ++d) {
    store_value(lay.format, head + (size_t{d} * kPagePositions + slot) * b, k[d]);  // K: [head_dim][16]
    const size_t at = (size_t{d / kPanel} * kPagePositions + slot) * kPanel + d % kPanel;  // V: [d/16][16 tokens][16]
    store_value(lay.format, head + lay.v_at + at * b, v[d]);
  }
}

}  // namespace

size_t cpu_scratch_bytes(const KvView& kv, uint32_t n_heads) {
  Tile t{};
  return cut_tile(&t, nullptr, kv.layout, n_heads / kv.layout.n_kv_heads);
}

void cpu_kv_append(const Worker& w, const KvView& kv, uint32_t layer, const float* k, const float* v, size_t stride, const uint32_t* positions,
                   uint32_t m) {
  const KvLayout& lay = kv.layout;
  const uint64_t items = uint64_t{lay.n_kv_heads} * m;  // head by head, so that threads seldom write to one page
  for (uint64_t i = items * w.id / w.n; i < items * (w.id + 1) / w.n; ++i) {
    const uint32_t kv_head = static_cast<uint32_t>(i / m), row = static_cast<uint32_t>(i % m), p = positions[row];
    uint8_t* head = kv.head(layer, kv.table[p / kPagePositions], kv_head);
    const size_t at = row * stride + size_t{kv_head} * lay.head_dim;
    if (lay.format == LINNET_I8) store_i8(w, lay, head, p % kPagePositions, k + at, v + at);
    else store_float(w, lay, head, p % kPagePositions, k + at, v + at);
  }
}

void cpu_attention(const Worker& w, const KvView& kv, uint32_t layer, const float* q, size_t q_stride, uint32_t n_heads, const uint32_t* positions,
                   uint32_t m, float scale, float* out, size_t out_stride) {
  const KvLayout& lay = kv.layout;
  const uint32_t group = n_heads / lay.n_kv_heads, tokens = tile_tokens(group);
  Tile t{};
  cut_tile(&t, w.scratch, lay, group);
  const uint32_t items = static_cast<uint32_t>(div_up(m, tokens)) * lay.n_kv_heads;
  for (uint32_t i = w.id; i < items; i += w.n) {
    const uint32_t kv_head = i % lay.n_kv_heads, from = i / lay.n_kv_heads * tokens, n_tokens = m - from < tokens ? m - from : tokens;
    const uint32_t rows = n_tokens * group;
    const size_t column = size_t{kv_head} * group * lay.head_dim;
    load_queries(w, t, lay, q + from * q_stride + column, q_stride, n_tokens, group);
    uint32_t last = 0;
    for (uint32_t r = 0; r < rows; ++r) {
      t.position[r] = positions[from + r / group];
      if (t.position[r] > last) last = t.position[r];
    }
    for (uint32_t base = 0; base <= last; base += kBlockPositions) {
      const uint32_t n = last + 1 - base;
      attend_block(w, t, kv, layer, kv_head, rows, base, n < kBlockPositions ? n : kBlockPositions, scale);
    }
    for (uint32_t r = 0; r < rows; ++r) {
      float* acc = t.acc + size_t{r} * lay.dpad;
      w.kernels->t.scale_row(acc, lay.head_dim, 1.0f / t.l[r]);
      std::memcpy(out + (from + r / group) * out_stride + column + size_t{r % group} * lay.head_dim, acc, lay.head_dim * sizeof(float));
    }
  }
}

}  // namespace linnet
