// Architectures: how the published families of decoders differ, as data. A new family is one row of kArchitectures; where it needs an
// operation that no row has had, ModelSpec gets a field and forward() a step.
#pragma once
#include <cstdint>
#include <string_view>

#include "spec.h"

namespace linnet {

enum class Has : uint8_t { kNever, kAlways, kByKey };  // kByKey: config.json says

// A tensor of a Hugging Face checkpoint. Names of layer tensors leave out "model.layers.<i>."; # is the number of an expert. A role may have several names, of
// which a checkpoint has one.
struct HfTensor {
  const char* name;
  Role role;
  uint8_t part = 0;  // of a tensor that holds gate and up: 1 the first, 2 the second
};

// How a tensor that holds a matrix of every expert lies in a checkpoint.
enum class HfStack : uint8_t {
  kRows,     // [experts, outputs, inputs], gate's outputs before up's
  kColumns,  // [experts, inputs, outputs], gate's before up's
  kPairs,    // [experts, inputs, outputs], gate's and up's in turns
};

// Layers with experts: what of them config.json does not say.
struct HfExperts {
  const char* count = nullptr;               // key of how many experts there are; nullptr: the family has none
  const char* ff = "moe_intermediate_size";  // key of an expert's d_ff
  RouterKind router = kRouterSoftmax;
  Has norm = Has::kByKey;                    // by key: norm_topk_prob
  bool norm_absent = false;
  uint32_t group_best = 0;                   // how groups of experts are compared, ModelSpec's router_group_best; 0: no groups
  bool correction = false;
  bool shared_gate = false;
  uint32_t n_absent = 0, active_absent = 0;  // where keys are absent
  HfStack stack = HfStack::kRows;
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
  HfExperts experts = {};
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
HfName hf_tensor_role(std::string_view name, Role* role, uint32_t* layer, const HfTensor** row = nullptr, uint32_t* expert = nullptr);
// The reverse, "model.layers.3.self_attn.q_proj.weight", into out (kRoleNameBytes); "" for kRopeFreqs, which checkpoints compute. A role's names are numbered
// from 0; nullptr where there is none of this number.
const HfTensor* hf_tensor_name(Role role, uint32_t layer, char* out, uint32_t number = 0, uint32_t expert = 0);

}  // namespace linnet
