// Several residual streams (Gemma 3n's AltUp): a layer works on the first one alone, predicts all of them from all before its steps, and
// corrects all by what its steps changed in the first. LAuReL: a branch of low rank beside attention.
#pragma once
#include "../../platform/status.h"
#include "../tensor.h"
#include "roles.h"

// Name, GGUF name, flags, part, step, outputs, inputs, whether the model or a layer has it.
// clang-format off: a tensor a row
#define LINNET_STREAM_MODEL_ROLES(X)                                                                                                      \
  X(kStreamsIn, "altup_proj.weight", kRoleMatrix, kPartAttention, kStepEmbed, other_streams, d_model, has_streams)                        \
  X(kStreamsOut, "altup_unembd_proj.weight", kRoleMatrix, kPartAttention, kStepHead, other_streams, d_model, has_streams)
#define LINNET_STREAM_ROLES(X)                                                                                                            \
  X(kStreamRouter, "altup_router.weight", kRoleMatrix | kRoleF32, kPartAttention, kStepRouter, streams, d_model, has_streams)             \
  X(kStreamRouterNorm, "altup_router_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_streams)                    \
  X(kStreamPredict, "altup_predict_coef.weight", 0, kPartAttention, kStepVectors, predict_coefs, one, has_streams)                        \
  X(kStreamCorrect, "altup_correct_coef.weight", 0, kPartAttention, kStepVectors, correct_coefs, one, has_streams)                        \
  X(kStreamScale, "altup_correct_scale.weight", 0, kPartFfn, kStepVectors, d_model, one, has_streams)                                     \
  X(kLaurelIn, "laurel_l.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, laurel_rank, d_model, has_streams)                      \
  X(kLaurelOut, "laurel_r.weight", kRoleMatrix, kPartAttention, kStepAttentionOut, d_model, laurel_rank, has_streams)                     \
  X(kLaurelNorm, "laurel_post_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_streams)
// clang-format on

namespace linnet {

struct Loader;
struct Needs;

struct StreamTensors {
  Matrix router;                 // (kStreams, d_model), or empty: there is one stream
  const float* router_norm;      // (d_model)
  const float* predict;          // (kStreams, kStreams, kStreams): to, from, by what the router says
  const float* correct;          // (kStreams, kStreams): to, by what the router says
  const float* scale;            // (d_model) of the first stream for what reads the layer's inputs
  Matrix laurel_in, laurel_out;  // (laurel_rank, d_model) and back
  const float* laurel_norm;      // (d_model)
};

extern const TensorRole kStreamRoles[];
Status load_streams(Loader& in, uint32_t layer, StreamTensors* out);

}  // namespace linnet
