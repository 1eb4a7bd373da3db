// schema_texts N [SEED] < SCHEMAS: of each line, a JSON schema, N texts that were drawn under its grammar from random logits over the
// bundled model's vocabulary. Lines "TIMES END TEXT", those of short texts once for all of the same; "- WHY" of a schema that is refused;
// and
// "." behind each schema. Behind 40 tokens one of four is drawn from those that begin with what ends texts, lists and objects. END is 1, or
// 0 of a text that has not ended within 1,000: behind it stand the fewest bytes that end it.
#include <linnet_convert.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/sampling/grammar.h"
#include "runtime/session.h"
#include "runtime/tokenizer/tokenizer.h"

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

void allow(std::vector<uint32_t>* bits, uint32_t id) { (*bits)[id / 32] |= 1u << id % 32; }
uint32_t count(const uint32_t* bits, const std::vector<uint32_t>& of) {
  uint32_t n = 0;
  for (size_t w = 0; w < of.size(); ++w) n += static_cast<uint32_t>(std::popcount(bits[w] & of[w]));
  return n;
}
// The token of the k-th bit that both have set.
uint32_t nth(const uint32_t* bits, const std::vector<uint32_t>& of, uint32_t k) {
  for (uint32_t w = 0;; ++w) {
    uint32_t word = bits[w] & of[w];
    const uint32_t n = static_cast<uint32_t>(std::popcount(word));
    if (k >= n) {
      k -= n;
      continue;
    }
    while (k--) word &= word - 1;
    return w * 32 + static_cast<uint32_t>(std::countr_zero(word));
  }
}

// The fewest bytes that end a text.
class Endings {
 public:
  explicit Endings(linnet_grammar& g) : g_(g), bytes_(g.n_states, kNone) {
    const bool has_calls = g.pushdown.n_calls > 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t s = g.n_states; s-- > 0;) {
        uint64_t least = g.first[s] & linnet::kGrammarAccepts ? 0 : bytes_[s];
        for (uint32_t e = begin(s); e < begin(s + 1); ++e) least = std::min(least, bytes_[g.edges[e].to] + 1);
        for (uint32_t i = has_calls ? g.pushdown.first_call[s] : 0; has_calls && i < g.pushdown.first_call[s + 1]; ++i) {
          const linnet::GrammarCall& c = g.pushdown.calls[i];
          least = std::min(least, std::min(c.least * bytes_[c.start], kNone) + bytes_[c.to]);
        }
        changed = changed || least < bytes_[s];
        bytes_[s] = least;
      }
    }
  }
  // The next of them; -1: the text may end.
  int next(uint32_t state) const {
    uint64_t least = kNone;
    int byte = -1;
    const auto thread = [&](uint32_t s, uint32_t frame) {
      const uint64_t behind = of_stack(frame);
      if (!behind && g_.first[s] & linnet::kGrammarAccepts) least = 0, byte = -1;
      for (uint32_t e = begin(s); e < begin(s + 1); ++e)
        if (const uint64_t n = bytes_[g_.edges[e].to] + 1 + behind; n < least) least = n, byte = g_.edges[e].lo;
    };
    const linnet::Pushdown& p = g_.pushdown;
    if (state < g_.n_states)
      thread(state, 0);
    else
      for (uint32_t node = p.kept[state % linnet::kKeptSets].node; node; node = p.nodes[node].next)
        thread(p.nodes[node].what, p.nodes[node].n);
    return byte;
  }

 private:
  static constexpr uint64_t kNone = uint64_t{1} << 40;
  uint32_t begin(uint32_t s) const { return g_.first[s] & ~linnet::kGrammarAccepts; }
  uint64_t of_stack(uint32_t frame) const {
    uint64_t n = 0;
    for (; frame > 1; frame = g_.pushdown.nodes[frame].next) {
      const linnet::StackNode& f = g_.pushdown.nodes[frame];
      const linnet::GrammarCall& c = g_.pushdown.calls[f.what];
      n += bytes_[c.to] + (f.n < c.least ? (c.least - f.n) * bytes_[c.start] : 0);
    }
    return n;
  }

  linnet_grammar& g_;
  std::vector<uint64_t> bytes_;  // (n_states) that end what the state is of
};

}  // namespace

int main(int argc, char** argv) {
  const int n_texts = argc > 1 ? std::atoi(argv[1]) : 10;
  const uint32_t seed = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1;
  constexpr int kMost = 1000;
  constexpr size_t kShort = 200;
  linnet_error err{};
  linnet_view file{};
  linnet_need need{};
  need.size = sizeof need;
  require(linnet_file_map("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, &file, &err) == LINNET_OK, err);
  require(linnet_model_need(&file, nullptr, &need, &err) == LINNET_OK, err);
  const Memory model_memory(need.bytes);
  linnet_model* model = nullptr;
  require(linnet_model_init(&model, model_memory.p, need.bytes, &file, nullptr, &err) == LINNET_OK, err);
  std::vector<uint32_t> all((model->spec.n_vocab + 31) / 32), closing(all);
  int32_t of_byte[256] = {};
  for (uint32_t id = 0; id < model->spec.n_vocab; ++id) {
    const std::string_view s = linnet::token_bytes(model->tokenizer, static_cast<int32_t>(id), false);
    allow(&all, id);
    if (!s.empty() && std::string_view("\"]}").find(s[0]) != std::string_view::npos) allow(&closing, id);
    if (s.size() == 1) of_byte[static_cast<uint8_t>(s[0])] = static_cast<int32_t>(id);
  }
  std::vector<uint8_t> blob(1 << 24);
  for (std::string line; std::getline(std::cin, line); std::cout << "." << std::endl) {
    std::mt19937 random(seed);
    size_t n = 0;
    const auto kind = static_cast<linnet_grammar_kind>(LINNET_GRAMMAR_SCHEMA | LINNET_GRAMMAR_ANY_FORMAT);
    if (linnet_grammar_compile(nullptr, line.data(), line.size(), "it", kind, blob.data(), blob.size(), &n, &err) != LINNET_OK) {
      std::cout << "- " << err.text << "\n";
      continue;
    }
    require(linnet_grammar_need(model, blob.data(), n, &need, &err) == LINNET_OK, err);
    const Memory memory(need.bytes);
    linnet_grammar* g = nullptr;
    require(linnet_grammar_init(&g, memory.p, need.bytes, model, blob.data(), n, &err) == LINNET_OK, err);
    std::optional<Endings> endings;
    std::map<std::string, uint32_t> same;
    std::string text;
    for (int i = 0; i < n_texts; ++i) {
      text = "1 ";
      uint32_t state = 0;
      const auto advance = [&](int32_t token) {
        state = linnet::grammar_advance(*g, state, token);
        if (state < linnet::kGrammarEnded) text += linnet::token_bytes(model->tokenizer, token, false);
        if (state != linnet::kGrammarLost) return;
        std::fprintf(stderr, "schema_texts: token %d behind %.1000s is lost\n", token, text.c_str());
        std::exit(1);
      };
      for (int k = 0; k < kMost && state != linnet::kGrammarEnded && !linnet::grammar_complete(*g, state); ++k) {
        linnet::TokenMask mask;
        require(linnet::grammar_mask(*g, state, false, &mask, &err) == LINNET_OK, err);
        // Of random logits the largest that is allowed: each with the same chance.
        const uint32_t n_closing = k > 40 && random() % 4 == 0 ? count(mask.bits, closing) : 0;
        const auto one_of = [&random](uint32_t all_of_them) { return static_cast<uint32_t>(random() % all_of_them); };
        advance(static_cast<int32_t>(n_closing ? nth(mask.bits, closing, one_of(n_closing)) : nth(mask.bits, all, one_of(mask.n_allowed))));
      }
      if (state != linnet::kGrammarEnded && !linnet::grammar_complete(*g, state)) {
        text[0] = '0';
        if (!endings) endings.emplace(*g);
        for (int byte; (byte = endings->next(state)) >= 0;) advance(of_byte[byte]);
      }
      if (text.size() <= kShort)
        ++same[text];
      else
        std::cout << "1 " << text << "\n";
    }
    for (const auto& [each, times] : same) std::cout << times << " " << each << "\n";
  }
  linnet_model_fini(model);
  linnet_file_unmap(&file);
  return 0;
}
