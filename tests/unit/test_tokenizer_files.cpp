// Rules of tokenizers, and what is refused: malformed files, hostile tables.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test_tokenizer.h"
#include "tests/folders.h"
#include "tests/models.h"

// ---- flags, sizes ---------------------------------------------------------------------------------------------------------

TEST_CASE("room and scratch are held to the byte") {
  const auto l = built(byte_level_json(kMerges));
  const std::string text = "aaaa the ber\n";
  const Ids whole = encode(l->t, text);
  REQUIRE(whole.size() > 4);
  for (size_t cap = 0; cap <= whole.size(); ++cap) {
    Ids out(whole.size() + 1, -7);
    std::vector<uint8_t> scratch(tokenize_scratch_bytes(l->t, text.size()));
    size_t n = 0;
    Error err = {};
    CHECK(tokenize(l->t, text, kAllSpecial, scratch.data(), scratch.size(), out.data(), cap, &n, &err) ==
          (cap < whole.size() ? LINNET_TOO_SMALL : LINNET_OK));
    CHECK(n == whole.size());
    CHECK(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(cap), whole.begin()));
    CHECK(out[cap] == -7);
    CHECK(tokenize(l->t, text, kAllSpecial, scratch.data(), scratch.size() - 1, out.data(), cap, &n, &err) == LINNET_TOO_SMALL);
  }
  for (size_t cap = 0; cap <= text.size(); ++cap) {
    std::string out(text.size() + 1, '#');
    size_t n = 0;
    CHECK(detokenize(l->t, whole.data(), whole.size(), 0, out.data(), cap, &n, nullptr) ==
          (cap < text.size() ? LINNET_TOO_SMALL : LINNET_OK));
    CHECK(n == text.size());
    CHECK(out.substr(0, cap) == text.substr(0, cap));
    CHECK(out[cap] == '#');
  }
  size_t n = 0;
  Error err = {};
  const Ids beyond{1, 100000};
  CHECK(detokenize(l->t, beyond.data(), 2, 0, nullptr, 0, &n, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("100000") != std::string::npos);
  CHECK(encode(l->t, "").empty());
  CHECK(decode(l->t, {}).empty());
  CHECK(token_bytes(l->t, -1, false).empty());
  CHECK(token_bytes(l->t, 100000, false).empty());
  for (const int32_t id : {-1, 100000}) CHECK((!token_is_eog(l->t, id) && !token_is_special(l->t, id)));
}

TEST_CASE("users cannot forge special tokens") {
  const auto l = built(byte_level_json(kMerges, {added_token("<|end|>", true), added_token("<tool>", false)}));
  const int32_t first_added = static_cast<int32_t>(l->t.n_tokens) - 2;
  CHECK(encode(l->t, "a<|end|><tool>b") == Ids{'a', first_added, first_added + 1, 'b'});
  const Ids plain = encode(l->t, "a<|end|><tool>b", LINNET_ADD_SPECIAL);
  CHECK(std::count(plain.begin(), plain.end(), first_added) == 0);
  CHECK(std::count(plain.begin(), plain.end(), first_added + 1) == 1);  // not special: it still matches
  CHECK(decode(l->t, plain) == "a<|end|><tool>b");
  CHECK(token_is_eog(l->t, first_added));
  CHECK(!token_is_eog(l->t, first_added + 1));

  // Merges that would spell one out are left out, and so is the whole word under ignore_merges.
  json forged = byte_level_json({{"<", "|"}, {"<|", ">"}});
  forged["added_tokens"] = json::array({added_token("<|>", true)});
  forged["added_tokens"][0]["id"] = 257;
  for (const bool ignore_merges : {false, true}) {
    forged["model"]["ignore_merges"] = ignore_merges;
    const auto f = built(forged);
    CHECK(encode(f->t, "<|>") == Ids{257});
    CHECK(encode(f->t, "<|>", LINNET_ADD_SPECIAL) == Ids{256, '>'});
  }
  const auto spm = built(spm_json());
  CHECK(encode(spm->t, "ab</s>") == Ids{1, 266, 2});
  const Ids typed = encode(spm->t, "ab</s><0x41>", 0);
  CHECK(typed.size() == 1 + 4 + 6);
  CHECK(decode(spm->t, typed) == "ab</s><0x41>");
}

TEST_CASE("added tokens: longest match, white space around them") {
  const auto l = built(byte_level_json({}, {added_token("<a>", true), added_token("<a><b>", true), added_token("<l>", true, true, false),
                                            added_token("<r>", true, false, true), added_token("<a", true)}));
  const int32_t a = 256, ab = 257, left = 258, right = 259, open = 260;
  CHECK(encode(l->t, "<a><b>") == Ids{ab});
  CHECK(encode(l->t, "<a><c>") == Ids{a, '<', 'c', '>'});
  CHECK(encode(l->t, "<a<a>") == Ids{open, a});
  CHECK(encode(l->t, "<") == Ids{'<'});
  CHECK(encode(l->t, "x \xC2\xA0\n<l> y") == Ids{'x', left, ' ', 'y'});
  CHECK(encode(l->t, "x <r> \xE3\x80\x80 y") == Ids{'x', ' ', right, 'y'});
  CHECK(encode(l->t, "<r>  <l>") == Ids{right, left});
  CHECK(encode(l->t, " <l> <l>") == Ids{left, left});
  // White space that a token takes hides no other token.
  const auto n =
      built(byte_level_json({}, {added_token("<r>", true, false, true), added_token("\n\n", true), added_token("\n", false, false, true)}));
  CHECK(encode(n->t, "\n\n<r>\n\n") == Ids{257, 256, 257});
  CHECK(encode(n->t, "<r> \n\n x") == Ids{256, 257, ' ', 'x'});
  CHECK(encode(n->t, "<r>\n\n\nx") == Ids{256, 257, 258, 'x'});
  CHECK(encode(n->t, "<r>\n\n\n", LINNET_ADD_SPECIAL) == Ids{'<', 'r', '>', '\n', '\n', 258});
}

// Made by tests/golden/tokenizer_vectors.py --added.
TEST_CASE("added tokens: random sets of them are what the tokenizers library makes of them") {
  std::ifstream lines("tests/golden/tokenizers/added.jsonl");
  size_t sets = 0, texts = 0, wrong = 0;
  for (std::string line; std::getline(lines, line); ++sets) {
    const json set = json::parse(line);
    json tokenizer = json::parse(slurp("tests/golden/tokenizers/" + set["base"].get<std::string>() + "/tokenizer.json"));
    for (const json& a : set["added"]) tokenizer["added_tokens"].push_back(a);
    const auto l = built(tokenizer);
    for (const json& c : set["cases"]) {
      const std::string text = c[0];
      for (const bool plain : {false, true}) {
        const Ids want = c[1 + plain], got = encode(l->t, text, plain ? 0 : +LINNET_PARSE_SPECIAL);
        ++texts;
        if (got == want || ++wrong > 5) continue;
        FAIL_CHECK(set["base"] << ' ' << set["added"].dump() << '\n'
                               << json(text).dump() << (plain ? " plain: " : ": ") << json(got).dump() << ", not " << json(want).dump());
      }
    }
  }
  std::printf("added tokens: %zu sets, %zu texts, %zu wrong\n", sets, texts, wrong);
  CHECK(wrong == 0);
  CHECK(sets >= 30);
  CHECK(texts >= 600);
}

TEST_CASE("byte tokens that are listed as added tokens stay byte tokens") {
  for (const bool special : {false, true}) {
    json listed = spm_json();
    for (int b = 0; b < 256; ++b) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", b);
      listed["added_tokens"].push_back(added_token(name, special));
      listed["added_tokens"].back()["id"] = 3 + b;
    }
    const auto l = built(listed), base = built(spm_json());
    CHECK(encode(l->t, "añb𐍈") == encode(base->t, "añb𐍈"));
    CHECK(decode(l->t, {3 + 0xC3, 3 + 0xB1}) == "ñ");
    CHECK(l->blob.types[3 + 0xC3] == base->blob.types[3 + 0xC3]);
    CHECK(encode(l->t, "<0x41>", LINNET_PARSE_SPECIAL).back() == 3 + 0x41);  // written out they are found, as the library does
    // The letters of a byte-level vocabulary; a token that only looks like one is none.
    json letters = byte_level_json({}, {added_token("<x>", true)});
    letters["added_tokens"].push_back(added_token("q", special));
    letters["added_tokens"].back()["id"] = 'q';
    CHECK(encode(built(letters)->t, "aqb", LINNET_ADD_SPECIAL) == Ids{'a', 'q', 'b'});
    json few = byte_level_json({}, {});
    few["model"]["vocab"].erase(letter_of_byte(255));
    few["added_tokens"] = json::array({added_token(letter_of_byte(255).c_str(), special)});
    few["added_tokens"][0]["id"] = 255;
    CHECK(encode(built(few)->t, "a\xFF", LINNET_ADD_SPECIAL) == Ids{'a'});
  }
}

TEST_CASE("added tokens without a row in the model are left out and noted, tokens of the vocabulary are not") {
  json tokenizer = byte_level_json(kMerges, {added_token("<|end|>", true), added_token("<image>", true), added_token("<pad>", true)});
  const uint32_t n = static_cast<uint32_t>(tokenizer["model"]["vocab"].size());
  tokenizer["added_tokens"][2]["id"] = n + 7;  // no gap where nothing is
  SideTexts sides;
  sides.n_rows = n + 1;
  sides.tokenizer_config = R"({"eos_token": "<|end|>", "pad_token": "<pad>"})";
  const auto l = built(tokenizer, sides);
  CHECK(l->t.n_tokens == n + 1);
  CHECK(encode(l->t, "<|end|><image>").size() == 1 + 7);
  REQUIRE(l->blob.notes.size() == 3);
  CHECK(l->blob.notes[0] == "tokenizer.json: added token '<image>' has the id " + std::to_string(n + 1) + ", the model has " +
                                std::to_string(n + 1) + " rows: left out");
  CHECK(l->blob.notes[1] == "tokenizer_config.json: pad_token '<pad>' is no token of the vocabulary: ignored");
  CHECK(l->blob.notes[2] == "tokenizer.json: so are 1 more added tokens");
  sides.n_rows = n - 1;  // what stands in the vocabulary stays, for convert to refuse
  sides.tokenizer_config = "";
  CHECK(built(tokenizer, sides)->t.n_tokens == n);
}

TEST_CASE("line breaks and tabs in expressions may be characters or escapes") {
  const auto unescape = [](const std::string& pattern) {
    std::string out;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
      const char means = pattern[i] != '\\' ? '\0' : next == 'r' ? '\r' : next == 'n' ? '\n' : '\0';
      out.push_back(means ? means : pattern[i]);
      i += means != '\0';
    }
    return out;
  };
  size_t changed = 0;
  for (const char* name : kSmall) {
    const std::string file = slurp(std::string("tests/golden/tokenizers/") + name + "/tokenizer.json");
    if (file.empty()) continue;  // it has a tokenizer.model
    json tokenizer = json::parse(file);
    const std::vector<uint8_t> want = built(tokenizer)->blob.bytes;
    std::vector<json*> todo{&tokenizer["pre_tokenizer"]};
    while (!todo.empty()) {
      json& value = *todo.back();
      todo.pop_back();
      if (value.is_object() && value.contains("Regex")) {
        const std::string pattern = value["Regex"];
        for (const std::string& form : {unescape(pattern), pattern})
          changed += form != value["Regex"].get<std::string>(), value["Regex"] = form;
        value["Regex"] = unescape(pattern);
      } else if (value.is_structured()) {
        for (json& v : value) todo.push_back(&v);
      }
    }
    INFO(name);
    CHECK(built(tokenizer)->blob.bytes == want);
  }
  CHECK(changed >= 5);
}

TEST_CASE("prefix rules of SentencePiece texts") {
  json base = spm_json();
  const int32_t space = 259, meta_a = 264;
  CHECK(encode(built(base)->t, "a</s>a") == Ids{1, meta_a, 2, meta_a});
  CHECK(encode(built(base)->t, " a") == Ids{1, space, meta_a});
  CHECK(encode(built(base)->t, "▁a") == Ids{1, space, meta_a});
  base["normalizer"] = nullptr;
  const std::map<std::string, std::vector<Ids>> want = {{"always", {{1, meta_a, 2, meta_a}, {1, meta_a}, {1, 2, meta_a}}},
                                                        {"first", {{1, meta_a, 2, 260}, {1, meta_a}, {1, 2, 260}}},
                                                        {"never", {{1, 260, 2, 260}, {1, meta_a}, {1, 2, 260}}}};
  for (const auto& [scheme, ids] : want) {
    base["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", false}};
    const auto l = built(base);
    INFO(scheme);
    CHECK(encode(l->t, "a</s>a") == ids[0]);
    CHECK(encode(l->t, " a") == ids[1]);
    CHECK(encode(l->t, "</s>a") == ids[2]);
  }
  // A piece that goes on behind a space: the text must not be cut in front of it.
  base = spm_json();
  base["model"]["vocab"]["a▁"] = 270;
  base["model"]["merges"].insert(base["model"]["merges"].begin(), "a ▁");
  CHECK(encode(built(base)->t, "a a") == Ids{1, space, 270, 260});
  // Unknown characters: bytes, or one <unk> for a run.
  CHECK(encode(built(spm_json())->t, "aé\xFFñ") == Ids{1, meta_a, 263, 3 + 0xFF, 3 + 0xC3, 3 + 0xB1});
  base = spm_json();
  base["model"]["byte_fallback"] = false;
  CHECK(encode(built(base)->t, "aññb") == Ids{1, meta_a, 0, 261});
}

TEST_CASE("ends of generation and names of special tokens") {
  json tokenizer = byte_level_json(
      {}, {added_token("<bos>", true), added_token("<stop>", true), added_token("<|im_end|>", true), added_token("<x>", true)});
  SideTexts sides;
  sides.tokenizer_config = R"({"bos_token": {"content": "<bos>"}, "eos_token": "<stop>"})";
  sides.generation_config = R"({"eos_token_id": [259, 257]})";
  const auto l = built(tokenizer, sides);
  CHECK(l->t.bos_id == 256);
  CHECK(l->t.eos_id == 257);
  CHECK(encode(l->t, "").empty());  // nothing says that BOS is added
  for (int32_t id = 250; id < 260; ++id) CHECK(token_is_eog(l->t, id) == (id >= 257));
  sides.tokenizer_config = "";
  sides.generation_config = R"({"eos_token_id": 259, "bos_token_id": 256})";
  const auto m = built(tokenizer, sides);
  CHECK(m->t.eos_id == 259);
  CHECK(m->t.bos_id == 256);
}

TEST_CASE("a special token that is named and is none is refused, or noted where something else says it") {
  const json tokenizer = byte_level_json({}, {added_token("<bos>", true), added_token("<stop>", true)});
  const auto says = [&](const char* config, const char* generation, const char* map, const char* refused) {
    SideTexts sides{config, generation, "", ""};
    sides.special_tokens_map = map;
    Loaded l;
    Error err = {};
    const Status status = build(tokenizer, &l, &err, sides);
    INFO(config << map << ": " << err.text);
    CHECK(status == (*refused ? LINNET_BAD_FILE : LINNET_OK));
    CHECK(std::string(err.text) == refused);
    return l.blob;
  };
  says(R"({"eos_token": "<end>"})", "", "", "tokenizer_config.json: eos_token '<end>' is no token of the vocabulary");
  says(R"({"bos_token": {"content": "<b>"}})", "", "", "tokenizer_config.json: bos_token '<b>' is no token of the vocabulary");
  says("", "", R"({"eos_token": {"content": "<end>"}})", "special_tokens_map.json: eos_token '<end>' is no token of the vocabulary");
  const TokenizerBlob noted =
      says(R"({"eos_token": "<end>", "bos_token": "<b>", "pad_token": "<pad>", "additional_special_tokens": ["<bos>", "<tool>"]})",
           R"({"eos_token_id": 257, "bos_token_id": 256})", "", "");
  CHECK(noted.eos_id == 257);
  CHECK(noted.notes ==
        std::vector<std::string>{"tokenizer_config.json: bos_token '<b>' is no token of the vocabulary: ignored",
                                 "tokenizer_config.json: eos_token '<end>' is no token of the vocabulary: ignored",
                                 "tokenizer_config.json: pad_token '<pad>' is no token of the vocabulary: ignored",
                                 "tokenizer_config.json: additional_special_tokens '<tool>' is no token of the vocabulary: ignored"});
  CHECK(says(R"({"eos_token": "<bos>"})", "", R"({"eos_token": "<stop>"})", "").eos_id == 257);  // the older file was written last
  CHECK(says(R"({"eos_token": "<bos>", "added_tokens_decoder": {}})", "", R"({"eos_token": "<stop>"})", "").eos_id == 256);
  says("", "", R"({"eos_token": 5})", "special_tokens_map.json: eos_token is 5, not a token");
  says("", "", R"({"additional_special_tokens": 5})", "special_tokens_map.json: additional_special_tokens is 5, not a list of tokens");
  says("", "", "[]", "special_tokens_map.json: is an array, not an object");
}

// ---- malformed files --------------------------------------------------------------------------------------------------------

namespace {

// The status of a tokenizer.json, whose error text must hold `says`.
void refused(Status want, const json& tokenizer, const char* says, const SideTexts& sides = {}) {
  Loaded l;
  Error err = {};
  const Status status = build(tokenizer, &l, &err, sides);
  INFO(err.text << " -- must say: " << says);
  CHECK(status == want);
  CHECK(std::string(err.text).find(says) != std::string::npos);
  CHECK(l.blob.bytes.empty());
}
// The base with the value at a JSON pointer replaced.
json with(json base, const char* pointer, json value) {
  base[json::json_pointer(pointer)] = std::move(value);
  return base;
}

}  // namespace

TEST_CASE("malformed tokenizer.json is refused by name") {
  const json base = byte_level_json(kMerges, {added_token("<|end|>", true)});
  const Status bad = LINNET_BAD_FILE;
  refused(bad, json::array(), "not an object");
  refused(bad, with(base, "/model", 7), "model is 7");
  refused(bad, with(base, "/model/vocab", json::array()), "model.vocab");
  refused(bad, with(base, "/model/vocab", json::object()), "model.vocab has 0 tokens");
  refused(bad, with(base, "/model/vocab/a", "x"), "'a' the id \"x\"");
  refused(bad, with(base, "/model/vocab/a", -1), "'a' the id -1");
  refused(bad, with(base, "/model/vocab/a", 1.5), "'a' the id 1.5");
  refused(bad, with(base, "/model/vocab/a", 4000000000u), "'a' the id 4000000000");
  refused(bad, with(base, "/model/vocab/a", 98), "the id 98 twice");
  refused(bad, with(base, "/model/merges", "x"), "model.merges");
  refused(bad, with(base, "/model/merges/1", 3), "model.merges[1] is 3");
  refused(bad, with(base, "/model/merges/1", {"a", "b", "c"}), "model.merges[1]");
  refused(bad, with(base, "/model/merges/1", {"a", 1}), "model.merges[1]");
  refused(bad, with(base, "/model/merges/1", "nospace"), "merge 1 'nospace'");
  refused(bad, with(base, "/model/merges/1", "q zz"), "merge 1 'q zz'");
  refused(bad, with(base, "/model/merges/1", {"q", "zz"}), "merge 1 'q zz'");
  refused(bad, with(base, "/model/ignore_merges", "yes"), "model.ignore_merges is \"yes\"");
  refused(bad, with(base, "/added_tokens", 1), "added_tokens is 1");
  refused(bad, with(base, "/added_tokens/0/id", "7"), "without an id");
  refused(bad, with(base, "/added_tokens/0/id", 999), "has id 999, the next free id is");
  refused(bad, with(base, "/added_tokens/0/id", 97), "the id 97 of 'a'");
  refused(bad, with(base, "/added_tokens/0/content", ""), "content is missing or empty");
  refused(bad, with(base, "/added_tokens/0/content", 5), "added_tokens.content is 5");
  refused(bad, with(base, "/added_tokens/0/content", "the"), "are both 'the'");
  refused(bad, with(base, "/added_tokens/0/lstrip", 1), "added_tokens.lstrip is 1");
  refused(bad, with(base, "/added_tokens/0/single_word", 1), "added_tokens.single_word is 1");
  refused(LINNET_UNSUPPORTED, with(base, "/added_tokens/0/content", std::string(600, 'x')), "600 bytes");
  refused(LINNET_UNSUPPORTED, with(base, "/model/type", "WordLevel"), "a model that names no unk_token");
  refused(LINNET_UNSUPPORTED, with(base, "/model/dropout", 0.1), "model.dropout");
  refused(LINNET_UNSUPPORTED, with(base, "/model/end_of_word_suffix", "é"), "end_of_word_suffix");
  refused(LINNET_UNSUPPORTED, with(base, "/normalizer", {{"type", "Nmt2"}}), "normalizer is not supported: {\"type\":\"Nmt2\"}");
  refused(LINNET_UNSUPPORTED, with(base, "/pre_tokenizer", {{"type", "UnicodeScript"}}), "{\"type\":\"UnicodeScript\"}");
  const json byte_step = {{"type", "ByteLevel"}, {"use_regex", false}, {"add_prefix_space", false}};
  refused(LINNET_UNSUPPORTED, with(base, "/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {byte_step, byte_step, byte_step}}}),
          "the pre_tokenizer may make a text 8 times longer");
  refused(bad, with(base, "/pre_tokenizer", {{"type", "CharDelimiterSplit"}, {"delimiter", "ab"}}), "pre_tokenizer.delimiter is 'ab'");
  refused(bad, with(base, "/pre_tokenizer", {{"type", "FixedLength"}, {"length", 0}}), "pre_tokenizer.length is 0");
  refused(LINNET_UNSUPPORTED, with(base, "/decoder", {{"type", "WordPiece"}}), "WordPiece");
  refused(LINNET_UNSUPPORTED, with(base, "/post_processor", {{"type", "PairProcessing"}}), "PairProcessing");
  refused(bad, with(base, "/post_processor", {{"type", "BertProcessing"}, {"cls", {"x", 5000}}}), "post_processor.cls is an array");
  refused(bad, with(spm_json(), "/post_processor/special_tokens", json::object()), "no ids for '<s>'");
  refused(bad, with(spm_json(), "/post_processor/special_tokens/<s>/ids/0", 5000), "id 5000 of '<s>'");
  const json split = {{"type", "Sequence"},
                      {"pretokenizers",
                       {{{"type", "Split"}, {"pattern", {{"Regex", "\\p{L}+|(?~a)\\d"}}}, {"behavior", "Isolated"}, {"invert", false}},
                        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  refused(LINNET_UNSUPPORTED, with(base, "/pre_tokenizer", split),
          "pattern is not supported: an absent operator at byte 7 of \\p{L}+|(?~a)\\d");
  refused(LINNET_UNSUPPORTED, with(with(base, "/pre_tokenizer", split), "/pre_tokenizer/pretokenizers/0/behavior", "Doubled"), "Doubled");

  const auto side = [](const char* config, const char* generation) { return SideTexts{config, generation, "", ""}; };
  refused(bad, base, "tokenizer_config.json: eos_token is 5", side(R"({"eos_token": 5})", ""));
  refused(bad, base, "added_tokens_decoder has 'x' for an id", side(R"({"added_tokens_decoder": {"x": {"content": "y"}}})", ""));
  refused(bad, base, "added_tokens_decoder.special is 1", side(R"({"added_tokens_decoder": {"3": {"content": "y", "special": 1}}})", ""));
  refused(bad, base, "generation_config.json: eos_token_id is \"x\"", side("", R"({"eos_token_id": "x"})"));
  refused(bad, base, "tokenizer_config.json: not valid JSON", side("{", ""));
  Loaded l;
  Error err = {};
  CHECK(convert::tokenizer_from_json("{\"model\":", {}, &l.blob, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("tokenizer.json") == 0);
  CHECK(convert::tokenizer_from_folder("tests/no such folder", &l.blob, &err) == LINNET_OK);
  CHECK(l.blob.bytes.empty());
}

TEST_CASE("the fuzzer's seeds are good files") {
  for (const char* name : {"llama3.json", "digits.json", "spm.json", "metaspace.json", "unigram.json", "wordpiece.json", "falcon.json",
                           "looks.json", "held.json", "spelled.json", "late.json", "spm.model", "vocab.txt"}) {
    const std::string text = slurp(std::string("tests/data/fuzz_tokenizer_json/") + name).substr(1);
    Loaded l;
    Error err = {};
    const auto read = std::string_view(name).ends_with(".json")
                          ? [](std::string_view s, TokenizerBlob* out, Error* e) { return convert::tokenizer_from_json(s, {}, out, e); }
                      : std::string_view(name).ends_with(".txt")
                          ? [](std::string_view s, TokenizerBlob* out, Error* e) { return convert::tokenizer_from_pieces(s, {}, out, e); }
                          : [](std::string_view s, TokenizerBlob* out, Error* e) { return convert::tokenizer_from_spm(s, {}, out, e); };
    const Status status = read(text, &l.blob, &err);
    INFO(name << ": " << err.text);
    CHECK(status == LINNET_OK);
  }
}

TEST_CASE("vocab.txt: what it and the file beside it may say") {
  Loaded l;
  Error err = {};
  const auto read = [&](std::string_view vocab, const char* config) {
    return convert::tokenizer_from_pieces(vocab, {config, "", "", ""}, &l.blob, &err);
  };
  const std::string base = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nAb\nab\n##c\né\ne\n中\n##国\n";
  const auto ids = [&](const char* config, std::string_view text, std::string_view vocab) {
    INFO(config << ": " << err.text);
    REQUIRE(read(vocab, config) == LINNET_OK);
    open_blob(&l);
    return encode(l.t, text);
  };
  CHECK(ids("", "Abc é", base) == Ids{2, 6, 7, 9, 3});
  CHECK(ids("{}", "x[MASK]ab中国", base.substr(0, base.size() - 1)) == Ids{2, 1, 4, 6, 10, 1, 3});  // the last line may lack its end
  CHECK(ids(R"({"do_lower_case": false, "tokenizer_class": "BertTokenizerFast"})", "Abc é", base) == Ids{2, 5, 7, 8, 3});
  CHECK(ids(R"({"do_lower_case": false, "strip_accents": true})", "ab é", base) == Ids{2, 6, 9, 3});
  CHECK(ids(R"({"strip_accents": false})", "Ab é", base) == Ids{2, 6, 8, 3});
  CHECK(ids(R"({"tokenize_chinese_chars": false})", "中国", base) == Ids{2, 10, 11, 3});
  CHECK(ids(R"({"unk_token": "<u>", "cls_token": {"content": "<c>"}, "sep_token": "<s>"})", "q<s>ab", "<u>\r\n<c>\r\n<s>\r\nab\r\n") ==
        Ids{1, 0, 2, 3, 2});
  CHECK(decode(l.t, {3, 3}) == "ab ab");
  const auto refused = [&](Status status, std::string_view vocab, const char* config, const char* what) {
    CHECK(read(vocab, config) == status);
    INFO(err.text);
    CHECK(std::string(err.text).find(what) != std::string::npos);
  };
  refused(LINNET_BAD_FILE, "", "", "vocab.txt: has no '[UNK]'");
  refused(LINNET_BAD_FILE, "[UNK]\n[CLS]\n", "", "vocab.txt: has no '[SEP]'");
  refused(LINNET_BAD_FILE, "[UNK]\n\n[CLS]\n", "", "vocab.txt: line 2 has 0 bytes");
  refused(LINNET_BAD_FILE, "[UNK]\n" + std::string(5000, 'x'), "", "vocab.txt: line 2 has 5000 bytes");
  refused(LINNET_BAD_FILE, base + "ab\n", "", "are both 'ab'");
  refused(LINNET_BAD_FILE, base, R"({"do_lower_case": 1})", "tokenizer_config.json: do_lower_case is 1, not true or false");
  refused(LINNET_BAD_FILE, base, R"({"cls_token": 1})", "tokenizer_config.json: cls_token is 1");
  refused(LINNET_BAD_FILE, base, R"({"added_tokens_decoder": {"5": {"content": "[X]", "special": true}}})", "has the id 5 of 'Ab'");
  refused(LINNET_UNSUPPORTED, base, R"({"do_basic_tokenize": false})", "do_basic_tokenize");
  refused(LINNET_UNSUPPORTED, base, R"({"tokenizer_class": "BertJapaneseTokenizer"})", "'BertJapaneseTokenizer'");
}

TEST_CASE("vocab.json without a known tokenizer class is refused by name") {
  const json base = byte_level_json(kMerges);
  const std::string vocab = base["model"]["vocab"].dump();
  Error err = {};
  TokenizerBlob blob;
  SideTexts sides;
  CHECK(convert::tokenizer_from_vocab(vocab, "", false, sides, &blob, &err) == LINNET_UNSUPPORTED);
  sides.tokenizer_config = R"({"tokenizer_class": "CodeGenTokenizer"})";
  CHECK(convert::tokenizer_from_vocab(vocab, "", false, sides, &blob, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("CodeGenTokenizer") != std::string::npos);
  sides.tokenizer_config = R"({"tokenizer_class": "Qwen2TokenizerFast"})";
  CHECK(convert::tokenizer_from_vocab(vocab, "#version: 0.2\na a\r\nt h\n", false, sides, &blob, &err) == LINNET_OK);
  CHECK(blob.merges == std::vector<std::string>{"a a", "t h"});
  CHECK(blob.gguf_pre == "qwen2");
  // OPT's way: one name for both ends, put in front of each text.
  json opt = base["model"]["vocab"];
  opt["</s>"] = opt.size();
  sides.tokenizer_config =
      R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": {"content": "</s>"}, "eos_token": {"content": "</s>"}})";
  Loaded l;
  REQUIRE(convert::tokenizer_from_vocab(opt.dump(), "a a\n", false, sides, &l.blob, &err) == LINNET_OK);
  open_blob(&l);
  const int32_t end = opt["</s>"];
  CHECK(encode(l.t, "b</s>b") == Ids{end, 'b', end, 'b'});
  // Added tokens in a file of their own: special are those that are named.
  const int32_t next = static_cast<int32_t>(base["model"]["vocab"].size());
  sides.tokenizer_config = R"({"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>"})";
  sides.special_tokens_map = R"({"additional_special_tokens": ["<|im_start|>"], "pad_token": "the"})";
  sides.added_tokens = json{{"<|im_start|>", next}, {"<|im_end|>", next + 1}, {"<tool>", next + 2}, {"<far>", next + 9}}.dump();
  sides.n_rows = static_cast<uint32_t>(next) + 3;
  REQUIRE(convert::tokenizer_from_vocab(vocab, "a a\nt h\nth e\n", false, sides, &l.blob, &err) == LINNET_OK);
  open_blob(&l);
  CHECK(l.t.eos_id == next + 1);
  CHECK(encode(l.t, "<|im_start|>a<|im_end|>the<tool>") == Ids{next, 'a', next + 1, opt["the"], next + 2});
  CHECK(encode(l.t, "<|im_end|><tool>", LINNET_ADD_SPECIAL).size() == 10 + 1);
  CHECK(l.blob.notes.size() == 1);
  sides.added_tokens = json{{"<gap>", next + 1}}.dump();
  CHECK(convert::tokenizer_from_vocab(vocab, "a a\n", false, sides, &blob, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("added token '<gap>' has id") != std::string::npos);
  for (const char* bad : {R"({"<x>": "1"})", R"({"": 400})", "[]", "{"}) {
    sides.added_tokens = bad;
    CHECK(convert::tokenizer_from_vocab(vocab, "a a\n", false, sides, &blob, &err) == LINNET_BAD_FILE);
    CHECK(std::string(err.text).find("added_tokens.json: ") == 0);
  }
  sides = {};
  sides.tokenizer_config = R"({"tokenizer_class": "Qwen2TokenizerFast"})";
  CHECK(convert::tokenizer_from_vocab(vocab, "a a\nt q\n", false, sides, &blob, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("merges.txt: merge 1 't q'") == 0);
}

// ---- tokenizer.model ------------------------------------------------------------------------------------------------------

namespace {

std::string varint(uint64_t v) {
  std::string s;
  for (; v >= 0x80; v >>= 7) s.push_back(static_cast<char>(v | 0x80));
  s.push_back(static_cast<char>(v));
  return s;
}
std::string field(uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); }
std::string field(uint32_t number, const std::string& bytes) { return varint(number << 3 | 2) + varint(bytes.size()) + bytes; }
std::string piece(const std::string& text, float score, uint64_t type) {
  std::string number(4, '\0');
  std::memcpy(number.data(), &score, 4);
  return field(1, field(1, text) + varint(2 << 3 | 5) + number + field(3, type));
}
std::string spm_model(const std::string& trainer = field(3, 2), const std::string& normalizer = field(4, 0)) {
  std::string out = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("<u>", 0, 4);
  char name[8];
  for (int b = 0; b < 256; ++b) {
    std::snprintf(name, sizeof name, "<0x%02X>", b);
    out += piece(name, 0, 6);
  }
  // 'z' stands in a piece without being one; "ab" and "bc" have equal scores: the left pair goes first.
  float score = -1;
  for (const char* text : {"ab", "bc", "abc", "▁a", "az", "azz", "▁▁"}) out += piece(text, text[0] == 'b' ? -1.0f : score--, 1);
  for (const char* text : {"▁", "a", "b", "c"}) out += piece(text, score--, 1);
  return out + field(2, trainer) + field(3, normalizer);
}
Status read_spm(const std::string& model, Loaded* out, Error* err, const SideTexts& sides = {}) {
  return convert::tokenizer_from_spm(model, sides, &out->blob, err);
}

}  // namespace

TEST_CASE("tokenizer.model: merges by score") {
  Loaded l;
  Error err = {};
  const Status status = read_spm(spm_model(), &l, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  open_blob(&l);
  const int32_t ab = 260, bc = 261, abc = 262, az = 264, azz = 265, space = 267, b = 269, c = 270;
  const auto plain = [&l](const char* text) { return encode(l.t, text, LINNET_PARSE_SPECIAL); };
  CHECK(plain("abc") == Ids{space, abc});
  CHECK(plain("bbc") == Ids{space, b, bc});
  CHECK(plain("abab") == Ids{space, ab, ab});
  CHECK(plain("zc") == Ids{space, 4 + 'z', c});          // left over: a byte
  CHECK(plain("caz") == Ids{space, c, az});              // though 'z' is no piece
  CHECK(plain("cazz<u>b") == Ids{space, c, azz, 3, b});  // no space behind a user-defined piece
  CHECK(encode(l.t, "b</s>b") == Ids{1, space, b, 2, space, b});
  CHECK(decode(l.t, plain("b  b")) == "b  b");
  CHECK(l.blob.add_bos);
  CHECK(!l.blob.add_eos);

  SideTexts sides;
  sides.tokenizer_config = R"({"add_bos_token": false, "add_eos_token": true, "legacy": false,
                               "added_tokens_decoder": {"271": {"content": "<new>", "special": true}}})";
  REQUIRE(read_spm(spm_model(), &l, &err, sides) == LINNET_OK);
  open_blob(&l);
  CHECK(encode(l.t, "b<new>b") == Ids{space, b, 271, b, 2});
}

TEST_CASE("tokenizer.model: added tokens in a file of their own, and the end that a config names") {
  Loaded l;
  Error err = {};
  SideTexts sides;
  sides.tokenizer_config = R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "<|im_end|>"})";
  sides.added_tokens = R"({"<|im_start|>": 271, "<|im_end|>": 272})";
  const Status status = read_spm(spm_model(), &l, &err, sides);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  open_blob(&l);
  const int32_t space = 267, b = 269;
  CHECK(encode(l.t, "<|im_start|>b<|im_end|>") == Ids{1, 271, space, b, 272});
  CHECK(l.t.eos_id == 272);
  CHECK(token_is_eog(l.t, 272));
  sides.added_tokens = "";
  CHECK(read_spm(spm_model(), &l, &err, sides) == LINNET_BAD_FILE);
  CHECK(std::string(err.text) == "tokenizer_config.json: eos_token '<|im_end|>' is no token of the vocabulary");
}

TEST_CASE("malformed tekken.json and tiktoken.model are refused by name") {
  const json tekken = json::parse(slurp("tests/golden/tokenizers/tekken-json/tekken.json"));
  const auto tekken_refused = [&](Status want, const char* pointer, json value, const char* says) {
    json changed = tekken;
    changed[json::json_pointer(pointer)] = std::move(value);
    TokenizerBlob blob;
    Error err = {};
    const Status status = convert::tokenizer_from_tekken(changed.dump(), {}, &blob, &err);
    INFO(err.text << " -- must say: " << says);
    CHECK(status == want);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  const Status bad = LINNET_BAD_FILE, no = LINNET_UNSUPPORTED;
  tekken_refused(bad, "/config", json::object(), "config lacks pattern");
  tekken_refused(bad, "/config/default_vocab_size", 20, "default_vocab_size is 20, of which 30 are special tokens");
  tekken_refused(bad, "/config/default_vocab_size", 5000, "vocab has 705 of the 4970 ranks");
  tekken_refused(no, "/config/default_vocab_size", 100, "has no token for the byte 70");
  tekken_refused(no, "/config/pattern", "(?~a)", "tekken.json: the pre_tokenizer's pattern is not supported: an absent operator");
  tekken_refused(bad, "/vocab", 1, "vocab is missing or not an array");
  tekken_refused(bad, "/vocab/5/rank", 6, "has the rank 6 twice");
  tekken_refused(bad, "/vocab/5/rank", "5", "an entry without a rank");
  tekken_refused(bad, "/vocab/5/token_bytes", "!", "token_bytes are no base64");
  tekken_refused(bad, "/vocab/5/token_bytes", "", "the token of rank 5 has 0 bytes");
  tekken_refused(bad, "/vocab/5/token_bytes", "Bg==", "the token of rank 6 is there twice");
  tekken_refused(bad, "/special_tokens", 1, "special_tokens is 1");
  tekken_refused(bad, "/special_tokens", {{{"rank", 1}, {"token_str", "a"}}}, "an entry that is none");
  tekken_refused(bad, "/special_tokens", {{{"rank", 0}}}, "an entry that is none");
  const std::string lines = slurp("tests/golden/tokenizers/tiktoken/tiktoken.model");
  const SideTexts kimi = {R"({"tokenizer_class": "TikTokenTokenizer"})", "", "", ""};
  const auto refused = [&](Status want, const std::string& text, const SideTexts& sides, const char* says) {
    TokenizerBlob blob;
    Error err = {};
    const Status status = convert::tokenizer_from_tiktoken(text, sides, &blob, &err);
    INFO(err.text << " -- must say: " << says);
    CHECK(status == want);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  refused(LINNET_OK, lines, kimi, "");
  refused(no, lines, {}, "tokenizer_class '' does not say how tiktoken.model splits texts");
  refused(no, "YQ== 0\n", kimi, "has no token for the byte 0");
  refused(bad, "YQ== 1\n", kimi, "line 1 is not a token in base64 and the rank 0");
  refused(bad, "YQ== 0\n\n?? 1", kimi, "line 3 is not a token");
  refused(bad, "YQ==0", kimi, "line 1 is not a token");
}

TEST_CASE("malformed tokenizer.model is refused by name") {
  const auto refused_spm = [](Status want, const std::string& model, const char* says) {
    Loaded l;
    Error err = {};
    const Status status = read_spm(model, &l, &err);
    INFO(err.text << " -- must say: " << says);
    CHECK(status == want);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  refused_spm(LINNET_BAD_FILE, "", "no trainer_spec");
  refused_spm(LINNET_UNSUPPORTED, spm_model(field(3, 4)), "model_type 4 (char)");
  refused_spm(LINNET_BAD_FILE, spm_model(field(3, 2), field(4, 0) + field(1, "nmt_nfkc") + field(2, "map")),
              "the precompiled charsmap has 3 bytes");
  // A trie of one unit that leads to itself, and a rule that points outside.
  const auto charsmap = [](std::vector<uint32_t> units, const std::string& texts) {
    const uint32_t bytes = static_cast<uint32_t>(4 * units.size());
    std::string map(4 + bytes, '\0');
    std::memcpy(map.data(), &bytes, 4);
    std::memcpy(map.data() + 4, units.data(), bytes);
    return spm_model(field(3, 1), field(2, map + texts));
  };
  std::vector<uint32_t> loop(256, 0);
  for (uint32_t i = 1; i < 256; ++i) loop[i] = i | i << 10;
  refused_spm(LINNET_BAD_FILE, charsmap(loop, "x"), "no trie");
  std::vector<uint32_t> outside(512, 0);
  outside['a'] = 'a' | 1u << 8 | (256u ^ 'a') << 10;
  outside[256] = 0x80000000u | 7;
  refused_spm(LINNET_BAD_FILE, charsmap(outside, std::string("b", 2)), "points at 7");
  refused_spm(LINNET_UNSUPPORTED, spm_model(field(3, 2) + field(24, 1)), "treat_whitespace_as_suffix");
  refused_spm(LINNET_BAD_FILE, spm_model(field(3, 2) + field(41, 9999)), "9999");
  refused_spm(LINNET_BAD_FILE, piece("x", 0, 9) + spm_model(), "piece 0 has type 9");
  refused_spm(LINNET_BAD_FILE, piece("<0xZZ>", 0, 6) + spm_model(), "byte token 0 is spelled '<0xZZ>'");
  refused_spm(LINNET_BAD_FILE, piece("x", INFINITY, 1) + spm_model(), "score of token 0");
  refused_spm(LINNET_BAD_FILE, "\x0A\x7F", "no protobuf message");
  refused_spm(LINNET_BAD_FILE, field(1, "\x0A\x7F"), "a piece is no protobuf message");
  refused_spm(LINNET_BAD_FILE, std::string(20, '\xFF'), "no protobuf message");
  const std::string whole = spm_model();
  size_t accepted = 0;
  for (size_t n = 0; n < whole.size(); ++n) {
    Loaded l;
    Error err = {};
    const auto cut = std::make_unique<char[]>(n);
    std::memcpy(cut.get(), whole.data(), n);
    accepted += convert::tokenizer_from_spm({cut.get(), n}, {}, &l.blob, &err) == LINNET_OK;
  }
  CHECK(accepted == 0);
}

// ---- older tables ---------------------------------------------------------------------------------------------------------

// The tables as version 1 had them, or nothing where it could not say what they do.
std::vector<uint64_t> as_version_1(const Loaded& l) {
  tok::Header h;
  std::memcpy(&h, l.blob.bytes.data(), sizeof h);
  if (h.version != 2) return {};
  const bool nfc = h.n_steps == 1 && h.steps[0].op == tok::kStepNfc && h.kind == tok::kByteLevel;
  const uint32_t split = h.n_splits == 0                                                                         ? 0
                         : h.n_splits == 1 && h.splits[0] <= tok::kSplitQwen2                                    ? h.splits[0]
                         : h.n_splits == 2 && h.splits[0] == tok::kSplitNumber && h.splits[1] == tok::kSplitGpt2 ? tok::kSplitDigitsGpt2
                                                                                                                 : 99;
  const uint32_t known = tok::kIgnoreMerges | tok::kFuseUnk | tok::kStripSpace | tok::kWordwise;
  if (h.kind > tok::kSpm || h.prefix > tok::kPrefixFirst || (h.flags & ~known) || (h.n_steps && !nfc) || split == 99 ||
      (split == 0) != (h.kind == tok::kSpm))
    return {};
  tok::Header1 old = {};
  const uint32_t less = tok::kHeader2Bytes - sizeof old;
  old.magic = h.magic, old.version = 1, old.bytes = h.bytes - less;
  old.kind = h.kind, old.split = split, old.prefix = h.prefix, old.flags = h.flags | (nfc ? tok::kNfc1 : 0);
  old.n_tokens = h.n_tokens, old.n_symbols = h.n_symbols, old.bos_id = h.bos_id, old.eos_id = h.eos_id, old.unk_id = h.unk_id;
  old.n_before = h.n_before, old.n_after = h.n_after;
  std::copy_n(h.before, tok::kMaxAround, old.before);
  std::copy_n(h.after, tok::kMaxAround, old.after);
  old.merge_probe = h.merge_probe, old.word_probe = h.word_probe, old.max_word = h.max_word;
  for (uint32_t i = 0; i <= tok::kAddedText; ++i) old.section[i] = {h.section[i].at - less, h.section[i].count};
  std::vector<uint64_t> blob(old.bytes / 8 + 1);
  std::memcpy(blob.data(), &old, sizeof old);
  std::memcpy(reinterpret_cast<uint8_t*>(blob.data()) + sizeof old, l.blob.bytes.data() + tok::kHeader2Bytes, old.bytes - sizeof old);
  return blob;
}

TEST_CASE("tables of version 1 open and do what they did") {
  size_t opened = 0, texts = 0;
  const auto compare = [&](const Loaded* l, const std::string& vectors) {
    if (!l) return;
    const auto blob = as_version_1(*l);
    if (blob.empty()) return;
    Tokenizer t;
    Error err = {};
    const uint32_t bytes = reinterpret_cast<const tok::Header1*>(blob.data())->bytes;
    const Status status = tokenizer_open(blob.data(), bytes, 1u << 22, &t, &err);
    INFO(vectors << ": " << err.text);
    REQUIRE(status == LINNET_OK);
    ++opened;
    std::ifstream lines(vectors);
    for (std::string line; std::getline(lines, line); ++texts) {
      const std::string text = json::parse(line)["text"].get<std::string>();
      const Ids ids = encode(l->t, text);
      REQUIRE(encode(t, text) == ids);
      REQUIRE(decode(t, ids) == decode(l->t, ids));
    }
    auto wrong = blob;
    reinterpret_cast<tok::Header1*>(wrong.data())->split = tok::kSplitDigitsGpt2 + 1;
    CHECK(tokenizer_open(wrong.data(), bytes, 1u << 22, &t, &err) == LINNET_BAD_FILE);
    for (const uint32_t cut : {0u, 16u, uint32_t{sizeof(tok::Header1)} - 1})
      CHECK(tokenizer_open(blob.data(), cut, 1u << 22, &t, &err) == LINNET_BAD_FILE);
  };
  for (const char* name : kSmall) {
    const std::string folder = std::string("tests/golden/tokenizers/") + name;
    compare(load_folder(folder).get(), folder + "/vectors.jsonl");
  }
  for (const auto& [name, folder] :
       std::map<std::string, std::string>{{"smollm2", "smollm"}, {"phi-3", "phi-3"}, {"qwen2", "qwen2"}, {"gpt2", "gpt2"}})
    if (!kSanitized) compare(load_folder("tokenizers/" + folder).get(), "tests/golden/tokenizers/" + name + ".jsonl");
  std::printf("%zu tokenizers as version 1, %zu texts\n", opened, texts);
  CHECK(opened >= 3);
  CHECK(texts >= 100 * opened);
}

// ---- hostile tables -------------------------------------------------------------------------------------------------------

TEST_CASE("each field of the tables is checked") {
  const auto bytes = built(byte_level_json(kMerges, {added_token("<b>", true), added_token("<a>", true)})), spm = built(spm_json());
  const auto header = [](std::vector<uint8_t>& blob) { return reinterpret_cast<tok::Header*>(blob.data()); };
  // Element i of a section; changed by `change`, the blob must be refused and say why.
  const auto refused_table = [&](const Loaded& l, const char* says, const auto& change, Status want = LINNET_BAD_FILE) {
    std::vector<uint64_t> aligned(l.blob.bytes.size() / 8 + 1);
    std::vector<uint8_t> blob = l.blob.bytes;
    change(blob);
    std::memcpy(aligned.data(), blob.data(), blob.size());
    Tokenizer t;
    Error err = {};
    const Status status = tokenizer_open(aligned.data(), blob.size(), 4096, &t, &err);
    INFO(err.text << " -- must say: " << says);
    CHECK(status == want);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  const auto set = [&](tok::SectionId id, size_t byte, uint32_t value) {
    return [&header, id, byte, value](std::vector<uint8_t>& blob) {
      std::memcpy(blob.data() + header(blob)->section[id].at + byte, &value, 4);
    };
  };
  const auto in_header = [](size_t byte, uint32_t value) {
    return [byte, value](std::vector<uint8_t>& blob) { std::memcpy(blob.data() + byte, &value, 4); };
  };
  using tok::Header;
  refused_table(*bytes, "magic", in_header(offsetof(Header, magic), 1));
  refused_table(*bytes, "version 6", in_header(offsetof(Header, version), 6), LINNET_UNSUPPORTED);
  refused_table(*bytes, "the header says 77", in_header(offsetof(Header, bytes), 77));
  refused_table(*bytes, "kind", in_header(offsetof(Header, kind), 5));
  refused_table(*bytes, "split", in_header(offsetof(Header, splits), tok::kSplitCount));
  const uint32_t wide[] = {tok::kSplitLetters, tok::kSplitMarks, tok::kSplitLetters};
  const auto too_wide = [&](std::vector<uint8_t>& blob) {
    header(blob)->n_splits = 3;
    std::memcpy(header(blob)->splits, wide, sizeof wide);
  };
  refused_table(*bytes, "growth of splits", too_wide);
  refused_table(*bytes, "n_splits", in_header(offsetof(Header, n_splits), 9));
  refused_table(*bytes, "prefix", in_header(offsetof(Header, prefix), 5));
  refused_table(*spm, "prefix", in_header(offsetof(Header, prefix), 4));
  refused_table(*bytes, "flags", in_header(offsetof(Header, flags), 1024));
  refused_table(*bytes, "n_steps", in_header(offsetof(Header, n_steps), 9));
  refused_table(*bytes, "growth", in_header(offsetof(Header, growth), 0));
  refused_table(*bytes, "growth", in_header(offsetof(Header, growth), 32));
  refused_table(*bytes, "slack", in_header(offsetof(Header, slack), 5000));
  refused_table(*bytes, "max_piece", in_header(offsetof(Header, max_piece), 5000));
  refused_table(*bytes, "hidden", in_header(offsetof(Header, hidden), 5000));
  refused_table(*bytes, "cont_bytes", in_header(offsetof(Header, cont_bytes), 1));
  refused_table(*bytes, "number of scores", in_header(offsetof(Header, kind), 3));
  refused_table(*bytes, "n_tokens", in_header(offsetof(Header, n_tokens), 0));
  refused_table(*bytes, "5000 tokens, the model's vocabulary has 4096", in_header(offsetof(Header, n_tokens), 5000));
  refused_table(*bytes, "n_symbols", in_header(offsetof(Header, n_symbols), bytes->t.n_tokens + 1));
  refused_table(*bytes, "special token 4000", in_header(offsetof(Header, eos_id), 4000));
  refused_table(*spm, "n_before", in_header(offsetof(Header, n_before), 5));
  refused_table(*spm, "token before a text", in_header(offsetof(Header, before), 4000));
  refused_table(*bytes, "merge_probe", in_header(offsetof(Header, merge_probe), 5000));
  refused_table(*bytes, "word_probe", in_header(offsetof(Header, word_probe), 1));
  json patterned = byte_level_json(kMerges);
  patterned["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", "a+(?=aab)|[^a]"}}}, {"behavior", "Isolated"}, {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  const auto with_patterns = built(patterned);
  for (uint32_t i = 0; i < tok::kSectionCount; ++i) {
    const Loaded& l = i < tok::kPatterns ? *bytes : *with_patterns;
    refused_table(l, "section", in_header(offsetof(Header, section) + i * sizeof(tok::Section), 0xFFFFFFF8));
    refused_table(l, "section", in_header(offsetof(Header, section) + i * sizeof(tok::Section), 4));
    refused_table(l, "section", in_header(offsetof(Header, section) + i * sizeof(tok::Section) + 4, 0xFFFFFFFF));
  }
  refused_table(*bytes, "text offset", set(tok::kTextAt, 0, 1));
  refused_table(*bytes, "text offset", set(tok::kTextAt, 20, 100000));
  refused_table(*bytes, "text offset", set(tok::kTextAt, 4 * bytes->t.n_tokens, 100000));
  refused_table(*bytes, "byte token", set(tok::kByteIds, 40, 4000));
  refused_table(*bytes, "added token 4000", set(tok::kAddedRaw, offsetof(tok::Added, id), 4000));
  refused_table(*bytes, "text of added token", set(tok::kAddedRaw, offsetof(tok::Added, text_bytes), 100));
  refused_table(*bytes, "text of added token", set(tok::kAddedRaw, offsetof(tok::Added, text_bytes), 0));
  refused_table(*bytes, "flags of added token", set(tok::kAddedRaw, offsetof(tok::Added, flags), 16));
  refused_table(*bytes, "order of added token", set(tok::kAddedText, 0, 0x7A7A7A7A));
  refused_table(*spm, "word", set(tok::kWords, 0, 4000));
  const auto merge = [&](uint32_t tok::MergeSlot::* member, uint32_t value) {
    return [&header, member, value](std::vector<uint8_t>& blob) {
      auto* slots = reinterpret_cast<tok::MergeSlot*>(blob.data() + header(blob)->section[tok::kMerges].at);
      while (slots->left == tok::kEmpty) ++slots;
      slots->*member = value;
    };
  };
  refused_table(*bytes, "merge", merge(&tok::MergeSlot::left, 4000));
  refused_table(*bytes, "merge", merge(&tok::MergeSlot::right, 4000));
  refused_table(*bytes, "merge", merge(&tok::MergeSlot::result, 4000));
  refused_table(*spm, "length of the result of merge", merge(&tok::MergeSlot::result, 0));
}

// Splits that change the text, affixes that become bytes.
static json changed_json() {
  json t = spm_json();
  const json spaces = {{"type", "Metaspace"}, {"prepend_scheme", "always"}}, bytes = {{"type", "ByteLevel"}, {"use_regex", false}};
  t["normalizer"] = nullptr;
  t["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "UnicodeScripts"}}, spaces, bytes, spaces}}};
  t["decoder"] = nullptr;
  t["model"]["continuing_subword_prefix"] = "#";
  t["model"]["end_of_word_suffix"] = "<";
  t["model"]["merges"] = json::array();
  return t;
}

TEST_CASE("splits that change a text have tables of their own version, and what is no token is refused where nothing stands for it") {
  const auto changes = built(changed_json());
  CHECK(reinterpret_cast<const tok::Header*>(changes->memory.data())->version == 5);
  json t = changed_json();
  t["model"]["unk_token"] = "[none]";
  t["model"]["byte_fallback"] = false;
  const auto none = built(t);
  std::vector<uint8_t> scratch(tokenize_scratch_bytes(none->t, 3));
  Error err = {};
  size_t n = 7;
  CHECK(tokenize(none->t, "xyz", 0, scratch.data(), scratch.size(), nullptr, 0, &n, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("no unknown token") != std::string::npos);
  CHECK(n == 7);
  CHECK(tokenize(none->t, "", 0, scratch.data(), scratch.size(), nullptr, 0, &n, &err) == LINNET_OK);
  t["pre_tokenizer"] = {{"type", "Metaspace"}};
  t["model"]["continuing_subword_prefix"] = "# ";
  Loaded refused;
  CHECK(build(t, &refused, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("Metaspace beside a space") != std::string::npos);
  t["pre_tokenizer"] = changed_json()["pre_tokenizer"];
  // A name for the unknown token that is none matters only where something is unknown.
  json plain = byte_level_json(kMerges);
  const auto before = built(plain);
  plain["model"]["unk_token"] = "[none]";
  CHECK(built(plain)->blob.bytes == before->blob.bytes);
  // A text that grows by so much does not fit into what places are counted in.
  t["model"]["byte_fallback"] = true;
  t["model"]["continuing_subword_prefix"] = std::string(60, '#');
  CHECK(tokenize_scratch_bytes(built(t)->t, tok::kMaxText) == SIZE_MAX);
}

TEST_CASE("hostile tables are refused or harmless") {
  const auto bytes = built(byte_level_json(kMerges, {added_token("<|end|>", true, true, true), added_token("<|e", false)}));
  json nfc = with(byte_level_json(kMerges), "/normalizer", {{"type", "NFC"}});
  nfc["model"]["ignore_merges"] = true;
  const auto words = built(nfc), spm = built(spm_json()), changes = built(changed_json());
  std::mt19937 rng(7);
  size_t opened = 0, tried = 0;
  std::vector<std::shared_ptr<const Loaded>> styles;
  for (const char* name : {"unigram-t5", "unigram-bytes", "wordpiece", "falcon"})
    styles.push_back(load_folder(std::string("tests/golden/tokenizers/") + name));
  std::vector<const Loaded*> all = {bytes.get(), words.get(), spm.get(), changes.get()};
  for (const auto& style : styles) all.push_back(style.get());
  for (const Loaded* l : all) {
    const std::vector<uint8_t>& good = l->blob.bytes;
    REQUIRE(survives(good));
    for (size_t n = 1; n < good.size(); n += n < 600 ? 1 : (kSlow ? 40 : 7) + n / 100) {
      std::vector<uint8_t> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
      Tokenizer t;
      std::vector<uint64_t> aligned(n / 8 + 1);
      std::memcpy(aligned.data(), cut.data(), n);
      if (tokenizer_open(aligned.data(), n, 4096, &t, nullptr) == LINNET_OK) FAIL("opens when cut to " << n);
      if (n < 12) continue;
      const uint32_t size = static_cast<uint32_t>(n);
      std::memcpy(cut.data() + offsetof(tok::Header, bytes), &size, 4);  // and when the header agrees
      if (!survives(cut)) FAIL("no error text when cut to " << n);
    }
    for (int round = 0; round < (kSlow ? 400 : kFull ? 4000 : 1500); ++round, ++tried) {
      std::vector<uint8_t> flipped = good;
      for (uint32_t k = 1 + static_cast<uint32_t>(rng() % 3); k; --k) {
        const size_t in_header = sizeof(tok::Header), at = rng() % (rng() % 2 ? in_header : flipped.size());
        if (rng() % 2) {
          flipped[at] = static_cast<uint8_t>(rng());
        } else {  // a whole word
          const uint32_t values[] = {
              0, 1, 0xFFFFFFFF, 0x7FFFFFFF, static_cast<uint32_t>(rng() % 600), static_cast<uint32_t>(flipped.size())};
          std::memcpy(flipped.data() + at / 4 * 4, &values[rng() % 6], 4);
        }
      }
      if (!survives(flipped)) FAIL("no error text");
      Tokenizer t;
      std::vector<uint64_t> aligned(flipped.size() / 8 + 1);
      std::memcpy(aligned.data(), flipped.data(), flipped.size());
      opened += tokenizer_open(aligned.data(), flipped.size(), 4096, &t, nullptr) == LINNET_OK;
    }
  }
  std::printf("hostile tokenizer tables: %zu, of which %zu open\n", tried, opened);
  CHECK(opened > tried / 20);
  CHECK(opened < tried / 2);
  Tokenizer t;
  Error err = {};
  CHECK(tokenizer_open(bytes->memory.data(), bytes->blob.bytes.size(), bytes->t.n_tokens - 1, &t, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find(std::to_string(bytes->t.n_tokens)) != std::string::npos);
  CHECK(tokenizer_open(reinterpret_cast<uint8_t*>(bytes->memory.data()) + 4, 400, 4096, &t, &err) == LINNET_BAD_ARG);
}

// ---- through the ABI ------------------------------------------------------------------------------------------------------

namespace {

// A model of 0 layers that holds the tokenizer of a folder.
test::Model vocabulary(const std::string& folder) {
  convert::Options options;
  options.vocab_only = true;
  convert::Image image;
  Error err = {};
  test::check(convert::convert_to_memory(folder, options, &image, &err), err);
  return test::Model(image);
}
uint32_t kind_of(const linnet_model* m, int32_t token) {
  uint32_t kind = 99;
  linnet_error err{};
  test::check(linnet_token_kind(m, token, &kind, &err), err);
  return kind;
}
std::string text_of(const linnet_model* m, const Ids& ids, uint32_t flags) {
  std::string text(1000, '#');
  size_t n = 0;
  linnet_error err{};
  test::check(linnet_detokenize(m, ids.data(), ids.size(), flags, text.data(), text.size(), &n, &err), err);
  return text.substr(0, n);
}

}  // namespace

TEST_CASE("kinds of tokens: all that end a generation, and what is no text") {
  constexpr uint32_t kBoth = LINNET_TOKEN_EOG | LINNET_TOKEN_SPECIAL;
  const struct {
    const char* folder;
    Ids eog, special, text;  // of text some
    size_t n_special;
  } rows[] = {
      {"tokenizers/qwen2", {151643, 151645}, {151644}, {0, 9707, 151642}, 3},  // <|endoftext|>, <|im_end|>; <|im_start|>
      {"tokenizers/phi-3", {32000, 32007}, {0, 1, 32001, 32010}, {3, 2000, 31999}, 14},
      {"tokenizers/smollm", {0, 2}, {1, 3, 16}, {17, 1000}, 17},
      {"tokenizers/llama2", {2}, {0, 1}, {3, 258, 15043}, 3},  // <unk> <s>; <0x00> is a byte
      {"tokenizers/mistral-v3", {2}, {0, 1, 3, 11}, {770, 771, 1026, 1027}, 751},
      {"tokenizers/gpt2", {50256}, {}, {0, 50255}, 1},
      {"tests/golden/tokenizers/wordpiece", {}, {0, 1, 2, 3, 4}, {5, 699}, 5},
  };
  for (const auto& row : rows) {
    const std::string path = std::string_view(row.folder).starts_with("tests/") ? row.folder : data_path(row.folder);
    if (path.empty()) continue;
    INFO(row.folder);
    const test::Model model = vocabulary(path);
    size_t n_eog = 0, n_special = 0;
    for (uint32_t id = 0; id < model.desc.n_vocab; ++id) {
      const uint32_t kind = kind_of(model.m, static_cast<int32_t>(id));
      n_eog += (kind & LINNET_TOKEN_EOG) != 0;
      n_special += (kind & LINNET_TOKEN_SPECIAL) != 0;
      REQUIRE(!(kind & ~kBoth));
    }
    CHECK(n_eog == row.eog.size());
    CHECK(n_special == row.n_special);
    for (const int32_t id : row.eog) CHECK(kind_of(model.m, id) == kBoth);
    for (const int32_t id : row.special) CHECK(kind_of(model.m, id) == LINNET_TOKEN_SPECIAL);
    for (const int32_t id : row.text) CHECK(kind_of(model.m, id) == 0);
  }
}

TEST_CASE("a plain file is written of splits that GGUF has a name for") {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path + "/" + name; };
  json tokenizer = json::parse(slurp("tests/golden/tokenizers/llama3/tokenizer.json"));
  const auto convert = [&](bool plain, const std::string& from, const char* to) {
    convert::Options options;
    options.plain = plain;
    options.vocab_only = true;
    Error err = {};
    const Status status = convert::convert_to_file(from, at(to), options, &err);
    return status == LINNET_OK ? std::string() : std::string(err.text);
  };
  const auto pre = [&](const char* file) {
    const std::string bytes = slurp(at(file));
    const auto g = std::make_unique<Gguf>();
    REQUIRE(gguf_open(bytes.data(), bytes.size(), file, g.get(), nullptr) == LINNET_OK);
    GgufValue v;
    return g->key("tokenizer.ggml.pre", &v) ? std::string(v.text) : "none";
  };
  std::filesystem::create_directory(at("hf"));
  const auto write = [&] { std::ofstream(at("hf/tokenizer.json")) << tokenizer.dump(); };
  write();
  CHECK(convert(true, at("hf"), "a.gguf").empty());
  CHECK(pre("a.gguf") == "llama-bpe");
  const char* const no_name = "GGUF has no name (tokenizer.ggml.pre) for how its tokenizer splits texts";
  tokenizer["normalizer"] = {{"type", "NFC"}};
  write();
  CHECK(convert(true, at("hf"), "a.gguf").empty());
  tokenizer["normalizer"] = {{"type", "Lowercase"}};
  write();
  CHECK(convert(true, at("hf"), "a.gguf").find(no_name) != std::string::npos);
  tokenizer["normalizer"] = nullptr;
  tokenizer["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true;
  write();
  CHECK(convert(true, at("hf"), "a.gguf").find(no_name) != std::string::npos);
  tokenizer["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = false;
  tokenizer["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "[^\\r\\n]+|[\\r\\n]";
  write();
  CHECK(convert(true, at("hf"), "a.gguf").find(no_name) != std::string::npos);
  REQUIRE(convert(false, at("hf"), "b.gguf").empty());
  CHECK(pre("b.gguf") == "none");
  CHECK(test::tokenize(vocabulary(at("hf")), "1 1", 0).size() == 3);
  // Of another kind: spaces that cut before digits do.
  tokenizer = json::parse(slurp("tests/golden/tokenizers/metaspace/tokenizer.json"));
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"},
                                {"pretokenizers", {tokenizer["pre_tokenizer"], {{"type", "Digits"}, {"individual_digits", true}}}}};
  write();
  CHECK(convert(true, at("hf"), "a.gguf").find(no_name) != std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/tokenizers")) {
    if (!entry.is_directory()) continue;
    const std::string why = convert(true, entry.path().string(), "c.gguf");
    INFO(entry.path() << ": " << why);
    CHECK(why.empty() == (entry.path().filename() != "roberta"));  // which puts a space in front
  }
}

TEST_CASE("SentencePiece behind a BOS: the space in front of the text goes with it or without") {
  const std::string path = data_path("tokenizers/llama2");
  if (path.empty()) return;
  const test::Model model = vocabulary(path);
  const Ids hello = {1, 15043, 29892, 3186, 2};  // <s> Hello , world </s>
  CHECK(text_of(model.m, hello, LINNET_SKIP_SPECIAL) == "Hello, world");
  CHECK(text_of(model.m, hello, 0) == "<s> Hello, world </s>");  // its added tokens are normalised, with a space in front
  CHECK(text_of(model.m, {1, 1, 2}, LINNET_SKIP_SPECIAL).empty());
  CHECK(text_of(model.m, {15043, 1, 15043}, LINNET_SKIP_SPECIAL) == "Hello Hello");
  CHECK(test::tokenize(model, "Hello, world", LINNET_ADD_SPECIAL) == Ids(hello.begin(), hello.end() - 1));
  CHECK(test::tokenize(model, "Hello, world", 0) == Ids(hello.begin() + 1, hello.end() - 1));
  CHECK(test::tokenize(model, "Hello, world </s>", LINNET_PARSE_SPECIAL) == Ids(hello.begin() + 1, hello.end()));
}

TEST_CASE("chat tokens of a converted model are special, whatever the tokenizer's file says of them") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("linnet-chat-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::copy("tests/golden/smollm2", folder, std::filesystem::copy_options::recursive);
  const json source = byte_level_json(
      kMerges, {added_token("<user>", false), added_token("<bot>", false), added_token("<stop>", false), added_token("<tool>", false)});
  std::ofstream(folder / "tokenizer.json") << source.dump();
  std::ofstream(folder / "linnet_chat.json")
      << R"({"user": {"prefix": "<user>", "suffix": "\n"}, "assistant": {"prefix": "<bot>", "suffix": "<stop>\n"}})";
  {
    const test::Model model(folder, LINNET_I8G128);
    const int32_t first = static_cast<int32_t>(source["model"]["vocab"].size()), user = first, bot = first + 1, stop = first + 2,
                  tool = first + 3;
    CHECK(kind_of(model.m, user) == LINNET_TOKEN_SPECIAL);
    CHECK(kind_of(model.m, bot) == LINNET_TOKEN_SPECIAL);
    CHECK(kind_of(model.m, stop) == (LINNET_TOKEN_EOG | LINNET_TOKEN_SPECIAL));
    CHECK(kind_of(model.m, tool) == 0);
    CHECK(kind_of(model.m, 'a') == 0);
    CHECK(test::tokenize(model, "<user>a<stop>", LINNET_PARSE_SPECIAL) == Ids{user, 'a', stop});
    for (const int32_t id : test::tokenize(model, "<user>a<stop><bot>", 0)) CHECK(kind_of(model.m, id) == 0);
    CHECK(test::tokenize(model, "<tool>", 0) == Ids{tool});
    CHECK(text_of(model.m, {user, 'a', tool, stop}, LINNET_SKIP_SPECIAL) == "a<tool>");
    CHECK(text_of(model.m, {user, 'a', tool, stop}, 0) == "<user>a<tool><stop>");
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("tokenizer calls refuse what they do not know, and models without a tokenizer") {
  const test::Model model = vocabulary("tests/golden/tokenizers/llama3");
  const int32_t n_vocab = static_cast<int32_t>(model.desc.n_vocab);
  linnet_error err{};
  uint32_t kind = 7;
  size_t n = 0;
  char scratch[64], out[64];
  int32_t ids[8];
  const auto says = [&](linnet_status status, linnet_status want, const char* what) {
    CHECK(status == want);
    INFO(err.text);
    CHECK(std::string(err.text).find(what) != std::string::npos);
  };
  for (const int32_t id : {-1, n_vocab, INT32_MAX, INT32_MIN})
    says(linnet_token_kind(model.m, id, &kind, &err), LINNET_BAD_ARG, "is outside 0..");
  says(linnet_token_kind(nullptr, 0, &kind, &err), LINNET_BAD_ARG, "model is NULL");
  says(linnet_token_kind(model.m, 0, nullptr, &err), LINNET_BAD_ARG, "kind is NULL");
  for (const uint32_t flags : {4u, 8u, 1u << 31, 7u})
    says(linnet_tokenize(model.m, "a", 1, flags, scratch, sizeof scratch, ids, 8, &n, &err), LINNET_BAD_ARG, "flags");
  for (const uint32_t flags : {1u, 2u, 6u, 8u, 1u << 31})
    says(linnet_detokenize(model.m, ids, 0, flags, out, sizeof out, &n, &err), LINNET_BAD_ARG, "flags");
  // What is left out is looked at all the same.
  ids[0] = n_vocab;
  says(linnet_detokenize(model.m, ids, 1, LINNET_SKIP_SPECIAL, out, sizeof out, &n, &err), LINNET_BAD_ARG, "is outside 0..");
  const test::Model mute("tests/golden/llama", LINNET_I8G128);
  says(linnet_token_kind(mute.m, 0, &kind, &err), LINNET_UNSUPPORTED, "no tokenizer");
  says(linnet_tokenize(mute.m, "a", 1, 0, scratch, sizeof scratch, ids, 8, &n, &err), LINNET_UNSUPPORTED, "no tokenizer");
  CHECK(kind == 7);
}
