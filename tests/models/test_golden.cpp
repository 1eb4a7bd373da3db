// Whole models against what others computed: Hugging Face transformers (tests/golden), and the published stories260K.
#define JSON_NOEXCEPTION 1  // as the library is compiled
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "platform/crc32c.h"
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
    {"llama"},
    {"llama-mha-linear"},
    {"mistral"},
    {"qwen2"},
    {"qwen3"},
    {"smollm2"},
    {"mistral-window"},
    {"qwen2-window"},
    {"llama-k-outliers"},
    {"deepseek-v2"},
    {"deepseek-v2-qlora"},
    {"gpt2"},
    {"gemma2"},
    {"phi3"},
    {"phi3-longrope"},
    {"phi4-mini"},
    {"gpt-neox"},
    {"llama-dynamic"},
    {"gptj"},
    {"falcon-7b"},
    {"falcon-40b"},
    {"falcon-11b"},
    {"falcon-rw"},
    {"opt"},
    {"opt-350m"},
    {"bloom"},
    {"mpt"},
    {"starcoder2"},
    {"phi"},
    {"phi-qk-norm"},
    {"gemma"},
    {"gemma3"},
    {"gemma3-whole"},
    {"gemma3n", 1.2e-2, 0.15},
    {"gemma3n-gates", 1.5e-2, 0.15},
    {"gemma4"},
    {"gemma4-e2b"},
    {"gemma4-moe", 2e-2, 0.15},
    {"gemma4-unified"},
    {"llama-reglu"},
    {"llama-glu"},
    {"llama-yarn"},
    // With experts: where a router is near a tie, rounding sends a row to another one.
    {"mixtral", 8e-3, 0.15},
    {"qwen2-moe"},
    {"qwen3-moe", 5e-3, 8e-2},
    {"deepseek-v2-moe", 1.2e-2, 0.15},
    {"deepseek-v3", 5e-3, 0.2},
    {"granite-moe"},
    {"gpt-oss"},
    {"llama4", 8e-3, 5e-2},
    {"switch", 5e-3, 5e-2},
    {"glm4-moe-lite", 1.2e-2, 0.15},
    {"youtu"},
    {"minicpm3"},
    {"olmoe", 1.2e-2, 0.15},
    {"dots1", 1.2e-2, 0.15},
    {"glm4-moe", 1.2e-2, 0.15},
    {"ernie4-5-moe", 1.2e-2, 0.15},
    {"hunyuan-moe", 1.2e-2, 0.15},
    {"afmoe", 1.2e-2, 0.15},
    {"smollm3"},
    {"olmo2"},
    {"olmo3"},
    {"ministral3"},
    {"cohere"},
    {"cohere-plus"},
    {"cohere2"},
    {"hunyuan"},
    {"granite"},
    {"stablelm"},
    {"stablelm-12b"},
    {"glm4"},
    {"ernie4-5"},
    {"granite4"},
    {"granite4-h"},
    {"granite4-h-moe", 1.2e-2, 0.15},
    {"nemotron-h", 5e-3, 0.15},
    {"nemotron-h-moe", 1.2e-2, 0.15},
    {"bamba", 6e-3, 0.15},
    {"mamba2", 6e-3, 0.15},
    {"falcon-h1", 5e-3, 0.06},
    {"falcon-h1-norm", 5e-3, 0.06},
    {"granite-swa"},
    {"hyperclovax"},
    {"seed-oss"},
    {"cwm"},
    {"exaone4"},
    {"exaone4-full"},
    {"arcee"},
    {"jais2"},
    {"vaultgemma"},
    {"lfm2"},
    {"qwen3-5", 6e-3, 0.15},
    {"qwen3-5-moe", 1.2e-2, 0.15},
    {"qwen3-next", 1.2e-2, 0.15},
    {"olmo-hybrid", 5e-3, 0.15},
    {"kimi-linear", 1.2e-2, 0.15},
    {"lfm2-taps"},
    {"lfm2-moe", 1.2e-2, 0.15},
    {"lfm3", 1.2e-2, 0.15},
    {"nanochat"},
    {"apertus"},
    {"phimoe", 1.2e-2, 0.15},
    {"bitnet"},
};

// The mutable bytes of a packed matrix.
struct Packed {
  uint8_t* panels;
  float* scales;
  Matrix m;
  linnet::ModelSpec spec;
};
Packed packed_matrix(Model& model, linnet::Role role, uint32_t layer) {
  auto gguf = std::make_unique<linnet::Gguf>();
  linnet_error err{};
  check(linnet::gguf_open(model.image.data, model.image.bytes, "image", gguf.get(), &err), err);
  linnet::ModelSpec spec;
  check(linnet::spec_read(*gguf, &spec, &err), err);
  Matrix m;
  check(linnet::find_matrix(*gguf, role, layer, spec, &m, &err), err);
  return {const_cast<uint8_t*>(static_cast<const uint8_t*>(m.panels)), const_cast<float*>(static_cast<const float*>(m.scales)), m, spec};
}

// The up matrix of a layer, or where it has experts theirs, or Mamba-2's first; where most gates are 0, of which any may always be, that
// of values.
Packed up_matrix(Model& model, uint32_t layer) {
  const Packed values = packed_matrix(model, linnet::kAttnV, layer);
  if (values.spec.n_layers && linnet::layer_spec(values.spec, layer).sparse) return values;
  const Packed up = packed_matrix(model, linnet::kFfnUp, layer);
  if (up.panels) return up;
  const Packed experts = packed_matrix(model, linnet::kExpertUp, layer);
  return experts.panels ? experts : packed_matrix(model, linnet::kMambaIn, layer);
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

    Session session(model, params(LINNET_F32, 1, 0, 0,
                                  static_cast<uint32_t>(g.tokens.size() + g.greedy.size())));  // the length that RoPE looks at, too
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
  } kinds[] = {{LINNET_F16, LINNET_F16, 1e-4},     {LINNET_BF16, LINNET_BF16, 0, 0.1}, {LINNET_I8, LINNET_I8, 0, 2},
               {LINNET_I8G128, LINNET_I8, 0, 1},   {LINNET_I8G64, LINNET_I8, 0, 1},    {LINNET_I8G32, LINNET_I8, 0, 1},
               {LINNET_F8E4M3, LINNET_I8, 0, 0, 1}};
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
      for (const linnet::Role role : {linnet::kFfnUp, linnet::kFfnDown, linnet::kAttnV, linnet::kAttnVB, linnet::kMambaOut}) {
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
    if (kl[4] == 0) return;  // no layer looks back at keys
    CHECK(kl[2] < kl[3]);    // 8 bits with a scale per 32 channels carry more than FP8
    if (in_order) CHECK(kl[3] < kl[4]);
    CHECK(kl[4] < 0.2);
  };
  for (const auto& [name, kl_i8, kl_f8] : kFamilies)
    compare(name, Model(std::string("tests/golden/") + name, LINNET_F32), read_golden(name).tokens, 0.4 * kl_i8,
            kl_f8 < 0.04);  // a row that goes to another expert is far off whatever sent it there
  const Model assistant("examples/assistant/model/checkpoint", LINNET_F32);
  compare("assistant", assistant, tokenize(assistant, assistant_requests()), 1e-3, true);
  if (const std::string folder = data_path("models/stories260K"), sample = data_path("vectors/text/tinystories_sample.txt");
      !folder.empty() && !sample.empty()) {
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
  const double perplexity = std::exp(mean_nll(logits, ids)),
               want = std::exp(json["nll_sum"].get<double>() / static_cast<double>(ids.size() - 1));
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
    s.prefill(tokenize(*m, ""));                      // BOS
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

// ---- GGUF: what llama.cpp's converter makes of the goldens (tests/golden/gguf_listing.txt) ----

namespace {

// A model as the listing has it: keys and their values, tensors and "type dimensions checksum".
struct Listed {
  std::string name;
  nlohmann::json config;  // what of config.json is another than the golden's
  std::map<std::string, std::string> keys, tensors;
};

std::vector<Listed> read_listing() {
  std::vector<Listed> out;
  std::istringstream lines(slurp("tests/golden/gguf_listing.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::string kind = line.substr(0, line.find(' ')), rest = line.substr(kind.size() + 1);
    const size_t space = rest.find(' ');
    if (kind == "model") out.push_back({rest, {}, {}, {}});
    if (kind == "config") out.back().config = nlohmann::json::parse(rest);
    if (kind == "key") out.back().keys[rest.substr(0, space)] = rest.substr(space + 1);
    if (kind == "tensor") out.back().tensors[rest.substr(0, space)] = rest.substr(space + 1);
  }
  return out;
}

bool same_value(const linnet::GgufValue& v, const std::string& listed) {
  double f = 0;
  uint64_t u = 0;
  if (v.type == linnet::kGgufString) return listed == "\"" + std::string(v.text) + "\"";
  if (v.type == linnet::kGgufBool) return listed == (v.u ? "true" : "false");
  if (v.type == linnet::kGgufArray) {
    std::string text = "[";
    if (v.array_type == linnet::kGgufI32) {
      for (size_t at = 0; at < v.raw.size(); at += 4) {
        int32_t n;
        std::memcpy(&n, v.raw.data() + at, 4);
        text += (at ? "," : "") + std::to_string(n);
      }
      return text + "]" == listed;
    }
    if (v.array_type == linnet::kGgufF32) {
      std::istringstream list(listed.substr(1));
      std::string entry;
      for (size_t at = 0; at < v.raw.size(); at += 4) {
        float x;
        std::memcpy(&x, v.raw.data() + at, 4);
        if (!std::getline(list, entry, ',') || std::strtof(entry.c_str(), nullptr) != x) return false;
      }
      return !std::getline(list, entry);
    }
    for (const char c : v.raw) text += (text.size() > 1 ? "," : "") + std::string(c ? "true" : "false");
    return v.array_type == linnet::kGgufBool && text + "]" == listed;
  }
  if (v.is_uint(&u)) return listed == std::to_string(u);
  return v.is_number(&f) && listed.find_first_of(".e") != std::string::npos && std::strtod(listed.c_str(), nullptr) == f;
}

// Their keys that are not ours: what goes without saying, what their converter takes as 4 times d_model whatever the tensors are, and what
// it says of the experts of models without any.
bool theirs_alone(const std::string& model, const std::string& key, const std::string& value) {
  if (key.ends_with(".rope.scaling.type") && value == "\"none\"") return true;
  if (model == "granite4" &&
      (key.find(".ssm.") != key.npos || key.find(".expert_") != key.npos || value.starts_with("[") || value == "true"))
    return true;
  if (model.starts_with("granite4-h"))  // its context is another whatever the model's
    return key.ends_with(".context_length") || (model == "granite4-h" && key.find(".expert_") != key.npos) ||
           key.ends_with(".rope.freq_base") || key.ends_with(".rope.dimension_count");  // of no RoPE
  if (model.starts_with("nemotron-h") && (key.ends_with(".context_length") || key.ends_with(".rope.dimension_count"))) return true;
  if (key.ends_with(".expert_group_count") || key.ends_with(".expert_group_used_count")) return value == "1";
  if (key.ends_with(".nextn_predict_layers")) return value == "0";
  if (key.ends_with(".feed_forward_length")) return model == "falcon-40b" || model == "gpt2" || model == "phi";
  return (model == "deepseek-v2" || model == "deepseek-v2-qlora") && key.find(".expert_") != std::string::npos;
}
// Our keys that are not theirs: what readers take for granted, and windows that their converter leaves out.
constexpr std::string_view kOursAlone[] = {"attention.key_length",
                                           "attention.value_length",
                                           "attention.head_count_kv",
                                           "rope.dimension_count",
                                           "rope.freq_base",
                                           "expert_feed_forward_length",
                                           "expert_gating_func",
                                           "feed_forward_length",
                                           "attention.sliding_window",
                                           "attention.sliding_window_pattern",
                                           "rope.scaling.original_context_length"};

// A golden's folder, with changes to its config.json.
struct Changed {
  std::string path;
  Changed(const std::string& name, const nlohmann::json& changes) {
    std::random_device random;
    do path = (std::filesystem::temp_directory_path() / ("linnet-golden-" + std::to_string(random()))).string();
    while (!std::filesystem::create_directory(path));
    for (const auto& file : std::filesystem::directory_iterator("tests/golden/" + name))
      if (file.path().filename().string().starts_with("model")) std::filesystem::copy(file, path);
    auto config = nlohmann::json::parse(slurp("tests/golden/" + name + "/config.json"));
    for (const auto& [key, value] : changes.items()) {
      config.erase(key);
      if (!value.is_null()) config[key] = value;
    }
    std::ofstream(path + "/config.json", std::ios::binary) << config;
  }
  ~Changed() { std::filesystem::remove_all(path); }
  Changed(const Changed&) = delete;
};

linnet_status to_plain(const std::string& src, const std::string& path, linnet_error* err) {
  linnet::convert::Options options;
  options.plain = true;
  options.weights = LINNET_F32;
  return linnet::convert::convert_to_file(src, path, options, err);
}

}  // namespace

TEST_CASE("plain GGUF: the files of llama.cpp's converter, tensor by tensor and key by key, and the same logits when read") {
  linnet_error err{};
  for (const Listed& listed : read_listing()) {
    INFO(listed.name);
    const Changed folder(listed.name, listed.config);
    const std::string path = folder.path + "/plain.gguf";
    check(to_plain(folder.path, path, &err), err);
    const std::string bytes = slurp(path);
    const auto g = std::make_unique<linnet::Gguf>();
    check(linnet::gguf_open(bytes.data(), bytes.size(), "plain", g.get(), &err), err);

    std::map<std::string, std::string> tensors;
    for (uint32_t i = 0; i < g->n_tensors; ++i) {
      linnet::GgufTensor t;
      g->tensor_entry(i, &t);
      char crc[16];
      std::snprintf(crc, sizeof crc, " %08x", linnet::crc32c(0, t.data, t.bytes));
      std::string& text = tensors[std::string(t.name)] = linnet::ggml_type(t.type).name;
      for (uint32_t d = 0; d < t.n_dims; ++d) text += (d ? "x" : " ") + std::to_string(t.dims[d]);
      text += crc;
    }
    CHECK(tensors == listed.tensors);
    const std::string prefix = listed.keys.at("general.architecture").substr(1, listed.keys.at("general.architecture").size() - 2) + ".";
    for (const auto& [key, value] : listed.keys) {
      linnet::GgufValue v;
      INFO(key << " = " << value);
      if (!theirs_alone(listed.name, key, value)) CHECK((g->key(key, &v) && same_value(v, value)));
    }
    for (uint32_t i = 0; i < g->n_keys; ++i) {
      std::string_view key;
      linnet::GgufValue v;
      g->key_entry(i, &key, &v);
      if (!key.starts_with(prefix) || listed.keys.count(std::string(key))) continue;
      INFO(key);
      CHECK(std::count(std::begin(kOursAlone), std::end(kOursAlone), key.substr(prefix.size())) == 1);
    }

    const Tokens tokens = read_golden(listed.name).tokens;
    const auto want = all_logits(Model(folder.path, LINNET_F32), tokens, LINNET_F32),
               got = all_logits(Model(path, LINNET_F32), tokens, LINNET_F32);
    bool same = want.size() == got.size();
    for (size_t i = 0; same && i < want.size(); ++i) same = same_bytes(want[i], got[i]);
    CHECK(same);
  }
}

TEST_CASE("plain GGUF: RoPE beside Mamba-2 of Granite, which llama.cpp's converter leaves out") {
  linnet_error err{};
  const Changed folder("granite4-h-moe", {{"time_step_limit", nullptr}});
  check(to_plain(folder.path, folder.path + "/plain.gguf", &err), err);
  const Tokens tokens = read_golden("granite4-h-moe").tokens;
  const auto want = all_logits(Model(folder.path, LINNET_F32), tokens, LINNET_F32),
             got = all_logits(Model(folder.path + "/plain.gguf", LINNET_F32), tokens, LINNET_F32);
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(same_bytes(want[i], got[i]));
}

TEST_CASE("plain GGUF: what a file cannot say is refused by name") {
  linnet_error err{};
  const struct {
    const char *name, *what;
  } cases[] = {{"llama-dynamic", "'llama' cannot say rope_scaling = 3"},
               {"qwen2-window", "'qwen2' cannot say window_from = 1"},
               {"switch", "'qwen3moe' cannot say router_norm = 0"},
               {"gpt-oss", "'gpt-oss' cannot say act_limit = 1.5"},
               {"gemma2", "'gemma2' cannot say attn_scale = 0.27"},
               {"smollm3", "'smollm3' cannot say nope_pattern = 3"},
               {"llama4", "attention.sliding_window' = 18"},
               {"afmoe", "attention.sliding_window_pattern': the period is 3"},
               {"deepseek-v2-moe", "'deepseek2' cannot say rope_attn_factor"},
               {"falcon-rw", "'falcon' cannot say the slopes"},
               {"minicpm3", "'minicpm3' cannot say embd_scale = 3"},
               {"falcon-h1-norm", "'falcon-h1' cannot say embd_scale = 1.5"},
               {"gptj", "architecture 'gptj'"},
               {"phimoe", "architecture 'phimoe'"},
               {"bitnet", "architecture 'bitnet'"},
               {"opt", "architecture 'opt'"},
               {"gemma3n", "final_logit_softcapping' = 12"}};
  for (const auto& c : cases) {
    const Changed folder(c.name, {});
    const linnet_status status = to_plain(folder.path, folder.path + "/plain.gguf", &err);
    INFO(c.name << ": " << err.text);
    CHECK(status == LINNET_UNSUPPORTED);
    CHECK(std::string(err.text).find(folder.path + ": plain GGUF: ") == 0);
    CHECK(std::string(err.text).find(c.what) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path + "/plain.gguf"));
  }
}
