// Whole models on a GPU that is none: the driver is one over host memory (cuda_fake_driver.h), the kernels run in the emulator.
#include <linnet_convert.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "cuda_bench.h"
#include "cuda_fake_driver.h"
#include "cuda_test.h"
#include "kernels_cuda/gemm_args.h"
#include "runtime/convert/source.h"
#include "tests/gguf_file.h"
#include "tests/models.h"

using namespace test;
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

// What was used wrongly is told, whatever became of the test.
struct FakeCuda : linnet::FakeCuda {
  using linnet::FakeCuda::FakeCuda;
  ~FakeCuda() {
    for (const std::string& c : complaints()) std::printf("complaint: %s\n", c.c_str());
  }
};

linnet_profile on_gpu(uint64_t block_bytes = 0) {
  linnet_profile p{};
  p.size = sizeof p;
  p.cuda = LINNET_CUDA_ON;
  p.cuda_block_bytes = block_bytes;
  return p;
}

struct TemporaryFile {
  std::string path = "/tmp/linnet-test-XXXXXX";
  explicit TemporaryFile(const std::string& bytes) {
    const int file = mkstemp(path.data());
    REQUIRE(file >= 0);
    close(file);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { unlink(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
};

linnet_rows row_of(uint32_t seq, size_t n, const int32_t* tokens) { return {sizeof(linnet_rows), seq, n, tokens}; }
linnet_sampling sampling_of(uint64_t seed) {
  linnet_sampling s{.size = sizeof s};
  REQUIRE(linnet_sampling_init(&s, nullptr) == LINNET_OK);
  s.seed = seed;
  return s;
}

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

// Goldens of each kind of layers with a state.
constexpr const char* kWithStates[] = {"lfm2", "qwen3-5", "kimi-linear", "granite4-h", "falcon-h1"};

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
  } runs[] = {{"llama", LINNET_I8G128, LINNET_I8, 270},
              {"qwen2", LINNET_I8, LINNET_I8, 20},
              {"qwen3", LINNET_I8G64, LINNET_I8, 20},
              {"smollm2", LINNET_I8G32, LINNET_I8, 20},
              {"mistral", LINNET_I4G128, LINNET_I8, 20},
              {"phi3", LINNET_I4G64, LINNET_I8, 20},
              {"llama-mha-linear", LINNET_I4G32, LINNET_I8, 20},
              {"mistral-window", LINNET_I8G128, LINNET_I8, 60},
              {"gemma2", LINNET_I8G128, LINNET_I8, 40},
              {"gemma3", LINNET_I8G32, LINNET_I8, 60},
              {"gpt2", LINNET_I8G128, LINNET_I8, 20},
              {"bloom", LINNET_I8G128, LINNET_I8, 40},
              {"falcon-40b", LINNET_I8, LINNET_I8, 20},
              {"opt-350m", LINNET_I8G64, LINNET_I8, 20},
              {"cohere-plus", LINNET_I8G64, LINNET_I8, 20},
              {"olmo3", LINNET_I8G128, LINNET_I8, 40},
              {"ministral3", LINNET_I8G128, LINNET_I8, 40},
              {"stablelm-12b", LINNET_I8, LINNET_I8, 20},
              {"deepseek-v2", LINNET_I8G128, LINNET_I8, 20},
              {"deepseek-v2-qlora", LINNET_I4G64, LINNET_I8, 20},
              {"mixtral", LINNET_I8G128, LINNET_I8, 20},
              {"qwen2-moe", LINNET_I8G128, LINNET_I8, 20},
              {"deepseek-v3", LINNET_I4G64, LINNET_I8, 20},
              {"llama4", LINNET_I8G64, LINNET_I8, 40},
              {"gpt-oss", LINNET_I8G32, LINNET_I8, 40},
              {"switch", LINNET_I8G128, LINNET_I8, 20},
              {"llama-glu", LINNET_I8G128, LINNET_I8, 20},
              {"llama-reglu", LINNET_I8G128, LINNET_I8, 20},
              {"lfm2", LINNET_I8G128, LINNET_I8, 40},
              {"lfm2-taps", LINNET_I8, LINNET_I8, 20},
              {"lfm2-moe", LINNET_I8G64, LINNET_I8, 20},
              {"lfm3", LINNET_I8G32, LINNET_I8, 20},
              {"qwen3-5", LINNET_I8G128, LINNET_I8, 40},
              {"qwen3-5-moe", LINNET_I8G64, LINNET_I8, 20},
              {"qwen3-next", LINNET_I8G32, LINNET_I8, 20},
              {"olmo-hybrid", LINNET_I8G128, LINNET_I8, 20},
              {"kimi-linear", LINNET_I8G32, LINNET_I8, 20},
              {"granite4-h", LINNET_I8G128, LINNET_I8, 40},
              {"granite4-h-moe", LINNET_I8G64, LINNET_I8, 20},
              {"mamba2", LINNET_I8, LINNET_I8, 20},
              {"bamba", LINNET_I8G32, LINNET_I8, 20},
              {"nemotron-h", LINNET_I8G64, LINNET_I8, 40},
              {"nemotron-h-moe", LINNET_I8G128, LINNET_I8, 20},
              {"falcon-h1", LINNET_I8G128, LINNET_I8, 40},
              {"falcon-h1-norm", LINNET_I8G32, LINNET_I8, 20},
              {"apertus", LINNET_I8G128, LINNET_I8, 20},
              {"phimoe", LINNET_I8G64, LINNET_I8, 40},
              {"gemma4", LINNET_I8G128, LINNET_I8, 40},
              {"gemma4-e2b", LINNET_I8G128, LINNET_I8, 40},
              {"gemma4-moe", LINNET_I8G64, LINNET_I8, 40},
              {"gemma4-unified", LINNET_I8G32, LINNET_I8, 20},
              {"gemma3n", LINNET_I8G128, LINNET_I8, 40},
              {"gemma3n-gates", LINNET_I8, LINNET_I8, 20}};
  FakeCuda fake(setup());
  size_t compared = 0;
  for (const auto& r : runs) {
    if (kSlow && (&r - runs) % 4) continue;
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

TEST_CASE("a GGUF file's blocks on CUDA, of several kinds in a file: the logits of the CPU, to the bit") {
  using Types = std::map<std::string, uint32_t>;  // of tensors of another type than the file's
  const struct {
    linnet_format format;
    uint32_t type;
    Types others;
  } files[] = {{LINNET_Q4_K,
                linnet::kGgmlQ4_K,
                {{"token_embd.weight", linnet::kGgmlQ6_K},
                 {"blk.0.attn_v.weight", linnet::kGgmlQ6_K},
                 {"blk.1.ffn_down.weight", linnet::kGgmlQ6_K},
                 {"blk.0.ffn_up.weight", linnet::kGgmlQ5_K},
                 {"blk.1.attn_q.weight", linnet::kGgmlQ5_K}}},
               {LINNET_MXFP4,
                linnet::kGgmlMXFP4,
                {{"token_embd.weight", linnet::kGgmlQ5_1},
                 {"blk.0.attn_q.weight", linnet::kGgmlIQ4_NL},
                 {"blk.0.attn_k.weight", linnet::kGgmlIQ4_XS},
                 {"blk.0.attn_v.weight", linnet::kGgmlQ3_K},
                 {"blk.0.ffn_gate.weight", linnet::kGgmlQ2_K},
                 {"blk.1.attn_k.weight", linnet::kGgmlQ4_1},
                 {"blk.1.attn_v.weight", linnet::kGgmlQ5_1},
                 {"blk.0.ffn_down.weight", linnet::kGgmlQ5_0}}}};
  FakeCuda fake(setup());
  for (const auto& one : files) {
    GgufFile f = tiny_model(one.type, 2, "llama", {256, 4, 2, 512, 75});
    std::set<uint32_t> types = {one.type};
    for (const auto& [name, type] : one.others) {
      GgufFile::Tensor* t = f.tensor(name);
      REQUIRE(t != nullptr);
      t->type = type, t->data = tensor_data(type, t->dims[0] * t->dims[1], 7);
      types.insert(type);
    }
    const TemporaryFile file(f.bytes());
    const Model cpu(file.path, one.format);
    Model gpu(file.path, one.format, 0, false);
    gpu.open(on_gpu());
    const Tokens tokens = random_tokens(36, cpu.desc.n_vocab, 3);  // chunks of 24 and of 12 rows
    const auto want = walk(cpu, tokens, LINNET_I8, 4), got = walk(gpu, tokens, LINNET_I8, 4, 24);
    REQUIRE(want.size() == 7);
    for (size_t i = 0; i < want.size(); ++i) {
      INFO(linnet_format_name(one.format) << " row " << i);
      CHECK(same_bytes(want[i], got[i]));
      CHECK(*std::max_element(want[i].begin(), want[i].end()) > *std::min_element(want[i].begin(), want[i].end()));
    }
    for (const uint32_t type : types)
      for (const char* kernel : {"gemv_", "gemm16_"}) {
        const std::string name = std::string(kernel) + linnet_format_name(linnet::convert::format_of_ggml(type));
        INFO(name);
        CHECK(fake.launches(name.c_str()) > 0);
      }
  }
  CHECK(fake.launches("embed") > 0);
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("float weights and KV caches on CUDA: the CPU's bytes; FP8 weights stay near") {
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t kv;
    double kl;
  } runs[] = {{"llama", LINNET_F32, LINNET_F32, 1e-9},         {"qwen3", LINNET_F16, LINNET_F16, 1e-4},
              {"smollm2", LINNET_BF16, LINNET_BF16, 1e-4},     {"llama", LINNET_F8E4M3, LINNET_F8E4M3, 1e-4},
              {"mistral", LINNET_F8E5M2, LINNET_F8E5M2, 1e-4}, {"mixtral", LINNET_F32, LINNET_F16, 1e-6},
              {"deepseek-v2", LINNET_F32, LINNET_F32, 1e-6},   {"gemma3", LINNET_BF16, LINNET_I8, 1e-4},
              {"lfm2", LINNET_F32, LINNET_F32, 1e-9}};
  FakeCuda fake(setup());
  for (const auto& r : runs) {
    if (kSlow && (&r - runs) % 3) continue;
    INFO(r.name << " " << linnet_format_name(r.weights));
    const std::string src = std::string("tests/golden/") + r.name;
    const Model cpu(src, r.weights);
    Model gpu(src, r.weights, 0, false);
    gpu.open(on_gpu());
    const Tokens tokens = random_tokens(24, cpu.desc.n_vocab, 3);
    const auto want = walk(cpu, tokens, r.kv, 2), got = walk(gpu, tokens, r.kv, 2);
    const double mean = mean_kl(want, got);
    std::printf("cuda %-12s weights %-6s KL %.1e\n", r.name, linnet_format_name(r.weights), mean);
    CHECK(mean < r.kl);
    const bool f8 = r.weights == LINNET_F8E4M3 || r.weights == LINNET_F8E5M2;  // whose sums are split
    for (size_t i = 0; i < want.size(); ++i) CHECK((f8 || same_bytes(want[i], got[i])));
    CHECK(fake.complaints() == std::vector<std::string>{});
  }
}

TEST_CASE("cuda_gemm fast: whole models stay near the CPU, those of other weights as they were") {
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t arch;
    const char* kernel;
    double kl;
  } runs[] = {{"qwen3", LINNET_F16, 87, "gemm16_terms_f16", 1e-8},
              {"smollm2", LINNET_BF16, 87, "gemm16_terms_bf16", 1e-8},
              {"llama", LINNET_F8E4M3, 90, nullptr, 0},
              {"deepseek-v2", LINNET_BF16, 110, "gemm16_terms_bf16", 1e-8}};
  linnet_profile fast = on_gpu();
  fast.cuda_gemm = LINNET_GEMM_FAST;
  for (const auto& r : runs) {
    if (kSlow && (&r - runs) % 2) continue;
    FakeCuda fake(setup(r.arch));
    INFO(r.name << " " << linnet_format_name(r.weights));
    const std::string src = std::string("tests/golden/") + r.name;
    const Model cpu(src, r.weights);
    Model gpu(src, r.weights, 0, false), exact(src, r.weights, 0, false);
    gpu.open(fast);
    exact.open(on_gpu());
    const Tokens tokens = random_tokens(24, cpu.desc.n_vocab, 3);
    const auto want = walk(cpu, tokens, LINNET_F16, 6), got = walk(gpu, tokens, LINNET_F16, 6);
    if (r.kernel) {
      CHECK(fake.launches(r.kernel) > 0);
      CHECK(fake.launches("term_rows") >= fake.launches(r.kernel));
      CHECK_FALSE(same_bytes(want[0], got[0]));
    } else {
      CHECK(fake.launches("term_rows") == 0);
      const auto same = walk(exact, tokens, LINNET_F16, 6);
      for (size_t i = 0; i < want.size(); ++i) CHECK(same_bytes(same[i], got[i]));
    }
    const double mean = mean_kl(want, got);
    size_t agree = 0;
    for (size_t i = 0; i < want.size(); ++i)
      agree += std::max_element(want[i].begin(), want[i].end()) - want[i].begin() ==
               std::max_element(got[i].begin(), got[i].end()) - got[i].begin();
    std::printf("cuda fast %-12s weights %-6s sm_%-3u KL %.1e, greedy tokens as on the CPU: %zu of %zu\n", r.name,
                linnet_format_name(r.weights), r.arch, mean, agree, want.size());
    CHECK(mean <= std::max(r.kl, 1e-9 * !r.kernel));
    CHECK(agree == want.size());
    auto p = params(LINNET_F16, 1, 0, 1, 64);  // what x in terms takes is counted
    linnet_error err{};
    linnet_need with{.size = sizeof with}, without{.size = sizeof without};
    check(linnet_session_need(gpu.m, &p, &with, &err), err);
    check(linnet_session_need(exact.m, &p, &without, &err), err);
    CHECK(with.device_bytes >= without.device_bytes);
    const uint64_t before = fake.bytes() + fake.host_bytes();
    const Session s(gpu, p);
    CHECK(fake.bytes() + fake.host_bytes() == before + with.device_bytes);
    CHECK(fake.complaints() == std::vector<std::string>{});
  }
}

TEST_CASE("need says every byte of device memory, and all of it comes back") {
  FakeCuda fake(setup());
  const std::string src = "tests/golden/llama";
  {
    Model gpu(src, LINNET_I8G128, 0, false);
    const linnet_view file = gpu.image.view();
    const linnet_profile profile = on_gpu(1 << 16);  // matrices and caches in parts
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_model_need(&file, &profile, &need, &err), err);
    CHECK(need.device_bytes > gpu.image.bytes / 2);
    gpu.open(profile);
    CHECK(fake.bytes() == need.device_bytes);
    CHECK(fake.host_bytes() == 0);  // staging is gone
    const Model cpu(src, LINNET_I8G128);
    auto p = params(LINNET_I8, 1, 8, 1, 300);
    linnet_need session{.size = sizeof session};
    check(linnet_session_need(gpu.m, &p, &session, &err), err);
    size_t on_device = 0;
    const char* purpose = nullptr;
    size_t bytes = 0;
    for (uint32_t i = 0; linnet_session_plan(gpu.m, &p, i, &purpose, &bytes, nullptr) == LINNET_OK; ++i)
      if (std::string(purpose).rfind("device ", 0) == 0) on_device += bytes;
    CHECK(on_device == session.device_bytes);
    {
      Session on(gpu, p), off(cpu, p);
      CHECK(fake.bytes() + fake.host_bytes() == need.device_bytes + session.device_bytes);
      const Tokens tokens = random_tokens(290, cpu.desc.n_vocab, 5);
      on.prefill(tokens);
      off.prefill(tokens);
      CHECK(same_bytes(on.logits(), off.logits()));
      const uint64_t calls = fake.calls("cuMemAlloc_v2") + fake.calls("cuMemAllocHost_v2");
      for (int i = 0; i < 4; ++i) CHECK(on.decode() == off.decode());
      CHECK(fake.calls("cuMemAlloc_v2") + fake.calls("cuMemAllocHost_v2") == calls);
      CHECK(fake.calls("cuGraphLaunch") == 4);  // recorded once
      CHECK(fake.calls("cuStreamEndCapture") == 1);
    }
    CHECK(fake.bytes() == need.device_bytes);
  }
  CHECK(fake.left() == "");
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("sequences on CUDA: batches, forks, rollback, oldest tokens dropped, cancel") {
  FakeCuda fake(setup());
  const Model cpu("tests/golden/mistral-window", LINNET_I8G128);
  Model gpu("tests/golden/mistral-window", LINNET_I8G128, 0, false);
  gpu.open(on_gpu());
  auto p = params(LINNET_I8, 1, 16, 1, 96);
  p.n_sequences = 3;
  Session on(gpu, p), off(cpu, p);
  const auto both = [&](auto fn) {
    fn(on);
    fn(off);
  };
  const auto same = [&](uint32_t seq) {
    const float *a = nullptr, *b = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(on.s, seq, 0, &a, &n, nullptr) == LINNET_OK);
    REQUIRE(linnet_logits(off.s, seq, 0, &b, &n, nullptr) == LINNET_OK);
    return std::memcmp(a, b, n * sizeof(float)) == 0;
  };
  const Tokens first = random_tokens(37, cpu.desc.n_vocab, 1), second = random_tokens(21, cpu.desc.n_vocab, 2);
  linnet_error err{};
  both([&](Session& s) {
    const linnet_rows rows[] = {row_of(0, first.size(), first.data()), row_of(2, second.size(), second.data())};
    check(linnet_prefill_batch(s.s, rows, 2, &err), err);
    check(linnet_fork(s.s, 0, 1, 30, &err), err);
    const int32_t more[] = {5, 6};
    const linnet_rows tails[] = {row_of(0, 1, more), row_of(1, 1, more + 1), row_of(2, 1, more)};
    for (int i = 0; i < 3; ++i) check(linnet_prefill_batch(s.s, tails, 3, &err), err);
  });
  for (uint32_t seq = 0; seq < 3; ++seq) CHECK(same(seq));
  both([&](Session& s) {
    check(linnet_truncate(s.s, 1, 25, nullptr), err);
    check(linnet_prefill(s.s, 1, second.data(), 5, &err), err);
  });
  CHECK(same(1));
  // A cancel that waits stops the next call and changes nothing.
  both([&](Session& s) {
    linnet_cancel(s.s);
    CHECK(linnet_prefill(s.s, 2, first.data(), first.size(), &err) == LINNET_CANCELLED);
    size_t n = 0;
    CHECK((linnet_length(s.s, 2, &n, nullptr) == LINNET_OK && n == 24));
    check(linnet_prefill(s.s, 2, first.data(), 9, &err), err);
  });
  CHECK(same(2));

  auto dropping = params(LINNET_I8, 1, 16, 1, 64);
  dropping.when_full = LINNET_FULL_DROP_OLDEST;
  dropping.n_keep = 4;
  const Model llama("tests/golden/llama", LINNET_I8G128);
  Model llama_gpu("tests/golden/llama", LINNET_I8G128, 0, false);
  llama_gpu.open(on_gpu());
  Session a(llama_gpu, dropping), b(llama, dropping);
  for (int i = 0; i < 8; ++i) {
    const Tokens part = random_tokens(14, llama.desc.n_vocab, 40 + static_cast<uint32_t>(i));
    a.prefill(part);
    b.prefill(part);
    CHECK(same_bytes(a.logits(), b.logits()));
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("saved sequences move between CPU and CUDA") {
  FakeCuda fake(setup());
  for (const char* name : {"gemma3", "deepseek-v2", "lfm2", "qwen3-5", "nemotron-h", "falcon-h1", "gemma3n"}) {
    INFO(name);
    const std::string src = std::string("tests/golden/") + name;
    const Model cpu(src, LINNET_I8G128);
    Model gpu(src, LINNET_I8G128, 0, false);
    gpu.open(on_gpu());
    const Tokens tokens = random_tokens(40, cpu.desc.n_vocab, 9);
    const auto p = params(LINNET_I8, 1, 16, 1, 64);
    Session on(gpu, p), off(cpu, p);
    on.prefill(tokens);
    off.prefill(tokens);
    const auto save = [](const Session& s) {
      size_t n = 0;
      linnet_error err{};
      check(linnet_state_need(s.s, 0, &n, &err), err);
      std::vector<uint8_t> bytes(n);
      check(linnet_state_save(s.s, 0, bytes.data(), n, &n, &err), err);
      return bytes;
    };
    const auto from_gpu = save(on), from_cpu = save(off);
    CHECK(from_gpu == from_cpu);
    linnet_error err{};
    Session on2(gpu, p), off2(cpu, p);
    check(linnet_state_load(on2.s, 0, from_cpu.data(), from_cpu.size(), &err), err);
    check(linnet_state_load(off2.s, 0, from_gpu.data(), from_gpu.size(), &err), err);
    for (int i = 0; i < 3; ++i) {
      CHECK(on2.decode() == off2.decode());
      CHECK(same_bytes(on2.logits(), off2.logits()));
    }
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("sinks + recent on CUDA: the CPU's bytes, in batches, after forks, rollbacks and saving, and drawn ahead") {
  FakeCuda fake(setup());
  struct Way {
    const char* name;
    linnet_format kv, weights;
  };
  // Heads of rotated halves and of rotated pairs, learned sinks beside them, windows of their own, layers without RoPE, a latent, factors
  // of RoPE.
  for (const Way& way :
       {Way{"llama", LINNET_I8, LINNET_I8G128}, Way{"glm4", LINNET_F16, LINNET_I8G128}, Way{"gpt-oss", LINNET_I8, LINNET_I8G32},
        Way{"mistral-window", LINNET_F8E4M3, LINNET_I8G128}, Way{"smollm3", LINNET_I8, LINNET_I8G128},
        Way{"deepseek-v2", LINNET_I8, LINNET_I8G128}, Way{"llama-yarn", LINNET_F32, LINNET_I8G128}}) {
    INFO(way.name);
    const std::string src = std::string("tests/golden/") + way.name;
    const Model cpu(src, way.weights);
    Model gpu(src, way.weights, 0, false);
    gpu.open(on_gpu());
    auto p = params(way.kv, 1, 8, 2, 40);
    p.n_sequences = 2;
    p.when_full = LINNET_FULL_SINKS;
    p.n_keep = 3;
    const Tokens prompt = random_tokens(60, cpu.desc.n_vocab, 12);
    std::vector<Row> rows[2];
    Tokens heard[2];
    std::vector<uint8_t> states[2];
    for (const bool gpus : {false, true}) {
      Session s(gpus ? gpu : cpu, p), other(gpus ? cpu : gpu, p);
      linnet_error err{};
      const auto keep = [&](const Session& of) {
        rows[gpus].push_back(of.logits(1));
        rows[gpus].push_back(of.logits(0));
      };
      for (size_t at = 0; at < prompt.size(); at += 6)
        s.prefill(Tokens(prompt.begin() + static_cast<std::ptrdiff_t>(at), prompt.begin() + static_cast<std::ptrdiff_t>(at) + 6));
      keep(s);
      check(linnet_fork(s.s, 0, 1, 58, &err), err);
      check(linnet_truncate(s.s, 0, 57, nullptr), err);
      const linnet_rows both[2] = {row_of(0, 4, prompt.data()), row_of(1, 2, prompt.data() + 9)};
      check(linnet_prefill_batch(s.s, both, 2, &err), err);
      const float* row = nullptr;
      size_t n = 0;
      check(linnet_logits(s.s, 1, 0, &row, &n, nullptr), err);
      rows[gpus].emplace_back(row, row + n);
      linnet_generate_params g{};
      g.size = sizeof g;
      g.ignore_eos = 1;
      g.max_tokens = 14;
      linnet_generated end{.size = sizeof end};
      const auto hear = [](void* user, int32_t token, const char*, size_t) -> int {
        if (token >= 0) static_cast<Tokens*>(user)->push_back(token);
        return 0;
      };
      check(linnet_generate(s.s, 0, &g, hear, &heard[gpus], &end, &err), err);
      s.prefill({1, 2, 3});
      keep(s);
      check(linnet_state_need(s.s, 0, &n, &err), err);
      states[gpus].resize(n);
      check(linnet_state_save(s.s, 0, states[gpus].data(), n, &n, &err), err);
      check(linnet_state_load(other.s, 0, states[gpus].data(), n, &err), err);
      other.prefill({4, 5});
      keep(other);
    }
    CHECK(heard[0].size() == 14);
    CHECK(heard[0] == heard[1]);
    REQUIRE(rows[0].size() == 7);
    for (size_t i = 0; i < 7; ++i) {
      INFO(i);
      CHECK(same_bytes(rows[0][i], rows[1][i]));
    }
    CHECK(states[0] == states[1]);
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("layers with a state on CUDA: random calls give the CPU's bytes, and saved states move both ways") {
  FakeCuda fake(setup());
  const auto save = [](const Session& s, uint32_t seq) {
    size_t n = 0;
    linnet_error err{};
    check(linnet_state_need(s.s, seq, &n, &err), err);
    std::vector<uint8_t> bytes(n);
    check(linnet_state_save(s.s, seq, bytes.data(), n, &n, &err), err);
    return bytes;
  };
  const auto hear = [](void* user, int32_t token, const char*, size_t) -> int {
    if (token >= 0) static_cast<Tokens*>(user)->push_back(token);
    return 0;
  };
  uint32_t n_same = 0, n_back = 0;
  for (const char* name : kWithStates) {
    const std::string src = std::string("tests/golden/") + name;
    const Model cpu(src, LINNET_I8G64);
    Model gpu(src, LINNET_I8G64, 0, false);
    gpu.open(on_gpu());
    REQUIRE(gpu.desc.device != nullptr);
    for (uint32_t walk = 0; walk < (kSlow ? 2 : 4); ++walk) {
      std::mt19937 random(walk);
      const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
      auto p = params(LINNET_I8, 1, 5 + below(12), 1, 120);
      p.n_sequences = 3;
      p.n_rollback = 1 + below(8);
      p.n_checkpoints = std::array{2u, uint32_t{LINNET_CHECKPOINTS_NONE}, 1u, 4u}[walk], p.checkpoint_every = 4 + below(12);
      Session on(gpu, p), off(cpu, p);
      for (uint32_t step = 0; step < 24; ++step) {
        const uint32_t what = step ? below(7) : 0, seq = below(3), other = (seq + 1 + below(2)) % 3, number = below(64);
        const Tokens tokens = random_tokens(1 + below(what ? 4 : 25), cpu.desc.n_vocab, walk * 100 + step);
        linnet_status status[2];
        Tokens heard[2];
        const std::vector<uint8_t> state[2] = {save(off, seq), save(on, seq)};
        CHECK(state[0] == state[1]);
        for (const bool gpus : {false, true}) {
          Session& s = gpus ? on : off;
          linnet_status& r = status[gpus] = LINNET_OK;
          size_t n = 0;
          REQUIRE(linnet_length(s.s, seq, &n, nullptr) == LINNET_OK);
          if (what == 0) r = linnet_prefill(s.s, seq, tokens.data(), tokens.size(), nullptr);
          if (what == 1) {
            const linnet_rows rows[] = {row_of(seq, tokens.size(), tokens.data()), row_of(other, 1, tokens.data())};
            r = linnet_prefill_batch(s.s, rows, 2, nullptr);
          }
          if (what == 2) {
            linnet_generate_params g{.size = sizeof g};
            g.ignore_eos = 1;
            g.max_tokens = 5;
            linnet_generated end{.size = sizeof end};
            r = n ? linnet_generate(s.s, seq, &g, hear, &heard[gpus], &end, nullptr) : LINNET_OK;
          }
          if (what == 3) r = linnet_truncate(s.s, seq, n - (n ? number % (2 * p.n_rollback + 2) % n : 0), nullptr);
          if (what == 4) {
            r = linnet_truncate(s.s, other, 0, nullptr);
            if (r == LINNET_OK) r = linnet_fork(s.s, seq, other, n - (n ? number % 4 % n : 0), nullptr);
          }
          if (what == 5) {  // what the other one saved
            r = linnet_truncate(s.s, other, 0, nullptr);
            if (r == LINNET_OK && n) r = linnet_state_load(s.s, other, state[!gpus].data(), state[!gpus].size(), nullptr);
          }
          if (what == 6) {
            linnet_cancel(s.s);
            r = linnet_prefill(s.s, seq, tokens.data(), tokens.size(), nullptr);
          }
          n_back += gpus && what == 3 && r == LINNET_OK;
        }
        INFO(name << " walk " << walk << " step " << step << " call " << what);
        REQUIRE(status[0] == status[1]);
        CHECK(heard[0] == heard[1]);
        for (uint32_t q = 0; q < 3; ++q) {
          const float *a = nullptr, *b = nullptr;
          size_t n = 0, m = 0;
          REQUIRE((linnet_length(on.s, q, &n, nullptr) == LINNET_OK && linnet_length(off.s, q, &m, nullptr) == LINNET_OK));
          REQUIRE(n == m);
          const linnet_status have = linnet_logits(on.s, q, 0, &a, &n, nullptr);
          REQUIRE(have == linnet_logits(off.s, q, 0, &b, &m, nullptr));
          if (have != LINNET_OK) continue;
          REQUIRE(std::memcmp(a, b, n * sizeof(float)) == 0);
          ++n_same;
        }
        REQUIRE(save(on, other) == save(off, other));
      }
    }
  }
  std::printf("%u rows of logits the same, %u sequences cut\n", n_same, n_back);
  CHECK(n_same > 60);
  CHECK(n_back > 4);
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("two RoPEs of their own numbers of channels, and keys of another layer, on CUDA: the CPU's bytes") {
  FakeCuda fake(setup());
  linnet::convert::Source source;
  linnet_error err{};
  check(linnet::convert::source_from_folder("tests/golden/gemma3", &source, &err), err);
  source.spec.rope_local_dim = source.spec.head_dim / 2;
  std::vector<linnet::LayerSpec> layers;
  for (uint32_t i = 0; i < source.spec.n_layers; ++i) layers.push_back(layer_spec(source.spec, i));
  const uint32_t last = source.spec.n_layers - 1;
  uint32_t back = 1;
  while (layers[last - back].window != layers[last].window) ++back;
  layers[last].kv_back = back;
  std::erase_if(source.tensors, [&](const linnet::convert::SourceTensor& t) {
    return t.layer == last && (t.role == linnet::kAttnK || t.role == linnet::kAttnV || t.role == linnet::kAttnKNorm);
  });
  set_layers(&source, layers);
  linnet::convert::Options options;
  options.weights = LINNET_I8G32;
  linnet::convert::Image image;
  check(linnet::convert::write_to_memory(source, options, &image, &err), err);
  const Model cpu(image);
  Model gpu("tests/golden/gemma3", LINNET_I8G32, 0, false);
  linnet::convert::image_free(&gpu.image);
  check(linnet::convert::write_to_memory(source, options, &gpu.image, &err), err);
  gpu.open(on_gpu());
  REQUIRE(gpu.desc.device != nullptr);
  const Tokens tokens = random_tokens(60, cpu.desc.n_vocab, 7);
  for (const bool sinks : {false, true}) {
    auto p = params(LINNET_I8, 1, 8, 1, sinks ? 40 : 64);
    if (sinks) p.when_full = LINNET_FULL_SINKS, p.n_keep = 3;
    Session a(cpu, p), b(gpu, p);
    for (size_t at = 0; at < tokens.size(); at += 6) {
      const Tokens part(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.begin() + static_cast<std::ptrdiff_t>(at) + 6);
      a.prefill(part), b.prefill(part);
      CHECK(same_bytes(a.logits(), b.logits()));
    }
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("inputs in an order of their own: refused on CUDA by name, the CPU computes where that may be") {
  FakeCuda fake(setup());
  linnet::convert::Source source;
  linnet_error err{};
  check(linnet::convert::source_from_folder("tests/golden/llama", &source, &err), err);
  std::vector<linnet::LayerSpec> layers;
  for (uint32_t i = 0; i < source.spec.n_layers; ++i) layers.push_back(layer_spec(source.spec, i));
  layers[1].orders = linnet::kOrderGateUp;
  set_layers(&source, layers);
  std::vector<float> backwards;
  for (uint32_t i = source.spec.d_model; i > 0; --i) backwards.push_back(static_cast<float>(i - 1));
  source.tensors.push_back(linnet::convert::computed_tensor(linnet::kFfnInOrder, 1, backwards));
  linnet::convert::Options options;
  options.weights = LINNET_I8G32;
  linnet::convert::Image image;
  check(linnet::convert::write_to_memory(source, options, &image, &err), err);
  const Model cpu(image);
  const linnet_view file = cpu.image.view();
  linnet_need need{.size = sizeof need};
  linnet_profile profile = on_gpu();
  CHECK(linnet_model_need(&file, &profile, &need, &err) == LINNET_UNSUPPORTED);
  INFO(err.text);
  CHECK(std::strstr(err.text, "CUDA: layer 1: inputs in an order of their own (act-order) are for CPUs alone") != nullptr);
  profile.cuda = LINNET_CUDA_AUTO;
  check(linnet_model_need(&file, &profile, &need, &err), err);
  CHECK(need.device_bytes == 0);
}

TEST_CASE("every call of the driver fails once: a status, and nothing lost") {
  FakeCuda fake(setup());
  Model gpu("tests/golden/qwen2", LINNET_I8, 0, false);  // only its image
  const linnet_view file = gpu.image.view();
  const linnet_profile profile = on_gpu();
  const Tokens tokens = random_tokens(5, 64, 1);
  const auto p = params(LINNET_I8, 1, 4, 1, 16);
  // A model, a session, a prompt, a token, its state, the end. How far it came.
  const auto life = [&](linnet_status* status) -> int {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    linnet_model* m = nullptr;
    linnet_session* s = nullptr;
    if ((*status = linnet_model_need(&file, &profile, &need, &err)) != LINNET_OK) return 0;
    const Memory of_model(need.bytes);
    if ((*status = linnet_model_init(&m, of_model.p, need.bytes, &file, &profile, &err)) != LINNET_OK) return 1;
    int step = 2;
    if ((*status = linnet_session_need(m, &p, &need, &err)) == LINNET_OK) {
      const Memory of_session(need.bytes);
      step = 3;
      if ((*status = linnet_session_init(&s, of_session.p, need.bytes, m, &p, &err)) == LINNET_OK) {
        int32_t token = 0;
        size_t n = 0;
        std::vector<uint8_t> state(1 << 20);
        step = 4;
        if ((*status = linnet_prefill(s, 0, tokens.data(), tokens.size(), &err)) == LINNET_OK &&
            (++step, *status = linnet_decode(s, 0, &token, &err)) == LINNET_OK &&
            (++step, *status = linnet_decode(s, 0, &token, &err)) == LINNET_OK &&
            (++step, *status = linnet_state_save(s, 0, state.data(), state.size(), &n, &err)) == LINNET_OK)
          ++step;
        if (step >= 4 && step < 8) CHECK(linnet_prefill(s, 0, tokens.data(), 1, &err) == LINNET_DEVICE);  // dead, by name
        linnet_session_fini(s);
      }
    }
    linnet_model_fini(m);
    return step;
  };
  linnet_status status;
  const uint64_t before = fake.calls();
  REQUIRE(life(&status) == 8);
  REQUIRE(fake.left() == "");
  const uint64_t n = fake.calls() - before, every = kSlow ? 7 : 1;
  uint32_t failures = 0, leaks = 0, at_step[9] = {};
  for (uint64_t i = 1; i <= n; i += every) {
    const std::string had = fake.left();  // of what the driver did not take back before
    fake.fail_call(i, 999);
    const int step = life(&status);
    INFO("call " << i << " of " << n << ": " << (fake.failed() ? fake.failed() : "none") << ", came to step " << step);
    if (status != LINNET_OK) CHECK(status == LINNET_DEVICE);
    failures += status != LINNET_OK;
    ++at_step[step];
    fake.heal();
    const bool ending =
        fake.failed() &&
        (std::string(fake.failed()).find("Destroy") != std::string::npos || std::string(fake.failed()).find("Free") != std::string::npos ||
         std::string(fake.failed()).find("Pop") != std::string::npos || std::string(fake.failed()).find("Release") != std::string::npos ||
         std::string(fake.failed()).find("Unload") != std::string::npos);
    if (ending)
      leaks += fake.left() != had;  // what the driver refuses to take back cannot be given back
    else
      CHECK(fake.left() == had);
  }
  std::printf(
      "%llu calls, every %llu failed once; the statuses of %u lives said so, %u times the driver did not take something back; by steps:",
      static_cast<unsigned long long>(n), static_cast<unsigned long long>(every), failures, leaks);
  for (const uint32_t c : at_step) std::printf(" %u", c);
  std::printf("\n");
  CHECK(failures > n / every / 2);
}

TEST_CASE("what CUDA cannot do, and machines without it") {
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  Model image("tests/golden/llama", LINNET_I8G128, 0, false);
  const linnet_view file = image.image.view();
  linnet_profile profile = on_gpu();
  {
    FakeCudaSetup none = setup();
    none.devices = 0;
    FakeCuda fake(none);
    CHECK(linnet_model_need(&file, &profile, &need, &err) == LINNET_DEVICE);
    CHECK(std::string(err.text).find("no CUDA device") != std::string::npos);
    profile.cuda = LINNET_CUDA_AUTO;
    check(linnet_model_need(&file, &profile, &need, &err), err);
    CHECK(need.device_bytes == 0);
  }
  {
    FakeCuda fake(setup(75));  // Turing has no kernels here
    profile.cuda = LINNET_CUDA_ON;
    CHECK(linnet_model_need(&file, &profile, &need, &err) == LINNET_UNSUPPORTED);
  }
  FakeCuda fake(setup());
  profile.cuda_block_bytes = 1000;
  CHECK(linnet_model_need(&file, &profile, &need, &err) == LINNET_BAD_PROFILE);
  profile.cuda_block_bytes = 0;
  Model gpu("tests/golden/llama", LINNET_I8G128, 0, false);  // ends before its driver does
  gpu.open(profile);
  auto p = params(LINNET_KIVI4, 1, 0, 0, 64);
  CHECK(linnet_session_need(gpu.m, &p, &need, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("CUDA") != std::string::npos);
  p = params(LINNET_I8, 1, 0, 0, 64);
  for (const uint32_t when : {LINNET_FULL_HEAVY_HITTERS, LINNET_FULL_SNAPKV}) {
    p.when_full = when;
    CHECK(linnet_session_need(gpu.m, &p, &need, &err) == LINNET_UNSUPPORTED);
  }
}

TEST_CASE("weights that CUDA does not take: with auto the CPU computes, with on they are refused by name") {
  const FakeCuda fake(setup());
  linnet_profile profile = on_gpu(1 << 16);
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  const auto refused = [&](Model& model, linnet_status status, const std::string& why) {
    INFO(why);
    const linnet_view file = model.image.view();
    profile.cuda = LINNET_CUDA_ON;
    CHECK(linnet_model_need(&file, &profile, &need, &err) == status);
    CHECK(std::string(err.text).find(why) != std::string::npos);
    profile.cuda = LINNET_CUDA_AUTO;
    err = {};
    model.open(profile);
    CHECK(model.desc.device == nullptr);
    const Tokens tokens = random_tokens(9, model.desc.n_vocab, 3);
    const Session s(model, params(LINNET_I8, 1, 0, 1, 16));
    check(linnet_prefill(s.s, 0, tokens.data(), tokens.size(), &err), err);
  };
  const auto packed = [](linnet_format f) {
    return std::make_unique<Model>("examples/assistant/model/checkpoint", f, 0, false);  // of whole blocks
  };
  const auto taken = packed(LINNET_I8G32);
  profile.cuda = LINNET_CUDA_AUTO;
  taken->open(profile);
  CHECK(taken->desc.device != nullptr);
  refused(*packed(LINNET_F32), LINNET_TOO_SMALL, "takes more than 16 blocks of 65536 bytes");
  uint32_t lacking = 0;
  for (const linnet::FormatRow& row : linnet::kFormats) {
    if (!linnet::format_known(row.format) || linnet::cuda_multiplies(row.format)) continue;
    ++lacking;
    const std::string why = std::string("weights in ") + row.name;
    if (const auto* form = linnet::convert::plain_form(row.format)) {  // many kinds are not packed from floats
      const TemporaryFile file_of(tiny_model(form->type, 1).bytes());
      Model model(file_of.path, row.format, 0, false);
      refused(model, LINNET_UNSUPPORTED, why);
    } else if (linnet::packs_floats(row.format)) {
      refused(*packed(row.format), LINNET_UNSUPPORTED, why);
    }
  }
  CHECK(lacking > 0);
  std::printf("%u formats of weights have no CUDA kernels\n", lacking);
}

// Draws on the device, whose next pass runs before the host knows the token.
TEST_CASE("generate on CUDA: the CPU's tokens, also after stops, and the sequence is what it was told") {
  FakeCuda fake(setup());
  const bool by_host = GENERATE(false, true);  // the second one's embeddings of layers are looked up by the host, who waits for each token
  const char* const src = by_host ? "tests/golden/gemma4-e2b" : "tests/golden/mistral-window";
  const Model cpu(src, LINNET_I8G128);
  Model gpu(src, LINNET_I8G128, 0, false);
  gpu.open(on_gpu());
  auto p = params(LINNET_I8, 1, 16, 1, 90);
  p.n_sequences = 2;
  linnet_sampling ways[5] = {};
  for (linnet_sampling& w : ways) w = sampling_of(77);
  ways[1].temperature = 0.9f;
  ways[2].temperature = 1.3f, ways[2].top_k = 12, ways[2].top_p = 0.9f;
  ways[3].repeat_penalty = 1.4f, ways[3].penalty_last_n = 16;
  ways[4].temperature = 2, ways[4].min_p = 0.05f, ways[4].frequency_penalty = 0.3f, ways[4].presence_penalty = 0.2f;
  struct Heard {
    Tokens tokens;
    size_t stop_after;
  };
  const auto hear = [](void* user, int32_t token, const char*, size_t) -> int {
    Heard& h = *static_cast<Heard*>(user);
    if (token >= 0) h.tokens.push_back(token);
    return h.tokens.size() == h.stop_after;
  };
  for (const linnet_sampling& way : ways) {
    if ((kSlow || by_host) && (&way - ways) % 2) continue;
    Session on(gpu, p), off(cpu, p);
    const Tokens prompt = random_tokens(11, cpu.desc.n_vocab, 4);
    Heard heard[2];
    int which = 0;
    for (Session* s : {&on, &off}) {
      linnet_error err{};
      Heard& h = heard[which++];
      check(linnet_sampling_set(s->s, 0, &way, &err), err);
      s->prefill(prompt);
      linnet_generate_params g{};
      g.size = sizeof g;
      g.ignore_eos = 1;
      linnet_generated end{.size = sizeof end};
      g.max_tokens = 9;
      h.stop_after = 0;
      check(linnet_generate(s->s, 0, &g, hear, &h, &end, &err), err);
      CHECK(end.why == LINNET_STOP_LENGTH);
      g.max_tokens = 0;
      h.stop_after = 15;  // the callback ends it, with a pass under way that does not count
      check(linnet_generate(s->s, 0, &g, hear, &h, &end, &err), err);
      CHECK(end.why == LINNET_STOP_CALLBACK);
      CHECK(s->length() == prompt.size() + 15);
      check(linnet_fork(s->s, 0, 1, 20, &err), err);
      check(linnet_truncate(s->s, 0, s->length() - 3, nullptr), err);
      const int32_t again = 3;
      check(linnet_prefill(s->s, 0, &again, 1, &err), err);
      h.stop_after = 0;
      check(linnet_generate(s->s, 0, &g, hear, &h, &end, &err), err);
      CHECK(end.why == LINNET_STOP_CONTEXT);
      CHECK(s->length() == 90);
    }
    INFO("way " << &way - ways);
    CHECK(heard[0].tokens == heard[1].tokens);
    CHECK(heard[0].tokens.size() > 60);
    CHECK(same_bytes(on.logits(), off.logits()));
  }
  CHECK(fake.calls("cuGraphLaunch") > (kSlow || by_host ? 3 : 5) * 60);
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("embeddings of layers stay in the file with CUDA: need says no byte of them, and rows go along with each pass") {
  FakeCuda fake(setup());
  const std::string src = "tests/golden/gemma4-e2b";
  const Model cpu(src, LINNET_I8);
  Model gpu(src, LINNET_I8, 0, false);
  const linnet_view file = gpu.image.view();
  const linnet_profile profile = on_gpu();
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  check(linnet_model_need(&file, &profile, &need, &err), err);
  gpu.open(profile);
  REQUIRE(gpu.desc.device != nullptr);
  REQUIRE(gpu.desc.layer_embd_bytes > 0);
  CHECK(fake.bytes() == need.device_bytes);
  const uint64_t others = gpu.desc.weight_bytes - gpu.desc.layer_embd_bytes;
  CHECK((need.device_bytes >= others && need.device_bytes < others + gpu.desc.layer_embd_bytes));
  auto p = params(LINNET_I8, 1, 8, 1, 64);
  p.n_sequences = 2;
  linnet_need with{.size = sizeof with};
  check(linnet_session_need(gpu.m, &p, &with, &err), err);
  Session on(gpu, p), off(cpu, p);
  CHECK(fake.bytes() + fake.host_bytes() == need.device_bytes + with.device_bytes);
  const Tokens first = random_tokens(21, cpu.desc.n_vocab, 1), second = random_tokens(5, cpu.desc.n_vocab, 2);
  for (Session* s : {&on, &off}) {
    const linnet_rows rows[] = {row_of(0, first.size(), first.data()), row_of(1, second.size(), second.data())};
    check(linnet_prefill_batch(s->s, rows, 2, &err), err);
    const linnet_rows tails[] = {row_of(1, 1, first.data()), row_of(0, 1, second.data())};
    for (int i = 0; i < 3; ++i) check(linnet_prefill_batch(s->s, tails, 2, &err), err);  // recorded
  }
  for (uint32_t seq = 0; seq < 2; ++seq) {
    const float *a = nullptr, *b = nullptr;
    size_t n = 0;
    check(linnet_logits(on.s, seq, 0, &a, &n, &err), err);
    check(linnet_logits(off.s, seq, 0, &b, &n, &err), err);
    CHECK(std::memcmp(a, b, n * sizeof(float)) == 0);
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

namespace {
// Loops of registers alone would take the emulator minutes.
bool run_but_peaks(const char* kernel, const unsigned (&grid)[3], unsigned threads, unsigned shared_bytes, const void* args,
                   size_t n_args) {
  return std::strncmp(kernel, "peak_", 5) == 0 || run_emulated(kernel, grid, threads, shared_bytes, args, n_args);
}
}  // namespace

TEST_CASE("a GPU's limits are measured; every call that fails once is a status and loses nothing") {
  FakeCudaSetup s = setup();
  s.run = run_but_peaks;
  linnet_error err{};
  linnet_profile profile = on_gpu(1 << 16);
  linnet_measurement m{};
  const char data = 0;
  const auto measure = [&](size_t size, const void* read) {
    m = {};
    m.size = static_cast<uint32_t>(size);
    return linnet_measure(&profile, 1, read, read != nullptr, &m, &err);
  };
  {
    FakeCuda fake(s);
    check(measure(sizeof m, &data), err);
    CHECK(m.read_gb_s > 0);
    CHECK(m.int8_tops > 0);
    CHECK(m.f8_tops > 0);
    CHECK(m.isa != 0);
    CHECK(m.float_tops + m.decode_gb_s + m.prefill_tops == 0);
    CHECK(fake.launches("peak_i8") == fake.launches("peak_bf16"));
    CHECK(fake.most_bytes() > 1 << 16);
    CHECK(fake.left() == "");
    const uint64_t reads = fake.launches("read_all");
    check(measure(offsetof(linnet_measurement, decode_gb_s), nullptr), err);  // the peak alone
    CHECK(m.read_gb_s + m.f8_tops == 0);
    CHECK(m.int8_tops > 0);
    CHECK(fake.launches("read_all") == reads);
    profile.cuda = LINNET_CUDA_OFF;
    const uint64_t calls = fake.calls();
    check(measure(offsetof(linnet_measurement, decode_gb_s), nullptr), err);
    CHECK(fake.calls() == calls);
    profile.cuda = LINNET_CUDA_ON;
    CHECK(fake.complaints() == std::vector<std::string>{});
  }
  s.run = nullptr;
  FakeCuda fake(s);
  const uint64_t before = fake.calls();
  check(measure(sizeof m, &data), err);
  const uint64_t n = fake.calls() - before;
  uint32_t failures = 0;
  for (uint64_t i = 1; i <= n; ++i) {
    const std::string had = fake.left();
    fake.fail_call(i, 999);
    const linnet_status status = measure(sizeof m, &data);
    INFO("call " << i << " of " << n << ": " << (fake.failed() ? fake.failed() : "none"));
    CHECK((status == LINNET_OK || status == LINNET_DEVICE));
    failures += status != LINNET_OK;
    fake.heal();
    const std::string failed = fake.failed() ? fake.failed() : "";
    bool ending = false;
    for (const char* word : {"Destroy", "Free", "Pop", "Release", "Unload"}) ending = ending || failed.find(word) != std::string::npos;
    if (!ending) CHECK(fake.left() == had);
  }
  CHECK(failures > n * 3 / 4);
}

TEST_CASE("the bench of a GPU's kernels, in small") {
  FakeCudaSetup s = setup();
  s.run = run_but_peaks;
  FakeCuda fake(s);
  linnet::test::CudaBench bench;
  bench.shapes = {{64, 256}, {40, 160}};
  bench.rows = 20, bench.depth = 300, bench.n_heads = 4, bench.n_kv_heads = 2, bench.head_dim = 32, bench.n_layers = 2;
  bench.least_bytes = 0, bench.read_bytes = 1 << 16, bench.print = false;
  CHECK(bench.run() == "");
  CHECK(bench.figures.size() == 13);
  CHECK(fake.launches("gemv_i8") == 2 * 6);
  CHECK(fake.launches("peak_i8") == fake.launches("peak_bf16"));
  for (const auto& f : bench.figures) {
    INFO(f.what);
    CHECK(f.reached > 0);
    CHECK(f.limit > 0);
  }
  CHECK(fake.left() == "");
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("this machine's GPU: the logits of the CPU, to the bit") {
  if (!linnet::test::cuda_device_or_skipped()) return;
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t n;
  } runs[] = {{"llama", LINNET_I8G128, 270}, {"mistral-window", LINNET_I4G128, 60}, {"gemma3", LINNET_I8G32, 60},
              {"qwen2", LINNET_I8, 20},      {"deepseek-v2", LINNET_I8G128, 20},    {"mixtral", LINNET_I8G128, 20},
              {"gpt-oss", LINNET_I4G64, 40}};
  for (const auto& r : runs) {
    INFO(r.name << " " << linnet_format_name(r.weights));
    const std::string src = std::string("tests/golden/") + r.name;
    const Model cpu(src, r.weights);
    Model gpu(src, r.weights, 0, false);
    gpu.open(on_gpu());
    REQUIRE(gpu.desc.device != nullptr);
    const Tokens tokens = random_tokens(r.n, cpu.desc.n_vocab, 3);
    const auto want = walk(cpu, tokens, LINNET_I8, 8), got = walk(gpu, tokens, LINNET_I8, 8, 16);
    for (size_t i = 0; i < want.size(); ++i) {
      INFO("row " << i);
      CHECK(same_bytes(want[i], got[i]));
    }
  }
}

namespace {

// Between launches: a token whose embedding becomes infinite, and a session that is cancelled at the n-th launch from now.
int32_t infinite_token = -1;
linnet_session* to_cancel = nullptr;
int64_t cancel_at = 0;

bool run_disturbed(const char* kernel, const unsigned (&grid)[3], unsigned threads, unsigned shared_bytes, const void* args,
                   size_t n_args) {
  if (to_cancel && --cancel_at == 0) linnet_cancel(to_cancel);
  if (!run_emulated(kernel, grid, threads, shared_bytes, args, n_args)) return false;
  if (const auto* e = static_cast<const linnet::EmbedArgs*>(args); std::string(kernel) == "embed" && e->tokens[0] == infinite_token)
    e->y[0] = HUGE_VALF;
  return true;
}

struct Listener {
  Tokens tokens;
  int32_t stop_at = -1;              // the callback ends it here
  linnet_session* cancel = nullptr;  // or cancels it
  static int hear(void* user, int32_t token, const char*, size_t) {
    Listener& l = *static_cast<Listener*>(user);
    if (token >= 0) l.tokens.push_back(token);
    if (token >= 0 && token == l.stop_at && l.cancel) linnet_cancel(l.cancel);
    return token >= 0 && token == l.stop_at && !l.cancel;
  }
};

linnet_status generate(const Session& s, uint32_t n, Listener* l, linnet_generated* end, uint32_t seq = 0) {
  linnet_generate_params g{};
  g.size = sizeof g;
  g.ignore_eos = 1;
  g.max_tokens = n;
  linnet_error err{};
  return linnet_generate(s.s, seq, &g, Listener::hear, l, end, &err);
}

}  // namespace

// The pass that runs ahead is never stopped half way: what it leaves would count.
TEST_CASE("cancel at any launch of generate without graphs on CUDA: what was told is what the CPU tells") {
  FakeCudaSetup disturbed = setup();
  disturbed.run = run_disturbed;
  FakeCuda fake(disturbed);
  const Model cpu("tests/golden/gemma3", LINNET_I8G128);
  Model gpu("tests/golden/gemma3", LINNET_I8G128, 0, false);
  linnet_profile profile = on_gpu();
  profile.cuda_graph = LINNET_SWITCH_OFF;
  gpu.open(profile);
  const auto p = params(LINNET_I8, 1, 16, 1, 40);
  const Tokens prompt = random_tokens(7, cpu.desc.n_vocab, 4);
  Session off(cpu, p);
  off.prefill(prompt);
  Listener want;
  linnet_generated end{.size = sizeof end};
  REQUIRE(generate(off, 8, &want, &end) == LINNET_OK);
  uint32_t cancelled = 0;
  for (int64_t at = 1; at < 120; at += kSlow ? 39 : 13) {
    INFO("launch " << at);
    Session on(gpu, p);
    on.prefill(prompt);
    to_cancel = on.s;
    cancel_at = at;
    Listener got;
    REQUIRE(generate(on, 8, &got, &end) == LINNET_OK);
    to_cancel = nullptr;
    cancelled += end.why == LINNET_STOP_CANCEL;
    CHECK(on.length() == prompt.size() + got.tokens.size());
    if (const uint32_t left = 8 - static_cast<uint32_t>(got.tokens.size())) REQUIRE(generate(on, left, &got, &end) == LINNET_OK);
    CHECK(got.tokens == want.tokens);
  }
  CHECK(cancelled > (kSlow ? 1 : 5));
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("infinite activations of a pass ahead: told where it counts, of no matter where it does not") {
  FakeCudaSetup disturbed = setup();
  disturbed.run = run_disturbed;
  FakeCuda fake(disturbed);
  const Model cpu("tests/golden/llama", LINNET_I8G128);
  Model gpu("tests/golden/llama", LINNET_I8G128, 0, false);
  gpu.open(on_gpu());
  auto p = params(LINNET_I8, 1, 16, 1, 60);
  p.n_sequences = 2;
  const Tokens prompt = random_tokens(7, cpu.desc.n_vocab, 4);
  linnet_sampling way = sampling_of(5);
  way.temperature = 1.5f;
  linnet_error err{};
  Session off(cpu, p);
  check(linnet_sampling_set(off.s, 0, &way, &err), err);
  off.prefill(prompt);
  Listener want;
  linnet_generated end{.size = sizeof end};
  REQUIRE(generate(off, 12, &want, &end) == LINNET_OK);
  size_t n = 3;  // the last that is told before the pass that goes wrong
  while (std::count(want.tokens.begin(), want.tokens.begin() + static_cast<std::ptrdiff_t>(n), want.tokens[n])) REQUIRE(++n < 10);
  const size_t told = prompt.size() + n + 1;
  for (const int how : {0, 1, 2}) {  // nobody stops; the callback does; a cancel does
    INFO("how " << how);
    Session on(gpu, p);
    check(linnet_sampling_set(on.s, 0, &way, &err), err);
    on.prefill(prompt);
    check(linnet_fork(on.s, 0, 1, prompt.size(), &err), err);
    infinite_token = want.tokens[n];
    Listener got;
    if (how) got.stop_at = infinite_token;
    if (how == 2) got.cancel = on.s;
    CHECK(generate(on, 12, &got, &end) == (how ? LINNET_OK : LINNET_NOT_FINITE));
    CHECK(got.tokens.size() == n + 1);
    CHECK(on.length() == told);
    if (how == 1) {  // what did not count leaves nothing behind
      Listener beside;
      CHECK(generate(on, 2, &beside, &end, 1) == LINNET_OK);  // drawn from logits that were there before
      check(linnet_truncate(on.s, 0, told - 1, nullptr), err);
      const int32_t other = infinite_token ? 0 : 1;
      check(linnet_prefill(on.s, 0, &other, 1, &err), err);
      continue;
    }
    int32_t token = 0;
    CHECK(linnet_sample(on.s, 0, &token, &err) == LINNET_NOT_FINITE);
    infinite_token = -1;
    REQUIRE(generate(on, 12 - static_cast<uint32_t>(got.tokens.size()), &got, &end) == LINNET_OK);  // with the CPU's draws
    CHECK(got.tokens == want.tokens);
  }
  infinite_token = -1;
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("zero copy on CUDA: the same bytes from where the file lies, whose pages are given back") {
  const Model cpu("tests/golden/qwen2", LINNET_I8G128);
  const auto p = params(LINNET_I8, 1, 16, 1, 40);
  const Tokens prompt = random_tokens(9, cpu.desc.n_vocab, 4);
  linnet_profile profile = on_gpu();
  profile.cuda_zero_copy = LINNET_SWITCH_ON;
  Model gpu("tests/golden/qwen2", LINNET_I8G128, 0, false);
  const linnet_view file = gpu.image.view();
  linnet_error err{};
  linnet_need need{.size = sizeof need}, copied{.size = sizeof copied};
  {
    FakeCuda fake(setup());
    const linnet_profile copying = on_gpu();
    check(linnet_model_need(&file, &copying, &copied, &err), err);
    check(linnet_model_need(&file, &profile, &need, &err), err);
    CHECK((need.device_bytes > 0 && need.device_bytes < copied.device_bytes / 4));
    const Memory memory(need.bytes);
    linnet_model* m = nullptr;
    for (const char* symbol : {"cuMemHostRegister_v2", "cuMemHostGetDevicePointer_v2"}) {
      fake.fail_call(symbol, 1, 801);  // not supported
      CHECK(linnet_model_init(&m, memory.p, need.bytes, &file, &profile, &err) ==
            (std::string(symbol).find("Register") != std::string::npos ? LINNET_UNSUPPORTED : LINNET_DEVICE));
      CHECK(fake.failed() == std::string(symbol));
      fake.heal();
      CHECK(fake.left() == "");
    }
    gpu.open(profile);
    CHECK(fake.bytes() == need.device_bytes);
    Session on(gpu, p), off(cpu, p);
    on.prefill(prompt);
    off.prefill(prompt);
    CHECK(same_bytes(on.logits(), off.logits()));
    for (int i = 0; i < 3; ++i) CHECK(on.decode() == off.decode());
    CHECK(same_bytes(on.logits(), off.logits()));
    linnet_session_fini(on.s);
    on.s = nullptr;
    linnet_model_fini(gpu.m);
    gpu.m = nullptr;
    CHECK(fake.left() == "");
    CHECK(fake.complaints() == std::vector<std::string>{});
  }
  FakeCudaSetup server = setup();
  server.integrated = false;
  FakeCuda fake(server);
  const Memory memory(need.bytes);
  linnet_model* m = nullptr;
  CHECK(linnet_model_init(&m, memory.p, need.bytes, &file, &profile, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("cuda_zero_copy") != std::string::npos);
  CHECK(fake.left() == "");
  profile.cuda_zero_copy = 3;
  CHECK(linnet_model_need(&file, &profile, &need, &err) == LINNET_BAD_PROFILE);
}

TEST_CASE("grammars and banned strings on CUDA: the host draws, the CPU's text, what is forced too, and without one the GPU draws again") {
  FakeCuda fake(setup());
  const char* const schema =
      R"({"type":"object","properties":{"n":{"type":"integer","minimum":3,"maximum":140},"on":{"type":"boolean"}},"required":["n","on"]})";
  linnet_error err{};
  size_t n = 0;
  std::vector<char> blob(1 << 14);
  check(linnet_grammar_compile(nullptr, schema, std::strlen(schema), "schema", LINNET_GRAMMAR_SCHEMA, blob.data(), blob.size(), &n, &err),
        err);
  linnet_view file{};
  check(linnet_file_map("examples/assistant/model/linnet-assistant.gguf", LINNET_LOAD_MAP, &file, &err), err);
  struct Run {
    std::string text, free, without;  // under the grammar and behind it; what the model says by itself, and where some of that is banned
    Row row;
    size_t taken_back = 0;
  } runs[3];
  const char* banned = nullptr;
  std::string banned_text;
  for (const uint32_t which : {0u, 1u, 2u}) {  // the CPU; the GPU; the GPU with room for what a grammar forces in one pass
    Run& run = runs[which];
    linnet_profile profile = on_gpu();
    if (!which) profile.cuda = LINNET_CUDA_OFF;
    linnet_need need{.size = sizeof need};
    linnet_model* model = nullptr;
    check(linnet_model_need(&file, &profile, &need, &err), err);
    const Memory model_memory(need.bytes);
    check(linnet_model_init(&model, model_memory.p, need.bytes, &file, &profile, &err), err);
    linnet_grammar* grammar = nullptr;
    check(linnet_grammar_need(model, blob.data(), n, &need, &err), err);
    const Memory grammar_memory(need.bytes);
    check(linnet_grammar_init(&grammar, grammar_memory.p, need.bytes, model, blob.data(), n, &err), err);
    const auto p = params(LINNET_I8, 1, 16, which == 2 ? 8 : 1, 96);
    linnet_session* session = nullptr;
    check(linnet_session_need(model, &p, &need, &err), err);
    const Memory memory(need.bytes);
    check(linnet_session_init(&session, memory.p, need.bytes, model, &p, &err), err);
    linnet_sampling sampling = sampling_of(5);
    sampling.temperature = 3;
    check(linnet_sampling_set(session, 0, &sampling, &err), err);
    const Tokens prompt = {300, 301};
    check(linnet_prefill(session, 0, prompt.data(), prompt.size(), &err), err);
    check(linnet_grammar_set(session, 0, grammar, &err), err);
    linnet_generate_params g{};
    g.size = sizeof g;
    struct Heard {
      std::string* text;
      size_t* taken_back;
    } heard = {&run.text, &run.taken_back};
    const auto hear = [](void* user, int32_t token, const char* utf8, size_t n_bytes) -> int {
      Heard& h = *static_cast<Heard*>(user);
      if (n_bytes) h.text->append(utf8, n_bytes);
      if (token < -1) *h.taken_back += static_cast<size_t>(-1 - token);
      return 0;
    };
    linnet_generated end{.size = sizeof end};
    check(linnet_generate(session, 0, &g, hear, &heard, &end, &err), err);
    CHECK(end.why == LINNET_STOP_GRAMMAR);
    check(linnet_grammar_set(session, 0, nullptr, &err), err);
    g.max_tokens = 2;
    g.ignore_eos = 1;
    check(linnet_generate(session, 0, &g, hear, &heard, &end, &err), err);
    CHECK(end.why == LINNET_STOP_LENGTH);
    const float* row = nullptr;
    size_t n_vocab = 0;
    check(linnet_logits(session, 0, 0, &row, &n_vocab, nullptr), err);
    run.row.assign(row, row + n_vocab);
    g.max_tokens = 12;
    for (std::string* text : {&run.free, &run.without}) {
      check(linnet_truncate(session, 0, 0, &err), err);
      check(linnet_sampling_set(session, 0, &sampling, &err), err);
      check(linnet_prefill(session, 0, prompt.data(), prompt.size(), &err), err);
      heard.text = text;
      check(linnet_generate(session, 0, &g, hear, &heard, &end, &err), err);
      if (banned_text.empty()) banned_text = text->substr(2, 10), banned = banned_text.c_str();
      g.banned = &banned;
      g.n_banned = 1;
    }
    linnet_session_fini(session);
    linnet_model_fini(model);
  }
  linnet_file_unmap(&file);
  for (const Run& run : runs) {
    INFO(run.text << "\n" << run.free << "\n" << run.without << "\nwithout " << banned_text);
    CHECK(run.text == runs[0].text);
    CHECK(run.text.find("{\"n\":") == 0);
    CHECK(same_bytes(run.row, runs[0].row));
    CHECK(run.free == runs[0].free);
    CHECK(run.free.find(banned_text) != run.free.npos);
    CHECK(run.without == runs[0].without);
    CHECK(run.without.find(banned_text) == run.without.npos);
    CHECK(run.without.size() > 4);
    CHECK(run.taken_back > 0);
    CHECK(run.taken_back == runs[0].taken_back);
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}

// The GPU keeps what it drew, as penalties look back at it, and is told the last of it anew where its room ends.
TEST_CASE("a generation on CUDA longer than the GPU's memory of what was drawn") {
  if (!std::getenv("LINNET_TEST_FULL")) {
    std::printf("skipped: 3,100 tokens in the emulator: set LINNET_TEST_FULL\n");
    return;
  }
  FakeCuda fake(setup());
  const Model cpu("tests/golden/mistral-window", LINNET_I8G128);
  Model gpu("tests/golden/mistral-window", LINNET_I8G128, 0, false);
  gpu.open(on_gpu());
  const auto p = params(LINNET_I8, 1, 64, 1, 4400);
  linnet_sampling way = sampling_of(9);
  way.temperature = 1;
  way.repeat_penalty = 1.5f;
  way.penalty_last_n = 100;
  Tokens heard[2];
  int which = 0;
  Session on(gpu, p), off(cpu, p);
  for (Session* s : {&on, &off}) {
    linnet_error err{};
    check(linnet_sampling_set(s->s, 0, &way, &err), err);
    s->prefill(random_tokens(1030, cpu.desc.n_vocab, 4));
    linnet_generate_params g{};
    g.size = sizeof g;
    g.ignore_eos = 1;
    g.max_tokens = 3100;
    linnet_generated end{.size = sizeof end};
    const auto hear = [](void* user, int32_t token, const char*, size_t) -> int {
      if (token >= 0) static_cast<Tokens*>(user)->push_back(token);
      return 0;
    };
    check(linnet_generate(s->s, 0, &g, hear, &heard[which++], &end, &err), err);
  }
  CHECK(heard[0].size() == 3100);
  CHECK(heard[0] == heard[1]);
  CHECK(same_bytes(on.logits(), off.logits()));
  CHECK(fake.complaints() == std::vector<std::string>{});
}

TEST_CASE("sessions of several threads on one GPU: each gets the CPU's tokens") {
  FakeCuda fake(setup());
  const Model cpu("tests/golden/qwen2", LINNET_I8G128);
  Model gpu("tests/golden/qwen2", LINNET_I8G128, 0, false);
  gpu.open(on_gpu());
  const auto p = params(LINNET_I8, 1, 16, 1, 64);
  constexpr uint32_t kSessions = 4;
  std::vector<std::unique_ptr<Session>> on;
  Tokens prompt[kSessions], heard[kSessions], want[kSessions];
  linnet_status status[kSessions] = {};
  const auto hear = [](void* user, int32_t token, const char*, size_t) -> int {
    if (token >= 0) static_cast<Tokens*>(user)->push_back(token);
    return 0;
  };
  const auto talk = [&](const Session& s, uint32_t i, Tokens* out) {
    linnet_error err{};
    linnet_generate_params g{};
    g.size = sizeof g;
    g.ignore_eos = 1;
    g.max_tokens = 8;
    linnet_generated end{.size = sizeof end};
    size_t length = 0;
    for (int turn = 0; turn < 3; ++turn) {
      if (const linnet_status bad = linnet_prefill(s.s, 0, prompt[i].data(), prompt[i].size(), &err)) return bad;
      if (const linnet_status bad = linnet_generate(s.s, 0, &g, hear, out, &end, &err)) return bad;
      if (const linnet_status bad = linnet_length(s.s, 0, &length, nullptr)) return bad;
      if (const linnet_status bad = linnet_truncate(s.s, 0, length - 5, nullptr)) return bad;
    }
    return LINNET_OK;
  };
  for (uint32_t i = 0; i < kSessions; ++i) {
    prompt[i] = random_tokens(5 + i, cpu.desc.n_vocab, 40 + i);
    on.push_back(std::make_unique<Session>(gpu, p));
    const Session off(cpu, p);
    REQUIRE(talk(off, i, &want[i]) == LINNET_OK);
  }
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kSessions; ++i) threads.emplace_back([&, i] { status[i] = talk(*on[i], i, &heard[i]); });
  for (std::thread& t : threads) t.join();
  for (uint32_t i = 0; i < kSessions; ++i) {
    CHECK(status[i] == LINNET_OK);
    CHECK(heard[i].size() == 24);
    CHECK(heard[i] == want[i]);
  }
  CHECK(fake.complaints() == std::vector<std::string>{});
}
