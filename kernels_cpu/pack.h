// Packing: rows of floats -> panels and scales of a format (format.h). Runs at convert time; baseline code, the same bits everywhere.
#pragma once
#include <cstdint>

#include "../runtime/format.h"

namespace linnet {

// Packs one panel: n_rows (1..16) rows of k floats at `stride` floats. panel: panel_bytes(f, k); scales: groups * 16 entries. Missing rows
// and inputs become zeros. false if a weight is not finite or too large for the format.
//   i8*  per group: scale = amax / 127 (rounded to f16 for i8g32), code = rint(x / scale) clamped to +-127, and 0 where amax is 0
//   f8*  per output, or group of one: scale = amax / the format's largest number, code = the nearest to x / scale, ties to even
//   i4*z per group: of ten f16 scales for the span of its values and zero, the one with the least squared error
//   i4*  else, per group: of twelve f16 scales that give the largest value a code near -8, the one with the least squared error
//   blocks  of some scales and minima for each group, the ones with the least squared error (pack_blocks.cpp)
bool pack_panel(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales);
// pack_panel for blocks; k is a multiple of the block. false too for kinds that files alone have (packs_floats).
bool pack_blocks(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales);
// One panel of blocks as GGUF files have them, or of tables as checkpoints of bitsandbytes do (64 inputs: codes, f32 scale, or a code of
// it with the outer scale, the same for 256 groups of a row or the row before, and the offset), bit for bit: n_rows (1..16) rows of k
// inputs at `stride` bytes. outer: (n_rows, 2) factors
// of a format that has them (outer_factor), or NULL: 1.
void pack_gguf_blocks(Format f, const uint8_t* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales,
                      const float* outer = nullptr);
// Two floats that scales times or by `factor` are made with, to the last bit (format.h). false: there are none.
bool outer_factor(float factor, bool divides, float out[2]);
// The reverse for one output, and its outer factors.
void unpack_gguf_blocks(const void* panels, const void* scales, Format f, uint32_t k, uint32_t row, uint8_t* blocks);
void unpack_outer(const void* scales, Format f, uint32_t k, uint32_t row, float out[2]);
bool packs_floats(Format f);
// Weights of one block in a GGUF file and its bytes; 0: f has no blocks. Those of i8g32 are Q8_0, of i4g32 Q4_0. Where its f16 lie, and how
// many there are. Whether all weights of n blocks are finite.
uint32_t gguf_block_values(Format f);
uint32_t gguf_block_bytes(Format f);
uint32_t gguf_block_halves(Format f, uint32_t at[2]);
bool gguf_blocks_finite(Format f, const uint8_t* blocks, size_t n);
// Rows as another quantiser left them: weight = code * the scale of its group. Integer codes are -8..7 or -128..127 or, with zero points,
// what is left once they are taken off.
struct ExactForm {
  uint8_t bits = 0;    // of the codes: 4 or 8; 0: there are none
  bool e4m3 = false;   // of 8 bits: they are FP8's
  bool zeros = false;  // there are zero points
  bool half = false;   // scales are f16, else f32
  uint32_t group = 0;  // inputs per scale, a multiple of 32 unless it is k or more
  bool operator==(const ExactForm&) const = default;
};
struct ExactRows {
  int8_t* codes;     // (n_rows, k)
  uint16_t* halves;  // (n_rows, ceil(k / group)) f16 bits, or
  float* scales;     // the same as f32; the other one is nullptr
  uint8_t* zeros;    // the same; 0..16; nullptr: none
  uint32_t group;    // inputs per scale
};
// Whether f holds such codes of rows of k inputs as they are.
bool pack_exact(Format f, const ExactForm& form, uint32_t k);
// One panel from such rows, bit for bit.
void pack_panel_exact(Format f, const ExactRows& from, uint32_t n_rows, uint32_t k, void* panel, void* panel_scales);
// The reverse for one output, as `gather_row` of the kernels: y(k).
void unpack_row(const void* panels, const void* scales, Format f, uint32_t n, uint32_t k, uint32_t row, float* y);

}  // namespace linnet
