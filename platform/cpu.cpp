#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace linnet {
namespace {

// By bit: its name, and the words of /proc/cpuinfo that say so, all of them or all behind a '|'.
constexpr struct {
  const char *name, *words;
} kBits[] = {
    {"avx2", "avx2"},
    {"fma", "fma|asimd|vfpv4"},
    {"f16c", "f16c"},
    {"avx512f/bw/vl/dq", "avx512f avx512bw avx512vl avx512dq"},
    {"avx512vnni", "avx512_vnni"},
    {"neon", "asimd|neon"},
    {"dotprod", "asimd asimddp"},
    {"i8mm", "i8mm"},
    {"avxvnni", "avx_vnni"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512bf16", "avx512_bf16"},
    {"bf16", "bf16"},
    {"amx_int8", "amx_tile amx_int8"},
};

// Cuts the text before the next c off a list.
std::string_view next(std::string_view* list, char c) {
  const std::string_view out = list->substr(0, list->find(c));
  list->remove_prefix(out.size() < list->size() ? out.size() + 1 : out.size());
  return out;
}

#if defined(__aarch64__) && defined(__APPLE__)
bool feature(const char* name) {
  int value = 0;
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 && value == 1;
}
#endif

}  // namespace

uint64_t cpu_bits() {
  uint64_t out = 0;
#if defined(__x86_64__)
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  const bool osxsave = c >> 27 & 1, avx = c >> 28 & 1, fma = c >> 12 & 1, f16c = c >> 29 & 1;
  if (!osxsave || !avx) return 0;
  uint32_t saved, saved_high;  // which registers the operating system saves
  asm("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if ((saved & 0x6u) != 0x6u) return 0;
  if (fma) out |= kCpuFma;
  if (f16c) out |= kCpuF16c;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return out;
  if (b >> 5 & 1) out |= kCpuAvx2;
  uint32_t a1, b1, c1, d1;
  if (!__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1)) a1 = 0;
  if (a1 >> 4 & 1) out |= kCpuAvxVnni;
  const uint32_t f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
  if ((saved & 0xE6u) == 0xE6u && (b & f_dq_bw_vl) == f_dq_bw_vl) {
    out |= kCpuAvx512;
    if (c >> 11 & 1) out |= kCpuAvx512Vnni;
    if (c >> 1 & 1) out |= kCpuAvx512Vbmi;
    if (a1 >> 5 & 1) out |= kCpuAvx512Bf16;
    if ((saved & 0x60000u) == 0x60000u && (d >> 24 & 3) == 3) out |= kCpuAmx;
  }
#elif defined(__aarch64__) && defined(__linux__)
  const unsigned long caps = getauxval(AT_HWCAP), caps2 = getauxval(AT_HWCAP2);
  if (caps >> 1 & 1) out |= kCpuNeon | kCpuFma;  // HWCAP_ASIMD
  if (caps >> 20 & 1) out |= kCpuDotprod;        // HWCAP_ASIMDDP
  if (caps2 >> 13 & 1) out |= kCpuI8mm;          // HWCAP2_I8MM
  if (caps2 >> 14 & 1) out |= kCpuNeonBf16;      // HWCAP2_BF16
#elif defined(__aarch64__) && defined(__APPLE__)
  out |= kCpuNeon | kCpuFma;
  if (feature("hw.optional.arm.FEAT_DotProd")) out |= kCpuDotprod;
  if (feature("hw.optional.arm.FEAT_I8MM")) out |= kCpuI8mm;
  if (feature("hw.optional.arm.FEAT_BF16")) out |= kCpuNeonBf16;
#elif defined(__arm__) && defined(__linux__)
  const unsigned long caps = getauxval(AT_HWCAP);
  if (caps >> 12 & 1) out |= kCpuNeon;  // HWCAP_NEON
  if (caps >> 16 & 1) out |= kCpuFma;   // HWCAP_VFPv4
#endif
  return out;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (next(&list, ' ') == word) return true;
  return false;
}

uint64_t cpu_bits_of(std::string_view words) {
  uint64_t out = 0, bit = 1;
  for (const auto& row : kBits) {
    bool any = false;
    for (std::string_view ways = row.words; !ways.empty();) {
      std::string_view way = next(&ways, '|');
      bool all = true;
      while (!way.empty()) all &= has_word(words, next(&way, ' '));
      any |= all;
    }
    if (any) out |= bit;
    bit <<= 1;
  }
  return out;
}

const char* cpu_bit_name(uint64_t bits) {
  for (const auto& row : kBits) {
    if (bits & 1) return row.name;
    bits >>= 1;
  }
  return "";
}

}  // namespace linnet
