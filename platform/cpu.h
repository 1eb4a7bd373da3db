// What a CPU can do beyond its processor's baseline.
#pragma once
#include <cstdint>
#include <string_view>

namespace linnet {

// What a tier of kernels may ask of the CPU; cpu.cpp has a row for each.
enum CpuBit : uint64_t {
  kCpuAvx2 = 1u << 0,
  kCpuFma = 1u << 1,
  kCpuF16c = 1u << 2,
  kCpuAvx512 = 1u << 3,  // F, BW, VL, DQ and an operating system that saves the registers
  kCpuAvx512Vnni = 1u << 4,
  kCpuNeon = 1u << 5,
  kCpuDotprod = 1u << 6,
  kCpuI8mm = 1u << 7,
  kCpuAvxVnni = 1u << 8,
  kCpuAvx512Vbmi = 1u << 9,
  kCpuAvx512Bf16 = 1u << 10,
  kCpuNeonBf16 = 1u << 11,
  kCpuAmx = 1u << 12,  // tiles of bytes, and an operating system that saves them for who asks
};

// What this CPU and operating system offer.
uint64_t cpu_bits();
// What a line "flags" or "Features" of /proc/cpuinfo speaks of.
uint64_t cpu_bits_of(std::string_view words);
// Whether a list with a space between its words has this one.
bool has_word(std::string_view list, std::string_view word);
// Name of the lowest bit of a CpuBit mask ("avx512vnni"), for error texts; "" for 0.
const char* cpu_bit_name(uint64_t bits);

}  // namespace linnet
