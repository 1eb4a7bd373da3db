// Grammars: schemas that are compiled and such that are refused, random texts under masks that are held against the schemas, and what
// sessions do with them.
#include "tests/unit/test_grammar.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "tests/templates.h"

using namespace test;
using nlohmann::json;

namespace {

struct Chat {
  std::unique_ptr<Memory> memory;
  linnet_session* s = nullptr;
  explicit Chat(const Assistant& a, linnet_session_params p = params(0, 1, 0, 0, 512)) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_session_need(a.m, &p, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    check(linnet_session_init(&s, memory->p, need.bytes, a.m, &p, &err), err);
  }
  ~Chat() { linnet_session_fini(s); }
  Chat(const Chat&) = delete;

  void sampling(float temperature, uint64_t seed, uint32_t top_k = 0) {
    linnet_sampling d{.size = sizeof d};
    REQUIRE(linnet_sampling_init(&d, nullptr) == LINNET_OK);
    d.temperature = temperature;
    d.top_k = top_k;
    d.seed = seed;
    d.repeat_penalty = temperature > 0 ? 1.1f : 1;
    REQUIRE(linnet_sampling_set(s, 0, &d, nullptr) == LINNET_OK);
  }
  struct Answer {
    Tokens tokens;
    std::string text;
    uint32_t why = LINNET_STOP_NONE;
  };
  Answer answer(const Tokens& prompt, linnet_grammar* g, uint32_t n = 120) {
    linnet_error err{};
    REQUIRE(linnet_truncate(s, 0, 0, nullptr) == LINNET_OK);
    check(linnet_prefill(s, 0, prompt.data(), prompt.size(), &err), err);
    check(linnet_grammar_set(s, 0, g, &err), err);
    return go_on(n);
  }
  Answer go_on(uint32_t n, bool ignore_eos = false) {
    Answer out;
    linnet_error err{};
    linnet_generate_params p{};
    p.size = sizeof p;
    p.max_tokens = n;
    p.ignore_eos = ignore_eos;
    linnet_generated end{.size = sizeof end};
    check(linnet_generate(
              s, 0, &p,
              [](void* user, int32_t token, const char* utf8, size_t n_bytes) {
                Answer& a = *static_cast<Answer*>(user);
                if (token >= 0) a.tokens.push_back(token);
                a.text.append(utf8 ? utf8 : "", n_bytes);
                return 0;
              },
              &out, &end, &err),
          err);
    out.why = end.why;
    return out;
  }
};

// A call of one of the tools, with arguments that obey.
bool call_obeys(const std::string& text, const json& tools) {
  const json call = json::parse(text, nullptr, false);
  if (!call.is_object() || call.size() != 2 || !call.contains("name") || !call.contains("arguments")) return false;
  for (const json& tool : tools)
    if (tool["function"]["name"] == call["name"])
      return obeys(call["arguments"], tool["function"]["parameters"], tool["function"]["parameters"]);
  return false;
}

}  // namespace

TEST_CASE("schemas: what obeys is accepted, what does not is not") {
  struct Case {
    const char* schema;
    std::vector<const char*> good, bad;
  };
  const std::vector<Case> cases = {
      {R"({"type":"null"})", {"null"}, {"", "nul", "nulll", "true"}},
      {R"({"type":"boolean"})", {"true", "false"}, {"True", "1"}},
      {R"({"type":["boolean","null"]})", {"true", "null"}, {"0", "\"\""}},
      {R"({"type":"integer"})", {"0", "-1", "10", "999999999999999999"}, {"-0", "01", "1.0", "1e2", "+1", "", "-", "1000000000000000000"}},
      {R"({"type":"integer","minimum":-12,"maximum":105})",
       {"-12", "-9", "0", "9", "99", "100", "105"},
       {"-13", "106", "110", "1000", "-20"}},
      {R"({"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":7.5})", {"4", "7"}, {"3", "8", "10"}},
      {R"({"type":"integer","minimum":9007199254740993,"maximum":90071992547409930e-1})",
       {"9007199254740993"},
       {"9007199254740992", "9007199254740994"}},  // doubles are a step of 2 there
      {R"({"type":"integer","exclusiveMinimum":9.99999999999999997E17,"maximum":1e300})",
       {"999999999999999998", "999999999999999999"},
       {"999999999999999997"}},
      {R"({"enum":[123456789012345678901234567890,1E2,-0,1.50,{"a":[0.10]}]})",
       {"123456789012345678901234567890", "1E2", "-0", "1.50", "{\"a\":[0.10]}"},
       {"1.2345678901234568e+29", "100", "100.0", "0", "1.5", "{\"a\":[0.1]}"}},
      {R"({"oneOf":[{"const":9007199254740992},{"const":9007199254740993},{"const":90071992547409940.0e-1}]})",
       {"9007199254740992", "9007199254740993", "90071992547409940.0e-1"},
       {"9007199254740994"}},
      {R"({"type":"string","minLength":0.2e1,"maxLength":30E-1})", {"\"ab\"", "\"abc\""}, {"\"a\"", "\"abcd\""}},
      {R"({"type":"integer","minimum":5,"maximum":9727837981879871008})", {"5", "999999999999999999"}, {"4", "1000000000000000000"}},
      {R"({"type":"number","minimum":0.5,"exclusiveMaximum":2.25})",
       {"0.5", "0.50", "0.75", "1", "1.0", "2", "2.249", "2.2"},
       {"0.49", "0", "2.25", "2.250", "2.3", "3", "-1", "0.4999999"}},
      {R"({"type":"number","minimum":-1.5,"maximum":-0.25})",
       {"-1.5", "-1", "-0.25", "-0.250", "-0.3"},
       {"-1.51", "-0.2", "0", "-0", "0.5"}},
      {R"({"type":"number","exclusiveMinimum":-0.5,"maximum":0.125})",
       {"-0.4", "0", "0.0", "0.125", "0.1"},
       {"-0.5", "-0", "-0.0", "0.126", "-0.50"}},
      {R"({"type":"integer","multipleOf":25,"minimum":-60,"maximum":130})",
       {"-50", "-25", "0", "100", "125"},
       {"-75", "10", "-0", "150", "024"}},
      {R"({"type":"number","multipleOf":3})", {"0", "-9", "123456"}, {"1", "3.0", "10"}},
      {R"({"type":"integer","minimum":987})", {"987", "990", "1000", "123456"}, {"986", "900", "99", "-987"}},
      {R"({"type":"integer","maximum":-15})", {"-15", "-20", "-100"}, {"-14", "0", "15", "-9"}},
      {R"({"type":"number"})", {"0", "-0", "1.5", "-2.25e-10", "3E+7", "0.5"}, {".5", "1.", "1e", "1e100", "00", "1.e3"}},
      {R"({"type":"number","minimum":-2,"maximum":10})",
       {"-2", "-2.0", "-1.99", "-0.5", "0", "9.999", "10", "10.00"},
       {"-2.01", "10.01", "11", "-3", "1e1", "-0"}},
      {R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})", {"0.1", "0.001", "0.999"}, {"0", "0.0", "1", "1.0", "-0.5"}},
      {R"({"type":"number","exclusiveMaximum":-3})", {"-3.1", "-4", "-3.01"}, {"-3", "-3.0", "-2", "3"}},
      {R"({"type":"string"})",
       {"\"\"", "\"a b\"", "\"\\n\\u00e9\"", "\"\xc3\xa9\xf0\x9f\x98\x80\"", "\"\\ud83d\\ude00\"", "\"\\uD7ff\\/\""},
       {"\"", "a", "\"\n\"", "\"\\x\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"",
        "\"\xf4\x90\x80\x80\"", "\"\\u12\"", "\"a\"b"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {"\"ab\"", "\"\xc3\xa9\xc3\xa9\xc3\xa9\"", "\"\\ud83d\\ude00\\n\""},
       {"\"a\"", "\"abcd\"", "\"\""}},
      {R"({"type":"string","maxLength":0})", {"\"\""}, {"\"a\""}},
      {R"({"type":"string","pattern":"^[0-2][0-9]:[0-5][0-9]$"})", {"\"07:30\""}, {"\"7:30\"", "\"07:60\"", "\"07:300\""}},
      {R"({"type":"string","pattern":"ab+"})", {"\"ab\"", "\"xxabbb\\\"y\""}, {"\"a\"", "\"ba\""}},
      {R"({"type":"string","pattern":"^(?:a|bc){2,3}$|^x?$"})", {"\"aa\"", "\"abca\"", "\"\"", "\"x\""}, {"\"a\"", "\"aaaa\"", "\"xx\""}},
      {R"({"type":"string","pattern":"^[^a-y\\d]{2,}\\.$"})",
       {"\"zz.\"", "\"\\\"\\\\\xe2\x82\xac.\"", "\"\\u0001z.\""},
       {"\"z.\"", "\"za.\"", "\"z1.\"", "\"zz\""}},
      {R"({"type":"string","pattern":"^\\w+( \\S*)?$"})", {"\"a_1\"", "\"a b\"", "\"a \""}, {"\"\"", "\" a\"", "\"a  b \""}},
      {R"({"enum":["a","\"\n",1,null,{"b":[1,2.5],"a":{}}]})",
       {"\"a\"", "\"\\\"\\n\"", "1", "null", "{\"b\":[1,2.5],\"a\":{}}"},
       {"a", "2", "{\"a\":{},\"b\":[1,2.5]}"}},
      {R"({"type":"string","enum":["on","off"]})", {"\"on\"", "\"off\""}, {"\"o\"", "\"onn\""}},
      {R"({"const":"x"})", {"\"x\""}, {"\"y\""}},
      {R"({"type":"array","items":{"type":"boolean"}})",
       {"[]", "[true]", "[true,false,true]"},
       {"[", "[true,]", "[,]", "[true true]", "[1]"}},
      {R"({"type":"array","items":{"type":"null"},"minItems":2,"maxItems":3})",
       {"[null,null]", "[null,null,null]"},
       {"[]", "[null]", "[null,null,null,null]"}},
      {R"({"type":"array","maxItems":0})", {"[]"}, {"[1]"}},
      {R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"required":["b"],"additionalProperties":false})",
       {"{\"b\":null}", "{\"a\":null,\"b\":null}", "{\"b\":null,\"c\":null}", "{\"a\":null,\"b\":null,\"c\":null}"},
       {"{}", "{\"a\":null}", "{\"b\":null,\"a\":null}", "{,\"b\":null}", "{\"a\":null\"b\":null}", "{\"b\":null,}", "{\"b\": null}",
        "{\"b\":null,\"d\":null}"}},
      {R"({"type":"object","properties":{"a/~\"":{"$ref":"#/$defs/t~1"}},"$defs":{"t/":{"type":"object"}}})",
       {"{}", "{\"a/~\\\"\":{}}"},
       {"{\"a\":{}}"}},
      {R"({"anyOf":[{"type":"null"},{"type":"integer","minimum":5,"maximum":6}]})", {"null", "5", "6"}, {"4", "true"}},
      {R"({})", {"null", "[1,\"a\",{}]", "{\"a\":{\"b\":[[]]}}", "-1.5e3"}, {"", "[", "{\"a\"}", "[1,]", "tru", "{\"a\":1,}"}},
      {R"(true)", {"{}", "1"}, {"x"}},
      {R"({"type":"object"})", {"{}", "{\"a\":1,\"b c\":[null]}"}, {"[]", "{\"a\":}", "{a:1}"}},
      {R"({"type":"array"})", {"[]", "[1,[2,{}],\"x\"]"}, {"{}", "[,]"}},
      {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]})",
       {"[]", "[1]", "[1,\"a\"]"},
       {"[\"a\"]", "[1,2]", "[1,\"a\",3]"}},
      {R"({"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"boolean"},"minItems":2,"maxItems":3})",
       {"[null,true]", "[null,true,false]"},
       {"[null]", "[true,true]", "[null,true,true,true]", "[null,null]"}},
      {R"({"type":"array","items":{"type":"null"},"minItems":100,"maxItems":102})", {}, {"[]", "[null]"}},
      {R"({"type":"object","additionalProperties":{"type":"integer"},"properties":{"a":{"type":"null"}}})",
       {"{}", "{\"a\":null}", "{\"a\":null,\"b\":1,\"\":2}", "{\"aa\":1}"},
       {"{\"a\":1}", "{\"b\":null}", "{\"b\":1,\"a\":null}", "{\"\\u0061\":1}"}},
      {R"({"type":"object","patternProperties":{"^x_":{"type":"integer"},"y$":{"type":"null"}},"additionalProperties":false})",
       {"{}", "{\"x_1\":5}", "{\"ay\":null,\"x_\":1}"},
       {"{\"x_y\":5}", "{\"b\":1}", "{\"x_1\":null}"}},
      {R"({"type":"object","propertyNames":{"pattern":"^[a-c]+$","maxLength":3},"additionalProperties":{"type":"null"},"maxProperties":2})",
       {"{}", "{\"abc\":null}", "{\"a\":null,\"b\":null}"},
       {"{\"abcd\":null}", "{\"d\":null}", "{\"a\":null,\"b\":null,\"c\":null}"}},
      {R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"minProperties":1})",
       {"{\"a\":null}", "{\"b\":null}", "{\"a\":null,\"b\":null}"},
       {"{}"}},
      {R"({"type":"object","required":["k"],"properties":{"a":{"type":"null"}}})",
       {"{\"k\":[1]}", "{\"a\":null,\"k\":0}"},
       {"{}", "{\"a\":null}"}},
      {R"({"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":3},"b":{"type":"null"}}}]})",
       {"{\"a\":3}", "{\"a\":10,\"b\":null}"},
       {"{\"a\":2}", "{}", "{\"b\":null}"}},
      {R"({"$ref":"#/$defs/s","maxLength":2,"$defs":{"s":{"type":["string","null"]}}})", {"\"ab\"", "null"}, {"\"abc\"", "1"}},
      {R"({"enum":["a","abc",5,null],"maxLength":2,"minimum":4})", {"\"a\"", "5", "null"}, {"\"abc\""}},
      {R"({"type":"object","properties":{"k":{"enum":["a","b"]}},"required":["k"],"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"null"}},"required":["n"]},{"properties":{"k":{"const":"b"}}}]})",
       {"{\"k\":\"a\",\"n\":null}", "{\"k\":\"b\"}"},
       {"{\"k\":\"a\"}", "{\"k\":\"b\",\"n\":null}"}},
      {R"({"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":3})", {"\"ab\"", "\"abc\""}, {"\"a\"", "\"abcd\"", "\"AB\""}},
      {R"({"type":"string","allOf":[{"pattern":"a"},{"pattern":"b$"}]})", {"\"ab\"", "\"xaxb\""}, {"\"b\"", "\"a\""}},
      {R"({"type":"string","format":"date"})",
       {"\"2026-11-27\"", "\"0001-02-28\""},
       {"\"2026-02-30\"", "\"2026-13-01\"", "\"0000-01-01\"", "\"26-1-1\""}},
      {R"({"type":"string","format":"date-time"})",
       {"\"2026-11-27T10:00:00Z\"", "\"2026-11-27T23:59:59.5+01:30\""},
       {"\"2026-11-27\"", "\"2026-11-27T10:00:00\""}},
      {R"({"type":"string","format":"uuid"})", {"\"01234567-89ab-cdef-0123-456789abcdef\""}, {"\"0123\""}},
      {R"({"type":"string","format":"ipv4"})", {"\"255.0.10.1\""}, {"\"256.0.0.1\"", "\"1.2.3\"", "\"01.2.3.4\""}},
      {R"({"type":"array","contains":{"const":7},"items":{"type":"integer"}})", {"[7]", "[7,1,7]"}, {"[]", "[1,7]"}},
      {R"({"not":{"type":["object","array","string","number"]}})", {"null", "true"}, {"1", "\"\"", "{}"}},
      {R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"dependentRequired":{"a":["b"]}})",
       {"{}", "{\"b\":null}", "{\"a\":null,\"b\":null}"},
       {"{\"a\":null}"}},
      {R"({"properties":{"a":{"type":"null"}},"allOf":[{"properties":{"b":{"type":"null"}}}],"unevaluatedProperties":{"type":"integer"}})",
       {"{\"a\":null,\"b\":null,\"c\":1}", "{}"},
       {"{\"a\":1}", "{\"c\":null}"}},
      {R"({"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["v","next"]})",
       {"{\"v\":1,\"next\":null}", "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}"},
       {"{\"v\":1}", "{\"v\":1,\"next\":{}}", "{\"v\":1,\"next\":{\"v\":2,\"next\":null}"}},
      {R"({"oneOf":[{"type":"object","properties":{"k":{"const":1},"v":{"type":"null"}},"required":["k"]},{"type":"object","properties":{"k":{"const":2}},"required":["k"]},{"type":"string","enum":["k"]},{"const":"l"}]})",
       {"{\"k\":1,\"v\":null}", "{\"k\":2}", "\"k\"", "\"l\""},
       {"{\"k\":2,\"v\":null}", "{\"k\":3}"}},
  };
  const std::string letters(1000, 'e');
  CHECK(texts(R"({"type":"string","minLength":900,"maxLength":1000})").accepts('"' + letters + '"'));
  CHECK_FALSE(texts(R"({"type":"string","minLength":900,"maxLength":999})").accepts('"' + letters + '"'));
  CHECK_FALSE(texts(R"({"type":"string","minLength":1001})").accepts('"' + letters + '"'));
  // RFC 5321: 64 bytes in front of the @, 253 behind it, 63 of a label.
  const std::string a19(19, 'a'), name = std::string(32, 'n') + "." + std::string(15, 'n') + "." + std::string(15, 'n'),
                                  label = a19 + "-" + a19 + "-" + a19, host = label + "." + label + "." + label + "." + label;
  const Texts email = texts(R"({"format":"email","type":"string"})"), hostname = texts(R"({"format":"hostname","type":"string"})");
  CHECK(name.size() == 64);
  CHECK(email.accepts("\"" + name + "@" + host + ".museummuseum\""));
  CHECK_FALSE(email.accepts("\"" + name + "n@" + host + ".museum\""));
  CHECK_FALSE(email.accepts("\"" + name + "@" + host + "a.museum\""));
  CHECK(hostname.accepts('"' + host + '"'));
  CHECK_FALSE(hostname.accepts('"' + host + "a\""));
  const auto spaced = static_cast<linnet_grammar_kind>(LINNET_GRAMMAR_SCHEMA | LINNET_GRAMMAR_SPACED);
  const Texts loose = texts(R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})", spaced);
  for (const char* s : {"{\"a\":[1]}", "{ \"a\": [\n  1,\n  {\"b\": 2}\n] }", "{}"}) CHECK(loose.accepts(s));
  CHECK_FALSE(loose.accepts("{\"a\" :[1]}"));
  Blob unused;
  CHECK(compile(R"({"format":"unheard of"})", LINNET_GRAMMAR_SCHEMA, &unused) == LINNET_UNSUPPORTED);
  CHECK(compile(R"({"format":"unheard of"})", static_cast<linnet_grammar_kind>(LINNET_GRAMMAR_SCHEMA | LINNET_GRAMMAR_ANY_FORMAT),
                &unused) == LINNET_OK);
  CHECK(compile("a", static_cast<linnet_grammar_kind>(LINNET_GRAMMAR_REGEX | LINNET_GRAMMAR_SPACED), &unused) == LINNET_BAD_ARG);
  for (const Case& c : cases) {
    const Texts t = texts(c.schema);
    for (const char* s : c.good) {
      INFO(c.schema << " should take " << s);
      CHECK(t.accepts(s));
    }
    for (const char* s : c.bad) {
      INFO(c.schema << " should not take " << s);
      CHECK_FALSE(t.accepts(s));
    }
  }
}

TEST_CASE("integers within bounds: each one, against counting") {
  std::mt19937 random(5);
  for (int i = 0; i < (kSlow ? 12 : 60); ++i) {
    const int a = static_cast<int>(random() % 2400) - 1200, b = a + static_cast<int>(random() % (i % 2 ? 30 : 1500));
    const Texts t = texts("{\"type\":\"integer\",\"minimum\":" + std::to_string(a) + ",\"maximum\":" + std::to_string(b) + "}");
    for (int v = -3000; v < 3000; ++v)
      if (t.accepts(std::to_string(v)) != (a <= v && v <= b)) FAIL(a << ".." << b << ": " << v);
  }
}

TEST_CASE("what is not supported is refused by name and place") {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"type":"array","items":{"type":"null"},"uniqueItems":true})", "uniqueItems"},
      {R"({"type":"string","format":"regex"})", "it: #: format \"regex\" is not supported"},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"integer","multipleOf":0.5}}}})",
       "it: #/properties/a/items/multipleOf: multiples of whole"},
      {R"({"not":{"type":"string","maxLength":3}})", "it: #: keyword 'not' of such a schema is not supported"},
      {R"({"if":{"required":["a"]},"then":{"required":["b"]}})", "it: #: keyword 'if' is not supported"},
      {R"({"type":"object","minProperties":2})", "'minProperties' above 1"},
      {R"({"type":"array","prefixItems":[{}],"contains":{"type":"null"}})", "'contains' beside 'prefixItems'"},
      {R"({"$dynamicRef":"#a"})", "'$dynamicRef'"},
      {R"({"allOf":[{"contentEncoding":"x","unknown":1},{"type":"string"}]})", "'unknown'"},
      {R"({"allOf":[{"format":"date"},{"format":"uuid"}]})", "keyword 'format' twice"},
      {R"({"type":"object","propertyNames":{"anyOf":[{"maxLength":3},{"pattern":"a"}]}})", "#/propertyNames: alternatives"},
      {R"~({"type":"object","patternProperties":{"(?=a)":{}}})~", "#/patternProperties: a group that begins with '(?'"},
      {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", "it: # begins with itself: left recursion"},
      {R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}})", "without end"},
      {R"({"type":"integer","minimum":1e300})", "more than 18 digits"},
      {R"({"type":"number","maximum":-1000000000000000000})", "more than 18 digits"},
      {R"({"$ref":"http://example.com/a"})", "#/$ref: $ref is to"},
      {R"({"oneOf":[{"const":1},{"const":1.0e0}]})", "#/oneOf: alternatives 0 and 1 may both hold"},
      {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", "#/oneOf: alternatives 0 and 1 may both hold"},
      {R"({"oneOf":[{"type":"string"},{"const":"a"}]})", "may both hold"},
      {R"({"oneOf":[{"const":1},{"const":1.0}]})", "may both hold"},
      {R"({"oneOf":[{"const":{"a":1,"b":2}},{"const":{"b":2,"a":1}}]})", "may both hold"},
      {R"~({"type":"string","pattern":"^(?=a)"})~", "'(?'"},
      {R"({"type":"string","pattern":"\\bа"})", "'\\b'"},
      {R"({"type":"string","pattern":"(a)\\1"})", "'\\1'"},
      {R"({"type":"string","pattern":"a$b"})", "'$' before the end"},
      {R"~({"type":"string","pattern":"a(^b)"})~", "'^' where it stands"},
      {R"({"type":"string","pattern":"a{1001}"})", "a count above 1000"},
      {R"({"type":"string","pattern":"(((a{1000}){1000}){1000}){1000}"})", "nodes"},
      {R"~({"type":"string","pattern":"(a|b)*a(a|b){40}$"})~", "states"},
  };
  for (const auto& [schema, what] : cases) refused(schema, what);
  for (const char* schema :
       {"", "{", "7", "[]", "{\"type\":\"strin\"}", "{\"type\":[]}", "{\"enum\":[]}", "{\"type\":\"null\",\"type\":\"null\"}",
        "{\"type\":\"integer\",\"minimum\":3,\"maximum\":2}", "{\"type\":\"string\",\"minLength\":-1}",
        "{\"type\":\"string\",\"minLength\":3,\"maxLength\":2}", "{\"type\":\"string\",\"enum\":[1]}", "{\"$ref\":\"#/$defs/a\"}",
        "{\"type\":\"string\",\"pattern\":\"^[^\\\\s\\\\S]$\"}", "{\"anyOf\":[]}", "{\"type\":\"null\"} x",
        "{\"type\":\"string\",\"minimum\":\"\xff\"}"}) {
    Blob blob;
    INFO(schema);
    CHECK(compile(schema, LINNET_GRAMMAR_SCHEMA, &blob) == LINNET_BAD_FILE);
  }
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += "{\"type\":\"array\",\"items\":";
  Blob blob;
  CHECK(compile(deep + "1" + std::string(70, '}'), LINNET_GRAMMAR_SCHEMA, &blob) == LINNET_BAD_FILE);
  for (const char* tools : {"{}", "[]", "[1]", "[{\"name\":\"\"}]", "[{\"name\":\"a\"},{\"name\":\"a\"}]"})
    CHECK(compile(tools, LINNET_GRAMMAR_CALL, &blob) == LINNET_BAD_FILE);
  for (const char* tools :
       {"[{\"name\":\"a\",\"type\":\"web\"}]", "[{\"name\":\"a\",\"more\":1}]", "[{\"name\":\"a\",\"parameters\":{\"type\":\"string\"}}]",
        "[{\"name\":\"a\",\"parameters\":{\"type\":\"object\",\"oneOf\":[]}}]"})
    CHECK(compile(tools, LINNET_GRAMMAR_CALL, &blob) == LINNET_UNSUPPORTED);
}

TEST_CASE("tools: a call of one of them, or text") {
  const std::string tools = file_text(kTools);
  const Texts calls = texts(tools, LINNET_GRAMMAR_CALL), both = texts(tools, LINNET_GRAMMAR_TEXT_OR_CALL);
  for (const char* s : {R"({"name":"get_music","arguments":{}})", R"({"name":"set_timer","arguments":{"minutes":10,"name":"pasta"}})",
                        R"({"name":"set_alarm","arguments":{"time":"07:30"}})"}) {
    CHECK(calls.accepts(s));
    CHECK(both.accepts(s));
  }
  for (const char* s :
       {R"({"name":"set_alarm","arguments":{}})", R"({"name":"no_tool","arguments":{}})",
        R"({"name":"set_timer","arguments":{"minutes":-1}})", R"({"name":"get_music"})", "", " {", "{x", "\xff", "\xe2\x80\x80{"}) {
    CHECK_FALSE(calls.accepts(s));
    CHECK_FALSE(both.accepts(s));
  }
  for (const char* s : {"Hello.", "\xc3\x89t\xc3\xa9\n{}", "a"}) {
    CHECK_FALSE(calls.accepts(s));
    CHECK(both.accepts(s));
  }
  size_t n = 0, held = 0;
  std::ifstream in("examples/assistant/training/heldout.jsonl");
  for (std::string line; std::getline(in, line);) {
    const json conversation = json::parse(line);
    for (const json& m : conversation["messages"])
      if (m["role"] == "assistant") {
        const std::string said = m["content"].get<std::string>();
        ++n;
        if (both.accepts(said))
          ++held;
        else
          WARN(said);
      }
  }
  CHECK(n > 3000);
  CHECK(held == n);  // what the model was taught to say is all allowed
}

TEST_CASE("random tokens under masks: every text parses and obeys") {
  const Assistant a;
  std::vector<std::string> of_token(a.m->spec.n_vocab);
  for (uint32_t i = 0; i < of_token.size(); ++i)
    of_token[i] = std::string(linnet::token_bytes(a.m->tokenizer, static_cast<int32_t>(i), false));
  std::mt19937 random(11);
  const std::vector<std::string> schemas = {
      R"({"type":"object","properties":{"n":{"type":"integer","minimum":-250,"maximum":1999},"f":{"type":"number","minimum":-3,"exclusiveMaximum":12},"s":{"type":"string","minLength":1,"maxLength":12},"e":{"enum":["on","off",{"a":[]}]},"l":{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1,"maxItems":4}},"required":["l"],"$defs":{"x":{"anyOf":[{"type":"null"},{"type":"string","maxLength":3},{"type":"object","properties":{"b":{"type":"boolean"},"i":{"type":"integer"}}}]}}})",
      R"({"type":"array","items":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"v":{"type":"number"}},"required":["k","v"]},{"type":"object","properties":{"k":{"const":"b"},"t":{"type":"string","pattern":"^[0-2][0-9]:[0-5][0-9]$"}},"required":["k","t"]}]},"maxItems":5})",
      file_text(kTools)};
  size_t n_texts = 0, n_tokens = 0;
  for (size_t kind = 0; kind < schemas.size(); ++kind) {
    const Grammar g(a.m, compiled(schemas[kind], kind == 2 ? LINNET_GRAMMAR_CALL : LINNET_GRAMMAR_SCHEMA));
    const json schema = json::parse(schemas[kind]);
    for (int i = 0; i < (kSlow ? 150 : 1200); ++i) {
      std::string text;
      uint32_t state = 0;
      for (uint32_t t = 0; !linnet::grammar_complete(*g.g, state); ++t) {
        linnet::TokenMask mask;
        linnet_error err{};
        check(linnet::grammar_mask(*g.g, state, true, &mask, &err), err);
        // From a random place the next token that is allowed; long texts are led to their ends.
        uint32_t token = static_cast<uint32_t>(random() % of_token.size());
        const auto allowed = [&](uint32_t id) { return (mask.bits[id / 32] >> id % 32 & 1) != 0; };
        while (!allowed(token)) token = (token + 1) % static_cast<uint32_t>(of_token.size());
        for (const char* end : {"]", "}", "\""})  // the last of them counts
          for (uint32_t id = 0; t > 30 && id < of_token.size(); ++id)
            if (allowed(id) && of_token[id] == end) token = id;
        state = linnet::grammar_advance(*g.g, state, static_cast<int32_t>(token));
        REQUIRE(state < g.g->n_states);
        text += of_token[token];
        ++n_tokens;
        REQUIRE(t < 5000);
      }
      ++n_texts;
      const json v = json::parse(text, nullptr, false);
      INFO(text);
      REQUIRE_FALSE(v.is_discarded());
      REQUIRE((kind == 2 ? call_obeys(text, schema) : obeys(v, schema, schema)));
    }
  }
  CHECK(n_texts == (kSlow ? 450u : 3600u));
  CHECK(n_tokens > 3 * n_texts);
}

TEST_CASE("a mask holds the tokens whose bytes go on, and no other") {
  const Assistant a;
  const Grammar g(a.m, compiled(file_text(kTools), LINNET_GRAMMAR_TEXT_OR_CALL));
  CHECK(g.g->n_masks < 65535);
  std::mt19937 random(3);
  for (int i = 0; i < (kSlow ? 60 : 400); ++i) {
    const uint32_t state = i ? static_cast<uint32_t>(random() % g.g->n_states) : 0;
    linnet::TokenMask mask;
    linnet_error err{};
    check(linnet::grammar_mask(*g.g, state, false, &mask, &err), err);
    uint32_t n = 0;
    for (uint32_t id = 0; id < a.m->spec.n_vocab; ++id) {
      const bool allowed = mask.bits[id / 32] >> id % 32 & 1;
      n += allowed;
      if (allowed != (linnet::grammar_advance(*g.g, state, static_cast<int32_t>(id)) != linnet::kGrammarLost))
        FAIL("state " << state << ", token " << id);
    }
    CHECK(n == mask.n_allowed);
  }
  for (const char* special : {"<|user|>", "<|tool|>"}) {  // no text of the model's may hold them
    const Tokens t = a.tokens(special, LINNET_PARSE_SPECIAL);
    REQUIRE(t.size() == 1);
    CHECK(linnet::grammar_advance(*g.g, 0, t[0]) == linnet::kGrammarLost);
  }
}

TEST_CASE("the bundled model with its tools: every call obeys, however it is drawn") {
  const Assistant a;
  const json tools = json::parse(file_text(kTools));
  const Grammar either(a.m, compiled(file_text(kTools), LINNET_GRAMMAR_TEXT_OR_CALL)),
      call(a.m, compiled(file_text(kTools), LINNET_GRAMMAR_CALL));
  Chat chat(a), free(a);
  std::ifstream in("examples/assistant/training/heldout.jsonl");
  std::string line;
  size_t n_calls = 0, n_changed = 0, n_wild = 0;
  for (int i = 0; i < 120 && std::getline(in, line); ++i) {
    const Tokens prompt = a.request(json::parse(line)["messages"][0]["content"].get<std::string>());
    chat.sampling(0, 0);
    free.sampling(0, 0);
    const auto greedy = chat.answer(prompt, either.g), as_it_likes = free.answer(prompt, nullptr);
    n_changed += greedy.tokens != as_it_likes.tokens;
    for (const bool hot : {false, true}) {
      chat.sampling(hot ? 3.0f : 0, static_cast<uint64_t>(i), i % 3 ? 0 : 40);
      const auto out = hot ? chat.answer(prompt, call.g, 200) : greedy;
      INFO(out.text);
      if (out.text[0] == '{' && out.why != LINNET_STOP_LENGTH) {
        ++n_calls;
        n_wild += hot;
        CHECK(out.why == LINNET_STOP_GRAMMAR);
        CHECK(call_obeys(out.text, tools));
      }
    }
  }
  CHECK(n_calls > 100);
  CHECK(n_wild > 20);
  CHECK(n_changed < 12);  // what it says anyway is what it may say
  // Negative control: as hot and without the grammar hardly anything is a call.
  chat.sampling(3.0f, 1);
  CHECK_FALSE(call_obeys(chat.answer(a.request("set a timer for ten minutes"), nullptr).text, tools));
}

TEST_CASE("calls as a template writes them: marks are special tokens, and come where marks stand alone") {
  const Assistant a;
  const Program program(
      "{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}<|end|>{% else %}<|assistant|>"
      "{% if m.reasoning_content %}<hm>{{ m.reasoning_content }}</hm>{% endif %}{{ m.content }}"
      "{% for t in m.tool_calls %}<|tool|>{{ {'name': t.function.name, 'arguments': t.function.arguments}|tojson }}</t>{% endfor %}"
      "<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% if deep %}<hm>{% endif %}{% endif %}");
  const Template t(program.view, a.m);
  const std::string text = file_text(kTools);
  const json tools = json::parse(text);
  linnet_error err{};
  struct Said {
    json calls = json::array();
    std::string name, arguments, content, reasoning;
  };
  const auto hear = [](void* user, const linnet_answer_event* e) {
    Said& said = *static_cast<Said*>(user);
    const std::string s(e->text, e->text_bytes);
    if (e->kind == LINNET_ANSWER_REASONING) said.reasoning += s;
    if (e->kind == LINNET_ANSWER_CONTENT) said.content += s;
    if (e->kind == LINNET_ANSWER_CALL) said.name = s, said.arguments.clear();
    if (e->kind == LINNET_ANSWER_ARGUMENTS) said.arguments += s;
    if (e->kind == LINNET_ANSWER_CALL_END)
      said.calls.push_back({{"name", said.name}, {"arguments", json::parse(said.arguments, nullptr, false)}});
  };
  linnet_need need{.size = sizeof need};
  check(linnet_answer_need(0, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_answer* answer = nullptr;
  check(linnet_answer_init(&answer, memory.p, need.bytes, t.t, 0, &err), err);
  Chat chat(a);
  const int32_t mark = a.tokens("<|tool|>", LINNET_PARSE_SPECIAL).front();
  size_t n_calls = 0, n_marks = 0, n_texts = 0, n_reasoned = 0;
  for (const bool required : {true, false})
    for (const char* const chosen : {"", "set_timer"}) {
      linnet_call_rules rules{};
      rules.size = sizeof rules;
      rules.choice = required ? LINNET_CALL_REQUIRED : LINNET_CALL_AUTO;
      rules.tool = *chosen ? chosen : nullptr;
      size_t n = 0;
      CHECK(linnet_grammar_calls(nullptr, t.t, text.data(), text.size(), "tools", &rules, nullptr, 0, &n, &err) == LINNET_TOO_SMALL);
      Blob blob(n);
      check(linnet_grammar_calls(nullptr, t.t, text.data(), text.size(), "tools", &rules, blob.data(), n, &n, &err), err);
      const Grammar g(a.m, blob);
      linnet::TokenMask mask;
      check(linnet::grammar_mask(*g.g, 0, false, &mask, &err), err);
      const auto allowed = [&mask](int32_t id) { return mask.bits[id / 32] >> id % 32 & 1; };
      CHECK(allowed(mark));
      for (const char* const other : {"<|user|>", "<|assistant|>"}) CHECK_FALSE(allowed(a.tokens(other, LINNET_PARSE_SPECIAL).front()));
      for (const bool deep : {false, true}) {
        const std::string c =
            std::string(R"({"messages":[{"role":"user","content":"set a timer for ten minutes"}],"add_generation_prompt":true,"deep":)") +
            (deep ? "true}" : "false}");
        const Tokens prompt = t.tokens(a.m, t.render(c).size());
        for (uint64_t seed = 0; seed < (kSlow ? 4 : 20); ++seed) {
          chat.sampling(seed % 2 ? 3.0f : 1.0f, seed);
          REQUIRE(linnet_truncate(chat.s, 0, 0, nullptr) == LINNET_OK);
          check(linnet_prefill(chat.s, 0, prompt.data(), prompt.size(), &err), err);
          check(linnet_grammar_begin(chat.s, 0, g.g, t.t, &err), err);
          const Chat::Answer out = chat.go_on(250);
          Said said;
          check(linnet_answer_begin(answer, text.data(), text.size(), hear, &said, &err), err);
          check(linnet_answer_feed(answer, out.text.data(), out.text.size(), &err), err);
          check(linnet_answer_end(answer, &err), err);
          INFO(required << " " << chosen << " " << deep << ": " << out.text);
          CHECK(said.calls.size() <= 1);
          for (const json& call : said.calls) {
            CHECK(call_obeys(call.dump(), tools));
            CHECK((!*chosen || call["name"] == chosen));
          }
          if (required && out.why != LINNET_STOP_LENGTH) {
            CHECK(said.calls.size() == 1);
            CHECK(said.content.empty());
          }
          if (out.why == LINNET_STOP_LENGTH && required) CHECK((said.calls.empty() || deep));
          n_calls += said.calls.size(), n_texts += !said.content.empty(), n_reasoned += !said.reasoning.empty();
          for (const int32_t id : out.tokens) {
            n_marks += id == mark;
            uint32_t kind = 0;
            check(linnet_token_kind(a.m, id, &kind, &err), err);
            CHECK((!(kind & LINNET_TOKEN_SPECIAL) || id == mark || kind & LINNET_TOKEN_EOG));
          }
        }
      }
    }
  INFO(n_calls << " calls, " << n_marks << " marks, " << n_texts << " texts, " << n_reasoned << " reasoned");
  CHECK(n_calls > (kSlow ? 4 : 20));
  CHECK(n_marks > (kSlow ? 2 : 10));
  CHECK(n_reasoned > 0);
  CHECK(n_texts > 0);
}

TEST_CASE("decode, sample, rollback and forks keep to the grammar") {
  const Assistant a;
  const Grammar g(a.m, compiled(R"({"type":"array","items":{"enum":["one","two",3]},"minItems":2,"maxItems":6})"));
  auto p = params(0, 1, 0, 0, 512);
  p.n_sequences = 2;
  Chat chat(a, p);
  chat.sampling(1.5f, 7);
  const Tokens prompt = a.request("hello");
  const auto first = chat.answer(prompt, g.g);
  CHECK(first.why == LINNET_STOP_GRAMMAR);
  const json v = json::parse(first.text, nullptr, false);
  INFO(first.text);
  REQUIRE(v.is_array());
  CHECK(v.size() >= 2);
  CHECK(chat.go_on(10).tokens.empty());  // nothing may follow
  // Where the text is complete linnet_decode draws what ends a generation, and goes on doing so.
  linnet_error err{};
  int32_t token = -1;
  for (int i = 0; i < 2; ++i) {
    check(linnet_decode(chat.s, 0, &token, &err), err);
    CHECK(linnet::token_is_eog(a.m->tokenizer, token));
  }
  // Another text in a fork from before the first one.
  const Tokens other = a.tokens("[3", LINNET_PARSE_SPECIAL);
  check(linnet_fork(chat.s, 0, 1, prompt.size(), &err), err);
  check(linnet_prefill(chat.s, 1, other.data(), other.size(), &err), err);
  check(linnet_sample(chat.s, 1, &token, &err), err);
  CHECK(linnet::token_bytes(a.m->tokenizer, token, false)[0] == ',');
  // Back to each place in the text: what is drawn behind it is a text of the grammar with that beginning.
  for (size_t keep = 0; keep < first.tokens.size(); ++keep) {
    REQUIRE(linnet_truncate(chat.s, 0, prompt.size() + keep, nullptr) == LINNET_OK);
    const int32_t last = keep ? first.tokens[keep - 1] : prompt.back();
    check(linnet_fork(chat.s, 0, 1, prompt.size() + keep - 1, &err), err);
    REQUIRE(linnet_truncate(chat.s, 0, prompt.size() + keep - 1, nullptr) == LINNET_OK);
    check(linnet_prefill(chat.s, 0, &last, 1, &err), err);  // for its logits, and counted when it is of the text
    INFO("keep " << keep);
    check(linnet_prefill(chat.s, 1, &last, 1, &err), err);
    for (const uint32_t seq : {0u, 1u})
      if (keep == 0) check(linnet_grammar_set(chat.s, seq, g.g, &err), err);
    std::string begin;
    for (size_t i = 0; i < keep; ++i) begin += linnet::token_bytes(a.m->tokenizer, first.tokens[i], false);
    const std::string text = begin + chat.go_on(100).text;
    INFO(text);
    CHECK(json::parse(text, nullptr, false).is_array());
    std::string forked = begin;
    for (;;) {
      check(linnet_sample(chat.s, 1, &token, &err), err);
      if (linnet::token_is_eog(a.m->tokenizer, token)) break;
      check(linnet_prefill(chat.s, 1, &token, 1, &err), err);
      forked += linnet::token_bytes(a.m->tokenizer, token, false);
    }
    INFO(forked);
    CHECK(json::parse(forked, nullptr, false).is_array());
    check(linnet_truncate(chat.s, 0, prompt.size(), nullptr), err);
    check(linnet_prefill(chat.s, 0, first.tokens.data(), keep + 1, &err), err);
    check(linnet_sample(chat.s, 0, &token, &err), err);
  }
  // Tokens that do not obey are prefilled, and then nothing is drawn until they are taken back.
  chat.answer(prompt, g.g, 1);
  const Tokens wrong = a.tokens("]]", LINNET_PARSE_SPECIAL);
  size_t length = 0;
  REQUIRE(linnet_length(chat.s, 0, &length, nullptr) == LINNET_OK);
  check(linnet_prefill(chat.s, 0, wrong.data(), wrong.size(), &err), err);
  CHECK(linnet_decode(chat.s, 0, &token, &err) == LINNET_BAD_STATE);
  CHECK(std::string(err.text).find("do not obey") != std::string::npos);
  REQUIRE(linnet_truncate(chat.s, 0, 0, nullptr) == LINNET_OK);
  check(linnet_prefill(chat.s, 0, prompt.data(), prompt.size(), &err), err);
  CHECK(linnet_decode(chat.s, 0, &token, &err) ==
        LINNET_BAD_STATE);  // it begins anew where the sequence was cut, so that the prompt counts
  check(linnet_grammar_set(chat.s, 0, g.g, &err), err);
  check(linnet_decode(chat.s, 0, &token, &err), err);
  CHECK(linnet::token_bytes(a.m->tokenizer, token, false)[0] == '[');
  check(linnet_grammar_set(chat.s, 0, nullptr, &err), err);
  check(linnet_decode(chat.s, 0, &token, &err), err);
}

TEST_CASE("the text goes on while its beginning is forgotten") {
  const Assistant a;
  const Grammar g(a.m, compiled(R"({"type":"array","items":{"enum":["one","two",3]},"minItems":2000,"maxItems":2000})"));
  auto p = params(0, 1, 16, 0, 64);
  p.when_full = LINNET_FULL_SINKS;
  Chat chat(a, p);
  chat.sampling(1.5f, 3);
  const auto out = chat.answer(a.request("hello"), g.g, 100000);
  CHECK(out.why == LINNET_STOP_GRAMMAR);
  CHECK(out.tokens.size() > 3000);
  const json v = json::parse(out.text, nullptr, false);
  REQUIRE(v.is_array());
  CHECK(v.size() == 2000);
}

TEST_CASE("tiers and threads draw the same tokens under a grammar") {
  std::vector<Tokens> all;
  for (const linnet_isa isa : tiers())
    for (const uint32_t threads : {1u, 2u}) {
      const Assistant a(isa);
      const Grammar g(a.m, compiled(file_text(kTools), LINNET_GRAMMAR_CALL));
      Chat chat(a, params(0, threads, 0, 0, 512));
      chat.sampling(1.2f, 5, 30);
      all.push_back(chat.answer(a.request("put milk and eggs on the shopping list"), g.g).tokens);
    }
  for (const Tokens& t : all) CHECK(t == all[0]);
  CHECK(all[0].size() > 5);
}

TEST_CASE("what a grammar forces is computed at once, and changes nothing") {
  const Assistant a;
  const std::string counted = "root ::= item{2,}\nitem ::= \"<entry kind='of the second kind'>\" ([a-c] | root){1,70} \"</entry>\"";
  const std::string schema =
      R"({"type":"object","properties":{"temperature_in_celsius":{"type":"integer","maximum":99},"destination_address":{"type":"object","properties":)"
      R"({"street_and_number":{"type":"string","maxLength":9},"country":{"enum":["Germany","Liechtenstein"]}},"required":["street_and_number","country"]},)"
      R"("confirmed":{"const":true}},"required":["temperature_in_celsius","destination_address","confirmed"]})";
  const Grammar grammars[] = {
      {a.m, compiled(file_text(kTools), LINNET_GRAMMAR_CALL)}, {a.m, compiled(schema)}, {a.m, compiled(counted, LINNET_GRAMMAR_GBNF)}};
  const Tokens prompt = a.request("wake me at seven thirty tomorrow");
  const auto count = [](const Chat& chat) {
    linnet_stats stats{.size = sizeof stats};
    REQUIRE(linnet_stats_get(chat.s, &stats, nullptr) == LINNET_OK);
    REQUIRE(linnet_stats_reset(chat.s, nullptr) == LINNET_OK);
    return stats;
  };
  const auto same = [&a](const Chat& one, const Chat& other) {  // what is left behind
    Tokens tokens[2] = {Tokens(600), Tokens(600)};
    const float* logits[2] = {};
    for (const Chat* chat : {&one, &other}) {
      size_t n = 0;
      REQUIRE(linnet_tokens(chat->s, 0, 0, tokens[chat == &other].data(), 600, &n, nullptr) == LINNET_OK);
      tokens[chat == &other].resize(n);
      REQUIRE(linnet_logits(chat->s, 0, 0, &logits[chat == &other], &n, nullptr) == LINNET_OK);
    }
    return tokens[0] == tokens[1] && !std::memcmp(logits[0], logits[1], a.m->spec.n_vocab * sizeof(float));
  };
  uint64_t tokens = 0, passes = 0;
  for (const uint32_t kv : {uint32_t{LINNET_I8}, uint32_t{LINNET_KIVI2}})
    for (const uint32_t rows : {2u, 5u, 16u}) {
      Chat one(a, params(kv, 1, 16, 1, 512)), several(a, params(kv, 2, 16, rows, 512));
      for (const Grammar& g : grammars)
        for (const float temperature : {0.0f, 1.0f, 3.0f}) {
          const uint64_t seed = 5 * rows + static_cast<uint64_t>(temperature);
          one.sampling(temperature, seed), several.sampling(temperature, seed);
          CAPTURE(kv, rows, temperature, &g - grammars);
          const auto want = one.answer(prompt, g.g, 90), got = several.answer(prompt, g.g, 90);
          REQUIRE(got.tokens == want.tokens);
          CHECK((got.text == want.text && got.why == want.why));
          CHECK(same(one, several));
          const linnet_stats by_one = count(one), at_once = count(several);
          CHECK(by_one.decode_passes == by_one.decode_tokens);
          CHECK((at_once.decode_tokens == by_one.decode_tokens && at_once.decode_passes <= by_one.decode_passes));
          tokens += at_once.decode_tokens, passes += at_once.decode_passes;
          // In pieces it is the same, wherever they end, and so is what is left behind.
          one.sampling(temperature, seed), several.sampling(temperature, seed);
          for (uint32_t n = 1, done = 0; done < want.tokens.size(); done += n++) {
            const auto first = done ? one.go_on(n) : one.answer(prompt, g.g, n),
                       second = done ? several.go_on(n) : several.answer(prompt, g.g, n);
            REQUIRE((first.tokens == second.tokens && first.why == second.why));
            CHECK(same(one, several));
            for (size_t i = 0; i < first.tokens.size() && done + i < want.tokens.size(); ++i)
              REQUIRE(first.tokens[i] == want.tokens[done + i]);
          }
        }
    }
  std::printf("%llu tokens in %llu passes\n", static_cast<unsigned long long>(tokens), static_cast<unsigned long long>(passes));
  CHECK(passes < tokens * 9 / 10);
}

TEST_CASE("blobs: what is damaged is refused, or does no harm") {
  const Assistant a;
  const Blob good = compiled(file_text(kTools), LINNET_GRAMMAR_TEXT_OR_CALL);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  check(linnet_grammar_need(a.m, good.data(), good.size(), &need, &err), err);
  Memory memory(need.bytes);
  linnet_grammar* g = nullptr;
  CHECK(linnet_grammar_init(&g, memory.p, need.bytes - 1, a.m, good.data(), good.size(), &err) == LINNET_TOO_SMALL);
  CHECK(std::string(err.text).find(std::to_string(need.bytes)) != std::string::npos);
  CHECK(linnet_grammar_init(&g, static_cast<char*>(memory.p) + 8, need.bytes, a.m, good.data(), good.size(), &err) == LINNET_BAD_ARG);
  for (size_t n = 0; n < good.size(); n += n < 64 ? 1 : 997)
    CHECK(linnet_grammar_need(a.m, good.data(), n, &need, &err) == LINNET_BAD_FILE);
  std::mt19937 random(9);
  size_t n_refused = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    Blob bad = good;
    for (uint32_t k = 0; k <= i % 4; ++k) bad[8 + random() % (i % 2 ? bad.size() - 8 : 4000)] = static_cast<uint8_t>(random());
    linnet_need size{.size = sizeof size};
    if (linnet_grammar_need(a.m, bad.data(), bad.size(), &size, &err) != LINNET_OK || size.bytes > need.bytes + 64 ||
        linnet_grammar_init(&g, memory.p, need.bytes, a.m, bad.data(), bad.size(), &err) != LINNET_OK) {
      ++n_refused;
      continue;
    }
    for (uint32_t state = 0; state < g->n_states; state += 37) {
      linnet::TokenMask mask;
      (void)linnet::grammar_mask(*g, state, false, &mask, nullptr);
    }
  }
  CHECK(n_refused > 50);
}

// Passes of docs/embedding.md, for a model that spells calls as its tokenizer does: test_grammar "[.bench]"
TEST_CASE("what jump-forward saves", "[.bench]") {
  const Blob tools = compiled(file_text(kTools), LINNET_GRAMMAR_TEXT_OR_CALL);
  std::stringstream lines(file_text("examples/assistant/training/heldout.jsonl"));
  std::vector<std::string> calls;
  for (std::string line; std::getline(lines, line);) {
    const json conversation = json::parse(line);
    for (const json& message : conversation["messages"])
      if (const std::string text = message.value("content", ""); message["role"] == "assistant" && text[0] == '{') calls.push_back(text);
  }
  each_vocabulary([&](const char* name, linnet_model& model) {
    const Grammar g(&model, tools);
    std::vector<uint8_t> memory(size_t{1} << 16);
    linnet::Arena arena(memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64), memory.size() - 64);
    linnet::Forced forced;
    linnet::forced_layout(arena, model.tokenizer, &forced);
    REQUIRE(arena.ok());
    uint64_t n_tokens = 0, n_passes = 0;
    for (const std::string& call : calls) {
      Tokens tokens(call.size());
      std::vector<uint8_t> scratch(linnet::tokenize_scratch_bytes(model.tokenizer, call.size()));
      size_t n = 0;
      check(linnet::tokenize(model.tokenizer, call, 0, scratch.data(), scratch.size(), tokens.data(), tokens.size(), &n, nullptr), {});
      uint32_t state = 0;
      for (size_t i = 0; i + 1 < n; ++n_passes) {  // a pass of token i, and of those behind it that are as they were guessed
        state = linnet::grammar_advance(*g.g, state, tokens[i]);
        linnet::forced_find(*g.g, state, tokens.data(), i + 1, 15, &forced);
        for (++i; forced.n && i + 1 < n && tokens[i] == forced.tokens[forced.at]; ++i, ++forced.at, --forced.n)
          state = linnet::grammar_advance(*g.g, state, tokens[i]);
      }
      n_tokens += n - 1;
    }
    std::printf("%-8s %zu calls: %llu tokens behind their first ones in %llu passes\n", name, calls.size(),
                static_cast<unsigned long long>(n_tokens), static_cast<unsigned long long>(n_passes));
  });
}

// The table of docs/embedding.md: test_grammar "[.bench]"
TEST_CASE("what grammars take", "[.bench]") {
  const Blob tools = compiled(file_text(kTools), LINNET_GRAMMAR_TEXT_OR_CALL);
  std::printf("%u states in %zu bytes\n", Texts(tools).h.n_states, tools.size());
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto us = [](auto time) { return std::chrono::duration<double, std::micro>(time).count(); };
  each_vocabulary([&](const char* name, linnet_model& model) {
    linnet_model* const m = &model;
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_grammar_need(m, tools.data(), tools.size(), &need, &err), err);
    const Memory memory(need.bytes);
    linnet_grammar* g = nullptr;
    const auto begin = now();
    check(linnet_grammar_init(&g, memory.p, need.bytes, m, tools.data(), tools.size(), &err), err);
    const double init = us(now() - begin);
    std::vector<double> first, again;  // of each state
    for (uint32_t state = 0; state < g->n_states; ++state) {
      linnet::TokenMask mask;
      const auto a = now();
      check(linnet::grammar_mask(*g, state, false, &mask, &err), err);
      const auto b = now();
      check(linnet::grammar_mask(*g, state, false, &mask, &err), err);
      first.push_back(us(b - a)), again.push_back(us(now() - b));
    }
    std::sort(first.begin(), first.end()), std::sort(again.begin(), again.end());
    std::printf("%-8s %6u tokens: %7zu bytes, init %.0f us; mask of a state, median %.1f us, most %.0f us; once it is kept %.1f us\n", name,
                m->tokenizer.n_tokens, size_t{need.bytes}, init, first[first.size() / 2], first.back(), again[again.size() / 2]);
  });
}

TEST_CASE("a compiler's memory runs out by name, and is as new for the next grammar") {
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  for (const uint32_t states : {0u, linnet::kGrammarMaxStates + 1, UINT32_MAX}) {
    CHECK(linnet_grammar_compiler_need(states, &need, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("max_states is " + std::to_string(states)) != std::string::npos);
  }
  std::string large = "{\"enum\":[";
  for (uint32_t i = 0; i < 9000; ++i) large += (i ? ",\"" : "\"") + std::to_string(i * 7919 % 100003) + " of them\"";
  large += "]}";
  const Compiler small(100);
  Blob blob(1 << 16), again(1 << 16);
  size_t n = 0, m = 0;
  const std::string schema = R"({"type":"object","properties":{"a":{"enum":["x","y",12]},"b":{"type":"boolean"}}})";
  const auto compile_in = [&](const std::string& text, Blob* out, size_t* bytes) {
    return linnet_grammar_compile(small.c, text.data(), text.size(), "it", LINNET_GRAMMAR_SCHEMA, out->data(), out->size(), bytes, &err);
  };
  CHECK(compile_in(schema, &blob, &n) == LINNET_OK);
  CHECK(compile_in(large, &again, &m) == LINNET_NO_MEMORY);
  CHECK(std::string(err.text) == "it: compiling takes more than the 1253376 bytes for 100 states");
  CHECK(compile_in("{", &again, &m) == LINNET_BAD_FILE);
  CHECK(compile_in(schema, &again, &m) == LINNET_OK);
  CHECK((m == n && std::memcmp(blob.data(), again.data(), n) == 0));
}

TEST_CASE("a schema that is too large says where") {
  const std::string large = R"({"type":"string","pattern":"^([a-z]{1,900}[0-9]{1,900}){1,90}$"})", small = R"({"type":"integer"})";
  const std::pair<std::string, const char*> cases[] = {
      {large, "#"},
      {R"({"type":"object","properties":{"a":)" + small + R"(,"deep":)" + large + R"(,"z":)" + small + "}}", "#/properties/deep"},
      {R"({"type":"array","items":{"type":"object","properties":{"x/y~":)" + large + "}}}", "#/items/properties/x~1y~0"},
      {R"({"anyOf":[)" + small + "," + large + "]}", "#/anyOf/1"},
      {R"({"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":)" + large + "}}", "#/$defs/d"},
      {R"({"type":"object","properties":{"a":)" + large + R"(,"b":)" + large + R"(,"c":)" + large + "}}", "#"},
  };
  Blob out(1 << 20);
  for (const auto& [text, place] : cases) {
    linnet_error err{};
    size_t n = 0;
    CAPTURE(text, err.text);
    const linnet_status status =
        linnet_grammar_compile(Compiler(60000).c, text.data(), text.size(), "it", LINNET_GRAMMAR_SCHEMA, out.data(), out.size(), &n, &err);
    CHECK((status == LINNET_UNSUPPORTED || status == LINNET_NO_MEMORY));
    CHECK(std::string(err.text).starts_with("it: " + std::string(place) + ": "));
  }
}
