// A gated short convolution over time (LFM2): b | c | u = in x; s = b * u; y = out (c * conv(s)), each channel of conv by itself over the
// last taps rows of s. A sequence keeps the rows before the next one as a state.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_CONV_ROLES(X)                                                                                                              \
  X(kConvIn, "shortconv.in_proj.weight", kRoleMatrix, kPartAttention, kStepQkv, three_d_model, d_model, conv)                             \
  X(kConvTaps, "shortconv.conv.weight", 0, kPartAttention, kStepVectors, conv_weights, one, conv)                                         \
  X(kConvOut, "shortconv.out_proj.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, d_model, conv)
// clang-format on

namespace linnet {

struct ShortConv {
  Matrix in;          // (3 * d_model, d_model): rows of b, c and u
  Matrix out;         // (d_model, d_model)
  const float* taps;  // (d_model, conv_taps), the last one of the row itself
};

extern const TensorRole kConvRoles[];

}  // namespace linnet
