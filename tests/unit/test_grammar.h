// What tests of grammars share: compiling, the bundled model, a grammar on it.
#pragma once
#include <linnet_convert.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/convert/tokenizer_build.h"
#include "runtime/sampling/grammar.h"
#include "runtime/session.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/data.h"
#include "tests/grammars.h"
#include "tests/models.h"

namespace test {

using Blob = std::vector<uint8_t>;

// Memory that grammars of so many states are compiled in.
struct Compiler {
  std::unique_ptr<uint8_t, decltype(&std::free)> memory = {nullptr, std::free};
  linnet_grammar_compiler* c = nullptr;

  explicit Compiler(uint32_t max_states) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    REQUIRE(linnet_grammar_compiler_need(max_states, &need, &err) == LINNET_OK);
    memory.reset(static_cast<uint8_t*>(std::aligned_alloc(need.align, need.bytes)));
    CHECK(linnet_grammar_compiler_init(&c, memory.get(), need.bytes - 1, max_states, &err) == LINNET_TOO_SMALL);
    REQUIRE(linnet_grammar_compiler_init(&c, memory.get(), need.bytes, max_states, &err) == LINNET_OK);
  }
};

// What was compiled on the heap is the same in memory for just its states, and one state less is refused by name.
inline void compile_in_memory(const std::string& text, linnet_grammar_kind kind, const Blob& blob) {
  linnet_error err{};
  linnet::GrammarHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  const uint32_t most = h.n_states;
  Blob same(blob.size() + 1, 0x5A);
  size_t n = 0;
  const linnet_status status =
      linnet_grammar_compile(Compiler(most).c, text.data(), text.size(), "it", kind, same.data(), same.size(), &n, &err);
  CAPTURE(text.substr(0, 1000), most, err.text);
  CHECK((status == LINNET_OK && n == blob.size() && std::memcmp(same.data(), blob.data(), n) == 0));
  if (most == 1 || kind == LINNET_GRAMMAR_GBNF) return;  // GBNF's counts need no states where there are none to spare
  CHECK(linnet_grammar_compile(Compiler(most - 1).c, text.data(), text.size(), "it", kind, same.data(), same.size(), &n, &err) ==
        LINNET_UNSUPPORTED);
  const std::string said = err.text, end = ": the grammar has more than " + std::to_string(most - 1) + " states";
  CHECK((said == "it" + end || (said.starts_with("it: #") && said.ends_with(end))));
}

inline linnet_status compile(const std::string& text, linnet_grammar_kind kind, Blob* out, std::string* why = nullptr) {
  linnet_error err{};
  size_t n = 0;
  linnet_status status = linnet_grammar_compile(nullptr, text.data(), text.size(), "it", kind, nullptr, 0, &n, &err);
  if (status == LINNET_TOO_SMALL) {
    out->assign(n, 0xA5);
    status = linnet_grammar_compile(nullptr, text.data(), text.size(), "it", kind, out->data(), n, &n, &err);
    CHECK(n == out->size());
    compile_in_memory(text, kind, *out);
  }
  if (why) *why = err.text;
  return status;
}

inline Blob compiled(const std::string& text, linnet_grammar_kind kind = LINNET_GRAMMAR_SCHEMA) {
  Blob blob;
  std::string why;
  const linnet_status status = compile(text, kind, &blob, &why);
  INFO(text << ": " << why);
  REQUIRE(status == LINNET_OK);
  return blob;
}

// A schema is refused, and the reason holds `what`.
inline void refused(const std::string& schema, const char* what, linnet_status status = LINNET_UNSUPPORTED,
                    linnet_grammar_kind kind = LINNET_GRAMMAR_SCHEMA) {
  Blob blob;
  std::string why;
  INFO(schema.substr(0, 1000));
  CHECK(compile(schema, kind, &blob, &why) == status);
  INFO(why);
  CHECK(why.find(what) != why.npos);
}

inline Texts texts(const std::string& schema, linnet_grammar_kind kind = LINNET_GRAMMAR_SCHEMA) { return Texts(compiled(schema, kind)); }

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

inline constexpr const char* kTools = "examples/assistant/tools.json";

// The bundled model, mapped.
struct Assistant {
  linnet_view file{};
  std::unique_ptr<Memory> memory;
  linnet_model* m = nullptr;
  explicit Assistant(uint32_t isa = 0) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    linnet_profile profile{};
    profile.size = sizeof profile;
    profile.isa = isa;
    check(linnet_file_map("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, &file, &err), err);
    check(linnet_model_need(&file, &profile, &need, &err), err);
    memory = std::make_unique<Memory>(need.bytes);
    check(linnet_model_init(&m, memory->p, need.bytes, &file, &profile, &err), err);
  }
  ~Assistant() {
    linnet_model_fini(m);
    linnet_file_unmap(&file);
  }
  Assistant(const Assistant&) = delete;

  Tokens tokens(const std::string& text, uint32_t flags) const {
    size_t need = 0, n = 0;
    linnet_error err{};
    REQUIRE(linnet_tokenize_need(m, text.size(), &need, nullptr) == LINNET_OK);
    std::vector<char> scratch(need + 1);
    Tokens out(3 * text.size() + 8);
    check(linnet_tokenize(m, text.data(), text.size(), flags, scratch.data(), need, out.data(), out.size(), &n, &err), err);
    out.resize(n);
    return out;
  }
  Tokens request(const std::string& text) const {
    Tokens all = tokens("", LINNET_ADD_SPECIAL);
    const auto add = [&](const std::string& s, uint32_t flags) {
      const Tokens more = tokens(s, flags);
      all.insert(all.end(), more.begin(), more.end());
    };
    const char *before = nullptr, *behind = nullptr;
    REQUIRE(linnet_chat_format(m, LINNET_ROLE_USER, &before, &behind, nullptr) == LINNET_OK);
    add(before, LINNET_PARSE_SPECIAL);
    add(text, 0);
    add(behind, LINNET_PARSE_SPECIAL);
    REQUIRE(linnet_chat_format(m, LINNET_ROLE_ASSISTANT, &before, &behind, nullptr) == LINNET_OK);
    add(before, LINNET_PARSE_SPECIAL);
    return all;
  }
};

struct Grammar {
  std::unique_ptr<Memory> memory;
  size_t bytes = 0;
  linnet_grammar* g = nullptr;
  Grammar(const linnet_model* m, const Blob& blob) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_grammar_need(m, blob.data(), blob.size(), &need, &err), err);
    bytes = need.bytes;
    memory = std::make_unique<Memory>(bytes);
    check(linnet_grammar_init(&g, memory->p, bytes, m, blob.data(), blob.size(), &err), err);
  }
};

// The tokenizer of a folder as a model of which nothing else is asked.
struct Vocabulary {
  std::vector<uint64_t> tables;
  std::unique_ptr<linnet_model> m = std::make_unique<linnet_model>();
  explicit Vocabulary(const std::string& folder) {
    linnet::Error err{};
    linnet::convert::TokenizerBlob text;
    check(linnet::convert::tokenizer_from_folder(folder, &text, &err), err);
    tables.resize((text.bytes.size() + 7) / 8);
    std::memcpy(tables.data(), text.bytes.data(), text.bytes.size());
    check(linnet::tokenizer_open(tables.data(), text.bytes.size(), 1u << 22, &m->tokenizer, &err), err);
    m->spec.n_vocab = m->tokenizer.n_tokens;
  }
};

// The vocabularies that figures are of: the bundled model's, and others' where they are.
template <class Fn>
void each_vocabulary(const Fn& fn) {
  for (const char* name : {"", "gpt2", "qwen2"}) {
    const std::string folder = *name ? data_path("tokenizers/" + std::string(name)) : "examples/assistant/model/checkpoint";
    if (folder.empty())
      std::printf("skipped: no tokenizers/%s under LINNET_DATA or ../shared/data\n", name);
    else
      fn(*name ? name : "bundled", *Vocabulary(folder).m);
  }
}

}  // namespace test
