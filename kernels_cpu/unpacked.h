// Blocks of GGUF files by a tier's own product of bytes. 256 inputs of some panels become codes of a byte with f32 scales in the
// first-level cache, as i8g128 has them, but in groups of 32 or 16. Included by tiers with the vectors of rows.h; so everything here has
// internal linkage.
#pragma once
#include "kernels.h"

namespace linnet {
namespace {

constexpr uint32_t kUnpackedK = 256, kUnpackedPanels = 4, kUnpackedRows = 64;

// What 256 inputs of a panel become, with the scales of groups of 32 or 16, and the minima of groups of 32.
struct UnpackedPanel {
  alignas(64) int8_t codes[kUnpackedK * 16];
  alignas(64) float scale[16][16], min[8][16];
};
struct Unpacked {
  UnpackedPanel panel[kUnpackedPanels];
  alignas(64) float acc[kUnpackedRows][kUnpackedPanels * 16];
  float x_scale[kUnpackedRows][16];  // of groups of 16
  int32_t x_sum128[kUnpackedRows][16];
};

// Where 256 inputs of a panel go: lines of four inputs by 16 outputs, `line` bytes apart, groups `group` bytes; scales and minima of
// groups, some floats apart. ahead: how far on the lines are that are asked for meanwhile; 0: they are at hand.
struct UnpackTo {
  int8_t* codes;
  size_t line, group;
  float *scale, *min;
  size_t scale_step, min_step, ahead;
};
INLINE void fetch_line(const uint8_t* line, const UnpackTo& to) {
  if (to.ahead) __builtin_prefetch(line + to.ahead);
}

// Kinds of formats.inc: kLineBytes bytes of lines and kEntry of scales are 256 inputs. kFlip: 0x80, or 0 for signed bytes.
struct Q4K {
  static constexpr size_t kLineBytes = 2048, kEntry = kStepK4;
  static constexpr uint32_t kGroup = 32;
  static constexpr bool kMin = true;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, const UnpackTo& to) {
    for (size_t g = 0; g < 8; g += 2)
      for (size_t t = 0; t < 8; ++t, lines += 64) {
        fetch_line(lines, to);
        const uint8_t* __restrict from = lines;
        int8_t* __restrict first = to.codes + g * to.group + t * to.line;
        int8_t* __restrict second = first + to.group;
        for (int b = 0; b < 64; ++b) {
          first[b] = static_cast<int8_t>((from[b] & 15) ^ kFlip);
          second[b] = static_cast<int8_t>(from[b] >> 4 ^ kFlip);
        }
      }
    scales(entry, to);
  }

 protected:
  static void scales(const uint8_t* __restrict entry, const UnpackTo& to) {
    alignas(64) int8_t scale[128], min[128];
    const uint8_t *s = entry + 64, *m = entry + 128, *rest = entry + 192;
    for (int i = 0; i < 64; ++i) {
      scale[i] = static_cast<int8_t>(s[i] & 63);
      scale[64 + i] = static_cast<int8_t>((rest[i] & 15) | (s[i] >> 2 & 0x30));
      min[i] = static_cast<int8_t>(m[i] & 63);
      min[64 + i] = static_cast<int8_t>(rest[i] >> 4 | (m[i] >> 2 & 0x30));
    }
    const V d = load_scales<true>(reinterpret_cast<const char*>(entry)),
            d_min = load_scales<true>(reinterpret_cast<const char*>(entry + 32));
    for (size_t g = 0; g < 8; ++g) {
      store(to.scale + g * to.scale_step, mul(from_bytes(scale + g * 16), d));
      store(to.min + g * to.min_step, mul(from_bytes(min + g * 16), d_min));
    }
  }
};
struct Q5K : Q4K {
  static constexpr size_t kLineBytes = 2560;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, const UnpackTo& to) {
    const uint8_t* const fifths = lines + 2048;
    for (size_t g = 0; g < 8; g += 2)
      for (size_t t = 0; t < 8; ++t, lines += 64) {
        fetch_line(lines, to);
        if (g == 0) fetch_line(fifths + t * 64, to);
        const uint8_t* __restrict from = lines;
        const uint8_t* __restrict fifth = fifths + t * 64;
        int8_t* __restrict first = to.codes + g * to.group + t * to.line;
        int8_t* __restrict second = first + to.group;
        const auto bit = static_cast<uint8_t>(1u << g), next = static_cast<uint8_t>(2u << g);
        for (int b = 0; b < 64; ++b) {
          first[b] = static_cast<int8_t>(((from[b] & 15) | (fifth[b] & bit ? 16 : 0)) ^ kFlip);
          second[b] = static_cast<int8_t>((from[b] >> 4 | (fifth[b] & next ? 16 : 0)) ^ kFlip);
        }
      }
    scales(entry, to);
  }
};
struct Q6K {
  static constexpr size_t kLineBytes = 3072, kEntry = kStepK6;
  static constexpr uint32_t kGroup = 16;
  static constexpr bool kMin = false;
  template <int kFlip>
  static void unpack(const uint8_t* lines, const uint8_t* entry, const UnpackTo& to) {
    for (size_t half = 0; half < 2; ++half)
      for (size_t t = 0; t < 8; ++t) {
        const uint8_t* __restrict low = lines + half * 1024 + t * 64;
        const uint8_t* __restrict more = low + 512;
        const uint8_t* __restrict high = lines + 2048 + half * 512 + t * 64;
        fetch_line(low, to);
        fetch_line(more, to);
        fetch_line(high, to);
        const auto run = [&](size_t i) { return to.codes + (half * 8 + i * 2 + t / 4) * to.group + t % 4 * to.line; };
        int8_t* __restrict a = run(0);
        int8_t* __restrict b = run(1);
        int8_t* __restrict c = run(2);
        int8_t* __restrict d = run(3);
        constexpr int kMore = kFlip ? 96 : -32;
        for (int i = 0; i < 64; ++i) {
          a[i] = static_cast<int8_t>(((low[i] & 15) | (high[i] << 4 & 0x30)) + kMore);
          b[i] = static_cast<int8_t>(((more[i] & 15) | (high[i] << 2 & 0x30)) + kMore);
          c[i] = static_cast<int8_t>((low[i] >> 4 | (high[i] & 0x30)) + kMore);
          d[i] = static_cast<int8_t>((more[i] >> 4 | (high[i] >> 2 & 0x30)) + kMore);
        }
      }
    const V by = load_scales<true>(reinterpret_cast<const char*>(entry));
    for (size_t g = 0; g < 16; ++g)
      store(to.scale + g * to.scale_step, mul(from_bytes(reinterpret_cast<const int8_t*>(entry) + 32 + g * 16), by));
  }
};

// A kind and a tier's product of i8g128.
struct UnpackedBy {
  void (*unpack)(const uint8_t* lines, const uint8_t* entry, const UnpackTo& to);
  size_t lines, entry;
  uint32_t group;
  bool min;
  void (*product)(const GemmArgs*);
};

// Scales and sums of 256 inputs of some rows in groups of 16.
inline void halve_groups(const GemmArgs& a, Unpacked* u) {
  for (uint32_t r = 0; r < a.m; ++r) {
    const int8_t* x = static_cast<const int8_t*>(a.x) + r * a.x_stride;
    for (uint32_t g = 0; g < 16; ++g, x += 16) {
      int32_t sum = 0;
      for (int i = 0; i < 16; ++i) sum += x[i];
      u->x_sum128[r][g] = -128 * sum;
      u->x_scale[r][g] = a.x_scale[r * size_t{a.x_groups} + g / 2];
    }
  }
}

// acc += the minima of 256 inputs.
inline void add_minima(const GemmArgs& a, Unpacked* u) {
  for (uint32_t r = 0; r < a.m; ++r) {
    float x_sum[8];
    for (uint32_t g = 0; g < 8; ++g)
      x_sum[g] = static_cast<float>(a.x_sum128[r * size_t{a.x_groups} + g]) * 0x1p-7f * a.x_scale[r * size_t{a.x_groups} + g];
    for (uint32_t p = 0; p < a.n_panels; ++p) {
      V acc = load(u->acc[r] + p * 16);
      for (uint32_t g = 0; g < 8; ++g) acc = fma(load(u->panel[p].min[g]), all(x_sum[g]), acc);
      store(u->acc[r] + p * 16, acc);
    }
  }
}

// The panels from `panel` on, at most four, for some rows.
inline void unpacked_panels(const GemmArgs& a, const UnpackedBy& by, uint32_t panel, uint32_t n_panels, uint32_t row, uint32_t rows,
                            Unpacked* u) {
  GemmArgs b = a;
  b.m = rows;
  b.n_panels = n_panels;
  b.k = kUnpackedK;
  b.w = u->panel[0].codes;
  b.w_scale = u->panel[0].scale;
  b.w_stride = b.w_scale_stride = sizeof u->panel[0];
  b.y = u->acc[0];
  b.y_stride = kUnpackedPanels * 16;
  b.bias = nullptr;
  b.fetch_ahead = 0;
  b.next = nullptr;
  for (uint32_t block = 0; block < a.k / kUnpackedK; ++block) {
    for (uint32_t p = 0; p < n_panels; ++p) {
      UnpackedPanel& panel_of = u->panel[p];
      by.unpack(static_cast<const uint8_t*>(a.w) + (panel + p) * a.w_stride + block * by.lines,
                static_cast<const uint8_t*>(a.w_scale) + (panel + p) * a.w_scale_stride + block * by.entry,
                {panel_of.codes, 64, by.group * size_t{16}, panel_of.scale[0], panel_of.min[0], 16, 16, by.lines});
    }
    const size_t group = row * size_t{a.x_groups} + block * size_t{kUnpackedK / 32};
    b.x = static_cast<const int8_t*>(a.x) + row * a.x_stride + block * size_t{kUnpackedK};
    b.x_scale = a.x_scale + group;
    b.x_sum128 = a.x_sum128 + group;
    b.accumulate = block > 0;
    if (by.group == 16) {
      halve_groups(b, u);
      GemmArgs c = b;
      c.x_group = c.x_groups = 16;
      c.x_scale = u->x_scale[0];
      c.x_sum128 = u->x_sum128[0];
      by.product(&c);
    } else {
      by.product(&b);
    }
    if (by.min) add_minima(b, u);
  }
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t p = 0; p < n_panels; ++p) finish(a, row + r, panel + p, load(u->acc[r] + p * 16));
}

inline void unpacked(const GemmArgs& a, const UnpackedBy& by) {
  Unpacked u;
  for (uint32_t panel = 0; panel < a.n_panels; panel += kUnpackedPanels)
    for (uint32_t row = 0; row < a.m; row += kUnpackedRows)
      unpacked_panels(a, by, panel, a.n_panels - panel < kUnpackedPanels ? a.n_panels - panel : kUnpackedPanels, row,
                      a.m - row < kUnpackedRows ? a.m - row : kUnpackedRows, &u);
}

// kProduct: the tier's of i8g128.
template <class Kind, void (*kProduct)(const GemmArgs*)>
void gemm_unpacked(const GemmArgs* args) {
  unpacked(*args, {Kind::template unpack<0>, Kind::kLineBytes, Kind::kEntry, Kind::kGroup, Kind::kMin, kProduct});
}

}  // namespace
}  // namespace linnet
