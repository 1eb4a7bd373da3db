// What the board is and what this process may use of it, from /proc and /sys or from a copy of them. No heap, no stdio.
#pragma once
#include <cstdint>
#include <string_view>

#include "status.h"

// What linnet_device.h leaves opaque: the description and its tables.
struct linnet_board : linnet_board_desc {
  linnet_cluster clusters[8];
  linnet_cache caches[8];
  linnet_zone zones[16];
};

namespace linnet {

inline bool cpu_in(const linnet_cpus& set, uint32_t cpu) { return cpu < LINNET_MAX_CPUS && (set.word[cpu / 64] >> (cpu % 64) & 1); }
inline void cpu_add(linnet_cpus* set, uint32_t cpu) {
  if (cpu < LINNET_MAX_CPUS) set->word[cpu / 64] |= uint64_t{1} << (cpu % 64);
}
inline uint32_t cpu_count(const linnet_cpus& set) {
  uint32_t n = 0;
  for (uint64_t w : set.word)
    for (; w; w &= w - 1) ++n;
  return n;
}
inline linnet_cpus cpu_both(linnet_cpus a, const linnet_cpus& b) {
  for (uint32_t i = 0; i < LINNET_MAX_CPUS / 64; ++i) a.word[i] &= b.word[i];
  return a;
}
// "0-3,6" as the kernel writes it; false if it is anything else. CPUs past LINNET_MAX_CPUS are left out.
bool cpu_parse(std::string_view list, linnet_cpus* out);
// CPUs that the calling thread may use; empty where that is not known.
linnet_cpus cpu_affinity();

// Of the running system, where /proc and /sys do not tell: its CPUs and their cores (of each the first CPU, or the first that
// may be used), memory, the processor's name.
// board_windows.cpp, board_macos.cpp; what they do not fill in is absent there.
struct BoardFacts {
  linnet_cpus cpus, primary;
  uint64_t memory_bytes, available_bytes;
  char cpu[96];
};
BoardFacts board_facts();

// root: "" for the running system, else a folder that holds copies of its files. `seen`: CpuBits that the lines of
// /proc/cpuinfo speak of, of every CPU.
Status board_detect(const char* root, linnet_board* out, uint64_t* seen, Error* err);
// See linnet_profile_fit.
Status profile_fit(linnet_profile* profile, const linnet_board& board, Error* err);

}  // namespace linnet
