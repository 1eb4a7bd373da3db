#pragma once
#include "machine.h"

namespace linnet::chat {

inline constexpr uint32_t kStackSize = 1024;  // values that wait: an expression has as many as it is deep, a loop one

// Runs m.program on m.context; the text is m.out[0, m.n_out) with its marks.
bool run_template(Machine& m);

}  // namespace linnet::chat
