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
