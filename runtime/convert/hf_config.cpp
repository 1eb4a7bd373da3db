#include "hf_config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "../rope.h"
#include "hf_keys.h"
#include "source.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

// Names of hidden_act; "gelu_new" and its like are the one by tanh.
struct ActName {
  std::string_view name;
  Activation act;
};
constexpr ActName kActs[] = {{"silu", kActSilu},           {"swish", kActSilu},        {"gelu", kActGeluErf},
                             {"gelu_python", kActGeluErf}, {"gelu_new", kActGeluTanh}, {"gelu_pytorch_tanh", kActGeluTanh},
                             {"gelu_fast", kActGeluTanh},  {"relu", kActRelu},         {"sigmoid", kActSigmoid},
                             {"relu2", kActRelu2},         {"xielu", kActXielu}};

// Keys of numbers that some families have. Null is 0: none, or the default of what the spec's field is about.
enum class Turn { kNone, kInverse, kInverseRoot, kTwice };
struct NumberKey {
  std::string_view key;
  double ModelSpec::* field;
  Turn turn;
};
constexpr NumberKey kNumbers[] = {{"attention_multiplier", &ModelSpec::attn_scale, Turn::kNone},
                                  {"attn_scale", &ModelSpec::temp_scale, Turn::kNone},
                                  {"attn_logit_softcapping", &ModelSpec::attn_softcap, Turn::kNone},
                                  {"clip_qkv", &ModelSpec::clip_qkv, Turn::kNone},
                                  {"embedding_multiplier", &ModelSpec::embd_scale, Turn::kNone},
                                  {"final_logit_softcapping", &ModelSpec::logit_softcap, Turn::kNone},
                                  {"logit_scale", &ModelSpec::logit_scale, Turn::kNone},
                                  {"logits_scaling", &ModelSpec::logit_scale, Turn::kInverse},
                                  {"query_pre_attn_scalar", &ModelSpec::attn_scale, Turn::kInverseRoot},
                                  {"residual_multiplier", &ModelSpec::residual_scale, Turn::kNone},
                                  {"router_jitter_noise", &ModelSpec::router_near, Turn::kTwice},
                                  {"softmax_scale", &ModelSpec::attn_scale, Turn::kNone},
                                  {"swiglu_limit", &ModelSpec::act_limit, Turn::kNone}};

// Sizes, all at least 1; those that no file needs to name have a default.
struct Size {
  const char* key;
  uint32_t ModelSpec::* field;
};
constexpr Size kSizes[] = {{"num_hidden_layers", &ModelSpec::n_layers},  {"hidden_size", &ModelSpec::d_model},
                           {"num_attention_heads", &ModelSpec::n_heads}, {"num_key_value_heads", &ModelSpec::n_kv_heads},
                           {"head_dim", &ModelSpec::head_dim},           {"intermediate_size", &ModelSpec::d_ff},
                           {"vocab_size", &ModelSpec::n_vocab},          {"max_position_embeddings", &ModelSpec::n_context}};

class ConfigReader : ConfigKeys {
 public:
  using ConfigKeys::ConfigKeys;

  Status read(HfConfig* out) {
    LINNET_TRY(open());
    *out = {};
    out->architecture = arch_;
    out->names = whole_ ? whole_names(*whole_, *arch_->names) : *arch_->names;
    out->headless = headless_;
    out_ = out;
    ModelSpec* spec = &out->spec;
    *spec = arch_->spec;
    std::strncpy(spec->architecture, arch_->name, sizeof spec->architecture - 1);
    LINNET_TRY(read_sizes(spec));
    LINNET_TRY(read_norm_and_biases(spec));
    LINNET_TRY(read_flags(spec));
    LINNET_TRY(read_numbers(spec));
    LINNET_TRY(read_rope(spec));
    LINNET_TRY(read_nope(spec));
    LINNET_TRY(arch_->short_conv ? read_convolutions(spec)
               : arch_->delta    ? read_delta(spec)
               : arch_->one_step ? LINNET_OK
               : arch_->mamba    ? read_mamba(spec)
                                 : read_windows(spec));
    LINNET_TRY(read_temperature(spec));
    bool experts = arch_->experts.count != nullptr;
    if (arch_->gemma4) LINNET_TRY(read_flag("enable_moe_block", false, &experts));
    if (experts) LINNET_TRY(arch_->experts.count ? read_experts(spec) : missing("num_experts"));
    if (arch_->gemma4) LINNET_TRY(read_gemma4(spec));
    if (arch_->gemma3n) LINNET_TRY(read_gemma3n(spec));
    if (arch_->one_step) LINNET_TRY(read_steps_of_layers(spec));
    if (spec->alibi) LINNET_TRY(make_slopes(*spec));
    return spec_check(*spec, err_, label_);
  }

 private:
  Status read_sizes(ModelSpec* spec) {
    spec->n_context = arch_->absent.n_context;
    spec->head_dim = json_member(config_, "head_dim") ? 0 : arch_->absent.head_dim;
    spec->n_kv_heads = json_member(config_, "num_key_value_heads") ? 0 : arch_->absent.n_kv_heads;
    for (const Size& s : kSizes) LINNET_TRY(read_number(config_, s.key, s.field, spec));
    if (spec->d_ff == 0 && arch_->absent.d_ff) spec->d_ff = arch_->absent.d_ff * spec->d_model;
    if (arch_->mamba_alone) {
      spec->n_heads = spec->n_kv_heads = spec->head_dim = spec->d_ff = 1;  // of which nothing is
      blocks_.assign(spec->n_layers, 'M');
    } else if (arch_->one_step) {
      LINNET_TRY(read_blocks(spec));
    }
    if (arch_->mamba && std::string_view(arch_->experts.shared) == "shared_intermediate_size")
      LINNET_TRY(read_required(config_, "shared_intermediate_size", &ModelSpec::d_ff, spec));  // where there are no experts
    if (arch_->experts.everywhere) LINNET_TRY(read_required(config_, arch_->experts.ff, &ModelSpec::d_ff, spec));
    if (arch_->latent) LINNET_TRY(read_latent(spec));
    LINNET_TRY(read_flags(spec));
    if (arch_->falcon) LINNET_TRY(read_falcon(spec));
    if (arch_->embd_dim_by_key) LINNET_TRY(read_number(config_, "word_embed_proj_dim", &ModelSpec::embd_dim, spec));
    if (spec->embd_dim == spec->d_model) spec->embd_dim = 0;
    if (spec->n_kv_heads == 0) spec->n_kv_heads = spec->n_heads;
    if (spec->head_dim == 0 && spec->n_heads > 0) {
      if (spec->d_model % spec->n_heads != 0)
        return refuse(LINNET_BAD_FILE, "'", shown("hidden_size"), "' ", spec->d_model, " is not a multiple of '",
                      shown("num_attention_heads"), "' ", spec->n_heads);
      spec->head_dim = spec->d_model / spec->n_heads;
    }
    for (const Size& s : kSizes)
      if (spec->*s.field == 0) return missing(s.key);
    if (spec->n_heads % spec->n_kv_heads != 0)
      return refuse(LINNET_BAD_FILE, "'", shown("num_attention_heads"), "' ", spec->n_heads, " is not a multiple of '",
                    shown("num_key_value_heads"), "' ", spec->n_kv_heads);
    if (arch_->rope_hf != kRopeNone && !spec->alibi && spec->head_dim % 2 != 0)
      return refuse(LINNET_BAD_FILE, "'head_dim' ", spec->head_dim, " is odd, rotation needs pairs");
    return LINNET_OK;
  }

  // Falcon 7B has one KV head and both branches on one norm, the later ones groups of KV heads and one or two norms, RW neither.
  Status read_falcon(ModelSpec* spec) {
    bool multi_query, later, parallel;
    LINNET_TRY(read_flag("multi_query", true, &multi_query));
    LINNET_TRY(read_flag("new_decoder_architecture", false, &later));
    LINNET_TRY(read_flag("parallel_attn", true, &parallel));
    if (!later && multi_query) spec->n_kv_heads = 1;
    if (!later && !multi_query && spec->n_kv_heads && spec->n_kv_heads != spec->n_heads)
      return refuse(LINNET_UNSUPPORTED, "'", shown("num_key_value_heads"), "' ", spec->n_kv_heads,
                    " beside 'multi_query' false is not supported");
    uint32_t norms = later ? 2 : 1;
    if (get_u32(config_, "num_ln_in_parallel_attn", &norms) == Got::kWrong || norms < 1 || norms > 2)
      return wrong("num_ln_in_parallel_attn", *json_member(config_, "num_ln_in_parallel_attn"), "1 or 2");
    if ((later && !parallel) || (!later && parallel && norms == 2))
      return refuse(LINNET_UNSUPPORTED, "'new_decoder_architecture' ", later, " beside 'parallel_attn' ", parallel,
                    " and 'num_ln_in_parallel_attn' ", norms, " is not supported");
    spec->residual = !parallel ? kResidualSerial : norms == 2 ? kResidualParallel2 : kResidualParallel;
    return LINNET_OK;
  }

  // Sizes of latent attention in the absorbed form, as spec.h says.
  Status read_latent(ModelSpec* spec) {
    if (spec->n_kv_heads && spec->n_kv_heads != spec->n_heads)
      return refuse(LINNET_UNSUPPORTED, "'num_key_value_heads' ", spec->n_kv_heads, " beside 'num_attention_heads' ", spec->n_heads,
                    " and 'kv_lora_rank' is not supported");
    LINNET_TRY(read_required(config_, "kv_lora_rank", &ModelSpec::kv_lora_rank, spec));
    LINNET_TRY(read_required(config_, "qk_nope_head_dim", &ModelSpec::qk_nope_dim, spec));
    LINNET_TRY(read_required(config_, "qk_rope_head_dim", &ModelSpec::qk_rope_dim, spec));
    if (const json* value = json_member(config_, "v_head_dim"); arch_->minicpm && (!value || value->is_null()))
      spec->v_head_dim = spec->n_heads ? spec->d_model / spec->n_heads : 0;
    else
      LINNET_TRY(read_required(config_, "v_head_dim", &ModelSpec::v_head_dim, spec));
    if (!json_member(config_, "q_lora_rank")) return missing("q_lora_rank");  // null: none
    LINNET_TRY(read_number(config_, "q_lora_rank", &ModelSpec::q_lora_rank, spec));
    uint32_t both = spec->qk_nope_dim + spec->qk_rope_dim;
    if (const Got got = get_u32(config_, "qk_head_dim", &both); got == Got::kWrong || both != spec->qk_nope_dim + spec->qk_rope_dim)
      return wrong("qk_head_dim", *json_member(config_, "qk_head_dim"), "'qk_nope_head_dim' + 'qk_rope_head_dim'");
    spec->n_kv_heads = 1;
    spec->head_dim = spec->qk_rope_dim + spec->kv_lora_rank;
    return LINNET_OK;
  }

  // Layers with experts: which, how many, how large, and how they are chosen.
  Status read_experts(ModelSpec* spec) {
    const HfExperts& of = arch_->experts;
    uint32_t shared = 0;
    const json* count = json_member(config_, of.count);
    spec->n_experts = of.n_absent, spec->n_active = of.active_absent;
    if (count && count->is_null()) spec->n_experts = 0;  // a model of this family without experts
    const char* found = nullptr;
    for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"}) {  // newer files may have another of these names
      const json* value = json_member(config_, key);
      uint32_t n = 0;
      if (!value || value->is_null()) continue;
      LINNET_TRY(read_count(key, &n));
      if (found && n != spec->n_experts) return refuse(LINNET_BAD_FILE, "'", found, "' is ", spec->n_experts, ", but '", key, "' is ", n);
      spec->n_experts = n;
      found = key;
    }
    LINNET_TRY(read_expert_layers(spec));
    if (spec->n_experts == 0) {
      spec->n_active = spec->router_kind = spec->router_correction = 0;
      return LINNET_OK;
    }
    LINNET_TRY(read_number(config_, "num_experts_per_tok", &ModelSpec::n_active, spec));
    LINNET_TRY(read_required(config_, of.ff, &ModelSpec::expert_ff, spec));
    LINNET_TRY(read_number(config_, "expert_capacity", &ModelSpec::expert_capacity, spec));
    shared = of.shared_absent;
    LINNET_TRY(read_count("n_shared_experts", &shared));
    if (shared > 1024) return wrong("n_shared_experts", *json_member(config_, "n_shared_experts"), "at most 1024");
    spec->shared_ff = shared * spec->expert_ff;
    LINNET_TRY(read_count(of.shared, &spec->shared_ff));
    LINNET_TRY(read_number(config_, "intermediate_size_mlp", &ModelSpec::d_ff, spec));
    spec->shared_gate = of.shared_gate && spec->shared_ff;
    LINNET_TRY(read_count("num_nextn_predict_layers", &out_->n_extra_layers));
    return read_router(spec);
  }

  Status read_router(ModelSpec* spec) {
    const HfExperts& of = arch_->experts;
    const std::string own = spec->router_kind == kRouterSigmoid ? "sigmoid" : "softmax";
    std::string method, scoring = own;
    if (get_string(config_, "scoring_func", &scoring) == Got::kWrong || (scoring != own && !(scoring == "noaux_tc" && own == "sigmoid")))
      return refuse(LINNET_UNSUPPORTED, "'", shown("scoring_func"), "' ", json_show(*json_member(config_, "scoring_func")), " of '",
                    arch_->name, "' is not supported");
    bool norm = false;
    LINNET_TRY(read_flag("norm_topk_prob", of.norm_absent, &norm));
    if (of.norm == Has::kNever && norm) return refuse(LINNET_UNSUPPORTED, "'norm_topk_prob' true of '", arch_->name, "' is not supported");
    spec->router_norm = of.norm == Has::kAlways || norm;
    LINNET_TRY(read_number(config_, "routed_scaling_factor", &ModelSpec::router_scale, spec));
    if (!of.group_best || of.norm == Has::kAlways) return LINNET_OK;  // Trinity has one group
    if (get_string(config_, "topk_method", &method) == Got::kWrong)
      return wrong("topk_method", *json_member(config_, "topk_method"), "a string");
    if (method == "greedy") return LINNET_OK;
    if (!method.empty() && method != (spec->router_correction ? "noaux_tc" : "group_limited_greedy"))
      return refuse(LINNET_UNSUPPORTED, "'topk_method' '", method, "' of '", arch_->name, "' is not supported");
    if (method.empty() && !spec->router_correction) return LINNET_OK;  // greedy
    spec->router_groups = spec->router_top_groups = of.one_group;
    for (const auto& [key, field] : {std::pair{"n_group", &ModelSpec::router_groups}, {"topk_group", &ModelSpec::router_top_groups}})
      LINNET_TRY(of.one_group ? read_number(config_, key, field, spec) : read_required(config_, key, field, spec));
    spec->router_group_best = of.group_best;
    if (spec->router_groups == 1) spec->router_groups = spec->router_top_groups = spec->router_group_best = 0;  // no choice of groups
    return LINNET_OK;
  }

  // moe_first and moe_step; n_experts becomes 0 where no layer has any.
  Status read_expert_layers(ModelSpec* spec) {
    uint32_t first = arch_->experts.first_absent, step = 1, frequency = 1;
    LINNET_TRY(read_count("first_k_dense_replace", &first));
    LINNET_TRY(read_count("decoder_sparse_step", &step));
    if (const json* list = json_member(config_, "moe_layer_freq"); list && !list->is_array())
      LINNET_TRY(read_count("moe_layer_freq", &frequency));
    if (frequency != 1)
      return refuse(LINNET_UNSUPPORTED, "'moe_layer_freq' ", json_show(*json_member(config_, "moe_layer_freq")),
                    " is not supported, only 1");
    std::vector<bool> moe(spec->n_layers);
    for (uint32_t i = 0; i < spec->n_layers; ++i) moe[i] = i >= first && step > 0 && (i + 1) % step == 0;
    if (const json* dense = json_member(config_, "mlp_only_layers"); dense && !dense->is_null()) {
      if (!dense->is_array()) return wrong("mlp_only_layers", *dense, "a list of layers");
      for (const json& i : *dense)
        for (uint32_t layer = 0; layer < spec->n_layers; ++layer)
          if (i == layer) moe[layer] = false;
    }
    if (const json* end = json_member(config_, "moe_layer_end_index");
        end && !end->is_null() && *end != -1) {  // ERNIE: the last with experts
      uint32_t last = 0;
      LINNET_TRY(read_count("moe_layer_end_index", &last));
      for (uint32_t i = last; i + 1 < spec->n_layers; ++i) moe[i + 1] = false;
    }
    if (const json* list = json_member(config_, "mlp_layer_types"); list && !list->is_null()) {
      if (!list->is_array() || list->size() != spec->n_layers) return wrong("mlp_layer_types", *list, "a list with one entry per layer");
      for (uint32_t i = 0; i < spec->n_layers; ++i) {
        moe[i] = json_is((*list)[i], "sparse");
        if (!moe[i] && !json_is((*list)[i], "dense")) return wrong("mlp_layer_types", (*list)[i], "a list of \"dense\" and \"sparse\"");
      }
    }
    if (const json* list = json_member(config_, "moe_layers"); list && !list->is_null()) {
      if (!list->is_array()) return wrong("moe_layers", *list, "a list of layers");
      for (uint32_t layer = 0; layer < spec->n_layers; ++layer) moe[layer] = std::find(list->begin(), list->end(), layer) != list->end();
    }
    const auto begin = std::find(moe.begin(), moe.end(), true);
    if (begin == moe.end()) {
      spec->n_experts = 0;
      return LINNET_OK;
    }
    if (!spec->n_experts) return LINNET_OK;
    spec->moe_first = static_cast<uint32_t>(begin - moe.begin());
    for (spec->moe_step = 0; spec->moe_step <= spec->n_layers; ++spec->moe_step) {
      uint32_t same = 0;
      while (same < spec->n_layers && (layer_spec(*spec, same).feed_forward == kFeedForwardExperts) == moe[same]) ++same;
      if (same == spec->n_layers) return LINNET_OK;
    }
    return refuse(LINNET_UNSUPPORTED, "the layers with experts follow no period");
  }

  Status read_norm_and_biases(ModelSpec* spec) {
    spec->norm_eps = arch_->absent.norm_eps;
    LINNET_TRY(read_number(config_, "rms_norm_eps", &ModelSpec::norm_eps, spec));
    bool attention_bias, mlp_bias, tied;
    LINNET_TRY(read_flag("attention_bias", false, &attention_bias));
    LINNET_TRY(read_flag("mlp_bias", false, &mlp_bias));
    LINNET_TRY(read_flag("tie_word_embeddings", arch_->absent.tied, &tied));
    const auto has = [](Has rule, bool key) { return rule == Has::kAlways || (rule == Has::kByKey && key); };
    spec->qkv_bias = has(arch_->qkv_bias, attention_bias);
    spec->out_bias = has(arch_->out_bias, attention_bias);
    spec->mlp_bias = has(arch_->mlp_bias, mlp_bias);
    spec->tied = tied;
    if (arch_->learned_positions) spec->positions = spec->n_context + spec->position_offset;
    bool scaled = arch_->embd_scale_root;
    if (arch_->embd_scale_key) LINNET_TRY(read_flag(arch_->embd_scale_key, false, &scaled));
    if (scaled) spec->embd_scale = std::sqrt(static_cast<double>(spec->d_model));
    if (arch_->latent && attention_bias) return refuse(LINNET_UNSUPPORTED, "'attention_bias' true is not supported beside 'kv_lora_rank'");
    return read_activation(spec);
  }

  Status read_activation(ModelSpec* spec) {
    std::string name;
    if (const Got got = get_string(config_, "hidden_act", &name); got != Got::kFound)
      return got == Got::kWrong ? wrong("hidden_act", *json_member(config_, "hidden_act"), "a string") : LINNET_OK;
    for (const ActName& a : kActs) {
      if (a.name != name) continue;
      if (arch_->spec.activation == kActSwigluClamped && a.act == kActSilu) return LINNET_OK;  // what it is called there
      spec->activation = arch_->gelu_is_tanh && a.act == kActGeluErf ? kActGeluTanh : a.act;
      return LINNET_OK;
    }
    return refuse(LINNET_UNSUPPORTED, "'", shown("hidden_act"), "' '", name, "' is not supported");
  }

  Status read_flags(ModelSpec* spec) {
    for (const HfFlag& f : arch_->flags) {
      bool on = f.absent;
      if (!f.key) continue;
      LINNET_TRY(read_flag(f.key, f.absent, &on));
      spec->*f.field = on ? f.if_true : f.if_false;
    }
    return LINNET_OK;
  }

  Status read_numbers(ModelSpec* spec) {
    if (arch_->minicpm) {
      double depth = std::sqrt(static_cast<double>(spec->n_layers)), base = spec->d_model;
      LINNET_TRY(read_required(config_, "scale_emb", &ModelSpec::embd_scale, spec));
      for (const auto& [key, to] : {std::pair{"scale_depth", &depth}, std::pair{"dim_model_base", &base}})
        if (const json* value = json_member(config_, key); !value || get_double(config_, key, to) == Got::kWrong || !(*to > 0 && *to < 1e6))
          return value ? wrong(key, *value, "a number above 0") : missing(key);
      spec->residual_scale = depth / std::sqrt(static_cast<double>(spec->n_layers));
      spec->logit_scale = base / spec->d_model;
    }
    for (const NumberKey& n : kNumbers) {
      const char* key = nullptr;
      for (const char* of_row : arch_->numbers)
        if (of_row && n.key == of_row) key = of_row;
      const json* value = key ? json_member(config_, key) : nullptr;
      if (!value) continue;
      spec->*n.field = 0;
      LINNET_TRY(read_number(config_, key, n.field, spec));
      double& x = spec->*n.field;
      if (n.turn == Turn::kTwice) x *= 2;
      if (value->is_null() || n.turn == Turn::kNone || n.turn == Turn::kTwice) continue;
      if (!(x > 0)) return wrong(key, *value, "above 0");
      x = n.turn == Turn::kInverse ? 1 / x : 1 / std::sqrt(x);
    }
    return LINNET_OK;
  }

  // One object for all layers, or one for each kind of them: those with a window have a base of their own then.
  Status read_rope(ModelSpec* spec) {
    spec->rope_kind = spec->alibi ? kRopeNone : arch_->rope_hf;
    if (arch_->form.mamba) {  // Granite
      std::string kind = "nope";
      if (get_string(config_, "position_embedding_type", &kind) == Got::kWrong || (kind != "rope" && kind != "nope"))
        return wrong("position_embedding_type", *json_member(config_, "position_embedding_type"), "\"rope\" or \"nope\"");
      if (kind == "nope") spec->rope_kind = kRopeNone;
    }
    if (arch_->gemma4) {
      uint32_t dim = json_member(config_, "per_layer_config") ? spec->head_dim : 512;
      LINNET_TRY(read_global_dim(&dim));
      if (dim == 0 || dim % 2 || dim > 1024) return refuse(LINNET_UNSUPPORTED, "'global_head_dim' ", dim, " is not supported");
      global_dim_ = dim;
    }
    bool pairs = true;
    if (arch_->latent) LINNET_TRY(read_flag("rope_interleave", true, &pairs));
    if (!pairs) spec->rope_kind = kRopeHalves;
    spec->rope_dim = spec->rope_kind == kRopeNone ? 0 : arch_->latent ? spec->qk_rope_dim : spec->head_dim;
    spec->rope_base = arch_->absent.rope_base;
    spec->rope_local_base = arch_->absent.rope_local_base;
    spec->rope_scaling = kRopeScaleNone;
    spec->rope_factor = spec->rope_low = spec->rope_high = 1;
    LINNET_TRY(read_number(config_, "rope_theta", &ModelSpec::rope_base, spec));
    if (arch_->absent.rope_local_base > 0) LINNET_TRY(read_number(config_, "rope_local_base_freq", &ModelSpec::rope_local_base, spec));
    if (const json* factor = json_member(config_, "partial_rotary_factor"); arch_->absent.rotary > 0)
      LINNET_TRY(read_rotary(factor, arch_->absent.rotary, spec));
    if (arch_->absent.rotary_dim) {
      spec->rope_dim = arch_->absent.rotary_dim;
      LINNET_TRY(read_number(config_, "rotary_dim", &ModelSpec::rope_dim, spec));
    }
    if (arch_->gemma4) {
      spec->rope_local_dim = spec->head_dim, spec->rope_dim = global_dim_;
    }
    if (const json* given = json_member(config_, "rope_parameters"); arch_->absent.turned > 0 && (!given || given->is_null()))
      LINNET_TRY(read_turned(arch_->absent.turned, spec));
    const json *rope = nullptr, *local = nullptr;
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
      const json* found = json_member(config_, key);
      if (!found || found->is_null()) continue;
      if (!found->is_object()) return wrong(key, *found, "an object");
      if (rope && *rope != *found) return refuse(LINNET_BAD_FILE, "'rope_scaling' and 'rope_parameters' contradict each other");
      rope = found;
    }
    if (rope && (json_member(*rope, "full_attention") || json_member(*rope, "sliding_attention"))) {
      for (const auto& [key, value] : *rope->get_ptr<const json::object_t*>())
        if ((key != "full_attention" && key != "sliding_attention") || !(value.is_object() || value.is_null()))
          return refuse(LINNET_UNSUPPORTED, "rope parameter '", key, "' (", json_show(value), ") is not supported");
      local = json_member(*rope, "sliding_attention");
      rope = json_member(*rope, "full_attention");
    }
    if (local && !local->is_null()) {
      if (spec->rope_local_base == 0) spec->rope_local_base = spec->rope_base;
      for (const auto& [key, value] : *local->get_ptr<const json::object_t*>())
        if (!value.is_null() && key != "rope_theta" && !((key == "rope_type" || key == "type") && json_is(value, "default")))
          return refuse(LINNET_UNSUPPORTED, "rope parameter '", key, "' (", json_show(value), ") of 'sliding_attention' is not supported");
      LINNET_TRY(read_number(*local, "rope_theta", &ModelSpec::rope_local_base, spec));
    }
    if (rope && !rope->is_null())
      LINNET_TRY(read_rope_object(*rope, spec));
    else if (arch_->rope_temperature || arch_->rope_required)
      return missing("rope_parameters");
    if (const json *base = json_member(config_, "rope_theta"), *of_rope = rope ? json_member(*rope, "rope_theta") : nullptr;
        arch_->rope_by_null && ((base && base->is_null()) || (of_rope && of_rope->is_null())))
      spec->rope_kind = kRopeNone, spec->rope_dim = 0, spec->rope_scaling = kRopeScaleNone;
    if (arch_->rope_local_plain && spec->rope_scaling != kRopeScaleNone && spec->rope_local_base == 0)
      spec->rope_local_base = spec->rope_base;
    return LINNET_OK;
  }

  // How many channels of a head RoPE turns.
  Status read_rotary(const json* factor, double absent, ModelSpec* spec) {
    double share = absent;
    if (factor && !factor->is_null()) {
      if (!factor->is_number() || !std::isfinite(factor->get<double>())) return wrong("partial_rotary_factor", *factor, "a number");
      share = factor->get<double>();
    }
    if (!(share > 0 && share <= 1)) return wrong("partial_rotary_factor", *factor, "above 0 and at most 1");
    spec->rope_dim = static_cast<uint32_t>(spec->head_dim * share);
    if (spec->rope_dim == 0 || spec->rope_dim % 2)
      return refuse(LINNET_UNSUPPORTED, "'", shown("partial_rotary_factor"), "' turns ", spec->rope_dim, " of ", spec->head_dim,
                    " channels: not supported");
    return LINNET_OK;
  }

  // "Proportional": of the pairs of a head a share turns, the fastest ones.
  Status read_turned(double share, ModelSpec* spec) {
    if (!(share > 0 && share <= 1))
      return refuse(LINNET_UNSUPPORTED, "'partial_rotary_factor' ", std::to_string(share),
                    " of 'proportional' is not above 0 and at most 1");
    spec->rope_turned = 2 * static_cast<uint32_t>(std::floor(share * spec->rope_dim / 2));
    if (spec->rope_turned == 0) return refuse(LINNET_UNSUPPORTED, "'partial_rotary_factor' turns none of ", spec->rope_dim, " channels");
    if (spec->rope_turned == spec->rope_dim) spec->rope_turned = 0;
    return LINNET_OK;
  }

  Status read_rope_object(const json& rope, ModelSpec* spec) {
    std::string type = "default";
    for (const char* key : {"type", "rope_type"})  // the newer key counts where both are there
      if (get_string(rope, key, &type) == Got::kWrong) return wrong(key, *json_member(rope, key), "a string");
    if (type == "su") type = "longrope";
    if (type == "proportional" && arch_->absent.turned > 0) {
      double share = 1;
      if (const json* value = json_member(rope, "partial_rotary_factor"); get_double(rope, "partial_rotary_factor", &share) == Got::kWrong)
        return wrong("partial_rotary_factor", *value, "a number");
      LINNET_TRY(read_turned(share, spec));
      type = "default";
      if (const json* factor = json_member(rope, "factor"); factor && !factor->is_null() && *factor != 1) type = "linear";
    }
    static constexpr std::string_view kTypes[] = {"default", "linear", "llama3", "dynamic", "longrope", "yarn"};
    if (!listed(kTypes, type)) return refuse(LINNET_UNSUPPORTED, "rope scaling '", type, "' is not supported yet");
    for (const auto& [key, value] : *rope.get_ptr<const json::object_t*>()) {
      static constexpr std::string_view kKnown[] = {
          "type", "rope_type", "rope_theta", "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"};
      static constexpr std::string_view kLong[] = {"short_factor", "long_factor", "attention_factor"};
      static constexpr std::string_view kYarn[] = {"attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"};
      static constexpr std::string_view kAlpha[] = {"alpha", "beta_fast", "beta_slow", "mscale",
                                                    "mscale_all_dim"};  // Hunyuan, of which alpha counts
      if (value.is_null() || listed(kKnown, key) || (type == "longrope" && listed(kLong, key)) || (type == "yarn" && listed(kYarn, key)) ||
          (type == "dynamic" && listed(kAlpha, key) && json_member(rope, "alpha")))
        continue;
      if (arch_->rope_mscales && type == "longrope" && (key == "short_mscale" || key == "long_mscale")) continue;
      if (arch_->rope_temperature && (key == "llama_4_scaling_beta" || (key == "max_position_embeddings" && value == spec->n_context)))
        continue;
      if (arch_->delta && (key == "mrope_interleaved" || key == "mrope_section")) continue;  // a text's three positions are the same
      if (key == "partial_rotary_factor" && arch_->absent.turned > 0) continue;
      if (key != "partial_rotary_factor")
        return refuse(LINNET_UNSUPPORTED, "rope parameter '", key, "' (", json_show(value), ") is not supported");
      LINNET_TRY(arch_->absent.rotary > 0 ? read_rotary(&value, 1, spec) : check_only({"partial_rotary_factor", "1.0"}, value));
    }
    const bool base_on_top = json_member(config_, "rope_theta") != nullptr;
    const double base = spec->rope_base;
    LINNET_TRY(read_number(rope, "rope_theta", &ModelSpec::rope_base, spec));
    if (base_on_top && base != spec->rope_base) return refuse(LINNET_BAD_FILE, "'rope_theta' is there twice, with two values");
    if (arch_->rope_temperature) {
      LINNET_TRY(read_required(rope, "llama_4_scaling_beta", &ModelSpec::temp_scale, spec));
      LINNET_TRY(read_required(rope, "original_max_position_embeddings", &ModelSpec::temp_positions, spec));
    }
    if (type == "default") return LINNET_OK;
    if (type == "longrope") return read_longrope(rope, spec);
    if (type == "dynamic") return read_dynamic(rope, spec);
    spec->rope_scaling = type == "linear" ? kRopeScaleLinear : type == "yarn" ? kRopeScaleYarn : kRopeScaleLlama3;
    LINNET_TRY(read_required(rope, "factor", &ModelSpec::rope_factor, spec));
    if (type == "linear") return LINNET_OK;
    if (type == "yarn") return read_yarn(rope, spec);
    LINNET_TRY(read_required(rope, "low_freq_factor", &ModelSpec::rope_low, spec));
    LINNET_TRY(read_required(rope, "high_freq_factor", &ModelSpec::rope_high, spec));
    LINNET_TRY(read_required(rope, "original_max_position_embeddings", &ModelSpec::rope_original, spec));
    if (spec->rope_low > spec->rope_high) return refuse(LINNET_BAD_FILE, "'high_freq_factor' is below 'low_freq_factor'");
    return LINNET_OK;
  }

  // What YaRN scales scores by is given as such, or follows from the factor, and in DeepSeek's models from two numbers, the second of which
  // scales the whole product too.
  Status read_yarn(const json& rope, ModelSpec* spec) {
    spec->rope_low = 1, spec->rope_high = 32, spec->rope_original = spec->n_context;
    LINNET_TRY(read_number(rope, "beta_slow", &ModelSpec::rope_low, spec));
    LINNET_TRY(read_number(rope, "beta_fast", &ModelSpec::rope_high, spec));
    LINNET_TRY(read_number(rope, "original_max_position_embeddings", &ModelSpec::rope_original, spec));
    LINNET_TRY(read_number(rope, "attention_factor", &ModelSpec::rope_attn_factor, spec));
    bool truncate = true;
    if (get_bool(rope, "truncate", &truncate) == Got::kWrong) return wrong("truncate", *json_member(rope, "truncate"), "true or false");
    spec->rope_untruncated = !truncate;
    double mscale = 0, all = 0;
    for (const char* key : {"mscale", "mscale_all_dim"}) {
      double& to = key == std::string_view("mscale") ? mscale : all;
      if (get_double(rope, key, &to) == Got::kWrong || !(to >= 0 && to < 100))
        return wrong(key, *json_member(rope, key), "a number from 0 to 100");
    }
    const auto grown = [&](double m) { return yarn_grown(*spec, m); };
    if (spec->rope_attn_factor == 0) spec->rope_attn_factor = mscale > 0 && all > 0 ? grown(mscale) / grown(all) : grown(1);
    if (arch_->latent && all > 0) spec->attn_scale = grown(all) * grown(all) / std::sqrt(spec->qk_nope_dim + spec->qk_rope_dim);
    return LINNET_OK;
  }
  // With alpha the base is another one, whatever the length.
  Status read_dynamic(const json& rope, ModelSpec* spec) {
    double alpha = 0;
    if (spec->rope_dim <= 2) return refuse(LINNET_UNSUPPORTED, "rope scaling 'dynamic' of ", spec->rope_dim, " channels is not supported");
    if (const json* found = json_member(rope, "alpha"); found && !found->is_null()) {
      if (get_double(rope, "alpha", &alpha) != Got::kFound || !(alpha > 0 && alpha <= 1e6))
        return wrong("alpha", *found, "a number above 0");
      spec->rope_base *= rope_power(alpha, static_cast<double>(spec->rope_dim) / (spec->rope_dim - 2));
      return LINNET_OK;
    }
    spec->rope_scaling = kRopeScaleDynamic;
    spec->rope_original = spec->n_context;  // as transformers has it, whatever original_max_position_embeddings says
    return read_required(rope, "factor", &ModelSpec::rope_factor, spec);
  }

  Status read_longrope(const json& rope, ModelSpec* spec) {
    spec->rope_scaling = kRopeScaleLong;
    const char* key = "original_max_position_embeddings";
    spec->rope_original = arch_->absent.rope_original ? arch_->absent.rope_original : spec->n_context;
    LINNET_TRY(read_number(arch_->absent.rope_original ? config_ : rope, key, &ModelSpec::rope_original, spec));
    const uint32_t original = spec->rope_original;
    LINNET_TRY(read_number(rope, key, &ModelSpec::rope_original, spec));
    if (original != spec->rope_original)
      return refuse(LINNET_BAD_FILE, "'", key, "' is ", original, ", but ", spec->rope_original, " in the rope parameters");
    double factor = static_cast<double>(spec->n_context) / spec->rope_original;
    if (get_double(rope, "factor", &factor) == Got::kWrong) return wrong("factor", *json_member(rope, "factor"), "a number");
    spec->rope_attn_factor = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(spec->rope_original)));
    LINNET_TRY(read_number(rope, "attention_factor", &ModelSpec::rope_attn_factor, spec));
    if (arch_->rope_mscales) {  // whatever follows from the lengths
      LINNET_TRY(read_required(rope, "short_mscale", &ModelSpec::rope_attn_factor, spec));
      const double to_original = spec->rope_attn_factor;
      LINNET_TRY(read_required(rope, "long_mscale", &ModelSpec::rope_attn_factor, spec));
      if (spec->rope_attn_factor != to_original)
        return refuse(LINNET_UNSUPPORTED, "'long_mscale' ", std::to_string(spec->rope_attn_factor), " beside 'short_mscale' ",
                      std::to_string(to_original), ": two that differ are not supported");
    }
    LINNET_TRY(read_factors(rope, "short_factor", spec->rope_dim / 2, &out_->rope_short));
    return read_factors(rope, "long_factor", spec->rope_dim / 2, &out_->rope_long);
  }
  Status read_factors(const json& rope, const char* key, uint32_t n, std::vector<float>* out) {
    const json* list = json_member(rope, key);
    if (!list || list->is_null()) return missing(key);
    if (!list->is_array() || list->size() != n) return wrong(key, *list, "a list of " + std::to_string(n) + " numbers");
    for (const json& v : *list) {
      const double x = v.is_number() ? v.get<double>() : 0;
      if (!(x > 1e-6 && x < 1e6)) return wrong(key, v, "a list of numbers above 0");
      out->push_back(static_cast<float>(x));
    }
    return LINNET_OK;
  }

  // Which layers see a window: by `layer_types` where it is there, else all from `max_window_layers` on (Qwen), or all.
  Status read_windows(ModelSpec* spec) {
    uint32_t window = json_member(config_, "sliding_window") ? 0 : arch_->absent.window, from = 0;
    bool on = true;
    LINNET_TRY(read_flag("use_sliding_window", !arch_->window_by_switch, &on));
    if (get_u32(config_, "sliding_window", &window) == Got::kWrong)
      return wrong("sliding_window", *json_member(config_, "sliding_window"), "a count");
    if (spec->bidirectional && window) window = window / 2 + 1;  // half of it before, half behind
    if (arch_->absent.windows_from) from = arch_->absent.windows_from;
    if ((arch_->window_by_switch || from) && get_u32(config_, "max_window_layers", &from) == Got::kWrong)
      return wrong("max_window_layers", *json_member(config_, "max_window_layers"), "a count");
    const json* types = json_member(config_, "layer_types");
    if (types && types->is_null()) types = nullptr;
    uint32_t period = arch_->absent.window_pattern;
    for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"})
      if (const json* value = json_member(config_, key); period && !(types && value && value->is_string()))  // EXAONE's "LLLG"
        if (get_u32(config_, key, &period) == Got::kWrong) return wrong(key, *value, "a count");
    if (arch_->absent.window_pattern && period == 0 && !types) return refuse(LINNET_BAD_FILE, "'sliding_window_pattern' is 0");
    std::vector<bool> windowed(spec->n_layers, on && window > 0);
    for (uint32_t i = 0; i < from && i < spec->n_layers; ++i) windowed[i] = false;
    for (uint32_t i = 0; period && i < spec->n_layers; ++i) windowed[i] = windowed[i] && (arch_->absent.window_first ? i : i + 1) % period;
    if (const json* rope = json_member(config_, "no_rope_layers");
        spec->window_chunks && rope && !rope->is_null() && !(rope->is_array() && rope->empty())) {  // 1: RoPE, and chunks
      if (!rope->is_array() || rope->size() != spec->n_layers) return wrong("no_rope_layers", *rope, "a list with one entry per layer");
      for (uint32_t i = 0; i < spec->n_layers; ++i) windowed[i] = (*rope)[i] != 0;
    }
    const std::vector<bool> with_rope = windowed;
    if (types) {
      if (!types->is_array() || types->size() != spec->n_layers) return wrong("layer_types", *types, "a list with one entry per layer");
      for (uint32_t i = 0; i < spec->n_layers; ++i) {
        const json& type = (*types)[i];
        const auto* name = type.get_ptr<const json::string_t*>();
        const char* windowed_type = spec->window_chunks ? "chunked_attention" : "sliding_attention";
        if (!name || (*name != "full_attention" && *name != windowed_type))
          return refuse(LINNET_UNSUPPORTED, "layer type ", json_show(type), " is not supported");
        windowed[i] = *name == windowed_type;
        if (windowed[i] && window == 0)
          return refuse(LINNET_BAD_FILE, "layer type ", json_show(type), " without '", shown("sliding_window"), "'");
      }
    }
    if (spec->window_chunks && with_rope != windowed)
      return refuse(LINNET_UNSUPPORTED,
                    "'no_rope_layers' and 'layer_types': chunks in layers without RoPE, or no chunks in others, are not supported");
    if (arch_->absent.nope_interval && on && window && !json_member(config_, "layer_types"))
      return refuse(LINNET_UNSUPPORTED, "'sliding_window' ", window, " without 'layer_types' is not supported");
    if (arch_->nope_without_window && (window || !arch_->rope_without_windows)) LINNET_TRY(find_nope(windowed, "layer_types", spec));
    const auto first = std::find(windowed.begin(), windowed.end(), true);
    if (first != windowed.end() && !arch_->window_by_switch && !arch_->window_by_key && !arch_->absent.window && window < spec->n_context)
      return refuse(LINNET_UNSUPPORTED, "'", shown("sliding_window"), "' ", window, " of '", arch_->name, "' is not supported");
    if (first == windowed.end() || (window >= spec->n_context && spec->rope_local_base == 0)) {  // every position sees all before it
      if (first == windowed.end()) spec->rope_local_base = 0, spec->rope_local_dim = 0;
      return read_layer_ropes(spec);
    }
    spec->window = window;
    spec->window_from = static_cast<uint32_t>(first - windowed.begin());
    for (spec->window_pattern = 0; spec->window_pattern <= spec->n_layers; ++spec->window_pattern) {
      uint32_t same = 0;
      while (same < spec->n_layers && (layer_spec(*spec, same).window != 0) == windowed[same]) ++same;
      if (same == spec->n_layers) return read_layer_ropes(spec);
    }
    spec->window_pattern = spec->window_from = 0;  // no period: each layer says it
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      layers.push_back(layer_spec(*spec, i));
      if (windowed[i]) continue;
      layers[i].window = 0;
      if (global_dim_) layers[i].head_dim = global_dim_;
      if (layers[i].rope == LayerRope::kLocal) layers[i].rope = LayerRope::kMain;
    }
    set_layers(spec, &out_->layers, layers);
    return read_layer_ropes(spec);
  }

  // A base of RoPE for each layer, 0 for none: two of them at most, since a spec has two.
  Status read_layer_ropes(ModelSpec* spec) {
    const json* list = arch_->rope_by_layer ? json_member(config_, "layer_rope_theta") : nullptr;
    if (!list || list->is_null()) return LINNET_OK;
    if (!list->is_array() || list->size() != spec->n_layers) return wrong("layer_rope_theta", *list, "a list with one entry per layer");
    std::vector<double> bases(spec->n_layers), known;
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      const json& base = (*list)[i];
      bases[i] = base.is_number() ? base.get<double>() : -1;
      if (!(bases[i] == 0 || (bases[i] >= 1 && bases[i] <= 1e12))) return wrong("layer_rope_theta", base, "a list of bases, or 0");
      if (bases[i] > 0 && std::find(known.begin(), known.end(), bases[i]) == known.end()) known.push_back(bases[i]);
    }
    if (known.size() > 2 || (known.size() == 2 && spec->rope_scaling != kRopeScaleNone))
      return refuse(LINNET_UNSUPPORTED, "'layer_rope_theta' of ", known.size(), " bases, or of two beside a scaling, is not supported");
    if (!known.empty()) spec->rope_base = known[0];
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < spec->n_layers; ++i) layers.push_back(layer_spec(*spec, i));
    if (known.size() == 2) spec->rope_local_base = known[1];
    for (uint32_t i = 0; i < spec->n_layers; ++i)
      layers[i].rope = bases[i] == 0 ? LayerRope::kNone : bases[i] == known[0] ? LayerRope::kMain : LayerRope::kLocal;
    set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }

  // Which layers are short convolutions; and d_ff, of which files say what it is made from.
  Status read_convolutions(ModelSpec* spec) {
    LINNET_TRY(read_number(config_, "conv_L_cache", &ModelSpec::conv_taps, spec));
    if (!arch_->absent.window) LINNET_TRY(read_adjusted(spec));
    const json *types = json_member(config_, "layer_types"), *full = json_member(config_, "full_attn_idxs");
    if (types && !types->is_null()) return read_mixers(*types, "conv", kMixerConv, spec);
    if (arch_->absent.window) {
      json pattern = json::array();
      for (uint32_t i = 0; i < spec->n_layers; ++i)
        pattern.push_back(i % 4 == 2 ? "full_attention" : i % 4 || i == 0 ? "conv" : "sliding_attention");
      return read_mixers(pattern, "conv", kMixerConv, spec);
    }
    if (full && !full->is_null() && !full->is_array()) return wrong("full_attn_idxs", *full, "a list of layers");
    return set_mixers(spec, kMixerConv,
                      [&](uint32_t i) { return !full || full->is_null() || std::find(full->begin(), full->end(), i) != full->end(); });
  }
  // LFM2's d_ff is two thirds of what the key says, rounded up.
  Status read_adjusted(ModelSpec* spec) {
    bool adjust = !arch_->experts.count;
    double by = 1;
    uint32_t multiple = 256;
    LINNET_TRY(read_flag("block_auto_adjust_ff_dim", adjust, &adjust));
    LINNET_TRY(read_count("block_multiple_of", &multiple));
    if (const json* value = json_member(config_, "block_ffn_dim_multiplier");
        get_double(config_, "block_ffn_dim_multiplier", &by) == Got::kWrong || !(by > 0 && by <= 1024))
      return wrong("block_ffn_dim_multiplier", *value, "a number above 0");
    if (adjust && multiple == 0) return wrong("block_multiple_of", *json_member(config_, "block_multiple_of"), "above 0");
    if (adjust) {
      const double width = std::floor(by * static_cast<double>(2 * uint64_t{spec->d_ff} / 3));
      const uint64_t d_ff = width < 1e9 ? div_up(static_cast<uint64_t>(width), multiple) * multiple : UINT32_MAX;
      spec->d_ff = d_ff > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(d_ff);
    }
    return LINNET_OK;
  }

  // Layers of attention and of another kind, which layer_types names.
  Status read_mixers(const json& types, std::string_view name, Mixer mixer, ModelSpec* spec) {
    if (!types.is_array() || types.size() != spec->n_layers) return wrong("layer_types", types, "a list with one entry per layer");
    uint32_t window = arch_->absent.window;
    if (const json* value = json_member(config_, "sliding_window"); window && value)
      if (get_u32(config_, "sliding_window", &window) != Got::kFound || window == 0)
        return wrong("sliding_window", *value, "a count above 0");
    const auto windowed = [&](uint32_t i) { return window && json_is(types[i], "sliding_attention"); };
    for (uint32_t i = 0; i < spec->n_layers; ++i)
      if (!json_is(types[i], "full_attention") && !json_is(types[i], name) && !windowed(i))
        return refuse(LINNET_UNSUPPORTED, "layer type ", json_show(types[i]), " is not supported");
    if (std::none_of(types.begin(), types.end(), [](const json& type) { return json_is(type, "sliding_attention"); }))
      spec->rope_local_base = 0;
    LINNET_TRY(set_mixers(spec, mixer, [&](uint32_t i) { return !json_is(types[i], name); }));
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      layers.push_back(layer_spec(*spec, i));
      if (!windowed(i)) continue;
      layers[i].window = window;
      layers[i].rope = spec->rope_local_base > 0 ? LayerRope::kLocal : LayerRope::kMain;
    }
    if (window && !layers.empty()) set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }
  template <class Attends>
  Status set_mixers(ModelSpec* spec, Mixer mixer, const Attends& attends) {
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      layers.push_back(layer_spec(*spec, i));
      if (attends(i)) continue;
      layers[i].mixer = mixer;
      layers[i].rope = LayerRope::kNone;
    }
    if (!layers.empty()) set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }

  // Layers that see all have heads of another size and may have fewer keys, which may be values, too; the last layers may look at an
  // earlier one's and have twice the width; and what layers read of tokens besides.
  Status read_gemma4(ModelSpec* spec) {
    if (spec->n_experts) spec->shared_ff = spec->d_ff, spec->moe_beside = 1;
    bool values_of_keys = false, wide = false;
    uint32_t kv_heads = 0, shared = 0;
    LINNET_TRY(read_flag("attention_k_eq_v", false, &values_of_keys));
    LINNET_TRY(read_flag("use_double_wide_mlp", false, &wide));
    LINNET_TRY(read_count("num_global_key_value_heads", &kv_heads));
    LINNET_TRY(read_shared(*spec, &shared));
    spec->values_of_keys = values_of_keys;
    if (std::string_view(arch_->name) == "gemma4_text") {
      LINNET_TRY(read_layer_embd(spec));
      if (spec->layer_embd == 0) spec->layer_embd_vocab = 0;
      if (spec->layer_embd && spec->layer_embd_vocab < spec->n_vocab)  // ids beyond are an error in transformers
        return refuse(LINNET_UNSUPPORTED, "'vocab_size_per_layer_input' ", spec->layer_embd_vocab, " below 'vocab_size' ", spec->n_vocab,
                      " is not supported");
    }
    const json* by_layer = json_member(config_, "per_layer_config");  // what transformers writes of the keys that files are published with
    if (by_layer && by_layer->is_null()) by_layer = nullptr;
    if (by_layer && !by_layer->is_object()) return wrong("per_layer_config", *by_layer, "an object");
    std::vector<LayerSpec> layers;
    const uint32_t n_layers = spec->n_layers;
    for (uint32_t i = 0; i < n_layers; ++i) {
      LayerSpec l = layer_spec(*spec, i);
      const json* own = by_layer ? json_member(*by_layer, std::to_string(i).c_str()) : nullptr;
      if (!by_layer && !l.window) {
        l.head_dim = spec->rope_dim;
        if (values_of_keys && kv_heads) l.n_kv_heads = kv_heads;
      }
      if (own) LINNET_TRY(read_own_heads(*own, &l));
      if (!l.window && l.head_dim != spec->rope_dim)
        return refuse(LINNET_UNSUPPORTED, "layers that see all have heads of ", spec->rope_dim, " and ", l.head_dim,
                      ": different ones are not supported");
      if (l.window && l.head_dim != spec->head_dim)
        return refuse(LINNET_UNSUPPORTED, "'per_layer_config': layer ", i, " has a window and heads of ", l.head_dim, ", not ",
                      spec->head_dim);
      if (i + 1 == n_layers && l.window)
        return refuse(LINNET_UNSUPPORTED, "'layer_types': the last layer has a window, which transformers takes from it");
      LINNET_TRY(share_keys(layers, shared, n_layers, i, &l));
      if (wide && l.kv_back) l.d_ff *= 2;
      layers.push_back(l);
    }
    if (!layers.empty()) set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }
  Status read_layer_embd(ModelSpec* spec) {
    spec->layer_embd = 256, spec->layer_embd_vocab = 262144;
    LINNET_TRY(read_count("hidden_size_per_layer_input", &spec->layer_embd));
    return read_count("vocab_size_per_layer_input", &spec->layer_embd_vocab);
  }
  // How many of the last layers have the keys and values of the last one of their kind before them; and layer i, one of these or not.
  Status read_shared(const ModelSpec& spec, uint32_t* shared) {
    LINNET_TRY(read_count("num_kv_shared_layers", shared));
    if (*shared >= spec.n_layers && *shared)
      return refuse(LINNET_UNSUPPORTED, "'num_kv_shared_layers' ", *shared, " of ", spec.n_layers, " layers is not supported");
    return LINNET_OK;
  }
  Status share_keys(const std::vector<LayerSpec>& before, uint32_t shared, uint32_t n_layers, uint32_t i, LayerSpec* l) {
    if (i + shared < n_layers) return LINNET_OK;
    uint32_t of = n_layers - shared;
    while (of-- && (before[of].window != 0) != (l->window != 0)) {
    }
    if (of == UINT32_MAX)
      return refuse(LINNET_BAD_FILE, "'num_kv_shared_layers' ", shared, ": no layer before the last ones is of the kind of layer ", i);
    l->kv_back = i - of;
    return LINNET_OK;
  }

  // Gemma 3n: what layers read of tokens, the last ones' keys, and layers whose gates are mostly 0.
  Status read_gemma3n(ModelSpec* spec) {
    uint32_t shared = 15;
    LINNET_TRY(read_shared(*spec, &shared));
    LINNET_TRY(read_layer_embd(spec));
    LINNET_TRY(read_number(config_, "laurel_rank", &ModelSpec::laurel_rank, spec));
    const json* pattern = json_member(config_, "activation_sparsity_pattern");
    if (pattern && pattern->is_null()) pattern = nullptr;
    if (pattern && !pattern->is_number() && (!pattern->is_array() || pattern->size() != spec->n_layers))
      return wrong("activation_sparsity_pattern", *pattern, "a list with one entry per layer");
    double share = 0;  // of a layer's gates that are to be 0
    std::vector<LayerSpec> layers;
    const uint32_t n_layers = spec->n_layers;
    for (uint32_t i = 0; i < n_layers; ++i) {
      LayerSpec l = layer_spec(*spec, i);
      const json absent = spec->n_layers > kSparseLayers && i < kSparseLayers ? 0.95 : 0.0;
      const json& entry = !pattern ? absent : pattern->is_array() ? (*pattern)[i] : *pattern;
      const double own = entry.is_number() ? entry.get<double>() : -1;
      if (!(own >= 0 && own < 1)) return wrong("activation_sparsity_pattern", entry, "numbers from 0 to below 1");
      if (own > 0 && share > 0 && own != share)
        return refuse(LINNET_UNSUPPORTED, "'activation_sparsity_pattern' ", json_show(entry), " beside ", std::to_string(share),
                      " is not supported");
      if (own > 0) share = own, l.sparse = 1;
      LINNET_TRY(share_keys(layers, shared, n_layers, i, &l));
      layers.push_back(l);
    }
    if (share > 0) spec->sparse_cut = static_cast<double>(deviations_below(static_cast<float>(share)));
    if (share > 0 && !(spec->sparse_cut > 0))
      return refuse(LINNET_UNSUPPORTED, "'activation_sparsity_pattern' ", std::to_string(share), " is not supported, only above 0.5");
    if (!layers.empty()) set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }
  Status read_own_heads(const json& own, LayerSpec* l) {
    if (!own.is_object()) return wrong("per_layer_config", own, "an object for a layer");
    for (const auto& [key, value] : *own.get_ptr<const json::object_t*>()) {
      uint32_t* to = key == "head_dim" ? &l->head_dim : key == "num_key_value_heads" ? &l->n_kv_heads : nullptr;
      if (!to) return refuse(LINNET_UNSUPPORTED, "'per_layer_config': key '", key, "' (", json_show(value), ") is not supported");
      if (get_u32(own, key.c_str(), to) != Got::kFound || *to == 0 || *to > 1024)
        return wrong("per_layer_config", value, "a count from 1 to 1024");
    }
    return LINNET_OK;
  }
  // Heads of layers that see all: the one size that per_layer_config says, or the key that files are published with.
  Status read_global_dim(uint32_t* dim) {
    const json* by_layer = json_member(config_, "per_layer_config");
    if (!by_layer || !by_layer->is_object()) return read_count("global_head_dim", dim);
    for (const auto& [layer, own] : *by_layer->get_ptr<const json::object_t*>())
      if (json_member(own, "head_dim") && get_u32(own, "head_dim", dim) == Got::kWrong)
        return wrong("per_layer_config", own, "an object with counts");
    return LINNET_OK;
  }

  // Gated delta nets: by layer_types, or all but every full_attention_interval-th layer.
  Status read_delta(ModelSpec* spec) {
    LINNET_TRY(read_number(config_, "linear_conv_kernel_dim", &ModelSpec::conv_taps, spec));
    LINNET_TRY(read_number(config_, "linear_num_key_heads", &ModelSpec::delta_key_heads, spec));
    LINNET_TRY(read_number(config_, "linear_num_value_heads", &ModelSpec::delta_value_heads, spec));
    LINNET_TRY(read_number(config_, "linear_key_head_dim", &ModelSpec::delta_key_dim, spec));
    LINNET_TRY(read_number(config_, "linear_value_head_dim", &ModelSpec::delta_value_dim, spec));
    if (spec->delta_by_key) return read_kimi(spec);
    if (arch_->delta_from_heads) {
      if (!spec->delta_key_heads) spec->delta_key_heads = spec->n_heads;
      if (!spec->delta_value_heads) spec->delta_value_heads = spec->n_heads;
      if (!spec->delta_key_dim) spec->delta_key_dim = static_cast<uint32_t>(0.75 * spec->d_model / spec->delta_key_heads);
      if (!spec->delta_value_dim) spec->delta_value_dim = 2 * spec->delta_key_dim;
    }
    if (const json* types = json_member(config_, "layer_types"); types && !types->is_null())
      return read_mixers(*types, "linear_attention", kMixerDelta, spec);
    if (arch_->delta_from_heads && spec->n_layers < 4) return missing("layer_types");  // of so few one attends all the same
    uint32_t interval = 4;
    LINNET_TRY(read_count("full_attention_interval", &interval));
    if (interval == 0) return wrong("full_attention_interval", *json_member(config_, "full_attention_interval"), "above 0");
    return set_mixers(spec, kMixerDelta, [&](uint32_t i) { return (i + 1) % interval == 0; });
  }

  // Kimi Linear's are alike for keys and values, and stand in an object of their own in published files, which counts layers from 1.
  Status read_kimi(ModelSpec* spec) {
    JsonTree none;
    none.root = json::object();
    const json* own = json_member(config_, "linear_attn_config");
    if (own && own->is_null()) own = nullptr;
    if (own && !own->is_object()) return wrong("linear_attn_config", *own, "an object");
    const json &sizes = own ? *own : none.root, *full = json_member(sizes, "full_attn_layers"), *kda = json_member(sizes, "kda_layers");
    for (const auto& [key, value] : *sizes.get_ptr<const json::object_t*>())
      if (key != "head_dim" && key != "num_heads" && key != "short_conv_kernel_size" && key != "full_attn_layers" && key != "kda_layers")
        return refuse(LINNET_UNSUPPORTED, "'linear_attn_config.", key, "' (", json_show(value), ") is not supported");
    LINNET_TRY(read_number(config_, "linear_head_dim", &ModelSpec::delta_key_dim, spec));
    LINNET_TRY(read_number(config_, "linear_num_heads", &ModelSpec::delta_key_heads, spec));
    LINNET_TRY(read_number(sizes, "head_dim", &ModelSpec::delta_key_dim, spec));
    LINNET_TRY(read_number(sizes, "num_heads", &ModelSpec::delta_key_heads, spec));
    LINNET_TRY(read_number(sizes, "short_conv_kernel_size", &ModelSpec::conv_taps, spec));
    spec->delta_value_dim = spec->delta_key_dim, spec->delta_value_heads = spec->delta_key_heads;
    if (const json* types = json_member(config_, "layer_types"); types && !types->is_null())
      return read_mixers(*types, "linear_attention", kMixerDelta, spec);
    if (!full || !kda) return set_mixers(spec, kMixerDelta, [](uint32_t i) { return i && i % 4 == 0; });
    if (!full->is_array() || !kda->is_array() || full->size() + kda->size() != spec->n_layers)
      return refuse(LINNET_BAD_FILE, "'linear_attn_config': 'full_attn_layers' and 'kda_layers' are no lists of ", spec->n_layers,
                    " layers");
    for (uint32_t i = 1; i <= spec->n_layers; ++i)
      if (std::count(full->begin(), full->end(), i) + std::count(kda->begin(), kda->end(), i) != 1)
        return refuse(LINNET_BAD_FILE, "'linear_attn_config': layer ", i, " is not once in 'full_attn_layers' or 'kda_layers'");
    return set_mixers(spec, kMixerDelta, [&](uint32_t i) { return std::find(full->begin(), full->end(), i + 1) != full->end(); });
  }

  // Layers of attention and of Mamba-2; where layer_types are not said all are the latter.
  Status read_mamba(ModelSpec* spec) {
    if (const json* window = json_member(config_, "sliding_window"); window && !window->is_null())
      return refuse(LINNET_UNSUPPORTED, "'", shown("sliding_window"), "' ", json_show(*window), " of '", arch_->name, "' is not supported");
    std::vector<bool> attends(spec->n_layers, false);
    if (const json* list = json_member(config_, "attn_layer_indices"); list && !list->is_null()) {  // Bamba
      if (!list->is_array()) return wrong("attn_layer_indices", *list, "a list of layers");
      for (const json& i : *list) {
        const auto* at = i.get_ptr<const json::number_unsigned_t*>();
        if (!at || *at >= spec->n_layers) return wrong("attn_layer_indices", i, "a list of layers");
        attends[static_cast<size_t>(*at)] = true;
      }
    }
    const json* types = json_member(config_, "layer_types");
    if (types && !types->is_null()) {
      if (!types->is_array() || types->size() != spec->n_layers) return wrong("layer_types", *types, "a list with one entry per layer");
      for (uint32_t i = 0; i < spec->n_layers; ++i) {
        const json& type = (*types)[i];
        attends[i] = json_is(type, "attention") || json_is(type, "full_attention");
        const bool other = arch_->mamba_beside ? json_is(type, "hybrid") : json_is(type, "mamba") || json_is(type, "linear_attention");
        if (!other && (!attends[i] || arch_->mamba_beside))
          return refuse(LINNET_UNSUPPORTED, "layer type ", json_show(type), " is not supported");
      }
    }
    if (arch_->mamba_beside) {
      LINNET_TRY(read_mamba_sizes(spec));
      return read_beside(spec);
    }
    if (std::find(attends.begin(), attends.end(), false) == attends.end()) {
      without_mamba(spec);
      return LINNET_OK;
    }
    LINNET_TRY(read_mamba_sizes(spec));
    return set_mixers(spec, kMixerMamba, [&](uint32_t i) { return attends[i]; });
  }
  Status read_mamba_sizes(ModelSpec* spec) {
    LINNET_TRY(read_number(config_, "mamba_d_conv", &ModelSpec::conv_taps, spec));
    LINNET_TRY(read_number(config_, "mamba_n_heads", &ModelSpec::mamba_heads, spec));
    LINNET_TRY(read_number(config_, "mamba_n_groups", &ModelSpec::mamba_groups, spec));
    LINNET_TRY(read_number(config_, "mamba_d_state", &ModelSpec::mamba_state_dim, spec));
    LINNET_TRY(read_steps(spec));
    bool bias = true;
    LINNET_TRY(read_flag("mamba_conv_bias", true, &bias));
    spec->mamba_conv_bias = bias;
    LINNET_TRY(read_flag("mamba_proj_bias", false, &bias));
    if (bias) return refuse(LINNET_UNSUPPORTED, "'", shown("mamba_proj_bias"), "' true is not supported");
    uint32_t expand = 2, d_ssm = arch_->mamba_beside && !json_member(config_, "mamba_d_ssm") ? 1024 : 0;
    LINNET_TRY(read_count("mamba_expand", &expand));
    if (arch_->mamba_beside) LINNET_TRY(read_count("mamba_d_ssm", &d_ssm));
    const uint64_t inner = d_ssm ? d_ssm : uint64_t{expand} * spec->d_model;
    if (spec->mamba_heads == 0) return missing("mamba_n_heads");
    if (const json* dim = json_member(config_, "mamba_d_head"); !dim || dim->is_null() || json_is(*dim, "auto"))
      spec->mamba_head_dim = static_cast<uint32_t>(inner / spec->mamba_heads);
    else
      LINNET_TRY(read_number(config_, "mamba_d_head", &ModelSpec::mamba_head_dim, spec));
    if ((!arch_->one_step || arch_->mamba_alone) && uint64_t{spec->mamba_heads} * spec->mamba_head_dim != inner)
      return refuse(LINNET_BAD_FILE, "'", shown("mamba_n_heads"), "' ", spec->mamba_heads, " times '", shown("mamba_d_head"), "' ",
                    spec->mamba_head_dim, " is not '", shown("mamba_expand"), "' ", expand, " times '", shown("hidden_size"), "' ",
                    spec->d_model, d_ssm ? ", which is 'mamba_d_ssm' " + std::to_string(d_ssm) : "");
    return LINNET_OK;
  }
  // Falcon-H1: norms of what states give are by choice, and most matrices have factors, which go into their weights. Those of embedding and
  // LM head stand in the spec where these are one.
  Status read_beside(ModelSpec* spec) {
    bool norm = false, first = true;
    LINNET_TRY(read_flag("mamba_rms_norm", false, &norm));
    LINNET_TRY(read_flag("mamba_norm_before_gate", true, &first));
    spec->mamba_norm = !norm ? kMambaNormNone : first ? kMambaNormFirst : kMambaNormLast;
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      layers.push_back(layer_spec(*spec, i));
      layers[i].mixer = kMixerAttentionMamba;
    }
    if (!layers.empty()) set_layers(spec, &out_->layers, layers);
    std::vector<float> embd(1, 1), head = embd, key = embd, attn_in = embd, attn_out = embd, in = embd, out = embd, mlp(2, 1), parts(5, 1);
    for (const auto& [name, to] : {std::pair{"embedding_multiplier", &embd},
                                   {"lm_head_multiplier", &head},
                                   {"key_multiplier", &key},
                                   {"attention_in_multiplier", &attn_in},
                                   {"attention_out_multiplier", &attn_out},
                                   {"ssm_in_multiplier", &in},
                                   {"ssm_out_multiplier", &out},
                                   {"mlp_multipliers", &mlp},
                                   {"ssm_multipliers", &parts}})
      LINNET_TRY(read_multipliers(name, to));
    if (spec->tied) spec->embd_scale = static_cast<double>(embd[0]), spec->logit_scale = static_cast<double>(head[0]);
    const uint32_t inner = spec->mamba_heads * spec->mamba_head_dim, n = spec->mamba_groups * spec->mamba_state_dim;
    out_->factors = [=, tied = spec->tied](Role role, uint32_t row) -> std::pair<float, float> {
      switch (role) {
        case kTokenEmbd:
          return {tied ? 1.0f : embd[0], 1.0f};
        case kOutput:
          return {head[0], 1.0f};
        case kAttnQ:
        case kAttnV:
          return {attn_in[0], 1.0f};
        case kAttnK:
          return {key[0], attn_in[0]};
        case kAttnOut:
          return {attn_out[0], 1.0f};
        case kMambaIn:
          return {in[0], parts[row < inner ? 0 : row < 2 * inner ? 1 : row < 2 * inner + n ? 2 : 3]};
        case kMambaDt:
          return {in[0], parts[4]};
        case kMambaOut:
          return {out[0], 1.0f};
        case kFfnGate:
        case kFfnGateBias:
          return {mlp[0], 1.0f};
        case kFfnDown:
        case kFfnDownBias:
          return {mlp[1], 1.0f};
        default:
          return {1.0f, 1.0f};
      }
    };
    return LINNET_OK;
  }
  // A number, or as many as there is room for; absent or null leaves them.
  Status read_multipliers(const char* key, std::vector<float>* to) {
    const json* value = json_member(config_, key);
    if (!value || value->is_null()) return LINNET_OK;
    const bool fits = to->size() == 1 ? value->is_number() : value->is_array() && value->size() == to->size();
    for (size_t i = 0; fits && i < to->size(); ++i) {
      const json& v = value->is_array() ? (*value)[i] : *value;
      (*to)[i] = v.is_number() ? static_cast<float>(v.get<double>()) : 0;
      if (!((*to)[i] > 1e-9f && (*to)[i] < 1e9f)) return wrong(key, v, "above 0");
    }
    return fits ? LINNET_OK : wrong(key, *value, to->size() == 1 ? "a number" : "a list of " + std::to_string(to->size()) + " numbers");
  }
  // What each layer is where it is one step alone; called when all of the experts is read.
  Status read_steps_of_layers(ModelSpec* spec) {
    std::vector<LayerSpec> layers;
    bool experts = false, mamba = false, dense = false;
    for (const char kind : blocks_) experts |= kind == 'E', mamba |= kind == 'M', dense |= kind == '-';
    if (!dense) spec->d_ff = experts && spec->expert_ff ? spec->expert_ff : 1;  // of which nothing is
    for (uint32_t i = 0; i < spec->n_layers; ++i) {
      LayerSpec l = layer_spec(*spec, i);
      const char kind = blocks_[i];
      l.mixer = kind == 'M' ? kMixerMamba : kind == '*' ? kMixerAttention : kMixerNoMixer;
      l.feed_forward = kind == '-' ? kFeedForwardDense : kind == 'E' ? kFeedForwardExperts : kFeedForwardNothing;
      l.rope = LayerRope::kNone;
      layers.push_back(l);
    }
    if (!experts)
      for (uint32_t ModelSpec::* field : {&ModelSpec::n_experts, &ModelSpec::n_active, &ModelSpec::expert_ff, &ModelSpec::shared_ff,
                                          &ModelSpec::router_kind, &ModelSpec::router_norm, &ModelSpec::router_groups,
                                          &ModelSpec::router_top_groups, &ModelSpec::router_group_best, &ModelSpec::router_correction})
        spec->*field = 0;
    if (!experts) spec->router_scale = 0;
    if (experts && !spec->n_experts) return missing("n_routed_experts");
    if (mamba)
      LINNET_TRY(read_mamba_sizes(spec));
    else
      without_mamba(spec);
    set_layers(spec, &out_->layers, layers);
    return LINNET_OK;
  }
  // Of each layer 'M' Mamba-2, '*' attention, '-' a feed-forward step, 'E' experts; how many there are follows.
  Status read_blocks(ModelSpec* spec) {
    static constexpr std::pair<std::string_view, char> kKinds[] = {{"linear_attention", 'M'}, {"mamba", 'M'}, {"full_attention", '*'},
                                                                   {"attention", '*'},        {"mlp", '-'},   {"moe", 'E'}};
    if (const json* types = json_member(config_, "layer_types"); types && !types->is_null()) {
      if (!types->is_array()) return wrong("layer_types", *types, "a list of layers");
      for (const json& type : *types) {
        const size_t before = blocks_.size();
        for (const auto& [name, kind] : kKinds)
          if (json_is(type, name)) blocks_ += kind;
        if (blocks_.size() == before) return refuse(LINNET_UNSUPPORTED, "layer type ", json_show(type), " is not supported");
      }
    } else if (get_string(config_, "hybrid_override_pattern", &blocks_) != Got::kFound ||
               blocks_.find_first_not_of("M*-E") != blocks_.npos) {
      const json* pattern = json_member(config_, "hybrid_override_pattern");
      return pattern ? wrong("hybrid_override_pattern", *pattern, "a string of M, *, - and E") : missing("hybrid_override_pattern");
    }
    if (blocks_.empty() || blocks_.size() > 1024 || (spec->n_layers && spec->n_layers != blocks_.size()))
      return refuse(LINNET_BAD_FILE, "'num_hidden_layers' ", spec->n_layers, " beside ", blocks_.size(), " kinds of layers");
    spec->n_layers = static_cast<uint32_t>(blocks_.size());
    return LINNET_OK;
  }
  // What Mamba-2's steps are cut to: two numbers, the second may be infinite.
  Status read_steps(ModelSpec* spec) {
    const json* limits = json_member(config_, "time_step_limit");
    if (!limits || limits->is_null()) return LINNET_OK;
    double of[2] = {};
    for (uint32_t i = 0; i < 2; ++i) {
      const json* v = limits->is_array() && limits->size() == 2 ? &(*limits)[i] : nullptr;
      const json* in_words = v ? json_member(*v, "__float__") : nullptr;  // as transformers 5 writes it
      if (v && v->is_number()) of[i] = v->get<double>();
      if (v && i == 1 && ((in_words && json_is(*in_words, "Infinity")) || (v->is_number() && std::isinf(of[1])))) {
        of[1] = INFINITY;
        continue;
      }
      if (!v || !v->is_number() || !(of[i] >= 0 && of[i] <= 1e6)) return wrong("time_step_limit", *limits, "two numbers from 0 on");
    }
    if (of[1] < of[0] || of[1] == 0) return wrong("time_step_limit", *limits, "two numbers, the second the larger one");
    spec->mamba_dt_min = of[0], spec->mamba_dt_max = std::isinf(of[1]) ? 0 : of[1];
    return LINNET_OK;
  }

  // Of queries in layers without RoPE (Llama 4), or in all.
  Status read_temperature(ModelSpec* spec) {
    bool on = spec->temp_scale > 0;
    if (const json* tuning = json_member(config_, "attn_temperature_tuning"); tuning && tuning->is_number_unsigned())
      on = *tuning != 0;  // published as 4
    else
      LINNET_TRY(read_flag("attn_temperature_tuning", on, &on));
    LINNET_TRY(read_number(config_, "floor_scale", &ModelSpec::temp_positions, spec));
    if (!on || !(spec->nope_pattern || spec->temp_all)) spec->temp_scale = spec->temp_positions = 0;
    return LINNET_OK;
  }

  Status make_slopes(const ModelSpec& spec) {
    double most = 8;
    if (get_double(config_, "alibi_bias_max", &most) == Got::kWrong || !(most > 0 && most <= 1024))
      return wrong("alibi_bias_max", *json_member(config_, "alibi_bias_max"), "a number above 0");
    out_->alibi = alibi_slopes(spec, most, arch_->alibi_scaled);
    return LINNET_OK;
  }

  // Layers without RoPE: those with 0 in the list, without it every so manyth.
  Status read_nope(ModelSpec* spec) {
    uint32_t interval = arch_->absent.nope_interval;
    if (interval == 0) return LINNET_OK;
    if (get_u32(config_, "no_rope_layer_interval", &interval) == Got::kWrong || interval == 0)
      return wrong("no_rope_layer_interval", *json_member(config_, "no_rope_layer_interval"), "a count above 0");
    std::vector<bool> rope(spec->n_layers);
    for (uint32_t i = 0; i < spec->n_layers; ++i) rope[i] = (i + 1) % interval;
    if (const json* list = json_member(config_, "no_rope_layers"); list && !list->is_null() && !(list->is_array() && list->empty())) {
      if (!list->is_array() || list->size() != spec->n_layers) return wrong("no_rope_layers", *list, "a list with one entry per layer");
      for (uint32_t i = 0; i < spec->n_layers; ++i) {
        const json& has = (*list)[i];
        if (has != 0 && has != 1) return wrong("no_rope_layers", has, "a list of 0 and 1");
        rope[i] = has == 1;
      }
    }
    return find_nope(rope, "no_rope_layers", spec);
  }

  // The period of the layers without RoPE.
  Status find_nope(const std::vector<bool>& rope, const char* key, ModelSpec* spec) {
    if (std::find(rope.begin(), rope.end(), false) == rope.end()) return LINNET_OK;
    for (spec->nope_pattern = 1; spec->nope_pattern <= spec->n_layers; ++spec->nope_pattern) {
      uint32_t same = 0;
      while (same < spec->n_layers && ((same + 1) % spec->nope_pattern == 0) != rope[same]) ++same;
      if (same == spec->n_layers) return LINNET_OK;
    }
    return refuse(LINNET_UNSUPPORTED, "'", key, "': the layers without RoPE follow no period");
  }

  HfConfig* out_ = nullptr;
  uint32_t global_dim_ = 0;  // of heads in layers without a window, where they are others
  std::string blocks_;       // of one_step
};

}  // namespace

Status read_config(std::string_view text, const char* label, HfConfig* out, Error* err) {
  JsonTree config;
  LINNET_TRY(json_parse_python(std::string(text), label, &config.root, err));
  return ConfigReader(std::move(config), label, err).read(out);
}

Status spec_from_config(std::string_view text, const char* label, ModelSpec* out, Error* err) {
  HfConfig config;
  LINNET_TRY(read_config(text, label, &config, err));
  *out = config.spec;
  for (const uint8_t*& values : out->layer_values) values = nullptr;
  return LINNET_OK;
}

}  // namespace linnet::convert
