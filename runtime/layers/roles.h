// The matrices and vectors of a decoder as rows, named as in GGUF; each layer kind lists its own in its header here, spec.h those of the
// whole model. Layer tensors exist once per layer as blk.<i>.<name>.
#pragma once
#include <cstdint>

namespace linnet {

struct ModelSpec;
struct LayerSpec;

// What matrices are for, as figures tell them apart.
enum Part : uint8_t { kPartEmbedding, kPartAttention, kPartFfn, kPartHead, kPartCount };
// The step of a pass that reads a tensor, as `linnet plan` tells them apart.
enum Step : uint8_t {
  kStepEmbed,
  kStepVectors,
  kStepQkv,
  kStepAttention,
  kStepAttentionOut,
  kStepRouter,
  kStepGateUp,
  kStepDown,
  kStepExpertsGateUp,
  kStepExpertsDown,
  kStepShared,
  kStepHead,
  kStepCount
};
enum RoleFlag : uint8_t {
  kRoleMatrix = 1,     // else a vector, which is f32
  kRoleF32 = 2,        // a matrix that is f32 in every file
  kRoleOfExperts = 4,  // of every expert, one below the other
  kRoleNorm = 8,       // the weights of a norm
  kRoleOfLayer = 16    // once per layer
};

struct TensorRole {
  using Size = uint32_t (*)(const ModelSpec&, const LayerSpec&);
  const char* name;  // "attn_q.weight"; layer tensors without "blk.<i>."
  uint8_t flags;
  Part part;
  Step step;
  Size n, k;  // outputs, or length of a vector; inputs, 1 for vectors
  bool (*present)(const ModelSpec&, const LayerSpec&);
  bool matrix() const { return flags & kRoleMatrix; }
  bool per_layer() const { return flags & kRoleOfLayer; }
  bool f32() const { return flags & kRoleF32; }
  bool of_experts() const { return flags & kRoleOfExperts; }
  bool norm() const { return flags & kRoleNorm; }
};
#define LINNET_NO_ROLES(X)  // of kinds without tensors
#define LINNET_ROLE_NAME(id, ...) id,
#define LINNET_ROLE_PLUS_ONE(...) +1
#define LINNET_LAYER_ROLE(id, name, flags, part, step, n, k, present) {name, (flags) | kRoleOfLayer, part, step, n, k, present},
#define LINNET_MODEL_ROLE(id, name, flags, part, step, n, k, present) {name, (flags), part, step, n, k, present},

}  // namespace linnet
