// What the host side asks of paths, which are UTF-8 on every system. errno says why something failed. (Not for the core: it uses the heap.)
#pragma once
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "file.h"
#if !defined(_WIN32)
#include <dirent.h>
#endif

namespace linnet {

struct PathInfo {
  bool there, folder, regular;
  uint64_t bytes;
};

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
  return {true, (st.st_mode & S_IFMT) == S_IFDIR, (st.st_mode & S_IFMT) == S_IFREG, static_cast<uint64_t>(st.st_size)};
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

inline PathInfo path_info(const std::string& path) {
  struct stat st;
  if (stat(path.c_str(), &st) != 0) return {};
  return {true, S_ISDIR(st.st_mode), S_ISREG(st.st_mode), static_cast<uint64_t>(st.st_size)};
}

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
