// Converting: GGUF and synthetic models into packed files and plain ones, and what is refused on the way.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels_cpu/encode_blocks.h"
#include "kernels_cpu/pack.h"
#include "runtime/architectures.h"
#include "runtime/convert/convert.h"
#include "runtime/convert/ggml_types.h"
#include "runtime/convert/source.h"
#include "tests/catch2.h"
#include "tests/data.h"
#include "tests/folders.h"
#include "tests/gguf_file.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;
using test::GgufFile;
using test::le;
using test::tiny_model;

namespace {

// A folder that goes away with what is in it.
struct Folder {
  std::string path;
  Folder() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base ? base : "/tmp") + "/linnet-test-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() {
    for (const std::string& f : files()) unlink((path + "/" + f).c_str());
    rmdir(path.c_str());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR* d = opendir(path.c_str());
    while (const dirent* e = readdir(d))
      if (e->d_name[0] != '.') names.push_back(e->d_name);
    closedir(d);
    return names;
  }
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    return path + "/" + name;
  }
  std::string at(const std::string& name) const { return path + "/" + name; }
};

// A packed model in memory, opened.
struct Packed {
  Image image;
  std::unique_ptr<Gguf> g = std::make_unique<Gguf>();
  ModelSpec spec = {};
  linnet_error err = {};
  linnet_status status;
  Packed(const std::string& src, linnet_format weights, linnet_format floats = LINNET_FORMAT_DEFAULT) {
    Options o;
    o.weights = weights;
    o.floats = floats;
    status = convert_to_memory(src, o, &image, &err);
    if (status == LINNET_OK) status = gguf_open(image.data, image.bytes, "packed", g.get(), &err);
    if (status == LINNET_OK) status = spec_read(*g, &spec, &err);
  }
  ~Packed() { image_free(&image); }
  std::vector<float> row(Role role, uint32_t layer, uint32_t i) {
    Matrix m;
    linnet_error e = {};
    const linnet_status s = find_matrix(*g, role, layer, spec, &m, &e);
    INFO(e.text);
    REQUIRE(s == LINNET_OK);
    std::vector<float> y(m.k);
    unpack_row(m.panels, m.scales, m.format, m.n, m.k, i, y.data());
    return y;
  }
};

// load() into a cache and back; which models that holds afterwards, last used first.
struct Kept {
  const Folder& models;
  Folder cache;
  Options options = {};
  std::vector<std::string> notes;
  Kept(const Folder& folder) : models(folder) {
    options.cache = cache.path;
    options.notes = &notes;
  }
  CacheList list() const {
    CacheList l;
    linnet_error err = {};
    REQUIRE(cache_list(cache.path, &l, &err) == LINNET_OK);
    return l;
  }
  std::string after(const std::string& name, Loaded* keep = nullptr) {
    Loaded l;
    linnet_error err = {};
    notes.clear();
    const linnet_status status = load(models.at(name), LINNET_LOAD_MAP, options, &l, &err);
    INFO(err.text);
    REQUIRE(status == LINNET_OK);
    REQUIRE(l.mapped == notes.empty());
    if (keep)
      *keep = l;
    else
      unload(&l);
    std::string names;
    for (const CachedModel& m : list().models) names += (names.empty() ? "" : " ") + m.source.substr(m.source.rfind('/') + 1);
    return names;
  }
  std::string noted() const { return notes.size() == 1 ? notes[0] : std::to_string(notes.size()) + " notes"; }
};

using Rows = std::map<std::pair<uint32_t, uint32_t>, std::vector<float>>;  // (role, layer) -> (n, k)
Rows rows_of(const Source& source) {
  Rows rows;
  for (const SourceTensor& t : source.tensors) {
    std::vector<float>& v = rows[{t.role, t.layer}];
    v.resize(size_t{t.n} * t.k);
    linnet_error err = {};
    REQUIRE(t.rows(0, t.n, v.data(), &err) == LINNET_OK);
  }
  return rows;
}

// The value that a format keeps of x, when `group` holds all values that share its scale.
float stored(linnet_format f, float x, const std::vector<float>& group) {
  if (f == LINNET_F32) return x;
  if (f == LINNET_F16) return f16_to_f32(f32_to_f16(x));
  if (f == LINNET_BF16) return bf16_to_f32(f32_to_bf16(x));
  float amax = 0;
  for (const float v : group) amax = std::fmax(amax, std::fabs(v));
  if (format_row(f).x == LINNET_BF16) {
    const float s = amax / (f != LINNET_F8E5M2 ? 448.0f : 57344.0f);
    return s == 0 ? 0 : (f != LINNET_F8E5M2 ? f8e4m3_to_f32(f32_to_f8e4m3(x / s)) : f8e5m2_to_f32(f32_to_f8e5m2(x / s))) * s;
  }
  float scale = amax / 127.0f;
  if (f == LINNET_I8G32) scale = f16_to_f32(f32_to_f16(scale));
  return scale == 0 ? 0 : std::fmin(127.0f, std::fmax(-127.0f, std::rint(x / scale))) * scale;
}

void import_refused(const GgufFile& f, linnet_status status, const std::vector<std::string>& words) {
  const Folder folder;
  const std::string path = folder.put("m.gguf", f.bytes());
  Source source;
  linnet_error err = {};
  const linnet_status got = source_from_gguf(path, &source, &err);
  CAPTURE(err.text, words);
  CHECK(got == status);
  CHECK(std::string(err.text).find("m.gguf") != std::string::npos);
  for (const std::string& w : words) CHECK(std::string(err.text).find(w) != std::string::npos);
}
template <class Change>
void import_refused_after(Change change, linnet_status status, const std::vector<std::string>& words) {
  GgufFile f = tiny_model();
  change(f);
  import_refused(f, status, words);
}

// Source of a tiny GGUF with a change, or a failed test.
template <class Change>
Source imported(Change change, const std::string& arch = "llama") {
  const Folder folder;
  GgufFile f = tiny_model(kGgmlF32, 1, arch);
  change(f);
  Source source;
  linnet_error err = {};
  const linnet_status s = source_from_gguf(folder.put("m.gguf", f.bytes()), &source, &err);
  INFO(err.text);
  REQUIRE(s == LINNET_OK);
  return source;
}

constexpr linnet_status kBad = LINNET_BAD_FILE, kNot = LINNET_UNSUPPORTED;

// Every weight of a packed model against its source, quantised here; scales of fewer bits are searched for and have their own test.
void check_packed(const std::string& src) {
  for (const FormatRow& row : kFormats) {
    const linnet_format f = row.format;
    if (!format_known(f) || row.bits < 8) continue;
    CAPTURE(src, format_name(f));
    Source source;
    linnet_error err = {};
    const bool folder = src.find(".gguf") == std::string::npos;
    REQUIRE((folder ? source_from_folder(src, &source, &err) : source_from_gguf(src, &source, &err)) == LINNET_OK);
    Packed p(src, f);
    INFO(p.err.text);
    REQUIRE(p.status == LINNET_OK);
    const Rows rows = rows_of(source);
    size_t wrong = 0;
    for (const SourceTensor& t : source.tensors) {
      const std::vector<float>& want = rows.at({t.role, t.layer});
      if (!role_row(t.role).matrix()) {
        const float* v = nullptr;
        REQUIRE(find_vector(*p.g, t.role, t.layer, p.spec, &v, &err) == LINNET_OK);
        wrong += std::memcmp(v, want.data(), want.size() * 4) != 0;
        continue;
      }
      const size_t group = format_row(f).w_group ? format_row(f).w_group : t.k;
      for (uint32_t i = 0; i < t.n; ++i) {
        const std::vector<float> got = p.row(t.role, t.layer, i);
        for (size_t from = 0; from < t.k; from += group) {
          const auto begin = want.begin() + static_cast<ptrdiff_t>(size_t{i} * t.k + from);
          const std::vector<float> g(begin, begin + static_cast<ptrdiff_t>(std::min(group, t.k - from)));
          for (size_t j = 0; j < g.size(); ++j) wrong += got[from + j] != stored(f, g[j], g);
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(p.image.bytes % 64 == 0);
  }
}

}  // namespace

namespace {

// A file as one that tests can change.
GgufFile loaded(const std::string& path) {
  const std::string bytes = slurp(path);
  const auto g = std::make_unique<Gguf>();
  linnet_error err = {};
  REQUIRE(gguf_open(bytes.data(), bytes.size(), "file", g.get(), &err) == LINNET_OK);
  GgufFile f;
  for (uint32_t i = 0; i < g->n_keys; ++i) {
    std::string_view key;
    GgufValue v;
    g->key_entry(i, &key, &v);
    if (key == "general.alignment") continue;
    const std::string payload = v.type == kGgufString  ? test::lstr(std::string(v.text))
                                : v.type == kGgufArray ? le(v.array_type) + le(v.count) + std::string(v.raw)
                                : v.type == kGgufF32   ? le(static_cast<float>(v.f))
                                                       : le(v.u).substr(0, gguf_scalar_bytes(v.type));
    f.raw(std::string(key), v.type, payload);
  }
  for (uint32_t i = 0; i < g->n_tensors; ++i) {
    GgufTensor t;
    g->tensor_entry(i, &t);
    f.tensors.push_back({std::string(t.name), std::vector<uint64_t>(t.dims, t.dims + t.n_dims), t.type,
                         std::string(reinterpret_cast<const char*>(t.data), t.bytes)});
  }
  return f;
}

// Tensors of a layer one below the other, in each of the experts where there are some.
void fuse(GgufFile* f, uint32_t layer, const std::vector<std::string>& names, const std::string& fused) {
  const std::string blk = "blk." + std::to_string(layer) + ".";
  if (!f->tensor(blk + names[0]) || !f->tensor(blk + names[1])) return;
  GgufFile::Tensor t = *f->tensor(blk + names[0]);
  const size_t n_dims = t.dims.size(), row = n_dims > 1 ? 1 : 0, parts = n_dims > 2 ? t.dims[2] : 1;
  t.dims[row] = 0;
  t.data.clear();
  for (size_t part = 0; part < parts; ++part)
    for (const std::string& name : names) {
      const GgufFile::Tensor& from = *f->tensor(blk + name);
      const size_t bytes = from.data.size() / parts;
      if (part == 0) t.dims[row] += from.dims[row];
      t.data += from.data.substr(part * bytes, bytes);
    }
  for (const std::string& name : names) f->remove(blk + name);
  t.name = blk + fused;
  f->tensors.push_back(t);
}

// DeepSeek before its attention was split: of each head the keys' matrix, not transposed, and the values', and sizes of heads instead of
// the latent's.
void fuse_latent(GgufFile* f, const ModelSpec& s) {
  for (uint32_t layer = 0; layer < s.n_layers; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    const std::string k = f->tensor(blk + "attn_k_b.weight")->data, v = f->tensor(blk + "attn_v_b.weight")->data;
    const size_t rank = s.kv_lora_rank, nope = s.qk_nope_dim, each = size_t{s.v_head_dim} * rank * 4;
    std::string both;
    for (uint32_t head = 0; head < s.n_heads; ++head) {
      for (size_t i = 0; i < nope; ++i)
        for (size_t j = 0; j < rank; ++j) both += k.substr(((head * rank + j) * nope + i) * 4, 4);
      both += v.substr(head * each, each);
    }
    f->remove(blk + "attn_k_b.weight"), f->remove(blk + "attn_v_b.weight");
    f->tensors.push_back({blk + "attn_kv_b.weight", {rank, s.n_heads * (nope + s.v_head_dim)}, kGgmlF32, both});
  }
  for (const char* key : {"key_length_mla", "value_length_mla", "key_length", "value_length", "head_count_kv"})
    f->remove("deepseek2.attention." + std::string(key));
  f->u32("deepseek2.attention.key_length", s.qk_nope_dim + s.qk_rope_dim), f->u32("deepseek2.attention.value_length", s.v_head_dim),
      f->u32("deepseek2.attention.head_count_kv", s.n_heads);
}

}  // namespace

TEST_CASE("convert: every weight of a packed file is its source's, quantised") {
  check_packed("tests/golden/qwen2");
  if (const std::string path = data_path("models/stories260Ktok512.gguf"); !path.empty()) check_packed(path);
}

// The scales of i4 are searched for, so the check is on what comes out: no group's squared error is above that of the plain scale, largest
// / -8.
TEST_CASE("convert: 4-bit groups are at least as close as their largest value's own scale makes them") {
  for (const FormatRow& row : kFormats) {
    const linnet_format f = row.format;
    if (row.stored != Stored::kNibbles) continue;
    Source source;
    linnet_error err = {};
    REQUIRE(source_from_folder("tests/golden/qwen2", &source, &err) == LINNET_OK);
    Packed p("tests/golden/qwen2", f);
    INFO(p.err.text);
    REQUIRE(p.status == LINNET_OK);
    const Rows rows = rows_of(source);
    const std::vector<float>& want = rows.at({kFfnDown, 0});
    const uint32_t k = role_k(kFfnDown, 0, p.spec), group = format_row(f).w_group;
    double ours = 0, plain = 0;
    size_t worse = 0;
    for (uint32_t i = 0; i < role_n(kFfnDown, 0, p.spec); ++i) {
      const std::vector<float> got = p.row(kFfnDown, 0, i);
      for (uint32_t from = 0; from < k; from += group) {
        const uint32_t end = std::min(k, from + group);
        const float* x = want.data() + size_t{i} * k;
        float largest = 0;
        for (uint32_t j = from; j < end; ++j) largest = std::fabs(x[j]) > std::fabs(largest) ? x[j] : largest;
        const float scale = f16_to_f32(f32_to_f16(largest / -8.0f));
        double a = 0, b = 0;
        for (uint32_t j = from; j < end; ++j) {
          const double code =
              scale == 0 ? 0 : std::fmin(7.0, std::fmax(-8.0, std::rint(static_cast<double>(x[j]) / static_cast<double>(scale))));
          a += std::pow(static_cast<double>(got[j] - x[j]), 2);
          b += std::pow(code * static_cast<double>(scale) - static_cast<double>(x[j]), 2);
        }
        worse += a > b * 1.0001 + 1e-12;
        ours += a, plain += b;
      }
    }
    CHECK(worse == 0);
    CHECK(ours < 0.97 * plain);
  }
}

TEST_CASE("convert: blocks of every kind are at least as near to their weights as ggml's own quantiser puts them") {
  std::vector<float> x(16 * 1024);  // sums of three, a sixteenth of them four times as large
  uint32_t seed = 12345;
  const auto next = [&] { return static_cast<int32_t>((seed = seed * 1664525u + 1013904223u) >> 8); };
  for (float& v : x) {
    const int32_t sum = next() + next() + next() - 3 * (1 << 23);
    v = static_cast<float>(static_cast<double>(sum) * (next() < 1 << 20 ? 4 : 1) / (1 << 24));
  }
  // RMS errors of ggml_quantize_chunk (llama-cpp-python 0.3.36) on these, in percent of the weights'.
  const struct {
    uint32_t type;
    EncodeBlock* block;
    double ggml;
  } kinds[] = {{kGgmlQ4_1, q4_1_block, 9.9707},     {kGgmlQ5_0, q5_0_block, 6.2339},      {kGgmlQ5_1, q5_1_block, 4.8183},
               {kGgmlQ4_K, q4_k_block, 9.2359},     {kGgmlQ5_K, q5_k_block, 4.6977},      {kGgmlQ6_K, q6_k_block, 2.4370},
               {kGgmlMXFP4, mxfp4_block, 13.7849},  {kGgmlQ2_K, q2_k_block, 35.7541},     {kGgmlQ3_K, q3_k_block, 19.8283},
               {kGgmlIQ4_NL, iq4_nl_block, 9.9357}, {kGgmlIQ4_XS, iq4_xs_block, 10.0106}, {kGgmlTQ1_0, tq1_0_block, 80.5406},
               {kGgmlTQ2_0, tq2_0_block, 80.5406}};
  const auto error = [&](const std::vector<float>& y) {
    double errors = 0, weights = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto v = static_cast<double>(x[i]);
      errors += std::pow(static_cast<double>(y[i]) - v, 2), weights += v * v;
    }
    return 100 * std::sqrt(errors / weights);
  };
  std::vector<float> y(x.size());
  for (const auto& kind : kinds) {
    const GgmlType type = ggml_type(kind.type);
    std::vector<uint8_t> blocks(x.size() / type.values * type.bytes, 0xEE);
    bool ok = true;
    for (size_t i = 0; i < x.size() / type.values; ++i) ok &= kind.block(&x[i * type.values], &blocks[i * type.bytes]);
    ggml_values(kind.type, blocks.data(), x.size(), y.data());
    CAPTURE(type.name);
    CHECK(ok);
    CHECK((error(y) <= kind.ggml && error(y) > kind.ggml / 2));
  }
  for (const auto& [format, ggml] : {std::pair{LINNET_I8G32, 0.7850}, {LINNET_I4G32, 12.5717}}) {
    std::vector<uint64_t> panel(panel_bytes(format, 1024) / 8), scales(n_w_groups(format, 1024) * kPanel);
    REQUIRE(pack_panel(format, x.data(), 1024, 16, 1024, panel.data(), scales.data()));
    for (uint32_t i = 0; i < 16; ++i) unpack_row(panel.data(), scales.data(), format, 16, 1024, i, &y[i * 1024]);
    CAPTURE(format_name(format));
    CHECK((error(y) <= ggml && error(y) > ggml / 2));
  }
}

TEST_CASE("convert: quantised GGUF types import, Q8_0 into i8g32 and Q4_0 into i4g32 bit for bit") {
  const Folder folder;
  for (const uint32_t type :
       {kGgmlQ8_0, kGgmlQ4_0, kGgmlQ4_1, kGgmlQ5_0, kGgmlQ5_1, kGgmlQ4_K, kGgmlQ5_K, kGgmlQ6_K, kGgmlF16, kGgmlBF16, kGgmlMXFP4}) {
    GgufFile f = tiny_model(type);
    const std::string path = folder.put("q.gguf", f.bytes());
    CAPTURE(ggml_type(type).name);
    Packed exact(path, LINNET_F32), packed(path, LINNET_I8G32);
    INFO(exact.err.text << packed.err.text);
    REQUIRE(exact.status == LINNET_OK);
    REQUIRE(packed.status == LINNET_OK);
    const std::string data = f.tensor("blk.0.ffn_up.weight")->data;
    if (type == kGgmlQ4_0) {
      Packed four(path, LINNET_I4G32);
      REQUIRE(four.status == LINNET_OK);
      for (uint32_t i = 0; i < 256; i += 3)
        CHECK((exact.row(kFfnUp, 0, i) == four.row(kFfnUp, 0, i) && exact.row(kFfnUp, 0, i) == packed.row(kFfnUp, 0, i)));
    }
    if (type == kGgmlMXFP4) {  // kept bit for bit as it is, each value being one of sixteen times a power of two
      constexpr float kValues[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
      size_t wrong = 0;
      for (uint32_t i = 0; i < 256; ++i) {
        const auto row = exact.row(kFfnUp, 0, i);
        CHECK(row == packed.row(kFfnUp, 0, i));
        for (uint32_t j = 0; j < 256; ++j) {
          const char* block = data.data() + (i * 8 + j / 32) * 17;
          const int byte = static_cast<uint8_t>(block[1 + j % 16]);
          wrong += row[j] != std::ldexp(kValues[j % 32 < 16 ? byte & 15 : byte >> 4], static_cast<uint8_t>(block[0]) - 127);
        }
      }
      CHECK(wrong == 0);
      f.tensor("blk.0.ffn_up.weight")->data[17 * 9] = '\x90';
      Packed large(folder.put("large.gguf", f.bytes()), LINNET_I8G32), other(folder.at("large.gguf"), LINNET_F32);
      CHECK((large.status == LINNET_UNSUPPORTED && other.status == LINNET_OK));
      CHECK(std::string(large.err.text).find("'blk.0.ffn_up.weight'") != std::string::npos);
      f.tensor("blk.0.ffn_up.weight")->data[17 * 9] = '\xff';
      CHECK(Packed(folder.put("nan.gguf", f.bytes()), LINNET_F32).status == LINNET_BAD_FILE);
    }
    if (type == kGgmlQ8_0) {  // codes and scales of fused rows are theirs, too
      const Packed apart(path, LINNET_I8G32);
      fuse(&f, 0, {"attn_q.weight", "attn_k.weight", "attn_v.weight"}, "attn_qkv.weight");
      fuse(&f, 0, {"ffn_gate.weight", "ffn_up.weight"}, "ffn_up.weight");
      const Packed fused(folder.put("fused.gguf", f.bytes()), LINNET_I8G32);
      INFO(fused.err.text);
      REQUIRE(fused.status == LINNET_OK);
      CHECK((fused.image.bytes == apart.image.bytes && std::memcmp(fused.image.data, apart.image.data, apart.image.bytes) == 0));
      f = tiny_model(type);
    }
    if (type != kGgmlQ8_0) continue;
    Matrix m;
    linnet_error err = {};
    REQUIRE(find_matrix(*packed.g, kFfnUp, 0, packed.spec, &m, &err) == LINNET_OK);
    size_t wrong = 0;
    for (uint32_t i = 0; i < 256; ++i)
      for (uint32_t j = 0; j < 256; ++j) {
        const char* block = data.data() + (i * 8 + j / 32) * 34;
        const auto* codes = static_cast<const int8_t*>(m.panels) + size_t{i} / 16 * 16 * 256;
        wrong += codes[j / 4 * 64 + i % 16 * 4 + j % 4] != static_cast<int8_t>(block[2 + j % 32]);
        wrong += std::memcmp(static_cast<const uint16_t*>(m.scales) + (size_t{i} / 16 * 8 + j / 32) * 16 + i % 16, block, 2) != 0;
      }
    CHECK(wrong == 0);
    for (uint32_t i = 0; i < 256; i += 37) CHECK(exact.row(kFfnUp, 0, i) == packed.row(kFfnUp, 0, i));
    std::vector<float> pair(2 * 256);  // rows 66 and 67 of q in the file: pair 1 of head 1
    ggml_values(type, reinterpret_cast<const uint8_t*>(f.tensor("blk.0.attn_q.weight")->data.data()) + 66 * 8 * 34, pair.size(),
                pair.data());
    CHECK(packed.row(kAttnQ, 0, 65) == std::vector<float>(pair.begin(), pair.begin() + 256));
    CHECK(packed.row(kAttnQ, 0, 97) == std::vector<float>(pair.begin() + 256, pair.end()));
  }
}

namespace {
struct Blocks {
  linnet_format format;
  uint32_t type;
  std::vector<size_t> halves;  // where f16 lie
};
// Every kind of blocks that is a format, the ones that floats are packed as first.
std::vector<Blocks> all_blocks() {
  std::vector<Blocks> all;
  for (const bool packs : {true, false})
    for (uint32_t type = 0; type < 64; ++type) {
      const Format f = format_of_ggml(type);
      if (f == LINNET_FORMAT_DEFAULT || packs_floats(f) != packs) continue;
      uint32_t halves[2];
      const uint32_t n = gguf_block_halves(f, halves);
      all.push_back({f, type, {halves, halves + n}});
    }
  return all;
}
const std::vector<Blocks> kBlocks = all_blocks();

linnet_format format_of(const Packed& p, Role role) {
  Matrix m;
  linnet_error err = {};
  REQUIRE(find_matrix(*p.g, role, 0, p.spec, &m, &err) == LINNET_OK);
  return m.format;
}

// Whether all rows are those of the file at `path`, to the bit.
bool as_in_file(const std::string& path, Packed* p) {
  Source source;
  linnet_error err = {};
  REQUIRE(source_from_gguf(path, &source, &err) == LINNET_OK);
  bool same = true;
  for (const auto& [at, rows] : rows_of(source)) {
    const auto role = static_cast<Role>(at.first);
    if (!role_row(role).matrix()) continue;
    const uint32_t n = role_n(role, 0, source.spec), k = role_k(role, 0, source.spec);
    for (uint32_t i = 0; i < n; ++i) same &= test::same_bytes(p->row(role, 0, i), {rows.begin() + i * k, rows.begin() + (i + 1) * k});
  }
  return same;
}
constexpr test::TinySize kSomeBlocks = {512, 4, 2, 768, 48};
}  // namespace

TEST_CASE("convert: blocks of a GGUF file are kept bit for bit, of several kinds in a file too") {
  const Folder folder;
  for (const Blocks& b : kBlocks) {
    CAPTURE(ggml_type(b.type).name);
    CHECK(ggml_type(b.type).bytes == gguf_block_bytes(b.format));
    GgufFile f = tiny_model(b.type, 1, "llama", kSomeBlocks);
    const std::string path = folder.put("q.gguf", f.bytes());
    Packed blocks(path, b.format);
    INFO(blocks.err.text);
    REQUIRE(blocks.status == LINNET_OK);
    CHECK(as_in_file(path, &blocks));
    CHECK((format_of(blocks, kTokenEmbd) == b.format && format_of(blocks, kAttnQ) == b.format));
    if (b.format != LINNET_Q4_K && b.format != LINNET_Q6_K && b.format != LINNET_Q5_0 && b.format != LINNET_IQ3_S) continue;
    fuse(&f, 0, {"attn_q.weight", "attn_k.weight", "attn_v.weight"}, "attn_qkv.weight");
    fuse(&f, 0, {"ffn_gate.weight", "ffn_up.weight"}, "ffn_up.weight");
    const Packed fused(folder.put("fused.gguf", f.bytes()), b.format);
    REQUIRE(fused.status == LINNET_OK);
    CHECK((fused.image.bytes == blocks.image.bytes && std::memcmp(fused.image.data, blocks.image.data, blocks.image.bytes) == 0));
    for (const Blocks& other : {kBlocks[0], kBlocks.back()}) {  // whichever is asked for
      GgufFile mixed = tiny_model(b.type, 1, "llama", kSomeBlocks);
      *mixed.tensor("blk.0.ffn_down.weight") = *tiny_model(other.type, 1, "llama", kSomeBlocks).tensor("blk.0.ffn_down.weight");
      const std::string mix = folder.put("mixed.gguf", mixed.bytes());
      Packed asked(mix, b.format), asked_other(mix, other.format);
      REQUIRE((asked.status == LINNET_OK && asked_other.status == LINNET_OK));
      CHECK(as_in_file(mix, &asked));
      CHECK((format_of(asked, kFfnDown) == other.format && format_of(asked, kFfnUp) == b.format));
      CHECK(
          (asked.image.bytes == asked_other.image.bytes && std::memcmp(asked.image.data, asked_other.image.data, asked.image.bytes) == 0));
    }
    for (const size_t half : b.halves)
      for (const char top : {'\x7c', '\x7e', '\xfc'}) {
        f = tiny_model(b.type, 1, "llama", kSomeBlocks);
        f.tensor("blk.0.ffn_down.weight")->data[ggml_type(b.type).bytes * 7 + half + 1] = top;
        const Packed bad(folder.put("bad.gguf", f.bytes()), b.format);
        CHECK(bad.status == LINNET_BAD_FILE);
        CHECK(std::string(bad.err.text).find("'blk.0.ffn_down.weight': a scale of rows 0 to 15") != std::string::npos);
      }
    SourceTensor rows;  // rows that no file has, as experts are padded with
    rows.k = 512;
    rows.gguf_format = b.format;
    rows.rows = [](uint32_t, uint32_t, float*, Error*) { return LINNET_OK; };
    rows.gguf_blocks = [bytes = rows.gguf_row_bytes()](uint32_t first, uint32_t count, uint8_t* to, Error*) {
      for (uint32_t i = 0; i < count; ++i) std::memset(to + i * bytes, static_cast<int>(first + i), bytes);
      return LINNET_OK;
    };
    choose_rows(&rows, 4, [](uint32_t i) { return i == 2 ? kNoRow : 9 - i; });
    std::vector<uint8_t> got(4 * rows.gguf_row_bytes());
    linnet_error err = {};
    REQUIRE(rows.gguf_blocks(0, 4, got.data(), &err) == LINNET_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t row = i / rows.gguf_row_bytes();
      wrong += got[i] != (row == 2 ? 0 : 9 - row);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("convert: by itself a quantised file stays as it is") {
  const Folder folder;
  for (const uint32_t type : {uint32_t{kGgmlQ8_0}, uint32_t{kGgmlQ4_0}, uint32_t{kGgmlQ5_1}, uint32_t{kGgmlIQ4_XS}, uint32_t{kGgmlIQ1_M}}) {
    CAPTURE(ggml_type(type).name);
    GgufFile f = tiny_model(type), floats = tiny_model(kGgmlF16);
    *f.tensor("token_embd.weight") = floats.tensors[0];
    REQUIRE(floats.tensors[0].name == "token_embd.weight");
    *f.tensor("blk.0.attn_k.weight") = *floats.tensor("blk.0.attn_k.weight");
    const std::string path = folder.put("own.gguf", f.bytes());
    for (const Format given : {LINNET_FORMAT_DEFAULT, LINNET_I8G128, LINNET_F16}) {  // what a profile says of floats
      Packed p(path, LINNET_FORMAT_DEFAULT, given);
      INFO(p.err.text);
      REQUIRE(p.status == LINNET_OK);
      const Format own = type == kGgmlQ8_0 ? LINNET_I8G32 : type == kGgmlQ4_0 ? LINNET_I4G32 : format_of_ggml(type);
      CHECK((format_of(p, kAttnQ) == own && format_of(p, kFfnDown) == own));
      CHECK(format_of(p, kAttnK) == LINNET_I8G32);  // beside q, whose x is in groups of 32
      CHECK(format_of(p, kTokenEmbd) == LINNET_F16);
      std::vector<float> want(256);
      ggml_values(type, reinterpret_cast<const uint8_t*>(f.tensor("blk.0.ffn_up.weight")->data.data()), want.size(), want.data());
      CHECK(test::same_bytes(p.row(kFfnUp, 0, 0), want));
    }
  }
}

// Keys whose channels differ are evened out where they are packed anew, since only blocks that stay as they are cannot be scaled.
TEST_CASE("convert: keys of blocks that are packed anew are evened out") {
  const Folder folder;
  GgufFile f = tiny_model(kGgmlQ4_K);
  std::string& k = f.tensor("blk.0.attn_k.weight")->data;
  for (size_t row = 0; row < 128; row += 8)  // eight times as large
    for (const size_t half : {size_t{1}, size_t{3}}) k[row * 144 + half] = static_cast<char>(k[row * 144 + half] + 0x0C);
  const std::string path = folder.put("q.gguf", f.bytes());
  Packed kept(path, LINNET_Q4_K), anew(path, LINNET_F32);
  INFO(kept.err.text << anew.err.text);
  REQUIRE((kept.status == LINNET_OK && anew.status == LINNET_OK));
  CHECK(as_in_file(path, &kept));
  CHECK_FALSE(as_in_file(path, &anew));
}

// A range in as many steps is what the best straight line through a group is held against; a twelfth of 2^7 and 2^6 is what their scales of
// six bits may cost.
TEST_CASE("convert: blocks are packed from floats, or refused where they do not fit") {
  const Folder folder;
  for (const Blocks& b : kBlocks) {
    if (b.format != LINNET_Q4_K && b.format != LINNET_Q5_K && b.format != LINNET_Q6_K) continue;
    const uint32_t bits = format_row(b.format).bits, n = 512, group = b.format == LINNET_Q6_K ? 16 : 32;
    std::vector<float> x(n), y(n);
    std::vector<uint8_t> panel(panel_bytes(b.format, n)), scales(panel_scale_bytes(b.format, n));
    std::mt19937 random(1);
    const auto error = [&](float size, float from) {  // of numbers from..1 times size, over that of the plain range
      double ours = 0, plain = 0;
      for (int times = 0; times < 50; ++times) {
        for (float& v : x) v = (from + (1 - from) * static_cast<float>(random() % 65536) / 65536) * size;
        REQUIRE(pack_panel(b.format, x.data(), n, 1, n, panel.data(), scales.data()));
        unpack_row(panel.data(), scales.data(), b.format, 16, n, 0, y.data());
        for (size_t at = 0; at < n; at += group) {
          const auto [lo, hi] = std::minmax_element(x.begin() + static_cast<long>(at), x.begin() + static_cast<long>(at + group));
          const double most = std::fmax(std::fabs(static_cast<double>(*lo)), static_cast<double>(*hi)),
                       start = group == 16 ? -most : std::fmin(0.0, static_cast<double>(*lo)),
                       end = group == 16 ? most : std::fmax(0.0, static_cast<double>(*hi)), step = (end - start) / ((1 << bits) - 1);
          for (size_t j = at; j < at + group; ++j) {
            const double w = static_cast<double>(x[j]);
            ours += std::pow(static_cast<double>(y[j]) - w, 2);
            plain += std::pow(start + step * std::rint((w - start) / step) - w, 2);
          }
        }
      }
      return ours / plain;
    };
    CAPTURE(format_name(b.format));
    for (const float size : {1.0f, 1e-2f, 1e-3f, 1e4f}) {
      CHECK(error(size, -1) < 0.97);
      CHECK(error(size, 0) < 1.05);
      CHECK(error(-size, 0.5f) < 1.05);
    }
    CHECK(error(1e-5f, -1) < (b.format == LINNET_Q6_K ? 3 : 1.5));  // whose outer scale is one step of f16 or a few
    for (const float same : {0.0f, 0.25f, -0.25f}) {
      std::fill(x.begin(), x.end(), same);
      REQUIRE(pack_panel(b.format, x.data(), n, 1, n, panel.data(), scales.data()));
      unpack_row(panel.data(), scales.data(), b.format, 16, n, 0, y.data());
      for (const float v : y) CHECK(std::fabs(v - same) <= std::fabs(same) * 0x1p-6f);
    }
    for (const float bad : {1e20f, 1e38f, -3e38f, 1e10f, INFINITY, -INFINITY, NAN}) {
      for (float& v : x) v = static_cast<float>(random() % 100) * 0.01f;
      x[300] = bad;
      CHECK_FALSE(pack_panel(b.format, x.data(), n, 1, n, panel.data(), scales.data()));
    }
    const Packed odd("tests/golden/qwen2", b.format);
    CHECK(odd.status == LINNET_UNSUPPORTED);
    CHECK(std::string(odd.err.text).find(std::string(format_name(b.format)) + " wants a multiple of 256: ask for") != std::string::npos);
  }
}

TEST_CASE("convert: a weight that is no number is refused with its tensor's name") {
  const Folder folder;
  for (const uint16_t bits : {uint16_t{0x7C00}, uint16_t{0x7E00}, uint16_t{0xFC00}})
    for (const linnet_format f : {LINNET_I8G32, LINNET_I8G128, LINNET_F32}) {
      GgufFile g = tiny_model(kGgmlQ8_0);
      std::memcpy(g.tensor("blk.0.ffn_up.weight")->data.data() + 34 * 5, &bits, 2);
      Packed p(folder.put("nan.gguf", g.bytes()), f);
      CAPTURE(p.err.text);
      CHECK(p.status == LINNET_BAD_FILE);
      CHECK(std::string(p.err.text).find("'blk.0.ffn_up.weight'") != std::string::npos);
    }
  GgufFile g = tiny_model();
  std::memcpy(g.tensor("output_norm.weight")->data.data() + 8, "\0\0\x80\x7f", 4);
  Packed p(folder.put("inf.gguf", g.bytes()), LINNET_I8);
  CHECK(p.status == LINNET_BAD_FILE);
  CHECK(std::string(p.err.text).find("'output_norm.weight'") != std::string::npos);
}

TEST_CASE("convert: kinds that files alone have are not made from floats") {
  const Folder folder;
  const std::string path = folder.put("floats.gguf", tiny_model().bytes());
  for (const Blocks& b : kBlocks) {
    Packed p(path, b.format);
    CAPTURE(format_name(b.format), p.err.text);
    CHECK(p.status == (packs_floats(b.format) ? LINNET_OK : LINNET_UNSUPPORTED));
    if (!packs_floats(b.format))
      CHECK(std::string(p.err.text).find(std::string(format_name(b.format)) + " is what files have, it is not made from other weights") !=
            std::string::npos);
  }
}

TEST_CASE("convert: a matrix that rounding loses is refused by name, unless told") {
  const Folder folder;
  const auto with_weights = [&](float factor) {  // of one matrix
    GgufFile g = tiny_model();
    std::string& data = g.tensor("blk.0.ffn_up.weight")->data;
    for (size_t i = 0; i + 4 <= data.size(); i += 4) {
      float w;
      std::memcpy(&w, data.data() + i, 4);
      w *= factor;
      std::memcpy(data.data() + i, &w, 4);
    }
    return folder.put("m.gguf", g.bytes());
  };
  const auto packed = [&](const std::string& path, Options o, WeightError* measured, const char* refused) {
    Image image;
    linnet_error err = {};
    o.weight_error = measured;
    const linnet_status status = convert_to_memory(path, o, &image, &err);
    CAPTURE(err.text, o.weights);
    CHECK(status == (*refused ? LINNET_UNSUPPORTED : LINNET_OK));
    CHECK(std::string(err.text).find(refused) != std::string::npos);
    if (*refused) CHECK(std::string(err.text).find(path + ": tensor 'blk.0.ffn_up.weight': ") == 0);
    image_free(&image);
  };
  const std::string tiny = with_weights(1e-8f);
  const auto has_f16 = [](const FormatRow& row) { return row.scale.half || row.stored == Stored::kF16; };
  uint32_t n = 0;
  for (const FormatRow& row : kFormats) {
    const linnet_format f = row.format;
    if (!format_known(f) || !has_f16(row) || !packs_floats(f) || (kSlow && f != LINNET_F16 && n++ % 3)) continue;
    Options o;
    o.weights = f;
    for (const bool plain : {false, true}) {
      if (plain && f != LINNET_F16) continue;
      o.plain = plain;
      WeightError measured;
      packed(tiny, o, nullptr, "they are too small for f16");  // also where nobody asks for numbers, as `linnet run`
      packed(tiny, o, &measured, format_row(f).bits <= 4 ? "more than 50 %" : "more than 10 %");
      CHECK(measured.mean == -1);
      Options told = o;
      told.max_error = 1;
      packed(tiny, told, &measured, "");
      CHECK(measured.tensor == "blk.0.ffn_up.weight");
      CHECK(measured.worst > 0.1);
      CHECK(measured.mean > 0);
      CHECK(measured.mean < measured.worst);
    }
  }
  for (const FormatRow& row : kFormats) {
    if (!format_known(row.format) || has_f16(row) || !packs_floats(row.format)) continue;
    Options o;
    o.weights = row.format;
    WeightError measured;
    packed(tiny, o, &measured, "");
    CHECK(measured.worst < (row.bits == 4 ? 0.15 : row.stored == Stored::kE5m2 ? 0.06 : 0.05));
  }
  Options strict;  // the bound is for honest rounding, too
  strict.weights = LINNET_I8G32;
  strict.max_error = 1e-4;
  WeightError measured;
  const std::string plain = with_weights(1);
  Image image;
  linnet_error err = {};
  strict.weight_error = &measured;
  CHECK(convert_to_memory(plain, strict, &image, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("more than 0.01 %") != std::string::npos);
}

TEST_CASE("GGUF import: metadata") {
  Source s = imported([](GgufFile&) {});
  CHECK(s.name == "tiny");
  CHECK((s.spec.n_layers == 1 && s.spec.d_model == 256 && s.spec.n_heads == 4 && s.spec.n_kv_heads == 2 && s.spec.head_dim == 64));
  CHECK((s.spec.d_ff == 256 && s.spec.n_vocab == 48 && s.spec.n_context == 64 && s.spec.tied == 1 && s.spec.rope_kind == kRopeHalves));
  CHECK((s.spec.rope_base == 10000 && s.spec.rope_dim == 64 && s.spec.rope_scaling == kRopeScaleNone && s.spec.qkv_bias == 0));
  CHECK(s.spec.norm_eps == 1e-5);  // as config.json had it before it was rounded to f32
  CHECK(std::string(s.spec.architecture) == "llama");
  s = imported([](GgufFile& f) {
    f.u32("llama.attention.key_length", 64);
    f.f32("llama.rope.freq_base", 5e5f);
    f.text("llama.rope.scaling.type", "linear");
    f.f32("llama.rope.scaling.factor", 4);
    f.u32("llama.attention.sliding_window", 64);  // as long as the context: no window
    f.u32("llama.expert_count", 0);
    f.tensors.push_back({"output.weight", {256, 48}, kGgmlF16, test::tensor_data(kGgmlF16, 256 * 48, 9)});
  });
  CHECK((s.spec.rope_base == 5e5 && s.spec.rope_scaling == kRopeScaleLinear && s.spec.rope_factor == 4 && s.spec.tied == 0));
  s = imported([](GgufFile& f) { f.text("llama.rope.scaling.type", "none"), f.f32("llama.rope.scaling.factor", 4); });
  CHECK(s.spec.rope_scaling == kRopeScaleNone);
  s = imported([](GgufFile& f) { f.u32("llama.rope.dimension_count", 32); });
  CHECK((s.spec.rope_dim == 32 && s.spec.rope_kind == kRopePairs));  // a part of each head is rotated: rows stay as they are
  s = imported([](GgufFile&) {}, "qwen2");
  CHECK((s.spec.rope_kind == kRopeHalves && s.spec.qkv_bias == 1 && s.spec.qk_norm == 0));
  s = imported([](GgufFile&) {}, "qwen3");
  CHECK((s.spec.rope_kind == kRopeHalves && s.spec.qkv_bias == 0 && s.spec.qk_norm == 1));
}

TEST_CASE("GGUF import: llama3 divisors become its parameters, others stay") {
  ModelSpec spec = {};
  spec.rope_dim = 64, spec.rope_base = 5e5, spec.rope_factor = 32, spec.rope_low = 1, spec.rope_high = 4, spec.rope_original = 8192;
  const std::vector<double> divisors = llama3_divisors(spec);
  CHECK((divisors.front() == 1 && divisors.back() == 32));
  const auto with = [&](double change) {
    std::string data;
    for (const double d : divisors) data += le(static_cast<float>(d == 1 || d == 32 ? d : d * change));
    return imported([&](GgufFile& f) {
      f.f32("llama.rope.freq_base", 5e5f);
      f.tensors.push_back({"rope_freqs.weight", {32}, kGgmlF32, data});
    });
  };
  const Source same = with(1 + 1e-6), other = with(1.01);
  CHECK((same.spec.rope_scaling == kRopeScaleLlama3 && same.spec.rope_freqs == 0 && same.spec.rope_factor == 32 &&
         same.spec.rope_original == 8192));
  CHECK((other.spec.rope_scaling == kRopeScaleNone && other.spec.rope_freqs == 1));
  const Rows rows = rows_of(other);
  CHECK(rows.at({kRopeFreqs, 0}).size() == 32);
  CHECK(rows_of(same).count({kRopeFreqs, 0}) == 0);
}

// As llama.cpp's converter writes them: norms with their 1 added, softcaps and windows in keys, the scale of queries not at all.
TEST_CASE("GGUF import: Gemma 1, 2 and 3 are what their folders are") {
  for (const std::string arch : {"gemma", "gemma2", "gemma3"}) {
    Source folder_source;
    Error err{};
    REQUIRE(source_from_folder("tests/golden/" + arch, &folder_source, &err) == LINNET_OK);
    ModelSpec want = folder_source.spec;
    GgufFile f;
    const std::string p = arch + ".";
    f.text("general.architecture", arch);
    f.u32(p + "block_count", want.n_layers), f.u32(p + "context_length", want.n_context), f.u32(p + "embedding_length", want.d_model);
    f.u32(p + "feed_forward_length", want.d_ff), f.u32(p + "attention.head_count", want.n_heads),
        f.u32(p + "attention.head_count_kv", want.n_kv_heads);
    f.u32(p + "attention.key_length", want.head_dim), f.u32(p + "attention.value_length", want.head_dim);
    f.f32(p + "attention.layer_norm_rms_epsilon", static_cast<float>(want.norm_eps));
    if (want.rope_base != 10000) f.f32(p + "rope.freq_base", static_cast<float>(want.rope_base));
    if (want.rope_scaling == kRopeScaleLinear)
      f.text(p + "rope.scaling.type", "linear"), f.f32(p + "rope.scaling.factor", static_cast<float>(want.rope_factor));
    if (want.window) f.u32(p + "attention.sliding_window", want.window);
    if (arch == "gemma2")
      f.f32(p + "attn_logit_softcapping", static_cast<float>(want.attn_softcap)),
          f.f32(p + "final_logit_softcapping", static_cast<float>(want.logit_softcap));
    if (arch == "gemma3") f.u32(p + "attention.sliding_window_pattern", want.window_pattern);
    for (const SourceTensor& t : folder_source.tensors) {
      char name[kRoleNameBytes];
      role_name(t.role, t.layer, name);
      std::vector<float> rows(size_t{t.n} * t.k);
      REQUIRE(t.rows(0, t.n, rows.data(), &err) == LINNET_OK);
      f.tensors.push_back({name, role_row(t.role).matrix() ? std::vector<uint64_t>{t.k, t.n} : std::vector<uint64_t>{t.n}, kGgmlF32,
                           std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * 4)});
    }
    const Source got = imported([&](GgufFile& to) { to = f; });
    INFO(arch);
    want.attn_scale = 0;
    CHECK(std::memcmp(&got.spec, &want, sizeof want) == 0);
    CHECK(rows_of(got) == rows_of(folder_source));
    f.u32(p + "attn_soft_cap", 1);
    import_refused(f, kNot, {"attn_soft_cap"});
  }
}

namespace {
// The tensors and keys of a family with gated delta nets as llama.cpp's converter writes them, but for which layers are ones.
GgufFile delta_file(Source source) {
  linnet_error err = {};
  GgufFile f;
  REQUIRE(to_gguf_conventions(&source, &err) == LINNET_OK);
  const ModelSpec& s = source.spec;
  const std::string arch = architecture_by_hf(s.architecture)->gguf, p = arch + ".";
  f.text("general.architecture", arch);
  for (const auto& [key, value] : {std::pair{"block_count", s.n_layers},
                                   {"context_length", s.n_context},
                                   {"embedding_length", s.d_model},
                                   {"feed_forward_length", s.d_ff},
                                   {"attention.head_count", s.n_heads},
                                   {"attention.head_count_kv", s.n_kv_heads},
                                   {"attention.key_length", s.head_dim},
                                   {"attention.value_length", s.head_dim},
                                   {"rope.dimension_count", s.rope_dim},
                                   {"ssm.conv_kernel", s.conv_taps},
                                   {"ssm.state_size", s.delta_key_dim},
                                   {"ssm.group_count", s.delta_key_heads},
                                   {"ssm.time_step_rank", s.delta_value_heads},
                                   {"ssm.inner_size", s.delta_value_heads * s.delta_value_dim}})
    f.u32(p + key, value);
  if (s.n_experts) {
    f.u32(p + "expert_count", s.n_experts), f.u32(p + "expert_used_count", s.n_active);
    f.u32(p + "expert_feed_forward_length", s.expert_ff), f.u32(p + "expert_shared_feed_forward_length", s.shared_ff);
  }
  f.f32(p + "rope.freq_base", static_cast<float>(s.rope_base));
  f.f32(p + "attention.layer_norm_rms_epsilon", static_cast<float>(s.norm_eps));
  std::vector<const SourceTensor*> tensors;
  for (const SourceTensor& t : source.tensors) tensors.push_back(&t);
  std::vector<PlainTensor> plain;
  REQUIRE(plain_tensors(s, tensors, &plain, &err) == LINNET_OK);
  for (const PlainTensor& t : plain) {
    std::vector<float> rows(size_t{t.rows.n} * t.rows.k);
    REQUIRE(t.rows.rows(0, t.rows.n, rows.data(), &err) == LINNET_OK);
    f.tensors.push_back({t.name, t.dims, kGgmlF32, std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * 4)});
  }
  return f;
}
// All tensors of made->spec, of random numbers that `change` sees first.
template <class Change>
void add_random(Source* made, uint32_t seed, const Change& change) {
  const ModelSpec& s = made->spec;
  REQUIRE(each_tensor(s, [&](Role role, uint32_t layer) {
            const uint32_t n = role_n(role, layer, s), k = role_row(role).matrix() ? role_k(role, layer, s) : 1;
            const std::string data = test::tensor_data(kGgmlF32, uint64_t{n} * k, role * seed + layer);
            std::vector<float> values(size_t{n} * k);
            std::memcpy(values.data(), data.data(), data.size());
            change(role, values);
            SourceTensor t = computed_tensor(role, layer, values);
            t.n = n, t.k = k;
            t.rows = [values, k](uint32_t first, uint32_t count, float* to, linnet_error*) {
              std::memcpy(to, values.data() + size_t{first} * k, size_t{count} * k * sizeof(float));
              return LINNET_OK;
            };
            made->tensors.push_back(t);
            return LINNET_OK;
          }) == LINNET_OK);
}
GgufFile parsed(const std::string& bytes) {
  linnet_error err = {};
  const auto g = std::make_unique<Gguf>();
  REQUIRE(gguf_open(bytes.data(), bytes.size(), "m.gguf", g.get(), &err) == LINNET_OK);
  GgufFile f;
  for (uint32_t i = 0; i < g->n_keys; ++i) {
    std::string_view name;
    GgufValue v;
    g->key_entry(i, &name, &v);
    const std::string value = v.type == kGgufString  ? test::lstr(std::string(v.text))
                              : v.type == kGgufArray ? le(v.array_type) + le(v.count) + std::string(v.raw)
                              : v.type == kGgufF32   ? le(static_cast<float>(v.f))
                              : v.type == kGgufBool  ? std::string(1, static_cast<char>(v.u))
                                                     : le(static_cast<uint32_t>(v.u));
    f.raw(std::string(name), v.type, value);
  }
  for (uint32_t i = 0; i < g->n_tensors; ++i) {
    GgufTensor t;
    g->tensor_entry(i, &t);
    f.tensors.push_back(
        {std::string(t.name), {t.dims, t.dims + t.n_dims}, t.type, {reinterpret_cast<const char*>(t.data), static_cast<size_t>(t.bytes)}});
  }
  return f;
}
// The plain file that linnet writes of a golden, which test_golden compares with llama.cpp's converter's, to be changed.
GgufFile plain_of(const std::string& name) {
  const Folder folder;
  Options o;
  o.plain = true, o.weights = LINNET_F32;
  linnet_error err = {};
  REQUIRE(convert_to_file("tests/golden/" + name, folder.at("m.gguf"), o, &err) == LINNET_OK);
  return parsed(slurp(folder.at("m.gguf")));
}
void put_counts(GgufFile* f, const std::string& key, const std::vector<uint32_t>& counts) {
  std::string raw = le(uint32_t{kGgufU32}) + le(uint64_t{counts.size()});
  for (const uint32_t n : counts) raw += le(n);
  f->remove(key);
  f->raw(key, kGgufArray, raw);
}
void put_flags(GgufFile* f, const std::string& key, const std::string& flags) {
  f->remove(key);
  f->raw(key, kGgufArray, le(uint32_t{kGgufBool}) + le(uint64_t{flags.size()}) + flags);
}
// Behind a file's tensors, whose shapes `of` has in its layer 0, those of another layer.
void put_layer(GgufFile* f, uint32_t layer) {
  const std::vector<GgufFile::Tensor> before = f->tensors;
  for (GgufFile::Tensor t : before)
    if (t.name.starts_with("blk.1.")) {
      t.name = "blk." + std::to_string(layer) + t.name.substr(5);
      f->tensors.push_back(t);
    }
  f->tensors.push_back({"blk." + std::to_string(layer) + ".nextn.enorm.weight", {8}, kGgmlF32, std::string(32, '\0')});
}
}  // namespace

TEST_CASE("plain GGUF: layers without what their family has, heads that are not their matrices', weights that are no numbers") {
  linnet_error err = {};
  std::vector<PlainTensor> plain;
  // A packed file may say so.
  const auto refused = [&](const std::string& golden, Role without, const char* why) {
    Source source;
    REQUIRE(source_from_folder("tests/golden/" + golden, &source, &err) == LINNET_OK);
    std::vector<const SourceTensor*> tensors;
    for (const SourceTensor& t : source.tensors)
      if (t.role != without || t.layer != 1) tensors.push_back(&t);
    INFO(golden);
    CHECK(plain_tensors(source.spec, tensors, &plain, &err) == LINNET_UNSUPPORTED);
    INFO(err.text);
    CHECK(std::string(err.text).find(why) != std::string::npos);
  };
  refused("phi3", kFfnGate, "cannot say that layer 1 has no ");
  refused("phi3", kAttnV, "cannot say that layer 1 has no ");
  refused("gpt2", kAttnKBias, "cannot say that layer 1 has no ");
  refused("glm4", kFfnGate, "cannot say that layer 1 has no ");
  Source gated;
  REQUIRE(source_from_folder("tests/golden/qwen3-5", &gated, &err) == LINNET_OK);
  std::vector<LayerSpec> layers;
  for (uint32_t i = 0; i < gated.spec.n_layers; ++i) {
    layers.push_back(layer_spec(gated.spec, i));
    layers.back().head_dim /= 2;
  }
  std::shared_ptr<void> kept;
  set_layers(&gated.spec, &kept, layers);
  std::vector<const SourceTensor*> tensors;
  for (const SourceTensor& t : gated.tensors) tensors.push_back(&t);
  CHECK(plain_tensors(gated.spec, tensors, &plain, &err) == LINNET_UNSUPPORTED);
  INFO(err.text);
  CHECK(std::string(err.text).find("heads of layer") != std::string::npos);

  SourceTensor norm = computed_tensor(kRouterNorm, 0, {1.0f, 0.0f});
  norm.rows = [](uint32_t, uint32_t count, float* to, Error*) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bits = i ? 0xFFFFFFFBu : 0x7F800000u;
      std::memcpy(to + i, &bits, sizeof bits);
    }
    return LINNET_OK;
  };
  multiply_router_norm(&norm, 64);
  float out[2] = {};
  REQUIRE(norm.rows(0, 2, out, &err) == LINNET_OK);  // and comes to an end
  CHECK((std::isinf(out[0]) && std::isnan(out[1])));
}

TEST_CASE("GGUF import: Gemma 4, its layers, and what is refused") {
  linnet_error err = {};
  Source folder;
  REQUIRE(source_from_folder("tests/golden/gemma4-e2b", &folder, &err) == LINNET_OK);
  const GgufFile plain = plain_of("gemma4-e2b");
  const std::string p = "gemma4.";
  const auto same = [&](const GgufFile& f) {
    const Source got = imported([&](GgufFile& to) { to = f; });
    for (uint32_t i = 0; i < folder.spec.n_layers; ++i) {
      const LayerSpec x = layer_spec(got.spec, i), y = layer_spec(folder.spec, i);
      CHECK(
          (x.window == y.window && x.head_dim == y.head_dim && x.d_ff == y.d_ff && x.kv_back == y.kv_back && x.n_kv_heads == y.n_kv_heads));
    }
    CHECK((got.spec.rope_turned == folder.spec.rope_turned && got.spec.rope_freqs == 0));
    CHECK(rows_of(got) == rows_of(folder));
  };
  same(plain);
  // Published files hold keys of layers that look at others'; lists say the same as counts.
  GgufFile f = plain;
  // A tensor of queries, keys and values has the heads of its layer, not those of the model.
  for (uint32_t i = 0; i < folder.spec.n_layers; ++i) {
    const LayerSpec l = layer_spec(folder.spec, i);
    if (l.window || l.kv_back || l.head_dim == folder.spec.head_dim) continue;
    const std::string blk = "blk." + std::to_string(i) + ".";
    const uint64_t small = (l.n_heads + 2 * l.n_kv_heads) * uint64_t{folder.spec.head_dim};
    for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight"}) f.remove(blk + name);
    f.tensors.push_back(
        {blk + "attn_qkv.weight", {folder.spec.d_model, small}, kGgmlF32, std::string(small * folder.spec.d_model * 4, '\0')});
    import_refused(f, kBad, {blk + "attn_qkv.weight': dimensions"});
    f = plain;
  }
  for (const char* name : {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"}) {
    GgufFile::Tensor t = *f.tensor(std::string("blk.1.") + name);
    t.name = std::string("blk.4.") + name;
    f.tensors.push_back(t);
  }
  put_counts(&f, p + "attention.head_count_kv", {1, 1, 1, 1, 1, 1});
  same(f);
  f.tensors.push_back({"blk.4.attn_sinks.weight", {3}, kGgmlF32, std::string(12, 0)});
  import_refused(f, kNot, {"blk.4.attn_sinks.weight", "has no place"});
  f = plain;
  put_counts(&f, p + "feed_forward_length", {20, 20, 20, 40, 40});
  import_refused(f, kBad, {"feed_forward_length' = an array of 5 is not a list of 6 counts"});
  f = plain;
  put_counts(&f, p + "feed_forward_length", {20, 20, 20, 40, 40, 0});
  import_refused(f, kBad, {"d_ff = 0"});
  f = plain;
  put_counts(&f, p + "attention.head_count_kv", {1, 1, 1, 1, 0, 1});
  import_refused(f, kNot, {"head_count_kv", "0 is not supported"});
  f = plain;
  f.key(p + "attention.shared_kv_layers")->value = le(uint32_t{kGgufU32}) + le(uint32_t{6});
  import_refused(f, kNot, {"shared_kv_layers' = 6 of 6"});
  f.key(p + "attention.shared_kv_layers")->value = le(uint32_t{kGgufU32}) + le(uint32_t{4});  // behind two layers with a window
  import_refused(f, kNot, {"shared_kv_layers' = 4", "not one with a window and one without"});
  for (const char* key : {"attention.key_length_swa", "attention.value_length_swa"}) {
    f = plain;
    f.remove(p + key);
    import_refused(f, kBad, {p + key + "' is missing"});
    f.u32(p + key, 6);
    import_refused(f, kNot, {"value_length_swa = ", "beside key_length_swa = "});
  }
  f = plain;
  f.remove("per_layer_token_embd.weight");
  import_refused(f, kBad, {"per_layer_token_embd.weight' is missing"});
  f = plain;
  f.remove("rope_freqs.weight");
  import_refused(f, kBad, {"rope_freqs.weight' is missing"});
  // Other divisors stay what they are, in layers without a window.
  f = plain;
  f.tensor("rope_freqs.weight")->data.replace(8, 4, le(1.5f));
  const Source other = imported([&](GgufFile& to) { to = f; });
  CHECK((other.spec.rope_freqs == 1 && other.spec.rope_turned == 0));
  CHECK(rows_of(other).at({kRopeFreqs, 0})[2] == 1.5f);
  f = plain;
  f.tensor("per_layer_token_embd.weight")->type = kGgmlQ8_0;
  f.tensor("per_layer_token_embd.weight")->data = test::tensor_data(kGgmlQ8_0, 96 * 70, 3);
  import_refused(f, kNot, {"per_layer_token_embd.weight': type Q8_0 in blocks of 32, of which a layer's 16 numbers"});
  f = plain;
  f.tensor("blk.2.layer_output_scale.weight")->data = le(0.0f);
  import_refused(f, kNot, {"blk.2.layer_output_scale.weight' is 0"});

  // What the router's norm is divided by comes back.
  const GgufFile experts = plain_of("gemma4-moe");
  Source moe;
  REQUIRE(source_from_folder("tests/golden/gemma4-moe", &moe, &err) == LINNET_OK);
  CHECK(rows_of(imported([&](GgufFile& to) { to = experts; })) == rows_of(moe));
  const Folder out;
  Options o;
  o.weights = LINNET_F32;
  REQUIRE(convert_to_file("tests/golden/gemma4-moe", out.at("packed.gguf"), o, &err) == LINNET_OK);
  o.plain = true;
  REQUIRE(convert_to_file(out.at("packed.gguf"), out.at("again.gguf"), o, &err) == LINNET_OK);
  Source again;
  REQUIRE(source_from_gguf(out.at("again.gguf"), &again, &err) == LINNET_OK);
  CHECK(rows_of(again) == rows_of(moe));

  // Beside NVFP4 `ffn_down_exps.scale` is what experts are weighed by, as ever, and no second-level factor.
  f = experts;
  f.remove(p + "expert_feed_forward_length");
  f.u32(p + "expert_feed_forward_length", 64);
  for (uint32_t i = 0; i < moe.spec.n_layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    *f.tensor(blk + "ffn_down_exps.weight") = {
        blk + "ffn_down_exps.weight", {64, 24, 5}, kGgmlNVFP4, test::tensor_data(kGgmlNVFP4, 64 * 24 * 5, i)};
    *f.tensor(blk + "ffn_gate_up_exps.weight") = {
        blk + "ffn_gate_up_exps.weight", {24, 128, 5}, kGgmlF32, test::tensor_data(kGgmlF32, 24 * 128 * 5, i)};
  }
  const auto four_bits = rows_of(imported([&](GgufFile& to) { to = f; }));
  std::vector<float> down(64 * 24 * 5);
  ggml_values(kGgmlNVFP4, reinterpret_cast<const uint8_t*>(f.tensor("blk.1.ffn_down_exps.weight")->data.data()), down.size(), down.data());
  const std::vector<float>& read = four_bits.at({kExpertDown, 1});
  REQUIRE(read.size() == 5 * 32 * 64);  // of each expert whole panels
  for (uint32_t e = 0; e < 5; ++e) CHECK(std::equal(&down[e * 24 * 64], &down[e * 24 * 64] + 24 * 64, &read[e * 32 * 64]));
  CHECK(four_bits.at({kExpertScale, 1}) == rows_of(moe).at({kExpertScale, 1}));
  *f.tensor("blk.1.ffn_down_exps.scale") = {"blk.1.ffn_down_exps.scale", {1}, kGgmlF32, le(2.0f)};
  import_refused(f, kBad, {"blk.1.ffn_down_exps.scale': dimensions 1 x 1 x 1 x 1, not 5"});

  // The vocabulary goes by its merges, in a file that was packed, too.
  f = plain;
  f.remove("tokenizer.ggml.model");
  const std::vector<std::string> tokens = {"<pad>",
                                           "<eos>",
                                           "<bos>",
                                           "<unk>",
                                           "\xE2\x96\x81",
                                           "a",
                                           "b",
                                           "c",
                                           "ab",
                                           "abc",
                                           "\xE2\x96\x81"
                                           "a"};
  const std::vector<std::string> merges = {"a b", "\xE2\x96\x81 a", "ab c"};
  const auto texts = [](const std::vector<std::string>& list) {
    std::string raw = le(uint32_t{kGgufString}) + le(uint64_t{list.size()});
    for (const std::string& text : list) raw += test::lstr(text);
    return raw;
  };
  f.text("tokenizer.ggml.model", "gemma4");
  f.raw("tokenizer.ggml.tokens", kGgufArray, texts(tokens));
  put_counts(&f, "tokenizer.ggml.token_type", {3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1});
  f.raw("tokenizer.ggml.merges", kGgufArray, texts(merges));
  f.u32("tokenizer.ggml.bos_token_id", 2);
  const std::string path = out.put("m.gguf", f.bytes());
  o.plain = false;
  REQUIRE(convert_to_file(path, out.at("packed.gguf"), o, &err) == LINNET_OK);
  o.plain = true;
  for (const std::string& from : {path, out.at("packed.gguf")}) {
    REQUIRE(convert_to_file(from, out.at("again.gguf"), o, &err) == LINNET_OK);
    const std::string bytes = slurp(out.at("again.gguf"));
    const auto g = std::make_unique<Gguf>();
    REQUIRE(gguf_open(bytes.data(), bytes.size(), "again", g.get(), &err) == LINNET_OK);
    GgufValue v;
    CHECK((g->key("tokenizer.ggml.model", &v) && v.text == "gemma4"));
    REQUIRE(g->key("tokenizer.ggml.merges", &v));
    std::vector<std::string> got;
    size_t pos = 0;
    for (std::string_view text; gguf_next_string(v, &pos, &text);) got.emplace_back(text);
    CHECK(got == merges);
  }
}

TEST_CASE("GGUF: Gemma 3n's layers that look at earlier ones' keys, gates and streams, and what is refused") {
  Source made;
  ModelSpec& s = made.spec;
  s = architecture_by_hf("gemma3n_text")->spec;
  std::strncpy(s.architecture, "gemma3n_text", sizeof s.architecture - 1);
  s.n_layers = 22, s.d_model = 16, s.n_heads = 2, s.n_kv_heads = 1, s.head_dim = 8, s.d_ff = 12, s.n_vocab = 20, s.n_context = 64;
  s.rope_kind = kRopeHalves, s.rope_dim = 8, s.rope_base = 1e6, s.rope_local_base = 1e4, s.norm_eps = 1e-6, s.tied = 1;
  s.rope_factor = s.rope_low = s.rope_high = 1, s.embd_scale = 4, s.window = 16, s.window_pattern = 2;
  s.laurel_rank = 3, s.layer_embd = 16, s.layer_embd_vocab = 18, s.sparse_cut = static_cast<double>(deviations_below(0.95f));
  std::vector<LayerSpec> layers;
  for (uint32_t i = 0; i < s.n_layers; ++i) {
    layers.push_back(layer_spec(s, i));
    layers[i].sparse = i < 10;
    if (i >= 20) layers[i].kv_back = 2;
  }
  set_layers(&made, layers);
  linnet_error err = {};
  add_random(&made, 31, [](Role role, std::vector<float>& values) {
    if (role == kAttnVNorm) std::fill(values.begin(), values.end(), 1.0f);
  });
  Options o;
  o.plain = true;
  o.weights = LINNET_F32;
  Rows want = rows_of(made);
  Source source = made;
  REQUIRE(to_gguf_conventions(&source, &err) == LINNET_OK);
  Image image;
  REQUIRE(write_to_memory(source, o, &image, &err) == LINNET_OK);
  const GgufFile plain = parsed({reinterpret_cast<const char*>(image.data), image.bytes});
  image_free(&image);
  GgufFile f = plain;
  Source got = imported([&](GgufFile& to) { to = f; });
  // Readers have a row for every token; those past the last have the first one's.
  std::vector<float>& table = want[{kLayerEmbd, 0}];
  for (int i = 0; i < 2; ++i) table.insert(table.end(), table.begin(), table.begin() + 22 * 16);
  CHECK(rows_of(got) == want);
  CHECK((got.spec.layer_embd_vocab == 20 && got.spec.laurel_rank == 3 && got.spec.streams == kStreams &&
         got.spec.sparse_cut == s.sparse_cut));
  for (uint32_t i = 0; i < s.n_layers; ++i) {
    const LayerSpec a = layer_spec(got.spec, i);
    CHECK((a.kv_back == layers[i].kv_back && a.sparse == layers[i].sparse && a.window == layers[i].window));
  }
  // Asked for by llama.cpp, which never reads them either.
  REQUIRE(f.tensor("blk.21.attn_k.weight"));
  CHECK(f.tensor("blk.21.attn_v.weight")->data == f.tensor("blk.19.attn_v.weight")->data);
  for (const char* name : {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"}) f.remove(std::string("blk.21.") + name);
  CHECK(rows_of(imported([&](GgufFile& to) { to = f; })) == want);
  const std::string p = "gemma3n.";
  const auto refused = [&](const char* key, uint32_t value, const char* what, linnet_status status = kNot) {
    GgufFile bad = plain;
    bad.remove(p + key);
    bad.u32(p + key, value);
    import_refused(bad, status, {what});
  };
  refused("attention.shared_kv_layers", 3, "shared_kv_layers' = 3 of 22 layers is not supported, only 2");
  refused("altup.num_inputs", 3, "'altup.num_inputs' = 3");
  refused("altup.active_idx", 1, "'altup.active_idx' = 1");
  refused("final_logit_softcapping", 12, "final_logit_softcapping' = 12");
  refused("activation_sparsity_scale", 1, "is not a list of 22 numbers", kBad);
  refused("attention.key_length_swa", 8, "attention.key_length_swa' = 8 is not supported");
  const auto put_scales = [&](GgufFile* to, float first, float last) {
    std::string raw = le(uint32_t{kGgufF32}) + le(uint64_t{22});
    for (int i = 0; i < 22; ++i) raw += le(i < 10 ? first : last);
    to->remove(p + "activation_sparsity_scale");
    to->raw(p + "activation_sparsity_scale", kGgufArray, raw);
  };
  put_scales(&(f = plain), 1.28f, -INFINITY);
  import_refused(f, kNot, {"activation_sparsity_scale': 1.28"});
  put_scales(&(f = plain), NAN, -INFINITY);
  import_refused(f, kNot, {"activation_sparsity_scale': "});
  put_scales(&(f = plain), 1.6448536f, 1.6448536f);
  import_refused(f, kNot, {"activation_sparsity_scale': 1.644854 of layer 10"});
  put_scales(&(f = plain), 1.6448535f, -INFINITY);  // as another PyTorch rounds it
  CHECK(imported([&](GgufFile& to) { to = f; }).spec.sparse_cut == static_cast<double>(1.6448535f));
  (f = plain).remove(p + "activation_sparsity_scale");
  CHECK(imported([&](GgufFile& to) { to = f; }).spec.sparse_cut == s.sparse_cut);
  (f = plain).remove("blk.0.laurel_l.weight");
  import_refused(f, kBad, {"blk.0.laurel_l.weight' is missing"});
  f = plain;
  f.tensor("altup_proj.weight")->dims = {16, 48};
  import_refused(f, kBad, {"altup_proj.weight': dimensions 16 x 48 x 1 x 1, not 16 x 16 x 3 x 1"});
  // What llama.cpp would take otherwise is not written.
  layers[10].sparse = 1;
  set_layers(&made, layers);
  source = made;
  REQUIRE(to_gguf_conventions(&source, &err) == LINNET_OK);
  CHECK(write_to_memory(source, o, &image, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("activation_sparsity_scale") != std::string::npos);
}

namespace {
// A golden with a whole layer for speculation, of which `apart` stands beside the layers as `mtp.`.
struct Speculating : test::TemporaryFolder {
  std::string golden;
  bool apart;
  uint32_t layer = 0;
  test::StoredTensors tensors;

  explicit Speculating(const std::string& name) : golden("tests/golden/" + name), apart(name.starts_with("qwen")) {
    Source source;
    linnet_error err = {};
    REQUIRE(source_from_folder(golden, &source, &err) == LINNET_OK);
    layer = source.spec.n_layers;
    tensors = test::read_tensors(golden);
    const uint64_t d = source.spec.d_model, vocab = source.spec.n_vocab;
    std::erase_if(tensors, [&](const auto& t) { return t.first.starts_with(of("")); });  // a part of one
    uint32_t like = layer - 1;
    while (layer_spec(source.spec, like).mixer != kMixerAttention && layer_spec(source.spec, like).mixer != kMixerLatent) --like;
    const std::string root = "model.layers." + std::to_string(like) + ".";
    const test::StoredTensors before = tensors;
    for (const auto& [from, t] : before)
      if (from.starts_with(root)) put(of(from.substr(root.size())), t.shape);
    put(apart ? "mtp.fc.weight" : of("eh_proj.weight"), {d, 2 * d});
    put(apart ? "mtp.pre_fc_norm_embedding.weight" : of("enorm.weight"), {d});
    put(apart ? "mtp.pre_fc_norm_hidden.weight" : of("hnorm.weight"), {d});
    put(apart ? "mtp.norm.weight" : of("shared_head.norm.weight"), {d});
    if (!apart) put(of("embed_tokens.weight"), {vocab, d}), put(of("shared_head.head.weight"), {vocab, d});
    std::filesystem::copy(golden + "/config.json", path);
    write();
  }
  std::string of(const std::string& name) const { return (apart ? "mtp.layers.0." : "model.layers." + std::to_string(layer) + ".") + name; }
  void put(const std::string& name, std::vector<uint64_t> shape) {
    uint64_t n = 1;
    for (const uint64_t s : shape) n *= s;
    tensors[name] = {"F32", std::move(shape), test::tensor_data(kGgmlF32, n, static_cast<uint32_t>(tensors.size()))};
  }
  std::vector<float> values(const std::string& name) const {
    const std::string& bytes = tensors.at(name).bytes;
    std::vector<float> v(bytes.size() / sizeof(float));
    std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
  }
  void write() const { test::write_tensors(path, tensors); }
  void write_config(const nlohmann::json& quantisation) const {
    nlohmann::json config;
    std::ifstream(golden + "/config.json") >> config;
    if (!quantisation.is_null()) config["quantization_config"] = quantisation;
    std::ofstream(path + "/config.json") << config;
  }
};
}  // namespace

TEST_CASE("layers for speculation are kept beside the model and change nothing of it") {
  for (const std::string name : {"qwen3-5", "qwen3-5-moe", "qwen3-next", "glm4-moe", "glm4-moe-lite", "deepseek-v3"}) {
    INFO(name);
    Speculating made(name);
    Source folder;
    linnet_error err = {};
    const linnet_status status = source_from_folder(made.path, &folder, &err);
    INFO(err.text);
    REQUIRE(status == LINNET_OK);
    REQUIRE(folder.ahead);
    const uint32_t layer = made.layer;
    CHECK((folder.spec.n_layers == layer && folder.ahead->spec.n_layers == layer + 1 && folder.ahead->spec.n_ahead == 1));
    const Rows rows = rows_of(*folder.ahead);
    const auto norm = [&](std::vector<float> v) {
      for (float& x : v) x += made.apart ? 1.0f : 0.0f;
      return v;
    };
    CHECK(rows.at({kAheadProj, layer}) == made.values(made.apart ? "mtp.fc.weight" : made.of("eh_proj.weight")));
    CHECK(rows.at({kAheadEmbdNorm, layer}) == norm(made.values(made.apart ? "mtp.pre_fc_norm_embedding.weight" : made.of("enorm.weight"))));
    CHECK(rows.at({kAheadRowNorm, layer}) == norm(made.values(made.apart ? "mtp.pre_fc_norm_hidden.weight" : made.of("hnorm.weight"))));
    CHECK(rows.at({kAheadOutputNorm, layer}) == norm(made.values(made.apart ? "mtp.norm.weight" : made.of("shared_head.norm.weight"))));
    CHECK(rows.at({kAttnOut, layer}) == made.values(made.of("self_attn.o_proj.weight")));
    CHECK(rows.count({kAheadOutput, layer}) == (made.apart ? 0 : 1));
    if (!made.apart) CHECK(rows.at({kAheadTokenEmbd, layer}) == made.values(made.of("embed_tokens.weight")));
    if (!made.apart) CHECK(rows.at({kAheadOutput, layer}) == made.values(made.of("shared_head.head.weight")));

    // Into packed and plain files and back, in either order.
    Options o;
    o.weights = LINNET_F32;
    const auto convert = [&](const std::string& from, const char* to, bool plain) {
      o.plain = plain;
      const linnet_status got = convert_to_file(from, made.path + "/" + to, o, &err);
      INFO(err.text);
      REQUIRE(got == LINNET_OK);
      return made.path + "/" + to;
    };
    const std::string packed = convert(made.path, "packed.gguf", false), plain = convert(made.path, "plain.gguf", true);
    Source again;
    bool is = false;
    REQUIRE(source_from_packed(packed, &again, &is, &err) == LINNET_OK);
    REQUIRE((is && again.ahead));
    CHECK(rows_of(*again.ahead) == rows);
    for (const std::string& file : {plain, convert(packed, "unpacked.gguf", true)}) {
      REQUIRE(source_from_gguf(file, &again, &err) == LINNET_OK);
      REQUIRE(again.ahead);
      CHECK(rows_of(*again.ahead) == rows);
    }
    REQUIRE(source_from_packed(convert(plain, "repacked.gguf", false), &again, &is, &err) == LINNET_OK);
    REQUIRE((is && again.ahead));
    CHECK(rows_of(*again.ahead) == rows);
    Description d;
    REQUIRE(describe(packed, &d, &err) == LINNET_OK);
    CHECK((d.n_ahead == 1 && d.ahead_bytes > 0 && d.ahead_bytes < d.tensor_bytes));

    const auto bytes_of = [](const std::string& at) {
      std::ifstream in(at, std::ios::binary);
      return std::string((std::istreambuf_iterator<char>(in)), {});
    };
    // The model is the same: its bytes in the file, what it takes, its logits. Nothing of these layers is read.
    o.plain = false;
    o.weights = LINNET_I8G32;
    Image with = {}, without = {};
    REQUIRE(convert_to_memory(made.path, o, &with, &err) == LINNET_OK);
    o.mtp = false;
    REQUIRE(convert_to_memory(made.path, o, &without, &err) == LINNET_OK);
    CHECK(with.bytes > without.bytes);
    const auto g = std::make_unique<Gguf>();
    REQUIRE(gguf_open(with.data, with.bytes, "with", g.get(), &err) == LINNET_OK);
    uint64_t last = 0, first = UINT64_MAX, bytes = 0;  // of the model's and of these
    for (uint32_t i = 0; i < g->n_tensors; ++i) {
      GgufTensor t;
      g->tensor_entry(i, &t);
      const bool ahead = t.name.find("blk." + std::to_string(layer) + ".") != std::string_view::npos;
      if (!ahead) last = std::max(last, t.offset);
      if (!ahead) continue;
      first = std::min(first, t.offset), bytes += t.bytes;
      std::memset(const_cast<uint8_t*>(t.data), 0xFF, t.bytes);
    }
    CHECK((bytes > 0 && first > last));
    const test::Model a(with), b(without);
    CHECK((a.desc.weight_bytes == b.desc.weight_bytes && a.desc.n_params == b.desc.n_params));
    const auto need = [&](const test::Model& m) {
      linnet_need n{.size = sizeof n};
      const linnet_view view = m.image.view();
      REQUIRE(linnet_model_need(&view, nullptr, &n, &err) == LINNET_OK);
      return n.bytes;
    };
    CHECK(need(a) == need(b));
    const test::Tokens tokens = {1, 5, 2, 9, 4};
    const auto x = test::all_logits(a, tokens, LINNET_I8), y = test::all_logits(b, tokens, LINNET_I8);
    for (size_t i = 0; i < x.size(); ++i) CHECK(test::same_bytes(x[i], y[i]));
    Loaded loaded;  // what is packed into memory alone has none
    o.mtp = true;
    REQUIRE(load(made.path, LINNET_LOAD_DEFAULT, o, &loaded, &err) == LINNET_OK);
    CHECK(loaded.file.bytes == b.image.bytes);
    unload(&loaded);
    REQUIRE(load(packed, LINNET_LOAD_COPY, o, &loaded, &err) == LINNET_OK);  // and a copy of a file reads none
    REQUIRE(gguf_open(loaded.file.data, loaded.file.bytes, "copy", g.get(), &err) == LINNET_OK);
    const std::string whole = bytes_of(packed);
    REQUIRE(loaded.file.bytes == whole.size());
    for (uint32_t i = 0; i < g->n_tensors; ++i) {
      GgufTensor t;
      g->tensor_entry(i, &t);
      uint32_t behind = 0;
      const bool none = behind_layers(t.name, layer, &behind);
      INFO(t.name);
      CHECK(std::string(reinterpret_cast<const char*>(t.data), t.bytes) ==
            (none ? std::string(t.bytes, '\0') : whole.substr(static_cast<size_t>(t.offset), t.bytes)));
    }
    unload(&loaded);

    // Without one of its tensors a layer is left out, with one of another shape or one too many it is refused.
    const auto refused = [&](const std::string& what, const char* why) {
      made.write();
      const linnet_status got = source_from_folder(made.path, &again, &err);
      CAPTURE(err.text);
      CHECK(got != LINNET_OK);
      CHECK(std::string(err.text).find("'" + what + "'") != std::string::npos);
      CHECK(std::string(err.text).find(why) != std::string::npos);
    };
    const test::StoredTensors all = made.tensors;
    const std::string proj = made.apart ? "mtp.fc.weight" : made.of("eh_proj.weight");
    made.tensors.erase(proj);
    made.write();
    REQUIRE(source_from_folder(made.path, &again, &err) == LINNET_OK);
    CHECK(!again.ahead);
    REQUIRE(again.notes.size() == 1);
    CHECK(again.notes[0] == "layers for speculation are left out: tensor '" + proj + "' is missing");
    made.put(proj, {7, 5});
    refused(proj, "has shape [7, 5]");
    made.tensors = all;
    made.put(made.of("input_layernorm.weight"), {3});
    refused(made.of("input_layernorm.weight"), "has shape [3]");
    made.tensors = all;
    made.put(made.of("self_attn.odd.weight"), {3});
    refused(made.of("self_attn.odd.weight"), "has no place in the layers for speculation");
    // Zero biases that a quantiser wrote beside a matrix say nothing.
    made.tensors = all;
    const std::string bias = made.of("self_attn.o_proj.bias");
    made.tensors[bias] = {"F32", {3}, std::string(12, '\0')};
    refused(bias, "has no place in the layers for speculation");
    made.write_config({{"quant_method", "fp8"}});
    REQUIRE(source_from_folder(made.path, &again, &err) == LINNET_OK);
    CHECK((again.ahead && rows_of(*again.ahead) == rows));
    made.tensors[bias].bytes[11] = 1;
    refused(bias, "has no place in the layers for speculation");
    made.tensors = all;
    made.tensors[made.of("self_attn.odd.bias")] = {"F32", {3}, std::string(12, '\0')};
    refused(made.of("self_attn.odd.bias"), "has no place in the layers for speculation");
    made.write_config(nullptr);

    const std::string nextn = "blk." + std::to_string(layer) + ".nextn.";
    GgufFile f = parsed(bytes_of(plain));
    *f.tensor(nextn + "enorm.weight") = {nextn + "enorm.weight", {3}, kGgmlF32, std::string(12, '\0')};
    import_refused(f, LINNET_BAD_FILE, {nextn + "enorm.weight': dimensions 3 x 1 x 1 x 1"});
    f = parsed(bytes_of(plain));
    f.tensors.push_back({nextn + "odd.weight", {3}, kGgmlF32, std::string(12, '\0')});
    import_refused(f, LINNET_UNSUPPORTED, {nextn + "odd.weight' is unknown"});

    // A packed file that claims more of them than there may be, and one that lacks their tensors.
    std::string damaged = bytes_of(packed);
    const std::string key = std::string(gguf_architecture(*architecture_by_hf(folder.spec.architecture), folder.spec)) +
                            ".nextn_predict_layers" + le(uint32_t{kGgufU32});
    const size_t at = damaged.find(key);
    REQUIRE(at != std::string::npos);
    for (const auto& [n, why] : {std::pair{UINT32_MAX, "of which there may be 1024"}, {2u, "is missing"}}) {
      damaged.replace(at + key.size(), 4, le(uint32_t{n}));
      std::ofstream(packed, std::ios::binary) << damaged;
      CHECK(source_from_packed(packed, &again, &is, &err) == LINNET_BAD_FILE);
      INFO(err.text);
      CHECK(std::string(err.text).find(why) != std::string::npos);
    }
  }
}

TEST_CASE("GGUF import: gated delta nets are what their folders are") {
  for (const std::string name : {"qwen3-5", "qwen3-5-moe", "qwen3-next"}) {
    Source folder;
    linnet_error err = {};
    REQUIRE(source_from_folder("tests/golden/" + name, &folder, &err) == LINNET_OK);
    const GgufFile plain = delta_file(folder);
    const std::string p = plain.tensors.empty() ? "" : std::string(architecture_by_hf(folder.spec.architecture)->gguf) + ".";
    const auto same = [&](const GgufFile& f) {
      const Source got = imported([&](GgufFile& to) { to = f; });
      ModelSpec a = got.spec, b = folder.spec;
      for (uint32_t i = 0; i < b.n_layers; ++i) CHECK((layer_spec(a, i).mixer == layer_spec(b, i).mixer));
      for (ModelSpec* s : {&a, &b}) std::memset(s->layer_values, 0, sizeof s->layer_values);
      CHECK(std::memcmp(&a, &b, sizeof a) == 0);
      CHECK(rows_of(got) == rows_of(folder));
    };
    INFO(name);
    GgufFile f = plain;
    f.u32(p + "full_attention_interval", 2);
    same(f);
    f = plain;
    put_flags(&f, p + "attention.recurrent_layers", {1, 0, 1});
    same(f);
    // A layer for speculation behind the others.
    put_flags(&f, p + "attention.recurrent_layers", {1, 0, 1, 0});
    put_layer(&f, 3);
    import_refused(f, kBad, {"attention.recurrent_layers' = an array of 4"});
    f.key(p + "block_count")->value = le(uint32_t{kGgufU32}) + le(uint32_t{4});
    f.u32(p + "nextn_predict_layers", 1);
    same(f);
    f.key(p + "nextn_predict_layers")->value = le(uint32_t{kGgufU32}) + le(uint32_t{4});
    import_refused(f, kBad, {"nextn_predict_layers' = 4 of block_count = 4"});
    f.key(p + "block_count")->value = le(uint32_t{kGgufU32}) + le(uint32_t{1028});
    f.key(p + "nextn_predict_layers")->value = le(uint32_t{kGgufU32}) + le(uint32_t{1025});
    import_refused(f, kBad, {"nextn_predict_layers' = 1025 of block_count = 1028"});
    f = plain;
    put_flags(&f, p + "attention.recurrent_layers", {1, 0, 1});
    put_layer(&f, 3);
    import_refused(f, kNot, {"'blk.3.", "is unknown, or has no place"});
    f = plain;
    f.u32(p + "full_attention_interval", 0);
    import_refused(f, kBad, {"full_attention_interval' is 0"});
    f = plain;
    f.key(p + "ssm.time_step_rank")->value = le(uint32_t{kGgufU32}) + le(uint32_t{7});
    import_refused(f, kBad, {"ssm.inner_size' = ", "no multiple of ssm.time_step_rank = 7"});
    f = plain;  // where no layer is such a net, too
    f.u32(p + "full_attention_interval", 1);
    f.key(p + "ssm.group_count")->value = le(uint32_t{kGgufU32}) + le(uint32_t{0});
    import_refused(f, kBad, {"no multiple of ssm.group_count = 0"});
    for (const char* key : {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.time_step_rank", "ssm.inner_size"}) {
      f = plain;
      f.remove(p + key);
      import_refused(f, kBad, {p + key + "' is missing"});
    }
    // Older files of Qwen3-Next have all projections by key head.
    if (name != "qwen3-next") continue;
    f = plain;
    f.u32(p + "full_attention_interval", 2);
    const ModelSpec& s = folder.spec;
    const uint32_t key = s.delta_key_dim, value = s.delta_value_heads / s.delta_key_heads * s.delta_value_dim,
                   n = s.delta_key_heads * 2 * (key + value);
    for (const char* blk : {"blk.0.", "blk.2."}) {
      const std::string qkv = f.tensor(std::string(blk) + "attn_qkv.weight")->data,
                        gate = f.tensor(std::string(blk) + "attn_gate.weight")->data;
      const size_t row = s.d_model * sizeof(float);
      std::string all;
      for (uint32_t h = 0; h < s.delta_key_heads; ++h)
        all += qkv.substr(h * key * row, key * row) + qkv.substr((s.delta_key_heads + h) * key * row, key * row) +
               qkv.substr((2 * s.delta_key_heads * key + h * value) * row, value * row) + gate.substr(h * value * row, value * row);
      f.remove(std::string(blk) + "attn_qkv.weight"), f.remove(std::string(blk) + "attn_gate.weight");
      f.tensors.push_back({std::string(blk) + "ssm_in.weight", {s.d_model, n}, kGgmlF32, all});
    }
    same(f);
  }
}

TEST_CASE("GGUF import: tiled value heads move with blocks that their heads hold whole, else stay") {
  for (const uint32_t value_dim : {16u, 32u}) {
    Source made;
    ModelSpec& s = made.spec;
    s = architecture_by_hf("qwen3_5_text")->spec;
    std::strncpy(s.architecture, "qwen3_5_text", sizeof s.architecture - 1);
    s.n_layers = 2, s.d_model = 64, s.n_heads = 2, s.n_kv_heads = 1, s.head_dim = 32, s.d_ff = 256, s.n_vocab = 48, s.n_context = 64;
    s.rope_kind = kRopeHalves, s.rope_dim = 8, s.rope_base = 1e4, s.norm_eps = 1e-6, s.tied = 1;
    s.rope_factor = s.rope_low = s.rope_high = 1;
    s.delta_key_heads = 2, s.delta_value_heads = 6, s.delta_key_dim = 16, s.delta_value_dim = value_dim;
    LayerSpec layers[2] = {layer_spec(s, 0), layer_spec(s, 1)};
    layers[0].mixer = kMixerDelta, layers[0].rope = LayerRope::kNone;
    set_layers(&made, {layers[0], layers[1]});
    add_random(&made, 7, [](Role role, std::vector<float>& values) {
      for (float& v : values) v = role == kDeltaA ? -std::fabs(v) : role_row(role).norm() || role == kDeltaNorm ? 1 + v : v;
    });
    // What reads the same rows goes along with a quantised one.
    Source mixed = made;
    for (SourceTensor& t : mixed.tensors)
      if (t.role == kDeltaIn || t.role == kAttnQ) t.own = LINNET_F8E4M3G128;
    match_groups(&mixed, {});
    for (const SourceTensor& t : mixed.tensors)
      if (t.role == kDeltaGate || t.role == kAttnGate) CHECK(format_row(t.own).x == LINNET_BF16);
    // The same numbers as floats and in blocks.
    GgufFile blocks = delta_file(made);
    put_flags(&blocks, "qwen35.attention.recurrent_layers", {1, 0});
    GgufFile floats = blocks;
    const std::string out = "blk.0.ssm_out.weight";
    const size_t n = size_t{6} * value_dim * 64;
    blocks.tensor(out)->type = kGgmlQ8_0;
    blocks.tensor(out)->data = test::tensor_data(kGgmlQ8_0, n, 5);
    ggml_values(kGgmlQ8_0, reinterpret_cast<const uint8_t*>(blocks.tensor(out)->data.data()), n,
                reinterpret_cast<float*>(floats.tensor(out)->data.data()));
    Source a = imported([&](GgufFile& to) { to = floats; }), b = imported([&](GgufFile& to) { to = blocks; });
    CAPTURE(value_dim);
    CHECK(a.spec.delta_tiled == 0);
    CHECK(b.spec.delta_tiled == (value_dim == 16));
    CHECK((rows_of(a) == rows_of(b)) == (value_dim == 32));
    if (b.spec.delta_tiled)
      for (SourceTensor& t : b.tensors) tile_values(&t, b.spec, false);
    CHECK(rows_of(a) == rows_of(b));

    const Folder folder;
    const std::string f = folder.put("f.gguf", floats.bytes()), q = folder.put("q.gguf", blocks.bytes());
    Packed packed(q, LINNET_FORMAT_DEFAULT);
    INFO(packed.err.text);
    REQUIRE(packed.status == LINNET_OK);
    const Rows rows = rows_of(imported([&](GgufFile& to) { to = blocks; }));
    const std::vector<float>& want = rows.at({kDeltaOut, 0});
    for (uint32_t i = 0; i < 64; ++i) {
      const std::vector<float> row = packed.row(kDeltaOut, 0, i);
      CHECK(test::same_bytes(row, std::vector<float>(want.begin() + i * 6 * value_dim, want.begin() + (i + 1) * 6 * value_dim)));
    }
    // Beside blocks that ask for an older version of the layout than layers with a state do.
    GgufFile older = blocks;
    older.tensor("blk.1.ffn_down.weight")->type = kGgmlQ6_K;
    older.tensor("blk.1.ffn_down.weight")->data = test::tensor_data(kGgmlQ6_K, 256 * 64, 6);
    const Packed mixed_blocks(folder.put("older.gguf", older.bytes()), LINNET_FORMAT_DEFAULT);
    INFO(mixed_blocks.err.text);
    REQUIRE(mixed_blocks.status == LINNET_OK);
    CHECK(mixed_blocks.spec.delta_value_dim == value_dim);
    test::Tokens tokens;
    for (int32_t i = 0; i < 20; ++i) tokens.push_back(i * 7 % 48);
    const auto of_floats = test::all_logits(test::Model(f, LINNET_F32), tokens, LINNET_F32),
               of_blocks = test::all_logits(test::Model(q, LINNET_F32), tokens, LINNET_F32);
    CHECK(std::isfinite(of_floats.back()[0] / of_floats.back()[1]));
    CHECK(test::max_error(of_floats, of_blocks) < 1e-5);
    // Written again they are the blocks that they were.
    Options o;
    o.plain = true;
    o.weights = LINNET_I8G32;
    linnet_error err = {};
    REQUIRE(convert_to_file(q, folder.at("again.gguf"), o, &err) == LINNET_OK);
    const std::string bytes = slurp(folder.at("again.gguf"));
    const auto g = std::make_unique<Gguf>();
    GgufTensor t;
    REQUIRE((gguf_open(bytes.data(), bytes.size(), "again", g.get(), &err) == LINNET_OK && g->tensor(out, &t)));
    CHECK(std::string(reinterpret_cast<const char*>(t.data), t.bytes) == blocks.tensor(out)->data);
  }
}

namespace {
void put_count(GgufFile* f, const std::string& key, uint32_t value) { f->remove(key), f->u32(key, value); }
}  // namespace

TEST_CASE("GGUF import: xIELU's numbers") {
  const GgufFile plain = plain_of("apertus");
  const auto put = [&](const char* key, std::initializer_list<float> values) {
    GgufFile f = plain;
    f.remove(key);
    std::string raw = le(uint32_t{kGgufF32}) + le(uint64_t{values.size()});
    for (const float v : values) raw += le(v);
    f.raw(key, kGgufArray, raw);
    return f;
  };
  const auto numbers = [](const Source& source, uint32_t layer) {
    std::vector<float> of(4);
    linnet_error err = {};
    for (const SourceTensor& t : source.tensors)
      if (t.role == kFfnXielu && t.layer == layer) REQUIRE(t.rows(0, 4, of.data(), &err) == LINNET_OK);
    return of;
  };
  const auto read = [&](const GgufFile& f) { return imported([&](GgufFile& to) { to = f; }); };
  Source want;
  linnet_error err = {};
  REQUIRE(source_from_folder("tests/golden/apertus", &want, &err) == LINNET_OK);
  for (uint32_t i = 0; i < 2; ++i) CHECK((numbers(read(plain), i) == numbers(want, i) && numbers(want, i)[2] > 0));
  CHECK(numbers(read(put("xielu.beta", {0.25f, 0.75f})), 1)[2] == 0.75f);
  GgufFile f = plain;
  f.remove("xielu.eps");
  import_refused(f, kBad, {"key 'xielu.eps' is missing"});
  f.f32("xielu.eps", -0.125f);  // of all layers
  CHECK((numbers(read(f), 0)[3] == -0.125f && numbers(read(f), 1)[3] == -0.125f));
  f.remove("xielu.eps");
  f.u32("xielu.eps", 0);
  import_refused(f, kBad, {"key 'xielu.eps' is no number and no list of 2 numbers"});
  import_refused(put("xielu.alpha_n", {1.0f}), kBad, {"'xielu.alpha_n' is no number and no list of 2"});
  import_refused(put("xielu.eps", {-0.5f, 0.5f}), kNot, {"layer 1: xielu.eps = 0.5"});
  import_refused(put("xielu.alpha_p", {NAN, 1.0f}), kNot, {"layer 0: xielu.alpha_p = "});
}

TEST_CASE("GGUF import: layers with Mamba-2, layers of one step, and Kimi Linear") {
  const auto rows_like = [](const std::string& folder, const GgufFile& f) {
    Source want;
    linnet_error err = {};
    REQUIRE(source_from_folder("tests/golden/" + folder, &want, &err) == LINNET_OK);
    const Source got = imported([&](GgufFile& to) { to = f; });
    CHECK(rows_of(got) == rows_of(want));
    for (uint32_t i = 0; i < want.spec.n_layers; ++i) {
      const LayerSpec a = layer_spec(got.spec, i), b = layer_spec(want.spec, i);
      CHECK((a.mixer == b.mixer && a.feed_forward == b.feed_forward && a.rope == b.rope));
    }
    CHECK((got.spec.rope_kind == want.spec.rope_kind && got.spec.rope_dim == want.spec.rope_dim));
  };
  const GgufFile dense = plain_of("nemotron-h"), moe = plain_of("nemotron-h-moe"), bamba = plain_of("bamba"), alone = plain_of("mamba2");
  std::string p = "nemotron_h.";
  GgufFile f = dense;  // as files of other versions have it
  f.remove(p + "attention.layer_norm_epsilon");
  import_refused(f, kBad, {"attention.layer_norm_epsilon' is missing"});
  f.f32(p + "attention.layer_norm_rms_epsilon", 1e-5f);
  rows_like("nemotron-h", f);
  f = dense;
  put_counts(&f, p + "attention.head_count_kv", {0, 0, 1, 0});
  import_refused(f, kBad, {"attention.head_count_kv' = an array of 4", "5 counts"});
  f = dense;
  put_counts(&f, p + "feed_forward_length", {0, 52, 0, 0});
  import_refused(f, kBad, {"feed_forward_length' = an array of 4 is not a list of 5 counts"});
  put_count(&f, p + "feed_forward_length", 52);
  import_refused(f, kBad, {"feed_forward_length' is missing or no array"});
  put_counts(&f, p + "feed_forward_length", {0, 52, 0, 0, 50});
  import_refused(f, kBad, {"blk.4.ffn_", "50"});
  put_counts(&f, p + "feed_forward_length", {0, 52, 0, 9, 52});
  import_refused(f, kBad, {"blk.3.", "is missing"});
  // A layer for speculation behind the others counts in the lists.
  p = "nemotron_h_moe.";
  f = moe;
  put_count(&f, p + "block_count", 5);
  put_count(&f, p + "nextn_predict_layers", 1);
  import_refused(f, kBad, {"feed_forward_length' = an array of 4 is not a list of 5 counts"});
  put_counts(&f, p + "feed_forward_length", {0, 20, 0, 20, 20});
  import_refused(f, kBad, {"attention.head_count_kv' = an array of 4"});
  put_counts(&f, p + "attention.head_count_kv", {0, 0, 1, 0, 1});
  f.tensors.push_back({"blk.4.nextn.enorm.weight", {24}, kGgmlF32, std::string(96, '\0')});
  rows_like("nemotron-h-moe", f);
  f = moe;
  put_counts(&f, p + "feed_forward_length", {0, 20, 0, 24});
  import_refused(f, kNot, {"feed_forward_length': 24 of experts of 20"});
  f = moe;
  f.u32(p + "moe_latent_size", 8);
  import_refused(f, kNot, {"moe_latent_size"});
  // Without the key a granitehybrid has RoPE.
  f = bamba;
  f.remove("granitehybrid.rope.scaling.finetuned");
  rows_like("bamba", f);
  f = alone;
  rows_like("mamba2", f);
  put_count(&f, "mamba2.ssm.time_step_rank", 7);
  import_refused(f, kBad, {"ssm.inner_size, ssm.time_step_rank and ssm.group_count are 48, 7 and 2"});
  const GgufFile kimi = plain_of("kimi-linear");
  p = "kimi-linear.";
  f = kimi;
  f.tensor("blk.0.ssm_a")->dims = {1, 2};  // as quantised files have them
  for (const char* part : {"q", "k", "v"}) f.tensor(std::string("blk.0.ssm_conv1d_") + part + ".weight")->dims.pop_back();
  rows_like("kimi-linear", f);
  f.tensor("blk.0.ssm_a")->dims = {1, 1, 1, 2};
  import_refused(f, kBad, {"blk.0.ssm_a': dimensions 1 x 1 x 1 x 2, not 1 x 2 x 1 x 1"});
  f = kimi;
  put_count(&f, p + "kda.head_dim", 12);
  import_refused(f, kBad, {"blk.0.attn_q.weight': dimensions 40 x 28 x 1 x 1, not 40 x 24"});
  put_count(&f, p + "attention.head_count_kv", 1);
  import_refused(f, kBad, {"attention.head_count_kv' is missing or no array"});
  for (const char* key : {"kda.head_dim", "ssm.conv_kernel", "attention.kv_lora_rank"}) {
    f = kimi;
    f.remove(p + key);
    import_refused(f, kBad, {std::string(key) + "' is missing"});
  }
  f = moe;
  f.u32("nemotron_h_moe.kda.head_dim", 12);
  import_refused(f, kNot, {"kda.head_dim"});
  f = plain_of("falcon-h1");
  p = "falcon-h1.";
  rows_like("falcon-h1", f);
  f.remove("blk.1.ssm_in.weight");
  import_refused(f, kBad, {"blk.1.ssm_in.weight' is missing"});
  f = plain_of("falcon-h1");
  f.tensors.push_back({"blk.0.ssm_norm.weight", {27, 2}, kGgmlF32, std::string(216, '\0')});
  import_refused(f, kBad, {"blk.1.ssm_norm.weight' is missing"});
  f = plain_of("falcon-h1");
  put_counts(&f, p + "attention.head_count_kv", std::vector<uint32_t>(imported([&](GgufFile& to) { to = f; }).spec.n_layers, 1));
  rows_like("falcon-h1", f);  // a list of the same
  put_counts(&f, p + "attention.head_count_kv", {1, 0});
  import_refused(f, kNot, {p + "attention.head_count_kv': 0 is not supported"});
  f = plain_of("ernie4-5-moe");
  p = "ernie4_5-moe.";
  rows_like("ernie4-5-moe", f);
  f.remove(p + "expert_shared_feed_forward_length");
  rows_like("ernie4-5-moe", f);  // as wide as so many experts
  f.u32(p + "expert_shared_feed_forward_length", 24);
  import_refused(f, kBad, {"blk.1.ffn_", "shexp.weight': dimensions 24 x 20", "not 24 x 24"});
  f = plain_of("ernie4-5-moe");
  put_count(&f, p + "expert_shared_count", 0);
  import_refused(f, kNot, {"shexp.weight' is unknown"});
}

TEST_CASE("GGUF import: lists by layer have an entry for layers behind the model, too") {
  const auto behind = [](GgufFile f, const std::string& prefix, uint32_t n) {
    f.key(prefix + "block_count")->value = le(uint32_t{kGgufU32}) + le(n + 1);
    f.u32(prefix + "nextn_predict_layers", 1);
    return f;
  };
  for (const auto& [name, prefix] : {std::pair<std::string, std::string>{"olmo3", "olmo2."}, {"exaone4", "exaone4."}}) {
    CAPTURE(name);
    const GgufFile plain = plain_of(name);
    const Source want = imported([&](GgufFile& to) { to = plain; });
    std::string flags;
    for (uint32_t i = 0; i < want.spec.n_layers; ++i) flags.push_back(layer_spec(want.spec, i).window ? '\1' : '\0');
    REQUIRE((flags.find('\1') != flags.npos && flags.find('\0') != flags.npos));
    GgufFile f = behind(plain, prefix, want.spec.n_layers);
    put_flags(&f, prefix + "attention.sliding_window_pattern", flags);
    import_refused(f, LINNET_BAD_FILE, {"attention.sliding_window_pattern' = an array of " + std::to_string(flags.size())});
    for (const char last : {'\0', '\1'}) {  // which says nothing of the model
      put_flags(&f, prefix + "attention.sliding_window_pattern", flags + last);
      const Source got = imported([&](GgufFile& to) { to = f; });
      CHECK(got.spec.n_layers == want.spec.n_layers);
      for (uint32_t i = 0; i < want.spec.n_layers; ++i) CHECK(layer_spec(got.spec, i).window == layer_spec(want.spec, i).window);
    }
  }
}

TEST_CASE("GGUF import: what linnet does not know is refused by name") {
  import_refused_after([](GgufFile& f) { f.remove("general.architecture"); }, kBad, {"general.architecture"});
  for (const char* name : {"gptj", "phimoe", "bitnet"})
    import_refused(tiny_model(kGgmlF32, 1, name), kNot, {std::string("architecture '") + name + "'", "from GGUF"});
  import_refused(tiny_model(kGgmlF32, 1, "mamba"), kNot, {"architecture 'mamba' is not supported"});
  import_refused(tiny_model(kGgmlF32, 1, "falcon"), kBad, {"falcon.attention.layer_norm_epsilon' is missing"});
  import_refused(tiny_model(kGgmlF32, 1, "deepseek2"), kBad, {"deepseek2.attention.kv_lora_rank' is missing"});
  import_refused(tiny_model(kGgmlF32, 1, "cohere2"), kBad, {"cohere2.attention"});
  import_refused_after([](GgufFile& f) { f.text("general.type", "adapter"); }, kNot, {"general.type", "adapter"});
  import_refused_after([](GgufFile& f) { f.f32("llama.logit_scale", 0.5f); }, kNot, {"llama.logit_scale", "0.5"});
  import_refused_after([](GgufFile& f) { f.u32("llama.expert_count", 8); }, LINNET_BAD_FILE, {"llama.expert_count' = 8", "no layer"});
  import_refused_after([](GgufFile& f) { f.text("llama.rope.scaling.type", "longrope"); }, kNot, {"rope.scaling.type", "longrope"});
  // Keys of other families' arithmetic, and values that no family of linnet's has.
  for (const char* key : {"attention.sliding_window_pattern", "attention.kv_lora_rank", "expert_gating_func", "expert_weights_scale",
                          "attention.max_alibi_bias", "use_parallel_residual", "rope.freq_base_swa", "attention.clamp_kqv",
                          "attention.scale", "rope.scaling.yarn_log_multiplier", "attention.temperature_scale", "ssm.conv_kernel",
                          "full_attention_interval", "attention.recurrent_layers", "rope.dimension_sections"})
    import_refused_after([&](GgufFile& f) { f.u32(std::string("llama.") + key, 2); }, kNot, {std::string("llama.") + key, "2"});
  import_refused_after([](GgufFile& f) { f.f32("llama.rope.scaling.attn_factor", 1.5f); }, kNot, {"attn_factor", "1.5"});
  import_refused_after([](GgufFile& f) { f.f32("llama.rope.scaling.yarn_ext_factor", 0); }, kNot, {"yarn_ext_factor"});
  import_refused_after([](GgufFile& f) { f.u32("llama.attention.value_length", 32); }, kNot, {"value_length = 32"});
  import_refused_after([](GgufFile& f) { f.u32(kLayoutKey, 1); }, kNot, {"packed by linnet already"});
  for (const char* key : {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
                          "attention.layer_norm_rms_epsilon"})
    import_refused_after([&](GgufFile& f) { f.remove(std::string("llama.") + key); }, kBad, {std::string("llama.") + key + "' is missing"});
  const auto set = [](const char* key, uint32_t v) { return [=](GgufFile& f) { f.key(key)->value = le(uint32_t{kGgufU32}) + le(v); }; };
  import_refused_after(set("llama.block_count", 0), kBad, {"block_count"});
  import_refused_after(set("llama.block_count", 2), kBad, {"'blk.1.attn_norm.weight' is missing"});
  import_refused_after(set("llama.block_count", 1u << 31), kBad, {"n_layers = 2147483648"});
  import_refused_after(set("llama.attention.head_count", 3), kBad, {"256", "3"});
  import_refused_after(set("llama.attention.head_count_kv", 3), kBad, {"n_kv_heads = 3"});
  import_refused_after(set("llama.embedding_length", 512), kBad, {"512"});
  import_refused_after([](GgufFile& f) { f.key("llama.block_count")->value = le(uint32_t{kGgufI32}) + le(int32_t{-1}); }, kBad,
                       {"block_count", "-1"});
  import_refused_after([](GgufFile& f) { f.key("llama.attention.layer_norm_rms_epsilon")->value = le(uint32_t{kGgufF32}) + le(NAN); }, kBad,
                       {"norm_rms_epsilon"});
  import_refused_after([](GgufFile& f) { f.f32("llama.rope.freq_base", -1); }, kBad, {"rope_base"});
  import_refused_after([](GgufFile& f) { f.u32("llama.rope.dimension_count", 65); }, kBad, {"rope_dim = 65"});
  import_refused_after([](GgufFile& f) { f.remove("blk.0.ffn_up.weight"); }, kBad, {"'blk.0.ffn_up.weight' is missing"});
  import_refused_after([](GgufFile& f) { f.remove("token_embd.weight"); }, kBad, {"'token_embd.weight' is missing"});
  import_refused_after([](GgufFile& f) { f.tensors.push_back({"blk.0.extra.weight", {1}, kGgmlF32, "1234"}); }, kNot,
                       {"'blk.0.extra.weight'"});
  import_refused_after([](GgufFile& f) { f.tensor("blk.0.attn_q.weight")->name = "blk.0.attn_qkv.weight"; }, kBad,
                       {"'blk.0.attn_qkv.weight'", "256 x 256", "256 x 512"});
  import_refused_after([](GgufFile& f) { f.tensor("blk.0.attn_k.weight")->dims = {128, 256}; }, kBad,
                       {"'blk.0.attn_k.weight'", "128 x 256", "256 x 128"});
  import_refused_after([](GgufFile& f) { f.tensor("blk.0.attn_norm.weight")->dims = {16, 16}; }, kBad,
                       {"'blk.0.attn_norm.weight'", "16 x 16"});
  import_refused_after([](GgufFile& f) { f.tensor("blk.0.attn_norm.weight")->type = 26; }, kNot, {"'blk.0.attn_norm.weight'", "I32"});
  // Blocks of 32 values cannot be cut into a vector's rows of one.
  for (const uint32_t type : {kGgmlQ5_0, kGgmlQ8_0, kGgmlQ6_K, kGgmlMXFP4})
    import_refused_after(
        [&](GgufFile& f) {
          f.tensor("blk.0.attn_norm.weight")->type = type;
          f.tensor("blk.0.attn_norm.weight")->data = test::tensor_data(type, 256, 1);
        },
        kNot, {"'blk.0.attn_norm.weight'", ggml_type(type).name, "is for matrices"});
  import_refused_after(
      [](GgufFile& f) { f.tensors.push_back({"blk.0.attn_q.bias", {256}, kGgmlF32, test::tensor_data(kGgmlF32, 256, 1)}); }, kBad,
      {"'blk.0.attn_k.bias' is missing"});
}

TEST_CASE("GGUF import: a model in parts") {
  const Folder folder;
  const GgufFile whole = tiny_model(kGgmlQ8_0, 2);
  const auto part = [&](uint16_t i, size_t from, size_t to) {
    GgufFile f = whole;
    if (i) f.keys.clear();
    f.tensors.assign(whole.tensors.begin() + static_cast<ptrdiff_t>(from), whole.tensors.begin() + static_cast<ptrdiff_t>(to));
    f.u16("split.no", i);
    f.u16("split.count", 3);
    f.raw("split.tensors.count", kGgufI32, le(static_cast<int32_t>(whole.tensors.size())));
    return f;
  };
  const std::string one = "m-00001-of-00003.gguf", two = "m-00002-of-00003.gguf", three = "m-00003-of-00003.gguf";
  const auto put_all = [&] {
    folder.put(one, part(0, 0, 5).bytes());
    folder.put(two, part(1, 5, 9).bytes());
    folder.put(three, part(2, 9, whole.tensors.size()).bytes());
  };
  put_all();
  Kept kept(folder);
  CHECK(kept.after(one) == one);
  CHECK(kept.after(one) == one);
  const timespec then[2] = {{1000000000, 0}, {1000000000, 0}};
  REQUIRE(utimensat(AT_FDCWD, folder.at(three).c_str(), then, 0) == 0);
  CHECK(kept.after(one) == one + " " + one);  // all parts decide what it is
  const auto refused = [&](const std::string& name, linnet_status status, const std::vector<std::string>& words) {
    Source s;
    linnet_error err = {};
    const linnet_status got = source_from_gguf(folder.at(name), &s, &err);
    CAPTURE(err.text, words);
    CHECK(got == status);
    for (const std::string& w : words) CHECK(std::string(err.text).find(w) != std::string::npos);
    put_all();
  };
  put_all();
  {
    Source parts, single;
    linnet_error err = {};
    const linnet_status s = source_from_gguf(folder.at(one), &parts, &err);
    INFO(err.text);
    REQUIRE(s == LINNET_OK);
    REQUIRE(source_from_gguf(folder.put("whole.gguf", whole.bytes()), &single, &err) == LINNET_OK);
    CHECK(rows_of(parts) == rows_of(single));
  }
  unlink(folder.at(two).c_str());
  refused(one, LINNET_IO, {two});
  folder.put(two, part(2, 5, 9).bytes());
  refused(one, kBad, {two, "split.no", "2", "1"});
  folder.put(two, whole.bytes());
  refused(one, kBad, {two, "split.count", "missing"});
  folder.put(two, part(1, 4, 9).bytes());
  refused(one, kBad, {two, "another part"});
  folder.put(two, part(1, 5, 8).bytes());
  refused(one, kBad, {"split.tensors.count"});
  folder.put(two, part(1, 5, 9).bytes().substr(0, 300));
  refused(one, kBad, {two});
  folder.put("first.gguf", part(0, 0, 5).bytes());
  refused("first.gguf", kBad, {"first.gguf", "3 parts"});
  refused("m-00000-of-00003.gguf", kBad, {"part 0 of 3"});
  refused("m-00004-of-00003.gguf", kBad, {"part 4 of 3"});
  refused("m-00001-of-99999.gguf", kBad, {"99999"});
}

namespace {
// Exports `src` as a plain GGUF of f32 and reads it back.
Source plain_again(const std::string& src, const std::string& path) {
  Options o;
  o.plain = true;
  o.weights = LINNET_F32;
  linnet_error err = {};
  linnet_status s = convert_to_file(src, path, o, &err);
  INFO(err.text);
  REQUIRE(s == LINNET_OK);
  Source out;
  s = source_from_gguf(path, &out, &err);
  INFO(err.text);
  REQUIRE(s == LINNET_OK);
  return out;
}
}  // namespace

TEST_CASE("convert: a plain export holds the same model") {
  const Folder folder;
  Source source;
  linnet_error err = {};
  for (const char* src :
       {"tests/golden/qwen2", "tests/golden/qwen3", "tests/golden/llama", "tests/golden/llama-mha-linear", "tests/golden/smollm2"}) {
    CAPTURE(src);
    REQUIRE(source_from_folder(src, &source, &err) == LINNET_OK);
    const Source again = plain_again(src, folder.at("plain.gguf"));
    const Rows a = rows_of(source), b = rows_of(again);
    CHECK(a.size() == b.size());
    for (const auto& [key, rows] : a) {
      CAPTURE(role_row(Role{key.first}).name, key.second);
      CHECK((rows.size() == b.at(key).size() && std::memcmp(rows.data(), b.at(key).data(), rows.size() * sizeof(float)) == 0));
    }
    // In the file itself, a Llama's q has the two channels of a pair side by side.
    const std::string bytes = slurp(folder.at("plain.gguf"));
    const auto g = std::make_unique<Gguf>();
    GgufTensor t;
    REQUIRE(gguf_open(bytes.data(), bytes.size(), "plain", g.get(), &err) == LINNET_OK);
    REQUIRE(g->tensor("blk.1.attn_q.weight", &t));
    CHECK((g->alignment == 32 && g->data_offset % 32 == 0 && bytes.size() % 32 == 0));
    CHECK(bytes.find("general.alignment") == std::string::npos);
    const bool pairs = std::string(source.spec.architecture) == "llama";
    const size_t row = source.spec.d_model * sizeof(float), half = source.spec.head_dim / 2;
    const auto* q = reinterpret_cast<const char*>(a.at({kAttnQ, 1}).data());
    CHECK(std::memcmp(t.data + row, q + row * (pairs ? half : 1), row) == 0);
    CHECK(std::memcmp(t.data + 2 * half * row, q + 2 * half * row, row) == 0);
    const ModelSpec &x = source.spec, &y = again.spec;
    for (size_t i = 0; i < kSpecFieldCount; ++i) {
      CAPTURE(kSpecFields[i].name);
      const size_t at = kSpecFields[i].offset, n = kSpecFields[i].type == SpecType::kU32   ? 4
                                                   : kSpecFields[i].type == SpecType::kF64 ? 8
                                                                                           : 32;
      CHECK(std::memcmp(reinterpret_cast<const char*>(&x) + at, reinterpret_cast<const char*>(&y) + at, n) == 0);
    }
  }
  if (const std::string data = data_path("models/stories260K"), gguf = data_path("models/stories260Ktok512.gguf");
      !data.empty() && !gguf.empty()) {
    REQUIRE(source_from_gguf(gguf, &source, &err) == LINNET_OK);
    Rows a = rows_of(source);
    a.erase({kOutput, 0});  // that file repeats the tied embedding
    CHECK(a == rows_of(plain_again(data, folder.at("plain.gguf"))));
    REQUIRE(source_from_folder(data, &source, &err) == LINNET_OK);
    CHECK(a == rows_of(source));
  }
}

namespace {
linnet_status to_plain(const std::string& src, linnet_format f, const std::string& path, linnet_error* err,
                       std::vector<std::string>* notes = nullptr) {
  Options o;
  o.plain = true;
  o.weights = f;
  o.notes = notes;
  return convert_to_file(src, path, o, err);
}
// The same as a file of hand-made ones, or a failed test.
GgufFile plain_of(const std::string& src, linnet_format f, const std::string& path, std::vector<std::string>* notes = nullptr) {
  linnet_error err = {};
  const linnet_status s = to_plain(src, f, path, &err, notes);
  INFO(err.text);
  REQUIRE(s == LINNET_OK);
  return loaded(path);
}
std::string packed_file(const std::string& src, linnet_format f, const std::string& path) {
  linnet_error err = {};
  Options o;
  o.weights = f;
  const linnet_status s = convert_to_file(src, path, o, &err);
  INFO(err.text);
  REQUIRE(s == LINNET_OK);
  return path;
}
// Of this type.
void same_tensors(const GgufFile& a, GgufFile b, uint32_t type) {
  CHECK(a.tensors.size() == b.tensors.size());
  for (const GgufFile::Tensor& t : a.tensors) {
    CAPTURE(t.name);
    const GgufFile::Tensor* other = b.tensor(t.name);
    REQUIRE(other);
    if (t.type == type) CHECK((t.type == other->type && t.dims == other->dims && t.data == other->data));
  }
}
// A Mixtral, f32 but for its experts.
GgufFile mixtral(uint32_t type_of_experts) {
  ModelSpec s = {};
  s.n_layers = 2, s.d_model = 128, s.n_heads = 2, s.n_kv_heads = 1, s.head_dim = s.rope_dim = 32, s.d_ff = s.expert_ff = 64, s.n_vocab = 48,
  s.n_experts = 4, s.n_active = 2, s.tied = 1;
  GgufFile f;
  f.text("general.architecture", "llama");
  for (const auto& [key, value] : {std::pair{"block_count", s.n_layers},
                                   {"context_length", 64u},
                                   {"embedding_length", s.d_model},
                                   {"feed_forward_length", s.d_ff},
                                   {"attention.head_count", s.n_heads},
                                   {"attention.head_count_kv", s.n_kv_heads},
                                   {"attention.key_length", s.head_dim},
                                   {"attention.value_length", s.head_dim},
                                   {"expert_count", s.n_experts},
                                   {"expert_used_count", s.n_active}})
    f.u32(std::string("llama.") + key, value);
  f.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const Architecture& a = *architecture_by_hf("mixtral");
  for (uint32_t r = 0; r < kRoleCount; ++r)
    for (uint32_t layer = 0; layer < (role_row(Role{r}).per_layer() ? s.n_layers : 1); ++layer) {
      const Role role = static_cast<Role>(r);
      if (!role_present(role, layer, s)) continue;
      const uint32_t k = role_row(Role{r}).matrix() ? role_k(Role{r}, layer, s) : 1,
                     rows = role_row(role).of_experts() ? expert_rows(role, s) : role_n(Role{r}, layer, s),
                     parts = role_row(role).of_experts() ? s.n_experts : 1;
      const uint32_t type = role_row(role).of_experts() ? type_of_experts : kGgmlF32;
      f.tensors.push_back({gguf_tensor_name(a, s, role, layer), gguf_dims(role, s, k, rows, parts), type,
                           test::tensor_data(type, uint64_t{k} * rows * parts, r * 100 + layer)});
    }
  return f;
}
// Types, general.file_type.
const std::map<linnet_format, std::pair<uint32_t, uint32_t>> kPlainTypes = {
    {LINNET_F32, {kGgmlF32, 0}},      {LINNET_F16, {kGgmlF16, 1}},          {LINNET_BF16, {kGgmlBF16, 32}},
    {LINNET_I8G32, {kGgmlQ8_0, 7}},   {LINNET_I4G32, {kGgmlQ4_0, 2}},       {LINNET_Q4_K, {kGgmlQ4_K, 14}},
    {LINNET_Q5_K, {kGgmlQ5_K, 16}},   {LINNET_Q6_K, {kGgmlQ6_K, 18}},       {LINNET_Q4_1, {kGgmlQ4_1, 3}},
    {LINNET_Q5_0, {kGgmlQ5_0, 8}},    {LINNET_Q5_1, {kGgmlQ5_1, 9}},        {LINNET_Q2_K, {kGgmlQ2_K, 21}},
    {LINNET_Q3_K, {kGgmlQ3_K, 11}},   {LINNET_IQ4_NL, {kGgmlIQ4_NL, 25}},   {LINNET_IQ4_XS, {kGgmlIQ4_XS, 30}},
    {LINNET_MXFP4, {kGgmlMXFP4, 38}}, {LINNET_NVFP4, {kGgmlNVFP4, 39}},     {LINNET_TQ1_0, {kGgmlTQ1_0, 36}},
    {LINNET_TQ2_0, {kGgmlTQ2_0, 37}}, {LINNET_IQ2_XXS, {kGgmlIQ2_XXS, 19}}, {LINNET_IQ2_XS, {kGgmlIQ2_XS, 20}},
    {LINNET_IQ2_S, {kGgmlIQ2_S, 28}}, {LINNET_IQ3_XXS, {kGgmlIQ3_XXS, 23}}, {LINNET_IQ3_S, {kGgmlIQ3_S, 26}},
    {LINNET_IQ1_S, {kGgmlIQ1_S, 24}}, {LINNET_IQ1_M, {kGgmlIQ1_M, 31}}};
}  // namespace

TEST_CASE("convert: layers that differ come back from plain files and are known in packed ones") {
  const Folder folder;
  linnet_error err = {};
  for (const std::string name : {"lfm2", "lfm2-taps"}) {
    const std::string golden = "tests/golden/" + name;
    Source source;
    REQUIRE(source_from_folder(golden, &source, &err) == LINNET_OK);
    const Source again = plain_again(golden, folder.at("plain.gguf"));
    REQUIRE(again.spec.n_layers == source.spec.n_layers);
    CHECK(again.spec.conv_taps == source.spec.conv_taps);
    uint32_t convolutions = 0;
    for (uint32_t i = 0; i < source.spec.n_layers; ++i) {
      const LayerSpec a = layer_spec(source.spec, i), b = layer_spec(again.spec, i);
      CHECK((a.mixer == b.mixer && a.rope == b.rope && a.n_kv_heads == b.n_kv_heads && a.d_ff == b.d_ff));
      convolutions += a.mixer == kMixerConv;
    }
    CHECK(convolutions == 2);
    CHECK(rows_of(source) == rows_of(again));
    Options o;
    o.weights = LINNET_I8G128;
    const std::string path = folder.at("packed.gguf");
    REQUIRE(convert_to_file(golden, path, o, &err) == LINNET_OK);
    Cost of_packed, of_folder;
    REQUIRE(cost(path, {.weights = LINNET_I8G128}, &of_packed, &err) == LINNET_OK);
    REQUIRE(cost(golden, {.weights = LINNET_I8G128}, &of_folder, &err) == LINNET_OK);
    CHECK(of_packed.weight_bytes == of_folder.weight_bytes);
    CHECK(of_packed.kv_bytes_per_token == of_folder.kv_bytes_per_token);
  }
}

TEST_CASE("convert: second-level factors of NVFP4 are each output's own") {
  const Folder folder;
  GgufFile f = tiny_model(kGgmlNVFP4, 1, "llama", kSomeBlocks);
  const float of_down = 0.0123f, of_up = 3.5e-5f;
  f.tensors.push_back({"blk.0.ffn_down.scale", {1}, kGgmlF32, le(of_down)});
  f.tensors.push_back({"blk.0.ffn_down.input_scale", {1}, kGgmlF32, le(2.0f)});
  f.tensors.push_back({"blk.0.ffn_up.scale", {1}, kGgmlF32, le(of_up)});
  const std::string path = folder.put("q.gguf", f.bytes());
  Packed kept(path, LINNET_FORMAT_DEFAULT), floats(path, LINNET_F32);
  INFO(kept.err.text << floats.err.text);
  REQUIRE((kept.status == LINNET_OK && floats.status == LINNET_OK));
  CHECK(format_of(kept, kFfnDown) == LINNET_NVFP4);
  CHECK(as_in_file(path, &kept));
  const auto check = [&](Role role, const char* name, float factor, uint32_t k) {
    const auto* block = reinterpret_cast<const uint8_t*>(f.tensor(name)->data.data());
    const std::vector<float> row = kept.row(role, 0, 0);
    REQUIRE(row.size() == k);
    size_t wrong = 0;
    for (uint32_t i = 0; i < k; ++i) {
      constexpr float kE2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
      const uint8_t *b = block + i / 64 * 36, nibble = b[4 + i % 64 / 16 * 8 + i % 8] >> (i % 16 / 8 * 4) & 15;
      wrong += row[i] != kE2m1[nibble & 7] * (nibble & 8 ? -1.0f : 1.0f) * (f8e4m3_to_f32(b[i % 64 / 16]) * factor);
    }
    CHECK(wrong == 0);
    CHECK(test::same_bytes(row, floats.row(role, 0, 0)));
  };
  check(kFfnDown, "blk.0.ffn_down.weight", of_down, 768);
  check(kFfnUp, "blk.0.ffn_up.weight", of_up, 512);
  check(kFfnGate, "blk.0.ffn_gate.weight", 1, 512);
  linnet_error err = {};
  const std::string packed = packed_file(path, LINNET_NVFP4, folder.at("packed.gguf"));
  for (const std::string& from : {path, packed}) {
    CHECK(to_plain(from, LINNET_NVFP4, folder.at("plain.gguf"), &err) == LINNET_UNSUPPORTED);
    CHECK(std::string(err.text).find("nvfp4 of a plain file has no second-level factors") != std::string::npos);
    CHECK(to_plain(from, LINNET_I8G32, folder.at("plain.gguf"), &err) == LINNET_OK);
  }
  const auto refused = [&](const std::string& data, std::vector<uint64_t> dims, uint32_t type, const char* what) {
    GgufFile bad = f;
    *bad.tensor("blk.0.ffn_up.scale") = {"blk.0.ffn_up.scale", std::move(dims), type, data};
    const Packed p(folder.put("bad.gguf", bad.bytes()), LINNET_FORMAT_DEFAULT);
    CAPTURE(p.err.text, what);
    CHECK(p.status == LINNET_UNSUPPORTED);
    CHECK(std::string(p.err.text).find(what) != std::string::npos);
  };
  refused(le(__builtin_nanf("")), {1}, kGgmlF32, "'blk.0.ffn_up.scale': number 0 is not between");
  refused(le(-1.0f), {1}, kGgmlF32, "is not between");
  refused(le(1.0f) + le(1.0f), {2}, kGgmlF32, "type F32, 2 x 1, not F32, 1 x 1");
  refused(le(uint16_t{0x3C00}), {1}, kGgmlF16, "type F16");
  f.tensors.push_back({"blk.0.attn_norm.scale", {1}, kGgmlF32, le(2.0f)});
  const Packed unknown(folder.put("bad.gguf", f.bytes()), LINNET_FORMAT_DEFAULT);
  CHECK(std::string(unknown.err.text).find("'blk.0.attn_norm.scale' is unknown") != std::string::npos);

  GgufFile experts = mixtral(kGgmlNVFP4);  // a factor each
  experts.tensors.push_back({"blk.0.ffn_up_exps.scale", {4}, kGgmlF32, le(1.5f) + le(0.7f) + le(0.01f) + le(2.0f)});
  const std::string moe = folder.put("moe.gguf", experts.bytes());
  Packed p(moe, LINNET_FORMAT_DEFAULT);
  INFO(p.err.text);
  REQUIRE(p.status == LINNET_OK);
  CHECK(format_of(p, kExpertUp) == LINNET_NVFP4);
  Source source;
  REQUIRE(source_from_gguf(moe, &source, &err) == LINNET_OK);
  const std::vector<float> rows = rows_of(source)[{kExpertUp, 0}];
  const uint32_t n = role_n(kExpertUp, 0, source.spec), k = role_k(kExpertUp, 0, source.spec);
  REQUIRE(rows.size() == size_t{n} * k);
  bool same = true;
  for (uint32_t i = 0; i < n; ++i) same &= test::same_bytes(p.row(kExpertUp, 0, i), {rows.begin() + i * k, rows.begin() + (i + 1) * k});
  CHECK(same);
}

TEST_CASE("convert: plain files of every format hold what packing makes of the weights") {
  const Folder folder;
  const std::string model = folder.put("m.gguf", tiny_model().bytes());
  Packed eight(model, LINNET_I8G32);
  for (const FormatRow& row : kFormats) {
    const bool plain = format_known(row.format) && plain_name(row.format);
    CHECK(plain == (kPlainTypes.count(row.format) == 1));
    if (!plain || !packs_floats(row.format)) continue;
    const auto [type, file_type] = kPlainTypes.at(row.format);
    CAPTURE(row.name);
    GgufFile f = plain_of(model, row.format, folder.at("plain.gguf"));
    const bool blocks = gguf_block_bytes(row.format) != 0;
    CHECK(f.key("general.file_type")->value == le(uint32_t{kGgufU32}) + le(file_type));
    REQUIRE((f.key("general.quantization_version") != nullptr) == blocks);
    if (blocks) CHECK(f.key("general.quantization_version")->value == le(uint32_t{kGgufU32}) + le(2u));
    CHECK(f.tensor("token_embd.weight")->type == (row.bits < 8 ? uint32_t{kGgmlQ8_0} : type));
    CHECK((f.tensor("blk.0.attn_q.weight")->type == type && f.tensor("blk.0.ffn_down.weight")->type == type));
    CHECK(f.tensor("blk.0.attn_norm.weight")->type == kGgmlF32);
    Source read;
    linnet_error err = {};
    REQUIRE(source_from_gguf(folder.at("plain.gguf"), &read, &err) == LINNET_OK);
    Packed packed(model, row.format);
    for (const auto& [at, rows] : rows_of(read)) {
      const Role role{at.first};
      if (!role_row(role).matrix() || role == kAttnQ || role == kAttnK) continue;  // packed ones are evened out
      CAPTURE(role_row(role).name);
      const uint32_t n = role_n(role, 0, read.spec), k = role_k(role, 0, read.spec);
      bool same = true;
      for (uint32_t i = 0; i < n; ++i)
        same &= test::same_bytes((role == kTokenEmbd && row.bits < 8 ? eight : packed).row(role, 0, i),
                                 {rows.begin() + i * k, rows.begin() + (i + 1) * k});
      CHECK(same);
    }
  }
  linnet_error err = {};
  for (const linnet_format f : {LINNET_I8, LINNET_I8G128, LINNET_F8E4M3, LINNET_I4G128Z}) {
    CHECK(to_plain(model, f, folder.at("no.gguf"), &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("a plain GGUF takes f32, f16, bf16, q8_0, q4_0, q4_k") != std::string::npos);
  }
}

TEST_CASE("convert: blocks come out of plain and packed files as they were") {
  const Folder folder;
  for (const auto& [format, types] : kPlainTypes) {
    if (!gguf_block_bytes(format)) continue;
    CAPTURE(format_name(format));
    GgufFile f = tiny_model(types.first, 1, "llama", kSomeBlocks);
    const bool blocks = format_row(format).stored == Stored::kBlocks;
    for (GgufFile::Tensor& t : f.tensors)
      for (size_t at = 0; blocks && t.type == types.first && at < t.data.size(); at += gguf_block_bytes(format)) {
        uint32_t halves[2];
        for (uint32_t i = 0; i < gguf_block_halves(format, halves); ++i) t.data[at + halves[i] + 1] = '\x1c';
        if (format == LINNET_IQ1_M) t.data[at + 55] &= 15;
      }
    const std::string path = folder.put("m.gguf", f.bytes());
    same_tensors(f, plain_of(path, format, folder.at("plain.gguf")), types.first);
    packed_file(path, format, folder.at("packed.gguf"));
    if (format == LINNET_I4G32) f.tensor("token_embd.weight")->type = kGgmlF32;  // in 8 bits where it is packed
    same_tensors(f, plain_of(folder.at("packed.gguf"), format, folder.at("plain.gguf")), types.first);
  }
  // Of fused tensors, rows in another order, experts.
  std::vector<std::string> sources = {folder.put("experts.gguf", mixtral(kGgmlQ8_0).bytes())};
  for (const char* name : {"llama", "gpt-neox", "falcon-40b", "stablelm-12b", "deepseek-v3"}) {
    sources.push_back(folder.at(name + std::string(".gguf")));
    plain_of(std::string("tests/golden/") + name, LINNET_I8G32, sources.back());
  }
  for (const std::string& path : sources) {
    CAPTURE(path);
    const GgufFile f = loaded(path);
    size_t n_blocks = 0;
    for (const GgufFile::Tensor& t : f.tensors) n_blocks += t.type == kGgmlQ8_0;
    CHECK(n_blocks > 3);
    same_tensors(f, plain_of(path, LINNET_I8G32, folder.at("plain.gguf")), kGgmlQ8_0);
    packed_file(path, LINNET_I8G32, folder.at("packed.gguf"));
    same_tensors(f, plain_of(folder.at("packed.gguf"), LINNET_I8G32, folder.at("plain.gguf")), kGgmlQ8_0);
  }
}

TEST_CASE("convert: rows that are no whole blocks are in plain files in smaller ones, or f16") {
  const Folder folder;
  std::vector<std::string> notes;
  const auto down = [&](uint32_t d_ff, linnet_format f) {
    const std::string model = folder.put("m.gguf", tiny_model(kGgmlF32, 1, "llama", {256, 4, 2, d_ff, 48}).bytes());
    notes.clear();
    GgufFile plain = plain_of(model, f, folder.at("plain.gguf"), &notes);
    CHECK(plain.tensor("blk.0.ffn_up.weight")->type == kPlainTypes.at(f).first);
    return plain.tensor("blk.0.ffn_down.weight")->type;
  };
  CHECK(down(288, LINNET_Q4_K) == kGgmlQ8_0);
  CHECK((notes.size() == 1 && notes[0].find("1 of 11 tensors have rows of no multiple of 256 inputs, as q4_k wants") == 0));
  CHECK(down(300, LINNET_Q6_K) == kGgmlF16);
  CHECK(down(288, LINNET_I4G32) == kGgmlQ4_0);
  CHECK(notes.empty());
  CHECK(down(300, LINNET_I4G32) == kGgmlF16);
  CHECK(down(300, LINNET_F16) == kGgmlF16);
  CHECK(notes.empty());
  const std::string model = folder.put("m.gguf", tiny_model(kGgmlF32, 1, "llama", {96, 4, 2, 96, 48}).bytes());
  linnet_error err = {};
  CHECK(to_plain(model, LINNET_Q5_K, folder.at("no.gguf"), &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("no matrix has rows of a multiple of 256 inputs, as q5_k wants") != std::string::npos);
}

TEST_CASE("convert: a packed file as a plain one has the weights that it has packed") {
  const Folder folder;
  linnet_error err = {};
  const auto same = [&](const std::string& src, linnet_format f) {
    CAPTURE(src, format_name(f));
    Packed packed(src, f);
    REQUIRE(packed.status == LINNET_OK);
    folder.put("packed.gguf", std::string(static_cast<const char*>(packed.image.data), packed.image.bytes));
    const Source plain = plain_again(folder.at("packed.gguf"), folder.at("plain.gguf"));
    size_t wrong = 0, n = 0;
    for (const auto& [at, rows] : rows_of(plain)) {
      const Role role{at.first};
      const uint32_t layer = at.second, n_rows = role_n(role, layer, packed.spec);
      if (!role_row(role).matrix()) {
        const float* values = nullptr;
        REQUIRE(find_vector(*packed.g, role, layer, packed.spec, &values, &err) == LINNET_OK);
        wrong += std::memcmp(values, rows.data(), rows.size() * sizeof(float)) != 0;
        continue;
      }
      const uint32_t k = role_k(role, layer, packed.spec);
      REQUIRE(rows.size() == size_t{n_rows} * k);
      for (uint32_t i = 0; i < n_rows; ++i, ++n)
        wrong += packed.row(role, layer, i) != std::vector<float>{rows.begin() + i * k, rows.begin() + (i + 1) * k};
    }
    CHECK((n > 100 && wrong == 0));
  };
  const std::string model = folder.put("m.gguf", tiny_model().bytes());
  for (const FormatRow& row : kFormats)
    if (format_known(row.format) && packs_floats(row.format)) same(model, row.format);
  for (const char* name : {"llama", "llama-k-outliers", "qwen3", "phi3", "mixtral", "deepseek-v2", "gpt2", "olmo2"})
    same(std::string("tests/golden/") + name, LINNET_I8G128);

  const std::string packed = packed_file(model, LINNET_I8G32, folder.at("packed.gguf")), bytes = slurp(packed);
  CHECK(convert_to_file(packed, folder.at("no.gguf"), Options{}, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("packed by linnet already; convert what it was made from, or this to --layout plain") !=
        std::string::npos);
  CHECK(to_plain(packed, LINNET_F32, packed, &err) == LINNET_BAD_ARG);
  const auto refused = [&](const std::string& after, const std::string& with, linnet_status status, const std::string& word,
                           linnet_format f = LINNET_F32) {
    std::string bad = bytes;
    bad.replace(bad.find(after) + after.size(), with.size(), with);
    CHECK(to_plain(folder.put("bad.gguf", bad), f, folder.at("no.gguf"), &err) == status);
    CAPTURE(err.text, word);
    CHECK(std::string(err.text).find("bad.gguf: ") != std::string::npos);
    CHECK(std::string(err.text).find(word) != std::string::npos);
  };
  const std::string text = le(uint32_t{kGgufString}) + le(uint64_t{5});
  refused("linnet.layout_version", le(uint32_t{kGgufU32}) + le(kLayoutVersion + 1), kNot, "newer linnet");
  refused("linnet.spec.architecture" + text, "l1ama", kNot, "architecture 'l1ama'");
  refused("linnet.tensor.blk.0.attn_q.weight", le(uint32_t{kGgufArray}) + le(uint32_t{kGgufU64}) + le(uint64_t{4}) + le(uint64_t{99}), kNot,
          "unknown format 99");
  refused(test::lstr("linnet.blk.0.ffn_up.weight") + le(1u), le(uint64_t{1} << 40), kBad, "pass the end");
  Matrix m;
  Packed whole(model, LINNET_I8G32);
  REQUIRE(find_matrix(*whole.g, kFfnUp, 0, whole.spec, &m, &err) == LINNET_OK);
  const std::string before =
      bytes.substr(static_cast<size_t>(static_cast<const char*>(m.scales) - static_cast<const char*>(whole.image.data)) - 32, 32);
  refused(before, le(uint16_t{0x7C00}), kBad, "'blk.0.ffn_up.weight'", LINNET_F32);
  refused(before, le(uint16_t{0x7C00}), kBad, "'blk.0.ffn_up.weight': a scale of row 0 is infinite", LINNET_I8G32);
  CHECK(folder.files().size() == 4);
}

// A Mixtral with experts in blocks of 32: beside i8g128 they stay i8g32, whose groups the rows that go into them are quantised by.
TEST_CASE("GGUF import: MXFP4 experts keep their blocks beside matrices in larger groups, in any chunk") {
  const GgufFile f = mixtral(kGgmlMXFP4);
  const Folder folder;
  const test::Model model(folder.put("mx.gguf", f.bytes()), LINNET_FORMAT_DEFAULT);
  test::Tokens tokens;
  for (int32_t i = 0; i < 40; ++i) tokens.push_back(i * 7 % 48);
  const auto at_once = test::all_logits(model, tokens, LINNET_I8);
  test::Session one_by_one(model, test::params(LINNET_I8, 1, 1));
  for (size_t i = 0; i < tokens.size(); ++i) {
    one_by_one.prefill({tokens[i]});
    CHECK(test::same_bytes(one_by_one.logits(), at_once[i]));
  }
}

TEST_CASE("GGUF import: fused tensors of newer and older converters are the same model") {
  const Folder folder;
  for (const std::string name : {"llama", "qwen2", "mixtral", "qwen3-moe", "gpt-neox", "deepseek-v2", "deepseek-v2-qlora", "deepseek-v3"}) {
    Source source;
    linnet_error err = {};
    Options o;
    o.plain = true;
    o.weights = LINNET_F32;
    INFO(name);
    REQUIRE(convert_to_file("tests/golden/" + name, folder.at("plain.gguf"), o, &err) == LINNET_OK);
    REQUIRE(source_from_gguf(folder.at("plain.gguf"), &source, &err) == LINNET_OK);
    const Rows want = rows_of(source);
    const ModelSpec spec = source.spec;
    GgufFile f = loaded(folder.at("plain.gguf"));
    const size_t before = f.tensors.size();
    for (uint32_t layer = 0; layer < spec.n_layers; ++layer) {
      fuse(&f, layer, {"attn_q.weight", "attn_k.weight", "attn_v.weight"}, "attn_qkv.weight");
      if (layer) fuse(&f, layer, {"attn_q.bias", "attn_k.bias", "attn_v.bias"}, "attn_qkv.bias");  // may stay apart
      fuse(&f, layer, {"ffn_gate.weight", "ffn_up.weight"}, "ffn_up.weight");
      fuse(&f, layer, {"ffn_gate_exps.weight", "ffn_up_exps.weight"}, "ffn_gate_up_exps.weight");
    }
    if (spec.kv_lora_rank) fuse_latent(&f, spec);
    if (name != "gpt-neox") CHECK(f.tensors.size() < before);
    const linnet_status s = source_from_gguf(folder.put("fused.gguf", f.bytes()), &source, &err);
    INFO(err.text);
    REQUIRE(s == LINNET_OK);
    CHECK(rows_of(source) == want);
    CHECK(std::memcmp(&source.spec, &spec, sizeof spec) == 0);
    if (name != "qwen2") continue;
    GgufFile::Tensor* t = f.tensor("blk.1.attn_qkv.weight");
    --t->dims[1];
    t->data.resize(t->data.size() - t->dims[0] * 4);
    import_refused(f, kBad, {"'blk.1.attn_qkv.weight': dimensions"});
  }
}

TEST_CASE("convert: synthetic models are the same in every format, and for every run") {
  Packed f32("synthetic:stories260k", LINNET_F32), again("synthetic:stories260k", LINNET_F32);
  INFO(f32.err.text);
  REQUIRE(f32.status == LINNET_OK);
  CHECK((f32.image.bytes == again.image.bytes && std::memcmp(f32.image.data, again.image.data, f32.image.bytes) == 0));
  for (const linnet_format f : {LINNET_I8, LINNET_I8G128, LINNET_I8G64, LINNET_I8G32}) {
    Packed p("synthetic:stories260k", f);
    REQUIRE(p.status == LINNET_OK);
    for (const Role role : {kTokenEmbd, kAttnQ, kFfnDown})
      for (uint32_t i = 0; i < role_n(role, 0, p.spec); i += 5) REQUIRE(p.row(role, 0, i) == f32.row(role, 0, i));
    Matrix m;
    REQUIRE(find_matrix(*p.g, kFfnUp, 0, p.spec, &m, &p.err) == LINNET_OK);  // n = 172: the last panel has rows past n, all zero
    const auto* last = static_cast<const int8_t*>(m.panels) + 10 * 16 * 64;
    size_t not_zero = 0;
    for (size_t i = 0; i < 16 * 64; ++i) not_zero += i / 4 % 16 >= 12 && last[i];
    CHECK(not_zero == 0);
  }
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < 512; ++i)
    for (const float v : f32.row(kTokenEmbd, 0, i))
      sum += static_cast<double>(v), squares += static_cast<double>(v) * static_cast<double>(v);
  CHECK(std::fabs(sum / 32768) < 0.01);
  CHECK(std::fabs(std::sqrt(squares / 32768) - 3.0 / 8) < 0.02);
  CHECK(f32.row(kAttnQ, 0, 0) != f32.row(kAttnQ, 1, 0));
  CHECK(f32.row(kAttnQ, 0, 0) != f32.row(kAttnQ, 0, 16));
  Options o;
  Image image;
  linnet_error err = {};
  CHECK(convert_to_memory("synthetic:nosuch", o, &image, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("'nosuch'") != std::string::npos);
  for (const std::string& name : shapes()) {
    Source s;
    CHECK(source_synthetic(name, 1, &s, &err) == LINNET_OK);
    CHECK(spec_check(s.spec, &err) == LINNET_OK);
  }
}

// ---- files ------------------------------------------------------------------------------------------------------------------

namespace {
struct Progress {
  uint64_t calls = 0, done = 0, total = 0, stop_at = UINT64_MAX;
  bool back = false;
  static int on(void* self, uint64_t done, uint64_t total) {
    auto* p = static_cast<Progress*>(self);
    p->back |= done < p->done || done > total || (p->calls && total != p->total);
    p->done = done, p->total = total;
    return ++p->calls >= p->stop_at;
  }
};
}  // namespace

TEST_CASE("convert: progress, cancel, and what becomes of the file") {
  const Folder folder;
  const std::string out = folder.at("out.gguf");
  linnet_error err = {};
  Progress progress;
  Options o;
  o.progress = Progress::on;
  o.user = &progress;
  REQUIRE(convert_to_file("synthetic:stories15m", out, o, &err) == LINNET_OK);
  CHECK((progress.calls >= 2 && progress.done == progress.total && !progress.back));
  CHECK(folder.files() == std::vector<std::string>{"out.gguf"});
  const std::string before = slurp(out);
  CHECK(before.size() == progress.total);
  Image image;
  REQUIRE(convert_to_memory("synthetic:stories15m", Options{}, &image, &err) == LINNET_OK);
  CHECK((image.bytes == before.size() && std::memcmp(image.data, before.data(), image.bytes) == 0));
  image_free(&image);
  for (const uint64_t call : {uint64_t{1}, uint64_t{2}, progress.calls}) {
    Progress stop;
    stop.stop_at = call;
    o.user = &stop;
    o.seed = 2;
    CHECK(convert_to_file("synthetic:stories15m", out, o, &err) == LINNET_CANCELLED);
    CHECK(folder.files() == std::vector<std::string>{"out.gguf"});
    CHECK(slurp(out) == before);  // what was there is untouched
    stop = {};
    stop.stop_at = call;
    CHECK(convert_to_memory("synthetic:stories15m", o, &image, &err) == LINNET_CANCELLED);
  }
  const GgufFile broken = [] {
    GgufFile f = tiny_model();
    std::memcpy(f.tensor("blk.0.ffn_down.weight")->data.data() + 1000, "\0\0\xc0\x7f", 4);
    return f;
  }();
  CHECK(convert_to_file(folder.put("nan.gguf", broken.bytes()), folder.at("new.gguf"), Options{}, &err) == LINNET_BAD_FILE);
  CHECK(access(folder.at("new.gguf").c_str(), F_OK) != 0);
  CHECK(folder.files().size() == 2);
}

TEST_CASE("convert: a full disk, and a kill, leave no file under the final name") {
  const Folder folder;
  const std::string out = folder.at("out.gguf");
  const auto in_child = [](auto body) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  };
  const int full = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    linnet_error err = {};
    const linnet_status s = convert_to_file("synthetic:stories15m", out, Options{}, &err);
    return s == LINNET_IO && std::string(err.text).find(out) != std::string::npos ? 7 : 1;
  });
  CHECK((WIFEXITED(full) && WEXITSTATUS(full) == 7));
  CHECK(folder.files().empty());
  const int killed = in_child([&] {
    Options o;
    o.progress = [](void*, uint64_t done, uint64_t total) { return done > total / 2 ? raise(SIGKILL) : 0; };
    linnet_error err = {};
    (void)convert_to_file("synthetic:stories15m", out, o, &err);  // does not come back
    return 1;
  });
  CHECK((WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL));
  CHECK(access(out.c_str(), F_OK) != 0);
  linnet_error err = {};
  CHECK(convert_to_file("synthetic:stories260k", out, Options{}, &err) == LINNET_OK);  // what the kill left is in nobody's way
}

TEST_CASE("convert: kills leave one temporary file at most, which the next run removes; links stay links") {
  const Folder folder;
  const std::string out = folder.at("out.gguf");
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      Options o;
      o.progress = [](void*, uint64_t done, uint64_t) { return done > 0 && raise(SIGKILL) ? 1 : 0; };
      linnet_error err = {};
      _exit(convert_to_file("synthetic:stories15m", out, o, &err) == LINNET_OK ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    CHECK(folder.files() == std::vector<std::string>{"out.gguf.tmp"});
  }
  linnet_error err = {};
  REQUIRE(convert_to_file("synthetic:stories260k", out, Options{}, &err) == LINNET_OK);
  CHECK(folder.files() == std::vector<std::string>{"out.gguf"});
  const std::string bytes = slurp(out);
  REQUIRE(unlink(out.c_str()) == 0);
  // A link that leads nowhere yet, and then somewhere: what it leads to is made, and replaced.
  REQUIRE(symlink("real.gguf", out.c_str()) == 0);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(convert_to_file("synthetic:stories260k", out, Options{}, &err) == LINNET_OK);
    struct stat st = {};
    CHECK((lstat(out.c_str(), &st) == 0 && S_ISLNK(st.st_mode)));
    CHECK((lstat(folder.at("real.gguf").c_str(), &st) == 0 && S_ISREG(st.st_mode)));
    CHECK(slurp(folder.at("real.gguf")) == bytes);
    CHECK(folder.files().size() == 2);
  }
}

TEST_CASE("convert: outputs that are refused") {
  const Folder folder;
  linnet_error err = {};
  const std::string model = folder.put("m.gguf", tiny_model().bytes()), before = slurp(model);
  CHECK(convert_to_file(model, model, Options{}, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find(model) != std::string::npos);
  REQUIRE(link(model.c_str(), folder.at("same.gguf").c_str()) == 0);
  CHECK(convert_to_file(model, folder.at("same.gguf"), Options{}, &err) == LINNET_BAD_ARG);
  CHECK(slurp(model) == before);
  CHECK(convert_to_file(model, folder.path, Options{}, &err) == LINNET_IO);
  const std::string source = folder.put("copy.gguf.tmp", before);  // where the temporary file would be
  CHECK(convert_to_file(source, folder.at("copy.gguf"), Options{}, &err) == LINNET_BAD_ARG);
  CHECK(slurp(source) == before);
  REQUIRE(unlink(source.c_str()) == 0);
  const std::string fifo = folder.at("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(convert_to_file(model, fifo, Options{}, &err) == LINNET_IO);
  CHECK(std::string(err.text) == fifo + ": is not a regular file");
  struct stat st = {};
  CHECK((stat(fifo.c_str(), &st) == 0 && S_ISFIFO(st.st_mode)));
  REQUIRE(unlink(fifo.c_str()) == 0);
  CHECK(convert_to_file(model, "", Options{}, &err) == LINNET_BAD_ARG);
  CHECK(convert_to_file(model, folder.at("no/such/folder.gguf"), Options{}, &err) == LINNET_IO);
  CHECK(convert_to_file(folder.at("none.gguf"), folder.at("out.gguf"), Options{}, &err) == LINNET_IO);
  Options o;
  o.plain = true;
  o.weights = LINNET_I8;
  CHECK(convert_to_file(model, folder.at("out.gguf"), o, &err) == LINNET_BAD_ARG);
  o.weights = LINNET_F16;
  CHECK(convert_to_file("tests/golden/opt", folder.at("out.gguf"), o, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("architecture 'opt'") != std::string::npos);
  CHECK(folder.files().size() == 2);
}

TEST_CASE("packing: the same bytes and the same errors from any number of threads, in files and in memory") {
  const Folder folder;
  const test::TinySize size = {.n_vocab = 1300};  // a matrix of several pieces, the last one of fewer panels
  constexpr struct {
    uint32_t type;
    linnet_format weights;
  } kCases[] = {
      {kGgmlF32, LINNET_I8G128}, {kGgmlF32, LINNET_F16}, {kGgmlQ8_0, LINNET_I8G32}, {kGgmlQ4_0, LINNET_I4G32}, {kGgmlQ4_K, LINNET_Q4_K}};
  for (const auto& [type, weights] : kCases) {
    const std::string src = folder.put("m.gguf", tiny_model(type, 1, "llama", size).bytes()), out = folder.at("out.gguf");
    INFO(format_name(weights));
    linnet_error err = {};
    std::string first;
    WeightError first_error, error;
    for (const uint32_t threads : {1u, 2u, 64u}) {
      Options o;
      o.weights = weights;
      o.n_threads = threads;
      o.weight_error = threads == 64 ? nullptr : &error;
      Image image;
      const linnet_status status = convert_to_memory(src, o, &image, &err);
      INFO(err.text);
      REQUIRE(status == LINNET_OK);
      const std::string bytes(static_cast<const char*>(image.data), image.bytes);
      image_free(&image);
      if (first.empty()) first = bytes, first_error = error;
      CHECK(bytes == first);
      CHECK((error.mean == first_error.mean && error.worst == first_error.worst && error.tensor == first_error.tensor));
      REQUIRE(convert_to_file(src, out, o, &err) == LINNET_OK);
      CHECK(slurp(out) == first);
    }
  }
  // Of two faults the first one in the file is told, whoever finds the other one sooner; and nothing is left.
  GgufFile f = tiny_model(kGgmlF32, 1, "llama", size);
  REQUIRE(unlink(folder.at("out.gguf").c_str()) == 0);
  std::string& data = f.tensor("token_embd.weight")->data;
  for (const size_t row : {size_t{600}, size_t{1200}}) data.replace(row * 256 * 4, 4, le(std::numeric_limits<float>::infinity()));
  f.tensor("blk.0.ffn_up.weight")->data.replace(0, 4, le(std::numeric_limits<float>::infinity()));
  const std::string src = folder.put("m.gguf", f.bytes());
  for (const uint32_t threads : {1u, 2u})
    for (int i = 0; i < 3; ++i) {
      linnet_error err = {};
      Options o;
      o.n_threads = threads;
      CHECK(convert_to_file(src, folder.at("out.gguf"), o, &err) == LINNET_BAD_FILE);
      CHECK(std::string(err.text).find("'token_embd.weight' holds a weight") != std::string::npos);
    }
  CHECK(folder.files().size() == 1);
}

TEST_CASE("load: a packed file is mapped or copied, the rest is packed in memory") {
  const Folder folder;
  linnet_error err = {};
  const std::string plain = folder.put("plain.gguf", tiny_model().bytes()), packed = folder.at("packed.gguf");
  REQUIRE(convert_to_file(plain, packed, Options{}, &err) == LINNET_OK);
  const std::string bytes = slurp(packed);
  for (const std::string& path : {plain, packed})
    for (const linnet_load how : {LINNET_LOAD_MAP, LINNET_LOAD_COPY, LINNET_LOAD_PREWARM}) {
      Loaded l;
      REQUIRE(load(path, how, Options{}, &l, &err) == LINNET_OK);
      CHECK(l.mapped == (path == packed));
      CHECK((l.file.bytes == bytes.size() && std::memcmp(l.file.data, bytes.data(), bytes.size()) == 0));
      unload(&l);
      CHECK(l.file.data == nullptr);
    }
  Loaded l;
  REQUIRE(load("synthetic:stories260k", LINNET_LOAD_MAP, Options{}, &l, &err) == LINNET_OK);
  unload(&l);
  CHECK(load(folder.put("text.txt", "no model at all, but long enough"), LINNET_LOAD_MAP, Options{}, &l, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("text.txt: no GGUF file") != std::string::npos);
  CHECK(load(folder.at("none"), LINNET_LOAD_MAP, Options{}, &l, &err) == LINNET_IO);
  CHECK(load(folder.path, LINNET_LOAD_MAP, Options{}, &l, &err) == LINNET_BAD_FILE);  // a folder without config.json
}

TEST_CASE("load: a cache holds what it may, and what was not used for longest goes first, whatever the clock is") {
  const Folder folder;
  for (const char* name : {"a", "b", "c", "d"}) folder.put(name, tiny_model().bytes());
  Kept kept(folder);
  CHECK(kept.after("a") == "a");
  const uint64_t each = kept.list().bytes;
  kept.options.cache_bytes = 2 * each + each / 2;
  Loaded b;
  CHECK(kept.after("b", &b) == "b a");
  const std::string bytes(static_cast<const char*>(b.file.data), b.file.bytes);
  CHECK(kept.after("a") == "a b");
  CHECK(kept.after("c") == "c a");
  CHECK(std::memcmp(b.file.data, bytes.data(), bytes.size()) == 0);  // it is gone, and mapped still
  unload(&b);
  // As if the clock were set back by years now.
  const timespec then[2] = {{2100000000, 0}, {2100000000, 0}};
  for (const CachedModel& m : kept.list().models) REQUIRE(utimensat(AT_FDCWD, m.path.c_str(), then, 0) == 0);
  CHECK(kept.after("c") == "c a");
  CHECK(kept.after("a") == "a c");
  CHECK(kept.after("d") == "d a");
  CHECK(kept.after("d") == "d a");
  kept.options.cache_bytes = each / 2;
  CHECK(kept.after("b") == "d a");
  CHECK(kept.noted().find("the cache holds at most") != std::string::npos);
  CHECK(kept.after("a") == "a d");  // what is there serves
  uint32_t n = 0;
  uint64_t gone = 0;
  linnet_error err = {};
  const uint64_t held = kept.list().bytes;
  CHECK((cache_clear(kept.cache.path, &n, &gone, &err) == LINNET_OK && n == 2 && gone == held && held > each));
  CHECK(kept.cache.files().empty());
  CHECK(kCacheBytes >= kept.list().most_bytes);
}

TEST_CASE("load: nothing is kept of a source that changes while it is packed, nor of one that is cancelled") {
  static std::string path;
  const Folder folder;
  path = folder.put("a", tiny_model().bytes());
  Kept kept(folder);
  kept.options.progress = [](void*, uint64_t done, uint64_t total) {
    const timespec then[2] = {{1000000000, 0}, {1000000000, 0}};
    return total && done == 0 && utimensat(AT_FDCWD, path.c_str(), then, 0) != 0 ? 1 : 0;
  };
  CHECK(kept.after("a") == "");
  CHECK(kept.noted().find("changed while it was packed") != std::string::npos);
  kept.options.progress = [](void*, uint64_t done, uint64_t total) { return done == total ? 1 : 0; };
  Loaded l;
  linnet_error err = {};
  CHECK(load(path, LINNET_LOAD_MAP, kept.options, &l, &err) == LINNET_CANCELLED);
  CHECK(kept.cache.files().empty());
  kept.options.progress = nullptr;
  CHECK(kept.after("a") == "a");
  CHECK(kept.after("a") == "a");
  folder.put("a", "no model any more, but long enough");
  CHECK(load(path, LINNET_LOAD_MAP, kept.options, &l, &err) == LINNET_BAD_FILE);
}

// ---- packed files -------------------------------------------------------------------------------------------------------------

namespace {
// A tiny packed file with bytes changed behind the first place where `after` stands.
linnet_status need_of(const std::string& after, const std::string& bytes, std::string* text, size_t cut = 0,
                      const test::TinySize& size = {}) {
  const Folder folder;
  Image image;
  linnet_error err = {};
  Options o;
  o.weights = LINNET_I8G128;
  REQUIRE(convert_to_memory(folder.put("m.gguf", tiny_model(kGgmlF32, 1, "llama", size).bytes()), o, &image, &err) == LINNET_OK);
  const std::string_view whole(static_cast<const char*>(image.data), image.bytes);
  const size_t at = whole.find(after);
  REQUIRE(at != std::string_view::npos);
  std::memcpy(static_cast<char*>(image.data) + at + after.size(), bytes.data(), bytes.size());
  linnet_need need = {.size = sizeof need};
  linnet_view view = image.view();
  view.bytes -= cut;
  linnet_status s = linnet_model_need(&view, nullptr, &need, &err);
  if (s == LINNET_OK) {
    void* mem = linnet_mem_alloc(need.bytes);
    linnet_model* m = nullptr;
    s = linnet_model_init(&m, mem, need.bytes, &view, nullptr, &err);
    if (s == LINNET_OK) linnet_model_fini(m);
    linnet_mem_free(mem, need.bytes);
  }
  *text = s == LINNET_OK ? "" : err.text;
  image_free(&image);
  return s;
}
}  // namespace

TEST_CASE("packed files: what does not fit the spec is refused by name") {
  std::string text;
  CHECK(need_of("GGUF", "", &text) == LINNET_OK);
  INFO(text);
  const auto refused = [&](const std::string& after, const std::string& bytes, linnet_status status, const std::string& word) {
    const linnet_status s = need_of(after, bytes, &text);
    CAPTURE(after, text, word);
    CHECK(s == status);
    CHECK(text.find(word) != std::string::npos);
  };
  const std::string u32 = le(uint32_t{kGgufU32}), u64s = le(uint32_t{kGgufArray}) + le(uint32_t{kGgufU64}) + le(uint64_t{4});
  const auto shape = [&](uint64_t f, uint64_t n, uint64_t k, uint64_t g) { return u64s + le(f) + le(n) + le(k) + le(g); };
  refused("linnet.layout_version", u32 + le(kLayoutVersion + 1), kNot, "newer linnet");
  refused("linnet.layout_version", u32 + le(2u), kBad, "linnet.spec.window");  // its own fields have to be there
  refused("linnet.layout_version", u32 + le(0u), kBad, "linnet.layout_version");
  refused("linnet.spec.n_layers", u32 + le(2u), kBad, "blk.1.attn_norm.weight");
  refused("linnet.spec.n_layers", u32 + le(2000u), kBad, "n_layers = 2000");
  refused("linnet.spec.n_layers", le(uint32_t{kGgufI32}), kBad, "linnet.spec.n_layers");
  refused("linnet.spec.tie", "x", kBad, "linnet.spec.tied");
  refused("linnet.spec.d_model", u32 + le(128u), kBad, "token_embd.weight");
  refused("linnet.spec.norm_eps", le(uint32_t{kGgufF64}) + le(static_cast<double>(NAN)), kBad, "norm_eps");
  refused("linnet.spec.rope_kind", u32 + le(3u), kBad, "rope_kind = 3");
  refused("linnet.spec.activation", u32 + le(9u), kBad, "activation = 9");
  refused("linnet.spec.tied", u32 + le(0u), kBad, "output.weight");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(5, 256, 256, 128), LINNET_OK, "");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(99, 256, 256, 128), kNot, "unknown format 99");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(uint64_t{5} << 32, 256, 256, 128), kNot, "unknown format");
  for (const Format f : {LINNET_Q5_K, LINNET_Q6_K, LINNET_Q3_K})  // their lines lay in another order then
    refused("linnet.tensor.blk.0.attn_q.weight", shape(f, 256, 256, 256), kNot,
            std::string(format_name(f)) + " in the order of linnet.layout_version = ");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(6, 256, 256, 64), kBad, "linnet.blk.0.attn_q.weight");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(5, 240, 256, 128), kBad, "240, 256, 128, not 256");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(5, 256, 256, 64), kBad, "256, 256, 64");
  refused("linnet.tensor.blk.0.attn_q.weight", shape(16, 256, 256, 256), kBad, "linnet.blk.0.attn_q.weight");
  CHECK(need_of("linnet.tensor.blk.0.attn_q.weight", shape(16, 128, 128, 256), &text, 0, {128, 2, 2, 128, 64}) == kBad);
  CHECK(text.find("attn_q.weight': rows have 128 inputs, q4_k wants a multiple of 256") != std::string::npos);
  refused("linnet.tensor.blk.0.attn_q.weigh", "x", kBad, "linnet.tensor.blk.0.attn_q.weight' is missing");
  const std::string tensor = test::lstr("linnet.blk.0.ffn_up.weight");
  refused(tensor.substr(0, tensor.size() - 1), "x", kBad, "'linnet.blk.0.ffn_up.weight' is missing");
  refused(tensor + le(1u), le(uint64_t{1} << 40), kBad, "pass the end");
  refused(tensor + le(1u), le(uint64_t{65536}), kBad, "65536 bytes");
  CHECK(need_of("GGUF", "", &text, 64) == LINNET_BAD_FILE);
  CHECK(need_of("GGUF", "", &text, 1, {4, 1, 1, 4, 4}) == LINNET_BAD_FILE);  // the last vector has 16 bytes
  CHECK(text.find("'output_norm.weight': the file ends before its padding") != std::string::npos);
  // An unknown field of the spec: one name takes the place of a key that linnet does not read.
  refused(le(uint64_t{20}), "linnet.spec.newfield", kNot, "'linnet.spec.newfield' is unknown: made by a newer linnet");
}
