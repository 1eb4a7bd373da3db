// Mapping, copying and replacing files; memory on huge pages; a monotonic clock; which process this is. What the operating system gives.
#pragma once
#include <cstddef>
#include <cstdint>

#include "status.h"

namespace linnet {

struct LoadProgress {
  linnet_progress_fn fn;  // may be nullptr
  void* user;
  bool cancelled(size_t done, size_t total) const { return fn && fn(user, done, total) != 0; }
};
// most: other ways than LINNET_LOAD_MAP bring so many of its bytes into memory, of a copy the others are zeros.
Status file_load(const char* path, linnet_load how, const LoadProgress& progress, linnet_view* out, Error* err, size_t most = SIZE_MAX);
// Reads a regular file of at most `cap` bytes, from its beginning to its end; *n becomes its bytes. LINNET_TOO_SMALL: it has more, *n says
// how many or that there are more. Devices, FIFOs and sockets are refused at once. Where it cannot be opened, errno says why.
Status file_read(const char* path, void* to, size_t cap, size_t* n, Error* err);
void file_unmap(linnet_view* view);
void* memory_alloc(size_t bytes);
void memory_free(void* mem, size_t bytes);
// Asks for huge pages in the whole pages of mem, or for none; linnet_switch.
void memory_huge(void* mem, size_t bytes, uint32_t huge);
size_t page_bytes();  // of this system: 4, 16 or 64 KiB
uint32_t process_id();
uint64_t clock_ns();
void sleep_ns(uint64_t ns);  // or less, where a signal comes
#if defined(_WIN32)
// A path as the system takes it, however long; false: GetLastError says why.
bool file_wide(const char* path, wchar_t* out, size_t cap);
bool file_id(const char* path, uint64_t* volume, uint64_t* index);  // the same for two names of one file
// Tells `take` the names in a folder, "." and ".." too; false: errno says why it cannot.
bool file_names(const char* folder, void (*take)(void* user, const char* name), void* user);
uint64_t file_room(const char* folder);  // bytes that this user may still write there; 0 where that is not known
using FileHandle = intptr_t;
#else
using FileHandle = int;
#endif

// A file that takes the place of `path` once it is whole; without commit `path` stays what it was, and so it does when the process is
// killed. The bytes are written to <path>.tmp. That name is fixed, so that what a killed process leaves there is removed by the next one
// and does not pile up; a lock on it makes others who replace the same file wait. Where `path` is a link, what it leads to is replaced, or
// made. Devices, FIFOs, sockets and folders are never replaced. They are refused; with `through`, character devices and FIFOs are written
// to as they are.
class Replacement {
 public:
  Replacement() = default;
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();
  // mode: of a new file, less the umask. One that takes an older one's place has no bit that that one had not.
  Status open(const char* path, Error* err, uint32_t mode = 0666, bool through = false);
  FileHandle fd() const { return fd_; }
  bool through() const { return through_; }  // nothing is replaced
  Status write(const void* data, size_t bytes, Error* err);
  // At a place of the new file, from any thread, instead of write(). Not where `through`.
  Status write_at(uint64_t at, const void* data, size_t bytes, Error* err);
  Status read_at(uint64_t at, void* to, size_t bytes, Error* err) const;
  Status commit(Error* err);  // sync, rename, sync of the new name
  // Removes a temporary file by its own name, <path>.tmp, that nobody writes to any more.
  static void sweep(const char* temporary);

 private:
  Status follow(Error* err);
  Status lock(uint32_t mode, Error* err);

  static constexpr size_t kMaxPath = 4096;
  FileHandle fd_ = -1;
#if !defined(_WIN32)
  int folder_ = -1;
#endif
  bool mine_ = false;  // temporary_ is locked and ours to remove
  bool through_ = false;
  char path_[kMaxPath + 1];
  char temporary_[kMaxPath + 8];
};

}  // namespace linnet
