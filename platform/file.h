// Mapping and copying files; memory on huge pages; a monotonic clock. What the operating system gives.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../runtime/status.h"

namespace linnet {

Status file_map(const char* path, linnet_load how, linnet_view* out, Error* err);
void file_unmap(linnet_view* view);
void* memory_alloc(size_t bytes);
void memory_free(void* mem, size_t bytes);
uint64_t clock_ns();

}  // namespace linnet
