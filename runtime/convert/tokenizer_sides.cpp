// The configuration files beside a tokenizer, whatever kind that is of.
#include <algorithm>

#include "tokenizer_json.h"

namespace linnet::convert {
namespace {

constexpr size_t kMaxEos = 64;
constexpr const char* kSpecialKeys[] = {"bos_token", "eos_token", "unk_token", "cls_token", "sep_token", "pad_token", "mask_token"};
static_assert(std::size(kSpecialKeys) == kSpecialNames);

// "<s>" or {"content": "<s>"}; null and missing leave *out as it is.
Status read_token_name(const json* value, const char* file, const char* key, NamedToken* out, Error* err) {
  if (value && value->is_object()) value = json_member(*value, "content");
  if (is_null(value)) return LINNET_OK;
  const std::string* text = text_of(value);
  if (!text) return fail(err, LINNET_BAD_FILE, file, ": ", key, " is ", json_show(*value), ", not a token");
  *out = {*text, key, file};
  return LINNET_OK;
}

// What tokenizer_config.json and special_tokens_map.json have in common; the one that is read last has the word.
Status read_token_names(const json& config, const char* file, Sides* out, Error* err) {
  for (uint32_t i = 0; i < kSpecialNames; ++i)
    LINNET_TRY(read_token_name(json_member(config, kSpecialKeys[i]), file, kSpecialKeys[i], &out->names[i], err));
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const json* const list = json_member(config, key);
    if (is_null(list)) continue;
    if (!list->is_structured()) return fail(err, LINNET_BAD_FILE, file, ": ", key, " is ", json_show(*list), ", not a list of tokens");
    for (const json& value : *list) LINNET_TRY(read_token_name(&value, file, key, &out->more.emplace_back(), err));
  }
  return LINNET_OK;
}

Status read_tristate(const json& config, const char* key, int* out, Error* err) {
  bool value = false;
  const Got got = get_bool(config, key, &value);
  if (got == Got::kFound) *out = value;
  if (got == Got::kWrong)
    return fail(err, LINNET_BAD_FILE, "tokenizer_config.json: ", key, " is ", json_show(*json_member(config, key)), ", not true or false");
  return LINNET_OK;
}

// *decoder: there are added_tokens_decoder, which say all that the older files do.
Status read_tokenizer_config(const std::string& text, Sides* out, bool* decoder, Error* err) {
  constexpr const char* label = "tokenizer_config.json";
  JsonTree tree;
  json& config = tree.root;
  LINNET_TRY(json_parse_python(text, label, &config, err));
  if (!config.is_object()) return fail(err, LINNET_BAD_FILE, label, ": is ", json_show(config), ", not an object");
  out->has_tokenizer_config = true;
  get_string(config, "tokenizer_class", &out->tokenizer_class);
  LINNET_TRY(read_token_names(config, label, out, err));
  LINNET_TRY(read_tristate(config, "add_bos_token", &out->add_bos, err));
  LINNET_TRY(read_tristate(config, "add_eos_token", &out->add_eos, err));
  LINNET_TRY(read_tristate(config, "legacy", &out->legacy, err));
  LINNET_TRY(read_tristate(config, "add_prefix_space", &out->add_prefix_space, err));
  LINNET_TRY(read_tristate(config, "do_lower_case", &out->lowercase, err));
  LINNET_TRY(read_tristate(config, "strip_accents", &out->strip_accents, err));
  LINNET_TRY(read_tristate(config, "tokenize_chinese_chars", &out->han, err));
  LINNET_TRY(read_tristate(config, "do_basic_tokenize", &out->basic, err));
  const json* const added = json_member(config, "added_tokens_decoder");
  if (is_null(added)) return LINNET_OK;
  const auto* object = added->get_ptr<const json::object_t*>();
  if (!object) return fail(err, LINNET_BAD_FILE, label, ": added_tokens_decoder is ", json_show(*added), ", not an object");
  *decoder = true;
  for (const auto& [key, value] : *object) {
    AddedToken token;
    uint64_t id = key.empty() || key.size() > 9 ? UINT64_MAX : 0;
    for (const char c : key)
      if (id != UINT64_MAX) id = c >= '0' && c <= '9' ? id * 10 + static_cast<uint64_t>(c - '0') : UINT64_MAX;
    if (id == UINT64_MAX) return fail(err, LINNET_BAD_FILE, label, ": added_tokens_decoder has '", key, "' for an id");
    token.id = static_cast<uint32_t>(id);
    LINNET_TRY(read_added_flags(value, "tokenizer_config.json: added_tokens_decoder", &token, err));
    out->added.push_back(std::move(token));
  }
  return LINNET_OK;
}

Status read_special_tokens_map(const std::string& text, Sides* out, Error* err) {
  constexpr const char* label = "special_tokens_map.json";
  JsonTree tree;
  json& map = tree.root;
  LINNET_TRY(json_parse_python(text, label, &map, err));
  if (!map.is_object()) return fail(err, LINNET_BAD_FILE, label, ": is ", json_show(map), ", not an object");
  return read_token_names(map, label, out, err);
}

// added_tokens.json: {"<|im_start|>": 32768, ...}. Special are those that another file names.
Status read_added_tokens(const std::string& text, Sides* out, Error* err) {
  constexpr const char* label = "added_tokens.json";
  JsonTree tree;
  json& tokens = tree.root;
  LINNET_TRY(json_parse_python(text, label, &tokens, err));
  const auto* object = tokens.get_ptr<const json::object_t*>();
  if (!object) return fail(err, LINNET_BAD_FILE, label, ": is ", json_show(tokens), ", not an object");
  for (const auto& [content, value] : *object) {
    AddedToken token;
    token.text = content;
    if (content.empty() || get_u32(tokens, content, &token.id) != Got::kFound)
      return fail(err, LINNET_BAD_FILE, label, ": token '", content, "' has the id ", json_show(value), ", or no text");
    const auto named = [&content = content](const NamedToken& n) { return n.text == content; };
    token.special =
        std::any_of(std::begin(out->names), std::end(out->names), named) || std::any_of(out->more.begin(), out->more.end(), named);
    token.normalized = !token.special;
    out->added.push_back(std::move(token));
  }
  return LINNET_OK;
}

// bos_token_id and eos_token_id (a number or a list) of generation_config.json and config.json.
Status read_model_ids(const std::string& text, const char* label, Sides* out, Error* err) {
  JsonTree tree;
  json& config = tree.root;
  LINNET_TRY(json_parse_python(text, label, &config, err));
  int64_t bos = -1;
  if (get_i64(config, "bos_token_id", &bos) == Got::kFound && out->bos_id < 0) out->bos_id = bos;
  const json* const eos = json_member(config, "eos_token_id");
  if (is_null(eos)) return LINNET_OK;
  const auto* list = eos->get_ptr<const json::array_t*>();
  for (size_t i = 0; i < (list ? list->size() : 1); ++i) {
    const auto* value = (list ? (*list)[i] : *eos).get_ptr<const json::number_integer_t*>();
    if (!value || out->eos_ids.size() >= kMaxEos)
      return fail(err, LINNET_BAD_FILE, label, ": eos_token_id is ", json_show(*eos), ", not a token id or a list of at most ", kMaxEos);
    out->eos_ids.push_back(*value);
  }
  return LINNET_OK;
}

}  // namespace

Status read_sides(const SideTexts& texts, Sides* out, Error* err) {
  bool decoder = false;
  if (!texts.tokenizer_config.empty()) LINNET_TRY(read_tokenizer_config(texts.tokenizer_config, out, &decoder, err));
  if (!texts.special_tokens_map.empty() && !decoder) LINNET_TRY(read_special_tokens_map(texts.special_tokens_map, out, err));
  if (!texts.added_tokens.empty() && !decoder) LINNET_TRY(read_added_tokens(texts.added_tokens, out, err));
  std::sort(out->added.begin(), out->added.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  if (!texts.generation_config.empty()) LINNET_TRY(read_model_ids(texts.generation_config, "generation_config.json", out, err));
  if (!texts.config.empty()) LINNET_TRY(read_model_ids(texts.config, "config.json", out, err));
  return LINNET_OK;
}

Status add_from_sides(const Sides& sides, TokenizerParts* parts, Error* err) {
  for (const AddedToken& token : sides.added) LINNET_TRY(add_added(token, parts, err));
  Vocabulary by_text;
  LINNET_TRY(vocabulary(*parts, &by_text, err));
  const auto add = [&](const NamedToken& named) {
    const auto at = named.text.empty() ? by_text.end() : by_text.find(named.text);
    return at == by_text.end() ? LINNET_OK : add_special(at->second, parts, err);
  };
  for (const NamedToken& named : sides.names) LINNET_TRY(add(named));
  for (const NamedToken& named : sides.more) LINNET_TRY(add(named));
  return LINNET_OK;
}

Status apply_sides(const Sides& sides, TokenizerParts* parts, Error* err) {
  Vocabulary by_text;
  LINNET_TRY(vocabulary(*parts, &by_text, err));
  const auto is_token = [parts](int64_t id) { return id >= 0 && id < static_cast<int64_t>(parts->tokens.size()); };
  const bool has_eos = std::any_of(sides.eos_ids.begin(), sides.eos_ids.end(), is_token);
  const auto find = [&](const NamedToken& named, bool needed, int32_t* id) {
    if (named.text.empty()) return LINNET_OK;
    const auto at = by_text.find(named.text);
    if (at != by_text.end() && id) *id = static_cast<int32_t>(at->second);
    if (at != by_text.end()) return LINNET_OK;
    if (needed) return fail(err, LINNET_BAD_FILE, named.file, ": ", named.key, " '", named.text, "' is no token of the vocabulary");
    parts->notes.push_back(std::string(named.file) + ": " + named.key + " '" + named.text + "' is no token of the vocabulary: ignored");
    return LINNET_OK;
  };
  LINNET_TRY(find(sides.names[kBosName], !is_token(sides.bos_id), &parts->bos_id));
  LINNET_TRY(find(sides.names[kEosName], !has_eos, &parts->eos_id));
  for (uint32_t i = kUnkName; i < kSpecialNames; ++i) LINNET_TRY(find(sides.names[i], false, nullptr));
  for (const NamedToken& named : sides.more) LINNET_TRY(find(named, false, nullptr));
  // A config that names no BOS means that there is none, whatever the model's own numbers say.
  if (parts->bos_id < 0 && !sides.has_tokenizer_config && is_token(sides.bos_id)) parts->bos_id = static_cast<int32_t>(sides.bos_id);
  if (parts->bos_id < 0 && !parts->before.empty()) parts->bos_id = parts->before[0];
  for (const int64_t id : sides.eos_ids) {
    if (!is_token(id)) continue;  // the model's vocabulary may be larger than the tokenizer's
    if (parts->eos_id < 0) parts->eos_id = static_cast<int32_t>(id);
    parts->eog.push_back(static_cast<uint32_t>(id));
  }
  return LINNET_OK;
}

}  // namespace linnet::convert
