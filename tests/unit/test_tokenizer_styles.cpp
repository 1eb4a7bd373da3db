// Properties that hold for tokenizers of every style: streams never cut a character, what is lossless comes back, work grows with the text.
#include <fstream>
#include <set>

#include "platform/text_out.h"
#include "test_tokenizer.h"
#include "tests/gguf_file.h"

namespace {

std::shared_ptr<const Loaded> small(const std::string& name) { return load_folder("tests/golden/tokenizers/" + name); }

bool is_utf8(const std::string& s) { return lossy(s) == s; }

// What linnet_generate passes on for these tokens, piece by piece.
struct Stream {
  std::string text;
  bool whole = true;  // each piece was made of whole characters
  void take(TextOut* out) {
    const std::string piece(out->utf8, out->n_utf8);
    whole = whole && is_utf8(piece);
    text += piece;
    out->n_utf8 = 0;
  }
};
Stream stream_of(const Tokenizer& t, const Ids& ids) {
  static const StopStrings none = {};
  std::vector<char> utf8(3 * kHeldBytes);
  Stream out;
  TextOut text;
  text.begin(utf8.data());
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view bytes = token_bytes(t, ids[i], i == 0);
    size_t at = 0;
    for (bool done = false; !done; out.take(&text)) done = text.feed(none, none, bytes, &at, [](size_t k) { return k; });
  }
  text.emit(text.n, true);
  out.take(&text);
  return out;
}

std::string random_text(std::mt19937& rng, size_t most) {
  const std::vector<std::string> pool = {
      "the ",    " of",    "a",      " ",     "  ", "\n", "\t",  "'s",     "42",     "1,234", "é",
      "e\u0301", "ß",      "Ж",      "中",    "の", "한", "א",   "\u0903", "\u200D", "😀",    "👩‍👩‍👧",
      "ﬁ",       "½",      "…",      "Ａ",    "²",  "▁",  "<s>", "##",     "[UNK]",  "...",   "(",
      "×",       "\u00A0", "\u3000", "don't", "İ",  "ǅ"};
  std::string text;
  for (size_t n = rng() % most; n; --n) {
    if (rng() % 5) {
      text += pool[rng() % pool.size()];
    } else if (rng() % 2) {
      text.push_back(static_cast<char>(rng()));
    } else {
      uint32_t c;
      do c = static_cast<uint32_t>(rng() % (rng() % 2 ? 0x3000 : 0x110000));
      while (c >= 0xD800 && c < 0xE000);
      text += put_utf8(c);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a stream of tokens is the whole text, and no piece of it cuts a character") {
  std::mt19937 rng(11);
  size_t streams = 0;
  std::vector<std::pair<std::string, std::shared_ptr<const Loaded>>> all;
  for (const char* name : kSmall) all.emplace_back(name, small(name));
  for (const char* name : {"gpt2", "llama2", "t5-small"}) all.emplace_back(name, load_folder(std::string("tokenizers/") + name));
  for (const auto& [name, l] : all) {
    if (!l) continue;
    for (int round = 0; round < 100; ++round, ++streams) {
      Ids ids;
      const bool bytes = round % 2;  // tokens of single bytes, which make and break characters
      for (size_t n = rng() % 60; n; --n) {
        const int32_t one = tok::Tables(l->t).byte_ids[round % 4 == 1 ? 0x80 + rng() % 0x70 : rng() % 256];
        ids.push_back(bytes && one >= 0 && rng() % 4 ? one : static_cast<int32_t>(rng() % l->t.n_tokens));
      }
      const Stream got = stream_of(l->t, ids);
      if (!got.whole) FAIL(name << ": a character is cut, round " << round);
      if (got.text != lossy(decode(l->t, ids)))
        FAIL(name << ": " << json(got.text).dump() << " is not " << json(lossy(decode(l->t, ids))).dump());
    }
    // Texts that were encoded come back through a stream just as well.
    for (int round = 0; round < 50; ++round) {
      const Ids ids = encode(l->t, random_text(rng, 30), LINNET_PARSE_SPECIAL);
      const Stream got = stream_of(l->t, ids);
      if (!got.whole || got.text != lossy(decode(l->t, ids))) FAIL(name << ": " << json(got.text).dump());
    }
  }
  std::printf("streams: %zu of random tokens\n", streams);
}

namespace {

// Loaded once: with sanitizers that takes longer than what is done with them.
const std::vector<std::pair<std::string, std::shared_ptr<const Loaded>>>& every_tokenizer() {
  static std::vector<std::pair<std::string, std::shared_ptr<const Loaded>>> all;
  if (!all.empty()) return all;
  for (const char* name : kSmall) all.emplace_back(name, small(name));
  for (const char* name : {"wordpiece-txt", "wordpiece-txt-cased"}) all.emplace_back(name, small(name));
  for (const char* name : {"gpt2", "llama2", "mistral-v3", "phi-3", "qwen2", "smollm", "t5-small"})
    all.emplace_back(name, load_folder(std::string("tokenizers/") + name));
  for (const char* name : {"deepseek-llm", "gpt-2", "llama-spm", "mpt", "phi-3"})
    all.emplace_back(std::string("ggml ") + name, load_gguf(std::string("tokenizers/ggml-vocab/ggml-vocab-") + name + ".gguf"));
  std::erase_if(all, [](const auto& one) { return !one.second; });
  return all;
}
bool is_unknown(const Tokenizer& t, int32_t id) { return tok::Tables(t).token_flags[id] & tok::kUnknown; }

}  // namespace

TEST_CASE("text is plain where no flag says otherwise: no special token comes of it, however it is written out") {
  std::mt19937 rng(21);
  size_t texts = 0, parsed = 0;
  for (const auto& one_style : every_tokenizer()) {
    const std::string& name = one_style.first;  // a lambda takes no structured binding
    const Loaded* const l = one_style.second.get();
    std::vector<int32_t> specials;
    for (int32_t id = 0; id < static_cast<int32_t>(l->t.n_tokens); ++id)
      if ((token_is_special(l->t, id) || token_is_eog(l->t, id)) && !l->blob.tokens[static_cast<size_t>(id)].empty())
        specials.push_back(id);
    REQUIRE(!specials.empty());
    const auto spelled = [&] { return l->blob.tokens[static_cast<size_t>(specials[rng() % specials.size()])]; };
    const auto look = [&](const std::string& text) {
      ++texts;
      for (const int32_t id : encode(l->t, text, 0)) {
        if (is_unknown(l->t, id)) continue;  // what the vocabulary has no piece for
        if (token_is_special(l->t, id) || token_is_eog(l->t, id))
          FAIL(name << ": " << json(lossy(text)).dump() << " gives " << id << " " << l->blob.tokens[static_cast<size_t>(id)]);
      }
    };
    for (size_t i = 0; i < specials.size(); i += kSanitized ? 4 : 1) {
      const int32_t id = specials[i];
      const std::string& text = l->blob.tokens[static_cast<size_t>(id)];
      look(text);
      look(" " + text);
      look("a" + text + text + "\n");
      const Ids found = encode(l->t, text, LINNET_PARSE_SPECIAL);
      parsed += std::count(found.begin(), found.end(), id) > 0;  // the flag does it
    }
    for (int round = 0; round < (kSanitized ? 60 : 300); ++round) {
      std::string text = random_text(rng, 8);
      for (size_t n = 1 + rng() % 3; n; --n) {
        const std::string one = spelled();
        text += rng() % 3 ? one : one.substr(0, rng() % one.size()) + spelled() + one.substr(one.size() / 2);
        text += random_text(rng, 6);
      }
      look(text);
    }
  }
  std::printf("plain text: %zu texts, %zu special tokens found where they are looked for\n", texts, parsed);
  CHECK(parsed > (kSanitized ? 12u : 60u));  // more where published tokenizers are at hand
}

TEST_CASE("skipping special tokens is decoding the others") {
  std::mt19937 rng(22);
  size_t skipped = 0;
  for (const auto& [name, l] : every_tokenizer()) {
    std::vector<int32_t> specials;
    for (int32_t id = 0; id < static_cast<int32_t>(l->t.n_tokens); ++id)
      if (token_is_special(l->t, id)) specials.push_back(id);
    for (int round = 0; round < (kSanitized ? 40 : 200); ++round) {
      Ids ids = round % 2 ? encode(l->t, random_text(rng, 10)) : Ids{}, others;
      for (size_t n = rng() % 12; n; --n) {
        const int32_t id = rng() % 2 ? specials[rng() % specials.size()] : static_cast<int32_t>(rng() % l->t.n_tokens);
        ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(rng() % (ids.size() + 1)), id);
      }
      for (const int32_t id : ids)
        if (!token_is_special(l->t, id)) others.push_back(id);
      skipped += ids.size() - others.size();
      if (decode(l->t, ids, LINNET_SKIP_SPECIAL) != decode(l->t, others))
        FAIL(name << ": " << json(lossy(decode(l->t, ids, LINNET_SKIP_SPECIAL))).dump());
    }
  }
  CHECK(skipped > (kSanitized ? 2000u : 10000u));
}

TEST_CASE("what is lossless comes back, whatever the bytes") {
  std::mt19937 rng(12);
  const std::map<std::string, bool> styles = {
      {"llama3", false}, {"gpt-4o", false},    {"tekken", false}, {"olmo2", false},   {"deepseek-v3", false}, {"deepseek-coder", false},
      {"falcon", false}, {"starcoder", false}, {"bloom", false},  {"gpt-neox", true}, {"command-r", true}};  // true: NFC comes back
  for (const auto& [name, is_nfc] : styles) {
    const auto l = small(name);
    for (int round = 0; round < 400; ++round) {
      const std::string text = random_text(rng, 40), back = decode(l->t, encode(l->t, text, 0));
      if (back != (is_nfc ? nfc_of(text) : text)) FAIL(name << ": " << json(lossy(text)).dump() << " became " << json(lossy(back)).dump());
    }
  }
  for (const char* name : {"gemma", "unigram-bytes"}) {  // bytes for what is no piece; U+2581 is a space
    const auto l = small(name);
    for (int round = 0; round < 400; ++round) {
      const std::string text = random_text(rng, 40), back = decode(l->t, encode(l->t, text, 0));
      if (back != convert::with_spaces(text)) FAIL(name << ": " << json(lossy(text)).dump() << " became " << json(lossy(back)).dump());
    }
  }
}

TEST_CASE("work grows with the text, in steps counted") {
  std::mt19937 rng(13);
  const size_t large = kSanitized ? 20000 : 60000;
  std::map<std::string, std::string> texts;
  for (const char* unit : {"a",    " ",       "\n",     "the quick brown fox ",
                           "é",    "e\u0301", "中",     "中A",
                           "'",    "'s ",     "1",      "(",
                           "\xFF", "▁",       "\u0301", "aA",
                           "ﬁ",    "ﷺ",       "😀",     "<s>",
                           "/",    " !"}) {
    std::string& text = texts[unit];
    while (text.size() < large) text += unit;
  }
  std::string& mixed = texts["mixed"];
  while (mixed.size() < large) mixed += random_text(rng, 40);
  const auto steps = [](const Tokenizer& t, std::string_view text) {
    std::vector<uint8_t> scratch(tokenize_scratch_bytes(t, text.size()));
    size_t n = 0;
    uint64_t count = 0;
    const Status status = tokenize(t, text, kAllSpecial, scratch.data(), scratch.size(), nullptr, 0, &n, nullptr, &count);
    if (status != LINNET_OK && status != LINNET_TOO_SMALL) FAIL("tokenize: " << status);
    return static_cast<double>(count);
  };
  double worst = 0, most = 0;
  std::string which;
  // Tokens that take white space with them, inside white space.
  const json greedy = byte_level_json(
      {}, {added_token("\n", true, false, true), added_token("<s>", true, true, true), added_token(" ", false, true, true)});
  std::vector<std::string> names(std::begin(kSmall), std::end(kSmall));
  names.push_back("greedy");
  for (const std::string& name : names) {
    const auto l = name == "greedy" ? built(greedy) : small(name);
    for (const auto& [label, text] : texts) {
      const double whole = steps(l->t, text), tenth = steps(l->t, std::string_view(text).substr(0, large / 10));
      const double ratio = whole / (tenth + 100);
      if (ratio > worst) worst = ratio, which = name + " on " + label;
      most = std::max(most, whole / static_cast<double>(text.size()));
    }
  }
  std::printf("steps: ten times the text takes up to %.1f times as many (%s); up to %.0f a byte\n", worst,
              json(lossy(which)).dump().c_str(), most);
  CHECK(worst < 14);  // 100 would be quadratic
  CHECK(most < 600);  // a piece has at most kMaxPiece bytes
}

TEST_CASE("a text that grows more than the tables say is refused, not cut") {
  const auto l = std::make_unique<Loaded>();
  l->blob = small("unigram-t5")->blob;
  open_blob(l.get());
  std::string text;
  while (text.size() < 300) text += "\uFDFA";
  encode(l->t, text);
  auto* header = reinterpret_cast<tok::Header*>(l->t.header);
  CHECK(header->growth >= 11);
  header->growth = 2;
  std::vector<uint8_t> scratch(tokenize_scratch_bytes(l->t, text.size()));
  size_t n = 0;
  Error err = {};
  CHECK(tokenize(l->t, text, kAllSpecial, scratch.data(), scratch.size(), nullptr, 0, &n, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("grows by more than 2 times") != std::string::npos);
}

// ---- corners that trained vocabularies do not come to ------------------------------------------------------------------------

TEST_CASE("compiled rules: SentencePiece takes the longest match, the tokenizers library whole clusters and the shortest") {
  const std::vector<std::pair<std::string, uint32_t>> rules = {{"e\u0301", 0}, {"x", 3}, {"xy", 5}, {"\uFF21", 7}};
  const std::vector<uint32_t> units = convert::build_trie(rules);
  convert::TokenizerParts parts;
  parts.label = "made here";
  parts.kind = tok::kUnigram;
  parts.fuse_unk = true;
  parts.charsmap = test::le(static_cast<uint32_t>(4 * units.size())) +
                   std::string(reinterpret_cast<const char*>(units.data()), 4 * units.size()) +
                   std::string(
                       "\u00E9\0"
                       "1\0"
                       "2\0"
                       "A\0",
                       9);
  parts.tokens = {"<unk>", "1", "2", "y", "\u00E9", "A", "\u0301", "e"};
  parts.scores.assign(parts.tokens.size(), -1.0);
  parts.types.assign(parts.tokens.size(), convert::kNormal);
  parts.types[0] = convert::kUnknownType;
  parts.unk_id = 0;
  const auto ids = [&parts](tok::StepOp op, const char* text) {
    parts.steps = {{op}};
    Loaded l;
    Error err = {};
    const Status status = convert::build_tokenizer(parts, &l.blob, &err);
    INFO(err.text);
    REQUIRE(status == LINNET_OK);
    open_blob(&l);
    return encode(l.t, text);
  };
  CHECK(ids(tok::kStepCharsmap, "xyx") == Ids{2, 1});
  CHECK(ids(tok::kStepClusters, "xyx") == Ids{1, 3, 1});
  for (const tok::StepOp op : {tok::kStepCharsmap, tok::kStepClusters}) CHECK(ids(op, "e\u0301e") == Ids{4, 7});
  CHECK(ids(tok::kStepCharsmap, "\uFF21\u0301") == Ids{5, 6});
  CHECK(ids(tok::kStepClusters, "\uFF21\u0301") == Ids{5});              // the mark goes with its cluster
  CHECK(ids(tok::kStepClusters, "\uFF21\u0301\u0301") == Ids{5, 6, 6});  // of six bytes and more, each character
  // Bytes that are no text: SentencePiece makes them U+FFFD, which is unknown here; a run is one token.
  CHECK(ids(tok::kStepCharsmap, "y\xFF\xFFy") == Ids{3, 0, 3});
}

TEST_CASE("Unigram: sums of SentencePiece's are floats") {
  convert::TokenizerParts parts;
  parts.label = "made here";
  parts.kind = tok::kUnigram;
  parts.tokens = {"a", "b", "ab"};
  parts.scores = {-16777216.0, -1.5, -16777218.0};  // a + b is -16777217.5, as float -16777218
  parts.types.assign(3, convert::kNormal);
  for (const bool rounds : {false, true}) {
    parts.float_scores = rounds;
    Loaded l;
    REQUIRE(convert::build_tokenizer(parts, &l.blob, nullptr) == LINNET_OK);
    open_blob(&l);
    CHECK(encode(l.t, "ab") == (rounds ? Ids{2} : Ids{0, 1}));
  }
}

TEST_CASE("WordPiece: a piece from inside a word shows its prefix where it begins a text") {
  const auto l = small("wordpiece");
  int32_t inside = -1, word = -1;
  for (size_t i = 0; i < l->blob.tokens.size(); ++i) {
    if (tok::Tables(l->t).token_flags[i] & tok::kContinues)
      inside = static_cast<int32_t>(i);
    else if (l->blob.types[i] == convert::kNormal && l->blob.tokens[i].size() > 6)
      word = static_cast<int32_t>(i);
  }
  REQUIRE(inside >= 0);
  REQUIRE(word >= 0);
  const std::string tail = l->blob.tokens[static_cast<size_t>(inside)],
                    head = l->blob.tokens[static_cast<size_t>(word)].substr(3);  // without U+2581
  CHECK(decode(l->t, {inside, inside}) == "##" + tail + tail);
  CHECK(decode(l->t, {word, inside, word}) == head + tail + " " + head);
}

TEST_CASE("Digits behind ByteLevel see the letters of bytes") {
  json tokenizer = byte_level_json({{"Â", "²"}});
  const auto joined = built(tokenizer);
  CHECK(encode(joined->t, "a²b") == Ids{'a', 256, 'b'});
  tokenizer["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}, {{"type", "Digits"}, {"individual_digits", false}}}}};
  CHECK(encode(built(tokenizer)->t, "a²b") == Ids{'a', 0xC2, 0xB2, 'b'});
}

// ---- GGUF -------------------------------------------------------------------------------------------------------------------

namespace {

template <class T>
std::string array_of(uint32_t type, const std::vector<T>& values) {
  std::string out = test::le(type) + test::le(uint64_t{values.size()});
  for (const T& v : values) out += test::le(v);
  return out;
}
test::GgufFile gguf_of(const TokenizerBlob& b) {
  test::GgufFile file;
  file.text("tokenizer.ggml.model", b.gguf_model);
  file.text("tokenizer.ggml.pre", b.gguf_pre);
  std::string tokens = test::le(uint32_t{kGgufString}) + test::le(uint64_t{b.tokens.size()});
  for (const std::string& token : b.tokens) tokens += test::lstr(token);
  file.raw("tokenizer.ggml.tokens", kGgufArray, tokens);
  file.raw("tokenizer.ggml.token_type", kGgufArray, array_of(kGgufI32, b.types));
  if (!b.scores.empty()) file.raw("tokenizer.ggml.scores", kGgufArray, array_of(kGgufF32, b.scores));
  if (!b.charsmap.empty())
    file.raw("tokenizer.ggml.precompiled_charsmap", kGgufArray,
             array_of(kGgufU8, std::vector<uint8_t>(b.charsmap.begin(), b.charsmap.end())));
  if (b.gguf_model == "gpt2") {
    std::string merges = test::le(uint32_t{kGgufString}) + test::le(uint64_t{b.merges.size()});
    for (const std::string& merge : b.merges) merges += test::lstr(merge);
    file.raw("tokenizer.ggml.merges", kGgufArray, merges);
  }
  file.raw("tokenizer.ggml.add_space_prefix", kGgufBool, std::string(1, static_cast<char>(b.add_space_prefix)));
  file.raw("tokenizer.ggml.remove_extra_whitespaces", kGgufBool, std::string(1, static_cast<char>(b.remove_extra)));
  if (b.unk_id >= 0) file.u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(b.unk_id));
  if (b.bos_id >= 0) file.u32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(b.bos_id));
  if (b.eos_id >= 0) file.u32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(b.eos_id));
  return file;
}
Status open_gguf(const test::GgufFile& file, Loaded* out, Error* err) {
  const std::string bytes = file.header();
  const auto gguf = std::make_unique<Gguf>();
  const Status status = gguf_open(bytes.data(), bytes.size(), "test.gguf", gguf.get(), err);
  if (status != LINNET_OK) return status;
  return convert::tokenizer_from_gguf(*gguf, &out->blob, err);
}

}  // namespace

TEST_CASE("GGUF: every name of a pre-tokenizer") {
  // All that llama.cpp knows but "whitespace", whose words are no bytes, and what it makes of texts by them. These it splits by patterns
  // that are like those of the models (falcon's digits behind letters for bytes, marks beside letters, capitals inside words), which count
  // here.
  const std::set<std::string> like = {"falcon", "deepseek-llm", "gpt-4o", "llama4",   "kanana2",    "talkie",   "minimax-m2",
                                      "tekken", "kimi-k2",      "youtu",  "tiny_aya", "cohere2moe", "superbpe", "afmoe"};
  std::ifstream in("tests/data/pre_names.jsonl");
  std::vector<json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  REQUIRE(lines.size() > 20);
  lines.push_back({{"names", {"k2-horizon", "granite-embed-multi-311m", "sarvam-moe"}}});  // newer, or without letters for bytes
  test::GgufFile whole;
  whole.text("tokenizer.ggml.model", "gpt2");
  whole.text("tokenizer.ggml.pre", "");
  for (const char* what : {"tokens", "merges"}) {
    std::string list = test::le(uint32_t{kGgufString}) + test::le(uint64_t{lines[0][what].size()});
    for (const json& s : lines[0][what]) list += test::lstr(s.get<std::string>());
    whole.raw("tokenizer.ggml." + std::string(what), kGgufArray, list);
  }
  size_t names = 0, wrong = 0, otherwise = 0;
  for (size_t i = 2; i < lines.size(); ++i)
    for (const json& name : lines[i]["names"]) {
      whole.key("tokenizer.ggml.pre")->value = test::le(uint32_t{kGgufString}) + test::lstr(name.get<std::string>());
      Loaded l;
      Error err = {};
      const Status status = open_gguf(whole, &l, &err);
      INFO(name << ": " << err.text);
      REQUIRE(status == LINNET_OK);
      open_blob(&l);
      if (l.blob.gguf_model == "gpt2") CHECK(decode(l.t, encode(l.t, "it's 1234567 中文 x_y\n  Éa", 0)) == "it's 1234567 中文 x_y\n  Éa");
      for (size_t k = 0; lines[i].contains("ids") && k < lines[1]["texts"].size(); ++k) {
        const std::string text = lines[1]["texts"][k];
        const Ids got = encode(l.t, text, 0);
        if (got == lines[i]["ids"][k].get<Ids>()) continue;
        if (like.count(name)) {
          ++otherwise;
          continue;
        }
        UNSCOPED_INFO(name << " " << json(text).dump() << ": " << json(got).dump() << ", llama.cpp " << lines[i]["ids"][k].dump());
        ++wrong;
      }
      ++names;
    }
  CHECK(wrong == 0);
  CHECK(otherwise < like.size() * lines[1]["texts"].size() / 5);
  std::printf("GGUF: %zu names of pre-tokenizers, %zu texts each as in llama.cpp, but for %zu by %zu of the names\n", names,
              lines[1]["texts"].size(), otherwise, like.size());
  // Gemma 4: a BPE whose spaces are U+2581, with merges instead of scores.
  const json gemma = json::parse(slurp("tests/golden/tokenizers/gemma/tokenizer.json"));
  const auto folder = small("gemma");
  TokenizerBlob b = folder->blob;
  b.gguf_model = "gemma4", b.gguf_pre = "gemma4";
  b.scores.clear();
  test::GgufFile file = gguf_of(b);
  std::string merges = test::le(uint32_t{kGgufString}) + test::le(uint64_t{gemma["model"]["merges"].size()});
  for (const json& m : gemma["model"]["merges"])
    merges += test::lstr(m.is_string() ? m.get<std::string>() : m[0].get<std::string>() + " " + m[1].get<std::string>());
  file.raw("tokenizer.ggml.merges", kGgufArray, merges);
  Loaded l;
  Error err = {};
  const Status status = open_gguf(file, &l, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  open_blob(&l);
  std::mt19937 rng(15);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(rng, 40);
    if (encode(l.t, text, 0) != encode(folder->t, text, 0)) FAIL(json(lossy(text)).dump());
  }
  CHECK(encode(l.t, "the").front() == folder->t.bos_id);
}

TEST_CASE("GGUF files hold the same tokenizers") {
  std::mt19937 rng(14);
  size_t texts = 0;
  for (const char* name : {"unigram-spm", "unigram-bytes", "wordpiece", "llama3", "gpt-4o", "tekken", "deepseek-v3", "deepseek-coder",
                           "falcon", "starcoder", "command-r", "bloom", "gpt-neox"}) {
    const auto l = small(name);
    test::GgufFile file = gguf_of(l->blob);
    if (l->blob.gguf_model == "bert") {
      file.u32("tokenizer.ggml.cls_token_id", 2);
      file.u32("tokenizer.ggml.seperator_token_id", 3);
    }
    Loaded other;
    Error err = {};
    const Status status = open_gguf(file, &other, &err);
    INFO(name << " " << l->blob.gguf_model << " " << l->blob.gguf_pre << ": " << err.text);
    REQUIRE(status == LINNET_OK);
    open_blob(&other);
    for (int round = 0; round < 200; ++round, ++texts) {
      std::string text = random_text(rng, 40);
      // SentencePiece looks for its names of special pieces only where they are user-defined.
      const uint32_t flags = 0;
      const Ids want = encode(l->t, text, flags), got = encode(other.t, text, flags);
      if (got != want) FAIL(name << ": " << json(lossy(text)).dump());
      if (l->blob.gguf_model != "t5" && decode(other.t, got) != decode(l->t, want))
        FAIL(name << " decodes " << json(lossy(text)).dump() << " otherwise");
    }
    if (l->blob.gguf_model == "bert") CHECK(encode(other.t, "the") == encode(l->t, "the"));
    if (l->blob.gguf_model == "t5") CHECK(encode(other.t, "the").back() == l->t.eos_id);
  }
  std::printf("GGUF: %zu texts as by the files they were made of\n", texts);

  const auto refused = [](const test::GgufFile& file, Status want, const char* says) {
    Loaded l;
    Error err = {};
    CHECK(open_gguf(file, &l, &err) == want);
    INFO(err.text);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  test::GgufFile file = gguf_of(small("llama3")->blob);
  file.key("tokenizer.ggml.pre")->value = test::le(uint32_t{kGgufString}) + test::lstr("whitespace");
  refused(file, LINNET_UNSUPPORTED, "tokenizer.ggml.pre 'whitespace' is not supported");
  file = gguf_of(small("unigram-spm")->blob);
  file.key("tokenizer.ggml.precompiled_charsmap")->value = test::le(uint32_t{kGgufArray}) + array_of(kGgufI32, std::vector<int32_t>{1});
  refused(file, LINNET_BAD_FILE, "precompiled_charsmap is not an array of bytes");
  file = gguf_of(small("unigram-spm")->blob);
  file.raw("tokenizer.ggml.treat_whitespace_as_suffix", kGgufBool, std::string(1, '\1'));
  refused(file, LINNET_UNSUPPORTED, "treat_whitespace_as_suffix");
  file.remove("tokenizer.ggml.scores");
  refused(file, LINNET_BAD_FILE, "tokenizer.ggml.scores is missing");
  file.key("tokenizer.ggml.model")->value = test::le(uint32_t{kGgufString}) + test::lstr("rwkv");
  refused(file, LINNET_UNSUPPORTED, "tokenizer.ggml.model 'rwkv'");
}

// ---- files that are not understood ------------------------------------------------------------------------------------------

TEST_CASE("Unigram and WordPiece: what is not understood is refused by name") {
  const auto read = [](const char* name) { return json::parse(slurp(std::string("tests/golden/tokenizers/") + name + "/tokenizer.json")); };
  const auto refused = [](Status want, json tokenizer, const char* pointer, json value, const char* says) {
    tokenizer[json::json_pointer(pointer)] = std::move(value);
    Loaded l;
    Error err = {};
    const Status status = build(tokenizer, &l, &err);
    INFO(err.text << " -- must say: " << says);
    CHECK(status == want);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  };
  const json unigram = read("unigram-t5"), wordpiece = read("wordpiece"), byte_level = read("falcon");
  const Status bad = LINNET_BAD_FILE, no = LINNET_UNSUPPORTED;
  refused(bad, unigram, "/model/vocab", json::object(), "model.vocab");
  refused(bad, unigram, "/model/vocab/5", {"x"}, "model.vocab[5]");
  refused(bad, unigram, "/model/vocab/5", {"x", "y"}, "model.vocab[5]");
  refused(bad, unigram, "/model/vocab/5/1", nullptr, "model.vocab[5]");
  refused(bad, unigram, "/model/unk_id", 100000, "model.unk_id is 100000");
  refused(no, unigram, "/model/vocab/5/0", std::string(600, 'x'), "piece 5 has 600 bytes");
  refused(bad, unigram, "/normalizer/precompiled_charsmap", "!", "not base64");
  refused(bad, unigram, "/normalizer/precompiled_charsmap", "AAAA", "the precompiled charsmap has 3 bytes");
  refused(no, unigram, "/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a*"}}}, {"content", "b"}},
          "a normalizer's pattern that may match nothing is not supported");
  refused(no, unigram, "/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "(?~a)"}}}, {"content", "b"}}, "an absent operator");
  refused(no, unigram, "/pre_tokenizer", {{"type", "UnicodeScript"}}, "pre_tokenizer is not supported");
  refused(no, unigram, "/pre_tokenizer/pretokenizers/1/replacement", "_", "pre_tokenizer is not supported");
  refused(no, unigram, "/pre_tokenizer/pretokenizers/1/prepend_scheme", "first",
          "prepend_scheme 'first' behind a normalizer or ByteLevel and other steps");
  for (const char* name : {"CTC", "BPEDecoder", "Unheard"}) refused(no, unigram, "/decoder", {{"type", name}}, "decoder is not supported");
  const json fuse = {{"type", "Fuse"}}, bytes = {{"type", "ByteFallback"}};
  const auto then = [](json first, json second) { return json{{"type", "Sequence"}, {"decoders", {first, second}}}; };
  refused(no, unigram, "/decoder", then(fuse, {{"type", "WordPiece"}}), "decoder is not supported");
  refused(no, unigram, "/decoder", then(fuse, {{"type", "Replace"}, {"pattern", {{"String", "ab"}}}, {"content", "c"}}), "decoder is not");
  refused(no, unigram, "/decoder", then(bytes, {{"type", "Replace"}, {"pattern", {{"String", "é"}}}, {"content", "c"}}), "decoder is not");
  refused(no, unigram, "/decoder", then(fuse, {{"type", "Strip"}, {"content", " "}, {"start", 2}, {"stop", 0}}), "decoder is not");
  refused(no, wordpiece, "/pre_tokenizer", {{"type", "UnicodeScripts"}}, "handle_chinese_chars where white space stays is not supported");
  refused(no, wordpiece, "/model/unk_token", nullptr, "a model that names no unk_token");
  refused(no, wordpiece, "/model/type", "CharLevel", "known are BPE, Unigram, WordPiece and WordLevel");
  refused(bad, wordpiece, "/model/max_input_chars_per_word", "x", "max_input_chars_per_word");
  refused(no, byte_level, "/normalizer", {{"type", "BertNormalizer"}}, "handle_chinese_chars where white space stays");
}
