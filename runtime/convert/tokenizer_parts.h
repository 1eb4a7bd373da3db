// What every kind of tokenizer file is read into, before build_tokenizer makes the blob of it.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../tokenizer/blob.h"
#include "tokenizer_build.h"

namespace linnet::convert {

inline constexpr size_t kMaxTokenBytes = 4096;  // longest spelling of a token
inline constexpr size_t kMaxAddedBytes = 512;   // longest token that is looked for in texts
inline constexpr size_t kMaxTokenizerFile = size_t{128} << 20;

enum TokenType : int32_t { kNormal = 1, kUnknownType = 2, kControlType = 3, kUserType = 4, kUnusedType = 5, kByteType = 6 };  // as in GGUF

struct AddedToken {
  uint32_t id = 0;
  std::string text;  // as written out
  bool special = false, lstrip = false, rstrip = false;
  bool normalized = false;  // found in the normalised text, not in the text as it is
};

struct Merge {
  uint32_t left, right, result;
};

struct TokenizerParts {
  const char* label = "";  // the file, for error texts
  tok::Kind kind = tok::kByteLevel;
  tok::Split split = tok::kSplitNone;
  tok::Prefix prefix = tok::kPrefixNever;
  bool nfc = false, ignore_merges = false, fuse_unk = false, strip_space = false;
  bool prefixed_added = false;         // normalising an added token puts the space of kPrefixSegment in front of it, too
  std::vector<std::string> tokens;     // by id, as the file spells them: byte-level ones in GPT-2's letters for bytes, SPM ones with U+2581
  std::vector<int32_t> types;          // TokenType
  std::vector<float> scores;           // not empty: merges follow from them
  std::vector<Merge> merges;           // best first
  std::vector<AddedToken> added;       // by add_added
  std::vector<bool> is_added;          // by id
  std::vector<int32_t> before, after;  // ids put around a text
  int32_t bos_id = -1, eos_id = -1, unk_id = -1;
  std::vector<uint32_t> eog;  // ids that end a generation, eos_id and well-known names aside
  std::string gguf_pre;
};

// Ids by spelling. The keys point into `tokens`, which must not change meanwhile. BAD_FILE where two ids are spelled alike.
using Vocabulary = std::unordered_map<std::string_view, uint32_t>;
Status vocabulary(const TokenizerParts& parts, Vocabulary* out, Error* err);

// Adds the merge "left right". A line with more spaces than one is cut where both sides and the whole are tokens.
Status add_merge(const Vocabulary& vocabulary, std::string_view line, TokenizerParts* parts, Error* err);
Status add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, TokenizerParts* parts, Error* err);

// Takes over an added token: its id is a token of that text, or the next free id. Twice the same is fine.
Status add_added(AddedToken token, TokenizerParts* parts, Error* err);

Status build_tokenizer(const TokenizerParts& parts, TokenizerBlob* out, Error* err);

// Files beside the tokenizer's own; "" = there is none.
struct SideTexts {
  std::string tokenizer_config, generation_config, config;
  std::string spm;  // tokenizer.model beside a tokenizer.json, for respell
};
struct Sides {
  bool has_tokenizer_config = false;
  std::string tokenizer_class, bos_token, eos_token;
  int add_bos = -1, add_eos = -1, legacy = -1, add_prefix_space = -1;  // -1: not said
  std::vector<AddedToken> added;
  int64_t bos_id = -1;           // of generation_config.json or config.json
  std::vector<int64_t> eos_ids;  // likewise
};
Status read_sides(const SideTexts& texts, Sides* out, Error* err);
// Fills bos_id, eos_id and eog, after tokens and added are complete.
Status apply_sides(const Sides& sides, TokenizerParts* parts, Error* err);

// tokenizer.json; vocab.json and merges.txt (prefix "" or "gpt2_" names the files); tokenizer.model.
Status tokenizer_from_json(std::string_view text, const SideTexts& sides, TokenizerBlob* out, Error* err);
Status tokenizer_from_vocab(std::string_view vocab, std::string_view merges, bool gpt2, const SideTexts& sides, TokenizerBlob* out,
                            Error* err);
Status tokenizer_from_spm(std::string_view model, const SideTexts& sides, TokenizerBlob* out, Error* err);

// Published copies of tokenizer.json exist in which U+00A0 has become a plain space, so that its tokens are never found. Where the
// tokenizer.model beside it spells such a token otherwise, and only there, its spelling is taken.
Status respell(std::string_view model, TokenizerParts* parts, Error* err);

// The byte that a letter of a byte-level token stands for, -1 if it is none.
int byte_of_letter(uint32_t code);
// U+2581 -> ' '
std::string with_spaces(std::string_view spelled);

}  // namespace linnet::convert
