#include "pattern.h"

#include "../../platform/utf8.h"

namespace linnet::tok {
namespace {

uint32_t class_at(const PatternTables& p, uint32_t code) {
  if (code > 0x10FFFF) code = 0x10FFFF;  // a bad byte is as what is no character
  return p.classes[p.blocks[code / kPatternBlock] * kPatternBlock + code % kPatternBlock];
}

// Bytes of the match that begins at `at`, 0 = none. A transition says whether a match ends in front of the character that it reads, so
// that a condition on the next character costs nothing.
size_t match(const PatternTables& p, const char* text, size_t at, size_t n, PatternMemory* memory) {
  const uint32_t width = p.n_classes + 1;
  size_t i = at, end = at, same_from = at;  // since the last match nothing but `state` from same_from on
  uint32_t state = kPatternStart;
  for (;;) {
    if (state == memory->state && i >= memory->from && i <= memory->to) break;
    Char c = {0, 0};
    uint32_t kind = p.n_classes;  // the end of the text
    if (i < n) {
      c = next_char(text + i, n - i);
      kind = class_at(p, c.code);
    }
    const uint32_t next = p.next[state * width + kind], to = next & ~uint32_t{kPatternMatch};
    if (next & kPatternMatch) end = i;
    if (to == 0 || i == n) {
      if (!(next & kPatternMatch) && i > memory->to) *memory = {state, same_from, i, memory->steps};
      break;
    }
    i += c.bytes;
    if (to != state || (next & kPatternMatch)) same_from = i;
    state = to;
  }
  memory->steps += i - at;
  return end - at;
}

}  // namespace

size_t pattern_bytes(const PatternTables& p, const char* text, size_t at, size_t n, PatternMemory* memory, bool* dropped) {
  size_t bytes = match(p, text, at, n, memory), end = at + bytes;
  const bool matched = bytes != 0;
  *dropped = matched ? p.mode == kPatternDropMatches : p.mode == kPatternDropGaps;
  if (matched && p.mode == kPatternContiguous)
    while (end < n && (bytes = match(p, text, end, n, memory)) != 0) end += bytes;
  if (matched && p.mode != kPatternWithGap) return end - at;
  bytes = 0;  // of the match behind the gap
  while (end < n && (bytes = match(p, text, end, n, memory)) == 0) end += next_char(text + end, n - end).bytes;
  return end - at + (p.mode == kPatternGapWith ? bytes : 0);
}

}  // namespace linnet::tok
