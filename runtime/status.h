// Status and error text: how outside input is refused. No printf: text is put together from strings and numbers.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "include/linnet.h"

namespace linnet {

using Status = linnet_status;
using Error = linnet_error;

// Appends to a caller-owned Error, truncating; the text is always NUL-terminated.
class ErrorText {
 public:
  explicit ErrorText(Error* err) : err_(err) {}

  void part(std::string_view s) {
    for (const char c : s) put(static_cast<unsigned char>(c) < 0x20 ? '?' : c);  // names from files may hold anything
  }
  void part(const char* s) { part(std::string_view(s ? s : "(null)")); }
  void part(char c) { put(c); }
  void part(bool b) { part(b ? std::string_view("true") : std::string_view("false")); }

  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void part(T v) {
    char digits[24];
    size_t n = 0;
    bool negative = false;
    uint64_t u = static_cast<uint64_t>(v);
    if constexpr (std::is_signed_v<T>) {
      negative = v < 0;
      if (negative) u = uint64_t{0} - u;
    }
    do {
      digits[n++] = static_cast<char>('0' + u % 10);
      u /= 10;
    } while (u);
    if (negative) put('-');
    while (n) put(digits[--n]);
  }

 private:
  void put(char c) {
    if (n_ + 1 >= sizeof err_->text) return;
    err_->text[n_++] = c;
    err_->text[n_] = '\0';
  }
  Error* err_;
  size_t n_ = 0;
};

// return fail(err, LINNET_BAD_FILE, "tensor '", name, "': offset ", offset, " is outside the file");
template <class... Parts>
[[gnu::cold, gnu::noinline]] Status fail(Error* err, Status code, const Parts&... parts) {
  if (err) {
    err->code = code;
    err->line = 0;
    err->text[0] = '\0';
    ErrorText text(err);
    (text.part(parts), ...);
  }
  return code;
}

#define LINNET_TRY(expr)                                        \
  do {                                                          \
    if (const ::linnet::Status try_status_ = (expr); try_status_ != LINNET_OK) return try_status_; \
  } while (0)

}  // namespace linnet
