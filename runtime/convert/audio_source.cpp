#include "audio_source.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "../../platform/folder.h"
#include "../rope.h"
#include "../tokenizer/tokenizer.h"
#include "json.h"
#include "safetensors.h"
#include "writer.h"

namespace linnet::convert {
namespace {

constexpr size_t kMaxConfig = size_t{16} << 20;

Status read_json(const std::string& path, const char* label, JsonTree* out, bool* found, Error* err) {
  std::string text;
  LINNET_TRY(read_file(path, kMaxConfig, &text, found, err));
  return *found ? json_parse(text, label, &out->root, err) : LINNET_OK;
}

// The name of a tensor in Hugging Face's files.
AudioPlace hf_place(const AudioSpec& s, AudioTensor t, uint32_t layer) {
  const bool whisper = s.whisper();
  const std::string enc = "model.encoder.", dec = "model.decoder.", i = std::to_string(layer);
  const std::string el = enc + "layers." + i + ".", dl = dec + "layers." + i + ".";
  const char* const out_proj = whisper ? "out_proj" : "o_proj";
  const auto named = [](const std::string& n) { return AudioPlace{n, 0, 0}; };
  const auto attention = [&](const std::string& of, uint32_t at, const std::string& norm) -> AudioPlace {
    switch (at) {
      case 0:
        return named(norm + ".weight");
      case 1:
        return named(norm + ".bias");
      case 2:
        return named(of + ".q_proj.weight");
      case 3:
        return named(of + ".q_proj.bias");
      case 4:
        return named(of + ".k_proj.weight");
      case 5:
        return named(of + ".v_proj.weight");
      case 6:
        return named(of + ".v_proj.bias");
      case 7:
        return named(of + "." + out_proj + ".weight");
      default:
        return named(of + "." + out_proj + ".bias");
    }
  };
  if (t >= kAudioEncAttnNorm && t <= kAudioEncOutBias)
    return attention(el + "self_attn", t - kAudioEncAttnNorm, el + (whisper ? "self_attn_layer_norm" : "input_layernorm"));
  if (t >= kAudioDecAttnNorm && t <= kAudioDecOutBias)
    return attention(dl + "self_attn", t - kAudioDecAttnNorm, dl + (whisper ? "self_attn_layer_norm" : "input_layernorm"));
  if (t >= kAudioCrossNorm && t <= kAudioCrossOutBias)
    return attention(dl + "encoder_attn", t - kAudioCrossNorm, dl + (whisper ? "encoder_attn_layer_norm" : "post_attention_layernorm"));
  const std::string fc1 = whisper ? "fc1" : "mlp.fc1", fc2 = whisper ? "fc2" : "mlp.fc2";
  const uint64_t both = 2 * uint64_t{s.d_ff_decoder};  // Moonshine's decoder has up and gate in one
  switch (t) {
    case kAudioConv1:
      return named(enc + "conv1.weight");
    case kAudioConv1Bias:
      return named(enc + "conv1.bias");
    case kAudioConv2:
      return named(enc + "conv2.weight");
    case kAudioConv2Bias:
      return named(enc + "conv2.bias");
    case kAudioConv3:
      return named(enc + "conv3.weight");
    case kAudioConv3Bias:
      return named(enc + "conv3.bias");
    case kAudioConvNorm:
      return named(enc + "groupnorm.weight");
    case kAudioConvNormBias:
      return named(enc + "groupnorm.bias");
    case kAudioEncPositions:
      return named(enc + "embed_positions.weight");
    case kAudioDecPositions:
      return named(dec + "embed_positions.weight");
    case kAudioTokenEmbd:
      return named(dec + "embed_tokens.weight");
    case kAudioEncFfnNorm:
      return named(el + (whisper ? "final_layer_norm.weight" : "post_attention_layernorm.weight"));
    case kAudioEncFfnNormBias:
      return named(el + "final_layer_norm.bias");
    case kAudioEncUp:
      return named(el + fc1 + ".weight");
    case kAudioEncUpBias:
      return named(el + fc1 + ".bias");
    case kAudioEncDown:
      return named(el + fc2 + ".weight");
    case kAudioEncDownBias:
      return named(el + fc2 + ".bias");
    case kAudioEncNorm:
      return named(enc + "layer_norm.weight");
    case kAudioEncNormBias:
      return named(enc + "layer_norm.bias");
    case kAudioDecFfnNorm:
      return named(dl + (whisper ? "final_layer_norm.weight" : "final_layernorm.weight"));
    case kAudioDecFfnNormBias:
      return named(dl + "final_layer_norm.bias");
    case kAudioDecUp:
      return {dl + fc1 + ".weight", 0, whisper ? 0 : both};
    case kAudioDecUpBias:
      return {dl + fc1 + ".bias", 0, whisper ? 0 : both};
    case kAudioDecGate:
      return {dl + fc1 + ".weight", s.d_ff_decoder, both};
    case kAudioDecGateBias:
      return {dl + fc1 + ".bias", s.d_ff_decoder, both};
    case kAudioDecDown:
      return named(dl + fc2 + ".weight");
    case kAudioDecDownBias:
      return named(dl + fc2 + ".bias");
    case kAudioDecNorm:
      return named(dec + (whisper ? "layer_norm.weight" : "norm.weight"));
    case kAudioDecNormBias:
      return named(dec + "layer_norm.bias");
    default:
      return {};
  }
}

// Bands of the mel scale as Slaney's Auditory Toolbox has them, of one area: linear below 1 kHz, logarithmic above.
std::vector<float> mel_filters(uint32_t n) {
  constexpr double kLinear = 1000.0, kStep = 200.0 / 3, kTop = kSampleRate / 2.0;
  const double by = rope_log(6.4) / 27;
  const auto mel = [&](double f) { return f < kLinear ? f / kStep : kLinear / kStep + rope_log(f / kLinear) / by; };
  const auto hertz = [&](double m) {
    const double above = m - kLinear / kStep;
    return above < 0 ? m * kStep : kLinear * rope_power(6.4, above / 27);
  };
  std::vector<double> edges(n + 2);
  for (uint32_t i = 0; i < n + 2; ++i) edges[i] = hertz(mel(kTop) * i / (n + 1));
  std::vector<float> out(size_t{n} * kFftBins);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < kFftBins; ++k) {
      const double f = kTop * k / (kFftBins - 1);
      const double up = (f - edges[i]) / (edges[i + 1] - edges[i]), down = (edges[i + 2] - f) / (edges[i + 2] - edges[i + 1]);
      const double height = std::max(0.0, std::min(up, down));
      out[size_t{i} * kFftBins + k] = static_cast<float>(height * 2 / (edges[i + 2] - edges[i]));
    }
  return out;
}

// Rows of a tensor that lies in a file: a convolution's inputs are [input][tap] there, and [tap][input] here.
SourceTensor rows_of(const StoredTensor& stored, uint64_t first_row, uint32_t n, uint32_t k, uint32_t taps) {
  SourceTensor t;
  t.n = n, t.k = k, t.source_type = stored.type;
  t.rows = [read = stored.read, first_row, k, taps](uint32_t first, uint32_t count, float* out, Error*) {
    if (taps == 1) return read((first_row + first) * k, uint64_t{count} * k, out), LINNET_OK;
    std::vector<float> row(k);
    const uint32_t inputs = k / taps;
    for (uint32_t i = 0; i < count; ++i, out += k) {
      read((first_row + first + i) * k, k, row.data());
      for (uint32_t j = 0; j < taps; ++j)
        for (uint32_t c = 0; c < inputs; ++c) out[size_t{j} * inputs + c] = row[size_t{c} * taps + j];
    }
    return LINNET_OK;
  };
  return t;
}

}  // namespace

Status add_audio_tensors(const StoredTensors& stored, AudioPlaces place, AudioSource* out, Error* err) {
  const AudioSpec& spec = out->spec;
  Convolution conv[3] = {};
  audio_convolutions(spec, conv);
  return each_audio_tensor(spec, [&](AudioTensor tensor, uint32_t layer) -> Status {
    const AudioTensorRow& row = audio_row(tensor);
    const uint32_t n = row.n(spec), k = row.k(spec);
    AudioSourceTensor t = {tensor, layer, {}};
    if (tensor == kAudioMel) {
      t.rows.n = n, t.rows.k = k;
      t.rows.rows = [filters = std::make_shared<std::vector<float>>(mel_filters(n)), k](uint32_t first, uint32_t count, float* to, Error*) {
        std::memcpy(to, filters->data() + size_t{first} * k, size_t{count} * k * sizeof *to);
        return LINNET_OK;
      };
      t.rows.source_name = "mel_filters", t.rows.source_type = "F32";
      out->tensors.push_back(std::move(t));
      return LINNET_OK;
    }
    const AudioPlace at = place(spec, tensor, layer);
    const auto found = stored.find(at.name);
    if (found == stored.end()) return fail(err, LINNET_BAD_FILE, "tensor '", at.name, "' is missing");
    const uint32_t which = tensor == kAudioConv1 ? 0 : tensor == kAudioConv2 ? 1 : 2;
    const bool is_conv = tensor == kAudioConv1 || tensor == kAudioConv2 || tensor == kAudioConv3;
    std::vector<uint64_t> shape = {at.rows ? at.rows : n};
    if (is_conv)
      shape = {n, conv[which].inputs, conv[which].taps};
    else if (row.matrix())
      shape.push_back(k);
    if (found->second.shape != shape)
      return fail(err, LINNET_BAD_FILE, "tensor '", at.name, "' has shape ", shape_text(found->second.shape),
                  ", the model's settings ask for ", shape_text(shape));
    t.rows = rows_of(found->second, at.first, n, k, is_conv ? conv[which].taps : 1);
    t.rows.source_name = at.name;
    out->tensors.push_back(std::move(t));
    return LINNET_OK;
  });
}

namespace {

// The id of a token by its text, or none.
bool token_of(const TokenizerBlob& t, std::string_view text, uint32_t* id) {
  const auto at = std::find(t.tokens.begin(), t.tokens.end(), text);
  if (at == t.tokens.end()) return false;
  *id = static_cast<uint32_t>(at - t.tokens.begin());
  return true;
}

}  // namespace

Status find_whisper_tokens(bool several, AudioSource* out, Error* err) {
  AudioSpec& s = out->spec;
  const TokenizerBlob& t = out->tokenizer;
  const auto optional = [&](std::initializer_list<std::string_view> names) {
    uint32_t id;
    for (const std::string_view name : names)
      if (token_of(t, name, &id)) return id + 1;
    return uint32_t{0};
  };
  if (!token_of(t, "<|startoftranscript|>", &s.start) || !token_of(t, "<|endoftext|>", &s.end))
    return fail(err, LINNET_BAD_FILE, "tokenizer: has no '<|startoftranscript|>' or no '<|endoftext|>'");
  s.previous = optional({"<|startofprev|>"});
  s.no_speech = optional({"<|nospeech|>", "<|nocaptions|>"});
  s.no_timestamps = optional({"<|notimestamps|>"});
  s.transcribe = optional({"<|transcribe|>"});
  s.translate = optional({"<|translate|>"});
  s.first_timestamp = s.no_timestamps && s.no_timestamps < s.n_vocab ? s.no_timestamps + 1 : 0;
  if (!several) return LINNET_OK;
  for (uint32_t id = s.start + 1; id < t.tokens.size() && out->languages.size() < kMaxLanguages; ++id) {
    const std::string& text = t.tokens[id];
    if (text.size() < 6 || text.size() > 7 || !text.starts_with("<|") || !text.ends_with("|>")) break;
    out->languages.push_back(text.substr(2, text.size() - 4));
  }
  s.n_languages = static_cast<uint32_t>(out->languages.size());
  s.first_language = s.n_languages ? s.start + 2 : 0;
  return LINNET_OK;
}

// Tokens that are no speech, as Whisper's code lists them where its files do not: of marks and music those that are a token by themselves.
static Status suppress_marks(AudioSource* out, Error* err) {
  constexpr std::string_view kMarks[] = {"\"",  "#",  "(",  ")",   "*",   "+",   "/",   ":",  ";",   "<",  "=",  ">",
                                         "@",   "[",  "\\", "]",   "^",   "_",   "`",   "{",  "|",   "}",  "~",  "「",
                                         "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
                                         "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"};
  constexpr std::string_view kMusic[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
  Tokenizer t;
  LINNET_TRY(tokenizer_open(out->tokenizer.bytes.data(), out->tokenizer.bytes.size(), out->spec.n_vocab, &t, err));
  std::vector<uint8_t> scratch(tokenize_scratch_bytes(t, 64));
  const auto add = [&](const std::string& text, bool any, std::vector<uint32_t>* to) -> Status {
    int32_t ids[64];
    size_t n = 0;
    LINNET_TRY(tokenize(t, text, 0, scratch.data(), scratch.size(), ids, std::size(ids), &n, err));
    const uint32_t id = n ? static_cast<uint32_t>(ids[0]) : 0;
    if ((n == 1 || (any && n)) && std::find(to->begin(), to->end(), id) == to->end()) to->push_back(id);
    return LINNET_OK;
  };
  if (out->suppressed.empty()) {
    for (const char* begins : {" -", " '"}) LINNET_TRY(add(begins, true, &out->suppressed));
    for (const std::string_view mark : kMarks)
      for (const char* before : {"", " "}) LINNET_TRY(add(before + std::string(mark), false, &out->suppressed));
    for (const std::string_view mark : kMusic)
      for (const char* before : {"", " "}) LINNET_TRY(add(before + std::string(mark), true, &out->suppressed));
  }
  if (!out->suppressed_first.empty()) return LINNET_OK;
  LINNET_TRY(add(" ", true, &out->suppressed_first));
  out->suppressed_first.push_back(out->spec.end);
  return LINNET_OK;
}

namespace {

void read_ids(const nlohmann::json& from, const char* key, uint32_t n_vocab, std::vector<uint32_t>* out) {
  const nlohmann::json* list = json_member(from, key);
  if (!list || !list->is_array() || !out->empty()) return;
  for (const nlohmann::json& id : *list)
    if (id.is_number_unsigned() && out->size() < kMaxSuppressed && id.get<uint64_t>() < n_vocab) out->push_back(id.get<uint32_t>());
}

Status need_u32(const nlohmann::json& config, const char* key, uint32_t* out, Error* err) {
  return get_u32(config, key, out) == Got::kFound ? LINNET_OK : fail(err, LINNET_BAD_FILE, "config.json: '", key, "' is missing or no u32");
}

Status read_tokenizer(const std::string& folder, AudioSource* out, Error* err) {
  LINNET_TRY(tokenizer_from_folder(folder, &out->tokenizer, err, out->spec.n_vocab));
  return out->tokenizer.bytes.empty() ? fail(err, LINNET_BAD_FILE, "tokenizer.json is missing") : LINNET_OK;
}

Status whisper_config(const nlohmann::json& c, AudioSpec* s, Error* err) {
  uint32_t heads = 0, n = 0;
  const struct {
    const char* key;
    uint32_t* to;
  } fields[] = {{"d_model", &s->d_model},
                {"encoder_layers", &s->n_encoder},
                {"decoder_layers", &s->n_decoder},
                {"encoder_ffn_dim", &s->d_ff_encoder},
                {"decoder_ffn_dim", &s->d_ff_decoder},
                {"vocab_size", &s->n_vocab},
                {"num_mel_bins", &s->n_mels},
                {"max_source_positions", &s->n_audio},
                {"max_target_positions", &s->n_text},
                {"encoder_attention_heads", &s->n_heads},
                {"decoder_attention_heads", &heads}};
  for (const auto& f : fields) LINNET_TRY(need_u32(c, f.key, f.to, err));
  if (heads != s->n_heads)
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'decoder_attention_heads' ", heads, " beside 'encoder_attention_heads' ",
                s->n_heads);
  std::string act = "gelu";
  (void)get_string(c, "activation_function", &act);
  if (act != "gelu") return fail(err, LINNET_UNSUPPORTED, "config.json: 'activation_function' is '", act, "', not 'gelu'");
  bool scaled = false;
  (void)get_bool(c, "scale_embedding", &scaled);
  if (scaled) return fail(err, LINNET_UNSUPPORTED, "config.json: 'scale_embedding' true is not supported");
  (void)n;
  s->kind = kAudioWhisper;
  return LINNET_OK;
}

Status moonshine_config(const nlohmann::json& c, AudioSpec* s, Error* err) {
  uint32_t heads = 0, kv = 0;
  const struct {
    const char* key;
    uint32_t* to;
  } fields[] = {{"hidden_size", &s->d_model},
                {"intermediate_size", &s->d_ff_encoder},
                {"vocab_size", &s->n_vocab},
                {"encoder_num_hidden_layers", &s->n_encoder},
                {"decoder_num_hidden_layers", &s->n_decoder},
                {"encoder_num_attention_heads", &s->n_heads},
                {"decoder_num_attention_heads", &heads},
                {"max_position_embeddings", &s->n_text}};
  for (const auto& f : fields) LINNET_TRY(need_u32(c, f.key, f.to, err));
  if (heads != s->n_heads)
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'decoder_num_attention_heads' ", heads, " beside 'encoder_num_attention_heads' ",
                s->n_heads);
  for (const char* key : {"encoder_num_key_value_heads", "decoder_num_key_value_heads"})
    if (get_u32(c, key, &kv) == Got::kFound && kv != heads)
      return fail(err, LINNET_UNSUPPORTED, "config.json: '", key, "' ", kv, " beside ", heads, " heads is not supported");
  std::string act;
  if (get_string(c, "encoder_hidden_act", &act) == Got::kFound && act != "gelu")
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'encoder_hidden_act' is '", act, "', not 'gelu'");
  if (get_string(c, "decoder_hidden_act", &act) == Got::kFound && act != "silu")
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'decoder_hidden_act' is '", act, "', not 'silu'");
  bool bias = false;
  (void)get_bool(c, "attention_bias", &bias);
  if (bias) return fail(err, LINNET_UNSUPPORTED, "config.json: 'attention_bias' true is not supported");
  double share = 0.9, base = 10000;
  const nlohmann::json* rope = json_member(c, "rope_parameters");
  for (const nlohmann::json* from : {&c, rope}) {
    if (!from) continue;
    (void)get_double(*from, "partial_rotary_factor", &share);
    (void)get_double(*from, "rope_theta", &base);
  }
  if (!(share > 0 && share <= 1) || !(base >= 1 && base <= 1e9) || base != static_cast<uint32_t>(base))
    return fail(err, LINNET_UNSUPPORTED, "config.json: 'partial_rotary_factor' or 'rope_theta' is out of range");
  s->d_ff_decoder = s->d_ff_encoder;
  s->rope_dim = s->n_heads ? static_cast<uint32_t>(share * (s->d_model / s->n_heads)) / 2 * 2 : 0;
  s->rope_base = static_cast<uint32_t>(base);
  s->n_audio = 1536;  // about a minute
  s->kind = kAudioMoonshine;
  return LINNET_OK;
}

Status from_folder(const std::string& folder, AudioSource* out, Error* err) {
  JsonTree config, generation, preprocessor;
  bool found = false;
  LINNET_TRY(read_json(folder + "/config.json", "config.json", &config, &found, err));
  LINNET_TRY(read_json(folder + "/generation_config.json", "generation_config.json", &generation, &found, err));
  AudioSpec& s = out->spec;
  const bool whisper = json_is(*json_member(config.root, "model_type"), "whisper");
  LINNET_TRY(whisper ? whisper_config(config.root, &s, err) : moonshine_config(config.root, &s, err));
  LINNET_TRY(read_tokenizer(folder, out, err));
  if (whisper) {
    bool several = s.n_vocab >= 51865;  // of the published sizes the smallest with many languages
    (void)get_bool(generation.root, "is_multilingual", &several);
    LINNET_TRY(find_whisper_tokens(several, out, err));
  } else {
    s.start = 1, s.end = 2;
    (void)get_u32(config.root, "decoder_start_token_id", &s.start);
    (void)get_u32(config.root, "eos_token_id", &s.end);
  }
  for (const nlohmann::json* from : {&generation.root, &config.root}) {
    read_ids(*from, "suppress_tokens", s.n_vocab, &out->suppressed);
    read_ids(*from, "begin_suppress_tokens", s.n_vocab, &out->suppressed_first);
  }
  LINNET_TRY(audio_check(s, err, "config.json"));
  SafetensorsTensors tensors;
  SafetensorsIndex absent;
  LINNET_TRY(safetensors_open_folder(folder, &tensors, &out->keep, &absent, err));
  StoredTensors stored;
  for (const auto& [name, t] : tensors) {
    if (t.format == LINNET_FORMAT_DEFAULT) continue;  // missed where it is needed
    stored[name] = {t.shape, t.dtype, [t = t](uint64_t first, uint64_t count, float* to) { safetensors_read(t, first, count, to); }};
  }
  return add_audio_tensors(stored, hf_place, out, err);
}

Status from_ct2(const std::string& folder, AudioSource* out, Error* err) {
  JsonTree config;
  bool found = false;
  LINNET_TRY(read_json(folder + "/config.json", "config.json", &config, &found, err));
  StoredTensors stored;
  LINNET_TRY(open_ct2(folder, &stored, &out->keep, err));
  AudioSpec& s = out->spec;
  s.kind = kAudioWhisper;
  const auto shape = [&](const char* name, size_t at, uint32_t* to) -> Status {
    const auto t = stored.find(name);
    if (t == stored.end() || t->second.shape.size() <= at || t->second.shape[at] > UINT32_MAX)
      return fail(err, LINNET_BAD_FILE, "model.bin: variable '", name, "' is missing, or of too few dimensions");
    *to = static_cast<uint32_t>(t->second.shape[at]);
    return LINNET_OK;
  };
  LINNET_TRY(shape("decoder/embeddings/weight", 0, &s.n_vocab));
  LINNET_TRY(shape("decoder/embeddings/weight", 1, &s.d_model));
  LINNET_TRY(shape("encoder/conv1/weight", 1, &s.n_mels));
  LINNET_TRY(shape("encoder/position_encodings/encodings", 0, &s.n_audio));
  LINNET_TRY(shape("decoder/position_encodings/encodings", 0, &s.n_text));
  LINNET_TRY(shape("encoder/layer_0/ffn/linear_0/weight", 0, &s.d_ff_encoder));
  LINNET_TRY(shape("decoder/layer_0/ffn/linear_0/weight", 0, &s.d_ff_decoder));
  for (const bool encoder : {true, false}) {
    uint32_t& n = encoder ? s.n_encoder : s.n_decoder;
    while (n < kMaxAudioLayers &&
           stored.count((encoder ? "encoder/layer_" : "decoder/layer_") + std::to_string(n) + "/ffn/linear_0/weight"))
      ++n;
  }
  const auto heads = stored.find("encoder/num_heads"), same = stored.find("decoder/num_heads");
  if (heads == stored.end() || same == stored.end())
    return fail(err, LINNET_BAD_FILE, "model.bin: variable 'encoder/num_heads' or 'decoder/num_heads' is missing");
  float n[2];
  heads->second.read(0, 1, &n[0]);
  same->second.read(0, 1, &n[1]);
  if (!(n[0] >= 1 && n[0] <= 256) || n[0] != n[1])
    return fail(err, LINNET_UNSUPPORTED, "model.bin: variables 'encoder/num_heads' and 'decoder/num_heads' differ, or are none");
  s.n_heads = static_cast<uint32_t>(n[0]);
  LINNET_TRY(read_tokenizer(folder, out, err));
  LINNET_TRY(find_whisper_tokens(s.n_vocab >= 51865, out, err));
  read_ids(config.root, "suppress_ids", s.n_vocab, &out->suppressed);
  read_ids(config.root, "suppress_ids_begin", s.n_vocab, &out->suppressed_first);
  LINNET_TRY(audio_check(s, err, "model.bin"));
  return add_audio_tensors(stored, ct2_place, out, err);
}

enum class Kind { kNone, kFolder, kCt2, kGgml };
Kind kind_of(const std::string& path) {
  if (is_synthetic(path)) return Kind::kNone;
  if (!is_folder(path)) {
    Mapped file;
    return file_load(path.c_str(), LINNET_LOAD_MAP, {}, &file.view, nullptr) == LINNET_OK && is_ggml(file.view.data, file.view.bytes)
               ? Kind::kGgml
               : Kind::kNone;
  }
  JsonTree config;
  bool found = false;
  if (read_json(path + "/config.json", "config.json", &config, &found, nullptr) != LINNET_OK || !found) return Kind::kNone;
  const nlohmann::json* type = json_member(config.root, "model_type");
  if (type && (json_is(*type, "whisper") || json_is(*type, "moonshine"))) return Kind::kFolder;
  return json_member(config.root, "suppress_ids_begin") && path_info(path + "/model.bin").there ? Kind::kCt2 : Kind::kNone;
}

}  // namespace

bool is_audio_source(const std::string& path) { return kind_of(path) != Kind::kNone; }

Status audio_source(const std::string& path, AudioSource* out, Error* err) {
  out->name = folder_name(path);
  const Kind kind = kind_of(path);
  LINNET_TRY((kind == Kind::kGgml ? from_ggml : kind == Kind::kCt2 ? from_ct2 : from_folder)(path, out, err));
  return out->spec.whisper() ? suppress_marks(out, err) : LINNET_OK;
}

Format audio_format(const AudioSourceTensor& t, const Options& options) {
  constexpr Format kFine = LINNET_I8G32;
  const AudioTensorRow& row = audio_row(t.tensor);
  if (!row.matrix() || row.flags & kRoleF32) return LINNET_F32;
  const Format asked = options.weights != LINNET_FORMAT_DEFAULT  ? options.weights
                       : options.floats != LINNET_FORMAT_DEFAULT ? options.floats
                                                                 : LINNET_I8G128;
  return format_row(asked).bits < 8 && t.tensor == kAudioTokenEmbd ? kFine : asked;
}

void put_audio_keys(const AudioSource& source, GgufBuilder* b) {
  b->text("general.architecture", source.spec.whisper() ? "whisper" : "moonshine");
  if (!source.name.empty()) b->text("general.name", source.name);
  b->u32(kLayoutKey, kLayoutVersion);
  for (uint32_t i = 0; i < kAudioFieldCount; ++i) {
    uint32_t v;
    std::memcpy(&v, reinterpret_cast<const char*>(&source.spec) + kAudioFields[i].offset, sizeof v);
    b->u32(std::string(kAudioPrefix) + kAudioFields[i].name, v);
  }
  if (!source.languages.empty()) b->texts(kAudioLanguages, source.languages);
  if (!source.suppressed.empty()) b->u32s(kAudioSuppressed, source.suppressed);
  if (!source.suppressed_first.empty()) b->u32s(kAudioSuppressedFirst, source.suppressed_first);
}

}  // namespace linnet::convert
