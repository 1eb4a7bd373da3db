// Adapters behind the C ABI: what PEFT gives with them, the same bytes in whatever company, what is refused, and that nothing that is kept
// of one sequence is taken for another's.
#define JSON_NOEXCEPTION 1  // as the library is compiled
#include <linnet_convert.h>
#include <linnet_embed.h>
#include <linnet_lora.h>
#include <linnet_serve.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels_cpu/registry.h"
#include "runtime/lora.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tests/folders.h"
#include "tests/gguf_file.h"
#include "tests/models.h"

using namespace test;

namespace {

linnet_view view_of(const std::string& bytes) { return {bytes.data(), bytes.size()}; }

struct Lora {
  std::unique_ptr<Memory> memory;
  linnet_lora* l = nullptr;
  linnet_lora_desc desc{};

  Lora(const Model& model, const linnet_view& file) {
    linnet_error err{};
    linnet_need need{.size = sizeof need};
    check(linnet_lora_need(model.m, &file, &need, &err), err);
    REQUIRE(need.align == 64);
    REQUIRE(need.device_bytes == 0);
    memory = std::make_unique<Memory>(need.bytes);
    CHECK(linnet_lora_init(&l, memory->p, need.bytes - 1, model.m, &file, &err) == LINNET_TOO_SMALL);
    check(linnet_lora_init(&l, memory->p, need.bytes, model.m, &file, &err), err);
    desc.size = sizeof desc;
    check(linnet_lora_info(l, &desc, &err), err);
    REQUIRE(desc.bytes == need.bytes);
  }
  Lora(const Model& model, const std::string& bytes) : Lora(model, view_of(bytes)) {}
  Lora(const Lora&) = delete;
};
// ... of a PEFT folder.
struct Folder {
  linnet::convert::Loaded loaded;
  Folder(const Model& model, const std::string& path) {
    linnet_error err{};
    check(linnet::convert::load_adapter(path, model.image.view(), &loaded, &err), err);
  }
  ~Folder() { linnet::convert::unload(&loaded); }
  Folder(const Folder&) = delete;
  std::string bytes() const { return std::string(static_cast<const char*>(loaded.file.data), loaded.file.bytes); }
};

// All that adapters may change.
std::vector<linnet::Role> all_roles() {
  std::vector<linnet::Role> roles(std::begin(linnet::kLoraRoles), std::end(linnet::kLoraRoles));
  roles.push_back(linnet::kOutput);
  return roles;
}

// An adapter of some matrices, random, whose share is about that of the matrix itself times `size`.
GgufFile adapter(const Model& model, uint32_t rank, uint32_t seed, const std::vector<linnet::Role>& roles = all_roles(),
                 float size = 0.3f) {
  const linnet::ModelSpec& spec = model.m->spec;
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  GgufFile f;
  f.text("general.type", "adapter");
  f.text("general.architecture", model.m->family);
  f.text("general.name", "adapter " + std::to_string(seed));
  f.text("adapter.type", "lora");
  f.f32("adapter.lora.alpha", static_cast<float>(rank) * 0.5f);
  for (uint32_t layer = 0; layer < spec.n_layers; ++layer)
    for (const linnet::Role role : roles) {
      if (!linnet::lora_present(role, layer, spec) || (role == linnet::kDeltaIn && spec.delta_by_key)) continue;
      if (role == linnet::kOutput && layer) continue;
      const uint32_t n = linnet::role_n(role, layer, spec), k = linnet::role_k(role, layer, spec);
      char name[linnet::kRoleNameBytes];
      linnet::role_name(role, layer, name);
      const auto values = [&](uint32_t count, float by) {
        std::string out;
        for (uint32_t i = 0; i < count; ++i) out += le(normal(random) * by);
        return out;
      };
      const float of_a = 1 / std::sqrt(static_cast<float>(k)), of_b = size / std::sqrt(static_cast<float>(rank));
      f.tensors.push_back({std::string(name) + ".lora_a", {k, rank}, linnet::kGgmlF32, values(k * rank, of_a)});
      f.tensors.push_back({std::string(name) + ".lora_b", {rank, n}, linnet::kGgmlF32, values(n * rank, of_b)});
    }
  return f;
}

linnet_session_params with_rank(linnet_session_params p, uint32_t rank, uint32_t n_sequences = 1) {
  p.lora_rank = rank;
  p.n_sequences = n_sequences;
  return p;
}

void set(const Session& s, uint32_t seq, const std::vector<const Lora*>& loras, const std::vector<float>& scales = {}) {
  std::vector<const linnet_lora*> list;
  for (const Lora* l : loras) list.push_back(l->l);
  linnet_error err{};
  check(linnet_lora_set(s.s, seq, list.data(), scales.empty() ? nullptr : scales.data(), static_cast<uint32_t>(list.size()), &err), err);
}

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

void prefill(const Session& s, uint32_t seq, const Tokens& t) {
  linnet_error err{};
  check(linnet_prefill(s.s, seq, t.data(), t.size(), &err), err);
}
Row logits_of(const Session& s, uint32_t seq, uint32_t back = 0) {
  const float* p = nullptr;
  size_t n = 0;
  REQUIRE(linnet_logits(s.s, seq, back, &p, &n, nullptr) == LINNET_OK);
  return Row(p, p + n);
}

// Logits of all tokens by one call.
std::vector<Row> rows_of(const Model& model, const Tokens& tokens, uint32_t kv, const std::vector<const Lora*>& loras,
                         const std::vector<float>& scales = {}, uint32_t threads = 1) {
  const uint32_t n = static_cast<uint32_t>(tokens.size());
  Session s(model, with_rank(params(kv, threads, n, n, n), 256));
  set(s, 0, loras, scales);
  s.prefill(tokens);
  std::vector<Row> rows;
  for (uint32_t i = 0; i < n; ++i) rows.push_back(s.logits(n - 1 - i));
  return rows;
}

std::vector<Row> read_npy(const std::string& path, size_t n_rows) {
  const std::string npy = slurp(path);
  REQUIRE(npy.substr(1, 5) == "NUMPY");
  const size_t header = 10 + static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]);
  const size_t n = (npy.size() - header) / 4 / n_rows;
  std::vector<Row> rows(n_rows, Row(n));
  for (size_t i = 0; i < n_rows; ++i) std::memcpy(rows[i].data(), npy.data() + header + i * n * 4, n * 4);
  return rows;
}

linnet_status refusal(const Model& model, const GgufFile& file, std::string* text) {
  const std::string bytes = file.bytes();
  const linnet_view view = view_of(bytes);
  linnet_error err{};
  linnet_need need{.size = sizeof need};
  linnet_status status = linnet_lora_need(model.m, &view, &need, &err);
  if (status == LINNET_OK) {
    const Memory memory(need.bytes);
    linnet_lora* l = nullptr;
    status = linnet_lora_init(&l, memory.p, need.bytes, model.m, &view, &err);
  }
  *text = err.text;
  return status;
}

}  // namespace

TEST_CASE("adapters that PEFT saved give PEFT's logits: f32 within 1e-4 of the largest, merged or beside the model") {
  const auto cases = nlohmann::json::parse(slurp("tests/golden/lora/lora.json"));
  REQUIRE(cases.size() == 20);
  for (const auto& c : cases) {
    const std::string base = "tests/golden/" + c["model"].get<std::string>();
    const auto names = c["adapters"].get<std::vector<std::string>>();
    const auto scales = c["scales"].get<std::vector<float>>();
    const Tokens tokens = c["tokens"].get<Tokens>();
    const size_t every = c["every"].get<size_t>();
    INFO(base << " " << names[0] << " of " << names.size());
    const auto golden = read_npy("tests/golden/lora/" + c["logits"].get<std::string>(), (tokens.size() + every - 1) / every);
    const auto each = [&](const std::vector<Row>& rows) {
      std::vector<Row> some;
      for (size_t i = 0; i < rows.size(); i += every) some.push_back(rows[i]);
      return some;
    };
    const Model model(base, LINNET_F32);
    std::vector<std::unique_ptr<Lora>> loras;
    std::vector<const Lora*> list;
    for (const std::string& name : names) {
      const Folder folder(model, "tests/golden/lora/" + name);
      loras.push_back(std::make_unique<Lora>(model, folder.loaded.file));
      CHECK(std::string(loras.back()->desc.name) == name);
      list.push_back(loras.back().get());
    }
    const auto rows = rows_of(model, tokens, LINNET_F32, list, scales);
    const double error = max_error(golden, each(rows));
    CAPTURE(error);
    CHECK(error < 1e-4);
    // Negative control: without them, and with a scale that is off by 2 %.
    CHECK(max_error(golden, each(all_logits(model, tokens, LINNET_F32))) > 0.1);
    auto off = scales;
    off[0] *= 1.02f;
    CHECK(max_error(golden, each(rows_of(model, tokens, LINNET_F32, list, off))) > 1e-3);

    // Merged before packing.
    linnet::convert::Options options;
    options.weights = LINNET_F32;
    for (size_t i = 0; i < names.size(); ++i) options.loras.emplace_back("tests/golden/lora/" + names[i], scales[i]);
    linnet::convert::Image image;
    linnet_error err{};
    check(linnet::convert::convert_to_memory(base, options, &image, &err), err);
    const Model merged(image);
    const double of_merged = max_error(golden, each(all_logits(merged, tokens, LINNET_F32)));
    CAPTURE(of_merged);
    CHECK(of_merged < 1e-4);
    std::printf("%s, %zu: %.1e of the largest from PEFT's, merged %.1e\n", names[0].c_str(), names.size(), error, of_merged);

    // Beside quantised weights about as far as those are without adapters.
    const Model i8(base, LINNET_I8G32);
    std::vector<std::unique_ptr<Lora>> beside;
    std::vector<const Lora*> of_i8;
    for (const std::string& name : names) {
      const Folder folder(i8, "tests/golden/lora/" + name);
      beside.push_back(std::make_unique<Lora>(i8, folder.loaded.file));
      of_i8.push_back(beside.back().get());
    }
    CHECK(mean_kl(golden, each(rows_of(i8, tokens, LINNET_F32, of_i8, scales))) < 2e-2);
  }
}

TEST_CASE("a PEFT folder and llama.cpp's GGUF of the same values give the same bytes, and the file goes through linnet_convert") {
  const Model model("tests/golden/llama", LINNET_I8G32);
  const Folder folder(model, "tests/golden/lora/llama-all");
  const Lora of_folder(model, folder.loaded.file);
  // As llama.cpp's converter writes it, by hand: rows of q and k in pairs.
  linnet::convert::SafetensorsTensors tensors;
  const std::string file = slurp("tests/golden/lora/llama-all/adapter_model.safetensors");
  linnet_error err{};
  check(linnet::convert::safetensors_parse(file.data(), file.size(), "it", &tensors, &err), err);
  GgufFile f;
  f.text("general.type", "adapter");
  f.text("general.architecture", "llama");
  f.text("adapter.type", "lora");
  f.f32("adapter.lora.alpha", 7);
  const std::pair<const char*, const char*> names[] = {
      {"self_attn.q_proj", "attn_q"}, {"self_attn.k_proj", "attn_k"}, {"self_attn.v_proj", "attn_v"}, {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},  {"mlp.up_proj", "ffn_up"},      {"mlp.down_proj", "ffn_down"}};
  const uint32_t dim = model.desc.head_dim;
  for (uint32_t layer = 0; layer < model.desc.n_layers; ++layer)
    for (const auto& [hf, gguf] : names)
      for (const bool is_a : {true, false}) {
        const auto& t =
            tensors.at("base_model.model.model.layers." + std::to_string(layer) + "." + hf + (is_a ? ".lora_A" : ".lora_B") + ".weight");
        const size_t row = static_cast<size_t>(t.shape[1]) * 4;
        std::string data(reinterpret_cast<const char*>(t.data), static_cast<size_t>(t.bytes));
        if (const std::string name = gguf; !is_a && (name == "attn_q" || name == "attn_k")) {
          std::string pairs = data;
          for (uint32_t i = 0; i < t.shape[0]; ++i)
            pairs.replace((i - i % dim + i % (dim / 2) * 2 + i % dim / (dim / 2)) * row, row, data.substr(i * row, row));
          data = pairs;
        }
        f.tensors.push_back({"blk." + std::to_string(layer) + "." + gguf + ".weight" + (is_a ? ".lora_a" : ".lora_b"),
                             {t.shape[1], t.shape[0]},
                             linnet::kGgmlF32,
                             data});
      }
  const Lora of_gguf(model, f.bytes());
  CHECK(of_gguf.desc.hash == of_folder.desc.hash);
  CHECK(of_gguf.desc.rank == 5);
  CHECK(of_gguf.desc.alpha == 7);
  CHECK(of_gguf.desc.n_matrices == 14);
  const Tokens tokens = random_tokens(20, model.desc.n_vocab, 1);
  const auto a = rows_of(model, tokens, 0, {&of_folder}), b = rows_of(model, tokens, 0, {&of_gguf});
  for (size_t i = 0; i < a.size(); ++i) CHECK(same_bytes(a[i], b[i]));

  const TemporaryFolder tmp;
  linnet::convert::Options options;
  const std::string out = tmp.path + "/adapter.gguf";
  check(linnet::convert::convert_to_file("tests/golden/lora/llama-all", out, options, &err), err);  // by base_model_name_or_path
  CHECK(slurp(out) == folder.bytes());
  options.base = "tests/golden/qwen3";
  CHECK(linnet::convert::convert_to_file("tests/golden/lora/llama-all", out, options, &err) != LINNET_OK);
}

TEST_CASE("adapters in GGUF lie as llama.cpp's files of the family have their matrices") {
  for (const char* name : {"llama-all", "qwen3-5-linear", "deepseek-v2-qlora-linear", "granite4-h-linear", "lfm2-linear"}) {
    INFO(name);
    const std::string folder = std::string("tests/golden/lora/") + name;
    const auto config = nlohmann::json::parse(slurp(folder + "/adapter_config.json"));
    const std::string base = config["base_model_name_or_path"].get<std::string>();
    linnet_error err{};
    // What merging changes in the family's plain file, matrix by matrix, is B A where the adapter's file has it.
    struct Plain {
      linnet::convert::Image image;
      std::unique_ptr<linnet::Gguf> file = std::make_unique<linnet::Gguf>();
      ~Plain() { linnet::convert::image_free(&image); }
    } plain, merged;
    linnet::convert::Options options;
    options.weights = LINNET_F32, options.plain = true;
    check(linnet::convert::convert_to_memory(base, options, &plain.image, &err), err);
    options.loras = {{folder, 1.0f}};
    check(linnet::convert::convert_to_memory(base, options, &merged.image, &err), err);
    check(linnet::gguf_open(plain.image.data, plain.image.bytes, "plain", plain.file.get(), &err), err);
    check(linnet::gguf_open(merged.image.data, merged.image.bytes, "merged", merged.file.get(), &err), err);
    const Model model(base, LINNET_F32);
    const Folder adapter(model, folder);
    const auto file = std::make_unique<linnet::Gguf>();
    check(linnet::gguf_open(adapter.loaded.file.data, adapter.loaded.file.bytes, "adapter", file.get(), &err), err);
    linnet::GgufValue alpha;
    REQUIRE(file->key("adapter.lora.alpha", &alpha));
    uint32_t compared = 0;
    for (uint32_t i = 0; i < file->n_tensors; ++i) {
      linnet::GgufTensor a, b, before, after;
      file->tensor_entry(i, &a);
      std::string of(a.name);
      if (!of.ends_with(".lora_a")) continue;
      REQUIRE(file->tensor(of.substr(0, of.size() - 1) + "b", &b));
      of.resize(of.size() - 7);
      // Rows of matrices that the family's files have in one are not looked for.
      if (!plain.file->tensor(of, &before) || before.dims[1] != b.dims[1] || before.n_dims != 2 || before.type != linnet::kGgmlF32)
        continue;
      REQUIRE(merged.file->tensor(of, &after));
      INFO(of);
      const size_t k = static_cast<size_t>(a.dims[0]), rank = static_cast<size_t>(a.dims[1]), n = static_cast<size_t>(b.dims[1]);
      const auto values = [](const linnet::GgufTensor& t) {
        std::vector<float> v(static_cast<size_t>(t.bytes) / 4);
        std::memcpy(v.data(), t.data, v.size() * 4);
        return v;
      };
      const auto va = values(a), vb = values(b), w = values(before), m = values(after);
      double most = 0, top = 0;
      for (size_t r = 0; r < n; ++r)
        for (size_t c = 0; c < k; ++c) {
          double sum = 0;
          for (size_t j = 0; j < rank; ++j) sum += static_cast<double>(vb[r * rank + j]) * static_cast<double>(va[j * k + c]);
          sum *= alpha.f / static_cast<double>(rank);
          const double changed = static_cast<double>(m[r * k + c]) - static_cast<double>(w[r * k + c]);
          most = std::max(most, std::abs(changed - sum));
          top = std::max(top, std::abs(sum));
        }
      CHECK(most < 1e-5 * top + 1e-6);
      ++compared;
    }
    CHECK(compared >= 6);
  }
}

TEST_CASE("merging by the C ABI is the tool's, and a packed file is refused") {
  const TemporaryFolder tmp;
  const std::string one = tmp.path + "/one.gguf", other = tmp.path + "/other.gguf", adapter_file = tmp.path + "/adapter.gguf";
  const char* const loras[] = {"tests/golden/lora/llama-all", "tests/golden/lora/llama-rslora"};
  const float scales[] = {0.5f, -1.0f};
  linnet_convert_params p{.size = sizeof p};
  linnet_error err{};
  p.loras = loras, p.lora_scales = scales, p.n_loras = 2;
  check(linnet_convert_file("tests/golden/llama", one.c_str(), &p, nullptr, &err), err);
  linnet::convert::Options options;
  options.loras = {{loras[0], 0.5f}, {loras[1], -1.0f}};
  check(linnet::convert::convert_to_file("tests/golden/llama", other, options, &err), err);
  CHECK(slurp(one) == slurp(other));
  options.loras.clear();
  check(linnet::convert::convert_to_file("tests/golden/llama", other, options, &err), err);
  CHECK(slurp(one) != slurp(other));
  linnet_source* source = nullptr;
  linnet_view view{};
  CHECK(linnet_convert_open(&source, one.c_str(), &p, &view, nullptr, &err) == LINNET_UNSUPPORTED);
  p.layout = LINNET_LAYOUT_PLAIN, p.weights = LINNET_F32;
  CHECK(linnet_convert_file(one.c_str(), other.c_str(), &p, nullptr, &err) == LINNET_UNSUPPORTED);
  p.n_loras = 65;
  CHECK(linnet_convert_file("tests/golden/llama", other.c_str(), &p, nullptr, &err) == LINNET_BAD_ARG);
  // The folder of an adapter, by its model in any form.
  linnet_convert_params of_adapter{.size = sizeof of_adapter};
  std::string first;
  for (const char* base : {static_cast<const char*>(nullptr), "tests/golden/llama", one.c_str()}) {
    of_adapter.base = base;
    check(linnet_convert_file(loras[0], adapter_file.c_str(), &of_adapter, nullptr, &err), err);
    if (first.empty()) first = slurp(adapter_file);
    CHECK(slurp(adapter_file) == first);
  }
  of_adapter.base = "tests/golden/no-such";
  CHECK(linnet_convert_file(loras[0], adapter_file.c_str(), &of_adapter, nullptr, &err) != LINNET_OK);
}

TEST_CASE("the same bytes whatever tier, threads, chunk and company") {
  constexpr const char* kNames[] = {"llama",     "qwen3",      "phi3", "qwen3-5", "granite4-h", "lfm2", "deepseek-v2-qlora",
                                    "qwen2-moe", "kimi-linear"};
  for (const char* name : kNames)
    for (const linnet_format weights : {LINNET_I8G128, LINNET_F32, LINNET_I4G32}) {
      if ((kSlow && weights == LINNET_F32) || (weights != LINNET_I8G128 && name != kNames[0] && name != kNames[1] && name != kNames[2]))
        continue;
      INFO(name << " " << linnet_format_name(weights));
      const std::string base = std::string("tests/golden/") + name;
      Model first(base, weights);
      const uint32_t n_vocab = first.desc.n_vocab;
      const std::string files[] = {adapter(first, 5, 1).bytes(), adapter(first, 40, 2).bytes(),
                                   adapter(first, 16, 3, {linnet::kAttnV, linnet::kFfnDown}).bytes()};
      const Tokens texts[] = {random_tokens(45, n_vocab, 1), random_tokens(37, n_vocab, 2), random_tokens(33, n_vocab, 3),
                              random_tokens(41, n_vocab, 4)};
      // Sequences of a call: adapters 0; 1 and 2; none; 2 by half.
      const std::vector<std::vector<uint32_t>> uses = {{0}, {1, 2}, {}, {2}};
      std::vector<Row> want(4), alone;
      for (const linnet_isa isa : tiers()) {
        Model model(base, weights, isa);
        const Lora loras[] = {Lora(model, files[0]), Lora(model, files[1]), Lora(model, files[2])};
        const auto give = [&](const Session& s, uint32_t seq, uint32_t use) {
          std::vector<const Lora*> list;
          for (const uint32_t i : uses[use]) list.push_back(&loras[i]);
          set(s, seq, list, use == 3 ? std::vector<float>{0.5f} : std::vector<float>{});
        };
        for (const uint32_t threads : {1u, 3u})
          for (const uint32_t chunk : {7u, 64u}) {
            if (kSlow && threads == 3 && chunk == 7) continue;
            INFO(linnet_isa_name(isa) << ", " << threads << " threads, chunks of " << chunk);
            for (uint32_t i = 0; i < 4; ++i) {
              const Session s(model, with_rank(params(0, threads, chunk, 1, 64), 64));
              give(s, 0, i);
              prefill(s, 0, texts[i]);
              if (want[i].empty()) want[i] = s.logits();
              CHECK(same_bytes(want[i], s.logits()));
              for (uint32_t j = 0; j < i; ++j) CHECK_FALSE(same_bytes(want[j], want[i]));
            }
            // Without adapters a session that has room for them computes as one that has none.
            Session none(model, params(0, threads, chunk, 1, 64));
            none.prefill(texts[2]);
            CHECK(same_bytes(want[2], none.logits()));
            const Session together(model, with_rank(params(0, threads, chunk, 1, 64), 64, 4));
            for (uint32_t i = 0; i < 4; ++i) give(together, i, i);
            std::vector<linnet_rows> rows;
            for (uint32_t i = 0; i < 4; ++i)
              rows.push_back({.size = sizeof(linnet_rows), .seq = i, .n_tokens = texts[i].size() - 1, .tokens = texts[i].data()});
            linnet_error err{};
            check(linnet_prefill_batch(together.s, rows.data(), 4, &err), err);
            for (uint32_t i = 0; i < 4; ++i) rows[i] = {.size = sizeof(linnet_rows), .seq = i, .n_tokens = 1, .tokens = &texts[i].back()};
            std::swap(rows[0], rows[3]);
            check(linnet_prefill_batch(together.s, rows.data(), 4, &err), err);
            for (uint32_t i = 0; i < 4; ++i) CHECK(same_bytes(want[i], logits_of(together, i)));
          }
      }
    }
}

TEST_CASE("several adapters add up, a scale of 0 is none, and a sequence switches when it is empty") {
  const Model model("tests/golden/qwen3", LINNET_F32);
  const Tokens tokens = random_tokens(21, model.desc.n_vocab, 5);
  const Lora a(model, adapter(model, 8, 1).bytes()), b(model, adapter(model, 3, 2).bytes());
  // One of rank 11 that is the sum of 2 a and 3 b: [A_a; A_b], [2 B_a, 3 B_b].
  GgufFile of_a = adapter(model, 8, 1), of_b = adapter(model, 3, 2), sum = of_a;
  for (size_t i = 0; i < sum.tensors.size(); i += 2) {
    sum.tensors[i].dims[1] = 11;
    sum.tensors[i].data += of_b.tensors[i].data;
    auto& t = sum.tensors[i + 1];
    t.dims[0] = 11;
    t.data.clear();
    for (uint64_t r = 0; r < t.dims[1]; ++r)
      for (uint64_t j = 0; j < 11; ++j) {
        float v = 0;
        std::memcpy(&v, j < 8 ? of_a.tensors[i + 1].data.data() + (r * 8 + j) * 4 : of_b.tensors[i + 1].data.data() + (r * 3 + j - 8) * 4,
                    4);
        t.data += le(v * (j < 8 ? 2.0f : 3.0f));
      }
  }
  sum.key("adapter.lora.alpha")->value = le(uint32_t{linnet::kGgufF32}) + le(5.5f);
  const Lora both(model, sum.bytes());
  const auto two = rows_of(model, tokens, LINNET_F32, {&a, &b}, {2, 3}), one = rows_of(model, tokens, LINNET_F32, {&both});
  CHECK(max_error(two, one) < 1e-5);
  const auto only = rows_of(model, tokens, LINNET_F32, {&a, &b}, {1, 0}), alone = rows_of(model, tokens, LINNET_F32, {&a});
  for (size_t i = 0; i < only.size(); ++i) CHECK(same_bytes(only[i], alone[i]));

  Session s(model, with_rank(params(LINNET_F32, 2, 16, 1, 64), 32, 2));
  const auto with = [&](const std::vector<const Lora*>& list) {
    linnet_error err{};
    check(linnet_truncate(s.s, 0, 0, &err), err);
    set(s, 0, list);
    prefill(s, 0, tokens);
    return logits_of(s, 0);
  };
  const Row plain = with({}), of_one = with({&a}), of_other = with({&b});
  CHECK_FALSE(same_bytes(plain, of_one));
  CHECK_FALSE(same_bytes(of_one, of_other));
  CHECK(same_bytes(with({&a}), of_one));
  CHECK(same_bytes(with({}), plain));
  // What is there was made by others; a fork takes them along, and a rollback keeps them.
  (void)with({&a});
  linnet_error err{};
  const linnet_lora* other = b.l;
  CHECK(linnet_lora_set(s.s, 0, &other, nullptr, 1, &err) == LINNET_BAD_STATE);
  CHECK(linnet_lora_set(s.s, 0, nullptr, nullptr, 0, &err) == LINNET_BAD_STATE);
  check(linnet_fork(s.s, 0, 1, 10, &err), err);
  check(linnet_truncate(s.s, 0, 7, &err), err);
  prefill(s, 1, Tokens(tokens.begin() + 10, tokens.end()));
  prefill(s, 0, Tokens(tokens.begin() + 7, tokens.end()));
  CHECK(same_bytes(logits_of(s, 1), of_one));
  CHECK(same_bytes(logits_of(s, 0), of_one));
  check(linnet_truncate(s.s, 0, 0, &err), err);
  prefill(s, 0, tokens);
  CHECK(same_bytes(logits_of(s, 0), of_one));
}

TEST_CASE("equal bytes over decoding, embeddings and generation; decoding equals prefilling") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Tokens tokens = random_tokens(30, model.desc.n_vocab, 8);
  const Lora a(model, adapter(model, 7, 4).bytes());
  Session whole(model, with_rank(params(0, 2, 32, 1, 64), 16));
  set(whole, 0, {&a});
  whole.prefill(tokens);
  Session single(model, with_rank(params(0, 1, 32, 1, 64), 16));
  set(single, 0, {&a});
  for (const int32_t t : tokens) single.prefill({t});
  CHECK(same_bytes(whole.logits(), single.logits()));
  for (int i = 0; i < 8; ++i) CHECK(whole.decode() == single.decode());
  CHECK(same_bytes(whole.logits(), single.logits()));

  linnet_error err{};
  const auto vector = [&](const std::vector<const Lora*>& list) {
    Session s(model, with_rank(params(0, 1, 16, 1, 64), 16));
    set(s, 0, list);
    Row out(model.desc.d_model);
    const linnet_rows row = {.size = sizeof row, .seq = 0, .n_tokens = tokens.size(), .tokens = tokens.data()};
    check(linnet_embed(s.s, &row, 1, nullptr, out.data(), out.size(), &err), err);
    return out;
  };
  CHECK_FALSE(same_bytes(vector({}), vector({&a})));
  CHECK(same_bytes(vector({&a}), vector({&a})));
}

TEST_CASE("a state with adapters rolls back to the bytes that it had") {
  for (const char* name : {"qwen3-5", "granite4-h", "lfm2"}) {
    INFO(name);
    const Model model(std::string("tests/golden/") + name, LINNET_I8G128);
    const Tokens tokens = random_tokens(60, model.desc.n_vocab, 8), others = random_tokens(20, model.desc.n_vocab, 9);
    const Lora a(model, adapter(model, 7, 4).bytes());
    linnet_session_params p = with_rank(params(0, 2, 16, 1, 128), 16, 2);
    p.n_rollback = 4, p.n_checkpoints = 2, p.checkpoint_every = 16;
    Session s(model, p), fresh(model, p);
    set(s, 0, {&a});
    set(fresh, 0, {&a});
    s.prefill(tokens);
    linnet_error err{};
    for (const uint32_t keep : {58u, 33u, 5u}) {
      check(linnet_truncate(s.s, 0, keep, &err), err);
      s.prefill(others);
      check(linnet_truncate(fresh.s, 0, 0, &err), err);
      Tokens whole(tokens.begin(), tokens.begin() + keep);
      whole.insert(whole.end(), others.begin(), others.end());
      fresh.prefill(whole);
      CHECK(same_bytes(s.logits(), fresh.logits()));
      check(linnet_truncate(s.s, 0, keep, &err), err);
      s.prefill(Tokens(tokens.begin() + keep, tokens.end()));
    }
  }
}

TEST_CASE("a head's adapter changes the rows of its own sequence alone, however many get logits") {
  for (const char* name : {"llama", "lfm2"}) {  // a head of its own, and the embedding's
    INFO(name);
    const Model model(std::string("tests/golden/") + name, LINNET_I8G128);
    const Lora a(model, adapter(model, 7, 4, {linnet::kOutput}).bytes()), b(model, adapter(model, 3, 5, {linnet::kOutput}).bytes());
    CHECK(a.desc.n_matrices == 1);
    const std::vector<std::vector<const Lora*>> uses = {{&a}, {}, {&a}, {&b, &a}};
    constexpr uint32_t kLogits = 5;
    std::vector<Tokens> texts;
    std::vector<std::vector<Row>> want;
    for (uint32_t i = 0; i < 4; ++i) {
      texts.push_back(random_tokens(9 + i, model.desc.n_vocab, 30 + i));
      const Session alone(model, with_rank(params(0, 1, 64, kLogits, 64), 32));
      set(alone, 0, uses[i]);
      prefill(alone, 0, texts[i]);
      want.emplace_back();
      for (uint32_t back = 0; back < kLogits; ++back) want[i].push_back(logits_of(alone, 0, back));
      // What comes before the head is the model's own.
      const Session plain(model, with_rank(params(0, 1, 64, kLogits, 64), 32));
      prefill(plain, 0, texts[i]);
      for (uint32_t back = 0; back < kLogits; ++back) CHECK(same_bytes(logits_of(plain, 0, back), want[i][back]) == uses[i].empty());
    }
    for (const uint32_t threads : {1u, 3u}) {
      const Session s(model, with_rank(params(0, threads, 64, 1, 64), 32, 4));
      std::vector<linnet_rows> rows;
      for (uint32_t i = 0; i < 4; ++i) {
        set(s, i, uses[i]);
        rows.push_back({.size = sizeof(linnet_rows), .seq = i, .n_tokens = texts[i].size(), .tokens = texts[i].data()});
      }
      linnet_error err{};
      check(linnet_prefill_batch(s.s, rows.data(), 4, &err), err);
      for (uint32_t i = 0; i < 4; ++i) CHECK(same_bytes(want[i][0], logits_of(s, i)));  // a batch's are those of last rows
    }
  }
}

TEST_CASE("merging into a tied head gives the model one of its own and leaves the embedding") {
  linnet::convert::Options options;
  options.weights = LINNET_F32, options.plain = true;
  struct Plain {
    linnet::convert::Image image;
    std::unique_ptr<linnet::Gguf> file = std::make_unique<linnet::Gguf>();
    ~Plain() { linnet::convert::image_free(&image); }
  } before, after;
  linnet_error err{};
  for (Plain* p : {&before, &after}) {
    if (p == &after) options.loras = {{"tests/golden/lora/lfm2-head", 1.0f}};
    check(linnet::convert::convert_to_memory("tests/golden/lfm2", options, &p->image, &err), err);
    check(linnet::gguf_open(p->image.data, p->image.bytes, "it", p->file.get(), &err), err);
  }
  linnet::GgufTensor embedding, same, head;
  REQUIRE(before.file->tensor("token_embd.weight", &embedding));
  CHECK_FALSE(before.file->tensor("output.weight", &head));
  REQUIRE(after.file->tensor("token_embd.weight", &same));
  REQUIRE(after.file->tensor("output.weight", &head));
  REQUIRE(embedding.bytes == same.bytes);
  REQUIRE(embedding.bytes == head.bytes);
  const auto n = static_cast<size_t>(embedding.bytes);
  CHECK(std::memcmp(embedding.data, same.data, n) == 0);
  CHECK(std::memcmp(embedding.data, head.data, n) != 0);
}

TEST_CASE("states know the adapters of their sequence") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Tokens tokens = random_tokens(30, model.desc.n_vocab, 8);
  const Lora a(model, adapter(model, 7, 4).bytes()), b(model, adapter(model, 7, 5).bytes());
  Session s(model, with_rank(params(0, 1, 32, 1, 64), 32));
  const auto save = [&](const std::vector<const Lora*>& list, const std::vector<float>& scales = {}) {
    linnet_error err{};
    check(linnet_truncate(s.s, 0, 0, &err), err);
    set(s, 0, list, scales);
    s.prefill(tokens);
    size_t n = 0;
    check(linnet_state_need(s.s, 0, &n, &err), err);
    std::string out(n, '\0');
    check(linnet_state_save(s.s, 0, out.data(), n, &n, &err), err);
    REQUIRE(n == out.size());
    return out;
  };
  const std::string plain = save({}), of_a = save({&a}), of_b = save({&b}), half = save({&a}, {0.5f}), both = save({&a, &b}),
                    turned = save({&b, &a});
  CHECK(of_a.size() == plain.size() + 28);
  const auto load = [&](const std::vector<const Lora*>& list, const std::vector<float>& scales, const std::string& state,
                        std::string* why) {
    Session other(model, with_rank(params(0, 1, 8, 1, 64), 32));
    set(other, 0, list, scales);
    linnet_error err{};
    const linnet_status status = linnet_state_load(other.s, 0, state.data(), state.size(), &err);
    *why = err.text;
    if (status == LINNET_OK) {
      size_t n = 0;
      check(linnet_state_length(state.data(), state.size(), &n, &err), err);
      CHECK(n == tokens.size());
      other.prefill({5});
      Session again(model, with_rank(params(0, 1, 32, 1, 64), 32));
      set(again, 0, list, scales);
      Tokens longer = tokens;
      longer.push_back(5);
      again.prefill(longer);
      CHECK(same_bytes(again.logits(), other.logits()));
    }
    return status;
  };
  std::string why;
  CHECK(load({}, {}, plain, &why) == LINNET_OK);
  CHECK(load({&a}, {}, of_a, &why) == LINNET_OK);
  CHECK(load({&a}, {0.5f}, half, &why) == LINNET_OK);
  CHECK(load({&a, &b}, {}, both, &why) == LINNET_OK);
  CHECK(load({}, {}, of_a, &why) == LINNET_UNSUPPORTED);
  CHECK(why.find("made with adapters") != why.npos);
  CHECK(load({&a}, {}, plain, &why) == LINNET_UNSUPPORTED);
  CHECK(why.find("made without adapters") != why.npos);
  for (const std::string* state : {&of_b, &half, &both, &turned}) {
    CHECK(load({&a}, {}, *state, &why) == LINNET_UNSUPPORTED);
    CHECK(why.find("other adapters or scales") != why.npos);
  }
  CHECK(load({&b, &a}, {}, both, &why) == LINNET_UNSUPPORTED);
  for (size_t cut = 0; cut < of_a.size(); cut += cut < 400 ? 1 : 997) CHECK(load({&a}, {}, of_a.substr(0, cut), &why) == LINNET_BAD_FILE);
}

TEST_CASE("the prefix cache keeps sequences with other adapters apart") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Tokens tokens = random_tokens(50, model.desc.n_vocab, 8);
  const Lora a(model, adapter(model, 7, 4).bytes()), b(model, adapter(model, 7, 5).bytes());
  Session s(model, with_rank(params(0, 1, 32, 1, 64), 32));
  linnet_error err{};
  const size_t budget = 1 << 20;
  linnet_need need{.size = sizeof need};
  check(linnet_prefix_need(s.s, budget, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_prefix* p = nullptr;
  check(linnet_prefix_init(&p, memory.p, need.bytes, s.s, &err), err);
  const auto empty = [&](const std::vector<const Lora*>& list, const std::vector<float>& scales = {}) {
    check(linnet_truncate(s.s, 0, 0, &err), err);
    set(s, 0, list, scales);
  };
  const auto match = [&](const std::vector<const Lora*>& list, const std::vector<float>& scales = {}) {
    empty(list, scales);
    size_t n = 0;
    check(linnet_prefix_match(p, s.s, 0, tokens.data(), tokens.size() - 1, &n, &err), err);
    return n;
  };
  const auto whole = [&](const std::vector<const Lora*>& list, const std::vector<float>& scales = {}) {
    empty(list, scales);
    s.prefill(tokens);
    return s.logits();
  };
  const auto rest = [&](size_t from) {
    s.prefill(Tokens(tokens.begin() + static_cast<long>(from), tokens.end()));
    return s.logits();
  };
  size_t kept = 0;
  const Row of_a = whole({&a});
  check(linnet_prefix_keep(p, s.s, 0, &kept, &err), err);
  REQUIRE(kept == 50);
  CHECK(match({}) == 0);
  CHECK(match({&b}) == 0);
  CHECK(match({&a}, {0.5f}) == 0);
  CHECK(match({&a, &b}) == 0);
  CHECK(match({&a}) == 49);
  CHECK(same_bytes(rest(49), of_a));
  const Row plain = whole({});
  check(linnet_prefix_keep(p, s.s, 0, &kept, &err), err);
  const Row of_both = whole({&a, &b});
  check(linnet_prefix_keep(p, s.s, 0, &kept, &err), err);
  CHECK(match({}) == 49);
  CHECK(same_bytes(rest(49), plain));
  CHECK(match({&a, &b}) == 49);
  CHECK(same_bytes(rest(49), of_both));
  CHECK(match({&a}) == 49);
  CHECK(same_bytes(rest(49), of_a));
  CHECK(match({&b}) == 0);
  // As bytes goes what was computed without.
  size_t n_bytes = 0, n_tokens = 0;
  CHECK(linnet_prefix_export(p, tokens.data(), tokens.size(), 0, nullptr, 0, &n_bytes, &n_tokens, &err) == LINNET_TOO_SMALL);
  CHECK(n_tokens == 50);
  std::string bytes(n_bytes, '\0');
  check(linnet_prefix_export(p, tokens.data(), tokens.size(), 0, bytes.data(), n_bytes, &n_bytes, &n_tokens, &err), err);
  // Dropped are all of them.
  check(linnet_prefix_drop(p, tokens.data(), 40, &err), err);
  for (const auto& list : {std::vector<const Lora*>{}, {&a}, {&a, &b}}) CHECK(match(list) == 32);
  check(linnet_prefix_drop(p, nullptr, 0, &err), err);
  for (const auto& list : {std::vector<const Lora*>{}, {&a}, {&a, &b}}) CHECK(match(list) == 0);
  check(linnet_prefix_import(p, bytes.data(), bytes.size(), &n_tokens, &err), err);
  CHECK(match({&a}) == 0);
  CHECK(match({}) == 49);
  CHECK(same_bytes(rest(49), plain));
}

TEST_CASE("what does not fit is refused by name") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  std::string why;
  const GgufFile good = adapter(model, 4, 1);
  CHECK(refusal(model, good, &why) == LINNET_OK);
  const auto bad = [&](linnet_status status, const char* word, const auto& change) {
    GgufFile f = good;
    change(f);
    CAPTURE(word);
    CHECK(refusal(model, f, &why) == status);
    CAPTURE(why);
    CHECK(why.find(word) != why.npos);
  };
  const std::string q = "blk.0.attn_q.weight", a = q + ".lora_a", b = q + ".lora_b";
  bad(LINNET_UNSUPPORTED, "general.type",
      [](GgufFile& f) { f.key("general.type")->value = le(uint32_t{linnet::kGgufString}) + lstr("model"); });
  bad(LINNET_BAD_FILE, "general.type", [](GgufFile& f) { f.remove("general.type"); });
  bad(LINNET_UNSUPPORTED, "adapter.type",
      [](GgufFile& f) { f.key("adapter.type")->value = le(uint32_t{linnet::kGgufString}) + lstr("ia3"); });
  bad(LINNET_UNSUPPORTED, "general.architecture",
      [](GgufFile& f) { f.key("general.architecture")->value = le(uint32_t{linnet::kGgufString}) + lstr("qwen3"); });
  bad(LINNET_BAD_FILE, "alpha", [](GgufFile& f) { f.key("adapter.lora.alpha")->value = le(uint32_t{linnet::kGgufF32}) + le(NAN); });
  bad(LINNET_UNSUPPORTED, "invocation_tokens", [](GgufFile& f) { f.u32("adapter.alora.invocation_tokens", 1); });
  bad(LINNET_BAD_FILE, "holds no tensors", [](GgufFile& f) { f.tensors.clear(); });
  bad(LINNET_BAD_FILE, a.c_str(), [&](GgufFile& f) {
    f.remove(a);
    f.tensor(b)->dims = {4, 96};
  });
  bad(LINNET_BAD_FILE, b.c_str(), [&](GgufFile& f) { f.remove(b); });
  bad(LINNET_BAD_FILE, q.c_str(), [&](GgufFile& f) { f.tensor(a)->dims[0] -= 1; });
  bad(LINNET_BAD_FILE, q.c_str(), [&](GgufFile& f) { f.tensor(b)->dims[1] -= 1; });
  bad(LINNET_BAD_FILE, q.c_str(), [&](GgufFile& f) { f.tensor(b)->dims[0] -= 1; });
  bad(LINNET_BAD_FILE, a.c_str(), [&](GgufFile& f) { std::memcpy(f.tensor(a)->data.data() + 44, le(NAN).data(), 4); });
  bad(LINNET_BAD_FILE, b.c_str(), [&](GgufFile& f) { std::memcpy(f.tensor(b)->data.data() + 44, le(HUGE_VALF).data(), 4); });
  bad(LINNET_UNSUPPORTED, "Q8_0", [&](GgufFile& f) {
    f.tensor(a)->type = linnet::kGgmlQ8_0;
    f.tensor(a)->data = tensor_data(linnet::kGgmlQ8_0, 64 * 4, 1);
  });
  bad(LINNET_UNSUPPORTED, "blk.0.ffn_norm.weight",
      [&](GgufFile& f) { f.tensors.push_back({"blk.0.ffn_norm.weight", {64}, 0, std::string(256, '\0')}); });
  for (const char* name :
       {"token_embd.weight", "output_norm.weight", "blk.0.attn_norm.weight", "blk.2.attn_q.weight", "blk.0.ffn_gate_exps.weight", "blk..x"})
    bad(LINNET_UNSUPPORTED, name, [&](GgufFile& f) {
      f.tensors.push_back({std::string(name) + ".lora_a", {64, 4}, 0, std::string(64 * 16, '\0')});
      f.tensors.push_back({std::string(name) + ".lora_b", {4, 64}, 0, std::string(64 * 16, '\0')});
    });
  bad(LINNET_BAD_FILE, "output.weight", [&](GgufFile& f) { f.tensor("output.weight.lora_b")->dims[1] -= 1; });
  bad(LINNET_UNSUPPORTED, "rank 257", [&](GgufFile& f) {
    f.tensor(a)->dims = {64, 257}, f.tensor(a)->data = std::string(64 * 257 * 4, '\0');
    f.tensor(b)->dims = {257, 96}, f.tensor(b)->data = std::string(257 * 96 * 4, '\0');
  });
  bad(LINNET_BAD_FILE, "another adapter", [&](GgufFile& f) {
    f.tensors.push_back({"blk.0.attn_qkv.weight.lora_a", {64, 4}, 0, std::string(64 * 16, '\0')});
    f.tensors.push_back({"blk.0.attn_qkv.weight.lora_b", {4, 192}, 0, std::string(192 * 16, '\0')});
  });
  const GgufFile most = adapter(model, 256, 1, {linnet::kAttnQ});
  CHECK(refusal(model, most, &why) == LINNET_OK);

  // Of layers of other kinds.
  const Model latent("tests/golden/deepseek-v2", LINNET_I8G128), experts("tests/golden/mixtral", LINNET_I8G128);
  CHECK(refusal(latent, adapter(latent, 4, 1, {linnet::kAttnKB}), &why) == LINNET_UNSUPPORTED);
  CHECK(refusal(latent, adapter(latent, 4, 1, {linnet::kAttnQ, linnet::kAttnKvA}), &why) == LINNET_OK);
  CHECK(refusal(latent, adapter(latent, 4, 1, {linnet::kFfnDown}), &why) == LINNET_OK);
  CHECK(refusal(experts, adapter(experts, 4, 1, {linnet::kExpertUp}), &why) == LINNET_UNSUPPORTED);
  CHECK(refusal(experts, adapter(experts, 4, 1, {linnet::kAttnK}), &why) == LINNET_OK);

  // By sessions.
  const Lora lora(model, good.bytes());
  const Model twin("tests/golden/llama", LINNET_I8G128);
  const Lora of_twin(twin, good.bytes());
  CHECK(of_twin.desc.hash == lora.desc.hash);
  linnet_error err{};
  const auto refuse = [&](const linnet_session_params& p, const Lora& l, uint32_t n, float scale, linnet_status status, const char* word) {
    const Session s(model, p);
    const std::vector<const linnet_lora*> list(n, l.l);
    const std::vector<float> scales(n, scale);
    CHECK(linnet_lora_set(s.s, 0, list.data(), scales.data(), n, &err) == status);
    CAPTURE(word, err.text);
    if (status != LINNET_OK) CHECK(std::string(err.text).find(word) != std::string::npos);
  };
  const linnet_session_params p = params(0, 1, 8, 1, 64);
  refuse(with_rank(p, 16), lora, 1, 1, LINNET_OK, "");
  refuse(with_rank(p, 1), lora, 1, 1, LINNET_OK, "");
  refuse(with_rank(p, 128), lora, 8, 1, LINNET_OK, "");
  refuse(p, lora, 1, 1, LINNET_BAD_ARG, "lora_rank is 0");
  refuse(p, lora, 1, 0, LINNET_OK, "");
  refuse(with_rank(p, 16), lora, 2, 1, LINNET_BAD_ARG, "ranks of 32");
  refuse(with_rank(p, 256), lora, 9, 1, LINNET_BAD_ARG, "at most 8");
  refuse(with_rank(p, 16), of_twin, 1, 1, LINNET_BAD_ARG, "another model");
  refuse(with_rank(p, 16), lora, 1, NAN, LINNET_BAD_ARG, "not finite");
  linnet_need need{.size = sizeof need};
  linnet_session_params wrong = with_rank(p, 2049);
  CHECK(linnet_session_need(model.m, &wrong, &need, &err) == LINNET_BAD_ARG);
  const Session s(model, with_rank(p, 16));
  const linnet_lora* none = nullptr;
  CHECK(linnet_lora_set(s.s, 0, &none, nullptr, 1, &err) == LINNET_BAD_ARG);
  CHECK(linnet_lora_set(s.s, 1, &none, nullptr, 0, &err) == LINNET_BAD_ARG);
  CHECK(linnet_lora_set(s.s, 0, nullptr, nullptr, 1, &err) == LINNET_BAD_ARG);
  CHECK(linnet_lora_need(nullptr, nullptr, &need, &err) == LINNET_BAD_ARG);
  CHECK(linnet_lora_info(nullptr, nullptr, &err) == LINNET_BAD_ARG);
}

TEST_CASE("PEFT folders of what linnet does not compute are refused by name") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const auto refused_folder = [&](const std::string& from, const std::string& to, const std::string& word) {
    const TemporaryFolder tmp;
    std::string config = slurp("tests/golden/lora/llama-all/adapter_config.json");
    const size_t at = config.find(from);
    REQUIRE(at != config.npos);
    config.replace(at, from.size(), to);
    std::ofstream(tmp.path + "/adapter_config.json") << config;
    std::filesystem::copy("tests/golden/lora/llama-all/adapter_model.safetensors", tmp.path);
    linnet::convert::Loaded loaded;
    linnet_error err{};
    const linnet_status status = linnet::convert::load_adapter(tmp.path, model.image.view(), &loaded, &err);
    CAPTURE(word, err.text);
    CHECK((status == LINNET_UNSUPPORTED || status == LINNET_BAD_FILE));
    CHECK(std::string(err.text).find(word) != std::string::npos);
    linnet::convert::unload(&loaded);
  };
  const auto refused_head = [](const char* from, const char* to, const std::string& word) {
    const Model tied("tests/golden/lfm2", LINNET_I8G128);
    const TemporaryFolder tmp;
    for (const char* file : {"/adapter_config.json", "/adapter_model.safetensors"}) {
      std::string bytes = slurp(std::string("tests/golden/lora/lfm2-head") + file);
      if (const size_t at = bytes.find(from); at != bytes.npos) bytes.replace(at, std::strlen(from), to);
      std::ofstream(tmp.path + file, std::ios::binary) << bytes;
    }
    linnet::convert::Loaded loaded;
    linnet_error err{};
    const linnet_status status = linnet::convert::load_adapter(tmp.path, tied.image.view(), &loaded, &err);
    CAPTURE(word, err.text);
    CHECK((status == LINNET_OK) == word.empty());
    CHECK(std::string(err.text).find(word) != std::string::npos);
    linnet::convert::unload(&loaded);
  };
  refused_head("no such text", "", "");
  refused_head("\"ensure_weight_tying\": false", "\"ensure_weight_tying\": true", "ensure_weight_tying");
  refused_head("\"shape\":[67,40]", "\"shape\":[40,67]", "base_layer");  // of another vocabulary
  refused_folder("\"use_dora\": false", "\"use_dora\": true", "DoRA");
  refused_folder("\"peft_type\": \"LORA\"", "\"peft_type\": \"LOHA\"", "LOHA");
  refused_folder("\"bias\": \"none\"", "\"bias\": \"all\"", "bias");
  refused_folder("\"modules_to_save\": null", "\"modules_to_save\": [\"lm_head\"]", "modules_to_save");
  refused_folder("\"init_lora_weights\": true", "\"init_lora_weights\": \"pissa_niter_4\"", "pissa");
  refused_folder("\"lora_alpha\": 7", "\"lora_alpha\": 0", "lora_alpha");
  refused_folder("\"alpha_pattern\": {}", "\"alpha_pattern\": {\".*q_proj\": 3}", "alpha_pattern");
  linnet::convert::Loaded loaded;
  linnet_error err{};
  const Model qwen("tests/golden/qwen3", LINNET_I8G128);
  CHECK(linnet::convert::load_adapter("tests/golden/lora/llama-all", qwen.image.view(), &loaded, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("mlp.down_proj.lora_A") != std::string::npos);
}

TEST_CASE("hostile files: every cut, and flipped bytes") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const std::string good = adapter(model, 2, 1, {linnet::kAttnQ, linnet::kFfnUp}).bytes();
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  for (size_t n = 0; n < good.size(); n += n < 2000 ? 1 : 61) {
    const std::string cut = good.substr(0, n);  // ends where its memory does
    const std::vector<char> copy(cut.begin(), cut.end());
    const linnet_view view = {copy.empty() ? "" : copy.data(), copy.size()};
    CHECK(linnet_lora_need(model.m, &view, &need, &err) != LINNET_OK);
  }
  std::mt19937 random(7);
  const size_t header = good.find("blk.1.ffn_up.weight.lora_b") + 64;
  size_t loaded = 0;
  for (int i = 0; i < (kSlow ? 3000 : 20000); ++i) {
    std::vector<char> bytes(good.begin(), good.end());
    for (uint32_t j = 0; j < 1 + random() % 2; ++j) bytes[random() % header] ^= static_cast<char>(1u << random() % 8);
    const linnet_view view = {bytes.data(), bytes.size()};
    if (linnet_lora_need(model.m, &view, &need, &err) != LINNET_OK) continue;
    const Memory memory(need.bytes);
    linnet_lora* l = nullptr;
    loaded += linnet_lora_init(&l, memory.p, need.bytes, model.m, &view, &err) == LINNET_OK;
  }
  CHECK(loaded > 0);
}
