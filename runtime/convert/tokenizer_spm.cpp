// Vocabularies of pieces with scores: SentencePiece's tokenizer.model, and the tokenizer.ggml keys of GGUF files (all kinds).
#include <algorithm>
#include <cstring>

#include "../../platform/reader.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

constexpr const char* kFile = "tokenizer.model";

// ---- protobuf's wire format -----------------------------------------------------------------------------------------------

struct Field {
  uint32_t number = 0;
  uint64_t value = 0;      // of varints and fixed-size fields
  std::string_view bytes;  // of strings and messages
};

class Message {
 public:
  explicit Message(std::string_view bytes) : in_(bytes.data(), bytes.size()) {}
  // false at the end and where the bytes are no message; ok() tells which.
  bool next(Field* out) {
    if (!in_.ok() || in_.left() == 0) return false;
    const uint64_t key = varint();
    const uint64_t number = key >> 3;
    *out = {};
    switch (key & 7) {
      case 0:
        out->value = varint();
        break;
      case 1:
        out->value = in_.read<uint64_t>();
        break;
      case 2:
        out->bytes = in_.view(varint());
        break;
      case 5:
        out->value = in_.read<uint32_t>();
        break;
      default:
        good_ = false;
    }
    if (number == 0 || number > 0x1FFFFFFF) good_ = false;
    out->number = static_cast<uint32_t>(number);
    return ok();
  }
  bool ok() const { return good_ && in_.ok(); }
  size_t pos() const { return in_.pos(); }

 private:
  uint64_t varint() {
    uint64_t v = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const uint8_t b = in_.read<uint8_t>();
      v |= uint64_t{b & 0x7Fu} << shift;
      if (!(b & 0x80)) return v;
    }
    good_ = false;
    return 0;
  }
  ByteReader in_;
  bool good_ = true;
};

Status not_proto(Error* err, const char* what, size_t pos) {
  return fail(err, LINNET_BAD_FILE, kFile, ": ", what, " is no protobuf message: bad field before byte ", pos);
}

struct SpmSpec {
  uint64_t model_type = 1;
  int32_t unk_id = 0, bos_id = 1, eos_id = 2;
  bool byte_fallback = false, whitespace_suffix = false;
  std::string normalizer, charsmap, unknown_text = " \xE2\x81\x87 ";
  bool dummy_prefix = true, remove_extra = true, escape = true;
};

Status read_piece(std::string_view bytes, TokenizerParts* parts, Error* err) {
  Message message(bytes);
  Field f;
  std::string text;
  float score = 0;
  uint64_t type = kNormal;
  while (message.next(&f)) {
    const uint32_t bits = static_cast<uint32_t>(f.value);
    if (f.number == 1) text = f.bytes;
    if (f.number == 2) std::memcpy(&score, &bits, sizeof score);
    if (f.number == 3) type = f.value;
  }
  if (!message.ok()) return not_proto(err, "a piece", message.pos());
  if (type < kNormal || type > kByteType) return fail(err, LINNET_BAD_FILE, kFile, ": piece ", parts->tokens.size(), " has type ", type);
  if (parts->tokens.size() >= tok::kMaxTokens) return fail(err, LINNET_BAD_FILE, kFile, ": more than ", tok::kMaxTokens, " pieces");
  parts->tokens.push_back(std::move(text));
  parts->scores.push_back(score);
  parts->types.push_back(static_cast<int32_t>(type));
  return LINNET_OK;
}

Status read_specs(std::string_view bytes, bool trainer, SpmSpec* spec, Error* err) {
  Message message(bytes);
  Field f;
  while (message.next(&f)) {
    if (trainer) {
      switch (f.number) {
        case 3:
          spec->model_type = f.value;
          break;
        case 24:
          spec->whitespace_suffix = f.value != 0;
          break;
        case 35:
          spec->byte_fallback = f.value != 0;
          break;
        case 40:
          spec->unk_id = static_cast<int32_t>(f.value);
          break;
        case 41:
          spec->bos_id = static_cast<int32_t>(f.value);
          break;
        case 42:
          spec->eos_id = static_cast<int32_t>(f.value);
          break;
        case 44:
          spec->unknown_text = f.bytes;
          break;
        default:
          break;
      }
    } else {
      switch (f.number) {
        case 1:
          spec->normalizer = f.bytes;
          break;
        case 2:
          spec->charsmap = f.bytes;
          break;
        case 3:
          spec->dummy_prefix = f.value != 0;
          break;
        case 4:
          spec->remove_extra = f.value != 0;
          break;
        case 5:
          spec->escape = f.value != 0;
          break;
        default:
          break;
      }
    }
  }
  return message.ok() ? LINNET_OK : not_proto(err, trainer ? "trainer_spec" : "normalizer_spec", message.pos());
}

Status check_spm(const SpmSpec& spec, const TokenizerParts& parts, Error* err) {
  const auto no = [err](const auto&... what) { return fail(err, LINNET_UNSUPPORTED, kFile, ": ", what..., " is not supported"); };
  if (spec.model_type != 1 && spec.model_type != 2)
    return no("model_type ", spec.model_type, spec.model_type == 3 ? " (word)" : spec.model_type == 4 ? " (char)" : "");
  if (!spec.escape) return no("escape_whitespaces = false");
  if (spec.whitespace_suffix) return no("treat_whitespace_as_suffix");
  for (const int32_t id : {spec.unk_id, spec.bos_id, spec.eos_id})
    if (id < -1 || id >= static_cast<int64_t>(parts.tokens.size()))
      return fail(err, LINNET_BAD_FILE, kFile, ": unk_id, bos_id or eos_id is ", id, ", there are ", parts.tokens.size(), " pieces");
  return LINNET_OK;
}

// Compiled rules and the removal of extra spaces.
void spm_steps(bool remove_extra, TokenizerParts* parts) {
  if (!parts->charsmap.empty()) parts->steps.push_back({tok::kStepCharsmap});
  if (remove_extra) parts->steps.push_back({tok::kStepSqueeze});
}

// Makes added tokens of all that are not plain by their type.
Status add_by_type(bool user_normalized, TokenizerParts* parts, Error* err) {
  for (uint32_t i = 0; i < parts->tokens.size(); ++i) {
    const int32_t type = parts->types[i];
    if (type != kControlType && type != kUnknownType && type != kUserType) continue;
    if (parts->tokens[i].empty()) continue;  // nothing to find in a text
    AddedToken token;
    token.id = i;
    token.text = parts->tokens[i];
    token.special = type != kUserType;
    token.normalized = user_normalized && type == kUserType;
    LINNET_TRY(add_added(std::move(token), parts, err));
  }
  return LINNET_OK;
}

// ---- GGUF -------------------------------------------------------------------------------------------------------------------

struct GgufReader {
  const Gguf& file;
  Error* err;

  Status id(const char* key, size_t n_tokens, int32_t* out) const {
    GgufValue v;
    uint64_t u = 0;
    if (!file.key(key, &v)) return LINNET_OK;
    if (!v.is_uint(&u)) return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is not a token id");
    if (u == UINT32_MAX) return LINNET_OK;  // how some writers say "none"
    if (u >= n_tokens) return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is ", u, ", there are ", n_tokens, " tokens");
    *out = static_cast<int32_t>(u);
    return LINNET_OK;
  }
  Status flag(const char* key, bool* out) const {
    GgufValue v;
    if (!file.key(key, &v)) return LINNET_OK;
    if (v.type != kGgufBool) return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is not a bool");
    *out = v.u != 0;
    return LINNET_OK;
  }
  Status text(const char* key, std::string* out) const {
    GgufValue v;
    if (!file.key(key, &v)) return LINNET_OK;
    if (v.type != kGgufString) return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is not a string");
    *out = v.text;
    return LINNET_OK;
  }
  // An array of 4-byte numbers, one per token. *found = false where there is none.
  template <class T>
  Status numbers(const char* key, uint32_t type, size_t n, std::vector<T>* out, bool* found) const {
    static_assert(sizeof(T) == 4);
    GgufValue v;
    *found = file.key(key, &v);
    if (!*found) return LINNET_OK;
    const bool fits_type = v.array_type == type || (type == kGgufI32 && v.array_type == kGgufU32);
    if (v.type != kGgufArray || !fits_type) return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is not an array of the type wanted");
    if (v.count != n || v.raw.size() != n * sizeof(T))
      return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " has ", v.count, " elements, there are ", n, " tokens");
    out->resize(n);
    if (n) std::memcpy(out->data(), v.raw.data(), v.raw.size());
    return LINNET_OK;
  }
  Status charsmap(std::string* out) const {
    GgufValue v;
    if (!file.key("tokenizer.ggml.precompiled_charsmap", &v)) return LINNET_OK;
    if (v.type != kGgufArray || (v.array_type != kGgufU8 && v.array_type != kGgufI8))
      return fail(err, LINNET_BAD_FILE, file.label, ": tokenizer.ggml.precompiled_charsmap is not an array of bytes");
    *out = v.raw;
    return LINNET_OK;
  }
  Status strings(const char* key, uint64_t limit, GgufValue* out) const {
    if (!file.key(key, out) || out->type != kGgufArray || out->array_type != kGgufString)
      return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " is missing or not an array of strings");
    if (out->count > limit)
      return fail(err, LINNET_BAD_FILE, file.label, ": ", key, " has ", out->count, " elements, the limit is ", limit);
    return LINNET_OK;
  }
};

Status gguf_byte_level(const GgufReader& in, bool* add_bos, TokenizerParts* parts) {
  LINNET_TRY(in.text("tokenizer.ggml.pre", &parts->gguf_pre));
  bool known = false;
  LINNET_TRY(add_pre(parts->gguf_pre, &known, add_bos, parts, in.err));
  if (!known) return fail(in.err, LINNET_UNSUPPORTED, in.file.label, ": tokenizer.ggml.pre '", parts->gguf_pre, "' is not supported");
  GgufValue merges;
  LINNET_TRY(in.strings("tokenizer.ggml.merges", 4 * uint64_t{tok::kMaxTokens}, &merges));
  Vocabulary by_text;
  LINNET_TRY(vocabulary(*parts, &by_text, in.err));
  size_t pos = 0;
  for (std::string_view line; gguf_next_string(merges, &pos, &line);) LINNET_TRY(add_merge(by_text, line, parts, in.err));
  return LINNET_OK;
}

// "llama" (BPE by scores) and "t5" (Unigram).
Status gguf_spm(const GgufReader& in, bool unigram, bool* add_bos, bool* add_eos, TokenizerParts* parts) {
  bool found = false, add_space = true, remove_extra = false, suffix = false, escape = true;
  parts->kind = unigram ? tok::kUnigram : tok::kSpm;
  parts->gguf_pre = "default";
  parts->fuse_unk = true;
  *(unigram ? add_eos : add_bos) = true;
  std::vector<float> scores;
  LINNET_TRY(in.numbers("tokenizer.ggml.scores", kGgufF32, parts->tokens.size(), &scores, &found));
  if (!found) return fail(in.err, LINNET_BAD_FILE, in.file.label, ": tokenizer.ggml.scores is missing");
  parts->scores.assign(scores.begin(), scores.end());
  LINNET_TRY(in.flag("tokenizer.ggml.add_space_prefix", &add_space));
  LINNET_TRY(in.flag("tokenizer.ggml.remove_extra_whitespaces", &remove_extra));
  LINNET_TRY(in.flag("tokenizer.ggml.treat_whitespace_as_suffix", &suffix));
  LINNET_TRY(in.flag("tokenizer.ggml.escape_whitespaces", &escape));
  if (suffix || !escape)
    return fail(in.err, LINNET_UNSUPPORTED, in.file.label, ": treat_whitespace_as_suffix and escape_whitespaces = false are not supported");
  LINNET_TRY(in.charsmap(&parts->charsmap));
  spm_steps(remove_extra, parts);
  parts->prefix = add_space ? tok::kPrefixSegment : tok::kPrefixNever;
  parts->strip_space = add_space;
  return LINNET_OK;
}

// WordPiece. GGUF marks the pieces that begin a word, with U+2581, instead of those that do not.
Status gguf_bert(const GgufReader& in, TokenizerParts* parts) {
  parts->kind = tok::kWordPiece;
  parts->gguf_pre = "default";
  parts->splits = {tok::kSplitBertHan};
  parts->strip_space = parts->cleanup = true;
  bool lowercase = true;
  LINNET_TRY(in.flag("tokenizer.ggml.normalizer.lowercase", &lowercase));
  add_bert_normalizer(true, lowercase, lowercase, parts);
  constexpr std::string_view meta = "\xE2\x96\x81";
  for (size_t i = 0; i < parts->tokens.size(); ++i) {
    std::string& token = parts->tokens[i];
    const bool special = token.size() > 2 && token.front() == '[' && token.back() == ']' && token.find(' ') == token.npos;
    if (token.compare(0, meta.size(), meta) == 0)
      token.erase(0, meta.size());
    else if (parts->types[i] == kNormal && !special)
      token.insert(0, parts->continuing);
    else if (parts->types[i] == kNormal)
      parts->types[i] = token == "[UNK]" ? kUnknownType : kControlType;
  }
  return LINNET_OK;
}

}  // namespace

Status respell(std::string_view model, TokenizerParts* parts, Error* err) {
  TokenizerParts pieces;
  Message message(model);
  Field f;
  while (message.next(&f))
    if (f.number == 1) LINNET_TRY(read_piece(f.bytes, &pieces, err));
  if (!message.ok()) return not_proto(err, "the file", message.pos());
  for (size_t i = 0; i < std::min(parts->tokens.size(), pieces.tokens.size()); ++i) {
    std::string spaced;
    for (const char c : pieces.tokens[i]) {
      spaced.push_back(c);
      if (spaced.size() >= 2 && spaced.compare(spaced.size() - 2, 2, "\xC2\xA0") == 0) spaced.replace(spaced.size() - 2, 2, " ");
    }
    if (parts->types[i] == kNormal && spaced == parts->tokens[i]) parts->tokens[i] = pieces.tokens[i];
  }
  return LINNET_OK;
}

Status tokenizer_from_spm(std::string_view model, const SideTexts& side_texts, TokenizerBlob* out, Error* err) {
  Sides sides;
  LINNET_TRY(read_sides(side_texts, &sides, err));
  TokenizerParts parts;
  parts.label = kFile;
  parts.n_rows = side_texts.n_rows;
  parts.gguf_pre = "default";
  parts.fuse_unk = true;
  SpmSpec spec;
  bool has_spec[2] = {};
  Message message(model);
  Field f;
  while (message.next(&f)) {
    if (f.number == 1) LINNET_TRY(read_piece(f.bytes, &parts, err));
    if (f.number == 2 || f.number == 3) LINNET_TRY(read_specs(f.bytes, f.number == 2, &spec, err));
    if (f.number == 2 || f.number == 3) has_spec[f.number - 2] = true;
  }
  if (!message.ok()) return not_proto(err, "the file", message.pos());
  if (!has_spec[0] || !has_spec[1]) return fail(err, LINNET_BAD_FILE, kFile, ": no trainer_spec or no normalizer_spec");
  LINNET_TRY(check_spm(spec, parts, err));
  parts.kind = spec.model_type == 1 ? tok::kUnigram : tok::kSpm;
  parts.float_scores = true;
  if (spec.model_type == 1) parts.unknown_text = spec.unknown_text;
  parts.charsmap = spec.charsmap;
  spm_steps(spec.remove_extra, &parts);
  std::string_view name = sides.tokenizer_class;
  if (name.size() > 4 && name.substr(name.size() - 4) == "Fast") name.remove_suffix(4);
  if (name == "XLMRobertaTokenizer" || name == "CamembertTokenizer" || name == "BarthezTokenizer" || name == "MBartTokenizer")
    return fail(err, LINNET_UNSUPPORTED, "tokenizer_config.json: tokenizer_class '", sides.tokenizer_class,
                "' numbers the pieces of tokenizer.model anew; its tokenizer.json is needed");
  parts.unk_id = spec.unk_id;
  parts.bos_id = spec.bos_id;
  parts.eos_id = spec.eos_id;
  if (spec.dummy_prefix && sides.add_prefix_space != 0) parts.prefix = sides.legacy == 0 ? tok::kPrefixFirst : tok::kPrefixSegment;
  parts.strip_space = parts.prefix != tok::kPrefixNever;
  // SentencePiece looks for user-defined pieces behind the space that it put in front.
  LINNET_TRY(add_by_type(true, &parts, err));
  for (AddedToken& token : sides.added) token.normalized = false;  // SentencePiece's own rules come behind them
  LINNET_TRY(add_from_sides(sides, &parts, err));
  LINNET_TRY(apply_sides(sides, &parts, err));
  if (sides.add_bos != 0 && parts.bos_id >= 0) parts.before = {parts.bos_id};
  if ((sides.add_eos == 1 || name == "T5Tokenizer") && parts.eos_id >= 0) parts.after = {parts.eos_id};
  return build_tokenizer(parts, out, err);
}

Status tokenizer_from_gguf(const Gguf& file, TokenizerBlob* out, Error* err) {
  *out = {};
  const GgufReader in{file, err};
  std::string model;
  LINNET_TRY(in.text("tokenizer.ggml.model", &model));
  if (model.empty() || model == "none" || model == "no_vocab") return LINNET_OK;
  if (model != "gpt2" && model != "llama" && model != "t5" && model != "bert" && model != "gemma4")
    return fail(err, LINNET_UNSUPPORTED, file.label, ": tokenizer.ggml.model '", model, "' is not supported");
  TokenizerParts parts;
  parts.label = file.label;
  GgufValue tokens;
  LINNET_TRY(in.strings("tokenizer.ggml.tokens", tok::kMaxTokens, &tokens));
  size_t pos = 0;
  for (std::string_view text; gguf_next_string(tokens, &pos, &text);) parts.tokens.emplace_back(text);
  const size_t n = parts.tokens.size();
  bool found = false, add_bos = false, add_eos = false;
  LINNET_TRY(in.numbers("tokenizer.ggml.token_type", kGgufI32, n, &parts.types, &found));
  if (!found) parts.types.assign(n, kNormal);
  for (size_t i = 0; i < n; ++i)
    if (parts.types[i] < kNormal || parts.types[i] > kByteType)
      return fail(err, LINNET_BAD_FILE, file.label, ": tokenizer.ggml.token_type of token ", i, " is ", parts.types[i]);
  if (model == "bert") {
    add_bos = add_eos = true;
    LINNET_TRY(gguf_bert(in, &parts));
  } else if (model == "gpt2" || model == "gemma4") {
    if (model == "gemma4") parts.gguf_pre = model;
    LINNET_TRY(gguf_byte_level(in, &add_bos, &parts));
  } else {
    LINNET_TRY(gguf_spm(in, model == "t5", &add_bos, &add_eos, &parts));
  }
  LINNET_TRY(add_by_type(false, &parts, err));
  LINNET_TRY(in.id("tokenizer.ggml.bos_token_id", n, &parts.bos_id));
  LINNET_TRY(in.id("tokenizer.ggml.eos_token_id", n, &parts.eos_id));
  LINNET_TRY(in.id("tokenizer.ggml.unknown_token_id", n, &parts.unk_id));
  if (model == "bert") {  // [CLS] before a text, [SEP] after it
    LINNET_TRY(in.id("tokenizer.ggml.cls_token_id", n, &parts.bos_id));
    LINNET_TRY(in.id("tokenizer.ggml.seperator_token_id", n, &parts.eos_id));
    LINNET_TRY(in.id("tokenizer.ggml.separator_token_id", n, &parts.eos_id));
  }
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    int32_t id = -1;
    LINNET_TRY(in.id(key, n, &id));
    if (id >= 0) parts.eog.push_back(static_cast<uint32_t>(id));
  }
  LINNET_TRY(in.flag("tokenizer.ggml.add_bos_token", &add_bos));
  LINNET_TRY(in.flag("tokenizer.ggml.add_eos_token", &add_eos));
  if (parts.gguf_pre == "gemma4") add_bos = true;  // files say otherwise, where they were made too early
  if (add_bos && parts.bos_id >= 0) parts.before = {parts.bos_id};
  if (add_eos && parts.eos_id >= 0) parts.after = {parts.eos_id};
  return build_tokenizer(parts, out, err);
}

Status tokenizer_keys(const Gguf& file, TokenizerBlob* out, Error* err) {
  *out = {};
  const GgufReader in{file, err};
  GgufValue list;
  bool found = false;
  const auto texts = [&list](std::vector<std::string>* to) {
    size_t pos = 0;
    for (std::string_view text; gguf_next_string(list, &pos, &text);) to->emplace_back(text);
  };
  LINNET_TRY(in.text("tokenizer.ggml.model", &out->gguf_model));
  LINNET_TRY(in.text("tokenizer.ggml.pre", &out->gguf_pre));
  if (out->gguf_model == "gpt2" && out->gguf_pre == "default") out->gguf_pre.clear();  // 0.1 wrote it for splits without a name
  LINNET_TRY(in.strings("tokenizer.ggml.tokens", tok::kMaxTokens, &list));
  texts(&out->tokens);
  const size_t n = out->tokens.size();
  LINNET_TRY(in.numbers("tokenizer.ggml.token_type", kGgufI32, n, &out->types, &found));
  LINNET_TRY(in.numbers("tokenizer.ggml.scores", kGgufF32, n, &out->scores, &found));
  if (out->gguf_model == "gpt2" || out->gguf_model == "gemma4") {
    LINNET_TRY(in.strings("tokenizer.ggml.merges", 4 * uint64_t{tok::kMaxTokens}, &list));
    texts(&out->merges);
  }
  LINNET_TRY(in.flag("tokenizer.ggml.add_space_prefix", &out->add_space_prefix));
  LINNET_TRY(in.flag("tokenizer.ggml.remove_extra_whitespaces", &out->remove_extra));
  LINNET_TRY(in.charsmap(&out->charsmap));
  LINNET_TRY(in.id("tokenizer.ggml.bos_token_id", n, &out->bos_id));
  LINNET_TRY(in.id("tokenizer.ggml.eos_token_id", n, &out->eos_id));
  LINNET_TRY(in.id("tokenizer.ggml.unknown_token_id", n, &out->unk_id));
  LINNET_TRY(in.flag("tokenizer.ggml.add_bos_token", &out->add_bos));
  return in.flag("tokenizer.ggml.add_eos_token", &out->add_eos);
}

}  // namespace linnet::convert
