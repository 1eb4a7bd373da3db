// What rounding activations costs, on a tiny model with heavy-tailed weights and outlier channels, against llama.cpp on the same files.
#include <unistd.h>

#include <filesystem>

#include "tests/gguf_file.h"
#include "tests/models.h"

using namespace test;

namespace {

constexpr uint32_t kChannels = 512, kHidden = 512, kVocab = 256, kLayers = 2, kTokens = 96;

struct Random {
  uint64_t state;
  uint32_t bits() { return static_cast<uint32_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33); }
  double uniform() { return (bits() + 0.5) * 0x1p-31; }
  // Tails like those of Student's t with 4 degrees of freedom, of operations that are rounded alike everywhere; standard deviation 0.886.
  double heavy() {
    const double v = 2 * uniform() - 1;
    return v / std::sqrt(std::sqrt(1 - v * v));
  }
};

// One channel of `every` is `times` as large.
struct Planted {
  uint64_t every;
  double times;
  bool at(uint64_t channel) const { return channel % every == 13; }
  double operator()(uint64_t channel) const { return at(channel) ? times : 1; }
};

// Outlier channels as trained models have them: 2 of the 512 of the residual stream, alike in every token and there 24 times as large as
// the others, 36 times behind the norms; one in each head's values and 2 of the 512 between up and down, 5 times. What reads them has
// smaller weights there, so that they do not drown the rest.
GgufFile outlier_model() {
  constexpr Planted kNone{512, 1}, kNorm{256, 1.5}, kRead{256, 1.0 / 12}, kHead{64, 5}, kReadHead{64, 0.2}, kUp{256, 5}, kReadUp{256, 0.2};
  const struct {
    const char* name;
    double gain;
    Planted in, out;
  } parts[] = {{"attn_q", 2, kRead, kNone},          {"attn_k", 2, kRead, kNone},       {"attn_v", 1.5, kRead, kHead},
               {"attn_output", 1, kReadHead, kNone}, {"ffn_gate", 1.5, kRead, kNone},   {"ffn_up", 1.5, kRead, kUp},
               {"ffn_down", 1, kReadUp, kNone},      {"output.weight", 4, kRead, kNone}};
  Random random{2026};
  GgufFile f = tiny_model(linnet::kGgmlF32, kLayers, "llama", {.d_model = kChannels, .n_heads = 8, .d_ff = kHidden, .n_vocab = kVocab});
  f.tensors.push_back({"output.weight", {kChannels, kVocab}, linnet::kGgmlF32, ""});
  f.key("llama.context_length")->value = le(uint32_t{linnet::kGgufU32}) + le(kTokens);
  for (GgufFile::Tensor& t : f.tensors) {
    const uint64_t k = t.dims[0], n = t.dims.size() == 2 ? t.dims[1] : 1;
    const auto* part = parts;
    while (n > 1 && part < std::end(parts) && t.name.find(part->name) == std::string::npos) ++part;
    std::vector<float> values;
    for (uint64_t i = 0; i < n * k; ++i) {
      double v;
      if (n == 1)
        v = (0.8 + 0.4 * random.uniform()) * kNorm(i);
      else if (part == std::end(parts))  // the embedding
        v = random.heavy() + (kNorm.at(i % k) ? 24 : 0);
      else
        v = random.heavy() * part->gain / std::sqrt(static_cast<double>(k)) * part->in(i % k) * part->out(i / k);
      values.push_back(static_cast<float>(v));
    }
    t.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return f;
}

// Goes away with what is in it; LINNET_KEEP=FOLDER keeps the files there, for other programs to read.
struct Folder {
  std::string path;
  const char* keep = std::getenv("LINNET_KEEP");
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "linnet-test-XXXXXX").string();
    path = keep ? keep : mkdtemp(name.data());
  }
  ~Folder() {
    if (!keep) std::filesystem::remove_all(path);
  }
  std::string at(const std::string& name) const { return path + "/" + name; }
};

std::string plain(const std::string& from, linnet_format format, const std::string& to) {
  linnet::convert::Options options;
  options.weights = format;
  options.plain = true;
  options.max_error = 1;
  linnet_error err{};
  check(linnet::convert::convert_to_file(from, to, options, &err), err);
  return to;
}

struct Errors {
  double logits, kl;  // root mean square of the differences over that of the logits, each position about its mean; nats
};
Errors errors(const std::vector<Row>& want, const std::vector<Row>& got) {
  double squares = 0, differences = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double mean = 0, mean_difference = 0;
    const double n = static_cast<double>(want[i].size());
    for (size_t j = 0; j < want[i].size(); ++j) {
      const double w = static_cast<double>(want[i][j]);
      mean += w / n, mean_difference += (static_cast<double>(got[i][j]) - w) / n;
    }
    for (size_t j = 0; j < want[i].size(); ++j) {
      const double w = static_cast<double>(want[i][j]), v = w - mean, e = static_cast<double>(got[i][j]) - w - mean_difference;
      squares += v * v, differences += e * e;
    }
  }
  return {std::sqrt(differences / squares), mean_kl(want, got)};
}

Tokens some_tokens() {
  Random random{7};
  Tokens tokens;
  for (uint32_t i = 0; i < kTokens; ++i) tokens.push_back(static_cast<int32_t>(random.bits() % kVocab));
  return tokens;
}

// The weights of a file as a format holds them, in f32.
std::string held(const std::string& file, linnet_format format, const Folder& folder) {
  linnet::convert::Options options;
  options.weights = format;
  linnet_error err{};
  check(linnet::convert::convert_to_file(file, folder.at("packed.gguf"), options, &err), err);
  return plain(folder.at("packed.gguf"), LINNET_F32, folder.at("held.gguf"));
}

// What llama.cpp makes of the same files and tokens, by errors(): llama-cpp-python 0.3.36 on an AMD EPYC (Zen 4), 2026-11-27, one thread,
// its own defaults (KV cache in f16, flash attention where it likes). LINNET_KEEP=FOLDER leaves the files and prints the tokens; a program
// over its library read them, with the keys tokenizer.ggml.model = "none" and llama.vocab_size = 256 said beside the file, and compared
// with `linnet logits --weights f32 --kv f32`. In f32 the two are 6e-7 apart.
struct Theirs {
  linnet_format format;
  double logits, kl;
  uint32_t group;  // inputs whose activations share a scale there; 32 here
};
constexpr Theirs kTheirs[] = {
    {LINNET_I8G32, 0.03529, 2.473e-03, 32}, {LINNET_I4G32, 0.03666, 2.556e-03, 32},   {LINNET_Q5_0, 0.03564, 2.532e-03, 32},
    {LINNET_MXFP4, 0.03521, 2.272e-03, 32}, {LINNET_Q6_K, 0.06819, 8.698e-03, 256},   {LINNET_Q5_K, 0.0698, 9.428e-03, 256},
    {LINNET_Q4_K, 0.06693, 8.933e-03, 256}, {LINNET_IQ4_XS, 0.06717, 9.369e-03, 256}, {LINNET_Q3_K, 0.06631, 7.726e-03, 256},
    {LINNET_Q2_K, 0.05961, 8.321e-03, 256},
};

}  // namespace

TEST_CASE("activations are rounded no worse than llama.cpp does") {
  const Folder folder;
  const std::string floats = folder.at("f32.gguf");
  std::ofstream(floats, std::ios::binary) << outlier_model().bytes();
  const Tokens tokens = some_tokens();
  if (folder.keep) {
    std::printf("tokens");
    for (const int32_t t : tokens) std::printf(" %d", t);
    std::printf("\n");
  }
  for (const Theirs& theirs : kTheirs) {
    if (kSlow && theirs.format != LINNET_I8G32 && theirs.format != LINNET_Q4_K) continue;
    const std::string name = linnet::convert::plain_name(theirs.format), file = plain(floats, theirs.format, folder.at(name + ".gguf"));
    const auto exact = all_logits(Model(file, LINNET_F32), tokens, LINNET_F32);
    const Model model(file, LINNET_FORMAT_DEFAULT);
    const Errors f16 = errors(exact, all_logits(model, tokens, LINNET_F16)), i8 = errors(exact, all_logits(model, tokens, LINNET_I8));
    // The control: the same weights once more in 8 bits, activations in groups of 128.
    const auto exact_coarse = all_logits(Model(held(file, LINNET_I8G128, folder), LINNET_F32), tokens, LINNET_F32);
    const Errors coarse = errors(exact_coarse, all_logits(Model(file, LINNET_I8G128), tokens, LINNET_F16));
    std::printf("activations of %-6s logits' error %.2f %% (KV f16), %.2f %% (i8), llama.cpp %.2f %%, in groups of 128 %.2f %%; ",
                name.c_str(), 100 * f16.logits, 100 * i8.logits, 100 * theirs.logits, 100 * coarse.logits);
    std::printf("KL %.1e, %.1e, %.1e, %.1e\n", f16.kl, i8.kl, theirs.kl, coarse.kl);
    INFO(name);
    // Groups alike err alike but for luck, and an i8 cache adds its own; smaller groups must show.
    const bool same = theirs.group == 32;
    const Errors most = {theirs.logits * (same ? 1.03 : 0.6), theirs.kl * (same ? 1.15 : 0.4)};
    CHECK(f16.logits < most.logits);
    CHECK(i8.logits < most.logits);
    CHECK(f16.kl < most.kl);
    CHECK(i8.kl < most.kl);
    CHECK(coarse.logits > theirs.logits);
    CHECK(coarse.kl > most.kl);
  }
}
