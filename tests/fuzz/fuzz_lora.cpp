// libFuzzer: any bytes as an adapter. The first byte picks a model and a form: a GGUF file, or a folder as PEFT saves it, whose
// adapter_config.json ends with a zero byte and whose adapter_model.safetensors follows. What loads is computed with.
#include <linnet_lora.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/convert/convert.h"

using namespace linnet;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

constexpr size_t kAlign = 64;
struct Room {
  void* p = nullptr;
  explicit Room(size_t bytes) { require(posix_memalign(&p, kAlign, bytes ? bytes : 1) == 0); }
  ~Room() { std::free(p); }
  Room(const Room&) = delete;
};

// Adapters of the goldens, and the folders of their models.
struct Seed {
  const char *model, *adapter;
};
constexpr Seed kSeeds[] = {{"llama", "llama-all"}, {"qwen3-5", "qwen3-5-linear"}, {"deepseek-v2-qlora", "deepseek-v2-qlora-linear"},
                           {"lfm2", "lfm2-head"},  {"phi3", "phi3-fused"},        {"granite4-h", "granite4-h-linear"}};
constexpr uint8_t kModels = sizeof kSeeds / sizeof kSeeds[0];

struct Base {
  std::string folder;
  convert::Image image;
  linnet_model* model = nullptr;
};
Base bases[kModels];
std::vector<std::string> seeds;  // inputs
std::string scratch;             // a folder that is written over

constexpr uint8_t kPeft = 128, kMerged = 64;  // bits of the first byte

void make_base(uint8_t i) {
  Base& b = bases[i];
  linnet_error err{};
  b.folder = std::string("tests/golden/") + kSeeds[i].model;
  convert::Options options;
  options.weights = LINNET_I8G32;
  require(convert::convert_to_memory(b.folder, options, &b.image, &err) == LINNET_OK);
  const linnet_view view = b.image.view();
  linnet_need need{};
  need.size = sizeof need;
  require(linnet_model_need(&view, nullptr, &need, &err) == LINNET_OK);
  void* mem = nullptr;
  require(posix_memalign(&mem, kAlign, need.bytes) == 0);
  require(linnet_model_init(&b.model, mem, need.bytes, &view, nullptr, &err) == LINNET_OK);
  const std::string folder = std::string("tests/golden/lora/") + kSeeds[i].adapter;
  convert::Loaded loaded;
  require(convert::load_adapter(folder, view, &loaded, &err) == LINNET_OK);
  const std::string gguf(static_cast<const char*>(loaded.file.data), loaded.file.bytes);
  convert::unload(&loaded);
  const std::string peft = slurp(folder + "/adapter_config.json") + '\0' + slurp(folder + "/adapter_model.safetensors");
  seeds.push_back(static_cast<char>(i) + gguf);
  seeds.push_back(static_cast<char>(i | kPeft) + peft);
}

// A pass of two tokens with it, and one with it twice.
void compute(const linnet_model* model, const linnet_lora* lora, uint32_t rank) {
  linnet_session_params p{};
  p.size = sizeof p;
  p.n_context = 16, p.n_chunk = 2, p.n_threads = 1, p.lora_rank = 2 * ((rank + 15) / 16 * 16);
  linnet_need need{};
  need.size = sizeof need;
  linnet_error err{};
  require(linnet_session_need(model, &p, &need, &err) == LINNET_OK);
  const Room room(need.bytes);
  linnet_session* s = nullptr;
  require(linnet_session_init(&s, room.p, need.bytes, model, &p, &err) == LINNET_OK);
  const linnet_lora* twice[] = {lora, lora};
  const float scales[] = {1, -0.5f};
  const int32_t tokens[] = {1, 2};
  for (const uint32_t n : {1u, 2u}) {
    require(linnet_truncate(s, 0, 0, &err) == LINNET_OK);
    require(linnet_lora_set(s, 0, twice, scales, n, &err) == LINNET_OK);
    const linnet_status status = linnet_prefill(s, 0, tokens, 2, &err);
    require(status == LINNET_OK || status == LINNET_NOT_FINITE);  // values may be as large as floats are
  }
  linnet_session_fini(s);
}

void load(const Base& base, linnet_view file) {
  linnet_error err{};
  linnet_need need{};
  need.size = sizeof need;
  if (linnet_lora_need(base.model, &file, &need, &err) != LINNET_OK) {
    require(err.text[0] != '\0');
    return;
  }
  const Room room(need.bytes);
  linnet_lora* lora = nullptr;
  require(linnet_lora_init(&lora, room.p, need.bytes - 1, base.model, &file, &err) == LINNET_TOO_SMALL);
  const linnet_status status = linnet_lora_init(&lora, room.p, need.bytes, base.model, &file, &err);
  require(status == LINNET_OK || status == LINNET_BAD_FILE);  // of values alone
  if (status != LINNET_OK) return;
  linnet_lora_desc desc{};
  desc.size = sizeof desc;
  require(linnet_lora_info(lora, &desc, &err) == LINNET_OK && desc.bytes == need.bytes && desc.rank >= 1);
  compute(base.model, lora, desc.rank);
}

void write_file(const std::string& name, std::string_view bytes) {
  std::ofstream out(scratch + name, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  require(out.good());
}

void merge(const Base& base, const std::string& path) {
  convert::Options options;
  options.weights = LINNET_F32;
  options.loras = {{path, 0.5f}};
  convert::Image image;
  linnet_error err{};
  if (convert::convert_to_memory(base.folder, options, &image, &err) == LINNET_OK) convert::image_free(&image);
}

}  // namespace

// Files of the goldens are longer than what libFuzzer would make.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static char longest[] = "-max_len=65536";
  static std::vector<char*> args(*argv, *argv + *argc);
  args.insert(args.begin() + 1, longest);
  *argc = static_cast<int>(args.size());
  args.push_back(nullptr);
  *argv = args.data();
  const char* const tmp = std::getenv("TMPDIR");
  std::string name = std::string(tmp ? tmp : "/tmp") + "/fuzz_lora_XXXXXX";
  require(mkdtemp(name.data()) != nullptr);
  scratch = name;
  std::atexit([] {
    for (const char* file : {"/adapter_config.json", "/adapter_model.safetensors", "/adapter.gguf"}) unlink((scratch + file).c_str());
    rmdir(scratch.c_str());
  });
  for (uint8_t i = 0; i < kModels; ++i) make_base(i);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t bytes, size_t max_bytes);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t max_bytes, unsigned seed) {
  const std::string& good = seeds[seed % seeds.size()];
  if (seed / 16 % 8 == 0 && good.size() <= max_bytes) bytes = good.copy(reinterpret_cast<char*>(data), max_bytes);
  constexpr size_t kWindow = 24;
  if (bytes <= kWindow || seed / 256 % 8 == 0) return LLVMFuzzerMutate(data, bytes, max_bytes);
  // A few bytes in place: most of them where names and shapes are.
  const size_t most = seed / 2048 % 4 && bytes > 4096 ? 4096 : bytes;
  const size_t at = (seed / 8192 * 2654435761u) % (most - kWindow);
  if (!(data[0] & kPeft) || seed / 64 % 2) {
    LLVMFuzzerMutate(data + at, kWindow, kWindow);
    return bytes;
  }
  // Or, of a header of safetensors, other texts of other lengths, and a length that fits.
  const void* const zero = std::memchr(data, 0, bytes);
  const size_t length_at = zero ? static_cast<size_t>(static_cast<const uint8_t*>(zero) - data) + 1 : bytes;
  uint64_t header = 0;
  if (bytes - length_at > 8) std::memcpy(&header, data + length_at, 8);
  if (header < kWindow || header > bytes - length_at - 8 || bytes + kWindow > max_bytes) return LLVMFuzzerMutate(data, bytes, max_bytes);
  const size_t from = length_at + 8 + at % (static_cast<size_t>(header) - kWindow + 1);
  std::vector<uint8_t> rest(data + from + kWindow, data + bytes);
  const size_t now = LLVMFuzzerMutate(data + from, kWindow, 2 * kWindow);
  std::memcpy(data + from + now, rest.data(), rest.size());
  header = header + now - kWindow;
  std::memcpy(data + length_at, &header, 8);
  return from + now + rest.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  const uint8_t kind = data[0];
  const Base& base = bases[(kind & 31) % kModels];
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  const bool merged = (kind & kMerged) && input.size() < 8192;  // takes longer
  if (!(kind & kPeft)) {
    const std::vector<char> copy(input.begin(), input.end());  // ends where its memory does
    load(base, {copy.empty() ? "" : copy.data(), copy.size()});
    if (!merged) return 0;
    write_file("/adapter.gguf", input);
    merge(base, scratch + "/adapter.gguf");
    return 0;
  }
  const size_t zero = input.find('\0');
  write_file("/adapter_config.json", input.substr(0, zero));
  write_file("/adapter_model.safetensors", zero == input.npos ? "" : input.substr(zero + 1));
  convert::Loaded loaded;
  linnet_error err{};
  if (convert::load_adapter(scratch, base.image.view(), &loaded, &err) == LINNET_OK)
    load(base, loaded.file);
  else
    require(err.text[0] != '\0');
  convert::unload(&loaded);
  if (merged) merge(base, scratch);
  return 0;
}
