#include "crc32c.h"

#include <cstring>

namespace linnet {
namespace {

// at[j][b]: what byte b does to the CRC when j more bytes of zeros follow it, so that four bytes go in one step.
struct Tables {
  uint32_t at[4][256];
};

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    t.at[0][b] = crc;
  }
  for (uint32_t j = 1; j < 4; ++j)
    for (uint32_t b = 0; b < 256; ++b) t.at[j][b] = t.at[j - 1][b] >> 8 ^ t.at[0][t.at[j - 1][b] & 255];
  return t;
}
constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; bytes >= 4; bytes -= 4, p += 4) {
    uint32_t word;
    std::memcpy(&word, p, sizeof word);
    word ^= crc;
    crc = kTables.at[3][word & 255] ^ kTables.at[2][word >> 8 & 255] ^ kTables.at[1][word >> 16 & 255] ^ kTables.at[0][word >> 24];
  }
  for (; bytes; --bytes, ++p) crc = crc >> 8 ^ kTables.at[0][(crc ^ *p) & 255];
  return ~crc;
}

}  // namespace linnet
