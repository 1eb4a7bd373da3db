// safetensors: one file, or the shards that model.safetensors.index.json names. All of a header is checked before anything of it is used.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../platform/status.h"
#include "../format.h"

namespace linnet::convert {

inline constexpr uint64_t kSafetensorsMaxHeader = 100'000'000;  // the format's own limit
inline constexpr size_t kSafetensorsMaxDims = 8;
inline constexpr const char* kSafetensorsIndex = "model.safetensors.index.json";

struct SafetensorsTensor {
  std::string file;                       // the shard's plain name, for error texts
  std::string dtype;                      // "BF16"
  Format format = LINNET_FORMAT_DEFAULT;  // F32, F16, BF16; LINNET_FORMAT_DEFAULT: a type that linnet does not compute with
  std::vector<uint64_t> shape;            // outermost first; all at least 1
  uint64_t begin = 0, bytes = 0;          // after the header
  const uint8_t* data = nullptr;          // any alignment
};
using SafetensorsTensors = std::map<std::string, SafetensorsTensor, std::less<>>;  // by name

// Adds the tensors of one file in memory to *out. label names the file in error texts. A name that is in *out already is refused.
Status safetensors_parse(const void* data, size_t bytes, const std::string& label, SafetensorsTensors* out, Error* err);

// model.safetensors.index.json -> file of each tensor. The files are plain names that end in .safetensors.
using SafetensorsIndex = std::map<std::string, std::string, std::less<>>;
Status safetensors_index(std::string_view text, const char* label, SafetensorsIndex* out, Error* err);

// The tensors of a model folder; its files stay mapped as long as *keep lives. *absent: those of the index that its files do not hold, or
// whose file is not there, which matters only where the model needs them.
Status safetensors_open_folder(const std::string& folder, SafetensorsTensors* out, std::shared_ptr<void>* keep, SafetensorsIndex* absent,
                               Error* err);

// [first, first + count) of the tensor's values in memory order, as floats. The range must lie inside, the format must be known.
void safetensors_read(const SafetensorsTensor& tensor, uint64_t first, uint64_t count, float* out);
// "[2, 64]"
std::string shape_text(const std::vector<uint64_t>& shape);

}  // namespace linnet::convert
