// Patterns of pre-tokenizers that split.cpp does not write out: automata that were compiled ahead (convert/split_pattern.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "blob.h"

namespace linnet::tok {

// What a pattern's looks say about each place in a text of n bytes, for which it needs look_bytes(n) at `marks`. Without looks nothing is
// written.
constexpr uint64_t look_bytes(uint64_t n) { return 2 * (n + 1); }
void read_looks(const PatternTables& p, const char* text, size_t n, uint8_t* marks);

// What was learned from reading ahead in vain: who is in this state anywhere from `from` to `to` finds no more matches.
struct PatternMemory {
  uint32_t state = 0;
  size_t from = 0, to = 0;
  uint64_t steps = 0;  // bytes looked at
};
// Bytes of the piece that begins at `at` < n. A memory is of one text, whose pieces are asked for from its start on. marks: what read_looks
// wrote. *dropped: the behaviour takes the piece out.
size_t pattern_bytes(const PatternTables& p, const char* text, size_t at, size_t n, const uint8_t* marks, PatternMemory* memory,
                     bool* dropped);
// The same where the text's matches are replaced: whether a match begins at `at`, and the bytes of it.
bool pattern_match(const PatternTables& p, const char* text, size_t at, size_t n, const uint8_t* marks, PatternMemory* memory,
                   size_t* bytes);

}  // namespace linnet::tok
