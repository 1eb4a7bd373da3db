// Mapping, copying and replacing files; memory on huge pages; a monotonic clock. What the operating system gives.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../runtime/status.h"

namespace linnet {

struct LoadProgress {
  linnet_progress_fn fn;  // may be nullptr
  void* user;
  bool cancelled(size_t done, size_t total) const { return fn && fn(user, done, total) != 0; }
};
Status file_load(const char* path, linnet_load how, const LoadProgress& progress, linnet_view* out, Error* err);
void file_unmap(linnet_view* view);
void* memory_alloc(size_t bytes);
void memory_free(void* mem, size_t bytes);
// Asks for huge pages in the whole pages of mem, or for none; linnet_switch.
void memory_huge(void* mem, size_t bytes, uint32_t huge);
size_t page_bytes();  // of this system: 4, 16 or 64 KiB
uint64_t clock_ns();
void sleep_ns(uint64_t ns);  // or less, where a signal comes

// A file that takes the place of `path` once it is whole; without commit `path` stays what it was, and so it does when the process is killed.
// The bytes are written to <path>.tmp. That name is fixed, so that what a killed process leaves there is written over by the next one and does not
// pile up; a lock on it makes others who replace the same file wait.
class Replacement {
 public:
  Replacement() = default;
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();
  Status open(const char* path, Error* err);  // path must outlive the object
  Status write(const void* data, size_t bytes, Error* err);
  Status commit(Error* err);  // fsync, rename, fsync of the folder

 private:
  Status lock(Error* err);

  static constexpr size_t kMaxPath = 4096;
  const char* path_ = nullptr;
  int fd_ = -1, folder_ = -1;
  bool mine_ = false;  // temporary_ is locked and ours to remove
  char temporary_[kMaxPath + 8];
};

}  // namespace linnet
