#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>  // rename
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <time.h>
#include <unistd.h>

namespace linnet {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPiece = size_t{8} << 20;  // between two calls of a progress function; a multiple of every page size

const char* errno_text(int e) {
  switch (e) {
    case ENOENT:
      return "no such file or folder";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EISDIR:
      return "is a folder";
    case ENOMEM:
      return "out of memory";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENODEV:
      return "cannot be mapped";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case ENAMETOOLONG:
      return "name too long";
    case ELOOP:
      return "too many links";
    case EIO:
      return "input/output error";
    case ENOSPC:
      return "no space left";
    case EDQUOT:
      return "quota used up";
    case EFBIG:
      return "file too large";
    case EROFS:
      return "read-only file system";
    default:
      return "system error";
  }
}

Status system_error(Error* err, const char* path, const char* what) {
  const int e = errno;
  return fail(err, e == ENOMEM ? LINNET_NO_MEMORY : LINNET_IO, PathName{path}, ": ", what, ": ", errno_text(e), " (errno ", e, ")");
}

Status refuse(Error* err, const char* path, const char* what) { return fail(err, LINNET_IO, PathName{path}, ": ", what); }

Status cancelled(Error* err, const char* path) { return fail(err, LINNET_CANCELLED, PathName{path}, ": loading was cancelled"); }

Status read_whole(int fd, const char* path, const LoadProgress& progress, void* to, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    const size_t piece = bytes - done < kPiece ? bytes - done : kPiece;
    const ssize_t n = read(fd, static_cast<uint8_t*>(to) + done, piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(err, path, "cannot read");
    if (n == 0) return fail(err, LINNET_IO, PathName{path}, ": became shorter while it was read, at byte ", done, " of ", bytes);
    done += static_cast<size_t>(n);
    if (progress.cancelled(done, bytes)) return cancelled(err, path);
  }
  return LINNET_OK;
}

// Brings every page of a mapping into memory.
Status touch_whole(const char* path, const LoadProgress& progress, const void* map, size_t bytes, Error* err) {
  uint8_t* const p = static_cast<uint8_t*>(const_cast<void*>(map));
  const size_t page = page_bytes();
  for (size_t done = 0; done < bytes;) {
    const size_t n = bytes - done < kPiece ? bytes - done : kPiece;
#ifdef MADV_POPULATE_READ
    // Where it is known it says what a touch would answer with SIGBUS.
    if (madvise(p + done, n, MADV_POPULATE_READ) != 0 && (errno == EFAULT || errno == EIO))
      return fail(err, LINNET_IO, PathName{path}, ": cannot be read between bytes ", done, " and ", done + n, ", or became shorter");
#else
    madvise(p + done, n, MADV_WILLNEED);
#endif
    for (size_t i = 0; i < n; i += page) static_cast<void>(*static_cast<volatile const uint8_t*>(p + done + i));
    done += n;
    if (progress.cancelled(done, bytes)) return cancelled(err, path);
  }
  return LINNET_OK;
}

// Says at once whether the limit allows it; pages become locked as they are read, where the system knows that.
Status lock_whole(const char* path, const void* map, size_t bytes, Error* err) {
#ifdef SYS_mlock2
  constexpr long kOnFault = 1;  // MLOCK_ONFAULT
  if (syscall(SYS_mlock2, map, bytes, kOnFault) == 0) return LINNET_OK;
  if (errno == ENOSYS || errno == EINVAL)
#endif
    if (mlock(map, bytes) == 0) return LINNET_OK;
  if (errno != ENOMEM && errno != EPERM && errno != EAGAIN) return system_error(err, path, "cannot lock in memory");
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY)
    return fail(err, LINNET_TOO_SMALL, PathName{path}, ": cannot lock its ", bytes, " bytes: no memory for them");
  return fail(err, LINNET_TOO_SMALL, PathName{path}, ": cannot lock its ", bytes, " bytes: this process may lock ",
              static_cast<uint64_t>(limit.rlim_cur), " in all (RLIMIT_MEMLOCK, ulimit -l)");
}

Status map_whole(int fd, const char* path, linnet_load how, const LoadProgress& progress, size_t bytes, size_t most, void** out,
                 Error* err) {
  const size_t some = bytes < most ? bytes : most;
  if (how == LINNET_LOAD_COPY) {
    *out = memory_alloc(bytes);
    return *out ? read_whole(fd, path, progress, *out, some, err)
                : fail(err, LINNET_NO_MEMORY, PathName{path}, ": no memory for ", bytes, " bytes");
  }
  void* p = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return system_error(err, path, "cannot map");
  *out = p;
  if (how == LINNET_LOAD_LOCK) LINNET_TRY(lock_whole(path, p, some, err));
  if (how != LINNET_LOAD_MAP) return touch_whole(path, progress, p, some, err);
  return progress.cancelled(bytes, bytes) ? cancelled(err, path) : LINNET_OK;
}

#if defined(__APPLE__)
// There fsync leaves the bytes in the disk's own memory, but some file systems know nothing else.
int sync_whole(int fd) { return fcntl(fd, F_FULLFSYNC) != -1 ? 0 : errno == EIO ? -1 : fsync(fd); }
#else
int sync_whole(int fd) { return fsync(fd); }
#endif

// Of the folder's part of a path, with its slash.
size_t folder_bytes(const char* path) {
  size_t n = std::strlen(path);
  while (n && path[n - 1] != '/') --n;
  return n;
}

Status load_open(int fd, const char* path, linnet_load how, const LoadProgress& progress, size_t most, linnet_view* out, Error* err) {
  struct stat st;
  if (fstat(fd, &st) != 0) return system_error(err, path, "cannot stat");
  if (!S_ISREG(st.st_mode)) return refuse(err, path, "is not a regular file");
  if (st.st_size <= 0) return fail(err, LINNET_BAD_FILE, PathName{path}, ": is empty");
  if (static_cast<uint64_t>(st.st_size) > SIZE_MAX / 2) return refuse(err, path, "too large for this address space");
  const size_t bytes = static_cast<size_t>(st.st_size);
  void* p = nullptr;
  if (const Status s = map_whole(fd, path, how, progress, bytes, most, &p, err); s != LINNET_OK) {
    memory_free(p, bytes);
    return s;
  }
  *out = {p, bytes};
  return LINNET_OK;
}

}  // namespace

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

Status file_load(const char* path, linnet_load how, const LoadProgress& progress, linnet_view* out, Error* err, size_t most) {
  if (how == LINNET_LOAD_DEFAULT) how = LINNET_LOAD_MAP;
  if (how > LINNET_LOAD_LOCK) return fail(err, LINNET_BAD_ARG, "load: how is ", static_cast<uint32_t>(how), ", there is no such way");
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not block us
  if (fd < 0) return system_error(err, path, "cannot open");
  const Status s = load_open(fd, path, how, progress, most, out, err);
  close(fd);
  return s;
}

Status file_read(const char* path, void* to, size_t cap, size_t* n, Error* err) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return system_error(err, path, "cannot open");
  struct stat st;
  errno = EINVAL;
  Status s = fstat(fd, &st) != 0   ? system_error(err, path, "cannot stat")
             : S_ISREG(st.st_mode) ? LINNET_OK
                                   : refuse(err, path, "is not a regular file");
  // Files below /proc say a size of 0: the end is where reading ends.
  for (*n = 0; s == LINNET_OK;) {
    uint8_t more;
    const bool full = *n == cap;
    const ssize_t got = read(fd, full ? &more : static_cast<uint8_t*>(to) + *n, full ? 1 : cap - *n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) s = system_error(err, path, "cannot read");
    if (got <= 0) break;
    *n += static_cast<size_t>(got);
    if (!full) continue;
    if (st.st_size > 0 && static_cast<uint64_t>(st.st_size) > *n)
      *n = static_cast<uint64_t>(st.st_size) > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(st.st_size);
    s = fail(err, LINNET_TOO_SMALL, PathName{path}, ": larger than ", cap, " bytes");
  }
  close(fd);
  return s;
}

void file_unmap(linnet_view* view) {
  if (view->data) munmap(const_cast<void*>(view->data), view->bytes);
  *view = {nullptr, 0};
}

void* memory_alloc(size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX - kHugePage) return nullptr;
  // A mapping of its own; large ones begin at a huge page so that the system can use them from the first byte on.
  if (bytes < kHugePage) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
  }
  const size_t page = page_bytes(), whole = bytes + kHugePage;
  void* p = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const uintptr_t from = reinterpret_cast<uintptr_t>(p), start = (from + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (start + bytes + page - 1) / page * page;
  if (start > from) munmap(p, start - from);
  if (from + whole > end) munmap(reinterpret_cast<void*>(end), from + whole - end);
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(start), bytes, MADV_HUGEPAGE);  // a hint; the memory serves without it too
#endif
  return reinterpret_cast<void*>(start);
}

void memory_free(void* mem, size_t bytes) {
  if (mem) munmap(mem, bytes);
}

void memory_huge(void* mem, size_t bytes, uint32_t huge) {
#ifdef MADV_HUGEPAGE
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t from = reinterpret_cast<uintptr_t>(mem), start = (from + page - 1) / page * page, end = (from + bytes) / page * page;
  if (huge != LINNET_SWITCH_DEFAULT && end > start)
    madvise(reinterpret_cast<void*>(start), end - start, huge == LINNET_SWITCH_ON ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
  (void)mem, (void)bytes, (void)huge;
#endif
}

uint32_t process_id() { return static_cast<uint32_t>(getpid()); }

uint64_t clock_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void sleep_ns(uint64_t ns) {
  const timespec t = {static_cast<time_t>(ns / 1000000000u), static_cast<long>(ns % 1000000000u)};
  nanosleep(&t, nullptr);
}

Replacement::~Replacement() {
  if (mine_) unlink(temporary_);  // while the lock is held: nobody else writes to it
  if (fd_ >= 0) close(fd_);
  if (folder_ >= 0) close(folder_);
}

Status Replacement::open(const char* path, Error* err, uint32_t mode, bool through) {
  const size_t n = std::strlen(path);
  if (n == 0) return fail(err, LINNET_IO, "the path of the file is empty");
  if (n > kMaxPath) return fail(err, LINNET_IO, "a path of ", n, " bytes: name too long");
  std::memcpy(path_, path, n + 1);
  struct stat st;
  const bool there = stat(path, &st) == 0;
  // rename would put a file where a device or folder is.
  if (there && !S_ISREG(st.st_mode)) {
    if (!through || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))) return refuse(err, path, "is not a regular file");
    fd_ = ::open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);  // of a FIFO: waits for who reads it
    if (fd_ < 0) return system_error(err, path, "cannot open");
    through_ = true;
    return fstat(fd_, &st) == 0 && !S_ISREG(st.st_mode) ? LINNET_OK : refuse(err, path, "was replaced by a regular file meanwhile");
  }
  LINNET_TRY(follow(err));
  // The folder is opened first: one that cannot be synced in the end is found out before anything is written.
  const size_t name = folder_bytes(path_), whole = std::strlen(path_);
  std::memcpy(temporary_, path_, name);
  temporary_[name] = '\0';
  folder_ = ::open(name ? temporary_ : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) return system_error(err, path, "cannot open its folder");
  std::memcpy(temporary_, path_, whole);
  std::memcpy(temporary_ + whole, ".tmp", 5);
  mode &= there ? st.st_mode : mode;  // what was kept from others stays so
  LINNET_TRY(lock(mode, err));
  if (there) fchmod(fd_, static_cast<mode_t>(mode));  // gives back what the umask took; some file systems have no such bits
  return LINNET_OK;
}

// path_ becomes what its links lead to, be it there or not.
Status Replacement::follow(Error* err) {
  char target[kMaxPath + 1];
  for (int links = 0; links < 40; ++links) {
    const ssize_t got = readlink(path_, target, sizeof target);
    if (got < 0) return LINNET_OK;  // no link; what else is wrong with it shows when it is opened
    const size_t n = static_cast<size_t>(got), folder = got && target[0] == '/' ? 0 : folder_bytes(path_);
    if (folder + n > kMaxPath) return refuse(err, path_, "leads to a path that is too long");
    // A file that is open already, as /dev/stdout: whoever holds it would go on writing to what was replaced.
    if (std::string_view(path_).starts_with("/proc/")) return refuse(err, path_, "leads to a file that is open; give its own name");
    std::memcpy(path_ + folder, target, n);
    path_[folder + n] = '\0';
  }
  return refuse(err, path_, "too many links");
}

// Makes temporary_, which is then this object's. What is there under that name, of one that was killed, is removed under its lock: it may
// have another owner, or other names.
Status Replacement::lock(uint32_t mode, Error* err) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    fd_ = ::open(temporary_, kFlags | O_CREAT | O_EXCL, mode);
    const bool fresh = fd_ >= 0;
    const bool there = !fresh && errno == EEXIST;
    if (there) fd_ = ::open(temporary_, kFlags);
    if (there && fd_ < 0 && errno == ENOENT) continue;  // was renamed or removed just now
    if (fd_ < 0) return system_error(err, temporary_, "cannot create");
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }  // a file system without locks goes on
    struct stat opened, named;
    if (fstat(fd_, &opened) != 0) return system_error(err, temporary_, "cannot stat");
    if (!S_ISREG(opened.st_mode)) return refuse(err, temporary_, "is not a regular file");
    if (lstat(temporary_, &named) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino) {
      mine_ = fresh;
      if (fresh) return LINNET_OK;
      if (unlink(temporary_) != 0) return system_error(err, temporary_, "is in the way and cannot be removed");
    }
    close(fd_);  // while this one waited, the one before it was renamed or removed
    fd_ = -1;
  }
  return refuse(err, temporary_, "others replace the file all the time");
}

Status Replacement::write(const void* data, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = ::write(fd_, static_cast<const uint8_t*>(data) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return system_error(err, through_ ? path_ : temporary_, "cannot write");
    done += static_cast<size_t>(n);
  }
  return LINNET_OK;
}

Status Replacement::write_at(uint64_t at, const void* data, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(fd_, static_cast<const uint8_t*>(data) + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return system_error(err, temporary_, "cannot write");
    done += static_cast<size_t>(n);
  }
  return LINNET_OK;
}

Status Replacement::read_at(uint64_t at, void* to, size_t bytes, Error* err) const {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd_, static_cast<uint8_t*>(to) + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return system_error(err, temporary_, "cannot read");
    done += static_cast<size_t>(n);
  }
  return LINNET_OK;
}

void Replacement::sweep(const char* temporary) {
  const int fd = ::open(temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP) unlink(temporary);  // a link, which nobody here makes
    return;
  }
  // Whoever has just made it and has no lock yet sees that it is gone, and makes it anew.
  struct stat opened, named;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && lstat(temporary, &named) == 0 &&
      named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
    unlink(temporary);
  close(fd);
}

Status Replacement::commit(Error* err) {
  if (through_) {
    const int fd = fd_;
    fd_ = -1;
    return close(fd) == 0 ? LINNET_OK : system_error(err, path_, "cannot write");
  }
  if (sync_whole(fd_) != 0) return system_error(err, temporary_, "cannot sync");
  if (rename(temporary_, path_) != 0) return system_error(err, path_, "cannot rename to it");
  mine_ = false;
  // The new name itself must survive a power cut. Some file systems cannot sync a folder and say so with EINVAL.
  if (sync_whole(folder_) != 0 && errno != EINVAL)
    return system_error(err, path_, "is written, but a power cut may bring the old one back: cannot sync its folder");
  return LINNET_OK;
}

}  // namespace linnet
