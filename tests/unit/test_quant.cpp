// GPTQ and AWQ checkpoints: written here by the formats' definitions, read back by the importer.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernels_cpu/pack.h"
#include "platform/crc32c.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/hf_quant.h"
#include "runtime/gguf.h"
#include "tests/catch2.h"
#include "tests/folders.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

struct Checkpoint : test::TemporaryFolder {
  test::StoredTensors tensors;
  std::map<std::string, std::vector<float>> want;                          // (n, k) of every quantised matrix
  std::string family = R"("llama","architectures":["LlamaForCausalLM"])";  // of config.json
  std::string quantization;
  std::string scale_type = "F16";  // of scales, and what they are multiplied by
  float scale_by = 1;
  uint64_t random = 1;

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

  // A scale, as it is stored.
  float scale(std::string* to) {
    const float v = (0.001f + static_cast<float>(below(1000)) * 1e-5f) * scale_by;
    const uint16_t half = scale_type == "BF16" ? f32_to_bf16(v) : f32_to_f16(v);
    scale_type == "F32" ? to->append(reinterpret_cast<const char*>(&v), 4) : to->append(reinterpret_cast<const char*>(&half), 2);
    return scale_type == "F32" ? v : scale_type == "BF16" ? bf16_to_f32(half) : f16_to_f32(half);
  }

  // Numbers of `bits` bits one behind the other in words, of which a column of n has its own.
  static void put(std::vector<uint32_t>* words, size_t column, size_t stride, uint32_t bits, size_t i, uint32_t value) {
    for (uint32_t b = 0; b < bits; ++b) {
      const size_t bit = i * bits + b;
      (*words)[column + bit / 32 * stride] |= (value >> b & 1) << (bit % 32);
    }
  }

  // A matrix of n outputs by k inputs: weight = scale * (code - zero), scales and zero points per output and group of inputs. No quantiser
  // makes these here: GPTQ's and AWQ's want a GPU.
  void matrix(const std::string& base, uint32_t n, uint32_t k, uint32_t group, bool awq, bool v2, bool symmetric, uint32_t act_order,
              uint32_t bits = 4) {
    const uint32_t g = group ? group : k, groups = (k + g - 1) / g, most = 1u << bits;
    std::vector<uint32_t> group_of(k), codes(size_t{k} * n), zeros(size_t{groups} * n);
    for (uint32_t i = 0; i < k; ++i) group_of[i] = act_order ? (i * act_order) % k / g : i / g;
    for (uint32_t& c : codes) c = below(most);
    // of 8 bits near the middle, where what is left fits into 8 bits
    for (uint32_t& z : zeros) z = symmetric ? most / 2 : bits == 8 ? 128 : 1 + below(v2 || awq ? most - 1 : most);
    std::string scales;
    std::vector<float> scale_of;
    for (size_t i = 0; i < zeros.size(); ++i) scale_of.push_back(scale(&scales));
    std::vector<float>& w = want[base + ".weight"];
    w.resize(size_t{n} * k);
    for (uint32_t i = 0; i < k; ++i)
      for (uint32_t o = 0; o < n; ++o) {
        const size_t at = size_t{group_of[i]} * n + o;
        w[size_t{o} * k + i] = (static_cast<float>(codes[size_t{i} * n + o]) - static_cast<float>(zeros[at])) * scale_of[at];
      }
    const uint32_t order[8] = {0, 2, 4, 6, 1, 3, 5, 7};  // AWQ: nibble b of a word holds output order[b]
    const size_t across = size_t{n} * bits / 32, down = size_t{k} * bits / 32;
    std::vector<uint32_t> qweight(awq ? k * across : down * n), qzeros(groups * across);
    const auto place = [&](uint32_t output) {
      uint32_t b = 0;
      while (order[b] != output % 8) ++b;
      return awq ? output - output % 8 + b : output;
    };
    for (uint32_t i = 0; i < k; ++i)
      for (uint32_t o = 0; o < n; ++o) {
        const uint32_t code = codes[size_t{i} * n + o];
        awq ? put(&qweight, i * across, 1, 4, place(o), code) : put(&qweight, o, n, bits, i, code);
      }
    for (uint32_t row = 0; row < groups; ++row)
      for (uint32_t o = 0; o < n; ++o) put(&qzeros, row * across, 1, bits, place(o), zeros[size_t{row} * n + o] - (awq || v2 ? 0 : 1));
    words(base + ".qweight", awq ? std::vector<uint64_t>{k, across} : std::vector<uint64_t>{down, n}, qweight);
    words(base + ".qzeros", {groups, across}, qzeros);
    tensors[base + ".scales"] = {scale_type, {groups, n}, scales};
    if (!awq) words(base + ".g_idx", {k}, group_of);
  }

  // The same of compressed-tensors: codes and zero points are signed, those of outputs or groups are packed. group: 0: a scale per output.
  void packed(const std::string& base, uint32_t n, uint32_t k, uint32_t group, uint32_t bits, bool symmetric, uint32_t act_order) {
    const uint32_t g = group ? group : k, groups = (k + g - 1) / g, half = 1u << (bits - 1);
    const size_t across = (size_t{k} * bits + 31) / 32, down = (size_t{n} * bits + 31) / 32;
    std::vector<uint32_t> codes(n * across), zeros(down * groups), group_of(k);
    for (uint32_t i = 0; i < k; ++i) group_of[i] = act_order ? (i * act_order) % k / g : i / g;
    std::vector<int32_t> zero_of(size_t{n} * groups);
    std::vector<float> scale_of;
    std::string scales;
    for (uint32_t o = 0; o < n; ++o)
      for (uint32_t i = 0; i < groups; ++i) {
        const uint32_t zero = symmetric ? half : bits == 8 ? half - 4 + below(9) : below(2 * half);
        zero_of[o * groups + i] = static_cast<int32_t>(zero) - static_cast<int32_t>(half);
        put(&zeros, i, groups, bits, o, zero);
        scale_of.push_back(scale(&scales));
      }
    std::vector<float>& w = want[base + ".weight"];
    w.clear();
    for (uint32_t o = 0; o < n; ++o)
      for (uint32_t i = 0; i < k; ++i) {
        const uint32_t code = bits == 8 ? 8 + below(240) : below(2 * half);  // less a zero point it has 8 bits
        put(&codes, o * across, 1, bits, i, code);
        const size_t at = o * groups + group_of[i];
        w.push_back(static_cast<float>(static_cast<int32_t>(code) - static_cast<int32_t>(half) - zero_of[at]) * scale_of[at]);
      }
    words(base + ".weight_packed", {n, across}, codes);
    if (!symmetric) words(base + ".weight_zero_point", {down, groups}, zeros);
    const int64_t shape[2] = {n, k};
    tensors[base + ".weight_shape"] = {"I64", {2}, std::string(reinterpret_cast<const char*>(shape), 16)};
    tensors[base + ".weight_scale"] = {scale_type, {n, groups}, scales};
    if (act_order) words(base + ".weight_g_idx", {k}, group_of);
  }
  // Every matrix of model() so.
  void compressed(uint32_t group, uint32_t bits, bool symmetric, uint32_t act_order) {
    model(0);
    for (auto& [name, w] : want) {
      const std::string base = name.substr(0, name.size() - 7);
      const uint32_t k = base.ends_with("down_proj") ? 352 : 256, n = static_cast<uint32_t>(w.size() / k);
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) tensors.erase(base + part);
      packed(base, n, k, group, bits, symmetric, act_order);
    }
    quantization =
        R"({"quant_method":"compressed-tensors","format":"pack-quantized","quantization_status":"compressed","ignore":["lm_head"],)"
        R"("config_groups":{"group_0":{"targets":["Linear"],"input_activations":null,"weights":{"num_bits":)" +
        std::to_string(bits) + R"(,"type":"int","strategy":")" + (group ? "group" : "channel") + R"(","group_size":)" +
        (group ? std::to_string(group) : "null") + R"(,"symmetric":)" + (symmetric ? "true" : "false") +
        (act_order ? R"(,"actorder":"group"}}}})" : R"(,"actorder":null,"observer":"minmax"}}}})");
  }

  // act_order: what inputs are multiplied by where they stand by their groups; 0: these lie together.
  void model(uint32_t group, bool awq = false, bool v2 = false, bool symmetric = false, uint32_t act_order = 0, uint32_t bits = 4) {
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
      matrix(layer + name, n, k, group, awq, v2, symmetric, act_order, bits);
    quantization =
        std::string("{\"quant_method\":\"") + (awq ? "awq" : "gptq") + "\",\"bits\":" + std::to_string(bits) +
        ",\"group_size\":" + (group ? std::to_string(group) : "-1") +
        (awq ? ",\"version\":\"GEMM\",\"zero_point\":true}"
             : std::string(",\"desc_act\":") + (act_order ? "true" : "false") + (v2 ? ",\"checkpoint_format\":\"gptq_v2\"}" : "}"));
  }

  // The same layer with queries, keys and values in one tensor, and gate and up in another, as Phi-3 has them.
  void fused(uint32_t group, bool awq, uint32_t act_order) {
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
    test::write_tensors(path, tensors);
  }
};

// Inputs of a matrix of the checkpoint in the order of their groups.
std::vector<uint32_t> in_order(const Checkpoint& c, const std::string& base, uint32_t k) {
  std::vector<uint32_t> order(k), group_of(k, 0);
  for (uint32_t i = 0; i < k; ++i) order[i] = i;
  for (const char* suffix : {".g_idx", ".weight_g_idx"})
    if (const auto at = c.tensors.find(base + suffix); at != c.tensors.end()) std::memcpy(group_of.data(), at->second.bytes.data(), 4 * k);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return group_of[a] < group_of[b]; });
  return order;
}

// The packed model's matrices against what they stand for. Returns the format of q.
Format check_packed(const Checkpoint& c, linnet_format asked, bool exact) {
  const test::PackedFolder p(c.path, asked);
  Format format = LINNET_FORMAT_DEFAULT;
  size_t wrong = 0, compared = 0;
  // Where orders are kept: those of the file for inputs, that of down for the outputs of gate and up.
  const bool ordered = p.spec.layer_values[kLayerFieldCount - 1];
  const std::vector<uint32_t> down = in_order(c, "model.layers.0.mlp.down_proj", 352);
  for (const auto& [name, want] : c.want) {
    uint32_t layer = 0;
    const Role role = test::PackedFolder::role_of(name, &layer);
    const Matrix m = p.matrix(role, layer);
    if (role == kAttnQ) format = m.format;
    std::vector<float> y(m.k);
    std::vector<uint32_t> inputs = role == kFfnDown && ordered ? down : in_order(c, "", m.k);
    const float* order = nullptr;
    const Role of = role == kAttnOut ? kAttnOutOrder : role == kFfnGate || role == kFfnUp ? kFfnInOrder : kAttnInOrder;
    linnet_error err = {};
    if (role != kFfnDown) REQUIRE(find_order(p.gguf, of, layer, p.spec, &order, &err) == LINNET_OK);
    CHECK((order != nullptr || role == kFfnDown) == (ordered || role == kFfnDown));
    for (uint32_t j = 0; order && j < m.k; ++j) inputs[j] = static_cast<uint32_t>(order[j]);
    const float most = exact ? 0.0f : format_row(m.format).bits == 4 ? 0.08f : 0.006f;
    for (uint32_t i = 0; i < m.n; ++i, compared += m.k) {
      unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, y.data());
      const uint32_t row = ordered && (role == kFfnGate || role == kFfnUp) ? down[i] : i, *from = inputs.data();
      const float *w = &want[size_t{row} * m.k], *got = y.data();  // millions of values, in builds that do not optimise
      for (uint32_t j = 0; j < m.k; ++j) wrong += !(std::fabs(got[j] - w[from[j]]) <= most);
    }
  }
  CHECK(compared > 300000);
  CHECK(wrong == 0);
  CHECK(format_row(p.matrix(kOutput, 0).format).bits >= 8);
  return format;
}

void refused(const Checkpoint& c, linnet_status status, const std::string& what) {
  c.write();
  test::refused(c.path, status, what);
}

}  // namespace

TEST_CASE("GPTQ and AWQ: codes, scales and zero points are taken over bit for bit") {
  Checkpoint c;
  int n = 0;
  for (const bool awq : {false, true})
    for (const bool v2 : {false, true})
      for (const bool symmetric : {false, true})
        for (const uint32_t group : {128u, 64u, 32u, 0u}) {
          if ((awq && v2) || (kSlow && n++ % 3)) continue;
          CAPTURE(awq, v2, symmetric, group);
          c.model(group, awq, v2, symmetric);
          c.write();
          const Format own = symmetric ? (group == 64   ? LINNET_I4G64
                                          : group == 32 ? LINNET_I4G32
                                                        : LINNET_I4G128)
                                       : (group == 64   ? LINNET_I4G64Z
                                          : group == 32 ? LINNET_I4G32Z
                                                        : LINNET_I4G128Z);
          CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == own);
          CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
          CHECK(check_packed(c, LINNET_I8G32, true) == LINNET_I8G32);
          CHECK(check_packed(c, LINNET_I4G128Z, group == 128 || group == 0) == LINNET_I4G128Z);
          CHECK(check_packed(c, LINNET_I4G32Z, true) == LINNET_I4G32Z);
        }
}

TEST_CASE("GPTQ in 2, 3 and 8 bits: codes less their zero points are kept") {
  Checkpoint c;
  int n = 0;
  for (const uint32_t bits : {2u, 3u, 8u})
    for (const bool v2 : {false, true})
      for (const uint32_t group : {128u, 64u, 32u, 0u}) {
        if (kSlow && n++ % 3) continue;
        const bool symmetric = v2 != (group == 64);
        const uint32_t act_order = group == 32 || group == 128 ? 7 : 0;
        CAPTURE(bits, v2, symmetric, group);
        c.model(group, false, v2, symmetric, act_order, bits);
        c.write();
        const Format of_4[] = {LINNET_I4G128, LINNET_I4G64, LINNET_I4G32, LINNET_I4G128},
                     of_8[] = {LINNET_I8G128, LINNET_I8G64, LINNET_I8G32, LINNET_I8};
        const int i = group == 128 ? 0 : group == 64 ? 1 : group == 32 ? 2 : 3;
        CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == (bits == 8 ? of_8 : of_4)[i]);
        CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
      }
  // Of 8 bits the rest may be too large.
  c.model(128, false, true, false, 0, 8);
  std::string& zeros = c.tensors["model.layers.0.mlp.up_proj.qzeros"].bytes;
  std::string& codes = c.tensors["model.layers.0.mlp.up_proj.qweight"].bytes;
  zeros[9] = 1, codes[9 * 4] = '\xF0';
  refused(c, LINNET_UNSUPPORTED,
          "up_proj.weight': a code of output 9 less its zero point is 239, which 8 bits cannot hold: ask for --weights");
  c.want["model.layers.0.mlp.up_proj.weight"].clear();
  c.want.erase("model.layers.0.mlp.up_proj.weight");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
  c.model(128, false, true, false, 0, 3);
  c.matrix("model.layers.0.self_attn.k_proj", 128, 256, 128, false, true, false, 0, 2);
  refused(c, LINNET_BAD_FILE, "k_proj.qweight' has shape [16, 128], config.json asks for [24, 128]");
}

TEST_CASE("GPTQ: scales that are not stored as f16") {
  Checkpoint c;
  for (const char* type : {"BF16", "F32"})
    for (const bool small : {false, true})
      for (const uint32_t bits : {4u, 8u}) {
        c.scale_type = type;
        c.scale_by = small ? 1e-4f : 1;
        const bool half = type[0] == 'B' && !small;  // of eight bits, and not too small
        for (const uint32_t group : {128u, 64u, 0u}) {
          if (kSlow && group == (small ? 64u : 128u)) continue;
          CAPTURE(type, small, bits, group);
          c.model(group, false, false, false, 0, bits);
          c.write();
          const Format own = bits == 4 && half ? (group == 64 ? LINNET_I4G64Z : LINNET_I4G128Z)
                                               : (group == 128  ? LINNET_I8G128
                                                  : group == 64 ? LINNET_I8G64
                                                                : LINNET_I8);
          CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == own);
          CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
        }
        c.model(32, false, false, true, 0, bits);
        if (half) continue;
        refused(c, LINNET_UNSUPPORTED,
                "has groups of 32 inputs with scales that are no f16, which no packed format has; ask for --weights");
      }
}

TEST_CASE("AutoRound: packed as GPTQ or AWQ") {
  Checkpoint c;
  const auto says = [&c](const std::string& packing, uint32_t bits, const std::string& more) {
    c.quantization = R"({"quant_method":"auto-round","packing_format":")" + packing + R"(","bits":)" + std::to_string(bits) +
                     R"(,"group_size":64,"sym":false,"data_type":"int","iters":200,"autoround_version":"0.16.1")" + more + "}";
  };
  for (const auto& [packing, awq, v2] : {std::tuple{"auto_round:auto_gptq", false, false},
                                         {"auto_round:auto_awq", true, false},
                                         {"auto_round", false, true},
                                         {"auto_round:gptqmodel", false, true}}) {
    CAPTURE(packing);
    c.model(64, awq, v2);
    says(packing, 4, R"(,"extra_config":{"lm_head":{"bits":16,"data_type":"float"},"x":{"bits":4,"group_size":64}},"act_bits":16)");
    c.write();
    CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G64Z);
  }
  c.quantization.replace(c.quantization.find("auto-round"), 10, "intel/auto-round");
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G64Z);
  says("auto_round:exllamav2", 4, ""), refused(c, LINNET_UNSUPPORTED, "packing_format 'auto_round:exllamav2' is not supported");
  says("auto_round", 4, ",\"extra_config\":{\"a.b\":{\"bits\":8}}"),
      refused(c, LINNET_UNSUPPORTED, "extra_config.a.b: bits = 8 and group_size = 64 of its own are not supported");
  says("auto_round", 4, ",\"extra_config\":{\"a.b\":3}"), refused(c, LINNET_BAD_FILE, "extra_config.a.b: no object");
  says("auto_round", 4, ",\"extra_config\":[3]"), refused(c, LINNET_BAD_FILE, "extra_config is an array, not an object");
  says("auto_round", 4, ",\"act_bits\":8"), refused(c, LINNET_UNSUPPORTED, "act_bits = 8 is not supported");
  says("auto_round", 4, ",\"rotation_config\":{\"x\":1}"), refused(c, LINNET_UNSUPPORTED, "key 'rotation_config' (an object)");
  says("auto_round", 7, ""), refused(c, LINNET_UNSUPPORTED, "bits = 7 is not supported, only 2, 3, 4 and 8");
  says("auto_round", 4, ""), c.quantization.replace(c.quantization.find("\"int\""), 5, "\"mx_fp\""),
      refused(c, LINNET_UNSUPPORTED, "data_type 'mx_fp' is not supported, only int");
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
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_F8E4M3G128);
  c.quantization = R"({"quant_method":"fp8","fmt":"e4m3","scale_fmt":"ue8m0","weight_block_size":[96,256]})";
  refused(c, LINNET_BAD_FILE, "_scale_inv' has shape");
  for (auto& [name, t] : c.tensors)
    if (name.ends_with("down_proj.weight_scale_inv"))
      t.bytes.resize(t.bytes.size() / 3 * 2), t.shape[1] = 2;  // of 256 inputs
    else if (name.ends_with("_scale_inv"))
      t.bytes.resize(t.bytes.size() / 2), t.shape[1] = 1;
  c.write();
  {
    Image image;
    linnet_error err = {};
    CHECK(convert_to_memory(c.path, {}, &image, &err) == LINNET_OK);
    image_free(&image);
  }
  c.quantization = R"({"quant_method":"fp8","weight_block_size":[96,64]})";
  for (auto& [name, t] : c.tensors)
    if (name.ends_with("_scale_inv"))
      t.shape[1] = name.find("down_proj") == std::string::npos ? 4 : 6, t.bytes.resize(t.shape[0] * t.shape[1] * 4);
  refused(c, LINNET_UNSUPPORTED, "has a scale for each 64 inputs, which no packed format of FP8 has; ask for --weights i8g32");
  for (auto& [name, t] : c.tensors)
    if (name.ends_with("_scale_inv"))
      t.shape[1] = name.find("down_proj") == std::string::npos ? 2 : 3, t.bytes.resize(t.shape[0] * t.shape[1] * 4);
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
  const Form forms[] = {
      {R"({"quant_method":"fp8","activation_scheme":"static","ignored_layers":["lm_head"]})", "_scale", "F32", 0},
      {R"({"quant_method":"fp8","weight_block_size":null})", "_scale_inv", "F32", 1},
      {R"({"quant_method":"fbgemm_fp8","activation_scale_ub":1200.0,"modules_to_not_convert":["lm_head"]})", "_scale", "F32", 4},
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
    CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_F8E4M3);
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
         "format 'pack-quantized' of weights of type 'float' is not supported, only float-quantized");
  config(with_strategy(compressed, "tensor"), "\"num_bits\":8", "\"num_bits\":4", "weights of 4 bits");
  config(with_strategy(compressed, "tensor"), "\"sparsity_config\":{}", "\"sparsity_config\":{\"format\":\"sparse\"}",
         "key 'sparsity_config'");
  config(with_strategy(compressed, "group"), "8", "8", "weights.group_size = 0 is outside 1 to 65536");
  config(with_strategy(compressed, "token"), "8", "8", "strategy 'token'");
  config(with_strategy(compressed, "block"), "8", "8", "block_structure is no pair of sizes");
}

TEST_CASE("compressed-tensors and AutoRound: what their packages write is taken over as they unpack it") {
  const struct {
    const char* folder;
    Format own;  // of q
  } cases[] = {{"w4-g32-asym", LINNET_I4G32Z}, {"w4-channel-asym", LINNET_I4G128Z}, {"w8-channel", LINNET_I8G128},
               {"w8-block", LINNET_I8G64},     {"w3-tensor-asym", LINNET_I4G128},   {"mixed", LINNET_I8G64},
               {"gptq-w3-g32", LINNET_I4G32},  {"gptq-v2-w2-g64", LINNET_I4G64},    {"awq-g32", LINNET_I4G32Z}};
  for (const auto& [folder, own] : cases) {
    const std::string path = std::string("tests/data/quant_ints/") + folder;
    std::map<std::string, uint32_t> expected;
    std::ifstream lines(path + "/expected.txt");
    for (std::string name, crc; lines >> name >> crc;) expected[name] = static_cast<uint32_t>(std::stoul(crc, nullptr, 16));
    REQUIRE(expected.size() == 7);
    for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_F32}) {
      CAPTURE(folder, asked);
      const test::PackedFolder p(path, asked);
      for (const auto& [name, crc] : expected) {
        const Matrix m = p.matrix(name);
        if (name == "model.layers.0.self_attn.q_proj.weight") CHECK(m.format == (asked ? asked : own));
        if (name == "model.layers.0.mlp.up_proj.weight" && !asked && folder == std::string("mixed")) CHECK(m.format == LINNET_I4G64Z);
        const std::vector<float> w = test::unpacked(m);
        INFO(name);
        CHECK(crc32c(0, w.data(), w.size() * sizeof(float)) == crc);
      }
    }
  }
}

TEST_CASE("compressed-tensors in integers: codes, scales, zero points and act-order") {
  Checkpoint c;
  int of = 0;
  for (const uint32_t bits : {2u, 3u, 4u, 5u, 8u})
    for (const bool symmetric : {false, true})
      for (const uint32_t group : {128u, 64u, 32u, 0u}) {
        if ((bits != 4 && bits != 8 && group != 64) || (kSlow && of++ % 3)) continue;
        CAPTURE(bits, symmetric, group);
        c.scale_type = group == 32 ? "F16" : "BF16";
        c.compressed(group, bits, symmetric, group == 64 || group == 32 ? 7 : 0);
        c.write();
        const bool zeros = bits == 4 && !symmetric;
        const Format of_4[] = {LINNET_I4G128, LINNET_I4G64, LINNET_I4G32, LINNET_I4G128},
                     of_4z[] = {LINNET_I4G128Z, LINNET_I4G64Z, LINNET_I4G32Z, LINNET_I4G128Z},
                     of_8[] = {LINNET_I8G128, LINNET_I8G64, LINNET_I8G32, LINNET_I8};
        const int i = group == 128 ? 0 : group == 64 ? 1 : group == 32 ? 2 : 3;
        CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == (zeros ? of_4z : bits <= 4 ? of_4 : of_8)[i]);
        CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
      }
  // Zero points of older files are bytes.
  c.compressed(64, 4, false, 0);
  for (const auto& [name, w] : c.want) {
    const std::string base = name.substr(0, name.size() - 7);
    const uint64_t n = w.size() / (base.ends_with("down_proj") ? 352 : 256), groups = c.tensors[base + ".weight_scale"].shape[1];
    std::string bytes;
    for (uint64_t o = 0; o < n; ++o)
      for (uint64_t g = 0; g < groups; ++g) {
        const auto byte = static_cast<uint8_t>(c.tensors[base + ".weight_zero_point"].bytes[(o / 8 * groups + g) * 4 + o % 8 / 2]);
        bytes.push_back(static_cast<char>((byte >> (o % 2 * 4) & 15) - 8));
      }
    c.tensors[base + ".weight_zero_point"] = {"I8", {n, groups}, bytes};
  }
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G64Z);
  c.tensors["model.layers.0.mlp.up_proj.weight_zero_point"].bytes[3] = 8;
  refused(c, LINNET_BAD_FILE, "up_proj.weight_zero_point': 8 of output 0 is outside of 4 bits");
  // No order where each input says -1.
  c.compressed(64, 4, true, 0);
  c.words("model.layers.0.self_attn.q_proj.weight_g_idx", {256}, std::vector<uint32_t>(256, UINT32_MAX));
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G64);

  const std::string up = "model.layers.0.mlp.up_proj";
  const auto with = [&c](const std::string& from, const std::string& to) {
    c.scale_type = "F16";
    c.compressed(64, 4, false, 0);
    const size_t at = c.quantization.find(from);
    REQUIRE(at != c.quantization.npos);
    c.quantization.replace(at, from.size(), to);
  };
  const std::string none = "\"symmetric\":false";
  with("\"num_bits\":4", "\"num_bits\":9"), refused(c, LINNET_UNSUPPORTED, "config_groups.group_0: weights of 9 bits, type 'int'");
  with("\"num_bits\":4", "\"num_bits\":-4"), refused(c, LINNET_BAD_FILE, "config_groups.group_0: weights, or num_bits");
  with("\"int\"", "\"float\""), refused(c, LINNET_UNSUPPORTED, "weights of 4 bits, type 'float'");
  with("\"strategy\":\"group\"", "\"strategy\":\"token\""), refused(c, LINNET_UNSUPPORTED, "strategy 'token' are not supported");
  with("\"group_size\":64", "\"group_size\":0"), refused(c, LINNET_UNSUPPORTED, "weights.group_size = 0 is outside 1 to 65536");
  with("\"observer\":\"minmax\"", "\"outlier\":2"), refused(c, LINNET_UNSUPPORTED, "weights: key 'outlier' (2) is not supported");
  with("pack-quantized", "marlin-24"), refused(c, LINNET_UNSUPPORTED, "format 'marlin-24' of weights of type 'int'");
  with("\"ignore\":[\"lm_head\"]", "\"transform_config\":{\"a\":1}"), refused(c, LINNET_UNSUPPORTED, "key 'transform_config' (an object)");
  with("\"ignore\":[\"lm_head\"]", "\"sparsity_config\":{\"format\":\"dense\"}"), c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G64Z);
  with("\"group_size\":64", "\"group_size\":32"),
      refused(c, LINNET_BAD_FILE, ".weight_scale' has shape [256, 4], config.json asks for [256, 8]");
  with(none, none), c.tensors[up + ".weight_shape"].bytes[0] = 1,
                                   refused(c, LINNET_BAD_FILE, "up_proj.weight_shape' says 257 x 256, config.json asks for 352 x 256");
  with(none, none), c.tensors[up + ".weight_shape"].dtype = "F64", refused(c, LINNET_BAD_FILE, "up_proj.weight_shape': not two numbers");
  with(none, none), c.tensors.erase(up + ".weight_shape"), refused(c, LINNET_BAD_FILE, "up_proj.weight_shape' is missing");
  with(none, none), c.tensors.erase(up + ".weight_zero_point"), refused(c, LINNET_BAD_FILE, "up_proj.weight_zero_point' is missing");
  with(none, "\"symmetric\":true"), refused(c, LINNET_BAD_FILE, ".weight_zero_point' is not 0, though config.json says symmetric");
  with(none, none), c.tensors[up + ".weight_packed"].shape = {352, 16, 2}, refused(c, LINNET_BAD_FILE, "has shape [352, 16, 2]");
  with(none, none), c.tensors.erase(up + ".weight_packed"), refused(c, LINNET_BAD_FILE, "up_proj.weight' is missing");
  with(none, none), c.tensors[up + ".weight_scale"].bytes.replace(10, 2, std::string("\x00\x7C", 2)),
      refused(c, LINNET_BAD_FILE, "up_proj.weight_scale'[5] is infinite");
  with("\"actorder\":null", "\"actorder\":\"group\""),
      refused(c, LINNET_BAD_FILE, ".weight_g_idx' is missing, though config.json asks for act-order");
  with(none, none), c.words(up + ".weight_g_idx", {256}, std::vector<uint32_t>(256, 4)),
      refused(c, LINNET_BAD_FILE, "up_proj.weight_g_idx': group 4 of input 0, there are 4");
  c.compressed(48, 4, true, 0);
  refused(c, LINNET_UNSUPPORTED, "has groups of 48 inputs, which no packed format has; ask for --weights");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
  c.scale_type = "F32";
  c.compressed(32, 4, true, 0);
  refused(c, LINNET_UNSUPPORTED, "has groups of 32 inputs with scales that are no f16, which no packed format has");
}

TEST_CASE("compressed-tensors: targets of several groups") {
  Checkpoint c;
  const auto group = [](const std::string& targets, int bits) {
    return R"({"targets":)" + targets + R"(,"weights":{"num_bits":)" + std::to_string(bits) +
           R"(,"type":"int","strategy":"group","group_size":64}})";
  };
  const auto says = [&](const std::string& eight, const std::string& four) {
    c.scale_type = "F16";
    c.compressed(64, 4, true, 0);
    for (const auto& [name, n] : {std::pair{"q_proj", 256u}, {"k_proj", 128u}, {"v_proj", 128u}, {"o_proj", 256u}})
      c.packed("model.layers.0.self_attn." + std::string(name), n, 256, 64, 8, true, 0);
    c.quantization = R"({"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"a":)" + group(eight, 8) +
                     ",\"b\":" + group(four, 4) + "}}";
    c.write();
  };
  for (const char* eight : {R"(["re:.*self_attn.*"])", R"(["re:^model\\.layers\\.[0-9]+\\.self_attn\\.[qkvo]_proj$"])",
                            R"(["re:nothing|.*(q|k|v)_proj|model.+o_proj"])",
                            R"(["model.layers.0.self_attn.q_proj","model.layers.0.self_attn.k_proj","re:.*(v|o)_proj"])"}) {
    CAPTURE(eight);
    says(eight, "[\"Linear\"]");
    CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I8G64);
  }
  says("[\"Linear\"]", R"(["re:.*mlp\\..*"])");
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I8G64);
  says("[\"re:self_attn\"]", R"(["re:.*mlp\\..*"])");  // looked for at the beginning alone
  refused(c, LINNET_BAD_FILE, "q_proj.weight' has codes, but none of quantization_config.config_groups names it");
  says("[\"re:.*(?!mlp)\"]", "[\"Linear\"]");
  refused(c, LINNET_UNSUPPORTED, "config_groups.a: 're:.*(?!mlp)': a group that begins with '(?' is not supported in regular expressions");
  says(R"(["re:((a{1000}){1000})*"])", "[\"Linear\"]");
  refused(c, LINNET_UNSUPPORTED, "that it is so large is not supported");
  says("\"Linear\"", "[\"Linear\"]");
  refused(c, LINNET_BAD_FILE, "config_groups.a: targets are no list");
  says("[3]", "[\"Linear\"]");
  refused(c, LINNET_BAD_FILE, "config_groups.a: a target is no text");
  says("[\"Linear\"]", "[\"re:.*\"]");
  refused(c, LINNET_BAD_FILE, "q_proj.weight_packed' has shape [256, 64], config.json asks for [256, 32]");
}

TEST_CASE("GPTQ and AWQ of fused projections: every role has its rows") {
  Checkpoint c;
  for (const bool awq : {false, true})
    for (const uint32_t group : {128u, 32u}) {
      CAPTURE(awq, group);
      c.fused(group, awq, false);
      c.write();
      CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == (group == 32 ? LINNET_I4G32Z : LINNET_I4G128Z));
      CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
    }
  c.fused(128, false, 7);
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G128Z);
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
  for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_F32, LINNET_I8G32}) {
    const test::PackedFolder p(c.path, asked);
    size_t wrong = 0;
    for (const Role role : {kExpertGate, kExpertUp, kExpertDown}) {
      const Matrix m = p.matrix(role, 0);
      CHECK(m.format == (asked ? asked : LINNET_MXFP4));
      const bool down = role == kExpertDown;
      const std::vector<float>& w = want[mlp + (down ? "down_proj" : "gate_up_proj")];
      const std::vector<float> y = test::unpacked(m);
      for (uint32_t i = 0; i < m.n; ++i) {
        const uint32_t row = down ? i : 2 * i + (role == kExpertUp);  // gate and up take turns
        for (uint32_t j = 0; j < m.k; ++j) wrong += y[size_t{i} * m.k + j] != w[size_t{row} * m.k + j];
      }
    }
    CHECK(wrong == 0);
  }
  const std::string config = slurp(c.path + "/config.json");
  const auto refuses = [&](const std::string& what, linnet_format asked = LINNET_I8G32) {
    test::refused(c.path, LINNET_UNSUPPORTED, what, asked);
  };
  const auto changed = [&](size_t at, uint32_t scale) {
    c.tensors[mlp + "down_proj_scales"].bytes[at] = static_cast<char>(scale);
    c.write();
    std::ofstream(c.path + "/config.json") << config;
  };
  changed(40, 144), refuses("expert 0: output 40 has the scale 144, which an f16 cannot hold");
  changed(40, 103), refuses("expert 0: output 40 has the scale 103, which an f16 cannot hold");
  changed(64 + 40, 255), refuses("expert 1: output 40 has the scale 255, which is not a number", LINNET_FORMAT_DEFAULT);
}

TEST_CASE("GPTQ: codes in act-order are kept, and rows come in their order") {
  Checkpoint c;
  for (const uint32_t group : {128u, 64u, 32u})
    for (const bool symmetric : {false, true}) {
      CAPTURE(group, symmetric);
      c.model(group, false, false, symmetric, 7);
      c.write();
      const Format own = exact_format({.bits = 4, .zeros = !symmetric, .half = true, .group = group}, 256);
      CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == own);
      CHECK(check_packed(c, own, true) == own);
      CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
      CHECK(check_packed(c, LINNET_I8G128, false) == LINNET_I8G128);  // values, packed anew in their own order
    }
  // One scale for all: there is no order.
  c.model(0, false, false, true, 7);
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, true) == LINNET_I4G128);
  // A float matrix beside them gets the order, too.
  c.model(32, false, false, false, 7);
  for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"})
    c.tensors.erase("model.layers.0.self_attn.v_proj" + std::string(part));
  c.floats("model.layers.0.self_attn.v_proj.weight", {128, 256});
  std::vector<float>& v = c.want["model.layers.0.self_attn.v_proj.weight"];
  for (size_t i = 0; i < v.size(); ++i) {
    uint16_t half;
    std::memcpy(&half, c.tensors["model.layers.0.self_attn.v_proj.weight"].bytes.data() + 2 * i, 2);
    v[i] = f16_to_f32(half);
  }
  c.write();
  CHECK(check_packed(c, LINNET_FORMAT_DEFAULT, false) == LINNET_I4G32Z);
  // And what does not fit.
  const std::string attn = "model.layers.0.self_attn.", mlp = "model.layers.0.mlp.";
  c.model(64, false, false, false, 7), c.matrix(attn + "k_proj", 128, 256, 64, false, false, false, 5);
  refused(c, LINNET_UNSUPPORTED,
          "k_proj.weight' is in act-order (desc_act), but not in that of 'model.layers.0.self_attn.q_proj.weight', "
          "which reads the same rows: ask for --weights");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
  c.model(64, false, false, false, 7), c.matrix(mlp + "up_proj", 352, 256, 64, false, false, false, 0);
  refused(c, LINNET_UNSUPPORTED, "but 'model.layers.0.mlp.up_proj.weight', which reads the same rows, is not");
  c.model(64, false, false, false, 7), c.matrix("lm_head", 40, 256, 64, false, false, false, 7), c.tensors.erase("lm_head.weight");
  refused(c, LINNET_UNSUPPORTED,
          "'lm_head.weight' is in act-order (desc_act), which linnet has for attention and feed-forward steps alone");
  c.model(64, false, false, false, 7);
  std::memcpy(c.tensors[mlp + "down_proj.g_idx"].bytes.data(), "\1\0\0\0\1\0\0\0\1\0\0", 12);
  refused(c, LINNET_UNSUPPORTED, "down_proj.weight' is in act-order with groups of unequal sizes");
}

TEST_CASE("GPTQ: a gate of attention reads rows in the order that its queries have") {
  Checkpoint c;
  const std::string attn = "model.layers.0.self_attn.", q = attn + "q_proj";
  c.model(32, false, false, false, 7);
  c.family =
      R"("qwen3_5_text","architectures":["Qwen3_5ForCausalLM"],"layer_types":["full_attention"],"head_dim":64,"partial_rotary_factor":0.25)";
  for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) c.tensors.erase(q + part);
  c.matrix(q, 512, 256, 32, false, false, false, 7);
  c.floats(attn + "q_norm.weight", {64});
  c.floats(attn + "k_norm.weight", {64});
  c.write();
  const test::PackedFolder p(c.path, LINNET_FORMAT_DEFAULT);
  const float* order = nullptr;
  linnet_error err = {};
  REQUIRE((find_order(p.gguf, kAttnInOrder, 0, p.spec, &order, &err) == LINNET_OK && order));
  size_t wrong = 0;
  for (const Role role : {kAttnQ, kAttnGate}) {
    const Matrix m = p.matrix(role, 0);
    CHECK(m.format == LINNET_I4G32Z);
    const std::vector<float> y = test::unpacked(m), &want = c.want[q + ".weight"];
    for (uint32_t i = 0; i < 256; ++i)
      for (uint32_t j = 0; j < 256; ++j)
        wrong += y[size_t{i} * 256 + j] !=
                 want[size_t{i / 64 * 128 + (role == kAttnGate ? 64 : 0) + i % 64} * 256 + static_cast<uint32_t>(order[j])];
  }
  CHECK(wrong == 0);
}

TEST_CASE("GPTQ: experts keep their codes, but not act-order") {
  Checkpoint c;
  for (const uint32_t act_order : {0u, 7u}) {
    c.model(64, false, false, false, act_order);
    c.family = R"("mixtral","architectures":["MixtralForCausalLM"],"num_local_experts":3,"num_experts_per_tok":2)";
    const std::string moe = "model.layers.0.block_sparse_moe.";
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
      const std::string base = "model.layers.0.mlp." + std::string(name);
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) c.tensors.erase(base + part);
      c.want.erase(base + ".weight");
    }
    c.floats(moe + "gate.weight", {3, 256});
    std::map<std::string, std::vector<float>> want;
    for (const std::string expert : {"0", "1", "2"})
      for (const auto& [name, n, k] : {std::tuple{".w1", 352u, 256u}, {".w2", 256u, 352u}, {".w3", 352u, 256u}}) {
        const std::string base = moe + "experts." + expert + name;
        c.matrix(base, n, k, 64, false, false, false, act_order);
        want[expert + name] = c.want[base + ".weight"];
      }
    c.write();
    if (act_order)
      refused(c, LINNET_UNSUPPORTED,
              "is in act-order (desc_act), which linnet has for attention and feed-forward steps alone: ask for --weights");
    const test::PackedFolder p(c.path, act_order ? LINNET_F32 : LINNET_FORMAT_DEFAULT);
    size_t wrong = 0;
    for (const auto& [role, name, n] : {std::tuple{kExpertGate, ".w1", 352u}, {kExpertDown, ".w2", 256u}, {kExpertUp, ".w3", 352u}}) {
      const Matrix m = p.matrix(role, 0);
      CHECK(m.format == (act_order ? LINNET_F32 : LINNET_I4G64Z));
      const std::vector<float> y = test::unpacked(m);
      for (uint32_t i = 0; i < 3 * n; ++i) {  // whole panels each
        const std::vector<float>& w = want[std::to_string(i / n) + name];
        for (uint32_t j = 0; j < m.k; ++j) wrong += y[size_t{i} * m.k + j] != w[size_t{i % n} * m.k + j];
      }
    }
    CHECK(wrong == 0);
  }
}

namespace {

std::vector<test::Row> logits(const test::Model& model, uint32_t threads, uint32_t chunk, uint32_t kv = LINNET_I8) {
  test::Tokens tokens;
  for (uint32_t i = 0; i < 40; ++i) tokens.push_back(static_cast<int32_t>(i * 7 % 40));
  test::Session session(model, test::params(kv, threads, chunk, chunk < 40 ? 1 : 40, 64));
  std::vector<test::Row> rows;
  for (size_t at = 0; at < 40; at += chunk) {
    session.prefill({tokens.begin() + static_cast<long>(at), tokens.begin() + static_cast<long>(std::min<size_t>(at + chunk, 40))});
    if (chunk == 1) rows.push_back(session.logits());
  }
  for (uint32_t i = 40; chunk >= 40 && i > 0; --i) rows.push_back(session.logits(i - 1));
  if (rows.empty()) rows.push_back(session.logits());
  return rows;
}

// Root mean square of the differences over that of the logits themselves.
double off_by(const std::vector<test::Row>& got, const std::vector<test::Row>& want) {
  double error = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i)
    for (size_t j = 0; j < want[i].size(); ++j) {
      const double w = static_cast<double>(want[i][j]);
      error += std::pow(static_cast<double>(got[i][j]) - w, 2), size += w * w;
    }
  return std::sqrt(error / size);
}

}  // namespace

TEST_CASE("GPTQ: act-order gives the same bytes over ISA, threads and chunks, and the logits of its values") {
  Checkpoint c;
  for (const uint32_t group : {32u, 128u}) {
    c.model(group, false, false, group == 128, 7);
    c.write();
    const test::Model oracle(c.path, LINNET_FORMAT_DEFAULT, LINNET_ISA_SCALAR);
    const auto want = logits(oracle, 1, 1);
    for (const linnet_isa isa : test::tiers()) {
      const test::Model model(c.path, LINNET_FORMAT_DEFAULT, isa);
      for (const auto& [threads, chunk] : {std::pair{1u, 40u}, {2u, 7u}, {3u, 40u}}) {
        CAPTURE(group, linnet_isa_name(isa), threads, chunk);
        CHECK(test::same_bytes(logits(model, threads, chunk).back(), want.back()));
      }
    }
    // In f32 of those values in a folder without codes, to the bit.
    const test::Model values(c.path, LINNET_F32);
    const auto exact = logits(values, 1, 40, LINNET_F32);
    Checkpoint plain;
    plain.tensors = c.tensors;
    for (const auto& [name, w] : c.want) {
      for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) plain.tensors.erase(name.substr(0, name.size() - 7) + part);
      const uint64_t k = name.find("down_proj") != std::string::npos ? 352 : 256;
      plain.tensors[name] = {"F32", {w.size() / k, k}, std::string(reinterpret_cast<const char*>(w.data()), w.size() * 4)};
    }
    plain.quantization = "null";
    plain.write();
    const test::Model unquantised(plain.path, LINNET_F32);
    const auto same = logits(unquantised, 1, 40, LINNET_F32);
    for (size_t i = 0; i < 40; ++i) CHECK(test::same_bytes(same[i], exact[i]));
    CHECK(off_by(want, exact) < 0.02);  // what rounding activations does
  }
}

TEST_CASE("act-order: what a file says of it is checked") {
  Checkpoint c;
  c.model(64, false, false, false, 7);
  c.write();
  Image image;
  linnet_error err = {};
  REQUIRE(convert_to_memory(c.path, {}, &image, &err) == LINNET_OK);
  Gguf gguf;
  ModelSpec spec = {};
  REQUIRE(gguf_open(image.data, image.bytes, "packed", &gguf, &err) == LINNET_OK);
  REQUIRE(spec_read(gguf, &spec, &err) == LINNET_OK);
  const linnet_view file = image.view();
  linnet_need need{.size = sizeof need};
  REQUIRE(linnet_model_need(&file, nullptr, &need, &err) == LINNET_OK);
  const test::Memory memory(need.bytes);
  linnet_model* model = nullptr;
  const auto refuses = [&](const std::string& what) {
    CHECK(linnet_model_init(&model, memory.p, need.bytes, &file, nullptr, &err) == LINNET_BAD_FILE);
    CAPTURE(err.text, what);
    CHECK(std::string(err.text).find(what) != std::string::npos);
  };
  for (const Role role : {kAttnInOrder, kAttnOutOrder, kFfnInOrder}) {
    const float* order = nullptr;
    REQUIRE(find_order(gguf, role, 0, spec, &order, &err) == LINNET_OK);
    float* const at = const_cast<float*>(order) + 200;
    const float before = *at;
    for (const float bad : {256.0f, -1.0f, 0.5f, 1e30f, std::nanf(""), *(at - 100)}) {
      *at = bad;
      refuses(std::string(role_row(role).name) + "'[200] is none of 256 channels, or one of before");
    }
    *at = before;
  }
  CHECK(linnet_model_init(&model, memory.p, need.bytes, &file, nullptr, &err) == LINNET_OK);
  // The file may change behind the check: wrong numbers, but nothing is read beside the rows.
  for (const Role role : {kAttnInOrder, kAttnOutOrder, kFfnInOrder}) {
    const float* order = nullptr;
    REQUIRE(find_order(gguf, role, 0, spec, &order, &err) == LINNET_OK);
    for (uint32_t i = 0; i < 256; ++i) const_cast<float*>(order)[i] = i % 3 ? std::nanf("") : i % 2 ? -1e30f : 1e30f;
  }
  linnet_session_params params = test::params();
  REQUIRE(linnet_session_need(model, &params, &need, &err) == LINNET_OK);
  const test::Memory room(need.bytes);
  linnet_session* session = nullptr;
  REQUIRE(linnet_session_init(&session, room.p, need.bytes, model, &params, &err) == LINNET_OK);
  const int32_t tokens[] = {1, 2, 3};
  CHECK(linnet_prefill(session, 0, tokens, 3, &err) == LINNET_OK);
  linnet_session_fini(session);
  linnet_model_fini(model);
  auto* const orders = const_cast<uint8_t*>(spec.layer_values[kLayerFieldCount - 1]);
  REQUIRE(orders);
  *orders = 8;
  refuses("layer 0: orders = 8 is outside 0 to 7");
  image_free(&image);
}

TEST_CASE("act-order: a packed file becomes a plain one with inputs where rows have them") {
  Checkpoint c;
  c.model(32, false, false, true, 7);
  c.write();
  const std::string packed = c.path + "/packed.gguf", plain = c.path + "/plain.gguf";
  linnet_error err = {};
  REQUIRE(convert_to_file(c.path, packed, {}, &err) == LINNET_OK);
  Options options;
  options.weights = LINNET_F32;
  options.plain = true;
  const linnet_status status = convert_to_file(packed, plain, options, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  const test::Model of_file(plain, LINNET_F32), of_folder(c.path, LINNET_F32);
  const auto want = logits(of_folder, 1, 40, LINNET_F32), got = logits(of_file, 1, 40, LINNET_F32);
  CHECK(off_by(got, want) < 0.01);  // embeddings and head are i8g32 in the packed file
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

// Whatever a folder says: a status, or a model that computes.
TEST_CASE("damaged folders of codes: refused, or they run") {
  Checkpoint c;
  uint32_t taken = 0, refused_ones = 0;
  const uint32_t n = kSlow ? 30 : 150;
  for (uint32_t round = 0; round < n; ++round) {
    if (round % 3 == 0) c.model(round % 2 ? 64 : 128, false, round % 4 == 3, false, round % 2 ? 7 : 0, round % 9 == 6 ? 8 : 4);
    if (round % 3 == 1) c.model(32, true);
    if (round % 3 == 2) c.compressed(64, round % 2 ? 4 : 8, round % 6 == 5, round % 4 == 2 ? 7 : 0);
    c.random += round;
    const auto any = [&c] {
      auto at = c.tensors.begin();
      std::advance(at, c.below(static_cast<uint32_t>(c.tensors.size())));
      return at;
    };
    const uint32_t kind = c.below(8);
    if (kind < 3) {  // settings
      const size_t at = c.below(static_cast<uint32_t>(c.quantization.size()));
      const char* const values[] = {"0", "-1", "99999999999", "null", "[]", "{}", "\"\"", "true", "3", "1e9"};
      const size_t number = c.quantization.find_first_of("0123456789tf", at);
      if (kind == 0)
        c.quantization[at] = "\":,{}[]019x"[c.below(11)];
      else if (number != c.quantization.npos)
        c.quantization.replace(number, c.quantization.find_first_of(",}", number) - number, values[c.below(10)]);
    } else if (kind == 3) {  // bytes of what says where codes belong
      for (auto& [name, t] : c.tensors)
        if ((name.ends_with("g_idx") || name.ends_with("_shape") || name.ends_with("scales")) && c.below(3) == 0)
          t.bytes[c.below(static_cast<uint32_t>(t.bytes.size()))] = static_cast<char>(c.below(256));
    } else if (kind == 4) {
      c.tensors.erase(any());
    } else if (kind == 5) {
      const auto a = any(), b = any();
      std::swap(a->second, b->second);
    } else if (kind == 6) {  // other sides of as many values
      std::vector<uint64_t>& shape = any()->second.shape;
      if (shape.size() == 2)
        std::swap(shape[0], shape[1]);
      else if (shape[0] % 2 == 0)
        shape = {2, shape[0] / 2};
    } else {
      const auto a = any();
      const char* const types[] = {"I32", "F32", "U32", "F16", "BF16", "I16"};
      const std::string& dtype = a->second.dtype;
      if (dtype == "I32" || dtype == "F32") a->second.dtype = types[c.below(3)];
      if (dtype == "F16" || dtype == "BF16") a->second.dtype = types[3 + c.below(3)];
    }
    c.write();
    Image image;
    linnet_error err = {};
    const linnet_status status = convert_to_memory(c.path, {}, &image, &err);
    CAPTURE(round, kind, err.text);
    CHECK((status == LINNET_OK || status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED));
    CHECK((status == LINNET_OK || err.text[0] != '\0'));
    if (status != LINNET_OK) {
      ++refused_ones;
      continue;
    }
    ++taken;
    const test::Model model(image);
    const test::Session session(model, test::params());
    const int32_t tokens[] = {1, 2, 3};
    const linnet_status computed = linnet_prefill(session.s, 0, tokens, 3, &err);
    CHECK((computed == LINNET_OK || computed == LINNET_NOT_FINITE));
  }
  CHECK(taken > n / 20);
  CHECK(refused_ones > n / 4);
  std::printf("%u damaged folders: %u refused, %u run\n", n, refused_ones, taken);
}

TEST_CASE("matrices that read the same rows have groups that go together, or are refused by name") {
  Checkpoint c;
  c.scale_type = "F16";
  c.compressed(128, 4, true, 0);
  c.packed("model.layers.0.mlp.up_proj", 352, 256, 32, 4, true, 0);
  const auto group = [](const char* targets, int size) {
    return std::string(R"({"targets":[")") + targets + R"("],"weights":{"num_bits":4,"type":"int","strategy":"group","group_size":)" +
           std::to_string(size) + "}}";
  };
  c.quantization = R"({"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"a":)" + group("Linear", 128) +
                   ",\"b\":" + group("re:.*up_proj", 32) + "}}";
  refused(c, LINNET_UNSUPPORTED,
          "tensors 'model.layers.0.mlp.gate_proj.weight' (i4g128) and 'model.layers.0.mlp.up_proj.weight' (i4g32) read the same rows");
  CHECK(check_packed(c, LINNET_F32, true) == LINNET_F32);
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
  with("\"gptq\"", "\"aqlm\""), refused(c, LINNET_UNSUPPORTED, "quant_method 'aqlm' is not supported, only gptq, awq,");
  with("\"gptq\"", "7"), refused(c, LINNET_UNSUPPORTED, "quant_method is missing or no string");
  with("\"bits\":4", "\"bits\":5"), refused(c, LINNET_UNSUPPORTED, "bits = 5 is not supported, only 2, 3, 4 and 8");
  with("\"bits\":4", "\"bits\":\"4\""), refused(c, LINNET_BAD_FILE, "quantization_config.bits is no integer");
  with("\"bits\":4", "\"bits\":4,\"w_bit\":3"), refused(c, LINNET_BAD_FILE, "quantization_config.bits = 4, but w_bit = 3");
  with("\"bits\":4", "\"bits\":4,\"checkpoint_format\":2"),
      refused(c, LINNET_BAD_FILE, "quantization_config.checkpoint_format is no string");
  with("\"bits\":4", "\"bits\":4,\"checkpoint_format\":\"gptq\",\"format\":\"gptq_v2\""),
      refused(c, LINNET_BAD_FILE, "format is 'gptq_v2', another key says 'gptq'");
  with("\"bits\":4", "\"bits\":4,\"method\":\"awq\""), refused(c, LINNET_BAD_FILE, "method is 'awq', another key says 'gptq'");
  with("\"desc_act\":false", "\"desc_act\":1"), refused(c, LINNET_BAD_FILE, "desc_act is neither true nor false");
  with("\"desc_act\":false", "\"desc_act\":true"), c.tensors.erase(down + ".g_idx"),
      refused(c, LINNET_BAD_FILE, "mlp.down_proj.g_idx' is missing, though config.json asks for act-order");
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
  c.model(128), c.tensors[down + ".scales"].dtype = "I16",
                                 refused(c, LINNET_UNSUPPORTED, "dtype I16 is not supported, only F32, F16 and BF16");
  c.model(128), c.tensors[down + ".scales"].bytes.replace(10, 2, std::string("\x00\x7C", 2)),
      refused(c, LINNET_BAD_FILE, "down_proj.scales'[5] is infinite");
  c.model(128), c.tensors[down + ".g_idx"].bytes[4] = 3, refused(c, LINNET_BAD_FILE, "group 3 of input 1, there are 3");
  c.model(128), c.tensors[down + ".g_idx"].bytes[7] = '\x80', refused(c, LINNET_BAD_FILE, "of input 1, there are 3");
  c.model(128), c.floats(down + ".weight", {256, 352}), refused(c, LINNET_BAD_FILE, "codes of gptq beside '" + down + ".weight'");
  c.model(128), c.floats("model.layers.0.mlp.scales", {3}), refused(c, LINNET_UNSUPPORTED, "unknown tensor 'model.layers.0.mlp.scales'");
}
