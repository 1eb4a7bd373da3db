// GPTQ and AWQ checkpoints: written here by the formats' definitions, read back by the importer.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernels_cpu/pack.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/hf_quant.h"
#include "runtime/gguf.h"
#include "tests/catch2.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

struct Stored {
  std::string dtype;
  std::vector<uint64_t> shape;
  std::string bytes;
};

struct Checkpoint {
  std::string path;
  std::map<std::string, Stored> tensors;
  std::map<std::string, std::vector<float>> want;                          // (n, k) of every quantised matrix
  std::string family = R"("llama","architectures":["LlamaForCausalLM"])";  // of config.json
  std::string quantization;
  uint64_t random = 1;

  Checkpoint() {
    path = (std::filesystem::temp_directory_path() / "linnet-quant-XXXXXX").string();
    REQUIRE(mkdtemp(path.data()) != nullptr);
  }
  ~Checkpoint() { std::filesystem::remove_all(path); }
  Checkpoint(const Checkpoint&) = delete;

  uint32_t below(uint32_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(random >> 33) % n;
  }
  void floats(const std::string& name, std::vector<uint64_t> shape) {
    size_t n = 1;
    for (const uint64_t d : shape) n *= d;
    std::string bytes;
    for (size_t i = 0; i < n; ++i) {
      const uint16_t h = f32_to_f16(static_cast<float>(below(2000)) / 1000 - 1);
      bytes.append(reinterpret_cast<const char*>(&h), 2);
    }
    tensors[name] = {"F16", std::move(shape), bytes};
  }
  void words(const std::string& name, std::vector<uint64_t> shape, const std::vector<uint32_t>& values) {
    tensors[name] = {"I32", std::move(shape), std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4)};
  }

  // A matrix of n outputs by k inputs: weight = scale * (code - zero), scales and zero points per output and group of inputs.
  void matrix(const std::string& base, uint32_t n, uint32_t k, uint32_t group, bool awq, bool v2, bool symmetric, bool act_order) {
    const uint32_t g = group ? group : k, groups = (k + g - 1) / g;
    std::vector<uint32_t> group_of(k), codes(size_t{k} * n), zeros(size_t{groups} * n);
    for (uint32_t i = 0; i < k; ++i) group_of[i] = act_order ? (i * 7) % k / g : i / g;
    for (uint32_t& c : codes) c = below(16);
    for (uint32_t& z : zeros) z = symmetric ? 8 : 1 + below(v2 || awq ? 15 : 16);
    std::string scales;
    std::vector<float> scale_of;
    for (size_t i = 0; i < zeros.size(); ++i) {
      const uint16_t h = f32_to_f16(0.001f + static_cast<float>(below(1000)) * 1e-5f);
      scales.append(reinterpret_cast<const char*>(&h), 2);
      scale_of.push_back(f16_to_f32(h));
    }
    std::vector<float>& w = want[base + ".weight"];
    w.resize(size_t{n} * k);
    for (uint32_t i = 0; i < k; ++i)
      for (uint32_t o = 0; o < n; ++o) {
        const size_t at = size_t{group_of[i]} * n + o;
        w[size_t{o} * k + i] = (static_cast<float>(codes[size_t{i} * n + o]) - static_cast<float>(zeros[at])) * scale_of[at];
      }
    const uint32_t order[8] = {0, 2, 4, 6, 1, 3, 5, 7};  // AWQ: nibble b of a word holds output order[b]
    std::vector<uint32_t> qweight(size_t{k} * n / 8), qzeros(size_t{groups} * n / 8);
    for (uint32_t row = 0; row < (awq ? k : k / 8); ++row)
      for (uint32_t col = 0; col < (awq ? n / 8 : n); ++col)
        for (uint32_t b = 0; b < 8; ++b)
          qweight[size_t{row} * (awq ? n / 8 : n) + col] |=
              (awq ? codes[size_t{row} * n + col * 8 + order[b]] : codes[(size_t{row} * 8 + b) * n + col]) << (4 * b);
    for (uint32_t row = 0; row < groups; ++row)
      for (uint32_t col = 0; col < n / 8; ++col)
        for (uint32_t b = 0; b < 8; ++b)
          qzeros[size_t{row} * (n / 8) + col] |= (zeros[size_t{row} * n + col * 8 + (awq ? order[b] : b)] - (awq || v2 ? 0 : 1)) << (4 * b);
    words(base + ".qweight", awq ? std::vector<uint64_t>{k, n / 8} : std::vector<uint64_t>{k / 8, n}, qweight);
    words(base + ".qzeros", {groups, n / 8}, qzeros);
    tensors[base + ".scales"] = {"F16", {groups, n}, scales};
    if (!awq) words(base + ".g_idx", {k}, group_of);
  }

  void model(uint32_t group, bool awq = false, bool v2 = false, bool symmetric = false, bool act_order = false) {
    tensors.clear();
    want.clear();
    floats("model.embed_tokens.weight", {40, 256});
    floats("lm_head.weight", {40, 256});
    floats("model.norm.weight", {256});
    const std::string layer = "model.layers.0.";
    floats(layer + "input_layernorm.weight", {256});
    floats(layer + "post_attention_layernorm.weight", {256});
    for (const auto& [name, n, k] : {std::tuple{"self_attn.q_proj", 256u, 256u},
                                     {"self_attn.k_proj", 128u, 256u},
                                     {"self_attn.v_proj", 128u, 256u},
                                     {"self_attn.o_proj", 256u, 256u},
                                     {"mlp.gate_proj", 352u, 256u},
                                     {"mlp.up_proj", 352u, 256u},
                                     {"mlp.down_proj", 256u, 352u}})
      matrix(layer + name, n, k, group, awq, v2, symmetric, act_order);
    quantization =
        std::string("{\"quant_method\":\"") + (awq ? "awq" : "gptq") +
        "\",\"bits\":4,\"group_size\":" + (group ? std::to_string(group) : "-1") +
        (awq ? ",\"version\":\"GEMM\",\"zero_point\":true}"
             : std::string(",\"desc_act\":") + (act_order ? "true" : "false") + (v2 ? ",\"checkpoint_format\":\"gptq_v2\"}" : "}"));
  }

  // The same layer with queries, keys and values in one tensor, and gate and up in another, as Phi-3 has them.
  void fused(uint32_t group, bool awq, bool act_order) {
    const std::string layer = "model.layers.0.";
    model(group, awq, false, false, act_order);
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"}) {
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) tensors.erase(layer + name + part);
      want.erase(layer + name + ".weight");
    }
    family = R"("phi3","architectures":["Phi3ForCausalLM"])";
    const auto split = [&](const char* name, uint32_t n, std::initializer_list<std::pair<const char*, uint32_t>> parts) {
      matrix(layer + name, n, 256, group, awq, false, false, act_order);
      const std::vector<float> whole = want[layer + name + ".weight"];
      want.erase(layer + name + ".weight");
      size_t at = 0;
      for (const auto& [part, rows] : parts) {
        want[layer + part + ".weight"].assign(whole.begin() + static_cast<long>(at), whole.begin() + static_cast<long>(at + rows * 256));
        at += rows * 256;
      }
    };
    split("self_attn.qkv_proj", 512, {{"self_attn.q_proj", 256}, {"self_attn.k_proj", 128}, {"self_attn.v_proj", 128}});
    split("mlp.gate_up_proj", 704, {{"mlp.gate_proj", 352}, {"mlp.up_proj", 352}});
  }
  void write() const {
    std::ofstream(path + "/config.json")
        << R"({"model_type":)" << family
        << R"(,"hidden_size":256,"intermediate_size":352,"num_hidden_layers":1,"num_attention_heads":4,)"
           R"("num_key_value_heads":2,"vocab_size":40,"max_position_embeddings":64,"rms_norm_eps":1e-5,"tie_word_embeddings":false,"quantization_config":)"
        << quantization << "}";
    std::string header = "{", data;
    for (const auto& [name, t] : tensors) {
      std::string shape;
      for (const uint64_t d : t.shape) shape += (shape.empty() ? "" : ",") + std::to_string(d);
      header +=
          (header.size() > 1 ? "," : "") + ("\"" + name + "\":{\"dtype\":\"" + t.dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
                                            std::to_string(data.size()) + "," + std::to_string(data.size() + t.bytes.size()) + "]}");
      data += t.bytes;
    }
    header += "}";
    const uint64_t bytes = header.size();
    std::ofstream(path + "/model.safetensors", std::ios::binary) << std::string(reinterpret_cast<const char*>(&bytes), 8) << header << data;
  }
};

// The packed model's matrices against what they stand for. Returns the format of q.
Format check_packed(const Checkpoint& c, linnet_format asked, bool exact) {
  Options options;
  options.weights = asked;
  Image image;
  linnet_error err = {};
  const linnet_status status = convert_to_memory(c.path, options, &image, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  Gguf gguf;
  ModelSpec spec = {};
  REQUIRE(gguf_open(image.data, image.bytes, "packed", &gguf, &err) == LINNET_OK);
  REQUIRE(spec_read(gguf, &spec, &err) == LINNET_OK);
  Format format = LINNET_FORMAT_DEFAULT;
  size_t wrong = 0, compared = 0;
  for (const auto& [name, want] : c.want) {
    const HfTensor* found = nullptr;
    uint32_t layer;
    REQUIRE(hf_tensor_find(*architecture_by_hf("llama")->names, name, &found, &layer) == HfName::kKnown);
    const Role role = found->role;
    Matrix m;
    REQUIRE(find_matrix(gguf, role, layer, spec, &m, &err) == LINNET_OK);
    if (role == kAttnQ) format = m.format;
    std::vector<float> y(m.k);
    for (uint32_t i = 0; i < m.n; ++i) {
      unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, y.data());
      for (uint32_t j = 0; j < m.k; ++j, ++compared) {
        const float w = want[size_t{i} * m.k + j];
        wrong += exact ? y[j] != w : !(std::fabs(y[j] - w) <= (format_row(m.format).bits == 4 ? 0.08f : 0.006f));
      }
    }
  }
  CHECK(compared > 300000);
  CHECK(wrong == 0);
  Matrix head;
  REQUIRE(find_matrix(gguf, kOutput, 0, spec, &head, &err) == LINNET_OK);
  CHECK(format_row(head.format).bits >= 8);
  image_free(&image);
  return format;
}

void refused(const Checkpoint& c, linnet_status status, const std::string& what) {
  c.write();
  Image image;
  linnet_error err = {};
  CHECK(convert_to_memory(c.path, {}, &image, &err) == status);
  CAPTURE(err.text, what);
  CHECK(std::string(err.text).find(what) != std::string::npos);
  image_free(&image);
}

}  // namespace

TEST_CASE("GPTQ and AWQ: codes, scales and zero points are taken over bit for bit") {
  Checkpoint c;
  for (const bool awq : {false, true})
    for (const bool v2 : {false, true})
      for (const bool symmetric : {false, true})
        for (const uint32_t group : {128u, 64u, 32u, 0u}) {
          if (awq && v2) continue;
          CAPTURE(awq, v2, symmetric, group);
          c.model(group, awq, v2, symmetric);
          c.write();
          const Format own = symmetric ? (group == 64   ? LINNET_I4G64
                                          : group == 32 ? LINNET_I4G32
                                                        : LINNET_I4G128)
                                       : (group == 64   ? LINNET_I8G64
                                          : group == 32 ? LINNET_I8G32
                                                        : LINNET_I4G128Z);
          CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == own);
          CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
          CHECK(check_packed(c, LINNET_I8G32, true) == LINNET_I8G32);
          CHECK(check_packed(c, LINNET_I4G128Z, group == 128 || group == 0) == LINNET_I4G128Z);
        }
}

TEST_CASE("FP8 in blocks: values are taken over") {
  Checkpoint c;
  c.model(128);
  for (const auto& [name, values] : c.want) {
    const std::string base = name.substr(0, name.size() - 7);
    const uint32_t k = base.ends_with("down_proj") ? 352 : 256, n = static_cast<uint32_t>(values.size() / k), across = (k + 127) / 128;
    for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) c.tensors.erase(base + part);
    std::string codes, scales;
    std::vector<float> scale_of;
    for (uint32_t i = 0; i < (n + 95) / 96 * across; ++i) {
      scale_of.push_back(0.001f + static_cast<float>(c.below(1000)) * 1e-5f);
      scales.append(reinterpret_cast<const char*>(&scale_of.back()), 4);
    }
    std::vector<float>& w = c.want[name];
    for (uint32_t i = 0; i < n * k; ++i) {
      const auto code = static_cast<uint8_t>(c.below(255));
      codes.push_back(static_cast<char>((code & 0x7F) == 0x7F ? 0 : code));
      w[i] = f8e4m3_to_f32(static_cast<uint8_t>(codes.back())) * scale_of[i / k / 96 * across + i % k / 128];
    }
    c.tensors[name] = {"F8_E4M3", {n, k}, codes};
    c.tensors[name + "_scale_inv"] = {"F32", {(n + 95) / 96, across}, scales};
  }
  c.quantization = R"({"quant_method":"fp8","fmt":"e4m3","activation_scheme":"dynamic","weight_block_size":[96,128]})";
  c.write();
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
  c.quantization = R"({"quant_method":"fp8","fmt":"e4m3","weight_block_size":[96,0]})";
  refused(c, LINNET_UNSUPPORTED, "weight_block_size is no pair of sizes");
  c.quantization = R"({"quant_method":"fp8","fmt":"e5m2","weight_block_size":[96,128]})";
  refused(c, LINNET_UNSUPPORTED, "quantization_config.fmt is not supported");
  c.quantization = R"({"quant_method":"fp8","weight_block_size":[128,128]})";
  refused(c, LINNET_BAD_FILE, "_scale_inv' has shape");
}

TEST_CASE("FP8 with one scale for a matrix or for each output: values are taken over") {
  const std::string groups =
      R"({"group_0":{"weights":{"num_bits":8,"type":"float","symmetric":true,"strategy":"@","dynamic":false},"input_activations":{"num_bits":8},"targets":["Linear"]}})";
  const std::string compressed =
      R"({"quant_method":"compressed-tensors","format":"float-quantized","quantization_status":"compressed","ignore":["lm_head"],"kv_cache_scheme":null,"sparsity_config":{},"config_groups":)" +
      groups + "}";
  const auto with_strategy = [](std::string text, const char* strategy) { return text.replace(text.find('@'), 1, strategy); };
  struct Form {
    std::string config;
    const char *suffix, *dtype;
    int dims;  // of the scale: none, 1, 1 x 1, n, n x 1
  };
  const Form forms[] = {{R"({"quant_method":"fp8","activation_scheme":"static","ignored_layers":["lm_head"]})", "_scale", "F32", 0},
                        {R"({"quant_method":"fp8","weight_block_size":null})", "_scale_inv", "F32", 1},
                        {with_strategy(compressed, "tensor"), "_scale", "BF16", 1},
                        {with_strategy(compressed, "tensor"), "_scale", "F16", 2},
                        {with_strategy(compressed, "channel"), "_scale", "F32", 3},
                        {with_strategy(compressed, "channel"), "_scale", "BF16", 4}};
  Checkpoint c;
  for (const Form& form : forms) {
    CAPTURE(form.config, form.dims);
    c.model(128);
    for (auto& [name, w] : c.want) {
      const std::string base = name.substr(0, name.size() - 7);
      const uint32_t k = base.ends_with("down_proj") ? 352 : 256, n = static_cast<uint32_t>(w.size() / k), n_scales = form.dims < 3 ? 1 : n;
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) c.tensors.erase(base + part);
      std::string codes, scales;
      std::vector<float> scale_of;
      for (uint32_t i = 0; i < n_scales; ++i) {
        const float scale = 0.01f + static_cast<float>(c.below(1000)) * 1e-6f;  // alike, so that keys are not equalised
        const uint16_t half = form.dtype[0] == 'B' ? f32_to_bf16(scale) : f32_to_f16(scale);
        scale_of.push_back(form.dtype[1] == '3' ? scale : form.dtype[0] == 'B' ? bf16_to_f32(half) : f16_to_f32(half));
        if (form.dtype[1] == '3')
          scales.append(reinterpret_cast<const char*>(&scale), 4);
        else
          scales.append(reinterpret_cast<const char*>(&half), 2);
      }
      for (uint32_t i = 0; i < n * k; ++i) {
        const auto code = static_cast<uint8_t>(c.below(255));
        codes.push_back(static_cast<char>((code & 0x7F) == 0x7F ? 0 : code));
        w[i] = f8e4m3_to_f32(static_cast<uint8_t>(codes.back())) * scale_of[n_scales > 1 ? i / k : 0];
      }
      using Shape = std::vector<uint64_t>;
      const Shape shapes[] = {{}, {1}, {1, 1}, {n}, {n, 1}};
      c.tensors[name] = {"F8_E4M3", {n, k}, codes};
      c.tensors[name + form.suffix] = {form.dtype, shapes[form.dims], scales};
      c.tensors[base + ".input_scale"] = {"F32", {1}, std::string(4, '\0')};
    }
    c.quantization = form.config;
    c.write();
    CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
    if (form.dims < 3) continue;
    c.quantization = R"({"quant_method":"fp8","weight_block_size":[128,128]})";
    refused(c, LINNET_BAD_FILE, "has shape");
    for (auto& [name, w] : c.want)
      c.tensors[name + form.suffix].shape[0] -= 1,
          c.tensors[name + form.suffix].bytes.resize(c.tensors[name + form.suffix].bytes.size() - (form.dtype[1] == '3' ? 4 : 2));
    c.quantization = form.config;
    refused(c, LINNET_BAD_FILE, "config.json asks for [1, 1]");
  }
  const auto config = [&c](std::string text, const char* from, const char* to, const char* what) {
    text.replace(text.find(from), std::strlen(from), to);
    c.quantization = text;
    refused(c, LINNET_UNSUPPORTED, what);
  };
  config(with_strategy(compressed, "tensor"), "float-quantized", "pack-quantized",
         "format 'pack-quantized' of compressed-tensors is not supported");
  config(with_strategy(compressed, "tensor"), "\"num_bits\":8", "\"num_bits\":4", "weights of 4 bits");
  config(with_strategy(compressed, "tensor"), "\"sparsity_config\":{}", "\"sparsity_config\":{\"format\":\"sparse\"}",
         "key 'sparsity_config'");
  config(with_strategy(compressed, "group"), "8", "8", "strategy 'group'");
  config(with_strategy(compressed, "block"), "8", "8", "block_structure is no pair of sizes");
}

TEST_CASE("GPTQ and AWQ of fused projections: every role has its rows") {
  Checkpoint c;
  for (const bool awq : {false, true})
    for (const uint32_t group : {128u, 32u}) {
      CAPTURE(awq, group);
      c.fused(group, awq, false);
      c.write();
      CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == (group == 32 ? LINNET_I8G32 : LINNET_I4G128Z));
      CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
    }
  c.fused(128, false, true);
  refused(c, LINNET_UNSUPPORTED, "is in act-order (desc_act)");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
}

TEST_CASE("MXFP4: the experts of gpt-oss are taken over bit for bit") {
  Checkpoint c;
  const uint32_t d = 64, ff = 32, experts = 3;
  const float values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  std::map<std::string, std::vector<float>> want;  // (experts, rows, k)
  const auto blocks = [&](const std::string& name, uint32_t rows, uint32_t k) {
    std::string codes, scales;
    std::vector<float>& w = want[name];
    for (uint32_t g = 0; g < experts * rows * k / 32; ++g) {
      const uint32_t scale = g == 5 ? 143 : g == 6 ? 104 : 118 + c.below(8);
      scales.push_back(static_cast<char>(scale));
      for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t byte = c.below(256);
        codes.push_back(static_cast<char>(byte));
        for (const uint32_t code : {byte & 15, byte >> 4})
          w.push_back((code & 8 ? -1.0f : 1.0f) * values[code & 7] * std::ldexp(1.0f, static_cast<int>(scale) - 127));
      }
    }
    c.tensors[name + "_blocks"] = {"U8", {experts, rows, k / 32, 16}, codes};
    c.tensors[name + "_scales"] = {"U8", {experts, rows, k / 32}, scales};
  };
  const std::string layer = "model.layers.0.", mlp = layer + "mlp.experts.";
  for (const auto& [name, n, k] : {std::tuple{"q_proj", 64u, d}, {"k_proj", 32u, d}, {"v_proj", 32u, d}, {"o_proj", d, 64u}}) {
    c.floats(layer + "self_attn." + name + ".weight", {n, k});
    c.floats(layer + "self_attn." + name + ".bias", {n});
  }
  c.floats("model.embed_tokens.weight", {40, d});
  c.floats("lm_head.weight", {40, d});
  for (const std::string norm : {"model.norm", "model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm"})
    c.floats(norm + ".weight", {d});
  c.floats(layer + "self_attn.sinks", {4});
  c.floats(layer + "mlp.router.weight", {experts, d});
  c.floats(layer + "mlp.router.bias", {experts});
  c.floats(mlp + "gate_up_proj_bias", {experts, 2 * ff});
  c.floats(mlp + "down_proj_bias", {experts, d});
  blocks(mlp + "gate_up_proj", 2 * ff, d);
  blocks(mlp + "down_proj", d, ff);
  c.write();
  std::ofstream(c.path + "/config.json")
      << R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":64,"intermediate_size":32,"num_hidden_layers":1,"num_attention_heads":4,"head_dim":16,)"
         R"("num_key_value_heads":2,"vocab_size":40,"max_position_embeddings":64,"num_local_experts":3,"num_experts_per_tok":2,"attention_bias":true,"layer_types":["full_attention"],)"
         R"("quantization_config":{"quant_method":"mxfp4","modules_to_not_convert":["lm_head"]}})";
  for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_F32}) {
    Options options;
    options.weights = asked;
    Image image;
    linnet_error err = {};
    REQUIRE(convert_to_memory(c.path, options, &image, &err) == LINNET_OK);
    Gguf gguf;
    ModelSpec spec = {};
    REQUIRE(gguf_open(image.data, image.bytes, "packed", &gguf, &err) == LINNET_OK);
    REQUIRE(spec_read(gguf, &spec, &err) == LINNET_OK);
    size_t wrong = 0;
    for (const Role role : {kExpertGate, kExpertUp, kExpertDown}) {
      Matrix m;
      REQUIRE(find_matrix(gguf, role, 0, spec, &m, &err) == LINNET_OK);
      CHECK(m.format == (asked ? asked : LINNET_I8G32));
      const bool down = role == kExpertDown;
      const std::vector<float>& w = want[mlp + (down ? "down_proj" : "gate_up_proj")];
      std::vector<float> y(m.k);
      for (uint32_t i = 0; i < m.n; ++i) {
        unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, y.data());
        const uint32_t row = down ? i : 2 * i + (role == kExpertUp);  // gate and up take turns
        for (uint32_t j = 0; j < m.k; ++j) wrong += y[j] != w[size_t{row} * m.k + j];
      }
    }
    CHECK(wrong == 0);
    image_free(&image);
  }
  const std::string config = slurp(c.path + "/config.json");
  const auto refuses = [&](const std::string& what) {
    Image image;
    linnet_error err = {};
    CHECK(convert_to_memory(c.path, {}, &image, &err) == LINNET_UNSUPPORTED);
    CAPTURE(err.text, what);
    CHECK(std::string(err.text).find(what) != std::string::npos);
    image_free(&image);
  };
  const auto changed = [&](size_t at, uint32_t scale) {
    c.tensors[mlp + "down_proj_scales"].bytes[at] = static_cast<char>(scale);
    c.write();
    std::ofstream(c.path + "/config.json") << config;
  };
  changed(40, 144), refuses("expert 0 has the scale 144, which an f16 cannot hold");
  changed(40, 103), refuses("expert 0 has the scale 103, which an f16 cannot hold");
}

TEST_CASE("GPTQ: act-order needs a format to be packed anew in") {
  Checkpoint c;
  c.model(128, false, false, false, true);
  refused(c, LINNET_UNSUPPORTED, "is in act-order (desc_act)");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
  CHECK(check_packed(c, LINNET_I8G128, false) == LINNET_I8G128);
}

TEST_CASE("GPTQ: zero biases of a model without biases are passed over") {
  Checkpoint c;
  c.model(128);
  c.tensors["model.layers.0.self_attn.q_proj.bias"] = {"F16", {256}, std::string(512, '\0')};
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G128Z);
  c.tensors["model.layers.0.self_attn.q_proj.bias"].bytes[7] = 1;
  refused(c, LINNET_BAD_FILE, "self_attn.q_proj.bias' has no place");
}

TEST_CASE("GPTQ and AWQ: what a quantiser left out goes with the rest") {
  Checkpoint c;
  for (const uint32_t group : {128u, 64u, 32u, 192u, 96u, 0u})
    for (const bool symmetric : {false, true}) {
      CAPTURE(group, symmetric);
      c.model(group, false, false, symmetric);
      const std::string base = "model.layers.0.self_attn.v_proj";
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) c.tensors.erase(base + part);
      c.want.erase(base + ".weight");
      c.floats(base + ".weight", {128, 256});
      c.matrix("lm_head", 40, 256, group, false, false, symmetric, false);
      c.tensors.erase("lm_head.weight");
      c.write();
      const test::Model model(c.path, LINNET_FORMAT_DEFAULT);
      test::Session session(model, test::params());
      session.prefill({1, 2, 3});
      CHECK(session.length() == 3);
      CHECK(model.desc.attention_bits < (symmetric || group % 128 == 0 ? 6.5 : 9.6));
      CHECK(model.desc.embedding_bits > 8);
    }
}

TEST_CASE("GPTQ and AWQ: refused by name") {
  Checkpoint c;
  const std::string down = "model.layers.0.mlp.down_proj";
  const auto with = [&c](const std::string& from, const std::string& to) {
    c.model(128);
    const size_t at = c.quantization.find(from);
    REQUIRE(at != c.quantization.npos);
    c.quantization.replace(at, from.size(), to);
  };
  with("\"gptq\"", "\"aqlm\""), refused(c, LINNET_UNSUPPORTED, "quant_method 'aqlm' is not supported, only gptq, awq, mxfp4, fp8, ");
  with("\"gptq\"", "7"), refused(c, LINNET_UNSUPPORTED, "quant_method is missing or no string");
  with("\"bits\":4", "\"bits\":8"), refused(c, LINNET_UNSUPPORTED, "bits = 8 is not supported, only 4");
  with("\"bits\":4", "\"bits\":\"4\""), refused(c, LINNET_BAD_FILE, "quantization_config.bits is no integer");
  with("\"bits\":4", "\"bits\":4,\"w_bit\":3"), refused(c, LINNET_BAD_FILE, "quantization_config.bits = 4, but w_bit = 3");
  with("\"bits\":4", "\"bits\":4,\"checkpoint_format\":2"),
      refused(c, LINNET_BAD_FILE, "quantization_config.checkpoint_format is no string");
  with("\"bits\":4", "\"bits\":4,\"checkpoint_format\":\"gptq\",\"format\":\"gptq_v2\""),
      refused(c, LINNET_BAD_FILE, "format is 'gptq_v2', another key says 'gptq'");
  with("\"bits\":4", "\"bits\":4,\"method\":\"awq\""), refused(c, LINNET_BAD_FILE, "method is 'awq', another key says 'gptq'");
  with("\"desc_act\":false", "\"desc_act\":1"), refused(c, LINNET_BAD_FILE, "desc_act is neither true nor false");
  with("\"desc_act\":false", "\"desc_act\":true"), c.tensors.erase(down + ".g_idx"),
      refused(c, LINNET_BAD_FILE, "mlp.down_proj.g_idx' is missing, though desc_act is true");
  with(":128", ":100"), refused(c, LINNET_UNSUPPORTED, "group_size = 100 is no multiple of 32");
  with(":128", ":128,\"dynamic\":{\"x\":1}"), refused(c, LINNET_UNSUPPORTED, "key 'dynamic' (an object) is not supported");
  with(":128", ":128,\"checkpoint_format\":\"marlin\""), refused(c, LINNET_UNSUPPORTED, "format 'marlin' of gptq");
  c.model(128, true);
  c.quantization.replace(c.quantization.find("GEMM"), 4, "gemv");
  refused(c, LINNET_UNSUPPORTED, "format 'gemv' of awq is not supported, only gemm");
  c.model(128);
  c.quantization = "3";
  refused(c, LINNET_BAD_FILE, "quantization_config is 3, not an object");
  c.model(128), c.tensors.erase(down + ".qzeros"), refused(c, LINNET_BAD_FILE, "tensor '" + down + ".qzeros' is missing");
  c.model(128), c.tensors.erase(down + ".qweight"), refused(c, LINNET_BAD_FILE, "tensor '" + down + ".weight' is missing");
  c.model(128), c.tensors[down + ".qweight"].shape = {256, 44},
                                 refused(c, LINNET_BAD_FILE, "has shape [256, 44], config.json asks for [44, 256]");
  c.model(128), c.tensors[down + ".scales"].dtype = "BF16", refused(c, LINNET_UNSUPPORTED, "dtype BF16, not F16");
  c.model(128), c.tensors[down + ".scales"].bytes.replace(10, 2, std::string("\x00\x7C", 2)),
      refused(c, LINNET_BAD_FILE, "scale of output 5 is infinite");
  c.model(128), c.tensors[down + ".g_idx"].bytes[4] = 3, refused(c, LINNET_BAD_FILE, "group 3 of input 1, there are 3");
  c.model(128), c.tensors[down + ".g_idx"].bytes[7] = '\x80', refused(c, LINNET_BAD_FILE, "of input 1, there are 3");
  c.model(128), c.floats(down + ".weight", {256, 352}), refused(c, LINNET_BAD_FILE, "codes of gptq beside '" + down + ".weight'");
  c.model(128), c.floats("model.layers.0.mlp.scales", {3}), refused(c, LINNET_UNSUPPORTED, "unknown tensor 'model.layers.0.mlp.scales'");
}
