// decoder and post_processor of a tokenizer.json: what tokens become, and which stand around a text.
#include <algorithm>

#include "../tokenizer/unicode.h"
#include "tokenizer_json.h"

namespace linnet::convert {
namespace {

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
      const bool reads_bytes = type_is(*step, "ByteFallback");
      for (size_t i = 0; reads_bytes && i < parts->tokens.size(); ++i)  // which it does whether the model writes them or not
        if (parts->types[i] != kByteType && byte_of_spelling(parts->tokens[i]) >= 0) return unknown(err, "decoder", *value);
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
    } else if (type_is(*step, "ByteLevel")) {
      show.kind = ShowStep::kLetters;
      known = !fused && !bytes;
      fused = bytes = true;  // one text is left
    } else {
      known = false;
    }
    if (!known) return unknown(err, "decoder", value);
    parts->shows.push_back(std::move(show));
  }
  parts->shows_steps = true;
  return LINNET_OK;
}

}  // namespace

Status read_decoder(const json* value, TokenizerParts* parts, Error* err) {
  if (is_null(value)) {  // with spaces between tokens
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

namespace {

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
// Of one part "single" is taken, of two "pair".
Status read_template(const json& step, const json& whole, const TokenizerParts& parts, std::vector<Part>* list, Error* err) {
  const bool pair = list->size() == 2;
  const json* const single = json_member(step, pair ? "pair" : "single");
  const auto* items = single ? single->get_ptr<const json::array_t*>() : nullptr;
  if (!items || list->size() > 2) return unknown(err, "post_processor", whole);
  const std::vector<Part> from = std::move(*list);
  list->clear();
  for (const json& item : *items) {
    const json* const special = json_member(item, "SpecialToken");
    const std::string* const name = special ? text_of(json_member(*special, "id")) : nullptr;
    const json* const sequence = json_member(item, "Sequence");
    const std::string* const which = sequence ? text_of(json_member(*sequence, "id")) : nullptr;
    if (list->size() > 2 * tok::kMaxAround + 1) break;  // too many, which build_tokenizer says
    if (name) {
      list->push_back({});
      LINNET_TRY(template_token(step, *name, parts, &list->back().before, err));
    } else if (which && (*which == "A" || (pair && *which == "B"))) {
      list->push_back(from[*which == "B"]);
    } else {
      return unknown(err, "post_processor", whole);
    }
  }
  const auto texts = std::count_if(list->begin(), list->end(), [](const Part& p) { return p.text; });
  return texts == 1 ? LINNET_OK : unknown(err, "post_processor", whole);
}

}  // namespace

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

}  // namespace linnet::convert
