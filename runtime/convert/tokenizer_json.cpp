// tokenizer.json, vocab.json with merges.txt, vocab.txt, and the configuration files beside them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "../tokenizer/unicode.h"
#include "json.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

using nlohmann::json;

constexpr const char* kFile = "tokenizer.json";
constexpr std::string_view kMeta = "\xE2\x96\x81";  // U+2581
constexpr size_t kMaxEos = 64;

// The regular expressions that split.cpp knows, as the models write them. covers: each text is matched from end to end.
struct KnownSplit {
  std::string_view pattern;
  tok::Split split;
  bool covers;
};
#define LINNET_LINE_TAIL R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define LINNET_O200K_HEAD(c)                                                          \
  R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)" c \
  R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)" c
constexpr KnownSplit kSplits[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", tok::kSplitGpt2, true},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_LINE_TAIL, tok::kSplitLlama3,
     true},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_LINE_TAIL, tok::kSplitQwen2, true},
    // The same as Llama 3's, as tiktoken's cl100k writes it: possessive, and with one line break where the run of white space ends in it.
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)", tok::kSplitLlama3,
     true},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     tok::kSplitLlama3, true},
    {LINNET_O200K_HEAD("(?i:'s|'t|'re|'ve|'m|'ll|'d)?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" LINNET_LINE_TAIL, tok::kSplitO200k,
     true},
    {LINNET_O200K_HEAD("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" LINNET_LINE_TAIL, tok::kSplitTekken, true},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" LINNET_LINE_TAIL,
     tok::kSplitDeepseek3, false},
    {R"( ?[^(\s|[.,!?…。，、।۔،])]+)", tok::kSplitBloom, false},
    {R"( ?[^(\s|.,!?…。，、।۔،)]+)", tok::kSplitBloom, false},
    {R"(\p{N})", tok::kSplitNumber, false},
    {R"(\p{N}{1,3})", tok::kSplitNumbers3, false},
    {R"(\p{N}+)", tok::kSplitNumbers, false},
    {"[0-9][0-9][0-9]", tok::kSplitAscii3, false},
    {R"([\r\n])", tok::kSplitLine, false},
    {R"(\s?\p{L}+)", tok::kSplitSpaceLetters, false},
    {R"(\s?\p{P}+)", tok::kSplitSpacePunct, false},
    {R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", tok::kSplitSpaceMarks, false},
    {R"(\s+$)", tok::kSplitEndSpace, false},
    {R"([一-龥ࠀ-一가-퟿]+)", tok::kSplitHan, false},
    {R"([一-龥぀-ゟ゠-ヿ]+)", tok::kSplitHanKana, false},
    {R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)",
     tok::kSplitSpaceCased, false},
};

std::string nfc_of(std::string_view text) {
  std::string out(3 * text.size(), '\0');
  std::vector<uint32_t> work(3 * text.size());
  tok::Writer writer{out.data(), out.size()};
  tok::nfc(text.data(), text.size(), &writer, work.data());
  out.resize(writer.n);
  return out;
}
// The same expression as kSplits writes it: line breaks and tabs as escapes, which mean the same as the characters.
std::string with_escapes(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (c == '\r' || c == '\n' || c == '\t')
      out += {'\\', c == '\r' ? 'r' : c == '\n' ? 'n' : 't'};
    else
      out.push_back(c);
  }
  return out;
}
// Some files hold expressions in NFC, in which a few letters of a class are others than were meant.
const KnownSplit* find_split(std::string_view pattern) {
  const std::string escaped = with_escapes(pattern), composed = nfc_of(escaped);
  for (const KnownSplit& known : kSplits)
    if (known.pattern == escaped || nfc_of(known.pattern) == composed) return &known;
  return nullptr;
}

bool is_null(const json* v) { return !v || v->is_null(); }
const std::string* text_of(const json* v) { return v ? v->get_ptr<const std::string*>() : nullptr; }

// The part of a tokenizer.json that is looked at, for the error texts.
template <class... Parts>
Status bad(Error* err, const Parts&... parts) {
  return fail(err, LINNET_BAD_FILE, kFile, ": ", parts...);
}
Status unknown(Error* err, const char* field, const json* value) {
  return fail(err, LINNET_UNSUPPORTED, kFile, ": ", field,
              " is not supported: ", value ? value->dump(-1, ' ', false, json::error_handler_t::replace) : "null");
}
Status unknown(Error* err, const char* field, const json& value) { return unknown(err, field, &value); }

// A field that may be missing or null, then *out stays as it is. where: "file: field".
Status read_bool(const json& from, const char* where, const char* key, bool* out, Error* err) {
  if (get_bool(from, key, out) != Got::kWrong) return LINNET_OK;
  return fail(err, LINNET_BAD_FILE, where, ".", key, " is ", json_show(*json_member(from, key)), ", not true or false");
}
Status read_text(const json& from, const char* where, const char* key, std::string* out, Error* err) {
  if (get_string(from, key, out) != Got::kWrong) return LINNET_OK;
  return fail(err, LINNET_BAD_FILE, where, ".", key, " is ", json_show(*json_member(from, key)), ", not a string");
}

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

// Makes a token of the vocabulary a special one that is found in texts.
Status add_special(uint32_t id, TokenizerParts* parts, Error* err) {
  AddedToken token;
  token.id = id;
  token.text = parts->tokens[id];
  token.special = true;
  return add_added(std::move(token), parts, err);
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
  if (byte_fallback && !(parts->front.empty() && parts->behind.empty()))
    return unknown(err, "byte_fallback beside a subword prefix or suffix", *json_member(*model, "byte_fallback"));
  LINNET_TRY(read_bool(*model, where, "fuse_unk", &parts->fuse_unk, err));
  LINNET_TRY(read_bool(*model, where, "ignore_merges", &parts->ignore_merges, err));
  std::string unk;
  LINNET_TRY(read_text(*model, where, "unk_token", &unk, err));
  for (uint32_t i = 0; i < parts->tokens.size(); ++i) {
    const std::string& s = parts->tokens[i];
    if (!unk.empty() && s == unk) parts->unk_id = static_cast<int32_t>(i);
    if (parts->unk_id == static_cast<int32_t>(i))
      parts->types[i] = kUnknownType;
    else if (byte_fallback && s.size() == 6 && s.compare(0, 3, "<0x") == 0 && s[5] == '>')
      parts->types[i] = kByteType;
  }
  // There the library fails at texts.
  if (parts->kind == tok::kWordPiece && parts->unk_id < 0) return unknown(err, "a model whose unk_token is no token", unk);
  return LINNET_OK;
}

bool type_is(const json& value, const char* type) {
  const std::string* t = text_of(json_member(value, "type"));
  return t && *t == type;
}

// A Sequence's members under `key`, those of Sequences among them too, or the value itself as the only one.
void add_members(const json& value, const char* key, uint32_t depth, std::vector<const json*>* out) {
  const json* const list = type_is(value, "Sequence") ? json_member(value, key) : nullptr;
  if (const auto* array = list && depth < 8 ? list->get_ptr<const json::array_t*>() : nullptr)
    for (const json& v : *array) add_members(v, key, depth + 1, out);
  else
    out->push_back(&value);
}
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

Status read_bert_normalizer(const json& step, TokenizerParts* parts, bool* han, Error* err) {
  constexpr const char* where = "tokenizer.json: normalizer";
  bool clean = true, lowercase = true;
  LINNET_TRY(read_bool(step, where, "clean_text", &clean, err));
  LINNET_TRY(read_bool(step, where, "handle_chinese_chars", han, err));
  LINNET_TRY(read_bool(step, where, "lowercase", &lowercase, err));
  bool strip = lowercase;
  LINNET_TRY(read_bool(step, where, "strip_accents", &strip, err));
  add_bert_normalizer(clean, strip, lowercase, parts);
  return LINNET_OK;
}

// What the normalizer says that its steps do not.
struct Normal {
  bool replaces = false;    // ' ' becomes U+2581, which is done behind all steps
  bool han = false;         // BertNormalizer sets Han characters apart
  bool byte_level = false;  // bytes become letters, as ByteLevel in the pre_tokenizer does it
};
Status read_normalizer(const json* value, Normal* normal, TokenizerParts* parts, Error* err) {
  if (is_null(value)) return LINNET_OK;
  constexpr const char* where = "tokenizer.json: normalizer";
  bool* const replaces = &normal->replaces;
  bool is_step = false;                                // `replaces` is one of the steps
  size_t prepends_at = 0;                              // where the step of kPrefixSegment would be
  const bool merges = parts->kind == tok::kByteLevel;  // not told apart from SentencePiece's BPE yet
  for (const json* step : members(*value, "normalizers")) {
    if (parts->steps.size() > tok::kMaxSteps) break;  // too many, which build_tokenizer says
    if (normal->byte_level || normal->han)
      return unknown(err, "a step behind ByteLevel, or behind BertNormalizer's handle_chinese_chars", *value);
    const bool sees_spaces = type_is(*step, "Strip") || type_is(*step, "Replace") || type_is(*step, "Prepend") ||
                             type_is(*step, "Precompiled") || type_is(*step, "BertNormalizer") || type_is(*step, "NFKC") ||
                             type_is(*step, "NFKD") || type_is(*step, "Nmt");
    if (*replaces && sees_spaces && !is_step) {
      parts->steps.push_back(replace_step(tok::kStepReplace, " ", std::string(kMeta)));
      is_step = true;  // spaces that come later are none of these, so U+2581 is none either
      *replaces = parts->solid_spaces = false;
    }
    const std::string* const prepend = text_of(json_member(*step, "prepend"));
    const json* const pattern = json_member(*step, "pattern");
    const std::string* const regex = pattern ? text_of(json_member(*pattern, "Regex")) : nullptr;
    const std::string* const what = pattern ? text_of(json_member(*pattern, "String")) : nullptr;
    const std::string* const with = text_of(json_member(*step, "content"));
    if (type_is(*step, "NFC")) {
      parts->steps.push_back({tok::kStepNfc, 0, {}, {}, {}, 3, 0});
    } else if (type_is(*step, "NFD")) {
      parts->steps.push_back({tok::kStepNfd, 0, {}, {}, {}, 3, 0});
    } else if (type_is(*step, "NFKC") || type_is(*step, "NFKD")) {
      add_compatible(type_is(*step, "NFKC"), parts);
    } else if (type_is(*step, "Lowercase")) {
      parts->steps.push_back(lowercase_step());
    } else if (type_is(*step, "Nmt")) {
      parts->steps.push_back(nmt_step());
    } else if (type_is(*step, "StripAccents")) {
      parts->steps.push_back(strip_accents_step());
    } else if (type_is(*step, "Strip")) {
      bool left = true, right = true;
      LINNET_TRY(read_bool(*step, where, "strip_left", &left, err));
      LINNET_TRY(read_bool(*step, where, "strip_right", &right, err));
      parts->steps.push_back({tok::kStepStrip, (left ? 1u : 0u) | (right ? 2u : 0u)});
    } else if (type_is(*step, "Prepend") && prepend && *prepend == kMeta && merges && !*replaces && parts->prefix == tok::kPrefixNever) {
      parts->prefix = tok::kPrefixSegment;
      parts->prefixed_added = true;
      prepends_at = parts->steps.size();
    } else if (type_is(*step, "Prepend") && prepend) {
      parts->steps.push_back(replace_step(tok::kStepPrepend, "", *prepend));
    } else if (parts->kind != tok::kWordPiece && replaces_space(*step, " ", kMeta) && !is_step) {
      *replaces = parts->solid_spaces = true;
    } else if (type_is(*step, "Replace") && with && what && !what->empty()) {
      parts->steps.push_back(replace_step(tok::kStepReplace, *what, *with));
    } else if (type_is(*step, "Replace") && with && regex && *regex == " {2,}" && !*replaces) {
      parts->steps.push_back(replace_step(tok::kStepRuns, "", *with));
    } else if (type_is(*step, "Replace") && with && regex) {
      NormalStep replaced = replace_step(tok::kStepPattern, "", *with);
      replaced.pattern = static_cast<uint32_t>(parts->patterns.size());
      SplitTables tables;
      LINNET_TRY(compile_split(*regex, "tokenizer.json: normalizer", &tables, err));
      if (tables.may_be_empty) return unknown(err, "a normalizer's pattern that may match nothing", *step);
      parts->patterns.push_back(std::move(tables));
      parts->steps.push_back(std::move(replaced));
    } else if (type_is(*step, "ByteLevel") && merges && !*replaces && parts->prefix == tok::kPrefixNever) {
      normal->byte_level = true;
    } else if (type_is(*step, "Precompiled") && parts->charsmap.empty()) {
      std::string text;
      LINNET_TRY(read_text(*step, where, "precompiled_charsmap", &text, err));
      if (!decode_base64(text, &parts->charsmap)) return bad(err, "normalizer.precompiled_charsmap is not base64");
      if (!parts->charsmap.empty()) parts->steps.push_back({tok::kStepClusters});
    } else if (type_is(*step, "BertNormalizer")) {
      normal->han = true;
      LINNET_TRY(read_bert_normalizer(*step, parts, &normal->han, err));
    } else {
      return unknown(err, "normalizer", *value);
    }
  }
  // The space of kPrefixSegment is put there after all steps, and stands for U+2581.
  if (parts->prefix == tok::kPrefixSegment && (!parts->steps.empty() || !*replaces)) {
    parts->steps.insert(parts->steps.begin() + static_cast<ptrdiff_t>(prepends_at),
                        replace_step(tok::kStepPrepend, "", std::string(kMeta)));
    parts->prefix = tok::kPrefixNever;
    parts->prefixed_added = false;
  }
  return LINNET_OK;
}

bool pattern_mode(std::string_view behavior, bool invert, uint32_t* out) {
  if (behavior == "Isolated")
    *out = tok::kPatternIsolated;
  else if (behavior == "Removed")
    *out = invert ? tok::kPatternDropGaps : tok::kPatternDropMatches;
  else if (behavior == "MergedWithPrevious")
    *out = invert ? tok::kPatternWithGap : tok::kPatternGapWith;
  else if (behavior == "MergedWithNext")
    *out = invert ? tok::kPatternGapWith : tok::kPatternWithGap;
  else if (behavior == "Contiguous")
    *out = tok::kPatternContiguous;
  else
    return false;
  return true;
}

// meta: the text has U+2581 where the tables have ' '.
Status add_pattern(std::string_view pattern, uint32_t mode, bool meta, TokenizerParts* parts, Error* err) {
  if (parts->patterns.size() > tok::kMaxSplits) return LINNET_OK;  // too many, which build_tokenizer says
  SplitTables tables;
  tables.mode = mode;
  LINNET_TRY(compile_split(pattern, kFile, &tables, err, meta));
  if (tables.may_be_empty && mode > tok::kPatternDropGaps)  // what is nothing joins no neighbour
    return fail(err, LINNET_UNSUPPORTED, kFile,
                ": the pre_tokenizer's behavior is not supported for a pattern that may match nothing: ", pattern);
  parts->splits.push_back(static_cast<tok::Split>(tok::kSplitPattern + parts->patterns.size()));
  parts->patterns.push_back(std::move(tables));
  return LINNET_OK;
}

Status read_split(const json& step, const json& whole, bool meta, TokenizerParts* parts, Error* err) {
  const json* const pattern = json_member(step, "pattern");
  const std::string* const regex = pattern ? text_of(json_member(*pattern, "Regex")) : nullptr;
  const std::string* const text = pattern ? text_of(json_member(*pattern, "String")) : nullptr;
  const std::string* const behavior = text_of(json_member(step, "behavior"));
  bool invert = false;
  LINNET_TRY(read_bool(step, "tokenizer.json: pre_tokenizer", "invert", &invert, err));
  if (text && *text == " " && meta) return LINNET_OK;  // no space is left to split at
  if ((!regex && !text) || !behavior) return unknown(err, "pre_tokenizer", whole);
  const KnownSplit* known = regex && !meta ? find_split(*regex) : nullptr;
  // '$' is the end of any line: of the text alone where line breaks were cut off before.
  const bool lines = std::find(parts->splits.begin(), parts->splits.end(), tok::kSplitLine) != parts->splits.end();
  if (known && known->split == tok::kSplitEndSpace && !lines) known = nullptr;
  if (!known || !(*behavior == "Isolated" || (*behavior == "Removed" && invert && known->covers))) {
    uint32_t mode = 0;
    if (!pattern_mode(*behavior, invert, &mode)) return unknown(err, "pre_tokenizer", whole);
    return add_pattern(regex ? *regex : literal_pattern(*text), mode, meta, parts, err);
  }
  parts->splits.push_back(known->split);
  return LINNET_OK;
}

// *metaspace: from here on U+2581 is a space.
Status read_metaspace(const json& step, const json& whole, bool* metaspace, TokenizerParts* parts, Error* err) {
  *metaspace = parts->late_spaces = true;
  std::string replacement(kMeta), scheme;
  bool split = true, add_prefix_space = true;
  LINNET_TRY(read_text(step, "tokenizer.json: pre_tokenizer", "replacement", &replacement, err));
  LINNET_TRY(read_text(step, "tokenizer.json: pre_tokenizer", "prepend_scheme", &scheme, err));
  LINNET_TRY(read_bool(step, "tokenizer.json: pre_tokenizer", "split", &split, err));
  LINNET_TRY(read_bool(step, "tokenizer.json: pre_tokenizer", "add_prefix_space", &add_prefix_space, err));
  if (scheme.empty()) scheme = add_prefix_space ? "always" : "never";
  if (replacement != kMeta || parts->prefix != tok::kPrefixNever) return unknown(err, "pre_tokenizer", whole);
  // The library takes for the first what begins where the text as it was does.
  const bool prepends =
      std::any_of(parts->steps.begin(), parts->steps.end(), [](const NormalStep& s) { return s.op == tok::kStepPrepend; });
  const auto deletes = [prepends](const NormalStep& s) {
    const bool solid = !prepends && (s.to.rfind(' ', 0) == 0 || s.to.rfind(kMeta, 0) == 0);  // then there is a space in front as it is
    return s.op == tok::kStepStrip || ((s.op == tok::kStepReplace || s.op == tok::kStepPattern) && !solid) ||
           std::any_of(s.map.begin(), s.map.end(), [](const CharRule& r) { return r.text.empty(); });
  };
  if (scheme == "first" && std::any_of(parts->steps.begin(), parts->steps.end(), deletes))
    return unknown(err, "prepend_scheme 'first' behind a normalizer that takes characters out or replaces texts", whole);
  const bool words = !parts->splits.empty();
  if (words && scheme == "never") {  // no space is left that would become one
    *metaspace = false;
    return split ? add_pattern(kMeta, tok::kPatternWithGap, false, parts, err) : LINNET_OK;
  }
  if (scheme == "always")
    parts->prefix = words ? tok::kPrefixWord : tok::kPrefixAlways;
  else if (scheme == "first" && !words)
    parts->prefix = tok::kPrefixFirst;
  else if (scheme != "never")
    return unknown(err, "pre_tokenizer", whole);
  if (split) parts->splits.push_back(tok::kSplitMetaspace);
  return LINNET_OK;
}

// As the tokenizers library writes them, by what the Rust libraries take for words.
constexpr std::string_view kWordsPattern = R"(\p{=word}+|[^\p{=word}\s]+)", kSpacePattern = "\\s";
// A mark of punctuation, by the library's own tables.
std::string mark_pattern() {
  std::string s = "[";
  char range[32];
  for (uint32_t c = 0, first; c < 0x110000; ++c) {
    if (!tok::is_library_punctuation(c)) continue;
    for (first = c; tok::is_library_punctuation(c + 1);) ++c;
    std::snprintf(range, sizeof range, "\\x{%X}-\\x{%X}", static_cast<unsigned>(first), static_cast<unsigned>(c));
    s += range;
  }
  return s + "]";
}
constexpr std::string_view kBertHanPattern =
    R"([\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B920}-\x{2CEAF})"
    R"(\x{2F800}-\x{2FA1F}])";

// A pre-tokenizer that is a pattern, of a text in which U+2581 stands for itself or (meta) for ' '. *found: it is one.
Status read_pattern_step(const json& step, const json& whole, bool meta, bool* found, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: pre_tokenizer";
  *found = true;
  if (type_is(step, "Split")) return read_split(step, whole, meta, parts, err);
  if (type_is(step, "Whitespace")) return add_pattern(kWordsPattern, tok::kPatternDropGaps, meta, parts, err);
  if (type_is(step, "WhitespaceSplit")) {
    if (meta) return add_pattern(kSpacePattern, tok::kPatternDropMatches, meta, parts, err);
    parts->splits.push_back(tok::kSplitWhitespace);
    return LINNET_OK;
  }
  if (type_is(step, "Punctuation")) {
    std::string behavior = "Isolated";
    uint32_t mode = 0;
    LINNET_TRY(read_text(step, where, "behavior", &behavior, err));
    if (!pattern_mode(behavior, false, &mode)) return unknown(err, "pre_tokenizer", whole);
    if (mode != tok::kPatternContiguous) return add_pattern(mark_pattern(), mode, meta, parts, err);
    parts->splits.push_back(tok::kSplitPunctuation);
    return LINNET_OK;
  }
  if (type_is(step, "CharDelimiterSplit")) {
    std::string delimiter;
    LINNET_TRY(read_text(step, where, "delimiter", &delimiter, err));
    if (delimiter.empty() || next_char(delimiter.data(), delimiter.size()).bytes != delimiter.size())
      return bad(err, "pre_tokenizer.delimiter is '", delimiter, "', not a character");
    return add_pattern(literal_pattern(delimiter), tok::kPatternDropMatches, meta, parts, err);
  }
  if (type_is(step, "FixedLength")) {
    uint32_t length = 5;
    if (get_u32(step, "length", &length) == Got::kWrong || length == 0)
      return bad(err, "pre_tokenizer.length is ", json_show(*json_member(step, "length")), ", not a number of characters");
    return add_pattern("(?:.|\\n){1," + std::to_string(length) + "}", tok::kPatternIsolated, meta, parts, err);
  }
  if (type_is(step, "BertPreTokenizer") && !meta) {
    parts->splits.push_back(tok::kSplitBert);
    return LINNET_OK;
  }
  *found = false;
  return LINNET_OK;
}

// Sets kind, splits and prefix.
Status read_pre_tokenizer(const json* value, const Normal& normal, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: pre_tokenizer";
  const bool merges = parts->kind == tok::kByteLevel;
  const bool replaces = normal.replaces;
  if (merges && !normal.byte_level) parts->kind = tok::kSpm;
  if (normal.byte_level && !is_null(value)) return unknown(err, "a pre_tokenizer behind a normalizer's ByteLevel", *value);
  bool metaspace = replaces, han = normal.han;
  std::vector<const json*> steps;
  if (!is_null(value)) steps = members(*value, "pretokenizers");
  for (const json* step : steps) {
    const bool byte_level = parts->kind == tok::kByteLevel;
    bool individual = false, found = false;
    if (han) {  // spaces go around each Han character: the same where white space goes in any case
      const bool bert = type_is(*step, "BertPreTokenizer") && !metaspace;
      if (!bert && !type_is(*step, "Whitespace") && !type_is(*step, "WhitespaceSplit"))
        return unknown(err, "handle_chinese_chars where white space stays", *value);
      if (!bert) LINNET_TRY(add_pattern(kBertHanPattern, tok::kPatternIsolated, metaspace, parts, err));
      if (bert) parts->splits.push_back(tok::kSplitBertHan);
      han = false;
      if (bert) continue;
    }
    if (type_is(*step, "ByteLevel") && merges && !byte_level && !metaspace && parts->prefix == tok::kPrefixNever) {
      bool use_regex = true, add_prefix_space = true;
      LINNET_TRY(read_bool(*step, where, "use_regex", &use_regex, err));
      LINNET_TRY(read_bool(*step, where, "add_prefix_space", &add_prefix_space, err));
      if (add_prefix_space && !parts->splits.empty()) return unknown(err, "add_prefix_space behind other steps", *value);
      parts->kind = tok::kByteLevel;
      if (add_prefix_space) parts->prefix = tok::kPrefixAlways;
      if (use_regex) parts->splits.push_back(tok::kSplitGpt2);
    } else if (byte_level && type_is(*step, "Split")) {
      LINNET_TRY(read_split(*step, *value, false, parts, err));
      // Behind ByteLevel, expressions see letters that stand for bytes.
      if (parts->splits.back() != tok::kSplitAscii3) return unknown(err, "a Split behind ByteLevel", *value);
    } else if (type_is(*step, "Digits")) {
      LINNET_TRY(read_bool(*step, where, "individual_digits", &individual, err));
      if (byte_level && individual) return unknown(err, "individual_digits behind ByteLevel", *value);
      parts->splits.push_back(byte_level ? tok::kSplitByteNumbers : individual ? tok::kSplitNumber : tok::kSplitNumbers);
    } else if (type_is(*step, "Metaspace") && parts->kind != tok::kWordPiece && !byte_level && !metaspace &&
               (parts->splits.empty() || (parts->splits.size() == 1 && parts->splits[0] == tok::kSplitWhitespace))) {
      LINNET_TRY(read_metaspace(*step, *value, &metaspace, parts, err));
    } else {
      if (!byte_level) LINNET_TRY(read_pattern_step(*step, *value, metaspace, &found, parts, err));
      if (!found) return unknown(err, "pre_tokenizer", *value);
    }
  }
  if (han) return unknown(err, "handle_chinese_chars where white space stays", value);
  parts->as_spelled = (parts->kind == tok::kSpm || parts->kind == tok::kUnigram) && !metaspace;
  if (!(parts->front.empty() && parts->behind.empty()) && !parts->as_spelled)
    return fail(err, LINNET_UNSUPPORTED, kFile, ": model.", parts->front.empty() ? "end_of_word_suffix" : "continuing_subword_prefix", " '",
                parts->front.empty() ? parts->behind : parts->front, "' beside ByteLevel or Metaspace is not supported");
  if (parts->as_spelled) parts->solid_spaces = false;
  parts->gguf_pre = parts->kind == tok::kByteLevel ? pre_name(*parts) : "default";
  return LINNET_OK;
}

// The decoders that go with the kind of tokenizer.
Status read_own_decoder(const json* value, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: decoder";
  if (is_null(value)) return LINNET_OK;
  const bool metaspaced = parts->kind == tok::kSpm || parts->kind == tok::kUnigram;
  bool spaces = !metaspaced, right = false, bytes = std::find(parts->types.begin(), parts->types.end(), kByteType) == parts->types.end();
  for (const json* step : members(*value, "decoders")) {
    std::string content;
    if (type_is(*step, "Fuse")) continue;
    if (type_is(*step, "ByteLevel") && parts->kind == tok::kByteLevel) {
      right = true;
    } else if (type_is(*step, "WordPiece") && parts->kind == tok::kWordPiece) {
      content = parts->continuing;
      LINNET_TRY(read_text(*step, where, "prefix", &content, err));
      parts->cleanup = true;
      LINNET_TRY(read_bool(*step, where, "cleanup", &parts->cleanup, err));
      if (content != parts->continuing) return unknown(err, "decoder", *value);
      parts->strip_space = right = true;
    } else if (type_is(*step, "Metaspace") && metaspaced) {
      bool add_prefix_space = true;
      LINNET_TRY(read_text(*step, where, "prepend_scheme", &content, err));
      LINNET_TRY(read_bool(*step, where, "add_prefix_space", &add_prefix_space, err));
      parts->strip_spaces = content.empty() ? add_prefix_space : content != "never";
      content = kMeta;
      LINNET_TRY(read_text(*step, where, "replacement", &content, err));
      // Of the first token all go, of which the tables know those in front alone.
      const auto inside = [](const std::string& s) {
        size_t n = 0;
        while (s.compare(n, kMeta.size(), kMeta) == 0) n += kMeta.size();
        return s.find(kMeta, n) != s.npos || s.compare(n, 1, " ") == 0;
      };
      if (content != kMeta || (parts->strip_spaces && std::any_of(parts->tokens.begin(), parts->tokens.end(), inside)))
        return unknown(err, "decoder", *value);
      spaces = right = true;
    } else if (type_is(*step, "Strip") && metaspaced) {
      uint32_t start = 0, stop = 0;
      LINNET_TRY(read_text(*step, where, "content", &content, err));
      if (get_u32(*step, "start", &start) != Got::kFound || get_u32(*step, "stop", &stop) != Got::kFound || content != " " || start != 1 ||
          stop != 0)
        return unknown(err, "decoder", *value);
      parts->strip_space = true;
    } else if (metaspaced && (replaces_space(*step, kMeta, " ") || type_is(*step, "ByteFallback"))) {
      right = true;
      spaces = spaces || type_is(*step, "Replace");
      bytes = bytes || type_is(*step, "ByteFallback");
    } else {
      return unknown(err, "decoder", *value);
    }
  }
  if (metaspaced && !bytes) return unknown(err, "decoder", *value);  // then "<0x0A>" is written out
  return right && spaces ? LINNET_OK : unknown(err, "decoder", *value);
}

// Other decoders, as far as they make of each token by itself what it decodes to.
Status read_other_decoder(const json& value, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: decoder";
  bool fused = false, bytes = false;  // ByteFallback makes one token of bytes in a row
  const auto one = [](const std::string& s) { return !s.empty() && next_char(s.data(), s.size()).bytes == s.size(); };
  for (const json* step : members(value, "decoders")) {
    ShowStep show = {ShowStep::kReplace};
    const json* const pattern = json_member(*step, "pattern");
    const std::string* const what = pattern ? text_of(json_member(*pattern, "String")) : nullptr;
    bool known = true;
    LINNET_TRY(read_text(*step, where, "content", &show.to, err));
    if (type_is(*step, "Fuse")) {
      fused = true;
      continue;
    }
    if (type_is(*step, "Replace") && what) {
      show.from = *what;
      known = !what->empty() && (bytes ? what->size() == 1 : !fused || one(*what));
    } else if (type_is(*step, "ByteFallback")) {
      show.kind = ShowStep::kBytes;
      known = !fused;
      bytes = true;
    } else if (type_is(*step, "Strip")) {
      show.kind = ShowStep::kStrip;
      show.from = show.to;
      known = get_u32(*step, "start", &show.start) == Got::kFound && get_u32(*step, "stop", &show.stop) == Got::kFound && one(show.from) &&
              (fused ? show.start <= 1 && show.stop == 0 && (!bytes || show.from.size() == 1) : !bytes);
      show.strips_first = fused;
    } else if (type_is(*step, "WordPiece")) {
      bool cleanup = true;
      show.kind = ShowStep::kWords;
      show.from = "##";
      known = !fused && !bytes;
      LINNET_TRY(read_text(*step, where, "prefix", &show.from, err));
      LINNET_TRY(read_bool(*step, where, "cleanup", &cleanup, err));
      parts->shows.push_back(show);
      show.kind = ShowStep::kClean;
      if (known && !cleanup) continue;
    } else if (type_is(*step, "Metaspace")) {
      std::string scheme;
      bool add_prefix_space = true;
      show.from = kMeta;
      show.to = " ";
      LINNET_TRY(read_text(*step, where, "prepend_scheme", &scheme, err));
      LINNET_TRY(read_text(*step, where, "replacement", &show.from, err));
      LINNET_TRY(read_bool(*step, where, "add_prefix_space", &add_prefix_space, err));
      show.strips_first = scheme.empty() ? add_prefix_space : scheme != "never";
      known = one(show.from) && !bytes && !(show.strips_first && fused);
    } else {
      known = false;
    }
    if (!known) return unknown(err, "decoder", value);
    parts->shows.push_back(std::move(show));
  }
  parts->shows_steps = true;
  return LINNET_OK;
}

Status read_decoder(const json* value, TokenizerParts* parts, Error* err) {
  if (is_null(value) && parts->kind != tok::kByteLevel) {  // with spaces between tokens
    parts->shows_steps = true;
    parts->shows = {{ShowStep::kJoin}};
    return LINNET_OK;
  }
  if (type_is(*value, "BPEDecoder") && parts->as_spelled) {
    std::string suffix = "</w>";
    LINNET_TRY(read_text(*value, "tokenizer.json: decoder", "suffix", &suffix, err));
    if (suffix.empty() || suffix != parts->behind) return unknown(err, "decoder", *value);
    parts->shows_steps = parts->ends_shown = true;
    parts->shows = {{ShowStep::kReplace, suffix, " "}};
    return LINNET_OK;
  }
  if (!parts->as_spelled) {
    Error mine = {};
    const Status status = read_own_decoder(value, parts, &mine);
    if (status != LINNET_UNSUPPORTED || parts->kind == tok::kByteLevel) {
      if (status != LINNET_OK && err) *err = mine;
      return status;
    }
    parts->cleanup = parts->strip_space = parts->strip_spaces = false;
  }
  return read_other_decoder(*value, parts, err);
}

// BertProcessing and RobertaProcessing: ["[CLS]", 101]
Status pair_token(const json& processor, const char* key, const TokenizerParts& parts, std::vector<int32_t>* out, Error* err) {
  const json* const value = json_member(processor, key);
  const auto* pair = value ? value->get_ptr<const json::array_t*>() : nullptr;
  const auto* id = pair && pair->size() == 2 ? (*pair)[1].get_ptr<const json::number_unsigned_t*>() : nullptr;
  if (!id || *id >= parts.tokens.size())
    return bad(err, "post_processor.", key, " is ", value ? json_show(*value) : "missing", ", not a token and its id");
  out->push_back(static_cast<int32_t>(*id));
  return LINNET_OK;
}

// The ids of a TemplateProcessing's special token.
Status template_token(const json& processor, const std::string& name, const TokenizerParts& parts, std::vector<int32_t>* out, Error* err) {
  const json* const tokens = json_member(processor, "special_tokens");
  const json* const token = tokens ? json_member(*tokens, name) : nullptr;
  const json* const ids = token ? json_member(*token, "ids") : nullptr;
  const auto* array = ids ? ids->get_ptr<const json::array_t*>() : nullptr;
  if (!array) return bad(err, "post_processor has no ids for '", name, "'");
  for (const json& id : *array) {
    const auto* v = id.get_ptr<const json::number_unsigned_t*>();
    if (!v || *v >= parts.tokens.size()) return bad(err, "post_processor: id ", json_show(id), " of '", name, "' is no token");
    if (out->size() > tok::kMaxAround) break;  // too many, which build_tokenizer says
    out->push_back(static_cast<int32_t>(*v));
  }
  return LINNET_OK;
}

// A text in the midst of special tokens, as post-processors have it: a template makes parts of a text, each with tokens of its own, and
// what comes behind the template goes around each of them.
struct Part {
  bool text = false;
  std::vector<int32_t> before = {}, after = {};  // of a part without text all are `before` or `after`, in this order
};
Status read_template(const json& step, const json& whole, const TokenizerParts& parts, std::vector<Part>* list, Error* err) {
  const json* const single = json_member(step, "single");
  const auto* items = single ? single->get_ptr<const json::array_t*>() : nullptr;
  if (!items || list->size() > 1) return unknown(err, "post_processor", whole);
  const Part text = (*list)[0];
  list->clear();
  for (const json& item : *items) {
    const json* const special = json_member(item, "SpecialToken");
    const std::string* const name = special ? text_of(json_member(*special, "id")) : nullptr;
    if (list->size() > 2 * tok::kMaxAround + 1) break;  // too many, which build_tokenizer says
    if (name) {
      list->push_back({});
      LINNET_TRY(template_token(step, *name, parts, &list->back().before, err));
    } else if (json_member(item, "Sequence") && std::none_of(list->begin(), list->end(), [](const Part& p) { return p.text; })) {
      list->push_back(text);
    } else {
      return unknown(err, "post_processor", whole);
    }
  }
  const bool has_text = std::any_of(list->begin(), list->end(), [](const Part& p) { return p.text; });
  return has_text ? LINNET_OK : unknown(err, "post_processor", whole);
}

Status read_post_processor(const json* value, TokenizerParts* parts, Error* err) {
  if (is_null(value)) return LINNET_OK;
  std::vector<Part> list = {{true}};
  for (const json* step : members(*value, "processors")) {
    if (type_is(*step, "ByteLevel")) continue;  // concerns offsets only
    const bool bert = type_is(*step, "BertProcessing");
    if (!bert && !type_is(*step, "RobertaProcessing")) {
      if (!type_is(*step, "TemplateProcessing")) return unknown(err, "post_processor", *value);
      LINNET_TRY(read_template(*step, *value, *parts, &list, err));
      continue;
    }
    std::vector<int32_t> cls, sep;
    LINNET_TRY(pair_token(*step, "cls", *parts, &cls, err));
    LINNET_TRY(pair_token(*step, "sep", *parts, &sep, err));
    for (Part& part : list) {  // those behind the first as the second text of a pair
      const bool first = &part == &list[0];
      if (first || !bert) part.before.insert(part.before.begin(), (first ? cls : sep)[0]);
      part.after.push_back(sep[0]);
    }
  }
  std::vector<int32_t>* to = &parts->before;
  for (const Part& part : list) {
    to->insert(to->end(), part.before.begin(), part.before.end());
    if (part.text) to = &parts->after;
    to->insert(to->end(), part.after.begin(), part.after.end());
  }
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

bool is_split(std::string_view pattern, uint32_t split, const TokenizerParts& parts) {
  if (const KnownSplit* const known = find_split(pattern)) return known->split == split;
  if (split < tok::kSplitPattern) return false;
  const SplitTables& tables = parts.patterns[split - tok::kSplitPattern];
  return tables.mode == tok::kPatternIsolated && with_escapes(tables.text) == with_escapes(pattern);
}
Status add_split(std::string_view pattern, const char* label, TokenizerParts* parts, Error* err) {
  if (const KnownSplit* const known = find_split(pattern)) {
    parts->splits.push_back(known->split);
  } else {
    SplitTables tables;
    LINNET_TRY(compile_split(pattern, label, &tables, err));
    parts->splits.push_back(static_cast<tok::Split>(tok::kSplitPattern + parts->patterns.size()));
    parts->patterns.push_back(std::move(tables));
  }
  parts->gguf_pre = pre_name(*parts);
  return LINNET_OK;
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

// ---- files beside it ------------------------------------------------------------------------------------------------------

namespace {

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
