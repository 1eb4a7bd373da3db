#include "tokenizer_build.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "../tokenizer/unicode.h"
#include "json.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

// Letters of byte-level tokens: printable Latin-1 bytes stand for themselves, the others follow from U+0100 on.
bool stands_for_itself(uint32_t byte) { return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD && byte < 0x100); }

// What a byte-level token decodes to; false if a letter stands for no byte.
bool decode_letters(std::string_view spelled, std::string* out) {
  out->clear();
  for (size_t i = 0; i < spelled.size();) {
    const Char c = next_char(spelled.data() + i, spelled.size() - i);
    const int byte = byte_of_letter(c.code);
    if (byte < 0) return false;
    out->push_back(static_cast<char>(byte));
    i += c.bytes;
  }
  return true;
}

bool is_one_char(std::string_view s) { return !s.empty() && next_char(s.data(), s.size()).bytes == s.size(); }

constexpr size_t kMaxLoose = 16;  // slots per entry, where a hostile file makes all entries collide
constexpr size_t kMaxMerges = size_t{16} << 20;
constexpr uint64_t kMaxAllText = uint64_t{256} << 20;  // bytes of all tokens

// Names that end an answer in published chat formats.
constexpr std::string_view kEndNames[] = {"<|eot_id|>",    "<|eom_id|>",    "<|end_of_text|>", "<|im_end|>", "<|end|>",
                                          "<|endoftext|>", "<end_of_turn>", "<EOT>",           "<|return|>", "<|end_of_sentence|>"};

class Builder {
 public:
  Builder(const TokenizerParts& parts, TokenizerBlob* out, Error* err) : p_(parts), out_(out), err_(err), types_(parts.types) {}

  Status run() {
    LINNET_TRY(check());
    spelled_ = p_.tokens;
    LINNET_TRY(texts());
    if (p_.shows_steps) shows();
    LINNET_TRY(steps());
    if (!merges()) {
      LINNET_TRY(pieces());
    } else if (p_.scores.empty()) {
      merges_ = p_.merges;
      for (uint32_t i = 0; i < merges_.size(); ++i) ranks_.push_back(p_.merge_ranks.empty() ? i : p_.merge_ranks[i]);
    } else {
      LINNET_TRY(merges_of_scores());
    }
    LINNET_TRY(merge_table());
    LINNET_TRY(word_table());
    LINNET_TRY(added_list(false));
    write_blob();
    // The writer and the checker of the tables must agree; the steps run on added tokens, too.
    Tokenizer t;
    LINNET_TRY(tokenizer_open(out_->bytes.data(), out_->bytes.size(), n_tokens(), &t, err_));
    const std::vector<uint8_t> first = out_->bytes;
    t.blob = first.data();
    tables_ = t;
    if (std::any_of(p_.added.begin(), p_.added.end(), [](const AddedToken& a) { return a.normalized; })) {
      // What normalising puts in front of a token is part of it: the space in front of "<s>" was taken with it, and comes back.
      for (const AddedToken& a : p_.added) {
        if (!a.normalized) continue;
        spelled_[a.id] = normal_text(a.text, false);
        if (metaspaced())
          texts_[a.id] = normal_text(a.text, true);
        else if (p_.ends_shown || (byte_level() && spelled_[a.id] != a.text))
          texts_[a.id] = spelled_[a.id];
        if (p_.kind == tok::kWordPiece) texts_[a.id] = wordpiece_text(a.id);
      }
      if (p_.shows_steps) shows();
      LINNET_TRY(added_list(true));
      LINNET_TRY(check_merges());
      write_blob();
      LINNET_TRY(tokenizer_open(out_->bytes.data(), out_->bytes.size(), n_tokens(), &t, err_));
    }
    describe();
    return LINNET_OK;
  }

 private:
  uint32_t n_tokens() const { return static_cast<uint32_t>(p_.tokens.size()); }
  bool spm() const { return p_.kind == tok::kSpm; }
  bool merges() const { return p_.kind == tok::kSpm || p_.kind == tok::kByteLevel; }
  // Tokens have ' ' for U+2581.
  bool metaspaced() const { return (p_.kind == tok::kWordPiece ? p_.split_spaces : !byte_level()) && !p_.as_spelled; }
  // Where no token is looked for in normalised texts the tables need not say so.
  bool late() const {
    return metaspaced() && p_.late_spaces && !p_.split_spaces && p_.prefix != tok::kPrefixWord &&
           std::any_of(p_.added.begin(), p_.added.end(), [](const AddedToken& a) { return a.normalized; });
  }
  bool byte_level() const { return p_.kind == tok::kByteLevel; }
  bool affixed() const { return spm() && !(p_.front.empty() && p_.behind.empty()); }

  Status check() {
    if (p_.tokens.empty() || p_.tokens.size() > tok::kMaxTokens)
      return fail(err_, LINNET_BAD_FILE, p_.label, ": ", p_.tokens.size(), " tokens, must be 1 to ", tok::kMaxTokens);
    uint64_t all_text = 0;
    for (const std::string& token : p_.tokens) all_text += token.size();
    if (all_text > kMaxAllText)
      return fail(err_, LINNET_UNSUPPORTED, p_.label, ": ", all_text, " bytes of tokens, more than ", kMaxAllText);
    for (uint32_t i = 0; i < n_tokens(); ++i)
      if (p_.tokens[i].size() > kMaxTokenBytes)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": token ", i, " has ", p_.tokens[i].size(), " bytes, more than ", kMaxTokenBytes);
    for (uint32_t i = 0; i < p_.scores.size(); ++i)
      if (!std::isfinite(p_.scores[i])) return fail(err_, LINNET_BAD_FILE, p_.label, ": the score of token ", i, " is not finite");
    if (p_.kind == tok::kUnigram && p_.scores.size() != p_.tokens.size())
      return fail(err_, LINNET_BAD_FILE, p_.label, ": ", p_.scores.size(), " scores for ", p_.tokens.size(), " tokens");
    if (p_.splits.size() > tok::kMaxSplits || p_.steps.size() > tok::kMaxSteps)
      return fail(err_, LINNET_UNSUPPORTED, p_.label, ": ", p_.splits.size(), " steps of the pre_tokenizer and ", p_.steps.size(),
                  " of the normalizer, more than ", tok::kMaxSplits, " and ", tok::kMaxSteps);
    uint32_t growth = 1;
    for (const tok::Split split : p_.splits) growth *= tok::split_growth(split);
    if (growth > tok::kMaxSplitGrowth)
      return fail(err_, LINNET_UNSUPPORTED, p_.label, ": the pre_tokenizer may make a text ", growth, " times longer, the limit is ",
                  tok::kMaxSplitGrowth);
    if (p_.before.size() > tok::kMaxAround || p_.after.size() > tok::kMaxAround)
      return fail(err_, LINNET_UNSUPPORTED, p_.label, ": more than ", tok::kMaxAround, " special tokens before or after a text");
    return LINNET_OK;
  }

  // What each token decodes to, and the bytes' tokens.
  Status texts() {
    std::fill(std::begin(byte_ids_), std::end(byte_ids_), -1);
    texts_.resize(n_tokens());
    // Trainers know no other way to get byte tokens into a vocabulary than to list them as special ones: bytes they are all the same.
    for (const AddedToken& a : p_.added)
      if (types_[a.id] != kByteType && !(a.special && types_[a.id] == kUnknownType)) types_[a.id] = a.special ? kControlType : kUserType;
    for (uint32_t i = 0; i < n_tokens(); ++i) {
      const std::string& spelled = p_.tokens[i];
      const int32_t type = types_[i];
      if (p_.kind == tok::kWordPiece) {
        texts_[i] = wordpiece_text(i);
      } else if (!byte_level()) {
        const int byte = type == kByteType ? byte_of_spelling(spelled) : -1;
        if (type == kByteType && byte < 0) return fail(err_, LINNET_BAD_FILE, p_.label, ": byte token ", i, " is spelled '", spelled, "'");
        texts_[i] = byte >= 0 ? std::string(1, static_cast<char>(byte)) : p_.as_spelled ? spelled : with_spaces(spelled);
        if (byte >= 0) byte_ids_[byte] = static_cast<int32_t>(i);
      } else if (type != kNormal || !decode_letters(spelled, &texts_[i])) {
        texts_[i] = spelled;
      } else if (texts_[i].size() == 1) {
        byte_ids_[static_cast<uint8_t>(texts_[i][0])] = static_cast<int32_t>(i);
      }
    }
    if (!p_.unknown_text.empty() && p_.unk_id >= 0) texts_[static_cast<size_t>(p_.unk_id)] = p_.unknown_text;
    // An added token may be a vocabulary entry, too, which then has to encode its byte.
    for (const AddedToken& a : p_.added) {
      std::string decoded;
      if (p_.kind == tok::kByteLevel && a.in_vocabulary && decode_letters(p_.tokens[a.id], &decoded) && decoded.size() == 1 &&
          byte_ids_[static_cast<uint8_t>(decoded[0])] < 0)
        byte_ids_[static_cast<uint8_t>(decoded[0])] = static_cast<int32_t>(a.id);
    }
    return LINNET_OK;
  }

  // What tokens decode to, where a decoder does more than the kind of tokenizer says.
  void shows() {
    bool same = true;
    shown_.clear();
    for (uint32_t i = 0; i < n_tokens(); ++i)
      for (const bool first : {false, true}) {
        std::string s = spelled_[i];
        for (const ShowStep& step : p_.shows) show(step, first, &s);
        same = same && s == texts_[i];
        shown_.push_back(std::move(s));
      }
    if (same) shown_.clear();
  }
  static void show(const ShowStep& step, bool first, std::string* s) {
    const size_t n = step.from.size();
    if (step.kind == ShowStep::kReplace) {
      const std::string_view to = first && step.strips_first ? std::string_view() : step.to;
      for (size_t at = 0; (at = s->find(step.from, at)) != s->npos; at += to.size()) s->replace(at, n, to);
    } else if (step.kind == ShowStep::kBytes) {
      if (const int byte = byte_of_spelling(*s); byte >= 0) *s = std::string(1, static_cast<char>(byte));
    } else if (step.kind == ShowStep::kStrip) {
      for (uint32_t k = 0; k < step.start && s->starts_with(step.from) && (first || !step.strips_first); ++k) s->erase(0, n);
      for (uint32_t k = 0; k < step.stop && s->ends_with(step.from); ++k) s->resize(s->size() - n);
    } else if (step.kind == ShowStep::kClean) {
      clean_up(s);
    } else if (step.kind == ShowStep::kLetters) {
      if (std::string bytes; decode_letters(*s, &bytes)) *s = std::move(bytes);
    } else if (!first && step.kind == ShowStep::kWords && n && s->starts_with(step.from)) {
      s->erase(0, n);
    } else if (!first) {
      s->insert(0, " ");
    }
  }

  bool continues(uint32_t id) const {
    return p_.kind == tok::kWordPiece && types_[id] == kNormal && !p_.continuing.empty() &&
           p_.tokens[id].compare(0, p_.continuing.size(), p_.continuing) == 0;
  }
  // A word brings the space in front of it; the marks of English punctuation take it away again.
  std::string wordpiece_text(uint32_t id) const {
    if (continues(id)) return p_.tokens[id];
    std::string s = " " + spelled_[id];
    if (p_.cleanup) clean_up(&s);
    return s;
  }
  static void clean_up(std::string* s) {
    constexpr std::pair<std::string_view, std::string_view> kCleanup[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kCleanup)
      for (size_t at = 0; (at = s->find(from, at)) != s->npos; at += to.size()) s->replace(at, from.size(), to);
  }

  // The steps of normalising and their tables.
  Status steps() {
    uint64_t growth = 1, slack = 0;
    const auto text = [this](std::string_view s) {
      normal_text_ += s;
      return static_cast<uint32_t>(normal_text_.size() - s.size());
    };
    for (const NormalStep& step : p_.steps) {
      uint32_t arg = step.arg, step_growth = step.growth;
      if (step.op == tok::kStepMap) {
        arg = static_cast<uint32_t>(maps_.size());
        maps_.push_back({static_cast<uint32_t>(ranges_.size()), static_cast<uint32_t>(step.map.size())});
        for (const CharRule& r : step.map) ranges_.push_back({r.first, r.last, text(r.text), static_cast<uint32_t>(r.text.size())});
      } else if (step.op == tok::kStepReplace || step.op == tok::kStepRuns || step.op == tok::kStepPrepend ||
                 step.op == tok::kStepPattern) {
        if (step.from.size() > tok::kMaxPattern || step.to.size() > tok::kMaxPattern)
          return fail(err_, LINNET_UNSUPPORTED, p_.label, ": the normalizer replaces '", step.from, "' by '", step.to, "', longer than ",
                      tok::kMaxPattern);
        arg = step.pattern << 16 | static_cast<uint32_t>(replaces_.size());
        const uint32_t from_at = text(step.from), to_at = text(step.to);
        replaces_.push_back({from_at, static_cast<uint32_t>(step.from.size()), to_at, static_cast<uint32_t>(step.to.size())});
      } else if (step.op == tok::kStepCharsmap || step.op == tok::kStepClusters) {
        LINNET_TRY(read_charsmap(p_.charsmap, p_.label, &charsmap_, &charsmap_text_, &step_growth, err_));
        if (step.op == tok::kStepCharsmap) step_growth = std::max(step_growth, 3u);  // a bad byte becomes U+FFFD
      }
      header_.steps[header_.n_steps++] = {step.op, arg};
      growth *= step_growth;
      slack = slack * step_growth + step.slack;
      if (growth > tok::kMaxGrowth || slack > tok::kMaxSlack)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": the normalizer may make a text ", growth, " times longer, the limit is ",
                    tok::kMaxGrowth);
    }
    header_.growth = static_cast<uint32_t>(growth);
    header_.slack = static_cast<uint32_t>(slack);
    for (const tok::Split split : p_.splits) header_.splits[header_.n_splits++] = split;
    if (affixed()) {
      const std::string both = p_.front + '\0' + p_.behind;
      if (both.size() > tok::kMaxPattern)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": a subword prefix and suffix of ", both.size() - 1, " bytes");
      header_.cont_at = text(both);
      header_.cont_bytes = static_cast<uint32_t>(both.size());
    }
    return LINNET_OK;
  }

  // Tokens that the model finds in plain text: normal ones, and in a tokenizer.json those of its vocabulary that are added, if not special.
  std::vector<bool> plain_tokens() const {
    std::vector<bool> out(n_tokens());
    for (uint32_t i = 0; i < n_tokens(); ++i) out[i] = types_[i] == kNormal;
    const bool merged = p_.kind == tok::kByteLevel || (spm() && !p_.as_spelled && !p_.split_spaces);  // of which the merges know the others
    for (const AddedToken& a : p_.added) out[a.id] = out[a.id] || (!merged && a.in_vocabulary && types_[a.id] == kUserType);
    return out;
  }

  // The trie of Unigram and WordPiece.
  Status pieces() {
    const std::vector<bool> plain = plain_tokens();
    std::vector<std::pair<std::string, uint32_t>> keys;
    double least = INFINITY;
    for (uint32_t i = 0; i < n_tokens(); ++i) {
      if (p_.kind == tok::kUnigram && (types_[i] == kNormal || !p_.float_scores)) least = std::min(least, p_.scores[i]);
      const std::string key = p_.kind == tok::kUnigram ? texts_[i] : metaspaced() ? with_spaces(p_.tokens[i]) : p_.tokens[i];
      if (!plain[i] || key.empty() || key.find('\0') != key.npos) continue;
      if (metaspaced() && p_.tokens[i].find(' ') != std::string::npos) continue;  // as in word_table
      bool whole = true;
      for (size_t at = 0; at < key.size();) {
        const Char c = next_char(key.data() + at, key.size() - at);
        whole = whole && c.code != kBadByte;
        at += c.bytes;
      }
      if (!whole) continue;
      if (key.size() > tok::kMaxPiece)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": piece ", i, " has ", key.size(), " bytes, more than ", tok::kMaxPiece);
      header_.max_piece = std::max(header_.max_piece, static_cast<uint32_t>(key.size()));
      keys.emplace_back(key, i);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first == b.first; }), keys.end());
    trie_ = build_trie(keys);
    if (p_.kind == tok::kUnigram) {
      scores_ = p_.scores;
      header_.unknown_score = std::isfinite(least) ? least - 10 : -10;
      if (p_.float_scores) header_.unknown_score = static_cast<float>(header_.unknown_score);
    } else {
      header_.max_chars = p_.max_chars;
      const std::string continuing = metaspaced() ? with_spaces(p_.continuing) : p_.continuing;
      header_.hidden = static_cast<uint32_t>(p_.continuing.size());
      header_.cont_bytes = static_cast<uint32_t>(continuing.size());
      if (header_.hidden > tok::kMaxPattern)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": a continuing_subword_prefix of ", header_.hidden, " bytes");
      header_.cont_at = static_cast<uint32_t>(normal_text_.size());
      normal_text_ += continuing;
    }
    return LINNET_OK;
  }

  // Reachable by merging plain text. Keeping control tokens out is what keeps a text from forging them.
  bool mergeable(uint32_t id) const { return types_[id] == kNormal || types_[id] == kUserType || types_[id] == kUnusedType; }

  // SentencePiece merges any two neighbours whose joint text is a piece, best score first. All pairs that make a piece, ahead of time.
  Status merges_of_scores() {
    Vocabulary symbols;
    symbols.reserve(n_tokens());
    std::vector<uint32_t> pieces;
    for (uint32_t i = 0; i < n_tokens(); ++i)
      if (types_[i] == kNormal && p_.tokens[i].find(' ') == std::string::npos && symbols.try_emplace(texts_[i], i).second)
        pieces.push_back(i);
    // Characters that only stand inside pieces become symbols of their own.
    std::vector<double> levels;
    for (const uint32_t id : pieces) {
      levels.push_back(p_.scores[id]);
      const std::string_view text = texts_[id];
      if (text.size() > kMaxAddedBytes)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": piece ", id, " has ", text.size(), " bytes, more than ", kMaxAddedBytes);
      for (size_t i = 0; i < text.size();) {
        const Char c = next_char(text.data() + i, text.size() - i);
        if (c.bytes < text.size() && symbols.find(text.substr(i, c.bytes)) == symbols.end()) {
          texts_.emplace_back(text.substr(i, c.bytes));
          symbols.try_emplace(texts_.back(), static_cast<uint32_t>(texts_.size() - 1));
        }
        i += c.bytes;
      }
    }
    std::sort(levels.begin(), levels.end(), std::greater<double>());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (const uint32_t id : pieces) {
      const std::string_view text = texts_[id];
      const auto rank = std::lower_bound(levels.begin(), levels.end(), p_.scores[id], std::greater<double>()) - levels.begin();
      for (size_t i = 0; i < text.size();) {
        i += next_char(text.data() + i, text.size() - i).bytes;
        if (i >= text.size()) break;
        const auto left = symbols.find(text.substr(0, i)), right = symbols.find(text.substr(i));
        if (left == symbols.end() || right == symbols.end()) continue;
        if (merges_.size() == kMaxMerges)
          return fail(err_, LINNET_UNSUPPORTED, p_.label, ": more than ", kMaxMerges, " pairs of pieces make a piece");
        merges_.push_back({left->second, right->second, id});
        ranks_.push_back(static_cast<uint32_t>(rank));
      }
    }
    return LINNET_OK;
  }

  // See kWordwise. Runs of unknown characters must not be cut either, so the space has to be a symbol.
  bool wordwise() const {
    if (!spm() || p_.ignore_merges || affixed()) return false;
    for (const tok::MergeSlot& slot : merge_slots_) {
      if (slot.left == tok::kEmpty) continue;
      const std::string& s = texts_[slot.result];
      for (size_t i = 1; i < s.size(); ++i)
        if (s[i] == ' ' && s[i - 1] != ' ') return false;
    }
    for (const uint32_t word : word_slots_)
      if (word && texts_[word - 1] == " ") return true;
    return false;
  }

  Status merge_table() {
    const auto plain = [this](uint32_t id) { return id >= n_tokens() || mergeable(id); };
    Lookup<uint64_t> last;  // of merges named twice the last one counts, as in the reference
    std::vector<size_t> order;
    last.reserve(merges_.size());
    for (size_t i = 0; i < merges_.size(); ++i) {
      const Merge& m = merges_[i];
      if (!plain(m.left) || !plain(m.right) || !plain(m.result)) continue;
      const auto [at, is_new] = last.try_emplace(uint64_t{m.left} << 32 | m.right, static_cast<uint32_t>(order.size()));
      if (is_new)
        order.push_back(i);
      else
        order[at->second] = i;
    }
    for (uint64_t slots = order.empty() ? 0 : order.size() * 5 / 3 + 1;; slots += slots / 4 + 1) {
      merge_slots_.assign(slots, {tok::kEmpty, 0, 0, 0});
      merge_probe_ = 0;
      for (const size_t i : order) {
        const Merge& m = merges_[i];
        const uint32_t home = tok::home_slot(tok::pair_hash(m.left, m.right), static_cast<uint32_t>(slots));
        uint32_t at = home, tries = 1;
        for (; merge_slots_[at].left != tok::kEmpty; ++tries) at = at + 1 == slots ? 0 : at + 1;
        merge_slots_[at] = {m.left, m.right, ranks_[i], m.result};
        merge_probe_ = std::max(merge_probe_, tries);
      }
      if (merge_probe_ <= tok::kMaxProbe) return LINNET_OK;
      if (slots > kMaxLoose * order.size()) return fail(err_, LINNET_BAD_FILE, p_.label, ": the merges all collide in a hash table");
    }
  }

  // An added token's text is as the steps leave it, which may not be what the merges put together.
  Status check_merges() {
    if (p_.kind != tok::kSpm || affixed()) return LINNET_OK;
    for (const tok::MergeSlot& m : merge_slots_)
      if (m.left != tok::kEmpty && texts_[m.left].size() + texts_[m.right].size() != texts_[m.result].size())
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": token ", m.result, " is merged of ", m.left, " and ", m.right,
                    ", whose texts are not its text");
    return LINNET_OK;
  }

  Status word_table() {
    std::vector<uint32_t> ids;
    const std::vector<bool> plain = plain_tokens();
    for (uint32_t i = 0; i < texts_.size(); ++i) {
      if ((i < n_tokens() && !plain[i]) || texts_[i].empty()) continue;
      // The text that is looked up has no ' ' of its own (it stands for U+2581), so a token spelled with one is out of reach.
      const bool reachable = !metaspaced() || i >= n_tokens() || p_.tokens[i].find(' ') == std::string::npos;
      std::string letters;  // a token that is spelled with what is none is no text's bytes
      if (spm() ? reachable && (is_one_char(texts_[i]) || p_.ignore_merges || affixed())
                : byte_level() && p_.ignore_merges && decode_letters(p_.tokens[i], &letters))
        ids.push_back(i);
    }
    for (uint64_t slots = ids.empty() ? 0 : ids.size() * 5 / 3 + 1;; slots += slots / 4 + 1) {
      word_slots_.assign(slots, 0);
      word_probe_ = max_word_ = 0;
      for (const uint32_t id : ids) {
        uint32_t at = tok::home_slot(tok::text_hash(texts_[id]), static_cast<uint32_t>(slots)), tries = 1;
        for (; word_slots_[at]; ++tries) at = at + 1 == slots ? 0 : at + 1;
        word_slots_[at] = id + 1;
        word_probe_ = std::max(word_probe_, tries);
        max_word_ = std::max(max_word_, static_cast<uint32_t>(texts_[id].size()));
      }
      if (word_probe_ <= tok::kMaxProbe) return LINNET_OK;
      if (slots > kMaxLoose * ids.size()) return fail(err_, LINNET_BAD_FILE, p_.label, ": the tokens all collide in a hash table");
    }
  }

  // An added token as it stands in a normalised text.
  std::string normal_text(const std::string& text, bool spaces) const {
    const tok::Tables t(tables_);
    std::string s = text;
    for (uint32_t i = 0; i < header_.n_steps; ++i) {
      std::string next(tok::kMaxGrowth * s.size() + tok::kMaxSlack, '\0');
      std::vector<uint32_t> work(3 * s.size() + 3);
      tok::Writer writer{next.data(), next.size()};
      tok::apply_step(t, header_.steps[i], s, &writer, work.data());
      next.resize(writer.n);
      s = std::move(next);
    }
    return metaspaced() && spaces ? (p_.prefixed_added ? " " : "") + with_spaces(s) : s;
  }

  Status added_list(bool normal) {
    std::vector<std::pair<std::string, const AddedToken*>> list;
    for (const AddedToken& a : p_.added)
      if (a.normalized == normal) list.emplace_back(normal ? normal_text(a.text, !late() && !p_.split_spaces) : a.text, &a);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < list.size(); ++i) {
      const auto& [text, a] = list[i];
      if (text.empty() || text.size() > kMaxAddedBytes)
        return fail(err_, LINNET_UNSUPPORTED, p_.label, ": added token ", a->id, " has ", text.size(), " bytes, must be 1 to ",
                    kMaxAddedBytes);
      if (i && list[i - 1].first == text)
        return fail(err_, normal ? LINNET_UNSUPPORTED : LINNET_BAD_FILE, p_.label, ": added tokens ", list[i - 1].second->id, " and ",
                    a->id, " are both '", text, "'");
      added_[normal].push_back({static_cast<uint32_t>(added_text_.size()), static_cast<uint32_t>(text.size()), a->id,
                                (a->special ? tok::kAddedSpecial : 0u) | (a->lstrip ? tok::kAddedLeftStrip : 0u) |
                                    (a->rstrip ? tok::kAddedRightStrip : 0u) | (a->single_word ? tok::kAddedSingleWord : 0u)});
      added_text_ += text;
    }
    return LINNET_OK;
  }

  bool ends_generation(uint32_t id) const {
    if (static_cast<int32_t>(id) == p_.eos_id || std::find(p_.eog.begin(), p_.eog.end(), id) != p_.eog.end()) return true;
    return types_[id] != kNormal && std::find(std::begin(kEndNames), std::end(kEndNames), p_.tokens[id]) != std::end(kEndNames);
  }

  template <class T>
  void section(tok::SectionId id, const T* data, size_t count) {
    std::vector<uint8_t>& bytes = out_->bytes;
    bytes.resize(static_cast<size_t>(align_up(bytes.size(), 8)));
    header_.section[id] = {static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(count)};
    const auto* from = reinterpret_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + count * sizeof(T));
  }

  // The oldest version that has all of it, so that older runtimes read the tables, too.
  uint32_t version() const {
    const auto newer = [](const SplitTables& p) { return !p.looks.empty() || p.may_be_empty; };
    const auto newer_step = [](const NormalStep& s) { return s.op == tok::kStepPattern; };
    const auto newest = [](tok::Split s) { return s >= tok::kSplitSpaces && s < tok::kSplitCount; };
    if (std::any_of(p_.splits.begin(), p_.splits.end(), newest) || p_.no_unknown || (affixed() && !p_.as_spelled)) return 5;
    if (std::any_of(p_.patterns.begin(), p_.patterns.end(), newer) || std::any_of(p_.steps.begin(), p_.steps.end(), newer_step) ||
        p_.as_spelled || affixed() || late() || !shown_.empty() || (spm() && p_.ignore_merges))
      return 4;
    return p_.patterns.empty() ? 2 : 3;
  }

  void write_patterns() {
    if (version() < 3) return;
    std::vector<tok::Pattern> patterns;
    std::vector<tok::Look> looks;
    std::vector<uint16_t> blocks, next;
    std::vector<uint8_t> classes;
    const auto append = [](auto* to, const auto& from) {
      to->insert(to->end(), from.begin(), from.end());
      return static_cast<uint32_t>(to->size() - from.size());
    };
    for (const SplitTables& p : p_.patterns) {
      const uint32_t n_blocks = static_cast<uint32_t>(p.classes.size() / tok::kPatternBlock);
      patterns.push_back(
          {p.mode, p.n_classes, p.n_states, append(&blocks, p.blocks), append(&classes, p.classes), n_blocks, append(&next, p.next)});
      for (const SplitTables::Look& look : p.looks)
        looks.push_back({static_cast<uint32_t>(patterns.size() - 1), look.ahead, look.n_states, append(&next, look.next)});
    }
    section(tok::kPatterns, patterns.data(), patterns.size());
    section(tok::kPatternBlockOf, blocks.data(), blocks.size());
    section(tok::kPatternClassOf, classes.data(), classes.size());
    section(tok::kPatternNext, next.data(), next.size());
    if (version() < 4) return;
    section(tok::kPatternLooks, looks.data(), looks.size());
    std::vector<uint32_t> at;
    std::string text;
    for (const std::string& s : shown_) {
      at.push_back(static_cast<uint32_t>(text.size()));
      text += s;
    }
    if (!shown_.empty()) at.push_back(static_cast<uint32_t>(text.size()));
    section(tok::kShownAt, at.data(), at.size());
    section(tok::kShown, text.data(), text.size());
  }

  void write_blob() {
    std::vector<uint32_t> text_at{0};
    std::string text;
    for (const std::string& s : texts_) {
      text += s;
      text_at.push_back(static_cast<uint32_t>(text.size()));
    }
    std::vector<uint8_t> flags(n_tokens());
    for (uint32_t i = 0; i < n_tokens(); ++i) {
      const int32_t type = types_[i];
      flags[i] = static_cast<uint8_t>((type == kControlType ? tok::kControl : 0) | (type == kUserType ? tok::kUserDefined : 0) |
                                      (type == kByteType ? tok::kByte : 0) | (type == kUnknownType ? tok::kUnknown : 0) |
                                      (ends_generation(i) ? tok::kEog : 0) | (continues(i) ? tok::kContinues : 0));
    }
    const size_t header_bytes = version() == 2 ? tok::kHeader2Bytes : version() == 3 ? tok::kHeader3Bytes : sizeof header_;
    out_->bytes.assign(header_bytes, 0);
    section(tok::kTextAt, text_at.data(), text_at.size());
    section(tok::kText, text.data(), text.size());
    section(tok::kTokenFlags, flags.data(), flags.size());
    section(tok::kByteIds, byte_ids_, 256);
    section(tok::kMerges, merge_slots_.data(), merge_slots_.size());
    section(tok::kWords, word_slots_.data(), word_slots_.size());
    section(tok::kAddedRaw, added_[0].data(), added_[0].size());
    section(tok::kAddedNormal, added_[1].data(), added_[1].size());
    section(tok::kAddedText, added_text_.data(), added_text_.size());
    section(tok::kCharRanges, ranges_.data(), ranges_.size());
    section(tok::kCharMaps, maps_.data(), maps_.size());
    section(tok::kReplaces, replaces_.data(), replaces_.size());
    section(tok::kNormalText, normal_text_.data(), normal_text_.size());
    section(tok::kCharsmap, charsmap_.data(), charsmap_.size());
    section(tok::kCharsmapText, charsmap_text_.data(), charsmap_text_.size());
    section(tok::kTrie, trie_.data(), trie_.size());
    section(tok::kScores, scores_.data(), scores_.size());
    write_patterns();
    out_->bytes.resize(static_cast<size_t>(align_up(out_->bytes.size(), 8)));

    header_.magic = tok::kMagic;
    header_.version = version();
    header_.bytes = static_cast<uint32_t>(out_->bytes.size());
    header_.kind = p_.kind;
    header_.prefix = p_.prefix;
    header_.flags = (p_.ignore_merges ? tok::kIgnoreMerges : 0u) | (p_.fuse_unk ? tok::kFuseUnk : 0u) |
                    (p_.strip_space ? tok::kStripSpace : 0u) | (wordwise() ? tok::kWordwise : 0u) |
                    (p_.float_scores ? tok::kFloatScores : 0u) | (p_.strip_spaces ? tok::kStripSpaces : 0u) |
                    (p_.solid_spaces ? tok::kSolidSpaces : 0u) | (p_.as_spelled || p_.split_spaces ? tok::kAsSpelled : 0u) |
                    (late() ? tok::kLateSpaces : 0u) | (affixed() ? tok::kAffixed : 0u) | (p_.ends_shown ? tok::kEndsShown : 0u) |
                    (p_.no_unknown ? tok::kNoUnknown : 0u);
    header_.n_tokens = n_tokens();
    header_.n_symbols = static_cast<uint32_t>(texts_.size());
    header_.bos_id = p_.bos_id;
    header_.eos_id = p_.eos_id;
    header_.unk_id = p_.unk_id;
    header_.n_before = static_cast<uint32_t>(p_.before.size());
    header_.n_after = static_cast<uint32_t>(p_.after.size());
    std::copy(p_.before.begin(), p_.before.end(), header_.before);
    std::copy(p_.after.begin(), p_.after.end(), header_.after);
    header_.merge_probe = merge_probe_;
    header_.word_probe = word_probe_;
    header_.max_word = max_word_;
    std::memcpy(out_->bytes.data(), &header_, header_bytes);
  }

  // The standard keys for other tools.
  void describe() {
    out_->gguf_model = spm() ? "llama" : p_.kind == tok::kUnigram ? "t5" : p_.kind == tok::kWordPiece ? "bert" : "gpt2";
    out_->gguf_pre = p_.gguf_pre;
    out_->tokens = p_.tokens;
    out_->types = types_;
    out_->bos_id = p_.bos_id;
    out_->eos_id = p_.eos_id;
    out_->unk_id = p_.unk_id;
    out_->add_bos = !p_.before.empty();
    out_->add_eos = !p_.after.empty();
    if (metaspaced()) out_->charsmap = p_.charsmap;
    out_->add_space_prefix = p_.prefix != tok::kPrefixNever;
    for (const NormalStep& step : p_.steps)
      out_->remove_extra = out_->remove_extra || step.op == tok::kStepSqueeze || step.op == tok::kStepRuns;
    for (const tok::Split split : p_.splits) out_->remove_extra = out_->remove_extra || split == tok::kSplitWhitespace;
    if (p_.kind == tok::kWordPiece) {
      for (uint32_t i = 0; i < n_tokens(); ++i)
        if (types_[i] == kNormal)
          out_->tokens[i] = continues(i) ? p_.tokens[i].substr(p_.continuing.size()) : "\xE2\x96\x81" + p_.tokens[i];
      return;
    }
    for (const Merge& m : p_.merges) out_->merges.push_back(p_.tokens[m.left] + " " + p_.tokens[m.right]);
    if (p_.kind == tok::kByteLevel) return;
    if (!p_.scores.empty()) {
      out_->scores.assign(p_.scores.begin(), p_.scores.end());
    } else {  // the first merge that makes a token gives it the score that SentencePiece would merge it by
      out_->scores.assign(n_tokens(), 0.0f);
      for (size_t i = p_.merges.size(); i-- > 0;) out_->scores[p_.merges[i].result] = -static_cast<float>(i + 1);
    }
  }

  const TokenizerParts& p_;
  TokenizerBlob* out_;
  Error* err_;
  std::vector<int32_t> types_;
  std::vector<std::string> spelled_;  // tokens, added ones as they stand in normalised texts
  std::vector<std::string> shown_;    // what tokens decode to, where that is not their text
  std::deque<std::string> texts_;     // of symbols; a deque, since symbols are added while views into it are held
  std::vector<Merge> merges_;
  std::vector<uint32_t> ranks_;  // of merges_
  std::vector<tok::MergeSlot> merge_slots_;
  std::vector<uint32_t> word_slots_;
  uint32_t merge_probe_ = 0, word_probe_ = 0, max_word_ = 0;
  int32_t byte_ids_[256];
  std::vector<tok::Added> added_[2];
  std::string added_text_;
  tok::Header header_ = {};
  Tokenizer tables_;  // of the blob as it was first, for normal_text
  std::vector<tok::CharRange> ranges_;
  std::vector<tok::CharMap> maps_;
  std::vector<tok::Replace> replaces_;
  std::string normal_text_;
  std::vector<uint32_t> charsmap_, trie_;
  std::string_view charsmap_text_;
  std::vector<double> scores_;
};

Status read_side(const std::string& folder, const char* name, std::string* out, Error* err) {
  bool found = false;
  return read_file(folder + "/" + name, kMaxTokenizerFile, out, &found, err);
}

}  // namespace

int byte_of_spelling(std::string_view s) {
  if (s.size() != 6 || s.compare(0, 3, "<0x") != 0 || s[5] != '>') return -1;
  int value = 0;
  for (const char c : {s[3], s[4]}) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

int byte_of_letter(uint32_t code) {
  if (code < 0x100) return stands_for_itself(code) ? static_cast<int>(code) : -1;
  const uint32_t i = code - 0x100;  // 0..0x20, 0x7F..0xA0, 0xAD in this order
  return i < 0x21 ? static_cast<int>(i) : i < 0x21 + 0x22 ? static_cast<int>(0x7F + i - 0x21) : i == 0x21 + 0x22 ? 0xAD : -1;
}

std::string with_spaces(std::string_view spelled) {
  std::string out;
  for (size_t i = 0; i < spelled.size();) {
    const bool meta = spelled.compare(i, 3, "\xE2\x96\x81") == 0;
    out.push_back(meta ? ' ' : spelled[i]);
    i += meta ? 3 : 1;
  }
  return out;
}

Status vocabulary(const TokenizerParts& parts, Vocabulary* out, Error* err) {
  *out = {};
  out->reserve(parts.tokens.size());
  for (uint32_t i = 0; i < parts.tokens.size(); ++i) {
    const auto [at, is_new] = out->try_emplace(parts.tokens[i], i);
    if (!is_new) return fail(err, LINNET_BAD_FILE, parts.label, ": tokens ", at->second, " and ", i, " are both '", parts.tokens[i], "'");
  }
  return LINNET_OK;
}

namespace {
// The library cuts as many bytes off the right side as `front` has, whatever they are.
bool find_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, size_t front, Merge* out) {
  const auto l = vocabulary.find(left), r = vocabulary.find(right);
  if (l == vocabulary.end() || r == vocabulary.end()) return false;
  std::string both(left);
  if (front > right.size()) return false;
  const auto whole = vocabulary.find(both += right.substr(front));
  if (whole == vocabulary.end()) return false;
  *out = {l->second, r->second, whole->second};
  return true;
}
}  // namespace

Status add_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, TokenizerParts* parts, Error* err) {
  Merge m;
  if (!find_merge(vocabulary, left, right, parts->front.size(), &m))
    return fail(err, LINNET_BAD_FILE, parts->label, ": merge ", parts->merges.size(), " '", left, " ", right, "' names what is no token");
  parts->merges.push_back(m);
  return LINNET_OK;
}

Status add_merge(const Vocabulary& vocabulary, std::string_view line, TokenizerParts* parts, Error* err) {
  if (line.size() > 2 * kMaxTokenBytes)
    return fail(err, LINNET_BAD_FILE, parts->label, ": merge ", parts->merges.size(), " has ", line.size(), " bytes");
  for (size_t space = line.find(' '); space != line.npos; space = line.find(' ', space + 1)) {
    Merge m;
    if (!find_merge(vocabulary, line.substr(0, space), line.substr(space + 1), parts->front.size(), &m)) continue;
    parts->merges.push_back(m);
    return LINNET_OK;
  }
  return fail(err, LINNET_BAD_FILE, parts->label, ": merge ", parts->merges.size(), " '", line, "' is not two tokens that make a third");
}

Status add_added(AddedToken token, TokenizerParts* parts, Error* err) {
  token.in_vocabulary = token.id < parts->tokens.size();
  if (!token.in_vocabulary && token.id >= parts->n_rows) {
    if (!parts->n_left_out++)
      parts->notes.push_back(std::string(parts->label.path) + ": added token '" + token.text + "' has the id " + std::to_string(token.id) +
                             ", the model has " + std::to_string(parts->n_rows) + " rows: left out");
    return LINNET_OK;
  }
  if (token.id > parts->tokens.size())
    return fail(err, LINNET_BAD_FILE, parts->label, ": added token '", token.text, "' has id ", token.id, ", the next free id is ",
                parts->tokens.size());
  if (token.id == parts->tokens.size()) {
    parts->tokens.push_back(token.text);
    parts->types.push_back(token.special ? kControlType : kUserType);
    if (!parts->scores.empty()) parts->scores.push_back(0.0);
  } else if (parts->tokens[token.id] != token.text) {
    return fail(err, LINNET_BAD_FILE, parts->label, ": added token '", token.text, "' has the id ", token.id, " of '",
                parts->tokens[token.id], "'");
  }
  parts->is_added.resize(parts->tokens.size());
  if (parts->is_added[token.id]) return LINNET_OK;
  parts->is_added[token.id] = true;
  parts->added.push_back(std::move(token));
  return LINNET_OK;
}

Status build_tokenizer(const TokenizerParts& parts, TokenizerBlob* out, Error* err) {
  TokenizerBlob blob;
  LINNET_TRY(Builder(parts, &blob, err).run());
  blob.notes = parts.notes;
  if (parts.n_left_out > 1)
    blob.notes.push_back(std::string(parts.label.path) + ": so are " + std::to_string(parts.n_left_out - 1) + " more added tokens");
  *out = std::move(blob);
  return LINNET_OK;
}

Status tokenizer_from_folder(const std::string& folder, TokenizerBlob* out, Error* err, uint32_t n_rows) {
  *out = {};
  SideTexts sides;
  sides.n_rows = n_rows;
  LINNET_TRY(read_side(folder, "tokenizer_config.json", &sides.tokenizer_config, err));
  LINNET_TRY(read_side(folder, "generation_config.json", &sides.generation_config, err));
  LINNET_TRY(read_side(folder, "config.json", &sides.config, err));
  LINNET_TRY(read_side(folder, "special_tokens_map.json", &sides.special_tokens_map, err));
  std::string text;
  bool found = false;
  LINNET_TRY(read_file(folder + "/tokenizer.json", kMaxTokenizerFile, &text, &found, err));
  if (found) {
    LINNET_TRY(read_side(folder, "tokenizer.model", &sides.spm, err));
    return tokenizer_from_json(text, sides, out, err);
  }
  LINNET_TRY(read_file(folder + "/tekken.json", kMaxTokenizerFile, &text, &found, err));
  if (found) return tokenizer_from_tekken(text, sides, out, err);
  LINNET_TRY(read_side(folder, "added_tokens.json", &sides.added_tokens, err));
  for (const char* prefix : {"", "gpt2_"}) {
    const std::string base = folder + "/" + prefix;
    LINNET_TRY(read_file(base + "vocab.json", kMaxTokenizerFile, &text, &found, err));
    if (!found) continue;
    std::string merges;
    LINNET_TRY(read_file(base + "merges.txt", kMaxTokenizerFile, &merges, nullptr, err));
    return tokenizer_from_vocab(text, merges, *prefix != '\0', sides, out, err);
  }
  LINNET_TRY(read_file(folder + "/tokenizer.model", kMaxTokenizerFile, &text, &found, err));
  if (found) return tokenizer_from_spm(text, sides, out, err);
  LINNET_TRY(read_file(folder + "/tiktoken.model", kMaxTokenizerFile, &text, &found, err));
  if (found) return tokenizer_from_tiktoken(text, sides, out, err);
  LINNET_TRY(read_file(folder + "/vocab.txt", kMaxTokenizerFile, &text, &found, err));
  return found ? tokenizer_from_pieces(text, sides, out, err) : LINNET_OK;
}

}  // namespace linnet::convert
