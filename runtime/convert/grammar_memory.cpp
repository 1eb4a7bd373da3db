#include "grammar_memory.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace linnet::convert {

GrammarMemory*& GrammarMemory::here() {
  static thread_local GrammarMemory* memory = nullptr;
  return memory;
}

// Sizes grow by a quarter of the power of two below them, and not below kAlign.
uint32_t GrammarMemory::size_class(size_t bytes, size_t* rounded) {
  const size_t units = (bytes + kAlign - 1) / kAlign + (bytes == 0);
  const uint32_t log = static_cast<uint32_t>(std::bit_width(units) - 1);
  if (log < 2) {
    *rounded = units * kAlign;
    return static_cast<uint32_t>(units - 1);
  }
  const size_t step = size_t{1} << (log - 2), steps = (units + step - 1) / step;  // kSteps .. 2 * kSteps
  *rounded = steps * step * kAlign;
  return static_cast<uint32_t>(kSteps * (log - 1) + steps - kSteps);
}

void GrammarMemory::clear() {
  used_ = 0;
  at("");
  std::fill(std::begin(free_), std::end(free_), nullptr);
}

void* GrammarMemory::take(size_t bytes) {
  size_t rounded = 0;
  Free*& list = free_[size_class(bytes, &rounded)];
  if (list) {
    Free* const block = list;
    list = block->next;
    return block;
  }
  if (rounded > bytes_ - used_) throw std::bad_alloc();
  uint8_t* const block = base_ + used_;
  used_ += rounded;
  return block;
}

void GrammarMemory::give_back(void* block, size_t bytes) {
  size_t rounded = 0;
  Free*& list = free_[size_class(bytes, &rounded)];
  if (static_cast<uint8_t*>(block) + rounded == base_ + used_) {
    used_ -= rounded;
    return;
  }
  list = new (block) Free{list};
}

}  // namespace linnet::convert
