#include "audio_model.h"

#include <new>

#include "../../kernels_cpu/measure.h"
#include "../layers/kinds.h"
#include "../model.h"

namespace linnet {
namespace {

struct Parts {
  linnet_audio* audio;
  EncoderLayer* encoder;
  DecoderLayer* decoder;
  uint32_t* suppressed;  // both lists
  uint8_t* tokenizer;
};

Parts lay_out(Arena& a, const AudioSpec& s, size_t tokenizer_bytes) {
  Parts p;
  p.audio = a.take<linnet_audio>("model", 1);
  p.encoder = a.take<EncoderLayer>("model", s.n_encoder);
  p.decoder = a.take<DecoderLayer>("model", s.n_decoder);
  p.suppressed = a.take<uint32_t>("model", 2 * div_up(uint64_t{s.n_vocab}, 32));
  p.tokenizer = a.take<uint8_t>("tokenizer", tokenizer_bytes);
  return p;
}

Status open_file(linnet_view view, Gguf* file, AudioSpec* spec, GgufTensor* tokenizer, Error* err) {
  LINNET_TRY(gguf_open(view.data, view.bytes, "audio model file", file, err));
  LINNET_TRY(audio_read(*file, spec, err));
  *tokenizer = {};
  if (!file->tensor(kTokenizerTensor, tokenizer))
    return fail(err, LINNET_BAD_FILE, file->label, ": tensor '", kTokenizerTensor, "' is missing");
  if (tokenizer->type != kGgmlI8)
    return fail(err, LINNET_BAD_FILE, file->label, ": tensor '", kTokenizerTensor, "' has type ", tokenizer->type, ", not I8");
  return LINNET_OK;
}

struct AudioLoader {
  const Gguf& file;
  linnet_audio* audio;
  Error* err;
  uint64_t format_bytes[kMaxFormat + 1] = {};

  Status matrix(AudioTensor t, uint32_t layer, Matrix* out) {
    const AudioTensorRow& row = audio_row(t);
    const AudioSpec& s = audio->spec;
    *out = {};
    if (!row.present(s)) return LINNET_OK;
    char name[kRoleNameBytes];
    audio_name(t, layer, name);
    LINNET_TRY(packed_matrix(file, name, row.n(s), row.k(s), row.flags & kRoleF32, out, err));
    const uint64_t bytes = packed_bytes(out->format, out->n, out->k);
    audio->n_params += uint64_t{out->n} * out->k;
    audio->weight_bytes += bytes;
    format_bytes[out->format] += bytes;
    return LINNET_OK;
  }
  Status vector(AudioTensor t, uint32_t layer, const float** out) {
    const AudioTensorRow& row = audio_row(t);
    const AudioSpec& s = audio->spec;
    *out = nullptr;
    if (!row.present(s)) return LINNET_OK;
    char name[kRoleNameBytes];
    audio_name(t, layer, name);
    audio->n_params += row.n(s);
    audio->weight_bytes += align_up(uint64_t{row.n(s)} * sizeof(float), 64);
    return packed_vector(file, name, row.n(s), out, err);
  }
  Status norm(AudioTensor weight, AudioTensor bias, uint32_t layer, Norm* out) {
    out->kind = kNormLayer;
    out->eps = 1e-5f;
    LINNET_TRY(vector(weight, layer, &out->weight));
    return vector(bias, layer, &out->bias);
  }
  // Of attention the tensors follow one another in the same order everywhere.
  Status attention(AudioTensor first, uint32_t layer, AudioAttention* out) {
    const auto at = [&](uint32_t i) { return AudioTensor{first + i}; };
    LINNET_TRY(norm(at(0), at(1), layer, &out->norm));
    LINNET_TRY(matrix(at(2), layer, &out->q));
    LINNET_TRY(vector(at(3), layer, &out->q_bias));
    LINNET_TRY(matrix(at(4), layer, &out->k));
    LINNET_TRY(matrix(at(5), layer, &out->v));
    LINNET_TRY(vector(at(6), layer, &out->v_bias));
    LINNET_TRY(matrix(at(7), layer, &out->out));
    LINNET_TRY(vector(at(8), layer, &out->out_bias));
    return alike(out->q, out->k, out->v, layer);
  }
  // They read the same rows.
  Status alike(const Matrix& a, const Matrix& b, const Matrix& c, uint32_t layer) {
    return same_rows(a, b) && same_rows(a, c) ? LINNET_OK
                                              : fail(err, LINNET_UNSUPPORTED, file.label, ": layer ", layer,
                                                     ": matrices that read the same rows have formats of different activation groups");
  }
  Status load() {
    linnet_audio& m = *audio;
    const AudioSpec& s = m.spec;
    LINNET_TRY(matrix(kAudioConv1, 0, &m.conv[0]));
    LINNET_TRY(vector(kAudioConv1Bias, 0, &m.conv_bias[0]));
    LINNET_TRY(norm(kAudioConvNorm, kAudioConvNormBias, 0, &m.conv_norm));
    LINNET_TRY(matrix(kAudioConv2, 0, &m.conv[1]));
    LINNET_TRY(vector(kAudioConv2Bias, 0, &m.conv_bias[1]));
    LINNET_TRY(matrix(kAudioConv3, 0, &m.conv[2]));
    LINNET_TRY(vector(kAudioConv3Bias, 0, &m.conv_bias[2]));
    LINNET_TRY(matrix(kAudioMel, 0, &m.mel));
    LINNET_TRY(matrix(kAudioEncPositions, 0, &m.enc_positions));
    LINNET_TRY(norm(kAudioEncNorm, kAudioEncNormBias, 0, &m.enc_norm));
    LINNET_TRY(matrix(kAudioTokenEmbd, 0, &m.embedding));
    LINNET_TRY(matrix(kAudioDecPositions, 0, &m.dec_positions));
    LINNET_TRY(norm(kAudioDecNorm, kAudioDecNormBias, 0, &m.dec_norm));
    for (uint32_t i = 0; i < s.n_encoder; ++i) {
      EncoderLayer& l = m.encoder[i];
      AudioFeedForward& f = l.feed_forward;
      LINNET_TRY(attention(kAudioEncAttnNorm, i, &l.attention));
      LINNET_TRY(norm(kAudioEncFfnNorm, kAudioEncFfnNormBias, i, &f.norm));
      LINNET_TRY(matrix(kAudioEncUp, i, &f.up));
      LINNET_TRY(vector(kAudioEncUpBias, i, &f.up_bias));
      LINNET_TRY(matrix(kAudioEncDown, i, &f.down));
      LINNET_TRY(vector(kAudioEncDownBias, i, &f.down_bias));
    }
    for (uint32_t i = 0; i < s.n_decoder; ++i) {
      DecoderLayer& l = m.decoder[i];
      AudioFeedForward& f = l.feed_forward;
      LINNET_TRY(attention(kAudioDecAttnNorm, i, &l.attention));
      LINNET_TRY(attention(kAudioCrossNorm, i, &l.cross));
      LINNET_TRY(norm(kAudioDecFfnNorm, kAudioDecFfnNormBias, i, &f.norm));
      LINNET_TRY(matrix(kAudioDecGate, i, &f.gate));
      LINNET_TRY(vector(kAudioDecGateBias, i, &f.gate_bias));
      LINNET_TRY(matrix(kAudioDecUp, i, &f.up));
      LINNET_TRY(vector(kAudioDecUpBias, i, &f.up_bias));
      LINNET_TRY(matrix(kAudioDecDown, i, &f.down));
      LINNET_TRY(vector(kAudioDecDownBias, i, &f.down_bias));
      if (f.gate.panels) LINNET_TRY(alike(f.gate, f.up, f.up, i));
    }
    m.main_format = LINNET_F32;
    for (uint32_t f = 1; f <= kMaxFormat; ++f)
      if (format_bytes[f] > format_bytes[m.main_format]) m.main_format = static_cast<Format>(f);
    return LINNET_OK;
  }
};

// A list of tokens as bits.
Status read_tokens(const Gguf& file, const char* key, uint32_t n_vocab, uint32_t* bits, Error* err) {
  GgufValue v;
  std::memset(bits, 0, div_up(uint64_t{n_vocab}, 32) * sizeof *bits);
  if (!file.key(key, &v)) return LINNET_OK;
  if (v.type != kGgufArray || v.array_type != kGgufU32 || v.count > kMaxSuppressed)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "': not an array of at most ", kMaxSuppressed, " u32");
  for (uint64_t i = 0; i < v.count; ++i) {
    uint32_t id;
    std::memcpy(&id, v.raw.data() + i * sizeof id, sizeof id);
    if (id >= n_vocab)
      return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "'[", i, "] is ", id, ", the vocabulary has ", n_vocab, " tokens");
    bits[id / 32] |= 1u << (id % 32);
  }
  return LINNET_OK;
}

Status read_languages(const Gguf& file, linnet_audio* m, Error* err) {
  GgufValue v;
  const uint32_t n = m->spec.n_languages;
  if (n == 0) return LINNET_OK;
  if (!file.key(kAudioLanguages, &v) || v.type != kGgufArray || v.array_type != kGgufString || v.count != n)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", kAudioLanguages, "': not an array of ", n, " strings");
  size_t pos = 0;
  for (uint32_t i = 0; i < n; ++i) {
    std::string_view text;
    if (!gguf_next_string(v, &pos, &text) || text.empty() || text.size() >= sizeof m->languages[i])
      return fail(err, LINNET_BAD_FILE, file.label, ": key '", kAudioLanguages, "'[", i, "] has ", text.size(), " bytes, must be 1..",
                  sizeof m->languages[i] - 1);
    std::memcpy(m->languages[i], text.data(), text.size());
    m->languages[i][text.size()] = '\0';
  }
  return LINNET_OK;
}

}  // namespace

Status audio_need(linnet_view view, const linnet_profile& profile, linnet_need* out, Error* err) {
  Gguf file;
  AudioSpec spec;
  GgufTensor tokenizer;
  LINNET_TRY(check_profile(profile, err));
  LINNET_TRY(open_file(view, &file, &spec, &tokenizer, err));
  Arena arena;
  lay_out(arena, spec, static_cast<size_t>(tokenizer.bytes));
  *out = {sizeof *out, kAlign, arena.used(), 0};
  return LINNET_OK;
}

Status audio_init(linnet_audio** out, void* mem, size_t bytes, linnet_view view, const linnet_profile& profile, Error* err) {
  Gguf file;
  AudioSpec spec;
  GgufTensor tokenizer;
  LINNET_TRY(check_profile(profile, err));
  LINNET_TRY(open_file(view, &file, &spec, &tokenizer, err));
  const size_t tokenizer_bytes = static_cast<size_t>(tokenizer.bytes);
  Arena counted;
  lay_out(counted, spec, tokenizer_bytes);
  if (counted.used() > bytes) return fail(err, LINNET_TOO_SMALL, "audio model: memory of ", bytes, " bytes, needs ", counted.used());
  Arena arena(mem, bytes);
  const Parts p = lay_out(arena, spec, tokenizer_bytes);
  linnet_audio* const m = new (p.audio) linnet_audio{};
  m->spec = spec;
  m->profile = profile;
  m->encoder = p.encoder;
  m->decoder = p.decoder;
  for (uint32_t i = 0; i < spec.n_encoder; ++i) new (&m->encoder[i]) EncoderLayer{};
  for (uint32_t i = 0; i < spec.n_decoder; ++i) new (&m->decoder[i]) DecoderLayer{};
  m->arena = arena;
  LINNET_TRY(profile_kernels(profile, true, &m->kernels, err));
  LINNET_TRY(backend_choose({}, &m->backend, err));  // the CPU: no other has kernels for it
  m->suppressed = p.suppressed;
  m->suppressed_first = p.suppressed + div_up(uint64_t{spec.n_vocab}, 32);
  LINNET_TRY(read_tokens(file, kAudioSuppressed, spec.n_vocab, m->suppressed, err));
  LINNET_TRY(read_tokens(file, kAudioSuppressedFirst, spec.n_vocab, m->suppressed_first, err));
  LINNET_TRY(read_languages(file, m, err));
  GgufValue v;
  if (file.key("general.name", &v) && v.type == kGgufString) copy_text(v.text, m->name);
  std::memcpy(p.tokenizer, tokenizer.data, tokenizer_bytes);  // copied first, then checked: the file may change under us
  LINNET_TRY(tokenizer_open(p.tokenizer, tokenizer_bytes, spec.n_vocab, &m->tokenizer, err));
  AudioLoader in{file, m, err};
  LINNET_TRY(in.load());
  *out = m;
  return LINNET_OK;
}

}  // namespace linnet
