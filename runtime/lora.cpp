// What every session knows of adapters: which matrices they may change, and whether there are any. Their files are lora_file.cpp's, which a
// program without adapters does not link.
#include "lora.h"

namespace linnet {

bool lora_present(Role role, uint32_t layer, const ModelSpec& spec) {
  return role == kOutput ? spec.n_layers && !spec.headless : role_present(role, layer, spec);
}

uint32_t lora_slot(Role role, uint32_t layer, const ModelSpec& spec) {
  if (role == kOutput) return lora_present(role, layer, spec) ? lora_slots(spec) - 1 : 0;
  for (uint32_t i = 0; i < kLoraRolesOfLayer; ++i) {
    if (kLoraRoles[i] != role) continue;
    // Kimi's q, k and v of a delta net are matrices of their own.
    const bool known = !(role == kDeltaIn && spec.delta_by_key);
    return known && layer < spec.n_layers && role_present(role, layer, spec) ? 1 + layer * kLoraRolesOfLayer + i : 0;
  }
  return 0;
}

LoraOrders lora_orders(const ModelSpec& spec, Role role, uint32_t layer, uint32_t orders) {
  LoraOrders o;
  const LayerSpec l = layer_spec(spec, layer);
  const bool own_heads = l.mixer == kMixerAttention || l.mixer == kMixerAttentionMamba;
  if (orders & kLoraPairs && own_heads && (role == kAttnQ || role == kAttnK)) o.head = l.head_dim;
  if (role == kAttnKvA) o.rope = spec.qk_rope_dim, o.n = role_n(role, layer, spec);
  if (!(orders & kLoraTiled) || spec.delta_tiled || spec.delta_by_key || spec.delta_value_heads == spec.delta_key_heads) return o;
  const bool of_one = role == kDeltaBeta || role == kDeltaAlpha;
  if (role != kDeltaIn && role != kDeltaGate && role != kDeltaOut && !of_one) return o;
  o.tiled_heads = spec.delta_value_heads, o.tiled_by = spec.delta_key_heads;
  o.tiled_dim = of_one ? 1 : spec.delta_value_dim;
  o.tiled_from = role == kDeltaIn ? 2 * spec.delta_key_heads * spec.delta_key_dim : 0;
  o.of_inputs = role == kDeltaOut;
  return o;
}
uint32_t lora_slots(const ModelSpec& spec) { return 2 + spec.n_layers * kLoraRolesOfLayer; }

Status lora_check(const linnet_model& model, Error* err) {
  if (!model.backend->ops->lora_down) return fail(err, LINNET_UNSUPPORTED, "adapters: not to be had with ", model.backend->name);
  if (!model.adapters)
    return fail(err, LINNET_UNSUPPORTED,
                "adapters: the model file does not say how they fit: it was packed before linnet knew any, or keeps inputs in an order of "
                "their own (act-order); convert the model again, with --weights where it does");
  return LINNET_OK;
}

bool same_loras(const LoraUse& a, const LoraUse& b) {
  if (a.n != b.n) return false;
  for (uint32_t i = 0; i < a.n; ++i)
    if (a.of[i].parts != b.of[i].parts || a.of[i].scale != b.of[i].scale) return false;
  return true;
}

}  // namespace linnet
