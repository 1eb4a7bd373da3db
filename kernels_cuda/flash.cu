// KV append and attention, to the bit what kernels_cpu/attention.cpp gives over scalar.cpp's kernels. A K page is a panel of 16 tokens and
// lies as the A fragment of the int8 product reads it, a V page as that of P times V; both are read in 16-byte words, each the fragments of
// two products: their rows are taken in another order, which no sum notices.
#include "exact.h"
#include "flash_args.h"

namespace linnet {

constexpr uint32_t kBlock = 256, kPage = 16, kWarps = kFlashThreads / 32;

LINNET_ON_GPU uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
LINNET_ON_GPU uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }
LINNET_ON_GPU float larger(float a, float b) { return a > b ? a : b; }

LINNET_ON_GPU bool f8(uint32_t f) { return f == kCudaF8E4M3 || f == kCudaF8E5M2; }
LINNET_ON_GPU bool scaled(uint32_t f) { return f == kCudaI8 || f8(f); }
LINNET_ON_GPU float f8_top(uint32_t f) { return f == kCudaF8E4M3 ? 448.0f : 57344.0f; }
// FP8 code c as an integer in units of top / 127 (F8Table of attention.cpp), with its sign.
LINNET_ON_GPU int f8_integer(uint32_t f, uint32_t c) {
  const uint32_t mantissa = f == kCudaF8E4M3 ? 3 : 2, e = (c & 127u) >> mantissa, m = c & ((1u << mantissa) - 1);
  const uint64_t top = f == kCudaF8E4M3 ? uint64_t{14} << 15 : uint64_t{7} << 30;
  const uint64_t some = uint64_t{e ? m | 1u << mantissa : m} << (e ? e : 1), value = some < top ? some : top;
  const int q = static_cast<int>((value * 127 + top / 2) / top);
  return c & 128u ? -q : q;
}
LINNET_ON_GPU uint32_t f8_integers(const int8_t* table, uint32_t codes) {
  uint32_t q = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) q |= static_cast<uint32_t>(static_cast<uint8_t>(table[codes >> (8 * i) & 255u])) << (8 * i);
  return q;
}
LINNET_ON_GPU uint4 f8_integers(const int8_t* table, uint4 v) {
  return make_uint4(f8_integers(table, v.x), f8_integers(table, v.y), f8_integers(table, v.z), f8_integers(table, v.w));
}
// Four words of four bytes, turned.
LINNET_ON_GPU uint4 turned(uint4 v) {
  const uint32_t a = __byte_perm(v.x, v.y, 0x5140), b = __byte_perm(v.z, v.w, 0x5140), c = __byte_perm(v.x, v.y, 0x7362),
                 d = __byte_perm(v.z, v.w, 0x7362);
  return make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x5410), __byte_perm(c, d, 0x7632));
}
// Number i of f32, f16 or bf16: the bits, so that loads can go ahead of what needs them, then the value.
LINNET_ON_GPU uint32_t float_bits(uint32_t f, const uint8_t* p, uint32_t i) {
  return f == kCudaF32 ? reinterpret_cast<const uint32_t*>(p)[i] : reinterpret_cast<const uint16_t*>(p)[i];
}
LINNET_ON_GPU float float_value(uint32_t f, uint32_t bits) {
  return f == kCudaF32 ? float_of(bits) : f == kCudaF16 ? f32_of_f16(static_cast<uint16_t>(bits)) : float_of(bits << 16);
}

LINNET_ON_GPU uint32_t slot_of(const KvArgs& kv, uint32_t page) {
  return page < kv.keep_pages ? page : kv.keep_pages + (page - kv.keep_pages) % (kv.n_slots - kv.keep_pages);
}
// The first token of its window that a row at position p sees.
LINNET_ON_GPU uint32_t low(const KvArgs& kv, uint32_t p) {
  return kv.window == 0 || p < kv.window ? 0 : kv.chunked ? p / kv.window * kv.window : p + 1 - kv.window;
}

// ---- append -----------------------------------------------------------------------------------------------------------------

// max |x| as bits, in which NaN is above infinity, of 2^n lanes.
LINNET_ON_GPU uint32_t largest(uint32_t bits, int lanes) {
  for (int step = lanes / 2; step; step /= 2) bits = most(bits, static_cast<uint32_t>(shuffle_xor(static_cast<int>(bits), step)));
  return bits;
}
LINNET_ON_GPU uint32_t code_i8(float x, float inv) { return static_cast<uint32_t>(round_clamped(x * inv, -127.0f, 127.0f)) & 255u; }
LINNET_ON_GPU uint32_t code_f8(uint32_t f, float x) {
  const bool e4m3 = f == kCudaF8E4M3;
  const uint32_t shift = e4m3 ? 20 : 21, bias = e4m3 ? 7 : 15, smallest = (128u - bias) << 23, top = e4m3 ? 0x7E : 0x7B,
                 a = bits_of(x) & 0x7FFFFFFFu;
  uint32_t r;
  if (a > 0x7F800000u) {
    r = 0x7F;
  } else if (a < smallest) {
    const float magic = float_of(smallest + (shift << 23));
    r = bits_of(float_of(a) + magic) - bits_of(magic);
  } else {
    r = least(((a + ((1u << (shift - 1)) - 1) + (a >> shift & 1u)) >> shift) - ((127u - bias) << (23 - shift)), top);
  }
  return r | (bits_of(x) >> 24 & 0x80u);
}

// Channels from..to - 1 of one token's key in i8, in groups of 8 * kLanes / 2 channels with a scale each. A lane has 4 of them.
template <int kLanes>
LINNET_ON_GPU void append_i8_key(const KvArgs& kv, uint8_t* head, uint32_t slot, const float* x, uint32_t from, uint32_t to) {
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t at = from; at < to; at += 128) {
    const uint32_t c = at + lane * 4;
    float v[4];
    uint32_t amax = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      v[i] = c + i < to ? x[c + i] : 0.0f;
      amax = most(amax, bits_of(v[i]) & 0x7FFFFFFFu);
    }
    amax = largest(amax, kLanes);
    const bool finite = amax < 0x7F800000u;
    if (!finite) *kv.not_finite = 1;
    const float want = float_of(amax) / 127.0f;
    const uint16_t half = finite ? f16_of_f32(want < 65504.0f ? want : 65504.0f) : static_cast<uint16_t>(0);
    const float rounded = f32_of_f16(half), inv = rounded > 0 ? 1.0f / rounded : 0.0f;
    uint32_t codes = 0, rest = 0;
    for (uint32_t i = 0; rounded > 0 && i < 4 && c + i < to; ++i) {
      const uint32_t q = code_i8(v[i], inv);
      codes |= q << (8 * i);
      rest |= code_i8(v[i] - static_cast<float>(static_cast<int8_t>(q)) * rounded, 256.0f / rounded) << (8 * i);
    }
    const bool small = kv.head_dim <= kPage;  // the padding holds the second bytes
    if (small) {
      const uint32_t below = static_cast<uint32_t>(shuffle(static_cast<int>(rest), static_cast<int>(lane - 4)));
      if (lane >= 4 && lane < 8) codes = below;
    }
    if (c < kv.kpad) *reinterpret_cast<uint32_t*>(head + static_cast<size_t>(c) * kPage + slot * 4) = codes;
    if (lane % 8 == 0 && c < to) reinterpret_cast<uint16_t*>(head + kv.k_scale_at)[c / 32 * kPage + slot] = half;
  }
}

// max |x| of a whole head, and whether a format can hold it.
LINNET_ON_GPU bool head_amax(const KvArgs& kv, const float* x, float limit, float* amax) {
  uint32_t bits = 0;
  for (uint32_t d = threadIdx.x % 32; d < kv.head_dim; d += 32) bits = most(bits, bits_of(x[d]) & 0x7FFFFFFFu);
  bits = largest(bits, 32);
  *amax = float_of(bits);
  const bool good = bits < 0x7F800000u && *amax <= limit;
  if (!good) *kv.not_finite = 1;
  return good;
}

// One token's key or value in what is not an i8 key: FP8, i8 with one scale, floats.
LINNET_ON_GPU void append_plain(const KvArgs& kv, uint8_t* head, uint32_t slot, const float* x, bool key) {
  const uint32_t f = key ? kv.k_format : kv.v_format, lane = threadIdx.x % 32;
  uint8_t* const to = key ? head : head + kv.v_at;
  float amax;
  const bool good = head_amax(kv, x, f == kCudaF16 ? 65504.0f : 3.402823466e+38f, &amax);
  if (!scaled(f)) {
    for (uint32_t d = lane; good && d < kv.head_dim; d += 32) {
      const size_t i = key ? static_cast<size_t>(d) * kPage + slot : (static_cast<size_t>(d / 16) * kPage + slot) * 16 + d % 16;
      if (f == kCudaF32)
        reinterpret_cast<float*>(to)[i] = x[d];
      else
        reinterpret_cast<uint16_t*>(to)[i] = f == kCudaF16 ? f16_of_f32(x[d]) : static_cast<uint16_t>(bf16_of(x[d]));
    }
    return;
  }
  const float top = f == kCudaI8 ? 127.0f : f8_top(f), inv = good && amax > 1e-30f ? top / amax : 0.0f;
  for (uint32_t d = lane; d < (key ? kv.kpad : kv.head_dim); d += 32) {
    uint32_t code = 0;
    if (inv != 0 && d < kv.head_dim) code = f == kCudaI8 ? code_i8(x[d], inv) : code_f8(f, x[d] * inv);
    to[key ? d / 4 * 64 + slot * 4 + d % 4 : d / 16 * 256 + slot / 4 * 64 + d % 16 * 4 + slot % 4] = static_cast<uint8_t>(code);
  }
  // i8 keeps the scale of rows that are next to nothing, FP8 does not.
  if (lane == 0)
    *reinterpret_cast<float*>(head + (key ? kv.k_scale_at : kv.v_scale_at) + slot * 4) =
        good && (f == kCudaI8 || amax > 1e-30f) ? amax / top : 0.0f;
}

// Channel d of a head that RoPE has rotated (scalar.cpp, rope_row); sign -1: back again.
LINNET_ON_GPU float rotated(const float* x, uint32_t d, const float* cos, const float* sin, float sign, uint32_t n_pairs,
                            uint32_t interleaved) {
  if (d >= 2 * n_pairs) return x[d];
  const bool second = interleaved ? d % 2 : d >= n_pairs;
  const uint32_t p = interleaved ? d / 2 : d % n_pairs, other = interleaved ? d ^ 1 : second ? d - n_pairs : d + n_pairs;
  const float by = x[other] * (sign * sin[p]);
  return fma_of(x[d], cos[p], second ? by : -by);
}

// A sink's key without its rotation, and its value.
LINNET_ON_GPU void append_sink(const KvAppendArgs& a, float* to, uint32_t p, uint32_t row, const float* k, const float* v) {
  const KvArgs& kv = a.kv;
  const float back = 1.0f / (a.factor * a.factor);
  for (uint32_t d = threadIdx.x % 32; d < kv.head_dim; d += 32) {
    const float x = rotated(k, d, a.cos + row * a.n_pairs, a.sin + row * a.n_pairs, -1.0f, a.n_pairs, a.interleaved);
    to[p * kv.head_dim + d] = a.factor != 1 && d < 2 * a.n_pairs ? x * back : x;
  }
  for (uint32_t d = threadIdx.x % 32; d < kv.v_dim; d += 32) to[kv.sink_values + (d / 16 * kPage + p) * 16 + d % 16] = v[d];
}

// A warp a key or value of one row and KV head.
LINNET_KERNEL(kAppendThreads) kv_append(const KvAppendArgs a) {
  const KvArgs& kv = a.kv;
  const uint32_t item = blockIdx.x * (kAppendThreads / 32) + threadIdx.x / 32, of_keys = a.n_rows * a.n_kv_heads;
  if (item >= (kv.latent ? of_keys : 2 * of_keys)) return;
  const bool key = item < of_keys;
  const uint32_t i = key ? item : item - of_keys, row = i / a.n_kv_heads, kv_head = i % a.n_kv_heads, s = a.row_span[row];
  const CudaSpan span = kv.spans[s];
  const uint32_t p = span.position + (row - span.row), page = kv.tables[static_cast<size_t>(s) * kv.table_stride + slot_of(kv, p / kPage)];
  uint8_t* const head = kv.pool + kv_head * kv.head_stride + static_cast<size_t>(page) * kv.head_bytes;
  const size_t at = row * a.stride + static_cast<size_t>(kv_head) * kv.head_dim;
  const float* const x = (key ? a.k : a.v) + at;
  if (key && p < kv.n_sinks)
    append_sink(a, kv.sinks + span.seq * kv.sink_step + static_cast<size_t>(kv_head) * kv.sink_floats, p, row, x,
                kv.latent ? x + kv.latent : a.v + at);
  if (!key || kv.k_format != kCudaI8) {
    append_plain(kv, head, p % kPage, x, key);
  } else {
    const uint32_t latent = kv.latent ? kv.latent : kv.head_dim;
    append_i8_key<8>(kv, head, p % kPage, x, 0, latent);
    if (kv.latent) append_i8_key<32>(kv, head, p % kPage, x, latent, kv.head_dim);  // channels that are values too: one scale per 128
  }
}

// ---- attention --------------------------------------------------------------------------------------------------------------

// The rows of a tile: row r is token r / heads at `position` on, head first_head + r % heads of the KV head. And the KV blocks that any of
// them sees: first those that are kept.
struct FlashTile {
  uint32_t tile, row, position, rows, heads, first_head;
  const uint32_t* table;
  uint32_t from, last, kept_to, n_kept, n_blocks;
};
struct FlashRange {
  uint32_t base, from, to;  // tokens from..to - 1 of the block that begins at base
  bool kept;
};

LINNET_ON_GPU FlashTile flash_tile(const FlashArgs& a, uint32_t tile) {
  FlashTile t{};
  t.tile = tile;
  const uint32_t part = tile % a.head_tiles;
  tile /= a.head_tiles;
  uint32_t s = 0;
  if (a.one_each) {
    s = tile;
    tile = 0;
  } else if (a.n_spans > 1) {
    for (uint32_t n; tile >= (n = (a.kv.spans[s].n + a.tokens - 1) / a.tokens); ++s) tile -= n;
  }
  const CudaSpan span = a.kv.spans[s];
  const uint32_t before = a.n_spans == 1 ? span.n - a.n_rows : 0, first = tile * a.tokens, n = least(a.tokens, span.n - before - first);
  t.row = span.row + first;
  t.position = span.position + before + first;
  t.first_head = part * a.heads;
  t.heads = least(a.heads, a.group - t.first_head);
  t.rows = n * t.heads;
  t.table = a.kv.tables + static_cast<size_t>(s) * a.kv.table_stride;
  t.last = t.position + n - 1;
  t.from = low(a.kv, t.position);
  t.kept_to = least(low(a.kv, t.last), a.kv.keep);
  t.n_kept = (t.kept_to + kBlock - 1) / kBlock;
  t.n_blocks = t.n_kept + t.last / kBlock - t.from / kBlock + 1;
  return t;
}
LINNET_ON_GPU FlashRange flash_range(const FlashTile& t, uint32_t i) {
  FlashRange r;
  r.kept = i < t.n_kept;
  r.base = (r.kept ? i : t.from / kBlock + i - t.n_kept) * kBlock;
  r.from = r.kept ? r.base : most(t.from, r.base);
  r.to = least(r.kept ? t.kept_to : t.last + 1, r.base + kBlock);
  return r;
}
LINNET_ON_GPU const uint8_t* page_at(const KvArgs& kv, uint32_t page) {
  return kv.pool + blockIdx.y * kv.head_stride + static_cast<size_t>(page) * kv.head_bytes;
}

struct FlashBlock {
  uint32_t number;
  FlashRange range;
  uint32_t pages[kPage];
};

// A thread for each page of a block looks it up, or the nearest that is seen: half of the last warp, which often has no row of weights.
LINNET_ON_GPU void plan_block(const FlashArgs& a, const FlashTile& t, uint32_t number, FlashBlock* block) {
  if (threadIdx.x < kFlashThreads - kPage) return;
  const uint32_t i = threadIdx.x % kPage;
  if (i == 0) block->number = number;
  if (number >= t.n_blocks) return;
  const FlashRange r = flash_range(t, number);
  if (i == 0) block->range = r;
  block->pages[i] = t.table[slot_of(a.kv, least(most(r.base / kPage + i, r.from / kPage), (r.to - 1) / kPage))];
}

// What is shared besides the buffers of dynamic size.
template <uint32_t kRows>
struct FlashState {
  FlashTile t;
  FlashBlock blocks[2];  // that is worked on and the next, by turns
  uint32_t turn;
  int8_t k_table[256], v_table[256];
  float m[kRows], l[kRows], p_scale[kRows], old_by[kRows], new_by[kRows];
  uint32_t kind[kRows];  // what a block does to a row
};
enum : uint32_t { kNothing, kFirst, kMerged };
LINNET_ON_GPU bool of_channels(const KvArgs& kv) { return kv.latent && kv.v_format == kCudaI8; }  // whose values have scales by channels

// Queries of the tile in integers, [row][kpad] with a scale per row and 32 channels, or in floats [channel][row].
template <uint32_t kRows>
LINNET_ON_GPU void load_queries(const FlashArgs& a, const FlashTile& t, unsigned char* shared) {
  const uint32_t lane = threadIdx.x % 32, dim = a.kv.head_dim, groups = (dim + 31) / 32;
  const bool integers = scaled(a.kv.k_format);
  for (uint32_t r = threadIdx.x / 32; r < kRows; r += kWarps) {
    const float* x =
        a.q + (t.row + r / t.heads) * a.q_stride + (static_cast<size_t>(blockIdx.y) * a.group + t.first_head + r % t.heads) * dim;
    for (uint32_t g = 0; g < groups; ++g) {
      const uint32_t c = g * 32 + lane;
      const float v = r < t.rows && c < dim ? x[c] : 0.0f;
      if (!integers) {
        if (c < dim) reinterpret_cast<float*>(shared + a.at_q)[c * kRows + r] = v;
        continue;
      }
      const uint32_t bits = largest(bits_of(v) & 0x7FFFFFFFu, 32);
      const bool finite = bits < 0x7F800000u;
      if (!finite) *a.kv.not_finite = 1;
      const float amax = finite ? float_of(bits) : 0.0f;
      shared[a.at_q + r * (a.kv.kpad + kQueryPad) + c] =
          static_cast<unsigned char>(finite ? code_i8(v, amax > 1e-30f ? 127.0f / amax : 0.0f) : 0);
      if (lane == 0) reinterpret_cast<float*>(shared + a.at_x_scale)[g * kRows + r] = amax / 127.0f;
    }
  }
}

// Scores of 32 tokens, two pages, by one warp. Lane l has of page l / 16 the tokens 4 * (l / 4 % 4) .. + 3, against rows 2 * (l % 4), + 1
// of every eight.
template <uint32_t kTiles, bool kI8>
LINNET_ON_GPU void scores_of_integers(const FlashArgs& a, const uint8_t* page, const int8_t* table, unsigned char* shared, uint32_t token) {
  const uint32_t lane = threadIdx.x % 32, g = lane / 4, c = lane % 4, groups = (a.kv.head_dim + 31) / 32, q_stride = a.kv.kpad + kQueryPad;
  const bool is_f8 = !kI8 && f8(a.kv.k_format);
  const uint8_t* const codes = page + c * 64 + g % 4 * 16;
  const float* const x_scales = reinterpret_cast<const float*>(shared + a.at_x_scale);
  float acc[kTiles][8] = {}, scale[4] = {};
  if (is_f8) {
    const uint4 s = load16(page + a.kv.k_scale_at + g % 4 * 16);
    const float unit = f8_top(a.kv.k_format) / 127;
    scale[0] = float_of(s.x) * unit;
    scale[1] = float_of(s.y) * unit;
    scale[2] = float_of(s.z) * unit;
    scale[3] = float_of(s.w) * unit;
  }
  constexpr uint32_t kAhead = 2;  // groups of 32 channels whose loads go out together
  for (uint32_t from = 0; from < groups; from += kAhead) {
    uint4 w[kAhead][2] = {};
    uint2 half[kAhead] = {};
#pragma unroll
    for (uint32_t u = 0; u < kAhead; ++u) {
      if (from + u >= groups) break;
      w[u][0] = load16(codes + static_cast<size_t>(from + u) * 512);
      w[u][1] = load16(codes + static_cast<size_t>(from + u) * 512 + 256);
      if (!is_f8) half[u] = *reinterpret_cast<const uint2*>(page + a.kv.k_scale_at + (from + u) * 32 + g % 4 * 8);
    }
#pragma unroll
    for (uint32_t u = 0; u < kAhead; ++u) {
      if (from + u >= groups) break;
      if (is_f8) {
        w[u][0] = f8_integers(table, w[u][0]);
        w[u][1] = f8_integers(table, w[u][1]);
      } else {
        scale[0] = f32_of_f16(static_cast<uint16_t>(half[u].x));
        scale[1] = f32_of_f16(static_cast<uint16_t>(half[u].x >> 16));
        scale[2] = f32_of_f16(static_cast<uint16_t>(half[u].y));
        scale[3] = f32_of_f16(static_cast<uint16_t>(half[u].y >> 16));
      }
      const uint32_t low2[4] = {w[u][0].x, w[u][0].y, w[u][1].x, w[u][1].y}, high2[4] = {w[u][0].z, w[u][0].w, w[u][1].z, w[u][1].w};
#pragma unroll
      for (uint32_t n = 0; n < kTiles; ++n) {
        const unsigned char* const q = shared + a.at_q + (n * 8 + g) * q_stride + (from + u) * 32 + c * 4;
        const float2 x = *reinterpret_cast<const float2*>(x_scales + (from + u) * (kTiles * 8) + n * 8 + c * 2);
        const uint32_t b[2] = {*reinterpret_cast<const uint32_t*>(q), *reinterpret_cast<const uint32_t*>(q + 16)};
        int d[2][4] = {};
        mma_i8(d[0], low2, b);
        mma_i8(d[1], high2, b);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          acc[n][i] = fma_of(static_cast<float>(d[i / 2][i % 2 * 2]), scale[i] * x.x, acc[n][i]);
          acc[n][4 + i] = fma_of(static_cast<float>(d[i / 2][i % 2 * 2 + 1]), scale[i] * x.y, acc[n][4 + i]);
        }
      }
    }
  }
  if (!is_f8 && a.kv.head_dim <= kPage) {  // the keys' second bytes stand 16 inputs on, in 1/256
    const uint4 w = load16(codes + 256);
    const uint32_t first[4] = {0, 0, w.x, w.y}, second[4] = {0, 0, w.z, w.w};
#pragma unroll
    for (uint32_t n = 0; n < kTiles; ++n) {
      const uint32_t b[2] = {0, *reinterpret_cast<const uint32_t*>(shared + a.at_q + (n * 8 + g) * q_stride + c * 4)};
      const float2 x = *reinterpret_cast<const float2*>(x_scales + n * 8 + c * 2);
      int d[2][4] = {};
      mma_i8(d[0], first, b);
      mma_i8(d[1], second, b);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        acc[n][i] = acc[n][i] + fma_of(static_cast<float>(d[i / 2][i % 2 * 2]), scale[i] * (x.x / 256.0f), 0.0f);
        acc[n][4 + i] = acc[n][4 + i] + fma_of(static_cast<float>(d[i / 2][i % 2 * 2 + 1]), scale[i] * (x.y / 256.0f), 0.0f);
      }
    }
  }
  float* const s = reinterpret_cast<float*>(shared + a.at_s) + token + g * 4;
#pragma unroll
  for (uint32_t n = 0; n < kTiles; ++n) {
    float* const row = s + (n * 8 + c * 2) * kScoreStride;
    *reinterpret_cast<float4*>(row) = make_float4(acc[n][0], acc[n][1], acc[n][2], acc[n][3]);
    *reinterpret_cast<float4*>(row + kScoreStride) = make_float4(acc[n][4], acc[n][5], acc[n][6], acc[n][7]);
  }
}

// Scores of a thread's token of the block, in one chain over the channels.
template <uint32_t kTiles>
LINNET_ON_GPU void scores_of_floats(const FlashArgs& a, const uint8_t* page, unsigned char* shared, uint32_t token) {
  constexpr uint32_t kRows = kTiles * 8;
  const uint32_t dim = a.kv.head_dim, f = a.kv.k_format;
  const float* const q = reinterpret_cast<const float*>(shared + a.at_q);
  float acc[kRows] = {};
  for (uint32_t d = 0; d < dim; d += 4) {
    uint32_t bits[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) bits[i] = d + i < dim ? float_bits(f, page, (d + i) * kPage + token % kPage) : 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if (d + i >= dim) break;
      const float k = float_value(f, bits[i]);
#pragma unroll
      for (uint32_t r = 0; r < kRows; r += 4) {
        const float4 x = *reinterpret_cast<const float4*>(q + (d + i) * kRows + r);
        acc[r] = fma_of(x.x, k, acc[r]);
        acc[r + 1] = fma_of(x.y, k, acc[r + 1]);
        acc[r + 2] = fma_of(x.z, k, acc[r + 2]);
        acc[r + 3] = fma_of(x.w, k, acc[r + 3]);
      }
    }
  }
#pragma unroll
  for (uint32_t r = 0; r < kRows; ++r) reinterpret_cast<float*>(shared + a.at_s)[r * kScoreStride + token] = acc[r];
}

// One row's scores of a block, of which tokens from..to - 1 of the block count, by one warp: lane l has tokens l, l + 32, ... The weights
// go to e.
LINNET_ON_GPU void softmax_row(const float* s, uint32_t from, uint32_t to, float scale, float slope, float origin, float cap, float (&e)[8],
                               float* m, float* l) {
  const uint32_t lane = threadIdx.x % 32;
  float max = -float_of(0x7F800000u);
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t t = i * 32 + lane;
    e[i] = 0;
    if (t < from || t >= to) continue;
    e[i] = s[t] * scale;
    if (slope != 0) e[i] = fma_of(slope, static_cast<float>(t) - origin, e[i]);
    if (cap > 0) e[i] = soft_cap(e[i], cap);
    max = larger(e[i], max);
  }
  for (int step = 16; step; step /= 2) max = larger(max, shuffle_xor(max, step));
  *m = max + 0.0f;
  // Sixteen sums by token % 16: those of lane l % 16, which takes turns with the lane 16 further on.
  float sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t t = i * 32 + lane;
    e[i] = t >= from && t < to ? exp_one(e[i] - *m) : 0.0f;
    const float other = shuffle_xor(e[i], 16);
    sum = sum + (lane < 16 ? e[i] : other);
    sum = sum + (lane < 16 ? other : e[i]);
  }
  *l = tree_sum(sum);
}

// A row's weights times the scales of the values in 14 bits, two planes of 7.
LINNET_ON_GPU float planes_row(const float (&e)[8], const float (&v_scale)[8], unsigned char* hi, unsigned char* lo) {
  const uint32_t lane = threadIdx.x % 32;
  float p[8], max = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    p[i] = e[i] != 0 ? e[i] * v_scale[i] : 0.0f;  // whatever lies where nothing is seen
    max = larger(p[i], max);
  }
  for (int step = 16; step; step /= 2) max = larger(max, shuffle_xor(max, step));
  const float inv = max > 1e-30f ? 16383.0f / max : 0.0f;
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    const int c = round_clamped(p[i] * inv, 0.0f, 16383.0f);
    hi[i * 32 + lane] = static_cast<unsigned char>(c >> 7);
    lo[i * 32 + lane] = static_cast<unsigned char>(c & 127);
  }
  return max / 16383.0f;
}

// Sums of 32 channels from `channel` on over every `step`th two pages, by one warp, 128 * high + low plane. Lane l has channels 4 * (l / 4)
// .. + 3 of them.
template <uint32_t kTiles, bool kI8>
LINNET_ON_GPU void values_of_integers(const FlashArgs& a, const uint32_t* pages, const int8_t* table, const unsigned char* shared,
                                      uint32_t channel, uint32_t first, uint32_t last, uint32_t step, int* dots, uint32_t stride) {
  const uint32_t lane = threadIdx.x % 32, g = lane / 4, c = lane % 4;
  const bool latent = !kI8 && a.kv.latent, is_f8 = !kI8 && f8(a.kv.v_format);
  // Of a latent: a word is 4 tokens of 4 channels and has to be turned.
  const uint32_t at = latent ? ((a.kv.latent + channel) / 4 + g) * 64 + c * 16
                             : a.kv.v_at + least(channel / 16 + g / 4, a.kv.dpad / 16 - 1) * 256 + c * 64 + g % 4 * 16;
  int hi[kTiles][2][4] = {}, lo[kTiles][2][4] = {};
  constexpr uint32_t kAhead = 2;
  for (uint32_t from = first; from <= last; from += kAhead * step) {
    uint4 w[kAhead][2] = {};
#pragma unroll
    for (uint32_t u = 0; u < kAhead; ++u) {
      const uint32_t pair = from + u * step;
      if (pair > last) break;
      w[u][0] = load16(page_at(a.kv, pages[2 * pair]) + at);
      w[u][1] = load16(page_at(a.kv, pages[2 * pair + 1]) + at);
    }
#pragma unroll
    for (uint32_t u = 0; u < kAhead; ++u) {
      const uint32_t pair = from + u * step;
      if (pair > last) break;
      if (latent) {
        w[u][0] = turned(w[u][0]);
        w[u][1] = turned(w[u][1]);
      }
      if (is_f8) {
        w[u][0] = f8_integers(table, w[u][0]);
        w[u][1] = f8_integers(table, w[u][1]);
      }
      const uint32_t low2[4] = {w[u][0].x, w[u][0].y, w[u][1].x, w[u][1].y}, high2[4] = {w[u][0].z, w[u][0].w, w[u][1].z, w[u][1].w};
#pragma unroll
      for (uint32_t n = 0; n < kTiles; ++n) {
        const unsigned char* const p = shared + a.at_planes + (n * 8 + g) * kPlaneStride + pair * 32 + c * 4;
        const unsigned char* const below = p + kTiles * 8 * kPlaneStride;
        const uint32_t b[2] = {*reinterpret_cast<const uint32_t*>(p), *reinterpret_cast<const uint32_t*>(p + 16)};
        const uint32_t d[2] = {*reinterpret_cast<const uint32_t*>(below), *reinterpret_cast<const uint32_t*>(below + 16)};
        mma_i8(hi[n][0], low2, b);
        mma_i8(hi[n][1], high2, b);
        mma_i8(lo[n][0], low2, d);
        mma_i8(lo[n][1], high2, d);
      }
    }
  }
#pragma unroll
  for (uint32_t n = 0; n < kTiles; ++n) {
    int* const to = dots + (n * 8 + c * 2) * stride + g * 4;
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i)
      *reinterpret_cast<int4*>(to + i * stride) = make_int4(128 * hi[n][0][i] + lo[n][0][i], 128 * hi[n][0][2 + i] + lo[n][0][2 + i],
                                                            128 * hi[n][1][i] + lo[n][1][i], 128 * hi[n][1][2 + i] + lo[n][1][2 + i]);
  }
}

// A channel's sums of a thread's rows, in one chain over the block's tokens.
template <uint32_t kOwn>
LINNET_ON_GPU void values_of_floats(const FlashArgs& a, const uint32_t* pages, const float* e, uint32_t channel, uint32_t from, uint32_t to,
                                    float (&sum)[kOwn]) {
  const uint32_t f = a.kv.v_format;
#pragma unroll
  for (uint32_t r = 0; r < kOwn; ++r) sum[r] = 0;
  for (uint32_t t = from / 4 * 4; t < to; t += 4) {
    const uint8_t* const page = page_at(a.kv, pages[t / kPage]);
    uint32_t bits[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i)
      bits[i] = a.kv.latent ? float_bits(f, page, (a.kv.latent + channel) * kPage + t % kPage + i)
                            : float_bits(f, page + a.kv.v_at, (channel / 16 * kPage + t % kPage + i) * 16 + channel % 16);
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if (t + i >= to) break;  // nothing is there yet
      const float v = float_value(f, bits[i]);
#pragma unroll
      for (uint32_t r = 0; r < kOwn; ++r) sum[r] = fma_of(e[r * kScoreStride + t + i], v, sum[r]);
    }
  }
}

// Scores of a block, and the scales of its values.
template <uint32_t kTiles, bool kI8>
LINNET_ON_GPU void block_scores(const FlashArgs& a, const FlashState<kTiles * 8>& state, const FlashBlock& block, unsigned char* shared) {
  const KvArgs& kv = a.kv;
  const uint32_t tid = threadIdx.x, first = (block.range.from - block.range.base) / kPage,
                 last = (block.range.to - 1 - block.range.base) / kPage;  // pages
  const uint8_t* const page = page_at(kv, block.pages[tid / kPage]);
  if (kI8 || (scaled(kv.v_format) && !of_channels(kv))) {
    const float unit = !kI8 && f8(kv.v_format) ? f8_top(kv.v_format) / 127 : 1.0f;
    reinterpret_cast<float*>(shared + a.at_v_scale)[tid] =
        reinterpret_cast<const float*>(page + (!kI8 && kv.latent ? kv.k_scale_at : kv.v_scale_at))[tid % kPage] * unit;
  }
  if (!kI8 && !scaled(kv.k_format)) {
    if (tid / kPage >= first && tid / kPage <= last) scores_of_floats<kTiles>(a, page, shared, tid);
  } else if (tid / 32 >= first / 2 && tid / 32 <= last / 2) {
    scores_of_integers<kTiles, kI8>(a, page, state.k_table, shared, tid / 32 * 32);
  }
}

// What row `row` and this head begin with.
LINNET_ON_GPU FlashPart begin_of(const FlashArgs& a, uint32_t row, uint32_t head) {
  if (a.begin_ml) return a.begin_ml[static_cast<size_t>(row) * a.group * gridDim.y + head];
  return a.sinks ? FlashPart{a.sinks[head], 1.0f} : FlashPart{0.0f, 0.0f};  // a learned sink: weight one and no value
}
LINNET_ON_GPU float begin_value(const FlashArgs& a, uint32_t row, uint32_t head, uint32_t d) {
  return a.begin ? a.begin[(static_cast<size_t>(row) * a.group * gridDim.y + head) * a.kv.dpad + d] : 0.0f;
}

// Where flash_merge finds a block of this tile, in rows.
LINNET_ON_GPU size_t part_of(const FlashArgs& a, const FlashTile& t, const FlashBlock& block) {
  return ((static_cast<size_t>(blockIdx.y) * gridDim.x + t.tile) * a.most_blocks + block.number) * a.tile_rows;
}

// Weights of a block from its scores, a warp a row; and what the block does to what is known of its rows.
template <uint32_t kRows, bool kI8>
LINNET_ON_GPU void block_weights(const FlashArgs& a, FlashState<kRows>& state, const FlashBlock& block, unsigned char* shared) {
  const FlashTile& t = state.t;
  const FlashRange& range = block.range;
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t r = threadIdx.x / 32; r < t.rows; r += kWarps) {
    float* const s = reinterpret_cast<float*>(shared + a.at_s) + r * kScoreStride;
    const uint32_t p = t.position + r / t.heads, seen = low(a.kv, p), begin = most(range.kept ? 0 : seen, range.base) - range.base,
                   to = range.kept ? least(seen, a.kv.keep) : p + 1, end = to <= range.base ? 0 : least(to - range.base, kBlock);
    float e[8] = {}, m = 0, l = 0;
    if (begin < end)
      softmax_row(s, begin, end, a.scale, a.slopes ? a.slopes[blockIdx.y * a.group + t.first_head + r % t.heads] : 0.0f,
                  static_cast<float>(static_cast<int>(p) - static_cast<int>(range.base)), a.cap, e, &m, &l);
    if (!kI8 && (!scaled(a.kv.v_format) || of_channels(a.kv))) {
#pragma unroll
      for (uint32_t i = 0; i < 8; ++i) s[i * 32 + lane] = e[i];
    } else {
      float v_scale[8];
#pragma unroll
      for (uint32_t i = 0; i < 8; ++i) v_scale[i] = reinterpret_cast<const float*>(shared + a.at_v_scale)[i * 32 + lane];
      unsigned char* const hi = shared + a.at_planes + r * kPlaneStride;
      const float p_scale = planes_row(e, v_scale, hi, hi + kRows * kPlaneStride);
      if (lane == 0) state.p_scale[r] = p_scale;
    }
    const float run_m = state.m[r], run_l = state.l[r], top = m > run_m ? m : run_m, old_by = exp_one(run_m - top),
                new_by = exp_one(m - top);
    warp_sync();
    if (lane) continue;
    state.kind[r] = l == 0 ? kNothing : a.splits > 1 || run_l == 0 ? kFirst : kMerged;
    if (a.splits > 1) {
      a.part_ml[part_of(a, t, block) + r] = {m, l};
    } else if (l != 0) {
      state.m[r] = run_l == 0 ? m : top;
      state.l[r] = run_l == 0 ? l : fma_of(l, new_by, run_l * old_by);
      state.old_by[r] = old_by;
      state.new_by[r] = new_by;
    }
  }
}

// A row's sum of a block goes into the running one.
template <uint32_t kRows>
LINNET_ON_GPU void add_block(const FlashState<kRows>& state, uint32_t r, float* y, float x) {
  if (state.kind[r] == kMerged)
    *y = fma_of(x, state.new_by[r], *y * state.old_by[r]);
  else if (state.kind[r] == kFirst)
    *y = x;
}

// Planes of the weights times the scales of 128 channels, which a latent in i8 has for each of them apart.
template <uint32_t kRows>
LINNET_ON_GPU void planes_of_channels(const FlashArgs& a, FlashState<kRows>& state, const uint32_t* pages, uint32_t channel,
                                      unsigned char* shared) {
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t r = threadIdx.x / 32; r < state.t.rows; r += kWarps) {
    float e[8], v_scale[8];
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t token = i * 32 + lane;
      e[i] = reinterpret_cast<const float*>(shared + a.at_s)[r * kScoreStride + token];
      const uint8_t* const scales = page_at(a.kv, pages[token / kPage]) + a.kv.k_scale_at;
      v_scale[i] = f32_of_f16(reinterpret_cast<const uint16_t*>(scales)[(a.kv.latent + channel) / 32 * kPage + token % kPage]);
    }
    unsigned char* const hi = shared + a.at_planes + r * kPlaneStride;
    const float p_scale = planes_row(e, v_scale, hi, hi + kRows * kPlaneStride);
    if (lane == 0) state.p_scale[r] = p_scale;
  }
}

// Values of a block times its weights, 128 channels at a time, into acc (rows, dpad). Ends with all threads together.
template <uint32_t kTiles, bool kI8>
LINNET_ON_GPU void block_values(const FlashArgs& a, FlashState<kTiles * 8>& state, const FlashBlock& block, float* acc,
                                unsigned char* shared) {
  constexpr uint32_t kRows = kTiles * 8;
  const FlashTile& t = state.t;
  const uint32_t tid = threadIdx.x, warp = tid / 32, mine = tid % kFlashSlice, dpad = a.kv.dpad, from = block.range.from - block.range.base,
                 to = block.range.to - block.range.base;
  const uint32_t* const pages = block.pages;
  if (a.splits > 1) acc = a.part + part_of(a, t, block) * dpad;
  if (!kI8 && !scaled(a.kv.v_format)) {
    constexpr uint32_t kOwn = kRows / 2;
    const uint32_t first = tid / kFlashSlice * kOwn;
    for (uint32_t d = mine; d < dpad && first < t.rows; d += kFlashSlice) {
      float sum[kOwn];
      values_of_floats<kOwn>(a, pages, reinterpret_cast<const float*>(shared + a.at_s) + first * kScoreStride, d, from, to, sum);
#pragma unroll
      for (uint32_t r = 0; r < kOwn; ++r)
        if (first + r < t.rows) add_block<kRows>(state, first + r, acc + (first + r) * dpad + d, sum[r]);
    }
    block_sync();
    return;
  }
  int* const dots = reinterpret_cast<int*>(shared + a.at_dots);
  for (uint32_t slice = 0; slice < dpad; slice += kFlashSlice) {
    if (!kI8 && of_channels(a.kv)) {
      planes_of_channels<kRows>(a, state, pages, slice, shared);
      block_sync();
    }
    const uint32_t width = least(kFlashSlice, dpad - slice), parts = (width + 31) / 32, shares = kWarps / parts,
                   stride = parts * 32 + 4;  // warps share out channels, then tokens
    if (warp < parts * shares)
      values_of_integers<kTiles, kI8>(a, pages, state.v_table, shared, slice + warp % parts * 32, from / 32 + warp / parts, (to - 1) / 32,
                                      shares, dots + warp / parts * kRows * stride + warp % parts * 32, stride);
    block_sync();
    for (uint32_t r = tid / kFlashSlice; mine < width && r < t.rows; r += kFlashThreads / kFlashSlice) {
      int sum = 0;
      for (uint32_t i = 0; i < shares; ++i) sum += dots[(i * kRows + r) * stride + mine];
      add_block<kRows>(state, r, acc + r * dpad + slice + mine, static_cast<float>(sum) * state.p_scale[r]);
    }
    block_sync();
  }
}

// kI8: keys and values of their own, both in i8; otherwise any.
template <uint32_t kTiles, bool kI8>
LINNET_ON_GPU void flash(const FlashArgs& a) {
  constexpr uint32_t kRows = kTiles * 8;
  LINNET_DYNAMIC_SHARED(shared);
  LINNET_SHARED FlashState<kRows> state;
  const KvArgs& kv = a.kv;
  const FlashTile& t = state.t;
  const uint32_t tid = threadIdx.x, warp = tid / 32;
  if (tid == 0) state.t = flash_tile(a, gridDim.x - 1 - blockIdx.x);  // those that see most come first
  block_sync();
  if (blockIdx.z >= t.n_blocks) return;
  float* const acc = reinterpret_cast<float*>(shared + a.at_acc);  // (rows, dpad) where this block of threads merges all itself

  if (!kI8 && f8(kv.k_format)) state.k_table[tid] = static_cast<int8_t>(f8_integer(kv.k_format, tid));
  if (!kI8 && f8(kv.v_format)) state.v_table[tid] = static_cast<int8_t>(f8_integer(kv.v_format, tid));
  load_queries<kRows>(a, t, shared);
  const uint32_t head = blockIdx.y * a.group + t.first_head;
  if (tid < t.rows) {
    const FlashPart begin = begin_of(a, t.row + tid / t.heads, head + tid % t.heads);
    state.m[tid] = begin.m;
    state.l[tid] = begin.l;
  }
  for (uint32_t i = tid; a.splits == 1 && i < t.rows * kv.dpad; i += kFlashThreads)
    acc[i] = begin_value(a, t.row + i / kv.dpad / t.heads, head + i / kv.dpad % t.heads, i % kv.dpad);
  if (tid == 0) state.turn = 0;
  plan_block(a, t, blockIdx.z, &state.blocks[0]);
  block_sync();

  // What is carried around this loop lies in shared memory, since registers are short.
  while (state.blocks[state.turn].number < t.n_blocks) {
    block_scores<kTiles, kI8>(a, state, state.blocks[state.turn], shared);
    block_sync();
    plan_block(a, t, state.blocks[state.turn].number + a.splits, &state.blocks[state.turn ^ 1]);
    block_weights<kRows, kI8>(a, state, state.blocks[state.turn], shared);
    block_sync();
    block_values<kTiles, kI8>(a, state, state.blocks[state.turn], acc, shared);
    if (tid == 0) state.turn ^= 1;
    block_sync();
  }
  if (a.splits > 1) return;
  for (uint32_t r = warp; r < t.rows; r += kWarps) {
    const float by = 1.0f / state.l[r];
    float* const out = a.out + (t.row + r / t.heads) * a.out_stride +
                       (static_cast<size_t>(blockIdx.y) * a.group + t.first_head + r % t.heads) * kv.head_dim;
    for (uint32_t d = tid % 32; d < kv.v_dim; d += 32) out[d] = acc[r * kv.dpad + d] * by;
  }
}

LINNET_KERNEL_MIN(kFlashThreads, 4) flash8_i8(const FlashArgs a) { flash<1, true>(a); }
LINNET_KERNEL_MIN(kFlashThreads, 3) flash16_i8(const FlashArgs a) { flash<2, true>(a); }
LINNET_KERNEL_MIN(kFlashThreads, 2) flash8(const FlashArgs a) { flash<1, false>(a); }
LINNET_KERNEL_MIN(kFlashThreads, 2) flash16(const FlashArgs a) { flash<2, false>(a); }

LINNET_KERNEL_MIN(kSinkWarps * 32, 8) flash_sinks(const FlashSinkArgs a) {
  LINNET_SHARED float scores[kSinkWarps][kPage];
  const KvArgs& kv = a.kv;
  const uint32_t item = blockIdx.x * kSinkWarps + threadIdx.x / 32, lane = threadIdx.x % 32, row = item / a.n_heads,
                 head = item % a.n_heads;
  if (row >= a.n_rows) return;
  const CudaSpan span = kv.spans[a.n_spans == 1 ? 0 : a.row_span[row]];
  const uint32_t position = span.position + (a.n_spans == 1 ? span.n - a.n_rows + row : row - span.row),
                 n = least(low(kv, position), kv.n_sinks);
  const float* const keys = kv.sinks + span.seq * kv.sink_step + static_cast<size_t>(head / a.group) * kv.sink_floats;
  float* const s = scores[threadIdx.x / 32];
  if (lane < n) {
    const float* const q = a.q + row * a.q_stride + static_cast<size_t>(head) * kv.head_dim;
    const size_t at = (static_cast<size_t>(row) * kPage + lane) * a.n_pairs;
    float sum = 0;
    for (uint32_t d = 0; d < kv.head_dim; ++d)
      sum = fma_of(q[d], rotated(keys + lane * kv.head_dim, d, a.cos + at, a.sin + at, 1.0f, a.n_pairs, a.interleaved), sum);
    s[lane] = sum;
  }
  warp_sync();
  float e[8], m, l, old_by = 0, new_by = 1;
  softmax_row(s, 0, n, a.scale, 0.0f, 0.0f, a.cap, e, &m, &l);
  FlashPart begin = a.sinks ? FlashPart{a.sinks[head], 1.0f} : FlashPart{0.0f, 0.0f};
  const bool both = begin.l != 0 && l != 0;
  if (both) {
    const float top = m > begin.m ? m : begin.m;
    old_by = exp_one(begin.m - top);
    new_by = exp_one(m - top);
    begin = {top, fma_of(l, new_by, begin.l * old_by)};
  } else if (l != 0) {
    begin = {m, l};
  }
  const size_t place = static_cast<size_t>(row) * a.n_heads + head;
  if (lane == 0) a.begin_ml[place] = begin;
  for (uint32_t d = lane; d < (kv.dpad + 31) / 32 * 32; d += 32) {
    float sum = 0;
    for (uint32_t t = 0; t < n; ++t) {
      const float weight = shuffle(e[0], static_cast<int>(t));
      if (d < kv.dpad) sum = fma_of(weight, keys[kv.sink_values + (d / 16 * kPage + t) * 16 + d % 16], sum);
    }
    if (d < kv.dpad) a.begin[place * kv.dpad + d] = both ? fma_of(sum, new_by, 0.0f * old_by) : sum;
  }
}

// The KV blocks of one row, merged from left to right. Grid: (tiles, n_kv_heads, tile_rows).
LINNET_KERNEL(kMergeThreads) flash_merge(const FlashArgs a) {
  LINNET_DYNAMIC_SHARED(merge_shared);
  const FlashTile t = flash_tile(a, blockIdx.x);
  const uint32_t r = blockIdx.z, tid = threadIdx.x, head = blockIdx.y * a.group + t.first_head + r % t.heads;
  if (r >= t.rows) return;
  FlashPart* const ml = reinterpret_cast<FlashPart*>(merge_shared);  // (most_blocks)
  float2* const by = reinterpret_cast<float2*>(ml + a.most_blocks);  // (most_blocks) factors of what was and of the block
  const size_t part = (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * a.most_blocks * a.tile_rows + r;
  for (uint32_t i = tid; i < t.n_blocks; i += kMergeThreads) ml[i] = a.part_ml[part + static_cast<size_t>(i) * a.tile_rows];
  block_sync();
  const FlashPart begin = begin_of(a, t.row + r / t.heads, head);
  for (uint32_t i = tid; i < t.n_blocks; i += kMergeThreads) {
    float m = begin.m;
    bool any = begin.l != 0;
    for (uint32_t j = 0; j < i; ++j)
      if (ml[j].l != 0) {
        m = !any || ml[j].m > m ? ml[j].m : m;
        any = true;
      }
    const float top = ml[i].m > m ? ml[i].m : m;
    by[i] = any ? make_float2(exp_one(m - top), exp_one(ml[i].m - top)) : make_float2(0, 0);
  }
  block_sync();
  float* const out = a.out + (t.row + r / t.heads) * a.out_stride + static_cast<size_t>(head) * a.kv.head_dim;
  for (uint32_t d = tid; d < a.kv.v_dim; d += kMergeThreads) {
    const float* const from = a.part + part * a.kv.dpad + d;
    const size_t step = static_cast<size_t>(a.tile_rows) * a.kv.dpad;
    float acc = begin_value(a, t.row + r / t.heads, head, d), l = begin.l;
    constexpr uint32_t kAhead = 8;
    for (uint32_t i = 0; i < t.n_blocks; i += kAhead) {
      float x[kAhead];
#pragma unroll
      for (uint32_t u = 0; u < kAhead; ++u) x[u] = i + u < t.n_blocks ? from[(i + u) * step] : 0.0f;
#pragma unroll
      for (uint32_t u = 0; u < kAhead; ++u) {
        if (i + u >= t.n_blocks) break;
        const float own = ml[i + u].l;
        if (own == 0) continue;
        const float2 f = by[i + u];
        acc = l == 0 ? x[u] : fma_of(x[u], f.y, acc * f.x);
        l = l == 0 ? own : fma_of(own, f.y, l * f.x);
      }
    }
    out[d] = acc * (1.0f / l);
  }
}

}  // namespace linnet
