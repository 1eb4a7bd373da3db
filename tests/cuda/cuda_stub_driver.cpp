// libcuda.so.1 of a machine without a GPU: all functions are there and say that they find none. LINNET_STUB_LACKS: it has the first of them
// alone.
#include "kernels_cuda/driver.h"

namespace linnet {
#if LINNET_STUB_LACKS
extern "C" __attribute__((visibility("default"))) CuResult cuInit(unsigned) { return 100; }
#else
#define LINNET_X(name, symbol, params)                                                           \
  extern "C" __attribute__((visibility("default"))) CuResult stub_##name params __asm__(symbol); \
  CuResult stub_##name params { return 100; }
LINNET_CUDA_DRIVER(LINNET_X)
#endif
}  // namespace linnet
