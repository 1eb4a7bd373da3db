// Grammars of calls in the model's own format: texts at random of each family's grammar, read back by the parser of answers, and answers of
// the families held against the grammars.
#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "runtime/convert/call_grammar.h"
#include "tests/families.h"
#include "tests/grammars.h"

using namespace test;

namespace {

// Schemas with all that a format has to write, and a tool that takes nothing.
const char* const kTools = R"([
 {"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {
   "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 14},
   "unit": {"enum": ["celsius", "fahrenheit"]}, "at": {"type": "object", "properties": {"lat": {"type": "number"}, "tag": {"type": "string"}}, "required": ["lat"]},
   "list": {"type": "array", "items": {"type": "string"}, "maxItems": 3}, "wind": {"type": "boolean"}, "none": {"type": ["string", "null"]},
   "mixed": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "clock": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
   "short": {"type": "string", "minLength": 2, "maxLength": 4}, "ref": {"$ref": "#/$defs/r"}}, "required": ["city", "days"],
   "$defs": {"r": {"type": "string"}}}}},
 {"type": "function", "function": {"name": "get_clock", "parameters": {"type": "object", "properties": {"zone": {"type": "string", "enum": ["Europe/Oslo", "UTC"]}}, "required": ["zone"]}}},
 {"name": "ping"}])";

std::vector<uint8_t> compiled(const Envelope& e, const std::string& tools, const convert::CallRules& rules, linnet_status want = LINNET_OK,
                              std::string* why = nullptr) {
  convert::Value list;
  Error err = {};
  REQUIRE(convert::schema_parse(tools, "tools", &list, &err) == LINNET_OK);
  std::vector<uint8_t> blob;
  const linnet_status status = convert::compile_calls(list, e, rules, "tools", &blob, &err);
  CAPTURE(err.text);
  CHECK(status == want);
  if (why) *why = err.text;
  return blob;
}

// Walks that end: how many bytes are left from each state at least.
struct Walks {
  Texts g;
  std::vector<uint32_t> left;
  explicit Walks(std::vector<uint8_t> blob) : g(std::move(blob)), left(g.h.n_states, UINT32_MAX) {
    std::vector<std::vector<uint32_t>> back(g.h.n_states);
    std::deque<uint32_t> open;
    for (uint32_t s = 0; s < g.h.n_states; ++s) {
      for (uint32_t e = Texts::at(g.first[s]); e < Texts::at(g.first[s + 1]); ++e) back[g.edges[e].to].push_back(s);
      if (g.first[s] & kGrammarAccepts) left[s] = 0, open.push_back(s);
    }
    for (; !open.empty(); open.pop_front())
      for (const uint32_t s : back[open.front()])
        if (left[s] == UINT32_MAX) left[s] = left[open.front()] + 1, open.push_back(s);
  }
  // A text from `state`; hurry: how much of it goes to the end on the shortest way, of 100.
  std::string text(uint32_t state, std::mt19937& rng, uint32_t hurry, size_t most = 600) const {
    std::string out;
    for (;;) {
      const uint32_t from = Texts::at(g.first[state]), n = Texts::at(g.first[state + 1]) - from;
      const bool may_end = g.first[state] & kGrammarAccepts;
      if (may_end && (n == 0 || out.size() > most || rng() % 12 == 0)) return out;
      if (!n) return out + "<no way out>";
      uint32_t e = from + static_cast<uint32_t>(rng() % n);
      if (out.size() > most || rng() % 100 < hurry) {
        for (uint32_t i = 0; i < n; ++i)
          if (left[g.edges[from + i].to] < left[g.edges[e].to]) e = from + i;
      } else if (rng() % 2) {  // marks come as often as text
        for (uint32_t i = 0; i < n; ++i)
          if (g.is_own(from + (e - from + i) % n)) {
            e = from + (e - from + i) % n;
            break;
          }
      }
      out += static_cast<char>(g.edges[e].lo + rng() % (g.edges[e].hi - g.edges[e].lo + 1u));
      state = g.edges[e].to;
    }
  }
  uint32_t start(const std::string& prompt) const {
    for (uint32_t i = 0; i < g.starts.n; ++i)
      if (prompt == g.starts.mark[i]) return g.starts.state[i];
    return 0;
  }
};

bool call_obeys(const json& call, const json& tools) {
  for (const json& one : tools) {
    const json& tool = one.contains("function") ? one["function"] : one;
    if (tool["name"] != call["name"]) continue;
    return tool.contains("parameters") ? obeys(call["arguments"], tool["parameters"], tool["parameters"]) : call["arguments"].empty();
  }
  return false;
}

}  // namespace

TEST_CASE("what a grammar of calls lets through is a call that obeys, in each family's format") {
  std::mt19937 rng(11);
  const json list = json::parse(kTools);
  size_t n_texts = 0, n_calls = 0, n_said = 0, n_families = 0;
  for (const Family& f : families()) {
    if (kSlow && n_families++ % 4) continue;  // others are of the same forms
    for (const bool required : {true, false})
      for (const bool parallel : {false, true})
        for (const char* const chosen : {"", "get_clock"}) {
          const Walks walks(compiled(f.envelope, kTools, {required, parallel, chosen}));
          std::vector<std::string> prompts = {""};
          for (uint32_t i = 0; i < walks.g.starts.n; ++i) prompts.push_back(walks.g.starts.mark[i]);
          size_t calls = 0;
          for (const std::string& prompt : prompts)
            for (uint32_t round = 0; round < (kSlow ? 6u : 40u); ++round) {
              const std::string text = walks.text(walks.start(prompt), rng, 20 * (round % 5), 200 + 10 * (round % 40));
              CAPTURE(f.name, required, parallel, chosen, prompt, text);
              const Said said = parse(f.envelope, text, prompt, kTools, round % 3);
              bool good = said.good && (parallel || said.calls.size() <= 1);
              for (const json& call : said.calls) good &= call_obeys(call, list) && (!chosen[0] || call["name"] == chosen);
              if (required) good &= !said.calls.empty() && said.content.empty();
              if (!good) {
                CAPTURE(said.calls.dump(), said.content, said.reasoning);
                CHECK(good);
              }
              // a text that ends early has no call but such as are whole
              const Said cut = parse(f.envelope, text.substr(0, rng() % (text.size() + 1)), prompt, kTools, 0);
              for (const json& call : cut.calls) CHECK(call_obeys(call, list));
              calls += said.calls.size();
              n_said += !said.content.empty();
              ++n_texts;
            }
          CAPTURE(f.name, required, parallel);
          // a tool's name at the beginning of a text, letter by letter, does not come at random
          if (required || f.envelope.bare == Bare::kNever || f.envelope.head != Head::kText) CHECK(calls > 0);
          n_calls += calls;
        }
  }
  std::printf("%zu texts of %zu families: %zu calls, %zu with text\n", n_texts, families().size(), n_calls, n_said);
}

TEST_CASE("what models of the family say is of its grammar") {
  const json list = json::parse(tools());
  std::map<std::string, std::pair<size_t, size_t>> by_kind;
  size_t n = 0, accepted = 0;
  for (const Family& f : families()) {
    const Texts any(compiled(f.envelope, tools(), {false, true, ""})), calls(compiled(f.envelope, tools(), {true, true, ""}));
    for (const json& c : f.cases) {
      const std::string answer = c["answer"], prompt = c["prompt"];
      const auto state = [&](const Texts& t) {
        const std::string end = prompt.substr(0, prompt.find_last_not_of(" \n\t") + 1);
        for (uint32_t i = 0; i < t.starts.n; ++i)
          if (end.size() >= std::strlen(t.starts.mark[i]) && end.ends_with(t.starts.mark[i])) return t.starts.state[i];
        return 0u;
      };
      std::string text = answer;  // without the marks of its end, which are tokens of their own
      for (const Mark& m : f.envelope.end)
        if (!m.empty() && text.ends_with(m.view())) text.resize(text.size() - m.view().size());
      text.resize(text.find_last_not_of(" \n") + 1);
      const bool good = any.accepts(text, state(any)), has_calls = !c["tool_calls"].empty();
      auto& [of_kind, good_ones] = by_kind[c["what"]];
      ++of_kind, good_ones += good;
      ++n, accepted += good;
      if (std::getenv("LINNET_TEST_SHOW") && !good)
        std::printf("not of its grammar: %s, %s: [%s] %s\n", f.name.c_str(), c["what"].get<std::string>().c_str(), prompt.c_str(),
                    text.c_str());
      CAPTURE(f.name, c["what"], prompt, text);
      const std::string what = c["what"];
      const bool usual = what == "one call" || what == "no arguments" || what == "two calls" || what == "reasoning and a call";
      if (f.name != "hidden_repr" && (usual || what == "text" || what == "text and a call" || what.starts_with("reasoning"))) CHECK(good);
      if (good && usual) CHECK(calls.accepts(text, state(calls)));
      if (!has_calls) CHECK_FALSE(calls.accepts(text, state(calls)));
    }
  }
  for (const auto& [what, counts] : by_kind)
    if (std::getenv("LINNET_TEST_SHOW")) std::printf("%zu of %zu: %s\n", counts.second, counts.first, what.c_str());
  std::printf("%zu of %zu answers are of their grammars\n", accepted, n);
}
