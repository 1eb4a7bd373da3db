// UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>

namespace linnet {

inline constexpr uint32_t kBadByte = 0xFFFFFFFF;  // "code point" of a byte that is no UTF-8

struct Char {
  uint32_t code;   // or kBadByte
  uint32_t bytes;  // 1..4; 1 for a bad byte
};

// The character at p, n >= 1 bytes left. Overlong forms, surrogates and cut-off characters are bad bytes, one at a time.
inline Char next_char(const char* p, size_t n) {
  const auto byte = [p](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(p[i])); };
  const uint32_t b = byte(0);
  if (b < 0x80) return {b, 1};
  const uint32_t need = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : 2;
  if (b < 0xC2 || b > 0xF4 || n < need) return {kBadByte, 1};
  uint32_t code = b & (0x7Fu >> need);
  for (uint32_t i = 1; i < need; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kBadByte, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (need == 3 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) return {kBadByte, 1};
  if (need == 4 && (code < 0x10000 || code > 0x10FFFF)) return {kBadByte, 1};
  return {code, need};
}

}  // namespace linnet
