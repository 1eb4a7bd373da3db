// What macOS says of the machine: its CPUs, memory and the processor's name. It binds no thread to a CPU, so CPUs are numbers alone; cores
// of performance come first.
#include <mach/mach.h>
#include <sys/sysctl.h>

#include "board.h"
#include "file.h"

namespace linnet {
namespace {

uint64_t number_of(const char* name) {
  uint64_t value = 0;  // the system writes 4 or 8 bytes, the lowest first
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

linnet_cpus first_cpus(uint64_t n) {
  linnet_cpus out = {};
  for (uint32_t i = 0; i < n && i < LINNET_MAX_CPUS; ++i) cpu_add(&out, i);
  return out;
}

}  // namespace

linnet_cpus cpu_affinity() { return first_cpus(number_of("hw.logicalcpu")); }

BoardFacts board_facts() {
  BoardFacts out = {};
  out.cpus = first_cpus(number_of("hw.logicalcpu"));
  out.primary = first_cpus(number_of("hw.physicalcpu"));
  out.memory_bytes = number_of("hw.memsize");
  vm_statistics64_data_t vm;
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const host_t host = mach_host_self();
  if (host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&vm), &count) == KERN_SUCCESS)
    out.available_bytes = (uint64_t{vm.free_count} + vm.inactive_count + vm.purgeable_count) * page_bytes();
  mach_port_deallocate(mach_task_self(), host);
  size_t bytes = sizeof out.cpu - 1;
  sysctlbyname("machdep.cpu.brand_string", out.cpu, &bytes, nullptr, 0);
  return out;
}

}  // namespace linnet
