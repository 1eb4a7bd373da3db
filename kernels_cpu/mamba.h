#pragma once
#include "../runtime/ops.h"

namespace linnet {

void cpu_mamba(const Worker& w, const MambaArgs& a);
void cpu_gated_norm(const Worker& w, const GatedNormArgs& a);

}  // namespace linnet
