// What this machine reaches with the kernels of one tier: the limits that benches divide by, and two products, so that tiers can be ranked
// by time.
#pragma once
#include "../platform/status.h"
#include "registry.h"

namespace linnet {

// Reads data (whole pages of it) a few times; makes and ends its own threads. Fills all of *out but its size, decode_gb_s and prefill_tops
// only with `products`.
Status cpu_measure(const Kernels& kernels, uint32_t n_threads, const void* data, size_t bytes, bool products, linnet_measurement* out,
                   Error* err);

// The kernels that a profile asks for. `timed`: LINNET_PREFILL_MEASURED is found out now, else it counts as native.
Status profile_kernels(const linnet_profile& profile, bool timed, Kernels* out, Error* err);

}  // namespace linnet
