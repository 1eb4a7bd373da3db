// Views of packed matrices and of rows of activations. Nothing here owns memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "format.h"

namespace linnet {

// A packed matrix W (n, k) in the layout of format.h.
struct Matrix {
  Format format = LINNET_FORMAT_DEFAULT;
  uint32_t n = 0, k = 0;
  const void* panels = nullptr;  // [n/16] panels
  const void* scales = nullptr;  // [n/16][groups][16], integer formats
};

// Rows quantised to int8 in groups along k.
struct QuantRows {
  int8_t* q = nullptr;        // (m, stride): kpad codes per row, zeros past k
  float* scale = nullptr;     // (m, groups)
  int32_t* sum128 = nullptr;  // (m, groups): -128 * sum of the group's codes, what VNNI's unsigned weights need
  size_t stride = 0;          // bytes between rows, see quant_stride
  uint32_t group = 0, groups = 0;
};

// Rows of a power-of-two length would fall into the same cache sets; one more line spreads them.
constexpr size_t quant_stride(uint64_t k) { return static_cast<size_t>(align_up(k, kPadK) + 64); }

}  // namespace linnet
