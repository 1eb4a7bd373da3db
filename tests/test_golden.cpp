// Whole models against what others computed: Hugging Face transformers (tests/golden), and the published stories260K.
#define JSON_NOEXCEPTION 1  // as the library is compiled
#include <nlohmann/json.hpp>

#include "runtime/gguf.h"
#include "runtime/spec.h"
#include "tests/models.h"

using namespace test;
using linnet::Matrix;

namespace {

struct Golden {
  Tokens tokens, greedy;
  std::vector<Row> logits;  // (n_tokens, n_vocab)
};

Golden read_golden(const std::string& name) {
  Golden g;
  const auto json = nlohmann::json::parse(slurp("tests/golden/" + name + "/golden.json"));
  g.tokens = json["tokens"].get<Tokens>();
  g.greedy = json["greedy"].get<Tokens>();
  const std::string npy = slurp("tests/golden/" + name + "/golden_logits.npy");
  REQUIRE(npy.substr(1, 5) == "NUMPY");
  const size_t header = 10 + static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]);
  const size_t n_vocab = (npy.size() - header) / 4 / g.tokens.size();
  for (size_t i = 0; i < g.tokens.size(); ++i) {
    Row row(n_vocab);
    std::memcpy(row.data(), npy.data() + header + i * n_vocab * 4, n_vocab * 4);
    g.logits.push_back(row);
  }
  return g;
}

// The goldens, and how far INT8 in groups (twice that with one scale per output) and FP8 may be from them: mean KL divergence.
struct Family {
  const char* name;
  double i8 = 5e-3, f8 = 3e-2;
};
constexpr Family kFamilies[] = {
    {"llama"}, {"llama-mha-linear"}, {"mistral"}, {"qwen2"}, {"qwen3"}, {"smollm2"}, {"mistral-window"}, {"qwen2-window"}, {"llama-k-outliers"}, {"deepseek-v2"}, {"deepseek-v2-qlora"},
    {"gpt2"}, {"gemma2"}, {"phi3"}, {"phi3-longrope"}, {"phi4-mini"}, {"gpt-neox"}, {"llama-dynamic"},
    {"gptj"}, {"falcon-7b"}, {"falcon-40b"}, {"falcon-11b"}, {"falcon-rw"}, {"opt"}, {"opt-350m"}, {"bloom"}, {"mpt"}, {"starcoder2"}, {"phi"}, {"phi-qk-norm"}, {"gemma"}, {"gemma3"}, {"gemma3-whole"}, {"llama-reglu"}, {"llama-glu"}, {"llama-yarn"},
    // With experts: where a router is near a tie, rounding sends a row to another one.
    {"mixtral", 8e-3, 0.15}, {"qwen2-moe"}, {"qwen3-moe", 5e-3, 8e-2}, {"deepseek-v2-moe", 1.2e-2, 0.15}, {"deepseek-v3", 5e-3, 0.2}, {"granite-moe"}, {"gpt-oss"},
    {"llama4", 8e-3, 5e-2}, {"switch", 5e-3, 5e-2},
    {"smollm3"}, {"olmo2"}, {"olmo3"}, {"ministral3"}, {"cohere"}, {"cohere-plus"}, {"cohere2"}, {"hunyuan"}, {"granite"}, {"stablelm"}, {"stablelm-12b"}, {"glm4"}, {"ernie4-5"},
};

// The mutable bytes of a packed matrix.
struct Packed {
  uint8_t* panels;
  float* scales;
  Matrix m;
};
Packed packed_matrix(Model& model, linnet::Role role, uint32_t layer) {
  auto gguf = std::make_unique<linnet::Gguf>();
  linnet_error err{};
  check(linnet::gguf_open(model.image.data, model.image.bytes, "image", gguf.get(), &err), err);
  linnet::ModelSpec spec;
  check(linnet::spec_read(*gguf, &spec, &err), err);
  Matrix m;
  check(linnet::find_matrix(*gguf, role, layer, spec, &m, &err), err);
  return {const_cast<uint8_t*>(static_cast<const uint8_t*>(m.panels)), const_cast<float*>(static_cast<const float*>(m.scales)), m};
}

// The up matrix of a layer, or where it has experts theirs.
Packed up_matrix(Model& model, uint32_t layer) {
  const Packed up = packed_matrix(model, linnet::kFfnUp, layer);
  return up.panels ? up : packed_matrix(model, linnet::kExpertUp, layer);
}

}  // namespace

TEST_CASE("f32 logits equal those of transformers") {
  for (const auto& [name, kl_i8, kl_f8] : kFamilies) {
    const Golden g = read_golden(name);
    const Model model(std::string("tests/golden/") + name, LINNET_F32);
    const auto logits = all_logits(model, g.tokens, LINNET_F32);
    REQUIRE(logits.size() == g.logits.size());
    REQUIRE(logits[0].size() == g.logits[0].size());
    const double error = max_error(g.logits, logits);
    std::printf("golden %-17s f32 error %.2e of the largest logit\n", name, error);
    INFO(name);
    CHECK(error < 2e-5);  // the two kinds of GELU are 1e-4 apart

    Session session(model, params(LINNET_F32, 1, 0, 0, static_cast<uint32_t>(g.tokens.size() + g.greedy.size())));  // the length that RoPE looks at, too
    session.prefill(g.tokens);
    Tokens greedy;
    for (size_t i = 0; i < g.greedy.size(); ++i) greedy.push_back(session.decode());
    CHECK(greedy == g.greedy);
  }
}

TEST_CASE("negative control: a row of weights 2 % off fails the f32 check") {
  for (const auto& [name, kl_i8, kl_f8] : kFamilies) {
    const Golden g = read_golden(name);
    Model model(std::string("tests/golden/") + name, LINNET_F32, 0, false);
    const Packed up = up_matrix(model, 1);
    float* panel = reinterpret_cast<float*>(up.panels);  // [k][16]: output 0 of the first panel
    for (uint32_t k = 0; k < up.m.k; ++k) panel[k * 16] *= 1.02f;
    model.open(0);
    INFO(name);
    CHECK(max_error(g.logits, all_logits(model, g.tokens, LINNET_F32)) > 1e-4);
  }
}

TEST_CASE("f16, bf16 and integer weights stay near") {
  const struct {
    linnet_format weights, kv;
    double kl, of_i8 = 0, of_f8 = 0;  // a figure, or times the family's
  } kinds[] = {{LINNET_F16, LINNET_F16, 1e-4}, {LINNET_BF16, LINNET_BF16, 0, 0.1}, {LINNET_I8, LINNET_I8, 0, 2}, {LINNET_I8G128, LINNET_I8, 0, 1}, {LINNET_I8G64, LINNET_I8, 0, 1},
               {LINNET_I8G32, LINNET_I8, 0, 1}, {LINNET_F8E4M3, LINNET_I8, 0, 0, 1}};
  for (const auto& [name, kl_i8, kl_f8] : kFamilies) {
    const Golden g = read_golden(name);
    for (const auto& kind : kinds) {
      const Model model(std::string("tests/golden/") + name, kind.weights);
      const double mean = mean_kl(g.logits, all_logits(model, g.tokens, kind.kv));
      std::printf("golden %-17s weights %-6s kv %-4s KL %.2e\n", name, linnet_format_name(kind.weights), linnet_format_name(kind.kv), mean);
      INFO(name << " " << linnet_format_name(kind.weights));
      CHECK(mean < kind.kl + kind.of_i8 * kl_i8 + kind.of_f8 * kl_f8);
    }
  }
}

TEST_CASE("negative controls: INT8 with swapped scale groups or a matrix 2 % off is caught") {
  for (const auto& [name, kl_i8, kl_f8] : kFamilies) {
    const Golden g = read_golden(name);
    const std::string src = std::string("tests/golden/") + name;
    const Model clean(src, LINNET_I8G32);
    const auto want = all_logits(clean, g.tokens, LINNET_I8);

    Model swapped(src, LINNET_I8G128, 0, false);  // scales of the first two panels' outputs change places, in every layer's up and down
    for (uint32_t layer = 0; layer < clean.desc.n_layers; ++layer)
      for (const linnet::Role role : {linnet::kFfnUp, linnet::kFfnDown, linnet::kAttnV, linnet::kAttnVB}) {
        const Packed w = packed_matrix(swapped, role, layer);
        if (!w.panels) continue;  // V comes from one of two
        for (uint32_t i = 0; i < 8; ++i) std::swap(w.scales[i], w.scales[15 - i]);
      }
    swapped.open(0);
    const double kl_swapped = mean_kl(g.logits, all_logits(swapped, g.tokens, LINNET_I8));
    INFO(name << " swapped scales: KL " << kl_swapped);
    CHECK(kl_swapped > 5e-3);

    // 2 % on one matrix lies below INT8's own noise, so the bits are what catches it.
    Model off(src, LINNET_I8G32, 0, false);
    const Packed w = up_matrix(off, 1);
    uint16_t* half = reinterpret_cast<uint16_t*>(w.scales);
    half[0] = linnet::f32_to_f16(linnet::f16_to_f32(half[0]) * 1.02f);
    off.open(0);
    const auto got = all_logits(off, g.tokens, LINNET_I8);
    bool same = true;
    for (size_t i = 0; i < want.size(); ++i) same = same && same_bytes(want[i], got[i]);
    CHECK_FALSE(same);
  }
}

TEST_CASE("KV formats: how far logits are from those of an f32 cache") {
  const linnet_format formats[] = {LINNET_F16, LINNET_BF16, LINNET_I8, LINNET_F8E4M3, LINNET_F8E5M2};
  const auto compare = [&](const std::string& name, const Model& model, const Tokens& tokens, double i8_limit, bool in_order) {
    const auto want = all_logits(model, tokens, LINNET_F32);
    std::printf("KV cache %-17s", name.c_str());
    double kl[std::size(formats)];
    for (size_t i = 0; i < std::size(formats); ++i) {
      kl[i] = mean_kl(want, all_logits(model, tokens, formats[i]));
      std::printf(" %s %.1e", linnet_format_name(formats[i]), kl[i]);
    }
    std::printf("\n");
    INFO(name);
    CHECK(kl[0] < 1e-5);
    CHECK(kl[2] < i8_limit);
    CHECK(kl[2] < kl[3]);  // 8 bits with a scale per 32 channels carry more than FP8
    if (in_order) CHECK(kl[3] < kl[4]);
    CHECK(kl[4] < 0.2);
  };
  for (const auto& [name, kl_i8, kl_f8] : kFamilies) compare(name, Model(std::string("tests/golden/") + name, LINNET_F32), read_golden(name).tokens, 0.4 * kl_i8, kl_f8 < 0.04);  // a row that goes to another expert is far off whatever sent it there
  const std::string ask = "<|user|>set a timer for ten minutes and another one for a quarter of an hour and turn the lights off in the kitchen please";
  const Model assistant("examples/assistant/model/checkpoint", LINNET_F32);
  compare("assistant", assistant, tokenize(assistant, ask), 1e-3, true);
  if (const std::string folder = data_path("models/stories260K"), sample = data_path("vectors/text/tinystories_sample.txt"); !folder.empty() && !sample.empty()) {
    const Model stories(folder, LINNET_F32);
    Tokens tokens = tokenize(stories, slurp(sample));
    tokens.resize(std::min<size_t>(tokens.size(), 500));
    compare("stories260K", stories, tokens, 1e-3, true);
  } else {
    std::printf("skipped: no stories260K under LINNET_DATA or ../shared/data\n");
  }
}

TEST_CASE("stories260K: published greedy text, perplexity, HF folder equals GGUF") {
  const std::string folder = data_path("models/stories260K"), gguf = data_path("models/stories260Ktok512.gguf");
  if (folder.empty() || gguf.empty()) return;
  const Model hf(folder, LINNET_F32), other(gguf, LINNET_F32);

  const auto json = nlohmann::json::parse(slurp(folder + "/golden.json"));
  const Tokens ids = json["ids"].get<Tokens>();
  CHECK(tokenize(hf, json["text"].get<std::string>()) == ids);
  CHECK(tokenize(other, json["text"].get<std::string>()) == ids);

  const auto logits = all_logits(hf, ids, LINNET_F32);
  const double perplexity = std::exp(mean_nll(logits, ids)), want = std::exp(json["nll_sum"].get<double>() / static_cast<double>(ids.size() - 1));
  std::printf("stories260K f32 perplexity %.6f, published %.6f\n", perplexity, want);
  CHECK(std::fabs(perplexity - want) < 1e-4);
  Row last;
  std::istringstream lines(slurp(folder + "/logits_last_golden.txt"));
  for (float v; lines >> v;) last.push_back(v);
  CHECK(max_error({last}, {logits.back()}) < 1e-4);

  // The GGUF has the channels of q and k in another order, so sums differ in their last bits.
  const double apart = max_error(logits, all_logits(other, ids, LINNET_F32));
  std::printf("stories260K HF folder and GGUF: logits %.1e apart\n", apart);
  CHECK(apart < 1e-5);

  for (const Model* m : {&hf, &other}) {
    Session s(*m, params(LINNET_F32, 1, 0, 0, 256));  // the GGUF names a context of 128
    s.prefill(tokenize(*m, ""));             // BOS
    Tokens drawn;
    for (int i = 0; i < 200; ++i) drawn.push_back(s.decode());
    std::string text = slurp(folder + "/greedy_200.txt");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    CHECK(detokenize(*m, drawn) == text);
  }
}

TEST_CASE("stories260K: INT8 perplexity within 1 % of f32, and a damaged model is not") {
  const std::string folder = data_path("models/stories260K"), sample = data_path("vectors/text/tinystories_sample.txt");
  if (folder.empty() || sample.empty()) return;
  const std::string text = slurp(sample);
  auto perplexity = [&](const Model& m, uint32_t kv) {
    Tokens ids = tokenize(m, text);
    double sum = 0, n = 0;
    for (size_t at = 0; at + 1 < ids.size(); at += 511) {  // windows of the trained context
      Tokens window(1, ids[0]);
      for (size_t i = at + (at == 0); i < std::min(at + 512, ids.size()); ++i) window.push_back(ids[i]);
      if (window.size() < 2) break;
      sum += mean_nll(all_logits(m, window, kv), window) * static_cast<double>(window.size() - 1);
      n += static_cast<double>(window.size() - 1);
    }
    return std::exp(sum / n);
  };
  const double f32 = perplexity(Model(folder, LINNET_F32), LINNET_F32);
  for (const linnet_format f : {LINNET_I8, LINNET_I8G128, LINNET_I8G64, LINNET_I8G32}) {
    if (kSlow && f != LINNET_I8G128) continue;
    const double i8 = perplexity(Model(folder, f), LINNET_I8);
    std::printf("stories260K perplexity f32 %.4f, %s %.4f (%+.3f %%)\n", f32, linnet_format_name(f), i8, (i8 / f32 - 1) * 100);
    CHECK(std::fabs(i8 / f32 - 1) < 0.01);
  }
  Model damaged(folder, LINNET_I8G64, 0, false);
  for (uint32_t layer = 0; layer < 5; ++layer) {
    const Packed w = packed_matrix(damaged, linnet::kFfnDown, layer);
    for (uint32_t i = 0; i < 16; ++i) std::swap(w.scales[i], w.scales[16 + i]);  // two groups of the first panel
  }
  damaged.open(0);
  CHECK(std::fabs(perplexity(damaged, LINNET_I8) / f32 - 1) > 0.01);
}
