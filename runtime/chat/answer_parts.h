// What the parts of the parser of answers share (answers.h).
#pragma once
#include "answers.h"
#include "tool_schemas.h"

namespace linnet::chat {

inline constexpr size_t kNo = SIZE_MAX, kMore = SIZE_MAX - 1;  // places: there is none; more text must tell
inline constexpr size_t kMaxName = 256;                        // bytes of a name, a key, an id

// Marks of harmony.
inline constexpr View kMessage = "<|message|>", kStart = "<|start|>", kChannel = "<|channel|>", kConstrain = "<|constrain|>",
                      kEnd = "<|end|>", kCall = "<|call|>", kReturn = "<|return|>";
inline constexpr View kMessageEnds[] = {kEnd, kCall, kReturn};

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_char(char c) {
  return is_digit_char(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}
inline bool is_name_char(char c) { return is_word_char(c) || c == '-' || c == '.' || c == ':' || c == '/' || c == '@' || c == '$'; }
inline bool one_of(char c, View set) { return has(set, c); }
inline View trimmed(View s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}
inline size_t skip_blanks(View s, size_t at) {
  while (at < s.size() && is_blank(s[at])) ++at;
  return at;
}

// Where the mark ends that begins at `at`; kNo; kMore: it may be one. White space in it stands for any, also none, which is allowed between
// tags as well.
size_t match_mark(View s, View mark, size_t at);
// Behind the JSON or Python text that begins at `at`; kMore where it does not end.
size_t text_end(View s, size_t at);

}  // namespace linnet::chat
