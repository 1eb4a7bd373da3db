// Gated delta net (Yang et al. 2024, arXiv:2412.06464; Qwen3.5): of every value head a state S (key_dim, value_dim) that each token lets
// fade, corrects by what its key reads from it, and reads by its query. q, k and v pass a short convolution before.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_DELTA_ROLES(X)                                                                                                             \
  X(kDeltaIn, "attn_qkv.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_channels, d_model, delta)                                   \
  X(kDeltaGate, "attn_gate.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_values, d_model, delta)                                  \
  X(kDeltaBeta, "ssm_beta.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, value_heads, d_model, delta)                         \
  X(kDeltaAlpha, "ssm_alpha.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, value_heads, d_model, delta)                       \
  X(kDeltaTaps, "ssm_conv1d.weight", 0, kPartAttention, kStepVectors, delta_taps, one, delta)                                             \
  X(kDeltaDt, "ssm_dt.bias", 0, kPartAttention, kStepVectors, value_heads, one, delta)                                                    \
  X(kDeltaA, "ssm_a", 0, kPartAttention, kStepVectors, value_heads, one, delta)                                                           \
  X(kDeltaNorm, "ssm_norm.weight", 0, kPartAttention, kStepVectors, delta_value_dim, one, delta)                                          \
  X(kDeltaOut, "ssm_out.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, delta_values, delta)
// clang-format on

namespace linnet {

// Q = key_heads * key_dim, V = value_heads * value_dim.
struct DeltaNet {
  Matrix in;            // (2 * Q + V, d_model): q, k and v
  Matrix gate;          // (V, d_model)
  Matrix beta, alpha;   // (value_heads, d_model), f32
  Matrix out;           // (d_model, V)
  const float* taps;    // (2 * Q + V, conv_taps)
  const float *dt, *a;  // (value_heads): what is added to alpha; how fast states fade, below 0
  const float* norm;    // (value_dim)
};

extern const TensorRole kDeltaRoles[];

}  // namespace linnet
