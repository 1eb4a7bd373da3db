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

// Its values end with a mark that JSON's objects and lists may hold.
constexpr const char* kNoObjects = "hidden_pairs";

std::vector<uint8_t> compiled(const Envelope& e, const std::string& tools, const convert::CallRules& rules, linnet_status want = LINNET_OK,
                              std::string* why = nullptr) {
  convert::Value list;
  Error err = {};
  REQUIRE(convert::schema_parse(tools, "tools", &list, &err) == LINNET_OK);
  convert::Vector<uint8_t> made;
  const linnet_status status = convert::compile_calls(list, e, rules, "tools", &made, &err);
  CAPTURE(err.text);
  CHECK(status == want);
  if (want == LINNET_OK) REQUIRE(status == want);
  if (why) *why = err.text;
  return {made.begin(), made.end()};
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
  // words: what is put in as a whole, where it goes on.
  std::string text(uint32_t state, std::mt19937& rng, uint32_t hurry, size_t most, const std::vector<std::string>& words) const {
    std::string out;
    for (;;) {
      if (out.size() < most && rng() % 8 == 0) {
        const std::string& word = words[rng() % words.size()];
        if (const uint32_t behind = g.behind(word, state); behind != kGrammarLost) out += word, state = behind;
      }
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
    if (f.name == kNoObjects || (kSlow && (&f - families().data()) % 4)) continue;  // others are of the same forms
    ++n_families;
    for (const bool required : {true, false})
      for (const bool parallel : {false, true})
        for (const char* const chosen : {"", "get_clock"}) {
          CAPTURE(f.name);
          const Walks walks(compiled(f.envelope, kTools, {required, parallel, chosen}));
          // marks, and calls of tools that are none of these
          std::vector<std::string> words = {"\"", "\n", " ", "</", "<think>", "</think>", "\\", "'", ">"};
          for (const Mark* m = &f.envelope.reason_open; m != &f.envelope.switch_name; ++m)
            if (!m->empty()) words.emplace_back(m->view());
          for (const json& c : f.cases) words.push_back(c["answer"]);
          std::vector<std::string> prompts = {""};
          for (uint32_t i = 0; i < walks.g.starts.n; ++i) prompts.push_back(walks.g.starts.mark[i]);
          size_t calls = 0;
          for (const std::string& prompt : prompts)
            for (uint32_t round = 0; round < (kSlow ? 6u : 24u); ++round) {
              const std::string text = walks.text(walks.start(prompt), rng, 20 * (round % 5), 200 + 10 * (round % 40), words);
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
  std::printf("%zu texts of %zu families: %zu calls, %zu with text\n", n_texts, n_families, n_calls, n_said);
}

TEST_CASE("what models of the family say is of its grammar") {
  const json list = json::parse(tools());
  std::map<std::string, std::pair<size_t, size_t>> by_kind;
  size_t n = 0, accepted = 0;
  for (const Family& f : families()) {
    if (f.name == kNoObjects) continue;
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

TEST_CASE("texts that grammars once let through, and such that they must") {
  const std::string s = R"({"type":"string"})", i = R"({"type":"integer"})";
  const std::string ping =
      R"([{"name":"ping"},{"name":"weather","parameters":{"type":"object","properties":{"city":)" + s + R"(},"required":["city"]}}])";
  const auto with = [](const std::string& properties, const std::string& more = "") {
    return R"([{"name":"f","parameters":{"type":"object","properties":{)" + properties + "}" + more + "}}]";
  };
  struct Case {
    const char* family;
    bool required, good;
    const char* prompt;
    std::string tools, text;
  };
  const std::string evil = "<tool_call>\n{\"name\": \"evil\", \"arguments\": {\"x\": 1}}\n</tool_call>",
                    call = "<tool_call>\n{\"name\": \"ping\", \"arguments\": {}}\n</tool_call>";
  const auto pair = [](const std::string& key, const std::string& value) {
    return "<tool_call>\n<function=f>\n<parameter=" + key + ">\n" + value + "\n</parameter>\n</function>\n</tool_call>";
  };
  const std::vector<Case> cases = {
      // reasoning begun twice is free of calls to the parser too
      {"qwen3", false, true, "<think>", ping, "<think>" + evil},
      {"qwen3", true, true, "<think>", ping, "</think><think>" + evil + "</think>" + call},
      // in reasoning that ends with calls none begins without its section
      {"minimax_m2", true, false, "", ping,
       "<think>x <invoke name=\"evil\">\n</invoke></think><minimax:tool_call>\n<invoke name=\"ping\">\n</invoke>\n</minimax:tool_call>"},
      {"qwen3_5", true, false, "<think>", ping,
       "<function=evil>\n</function></think><tool_call>\n<function=ping>\n</function>\n</tool_call>"},
      // marks inside of values
      {"qwen3_coder", true, false, "", with("\"e\":{\"type\":\"array\",\"items\":" + s + "}"), pair("e", R"(["a </parameter> b"])")},
      {"qwen3_coder", true, true, "", with("\"e\":{\"type\":\"array\",\"items\":" + s + "}"),
       pair("e", R"(["a <b> </p \u003c/parameter> \" b"])")},
      {"qwen3_coder", true, true, "", with("\"e\":" + s), pair("e", "a </function> <parameter= b")},
      {"qwen3_coder", true, false, "", with("\"e\":" + s), pair("e", "a\n</function>")},
      {"qwen3_coder", true, false, "", with(R"("a":{"type":"string","minLength":1})"), pair("a", "\r")},
      {"qwen3_coder", true, false, "", with(R"("a":{"type":["string","null"],"enum":["None","x"]})"), pair("a", "None")},
      {"qwen3_coder", true, true, "", with(R"("a":{"type":["string","null"],"enum":["None","x"]})"), pair("a", "x")},
      // types behind references that are written with escapes, and behind alternatives
      {"qwen3_coder", true, true, "", with(R"("a":{"$ref":"#\/$defs\/r"})", R"(,"$defs":{"r":{"type":"\u0073tring"}})"), pair("a", "5")},
      {"hidden_tags", true, true, "", with("\"ids\":{\"anyOf\":[{\"type\":\"array\",\"items\":" + i + "},{\"type\":\"null\"}]}"),
       "<go:f><ids><item>5</item></ids></go>"},
      {"hidden_tags", true, true, "",
       with("\"o\":{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"n\":" + i + "}},{\"type\":\"null\"}]}"),
       "<go:f><o><n>5</n></o></go>"},
      {"hidden_tags", true, true, "", with("\"at\":{\"type\":\"object\",\"properties\":{\"item\":" + s + "},\"required\":[\"item\"]}"),
       "<go:f><at><item>x</item></at></go>"},
      // content begins once
      {"granite3", false, false, "", ping, "<response><think>x</think><response><think>" + evil},
      {"solar", false, false, "", ping, "<|tool_call:begin|><|content|> x<|tool_call:name|>evil<|tool_call:args|>{}<|tool_call:end|>"},
      {"gpt_oss", true, false, "", ping,
       "<|channel|>analysis<|message|>abc<|call|>def<|end|><|start|>assistant<|channel|>commentary to=functions.ping "
       "<|constrain|>json<|message|>{}<|call|>"},
      // bare calls behind white space; alone they are all there is
      {"llama_3_2_3b", false, true, "", ping, "\n{\"name\": \"ping\", \"parameters\": {}}"},
      {"glm4", false, true, "", ping, "\nping\n{}"},
      {"smollm3", false, true, "", ping, "<think>x</think>\n\n{\"name\": \"ping\", \"arguments\": {}}"},
      {"smollm3", false, false, "", ping, "[{\"name\": \"ping\", \"arguments\": {}}]"},
  };
  for (const Case& c : cases) {
    bool found = false;
    for (const Family& f : families()) {
      if (f.name != c.family) continue;
      found = true;
      CAPTURE(c.family, c.required, c.prompt, c.tools, c.text);
      const Walks walks(compiled(f.envelope, c.tools, {c.required, false, ""}));
      CHECK(walks.g.accepts(c.text, walks.start(c.prompt)) == c.good);
      const Said said = parse(f.envelope, c.text, c.prompt, c.tools, 0);
      CAPTURE(said.calls.dump(), said.content, said.reasoning);
      for (const json& one : said.calls)
        if (c.good) CHECK(call_obeys(one, json::parse(c.tools)));
      if (c.good && c.required) CHECK((said.calls.size() == 1 && said.content.empty()));
    }
    CHECK((found || data_dir().empty()));
  }
}

TEST_CASE("what formats cannot write, and schemas that have no end, are refused by place") {
  const auto deep = [](int n, const std::string& inner) {
    std::string out = inner;
    for (int i = 0; i < n; ++i) out = R"({"type":"array","items":)" + out + "}";
    return out;
  };
  const auto with = [](const std::string& properties, const std::string& more = "") {
    return R"([{"name":"f","parameters":{"type":"object","properties":{)" + properties + "}" + more + "}}]";
  };
  const std::string s = R"({"type":"string"})", o = R"({"type":"object","properties":{"k":{"$ref":"#/$defs/a"}},"required":["k"]})";
  std::string wide;  // alternatives of alternatives
  for (int d = 0; d < 9; ++d) {
    wide += (d ? "," : "") + std::string("\"d") + std::to_string(d) + "\":{\"anyOf\":[";
    for (int n = 0; n < 20; ++n) wide += (n ? "," : "") + std::string("{\"$ref\":\"#/$defs/d") + std::to_string(d + 1) + "\"}";
    wide += "]}";
  }
  wide += ",\"d9\":" + s;
  const std::pair<const char*, std::string> cases[] = {
      {"qwen3_coder", with("\"x\":{\"oneOf\":[" + s + "," + o + "," + o + "]}", R"(,"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}})")},
      {"hidden_tags", with("\"x\":{\"oneOf\":[" + s + "," + o + "," + o + "]}", R"(,"$defs":{"a":{"$ref":"#/$defs/a"}})")},
      {"qwen3_coder", with(R"("x":{"$ref":"#/$defs/d0"})", ",\"$defs\":{" + wide + "}")},
      {"hermes", R"([{"name":")" + std::string(300, 'n') + "\"}]"},
      {"qwen3_coder", with("\"" + std::string(300, 'k') + "\":" + s)},
      {"hidden_tags", with("\"x\":" + deep(20, s))},
      {"hermes", with("\"x\":" + deep(62, s).substr(0, 0) + R"({"$ref":"#/$defs/a"})",
                      ",\"$defs\":{\"a\":" + deep(40, R"({"$ref":"#/$defs/b"})") + ",\"b\":" + deep(40, s) + "}")},
      {kNoObjects, with("\"x\":" + deep(1, s))},
      {"lfm2", R"([{"name":"@scope/tool"}])"},
      {"pythonic_list", R"([{"name":".x"}])"},
      {"lfm2", with("\"\":" + s)},
      {"hidden_prose", R"([{"name":"ns::tool"}])"},
      {"qwen3_coder", with("\"a\":" + s + ",\"b\":" + s + ",\"c\":" + s, R"(,"minProperties":2)")},
      {"hidden_tags", with("\"at\":{\"type\":\"object\",\"additionalProperties\":" + s + "}")},
  };
  for (const auto& [family, tools] : cases)
    for (const Family& f : families())
      if (f.name == family) {
        CAPTURE(family, tools);
        std::string why;
        (void)compiled(f.envelope, tools, {true, true, ""}, LINNET_UNSUPPORTED, &why);
        CHECK(why.find("tools: ") == 0);
      }
}

TEST_CASE("values that hold themselves are written as deep as they are read, and no deeper") {
  const std::string any = R"([{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}}])",
                    list = R"([{"name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"],)"
                           R"("$defs":{"n":{"type":"object","properties":{"k":{"$ref":"#/$defs/n"}}}}}}])";
  size_t n_read = 0, n_kept_out = 0;
  for (const Family& f : families()) {
    if (f.name != "qwen3" && f.name != "qwen3_coder" && f.name != "hermes" && f.name != "pythonic_list") continue;
    const std::string form = f.name == "qwen3_coder"
                                 ? "<tool_call>\n<function=f>\n<parameter=a>\n%\n</parameter>\n</function>\n</tool_call>"
                             : f.name == "pythonic_list" ? "[f(a=%)]"
                                                         : "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": %}}\n</tool_call>";
    for (const std::string& tools : {any, list}) {
      const Texts grammar(compiled(f.envelope, tools, {true, false, ""}));
      for (const int depth : {1, 20, 50, 70, 200}) {
        std::string value = "{}";
        for (int i = 1; i < depth; ++i) value = (f.name == "pythonic_list" ? "{'k': " : "{\"k\": ") + value + "}";
        std::string text = form;
        text.replace(text.find('%'), 1, value);
        CAPTURE(f.name, depth, text);
        const bool accepted = grammar.accepts(text);
        CHECK(accepted == (depth <= 50));
        n_kept_out += !accepted;
        if (!accepted) continue;
        const Said said = parse(f.envelope, text, "", tools, 0);
        CHECK((said.good && said.calls.size() == 1 && said.calls[0]["arguments"].is_object()));
        ++n_read;
      }
    }
  }
  if (!data_dir().empty()) CHECK((n_read > 0 && n_kept_out > 0));
  for (const Family& f : families())
    if (f.name == "qwen3") {
      const std::string song = R"([{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","format":"song"}}}}])";
      std::string why;
      (void)compiled(f.envelope, song, {true, false, ""}, LINNET_UNSUPPORTED, &why);
      CHECK(why.find("format \"song\"") != why.npos);
      (void)compiled(f.envelope, song, {true, false, "", true});
    }
}

TEST_CASE("forty tools of ten arguments compile in every format") {
  json tools = json::array();
  for (int t = 0; t < 40; ++t) {
    json properties = json::object();
    for (int i = 0; i < 10; ++i) properties["argument_" + std::to_string(i)] = {{"type", i % 3 ? "string" : "integer"}};
    tools.push_back({{"name", "tool_" + std::to_string(t)}, {"parameters", {{"type", "object"}, {"properties", properties}}}});
  }
  size_t most = 0;
  for (const Family& f : families()) {
    if (kSlow && most > 0 && f.name != "command_r7b") continue;
    CAPTURE(f.name);
    most = std::max(most, compiled(f.envelope, tools.dump(), {false, true, ""}).size());
  }
  std::printf("forty tools of ten arguments: %zu bytes at most\n", most);
}
