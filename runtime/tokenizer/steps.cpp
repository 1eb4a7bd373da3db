// The steps of normalising a text, see StepOp. Each reads one buffer and writes another; all are linear.
#include <cstring>

#include "pattern.h"
#include "unicode.h"

namespace linnet::tok {
namespace {

constexpr size_t kMaxRule = 256;     // bytes of a rule's left side; convert refuses longer ones
constexpr size_t kShortCluster = 6;  // clusters of fewer bytes are looked up as a whole

// substr would throw where it is asked for too much.
std::string_view part(std::string_view s, size_t at, size_t n) { return {s.data() + at, n}; }

std::string_view from_of(const Tables& t, uint32_t i) { return {t.normal_text + t.replaces[i].from_at, t.replaces[i].from_bytes}; }
std::string_view to_of(const Tables& t, uint32_t i) { return {t.normal_text + t.replaces[i].to_at, t.replaces[i].to_bytes}; }

void map_chars(const Tables& t, const CharMap& map, std::string_view text, Writer* out) {
  const CharRange* const ranges = t.char_ranges + map.first;
  for (size_t i = 0; i < text.size();) {
    const Char c = next_char(text.data() + i, text.size() - i);
    uint32_t low = 0, high = map.count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (ranges[middle].last < c.code)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < map.count && ranges[low].first <= c.code)
      out->put(t.normal_text + ranges[low].text_at, ranges[low].text_bytes);
    else
      out->put(text.data() + i, c.bytes);
    i += c.bytes;
  }
}

void replace(std::string_view from, std::string_view to, std::string_view text, Writer* out) {
  size_t done = 0;
  for (size_t i = 0; i + from.size() <= text.size();) {
    if (text[i] != from[0] || std::memcmp(text.data() + i, from.data(), from.size()) != 0) {
      ++i;
      continue;
    }
    out->put(text.data() + done, i - done);
    out->put(to.data(), to.size());
    done = i += from.size();
  }
  out->put(text.data() + done, text.size() - done);
}

void replace_runs(std::string_view to, std::string_view text, Writer* out) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] == ' ') ++end;
    if (end - i >= 2) {
      out->put(to.data(), to.size());
      i = end;
      continue;
    }
    end = i + 1;
    while (end < text.size() && text[end] != ' ') ++end;
    out->put(text.data() + i, end - i);
    i = end;
  }
}

// marks: what the pattern's looks need.
void replace_matches(const PatternTables& p, std::string_view to, std::string_view text, uint8_t* marks, Writer* out) {
  PatternMemory memory;
  read_looks(p, text.data(), text.size(), marks);
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    size_t bytes = 0;
    if (!pattern_match(p, text.data(), i, text.size(), marks, &memory, &bytes) || bytes == 0) {
      i += next_char(text.data() + i, text.size() - i).bytes;
      continue;
    }
    out->put(text.data() + done, i - done);
    out->put(to.data(), to.size());
    done = i += bytes;
  }
  out->put(text.data() + done, text.size() - done);
}

void strip(uint32_t sides, std::string_view text, Writer* out) {
  size_t begin = 0, end = text.size();
  while ((sides & 1) && begin < end) {
    const Char c = next_char(text.data() + begin, end - begin);
    if (char_class(c.code) != CharClass::kSpace) break;
    begin += c.bytes;
  }
  if (sides & 2) end = end_space(text.data(), end);
  if (begin < end) out->put(text.data() + begin, end - begin);
}

void squeeze(std::string_view text, Writer* out) {
  bool pending = false;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      pending = out->n != 0;
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && text[end] != ' ') ++end;
    if (pending) out->put(" ", 1);
    out->put(text.data() + i, end - i);
    pending = false;
    i = end;
  }
  // SentencePiece takes U+2581 for the space that it writes for it, at the end.
  for (;;) {
    if (out->n >= 1 && out->out[out->n - 1] == ' ')
      out->n -= 1;
    else if (out->n >= 3 && std::memcmp(out->out + out->n - 3, "\xE2\x96\x81", 3) == 0)
      out->n -= 3;
    else
      break;
  }
}

// The bytes of the match (the longest, or the shortest) that text begins with, 0 = none.
size_t find_rule(const Trie& trie, std::string_view text, bool longest, uint32_t* value) {
  Trie::Walk walk = trie.walk();
  size_t found = 0;
  for (size_t i = 0; i < text.size() && i < kMaxRule && walk.step(static_cast<uint8_t>(text[i])); ++i) {
    const int64_t v = walk.value();
    if (v < 0) continue;
    found = i + 1;
    *value = static_cast<uint32_t>(v);
    if (!longest) break;
  }
  return found;
}

void charsmap(const Tables& t, std::string_view text, Writer* out) {
  const Trie trie = t.trie(kCharsmap);
  for (size_t i = 0; i < text.size();) {
    uint32_t value = 0;
    if (const size_t n = find_rule(trie, part(text, i, text.size() - i), true, &value)) {
      const std::string_view with = t.charsmap_text(value);
      out->put(with.data(), with.size());
      i += n;
      continue;
    }
    const Char c = next_char(text.data() + i, text.size() - i);
    if (c.code == kBadByte)
      out->put("\xEF\xBF\xBD", 3);
    else
      out->put(text.data() + i, c.bytes);
    i += c.bytes;
  }
}

bool extends_cluster(uint32_t c) {
  return is_kind(char_kind(c), kMarks) || c == 0x200C || c == 0x200D || c == 0xE33 || c == 0xEB3 || c == 0xFF9E || c == 0xFF9F ||
         (c >= 0x1F3FB && c <= 0x1F3FF);
}
bool prepends(uint32_t c) { return (c >= 0x600 && c <= 0x605) || c == 0x6DD || c == 0x70F; }
bool breaks(uint32_t c) {
  const CharKind kind = char_kind(c);
  return c < 0x20 || c == 0x85 || c == 0x2028 || c == 0x2029 || c == kBadByte ||
         (kind == CharKind::kControl && !prepends(c) && c != 0x200C && c != 0x200D);
}
// Bytes of the grapheme cluster that the text begins with, as far as kShortCluster asks.
size_t cluster_bytes(std::string_view text) {
  Char c = next_char(text.data(), text.size());
  size_t n = c.bytes;
  if (c.code == '\r' && text.size() > 1 && text[1] == '\n') return 2;
  while (n < text.size() && n < kShortCluster) {
    const Char next = next_char(text.data() + n, text.size() - n);
    if (breaks(c.code) || breaks(next.code) || !(prepends(c.code) || extends_cluster(next.code))) break;
    c = next;
    n += c.bytes;
  }
  return n;
}

void clusters(const Tables& t, std::string_view text, Writer* out) {
  const Trie trie = t.trie(kCharsmap);
  for (size_t i = 0; i < text.size();) {
    const size_t n = cluster_bytes(part(text, i, text.size() - i));
    uint32_t value = 0;
    if (n < kShortCluster && find_rule(trie, part(text, i, n), false, &value)) {
      const std::string_view with = t.charsmap_text(value);
      out->put(with.data(), with.size());
    } else {
      for (size_t at = i; at < i + n;) {
        const Char c = next_char(text.data() + at, text.size() - at);
        const std::string_view one = part(text, at, c.bytes);
        std::string_view with = one;
        if (find_rule(trie, one, false, &value)) with = t.charsmap_text(value);
        out->put(with.data(), with.size());
        at += c.bytes;
      }
    }
    i += n;
  }
}

}  // namespace

void apply_step(const Tables& t, const Step& step, std::string_view text, Writer* out, uint32_t* work) {
  switch (step.op) {
    case kStepNfc:
      return nfc(text.data(), text.size(), out, work);
    case kStepNfd:
      return nfd(text.data(), text.size(), out, work);
    case kStepMap:
      return map_chars(t, t.char_maps[step.arg], text, out);
    case kStepReplace:
      return replace(from_of(t, step.arg), to_of(t, step.arg), text, out);
    case kStepRuns:
      return replace_runs(to_of(t, step.arg), text, out);
    case kStepPrepend: {
      const std::string_view front = to_of(t, step.arg);
      if (text.empty()) return;
      out->put(front.data(), front.size());
      return out->put(text.data(), text.size());
    }
    case kStepStrip:
      return strip(step.arg, text, out);
    case kStepSqueeze:
      return squeeze(text, out);
    case kStepCharsmap:
      return charsmap(t, text, out);
    case kStepClusters:
      return clusters(t, text, out);
    case kStepPattern:
      return replace_matches(t.pattern(step.arg >> 16), to_of(t, step.arg & 0xFFFF), text, reinterpret_cast<uint8_t*>(work), out);
    default:
      return;
  }
}

}  // namespace linnet::tok
