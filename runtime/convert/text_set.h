// Sets of texts as tables of a deterministic automaton: what two have in common, and what one has without another. For keys beside those
// that are named, numbers within bounds, multiples.
#pragma once
#include "automaton.h"

namespace linnet::convert {

struct TextSet {
  struct Edge {
    uint8_t lo, hi;
    uint32_t to;
  };
  // Of each state, in ascending order of bytes; a text begins in state 0. No states: no text.
  Vector<Vector<Edge>> edges;
  Vector<bool> accepts;

  static constexpr size_t kMaxStates = 1u << 16;
};

// What leads from one node to the other, without calls. False: too many states.
bool texts_of(const Automaton& a, uint32_t from, uint32_t to, TextSet* out);
// Of both; of the first alone. False: too many states.
bool in_both(const TextSet& a, const TextSet& b, TextSet* out);
bool in_first(const TextSet& a, const TextSet& b, TextSet* out);
// The texts between two nodes.
void add_texts(Automaton* a, uint32_t from, uint32_t to, const TextSet& texts);

}  // namespace linnet::convert
