// The Hugging Face side of convert: JSON, config.json, safetensors, folders.
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/catch2.h"

#define JSON_NOEXCEPTION  // as the library is compiled: both must have the same inline functions
#include <nlohmann/json.hpp>

#include "runtime/architectures.h"
#include "runtime/convert/hf_config.h"
#include "runtime/convert/json.h"
#include "runtime/convert/safetensors.h"
#include "runtime/convert/source.h"
#include "tests/data.h"

using namespace linnet;
using namespace linnet::convert;
namespace fs = std::filesystem;

namespace {

// expr is a Status and hands its error text to `e`.
template <class Call>
void check_refused(const char* expr, const Call& call, Status status, const std::string& what) {
  INFO(expr);
  Error err = {};
  REQUIRE(call(&err) == status);
  CHECK(err.code == status);
  CHECK_THAT(std::string(err.text), Contains(what));
}
template <class Call>
void check_accepted(const char* expr, const Call& call) {
  Error err = {};
  const Status status = call(&err);
  INFO(expr << ": " << err.text);
  REQUIRE(status == LINNET_OK);
}
#define REFUSED(expr, status, what) check_refused(#expr, [&](Error* e) { return expr; }, status, what)
#define ACCEPTED(...) check_accepted(#__VA_ARGS__, [&](Error* e) { return __VA_ARGS__; })

class TempFolder {
 public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "linnet-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempFolder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path + "/" + name, std::ios::binary) << text; }
  std::string path;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

// A safetensors file of this header and n bytes of data: 0, 1, 2, ...
std::string file_of(const std::string& header, size_t n_data) {
  const uint64_t bytes = header.size();
  std::string file(reinterpret_cast<const char*>(&bytes), 8);
  file += header;
  for (size_t i = 0; i < n_data; i++) file += static_cast<char>(i);
  return file;
}

Status parse_bytes(const std::string& file, Error* e) {
  SafetensorsTensors tensors;
  // An allocation of its own, so that the address sanitizer sees a read past the end.
  const std::vector<char> exact(file.begin(), file.end());
  return safetensors_parse(exact.data(), exact.size(), "m.safetensors", &tensors, e);
}
Status parse(const std::string& header, size_t n_data, Error* e) { return parse_bytes(file_of(header, n_data), e); }

std::string read_value(const Source& source, Role role, uint32_t layer, uint32_t row, uint32_t column) {
  for (const SourceTensor& t : source.tensors) {
    if (t.role != role || t.layer != layer) continue;
    std::vector<float> out(t.k);
    Error err;
    if (t.rows(row, 1, out.data(), &err) != LINNET_OK) return err.text;
    char text[40];
    std::snprintf(text, sizeof text, "%a", static_cast<double>(out[column]));
    return text;
  }
  return "no such tensor";
}

}  // namespace

// ---- JSON ------------------------------------------------------------------------------------------------------------------

TEST_CASE("JSON: the test suite of parsers") {
  const std::string folder = data_path("vectors/JSONTestSuite/parsing");
  if (folder.empty()) return;
  size_t n = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    nlohmann::json value;
    Error err = {};
    const Status status = json_parse(slurp(entry.path().string()), name.c_str(), &value, &err);
    if (name[0] == 'y') {
      // The suite allows duplicate keys; we do not.
      const bool duplicates = name.starts_with("y_object_duplicated_key");
      CHECK(status == (duplicates ? LINNET_BAD_FILE : LINNET_OK));
      if (duplicates) CHECK_THAT(std::string(err.text), Contains("duplicate key 'a'"));
    } else if (name[0] == 'n') {
      CHECK(status == LINNET_BAD_FILE);
    }
    if (status != LINNET_OK) {
      CHECK_THAT(std::string(err.text), Contains(name));
      CHECK(value.is_null());
    }
    n++;
  }
  std::printf("JSONTestSuite: %zu texts\n", n);
  CHECK(n == 318);
}

TEST_CASE("JSON: limits and error places") {
  nlohmann::json v;
  const auto parse_json = [&v](const std::string& text, Error* e) { return json_parse(text, "x.json", &v, e); };
  REFUSED(parse_json("", e), LINNET_BAD_FILE, "x.json: not valid JSON at line 1, column 1");
  REFUSED(parse_json("{\"a\": 1,\n \"b\": nul}", e), LINNET_BAD_FILE, "line 2, column 10");
  REFUSED(parse_json("{} {}", e), LINNET_BAD_FILE, "line 1, column 4");
  REFUSED(parse_json(std::string("{}\0{}", 5), e), LINNET_BAD_FILE, "line 1, column 3");
  REFUSED(parse_json("[NaN]", e), LINNET_BAD_FILE, "line 1, column 2");
  REFUSED(parse_json("[1e999]", e), LINNET_BAD_FILE, "line 1");
  REFUSED(parse_json("[\"\xff\"]", e), LINNET_BAD_FILE, "line 1, column 3");
  REFUSED(parse_json("{\"a\": {\"k\": 1, \"k\": 1}}", e), LINNET_BAD_FILE, "x.json: duplicate key 'k'");
  ACCEPTED(parse_json(std::string(64, '[') + std::string(64, ']'), e));
  REFUSED(parse_json(std::string(65, '[') + std::string(65, ']'), e), LINNET_BAD_FILE, "nested deeper than 64");
  REFUSED(parse_json(std::string(1 << 20, '['), e), LINNET_BAD_FILE, "nested deeper than 64");
  std::string many = "[0";
  for (size_t i = 1; i < kJsonMaxValues; i++) many += ",0";
  REFUSED(parse_json(many + "]", e), LINNET_BAD_FILE, "more than 8388608 values");
  Error err = {};
  CHECK(json_parse("{\n\n?", "x.json", &v, &err) == LINNET_BAD_FILE);
  CHECK(err.line == 3);
  CHECK(json_parse("?", "x.json", &v, nullptr) == LINNET_BAD_FILE);
  // What is taken: escapes, large integers exactly, deep enough values.
  ACCEPTED(parse_json(R"({"s": "\u00e9\ud83d\ude00\u0000", "n": 18446744073709551615, "m": -9223372036854775808})", e));
  std::string s;
  REQUIRE(get_string(v, "s", &s) == Got::kFound);
  CHECK(s == std::string("\xc3\xa9\xf0\x9f\x98\x80\0", 7));
  CHECK(json_show(*json_member(v, "n")) == "18446744073709551615");
}

TEST_CASE("JSON: what Python writes that is none") {
  nlohmann::json v;
  const auto parse_json = [&v](const std::string& text, Error* e) { return json_parse_python(text, "x.json", &v, e); };
  ACCEPTED(parse_json(R"({"a": NaN,"b":[Infinity, -Infinity],"s": "NaN, Infinity \" NaN", "x": 0.5, "NaN": 1})", e));
  double d = 7;
  CHECK(get_double(v, "a", &d) == Got::kWrong);  // no field of a model means it
  CHECK(d == 7);
  CHECK(json_show(*json_member(v, "a")) == "NaN");
  CHECK(json_show((*json_member(v, "b"))[0]) == "Infinity");
  CHECK(json_show((*json_member(v, "b"))[1]) == "-Infinity");
  std::string s;
  CHECK(get_string(v, "s", &s) == Got::kFound);
  CHECK(s == "NaN, Infinity \" NaN");
  CHECK(get_double(v, "x", &d) == Got::kFound);
  ACCEPTED(parse_json("[0E0, -0E000000]", e));
  CHECK((v[0] == 0 && v[1] == 0));
  ACCEPTED(parse_json("NaN", e));
  for (const char* text :
       {"[nan]", "[Nan]", "[NaNs]", "[1NaN]", "[-NaN]", "[+Infinity]", "[Infinityx]", "{NaN: 1}", "\"NaN", "[\"\\", "["}) {
    INFO(text);
    REFUSED(parse_json(text, e), LINNET_BAD_FILE, "x.json: not valid JSON at line 1");
  }
  REFUSED(parse_json("{\"a\": NaN, \"b\": nul}", e), LINNET_BAD_FILE, "line 1, column 20");
}

TEST_CASE("JSON: checked getters") {
  nlohmann::json v;
  ACCEPTED(
      json_parse(R"({"zero": 0, "max": 4294967295, "over": 4294967296, "minus": -1, "float": 2.0, "text": "a", "null": null, "yes": true,
                         "huge": 18446744073709551615, "list": [1]})",
                 "x", &v, e));
  uint32_t u = 7;
  CHECK(get_u32(v, "zero", &u) == Got::kFound);
  CHECK(u == 0);
  CHECK(get_u32(v, "max", &u) == Got::kFound);
  CHECK(u == 4294967295u);
  for (const char* key : {"over", "minus", "float", "text", "yes", "huge", "list"}) CHECK(get_u32(v, key, &u) == Got::kWrong);
  CHECK(get_u32(v, "null", &u) == Got::kNull);
  CHECK(get_u32(v, "none", &u) == Got::kMissing);
  CHECK(u == 4294967295u);
  int64_t i = 7;
  CHECK(get_i64(v, "minus", &i) == Got::kFound);
  CHECK(i == -1);
  CHECK(get_i64(v, "over", &i) == Got::kFound);
  CHECK(i == 4294967296);
  for (const char* key : {"huge", "float", "text"}) CHECK(get_i64(v, key, &i) == Got::kWrong);
  double d = 7;
  CHECK(get_double(v, "minus", &d) == Got::kFound);
  CHECK(d == -1);
  CHECK(get_double(v, "float", &d) == Got::kFound);
  CHECK(d == 2);
  CHECK(get_double(v, "text", &d) == Got::kWrong);
  bool b = false;
  CHECK(get_bool(v, "yes", &b) == Got::kFound);
  CHECK(b);
  CHECK(get_bool(v, "zero", &b) == Got::kWrong);
  std::string s;
  CHECK(get_string(v, "text", &s) == Got::kFound);
  CHECK(s == "a");
  CHECK(get_string(v, "yes", &s) == Got::kWrong);
  // Values that are no objects have no members.
  CHECK(get_string(*json_member(v, "list"), "a", &s) == Got::kMissing);
  CHECK(json_member(*json_member(v, "text"), "a") == nullptr);
}

TEST_CASE("read_file") {
  const TempFolder folder;
  folder.write("f", "12345");
  std::string text;
  bool found = false;
  ACCEPTED(read_file(folder.path + "/f", 5, &text, &found, e));
  CHECK(text == "12345");
  CHECK(found);
  REFUSED(read_file(folder.path + "/f", 4, &text, &found, e), LINNET_BAD_FILE, "5 bytes, the limit for this file is 4");
  REFUSED(read_file(folder.path, 9, &text, &found, e), LINNET_IO, "not a regular file");
  ACCEPTED(read_file(folder.path + "/none", 5, &text, &found, e));
  CHECK(!found);
  REFUSED(read_file(folder.path + "/none", 5, &text, nullptr, e), LINNET_IO, "none: ");
  folder.write("f", "version https://git-lfs.github.com/spec/v1\n");
  REFUSED(read_file(folder.path + "/f", 99, &text, &found, e), LINNET_BAD_FILE, "/f: a Git LFS pointer, not the file itself");
  REFUSED(read_file(folder.path + "/" + std::string(250, 'x') + "/none", 5, &text, nullptr, e), LINNET_IO,
          "xxx/none: cannot open: no such file");
}

// ---- architectures and config.json ----------------------------------------------------------------------------------------------

TEST_CASE("architectures") {
  for (const char* name : {"llama", "mistral", "qwen2", "qwen3", "deepseek_v2"}) {
    REQUIRE(architecture_by_hf(name));
    CHECK(architecture_by_hf(name)->name == std::string(name));
    CHECK(architecture_by_hf_class(architecture_by_hf(name)->hf_class) == architecture_by_hf(name));
  }
  CHECK(architecture_by_hf("t5") == nullptr);
  CHECK(architecture_by_gguf("mistral") == nullptr);
  CHECK(architecture_by_gguf("llama") == architecture_by_hf("llama"));
  CHECK(architecture_by_gguf("qwen3") == architecture_by_hf("qwen3"));

  const HfTensor* found = nullptr;
  uint32_t layer = 77;
  for (uint32_t i = 0; i < kArchitectureCount; ++i) {
    const HfNames& names = *kArchitectures[i].names;
    for (uint32_t t = 0; t < names.n_tensors; ++t) {
      if (names.tensors[t].name[0] == '/' && role_row(names.tensors[t].role).per_layer()) continue;  // beside the model
      for (const uint32_t l : {0u, 10u, 1023u})
        for (uint32_t root = 0; root < 2 && names.roots[root]; ++root) {
          const std::string name = hf_tensor_name(names, names.tensors[t], root, l, 3);
          INFO(kArchitectures[i].name << " " << name);
          CHECK(hf_tensor_find(names, name, &found, &layer) == HfName::kKnown);
          CHECK(found->name == std::string(names.tensors[t].name));  // the first of those that share it
          CHECK(layer == (role_row(found->role).per_layer() ? l : 0));
        }
    }
  }
  const HfNames& llama = *architecture_by_hf("llama")->names;
  CHECK(hf_tensor_find(llama, "model.layers.3.self_attn.rotary_emb.inv_freq", &found, &layer) == HfName::kIgnored);
  for (const char* odd :
       {"", "model.layers.", "model.layers.3", "model.layers.3.", "model.layers.x.mlp.up_proj.weight", "mlp.up_proj.weight",
        "model.layers.03.mlp.up_proj.weight", "model.layers.99999999999.mlp.up_proj.weight", "model.layers.0.lm_head.weight",
        "model.layers.-1.mlp.up_proj.weight", "model.layers.0.mlp.experts.07.up_proj.weight", "model.layers.0.mlp.experts..up_proj.weight",
        "model.layers.0.mlp.up_proj.weight.", "lm_head.scale"}) {
    INFO(odd);
    CHECK(hf_tensor_find(llama, odd, &found, &layer) == HfName::kUnknown);
  }
}

namespace {

using Keys = std::map<std::string, std::string>;  // key -> JSON text; "" leaves the key out

std::string config_text(const Keys& changes) {
  Keys all = {{"architectures", R"(["LlamaForCausalLM"])"},
              {"model_type", R"("llama")"},
              {"hidden_size", "64"},
              {"intermediate_size", "172"},
              {"num_hidden_layers", "2"},
              {"num_attention_heads", "8"},
              {"num_key_value_heads", "4"},
              {"vocab_size", "512"}};
  for (const auto& [key, value] : changes) all[key] = value;
  std::string text;
  for (const auto& [key, value] : all)
    if (!value.empty()) text += (text.empty() ? "{\"" : ",\n \"") + key + "\": " + value;
  return text + "}";
}
Status config(const Keys& changes, ModelSpec* spec, Error* e) { return spec_from_config(config_text(changes), "config.json", spec, e); }
Keys family(const char* model_type, const char* hf_class) {
  return {{"model_type", '"' + std::string(model_type) + '"'}, {"architectures", "[\"" + std::string(hf_class) + "\"]"}};
}

}  // namespace

TEST_CASE("config: what absent keys mean") {
  ModelSpec s;
  ACCEPTED(config({}, &s, e));
  CHECK(s.architecture == std::string("llama"));
  CHECK(
      (s.n_layers == 2 && s.d_model == 64 && s.n_heads == 8 && s.n_kv_heads == 4 && s.head_dim == 8 && s.d_ff == 172 && s.n_vocab == 512));
  CHECK(s.n_context == 2048);
  CHECK(s.norm_eps == 1e-6);
  CHECK((s.rope_kind == kRopeHalves && s.rope_dim == 8 && s.rope_base == 10000 && s.rope_scaling == kRopeScaleNone && s.rope_freqs == 0));
  CHECK((s.qkv_bias == 0 && s.out_bias == 0 && s.mlp_bias == 0 && s.qk_norm == 0 && s.tied == 0 && s.activation == kActSilu));
  ACCEPTED(config({{"num_key_value_heads", ""}}, &s, e));
  CHECK(s.n_kv_heads == 8);
  ACCEPTED(config({{"num_key_value_heads", "null"}, {"head_dim", "null"}, {"architectures", ""}}, &s, e));
  CHECK((s.n_kv_heads == 8 && s.head_dim == 8));
  ACCEPTED(config({{"model_type", ""}}, &s, e));
  ACCEPTED(config({{"attention_bias", "true"}, {"mlp_bias", "true"}, {"tie_word_embeddings", "true"}, {"head_dim", "10"}}, &s, e));
  CHECK((s.qkv_bias == 1 && s.out_bias == 1 && s.mlp_bias == 1 && s.tied == 1 && s.head_dim == 10));
  // Qwen2 has biases without a key, Qwen3 norms and a head size of its own.
  Keys keys = family("qwen2", "Qwen2ForCausalLM");
  ACCEPTED(config(keys, &s, e));
  CHECK((s.qkv_bias == 1 && s.out_bias == 0 && s.qk_norm == 0 && s.n_context == 32768));
  keys = family("qwen3", "Qwen3ForCausalLM");
  ACCEPTED(config(keys, &s, e));
  CHECK((s.qkv_bias == 0 && s.out_bias == 0 && s.qk_norm == 1 && s.head_dim == 128));
}

TEST_CASE("config: NaN and Infinity are read, and refused where a number is wanted") {
  ModelSpec spec;
  ACCEPTED(config({{"attention_dropout", "NaN"}, {"initializer_range", "-Infinity"}}, &spec, e));
  REFUSED(config({{"rope_theta", "NaN"}}, &spec, e), LINNET_BAD_FILE, "NaN");
  REFUSED(config({{"rms_norm_eps", "Infinity"}}, &spec, e), LINNET_BAD_FILE, "Infinity");
  REFUSED(config({{"hidden_size", "NaN"}}, &spec, e), LINNET_BAD_FILE, "NaN");
}

TEST_CASE("config: latent attention") {
  ModelSpec s;
  const auto with = [&s](const Keys& changes, Error* e) {
    Keys keys = {{"model_type", R"("deepseek_v2")"},
                 {"architectures", R"(["DeepseekV2ForCausalLM"])"},
                 {"num_key_value_heads", "8"},
                 {"kv_lora_rank", "96"},
                 {"q_lora_rank", "null"},
                 {"qk_nope_head_dim", "24"},
                 {"qk_rope_head_dim", "64"},
                 {"v_head_dim", "48"},
                 {"n_routed_experts", "null"},
                 {"moe_intermediate_size", "77"},
                 {"num_experts_per_tok", "4"}};
    for (const auto& [key, value] : changes) keys[key] = value;
    return config(keys, &s, e);
  };
  ACCEPTED(with({}, e));
  CHECK((s.kv_lora_rank == 96 && s.q_lora_rank == 0 && s.qk_nope_dim == 24 && s.qk_rope_dim == 64 && s.v_head_dim == 48));
  CHECK(
      (s.n_heads == 8 && s.n_kv_heads == 1 && s.head_dim == 160 && s.rope_dim == 64 && s.rope_kind == kRopePairs && spec_version(s) == 2));
  ACCEPTED(with({{"q_lora_rank", "33"},
                 {"qk_head_dim", "88"},
                 {"n_routed_experts", "64"},
                 {"first_k_dense_replace", "2"},
                 {"num_key_value_heads", ""},
                 {"head_dim", "64"}},
                e));
  CHECK((s.q_lora_rank == 33 && s.head_dim == 160));

  for (const char* key : {"kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}) {
    REFUSED(with({{key, ""}}, e), LINNET_BAD_FILE, "'" + std::string(key) + "' is missing");
    for (const char* value : {"0", "-32", "65537", "32.5", "\"32\""})
      REFUSED(with({{key, value}}, e), LINNET_BAD_FILE, "'" + std::string(key) + "' is ");
  }
  REFUSED(with({{"kv_lora_rank", "80"}}, e), LINNET_UNSUPPORTED, "kv_lora_rank = 80 is no multiple of 32");
  REFUSED(with({{"qk_rope_head_dim", "48"}}, e), LINNET_UNSUPPORTED, "qk_rope_dim = 48 is 0 or no multiple of 32");
  REFUSED(with({{"v_head_dim", "40"}}, e), LINNET_UNSUPPORTED, "v_head_dim = 40 is 0 or no multiple of 16");
  REFUSED(with({{"kv_lora_rank", "992"}}, e), LINNET_BAD_FILE, "head_dim = 1056");
  REFUSED(with({{"qk_head_dim", "89"}}, e), LINNET_BAD_FILE, "'qk_head_dim' is 89, not 'qk_nope_head_dim' + 'qk_rope_head_dim'");
  REFUSED(with({{"num_key_value_heads", "4"}}, e), LINNET_UNSUPPORTED, "'num_key_value_heads' 4");
  REFUSED(with({{"attention_bias", "true"}}, e), LINNET_UNSUPPORTED, "'attention_bias' true");
  ACCEPTED(with({{"rope_scaling",
                  R"({"type": "yarn", "factor": 40, "original_max_position_embeddings": 1024, "mscale": 0.5, "mscale_all_dim": 0.707})"}},
                e));
  CHECK((s.rope_scaling == kRopeScaleYarn && s.rope_low == 1 && s.rope_high == 32 && s.rope_original == 1024));
  CHECK(s.rope_attn_factor == Approx((0.05 * std::log(40) + 1) / (0.0707 * std::log(40) + 1)));
  CHECK(s.attn_scale == Approx(std::pow(0.0707 * std::log(40) + 1, 2) / std::sqrt(88)));
  REFUSED(with({{"rope_scaling", R"({"type": "linear", "factor": 4, "mscale_all_dim": 0.7})"}}, e), LINNET_UNSUPPORTED,
          "rope parameter 'mscale_all_dim'");
  REFUSED(config({{"kv_lora_rank", "96"}}, &s, e), LINNET_UNSUPPORTED, "key 'kv_lora_rank' (96) is not supported");  // of another family

  // What a packed file might say.
  ACCEPTED(with({}, e));
  const ModelSpec good = s;
  Error err{};
  const auto changed = [&](uint32_t ModelSpec::* field, uint32_t value) {
    s = good;
    s.*field = value;
    return spec_check(s, &err);
  };
  REQUIRE(changed(&ModelSpec::qk_nope_dim, 1) == LINNET_OK);
  const auto refused = [&](uint32_t ModelSpec::* field, uint32_t value, Status status, const char* word) {
    INFO(word);
    CHECK(changed(field, value) == status);
    CHECK(std::string(err.text).find(word) != std::string::npos);
  };
  refused(&ModelSpec::kv_lora_rank, 0, LINNET_BAD_FILE, "without kv_lora_rank");
  refused(&ModelSpec::kv_lora_rank, 128, LINNET_BAD_FILE, "not those of a latent: 1, 192 and 64");
  refused(&ModelSpec::kv_lora_rank, 2048, LINNET_BAD_FILE, "kv_lora_rank = 2048 is outside");
  refused(&ModelSpec::n_kv_heads, 2, LINNET_BAD_FILE, "not those of a latent");
  refused(&ModelSpec::rope_dim, 32, LINNET_BAD_FILE, "not those of a latent");
  refused(&ModelSpec::qk_rope_dim, 0, LINNET_UNSUPPORTED, "qk_rope_dim = 0");
  refused(&ModelSpec::qk_nope_dim, 0, LINNET_BAD_FILE, "qk_nope_dim = 0");
  refused(&ModelSpec::v_head_dim, 0, LINNET_UNSUPPORTED, "v_head_dim = 0");
  refused(&ModelSpec::qk_norm, 1, LINNET_UNSUPPORTED, "qk_norm = 1");
}

TEST_CASE("config: Llama 4 as it is published, with a part that sees") {
  ModelSpec s;
  const char* const inner =
      R"({"model_type": "llama4_text", "hidden_size": 64, "intermediate_size": 20, "intermediate_size_mlp": 40, "num_hidden_layers": 8, "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 50, "num_local_experts": 4, "interleave_moe_layer_step": 2, "attention_chunk_size": 512, "no_rope_layers": [],
      "use_qk_norm": true, "max_position_embeddings": 4096})";
  const Keys none = {{"hidden_size", ""}, {"intermediate_size", ""},   {"num_hidden_layers", ""}, {"num_attention_heads", ""},
                     {"vocab_size", ""},  {"num_key_value_heads", ""}, {"head_dim", ""},          {"max_position_embeddings", ""},
                     {"rms_norm_eps", ""}};
  Keys keys = none;
  keys["model_type"] = R"("llama4")", keys["architectures"] = R"(["Llama4ForConditionalGeneration"])";
  keys["text_config"] = inner, keys["vision_config"] = R"({"hidden_size": 9})", keys["image_token_index"] = "7";
  ACCEPTED(config(keys, &s, e));
  CHECK((s.d_model == 64 && s.d_ff == 40 && s.expert_ff == 20 && s.shared_ff == 20 && s.moe_first == 1 && s.moe_step == 2 &&
         s.window == 512 && s.window_chunks == 1));
  CHECK((s.nope_pattern == 4 && s.temp_positions == 8192 && s.qk_norm == kQkNormHeadAfter && s.router_input == 1 && s.n_active == 1));
  keys["image_token"] = "7";
  REFUSED(config(keys, &s, e), LINNET_UNSUPPORTED, "key 'image_token'");
  HfConfig whole;
  keys.erase("image_token");
  ACCEPTED(read_config(config_text(keys), "config.json", &whole, e));
  const HfNames& names = whole.names;
  const HfTensor* found = nullptr;
  uint32_t layer = 0;
  CHECK(hf_tensor_find(names, "vision_model.layernorm_post.weight", &found, &layer) == HfName::kIgnored);
  CHECK(hf_tensor_find(names, "language_model.model.layers.3.feed_forward.router.weight", &found, &layer) == HfName::kKnown);
  CHECK((layer == 3 && found->role == kRouter));
  CHECK(hf_tensor_find(names, "language_model.lm_head.weight", &found, &layer) == HfName::kKnown);
  CHECK(hf_tensor_find(*architecture_by_hf("llama4_text")->names, "vision_model.layernorm_post.weight", &found, &layer) ==
        HfName::kUnknown);
}

TEST_CASE("config: Gemma 4 as it is published, with parts that see and hear") {
  HfConfig c;
  const auto read = [&c](const std::string& text, Error* e) { return read_config(text, "config.json", &c, e); };
  constexpr const char* kE2b =
      R"({"architectures": ["Gemma4ForConditionalGeneration"], "audio_config": {"hidden_size": 8}, "audio_token_id": 258881, "boa_token_id": 256000, "boi_token_id": 255999,
      "eoa_token_id": 258883, "eoi_token_id": 258882, "eos_token_id": [1, 106], "image_token_id": 258880, "model_type": "gemma4", "tie_word_embeddings": true, "video_token_id": 258884,
      "vision_soft_tokens_per_image": 280, "text_config": {"attention_k_eq_v": false, "enable_moe_block": false, "final_logit_softcapping": 30.0, "global_head_dim": 512, "head_dim": 256,
      "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 1536, "hidden_size_per_layer_input": 256, "intermediate_size": 6144, "layer_types": ["sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention"], "max_position_embeddings": 131072, "model_type": "gemma4_text",
      "num_attention_heads": 8, "num_experts": null, "num_global_key_value_heads": null, "num_hidden_layers": 7, "num_key_value_heads": 1, "num_kv_shared_layers": 2, "sliding_window": 512,
      "use_bidirectional_attention": null, "use_double_wide_mlp": true, "vocab_size": 262144, "vocab_size_per_layer_input": 262144, "rope_parameters": {"full_attention":
      {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"}, "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}}},
      "vision_config": {"hidden_size": 768}})";
  ACCEPTED(read(kE2b, e));
  const ModelSpec& s = c.spec;
  CHECK((s.rope_dim == 512 && s.rope_turned == 128 && s.rope_local_dim == 256 && s.rope_base == 1e6 && s.rope_local_base == 1e4));
  CHECK((s.layer_embd == 256 && s.layer_embd_vocab == 262144 && s.n_experts == 0 && s.logit_softcap == 30 && s.attn_scale == 1 && s.tied));
  const LayerSpec window = layer_spec(s, 5), all = layer_spec(s, 6), own = layer_spec(s, 4);
  CHECK((window.head_dim == 256 && window.window == 512 && window.kv_back == 2 && window.d_ff == 12288));
  CHECK((all.head_dim == 512 && all.window == 0 && all.kv_back == 2 && all.d_ff == 12288 && own.kv_back == 0 && own.d_ff == 6144));
  const HfTensor* found = nullptr;
  uint32_t layer = 0;
  CHECK(hf_tensor_find(c.names, "model.language_model.layers.3.layer_scalar", &found, &layer) == HfName::kKnown);
  CHECK(hf_tensor_find(c.names, "model.audio_tower.layers.3.x", &found, &layer) == HfName::kIgnored);
  REFUSED(read(replaced(kE2b, "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": 7"), e), LINNET_UNSUPPORTED,
          "'num_kv_shared_layers' 7 of 7");
  REFUSED(read(replaced(kE2b, "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": 5"), e), LINNET_BAD_FILE, "of the kind of layer 2");
  REFUSED(read(replaced(kE2b, "\"use_bidirectional_attention\": null", "\"use_bidirectional_attention\": \"all\""), e), LINNET_UNSUPPORTED,
          "'text_config.use_bidirectional_attention' \"all\" is not supported");
  REFUSED(read(replaced(kE2b, "\"vocab_size_per_layer_input\": 262144", "\"vocab_size_per_layer_input\": 262143"), e), LINNET_UNSUPPORTED,
          "'vocab_size_per_layer_input' 262143 below");
  REFUSED(read(replaced(kE2b, "\"hidden_size_per_layer_input\": 256", "\"hidden_size_per_layer_input\": 250"), e), LINNET_UNSUPPORTED,
          "layer_embd = 250");
  REFUSED(read(replaced(kE2b, "\"partial_rotary_factor\": 0.25", "\"partial_rotary_factor\": 1.5"), e), LINNET_UNSUPPORTED,
          "'partial_rotary_factor' 1.5");
  REFUSED(read(replaced(kE2b, "\"sliding_attention\", \"full_attention\"], \"max", "\"full_attention\", \"sliding_attention\"], \"max"), e),
          LINNET_UNSUPPORTED, "the last layer has a window");
  REFUSED(read(replaced(kE2b, "\"num_experts\": null", "\"num_experts\": null, \"per_layer_config\": {\"2\": {\"window\": 3}}"), e),
          LINNET_UNSUPPORTED, "'per_layer_config'");
}

TEST_CASE("config: Gemma 3n as it is published, with parts that see and hear") {
  HfConfig c;
  const auto read = [&c](const std::string& text, Error* e) { return read_config(text, "config.json", &c, e); };
  std::string types, pattern, widths;
  for (int i = 0; i < 30; ++i) {
    const char* comma = i ? ", " : "";
    types += comma + std::string((i + 1) % 5 ? "\"sliding_attention\"" : "\"full_attention\"");
    pattern += comma + std::string(i < 10 ? "0.95" : "0.0");
    widths += comma + std::string("8192");
  }
  const std::string e2b =
      R"({"architectures": ["Gemma3nForConditionalGeneration"], "audio_config": {"hidden_size": 1536}, "audio_soft_tokens_per_image": 188, "audio_token_id": 262273, "boa_token_id": 256000,
      "boi_token_id": 255999, "eoa_token_id": 262272, "eoi_token_id": 262144, "eos_token_id": [1, 106], "image_token_id": 262145, "initializer_range": 0.02, "model_type": "gemma3n",
      "text_config": {"activation_sparsity_pattern": [)" +
      pattern +
      R"(], "altup_active_idx": 0, "altup_coef_clip": 120.0, "altup_correct_scale": true, "altup_lr_multiplier": 1.0, "altup_num_inputs": 4, "attention_bias": false, "attention_dropout": 0.0,
      "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2048, "hidden_size_per_layer_input": 256, "initializer_range": 0.02,
      "intermediate_size": [)" +
      widths + R"(], "laurel_rank": 64, "layer_types": [)" + types +
      R"(], "max_position_embeddings": 32768, "model_type": "gemma3n_text", "num_attention_heads": 8, "num_hidden_layers": 30, "num_key_value_heads": 2, "num_kv_shared_layers": 10,
      "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_local_base_freq": 10000.0, "rope_scaling": null, "rope_theta": 1000000.0, "sliding_window": 512, "torch_dtype": "bfloat16",
      "use_cache": true, "vocab_size": 262400, "vocab_size_per_layer_input": 262144}, "torch_dtype": "bfloat16", "vision_config": {"architecture": "mobilenetv5_300m_enc"},
      "vision_soft_tokens_per_image": 256})";
  ACCEPTED(read(e2b, e));
  const ModelSpec& s = c.spec;
  CHECK((s.streams == 4 && s.laurel_rank == 64 && s.layer_embd == 256 && s.layer_embd_vocab == 262144 && s.n_vocab == 262400 && s.tied));
  CHECK((s.attn_scale == 1 && s.logit_softcap == 30 && s.v_norm && s.d_ff == 8192 && s.rope_base == 1e6 && s.rope_local_base == 1e4));
  CHECK(s.sparse_cut == static_cast<double>(1.6448535919189453f));  // what PyTorch's icdf gives
  Source made;                                                      // the shape of that name is what the file says
  linnet_error err = {};
  REQUIRE(source_synthetic("gemma-3n-e2b", 1, &made, &err) == LINNET_OK);
  for (uint32_t i = 0; i < s.n_layers; ++i) {
    const LayerSpec x = layer_spec(made.spec, i), y = layer_spec(s, i);
    CHECK(std::memcmp(&x, &y, sizeof x) == 0);
  }
  for (size_t i = 0; i < kSpecFieldCount; ++i) {
    const SpecField& f = kSpecFields[i];
    if (std::string_view(f.name) == "window_pattern") continue;  // which layers have windows may be said by it or for each
    const size_t bytes = f.type == SpecType::kU32 ? sizeof(uint32_t) : f.type == SpecType::kF64 ? sizeof(double) : sizeof s.architecture;
    INFO(f.name);
    CHECK(std::memcmp(reinterpret_cast<const char*>(&made.spec) + f.offset, reinterpret_cast<const char*>(&s) + f.offset, bytes) == 0);
  }
  const LayerSpec sparse = layer_spec(s, 9), own = layer_spec(s, 19), window = layer_spec(s, 20), all = layer_spec(s, 29);
  CHECK((sparse.sparse == 1 && own.sparse == 0 && own.kv_back == 0 && own.window == 0));
  CHECK((window.window == 512 && window.kv_back == 2 && all.window == 0 && all.kv_back == 10));
  const HfTensor* found = nullptr;
  uint32_t layer = 0;
  CHECK(hf_tensor_find(c.names, "model.language_model.layers.3.altup.correct_output_scale", &found, &layer) == HfName::kKnown);
  CHECK(hf_tensor_find(c.names, "model.language_model.altup_projections.2.weight", &found, &layer) == HfName::kKnown);
  CHECK(hf_tensor_find(c.names, "model.vision_tower.timm_model.x", &found, &layer) == HfName::kIgnored);
  REFUSED(read(replaced(e2b, "\"altup_num_inputs\": 4", "\"altup_num_inputs\": 3"), e), LINNET_UNSUPPORTED,
          "'text_config.altup_num_inputs' 3 is not supported, only 4");
  REFUSED(read(replaced(e2b, "\"altup_active_idx\": 0", "\"altup_active_idx\": 1"), e), LINNET_UNSUPPORTED, "altup_active_idx' 1");
  REFUSED(read(replaced(e2b, "\"altup_correct_scale\": true", "\"altup_correct_scale\": false"), e), LINNET_UNSUPPORTED,
          "altup_correct_scale' false");
  REFUSED(read(replaced(e2b, "[0.95, ", "[0.9, "), e), LINNET_UNSUPPORTED, "'activation_sparsity_pattern' 0.95 beside 0.9");
  REFUSED(read(replaced(e2b, "[0.95, ", "["), e), LINNET_BAD_FILE, "not a list with one entry per layer");
  REFUSED(read(replaced(e2b, "[0.95, ", "[1.0, "), e), LINNET_BAD_FILE, "numbers from 0 to below 1");
  REFUSED(read(replaced(e2b, "[8192, ", "[8193, "), e), LINNET_BAD_FILE, "intermediate_size");
  REFUSED(read(replaced(e2b, "\"num_kv_shared_layers\": 10", "\"num_kv_shared_layers\": 30"), e), LINNET_UNSUPPORTED,
          "'num_kv_shared_layers' 30 of 30");
  REFUSED(read(replaced(e2b, "\"laurel_rank\": 64", "\"laurel_rank\": 0"), e), LINNET_BAD_FILE, "laurel_rank");
  // What is absent is as in E4B.
  const std::string pattern_key = "\"activation_sparsity_pattern\": [" + pattern + "], ";
  ACCEPTED(read(replaced(replaced(e2b, pattern_key.c_str(), ""), "\"num_kv_shared_layers\": 10,", ""), e));
  CHECK((c.spec.sparse_cut > 1.6448 && layer_spec(c.spec, 9).sparse && !layer_spec(c.spec, 10).sparse));
  CHECK((layer_spec(c.spec, 14).kv_back == 0 && layer_spec(c.spec, 15).kv_back == 2));
}

TEST_CASE("config: Gemma 3 and Mistral 3 as they are published, with a part that sees") {
  HfConfig c;
  const auto read = [&c](const std::string& text, Error* e) { return read_config(text, "config.json", &c, e); };
  constexpr const char* kGemma =
      R"({"architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999, "eoi_token_index": 256000, "eos_token_id": [1, 106], "image_token_index": 262144,
      "initializer_range": 0.02, "mm_tokens_per_image": 256, "model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
      "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}, "torch_dtype": "bfloat16", "transformers_version": "4.50.0.dev0",
      "vision_config": {"hidden_size": 1152, "image_size": 896}})";
  ACCEPTED(read(kGemma, e));
  const ModelSpec& s = c.spec;
  CHECK((s.n_heads == 8 && s.n_kv_heads == 4 && s.head_dim == 256 && s.n_vocab == 262208 && s.n_context == 131072 && s.tied &&
         s.rope_scaling == kRopeScaleLinear && s.rope_factor == 8));
  CHECK((s.rope_base == 1e6 && s.rope_local_base == 1e4 && s.window == 1024 && layer_spec(s, 4).window == 1024 &&
         layer_spec(s, 5).window == 0 && s.attn_scale == 0.0625));
  CHECK(s.architecture == std::string("gemma3_text"));
  const HfTensor* found = nullptr;
  uint32_t layer = 0;
  for (const char* name : {"language_model.model.layers.33.mlp.up_proj.weight", "model.language_model.layers.33.mlp.up_proj.weight"}) {
    CHECK(hf_tensor_find(c.names, name, &found, &layer) == HfName::kKnown);
    CHECK((layer == 33 && found->role == kFfnUp));
  }
  for (const char* name : {"language_model.lm_head.weight", "lm_head.weight"})
    CHECK(hf_tensor_find(c.names, name, &found, &layer) == HfName::kKnown);
  for (const char* name : {"vision_tower.vision_model.encoder.layers.0.mlp.fc1.bias", "multi_modal_projector.mm_soft_emb_norm.weight",
                           "model.vision_tower.head.probe"})
    CHECK(hf_tensor_find(c.names, name, &found, &layer) == HfName::kIgnored);
  for (const char* name : {"model.layers.3.mlp.up_proj.weight", "audio_tower.weight", "language_model.vision_tower.x"})
    CHECK(hf_tensor_find(c.names, name, &found, &layer) == HfName::kUnknown);
  REFUSED(read(replaced(kGemma, "\"gemma3_text\"", "\"llama\""), e), LINNET_UNSUPPORTED,
          "'text_config.model_type' 'llama' of 'gemma3' is not supported");
  REFUSED(read(replaced(kGemma, "\"gemma3_text\"", "3"), e), LINNET_BAD_FILE, "'text_config.model_type' is 3, not a string");
  REFUSED(read(replaced(kGemma, "\"text_config\"", "\"text\""), e), LINNET_BAD_FILE, "'text_config' is missing");
  REFUSED(read(replaced(kGemma, "\"hidden_size\": 2560", "\"hidden_size\": 2560, \"per_layer\": 1"), e), LINNET_UNSUPPORTED,
          "key 'text_config.per_layer' (1) is not supported");
  REFUSED(read(replaced(kGemma, "\"hidden_size\": 2560", "\"hidden_size\": -1"), e), LINNET_BAD_FILE, "'text_config.hidden_size' is -1");
  REFUSED(read(replaced(kGemma, "Gemma3ForCond", "LlavaForCond"), e), LINNET_UNSUPPORTED,
          "class 'LlavaForConditionalGeneration' is not supported, only 'Gemma3ForConditionalGeneration'");

  constexpr const char* kMistral =
      R"({"architectures": ["Mistral3ForConditionalGeneration"], "image_token_index": 10, "model_type": "mistral3", "multimodal_projector_bias": false,
      "projector_hidden_act": "gelu", "spatial_merge_size": 2, "text_config": {"attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120, "initializer_range": 0.02,
      "intermediate_size": 32768, "max_position_embeddings": 131072, "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
      "rope_theta": 1000000000.0, "sliding_window": null, "use_cache": true, "vocab_size": 131072}, "torch_dtype": "bfloat16", "vision_config": {"model_type": "pixtral"}, "vision_feature_layer": -1})";
  ACCEPTED(read(kMistral, e));
  CHECK((s.rope_base == 1e9 && s.window == 0 && !s.tied && s.head_dim == 128 && s.temp_scale == 0 &&
         c.architecture == architecture_by_hf("mistral")));
  const std::string ministral = replaced(replaced(kMistral, "\"model_type\": \"mistral\"", "\"model_type\": \"ministral3\""),
                                         "\"rope_theta\": 1000000000.0", R"("rope_parameters": {"beta_fast": 32.0,
      "beta_slow": 1.0, "factor": 16.0, "llama_4_scaling_beta": 0.1, "max_position_embeddings": 131072, "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 16384,
      "rope_theta": 1000000.0, "rope_type": "yarn", "type": "yarn"}, "tie_word_embeddings": false)");
  ACCEPTED(read(ministral, e));
  CHECK((s.rope_scaling == kRopeScaleYarn && s.temp_scale == 0.1 && s.temp_positions == 16384 && !s.tied && s.rope_attn_factor == 1));
  ACCEPTED(read(replaced(ministral, "\"spatial_merge_size\"", "\"tie_word_embeddings\": true, \"spatial_merge_size\""), e));
  CHECK(s.tied);  // the whole's counts
  REFUSED(read(replaced(ministral, "\"max_position_embeddings\": 131072, \"mscale\"", "\"max_position_embeddings\": 9, \"mscale\""), e),
          LINNET_UNSUPPORTED, "rope parameter 'max_position_embeddings' (9)");
}

TEST_CASE("config: experts") {
  ModelSpec s;
  Keys base;
  const auto with = [&](const Keys& changes, Error* e) {
    Keys keys = base;
    for (const auto& [key, value] : changes) keys[key] = value;
    return config(keys, &s, e);
  };
  base = {{"model_type", R"("mixtral")"}, {"architectures", R"(["MixtralForCausalLM"])"}};
  ACCEPTED(with({{"num_local_experts", "6"}, {"router_aux_loss_coef", "0.02"}}, e));
  CHECK((s.n_experts == 6 && s.n_active == 2 && s.expert_ff == s.d_ff && s.router_norm == 1 && s.shared_ff == 0 && spec_version(s) == 3));
  CHECK(((layer_spec(s, 0).feed_forward == kFeedForwardExperts) && (layer_spec(s, 1).feed_forward == kFeedForwardExperts)));
  REFUSED(with({{"num_local_experts", "6"}, {"num_experts_per_tok", "7"}}, e), LINNET_BAD_FILE, "n_active = 7 of n_experts = 6");
  REFUSED(with({{"num_local_experts", "2000"}}, e), LINNET_BAD_FILE, "n_experts = 2000 is outside");
  REFUSED(with({{"num_local_experts", "-1"}}, e), LINNET_BAD_FILE, "'num_local_experts' is -1");
  REFUSED(config({{"num_local_experts", "8"}}, &s, e), LINNET_UNSUPPORTED,
          "key 'num_local_experts' (8) is not supported");  // of another family

  base = {{"model_type", R"("qwen2_moe")"}, {"architectures", R"(["Qwen2MoeForCausalLM"])"},
          {"num_hidden_layers", "8"},       {"num_experts", "12"},
          {"moe_intermediate_size", "20"},  {"shared_expert_intermediate_size", "44"}};
  ACCEPTED(with({{"decoder_sparse_step", "3"}}, e));
  CHECK((s.moe_first == 2 && s.moe_step == 3 && s.shared_ff == 44 && s.shared_gate == 1 && s.n_active == 4 && s.router_norm == 0));
  CHECK((!(layer_spec(s, 1).feed_forward == kFeedForwardExperts) && (layer_spec(s, 2).feed_forward == kFeedForwardExperts) &&
         !(layer_spec(s, 3).feed_forward == kFeedForwardExperts) && (layer_spec(s, 5).feed_forward == kFeedForwardExperts)));
  ACCEPTED(with({{"mlp_only_layers", "[0, 1]"}, {"norm_topk_prob", "true"}}, e));
  CHECK((s.moe_first == 2 && (layer_spec(s, 3).feed_forward == kFeedForwardExperts) && s.router_norm == 1));
  ACCEPTED(with({{"mlp_only_layers", "[0, 1, 2, 3, 4, 5, 6, 7]"}}, e));
  CHECK((s.n_experts == 0 && spec_version(s) == 1));
  REFUSED(with({{"mlp_only_layers", "[3]"}}, e), LINNET_UNSUPPORTED, "the layers with experts follow no period");
  REFUSED(with({{"mlp_only_layers", "3"}}, e), LINNET_BAD_FILE, "'mlp_only_layers' is 3");
  REFUSED(with({{"moe_intermediate_size", ""}}, e), LINNET_BAD_FILE, "'moe_intermediate_size' is missing");
  REFUSED(with({{"moe_intermediate_size", "1e9"}}, e), LINNET_BAD_FILE, "'moe_intermediate_size' is ");

  base = {{"model_type", R"("deepseek_v3")"},
          {"architectures", R"(["DeepseekV3ForCausalLM"])"},
          {"num_hidden_layers", "3"},
          {"num_key_value_heads", "8"},
          {"kv_lora_rank", "96"},
          {"q_lora_rank", "64"},
          {"qk_nope_head_dim", "24"},
          {"qk_rope_head_dim", "64"},
          {"v_head_dim", "48"},
          {"n_routed_experts", "16"},
          {"n_shared_experts", "2"},
          {"moe_intermediate_size", "30"},
          {"num_experts_per_tok", "3"},
          {"n_group", "4"},
          {"topk_group", "2"},
          {"first_k_dense_replace", "1"},
          {"routed_scaling_factor", "2.5"},
          {"scoring_func", R"("sigmoid")"},
          {"topk_method", R"("noaux_tc")"}};
  ACCEPTED(with({}, e));
  CHECK((s.router_kind == kRouterSigmoid && s.router_correction == 1 && s.router_groups == 4 && s.router_top_groups == 2 &&
         s.router_group_best == 2 && s.router_scale == 2.5));
  CHECK((s.router_norm == 1 && s.shared_ff == 60 && s.shared_gate == 0 && !(layer_spec(s, 0).feed_forward == kFeedForwardExperts) &&
         (layer_spec(s, 1).feed_forward == kFeedForwardExperts)));
  REFUSED(with({{"topk_group", "5"}}, e), LINNET_BAD_FILE, "router_groups, router_top_groups and router_group_best are 4, 5 and 2");
  REFUSED(with({{"n_group", "3"}}, e), LINNET_BAD_FILE, "router_groups");
  REFUSED(with({{"topk_group", ""}}, e), LINNET_BAD_FILE, "'topk_group' is missing");
  REFUSED(with({{"scoring_func", R"("softmax")"}}, e), LINNET_UNSUPPORTED, "'scoring_func'");
  REFUSED(with({{"topk_method", R"("group_limited_greedy")"}}, e), LINNET_UNSUPPORTED, "'topk_method'");
  REFUSED(with({{"n_shared_experts", "99999"}}, e), LINNET_BAD_FILE, "'n_shared_experts' is 99999");
  REFUSED(with({{"moe_layer_freq", "2"}}, e), LINNET_UNSUPPORTED, "'moe_layer_freq' 2");
  ACCEPTED(with({}, e));
  const ModelSpec good = s;
  Error err{};
  for (uint32_t ModelSpec::* field :
       {&ModelSpec::n_active, &ModelSpec::expert_ff, &ModelSpec::n_experts}) {  // what a packed file might say
    s = good;
    s.*field = 0;
    CHECK(spec_check(s, &err) == LINNET_BAD_FILE);
  }
}

TEST_CASE("config: RoPE in the published and the newer style") {
  ModelSpec a, b;
  ACCEPTED(
      config({{"rope_theta", "500000.0"}, {"torch_dtype", R"("bfloat16")"}, {"rope_scaling", R"({"factor": 32.0, "low_freq_factor": 1.0,
      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"})"}},
             &a, e));
  CHECK((a.rope_base == 500000 && a.rope_scaling == kRopeScaleLlama3 && a.rope_factor == 32 && a.rope_low == 1 && a.rope_high == 4));
  CHECK(a.rope_original == 8192);
  ACCEPTED(config(
      {{"dtype", R"("bfloat16")"},
       {"layer_types", R"(["full_attention", "full_attention"])"},
       {"rope_parameters",
        R"({"rope_theta": 500000, "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192,
          "rope_type": "llama3"})"}},
      &b, e));
  CHECK(std::memcmp(&a, &b, sizeof a) == 0);
  ACCEPTED(config({{"rope_scaling", R"({"type": "linear", "factor": 2})"}}, &a, e));
  CHECK((a.rope_scaling == kRopeScaleLinear && a.rope_factor == 2 && a.rope_base == 10000));
  ACCEPTED(config({{"rope_parameters", R"({"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 1})"}}, &a, e));
  CHECK((a.rope_scaling == kRopeScaleNone && a.rope_base == 1e6));

  const auto scaling = [&a](const char* text, Error* e) { return config({{"rope_scaling", text}}, &a, e); };
  for (const std::string type : {"ntk"})
    REFUSED(scaling(("{\"rope_type\": \"" + type + "\", \"factor\": 2.0}").c_str(), e), LINNET_UNSUPPORTED,
            "config.json: rope scaling '" + type + "' is not supported yet");
  REFUSED(scaling(R"({"rope_type": "linear", "beta_fast": 2})", e), LINNET_UNSUPPORTED, "rope parameter 'beta_fast' (2) is not supported");
  REFUSED(scaling(R"({"rope_type": "linear"})", e), LINNET_BAD_FILE, "'factor' is missing");
  REFUSED(scaling(R"({"rope_type": "linear", "factor": "2"})", e), LINNET_BAD_FILE, "'factor' is \"2\", not a number");
  REFUSED(scaling(R"({"rope_type": "linear", "factor": -2})", e), LINNET_BAD_FILE, "'factor' is -2, not a number from");
  REFUSED(scaling(R"({"rope_type": "linear", "factor": 2, "partial_rotary_factor": 0.5})", e), LINNET_UNSUPPORTED,
          "'partial_rotary_factor' 0.5");
  REFUSED(scaling(R"({"rope_type": 3})", e), LINNET_BAD_FILE, "'rope_type' is 3, not a string");
  REFUSED(scaling(R"([1])", e), LINNET_BAD_FILE, "'rope_scaling' is an array, not an object");
  constexpr const char* kLlama3 =
      R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 32})";
  ACCEPTED(scaling(kLlama3, e));
  REFUSED(scaling(replaced(kLlama3, "32", "0").c_str(), e), LINNET_BAD_FILE, "'original_max_position_embeddings' is 0");
  REFUSED(scaling(replaced(kLlama3, "32", "32.5").c_str(), e), LINNET_BAD_FILE, "'original_max_position_embeddings' is 32.5");
  REFUSED(scaling(replaced(kLlama3, "\"high_freq_factor\": 4, ", "").c_str(), e), LINNET_BAD_FILE, "'high_freq_factor' is missing");
  REFUSED(scaling(replaced(kLlama3, "\"high_freq_factor\": 4", "\"high_freq_factor\": 0.5").c_str(), e), LINNET_BAD_FILE,
          "'high_freq_factor' is below");
  ACCEPTED(scaling(replaced(kLlama3, "\"high_freq_factor\": 4", "\"high_freq_factor\": 1").c_str(),
                   e));  // as Llama 4 has them: no pairs between
  REFUSED(config({{"rope_theta", "1e4"}, {"rope_parameters", R"({"rope_theta": 2e4})"}}, &a, e), LINNET_BAD_FILE,
          "'rope_theta' is there twice");
  REFUSED(config({{"rope_scaling", "{\"type\": \"default\"}"}, {"rope_parameters", "{}"}}, &a, e), LINNET_BAD_FILE, "contradict");
}

TEST_CASE("config: refused by name") {
  ModelSpec s;
  const auto one = [&s](const char* key, const char* value, Error* e) { return config({{key, value}}, &s, e); };
  REFUSED(config({{"model_type", "\"t5\""}, {"architectures", ""}}, &s, e), LINNET_UNSUPPORTED,
          "config.json: architecture 't5' is not supported");
  REFUSED(config({{"model_type", ""}, {"architectures", "[\"T5ForConditionalGeneration\"]"}}, &s, e), LINNET_UNSUPPORTED,
          "architecture 'T5ForConditionalGeneration'");
  REFUSED(config({{"model_type", ""}, {"architectures", ""}}, &s, e), LINNET_BAD_FILE, "'model_type' is missing");
  REFUSED(one("model_type", "3", e), LINNET_BAD_FILE, "'model_type' is 3, not a string");
  REFUSED(one("architectures", "[\"LlamaForSequenceClassification\"]", e), LINNET_UNSUPPORTED, "class 'LlamaForSequenceClassification'");
  REFUSED(one("architectures", "[]", e), LINNET_BAD_FILE, "'architectures' is an array, not a list of one class name");
  REFUSED(spec_from_config("[1]", "config.json", &s, e), LINNET_BAD_FILE, "config.json: holds an array, not an object");
  REFUSED(spec_from_config("{", "config.json", &s, e), LINNET_BAD_FILE, "config.json: not valid JSON at line 1");

  // Keys that change the arithmetic.
  REFUSED(one("quantization", "{}", e), LINNET_UNSUPPORTED, "key 'quantization' (an object) is not supported");
  REFUSED(one("num_experts", "8", e), LINNET_UNSUPPORTED, "'num_experts' 8 is not supported, only 1");
  REFUSED(one("logits_scaling", "0.5", e), LINNET_UNSUPPORTED, "key 'logits_scaling' (0.5)");
  REFUSED(one("hidden_act", "\"mish\"", e), LINNET_UNSUPPORTED, "'hidden_act' 'mish' is not supported");
  REFUSED(one("rope_interleaved", "true", e), LINNET_UNSUPPORTED, "'rope_interleaved' true is not supported, only false");
  REFUSED(one("partial_rotary_factor", "0.5", e), LINNET_UNSUPPORTED, "'partial_rotary_factor' 0.5");
  REFUSED(one("layer_types", R"(["full_attention", "sliding_attention"])", e), LINNET_BAD_FILE,
          "layer type \"sliding_attention\" without 'sliding_window'");
  REFUSED(one("layer_types", R"(["full_attention", "chunked_attention"])", e), LINNET_UNSUPPORTED, "layer type \"chunked_attention\"");
  REFUSED(one("layer_types", R"(["full_attention"])", e), LINNET_BAD_FILE, "'layer_types'");
  ACCEPTED(config({{"hidden_act", "\"silu\""},
                   {"rope_interleaved", "false"},
                   {"partial_rotary_factor", "1"},
                   {"pretraining_tp", "2"},
                   {"attention_dropout", "0.1"},
                   {"use_cache", "true"},
                   {"something_new", "null"}},
                  &s, e));

  // Windows, where they hide anything; by layer types, or from a layer on.
  Keys mistral = family("mistral", "MistralForCausalLM");
  ACCEPTED(config(mistral, &s, e));
  CHECK((s.window == 4096 && s.window_from == 0 && s.window_pattern == 0 && layer_spec(s, 0).window == 4096 &&
         layer_spec(s, 1).window == 4096 && spec_version(s) == 2));
  mistral["sliding_window"] = "null";
  ACCEPTED(config(mistral, &s, e));
  CHECK((s.architecture == std::string("mistral") && s.window == 0 && spec_version(s) == 1));
  mistral["sliding_window"] = "4096";
  mistral["max_position_embeddings"] = "4096";
  ACCEPTED(config(mistral, &s, e));
  mistral["max_position_embeddings"] = "4097";
  CHECK(s.window == 0);
  ACCEPTED(config(mistral, &s, e));
  CHECK(s.window == 4096);
  mistral["sliding_window"] = "-1";
  REFUSED(config(mistral, &s, e), LINNET_BAD_FILE, "'sliding_window' is -1");
  Keys qwen = family("qwen2", "Qwen2ForCausalLM");
  qwen["sliding_window"] = "32";
  ACCEPTED(config(qwen, &s, e));
  qwen["use_sliding_window"] = "true";
  ACCEPTED(config(qwen, &s, e));
  CHECK((s.window == 32 && s.window_from == 0));
  qwen["max_window_layers"] = "1";
  ACCEPTED(config(qwen, &s, e));
  CHECK((s.window == 32 && s.window_from == 1 && layer_spec(s, 0).window == 0 && layer_spec(s, 1).window == 32));
  qwen["layer_types"] = R"(["sliding_attention", "full_attention"])";
  ACCEPTED(config(qwen, &s, e));
  CHECK((s.window == 32 && s.window_pattern == 2 && layer_spec(s, 0).window == 32 && layer_spec(s, 1).window == 0));

  // Hostile numbers, each in every size.
  for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
                          "vocab_size", "max_position_embeddings"}) {
    for (const char* value : {"0", "-8", "4294967295", "4294967304", "1e3", "8.0", "\"8\"", "true", "[8]", "{}", "1e300"}) {
      INFO(key << " = " << value);
      REFUSED(one(key, value, e), LINNET_BAD_FILE, "config.json: '" + std::string(key) + "' is ");
    }
  }
  for (const char* key : {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"})
    for (const char* value : {"", "null"})
      REFUSED(one(key, value, e), LINNET_BAD_FILE, "config.json: '" + std::string(key) + "' is missing");
  REFUSED(one("hidden_size", "65", e), LINNET_BAD_FILE, "'hidden_size' 65 is not a multiple of 'num_attention_heads' 8");
  REFUSED(one("num_key_value_heads", "3", e), LINNET_BAD_FILE, "'num_attention_heads' 8 is not a multiple of 'num_key_value_heads' 3");
  REFUSED(one("head_dim", "7", e), LINNET_BAD_FILE, "'head_dim' 7 is odd");
  for (const char* value : {"0", "-1e-5", "\"1e-5\"", "2"}) REFUSED(one("rms_norm_eps", value, e), LINNET_BAD_FILE, "'rms_norm_eps' is ");
  for (const char* value : {"0", "-1", "\"1e4\"", "1e300"}) REFUSED(one("rope_theta", value, e), LINNET_BAD_FILE, "'rope_theta' is ");
  for (const char* key : {"tie_word_embeddings", "attention_bias", "mlp_bias", "use_sliding_window"})
    REFUSED(one(key, "1", e), LINNET_BAD_FILE, "'" + std::string(key) + "' is 1, not true or false");
}

// The weights that a spec asks for, experts without padding.
double weights_of(const ModelSpec& s) {
  double n = 0;
  for (uint32_t r = 0; r < kRoleCount; ++r)
    for (uint32_t layer = 0; layer < (role_row(Role{r}).per_layer() ? s.n_layers : 1); ++layer) {
      const Role role = static_cast<Role>(r);
      if (!role_present(role, layer, s)) continue;
      const double rows = role_row(role).of_experts() ? double{1} * s.n_experts * expert_rows(role, s) : role_n(Role{r}, layer, s);
      n += rows * (role_row(Role{r}).matrix() ? role_k(Role{r}, layer, s) : 1);
    }
  return n;
}

TEST_CASE("config: the keys that published models carry, and as many weights as they are known to have") {
  std::istringstream lines(slurp("tests/data/published_configs.jsonl"));
  size_t n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    const auto row = nlohmann::json::parse(line);
    const std::string name = row["name"];
    HfConfig c;
    INFO(name);
    ACCEPTED(read_config(row["config"].dump(), name.c_str(), &c, e));
    const double billions = weights_of(c.spec) * 1e-9;
    INFO(billions << " thousand million weights, not " << row["billions"]);
    CHECK(std::fabs(billions / row["billions"].get<double>() - 1) < 0.015);
    auto more = row["config"];
    more["something_new"] = 1;
    REFUSED(read_config(more.dump(), name.c_str(), &c, e), LINNET_UNSUPPORTED, "key 'something_new' (1) is not supported");
  }
  std::printf("published configs: %zu\n", n);
  CHECK(n > 55);
  // What some families have and others would pass over.
  ModelSpec s;
  Keys keys = family("llama", "LlamaForCausalLM");
  keys["sliding_window"] = "512";
  REFUSED(config(keys, &s, e), LINNET_UNSUPPORTED, "'sliding_window' 512 of 'llama' is not supported");
  keys["sliding_window"] = "2048";  // hides nothing
  ACCEPTED(config(keys, &s, e));
  CHECK(s.window == 0);
}

TEST_CASE("config: LFM2 as its published files say it, its layers by type or by number") {
  Keys keys = family("lfm2", "Lfm2ForCausalLM");
  for (const auto& [key, value] : Keys{{"intermediate_size", ""},
                                       {"block_ff_dim", "12288"},
                                       {"block_dim", "2048"},
                                       {"hidden_size", "2048"},
                                       {"num_hidden_layers", "16"},
                                       {"num_attention_heads", "32"},
                                       {"num_heads", "32"},
                                       {"num_key_value_heads", "8"},
                                       {"block_auto_adjust_ff_dim", "true"},
                                       {"block_ffn_dim_multiplier", "1.0"},
                                       {"block_multiple_of", "256"},
                                       {"block_norm_eps", "1e-05"},
                                       {"norm_eps", "1e-05"},
                                       {"conv_L_cache", "3"},
                                       {"conv_bias", "false"},
                                       {"conv_dim", "2048"},
                                       {"use_pos_enc", "true"},
                                       {"full_attn_idxs", "[2, 5, 8, 10, 12, 14]"}})
    keys[key] = value;
  Error err = {};
  HfConfig c;
  REQUIRE(read_config(config_text(keys), "config.json", &c, &err) == LINNET_OK);
  CHECK((c.spec.d_ff == 8192 && c.spec.conv_taps == 3 && c.spec.norm_eps == 1e-5 && c.spec.rope_base == 1e6 && c.spec.tied));
  CHECK(spec_version(c.spec) == 6);
  for (uint32_t i = 0; i < 16; ++i) {
    const bool attends = i == 2 || i == 5 || i == 8 || (i >= 10 && i % 2 == 0);
    const LayerSpec l = layer_spec(c.spec, i);
    CHECK((l.mixer == (attends ? kMixerAttention : kMixerConv) && (l.rope == LayerRope::kNone) == !attends));
  }
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  REFUSED(config(with("conv_bias", "true"), &s, e), LINNET_UNSUPPORTED, "'conv_bias' true is not supported, only false");
  REFUSED(config(with("conv_L_cache", "1"), &s, e), LINNET_BAD_FILE, "layer 0: conv_taps, window and rope = 1, 0, 0");
  REFUSED(config(with("conv_L_cache", "99"), &s, e), LINNET_BAD_FILE, "'conv_L_cache' is 99, not an integer from 1 to 16");
  REFUSED(config(with("layer_types", R"(["conv"])"), &s, e), LINNET_BAD_FILE, "not a list with one entry per layer");
  REFUSED(config(with("full_attn_idxs", "3"), &s, e), LINNET_BAD_FILE, "'full_attn_idxs' is 3, not a list of layers");
  REFUSED(config(with("block_multiple_of", "0"), &s, e), LINNET_BAD_FILE, "'block_multiple_of' is 0, not above 0");
  REFUSED(config(with("block_ffn_dim_multiplier", "1e300"), &s, e), LINNET_BAD_FILE, "block_ffn_dim_multiplier");
  REFUSED(config(with("num_heads", "16"), &s, e), LINNET_BAD_FILE, "'num_heads' is 16, but 'num_attention_heads' is 32");
  keys["num_hidden_layers"] = "2";
  REFUSED(config(with("layer_types", R"(["conv", "sliding_attention"])"), &s, e), LINNET_UNSUPPORTED,
          "layer type \"sliding_attention\" is not supported");
}

TEST_CASE("config: Granite 4 with Mamba-2") {
  Keys keys = family("granitemoehybrid", "GraniteMoeHybridForCausalLM");
  for (const auto& [key, value] : Keys{{"num_local_experts", "0"},
                                       {"shared_intermediate_size", "100"},
                                       {"layer_types", R"(["attention", "mamba"])"},
                                       {"hidden_size", "1536"},
                                       {"mamba_n_heads", "48"},
                                       {"mamba_d_state", "128"},
                                       {"mamba_d_head", "\"auto\""},
                                       {"time_step_limit", "[0.0, Infinity]"}})
    keys[key] = value;
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.mamba_heads == 48 && s.mamba_head_dim == 64 && s.mamba_state_dim == 128 && s.mamba_groups == 1 && s.conv_taps == 4));
  CHECK((s.mamba_conv_bias && s.mamba_norm == kMambaNormLast && s.mamba_dt_min == 0 && s.mamba_dt_max == 0));
  HfConfig c;
  ACCEPTED(config(with("layer_types", R"(["full_attention", "linear_attention"])"), &s, e));
  ACCEPTED(config(with("time_step_limit", R"([0.5, {"__float__": "Infinity"}])"), &s, e));
  CHECK((s.mamba_dt_min == 0.5 && s.mamba_dt_max == 0));
  ACCEPTED(config(with("time_step_limit", "[0.001, 0.1]"), &s, e));
  CHECK((s.mamba_dt_min == 0.001 && s.mamba_dt_max == 0.1));
  for (const char* limits : {"[0.1, 0.001]", "[-1, 1]", "[0]", "0.5", "[Infinity, Infinity]", "[0, 0]", "[NaN, 1]"})
    REFUSED(config(with("time_step_limit", limits), &s, e), LINNET_BAD_FILE, "time_step_limit");
  REFUSED(config(with("mamba_n_heads", "47"), &s, e), LINNET_BAD_FILE,
          "'mamba_n_heads' 47 times 'mamba_d_head' 65 is not 'mamba_expand' 2");
  REFUSED(config(with("mamba_d_head", "32"), &s, e), LINNET_BAD_FILE, "'mamba_d_head' 32");
  REFUSED(config(with("mamba_proj_bias", "true"), &s, e), LINNET_UNSUPPORTED, "'mamba_proj_bias' true is not supported");
  REFUSED(config(with("mamba_n_groups", "5"), &s, e), LINNET_BAD_FILE, "in 5 groups of 128");
  REFUSED(config(with("mamba_d_state", "512"), &s, e), LINNET_BAD_FILE, "mamba_d_state");
  REFUSED(config(with("mamba_d_conv", "1"), &s, e), LINNET_BAD_FILE, "conv_taps = 1");
}

TEST_CASE("config: Apertus") {
  Keys keys = family("apertus", "ApertusForCausalLM");
  keys["hidden_act"] = "\"xielu\"";
  keys["rope_parameters"] = R"({"rope_type": "default", "rope_theta": 500.0})";
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.activation == kActXielu && s.ungated && s.qk_norm == kQkNormHead && s.rope_base == 500 && s.n_context == 65536));
  ACCEPTED(config(with("hidden_act", "\"silu\""), &s, e));
  CHECK((s.activation == kActSilu && s.ungated));
  ACCEPTED(config(with("qk_norm", "true"), &s, e));
  REFUSED(config(with("qk_norm", "false"), &s, e), LINNET_UNSUPPORTED, "'qk_norm' false is not supported");
  REFUSED(config(with("post_norm", "true"), &s, e), LINNET_UNSUPPORTED, "'post_norm' true is not supported");
  REFUSED(config(with("rope_parameters", "null"), &s, e), LINNET_BAD_FILE, "rope");
  Keys llama = family("llama", "LlamaForCausalLM");
  llama["hidden_act"] = "\"xielu\"";
  REFUSED(config(llama, &s, e), LINNET_UNSUPPORTED, "activation = 7 (xIELU) beside ungated = 0");
}

TEST_CASE("config: Phi-3.5-MoE") {
  Keys keys = family("phimoe", "PhiMoEForCausalLM");
  for (const auto& [key, value] : Keys{{"num_local_experts", "4"},
                                       {"attention_bias", "true"},
                                       {"lm_head_bias", "true"},
                                       {"input_jitter_noise", "0.01"},
                                       {"original_max_position_embeddings", "1024"},
                                       {"sliding_window", "2048"}})
    keys[key] = value;
  const auto rope = [&](const char* mscales) {
    Keys other = keys;
    other["rope_scaling"] = R"({"type": "longrope", "original_max_position_embeddings": 1024, "short_factor": [1, 1, 1, 2], )"
                            R"("long_factor": [1, 2, 3, 4])" +
                            std::string(mscales) + "}";
    return other;
  };
  keys = rope(R"(, "short_mscale": 1.25, "long_mscale": 1.25)");
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.norm == kNormLayer && s.norm_bias && s.qkv_bias && s.out_bias && s.head_bias && s.rope_attn_factor == 1.25));
  CHECK((s.router_kind == kRouterMixer && s.router_near == 0.02 && s.router_norm == 0 && s.n_active == 2 && s.expert_ff == s.d_ff));
  CHECK((s.window == 2048 && s.rope_scaling == kRopeScaleLong && s.rope_original == 1024));
  ACCEPTED(config(with("router_jitter_noise", "0.25"), &s, e));
  CHECK(s.router_near == 0.5);
  ACCEPTED(config(with("architectures", R"(["PhimoeForCausalLM"])"), &s, e));  // as transformers 5 writes it
  REFUSED(config(with("num_experts_per_tok", "3"), &s, e), LINNET_UNSUPPORTED, "(sparse mixer) beside n_active = 3");
  REFUSED(config(with("router_jitter_noise", "1.5"), &s, e), LINNET_BAD_FILE, "router_near");
  REFUSED(config(with("norm_topk_prob", "true"), &s, e), LINNET_UNSUPPORTED, "'norm_topk_prob' true");
  REFUSED(config(rope(""), &s, e), LINNET_BAD_FILE, "short_mscale");
  REFUSED(config(rope(R"(, "short_mscale": 1.25, "long_mscale": 1.5)"), &s, e), LINNET_UNSUPPORTED,
          "'long_mscale' 1.500000 beside 'short_mscale' 1.250000");
}

TEST_CASE("config: BitNet b1.58") {
  Keys keys = family("bitnet", "BitNetForCausalLM");
  keys["hidden_act"] = "\"relu2\"";
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.activation == kActRelu2 && !s.ungated && s.inner_norm && s.rope_base == 500000 && !s.qkv_bias && spec_version(s) == 7));
  for (const Role role : {kAttnInnerNorm, kFfnInnerNorm}) CHECK(role_present(role, 1, s));
  CHECK((role_n(kAttnInnerNorm, 0, s) == s.n_heads * s.head_dim && role_n(kFfnInnerNorm, 0, s) == s.d_ff));
  ACCEPTED(config(with("hidden_act", "\"silu\""), &s, e));
  CHECK(s.activation == kActSilu);
  ACCEPTED(config(with("attention_bias", "true"), &s, e));
  CHECK((s.qkv_bias && s.out_bias));
  ACCEPTED(config(family("llama", "LlamaForCausalLM"), &s, e));
  CHECK((!s.inner_norm && !role_present(kAttnInnerNorm, 0, s) && !role_present(kFfnInnerNorm, 0, s)));
  // Of other steps the graph has no such norms.
  ACCEPTED(config(keys, &s, e));
  s.n_experts = 4, s.n_active = 2, s.expert_ff = s.d_ff;
  linnet_error err = {};
  CHECK(spec_check(s, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("mixer = 0 or feed_forward = 1 beside inner_norm = 1") != std::string::npos);
}

TEST_CASE("config: Falcon-H1") {
  Keys keys = family("falcon_h1", "FalconH1ForCausalLM");
  for (const auto& [key, value] : Keys{{"mamba_n_heads", "24"}, {"mamba_d_head", "64"}, {"mamba_d_ssm", "1536"}, {"mamba_d_state", "128"}})
    keys[key] = value;
  const auto with = [&](std::initializer_list<std::pair<const char*, const char*>> changes) {
    Keys other = keys;
    for (const auto& [key, value] : changes) other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.mamba_heads == 24 && s.mamba_head_dim == 64 && s.mamba_state_dim == 128 && s.mamba_groups == 1 && s.rope_kind == kRopeHalves));
  CHECK((s.mamba_norm == kMambaNormNone && s.n_context == 8192 && s.embd_scale == 0 && s.logit_scale == 0));
  // Where embedding and LM head are one, their factors stay apart.
  ACCEPTED(config(with({{"tie_word_embeddings", "true"}, {"embedding_multiplier", "1.5"}, {"lm_head_multiplier", "0.25"}}), &s, e));
  CHECK((s.embd_scale == 1.5 && s.logit_scale == 0.25));
  ACCEPTED(config(with({{"mamba_rms_norm", "true"}}), &s, e));
  CHECK(s.mamba_norm == kMambaNormFirst);
  ACCEPTED(config(with({{"mamba_rms_norm", "true"}, {"mamba_norm_before_gate", "false"}}), &s, e));
  CHECK(s.mamba_norm == kMambaNormLast);
  ACCEPTED(config(
      with({{"mamba_d_ssm", "null"}, {"mamba_n_heads", "4"}, {"mamba_d_head", "\"auto\""}, {"layer_types", R"(["hybrid", "hybrid"])"}}), &s,
      e));
  CHECK(s.mamba_head_dim == 32);  // 2 * 64 / 4
  REFUSED(config(with({{"mamba_n_heads", "23"}}), &s, e), LINNET_BAD_FILE, "which is 'mamba_d_ssm' 1536");
  REFUSED(config(with({{"layer_types", R"(["hybrid", "attention"])"}}), &s, e), LINNET_UNSUPPORTED, "layer type \"attention\"");
  REFUSED(config(with({{"attention_bias", "true"}}), &s, e), LINNET_UNSUPPORTED, "'attention_bias' true is not supported");
  REFUSED(config(with({{"projectors_bias", "true"}}), &s, e), LINNET_UNSUPPORTED, "'projectors_bias' true is not supported");
  REFUSED(config(with({{"mlp_multipliers", "[1.0]"}}), &s, e), LINNET_BAD_FILE, "'mlp_multipliers' is");
  REFUSED(config(with({{"ssm_multipliers", "[1.0, 1.0, -1.0, 1.0, 1.0]"}}), &s, e), LINNET_BAD_FILE, "ssm_multipliers");
  REFUSED(config(with({{"key_multiplier", "\"1\""}}), &s, e), LINNET_BAD_FILE, "key_multiplier");
}

TEST_CASE("config: layers of one step, and Mamba-2 alone") {
  Keys keys = family("nemotron_h", "NemotronHForCausalLM");
  for (const auto& [key, value] : Keys{{"hybrid_override_pattern", "\"M-*E\""},
                                       {"num_hidden_layers", "4"},
                                       {"mamba_num_heads", "96"},
                                       {"mamba_head_dim", "80"},
                                       {"layer_norm_epsilon", "1e-05"},
                                       {"mlp_hidden_act", "\"relu2\""},
                                       {"n_routed_experts", "8"},
                                       {"num_experts_per_tok", "2"},
                                       {"moe_intermediate_size", "24"},
                                       {"moe_shared_expert_intermediate_size", "40"},
                                       {"moe_latent_size", "null"},
                                       {"time_step_limit", "[0.0, Infinity]"}})
    keys[key] = value;
  for (const char* key : {"rms_norm_eps", "hidden_act", "rope_theta"}) keys.erase(key);
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.mamba_heads == 96 && s.mamba_head_dim == 80 && s.mamba_groups == 8 && s.rope_kind == kRopeNone && s.n_experts == 8));
  CHECK((s.shared_ff == 40 && s.router_norm && s.router_kind == kRouterSigmoid && s.activation == kActRelu2 && s.ungated));
  ACCEPTED(config(with("hybrid_override_pattern", "\"M-*M\""), &s, e));
  CHECK((s.n_experts == 0 && s.router_kind == kRouterSoftmax && s.shared_ff == 0));
  ACCEPTED(config(with("hybrid_override_pattern", "\"*--E\""), &s, e));
  CHECK((s.mamba_heads == 0 && s.conv_taps == 0));
  REFUSED(config(with("hybrid_override_pattern", "\"M-*\""), &s, e), LINNET_BAD_FILE, "'num_hidden_layers' 4 beside 3 kinds of layers");
  REFUSED(config(with("hybrid_override_pattern", "\"M-*X\""), &s, e), LINNET_BAD_FILE, "not a string of M, *, - and E");
  REFUSED(config(with("hybrid_override_pattern", "null"), &s, e), LINNET_BAD_FILE, "'hybrid_override_pattern'");
  REFUSED(config(with("layers_block_type", R"(["mamba", "mlp", "attention", "conv"])"), &s, e), LINNET_UNSUPPORTED, "layer type \"conv\"");
  ACCEPTED(config(with("layers_block_type", R"(["mamba", "mlp", "attention", "moe"])"), &s, e));
  REFUSED(config(with("moe_latent_size", "128"), &s, e), LINNET_UNSUPPORTED, "moe_latent_size");
  REFUSED(config(with("use_bias", "true"), &s, e), LINNET_UNSUPPORTED, "use_bias");

  keys = family("mamba2", "Mamba2ForCausalLM");
  for (const auto& [key, value] :
       Keys{{"hidden_size", "32"}, {"num_heads", "4"}, {"head_dim", "16"}, {"n_groups", "2"}, {"state_size", "12"}})
    keys[key] = value;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.mamba_heads == 4 && s.mamba_head_dim == 16 && s.n_heads == 1 && s.head_dim == 1));
  REFUSED(config(with("rms_norm", "false"), &s, e), LINNET_UNSUPPORTED, "rms_norm");
  REFUSED(config(with("num_heads", "null"), &s, e), LINNET_BAD_FILE, "'num_heads' is missing");
  REFUSED(config(with("head_dim", "8"), &s, e), LINNET_BAD_FILE, "'head_dim' 8 is not 'expand' 2");
}

TEST_CASE("config: Granite 4 without Mamba layers, and windows that follow no period") {
  Keys keys = family("granitemoehybrid", "GraniteMoeHybridForCausalLM");
  for (const auto& [key, value] : Keys{{"num_local_experts", "0"},
                                       {"num_experts_per_tok", "0"},
                                       {"shared_intermediate_size", "100"},
                                       {"position_embedding_type", "\"rope\""},
                                       {"layer_types", R"(["attention", "attention"])"},
                                       {"mamba_chunk_size", "256"},
                                       {"normalization_function", "\"rmsnorm\""},
                                       {"attention_multiplier", "0.015625"}})
    keys[key] = value;
  const auto with = [&](const char* key, const char* value) {
    Keys other = keys;
    other[key] = value;
    return other;
  };
  ModelSpec s;
  ACCEPTED(config(keys, &s, e));
  CHECK((s.d_ff == 100 && s.n_experts == 0 && s.rope_kind == kRopeHalves && s.attn_scale == 0.015625));
  ACCEPTED(config(with("position_embedding_type", "null"), &s, e));
  CHECK((s.rope_kind == kRopeNone && s.rope_dim == 0));
  keys["num_experts_per_tok"] = "2";
  ACCEPTED(config(with("num_local_experts", "4"), &s, e));
  CHECK((s.n_experts == 4 && s.shared_ff == 100 && s.router_norm));
  REFUSED(config(with("position_embedding_type", "\"learned\""), &s, e), LINNET_BAD_FILE, "not \"rope\" or \"nope\"");
  REFUSED(config(with("layer_types", R"(["attention", "conv"])"), &s, e), LINNET_UNSUPPORTED, "layer type \"conv\" is not supported");
  REFUSED(config(with("sliding_window", "8"), &s, e), LINNET_UNSUPPORTED, "'sliding_window' 8 of 'granitemoehybrid' is not supported");
  REFUSED(config(with("normalization_function", "\"layernorm\""), &s, e), LINNET_UNSUPPORTED, "normalization_function");

  keys = family("granite_swa", "GraniteSWAForCausalLM");
  keys["num_hidden_layers"] = "6";
  keys["sliding_window"] = "32";
  HfConfig c;
  Error err = {};
  REQUIRE(read_config(config_text(keys), "config.json", &c, &err) == LINNET_OK);
  for (uint32_t i = 0; i < 6; ++i)
    CHECK((layer_spec(c.spec, i).window == (i % 4 ? 32u : 0u) && layer_spec(c.spec, i).rope == LayerRope::kMain));
  keys["layer_rope_theta"] = "[5e4, 1e4, 1e4, 0, 5e4, 0]";
  REQUIRE(read_config(config_text(keys), "config.json", &c, &err) == LINNET_OK);
  CHECK((c.spec.rope_base == 5e4 && c.spec.rope_local_base == 1e4));
  constexpr LayerRope kRopes[] = {LayerRope::kMain, LayerRope::kLocal, LayerRope::kLocal,
                                  LayerRope::kNone, LayerRope::kMain,  LayerRope::kNone};
  for (uint32_t i = 0; i < 6; ++i) CHECK((layer_spec(c.spec, i).window == (i % 4 ? 32u : 0u) && layer_spec(c.spec, i).rope == kRopes[i]));
  keys["layer_rope_theta"] = "[1e4, 2e4, 3e4, 0, 0, 0]";
  REFUSED(config(keys, &s, e), LINNET_UNSUPPORTED, "'layer_rope_theta' of 3 bases");
  keys["layer_rope_theta"] = "[1e4]";
  REFUSED(config(keys, &s, e), LINNET_BAD_FILE, "not a list with one entry per layer");
  REFUSED(config(family("cwm", "CwmForCausalLM"), &s, e), LINNET_BAD_FILE, "'rope_parameters' is missing");
}

TEST_CASE("config: experts as ERNIE 4.5, Hunyuan A13B, Trinity, dots.llm1 and GLM-4.7-Flash say them") {
  ModelSpec s;
  const auto with = [](Keys keys, const char* key, const char* value) {
    keys[key] = value;
    return keys;
  };
  Keys ernie = family("ernie4_5_moe", "Ernie4_5_MoeForCausalLM");
  ernie["moe_intermediate_size"] = "32";
  ernie["moe_capacity"] = "[64, 64, 64]";
  ACCEPTED(config(ernie, &s, e));
  CHECK((s.n_experts == 64 && s.n_active == 6 && s.moe_first == 1 && s.shared_ff == 64 && s.router_kind == kRouterSoftmax &&
         s.router_correction));
  ACCEPTED(config(with(ernie, "moe_layer_end_index", "1"), &s, e));
  CHECK(s.n_experts == 64);
  ACCEPTED(config(with(ernie, "moe_layer_end_index", "0"), &s, e));
  CHECK(s.n_experts == 0);
  REFUSED(config(with(ernie, "moe_norm_min", "0.1"), &s, e), LINNET_UNSUPPORTED, "'moe_norm_min' 0.1 is not supported");
  REFUSED(config(with(ernie, "use_bias", "true"), &s, e), LINNET_UNSUPPORTED, "'use_bias' true is not supported");

  Keys hunyuan = family("hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM");
  hunyuan["num_experts"] = "8";
  hunyuan["moe_topk"] = "[2, 2]";
  hunyuan["num_shared_expert"] = "[1, 1]";
  ACCEPTED(config(hunyuan, &s, e));
  CHECK((s.n_active == 2 && s.shared_ff == s.expert_ff));
  REFUSED(config(with(hunyuan, "moe_topk", "[2, 3]"), &s, e), LINNET_BAD_FILE, "'moe_topk' is");
  REFUSED(config(with(hunyuan, "num_shared_expert", "[2, 2]"), &s, e), LINNET_UNSUPPORTED, "num_shared_expert");

  Keys afmoe = family("afmoe", "AfmoeForCausalLM");
  afmoe["moe_intermediate_size"] = "32";
  afmoe["mup_enabled"] = "true";
  ACCEPTED(config(afmoe, &s, e));
  CHECK((s.embd_scale == 8 && s.attn_gate && s.moe_first == 1));
  REFUSED(config(with(afmoe, "n_group", "2"), &s, e), LINNET_UNSUPPORTED, "'n_group' 2 is not supported");
  REFUSED(config(with(afmoe, "route_norm", "false"), &s, e), LINNET_UNSUPPORTED, "route_norm");

  // As transformers 5.24 fills them in: one group, 32 KV heads, weights that are not divided, windows behind layer 62.
  Keys dots = family("dots1", "Dots1ForCausalLM");
  for (const auto& [key, value] : Keys{{"n_routed_experts", "8"}, {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "32"}})
    dots[key] = value;
  ACCEPTED(config(dots, &s, e));
  CHECK((s.n_experts == 8 && s.router_groups == 0 && !s.router_norm && s.shared_ff == 0 && s.moe_first == 0 && s.window == 0));
  CHECK((s.qk_norm == kQkNormHead && s.router_kind == kRouterSigmoid && s.router_correction));
  dots["num_key_value_heads"] = "";
  REFUSED(config(dots, &s, e), LINNET_BAD_FILE, "'num_key_value_heads' 32");
  dots["num_attention_heads"] = "32";
  ACCEPTED(config(dots, &s, e));
  CHECK(s.n_kv_heads == 32);
  Keys glm = family("glm4_moe", "Glm4MoeForCausalLM");
  glm["moe_intermediate_size"] = "32";
  ACCEPTED(config(glm, &s, e));
  CHECK((s.n_experts == 128 && s.n_active == 8 && s.router_norm && s.router_groups == 0 && s.moe_first == 1));
}

TEST_CASE("config: Qwen3.5 as a whole and as text alone") {
  const std::string text = R"("attention_bias": false, "attn_output_gate": true, "dtype": "bfloat16", "eos_token_id": 248044,
      "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3584,
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
      "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32", "max_position_embeddings": 262144, "mlp_only_layers": [],
      "mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": false, "num_attention_heads": 8, "num_hidden_layers": 8,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "tie_word_embeddings": true, "vocab_size": 248320,
      "rope_parameters": {"mrope_interleaved": true, "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25, "rope_theta": 10000000,
      "rope_type": "default"}, "model_type": "qwen3_5_text")";
  const std::string whole = R"({"architectures": ["Qwen3_5ForConditionalGeneration"], "image_token_id": 248056, "video_token_id": 248057,
      "vision_start_token_id": 248053, "vision_end_token_id": 248054, "vision_config": {"depth": 12}, "model_type": "qwen3_5",
      "tie_word_embeddings": true, "text_config": {)" +
                            text + "}}";
  for (const std::string& config : {"{" + text + "}", whole}) {
    HfConfig c;
    Error err = {};
    INFO(err.text);
    REQUIRE(read_config(config, "config.json", &c, &err) == LINNET_OK);
    const ModelSpec& s = c.spec;
    CHECK((s.rope_dim == 64 && s.rope_base == 1e7 && s.attn_gate == 1 && s.tied && s.conv_taps == 4 && s.delta_key_heads == 16 &&
           s.delta_value_heads == 32 && s.delta_key_dim == 128 && s.delta_value_dim == 128));
    for (uint32_t i = 0; i < 8; ++i) CHECK(layer_spec(s, i).mixer == (i % 4 == 3 ? kMixerAttention : kMixerDelta));
  }
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string s = "{" + text + "}";
    return s.replace(s.find(from), from.size(), to);
  };
  ModelSpec s;
  const auto read = [&s](const std::string& json, Error* e) { return spec_from_config(json, "config.json", &s, e); };
  REFUSED(read(changed("\"attn_output_gate\": true", "\"attn_output_gate\": false"), e), LINNET_UNSUPPORTED, "attn_output_gate");
  REFUSED(read(changed("_value_heads\": 32", "_value_heads\": 33"), e), LINNET_BAD_FILE, "16 key heads of 128 and 33 value heads of 128");
  REFUSED(read(changed("_value_heads\": 32", "_value_heads\": 512"), e), LINNET_UNSUPPORTED, "channels, more than 4096");
  REFUSED(read(changed("interval\": 4", "interval\": 0"), e), LINNET_BAD_FILE, "'full_attention_interval' is 0, not above 0");
  REFUSED(read(changed("key_head_dim\": 128", "key_head_dim\": 300"), e), LINNET_BAD_FILE, "'linear_key_head_dim' is 300");
}

TEST_CASE("config: Qwen3.5 with experts and Qwen3-Next") {
  ModelSpec s;
  const auto read = [&s](const std::string& json, Error* e) { return spec_from_config(json, "config.json", &s, e); };
  const std::string moe =
      R"({"architectures": ["Qwen3_5MoeForConditionalGeneration"], "model_type": "qwen3_5_moe", "image_token_id": 248056, "video_token_id": 248057,
      "vision_start_token_id": 248053, "vision_end_token_id": 248054, "vision_config": {"depth": 27}, "tie_word_embeddings": false, "text_config": {
      "attention_bias": false, "attn_output_gate": true, "dtype": "bfloat16", "eos_token_id": 248044, "full_attention_interval": 4, "head_dim": 256,
      "hidden_act": "silu", "hidden_size": 2048, "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
      "mamba_ssm_dtype": "float32", "max_position_embeddings": 262144, "mlp_only_layers": [], "model_type": "qwen3_5_moe_text",
      "moe_intermediate_size": 512, "mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": false, "num_attention_heads": 16, "num_experts": 256,
      "num_experts_per_tok": 8, "num_hidden_layers": 4, "num_key_value_heads": 2, "output_router_logits": false, "rms_norm_eps": 1e-06,
      "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 512, "vocab_size": 248320, "rope_parameters": {"mrope_interleaved": true,
      "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25, "rope_theta": 10000000, "rope_type": "default"}}})";
  ACCEPTED(read(moe, e));
  CHECK((s.n_experts == 256 && s.n_active == 8 && s.expert_ff == 512 && s.shared_ff == 512 && s.shared_gate && s.router_norm &&
         s.router_kind == kRouterSoftmax && s.rope_dim == 64 && s.rope_base == 1e7 && s.attn_gate && s.delta_value_heads == 32));
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  REFUSED(read(changed(moe, "\"mlp_only_layers\": []", "\"mlp_only_layers\": [1]"), e), LINNET_UNSUPPORTED, "mlp_only_layers");
  REFUSED(read(changed(moe, "\"mlp_only_layers\": []", "\"norm_topk_prob\": false"), e), LINNET_UNSUPPORTED, "norm_topk_prob");
  REFUSED(read(changed(moe, "\"mlp_only_layers\": []", "\"decoder_sparse_step\": 2"), e), LINNET_UNSUPPORTED, "decoder_sparse_step");
  REFUSED(read(changed(moe, "\"attn_output_gate\": true", "\"attn_output_gate\": false"), e), LINNET_UNSUPPORTED, "attn_output_gate");
  REFUSED(read(changed(moe, "\"moe_intermediate_size\": 512, ", ""), e), LINNET_BAD_FILE, "'moe_intermediate_size' is missing");
  const std::string next =
      R"({"architectures": ["Qwen3NextForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643, "decoder_sparse_step": 1,
      "eos_token_id": 151645, "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
      "intermediate_size": 5120, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
      "linear_value_head_dim": 128, "max_position_embeddings": 262144, "mlp_only_layers": [], "model_type": "qwen3_next", "moe_intermediate_size": 512,
      "norm_topk_prob": true, "num_attention_heads": 16, "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 8,
      "num_key_value_heads": 2, "output_router_logits": false, "partial_rotary_factor": 0.25, "rms_norm_eps": 1e-06, "rope_scaling": null,
      "rope_theta": 10000000, "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 512, "tie_word_embeddings": false,
      "torch_dtype": "bfloat16", "transformers_version": "4.57.0.dev0", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})";
  ACCEPTED(read(next, e));
  CHECK((s.n_experts == 512 && s.n_active == 10 && s.d_ff == 5120 && s.router_norm && s.shared_gate && s.rope_dim == 64 &&
         s.rope_base == 1e7));
  HfConfig c;
  ACCEPTED(read_config(next, "config.json", &c, e));
  for (uint32_t i = 0; i < 8; ++i) CHECK(layer_spec(c.spec, i).mixer == (i % 4 == 3 ? kMixerAttention : kMixerDelta));
  ACCEPTED(read(changed(next, "\"mlp_only_layers\": []", "\"mlp_only_layers\": [0]"), e));
  CHECK((layer_spec(s, 0).feed_forward == kFeedForwardDense && layer_spec(s, 1).feed_forward == kFeedForwardExperts));
  REFUSED(read(changed(next, "\"use_sliding_window\": false", "\"linear_gate\": 1"), e), LINNET_UNSUPPORTED, "linear_gate");
}

TEST_CASE("config: OLMo Hybrid's sizes follow from its heads, and its RoPE from null") {
  const std::string text =
      R"("architectures": ["OlmoHybridForCausalLM"], "attention_bias": false, "hidden_act": "silu", "hidden_size": 3840,
      "intermediate_size": 11008, "linear_a_log_max": 16.0, "linear_a_log_min": 0.0, "linear_allow_neg_eigval": true, "linear_conv_kernel_dim": 4,
      "linear_dt_init_floor": 0.0001, "linear_dt_max": 0.1, "linear_dt_min": 0.001, "max_position_embeddings": 65536, "model_type": "olmo_hybrid",
      "num_attention_heads": 30, "num_hidden_layers": 8, "num_key_value_heads": 30, "rms_norm_eps": 1e-06, "tie_word_embeddings": false,
      "vocab_size": 100352)";
  HfConfig c;
  const auto read = [&c](const std::string& json, Error* e) { return read_config("{" + json + "}", "config.json", &c, e); };
  ACCEPTED(read(text, e));
  const ModelSpec& s = c.spec;
  CHECK((s.delta_key_heads == 30 && s.delta_value_heads == 30 && s.delta_key_dim == 96 && s.delta_value_dim == 192 && s.delta_negative &&
         s.delta_eps == 1e-5 && s.rope_kind == kRopeHalves && s.rope_base == 10000));
  for (uint32_t i = 0; i < 8; ++i) {
    const bool attends = i % 4 == 3;
    CHECK(layer_spec(s, i).mixer == (attends ? kMixerAttention : kMixerDelta));
    CHECK((role_present(kAttnNorm, i, s) == !attends && role_present(kFfnNorm, i, s) == !attends &&
           role_present(kAttnPostNorm, i, s) == attends && role_present(kFfnPostNorm, i, s) == attends));
  }
  for (const char* rope : {", \"rope_theta\": null", ", \"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": null}"}) {
    ACCEPTED(read(text + rope, e));
    CHECK((s.rope_kind == kRopeNone && s.rope_dim == 0));
  }
  ACCEPTED(read(text + ", \"rope_theta\": 500000, \"linear_num_key_heads\": 10, \"linear_key_head_dim\": 64", e));
  CHECK(
      (s.rope_base == 500000 && s.delta_key_heads == 10 && s.delta_value_heads == 30 && s.delta_key_dim == 64 && s.delta_value_dim == 128));
  REFUSED(read(text + ", \"linear_gate\": true", e), LINNET_UNSUPPORTED, "linear_gate");
  REFUSED(read(text + ", \"layer_types\": [\"linear_attention\"]", e), LINNET_BAD_FILE, "layer_types");
  std::string few = text;
  few.replace(few.find("layers\": 8"), 10, "layers\": 3");
  REFUSED(read(few, e), LINNET_BAD_FILE, "'layer_types' is missing");
}

TEST_CASE("config: Kimi Linear as published") {
  const std::string text =
      R"({"architectures": ["KimiLinearForCausalLM"], "auto_map": {"AutoConfig": "configuration_kimi.KimiLinearConfig"},
      "bos_token_id": 163584, "dtype": "bfloat16", "eos_token_id": 163586, "first_k_dense_replace": 1, "head_dim": 72, "hidden_act": "silu",
      "hidden_size": 2304, "initializer_range": 0.02, "intermediate_size": 9216, "kv_lora_rank": 512, "linear_attn_config": {
      "full_attn_layers": [4, 8], "head_dim": 96, "kda_layers": [1, 2, 3, 5, 6, 7], "num_heads": 24, "short_conv_kernel_size": 3},
      "mla_use_nope": true, "model_max_length": 1048576, "model_type": "kimi_linear", "moe_intermediate_size": 1024, "moe_layer_freq": 1,
      "moe_renormalize": true, "moe_router_activation_func": "sigmoid", "num_attention_heads": 32, "num_expert_group": 1, "num_experts": 256,
      "num_experts_per_token": 8, "num_hidden_layers": 8, "num_key_value_heads": 32, "num_nextn_predict_layers": 0, "num_shared_experts": 1,
      "pad_token_id": 163839, "q_lora_rank": null, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-05, "rope_scaling": null,
      "rope_theta": 10000.0, "routed_scaling_factor": 2.446, "tie_word_embeddings": false, "topk_group": 1, "use_cache": true,
      "use_grouped_topk": true, "v_head_dim": 128, "vocab_size": 163840})";
  HfConfig c;
  const auto read = [&c](const std::string& json, Error* e) { return read_config(json, "config.json", &c, e); };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string s = text;
    return s.replace(s.find(from), from.size(), to);
  };
  ACCEPTED(read(text, e));
  const ModelSpec& s = c.spec;
  CHECK((s.delta_by_key && s.delta_key_heads == 24 && s.delta_value_heads == 24 && s.delta_key_dim == 96 && s.delta_value_dim == 96 &&
         s.conv_taps == 3 && s.rope_kind == kRopeNone && s.rope_dim == 0 && s.n_context == 1048576));
  CHECK((s.n_experts == 256 && s.n_active == 8 && s.shared_ff == 1024 && s.router_norm && s.router_scale == 2.446 && s.router_correction &&
         s.router_kind == kRouterSigmoid && s.moe_first == 1 && s.head_dim == 576));
  for (uint32_t i = 0; i < 8; ++i) CHECK(layer_spec(s, i).mixer == (i % 4 == 3 ? kMixerLatent : kMixerDelta));
  REFUSED(read(changed("[4, 8]", "[4]"), e), LINNET_BAD_FILE, "no lists of 8 layers");
  REFUSED(read(changed("[4, 8]", "[4, 7]"), e), LINNET_BAD_FILE, "layer 7 is not once");
  REFUSED(read(changed("\"mla_use_nope\": true", "\"mla_use_nope\": false"), e), LINNET_UNSUPPORTED, "mla_use_nope");
  REFUSED(read(changed("\"sigmoid\"", "\"softmax\""), e), LINNET_UNSUPPORTED, "'moe_router_activation_func' \"softmax\"");
  REFUSED(read(changed("\"num_heads\": 24", "\"num_head\": 24"), e), LINNET_UNSUPPORTED, "'linear_attn_config.num_head'");
  REFUSED(read(changed("\"short_conv_kernel_size\": 3", "\"short_conv_kernel_size\": 0"), e), LINNET_BAD_FILE, "short_conv_kernel_size");
}

TEST_CASE("config: families as their published files say them") {
  ModelSpec s;
  const auto read = [&s](const char* text, Error* e) { return spec_from_config(text, "config.json", &s, e); };
  ACCEPTED(read(
      R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new", "attn_pdrop": 0.1, "embd_pdrop": 0.1, "layer_norm_epsilon": 1e-05,
      "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "summary_type": "cls_index", "vocab_size": 50257})",
      e));
  CHECK((s.d_model == 768 && s.n_heads == 12 && s.n_kv_heads == 12 && s.head_dim == 64 && s.d_ff == 3072 && s.n_context == 1024 &&
         s.positions == 1024 && s.position_offset == 0));
  CHECK((s.norm == kNormLayer && s.norm_bias && s.ungated && s.activation == kActGeluTanh && s.rope_kind == kRopeNone && s.tied &&
         s.qkv_bias && s.out_bias && s.mlp_bias && s.norm_eps == 1e-5));
  CHECK(spec_version(s) == 3);
  ACCEPTED(read(
      R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_act": "gelu", "hidden_size": 512, "intermediate_size": 2048, "layer_norm_eps": 1e-05,
      "max_position_embeddings": 2048, "num_attention_heads": 8, "num_hidden_layers": 6, "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false,
      "use_parallel_residual": true, "vocab_size": 50304})",
      e));
  CHECK((s.residual == kResidualParallel2 && s.rope_dim == 16 && s.head_dim == 64 && s.activation == kActGeluErf && !s.tied && s.qkv_bias &&
         s.out_bias && s.mlp_bias));
  ACCEPTED(read(
      R"({"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "activation_function": "gelu_new", "n_embd": 4096, "n_head": 16, "n_inner": null, "n_layer": 28,
      "n_positions": 2048, "rotary": true, "rotary_dim": 64, "scale_attn_weights": true, "tie_word_embeddings": false, "vocab_size": 50400})",
      e));
  CHECK((s.residual == kResidualParallel && s.rope_kind == kRopePairs && s.rope_dim == 64 && s.head_dim == 256 && s.d_ff == 16384 &&
         s.head_bias && !s.qkv_bias && s.mlp_bias));
  constexpr const char* kFalcon =
      R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"], "apply_residual_connection_post_layernorm": false, "hidden_size": 4544,
      "num_attention_heads": 71, "num_hidden_layers": 32, "vocab_size": 65024, "alibi": false, "bias": false, "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true})";
  ACCEPTED(read(kFalcon, e));
  CHECK((s.n_kv_heads == 1 && s.residual == kResidualParallel && s.d_ff == 4 * 4544 && s.rope_dim == 64 && s.tied && !s.qkv_bias &&
         s.norm_bias));
  const auto falcon = [&](const char* from, const char* to, Error* e) { return read(replaced(kFalcon, from, to).c_str(), e); };
  ACCEPTED(falcon("\"new_decoder_architecture\": false", "\"new_decoder_architecture\": true, \"num_kv_heads\": 71", e));
  CHECK((s.n_kv_heads == 71 && s.residual == kResidualParallel2));
  ACCEPTED(falcon("\"new_decoder_architecture\": false", "\"new_decoder_architecture\": true, \"num_ln_in_parallel_attn\": 1", e));
  CHECK((s.n_kv_heads == 71 && s.residual == kResidualParallel));
  ACCEPTED(falcon("\"alibi\": false, \"bias\": false, \"multi_query\": true, \"new_decoder_architecture\": false, \"parallel_attn\": true",
                  "\"alibi\": true, \"bias\": true, \"multi_query\": false, \"parallel_attn\": false", e));
  CHECK((s.n_kv_heads == 71 && s.residual == kResidualSerial && s.alibi && s.rope_kind == kRopeNone && s.qkv_bias && s.out_bias &&
         s.mlp_bias));
  REFUSED(falcon("\"new_decoder_architecture\": false, \"parallel_attn\": true",
                 "\"new_decoder_architecture\": true, \"parallel_attn\": false", e),
          LINNET_UNSUPPORTED, "'new_decoder_architecture'");
  REFUSED(falcon("\"parallel_attn\": true", "\"num_ln_in_parallel_attn\": 3", e), LINNET_BAD_FILE, "'num_ln_in_parallel_attn' is 3");
  REFUSED(falcon("_layernorm\": false", "_layernorm\": true", e), LINNET_UNSUPPORTED,
          "'apply_residual_connection_post_layernorm' true is not supported");
  ACCEPTED(read(
      R"({"model_type": "opt", "architectures": ["OPTForCausalLM"], "activation_dropout": 0.0, "activation_function": "relu", "do_layer_norm_before": false, "ffn_dim": 4096,
      "hidden_size": 1024, "init_std": 0.02, "layerdrop": 0.0, "max_position_embeddings": 2048, "num_attention_heads": 16, "num_hidden_layers": 24, "prefix": "</s>", "vocab_size": 50272,
      "word_embed_proj_dim": 512})",
      e));
  CHECK((s.residual == kResidualAfter && s.no_final_norm && s.embd_dim == 512 && s.positions == 2050 && s.position_offset == 2 &&
         s.activation == kActRelu && s.tied));
  ACCEPTED(read(
      R"({"model_type": "bloom", "architectures": ["BloomForCausalLM"], "attention_softmax_in_fp32": true, "bias_dropout_fusion": true, "layer_norm_epsilon": 1e-05,
      "masked_softmax_fusion": true, "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16, "offset_alibi": 100, "pretraining_tp": 1, "seq_length": 2048, "skip_bias_add": true,
      "vocab_size": 250880})",
      e));
  CHECK((s.alibi && s.embd_norm && s.n_context == 2048 && s.d_ff == 4096 && s.rope_kind == kRopeNone && s.activation == kActGeluTanh));
  constexpr const char* kMpt =
      R"({"model_type": "mpt", "architectures": ["MptForCausalLM"], "attn_config": {"alibi": true, "alibi_bias_max": 8, "attn_impl": "torch", "attn_pdrop": 0,
      "attn_type": "multihead_attention", "attn_uses_sequence_id": false, "clip_qkv": 6, "prefix_lm": false, "qk_ln": false, "softmax_scale": null}, "d_model": 4096, "emb_pdrop": 0,
      "embedding_fraction": 1.0, "expansion_ratio": 4, "init_device": "cpu", "learned_pos_emb": true, "logit_scale": null, "max_seq_len": 65536, "n_heads": 32, "n_layers": 32,
      "no_bias": true, "norm_type": "low_precision_layernorm", "vocab_size": 50432})";
  ACCEPTED(read(kMpt, e));
  CHECK((s.alibi && s.clip_qkv == 6 && s.n_context == 65536 && s.norm == kNormLayer && !s.norm_bias && s.attn_scale == 0 &&
         s.activation == kActGeluErf));
  REFUSED(read(replaced(kMpt, "\"qk_ln\": false", "\"qk_ln\": true").c_str(), e), LINNET_UNSUPPORTED,
          "'attn_config.qk_ln' true is not supported");
  REFUSED(read(replaced(kMpt, "\"alibi\": true", "\"alibi\": false").c_str(), e), LINNET_UNSUPPORTED,
          "'attn_config.alibi' false is not supported");
  REFUSED(read(replaced(kMpt, "\"clip_qkv\": 6", "\"clip_qkv\": -6").c_str(), e), LINNET_BAD_FILE, "'attn_config.clip_qkv' is -6");
  REFUSED(read(replaced(kMpt, "\"d_model\": 4096", "\"d_model\": 4096, \"hidden_size\": 64").c_str(), e), LINNET_BAD_FILE,
          "'d_model' is 4096, but 'hidden_size' is 64");
  REFUSED(read(replaced(kMpt, "\"n_heads\": 32", "\"n_heads\": 0").c_str(), e), LINNET_BAD_FILE, "'n_heads' is 0");
  HfConfig mpt;
  ACCEPTED(read_config(replaced(kMpt, "\"n_heads\": 32", "\"n_heads\": 4").c_str(), "config.json", &mpt, e));
  CHECK(mpt.alibi == std::vector<float>{0.25f, 0.0625f, 0.015625f, 0.00390625f});
  ACCEPTED(read(
      R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "activation_function": "gelu", "hidden_act": "gelu_pytorch_tanh", "hidden_size": 3072, "layer_norm_epsilon": 1e-05,
      "intermediate_size": 12288, "norm_epsilon": 1e-05, "norm_type": "layer_norm", "num_attention_heads": 24, "num_hidden_layers": 30, "num_key_value_heads": 2,
      "max_position_embeddings": 16384, "mlp_type": "default", "rope_theta": 999999.4420358813, "sliding_window": 4096, "use_bias": true, "vocab_size": 49152})",
      e));
  CHECK((s.n_kv_heads == 2 && s.window == 4096 && s.qkv_bias && s.out_bias && s.mlp_bias && s.activation == kActGeluTanh && s.tied));
  ACCEPTED(read(
      R"({"model_type": "phi", "architectures": ["PhiForCausalLM"], "hidden_act": "gelu_new", "hidden_size": 2560, "intermediate_size": 10240, "layer_norm_eps": 1e-05,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "partial_rotary_factor": 0.4, "qk_layernorm": false, "rope_scaling": null, "rope_theta": 10000.0,
      "vocab_size": 51200})",
      e));
  CHECK((s.rope_dim == 32 && s.head_dim == 80 && s.residual == kResidualParallel && s.head_bias && s.qkv_bias && !s.tied &&
         s.qk_norm == kQkNormNone));
  constexpr const char* kPhi3 =
      R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "hidden_act": "silu", "hidden_size": 48, "intermediate_size": 8192, "max_position_embeddings": 131072,
      "num_attention_heads": 4, "num_hidden_layers": 32, "num_key_value_heads": 4, "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
      "rope_scaling": {"type": "su", "short_factor": [1, 1, 1.5, 1, 2, 3], "long_factor": [1, 2, 4, 8, 16, 32.5]}, "sliding_window": 262144, "tie_word_embeddings": false, "vocab_size": 32064})";
  HfConfig phi;
  ACCEPTED(read_config(kPhi3, "config.json", &phi, e));
  CHECK((phi.spec.rope_scaling == kRopeScaleLong && phi.spec.rope_original == 4096 && phi.spec.window == 0 &&
         phi.rope_long.back() == 32.5f && phi.rope_short[2] == 1.5f));
  CHECK(std::fabs(phi.spec.rope_attn_factor - 1.1902380714238083) < 1e-12);
  REFUSED(read(replaced(kPhi3, "16, 32.5]", "16]").c_str(), e), LINNET_BAD_FILE, "'long_factor' is an array, not a list of 6 numbers");
  REFUSED(read(replaced(kPhi3, "16, 32.5]", "16, 0]").c_str(), e), LINNET_BAD_FILE, "'long_factor' is 0, not a list of numbers above 0");
  REFUSED(read(replaced(kPhi3, "\"short_factor\"", "\"shorter\"").c_str(), e), LINNET_UNSUPPORTED, "rope parameter 'shorter'");
  REFUSED(read(replaced(kPhi3, "\"type\": \"su\"", "\"type\": \"su\", \"original_max_position_embeddings\": 8").c_str(), e),
          LINNET_BAD_FILE, "4096, but 8 in the rope parameters");
  ACCEPTED(read(
      R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "head_dim": 256, "hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2048,
      "intermediate_size": 16384, "max_position_embeddings": 8192, "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "rms_norm_eps": 1e-06, "vocab_size": 256000})",
      e));
  CHECK((s.activation == kActGeluTanh && s.tied && s.residual == kResidualSerial && std::fabs(s.embd_scale - 45.254833995939045) < 1e-12));
  ACCEPTED(read(
      R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "attn_logit_softcapping": 50.0, "cache_implementation": "hybrid", "final_logit_softcapping": null,
      "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 2304, "intermediate_size": 9216, "max_position_embeddings": 8192,
      "num_attention_heads": 8, "num_hidden_layers": 26, "num_key_value_heads": 4, "query_pre_attn_scalar": 144, "sliding_window": 4096, "vocab_size": 256000})",
      e));
  CHECK((s.residual == kResidualSandwich && s.attn_softcap == 50 && s.logit_softcap == 0 && std::fabs(s.attn_scale - 1.0 / 12) < 1e-15 &&
         layer_spec(s, 0).window == 4096 && layer_spec(s, 1).window == 0));
  constexpr const char* kGemma3 =
      R"({"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "attn_logit_softcapping": null, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
      "hidden_size": 1152, "intermediate_size": 6912, "max_position_embeddings": 32768, "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1, "query_pre_attn_scalar": 256,
      "rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144})";
  ACCEPTED(read(kGemma3, e));
  CHECK((s.rope_base == 1e6 && s.rope_local_base == 1e4 && s.qk_norm == kQkNormHead && layer_spec(s, 4).window == 512 &&
         layer_spec(s, 5).window == 0 && s.attn_softcap == 0));
  CHECK((layer_spec(s, 4).rope == LayerRope::kLocal && layer_spec(s, 5).rope == LayerRope::kMain));
  const ModelSpec older = s;
  ACCEPTED(read(
      replaced(
          kGemma3, R"("rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000,)",
          R"("rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1000000}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000}},)")
          .c_str(),
      e));
  CHECK(std::memcmp(&s, &older, sizeof s) == 0);
  REFUSED(read(replaced(kGemma3, "\"sliding_window_pattern\": 6", "\"sliding_window_pattern\": 0").c_str(), e), LINNET_BAD_FILE,
          "'sliding_window_pattern' is 0");
  REFUSED(read(replaced(kGemma3, "\"query_pre_attn_scalar\": 256", "\"query_pre_attn_scalar\": 0").c_str(), e), LINNET_BAD_FILE,
          "'query_pre_attn_scalar' is 0, not above 0");
  REFUSED(read(replaced(kGemma3, "\"rope_scaling\": null",
                        R"("rope_parameters": {"full_attention": {}, "sliding_attention": {"rope_type": "linear", "factor": 2}})")
                   .c_str(),
               e),
          LINNET_UNSUPPORTED, "of 'sliding_attention' is not supported");

  // What one family has is unknown in another.
  REFUSED(config({{"clip_qkv", "8"}}, &s, e), LINNET_UNSUPPORTED, "key 'clip_qkv' (8) is not supported");
  REFUSED(config({{"n_embd", "64"}}, &s, e), LINNET_UNSUPPORTED, "key 'n_embd' (64) is not supported");
  REFUSED(config({{"original_max_position_embeddings", "64"}}, &s, e), LINNET_UNSUPPORTED, "key 'original_max_position_embeddings'");
  // Scalings that look at the length.
  ACCEPTED(config({{"rope_scaling", R"({"type": "dynamic", "factor": 2})"}}, &s, e));
  CHECK((s.rope_scaling == kRopeScaleDynamic && s.rope_factor == 2 && s.rope_original == s.n_context));
  ACCEPTED(config({{"rope_scaling", R"({"type": "dynamic", "alpha": 1000.0, "factor": 1.0})"}}, &s, e));
  CHECK((s.rope_scaling == kRopeScaleNone && std::fabs(s.rope_base / (1e4 * std::pow(1000.0, 8.0 / 6)) - 1) < 1e-14));
  REFUSED(config({{"rope_scaling", R"({"type": "dynamic", "alpha": -1})"}}, &s, e), LINNET_BAD_FILE, "'alpha' is -1");
}

// ---- safetensors ------------------------------------------------------------------------------------------------------------------

namespace {

// Two tensors: a, 2 x 3 of F16, then b, 4 of F32: 12 + 16 bytes.
constexpr const char* kHeader =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[4],"data_offsets":[12,28]},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})";

}  // namespace

TEST_CASE("config: layers without RoPE, windows with a RoPE of their own, temperature, keys of one value") {
  ModelSpec s;
  const auto of = [&s](Keys keys, const Keys& changes, Error* e) {
    for (const auto& [key, value] : changes) keys[key] = value;
    return config(keys, &s, e);
  };
  Keys smollm = family("smollm3", "SmolLM3ForCausalLM");
  smollm["num_hidden_layers"] = "5";
  ACCEPTED(of(smollm, {{"max_window_layers", "28"}, {"sliding_window", "null"}, {"use_sliding_window", "false"}}, e));
  CHECK((s.nope_pattern == 4 && s.rope_base == 2e6 && s.window == 0 && s.tied));
  ACCEPTED(of(smollm, {{"no_rope_layer_interval", "4"}, {"no_rope_layers", "[1, 0, 1, 0, 1]"}}, e));
  CHECK(s.nope_pattern == 2);
  ACCEPTED(of(smollm, {{"no_rope_layers", "[1, 1, 1, 1, 1]"}}, e));
  CHECK(s.nope_pattern == 0);
  REFUSED(of(smollm, {{"no_rope_layers", "[0, 1, 1, 1, 1]"}}, e), LINNET_UNSUPPORTED,
          "'no_rope_layers': the layers without RoPE follow no period");
  REFUSED(of(smollm, {{"no_rope_layers", "[1, 0, 1]"}}, e), LINNET_BAD_FILE,
          "'no_rope_layers' is an array, not a list with one entry per layer");
  REFUSED(of(smollm, {{"no_rope_layers", "[1, 0, 2, 0, 1]"}}, e), LINNET_BAD_FILE, "'no_rope_layers' is 2, not a list of 0 and 1");
  REFUSED(of(smollm, {{"no_rope_layer_interval", "0"}}, e), LINNET_BAD_FILE, "'no_rope_layer_interval' is 0, not a count above 0");
  REFUSED(of(smollm, {{"use_sliding_window", "true"}, {"sliding_window", "32"}}, e), LINNET_UNSUPPORTED,
          "'sliding_window' 32 without 'layer_types'");
  REFUSED(config({{"no_rope_layers", "[1, 1]"}}, &s, e), LINNET_UNSUPPORTED, "key 'no_rope_layers'");

  const Keys cohere = family("cohere2", "Cohere2ForCausalLM");
  const Keys published = {{"layer_switch", "2"},
                          {"layer_norm_eps", "1e-05"},
                          {"logit_scale", "0.25"},
                          {"order_of_interleaved_layers", R"("local_attn_first")"},
                          {"position_embedding_type", R"("rope_gptj")"},
                          {"rotary_pct", "1.0"},
                          {"sliding_window", "16"},
                          {"use_embedding_sharing", "true"},
                          {"use_gated_activation", "true"},
                          {"use_parallel_block", "true"},
                          {"use_parallel_embedding", "true"}};
  const auto cohere_with = [&](const char* key, const char* value, Error* e) {
    Keys keys = published;
    keys[key] = value;
    return of(cohere, keys, e);
  };
  ACCEPTED(of(cohere, published, e));
  CHECK((s.window == 16 && s.window_pattern == 2 && s.nope_pattern == 2 && s.rope_kind == kRopePairs && s.residual == kResidualParallel &&
         s.norm == kNormLayer && !s.norm_bias && s.logit_scale == 0.25 && s.tied));
  REFUSED(cohere_with("position_embedding_type", "\"nope\"", e), LINNET_UNSUPPORTED,
          "'position_embedding_type' \"nope\" is not supported, only \"rope_gptj\"");
  REFUSED(cohere_with("use_parallel_block", "false", e), LINNET_UNSUPPORTED, "'use_parallel_block' false is not supported");
  REFUSED(cohere_with("sliding_window_pattern", "3", e), LINNET_BAD_FILE, "'layer_switch' is 2, but 'sliding_window_pattern' is 3");
  REFUSED(config({{"use_parallel_block", "true"}}, &s, e), LINNET_UNSUPPORTED, "key 'use_parallel_block' (true) is not supported");

  constexpr const char* kYarn =
      R"({"rope_type": "yarn", "factor": 8.0, "attention_factor": 1.2, "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 512})";
  ACCEPTED(of(family("olmo3", "Olmo3ForCausalLM"), {{"rope_theta", "1e5"}, {"sliding_window", "16"}, {"rope_scaling", kYarn}}, e));
  CHECK((s.rope_scaling == kRopeScaleYarn && s.rope_local_base == 1e5 && s.rope_base == 1e5 && s.window == 16 &&
         s.residual == kResidualPost && s.qk_norm == kQkNormAll));

  const Keys ministral = family("ministral3", "Ministral3ForCausalLM");
  const std::string rope = replaced(kYarn, "\"factor\"", "\"llama_4_scaling_beta\": 0.1, \"factor\"");
  ACCEPTED(of(ministral, {{"rope_parameters", rope}}, e));
  CHECK((s.temp_scale == 0.1 && s.temp_positions == 512 && s.temp_all));
  REFUSED(of(ministral, {}, e), LINNET_BAD_FILE, "'rope_parameters' is missing");
  REFUSED(of(ministral, {{"rope_parameters", kYarn}}, e), LINNET_BAD_FILE, "'llama_4_scaling_beta' is missing");
  REFUSED(of(ministral, {{"rope_parameters", replaced(rope, "0.1", "-1")}}, e), LINNET_BAD_FILE, "'llama_4_scaling_beta' is -1");
  REFUSED(config({{"rope_parameters", rope}}, &s, e), LINNET_UNSUPPORTED, "rope parameter 'llama_4_scaling_beta'");

  ACCEPTED(of(
      family("hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM"),
      {{"attention_head_dim", "16"}, {"use_qk_norm", "true"}, {"rope_scaling", R"({"type": "dynamic", "alpha": 1000.0, "factor": 1.0})"}},
      e));
  CHECK((s.head_dim == 16 && s.qk_norm == kQkNormHeadAfter && s.rope_scaling == kRopeScaleNone && s.rope_base > 1e7));
  ACCEPTED(of(family("granite", "GraniteForCausalLM"),
              {{"embedding_multiplier", "12.0"}, {"logits_scaling", "8"}, {"residual_multiplier", "0.22"}}, e));
  CHECK((s.embd_scale == 12 && s.logit_scale == 0.125 && s.residual_scale == 0.22 && s.attn_scale == 1));
}

TEST_CASE("safetensors: what is read") {
  SafetensorsTensors t;
  const std::string file = file_of(std::string(kHeader) + "   ", 28);
  ACCEPTED(safetensors_parse(file.data(), file.size(), "m.safetensors", &t, e));
  REQUIRE(t.size() == 2);
  CHECK((t["a"].format == LINNET_F16 && t["a"].bytes == 12 && t["a"].shape == std::vector<uint64_t>{2, 3}));
  CHECK((t["b"].format == LINNET_F32 && t["b"].bytes == 16 && t["b"].dtype == "F32" && t["b"].file == "m.safetensors"));
  CHECK(reinterpret_cast<const char*>(t["b"].data) == file.data() + file.size() - 16);

  // Values in all three types, at any alignment.
  const float values[] = {1.5f, -2.0f, 65504.0f, -6.103515625e-5f};
  std::string data;
  for (const float v : values) data.append(reinterpret_cast<const char*>(&v), 4);
  for (const float v : values) {
    const uint16_t half = f32_to_f16(v);
    data.append(reinterpret_cast<const char*>(&half), 2);
  }
  for (const uint16_t bits : std::initializer_list<uint16_t>{0x3FC0, 0xC000, 0x477F, 0xB880})
    data.append(reinterpret_cast<const char*>(&bits), 2);
  const char* header = R"({"f":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"h":{"dtype":"F16","shape":[2,2],"data_offsets":[16,24]},
                          "s":{"dtype":"BF16","shape":[4,1],"data_offsets":[24,32]}})";
  for (size_t pad = 0; pad < 4; pad++) {
    const std::string typed = file_of(header + std::string(pad, ' '), 0) + data;
    t.clear();
    ACCEPTED(safetensors_parse(typed.data(), typed.size(), "m", &t, e));
    float out[4];
    safetensors_read(t["f"], 0, 4, out);
    CHECK(std::equal(out, out + 4, values));
    safetensors_read(t["h"], 0, 4, out);
    CHECK(std::equal(out, out + 4, values));
    safetensors_read(t["s"], 1, 3, out);
    CHECK((out[0] == -2.0f && out[1] == 65280.0f && out[2] == -6.103515625e-5f));
  }
  ACCEPTED(parse(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4, e));  // a scalar
  ACCEPTED(parse(R"({"s":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1, e));
  ACCEPTED(parse("{}", 0, e));
}

TEST_CASE("safetensors: hostile headers") {
  const auto changed = [](const char* from, const char* to, Error* e) { return parse(replaced(kHeader, from, to), 28, e); };
  ACCEPTED(parse(kHeader, 28, e));

  // Length of the header.
  const auto length = [](uint64_t bytes, Error* e) {
    std::string file = file_of(kHeader, 28);
    std::memcpy(file.data(), &bytes, 8);
    return parse_bytes(file, e);
  };
  REFUSED(length(std::strlen(kHeader) + 29, e), LINNET_BAD_FILE, "ends outside the file, which has");
  REFUSED(length(100'000'000, e), LINNET_BAD_FILE, "m.safetensors: a header of 100000000 bytes ends outside the file");
  REFUSED(length(100'000'001, e), LINNET_BAD_FILE, "m.safetensors: a header of 100000001 bytes is over the limit of 100000000");
  REFUSED(length(UINT64_MAX, e), LINNET_BAD_FILE, "a header of 18446744073709551615 bytes is over the limit");
  REFUSED(length(0, e), LINNET_BAD_FILE, "does not begin with '{'");

  // No JSON, or not of this shape.
  REFUSED(parse("hello", 0, e), LINNET_BAD_FILE, "does not begin with '{'");
  REFUSED(parse(" {}", 0, e), LINNET_BAD_FILE, "does not begin with '{'");
  REFUSED(parse("{\"a\":", 0, e), LINNET_BAD_FILE, "m.safetensors: not valid JSON at line 1, column 6");
  REFUSED(parse("{}x", 0, e), LINNET_BAD_FILE, "not valid JSON");
  REFUSED(parse(R"({"a":3})", 0, e), LINNET_BAD_FILE, "tensor 'a': 3 is not an object");
  REFUSED(parse(R"({"__metadata__":3})", 0, e), LINNET_BAD_FILE, "'__metadata__' is 3, not an object");
  REFUSED(parse(R"({"__metadata__":{"a":[]}})", 0, e), LINNET_BAD_FILE, "'__metadata__': 'a' is an array, not a string");
  REFUSED(changed("\"a\":", "\"b\":", e), LINNET_BAD_FILE, "duplicate key 'b'");
  REFUSED(changed("\"dtype\":\"F16\"", "\"dtype\":\"F16\",\"dtype\":\"F16\"", e), LINNET_BAD_FILE, "duplicate key 'dtype'");
  REFUSED(changed("\"dtype\":\"F16\"", "\"dtype\":\"F16\",\"strides\":[1]", e), LINNET_BAD_FILE, "tensor 'a': unknown field 'strides'");

  // dtype and size.
  REFUSED(changed("\"F16\"", "\"Q9\"", e), LINNET_BAD_FILE, "tensor 'a': unknown dtype 'Q9'");
  REFUSED(changed("\"F16\"", "16", e), LINNET_BAD_FILE, "tensor 'a': 'dtype' is missing or no string");
  REFUSED(changed("\"dtype\":\"F16\",", "", e), LINNET_BAD_FILE, "tensor 'a': 'dtype' is missing");
  REFUSED(changed("\"F16\"", "\"F32\"", e), LINNET_BAD_FILE,
          "tensor 'a': 'data_offsets' [0, 12] hold 12 bytes, but shape [2, 3] of F32 takes 24");
  REFUSED(changed("[2,3]", "[2,4]", e), LINNET_BAD_FILE, "but shape [2, 4] of F16 takes 16");
  REFUSED(changed("[2,3]", "[2,0]", e), LINNET_BAD_FILE, "tensor 'a': shape [2, 0] has a zero");
  REFUSED(changed("[2,3]", "[4294967296,4294967296]", e), LINNET_BAD_FILE, "shape [4294967296, 4294967296] overflows");
  REFUSED(changed("[2,3]", "[1152921504606846976,6]", e), LINNET_BAD_FILE, "overflows");
  REFUSED(changed("[2,3]", "[1,1,1,1,1,1,1,2,3]", e), LINNET_BAD_FILE, "tensor 'a': 9 dimensions, the limit is 8");
  ACCEPTED(changed("[2,3]", "[1,1,1,1,1,1,2,3]", e));
  for (const char* shape : {"[2,-3]", "[2,3.0]", "[2,\"3\"]", "6", "{}", "[[2,3]]", "null"})
    REFUSED(changed("[2,3]", shape, e), LINNET_BAD_FILE, "tensor 'a': 'shape' is not a list of sizes");
  REFUSED(changed("\"shape\":[2,3],", "", e), LINNET_BAD_FILE, "tensor 'a': 'shape' is not a list");
  REFUSED(changed("\"F16\",\"shape\":[2,3]", "\"F4\",\"shape\":[5]", e), LINNET_BAD_FILE, "shape [5] of F4 ends within a byte");

  // Offsets.
  REFUSED(changed("[0,12]", "[12,0]", e), LINNET_BAD_FILE, "tensor 'a': 'data_offsets' [12, 0] are reversed");
  for (const char* span : {"[0]", "[0,12,12]", "[-1,11]", "[0.0,12]", "12", "null"})
    REFUSED(changed("[0,12]", span, e), LINNET_BAD_FILE, "tensor 'a': 'data_offsets' is not a list of two offsets");
  REFUSED(changed("[0,12]", "[2,14]", e), LINNET_BAD_FILE, "tensor 'a' leaves a gap after 'the header': it begins at 2, not 0");
  REFUSED(changed("[12,28]", "[16,32]", e), LINNET_BAD_FILE, "tensor 'b' leaves a gap after 'a': it begins at 16, not 12");
  REFUSED(changed("[12,28]", "[10,26]", e), LINNET_BAD_FILE, "tensor 'b' overlaps 'a': it begins at 10 before 12");
  REFUSED(changed("[12,28]", "[0,16]", e), LINNET_BAD_FILE, "overlaps");
  REFUSED(parse(kHeader, 27, e), LINNET_BAD_FILE, "tensor 'b' ends at 28, but the file holds 27 bytes of data");
  REFUSED(parse(kHeader, 29, e), LINNET_BAD_FILE, "the tensors end at 28, but the file holds 29 bytes of data");
  REFUSED(changed("[12,28]", "[18446744073709551600,18446744073709551616]", e), LINNET_BAD_FILE,
          "'b': 'data_offsets' is not a list of two");
  REFUSED(changed("[12,28]", "[18446744073709551599,18446744073709551615]", e), LINNET_BAD_FILE, "leaves a gap");

  // Names that hold anything; a name too long for the message.
  REFUSED(parse(R"({"\u0000\n":3})", 0, e), LINNET_BAD_FILE, R"(tensor '\x00\x0a': 3)");
  REFUSED(parse("{\"" + std::string(5000, 'n') + "\":3}", 0, e), LINNET_BAD_FILE, "m.safetensors: tensor 'nnn");

  // Cut anywhere.
  const std::string whole = file_of(kHeader, 28);
  for (size_t n = 0; n < whole.size(); n++) {
    INFO("cut at " << n);
    REFUSED(parse_bytes(whole.substr(0, n), e), LINNET_BAD_FILE, "m.safetensors: ");
  }
}

TEST_CASE("safetensors: hostile indexes") {
  SafetensorsIndex index;
  const auto map = [&index](const std::string& value, Error* e) {
    return safetensors_index("{\"metadata\": {}, \"weight_map\": {\"a\": " + value + "}}", "model.safetensors.index.json", &index, e);
  };
  ACCEPTED(map("\"model-00001-of-00002.safetensors\"", e));
  CHECK(index.at("a") == "model-00001-of-00002.safetensors");
  for (const char* name :
       {"\"../m.safetensors\"", "\"/etc/m.safetensors\"", "\"sub/m.safetensors\"", "\"sub\\\\m.safetensors\"", "\"\"", "\".\"", "\"..\"",
        "\"..safetensors\"", "\".safetensors\"", "\"m.bin\"", "\"m.safetensors\\u0000.safetensors\"", "3", "null"}) {
    INFO(name);
    REFUSED(map(name, e), LINNET_BAD_FILE, "is not the plain name of a .safetensors file");
  }
  REFUSED(map("\"../m.safetensors\"", e), LINNET_BAD_FILE, "model.safetensors.index.json: tensor 'a': \"../m.safetensors\"");
  for (const char* text : {"{}", "[]", "3", R"({"weight_map": {}})", R"({"weight_map": []})", R"({"weight_map": null})"})
    REFUSED(safetensors_index(text, "i", &index, e), LINNET_BAD_FILE, "i: 'weight_map' is missing, empty or no object");
  REFUSED(safetensors_index(R"({"weight_map": {"a": "b", "a": "b"}})", "i", &index, e), LINNET_BAD_FILE, "duplicate key 'a'");
}

// ---- folders ------------------------------------------------------------------------------------------------------------------------

namespace {

using Shapes = std::map<std::string, std::string>;  // tensor -> "2,3"

// Files of F32 tensors that count up from 0.
void write_tensors(const TempFolder& folder, const std::string& file, const Shapes& shapes,
                   const std::map<std::string, std::string>& dtypes = {}) {
  std::string header, data;
  for (const auto& [name, shape] : shapes) {
    const auto at = dtypes.find(name);
    const std::string dtype = at == dtypes.end() ? "F32" : at->second;
    size_t n = dtype == "F64" ? 8 : 4;
    for (std::istringstream in(shape); in.good(); in.get()) {
      size_t side;
      in >> side;
      n *= side;
    }
    header += (header.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(data.size()) + "," + std::to_string(data.size() + n) + "]}";
    for (size_t i = 0; i < n / 4; i++) {
      const float v = static_cast<float>(i);
      data.append(reinterpret_cast<const char*>(&v), 4);
    }
  }
  folder.write(file, file_of(header + "}", 0) + data);
}

// One layer: d_model 4, 2 heads and 1 KV head of 2, d_ff 6, 5 tokens, untied.
const Keys kTinyConfig = {{"hidden_size", "4"},         {"intermediate_size", "6"},   {"num_hidden_layers", "1"},
                          {"num_attention_heads", "2"}, {"num_key_value_heads", "1"}, {"vocab_size", "5"}};
const std::string kLayer = "model.layers.0.";
const Shapes kTinyShapes = {{"model.embed_tokens.weight", "5,4"},
                            {"model.norm.weight", "4"},
                            {"lm_head.weight", "5,4"},
                            {kLayer + "input_layernorm.weight", "4"},
                            {kLayer + "post_attention_layernorm.weight", "4"},
                            {kLayer + "self_attn.q_proj.weight", "4,4"},
                            {kLayer + "self_attn.k_proj.weight", "2,4"},
                            {kLayer + "self_attn.v_proj.weight", "2,4"},
                            {kLayer + "self_attn.o_proj.weight", "4,4"},
                            {kLayer + "mlp.gate_proj.weight", "6,4"},
                            {kLayer + "mlp.up_proj.weight", "6,4"},
                            {kLayer + "mlp.down_proj.weight", "4,6"}};

void write_config(const TempFolder& folder, const Keys& changes) {
  Keys keys = kTinyConfig;
  for (const auto& [key, value] : changes) keys[key] = value;
  folder.write("config.json", config_text(keys));
}
void write_index(const TempFolder& folder, const std::map<std::string, std::string>& weight_map) {
  std::string text;
  for (const auto& [name, file] : weight_map) text += (text.empty() ? "\"" : ",\"") + name + "\":\"" + file + "\"";
  folder.write("model.safetensors.index.json", "{\"weight_map\":{" + text + "}}");
}
// Changes one tensor's shape ("" leaves it out).
Shapes with(const std::string& name, const std::string& shape) {
  Shapes shapes = kTinyShapes;
  shapes[name] = shape;
  if (shape.empty()) shapes.erase(name);
  return shapes;
}

}  // namespace

TEST_CASE("folder: stories260K") {
  const std::string folder = data_path("models/stories260K");
  if (folder.empty()) return;
  Source s;
  ACCEPTED(source_from_folder(folder, &s, e));
  CHECK(s.name == "stories260K");
  CHECK((s.spec.n_layers == 5 && s.spec.d_model == 64 && s.spec.n_heads == 8 && s.spec.n_kv_heads == 4 && s.spec.head_dim == 8));
  CHECK((s.spec.d_ff == 172 && s.spec.n_vocab == 512 && s.spec.n_context == 512 && s.spec.norm_eps == 1e-5 && s.spec.rope_base == 10000));
  CHECK((s.spec.tied == 1 && s.spec.rope_kind == kRopeHalves));
  CHECK(s.tensors.size() == 2 + 5 * 9);
  // As Python reads them from the file.
  CHECK(read_value(s, kTokenEmbd, 0, 0, 0) == "-0x1.2dd2ap-2");
  CHECK(read_value(s, kTokenEmbd, 0, 0, 1) == "0x1.1fb0c8p-1");
  CHECK(read_value(s, kTokenEmbd, 0, 511, 63) == "-0x1.b2359ap-2");
  CHECK(read_value(s, kFfnDown, 4, 0, 0) == "-0x1.88801cp-5");
  CHECK(read_value(s, kFfnDown, 4, 63, 171) == "-0x1.cba716p-9");
  CHECK(read_value(s, kFfnDown, 4, 10, 5) == "0x1.edfeaep-6");
  CHECK(read_value(s, kAttnK, 2, 3, 7) == "-0x1.1694dp-1");
  CHECK(read_value(s, kOutputNorm, 0, 63, 0) == "0x1.b530dep+0");
}

TEST_CASE("folder: the golden models") {
  const std::map<std::string, size_t> n_tensors = {{"llama", 3 + 2 * 9},        {"llama-mha-linear", 2 + 4 * (9 + 7)},
                                                   {"mistral", 3 + 2 * 9},      {"qwen2", 2 + 2 * (9 + 3)},
                                                   {"qwen3", 3 + 3 * (9 + 2)},  {"smollm2", 2 + 2 * 9},
                                                   {"deepseek-v2", 2 + 2 * 11}, {"deepseek-v2-qlora", 3 + 2 * 13}};
  for (const auto& row : n_tensors) {
    const std::string& name = row.first;
    const size_t n = row.second;
    INFO(name);
    Source s;
    ACCEPTED(source_from_folder("tests/golden/" + name, &s, e));
    CHECK(s.tensors.size() == n);
    CHECK(s.name == name);
    CHECK(s.spec.architecture == (name == "smollm2" || name[0] == 'l' ? "llama" : name[0] == 'd' ? "deepseek_v2" : name));
    CHECK(s.tensors[0].source_type == (name == "smollm2" ? "BF16" : "F32"));
    for (const SourceTensor& t : s.tensors) {
      std::vector<float> first(t.k), last(t.k);
      ACCEPTED(t.rows(0, 1, first.data(), e));
      ACCEPTED(t.rows(t.n - 1, 1, last.data(), e));
      CHECK(std::isfinite(first[0]));
      CHECK(std::isfinite(last[t.k - 1]));
    }
  }
}

TEST_CASE("folder: tensors") {
  const TempFolder folder;
  Source s;
  const auto load = [&](const Shapes& shapes, Error* e, const std::map<std::string, std::string>& dtypes = {}) {
    write_tensors(folder, "model.safetensors", shapes, dtypes);
    return source_from_folder(folder.path, &s, e);
  };
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_BAD_FILE, folder.path + ": holds no config.json");
  write_config(folder, {});
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_BAD_FILE, "no model.safetensors and no model.safetensors.index.json");
  folder.write("pytorch_model.bin", "x");
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_UNSUPPORTED,
          "pytorch_model.bin is not read, since a pickle may run code: save the model as safetensors");
  ACCEPTED(load(kTinyShapes, e));
  CHECK(s.tensors.size() == kTinyShapes.size());
  CHECK(s.tokenizer.bytes.empty());
  for (const SourceTensor& t : s.tensors) {
    if (t.role != kFfnDown) continue;
    CHECK((t.n == 4 && t.k == 6 && t.source_name == "model.layers.0.mlp.down_proj.weight" && t.source_type == "F32"));
    float rows[12];
    ACCEPTED(t.rows(2, 2, rows, e));
    for (int i = 0; i < 12; i++) CHECK(rows[i] == static_cast<float>(12 + i));
  }
  folder.write("model.safetensors", "");
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_BAD_FILE, "model.safetensors: is empty");

  for (const auto& row : kTinyShapes) {
    const std::string &name = row.first, &shape = row.second;
    INFO(name);
    REFUSED(load(with(name, ""), e), LINNET_BAD_FILE, "tensor '" + name + "' is missing; config.json asks for it with shape [" + shape[0]);
    REFUSED(load(with(name, shape + ",1"), e), LINNET_BAD_FILE, "model.safetensors: tensor '" + name + "' has shape [");
  }
  REFUSED(load(with(kLayer + "mlp.down_proj.weight", "6,4"), e), LINNET_BAD_FILE, "has shape [6, 4], config.json asks for [4, 6]");
  REFUSED(load(with("lm_head.scale", "5"), e), LINNET_UNSUPPORTED, "unknown tensor 'lm_head.scale'");
  REFUSED(load(with("lm_head.bias", "5"), e), LINNET_BAD_FILE, "lm_head.bias' has no place in the model of config.json");
  REFUSED(load(with(kLayer + "self_attn.q_norm.weight", "2"), e), LINNET_BAD_FILE, "has no place in the model of config.json");
  REFUSED(load(with(kLayer + "self_attn.q_proj.bias", "4"), e), LINNET_BAD_FILE, "self_attn.q_proj.bias' has no place");
  REFUSED(load(with("model.layers.1.input_layernorm.weight", "4"), e), LINNET_BAD_FILE, "but config.json has 1 layers");
  ACCEPTED(load(with(kLayer + "self_attn.rotary_emb.inv_freq", "1"), e));
  // Types are asked about only where a tensor is needed.
  REFUSED(load(kTinyShapes, e, {{"model.norm.weight", "F64"}}), LINNET_UNSUPPORTED,
          "'model.norm.weight': dtype F64 is not supported, only F32, F16 and BF16");
  REFUSED(load(kTinyShapes, e, {{"model.norm.weight", "I32"}}), LINNET_UNSUPPORTED, "'model.norm.weight': dtype I32");
  ACCEPTED(load(with(kLayer + "self_attn.rotary_emb.inv_freq", "1"), e, {{kLayer + "self_attn.rotary_emb.inv_freq", "F64"}}));

  // Tied: the LM head may be left out, or be a copy.
  write_config(folder, {{"tie_word_embeddings", "true"}});
  ACCEPTED(load(with("lm_head.weight", ""), e));
  CHECK(s.tensors.size() == kTinyShapes.size() - 1);
  ACCEPTED(load(kTinyShapes, e));
  CHECK(s.tensors.size() == kTinyShapes.size() - 1);
  REFUSED(load(with("lm_head.weight", "4,5"), e), LINNET_BAD_FILE,
          "'lm_head.weight' differs from 'model.embed_tokens.weight', though config.json says");
  write_tensors(folder, "model.safetensors", kTinyShapes);
  std::string bytes = slurp(folder.path + "/model.safetensors");
  bytes[bytes.find('}', bytes.rfind("data_offsets")) + 3 + 4] ^= 1;  // a value of lm_head.weight, the first tensor
  folder.write("model.safetensors", bytes);
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_BAD_FILE, "'lm_head.weight' differs");
}

TEST_CASE("folder: shards") {
  const TempFolder folder;
  write_config(folder, {});
  Shapes first = kTinyShapes, second;
  for (const char* name : {"lm_head.weight", "model.norm.weight"}) second.insert(first.extract(name));
  std::map<std::string, std::string> map;
  for (const auto& [name, shape] : first) map[name] = "one.safetensors";
  for (const auto& [name, shape] : second) map[name] = "two.safetensors";
  write_tensors(folder, "one.safetensors", first);
  write_tensors(folder, "two.safetensors", second);
  folder.write("model.safetensors", "not read where there is an index");
  Source s;
  const auto load = [&](std::map<std::string, std::string> weight_map, Error* e) {
    write_index(folder, weight_map);
    return source_from_folder(folder.path, &s, e);
  };
  const auto changed = [&map](const std::string& name, const std::string& file) {
    auto weight_map = map;
    weight_map[name] = file;
    if (file.empty()) weight_map.erase(name);
    return weight_map;
  };
  ACCEPTED(load(map, e));
  CHECK(s.tensors.size() == kTinyShapes.size());
  CHECK(read_value(s, kOutput, 0, 1, 2) == "0x1.8p+2");

  REFUSED(load(changed("lm_head.weight", "three.safetensors"), e), LINNET_BAD_FILE,
          "model.safetensors.index.json: tensor 'lm_head.weight' should be in 'three.safetensors', which is not there or does not hold it");
  REFUSED(load(changed("lm_head.weight", "one.safetensors"), e), LINNET_BAD_FILE, "tensor 'lm_head.weight' should be in 'one.safetensors'");
  // What the model does not need may be listed wherever.
  ACCEPTED(load(changed("more", "one.safetensors"), e));
  ACCEPTED(load(changed("vision.more", "three.safetensors"), e));
  CHECK(s.tensors.size() == kTinyShapes.size());
  REFUSED(load(changed("lm_head.weight", ""), e), LINNET_BAD_FILE, "tensor 'lm_head.weight' of 'two.safetensors' is not listed");
  REFUSED(load(changed("lm_head.weight", "../two.safetensors"), e), LINNET_BAD_FILE, "is not the plain name");
  write_tensors(folder, "two.safetensors", kTinyShapes);
  ACCEPTED(load(map, e));  // of two copies the index says which
  CHECK(s.tensors.size() == kTinyShapes.size());
  folder.write("two.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n");
  REFUSED(load(map, e), LINNET_BAD_FILE, "two.safetensors: a Git LFS pointer, not the file itself: 'git lfs pull' brings it");
  folder.write("two.safetensors", "short");
  REFUSED(load(map, e), LINNET_BAD_FILE, "two.safetensors: the file has 5 bytes, too short for a header");
  fs::create_directory(folder.path + "/dir.safetensors");
  REFUSED(load(changed("lm_head.weight", "dir.safetensors"), e), LINNET_IO, "dir.safetensors");
  folder.write("model.safetensors.index.json", "{");
  REFUSED(source_from_folder(folder.path, &s, e), LINNET_BAD_FILE, "model.safetensors.index.json: not valid JSON");
}
