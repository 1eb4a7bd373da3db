// The GGUF reader: what it accepts, and that it refuses everything else by name.
#include <memory>

#include "runtime/chat.h"
#include "runtime/convert/ggml_types.h"
#include "runtime/format.h"
#include "tests/catch2.h"
#include "tests/data.h"
#include "tests/gguf_file.h"

using namespace linnet;
using test::GgufFile;
using test::le;
using test::lstr;

namespace {

// Opens a copy in memory of exactly that size, so that ASan sees a byte too far.
struct Opened {
  std::unique_ptr<char[]> copy;
  std::unique_ptr<Gguf> g = std::make_unique<Gguf>();
  linnet_error err = {};
  linnet_status status;
  explicit Opened(const std::string& bytes) : copy(new char[bytes.size()]) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    status = gguf_open(copy.get(), bytes.size(), "x.gguf", g.get(), &err);
  }
  explicit Opened(const GgufFile& f) : Opened(f.bytes()) {}
};

GgufFile good() {
  GgufFile f;
  f.text("general.architecture", "llama");
  f.u32("general.alignment", 32);
  f.raw("flag", kGgufBool, le(uint8_t{1}));
  f.raw("small", kGgufI8, le(int8_t{-5}));
  f.raw("big", kGgufU64, le(uint64_t{1} << 40));
  f.raw("real", kGgufF64, le(0.1));
  f.raw("words", kGgufArray, le(uint32_t{kGgufString}) + le(uint64_t{3}) + lstr("a") + lstr("") + lstr("ccc"));
  f.raw("flags", kGgufArray, le(uint32_t{kGgufBool}) + le(uint64_t{2}) + std::string("\1\0", 2));
  f.raw("numbers", kGgufArray, le(uint32_t{kGgufI32}) + le(uint64_t{2}) + le(int32_t{-1}) + le(int32_t{7}));
  f.tensors.push_back({"b", {3, 5}, kGgmlF32, std::string(60, 'b')});
  f.tensors.push_back({"a", {64, 2, 1, 1}, kGgmlQ8_0, std::string(136, 'a')});
  f.tensors.push_back({"c", {7}, kGgmlI8, "ccccccc"});
  return f;
}

// f is refused, and the text says why.
void refused(const GgufFile& f, linnet_status status, const std::vector<std::string>& words) {
  const Opened o(f);
  CAPTURE(o.err.text, words);
  CHECK(o.status == status);
  CHECK(std::string(o.err.text).rfind("x.gguf: ", 0) == 0);
  for (const std::string& w : words) CHECK(std::string(o.err.text).find(w) != std::string::npos);
}
template <class Change>
void refused_after(Change change, linnet_status status, const std::vector<std::string>& words) {
  GgufFile f = good();
  change(f);
  refused(f, status, words);
}
constexpr linnet_status kBad = LINNET_BAD_FILE, kNot = LINNET_UNSUPPORTED;

}  // namespace

TEST_CASE("gguf: a valid file is read") {
  const Opened o(good());
  INFO(o.err.text);
  REQUIRE(o.status == LINNET_OK);
  const Gguf& g = *o.g;
  CHECK(g.n_keys == 9);
  CHECK(g.n_tensors == 3);
  GgufValue v;
  REQUIRE(g.key("general.architecture", &v));
  CHECK(v.text == "llama");
  REQUIRE(g.key("flag", &v));
  CHECK((v.type == kGgufBool && v.u == 1));
  uint64_t u = 0;
  double d = 0;
  CHECK(!v.is_uint(&u));
  REQUIRE(g.key("small", &v));
  CHECK(v.i == -5);
  CHECK(!v.is_uint(&u));
  CHECK((v.is_number(&d) && d == -5));
  REQUIRE(g.key("big", &v));
  CHECK((v.is_uint(&u) && u == uint64_t{1} << 40));
  REQUIRE(g.key("real", &v));
  CHECK(v.f == 0.1);
  REQUIRE(g.key("words", &v));
  size_t pos = 0;
  std::vector<std::string> words;
  for (std::string_view w; gguf_next_string(v, &pos, &w);) words.emplace_back(w);
  CHECK(words == std::vector<std::string>{"a", "", "ccc"});
  REQUIRE(g.key("numbers", &v));
  CHECK((v.array_type == kGgufI32 && v.count == 2 && v.raw.size() == 8));
  CHECK(!g.key("word", &v));
  CHECK(!g.key("", &v));
  GgufTensor t;
  REQUIRE(g.tensor("a", &t));
  CHECK((t.n_dims == 4 && t.dims[0] == 64 && t.dims[1] == 2 && t.bytes == 136));
  CHECK(std::string(reinterpret_cast<const char*>(t.data), 136) == std::string(136, 'a'));
  REQUIRE(g.tensor("c", &t));
  CHECK(std::memcmp(t.data, "ccccccc", 7) == 0);
  CHECK(!g.tensor("d", &t));
  std::string names, key_names;
  std::string_view name;
  for (uint32_t i = 0; i < g.n_tensors; ++i) g.tensor_entry(i, &t), names += t.name;
  CHECK(names == "abc");
  for (uint32_t i = 0; i < g.n_keys; ++i) g.key_entry(i, &name, &v), key_names += std::string(name) + " ";
  CHECK(key_names == "big flag flags general.alignment general.architecture numbers real small words ");
}

TEST_CASE("gguf: a file without tensors may end right behind its keys; version 2 is read too") {
  GgufFile f = good();
  f.tensors.clear();
  CHECK(Opened(f).status == LINNET_OK);
  f.keys.clear();
  f.version = 2;
  CHECK(Opened(f).status == LINNET_OK);
}

TEST_CASE("gguf: hostile headers are refused by name") {
  refused_after([](GgufFile& f) { f.magic = "GGML"; }, kBad, {"no GGUF file"});
  refused_after([](GgufFile& f) { f.version = 1; }, kNot, {"version 1"});
  refused_after([](GgufFile& f) { f.version = 4; }, kNot, {"version 4"});
  refused_after([](GgufFile& f) { f.version = 0x03000000; }, kNot, {"big-endian"});
  refused_after([](GgufFile& f) { f.n_keys = UINT64_MAX; }, kBad, {"18446744073709551615 keys"});
  refused_after([](GgufFile& f) { f.n_tensors = uint64_t{1} << 32; }, kBad, {"4294967296 tensors"});
  refused_after([](GgufFile& f) { f.n_keys = 8193; }, kBad, {"8193 keys", "8192"});
  refused_after([](GgufFile& f) { f.n_keys = 8000, f.n_tensors = 2241; }, kBad, {"8000 keys and 2241 tensors", "10240"});
  refused_after([](GgufFile& f) { f.n_keys = f.keys.size() + 1; }, kBad, {"name has"});
  refused_after([](GgufFile& f) { f.n_tensors = f.tensors.size() + 1; }, kBad, {"tensor 3"});
}

TEST_CASE("gguf: a Git LFS pointer is called one") {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
  Gguf g;
  linnet_error err = {};
  CHECK(gguf_open(pointer.data(), pointer.size(), "m.gguf", &g, &err) == LINNET_BAD_FILE);
  CHECK(std::string(err.text).find("a Git LFS pointer, not the file itself: 'git lfs pull' brings it") != std::string::npos);
}

TEST_CASE("gguf: hostile keys are refused by name") {
  refused_after([](GgufFile& f) { f.u32("flag", 1); }, kBad, {"key 'flag' appears twice"});
  refused_after([](GgufFile& f) { f.u32("", 1); }, kBad, {"key 9", "empty"});
  refused_after([](GgufFile& f) { f.u32(std::string(256, 'k'), 1); }, kBad, {"key 9", "256 bytes"});
  refused_after([](GgufFile& f) { f.u32("k\xff", 1); }, kBad, {"key 9", "not UTF-8"});
  refused_after([](GgufFile& f) { f.u32("k\xed\xa0\x80", 1); }, kBad, {"key 9", "not UTF-8"});  // a surrogate
  refused_after([](GgufFile& f) { f.u32("k\xc0\x80", 1); }, kBad, {"key 9", "not UTF-8"});      // overlong
  refused_after([](GgufFile& f) { f.u32("k\xe2\x82", 1); }, kBad, {"key 9", "not UTF-8"});      // cut
  refused_after([](GgufFile& f) { f.raw("k", 13, le(uint64_t{0})); }, kBad, {"'k'", "unknown value type 13"});
  refused_after([](GgufFile& f) { f.raw("k", UINT32_MAX, le(uint64_t{0})); }, kBad, {"'k'", "unknown value type 4294967295"});
  refused_after([](GgufFile& f) { f.raw("k", kGgufBool, le(uint8_t{2})); }, kBad, {"'k'", "bool is 2"});
  refused_after([](GgufFile& f) { f.text("k", "\x80"); }, kBad, {"'k'", "not UTF-8"});
  for (const uint64_t length : {uint64_t{1} << 20, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7})
    refused_after([&](GgufFile& f) { f.raw("k", kGgufString, le(length) + "text"); }, kBad, {"'k'", "string of " + std::to_string(length)});
  const auto array = [](uint32_t type, uint64_t count, const std::string& data) { return le(type) + le(count) + data; };
  refused_after([&](GgufFile& f) { f.raw("k", kGgufArray, array(kGgufArray, 1, array(kGgufU8, 1, "x"))); }, kBad,
                {"'k'", "arrays in arrays"});
  refused_after([&](GgufFile& f) { f.raw("k", kGgufArray, array(77, 1, "x")); }, kBad, {"'k'", "unknown array element type 77"});
  refused_after([&](GgufFile& f) { f.raw("k", kGgufArray, array(kGgufBool, 2, "\1\7")); }, kBad, {"'k'", "bool 1 is 7"});
  for (const uint32_t type : {uint32_t{kGgufU8}, uint32_t{kGgufU32}, uint32_t{kGgufF64}, uint32_t{kGgufString}})
    for (const uint64_t count : {uint64_t{100000}, uint64_t{1} << 61, (uint64_t{1} << 62) + 1, UINT64_MAX})
      refused_after([&](GgufFile& f) { f.raw("k", kGgufArray, array(type, count, "0123456789abcdef")); }, kBad,
                    {"'k'", "array of " + std::to_string(count)});
  refused_after([&](GgufFile& f) { f.raw("k", kGgufArray, array(kGgufString, 2, lstr("a") + le(UINT64_MAX))); }, kBad,
                {"'k'", "array of 2"});
  for (const uint32_t a : {0u, 3u, 48u, 1u << 17, 1u << 31})
    refused_after([&](GgufFile& f) { f.key("general.alignment")->value = le(uint32_t{kGgufU32}) + le(a); }, kBad,
                  {"general.alignment: " + std::to_string(a)});
  refused_after([](GgufFile& f) { f.key("general.alignment")->value = le(uint32_t{kGgufString}) + lstr("32"); }, kBad,
                {"general.alignment"});
  refused_after([](GgufFile& f) { f.key("general.alignment")->value = le(uint32_t{kGgufI32}) + le(int32_t{-32}); }, kBad,
                {"general.alignment"});
}

TEST_CASE("gguf: hostile tensors are refused by name") {
  const auto add = [](const std::vector<uint64_t>& dims, uint32_t type, const std::string& data = "") {
    return [=](GgufFile& f) { f.tensors.push_back({"t", dims, type, data}); };
  };
  refused_after([](GgufFile& f) { f.tensors.push_back({"a", {1}, kGgmlF32, "1234"}); }, kBad, {"tensor 'a' appears twice"});
  refused_after([](GgufFile& f) { f.tensors.push_back({"", {1}, kGgmlF32, "1234"}); }, kBad, {"tensor 3", "empty"});
  refused_after([](GgufFile& f) { f.tensors.push_back({"\xf8", {1}, kGgmlF32, "1234"}); }, kBad, {"tensor 3", "not UTF-8"});
  refused_after([](GgufFile& f) { f.tensors.push_back({std::string(300, 't'), {1}, kGgmlF32, "1234"}); }, kBad, {"tensor 3", "300 bytes"});
  refused_after(add({}, kGgmlF32), kBad, {"'t'", "0 dimensions"});
  refused_after(add({1, 1, 1, 1, 1}, kGgmlF32, "1234"), kBad, {"'t'", "5 dimensions"});
  refused_after(add({4, 0}, kGgmlF32), kBad, {"'t'", "dimension 1 is 0"});
  refused_after(add({uint64_t{1} << 32, uint64_t{1} << 32}, kGgmlI8), kBad, {"'t'", "overflows at dimension 1"});
  refused_after(add({uint64_t{1} << 62, 2}, kGgmlF32), kBad, {"'t'", "overflow"});
  refused_after(add({uint64_t{1} << 61}, kGgmlF32), kBad, {"'t'", "pass the end"});
  refused_after(add({64}, 4), kNot, {"'t'", "unknown type 4"});
  refused_after(add({64}, UINT32_MAX), kNot, {"'t'", "unknown type"});
  refused_after(add({256}, 15), kNot, {"'t'", "Q8_K"});
  refused_after(add({48}, kGgmlQ8_0), kBad, {"'t'", "48", "Q8_0's block of 32"});
  refused_after(add({128}, kGgmlQ6_K), kBad, {"'t'", "128", "Q6_K's block of 256"});
  refused_after([](GgufFile& f) { f.tensors[1].offset = 65; }, kBad, {"'a'", "offset 65", "alignment 32"});
  refused_after([](GgufFile& f) { f.tensors[1].offset = 32; }, kBad, {"'a'", "offset 32", "overlaps", "'b'"});
  refused_after([](GgufFile& f) { f.tensors[1].offset = 0; }, kBad, {"overlaps"});
  refused_after([](GgufFile& f) { f.tensors[2].offset = 192; }, kBad, {"'c'", "overlaps", "'a'"});
  for (const uint64_t offset : {uint64_t{1} << 20, uint64_t{1} << 63, UINT64_MAX - 31})
    refused_after([&](GgufFile& f) { f.tensors[1].offset = offset; }, kBad, {"'a'", "offset " + std::to_string(offset), "end of the file"});
}

TEST_CASE("gguf: tensors may lie in any order") {
  GgufFile f = good();
  f.tensors[0].offset = 160;  // b behind a
  f.tensors[1].offset = 0;
  f.tensors[2].offset = 224;
  CHECK(Opened(f).status == LINNET_OK);
}

TEST_CASE("gguf: a file cut at any byte is refused") {
  const std::string whole = good().bytes(), header = good().header();
  REQUIRE(Opened(whole).status == LINNET_OK);
  for (size_t n = 0; n < whole.size(); ++n) {
    const Opened o(whole.substr(0, n));
    CAPTURE(n, header.size(), o.err.text);
    CHECK(o.status == LINNET_BAD_FILE);
    CHECK(std::strlen(o.err.text) > 10);
  }
}

TEST_CASE("gguf: no byte of the header can be changed into a crash") {
  const std::string whole = good().bytes();
  for (size_t at = 0; at < good().header().size(); ++at)
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(value);
      const Opened o(bytes);
      CHECK((o.status == LINNET_OK || o.status == LINNET_BAD_FILE || o.status == LINNET_UNSUPPORTED));
      if (o.status != LINNET_OK) continue;
      GgufTensor t;
      for (uint32_t i = 0; i < o.g->n_tensors; ++i) {
        o.g->tensor_entry(i, &t);
        CHECK(t.data + t.bytes <= o.g->data + o.g->bytes);
      }
    }
}

TEST_CASE("gguf: many keys and tensors stay findable, duplicates among them are seen") {
  GgufFile f;
  for (uint32_t i = 0; i < 3000; ++i) f.u32("key." + std::to_string(i * 7919 % 3000), i);
  for (uint32_t i = 0; i < 2000; ++i) f.tensors.push_back({"t" + std::to_string(i * 7919 % 2000), {1}, kGgmlF32, le(i)});
  {
    const Opened o(f);
    REQUIRE(o.status == LINNET_OK);
    GgufValue v;
    GgufTensor t;
    for (uint32_t i = 0; i < 3000; ++i) REQUIRE((o.g->key("key." + std::to_string(i * 7919 % 3000), &v) && v.u == i));
    for (uint32_t i = 0; i < 2000; ++i)
      REQUIRE((o.g->tensor("t" + std::to_string(i * 7919 % 2000), &t) && std::memcmp(t.data, &i, 4) == 0));
  }
  f.u32("key.1234", 0);
  refused(f, kBad, {"'key.1234' appears twice"});
}

TEST_CASE("GGML types: values are those of the gguf package, bit for bit") {
  const std::string file = slurp("tests/data/ggml_types.bin");
  ByteReader r(file.data(), file.size());
  uint32_t types = 0;
  while (r.left()) {
    const auto type = r.read<uint32_t>(), blocks = r.read<uint32_t>(), bytes = r.read<uint32_t>(), n = r.read<uint32_t>();
    const std::string_view data = r.view(bytes), values = r.view(n * sizeof(float));
    REQUIRE(r.ok());
    CAPTURE(ggml_type(type).name);
    REQUIRE(convert::ggml_readable(type));
    REQUIRE(blocks * ggml_type(type).values == n);
    REQUIRE(blocks * ggml_type(type).bytes == bytes);
    std::vector<float> out(n);
    convert::ggml_values(type, reinterpret_cast<const uint8_t*>(data.data()), n, out.data());
    CHECK(std::memcmp(out.data(), values.data(), values.size()) == 0);
    ++types;
  }
  CHECK(types == 26);
  CHECK(!convert::ggml_readable(kGgmlI8));
}

TEST_CASE("GGML types: every f16 number") {
  std::vector<uint16_t> bits(65536);
  for (uint32_t i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
  std::vector<float> out(65536);
  convert::ggml_values(kGgmlF16, reinterpret_cast<const uint8_t*>(bits.data()), out.size(), out.data());
  size_t wrong = 0;
  for (uint32_t i = 0; i < 65536; ++i) {
    const float want = f16_to_f32(bits[i]);
    wrong += want == want ? std::memcmp(&want, &out[i], 4) != 0 : out[i] == out[i];
  }
  CHECK(wrong == 0);
}

// ---- the chat format (chat.h) ----------------------------------------------------------------------------------------------

TEST_CASE("chat format: keys are read, checked and refused by name") {
  const auto read = [](const GgufFile& f, ChatFormat* chat, std::string* why) {
    const Opened o(f);
    REQUIRE(o.status == LINNET_OK);
    linnet_error err = {};
    const Status s = chat_read(*o.g, chat, &err);
    *why = err.text;
    return s;
  };
  ChatFormat chat;
  std::string why;
  CHECK(read(good(), &chat, &why) == LINNET_OK);
  for (const ChatFormat::Text& t : chat.role) CHECK_FALSE(t.present);
  CHECK_FALSE(chat.has_template);

  GgufFile f = good();
  f.text(kChatTemplateKey, "{{ messages }}");
  f.text("linnet.chat.user.prefix", "<u>");
  f.text("linnet.chat.user.suffix", "");
  f.text("linnet.chat.assistant.prefix", std::string(kMaxChatText, 'a'));
  f.text("linnet.chat.assistant.suffix", "\n");
  REQUIRE(read(f, &chat, &why) == LINNET_OK);
  CHECK(chat.has_template);
  CHECK(std::string(chat.role[LINNET_ROLE_USER].prefix) == "<u>");
  CHECK(std::string(chat.role[LINNET_ROLE_USER].suffix).empty());
  CHECK(std::string(chat.role[LINNET_ROLE_ASSISTANT].prefix) == std::string(kMaxChatText, 'a'));
  CHECK_FALSE(chat.role[LINNET_ROLE_TOOL].present);

  const auto refused_chat = [&](const char* key, std::optional<std::string> value, const char* word) {
    GgufFile g = f;
    if (value)
      g.key(key)->value = *value;
    else
      g.remove(key);
    CAPTURE(key, why);
    CHECK(read(g, &chat, &why) == LINNET_BAD_FILE);
    CHECK(why.find(word) != std::string::npos);
  };
  const std::string text = le(uint32_t{kGgufString});
  refused_chat("linnet.chat.user.suffix", std::nullopt, "'user'");
  refused_chat("linnet.chat.user.prefix", le(uint32_t{kGgufU32}) + le(uint32_t{1}), "no string");
  refused_chat("linnet.chat.user.prefix", text + lstr(""), "both empty");
  refused_chat("linnet.chat.user.prefix", text + lstr(std::string(kMaxChatText + 1, 'x')), "128 bytes");
  refused_chat("linnet.chat.user.prefix", text + lstr(std::string("a\0b", 3)), "NUL");
  f.remove("linnet.chat.assistant.prefix");
  f.remove("linnet.chat.assistant.suffix");
  CHECK(read(f, &chat, &why) == LINNET_BAD_FILE);
  CHECK(why.find("'assistant'") != std::string::npos);
}
