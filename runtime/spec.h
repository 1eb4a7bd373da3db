// ModelSpec: every choice a decoder makes, as data. kSpecFields lists all of them once; reading, writing, checking and
// printing go over that list. A packed file stores them as `linnet.spec.<name>`.
//
// A packed file is a GGUF of alignment 64 with these keys and tensors beside the standard ones:
//   linnet.layout_version        u32, kLayoutVersion; a newer one is refused
//   linnet.spec.<field>          u32, f64 or string, all of kSpecFields that the file's version has
//   linnet.layer.<field>         u32[n_layers], of kLayerFields, where layers differ as no field of the spec says it (since version 4)
//   linnet.chat.<role>.prefix    string of at most kMaxChatText bytes, and .suffix: the text around a message (chat.h); absent where the
//                                model has no such role
//   linnet.embed.prompt.<name>   string: what a text that is embedded begins with, by what it is for; linnet.embed.default_prompt: a name
//   linnet.tensor.<role name>    u64[4] = format (linnet_format), n, k, weights per scale group (0 = one scale per output, or none)
//   linnet.<role name>           I8[packed_bytes(format, n, k)]: panels, then scales, as format.h lays them out
//   <role name>                  F32[n]: vectors, under their GGUF names; of InputOrder the numbers of channels
//   <architecture>.nextn_predict_layers  u32: behind the layers of the model so many that guess tokens further on, whose tensors are the
//                                last of the file; absent where there are none
//   linnet.adapter.key_exponents, linnet.adapter.pairs: how adapters fit (lora.h); absent where they do not
//   linnet.tokenizer             I8[...]: the tokenizer's tables (tokenizer/tokenizer.h); absent without a tokenizer
// The file's size is a multiple of 64, so every tensor may be read up to its 64-byte rounding; the rounding is zeros.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../platform/status.h"
#include "gguf.h"
#include "layers/feed_forward.h"
#include "layers/feed_forward_experts.h"
#include "layers/layer_inputs.h"
#include "layers/mixer_attention.h"
#include "layers/mixer_conv.h"
#include "layers/mixer_delta.h"
#include "layers/mixer_latent.h"
#include "layers/mixer_mamba.h"
#include "layers/streams.h"
#include "ops.h"
#include "tensor.h"

namespace linnet {

inline constexpr uint32_t kMaxLayers = 1024;
inline constexpr uint32_t kLayoutVersion = 7;  // files that need nothing newer are written as older ones
inline constexpr char kLayoutKey[] = "linnet.layout_version";
inline constexpr char kEmbedPromptPrefix[] = "linnet.embed.prompt.", kEmbedDefaultPrompt[] = "linnet.embed.default_prompt";
inline constexpr size_t kMaxEmbedPrompts = 64;
inline constexpr char kTokenizerTensor[] = "linnet.tokenizer";

inline constexpr uint32_t kLayerFieldCount = 11;

enum RopeKind : uint32_t { kRopeNone = 0, kRopeHalves = 1, kRopePairs = 2 };  // which channels make a pair
enum RopeScaling : uint32_t {
  kRopeScaleNone = 0,
  kRopeScaleLinear = 1,
  kRopeScaleLlama3 = 2,
  kRopeScaleDynamic = 3,  // the base grows with rope_length where that passes rope_original
  kRopeScaleLong = 4,     // kRopeShort divides the frequencies, kRopeLong where rope_length passes rope_original
  kRopeScaleYarn = 5      // pairs that turn often stay, slow ones are divided by the factor, a ramp between
};
// Where a layer's norms stand: x + f(norm(x)), one branch after the other or both on the same x; on what the branches read, on what they
// give, on the sum.
enum Residual : uint32_t {
  kResidualSerial = 0,
  kResidualParallel = 1,   // both branches read attn_norm(x)
  kResidualParallel2 = 2,  // attn_norm(x) and ffn_norm(x)
  kResidualPost = 3,       // x + norm(f(x))
  kResidualSandwich = 4,   // x + norm(f(norm(x)))
  kResidualAfter = 5,      // norm(x + f(x))
  kResidualByMixer = 6     // layers that attend as kResidualPost, others as kResidualSerial
};
enum MambaNorm : uint32_t { kMambaNormNone = 0, kMambaNormLast = 1, kMambaNormFirst = 2 };  // before or behind it the gate
// What makes scores of the router's logits. Mixer: of two experts each has the weight that a softmax gives it over those which are left for
// the choice and whose logits are near its own (router_near).
enum RouterKind : uint32_t { kRouterSoftmax = 0, kRouterSigmoid = 1, kRouterMixer = 2 };

// As linnet_pooling.
enum Pooling : uint32_t { kPoolingNone = 0, kPoolingMean = 1, kPoolingLast = 2, kPoolingCls = 3 };
enum AheadTensor : uint32_t { kAheadEmbd = 1, kAheadHeadNorm = 2, kAheadHead = 4 };  // of their own, else the model's

struct ModelSpec {
  char architecture[32];  // "llama", "qwen2", ...: for people; what runs is decided by the fields below
  uint32_t n_layers, d_model, n_heads, n_kv_heads, head_dim, d_ff, n_vocab, n_context;  // n_layers = 0: only a vocabulary (n_vocab)
  double norm_eps;
  uint32_t rope_kind;  // RopeKind
  uint32_t rope_dim;   // channels rotated, even, <= head_dim of the layers that have this RoPE
  double rope_base;
  uint32_t rope_scaling;       // RopeScaling
  double rope_factor;          // linear, llama3 and YaRN
  double rope_low, rope_high;  // llama3 and YaRN (beta_slow, beta_fast): pairs that turn less often than low within the original positions
                               // are scaled, more than high not
  uint32_t rope_original;      // llama3 and YaRN: positions before scaling
  uint32_t rope_freqs;         // 1: the vector kRopeFreqs divides the frequency of each pair (after the scaling above)
  uint32_t activation;         // Activation, of the gate or of what there is
  uint32_t qkv_bias, out_bias, mlp_bias;  // 0 or 1
  uint32_t qk_norm;                       // QkNorm
  uint32_t tied;                          // 1: the LM head is the token embedding
  uint32_t window;                        // a position sees so many, itself included, in layers with a window; 0: all layers see all
  uint32_t window_pattern;                // p > 0: every p-th layer sees all
  uint32_t window_from;                   // layers before this one see all
  double attn_softcap;                    // c > 0: scores become c * tanh(score / c)
  uint32_t attn_sinks;                    // 1: a learned score per head takes part in every softmax
  // Multi-head latent attention (DeepSeek-V2), in the absorbed form: a token's key, one for all heads, is [roped part | latent], and its
  // value is the latent. So n_kv_heads = 1, rope_dim = qk_rope_dim, head_dim = qk_rope_dim + kv_lora_rank; kv_lora_rank and qk_rope_dim are
  // multiples of 32.
  uint32_t kv_lora_rank;                          // size of the latent; 0: other attention
  uint32_t q_lora_rank;                           // queries come by way of so many channels; 0: straight from the residual stream
  uint32_t qk_nope_dim, qk_rope_dim, v_head_dim;  // per head; v_head_dim a multiple of 16
  // Since version 3. In all of these 0 is what older files mean.
  uint32_t norm, norm_bias;                        // NormKind; 1: norms have a bias (q's and k's have none)
  uint32_t residual;                               // Residual
  uint32_t no_final_norm;                          // 1: the head reads the residual stream as it is
  uint32_t ungated;                                // 1: the feed-forward step is down(act(up(x))), without a gate
  uint32_t head_bias;                              // 1: the LM head has a bias
  uint32_t positions;                              // learned positions, this many rows of kPosEmbd, are added to the embeddings; 0: none
  uint32_t position_offset;                        // position p has row p + this
  uint32_t alibi;                                  // 1: scores get kAlibi[head] * (t - p) before the softmax
  uint32_t nope_pattern;                           // p > 0: every p-th layer has no RoPE
  double rope_local_base;                          // of layers with a window, which are then not scaled; 0: as the others
  double rope_attn_factor;                         // sines and cosines times this; 0: 1
  double attn_scale;                               // of scores; 0: 1 / sqrt(head_dim)
  double embd_scale, residual_scale, logit_scale;  // of embeddings, of what the branches add, of logits; 0: 1
  double logit_softcap;                            // c > 0: logits become c * tanh(logit / c), after the scale
  double clip_qkv;                                 // c > 0: q, k and v as projected are cut to -c..c
  uint32_t embd_norm;                              // 1: embeddings are normed
  uint32_t embd_dim;                               // of embeddings and LM head, with projections to d_model and back; 0: d_model

  // Mixture of experts: a router gives every row a score for each expert; the row goes through the n_active best, weighed by their scores.
  uint32_t n_experts;  // 0: every layer has a feed-forward of d_ff
  uint32_t n_active;
  uint32_t expert_ff;  // d_ff of an expert
  uint32_t moe_first,
      moe_step;        // layer moe_first has experts and every moe_step-th after it (0: every one); the others have a feed-forward of d_ff
  uint32_t shared_ff;  // d_ff of an expert that every row goes through besides; 0: none
  uint32_t shared_gate;  // 1: its output is multiplied by the sigmoid of a logit of its own
  uint32_t router_kind;  // RouterKind. Top-k then softmax is softmax with router_norm
  uint32_t router_norm;  // 1: the weights of a row's experts are divided by their sum
  double router_scale;   // what they are multiplied by then; 0: 1
  uint32_t router_groups,
      router_top_groups;       // experts lie in so many groups one behind the other, the best groups' experts can be chosen; 0: no groups
  uint32_t router_group_best;  // a group counts as much as its so many best experts together, 1 or 2
  uint32_t router_correction;  // 1: a learned bias is added to the scores, for the choice alone
  uint32_t router_bias, expert_bias;  // 0 or 1
  uint32_t expert_capacity;  // an expert takes so many positions of a sequence, the first that choose it (Switch Transformers); 0: all
  uint32_t router_input;     // 1: the weight multiplies what goes into the expert, not what comes out
  uint32_t window_chunks;    // 1: windows are chunks: a position sees those before it that have the same position / window
  // Queries are multiplied by 1 + temp_scale * log(1 + floor(p / temp_positions)), in all layers or in those without RoPE, where p is
  // counted from 1. 0: not so.
  double temp_scale;
  uint32_t temp_positions, temp_all;
  double act_limit;           // of kActSwigluClamped
  uint32_t rope_untruncated;  // YaRN: 1: the ramp between scaled and unscaled pairs begins and ends between pairs
  // Since version 4.
  uint32_t rope_local_dim;  // rope_dim of layers whose RoPE has rope_local_base; 0: as the others
  // Since version 6.
  uint32_t conv_taps;  // of layers with a short convolution: a row of its channels sees so many, itself included; 0: no layer has one
  uint32_t delta_key_heads, delta_value_heads;  // of layers with a gated delta net; as many value heads to each key head
  uint32_t delta_key_dim, delta_value_dim;
  uint32_t delta_tiled;     // 1: value head v has key head v % delta_key_heads; 0: v / (delta_value_heads / delta_key_heads)
  uint32_t delta_negative;  // 1: beta is twice the sigmoid, so that states may change their sign
  uint32_t delta_by_key;    // 1: each channel of a key fades by itself; fades and gate come by way of delta_key_dim channels (Kimi Linear)
  double delta_eps;         // of the norm of what states give; 0: norm_eps
  uint32_t mamba_heads, mamba_groups, mamba_head_dim, mamba_state_dim;  // of layers with Mamba-2; as many heads to each group
  uint32_t mamba_conv_bias;                                             // 1: the convolution has a bias
  uint32_t mamba_norm;                                                  // MambaNorm
  double mamba_dt_min, mamba_dt_max;                                    // steps are cut to that; mamba_dt_max 0: no end
  uint32_t attn_gate;         // 1: what heads of attention give is multiplied by the sigmoid of a projection of their own
  uint32_t rope_turned;       // channels of rope_dim that turn, the fastest ones; the others' frequency is 0. 0: all turn
  uint32_t v_norm;            // 1: RMS of each head's values, with weights of one
  uint32_t values_of_keys;    // 1: layers without a window have no value projection, values are the keys as projected
  uint32_t layer_scale;       // 1: what a layer leaves in the residual stream is multiplied by a number of the layer's own
  uint32_t layer_embd;        // each layer reads so many numbers of every token beside the residual stream, a multiple of 16; 0: none
  uint32_t layer_embd_vocab;  // tokens from here on have the first one's
  uint32_t moe_beside;        // 1: the shared expert is a branch beside the experts: both, and the router, norm by themselves
  uint32_t streams;           // residual streams beside each other, 0 or kStreams; 0: one. And then
  uint32_t laurel_rank;       // of a branch beside attention
  double sparse_cut;          // in sparse layers gates lose their mean and so many standard deviations, and what is below 0 then
  double router_near;         // of kRouterMixer: logit x is near the best one b where (b - x) / max(|x|, b) is no more than this
  // Since version 7.
  uint32_t bidirectional;  // 1: a row sees the rows behind it too, in layers with a window as many as before it: a text is one pass, and
                           // nothing is generated
  uint32_t headless;       // 1: there is no LM head, and nothing is generated
  uint32_t pooling;        // Pooling: how a text's rows become a vector; kPoolingNone: the model says nothing of it
  uint32_t pool_raw;       // 1: vectors are not normalised to length 1
  uint32_t dense_mid, dense_out, dense_bias;  // a vector goes through one matrix, or two, behind pooling: outputs of the first of two, and
                                              // of the last; 0: there is none. 1: they have biases
  uint32_t inner_norm;  // 1: what heads give, and act(gate) * up, is normed (RMS) before the matrix that goes back to d_model
  // Of layers behind the model's that guess tokens further on (MTP), which no model that runs has: the last so many of n_layers, and which
  // of AheadTensor they have.
  uint32_t n_ahead, ahead;
  // Of every field of kLayerFields what layers have instead of what the fields above say: n_layers u32 at any alignment, somebody else's
  // memory; or nullptr.
  const uint8_t* layer_values[kLayerFieldCount];
};

enum class SpecType : uint8_t { kU32, kF64, kText };
struct SpecField {
  const char* name;
  SpecType type;
  uint16_t offset;
  double min, max;       // inclusive
  uint32_t since = 1;    // layout version; absent from older files, where it is 0
  double max_2 = 1e300;  // a larger value needs version 3
  double max_5 = 1e300;  // a larger value needs version 6
};
extern const SpecField kSpecFields[];
extern const size_t kSpecFieldCount;

// How a layer mixes tokens, and what it does to each.
enum Mixer : uint32_t {
#define LINNET_MIXER(name, roles) kMixer##name,
#include "layers/kinds.inc"
  kMixerCount
};
enum FeedForward : uint32_t {
#define LINNET_FEED_FORWARD(name, roles) kFeedForward##name,
#include "layers/kinds.inc"
  kFeedForwardCount
};
// Which RoPE a layer has: none, the model's, or that of layers with a window where it is another.
enum class LayerRope : uint32_t { kNone, kMain, kLocal };

// Which matrices of a layer have their inputs in an order of their own (GPTQ's act-order, where channels of a group lie apart): a vector
// says which channel of the rows stands in which place. What feeds `down` has its outputs in down's order instead.
enum InputOrder : uint32_t { kOrderQkv = 1, kOrderAttnOut = 2, kOrderGateUp = 4, kOrderAll = 7 };

// Channels of a head that a RoPE rotates.
inline uint32_t rope_channels(const ModelSpec& s, LayerRope rope) {
  if (rope == LayerRope::kNone || s.rope_kind == kRopeNone) return 0;
  return rope == LayerRope::kLocal && s.rope_local_dim ? s.rope_local_dim : s.rope_dim;
}

// One layer of the decoder.
struct LayerSpec {
  Mixer mixer;
  FeedForward feed_forward;
  LayerRope rope;
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t d_ff;     // of a dense feed-forward step
  uint32_t window;   // a position sees so many, itself included; 0: all
  uint32_t kv_back;  // keys and values are those that the layer so many before this one has; 0: its own
  uint32_t orders;   // of InputOrder
  uint32_t sparse;   // 1: gates of a dense feed-forward step are cut as the model's sparse_cut says
};
// As the model's fields say it, and its layer_values where it has them and they are in order: they may lie in a file, which may change
// behind spec_check.
LayerSpec layer_spec(const ModelSpec& spec, uint32_t layer);
// Fields of a LayerSpec, all of them u32, which may differ from layer to layer as they like.
struct LayerField {
  const char* name;
  uint16_t offset;
  uint32_t min, max;
};
extern const LayerField kLayerFields[kLayerFieldCount];

// Where the norms of a layer stand.
inline uint32_t residual_of(const ModelSpec& s, const LayerSpec& l) {
  return s.residual != kResidualByMixer ? s.residual : l.mixer == kMixerAttention ? kResidualPost : kResidualSerial;
}
// Whether norms stand before the branches.
inline bool norm_before(const ModelSpec& s, const LayerSpec& l) {
  return s.n_layers > 0 && residual_of(s, l) != kResidualPost && residual_of(s, l) != kResidualAfter;
}
// Whether what a branch gives is not added to the residual stream at once.
inline bool in_branch(const ModelSpec& s) {
  return (s.residual != kResidualSerial && s.residual != kResidualAfter) || (s.residual_scale != 0 && s.residual_scale != 1);
}
// Whether the frequencies depend on the whole length.
inline bool rope_by_length(const ModelSpec& spec) { return spec.rope_scaling == kRopeScaleDynamic || spec.rope_scaling == kRopeScaleLong; }
// Leaves none of Mamba-2's sizes.
void without_mamba(ModelSpec* spec);
// The oldest layout version that can say what this spec says.
uint32_t spec_version(const ModelSpec& spec);
// Ranges of every field, then what they must be to each other. Names field and value; label begins the error text.
Status spec_check(const ModelSpec& spec, Error* err, PathName label = "model");
// Whether this GGUF was made by `linnet convert` (of any version).
bool is_packed(const Gguf& file);
// From `linnet.spec.*` of a packed file, checked; all fields must be there, an unknown one is LINNET_UNSUPPORTED (made by a newer linnet).
// A file without linnet.layout_version is LINNET_UNSUPPORTED: it has to be converted.
Status spec_read(const Gguf& file, ModelSpec* out, Error* err);

// Tensors of the whole model.
// clang-format off: a tensor a row
#define LINNET_MODEL_ROLES(X)                                                                                                             \
  X(kTokenEmbd, "token_embd.weight", kRoleMatrix, kPartEmbedding, kStepEmbed, n_vocab, embd_dim, always)                                  \
  X(kOutputNorm, "output_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_final_norm)                             \
  X(kOutput, "output.weight", kRoleMatrix, kPartHead, kStepHead, n_vocab, embd_dim, untied)                                               \
  X(kRopeFreqs, "rope_freqs.weight", 0, kPartAttention, kStepVectors, rope_pairs, one, has_freqs)                                         \
  X(kPosEmbd, "position_embd.weight", kRoleMatrix, kPartEmbedding, kStepEmbed, positions, d_model, has_positions)                         \
  X(kEmbdNorm, "token_embd_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_embd_norm)                            \
  X(kEmbdNormBias, "token_embd_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_embd_norm_bias)                             \
  X(kEmbdIn, "token_embd_in.weight", kRoleMatrix, kPartAttention, kStepEmbed, d_model, embd_dim, has_embd_dim)                            \
  X(kEmbdOut, "token_embd_out.weight", kRoleMatrix, kPartAttention, kStepHead, embd_dim, d_model, has_embd_dim)                           \
  X(kOutputNormBias, "output_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_final_norm_bias)                              \
  X(kOutputBias, "output.bias", 0, kPartAttention, kStepVectors, n_vocab, one, has_head_bias)                                             \
  X(kAlibi, "alibi_slopes.weight", 0, kPartAttention, kStepVectors, n_slopes, one, has_alibi)                                             \
  X(kRopeShort, "rope_factors_short.weight", 0, kPartAttention, kStepVectors, rope_pairs, one, has_long)                                  \
  X(kRopeLong, "rope_factors_long.weight", 0, kPartAttention, kStepVectors, rope_pairs, one, has_long)                                    \
  X(kLayerEmbd, "per_layer_token_embd.weight", kRoleMatrix, kPartEmbedding, kStepEmbed, layer_embd_rows, layer_embd, has_layer_embd)      \
  X(kLayerEmbdProj, "per_layer_model_proj.weight", kRoleMatrix, kPartAttention, kStepEmbed, layer_embd_all, d_model, has_layer_embd)      \
  X(kLayerEmbdNorm, "per_layer_proj_norm.weight", kRoleNorm, kPartAttention, kStepVectors, layer_embd, one, has_layer_embd)               \
  X(kDense1, "dense_2.weight", kRoleMatrix | kRoleF32, kPartHead, kStepVectors, dense_mid, d_model, has_dense_mid)                                   \
  X(kDense1Bias, "dense_2.bias", 0, kPartHead, kStepVectors, dense_mid, one, has_dense_mid_bias)                                          \
  X(kDense2, "dense_3.weight", kRoleMatrix | kRoleF32, kPartHead, kStepVectors, dense_out, dense_in, has_dense)                                      \
  X(kDense2Bias, "dense_3.bias", 0, kPartHead, kStepVectors, dense_out, one, has_dense_bias)                                              \
  LINNET_STREAM_MODEL_ROLES(X)
// clang-format on
// Norms of layers: before a branch, which reads what they give, and behind it.
// clang-format off: a tensor a row
#define LINNET_NORM_ROLES(X)                                                                                                              \
  X(kAttnNormBias, "attn_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_attn_norm_bias)                                   \
  X(kAttnPostNorm, "post_attention_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_post_norms)                   \
  X(kAttnPostNormBias, "post_attention_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_post_norm_biases)                   \
  X(kFfnNormBias, "ffn_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_ffn_norm_bias)                                      \
  X(kFfnPostNorm, "post_ffw_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_post_norms)                          \
  X(kFfnPostNormBias, "post_ffw_norm.bias", 0, kPartAttention, kStepVectors, d_model, one, has_post_norm_biases)                          \
  X(kFfnNorm, "ffn_norm.weight", kRoleNorm, kPartAttention, kStepVectors, d_model, one, has_ffn_norm)
// clang-format on

// Of layers that guess tokens further on: norms of the next token's embedding and of the model's rows, which a projection takes as one row
// [embedding | row], and what stands in for the model's own embedding and head.
// clang-format off: a tensor a row
#define LINNET_AHEAD_ROLES(X)                                                                                                             \
  X(kAheadProj, "nextn.eh_proj.weight", kRoleMatrix, kPartHead, kStepHead, d_model, two_d_model, has_ahead)                               \
  X(kAheadEmbdNorm, "nextn.enorm.weight", kRoleNorm, kPartHead, kStepVectors, d_model, one, has_ahead)                                    \
  X(kAheadRowNorm, "nextn.hnorm.weight", kRoleNorm, kPartHead, kStepVectors, d_model, one, has_ahead)                                     \
  X(kAheadTokenEmbd, "nextn.embed_tokens.weight", kRoleMatrix, kPartEmbedding, kStepEmbed, n_vocab, d_model, has_ahead_embd)              \
  X(kAheadOutputNorm, "nextn.shared_head_norm.weight", kRoleNorm, kPartHead, kStepVectors, d_model, one, has_ahead_head_norm)             \
  X(kAheadOutput, "nextn.shared_head_head.weight", kRoleMatrix, kPartHead, kStepHead, n_vocab, d_model, has_ahead_head)
// clang-format on

// clang-format off: the order is that of packed files
enum Role : uint32_t {
  LINNET_MODEL_ROLES(LINNET_ROLE_NAME)
#define LINNET_MIXER(name, roles) LINNET_##roles##_ROLES(LINNET_ROLE_NAME)
#include "layers/kinds.inc"
  LINNET_NORM_ROLES(LINNET_ROLE_NAME)
#define LINNET_FEED_FORWARD(name, roles) LINNET_##roles##_ROLES(LINNET_ROLE_NAME)
#include "layers/kinds.inc"
  LINNET_LAYER_INPUT_ROLES(LINNET_ROLE_NAME)
  LINNET_STREAM_ROLES(LINNET_ROLE_NAME)
  LINNET_AHEAD_ROLES(LINNET_ROLE_NAME)
  kRoleCount
};
// clang-format on
const TensorRole& role_row(Role role);
// Sizes of a tensor in a layer (0 for those of the model), and whether the model has it there.
uint32_t role_n(Role role, uint32_t layer, const ModelSpec& spec);
uint32_t role_k(Role role, uint32_t layer, const ModelSpec& spec);
bool role_present(Role role, uint32_t layer, const ModelSpec& spec);
// fn(role, layer) for every tensor of the model, until one fails.
template <class Fn>
Status each_tensor(const ModelSpec& spec, Fn fn) {
  for (uint32_t r = 0; r < kRoleCount; ++r)
    for (uint32_t layer = 0; layer < (role_row(Role{r}).per_layer() ? spec.n_layers : 1); ++layer)
      if (role_present(Role{r}, layer, spec)) LINNET_TRY(fn(Role{r}, layer));
  return LINNET_OK;
}
// Outputs of one expert of a role of experts, without padding.
uint32_t expert_rows(Role role, const ModelSpec& spec);
inline constexpr size_t kRoleNameBytes = 96;
// "blk.3.attn_q.weight" into out (kRoleNameBytes).
void role_name(Role role, uint32_t layer, char* out);

// One matrix or vector of a packed file, checked: format, n, k, byte count, place, alignment in memory. The pointers are into the file.
// f32: no other format.
Status packed_matrix(const Gguf& file, const char* name, uint32_t n, uint32_t k, bool f32, Matrix* out, Error* err);
Status packed_vector(const Gguf& file, const char* name, uint32_t n, const float** out, Error* err);
// The same as the spec has it. A role that is not present there gives an empty matrix or nullptr, and LINNET_OK.
Status find_matrix(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, Matrix* out, Error* err);
Status find_vector(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, const float** out, Error* err);
// A vector of InputOrder, each channel once.
Status find_order(const Gguf& file, Role role, uint32_t layer, const ModelSpec& spec, const float** out, Error* err);

}  // namespace linnet
