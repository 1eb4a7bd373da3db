// Mamba-2 (Dao & Gu 2024, arXiv:2405.21060): of every head a state S (state_dim, head_dim) that each token lets fade by how long its step
// is, adds x B^T to, and reads by C; x, B and C pass a short convolution before. B and C are those of a group of heads.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_MAMBA_ROLES(X)                                                                                                             \
  X(kMambaIn, "ssm_in.weight", kRoleMatrix, kPartAttention, kStepQkv, mamba_in, d_model, mamba)                                           \
  X(kMambaDt, "ssm_dt.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepQkv, mamba_heads, d_model, mamba)                             \
  X(kMambaTaps, "ssm_conv1d.weight", 0, kPartAttention, kStepVectors, mamba_taps, one, mamba)                                             \
  X(kMambaConvBias, "ssm_conv1d.bias", 0, kPartAttention, kStepVectors, mamba_channels, one, has_conv_bias)                               \
  X(kMambaDtBias, "ssm_dt.bias", 0, kPartAttention, kStepVectors, mamba_heads, one, mamba)                                                \
  X(kMambaA, "ssm_a", 0, kPartAttention, kStepVectors, mamba_heads, one, mamba)                                                           \
  X(kMambaSkip, "ssm_d", 0, kPartAttention, kStepVectors, mamba_heads, one, mamba)                                                        \
  X(kMambaNorm, "ssm_norm.weight", 0, kPartAttention, kStepVectors, mamba_inner, one, has_mamba_norm)                                     \
  X(kMambaOut, "ssm_out.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, mamba_inner, mamba)
// clang-format on

namespace linnet {

// I = heads * head_dim, N = groups * state_dim.
struct Mamba {
  Matrix in;                        // (2 * I + 2 * N, d_model): gate, x, B and C
  Matrix dt;                        // (heads, d_model), f32: length of steps
  Matrix out;                       // (d_model, I)
  const float* taps;                // (I + 2 * N, conv_taps)
  const float* conv_bias;           // (I + 2 * N) or nullptr
  const float *dt_bias, *a, *skip;  // (heads): what is added to dt; how fast states fade, below 0; what of x goes to the output at once
  const float* norm;                // (I) or nullptr
};

extern const TensorRole kMambaRoles[];

}  // namespace linnet
