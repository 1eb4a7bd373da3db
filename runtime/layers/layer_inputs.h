// What layers read of each token beside the residual stream (Gemma 3n's and 4's per-layer embeddings): a row for each token and layer of a
// table that stays where it is mapped, since a token reads its own rows alone, and a projection of the token's embedding; behind a layer's
// feed-forward step a gate lets some of it into the residual stream.
#pragma once
#include "../../platform/status.h"
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether a layer has it.
// clang-format off: a tensor a row
#define LINNET_LAYER_INPUT_ROLES(X)                                                                                                       \
  X(kInputGate, "inp_gate.weight", kRoleMatrix, kPartFfn, kStepDown, layer_embd, d_model, has_layer_embd)                                 \
  X(kInputProj, "proj.weight", kRoleMatrix, kPartFfn, kStepDown, d_model, layer_embd, has_layer_embd)                                     \
  X(kInputNorm, "post_norm.weight", kRoleNorm, kPartFfn, kStepVectors, d_model, one, has_layer_embd)                                      \
  X(kLayerScale, "layer_output_scale.weight", 0, kPartFfn, kStepVectors, one, one, has_layer_scale)
// clang-format on

namespace linnet {

struct Loader;

struct LayerInput {
  Matrix gate, proj;  // (layer_embd, d_model), (d_model, layer_embd), or empty
  const float* norm;  // (d_model)
  float scale;        // of the layer; 1 where the model has none, or 0
};

extern const TensorRole kLayerInputRoles[];
Status load_layer_input(Loader& in, uint32_t layer, LayerInput* out);

}  // namespace linnet
