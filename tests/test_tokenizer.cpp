// Tokenizers against vectors of the reference tokenizers, splitters against PCRE2, NFC against Python's, hostile tables, time.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "data.h"
#include "runtime/convert/tokenizer_build.h"
#include "runtime/convert/tokenizer_parts.h"
#include "runtime/tokenizer/blob.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"

using namespace linnet;
using linnet::convert::SideTexts;
using linnet::convert::TokenizerBlob;
using nlohmann::json;
using Ids = std::vector<int32_t>;

namespace {

struct Loaded {
  TokenizerBlob blob;
  std::vector<uint64_t> memory;  // aligned copy of the blob
  Tokenizer t;
};

void open_blob(Loaded* out) {
  out->memory.assign((out->blob.bytes.size() + 7) / 8, 0);
  std::memcpy(out->memory.data(), out->blob.bytes.data(), out->blob.bytes.size());
  Error err = {};
  const Status status = tokenizer_open(out->memory.data(), out->blob.bytes.size(), 1u << 22, &out->t, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
}

// nullptr where the data is not there.
std::unique_ptr<Loaded> load_folder(const std::string& relative) {
  const std::string path = data_path(relative);
  if (path.empty()) return nullptr;
  auto out = std::make_unique<Loaded>();
  Error err = {};
  const Status status = convert::tokenizer_from_folder(path, &out->blob, &err);
  INFO(relative << ": " << err.text);
  REQUIRE(status == LINNET_OK);
  REQUIRE(!out->blob.bytes.empty());
  open_blob(out.get());
  return out;
}
Status read_gguf(const std::string& path, TokenizerBlob* out, Error* err) {
  const std::string bytes = slurp(path);
  const auto file = std::make_unique<Gguf>();
  const Status status = gguf_open(bytes.data(), bytes.size(), path.c_str(), file.get(), err);
  return status == LINNET_OK ? convert::tokenizer_from_gguf(*file, out, err) : status;
}
std::unique_ptr<Loaded> load_gguf(const std::string& relative) {
  const std::string path = data_path(relative);
  if (path.empty()) return nullptr;
  auto out = std::make_unique<Loaded>();
  Error err = {};
  const Status status = read_gguf(path, &out->blob, &err);
  INFO(relative << ": " << err.text);
  REQUIRE(status == LINNET_OK);
  open_blob(out.get());
  return out;
}

Ids encode(const Tokenizer& t, std::string_view text, uint32_t flags = 0) {
  const size_t need = tokenize_scratch_bytes(t, text.size());
  const auto scratch = std::make_unique<uint8_t[]>(need + 1);
  size_t n = 0;
  Status status = tokenize(t, text, flags, scratch.get() + 1, need, nullptr, 0, &n, nullptr);
  if (status != (n ? LINNET_TOO_SMALL : LINNET_OK)) FAIL("status " << status << " for no room");
  Ids ids(n);
  size_t again = 0;
  status = tokenize(t, text, flags, scratch.get(), need, ids.data(), n, &again, nullptr);
  if (status != LINNET_OK || again != n) FAIL("status " << status << ", " << again << " tokens, " << n << " before");
  return ids;
}
std::string decode(const Tokenizer& t, const Ids& ids) {
  size_t n = 0;
  Status status = detokenize(t, ids.data(), ids.size(), nullptr, 0, &n, nullptr);
  if (status != (n ? LINNET_TOO_SMALL : LINNET_OK)) FAIL("status " << status << " for no room");
  std::string text(n, '\0');
  status = detokenize(t, ids.data(), ids.size(), text.data(), n, &n, nullptr);
  if (status != LINNET_OK) FAIL("status " << status);
  return text;
}

// Rust's String::from_utf8_lossy: one U+FFFD for each longest start of a character that does not go on.
std::string lossy(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const tok::Char c = tok::next_char(s.data() + i, s.size() - i);
    if (c.code != tok::kBadByte) {
      out.append(s, i, c.bytes);
      i += c.bytes;
      continue;
    }
    // The start may be one to three bytes: those that some continuation would make good.
    size_t n = 1;
    for (; n < 3 && i + n < s.size(); ++n) {
      bool possible = false;
      for (const char* rest : {"\x80", "\xBF", "\x80\x80", "\xBF\xBF"}) {
        const std::string whole = s.substr(i, n + 1) + rest;
        possible = possible || tok::next_char(whole.data(), whole.size()).bytes == whole.size();
      }
      if (!possible) break;
    }
    out += "\xEF\xBF\xBD";
    i += n;
  }
  return out;
}

std::string show(const Ids& ids) {
  std::string out;
  for (const int32_t id : ids) out += std::to_string(id) + " ";
  return out;
}

// Counts what passes and shows the first few that do not.
struct Score {
  std::string name;
  size_t passed = 0, total = 0;
  std::string failures = {};
  void check(bool ok, const std::string& what) {
    ++total;
    passed += ok;
    if (!ok && total - passed <= 5) failures += what + "\n";
  }
  void finish() {
    std::printf("tokenizer %-28s %zu of %zu strings\n", name.c_str(), passed, total);
    INFO(failures);
    CHECK(total > 0);
    CHECK(passed == total);
  }
};

void golden(const char* name, const char* folder, uint32_t flags) {
  const auto loaded = load_folder(folder);
  if (!loaded) return;
  std::ifstream in(std::string("tests/golden/tokenizers/") + name + ".jsonl");
  if (!in) {
    std::printf("skipped: no tests/golden/tokenizers/%s.jsonl\n", name);
    return;
  }
  Score score{name};
  for (std::string line; std::getline(in, line);) {
    const json v = json::parse(line);
    const std::string text = v["text"], decoded = v["decoded"];
    const Ids want = v["ids"], plain = v["ids_plain"];
    const Ids got = encode(loaded->t, text, flags), got_plain = encode(loaded->t, text, flags | LINNET_NO_ADD_SPECIAL);
    const std::string back = lossy(decode(loaded->t, plain));
    score.check(got == want && got_plain == plain && back == decoded,
                v["text"].dump() + "\n  got  " + show(got) + "\n  want " + show(want) + "\n  decoded " + json(back).dump() + "\n  want    " + v["decoded"].dump());
  }
  score.finish();
}

// What transformers did to decoded text for GPT-2 when the vectors were made (clean_up_tokenization_spaces); not the tokenizer's doing.
std::string clean_up(std::string s) {
  for (const char* mark : {" .", " ?", " !", " ,", " n't", " 'm", " 's", " 've", " 're"})
    for (size_t at = 0; (at = s.find(mark, at)) != s.npos; ++at) s.erase(at, 1);
  return s;
}

void hf_vectors(const Tokenizer& t, const char* file, const char* name, bool cleaned = false) {
  const std::string path = data_path(std::string("vectors/hf-tokenizers/") + file);
  if (path.empty()) return;
  Score score{std::string("hf ") + name};
  const json cases = json::parse(slurp(path))[name];
  for (const auto& [label, v] : cases.items()) {
    const std::string text = v["text"];
    const Ids want = v["ids"], got = encode(t, text);
    const std::string back = cleaned ? clean_up(lossy(decode(t, want))) : lossy(decode(t, want));
    score.check(got == want && back == v["decoded"],
                label + "\n  got  " + show(got) + "\n  want " + show(want) + "\n  decoded " + json(back).dump() + "\n  want    " + v["decoded"].dump());
  }
  score.finish();
}

void ggml_vectors(const Tokenizer& t, const std::string& name) {
  const std::string inp = data_path("tokenizers/ggml-vocab/ggml-vocab-" + name + ".gguf.inp");
  const std::string out = data_path("tokenizers/ggml-vocab/ggml-vocab-" + name + ".gguf.out");
  if (inp.empty() || out.empty()) return;
  const std::string separator = "\n__ggml_vocab_test__\n", texts = slurp(inp);
  std::istringstream lines(slurp(out));
  Score score{"ggml " + name};
  size_t at = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = std::min(texts.find(separator, at), texts.size());
    const std::string text = texts.substr(at, end - at);
    at = std::min(end + separator.size(), texts.size());
    std::istringstream numbers(line);
    Ids want;
    for (int32_t id; numbers >> id;) want.push_back(id);
    const Ids got = encode(t, text, LINNET_NO_ADD_SPECIAL);
    score.check(got == want, json(text).dump() + "\n  got  " + show(got) + "\n  want " + show(want));
  }
  score.finish();
}

}  // namespace

TEST_CASE("golden vectors of the reference tokenizers") {
  golden("smollm2", "tokenizers/smollm", 0);
  golden("phi-3", "tokenizers/phi-3", 0);
  golden("mistral-v3", "tokenizers/mistral-v3", LINNET_NO_PARSE_SPECIAL);
  golden("llama2", "tokenizers/llama2", 0);
  golden("qwen2", "tokenizers/qwen2", 0);
  golden("gpt2", "tokenizers/gpt2", 0);
}

TEST_CASE("vectors of Hugging Face") {
  if (const auto gpt2 = load_folder("tokenizers/gpt2")) {
    hf_vectors(gpt2->t, "gpt2.json", "Xenova/gpt2", true);
    hf_vectors(gpt2->t, "gpt2.json", "openai-community/gpt2", true);
  }
  if (const auto qwen2 = load_folder("tokenizers/qwen2")) hf_vectors(qwen2->t, "qwen2.json", "Xenova/Qwen1.5-0.5B-Chat");
  if (const auto llama = load_folder("tokenizers/llama2")) hf_vectors(llama->t, "llama.json", "Xenova/llama-tokenizer");
}

TEST_CASE("vectors of ggml-vocab") {
  for (const char* name : {"gpt-2", "llama-spm", "phi-3"})
    if (const auto loaded = load_gguf(std::string("tokenizers/ggml-vocab/ggml-vocab-") + name + ".gguf")) ggml_vectors(loaded->t, name);
  if (const auto qwen2 = load_folder("tokenizers/qwen2")) ggml_vectors(qwen2->t, "qwen2");
}
