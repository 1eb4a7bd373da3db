// Which tier runs: CPU bits & mask -> one KernelTable without holes.
#pragma once
#include "../platform/status.h"
#include "kernels.h"

namespace linnet {

// What this CPU and operating system offer.
uint64_t cpu_bits();
// Name of the lowest bit of a CpuBit mask ("avx512vnni"), for error texts; "" for 0.
const char* cpu_bit_name(uint64_t bits);

// Name of a linnet_isa ("avx512", 0 is "auto"), built in or not; nullptr if there is no such tier.
const char* isa_name(uint32_t isa);
// All tiers of this build, weakest first; nullptr past the last.
const KernelTable* kernel_tier(uint32_t i);

// The kernels that run. Every member of `t` is set (its gemm list aside: use `gemm`, indexed by linnet_format).
struct Kernels {
  KernelTable t;
  GemmKernel gemm[16];
};
// The strongest tier that the CPU, isa (LINNET_ISA_AUTO = any) and mask (bit i allows tier i, 0 = all) allow; its holes are
// filled from weaker allowed ones, at last from scalar. LINNET_UNSUPPORTED names a tier that is not to be had, and why.
Status kernels_resolve(uint32_t isa, uint32_t mask, Kernels* out, Error* err);

}  // namespace linnet
