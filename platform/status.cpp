#include "status.h"

#include "utf8.h"

namespace linnet {
namespace {

constexpr size_t kPathShown = 120;
constexpr char kHex[] = "0123456789abcdef";

// Those that a terminal obeys, or that make a text look like another one.
bool unseen(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == kBadByte;
}

}  // namespace

std::string_view printable_piece(std::string_view* s, char (&room)[8]) {
  const Char c = next_char(s->data(), s->size());
  const std::string_view piece = s->substr(0, c.bytes);
  s->remove_prefix(c.bytes);
  if (!unseen(c.code)) return piece;
  const bool byte = c.code == kBadByte || c.code < 0x80;
  const uint32_t code = byte ? static_cast<uint8_t>(piece[0]) : c.code;
  size_t n = 0;
  room[n++] = '\\';
  room[n++] = byte ? 'x' : 'u';
  for (int shift = byte ? 4 : 12; shift >= 0; shift -= 4) room[n++] = kHex[code >> shift & 15];
  return {room, n};
}

PathName::PathName(const char* p) : path(p) {}

void ErrorText::part(std::string_view s) {
  char room[8];
  while (!s.empty()) put(printable_piece(&s, room));
}

void ErrorText::part(PathName p) {
  if (p.path.size() > kPathShown) {
    part(std::string_view("..."));
    p.path.remove_prefix(p.path.size() - (kPathShown - 3));
    while (!p.path.empty() && (p.path[0] & 0xC0) == 0x80) p.path.remove_prefix(1);  // the rest of a character
  }
  part(p.path);
}

void ErrorText::number(bool negative, uint64_t v) {
  char digits[24];
  size_t at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + v % 10);
  while (v /= 10);
  if (negative) digits[--at] = '-';
  put({digits + at, sizeof digits - at});
}

void ErrorText::put(std::string_view piece) {
  if (n_ + piece.size() >= sizeof err_->text) {
    n_ = sizeof err_->text;  // full: what follows is not put behind a gap
    return;
  }
  std::memcpy(err_->text + n_, piece.data(), piece.size());
  n_ += piece.size();
  err_->text[n_] = '\0';
}

}  // namespace linnet
