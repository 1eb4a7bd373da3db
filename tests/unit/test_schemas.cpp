// JSON Schema's own tests (json-schema-org), and keywords in all their uses: what comes through obeys, what is not known is refused by
// name.
#include <filesystem>
#include <map>
#include <random>

#include "tests/unit/test_grammar.h"

using namespace test;

TEST_CASE("JSON Schema's tests: nothing that is invalid comes through") {
  const std::string folder = data_path("vectors/json-schema/draft2020-12");
  if (folder.empty()) {
    std::printf("skipped: no vectors/json-schema under LINNET_DATA or ../shared/data\n");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& f : std::filesystem::recursive_directory_iterator(folder))
    if (f.path().extension() == ".json") files.push_back(f.path());
  std::sort(files.begin(), files.end());
  size_t n_schemas = 0, n_compiled = 0, n_none = 0, n_valid = 0, n_taken = 0, n_invalid = 0;
  std::map<std::string, size_t> refused;
  for (const auto& path : files) {
    const bool format = path.string().find("/format/") != std::string::npos;
    const json cases = json::parse(file_text(path.string()));
    for (const json& one : cases) {
      Blob blob;
      std::string why;
      ++n_schemas;
      const uint32_t kind = LINNET_GRAMMAR_SCHEMA | (format ? 0u : uint32_t{LINNET_GRAMMAR_ANY_FORMAT});
      const linnet_status status = compile(one["schema"].dump(), static_cast<linnet_grammar_kind>(kind), &blob, &why);
      if (status != LINNET_OK) {
        CHECK_FALSE(why.empty());
        if (status == LINNET_BAD_FILE)
          ++n_none;
        else
          ++refused[why.substr(why.rfind(": ") + 2)];
        for (const json& t : one["tests"])  // of what nothing obeys, nothing is valid
          if (status == LINNET_BAD_FILE && t["valid"] == true)
            WARN(path << ": " << one["schema"].dump() << ": " << why << " but " << t["data"].dump());
        continue;
      }
      ++n_compiled;
      const Texts texts(blob);
      for (const json& t : one["tests"]) {
        const bool taken = texts.accepts(t["data"].dump());
        (t["valid"] == true ? n_valid : n_invalid) += 1;
        n_taken += taken && t["valid"] == true;
        if (taken && t["valid"] != true) {
          INFO(path << ": " << one["schema"].dump() << "\n" << t["description"] << ": " << t["data"].dump());
          CHECK_FALSE(taken);
        }
      }
    }
  }
  std::printf("%zu schemas: %zu compile, nothing obeys %zu; %zu of %zu valid instances are written so, of %zu invalid ones none\n",
              n_schemas, n_compiled, n_none, n_taken, n_valid, n_invalid);
  for (const auto& [why, n] : refused) std::printf("  refused: %s: %zu\n", why.c_str(), n);
  CHECK(n_compiled >= 250);
  CHECK(n_taken * 4 > n_valid);
}

TEST_CASE("what once came through without obeying does not") {
  struct Case {
    const char* schema;
    std::vector<std::string> good, bad;
  };
  const std::vector<Case> cases = {
      // a double next to a large bound is a step of 16 away: what stands behind the point would carry it over
      {R"({"type":"number","maximum":123456789012345679,"minimum":123456789012345670})",
       {"123456789012345678", "123456789012345670"},
       {"123456789012345678.5", "123456789012345670.3", "123456789012345680"}},
      {R"({"type":"number","minimum":-1e17,"maximum":0.5})", {"-100000000000000000", "-0.25", "0.5"}, {"-99999999999999999.5", "0.51"}},
      {R"({"type":"number","exclusiveMaximum":1000})", {"999.9", "-5.5"}, {"999.99999999999999999", "1000"}},
      // members and elements that one keyword lets in were not spoken of
      {R"({"type":"object","dependentRequired":{"a":["b"]},"unevaluatedProperties":false})", {}, {R"({"c":1})", R"({"a":1,"b":2})"}},
      {R"({"type":"object","dependentSchemas":{"a":{"properties":{"b":{}}}},"unevaluatedProperties":false})", {}, {R"({"c":1})"}},
      {R"({"type":"object","not":{"required":["a"]},"unevaluatedProperties":false})", {}, {R"({"c":1})"}},
      {R"({"$ref":"#/$defs/a","properties":{"b":{"type":"null"}},"unevaluatedProperties":false,"$defs":{"a":{"type":"object","properties":{"a":{"type":"null"}}}}})",
       {R"({"a":null,"b":null})", R"({"a":null})"},
       {R"({"c":1})", R"({"a":1})"}},
      {R"({"type":"array","contains":{"type":"integer"},"unevaluatedItems":false})", {"[1]"}, {R"([1,"a"])", "[]"}},
      {R"({"allOf":[{"contains":{"multipleOf":2}},{"contains":{"multipleOf":3}}],"unevaluatedItems":{"multipleOf":5}})", {}, {"[0,617]"}},
      // OpenAPI's formats of numbers
      {R"({"type":"integer","format":"int32"})", {"2147483647", "-2147483648"}, {"2147483648", "-2147483649"}},
      {R"({"type":"integer","format":"int32","minimum":5,"maximum":1e12})", {"5", "2147483647"}, {"4", "2147483648"}},
      {R"({"type":"integer","format":"int64"})", {"5"}, {"5.5"}},
  };
  for (const Case& c : cases) {
    const Texts t = texts(c.schema);
    for (const std::string& s : c.good) {
      INFO(c.schema << " should take " << s);
      CHECK(t.accepts(s));
    }
    for (const std::string& s : c.bad) {
      INFO(c.schema << " should not take " << s);
      CHECK_FALSE(t.accepts(s));
    }
  }
  for (const auto& [schema, what] : std::vector<std::pair<const char*, const char*>>{
           {R"({"type":"integer","format":"nonsense"})", "#: format \"nonsense\""},
           {R"({"type":"string","minLength":5000000})", "#/minLength: at most 1048576 are counted"},
           {R"({"type":"array","minItems":5000000,"maxItems":6000000})", "#/minItems: at most"}})
    refused(schema, what);
  // a tool that takes one of some values leaves any value of another tool any
  const Texts calls = texts(R"([{"name":"a","parameters":{"type":"object","properties":{"v":{}}}},
                                {"name":"b","parameters":{"type":"object","enum":[{"x":1}]}}])",
                            LINNET_GRAMMAR_CALL);
  CHECK(calls.accepts(R"({"name":"a","arguments":{"v":{"k":[{"m":1}]}}})"));
  CHECK(calls.accepts(R"({"name":"b","arguments":{"x":1}})"));
}

TEST_CASE("schemas that are made to take long end at a cap, by name") {
  const auto many = [](int n, const auto& one) {
    std::string out;
    for (int i = 0; i < n; ++i) out += (i ? "," : "") + one(std::to_string(i));
    return out;
  };
  using S = std::string;
  const std::vector<std::pair<S, const char*>> cases = {
      // each reference leads to the same wide remark
      {R"({"type":"object","properties":{)" + many(6000, [](const S& i) { return "\"p" + i + R"(":{"$ref":"#/$defs/d)" + i + "\"}"; }) +
           R"(},"$defs":{"b":{"type":"null","examples":[)" + many(300000, [](const S&) { return S("1"); }) + "]}," +
           many(6000, [](const S& i) { return "\"d" + i + R"(":{"$ref":"#/$defs/b"})"; }) + "}}",
       "more than 4096 rules"},
      {R"({"type":"object","properties":{)" + many(9000, [](const S& i) { return "\"p" + i + R"(":{"type":"null"})"; }) +
           R"(},"patternProperties":{)" + many(9000, [](const S& i) { return "\"^q" + i + R"(":{"type":"null"})"; }) + "}}",
       "#/patternProperties: "},
      // one list, not lists in lists
      {R"({"allOf":[)" + many(12000, [](const S& i) { return R"({"properties":{"p":{"minimum":)" + i + "}}}"; }) + "]}", "without end"},
      {R"({"allOf":[)" + many(15000, [](const S& i) { return R"({"propertyNames":{"minLength":)" + i + "}}"; }) + "]}", "without end"},
      {R"({"allOf":[)" + many(12000, [](const S& i) { return R"({"properties":{"p)" + i + R"(":{"type":"null"}}})"; }) + "]}",
       "without end"},
      {R"({"allOf":[{"enum":[)" + many(60000, [](const S& i) { return i; }) + R"(]},{"enum":[)" +
           many(60000, [](const S& i) { return "1" + i; }) + "]}]}",
       "without end"},
  };
  for (const auto& [schema, what] : cases) {
    REQUIRE(schema.size() < 1u << 20);
    refused(schema, what);
  }
}
