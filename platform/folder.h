// What the host side asks of paths, which are UTF-8 on every system. errno says why something failed. (Not for the core: it uses the heap.)
#pragma once
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "file.h"
#if defined(_WIN32)
#include <sys/utime.h>
#else
#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#endif

namespace linnet {

struct PathInfo {
  bool there, folder, regular;
  uint64_t bytes;
  int64_t changed_ns;  // since 1970, as exactly as the file system keeps it
};
inline constexpr int64_t kSecondNs = 1000000000;

#if defined(_WIN32)
inline constexpr const char* kSlashes = "/\\";  // between folders

using WidePath = std::vector<wchar_t>;
inline bool widen(const std::string& path, WidePath* out) {
  out->resize(4096);
  if (file_wide(path.c_str(), out->data(), out->size())) return true;
  errno = ENOENT;
  return false;
}

inline PathInfo path_info(const std::string& path) {
  WidePath wide;
  struct _stat64 st;
  if (!widen(path, &wide) || _wstat64(wide.data(), &st) != 0) return {};
  return {true, (st.st_mode & S_IFMT) == S_IFDIR, (st.st_mode & S_IFMT) == S_IFREG, static_cast<uint64_t>(st.st_size),
          int64_t{st.st_mtime} * kSecondNs};
}
inline PathInfo link_info(const std::string& path) { return path_info(path); }

inline bool path_remove(const std::string& path) {
  WidePath wide;
  return widen(path, &wide) && _wunlink(wide.data()) == 0;
}

inline bool path_changed(const std::string& path, int64_t ns) {
  WidePath wide;
  __utimbuf64 times = {ns / kSecondNs, ns / kSecondNs};
  return widen(path, &wide) && _wutime64(wide.data(), &times) == 0;
}

inline uint64_t folder_room(const std::string& folder) { return file_room(folder.c_str()); }

// What lies in a user's own folders is for that user alone, but where somebody has said otherwise.
inline bool private_folder(const std::string& path, std::string* why) {
  for (size_t end = path.find_first_of(kSlashes, 1);; end = path.find_first_of(kSlashes, end + 1)) {
    const std::string part = path.substr(0, end);
    WidePath wide;
    if (!path_info(part).there && (!widen(part, &wide) || _wmkdir(wide.data()) != 0) && errno != EEXIST)
      return *why = "cannot be made", false;
    if (end == std::string::npos) break;
  }
  return path_info(path).folder || (*why = "is no folder", false);
}

inline bool path_absolute(const std::string& path) {
  return path.size() > 2 && ((path[1] == ':' && (path[2] == '\\' || path[2] == '/')) || (path[0] == '\\' && path[1] == '\\'));
}

inline bool path_access(const std::string& path, int mode) {
  WidePath wide;
  return widen(path, &wide) && _waccess(wide.data(), mode & ~X_OK) == 0;  // nothing there says what may be run
}

inline bool folder_names(const std::string& folder, std::vector<std::string>* names) {
  const auto take = [](void* user, const char* name) { static_cast<std::vector<std::string>*>(user)->push_back(name); };
  return file_names(folder.c_str(), take, names);
}

inline std::string path_real(const std::string& path) { return path; }  // nobody there keeps models behind links

inline bool same_file(const std::string& a, const std::string& b) {
  uint64_t of_a[2], of_b[2];
  return file_id(a.c_str(), &of_a[0], &of_a[1]) && file_id(b.c_str(), &of_b[0], &of_b[1]) && of_a[0] == of_b[0] && of_a[1] == of_b[1];
}
#else
inline constexpr const char* kSlashes = "/";

inline PathInfo info_of(const struct stat& st) {
#if defined(__APPLE__)
  const timespec changed = st.st_mtimespec;
#else
  const timespec changed = st.st_mtim;
#endif
  return {true, S_ISDIR(st.st_mode), S_ISREG(st.st_mode), static_cast<uint64_t>(st.st_size),
          int64_t{changed.tv_sec} * kSecondNs + changed.tv_nsec};
}
inline PathInfo path_info(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 ? info_of(st) : PathInfo{};
}
// The same of a link itself, which is neither a folder nor regular.
inline PathInfo link_info(const std::string& path) {
  struct stat st;
  return lstat(path.c_str(), &st) == 0 ? info_of(st) : PathInfo{};
}

inline bool path_remove(const std::string& path) { return unlink(path.c_str()) == 0; }

// Sets when it was changed.
inline bool path_changed(const std::string& path, int64_t ns) {
  const timespec time = {static_cast<time_t>(ns / kSecondNs), static_cast<long>(ns % kSecondNs)}, times[2] = {time, time};
  return utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0;
}

// Bytes that this user may still write there; 0 where that is not known.
inline uint64_t folder_room(const std::string& folder) {
  struct statvfs st;
  return statvfs(folder.c_str(), &st) == 0 ? uint64_t{st.f_bavail} * st.f_frsize : 0;
}

// A folder that this user alone may read and write, with those above it that are missing. False, and why: it cannot be made so, or is
// somebody else's, who could put anything there.
inline bool private_folder(const std::string& path, std::string* why) {
  const auto no = [why](const char* what) { return *why = what, false; };
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && !path_info(part).there) return no(std::strerror(errno));
    if (end == std::string::npos) break;
  }
  struct stat link, st;
  if (lstat(path.c_str(), &link) != 0 || stat(path.c_str(), &st) != 0) return no(std::strerror(errno));
  if (!S_ISDIR(st.st_mode)) return no("is no folder");
  if (st.st_uid != geteuid() || link.st_uid != geteuid()) return no("belongs to another user");
  if ((st.st_mode & 077) == 0 || chmod(path.c_str(), 0700) == 0 || (st.st_mode & 022) == 0) return true;
  return no("others may write to it");
}

inline bool path_absolute(const std::string& path) { return !path.empty() && path[0] == '/'; }

inline bool path_access(const std::string& path, int mode) { return access(path.c_str(), mode) == 0; }

// Appends the names in a folder, "." and ".." too.
inline bool folder_names(const std::string& folder, std::vector<std::string>* names) {
  DIR* const dir = opendir(folder.c_str());
  if (!dir) return false;
  while (const dirent* e = readdir(dir)) names->push_back(e->d_name);
  closedir(dir);
  return true;
}

// Without links; as it is where it leads nowhere.
inline std::string path_real(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  const std::string out = real ? real : path;
  std::free(real);
  return out;
}

// Both are there, and the same.
inline bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}
#endif

}  // namespace linnet
