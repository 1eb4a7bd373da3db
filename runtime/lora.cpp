// What every session knows of adapters: which matrices they may change, and whether there are any. Their files are lora_file.cpp's, which a
// program without adapters does not link.
#include "lora.h"

namespace linnet {

uint32_t lora_slot(Role role, uint32_t layer, const ModelSpec& spec) {
  for (uint32_t i = 0; i < kLoraRolesOfLayer; ++i) {
    if (kLoraRoles[i] != role) continue;
    const LayerSpec l = layer_spec(spec, layer);
    const bool of_mixer = role_row(role).part == kPartAttention;
    const bool known = of_mixer ? l.mixer == kMixerAttention : l.feed_forward == kFeedForwardDense;
    return known && layer < spec.n_layers && role_present(role, layer, spec) ? 1 + layer * kLoraRolesOfLayer + i : 0;
  }
  return 0;
}
uint32_t lora_slots(const ModelSpec& spec) { return 1 + spec.n_layers * kLoraRolesOfLayer; }

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
