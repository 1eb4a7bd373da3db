// libFuzzer: any bytes as a schema, as tools, of calls in several formats too, as GBNF, an expression, choices, and as a compiled grammar.
// What compiles, always to the same bytes, is an automaton that the core takes and whose masks it makes.
#include <linnet_chat.h>
#include <linnet_convert.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/convert/call_grammar.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/json.h"
#include "runtime/sampling/grammar.h"

static void require(bool ok) {
  if (!ok) std::abort();
}

// A vocabulary for the grammars.
static const linnet_model* model() {
  static linnet::convert::Loaded loaded;
  static const linnet_model* const made = [] {
    linnet_need need = {};
    need.size = sizeof need;
    linnet_model* m = nullptr;
    require(linnet::convert::load("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, {}, &loaded, nullptr) == LINNET_OK);
    require(linnet_model_need(&loaded.file, nullptr, &need, nullptr) == LINNET_OK);
    require(linnet_model_init(&m, linnet_mem_alloc(need.bytes), need.bytes, &loaded.file, nullptr, nullptr) == LINNET_OK);
    return m;
  }();
  return made;
}

static void use(linnet_view blob, bool must) {
  linnet_need need = {};
  need.size = sizeof need;
  linnet_error err = {};
  if (linnet_grammar_need(model(), blob.data, blob.bytes, &need, &err) != LINNET_OK) return require(!must && err.text[0]);
  void* const mem = linnet_mem_alloc(need.bytes);
  linnet_grammar* g = nullptr;
  const linnet_status status = linnet_grammar_init(&g, mem, need.bytes, model(), blob.data, blob.bytes, &err);
  require(status == LINNET_OK || (!must && err.text[0]));
  for (uint32_t i = 0, state = 0; status == LINNET_OK && i < 20; ++i) {
    linnet::TokenMask mask;
    if (linnet::grammar_mask(*g, state, i % 2, &mask, nullptr) != LINNET_OK) break;
    uint32_t id = i * 97 % 2048;
    while (!(mask.bits[id / 32] >> id % 32 & 1)) id = (id + 1) % 2048;
    state = linnet::grammar_advance(*g, state, static_cast<int32_t>(id));
    require(state != linnet::kGrammarLost);
    if (state >= linnet::kGrammarEnded) break;
  }
  linnet_mem_free(mem, need.bytes);
}

// How models write calls: one format of each kind.
static linnet::chat::Envelope envelope(size_t i) {
  using linnet::chat::Arguments;
  using linnet::chat::Bare;
  using linnet::chat::Envelope;
  using linnet::chat::Head;
  Envelope e = {};
  const auto set = [](linnet::chat::Mark* m, const char* text) { std::strcpy(m->text, text); };
  set(&e.reason_open, "<think>"), set(&e.reason_close, "</think>");
  e.head = Head::kText;
  set(&e.call_open, "<call>"), set(&e.call_close, "</call>");
  switch (i % 8) {
    case 0:
      e.head = Head::kNameKey;
      break;
    case 1:
      e.head = Head::kNameKey, e.bare = Bare::kBegins;
      e.call_open = e.call_close = {};
      break;
    case 2:
      e.head = Head::kNameIsKey;
      set(&e.section_open[0], "<calls>"), set(&e.section_close, "</calls>");
      break;
    case 3:
      e.arguments = Arguments::kPairs, e.value_lines = 1;
      set(&e.key_open, "<key="), set(&e.key_close, ">"), set(&e.value_close, "</key>");
      break;
    case 4:
      e.arguments = Arguments::kTags;
      set(&e.args_open, ">"), set(&e.tag_prefix, "|");
      break;
    case 5:
      e.arguments = Arguments::kPython;
      break;
    case 6:
      e.arguments = Arguments::kGemma;
      set(&e.quote, "<q>");
      break;
    default:
      e.head = Head::kHarmony;
  }
  return e;
}

static linnet_grammar_compiler* compiler() {
  constexpr uint32_t kStates = 4096;
  static linnet_grammar_compiler* made = nullptr;
  if (made) return made;
  linnet_need need = {.size = sizeof need};
  require(linnet_grammar_compiler_need(kStates, &need, nullptr) == LINNET_OK);
  void* const memory = std::aligned_alloc(need.align, need.bytes);
  require(linnet_grammar_compiler_init(&made, memory, need.bytes, kStates, nullptr) == LINNET_OK);
  return made;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes + 1]);
  if (bytes) std::memcpy(copy.get(), data, bytes);
  use({copy.get(), bytes}, false);
  const char* const json = reinterpret_cast<const char*>(copy.get());
  static std::vector<uint8_t> out(1 << 21), again(1 << 21);
  for (const linnet_grammar_kind kind :
       {LINNET_GRAMMAR_SCHEMA, LINNET_GRAMMAR_TEXT_OR_CALL, LINNET_GRAMMAR_GBNF, LINNET_GRAMMAR_REGEX, LINNET_GRAMMAR_CHOICES}) {
    size_t n = 0, m = 0;
    linnet_error err = {};
    const linnet_status status = linnet_grammar_compile(nullptr, json, bytes, "g", kind, out.data(), out.size(), &n, &err);
    if (status != LINNET_OK) {
      require((status == LINNET_UNSUPPORTED || status == LINNET_BAD_FILE || status == LINNET_TOO_SMALL) &&
              std::strncmp(err.text, "g:", 2) == 0);
      continue;
    }
    const linnet_status in_memory = linnet_grammar_compile(compiler(), json, bytes, "g", kind, again.data(), again.size(), &m, &err);
    require(in_memory == LINNET_OK ? n == m && std::memcmp(out.data(), again.data(), n) == 0
                                   : in_memory == LINNET_NO_MEMORY || in_memory == LINNET_UNSUPPORTED);
    use({out.data(), n}, true);
  }
  // Each input is tools of one format, so that inputs stay fast.
  linnet::convert::Value tools;
  linnet_error err = {};
  const linnet_status read = linnet::convert::schema_parse({json, bytes}, "g", &tools, &err);
  linnet::convert::JsonTree tree;  // a library takes the same texts
  require(linnet::convert::json_parse({json, bytes}, "g", &tree.root, nullptr) == read);
  if (read != LINNET_OK) return 0;
  linnet::convert::Vector<uint8_t> blob;
  const linnet_status status =
      linnet::convert::compile_calls(tools, envelope(bytes), {bytes / 8 % 2 == 0, bytes / 16 % 2 == 0, ""}, "g", &blob, &err);
  if (status == LINNET_OK)
    use({blob.data(), blob.size()}, true);
  else
    require((status == LINNET_UNSUPPORTED || status == LINNET_BAD_FILE) && std::strncmp(err.text, "g:", 2) == 0);
  return 0;
}
