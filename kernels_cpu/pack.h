// Packing: rows of floats -> panels and scales of a format (format.h). Runs at convert time; baseline code, the same bits everywhere.
#pragma once
#include <cstdint>

#include "../runtime/format.h"

namespace linnet {

// Packs one panel: n_rows (1..16) rows of k floats at `stride` floats. panel: panel_bytes(f, k); scales: groups * 16 entries. Missing rows
// and inputs become zeros. Integer formats, per group: scale = amax / 127 (rounded to f16 for i8g32), code = rint(x / scale) clamped to
// +-127, and 0 where amax is 0. false if a weight is not finite.
bool pack_panel(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales);
// i8g32 from codes (n_rows, k) and f16 scales (n_rows, k / 32), bit for bit. k a multiple of 32.
void pack_panel_exact(const int8_t* codes, const uint16_t* scales, uint32_t n_rows, uint32_t k, void* panel, void* panel_scales);
// The reverse for one output, as `gather_row` of the kernels: y(k).
void unpack_row(const void* panels, const void* scales, Format f, uint32_t n, uint32_t k, uint32_t row, float* y);

}  // namespace linnet
