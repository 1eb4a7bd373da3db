// Grammars beside schemas: GBNF, expressions, choices; rules that hold themselves, against a plain reading of the tables.
#include <chrono>
#include <random>

#include "tests/unit/test_grammar.h"

using namespace test;

namespace {

Texts gbnf(const std::string& text) { return texts(text, LINNET_GRAMMAR_GBNF); }

// JSON as GBNF.
const char* const kJson = R"GBNF(
# any value
root   ::= ws value ws
value  ::= object | array | string | number | ("true" | "false" | "null")
object ::= "{" ws ( string ws ":" ws value ws ( "," ws string ws ":" ws value ws )* )? "}"
array  ::= "[" ws (
    value ws ("," ws value ws)*   # over several lines
  )? "]"
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}) )* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})?
ws     ::= | " " | "\n" [ \t]{0,20}
)GBNF";

}  // namespace

TEST_CASE("GBNF: what the rules say is accepted, and nothing else") {
  struct Case {
    const char* grammar;
    std::vector<std::string> good, bad;
  };
  const std::vector<Case> cases = {
      {"root ::= \"a\"", {"a"}, {"", "aa", "b"}},
      {"root ::= \"a\" | \"bc\" [d-f]\n", {"a", "bcd", "bcf"}, {"bc", "bcg", "ad"}},
      {"root ::= x y?\nx ::= \"\\x41\\u00e9\\U0001F600\\n\\t\\\"\\\\\"\ny ::= [^a-z]",
       {"A\xc3\xa9\xf0\x9f\x98\x80\n\t\"\\", "A\xc3\xa9\xf0\x9f\x98\x80\n\t\"\\\xe2\x82\xac"},
       {"A", "A\xc3\xa9\xf0\x9f\x98\x80\n\t\"\\z"}},
      {"root ::= \"ab\"{2} | \"c\"{1,3} | \"d\"{2,}", {"abab", "c", "ccc", "dd", "ddddd"}, {"ab", "cccc", "d", "ababab"}},
      {"root ::= ( \"a\" | \"b\" )+ \".\" .", {"a..", "abab.\n"}, {".", "ab", "ab."}},
      {"root ::= \"a\" empty \"b\"\nempty ::= ", {"ab"}, {"a", "a b"}},
      {"root ::= \"(\" root \")\" | \"x\"", {"x", "(x)", "(((((x)))))"}, {"", "(x", "x)", "((x)", "()"}},
      {"root ::= | \"(\" root \")\" root", {"", "()", "()()", "(()(()))"}, {"(", ")(", "(()"}},
      {"root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"c\"", {"c", "aca", "abbcbba"}, {"ab", "acb", "abcab"}},
      {"root ::= e\ne ::= t ((\"+\" | \"-\") t)*\nt ::= f (\"*\" f)*\nf ::= [0-9]+ | \"(\" e \")\"",
       {"1", "1+2*3", "(1+2)*(3-4)", "((1))"},
       {"1+", "(1", "1 + 2", "()"}},
      {"root ::= a | b\na ::= \"x\" a | \"y\"\nb ::= \"x\" b | \"z\"", {"y", "xxxz", "xxxy", "z"}, {"x", "xy z"}},
      {"root ::= list\nlist ::= item | item \",\" list\nitem ::= [a-c]{3000}",
       {std::string(3000, 'a'), std::string(3000, 'b') + "," + std::string(3000, 'c')},
       {std::string(2999, 'a'), std::string(3001, 'a'), std::string(3000, 'a') + ","}},
      {"root ::= (\"a\" \"b\"?){500,1000}",
       {std::string(500, 'a'), std::string(1000, 'a')},
       {std::string(499, 'a'), std::string(1001, 'a'), "b"}},
      {"root ::= (n | \"k\"){2,2000}\nn ::= \"<\" n? \">\"", {"<>k", "kk", "<<<>>><>"}, {"k", "<>", "<<>k"}},
      {kJson,
       {"{}", " [1, 2.5e-3,\n\t\"a\\u00e9\"]", "{\"a\":{\"b\":[[[]]],\"c\":null}}", "-0.1", "\"\xc3\xa9\""},
       {"{", "[1,]", "{\"a\"}", "01", "\"\n\"", "tru"}},
  };
  for (const Case& c : cases) {
    const Texts t = gbnf(c.grammar);
    for (const std::string& s : c.good) {
      INFO(c.grammar << "\nshould take " << s);
      CHECK(t.accepts(s));
    }
    for (const std::string& s : c.bad) {
      INFO(c.grammar << "\nshould not take " << s);
      CHECK_FALSE(t.accepts(s));
    }
  }
  CHECK(gbnf("root ::= \"ab\"{2,4} [a-z]*").calls.empty());  // plain automata where these will do
  CHECK_FALSE(gbnf(kJson).calls.empty());
}

TEST_CASE("GBNF: what is wrong is said with its line") {
  const std::vector<std::tuple<std::string, linnet_status, const char*>> cases = {
      {"", LINNET_BAD_FILE, "there is no rule root"},
      {"a ::= \"b\"", LINNET_BAD_FILE, "there is no rule root"},
      {"\nroot ::= a\n", LINNET_BAD_FILE, "it: line 2: there is no rule a"},
      {"root = \"a\"", LINNET_BAD_FILE, "it: line 1: '::=' is wanted behind root"},
      {"root ::= \"a\"\nroot ::= \"b\"", LINNET_BAD_FILE, "line 2: rule root is there already"},
      {"root ::= \"a", LINNET_BAD_FILE, "a text that is not closed"},
      {"root ::= [a", LINNET_BAD_FILE, "a '[' that is not closed"},
      {"root ::= [z-a]", LINNET_BAD_FILE, "a range"},
      {"root ::= (\"a\"", LINNET_BAD_FILE, "a '(' that is not closed"},
      {"root ::= \"a\")", LINNET_BAD_FILE, "')' where the end of rule root is wanted"},
      {"root ::= \"a\" * * * * * * * * * *", LINNET_BAD_FILE, "quantifiers"},
      {"root ::= \"a\"{3,2}", LINNET_BAD_FILE, "a repeat of 3 to 2 times"},
      {"root ::= \"a\"{x}", LINNET_BAD_FILE, "a count is wanted, not 'x'"},
      {"root ::= \"a\"{99999999}", LINNET_BAD_FILE, "a count above"},
      {"root ::= \"\\q\"", LINNET_BAD_FILE, "an escape that is not known"},
      {"root ::= \"\\u12\"", LINNET_BAD_FILE, "hexadecimal"},
      {"root ::= \"\\ud800\"", LINNET_BAD_FILE, "no character"},
      {"root ::= \"\xff\"", LINNET_BAD_FILE, "no UTF-8"},
      {"root ::= <[12]>", LINNET_BAD_FILE, "tokens of a model"},
      {"root ::= []", LINNET_BAD_FILE, "no text obeys it"},
      {"root ::= \"a\" root", LINNET_BAD_FILE, "no text obeys it"},
      {"root ::= root \"a\" | \"b\"", LINNET_UNSUPPORTED, "rule root begins with itself"},
      {"root ::= a\na ::= b? c\nb ::= \"x\"\nc ::= a \"y\" | \"z\"", LINNET_UNSUPPORTED, "begins with itself"},
      {"root ::= " + std::string(100, '(') + "\"a\"" + std::string(100, ')'), LINNET_BAD_FILE, "groups more than 64 deep"},
  };
  for (const auto& [grammar, status, what] : cases) refused(grammar, what, status, LINNET_GRAMMAR_GBNF);
  // A chain of rules, and rules that name each other in a ring.
  std::string chain, ring;
  for (int i = 0; i < 20000; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    chain += (i ? "r" + std::to_string(i) : "root") + " ::= \"a\" " + next + "\n";
    ring += (i ? "r" + std::to_string(i) : "root") + " ::= \"a\" " + next + " | \"b\"\n";
  }
  const Texts a = gbnf(chain + "r20000 ::= \"b\"");
  CHECK(a.h.n_states > 0);
  Blob blob;
  CHECK(compile(ring + "r20000 ::= root", LINNET_GRAMMAR_GBNF, &blob) == LINNET_OK);
  std::mt19937 random(4);
  const std::string_view letters = "root ::= \"a\" | [b-c]* (x{2,3})? \n\\x . x^-]{}#<_";
  for (int i = 0; i < (kSlow ? 500 : 20000); ++i) {  // nothing breaks, and what is refused has a reason
    std::string s = "root ::= ";
    for (size_t n = random() % 40; n; --n) s += letters[random() % letters.size()];
    std::string why;
    if (compile(s, LINNET_GRAMMAR_GBNF, &blob, &why) != LINNET_OK && why.empty()) FAIL(s);
  }
}

TEST_CASE("expressions and choices") {
  const Texts time = texts("([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?", LINNET_GRAMMAR_REGEX);
  for (const char* s : {"00:00", "23:59", "12:30:45"}) CHECK(time.accepts(s));
  for (const char* s : {"24:00", "x00:00", "00:00 ", "0:00", ""}) CHECK_FALSE(time.accepts(s));
  const Texts either = texts("^a+$|b", LINNET_GRAMMAR_REGEX);
  for (const char* s : {"a", "aaa", "b"}) CHECK(either.accepts(s));
  for (const char* s : {"", "ab", "bb"}) CHECK_FALSE(either.accepts(s));
  const Texts quotes = texts("\"[^\"]*\"\\n", LINNET_GRAMMAR_REGEX);
  CHECK(quotes.accepts("\"\xc3\xa9\n\"\n"));
  const Texts words = texts(R"(["yes","no","\u00e9t\u00e9","no way"])", LINNET_GRAMMAR_CHOICES);
  for (const char* s : {"yes", "no", "\xc3\xa9t\xc3\xa9", "no way"}) CHECK(words.accepts(s));
  for (const char* s : {"", "\"yes\"", "n", "no "}) CHECK_FALSE(words.accepts(s));
  Blob blob;
  std::string why;
  CHECK(compile("a(?=b)", LINNET_GRAMMAR_REGEX, &blob, &why) == LINNET_UNSUPPORTED);
  CHECK(why.find("'(?'") != why.npos);
  CHECK(compile("a\xff", LINNET_GRAMMAR_REGEX, &blob) == LINNET_BAD_FILE);
  for (const char* bad : {"[]", "{}", "[1]", "[\"\"]", "[\"a\",null]", "\"a\""})
    CHECK(compile(bad, LINNET_GRAMMAR_CHOICES, &blob) == LINNET_BAD_FILE);
  linnet_error err{};
  size_t n = 0;
  CHECK(linnet_grammar_compile(nullptr, "a", 1, "it", static_cast<linnet_grammar_kind>(7), nullptr, 0, &n, &err) == LINNET_BAD_ARG);
}

TEST_CASE("stacks: each mask holds what the rules say, at each place of random texts") {
  const Assistant a;
  const std::vector<std::string> grammars = {
      kJson,
      "root ::= | \"(\" root \")\" root | \"[\" root \"]\" root",
      "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \" \"",
      "root ::= item (\", \" item){3,400}\nitem ::= [a-z ]{2,300} | \"<\" item{1,2} \">\"",
      "root ::= a | b\na ::= [a-z] a | \".\"\nb ::= [a-m] b [n-z] | \"!\"",
      "root ::= (\"ab\" | \"a\" | n){5,1000}\nn ::= \"{\" (n | \"b\"){0,7} \"}\"",
  };
  std::mt19937 random(21);
  const uint32_t n_vocab = a.m->spec.n_vocab;
  size_t n_masks = 0, n_ended = 0;
  for (const std::string& grammar : grammars) {
    const Blob blob = compiled(grammar, LINNET_GRAMMAR_GBNF);
    const Texts t(blob);
    const Grammar g(a.m, blob);
    REQUIRE_FALSE(t.calls.empty());
    for (int round = 0; round < (kSlow ? 2 : 12); ++round) {
      uint32_t state = 0;
      Texts::Ways ways = t.begin();
      for (int step = 0; step < (kSlow ? 6 : 25); ++step) {
        linnet::TokenMask mask;
        linnet_error err{};
        check(linnet::grammar_mask(*g.g, state, false, &mask, &err), err);
        ++n_masks;
        std::vector<int32_t> allowed;
        for (uint32_t id = 0; id < n_vocab; ++id) {
          const bool is = mask.bits[id / 32] >> id % 32 & 1;
          const std::string_view s = linnet::token_bytes(a.m->tokenizer, static_cast<int32_t>(id), false);
          bool may = false;
          if (linnet::token_is_eog(a.m->tokenizer, static_cast<int32_t>(id))) {
            may = t.may_end(ways);
          } else if (!s.empty() && !linnet::grammar_text(*g.g, id).empty() && !linnet::grammar_is_special(*g.g, id)) {
            Texts::Ways to = ways;
            for (size_t i = 0; i < s.size() && !to.empty(); ++i) to = t.step(to, static_cast<uint8_t>(s[i]));
            may = !to.empty();
          }
          if (is != may) FAIL(grammar << "\nround " << round << ", step " << step << ": token " << id << " '" << s << "' is " << is);
          if (is && !s.empty() && !linnet::token_is_eog(a.m->tokenizer, static_cast<int32_t>(id)))
            allowed.push_back(static_cast<int32_t>(id));
        }
        if (linnet::grammar_complete(*g.g, state) != (allowed.empty() && t.may_end(ways))) FAIL(grammar << ": complete");
        if (allowed.empty()) {
          ++n_ended;
          break;
        }
        const int32_t token = allowed[random() % allowed.size()];
        for (const char c : linnet::token_bytes(a.m->tokenizer, token, false)) ways = t.step(ways, static_cast<uint8_t>(c));
        state = linnet::grammar_advance(*g.g, state, token);
        REQUIRE(state != linnet::kGrammarLost);
      }
    }
  }
  std::printf("masks under stacks: %zu, %zu texts ended\n", n_masks, n_ended);
  CHECK(n_masks > 50);
}

TEST_CASE("stacks: deep texts, memory that is used again, places that are found again") {
  const Assistant a;
  linnet_error err{};
  const auto id_of = [&](const char* s) {
    const Tokens t = a.tokens(s, 0);
    REQUIRE(t.size() == 1);
    return t[0];
  };
  const int32_t open = id_of("["), close = id_of("]");
  const Grammar nested(a.m, compiled("root ::= \"[\" root* \"]\"", LINNET_GRAMMAR_GBNF));
  // As deep as stacks are, and back; one more is refused, and its mask says so.
  uint32_t state = 0;
  std::vector<uint32_t> depth_of = {0};
  int deep = 0;
  for (;; ++deep) {
    linnet::TokenMask mask;
    check(linnet::grammar_mask(*nested.g, state, true, &mask, &err), err);
    if (!(mask.bits[open / 32] >> open % 32 & 1)) break;
    state = linnet::grammar_advance(*nested.g, state, open);
    REQUIRE(state != linnet::kGrammarLost);
    REQUIRE(deep < 1000);
  }
  CHECK(deep > 100);
  CHECK(linnet::grammar_advance(*nested.g, state, open) == linnet::kGrammarLost);
  for (int i = 0; i < deep; ++i) {
    CHECK_FALSE(linnet::grammar_complete(*nested.g, state));
    linnet::TokenMask mask;
    check(linnet::grammar_mask(*nested.g, state, true, &mask, &err), err);
    CHECK(mask.bits[close / 32] >> close % 32 & 1);
    state = linnet::grammar_advance(*nested.g, state, close);
    REQUIRE(state != linnet::kGrammarLost);
  }
  CHECK(linnet::grammar_complete(*nested.g, state));
  // Far more places than there is memory for.
  const Grammar counted(a.m, compiled("root ::= ([a-z] | \"<\" root \">\"){1000000}", LINNET_GRAMMAR_GBNF));
  const int32_t letter = id_of("e");
  state = 0;
  for (int i = 0; i < 100000; ++i) state = linnet::grammar_advance(*counted.g, state, letter);
  CHECK(state != linnet::kGrammarLost);
  linnet::TokenMask mask;
  check(linnet::grammar_mask(*counted.g, state, true, &mask, &err), err);
  CHECK(mask.bits[letter / 32] >> letter % 32 & 1);
  // A place is known until others took its memory; one that is kept stays.
  const uint32_t kept = linnet::grammar_keep(*counted.g, state), before = state;
  for (uint32_t i = 0; i <= linnet::kKeptSets; ++i) state = linnet::grammar_advance(*counted.g, state, letter);
  CHECK_FALSE(linnet::grammar_knows(*counted.g, before));
  CHECK(linnet::grammar_knows(*counted.g, kept));
  CHECK(linnet::grammar_advance(*counted.g, kept, letter) != linnet::kGrammarLost);
}

TEST_CASE("sessions draw texts of rules that hold themselves; rollback and forks keep to them") {
  const Assistant a;
  const Grammar g(a.m, compiled(kJson, LINNET_GRAMMAR_GBNF));
  auto p = params(0, 1, 0, 0, 512);
  p.n_sequences = 2;
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  check(linnet_session_need(a.m, &p, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_session* s = nullptr;
  check(linnet_session_init(&s, memory.p, need.bytes, a.m, &p, &err), err);
  const Tokens prompt = a.request("hello");
  const Texts t(compiled(kJson, LINNET_GRAMMAR_GBNF));
  size_t n_ended = 0;
  for (uint64_t seed = 0; seed < (kSlow ? 3 : 20); ++seed) {
    linnet_sampling d{.size = sizeof d};
    REQUIRE(linnet_sampling_init(&d, nullptr) == LINNET_OK);
    d.temperature = 1.5f, d.seed = seed;
    for (const uint32_t seq : {0u, 1u}) check(linnet_sampling_set(s, seq, &d, &err), err);
    check(linnet_truncate(s, 0, 0, &err), err);
    check(linnet_prefill(s, 0, prompt.data(), prompt.size(), &err), err);
    check(linnet_grammar_set(s, 0, g.g, &err), err);
    std::string text;
    Tokens tokens;
    Texts::Ways ways = t.begin();
    for (int i = 0; i < 150; ++i) {
      int32_t token = -1;
      check(linnet_sample(s, 0, &token, &err), err);
      if (linnet::token_is_eog(a.m->tokenizer, token)) {
        CHECK(t.may_end(ways));
        ++n_ended;
        break;
      }
      check(linnet_prefill(s, 0, &token, 1, &err), err);
      tokens.push_back(token);
      for (const char c : linnet::token_bytes(a.m->tokenizer, token, false)) ways = t.step(ways, static_cast<uint8_t>(c));
      INFO(text);
      REQUIRE_FALSE(ways.empty());
      // From a place before, in another sequence: the same state as by going on from the beginning.
      if (i % 16 == 7) {
        const size_t keep = tokens.size() / 2;
        check(linnet_fork(s, 0, 1, prompt.size() + tokens.size(), &err), err);
        check(linnet_truncate(s, 1, prompt.size() + keep - 1, &err), err);
        check(linnet_prefill(s, 1, &tokens[keep - 1], 1, &err), err);
        int32_t other = -1;
        check(linnet_sample(s, 1, &other, &err), err);
        Texts::Ways there = t.begin();
        for (size_t k = 0; k < keep; ++k)
          for (const char c : linnet::token_bytes(a.m->tokenizer, tokens[k], false)) there = t.step(there, static_cast<uint8_t>(c));
        if (linnet::token_is_eog(a.m->tokenizer, other)) {
          CHECK(t.may_end(there));
        } else {
          for (const char c : linnet::token_bytes(a.m->tokenizer, other, false)) there = t.step(there, static_cast<uint8_t>(c));
          CHECK_FALSE(there.empty());
        }
      }
    }
  }
  std::printf("texts of any JSON: %zu ended\n", n_ended);
  linnet_session_fini(s);
}

TEST_CASE("blobs with calls: what is damaged is refused, or does no harm") {
  const Assistant a;
  const Blob good = compiled(kJson, LINNET_GRAMMAR_GBNF);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  check(linnet_grammar_need(a.m, good.data(), good.size(), &need, &err), err);
  const Memory memory(need.bytes);
  linnet_grammar* g = nullptr;
  for (size_t n = 0; n < good.size(); n += n < 64 ? 1 : 97) CHECK(linnet_grammar_need(a.m, good.data(), n, &need, &err) == LINNET_BAD_FILE);
  const Texts t(good);
  const size_t calls = t.calls.size() * sizeof t.calls[0] + 4;
  std::mt19937 random(19);
  size_t n_refused = 0, n_open = 0;
  for (uint32_t i = 0; i < (kSlow ? 60u : 300u); ++i) {
    Blob bad = good;
    for (uint32_t k = 0; k <= i % 3; ++k) {
      const size_t from = i % 2 ? bad.size() - calls : 8;
      bad[from + random() % (bad.size() - from)] = static_cast<uint8_t>(random() % (i % 4 ? 256 : 8));
    }
    linnet_need size{.size = sizeof size};
    if (linnet_grammar_need(a.m, bad.data(), bad.size(), &size, &err) != LINNET_OK || size.bytes > need.bytes + 64 ||
        linnet_grammar_init(&g, memory.p, need.bytes, a.m, bad.data(), bad.size(), &err) != LINNET_OK) {
      CHECK(err.text[0]);
      ++n_refused;
      continue;
    }
    ++n_open;
    uint32_t state = 0;
    for (int step = 0; step < 6 && state < linnet::kGrammarEnded; ++step) {
      linnet::TokenMask mask;
      if (linnet::grammar_mask(*g, state, true, &mask, nullptr) != LINNET_OK) break;
      uint32_t id = static_cast<uint32_t>(random()) % a.m->spec.n_vocab;
      while (!(mask.bits[id / 32] >> id % 32 & 1)) id = (id + 1) % a.m->spec.n_vocab;
      state = linnet::grammar_advance(*g, state, static_cast<int32_t>(id));
    }
  }
  CHECK(n_refused > 10);
  CHECK(n_open > (kSlow ? 2 : 10));
}

// The table of docs/embedding.md: test_grammar_texts "[.bench]"
TEST_CASE("what stacks take", "[.bench]") {
  const Blob blob = compiled(kJson, LINNET_GRAMMAR_GBNF);
  each_vocabulary([&](const char* name, linnet_model& m) {
    const Grammar g(&m, blob);
    std::mt19937 random(2);
    std::vector<double> mask_us, step_us;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto us = [](auto time) { return std::chrono::duration<double, std::micro>(time).count(); };
    for (int text = 0; text < 200; ++text) {
      uint32_t state = 0;
      for (int i = 0; i < 100; ++i) {
        linnet::TokenMask mask;
        linnet_error err{};
        auto begin = now();
        check(linnet::grammar_mask(*g.g, state, false, &mask, &err), err);
        mask_us.push_back(us(now() - begin));
        uint32_t id = static_cast<uint32_t>(random()) % m.spec.n_vocab;
        while (!(mask.bits[id / 32] >> id % 32 & 1)) id = (id + 1) % m.spec.n_vocab;
        begin = now();
        state = linnet::grammar_advance(*g.g, state, static_cast<int32_t>(id));
        step_us.push_back(us(now() - begin));
        if (state == linnet::kGrammarEnded) break;
      }
    }
    std::sort(mask_us.begin(), mask_us.end()), std::sort(step_us.begin(), step_us.end());
    std::printf("%-8s %6u tokens: %7zu bytes; %zu masks: median %.1f us, 99 %% %.0f us, most %.0f us; a token on, median %.2f us\n", name,
                m.tokenizer.n_tokens, g.bytes, mask_us.size(), mask_us[mask_us.size() / 2], mask_us[mask_us.size() * 99 / 100],
                mask_us.back(), step_us[step_us.size() / 2]);
  });
}
