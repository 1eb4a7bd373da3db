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
    // Mixtral 8x7B, 8x22B
    {.name = "mixtral", .hf_class = "MixtralForCausalLM", .gguf = "llama",
     .rope_hf = kRopeHalves, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kNever, .out_bias = Has::kNever, .mlp_bias = Has::kNever, .qk_norm = false, .window_by_switch = false,
     .absent = {.norm_eps = 1e-5, .rope_base = 1e6, .n_context = 131072, .n_kv_heads = 8},
     .experts = {.count = "num_local_experts", .ff = "intermediate_size", .norm = Has::kAlways, .n_absent = 8, .active_absent = 2}},
    // Qwen1.5-MoE, Qwen2-MoE: a shared expert behind a gate
    {.name = "qwen2_moe", .hf_class = "Qwen2MoeForCausalLM", .gguf = "qwen2moe",
     .rope_hf = kRopeHalves, .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kAlways, .out_bias = Has::kNever, .mlp_bias = Has::kNever, .qk_norm = false, .window_by_switch = true,
     .absent = {.n_context = 32768, .n_kv_heads = 16, .window = 4096},
     .experts = {.count = "num_experts", .shared_gate = true, .n_absent = 60, .active_absent = 4}},
    // Qwen3-MoE
    {.name = "qwen3_moe", .hf_class = "Qwen3MoeForCausalLM", .gguf = "qwen3moe",
     .rope_hf = kRopeHalves, .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey, .out_bias = Has::kByKey, .mlp_bias = Has::kNever, .qk_norm = true, .window_by_switch = true,
     .absent = {.n_context = 32768, .n_kv_heads = 4, .window = 4096},
     .experts = {.count = "num_experts", .n_absent = 128, .active_absent = 8}},
    // DeepSeek-V2, V2-Lite
    {.name = "deepseek_v2", .hf_class = "DeepseekV2ForCausalLM", .gguf = "deepseek2",
     .rope_hf = kRopePairs, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kNever, .out_bias = Has::kNever, .mlp_bias = Has::kByKey, .qk_norm = false, .window_by_switch = false,
     .absent = {}, .experts = {.count = "n_routed_experts", .norm = Has::kNever, .group_best = 1}, .latent = true},
    // DeepSeek-V3, R1
    {.name = "deepseek_v3", .hf_class = "DeepseekV3ForCausalLM", .gguf = "deepseek2",
     .rope_hf = kRopePairs, .rope_gguf = kRopePairs,
     .qkv_bias = Has::kNever, .out_bias = Has::kNever, .mlp_bias = Has::kNever, .qk_norm = false, .window_by_switch = false,
     .absent = {.n_context = 4096}, .experts = {.count = "n_routed_experts", .router = kRouterSigmoid, .norm_absent = true, .group_best = 2, .correction = true},
     .latent = true},
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
    {"mlp.gate.weight", kRouter},
    {"block_sparse_moe.gate.weight", kRouter},  // Mixtral
    {"mlp.router.weight", kRouter},             // gpt-oss
    {"mlp.router.bias", kRouterBias},
    {"mlp.gate.e_score_correction_bias", kRouterCorrection},
    {"mlp.experts.#.gate_proj.weight", kExpertGate},
    {"mlp.experts.#.up_proj.weight", kExpertUp},
    {"mlp.experts.#.down_proj.weight", kExpertDown},
    {"block_sparse_moe.experts.#.w1.weight", kExpertGate},  // Mixtral
    {"block_sparse_moe.experts.#.w3.weight", kExpertUp},
    {"block_sparse_moe.experts.#.w2.weight", kExpertDown},
    {"mlp.experts.gate_up_proj", kExpertGate, 1},  // as newer versions of transformers hold them
    {"mlp.experts.gate_up_proj", kExpertUp, 2},
    {"mlp.experts.down_proj", kExpertDown},
    {"mlp.experts.gate_up_proj_bias", kExpertGateBias, 1},
    {"mlp.experts.gate_up_proj_bias", kExpertUpBias, 2},
    {"mlp.experts.down_proj_bias", kExpertDownBias},
    {"mlp.shared_expert_gate.weight", kSharedGateInp},
    {"mlp.shared_expert.gate_proj.weight", kSharedGate},
    {"mlp.shared_expert.up_proj.weight", kSharedUp},
    {"mlp.shared_expert.down_proj.weight", kSharedDown},
    {"mlp.shared_experts.gate_proj.weight", kSharedGate},  // DeepSeek
    {"mlp.shared_experts.up_proj.weight", kSharedUp},
    {"mlp.shared_experts.down_proj.weight", kSharedDown},
};

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

// A number without leading zeros at the front of *text, taken off; two names must not mean the same tensor.
static bool take_number(std::string_view* text, uint32_t* out) {
  size_t digits = 0;
  *out = 0;
  while (digits < text->size() && digits < 6 && (*text)[digits] >= '0' && (*text)[digits] <= '9') *out = *out * 10 + static_cast<uint32_t>((*text)[digits++] - '0');
  if (digits == 0 || (digits > 1 && text->front() == '0')) return false;
  text->remove_prefix(digits);
  return true;
}

HfName hf_tensor_role(std::string_view name, Role* role, uint32_t* layer, const HfTensor** row, uint32_t* expert) {
  *layer = 0;
  const bool in_layer = name.starts_with(kLayerPrefix);
  if (in_layer) {
    name.remove_prefix(kLayerPrefix.size());
    if (!take_number(&name, layer) || !name.starts_with('.')) return HfName::kUnknown;
    name.remove_prefix(1);
    if (name == kIgnoredLayerTensor) return HfName::kIgnored;
  }
  for (const HfTensor& t : kHfTensors) {
    if (kRoles[t.role].per_layer != in_layer) continue;
    std::string_view rest = name, pattern = t.name;
    uint32_t number = 0;
    if (const size_t at = pattern.find('#'); at != pattern.npos) {
      if (!rest.starts_with(pattern.substr(0, at))) continue;
      rest.remove_prefix(at);
      if (!take_number(&rest, &number)) continue;
      pattern.remove_prefix(at + 1);
    }
    if (rest != pattern) continue;
    *role = t.role;
    if (row) *row = &t;
    if (expert) *expert = number;
    return HfName::kKnown;
  }
  return HfName::kUnknown;
}

const HfTensor* hf_tensor_name(Role role, uint32_t layer, char* out, uint32_t number, uint32_t expert) {
  const auto put = [&out](std::string_view s) {
    for (const char c : s) *out++ = c;
  };
  const auto put_number = [&](uint32_t n) {
    char digits[10];
    size_t count = 0;
    do digits[count++] = static_cast<char>('0' + n % 10);
    while (n /= 10);
    while (count) *out++ = digits[--count];
  };
  const HfTensor* found = nullptr;
  for (const HfTensor& t : kHfTensors)
    if (t.role == role && number-- == 0) {
      found = &t;
      break;
    }
  if (found) {
    if (kRoles[role].per_layer) {
      put(kLayerPrefix);
      put_number(layer);
      put(".");
    }
    for (const char c : std::string_view(found->name))
      if (c == '#') put_number(expert);
      else put({&c, 1});
  }
  *out = '\0';
  return found;
}

}  // namespace linnet
