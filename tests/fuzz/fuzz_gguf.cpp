// libFuzzer: any bytes as a GGUF file. What opens is walked; packed files become models and plain files, plain ones are imported.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/convert/convert.h"
#include "runtime/convert/source.h"
#include "tests/gguf_file.h"

using namespace linnet;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

// The input as a file that has a path.
struct MemoryFile {
  int fd = memfd_create("fuzz", 0);
  explicit MemoryFile(std::string_view bytes) { require(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())); }
  ~MemoryFile() { close(fd); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
};

void walk(const Gguf& g) {
  GgufValue v, same;
  GgufTensor t, again;
  for (uint32_t i = 0; i < g.n_keys; ++i) {
    std::string_view name, text;
    g.key_entry(i, &name, &v);
    require(g.key(name, &same) && same.type == v.type && same.count == v.count);
    size_t pos = 0, n = 0;
    while (gguf_next_string(v, &pos, &text)) ++n;
    require(v.array_type != kGgufString || n == v.count);
  }
  for (uint32_t i = 0; i < g.n_tensors; ++i) {
    g.tensor_entry(i, &t);
    require(g.tensor(t.name, &again) && again.data == t.data);
    require(t.data >= g.data && t.bytes <= g.bytes && t.offset <= g.bytes - t.bytes);
  }
}

void make_model(linnet_view file, Error* err) {
  linnet_need need = {};
  need.size = sizeof need;
  if (linnet_model_need(&file, nullptr, &need, err) != LINNET_OK) return;
  void* mem = nullptr;
  require(posix_memalign(&mem, 64, need.bytes) == 0);
  linnet_model* model = nullptr;
  if (linnet_model_init(&model, mem, need.bytes, &file, nullptr, err) == LINNET_OK) linnet_model_fini(model);
  std::free(mem);
}

void import(std::string_view bytes, Error* err) {
  const MemoryFile file(bytes);
  convert::Source source;
  if (convert::source_from_gguf(file.path(), &source, err) != LINNET_OK) return;
  std::vector<float> row;
  for (const convert::SourceTensor& t : source.tensors) {
    row.resize(t.k);
    require(t.rows(0, 1, row.data(), err) == LINNET_OK && t.rows(t.n - 1, 1, row.data(), err) == LINNET_OK);
    if (!t.gguf_blocks) continue;
    const Format f = t.gguf_format;
    std::vector<uint8_t> blocks(t.gguf_row_bytes()), panel(panel_bytes(f, t.k)), scales(panel_scale_bytes(f, t.k));
    for (const uint32_t i : {0u, t.n - 1}) {
      const linnet_status read = t.gguf_blocks(i, 1, blocks.data(), err);
      require(read == LINNET_OK || read == LINNET_BAD_FILE);  // a scale that is no number
      if (read != LINNET_OK) continue;
      pack_gguf_blocks(f, blocks.data(), blocks.size(), 1, t.k, panel.data(), scales.data());
      unpack_row(panel.data(), scales.data(), f, kPanel, t.k, 0, row.data());
    }
  }
}

void unpack(std::string_view bytes, Error* err) {
  const MemoryFile file(bytes);
  convert::Options options;
  options.plain = true;
  for (const Format f : {LINNET_F32, LINNET_I8G32}) {
    options.weights = f;
    convert::Image image;
    if (convert::convert_to_memory(file.path(), options, &image, err) != LINNET_OK) continue;
    static Gguf g;
    require(gguf_open(image.data, image.bytes, "plain", &g, err) == LINNET_OK && !is_packed(g));
    convert::image_free(&image);
  }
}

using Tensors = std::vector<std::pair<std::string, std::vector<uint64_t>>>;

// A tiny model of another family: without tensors that it does not have, with others and keys.
std::string family(const std::string& arch, const std::vector<std::string>& without, const Tensors& with,
                   const std::vector<std::pair<std::string, uint32_t>>& keys) {
  test::GgufFile f = test::tiny_model(kGgmlF16, 1, arch, {4, 1, 1, 4, 4});
  for (const std::string& name : without) f.remove("blk.0." + name + ".weight");
  for (const auto& [name, dims] : with) {
    uint64_t n = 1;
    for (const uint64_t d : dims) n *= d;
    f.tensors.push_back({(name.starts_with("rope") ? "" : "blk.0.") + name + ".weight", dims, kGgmlF16,
                         test::tensor_data(kGgmlF16, n, static_cast<uint32_t>(f.tensors.size()))});
  }
  for (const auto& [key, value] : keys) f.u32(arch + "." + key, value);
  return f.bytes();
}
const std::vector<std::string>& families() {
  static const std::vector<std::string> all = {
      family("gemma2", {}, {{"post_attention_norm", {4}}, {"post_ffw_norm", {4}}},
             {{"attention.sliding_window", 16}, {"attention.sliding_window_pattern", 2}}),
      family("phi3", {"attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"},
             {{"attn_qkv", {4, 12}}, {"ffn_up", {4, 8}}, {"rope_factors_long", {2}}, {"rope_factors_short", {2}}},
             {{"rope.scaling.original_context_length", 16}}),
      family("deepseek2", {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"},
             {{"attn_q", {4, 33}},
              {"attn_kv_a_mqa", {4, 64}},
              {"attn_kv_a_norm", {32}},
              {"attn_kv_b", {32, 17}},
              {"attn_output", {16, 4}},
              {"ffn_gate_inp", {4, 2}},
              {"ffn_gate_up_exps", {4, 10, 2}},
              {"ffn_down_exps", {5, 4, 2}}},
             {{"attention.kv_lora_rank", 32},
              {"attention.key_length", 33},
              {"attention.value_length", 16},
              {"rope.dimension_count", 32},
              {"expert_count", 2},
              {"expert_used_count", 1},
              {"expert_feed_forward_length", 5}}),
  };
  return all;
}

// A plain model and a packed one, so that a run that starts from nothing gets past the first checks.
const std::vector<std::string>& seeds() {
  static const std::vector<std::string> kept = [] {
    std::vector<std::string> all;
    const auto add_packed = [&all](const std::string& bytes, Format weights) {
      convert::Options options;
      options.weights = weights;
      convert::Image image;
      require(convert::convert_to_memory(MemoryFile(bytes).path(), options, &image, nullptr) == LINNET_OK);
      all.emplace_back(static_cast<const char*>(image.data), image.bytes);
      convert::image_free(&image);
    };
    for (const char* arch : {"llama", "qwen2", "qwen3"}) {
      all.push_back(test::tiny_model(kGgmlF16, 1, arch, {4, 1, 1, 4, 4}).bytes());
      add_packed(all.back(), LINNET_FORMAT_DEFAULT);
    }
    add_packed(test::tiny_model(kGgmlQ8_0, 1, "llama", {32, 1, 1, 32, 4}).bytes(), LINNET_I8G32);
    for (const uint32_t type : {uint32_t{kGgmlQ5_1}, uint32_t{kGgmlMXFP4}, uint32_t{kGgmlNVFP4}, uint32_t{kGgmlQ3_K},
                                uint32_t{kGgmlIQ2_XXS}, uint32_t{kGgmlIQ3_S}, uint32_t{kGgmlIQ1_M}})
      all.push_back(test::tiny_model(type, 1, "llama", {ggml_type(type).values, 1, 1, ggml_type(type).values, 4}).bytes());
    for (const std::string& other : families()) {
      Error err = {};
      convert::Source source;
      require(convert::source_from_gguf(MemoryFile(other).path(), &source, &err) == LINNET_OK);
      all.push_back(other);
      add_packed(other, LINNET_FORMAT_DEFAULT);
    }
    test::GgufFile vocabulary = test::tiny_model(kGgmlF16, 1, "llama", {4, 1, 1, 4, 4});
    vocabulary.text("tokenizer.ggml.model", "llama");
    vocabulary.raw("tokenizer.ggml.tokens", kGgufArray,
                   test::le(uint32_t{kGgufString}) + test::le(uint64_t{4}) + test::lstr("<unk>") + test::lstr("<s>") + test::lstr("a") +
                       test::lstr("aa"));
    vocabulary.raw("tokenizer.ggml.scores", kGgufArray, test::le(uint32_t{kGgufF32}) + test::le(uint64_t{4}) + std::string(16, '\0'));
    vocabulary.raw("tokenizer.ggml.token_type", kGgufArray,
                   test::le(uint32_t{kGgufI32}) + test::le(uint64_t{4}) + test::le(2) + test::le(3) + test::le(1) + test::le(1));
    all.push_back(vocabulary.bytes());
    add_packed(all.back(), LINNET_FORMAT_DEFAULT);
    return all;
  }();
  return kept;
}

}  // namespace

// Without files to begin with, libFuzzer would stay below 4 KiB.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static char longest[] = "-max_len=32768";
  static std::vector<char*> args(*argv, *argv + *argc);
  args.insert(args.begin() + 1, longest);
  *argc = static_cast<int>(args.size());
  args.push_back(nullptr);
  *argv = args.data();
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t bytes, size_t max_bytes);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t max_bytes, unsigned seed) {
  const std::string& good = seeds()[seed % seeds().size()];
  if (seed / 16 % 16 == 0 && good.size() <= max_bytes) bytes = good.copy(reinterpret_cast<char*>(data), max_bytes);
  // Mostly a few bytes in place: whatever changes the length of the header moves all tensors out of place.
  constexpr size_t kWindow = 24;
  if (bytes <= kWindow || seed / 256 % 4 == 0) return LLVMFuzzerMutate(data, bytes, max_bytes);
  const size_t at = (seed / 1024 * 2654435761u) % (bytes - kWindow);
  LLVMFuzzerMutate(data + at, kWindow, kWindow);
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  // A copy of exactly that size at 64: one byte too far is seen, and packed files find the alignment they need.
  void* mem = nullptr;
  require(posix_memalign(&mem, 64, bytes ? bytes : 1) == 0);
  if (bytes) std::memcpy(mem, data, bytes);
  static Gguf g;
  Error err = {};
  if (gguf_open(mem, bytes, "fuzz", &g, &err) == LINNET_OK) {
    walk(g);
    if (is_packed(g)) {
      make_model({mem, bytes}, &err);
      unpack({static_cast<const char*>(mem), bytes}, &err);
    } else
      import({static_cast<const char*>(mem), bytes}, &err);
  } else {
    require(err.code < 0 && err.text[0] != '\0');
  }
  std::free(mem);
  return 0;
}
