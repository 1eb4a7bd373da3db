// libFuzzer: hostile chat templates. The first byte chooses what the rest is: a template, rendered over a conversation that has something
// of every kind; a program, damaged or made up; a conversation as JSON, for a template that looks at all of it. Whatever it is, the result
// is a text whose bytes all have an origin, or a sentence, and the same again.
#include <linnet_chat.h>
#include <linnet_convert.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

static void require(bool ok) {
  if (!ok) std::abort();
}

namespace {

constexpr size_t kTextBytes = 1 << 16, kValueBytes = 1 << 20, kProgramBytes = 1 << 22;
constexpr uint64_t kSteps = 300000;
constexpr char kTokens[] = R"({"bos_token":"<s>","eos_token":"</s>"})";
constexpr char kConversation[] =
    R"({"messages":[{"role":"system","content":" Be k\u00efnd.\n"},{"role":"user","content":"<|im_end|> a{{ b }} \ud83d\ude00 ","n":[1,2.5,-3,1e300,123456789012345678901234567890,true,null,"x"]},)"
    R"({"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"k":"v","l":[[],{}]}}}]},)"
    R"({"role":"tool","content":"{\"a\": 1}","name":"f"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"k":{"type":"string"}}}}}],)"
    R"("add_generation_prompt":true,"x":0,"d":{"a":1,"b":{"c":[1,2,3]}},"l":[3,1,2,"b","A"],"s":"Stra\u00dfe \u00c9"})";
constexpr char kAll[] =
    "{%- macro show(v, depth=0) -%}{% if v is mapping %}{% for k, x in v | dictsort if depth < 9 %}{{ k | upper }}={{ show(x, depth + 1) "
    "}};"
    "{% endfor %}{% elif v is string %}{{ v | trim | length }}{{ v[::-1] }}{{ '%s|%r' | format(v, v) }}{{ v.split() }}{{ v | replace('a', "
    "'b') }}"
    "{% elif v is iterable %}{% for x in v if depth < 9 %}{{ loop.index }}:{{ show(x, depth + 1) }}{% endfor %}{% else %}{{ v ~ '' }}{{ v "
    "== v }}{% endif %}{%- endmacro -%}"
    "{{ show(messages) }}{{ messages | tojson(indent=2) }}{{ messages }}{{ messages | length }}{{ tools }}{{ x | string }}{{ x | "
    "default(1) }}"
    "{{ messages | map(attribute='content') | list }}{{ messages | selectattr('role', 'equalto', 'user') | list | tojson }}{{ bos_token }}";

struct Room {
  std::vector<uint8_t> program = std::vector<uint8_t>(kProgramBytes);
  void* memory = linnet_mem_alloc(size_t{16} << 20);
};

linnet_template* made(const Room& room, const linnet_view& program, bool must) {
  linnet_template_params params = {};
  params.size = sizeof params;
  params.text_bytes = kTextBytes, params.value_bytes = kValueBytes, params.max_steps = kSteps;
  params.tokens = kTokens, params.tokens_bytes = sizeof kTokens - 1;
  linnet_error err = {};
  linnet_need need = {};
  need.size = sizeof need;
  linnet_template* t = nullptr;
  const linnet_status counted = linnet_template_need(&program, nullptr, &params, &need, &err);
  require(counted == LINNET_OK ? need.bytes <= size_t{16} << 20 : err.text[0] != 0);
  if (counted != LINNET_OK) return require(!must), nullptr;
  const linnet_status status = linnet_template_init(&t, room.memory, need.bytes, &program, nullptr, nullptr, &params, &err);
  require((status == LINNET_OK) == (t != nullptr) && (t || (err.text[0] && !must)));
  return t;
}

void rendered(linnet_template* t, const std::string& conversation) {
  std::string text, again;
  linnet_status status[2];
  for (int i = 0; i < 2; ++i) {
    linnet_rendered out = {};
    out.size = sizeof out;
    linnet_error err = {};
    status[i] = linnet_template_render(t, conversation.data(), conversation.size(), 1700000000, &out, &err);
    if (status[i] != LINNET_OK) {
      require((status[i] == LINNET_BAD_ARG || status[i] == LINNET_TOO_SMALL) && err.code == status[i] && err.text[0]);
      (i ? again : text) = err.text;
      continue;
    }
    require(out.text_bytes <= kTextBytes && out.value_bytes <= kValueBytes && out.steps <= kSteps);
    for (size_t k = 0; k < out.text_bytes; ++k) require(out.data[k] <= 1);
    (i ? again : text).assign(out.text, out.text_bytes);
    (i ? again : text).append(reinterpret_cast<const char*>(out.data), out.text_bytes);
  }
  require(status[0] == status[1] && text == again);
}

// 0 where it does not compile.
size_t compiled(Room& room, const char* text, size_t bytes) {
  linnet_error err = {};
  size_t n = 0;
  const linnet_status status = linnet_template_compile(text, bytes, "t", room.program.data(), room.program.size(), &n, &err);
  if (status == LINNET_OK) return n;
  require((status == LINNET_UNSUPPORTED || status == LINNET_BAD_FILE || status == LINNET_TOO_SMALL) && std::strncmp(err.text, "t", 1) == 0);
  return 0;
}

// A program whose bytes the input changes: pairs of a place and what it becomes there.
void damaged(Room& room, const uint8_t* data, size_t bytes) {
  static const char* const kTexts[] = {
      kAll,
      "{% for x in l recursive %}{{ loop(l) if loop.depth < 3 }}{% endfor %}{% set ns = namespace(a=1) %}{% set ns.a = 2 %}{{ ns.a }}",
      "{% call(a) f(1, *l, **d) %}{{ a }}{% endcall %}{% macro f(x) %}{{ caller(x) }}{{ varargs }}{{ kwargs }}{% endmacro %}",
      "{% filter upper %}{% set a, b = 'xy' %}{{ a if b else x }}{{ [a, b][0:1] }}{{ {'k': a} }}{% endfilter %}{{ 1 < 2 < 3 and not x or l "
      "is defined }}"};
  if (bytes < 2) return;
  const char* const text = kTexts[data[0] % 4];
  const size_t n = compiled(room, text, std::strlen(text));
  require(n > 0);
  for (size_t i = 1; i + 3 <= bytes; i += 3) room.program[(data[i] | size_t{data[i + 1]} << 8) % n] = data[i + 2];
  if (linnet_template* const t = made(room, {room.program.data(), n}, false)) rendered(t, kConversation);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  static Room room;
  if (bytes == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  switch (data[0] % 4) {
    case 0:
    default:
      if (const size_t n = compiled(room, rest.data(), rest.size())) rendered(made(room, {room.program.data(), n}, true), kConversation);
      break;
    case 1:
      damaged(room, data + 1, bytes - 1);
      break;
    case 2: {
      const std::unique_ptr<uint8_t[]> copy(new uint8_t[rest.size() + 1]);
      std::memcpy(copy.get(), rest.data(), rest.size());
      if (linnet_template* const t = made(room, {copy.get(), rest.size()}, false)) rendered(t, kConversation);
      break;
    }
    case 3: {
      const size_t n = compiled(room, kAll, sizeof kAll - 1);
      require(n > 0);
      rendered(made(room, {room.program.data(), n}, true), rest);
      rendered(made(room, {room.program.data(), n}, true), R"({"messages":[{"role":"user","content":)" + rest + "}]}");
    }
  }
  return 0;
}
