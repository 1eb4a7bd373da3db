// Grammars as tests read them, and schemas as the specification has them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/sampling/grammar.h"
#include "tests/catch2.h"

namespace test {

using nlohmann::json;

// The automaton, read by the documented layout alone.
struct Texts {
  std::vector<uint8_t> blob;
  linnet::GrammarHeader h{};
  std::vector<uint32_t> first;
  std::vector<linnet::GrammarEdge> edges;
  linnet::GrammarStarts starts{};
  std::vector<linnet::GrammarCall> calls;

  explicit Texts(std::vector<uint8_t> b) : blob(std::move(b)) {
    std::memcpy(&h, blob.data(), sizeof h);
    first.resize(h.n_states + 1);
    edges.resize(h.n_edges);
    const bool wide = h.version > 1;
    const size_t edge = wide ? sizeof(linnet::GrammarEdge) : sizeof(linnet::NarrowGrammarEdge);
    const size_t behind = sizeof h + first.size() * 4 + edges.size() * edge + (wide ? sizeof starts : 0);
    if (h.version > 2) {
      uint32_t n = 0;
      REQUIRE(blob.size() >= behind + sizeof n);
      std::memcpy(&n, blob.data() + behind, sizeof n);
      calls.resize(n);
      REQUIRE(blob.size() == behind + sizeof n + n * sizeof calls[0]);
      std::memcpy(calls.data(), blob.data() + behind + sizeof n, n * sizeof calls[0]);
    } else {
      REQUIRE(blob.size() == behind);
    }
    std::memcpy(first.data(), blob.data() + sizeof h, first.size() * 4);
    const uint8_t* at = blob.data() + sizeof h + first.size() * 4;
    for (linnet::GrammarEdge& e : edges) {
      linnet::NarrowGrammarEdge narrow;
      std::memcpy(&narrow, at, sizeof narrow);
      e = {narrow.lo, narrow.hi, 0, narrow.to};
      if (wide) std::memcpy(&e, at, sizeof e);
      at += edge;
    }
    if (wide) std::memcpy(&starts, at, sizeof starts);
  }
  static uint32_t at(uint32_t v) { return v & ~linnet::kGrammarAccepts; }
  bool is_own(uint32_t e) const { return edges[e].own; }
  uint32_t behind(const std::string& text, uint32_t state = 0) const {
    for (const char c : text) {
      const uint8_t byte = static_cast<uint8_t>(c);
      uint32_t e = at(first[state]);
      while (e < at(first[state + 1]) && !(edges[e].lo <= byte && byte <= edges[e].hi)) ++e;
      if (e == at(first[state + 1])) return linnet::kGrammarLost;
      state = edges[e].to;
    }
    return state;
  }
  bool accepts(const std::string& text, uint32_t state = 0) const {
    if (!calls.empty()) {
      Ways ways = begin(state);
      for (const char c : text) ways = step(ways, static_cast<uint8_t>(c));
      return may_end(ways);
    }
    const uint32_t end = behind(text, state);
    return end != linnet::kGrammarLost && first[end] & linnet::kGrammarAccepts;
  }

  // With calls, as plainly as it can be said: a way to read a text is a state, and the calls that wait with how often each was read.
  using Way = std::pair<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>>;
  using Ways = std::set<Way>;
  Ways closed(const Ways& from) const {
    Ways all = from;
    std::vector<Way> open(from.begin(), from.end());
    const auto add = [&](Way w) {
      if (w.second.size() <= linnet::kStackDepth && all.insert(w).second) open.push_back(std::move(w));
    };
    while (!open.empty()) {
      const auto [state, stack] = open.back();
      open.pop_back();
      for (uint32_t c = 0; c < calls.size(); ++c)
        if (calls[c].from == state) {
          Way in{calls[c].start, stack};
          in.second.push_back({c, 1});
          add(std::move(in));
        }
      if (stack.empty() || !(first[state] & linnet::kGrammarAccepts)) continue;
      const auto [c, n] = stack.back();
      Way out{calls[c].to, stack}, again{calls[c].start, stack};
      out.second.pop_back();
      if (n >= calls[c].least) add(std::move(out));
      again.second.back().second = calls[c].most == linnet::kGrammarNoEnd ? std::min(n + 1, calls[c].least) : n + 1;
      if (n < calls[c].most) add(std::move(again));
    }
    return all;
  }
  Ways begin(uint32_t state = 0) const { return closed({{state, {}}}); }
  Ways step(const Ways& from, uint8_t byte) const {
    Ways to;
    for (const auto& [state, stack] : from)
      for (uint32_t e = at(first[state]); e < at(first[state + 1]); ++e)
        if (edges[e].lo <= byte && byte <= edges[e].hi) to.insert({edges[e].to, stack});
    return closed(to);
  }
  bool may_end(const Ways& ways) const {
    return std::any_of(ways.begin(), ways.end(),
                       [&](const Way& w) { return w.second.empty() && first[w.first] & linnet::kGrammarAccepts; });
  }
};

inline size_t characters(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

// Whether a value obeys, as the specification has it; patterns are those of this file.
inline bool obeys(const json& v, const json& schema, const json& root) {
  if (const auto ref = schema.find("$ref"); ref != schema.end())
    return obeys(v, root.at(json::json_pointer(ref->get<std::string>().substr(1))), root);
  const auto number = [&](const char* key, auto fn) {
    return !schema.contains(key) || !v.is_number() || fn(v.get<double>(), schema.at(key).get<double>());
  };
  const auto of_type = [&](const json& type) {
    const std::string t = type.get<std::string>();
    return t == "integer"  ? v.is_number_integer() || (v.is_number() && std::floor(v.get<double>()) == v.get<double>())
           : t == "number" ? v.is_number()
                           : t == v.type_name();
  };
  if (const auto t = schema.find("type"); t != schema.end() && !(t->is_array() ? std::any_of(t->begin(), t->end(), of_type) : of_type(*t)))
    return false;
  if (const auto e = schema.find("enum"); e != schema.end() && std::find(e->begin(), e->end(), v) == e->end()) return false;
  if (const auto c = schema.find("const"); c != schema.end() && *c != v) return false;
  for (const char* key : {"anyOf", "oneOf"})
    if (const auto list = schema.find(key); list != schema.end()) {
      const auto n = std::count_if(list->begin(), list->end(), [&](const json& s) { return obeys(v, s, root); });
      if (n == 0 || (key[0] == 'o' && n > 1)) return false;
    }
  if (!number("minimum", [](double a, double b) { return a >= b; }) || !number("maximum", [](double a, double b) { return a <= b; }) ||
      !number("exclusiveMinimum", [](double a, double b) { return a > b; }) ||
      !number("exclusiveMaximum", [](double a, double b) { return a < b; }))
    return false;
  if (v.is_string()) {
    const std::string s = v.get<std::string>();
    if (characters(s) < schema.value("minLength", size_t{0}) || characters(s) > schema.value("maxLength", SIZE_MAX)) return false;
    if (schema.contains("pattern") && schema["pattern"] == "^[0-2][0-9]:[0-5][0-9]$")
      return s.size() == 5 && s[0] <= '2' && s[2] == ':' && s[3] <= '5';
  }
  if (v.is_array()) {
    if (v.size() < schema.value("minItems", size_t{0}) || v.size() > schema.value("maxItems", SIZE_MAX)) return false;
    for (const json& one : v)
      if (schema.contains("items") && !obeys(one, schema["items"], root)) return false;
  }
  if (v.is_object() && schema.contains("type")) {
    for (const json& key : schema.value("required", json::array()))
      if (!v.contains(key.get<std::string>())) return false;
    for (const auto& [key, value] : v.items())
      if (!schema.contains("properties") || !schema["properties"].contains(key) || !obeys(value, schema["properties"][key], root))
        return false;
  }
  return true;
}

}  // namespace test
