// A plain GGUF of another maker as a Source. What linnet does not know, key or tensor, is refused by name: it could change the arithmetic.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "../architectures.h"
#include "ggml_types.h"
#include "hf_quant.h"
#include "source.h"

namespace linnet::convert {
namespace {

// ---- the files --------------------------------------------------------------------------------------------------------------

constexpr uint32_t kMaxParts = 999;

// "model-00002-of-00003.gguf" -> "model", 2, 3.
bool split_name(const std::string& path, std::string* stem, uint32_t* part, uint32_t* parts) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";
  if (path.size() < kPattern.size()) return false;
  const std::string tail = path.substr(path.size() - kPattern.size());
  uint32_t number[2] = {};
  for (size_t i = 0; i < tail.size(); ++i) {
    if (kPattern[i] != '0') {
      if (tail[i] != kPattern[i]) return false;
      continue;
    }
    if (tail[i] < '0' || tail[i] > '9') return false;
    uint32_t& n = number[i > 6];
    n = n * 10 + static_cast<uint32_t>(tail[i] - '0');
  }
  *stem = path.substr(0, path.size() - kPattern.size());
  *part = number[0], *parts = number[1];
  return true;
}
std::string part_name(const std::string& stem, uint32_t part, uint32_t parts) {
  char tail[40];
  std::snprintf(tail, sizeof tail, "-%05u-of-%05u.gguf", part, parts);
  return stem + tail;
}

struct Part {
  std::string path;
  linnet_view view = {};
  Gguf gguf;
};
// Tensors of all parts by name; their data stays mapped as long as this lives.
struct Files {
  std::vector<std::unique_ptr<Part>> parts;
  std::map<std::string_view, std::pair<const Part*, GgufTensor>> tensors;
  ~Files() {
    for (const auto& p : parts) file_unmap(&p->view);
  }
  const Gguf& first() const { return parts.front()->gguf; }
};

Status open_part(const std::string& path, Files* files, Error* err) {
  auto& p = files->parts.emplace_back(std::make_unique<Part>());
  p->path = path;
  LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &p->view, err));
  const Status s = gguf_open(p->view.data, p->view.bytes, p->path.c_str(), &p->gguf, err);
  constexpr std::string_view kTensors = ".safetensors";
  if (s != LINNET_OK && path.size() > kTensors.size() && path.compare(path.size() - kTensors.size(), kTensors.size(), kTensors) == 0)
    return fail(err, LINNET_BAD_ARG, PathName(path), ": give the folder that holds this file and its config.json");
  LINNET_TRY(s);
  if (is_packed(p->gguf))
    return fail(err, LINNET_UNSUPPORTED, PathName(path),
                ": packed by linnet already; convert what it was made from, or this to --layout plain");
  return LINNET_OK;
}

Status split_number(const Gguf& g, const char* key, uint64_t wanted, Error* err) {
  GgufValue v;
  uint64_t n = 0;
  if (!g.key(key, &v)) return fail(err, LINNET_BAD_FILE, g.label, ": key '", key, "' is missing in a file named as a part");
  if (!v.is_uint(&n) || n != wanted) return fail(err, LINNET_BAD_FILE, g.label, ": key '", key, "' is ", n, ", not ", wanted);
  return LINNET_OK;
}

Status open_files(const std::string& path, Files* files, Error* err) {
  std::string stem;
  uint32_t part = 0, parts = 0;
  const bool split = split_name(path, &stem, &part, &parts) && parts > 1;
  if (split && (part < 1 || part > parts || parts > kMaxParts))
    return fail(err, LINNET_BAD_FILE, PathName(path), ": part ", part, " of ", parts, " (1 to at most ", kMaxParts, " parts)");
  for (const std::string& name : gguf_parts(path)) LINNET_TRY(open_part(name, files, err));
  uint64_t n_tensors = 0;
  for (size_t i = 0; i < files->parts.size(); ++i) {
    const Part& p = *files->parts[i];
    GgufValue v;
    uint64_t count = 0;
    if (split) {
      LINNET_TRY(split_number(p.gguf, "split.count", parts, err));
      LINNET_TRY(split_number(p.gguf, "split.no", i, err));
    } else if (p.gguf.key("split.count", &v) && v.is_uint(&count) && count > 1) {
      return fail(err, LINNET_BAD_FILE, PathName(p.path), ": one of ", count, " parts, but not named like <model>-00001-of-", count,
                  ".gguf (five digits each)");
    }
    for (uint32_t t = 0; t < p.gguf.n_tensors; ++t) {
      GgufTensor tensor;
      p.gguf.tensor_entry(t, &tensor);
      if (!files->tensors.emplace(tensor.name, std::pair(&p, tensor)).second)
        return fail(err, LINNET_BAD_FILE, PathName(p.path), ": tensor '", tensor.name, "' is in another part too");
    }
    n_tensors += p.gguf.n_tensors;
  }
  return split ? split_number(files->first(), "split.tensors.count", n_tensors, err) : LINNET_OK;
}

// ---- metadata -> spec -------------------------------------------------------------------------------------------------------

// Keys of "<architecture>." that MetadataReader looks at, and those that change nothing here.
constexpr std::string_view kKnownKeys[] = {"block_count",
                                           "context_length",
                                           "embedding_length",
                                           "feed_forward_length",
                                           "attention.head_count",
                                           "attention.head_count_kv",
                                           "attention.key_length",
                                           "attention.value_length",
                                           "attention.layer_norm_rms_epsilon",
                                           "attention.layer_norm_epsilon",
                                           "attention.sliding_window",
                                           "rope.dimension_count",
                                           "rope.freq_base",
                                           "rope.scaling.type",
                                           "rope.scaling.factor",
                                           "rope.scale_linear",
                                           "rope.scaling.yarn_beta_fast",
                                           "rope.scaling.yarn_beta_slow",
                                           "rope.scaling.yarn_attn_factor",
                                           "rope.scaling.original_context_length",
                                           "vocab_size",
                                           "tensor_data_layout",
                                           "expert_count",
                                           "expert_used_count",
                                           "expert_feed_forward_length",
                                           "nextn_predict_layers",
                                           "pooling_type"};
// Keys of some families alone: elsewhere they would say something that is not read.
struct FamilyKey {
  std::string_view key;
  bool (*of)(const Architecture&);
};
bool windows_by_layer(const Architecture& a) { return a.absent.window_pattern > 0; }
bool latent(const Architecture& a) { return a.latent; }
bool with_experts(const Architecture& a) { return a.experts.count; }
bool grouped_experts(const Architecture& a) { return a.experts.group_best; }
bool shared_width(const Architecture& a) { return a.experts.shared_gate || a.experts.shared_in_gguf || a.form.mamba; }
bool shared_count(const Architecture& a) { return a.experts.group_best || a.experts.shared_in_gguf; }
bool short_conv(const Architecture& a) { return a.short_conv; }
bool delta(const Architecture& a) { return a.delta; }
bool gemma4(const Architecture& a) { return a.gemma4; }
bool gemma3n(const Architecture& a) { return a.gemma3n; }
bool gemma3n_or_4(const Architecture& a) { return a.gemma3n || a.gemma4; }
bool states(const Architecture& a) { return a.delta || a.mamba; }
bool yarn_log(const Architecture& a) { return a.latent || a.rope_temperature; }
bool longrope(const Architecture& a) { return a.absent.rope_original || a.minicpm; }
bool slopes_by_key(const Architecture& a) { return a.absent.alibi_bias_max > 0; }
const HfFlag* parallel_flag(const Architecture& a) {
  for (const HfFlag& f : a.flags)
    if (f.key && f.field == &ModelSpec::residual && std::string_view(f.key) == "use_parallel_residual") return &f;
  return nullptr;
}
constexpr FamilyKey kFamilyKeys[] = {{"attention.sliding_window_pattern", windows_by_layer},
                                     {"rope.freq_base_swa", windows_by_layer},
                                     {"attention.key_length_swa", gemma4},
                                     {"attention.value_length_swa", gemma4},
                                     {"attention.shared_kv_layers", gemma3n_or_4},
                                     {"embedding_length_per_layer_input", gemma3n_or_4},
                                     {"altup.active_idx", gemma3n},
                                     {"altup.num_inputs", gemma3n},
                                     {"activation_sparsity_scale", gemma3n},
                                     {"rope.dimension_count_swa", gemma4},
                                     {"attention.q_lora_rank", latent},
                                     {"attention.kv_lora_rank", latent},
                                     {"attention.key_length_mla", latent},
                                     {"attention.value_length_mla", latent},
                                     {"rope.scaling.yarn_log_multiplier", yarn_log},
                                     {"rope.scaling.attn_factor", longrope},
                                     {"attention.max_alibi_bias", slopes_by_key},
                                     {"use_parallel_residual", [](const Architecture& a) { return parallel_flag(a) != nullptr; }},
                                     {"leading_dense_block_count", with_experts},
                                     {"interleave_moe_layer_step", with_experts},
                                     {"expert_shared_feed_forward_length", shared_width},
                                     {"expert_shared_count", shared_count},
                                     {"expert_weights_scale", grouped_experts},
                                     {"expert_weights_norm", grouped_experts},
                                     {"expert_gating_func", [](const Architecture& a) { return grouped_experts(a) || a.spec.router_kind; }},
                                     {"shortconv.l_cache", short_conv},
                                     {"ssm.conv_kernel", states},
                                     {"ssm.state_size", states},
                                     {"ssm.group_count", states},
                                     {"ssm.time_step_rank", states},
                                     {"ssm.inner_size", states},
                                     {"kda.head_dim", [](const Architecture& a) { return a.spec.delta_by_key != 0; }},
                                     {"full_attention_interval", delta},
                                     {"attention.recurrent_layers", delta},
                                     {"rope.dimension_sections", [](const Architecture& a) { return a.form.sections; }},
                                     {"expert_group_count", grouped_experts},
                                     {"expert_group_used_count", grouped_experts}};
// Keys that linnet supports at one value only.
struct OnlyAt {
  std::string_view key;
  double value;
};
constexpr OnlyAt kOnlyAt[] = {{"attention.causal", 1}, {"rope.scaling.attn_factor", 1}, {"rope.scaling.yarn_ext_factor", 1}};
constexpr uint32_t kSoftmaxRouter = 1, kSigmoidRouter = 2;  // expert_gating_func

class MetadataReader {
 public:
  MetadataReader(const Files& files, Error* err) : files_(files), g_(files.first()), err_(err) {}
  const Architecture* architecture() const { return arch_; }
  double alibi_bias_max() const { return alibi_bias_max_; }
  std::shared_ptr<void> layers() const { return layers_; }  // what the spec's layer_values point to
  uint32_t extra_layers() const { return extra_layers_; }   // behind the decoder's: they guess tokens further on

  Status read(ModelSpec* s) {
    LINNET_TRY(pick_architecture());
    LINNET_TRY(check_keys());
    *s = arch_->spec;
    std::strncpy(s->architecture, arch_->name, sizeof s->architecture - 1);
    LINNET_TRY(number("block_count", true, &s->n_layers));
    LINNET_TRY(number("nextn_predict_layers", false, &extra_layers_));
    if (extra_layers_ && (extra_layers_ >= s->n_layers || extra_layers_ > 1024))
      return refuse(LINNET_BAD_FILE, "key '", full("nextn_predict_layers"), "' = ", extra_layers_, " of block_count = ", s->n_layers);
    s->n_layers -= extra_layers_;
    if (s->n_layers > 1024) return refuse(LINNET_BAD_FILE, "n_layers = ", s->n_layers, " is above 1024");
    LINNET_TRY(number("context_length", true, &s->n_context));
    LINNET_TRY(number("embedding_length", true, &s->d_model));
    s->d_ff = 0;
    mamba_ = arch_->mamba && (!arch_->form.mamba || prefix_ == std::string(arch_->form.mamba) + ".");
    GgufValue v;
    if (get("attention.layer_norm_rms_epsilon", &v) && s->norm == kNormRms)
      LINNET_TRY(number("attention.layer_norm_rms_epsilon", true, &s->norm_eps));
    else
      LINNET_TRY(number(norm_eps_key(*arch_), true, &s->norm_eps));
    if (arch_->mamba_alone) {
      s->n_heads = s->n_kv_heads = s->head_dim = s->d_ff = 1;  // of which nothing is
      convolves_.assign(s->n_layers, true);
    } else {
      LINNET_TRY(arch_->one_step ? widths(s)
                 : gemma3n_or_4(*arch_)
                     ? gemma_widths(s)
                     : number(arch_->experts.everywhere ? "expert_feed_forward_length" : "feed_forward_length", true, &s->d_ff));
      LINNET_TRY(number("attention.head_count", true, &s->n_heads));
      s->n_kv_heads = s->n_heads;
      const bool by_layer = arch_->short_conv || (mamba_ && !arch_->mamba_beside) || s->delta_by_key ||
                            (get("attention.head_count_kv", &v) && v.type == kGgufArray);
      LINNET_TRY(by_layer ? kv_heads(s) : number("attention.head_count_kv", false, &s->n_kv_heads));
    }
    if (s->n_layers == 0 || s->n_heads == 0 || s->n_kv_heads == 0)
      return refuse(LINNET_BAD_FILE, "block_count, head_count and head_count_kv are ", s->n_layers, ", ", s->n_heads, " and ",
                    s->n_kv_heads);
    LINNET_TRY(arch_->latent ? latent_sizes(s) : head_dim(s));
    LINNET_TRY(by_tensors(s));
    LINNET_TRY(numbers(s));
    LINNET_TRY(rope(s));
    LINNET_TRY(windows(s));
    LINNET_TRY(experts(s));
    if (arch_->short_conv) LINNET_TRY(convolutions(s));
    if (arch_->delta) LINNET_TRY(delta_nets(s));
    if (arch_->mamba) LINNET_TRY(mamba_layers(s));
    if (arch_->gemma3n) LINNET_TRY(streams(s));
    if (gemma3n_or_4(*arch_)) LINNET_TRY(gemma_layers(s));
    LINNET_TRY(embedding(s));
    return spec_check(*s, err_, g_.label);
  }

 private:
  // Whether it is a file of the family's models that embed alone.
  bool embeds() const { return arch_->form.embeds && prefix_ == std::string(arch_->form.embeds) + "."; }
  // How texts become vectors. Nothing says whether they are normalised: they are, as llama.cpp has it.
  Status embedding(ModelSpec* s) {
    static constexpr uint32_t kWays[] = {kPoolingNone, kPoolingMean, kPoolingCls, kPoolingLast};
    uint32_t way = 0;
    LINNET_TRY(number("pooling_type", false, &way));
    if (way == 4)
      return refuse(LINNET_UNSUPPORTED, "key '", full("pooling_type"),
                    "' = 4: rerankers with a head of their own are not supported; "
                    "linnet embed --rerank asks models that answer yes or no");
    if (way >= std::size(kWays)) return refuse(LINNET_UNSUPPORTED, "key '", full("pooling_type"), "' = ", way, " is not supported");
    s->pooling = kWays[way];
    if (!embeds()) return LINNET_OK;
    s->bidirectional = 1;
    if (s->window) s->window = s->window / 2 + 1;
    const auto outputs = [&](const char* tensor) {
      const auto at = files_.tensors.find(tensor);
      return at == files_.tensors.end() || at->second.second.dims[1] > UINT32_MAX ? 0u : static_cast<uint32_t>(at->second.second.dims[1]);
    };
    s->dense_mid = outputs("dense_2.weight");
    s->dense_out = outputs("dense_3.weight");
    return LINNET_OK;
  }

  template <class... Parts>
  Status refuse(Status code, const Parts&... parts) {
    return fail(err_, code, g_.label, ": ", parts...);
  }
  bool has_experts(uint32_t layer) const { return has("blk." + std::to_string(layer) + ".ffn_gate_inp.weight"); }
  bool has(std::string_view tensor) const { return files_.tensors.count(tensor) > 0; }
  std::string full(std::string_view key) const { return prefix_ + std::string(key); }
  bool get(std::string_view key, GgufValue* v) const { return g_.key(full(key), v); }

  // Of families with the same name in GGUF the one that has experts, scores, windows and a factor of scores as the file has them.
  Status pick_architecture() {
    GgufValue v;
    uint64_t n = 0;
    if (g_.key("general.type", &v) && v.text != "model") return refuse(LINNET_UNSUPPORTED, "general.type is '", v.text, "', not 'model'");
    if (!g_.key("general.architecture", &v) || v.type != kGgufString)
      return refuse(LINNET_BAD_FILE, "key 'general.architecture' is missing or no string");
    const std::string_view name = v.text;
    prefix_ = std::string(name) + ".";
    const bool experts = get("expert_count", &v) && v.is_uint(&n) && n > 0,
               windows = get("attention.sliding_window", &v) && v.is_uint(&n) && n > 0,
               scaled = get("attention.scale", &v);  // Granite, not Bamba
    uint32_t gating = default_gating();
    LINNET_TRY(number("expert_gating_func", false, &gating));
    const uint32_t router = gating == kSigmoidRouter ? kRouterSigmoid : kRouterSoftmax;
    int best = -1;
    for (uint32_t i = 0; i < kArchitectureCount; ++i) {
      const Architecture& a = kArchitectures[i];
      const int alike = (a.gemma4 || experts == (a.experts.count != nullptr)) + (router == a.spec.router_kind) +
                        (windows == windows_by_layer(a)) + (scaled == (a.form.numbers[0].field == &ModelSpec::attn_scale));
      if (!has_gguf_name(a, name) || a.form.none || alike <= best) continue;
      best = alike;
      arch_ = &a;
    }
    return arch_ ? LINNET_OK
                 : refuse(LINNET_UNSUPPORTED, "architecture '", name, "' is not supported",
                          architecture_by_gguf(name) ? " from GGUF: convert the Hugging Face folder" : "");
  }

  // A bias for the choice of experts goes with scores by sigmoid in files that do not say (GLM-4.7-Flash, dots.llm1), but in ERNIE's.
  uint32_t default_gating() const {
    return prefix_ == "ernie4_5-moe." ? kSoftmaxRouter : in_layers(".exp_probs_b.bias") ? kSigmoidRouter : kSoftmaxRouter;
  }

  Status check_keys() {
    for (uint32_t i = 0; i < g_.n_keys; ++i) {
      std::string_view key;
      GgufValue v;
      g_.key_entry(i, &key, &v);
      if (key.substr(0, prefix_.size()) != prefix_) continue;
      const std::string_view name = key.substr(prefix_.size());
      bool known = false;
      double value = 0;
      for (const std::string_view k : kKnownKeys) known |= name == k;
      for (const FamilyKey& k : kFamilyKeys) known |= name == k.key && k.of(*arch_);
      for (const GgufNumber& n : arch_->form.numbers) known |= n.key && name == n.key;
      // A Granite that is not "finetuned" has no RoPE; elsewhere the key says nothing.
      // Granite 4 without Mamba layers: sizes of those, and of experts, whose tensors would be refused.
      if (prefix_ == "granite." && (name.starts_with("ssm.") || name == "expert_shared_feed_forward_length")) known = true;
      if (name == "rope.scaling.finetuned")
        known = v.type == kGgufBool && (v.u || !prefix_.starts_with("granite") || prefix_ == "granitehybrid.");
      if (embeds() && (name == "dense_2_feat_in" || name == "dense_2_feat_out" || name == "dense_3_feat_in" || name == "dense_3_feat_out"))
        known = true;  // the tensors' own sizes
      if (embeds() && name == "attention.causal") known = v.type == kGgufBool && !v.u;
      for (const OnlyAt& o : kOnlyAt)
        if (name == o.key && !known)
          known = (v.type == kGgufBool ? static_cast<double>(v.u) : v.is_number(&value) ? value : NAN) == o.value;
      if (!known) return refuse(LINNET_UNSUPPORTED, "key '", key, "' = ", show(v), " is not supported");
    }
    return LINNET_OK;
  }
  static std::string show(const GgufValue& v) {
    if (v.type == kGgufString) return "'" + std::string(v.text.substr(0, 40)) + "'";
    if (v.type == kGgufArray) return "an array of " + std::to_string(v.count);
    if (v.type == kGgufBool) return v.u ? "true" : "false";
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", v.f);
    return text;
  }

  // Absent keys leave *out as it is.
  Status number(std::string_view key, bool required, uint32_t* out) {
    GgufValue v;
    uint64_t u = 0;
    if (!get(key, &v)) return required ? refuse(LINNET_BAD_FILE, "key '", full(key), "' is missing") : LINNET_OK;
    if (!v.is_uint(&u) || u > UINT32_MAX)
      return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is no unsigned 32-bit number");
    *out = static_cast<uint32_t>(u);
    return LINNET_OK;
  }
  // Whether it has an entry for each layer, those behind the model's counted, too.
  bool counts_layers(const GgufValue& v, const ModelSpec& s) const {
    return v.type == kGgufArray && v.count == s.n_layers + uint64_t{extra_layers_};
  }
  Status counts(std::string_view key, const ModelSpec& s, std::vector<uint32_t>* out) {
    GgufValue v;
    if (!get(key, &v) || v.type != kGgufArray) return refuse(LINNET_BAD_FILE, "key '", full(key), "' is missing or no array");
    if ((v.array_type != kGgufU32 && v.array_type != kGgufI32) || !counts_layers(v, s))
      return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is not a list of ", s.n_layers + uint64_t{extra_layers_},
                    " counts");
    out->resize(s.n_layers);
    if (s.n_layers) std::memcpy(out->data(), v.raw.data(), size_t{s.n_layers} * sizeof(uint32_t));
    return LINNET_OK;
  }
  // Of f32 the shortest decimal number that rounds to it: what config.json had.
  Status number(std::string_view key, bool required, double* out) {
    GgufValue v;
    if (!get(key, &v)) return required ? refuse(LINNET_BAD_FILE, "key '", full(key), "' is missing") : LINNET_OK;
    if (!v.is_number(out) || !std::isfinite(*out)) return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is no number");
    if (v.type == kGgufF32) *out = shortest(static_cast<float>(*out));
    return LINNET_OK;
  }
  static double shortest(float v) {
    char text[40];
    double out = 0;
    const char* end = std::to_chars(text, text + sizeof text, v).ptr;
    std::from_chars(text, end, out);
    return out;
  }
  Status flag(std::string_view key, bool* out) {
    GgufValue v;
    if (!get(key, &v)) return LINNET_OK;
    if (v.type != kGgufBool) return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is not true or false");
    *out = v.u;
    return LINNET_OK;
  }

  Status numbers(ModelSpec* s) {
    if (arch_->minicpm) {  // llama.cpp's constants
      s->embd_scale = 12;
      s->residual_scale = 1.4 / std::sqrt(static_cast<double>(s->n_layers));
      s->logit_scale = 256.0 / s->d_model;
    }
    if (arch_->embd_scale_root || arch_->embd_scale_key) s->embd_scale = std::sqrt(static_cast<double>(s->d_model));
    if (arch_->form.scaled_layers)
      s->attn_scale = s->n_layers == arch_->form.scaled_layers ? 1 / std::sqrt(static_cast<double>(s->d_model) / s->n_heads) : 0;
    for (const GgufNumber& n : arch_->form.numbers) {
      if (!n.key) continue;
      double& x = s->*n.field;
      x = n.absent;
      LINNET_TRY(number(n.key, false, &x));
      if (n.inverse && x != 0) x = 1 / x;
    }
    if (!s->alibi) return LINNET_OK;
    alibi_bias_max_ = 8;
    LINNET_TRY(number("attention.max_alibi_bias", false, &alibi_bias_max_));
    return alibi_bias_max_ > 0 && alibi_bias_max_ <= 1024
               ? LINNET_OK
               : refuse(LINNET_UNSUPPORTED, "key '", full("attention.max_alibi_bias"), "' is not above 0: only ALiBi is supported");
  }

  // What files do not say but by having tensors or not.
  Status by_tensors(ModelSpec* s) {
    const auto embedding = files_.tensors.find("token_embd.weight");
    if (embedding == files_.tensors.end()) return refuse(LINNET_BAD_FILE, "tensor 'token_embd.weight' is missing");
    const uint64_t n_vocab = embedding->second.second.dims[1];
    s->n_vocab = n_vocab > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(n_vocab);
    s->tied = !has("output.weight");
    s->qkv_bias = in_layers(".attn_q.bias") || in_layers(".attn_k.bias") || in_layers(".attn_v.bias") || in_layers(".attn_qkv.bias");
    s->out_bias = in_layers(".attn_output.bias");
    s->mlp_bias = in_layers(".ffn_gate.bias") || in_layers(".ffn_up.bias") || in_layers(".ffn_down.bias");
    if (arch_->learned_positions) s->positions = s->n_context + s->position_offset;
    for (const HfFlag& f : arch_->flags)
      if (f.key && f.field == &ModelSpec::qk_norm) {
        const bool in_files = f.if_true == kQkNormLayer || f.if_true == kQkNormHeadAfter ||
                              f.if_true == kQkNormHead;  // no family's files have others by choice
        s->qk_norm = in_files && (arch_->qk_norm_of_ones ? !largest_llama4() : has("blk.0.attn_q_norm.weight")) ? f.if_true : f.if_false;
      }
    if (const HfFlag* f = parallel_flag(*arch_)) {
      bool on = f->absent;
      LINNET_TRY(flag("use_parallel_residual", &on));
      s->residual = on ? f->if_true : f->if_false;
    }
    if (arch_->falcon) s->residual = has("blk.0.attn_norm_2.weight") ? kResidualParallel2 : kResidualParallel;
    return LINNET_OK;
  }
  // Whether some layer has a tensor of that name: not every one attends or has a feed-forward step.
  bool in_layers(std::string_view name) const {
    return std::any_of(files_.tensors.begin(), files_.tensors.end(), [&](const auto& t) { return t.first.ends_with(name); });
  }
  // Maverick, the one that norms neither queries nor keys.
  bool largest_llama4() const {
    GgufValue v;
    uint64_t n = 0;
    return get("expert_count", &v) && v.is_uint(&n) && n == 128;
  }

  // Which layers have a window: where a family has it by layer, all but every so manyth, or as a list says.
  Status windows(ModelSpec* s) {
    s->window = arch_->form.window;
    LINNET_TRY(number("attention.sliding_window", arch_->nope_without_window && !arch_->rope_without_windows && !s->window, &s->window));
    if (!windows_by_layer(*arch_)) {
      if (s->window >= s->n_context) s->window = 0;
      if (arch_->absent.nope_interval) s->nope_pattern = arch_->absent.nope_interval > s->n_layers ? 0 : arch_->absent.nope_interval;
      return LINNET_OK;
    }
    if (s->window_chunks && s->window && s->window != arch_->form.window)  // which llama.cpp has as a constant
      return refuse(LINNET_UNSUPPORTED, "key '", full("attention.sliding_window"), "' = ", s->window, " is not supported, only 0 and ",
                    arch_->form.window);
    s->window_pattern = arch_->absent.window_pattern;
    GgufValue v;
    if (get("attention.sliding_window_pattern", &v) && v.type == kGgufArray) {
      if (v.array_type != kGgufBool || !counts_layers(v, *s))
        return refuse(LINNET_BAD_FILE, "key '", full("attention.sliding_window_pattern"), "' = ", show(v),
                      " is not a list of true and false for each layer");
      LINNET_TRY(find_period(v.raw.substr(0, s->n_layers), s));
    } else {
      LINNET_TRY(number("attention.sliding_window_pattern", false, &s->window_pattern));
    }
    if (s->window == 0 || s->window_pattern == 1) s->window = s->window_pattern = s->window_from = 0;
    if (s->window_pattern > s->n_layers) s->window_pattern = 0;
    if (arch_->nope_without_window) {
      if (s->window_from || !windowed_.empty())
        return refuse(LINNET_UNSUPPORTED, "key '", full("attention.sliding_window_pattern"), "': the layers without RoPE follow no period");
      // llama.cpp's graph of Trinity has RoPE in all but every fourth layer, whatever the list says.
      if (prefix_ == "afmoe." && s->window_pattern != (s->n_layers < 4 ? 0 : 4))
        return refuse(LINNET_UNSUPPORTED, "key '", full("attention.sliding_window_pattern"), "': the period is ", s->window_pattern,
                      ", only 4 is supported");
      s->nope_pattern = s->window_pattern;
    }
    if (s->window_chunks && s->window == 0) s->temp_scale = s->temp_positions = 0;
    if (!s->nope_pattern && !s->temp_all) s->temp_scale = 0, s->temp_positions = 0;
    if (s->window >= s->n_context && s->rope_local_base == 0) s->window = s->window_pattern = s->window_from = 0;
    if (s->window == 0) s->rope_local_base = 0;
    if (s->window == 0 || windowed_.empty()) return LINNET_OK;
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < s->n_layers; ++i) {
      layers.push_back(layer_spec(*s, i));
      if (windowed_[i]) continue;
      layers[i].window = 0;
      if (layers[i].rope == LayerRope::kLocal) layers[i].rope = LayerRope::kMain;
      if (global_dim_) layers[i].head_dim = global_dim_;
    }
    set_layers(s, &layers_, layers);
    return LINNET_OK;
  }
  // Where there is none, windowed_ says it.
  Status find_period(std::string_view windowed, ModelSpec* s) {
    const size_t first = windowed.find('\1');
    if (first == windowed.npos) {
      s->window_pattern = 1;
      return LINNET_OK;
    }
    s->window_from = static_cast<uint32_t>(first);
    for (s->window_pattern = 0; s->window_pattern <= s->n_layers; ++s->window_pattern) {
      uint32_t same = 0;
      ModelSpec all = *s;
      all.window = 1;
      while (same < s->n_layers && (layer_spec(all, same).window != 0) == (windowed[same] != 0)) ++same;
      if (same == s->n_layers) return LINNET_OK;
    }
    s->window_pattern = s->window_from = 0;
    windowed_.assign(windowed.begin(), windowed.end());
    return LINNET_OK;
  }

  Status experts(ModelSpec* s) {
    LINNET_TRY(number("expert_count", false, &s->n_experts));
    LINNET_TRY(number("expert_used_count", false, &s->n_active));
    if (s->n_experts && !arch_->experts.count)
      return refuse(LINNET_UNSUPPORTED, "key '", full("expert_count"), "' = ", s->n_experts, " is not supported");
    std::vector<bool> moe;
    for (uint32_t i = 0; i < s->n_layers; ++i) moe.push_back(has_experts(i));
    while (s->moe_first < moe.size() && !moe[s->moe_first]) ++s->moe_first;
    if (s->n_experts && s->moe_first == moe.size() && !arch_->experts.group_best)
      return refuse(LINNET_BAD_FILE, "key '", full("expert_count"), "' = ", s->n_experts,
                    ", but no layer has a tensor ffn_gate_inp.weight");
    if (s->n_experts == 0 || s->moe_first == moe.size()) {  // DeepSeek's files speak of experts that no layer has, too
      s->n_experts = s->n_active = s->moe_first = s->router_kind = s->router_correction = s->router_bias = s->expert_bias =
          s->router_input = 0;
      return LINNET_OK;
    }
    const HfExperts& of = arch_->experts;
    s->expert_ff = s->d_ff;
    LINNET_TRY(number("expert_feed_forward_length", false, &s->expert_ff));
    s->router_norm = of.norm_in_gguf && of.norm != Has::kNever;
    s->shared_gate = of.shared_gate;
    if (s->shared_gate) LINNET_TRY(number("expert_shared_feed_forward_length", true, &s->shared_ff));
    if (mamba_ && !of.group_best) {
      LINNET_TRY(number("expert_shared_feed_forward_length", false, &s->shared_ff));
      if (s->shared_ff) s->d_ff = s->shared_ff;  // of layers without experts, of which there are none
    }
    if (std::string_view(of.shared) == of.ff) s->shared_ff = s->expert_ff;  // as large as the others
    if (shared_count(*arch_)) LINNET_TRY(shared_experts(s));
    if (of.group_best) LINNET_TRY(groups(s));
    if (!of.group_best && s->router_correction) s->router_correction = in_layers(".exp_probs_b.bias");
    if (arch_->one_step) {  // mamba_layers() says which
      s->moe_first = 0;
      return LINNET_OK;
    }
    for (s->moe_step = 0; s->moe_step <= moe.size(); ++s->moe_step) {
      uint32_t same = 0;
      while (same < moe.size() && (layer_spec(*s, same).feed_forward == kFeedForwardExperts) == moe[same]) ++same;
      if (same == moe.size()) return LINNET_OK;
    }
    return refuse(LINNET_UNSUPPORTED, "the layers with experts follow no period");
  }
  // Of every layer, 0 where it is a short convolution or Mamba-2.
  Status kv_heads(ModelSpec* s) {
    LINNET_TRY(counts("attention.head_count_kv", *s, &kv_heads_));
    s->n_kv_heads = 0;
    for (const uint32_t n : kv_heads_) {
      if (n && s->n_kv_heads && n != s->n_kv_heads && !arch_->gemma4)
        return refuse(LINNET_UNSUPPORTED, "key '", full("attention.head_count_kv"), "': ", n, " beside ", s->n_kv_heads,
                      " is not supported");
      if (n) s->n_kv_heads = n;
      convolves_.push_back(n == 0);
    }
    if (!arch_->short_conv && (!mamba_ || arch_->mamba_beside) && !s->delta_by_key &&
        std::find(convolves_.begin(), convolves_.end(), true) != convolves_.end())
      return refuse(LINNET_UNSUPPORTED, "key '", full("attention.head_count_kv"), "': 0 is not supported");
    if (s->n_kv_heads == 0) s->n_kv_heads = s->n_heads;  // no layer attends
    return LINNET_OK;
  }
  Status convolutions(ModelSpec* s) {
    LINNET_TRY(number("shortconv.l_cache", true, &s->conv_taps));
    if (s->n_experts) {
      uint32_t router = kSigmoidRouter;
      LINNET_TRY(number("expert_gating_func", false, &router));
      if (router != kSigmoidRouter)
        return refuse(LINNET_UNSUPPORTED, "key '", full("expert_gating_func"), "' = ", router, " is not supported");
      s->router_correction = has("blk." + std::to_string(s->moe_first) + ".exp_probs_b.bias");
    }
    return set_mixers(s, kMixerConv);
  }
  // Layers without KV heads.
  Status set_mixers(ModelSpec* s, Mixer mixer) {
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < s->n_layers; ++i) {
      layers.push_back(layer_spec(*s, i));
      if (!convolves_[i]) continue;
      layers[i].mixer = mixer;
      layers[i].rope = LayerRope::kNone;
    }
    set_layers(s, &layers_, layers);
    return LINNET_OK;
  }
  // Which layers are gated delta nets: by a list, or in older files all but every so manyth.
  Status delta_nets(ModelSpec* s) {
    uint32_t values = 0, interval = 4;
    LINNET_TRY(number("ssm.conv_kernel", true, &s->conv_taps));
    if (s->delta_by_key) {  // as many heads as attention has
      s->delta_key_heads = s->delta_value_heads = s->n_heads;
      LINNET_TRY(number("kda.head_dim", true, &s->delta_key_dim));
      s->delta_value_dim = s->delta_key_dim;
      return set_mixers(s, kMixerDelta);
    }
    LINNET_TRY(number("ssm.state_size", true, &s->delta_key_dim));
    LINNET_TRY(number("ssm.group_count", true, &s->delta_key_heads));
    LINNET_TRY(number("ssm.time_step_rank", true, &s->delta_value_heads));
    LINNET_TRY(number("ssm.inner_size", true, &values));
    LINNET_TRY(number("full_attention_interval", false, &interval));
    if (s->delta_value_heads == 0 || values % s->delta_value_heads)
      return refuse(LINNET_BAD_FILE, "key '", full("ssm.inner_size"), "' = ", values,
                    " is no multiple of ssm.time_step_rank = ", s->delta_value_heads);
    if (s->delta_key_heads == 0 || s->delta_value_heads % s->delta_key_heads)
      return refuse(LINNET_BAD_FILE, "key '", full("ssm.time_step_rank"), "' = ", s->delta_value_heads,
                    " is no multiple of ssm.group_count = ", s->delta_key_heads);
    s->delta_value_dim = values / s->delta_value_heads;
    s->delta_tiled = arch_->form.tiled && s->delta_value_heads != s->delta_key_heads;
    if (interval == 0) return refuse(LINNET_BAD_FILE, "key '", full("full_attention_interval"), "' is 0");
    GgufValue v;
    const bool listed = get("attention.recurrent_layers", &v);
    if (listed && (v.array_type != kGgufBool || !counts_layers(v, *s)))
      return refuse(LINNET_BAD_FILE, "key '", full("attention.recurrent_layers"), "' = ", show(v),
                    " is not a list of true and false for each layer");
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < s->n_layers; ++i) {
      layers.push_back(layer_spec(*s, i));
      if (listed ? !v.raw[i] : (i + 1) % interval == 0) continue;
      layers[i].mixer = kMixerDelta;
      layers[i].rope = LayerRope::kNone;
    }
    set_layers(s, &layers_, layers);
    return LINNET_OK;
  }
  // Of every layer the width of its feed-forward step, 0 where it has none.
  Status widths(ModelSpec* s) {
    LINNET_TRY(counts("feed_forward_length", *s, &d_ff_));
    for (const bool experts : {false, true})  // of dense layers where there are some
      for (uint32_t i = 0; i < s->n_layers && !s->d_ff; ++i)
        if (experts == has_experts(i)) s->d_ff = d_ff_[i];
    if (s->d_ff == 0) s->d_ff = 1;  // of which nothing is
    return LINNET_OK;
  }
  Status mamba_layers(ModelSpec* s) {
    bool some = false;
    if (arch_->mamba_beside) convolves_.assign(s->n_layers, true);
    for (uint32_t i = 0; i < s->n_layers && mamba_; ++i) some = some || (convolves_[i] && (d_ff_.empty() || !d_ff_[i]));
    if (some)
      LINNET_TRY(mamba_sizes(s));
    else
      without_mamba(s);
    if (!mamba_) return LINNET_OK;
    std::vector<LayerSpec> layers;
    for (uint32_t i = 0; i < s->n_layers; ++i) {
      layers.push_back(layer_spec(*s, i));
      if (arch_->one_step) {
        const uint32_t width = arch_->mamba_alone ? 0 : d_ff_[i];
        const bool experts = has_experts(i);
        layers[i].rope = LayerRope::kNone;
        layers[i].feed_forward = !width ? kFeedForwardNothing : experts ? kFeedForwardExperts : kFeedForwardDense;
        if (experts && width != s->expert_ff)
          return refuse(LINNET_UNSUPPORTED, "key '", full("feed_forward_length"), "': ", width, " of experts of ", s->expert_ff,
                        " is not supported");
        if (width) layers[i].mixer = kMixerNoMixer;
        if (width && !experts) layers[i].d_ff = width;
        if (width) continue;
      }
      if (!convolves_[i]) continue;
      layers[i].mixer = arch_->mamba_beside ? kMixerAttentionMamba : kMixerMamba;
      if (!arch_->mamba_beside) layers[i].rope = LayerRope::kNone;
    }
    set_layers(s, &layers_, layers);
    return LINNET_OK;
  }
  Status mamba_sizes(ModelSpec* s) {
    uint32_t inner = 0;
    LINNET_TRY(number("ssm.conv_kernel", true, &s->conv_taps));
    LINNET_TRY(number("ssm.state_size", true, &s->mamba_state_dim));
    LINNET_TRY(number("ssm.group_count", true, &s->mamba_groups));
    LINNET_TRY(number("ssm.time_step_rank", true, &s->mamba_heads));
    LINNET_TRY(number("ssm.inner_size", true, &inner));
    if (s->mamba_heads == 0 || s->mamba_groups == 0 || inner % s->mamba_heads)
      return refuse(LINNET_BAD_FILE, "ssm.inner_size, ssm.time_step_rank and ssm.group_count are ", inner, ", ", s->mamba_heads, " and ",
                    s->mamba_groups);
    s->mamba_head_dim = inner / s->mamba_heads;
    s->mamba_conv_bias = in_layers(".ssm_conv1d.bias");
    if (arch_->mamba_beside) s->mamba_norm = in_layers(".ssm_norm.weight") ? kMambaNormLast : kMambaNormNone;
    return LINNET_OK;
  }
  // Gemma 3n and 4: one for all layers or a list.
  Status gemma_widths(ModelSpec* s) {
    GgufValue v;
    if (!get("feed_forward_length", &v) || v.type != kGgufArray) return number("feed_forward_length", true, &s->d_ff);
    LINNET_TRY(counts("feed_forward_length", *s, &d_ff_));
    if (!d_ff_.empty()) s->d_ff = d_ff_.front();
    return LINNET_OK;
  }
  // Gemma 3n: residual streams, and which layers' gates are mostly 0.
  Status streams(ModelSpec* s) {
    uint32_t n = kStreams, active = 0;
    LINNET_TRY(number("altup.num_inputs", false, &n));
    LINNET_TRY(number("altup.active_idx", false, &active));
    if (n != kStreams || active != 0)
      return refuse(LINNET_UNSUPPORTED, "keys 'altup.num_inputs' = ", n, " and 'altup.active_idx' = ", active, " are not supported, only ",
                    kStreams, " and 0");
    if (static_cast<float>(s->logit_softcap) != 30)
      return refuse(LINNET_UNSUPPORTED, "key '", full("final_logit_softcapping"), "' = ", std::to_string(s->logit_softcap),
                    " is not supported, only 30, which llama.cpp has as a constant");
    const auto laurel = files_.tensors.find("blk.0.laurel_l.weight");
    if (laurel == files_.tensors.end()) return refuse(LINNET_BAD_FILE, "tensor 'blk.0.laurel_l.weight' is missing");
    const uint64_t rank = laurel->second.second.dims[1];
    s->laurel_rank = rank > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(rank);
    const float usual = deviations_below(kSparseShare);
    float cut = usual;
    GgufValue v;
    if (get("activation_sparsity_scale", &v)) {
      if (v.array_type != kGgufF32 || !counts_layers(v, *s))
        return refuse(LINNET_BAD_FILE, "key '", full("activation_sparsity_scale"), "' = ", show(v), " is not a list of ",
                      s->n_layers + uint64_t{extra_layers_}, " numbers");
      std::memcpy(&cut, v.raw.data(), sizeof cut);
      for (uint32_t i = 0; i < s->n_layers; ++i) {
        float own;
        std::memcpy(&own, v.raw.data() + i * sizeof own, sizeof own);
        if (i < kSparseLayers ? own != cut || !(std::fabs(own - usual) < 1e-5f) : own != -INFINITY)
          return refuse(LINNET_UNSUPPORTED, "key '", full("activation_sparsity_scale"), "': ", std::to_string(own), " of layer ", i,
                        " is not supported, only ", std::to_string(usual), " in the first ", kSparseLayers, " layers and -inf in others");
      }
    }
    s->sparse_cut = static_cast<double>(cut);
    return LINNET_OK;
  }
  // Gemma 3n and 4: the last layers may look at the keys of the last one of their kind before them, and be wider. In Gemma 4 layers that
  // see all have heads of another size and may have fewer keys, which may be values, too.
  Status gemma_layers(ModelSpec* s) {
    uint32_t shared = 0;
    LINNET_TRY(number("attention.shared_kv_layers", false, &shared));
    LINNET_TRY(number("embedding_length_per_layer_input", false, &s->layer_embd));
    if (shared >= s->n_layers)
      return refuse(LINNET_UNSUPPORTED, "key '", full("attention.shared_kv_layers"), "' = ", shared, " of ", s->n_layers,
                    " layers is not supported");
    if (const auto table = files_.tensors.find("per_layer_token_embd.weight"); s->layer_embd && table != files_.tensors.end()) {
      const uint64_t rows = table->second.second.dims[1];
      s->layer_embd_vocab = rows > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(rows);
    } else if (s->layer_embd) {
      return refuse(LINNET_BAD_FILE, "tensor 'per_layer_token_embd.weight' is missing");
    }
    const uint32_t usual = s->n_layers > kKeyLayers ? s->n_layers - kKeyLayers : 0;
    if (arch_->gemma3n && shared != usual)
      return refuse(LINNET_UNSUPPORTED, "key '", full("attention.shared_kv_layers"), "' = ", shared, " of ", s->n_layers,
                    " layers is not supported, only ", usual, ", which llama.cpp has as a constant");
    s->layer_scale = has("blk.0.layer_output_scale.weight");
    if (s->n_experts) s->shared_ff = s->d_ff, s->moe_beside = 1;
    const uint32_t own = s->n_layers - shared;
    std::vector<LayerSpec> layers;
    for (uint32_t i = s->n_layers; i--;) {
      const bool window = layer_spec(*s, i).window;
      if (window && !kv_heads_.empty()) s->n_kv_heads = kv_heads_[i];
      if (!window && i < own && arch_->gemma4) s->values_of_keys = !has("blk." + std::to_string(i) + ".attn_v.weight");
    }
    for (uint32_t i = 0; i < s->n_layers; ++i) {
      LayerSpec l = layer_spec(*s, i);
      if (!l.window && global_dim_) l.head_dim = global_dim_;
      if (arch_->gemma3n) l.sparse = i < kSparseLayers;
      if (!kv_heads_.empty()) l.n_kv_heads = kv_heads_[i];
      if (!d_ff_.empty()) l.d_ff = d_ff_[i];
      if (i >= own) {
        uint32_t of = own;
        while (of-- && (layers[of].window != 0) != (l.window != 0)) {
        }
        if (of >= own || of + (l.window ? 2 : 1) != own)  // where llama.cpp has them
          return refuse(LINNET_UNSUPPORTED, "key '", full("attention.shared_kv_layers"), "' = ", shared, ": layers ", own, " and ", own + 1,
                        " (counted from 1) before them are not one with a window and one without");
        l.kv_back = i - of;
      }
      layers.push_back(l);
    }
    set_layers(s, &layers_, layers);
    return LINNET_OK;
  }
  // By their number, or their width together.
  Status shared_experts(ModelSpec* s) {
    uint32_t shared = 0;
    LINNET_TRY(number("expert_shared_count", false, &shared));
    if (shared > 1024) return refuse(LINNET_BAD_FILE, "key '", full("expert_shared_count"), "' = ", shared, " is above 1024");
    if (s->expert_ff <= UINT32_MAX / 1024) s->shared_ff = shared * s->expert_ff;
    if (shared && arch_->experts.shared_in_gguf) LINNET_TRY(number("expert_shared_feed_forward_length", false, &s->shared_ff));
    return LINNET_OK;
  }
  // DeepSeek: the router's scores as they are used.
  Status groups(ModelSpec* s) {
    uint32_t router = default_gating();
    bool norm = arch_->experts.norm_in_gguf;
    LINNET_TRY(number("expert_gating_func", false, &router));
    if (router != (s->router_kind == kRouterSigmoid ? kSigmoidRouter : kSoftmaxRouter))
      return refuse(LINNET_UNSUPPORTED, "key '", full("expert_gating_func"), "' = ", router, " is not supported");
    s->router_correction = has("blk." + std::to_string(s->moe_first) + ".exp_probs_b.bias");
    LINNET_TRY(flag("expert_weights_norm", &norm));
    s->router_norm = norm;
    LINNET_TRY(number("expert_weights_scale", false, &s->router_scale));
    LINNET_TRY(number("expert_group_count", false, &s->router_groups));
    LINNET_TRY(number("expert_group_used_count", false, &s->router_top_groups));
    s->router_group_best = arch_->experts.group_best;
    if (s->router_groups <= 1) s->router_groups = s->router_top_groups = s->router_group_best = 0;
    return LINNET_OK;
  }

  Status head_dim(ModelSpec* s) {
    LINNET_TRY(number("attention.key_length", false, &s->head_dim));
    uint32_t value_length = s->head_dim;
    LINNET_TRY(number("attention.value_length", false, &value_length));
    if (s->head_dim == 0) {
      if (s->d_model % s->n_heads)
        return refuse(LINNET_BAD_FILE, "embedding_length = ", s->d_model, " is no multiple of head_count = ", s->n_heads);
      s->head_dim = s->d_model / s->n_heads;
    }
    if (value_length && value_length != s->head_dim)
      return refuse(LINNET_UNSUPPORTED, "attention.value_length = ", value_length, " beside key_length = ", s->head_dim,
                    " is not supported");
    if (!arch_->gemma4) return LINNET_OK;
    global_dim_ = s->head_dim;
    LINNET_TRY(number("attention.key_length_swa", true, &s->head_dim));
    LINNET_TRY(number("attention.value_length_swa", true, &value_length));
    if (value_length != s->head_dim)
      return refuse(LINNET_UNSUPPORTED, "attention.value_length_swa = ", value_length, " beside key_length_swa = ", s->head_dim,
                    " is not supported");
    return LINNET_OK;
  }
  // Newer files give the sizes of the absorbed form, and those of the heads under keys of their own; older ones those of the heads.
  Status latent_sizes(ModelSpec* s) {
    uint32_t key = 0;
    LINNET_TRY(number("attention.q_lora_rank", false, &s->q_lora_rank));
    LINNET_TRY(number("attention.kv_lora_rank", true, &s->kv_lora_rank));
    LINNET_TRY(number("rope.dimension_count", true, &s->qk_rope_dim));
    GgufValue v;
    const bool absorbed = get("attention.key_length_mla", &v);
    LINNET_TRY(number(absorbed ? "attention.key_length_mla" : "attention.key_length", true, &key));
    if (arch_->minicpm && s->n_heads) s->v_head_dim = s->d_model / s->n_heads;
    LINNET_TRY(number(absorbed ? "attention.value_length_mla" : "attention.value_length", !arch_->minicpm, &s->v_head_dim));
    if (key <= s->qk_rope_dim || s->kv_lora_rank > 65536 || s->qk_rope_dim > 65536)
      return refuse(LINNET_BAD_FILE, "key_length, rope.dimension_count and kv_lora_rank of the latent attention are ", key, ", ",
                    s->qk_rope_dim, " and ", s->kv_lora_rank);
    s->qk_nope_dim = key - s->qk_rope_dim;
    s->n_kv_heads = 1;
    s->head_dim = s->qk_rope_dim + s->kv_lora_rank;
    return LINNET_OK;
  }

  Status rope(ModelSpec* s) {
    bool turns = true;
    if (prefix_ == "granitehybrid.") LINNET_TRY(flag("rope.scaling.finetuned", &turns));  // llama.cpp's switch there
    s->rope_kind = s->alibi || !turns ? kRopeNone : arch_->rope_gguf;
    s->rope_dim = s->rope_kind == kRopeNone ? 0 : s->kv_lora_rank ? s->qk_rope_dim : global_dim_ ? global_dim_ : s->head_dim;
    s->rope_base = arch_->absent.rope_base;
    s->rope_factor = s->rope_low = s->rope_high = 1;
    if (s->rope_kind == kRopeNone) return LINNET_OK;
    s->rope_base = 10000;
    LINNET_TRY(number("rope.dimension_count", false, &s->rope_dim));
    LINNET_TRY(number("rope.freq_base", false, &s->rope_base));
    double factor = 1, old_factor = 1;  // 0 means 1
    LINNET_TRY(number("rope.scaling.factor", false, &factor));
    LINNET_TRY(number("rope.scale_linear", false, &old_factor));
    if (factor == 0 || factor == 1) factor = old_factor;
    if (factor == 0) factor = 1;
    GgufValue v;
    std::string_view type = "linear";
    if (get("rope.scaling.type", &v)) type = v.text;
    const bool by_length = longrope(*arch_) && has("rope_factors_long.weight");
    if (type != "linear" && type != "none" && type != "yarn" && !(type == "longrope" && by_length))
      return refuse(LINNET_UNSUPPORTED, "key '", full("rope.scaling.type"), "' = ", show(v), " is not supported");
    s->rope_freqs = arch_->gemma4 || has("rope_freqs.weight");
    if (arch_->gemma4) {
      s->rope_local_dim = s->head_dim;
      LINNET_TRY(number("rope.dimension_count_swa", false, &s->rope_local_dim));
    }
    if (s->rope_freqs) LINNET_TRY(number("rope.scaling.original_context_length", false, &s->rope_original));
    if (by_length) {
      if (type == "yarn" || factor != 1)
        return refuse(LINNET_UNSUPPORTED, "key '", full("rope.scaling.factor"), "' = ", std::to_string(factor),
                      " beside rope_factors_long.weight is not supported");
      LINNET_TRY(long_rope(s));
    } else if (type == "yarn") {
      LINNET_TRY(yarn(factor, s));
    } else if (type == "linear" && factor != 1) {
      s->rope_scaling = kRopeScaleLinear, s->rope_factor = factor;
    }
    if (arch_->rope_temperature && s->temp_scale > 0) {
      s->temp_positions = s->n_context;
      LINNET_TRY(number("rope.scaling.original_context_length", false, &s->temp_positions));
    }
    return local_rope(s);
  }
  // RoPE of layers with a window. llama.cpp scales it as the others' but in Gemma 3 and OLMo 3.
  Status local_rope(ModelSpec* s) {
    const bool own = arch_->absent.rope_local_base > 0;
    double base = own ? arch_->absent.rope_local_base : s->rope_base;
    LINNET_TRY(number("rope.freq_base_swa", false, &base));
    if (own || (arch_->rope_local_plain && (s->rope_scaling != kRopeScaleNone || base != s->rope_base)))
      s->rope_local_base = base;
    else if (base != s->rope_base)
      return refuse(LINNET_UNSUPPORTED, "key '", full("rope.freq_base_swa"), "' = ", std::to_string(base),
                    " is not supported, only what rope.freq_base is");
    return LINNET_OK;
  }
  Status long_rope(ModelSpec* s) {
    s->rope_scaling = kRopeScaleLong;
    s->rope_original = s->n_context;
    LINNET_TRY(number("rope.scaling.original_context_length", false, &s->rope_original));
    const double grown = static_cast<double>(s->n_context) / s->rope_original,
                 usual = grown <= 1 ? 1 : std::sqrt(1 + std::log(grown) / std::log(static_cast<double>(s->rope_original)));
    s->rope_attn_factor = 1;
    LINNET_TRY(number("rope.scaling.attn_factor", false, &s->rope_attn_factor));
    if (static_cast<float>(s->rope_attn_factor) == static_cast<float>(usual)) s->rope_attn_factor = usual;  // before it was rounded
    return LINNET_OK;
  }
  Status yarn(double factor, ModelSpec* s) {
    s->rope_scaling = kRopeScaleYarn;
    s->rope_factor = factor;
    s->rope_low = 1, s->rope_high = 32, s->rope_original = s->n_context;
    s->rope_untruncated = arch_->form.yarn_untruncated;
    LINNET_TRY(number("rope.scaling.yarn_beta_slow", false, &s->rope_low));
    LINNET_TRY(number("rope.scaling.yarn_beta_fast", false, &s->rope_high));
    LINNET_TRY(number("rope.scaling.original_context_length", false, &s->rope_original));
    LINNET_TRY(number("rope.scaling.yarn_attn_factor", false, &s->rope_attn_factor));
    double all = 0;  // mscale_all_dim; mscale is the same in DeepSeek's models, 1 in others
    LINNET_TRY(number("rope.scaling.yarn_log_multiplier", false, &all));
    if (arch_->form.yarn_log_10) all = shortest(static_cast<float>(10 * all));
    if (s->rope_attn_factor == 0)
      s->rope_attn_factor = all > 0 ? (arch_->latent ? 1 : yarn_grown(*s, 1) / yarn_grown(*s, all)) : yarn_grown(*s, 1);
    if (arch_->latent && all > 0) s->attn_scale = yarn_grown(*s, all) * yarn_grown(*s, all) / std::sqrt(s->qk_nope_dim + s->qk_rope_dim);
    return LINNET_OK;
  }

  const Files& files_;
  const Gguf& g_;
  Error* err_;
  const Architecture* arch_ = nullptr;
  std::string prefix_;
  double alibi_bias_max_ = 0;
  uint32_t extra_layers_ = 0;
  std::vector<uint32_t> kv_heads_, d_ff_;  // of layers, or empty
  uint32_t global_dim_ = 0;                // head_dim of layers that see all, of Gemma 4
  std::vector<bool> convolves_;            // of layers, where some are short convolutions or Mamba-2
  bool mamba_ = false;                     // some layers are Mamba-2
  std::vector<bool> windowed_;             // of layers, where those with a window follow no period
  std::shared_ptr<void> layers_;
};

// ---- tensors ----------------------------------------------------------------------------------------------------------------

// Blocks of 32 of Q8_0 and Q4_0: an f16 scale, then the codes; of Q4_0's nibbles the upper ones belong to the second sixteen.
Status q8_0_rows(const SourceTensor& t, const uint8_t* data, uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
  constexpr size_t kValues = 32;
  const size_t bytes = 2 + kValues * t.exact.bits / 8, blocks = size_t{count} * t.k / kValues;
  const uint8_t* b = data + size_t{first} * (t.k / kValues) * bytes;
  for (size_t i = 0; i < blocks; ++i, b += bytes) {
    std::memcpy(out.halves + i, b, 2);
    int8_t* codes = out.codes + i * kValues;
    if (t.exact.bits == 8)
      std::memcpy(codes, b + 2, kValues);
    else
      for (size_t j = 0; j < kValues / 2; ++j) {
        codes[j] = static_cast<int8_t>((b[2 + j] & 15) - 8);
        codes[j + kValues / 2] = static_cast<int8_t>((b[2 + j] >> 4) - 8);
      }
    if ((out.halves[i] & 0x7C00u) == 0x7C00u)
      return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name, "': a scale of rows ", first, " to ", first + count - 1,
                  " is infinite or not a number");
  }
  return LINNET_OK;
}

// Blocks of MXFP4, as exact as hf_quant.h says.
Status mxfp4_block_rows(const SourceTensor& t, const uint8_t* data, uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
  constexpr size_t kValues = 32, kBytes = 17;
  const size_t blocks = size_t{count} * t.k / kValues;
  const uint8_t* b = data + size_t{first} * (t.k / kValues) * kBytes;
  for (size_t i = 0; i < blocks; ++i, b += kBytes) {
    int8_t* codes = out.codes + i * kValues;
    for (size_t j = 0; j < kValues; ++j) codes[j] = mxfp4_code(b[1 + j % 16] >> (j / 16 * 4) & 15);
    if (!mxfp4_scale(codes, b[0], out.halves + i))
      return fail(err, LINNET_UNSUPPORTED, "tensor '", t.source_name, "': a scale of rows ", first, " to ", first + count - 1, " is 2^",
                  int{b[0]} - 127, ", which an f16 cannot hold: ask for --weights i8g128 or another");
  }
  return LINNET_OK;
}

// Blocks as they are.
Status rows_of_blocks(const SourceTensor& t, const uint8_t* data, uint32_t first, uint32_t count, uint8_t* out, Error* err) {
  const size_t bytes = t.gguf_row_bytes();
  std::memcpy(out, data + first * bytes, count * bytes);
  if (gguf_blocks_finite(t.gguf_format, out, count * bytes / gguf_block_bytes(t.gguf_format))) return LINNET_OK;
  return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name, "': a scale of rows ", first, " to ", first + count - 1,
              " is infinite or not a number");
}

// Where a role's rows lie.
struct Place {
  std::string name;
  HfRows rows = HfRows::kOwn;
};
Place find_place(const Files& files, const Architecture& a, const ModelSpec& s, Role role, uint32_t layer, uint32_t rows) {
  const auto has = [&](const std::string& name) { return files.tensors.count(name) > 0; };
  const std::string blk = "blk." + std::to_string(layer) + ".", ffn_up = blk + "ffn_up.weight";
  const Place own = {gguf_tensor_name(a, s, role, layer)};
  const auto or_in = [&](const char* shared, HfRows of) { return has(blk + shared) && !has(own.name) ? Place{blk + shared, of} : own; };
  switch (role) {
    case kAttnQ:
    case kAttnK:
    case kAttnV:
    case kAttnQBias:
    case kAttnKBias:
    case kAttnVBias:
      if (a.delta && s.attn_gate && role == kAttnQ) return {own.name, HfRows::kGated};
      return or_in(role_row(role).matrix() ? "attn_qkv.weight" : "attn_qkv.bias", HfRows::kQkv);
    case kAttnGate:
      return a.delta ? Place{blk + "attn_q.weight", HfRows::kGated} : own;
    case kDeltaIn:
    case kDeltaGate:
      return or_in("ssm_in.weight", HfRows::kKeyHeads);  // of older files
    case kDeltaBeta:
    case kDeltaAlpha:
      return or_in("ssm_ba.weight", HfRows::kKeyHeads);
    case kFfnGate:
    case kFfnUp:
      if (s.ungated || has(blk + "ffn_gate.weight") || !has(ffn_up) ||
          files.tensors.find(ffn_up)->second.second.dims[1] != 2 * uint64_t{rows})
        return own;
      return {ffn_up, HfRows::kGateUp};
    case kExpertGate:
    case kExpertUp:
      return or_in("ffn_gate_up_exps.weight", HfRows::kGateUp);
    case kAttnKB:
    case kAttnVB:
      return or_in("attn_kv_b.weight", HfRows::kOwn);
    case kMambaIn:
    case kMambaDt:
      return {blk + "ssm_in.weight", HfRows::kSteps};
    default:
      return own;
  }
}

// NVFP4's second-level factor for a whole matrix or each expert of `rows` rows: X.scale beside X.weight, as llama.cpp writes it, with
// X.input_scale, by which activations would be rounded elsewhere.
// apart: a factor that a role of its own has.
Status read_factors(const Files& files, const GgufTensor& g, const std::string& path, uint32_t rows, const std::string& apart,
                    SourceTensor* t, std::set<std::string>* used, Error* err) {
  constexpr std::string_view kWeight = ".weight";
  if (!t->source_name.ends_with(kWeight)) return LINNET_OK;
  const std::string base = t->source_name.substr(0, t->source_name.size() - kWeight.size());
  if (files.tensors.count(base + ".input_scale")) used->insert(base + ".input_scale");
  const auto found = files.tensors.find(base + ".scale");
  if (found == files.tensors.end() || base + ".scale" == apart) return LINNET_OK;
  const GgufTensor& scale = found->second.second;
  const uint64_t parts = g.dims[1] * g.dims[2] / rows;
  if (scale.type != kGgmlF32 || scale.dims[0] != parts || scale.dims[1] != 1 || scale.dims[2] != 1)
    return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", base, ".scale': type ", ggml_type(scale.type).name, ", ",
                scale.dims[0], " x ", scale.dims[1], ", not F32, ", parts, " x 1");
  std::vector<float> factors(parts), pairs(parts * 2);
  std::memcpy(factors.data(), scale.data, parts * sizeof(float));
  for (size_t i = 0; i < parts; ++i)
    if (!outer_factor(factors[i], false, &pairs[i * 2]))
      return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", base, ".scale': number ", i, " is not between 2^-80 and 2^80");
  used->insert(base + ".scale");
  t->outer = [pairs, rows](uint32_t first, uint32_t count, float* out) {
    for (uint32_t i = first; i < first + count; ++i, out += 2) std::memcpy(out, &pairs[size_t{i / rows} * 2], 2 * sizeof *out);
  };
  t->rows = [outer = t->outer, data = g.data, k = t->k](uint32_t first, uint32_t count, float* to, Error*) {
    const size_t blocks = k / gguf_block_values(LINNET_NVFP4), bytes = blocks * gguf_block_bytes(LINNET_NVFP4);
    for (uint32_t i = first; i < first + count; ++i, to += k) {
      float two[2];
      outer(i, 1, two);
      block_values(LINNET_NVFP4, data + i * bytes, blocks, two, to);
    }
    return LINNET_OK;
  };
  return LINNET_OK;
}

// n rows of a role from where they lie.
Status read_tensor(const Files& files, const ModelSpec& s, Role role, uint32_t layer, uint32_t n, const Place& place, SourceTensor* out,
                   std::set<std::string>* used, Error* err) {
  const TensorRole& want = role_row(role);
  SourceTensor& t = *out;
  t.role = role, t.layer = layer, t.n = n, t.k = want.matrix() ? role_k(role, layer, s) : 1;
  const uint32_t rows = role_row(role).of_experts() ? expert_rows(role, s) : t.n, parts = role_row(role).of_experts() ? s.n_experts : 1;
  RowMap map = map_rows({"", role, place.rows}, s, layer, rows);
  if (!map_fits(map, rows))
    return fail(err, LINNET_BAD_FILE, files.first().label, ": tensor '", place.name, "' has not the rows of its layer");
  const bool kv_b = (role == kAttnKB || role == kAttnVB) && place.name.ends_with("attn_kv_b.weight");
  if (kv_b) t.k = s.kv_lora_rank, map.n = s.n_heads * (s.qk_nope_dim + s.v_head_dim);
  const auto found = files.tensors.find(place.name);
  if (found == files.tensors.end()) return fail(err, LINNET_BAD_FILE, files.first().label, ": tensor '", place.name, "' is missing");
  const GgufTensor& g = found->second.second;
  const std::string& path = found->second.first->path;
  std::vector<uint64_t> dims = gguf_dims(role, s, t.k, map.n, parts);
  if (kv_b) dims = {t.k, map.n};
  dims.resize(4, 1);
  const bool flat = !want.matrix() && !role_row(role).of_experts() && g.n_dims == 1 && g.dims[0] == t.n;
  if (!flat && !std::equal(dims.begin(), dims.end(), g.dims))
    return fail(err, LINNET_BAD_FILE, PathName(path), ": tensor '", place.name, "': dimensions ", g.dims[0], " x ", g.dims[1], " x ",
                g.dims[2], " x ", g.dims[3], ", not ", dims[0], " x ", dims[1], " x ", dims[2], " x ", dims[3]);
  if (!ggml_readable(g.type))
    return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", place.name, "': type ", ggml_type(g.type).name, " is not supported");
  const GgmlType type = ggml_type(g.type);
  if (role == kLayerEmbd && t.k % type.values != 0)
    return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", place.name, "': type ", type.name, " in blocks of ", type.values,
                ", of which a layer's ", t.k, " numbers are no multiple");
  if (t.k % type.values != 0)
    return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", place.name, "': type ", type.name,
                " is for matrices; a vector is F32, F16 or BF16");
  used->insert(place.name);
  t.source_name = place.name;
  t.source_type = type.name;
  t.rows = [g, type, k = t.k](uint32_t first, uint32_t count, float* to, Error*) {
    ggml_values(g.type, g.data + uint64_t{first} * k / type.values * type.bytes, size_t{count} * k, to);
    return LINNET_OK;
  };
  if (kv_b) {
    t.k = role_k(role, layer, s);
    read_kv_b(t.rows, s, &t);
    return LINNET_OK;
  }
  const bool mx = g.type == kGgmlMXFP4;
  if ((g.type == kGgmlQ8_0 || g.type == kGgmlQ4_0 || mx) && want.matrix()) {
    t.exact = {.bits = static_cast<uint8_t>(g.type == kGgmlQ4_0 ? 4 : 8), .half = true, .group = 32};
    if (!mx) t.own = exact_format(t.exact, t.k);
    t.exact_rows = [self = t, data = g.data, mx](uint32_t first, uint32_t count, const ExactRows& to, Error* e) {
      return (mx ? mxfp4_block_rows : q8_0_rows)(self, data, first, count, to, e);
    };
  }
  t.gguf_format = format_of_ggml(g.type);
  if (t.gguf_format != LINNET_FORMAT_DEFAULT && want.matrix()) {
    t.own = t.gguf_format;
    t.gguf_blocks = [self = t, data = g.data](uint32_t first, uint32_t count, uint8_t* to, Error* e) {
      return rows_of_blocks(self, data, first, count, to, e);
    };
  }
  if (role == kRouterNorm) divide_router_norm(&t, s.d_model);
  if (g.type == kGgmlNVFP4 && want.matrix()) {
    const std::string apart = s.moe_beside ? "blk." + std::to_string(layer) + "." + role_row(kExpertScale).name : "";
    LINNET_TRY(read_factors(files, g, path, map.n, apart, &t, used, err));
  }
  const uint32_t padded = parts > 1 || role_row(role).of_experts() ? static_cast<uint32_t>(padded_n(rows)) : rows;
  if (map.at || padded != rows)
    choose_rows(&t, t.n, [=](uint32_t i) {
      const uint32_t row = i % padded;
      return row < rows ? i / padded * map.n + (map.at ? map.at(row) : row) : kNoRow;
    });
  if (float scale = 0; role == kLayerScale) {  // in packed files 0 counts as 1
    LINNET_TRY(t.rows(0, 1, &scale, err));
    if (scale == 0) return fail(err, LINNET_UNSUPPORTED, PathName(path), ": tensor '", place.name, "' is 0: not supported");
  }
  return LINNET_OK;
}

// A layer's numbers of xIELU, of lists by layer or one number for all.
Status read_xielu(const Gguf& g, const ModelSpec& s, uint32_t layer, Source* out, Error* err) {
  std::vector<float> values;
  for (const char* key : kXieluKeys) {
    GgufValue v;
    if (!g.key(key, &v)) return fail(err, LINNET_BAD_FILE, g.label, ": key '", key, "' is missing");
    const bool list = v.type == kGgufArray && v.array_type == kGgufF32 && v.count == s.n_layers;
    if (!list && v.type != kGgufF32)
      return fail(err, LINNET_BAD_FILE, g.label, ": key '", key, "' is no number and no list of ", s.n_layers, " numbers");
    float& value = values.emplace_back(static_cast<float>(v.f));
    if (list) std::memcpy(&value, v.raw.data() + layer * sizeof value, sizeof value);
  }
  out->tensors.push_back(computed_tensor(kFfnXielu, layer, values));
  return check_xielu(out->tensors.back(), g.label, err);
}

Status add_tensor(const Files& files, const Architecture& a, double alibi_bias_max, Role role, uint32_t layer, Source* out,
                  std::set<std::string>* used, Error* err) {
  const ModelSpec& s = out->spec;
  if (role == kAlibi || norm_of_ones(a, role)) {
    out->tensors.push_back(computed_tensor(
        role, layer, role == kAlibi ? alibi_slopes(s, alibi_bias_max, a.alibi_scaled) : std::vector<float>(role_n(role, layer, s), 1.0f)));
    return LINNET_OK;
  }
  if (role == kFfnXielu) return read_xielu(files.first(), s, layer, out, err);
  const uint32_t n = role_n(role, layer, s);
  std::vector<SourceTensor> parts(1);
  if (s.delta_by_key && (role == kDeltaIn || role == kDeltaTaps)) {
    parts.clear();
    for (const DeltaPart& part : delta_parts(s, role)) {
      const Place place = {"blk." + std::to_string(layer) + "." + part.name};
      LINNET_TRY(read_tensor(files, s, role, layer, part.rows, place, &parts.emplace_back(), used, err));
    }
    parts = {stacked(std::move(parts))};
  } else {
    const uint32_t rows = role_row(role).of_experts() ? expert_rows(role, s) : n;
    LINNET_TRY(read_tensor(files, s, role, layer, n, find_place(files, a, s, role, layer, rows), &parts[0], used, err));
  }
  out->tensors.push_back(std::move(parts[0]));
  return LINNET_OK;
}

// Gemma 4: pairs that do not turn are divided by 1e30, the fastest ones by 1.
Status recognise_turned(Source* source, Error* err) {
  ModelSpec& spec = source->spec;
  SourceTensor& t = source->tensors.back();
  std::vector<float> stored(t.n);
  LINNET_TRY(t.rows(0, t.n, stored.data(), err));
  uint32_t n = 0;
  while (n < t.n && stored[n] == 1) ++n;
  if (n == 0 || !std::all_of(stored.begin() + n, stored.end(), [](float v) { return v == kNotTurned; })) return LINNET_OK;
  spec.rope_freqs = 0;
  spec.rope_turned = n < t.n ? 2 * n : 0;
  source->tensors.pop_back();
  return LINNET_OK;
}

// GGUF keeps the llama3 scaling as its divisors. Where they are those of a published set of parameters, the spec takes these, and gives the
// same frequencies as the model's config.json does, without their rounding to f32.
Status recognise_llama3(Source* source, Error* err) {
  ModelSpec& spec = source->spec;
  SourceTensor& t = source->tensors.back();
  std::vector<float> stored(t.n);
  LINNET_TRY(t.rows(0, t.n, stored.data(), err));
  ModelSpec guess = spec;
  guess.rope_freqs = 0;
  guess.rope_scaling = kRopeScaleLlama3;
  guess.rope_low = 1, guess.rope_high = 4;
  if (guess.rope_original == 0) guess.rope_original = 8192;  // linnet writes it, others do not
  spec.rope_original = 0;
  guess.rope_factor = static_cast<double>(stored.back());  // the slowest pair has all of it
  if (spec.rope_scaling != kRopeScaleNone || !(guess.rope_factor > 1)) return LINNET_OK;
  const std::vector<double> divisors = llama3_divisors(guess);
  for (size_t i = 0; i < divisors.size(); ++i)
    if (!(std::fabs(static_cast<double>(stored[i]) / divisors[i] - 1) < 2e-5)) return LINNET_OK;
  spec = guess;
  source->tensors.pop_back();
  return LINNET_OK;
}

// Layers behind the last that guess tokens further on, all of them or, where one lacks a tensor, none. Of families that have such layers no
// row or channel lies otherwise than in a folder.
Status add_ahead_layers(const Files& files, const Architecture& a, uint32_t n, Source* out, std::set<std::string>* used, Error* err) {
  const std::string first = "blk." + std::to_string(out->spec.n_layers) + ".";
  const auto at = files.tensors.lower_bound(first);
  if (!a.ahead || n == 0 || at == files.tensors.end() || !at->first.starts_with(first)) return LINNET_OK;
  LINNET_TRY(add_ahead(out, n, files.first().label, "nextn_predict_layers", err));
  Source* const ahead = out->ahead.get();
  ModelSpec& s = ahead->spec;
  for (const AheadPart& part : kAheadParts)
    if (files.tensors.count(gguf_tensor_name(a, s, part.role, out->spec.n_layers))) s.ahead |= part.bit;
  std::string missing;
  LINNET_TRY(each_ahead(s, [&](Role role, uint32_t layer) {
    const uint32_t rows = role_row(role).of_experts() ? expert_rows(role, s) : role_n(role, layer, s);
    const std::string name = find_place(files, a, s, role, layer, rows).name;
    if (missing.empty() && !files.tensors.count(name)) missing = name;
    return LINNET_OK;
  }));
  if (!missing.empty()) return drop_ahead(out, missing), LINNET_OK;
  return each_ahead(s, [&](Role role, uint32_t layer) { return add_tensor(files, a, 0, role, layer, ahead, used, err); });
}

bool is_text_key(const Gguf& g, const char* key, std::string* out) {
  GgufValue v;
  if (!g.key(key, &v) || v.type != kGgufString) return false;
  *out = std::string(v.text);
  return true;
}

}  // namespace

std::vector<std::string> gguf_parts(const std::string& path) {
  std::string stem;
  uint32_t part = 0, parts = 0;
  if (!split_name(path, &stem, &part, &parts) || parts < 1 || parts > kMaxParts) return {path};
  std::vector<std::string> names;
  for (uint32_t i = 1; i <= parts; ++i) names.push_back(part_name(stem, i, parts));
  return names;
}

Status source_from_gguf(const std::string& path, Source* out, Error* err) {
  *out = {};
  const auto files = std::make_shared<Files>();
  out->keep = files;
  LINNET_TRY(open_files(path, files.get(), err));
  MetadataReader reader(*files, err);
  LINNET_TRY(reader.read(&out->spec));
  out->layers = reader.layers();
  const Architecture& a = *reader.architecture();
  const Gguf& g = files->first();
  is_text_key(g, "general.name", &out->name);
  templates_from_gguf(g, &out->templates);
  LINNET_TRY(chat_read(g, &out->chat, err));
  prompts_from_gguf(g, &out->prompts);
  std::set<std::string> used;
  const auto add = [&](Role role, uint32_t layer) { return add_tensor(*files, a, reader.alibi_bias_max(), role, layer, out, &used, err); };
  if (out->spec.rope_freqs) {
    LINNET_TRY(add(kRopeFreqs, 0));
    LINNET_TRY(a.gemma4 ? recognise_turned(out, err) : recognise_llama3(out, err));
  }
  LINNET_TRY(each_tensor(out->spec, [&](Role role, uint32_t layer) { return role == kRopeFreqs ? LINNET_OK : add(role, layer); }));
  // Back to the order of the model's checkpoint, so that a folder and the GGUF made from it are the same model to the bit: sums over the
  // channels of a head run in that order, and the KV cache shares scales among neighbours.
  if (a.rope_hf == kRopeHalves && out->spec.rope_kind == kRopePairs &&
      (out->spec.rope_dim == out->spec.head_dim || out->spec.mamba_heads)) {  // with Mamba-2 all of a head is reordered
    for (SourceTensor& t : out->tensors) halves_from_pairs(&t, out->spec.head_dim);
    out->spec.rope_kind = kRopeHalves;
  }
  const auto moves = [&](const SourceTensor& t) { return t.role != kDeltaOut || inputs_move(t, out->spec.delta_value_dim); };
  if (out->spec.delta_tiled && std::all_of(out->tensors.begin(), out->tensors.end(), moves)) {
    for (SourceTensor& t : out->tensors) tile_values(&t, out->spec, false);
    out->spec.delta_tiled = 0;
  }
  if (out->spec.mamba_heads && out->spec.rope_kind == kRopeNone && out->spec.head_dim % 2 == 0)
    for (SourceTensor& t : out->tensors) halves_from_pairs(&t, out->spec.head_dim);  // where there is no RoPE, too
  // Of a quantised file an embedding or LM head that is not stays what it is.
  if (std::any_of(out->tensors.begin(), out->tensors.end(), [](const SourceTensor& t) { return t.own != LINNET_FORMAT_DEFAULT; }))
    for (SourceTensor& t : out->tensors)
      if ((t.role == kTokenEmbd || t.role == kOutput) && t.own == LINNET_FORMAT_DEFAULT)
        t.own = t.source_type == "F16" ? LINNET_F16 : t.source_type == "BF16" ? LINNET_BF16 : t.own;
  LINNET_TRY(add_ahead_layers(*files, a, reader.extra_layers(), out, &used, err));
  const auto in_extra = [&](std::string_view name) {
    for (uint32_t i = 0; i < reader.extra_layers(); ++i)
      if (name.starts_with("blk." + std::to_string(out->spec.n_layers + i) + ".")) return true;
    return false;
  };
  for (uint32_t i = 0; i < out->spec.n_layers; ++i)  // published, and never read
    for (const Role role : {kAttnK, kAttnV, kAttnKNorm})
      if (layer_spec(out->spec, i).kv_back) used.insert(gguf_tensor_name(a, out->spec, role, i));
  for (const auto& [name, where] : files->tensors)
    if (!used.count(std::string(name)) && (out->ahead || !in_extra(name)))
      return fail(err, LINNET_UNSUPPORTED, PathName(where.first->path), ": tensor '", name, "' is unknown, or has no place in a model of ",
                  out->spec.n_layers, " layers");
  std::string vocabulary;
  if (!is_text_key(g, "tokenizer.ggml.model", &vocabulary) || vocabulary == "no_vocab" || vocabulary == "none") return LINNET_OK;
  return tokenizer_from_gguf(g, &out->tokenizer, err);
}

Status spec_of_plain(const std::string& header, uint64_t file_bytes, ModelSpec* out, std::shared_ptr<void>* layers, Error* err) {
  Files files;
  auto& p = files.parts.emplace_back(std::make_unique<Part>());
  // Of the bytes behind the header only the number counts.
  LINNET_TRY(gguf_open(header.data(), static_cast<size_t>(file_bytes), "plain GGUF", &p->gguf, err));
  for (uint32_t i = 0; i < p->gguf.n_tensors; ++i) {
    GgufTensor tensor;
    p->gguf.tensor_entry(i, &tensor);
    files.tensors.emplace(tensor.name, std::pair(p.get(), tensor));
  }
  MetadataReader reader(files, err);
  LINNET_TRY(reader.read(out));
  *layers = reader.layers();
  return LINNET_OK;
}

Status vocab_from_gguf(const std::string& path, Source* out, Error* err) {
  *out = {};
  const auto files = std::make_shared<Files>();
  out->keep = files;
  LINNET_TRY(open_part(gguf_parts(path).front(), files.get(), err));
  const Gguf& g = files->first();
  std::string architecture;
  if (!is_text_key(g, "general.architecture", &architecture) || architecture.empty()) architecture = "vocab";
  std::strncpy(out->spec.architecture, architecture.c_str(), sizeof out->spec.architecture - 1);
  is_text_key(g, "general.name", &out->name);
  templates_from_gguf(g, &out->templates);
  return tokenizer_from_gguf(g, &out->tokenizer, err);
}

}  // namespace linnet::convert
