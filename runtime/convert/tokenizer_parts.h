// What every kind of tokenizer file is read into, before build_tokenizer makes the blob of it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../tokenizer/blob.h"
#include "split_pattern.h"
#include "tokenizer_build.h"

namespace linnet::convert {

inline constexpr size_t kMaxTokenBytes = 4096;  // longest spelling of a token
inline constexpr size_t kMaxAddedBytes = 512;   // longest token that is looked for in texts
inline constexpr size_t kMaxTokenizerFile = size_t{128} << 20;

enum TokenType : int32_t { kNormal = 1, kUnknownType = 2, kControlType = 3, kUserType = 4, kUnusedType = 5, kByteType = 6 };  // as in GGUF

struct AddedToken {
  uint32_t id = 0;
  std::string text;  // as written out
  bool special = false, lstrip = false, rstrip = false, single_word = false;
  bool normalized = false;     // found in the normalised text, not in the text as it is
  bool in_vocabulary = false;  // the vocabulary has it, too; set by add_added
};

struct Merge {
  uint32_t left, right, result;
};

struct CharRule {
  uint32_t first, last;
  std::string text;
};
struct NormalStep {
  tok::StepOp op;
  uint32_t arg = 0;                // kStepStrip
  std::string from = {}, to = {};  // replacements
  std::vector<CharRule> map = {};  // kStepMap, in order
  uint32_t growth = 1, slack = 0;
  uint32_t pattern = 0;  // kStepPattern: of TokenizerParts::patterns
};

// What a decoder makes of each token by itself, from its spelling on; `first` where it begins a text.
struct ShowStep {
  enum Kind : uint8_t {
    kReplace,  // `from` becomes `to`, or "" where it is first and strips
    kBytes,    // "<0x0A>" is the byte
    kStrip,    // up to `start` times `from` at the beginning goes, and up to `stop` times at the end; of the first only, if it strips
    kWords,    // a space in front, but of what begins with `from`, which goes; not where it is first
    kClean,    // the spaces in front of English punctuation go
    kJoin,     // a space in front, but where it is first
    kLetters   // a token of letters that stand for bytes is these bytes
  } kind;
  std::string from = {}, to = {};
  uint32_t start = 0, stop = 0;
  bool strips_first = false;
};

struct TokenizerParts {
  PathName label = "";  // the file, for error texts
  tok::Kind kind = tok::kByteLevel;
  std::vector<tok::Split> splits;
  std::vector<SplitTables> patterns;  // of kSplitPattern and on
  std::vector<NormalStep> steps;
  bool as_spelled = false;    // U+2581 is no space in tokens; of kWordPiece with split_spaces only
  bool late_spaces = false;   // U+2581 is a space from the pre_tokenizer on only
  bool split_spaces = false;  // it becomes one by kSplitSpaces and its kin, if at all
  bool shows_steps = false;   // tokens decode to what `shows` makes of them
  std::vector<ShowStep> shows;
  std::string charsmap;  // SentencePiece's compiled rules, as the files hold them
  tok::Prefix prefix = tok::kPrefixNever;
  bool ignore_merges = false, fuse_unk = false, strip_space = false, strip_spaces = false;
  bool all_letters = false;            // each letter that stands for a byte is in the vocabulary
  bool no_unknown = false;             // texts that need an unknown token are refused
  bool float_scores = false;           // kUnigram
  std::string unknown_text;            // what the unknown token decodes to, "" = its spelling
  bool cleanup = false;                // kWordPiece: decoding takes out spaces in front of punctuation
  uint32_t max_chars = 100;            // kWordPiece
  std::string continuing = "##";       // kWordPiece
  std::string front, behind;           // kSpm: what characters of a word have in front but for the first, and the last one behind it
  bool ends_shown = false;             // tokens decode to what they spell, with spaces for `behind`, but for the last one's
  bool solid_spaces = false;           // the normalizer writes U+2581 for spaces, before added tokens are looked for
  bool prefixed_added = false;         // normalising an added token puts the space of kPrefixSegment in front of it, too
  std::vector<std::string> tokens;     // by id, as the file spells them: byte-level ones in GPT-2's letters for bytes, SPM ones with U+2581
  std::vector<int32_t> types;          // TokenType
  std::vector<double> scores;          // kSpm: merges follow from them where there are some; kUnigram
  std::vector<Merge> merges;           // best first
  std::vector<uint32_t> merge_ranks;   // where some merges are as good as others; empty: none is
  std::vector<AddedToken> added;       // by add_added
  std::vector<bool> is_added;          // by id
  uint32_t n_rows = UINT32_MAX;        // of the model's embedding
  uint32_t n_left_out = 0;             // added tokens that have none
  std::vector<std::string> notes;      // see TokenizerBlob
  std::vector<int32_t> before, after;  // ids put around a text
  int32_t bos_id = -1, eos_id = -1, unk_id = -1;
  std::vector<uint32_t> eog;  // ids that end a generation, eos_id and well-known names aside
  std::string gguf_pre;
};

// Numbers by key, in two blocks of memory: with a node for each of some 100,000 keys, as std::unordered_map has them, a table takes most of
// the time in which a tokenizer is built, waiting for memory. What find() and try_emplace() point to stays until the next key comes.
template <class Key>
class Lookup {
 public:
  struct Entry {
    Key first;
    uint32_t second;
  };
  const Entry* end() const { return nullptr; }  // of find(): there is none
  const Entry* find(const Key& key) const {
    if (slots_.empty()) return nullptr;
    const uint64_t hash = hash_of(key);
    const size_t at = place(key, hash);
    return slots_[at] ? &entries_[index(slots_[at])] : nullptr;
  }
  std::pair<Entry*, bool> try_emplace(const Key& key, uint32_t value) {
    if (2 * entries_.size() >= slots_.size()) reserve(2 * entries_.size() + 8);
    const uint64_t hash = hash_of(key);
    const size_t at = place(key, hash);
    const bool is_new = slots_[at] == 0;
    if (is_new) {
      entries_.push_back({key, value});
      slots_[at] = (hash & ~kIndex) | entries_.size();
    }
    return {&entries_[index(slots_[at])], is_new};
  }
  void reserve(size_t n) {
    size_t slots = 16;
    while (slots < 2 * n) slots *= 2;
    if (slots <= slots_.size()) return;
    entries_.reserve(n);
    slots_.assign(slots, 0);
    for (size_t i = 0; i < entries_.size(); ++i) {
      const uint64_t hash = hash_of(entries_[i].first);
      slots_[place(entries_[i].first, hash)] = (hash & ~kIndex) | (i + 1);
    }
  }

 private:
  static constexpr uint64_t kIndex = 0xFFFFFFFF;  // of a slot: the entry's number, counted from 1; above it bits of its hash
  static size_t index(uint64_t slot) { return static_cast<size_t>(slot & kIndex) - 1; }
  static uint64_t hash_of(const Key& key) {
    const uint64_t h = std::hash<Key>()(key) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
  }
  // Where the key is, or is to be.
  size_t place(const Key& key, uint64_t hash) const {
    size_t at = static_cast<size_t>(hash) & (slots_.size() - 1);
    while (slots_[at] && ((slots_[at] ^ hash) > kIndex || entries_[index(slots_[at])].first != key)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<Entry> entries_;
  std::vector<uint64_t> slots_;
};

// Ids by spelling. The keys point into `tokens`, which must not change meanwhile. BAD_FILE where two ids are spelled alike.
using Vocabulary = Lookup<std::string_view>;
Status vocabulary(const TokenizerParts& parts, Vocabulary* out, Error* err);

// Adds the merge "left right". A line with more spaces than one is cut where both sides and the whole are tokens.
Status add_merge(const Vocabulary& vocabulary, std::string_view line, TokenizerParts* parts, Error* err);
Status add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, TokenizerParts* parts, Error* err);

// Takes over an added token: its id is a token of that text, or the next free id. Twice the same is fine. One that is no token of the
// vocabulary and has no row in the model is left out, which a note says: no output of the model can be it, and it has no embedding.
Status add_added(AddedToken token, TokenizerParts* parts, Error* err);

// The steps of these normalisers.
NormalStep lowercase_step();
NormalStep strip_accents_step();
NormalStep nmt_step();
void add_compatible(bool compose, TokenizerParts* parts);  // NFKC, NFKD
void add_bert_normalizer(bool clean, bool strip_accents, bool lowercase, TokenizerParts* parts);
NormalStep replace_step(tok::StepOp op, std::string from, std::string to);

// A trie of keys (sorted, unique, without bytes 0) as trie.h reads it.
std::vector<uint32_t> build_trie(const std::vector<std::pair<std::string, uint32_t>>& keys);
// Takes compiled rules apart; what they can make of a text is *growth times as long at most.
Status read_charsmap(std::string_view bytes, PathName label, std::vector<uint32_t>* units, std::string_view* texts, uint32_t* growth,
                     Error* err);

// A name for tokenizer.ggml.pre that stands for these splits and steps, "" where there is none.
std::string pre_name(const TokenizerParts& parts);
// The splits, and what else models of that name have in common; a copy of the name, since gguf_pre is set. *known: there is such a name.
Status add_pre(std::string name, bool* known, bool* add_bos, TokenizerParts* parts, Error* err);
// Whether add_split made this split of the pattern.
bool is_split(std::string_view pattern, uint32_t split, const TokenizerParts& parts);

Status build_tokenizer(const TokenizerParts& parts, TokenizerBlob* out, Error* err);

// Files beside the tokenizer's own; "" = there is none.
struct SideTexts {
  std::string tokenizer_config, generation_config, config;
  std::string spm;  // tokenizer.model beside a tokenizer.json, for respell
  std::string special_tokens_map = {};
  std::string added_tokens = {};  // added_tokens.json, where there is no tokenizer.json
  uint32_t n_rows = UINT32_MAX;   // of the model's embedding
};
// The special tokens that tokenizer_config.json and special_tokens_map.json name.
enum SpecialName : uint32_t { kBosName, kEosName, kUnkName, kClsName, kSepName, kPadName, kMaskName, kSpecialNames };
struct NamedToken {
  std::string text;  // "" = not named
  const char *key = "", *file = "";
};
struct Sides {
  bool has_tokenizer_config = false;
  std::string tokenizer_class;
  NamedToken names[kSpecialNames];
  std::vector<NamedToken> more;                                        // additional_special_tokens, extra_special_tokens
  int add_bos = -1, add_eos = -1, legacy = -1, add_prefix_space = -1;  // -1: not said
  int lowercase = -1, strip_accents = -1, han = -1, basic = -1;        // of BERT's tokenizer
  std::vector<AddedToken> added;
  int64_t bos_id = -1;           // of generation_config.json or config.json
  std::vector<int64_t> eos_ids;  // likewise
};
Status read_sides(const SideTexts& texts, Sides* out, Error* err);
// For folders without tokenizer.json: added tokens, then the special tokens that are named and in the vocabulary.
Status add_from_sides(const Sides& sides, TokenizerParts* parts, Error* err);
// Fills bos_id, eos_id and eog, after tokens and added are complete. A name that is no token is refused where nothing else says which token
// begins or ends a text, and noted otherwise.
Status apply_sides(const Sides& sides, TokenizerParts* parts, Error* err);

// tokenizer.json; vocab.json and merges.txt (prefix "" or "gpt2_" names the files); vocab.txt, a piece a line (BERT); tokenizer.model.
Status tokenizer_from_json(std::string_view text, const SideTexts& sides, TokenizerBlob* out, Error* err);
Status tokenizer_from_vocab(std::string_view vocab, std::string_view merges, bool gpt2, const SideTexts& sides, TokenizerBlob* out,
                            Error* err);
Status tokenizer_from_pieces(std::string_view vocab, const SideTexts& sides, TokenizerBlob* out, Error* err);
// tekken.json; tiktoken.model.
Status tokenizer_from_tekken(std::string_view text, const SideTexts& sides, TokenizerBlob* out, Error* err);
Status tokenizer_from_tiktoken(std::string_view text, const SideTexts& sides, TokenizerBlob* out, Error* err);
Status tokenizer_from_spm(std::string_view model, const SideTexts& sides, TokenizerBlob* out, Error* err);

// Published copies of tokenizer.json exist in which U+00A0 has become a plain space, so that its tokens are never found. Where the
// tokenizer.model beside it spells such a token otherwise, and only there, its spelling is taken.
Status respell(std::string_view model, TokenizerParts* parts, Error* err);

// The splitter of a pattern that is written out, or the pattern's tables; byte-level, each match and each gap a word. Sets gguf_pre.
Status add_split(std::string_view pattern, const char* label, TokenizerParts* parts, Error* err);
extern const char* const kKimiPattern;  // which GGUF has a name for, too

// The bytes of a base64 text are appended; false if it is none.
bool decode_base64(std::string_view text, std::string* out);

// "<0x0A>" -> 10, else -1.
int byte_of_spelling(std::string_view s);
// The byte that a letter of a byte-level token stands for, -1 if it is none.
int byte_of_letter(uint32_t code);
// U+2581 -> ' '
std::string with_spaces(std::string_view spelled);

}  // namespace linnet::convert
