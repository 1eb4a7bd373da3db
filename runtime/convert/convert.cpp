#include "convert.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "../../kernels_cpu/pack.h"
#include "../../platform/folder.h"
#include "../architectures.h"
#include "../lora.h"
#include "../tokenizer/blob.h"
#include "adapters.h"
#include "audio_source.h"
#include "ggml_types.h"
#include "packed_cache.h"
#include "packing.h"
#include "source.h"

namespace linnet::convert {
namespace {

// ---- the plan: which tensors, in which order, under which keys --------------------------------------------------------------

// Every tensor that the spec asks for, once and of its shape, in order of use. Of layers that guess tokens further on these alone.
Status in_order(const Source& source, std::vector<const SourceTensor*>* out, Error* err) {
  const ModelSpec& spec = source.spec;
  const auto slot = [&](Role role, uint32_t layer) { return static_cast<size_t>(layer) * kRoleCount + role; };
  std::vector<const SourceTensor*> found(slot(kTokenEmbd, spec.n_layers + 1));
  for (const SourceTensor& t : source.tensors) {
    const TensorRole& r = role_row(t.role);
    if (t.layer >= (r.per_layer() ? spec.n_layers : 1) || !role_present(t.role, t.layer, spec))
      return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name, "' has no place in this model of ", spec.n_layers, " layers");
    const uint32_t n = role_n(t.role, t.layer, spec), k = role_k(t.role, t.layer, spec);
    if (t.n != n || t.k != k)
      return fail(err, LINNET_BAD_FILE, "tensor '", t.source_name, "': shape ", t.n, " x ", t.k, ", not ", n, " x ", k);
    const SourceTensor*& place = found[slot(t.role, t.layer)];
    if (place) return fail(err, LINNET_BAD_FILE, "tensors '", place->source_name, "' and '", t.source_name, "' are the same");
    place = &t;
  }
  const uint32_t first = spec.n_ahead ? spec.n_layers - spec.n_ahead : 0;
  const auto take = [&](Role role, uint32_t layer) {
    if (layer < first) return LINNET_OK;
    if (!role_present(role, layer, spec)) return LINNET_OK;
    char name[kRoleNameBytes];
    role_name(role, layer, name);
    const SourceTensor* t = found[slot(role, layer)];
    if (!t) return fail(err, LINNET_BAD_FILE, "tensor '", name, "' is missing");
    out->push_back(t);
    return LINNET_OK;
  };
  for (uint32_t r = 0; r < kRoleCount; ++r)
    if (const Role role{r}; !role_row(role).per_layer() && role != kOutput && role != kOutputNorm) LINNET_TRY(take(role, 0));
  for (uint32_t layer = 0; layer < spec.n_layers; ++layer)
    for (uint32_t r = 0; r < kRoleCount; ++r)
      if (const Role role{r}; role_row(role).per_layer()) LINNET_TRY(take(role, layer));
  LINNET_TRY(take(kOutputNorm, 0));
  return take(kOutput, 0);
}

void put_tokenizer(const Source& source, bool plain, GgufBuilder* b) {
  const TokenizerBlob& t = source.tokenizer;
  if (t.bytes.empty()) {
    if (plain) b->text("tokenizer.ggml.model", "no_vocab");
    return;
  }
  std::vector<std::string> tokens = t.tokens;
  std::vector<int32_t> types = t.types;
  std::vector<float> scores = t.scores;
  if (plain) {  // other tools want as many tokens as the model has logits
    constexpr int32_t kUnused = 5;
    types.resize(tokens.size(), 1);
    for (size_t i = tokens.size(); i < source.spec.n_vocab; ++i) tokens.push_back("[PAD" + std::to_string(i) + "]");
    types.resize(tokens.size(), kUnused);
    if (!scores.empty()) scores.resize(tokens.size(), -1e4f);
  }
  b->text("tokenizer.ggml.model", t.gguf_model);
  if (!t.gguf_pre.empty()) b->text("tokenizer.ggml.pre", t.gguf_pre);
  b->texts("tokenizer.ggml.tokens", tokens);
  if (!types.empty()) b->i32s("tokenizer.ggml.token_type", types);
  if (!scores.empty()) b->f32s("tokenizer.ggml.scores", scores);
  if (t.gguf_model == "gpt2" || t.gguf_model == "gemma4")
    b->texts("tokenizer.ggml.merges", t.merges);  // even none: readers ask for the key
  if (t.gguf_model == "gemma4") b->boolean("tokenizer.ggml.add_space_prefix", t.add_space_prefix);
  if (t.gguf_model == "t5" || t.gguf_model == "llama") {
    b->boolean("tokenizer.ggml.add_space_prefix", t.add_space_prefix);
    b->boolean("tokenizer.ggml.remove_extra_whitespaces", t.remove_extra);
  }
  if (!t.charsmap.empty()) b->bytes("tokenizer.ggml.precompiled_charsmap", t.charsmap);
  if (t.bos_id >= 0) b->u32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(t.bos_id));
  if (t.eos_id >= 0) b->u32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(t.eos_id));
  if (t.unk_id >= 0) b->u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(t.unk_id));
  b->boolean("tokenizer.ggml.add_bos_token", t.add_bos);
  b->boolean("tokenizer.ggml.add_eos_token", t.add_eos);
}

std::vector<uint32_t> layer_values(const ModelSpec& s, uint32_t field) {
  std::vector<uint32_t> values(s.n_layers);
  if (!values.empty()) std::memcpy(values.data(), s.layer_values[field], values.size() * sizeof values[0]);
  return values;
}

Status put_metadata(const Source& source, const Options& options, GgufBuilder* b, Error* err) {
  const ModelSpec& s = source.spec;
  const Architecture* a = architecture_by_hf(s.architecture);
  const std::string arch = a ? gguf_architecture(*a, s) : s.architecture, p = arch + ".";
  b->text("general.architecture", arch);
  if (!source.name.empty()) b->text("general.name", source.name);
  if (s.n_layers > 0 && options.plain) {
    b->u32("general.file_type", plain_form(options.weights)->file_type);
    if (gguf_block_bytes(options.weights)) b->u32("general.quantization_version", 2);
    LINNET_TRY(put_plain_keys(source, b, err));
  }
  if (s.n_layers > 0 && !options.plain) {
    put_size_keys(source.ahead ? source.ahead->spec : s, p, "attention.layer_norm_rms_epsilon", s.d_ff, true, b);
    if (source.ahead) b->u32(p + "nextn_predict_layers", source.ahead->spec.n_ahead);
    b->f32(p + "rope.freq_base", static_cast<float>(s.rope_base));
    b->u32(p + "rope.dimension_count", s.rope_dim);
    if (s.rope_scaling == kRopeScaleLinear) {
      b->text(p + "rope.scaling.type", "linear");
      b->f32(p + "rope.scaling.factor", static_cast<float>(s.rope_factor));
    }
    if (s.rope_original) b->u32(p + "rope.scaling.original_context_length", s.rope_original);
    b->u32(p + "vocab_size", s.n_vocab);
    if (s.window) b->u32(p + "attention.sliding_window", s.window);
  }
  if (!options.plain) {
    uint32_t version = spec_version(s);
    for (const SourceTensor& t : source.tensors)
      if (format_by_use(packed_format(t, options)) && version < kByUseVersion) version = kByUseVersion;
    b->u32(kLayoutKey, version);
    for (size_t i = 0; i < kSpecFieldCount; ++i) {
      const SpecField& f = kSpecFields[i];
      if (f.since > version) continue;
      const char* at = reinterpret_cast<const char*>(&s) + f.offset;
      const std::string key = std::string("linnet.spec.") + f.name;
      uint32_t u;
      double d;
      if (f.type == SpecType::kU32) std::memcpy(&u, at, sizeof u), b->u32(key, u);
      if (f.type == SpecType::kF64) std::memcpy(&d, at, sizeof d), b->f64(key, d);
      if (f.type == SpecType::kText) b->text(key, at);
    }
    for (uint32_t f = 0; f < kLayerFieldCount; ++f)
      if (s.layer_values[f]) b->u32s(std::string("linnet.layer.") + kLayerFields[f].name, layer_values(s, f));
    if (s.n_layers > 0 && source.adapters) {
      b->bytes(kLoraExponentsKey, {reinterpret_cast<const char*>(source.key_exponents.data()), source.key_exponents.size()});
      b->u32(kLoraPairsKey, adapter_orders(s));
    }
  }
  put_tokenizer(source, options.plain, b);
  put_templates(source.templates, source.tokenizer, options.plain, options.notes, b);
  for (const auto& [name, text] : source.prompts.texts) b->text(kEmbedPromptPrefix + name, text);
  if (!source.prompts.by_default.empty()) b->text(kEmbedDefaultPrompt, source.prompts.by_default);
  for (uint32_t r = LINNET_ROLE_SYSTEM; r < kRoleEnd; ++r) {
    if (!source.chat.role[r].present) continue;
    const std::string key = std::string("linnet.chat.") + chat_role_name(r);
    b->text(key + ".prefix", source.chat.role[r].prefix);
    b->text(key + ".suffix", source.chat.role[r].suffix);
  }
  return LINNET_OK;
}

// ---- tensors ----------------------------------------------------------------------------------------------------------------

}  // namespace

Format exact_format(ExactForm form, uint32_t k) {
  if (form.group % kPadK != 0 && form.group < k) form.group = kPadK;
  const FormatRow* best = nullptr;
  const auto groups = [&](const FormatRow& row) { return row.w_group == form.group ? UINT32_MAX : row.w_group ? row.w_group : k; };
  for (const FormatRow& row : kFormats)
    if (format_known(row.format) && pack_exact(row.format, form, k) &&
        (!best || row.bits < best->bits || (row.bits == best->bits && groups(row) > groups(*best))))
      best = &row;
  return best ? best->format : LINNET_FORMAT_DEFAULT;
}

// Whether a tensor comes in blocks that GGUF files have.
static bool gguf_file_blocks(const SourceTensor& t) { return t.gguf_blocks && plain_form(t.gguf_format); }

// Embeddings and heads, which have a row for each token.
static bool of_tokens(Role role) {
  return role == kTokenEmbd || role == kOutput || role == kLayerEmbd || role == kAheadTokenEmbd || role == kAheadOutput;
}

// What a tensor is packed as. Blocks of a GGUF file stay what they are where blocks of any kind are asked for, since such files mix them.
// Embedding and LM head keep 8 bits where fewer are asked for: they are what 4 bits
// hurt most, and llama.cpp's 4-bit files hold them in more as well.
Format packed_format(const SourceTensor& t, const Options& options) {
  constexpr Format kFine = LINNET_I8G32;  // in groups of 32 outlier channels cost the others little
  if (!role_row(t.role).matrix() || role_row(t.role).f32()) return LINNET_F32;
  const bool asks = options.weights != LINNET_FORMAT_DEFAULT;
  if (!asks && t.own != LINNET_FORMAT_DEFAULT) return t.own;
  const Format asked = asks ? options.weights : options.floats != LINNET_FORMAT_DEFAULT ? options.floats : kFine;
  if (gguf_file_blocks(t) && format_row(asked).stored == Stored::kBlocks) return t.gguf_format;
  return format_row(asked).bits < 8 && (of_tokens(t.role) || t.role == kPosEmbd) ? kFine : asked;
}

namespace {
// Of a layer, matrices that read the same rows.
constexpr Role kAlike[][5] = {{kAttnQ, kAttnK, kAttnV, kAttnKvA, kAttnGate},
                              {kAttnQA, kAttnKvA, kAttnQA, kAttnKvA, kAttnQA},
                              {kDeltaIn, kDeltaGate, kDeltaGateA, kDeltaIn, kDeltaIn},
                              {kFfnGate, kFfnUp, kFfnGate, kFfnUp, kFfnUp},
                              {kExpertGate, kExpertUp, kSharedGate, kSharedUp, kSharedUp}};
bool is_one(const Role (&roles)[5], Role role) { return std::find(std::begin(roles), std::end(roles), role) != std::end(roles); }
bool same_x(Format f, Format g) { return format_row(f).x == format_row(g).x && format_row(f).x_group == format_row(g).x_group; }

// Quantisers may have given them groups that do not go together.
Status check_groups(const Source& source, const Options& options, Error* err) {
  for (const auto& roles : kAlike) {
    std::map<uint32_t, const SourceTensor*> first;  // of a layer
    for (const SourceTensor& t : source.tensors) {
      if (!is_one(roles, t.role)) continue;
      const SourceTensor& other = *first.emplace(t.layer, &t).first->second;
      const Format f = packed_format(t, options), g = packed_format(other, options);
      if (!same_x(f, g))
        return fail(err, LINNET_UNSUPPORTED, "tensors '", other.source_name, "' (", format_name(g), ") and '", t.source_name, "' (",
                    format_name(f),
                    ") read the same rows, which these formats round in different groups: ask for --weights i8g32 or another");
    }
  }
  return LINNET_OK;
}
}  // namespace

void match_groups(Source* source, const Options& options) {
  if (options.weights != LINNET_FORMAT_DEFAULT) return;
  for (const auto& roles : kAlike) {
    std::map<uint32_t, Format> own;  // of a layer
    for (const SourceTensor& t : source->tensors)
      if (is_one(roles, t.role) && t.own != LINNET_FORMAT_DEFAULT) own[t.layer] = t.own;
    for (SourceTensor& t : source->tensors) {
      const auto like = is_one(roles, t.role) && t.own == LINNET_FORMAT_DEFAULT ? own.find(t.layer) : own.end();
      if (like == own.end()) continue;
      const Format stored = t.source_type == "BF16" ? LINNET_BF16 : t.source_type == "F16" ? LINNET_F16 : LINNET_F32;
      for (const Format f : {packed_format(t, options), LINNET_I8G32, LINNET_I8G64, LINNET_I8G128, LINNET_F8E4M3G128, stored})
        if (same_x(f, like->second)) {
          t.own = f;
          break;
        }
    }
  }
}

namespace {
// What a tensor is written as into a plain file: vectors, positions and the few matrices that are f32 everywhere stay so. Embedding and LM
// head keep 8 bits where fewer are asked for, or the blocks that they have. Rows that are no whole blocks are in smaller ones, else f16.
Format plain_format(const SourceTensor& t, const Options& options) {
  Format f = options.weights;
  if (!role_row(t.role).matrix() || role_row(t.role).f32() || t.role == kPosEmbd) return LINNET_F32;
  if (!gguf_block_bytes(f)) return f;
  const bool held = held_blocks(t, f) || (held_codes(t, f) && t.exact.bits == format_row(f).bits);
  if (!held && gguf_file_blocks(t) && !packs_floats(f)) return t.gguf_format;  // files mix such kinds
  if (!held && format_row(f).bits < 8 && of_tokens(t.role)) f = gguf_file_blocks(t) ? t.gguf_format : LINNET_I8G32;
  if (t.k % gguf_block_values(f)) f = LINNET_I8G32;
  return t.k % gguf_block_values(f) ? LINNET_F16 : f;
}

// Puts the tensors of a plain file in order.
Status plan_plain(const Source& source, const std::vector<const SourceTensor*>& tensors, const std::vector<const SourceTensor*>& ahead,
                  const Options& options, GgufBuilder* b, std::vector<PlainTensor>* out, Error* err) {
  const ModelSpec& spec = source.spec;
  LINNET_TRY(plain_tensors(spec, tensors, out, err));
  if (source.ahead) LINNET_TRY(plain_tensors(source.ahead->spec, ahead, out, err));
  const uint32_t wanted = gguf_block_bytes(options.weights) ? gguf_block_values(options.weights) : 1;
  size_t n_whole = 0, n_others = 0;
  for (const PlainTensor& t : *out) {
    const Format f = plain_format(t.rows, options);
    if (held_blocks(t.rows, f) && t.rows.outer)
      return fail(err, LINNET_UNSUPPORTED, "tensor '", t.rows.source_name, "': ", format_name(f),
                  " of a plain file has no second-level factors: ask for --weights q8_0 or another");
    if (!packs_floats(f) && !held_blocks(t.rows, f)) return not_made(t.rows, f, err);
    const GgmlType type = ggml_type(plain_form(f)->type);
    b->tensor(t.name, t.dims, plain_form(f)->type, uint64_t{t.rows.n} * t.rows.k / type.values * type.bytes);
    n_whole += f == options.weights;
    n_others += f != LINNET_F32 && t.rows.k % wanted != 0;
  }
  const char* name = plain_form(options.weights)->name;
  if (n_whole == 0 && n_others)
    return fail(err, LINNET_UNSUPPORTED, "plain GGUF: no matrix has rows of a multiple of ", wanted, " inputs, as ", name,
                " wants: ask for another format");
  if (n_others && options.notes)
    options.notes->push_back(std::to_string(n_others) + " of " + std::to_string(out->size()) + " tensors have rows of no multiple of " +
                             std::to_string(wanted) + " inputs, as " + name + " wants: they are q8_0, or f16");
  return check_plain(spec, *b, err);
}

Status plan_tensor(const SourceTensor& t, const Options& options, GgufBuilder* b, Error* err) {
  char name[kRoleNameBytes];
  role_name(t.role, t.layer, name);
  if (role_row(t.role).matrix()) return plan_packed(name, t, packed_format(t, options), b, err);
  b->tensor(name, {t.n}, kGgmlF32, uint64_t{t.n} * 4);
  return LINNET_OK;
}

// What stands around messages must not be written by one: the added tokens in prefixes and suffixes become special ones, and one that the
// assistant's suffix begins with ends an answer.
void mark_chat_tokens(Source* source) {
  uint8_t* const blob = source->tokenizer.bytes.data();
  if (source->tokenizer.bytes.empty()) return;
  tok::Header header;
  std::memcpy(&header, blob, sizeof header);
  for (const tok::SectionId list : {tok::kAddedRaw, tok::kAddedNormal})
    for (uint32_t i = 0; i < header.section[list].count; ++i) {
      auto* const added = reinterpret_cast<tok::Added*>(blob + header.section[list].at) + i;
      const std::string_view text(reinterpret_cast<const char*>(blob) + header.section[tok::kAddedText].at + added->text_at,
                                  added->text_bytes);
      for (uint32_t r = LINNET_ROLE_SYSTEM; r < kRoleEnd; ++r) {
        const ChatFormat::Text& role = source->chat.role[r];
        if (!role.present) continue;
        for (const std::string_view edge : {role.prefix, role.suffix})
          if (edge.find(text) != std::string_view::npos) {
            added->flags |= tok::kAddedSpecial;
            blob[header.section[tok::kTokenFlags].at + added->id] |= tok::kControl;
          }
        if (r == LINNET_ROLE_ASSISTANT && std::string_view(role.suffix).substr(0, text.size()) == text)
          blob[header.section[tok::kTokenFlags].at + added->id] |= tok::kEog;
      }
    }
}

// ---- the whole file -----------------------------------------------------------------------------------------------------------

Status merges_nothing(const std::string& src, Error* err) {
  return fail(err, LINNET_UNSUPPORTED, PathName(src), ": packed already: adapters are merged into what it was packed from");
}

Status open_source(const std::string& src, const Options& options, Source* out, Error* err) {
  bool packed = false;
  if (options.vocab_only) {
    if (is_synthetic(src)) return fail(err, LINNET_BAD_ARG, src, ": a synthetic model has no vocabulary");
    if (!is_folder(src)) {
      LINNET_TRY(vocab_from_gguf(src, out, err));
    } else {
      LINNET_TRY(tokenizer_from_folder(src, &out->tokenizer, err));
      LINNET_TRY(templates_from_folder(src, &out->templates, err));
      std::memcpy(out->spec.architecture, "vocab", 6);
    }
    if (out->tokenizer.bytes.empty()) return fail(err, LINNET_BAD_FILE, PathName(src), ": no tokenizer");
    out->spec.n_vocab = static_cast<uint32_t>(out->tokenizer.tokens.size());
  } else if (is_synthetic(src)) {
    LINNET_TRY(source_synthetic(src.substr(kSynthetic.size()), options.seed, out, err));
  } else if (is_folder(src)) {
    LINNET_TRY(source_from_folder(src, out, err));
  } else {
    if (options.plain) LINNET_TRY(source_from_packed(src, out, &packed, err));
    if (!packed) LINNET_TRY(source_from_gguf(src, out, err));
  }
  LINNET_TRY(spec_check(out->spec, err, src.c_str()));
  if (out->tokenizer.tokens.size() > out->spec.n_vocab)
    return fail(err, LINNET_BAD_FILE, PathName(src), ": the tokenizer has ", out->tokenizer.tokens.size(), " tokens, the model only ",
                out->spec.n_vocab, " logits");
  if (const Architecture* a = architecture_by_hf(out->spec.architecture);
      a && a->gemma4 && out->tokenizer.gguf_model == "llama" && !out->tokenizer.merges.empty())
    out->tokenizer.gguf_model = out->tokenizer.gguf_pre = "gemma4";  // whose readers go by the merges
  if (options.plain && !out->tokenizer.gguf_model.empty() && out->tokenizer.gguf_pre.empty())
    return fail(err, LINNET_UNSUPPORTED, PathName(src),
                ": GGUF has no name (tokenizer.ggml.pre) for how its tokenizer splits texts, so that a plain file would give wrong tokens");
  if (!packed) mark_chat_tokens(out);                                     // packed files have the marks
  if (packed && !options.loras.empty()) return merges_nothing(src, err);  // its keys are not the checkpoint's
  LINNET_TRY(merge_adapters(out, options, err));
  if (!options.mtp) out->ahead.reset();
  for (Source* s : {out, out->ahead.get()}) {
    if (!s) continue;
    match_groups(s, options);
    if (!options.plain) LINNET_TRY(check_groups(*s, options, err));
  }
  if (out->ahead)
    for (SourceTensor& t : out->ahead->tensors)  // their values are packed anew
      if (t.order) t.exact_rows = nullptr, t.order = nullptr;
  LINNET_TRY(order_inputs(out, options, err));
  if (options.shape_only) return LINNET_OK;  // what is left changes weights
  return options.plain ? to_gguf_conventions(out, err) : equalise_keys(out, options, err);
}

struct Destination {
  const std::string* path = nullptr;  // or memory
  Image* image = nullptr;
  CacheEntry* entry = nullptr;  // or the cache, from where it goes to...
  Loaded* loaded = nullptr;
};

Status check_options(Options* asked, Error* err) {
  Options& options = *asked;
  if (options.weights == LINNET_FORMAT_DEFAULT && options.plain) options.weights = LINNET_F16;
  for (const auto& [field, f] : {std::pair("weights", options.weights), std::pair("floats", options.floats)}) {
    if (f == LINNET_FORMAT_DEFAULT || format_known(static_cast<uint32_t>(f))) continue;
    if (const char* name = format_name(f)) return fail(err, LINNET_BAD_ARG, field, ": ", name, " is a format of KV caches alone");
    return fail(err, LINNET_BAD_ARG, field, ": unknown format ", uint32_t{f});
  }
  if (options.plain && !plain_form(options.weights))
    return fail(err, LINNET_BAD_ARG, "a plain GGUF takes ", plain_names(), ", not ", format_name(options.weights));
  return LINNET_OK;
}

Status write(const Source& source, const Options& options, const Destination& to, Error* err) {
  std::vector<const SourceTensor*> tensors, ahead;
  LINNET_TRY(in_order(source, &tensors, err));
  if (source.ahead) LINNET_TRY(in_order(*source.ahead, &ahead, err));

  GgufBuilder builder(options.plain ? kPlainAlignment : kPackedAlignment);
  std::vector<PlainTensor> plain;
  LINNET_TRY(put_metadata(source, options, &builder, err));
  const bool blob = !options.plain && !source.tokenizer.bytes.empty();
  if (blob) builder.tensor(kTokenizerTensor, {source.tokenizer.bytes.size()}, kGgmlI8, source.tokenizer.bytes.size());
  if (options.plain && source.spec.n_layers > 0) {
    LINNET_TRY(plan_plain(source, tensors, ahead, options, &builder, &plain, err));
    tensors.clear();
  } else {
    tensors.insert(tensors.end(), ahead.begin(), ahead.end());
  }
  for (const SourceTensor* t : tensors) LINNET_TRY(plan_tensor(*t, options, &builder, err));

  Output out(options, builder);
  if (to.entry) {
    LINNET_TRY(to.entry->begin(builder.file_bytes(), &out, err));
    LINNET_TRY(to.entry->find(to.loaded, err));  // somebody else may have packed it while this one waited
    if (to.loaded->mapped) return LINNET_OK;
  } else {
    LINNET_TRY(to.path ? out.open_file(*to.path, err) : out.open_memory(err));
  }
  const std::string header = builder.header();
  LINNET_TRY(out.write(header.data(), header.size(), err));
  if (blob) {
    LINNET_TRY(out.write(source.tokenizer.bytes.data(), source.tokenizer.bytes.size(), err));
    LINNET_TRY(out.pad(err));
  }
  if (options.shape_only) return out.commit_shape(to.image, err);
  Rounding rounding{options};
  Workers workers(options.n_threads);
  for (const PlainTensor& t : plain) {
    const Format format = plain_format(t.rows, options);
    LINNET_TRY((gguf_block_bytes(format) ? write_blocks : write_plain)(t.rows, format, &out, &rounding, err));
  }
  for (const SourceTensor* t : tensors) {
    if (!role_row(t->role).matrix())
      LINNET_TRY(write_plain(*t, LINNET_F32, &out, &rounding, err));
    else
      LINNET_TRY(write_packed(*t, packed_format(*t, options), &out, &workers, &rounding, err));
  }
  if (options.weight_error) *options.weight_error = rounding.result;
  if (options.file_bytes) *options.file_bytes = builder.file_bytes();
  if (to.entry) return to.entry->commit(&out, err);
  return to.path ? out.commit_file(err) : out.commit_memory(to.image, err);
}

Status open_to_write(const std::string& src, Options* options, Source* source, Error* err) {
  LINNET_TRY(check_options(options, err));
  LINNET_TRY(open_source(src, *options, source, err));
  if (options->notes)
    for (const auto* notes : {&source->tokenizer.notes, &source->notes})
      options->notes->insert(options->notes->end(), notes->begin(), notes->end());
  if (options->weights == LINNET_FORMAT_DEFAULT && !source->needs_format.empty())
    return fail(err, LINNET_UNSUPPORTED, PathName(src), ": ", source->needs_format);
  return LINNET_OK;
}

// A model that hears has tensors and keys of its own, and one form.
Status convert_audio(const std::string& src, const Options& options, const Destination& to, Error* err) {
  if (options.plain || options.vocab_only || options.shape_only || !options.loras.empty())
    return fail(err, LINNET_UNSUPPORTED, PathName(src), ": a model that hears is packed whole, in linnet's own form");
  AudioSource source;
  LINNET_TRY(audio_source(src, &source, err));
  GgufBuilder builder(kPackedAlignment);
  put_audio_keys(source, &builder);
  builder.tensor(kTokenizerTensor, {source.tokenizer.bytes.size()}, kGgmlI8, source.tokenizer.bytes.size());
  for (const AudioSourceTensor& t : source.tensors) {
    char name[kRoleNameBytes];
    audio_name(t.tensor, t.layer, name);
    if (audio_row(t.tensor).matrix())
      LINNET_TRY(plan_packed(name, t.rows, audio_format(t, options), &builder, err));
    else
      builder.tensor(name, {t.rows.n}, kGgmlF32, uint64_t{t.rows.n} * 4);
  }
  Output out(options, builder);
  LINNET_TRY(to.path ? out.open_file(*to.path, err) : out.open_memory(err));
  const std::string header = builder.header();
  LINNET_TRY(out.write(header.data(), header.size(), err));
  LINNET_TRY(out.write(source.tokenizer.bytes.data(), source.tokenizer.bytes.size(), err));
  LINNET_TRY(out.pad(err));
  Rounding rounding{options};
  Workers workers(options.n_threads);
  for (const AudioSourceTensor& t : source.tensors) {
    if (audio_row(t.tensor).matrix())
      LINNET_TRY(write_packed(t.rows, audio_format(t, options), &out, &workers, &rounding, err));
    else
      LINNET_TRY(write_plain(t.rows, LINNET_F32, &out, &rounding, err));
  }
  if (options.weight_error) *options.weight_error = rounding.result;
  if (options.file_bytes) *options.file_bytes = builder.file_bytes();
  if (options.notes) options.notes->insert(options.notes->end(), source.tokenizer.notes.begin(), source.tokenizer.notes.end());
  return to.path ? out.commit_file(err) : out.commit_memory(to.image, err);
}

Status convert(const std::string& src, const Options& asked, const Destination& to, Error* err) {
  Options options = asked;
  if (is_audio_source(src)) {
    LINNET_TRY(check_options(&options, err));
    return convert_audio(src, options, to, err);
  }
  if (is_adapter_folder(src)) {
    ModelSpec spec;
    std::shared_ptr<void> keep;
    LINNET_TRY(spec_of_base(src, options.base, &spec, &keep, err));
    return write_adapter(src, spec, options, to.path, to.image, err);
  }
  Source source;
  LINNET_TRY(open_to_write(src, &options, &source, err));
  return write(source, options, to, err);
}

// From the cache, or into it and then from there, or into memory where that cannot be.
Status load_cached(const std::string& src, linnet_load how, const Options& asked, Loaded* out, Error* err) {
  Options options = asked;
  std::vector<std::string> notes;
  options.notes = &notes;  // asked for or not: they are kept with the file
  Source source;
  CacheEntry entry(src, how, options);
  const auto load_or_pack = [&]() -> Status {
    const bool kept = entry.open();
    if (kept) {
      LINNET_TRY(entry.find(out, err));
      if (out->mapped) return LINNET_OK;
    }
    LINNET_TRY(open_to_write(src, &options, &source, err));
    const std::vector<std::string> before = notes;
    if (kept) {
      Error why = {};
      Status status = write(source, options, {nullptr, nullptr, &entry, out}, &why);
      if (status == LINNET_OK && !out->mapped) status = entry.find(out, &why);
      if (out->mapped) return LINNET_OK;
      // Of faults of an open source none is one of these.
      if (status != LINNET_OK && status != LINNET_IO && status != LINNET_BAD_STATE) {
        if (err) *err = why;
        return status;
      }
      notes = before;
      entry.not_kept(status == LINNET_OK ? "it was removed at once" : why.text);
    }
    source.ahead.reset();
    return write(source, options, {nullptr, &out->image}, err);
  };
  const Status status = load_or_pack();
  if (asked.notes) asked.notes->insert(asked.notes->end(), notes.begin(), notes.end());
  return status;
}

// Whether writing `path` would replace a file that is being read, or remove it for the temporary one.
bool is_part_of(const std::string& path, const std::string& src) {
  if (is_synthetic(src)) return false;
  std::vector<std::string> files;
  if (!is_folder(src)) {
    files = gguf_parts(src);
  } else {
    (void)folder_names(src, &files);
    for (std::string& f : files) f = src + "/" + f;
  }
  for (const std::string& out : {path, path_real(path) + ".tmp"})
    for (const std::string& f : files)
      if (same_file(f, out)) return true;
  return false;
}

}  // namespace

const char* plain_name(linnet_format f) {
  const PlainForm* form = plain_form(f);
  return form ? form->name : nullptr;
}
std::string plain_names() {
  std::string names;
  for (const FormatRow& row : kFormats)
    if (const char* name = plain_name(row.format)) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

linnet_status convert_to_file(const std::string& src, const std::string& out_path, const Options& options, linnet_error* err) {
  if (options.shape_only) return fail(err, LINNET_BAD_ARG, "output '", out_path, "': a shape has no weights that a file could hold");
  if (out_path.empty()) return fail(err, LINNET_BAD_ARG, "output: the path is empty");
  return guarded_source(src, err, [&] {
    if (is_part_of(out_path, src)) return fail(err, LINNET_BAD_ARG, "output '", out_path, "' is a file of the source");
    return convert(src, options, {&out_path, nullptr}, err);
  });
}

Status write_to_memory(const Source& source, const Options& options, Image* out, Error* err) {
  Options checked = options;
  LINNET_TRY(check_options(&checked, err));
  return write(source, checked, {nullptr, out}, err);
}

linnet_status convert_to_memory(const std::string& src, const Options& options, Image* out, linnet_error* err) {
  return guarded_source(src, err, [&] { return convert(src, options, {nullptr, out}, err); });
}

void image_free(Image* image) {
  memory_free(image->data, image->alloc_bytes);
  *image = {};
}

linnet_status load(const std::string& path, linnet_load how, const Options& options, Loaded* out, linnet_error* err) {
  *out = {};
  return guarded_source(path, err, [&] {
    const bool hears = is_audio_source(path);
    if (!is_synthetic(path) && !is_folder(path) && !hears) {
      Mapped file;
      LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &file.view, err));
      const auto gguf = std::make_unique<Gguf>();
      LINNET_TRY(gguf_open(file.view.data, file.view.bytes, path.c_str(), gguf.get(), err));
      if (is_packed(*gguf) && !options.plain) {
        if (!options.loras.empty()) return merges_nothing(path, err);
        LINNET_TRY(
            file_load(path.c_str(), how ? how : LINNET_LOAD_MAP, {options.progress, options.user}, &out->file, err, bytes_to_run(*gguf)));
        out->whole = out->file;
        out->mapped = true;
        return LINNET_OK;
      }
    }
    Options in_memory = options;
    in_memory.mtp = false;  // what nothing reads takes none
    if (options.cache.empty() || is_synthetic(path) || options.vocab_only || options.shape_only || options.plain ||
        !options.loras.empty() || is_adapter_folder(path) || hears)
      LINNET_TRY(convert(path, in_memory, {nullptr, &out->image}, err));
    else
      LINNET_TRY(load_cached(path, how ? how : LINNET_LOAD_MAP, options, out, err));
    if (!out->mapped) out->file = out->image.view();
    return LINNET_OK;
  });
}

void unload(Loaded* loaded) {
  if (loaded->mapped) file_unmap(&loaded->whole);
  image_free(&loaded->image);
  *loaded = {};
}

linnet_status load_adapter(const std::string& path, const linnet_view& model, Loaded* out, linnet_error* err) {
  *out = {};
  return guarded_source(path, err, [&] {
    if (!is_folder(path)) {
      LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &out->file, err));
      out->whole = out->file;
      out->mapped = true;
      return LINNET_OK;
    }
    const auto gguf = std::make_unique<Gguf>();
    ModelSpec spec;
    LINNET_TRY(gguf_open(model.data, model.bytes, "model file", gguf.get(), err));
    LINNET_TRY(spec_read(*gguf, &spec, err));
    LINNET_TRY(write_adapter(path, spec, {}, nullptr, &out->image, err));
    out->file = out->image.view();
    return LINNET_OK;
  });
}

std::vector<std::string> shapes() {
  std::vector<std::string> names;
  while (const char* name = synthetic_shape(static_cast<uint32_t>(names.size()))) names.emplace_back(name);
  return names;
}

}  // namespace linnet::convert
