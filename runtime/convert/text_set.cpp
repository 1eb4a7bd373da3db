#include "text_set.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;  // of the second set: no text goes on

// Pairs of states, where one may be none.
bool together(const TextSet& a, const TextSet& b, bool both, TextSet* out) {
  *out = {};
  if (a.edges.empty()) return true;
  if (b.edges.empty()) return both ? true : (*out = a, true);
  Map<std::pair<uint32_t, uint32_t>, uint32_t> known;
  Vector<std::pair<uint32_t, uint32_t>> pairs;
  const auto state_of = [&](uint32_t i, uint32_t j) {
    const auto [at, is_new] = known.try_emplace({i, j}, static_cast<uint32_t>(pairs.size()));
    if (is_new) {
      pairs.emplace_back(i, j);
      const bool second = j != kNone && b.accepts[j];
      out->accepts.push_back(a.accepts[i] && second == both);
      out->edges.emplace_back();
    }
    return at->second;
  };
  state_of(0, 0);
  for (size_t k = 0; k < pairs.size(); ++k) {
    if (pairs.size() > TextSet::kMaxStates) return false;
    const auto [i, j] = pairs[k];
    const auto put = [&, k = k](uint32_t lo, uint32_t hi, uint32_t to, uint32_t other) {
      if (lo > hi) return;
      const uint32_t state = state_of(to, other);
      out->edges[k].push_back({static_cast<uint8_t>(lo), static_cast<uint8_t>(hi), state});
    };
    for (const TextSet::Edge& e : a.edges[i]) {
      uint32_t next = e.lo;
      for (size_t n = 0; j != kNone && n < b.edges[j].size(); ++n) {
        const TextSet::Edge& f = b.edges[j][n];
        const uint32_t lo = std::max<uint32_t>(next, f.lo), hi = std::min(e.hi, f.hi);
        if (lo > hi || f.hi < next) continue;
        if (!both && lo > next) put(next, lo - 1, e.to, kNone);
        put(lo, hi, e.to, f.to);
        next = hi + 1;
      }
      if (!both && next <= e.hi) put(next, e.hi, e.to, kNone);
    }
  }
  return true;
}

}  // namespace

bool in_both(const TextSet& a, const TextSet& b, TextSet* out) { return together(a, b, true, out); }
bool in_first(const TextSet& a, const TextSet& b, TextSet* out) { return together(a, b, false, out); }

void add_texts(Automaton* a, uint32_t from, uint32_t to, const TextSet& texts) {
  Vector<uint32_t> nodes;
  for (size_t i = 0; i < texts.edges.size(); ++i) nodes.push_back(a->node());
  if (!nodes.empty()) a->skip(from, nodes[0]);
  for (size_t i = 0; i < nodes.size() && !a->full(); ++i) {
    if (texts.accepts[i]) a->skip(nodes[i], to);
    for (const TextSet::Edge& e : texts.edges[i]) a->bytes(nodes[i], nodes[e.to], e.lo, e.hi);
  }
}

}  // namespace linnet::convert
