#include "pattern.h"

#include "../../platform/utf8.h"

namespace linnet::tok {
namespace {

constexpr uint32_t kNoStart = 0xFF;  // no class: of bytes inside a character

uint32_t class_at(const PatternTables& p, uint32_t code) {
  if (code > 0x10FFFF) code = 0x10FFFF;  // a bad byte is as what is no character
  return p.classes[p.blocks[code / kPatternBlock] * kPatternBlock + code % kPatternBlock];
}

}  // namespace

// marks[i]: a bit for each look; behind them the class of the character that begins there.
void read_looks(const PatternTables& p, const char* text, size_t n, uint8_t* marks) {
  if (p.n_looks == 0) return;
  uint8_t* const kinds = marks + n + 1;
  for (size_t i = 0; i < n;) {
    const Char c = next_char(text + i, n - i);
    kinds[i] = static_cast<uint8_t>(class_at(p, c.code));
    for (uint32_t k = 1; k < c.bytes; ++k) kinds[i + k] = kNoStart;
    i += c.bytes;
  }
  for (size_t i = 0; i <= n; ++i) marks[i] = 0;
  for (uint32_t k = 0; k < p.n_looks; ++k) {
    const Look& look = p.looks[k];
    const uint16_t* const all = p.all_next + look.next_at;
    uint32_t state = 0;
    for (size_t step = 0; step <= n; ++step) {
      const size_t i = look.ahead ? n - step : step;
      const uint32_t kind = i < n ? kinds[i] : p.n_classes;
      if (i < n && kind == kNoStart) continue;
      const uint32_t next = all[state * ((p.n_classes + 1) << k) + (kind << k | marks[i])];
      if (next & kPatternMatch) marks[i] = static_cast<uint8_t>(marks[i] | 1u << k);
      state = next & ~uint32_t{kPatternMatch};
    }
  }
}

// A transition says whether a match ends in front of the character that it reads, so that a condition on the next character costs nothing.
bool pattern_match(const PatternTables& p, const char* text, size_t at, size_t n, const uint8_t* marks, PatternMemory* memory,
                   size_t* bytes) {
  const uint32_t width = (p.n_classes + 1) << p.n_looks;
  size_t i = at, end = at, same_from = at;  // since the last match nothing but `state` from same_from on
  bool found = false;
  uint32_t state = kPatternStart;
  for (;;) {
    if (state == memory->state && i >= memory->from && i <= memory->to) break;
    Char c = {0, 0};
    uint32_t kind = p.n_classes;  // the end of the text
    if (i < n) {
      c = next_char(text + i, n - i);
      kind = class_at(p, c.code);
    }
    if (p.n_looks) kind = kind << p.n_looks | marks[i];
    const uint32_t next = p.next[state * width + kind], to = next & ~uint32_t{kPatternMatch};
    if (next & kPatternMatch) end = i, found = true;
    if (to == 0 || i == n) {
      if (!(next & kPatternMatch) && i > memory->to) *memory = {state, same_from, i, memory->steps};
      break;
    }
    i += c.bytes;
    if (to != state || (next & kPatternMatch)) same_from = i;
    state = to;
  }
  memory->steps += i - at;
  *bytes = end - at;
  return found;
}

size_t pattern_bytes(const PatternTables& p, const char* text, size_t at, size_t n, const uint8_t* marks, PatternMemory* memory,
                     bool* dropped) {
  size_t bytes = 0;
  const auto match = [&](size_t from) { return pattern_match(p, text, from, n, marks, memory, &bytes); };
  const bool matched = match(at) && bytes;
  size_t end = at + bytes;
  *dropped = matched ? p.mode == kPatternDropMatches : p.mode == kPatternDropGaps;
  if (matched && p.mode == kPatternContiguous)
    while (end < n && match(end) && bytes) end += bytes;
  if (matched && p.mode != kPatternWithGap) return end - at;
  // A match of nothing ends a gap, too, but not where that begins.
  if (!matched) end += next_char(text + end, n - end).bytes;
  bytes = 0;  // of the match behind the gap
  while (end < n && !match(end)) end += next_char(text + end, n - end).bytes;
  return end - at + (p.mode == kPatternGapWith && end < n ? bytes : 0);
}

}  // namespace linnet::tok
