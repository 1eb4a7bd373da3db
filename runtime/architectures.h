// Architectures: how the published families of decoders differ, as data. A new family is one row of kArchitectures; where it needs an
// operation that no row has had, ModelSpec gets a field and run() of a layer kind (layers/) a step.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "spec.h"

namespace linnet {

enum class Has : uint8_t { kNever, kAlways, kByKey };  // kByKey: config.json says

// Where a role's rows lie in a stored tensor, which other roles may share.
enum class HfRows : uint8_t {
  kOwn,       // it is all the role's
  kQkv,       // all queries, then all keys, then all values
  kHeads,     // of each KV head its queries, its key, its value
  kGateUp,    // gate, then up
  kTurns,     // a row of gate, a row of up, and so on
  kGated,     // of each head its queries, then their gate
  kPart,      // some of the role's, whose tensors lie one below the other in the order of their rows here
  kKeyHeads,  // of a gated delta net's key head its query, its key, its values, their gate; or its values' betas, then alphas
  kSteps,     // of Mamba-2: gate, x, B and C, then the steps
  kEachHead,  // a row for each head, which all its channels have
  kOtherHalf  // of each head the second half, then the first: so that channels turn the usual way
};

// A tensor of a Hugging Face checkpoint. A name that begins with '/' has no root before it; in layers '*' stands for a head or an expert,
// of which the role has the rows. Of roles of experts a name without '*' is a tensor that holds all of them, [experts, ...].
struct HfTensor {
  const char* name;
  Role role;
  HfRows rows = HfRows::kOwn;
  bool transposed = false;  // stored as (inputs, outputs)
};

// How a group of families names its tensors: root + name, and root + layers + "<i>." + name of those that the role says to be a layer's. A
// role may have several names, of which a checkpoint has one.
struct HfNames {
  const char* roots[2];  // with which published files come; the second may be nullptr
  const char* layers;
  const HfTensor* tensors;
  uint32_t n_tensors;
  const char* ignored[3];          // of layers: tables and masks that files carry along
  const char* beside[4] = {};      // how names of parts that are no decoder begin
  const char* tops[2] = {"", ""};  // what stands before names that begin with '/', by root
  const char* ahead[2] = {};       // the same as roots, of layers that guess tokens further on where they lie apart and count from 0
  uint32_t first_layer = 0;        // that names count as 0
};

// A published model of which the decoder is a part: config.json has the decoder's keys in text_config, tensors a prefix. What sees or
// projects is passed over.
struct HfWhole {
  const char *name, *hf_class;  // config.json's model_type and architectures[0]
  const char* texts[2];         // families of text_config, the first where it names none
  const char* beside[4];        // HfNames.beside
};

// What config.json calls a key that other families have under another name.
struct HfAlias {
  const char *name, *key;
};

// A key that is true or false, and what a field becomes then.
struct HfFlag {
  const char* key;
  bool absent;  // what it is where config.json lacks it
  uint32_t ModelSpec::* field;
  uint32_t if_true, if_false;
};

// A key that must have this value (as JSON text) where it is there.
struct HfOnly {
  const char *key, *value;
};

// What transformers takes where config.json lacks a key. Sizes without a default here must be in the file.
struct HfDefaults {
  double norm_eps = 1e-6;
  double rope_base = 10000;
  double rope_local_base = 0;  // rope_local_base_freq; 0: layers with a window have the same RoPE as the others
  double rotary = 0;           // partial_rotary_factor; 0: RoPE turns all of a head, whatever the key says must be 1
  double turned = 0;           // the same of "proportional" RoPE, of which the fastest pairs turn; 0: no such RoPE
  uint32_t rotary_dim = 0;     // the same as a count, where that is the key
  uint32_t rope_original = 0;  // original_max_position_embeddings, where that key stands beside rope_scaling
  uint32_t n_context = 2048;
  uint32_t n_kv_heads = 0;      // 0: n_heads
  uint32_t head_dim = 0;        // 0: d_model / n_heads
  uint32_t d_ff = 0;            // times d_model; 0: must be there
  double alibi_bias_max = 0;    // 0: 8, and no such key
  uint32_t window = 0;          // sliding_window; 0: none
  uint32_t window_pattern = 0;  // sliding_window_pattern: every so manyth layer sees all; 0: no such key
  uint32_t windows_from = 0;    // max_window_layers: layers before it see all; 0: no such key but with window_by_switch
  bool window_first = false;    // of so many layers the first one does, not the last
  uint32_t nope_interval = 0;   // no_rope_layer_interval: every so manyth layer has no RoPE; 0: no such key, and no no_rope_layers
  bool tied = false;
};

// Layers with experts: what of them config.json does not say.
struct HfExperts {
  const char* count = nullptr;                             // key of how many experts there are; nullptr: the family has none
  const char* ff = "moe_intermediate_size";                // key of an expert's d_ff
  const char* shared = "shared_expert_intermediate_size";  // of the shared one's
  Has norm = Has::kByKey;  // the weights of a row's experts are divided by their sum; by key: norm_topk_prob
  bool norm_absent = false;
  uint32_t group_best = 0;  // how groups of experts are compared, ModelSpec's router_group_best; 0: no groups
  bool one_group = false;   // there is one where keys are absent, else they must be there
  bool shared_gate = false;
  uint32_t n_absent = 0, active_absent = 0;      // where keys are absent
  uint32_t first_absent = 0, shared_absent = 0;  // first_k_dense_replace and n_shared_experts
  bool norm_in_gguf = true;                      // GGUF files do not say it
  bool everywhere = false;                       // in all layers: files have no other d_ff than an expert's
  bool shared_in_gguf = false;                   // GGUF files say both how many shared ones there are and how wide they are together
};

// What GGUF files call a number of the spec, and what it is where they do not say.
struct GgufNumber {
  const char* key;
  double ModelSpec::* field;
  bool inverse = false;  // they hold 1 / it
  double absent = 0;
};

// A tensor that files have under another name than their rows say, in models with kFfnNorm.
struct GgufName {
  Role role;
  const char* name;
};

// How GGUF files of a family differ from most.
struct GgufForm {
  bool none = false;              // there are no such files
  const char* mamba = nullptr;    // general.architecture of the files of models with Mamba-2 in some layers
  const char* experts = nullptr;  // and of those of models with experts
  const char* embeds = nullptr;   // and of those whose attention is bidirectional
  bool qkv = false;               // q, k and v are one tensor, attn_qkv
  bool gate_up = false;           // gate and up are one tensor, ffn_up
  bool expert_gate_up = false;    // those of experts are, ffn_gate_up_exps
  bool tiled = false;             // value heads of gated delta nets lie as ModelSpec.delta_tiled says
  bool beta_alpha = false;        // beta and alpha are one tensor, ssm_ba, by key head
  bool sections = false;          // files say which channels of RoPE go by which of four positions, of a text all the same
  uint32_t window = 0;            // sliding window where files do not say
  uint32_t scaled_layers =
      0;  // the model of so many layers divides scores by the root of d_model / n_heads, the others by that of head_dim; no key says so
  bool yarn_untruncated = false;
  bool yarn_log_10 = false;  // rope.scaling.yarn_log_multiplier is a tenth of mscale_all_dim
  GgufNumber numbers[4] = {};
  GgufName names[4] = {};
};

struct Architecture {
  const char* name;      // config.json's model_type; what ModelSpec.architecture holds
  const char* hf_class;  // config.json's architectures[0]
  const char* gguf;      // general.architecture of GGUF files
  const HfNames* names = nullptr;
  const HfAlias* aliases = nullptr;                    // up to a name of nullptr
  const char* nested = nullptr;                        // an object of config.json whose keys count as if they stood outside
  RopeKind rope_hf = kRopeNone;                        // which channels make a pair in HF checkpoints
  RopeKind rope_gguf = kRopeNone;                      // and in GGUF files: converters reorder the rows of q and k for some families
  Has qkv_bias = Has::kNever, out_bias = Has::kNever;  // kByKey: attention_bias
  Has mlp_bias = Has::kNever;                          // kByKey: mlp_bias
  bool window_by_switch = false;                       // a sliding window counts only with use_sliding_window
  bool window_by_key = false;                          // it counts where the key is, of which absent has none
  bool nope_without_window = false;                    // layers without a window have no RoPE
  bool rope_without_windows = false;                   // but where the model has no window at all
  bool rope_required = false;                          // no RoPE parameters mean other ones than none
  bool rope_by_layer = false;                          // layer_rope_theta: a base for each layer, 0: no RoPE
  bool rope_by_null = false;                           // rope_theta null: no RoPE
  bool rope_local_plain = false;                       // RoPE is not scaled in layers with a window
  bool rope_temperature = false;  // llama_4_scaling_beta and the original context among the rope parameters are those of a temperature, too
  bool rope_mscales = false;      // LongRoPE's short_mscale and long_mscale are what sines and cosines are multiplied by
  bool qk_norm_of_ones = false;   // q's and k's norm has no weights, and layers without RoPE have none
  bool norms_of_ones = false;     // no norm has weights
  bool learned_positions = false;        // as many as max_position_embeddings
  bool norm_plus_one = false;            // norms multiply with 1 + weight
  bool embd_scale_root = false;          // embeddings are multiplied with the root of d_model
  const char* embd_scale_key = nullptr;  // or are with this key
  bool lists_of_one = false;             // a list of the same number for each layer is that number
  bool alibi_scaled = false;             // ALiBi is added before scores are scaled
  bool gelu_is_tanh = false;             // hidden_act "gelu" means the one by tanh
  bool short_conv = false;               // some layers are gated short convolutions
  bool delta = false;                    // some layers are gated delta nets
  bool delta_from_heads = false;         // of which absent sizes follow from num_attention_heads and hidden_size
  bool gemma4 = false;                   // heads of layers without a window have sizes of their own, and so on (read_gemma4)
  bool gemma3n = false;                  // residual streams beside each other, and so on (read_gemma3n)
  bool mamba = false;                    // some layers may be Mamba-2; others are called "attention", and RoPE is said in words
  bool mamba_alone = false;              // all layers are, and nothing else
  bool mamba_beside = false;             // all layers are, with attention beside it, and matrices have factors (Falcon-H1)
  bool one_step = false;                 // a layer is a mixer or a feed-forward step, as layer_types or hybrid_override_pattern say
  ModelSpec spec = {};          // what all of the family have in common; fields of keys below are what they are where the key is absent
  const char* ignored[3] = {};  // keys that published files have and transformers does not read in this family
  const char* numbers[4] = {};  // keys of numbers, as hf_config.cpp knows them
  HfFlag flags[6] = {};
  HfOnly only[5] = {};  // what the family always does
  HfDefaults absent = {};
  HfExperts experts = {};
  bool falcon = false;  // multi_query, new_decoder_architecture, parallel_attn and num_ln_in_parallel_attn say together what residual and
                        // n_kv_heads are
  bool embd_dim_by_key = false;  // word_embed_proj_dim
  bool latent = false;           // multi-head latent attention: kv_lora_rank and its like are in config.json
  bool ahead = false;            // layers behind the last that guess tokens further on are kept (ModelSpec.n_ahead)
  bool minicpm = false;          // scale_emb, scale_depth, dim_model_base; heads' values are d_model / n_heads where v_head_dim is absent
  GgufForm form = {};            // of its GGUF files
};

extern const Architecture kArchitectures[];
extern const uint32_t kArchitectureCount;

// nullptr if unknown. Several families may have one name in GGUF files, the first is returned.
const Architecture* architecture_by_hf(std::string_view model_type);
const Architecture* architecture_by_hf_class(std::string_view hf_class);
const HfWhole* whole_by_hf(std::string_view model_type, std::string_view hf_class);  // by the class where there is no model_type
HfNames whole_names(const HfWhole& whole, const HfNames& text);
const Architecture* architecture_by_gguf(std::string_view name);
bool has_gguf_name(const Architecture& a, std::string_view name);
const char* gguf_architecture(const Architecture& a, const ModelSpec& spec);

// What a tensor name of a checkpoint stands for. All entries of names.tensors with the name of *found share it. *layer is 0 for tensors
// outside the layers.
enum class HfName { kKnown, kIgnored, kUnknown };  // kIgnored: known, and nothing that a decoder computes with
HfName hf_tensor_find(const HfNames& names, std::string_view name, const HfTensor** found, uint32_t* layer);
// The reverse with root 0 or 1, "model.layers.3.self_attn.q_proj.weight".
std::string hf_tensor_name(const HfNames& names, const HfTensor& tensor, uint32_t root, uint32_t layer, uint32_t head = 0);

}  // namespace linnet
