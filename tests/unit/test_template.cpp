// Chat templates over the C ABI: what is rendered and of what origin, refusals, tokens that nobody can forge, what a session keeps of a
// conversation, and templates in packed files.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/chat/render.h"
#include "runtime/model.h"
#include "tests/gguf_file.h"
#include "tests/templates.h"

using namespace test;
using nlohmann::json;

namespace {

// The bytes of what was rendered that came out of the conversation, "." in the place of others.
std::string brought(const linnet_rendered& out) {
  std::string s(out.text, out.text_bytes);
  for (size_t i = 0; i < s.size(); ++i)
    if (!out.data[i]) s[i] = '.';
  return s;
}

// Refused: the status, and what the sentence says.
void refused(const Template& t, const std::string& conversation, linnet_status status, const std::string& what, int64_t line = -1) {
  linnet_error err{};
  linnet_rendered out;
  INFO(conversation.substr(0, 200));
  CHECK(t.render(conversation, &out, &err) == status);
  CAPTURE(err.text);
  CHECK(err.code == status);
  CHECK(std::string(err.text).find(what) != std::string::npos);
  if (line >= 0) CHECK(err.line == line);
}
// The same of a text that does not compile.
void no_template(const std::string& jinja, linnet_status status, const std::string& what, int64_t line) {
  linnet_error err{};
  size_t n = 7;
  char room[8];
  INFO(jinja.substr(0, 100));
  CHECK(linnet_template_compile(jinja.data(), jinja.size(), "mine", room, sizeof room, &n, &err) == status);
  CAPTURE(err.text);
  CHECK(std::string(err.text).find(what) != std::string::npos);
  CHECK(std::string(err.text).find("mine") == 0);
  CHECK(err.line == line);
  CHECK(n == 7);
}

// A vocabulary, without the weights.
std::unique_ptr<Model> vocabulary(const std::string& path) {
  linnet::convert::Options options;
  options.vocab_only = true;
  linnet::convert::Image image;
  linnet_error err{};
  INFO(path);
  check(linnet::convert::convert_to_memory(path, options, &image, &err), err);
  return std::make_unique<Model>(image);
}
struct AssistantModel {
  linnet::convert::Loaded loaded;
  std::unique_ptr<Memory> memory;
  linnet_model* m = nullptr;
  AssistantModel() {
    linnet_error err{};
    check(linnet::convert::load("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, {}, &loaded, &err), err);
    linnet_need need{.size = sizeof need};
    check(linnet_model_need(&loaded.file, nullptr, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    check(linnet_model_init(&m, memory->p, need.bytes, &loaded.file, nullptr, &err), err);
  }
  ~AssistantModel() {
    linnet_model_fini(m);
    linnet::convert::unload(&loaded);
  }
  AssistantModel(const AssistantModel&) = delete;
  int32_t id(const std::string& text) const {
    for (int32_t i = 0; static_cast<uint32_t>(i) < m->tokenizer.n_tokens; ++i)
      if (linnet::token_bytes(m->tokenizer, i, false) == text) return i;
    FAIL("no token " << text);
    return -1;
  }
};

std::string said(const json& messages) { return json{{"messages", messages}, {"add_generation_prompt", true}}.dump(); }
json message(const char* role, const std::string& content) { return {{"role", role}, {"content", content}}; }

}  // namespace

TEST_CASE("a conversation is rendered, and of each byte it is known who brought it") {
  const Program program(
      "{%- for m in messages %}{{ '<' ~ m.role ~ '>' }}{{ m.content | upper | replace('A', '<a>') }}{{ m.none }}\n{% endfor %}"
      "{% if tools %}{{ tools | tojson }}{% endif %}{{ x ~ bos_token }}");
  linnet_template_params params{};
  params.size = sizeof params;
  const std::string tokens = R"({"bos_token":"<s>"} and more that is not counted)";
  params.tokens = tokens.data();
  params.tokens_bytes = 19;
  const Template t(program.view, nullptr, nullptr, &params);
  linnet_rendered out;
  linnet_error err{};
  check(t.render(R"({"messages":[{"role":"user","content":"abc"}],"tools":[{"n":1}],"x":"y","bos_token":"forged"})", &out, &err), err);
  CHECK(std::string(out.text, out.text_bytes) == "<user><a>BC\n[{\"n\": 1}]y<s>");
  CHECK(brought(out) == ".........BC.[{\"n\": 1}]y...");
  CHECK((out.size == sizeof out && out.steps > 10 && out.value_bytes > 100));
  // Nobody needs to look at it.
  const std::string empty = R"({"messages":[]})";
  check(linnet_template_render(t.t, empty.data(), empty.size(), 0, nullptr, &err), err);
  // What was rendered last stays nothing where it failed.
  const Program fails("a{{ messages[0].content }}{{ raise_exception('no ' + messages[0].role) }}");
  const Template f(fails.view);
  refused(f, R"({"messages":[{"role":"king","content":"x"}]})", LINNET_BAD_ARG, "no king", 1);
  params.tokens_bytes = 3;
  linnet_rendered ignored;
  const Template cut(program.view, nullptr, nullptr, &params);
  CHECK(cut.render(empty, &ignored, &err) == LINNET_BAD_ARG);
}

TEST_CASE("what a template is refused for, and in which line") {
  no_template("a\n{% if x %}\nb", LINNET_BAD_FILE, "line 3", 3);
  no_template("\n\n{{ x | nothing_known }}", LINNET_BAD_FILE, "nothing_known", 3);
  no_template("{{ x is nothing_known }}", LINNET_BAD_FILE, "nothing_known", 1);
  no_template("a\n{% nothing_known %}", LINNET_BAD_FILE, "nothing_known", 2);
  no_template("{{ 'a }}", LINNET_BAD_FILE, "line 1", 1);
  no_template("\xff", LINNET_BAD_FILE, "UTF-8", 0);
  no_template(std::string((1 << 20) + 1, 'x'), LINNET_UNSUPPORTED, "", 0);
  const Program program("{{ 1 }}\n{{ messages[0].a.b }}\n{{ messages[0].n + 'x' }}\n{{ messages[0].n // 0 }}");
  const Template t(program.view);
  refused(t, R"({"messages":[{}]})", LINNET_BAD_ARG, "'a'", 2);
  refused(t, R"({"messages":[{"a":{},"n":1}]})", LINNET_BAD_ARG, "line 3", 3);
  refused(t, R"({"messages":[{"a":{},"n":"x"}]})", LINNET_BAD_ARG, "line 4", 4);
}

TEST_CASE("what a conversation is refused for, and where in it") {
  const Program program("{{ messages | length }}");
  const Template t(program.view);
  const auto wrong = [&t](const std::string& text, const char* what) { refused(t, text, LINNET_BAD_ARG, what); };
  wrong("", "value is missing");
  wrong("[]", "no JSON object");
  wrong("{}", "/messages");
  wrong(R"({"messages":{}})", "/messages");
  wrong(R"({"messages":[{},1]})", "/messages/1");
  wrong(R"({"messages":[]}x)", "behind the value");
  wrong(R"({"messages":[{"content":["a",tru]}]})", "/messages/0/content/1");
  wrong(R"({"messages":[{"a/b~c":{"d":01}}]})", "/messages/0/a~1b~0c/d");
  wrong("{\"messages\":[{\"content\":\"\xc3\"}]}", "/messages/0/content");
  wrong("{\"messages\":[{\"content\":\"\xed\xa0\x80\"}]}", "UTF-8");
  wrong(R"({"messages":[{"content":"\ud800"}]})", "surrogate");
  wrong(R"({"messages":[{"content":"\udc00\ud800"}]})", "surrogate");
  wrong("{\"messages\":[{\"content\":\"a\nb\"}]}", "control character");
  wrong(std::string("{\"messages\":[]\0}", 16), "/messages");
  const auto deep = [](size_t n) { return R"({"messages":[],"x":)" + std::string(n, '[') + std::string(n, ']') + "}"; };
  CHECK(t.render(deep(63)) == "0");
  wrong(deep(64), "64 levels");
  wrong(deep(100000), "64 levels");
  CHECK(t.render(R"({"messages":[{},{}],"messages":[{}]})") == "1");  // of keys that come twice the last
}

TEST_CASE("a template by itself has no other name, no model, and is checked") {
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  const Program program("x");
  const Template t(program.view);
  t.render(R"({"messages":[]})");
  size_t n = 0;
  int32_t id = 0;
  char scratch[64];
  CHECK(linnet_template_tokens(t.t, nullptr, 0, scratch, sizeof scratch, &id, 1, &n, nullptr, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("no model") != std::string::npos);
  CHECK(linnet_template_need(&program.view, std::string(49, 'n').c_str(), nullptr, &need, &err) == LINNET_BAD_ARG);
  const std::string long_tokens(4097, ' ');
  linnet_template_params params{};
  params.size = sizeof params;
  params.tokens = long_tokens.data();
  params.tokens_bytes = 4097;
  CHECK(linnet_template_need(&program.view, nullptr, &params, &need, &err) == LINNET_BAD_ARG);
  params.tokens_bytes = 4096;
  check(linnet_template_need(&program.view, nullptr, &params, &need, &err), err);
  params.text_bytes = SIZE_MAX / 2;
  CHECK(linnet_template_need(&program.view, nullptr, &params, &need, &err) == LINNET_BAD_ARG);
  // Cut off anywhere, or of another version, and no model file either.
  const Memory room(t.bytes + 64);
  for (size_t bytes = 0; bytes < program.bytes.size(); ++bytes) {
    const std::vector<uint8_t> cut(program.bytes.begin(), program.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
    const linnet_view view = {cut.data() ? static_cast<const void*>(cut.data()) : "", bytes};
    linnet_template* out = nullptr;
    INFO(bytes);
    CHECK(linnet_template_init(&out, room.p, t.bytes + 64, &view, nullptr, nullptr, nullptr, &err) == LINNET_BAD_FILE);
    CHECK(out == nullptr);
  }
  std::vector<uint8_t> newer = program.bytes;
  ++newer[4];
  const linnet_view view = {newer.data(), newer.size()};
  linnet_template* out = nullptr;
  CHECK(linnet_template_init(&out, room.p, t.bytes, &view, nullptr, nullptr, nullptr, &err) == LINNET_UNSUPPORTED);
}

// ---- tokens ---------------------------------------------------------------------------------------------------------------------------

namespace {

std::string token_text(const linnet_model* m, int32_t id) { return std::string(linnet::token_bytes(m->tokenizer, id, false)); }

// The texts of all added tokens of a vocabulary.
std::vector<std::pair<int32_t, std::string>> added_tokens(const linnet_model* m) {
  std::vector<std::pair<int32_t, std::string>> out;
  for (int32_t i = 0; static_cast<uint32_t>(i) < m->tokenizer.n_tokens; ++i)
    if (linnet::token_is_added(m->tokenizer, i)) out.emplace_back(i, token_text(m, i));
  return out;
}

// What the tokenizer makes of a text in which no added token is looked for: what is left of them there are ordinary tokens of its own
// (merges that give "  ", which is an added token too).
std::set<int32_t> as_text(const linnet_model* m, const std::string& text) {
  size_t scratch_bytes = 0, n = 0;
  REQUIRE(linnet_tokenize_need(m, text.size(), &scratch_bytes, nullptr) == LINNET_OK);
  std::vector<uint8_t> scratch(scratch_bytes + 1), foreign(text.size() + 1, 1);
  Tokens ids(3 * text.size() + 8);
  linnet_error err{};
  check(linnet::tokenize(m->tokenizer, text, LINNET_PARSE_SPECIAL, scratch.data(), scratch_bytes, ids.data(), ids.size(), &n, &err, nullptr,
                         foreign.data()),
        err);
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n)};
}

// All added tokens, in each place where a conversation brings text: none is found there, and all are in the template's own bytes.
void check_forging(const linnet_model* m) {
  const auto added = added_tokens(m);
  REQUIRE(!added.empty());
  const Program program(
      "{% for m in messages %}({{ m.role }}) {{ m.content | replace('#', '') }}{% for c in m.calls %}{{ c | tojson(ensure_ascii=False) "
      "}}{{ c.name "
      "}}{% endfor %}{{ '%s' | format(m.content) }}{{ [m.role, m.content] | join('') }}{{ m.content[0:] ~ m.role }}\n{% endfor %}"
      "{% for t in tools %}{{ t.function.name }}{{ t }}{% endfor %}{{ wish }}{{ wish | default('') | trim }}");
  const Template t(program.view, m);
  const auto dumped = [](const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); };
  const auto everywhere = [&](const std::string& text, const std::string& split, linnet_rendered* out) {
    const json conversation = {{"messages",
                                {{{"role", text}, {"content", "a" + text + "b"}},
                                 {{"role", "user"}, {"content", text + " " + text}},
                                 {{"role", "user"}, {"content", split}},
                                 {{"role", "assistant"}, {"content", text}, {"calls", {{{"name", text}, {"arguments", {{text, text}}}}}}},
                                 {{"role", "tool"}, {"content", text}, {"name", text}}}},
                               {"tools", {{{"function", {{"name", text}, {"x", {text}}}}}}},
                               {"wish", text}};
    linnet_error err{};
    check(t.render(dumped(conversation), out, &err), err);
    return t.tokens(m, out->text_bytes);
  };
  size_t n_forged = 0, n_own = 0, n_text = 0;
  linnet_rendered out;
  const Tokens harmless = everywhere("x", "x", &out);  // what of the template's own bytes is an added token
  for (const auto& [id, text] : added) {
    if (text.empty() || text.find('\0') != std::string::npos) continue;
    const Tokens ids = everywhere(text, text.substr(0, 1) + "#" + text.substr(1), &out);  // "#": put together by the template
    std::set<int32_t> allowed = as_text(m, std::string(out.text, out.text_bytes));
    const bool is_text = allowed.count(id);  // an ordinary token as well
    n_text += is_text;
    allowed.insert(harmless.begin(), harmless.end());
    for (const int32_t got : ids)
      if (linnet::token_is_added(m->tokenizer, got) && !allowed.count(got)) {
        UNSCOPED_INFO("forged: " << got << " by " << text);
        ++n_forged;
        break;
      }
    if (n_own > (kSlow ? 5 : 60) && added.size() > 20) continue;  // compiling takes its time
    // The same text, as the template's own; and half of it.
    const std::string literal = json(text).dump(-1, ' ', true, json::error_handler_t::replace);
    if (json::parse(literal) != text) continue;  // no UTF-8
    const Program own("{{ " + literal + " }}");
    const Template it(own.view, m);
    it.render(R"({"messages":[]})");
    Tokens want(text.size() * 3 + 16);
    size_t scratch_bytes = 0, n = 0;
    REQUIRE(linnet_tokenize_need(m, text.size(), &scratch_bytes, nullptr) == LINNET_OK);
    std::vector<char> scratch(scratch_bytes + 1);
    linnet_error err{};
    check(linnet_tokenize(m, text.data(), text.size(), LINNET_PARSE_SPECIAL, scratch.data(), scratch_bytes, want.data(), want.size(), &n,
                          &err),
          err);
    want.resize(n);
    CHECK(it.tokens(m, text.size()) == want);
    n_own += std::count(want.begin(), want.end(), id) > 0;
    for (size_t cut = 1; cut < text.size(); cut = cut * 2 + 1) {
      if ((static_cast<uint8_t>(text[cut]) & 0xC0) == 0x80) continue;
      const auto half = [](const std::string& s) { return json(s).dump(-1, ' ', true, json::error_handler_t::replace); };
      const Program halves("{{ " + half(text.substr(0, cut)) + " }}{{ messages[0].c }}");
      const Template both(halves.view, m);
      CHECK(both.render(dumped({{"messages", {{{"c", text.substr(cut)}}}}})) == text);
      const Tokens got = both.tokens(m, text.size());
      if (!is_text) CHECK(std::count(got.begin(), got.end(), id) == 0);
    }
  }
  CHECK(n_forged == 0);
  CHECK(n_own > 0);
  std::printf("  %zu added tokens, %zu of them ordinary ones too\n", added.size(), n_text);
}

}  // namespace

TEST_CASE("no text of a conversation is an added token") {
  const AssistantModel assistant;
  check_forging(assistant.m);
  std::vector<std::string> sources;
  for (const char* name : {"llama3", "command-r", "deepseek-v3", "gemma", "gpt-4o", "metaspace", "roberta", "starcoder", "tekken",
                           "unigram-t5", "wordpiece", "unigram-spm"})
    sources.push_back("tests/golden/tokenizers/" + std::string(name));
  for (const char* name :
       {"llama2", "phi-3", "mistral-v3", "qwen2", "smollm", "ggml-vocab/ggml-vocab-phi-3.gguf", "ggml-vocab/ggml-vocab-llama-spm.gguf",
        "ggml-vocab/ggml-vocab-deepseek-llm.gguf", "ggml-vocab/ggml-vocab-mpt.gguf"})
    if (const std::string path = data_path("tokenizers/" + std::string(name)); !path.empty()) sources.push_back(path);
  for (size_t i = 0; i < sources.size(); i += kSlow ? 4 : 1) {
    const std::string& source = sources[i];
    INFO(source);
    std::printf("%s\n", source.c_str());
    check_forging(vocabulary(source)->m);
  }
}

// By ids that are known, since what is looked for above is found by the tokenizer itself.
TEST_CASE("an added token that is not special is text where it is said, and a token where the template writes it") {
  const AssistantModel assistant;
  constexpr int32_t kOk = 2047;  // {"ok":true}
  REQUIRE(linnet::token_is_added(assistant.m->tokenizer, kOk));
  REQUIRE_FALSE(linnet::token_is_special(assistant.m->tokenizer, kOk));
  const Program said("{{ messages[0].content }}"), own(R"({{ '{"ok":true}' }})");
  const Template conversation(said.view, assistant.m), literal(own.view, assistant.m);
  const std::string text = conversation.render(R"({"messages":[{"content":"{\"ok\":true}"}]})");
  CHECK(text == literal.render(R"({"messages":[]})"));
  const Tokens as_data = conversation.tokens(assistant.m, text.size()), as_own = literal.tokens(assistant.m, text.size());
  CHECK(std::count(as_data.begin(), as_data.end(), kOk) == 0);
  CHECK(as_own == Tokens{kOk});
}

// ---- what a session keeps ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr char kDrops[] =  // as Qwen3: reasoning of earlier answers goes
    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' and loop.last and m.reasoning %}({{ m.reasoning }}){% endif %}"
    "{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

}  // namespace

TEST_CASE("of a conversation a session keeps what is the same, answers with the ids that they were generated with") {
  const AssistantModel a;
  const int32_t user = a.id("<|user|>"), assistant = a.id("<|assistant|>"), end = a.id("<|end|>");
  const Program program(kDrops);
  const Template t(program.view, a.m);
  linnet_rendered out;
  linnet_error err{};
  json messages = json::array({message("user", "set a timer for ten minutes")});
  check(t.render(said(messages), &out, &err), err);
  size_t keep = 7;
  const Tokens prompt = t.tokens(a.m, out.text_bytes, {}, &keep);
  CHECK(keep == 0);
  CHECK((prompt.front() == user && prompt.back() == assistant && std::count(prompt.begin(), prompt.end(), end) == 1));
  CHECK(t.tokens(a.m, out.text_bytes, prompt, &keep) == prompt);
  CHECK(keep == prompt.size());

  // An answer letter by letter, as a model may say it.
  const std::string answer = "the timer is set";
  Tokens held = prompt;
  for (const char c : answer) held.push_back(a.id(std::string(1, c)));
  const size_t n_answer = held.size();
  held.push_back(end);
  messages.push_back(message("assistant", answer));
  messages.push_back(message("user", "thank you"));
  check(t.render(said(messages), &out, &err), err);
  const Tokens fresh = t.tokens(a.m, out.text_bytes);
  Tokens next = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(keep == held.size());
  CHECK(std::equal(held.begin(), held.end(), next.begin()));
  CHECK(fresh.size() < next.size());
  // Behind it the tokens are those of the text.
  CHECK(Tokens(next.end() - 6, next.end()) == Tokens(fresh.end() - 6, fresh.end()));
  CHECK(next[keep] == user);
  // Cut in the middle of it: what is there stays only up to where a token of the text begins as well.
  held.resize(n_answer);
  next = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(keep == n_answer);
  held.resize(n_answer - 2);
  next = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(keep < held.size());
  CHECK(keep >= prompt.size());

  // Rewritten: the first word is another one.
  messages[0]["content"] = "get a timer for ten minutes";
  held = prompt;
  check(t.render(said(messages), &out, &err), err);
  next = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(keep == 1);
  CHECK(next == t.tokens(a.m, out.text_bytes));
  // Nothing is the same.
  CHECK(t.tokens(a.m, out.text_bytes, {end, end}, &keep) == next);
  CHECK(keep == 0);
  // Tokens that no vocabulary has end what is the same.
  CHECK(t.tokens(a.m, out.text_bytes, {user, -1, 1 << 30}, &keep) == next);
  CHECK(keep == 1);
}

TEST_CASE("a template that rewrites history takes the session back to the first difference") {
  const AssistantModel a;
  const Program program(kDrops);
  const Template t(program.view, a.m);
  linnet_rendered out;
  linnet_error err{};
  json messages = {message("user", "turn on the light"), message("assistant", "the light is on")};
  messages[1]["reasoning"] = "which light";
  check(t.render(json{{"messages", messages}}.dump(), &out, &err), err);
  const Tokens held = t.tokens(a.m, out.text_bytes);
  const std::string before(out.text, out.text_bytes);
  CHECK(before == "<|user|>turn on the light<|end|><|assistant|>(which light)the light is on<|end|>");
  messages.push_back(message("user", "and off"));
  check(t.render(said(messages), &out, &err), err);
  const std::string after(out.text, out.text_bytes);
  size_t keep = 0, bytes = 0;
  const Tokens next = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(next == t.tokens(a.m, out.text_bytes));
  for (size_t i = 0; i < keep; ++i) bytes += token_text(a.m, held[i]).size();
  CHECK(before.substr(0, bytes) == "<|user|>turn on the light<|end|><|assistant|>");
  CHECK(after.substr(0, bytes) == before.substr(0, bytes));
}

TEST_CASE("a special token that a session holds does not stay where its text is the conversation's") {
  const AssistantModel a;
  const int32_t user = a.id("<|user|>"), end = a.id("<|end|>");
  const Program program(kDrops);
  const Template t(program.view, a.m);
  linnet_rendered out;
  linnet_error err{};
  // Two messages, and then one whose text is what stood around them.
  check(t.render(R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})", &out, &err), err);
  const std::string two(out.text, out.text_bytes);
  const Tokens held = t.tokens(a.m, out.text_bytes);
  CHECK(std::count(held.begin(), held.end(), end) == 2);
  check(t.render(R"({"messages":[{"role":"user","content":"a<|end|><|user|>b"}]})", &out, &err), err);
  CHECK(std::string(out.text, out.text_bytes) == two);
  size_t keep = 0;
  const Tokens one = t.tokens(a.m, out.text_bytes, held, &keep);
  CHECK(keep <= 2);
  CHECK((std::count(one.begin(), one.end(), end) == 1 && std::count(one.begin(), one.end(), user) == 1));
  CHECK(one.front() == user);
  CHECK(one.back() == end);
  // And the other way: what was a text, letter by letter or not, is no structure where the template writes it.
  check(t.render(R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})", &out, &err), err);
  CHECK(t.tokens(a.m, out.text_bytes, one, &keep) == held);
  CHECK(keep <= 2);
  Tokens letters;
  for (const char c : two) letters.push_back(a.id(std::string(1, c)));
  CHECK(t.tokens(a.m, out.text_bytes, letters, &keep) == held);
  CHECK(keep == 0);
}

TEST_CASE("tokens: room and scratch are held to the token and the byte") {
  const AssistantModel a;
  const Program program(kDrops);
  const Template t(program.view, a.m);
  linnet_rendered out;
  linnet_error err{};
  check(t.render(said(json::array({message("user", "set a timer for ten minutes")})), &out, &err), err);
  const Tokens all = t.tokens(a.m, out.text_bytes);
  size_t scratch_bytes = 0, n = 0, keep = 0;
  check(linnet_tokenize_need(a.m, out.text_bytes, &scratch_bytes, &err), err);
  for (size_t cap = 0; cap <= all.size(); ++cap)
    for (const size_t n_held : {size_t{0}, all.size()}) {
      const std::unique_ptr<char[]> scratch(new char[scratch_bytes]);
      const std::unique_ptr<int32_t[]> ids(new int32_t[cap + 1]);
      ids[cap] = -7;
      n = 0;
      const linnet_status status =
          linnet_template_tokens(t.t, all.data(), n_held, scratch.get(), scratch_bytes, ids.get(), cap, &n, &keep, &err);
      CHECK(status == (cap < all.size() ? LINNET_TOO_SMALL : LINNET_OK));
      CHECK(n == (cap < all.size() ? n_held : 0) + all.size());  // how many they may be
      CHECK(ids[cap] == -7);
      CHECK(linnet_template_tokens(t.t, all.data(), n_held, scratch.get(), scratch_bytes - 1, ids.get(), cap, &n, &keep, &err) ==
            LINNET_TOO_SMALL);
    }
}

// ---- packed files -----------------------------------------------------------------------------------------------------------------------

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "linnet-template-XXXXXX").string();
    path = mkdtemp(name.data());
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(std::filesystem::path("tests/golden/llama") / file, path / file);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

// A packed file of any source, and what was said of it.
struct Packed {
  Folder folder;
  std::string bytes;
  std::vector<std::string> notes;
  linnet_view view{};
  explicit Packed(const std::string& source, uint32_t layout = LINNET_LAYOUT_PACKED, uint32_t weights = LINNET_FORMAT_DEFAULT) {
    linnet_convert_params params{};
    params.size = sizeof params;
    params.layout = layout;
    params.weights = weights;
    params.note = [](void* user, const char* text) { static_cast<Packed*>(user)->notes.emplace_back(text); };
    params.user = this;
    linnet_error err{};
    INFO(source);
    check(linnet_convert_file(source.c_str(), at().c_str(), &params, nullptr, &err), err);
    bytes = slurp(at());
    view = {bytes.data(), bytes.size()};
  }
  std::string at() const { return (folder.path / "packed.gguf").string(); }
  std::string render(const char* name) const {
    return Template(view, nullptr, name).render(R"({"messages":[{"role":"user","content":"hi"}]})");
  }
  void lacks(const char* name, linnet_status want, const std::string& what) const {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    CHECK(linnet_template_need(&view, name, nullptr, &need, &err) == want);
    CAPTURE(err.text);
    CHECK(std::string(err.text).find(what) != std::string::npos);
    const Memory room(1 << 12);
    linnet_template* out = nullptr;
    CHECK(linnet_template_init(&out, room.p, 1 << 12, &view, name, nullptr, nullptr, &err) == want);
  }
  std::vector<std::pair<std::string, bool>> described() const {
    linnet::convert::Description d;
    linnet_error err{};
    check(linnet::convert::describe(at(), &d, &err), err);
    std::vector<std::pair<std::string, bool>> out;
    for (const auto& t : d.templates) out.emplace_back(t.name, t.error.empty());
    return out;
  }
};
using Names = std::vector<std::pair<std::string, bool>>;

std::string says(const char* word) { return std::string("{{ bos_token }}") + word + ":{{ messages[0].content }}"; }

}  // namespace

TEST_CASE("a model's templates go into its packed file by name") {
  const Packed none("tests/golden/llama");
  none.lacks(nullptr, LINNET_UNSUPPORTED, "no chat template");
  none.lacks("tool_use", LINNET_UNSUPPORTED, "'tool_use'");
  CHECK(none.described().empty());

  // One text, in either place; the file goes before what the configuration says.
  Folder folder;
  folder.put("tokenizer_config.json", json{{"chat_template", says("config")}, {"bos_token", "<s>"}}.dump());
  CHECK(Packed(folder.path).render(nullptr) == "<s>config:hi");
  folder.put("chat_template.jinja", says("file"));
  const Packed file(folder.path);
  CHECK(file.render(nullptr) == "<s>file:hi");
  CHECK(file.notes.empty());
  CHECK(file.described() == Names{{"", true}});
  file.lacks("tool_use", LINNET_UNSUPPORTED, "'tool_use'");
  folder.put("additional_chat_templates/rag.jinja", says("rag"));
  folder.put("additional_chat_templates/notes.txt", "{% no template");
  folder.put("special_tokens_map.json", R"({"bos_token":{"content":"<other>"},"eos_token":{"content":"</s>"}})");
  const Packed more(folder.path);
  CHECK((more.render(nullptr) == "<s>file:hi" && more.render("rag") == "<s>rag:hi"));
  CHECK(more.described() == Names{{"", true}, {"rag", true}});

  // A list with names.
  Folder listed;
  listed.put("tokenizer_config.json", json{{"chat_template",
                                            {{{"name", "default"}, {"template", says("default")}},
                                             {{"name", "tool_use"}, {"template", says("tools")}},
                                             {{"name", std::string(49, 'n')}, {"template", "long"}},
                                             {{"name", 1}, {"template", "x"}},
                                             {{"name", "bad"}, {"template", "a\n{% if %}"}}}},
                                           {"eos_token", "</s>"}}
                                          .dump());
  const Packed list(listed.path);
  CHECK((list.render(nullptr) == "default:hi" && list.render("tool_use") == "tools:hi"));
  // What does not compile is no hindrance: the reason is in the file.
  CHECK(list.described() == Names{{"", true}, {"tool_use", true}, {"bad", false}});
  list.lacks("bad", LINNET_UNSUPPORTED, "line 2");
  REQUIRE(list.notes.size() == 1);
  CHECK(list.notes[0].find("chat template bad, line 2") == 0);
  Folder broken;
  broken.put("chat_template.jinja", "{{ x | no_such_filter }}");
  const Packed refused(broken.path);
  refused.lacks(nullptr, LINNET_UNSUPPORTED, "no_such_filter");
  refused.lacks(nullptr, LINNET_UNSUPPORTED, "chat template");
  CHECK(refused.described() == Names{{"", false}});
  // The tokens that an app gives go before those of the file.
  linnet_template_params params{};
  params.size = sizeof params;
  params.tokens = R"({"bos_token":"[B]"})";
  params.tokens_bytes = static_cast<uint32_t>(std::strlen(params.tokens));
  CHECK(Template(file.view, nullptr, nullptr, &params).render(R"({"messages":[{"content":"x"}]})") == "[B]file:x");

  // As a plain GGUF the texts alone go along, and from there into a packed file again.
  const Packed plain(listed.path, LINNET_LAYOUT_PLAIN, LINNET_F32);
  plain.lacks(nullptr, LINNET_UNSUPPORTED, "no chat template");
  CHECK(plain.described() == Names{{"", true}, {"tool_use", true}, {"bad", false}});
  const Packed again(plain.at());
  CHECK((again.render(nullptr) == "default:hi" && again.render("tool_use") == "tools:hi"));
  again.lacks("bad", LINNET_UNSUPPORTED, "line 2");
  CHECK(again.notes == list.notes);
}

TEST_CASE("templates of a GGUF, and packed files that are damaged") {
  GgufFile f = tiny_model();
  f.text("tokenizer.chat_template", says("one"));
  f.raw("tokenizer.chat_templates", linnet::kGgufArray,
        le(uint32_t{linnet::kGgufString}) + le(uint64_t{2}) + lstr("tool_use") + lstr("gone"));
  f.text("tokenizer.chat_template.tool_use", says("two"));
  const Folder folder;
  folder.put("model.gguf", f.bytes());
  const Packed packed((folder.path / "model.gguf").string());
  CHECK((packed.render(nullptr) == "one:hi" && packed.render("tool_use") == "two:hi"));
  packed.lacks("gone", LINNET_UNSUPPORTED, "'gone'");
  CHECK(packed.described() == Names{{"", true}, {"tool_use", true}});

  // The program of a file is checked as one by itself: any byte of it may be another one.
  linnet::Gguf g;
  linnet_error err{};
  check(linnet::gguf_open(packed.bytes.data(), packed.bytes.size(), "packed", &g, &err), err);
  linnet::GgufValue v;
  REQUIRE(g.key(linnet::kTemplateKey, &v));
  const size_t at = static_cast<size_t>(v.raw.data() - packed.bytes.data());
  std::string damaged = packed.bytes;
  const linnet_view view = {damaged.data(), damaged.size()};
  linnet_template_params params{};
  params.size = sizeof params;
  params.text_bytes = params.value_bytes = 1 << 16;
  params.max_steps = 10000;
  size_t n_refused = 0;
  for (size_t i = 0; i < v.raw.size(); ++i)
    for (const int change : {1, 0x80, 0xFF}) {
      damaged[at + i] = static_cast<char>(packed.bytes[at + i] ^ change);
      linnet_need need{.size = sizeof need};
      linnet_template* t = nullptr;
      err = {};
      linnet_status status = linnet_template_need(&view, nullptr, &params, &need, &err);
      if (status == LINNET_OK) {
        const Memory memory(need.bytes);
        status = linnet_template_init(&t, memory.p, need.bytes, &view, nullptr, nullptr, &params, &err);
        const std::string conversation = R"({"messages":[{"role":"user","content":"hi"}]})";
        if (status == LINNET_OK) status = linnet_template_render(t, conversation.data(), conversation.size(), 0, nullptr, &err);
      }
      n_refused += status != LINNET_OK;
      CHECK((status == LINNET_OK || err.text[0]));
      damaged[at + i] = packed.bytes[at + i];
    }
  CHECK(n_refused > v.raw.size());
}
