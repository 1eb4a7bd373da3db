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
  uint32_t slot = 0;             // of adapters (lora.h); 0: they change others alone
};

// Rows of activations as a weight format reads them (FormatRow::x).
//   i8    int8 codes in groups along k with their scales, zeros past k
//   bf16  rounded to nearest even, zeros past k; of every four inputs the order is 0 2 1 3
struct QuantRows {
  Format format = LINNET_FORMAT_DEFAULT;
  uint8_t* q = nullptr;       // (m, stride): kpad values per row
  float* scale = nullptr;     // (m, groups), i8
  int32_t* sum128 = nullptr;  // (m, groups), i8: -128 * sum of the group's codes, what VNNI's unsigned weights need
  size_t stride = 0;          // bytes between rows, see quant_stride
  uint32_t group = 0, groups = 0;
};

// Rows of a power-of-two length would fall into the same cache sets; one more line spreads them.
constexpr size_t quant_stride(Format x, uint64_t k) { return static_cast<size_t>(align_up(k, kPadK) * (x == LINNET_BF16 ? 2 : 1) + 64); }

}  // namespace linnet
