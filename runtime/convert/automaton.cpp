#include "automaton.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "../../platform/utf8.h"
#include "../sampling/grammar.h"
#include "text_set.h"

namespace linnet::convert {

uint32_t Automaton::node() {
  if (!full()) heads_.push_back(kNowhere);
  return static_cast<uint32_t>(heads_.size() - 1);
}

constexpr size_t kMaxParts = 1024;

void Automaton::part(uint32_t from, const String& place) {
  const uint32_t n = n_nodes() - from;
  if (n < n_nodes() / 256) return;
  // What is repeated is built several times.
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.place == place; });
  if (same != parts_.end())
    same->n_nodes += n;
  else if (n >= n_nodes() / 4 && parts_.size() < kMaxParts)
    parts_.push_back({n, place});
}

const char* Automaton::largest() const {
  const Part* best = nullptr;
  for (const Part& p : parts_)
    if (p.n_nodes >= n_nodes() / 2 && (!best || p.n_nodes < best->n_nodes)) best = &p;
  return best ? best->place.c_str() : "";
}

void Automaton::add(uint32_t from, const Arc& arc) {
  if (full()) return;
  arcs_.push_back(arc);
  arcs_.back().next = heads_[from];
  heads_[from] = static_cast<uint32_t>(arcs_.size() - 1);
}

void Automaton::skip(uint32_t from, uint32_t to) { add(from, {to, kNowhere, 0, 0, false, false}); }
void Automaton::bytes(uint32_t from, uint32_t to, uint8_t lo, uint8_t hi) { add(from, {to, kNowhere, lo, hi, true, own_}); }

uint32_t Automaton::rule(uint32_t start, uint32_t end, String name) {
  rules_.push_back({start, end, std::move(name)});
  return static_cast<uint32_t>(rules_.size() - 1);
}
void Automaton::call(uint32_t from, uint32_t to, uint32_t rule, uint32_t least, uint32_t most) {
  if (full()) return;
  calls_.push_back({to, rule, least, most});
  Arc arc{static_cast<uint32_t>(calls_.size() - 1), kNowhere, 0, 0, false, false};
  arc.calls = true;
  add(from, arc);
}

bool Automaton::reads(uint32_t from, uint32_t to, std::string_view s) const {
  Vector<uint32_t> here = {from}, next;
  Vector<size_t> seen(heads_.size(), 0);  // at which place a node was come to last, counted from 1
  for (size_t at = 0;; ++at) {
    for (const uint32_t node : here) seen[node] = at + 1;
    next.clear();
    for (size_t i = 0; i < here.size(); ++i)
      for (uint32_t a = heads_[here[i]]; a != kNowhere; a = arcs_[a].next) {
        const Arc& arc = arcs_[a];
        if (!arc.reads && !arc.calls && seen[arc.to] != at + 1) seen[arc.to] = at + 1, here.push_back(arc.to);
        if (arc.reads && at < s.size() && static_cast<uint8_t>(s[at]) >= arc.lo && static_cast<uint8_t>(s[at]) <= arc.hi)
          next.push_back(arc.to);
      }
    if (at == s.size()) return std::find(here.begin(), here.end(), to) != here.end();
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    here.swap(next);
  }
}

uint32_t Automaton::text(uint32_t from, std::string_view s) {
  for (const char c : s) {
    const uint32_t to = node();
    bytes(from, to, static_cast<uint8_t>(c), static_cast<uint8_t>(c));
    from = to;
  }
  return from;
}

void Automaton::between(uint32_t from, uint32_t to, std::string_view lo, std::string_view hi, uint8_t least, uint8_t most) {
  const uint8_t a = static_cast<uint8_t>(lo[0]), b = static_cast<uint8_t>(hi[0]);
  if (lo.size() == 1) return bytes(from, to, a, b);
  const String lowest(lo.size() - 1, static_cast<char>(least)), highest(lo.size() - 1, static_cast<char>(most));
  // The bytes whose rest is free stand between those whose rest is bounded below and above.
  const bool low_free = lo.substr(1) == lowest, high_free = hi.substr(1) == highest;
  // What leads to the same node by the same bytes stands once.
  const auto part = [&](uint8_t first, uint8_t last, std::string_view from_rest, std::string_view to_rest) {
    String key = String(from_rest) + String(to_rest);
    key += {static_cast<char>(least), static_cast<char>(most), static_cast<char>(own_)};
    const auto [at, is_new] = rests_.try_emplace({to, std::move(key)}, 0);
    if (is_new) at->second = node();
    const uint32_t mid = at->second;
    bytes(from, mid, first, last);
    if (is_new) between(mid, to, from_rest, to_rest, least, most);
  };
  if (a == b) return part(a, b, lo.substr(1), hi.substr(1));
  if (!low_free) part(a, a, lo.substr(1), highest);
  if (!high_free) part(b, b, lowest, hi.substr(1));
  const int first = a + !low_free, last = b - !high_free;
  if (first <= last) part(static_cast<uint8_t>(first), static_cast<uint8_t>(last), lowest, highest);
}

void Automaton::utf8(uint32_t from, uint32_t to, CharRange range) {
  static constexpr CharRange kLengths[] = {
      {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}};  // no surrogates
  const auto encode = [](uint32_t c) {
    String s;
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
    s += static_cast<char>(kLead[more] | c >> 6 * more);
    for (int i = more; i-- > 0;) s += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
    return s;
  };
  for (const CharRange& l : kLengths) {
    const uint32_t first = std::max(l.first, range.first), last = std::min(l.last, range.last);
    if (first <= last) between(from, to, encode(first), encode(last), 0x80, 0xBF);
  }
}

void Automaton::json_char(uint32_t from, uint32_t to) {
  for (const CharRange& r : {CharRange{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x10FFFF}}) utf8(from, to, r);
  const uint32_t escape = node();
  bytes(from, escape, '\\', '\\');
  json_escape(escape, to);
}

void Automaton::json_escape(uint32_t escape, uint32_t to) {
  const uint32_t u = node();
  for (const char c : std::string_view("\"\\/bfnrt")) bytes(escape, to, static_cast<uint8_t>(c), static_cast<uint8_t>(c));
  bytes(escape, u, 'u', 'u');
  const auto hex = [this](uint32_t a, uint32_t b, int least, int most) {
    for (int v = least; v <= most; ++v) {
      const char digit = "0123456789abcdef"[v];
      bytes(a, b, static_cast<uint8_t>(digit), static_cast<uint8_t>(digit));
      if (v > 9) bytes(a, b, static_cast<uint8_t>(digit - 32), static_cast<uint8_t>(digit - 32));
    }
  };
  // \uXXXX, where one of D800 to DBFF stands before one of DC00 to DFFF.
  const uint32_t left3 = node(), left2 = node(), left1 = node(), d = node(), high2 = node(), high1 = node(), high = node();
  hex(u, left3, 0, 0xC);
  hex(u, left3, 0xE, 0xF);
  hex(left3, left2, 0, 15);
  hex(left2, left1, 0, 15);
  hex(left1, to, 0, 15);
  hex(u, d, 0xD, 0xD);
  hex(d, left2, 0, 7);
  hex(d, high2, 8, 0xB);
  hex(high2, high1, 0, 15);
  hex(high1, high, 0, 15);
  const uint32_t low = text(high, "\\u"), low_d = node();
  hex(low, low_d, 0xD, 0xD);
  hex(low_d, left2, 0xC, 0xF);
}

void Automaton::json_char_of(uint32_t from, uint32_t to, const Vector<CharRange>& ranges) {
  for (const CharRange& r : ranges) {
    for (const CharRange& plain : {CharRange{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0x10FFFF}}) {
      const CharRange both{std::max(r.first, plain.first), std::min(r.last, plain.last)};
      if (both.first <= both.last) utf8(from, to, both);
    }
    for (uint32_t c = r.first; c <= r.last && c <= '\\'; ++c) {
      static constexpr std::string_view kEscaped = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
      const size_t at = kEscaped.find(static_cast<char>(c));
      if (c >= 0x20 && at == kEscaped.npos) continue;
      String s = "\\";
      if (at != kEscaped.npos)
        s += kLetters[at];
      else
        s += {'u', '0', '0', static_cast<char>('0' + c / 16), "0123456789abcdef"[c % 16]};
      skip(text(from, s), to);
    }
  }
}

void Automaton::python_char(uint32_t from, uint32_t to, char quote, const Vector<CharRange>& ranges) {
  const uint32_t other = static_cast<uint8_t>(quote);
  for (const CharRange& r : ranges) {
    for (const CharRange& plain : all_but({{0, 0x1F}, {other, other}, {'\\', '\\'}})) {
      const CharRange both{std::max(r.first, plain.first), std::min(r.last, plain.last)};
      if (both.first <= both.last) utf8(from, to, both);
    }
    for (const auto& [code, letter] : {std::pair<uint32_t, char>{other, quote}, {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}})
      if (r.first <= code && code <= r.last) skip(text(from, String{'\\', letter}), to);
  }
}

namespace {
constexpr uint32_t kBlanks = 0x110000;  // in a mark: white space, or none
bool is_blank(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
Vector<uint32_t> pieces_of(std::string_view mark) {
  Vector<uint32_t> out;
  for (size_t at = 0; at < mark.size();) {
    const Char c = next_char(mark.data() + at, mark.size() - at);
    at += c.bytes;
    const bool exact = at == mark.size() || (at == c.bytes && c.code == '\n');  // the last one, and a line end in front
    const uint32_t code = is_blank(c.code) && !exact ? kBlanks : c.code;
    if (code == '<' && !out.empty() && out.back() == '>') out.push_back(kBlanks);
    if (code != kBlanks || out.empty() || out.back() != kBlanks) out.push_back(code);
  }
  return out;
}
}  // namespace

// A node for each set of places in marks that the text may be at.
void Automaton::until(uint32_t from, const Vector<Mark>& marks, uint32_t end, bool json) {
  using Places = Vector<std::pair<size_t, size_t>>;  // mark, how many of its pieces were read
  Vector<Vector<uint32_t>> pieces;
  for (const Mark& m : marks) pieces.push_back(pieces_of(m.text));
  const auto put = [&](Places* places, size_t m, size_t at) {
    places->emplace_back(m, at);
    if (at < pieces[m].size() && pieces[m][at] == kBlanks) places->emplace_back(m, at + 1);
  };
  Map<Places, uint32_t> nodes;
  Vector<Places> open;
  const auto node_of = [&](Places places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto [at, is_new] = nodes.try_emplace(places, 0);
    if (is_new) {
      at->second = node();
      open.push_back(places);
      if (end != kNowhere) skip(at->second, end);
    }
    return at->second;
  };
  Places anywhere, first;
  for (size_t m = 0; m < marks.size(); ++m) {
    put(&first, m, 0);
    if (!marks[m].in_front) put(&anywhere, m, 0);
  }
  skip(from, node_of(first));
  // inside of a JSON text: an escape is none of a mark's characters
  const uint32_t escape = json ? node() : kNowhere;
  if (json) json_escape(escape, node_of(anywhere));
  Vector<CharRange> never;
  if (json) never = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  while (!open.empty() && !full()) {
    const Places places = open.back();
    open.pop_back();
    const uint32_t here = nodes[places];
    Vector<uint32_t> known;
    for (const auto& [m, at] : places) {
      if (pieces[m][at] != kBlanks) known.push_back(pieces[m][at]);
      if (pieces[m][at] == kBlanks) known.insert(known.end(), {' ', '\t', '\n', '\v', '\f', '\r'});
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    Vector<CharRange> others = never;
    if (json) bytes(here, escape, '\\', '\\');
    for (const uint32_t c : known) {
      others.push_back({c, c});
      if (json && (c < 0x20 || c == '"' || c == '\\')) continue;
      Places next = anywhere;
      const Mark* whole = nullptr;
      for (const auto& [m, at] : places) {
        if (pieces[m][at] == kBlanks && is_blank(c)) put(&next, m, at);
        if (pieces[m][at] != c) continue;
        if (at + 1 < pieces[m].size())
          put(&next, m, at + 1);
        else if (!whole)
          whole = &marks[m];
      }
      own_ = true;
      if (!whole)
        utf8(here, node_of(std::move(next)), {c, c});
      else if (whole->to != kNowhere)
        utf8(here, whole->to, {c, c});
      own_ = false;
    }
    const uint32_t back = node_of(anywhere);
    for (const CharRange& r : all_but(others)) utf8(here, back, r);
  }
}

Vector<CharRange> merged(Vector<CharRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CharRange& a, const CharRange& b) { return a.first < b.first; });
  Vector<CharRange> out;
  for (const CharRange& r : ranges) {
    if (!out.empty() && r.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, r.last);
    else
      out.push_back(r);
  }
  return out;
}

Vector<CharRange> all_but(const Vector<CharRange>& ranges) {
  Vector<CharRange> out;
  uint32_t next = 0;
  for (const CharRange& r : merged(ranges)) {
    if (next < r.first) out.push_back({next, r.first - 1});
    next = r.last + 1;
  }
  if (next <= 0x10FFFF) out.push_back({next, 0x10FFFF});
  return out;
}

// Rules that may read nothing: their ends are come to by what reads nothing, calls of such rules among it.
void Automaton::find_empty(Vector<Rule>* rules) const {
  Vector<size_t> seen(heads_.size(), 0);
  size_t round = 0;
  for (bool more = true; more;) {
    more = false;
    for (Rule& r : *rules) {
      if (r.empty) continue;
      ++round;
      Vector<uint32_t> open = {r.start};
      while (!open.empty() && !r.empty) {
        const uint32_t i = open.back();
        open.pop_back();
        if (seen[i] == round) continue;
        seen[i] = round;
        if (i == r.end) r.empty = more = true;
        for (uint32_t a = heads_[i]; a != kNowhere; a = arcs_[a].next) {
          const Arc& arc = arcs_[a];
          if (arc.calls && (!calls_[arc.to].least || (*rules)[calls_[arc.to].rule].empty)) open.push_back(calls_[arc.to].to);
          if (!arc.calls && !arc.reads) open.push_back(arc.to);
        }
      }
    }
  }
}

// Sets of nodes become states, in the order in which they are met.
class Determiner {
 public:
  Determiner(const Automaton& a, uint32_t end, Vector<Automaton::Rule> rules)
      : a_(a), rules_(std::move(rules)), ends_(a.heads_.size(), false), seen_(a.heads_.size(), 0) {
    ends_[end] = true;
    for (const Automaton::Rule& r : rules_) ends_[r.end] = true;
  }

  struct Edge {
    uint8_t lo, hi;
    bool own;
    uint32_t to;
  };
  Vector<Vector<Edge>> edges;
  Vector<bool> accepts;
  Vector<uint32_t> began;        // states of the starts
  Vector<GrammarCall> calls;     // in order of `from`
  const String* left = nullptr;  // a rule that begins with itself

  // The first states are those of `starts`, if no two are the same.
  bool run(const Vector<uint32_t>& starts) {
    for (const uint32_t start : starts) began.push_back(state_of({start}));
    for (size_t i = 0; i < sets_.size(); ++i)
      if (!leave(i)) return false;
    return !left_recursion();
  }

  // States from which no text ends are left out; false where the first is one.
  bool trim() {
    const size_t n = edges.size();
    Vector<Vector<uint32_t>> back(n), back_calls(n);
    Vector<uint32_t> open, name(n, 0);
    Vector<bool> live = accepts;
    for (uint32_t i = 0; i < n; ++i) {
      for (const Edge& e : edges[i]) back[e.to].push_back(i);
      if (live[i]) open.push_back(i);
    }
    for (uint32_t i = 0; i < calls.size(); ++i)
      for (const uint32_t j : {calls[i].start, calls[i].to}) back_calls[j].push_back(i);
    while (!open.empty()) {
      const uint32_t i = open.back();
      open.pop_back();
      const auto mark = [&](uint32_t j) {
        if (!live[j]) live[j] = true, open.push_back(j);
      };
      for (const uint32_t j : back[i]) mark(j);
      for (const uint32_t c : back_calls[i])
        if (live[calls[c].start] && live[calls[c].to]) mark(calls[c].from);
    }
    for (const uint32_t i : began)
      if (!live[i]) return false;
    uint32_t n_left = 0;
    for (size_t i = 0; i < n; ++i) name[i] = live[i] ? n_left++ : 0;
    for (size_t i = 0; i < n; ++i) {
      if (!live[i]) continue;
      Vector<Edge> kept;
      for (const Edge& e : edges[i]) {
        if (!live[e.to]) continue;
        if (!kept.empty() && kept.back().to == name[e.to] && kept.back().hi + 1 == e.lo && kept.back().own == e.own)
          kept.back().hi = e.hi;
        else
          kept.push_back({e.lo, e.hi, e.own, name[e.to]});
      }
      edges[name[i]] = std::move(kept);
      accepts[name[i]] = accepts[i];
    }
    edges.resize(n_left);
    accepts.resize(n_left);
    for (uint32_t& i : began) i = name[i];
    std::erase_if(calls, [&](const GrammarCall& c) { return !live[c.from] || !live[c.start] || !live[c.to]; });
    for (GrammarCall& c : calls) c.from = name[c.from], c.start = name[c.start], c.to = name[c.to];
    return true;
  }

 private:
  static constexpr size_t kMaxWork = size_t{1} << 24;  // nodes looked at, for all sets

  // The state of a set of nodes and all that they skip to. called: where a call begins, which reads something: what may read nothing is
  // passed by where it is called.
  uint32_t state_of(Vector<uint32_t> nodes, bool called = false) {
    ++round_;
    Vector<uint32_t> key;
    bool end = false;
    while (!nodes.empty()) {
      const uint32_t i = nodes.back();
      nodes.pop_back();
      if (seen_[i] == round_) continue;
      seen_[i] = round_;
      end |= ends_[i];
      bool reads = ends_[i];
      for (uint32_t arc = a_.heads_[i]; arc != kNowhere; arc = a_.arcs_[arc].next) {
        const Automaton::Arc& one = a_.arcs_[arc];
        reads |= one.reads || one.calls;
        if (one.calls && may_pass(a_.calls_[one.to])) nodes.push_back(a_.calls_[one.to].to);
        if (!one.calls && !one.reads) nodes.push_back(one.to);
      }
      ++work_;
      if (reads) key.push_back(i);
    }
    std::sort(key.begin(), key.end());
    if (end && called) key.push_back(kNowhere), end = false;
    const auto [at, is_new] = known_.try_emplace(key, static_cast<uint32_t>(sets_.size()));
    if (is_new) {
      sets_.push_back(&at->first);
      accepts.push_back(end);
      edges.emplace_back();
    }
    return at->second;
  }

  bool leave(size_t state) {
    Vector<Automaton::Arc> arcs;
    Map<std::array<uint32_t, 3>, Vector<uint32_t>> called;  // rule, least, most; where what they read leads
    bool cut[257] = {};
    for (const uint32_t i : *sets_[state]) {
      if (i == kNowhere) continue;
      for (uint32_t arc = a_.heads_[i]; arc != kNowhere; arc = a_.arcs_[arc].next) {
        const Automaton::Arc& one = a_.arcs_[arc];
        if (one.reads) {
          arcs.push_back(one);
          cut[one.lo] = cut[one.hi + 1] = true;
        } else if (one.calls) {
          const Automaton::Call& c = a_.calls_[one.to];
          const uint32_t least = rules_[c.rule].empty || !c.least ? 1 : c.least;
          called[{c.rule, least, c.most ? c.most : kGrammarNoEnd}].push_back(c.to);
        }
      }
    }
    if (called.size() > kMaxThreads) return false;
    for (auto& [c, to] : called) {
      work_ += to.size();
      const uint32_t start = state_of({rules_[c[0]].start}, true);
      calls.push_back({static_cast<uint32_t>(state), start, state_of(std::move(to)), c[1], c[2]});
      rule_of_[start] = c[0];
      if (calls.size() > kGrammarMaxCalls) return false;
    }
    for (int lo = 0, hi = 0; lo < 256; lo = hi) {
      for (hi = lo + 1; hi < 256 && !cut[hi];) ++hi;
      Vector<uint32_t> to;
      bool own = false;
      for (const Automaton::Arc& arc : arcs)
        if (arc.lo <= lo && lo <= arc.hi) to.push_back(arc.to), own |= arc.own;
      work_ += arcs.size();
      if (to.empty()) continue;
      const uint32_t next = state_of(std::move(to));
      if (sets_.size() > kGrammarMaxStates || work_ > kMaxWork) return false;
      edges[state].push_back({static_cast<uint8_t>(lo), static_cast<uint8_t>(hi - 1), own, next});
    }
    return true;
  }

  bool may_pass(const Automaton::Call& c) const { return c.least == 0 || rules_[c.rule].empty; }

  // Whether a rule is called where it begins itself, by itself or by rules between.
  bool left_recursion() {
    Map<uint32_t, Vector<uint32_t>> begins;  // a rule's first state, those of rules that it begins with
    for (const GrammarCall& c : calls)
      if (rule_of_.contains(c.from)) begins[c.from].push_back(c.start);
    Map<uint32_t, bool> open;  // false: done
    for (const auto& [state, rule] : rule_of_) {
      Vector<std::pair<uint32_t, size_t>> path;
      const auto enter = [&](uint32_t s) {
        const auto [at, is_new] = open.try_emplace(s, true);
        if (!is_new) {
          if (at->second) left = &rules_[rule_of_[s]].name;
          return;
        }
        path.push_back({s, 0});
      };
      enter(state);
      left = nullptr;  // it was done before
      while (!path.empty() && !left) {
        auto& [s, next] = path.back();
        const Vector<uint32_t>& to = begins[s];
        if (next == to.size()) {
          open[s] = false;
          path.pop_back();
        } else {
          const uint32_t t = to[next++];
          enter(t);
        }
      }
      if (left) return true;
    }
    return false;
  }

  const Automaton& a_;
  const Vector<Automaton::Rule> rules_;
  Map<uint32_t, uint32_t> rule_of_;  // of first states of calls
  Vector<bool> ends_;                // nodes
  Vector<uint32_t> seen_;
  uint32_t round_ = 0;
  size_t work_ = 0;
  Map<Vector<uint32_t>, uint32_t> known_;
  Vector<const Vector<uint32_t>*> sets_;
};

bool texts_of(const Automaton& a, uint32_t from, uint32_t to, TextSet* out) {
  *out = {};
  Determiner d(a, to, {});
  if (a.full() || !d.run({from}) || d.edges.size() > TextSet::kMaxStates) return false;
  if (!d.trim()) return true;
  out->accepts = d.accepts;
  for (const auto& edges : d.edges) {
    out->edges.emplace_back();
    for (const Determiner::Edge& e : edges) out->edges.back().push_back({e.lo, e.hi, e.to});
  }
  return true;
}

Status Automaton::compile(uint32_t start, uint32_t end, const Vector<Start>& starts, const char* name, Vector<uint8_t>* out,
                          Error* err) const {
  const char *const place = largest(), *const colon = *place ? ": " : "";
  GrammarMemory* const memory = GrammarMemory::here();
  if (memory) memory->at(place);
  Vector<Rule> rules = rules_;
  find_empty(&rules);
  Determiner d(*this, end, std::move(rules));
  Vector<uint32_t> nodes = {start};
  for (const Start& s : starts) nodes.push_back(s.node);
  const bool done = !full() && d.run(nodes);
  if (d.left) return fail(err, LINNET_UNSUPPORTED, name, ": ", *d.left, " begins with itself: left recursion is not supported");
  if (!done)
    return fail(err, LINNET_UNSUPPORTED, name, colon, place, ": the grammar has more than ", kGrammarMaxStates,
                " states, or takes too long to make");
  if (!d.trim()) return fail(err, LINNET_BAD_FILE, name, ": no text obeys it");
  Vector<uint32_t> first;
  Vector<GrammarEdge> edges;
  bool wide = !starts.empty() || !d.calls.empty();
  for (size_t i = 0; i < d.edges.size(); ++i) {
    first.push_back(static_cast<uint32_t>(edges.size()) | (d.accepts[i] ? kGrammarAccepts : 0));
    for (const Determiner::Edge& e : d.edges[i]) {
      edges.push_back({e.lo, e.hi, e.own, e.to});
      wide |= e.own;
    }
  }
  first.push_back(static_cast<uint32_t>(edges.size()));
  uint32_t most = wide ? kGrammarMaxStates : kNarrowMaxStates;
  if (memory) most = std::min(most, memory->max_states());
  if (d.edges.size() > most) return fail(err, LINNET_UNSUPPORTED, name, colon, place, ": the grammar has more than ", most, " states");
  if (edges.size() > kGrammarMaxEdges)
    return fail(err, LINNET_UNSUPPORTED, name, colon, place, ": the grammar has more than ", kGrammarMaxEdges, " edges");
  const GrammarHeader h{kGrammarMagic,
                        !d.calls.empty() ? kGrammarVersion
                        : wide           ? 2u
                                         : 1u,
                        static_cast<uint32_t>(d.edges.size()), static_cast<uint32_t>(edges.size())};
  out->clear();
  const auto put = [out](const void* data, size_t bytes) {
    const size_t at = out->size();
    out->resize(at + bytes);
    if (bytes) std::memcpy(out->data() + at, data, bytes);
  };
  put(&h, sizeof h);
  put(first.data(), first.size() * sizeof first[0]);
  if (!wide) {
    for (const GrammarEdge& e : edges) {
      const NarrowGrammarEdge narrow{e.lo, e.hi, static_cast<uint16_t>(e.to)};
      put(&narrow, sizeof narrow);
    }
    return LINNET_OK;
  }
  put(edges.data(), edges.size() * sizeof(GrammarEdge));
  GrammarStarts s = {};
  for (; s.n < starts.size() && s.n < kGrammarMaxStarts; ++s.n) {
    s.state[s.n] = d.began[s.n + 1];
    starts[s.n].mark.copy(s.mark[s.n], sizeof s.mark[0] - 1);
  }
  put(&s, sizeof s);
  if (d.calls.empty()) return LINNET_OK;
  const uint32_t n_calls = static_cast<uint32_t>(d.calls.size());
  put(&n_calls, sizeof n_calls);
  put(d.calls.data(), d.calls.size() * sizeof(GrammarCall));
  return LINNET_OK;
}

}  // namespace linnet::convert
