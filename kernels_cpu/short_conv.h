#pragma once
#include "../runtime/ops.h"

namespace linnet {

void cpu_short_conv(const Worker& w, const ShortConvArgs& a);

}  // namespace linnet
