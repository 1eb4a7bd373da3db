#include "pack.h"

#include <cstring>

#include "kernels.h"

namespace linnet {
namespace {

uint32_t bits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
float from_bits(uint32_t u) {
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

// Loops here are simple enough for the compiler to vectorise at baseline flags.

// Bits of max |x|; an integer maximum, so that infinities and NaN come out on top.
uint32_t amax_bits(const float* x, size_t n) {
  int32_t max = 0;
  for (size_t i = 0; i < n; ++i) {
    const int32_t a = static_cast<int32_t>(bits(x[i]) & 0x7FFFFFFFu);
    max = a > max ? a : max;
  }
  return static_cast<uint32_t>(max);
}

// rint(x / scale) clamped to +-127. Adding 1.5 * 2^23 rounds to an integer, ties to even.
void divide_round(const float* x, size_t n, float scale, int32_t* q) {
  for (size_t i = 0; i < n; ++i) {
    float v = x[i] / scale;
    v = v > -127.0f ? v : -127.0f;
    v = v < 127.0f ? v : 127.0f;
    q[i] = static_cast<int32_t>(bits(v + 12582912.0f)) - 0x4B400000;
  }
}

constexpr size_t kChunk = 128;  // inputs packed at a time: a multiple of every group

// Codes of one row, inputs from .. from + n (n <= kChunk), into its place of a panel; scale 0 means zeros.
void pack_codes(const float* x, size_t from, size_t n, float scale, size_t row, int8_t* panel) {
  int32_t q[kChunk] = {};
  if (scale > 0.0f) divide_round(x + from, n, scale, q);
  for (size_t i = 0; i < n; i += 4) {
    const uint32_t word = (static_cast<uint32_t>(q[i]) & 255u) | (static_cast<uint32_t>(q[i + 1]) & 255u) << 8 |
                          (static_cast<uint32_t>(q[i + 2]) & 255u) << 16 | static_cast<uint32_t>(q[i + 3]) << 24;
    std::memcpy(panel + (from + i) * kPanel + row * 4, &word, 4);
  }
}

// Group g's scale of row r in a panel's scales, and its zero point.
void* scale_place(const FormatRow& f, void* scales, size_t g, size_t r) {
  return static_cast<uint8_t*>(scales) + g * kPanel * f.scale.bytes + r * (f.scale.half ? 2 : 4);
}
uint8_t* zero_place(const FormatRow& f, void* scales, size_t g, size_t r) {
  return static_cast<uint8_t*>(scale_place(f, scales, g, kPanel)) + r;
}

// Scales are stored as f32 or as f16. Returns the value that was stored.
float store_scale(float scale, const FormatRow& f, void* scales, size_t g, size_t r) {
  void* to = scale_place(f, scales, g, r);
  if (!f.scale.half) {
    std::memcpy(to, &scale, 4);
    return scale;
  }
  const uint16_t h = f32_to_f16(scale);
  std::memcpy(to, &h, 2);
  return f16_to_f32(h);
}

bool pack_i8(const FormatRow& f, const float* rows, size_t stride, uint32_t n_rows, size_t k, void* panel, void* scales) {
  const size_t group = f.w_group ? f.w_group : k;
  std::memset(panel, 0, panel_bytes(f.format, k));
  std::memset(scales, 0, n_w_groups(f.format, k) * kPanel * f.scale.bytes);
  for (size_t from = 0, g = 0; from < k; from += group, ++g) {
    const size_t end = k - from < group ? k : from + group;
    float scale[kPanel];
    for (size_t r = 0; r < n_rows; ++r) {
      const uint32_t amax = amax_bits(rows + r * stride + from, end - from);
      scale[r] = store_scale(from_bits(amax) / 127.0f, f, scales, g, r);
      if (amax >= 0x7F800000u || bits(scale[r]) >= 0x7F800000u) return false;
    }
    for (size_t at = from; at < end; at += kChunk)
      for (size_t r = 0; r < n_rows; ++r)
        pack_codes(rows + r * stride, at, end - at < kChunk ? end - at : kChunk, scale[r], r, static_cast<int8_t*>(panel));
  }
  return true;
}

// Code + 8 of input i of a row into its place of a panel.
void put_nibble(uint8_t* panel, size_t row, size_t i, int32_t value) {
  uint8_t& byte = panel[i / 8 * 64 + row * 4 + i % 4];
  const size_t shift = i & 4;
  byte = static_cast<uint8_t>((byte & ~(15u << shift)) | static_cast<uint32_t>(value) << shift);
}

// Codes + 8 of n <= kChunk values for a scale: rint(x * inv) clamped to -8..7. Returns the sum of squared errors, as 16 partial sums
// by index % 16 so that it can be vectorised.
float codes_i4(const float* x, size_t n, float scale, int32_t* q) {
  const float inv = 1.0f / scale;
  float sum[16] = {};
  for (size_t i = 0; i < n; i += 16)
    for (size_t j = 0; j < 16; ++j) {
      float v = x[i + j] * inv;
      v = v > -8.0f ? v : -8.0f;
      v = v < 7.0f ? v : 7.0f;
      q[i + j] = static_cast<int32_t>(bits(v + 12582912.0f)) - 0x4B400000 + 8;
      const float e = x[i + j] - static_cast<float>(q[i + j] - 8) * scale;
      sum[j] += e * e;
    }
  float total = 0;
  for (const float v : sum) total += v;
  return total;
}

// The value of largest magnitude takes code -8 (the scale has its sign, turned), or a little less or more if that makes the squared error
// of the whole group smaller.
bool pack_i4(const FormatRow& f, const float* rows, size_t stride, uint32_t n_rows, size_t k, void* panel, void* scales) {
  std::memset(panel, 0x88, panel_bytes(f.format, k));
  std::memset(scales, 0, n_w_groups(f.format, k) * kPanel * f.scale.bytes);
  for (size_t from = 0, g = 0; from < k; from += f.w_group, ++g) {
    const size_t n = k - from < f.w_group ? k - from : f.w_group;
    for (size_t r = 0; r < n_rows; ++r) {
      float x[kChunk] = {};
      std::memcpy(x, rows + r * stride + from, n * sizeof(float));
      const uint32_t amax = amax_bits(x, n);
      if (amax >= 0x7F800000u) return false;
      float largest = from_bits(amax);
      for (size_t i = 0; i < n; ++i)
        if (x[i] == -from_bits(amax)) largest = x[i];
      int32_t q[kChunk], best[kChunk];
      float least = __builtin_inff();
      uint16_t chosen = 0;
      const size_t padded = align_up(n, 16);
      for (int step = 0; step < 12; ++step) {
        const uint16_t h = f32_to_f16(largest / ((34.0f + static_cast<float>(step)) / -5.0f));
        if ((h & 0x7FFFu) >= 0x7C00u) return false;
        if ((h & 0x7FFFu) == 0) continue;
        const float error = codes_i4(x, padded, f16_to_f32(h), q);
        if (error < least) {
          least = error;
          chosen = h;
          std::memcpy(best, q, sizeof best);
        }
      }
      if (chosen == 0) continue;  // too small for the scale: zeros
      std::memcpy(scale_place(f, scales, g, r), &chosen, 2);
      for (size_t i = 0; i < n; ++i) put_nibble(static_cast<uint8_t*>(panel), r, from + i, best[i]);
    }
  }
  return true;
}

// From the least to the largest, zero among them, in 15 steps, or in somewhat smaller ones if that makes the squared error of the group
// smaller.
bool pack_i4_zero(const FormatRow& f, const float* rows, size_t stride, uint32_t n_rows, size_t k, void* panel, void* scales) {
  std::memset(panel, 0, panel_bytes(f.format, k));
  std::memset(scales, 0, n_w_groups(f.format, k) * kPanel * f.scale.bytes);
  for (size_t from = 0, g = 0; from < k; from += f.w_group, ++g) {
    const size_t n = k - from < f.w_group ? k - from : f.w_group;
    for (size_t r = 0; r < n_rows; ++r) {
      const float* x = rows + r * stride + from;
      if (amax_bits(x, n) >= 0x7F800000u) return false;
      float lo = 0, hi = 0;
      for (size_t i = 0; i < n; ++i) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
      }
      float least = __builtin_inff();
      uint8_t best[kChunk] = {};
      for (int step = 0; step < 10; ++step) {
        const float shrink = 1.0f - 0.03f * static_cast<float>(step);
        const uint16_t h = f32_to_f16((hi - lo) / 15.0f * shrink);
        if (h >= 0x7C00u) return false;
        if (h == 0) continue;
        const float scale = f16_to_f32(h), zero = __builtin_rintf(-lo * shrink / scale);
        uint8_t codes[kChunk] = {};
        float error = 0;
        for (size_t i = 0; i < n; ++i) {
          float c = __builtin_rintf(x[i] / scale) + zero;
          c = c > 0.0f ? c : 0.0f;
          c = c < 15.0f ? c : 15.0f;
          codes[i] = static_cast<uint8_t>(c);
          const float e = x[i] - (c - zero) * scale;
          error += e * e;
        }
        if (error < least) {
          least = error;
          std::memcpy(best, codes, sizeof best);
          std::memcpy(scale_place(f, scales, g, r), &h, 2);
          *zero_place(f, scales, g, r) = static_cast<uint8_t>(zero);
        }
      }
      for (size_t i = 0; i < n; ++i) put_nibble(static_cast<uint8_t*>(panel), r, from + i, best[i]);
    }
  }
  return true;
}

bool pack_f8(const FormatRow& f, const float* rows, size_t stride, uint32_t n_rows, size_t k, uint8_t* panel, float* scales) {
  std::memset(panel, 0, panel_bytes(f.format, k));
  std::memset(scales, 0, panel_scale_bytes(f.format, k));
  const bool e4m3 = f.stored == Stored::kE4m3;
  const size_t group = f.w_group ? f.w_group : k;
  for (size_t r = 0; r < n_rows; ++r)
    for (size_t from = 0; from < k; from += group) {
      const float* x = rows + r * stride;
      const size_t end = k - from < group ? k : from + group;
      const uint32_t amax = amax_bits(x + from, end - from);
      if (amax >= 0x7F800000u) return false;
      const float scale = from_bits(amax) / (e4m3 ? 448.0f : 57344.0f);
      if (scale == 0.0f) continue;
      scales[from / group * kPanel + r] = scale;
      for (size_t i = from; i < end; ++i)
        panel[i / 4 * 64 + r * 4 + i % 4] = e4m3 ? f32_to_f8e4m3(x[i] / scale) : f32_to_f8e5m2(x[i] / scale);
    }
  return true;
}

// to(float) gives the stored type; the result is false where a weight is not finite or leaves the type's range.
template <class T, class To, class Finite>
bool pack_float(const float* rows, size_t stride, uint32_t n_rows, size_t k, T* panel, To to, Finite finite) {
  std::memset(panel, 0, k * kPanel * sizeof(T));
  bool ok = true;
  for (size_t r = 0; r < n_rows; ++r) {
    const float* x = rows + r * stride;
    for (size_t i = 0; i < k; ++i) {
      const T v = to(x[i]);
      ok &= finite(v);
      panel[i * kPanel + r] = v;
    }
  }
  return ok;
}

}  // namespace

bool pack_panel(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  switch (format_row(f).stored) {
    case Stored::kF32:
      return pack_float(
          rows, stride, n_rows, k, static_cast<float*>(panel), [](float v) { return v; },
          [](float v) { return (bits(v) & 0x7FFFFFFFu) < 0x7F800000u; });
    case Stored::kF16:
      return pack_float(rows, stride, n_rows, k, static_cast<uint16_t*>(panel), f32_to_f16,
                        [](uint16_t v) { return (v & 0x7FFFu) < 0x7C00u; });
    case Stored::kBf16:
      return pack_float(rows, stride, n_rows, k, static_cast<uint16_t*>(panel), f32_to_bf16,
                        [](uint16_t v) { return (v & 0x7FFFu) < 0x7F80u; });
    case Stored::kE4m3:
    case Stored::kE5m2:
      return pack_f8(format_row(f), rows, stride, n_rows, k, static_cast<uint8_t*>(panel), static_cast<float*>(scales));
    default:
      break;
  }
  switch (f) {
#define LINNET_CODES(name, NAME, codes, bits, x_group, w_group, scale, pack, kv) \
  case LINNET_##NAME:                                                            \
    return pack_##pack(format_row(f), rows, stride, n_rows, k, panel, scales);
#include "../runtime/formats.inc"
    default:
      return format_row(f).stored == Stored::kBlocks && pack_blocks(f, rows, stride, n_rows, k, panel, scales);
  }
}

bool pack_exact(Format f, const ExactForm& form, uint32_t k) {
  const FormatRow& row = format_row(f);
  const bool groups = row.w_group == 0 ? form.group >= k : form.group % row.w_group == 0, scales = form.half || !row.scale.half;
  if (!form.bits || !groups || !scales) return false;
  if (form.e4m3) return row.stored == Stored::kE4m3;
  if (row.stored == Stored::kBytes) return true;
  return form.bits == 4 && (row.stored == Stored::kNibblesZero || (row.stored == Stored::kNibbles && !form.zeros));
}

void pack_panel_exact(Format f, const ExactRows& from, uint32_t n_rows, uint32_t k, void* panel, void* panel_scales) {
  const FormatRow& row = format_row(f);
  const size_t groups = n_w_groups(f, k), from_groups = div_up(k, from.group);
  auto* to = static_cast<uint8_t*>(panel);
  std::memset(to, row.stored == Stored::kNibbles ? 0x88 : 0, panel_bytes(f, k));
  std::memset(panel_scales, 0, groups * kPanel * row.scale.bytes);
  // A group of all rows at a time, which stays in the nearest cache.
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = g * row.w_group, end = row.w_group && begin + row.w_group < k ? begin + row.w_group : k;
    for (size_t r = 0; r < n_rows; ++r) {
      const size_t source = r * from_groups + begin / from.group;
      const uint8_t zero = from.zeros ? from.zeros[source] : 8;
      const int8_t* codes = from.codes + r * k;
      if (row.scale.half)
        std::memcpy(scale_place(row, panel_scales, g, r), &from.halves[source], 2);
      else
        store_scale(from.halves ? f16_to_f32(from.halves[source]) : from.scales[source], row, panel_scales, g, r);
      if (row.scale.zero) *zero_place(row, panel_scales, g, r) = zero;
      size_t i = begin;
      if (row.bits == 4) {
        // Four codes a word; in the lower halves of bytes nothing is carried.
        const uint32_t low = 0x0F0F0F0Fu, add = zero * 0x01010101u;
        for (; i + 8 <= end; i += 8) {
          uint32_t word[2];
          std::memcpy(word, codes + i, sizeof word);
          const uint32_t both = (((word[0] & low) + add) & low) | ((((word[1] & low) + add) & low) << 4);
          std::memcpy(to + i / 8 * 64 + r * 4, &both, sizeof both);
        }
        for (; i < end; ++i) put_nibble(to, r, i, codes[i] + zero);
      } else {
        for (; i + 4 <= end; i += 4) std::memcpy(to + i / 4 * 64 + r * 4, codes + i, 4);
        for (; i < end; ++i) to[i / 4 * 64 + r * 4 + i % 4] = static_cast<uint8_t>(codes[i]);
      }
    }
  }
}

void unpack_row(const void* panels, const void* scales, Format f, uint32_t n, uint32_t k, uint32_t row, float* y) {
  if (format_block(f) > 1) return scalar_table.gather_row(f, panels, scales, n, k, row, y);
  const FormatRow& info = format_row(f);
  const size_t r = row % kPanel, panel = row / kPanel, groups = n_w_groups(f, k);
  const uint8_t* base = static_cast<const uint8_t*>(panels) + panel * panel_bytes(f, k);
  for (size_t i = 0; i < k; ++i) {
    const size_t at = i * kPanel + r, byte = i / 4 * 64 + r * 4 + i % 4;
    float v;
    switch (info.stored) {
      case Stored::kF32:
        v = reinterpret_cast<const float*>(base)[at];
        break;
      case Stored::kF16:
        v = f16_to_f32(reinterpret_cast<const uint16_t*>(base)[at]);
        break;
      case Stored::kBf16:
        v = bf16_to_f32(reinterpret_cast<const uint16_t*>(base)[at]);
        break;
      case Stored::kE4m3:
        v = f8e4m3_to_f32(base[byte]);
        break;
      case Stored::kE5m2:
        v = f8e5m2_to_f32(base[byte]);
        break;
      case Stored::kNibbles:
      case Stored::kNibblesZero:
        v = static_cast<float>((base[i / 8 * 64 + r * 4 + i % 4] >> (i & 4) & 15) - 8);
        break;
      default:
        v = static_cast<float>(static_cast<int8_t>(base[byte]));
        break;
    }
    if (info.scale.bytes) {
      const uint8_t* s =
          static_cast<const uint8_t*>(scales) + (panel * groups + (info.w_group ? i / info.w_group : 0)) * kPanel * info.scale.bytes;
      if (info.scale.zero) v += static_cast<float>(8 - s[32 + r]);
      v *= info.scale.half ? f16_to_f32(reinterpret_cast<const uint16_t*>(s)[r]) : reinterpret_cast<const float*>(s)[r];
    }
    y[i] = v;
  }
}

}  // namespace linnet
