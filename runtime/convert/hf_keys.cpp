#include "hf_keys.h"

#include <algorithm>
#include <cstdio>

namespace linnet::convert {
namespace {

using nlohmann::json;

// Keys that hf_config.cpp reads, quantization_config in hf_quant.cpp.
constexpr std::string_view kRead[] = {"architectures",
                                      "attention_bias",
                                      "head_dim",
                                      "hidden_act",
                                      "hidden_size",
                                      "intermediate_size",
                                      "layer_types",
                                      "max_position_embeddings",
                                      "max_window_layers",
                                      "mlp_bias",
                                      "model_type",
                                      "num_attention_heads",
                                      "num_hidden_layers",
                                      "num_key_value_heads",
                                      "quantization_config",
                                      "rms_norm_eps",
                                      "rope_parameters",
                                      "rope_scaling",
                                      "rope_theta",
                                      "sliding_window",
                                      "tie_word_embeddings",
                                      "use_sliding_window",
                                      "vocab_size"};

// Keys that change nothing about what a decoder computes: training, bookkeeping, and defaults of generation.
constexpr std::string_view kHarmless[] = {"_attn_implementation_autoset",
                                          "_commit_hash",
                                          "_name_or_path",
                                          "activation_dropout",
                                          "attention_dropout",
                                          "attention_probs_dropout_prob",
                                          "attention_softmax_in_fp32",
                                          "attn_impl",
                                          "attn_pdrop",
                                          "auto_map",
                                          "bad_words_ids",
                                          "begin_suppress_tokens",
                                          "bias_dropout_fusion",
                                          "bos_token_id",
                                          "cache_implementation",
                                          "chunk_size_feed_forward",
                                          "cla_share_factor",
                                          "class_num",
                                          "classifier_dropout",
                                          "cross_attention_hidden_size",
                                          "custom_pipelines",
                                          "decoder_start_token_id",
                                          "dense_list",
                                          "diversity_penalty",
                                          "do_sample",
                                          "dropout",
                                          "dtype",
                                          "early_stopping",
                                          "emb_pdrop",
                                          "embd_pdrop",
                                          "embedding_dropout",
                                          "embedding_fraction",
                                          "encoder_no_repeat_ngram_size",
                                          "eod_token_id",
                                          "eos_token_id",
                                          "exponential_decay_length_penalty",
                                          "finetuning_task",
                                          "forced_bos_token_id",
                                          "forced_eos_token_id",
                                          "gradient_checkpointing",
                                          "hidden_dropout",
                                          "hidden_dropout_prob",
                                          "id2label",
                                          "im_end_id",
                                          "im_newline_id",
                                          "im_start_id",
                                          "image_token_id",
                                          "init_config",
                                          "init_device",
                                          "init_method",
                                          "init_std",
                                          "initializer_range",
                                          "is_decoder",
                                          "is_llama_config",
                                          "label2id",
                                          "layerdrop",
                                          "learned_pos_emb",
                                          "length_penalty",
                                          "mask_init_id",
                                          "masked_softmax_fusion",
                                          "max_length",
                                          "max_sequence_length",
                                          "min_length",
                                          "moe_drop_tokens",
                                          "moe_layer_num_skipped",
                                          "moe_random_routing_dropped_token",
                                          "n_ctx",
                                          "no_repeat_ngram_size",
                                          "num_beam_groups",
                                          "num_beams",
                                          "num_media_embeds",
                                          "num_return_sequences",
                                          "offset_alibi",
                                          "org_vocab_size",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_scores",
                                          "pad_id",
                                          "pad_token_id",
                                          "pool_type",
                                          "prefix",
                                          "pretraining_tp",
                                          "problem_type",
                                          "remove_invalid_values",
                                          "reorder_and_upcast_attn",
                                          "repetition_penalty",
                                          "resid_pdrop",
                                          "residual_dropout",
                                          "return_dict",
                                          "return_dict_in_generate",
                                          "scale_attention_softmax_in_fp32",
                                          "sep_token_id",
                                          "skip_bias_add",
                                          "skip_bias_add_qkv",
                                          "skip_cls_token",
                                          "slow_but_exact",
                                          "summary_activation",
                                          "summary_first_dropout",
                                          "summary_proj_to_labels",
                                          "summary_type",
                                          "summary_use_proj",
                                          "suppress_tokens",
                                          "task_specific_params",
                                          "temperature",
                                          "text_end_id",
                                          "text_start_id",
                                          "tf_legacy_loss",
                                          "tie_encoder_decoder",
                                          "tokenizer_class",
                                          "tokenizer_name",
                                          "top_k",
                                          "top_p",
                                          "torch_dtype",
                                          "torchscript",
                                          "transformers.js_config",
                                          "transformers_version",
                                          "typical_p",
                                          "unk_token_id",
                                          "unsloth_fixed",
                                          "unsloth_version",
                                          "use_bfloat16",
                                          "use_cache",
                                          "verbose"};

// Of families with latent attention, and of those with experts: what is read, and what is of use in training alone.
constexpr std::string_view kReadLatent[] = {"kv_lora_rank",     "q_lora_rank",     "qk_head_dim", "qk_nope_head_dim",
                                            "qk_rope_head_dim", "rope_interleave", "v_head_dim"};
constexpr std::string_view kOfExperts[] = {"attn_temperature_tuning",
                                           "mlp_layer_types",
                                           "decoder_sparse_step",
                                           "expert_capacity",
                                           "first_k_dense_replace",
                                           "floor_scale",
                                           "for_llm_compressor",
                                           "initial_context_length",
                                           "intermediate_size_mlp",
                                           "moe_layers",
                                           "no_rope_layers",
                                           "mlp_only_layers",
                                           "moe_intermediate_size",
                                           "moe_layer_freq",
                                           "n_group",
                                           "n_routed_experts",
                                           "n_shared_experts",
                                           "norm_topk_prob",
                                           "num_experts",
                                           "num_experts_per_tok",
                                           "num_local_experts",
                                           "routed_scaling_factor",
                                           "scoring_func",
                                           "shared_expert_intermediate_size",
                                           "topk_group",
                                           "topk_method",
                                           "aux_loss_alpha",
                                           "ep_size",
                                           "num_nextn_predict_layers",
                                           "output_router_logits",
                                           "router_aux_loss_coef",
                                           "router_jitter_noise",
                                           "seq_aux"};

// Of families with short convolutions: what is read, and what files of 2025 have beside it.
constexpr std::string_view kOfConvolutions[] = {
    "block_auto_adjust_ff_dim", "block_ffn_dim_multiplier", "block_multiple_of",     "conv_L_cache", "full_attn_idxs",
    "block_mlp_init_scale",     "block_out_init_scale",     "block_use_xavier_init", "conv_dim",     "conv_dim_out",
    "conv_use_xavier_init"};

// Of families whose layers may be Mamba-2: what is read, and what is of use in training or for speed alone.
constexpr std::string_view kOfMamba[] = {"position_embedding_type",
                                         "shared_intermediate_size",
                                         "mamba_chunk_size",
                                         "mamba_conv_bias",
                                         "mamba_d_conv",
                                         "mamba_d_head",
                                         "mamba_d_state",
                                         "mamba_expand",
                                         "mamba_n_groups",
                                         "mamba_n_heads",
                                         "mamba_proj_bias",
                                         "time_step_limit",
                                         "time_step_max",
                                         "time_step_min",
                                         "layers_block_type",
                                         "attn_layer_indices",
                                         "attn_rotary_emb"};

// Of Falcon-H1.
constexpr std::string_view kBesideMamba[] = {
    "mamba_d_ssm",     "mamba_norm_before_gate",  "mamba_rms_norm",           "embedding_multiplier", "lm_head_multiplier",
    "key_multiplier",  "attention_in_multiplier", "attention_out_multiplier", "ssm_in_multiplier",    "ssm_out_multiplier",
    "ssm_multipliers", "mlp_multipliers",         "time_step_floor"};

// Of Nemotron-H.
constexpr std::string_view kOfSteps[] = {"hybrid_override_pattern",
                                         "moe_shared_expert_intermediate_size",
                                         "chunk_size",
                                         "expand",
                                         "mamba_ssm_cache_dtype",
                                         "moe_shared_expert_overlap",
                                         "mtp_hybrid_override_pattern",
                                         "mtp_layers_block_type",
                                         "num_logits_to_keep",
                                         "rescale_prenorm_residual",
                                         "residual_in_fp32",
                                         "time_step_floor",
                                         "use_mamba_kernels"};

// Of families with gated delta nets.
constexpr std::string_view kOfDeltaNets[] = {
    "full_attention_interval", "linear_conv_kernel_dim", "linear_key_head_dim", "linear_num_key_heads", "linear_num_value_heads",
    "linear_value_head_dim",   "linear_attn_config",     "linear_head_dim",     "linear_num_heads",     "linear_a_log_max",
    "linear_a_log_min",        "linear_dt_init_floor",   "linear_dt_max",       "linear_dt_min"};

// Of Gemma 4.
constexpr std::string_view kOfGemma4[] = {
    "attention_k_eq_v",     "enable_moe_block",    "global_head_dim",  "hidden_size_per_layer_input", "num_global_key_value_heads",
    "num_kv_shared_layers", "use_double_wide_mlp", "per_layer_config", "vocab_size_per_layer_input"};

// Of Gemma 3n.
constexpr std::string_view kOfGemma3n[] = {"activation_sparsity_pattern", "hidden_size_per_layer_input", "laurel_rank",
                                           "num_kv_shared_layers", "vocab_size_per_layer_input"};

// Of models that are more than a decoder.
constexpr std::string_view kOfOtherParts[] = {"boi_token_id",
                                              "boi_token_index",
                                              "eoi_token_id",
                                              "eoi_token_index",
                                              "image_token_id",
                                              "image_token_index",
                                              "mm_tokens_per_image",
                                              "multimodal_projector_bias",
                                              "projector_hidden_act",
                                              "spatial_merge_size",
                                              "vision_config",
                                              "vision_feature_layer",
                                              "video_token_id",
                                              "vision_start_token_id",
                                              "vision_end_token_id",
                                              "audio_config",
                                              "audio_soft_tokens_per_image",
                                              "audio_token_id",
                                              "boa_token_id",
                                              "eoa_token_id",
                                              "eoa_token_index",
                                              "vision_soft_tokens_per_image"};

// Keys that linnet supports at one value only, whatever the family; absent and null are that value too.
constexpr HfOnly kOnlyAt[] = {{"_remove_final_layer_norm", "false"},
                              {"activation", "\"swiglu\""},
                              {"add_classification_head", "false"},
                              {"add_cross_attention", "false"},
                              {"apply_residual_connection_post_layernorm", "false"},
                              {"attn_uses_sequence_id", "false"},
                              {"full_attn_mod", "1"},
                              {"group_limited_greedy", "false"},
                              {"interpolate_factor", "1"},
                              {"is_encoder_decoder", "false"},
                              {"layer_norm_elementwise_affine", "true"},
                              {"lm_head_bias", "false"},
                              {"mlp_type", "\"default\""},
                              {"moe_topk", "1"},
                              {"num_experts", "1"},
                              {"num_shared_expert", "1"},
                              {"partial_rotary_factor", "1.0"},
                              {"position_embedding_xdrope", "false"},
                              {"prefix_lm", "false"},
                              {"pruned_heads", "{}"},
                              {"qk_layernorm", "false"},
                              {"qk_ln", "false"},
                              {"rope_interleaved", "false"},
                              {"rotary_scaling_factor", "1.0"},
                              {"scale_attn_by_inverse_layer_idx", "false"},
                              {"scale_attn_weights", "true"},
                              {"use_bidirectional_attention", "false"},
                              {"use_cla", "false"},
                              {"use_mixed_mlp_moe", "false"},
                              {"use_mla", "false"},
                              {"use_mrope", "false"},
                              {"use_rotary_pos_emb", "true"}};
std::string real_text(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", v);
  return text;
}
template <class T>
const SpecField& spec_row(const ModelSpec& spec, const T& field) {
  const auto offset = reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&spec);
  size_t i = 0;
  while (kSpecFields[i].offset != offset) i++;  // every field has its row
  return kSpecFields[i];
}

}  // namespace

// A key as the file has it, or where it has it not as its family calls it.
std::string ConfigKeys::shown(std::string_view key) const {
  if (const auto at = names_.find(std::string(key)); at != names_.end()) return at->second;
  for (const HfAlias* a = arch_ ? arch_->aliases : nullptr; a && a->name && !json_member(config_, key); ++a)
    if (key == a->key) return a->name;
  return std::string(key);
}
Status ConfigKeys::wrong(std::string_view key, const json& value, std::string_view wanted) {
  return refuse(LINNET_BAD_FILE, "'", shown(key), "' is ", json_show(value), ", not ", wanted);
}
Status ConfigKeys::missing(std::string_view key) { return refuse(LINNET_BAD_FILE, "'", shown(key), "' is missing"); }

Status ConfigKeys::open() {
  LINNET_TRY(pick_architecture());
  LINNET_TRY(rename_keys());
  return check_keys();
}

Status ConfigKeys::pick_architecture() {
  constexpr std::string_view kCausal = "ForCausalLM";
  if (!config_.is_object()) return refuse(LINNET_BAD_FILE, "holds ", json_show(config_), ", not an object");
  std::string hf_class, type;
  if (const json* classes = json_member(config_, "architectures"); classes && !classes->is_null()) {
    if (!classes->is_array() || classes->size() != 1 || !classes->front().is_string())
      return wrong("architectures", *classes, "a list of one class name");
    hf_class = *classes->front().get_ptr<const json::string_t*>();
  }
  if (get_string(config_, "model_type", &type) == Got::kWrong) return wrong("model_type", *json_member(config_, "model_type"), "a string");
  if (type.empty() && hf_class.empty()) return missing("model_type");
  whole_ = whole_by_hf(type, hf_class);
  arch_ = whole_ ? nullptr : type.empty() ? architecture_by_hf_class(hf_class) : architecture_by_hf(type);
  if (!arch_ && !whole_) return refuse(LINNET_UNSUPPORTED, "architecture '", type.empty() ? hf_class : type, "' is not supported");
  // The same layers under another head (classification) are another model; those under none, "Qwen3Model", "Gemma3TextModel", embed.
  const auto same = [](char a, char b) { return a == b || ((a ^ b) == 32 && ((a | 32) >= 'a' && (a | 32) <= 'z')); };  // MPTForCausalLM
  if (const std::string_view of = whole_ ? whole_->hf_class : arch_->hf_class;
      !hf_class.empty() && !std::equal(hf_class.begin(), hf_class.end(), of.begin(), of.end(), same) &&
      !(headless_ = !whole_ && of.ends_with(kCausal) &&
                    (hf_class == std::string(of.substr(0, of.size() - kCausal.size())) + "Model" ||
                     hf_class == std::string(of.substr(0, of.size() - kCausal.size())) + "TextModel")))
    return refuse(LINNET_UNSUPPORTED, "class '", hf_class, "' is not supported, only '", of, "' of this architecture is");
  if (!whole_) return LINNET_OK;
  const json* text = json_member(config_, "text_config");
  if (!text || !text->is_object()) return text ? wrong("text_config", *text, "an object") : missing("text_config");
  type = whole_->texts[0];
  if (get_string(*text, "model_type", &type) == Got::kWrong)
    return wrong("text_config.model_type", *json_member(*text, "model_type"), "a string");
  for (const char* known : whole_->texts)
    if (known && type == known) arch_ = architecture_by_hf(type);
  return arch_ ? LINNET_OK : refuse(LINNET_UNSUPPORTED, "'text_config.model_type' '", type, "' of '", whole_->name, "' is not supported");
}

// Keys of the nested object come out, aliases get the name that is read. Where both are there they must say the same.
Status ConfigKeys::rename_keys() {
  const char* const outer = whole_ ? "text_config" : arch_->nested;
  if (const json* nested = outer ? json_member(config_, outer) : nullptr; nested && !nested->is_null()) {
    if (!nested->is_object()) return wrong(outer, *nested, "an object");
    JsonTree inner;
    inner.root.swap(config_[outer]);
    config_.erase(outer);
    for (auto& [key, value] : *inner.root.get_ptr<json::object_t*>()) {
      if (key == "model_type" || listed(kHarmless, key) || ((key == "tie_word_embeddings" || value.is_null()) && json_member(config_, key)))
        continue;  // the whole's counts
      LINNET_TRY(put_key(key, std::string(outer) + "." + key, &value));
    }
  }
  for (const HfAlias* a = arch_->aliases; a && a->name; ++a) {
    if (!json_member(config_, a->name)) continue;
    JsonTree value;
    value.root.swap(config_[a->name]);
    config_.erase(a->name);
    if (!value.root.is_null()) LINNET_TRY(put_key(a->key, a->name, &value.root));
  }
  for (auto& [key, value] : *config_.get_ptr<json::object_t*>())
    if (arch_->lists_of_one && value.is_array() && !value.empty() && value.front().is_number_unsigned() &&
        std::count(value.begin(), value.end(), value.front()) == static_cast<std::ptrdiff_t>(value.size()) && key != "eos_token_id")
      value = json(value.front());
  return LINNET_OK;
}
Status ConfigKeys::put_key(const std::string& key, const std::string& name, json* value) {
  const json* there = json_member(config_, key);
  if (key == "hidden_act" && arch_->gelu_is_tanh) config_.erase(key), there = nullptr;  // Gemma 1 says "gelu" there, and means this one
  if (there && !there->is_null() && *there != *value)
    return refuse(LINNET_BAD_FILE, "'", name, "' is ", json_show(*value), ", but '", shown(key), "' is ", json_show(*there));
  names_[key] = name;
  config_[key].swap(*value);
  return LINNET_OK;
}

// Keys that this family's row names.
bool ConfigKeys::of_row(std::string_view key) const {
  for (const char* n : arch_->numbers)
    if (n && key == n) return true;
  for (const HfFlag& f : arch_->flags)
    if (f.key && key == f.key) return true;
  for (const char* ignored : arch_->ignored)
    if (ignored && key == ignored) return true;
  const HfDefaults& d = arch_->absent;
  return (key == "partial_rotary_factor" && d.rotary > 0) || (key == "rotary_dim" && d.rotary_dim) ||
         (key == "rope_local_base_freq" && d.rope_local_base > 0) ||
         ((key == "sliding_window_pattern" || key == "_sliding_window_pattern") && d.window_pattern) ||
         (key == "original_max_position_embeddings" && d.rope_original) || (key == "alibi_bias_max" && d.alibi_bias_max > 0) ||
         ((key == "no_rope_layers" || key == "no_rope_layer_interval") && d.nope_interval) ||
         (key == "word_embed_proj_dim" && arch_->embd_dim_by_key) || (key == "layer_rope_theta" && arch_->rope_by_layer) ||
         (arch_->minicpm && (key == "scale_emb" || key == "scale_depth" || key == "dim_model_base")) ||
         (arch_->embd_scale_key && key == arch_->embd_scale_key) ||
         (arch_->falcon &&
          (key == "multi_query" || key == "new_decoder_architecture" || key == "parallel_attn" || key == "num_ln_in_parallel_attn"));
}

Status ConfigKeys::check_keys() {
  for (const auto& [key, value] : *config_.get_ptr<const json::object_t*>()) {
    const HfOnly* only = nullptr;
    for (const HfOnly& row : arch_->only)
      if (row.key && key == row.key) only = &row;
    if (whole_ && listed(kOfOtherParts, key)) continue;
    if (value.is_null() ||
        (!only && (listed(kRead, key) || listed(kHarmless, key) || key.starts_with("vit_") || key.starts_with("anyres_") || of_row(key) ||
                   (arch_->latent && listed(kReadLatent, key)) || (arch_->short_conv && listed(kOfConvolutions, key)) ||
                   (arch_->delta && listed(kOfDeltaNets, key)) || (arch_->mamba && listed(kOfMamba, key)) ||
                   (arch_->gemma4 && listed(kOfGemma4, key)) || (arch_->gemma3n && listed(kOfGemma3n, key)) ||
                   (arch_->one_step && listed(kOfSteps, key)) || (arch_->mamba_beside && listed(kBesideMamba, key)) ||
                   (arch_->experts.count && listed(kOfExperts, key)))))
      continue;
    for (const HfOnly& row : kOnlyAt)
      if (!only && key == row.key) only = &row;
    if (!only) return refuse(LINNET_UNSUPPORTED, "key '", shown(key), "' (", json_show(value), ") is not supported");
    LINNET_TRY(check_only(*only, value));
  }
  return LINNET_OK;
}
Status ConfigKeys::check_only(const HfOnly& only, const json& value) {
  if (value == json::parse(only.value)) return LINNET_OK;
  return refuse(LINNET_UNSUPPORTED, "'", shown(only.key), "' ", json_show(value), " is not supported, only ", only.value);
}

// Numbers, within the range of the spec's field. What is absent or null leaves the field as it is.
Status ConfigKeys::read_number(const json& from, const char* key, uint32_t ModelSpec::* field, ModelSpec* spec) {
  const json* value = json_member(from, key);
  if (!value || value->is_null()) return LINNET_OK;
  const SpecField& row = spec_row(*spec, spec->*field);
  const uint64_t min = std::max(uint64_t{1}, static_cast<uint64_t>(row.min)), max = static_cast<uint64_t>(row.max);
  uint32_t number = 0;
  if (get_u32(from, key, &number) != Got::kFound || number < min || number > max)
    return wrong(key, *value, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  spec->*field = number;
  return LINNET_OK;
}
Status ConfigKeys::read_number(const json& from, const char* key, double ModelSpec::* field, ModelSpec* spec) {
  const json* value = json_member(from, key);
  if (!value || value->is_null()) return LINNET_OK;
  const SpecField& row = spec_row(*spec, spec->*field);
  double number = 0;
  if (get_double(from, key, &number) != Got::kFound || !(number >= row.min && number <= row.max))
    return wrong(key, *value, "a number from " + real_text(row.min) + " to " + real_text(row.max));
  spec->*field = number;
  return LINNET_OK;
}
Status ConfigKeys::read_flag(const char* key, bool absent, bool* out) {
  *out = absent;
  return get_bool(config_, key, out) == Got::kWrong ? wrong(key, *json_member(config_, key), "true or false") : LINNET_OK;
}

// A count, 0 allowed; absent or null leaves *out.
Status ConfigKeys::read_count(const char* key, uint32_t* out) {
  return get_u32(config_, key, out) == Got::kWrong ? wrong(key, *json_member(config_, key), "a count") : LINNET_OK;
}

}  // namespace linnet::convert
