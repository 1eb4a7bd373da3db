// Patterns of pre-tokenizers that split.cpp does not write out: automata that were compiled ahead (convert/split_pattern.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "blob.h"

namespace linnet::tok {

// What was learned from reading ahead in vain: who is in this state anywhere from `from` to `to` finds no more matches.
struct PatternMemory {
  uint32_t state = 0;
  size_t from = 0, to = 0;
  uint64_t steps = 0;  // bytes looked at
};
// Bytes of the piece that begins at `at` < n. A memory is of one text, whose pieces are asked for from its start on. *dropped: the
// behaviour takes the piece out.
size_t pattern_bytes(const PatternTables& p, const char* text, size_t at, size_t n, PatternMemory* memory, bool* dropped);

}  // namespace linnet::tok
