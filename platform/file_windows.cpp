// file.h on Windows. Paths are UTF-8. What Linux alone has is left out: huge pages.
#include "file.h"
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <errno.h>
#include <windows.h>

#include <cwchar>

namespace linnet {
namespace {

constexpr size_t kPiece = size_t{8} << 20;  // between two calls of a progress function
constexpr size_t kMaxWide = 4096;

HANDLE handle_of(intptr_t fd) { return reinterpret_cast<HANDLE>(fd); }

// errno as POSIX has it, for callers that look, and what the error text says.
const char* error_text(DWORD e) {
  constexpr struct {
    DWORD code;
    int number;
    const char* text;
  } kErrors[] = {{ERROR_FILE_NOT_FOUND, ENOENT, "no such file or folder"},
                 {ERROR_PATH_NOT_FOUND, ENOENT, "no such file or folder"},
                 {ERROR_INVALID_NAME, ENOENT, "no name that a file can have"},
                 {ERROR_DIRECTORY, ENOTDIR, "a part of the path is not a folder"},
                 {ERROR_NO_UNICODE_TRANSLATION, ENOENT, "a path that is no UTF-8"},
                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG, "name too long"},
                 {ERROR_ACCESS_DENIED, EACCES, "permission denied"},
                 {ERROR_SHARING_VIOLATION, EACCES, "another program holds it open"},
                 {ERROR_LOCK_VIOLATION, EACCES, "another program holds it locked"},
                 {ERROR_USER_MAPPED_FILE, EACCES, "it is mapped into memory by a program"},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM, "out of memory"},
                 {ERROR_OUTOFMEMORY, ENOMEM, "out of memory"},
                 {ERROR_COMMITMENT_LIMIT, ENOMEM, "out of memory"},
                 {ERROR_TOO_MANY_OPEN_FILES, EMFILE, "too many open files"},
                 {ERROR_DISK_FULL, ENOSPC, "no space left"},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC, "no space left"},
                 {ERROR_WRITE_PROTECT, EROFS, "read-only file system"}};
  for (const auto& known : kErrors)
    if (known.code == e) return errno = known.number, known.text;
  errno = EIO;
  return "system error";
}

Status system_error(Error* err, const char* path, const char* what) {
  const DWORD e = GetLastError();
  const char* const text = error_text(e);
  return fail(err, errno == ENOMEM ? LINNET_NO_MEMORY : LINNET_IO, PathName{path}, ": ", what, ": ", text, " (Windows error ",
              static_cast<uint32_t>(e), ")");
}

Status refuse(Error* err, const char* path, const char* what) { return fail(err, LINNET_IO, PathName{path}, ": ", what); }

Status cancelled(Error* err, const char* path) { return fail(err, LINNET_CANCELLED, PathName{path}, ": loading was cancelled"); }

// INVALID_HANDLE_VALUE: GetLastError says why.
HANDLE open_file(const char* path, DWORD access, DWORD share, DWORD how, DWORD flags = FILE_ATTRIBUTE_NORMAL) {
  wchar_t wide[kMaxWide];
  return file_wide(path, wide, kMaxWide) ? CreateFileW(wide, access, share, nullptr, how, flags, nullptr) : INVALID_HANDLE_VALUE;
}

// Whether the call came to work: what another program has open for a moment (who reads it, a virus scanner, the search index) is waited
// for.
template <class Call>
bool soon(Call call) {
  for (int tries = 0; tries < 100; ++tries, Sleep(10)) {
    if (call()) return true;
    if (GetLastError() != ERROR_SHARING_VIOLATION && GetLastError() != ERROR_ACCESS_DENIED) return false;
  }
  return call();
}

bool is_folder(HANDLE file) {
  BY_HANDLE_FILE_INFORMATION info;
  return GetFileInformationByHandle(file, &info) && info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
}

// Opens a regular file to be read. Others may replace it meanwhile.
Status open_regular(const char* path, HANDLE* out, uint64_t* bytes, Error* err) {
  // Folders open with this flag alone, and are told apart from what may not be read.
  const HANDLE file =
      open_file(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
  if (file == INVALID_HANDLE_VALUE) return system_error(err, path, "cannot open");
  LARGE_INTEGER size;
  Status s = LINNET_OK;
  if (GetFileType(file) != FILE_TYPE_DISK || is_folder(file)) {
    errno = EINVAL;
    s = refuse(err, path, "is not a regular file");
  } else if (!GetFileSizeEx(file, &size)) {
    s = system_error(err, path, "cannot stat");
  }
  if (s != LINNET_OK) return CloseHandle(file), s;
  *out = file;
  *bytes = static_cast<uint64_t>(size.QuadPart);
  return LINNET_OK;
}

// Of at most 2 GiB.
bool read_piece(HANDLE file, void* to, size_t bytes, size_t* got) {
  DWORD n = 0;
  const bool ok = ReadFile(file, to, static_cast<DWORD>(bytes < kPiece ? bytes : kPiece), &n, nullptr);
  *got = n;
  return ok;
}

Status read_whole(HANDLE file, const char* path, const LoadProgress& progress, void* to, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    size_t n;
    if (!read_piece(file, static_cast<uint8_t*>(to) + done, bytes - done, &n)) return system_error(err, path, "cannot read");
    if (n == 0) return fail(err, LINNET_IO, PathName{path}, ": became shorter while it was read, at byte ", done, " of ", bytes);
    done += n;
    if (progress.cancelled(done, bytes)) return cancelled(err, path);
  }
  return LINNET_OK;
}

// Brings every page of a mapping into memory.
Status touch_whole(const char* path, const LoadProgress& progress, const void* map, size_t bytes, Error* err) {
  const size_t page = page_bytes();
  for (size_t done = 0; done < bytes;) {
    const size_t n = bytes - done < kPiece ? bytes - done : kPiece;
    for (size_t i = 0; i < n; i += page) static_cast<void>(static_cast<volatile const uint8_t*>(map)[done + i]);
    done += n;
    if (progress.cancelled(done, bytes)) return cancelled(err, path);
  }
  return LINNET_OK;
}

// A process may lock what its working set holds at least, some 200 kB at first: where that is too little it grows by the file.
bool lock_whole(void* map, size_t bytes) {
  if (VirtualLock(map, bytes)) return true;
  const HANDLE me = GetCurrentProcess();
  SIZE_T least, most;
  const size_t more = bytes + (size_t{1} << 20);
  return GetLastError() == ERROR_WORKING_SET_QUOTA && GetProcessWorkingSetSize(me, &least, &most) &&
         SetProcessWorkingSetSize(me, least + more, most + more) && VirtualLock(map, bytes);
}

Status map_whole(HANDLE file, const char* path, linnet_load how, const LoadProgress& progress, size_t bytes, size_t most, void** out,
                 Error* err) {
  const size_t some = bytes < most ? bytes : most;
  if (how == LINNET_LOAD_COPY) {
    *out = memory_alloc(bytes);
    return *out ? read_whole(file, path, progress, *out, some, err)
                : fail(err, LINNET_NO_MEMORY, PathName{path}, ": no memory for ", bytes, " bytes");
  }
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (!mapping) return system_error(err, path, "cannot map");
  *out = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes);
  const Status s = *out ? LINNET_OK : system_error(err, path, "cannot map");
  CloseHandle(mapping);  // the view keeps it
  LINNET_TRY(s);
  if (how == LINNET_LOAD_LOCK && !lock_whole(*out, some)) {
    if (GetLastError() != ERROR_WORKING_SET_QUOTA && GetLastError() != ERROR_NO_SYSTEM_RESOURCES)
      return system_error(err, path, "cannot lock in memory");
    return fail(err, LINNET_TOO_SMALL, PathName{path}, ": cannot lock its ", some, " bytes: more than this process's working set holds");
  }
  if (how != LINNET_LOAD_MAP) return touch_whole(path, progress, *out, some, err);
  return progress.cancelled(bytes, bytes) ? cancelled(err, path) : LINNET_OK;
}

// Frees a view or memory of ours, whichever it is.
void release(void* p) {
  MEMORY_BASIC_INFORMATION info;
  if (!p || !VirtualQuery(p, &info, sizeof info)) return;
  if (info.Type == MEM_MAPPED)
    UnmapViewOfFile(p);
  else
    VirtualFree(p, 0, MEM_RELEASE);
}

// Where a read or write of a handle that waits is to begin.
OVERLAPPED place_at(uint64_t at) {
  OVERLAPPED place = {};
  place.Offset = static_cast<DWORD>(at);
  place.OffsetHigh = static_cast<DWORD>(at >> 32);
  return place;
}

// A temporary file, to which nobody else may write, nor remove it.
HANDLE hold(const wchar_t* path, DWORD how) {
  return CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_READ, nullptr, how, FILE_ATTRIBUTE_NORMAL, nullptr);
}

}  // namespace

bool file_wide(const char* path, wchar_t* out, size_t cap) {
  const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, static_cast<int>(cap));
  if (n == 0) {
    if (GetLastError() == ERROR_INSUFFICIENT_BUFFER) SetLastError(ERROR_FILENAME_EXCED_RANGE);
    return false;
  }
  // As a whole: a relative one may be short where the folder it begins at is not.
  wchar_t whole[kMaxWide];
  const DWORD chars = GetFullPathNameW(out, kMaxWide, whole, nullptr);
  constexpr DWORD kLong = 247;  // from here on Windows asks for a prefix
  if (chars < kLong) return true;
  const bool root = whole[0] == L'\\' && whole[1] == L'\\', prefixed = root && (whole[2] == L'?' || whole[2] == L'.');
  const wchar_t* const prefix = prefixed ? L"" : root ? L"\\\\?\\UNC" : L"\\\\?\\";
  const size_t before = std::wcslen(prefix), from = root && !prefixed;  // \\server becomes \\?\UNC\server
  if (chars >= kMaxWide || before + chars - from >= cap) return SetLastError(ERROR_FILENAME_EXCED_RANGE), false;
  std::memcpy(out, prefix, before * sizeof *out);
  std::memcpy(out + before, whole + from, (chars - from + 1) * sizeof *out);
  return true;
}

bool file_names(const char* folder, void (*take)(void* user, const char* name), void* user) {
  wchar_t wide[kMaxWide];
  WIN32_FIND_DATAW found;
  HANDLE search = INVALID_HANDLE_VALUE;
  SetLastError(ERROR_PATH_NOT_FOUND);
  if (*folder && file_wide(folder, wide, kMaxWide - 2)) {
    std::wcscat(wide, L"\\*");
    search = FindFirstFileW(wide, &found);
  }
  if (search == INVALID_HANDLE_VALUE) return error_text(GetLastError()), false;
  do {
    char name[3 * MAX_PATH + 1];  // three bytes a unit at most
    if (WideCharToMultiByte(CP_UTF8, 0, found.cFileName, -1, name, sizeof name, nullptr, nullptr)) take(user, name);
  } while (FindNextFileW(search, &found));
  const DWORD end = GetLastError();
  FindClose(search);
  if (end == ERROR_NO_MORE_FILES) return true;
  return error_text(end), false;
}

bool file_id(const char* path, uint64_t* volume, uint64_t* index) {
  const HANDLE file = open_file(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
  BY_HANDLE_FILE_INFORMATION info;
  const bool ok = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, &info);
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  if (!ok) return false;
  *volume = info.dwVolumeSerialNumber;
  *index = uint64_t{info.nFileIndexHigh} << 32 | info.nFileIndexLow;
  return true;
}

uint64_t file_room(const char* folder) {
  wchar_t wide[kMaxWide];
  ULARGE_INTEGER room;
  return file_wide(folder, wide, kMaxWide) && GetDiskFreeSpaceExW(wide, &room, nullptr, nullptr) ? room.QuadPart : 0;
}

size_t page_bytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

Status file_load(const char* path, linnet_load how, const LoadProgress& progress, linnet_view* out, Error* err, size_t most) {
  if (how == LINNET_LOAD_DEFAULT) how = LINNET_LOAD_MAP;
  if (how > LINNET_LOAD_LOCK) return fail(err, LINNET_BAD_ARG, "load: how is ", static_cast<uint32_t>(how), ", there is no such way");
  HANDLE file;
  uint64_t size;
  LINNET_TRY(open_regular(path, &file, &size, err));
  void* p = nullptr;
  const Status s = size == 0             ? fail(err, LINNET_BAD_FILE, PathName{path}, ": is empty")
                   : size > SIZE_MAX / 2 ? refuse(err, path, "too large for this address space")
                                         : map_whole(file, path, how, progress, static_cast<size_t>(size), most, &p, err);
  CloseHandle(file);
  if (s != LINNET_OK) return release(p), s;
  *out = {p, static_cast<size_t>(size)};
  return LINNET_OK;
}

Status file_read(const char* path, void* to, size_t cap, size_t* n, Error* err) {
  HANDLE file;
  uint64_t size;
  LINNET_TRY(open_regular(path, &file, &size, err));
  Status s = LINNET_OK;
  for (*n = 0; s == LINNET_OK;) {
    uint8_t more;
    const bool full = *n == cap;
    size_t got;
    if (!read_piece(file, full ? &more : static_cast<uint8_t*>(to) + *n, full ? 1 : cap - *n, &got))
      s = system_error(err, path, "cannot read");
    if (got == 0) break;
    *n += got;
    if (!full) continue;
    if (size > *n) *n = size > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(size);
    s = fail(err, LINNET_TOO_SMALL, PathName{path}, ": larger than ", cap, " bytes");
  }
  CloseHandle(file);
  return s;
}

void file_unmap(linnet_view* view) {
  release(const_cast<void*>(view->data));
  *view = {nullptr, 0};
}

void* memory_alloc(size_t bytes) {
  return bytes == 0 || bytes > SIZE_MAX / 2 ? nullptr : VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void memory_free(void* mem, size_t) { release(mem); }

void memory_huge(void*, size_t, uint32_t) {}  // only for programs with a privilege, and then from the first byte on

uint32_t process_id() { return GetCurrentProcessId(); }

uint64_t clock_ns() {
  LARGE_INTEGER now, second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&second);
  const uint64_t n = static_cast<uint64_t>(now.QuadPart), hz = static_cast<uint64_t>(second.QuadPart);
  return n / hz * 1000000000u + n % hz * 1000000000u / hz;
}

void sleep_ns(uint64_t ns) {
#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
  constexpr DWORD CREATE_WAITABLE_TIMER_HIGH_RESOLUTION = 2;
#endif
  // Sleep counts in ticks of the system's clock, most often 16 ms.
  const HANDLE timer = CreateWaitableTimerExW(nullptr, nullptr, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, SYNCHRONIZE | TIMER_MODIFY_STATE);
  LARGE_INTEGER due;
  due.QuadPart = -static_cast<LONGLONG>(ns / 100);
  if (timer && SetWaitableTimer(timer, &due, 0, nullptr, nullptr, FALSE))
    WaitForSingleObject(timer, INFINITE);
  else
    Sleep(static_cast<DWORD>(ns / 1000000));
  if (timer) CloseHandle(timer);
}

// Others who replace the same file wait until the temporary one is closed.
Replacement::~Replacement() {
  if (fd_ == -1) return;
  if (mine_) {  // it goes when it is closed
    FILE_DISPOSITION_INFO gone = {TRUE};
    SetFileInformationByHandle(handle_of(fd_), FileDispositionInfo, &gone, sizeof gone);
  }
  CloseHandle(handle_of(fd_));
}

Status Replacement::open(const char* path, Error* err, uint32_t, bool through) {
  const size_t n = std::strlen(path);
  if (n == 0) return fail(err, LINNET_IO, "the path of the file is empty");
  if (n > kMaxPath) return fail(err, LINNET_IO, "a path of ", n, " bytes: name too long");
  std::memcpy(path_, path, n + 1);
  LINNET_TRY(follow(err));
  // NUL, CON and pipes have names everywhere.
  const HANDLE there =
      open_file(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
  if (there != INVALID_HANDLE_VALUE) {
    const bool device = GetFileType(there) != FILE_TYPE_DISK, folder = !device && is_folder(there);
    if (device && through) {
      fd_ = reinterpret_cast<intptr_t>(there);
      through_ = true;
      return LINNET_OK;
    }
    CloseHandle(there);
    if (device || folder) return refuse(err, path, "is not a regular file");
  }
  const size_t whole = std::strlen(path_);
  std::memcpy(temporary_, path_, whole);
  std::memcpy(temporary_ + whole, ".tmp", 5);
  return lock(0, err);
}

// path_ becomes what its links lead to where it is there.
Status Replacement::follow(Error* err) {
  const HANDLE file =
      open_file(path_, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
  if (file == INVALID_HANDLE_VALUE) return LINNET_OK;
  BY_HANDLE_FILE_INFORMATION info;
  const bool link = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
                    (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) && !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
  CloseHandle(file);
  if (!link) return LINNET_OK;
  const HANDLE target = open_file(path_, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING);
  if (target == INVALID_HANDLE_VALUE) return system_error(err, path_, "is a link to what cannot be opened");
  wchar_t wide[kMaxWide];
  const DWORD chars = GetFinalPathNameByHandleW(target, wide, kMaxWide, FILE_NAME_NORMALIZED);
  CloseHandle(target);
  if (chars == 0 || chars >= kMaxWide || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path_, sizeof path_, nullptr, nullptr))
    return refuse(err, path_, "leads to a path that is too long");
  return LINNET_OK;
}

// Makes temporary_, which is then this object's. What is there under that name, of one that was killed, is removed: it may have other
// names.
Status Replacement::lock(uint32_t, Error* err) {
  wchar_t wide[kMaxWide];
  if (!file_wide(temporary_, wide, kMaxWide)) return system_error(err, temporary_, "cannot create");
  for (;;) {
    HANDLE file = INVALID_HANDLE_VALUE;
    bool there = false;
    const auto make = [&] {
      file = hold(wide, CREATE_NEW);
      if (file != INVALID_HANDLE_VALUE) return true;
      there = GetLastError() == ERROR_FILE_EXISTS || GetLastError() == ERROR_ALREADY_EXISTS;
      return there && (DeleteFileW(wide) || GetLastError() == ERROR_FILE_NOT_FOUND);
    };
    const bool done = soon(make);  // one that is about to go is denied
    if (!done && GetLastError() != ERROR_SHARING_VIOLATION)
      return system_error(err, temporary_, there ? "is in the way and cannot be removed" : "cannot create");
    if (file == INVALID_HANDLE_VALUE) continue;
    fd_ = reinterpret_cast<intptr_t>(file);
    if (GetFileType(file) != FILE_TYPE_DISK) return refuse(err, temporary_, "is not a regular file");
    mine_ = true;
    return LINNET_OK;
  }
}

Status Replacement::write(const void* data, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    DWORD n = 0;
    const size_t piece = bytes - done < kPiece ? bytes - done : kPiece;
    if (!WriteFile(handle_of(fd_), static_cast<const uint8_t*>(data) + done, static_cast<DWORD>(piece), &n, nullptr) || n == 0)
      return system_error(err, through_ ? path_ : temporary_, "cannot write");
    done += n;
  }
  return LINNET_OK;
}

Status Replacement::write_at(uint64_t at, const void* data, size_t bytes, Error* err) {
  for (size_t done = 0; done < bytes;) {
    DWORD n = 0;
    const size_t piece = bytes - done < kPiece ? bytes - done : kPiece;
    OVERLAPPED place = place_at(at + done);
    if (!WriteFile(handle_of(fd_), static_cast<const uint8_t*>(data) + done, static_cast<DWORD>(piece), &n, &place) || n == 0)
      return system_error(err, temporary_, "cannot write");
    done += n;
  }
  return LINNET_OK;
}

Status Replacement::read_at(uint64_t at, void* to, size_t bytes, Error* err) const {
  for (size_t done = 0; done < bytes;) {
    DWORD n = 0;
    const size_t piece = bytes - done < kPiece ? bytes - done : kPiece;
    OVERLAPPED place = place_at(at + done);
    if (!ReadFile(handle_of(fd_), static_cast<uint8_t*>(to) + done, static_cast<DWORD>(piece), &n, &place) || n == 0)
      return system_error(err, temporary_, "cannot read");
    done += n;
  }
  return LINNET_OK;
}

void Replacement::sweep(const char* temporary) {
  wchar_t wide[kMaxWide];
  if (file_wide(temporary, wide, kMaxWide)) DeleteFileW(wide);  // denied while somebody holds it
}

Status Replacement::commit(Error* err) {
  if (through_) {
    CloseHandle(handle_of(fd_));
    fd_ = -1;
    return LINNET_OK;
  }
  if (!FlushFileBuffers(handle_of(fd_))) return system_error(err, temporary_, "cannot sync");
  // Renamed while it is held, so that nobody comes between.
  struct {
    FILE_RENAME_INFO info;
    wchar_t more[kMaxWide];
  } to;
  static_assert(offsetof(FILE_RENAME_INFO, FileName) + sizeof(wchar_t) <= sizeof(FILE_RENAME_INFO));
  std::memset(&to, 0, sizeof to);
  wchar_t wide[kMaxWide];
  if (!file_wide(path_, wide, kMaxWide)) return system_error(err, path_, "cannot rename to it");
  const DWORD chars = GetFullPathNameW(wide, kMaxWide, to.info.FileName, nullptr);
  if (chars == 0 || chars >= kMaxWide) return system_error(err, path_, "cannot rename to it");
  to.info.FileNameLength = chars * static_cast<DWORD>(sizeof(wchar_t));
  bool known = true;
  const auto rename_by = [&](FILE_INFO_BY_HANDLE_CLASS how, DWORD flags) {
    std::memcpy(&to.info, &flags, sizeof flags);  // ReplaceIfExists is the first of them
    return SetFileInformationByHandle(handle_of(fd_), how, &to, sizeof to) != 0;
  };
  const auto rename = [&] {
    // As POSIX has it, so that who has the old file open goes on reading it: Windows 10 on its own file systems. Older headers lack both.
    constexpr auto kFileRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
    constexpr DWORD kReplace = 1, kPosix = 2;
    if (rename_by(kFileRenameInfoEx, kReplace | kPosix) || rename_by(FileRenameInfo, kReplace)) return true;
    known = GetLastError() != ERROR_CALL_NOT_IMPLEMENTED && GetLastError() != ERROR_INVALID_PARAMETER;
    return false;
  };
  bool renamed = soon(rename);
  if (!renamed && !known) {
    // Not known here (Wine 8): a moment without a hold, in which another may remove the file; then the old one stays.
    wchar_t from[kMaxWide];
    if (!file_wide(temporary_, from, kMaxWide)) return system_error(err, path_, "cannot rename to it");
    renamed = soon([&] {
      CloseHandle(handle_of(fd_));
      fd_ = -1;
      if (MoveFileExW(from, wide, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
      const DWORD e = GetLastError();
      const HANDLE again = hold(from, OPEN_EXISTING);
      if (again == INVALID_HANDLE_VALUE) return SetLastError(ERROR_FILE_NOT_FOUND), false;
      fd_ = reinterpret_cast<intptr_t>(again);
      SetLastError(e);
      return false;
    });
  }
  if (!renamed) return system_error(err, path_, "cannot rename to it");
  mine_ = false;
  // The new name too must survive a power cut: this writes the file system's log.
  if (fd_ != -1 && !FlushFileBuffers(handle_of(fd_)))
    return system_error(err, path_, "is written, but a power cut may bring the old one back: cannot sync its name");
  return LINNET_OK;
}

}  // namespace linnet
