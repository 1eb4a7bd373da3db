// The feed-forward step of all rows: down(act(gate) * up), or without a gate; or with a norm before down.
#pragma once
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_FEED_FORWARD_ROLES(X)                                                                                                      \
  X(kFfnGate, "ffn_gate.weight", kRoleMatrix, kPartFfn, kStepGateUp, d_ff, d_model, has_gate)                                             \
  X(kFfnUp, "ffn_up.weight", kRoleMatrix, kPartFfn, kStepGateUp, d_ff, d_model, dense)                                                   \
  X(kFfnDown, "ffn_down.weight", kRoleMatrix, kPartFfn, kStepDown, d_model, d_ff, dense)                                                 \
  X(kFfnGateBias, "ffn_gate.bias", 0, kPartFfn, kStepVectors, d_ff, one, has_gate_bias)                                                   \
  X(kFfnUpBias, "ffn_up.bias", 0, kPartFfn, kStepVectors, d_ff, one, has_mlp_bias)                                                        \
  X(kFfnDownBias, "ffn_down.bias", 0, kPartFfn, kStepVectors, d_model, one, has_mlp_bias)                                                 \
  X(kFfnInOrder, "ffn_input.order", 0, kPartFfn, kStepVectors, d_model, one, has_in_order)                                                \
  X(kFfnXielu, "ffn_xielu.weight", 0, kPartFfn, kStepVectors, four, one, has_xielu)                                                       \
  X(kFfnInnerNorm, "ffn_sub_norm.weight", kRoleNorm, kPartFfn, kStepVectors, d_ff, one, has_inner_norm)
// clang-format on

namespace linnet {

struct FeedForwardTensors {
  Matrix gate, up;                               // (d_ff, d_model); gate may be empty
  Matrix down;                                   // (d_model, d_ff)
  const float *gate_bias, *up_bias, *down_bias;  // or nullptr
  const float* in_order;                         // (d_model) of the inputs of gate and up, or nullptr
  const float* xielu;                            // (4) alpha_p, alpha_n, beta, eps, or nullptr
  const float* inner_norm;                       // (d_ff) or nullptr
};

extern const TensorRole kDenseRoles[];

}  // namespace linnet
