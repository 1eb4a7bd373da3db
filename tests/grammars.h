// Grammars as tests read them, and schemas as the specification has them.
#pragma once
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
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

  explicit Texts(std::vector<uint8_t> b) : blob(std::move(b)) {
    std::memcpy(&h, blob.data(), sizeof h);
    first.resize(h.n_states + 1);
    edges.resize(h.n_edges);
    const bool wide = h.version > 1;
    const size_t edge = wide ? sizeof(linnet::GrammarEdge) : sizeof(linnet::NarrowGrammarEdge);
    REQUIRE(blob.size() == sizeof h + first.size() * 4 + edges.size() * edge + (wide ? sizeof starts : 0));
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
    const uint32_t end = behind(text, state);
    return end != linnet::kGrammarLost && first[end] & linnet::kGrammarAccepts;
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
