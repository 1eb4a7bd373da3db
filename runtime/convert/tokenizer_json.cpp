// tokenizer.json, vocab.json with merges.txt, and vocab.txt: vocabularies and added tokens.
#include "tokenizer_json.h"

#include <algorithm>

#include "../tokenizer/unicode.h"

namespace linnet::convert {

Status unknown(Error* err, const char* field, const json* value) {
  return fail(err, LINNET_UNSUPPORTED, kFile, ": ", field,
              " is not supported: ", value ? value->dump(-1, ' ', false, json::error_handler_t::replace) : "null");
}
Status unknown(Error* err, const char* field, const json& value) { return unknown(err, field, &value); }

Status read_bool(const json& from, const char* where, const char* key, bool* out, Error* err) {
  if (get_bool(from, key, out) != Got::kWrong) return LINNET_OK;
  return fail(err, LINNET_BAD_FILE, where, ".", key, " is ", json_show(*json_member(from, key)), ", not true or false");
}
Status read_text(const json& from, const char* where, const char* key, std::string* out, Error* err) {
  if (get_string(from, key, out) != Got::kWrong) return LINNET_OK;
  return fail(err, LINNET_BAD_FILE, where, ".", key, " is ", json_show(*json_member(from, key)), ", not a string");
}

bool type_is(const json& value, const char* type) {
  const std::string* t = text_of(json_member(value, "type"));
  return t && *t == type;
}

namespace {

void add_members(const json& value, const char* key, uint32_t depth, std::vector<const json*>* out) {
  const json* const list = type_is(value, "Sequence") ? json_member(value, key) : nullptr;
  if (const auto* array = list && depth < 8 ? list->get_ptr<const json::array_t*>() : nullptr)
    for (const json& v : *array) add_members(v, key, depth + 1, out);
  else
    out->push_back(&value);
}

}  // namespace

std::vector<const json*> members(const json& value, const char* key) {
  std::vector<const json*> out;
  add_members(value, key, 0, &out);
  return out;
}

bool replaces_space(const json& value, std::string_view from, std::string_view to) {
  const json* const pattern = json_member(value, "pattern");
  const std::string* const what = pattern ? text_of(json_member(*pattern, "String")) : nullptr;
  const std::string* const with = text_of(json_member(value, "content"));
  return type_is(value, "Replace") && what && *what == from && with && *with == to;
}

Status read_added_flags(const json& from, const char* where, AddedToken* out, Error* err) {
  LINNET_TRY(read_text(from, where, "content", &out->text, err));
  if (out->text.empty()) return fail(err, LINNET_BAD_FILE, where, ".content is missing or empty");
  LINNET_TRY(read_bool(from, where, "single_word", &out->single_word, err));
  LINNET_TRY(read_bool(from, where, "lstrip", &out->lstrip, err));
  LINNET_TRY(read_bool(from, where, "rstrip", &out->rstrip, err));
  LINNET_TRY(read_bool(from, where, "special", &out->special, err));
  out->normalized = !out->special;  // the format's default
  LINNET_TRY(read_bool(from, where, "normalized", &out->normalized, err));
  return LINNET_OK;
}

Status add_special(uint32_t id, TokenizerParts* parts, Error* err) {
  AddedToken token;
  token.id = id;
  token.text = parts->tokens[id];
  token.special = true;
  return add_added(std::move(token), parts, err);
}

namespace {

Status read_vocab(const json* vocab, const char* label, const char* field, TokenizerParts* parts, Error* err) {
  const auto* object = vocab ? vocab->get_ptr<const json::object_t*>() : nullptr;
  if (!object)
    return fail(err, LINNET_BAD_FILE, label, ": ", field, " is ", vocab ? json_show(*vocab) : "missing", ", not an object of ids");
  if (object->empty() || object->size() > tok::kMaxTokens)
    return fail(err, LINNET_BAD_FILE, label, ": ", field, " has ", object->size(), " tokens, must be 1 to ", tok::kMaxTokens);
  parts->tokens.assign(object->size(), std::string());
  std::vector<bool> seen(object->size());
  for (const auto& [text, value] : *object) {
    const auto* id = value.get_ptr<const json::number_unsigned_t*>();
    if (!id || *id >= object->size())
      return fail(err, LINNET_BAD_FILE, label, ": ", field, " gives '", text, "' the id ", json_show(value), ", ids must be 0 to ",
                  object->size() - 1);
    if (seen[*id])
      return fail(err, LINNET_BAD_FILE, label, ": ", field, " gives the id ", *id, " twice, to '", text, "' and '", parts->tokens[*id],
                  "'");
    seen[*id] = true;
    parts->tokens[*id] = text;
  }
  parts->types.assign(parts->tokens.size(), kNormal);
  return LINNET_OK;
}

Status read_added(const json* list, TokenizerParts* parts, Error* err) {
  if (is_null(list)) return LINNET_OK;
  const auto* array = list->get_ptr<const json::array_t*>();
  if (!array) return bad(err, "added_tokens is ", json_show(*list), ", not an array");
  std::vector<AddedToken> added;
  for (const json& entry : *array) {
    AddedToken token;
    if (get_u32(entry, "id", &token.id) != Got::kFound) return bad(err, "added_tokens has an entry without an id: ", json_show(entry));
    LINNET_TRY(read_added_flags(entry, "tokenizer.json: added_tokens", &token, err));
    added.push_back(std::move(token));
  }
  std::stable_sort(added.begin(), added.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (AddedToken& token : added) LINNET_TRY(add_added(std::move(token), parts, err));
  return LINNET_OK;
}

Status read_merges(const json* merges, TokenizerParts* parts, Error* err) {
  const auto* array = merges ? merges->get_ptr<const json::array_t*>() : nullptr;
  if (!array) return bad(err, "model.merges is ", merges ? json_show(*merges) : "missing", ", not an array");
  Vocabulary by_text;
  LINNET_TRY(vocabulary(*parts, &by_text, err));
  parts->merges.reserve(array->size());
  for (const json& merge : *array) {
    if (const std::string* line = text_of(&merge)) {
      LINNET_TRY(add_merge(by_text, *line, parts, err));
      continue;
    }
    const auto* pair = merge.get_ptr<const json::array_t*>();
    const std::string* left = pair && pair->size() == 2 ? text_of(&(*pair)[0]) : nullptr;
    const std::string* right = left ? text_of(&(*pair)[1]) : nullptr;
    if (!right) return bad(err, "model.merges[", parts->merges.size(), "] is ", json_show(merge), ", not a string or two");
    LINNET_TRY(add_merge(by_text, *left, *right, parts, err));
  }
  return LINNET_OK;
}

// Unigram's vocabulary: [["piece", score], ...]
Status read_pieces(const json& model, TokenizerParts* parts, Error* err) {
  const json* const vocab = json_member(model, "vocab");
  const auto* list = vocab ? vocab->get_ptr<const json::array_t*>() : nullptr;
  if (!list || list->empty() || list->size() > tok::kMaxTokens)
    return bad(err, "model.vocab is ", vocab ? json_show(*vocab) : "missing", ", not an array of 1 to ", tok::kMaxTokens, " pieces");
  for (const json& entry : *list) {
    const auto* pair = entry.get_ptr<const json::array_t*>();
    const std::string* const text = pair && pair->size() == 2 ? text_of(&(*pair)[0]) : nullptr;
    if (!text || !(*pair)[1].is_number())
      return bad(err, "model.vocab[", parts->tokens.size(), "] is ", json_show(entry), ", not a piece and its score");
    parts->tokens.push_back(*text);
    parts->scores.push_back((*pair)[1].get<double>());
  }
  parts->types.assign(parts->tokens.size(), kNormal);
  uint32_t unk = 0;
  const Got got = get_u32(model, "unk_id", &unk);
  if (got == Got::kWrong || (got == Got::kFound && unk >= parts->tokens.size()))
    return bad(err, "model.unk_id is ", json_show(*json_member(model, "unk_id")), ", there are ", parts->tokens.size(), " pieces");
  if (got == Got::kFound) parts->unk_id = static_cast<int32_t>(unk);
  parts->fuse_unk = true;
  return LINNET_OK;
}

// BPE, Unigram or WordPiece; old files do not say which.
std::string model_type(const json& model) {
  if (const json* const kind = json_member(model, "type")) return text_of(kind) ? *text_of(kind) : json_show(*kind);
  const json* const vocab = json_member(model, "vocab");
  if (json_member(model, "merges")) return "BPE";
  if (vocab && vocab->is_array()) return "Unigram";
  return json_member(model, "max_input_chars_per_word") ? "WordPiece" : "without merges";
}

Status read_model(const json& root, TokenizerParts* parts, Error* err) {
  const json* model = json_member(root, "model");
  if (!model || !model->is_object()) return bad(err, "model is ", model ? json_show(*model) : "missing", ", not an object");
  constexpr const char* where = "tokenizer.json: model";
  const std::string kind = model_type(*model);
  const bool word_level = kind == "WordLevel";
  if (kind != "BPE" && kind != "Unigram" && kind != "WordPiece" && !word_level)
    return fail(err, LINNET_UNSUPPORTED, kFile, ": model.type '", kind,
                "' is not supported; known are BPE, Unigram, WordPiece and WordLevel");
  if (word_level) {  // pieces of which none goes on
    parts->kind = tok::kWordPiece;
    parts->continuing = "\xFF";
    parts->max_chars = UINT32_MAX;
  } else if (kind == "WordPiece") {
    parts->kind = tok::kWordPiece;
    LINNET_TRY(read_text(*model, where, "continuing_subword_prefix", &parts->continuing, err));
    if (get_u32(*model, "max_input_chars_per_word", &parts->max_chars) == Got::kWrong)
      return bad(err, "model.max_input_chars_per_word is ", json_show(*json_member(*model, "max_input_chars_per_word")), ", not a number");
  } else if (kind == "BPE") {
    for (const auto& [key, to] : {std::pair("continuing_subword_prefix", &parts->front), std::pair("end_of_word_suffix", &parts->behind)}) {
      LINNET_TRY(read_text(*model, where, key, to, err));
      // Of the prefix the library counts characters where it cuts bytes.
      if (std::any_of(to->begin(), to->end(), [](char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0x80; }))
        return unknown(err, key, *json_member(*model, key));
    }
  } else {
    parts->kind = tok::kUnigram;
    LINNET_TRY(read_pieces(*model, parts, err));
  }
  double dropout = 0;
  if (get_double(*model, "dropout", &dropout) == Got::kWrong || dropout != 0)
    return unknown(err, "model.dropout", *json_member(*model, "dropout"));
  if (parts->kind != tok::kUnigram) LINNET_TRY(read_vocab(json_member(*model, "vocab"), kFile, "model.vocab", parts, err));
  bool byte_fallback = false;
  LINNET_TRY(read_bool(*model, where, "byte_fallback", &byte_fallback, err));
  LINNET_TRY(read_bool(*model, where, "fuse_unk", &parts->fuse_unk, err));
  LINNET_TRY(read_bool(*model, where, "ignore_merges", &parts->ignore_merges, err));
  std::string unk;
  LINNET_TRY(read_text(*model, where, "unk_token", &unk, err));
  const bool unk_said = !is_null(json_member(*model, "unk_token"));
  bool bytes[256] = {}, letters[256] = {};
  for (uint32_t i = 0; i < parts->tokens.size(); ++i) {
    const std::string& s = parts->tokens[i];
    if (parts->kind != tok::kUnigram && unk_said && s == unk) parts->unk_id = static_cast<int32_t>(i);
    const int byte =
        byte_fallback && std::none_of(s.begin(), s.end(), [](char c) { return c >= 'a' && c <= 'f'; }) ? byte_of_spelling(s) : -1;
    const Char c = s.empty() ? Char{kBadByte, 0} : next_char(s.data(), s.size());
    if (const int letter = byte_of_letter(c.code); c.bytes == s.size() && letter >= 0) letters[letter] = true;
    if (parts->unk_id == static_cast<int32_t>(i)) {
      parts->types[i] = kUnknownType;
    } else if (byte >= 0) {
      parts->types[i] = kByteType;
      bytes[byte] = true;
    }
  }
  parts->all_letters = std::all_of(std::begin(letters), std::end(letters), [](bool has) { return has; });
  if (parts->unk_id >= 0) return LINNET_OK;
  // At what is unknown the library fails, but for BPE that never had a name for it, which leaves it out.
  if (parts->kind == tok::kWordPiece && !unk_said) return unknown(err, "a model that names no unk_token", "");
  const bool all_bytes = std::all_of(std::begin(bytes), std::end(bytes), [](bool has) { return has; });
  parts->no_unknown = parts->kind == tok::kUnigram || (unk_said && !all_bytes);
  return LINNET_OK;
}

}  // namespace

bool decode_base64(std::string_view text, std::string* out) {
  uint32_t bits = 0, n = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    const int v = c >= 'A' && c <= 'Z'   ? c - 'A'
                  : c >= 'a' && c <= 'z' ? c - 'a' + 26
                  : c >= '0' && c <= '9' ? c - '0' + 52
                  : c == '+'             ? 62
                  : c == '/'             ? 63
                                         : -1;
    if (v < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(v);
    n += 6;
    if (n >= 8) out->push_back(static_cast<char>(bits >> (n -= 8) & 0xFF));
  }
  return true;
}

Status tokenizer_from_json(std::string_view text, const SideTexts& side_texts, TokenizerBlob* out, Error* err) {
  JsonTree tree;
  json& root = tree.root;
  LINNET_TRY(json_parse(text, kFile, &root, err));
  if (!root.is_object()) return bad(err, "is ", json_show(root), ", not an object");
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  TokenizerParts parts;
  parts.label = kFile;
  parts.n_rows = side_texts.n_rows;
  Normal normal;
  LINNET_TRY(read_model(root, &parts, err));
  LINNET_TRY(read_added(json_member(root, "added_tokens"), &parts, err));
  for (const AddedToken& token : sides.added) LINNET_TRY(add_added(token, &parts, err));
  LINNET_TRY(read_normalizer(json_member(root, "normalizer"), &normal, &parts, err));
  LINNET_TRY(read_pre_tokenizer(json_member(root, "pre_tokenizer"), normal, &parts, err));
  LINNET_TRY(read_decoder(json_member(root, "decoder"), &parts, err));
  if (parts.kind == tok::kSpm || parts.kind == tok::kByteLevel)
    LINNET_TRY(read_merges(json_member(*json_member(root, "model"), "merges"), &parts, err));
  if (parts.kind == tok::kSpm && !side_texts.spm.empty()) LINNET_TRY(respell(side_texts.spm, &parts, err));
  LINNET_TRY(read_post_processor(json_member(root, "post_processor"), &parts, err));
  LINNET_TRY(apply_sides(sides, &parts, err));
  return build_tokenizer(parts, out, err);
}

Status tokenizer_from_vocab(std::string_view vocab, std::string_view merges, bool gpt2, const SideTexts& side_texts, TokenizerBlob* out,
                            Error* err) {
  constexpr const char* label = "vocab.json";
  JsonTree tree;
  json& root = tree.root;
  LINNET_TRY(json_parse(vocab, label, &root, err));
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  TokenizerParts parts;
  parts.label = label;
  parts.n_rows = side_texts.n_rows;
  std::string_view name = sides.tokenizer_class;
  if (name.size() > 4 && name.substr(name.size() - 4) == "Fast") name.remove_suffix(4);
  gpt2 = gpt2 || name == "GPT2Tokenizer";
  if (!gpt2 && name != "Qwen2Tokenizer")
    return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: tokenizer_class '", sides.tokenizer_class,
                "' does not say how vocab.json splits texts; known are GPT2Tokenizer and Qwen2Tokenizer");
  if (sides.add_prefix_space == 1) return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: add_prefix_space is not supported");
  parts.splits = {gpt2 ? tok::kSplitGpt2 : tok::kSplitQwen2};
  if (!gpt2) parts.steps.push_back({tok::kStepNfc, 0, {}, {}, {}, 3, 0});
  parts.gguf_pre = pre_name(parts);
  LINNET_TRY(read_vocab(&root, label, "the vocabulary", &parts, err));
  LINNET_TRY(add_from_sides(sides, &parts, err));
  Vocabulary by_text;
  LINNET_TRY(vocabulary(parts, &by_text, err));
  if (const auto end = by_text.find("<|endoftext|>"); gpt2 && end != by_text.end()) {
    LINNET_TRY(add_special(end->second, &parts, err));  // what GPT2Tokenizer takes for granted
    if (!sides.has_tokenizer_config) parts.bos_id = parts.eos_id = static_cast<int32_t>(end->second);
  }
  parts.label = "merges.txt";
  for (size_t line = 0; !merges.empty(); ++line) {
    const size_t end = std::min(merges.find('\n'), merges.size());
    std::string_view text = merges.substr(0, end);
    merges.remove_prefix(std::min(end + 1, merges.size()));
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.empty() || (line == 0 && text.substr(0, 8) == "#version")) continue;
    LINNET_TRY(add_merge(by_text, text, &parts, err));
  }
  parts.label = label;
  LINNET_TRY(apply_sides(sides, &parts, err));
  if (sides.add_bos == 1 && parts.bos_id >= 0) parts.before = {parts.bos_id};
  if (sides.add_eos == 1 && parts.eos_id >= 0) parts.after = {parts.eos_id};
  return build_tokenizer(parts, out, err);
}

Status tokenizer_from_pieces(std::string_view vocab, const SideTexts& side_texts, TokenizerBlob* out, Error* err) {
  constexpr const char* label = "vocab.txt";
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  std::string_view name = sides.tokenizer_class;
  if (name.ends_with("Fast")) name.remove_suffix(4);
  if (!name.empty() && name != "BertTokenizer" && name != "DistilBertTokenizer" && name != "ElectraTokenizer" &&
      name != "MobileBertTokenizer")
    return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: tokenizer_class '", sides.tokenizer_class,
                "' beside vocab.txt is not supported, only BERT's and those that split as it does");
  if (sides.basic == 0) return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: do_basic_tokenize false is not supported");
  TokenizerParts parts;
  parts.label = label;
  parts.n_rows = side_texts.n_rows;
  parts.kind = tok::kWordPiece;
  for (size_t line = 1; !vocab.empty(); ++line) {
    const size_t end = std::min(vocab.find('\n'), vocab.size());
    std::string_view text = vocab.substr(0, end);
    vocab.remove_prefix(std::min(end + 1, vocab.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty() || text.size() > kMaxTokenBytes)
      return fail(err, LINNET_BAD_FILE, label, ": line ", line, " has ", text.size(), " bytes, must be 1 to ", kMaxTokenBytes);
    if (line > tok::kMaxTokens) return fail(err, LINNET_BAD_FILE, label, ": more than ", tok::kMaxTokens, " lines");
    parts.tokens.emplace_back(text);
  }
  parts.types.assign(parts.tokens.size(), kNormal);
  LINNET_TRY(add_from_sides(sides, &parts, err));
  Vocabulary by_text;
  LINNET_TRY(vocabulary(parts, &by_text, err));
  constexpr std::pair<SpecialName, const char*> kTaken[] = {
      {kUnkName, "[UNK]"}, {kClsName, "[CLS]"}, {kSepName, "[SEP]"}, {kPadName, "[PAD]"}, {kMaskName, "[MASK]"}};
  for (const auto& [which, taken] : kTaken) {  // where nothing is said
    const std::string& spelling = sides.names[which].text.empty() ? taken : sides.names[which].text;
    const auto at = by_text.find(spelling);
    if (at == by_text.end() && which != kPadName && which != kMaskName)
      return fail(err, LINNET_BAD_FILE, label, ": has no '", spelling, "'");
    if (at == by_text.end()) continue;
    const int32_t id = static_cast<int32_t>(at->second);
    if (which == kUnkName) parts.unk_id = id;
    if (which == kClsName) parts.before = {id};
    if (which == kSepName) parts.after = {id};
    LINNET_TRY(add_special(at->second, &parts, err));
  }
  parts.types[static_cast<size_t>(parts.unk_id)] = kUnknownType;
  const bool lowercase = sides.lowercase != 0;
  add_bert_normalizer(true, sides.strip_accents < 0 ? lowercase : sides.strip_accents == 1, lowercase, &parts);
  parts.splits = {sides.han == 0 ? tok::kSplitBert : tok::kSplitBertHan};
  parts.gguf_pre = "default";
  parts.strip_space = parts.cleanup = true;
  LINNET_TRY(apply_sides(sides, &parts, err));
  return build_tokenizer(parts, out, err);
}

}  // namespace linnet::convert
