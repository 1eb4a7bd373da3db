// Kinds of blocks of GGUF files (formats.inc) as kernels take them apart; what codes and scales stand for is stated in scalar.cpp, where
// they lie in format.h. A new kind is a struct here, a row of LINNET_CUDA_BLOCKS (cuda_types.h) and three kernels (kernel_list.h).
//
// Of 256 inputs a panel has kBytes of lines (64 bytes each) and kScales of scales. Lane l of a warp has outputs j = 4 * (l / 4 % 4) and the
// next three, and with c = l % 4 of every 32 inputs 4 * c .. + 3 and 16 + 4 * c .. + 3, which lie in kPieces pieces of 16 bytes, each of a
// line; or in one of another lane of its four. A unit of kSteps times 32 inputs takes kLoads of them. The last inputs may be fewer than
// 256, whole blocks of kBlock, which then are no smaller than a unit: others are multiplied with zeros.
#pragma once
#include "products.h"

namespace linnet {

// to *= four bytes less `zero`: a byte below 2^23 as a float has it is 8388608 more than it.
LINNET_ON_GPU void times_bytes(uint32_t bytes, float zero, float (&to)[4]) {
  for (uint32_t e = 0; e < 4; ++e) to[e] = to[e] * (float_of(__byte_perm(bytes, 0x4B000000u, 0x7440u | e)) - (8388608.0f + zero));
}
LINNET_ON_GPU uint32_t word_at(const uint8_t* at) { return *reinterpret_cast<const uint32_t*>(at); }
// Where input i of 32 of output j lies behind the first line of these.
LINNET_ON_GPU uint32_t line_of(uint32_t i, uint32_t j) { return i % 32 / 4 * 64 + j * 4 + i % 4; }
// Where line i of `others` and the eight that are taken with the first of them is, as pack_blocks.cpp has them.
LINNET_ON_GPU uint32_t beside(uint32_t i, uint32_t others) { return i < 8 ? i * 2 : i < others ? i + 8 : (i - others) * 2 + 1; }

// What most kinds have.
struct BlockKind {
  static constexpr bool kMin = false;
  static constexpr float kOne = 1;  // what `codes` has as a code's one, turned round: they may be a power of two too large
  LINNET_ON_GPU uint32_t line(uint32_t piece, uint32_t c) { return piece * 4 + c; }
  LINNET_ON_GPU uint32_t whose(uint32_t /*unit*/, uint32_t /*i*/, uint32_t c) { return c; }  // load i is of this one of four lanes
  LINNET_ON_GPU void minima(const uint8_t*, uint32_t, uint32_t, float (&)[4]) {}
};

struct Q4K : BlockKind {
  static constexpr uint32_t kBlock = 256, kGroup = 32, kBytes = 2048, kScales = 256, kPieces = 8, kSteps = 2, kLoads = 2;
  static constexpr bool kMin = true;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return unit * 2 + i; }  // load i of a unit of the 256 inputs
  // Signed codes of output j + e, of the 32 inputs of `step` those from 4 * c on (i = 0) or from 16 + 4 * c.
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t step, uint32_t i, uint32_t e, uint32_t /*c*/) {
    return w[i][e] >> step % 2 * 4 & 0x0F0F0F0Fu;
  }
  // Of outputs j.. and the entry's group g.
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + j * 2), to);
    times_bytes(parts(entry + 64 + j, 0, g), 0, to);
  }
  LINNET_ON_GPU void minima(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + 32 + j * 2), to);
    times_bytes(parts(entry + 64 + j, 4, g), 0, to);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    return block[i / 64 * 512 + line_of(i, j)] >> i / 32 % 2 * 4 & 15;
  }
  // Six bits of four outputs, of a scale (first 0) or a minimum (4).
  LINNET_ON_GPU uint32_t parts(const uint8_t* rows, uint32_t first, uint32_t g) {
    const uint32_t low = word_at(rows + (first + g % 4) * 16), rest = word_at(rows + (8 + g % 4) * 16) >> first;
    return g < 4 ? low & 0x3F3F3F3Fu : (rest & 0x0F0F0F0Fu) | (low >> 2 & 0x30303030u);
  }
};

struct Q5K : Q4K {
  static constexpr uint32_t kBytes = 2560, kPieces = 10, kLoads = 4;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return i < 2 ? unit * 2 + i : 6 + i; }
  LINNET_ON_GPU uint32_t line(uint32_t piece, uint32_t c) { return beside(piece * 4 + c, 32); }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t step, uint32_t i, uint32_t e, uint32_t) {
    const uint32_t left = (36 - step) % 32, fifth = w[2 + i][e];  // bit `step` of a byte to its bit 4
    return (w[i][e] >> step % 2 * 4 & 0x0F0F0F0Fu) | ((fifth << left | fifth >> (32 - left) % 32) & 0x10101010u);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    const uint8_t* const at = block + j * 4 + i % 4;
    const uint32_t four = i % 32 / 4;
    return (at[beside(i / 64 * 8 + four, 32) * 64] >> i / 32 % 2 * 4 & 15) | (at[beside(32 + four, 32) * 64] >> i / 32 & 1) << 4;
  }
};

// Codes less 32 are their six bits in a byte's upper part with the top bit turned.
struct Q6K : BlockKind {
  static constexpr uint32_t kBlock = 256, kGroup = 16, kBytes = 3072, kScales = 288, kPieces = 12, kSteps = 4, kLoads = 6;
  static constexpr float kOne = 0.25f;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return i < 4 ? unit * 4 + i : 4 + unit * 2 + i; }
  LINNET_ON_GPU uint32_t line(uint32_t piece, uint32_t c) {
    return c * 3 + piece % 2 * 12 + (piece < 8 ? piece / 4 * 24 + piece / 2 % 2 : (piece - 8) / 2 * 24 + 2);
  }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t step, uint32_t i, uint32_t e, uint32_t) {
    const uint32_t run = step % 4, low = w[run % 2 * 2 + i][e];
    return ((run < 2 ? low << 2 : low >> 2) & 0x3C3C3C3Cu) | ((w[4 + i][e] << (6 - run * 2) & 0xC0C0C0C0u) ^ 0x80808080u);
  }
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + j * 2), to);
    times_bytes(word_at(entry + 32 + g * 16 + j) ^ 0x80808080u, 128, to);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    const uint32_t run = i % 128 / 32;
    const uint8_t* const three = block + (i / 128 * 24 + i % 32 / 4 * 3) * 64 + j * 4 + i % 4;
    const int low = three[run % 2 * 64] >> run / 2 * 4 & 15, high = three[128] >> run * 2 & 3;
    return (low | high << 4) - 32;
  }
};

// Of 32 inputs a byte's nibbles are i and i + 16: a load has all that a lane wants of them.
struct Nibbles32 : BlockKind {
  static constexpr uint32_t kBlock = 32, kGroup = 32, kBytes = 2048, kPieces = 8, kSteps = 1, kLoads = 1;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t) { return unit; }
  LINNET_ON_GPU uint32_t nibble(const uint8_t* block, uint32_t i, uint32_t j, uint32_t bytes = 256) {  // bytes: of 32 inputs
    return block[i / 32 * bytes + line_of(i % 16, j)] >> i % 32 / 16 * 4 & 15;
  }
};
// Nibbles choose from a table, four words of kind Table.
template <class Table>
struct TableKind : Nibbles32 {
  // Bytes of four nibbles, the lower half of q. A selector of __byte_perm has three bits; a fourth would ask for signs.
  LINNET_ON_GPU uint32_t bytes_of(uint32_t q) {
    const uint32_t at = q & 0x77777777u;
    return __byte_perm(__byte_perm(Table::k0, Table::k1, at), __byte_perm(Table::k2, Table::k3, at), (q >> 1 & 0x44444444u) | 0x32103210u);
  }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t, uint32_t i, uint32_t e, uint32_t) {
    return __byte_perm(bytes_of(w[0][e]), bytes_of(w[0][e] >> 16), i ? 0x7531u : 0x6420u);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) { return static_cast<int8_t>(bytes_of(nibble(block, i, j))); }
};
// Twice 0 .5 1 1.5 2 3 4 6, then minus these.
struct E2m1Table {
  static constexpr uint32_t k0 = 0x03020100, k1 = 0x0C080604, k2 = 0xFDFEFF00, k3 = 0xF4F8FAFC;
};
struct Mxfp4 : TableKind<E2m1Table> {
  static constexpr uint32_t kScales = 128;
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    const uint32_t four = word_at(entry + g * 16 + j);
    for (uint32_t e = 0; e < 4; ++e) {
      const uint32_t exponent = four >> e * 8 & 255;
      to[e] = float_of(exponent < 2 ? 0x200000u << exponent : (exponent - 1) << 23);
    }
  }
};

// Numbers far apart at the ends; scales of f16.
struct UnevenTable {  // -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
  static constexpr uint32_t k0 = 0xBFAD9881, k1 = 0xF6EADDCF, k2 = 0x26190D01, k3 = 0x71594535;
};
struct Iq4Nl : TableKind<UnevenTable> {
  static constexpr uint32_t kScales = 256;
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + g * 32 + j * 2), to);
  }
};
struct Iq4Xs : Iq4Nl {
  static constexpr uint32_t kBlock = 256, kScales = 128;
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    const uint32_t high = word_at(entry + 32 + g / 4 * 16 + j) >> g % 4 * 2, low = word_at(entry + 64 + g / 2 * 16 + j) >> g % 2 * 4;
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + j * 2), to);
    times_bytes((low & 0x0F0F0F0Fu) | (high & 0x03030303u) << 4, 32, to);
  }
};

struct Q41 : Nibbles32 {
  static constexpr uint32_t kScales = 512;
  static constexpr bool kMin = true;
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t, uint32_t i, uint32_t e, uint32_t) {
    return w[0][e] >> i * 4 & 0x0F0F0F0Fu;
  }
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + g * 64 + j * 2), to);
  }
  LINNET_ON_GPU void minima(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + g * 64 + 32 + j * 2), to);
    for (float& v : to) v = -v;
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) { return static_cast<int>(nibble(block, i, j)); }
};
// A word of fifth bits behind each 32 inputs' nibbles, which all four lanes want: each copies those of two steps.
struct Q51 : Q41 {
  static constexpr uint32_t kBytes = 2560, kPieces = 10, kLoads = 2;
  LINNET_ON_GPU uint32_t line(uint32_t piece, uint32_t c) { return piece < 8 ? piece * 5 + c : (piece % 2 * 4 + c) * 5 + 4; }
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return i == 0 ? unit : 8 + unit / 4; }
  LINNET_ON_GPU uint32_t whose(uint32_t unit, uint32_t i, uint32_t c) { return i == 0 ? c : unit % 4; }
  // Four of a word, as the top bits of bytes.
  LINNET_ON_GPU uint32_t fifth(uint32_t word, uint32_t i, uint32_t c) {
    return (word >> (i * 16 + c * 4) & 15) * 0x10204080u & 0x80808080u;
  }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t, uint32_t i, uint32_t e, uint32_t c) {
    return (w[0][e] >> i * 4 & 0x0F0F0F0Fu) | fifth(w[1][e], i, c) >> 3;
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    const uint32_t high = block[i / 32 * 320 + 256 + j * 4 + i % 32 / 8] >> i % 8 & 1;
    return static_cast<int>(nibble(block, i, j, 320) | high << 4);
  }
};
// Less 16: five bits in a byte's upper part with the top bit turned.
struct Q50 : Q51 {
  static constexpr uint32_t kScales = 256;
  static constexpr bool kMin = false;
  static constexpr float kOne = 0.125f;
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t, uint32_t i, uint32_t e, uint32_t c) {
    return ((i ? w[0][e] >> 1 : w[0][e] << 3) & 0x78787878u) | (fifth(w[1][e], i, c) ^ 0x80808080u);
  }
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) { Iq4Nl::scales(entry, g, j, to); }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) { return Q51::code(block, i, j) - 16; }
};

// Two bits: of each half of 128 inputs four times 32 lie in 32 bytes.
struct Q2K : BlockKind {
  static constexpr uint32_t kBlock = 256, kGroup = 16, kBytes = 1024, kScales = 320, kPieces = 4, kSteps = 4, kLoads = 2;
  static constexpr bool kMin = true;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return unit * 2 + i; }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t step, uint32_t i, uint32_t e, uint32_t) {
    return w[i][e] >> step % 4 * 2 & 0x03030303u;
  }
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + j * 2), to);
    times_bytes(word_at(entry + 64 + g * 16 + j) & 0x0F0F0F0Fu, 0, to);
  }
  LINNET_ON_GPU void minima(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + 32 + j * 2), to);
    times_bytes(word_at(entry + 64 + g * 16 + j) >> 4 & 0x0F0F0F0Fu, 0, to);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    return block[i / 128 * 512 + line_of(i, j)] >> i % 128 / 32 * 2 & 3;
  }
};
// Less 4: with a third bit, three in a byte's upper part with the top bit turned.
struct Q3K : BlockKind {
  static constexpr uint32_t kBlock = 256, kGroup = 16, kBytes = 1536, kScales = 224, kPieces = 6, kSteps = 4, kLoads = 4;
  static constexpr float kOne = 0.03125f;
  LINNET_ON_GPU uint32_t piece(uint32_t unit, uint32_t i) { return i < 2 ? unit * 2 + i : 2 + i; }
  LINNET_ON_GPU uint32_t line(uint32_t piece, uint32_t c) { return beside(piece * 4 + c, 16); }
  LINNET_ON_GPU uint32_t codes(const uint32_t (&w)[kLoads][4], uint32_t step, uint32_t i, uint32_t e, uint32_t) {
    const uint32_t run = step % 4, two = run < 3 ? w[i][e] << (5 - run * 2) % 32 : w[i][e] >> 1;
    return (two & 0x60606060u) | ((w[2 + i][e] << (7 - step) & 0x80808080u) ^ 0x80808080u);
  }
  LINNET_ON_GPU void scales(const uint8_t* entry, uint32_t g, uint32_t j, float (&to)[4]) {
    const uint32_t low = word_at(entry + 32 + g % 8 * 16 + j) >> g / 8 * 4, high = word_at(entry + 160 + g % 4 * 16 + j) >> g / 4 * 2;
    floats_of_halves(*reinterpret_cast<const uint2*>(entry + j * 2), to);
    times_bytes((low & 0x0F0F0F0Fu) | (high & 0x03030303u) << 4, 32, to);
  }
  LINNET_ON_GPU int code(const uint8_t* block, uint32_t i, uint32_t j) {
    const uint8_t* const at = block + j * 4 + i % 4;
    const uint32_t four = i % 32 / 4;
    return (at[beside(i / 128 * 8 + four, 16) * 64] >> i % 128 / 32 * 2 & 3) + (at[beside(16 + four, 16) * 64] >> i / 32 & 1) * 4 - 4;
  }
};

// Weight (i, j) of a panel in GGUF's own order of operations.
template <class Kind>
LINNET_ON_GPU float weight_of(const uint8_t* panel, const uint8_t* scales, uint32_t i, uint32_t j) {
  const uint8_t* entry = scales + uint64_t{i / 256} * Kind::kScales;
  const uint32_t g = i % 256 / Kind::kGroup;
  float of[4], v = 0;
  Kind::scales(entry, g, j / 4 * 4, of);
  const auto code = static_cast<float>(Kind::code(panel + uint64_t{i / 256} * Kind::kBytes, i % 256, j));
  for (uint32_t e = 0; e < 4; ++e) v = j % 4 == e ? of[e] * code : v;
  if constexpr (Kind::kMin) {
    Kind::minima(entry, g, j / 4 * 4, of);
    const float less = v;
    for (uint32_t e = 0; e < 4; ++e) v = j % 4 == e ? less - of[e] : v;
  }
  return v;
}

}  // namespace linnet
