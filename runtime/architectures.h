// Architectures: how the published families of decoders differ, as data. A new family is one row of kArchitectures; where it needs an
// operation that no row has had, ModelSpec gets a field and forward() a step.
#pragma once
#include <cstdint>
#include <string_view>

#include "spec.h"

namespace linnet {

enum class Has : uint8_t { kNever, kAlways, kByKey };  // kByKey: config.json says

// A tensor of a Hugging Face checkpoint. Names of layer tensors leave out "model.layers.<i>.".
struct HfTensor {
  const char* name;
  Role role;
};

// What transformers takes where config.json lacks a key. Sizes without a default here must be in the file.
struct HfDefaults {
  double norm_eps = 1e-6;
  double rope_base = 10000;
  uint32_t n_context = 2048;
  uint32_t n_kv_heads = 0;  // 0: n_heads
  uint32_t head_dim = 0;    // 0: d_model / n_heads
  uint32_t window = 0;      // sliding_window; 0: none
  bool tied = false;
};

struct Architecture {
  const char* name;        // config.json's model_type; what ModelSpec.architecture holds
  const char* hf_class;    // config.json's architectures[0]
  const char* gguf;        // general.architecture of GGUF files
  RopeKind rope_hf;        // which channels make a pair in HF checkpoints
  RopeKind rope_gguf;      // and in GGUF files: converters reorder the rows of q and k for some families
  Has qkv_bias, out_bias;  // kByKey: attention_bias
  Has mlp_bias;            // kByKey: mlp_bias
  bool qk_norm;            // RMSNorm per head of q and k before RoPE
  bool window_by_switch;   // a sliding window counts only with use_sliding_window
  HfDefaults absent;
  bool latent = false;     // multi-head latent attention: kv_lora_rank and its like are in config.json
};

extern const Architecture kArchitectures[];
extern const uint32_t kArchitectureCount;

// nullptr if unknown. GGUF has no name for Mistral, it is a "llama" there.
const Architecture* architecture_by_hf(std::string_view model_type);
const Architecture* architecture_by_hf_class(std::string_view hf_class);
const Architecture* architecture_by_gguf(std::string_view name);

// What a tensor name of a checkpoint stands for; *layer is 0 for tensors outside the layers.
enum class HfName { kKnown, kIgnored, kUnknown };  // kIgnored: known, and nothing that a decoder computes with
HfName hf_tensor_role(std::string_view name, Role* role, uint32_t* layer);
// The reverse, "model.layers.3.self_attn.q_proj.weight", into out (kRoleNameBytes); "" for kRopeFreqs, which checkpoints compute.
void hf_tensor_name(Role role, uint32_t layer, char* out);

}  // namespace linnet
