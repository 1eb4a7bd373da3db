// Multi-head latent attention (DeepSeek-V2) in the absorbed form. Its queries without a detour (kAttnQ) and its output (kAttnOut) are
// tensors of attention.h. kAttnKvA: outputs of the roped part first, then the latent. kAttnKB, kAttnVB: one matrix per head, one below the
// other.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_LATENT_ROLES(X)                                                                                                            \
  X(kAttnQA, "attn_q_a.weight", kRoleMatrix, kPartAttention, kStepQkv, q_lora_rank, d_model, has_q_lora)                                  \
  X(kAttnQANorm, "attn_q_a_norm.weight", 0, kPartAttention, kStepVectors, q_lora_rank, one, has_q_lora)                                   \
  X(kAttnQB, "attn_q_b.weight", kRoleMatrix, kPartAttention, kStepQkv, q_dim, q_lora_rank, has_q_lora)                                    \
  X(kAttnKvA, "attn_kv_a_mqa.weight", kRoleMatrix, kPartAttention, kStepQkv, head_dim, d_model, latent)                                   \
  X(kAttnKvANorm, "attn_kv_a_norm.weight", 0, kPartAttention, kStepVectors, kv_lora_rank, one, latent)                                    \
  X(kAttnKB, "attn_k_b.weight", kRoleMatrix, kPartAttention, kStepQkv, latents_of_heads, qk_nope_dim, latent)                             \
  X(kAttnVB, "attn_v_b.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, out_dim, kv_lora_rank, latent)
// clang-format on

namespace linnet {

struct LatentAttention {
  Matrix q_a;                         // (q_lora_rank, d_model) or empty
  Matrix q;                           // (n_heads * (nope + rope), d_model or q_lora_rank)
  Matrix kv_a;                        // (qk_rope_dim + kv_lora_rank, d_model)
  Matrix k_b, v_b;                    // of every head (kv_lora_rank, qk_nope_dim) and (v_head_dim, kv_lora_rank)
  Matrix out;                         // (d_model, n_heads * v_head_dim)
  const float *q_a_norm, *kv_a_norm;  // (q_lora_rank) or nullptr, (kv_lora_rank)
  const float *out_bias, *sinks;      // (d_model), (n_heads); or nullptr
};

extern const TensorRole kLatentRoles[];

}  // namespace linnet
