// The same bytes for every instruction set, thread count, chunk, and way to cut a prompt into calls.
#include <unistd.h>

#include <random>

#include "platform/crc32c.h"
#include "runtime/format.h"
#include "tests/models.h"

using namespace test;

namespace {

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

// Logits of the last `keep` rows of a prompt cut into calls of `call` tokens.
std::vector<Row> run(const Model& model, const Tokens& tokens, const linnet_session_params& p, size_t call) {
  Session s(model, p);
  std::vector<Row> rows;
  for (size_t at = 0; at < tokens.size(); at += call) {
    const Tokens part(tokens.begin() + static_cast<long>(at), tokens.begin() + static_cast<long>(std::min(at + call, tokens.size())));
    s.prefill(part);
    if (at + call >= tokens.size() || call == 1) rows.push_back(s.logits());
  }
  return rows;
}

}  // namespace

TEST_CASE("logits are the same bytes over ISA, threads, chunks, prefill and decode") {
  static constexpr const char* kAssistant = "examples/assistant/model/checkpoint";  // of whole blocks
  const char* const names[] = {"llama",     "llama-mha-linear", "mistral",      "qwen3",       "smollm2",           "llama",
                               "qwen3",     "mistral",          "qwen2-window", "deepseek-v2", "deepseek-v2-qlora", "deepseek-v2-qlora",
                               "qwen2-moe", "deepseek-v3",      "mixtral",      "llama4",      "gpt-oss",           "switch",
                               kAssistant,  kAssistant,         kAssistant,     "qwen3"};
  const linnet_format weights[] = {LINNET_I8G128, LINNET_I8,    LINNET_I8G64,  LINNET_I8G32,  LINNET_F32,   LINNET_I4G64,
                                   LINNET_I4G128, LINNET_I4G32, LINNET_I8G128, LINNET_I8G128, LINNET_I4G64, LINNET_F32,
                                   LINNET_I8G128, LINNET_I4G64, LINNET_F32,    LINNET_I8G64,  LINNET_I8G32, LINNET_I8G128,
                                   LINNET_Q4_K,   LINNET_Q5_K,  LINNET_Q6_K,   LINNET_I4G32Z};
  size_t compared = 0;
  for (size_t which = 0; which < std::size(names); ++which) {
    const std::string src = (names[which] == kAssistant ? "" : "tests/golden/") + std::string(names[which]);
    const linnet_format f = weights[which];
    for (const linnet::FormatRow& row : linnet::kFormats) {
      const uint32_t kv = row.format;
      if (!linnet::format_kv(kv)) continue;
      if (kv != LINNET_I8 && which > 1 && f != LINNET_F32) continue;
      if (!kFull && kv != LINNET_I8 && which != 0 && which != 4 && which != 11) continue;    // codes, floats, latents
      if (linnet::format_groups(kv) && src.find("deepseek") != std::string::npos) continue;  // refused: test_kivi
      const uint32_t n = names[which] == kAssistant ? 70 : 270;                              // past the first attention block of 256
      const bool full = !kSlow && which < (kFull ? 2 : 1) && kv == LINNET_I8;                // the whole grid; the others take its corners
      if (kSanitized && (kv == LINNET_F16 || kv == LINNET_BF16 || kv == LINNET_F8E5M2 || kv == LINNET_KIVI2))
        continue;  // as their neighbours
      if (kSlow && which && (kv != LINNET_I8 || (which != 4 && which != 8 && which != 10 && which != 12)))
        continue;  // floats, windows, latents, experts
      const Model oracle(src, f, LINNET_ISA_SCALAR);
      const Tokens tokens = random_tokens(n, oracle.desc.n_vocab, 7);
      const auto want = run(oracle, tokens, params(kv, 1, n, 1, n), 1);  // one decode after the other
      const std::vector<linnet_isa> here = tiers();
      for (const linnet_isa isa : here) {
        if (kSlow && isa != here.back()) continue;  // check_kernels has all of them
        const Model model(src, f, isa);
        REQUIRE(model.desc.isa == static_cast<uint32_t>(isa));  // the forced tier is the one that runs
        for (const uint32_t threads : {1u, 2u, 3u})
          for (const uint32_t chunk : {1u, 7u, 64u, n}) {
            if (!full && (threads == 2 || chunk == 1 || chunk == 64)) continue;
            auto p = params(kv, threads, chunk, 1, n);
            p.threads = threads == 3 ? LINNET_THREADS_OWN : LINNET_THREADS_DEFAULT;
            const auto got = run(model, tokens, p, n);
            INFO(names[which] << " " << linnet_format_name(f) << " kv " << kv << " isa " << linnet_isa_name(isa) << " threads " << threads
                              << " chunk " << chunk);
            REQUIRE(same_bytes(got.back(), want.back()));
            ++compared;
          }
        if (!full) continue;
        const auto decoded = run(model, tokens, params(kv, 2, 64, 1, n), 1);
        for (uint32_t i = 0; i < n; ++i) REQUIRE(same_bytes(decoded[i], want[i]));
        REQUIRE(same_bytes(run(model, tokens, params(kv, 1, 64, 1, n), 97).back(), want.back()));
      }
    }
  }
  std::printf("%zu runs compared byte for byte\n", compared);
}

// Every step that other families bring: LayerNorm, parallel and normed branches, ALiBi, positions, GELU, softcaps, clipping, two kinds of
// RoPE or none, norms of q and k in every place, multipliers, queries with a temperature.
TEST_CASE("families: the same bytes over ISA, threads and chunks") {
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t kv, n;  // tokens: few where the model has learned positions
  } runs[] = {{"gemma3", LINNET_I8G32, LINNET_I8, 270},        {"gemma2", LINNET_I8G128, LINNET_F16, 270},
              {"bloom", LINNET_I8G128, LINNET_I8, 270},        {"falcon-rw", LINNET_F32, LINNET_F32, 270},
              {"falcon-40b", LINNET_I8, LINNET_I8, 100},       {"opt-350m", LINNET_I8G64, LINNET_I8, 80},
              {"gpt2", LINNET_I4G32, LINNET_BF16, 80},         {"mpt", LINNET_I8G128, LINNET_I8, 270},
              {"gptj", LINNET_I8G128, LINNET_I8, 90},          {"phi3-longrope", LINNET_I8G128, LINNET_I8, 100},
              {"llama-dynamic", LINNET_F16, LINNET_I8, 100},   {"olmo3", LINNET_I8G128, LINNET_I8, 270},
              {"cohere2", LINNET_I8G64, LINNET_I8, 270},       {"stablelm-12b", LINNET_I8, LINNET_I8, 100},
              {"hunyuan", LINNET_I8G32, LINNET_F16, 100},      {"ministral3", LINNET_I8G128, LINNET_I8, 270},
              {"granite", LINNET_I8G32, LINNET_I8, 100},       {"glm4", LINNET_I8G128, LINNET_I8, 100},
              {"lfm2", LINNET_I8G128, LINNET_I8, 100},         {"lfm2-taps", LINNET_F32, LINNET_F16, 100},
              {"qwen3-5", LINNET_I8G128, LINNET_I8, 100},      {"qwen3-5-moe", LINNET_I8G128, LINNET_I8, 100},
              {"olmo-hybrid", LINNET_I8G128, LINNET_I8, 100},  {"kimi-linear", LINNET_I8G128, LINNET_I8, 100},
              {"gemma4", LINNET_I8G128, LINNET_I8, 100},       {"gemma4-e2b", LINNET_I8G128, LINNET_I8, 100},
              {"gemma4-moe", LINNET_I8G32, LINNET_I8, 100},    {"granite4-h", LINNET_I8G128, LINNET_I8, 100},
              {"granite4-h-moe", LINNET_F32, LINNET_I8, 70},   {"nemotron-h-moe", LINNET_I8G128, LINNET_I8, 70},
              {"lfm3", LINNET_I8G128, LINNET_I8, 100},         {"gemma3n", LINNET_I8G128, LINNET_I8, 100},
              {"gemma3n-gates", LINNET_I8G32, LINNET_F16, 70}, {"falcon-h1", LINNET_I8G128, LINNET_I8, 100},
              {"falcon-h1-norm", LINNET_F32, LINNET_F16, 70},  {"apertus", LINNET_I8G128, LINNET_I8, 100},
              {"apertus", LINNET_F32, LINNET_I8, 70},          {"phimoe", LINNET_I8G128, LINNET_I8, 100},
              {"phimoe", LINNET_F32, LINNET_F16, 70},          {"bitnet", LINNET_I8G128, LINNET_I8, 100},
              {"bitnet", LINNET_F32, LINNET_F16, 70}};
  size_t compared = 0;
  for (const auto& r : runs) {
    if (kSlow && r.weights != LINNET_I8G128) continue;
    const std::string src = std::string("tests/golden/") + r.name;
    const Model oracle(src, r.weights, LINNET_ISA_SCALAR);
    const Tokens tokens = random_tokens(r.n, oracle.desc.n_vocab, 31);
    const auto want = run(oracle, tokens, params(r.kv, 1, r.n, 1, r.n), 1);
    const std::vector<linnet_isa> here = tiers();
    for (const linnet_isa isa : here) {
      if (kSlow && isa != here.back()) continue;
      const Model model(src, r.weights, isa);
      for (const uint32_t threads : {1u, 3u})
        for (const uint32_t chunk : {7u, r.n}) {
          auto p = params(r.kv, threads, chunk, 1, r.n);
          if (threads == 3) p.threads = LINNET_THREADS_OWN;
          INFO(r.name << " isa " << linnet_isa_name(isa) << " threads " << threads << " chunk " << chunk);
          REQUIRE(same_bytes(run(model, tokens, p, r.n).back(), want.back()));
          ++compared;
        }
    }
  }
  std::printf("%zu runs of families compared byte for byte\n", compared);
}

// Pinned, so that builds for different processors are held against each other.
TEST_CASE("stories260K: the logits and the text of every machine") {
  const std::string folder = data_path("models/stories260K");
  const std::vector<linnet_isa> here = tiers();
  if (folder.empty() || here.empty()) return;
  const struct {
    linnet_format weights;
    uint32_t kv, crc;
  } runs[] = {{LINNET_I8G128, LINNET_I8, 0x858e839f}, {LINNET_I4G64, LINNET_F16, 0xe208e4b3}, {LINNET_F32, LINNET_F32, 0x6deebbe6}};
  const linnet_isa isa = here.back();
  for (const auto& r : runs) {
    const Model model(folder, r.weights, isa);
    Session s(model, params(r.kv, 2, 16, 1, 200));
    s.prefill(tokenize(model, "Once upon a time, there was a little girl named Lily."));
    uint32_t crc = 0;
    for (int i = 0; i < 60; ++i) {
      const Row row = s.logits();
      crc = linnet::crc32c(crc, row.data(), row.size() * sizeof(float));
      const int32_t token = s.decode();
      crc = linnet::crc32c(crc, &token, sizeof token);
    }
    std::printf("stories260K %s: CRC-32C of 60 rows of logits and tokens on %s: %08x\n", linnet_format_name(r.weights),
                linnet_isa_name(isa), crc);
    CHECK(crc == r.crc);
  }
}

TEST_CASE("32 bits: a cache or a file that cannot be addressed is refused by name") {
  if (sizeof(size_t) > 4) {
    std::printf("skipped: this build addresses 64 bits\n");
    return;
  }
  const Model model("tests/golden/llama", LINNET_I8G128);
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  auto p = params(LINNET_F32, 1, 0, 0, 1u << 24);
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "n_context = 16777216 needs more bytes than this machine can address"));
  p.n_context = 1u << 22;
  p.n_sequences = 64;
  p.when_full = LINNET_FULL_HEAVY_HITTERS;  // scores beside the cache
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);

  const std::string path = "/tmp/linnet-test-exact-" + std::to_string(getpid());
  std::fclose(std::fopen(path.c_str(), "w"));
  REQUIRE(truncate(path.c_str(), off_t{3} << 30) == 0);
  linnet_view view{};
  CHECK(linnet_file_map(path.c_str(), LINNET_LOAD_MAP, &view, &err) == LINNET_IO);
  CHECK(std::strstr(err.text, "too large for this address space"));
  unlink(path.c_str());
}

TEST_CASE("rope_length fixes the frequencies, whatever the context is") {
  for (const char* name : {"llama-dynamic", "phi3-longrope"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_F32);
    const Tokens tokens = random_tokens(24, model.desc.n_vocab, 41);
    const auto last = [&](uint32_t context, uint32_t length) {
      return run(model, tokens, params(LINNET_F32, 1, 8, 1, context, length), 24).back();
    };
    INFO(name);
    CHECK(same_bytes(last(24, 100), last(100, 0)));
    CHECK(same_bytes(last(24, 0), last(100, 24)));
    CHECK_FALSE(same_bytes(last(100, 0), last(100, 24)));

    Session longer(model, params(LINNET_F32, 1, 8, 1, 100, 100)), same(model, params(LINNET_F32, 1, 8, 1, 50, 100)),
        shorter(model, params(LINNET_F32, 1, 8, 1, 100, 24));
    longer.prefill(tokens);
    size_t bytes = 0;
    linnet_error err{};
    check(linnet_state_need(longer.s, 0, &bytes, &err), err);
    std::vector<uint8_t> state(bytes);
    check(linnet_state_save(longer.s, 0, state.data(), bytes, &bytes, &err), err);
    check(linnet_state_load(same.s, 0, state.data(), bytes, &err), err);
    CHECK(linnet_state_load(shorter.s, 0, state.data(), bytes, &err) == LINNET_UNSUPPORTED);
    CHECK(std::strstr(err.text, "rope_length"));
  }
}

TEST_CASE("models whose positions end or cannot move refuse what needs them to") {
  const struct {
    const char *name, *says;
    uint32_t context, when_full;
  } refused[] = {{"gpt2", "learned positions", 200, LINNET_FULL_STOP},
                 {"gpt2", "learned positions", 64, LINNET_FULL_SINKS},
                 {"bloom", "ALiBi", 64, LINNET_FULL_DROP_OLDEST}};
  for (const auto& r : refused) {
    const Model model(std::string("tests/golden/") + r.name, LINNET_F32);
    auto p = params(0, 1, 0, 0, r.context);
    p.when_full = r.when_full;
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    INFO(r.name);
    CHECK(linnet_session_need(model.m, &p, &need, &err) != LINNET_OK);
    CHECK(std::strstr(err.text, r.says));
  }
}

TEST_CASE("every row of a prefill equals the row of a decode") {
  const Model oracle("tests/golden/qwen2", LINNET_I8G64, LINNET_ISA_SCALAR);
  const Tokens tokens = random_tokens(280, oracle.desc.n_vocab, 3);
  const auto want = run(oracle, tokens, params(LINNET_I8, 1, 1, 1, 280), 1);
  for (const linnet_isa isa : tiers())
    for (const uint32_t threads : {1u, 2u}) {  // the LM head is wide enough for every tile; one thread has all of it
      const Model model("tests/golden/qwen2", LINNET_I8G64, isa);
      const auto rows = all_logits(model, tokens, LINNET_I8, threads);
      for (size_t i = 0; i < rows.size(); ++i) REQUIRE(same_bytes(rows[i], want[i]));
    }
}

// Nine tiles of outputs and two parts of rows: threads take tiles in runs, or each by itself, where whole matrices are made of up to eight
// rows.
TEST_CASE("a feed-forward network in tiles gives the bytes of whole matrices") {
  for (const linnet_format f : {LINNET_I8G128, LINNET_I8G64, LINNET_I8G32, LINNET_I4G64, LINNET_F8E4M3, LINNET_BF16})
    for (const linnet_isa isa : tiers()) {
      if (kSlow && isa != tiers().back()) continue;
      const Model model("synthetic:wide-tiny", f, isa);
      const Tokens tokens = random_tokens(200, model.desc.n_vocab, 11);
      const auto want = run(model, tokens, params(LINNET_I8, 1, 8, 1, 200), 200);
      for (const uint32_t threads : {1u, 2u, 3u})
        for (const uint32_t chunk : {9u, 140u, 200u}) {
          if (!kFull && (threads == 2) != (chunk == 140)) continue;
          INFO(linnet_format_name(f) << " isa " << linnet_isa_name(isa) << " threads " << threads << " chunk " << chunk);
          REQUIRE(same_bytes(run(model, tokens, params(LINNET_I8, threads, chunk, 1, 200), 200).back(), want.back()));
        }
    }
}

TEST_CASE("negative control: one code of one weight changes the bytes") {
  Model model("tests/golden/llama", LINNET_I8G128), other("tests/golden/llama", LINNET_I8G128, 0, false);
  const Tokens tokens = random_tokens(40, model.desc.n_vocab, 5);
  uint8_t* bytes = static_cast<uint8_t*>(other.image.data);
  bytes[other.image.bytes - 4096] = static_cast<uint8_t>(bytes[other.image.bytes - 4096] ^ 0x40);
  other.open(0);
  CHECK_FALSE(same_bytes(run(model, tokens, params(), 40).back(), run(other, tokens, params(), 40).back()));
}

TEST_CASE("truncate and go on gives the bytes of a fresh session") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Tokens tokens = random_tokens(200, model.desc.n_vocab, 11), wrong = random_tokens(90, model.desc.n_vocab, 12);
  std::mt19937 random(13);
  for (int round = 0; round < 20; ++round) {
    const size_t keep = random() % 150;
    Session s(model, params(LINNET_I8, 1 + static_cast<uint32_t>(round) % 2, 32, 1, 300)), fresh(model, params(LINNET_I8, 1, 64, 1, 300));
    if (keep) s.prefill(Tokens(tokens.begin(), tokens.begin() + static_cast<long>(keep)));
    s.prefill(wrong);
    REQUIRE(linnet_truncate(s.s, 0, keep, nullptr) == LINNET_OK);
    s.prefill(Tokens(tokens.begin() + static_cast<long>(keep), tokens.end()));
    fresh.prefill(tokens);
    REQUIRE(same_bytes(s.logits(), fresh.logits()));
    REQUIRE(s.length() == 200);
  }
}

TEST_CASE("long contexts: the same bytes when threads share the blocks of one KV head") {
  if (std::getenv("LINNET_TEST_TIER")) {
    std::printf("skipped: long contexts: LINNET_TEST_TIER is set; they are no matter of products, and run without it\n");
    return;
  }
  for (const char* name : {"mistral", "qwen2-window", "deepseek-v2"}) {  // one KV head; two, and windows; a latent
    const Model oracle(std::string("tests/golden/") + name, LINNET_I8G64, LINNET_ISA_SCALAR),
        model(std::string("tests/golden/") + name, LINNET_I8G64);
    const uint32_t n = kSlow ? 1100 : kFull ? 2700 : 1300;  // parts of four blocks
    const Tokens tokens = random_tokens(n, oracle.desc.n_vocab, 21);
    for (const uint32_t kv : {LINNET_I8, LINNET_F16}) {
      if (kSlow && kv != LINNET_I8) continue;
      const auto want = run(kSanitized ? model : oracle, tokens, params(kv, 1, 256, 1, n + 8), n);
      for (const uint32_t threads : {2u, 3u, 4u}) {
        if (kSlow && threads == 2) continue;
        auto p = params(kv, threads, threads == 2 ? 512 : 37, 1, n + 8);
        p.threads = LINNET_THREADS_OWN;
        Session s(model, p);
        s.prefill(Tokens(tokens.begin(), tokens.end() - 1));
        s.prefill(Tokens(tokens.end() - 1, tokens.end()));
        INFO(name << " kv " << kv << " threads " << threads);
        REQUIRE(same_bytes(s.logits(), want.back()));
      }
    }
  }
}
