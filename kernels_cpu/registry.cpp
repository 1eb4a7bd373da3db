#include "registry.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "../runtime/format.h"

namespace linnet {
namespace {

static_assert(kMaxFormat < sizeof(Kernels::gemm) / sizeof(GemmKernel));

// Weakest first. A new tier is one line here, one in isa_flags.cmake and its file.
const KernelTable* const kTiers[] = {
    &scalar_table,
#if LINNET_HAVE_AVX2
    &avx2_table,
#endif
#if LINNET_HAVE_AVX_VNNI
    &avx_vnni_table,
#endif
#if LINNET_HAVE_AVX512
    &avx512_table,
#endif
#if LINNET_HAVE_AVX512_VNNI
    &avx512_vnni_table,
#endif
#if LINNET_HAVE_AVX512_BF16
    &avx512_bf16_table,
#endif
#if LINNET_HAVE_ONEDNN
    &onednn_table,
#endif
#if LINNET_HAVE_AMX
    &amx_table,
#endif
#if LINNET_HAVE_NEON
    &neon_table,
#endif
#if LINNET_HAVE_NEON_DOTPROD
    &neon_dotprod_table,
#endif
#if LINNET_HAVE_NEON_I8MM
    &neon_i8mm_table,
#endif
#if LINNET_HAVE_NEON_BF16
    &neon_bf16_table,
#endif
};
constexpr uint32_t kTierCount = sizeof kTiers / sizeof kTiers[0];

const char* const kIsaNames[] = {"auto", "scalar",       "avx2",      "avx_vnni", "avx512",    "avx512_vnni", "avx512_bf16",
                                 "neon", "neon_dotprod", "neon_i8mm", "onednn",   "neon_bf16", "amx"};
constexpr uint32_t kIsaCount = sizeof kIsaNames / sizeof kIsaNames[0];

const char* const kCpuBitNames[] = {"avx2", "fma",     "f16c",       "avx512f/bw/vl/dq", "avx512vnni", "neon",    "dotprod",
                                    "i8mm", "avxvnni", "avx512vbmi", "avx512bf16",       "bf16",       "amx_int8"};

bool allowed(const KernelTable& t, uint32_t mask) { return mask == 0 || (mask >> t.isa & 1u); }

template <class T>
void take(T& to, T from) {
  if (from) to = from;
}

void overlay(const KernelTable& from, Kernels* out) {
  KernelTable& t = out->t;
  t.isa = from.isa;
  t.required = from.required;
  take(t.quantize_row, from.quantize_row);
  take(t.bf16_row, from.bf16_row);
  take(t.amax_bits, from.amax_bits);
  take(t.codes, from.codes);
  take(t.rmsnorm_row, from.rmsnorm_row);
  take(t.layernorm_row, from.layernorm_row);
  take(t.silu_mul_row, from.silu_mul_row);
  take(t.gelu_mul_row, from.gelu_mul_row);
  take(t.gelu_erf_mul_row, from.gelu_erf_mul_row);
  take(t.sigmoid_mul_row, from.sigmoid_mul_row);
  take(t.relu_mul_row, from.relu_mul_row);
  take(t.add_row, from.add_row);
  take(t.rope_row, from.rope_row);
  take(t.softmax_block, from.softmax_block);
  take(t.planes, from.planes);
  take(t.attn_pv, from.attn_pv);
  take(t.attn_pv_float, from.attn_pv_float);
  take(t.byte_table, from.byte_table);
  take(t.turn_panels, from.turn_panels);
  take(t.merge_row, from.merge_row);
  take(t.scale_row, from.scale_row);
  take(t.find_above, from.find_above);
  take(t.exp_row, from.exp_row);
  take(t.gather_row, from.gather_row);
  take(t.read_all, from.read_all);
  for (uint32_t i = 0; i < from.n_gemm; ++i) out->gemm[from.gemm[i].w] = from.gemm[i];
}

Status refuse_forced(uint32_t isa, uint32_t mask, uint64_t cpu, Error* err) {
  for (const KernelTable* t : kTiers) {
    if (t->isa != isa) continue;
    if (!allowed(*t, mask)) return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(isa), "' is forbidden by isa_mask ", mask);
    return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(isa), "': this CPU or operating system has no ",
                cpu_bit_name(t->required & ~cpu));
  }
  return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(isa), "' is not in this build");
}

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
  if (caps >> 1 & 1) out |= kCpuNeon;        // HWCAP_ASIMD
  if (caps >> 20 & 1) out |= kCpuDotprod;    // HWCAP_ASIMDDP
  if (caps2 >> 13 & 1) out |= kCpuI8mm;      // HWCAP2_I8MM
  if (caps2 >> 14 & 1) out |= kCpuNeonBf16;  // HWCAP2_BF16
#elif defined(__arm__) && defined(__linux__)
  const unsigned long caps = getauxval(AT_HWCAP);
  if (caps >> 12 & 1) out |= kCpuNeon;  // HWCAP_NEON
  if (caps >> 16 & 1) out |= kCpuFma;   // HWCAP_VFPv4
#endif
  return out;
}

const char* cpu_bit_name(uint64_t bits) {
  for (const char* name : kCpuBitNames) {
    if (bits & 1) return name;
    bits >>= 1;
  }
  return "";
}

const char* isa_name(uint32_t isa) { return isa < kIsaCount ? kIsaNames[isa] : nullptr; }

const KernelTable* kernel_tier(uint32_t i) { return i < kTierCount ? kTiers[i] : nullptr; }

Status kernels_resolve(uint32_t isa, uint32_t mask, Kernels* out, Error* err) {
  if (isa >= kIsaCount) return fail(err, LINNET_BAD_ARG, "isa ", isa, ": there are ", kIsaCount - 1, " tiers");
  const uint64_t cpu = cpu_bits();
  const KernelTable* best = nullptr;
  const KernelTable* refused = nullptr;  // does not start
  const char* why = nullptr;
  for (uint32_t i = kTierCount; i-- > 0 && !best;) {
    const KernelTable& t = *kTiers[i];
    if (!allowed(t, mask) || t.required & ~cpu || (isa == LINNET_ISA_AUTO ? t.by_name : t.isa != isa)) continue;
    const char* const no = t.start ? t.start() : nullptr;
    if (no)
      refused = &t, why = no;
    else
      best = &t;
  }
  if (!best) {
    if (refused) return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(refused->isa), "': ", why);
    if (isa != LINNET_ISA_AUTO) return refuse_forced(isa, mask, cpu, err);
    return fail(err, LINNET_UNSUPPORTED, "isa_mask ", mask, " allows no tier that this build has and this CPU runs");
  }
  *out = Kernels{};
  overlay(scalar_table, out);
  for (const KernelTable* t : kTiers) {
    if (t != &scalar_table && allowed(*t, mask) && !(t->required & ~cpu) && (t == best || !t->by_name)) overlay(*t, out);
    if (t == best) break;
  }
  out->t.isa = best->isa;
  out->t.required = best->required;
  return LINNET_OK;
}

}  // namespace linnet
