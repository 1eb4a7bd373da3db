// What Windows says of the machine: CPUs of the process's first group of 64, their cores, memory, the processor's name.
#include "board.h"
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <cpuid.h>
#include <windows.h>

namespace linnet {

linnet_cpus cpu_affinity() {
  linnet_cpus out = {};
  // Of a thread Windows tells its mask only where another is set.
  DWORD_PTR process = 0, system = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) return out;
  if (const DWORD_PTR before = SetThreadAffinityMask(GetCurrentThread(), process)) {
    SetThreadAffinityMask(GetCurrentThread(), before);
    process = before;
  }
  out.word[0] = process;
  return out;
}

BoardFacts board_facts() {
  BoardFacts out = {};
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  out.cpus.word[0] = system.dwActiveProcessorMask;
  const uint64_t mine = cpu_affinity().word[0];
  // A row for each core, cache and node, of at most two masks each.
  SYSTEM_LOGICAL_PROCESSOR_INFORMATION rows[4 * LINNET_MAX_CPUS];
  DWORD bytes = sizeof rows;
  if (GetLogicalProcessorInformation(rows, &bytes))
    for (DWORD i = 0; i < bytes / sizeof *rows; ++i)
      if (rows[i].Relationship == RelationProcessorCore) {
        const uint64_t all = rows[i].ProcessorMask, some = all & mine ? all & mine : all;
        out.primary.word[0] |= some & (~some + 1);  // the lowest bit
      }
  if (!cpu_count(out.primary)) out.primary = out.cpus;
  MEMORYSTATUSEX memory = {};
  memory.dwLength = sizeof memory;
  if (GlobalMemoryStatusEx(&memory)) {
    out.memory_bytes = memory.ullTotalPhys;
    out.available_bytes = memory.ullAvailPhys;
  }
#if defined(__x86_64__)
  uint32_t name[12] = {};
  for (uint32_t i = 0; i < 3; ++i)
    if (!__get_cpuid(0x80000002u + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2], &name[4 * i + 3])) return out;
  std::memcpy(out.cpu, name, sizeof name);
#endif
  return out;
}

}  // namespace linnet
