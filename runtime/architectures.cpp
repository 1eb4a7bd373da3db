#include "architectures.h"

namespace linnet {
namespace {

// ---- names of tensors -------------------------------------------------------------------------------------------------------

constexpr HfTensor kLlamaTensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"norm.bias", kOutputNormBias},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"input_layernorm.bias", kAttnNormBias},
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
    {"self_attn.q_layernorm.norms.*.weight", kAttnQNorm},
    {"self_attn.k_layernorm.norms.*.weight", kAttnKNorm},
    {"self_attn.query_layernorm.weight", kAttnQNorm},
    {"self_attn.key_layernorm.weight", kAttnKNorm},
    {"self_attn.sinks", kAttnSinks},
    {"self_attn.q_a_proj.weight", kAttnQA},
    {"self_attn.q_a_layernorm.weight", kAttnQANorm},
    {"self_attn.q_b_proj.weight", kAttnQB},
    {"self_attn.kv_a_proj_with_mqa.weight", kAttnKvA},
    {"self_attn.kv_a_layernorm.weight", kAttnKvANorm},
    {"self_attn.kv_b_proj.weight", kAttnKB},
    {"self_attn.kv_b_proj.weight", kAttnVB},  // holds both
    {"post_attention_layernorm.weight", kFfnNorm},
    {"post_attention_layernorm.bias", kFfnNormBias},
    {"mlp.gate_proj.weight", kFfnGate},
    {"mlp.up_proj.weight", kFfnUp},
    {"mlp.down_proj.weight", kFfnDown},
    {"mlp.gate_proj.bias", kFfnGateBias},
    {"mlp.up_proj.bias", kFfnUpBias},
    {"mlp.down_proj.bias", kFfnDownBias},
    {"mlp.gate.weight", kRouter},
    {"block_sparse_moe.gate.weight", kRouter},          // Mixtral
    {"block_sparse_moe.router.layer.weight", kRouter},  // Granite
    {"mlp.gate.e_score_correction_bias", kRouterCorrection},
    {"mlp.experts.*.gate_proj.weight", kExpertGate},
    {"mlp.experts.*.up_proj.weight", kExpertUp},
    {"mlp.experts.*.down_proj.weight", kExpertDown},
    {"block_sparse_moe.experts.*.w1.weight", kExpertGate},
    {"block_sparse_moe.experts.*.w3.weight", kExpertUp},
    {"block_sparse_moe.experts.*.w2.weight", kExpertDown},
    {"mlp.experts.gate_up_proj", kExpertGate, HfRows::kGateUp},  // as newer versions of transformers hold them
    {"mlp.experts.gate_up_proj", kExpertUp, HfRows::kGateUp},
    {"mlp.experts.down_proj", kExpertDown},
    {"block_sparse_moe.input_linear.weight", kExpertGate, HfRows::kGateUp},
    {"block_sparse_moe.input_linear.weight", kExpertUp, HfRows::kGateUp},
    {"block_sparse_moe.output_linear.weight", kExpertDown},
    {"mlp.shared_expert_gate.weight", kSharedGateInp},
    {"mlp.shared_expert.gate_proj.weight", kSharedGate},
    {"mlp.shared_expert.up_proj.weight", kSharedUp},
    {"mlp.shared_expert.down_proj.weight", kSharedDown},
    {"mlp.shared_experts.gate_proj.weight", kSharedGate},  // DeepSeek
    {"mlp.shared_experts.up_proj.weight", kSharedUp},
    {"mlp.shared_experts.down_proj.weight", kSharedDown},
};

constexpr HfTensor kGptOssTensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"self_attn.o_proj.bias", kAttnOutBias},
    {"self_attn.sinks", kAttnSinks},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"mlp.router.weight", kRouter},
    {"mlp.router.bias", kRouterBias},
    {"mlp.experts.gate_up_proj", kExpertGate, HfRows::kTurns, true},
    {"mlp.experts.gate_up_proj", kExpertUp, HfRows::kTurns, true},
    {"mlp.experts.down_proj", kExpertDown, HfRows::kOwn, true},
    {"mlp.experts.gate_up_proj_bias", kExpertGateBias, HfRows::kTurns},
    {"mlp.experts.gate_up_proj_bias", kExpertUpBias, HfRows::kTurns},
    {"mlp.experts.down_proj_bias", kExpertDownBias},
};

constexpr HfTensor kLlama4Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"self_attn.o_proj.bias", kAttnOutBias},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"feed_forward.gate_proj.weight", kFfnGate},
    {"feed_forward.up_proj.weight", kFfnUp},
    {"feed_forward.down_proj.weight", kFfnDown},
    {"feed_forward.router.weight", kRouter},
    {"feed_forward.experts.gate_up_proj", kExpertGate, HfRows::kGateUp, true},
    {"feed_forward.experts.gate_up_proj", kExpertUp, HfRows::kGateUp, true},
    {"feed_forward.experts.down_proj", kExpertDown, HfRows::kOwn, true},
    {"feed_forward.shared_expert.gate_proj.weight", kSharedGate},
    {"feed_forward.shared_expert.up_proj.weight", kSharedUp},
    {"feed_forward.shared_expert.down_proj.weight", kSharedDown},
};

constexpr HfTensor kGemma2Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
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
    {"post_attention_layernorm.weight", kAttnPostNorm},
    {"pre_feedforward_layernorm.weight", kFfnNorm},
    {"post_feedforward_layernorm.weight", kFfnPostNorm},
    {"mlp.gate_proj.weight", kFfnGate},
    {"mlp.up_proj.weight", kFfnUp},
    {"mlp.down_proj.weight", kFfnDown},
};

constexpr HfTensor kPhi3Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.qkv_proj.weight", kAttnQ, HfRows::kQkv},
    {"self_attn.qkv_proj.weight", kAttnK, HfRows::kQkv},
    {"self_attn.qkv_proj.weight", kAttnV, HfRows::kQkv},
    {"self_attn.o_proj.weight", kAttnOut},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"mlp.gate_up_proj.weight", kFfnGate, HfRows::kGateUp},
    {"mlp.gate_up_proj.weight", kFfnUp, HfRows::kGateUp},
    {"mlp.down_proj.weight", kFfnDown},
};

constexpr HfTensor kGlm4Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"post_self_attn_layernorm.weight", kAttnPostNorm},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"mlp.gate_up_proj.weight", kFfnGate, HfRows::kGateUp},
    {"mlp.gate_up_proj.weight", kFfnUp, HfRows::kGateUp},
    {"mlp.down_proj.weight", kFfnDown},
    {"post_mlp_layernorm.weight", kFfnPostNorm},
};

constexpr HfTensor kGpt2Tensors[] = {
    {"wte.weight", kTokenEmbd},
    {"wpe.weight", kPosEmbd},
    {"ln_f.weight", kOutputNorm},
    {"ln_f.bias", kOutputNormBias},
    {"/lm_head.weight", kOutput},
    {"ln_1.weight", kAttnNorm},
    {"ln_1.bias", kAttnNormBias},
    {"attn.c_attn.weight", kAttnQ, HfRows::kQkv, true},
    {"attn.c_attn.weight", kAttnK, HfRows::kQkv, true},
    {"attn.c_attn.weight", kAttnV, HfRows::kQkv, true},
    {"attn.c_attn.bias", kAttnQBias, HfRows::kQkv},
    {"attn.c_attn.bias", kAttnKBias, HfRows::kQkv},
    {"attn.c_attn.bias", kAttnVBias, HfRows::kQkv},
    {"attn.c_proj.weight", kAttnOut, HfRows::kOwn, true},
    {"attn.c_proj.bias", kAttnOutBias},
    {"ln_2.weight", kFfnNorm},
    {"ln_2.bias", kFfnNormBias},
    {"mlp.c_fc.weight", kFfnUp, HfRows::kOwn, true},
    {"mlp.c_fc.bias", kFfnUpBias},
    {"mlp.c_proj.weight", kFfnDown, HfRows::kOwn, true},
    {"mlp.c_proj.bias", kFfnDownBias},
};

constexpr HfTensor kGptNeoxTensors[] = {
    {"embed_in.weight", kTokenEmbd},
    {"final_layer_norm.weight", kOutputNorm},
    {"final_layer_norm.bias", kOutputNormBias},
    {"/embed_out.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"input_layernorm.bias", kAttnNormBias},
    {"attention.query_key_value.weight", kAttnQ, HfRows::kHeads},
    {"attention.query_key_value.weight", kAttnK, HfRows::kHeads},
    {"attention.query_key_value.weight", kAttnV, HfRows::kHeads},
    {"attention.query_key_value.bias", kAttnQBias, HfRows::kHeads},
    {"attention.query_key_value.bias", kAttnKBias, HfRows::kHeads},
    {"attention.query_key_value.bias", kAttnVBias, HfRows::kHeads},
    {"attention.dense.weight", kAttnOut},
    {"attention.dense.bias", kAttnOutBias},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"post_attention_layernorm.bias", kFfnNormBias},
    {"mlp.dense_h_to_4h.weight", kFfnUp},
    {"mlp.dense_h_to_4h.bias", kFfnUpBias},
    {"mlp.dense_4h_to_h.weight", kFfnDown},
    {"mlp.dense_4h_to_h.bias", kFfnDownBias},
};

constexpr HfTensor kGptjTensors[] = {
    {"wte.weight", kTokenEmbd},     {"ln_f.weight", kOutputNorm},    {"ln_f.bias", kOutputNormBias},     {"/lm_head.weight", kOutput},
    {"/lm_head.bias", kOutputBias}, {"ln_1.weight", kAttnNorm},      {"ln_1.bias", kAttnNormBias},       {"attn.q_proj.weight", kAttnQ},
    {"attn.k_proj.weight", kAttnK}, {"attn.v_proj.weight", kAttnV},  {"attn.out_proj.weight", kAttnOut}, {"mlp.fc_in.weight", kFfnUp},
    {"mlp.fc_in.bias", kFfnUpBias}, {"mlp.fc_out.weight", kFfnDown}, {"mlp.fc_out.bias", kFfnDownBias},
};

// BLOOM and Falcon, of which the one with two norms before parallel branches has names of its own for them.
constexpr HfTensor kBloomTensors[] = {
    {"word_embeddings.weight", kTokenEmbd},
    {"word_embeddings_layernorm.weight", kEmbdNorm},
    {"word_embeddings_layernorm.bias", kEmbdNormBias},
    {"ln_f.weight", kOutputNorm},
    {"ln_f.bias", kOutputNormBias},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"input_layernorm.bias", kAttnNormBias},
    {"ln_attn.weight", kAttnNorm},
    {"ln_attn.bias", kAttnNormBias},
    {"self_attention.query_key_value.weight", kAttnQ, HfRows::kHeads},
    {"self_attention.query_key_value.weight", kAttnK, HfRows::kHeads},
    {"self_attention.query_key_value.weight", kAttnV, HfRows::kHeads},
    {"self_attention.query_key_value.bias", kAttnQBias, HfRows::kHeads},
    {"self_attention.query_key_value.bias", kAttnKBias, HfRows::kHeads},
    {"self_attention.query_key_value.bias", kAttnVBias, HfRows::kHeads},
    {"self_attention.dense.weight", kAttnOut},
    {"self_attention.dense.bias", kAttnOutBias},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"post_attention_layernorm.bias", kFfnNormBias},
    {"ln_mlp.weight", kFfnNorm},
    {"ln_mlp.bias", kFfnNormBias},
    {"mlp.dense_h_to_4h.weight", kFfnUp},
    {"mlp.dense_h_to_4h.bias", kFfnUpBias},
    {"mlp.dense_4h_to_h.weight", kFfnDown},
    {"mlp.dense_4h_to_h.bias", kFfnDownBias},
};

// The norms of a layer stand before its branches or behind the sums.
constexpr HfTensor kOptTensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"embed_positions.weight", kPosEmbd},
    {"project_in.weight", kEmbdIn},
    {"project_out.weight", kEmbdOut},
    {"final_layer_norm.weight", kOutputNorm},
    {"final_layer_norm.bias", kOutputNormBias},
    {"/lm_head.weight", kOutput},
    {"self_attn_layer_norm.weight", kAttnNorm},
    {"self_attn_layer_norm.bias", kAttnNormBias},
    {"self_attn_layer_norm.weight", kAttnPostNorm},
    {"self_attn_layer_norm.bias", kAttnPostNormBias},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.out_proj.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"self_attn.out_proj.bias", kAttnOutBias},
    {"final_layer_norm.weight", kFfnNorm},
    {"final_layer_norm.bias", kFfnNormBias},
    {"final_layer_norm.weight", kFfnPostNorm},
    {"final_layer_norm.bias", kFfnPostNormBias},
    {"fc1.weight", kFfnUp},
    {"fc1.bias", kFfnUpBias},
    {"fc2.weight", kFfnDown},
    {"fc2.bias", kFfnDownBias},
};

constexpr HfTensor kMptTensors[] = {
    {"wte.weight", kTokenEmbd},
    {"norm_f.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"norm_1.weight", kAttnNorm},
    {"attn.Wqkv.weight", kAttnQ, HfRows::kQkv},
    {"attn.Wqkv.weight", kAttnK, HfRows::kQkv},
    {"attn.Wqkv.weight", kAttnV, HfRows::kQkv},
    {"attn.out_proj.weight", kAttnOut},
    {"norm_2.weight", kFfnNorm},
    {"ffn.up_proj.weight", kFfnUp},
    {"ffn.down_proj.weight", kFfnDown},
};

// StarCoder2 and Phi-2: Llama's names but for a few.
constexpr HfTensor kPhiTensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"norm.bias", kOutputNormBias},
    {"final_layernorm.weight", kOutputNorm},
    {"final_layernorm.bias", kOutputNormBias},
    {"/lm_head.weight", kOutput},
    {"/lm_head.bias", kOutputBias},
    {"input_layernorm.weight", kAttnNorm},
    {"input_layernorm.bias", kAttnNormBias},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.dense.weight", kAttnOut},
    {"self_attn.q_proj.bias", kAttnQBias},
    {"self_attn.k_proj.bias", kAttnKBias},
    {"self_attn.v_proj.bias", kAttnVBias},
    {"self_attn.o_proj.bias", kAttnOutBias},
    {"self_attn.dense.bias", kAttnOutBias},
    {"self_attn.q_layernorm.weight", kAttnQNorm},
    {"self_attn.q_layernorm.bias", kAttnQNormBias},
    {"self_attn.k_layernorm.weight", kAttnKNorm},
    {"self_attn.k_layernorm.bias", kAttnKNormBias},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"post_attention_layernorm.bias", kFfnNormBias},
    {"mlp.c_fc.weight", kFfnUp},
    {"mlp.c_fc.bias", kFfnUpBias},
    {"mlp.fc1.weight", kFfnUp},
    {"mlp.fc1.bias", kFfnUpBias},
    {"mlp.c_proj.weight", kFfnDown},
    {"mlp.c_proj.bias", kFfnDownBias},
    {"mlp.fc2.weight", kFfnDown},
    {"mlp.fc2.bias", kFfnDownBias},
};

constexpr HfTensor kLfm2Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"embedding_norm.weight", kOutputNorm},  // which is none of the embeddings
    {"/lm_head.weight", kOutput},
    {"operator_norm.weight", kAttnNorm},
    {"conv.in_proj.weight", kConvIn},
    {"conv.conv.weight", kConvTaps},
    {"conv.out_proj.weight", kConvOut},
    {"self_attn.q_proj.weight", kAttnQ},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.out_proj.weight", kAttnOut},
    {"self_attn.q_layernorm.weight", kAttnQNorm},
    {"self_attn.k_layernorm.weight", kAttnKNorm},
    {"ffn_norm.weight", kFfnNorm},
    {"feed_forward.w1.weight", kFfnGate},
    {"feed_forward.w3.weight", kFfnUp},
    {"feed_forward.w2.weight", kFfnDown},
    {"feed_forward.gate.weight", kRouter},
    {"feed_forward.expert_bias", kRouterCorrection},
    {"feed_forward.experts.*.w1.weight", kExpertGate},
    {"feed_forward.experts.*.w3.weight", kExpertUp},
    {"feed_forward.experts.*.w2.weight", kExpertDown},
    {"feed_forward.experts.gate_up_proj", kExpertGate, HfRows::kGateUp},  // as transformers 5 has them in memory
    {"feed_forward.experts.gate_up_proj", kExpertUp, HfRows::kGateUp},
    {"feed_forward.experts.down_proj", kExpertDown},
};

constexpr HfTensor kQwen35Tensors[] = {
    {"embed_tokens.weight", kTokenEmbd},
    {"norm.weight", kOutputNorm},
    {"/lm_head.weight", kOutput},
    {"input_layernorm.weight", kAttnNorm},
    {"self_attn.q_proj.weight", kAttnQ, HfRows::kGated},
    {"self_attn.q_proj.weight", kAttnGate, HfRows::kGated},
    {"self_attn.k_proj.weight", kAttnK},
    {"self_attn.v_proj.weight", kAttnV},
    {"self_attn.o_proj.weight", kAttnOut},
    {"self_attn.q_norm.weight", kAttnQNorm},
    {"self_attn.k_norm.weight", kAttnKNorm},
    {"linear_attn.in_proj_qkv.weight", kDeltaIn},
    {"linear_attn.in_proj_z.weight", kDeltaGate},
    {"linear_attn.in_proj_b.weight", kDeltaBeta},
    {"linear_attn.in_proj_a.weight", kDeltaAlpha},
    {"linear_attn.conv1d.weight", kDeltaTaps},
    {"linear_attn.dt_bias", kDeltaDt},
    {"linear_attn.A_log", kDeltaA},
    {"linear_attn.norm.weight", kDeltaNorm},
    {"linear_attn.out_proj.weight", kDeltaOut},
    {"post_attention_layernorm.weight", kFfnNorm},
    {"mlp.gate_proj.weight", kFfnGate},
    {"mlp.up_proj.weight", kFfnUp},
    {"mlp.down_proj.weight", kFfnDown},
};

#define LINNET_NAMES(list) list, sizeof list / sizeof list[0]
constexpr HfNames kLlamaNames = {{"model.", nullptr}, "layers.", LINNET_NAMES(kLlamaTensors), {"self_attn.rotary_emb.inv_freq"}};
constexpr HfNames kGptOssNames = {{"model.", nullptr}, "layers.", LINNET_NAMES(kGptOssTensors), {}};
constexpr HfNames kLlama4Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kLlama4Tensors), {}};
constexpr HfNames kGemma2Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kGemma2Tensors), {"self_attn.rotary_emb.inv_freq"}};
constexpr HfNames kPhi3Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kPhi3Tensors), {"self_attn.rotary_emb.inv_freq"}};
constexpr HfNames kGlm4Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kGlm4Tensors), {}};
constexpr HfNames kGpt2Names = {{"transformer.", ""}, "h.", LINNET_NAMES(kGpt2Tensors), {"attn.bias", "attn.masked_bias"}};
constexpr HfNames kGptNeoxNames = {{"gpt_neox.", nullptr},
                                   "layers.",
                                   LINNET_NAMES(kGptNeoxTensors),
                                   {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"}};
constexpr HfNames kGptjNames = {{"transformer.", nullptr}, "h.", LINNET_NAMES(kGptjTensors), {"attn.bias", "attn.masked_bias"}};
constexpr HfNames kBloomNames = {{"transformer.", ""}, "h.", LINNET_NAMES(kBloomTensors), {"self_attention.rotary_emb.inv_freq"}};
constexpr HfNames kOptNames = {{"model.decoder.", "decoder."}, "layers.", LINNET_NAMES(kOptTensors), {}};
constexpr HfNames kMptNames = {{"transformer.", nullptr}, "blocks.", LINNET_NAMES(kMptTensors), {}};
constexpr HfNames kPhiNames = {{"model.", nullptr}, "layers.", LINNET_NAMES(kPhiTensors), {"self_attn.rotary_emb.inv_freq"}};
constexpr HfNames kLfm2Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kLfm2Tensors), {}};
constexpr HfNames kQwen35Names = {{"model.", nullptr}, "layers.", LINNET_NAMES(kQwen35Tensors), {}, {"mtp."}};
#undef LINNET_NAMES

// ---- names of config.json's keys -----------------------------------------------------------------------------------------------

constexpr HfAlias kGptKeys[] = {{"n_embd", "hidden_size"},
                                {"n_layer", "num_hidden_layers"},
                                {"n_head", "num_attention_heads"},
                                {"n_inner", "intermediate_size"},
                                {"n_positions", "max_position_embeddings"},
                                {"layer_norm_epsilon", "rms_norm_eps"},
                                {"activation_function", "hidden_act"},
                                {}};
constexpr HfAlias kNeoxKeys[] = {
    {"layer_norm_eps", "rms_norm_eps"}, {"rotary_emb_base", "rope_theta"}, {"rotary_pct", "partial_rotary_factor"}, {}};
constexpr HfAlias kCohere2Keys[] = {{"layer_norm_eps", "rms_norm_eps"},
                                    {"layer_switch", "sliding_window_pattern"},
                                    {"rotary_pct", "partial_rotary_factor"},
                                    {"use_embedding_sharing", "tie_word_embeddings"},
                                    {}};
constexpr HfAlias kHunyuanKeys[] = {{"attention_head_dim", "head_dim"}, {}};
constexpr HfAlias kGptOssKeys[] = {{"experts_per_token", "num_experts_per_tok"}, {}};
constexpr HfAlias kLlama4Keys[] = {{"attention_chunk_size", "sliding_window"},
                                   {"no_rope_layer_interval", "sliding_window_pattern"},
                                   {"interleave_moe_layer_step", "decoder_sparse_step"},
                                   {}};
constexpr HfAlias kFalconKeys[] = {{"n_embed", "hidden_size"},
                                   {"n_layer", "num_hidden_layers"},
                                   {"n_head", "num_attention_heads"},
                                   {"num_kv_heads", "num_key_value_heads"},
                                   {"ffn_hidden_size", "intermediate_size"},
                                   {"layer_norm_epsilon", "rms_norm_eps"},
                                   {"activation", "hidden_act"},
                                   {}};
constexpr HfAlias kBloomKeys[] = {{"n_embed", "hidden_size"},
                                  {"n_layer", "num_hidden_layers"},
                                  {"n_head", "num_attention_heads"},
                                  {"seq_length", "max_position_embeddings"},
                                  {"layer_norm_epsilon", "rms_norm_eps"},
                                  {}};
constexpr HfAlias kMptKeys[] = {{"d_model", "hidden_size"},
                                {"n_layers", "num_hidden_layers"},
                                {"n_heads", "num_attention_heads"},
                                {"max_seq_len", "max_position_embeddings"},
                                {"layer_norm_epsilon", "rms_norm_eps"},
                                {}};
// As newer and older files of LFM2 have them.
constexpr HfAlias kLfm2Keys[] = {{"norm_eps", "rms_norm_eps"},
                                 {"block_norm_eps", "rms_norm_eps"},
                                 {"theta", "rope_theta"},
                                 {"num_heads", "num_attention_heads"},
                                 {"block_dim", "hidden_size"},
                                 {"block_ff_dim", "intermediate_size"},
                                 {"tie_embedding", "tie_word_embeddings"},
                                 {"num_dense_layers", "first_k_dense_replace"},
                                 {}};
constexpr HfAlias kOptKeys[] = {{"ffn_dim", "intermediate_size"}, {"activation_function", "hidden_act"}, {}};
constexpr HfAlias kStarcoderKeys[] = {{"norm_epsilon", "rms_norm_eps"}, {}};
constexpr HfAlias kLayerNormKeys[] = {{"layer_norm_eps", "rms_norm_eps"}, {}};
constexpr HfAlias kGemmaKeys[] = {{"hidden_activation", "hidden_act"}, {}};

}  // namespace

// ---- the families ----------------------------------------------------------------------------------------------------------------

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // a row's spec has what it differs in

constexpr Architecture kArchitectures[] = {
    // Llama 2, 3, 3.1, 3.2, SmolLM2, TinyLlama
    {.name = "llama",
     .hf_class = "LlamaForCausalLM",
     .gguf = "llama",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .mlp_bias = Has::kByKey},
    // Mistral 7B, Ministral
    {.name = "mistral",
     .hf_class = "MistralForCausalLM",
     .gguf = "llama",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .absent = {.n_context = 131072, .n_kv_heads = 8, .window = 4096}},
    // Ministral 3
    {.name = "ministral3",
     .hf_class = "Ministral3ForCausalLM",
     .gguf = "mistral3",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .window_by_key = true,
     .rope_temperature = true,
     .spec = {.temp_all = 1},
     .absent = {.norm_eps = 1e-5, .n_context = 262144, .n_kv_heads = 8, .head_dim = 128},
     .form = {.numbers = {{"attention.temperature_scale", &ModelSpec::temp_scale}}}},
    // Qwen2, Qwen2.5
    {.name = "qwen2",
     .hf_class = "Qwen2ForCausalLM",
     .gguf = "qwen2",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kAlways,
     .window_by_switch = true,
     .absent = {.n_context = 32768, .n_kv_heads = 32, .window = 4096}},
    // Qwen3 (dense)
    {.name = "qwen3",
     .hf_class = "Qwen3ForCausalLM",
     .gguf = "qwen3",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .window_by_switch = true,
     .spec = {.qk_norm = kQkNormHead},
     .absent = {.n_context = 32768, .n_kv_heads = 32, .head_dim = 128, .window = 4096}},
    // Qwen3.5, 3.6 and 3.8, dense: gated delta nets beside gated attention
    {.name = "qwen3_5_text",
     .hf_class = "Qwen3_5ForCausalLM",
     .gguf = "qwen35",
     .names = &kQwen35Names,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .norm_plus_one = true,
     .delta = true,
     .spec = {.qk_norm = kQkNormHead,
              .conv_taps = 4,
              .delta_key_heads = 16,
              .delta_value_heads = 32,
              .delta_key_dim = 128,
              .delta_value_dim = 128,
              .attn_gate = 1},
     .ignored = {"mamba_ssm_dtype", "mtp_num_hidden_layers"},
     .only = {{"attn_output_gate", "true"}, {"mtp_use_dedicated_embeddings", "false"}, {"mlp_only_layers", "[]"}},
     .absent = {.rope_base = 1e7, .rotary = 0.25, .n_context = 32768, .n_kv_heads = 4, .head_dim = 256},
     .form = {.none = true}},
    // LFM2, LFM2.5: short convolutions beside attention
    {.name = "lfm2",
     .hf_class = "Lfm2ForCausalLM",
     .gguf = "lfm2",
     .names = &kLfm2Names,
     .aliases = kLfm2Keys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .short_conv = true,
     .spec = {.qk_norm = kQkNormHead, .conv_taps = 3},
     .only = {{"conv_bias", "false"}, {"block_use_swiglu", "true"}, {"use_pos_enc", "true"}},
     .absent = {.norm_eps = 1e-5, .rope_base = 1e6, .n_context = 128000, .n_kv_heads = 8, .tied = true},
     .form = {.names = {{kOutputNorm, "token_embd_norm.weight"}}}},
    // LFM2-8B-A1B, LFM2-24B-A2B
    {.name = "lfm2_moe",
     .hf_class = "Lfm2MoeForCausalLM",
     .gguf = "lfm2moe",
     .names = &kLfm2Names,
     .aliases = kLfm2Keys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .short_conv = true,
     .spec = {.qk_norm = kQkNormHead, .router_kind = kRouterSigmoid, .router_correction = 1, .conv_taps = 3},
     .flags = {{"use_expert_bias", true, &ModelSpec::router_correction, 1, 0}},
     .only = {{"conv_bias", "false"}},
     .absent = {.norm_eps = 1e-5, .rope_base = 1e6, .n_context = 128000, .n_kv_heads = 8, .tied = true},
     .experts = {.count = "num_experts", .norm_absent = true, .n_absent = 32, .active_absent = 4},
     .form = {.names = {{kOutputNorm, "token_embd_norm.weight"}}}},
    // Mixtral 8x7B, 8x22B
    {.name = "mixtral",
     .hf_class = "MixtralForCausalLM",
     .gguf = "llama",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .window_by_key = true,
     .absent = {.norm_eps = 1e-5, .rope_base = 1e6, .n_context = 131072, .n_kv_heads = 8},
     .experts = {.count = "num_local_experts", .ff = "intermediate_size", .norm = Has::kAlways, .n_absent = 8, .active_absent = 2}},
    // Qwen1.5-MoE, Qwen2-MoE: a shared expert behind a gate
    {.name = "qwen2_moe",
     .hf_class = "Qwen2MoeForCausalLM",
     .gguf = "qwen2moe",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .window_by_switch = true,
     .flags = {{"qkv_bias", true, &ModelSpec::qkv_bias, 1, 0}},
     .absent = {.n_context = 32768, .n_kv_heads = 16, .window = 4096},
     .experts = {.count = "num_experts", .shared_gate = true, .n_absent = 60, .active_absent = 4, .norm_in_gguf = false}},
    // Qwen3-MoE
    {.name = "qwen3_moe",
     .hf_class = "Qwen3MoeForCausalLM",
     .gguf = "qwen3moe",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .window_by_switch = true,
     .spec = {.qk_norm = kQkNormHead},
     .absent = {.n_context = 32768, .n_kv_heads = 4, .window = 4096},
     .experts = {.count = "num_experts", .n_absent = 128, .active_absent = 8}},
    // Granite 3 MoE
    {.name = "granitemoe",
     .hf_class = "GraniteMoeForCausalLM",
     .gguf = "granitemoe",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .spec = {.attn_scale = 1},
     .numbers = {"attention_multiplier", "embedding_multiplier", "logits_scaling", "residual_multiplier"},
     .experts = {.count = "num_local_experts", .ff = "intermediate_size", .norm = Has::kAlways, .n_absent = 8, .active_absent = 2},
     .form = {.numbers = {{"attention.scale", &ModelSpec::attn_scale},
                          {"embedding_scale", &ModelSpec::embd_scale},
                          {"residual_scale", &ModelSpec::residual_scale},
                          {"logit_scale", &ModelSpec::logit_scale, true}}}},
    // gpt-oss 20b, 120b
    {.name = "gpt_oss",
     .hf_class = "GptOssForCausalLM",
     .gguf = "gpt-oss",
     .names = &kGptOssNames,
     .aliases = kGptOssKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .spec = {.activation = kActSwigluClamped, .attn_sinks = 1, .router_bias = 1, .expert_bias = 1, .act_limit = 7},
     .numbers = {"swiglu_limit"},
     .flags = {{"attention_bias", true, &ModelSpec::qkv_bias, 1, 0}, {"attention_bias", true, &ModelSpec::out_bias, 1, 0}},
     .only = {{"swiglu_alpha", "1.702"}},
     .absent =
         {.norm_eps = 1e-5, .rope_base = 150000, .n_context = 131072, .n_kv_heads = 8, .head_dim = 64, .window = 128, .window_pattern = 2},
     .experts = {.count = "num_local_experts", .ff = "intermediate_size", .norm = Has::kAlways, .n_absent = 128, .active_absent = 4},
     .form = {.yarn_untruncated = true, .names = {{kFfnNorm, "post_attention_norm.weight"}}}},
    // Llama 4, the text model: chunks, layers without RoPE or chunks, where queries have a temperature; one expert beside a shared one
    {.name = "llama4_text",
     .hf_class = "Llama4ForCausalLM",
     .gguf = "llama4",
     .names = &kLlama4Names,
     .aliases = kLlama4Keys,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .nope_without_window = true,
     .qk_norm_of_ones = true,
     .spec = {.router_kind = kRouterSigmoid, .router_input = 1, .window_chunks = 1, .temp_scale = 0.1, .temp_positions = 8192},
     .numbers = {"attn_scale"},
     .flags = {{"use_qk_norm", true, &ModelSpec::qk_norm, kQkNormHeadAfter, 0}},
     .absent = {.norm_eps = 1e-5,
                .rope_base = 500000,
                .n_context = 131072,
                .n_kv_heads = 8,
                .head_dim = 128,
                .window = 8192,
                .window_pattern = 4},
     .experts = {.count = "num_local_experts",
                 .ff = "intermediate_size",
                 .shared = "intermediate_size",
                 .norm = Has::kNever,
                 .n_absent = 16,
                 .active_absent = 1,
                 .norm_in_gguf = false},
     .form = {.window = 8192}},
    // DeepSeek-V2, V2-Lite
    {.name = "deepseek_v2",
     .hf_class = "DeepseekV2ForCausalLM",
     .gguf = "deepseek2",
     .names = &kLlamaNames,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .mlp_bias = Has::kByKey,
     .experts = {.count = "n_routed_experts", .norm = Has::kNever, .group_best = 1, .norm_in_gguf = false},
     .latent = true,
     .form = {.yarn_log_10 = true}},
    // DeepSeek-V3, R1: scores by sigmoid, and a bias that counts for the choice alone
    {.name = "deepseek_v3",
     .hf_class = "DeepseekV3ForCausalLM",
     .gguf = "deepseek2",
     .names = &kLlamaNames,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .spec = {.router_kind = kRouterSigmoid, .router_correction = 1},
     .absent = {.n_context = 4096},
     .experts = {.count = "n_routed_experts", .norm_absent = true, .group_best = 2, .norm_in_gguf = false},
     .latent = true,
     .form = {.yarn_log_10 = true}},
    // GPT-J
    {.name = "gptj",
     .hf_class = "GPTJForCausalLM",
     .gguf = "gptj",
     .names = &kGptjNames,
     .aliases = kGptKeys,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .mlp_bias = Has::kAlways,
     .spec = {.activation = kActGeluTanh, .norm = kNormLayer, .norm_bias = 1, .residual = kResidualParallel, .ungated = 1, .head_bias = 1},
     .only = {{"rotary", "true"}},
     .absent = {.norm_eps = 1e-5, .rotary_dim = 64, .d_ff = 4},
     .form = {.none = true}},
    // Falcon 7B, 40B, 180B, 11B, and RW, which has ALiBi and one branch after the other
    {.name = "falcon",
     .hf_class = "FalconForCausalLM",
     .gguf = "falcon",
     .names = &kBloomNames,
     .aliases = kFalconKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .alibi_scaled = true,
     .spec = {.activation = kActGeluErf, .norm = kNormLayer, .norm_bias = 1, .ungated = 1},
     .ignored = {"ff_factor"},
     .flags = {{"alibi", false, &ModelSpec::alibi, 1, 0},
               {"bias", false, &ModelSpec::qkv_bias, 1, 0},
               {"bias", false, &ModelSpec::out_bias, 1, 0},
               {"bias", false, &ModelSpec::mlp_bias, 1, 0}},
     .absent = {.norm_eps = 1e-5, .d_ff = 4, .tied = true},
     .falcon = true,
     .form = {.qkv = true,
              .names = {{kAttnNorm, "attn_norm_2.weight"},
                        {kAttnNormBias, "attn_norm_2.bias"},
                        {kFfnNorm, "attn_norm.weight"},
                        {kFfnNormBias, "attn_norm.bias"}}}},
    // BLOOM
    {.name = "bloom",
     .hf_class = "BloomForCausalLM",
     .gguf = "bloom",
     .names = &kBloomNames,
     .aliases = kBloomKeys,
     .qkv_bias = Has::kAlways,
     .out_bias = Has::kAlways,
     .mlp_bias = Has::kAlways,
     .spec = {.activation = kActGeluTanh, .norm = kNormLayer, .norm_bias = 1, .ungated = 1, .alibi = 1, .embd_norm = 1},
     .absent = {.norm_eps = 1e-5, .d_ff = 4, .tied = true},
     .form = {.qkv = true}},
    // MPT
    {.name = "mpt",
     .hf_class = "MptForCausalLM",
     .gguf = "mpt",
     .names = &kMptNames,
     .aliases = kMptKeys,
     .nested = "attn_config",
     .spec = {.activation = kActGeluErf, .norm = kNormLayer, .ungated = 1, .alibi = 1},
     .numbers = {"clip_qkv", "softmax_scale"},
     .only = {{"alibi", "true"},
              {"attn_type", "\"multihead_attention\""},
              {"expansion_ratio", "4"},
              {"no_bias", "true"},
              {"norm_type", "\"low_precision_layernorm\""}},
     .absent = {.norm_eps = 1e-5, .d_ff = 4, .alibi_bias_max = 8, .tied = true},
     .form = {.qkv = true, .numbers = {{"attention.clamp_kqv", &ModelSpec::clip_qkv}}}},
    // OPT; that of 350 million weights has norms behind the sums and embeddings of half the size
    {.name = "opt",
     .hf_class = "OPTForCausalLM",
     .gguf = "opt",
     .names = &kOptNames,
     .aliases = kOptKeys,
     .learned_positions = true,
     .spec = {.activation = kActRelu, .norm = kNormLayer, .norm_bias = 1, .ungated = 1, .position_offset = 2},
     .flags = {{"do_layer_norm_before", true, &ModelSpec::residual, kResidualSerial, kResidualAfter},
               {"do_layer_norm_before", true, &ModelSpec::no_final_norm, 0, 1},
               {"enable_bias", true, &ModelSpec::qkv_bias, 1, 0},
               {"enable_bias", true, &ModelSpec::out_bias, 1, 0},
               {"enable_bias", true, &ModelSpec::mlp_bias, 1, 0}},
     .absent = {.norm_eps = 1e-5, .tied = true},
     .embd_dim_by_key = true,
     .form = {.none = true}},
    // StarCoder2
    {.name = "starcoder2",
     .hf_class = "Starcoder2ForCausalLM",
     .gguf = "starcoder2",
     .names = &kPhiNames,
     .aliases = kStarcoderKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .window_by_key = true,
     .spec = {.activation = kActGeluTanh, .norm = kNormLayer, .norm_bias = 1, .ungated = 1},
     .ignored = {"activation_function", "layer_norm_epsilon"},
     .flags = {{"use_bias", true, &ModelSpec::qkv_bias, 1, 0},
               {"use_bias", true, &ModelSpec::out_bias, 1, 0},
               {"use_bias", true, &ModelSpec::mlp_bias, 1, 0}},
     .only = {{"norm_type", "\"layer_norm\""}},
     .absent = {.norm_eps = 1e-5, .n_context = 4096, .n_kv_heads = 2, .tied = true}},
    // Phi-1, Phi-1.5, Phi-2
    {.name = "phi",
     .hf_class = "PhiForCausalLM",
     .gguf = "phi2",
     .names = &kPhiNames,
     .aliases = kLayerNormKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kAlways,
     .out_bias = Has::kAlways,
     .mlp_bias = Has::kAlways,
     .spec = {.activation = kActGeluTanh, .norm = kNormLayer, .norm_bias = 1, .residual = kResidualParallel, .ungated = 1, .head_bias = 1},
     .flags = {{"qk_layernorm", false, &ModelSpec::qk_norm, kQkNormLayerShared, kQkNormNone}},
     .absent = {.norm_eps = 1e-5, .rotary = 0.5}},
    // Gemma 1
    {.name = "gemma",
     .hf_class = "GemmaForCausalLM",
     .gguf = "gemma",
     .names = &kLlamaNames,
     .aliases = kGemmaKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .norm_plus_one = true,
     .embd_scale_root = true,
     .gelu_is_tanh = true,
     .spec = {.activation = kActGeluTanh},
     .absent = {.n_context = 8192, .n_kv_heads = 16, .head_dim = 256, .tied = true}},
    // Gemma 2
    {.name = "gemma2",
     .hf_class = "Gemma2ForCausalLM",
     .gguf = "gemma2",
     .names = &kGemma2Names,
     .aliases = kGemmaKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .norm_plus_one = true,
     .embd_scale_root = true,
     .spec = {.activation = kActGeluTanh, .attn_softcap = 50, .residual = kResidualSandwich, .attn_scale = 0.0625, .logit_softcap = 30},
     .numbers = {"query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping"},
     .absent = {.n_context = 8192, .n_kv_heads = 4, .head_dim = 256, .window = 4096, .window_pattern = 2, .tied = true},
     .form = {.window = 4096,
              .scaled_layers = 46,
              .numbers = {{"attn_logit_softcapping", &ModelSpec::attn_softcap, false, 50},
                          {"final_logit_softcapping", &ModelSpec::logit_softcap, false, 30}}}},
    // Gemma 3, the text model; files of the whole leave out sizes
    {.name = "gemma3_text",
     .hf_class = "Gemma3ForCausalLM",
     .gguf = "gemma3",
     .names = &kGemma2Names,
     .aliases = kGemmaKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .norm_plus_one = true,
     .embd_scale_root = true,
     .spec = {.n_heads = 8,
              .n_vocab = 262208,
              .activation = kActGeluTanh,
              .qk_norm = kQkNormHead,
              .residual = kResidualSandwich,
              .attn_scale = 0.0625},
     .numbers = {"query_pre_attn_scalar", "attn_logit_softcapping", "final_logit_softcapping"},
     .absent = {.rope_base = 1e6,
                .rope_local_base = 10000,
                .n_context = 131072,
                .n_kv_heads = 4,
                .head_dim = 256,
                .window = 4096,
                .window_pattern = 6,
                .tied = true},
     .form = {.scaled_layers = 62,
              .numbers = {{"attn_logit_softcapping", &ModelSpec::attn_softcap}, {"final_logit_softcapping", &ModelSpec::logit_softcap}}}},
    // Phi-3, Phi-3.5, Phi-4, Phi-4-mini
    {.name = "phi3",
     .hf_class = "Phi3ForCausalLM",
     .gguf = "phi3",
     .names = &kPhi3Names,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .window_by_key = true,
     .absent = {.norm_eps = 1e-5, .rotary = 1, .rope_original = 4096, .n_context = 4096},
     .form = {.qkv = true, .gate_up = true}},
    // GPT-2
    {.name = "gpt2",
     .hf_class = "GPT2LMHeadModel",
     .gguf = "gpt2",
     .names = &kGpt2Names,
     .aliases = kGptKeys,
     .qkv_bias = Has::kAlways,
     .out_bias = Has::kAlways,
     .mlp_bias = Has::kAlways,
     .learned_positions = true,
     .spec = {.activation = kActGeluTanh, .norm = kNormLayer, .norm_bias = 1, .ungated = 1},
     .absent = {.norm_eps = 1e-5, .n_context = 1024, .d_ff = 4, .tied = true},
     .form = {.qkv = true}},
    // GPT-NeoX, Pythia
    {.name = "gpt_neox",
     .hf_class = "GPTNeoXForCausalLM",
     .gguf = "gptneox",
     .names = &kGptNeoxNames,
     .aliases = kNeoxKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .mlp_bias = Has::kAlways,
     .spec = {.activation = kActGeluErf, .norm = kNormLayer, .norm_bias = 1, .ungated = 1},
     .flags = {{"use_parallel_residual", true, &ModelSpec::residual, kResidualParallel2, kResidualSerial},
               {"attention_bias", true, &ModelSpec::qkv_bias, 1, 0},
               {"attention_bias", true, &ModelSpec::out_bias, 1, 0}},
     .absent = {.norm_eps = 1e-5, .rotary = 0.25},
     .form = {.qkv = true}},
    // SmolLM3
    {.name = "smollm3",
     .hf_class = "SmolLM3ForCausalLM",
     .gguf = "smollm3",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .mlp_bias = Has::kByKey,
     .window_by_switch = true,
     .absent = {.rope_base = 2e6, .n_context = 32768, .n_kv_heads = 4, .nope_interval = 4, .tied = true}},
    // OLMo 2
    {.name = "olmo2",
     .hf_class = "Olmo2ForCausalLM",
     .gguf = "olmo2",
     .names = &kGemma2Names,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .spec = {.qk_norm = kQkNormAll, .residual = kResidualPost},
     .absent = {.norm_eps = 1e-5}},
    // OLMo 3
    {.name = "olmo3",
     .hf_class = "Olmo3ForCausalLM",
     .gguf = "olmo2",
     .names = &kGemma2Names,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .rope_local_plain = true,
     .spec = {.qk_norm = kQkNormAll, .residual = kResidualPost},
     .absent = {.norm_eps = 1e-5, .rope_base = 500000, .window = 4096, .window_pattern = 4}},
    // Command-R, Command-R+
    {.name = "cohere",
     .hf_class = "CohereForCausalLM",
     .gguf = "command-r",
     .names = &kLlamaNames,
     .aliases = kLayerNormKeys,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .spec = {.norm = kNormLayer, .residual = kResidualParallel, .logit_scale = 0.0625},
     .ignored = {"model_max_length"},
     .numbers = {"logit_scale"},
     .flags = {{"use_qk_norm", false, &ModelSpec::qk_norm, kQkNormLayer, kQkNormNone}},
     .absent = {.norm_eps = 1e-5, .rope_base = 500000, .n_context = 8192, .tied = true},
     .form = {.numbers = {{"logit_scale", &ModelSpec::logit_scale}}}},
    // Command-R7B, Command-A
    {.name = "cohere2",
     .hf_class = "Cohere2ForCausalLM",
     .gguf = "cohere2",
     .names = &kLlamaNames,
     .aliases = kCohere2Keys,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .nope_without_window = true,
     .spec = {.norm = kNormLayer, .residual = kResidualParallel, .logit_scale = 0.0625},
     .numbers = {"logit_scale"},
     .only = {{"order_of_interleaved_layers", "\"local_attn_first\""},
              {"position_embedding_type", "\"rope_gptj\""},
              {"use_gated_activation", "true"},
              {"use_parallel_block", "true"},
              {"use_parallel_embedding", "true"}},
     .absent = {.norm_eps = 1e-5, .rotary = 1, .n_context = 8192, .window = 4096, .window_pattern = 4, .tied = true},
     .form = {.numbers = {{"logit_scale", &ModelSpec::logit_scale}}}},
    // Hunyuan (dense)
    {.name = "hunyuan_v1_dense",
     .hf_class = "HunYuanDenseV1ForCausalLM",
     .gguf = "hunyuan-dense",
     .names = &kLlamaNames,
     .aliases = kHunyuanKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .flags = {{"use_qk_norm", true, &ModelSpec::qk_norm, kQkNormHeadAfter, kQkNormNone}},
     .only = {{"norm_type", "\"rms\""}, {"norm_topk_prob", "true"}, {"routed_scaling_factor", "false"}},
     .absent = {.norm_eps = 1e-5}},
    // Granite 3
    {.name = "granite",
     .hf_class = "GraniteForCausalLM",
     .gguf = "granite",
     .names = &kLlamaNames,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopePairs,
     .qkv_bias = Has::kByKey,
     .out_bias = Has::kByKey,
     .mlp_bias = Has::kByKey,
     .spec = {.attn_scale = 1},
     .numbers = {"embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling"},
     .form = {.numbers = {{"attention.scale", &ModelSpec::attn_scale},
                          {"embedding_scale", &ModelSpec::embd_scale},
                          {"residual_scale", &ModelSpec::residual_scale},
                          {"logit_scale", &ModelSpec::logit_scale, true}}}},
    // StableLM 3B, StableLM 2
    {.name = "stablelm",
     .hf_class = "StableLmForCausalLM",
     .gguf = "stablelm",
     .names = &kLlamaNames,
     .aliases = kLayerNormKeys,
     .rope_hf = kRopeHalves,
     .rope_gguf = kRopeHalves,
     .spec = {.norm = kNormLayer, .norm_bias = 1},
     .flags = {{"use_parallel_residual", false, &ModelSpec::residual, kResidualParallel, kResidualSerial},
               {"qk_layernorm", false, &ModelSpec::qk_norm, kQkNormLayer, kQkNormNone},
               {"use_qkv_bias", false, &ModelSpec::qkv_bias, 1, 0}},
     .absent = {.norm_eps = 1e-5, .rotary = 0.25, .n_context = 4096, .n_kv_heads = 32}},
    // GLM-4 0414
    {.name = "glm4",
     .hf_class = "Glm4ForCausalLM",
     .gguf = "glm4",
     .names = &kGlm4Names,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .spec = {.residual = kResidualSandwich},
     .flags = {{"attention_bias", true, &ModelSpec::qkv_bias, 1, 0}},
     .absent = {.norm_eps = 1.5625e-7, .rotary = 0.5, .n_context = 131072, .n_kv_heads = 2, .head_dim = 128},
     .form = {.gate_up = true}},
    // ERNIE 4.5 (dense)
    {.name = "ernie4_5",
     .hf_class = "Ernie4_5ForCausalLM",
     .gguf = "ernie4_5",
     .names = &kLlamaNames,
     .rope_hf = kRopePairs,
     .rope_gguf = kRopePairs,
     .flags = {{"use_bias", false, &ModelSpec::qkv_bias, 1, 0},
               {"use_bias", false, &ModelSpec::out_bias, 1, 0},
               {"use_bias", false, &ModelSpec::mlp_bias, 1, 0}},
     .absent = {.norm_eps = 1e-5, .rope_base = 500000, .n_context = 131072, .n_kv_heads = 2, .head_dim = 128, .tied = true}},
};
constexpr uint32_t kArchitectureCount = sizeof kArchitectures / sizeof kArchitectures[0];

constexpr HfWhole kWholes[] = {
    {"llama4", "Llama4ForConditionalGeneration", {"llama4_text"}, {"vision_model.", "multi_modal_projector."}},
    {"gemma3",
     "Gemma3ForConditionalGeneration",
     {"gemma3_text"},
     {"vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector."}},
    {"qwen3_5", "Qwen3_5ForConditionalGeneration", {"qwen3_5_text"}, {"model.visual.", "visual.", "mtp."}},
    {"mistral3",
     "Mistral3ForConditionalGeneration",
     {"mistral", "ministral3"},
     {"vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector."}},
};

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

const HfWhole* whole_by_hf(std::string_view model_type, std::string_view hf_class) {
  for (const HfWhole& w : kWholes)
    if (model_type.empty() ? hf_class == w.hf_class : model_type == w.name) return &w;
  return nullptr;
}

HfNames whole_names(const HfWhole& whole, const HfNames& text) {
  HfNames names = text;
  names.roots[0] = "language_model.model.", names.tops[0] = "language_model.";
  names.roots[1] = "model.language_model.", names.tops[1] = "";
  for (size_t i = 0; i < sizeof names.beside / sizeof *names.beside; ++i) names.beside[i] = whole.beside[i];
  return names;
}

const Architecture* architecture_by_gguf(std::string_view name) {
  for (const Architecture& a : kArchitectures)
    if (name == a.gguf) return &a;
  return nullptr;
}

namespace {

// Takes a number off the front. "007" is not how 7 is written: two names must not mean the same tensor.
bool take_number(std::string_view* name, uint32_t* out) {
  size_t digits = 0;
  for (*out = 0; digits < name->size() && digits < 6 && (*name)[digits] >= '0' && (*name)[digits] <= '9'; ++digits)
    *out = *out * 10 + static_cast<uint32_t>((*name)[digits] - '0');
  if (digits == 0 || (digits > 1 && (*name)[0] == '0')) return false;
  name->remove_prefix(digits);
  return true;
}

bool same_name(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  uint32_t head = 0;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  return take_number(&name, &head) && name == pattern.substr(star + 1);
}

}  // namespace

HfName hf_tensor_find(const HfNames& names, std::string_view name, const HfTensor** found, uint32_t* layer) {
  const auto find = [&](std::string_view rest, bool in_layer, bool rooted) {
    for (uint32_t i = 0; i < names.n_tensors; ++i) {
      const HfTensor& t = names.tensors[i];
      const bool top = t.name[0] == '/';
      if (role_row(t.role).per_layer() != in_layer || rooted == top || !same_name(rest, t.name + top)) continue;
      *found = &t;
      return true;
    }
    return false;
  };
  *layer = 0;
  for (const char* other : names.beside)
    if (other && name.starts_with(other)) return HfName::kIgnored;
  for (const char* top : names.tops)
    if (name.starts_with(top) && find(name.substr(std::string_view(top).size()), false, false)) return HfName::kKnown;
  for (const char* root : names.roots) {
    if (!root || !name.starts_with(root)) continue;
    std::string_view rest = name.substr(std::string_view(root).size());
    if (find(rest, false, true)) return HfName::kKnown;
    if (!rest.starts_with(names.layers)) continue;
    rest.remove_prefix(std::string_view(names.layers).size());
    if (!take_number(&rest, layer) || !rest.starts_with('.')) return HfName::kUnknown;
    rest.remove_prefix(1);
    for (const char* ignored : names.ignored)
      if (ignored && rest == ignored) return HfName::kIgnored;
    return find(rest, true, true) ? HfName::kKnown : HfName::kUnknown;
  }
  return HfName::kUnknown;
}

std::string hf_tensor_name(const HfNames& names, const HfTensor& tensor, uint32_t root, uint32_t layer, uint32_t head) {
  std::string name = tensor.name;
  if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, std::to_string(head));
  if (name[0] == '/') return names.tops[root] + name.substr(1);
  return names.roots[root] + (role_row(tensor.role).per_layer() ? names.layers + std::to_string(layer) + "." : "") + name;
}

}  // namespace linnet
