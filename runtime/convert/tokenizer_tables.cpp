// Tables that a tokenizer blob carries besides its vocabulary: tries, compiled rules, maps of characters.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "../tokenizer/unicode.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

struct MapEntry {
  uint32_t code;
  const char* text;
};
struct CodeRange {
  uint32_t first, last;
};
#include "library_maps.inc"
#include "unicode_maps.inc"

constexpr size_t kMaxRule = 256;         // as in tokenizer/steps.cpp
constexpr size_t kMaxPlaces = 1u << 19;  // of a charsmap's trie; endings may be shared, so there may be more of them than units
constexpr uint32_t kLastCode = 0x10FFFF;

// ---- a double array -----------------------------------------------------------------------------------------------------

class TrieBuilder {
 public:
  explicit TrieBuilder(const std::vector<std::pair<std::string, uint32_t>>& keys) : keys_(keys) {}

  std::vector<uint32_t> run() {
    add_block();
    take(0);
    struct Node {
      size_t begin, end, depth;
      uint32_t at;
    };
    std::vector<Node> todo;
    if (!keys_.empty()) todo.push_back({0, keys_.size(), 0, 0});
    while (!todo.empty()) {
      const Node node = todo.back();
      todo.pop_back();
      // The children: label, and the keys below.
      labels_.clear();
      std::vector<size_t> from;
      for (size_t i = node.begin; i < node.end; ++i) {
        const uint8_t label = keys_[i].first.size() == node.depth ? 0 : static_cast<uint8_t>(keys_[i].first[node.depth]);
        if (!labels_.empty() && labels_.back() == label) continue;
        labels_.push_back(label);
        from.push_back(i);
      }
      from.push_back(node.end);
      const uint32_t base = find_base(node.at);
      const uint32_t relative = node.at ^ base;
      units_[node.at] |= (labels_[0] == 0 ? 1u << 8 : 0u) | (relative < 1u << 21 ? relative << 10 : relative << 2 | 1u << 9);
      for (size_t c = 0; c < labels_.size(); ++c) {
        const uint32_t at = base ^ labels_[c];
        take(at);
        if (labels_[c] == 0) {
          units_[at] = keys_[from[c]].second | 0x80000000u;
        } else {
          units_[at] = labels_[c];
          todo.push_back({from[c], from[c + 1], node.depth + 1, at});
        }
      }
    }
    return std::move(units_);
  }

 private:
  static constexpr uint32_t kBlock = 256, kOpenBlocks = 16;

  void add_block() {
    const uint32_t begin = static_cast<uint32_t>(units_.size());
    units_.resize(begin + kBlock);
    is_base_.resize(begin + kBlock);
    for (uint32_t slot = begin; slot < begin + kBlock; ++slot) free_.push_back(slot);
  }
  void take(uint32_t at) { free_[at] = at + 1; }
  // The first free slot from here on, or the number of slots.
  uint32_t free_from(uint32_t slot) {
    const uint32_t n = static_cast<uint32_t>(free_.size());
    while (slot < n && free_[slot] != slot) {
      if (free_[slot] < n) free_[slot] = free_[free_[slot]];  // the next walk is half as long
      slot = free_[slot];
    }
    return slot;
  }

  bool fits(uint32_t at, uint32_t base) const {
    const uint32_t relative = at ^ base;
    if (relative >= 1u << 21 && (relative & 0xFF)) return false;
    if (is_base_[base]) return false;
    return std::none_of(labels_.begin(), labels_.end(), [this, base](uint8_t label) { return free_[base ^ label] != (base ^ label); });
  }

  // A base of its own, all of whose children are free: in one of the last blocks, or in a new one.
  uint32_t find_base(uint32_t at) {
    const uint32_t n = static_cast<uint32_t>(units_.size());
    uint32_t tries = 0;
    for (uint32_t slot = free_from(n > kOpenBlocks * kBlock ? n - kOpenBlocks * kBlock : 0); slot < n && tries < 512;
         slot = free_from(slot + 1), ++tries) {
      const uint32_t base = slot ^ labels_[0];
      if (!fits(at, base)) continue;
      is_base_[base] = true;
      return base;
    }
    add_block();
    const uint32_t base = n | (at & 0xFF);
    is_base_[base] = true;
    return base;
  }

  const std::vector<std::pair<std::string, uint32_t>>& keys_;
  std::vector<uint8_t> labels_;
  std::vector<uint32_t> units_;
  std::vector<uint32_t> free_;  // a free slot has its own number, a taken one that of a later slot with none that is free between
  std::vector<bool> is_base_;
};

// ---- maps of characters -------------------------------------------------------------------------------------------------

std::string utf8(uint32_t code) {
  char bytes[4];
  return std::string(bytes, tok::put_char(code, bytes));
}

// Ranges from a rule per character: *out is what it becomes, false = itself.
template <class Rule>
NormalStep map_step(const Rule& rule) {
  NormalStep step{tok::kStepMap};
  std::string text;
  for (uint32_t c = 0; c <= kLastCode; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    if (!rule(c, &text)) continue;
    const size_t from = utf8(c).size();
    step.growth = std::max(step.growth, static_cast<uint32_t>((text.size() + from - 1) / from));
    if (!step.map.empty() && step.map.back().last + 1 == c && step.map.back().text == text)
      step.map.back().last = c;
    else
      step.map.push_back({c, c, text});
  }
  return step;
}

template <size_t n>
const char* find_entry(const MapEntry (&table)[n], uint32_t code) {
  const auto* const at = std::lower_bound(table, table + n, code, [](const MapEntry& e, uint32_t c) { return e.code < c; });
  return at != table + n && at->code == code ? at->text : nullptr;
}
template <size_t n>
bool is_among(const CodeRange (&table)[n], uint32_t code) {
  const auto* const behind = std::upper_bound(table, table + n, code, [](uint32_t c, const CodeRange& r) { return c < r.first; });
  return behind != table && code <= behind[-1].last;
}
bool lower(uint32_t code, std::string* out) {
  const char* text = find_entry(kOddLower, code);
  if (!text) text = find_entry(kLower, code);
  if (text) *out = text;
  return text != nullptr;
}

}  // namespace

std::vector<uint32_t> build_trie(const std::vector<std::pair<std::string, uint32_t>>& keys) { return TrieBuilder(keys).run(); }

NormalStep replace_step(tok::StepOp op, std::string from, std::string to) {
  NormalStep step{op};
  const size_t least = op == tok::kStepRuns ? 2 : std::max<size_t>(from.size(), 1);
  if (op == tok::kStepPrepend)
    step.slack = static_cast<uint32_t>(to.size());
  else
    step.growth = std::max(1u, static_cast<uint32_t>((to.size() + least - 1) / least));
  step.from = std::move(from);
  step.to = std::move(to);
  return step;
}

NormalStep lowercase_step() { return map_step(lower); }

NormalStep strip_accents_step() {
  return map_step([](uint32_t c, std::string* out) {
    out->clear();
    return tok::is_kind(tok::char_kind(c), tok::kMarks) != is_among(kOddAccents, c);
  });
}

NormalStep nmt_step() {
  constexpr CodeRange kGone[] = {{1, 8}, {0xB, 0xB}, {0xE, 0x1F}, {0x7F, 0x7F}, {0x8F, 0x8F}, {0x9F, 0x9F}};
  constexpr CodeRange kSpaces[] = {{9, 0xA},         {0xC, 0xD},       {0x1680, 0x1680}, {0x200B, 0x200F},
                                   {0x2028, 0x2029}, {0x2581, 0x2581}, {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};
  return map_step([&](uint32_t c, std::string* out) {
    *out = is_among(kSpaces, c) ? " " : "";
    return !out->empty() || is_among(kGone, c);
  });
}

void add_compatible(bool compose, TokenizerParts* parts) {
  parts->steps.push_back(map_step([](uint32_t c, std::string* out) {
    const char* const text = find_entry(kCompatible, c);
    if (text) *out = text;
    return text != nullptr && !std::binary_search(std::begin(kNotCompatible), std::end(kNotCompatible), c);
  }));
  // What the map made is decomposed already: the step after it lengthens only what the map left alone.
  parts->steps.push_back({compose ? tok::kStepNfc : tok::kStepNfd});
}

void add_bert_normalizer(bool clean, bool strip_accents, bool lowercase, TokenizerParts* parts) {
  if (clean)
    parts->steps.push_back(map_step([](uint32_t c, std::string* out) {
      const tok::CharKind kind = tok::char_kind(c);
      const bool space = c == '\t' || c == '\n' || c == '\r' || (kind == tok::CharKind::kSpace && c >= 0xA0) || c == ' ';
      *out = space ? " " : "";
      const bool control = kind == tok::CharKind::kControl || c == 0 || c == 0xFFFD;
      return c != ' ' && (space || kind == tok::CharKind::kSpace || control != is_among(kOddControls, c));
    }));
  if (strip_accents) parts->steps.push_back({tok::kStepNfd, 0, {}, {}, {}, 3, 0});
  if (!strip_accents && !lowercase) return;
  parts->steps.push_back(map_step([=](uint32_t c, std::string* out) {
    out->clear();
    if (strip_accents && (tok::char_kind(c) == tok::CharKind::kMark) != is_among(kOddMarks, c)) return true;
    return lowercase && lower(c, out);
  }));
}

Status read_charsmap(std::string_view bytes, PathName label, std::vector<uint32_t>* units, std::string_view* texts, uint32_t* growth,
                     Error* err) {
  uint32_t size = 0;
  if (bytes.size() >= 4) std::memcpy(&size, bytes.data(), 4);
  if (bytes.size() < 4 || size % 4 || size > bytes.size() - 4)
    return fail(err, LINNET_BAD_FILE, label, ": the precompiled charsmap has ", bytes.size(), " bytes, its trie ", size);
  units->resize(size / 4);
  if (size) std::memcpy(units->data(), bytes.data() + 4, size);
  *texts = bytes.substr(4 + size);
  // All rules are walked through once.
  const tok::Trie trie{units->data(), static_cast<uint32_t>(units->size())};
  struct Place {
    uint32_t at, depth;
  };
  std::vector<Place> todo{{0, 0}};
  size_t seen = 0;
  *growth = 1;
  while (!todo.empty()) {
    const Place place = todo.back();
    todo.pop_back();
    if (++seen > kMaxPlaces || place.depth > kMaxRule) return fail(err, LINNET_BAD_FILE, label, ": the precompiled charsmap is no trie");
    tok::Trie::Walk here{&trie, place.at};
    if (const int64_t value = here.value(); place.depth && value >= 0) {
      const size_t end = texts->find('\0', static_cast<size_t>(value));
      if (end == texts->npos)
        return fail(err, LINNET_BAD_FILE, label, ": a rule of the precompiled charsmap points at ", value, ", outside it");
      const size_t n = end - static_cast<size_t>(value);
      *growth = std::max(*growth, static_cast<uint32_t>(std::min<size_t>((n + place.depth - 1) / place.depth, 1000)));
    }
    for (uint32_t byte = 1; byte < 256; ++byte) {
      tok::Trie::Walk next = here;
      if (next.step(static_cast<uint8_t>(byte))) todo.push_back({next.at, place.depth + 1});
    }
  }
  return LINNET_OK;
}

}  // namespace linnet::convert
