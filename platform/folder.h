// What the host side asks of paths, which are UTF-8 on every system. errno says why something failed. (Not for the core: it uses the heap.)
#pragma once
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "file.h"

namespace linnet {

struct PathInfo {
  bool there, folder, regular;
  uint64_t bytes;
};

#if defined(_WIN32)
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
  WidePath wide;
  _WDIR* const dir = widen(folder, &wide) ? _wopendir(wide.data()) : nullptr;
  if (!dir) return false;
  while (const _wdirent* e = _wreaddir(dir)) {
    std::string name;  // UTF-16 to UTF-8
    for (const wchar_t* p = e->d_name; *p; ++p) {
      uint32_t c = *p;
      if (c >= 0xD800 && c < 0xDC00 && p[1] >= 0xDC00 && p[1] < 0xE000) c = 0x10000 + ((c - 0xD800) << 10) + (*++p - 0xDC00u);
      const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      name.push_back(static_cast<char>(more ? (0xF00u >> more & 0xFFu) | c >> (6 * more) : c));
      for (int i = more; i--;) name.push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3F)));
    }
    names->push_back(name);
  }
  _wclosedir(dir);
  return true;
}

inline std::string path_real(const std::string& path) { return path; }  // nobody there keeps models behind links

inline bool same_file(const std::string& a, const std::string& b) {
  uint64_t of_a[2], of_b[2];
  return file_id(a.c_str(), &of_a[0], &of_a[1]) && file_id(b.c_str(), &of_b[0], &of_b[1]) && of_a[0] == of_b[0] && of_a[1] == of_b[1];
}
#else
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
