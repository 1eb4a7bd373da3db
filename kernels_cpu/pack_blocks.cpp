// Blocks of GGUF files as panels (format.h) and back: from files with every bit kept, and from floats.
#include <cstring>

#include "encode_blocks.h"
#include "pack.h"

namespace linnet {
namespace {

// Where the parts of a block lie: bytes in a file; codes of `n_codes` bytes from `codes` on, and `more` bytes of upper bits that stand
// elsewhere but come behind them in a panel; two-byte scales, then bytes of scales. block: what makes one of floats; nullptr: pack.cpp
// does.
struct Kind {
  Format format;
  uint32_t bytes, codes, n_codes, more, n_more, halves[2], n_halves, parts, n_parts;
  EncodeBlock* block;
};
constexpr Kind kKinds[] = {
    {LINNET_Q4_K, 144, 16, 128, 0, 0, {0, 2}, 2, 4, 12, q4_k_block},    {LINNET_Q5_K, 176, 48, 128, 16, 32, {0, 2}, 2, 4, 12, q5_k_block},
    {LINNET_Q6_K, 210, 0, 192, 0, 0, {208, 0}, 1, 192, 16, q6_k_block}, {LINNET_I8G32, 34, 2, 32, 0, 0, {0, 0}, 1, 0, 0, nullptr},  // Q8_0
    {LINNET_I4G32, 18, 2, 16, 0, 0, {0, 0}, 1, 0, 0, nullptr},                                                                      // Q4_0
};
const Kind* kind_of(Format f) {
  for (const Kind& k : kKinds)
    if (k.format == f) return &k;
  return nullptr;
}

// n bytes of one output's block, four to a line.
uint8_t* place_lines(const uint8_t* from, size_t n, size_t output, uint8_t* lines) {
  for (size_t i = 0; i < n; i += 4, lines += 64) std::memcpy(lines + output * 4, from + i, 4);
  return lines;
}
const uint8_t* take_lines(const uint8_t* lines, size_t n, size_t output, uint8_t* to) {
  for (size_t i = 0; i < n; i += 4, lines += 64) std::memcpy(to + i, lines + output * 4, 4);
  return lines;
}

// The two codes of a byte are 16 apart in a Q4_0, 4 in a panel. Where code i of a block is: its byte, the bits before it.
struct Nibble {
  size_t byte, bits;
};
Nibble in_file(size_t i) { return {i % 16, i / 16 * 4}; }
Nibble in_panel(size_t i) { return {i / 8 * 4 + i % 4, i & 4}; }
void move_nibbles(const uint8_t* from, Nibble (*at)(size_t), uint8_t* to, Nibble (*to_at)(size_t)) {
  uint8_t moved[16] = {};
  for (size_t i = 0; i < 32; ++i) {
    uint8_t& byte = moved[to_at(i).byte];
    byte = static_cast<uint8_t>(byte | (from[at(i).byte] >> at(i).bits & 15) << to_at(i).bits);
  }
  std::memcpy(to, moved, sizeof moved);
}

void place_block(const Kind& k, const uint8_t* block, size_t output, uint8_t* lines, uint8_t* entry) {
  const uint8_t* codes = block + k.codes;
  uint8_t moved[16];
  if (format_row(k.format).stored == Stored::kNibbles) move_nibbles(codes, in_file, moved, in_panel), codes = moved;
  place_lines(block + k.more, k.n_more, output, place_lines(codes, k.n_codes, output, lines));
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(entry + output * 2, block + k.halves[i], 2);
  for (size_t i = 0; i < k.n_parts; ++i, entry += kPanel) entry[output] = block[k.parts + i];
}
void take_block(const Kind& k, const uint8_t* lines, const uint8_t* entry, size_t output, uint8_t* block) {
  take_lines(take_lines(lines, k.n_codes, output, block + k.codes), k.n_more, output, block + k.more);
  if (format_row(k.format).stored == Stored::kNibbles) move_nibbles(block + k.codes, in_panel, block + k.codes, in_file);
  for (size_t i = 0; i < k.n_halves; ++i, entry += 2 * kPanel) std::memcpy(block + k.halves[i], entry + output * 2, 2);
  for (size_t i = 0; i < k.n_parts; ++i, entry += kPanel) block[k.parts + i] = entry[output];
}

// block_of(row, i): block i of a row, nullptr: there is none to be had.
template <class BlockOf>
bool place_rows(Format f, uint32_t n_rows, uint32_t k, void* panel, void* scales, const BlockOf& block_of) {
  const Kind& kind = *kind_of(f);
  const size_t entry_bytes = kPanel * format_row(f).scale.bytes, values = gguf_block_values(f);
  std::memset(panel, 0, panel_bytes(f, k));
  std::memset(scales, 0, n_w_groups(f, k) * entry_bytes);
  for (size_t i = 0; i < k / values; ++i)
    for (size_t r = 0; r < n_rows; ++r) {
      const uint8_t* block = block_of(r, i);
      if (!block) return false;
      place_block(kind, block, r, static_cast<uint8_t*>(panel) + i * panel_bytes(f, values),
                  static_cast<uint8_t*>(scales) + i * entry_bytes);
    }
  return true;
}

// Whether squares of them can be added up. The largest scales are far below.
bool tame(const float* x, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; ++i) ok &= __builtin_fabsf(x[i]) < 0x1p40f;
  return ok;
}

}  // namespace

uint32_t gguf_block_values(Format f) { return format_row(f).w_group; }
uint32_t gguf_block_bytes(Format f) {
  const Kind* k = kind_of(f);
  return k ? k->bytes : 0;
}

bool gguf_blocks_finite(Format f, const uint8_t* blocks, size_t n) {
  const Kind& k = *kind_of(f);
  bool ok = true;
  for (; n; --n, blocks += k.bytes)
    for (size_t i = 0; i < k.n_halves; ++i) ok &= (blocks[k.halves[i] + 1] & 0x7C) != 0x7C;
  return ok;
}

void pack_gguf_blocks(Format f, const uint8_t* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  const size_t bytes = gguf_block_bytes(f);
  place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) { return rows + r * stride + i * bytes; });
}

void unpack_gguf_blocks(const void* panels, const void* scales, Format f, uint32_t k, uint32_t row, uint8_t* blocks) {
  const Kind& kind = *kind_of(f);
  const size_t values = gguf_block_values(f), entry_bytes = kPanel * format_row(f).scale.bytes, panel = row / kPanel;
  const uint8_t* lines = static_cast<const uint8_t*>(panels) + panel * panel_bytes(f, k);
  const uint8_t* entry = static_cast<const uint8_t*>(scales) + panel * n_w_groups(f, k) * entry_bytes;
  for (size_t i = 0; i < k / values; ++i, lines += panel_bytes(f, values), entry += entry_bytes, blocks += kind.bytes)
    take_block(kind, lines, entry, row % kPanel, blocks);
}

bool pack_blocks(Format f, const float* rows, size_t stride, uint32_t n_rows, uint32_t k, void* panel, void* scales) {
  uint8_t block[256];
  return place_rows(f, n_rows, k, panel, scales, [&](size_t r, size_t i) {
    const float* x = rows + r * stride + i * gguf_block_values(f);
    return tame(x, gguf_block_values(f)) && kind_of(f)->block(x, block) ? block : nullptr;
  });
}

}  // namespace linnet
