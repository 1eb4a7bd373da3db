#include "feed_forward.h"

#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool dense(const ModelSpec& s, const LayerSpec& l) { return s.n_layers > 0 && l.feed_forward == kFeedForwardDense; }
uint32_t d_ff(const ModelSpec&, const LayerSpec& l) { return l.d_ff; }
bool has_gate(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && !s.ungated; }
bool has_gate_bias(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.mlp_bias && !s.ungated; }
bool has_mlp_bias(const ModelSpec& s, const LayerSpec& l) { return dense(s, l) && s.mlp_bias; }

}  // namespace

const TensorRole kFeedForwardRoles[] = {LINNET_FEED_FORWARD_ROLES(LINNET_LAYER_ROLE)};

}  // namespace linnet
