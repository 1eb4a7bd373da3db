// Mixture of experts, and the expert beside them that every row goes through. The router and the shared expert's gate are f32 matrices. Of
// kExpertGate to kExpertDownBias every expert has its part, one behind the other, each padded with zero rows to whole panels of 16: an
// expert is a contiguous run of panels.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_EXPERTS_ROLES(X)                                                                                                           \
  X(kRouter, "ffn_gate_inp.weight", kRoleMatrix | kRoleF32, kPartFfn, kStepRouter, n_experts, d_model, has_experts)                           \
  X(kRouterBias, "ffn_gate_inp.bias", 0, kPartFfn, kStepVectors, n_experts, one, has_router_bias)                                         \
  X(kRouterCorrection, "exp_probs_b.bias", 0, kPartFfn, kStepVectors, n_experts, one, has_correction)                                     \
  X(kExpertGate, "ffn_gate_exps.weight", kRoleMatrix | kRoleOfExperts, kPartFfn, kStepExpertsGateUp, experts_up, d_model, has_gates)          \
  X(kExpertUp, "ffn_up_exps.weight", kRoleMatrix | kRoleOfExperts, kPartFfn, kStepExpertsGateUp, experts_up, d_model, has_experts)            \
  X(kExpertDown, "ffn_down_exps.weight", kRoleMatrix | kRoleOfExperts, kPartFfn, kStepExpertsDown, experts_down, expert_ff, has_experts)      \
  X(kExpertGateBias, "ffn_gate_exps.bias", kRoleOfExperts, kPartFfn, kStepVectors, experts_up, one, has_expert_bias)                      \
  X(kExpertUpBias, "ffn_up_exps.bias", kRoleOfExperts, kPartFfn, kStepVectors, experts_up, one, has_expert_bias)                          \
  X(kExpertDownBias, "ffn_down_exps.bias", kRoleOfExperts, kPartFfn, kStepVectors, experts_down, one, has_expert_bias)                    \
  X(kSharedGateInp, "ffn_gate_inp_shexp.weight", kRoleMatrix | kRoleF32, kPartFfn, kStepRouter, one, d_model, has_shared_gate)            \
  X(kSharedGate, "ffn_gate_shexp.weight", kRoleMatrix, kPartFfn, kStepShared, shared_ff, d_model, has_shared_gates)                             \
  X(kSharedUp, "ffn_up_shexp.weight", kRoleMatrix, kPartFfn, kStepShared, shared_ff, d_model, has_shared)                                 \
  X(kSharedDown, "ffn_down_shexp.weight", kRoleMatrix, kPartFfn, kStepShared, d_model, shared_ff, has_shared)                                \
  X(kRouterNorm, "ffn_gate_inp_norm.weight", kRoleNorm, kPartFfn, kStepVectors, d_model, one, has_beside)                                 \
  X(kExpertNorm, "pre_ffw_norm_2.weight", kRoleNorm, kPartFfn, kStepVectors, d_model, one, has_beside)                                    \
  X(kSharedPostNorm, "post_ffw_norm_1.weight", kRoleNorm, kPartFfn, kStepVectors, d_model, one, has_beside)                               \
  X(kExpertPostNorm, "post_ffw_norm_2.weight", kRoleNorm, kPartFfn, kStepVectors, d_model, one, has_beside)                               \
  X(kExpertScale, "ffn_down_exps.scale", 0, kPartFfn, kStepVectors, n_experts, one, has_beside)
// clang-format on

namespace linnet {

struct Experts {
  Matrix router;                                 // (n_experts, d_model)
  const float *router_bias, *router_correction;  // (n_experts) or nullptr
  Matrix gate, up, down;                         // of every expert (expert_ff, d_model) twice, (d_model, expert_ff), each padded to panels;
                                                 // gates, the shared one's too, may be empty
  const float *gate_bias, *up_bias, *down_bias;  // padded alike, or nullptr
  Matrix shared_up, shared_down, shared_gate;    // (shared_ff, d_model), (d_model, shared_ff), gate (shared_ff, d_model); or empty
  Matrix shared_weight;                          // (1, d_model): of the shared expert's output; or empty
  // Where the shared expert is a branch beside the others: norms of what the router and the experts read and of what both branches give;
  // what the experts' weights are multiplied by.
  const float *router_norm, *expert_norm, *shared_post_norm, *expert_post_norm;  // (d_model) or nullptr
  const float* expert_scale;                                                     // (n_experts) or nullptr
};

extern const TensorRole kExpertsRoles[];

}  // namespace linnet
