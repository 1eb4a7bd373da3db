// Whole models on a GPU that is none: the driver is one over host memory (cuda_fake_driver.h), the kernels run in the emulator.
#include <random>

#include "cuda_fake_driver.h"
#include "cuda_test.h"
#include "tests/models.h"

using namespace test;
using linnet::FakeCuda;
using linnet::FakeCudaSetup;

namespace {

bool run_emulated(const char* kernel, const unsigned (&grid)[3], unsigned threads, unsigned shared_bytes, const void* args, size_t n_args) {
  const linnet::EmulatedKernel* k = linnet::emulated_kernel(kernel);
  return k && k->args_bytes == n_args && linnet::emulate(*k, {grid[0], grid[1], grid[2]}, threads, shared_bytes, args);
}

FakeCudaSetup setup(uint32_t arch = 87) {
  FakeCudaSetup s;
  s.arch = arch;
  s.driver_version = 13000;
  s.run = run_emulated;
  return s;
}

linnet_profile on_gpu(uint64_t block_bytes = 0) {
  linnet_profile p{};
  p.size = sizeof p;
  p.cuda = LINNET_CUDA_ON;
  p.cuda_block_bytes = block_bytes;
  return p;
}

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

// Logits of the last rows of a prompt, then of tokens decoded one by one.
std::vector<Row> walk(const Model& model, const Tokens& tokens, uint32_t kv, uint32_t n_decode, uint32_t chunk = 0) {
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  Session s(model, params(kv, 1, chunk, 3, n + n_decode));
  s.prefill(tokens);
  std::vector<Row> rows = {s.logits(2), s.logits(1), s.logits(0)};
  for (uint32_t i = 0; i < n_decode; ++i) {
    s.decode();
    rows.push_back(s.logits());
  }
  return rows;
}

}  // namespace

TEST_CASE("families on CUDA: the logits of the CPU, to the bit") {
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t kv, n;
  } runs[] = {{"llama", LINNET_I8G128, LINNET_I8, 270}, {"qwen2", LINNET_I8, LINNET_I8, 20}, {"qwen3", LINNET_I8G64, LINNET_I8, 20}, {"smollm2", LINNET_I8G32, LINNET_I8, 20},
              {"mistral", LINNET_I4G128, LINNET_I8, 20}, {"phi3", LINNET_I4G64, LINNET_I8, 20}, {"llama-mha-linear", LINNET_I4G32, LINNET_I8, 20}, {"mistral-window", LINNET_I8G128, LINNET_I8, 60},
              {"gemma2", LINNET_I8G128, LINNET_I8, 40}, {"gemma3", LINNET_I8G32, LINNET_I8, 60}, {"gpt2", LINNET_I8G128, LINNET_I8, 20}, {"bloom", LINNET_I8G128, LINNET_I8, 40},
              {"falcon-40b", LINNET_I8, LINNET_I8, 20}, {"opt-350m", LINNET_I8G64, LINNET_I8, 20}, {"cohere-plus", LINNET_I8G64, LINNET_I8, 20}, {"olmo3", LINNET_I8G128, LINNET_I8, 40},
              {"ministral3", LINNET_I8G128, LINNET_I8, 40}, {"stablelm-12b", LINNET_I8, LINNET_I8, 20}, {"deepseek-v2", LINNET_I8G128, LINNET_I8, 20}, {"deepseek-v2-qlora", LINNET_I4G64, LINNET_I8, 20},
              {"mixtral", LINNET_I8G128, LINNET_I8, 20}, {"qwen2-moe", LINNET_I8G128, LINNET_I8, 20}, {"deepseek-v3", LINNET_I4G64, LINNET_I8, 20}, {"llama4", LINNET_I8G64, LINNET_I8, 40},
              {"gpt-oss", LINNET_I8G32, LINNET_I8, 40}, {"switch", LINNET_I8G128, LINNET_I8, 20}, {"llama-glu", LINNET_I8G128, LINNET_I8, 20}, {"llama-reglu", LINNET_I8G128, LINNET_I8, 20}};
  FakeCuda fake(setup());
  size_t compared = 0;
  for (const auto& r : runs) {
    INFO(r.name << " " << linnet_format_name(r.weights));
    const std::string src = std::string("tests/golden/") + r.name;
    const Model cpu(src, r.weights);
    Model gpu(src, r.weights, 0, false);
    gpu.open(on_gpu());
    REQUIRE(gpu.desc.device != nullptr);
    const Tokens tokens = random_tokens(r.n, cpu.desc.n_vocab, 3);
    const auto want = walk(cpu, tokens, r.kv, 3), got = walk(gpu, tokens, r.kv, 3, 16);
    for (size_t i = 0; i < want.size(); ++i) {
      INFO("row " << i);
      CHECK(same_bytes(want[i], got[i]));
      compared += same_bytes(want[i], got[i]);
    }
    CHECK(fake.complaints() == std::vector<std::string>{});
  }
  std::printf("%zu rows of logits compared byte for byte\n", compared);
}
