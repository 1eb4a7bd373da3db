// Layers that mix nothing, or have no feed-forward step (Nemotron-H): no norm, no tensors, nothing to do.
#include "decoder.h"
#include "loader.h"

namespace linnet {
namespace {

Status load(Loader&, uint32_t, const LayerSpec&, void*) { return LINNET_OK; }

CacheLayer cache(const ModelSpec&, const LayerSpec&) {
  return {.k = LINNET_I8, .v = LINNET_I8, .n_heads = 1, .n_kv_heads = 0, .head_dim = 1, .latent = 0, .window = 0};
}

void need(const ModelSpec&, const LayerSpec&, const void*, Needs*) {}

void run(Decoder& d, const Layer&, uint32_t, uint32_t) { d.ops.sync(d.w); }  // a pass that stops does so behind a sync

}  // namespace

const LayerKind kNoMixerKind = {0, load, cache, need, run}, kNothingKind = {0, load, nullptr, need, run};

}  // namespace linnet
