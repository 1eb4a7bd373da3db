// schema_texts N [SEED] < SCHEMAS: of each line, a JSON schema, N texts that were drawn under its grammar from random logits over the
// bundled model's vocabulary, as one line of JSON: {"texts": [...], "ended": [...]}, or {"why": "..."} of one that is refused. Behind 40
// tokens one of four is drawn from those that begin with what ends texts, lists and objects; a text that has not ended within 1,000 is cut
// there.
#include <linnet_convert.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "runtime/sampling/grammar.h"
#include "runtime/session.h"
#include "runtime/tokenizer/tokenizer.h"

using nlohmann::json;

namespace {

void require(bool ok, const linnet_error& err) {
  if (ok) return;
  std::fprintf(stderr, "schema_texts: %s\n", err.text);
  std::exit(1);
}

struct Memory {
  void* p;
  size_t bytes;
  explicit Memory(size_t n) : p(linnet_mem_alloc(n)), bytes(n) {}
  ~Memory() { linnet_mem_free(p, bytes); }
  Memory(const Memory&) = delete;
};

}  // namespace

int main(int argc, char** argv) {
  const int n_texts = argc > 1 ? std::atoi(argv[1]) : 10;
  std::mt19937 random(argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1);
  constexpr int kMost = 1000;
  linnet_error err{};
  linnet_view file{};
  linnet_need need{};
  need.size = sizeof need;
  require(linnet_file_map("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, &file, &err) == LINNET_OK, err);
  require(linnet_model_need(&file, nullptr, &need, &err) == LINNET_OK, err);
  const Memory model_memory(need.bytes);
  linnet_model* model = nullptr;
  require(linnet_model_init(&model, model_memory.p, need.bytes, &file, nullptr, &err) == LINNET_OK, err);
  std::vector<uint8_t> blob(1 << 24);
  for (std::string line; std::getline(std::cin, line);) {
    json out;
    size_t n = 0;
    const auto kind = static_cast<linnet_grammar_kind>(LINNET_GRAMMAR_SCHEMA | LINNET_GRAMMAR_ANY_FORMAT);
    if (linnet_grammar_compile(nullptr, line.data(), line.size(), "it", kind, blob.data(), blob.size(), &n, &err) != LINNET_OK) {
      std::cout << json{{"why", err.text}}.dump() << "\n";
      continue;
    }
    require(linnet_grammar_need(model, blob.data(), n, &need, &err) == LINNET_OK, err);
    const Memory memory(need.bytes);
    linnet_grammar* g = nullptr;
    require(linnet_grammar_init(&g, memory.p, need.bytes, model, blob.data(), n, &err) == LINNET_OK, err);
    out["texts"] = json::array(), out["ended"] = json::array();
    for (int i = 0; i < n_texts; ++i) {
      std::string text;
      uint32_t state = 0;
      bool ended = false;
      for (int k = 0; k < kMost && !ended; ++k) {
        if (linnet::grammar_complete(*g, state)) {
          ended = true;
          break;
        }
        linnet::TokenMask mask;
        require(linnet::grammar_mask(*g, state, false, &mask, &err) == LINNET_OK, err);
        // Of random logits the largest that is allowed: each with the same chance.
        std::vector<uint32_t> allowed, closing;
        for (uint32_t id = 0; id < model->spec.n_vocab; ++id) {
          if (!(mask.bits[id / 32] >> id % 32 & 1)) continue;
          allowed.push_back(id);
          const std::string_view s = linnet::token_bytes(model->tokenizer, static_cast<int32_t>(id), false);
          if (!s.empty() && std::string_view("\"]}").find(s[0]) != std::string_view::npos) closing.push_back(id);
        }
        const std::vector<uint32_t>& from = k > 40 && !closing.empty() && random() % 4 == 0 ? closing : allowed;
        const uint32_t token = from[random() % from.size()];
        state = linnet::grammar_advance(*g, state, static_cast<int32_t>(token));
        if (state == linnet::kGrammarLost) std::exit(2);
        ended = state == linnet::kGrammarEnded;
        if (!ended) text += linnet::token_bytes(model->tokenizer, static_cast<int32_t>(token), false);
      }
      out["texts"].push_back(text);
      out["ended"].push_back(ended);
    }
    std::cout << out.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  }
  linnet_model_fini(model);
  linnet_file_unmap(&file);
  return 0;
}
