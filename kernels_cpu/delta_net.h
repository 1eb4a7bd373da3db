#pragma once
#include "../runtime/ops.h"

namespace linnet {

void cpu_delta_net(const Worker& w, const DeltaNetArgs& a);

}  // namespace linnet
