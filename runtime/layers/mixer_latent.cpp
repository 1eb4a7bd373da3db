#include "mixer_latent.h"

#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool latent(const ModelSpec&, const LayerSpec& l) { return l.mixer == kMixerLatent; }
bool has_q_lora(const ModelSpec& s, const LayerSpec& l) { return l.mixer == kMixerLatent && s.q_lora_rank; }
uint32_t q_lora_rank(const ModelSpec& s, const LayerSpec&) { return s.q_lora_rank; }
uint32_t kv_lora_rank(const ModelSpec& s, const LayerSpec&) { return s.kv_lora_rank; }
uint32_t qk_nope_dim(const ModelSpec& s, const LayerSpec&) { return s.qk_nope_dim; }
uint32_t q_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (s.qk_nope_dim + s.qk_rope_dim); }
uint32_t out_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * s.v_head_dim; }
uint32_t latents_of_heads(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * s.kv_lora_rank; }

}  // namespace

const TensorRole kLatentAttentionRoles[] = {LINNET_LATENT_ROLES(LINNET_LAYER_ROLE)};

}  // namespace linnet
