// GGUF files put together by hand, so that tests may put anything in them, and a tiny model in such a file.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels_cpu/pack.h"
#include "runtime/convert/ggml_types.h"
#include "runtime/gguf.h"
#include "runtime/spec.h"

namespace test {

template <class T>
std::string le(T v) {
  return std::string(reinterpret_cast<const char*>(&v), sizeof v);
}
inline std::string lstr(const std::string& s) { return le(uint64_t{s.size()}) + s; }

struct GgufFile {
  struct Tensor {
    std::string name;
    std::vector<uint64_t> dims;  // dims[0] is the fastest
    uint32_t type;
    std::string data;
    std::optional<uint64_t> offset = {};  // else behind the tensor before
  };
  struct Key {
    std::string name, value;  // value: type and payload
  };
  std::string magic = "GGUF";
  uint32_t version = 3, alignment = 32;
  std::vector<Key> keys;
  std::vector<Tensor> tensors;
  std::optional<uint64_t> n_keys, n_tensors;

  void raw(const std::string& key, uint32_t type, const std::string& payload) { keys.push_back({key, le(type) + payload}); }
  void u32(const std::string& key, uint32_t v) { raw(key, linnet::kGgufU32, le(v)); }
  void u16(const std::string& key, uint16_t v) { raw(key, linnet::kGgufU16, le(v)); }
  void f32(const std::string& key, float v) { raw(key, linnet::kGgufF32, le(v)); }
  void text(const std::string& key, const std::string& v) { raw(key, linnet::kGgufString, lstr(v)); }
  Key* key(const std::string& name) {
    for (Key& k : keys)
      if (k.name == name) return &k;
    return nullptr;
  }
  Tensor* tensor(const std::string& name) {
    for (Tensor& t : tensors)
      if (t.name == name) return &t;
    return nullptr;
  }
  void remove(const std::string& name) {
    std::erase_if(keys, [&](const Key& k) { return k.name == name; });
    std::erase_if(tensors, [&](const Tensor& t) { return t.name == name; });
  }
  std::string header() const {
    std::string h = magic + le(version) + le(n_tensors.value_or(tensors.size())) + le(n_keys.value_or(keys.size()));
    for (const Key& k : keys) h += lstr(k.name) + k.value;
    uint64_t at = 0;
    for (const Tensor& t : tensors) {
      h += lstr(t.name) + le(static_cast<uint32_t>(t.dims.size()));
      for (const uint64_t d : t.dims) h += le(d);
      h += le(t.type) + le(t.offset.value_or(at));
      at = (at + t.data.size() + alignment - 1) / alignment * alignment;
    }
    return h;
  }
  std::string bytes() const {
    std::string out = header();
    for (const Tensor& t : tensors) {
      out.resize((out.size() + alignment - 1) / alignment * alignment);
      out += t.data;
    }
    return out;
  }
};

// Valid bytes for n values of a type; f16 scales are small numbers.
inline std::string tensor_data(uint32_t type, uint64_t n, uint32_t seed) {
  const linnet::GgmlType row = linnet::ggml_type(type);
  const linnet::Format blocks = linnet::convert::format_of_ggml(type);
  uint32_t halves[2] = {};  // Q4_0 and Q8_0 are formats of other names
  const uint32_t n_halves = blocks ? linnet::gguf_block_halves(blocks, halves) : type == linnet::kGgmlF16 || row.values == 32;
  std::string out(n / row.values * row.bytes, '\0');
  for (char *b = out.data(), *const end = b + out.size(); b != end; b += row.bytes) {
    for (size_t j = 0; j < row.bytes; ++j) b[j] = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
    const auto small = static_cast<uint16_t>(0x1C00 + (seed >> 24));  // 0.0039 to 0.0049
    const float f = static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-33f;
    for (uint32_t j = 0; j < n_halves; ++j) std::memcpy(b + halves[j], &small, 2);
    if (type == linnet::kGgmlF32) std::memcpy(b, &f, 4);
    if (type == linnet::kGgmlMXFP4) b[0] = static_cast<char>(110 + (seed >> 24) % 16);
    if (type == linnet::kGgmlNVFP4)
      for (int j = 0; j < 4; ++j) b[j] &= 0x1F;
    if (type == linnet::kGgmlIQ1_M) b[55] = static_cast<char>((b[55] & 0x0F) | 0x10);  // the top of an f16
    if (type == linnet::kGgmlBF16) b[1] = 0x3C;
  }
  return out;
}

// The smallest numbers that every block type allows: 4 heads of 64, 2 of them KV.
struct TinySize {
  uint32_t d_model = 256, n_heads = 4, n_kv_heads = 2, d_ff = 256, n_vocab = 48;
};
// A tied model without a tokenizer.
inline GgufFile tiny_model(uint32_t matrix_type = linnet::kGgmlF32, uint32_t n_layers = 1, const std::string& arch = "llama",
                           const TinySize& size = {}) {
  GgufFile f;
  f.text("general.architecture", arch);
  f.text("general.name", "tiny");
  f.u32(arch + ".block_count", n_layers);
  f.u32(arch + ".context_length", 64);
  f.u32(arch + ".embedding_length", size.d_model);
  f.u32(arch + ".feed_forward_length", size.d_ff);
  f.u32(arch + ".attention.head_count", size.n_heads);
  f.u32(arch + ".attention.head_count_kv", size.n_kv_heads);
  f.f32(arch + ".attention.layer_norm_rms_epsilon", 1e-5f);
  linnet::ModelSpec s = {};
  s.n_layers = n_layers, s.d_model = size.d_model, s.n_heads = size.n_heads, s.n_kv_heads = size.n_kv_heads;
  s.head_dim = s.rope_dim = size.d_model / size.n_heads, s.d_ff = size.d_ff, s.n_vocab = size.n_vocab, s.tied = 1;
  s.qkv_bias = arch == "qwen2", s.qk_norm = arch == "qwen3";
  for (uint32_t layer = 0; layer < n_layers; ++layer)
    for (uint32_t r = 0; r < linnet::kRoleCount; ++r) {
      const linnet::TensorRole& role = linnet::role_row(linnet::Role{r});
      if (!linnet::role_present(static_cast<linnet::Role>(r), layer, s) || (!role.per_layer() && layer)) continue;
      char name[linnet::kRoleNameBytes];
      linnet::role_name(static_cast<linnet::Role>(r), layer, name);
      const uint64_t n = role_n(linnet::Role{r}, layer, s), k = role_k(linnet::Role{r}, layer, s);
      const uint32_t type = role.matrix() ? matrix_type : linnet::kGgmlF32, seed = r * 100 + layer;
      f.tensors.push_back(
          {name, role.matrix() ? std::vector<uint64_t>{k, n} : std::vector<uint64_t>{n}, type, tensor_data(type, n * k, seed)});
    }
  return f;
}

}  // namespace test
