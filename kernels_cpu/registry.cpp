#include "registry.h"

namespace linnet {
namespace {

constexpr uint64_t none_bits = 0;
#define LINNET_TIER(name, NAME, processor, over, bits, flags, prefill, qemu) constexpr uint64_t name##_bits = (bits) | over##_bits;
#include "tiers.inc"

constexpr Tier kRows[] = {
#define LINNET_TIER(name, NAME, processor, over, bits, flags, prefill, qemu) {LINNET_ISA_##NAME, name##_bits, LINNET_PREFILL_##prefill},
#include "tiers.inc"
};
constexpr uint32_t kRowCount = sizeof kRows / sizeof kRows[0];

// The numbers of linnet_isa have no hole: 1 is scalar, and each has one row.
constexpr bool rows_are_whole() {
  uint32_t seen = 0;
  for (const Tier& row : kRows) seen |= 1u << row.isa;
  return seen == (2u << kRowCount) - 2 && kRows[0].isa == LINNET_ISA_SCALAR;
}
static_assert(rows_are_whole());

// Those of this build, which CMake lists.
#ifndef LINNET_TIERS
#define LINNET_TIERS LINNET_TABLE(scalar)
#endif
#define LINNET_TABLE(name) &name##_table,
const KernelTable* const kTiers[] = {LINNET_TIERS};
constexpr uint32_t kTierCount = sizeof kTiers / sizeof kTiers[0];

// Bits of the CPU that a tier asks for and `cpu` does not have.
uint64_t lacks(const KernelTable& t, uint64_t cpu) { return isa_row(t.isa)->required & ~cpu; }

bool allowed(const KernelTable& t, uint32_t mask) { return mask == 0 || (mask >> t.isa & 1u); }

template <class T>
void take(T& to, T from) {
  if (from) to = from;
}

void overlay(const KernelTable& from, Kernels* out) {
  KernelTable& t = out->t;
  t.isa = from.isa;
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
  take(t.xielu_row, from.xielu_row);
  take(t.taps_row, from.taps_row);
  take(t.add_row, from.add_row);
  take(t.rope_row, from.rope_row);
  take(t.softmax_block, from.softmax_block);
  take(t.planes, from.planes);
  take(t.attn_pv, from.attn_pv);
  take(t.attn_pv_float, from.attn_pv_float);
  take(t.byte_table, from.byte_table);
  take(t.turn_panels, from.turn_panels);
  take(t.merge_row, from.merge_row);
  take(t.delta_steps, from.delta_steps);
  take(t.scale_row, from.scale_row);
  take(t.sum_row, from.sum_row);
  take(t.unit_row, from.unit_row);
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
    return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(isa), "': this CPU or operating system has no ", cpu_bit_name(lacks(*t, cpu)));
  }
  return fail(err, LINNET_UNSUPPORTED, "isa '", isa_name(isa), "' is not in this build");
}

}  // namespace

// A number of linnet_isa without a row is a warning here.
const char* isa_name(uint32_t isa) {
  switch (static_cast<linnet_isa>(isa)) {
    case LINNET_ISA_AUTO:
      return "auto";
#define LINNET_TIER(name, NAME, processor, over, bits, flags, prefill, qemu) \
  case LINNET_ISA_##NAME:                                                    \
    return #name;
#include "tiers.inc"
  }
  return nullptr;
}

const Tier* isa_row(uint32_t isa) {
  for (const Tier& row : kRows)
    if (row.isa == isa) return &row;
  return nullptr;
}

uint32_t isa_mask_of(uint64_t bits) {
  uint32_t mask = 0;
  for (const Tier& row : kRows)
    if (!by_name(row.isa) && !(row.required & ~bits)) mask |= 1u << row.isa;
  return mask;
}

uint32_t isa_of_prefill(uint32_t backend) {
  for (const Tier& row : kRows)
    if (by_name(row.isa) && row.prefill == backend) return row.isa;
  return LINNET_ISA_AUTO;
}

const KernelTable* kernel_tier(uint32_t i) { return i < kTierCount ? kTiers[i] : nullptr; }

Status kernels_resolve(uint32_t isa, uint32_t mask, Kernels* out, Error* err) {
  if (!isa_name(isa)) return fail(err, LINNET_BAD_ARG, "isa ", isa, ": there are ", kRowCount, " tiers");
  const uint64_t cpu = cpu_bits();
  const KernelTable* best = nullptr;
  const KernelTable* refused = nullptr;  // does not start
  const char* why = nullptr;
  for (uint32_t i = kTierCount; i-- > 0 && !best;) {
    const KernelTable& t = *kTiers[i];
    if (!allowed(t, mask) || lacks(t, cpu) || (isa == LINNET_ISA_AUTO ? by_name(t.isa) : t.isa != isa)) continue;
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
    if (t != &scalar_table && allowed(*t, mask) && !lacks(*t, cpu) && (t == best || !by_name(t->isa))) overlay(*t, out);
    if (t == best) break;
  }
  out->t.isa = best->isa;
  return LINNET_OK;
}

}  // namespace linnet
