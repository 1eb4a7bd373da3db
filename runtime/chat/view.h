// What std::string_view does, as linnet's own: where a compiler takes those calls for functions of their own the archive would define the
// C++ library's, and ask for those that throw.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace linnet::chat {

using View = std::string_view;

inline constexpr size_t kNowhere = SIZE_MAX;  // as npos

inline bool operator==(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}
// Bytes [at, at + n) of s, or what there is of them.
inline std::string_view cut(std::string_view s, size_t at, size_t n = kNowhere) {
  if (at > s.size()) at = s.size();
  return {s.data() + at, n < s.size() - at ? n : s.size() - at};
}
inline bool begins_with(std::string_view s, std::string_view what) { return cut(s, 0, what.size()) == what; }
inline bool ends_with(std::string_view s, std::string_view what) {
  return s.size() >= what.size() && cut(s, s.size() - what.size()) == what;
}
inline bool has(std::string_view s, char c) { return !s.empty() && std::memchr(s.data(), c, s.size()) != nullptr; }
inline bool begins_with(std::string_view s, char c) { return !s.empty() && s.front() == c; }
inline bool ends_with(std::string_view s, char c) { return !s.empty() && s.back() == c; }
// Where a text (a character) first lies in s at or behind byte `from`, or a character last; the first character that is one of these, or
// another one than these.
size_t find_in(std::string_view s, std::string_view what, size_t from = 0);
inline size_t find_in(std::string_view s, char c, size_t from = 0) { return find_in(s, std::string_view(&c, 1), from); }
size_t find_last_in(std::string_view s, char c);
size_t find_one_of(std::string_view s, std::string_view these, size_t from = 0);
size_t find_other_than(std::string_view s, std::string_view these);
// < 0, 0, > 0: by bytes.
int compare(std::string_view a, std::string_view b);

}  // namespace linnet::chat
