// Model folders for tests of the importers: their tensors read, changed and written, and what packing makes of them.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels_cpu/pack.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/safetensors.h"
#include "runtime/gguf.h"
#include "runtime/spec.h"
#include "tests/catch2.h"

namespace test {

struct Stored {
  std::string dtype;
  std::vector<uint64_t> shape;
  std::string bytes;
};
using StoredTensors = std::map<std::string, Stored>;

inline StoredTensors read_tensors(const std::string& folder) {
  linnet::convert::SafetensorsTensors from;
  linnet::convert::SafetensorsIndex absent;
  std::shared_ptr<void> keep;
  linnet_error err = {};
  REQUIRE(linnet::convert::safetensors_open_folder(folder, &from, &keep, &absent, &err) == LINNET_OK);
  StoredTensors out;
  for (const auto& [name, t] : from)
    out[name] = {t.dtype, t.shape, std::string(reinterpret_cast<const char*>(t.data), static_cast<size_t>(t.bytes))};
  return out;
}

// model.safetensors of a folder.
inline void write_tensors(const std::string& folder, const StoredTensors& tensors) {
  std::string header = "{", data;
  for (const auto& [name, t] : tensors) {
    header += (header.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"" + t.dtype +
              "\",\"shape\":" + linnet::convert::shape_text(t.shape) + ",\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + t.bytes.size()) + "]}";
    data += t.bytes;
  }
  header += "}";
  const uint64_t bytes = header.size();
  std::ofstream(folder + "/model.safetensors", std::ios::binary) << std::string(reinterpret_cast<const char*>(&bytes), 8) << header << data;
}

// A folder of this process' own that goes with it.
struct TemporaryFolder {
  std::string path = (std::filesystem::temp_directory_path() / "linnet-folder-XXXXXX").string();
  TemporaryFolder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
};

// A folder packed in memory, and its matrices by the names that Llama's have in folders.
struct PackedFolder {
  linnet::convert::Image image;
  linnet::Gguf gguf;
  linnet::ModelSpec spec = {};

  PackedFolder(const std::string& path, linnet_format asked) {
    linnet::convert::Options options;
    options.weights = asked;
    linnet_error err = {};
    const linnet_status status = linnet::convert::convert_to_memory(path, options, &image, &err);
    INFO(err.text);
    REQUIRE(status == LINNET_OK);
    REQUIRE(linnet::gguf_open(image.data, image.bytes, "packed", &gguf, &err) == LINNET_OK);
    REQUIRE(linnet::spec_read(gguf, &spec, &err) == LINNET_OK);
  }
  ~PackedFolder() { linnet::convert::image_free(&image); }
  PackedFolder(const PackedFolder&) = delete;

  linnet::Matrix matrix(linnet::Role role, uint32_t layer) const {
    linnet::Matrix m;
    linnet_error err = {};
    REQUIRE(linnet::find_matrix(gguf, role, layer, spec, &m, &err) == LINNET_OK);
    return m;
  }
  static linnet::Role role_of(const std::string& name, uint32_t* layer) {
    const linnet::HfTensor* found = nullptr;
    REQUIRE(linnet::hf_tensor_find(*linnet::architecture_by_hf("llama")->names, name, &found, layer) == linnet::HfName::kKnown);
    return found->role;
  }
  linnet::Matrix matrix(const std::string& name) const {
    uint32_t layer = 0;
    const linnet::Role role = role_of(name, &layer);
    return matrix(role, layer);
  }
};
// All of a matrix, (n, k).
inline std::vector<float> unpacked(const linnet::Matrix& m) {
  std::vector<float> w(size_t{m.n} * m.k);
  for (uint32_t i = 0; i < m.n; ++i) linnet::unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, w.data() + size_t{i} * m.k);
  return w;
}

// Packing the folder fails so, and says `what`.
inline void refused(const std::string& path, linnet_status status, const std::string& what, linnet_format asked = LINNET_FORMAT_DEFAULT) {
  linnet::convert::Options options;
  options.weights = asked;
  linnet::convert::Image image;
  linnet_error err = {};
  const linnet_status got = linnet::convert::convert_to_memory(path, options, &image, &err);
  CAPTURE(path, err.text, what);
  CHECK(got == status);
  CHECK(std::string(err.text).find(what) != std::string::npos);
  linnet::convert::image_free(&image);
}

}  // namespace test
