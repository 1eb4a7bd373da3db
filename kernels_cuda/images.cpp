#include "images.h"

// The files that build_cubins.py makes, in this object's read-only data; a cubin is the same whatever processor the library is for. One NUL
// ends PTX.
#define LINNET_IMAGE(name, file)                                                                                                 \
  asm(".pushsection .rodata.linnet_images, \"a\"\n.balign 64\nlinnet_image_" #name ":\n.incbin \"" LINNET_CUBINS "/linnet_" file \
      "\"\nlinnet_image_end_" #name ":\n.byte 0\n.popsection\n");                                                                \
  extern "C" __attribute__((visibility("hidden"))) const unsigned char linnet_image_##name[], linnet_image_end_##name[];
#if LINNET_CUDA_80
LINNET_IMAGE(80, "80.cubin")
LINNET_IMAGE(ptx, "80.ptx")
#endif
#if LINNET_CUDA_87
LINNET_IMAGE(87, "87.cubin")
#endif
#if LINNET_CUDA_90
LINNET_IMAGE(90, "90.cubin")
#endif
#if LINNET_CUDA_110
LINNET_IMAGE(110, "110.cubin")
#endif

namespace linnet {
namespace {

// Jetsons' GPUs: their cubins run on no other, and no other's on them.
constexpr bool is_jetson(uint32_t arch) { return arch == 72 || arch == 87 || arch == 101 || arch == 110; }

}  // namespace

// NVRTC 12.6's cubins run on any driver of CUDA 12 (JetPack 6, r525 and newer), what it writes as PTX 8.5 is known from CUDA 12.5
// on; 13.x's cubins need CUDA 13 (JetPack 7, r580).
const CudaImage kCudaImages[] = {
#if LINNET_CUDA_80
    {80, false, 12000, linnet_image_80, linnet_image_end_80},
    {80, true, 12050, linnet_image_ptx, linnet_image_end_ptx},
#endif
#if LINNET_CUDA_87
    {87, false, 12000, linnet_image_87, linnet_image_end_87},
#endif
#if LINNET_CUDA_90
    {90, false, 12000, linnet_image_90, linnet_image_end_90},
#endif
#if LINNET_CUDA_110
    {110, false, 13000, linnet_image_110, linnet_image_end_110},
#endif
    {},
};

const CudaImage* cuda_image_pick(uint32_t arch) {
  const CudaImage *near = nullptr, *ptx = nullptr;
  for (const CudaImage* i = kCudaImages; i->arch; ++i) {
    if (i->ptx && i->arch <= arch) ptx = i;
    if (i->ptx) continue;
    if (i->arch == arch) return i;
    if (i->arch / 10 == arch / 10 && i->arch < arch && !is_jetson(i->arch) && !is_jetson(arch) && (!near || i->arch > near->arch)) near = i;
  }
  return near ? near : ptx;
}

Status cuda_image_for(uint32_t arch, int driver_version, const CudaImage** out, Error* err) {
  const CudaImage* image = cuda_image_pick(arch);
  if (!image)
    return fail(err, LINNET_UNSUPPORTED, "this linnet has no kernels for a GPU of compute capability ", arch / 10, '.', arch % 10);
  if (driver_version < image->least_driver)
    return fail(err, LINNET_DEVICE, "the CUDA driver is too old: it serves CUDA ", driver_version / 1000, '.', driver_version % 1000 / 10,
                ", kernels for compute capability ", arch / 10, '.', arch % 10, " need ", image->least_driver / 1000, '.',
                image->least_driver % 1000 / 10);
  *out = image;
  return LINNET_OK;
}

}  // namespace linnet
