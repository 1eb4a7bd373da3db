#include "audio_spec.h"

#include <cstddef>

namespace linnet {
namespace {

#define FIELD(name, min, max) {#name, static_cast<uint16_t>(offsetof(AudioSpec, name)), min, max}

using S = const AudioSpec&;
bool always(S) { return true; }
bool whisper(S s) { return s.whisper(); }
bool moonshine(S s) { return !s.whisper(); }
uint32_t one(S) { return 1; }
uint32_t d_model(S s) { return s.d_model; }
uint32_t bins(S) { return kFftBins; }
uint32_t mels(S s) { return s.n_mels; }
uint32_t n_audio(S s) { return s.n_audio; }
uint32_t n_text(S s) { return s.n_text; }
uint32_t n_vocab(S s) { return s.n_vocab; }
uint32_t ff_encoder(S s) { return s.d_ff_encoder; }
uint32_t ff_decoder(S s) { return s.d_ff_decoder; }
template <uint32_t i>
uint32_t conv_n(S s) {
  Convolution c[3] = {};
  audio_convolutions(s, c);
  return c[i].n;
}
template <uint32_t i>
uint32_t conv_k(S s) {
  Convolution c[3] = {};
  audio_convolutions(s, c);
  return c[i].taps * c[i].inputs;
}

constexpr uint8_t kMatrix = kRoleMatrix, kF32 = kRoleMatrix | kRoleF32;

// clang-format off: a tensor a row
constexpr AudioTensorRow kRows[] = {
  // The first convolution has few inputs, and what is quiet in them counts: it takes no time in f32.
  {"encoder.conv1.weight", kOfAudio, kF32, conv_n<0>, conv_k<0>, always},
  {"encoder.conv1.bias", kOfAudio, 0, conv_n<0>, one, whisper},
  {"encoder.conv_norm.weight", kOfAudio, 0, d_model, one, moonshine},
  {"encoder.conv_norm.bias", kOfAudio, 0, d_model, one, moonshine},
  {"encoder.conv2.weight", kOfAudio, kMatrix, conv_n<1>, conv_k<1>, always},
  {"encoder.conv2.bias", kOfAudio, 0, conv_n<1>, one, always},
  {"encoder.conv3.weight", kOfAudio, kMatrix, conv_n<2>, conv_k<2>, moonshine},
  {"encoder.conv3.bias", kOfAudio, 0, conv_n<2>, one, moonshine},
  {"mel_filters", kOfAudio, kF32, mels, bins, whisper},
  {"encoder.position_embd.weight", kOfAudio, kF32, n_audio, d_model, whisper},
  {"attn_norm.weight", kOfEncoder, 0, d_model, one, always},
  {"attn_norm.bias", kOfEncoder, 0, d_model, one, whisper},
  {"attn_q.weight", kOfEncoder, kMatrix, d_model, d_model, always},
  {"attn_q.bias", kOfEncoder, 0, d_model, one, whisper},
  {"attn_k.weight", kOfEncoder, kMatrix, d_model, d_model, always},
  {"attn_v.weight", kOfEncoder, kMatrix, d_model, d_model, always},
  {"attn_v.bias", kOfEncoder, 0, d_model, one, whisper},
  {"attn_output.weight", kOfEncoder, kMatrix, d_model, d_model, always},
  {"attn_output.bias", kOfEncoder, 0, d_model, one, whisper},
  {"ffn_norm.weight", kOfEncoder, 0, d_model, one, always},
  {"ffn_norm.bias", kOfEncoder, 0, d_model, one, whisper},
  {"ffn_up.weight", kOfEncoder, kMatrix, ff_encoder, d_model, always},
  {"ffn_up.bias", kOfEncoder, 0, ff_encoder, one, always},
  {"ffn_down.weight", kOfEncoder, kMatrix, d_model, ff_encoder, always},
  {"ffn_down.bias", kOfEncoder, 0, d_model, one, always},
  {"encoder.output_norm.weight", kOfAudio, 0, d_model, one, always},
  {"encoder.output_norm.bias", kOfAudio, 0, d_model, one, whisper},
  {"decoder.token_embd.weight", kOfAudio, kMatrix, n_vocab, d_model, always},
  {"decoder.position_embd.weight", kOfAudio, kF32, n_text, d_model, whisper},
  {"attn_norm.weight", kOfDecoder, 0, d_model, one, always},
  {"attn_norm.bias", kOfDecoder, 0, d_model, one, whisper},
  {"attn_q.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"attn_q.bias", kOfDecoder, 0, d_model, one, whisper},
  {"attn_k.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"attn_v.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"attn_v.bias", kOfDecoder, 0, d_model, one, whisper},
  {"attn_output.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"attn_output.bias", kOfDecoder, 0, d_model, one, whisper},
  {"cross_norm.weight", kOfDecoder, 0, d_model, one, always},
  {"cross_norm.bias", kOfDecoder, 0, d_model, one, whisper},
  {"cross_q.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"cross_q.bias", kOfDecoder, 0, d_model, one, whisper},
  {"cross_k.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"cross_v.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"cross_v.bias", kOfDecoder, 0, d_model, one, whisper},
  {"cross_output.weight", kOfDecoder, kMatrix, d_model, d_model, always},
  {"cross_output.bias", kOfDecoder, 0, d_model, one, whisper},
  {"ffn_norm.weight", kOfDecoder, 0, d_model, one, always},
  {"ffn_norm.bias", kOfDecoder, 0, d_model, one, whisper},
  {"ffn_gate.weight", kOfDecoder, kMatrix, ff_decoder, d_model, moonshine},
  {"ffn_gate.bias", kOfDecoder, 0, ff_decoder, one, moonshine},
  {"ffn_up.weight", kOfDecoder, kMatrix, ff_decoder, d_model, always},
  {"ffn_up.bias", kOfDecoder, 0, ff_decoder, one, always},
  {"ffn_down.weight", kOfDecoder, kMatrix, d_model, ff_decoder, always},
  {"ffn_down.bias", kOfDecoder, 0, d_model, one, always},
  {"decoder.output_norm.weight", kOfAudio, 0, d_model, one, always},
  {"decoder.output_norm.bias", kOfAudio, 0, d_model, one, whisper},
};
// clang-format on
static_assert(sizeof kRows / sizeof kRows[0] == kAudioTensorCount);

struct Ids {
  uint32_t n_vocab;
  Error* err;
  PathName label;
  Status check(const char* name, uint32_t id, uint32_t n = 1) const {
    return id < n_vocab && n <= n_vocab - id
               ? LINNET_OK
               : fail(err, LINNET_BAD_FILE, label, ": ", name, " = ", id, ": the vocabulary has ", n_vocab, " tokens");
  }
};

}  // namespace

const AudioField kAudioFields[] = {
    FIELD(kind, 1, 2),
    FIELD(n_mels, 0, 1024),
    FIELD(d_model, 16, 4096),
    FIELD(n_heads, 1, 256),
    FIELD(n_encoder, 1, kMaxAudioLayers),
    FIELD(n_decoder, 1, kMaxAudioLayers),
    FIELD(d_ff_encoder, 1, 65536),
    FIELD(d_ff_decoder, 1, 65536),
    FIELD(n_vocab, 1, 1 << 20),
    FIELD(n_audio, 1, 1 << 16),
    FIELD(n_text, 1, 1 << 16),
    FIELD(rope_dim, 0, 4096),
    FIELD(rope_base, 0, 1 << 30),
    FIELD(start, 0, 1 << 20),
    FIELD(end, 0, 1 << 20),
    FIELD(previous, 0, 1 << 20),
    FIELD(no_speech, 0, 1 << 20),
    FIELD(no_timestamps, 0, 1 << 20),
    FIELD(transcribe, 0, 1 << 20),
    FIELD(translate, 0, 1 << 20),
    FIELD(first_timestamp, 0, 1 << 20),
    FIELD(first_language, 0, 1 << 20),
    FIELD(n_languages, 0, kMaxLanguages),
};
const uint32_t kAudioFieldCount = sizeof kAudioFields / sizeof kAudioFields[0];

uint32_t audio_convolutions(const AudioSpec& s, Convolution out[3]) {
  const uint32_t d = s.d_model;
  if (s.whisper()) {
    out[0] = {d, s.n_mels, 3, 1};
    out[1] = {d, d, 3, 2};
    return 2;
  }
  out[0] = {d, 1, 127, 64};
  out[1] = {2 * d, d, 7, 3};
  out[2] = {d, 2 * d, 3, 2};
  return 3;
}

uint64_t audio_window(const AudioSpec& s) {
  Convolution c[3] = {};
  if (s.whisper()) return uint64_t{s.n_audio} * 2 * kHop;
  uint64_t samples = s.n_audio;
  for (uint32_t i = audio_convolutions(s, c); i-- > 0;) samples = (samples - 1) * c[i].stride + c[i].taps;
  return samples;
}

const AudioTensorRow& audio_row(AudioTensor t) { return kRows[t]; }
uint32_t audio_layers(const AudioSpec& s, AudioTensor t) {
  return kRows[t].part == kOfAudio ? 1 : kRows[t].part == kOfEncoder ? s.n_encoder : s.n_decoder;
}

void audio_name(AudioTensor t, uint32_t layer, char* out) {
  size_t n = 0;
  const auto add = [&](const char* text) {
    while (*text) out[n++] = *text++;  // the longest name has 39 bytes
  };
  if (kRows[t].part != kOfAudio) {
    add(kRows[t].part == kOfEncoder ? "encoder.blk." : "decoder.blk.");
    char digits[12];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = static_cast<char>('0' + layer % 10);
    while (layer /= 10);
    add(digits + at);
    add(".");
  }
  add(kRows[t].name);
  out[n] = '\0';
}

Status audio_check(const AudioSpec& s, Error* err, PathName label) {
  for (uint32_t i = 0; i < kAudioFieldCount; ++i) {
    const AudioField& f = kAudioFields[i];
    uint32_t v;
    std::memcpy(&v, reinterpret_cast<const char*>(&s) + f.offset, sizeof v);
    if (v < f.min || v > f.max) return fail(err, LINNET_BAD_FILE, label, ": ", f.name, " = ", v, ", must be ", f.min, "..", f.max);
  }
  // Rows of a convolution's inputs lie one behind the other, and products come in panels of 16.
  if (s.d_model % kPanel) return fail(err, LINNET_UNSUPPORTED, label, ": d_model = ", s.d_model, " is no multiple of ", kPanel);
  if (s.d_model % s.n_heads || s.head_dim() > 1024 || s.head_dim() % 4)
    return fail(err, LINNET_UNSUPPORTED, label, ": d_model = ", s.d_model, " of n_heads = ", s.n_heads, " heads");
  if (s.whisper() ? s.n_mels == 0 || s.n_mels % kPanel || s.rope_dim : s.n_mels || s.rope_dim == 0)
    return fail(err, LINNET_UNSUPPORTED, label, ": n_mels = ", s.n_mels, " and rope_dim = ", s.rope_dim, " with kind = ", s.kind);
  if (s.rope_dim % 2 || s.rope_dim > s.head_dim() || (s.rope_dim && s.rope_base == 0))
    return fail(err, LINNET_BAD_FILE, label, ": rope_dim = ", s.rope_dim, " of heads of ", s.head_dim(), ", rope_base = ", s.rope_base);
  const Ids ids = {s.n_vocab, err, label};
  LINNET_TRY(ids.check("start", s.start));
  LINNET_TRY(ids.check("end", s.end));
  const struct {
    const char* name;
    uint32_t id;
  } those[] = {{"previous", s.previous},
               {"no_speech", s.no_speech},
               {"no_timestamps", s.no_timestamps},
               {"transcribe", s.transcribe},
               {"translate", s.translate},
               {"first_timestamp", s.first_timestamp},
               {"first_language", s.first_language}};
  for (const auto& t : those)
    if (t.id) LINNET_TRY(ids.check(t.name, t.id - 1));
  if (s.n_languages && !s.first_language)
    return fail(err, LINNET_BAD_FILE, label, ": n_languages = ", s.n_languages, " without first_language");
  if (s.n_languages) LINNET_TRY(ids.check("first_language", s.first_language - 1, s.n_languages));
  return LINNET_OK;
}

bool is_audio(const Gguf& file) {
  GgufValue v;
  return is_packed(file) && file.key("linnet.audio.kind", &v);
}

Status audio_read(const Gguf& file, AudioSpec* out, Error* err) {
  *out = {};
  GgufValue v;
  if (!is_audio(file)) return fail(err, LINNET_UNSUPPORTED, file.label, ": no audio model packed for linnet: run `linnet convert` on one");
  if (!file.key(kLayoutKey, &v) || v.type != kGgufU32 || v.u == 0)
    return fail(err, LINNET_BAD_FILE, file.label, ": ", kLayoutKey, ": not a u32 of at least 1");
  if (v.u > kLayoutVersion)
    return fail(err, LINNET_UNSUPPORTED, file.label, ": ", kLayoutKey, " = ", v.u, ": made by a newer linnet; this one reads up to ",
                kLayoutVersion);
  for (uint32_t i = 0; i < kAudioFieldCount; ++i) {
    char key[64];
    size_t n = sizeof kAudioPrefix - 1;
    std::memcpy(key, kAudioPrefix, n);
    for (const char* c = kAudioFields[i].name; *c; ++c) key[n++] = *c;
    const std::string_view name(key, n);
    if (!file.key(name, &v)) return fail(err, LINNET_BAD_FILE, file.label, ": key '", name, "' is missing");
    if (v.type != kGgufU32) return fail(err, LINNET_BAD_FILE, file.label, ": key '", name, "' is no u32");
    const uint32_t value = static_cast<uint32_t>(v.u);
    std::memcpy(reinterpret_cast<char*>(out) + kAudioFields[i].offset, &value, sizeof value);
  }
  return audio_check(*out, err, file.label);
}

}  // namespace linnet
