// Byte-level BPE whose tokens have ranks instead of merges, as tiktoken reads them: tekken.json (Mistral) and tiktoken.model (Kimi).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "../tokenizer/unicode.h"
#include "json.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

constexpr uint32_t kMaxSpecial = 65536, kReserved = 256;

// What tekken.json takes for granted where it lists no special tokens.
constexpr const char* kTekkenSpecial[] = {"<unk>",
                                          "<s>",
                                          "</s>",
                                          "[INST]",
                                          "[/INST]",
                                          "[AVAILABLE_TOOLS]",
                                          "[/AVAILABLE_TOOLS]",
                                          "[TOOL_RESULTS]",
                                          "[/TOOL_RESULTS]",
                                          "[TOOL_CALLS]",
                                          "[IMG]",
                                          "<pad>",
                                          "[IMG_BREAK]",
                                          "[IMG_END]",
                                          "[PREFIX]",
                                          "[MIDDLE]",
                                          "[SUFFIX]",
                                          "[SYSTEM_PROMPT]",
                                          "[/SYSTEM_PROMPT]",
                                          "[TOOL_CONTENT]"};

std::string letters_of(std::string_view bytes) {
  static const std::vector<std::string> letters = [] {
    std::vector<std::string> out(256);
    for (uint32_t code = 0; code < 0x200; ++code) {
      char text[4];
      if (const int byte = byte_of_letter(code); byte >= 0) out[static_cast<size_t>(byte)] = std::string(text, tok::put_char(code, text));
    }
    return out;
  }();
  std::string out;
  for (const char c : bytes) out += letters[static_cast<uint8_t>(c)];
  return out;
}

// Tokens in order of rank, from the id `first` on, and their merges: whatever two neighbours make a token become it, that of the lowest
// rank first.
Status add_ranked(const std::vector<std::string>& ranked, uint32_t first, TokenizerParts* parts, Error* err) {
  bool is_byte[256] = {};
  Vocabulary by_bytes;
  by_bytes.reserve(ranked.size());
  for (uint32_t i = 0; i < ranked.size(); ++i) {
    if (ranked[i].empty() || ranked[i].size() > kMaxTokenBytes)
      return fail(err, LINNET_BAD_FILE, parts->label, ": the token of rank ", i, " has ", ranked[i].size(), " bytes");
    if (!by_bytes.try_emplace(ranked[i], i).second)
      return fail(err, LINNET_BAD_FILE, parts->label, ": the token of rank ", i, " is there twice");
    if (ranked[i].size() == 1) is_byte[static_cast<uint8_t>(ranked[i][0])] = true;
    parts->tokens.push_back(letters_of(ranked[i]));
  }
  for (uint32_t byte = 0; byte < 256; ++byte)
    if (!is_byte[byte]) return fail(err, LINNET_UNSUPPORTED, parts->label, ": has no token for the byte ", byte);
  for (uint32_t i = 0; i < ranked.size(); ++i) {
    const std::string_view whole = ranked[i];
    for (size_t n = 1; n < whole.size(); ++n) {
      const auto left = by_bytes.find(whole.substr(0, n)), right = by_bytes.find(whole.substr(n));
      if (left == by_bytes.end() || right == by_bytes.end()) continue;
      parts->merges.push_back({first + left->second, first + right->second, first + i});
      parts->merge_ranks.push_back(i);
    }
  }
  parts->types.resize(parts->tokens.size(), kNormal);
  parts->ignore_merges = true;  // a word that is a token is it
  return LINNET_OK;
}

// A rank below `limit`, each once.
Status take_rank(const json& entry, const char* field, uint32_t limit, std::vector<bool>* seen, uint32_t* out, Error* err) {
  if (get_u32(entry, "rank", out) != Got::kFound)
    return fail(err, LINNET_BAD_FILE, "tekken.json: ", field, " has an entry without a rank: ", json_show(entry));
  if (*out >= limit) return LINNET_OK;
  if ((*seen)[*out]) return fail(err, LINNET_BAD_FILE, "tekken.json: ", field, " has the rank ", *out, " twice");
  (*seen)[*out] = true;
  return LINNET_OK;
}

Status read_tekken(const json& root, TokenizerParts* parts, Error* err) {
  constexpr const char* label = "tekken.json";
  const json* const config = json_member(root, "config");
  const json* const vocab = json_member(root, "vocab");
  std::string pattern;
  uint32_t size = 0, n_special = 0;
  if (!config || get_string(*config, "pattern", &pattern) != Got::kFound || get_u32(*config, "default_vocab_size", &size) != Got::kFound ||
      get_u32(*config, "default_num_special_tokens", &n_special) != Got::kFound)
    return fail(err, LINNET_BAD_FILE, label, ": config lacks pattern, default_vocab_size or default_num_special_tokens");
  if (size > tok::kMaxTokens || n_special > kMaxSpecial || n_special >= size)
    return fail(err, LINNET_BAD_FILE, label, ": config.default_vocab_size is ", size, ", of which ", n_special, " are special tokens");
  if (!vocab || !vocab->is_array()) return fail(err, LINNET_BAD_FILE, label, ": vocab is missing or not an array");

  std::vector<std::string> special;
  if (const json* const list = json_member(root, "special_tokens"); list && !list->is_null()) {
    if (!list->is_array()) return fail(err, LINNET_BAD_FILE, label, ": special_tokens is ", json_show(*list), ", not an array");
    special.resize(std::min<size_t>(list->size(), n_special));
    std::vector<bool> seen(special.size());
    for (const json& entry : *list) {
      uint32_t rank = 0;
      LINNET_TRY(take_rank(entry, "special_tokens", static_cast<uint32_t>(special.size()), &seen, &rank, err));
      if (rank >= special.size() || get_string(entry, "token_str", &special[rank]) != Got::kFound || special[rank].empty())
        return fail(err, LINNET_BAD_FILE, label, ": special_tokens has an entry that is none: ", json_show(entry));
    }
  } else {
    special.assign(std::begin(kTekkenSpecial), std::end(kTekkenSpecial));
    special.resize(std::min<size_t>(special.size(), n_special));
  }
  while (special.size() < n_special) special.push_back("<SPECIAL_" + std::to_string(special.size()) + ">");

  const uint32_t n = size - n_special;
  std::vector<std::string> ranked(n);
  std::vector<bool> seen(n);
  size_t found = 0;
  for (const json& entry : *vocab) {
    uint32_t rank = 0;
    std::string text;
    LINNET_TRY(take_rank(entry, "vocab", n, &seen, &rank, err));
    if (rank >= n) continue;  // the file has more than the models do
    if (get_string(entry, "token_bytes", &text) != Got::kFound || !decode_base64(text, &ranked[rank]))
      return fail(err, LINNET_BAD_FILE, label, ": vocab has an entry whose token_bytes are no base64: ", json_show(entry));
    ++found;
  }
  if (found != n) return fail(err, LINNET_BAD_FILE, label, ": vocab has ", found, " of the ", n, " ranks that config asks for");
  parts->tokens = special;
  parts->types.assign(n_special, kControlType);
  LINNET_TRY(add_ranked(ranked, n_special, parts, err));
  for (uint32_t i = 0; i < n_special; ++i) {
    AddedToken token;
    token.id = i;
    token.text = special[i];
    token.special = true;
    LINNET_TRY(add_added(std::move(token), parts, err));
    if (special[i] == "<unk>") parts->unk_id = static_cast<int32_t>(i);
    if (special[i] == "<s>") parts->bos_id = static_cast<int32_t>(i);
    if (special[i] == "</s>") parts->eos_id = static_cast<int32_t>(i);
  }
  return add_split(pattern, label, parts, err);
}

}  // namespace

Status tokenizer_from_tekken(std::string_view text, const SideTexts& side_texts, TokenizerBlob* out, Error* err) {
  JsonTree tree;
  LINNET_TRY(json_parse(text, "tekken.json", &tree.root, err));
  if (!tree.root.is_object()) return fail(err, LINNET_BAD_FILE, "tekken.json: is ", json_show(tree.root), ", not an object");
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  TokenizerParts parts;
  parts.label = "tekken.json";
  parts.n_rows = side_texts.n_rows;
  LINNET_TRY(read_tekken(tree.root, &parts, err));
  for (const AddedToken& token : sides.added) LINNET_TRY(add_added(token, &parts, err));
  LINNET_TRY(apply_sides(sides, &parts, err));
  if (sides.add_bos != 0 && parts.bos_id >= 0) parts.before = {parts.bos_id};
  if (sides.add_eos == 1 && parts.eos_id >= 0) parts.after = {parts.eos_id};
  return build_tokenizer(parts, out, err);
}

Status tokenizer_from_ranks(const std::vector<std::string>& ranked, const std::vector<std::string>& special, const char* label,
                            TokenizerBlob* out, Error* err) {
  TokenizerParts parts;
  parts.label = label;
  LINNET_TRY(add_ranked(ranked, 0, &parts, err));
  for (const std::string& text : special) {
    AddedToken token;
    token.id = static_cast<uint32_t>(parts.tokens.size());
    token.text = text;
    token.special = true;
    LINNET_TRY(add_added(std::move(token), &parts, err));
  }
  parts.splits = {tok::kSplitGpt2};
  return build_tokenizer(parts, out, err);
}

// A line a token: its bytes in base64, a space, its rank.
Status tokenizer_from_tiktoken(std::string_view text, const SideTexts& side_texts, TokenizerBlob* out, Error* err) {
  constexpr const char* label = "tiktoken.model";
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  if (sides.tokenizer_class != "TikTokenTokenizer")
    return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: tokenizer_class '", sides.tokenizer_class,
                "' does not say how tiktoken.model splits texts; known is TikTokenTokenizer, Kimi's");
  TokenizerParts parts;
  parts.label = label;
  parts.n_rows = side_texts.n_rows;
  std::vector<std::string> ranked;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view s = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (s.ends_with('\r')) s.remove_suffix(1);
    if (s.empty()) continue;
    const size_t space = s.find(' ');
    if (ranked.size() >= tok::kMaxTokens) return fail(err, LINNET_BAD_FILE, label, ": more than ", tok::kMaxTokens, " tokens");
    std::string bytes;
    if (space == s.npos || !decode_base64(s.substr(0, space), &bytes) || s.substr(space + 1) != std::to_string(ranked.size()))
      return fail(err, LINNET_BAD_FILE, label, ": line ", line, " is not a token in base64 and the rank ", ranked.size());
    ranked.push_back(std::move(bytes));
  }
  LINNET_TRY(add_ranked(ranked, 0, &parts, err));
  // Behind the ranks come 256 special tokens, of which the configuration names some.
  const uint32_t n = static_cast<uint32_t>(ranked.size());
  for (uint32_t id = n; id < n + kReserved; ++id) {
    AddedToken token;
    token.id = id;
    token.text = "<|reserved_token_" + std::to_string(id) + "|>";
    for (const AddedToken& named : sides.added)
      if (named.id == id) token.text = named.text;
    token.special = true;
    LINNET_TRY(add_added(std::move(token), &parts, err));
  }
  LINNET_TRY(apply_sides(sides, &parts, err));
  if (sides.add_bos == 1 && parts.bos_id >= 0) parts.before = {parts.bos_id};
  if (sides.add_eos == 1 && parts.eos_id >= 0) parts.after = {parts.eos_id};
  LINNET_TRY(add_split(kKimiPattern, label, &parts, err));
  return build_tokenizer(parts, out, err);
}

}  // namespace linnet::convert
