// Attention with keys and values of its own: multi-head, grouped or multi-query, with all its kinds of norms, biases and windows.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_ATTENTION_ROLES(X)                                                                                                         \
  X(kAttnNorm, "attn_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_attn_norm)                                  \
  X(kAttnQ, "attn_q.weight", kRoleMatrix, kPartAttention, kStepQkv, q_dim, d_model, no_q_lora)                                            \
  X(kAttnK, "attn_k.weight", kRoleMatrix, kPartAttention, kStepQkv, kv_dim, d_model, has_kv)                                          \
  X(kAttnV, "attn_v.weight", kRoleMatrix, kPartAttention, kStepQkv, kv_dim, d_model, has_v)                                          \
  X(kAttnGate, "attn_output_gate.weight", kRoleMatrix, kPartAttention, kStepQkv, q_dim, d_model, has_gate)                                  \
  X(kAttnOut, "attn_output.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, out_dim, has_heads)                             \
  X(kAttnQBias, "attn_q.bias", 0, kPartAttention, kStepVectors, q_dim, one, has_qkv_bias)                                                 \
  X(kAttnKBias, "attn_k.bias", 0, kPartAttention, kStepVectors, kv_dim, one, has_kv_bias)                                                \
  X(kAttnVBias, "attn_v.bias", 0, kPartAttention, kStepVectors, kv_dim, one, has_v_bias)                                                \
  X(kAttnOutBias, "attn_output.bias", 0, kPartAttention, kStepVectors, d_model, one, has_out_bias)                                        \
  X(kAttnQNorm, "attn_q_norm.weight", kRoleNorm, kPartAttention, kStepVectors, q_norm_dim, one, has_qk_norm)                              \
  X(kAttnKNorm, "attn_k_norm.weight", kRoleNorm, kPartAttention, kStepVectors, k_norm_dim, one, has_k_norm)                              \
  X(kAttnQNormBias, "attn_q_norm.bias", 0, kPartAttention, kStepVectors, head_dim, one, has_qk_norm_bias)                                 \
  X(kAttnKNormBias, "attn_k_norm.bias", 0, kPartAttention, kStepVectors, head_dim, one, has_k_norm_bias)                                 \
  X(kAttnVNorm, "attn_v_norm.weight", 0, kPartAttention, kStepVectors, head_dim, one, has_v_norm)                                         \
  X(kAttnSinks, "attn_sinks.weight", 0, kPartAttention, kStepVectors, n_heads, one, has_sinks)                                            \
  X(kAttnInOrder, "attn_input.order", 0, kPartAttention, kStepVectors, d_model, one, has_in_order)                                        \
  X(kAttnOutOrder, "attn_output.order", 0, kPartAttention, kStepVectors, out_dim, one, has_out_order)                                     \
  X(kAttnInnerNorm, "attn_sub_norm.weight", kRoleNorm, kPartAttention, kStepVectors, out_dim, one, has_inner_norm)
// clang-format on

namespace linnet {

// Matrices are (outputs, inputs); what is not there is empty or nullptr.
struct Attention {
  Matrix q, k, v;  // (n_heads * head_dim, d_model), (n_kv_heads * head_dim, d_model) twice; v without panels: k's
  Matrix gate;     // as q, or empty
  Matrix out;      // (d_model, n_heads * head_dim)
  const float *q_bias, *k_bias, *v_bias, *out_bias;
  const float *q_norm, *k_norm;            // (head_dim, or of all heads)
  const float *q_norm_bias, *k_norm_bias;  // (head_dim)
  const float* v_norm;                     // (head_dim), ones, or nullptr
  const float* sinks;                      // (n_heads)
  const float *in_order, *out_order;       // (d_model), (n_heads * head_dim): of the inputs of q, k and v, and of out
  const float* inner_norm;                 // (n_heads * head_dim) or nullptr
};

extern const TensorRole kAttentionRoles[];

}  // namespace linnet
