// Small files below /proc and /sys, or below a copy of them, read without heap and stdio.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(_WIN32)  // copies of these folders are read there too
#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK _O_BINARY
#define O_NOCTTY 0
#endif

namespace linnet {

// A path below a root folder (nullptr or "": the system's), put together from texts and numbers. One that is too long opens nothing.
// (Inlined everywhere these calls would be most of the code around them.)
class Path {
 public:
  explicit Path(const char* root) {
#if !defined(__linux__)
    ok_ = root && *root;  // what other systems have under these names is something else
#endif
    if (root) *this << root;
  }
  [[gnu::noinline]] Path& operator<<(std::string_view s) {
    if (s.size() >= sizeof text_ - n_) ok_ = false;
    if (ok_) std::memcpy(text_ + n_, s.data(), s.size());
    if (ok_) n_ += s.size();
    text_[n_] = '\0';
    return *this;
  }
  [[gnu::noinline]] Path& operator<<(uint32_t v) {
    char digits[10];
    size_t n = 0;
    do digits[n++] = static_cast<char>('0' + v % 10);
    while (v /= 10);
    while (n) *this << std::string_view(&digits[--n], 1);
    return *this;
  }
  [[gnu::noinline]] Path operator/(std::string_view name) const {
    Path p = *this;
    p << "/" << name;
    return p;
  }
  int open(int flags) const {
    errno = ENAMETOOLONG;
    return ok_ ? ::open(text_, O_RDONLY | O_CLOEXEC | flags) : -1;
  }
  // A regular file: in a copy of these folders there may be anything.
  [[gnu::noinline]] int open() const {
    const int fd = open(O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
  }
  bool there() const {
    struct stat st;
    return ok_ && stat(text_, &st) == 0;
  }

 private:
  char text_[512] = "";
  size_t n_ = 0;
  bool ok_ = true;
};

// Without blanks, NULs and carriage returns around it.
inline std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\0' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}
// First line of a small file, without blanks around it; "" where it cannot be read, and then errno says why. NULs end it, or become `nul`.
struct Line {
  char text[256];
  size_t n = 0;
  [[gnu::noinline]] explicit Line(const Path& path, char nul = '\0') {
    const int fd = path.open();
    if (fd < 0) return;
    const ssize_t got = read(fd, text, sizeof text);
    const int e = errno;
    close(fd);
    errno = e;
    for (; got > 0 && n < static_cast<size_t>(got) && text[n] != '\n' && (text[n] != '\0' || nul); ++n)
      if (text[n] == '\0') text[n] = nul;
  }
  std::string_view view() const { return trim({text, n}); }
};

}  // namespace linnet
