// What the tokenizer tests share: loading, encoding, and small tokenizers made here.
#pragma once
#include <linnet.h>

#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "runtime/convert/tokenizer_build.h"
#include "runtime/convert/tokenizer_parts.h"
#include "runtime/tokenizer/blob.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"
#include "tests/catch2.h"
#include "tests/data.h"

using namespace linnet;
using linnet::convert::SideTexts;
using linnet::convert::TokenizerBlob;
using nlohmann::json;
using Ids = std::vector<int32_t>;

struct Loaded {
  TokenizerBlob blob;
  std::vector<uint64_t> memory;  // aligned copy of the blob
  Tokenizer t;
};

inline void open_blob(Loaded* out) {
  out->memory.assign((out->blob.bytes.size() + 7) / 8, 0);
  std::memcpy(out->memory.data(), out->blob.bytes.data(), out->blob.bytes.size());
  Error err = {};
  const Status status = tokenizer_open(out->memory.data(), out->blob.bytes.size(), 1u << 22, &out->t, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
}

// nullptr where the data is not there.
// Loaded once: the large ones take seconds under sanitizers.
inline std::shared_ptr<const Loaded> load_folder(const std::string& relative) {
  static std::map<std::string, std::shared_ptr<const Loaded>> known;
  if (const auto at = known.find(relative); at != known.end()) return at->second;
  const std::string path = relative.compare(0, 6, "tests/") == 0 ? relative : data_path(relative);
  if (path.empty()) return nullptr;
  auto out = std::make_shared<Loaded>();
  Error err = {};
  const Status status = convert::tokenizer_from_folder(path, &out->blob, &err);
  INFO(relative << ": " << err.text);
  REQUIRE(status == LINNET_OK);
  REQUIRE(!out->blob.bytes.empty());
  open_blob(out.get());
  return known[relative] = out;
}
inline Status read_gguf(const std::string& path, TokenizerBlob* out, Error* err) {
  const std::string bytes = slurp(path);
  const auto file = std::make_unique<Gguf>();
  const Status status = gguf_open(bytes.data(), bytes.size(), path.c_str(), file.get(), err);
  return status == LINNET_OK ? convert::tokenizer_from_gguf(*file, out, err) : status;
}
inline std::unique_ptr<Loaded> load_gguf(const std::string& relative) {
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

// As the reference tokenizers do it where nothing else is said.
constexpr uint32_t kAllSpecial = LINNET_ADD_SPECIAL | LINNET_PARSE_SPECIAL;
inline Ids encode(const Tokenizer& t, std::string_view text, uint32_t flags = kAllSpecial) {
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
inline std::string decode(const Tokenizer& t, const Ids& ids, uint32_t flags = 0) {
  size_t n = 0;
  Status status = detokenize(t, ids.data(), ids.size(), flags, nullptr, 0, &n, nullptr);
  if (status != (n ? LINNET_TOO_SMALL : LINNET_OK)) FAIL("status " << status << " for no room");
  std::string text(n, '\0');
  status = detokenize(t, ids.data(), ids.size(), flags, text.data(), n, &n, nullptr);
  if (status != LINNET_OK) FAIL("status " << status);
  return text;
}

inline std::string nfc_of(const std::string& s) {
  // Exactly what a caller has to give, so that a sanitizer sees a byte too many.
  const auto out = std::make_unique<char[]>(3 * s.size());
  const auto work = std::make_unique<uint32_t[]>(3 * s.size());
  tok::Writer writer{out.get(), 3 * s.size()};
  tok::nfc(s.data(), s.size(), &writer, work.get());
  REQUIRE(!writer.full);
  return std::string(out.get(), writer.n);
}

// Rust's String::from_utf8_lossy: one U+FFFD for each longest start of a character that does not go on.
inline std::string lossy(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const Char c = next_char(s.data() + i, s.size() - i);
    if (c.code != kBadByte) {
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
        possible = possible || next_char(whole.data(), whole.size()).bytes == whole.size();
      }
      if (!possible) break;
    }
    out += "\xEF\xBF\xBD";
    i += n;
  }
  return out;
}

// Trained by tests/golden/tokenizer_vectors.py, one of each style.
constexpr const char* kSmall[] = {"llama3",      "gpt-4o",        "tekken",    "olmo2",          "deepseek-v3", "deepseek-coder",
                                  "falcon",      "starcoder",     "command-r", "bloom",          "gpt-neox",    "roberta",
                                  "gemma",       "metaspace",     "bpe-spm",   "unigram",        "unigram-t5",  "unigram-xlm",
                                  "unigram-spm", "unigram-bytes", "wordpiece", "wordpiece-cased"};

// ---- small tokenizers made here -------------------------------------------------------------------------------------------

inline std::string put_utf8(uint32_t c) {
  std::string s;
  const auto put = [&s](uint32_t b) { s.push_back(static_cast<char>(b)); };
  if (c < 0x80)
    put(c);
  else if (c < 0x800)
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  else if (c < 0x10000)
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  else
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  return s;
}
// What splitters tell apart, and one character in five at random.
inline std::string mixed_text(std::mt19937& rng, size_t most, bool (*may)(uint32_t)) {
  static const std::vector<std::string> pool = {
      "'",    "'s",     "'S",     "'re",    "'RE",    "'Ll", "'\u017F", "'t",  "l",  "a",      "Z",        "é",      "ß",
      "中",   "한",     "ع",      "1",      "23",     "٣",   "½",       "Ⅳ",   " ",  "  ",     "\t",       "\n",     "\r",
      "\r\n", "\u00A0", "\u3000", "\u0085", "\u2028", "\v",  "!",       "...", "-",  "😀",     "\u0301",   "\u200D", "_",
      "\x01", "v",      "e",      "m",      "d",      "/",   "\u0903",  "ʰ",   "ǅ",  "の",     "ー",       "，",     "。",
      "　",   "／",     "×",      "$",      "123",    "(",   "۔",       "Ж",   "ᾼ",  "\u1F7D", "'LL",      "\u212A", "A",
      "the",  "World",  "文字",   "456",    "b",      "x",   "#",       "〇",  "々", "    ",   "        ", " ",      " "};
  std::string text;
  for (size_t n = 1 + rng() % most; n; --n) {
    if (rng() % 5) {
      text += pool[rng() % pool.size()];
      continue;
    }
    uint32_t c;
    do c = static_cast<uint32_t>(rng() % (rng() % 2 ? 0x3000 : 0x110000));
    while (!may(c));
    text += put_utf8(c);
  }
  return text;
}
// Bytes of each word that a splitter which is written out makes.
inline std::vector<size_t> words_of(tok::Split split, std::string_view text) {
  std::vector<size_t> out;
  for (size_t at = 0; at < text.size(); at += out.back()) out.push_back(tok::word_bytes(split, text.data(), at, text.size()));
  return out;
}
inline std::string letter_of_byte(int byte) {
  for (uint32_t c = 0; c < 0x200; ++c)
    if (convert::byte_of_letter(c) == byte) return put_utf8(c);
  return "";
}

// 256 bytes, then tokens made by merges.
inline json byte_level_json(const std::vector<std::pair<std::string, std::string>>& merges, const std::vector<json>& added = {}) {
  json vocab = json::object(), lines = json::array();
  for (int b = 0; b < 256; ++b) vocab[letter_of_byte(b)] = b;
  for (const auto& [left, right] : merges) {
    if (!vocab.contains(left + right)) vocab[left + right] = vocab.size();
    lines.push_back(left + " " + right);
  }
  json list = json::array();
  for (json a : added) {
    a["id"] = vocab.size() + list.size();
    list.push_back(a);
  }
  return {{"added_tokens", list},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", lines}}}};
}
inline const std::vector<std::pair<std::string, std::string>> kMerges = {{"a", "a"},   {"aa", "aa"}, {"aaaa", "aaaa"}, {"t", "h"},
                                                                         {"th", "e"},  {"Ġ", "the"}, {"e", "r"},       {"Ġ", "Ġ"},
                                                                         {"ĠĠ", "ĠĠ"}, {"a", "b"},   {"b", "a"}};

inline Status build(const json& tokenizer, Loaded* out, Error* err, const SideTexts& sides = {}) {
  return convert::tokenizer_from_json(tokenizer.dump(), sides, &out->blob, err);
}
inline std::unique_ptr<Loaded> built(const json& tokenizer, const SideTexts& sides = {}) {
  auto out = std::make_unique<Loaded>();
  Error err = {};
  const Status status = build(tokenizer, out.get(), &err, sides);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  open_blob(out.get());
  return out;
}

// A SentencePiece-like tokenizer.json: <unk>, <s>, </s>, 256 bytes, then pieces.
inline json spm_json() {
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  char name[8];
  for (int b = 0; b < 256; ++b) {
    std::snprintf(name, sizeof name, "<0x%02X>", b);
    vocab[name] = 3 + b;
  }
  for (const char* piece : {"▁", "a", "b", "c", "é", "▁a", "ab", "▁ab", "bc", "▁▁", "▁▁▁▁"}) vocab[piece] = vocab.size();
  const auto added = [](int id, const char* text) {
    return json{{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  return {{"added_tokens", {added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", "▁"}}, {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}}}}},
          {"pre_tokenizer", nullptr},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
            {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", json::array({1})}, {"tokens", json::array({"<s>"})}}}}}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", {"▁ a", "a b", "▁a b", "b c", "▁ ▁", "▁▁ ▁▁"}}}}};
}

inline json added_token(const char* text, bool special, bool lstrip = false, bool rstrip = false, bool normalized = false) {
  return {{"content", text},  {"special", special},       {"lstrip", lstrip},
          {"rstrip", rstrip}, {"normalized", normalized}, {"single_word", false}};
}

// Opens a blob that may hold anything, in memory of exactly its size, and uses what opens.
inline bool survives(const std::vector<uint8_t>& bytes) {
  const auto memory = std::make_unique<uint64_t[]>((bytes.size() + 7) / 8);
  uint8_t* const blob = reinterpret_cast<uint8_t*>(memory.get());
  std::memcpy(blob, bytes.data(), bytes.size());
  Tokenizer t;
  Error err = {};
  if (tokenizer_open(blob, bytes.size(), 4096, &t, &err) != LINNET_OK) return err.text[0] != '\0';
  const std::string text = "aaaaaaaab the  <|end|> \n\xFF\xC3\xA9▁abc <s> </s>e\u0301 'LL 1234567";
  for (const uint32_t flags : {0u, kAllSpecial}) {
    std::vector<uint8_t> scratch(tokenize_scratch_bytes(t, text.size()));
    Ids ids(8);
    size_t n = 0;
    (void)tokenize(t, text, flags, scratch.data(), scratch.size(), ids.data(), ids.size(), &n, &err);
  }
  Ids all(t.n_tokens);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int32_t>(i);
    (void)(token_is_eog(t, all[i]) || token_is_special(t, all[i]));
  }
  std::string out(64, '\0');
  size_t n = 0;
  for (const uint32_t flags : {0u, uint32_t{LINNET_SKIP_SPECIAL}})
    (void)detokenize(t, all.data(), all.size(), flags, out.data(), out.size(), &n, &err);
  return true;
}
