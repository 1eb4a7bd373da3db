// normalizer and pre_tokenizer of a tokenizer.json: what happens to texts before the model sees them.
#include <algorithm>

#include "../tokenizer/unicode.h"
#include "tokenizer_json.h"

namespace linnet::convert {
namespace {

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
    {R"(\p{N}{1,3})", tok::kSplitNumbers3, false},
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

}  // namespace

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

namespace {

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

struct Metaspace {
  std::string scheme;
  bool split = true;
};
Status read_metaspace_fields(const json& step, const json& whole, Metaspace* out, Error* err) {
  constexpr const char* where = "tokenizer.json: pre_tokenizer";
  std::string replacement(kMeta);
  bool add_prefix_space = true;
  LINNET_TRY(read_text(step, where, "replacement", &replacement, err));
  LINNET_TRY(read_text(step, where, "prepend_scheme", &out->scheme, err));
  LINNET_TRY(read_bool(step, where, "split", &out->split, err));
  LINNET_TRY(read_bool(step, where, "add_prefix_space", &add_prefix_space, err));
  if (out->scheme.empty()) out->scheme = add_prefix_space ? "always" : "never";
  const bool known = out->scheme == "always" || out->scheme == "first" || out->scheme == "never";
  return replacement == kMeta && known ? LINNET_OK : unknown(err, "pre_tokenizer", whole);
}

// *metaspace: from here on U+2581 is a space.
Status read_metaspace(const json& step, const json& whole, bool* metaspace, TokenizerParts* parts, Error* err) {
  *metaspace = parts->late_spaces = true;
  Metaspace m;
  LINNET_TRY(read_metaspace_fields(step, whole, &m, err));
  const std::string& scheme = m.scheme;
  const bool split = m.split;
  if (parts->prefix != tok::kPrefixNever) return unknown(err, "pre_tokenizer", whole);
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
  if (type_is(step, "UnicodeScripts")) {
    if (parts->patterns.size() > tok::kMaxSplits) return LINNET_OK;  // as in add_pattern
    script_tables(&parts->patterns.emplace_back(), meta);
    parts->splits.push_back(static_cast<tok::Split>(tok::kSplitPattern + parts->patterns.size() - 1));
    return LINNET_OK;
  }
  if (type_is(step, "BertPreTokenizer") && meta) {
    LINNET_TRY(add_pattern(kSpacePattern, tok::kPatternDropMatches, meta, parts, err));
    return add_pattern(mark_pattern(), tok::kPatternIsolated, meta, parts, err);
  }
  if (type_is(step, "BertPreTokenizer")) {
    parts->splits.push_back(tok::kSplitBert);
    return LINNET_OK;
  }
  *found = false;
  return LINNET_OK;
}

// Whether BPE makes something of characters that are no tokens.
bool has_unknown(const TokenizerParts& parts) {
  return parts.unk_id >= 0 || parts.no_unknown || std::find(parts.types.begin(), parts.types.end(), kByteType) != parts.types.end();
}

// Spaces go around each Han character: the same where white space goes in any case, in this step or the one behind it.
Status read_han(const json& step, const json& whole, bool metaspace, TokenizerParts* parts, Error* err) {
  if (type_is(step, "BertPreTokenizer") && !metaspace) {
    parts->splits.push_back(tok::kSplitBertHan);
    return LINNET_OK;
  }
  if (!type_is(step, "Whitespace") && !type_is(step, "WhitespaceSplit"))
    return unknown(err, "handle_chinese_chars where white space stays", whole);
  return add_pattern(kBertHanPattern, tok::kPatternIsolated, metaspace, parts, err);
}

// Where ' ' stands for U+2581, no affix can have one.
Status check_affixes(bool metaspace, const json* value, const TokenizerParts& parts, Error* err) {
  for (const std::string* affix : {&parts.front, &parts.behind, &parts.continuing})
    if (metaspace && affix->find(' ') != affix->npos) return unknown(err, "Metaspace beside a space in a subword prefix or suffix", value);
  return LINNET_OK;
}

// Where no step has to change the text.
Status read_cuts(const json* value, const Normal& normal, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: pre_tokenizer";
  const bool merges = parts->kind == tok::kByteLevel;
  const bool replaces = normal.replaces;
  if (merges && !normal.byte_level) parts->kind = tok::kSpm;
  if (normal.byte_level && !parts->all_letters && has_unknown(*parts))
    return unknown(err, "ByteLevel with bytes that are no tokens", value);
  bool metaspace = replaces, han = normal.han;
  std::vector<const json*> steps;
  if (!is_null(value)) steps = members(*value, "pretokenizers");
  for (const json* step : steps) {
    const bool byte_level = parts->kind == tok::kByteLevel;
    bool individual = false, found = false;
    if (han) {
      LINNET_TRY(read_han(*step, *value, metaspace, parts, err));
      han = false;
      if (parts->splits.back() == tok::kSplitBertHan) continue;
    }
    if (type_is(*step, "ByteLevel") && merges && !byte_level && !metaspace && parts->prefix == tok::kPrefixNever &&
        (parts->all_letters || !has_unknown(*parts))) {
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
  if (parts->kind == tok::kByteLevel) {
    if (!(parts->front.empty() && parts->behind.empty())) return unknown(err, "pre_tokenizer", value);
    parts->no_unknown = false;  // there are letters for all bytes
  }
  LINNET_TRY(check_affixes(metaspace, value, *parts, err));
  if (parts->as_spelled) parts->solid_spaces = false;
  const bool pieces = !parts->as_spelled && std::all_of(parts->splits.begin(), parts->splits.end(), [](tok::Split split) {
    return split == tok::kSplitMetaspace || split == tok::kSplitWhitespace;
  });
  parts->gguf_pre = parts->kind == tok::kByteLevel ? pre_name(*parts) : pieces || parts->kind == tok::kWordPiece ? "default" : "";
  return LINNET_OK;
}

// Any sequence, with steps among the cuts that change the text.
Status read_changes(const json* value, const Normal& normal, TokenizerParts* parts, Error* err) {
  constexpr const char* where = "tokenizer.json: pre_tokenizer";
  if (parts->kind == tok::kByteLevel) parts->kind = tok::kSpm;
  parts->split_spaces = true;
  if (normal.replaces) {
    if (parts->prefix == tok::kPrefixSegment) parts->steps.push_back(replace_step(tok::kStepPrepend, "", std::string(kMeta)));
    parts->steps.push_back(replace_step(tok::kStepReplace, " ", std::string(kMeta)));
    parts->prefix = tok::kPrefixNever;
    parts->prefixed_added = parts->solid_spaces = false;
  }
  bool metaspace = false, letters = normal.byte_level, han = normal.han;
  if (letters) parts->splits.push_back(tok::kSplitLetters);
  std::vector<const json*> steps;
  if (!is_null(value)) steps = members(*value, "pretokenizers");
  for (const json* step : steps) {
    if (parts->splits.size() > tok::kMaxSplits) break;  // too many, which build_tokenizer says
    if (han) {
      LINNET_TRY(read_han(*step, *value, metaspace, parts, err));
      han = false;
      if (parts->splits.back() == tok::kSplitBertHan) continue;
    }
    if (type_is(*step, "ByteLevel")) {
      bool use_regex = true, add_prefix_space = true;
      LINNET_TRY(read_bool(*step, where, "use_regex", &use_regex, err));
      LINNET_TRY(read_bool(*step, where, "add_prefix_space", &add_prefix_space, err));
      if (metaspace) parts->splits.push_back(tok::kSplitMarks);
      if (add_prefix_space) parts->splits.push_back(tok::kSplitPrefix);
      if (use_regex) parts->splits.push_back(tok::kSplitGpt2);
      parts->splits.push_back(tok::kSplitLetters);
      metaspace = false;
      letters = true;
    } else if (type_is(*step, "Metaspace")) {
      Metaspace m;
      LINNET_TRY(read_metaspace_fields(*step, *value, &m, err));
      // What begins where the text does is the first for the library: it may be several pieces where one character has become more.
      if (m.scheme == "first" && (letters || !parts->steps.empty()))
        return unknown(err, "prepend_scheme 'first' behind a normalizer or ByteLevel and other steps", *value);
      parts->splits.push_back(m.scheme == "always"  ? tok::kSplitSpacesAlways
                              : m.scheme == "first" ? tok::kSplitSpacesFirst
                                                    : tok::kSplitSpaces);
      if (m.split) parts->splits.push_back(tok::kSplitMetaspace);
      metaspace = true;
    } else if (type_is(*step, "Digits")) {
      bool individual = false;
      LINNET_TRY(read_bool(*step, where, "individual_digits", &individual, err));
      parts->splits.push_back(individual ? tok::kSplitNumber : tok::kSplitNumbers);
    } else {
      bool found = false;
      LINNET_TRY(read_pattern_step(*step, *value, metaspace, &found, parts, err));
      if (!found) return unknown(err, "pre_tokenizer", *value);
    }
  }
  if (han) return unknown(err, "handle_chinese_chars where white space stays", value);
  LINNET_TRY(check_affixes(metaspace, value, *parts, err));
  parts->as_spelled = !metaspace;
  parts->gguf_pre.clear();
  return LINNET_OK;
}

}  // namespace

Status read_pre_tokenizer(const json* value, const Normal& normal, TokenizerParts* parts, Error* err) {
  if (normal.byte_level) {
    if (!is_null(value)) return unknown(err, "a pre_tokenizer behind a normalizer's ByteLevel", *value);
    // These would look at letters.
    for (const AddedToken& a : parts->added)
      if (a.normalized && (a.lstrip || a.rstrip || a.single_word))
        return fail(err, LINNET_UNSUPPORTED, kFile, ": added token '", a.text,
                    "' behind a normalizer's ByteLevel with lstrip, rstrip or single_word is not supported");
  }
  const tok::Kind kind = parts->kind;
  const tok::Prefix prefix = parts->prefix;
  const size_t n_patterns = parts->patterns.size();
  const bool solid_spaces = parts->solid_spaces, no_unknown = parts->no_unknown;
  Error first = {};
  Status status = read_cuts(value, normal, parts, &first);
  if (status == LINNET_UNSUPPORTED) {
    parts->kind = kind;
    parts->prefix = prefix;
    parts->splits.clear();
    parts->patterns.resize(n_patterns);
    parts->solid_spaces = solid_spaces;
    parts->no_unknown = no_unknown;
    parts->late_spaces = false;
    return read_changes(value, normal, parts, err);
  }
  if (status != LINNET_OK && err) *err = first;
  return status;
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

}  // namespace linnet::convert
