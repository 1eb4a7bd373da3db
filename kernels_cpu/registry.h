// Which tier runs: CPU bits & mask -> one KernelTable without holes.
#pragma once
#include "../platform/cpu.h"
#include "../platform/status.h"
#include "../runtime/format.h"
#include "kernels.h"

namespace linnet {

// Name of a linnet_isa ("avx512", 0 is "auto"), built in or not; nullptr if there is no such tier.
const char* isa_name(uint32_t isa);
// A row of tiers.inc; nullptr if there is no such tier.
struct Tier {
  linnet_isa isa;
  uint64_t required;               // CpuBit mask: all must be present
  linnet_prefill_backend prefill;  // native, or what it is asked for by
};
const Tier* isa_row(uint32_t isa);
// Whether it is taken only where it is asked for.
inline bool by_name(uint32_t isa) { return isa_row(isa)->prefill != LINNET_PREFILL_NATIVE; }
// The tiers, in any build, of a CPU with these CpuBits: bits of linnet_isa, those by name aside.
uint32_t isa_mask_of(uint64_t bits);
// The tier that a linnet_prefill_backend asks for by name, or LINNET_ISA_AUTO.
uint32_t isa_of_prefill(uint32_t backend);
// All tiers of this build, weakest first; nullptr past the last.
const KernelTable* kernel_tier(uint32_t i);

// The kernels that run. Every member of `t` is set (its gemm list aside: use `gemm`, indexed by linnet_format).
struct Kernels {
  KernelTable t;
  GemmKernel gemm[kFormatCount];
};
// The strongest tier that the CPU, isa (LINNET_ISA_AUTO = any) and mask (bit i allows tier i, 0 = all) allow; its holes are
// filled from weaker allowed ones, at last from scalar. LINNET_UNSUPPORTED names a tier that is not to be had, and why.
Status kernels_resolve(uint32_t isa, uint32_t mask, Kernels* out, Error* err);

}  // namespace linnet
