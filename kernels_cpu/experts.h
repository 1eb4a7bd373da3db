// Mixture of experts on the CPU: the choice of experts, and adding up what they give. ops_cpu.cpp has the products.
#pragma once
#include "../runtime/ops.h"

namespace linnet {

void cpu_route(const Worker& w, const Router& router, const Capacity& capacity, float* logits, size_t stride, uint32_t m,
               const Pairs& pairs);
void cpu_combine(const Worker& w, const float* x, size_t stride, uint32_t m, uint32_t n, uint32_t n_active, const Pairs& pairs, bool weigh,
                 const float* shared, const float* gate, size_t gate_stride, bool accumulate, float* y);

}  // namespace linnet
