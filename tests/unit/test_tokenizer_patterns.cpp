// Patterns that are compiled into tables: against PCRE2, and what is refused.
#include <chrono>
#include <ctime>
#include <fstream>

#include "runtime/tokenizer/pattern.h"
#include "test_tokenizer.h"
#include "tests/pcre2_regex.h"

namespace {

Status compile(std::string_view pattern, convert::SplitTables* out, Error* err) {
  return convert::compile_split(pattern, "made here", out, err);
}
// Bytes of each piece that the tables make, and whether it is dropped; *steps: what was read for it.
std::vector<std::pair<size_t, bool>> pieces_of(const tok::PatternTables& p, std::string_view text, uint64_t* steps = nullptr) {
  std::vector<std::pair<size_t, bool>> out;
  std::vector<uint8_t> marks(p.n_looks ? tok::look_bytes(text.size()) : 0);
  tok::read_looks(p, text.data(), text.size(), marks.data());
  tok::PatternMemory memory;
  for (size_t at = 0; at < text.size(); at += out.back().first) {
    bool dropped = false;
    const size_t n = tok::pattern_bytes(p, text.data(), at, text.size(), marks.data(), &memory, &dropped);
    out.emplace_back(n, dropped);
  }
  if (steps) *steps = memory.steps + p.n_looks * text.size();
  return out;
}
std::vector<std::string> kept(const tok::PatternTables& p, std::string_view text) {
  std::vector<std::string> out;
  size_t at = 0;
  for (const auto& [n, dropped] : pieces_of(p, text)) {
    if (!dropped) out.emplace_back(text.substr(at, n));
    at += n;
  }
  return out;
}
std::vector<size_t> table_words(const convert::SplitTables& p, std::string_view text) {
  std::vector<uint16_t> next = p.next;
  std::vector<tok::Look> looks;
  for (const convert::SplitTables::Look& look : p.looks) {
    looks.push_back({0, look.ahead, look.n_states, static_cast<uint32_t>(next.size())});
    next.insert(next.end(), look.next.begin(), look.next.end());
  }
  const uint32_t n_looks = static_cast<uint32_t>(looks.size());
  const tok::PatternTables tables = {tok::kPatternIsolated, p.n_classes, p.blocks.data(), next.data(),
                                     p.classes.data(),      n_looks,     looks.data(),    next.data()};
  std::vector<size_t> out;
  for (const auto& [n, dropped] : pieces_of(tables, text)) out.push_back(n);
  return out;
}

struct Family {
  const char *name, *pattern, *pcre;  // pcre: nullptr = the same
};
#define CASED(han) "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}" han "]"
#define SMALL(han) "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}" han "]"
#define ENDING "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define NOT_HAN "&&[^\\p{Han}]"
#define PCRE_HAN(set) "(?:(?!\\p{sc:Han})" set ")"
// As the models publish them.
constexpr Family kFamilies[] = {
    {"Qwen3.5", ENDING R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" SPACES, nullptr},
    {"DeepSeek V3",
     "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|"
     "\\s+(?!\\S)|\\s+",
     nullptr},
    {"Kimi K2",
     "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?" CASED(NOT_HAN) "*" SMALL(NOT_HAN) "+" ENDING "?|[^\\r\\n\\p{L}\\p{N}]?" CASED(NOT_HAN) "+" SMALL(
         NOT_HAN) "*" ENDING R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES,
     "[\\p{sc:Han}]+|[^\\r\\n\\p{L}\\p{N}]?" PCRE_HAN(CASED("")) "*" PCRE_HAN(SMALL("")) "+" ENDING "?|[^\\r\\n\\p{L}\\p{N}]?" PCRE_HAN(
         CASED("")) "+" PCRE_HAN(SMALL("")) "*" ENDING R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES},
    {"Seed-OSS", ENDING R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)" SPACES, nullptr},
    {"MiniCPM5", ENDING R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES, nullptr},
    {"Ling", R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)", nullptr},
    {"K-EXAONE",
     R"((?:'(?i:[sdmt]|ll|ve|re))|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)",
     nullptr},
    {"Jais 2",
     ENDING
     R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)"
     R"(|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})",
     nullptr},
    {"GPT-4o",
     "[^\\r\\n\\p{L}\\p{N}]?((?=[\\p{L}])([^a-z]))*((?=[\\p{L}])([^A-Z]))+" ENDING
     "?|[^\\r\\n\\p{L}\\p{N}]?((?=[\\p{L}])([^a-z]))+((?=[\\p{L}])([^A-Z]))*" ENDING R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES,
     nullptr},
    {"Command A", R"(\d{1,3}(?=(?:\d{3})*\b))",
     R"(\d{1,3}(?=(?:\d{3})*(?![\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149})"
     R"(\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])))"},
};

// A pattern in what PCRE2 and Oniguruma have in common.
std::string random_pattern(std::mt19937& rng, int depth) {
  const char* const atoms[] = {"a",        "b",         "\\p{L}", "\\p{Lu}", "\\p{N}", "\\s",      "\\S",         "[^\\s\\p{L}]",
                               "[ab1]",    "\\d",       "[A-Z]",  " ",       "\\n",    "中",       ".",           "x",
                               "\\x{301}", "[^\\r\\n]", "é",      "\\P{Ll}", "'",      "\\p{Han}", "[a-c\\p{M}-]"};
  const char* const repeats[] = {"?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "??", "*?", "+?", "{1,2}?", "++", "?+", "*+"};
  const char* const looks[] = {"(?!\\S)",       "(?=\\p{L})", "(?!a|b)",  "(?=[^\\n])", "(?!\\p{N}+)", "\\z",    "(?=a+b|1)",
                               "(?!\\p{L}{2})", "(?<=a|b1)",  "(?<!\\s)", "\\A",        "(?<!a[^b])",  "(?=.*1)"};
  std::string out;
  for (size_t n = 1 + rng() % 3; n; --n) {
    const auto kind = rng() % 10;
    if (kind < 2 && depth) {
      out += (rng() % 4 ? "(?:" : rng() % 2 ? "(" : "(?>") + random_pattern(rng, depth - 1) + "|" + random_pattern(rng, depth - 1) + ")";
    } else if (kind == 2) {
      out += "(?i:" + std::string(rng() % 2 ? "'s|k" : "[a-k]x") + ")";
    } else if (kind == 3) {
      out += looks[rng() % std::size(looks)];
      continue;
    } else {
      out += atoms[rng() % (std::size(atoms) - (depth ? 0 : 2))];
    }
    if (rng() % 2) out += repeats[rng() % std::size(repeats)];
  }
  return out;
}

}  // namespace

TEST_CASE("the patterns of published models are cut as PCRE2 cuts them") {
  if (!pcre_knows_unicode_14()) return;
  std::mt19937 rng(21);
  for (const Family& family : kFamilies) {
    convert::SplitTables tables;
    Error err = {};
    const auto start = std::chrono::steady_clock::now();
    const Status status = compile(family.pattern, &tables, &err);
    INFO(family.name << ": " << err.text);
    REQUIRE(status == LINNET_OK);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const Regex regex(family.pcre ? family.pcre : family.pattern);
    size_t wrong = 0;
    for (int i = 0; i < (kSanitized ? 100 : kFull ? 10000 : 2500); ++i) {
      const std::string text = mixed_text(rng, i % 50 ? 14 : 700, pcre_agrees);
      if (table_words(tables, text) != regex_words(regex, text) && wrong++ < 3) UNSCOPED_INFO(json(text).dump());
    }
    CHECK(wrong == 0);
    std::printf("pattern %-12s %3u classes, %4u states, %zu bytes, compiled in %.1f ms\n", family.name, tables.n_classes, tables.n_states,
                2 * tables.next.size() + 2 * tables.blocks.size() + tables.classes.size(), ms);
  }
}

TEST_CASE("random patterns are cut as PCRE2 cuts them") {
  if (!pcre_knows_unicode_14()) return;
  std::mt19937 rng(22);
  size_t compiled = 0, tried = 0, wrong = 0;
  std::map<std::string, size_t> why;
  while (compiled < (kSanitized ? 30 : kFull ? 600 : 200)) {
    REQUIRE(++tried < 20000);
    std::string pattern = random_pattern(rng, 2);
    if (rng() % 3) pattern += "|" + random_pattern(rng, 1) + (rng() % 2 ? "|\\s+(?!\\S)|\\s+" : "");
    convert::SplitTables tables;
    Error err = {};
    if (const Status status = compile(pattern, &tables, &err); status != LINNET_OK) {
      REQUIRE(status == LINNET_UNSUPPORTED);
      const std::string text = err.text;
      ++why[text.substr(text.find("supported: ") + 11, text.find(" at byte") - text.find("supported: ") - 11)];
      continue;
    }
    if (tables.may_be_empty) continue;  // the library's pieces are held against below
    ++compiled;
    std::string spelled = pattern;
    for (size_t at = 0; (at = spelled.find("\\p{Han}", at)) != spelled.npos; at += 10) spelled.replace(at, 7, "\\p{sc:Han}");
    const Regex regex(spelled.c_str());
    for (int i = 0; i < 40; ++i) {
      const std::string text = mixed_text(rng, 12, pcre_agrees);
      if (table_words(tables, text) != regex_words(regex, text) && wrong++ < 5) UNSCOPED_INFO(pattern << " on " << json(text).dump());
    }
  }
  CHECK(wrong == 0);
  std::printf("random patterns: %zu of %zu compile\n", compiled, tried);
  for (const auto& [what, n] : why) std::printf("  refused: %s %zu\n", what.c_str(), n);
}

TEST_CASE("every character is of the categories and scripts that the tokenizers library has it in") {
  std::ifstream in("tests/data/library_sums.txt");  // runtime/tokenizer/make_unicode.py
  REQUIRE(in);
  std::string all;
  for (uint32_t c = 0; c < 0x110000; ++c)
    if (c < 0xD800 || c >= 0xE000) all += put_utf8(c);
  std::string name;
  size_t want_n, n = 0;
  uint32_t want;
  for (; in >> name >> std::dec >> want_n >> std::hex >> want; ++n) {
    if (kShort && n > 2 && n % 8) continue;  // all of them in the release build
    std::vector<size_t> words;
    if (name == "Digits" || name == "Punctuation") {
      words = words_of(name == "Digits" ? tok::kSplitNumbers : tok::kSplitPunctuation, all);
    } else {
      const bool is_word = name == "Whitespace";
      convert::SplitTables tables;
      Error err = {};
      REQUIRE(compile(is_word ? R"(\p{=word}+|[^\p{=word}\s]+)" : "\\p{" + name + "}+", &tables, &err) == LINNET_OK);
      words = table_words(tables, all);
      if (is_word) {  // whose gaps are dropped
        const tok::CharClass space = tok::CharClass::kSpace;
        size_t at = 0;
        std::erase_if(words, [&](size_t bytes) {
          at += bytes;
          return tok::char_class(next_char(all.data() + at - bytes, bytes).code) == space;
        });
      }
    }
    uint32_t sum = 0;
    for (const size_t bytes : words) sum = sum * 31 + static_cast<uint32_t>(bytes);
    INFO(name);
    CHECK(words.size() == want_n);
    CHECK(sum == want);
  }
  CHECK(n > 190);
}

TEST_CASE("behaviours of a pattern are those of the tokenizers library") {
  std::mt19937 rng(23);
  const Regex regex("[ab]x?|1+");
  using Piece = std::pair<std::string, bool>;  // and whether it is a match
  std::map<std::pair<std::string, bool>, std::unique_ptr<Loaded>> known;
  for (int round = 0; round < (kSanitized ? 150 : 3000); ++round) {
    std::string text;
    for (size_t n = 1 + rng() % 10; n; --n) text.push_back("abx1 -"[rng() % 6]);
    std::vector<Piece> pieces;
    for (size_t at = 0; const size_t n : regex_words(regex, text)) {
      pieces.emplace_back(text.substr(at, n), regex.match(text, at) != 0);
      at += n;
    }
    for (const bool invert : {false, true})
      for (const char* behavior : {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}) {
        // Each piece in turn, from the front or the back; a delimiter joins what came right before it unless that was one, too.
        const std::string_view name = behavior;
        const bool backwards = name == "MergedWithNext";
        std::vector<Piece> order = pieces;
        if (backwards) std::reverse(order.begin(), order.end());
        std::vector<std::string> want;
        bool before = false;
        for (const auto& [piece, is_match] : order) {
          const bool delimiter = is_match != invert;
          const bool joins = name == "Contiguous" ? delimiter == before : name.starts_with("Merged") && delimiter && !before;
          if (name == "Removed" && delimiter) continue;
          if (joins && !want.empty())
            want.back() = backwards ? piece + want.back() : want.back() + piece;
          else
            want.push_back(piece);
          before = delimiter;
        }
        if (backwards) std::reverse(want.begin(), want.end());
        auto& l = known[{behavior, invert}];
        if (!l) {
          json tokenizer = byte_level_json({});
          tokenizer["pre_tokenizer"] = {
              {"type", "Sequence"},
              {"pretokenizers",
               {{{"type", "Split"}, {"pattern", {{"Regex", "[ab]x?|1+"}}}, {"behavior", behavior}, {"invert", invert}},
                {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
          l = built(tokenizer);
        }
        if (kept(tok::Tables(l->t).pattern(0), text) != want) FAIL(behavior << (invert ? " inverted" : "") << " on " << text);
      }
  }
}

TEST_CASE("patterns cut texts as the tokenizers library does") {  // tests/data/make_split_patterns.py
  std::ifstream in("tests/data/split_patterns.jsonl");
  REQUIRE(in);
  size_t patterns = 0, refused = 0, texts = 0, wrong = 0;
  std::string failures;
  size_t n_line = 0;
  for (std::string line; std::getline(in, line);) {
    if (kSanitized && n_line++ % 8) continue;
    const json v = json::parse(line);
    const std::string pattern = v["pattern"], name = v["name"];
    json tokenizer = byte_level_json({});
    tokenizer["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", v["behavior"]}, {"invert", v["invert"]}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    Loaded l;
    Error err = {};
    INFO(pattern << ": " << err.text);
    if (const Status status = build(tokenizer, &l, &err); status != LINNET_OK) {
      REQUIRE(status == LINNET_UNSUPPORTED);
      CHECK(name == "random");
      ++refused;
      continue;
    }
    ++patterns;
    open_blob(&l);
    const tok::Tables t(l.t);
    for (const json& c : v["cases"]) {
      const std::string text = c[0];
      std::vector<std::string> got;
      if (t.count(tok::kPatterns)) got = kept(t.pattern(0), text);
      for (size_t at = 0, n = 0; at < text.size() && !t.count(tok::kPatterns); at += n) {
        n = tok::word_bytes(static_cast<tok::Split>(t.header->splits[0]), text.data(), at, text.size());
        got.push_back(text.substr(at, n));
      }
      texts += got.size();
      if (json(got) != c[1] && wrong++ < 5)
        failures += name + " " + pattern + "\n  got  " + json(got).dump() + "\n  want " + c[1].dump() + "\n";
    }
  }
  INFO(failures);
  CHECK(wrong == 0);
  CHECK(patterns > (kSanitized ? 15u : 100u));
  std::printf("patterns as in the tokenizers library: %zu, %zu pieces; %zu refused\n", patterns, texts, refused);
}

TEST_CASE("a compiled pattern is about as fast as a splitter that is written out") {
  const std::string file = slurp("tests/golden/tokenizers/llama3/tokenizer.json");
  std::string prose;
  if (const std::string path = data_path("vectors/text/frankenstein.txt"); !path.empty()) prose = slurp(path);
  while (prose.size() < 200000) prose += "the quick brown fox, it's 42 years\n";
  json tokenizer = json::parse(file);
  const auto known = built(tokenizer);
  std::string& pattern = tokenizer["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"].get_ref<std::string&>();
  pattern = "(?:" + pattern + ")";  // the same, which the table of known ones does not have
  const auto compiled = built(tokenizer);
  REQUIRE(tok::Tables(compiled->t).count(tok::kPatterns) == 1);
  CHECK(tok::Tables(known->t).count(tok::kPatterns) == 0);
  CHECK(encode(known->t, prose) == encode(compiled->t, prose));
  const auto seconds = [&prose](const Tokenizer& t) {
    std::vector<uint8_t> scratch(tokenize_scratch_bytes(t, prose.size()));
    Ids ids(prose.size());
    double best = 1e9;
    for (int run = 0; run < 5; ++run) {
      size_t n = 0;
      const std::clock_t start = std::clock();
      REQUIRE(tokenize(t, prose, 0, scratch.data(), scratch.size(), ids.data(), ids.size(), &n, nullptr) == LINNET_OK);
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  std::printf("encoding %zu bytes: splitter %.1f ms, compiled pattern %.1f ms\n", prose.size(), 1e3 * seconds(known->t),
              1e3 * seconds(compiled->t));
}

TEST_CASE("patterns that are not understood are refused by name and place") {
  // Each of these letters leaves another word to be looked for.
  const char* const kManyEnds = "(?>abb|a|cdd|c|eff|e|ghh|g|ijj|i|kll|k|mnn|m|opp|o|qrr|q)x";
  const std::pair<const char*, const char*> cases[] = {{"a(?<=b{9})", "look-behind of more than 8 characters at byte 1 of "},
                                                       {"a(?<!b+)", "look-behind of more than 8 characters at byte 1"},
                                                       {"(a)\\1", "a back-reference '\\1' at byte 3"},
                                                       {"\\k<a>", "a back-reference"},
                                                       {"\\g<0>", "a call of a group"},
                                                       {"(?<1>a)", "a group's name at byte 0"},
                                                       {"(?<n", "a group's name"},
                                                       {"(?(1)a|b)", "a condition on a group"},
                                                       {"(?W)a", "a group with such a mark"},
                                                       {"(?P<n>a)", "a group with such a mark"},
                                                       {"(?i-", "a group with such a mark"},
                                                       {"(?#a", "the end inside a comment"},
                                                       {"a(?#\\", "the end inside a comment"},
                                                       {"(?x)a+ +", "a repeat of a repeat"},
                                                       {"(?x)a\u3000", "white space beyond ASCII behind (?x)"},
                                                       {"a\\Gb", "an anchor '\\G' at byte 1"},
                                                       {"a(?=bc)?", "a repeated condition at byte 7"},
                                                       {"a(?<=b?+)", "a possessive repeat or an atomic group in look-behind at byte 1"},
                                                       {"(?<!(?>b))", "a possessive repeat or an atomic group in look-behind"},
                                                       {"(?<=\\R)a", "a possessive repeat or an atomic group in look-behind"},
                                                       {"\\w*(?<!\\B[ab]?)b", "a word boundary and no character in look-behind at byte 3"},
                                                       {"(?:a?)*+", "a repeat of what may match nothing"},
                                                       {kManyEnds, "more than 8 looks ahead and behind, with those of atomic groups"},
                                                       {"a{1,2}+", "a mark behind {}"},
                                                       {"a{2}?", "a mark behind {}"},
                                                       {"a**", "a repeat of a repeat"},
                                                       {"(?:a?)*", "a repeat of what may match nothing"},
                                                       {"a{2000}", "a repeat other than up to 1024 times"},
                                                       {"a{2,1}", "a repeat other than"},
                                                       {"{", "a repeat of nothing"},
                                                       {"*", "a repeat of nothing"},
                                                       {"(a", "the end inside a group"},
                                                       {"a)", "')' without '('"},
                                                       {"[a", "the end inside a class"},
                                                       {"[]", "an empty class"},
                                                       {"[[:Alpha:]]", "a POSIX class of such a name at byte 1"},
                                                       {"[[:alpha", "a POSIX class of such a name"},
                                                       {"(?i:[[:alpha:]])", "a POSIX class without case"},
                                                       {"[[:alpha:]-z]", "a range from a class on"},
                                                       {"[b-a]", "a range that is none"},
                                                       {"[a-\\d]", "a range that is none"},
                                                       {"[\\d-z]", "a range from a class on"},
                                                       {"[a&&]", "'&&' without a class"},
                                                       {"\\p{Klingon}", "a property 'Klingon'"},
                                                       {"\\pL", "an escape without {}"},
                                                       {"\\x{110000}", "an escape"},
                                                       {"\\uD800", "an escape"},
                                                       {"\\X", "an escape '\\X'"},
                                                       {"(?i:ss)", "'ss' without case"},
                                                       {"(?i)f(?:(?:i))", "'fi' without case"},
                                                       {"(?i)(?:s)(?#a)t", "'st' without case"},
                                                       {"(?i:é)", "a character beyond ASCII without case"},
                                                       {"(?i:[^a])", "an inverted class without case"},
                                                       {"(?i:[\\p{Lu}])", "without case, an escape"},
                                                       {"(?=aa)(?=bb)(?=cc)(?=dd)(?=ee)(?=ff)(?=gg)(?=hh)(?=ii)x", "more than 8 looks"},
                                                       {"(?:(?:(?:a{1000}){1000}){1000}){1000}", "repeats of more than"},
                                                       {"(?:ab)*c|a|b", "again and again"},
                                                       {"\\xFF", "an escape"},
                                                       {"\xFF", "a byte that is no text"}};
  for (const auto& [pattern, says] : cases) {
    convert::SplitTables tables;
    Error err = {};
    const Status status = compile(pattern, &tables, &err);
    INFO(pattern << ": " << err.text << " -- must say: " << says);
    CHECK(status == LINNET_UNSUPPORTED);
    CHECK(std::string(err.text).find(says) != std::string::npos);
  }
  const std::string deep(200, '('), classes(200, '['), many(20000, 'a');
  for (const std::string& pattern : {deep, classes, many}) {
    convert::SplitTables tables;
    CHECK(compile(pattern, &tables, nullptr) == LINNET_UNSUPPORTED);
  }
  std::mt19937 rng(24);
  const std::string_view letters = "ab\\pPxu{}L1,3()[]^-&|?*+!=<>:i.$ \ndswzk";
  for (int round = 0; round < (kSanitized ? 200 : kFull ? 20000 : 5000); ++round) {
    std::string pattern;
    for (size_t n = rng() % 14; n; --n) pattern.push_back(letters[rng() % letters.size()]);
    convert::SplitTables tables;
    Error err = {};
    if (compile(pattern, &tables, &err) == LINNET_UNSUPPORTED && !err.text[0]) FAIL(pattern);
  }
}

TEST_CASE("tables of patterns are checked, and read a text a few times at most") {
  json tokenizer = byte_level_json(kMerges);
  const auto with_pattern = [&tokenizer](const char* pattern) {
    tokenizer["pre_tokenizer"] = {{"type", "Sequence"},
                                  {"pretokenizers",
                                   {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
                                    {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    return built(tokenizer);
  };
  for (const Family& family : kFamilies) {
    const auto l = with_pattern(family.pattern);
    if (!tok::Tables(l->t).count(tok::kPatterns)) continue;  // one that is known
    const tok::PatternTables p = tok::Tables(l->t).pattern(0);
    for (const char* unit : {"a", " ", "\n", "\n ", " \n", "1", "'", "a ", "中", "中a", "!", "\xFF", " !", "aA", "\u0301", "      x"}) {
      std::string text;
      while (text.size() < 20000) text += unit;
      uint64_t steps = 0;
      pieces_of(p, text, &steps);
      INFO(family.name << " on " << json(lossy(unit)).dump() << ": " << steps);
      CHECK(steps < (p.n_looks + 4) * text.size());
    }
  }
  std::mt19937 rng(25);
  for (const auto& [pattern, version] : {std::pair{"a+|(?=\\p{Lu})\\p{L}|\\s+(?!\\S)|\\s", 3u}, {"(?=aab)a+|(?<!ab)\\p{L}|\\s", 4u}}) {
    const auto l = with_pattern(pattern);
    REQUIRE(survives(l->blob.bytes));
    const auto* header = reinterpret_cast<const tok::Header*>(l->blob.bytes.data());
    size_t opened = 0;
    const int rounds = kSanitized ? 150 : kFull ? 8000 : 2000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<uint8_t> flipped = l->blob.bytes;
      const tok::Section& s = header->section[tok::kPatterns + rng() % (version + 1)];
      const size_t bytes = s.at + rng() % (s.at == header->section[tok::kPatterns].at ? sizeof(tok::Pattern)
                                                                                      : s.count * (s.count == 2 ? sizeof(tok::Look) : 1));
      flipped[bytes] = static_cast<uint8_t>(rng() % 3 ? rng() % 12 : rng());
      if (!survives(flipped)) FAIL("no error text");
      Tokenizer t;
      std::vector<uint64_t> aligned(flipped.size() / 8 + 1);
      std::memcpy(aligned.data(), flipped.data(), flipped.size());
      opened += tokenizer_open(aligned.data(), flipped.size(), 4096, &t, nullptr) == LINNET_OK;
    }
    CHECK(opened > static_cast<size_t>(rounds) / 20);
    CHECK(opened < static_cast<size_t>(rounds));
    CHECK(header->version == version);
  }
  // Tables without patterns are of version 2, as they were before there were any.
  auto old = built(byte_level_json(kMerges));
  CHECK(reinterpret_cast<const tok::Header*>(old->memory.data())->version == 2);
  Tokenizer t;
  REQUIRE(tokenizer_open(old->memory.data(), old->blob.bytes.size(), 4096, &t, nullptr) == LINNET_OK);
  CHECK(encode(t, "aaaa the\n") == encode(old->t, "aaaa the\n"));
  CHECK(tokenizer_open(old->memory.data(), tok::kHeader2Bytes - 1, 4096, &t, nullptr) == LINNET_BAD_FILE);
}
