// Folders of bitsandbytes, HQQ, torchao and BitNet: tests/data/quantised, made by these packages on a CPU, against their own dequantisation
// (CRC-32 of the f32 weights); what they make on a GPU alone, torchao's int4, is written here.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels_cpu/kernels.h"
#include "kernels_cpu/pack.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/safetensors.h"
#include "runtime/convert/source.h"
#include "runtime/gguf.h"
#include "tests/catch2.h"
#include "tests/folders.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

const std::string kData = "tests/data/quantised/";

uint32_t crc32(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  uint32_t crc = ~0u;
  for (size_t i = 0; i < values.size() * 4; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

// A copy of a checkpoint whose parts can be changed.
struct Copy : test::TemporaryFolder {
  test::StoredTensors tensors;
  nlohmann::json config;

  explicit Copy(const std::string& name) : tensors(test::read_tensors(kData + name)) {
    std::ifstream(kData + name + "/config.json") >> config;
  }

  void write() const {
    std::ofstream(path + "/config.json") << config;
    test::write_tensors(path, tensors);
  }
};

using Values = std::map<std::string, std::vector<float>>;  // of matrices by their names in the folder

// The packed matrices of a folder, and the format of one of them.
Values packed(const std::string& path, linnet_format asked, linnet_format* of,
              const std::string& one = "model.layers.0.self_attn.q_proj.weight") {
  const test::PackedFolder p(path, asked);
  Values all;
  for (const char* name :
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
    const std::string full = std::string("model.layers.0.") + name + ".weight";
    const Matrix m = p.matrix(full);
    if (full == one) *of = m.format;
    all[full] = test::unpacked(m);
  }
  return all;
}

void refused(const Copy& c, linnet_status status, const std::string& what, linnet_format asked = LINNET_FORMAT_DEFAULT) {
  c.write();
  test::refused(c.path, status, what, asked);
}

const std::string kQ = "model.layers.0.self_attn.q_proj.";

}  // namespace

TEST_CASE("Folders of bitsandbytes, HQQ, torchao and BitNet: weights are those of the tools, to the bit") {
  const std::map<std::string, linnet_format> folders = {{"nf4", LINNET_NF4},
                                                        {"fp4", LINNET_FP4},
                                                        {"nf4-dq", LINNET_NF4_DQ},
                                                        {"fp4-dq", LINNET_FP4_DQ},
                                                        {"llm-int8", LINNET_I8G64},
                                                        {"hqq4-bf16", LINNET_HQQ4G64},
                                                        {"hqq4-f16", LINNET_HQQ4G32},
                                                        {"hqq4-g128", LINNET_HQQ4G128},
                                                        {"hqq3", LINNET_HQQ4G64},
                                                        {"torchao-int8", LINNET_I8G64},
                                                        {"torchao-float8", LINNET_F8E4M3},
                                                        {"bitnet", LINNET_TQ2_F32},
                                                        {"bitnet-online", LINNET_I8G128}};
  for (const auto& [name, own] : folders) {  // of 64 inputs i8g64 has one scale, too
    CAPTURE(name);
    for (const bool as_it_is : {true, false}) {
      linnet_format format = LINNET_FORMAT_DEFAULT;
      const Values got = packed(kData + name, as_it_is ? LINNET_FORMAT_DEFAULT : LINNET_F32, &format);
      CHECK(format == (as_it_is ? own : LINNET_F32));
      std::ifstream values(kData + name + "/values.txt");
      std::string matrix, crc;
      size_t n = 0, rows = 0, inputs = 0;
      for (; values >> matrix >> rows >> inputs >> crc; ++n) {
        CAPTURE(matrix);
        REQUIRE(got.count(matrix) == 1);
        CHECK(got.at(matrix).size() == rows * inputs);
        CHECK(crc32(got.at(matrix)) == static_cast<uint32_t>(std::stoul(crc, nullptr, 16)));
      }
      CHECK(n == 7);
    }
  }
}

TEST_CASE("Folders of bitsandbytes, HQQ, torchao and BitNet: the same logits on every tier, near those of f32") {
  test::Tokens tokens;
  for (int i = 0; i < 40; ++i) tokens.push_back(i * 7 % 16);
  for (const char* name : {"nf4", "fp4", "nf4-dq", "fp4-dq", "llm-int8", "hqq4-bf16", "hqq4-f16", "hqq4-g128", "hqq3", "torchao-int8",
                           "bitnet", "bitnet-online"}) {
    CAPTURE(name);
    const auto own = test::all_logits(test::Model(kData + name, LINNET_FORMAT_DEFAULT), tokens, LINNET_F32);
    const auto scalar = test::all_logits(test::Model(kData + name, LINNET_FORMAT_DEFAULT, LINNET_ISA_SCALAR), tokens, LINNET_F32);
    const auto exact = test::all_logits(test::Model(kData + name, LINNET_F32), tokens, LINNET_F32);
    CHECK(own == scalar);
    CHECK(test::max_error(exact, own) < 0.1);
    CHECK(test::max_error(exact, own) > 0);  // embedding and LM head are rounded to 8 bits
  }
}

TEST_CASE("Folders of bitsandbytes and HQQ: matrices that were left out stand beside codes") {
  test::Tokens tokens;
  for (int i = 0; i < 40; ++i) tokens.push_back(i * 5 % 16);
  for (const char* name : {"nf4", "hqq4-bf16"}) {
    for (const char* left_out : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
                                 "mlp.up_proj", "mlp.down_proj"}) {
      CAPTURE(name, left_out);
      Copy c(name);
      const std::string base = std::string("model.layers.0.") + left_out + ".";
      for (auto it = c.tensors.begin(); it != c.tensors.end();) it = it->first.starts_with(base) ? c.tensors.erase(it) : std::next(it);
      const uint64_t rows = base.ends_with("k_proj.") || base.ends_with("v_proj.") ? 32 : 64;
      std::string halves;
      for (uint64_t i = 0; i < rows * 64; ++i) {
        const uint16_t h = f32_to_bf16((static_cast<float>(i * 2654435761u % 1000) - 500) * 1e-4f);
        halves.append(reinterpret_cast<const char*>(&h), 2);
      }
      c.tensors[base + "weight"] = {"BF16", {rows, 64}, halves};
      c.write();
      const auto own = test::all_logits(test::Model(c.path, LINNET_FORMAT_DEFAULT), tokens, LINNET_F32);
      const auto scalar = test::all_logits(test::Model(c.path, LINNET_FORMAT_DEFAULT, LINNET_ISA_SCALAR), tokens, LINNET_F32);
      const auto exact = test::all_logits(test::Model(c.path, LINNET_F32), tokens, LINNET_F32);
      CHECK(own == scalar);
      CHECK(test::max_error(exact, own) < 0.1);
    }
  }
}

TEST_CASE("Formats of bitsandbytes, HQQ and torchao have the size of the checkpoints") {
  const auto bits = [](Format f) { return static_cast<double>(packed_bytes(f, 4096, 4096)) * 8 / (4096.0 * 4096); };
  CHECK((bits(LINNET_NF4) == 4.5 && bits(LINNET_FP4) == 4.5));
  CHECK((bits(LINNET_NF4_DQ) < 4.16 && bits(LINNET_FP4_DQ) == bits(LINNET_NF4_DQ)));
  CHECK((bits(LINNET_HQQ4G32) == 5 && bits(LINNET_HQQ4G64) == 4.5 && bits(LINNET_HQQ4G128) == 4.25));
  CHECK(bits(LINNET_TQ2_F32) < 2.02);
  CHECK((bits(LINNET_AO4G32) == 5 && bits(LINNET_AO4G64) == 4.5 && bits(LINNET_AO4G128) == 4.25));
}

TEST_CASE("bitsandbytes: blocks of other sizes, and floats beside codes") {
  Copy c("nf4");  // rows of 64 inputs
  const Copy before("nf4");
  // A matrix that was left out reads the rows that the others read: it is a float, too.
  const std::string k = "model.layers.0.self_attn.k_proj.";
  for (const char* part : {"absmax", "quant_map", "quant_state.bitsandbytes__nf4"}) c.tensors.erase(k + "weight." + part);
  c.tensors[k + "weight"] = {"BF16", {32, 64}, std::string(32 * 64 * 2, '\x3d')};
  c.write();
  linnet_format format = LINNET_FORMAT_DEFAULT;
  packed(c.path, LINNET_FORMAT_DEFAULT, &format, k + "weight");
  CHECK(format == LINNET_BF16);

  const auto state = [&](const std::string& text) { c.tensors[kQ + "weight.quant_state.bitsandbytes__nf4"] = {"U8", {text.size()}, text}; };
  // Blocks that rows are no whole ones of, or smaller ones, have their values alone.
  for (const uint32_t block : {128u, 32u}) {
    std::string absmax = before.tensors.at(kQ + "weight.absmax").bytes;
    absmax = block == 128 ? absmax.substr(0, 128) : absmax + absmax;
    c.tensors[kQ + "weight.absmax"] = {"F32", {absmax.size() / 4}, absmax};
    state(R"({"quant_type":"nf4","blocksize":)" + std::to_string(block) + R"(,"dtype":"bfloat16","shape":[64,64]})");
    refused(c, LINNET_UNSUPPORTED, "blocks of " + std::to_string(block) + " of rows of 64 inputs, which no packed format has");
    const std::vector<float> got = packed(c.path, LINNET_F32, &format)[kQ + "weight"];
    const std::string& codes = c.tensors[kQ + "weight"].bytes;
    for (uint32_t at = 0; at < 64 * 64; ++at) {
      const auto byte = static_cast<uint8_t>(codes[at / 2]);
      float scale;
      std::memcpy(&scale, absmax.data() + at / block * 4, 4);
      REQUIRE(got[at] == scalar_table.tables->nf4[at % 2 ? byte & 15 : byte >> 4] * scale);
    }
  }
  c.tensors = before.tensors;
  state(R"({"quant_type":"nf4","blocksize":96,"dtype":"bfloat16","shape":[64,64]})");
  refused(c, LINNET_UNSUPPORTED, "blocksize 96 is not supported");
  state(R"({"quant_type":"fp4","blocksize":64,"dtype":"bfloat16","shape":[64,64]})");
  refused(c, LINNET_BAD_FILE, "quant_type is 'fp4', not 'nf4'");
  state(R"({"quant_type":"nf4","blocksize":64,"dtype":"bfloat16","shape":[64,128]})");
  refused(c, LINNET_BAD_FILE, "shape is missing or not [64, 64]");
  state(R"({"quant_type":"nf4","blocksize":64,)");
  refused(c, LINNET_BAD_FILE, "quant_state.bitsandbytes__nf4'");
  c.tensors.erase(kQ + "weight.quant_state.bitsandbytes__nf4");
  refused(c, LINNET_BAD_FILE, "quant_state.bitsandbytes__nf4' is missing");
  c.tensors = before.tensors;
  const uint32_t infinite = 0x7F800000u;
  std::memcpy(c.tensors[kQ + "weight.absmax"].bytes.data() + 12, &infinite, 4);
  refused(c, LINNET_BAD_FILE, "weight.absmax': the scale of block 3 is infinite or not a number");
  c.tensors = before.tensors;
  c.tensors[kQ + "weight.quant_map"].bytes[3] = 0;
  refused(c, LINNET_UNSUPPORTED, "code 0 stands for");
  c.tensors = before.tensors;
  c.tensors[kQ + "weight"].bytes.pop_back(), c.tensors[kQ + "weight"].shape = {2047, 1};
  refused(c, LINNET_BAD_FILE, "has 2047 bytes, 2048 hold 64 x 64 codes");
  c.tensors = before.tensors;
  c.tensors[kQ + "weight.absmax"].shape = {1, 64};
  refused(c, LINNET_BAD_FILE, "has shape [1, 64]");
  c.tensors = before.tensors;
  c.config["quantization_config"]["bnb_4bit_new"] = true;
  refused(c, LINNET_UNSUPPORTED, "key 'bnb_4bit_new'");
  c.config = before.config;
  refused(c, LINNET_UNSUPPORTED, "nf4_dq is what files have", LINNET_NF4_DQ);

  Copy dq("nf4-dq");
  const Copy dq_before("nf4-dq");
  dq.tensors[kQ + "weight.nested_quant_map"].bytes[7] ^= 1;
  refused(dq, LINNET_UNSUPPORTED, "nested_quant_map': code 1 stands for");
  dq.tensors = dq_before.tensors;
  dq.tensors[kQ + "weight.nested_absmax"].bytes.resize(8), dq.tensors[kQ + "weight.nested_absmax"].shape = {2};
  refused(dq, LINNET_BAD_FILE, "nested_absmax' has shape [2]");
  dq.tensors = dq_before.tensors;
  std::string& text = dq.tensors[kQ + "weight.quant_state.bitsandbytes__nf4"].bytes;
  text.replace(text.find("\"nested_blocksize\": 256"), 23, "\"nested_blocksize\": 128");
  refused(dq, LINNET_UNSUPPORTED, "double quantisation is not of 256 blocks");

  Copy eight("llm-int8");
  eight.tensors[kQ + "weight_format"].bytes[0] = 1;
  refused(eight, LINNET_UNSUPPORTED, "layout 1 is not supported");
  eight.tensors[kQ + "weight_format"].bytes[0] = 0;
  std::memcpy(eight.tensors[kQ + "SCB"].bytes.data(), &infinite, 4);
  refused(eight, LINNET_BAD_FILE, "the scale of output 0 is infinite");
}

TEST_CASE("bitsandbytes: blocks of 128 are two groups of one scale") {
  Copy c("hqq4-g128");
  Values want;
  uint64_t random = 9;
  const auto below = [&](uint32_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(random >> 33) % n;
  };
  const auto all = c.tensors;
  for (const auto& [name, t] : all) {
    if (!name.ends_with(".shape")) continue;
    uint64_t sides[2];
    std::memcpy(sides, t.bytes.data(), sizeof sides);
    const std::string base = name.substr(0, name.size() - std::strlen("shape"));
    for (auto it = c.tensors.begin(); it != c.tensors.end();) it = it->first.starts_with(base) ? c.tensors.erase(it) : std::next(it);
    const uint64_t values = sides[0] * sides[1], blocks = values / 128;
    std::string codes, absmax, outer;
    const float* const table = scalar_table.tables->nf4;
    const float offset = 0.25f;
    for (uint64_t i = 0; i < values / 2; ++i) codes.push_back(static_cast<char>(below(256)));
    for (uint64_t i = 0; i < blocks; ++i) absmax.push_back(static_cast<char>(below(256)));
    std::vector<float> of;
    for (uint64_t i = 0; i < (blocks + 255) / 256; ++i) {
      of.push_back(0.01f + static_cast<float>(below(100)) * 1e-4f);
      outer.append(reinterpret_cast<const char*>(&of.back()), 4);
    }
    for (uint64_t i = 0; i < values; ++i) {
      const uint32_t byte = static_cast<uint8_t>(codes[i / 2]), code = i % 2 ? byte & 15 : byte >> 4;
      const float inner = scalar_table.tables->scales[static_cast<uint8_t>(absmax[i / 128])] * of[i / 128 / 256], scale = inner + offset;
      want[base + "weight"].push_back(table[code] * scale);
    }
    const std::string state =
        R"({"quant_type":"nf4","blocksize":128,"dtype":"float16","nested_blocksize":256,"nested_dtype":"float32","nested_offset":0.25,"shape":[)" +
        std::to_string(sides[0]) + "," + std::to_string(sides[1]) + "]}";
    c.tensors[base + "weight"] = {"U8", {values / 2, 1}, codes};
    c.tensors[base + "weight.absmax"] = {"U8", {blocks}, absmax};
    c.tensors[base + "weight.nested_absmax"] = {"F32", {of.size()}, outer};
    c.tensors[base + "weight.quant_map"] = {"F32", {16}, std::string(reinterpret_cast<const char*>(table), 64)};
    c.tensors[base + "weight.nested_quant_map"] = {
        "F32", {256}, std::string(reinterpret_cast<const char*>(scalar_table.tables->scales), 1024)};
    c.tensors[base + "weight.quant_state.bitsandbytes__nf4"] = {"U8", {state.size()}, state};
  }
  c.config["quantization_config"] = {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}};
  c.write();
  linnet_format format = LINNET_FORMAT_DEFAULT;
  CHECK(packed(c.path, LINNET_FORMAT_DEFAULT, &format) == want);
  CHECK(format == LINNET_NF4_DQ);
  CHECK(packed(c.path, LINNET_F32, &format) == want);
}

TEST_CASE("HQQ: what no packed format has, and hostile files") {
  Copy c("hqq4-bf16");
  const Copy before("hqq4-bf16");
  const auto number = [&](const char* name, int32_t value) {
    auto& t = c.tensors[kQ + name];
    if (t.bytes.size() == 4)
      std::memcpy(t.bytes.data(), &value, 4);
    else
      t.bytes[0] = static_cast<char>(value);
  };
  // Eight bits have their values alone.
  std::string codes;
  for (int i = 0; i < 64 * 64; ++i) codes.push_back(static_cast<char>(i * 37 + i / 64));
  c.tensors[kQ + "W_q"] = {"U8", {64, 64}, codes};
  c.tensors[kQ + "packing"] = {"U8", {7}, "8bit_u8"};
  refused(c, LINNET_UNSUPPORTED, "is HQQ in 8bit_u8 and groups of 64, which no packed format has");
  linnet_format wide = LINNET_FORMAT_DEFAULT;
  const std::vector<float> values = packed(c.path, LINNET_F32, &wide)[kQ + "weight"];
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t of[2];
    std::memcpy(of, c.tensors[kQ + "scale"].bytes.data() + i / 64 * 2, 2);
    std::memcpy(of + 1, c.tensors[kQ + "zero"].bytes.data() + i / 64 * 2, 2);
    const float less = static_cast<float>(static_cast<uint8_t>(codes[i])) - bf16_to_f32(of[1]);
    REQUIRE(values[i] == less * bf16_to_f32(of[0]));
  }
  c.tensors = before.tensors;
  number("axis", 0);
  refused(c, LINNET_UNSUPPORTED, "q_proj.axis' is 0: HQQ with groups along the other axis is not supported");
  number("axis", 1), number("quant_scale", 1);
  refused(c, LINNET_UNSUPPORTED, "quantised scales is not supported");
  number("quant_scale", 0), number("group_size", 48);
  refused(c, LINNET_BAD_FILE, "group_size' is 48");
  number("group_size", 0);
  refused(c, LINNET_BAD_FILE, "group_size' is 0");
  number("group_size", -5);
  refused(c, LINNET_UNSUPPORTED, "is no number from 0 on");
  number("group_size", 32);
  refused(c, LINNET_BAD_FILE, "q_proj.scale' has shape [64, 1]");
  c.tensors = before.tensors;
  c.tensors[kQ + "packing"].bytes[0] = '5';
  refused(c, LINNET_UNSUPPORTED, "packing' is '5bit_u8'");
  c.tensors = before.tensors;
  c.tensors[kQ + "shape"].bytes[0] = 65;
  refused(c, LINNET_BAD_FILE, "shape' is [65, 64]");
  c.tensors = before.tensors;
  c.tensors[kQ + "scale"].bytes[1] = '\x7f', c.tensors[kQ + "scale"].bytes[0] = '\x80';
  refused(c, LINNET_BAD_FILE, "scale or zero point of group 0 is infinite");
  c.tensors = before.tensors;
  c.tensors[kQ + "zero"].dtype = "F16";
  refused(c, LINNET_UNSUPPORTED, "dtype F16, not BF16");
  c.tensors = before.tensors;
  c.tensors[kQ + "W_q"].bytes.resize(1024), c.tensors[kQ + "W_q"].shape = {16, 64};
  refused(c, LINNET_BAD_FILE, "has 1024 bytes, 2048 hold 64 x 64 codes");
  c.tensors = before.tensors;
  c.tensors[kQ + "scale"].bytes[1] = static_cast<char>(c.tensors[kQ + "scale"].bytes[1] | 0x80);  // negative: there is no room for it
  refused(c, LINNET_UNSUPPORTED, "which no packed format has");
  linnet_format format = LINNET_FORMAT_DEFAULT;
  Values got = packed(c.path, LINNET_F32, &format), want = packed(kData + "hqq4-bf16", LINNET_F32, &format);
  const std::string q = kQ + "weight";
  CHECK((got[q][0] == -want[q][0] && got[q][63] == -want[q][63] && got[q][64] == want[q][64]));
  c.tensors.erase(kQ + "zero");
  refused(c, LINNET_BAD_FILE, "q_proj.zero' is missing");
}

TEST_CASE("torchao: int4 as matrices, groups, and what is not supported") {
  Copy c("torchao-int8");
  const Copy before("torchao-int8");
  // Int4Tensor, which the package makes on a GPU alone: two codes from -8 on a byte, scales and zero points (groups, outputs).
  for (const bool wide : {true, false})
    for (const uint32_t group : {32u, 64u}) {
      c.tensors = before.tensors;
      uint64_t random = group;
      const auto below = [&](uint32_t n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(random >> 33) % n;
      };
      Values want;
      for (const auto& [name, t] : before.tensors) {
        if (!name.ends_with("._weight_qdata")) continue;
        const std::string base = name.substr(0, name.size() - std::strlen("_weight_qdata"));
        const uint64_t n = t.shape[0], k = t.shape[1], groups = k / group;
        std::string codes, scales, zeros;
        std::vector<float> s, z;
        for (uint64_t i = 0; i < n * groups; ++i) {
          const float scale = 0.001f + static_cast<float>(below(1000)) * 1e-5f, zero = (static_cast<float>(below(1000)) - 500) * 1e-4f;
          const uint16_t of[2] = {wide ? f32_to_bf16(scale) : f32_to_f16(scale), wide ? f32_to_bf16(zero) : f32_to_f16(zero)};
          scales.append(reinterpret_cast<const char*>(of), 2), zeros.append(reinterpret_cast<const char*>(of + 1), 2);
          s.push_back(wide ? bf16_to_f32(of[0]) : f16_to_f32(of[0])), z.push_back(wide ? bf16_to_f32(of[1]) : f16_to_f32(of[1]));
        }
        std::vector<float>& w = want[base + "weight"];
        for (uint64_t o = 0; o < n; ++o)
          for (uint64_t i = 0; i < k; i += 2) {
            const int32_t pair[2] = {static_cast<int32_t>(below(16)) - 8, static_cast<int32_t>(below(16)) - 8};
            codes.push_back(static_cast<char>((pair[0] & 15) | pair[1] * 16));
            for (const int32_t code : pair) {
              const float scaled = static_cast<float>(code) * s[i / group * n + o];
              w.push_back(scaled + z[i / group * n + o]);
            }
          }
        c.tensors[name] = {"I8", {n, k / 2}, codes};
        c.tensors[base + "_weight_scale"] = {wide ? "BF16" : "F16", {groups, n}, scales};
        c.tensors[base + "_weight_zero_point"] = {wide ? "BF16" : "F16", {groups, n}, zeros};
      }
      c.config["quantization_config"]["quant_type"] = {{"default", {{"_type", "Int4WeightOnlyConfig"}, {"_version", 2}}}};
      c.write();
      linnet_format format = LINNET_FORMAT_DEFAULT;
      CHECK(packed(c.path, LINNET_FORMAT_DEFAULT, &format) == want);
      CHECK(format == (group == 32 ? LINNET_AO4G32 : LINNET_AO4G64));
      CHECK(packed(c.path, LINNET_F32, &format) == want);
      auto& scale = c.tensors[kQ + "_weight_scale"].bytes;
      scale[1] = static_cast<char>(scale[1] | 0x80);
      refused(c, LINNET_UNSUPPORTED, "the scale of output 0 is negative");
      scale[1] = '\x7f', scale[0] = '\x80';
      refused(c, LINNET_BAD_FILE, "scale or zero point of output 0 is infinite");
    }
  c.tensors[kQ + "_weight_qdata"].dtype = "I32", c.tensors[kQ + "_weight_qdata"].shape = {64, 8};
  refused(c, LINNET_UNSUPPORTED, "only int8, e4m3 and int4 (Int4PackingFormat.PLAIN, TILE_PACKED_TO_4D)");
  c.tensors = before.tensors, c.config = before.config;
  c.tensors[kQ + "_weight_zero_point"].bytes[5] = 1;
  refused(c, LINNET_UNSUPPORTED, "zero points of 8 bits other than 0");
  c.tensors = before.tensors;
  c.tensors[kQ + "_weight_act_pre_scale"] = {"F32", {1}, std::string(4, '\0')};
  refused(c, LINNET_UNSUPPORTED, "_weight_act_pre_scale': this kind");
  c.tensors = before.tensors;
  c.tensors[kQ + "_weight_scale"].shape = {32, 2};
  refused(c, LINNET_BAD_FILE, "has shape [32, 2], of 64 x 64 weights");
  c.tensors = before.tensors;
  c.config["quantization_config"]["quant_type"]["default"]["_type"] = "MXFPInferenceConfig";
  refused(c, LINNET_UNSUPPORTED, "'MXFPInferenceConfig' is not supported");
  c.config["quantization_config"]["quant_type"] = "int8_weight_only";
  refused(c, LINNET_UNSUPPORTED, "quant_type is no configuration of torchao");
  Copy f8("torchao-float8");
  f8.tensors[kQ + "_weight_qdata"].bytes[9] = '\x7f';
  refused(f8, LINNET_BAD_FILE, "weight 9 is not a number");
}

TEST_CASE("torchao: int4 in tiles of a GPU's matrix kernel") {
  // As CUDA packs them: of 8 outputs and 128 inputs each of 32 lanes has four words, of 32 inputs one; see _convert_weight_to_int4pack.
  Copy c("torchao-int8");
  const auto before = c.tensors;
  for (const uint32_t group : {128u, 32u}) {
    c.tensors = before;
    Values want;
    uint64_t random = group;
    const auto below = [&](uint32_t n) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      return static_cast<uint32_t>(random >> 33) % n;
    };
    for (const auto& [name, t] : before) {
      if (!name.ends_with("._weight_qdata")) continue;
      const std::string base = name.substr(0, name.size() - std::strlen("_weight_qdata"));
      const uint32_t n = static_cast<uint32_t>(t.shape[0]), k = static_cast<uint32_t>(t.shape[1]), padded = 1024, groups = padded / group;
      std::vector<uint8_t> codes(size_t{n} * padded);
      for (uint8_t& code : codes) code = static_cast<uint8_t>(below(16));
      std::vector<uint16_t> both(size_t{groups} * n * 2);
      for (size_t i = 0; i < both.size(); i += 2)
        both[i] = f32_to_bf16(0.001f + static_cast<float>(below(1000)) * 1e-5f),
        both[i + 1] = f32_to_bf16(static_cast<float>(below(99)) * 1e-3f);
      std::vector<uint32_t> words;
      for (uint32_t tile = 0; tile < n / 8; ++tile)
        for (uint32_t outer = 0; outer < padded / 128; ++outer)
          for (uint32_t lane = 0; lane < 32; ++lane)
            for (uint32_t inner = 0; inner < 8; inner += 2) {
              const uint32_t first = (outer * 8 + inner) * 16 + lane % 4 * 2,
                             inputs[8] = {first, first + 1, first + 8, first + 9, first + 16, first + 17, first + 24, first + 25};
              constexpr uint32_t kAt[8] = {0, 16, 4, 20, 8, 24, 12, 28};
              uint32_t word = 0;
              for (int i = 0; i < 8; ++i) word |= uint32_t{codes[size_t{tile * 8 + lane / 4} * padded + inputs[i]]} << kAt[i];
              words.push_back(word);
            }
      for (uint32_t o = 0; o < n; ++o)
        for (uint32_t i = 0; i < k; ++i) {
          const uint16_t* of = &both[(size_t{i / group} * n + o) * 2];
          const float scaled = (static_cast<float>(codes[size_t{o} * padded + i]) - 8.0f) * bf16_to_f32(of[0]);
          want[base + "weight"].push_back(scaled + bf16_to_f32(of[1]));
        }
      c.tensors.erase(base + "_weight_scale"), c.tensors.erase(base + "_weight_zero_point");
      c.tensors[name] = {"I32", {n / 8, padded / 128, 32, 4}, std::string(reinterpret_cast<const char*>(words.data()), words.size() * 4)};
      c.tensors[base + "_weight_scale_and_zero"] = {
          "BF16", {groups, n, 2}, std::string(reinterpret_cast<const char*>(both.data()), both.size() * 2)};
    }
    nlohmann::json& type = c.config["quantization_config"]["quant_type"];
    type = {{"default", {{"_type", "Int4WeightOnlyConfig"}, {"_version", 2}, {"_data", {{"int4_tile_packed_ntile", 8}}}}}};
    c.write();
    linnet_format format = LINNET_FORMAT_DEFAULT;
    CHECK(packed(c.path, LINNET_FORMAT_DEFAULT, &format) == want);
    CHECK(format == (group == 32 ? LINNET_AO4G32 : LINNET_AO4G64));  // rows have 64 inputs
    CHECK(packed(c.path, LINNET_F32, &format) == want);
    type["default"]["_data"]["int4_tile_packed_ntile"] = 16;
    refused(c, LINNET_UNSUPPORTED, "int4_tile_packed_ntile other than 8");
    type["default"]["_data"]["int4_tile_packed_ntile"] = 8;
    c.tensors[kQ + "_weight_qdata"].shape = {8, 4, 64, 4};
    refused(c, LINNET_BAD_FILE, "_weight_qdata' has shape [8, 4, 64, 4]");
    c.tensors[kQ + "_weight_qdata"].shape = {8, 8, 32, 4};
    c.tensors.erase(kQ + "_weight_scale_and_zero");
    refused(c, LINNET_UNSUPPORTED, "_weight_scale_and_zero' is missing");
  }
}

TEST_CASE("BitNet: scales that multiply or divide, and matrices that are no codes") {
  const Copy before("bitnet");
  Copy c("bitnet");
  nlohmann::json& q = c.config["quantization_config"];
  const auto number = [&](const std::string& dtype, float v) {
    const uint16_t half = dtype == "BF16" ? f32_to_bf16(v) : f32_to_f16(v);
    const bool wide = dtype == "F32";
    c.tensors[kQ + "weight_scale"] = {
        dtype, {}, std::string(reinterpret_cast<const char*>(wide ? static_cast<void*>(&v) : const_cast<uint16_t*>(&half)), wide ? 4 : 2)};
  };
  const auto check = [&](float scale) {
    c.write();
    const std::string& codes = c.tensors[kQ + "weight"].bytes;
    for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_F32, LINNET_I8, LINNET_TQ2_F32}) {
      linnet_format format = LINNET_FORMAT_DEFAULT;
      const std::vector<float> got = packed(c.path, asked, &format)[kQ + "weight"];
      CHECK(format == (asked == LINNET_FORMAT_DEFAULT ? LINNET_TQ2_F32 : asked));
      REQUIRE(got.size() == 256 * 256);
      size_t same = 0;
      for (uint32_t i = 0; i < got.size(); ++i) {  // of a byte the lowest bits are of the first quarter of the outputs
        const int code = (static_cast<uint8_t>(codes[i / 256 % 64 * 256 + i % 256]) >> i / 256 / 64 * 2 & 3) - 1;
        same += got[i] == static_cast<float>(code) * scale;
      }
      CHECK(same == got.size());
    }
  };
  number("F32", 0.12345678f), check(0.12345678f);  // no f16
  number("F16", 3.0f), check(3.0f);
  number("BF16", 1e-30f), check(bf16_to_f32(f32_to_bf16(1e-30f)));
  for (const nlohmann::json& linear : {nlohmann::json("bitlinear"), nlohmann::json()}) {
    q["linear_class"] = linear;
    number("BF16", 2.984375f), check(1 / 2.984375f);
  }
  number("BF16", 0.0f);
  refused(c, LINNET_BAD_FILE, "q_proj.weight_scale' or what is divided by it is infinite or not a number");
  q["linear_class"] = "autobitlinear";
  check(0.0f);
  number("F32", INFINITY);
  refused(c, LINNET_BAD_FILE, "q_proj.weight_scale' or what is divided by it is infinite");
  c.tensors[kQ + "weight_scale"] = {"F32", {256}, std::string(1024, '\0')};
  refused(c, LINNET_UNSUPPORTED, "q_proj.weight_scale': F32 of shape [256], not one number");
  c.tensors[kQ + "weight_scale"] = {"I32", {1}, std::string(4, '\0')};
  refused(c, LINNET_UNSUPPORTED, "not one number in F32, F16 or BF16");
  c.tensors = before.tensors;
  c.tensors[kQ + "weight"].bytes[256 + 3] = '\x31';
  refused(c, LINNET_BAD_FILE, "q_proj.weight': the code of output 129, input 3 is 3");
  c.tensors = before.tensors;
  c.tensors[kQ + "weight"].shape = {128, 128};
  refused(c, LINNET_BAD_FILE, "q_proj.weight' has shape [128, 128], config.json asks for [64, 256]");
  c.tensors = before.tensors;
  c.tensors.erase(kQ + "weight_scale");  // as transformers has it: floats that stand beside codes are no codes
  refused(c, LINNET_BAD_FILE, "q_proj.weight' has shape [64, 256], config.json asks for [256, 256]");
  c.tensors[kQ + "weight"] = {"F32", {256, 256}, std::string(256 * 256 * 4, '\x3c')};
  c.write();
  linnet_format format = LINNET_FORMAT_DEFAULT;
  packed(c.path, LINNET_FORMAT_DEFAULT, &format);
  CHECK(format == LINNET_I8G32);
  c.tensors = before.tensors;
  q["linear_class"] = "bitlinear2";
  refused(c, LINNET_UNSUPPORTED, "quantization_config.linear_class 'bitlinear2' is not supported");
  q["linear_class"] = "autobitlinear", q["quantization_mode"] = "both";
  refused(c, LINNET_UNSUPPORTED, "quantization_config.quantization_mode 'both' is not supported");
  q["quantization_mode"] = "offline", q["use_rms_norm"] = true;
  refused(c, LINNET_UNSUPPORTED, "key 'use_rms_norm'");
}

TEST_CASE("BitNet: codes that are made of floats as the model is loaded") {
  Copy c("bitnet");
  c.config["quantization_config"]["quantization_mode"] = "online";
  uint32_t random = 5;
  for (const std::string dtype : {"BF16", "F16", "F32"}) {
    CAPTURE(dtype);
    Values want;
    const Copy before("bitnet");
    for (const auto& [name, stored] : before.tensors) {
      if (!name.ends_with("_proj.weight")) continue;
      std::vector<float> w(stored.bytes.size() * 4);
      std::string bytes;
      double sum = 0;
      const auto as_stored = [&](float v, std::string* to) {
        const uint16_t half = dtype == "BF16" ? f32_to_bf16(v) : f32_to_f16(v);
        if (to && dtype != "F32") to->append(reinterpret_cast<const char*>(&half), 2);
        if (to && dtype == "F32") to->append(reinterpret_cast<const char*>(&v), 4);
        return dtype == "F32" ? v : dtype == "BF16" ? bf16_to_f32(half) : f16_to_f32(half);
      };
      for (float& v : w) {
        random = random * 1664525 + 1013904223;
        v = as_stored((static_cast<float>(random >> 8) * 0x1p-23f - 1) * 0.07f, &bytes);
        sum += std::fabs(static_cast<double>(v));
      }
      const float inverse = 1 / static_cast<float>(sum / static_cast<double>(w.size())), scale = as_stored(1 / inverse, nullptr);
      uint32_t zeros = 0;
      for (float& v : w) {
        const float code = std::round(v * inverse);
        zeros += code == 0;
        v = (code > 1 ? 1 : code < -1 ? -1 : code) * scale;
      }
      CHECK((zeros > w.size() / 8 && zeros < w.size() / 2));
      want[name] = w;
      c.tensors.erase(name + "_scale");
      c.tensors[name] = {dtype, {stored.shape[0] * 4, stored.shape[1]}, bytes};
    }
    REQUIRE(want.size() == 7);
    c.write();
    for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_F32}) {
      linnet_format format = LINNET_FORMAT_DEFAULT;
      CHECK(packed(c.path, asked, &format) == want);
      CHECK(format == (asked == LINNET_F32 ? LINNET_F32 : LINNET_TQ2_F32));
    }
  }
  const auto tensors = c.tensors;
  const float infinite = INFINITY;
  std::memcpy(c.tensors[kQ + "weight"].bytes.data() + 40, &infinite, 4);
  refused(c, LINNET_BAD_FILE, "q_proj.weight' holds infinities or what is not a number");
  c.tensors[kQ + "weight"] = {"F32", {256, 256}, std::string(256 * 256 * 4, '\0')};  // all of them 0: the mean counts as 1e-5
  c.write();
  linnet_format format = LINNET_FORMAT_DEFAULT;
  CHECK(packed(c.path, LINNET_FORMAT_DEFAULT, &format)[kQ + "weight"] == std::vector<float>(256 * 256));
  c.tensors = tensors;
  c.tensors[kQ + "weight"].dtype = "I32";
  refused(c, LINNET_UNSUPPORTED, "q_proj.weight': dtype I32 is not supported");
  c.tensors = tensors;
  c.config["quantization_config"]["modules_to_not_convert"] = {"q_proj"};
  refused(c, LINNET_UNSUPPORTED, "modules_to_not_convert an array beside quantization_mode online is not supported");
  c.config["quantization_config"]["modules_to_not_convert"] = {"lm_head"};
  c.write();
  packed(c.path, LINNET_FORMAT_DEFAULT, &format);
  CHECK(format == LINNET_TQ2_F32);
  // Of floats that nobody says to be ternary nothing makes them, and plain files have no such type.
  c.config.erase("quantization_config");
  refused(c, LINNET_UNSUPPORTED, "tq2_f32 is what files have", LINNET_TQ2_F32);
  Options options;
  options.plain = true;
  options.weights = LINNET_TQ2_F32;
  Image image;
  linnet_error err = {};
  CHECK(convert_to_memory(c.path, options, &image, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "not tq2_f32"));
}

TEST_CASE("damaged folders of bitsandbytes, HQQ, torchao and BitNet: refused, or they run") {
  const char* const names[] = {"nf4-dq",         "fp4",    "llm-int8",     "hqq4-bf16", "hqq3", "torchao-int8",
                               "torchao-float8", "bitnet", "bitnet-online"};
  uint64_t random = 3;
  const auto below = [&](size_t n) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(random >> 33) % n;
  };
  uint32_t taken = 0, refused_ones = 0;
  const uint32_t n = kSlow ? 30 : 200;
  for (uint32_t round = 0; round < n; ++round) {
    Copy c(names[round % 9]);
    const auto any = [&] {
      auto at = c.tensors.begin();
      std::advance(at, below(c.tensors.size()));
      return at;
    };
    const size_t kind = below(6);
    if (kind == 0) {  // bytes of small tensors, which say how the others are read
      for (auto& [name, t] : c.tensors)
        if (t.bytes.size() < 200 && below(2)) t.bytes[below(t.bytes.size())] = static_cast<char>(below(256));
    } else if (kind == 1) {  // of any
      for (int i = 0; i < 8; ++i) {
        std::string& bytes = any()->second.bytes;
        bytes[below(bytes.size())] = static_cast<char>(below(256));
      }
    } else if (kind == 2) {
      c.tensors.erase(any());
    } else if (kind == 3) {
      const auto a = any(), b = any();
      std::swap(a->second, b->second);
    } else if (kind == 4) {  // other sides of as many values
      std::vector<uint64_t>& shape = any()->second.shape;
      if (shape.size() == 2)
        std::swap(shape[0], shape[1]);
      else if (shape.size() == 1 && shape[0] % 2 == 0)
        shape = {2, shape[0] / 2};
      else
        shape.push_back(1);
    } else {
      const auto a = any();
      const char* const types[] = {"I32", "F32", "U32", "F16", "BF16", "I16"};
      std::string& dtype = a->second.dtype;
      if (dtype == "I32" || dtype == "F32")
        dtype = types[below(3)];
      else if (dtype == "F16" || dtype == "BF16")
        dtype = types[3 + below(3)];
      else
        dtype = dtype == "U8" ? "BOOL" : "U8";  // of the same size, so that gate and up stay alike
    }
    c.write();
    for (const linnet_format asked : {LINNET_FORMAT_DEFAULT, LINNET_I8G32}) {
      Options options;
      options.weights = asked;
      options.max_error = 2;
      Image image;
      linnet_error err = {};
      const linnet_status status = convert_to_memory(c.path, options, &image, &err);
      CAPTURE(names[round % 9], round, kind, err.text);
      if (status == LINNET_OK) {
        ++taken;
        const test::Model m(image);
        const test::Session session(m, test::params());
        const int32_t tokens[] = {1, 2, 3};
        const linnet_status computed = linnet_prefill(session.s, 0, tokens, 3, &err);
        CHECK((computed == LINNET_OK || computed == LINNET_NOT_FINITE));
      } else {
        ++refused_ones;
        CHECK((status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED));
        CHECK(err.text[0]);
      }
    }
  }
  CHECK((taken > n / 4 && refused_ones > n / 4));
}
