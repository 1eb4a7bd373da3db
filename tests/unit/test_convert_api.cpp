// The C ABI of linnet::convert, as an app has it: nothing is included but linnet_convert.h.
#include <linnet_convert.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/catch2.h"
#include "tests/data.h"

namespace {

constexpr char kFolder[] = "tests/golden/llama", kSynthetic[] = "synthetic:wide-tiny";

// A folder that goes away with what is in it.
struct Folder {
  std::string path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "linnet-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string at(const std::string& name) const { return path + "/" + name; }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }
  bool empty() const { return std::filesystem::is_empty(path); }
};

linnet_convert_params wish() {
  linnet_convert_params p = {};
  p.size = sizeof p;
  return p;
}
linnet_converted nothing() {
  linnet_converted c = {};
  c.size = sizeof c;
  return c;
}

// Reports of a conversion, which `cancel_at` and more bytes cancel.
struct Watch {
  std::vector<uint64_t> done;
  uint64_t total = 0, cancel_at = UINT64_MAX;
  std::vector<std::string> notes;
  static int progress(void* user, uint64_t done, uint64_t total) {
    Watch& w = *static_cast<Watch*>(user);
    w.done.push_back(done);
    w.total = total;
    return done >= w.cancel_at;
  }
  static void note(void* user, const char* text) { static_cast<Watch*>(user)->notes.emplace_back(text); }
  linnet_convert_params params() {
    linnet_convert_params p = wish();
    p.progress = progress;
    p.note = note;
    p.user = this;
    return p;
  }
};

// Refused, with a sentence that holds `what`, and nothing written.
void refused(const char* src, const linnet_convert_params& p, linnet_status status, const std::string& what) {
  const Folder folder;
  linnet_error err = {};
  linnet_converted out = nothing();
  CAPTURE(what);
  CHECK(linnet_convert_file(src, folder.at("m.gguf").c_str(), &p, &out, &err) == status);
  CHECK(err.code == status);
  CHECK(std::string(err.text).find(what) != std::string::npos);
  CHECK(folder.empty());
  CHECK(out.file_bytes == 0);
}

// An open model; a packed one ends with it.
struct Opened {
  linnet_source* source = nullptr;
  linnet_view file = {};
  linnet_converted done = nothing();
  linnet_error err = {};
  linnet_status status;
  explicit Opened(const std::string& path, const linnet_convert_params& p) {
    status = linnet_convert_open(&source, path.c_str(), &p, &file, &done, &err);
  }
  ~Opened() { linnet_convert_close(source); }
  Opened(const Opened&) = delete;
  std::string bytes() const { return {static_cast<const char*>(file.data), file.bytes}; }
};

std::string packed(const std::string& src, const Folder& folder, const char* name = "m.gguf") {
  linnet_error err = {};
  INFO(src);
  REQUIRE(linnet_convert_file(src.c_str(), folder.at(name).c_str(), nullptr, nullptr, &err) == LINNET_OK);
  return folder.at(name);
}

}  // namespace

TEST_CASE("what is packed on the way in is kept where the caller says") {
  const Folder folder, cache;
  linnet_convert_params p = wish();
  std::string bytes;
  for (const char* at : {"", "", "/not/yet"}) {
    const std::string where = cache.path + at;
    p.cache = where.c_str();
    const Opened opened(kFolder, p);
    REQUIRE(opened.status == LINNET_OK);
    CHECK(opened.done.packed == 1);
    CHECK(opened.done.worst_error > 0);
    CHECK(opened.done.file_bytes == opened.file.bytes);
    if (bytes.empty()) bytes = opened.bytes();
    CHECK(opened.bytes() == bytes);
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(where))
      if (entry.is_regular_file()) files.insert(entry.path());
    REQUIRE(files.size() == 1);
    if (!*at && std::filesystem::hard_link_count(*files.begin()) == 1) std::filesystem::create_hard_link(*files.begin(), folder.at("kept"));
  }
  CHECK(std::filesystem::hard_link_count(folder.at("kept")) == 2);  // the second call left the first one's file in its place
}

TEST_CASE("a folder becomes a packed file: progress, what rounding did, its size") {
  const Folder folder;
  Watch watch;
  linnet_error err = {};
  linnet_converted done = nothing();
  const linnet_convert_params p = watch.params();
  REQUIRE(linnet_convert_file(kFolder, folder.at("m.gguf").c_str(), &p, &done, &err) == LINNET_OK);
  REQUIRE(watch.done.size() >= 2);
  CHECK(watch.done.front() == 0);
  CHECK(std::is_sorted(watch.done.begin(), watch.done.end()));
  CHECK(watch.done.back() == watch.total);
  CHECK(done.file_bytes == watch.total);
  CHECK(done.file_bytes == std::filesystem::file_size(folder.at("m.gguf")));
  CHECK(done.size == sizeof done);
  CHECK(done.packed == 1);
  CHECK((done.mean_error > 0 && done.mean_error < done.worst_error && done.worst_error < 0.1));
  CHECK(std::string(done.worst_tensor).rfind("model.", 0) == 0);
  CHECK(watch.notes.empty());
  // Less is said to one who asks for less.
  linnet_converted less = nothing();
  less.size = offsetof(linnet_converted, worst_tensor);
  std::memset(less.worst_tensor, 'x', sizeof less.worst_tensor);
  REQUIRE(linnet_convert_file(kFolder, folder.at("n.gguf").c_str(), nullptr, &less, &err) == LINNET_OK);
  CHECK(less.size == offsetof(linnet_converted, worst_tensor));
  CHECK(less.worst_error == done.worst_error);
  CHECK(less.worst_tensor[0] == 'x');
  CHECK(less.file_bytes == 0);
  CHECK(slurp(folder.at("m.gguf")) == slurp(folder.at("n.gguf")));
}

TEST_CASE("a cancelled conversion leaves no file, and the old one") {
  for (const bool there : {false, true}) {
    const Folder folder;
    const std::string out = folder.at("m.gguf");
    if (there) folder.put("m.gguf", "old");
    Watch watch;
    linnet_error err = {};
    linnet_converted done = nothing();
    watch.cancel_at = 1;
    const linnet_convert_params p = watch.params();
    CHECK(linnet_convert_file(kSynthetic, out.c_str(), &p, &done, &err) == LINNET_CANCELLED);
    CHECK(err.code == LINNET_CANCELLED);
    CHECK(watch.done.back() > 0);
    CHECK(done.file_bytes == 0);
    CHECK(std::filesystem::exists(out) == there);
    CHECK(!std::filesystem::exists(out + ".tmp"));
    if (there) CHECK(slurp(out) == "old");
    const Opened opened(kSynthetic, p);
    CHECK(opened.status == LINNET_CANCELLED);
    CHECK((!opened.source && !opened.file.data && opened.done.file_bytes == 0));
  }
}

TEST_CASE("notes are sentences, also of a vocabulary alone") {
  const Folder folder;
  folder.put("vocab.json", R"({"a": 0, "b": 1, "ab": 2, "</s>": 3})");
  folder.put("merges.txt", "a b\n");
  folder.put("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", "eos_token": "</s>", "pad_token": "<pad>"})");
  Watch watch;
  linnet_convert_params p = watch.params();
  {
    const Opened opened(folder.path, p);
    CHECK(opened.status != LINNET_OK);  // no model
    CHECK(std::string(opened.err.text).find(folder.path) == 0);
  }
  watch.notes.clear();
  p.vocab_only = 1;
  const Opened opened(folder.path, p);
  INFO(opened.err.text);
  REQUIRE(opened.status == LINNET_OK);
  CHECK(watch.notes == std::vector<std::string>{"tokenizer_config.json: pad_token '<pad>' is no token of the vocabulary: ignored"});
  CHECK((opened.done.packed == 0 && opened.done.mean_error == -1 && opened.done.worst_error == -1 && !opened.done.worst_tensor[0]));
  CHECK(opened.done.file_bytes == opened.file.bytes);
  CHECK(opened.bytes().find("tokenizer.ggml.tokens") != std::string::npos);
  p.note = nullptr;
  CHECK(Opened(folder.path, p).bytes() == opened.bytes());
}

TEST_CASE("opened: a packed file is mapped or read, anything else is packed in memory") {
  const Folder folder;
  const std::string path = packed(kFolder, folder);
  const std::string whole = slurp(path);
  for (const uint32_t how : {LINNET_LOAD_DEFAULT, LINNET_LOAD_MAP, LINNET_LOAD_COPY, LINNET_LOAD_PREWARM}) {
    Watch watch;
    linnet_convert_params p = watch.params();
    p.load = how;
    const Opened opened(path, p);
    CAPTURE(how, opened.err.text);
    REQUIRE(opened.status == LINNET_OK);
    CHECK(opened.bytes() == whole);
    CHECK((opened.done.packed == 0 && opened.done.mean_error == -1 && opened.done.worst_error == -1));
    CHECK(opened.done.file_bytes == whole.size());
    REQUIRE(!watch.done.empty());
    CHECK(watch.done.back() == whole.size());
    watch.cancel_at = whole.size();
    CHECK(Opened(path, p).status == LINNET_CANCELLED);
  }
  const Opened memory(kFolder, wish());
  REQUIRE(memory.status == LINNET_OK);
  CHECK(memory.bytes() == whole);
  CHECK((memory.done.packed == 1 && memory.done.mean_error > 0));
  // Nothing need be said, and nothing be asked.
  linnet_source* source = nullptr;
  linnet_view file = {};
  REQUIRE(linnet_convert_open(&source, kFolder, nullptr, &file, nullptr, nullptr) == LINNET_OK);
  CHECK(file.bytes == whole.size());
  linnet_convert_close(source);
}

TEST_CASE("a shape has the size of its model and takes no time") {
  linnet_convert_params p = wish();
  p.shape_only = 1;
  const Opened shape(kSynthetic, p), whole(kSynthetic, wish());
  REQUIRE((shape.status == LINNET_OK && whole.status == LINNET_OK));
  CHECK(shape.file.bytes == whole.file.bytes);
  CHECK(shape.done.packed == 0);
  CHECK(shape.bytes() != whole.bytes());
  refused(kSynthetic, p, LINNET_BAD_ARG, "a shape has no weights that a file could hold");
}

TEST_CASE("plain layout: float tensors, which pack to what their source packs to") {
  const Folder folder;
  linnet_error err = {};
  linnet_convert_params p = wish();
  p.layout = LINNET_LAYOUT_PLAIN;
  p.weights = LINNET_F32;
  REQUIRE(linnet_convert_file(kSynthetic, folder.at("plain.gguf").c_str(), &p, nullptr, &err) == LINNET_OK);
  const std::string plain = slurp(folder.at("plain.gguf"));
  CHECK(plain.find("blk.0.attn_q.weight") != std::string::npos);
  CHECK(plain.find("linnet.tensor.") == std::string::npos);
  const Opened again(folder.at("plain.gguf"), wish());
  REQUIRE(again.status == LINNET_OK);
  CHECK(again.done.packed == 1);
  CHECK(again.done.worst_error > 0);
  CHECK(std::string(again.done.worst_tensor).find("weight") != std::string::npos);
  REQUIRE(linnet_convert_file(kSynthetic, folder.at("packed.gguf").c_str(), nullptr, nullptr, &err) == LINNET_OK);
  const Opened unpacked(folder.at("packed.gguf"), p);
  REQUIRE(unpacked.status == LINNET_OK);
  CHECK(unpacked.bytes().size() == plain.size());
  CHECK(unpacked.bytes().find("linnet.tensor.") == std::string::npos);
  p.weights = LINNET_I8G128;
  refused(kSynthetic, p, LINNET_BAD_ARG, "a plain GGUF takes f32, f16, bf16, q8_0, q4_0, q4_k, q5_k, q6_k");
  p.weights = LINNET_FORMAT_DEFAULT;
  refused(kSynthetic, p, LINNET_BAD_ARG, "layout is LINNET_LAYOUT_PLAIN: weights must be said");
}

TEST_CASE("seed and max_error say what they do, 0 is the default") {
  linnet_convert_params one = wish(), two = wish();
  one.seed = 1;
  two.seed = 2;
  const Opened unsaid(kSynthetic, wish()), first(kSynthetic, one), second(kSynthetic, two);
  CHECK(unsaid.bytes() == first.bytes());
  CHECK(unsaid.bytes() != second.bytes());
  linnet_convert_params strict = wish();
  strict.max_error = 1e-5;
  refused(kFolder, strict, LINNET_UNSUPPORTED, "more than 0.001 %");
  strict.max_error = -0.1;
  refused(kFolder, strict, LINNET_BAD_ARG, "max_error");
  strict.max_error = std::nan("");
  refused(kFolder, strict, LINNET_BAD_ARG, "max_error");
  strict.max_error = INFINITY;  // refuses nothing
  CHECK(Opened(kFolder, strict).status == LINNET_OK);
}

TEST_CASE("values that an enum does not have are refused by name") {
  const struct {
    const char* what;
    uint32_t linnet_convert_params::* field;
    std::vector<uint32_t> values;
  } fields[] = {{"layout is ", &linnet_convert_params::layout, {3, UINT32_MAX}},
                {"load is ", &linnet_convert_params::load, {LINNET_LOAD_LOCK + 1, UINT32_MAX}},
                {"vocab_only is ", &linnet_convert_params::vocab_only, {2}},
                {"shape_only is ", &linnet_convert_params::shape_only, {2, 1u << 31}},
                {"weights: unknown format ", &linnet_convert_params::weights, {LINNET_TQ2_F32 + 1, UINT32_MAX}},
                {"floats: unknown format ", &linnet_convert_params::floats, {LINNET_TQ2_F32 + 1, UINT32_MAX}}};
  for (const auto& f : fields)
    for (const uint32_t value : f.values) {
      linnet_convert_params p = wish();
      p.*f.field = value;
      refused(kSynthetic, p, LINNET_BAD_ARG, f.what + std::to_string(value));
      const Opened opened(kSynthetic, p);
      CHECK(opened.status == LINNET_BAD_ARG);
      CHECK(!opened.source);
    }
  linnet_convert_params p = wish();
  p.weights = LINNET_KIVI4;
  refused(kSynthetic, p, LINNET_BAD_ARG, "weights: kivi4 is a format of KV caches alone");
  p.weights = LINNET_FORMAT_DEFAULT, p.floats = LINNET_KIVI2;
  refused(kSynthetic, p, LINNET_BAD_ARG, "floats: kivi2 is a format of KV caches alone");
}

TEST_CASE("structs of other versions: what a newer one says is refused, what an older one cannot say is a default") {
  struct {
    linnet_convert_params known;
    uint64_t more[4];
  } newer = {};
  newer.known.size = sizeof newer;
  const Opened same(kFolder, newer.known);
  CHECK(same.status == LINNET_OK);
  newer.more[3] = uint64_t{1} << 63;
  const Opened wants(kFolder, newer.known);
  CHECK(wants.status == LINNET_BAD_ARG);
  CHECK(std::string(wants.err.text).find("linnet_convert_params") != std::string::npos);
  linnet_convert_params older = wish();
  older.size = offsetof(linnet_convert_params, layout);
  older.weights = LINNET_I8;
  older.layout = older.load = older.vocab_only = 77;  // not of that version
  const Opened some(kSynthetic, older);
  INFO(some.err.text);
  CHECK(some.status == LINNET_OK);
  linnet_convert_params i8 = wish();
  i8.weights = LINNET_I8;
  CHECK(some.bytes() == Opened(kSynthetic, i8).bytes());
  for (const uint32_t size : {0u, 3u, 1u << 30}) {
    linnet_convert_params p = wish();
    p.size = size;
    refused(kSynthetic, p, LINNET_BAD_ARG, "size is " + std::to_string(size));
  }
  // What is to be filled is looked at before anything is written.
  const Folder folder;
  linnet_error err = {};
  linnet_converted unset = {};
  CHECK(linnet_convert_file(kSynthetic, folder.at("m.gguf").c_str(), nullptr, &unset, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("linnet_converted: size is 0") == 0);
  CHECK(folder.empty());
}

TEST_CASE("errors of a source name its path, and NULL is one of the argument") {
  const Folder folder;
  const std::string broken = folder.put("broken.gguf", "GGUF and then no more"), absent = folder.at("absent");
  linnet_source* source = nullptr;
  linnet_view file = {};
  for (const std::string& path : {broken, absent}) {
    linnet_error err = {};
    CHECK(linnet_convert_open(&source, path.c_str(), nullptr, &file, nullptr, &err) == (path == broken ? LINNET_BAD_FILE : LINNET_IO));
    CHECK(std::string(err.text).find(path) == 0);
    CHECK(linnet_convert_file(path.c_str(), folder.at("m.gguf").c_str(), nullptr, nullptr, &err) ==
          (path == broken ? LINNET_BAD_FILE : LINNET_IO));
    CHECK(std::string(err.text).find(path) == 0);
  }
  linnet_error err = {};
  CHECK(linnet_convert_open(&source, "synthetic:none", nullptr, &file, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("no shape 'none'") != std::string::npos);
  const auto names = [&](linnet_status status, const char* argument) {
    CHECK(status == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find(std::string(argument) + " is NULL") != std::string::npos);
  };
  names(linnet_convert_file(nullptr, "x", nullptr, nullptr, &err), "src");
  names(linnet_convert_file(kSynthetic, nullptr, nullptr, nullptr, &err), "out_path");
  names(linnet_convert_open(nullptr, kSynthetic, nullptr, &file, nullptr, &err), "out");
  names(linnet_convert_open(&source, nullptr, nullptr, &file, nullptr, &err), "path");
  names(linnet_convert_open(&source, kSynthetic, nullptr, nullptr, nullptr, &err), "file");
  CHECK(linnet_convert_file(nullptr, nullptr, nullptr, nullptr, nullptr) == LINNET_BAD_ARG);
  CHECK(linnet_convert_file(kSynthetic, "", nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK((!source && !file.data));
  linnet_convert_close(nullptr);
  size_t n = 0;
  char room[8];
  names(linnet_grammar_compile(nullptr, nullptr, 0, nullptr, LINNET_GRAMMAR_SCHEMA, room, sizeof room, &n, &err), "json");
  names(linnet_grammar_compile(nullptr, "{}", 2, nullptr, LINNET_GRAMMAR_SCHEMA, nullptr, 8, &n, &err), "out");
  names(linnet_grammar_compile(nullptr, "{}", 2, nullptr, LINNET_GRAMMAR_SCHEMA, room, sizeof room, nullptr, &err), "n_bytes");
}

TEST_CASE("shapes by number, each of which is one") {
  std::set<std::string> seen;
  const char* name;
  for (uint32_t i = 0; (name = linnet_convert_shape(i)); ++i) {
    CHECK(name == linnet_convert_shape(i));
    CHECK(seen.insert(name).second);
    linnet_convert_params p = wish();
    p.shape_only = 1;
    const Opened opened(std::string("synthetic:") + name, p);
    INFO(name << ": " << opened.err.text);
    if (sizeof(size_t) > 4) CHECK(opened.status == LINNET_OK);  // some are larger than 32 bits
  }
  CHECK(seen.count("llama-3.2-1b") == 1);
  CHECK(!linnet_convert_shape(static_cast<uint32_t>(seen.size()) + 1));
  CHECK(!linnet_convert_shape(UINT32_MAX));
}

TEST_CASE("grammars: the size is known before the bytes, and a kind is one of three") {
  const std::string json = R"({"type": "boolean"})";
  size_t n = 0, m = 0;
  linnet_error err = {};
  CHECK(linnet_grammar_compile(nullptr, json.data(), json.size(), "it", LINNET_GRAMMAR_SCHEMA, nullptr, 0, &n, &err) == LINNET_TOO_SMALL);
  REQUIRE(n > 0);
  std::vector<char> bytes(n + 1, 'x');
  CHECK(linnet_grammar_compile(nullptr, json.data(), json.size(), "it", LINNET_GRAMMAR_SCHEMA, bytes.data(), n - 1, &m, &err) ==
        LINNET_TOO_SMALL);
  CHECK((m == n && bytes[0] == 'x'));
  REQUIRE(linnet_grammar_compile(nullptr, json.data(), json.size(), "it", LINNET_GRAMMAR_SCHEMA, bytes.data(), n, &m, &err) == LINNET_OK);
  CHECK((m == n && bytes[n] == 'x'));
  for (const uint32_t kind : {0u, 7u, 4u | LINNET_GRAMMAR_SPACED, 1u | 1024u, UINT32_MAX}) {
    CHECK(linnet_grammar_compile(nullptr, json.data(), json.size(), "it", linnet_grammar_kind(kind), bytes.data(), n, &m, &err) ==
          LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("kind is " + std::to_string(kind)) != std::string::npos);
  }
  CHECK(linnet_grammar_compile(nullptr, "{", 1, "it.json", LINNET_GRAMMAR_SCHEMA, bytes.data(), n, &m, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("it.json: ") == 0);
  const std::string large((size_t{1} << 20) + 1, ' ');
  CHECK(linnet_grammar_compile(nullptr, large.data(), large.size(), nullptr, LINNET_GRAMMAR_SCHEMA, bytes.data(), n, &m, &err) ==
        LINNET_BAD_FILE);
}
