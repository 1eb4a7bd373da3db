#include "pack.h"

#include <cstring>

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

// Scales are stored as f32, or as f16 when scale_bytes is 2. Returns the value that was stored.
float store_scale(float scale, const FormatRow& f, void* scales, size_t i) {
  if (f.scale_bytes == 2) {
    const uint16_t h = f32_to_f16(scale);
    static_cast<uint16_t*>(scales)[i] = h;
    return f16_to_f32(h);
  }
  static_cast<float*>(scales)[i] = scale;
  return scale;
}

bool pack_int(const FormatRow& f, const float* rows, size_t stride, uint32_t n_rows, size_t k, int8_t* panel, void* scales) {
  const size_t group = f.w_group ? f.w_group : k;
  std::memset(panel, 0, panel_bytes(f.format, k));
  std::memset(scales, 0, n_w_groups(f.format, k) * kPanel * f.scale_bytes);
  for (size_t from = 0, g = 0; from < k; from += group, ++g) {
    const size_t end = k - from < group ? k : from + group;
    float scale[kPanel];
    for (size_t r = 0; r < n_rows; ++r) {
      const uint32_t amax = amax_bits(rows + r * stride + from, end - from);
      scale[r] = store_scale(from_bits(amax) / 127.0f, f, scales, g * kPanel + r);
      if (amax >= 0x7F800000u || bits(scale[r]) >= 0x7F800000u) return false;
    }
    for (size_t at = from; at < end; at += kChunk)
      for (size_t r = 0; r < n_rows; ++r) pack_codes(rows + r * stride, at, end - at < kChunk ? end - at : kChunk, scale[r], r, panel);
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
  switch (f) {
    case LINNET_F32:
      return pack_float(
          rows, stride, n_rows, k, static_cast<float*>(panel), [](float v) { return v; },
          [](float v) { return (bits(v) & 0x7FFFFFFFu) < 0x7F800000u; });
    case LINNET_F16:
      return pack_float(rows, stride, n_rows, k, static_cast<uint16_t*>(panel), f32_to_f16,
                        [](uint16_t v) { return (v & 0x7FFFu) < 0x7C00u; });
    case LINNET_BF16:
      return pack_float(rows, stride, n_rows, k, static_cast<uint16_t*>(panel), f32_to_bf16,
                        [](uint16_t v) { return (v & 0x7FFFu) < 0x7F80u; });
    default:
      return format_known(f) && pack_int(format_row(f), rows, stride, n_rows, k, static_cast<int8_t*>(panel), scales);
  }
}

void pack_panel_exact(const int8_t* codes, const uint16_t* scales, uint32_t n_rows, uint32_t k, void* panel, void* panel_scales) {
  const size_t groups = k / 32;
  std::memset(panel, 0, size_t{k} * kPanel);
  std::memset(panel_scales, 0, groups * kPanel * 2);
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t i = 0; i < k; i += 4) std::memcpy(static_cast<int8_t*>(panel) + i * kPanel + r * 4, codes + r * k + i, 4);
    for (size_t g = 0; g < groups; ++g) static_cast<uint16_t*>(panel_scales)[g * kPanel + r] = scales[r * groups + g];
  }
}

void unpack_row(const void* panels, const void* scales, Format f, uint32_t n, uint32_t k, uint32_t row, float* y) {
  (void)n;
  const FormatRow& info = format_row(f);
  const size_t r = row % kPanel, panel = row / kPanel;
  const char* base = static_cast<const char*>(panels) + panel * panel_bytes(f, k);
  if (!info.integer) {
    for (size_t i = 0; i < k; ++i) {
      const size_t at = i * kPanel + r;
      if (f == LINNET_F32)
        y[i] = reinterpret_cast<const float*>(base)[at];
      else if (f == LINNET_F16)
        y[i] = f16_to_f32(reinterpret_cast<const uint16_t*>(base)[at]);
      else
        y[i] = bf16_to_f32(reinterpret_cast<const uint16_t*>(base)[at]);
    }
    return;
  }
  const int8_t* w = reinterpret_cast<const int8_t*>(base);
  const size_t groups = n_w_groups(f, k);
  for (size_t i = 0; i < k; ++i) {
    const size_t at = (panel * groups + (info.w_group ? i / info.w_group : 0)) * kPanel + r;
    const float scale =
        info.scale_bytes == 2 ? f16_to_f32(static_cast<const uint16_t*>(scales)[at]) : static_cast<const float*>(scales)[at];
    y[i] = static_cast<float>(w[i / 4 * 64 + r * 4 + i % 4]) * scale;
  }
}

}  // namespace linnet
