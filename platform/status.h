// Status and error text: how outside input is refused. No printf: text is put together from strings and numbers.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "../runtime/include/linnet_device.h"  // with linnet.h

namespace linnet {

using Status = linnet_status;
using Error = linnet_error;

// The first piece of s for a terminal or an error text, which s loses: a character as it is, or an escape in `room` for what a terminal
// would obey or hide (control characters of C0 and C1, DEL, overrides of the writing direction, line separators: "\x1b", "\u202e") and for
// a byte that is no UTF-8 ("\xff"). s is not empty.
std::string_view printable_piece(std::string_view* s, char (&room)[8]);

// A path from the caller; of a long one the end is shown, so that the reason behind it is not cut off.
struct PathName {
  PathName(const char* p);  // no code of the C++ library where it is used
  explicit PathName(std::string_view p) : path(p) {}
  std::string_view path;
};

// Appends to a caller-owned Error, truncating between characters; the text is always NUL-terminated.
class ErrorText {
 public:
  explicit ErrorText(Error* err) : err_(err) {}

  void part(std::string_view s);  // names from files may hold anything
  void part(const char* s) { part(std::string_view(s ? s : "(null)")); }
  void part(PathName p);
  void part(char c) { part(std::string_view(&c, 1)); }
  void part(bool b) { part(b ? std::string_view("true") : std::string_view("false")); }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  void part(T v) {
    const bool negative = std::is_signed_v<T> && v < T{0};
    number(negative, negative ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v));
  }

 private:
  void number(bool negative, uint64_t v);
  void put(std::string_view piece);
  Error* err_;
  size_t n_ = 0;
};

// return fail(err, LINNET_BAD_FILE, "tensor '", name, "': offset ", offset, " is outside the file");
// Parts by value: to a reference, literals of every length would be types of their own, and each a function.
template <class... Parts>
[[gnu::cold, gnu::noinline]] Status fail(Error* err, Status code, Parts... parts) {
  if (err) {
    err->code = code;
    err->line = 0;
    err->text[0] = '\0';
    ErrorText text(err);
    (text.part(parts), ...);
  }
  return code;
}

#define LINNET_TRY(expr)                                                                           \
  do {                                                                                             \
    if (const ::linnet::Status try_status_ = (expr); try_status_ != LINNET_OK) return try_status_; \
  } while (0)

}  // namespace linnet
