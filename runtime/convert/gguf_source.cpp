// A plain GGUF of another maker as a Source. What linnet does not know, key or tensor, is refused by name: it could change the arithmetic.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "../architectures.h"
#include "ggml_types.h"
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
    for (const auto& p : parts) linnet_file_unmap(&p->view);
  }
  const Gguf& first() const { return parts.front()->gguf; }
};

Status open_part(const std::string& path, Files* files, Error* err) {
  auto& p = files->parts.emplace_back(std::make_unique<Part>());
  p->path = path;
  LINNET_TRY(linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &p->view, err));
  const Status s = gguf_open(p->view.data, p->view.bytes, p->path.c_str(), &p->gguf, err);
  constexpr std::string_view kTensors = ".safetensors";
  if (s != LINNET_OK && path.size() > kTensors.size() && path.compare(path.size() - kTensors.size(), kTensors.size(), kTensors) == 0)
    return fail(err, LINNET_BAD_ARG, path, ": give the folder that holds this file and its config.json");
  LINNET_TRY(s);
  if (is_packed(p->gguf)) return fail(err, LINNET_UNSUPPORTED, path, ": packed by linnet already; convert what it was made from");
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
    return fail(err, LINNET_BAD_FILE, path, ": part ", part, " of ", parts, " (1 to at most ", kMaxParts, " parts)");
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
      return fail(err, LINNET_BAD_FILE, p.path, ": one of ", count, " parts, but not named like <model>-00001-of-", count, ".gguf (five digits each)");
    }
    for (uint32_t t = 0; t < p.gguf.n_tensors; ++t) {
      GgufTensor tensor;
      p.gguf.tensor_entry(t, &tensor);
      if (!files->tensors.emplace(tensor.name, std::pair(&p, tensor)).second)
        return fail(err, LINNET_BAD_FILE, p.path, ": tensor '", tensor.name, "' is in another part too");
    }
    n_tensors += p.gguf.n_tensors;
  }
  return split ? split_number(files->first(), "split.tensors.count", n_tensors, err) : LINNET_OK;
}

// ---- metadata -> spec -------------------------------------------------------------------------------------------------------

// Keys of "<architecture>." that MetadataReader looks at, and those that change nothing here.
constexpr std::string_view kKnownKeys[] = {
    "block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count", "attention.head_count_kv",
    "attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon", "attention.sliding_window", "rope.dimension_count",
    "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
    "rope.scaling.original_context_length", "rope.scaling.finetuned", "vocab_size", "tensor_data_layout", "expert_count", "expert_used_count", "expert_feed_forward_length",
    "expert_shared_feed_forward_length"};
// Keys that some families have besides, as Architecture::gguf_keys names them.
constexpr std::string_view kSoftcaps = "softcaps", kWindows = "windows";
struct FamilyKey {
  std::string_view group, key;
};
constexpr FamilyKey kFamilyKeys[] = {
    {kSoftcaps, "attn_logit_softcapping"}, {kSoftcaps, "final_logit_softcapping"}, {kWindows, "attention.sliding_window_pattern"}, {kWindows, "rope.freq_base_swa"}};
// Keys that linnet supports at one value only.
struct OnlyAt {
  std::string_view key;
  double value;
};
constexpr OnlyAt kOnlyAt[] = {{"attention.causal", 1}, {"rope.scaling.attn_factor", 1}, {"pooling_type", 0}};

class MetadataReader {
 public:
  MetadataReader(const Files& files, Error* err) : files_(files), g_(files.first()), err_(err) {}

  Status read(ModelSpec* s) {
    LINNET_TRY(pick_architecture());
    LINNET_TRY(check_keys());
    *s = arch_->spec;
    std::strncpy(s->architecture, arch_->name, sizeof s->architecture - 1);
    LINNET_TRY(number("block_count", true, &s->n_layers));
    LINNET_TRY(number("context_length", true, &s->n_context));
    LINNET_TRY(number("embedding_length", true, &s->d_model));
    LINNET_TRY(number("feed_forward_length", true, &s->d_ff));
    LINNET_TRY(number("attention.head_count", true, &s->n_heads));
    LINNET_TRY(number("attention.layer_norm_rms_epsilon", true, &s->norm_eps));
    s->n_kv_heads = s->n_heads;
    LINNET_TRY(number("attention.head_count_kv", false, &s->n_kv_heads));
    if (s->n_layers == 0 || s->n_heads == 0 || s->n_kv_heads == 0)
      return refuse(LINNET_BAD_FILE, "block_count, head_count and head_count_kv are ", s->n_layers, ", ", s->n_heads, " and ", s->n_kv_heads);
    LINNET_TRY(head_dim(s));
    LINNET_TRY(rope(s));
    LINNET_TRY(number("attention.sliding_window", false, &s->window));  // of all layers
    LINNET_TRY(of_family(s));
    if (s->window >= s->n_context && s->rope_local_base == 0) s->window = s->window_pattern = 0;
    LINNET_TRY(experts(s));
    const auto embedding = files_.tensors.find("token_embd.weight");
    if (embedding == files_.tensors.end()) return refuse(LINNET_BAD_FILE, "tensor 'token_embd.weight' is missing");
    const uint64_t n_vocab = embedding->second.second.dims[1];
    s->n_vocab = n_vocab > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(n_vocab);
    s->tied = !has("output.weight");
    s->qkv_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_k.bias") || has("blk.0.attn_v.bias");
    s->out_bias = has("blk.0.attn_output.bias");
    s->mlp_bias = has("blk.0.ffn_gate.bias") || has("blk.0.ffn_up.bias") || has("blk.0.ffn_down.bias");
    return spec_check(*s, err_, g_.label);
  }

 private:
  template <class... Parts>
  Status refuse(Status code, const Parts&... parts) {
    return fail(err_, code, g_.label, ": ", parts...);
  }
  bool has(const char* tensor) const { return files_.tensors.count(tensor) > 0; }
  std::string full(std::string_view key) const { return prefix_ + std::string(key); }
  bool get(std::string_view key, GgufValue* v) const { return g_.key(full(key), v); }

  Status pick_architecture() {
    GgufValue v;
    if (g_.key("general.type", &v) && v.text != "model") return refuse(LINNET_UNSUPPORTED, "general.type is '", v.text, "', not 'model'");
    if (!g_.key("general.architecture", &v) || v.type != kGgufString) return refuse(LINNET_BAD_FILE, "key 'general.architecture' is missing or no string");
    arch_ = architecture_by_gguf(v.text);
    if (!arch_ || !arch_->from_gguf) return refuse(LINNET_UNSUPPORTED, "architecture '", v.text, "' is not supported", arch_ ? " from GGUF: convert the Hugging Face folder" : "");
    prefix_ = std::string(v.text) + ".";
    return LINNET_OK;
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
      for (const FamilyKey& k : kFamilyKeys) known |= name == k.key && in_group(k.group);
      for (const OnlyAt& o : kOnlyAt)
        if (name == o.key) known = (v.type == kGgufBool ? static_cast<double>(v.u) : v.is_number(&value) ? value : NAN) == o.value;
      if (!known) return refuse(LINNET_UNSUPPORTED, "key '", key, "' = ", show(v), " is not supported");
    }
    return LINNET_OK;
  }
  bool in_group(std::string_view group) const {
    for (const char* g : arch_->gguf_keys)
      if (g && group == g) return true;
    return false;
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
    if (!v.is_uint(&u) || u > UINT32_MAX) return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is no unsigned 32-bit number");
    *out = static_cast<uint32_t>(u);
    return LINNET_OK;
  }
  Status number(std::string_view key, bool required, double* out) {
    GgufValue v;
    if (!get(key, &v)) return required ? refuse(LINNET_BAD_FILE, "key '", full(key), "' is missing") : LINNET_OK;
    if (!v.is_number(out)) return refuse(LINNET_BAD_FILE, "key '", full(key), "' = ", show(v), " is no number");
    return LINNET_OK;
  }

  // What files leave to the family, or say in keys of its own.
  Status of_family(ModelSpec* s) {
    if (arch_->embd_scale_root) s->embd_scale = std::sqrt(static_cast<double>(s->d_model));
    if (in_group(kSoftcaps)) {
      LINNET_TRY(number("attn_logit_softcapping", false, &s->attn_softcap));
      LINNET_TRY(number("final_logit_softcapping", false, &s->logit_softcap));
      // Queries are scaled by the root of head_dim but in the largest Gemma 2 and 3, which have 46 and 62 layers; no key says so.
      const bool largest = s->n_layers == (arch_->absent.rope_local_base > 0 ? 62u : 46u);
      s->attn_scale = largest ? 1 / std::sqrt(static_cast<double>(s->d_model) / s->n_heads) : 0;
    }
    if (in_group(kWindows) && s->window) {
      s->window_pattern = arch_->absent.window_pattern;
      LINNET_TRY(number("attention.sliding_window_pattern", false, &s->window_pattern));
      s->rope_local_base = arch_->absent.rope_local_base;
      if (s->rope_local_base > 0) LINNET_TRY(number("rope.freq_base_swa", false, &s->rope_local_base));
    }
    return LINNET_OK;
  }

  // A Mixtral is a "llama" with experts.
  Status experts(ModelSpec* s) {
    LINNET_TRY(number("expert_count", false, &s->n_experts));
    LINNET_TRY(number("expert_used_count", false, &s->n_active));
    if (s->n_experts == 0) {
      s->n_active = 0;
      return LINNET_OK;
    }
    if (!arch_->experts.count) {
      arch_ = prefix_ == "llama." ? architecture_by_hf("mixtral") : nullptr;
      if (!arch_) return refuse(LINNET_UNSUPPORTED, "key '", full("expert_count"), "' = ", s->n_experts, " is not supported");
      std::strncpy(s->architecture, arch_->name, sizeof s->architecture - 1);
    }
    s->expert_ff = s->d_ff;
    LINNET_TRY(number("expert_feed_forward_length", false, &s->expert_ff));
    s->router_norm = arch_->experts.norm_in_gguf;
    s->shared_gate = arch_->experts.shared_gate;
    if (s->shared_gate) LINNET_TRY(number("expert_shared_feed_forward_length", true, &s->shared_ff));
    std::vector<bool> moe;
    for (uint32_t i = 0; i < s->n_layers && i < 1024; ++i) moe.push_back(has(("blk." + std::to_string(i) + ".ffn_gate_inp.weight").c_str()));
    while (s->moe_first < moe.size() && !moe[s->moe_first]) ++s->moe_first;
    for (s->moe_step = 0; s->moe_step <= moe.size(); ++s->moe_step) {
      uint32_t same = 0;
      while (same < moe.size() && layer_moe(*s, same) == moe[same]) ++same;
      if (same == moe.size()) return LINNET_OK;
    }
    return refuse(LINNET_UNSUPPORTED, "the layers with experts follow no period");
  }

  Status head_dim(ModelSpec* s) {
    LINNET_TRY(number("attention.key_length", false, &s->head_dim));
    uint32_t value_length = s->head_dim;
    LINNET_TRY(number("attention.value_length", false, &value_length));
    if (s->head_dim == 0) {
      if (s->d_model % s->n_heads) return refuse(LINNET_BAD_FILE, "embedding_length = ", s->d_model, " is no multiple of head_count = ", s->n_heads);
      s->head_dim = s->d_model / s->n_heads;
    }
    if (value_length && value_length != s->head_dim)
      return refuse(LINNET_UNSUPPORTED, "attention.value_length = ", value_length, " beside key_length = ", s->head_dim, " is not supported");
    return LINNET_OK;
  }

  Status rope(ModelSpec* s) {
    s->rope_kind = arch_->rope_gguf;
    s->rope_dim = s->head_dim;
    s->rope_base = arch_->absent.rope_base;
    s->rope_factor = s->rope_low = s->rope_high = 1;
    LINNET_TRY(number("rope.dimension_count", false, &s->rope_dim));
    LINNET_TRY(number("rope.freq_base", false, &s->rope_base));
    double factor = 1, old_factor = 1;  // 0 means 1
    LINNET_TRY(number("rope.scaling.factor", false, &factor));
    LINNET_TRY(number("rope.scale_linear", false, &old_factor));
    GgufValue type;
    const bool typed = get("rope.scaling.type", &type);
    if (typed && type.text != "linear" && type.text != "none")
      return refuse(LINNET_UNSUPPORTED, "key '", full("rope.scaling.type"), "' = ", show(type), " is not supported yet");
    if (typed && type.text == "none") factor = 1;
    if (factor == 0 || factor == 1) factor = old_factor;
    if (factor != 0 && factor != 1) s->rope_scaling = kRopeScaleLinear, s->rope_factor = factor;
    s->rope_freqs = has("rope_freqs.weight");
    if (s->rope_freqs) LINNET_TRY(number("rope.scaling.original_context_length", false, &s->rope_original));
    return LINNET_OK;
  }


  const Files& files_;
  const Gguf& g_;
  Error* err_;
  const Architecture* arch_ = nullptr;
  std::string prefix_;
};

// ---- tensors ----------------------------------------------------------------------------------------------------------------

// Blocks of 32 of Q8_0 and Q4_0: an f16 scale, then the codes; of Q4_0's nibbles the upper ones belong to the second sixteen.
Status block_rows(const SourceTensor& t, const uint8_t* data, uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
  constexpr size_t kValues = 32;
  const size_t bytes = 2 + kValues * t.exact_bits / 8, blocks = size_t{count} * t.k / kValues;
  const uint8_t* b = data + size_t{first} * (t.k / kValues) * bytes;
  for (size_t i = 0; i < blocks; ++i, b += bytes) {
    std::memcpy(out.scales + i, b, 2);
    int8_t* codes = out.codes + i * kValues;
    if (t.exact_bits == 8) std::memcpy(codes, b + 2, kValues);
    else
      for (size_t j = 0; j < kValues; ++j) codes[j] = static_cast<int8_t>((b[2 + j % 16] >> (j / 16 * 4) & 15) - 8);
    if ((out.scales[i] & 0x7C00u) == 0x7C00u)
      return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name, "': a scale of rows ", first, " to ", first + count - 1, " is infinite or not a number");
  }
  return LINNET_OK;
}

// Experts of n rows, one behind the other, become padded to whole panels.
void pad_experts(uint32_t n, SourceTensor* t) {
  const uint32_t padded = static_cast<uint32_t>(padded_n(n));
  t->rows = [=, rows = t->rows, k = t->k](uint32_t first, uint32_t count, float* to, Error* err) {
    for (uint32_t i = first; i < first + count; ++i, to += k) {
      if (i % padded < n) LINNET_TRY(rows(i / padded * n + i % padded, 1, to, err));
      else std::memset(to, 0, k * sizeof *to);
    }
    return LINNET_OK;
  };
  if (t->exact_rows)
    t->exact_rows = [=, rows = t->exact_rows, k = t->k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
      const size_t groups = div_up(k, out.group);
      for (uint32_t r = 0; r < count; ++r) {
        const uint32_t i = first + r;
        const ExactRows to = {out.codes + size_t{r} * k, out.scales + r * groups, nullptr, out.group};
        if (i % padded < n) {
          LINNET_TRY(rows(i / padded * n + i % padded, 1, to, err));
          continue;
        }
        std::memset(to.codes, 0, k);
        std::memset(to.scales, 0, groups * sizeof *to.scales);
      }
      return LINNET_OK;
    };
}

Status add_tensor(const Files& files, Role role, uint32_t layer, Source* out, Error* err) {
  const TensorRole& want = kRoles[role];
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  const auto found = files.tensors.find(name);
  if (found == files.tensors.end()) return fail(err, LINNET_BAD_FILE, files.first().label, ": tensor '", name, "' is missing");
  const GgufTensor& g = found->second.second;
  const std::string& path = found->second.first->path;
  SourceTensor t;
  t.role = role, t.layer = layer, t.n = want.n(out->spec), t.k = want.k(out->spec);
  const bool experts = role_of_experts(role);
  const uint32_t rows_each = experts ? expert_rows(role, out->spec) : t.n;
  const uint64_t dims[3] = {want.matrix ? t.k : t.n, want.matrix ? rows_each : 1, experts ? out->spec.n_experts : 1};
  const uint64_t third = g.n_dims > 2 ? g.dims[2] : 1;
  if (g.n_dims > 3 || g.dims[0] != dims[0] || g.dims[1] != dims[1] || third != dims[2])
    return fail(err, LINNET_BAD_FILE, path, ": tensor '", name, "': dimensions ", g.dims[0], " x ", g.dims[1], " x ", third, ", not ", dims[0], " x ", dims[1], " x ", dims[2]);
  if (!ggml_readable(g.type)) return fail(err, LINNET_UNSUPPORTED, path, ": tensor '", name, "': type ", ggml_type(g.type).name, " is not supported");
  t.source_name = name;
  t.source_type = ggml_type(g.type).name;
  const GgmlType type = ggml_type(g.type);
  t.rows = [g, type, k = t.k](uint32_t first, uint32_t count, float* rows, Error*) {
    ggml_values(g.type, g.data + uint64_t{first} * k / type.values * type.bytes, size_t{count} * k, rows);
    return LINNET_OK;
  };
  if ((g.type == kGgmlQ8_0 || g.type == kGgmlQ4_0) && want.matrix) {
    t.exact_bits = g.type == kGgmlQ8_0 ? 8 : 4;
    t.exact_group = 32;
    t.exact_rows = [self = t, data = g.data](uint32_t first, uint32_t count, const ExactRows& rows, Error* e) {
      return block_rows(self, data, first, count, rows, e);
    };
  }
  if (experts && rows_each % kPanel) pad_experts(rows_each, &t);
  out->tensors.push_back(std::move(t));
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

// Row i of the new order is row `from(i)` of the old one, in each head.
template <class From>
void reorder_heads(SourceTensor* t, uint32_t head_dim, From from) {
  if (t->role != kAttnQ && t->role != kAttnK && t->role != kAttnQBias && t->role != kAttnKBias) return;
  const auto old_row = [=](uint32_t i) { return i - i % head_dim + from(i % head_dim); };
  t->panel = nullptr;
  t->rows = [=, rows = t->rows, k = t->k](uint32_t first, uint32_t count, float* out, Error* err) {
    for (uint32_t i = 0; i < count; ++i) LINNET_TRY(rows(old_row(first + i), 1, out + size_t{i} * k, err));
    return LINNET_OK;
  };
  if (t->exact_rows)
    t->exact_rows = [=, rows = t->exact_rows, k = t->k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
      const size_t groups = div_up(k, out.group);
      for (uint32_t i = 0; i < count; ++i)
        LINNET_TRY(rows(old_row(first + i), 1, {out.codes + size_t{i} * k, out.scales + i * groups, out.zeros ? out.zeros + i * groups : nullptr, out.group}, err));
      return LINNET_OK;
    };
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

void pairs_from_halves(SourceTensor* t, uint32_t head_dim) {
  reorder_heads(t, head_dim, [half = head_dim / 2](uint32_t i) { return i / 2 + i % 2 * half; });
}
void halves_from_pairs(SourceTensor* t, uint32_t head_dim) {
  reorder_heads(t, head_dim, [half = head_dim / 2](uint32_t i) { return i % half * 2 + i / half; });
}

std::vector<double> llama3_divisors(const ModelSpec& spec) {
  constexpr double kPi = 3.14159265358979323846;
  std::vector<double> out(spec.rope_dim / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const double turns = spec.rope_original * std::pow(spec.rope_base, -2.0 * static_cast<double>(i) / spec.rope_dim) / (2 * kPi);
    const double smooth = (turns - spec.rope_low) / (spec.rope_high - spec.rope_low);  // 0: all of the factor, 1: none
    out[i] = turns < spec.rope_low ? spec.rope_factor : turns > spec.rope_high ? 1 : 1 / ((1 - smooth) / spec.rope_factor + smooth);
  }
  return out;
}

Status source_from_gguf(const std::string& path, Source* out, Error* err) {
  *out = {};
  const auto files = std::make_shared<Files>();
  out->keep = files;
  LINNET_TRY(open_files(path, files.get(), err));
  LINNET_TRY(MetadataReader(*files, err).read(&out->spec));
  const Gguf& g = files->first();
  is_text_key(g, "general.name", &out->name);
  is_text_key(g, kChatTemplateKey, &out->chat_template);
  LINNET_TRY(chat_read(g, &out->chat, err));
  size_t used = 0;
  if (out->spec.rope_freqs) {
    LINNET_TRY(add_tensor(*files, kRopeFreqs, 0, out, err));
    LINNET_TRY(recognise_llama3(out, err));
    ++used;
  }
  for (uint32_t r = 0; r < kRoleCount; ++r)
    for (uint32_t layer = 0; r != kRopeFreqs && layer < (kRoles[r].per_layer ? out->spec.n_layers : 1); ++layer)
      if (role_present(static_cast<Role>(r), layer, out->spec)) {
        LINNET_TRY(add_tensor(*files, static_cast<Role>(r), layer, out, err));
        ++used;
      }
  // Back to the order of the model's checkpoint, so that a folder and the GGUF made from it are the same model to the bit: sums over the
  // channels of a head run in that order, and the KV cache shares scales among neighbours.
  const Architecture* a = architecture_by_hf(out->spec.architecture);
  if (a->rope_hf == kRopeHalves && out->spec.rope_kind == kRopePairs && out->spec.rope_dim == out->spec.head_dim) {
    for (SourceTensor& t : out->tensors) halves_from_pairs(&t, out->spec.head_dim);
    out->spec.rope_kind = kRopeHalves;
  }
  if (used != files->tensors.size())
    for (const auto& [name, where] : files->tensors) {
      bool known = name == "rope_freqs.weight";
      for (const SourceTensor& t : out->tensors) known |= t.source_name == name;
      if (!known) return fail(err, LINNET_UNSUPPORTED, where.first->path, ": tensor '", name, "' is unknown, or has no place in a model of ", out->spec.n_layers, " layers");
    }
  std::string vocabulary;
  if (!is_text_key(g, "tokenizer.ggml.model", &vocabulary) || vocabulary == "no_vocab" || vocabulary == "none") return LINNET_OK;
  return tokenizer_from_gguf(g, &out->tokenizer, err);
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
  return tokenizer_from_gguf(g, &out->tokenizer, err);
}

}  // namespace linnet::convert
