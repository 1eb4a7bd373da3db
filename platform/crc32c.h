// CRC-32C (Castagnoli's polynomial, reflected; iSCSI and ext4 use it): damage by accident is found, forgery is not.
#pragma once
#include <cstddef>
#include <cstdint>

namespace linnet {

// `crc` is 0 to begin, or what the bytes before these gave.
uint32_t crc32c(uint32_t crc, const void* data, size_t bytes);

}  // namespace linnet
