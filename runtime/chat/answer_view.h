// A std::string_view whose members are linnet's own: those of the C++ library leave weak copies in an object where a compiler does not
// inline them, and substr throws.
#pragma once
#include <cstddef>
#include <string_view>

namespace linnet::chat {

struct View : std::string_view {
  constexpr View() = default;
  constexpr View(const char* s, size_t n) : std::string_view(s, n) {}
  constexpr View(const char* s) : std::string_view(s, __builtin_strlen(s)) {}
  constexpr View(std::string_view s) : std::string_view(s) {}
  constexpr View substr(size_t at, size_t n = npos) const {
    const size_t from = at < size() ? at : size(), left = size() - from;
    return {data() + from, n < left ? n : left};
  }
  bool is(size_t at, View s) const { return s.size() <= size() - at && (s.empty() || !__builtin_memcmp(data() + at, s.data(), s.size())); }
  bool starts_with(View s) const { return is(0, s); }
  bool ends_with(View s) const { return s.size() <= size() && is(size() - s.size(), s); }
  size_t find(char c, size_t from = 0) const {
    for (size_t at = from; at < size(); ++at)
      if (data()[at] == c) return at;
    return npos;
  }
  size_t find(View s, size_t from = 0) const {
    for (size_t at = from; at < size(); ++at)
      if (is(at, s)) return at;
    return npos;
  }
  friend bool operator==(View a, View b) { return a.size() == b.size() && a.is(0, b); }
};

}  // namespace linnet::chat
