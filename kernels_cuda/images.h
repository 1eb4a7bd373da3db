// Device code as it is built into the library, and which of it a GPU runs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../platform/status.h"

namespace linnet {

struct CudaImage {
  uint32_t arch;  // 87 = compute capability 8.7: of a cubin its GPU's, of PTX the least
  bool ptx;
  int least_driver;                 // as cuDriverGetVersion says it: 12000 = of CUDA 12.0
  const unsigned char *data, *end;  // a cubin's ELF file, or PTX with a NUL at end
};
extern const CudaImage kCudaImages[];  // arch 0 behind the last

// For a GPU of compute capability arch / 10: its own cubin, else that of the same major number with the largest smaller minor one, else
// PTX, which the driver then compiles (seconds, kept in its cache); nullptr where nothing runs. Cubins of Jetsons run on them alone.
const CudaImage* cuda_image_pick(uint32_t arch);
// The same with why not: no kernels for the GPU (LINNET_UNSUPPORTED), or its driver is too old (LINNET_DEVICE).
Status cuda_image_for(uint32_t arch, int driver_version, const CudaImage** out, Error* err);

}  // namespace linnet
