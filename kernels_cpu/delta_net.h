#pragma once
#include "../runtime/ops.h"

namespace linnet {

struct KernelTable;

inline constexpr uint32_t kStateTokens = 16, kStateFloats = 10240;  // that go through states at a time; of their channels

// x = log(1 + exp(x)), the same on every machine.
void softplus_row(const KernelTable& t, float* x, uint32_t n);

void cpu_delta_net(const Worker& w, const DeltaNetArgs& a);

}  // namespace linnet
