#include "view.h"

namespace linnet::chat {

size_t find_in(std::string_view s, std::string_view what, size_t from) {
  if (from > s.size() || what.empty()) return from > s.size() ? kNowhere : from;
  for (const char* at = s.data() + from; what.size() <= static_cast<size_t>(s.data() + s.size() - at); ++at) {
    const size_t starts = static_cast<size_t>(s.data() + s.size() - at) - what.size() + 1;
    at = static_cast<const char*>(std::memchr(at, what[0], starts));
    if (!at) break;
    if (std::memcmp(at, what.data(), what.size()) == 0) return static_cast<size_t>(at - s.data());
  }
  return kNowhere;
}
size_t find_last_in(std::string_view s, char c) {
  for (size_t i = s.size(); i-- > 0;)
    if (s[i] == c) return i;
  return kNowhere;
}
size_t find_one_of(std::string_view s, std::string_view these, size_t from) {
  for (size_t i = from; i < s.size(); ++i)
    if (has(these, s[i])) return i;
  return kNowhere;
}
size_t find_other_than(std::string_view s, std::string_view these) {
  for (size_t i = 0; i < s.size(); ++i)
    if (!has(these, s[i])) return i;
  return kNowhere;
}
int compare(std::string_view a, std::string_view b) {
  const size_t n = a.size() < b.size() ? a.size() : b.size();
  const int order = n ? std::memcmp(a.data(), b.data(), n) : 0;
  return order ? order : a.size() < b.size() ? -1 : a.size() > b.size();
}

}  // namespace linnet::chat
