// Whole tokenizers against the tokenizers library: tests/data/make_pipelines.py.
#include <fstream>
#include <set>

#include "test_tokenizer.h"

TEST_CASE("tokenizers put together at random encode and decode as the tokenizers library does") {
  std::ifstream in("tests/data/pipelines.jsonl");
  REQUIRE(in);
  std::map<std::string, json> models;
  std::map<std::string, size_t> refused;
  size_t built = 0, families = 0, texts = 0, failing = 0, wrong = 0, n_line = 0;
  std::string failures;
  for (std::string line; std::getline(in, line);) {
    json v = json::parse(line);
    if (v.contains("model")) {
      models[v["name"]] = v["model"];
      continue;
    }
    const std::string name = v["name"];
    if (kSanitized && n_line++ % 8) continue;
    json model = models.at(v["of"]);
    model.update(v["change"]);
    v["model"] = model;
    const json cases = v["cases"];
    v.erase("cases");
    Loaded l;
    Error err = {};
    INFO(err.text);
    if (const Status status = build(v, &l, &err); status != LINNET_OK) {
      INFO(name << " " << err.text);
      CHECK(status == LINNET_UNSUPPORTED);
      CHECK(name.empty());
      ++refused[std::string(err.text).substr(0, 100)];
      continue;
    }
    ++built;
    families += !name.empty();
    static const std::map<std::string, const char*> kPre = {
        {"Qwen3.5", "qwen35"},      {"DeepSeek V3", "deepseek-v3"}, {"Kimi K2", "kimi-k2"},
        {"Seed-OSS", "seed-coder"}, {"MiniCPM5", "minicpm5"},       {"Ling", "bailingmoe"},
        {"K-EXAONE", "exaone-moe"}, {"Command A", "tiny_aya"},      {"Jais 2", "jais-2"}};
    if (!name.empty()) CHECK(l.blob.gguf_pre == kPre.at(name));
    open_blob(&l);
    for (const json& c : cases) {
      ++texts;
      const std::string text = c[0];
      if (c[1].is_null()) {
        ++failing;
        std::vector<uint8_t> scratch(tokenize_scratch_bytes(l.t, text.size()));
        size_t n = 0;
        const Status status = tokenize(l.t, text, kAllSpecial, scratch.data(), scratch.size(), nullptr, 0, &n, &err);
        INFO(v["of"].dump() << " " << v["pre_tokenizer"].dump() << " " << c[0].dump());
        CHECK(status == LINNET_UNSUPPORTED);
        continue;
      }
      const Ids want = c[1], plain = c[2];
      const Ids got = encode(l.t, text), got_plain = encode(l.t, text, LINNET_PARSE_SPECIAL);
      const std::string back = lossy(decode(l.t, want));
      if (got == want && got_plain == plain && back == c[3].get<std::string>()) continue;
      if (wrong++ < 5 || v.contains("model")) {
        v.erase("model");
        failures += v["of"].dump() + " " + v["change"].dump() + " normalizer " + v["normalizer"].dump() + " pre_tokenizer " +
                    v["pre_tokenizer"].dump() + " decoder " + v["decoder"].dump() + " added " + v["added_tokens"].dump() + " after " +
                    v["post_processor"].dump() + (got_plain == plain ? "" : "\n  plain differs") + "\n  text " + c[0].dump() + "\n  got  " +
                    json(got).dump() + "\n  want " + c[1].dump() + "\n  back " + json(back).dump() + "\n  want " + c[3].dump() + "\n";
      }
    }
  }
  INFO(failures);
  CHECK(wrong == 0);
  std::printf("tokenizers as in the tokenizers library: %zu, %zu texts (%zu of which it fails at), %zu wrong\n", built, texts, failing,
              wrong);
  for (const auto& [what, n] : refused) std::printf("  refused: %s %zu\n", what.c_str(), n);
  CHECK(families >= (kSanitized ? 1u : 9u));
  CHECK(built > (kSanitized ? 10u : 150u));
}

TEST_CASE("normalizers see characters as the tokenizers library does, whose Unicode is older and newer") {
  const json bert = {
      {"type", "BertNormalizer"}, {"clean_text", true}, {"handle_chinese_chars", false}, {"strip_accents", true}, {"lowercase", false}};
  const struct {
    json normalizer;
    const char *text, *want;
  } cases[] = {
      {bert, "a\u0301b\u1AC2\U00011CA1c\u1734", "ab\u1AC2\U00011CA1c"},  // marks of Unicode 8, no later ones
      {bert, "a\u200Db\u0890\U00013430c", "ab\u0890\U00013430c"},        // and format characters
      {{{"type", "StripAccents"}}, "a\u0301b\u1AC2c\u1CF2", "ab\u1AC2c"},
      {{{"type", "Lowercase"}}, "A\u1C89\U00010D50", "a\u1C8A\U00010D70"},  // Unicode 16
      {{{"type", "NFKC"}}, "\uFB01\u32FF\U00010781", "fi\u32FF\U00010781"},
      {{{"type", "Nmt"}}, "a\u0001b\u200Bc\u2581\uFFFDd\x7F", "ab c  d"},
  };
  for (const auto& c : cases) {
    json tokenizer = byte_level_json({});
    tokenizer["normalizer"] = c.normalizer;
    const auto l = built(tokenizer);
    INFO(c.normalizer.dump() << " " << c.text);
    CHECK(decode(l->t, encode(l->t, c.text)) == c.want);
  }
}

TEST_CASE("UnicodeScripts cuts where the script changes, of an older Unicode; what is of any script begins no piece") {
  json tokenizer = byte_level_json({});
  tokenizer["model"] = {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"?", 0}}}};
  tokenizer["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
  tokenizer["decoder"] = nullptr;
  const auto l = built(tokenizer);
  const std::pair<const char*, size_t> cases[] = {
      {"  ab 12", 2}, {"中ーカひ1", 2}, {"   ", 0},  {"a\u0589b", 3},     {"a\u061Cب", 3},
      {"क\u0953", 1}, {"a\u0560b", 1},  {"aб β", 3}, {"a\U0001F600b", 3},
  };
  for (const auto& [text, pieces] : cases) {
    INFO(text);
    CHECK(encode(l->t, text).size() == pieces);
  }
}
