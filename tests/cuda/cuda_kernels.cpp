// One .cu file as C++: compiled once for each, with its name and its list of kernels given by CMakeLists.txt.
#include "cuda_test.h"
#if __has_include(LINNET_CU_FILE)
#include LINNET_CU_FILE
#else
#include "kernels_cuda/device.h"
#endif

namespace linnet {
namespace {
template <class Args>
constexpr size_t args_bytes(void (*)(Args)) {
  return sizeof(Args);
}
template <class Args>
void call(void (*kernel)(Args), const void* args) {
  std::remove_const_t<Args> own;
  std::memcpy(&own, args, sizeof own);
  kernel(own);
}
}  // namespace

extern const EmulatedKernel LINNET_CU_TABLE[];
const EmulatedKernel LINNET_CU_TABLE[] = {
#define LINNET_X(name) {#name, args_bytes(name), [](const void* args) { call(name, args); }},
    LINNET_CU_KERNELS(LINNET_X)
#undef LINNET_X
        {nullptr, 0, nullptr},
};
}  // namespace linnet
