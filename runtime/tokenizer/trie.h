// A trie as a double array, in the units of darts-clone, which SentencePiece models carry: a unit holds the label of the byte that leads to
// it (8 bits; bit 31 is clear in inner units), whether a key ends there (bit 8), and the offset of its children (22 bits, bit 9: times
// 256). A child lies at (unit's place ^ offset ^ byte); the value of a key at the child of byte 0, with bit 31 set.
#pragma once
#include <cstdint>

namespace linnet::tok {

struct Trie {
  const uint32_t* units;
  uint32_t n;

  static uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
  static bool ends(uint32_t unit) { return (unit >> 8 & 1) != 0; }
  static uint32_t label(uint32_t unit) { return unit & 0x800000FFu; }

  // A walk from the root. Hostile units are harmless: no step leaves the array.
  struct Walk {
    const Trie* trie;
    uint32_t at = 0;

    // false: no key goes on with this byte.
    bool step(uint8_t byte) {
      if (at >= trie->n) return false;
      const uint32_t to = at ^ offset(trie->units[at]) ^ byte;
      if (to >= trie->n || byte == 0 || label(trie->units[to]) != byte) return false;
      at = to;
      return true;
    }
    // The value of the key that ends here, -1 if none does.
    int64_t value() const {
      if (at >= trie->n || !ends(trie->units[at])) return -1;
      const uint32_t leaf = at ^ offset(trie->units[at]);
      return leaf < trie->n ? int64_t{trie->units[leaf] & 0x7FFFFFFFu} : -1;
    }
  };
  Walk walk() const { return {this}; }
};

}  // namespace linnet::tok
