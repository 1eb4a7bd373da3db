// Gated delta net (Yang et al. 2024, arXiv:2412.06464; Qwen3.5): of every value head a state S (key_dim, value_dim) that each token lets
// fade, corrects by what its key reads from it, and reads by its query. q, k and v pass a short convolution before.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_DELTA_ROLES(X)                                                                                                             \
  X(kDeltaIn, "attn_qkv.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_channels, d_model, delta)                                   \
  X(kDeltaGate, "attn_gate.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_values, d_model, by_head)                                \
  X(kDeltaGateA, "ssm_g_a.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_key_dim, d_model, by_key)                                 \
  X(kDeltaGateB, "ssm_g_b.weight", kRoleMatrix, kPartAttention, kStepQkv, delta_values, delta_key_dim, by_key)                            \
  X(kDeltaFadeA, "ssm_f_a.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, delta_key_dim, d_model, by_key)                      \
  X(kDeltaFadeB, "ssm_f_b.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, fades, delta_key_dim, by_key)                        \
  X(kDeltaBeta, "ssm_beta.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, value_heads, d_model, delta)                         \
  X(kDeltaAlpha, "ssm_alpha.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, value_heads, d_model, by_head)                     \
  X(kDeltaTaps, "ssm_conv1d.weight", 0, kPartAttention, kStepVectors, delta_taps, one, delta)                                             \
  X(kDeltaDt, "ssm_dt.bias", 0, kPartAttention, kStepVectors, fades, one, delta)                                                          \
  X(kDeltaA, "ssm_a", 0, kPartAttention, kStepVectors, value_heads, one, delta)                                                           \
  X(kDeltaNorm, "ssm_norm.weight", 0, kPartAttention, kStepVectors, delta_value_dim, one, delta)                                          \
  X(kDeltaOut, "ssm_out.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, delta_values, delta)
// clang-format on

namespace linnet {

// Q = key_heads * key_dim, V = value_heads * value_dim.
struct DeltaNet {
  Matrix in;           // (2 * Q + V, d_model): q, k and v
  Matrix gate;         // (V, d_model)
  Matrix beta, alpha;  // (value_heads, d_model), f32
  // Where keys fade apart gate and alpha come by way of key_dim channels: (key_dim, d_model), then (V or Q, key_dim).
  Matrix gate_low, alpha_low;
  Matrix out;           // (d_model, V)
  const float* taps;    // (2 * Q + V, conv_taps)
  const float *dt, *a;  // as alpha: what is added to it; (value_heads): how fast states fade, below 0
  const float* norm;    // (value_dim)
};

extern const TensorRole kDeltaRoles[];

}  // namespace linnet
