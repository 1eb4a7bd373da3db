#include "architectures.h"

namespace linnet {

constexpr Architecture kArchitectures[] = {
    // Llama 2, 3, 3.1, 3.2, SmolLM2, TinyLlama
    {.name = "llama", .hf_class = "LlamaForCausalLM", .gguf = "llama",
     .rope_hf = kRopeHalves, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey, .out_bias = Has::kByKey, .mlp_bias = Has::kByKey, .qk_norm = false, .window_by_switch = false,
     .absent = {}},
    // Mistral 7B, Ministral
    {.name = "mistral", .hf_class = "MistralForCausalLM", .gguf = "llama",
     .rope_hf = kRopeHalves, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kNever, .out_bias = Has::kNever, .mlp_bias = Has::kNever, .qk_norm = false, .window_by_switch = false,
     .absent = {.n_context = 131072, .n_kv_heads = 8, .window = 4096}},
    // Qwen2, Qwen2.5
    {.name = "qwen2", .hf_class = "Qwen2ForCausalLM", .gguf = "qwen2",
     .rope_hf = kRopeHalves, .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kAlways, .out_bias = Has::kNever, .mlp_bias = Has::kNever, .qk_norm = false, .window_by_switch = true,
     .absent = {.n_context = 32768, .n_kv_heads = 32, .window = 4096}},
    // Qwen3 (dense)
    {.name = "qwen3", .hf_class = "Qwen3ForCausalLM", .gguf = "qwen3",
     .rope_hf = kRopeHalves, .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey, .out_bias = Has::kByKey, .mlp_bias = Has::kNever, .qk_norm = true, .window_by_switch = true,
     .absent = {.n_context = 32768, .n_kv_heads = 32, .head_dim = 128, .window = 4096}},
    // DeepSeek-V2 without experts
    {.name = "deepseek_v2", .hf_class = "DeepseekV2ForCausalLM", .gguf = "deepseek2",
     .rope_hf = kRopePairs, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kNever, .out_bias = Has::kNever, .mlp_bias = Has::kByKey, .qk_norm = false, .window_by_switch = false,
     .absent = {}, .latent = true},
};
constexpr uint32_t kArchitectureCount = sizeof kArchitectures / sizeof kArchitectures[0];

namespace {

constexpr HfTensor kHfTensors[] = {
    {"model.embed_tokens.weight", kTokenEmbd},
    {"model.norm.weight", kOutputNorm},
    {"lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"self_attn.o_proj.bias", kAttnOutBias},
    {"self_attn.q_norm.weight", kAttnQNorm},
    {"self_attn.k_norm.weight", kAttnKNorm},
    {"self_attn.sinks", kAttnSinks},
    {"self_attn.q_a_proj.weight", kAttnQA},
    {"self_attn.q_a_layernorm.weight", kAttnQANorm},
    {"self_attn.q_b_proj.weight", kAttnQB},
    {"self_attn.kv_a_proj_with_mqa.weight", kAttnKvA},
    {"self_attn.kv_a_layernorm.weight", kAttnKvANorm},
    {"self_attn.kv_b_proj.weight", kAttnKB},
    {"self_attn.kv_b_proj.weight", kAttnVB},  // holds both
    {"post_attention_layernorm.weight", kFfnNorm},
    {"mlp.gate_proj.weight", kFfnGate},
    {"mlp.up_proj.weight", kFfnUp},
    {"mlp.down_proj.weight", kFfnDown},
    {"mlp.gate_proj.bias", kFfnGateBias},
    {"mlp.up_proj.bias", kFfnUpBias},
    {"mlp.down_proj.bias", kFfnDownBias},
};
static_assert(sizeof kHfTensors / sizeof kHfTensors[0] == kRoleCount - 1, "every role has a name in HF checkpoints, but kRopeFreqs");

constexpr std::string_view kLayerPrefix = "model.layers.";
constexpr std::string_view kIgnoredLayerTensor = "self_attn.rotary_emb.inv_freq";  // a table that old Llama files carry along

}  // namespace

const Architecture* architecture_by_hf(std::string_view model_type) {
  for (const Architecture& a : kArchitectures)
    if (model_type == a.name) return &a;
  return nullptr;
}

const Architecture* architecture_by_hf_class(std::string_view hf_class) {
  for (const Architecture& a : kArchitectures)
    if (hf_class == a.hf_class) return &a;
  return nullptr;
}

const Architecture* architecture_by_gguf(std::string_view name) {
  for (const Architecture& a : kArchitectures)
    if (name == a.gguf) return &a;
  return nullptr;
}

HfName hf_tensor_role(std::string_view name, Role* role, uint32_t* layer) {
  *layer = 0;
  const bool in_layer = name.starts_with(kLayerPrefix);
  if (in_layer) {
    name.remove_prefix(kLayerPrefix.size());
    size_t digits = 0;
    while (digits < name.size() && digits < 6 && name[digits] >= '0' && name[digits] <= '9')
      *layer = *layer * 10 + static_cast<uint32_t>(name[digits++] - '0');
    // "007" is not how layer 7 is written: two names must not mean the same tensor.
    if (digits == 0 || (digits > 1 && name[0] == '0') || digits >= name.size() || name[digits] != '.') return HfName::kUnknown;
    name.remove_prefix(digits + 1);
    if (name == kIgnoredLayerTensor) return HfName::kIgnored;
  }
  for (const HfTensor& t : kHfTensors) {
    if (kRoles[t.role].per_layer != in_layer || name != t.name) continue;
    *role = t.role;
    return HfName::kKnown;
  }
  return HfName::kUnknown;
}

void hf_tensor_name(Role role, uint32_t layer, char* out) {
  const auto put = [&out](std::string_view s) {
    for (const char c : s) *out++ = c;
  };
  if (kRoles[role].per_layer) {
    put(kLayerPrefix);
    char digits[10];
    size_t n = 0;
    do digits[n++] = static_cast<char>('0' + layer % 10);
    while (layer /= 10);
    while (n) *out++ = digits[--n];
    *out++ = '.';
  }
  for (const HfTensor& t : kHfTensors)
    if (t.role == role) put(t.name);
  *out = '\0';
}

}  // namespace linnet
