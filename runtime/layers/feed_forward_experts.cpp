#include "feed_forward_experts.h"

#include "sizes.h"

namespace linnet {
namespace {

using namespace sizes;
bool has_experts(const ModelSpec&, const LayerSpec& l) { return l.feed_forward == kFeedForwardExperts; }
bool has_router_bias(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.router_bias; }
bool has_correction(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.router_correction; }
bool has_expert_bias(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.expert_bias; }
bool has_shared(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.shared_ff; }
bool has_shared_gate(const ModelSpec& s, const LayerSpec& l) { return has_experts(s, l) && s.shared_gate; }
uint32_t n_experts(const ModelSpec& s, const LayerSpec&) { return s.n_experts; }
uint32_t expert_ff(const ModelSpec& s, const LayerSpec&) { return s.expert_ff; }
uint32_t shared_ff(const ModelSpec& s, const LayerSpec&) { return s.shared_ff; }
uint32_t experts_up(const ModelSpec& s, const LayerSpec&) { return s.n_experts * static_cast<uint32_t>(padded_n(s.expert_ff)); }
uint32_t experts_down(const ModelSpec& s, const LayerSpec&) { return s.n_experts * static_cast<uint32_t>(padded_n(s.d_model)); }

}  // namespace

const TensorRole kExpertsRoles[] = {LINNET_EXPERTS_ROLES(LINNET_LAYER_ROLE)};

uint32_t expert_rows(Role role, const ModelSpec& s) { return role == kExpertDown || role == kExpertDownBias ? s.d_model : s.expert_ff; }

}  // namespace linnet
