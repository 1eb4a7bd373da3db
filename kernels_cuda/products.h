// What kernels of products with packed weights share: where a matrix's panels lie, what of a launch a block works on, where sums go.
#pragma once
#include "device.h"
#include "gemm_args.h"

namespace linnet {

LINNET_ON_GPU const uint8_t* panel_at(const CudaMatrix& w, uint32_t panel) {
  const uint32_t part = panel / w.part_panels;
  return w.panels[part] + (panel - part * w.part_panels) * w.panel_bytes;
}
LINNET_ON_GPU const uint8_t* scales_at(const CudaMatrix& w, uint32_t panel) {
  const uint32_t part = panel / w.part_panels;
  return w.scales[part] + (panel - part * w.part_panels) * w.scale_bytes;
}

// Four f16 beside each other.
LINNET_ON_GPU void floats_of_halves(const uint2& v, float (&to)[4]) {
  to[0] = f32_of_f16(static_cast<uint16_t>(v.x)), to[1] = f32_of_f16(static_cast<uint16_t>(v.x >> 16));
  to[2] = f32_of_f16(static_cast<uint16_t>(v.y)), to[3] = f32_of_f16(static_cast<uint16_t>(v.y >> 16));
}

// What a block works on: rows row0.. of m, panels of one matrix.
struct Work {
  uint32_t panel, m;  // the matrix's first panel; its rows
  const uint8_t* x;
  const float* x_scale;
  const int32_t* x_sum128;
  float* y;
};
// Whether z has work.
LINNET_ON_GPU bool work_of(const GemmArgs& a, uint32_t z, Work* w) {
  uint64_t row = 0, head = z;
  w->panel = z * a.panels;
  w->m = a.m;
  if (a.first) {
    if (z >= *a.n_active) return false;
    const uint32_t expert = a.active[z];
    w->panel = expert * a.panels;
    row = a.first[expert];
    w->m = a.first[expert + 1] - a.first[expert];
    head = 0;
  }
  w->x = a.x + row * a.x_stride + head * a.x_z;
  w->x_scale = a.x_scale + row * a.x_groups + head * a.scale_z;
  w->x_sum128 = a.x_sum128 + row * a.x_groups + head * a.scale_z;
  w->y = a.y + row * a.y_stride + head * a.y_z;
  return true;
}
// Matrices of a launch; experts are known on the device only.
LINNET_ON_GPU uint32_t works_of(const GemmArgs& a) { return a.first ? *a.n_active : gridDim.z; }

LINNET_ON_GPU void store(const GemmArgs& a, const Work& w, uint32_t row, uint32_t panel, uint32_t j, float acc) {
  float* y = w.y + row * a.y_stride + panel * 16 + j;
  const float r = a.bias ? acc + a.bias[(w.panel + panel) * 16 + j] : acc;
  *y = a.accumulate ? *y + r : r;
}

// Integer sums start at 1.5 * 2^23 as a float has it: they stay below 2^21, so the bits are a float, 12582912 more than the sum, at any
// time.
constexpr int kSumStart = 0x4B400000;
constexpr float kSumZero = 12582912.0f;

}  // namespace linnet
