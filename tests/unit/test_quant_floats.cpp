// Folders with weights in FP8 and FP4 as compressed-tensors, ModelOpt and Quark write them (tests/data/quant_floats): each weight is what
// the tool's own dequantisation makes of it, and what cannot be kept is refused by name.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernels_cpu/pack.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/hf_keys.h"
#include "runtime/convert/safetensors.h"
#include "runtime/gguf.h"
#include "tests/catch2.h"
#include "tests/folders.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

// A folder of the test data, that may be changed before it is written elsewhere.
struct Model : test::TemporaryFolder {
  std::string config, beside;  // beside: hf_quant_config.json
  test::StoredTensors tensors;
  std::map<std::string, uint64_t> want;  // FNV-1a of the weights as f32

  explicit Model(const std::string& name, const std::string& folder = "tests/data/quant_floats/") {
    const std::string from = folder + name;
    config = text(from + "/config.json");
    beside = text(from + "/hf_quant_config.json");
    tensors = test::read_tensors(from);
    std::istringstream lines(text(from + "/want.txt"));
    std::string matrix, hash, first;
    while (lines >> matrix >> hash >> first) want[matrix] = std::strtoull(hash.c_str(), nullptr, 16);
    REQUIRE((want.size() == 7 || folder == "tests/golden/"));
  }

  static std::string text(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  test::Stored& operator[](const std::string& name) {
    const auto at = tensors.find(name);
    CAPTURE(name);
    REQUIRE(at != tensors.end());
    return at->second;
  }
  void replace(const char* from, const std::string& to) {
    const size_t at = config.find(from);
    CAPTURE(from);
    REQUIRE(at != std::string::npos);
    config.replace(at, std::strlen(from), to);
  }
  void write() const {
    std::ofstream(path + "/config.json") << config;
    std::filesystem::remove(path + "/hf_quant_config.json");
    if (!beside.empty()) std::ofstream(path + "/hf_quant_config.json") << beside;
    test::write_tensors(path, tensors);
  }
};

const std::string kLayer = "model.layers.0.", kQ = kLayer + "self_attn.q_proj", kDown = kLayer + "mlp.down_proj";

// The packed model's matrices against what the tool has; the format of q, or LINNET_FORMAT_DEFAULT where some differ.
Format packed(const Model& c, linnet_format asked) {
  c.write();
  const test::PackedFolder p(c.path, asked);
  Format format = LINNET_FORMAT_DEFAULT;
  bool alike = true;
  for (const auto& [name, want] : c.want) {
    const Matrix m = p.matrix(name);
    alike &= format == LINNET_FORMAT_DEFAULT || format == m.format;
    format = m.format;
    uint64_t hash = 14695981039346656037u;
    for (float v : test::unpacked(m)) {
      v += 0.0f;  // no -0
      uint8_t bytes[4];
      std::memcpy(bytes, &v, 4);
      for (const uint8_t b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
    CAPTURE(name);
    CHECK(hash == want);
  }
  return alike ? format : LINNET_FORMAT_DEFAULT;
}

void refused(const std::string& name, linnet_status status, const std::string& what, const std::function<void(Model&)>& change,
             linnet_format asked = LINNET_FORMAT_DEFAULT) {
  Model c(name);
  change(c);
  c.write();
  CAPTURE(name);
  test::refused(c.path, status, what, asked);
}

}  // namespace

TEST_CASE("FP8 and FP4 of folders: weights are what each tool makes of them, to the bit") {
  for (const auto& [name, own] : {std::pair{"ct-fp8-channel", LINNET_F8E4M3},
                                  {"ct-fp8-block", LINNET_FORMAT_DEFAULT},  // down has more than one block along its rows
                                  {"modelopt-fp8", LINNET_F8E4M3},
                                  {"modelopt-nvfp4", LINNET_NVFP4},
                                  {"quark-fp8", LINNET_F8E4M3},
                                  {"quark-mxfp4", LINNET_MXFP4},
                                  {"ct-nvfp4", LINNET_NVFP4},
                                  {"ct-mxfp4", LINNET_MXFP4}}) {
    CAPTURE(name);
    Model c(name);
    CHECK(packed(c, LINNET_FORMAT_DEFAULT) == own);
    CHECK(packed(c, LINNET_F32) == LINNET_F32);
    if (own == LINNET_MXFP4) CHECK(packed(c, LINNET_I8G32) == LINNET_I8G32);
  }
}

TEST_CASE("ModelOpt: its own file says what config.json may not") {
  for (const std::string name : {"modelopt-fp8", "modelopt-nvfp4"}) {
    Model c(name);
    const size_t from = c.config.find("\"quantization_config\"");
    REQUIRE(from != std::string::npos);
    c.config.replace(from, 21, "\"task_specific_params\"");  // config.json without it
    CHECK(packed(c, LINNET_FORMAT_DEFAULT) == (name == "modelopt-fp8" ? LINNET_F8E4M3 : LINNET_NVFP4));
  }
  const auto without = [](Model& c) { c.config.replace(c.config.find("\"quantization_config\""), 21, "\"task_specific_params\""); };
  refused("modelopt-fp8", LINNET_BAD_FILE, "hf_quant_config.json: quantization is missing", [&](Model& c) {
    without(c);
    c.beside = "{}";
  });
  refused("modelopt-fp8", LINNET_UNSUPPORTED, "hf_quant_config.json: quantization_config.quant_algo 'w4a8_awq' of modelopt", [&](Model& c) {
    without(c);
    c.beside = R"({"quantization":{"quant_algo":"W4A8_AWQ"}})";
  });
}

TEST_CASE("FP8 of folders: what cannot be kept is refused by name") {
  refused("modelopt-fp8", LINNET_BAD_FILE, "'" + kQ + ".weight': the code of output 2, input 5 is not a number",
          [](Model& c) { c[kQ + ".weight"].bytes[2 * 64 + 5] = '\xFF'; });
  refused(
      "modelopt-fp8", LINNET_BAD_FILE, "output 2, input 5 is not a number", [](Model& c) { c[kQ + ".weight"].bytes[2 * 64 + 5] = '\x7F'; },
      LINNET_I8G32);
  refused("ct-fp8-channel", LINNET_BAD_FILE, "'" + kQ + ".weight_scale': scale 1 is infinite or not a number",
          [](Model& c) { c[kQ + ".weight_scale"].bytes.replace(2, 2, "\x80\x7F"); });
  refused("modelopt-fp8", LINNET_BAD_FILE, "'" + kQ + ".weight_scale' has shape [2], config.json asks for [1, 1]",
          [](Model& c) { c[kQ + ".weight_scale"] = {"F32", {2}, std::string(8, '\0')}; });
  refused("modelopt-fp8", LINNET_UNSUPPORTED, "dtype I32 is not supported", [](Model& c) { c[kQ + ".weight_scale"].dtype = "I32"; });
  refused("modelopt-fp8", LINNET_UNSUPPORTED, "unknown tensor '" + kQ + ".pre_quant_scale'",
          [](Model& c) { c.tensors[kQ + ".pre_quant_scale"] = {"F32", {1}, std::string(4, '\0')}; });
  refused("modelopt-fp8", LINNET_UNSUPPORTED, "quant_algo 'fp8_pb_wo' of modelopt is not supported",
          [](Model& c) { c.replace("\"quant_algo\": \"FP8\"", "\"quant_algo\": \"FP8_PB_WO\""); });
  refused("modelopt-fp8", LINNET_UNSUPPORTED, "key 'rotate' (true) is not supported",
          [](Model& c) { c.replace("\"quant_algo\": \"FP8\"", "\"quant_algo\": \"FP8\", \"rotate\": true"); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "dtype 'fp8_e5m2'", [](Model& c) { c.replace("\"fp8_e4m3\"", "\"fp8_e5m2\""); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "algo_config: 'rotation' is not supported",
          [](Model& c) { c.replace("\"algo_config\": null", "\"algo_config\": [{\"name\":\"rotation\"}]"); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "algo_config: '' is not supported",
          [](Model& c) { c.replace("\"algo_config\": null", "\"algo_config\": [[]]"); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "algo_config: 'rotation' is not supported",
          [](Model& c) { c.replace("\"algo_config\": null", "\"algo_config\": {\"name\":\"rotation\"}"); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "key 'layer_quant_config'",
          [](Model& c) { c.replace("\"layer_quant_config\": {}", "\"layer_quant_config\": {\"*down_proj\": {}}"); });
  refused("quark-fp8", LINNET_UNSUPPORTED, "global_quant_config.weight is missing",
          [](Model& c) { c.replace("\"weight\": {", "\"output\": {"); });
}

TEST_CASE("FP4 of folders: what cannot be kept is refused by name") {
  refused("modelopt-nvfp4", LINNET_UNSUPPORTED, "'" + kQ + ".weight_scale': output 1 has the scale 127 (e4m3), which is not a number",
          [](Model& c) { c[kQ + ".weight_scale"].bytes[4] = 127; });
  refused(
      "modelopt-nvfp4", LINNET_UNSUPPORTED, "output 1 has the scale 185 (e4m3), which is below zero",
      [](Model& c) { c[kQ + ".weight_scale"].bytes[4] = '\xB9'; }, LINNET_I8G32);
  refused("modelopt-nvfp4", LINNET_BAD_FILE, "'" + kQ + ".weight_scale_2' is missing",
          [](Model& c) { c.tensors.erase(kQ + ".weight_scale_2"); });
  for (const std::string& factor : {std::string(4, '\0'), std::string("\0\0\x80\x7F", 4), std::string("\0\0\xC0\x7F", 4)})
    refused("modelopt-nvfp4", LINNET_UNSUPPORTED, "'" + kQ + ".weight_scale_2' is not between 2^-80 and 2^80",
            [&](Model& c) { c[kQ + ".weight_scale_2"].bytes = factor; });
  refused("modelopt-nvfp4", LINNET_UNSUPPORTED, "weight_scale_2': F32 of shape [2], not one number in F32",
          [](Model& c) { c[kQ + ".weight_scale_2"] = {"F32", {2}, std::string(8, '\0')}; });
  refused("modelopt-nvfp4", LINNET_BAD_FILE, "'" + kQ + ".weight_scale' has shape [64, 3], config.json asks for [64, 4]",
          [](Model& c) { c[kQ + ".weight_scale"] = {"F8_E4M3", {64, 3}, std::string(192, '\1')}; });
  refused("modelopt-nvfp4", LINNET_UNSUPPORTED, "group_size = 32 of nvfp4",
          [](Model& c) { c.replace("\"quant_algo\": \"NVFP4\"", "\"quant_algo\": \"NVFP4\", \"group_size\": 32"); });
  refused("quark-mxfp4", LINNET_UNSUPPORTED, "'" + kQ + ".weight_scale': output 1 has the scale 255, which is not a number",
          [](Model& c) { c[kQ + ".weight_scale"].bytes[3] = '\xFF'; });
  for (const linnet_format f : {LINNET_F32, LINNET_I8G32})
    refused(
        "quark-mxfp4", LINNET_UNSUPPORTED, "output 1 has the scale 255", [](Model& c) { c[kQ + ".weight_scale"].bytes[3] = '\xFF'; }, f);
  refused("quark-mxfp4", LINNET_UNSUPPORTED, "output 1 has the scale 253, with which weights are too large for f32",
          [](Model& c) { c[kQ + ".weight_scale"].bytes[3] = '\xFD'; });
  refused("quark-mxfp4", LINNET_UNSUPPORTED, "dtype F8_E4M3, not U8", [](Model& c) { c[kQ + ".weight_scale"].dtype = "F8_E4M3"; });
  refused("quark-mxfp4", LINNET_UNSUPPORTED, "group_size 16", [](Model& c) { c.replace("\"group_size\": 32", "\"group_size\": 16"); });
}

TEST_CASE("compressed-tensors in FP4 and FP8: what cannot be kept is refused by name") {
  refused("ct-nvfp4", LINNET_BAD_FILE, "'" + kQ + ".weight_global_scale' is missing",
          [](Model& c) { c.tensors.erase(kQ + ".weight_global_scale"); });
  refused("ct-nvfp4", LINNET_UNSUPPORTED, "'" + kQ + ".weight_packed': dtype I32, not U8",
          [](Model& c) { c[kQ + ".weight_packed"] = {"I32", {64, 8}, c[kQ + ".weight_packed"].bytes}; });
  refused("ct-nvfp4", LINNET_UNSUPPORTED, "format 'mxfp4-pack-quantized' of such weights is not supported, only nvfp4-pack-quantized",
          [](Model& c) { c.replace("nvfp4-pack-quantized", "mxfp4-pack-quantized"); });
  refused("ct-nvfp4", LINNET_UNSUPPORTED, "weights of 4 bits, type 'float', strategy 'tensor_group' are not supported",
          [](Model& c) { c.replace("\"group_size\": 16", "\"group_size\": 32"); });
  refused("ct-mxfp4", LINNET_UNSUPPORTED, "output 0 has the scale 255", [](Model& c) { c[kQ + ".weight_scale"].bytes[0] = '\xFF'; });
  refused("ct-fp8-block", LINNET_UNSUPPORTED, "block_structure is no pair of sizes",
          [](Model& c) { c.replace("\"block_structure\"", "\"observer\""); });
  refused("ct-fp8-block", LINNET_BAD_FILE, "'" + kQ + ".weight_scale' has shape [1, 1], config.json asks for [2, 1]",
          [](Model& c) { c.replace("128,\n            128", "64,\n            128"); });
  // A scale for each output and 128 inputs.
  Model c("ct-fp8-block");
  c.replace("\"strategy\": \"block\"", "\"strategy\": \"group\""), c.replace("\"block_structure\"", "\"observer_kwargs\"");
  const size_t weights = c.config.find("\"weights\"");
  c.config.replace(c.config.find("\"group_size\": null", weights), 18, "\"group_size\": 128");
  for (auto& [name, t] : c.tensors)
    if (name.ends_with(".weight_scale")) {
      const uint64_t n = c[name.substr(0, name.size() - 6)].shape[0], across = t.shape[1], rows = t.shape[0];
      std::string scales;
      for (uint64_t r = 0; r < n; ++r)
        scales += t.bytes.substr(static_cast<size_t>(r * rows / ((n + 127) / 128 * 128) * across * 2), across * 2);
      t = {t.dtype, {n, across}, scales};
    }
  CHECK(packed(c, LINNET_FORMAT_DEFAULT) == LINNET_FORMAT_DEFAULT);  // down alone has more than one
  CHECK(packed(c, LINNET_F32) == LINNET_F32);
}

// By a plain writer: a Mixtral of one layer, whose experts are the tool's matrices with other factors each.
TEST_CASE("NVFP4 and FP8 of folders: experts have factors and scales of their own") {
  for (const std::string name : {"ct-nvfp4", "ct-fp8-channel"}) {
    CAPTURE(name);
    const bool nv = name == "ct-nvfp4";
    const Format own = nv ? LINNET_NVFP4 : LINNET_F8E4M3;
    Model dense(name), c(name);
    c.replace("\"LlamaForCausalLM\"", "\"MixtralForCausalLM\""), c.replace("\"model_type\": \"llama\"", "\"model_type\": \"mixtral\"");
    c.replace("\"hidden_size\"", "\"num_local_experts\": 3, \"num_experts_per_tok\": 2, \"hidden_size\"");
    c.tensors[kLayer + "block_sparse_moe.gate.weight"] = {"BF16", {3, 64}, std::string(3 * 64 * 2, '\1')};
    const std::pair<const char*, const char*> parts[] = {{"gate_proj", "w1"}, {"up_proj", "w3"}, {"down_proj", "w2"}};
    for (const auto& [from, to] : parts)
      for (const char* part : {".weight", ".weight_packed", ".weight_scale", ".weight_global_scale"}) {
        const auto at = c.tensors.find(kLayer + "mlp." + from + part);
        if (at == c.tensors.end()) continue;
        for (uint32_t e = 0; e < 3; ++e) {
          test::Stored t = at->second;
          const bool scale = std::string(part) == (nv ? ".weight_global_scale" : ".weight_scale");
          const uint32_t size = nv ? 4 : 2, upper = nv ? 2 : 0;  // of a number; where its upper 16 bits are
          for (size_t i = 0; scale && i < t.bytes.size(); i += size) {
            uint16_t half;
            std::memcpy(&half, t.bytes.data() + i + upper, 2);
            half = static_cast<uint16_t>(half + (nv ? -static_cast<int>(e) : static_cast<int>(e)) * 0x80);  // times 2^e: NVFP4's divides
            std::memcpy(t.bytes.data() + i + upper, &half, 2);
          }
          c.tensors[kLayer + "block_sparse_moe.experts." + std::to_string(e) + "." + to + part] = t;
        }
        c.tensors.erase(at);
      }
    const auto check = [&](Format want) {
      dense.write();
      c.write();
      const test::PackedFolder of_dense(dense.path, LINNET_FORMAT_DEFAULT), of_experts(c.path, LINNET_FORMAT_DEFAULT);
      size_t wrong = 0;
      for (const auto& [one, all] : {std::pair{kFfnGate, kExpertGate}, {kFfnUp, kExpertUp}, {kFfnDown, kExpertDown}}) {
        const Matrix a = of_dense.matrix(one, 0), b = of_experts.matrix(all, 0);
        CHECK((b.format == (all == kExpertUp ? want : own) && b.n == 3 * a.n && b.k == a.k));
        if (b.format != own) continue;
        std::vector<float> x(a.k), y(a.k);
        for (uint32_t i = 0; i < b.n; ++i) {
          unpack_row(a.panels, a.scales, a.format, a.n, a.k, i % a.n, x.data());
          unpack_row(b.panels, b.scales, b.format, b.n, b.k, i, y.data());
          for (uint32_t j = 0; j < a.k; ++j) wrong += y[j] != std::ldexp(x[j], static_cast<int>(i / a.n));
        }
      }
      CHECK(wrong == 0);
    };
    check(own);
    const std::string up = kLayer + "block_sparse_moe.experts.1.w3";  // one that a quantiser left out
    for (const char* part : {".weight", ".weight_packed", ".weight_scale", ".weight_global_scale"}) c.tensors.erase(up + part);
    c.tensors[up + ".weight"] = {"BF16", {128, 64}, std::string(128 * 64 * 2, '\2')};
    check(nv ? LINNET_I8G32 : LINNET_F8E4M3G128);  // rounds x as the gate's does
  }
}

// By a plain writer: DeepSeek-V3's blocks, also in the layer behind the last, which is passed over.
TEST_CASE("FP8 in blocks: latent attention, experts, and layers that the model does not have") {
  Model c("deepseek-v3", "tests/golden/");
  c.config.insert(c.config.find('{') + 1,
                  R"("quantization_config":{"quant_method":"fp8","fmt":"e4m3","scale_fmt":"ue8m0","weight_block_size":[128,128]},)");
  std::map<std::string, std::vector<float>> values;
  size_t extra = 0;
  for (const auto& [name, t] : std::map(c.tensors)) {
    if (!name.ends_with("_proj.weight") && !name.ends_with("_with_mqa.weight")) continue;
    REQUIRE((t.dtype == "BF16" && t.shape[0] <= 128 && t.shape[1] <= 128));
    const float scale = 0.001f;  // of the only block
    test::Stored codes = {"F8_E4M3", t.shape, ""};
    for (size_t i = 0; i < t.bytes.size(); i += 2) {
      uint16_t half;
      std::memcpy(&half, t.bytes.data() + i, 2);
      const uint8_t code = f32_to_f8e4m3(bf16_to_f32(half) / scale);
      codes.bytes.push_back(static_cast<char>(code));
      values[name].push_back(f8e4m3_to_f32(code) * scale);
    }
    extra += name.find("eh_proj") != std::string::npos;
    c.tensors[name] = codes;
    c.tensors[name + "_scale_inv"] = {"F32", {1, 1}, std::string(reinterpret_cast<const char*>(&scale), 4)};
  }
  CHECK(extra == 1);
  c.write();
  const test::PackedFolder p(c.path, LINNET_FORMAT_DEFAULT);
  size_t wrong = 0, compared = 0;
  for (const auto& [role, name] : {std::pair{kAttnOut, "self_attn.o_proj"},
                                   {kAttnQA, "self_attn.q_a_proj"},
                                   {kAttnQB, "self_attn.q_b_proj"},
                                   {kExpertDown, "mlp.experts.0.down_proj"}}) {
    CAPTURE(name);
    for (uint32_t layer = 0; layer < p.spec.n_layers; ++layer) {
      const auto at = values.find("model.layers." + std::to_string(layer) + "." + name + ".weight");
      if (at == values.end()) continue;
      const Matrix m = p.matrix(role, layer);
      CHECK(m.format == LINNET_F8E4M3);
      std::vector<float> y(m.k);
      for (size_t i = 0; i < at->second.size() / m.k; ++i) {
        unpack_row(m.panels, m.scales, m.format, m.n, m.k, static_cast<uint32_t>(i), y.data());
        for (uint32_t j = 0; j < m.k; ++j, ++compared) wrong += y[j] != at->second[i * m.k + j];
      }
    }
  }
  CHECK((wrong == 0 && compared > 5000));
}

TEST_CASE("NVFP4 of folders: rows that are no whole blocks need a format to be packed anew in") {
  const auto narrow = [](Model& c) {  // down with 112 inputs of 128, gate and up with 112 outputs
    c.replace("\"intermediate_size\": 128", "\"intermediate_size\": 112");
    for (const char* part : {"gate_proj", "up_proj"}) {
      test::Stored &w = c[kLayer + "mlp." + part + ".weight"], &s = c[kLayer + "mlp." + part + ".weight_scale"];
      w.shape[0] = s.shape[0] = 112;
      w.bytes.resize(112 * 32), s.bytes.resize(112 * 4);
    }
    test::Stored &w = c[kDown + ".weight"], &s = c[kDown + ".weight_scale"];
    std::string codes, scales;
    for (size_t i = 0; i < 64; ++i) codes += w.bytes.substr(i * 64, 56), scales += s.bytes.substr(i * 8, 7);
    w = {"U8", {64, 56}, codes}, s = {"F8_E4M3", {64, 7}, scales};
  };
  refused("modelopt-nvfp4", LINNET_UNSUPPORTED,
          "'" + kDown + ".weight': 112 inputs are no whole blocks of 64, which nvfp4 has; ask for --weights i8g32", narrow);
  Model c("modelopt-nvfp4");
  narrow(c);
  c.want.erase(kDown + ".weight"), c.want.erase(kLayer + "mlp.gate_proj.weight"), c.want.erase(kLayer + "mlp.up_proj.weight");
  CHECK(packed(c, LINNET_F32) == LINNET_F32);
}
