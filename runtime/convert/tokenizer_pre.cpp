// Names for tokenizer.ggml.pre: what splits texts in models of that name.
#include <algorithm>

#include "tokenizer_parts.h"

namespace linnet::convert {

#define LINNET_ENDING "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define LINNET_HEAD R"([^\r\n\p{L}\p{N}]?)"
#define LINNET_SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define LINNET_NOT_HAN(set) "[" set "&&[^\\p{Han}]]"
#define LINNET_KIMI_UPPER LINNET_NOT_HAN("\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}")
#define LINNET_KIMI_LOWER LINNET_NOT_HAN("\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}")
#define LINNET_KIMI                                                                                                       \
  "[\\p{Han}]+|" LINNET_HEAD LINNET_KIMI_UPPER "*" LINNET_KIMI_LOWER "+" LINNET_ENDING "?|" LINNET_HEAD LINNET_KIMI_UPPER \
  "+" LINNET_KIMI_LOWER "*" LINNET_ENDING R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_SPACES
const char* const kKimiPattern = LINNET_KIMI;

namespace {

// By the splitters that are written out.
struct KnownPre {
  std::string_view name;
  tok::Split splits[6];              // kSplitNone: none any more
  bool nfc, ignore_merges, add_bos;  // what the models of this name do, which GGUF has no keys for (add_bos: the default)
};
constexpr KnownPre kPres[] = {
    {"gpt-2", {tok::kSplitGpt2}, false, false, false},
    {"phi-2", {tok::kSplitGpt2}, false, false, false},
    {"mpt", {tok::kSplitGpt2}, true, false, false},
    {"olmo", {tok::kSplitGpt2}, true, false, false},
    {"granite-docling", {tok::kSplitGpt2}, false, false, false},
    {"exaone4", {tok::kSplitGpt2}, false, false, false},
    {"jais", {tok::kSplitGpt2}, false, false, false},
    {"trillion", {tok::kSplitGpt2}, false, false, false},
    {"gigachat", {tok::kSplitGpt2}, false, false, false},
    {"a.x-4.0", {tok::kSplitGpt2}, false, false, false},
    {"mellum", {tok::kSplitGpt2}, false, false, false},
    {"modern-bert", {tok::kSplitGpt2}, true, false, false},
    {"roberta-bpe", {tok::kSplitGpt2}, false, false, false},
    {"jina-es", {tok::kSplitGpt2}, false, false, false},
    {"jina-de", {tok::kSplitGpt2}, false, false, false},
    {"jina-v2-es", {tok::kSplitGpt2}, false, false, false},
    {"jina-v2-de", {tok::kSplitGpt2}, false, false, false},
    {"jina-v1-en", {tok::kSplitGpt2}, false, false, false},
    {"jina-v2-code", {tok::kSplitGpt2}, false, false, false},
    {"llama-bpe", {tok::kSplitLlama3}, false, true, true},
    {"llama3", {tok::kSplitLlama3}, false, true, true},
    {"llama-v3", {tok::kSplitLlama3}, false, true, true},
    {"falcon3", {tok::kSplitLlama3}, false, true, true},
    {"falcon-h1", {tok::kSplitLlama3}, false, true, true},
    {"pixtral", {tok::kSplitLlama3}, false, true, true},
    {"lfm2", {tok::kSplitLlama3}, false, true, true},
    {"dbrx", {tok::kSplitLlama3}, false, false, false},
    {"smaug-bpe", {tok::kSplitLlama3}, false, false, false},
    {"glm4", {tok::kSplitLlama3}, false, false, false},
    {"chatglm-bpe", {tok::kSplitLlama3}, false, false, false},
    {"glm5", {tok::kSplitLlama3}, false, false, false},
    {"midm-2.0", {tok::kSplitLlama3}, false, true, true},
    {"jina-v5-nano", {tok::kSplitLlama3}, false, true, true},
    {"qwen2", {tok::kSplitQwen2}, true, false, false},
    {"stablelm2", {tok::kSplitQwen2}, true, false, false},
    {"hunyuan", {tok::kSplitQwen2}, true, false, false},
    {"deepseek-r1-qwen", {tok::kSplitQwen2}, false, false, false},
    {"megrez", {tok::kSplitQwen2}, false, false, false},
    {"kormo", {tok::kSplitQwen2}, false, false, false},
    {"f2llmv2", {tok::kSplitQwen2}, true, false, false},
    {"grok-2", {tok::kSplitQwen2}, false, false, false},
    {"solar-open", {tok::kSplitQwen2}, false, false, false},
    {"gpt-4o", {tok::kSplitO200k}, false, false, false},
    {"llama4", {tok::kSplitO200k}, false, false, false},
    {"kanana2", {tok::kSplitO200k}, false, false, false},
    {"talkie", {tok::kSplitO200k}, false, false, false},
    {"minimax-m2", {tok::kSplitO200k}, false, false, false},
    {"tekken", {tok::kSplitTekken}, false, true, true},
    {"smollm", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"starcoder", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"refact", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"codeshell", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"exaone", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"minerva-7b", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"mellum2", {tok::kSplitNumber, tok::kSplitGpt2}, false, false, false},
    {"command-r", {tok::kSplitNumber, tok::kSplitGpt2}, true, false, false},
    {"falcon", {tok::kSplitPunctuation, tok::kSplitGpt2, tok::kSplitByteNumbers, tok::kSplitAscii3}, false, false, false},
    {"bloom", {tok::kSplitBloom}, false, false, false},
    {"poro-chat", {tok::kSplitBloom}, false, false, false},
    {"gpt3-finnish", {tok::kSplitBloom}, false, false, false},
    {"viking", {tok::kSplitBloom, tok::kSplitNumber}, false, false, false},
    {"deepseek-llm",
     {tok::kSplitLine, tok::kSplitSpaceCased, tok::kSplitSpaceMarks, tok::kSplitEndSpace, tok::kSplitHan, tok::kSplitNumber},
     false,
     false,
     false},
    {"deepseek-coder",
     {tok::kSplitLine, tok::kSplitSpaceLetters, tok::kSplitSpacePunct, tok::kSplitHan, tok::kSplitNumber},
     false,
     false,
     false},
    {"deepseek-v3", {tok::kSplitNumbers3, tok::kSplitHanKana, tok::kSplitDeepseek3}, false, false, false},
    {"hunyuan-dense", {tok::kSplitNumbers3, tok::kSplitHanKana, tok::kSplitDeepseek3}, false, false, false},
    {"joyai-llm", {tok::kSplitNumbers3, tok::kSplitHanKana, tok::kSplitDeepseek3}, false, false, false},
    {"hy_v4", {tok::kSplitNumbers3, tok::kSplitHanKana, tok::kSplitDeepseek3}, false, false, false},
};
std::vector<tok::Split> splits_of(const KnownPre& pre) {
  std::vector<tok::Split> out;
  for (const tok::Split split : pre.splits)
    if (split != tok::kSplitNone) out.push_back(split);
  return out;
}

#define LINNET_GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define LINNET_QWEN2_REST R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_SPACES
#define LINNET_CASED(ending, numbers)                                                                \
  LINNET_HEAD R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)" ending "|" LINNET_HEAD \
              R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)" ending "|" numbers     \
              R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)" LINNET_SPACES
#define LINNET_O200K LINNET_CASED(LINNET_ENDING "?", R"(\p{N}{1,3})")
#define LINNET_ASCII_MARKS R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
#define LINNET_DEEPSEEK3 LINNET_ASCII_MARKS R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" LINNET_SPACES
#define LINNET_BAILING R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"
#define LINNET_JAIS_SPACE(n) R"(|\s{)" #n R"(}(?!\S))"

// By the patterns that the models publish, one behind the other.
struct PatternPre {
  std::string_view name;
  const char* patterns[6];
  bool nfc, ignore_merges, add_bos;
};
constexpr PatternPre kPatternPres[] = {
    {"default", {R"([\p{P}$+<=>\^~|]+)", LINNET_GPT2, R"(\p{N}+)", "[0-9][0-9][0-9]"}, false, false, false},
    {"qwen35", {LINNET_ENDING "|" LINNET_HEAD R"([\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" LINNET_SPACES}, true, false, false},
    {"minicpm5",
     {R"(\p{N}{1,3})", LINNET_ENDING "|" LINNET_HEAD R"(\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_SPACES},
     false,
     true,
     false},
    {"kimi-k2", {LINNET_KIMI}, false, false, false},
    {"seed-coder", {LINNET_ENDING "|" LINNET_HEAD R"(\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)" LINNET_SPACES}, false, false, false},
    {"bailingmoe", {LINNET_BAILING}, false, false, false},
    {"bailingmoe2", {LINNET_BAILING}, false, false, false},
    {"llada-moe", {LINNET_BAILING}, false, false, false},
    {"exaone-moe",
     {R"((?:'(?i:[sdmt]|ll|ve|re))|)" LINNET_HEAD
      R"((?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"},
     true,
     false,
     false},
    {"tiny_aya", {R"(\d{1,3}(?=(?:\d{3})*\b))", LINNET_O200K}, true, false, false},
    {"cohere2moe", {R"(\d{1,3}(?=(?:\d{3})*\b))", LINNET_O200K}, true, false, false},
    {"jais-2",
     {LINNET_ENDING "|" LINNET_HEAD R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+)" LINNET_JAIS_SPACE(512)
          LINNET_JAIS_SPACE(256) LINNET_JAIS_SPACE(128) LINNET_JAIS_SPACE(64) LINNET_JAIS_SPACE(32) LINNET_JAIS_SPACE(16)
              LINNET_JAIS_SPACE(8) LINNET_JAIS_SPACE(4) R"(|\s{1,2}(?!\S)|\s{1})"},
     false,
     false,
     false},
    {"superbpe", {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}, false, false, false},
    {"spark2_5",
     {R"(\p{N}{1,3})", "[一-龥\u3040-ゟ゠-ヿ]+",
      LINNET_ASCII_MARKS R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)", R"(\p{N})"},
     false,
     false,
     false},
    {"youtu",
     {"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+", LINNET_CASED(LINNET_ENDING "?", R"(\p{N})")},
     false,
     true,
     false},
    {"afmoe",
     {R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|\z)))",
      "[一-鿿㐀-䶿豈-\uFAFF\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2FDFเ-\u0E7F\u0E80-\u0EFFក-\u17FFက-႟ꩠ-ꩿꧠ-\uA9FF가-\uD7AFᄀ-ᇿ]+", LINNET_DEEPSEEK3},
     false,
     false,
     false},
    {"laguna", {R"([^\n]+|[\n]+)", LINNET_ENDING "|" LINNET_HEAD LINNET_QWEN2_REST}, false, false, false},
    {"ufakzeka", {LINNET_HEAD LINNET_QWEN2_REST}, false, false, false},
    {"k2-horizon",
     {LINNET_ENDING "|" LINNET_HEAD R"((?:\p{L}|\p{M}|\x{200C}|\x{200D})+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" LINNET_SPACES},
     false,
     false,
     false},
    {"chameleon",
     {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"(([\t\n]|    |  ))", R"(\p{N})", R"([\p{P}!-/:-@\[-`{-~])",
      LINNET_GPT2},
     false,
     false,
     true},
    {"granite-embed-multi-97m",
     {LINNET_HEAD R"(((?=[\p{L}\p{M}])([^a-z]))*((?=[\p{L}\p{M}])([^A-Z]))+)" LINNET_ENDING "?|" LINNET_HEAD
                  R"(((?=[\p{L}\p{M}])([^a-z]))+((?=[\p{L}\p{M}])([^A-Z]))*)" LINNET_ENDING
                  R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" LINNET_SPACES},
     false,
     true,
     false},
};

// BPE whose spaces are U+2581, with merges.
constexpr std::string_view kSpacedPres[] = {"gemma4", "granite-embed-multi-311m", "sarvam-moe"};

}  // namespace

Status add_pre(std::string name, bool* known, bool* add_bos, TokenizerParts* parts, Error* err) {
  const auto set = [=](const auto& pre) {
    if (pre.nfc) parts->steps.push_back({tok::kStepNfc, 0, {}, {}, {}, 3, 0});
    parts->ignore_merges = pre.ignore_merges;
    *add_bos = pre.add_bos;
    *known = true;
  };
  for (const KnownPre& pre : kPres) {
    if (pre.name != name) continue;
    parts->splits = splits_of(pre);
    set(pre);
  }
  for (const PatternPre& pre : kPatternPres) {
    if (pre.name != name) continue;
    for (const char* pattern : pre.patterns)
      if (pattern) LINNET_TRY(add_split(pattern, "tokenizer.ggml.pre", parts, err));
    parts->gguf_pre = name;
    set(pre);
  }
  if (std::find(std::begin(kSpacedPres), std::end(kSpacedPres), name) != std::end(kSpacedPres)) {
    parts->kind = tok::kSpm;
    parts->solid_spaces = parts->fuse_unk = *known = true;
  }
  return LINNET_OK;
}

std::string pre_name(const TokenizerParts& parts) {
  const bool nfc = parts.steps.size() == 1 && parts.steps[0].op == tok::kStepNfc;
  if (parts.prefix != tok::kPrefixNever || (!nfc && !parts.steps.empty())) return {};  // no name stands for these
  std::string_view close;
  const auto fits = [&](const auto& pre) {
    if (close.empty()) close = pre.name;
    return pre.ignore_merges == parts.ignore_merges && pre.nfc == nfc;
  };
  for (const KnownPre& pre : kPres)
    if (splits_of(pre) == parts.splits && fits(pre)) return std::string(pre.name);
  for (const PatternPre& pre : kPatternPres) {
    const auto end = std::find(std::begin(pre.patterns), std::end(pre.patterns), nullptr);
    const bool same = std::equal(pre.patterns, end, parts.splits.begin(), parts.splits.end(),
                                 [&parts](const char* pattern, uint32_t split) { return is_split(pattern, split, parts); });
    if (same && fits(pre)) return std::string(pre.name);
  }
  return std::string(close);
}

}  // namespace linnet::convert
