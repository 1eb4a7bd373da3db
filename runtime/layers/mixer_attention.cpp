#include "mixer_attention.h"

#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool latent(const LayerSpec& l) { return l.mixer == kMixerLatent; }
uint32_t q_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (latent(l) ? s.qk_nope_dim + s.qk_rope_dim : l.head_dim); }
uint32_t out_dim(const ModelSpec& s, const LayerSpec& l) { return l.n_heads * (latent(l) ? s.v_head_dim : l.head_dim); }
uint32_t kv_dim(const ModelSpec&, const LayerSpec& l) { return l.n_kv_heads * l.head_dim; }
// Norms of all heads at once, or of every head its own, have weights for each head.
uint32_t of_heads(const ModelSpec& s, uint32_t n, uint32_t dim) {
  return s.qk_norm == kQkNormAll || s.qk_norm == kQkNormLayer ? n * dim : dim;
}
uint32_t q_norm_dim(const ModelSpec& s, const LayerSpec& l) { return of_heads(s, l.n_heads, l.head_dim); }
uint32_t k_norm_dim(const ModelSpec& s, const LayerSpec& l) { return of_heads(s, l.n_kv_heads, l.head_dim); }
bool has_attn_norm(const ModelSpec& s, const LayerSpec&) { return norm_before(s); }
bool no_q_lora(const ModelSpec& s, const LayerSpec&) { return s.n_layers > 0 && !s.q_lora_rank; }
bool not_latent(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && !latent(l); }
bool has_qkv_bias(const ModelSpec& s, const LayerSpec&) { return s.qkv_bias; }
bool has_out_bias(const ModelSpec& s, const LayerSpec&) { return s.out_bias; }
bool has_qk_norm(const ModelSpec& s, const LayerSpec&) { return s.qk_norm; }
bool has_qk_norm_bias(const ModelSpec& s, const LayerSpec&) { return s.qk_norm == kQkNormLayerShared; }
bool has_sinks(const ModelSpec& s, const LayerSpec&) { return s.attn_sinks; }

}  // namespace

const TensorRole kAttentionRoles[] = {LINNET_ATTENTION_ROLES(LINNET_LAYER_ROLE)};

}  // namespace linnet
