// Answers of models: what families of models say under the envelopes that their templates give, whole, in pieces, cut and broken.
#include <cstring>
#include <map>
#include <random>

#include "tests/families.h"

using namespace test;

TEST_CASE("answers of families, whole and in pieces") {
  size_t n = 0;
  for (const Family& f : families()) {
    CHECK(f.cases.size() >= 8);
    for (const json& c : f.cases) {
      const std::string answer = c["answer"], prompt = c["prompt"];
      CAPTURE(f.name, c["what"], answer);
      const Said whole = parse(f.envelope, answer, prompt, tools(), 0);
      CHECK(whole.good);
      CHECK(whole.content == c["content"]);
      CHECK(whole.reasoning == c["reasoning_content"]);
      CHECK(whole.calls == c["tool_calls"]);
      for (size_t step = 1; step <= 7; ++step) {
        CAPTURE(step);
        CHECK(parse(f.envelope, answer, prompt, tools(), step) == whole);
        CHECK(parse(f.envelope, answer, prompt, tools(), step, true) == whole);
      }
      ++n;
    }
  }
  CHECK(n > 700);
}

// What was told holds every word of an answer that is none of the family's marks, however the answer is cut and damaged; calls that come
// out are whole; pieces make no difference.
TEST_CASE("damaged answers lose no word") {
  std::mt19937 rng(7);
  const auto below = [&rng](size_t n) { return static_cast<size_t>(rng() % n); };
  const std::string junk[] = {"<", "{", "}", "\"", "]",  "</", "<|", "\n",  " ",       "'",
                              "(", ")", ",", ":",  "\\", "`",  "⟦",  ">>>", "<think>", "<tool_call>"};
  size_t n = 0, lost = 0;
  for (const Family& f : families()) {
    std::string marks;
    const Mark* const first = &f.envelope.reason_open;
    for (const Mark* m = first; m != first + (sizeof(Envelope) - offsetof(Envelope, reason_open)) / sizeof(Mark); ++m)
      marks += std::string(m->view()) + "\n";
    for (size_t round = 0; round < (kSlow ? 60 : 300); ++round) {
      const json& c = f.cases[below(f.cases.size())];
      std::string answer = c["answer"];
      // words that nothing else has, for those that would be found elsewhere too
      size_t word = 0;
      std::vector<std::string> words;
      for (const char* const common : {"Rome", "Oslo", "Europe", "warm", "Warm", "Why", "Done", "look"})
        for (size_t at = 0; (at = answer.find(common, at)) != std::string::npos;) {
          words.push_back("zq" + std::to_string(100 + word++) + "x");
          answer.replace(at, std::strlen(common), words.back());
          at += words.back().size();
        }
      for (size_t i = below(3); i-- > 0;) {
        const auto place = [&answer](size_t at) {  // between characters
          while (at < answer.size() && (static_cast<uint8_t>(answer[at]) & 0xC0) == 0x80) ++at;
          return std::min(at, answer.size());
        };
        const size_t at = place(below(answer.size() + 1));
        switch (below(3)) {
          case 0:
            answer.erase(at, place(at + 1 + below(6)) - at);
            break;
          case 1:
            answer.insert(at, junk[below(std::size(junk))]);
            break;
          default:
            answer.resize(at);
        }
      }
      CAPTURE(f.name, c["what"], answer);
      const std::string prompt = c["prompt"];
      const Said whole = parse(f.envelope, answer, prompt, tools(), 0);
      bool good = whole.good;
      for (const std::string& w : words)
        if (answer.find(w) != std::string::npos && whole.told.find(w) == std::string::npos) {
          UNSCOPED_INFO("lost " << w);
          good = false;
        }
      if (!(parse(f.envelope, answer, prompt, tools(), 1 + below(7), true) == whole)) {
        UNSCOPED_INFO("pieces");
        good = false;
      }
      lost += !good;
      if (lost < 5) CHECK(good);
      ++n;
    }
  }
  CHECK(lost == 0);
  CHECK(n > 1000);
}

TEST_CASE("every prefix of an answer: a call that was cut is none") {
  for (const Family& f : families())
    for (const json& c : f.cases) {
      const std::string answer = c["answer"], prompt = c["prompt"];
      if (c["what"] != "two calls" && c["what"] != "all kinds of arguments") continue;
      const Said whole = parse(f.envelope, answer, prompt, tools(), 0);
      for (size_t n = 0; n < answer.size(); ++n) {
        const Said said = parse(f.envelope, answer.substr(0, n), prompt, tools(), 0);
        CAPTURE(f.name, answer.substr(0, n));
        bool good = said.good && said.calls.size() <= whole.calls.size();
        for (size_t i = 0; good && i < said.calls.size(); ++i) good = said.calls[i] == whole.calls[i];
        if (!good) CHECK(good);
      }
    }
}

TEST_CASE("envelopes are checked") {
  const Envelope good = learn("{% for m in messages %}{{ m.content }}{% endfor %}");
  const auto refused = [](const Envelope& e, const char* why) {
    Envelope out;
    Error err = {};
    CHECK(envelope_open(&e, sizeof e, "it", &out, &err) == LINNET_BAD_FILE);
    CAPTURE(err.text, why);
    CHECK(std::strstr(err.text, why));
  };
  Envelope e = good;
  e.magic = 0, refused(e, "version");
  e = good, e.version = 2, refused(e, "version");
  e = good, e.head = static_cast<Head>(9), refused(e, "form");
  e = good, e.arguments = static_cast<Arguments>(9), refused(e, "form");
  e = good, e.bare = static_cast<Bare>(9), refused(e, "form");
  e = good, std::memset(e.call_open.text, 'x', kMarkBytes), refused(e, "without an end");
  e = good, e.end[1] = {}, e.end[1].text[5] = 'x', refused(e, "zero");
  e = good, e.quote = {}, e.quote.text[0] = ' ', refused(e, "white space");
  e = good, e.quote = {}, e.quote.text[0] = '\xff', refused(e, "UTF-8");
  e = good, e.head = Head::kText, e.arguments = Arguments::kPairs, refused(e, "pairs");
  e = good, e.head = Head::kText, e.arguments = Arguments::kGemma, refused(e, "texts");
  Envelope out;
  Error err = {};
  CHECK(envelope_open(&good, sizeof good - 1, "it", &out, &err) == LINNET_BAD_FILE);
}

TEST_CASE("templates that tell nothing, and such that fail") {
  for (const char* const text : {"", "x", "{{ raise_exception('no') }}", "{% for m in messages %}{{ m.content.nothing.more }}{% endfor %}",
                                 "{{ messages }}", "{% for i in range(100000) %}{{ messages }}{% endfor %}"}) {
    CAPTURE(text);
    const Envelope e = learn(text);
    CHECK(e.head == Head::kNameKey);
    CHECK(e.bare == Bare::kAlone);
    const Said said = parse(e, "<tool_call>{\"name\": \"ping\", \"arguments\": {}}</tool_call>", "", tools(), 0);
    CHECK(said.calls.size() == 1);
  }
}

TEST_CASE("added tokens say the family where a template does not") {
  const std::string text = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
  const Envelope e = learn(text, {"<|im_start|>", "<|tool_call_start|>", "<|tool_call_end|>"});
  const Said said = parse(e, "Yes. <|tool_call_start|>[ping(), clock(zone=\"x\")]<|tool_call_end|><|im_end|>", "", tools(), 1);
  CHECK(said.content == "Yes.");
  CHECK(said.calls.size() == 2);
}

TEST_CASE("marks of a format are known as such") {
  for (const Family& f : families()) {
    const Envelope& e = f.envelope;
    CAPTURE(f.name);
    for (const Mark* m : {&e.reason_open, &e.reason_close, &e.section_open[0], &e.call_open, &e.call_close, &e.args_open, &e.end[0]})
      if (!m->empty()) {
        CHECK(is_mark(e, m->view()));
        if (m->view().size() > 3) CHECK(is_mark(e, "<s>" + std::string(m->view())));
      }
    for (const char* const other : {"", "<|fim_middle|>", "<unused_17>"}) CHECK_FALSE(is_mark(e, other));
    if (f.name == "gpt_oss") CHECK((is_mark(e, "<|channel|>") && is_mark(e, "<|return|>")));
  }
}

TEST_CASE("a reference says the type of a value that stands as text") {
  for (const Family& f : families()) {
    if (f.name != "qwen3_coder") continue;
    for (const auto& [type, value] : {std::pair{"string", json("0042")}, {"integer", json(42)}}) {
      const json tool = {{"name", "f"},
                         {"parameters",
                          {{"type", "object"},
                           {"properties", {{"a", {{"$ref", "#/$defs/x"}}}}},
                           {"$defs", {{"y", {{"type", "null"}}}, {"x", {{"$ref", "#/$defs/z"}}}, {"z", {{"type", type}}}}}}}};
      const Said said = parse(f.envelope, "<tool_call>\n<function=f>\n<parameter=a>\n0042\n</parameter>\n</function>\n</tool_call>", "",
                              json::array({tool}).dump(), 0);
      REQUIRE(said.calls.size() == 1);
      CHECK(said.calls[0]["arguments"]["a"] == value);
    }
  }
}

TEST_CASE("switches of reasoning") {
  convert::ReasoningSwitch s;
  learn(
      "{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt and reason_deep is defined and reason_deep %}<hm>{% "
      "endif %}",
      {}, &s);
  CHECK(s.variable == "reason_deep");
  CHECK(s.on == "true");
  CHECK(s.off == "false");
  learn("{% for m in messages %}[{{ m.content }}]{% endfor %}", {}, &s);
  CHECK(s.variable.empty());
}

TEST_CASE("calls that are longer than the memory come as content") {
  const Envelope e = learn("{% for m in messages %}{{ m.content }}{% endfor %}");
  for (const size_t n : {size_t{900}, size_t{1024}, size_t{5000}}) {
    const std::string answer =
        "Hm. <tool_call>{\"name\": \"clock\", \"arguments\": {\"zone\": \"" + std::string(n, 'x') + "\"}}</tool_call> So.";
    for (const size_t step : {size_t{0}, size_t{1}, size_t{7}}) {
      const Said small = parse(e, answer, "", tools(), step, true, 1024), large = parse(e, answer, "", tools(), step, true, 8192);
      CHECK(large.calls.size() == 1);
      CHECK(small.good);
      CHECK(small.calls.size() == (n < 1000 ? 1u : 0u));
      if (n > 1000) CHECK(small.content == answer);
    }
  }
  // white space without an end
  const std::string blanks = "a" + std::string(10000, ' ') + "b";
  CHECK(parse(e, blanks, "", tools(), 3, true, 1024).content == blanks);
}

// A thousand beginnings of calls, each of which could reach to the end.
TEST_CASE("texts made to be slow") {
  for (const Family& f : families()) {
    std::string start;
    for (const Mark* m : {&f.envelope.section_open[0], &f.envelope.call_open}) start += m->view();
    if (f.envelope.head == Head::kNameKey) start += "{\"name\":\"ping\",\"arguments\":{\"a\":\"";
    if (f.envelope.head == Head::kText)
      start += "ping" + std::string(f.envelope.args_open.view()) + std::string(f.envelope.key_open.view()) + "a" +
               std::string(f.envelope.key_close.view());
    if (f.envelope.head == Head::kHarmony) start = "<|channel|>commentary to=x<|message|>{\"a\":\"";
    std::string answer;
    while (answer.size() < (kSlow ? 10000u : 50000u)) answer += start;
    CAPTURE(f.name);
    const Said open = parse(f.envelope, answer, "", tools(), 0);
    CHECK(open.good);
    const Said ended = parse(f.envelope, answer + std::string(f.envelope.value_close.view()) + "}", "", tools(), 0);
    CHECK(ended.good);
    CHECK(ended.told.size() > answer.size() / 2);
  }
}
