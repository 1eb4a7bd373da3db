// libFuzzer: the first byte picks the parser, the rest is its input.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef JSON_NOEXCEPTION  // as the library is compiled
#define JSON_NOEXCEPTION
#endif
#include <nlohmann/json.hpp>

#include "runtime/convert/hf_config.h"
#include "runtime/convert/json.h"
#include "runtime/convert/safetensors.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

void require(bool ok) {
  if (!ok) std::abort();
}

void read_safetensors(std::string_view input, Error* err) {
  SafetensorsTensors tensors;
  if (safetensors_parse(input.data(), input.size(), "fuzz", &tensors, err) != LINNET_OK) return;
  uint64_t total = 0;
  for (const auto& [name, tensor] : tensors) {
    total += tensor.bytes;
    if (tensor.format == LINNET_FORMAT_DEFAULT) continue;
    const uint64_t n = tensor.bytes / (tensor.format == LINNET_F32 ? 4 : 2);
    std::vector<float> values(n);
    safetensors_read(tensor, 0, n, values.data());
  }
  require(total < input.size());
}

// Good inputs, one per parser, so that a run that starts from nothing gets past the first checks.
constexpr std::string_view kSeeds[] = {
    std::string_view("\0\x70\0\0\0\0\0\0\0"
                     R"({"b":{"dtype":"F32","shape":[4],"data_offsets":[12,28]},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})"
                     "0123456789abcdefghijklmnopqr",
                     9 + 0x70 + 28),
    "\1[{\"key\": [1, -2.5e3, \"\\u00e9\\ud83d\\ude00\", true, null]}, {}, []]",
    "\2{\"model_type\": \"llama\", \"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64, \"intermediate_size\": 172, "
    "\"num_hidden_layers\": 2, "
    "\"num_attention_heads\": 8, \"num_key_value_heads\": 4, \"vocab_size\": 512, \"rms_norm_eps\": 1e-5, \"layer_types\": "
    "[\"full_attention\", "
    "\"full_attention\"], \"rope_theta\": 5e5, \"sliding_window\": null, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, "
    "\"low_freq_factor\": 1, \"high_freq_factor\": 4, \"original_max_position_embeddings\": 8192}}",
    "\3{\"metadata\": {}, \"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\", \"b\": \"model-00002-of-00002.safetensors\"}}"};

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t bytes, size_t max_bytes);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t max_bytes, unsigned seed) {
  const std::string_view good = kSeeds[seed % 4];
  if ((seed / 4) % 16 == 0 && good.size() <= max_bytes) bytes = good.copy(reinterpret_cast<char*>(data), max_bytes);
  bytes = LLVMFuzzerMutate(data, bytes, max_bytes);
  // A header length that fits its text, or the text would hardly ever be read.
  if (bytes > 9 && data[0] % 4 == 0 && (seed / 64) % 4 != 0) {
    const size_t end = std::string_view(reinterpret_cast<char*>(data), bytes).rfind('}');
    const uint64_t header = end != std::string_view::npos && end >= 9 ? end - 8 : 0;
    std::memcpy(data + 1, &header, 8);
  }
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  Error err = {};
  nlohmann::json value;
  ModelSpec spec;
  SafetensorsIndex index;
  switch (data[0] % 4) {
    case 0:
      read_safetensors(input, &err);
      break;
    case 1:
      require(json_parse(input, "fuzz", &value, &err) == LINNET_OK || err.text[0] != '\0');
      break;
    case 2:
      if (spec_from_config(input, "fuzz", &spec, &err) == LINNET_OK) require(spec_check(spec, nullptr) == LINNET_OK);
      break;
    default:
      if (safetensors_index(input, "fuzz", &index, &err) == LINNET_OK)
        for (const auto& [name, file] : index) require(file.find('/') == file.npos && file.find('\\') == file.npos && file[0] != '.');
  }
  return 0;
}
