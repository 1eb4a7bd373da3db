#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace assistant {

linnet_status read_file(const std::string& path, size_t max_bytes, std::string* out, bool* found, std::string* why) {
  struct stat st = {};
  linnet_error err = {};
  struct File {
    linnet_view view = {};
    ~File() { linnet_file_unmap(&view); }
  } file;
  out->clear();
  const bool there = stat(path.c_str(), &st) == 0;
  if (found) *found = there || (errno != ENOENT && errno != ENOTDIR);
  if (found && !*found) return LINNET_OK;
  const auto fits = [&](uint64_t bytes) {
    if (bytes > max_bytes) *why = path + ": " + std::to_string(bytes) + " bytes, the limit for this file is " + std::to_string(max_bytes);
    return bytes <= max_bytes;
  };
  if (there && S_ISREG(st.st_mode) && !fits(static_cast<uint64_t>(st.st_size))) return LINNET_BAD_FILE;
  const linnet_status status = linnet_file_load(path.c_str(), LINNET_LOAD_COPY, nullptr, nullptr, &file.view, &err);
  if (status == LINNET_BAD_FILE) return LINNET_OK;  // it is empty
  if (status != LINNET_OK) return *why = err.text, status;
  if (!fits(file.view.bytes)) return LINNET_BAD_FILE;  // it has grown meanwhile
  out->assign(static_cast<const char*>(file.view.data), file.view.bytes);
  return LINNET_OK;
}

bool write_file(const std::string& path, const void* data, size_t bytes, std::string* why) {
  struct stat st = {};
  linnet_error err = {};
  if (stat(path.c_str(), &st) != 0 || !(S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
    return linnet_file_save(path.c_str(), data, bytes, 0, &err) == LINNET_OK || (*why = err.text, false);
  const int fd = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);  // of a FIFO: waits for who reads it
  for (size_t done = 0; fd >= 0 && done < bytes;) {
    const ssize_t n = write(fd, static_cast<const char*>(data) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) {
      *why = path + ": cannot write: " + std::strerror(errno);
      close(fd);
      return false;
    }
    done += static_cast<size_t>(n);
  }
  return (fd >= 0 && close(fd) == 0) || (*why = path + (fd < 0 ? ": cannot open: " : ": cannot write: ") + std::strerror(errno), false);
}

std::string printable(std::string_view text) {
  std::string out;
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint32_t>(static_cast<uint8_t>(text[i])) : 0; };
  for (size_t i = 0, n; i < text.size(); i += n) {
    const uint32_t first = byte(i);
    n = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t code = n == 1 ? first : first & (0x7Fu >> n);
    bool bad = n > 1 && (first < 0xC2 || first > 0xF4);
    for (size_t k = 1; k < n; ++k) {
      bad = bad || (byte(i + k) & 0xC0) != 0x80;
      code = code << 6 | (byte(i + k) & 0x3F);
    }
    bad = bad || (n == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) || (n == 4 && (code < 0x10000 || code > 0x10FFFF));
    if (bad) n = 1, code = first;
    // Control characters, overrides of the writing direction, separators of lines.
    const bool unseen = bad || code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
                        (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    char escape[8];
    if (unseen) std::snprintf(escape, sizeof escape, bad || code < 0x80 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
    out += unseen ? std::string_view(escape) : text.substr(i, n);
  }
  return out;
}

}  // namespace assistant
