// whisper.cpp's own files: sizes, filters, tokens without merges, then tensors one after the other, in f32, f16 or GGML's blocks.
#include <cstring>

#include "../../platform/reader.h"
#include "audio_source.h"
#include "ggml_types.h"
#include "tokenizer_parts.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kMagic = 0x67676d6c, kMostTensors = 65536, kMostName = 255, kMostTokenBytes = 4096;
constexpr uint32_t kTimes = 1501, kOthers = 8;  // tokens behind the ranks: of times; and those that are neither times nor languages

// In the order of their tokens.
constexpr const char* kLanguages[] = {"en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt",  "tr", "pl", "ca", "nl", "ar", "sv", "it", "id",
                                      "hi", "fi", "vi", "he", "uk", "el", "ms", "cs", "ro",  "da", "hu", "ta", "no", "th", "ur", "hr", "bg",
                                      "lt", "la", "mi", "ml", "cy", "sk", "te", "fa", "lv",  "bn", "sr", "az", "sl", "kn", "et", "mk", "br",
                                      "eu", "is", "hy", "ne", "mn", "bs", "kk", "sq", "sw",  "gl", "mr", "pa", "si", "km", "sn", "yo", "so",
                                      "af", "oc", "ka", "be", "tg", "sd", "gu", "am", "yi",  "lo", "uz", "fo", "ht", "ps", "tk", "nn", "mt",
                                      "sa", "lb", "my", "bo", "tl", "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su", "yue"};

// What a tensor is called there.
AudioPlace ggml_place(const AudioSpec&, AudioTensor t, uint32_t layer) {
  const bool encoder = t < kAudioTokenEmbd;
  const std::string part = encoder ? "encoder." : "decoder.", l = part + "blocks." + std::to_string(layer) + ".";
  constexpr const char* kAttention[] = {"_ln.weight",    "_ln.bias",    ".query.weight", ".query.bias", ".key.weight",
                                        ".value.weight", ".value.bias", ".out.weight",   ".out.bias"};
  if (t >= kAudioEncAttnNorm && t <= kAudioEncOutBias) return {l + "attn" + kAttention[t - kAudioEncAttnNorm]};
  if (t >= kAudioDecAttnNorm && t <= kAudioDecOutBias) return {l + "attn" + kAttention[t - kAudioDecAttnNorm]};
  if (t >= kAudioCrossNorm && t <= kAudioCrossOutBias) return {l + "cross_attn" + kAttention[t - kAudioCrossNorm]};
  switch (t) {
    case kAudioConv1:
      return {"encoder.conv1.weight"};
    case kAudioConv1Bias:
      return {"encoder.conv1.bias"};
    case kAudioConv2:
      return {"encoder.conv2.weight"};
    case kAudioConv2Bias:
      return {"encoder.conv2.bias"};
    case kAudioEncPositions:
    case kAudioDecPositions:
      return {part + "positional_embedding"};
    case kAudioTokenEmbd:
      return {"decoder.token_embedding.weight"};
    case kAudioEncFfnNorm:
    case kAudioDecFfnNorm:
      return {l + "mlp_ln.weight"};
    case kAudioEncFfnNormBias:
    case kAudioDecFfnNormBias:
      return {l + "mlp_ln.bias"};
    case kAudioEncUp:
    case kAudioDecUp:
      return {l + "mlp.0.weight"};
    case kAudioEncUpBias:
    case kAudioDecUpBias:
      return {l + "mlp.0.bias"};
    case kAudioEncDown:
    case kAudioDecDown:
      return {l + "mlp.2.weight"};
    case kAudioEncDownBias:
    case kAudioDecDownBias:
      return {l + "mlp.2.bias"};
    case kAudioEncNorm:
      return {"encoder.ln_post.weight"};
    case kAudioEncNormBias:
      return {"encoder.ln_post.bias"};
    case kAudioDecNorm:
      return {"decoder.ln.weight"};
    case kAudioDecNormBias:
      return {"decoder.ln.bias"};
    default:
      return {};
  }
}

// The tokens behind the ranks, whose names the file leaves out.
std::vector<std::string> special_tokens(uint32_t n_languages) {
  std::vector<std::string> all = {"<|endoftext|>", "<|startoftranscript|>"};
  for (uint32_t i = 0; i < n_languages; ++i) all.push_back(std::string("<|") + kLanguages[i] + "|>");
  for (const char* name : {"translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"})
    all.push_back(std::string("<|") + name + "|>");
  for (uint32_t i = 0; i < kTimes; ++i) {
    char text[16];
    std::snprintf(text, sizeof text, "<|%u.%02u|>", i / 50, i % 50 * 2);
    all.push_back(text);
  }
  return all;
}

}  // namespace

bool is_ggml(const void* data, size_t bytes) {
  uint32_t magic = 0;
  if (bytes >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  return magic == kMagic;
}

Status from_ggml(const std::string& path, AudioSource* out, Error* err) {
  const auto file = std::make_shared<Mapped>();
  LINNET_TRY(file_load(path.c_str(), LINNET_LOAD_MAP, {}, &file->view, err));
  out->keep = file;
  ByteReader in(file->view.data, file->view.bytes);
  const auto bad = [&](const char* what) { return fail(err, LINNET_BAD_FILE, what, " before byte ", in.pos()); };
  if (in.read<uint32_t>() != kMagic) return bad("no file of whisper.cpp: another magic number");
  uint32_t h[11];
  for (uint32_t& v : h) v = in.read<uint32_t>();
  AudioSpec& s = out->spec;
  s.kind = kAudioWhisper;
  s.n_vocab = h[0], s.n_audio = h[1], s.d_model = h[2], s.n_heads = h[3], s.n_encoder = h[4], s.n_text = h[5], s.n_decoder = h[8],
  s.n_mels = h[9];
  if (!in.ok()) return bad("the file ends");
  if (h[6] != s.d_model || h[7] != s.n_heads)
    return fail(err, LINNET_UNSUPPORTED, "n_text_state = ", h[6], " and n_text_head = ", h[7], " beside ", s.d_model, " and ", s.n_heads,
                " of the encoder");
  s.d_ff_encoder = s.d_ff_decoder = s.d_model <= 65536 / 4 ? 4 * s.d_model : 0;
  // Filters: they are those that every model has.
  const uint32_t n_filters = in.read<uint32_t>(), n_bins = in.read<uint32_t>();
  if (n_filters != s.n_mels || n_bins != kFftBins) return bad("filters of another size than the model's");
  if (!in.skip(uint64_t{n_filters} * n_bins * sizeof(float))) return bad("the file ends");
  const uint32_t n_tokens = in.read<uint32_t>(), n_ranks = s.n_vocab >= 51865 ? 50257 : 50256;
  if (!in.ok() || n_tokens < n_ranks || n_tokens > s.n_vocab || s.n_vocab < n_ranks + kTimes + kOthers ||
      s.n_vocab - n_ranks - kTimes - kOthers > std::size(kLanguages))
    return fail(err, LINNET_UNSUPPORTED, "n_vocab = ", s.n_vocab, " with ", n_tokens,
                " tokens in the file: none of Whisper's vocabularies");
  std::vector<std::string> ranked;
  for (uint32_t i = 0; i < n_tokens; ++i) {
    const uint32_t n = in.read<uint32_t>();
    const char* const at = reinterpret_cast<const char*>(in.data()) + in.pos();
    if (n > kMostTokenBytes || !in.skip(n)) return bad("a token that is too long");
    if (i < n_ranks) ranked.emplace_back(at, n);
  }
  LINNET_TRY(
      tokenizer_from_ranks(ranked, special_tokens(s.n_vocab - n_ranks - kTimes - kOthers), "the file's tokens", &out->tokenizer, err));

  StoredTensors stored;
  for (uint32_t i = 0; in.left(); ++i) {
    if (i == kMostTensors) return bad("too many tensors");
    const uint32_t n_dims = in.read<uint32_t>(), n_name = in.read<uint32_t>(), type = in.read<uint32_t>();
    if (!in.ok() || n_dims < 1 || n_dims > 4 || n_name < 1 || n_name > kMostName)
      return bad("a tensor of too many dimensions, or without a name");
    std::vector<uint64_t> shape(n_dims);  // the fastest comes first in the file
    uint64_t n = 1;
    for (uint32_t d = n_dims; d-- > 0;) {
      shape[d] = in.read<uint32_t>();
      if (!checked_mul(n, shape[d], &n)) return bad("a tensor too large");
    }
    const std::string name(reinterpret_cast<const char*>(in.data()) + in.pos(), in.left() < n_name ? in.left() : n_name);
    const GgmlType row = ggml_type(type);
    if (!in.skip(n_name)) return bad("the file ends");
    if (!row.values || !ggml_readable(type)) return fail(err, LINNET_UNSUPPORTED, "tensor '", name, "': type ", type, " is not supported");
    uint64_t bytes = 0;
    if (n == 0 || shape.back() % row.values || !checked_mul(n / row.values, row.bytes, &bytes)) return bad("a tensor of no whole blocks");
    const uint8_t* const data = in.data() + in.pos();
    if (!in.skip(bytes)) return fail(err, LINNET_BAD_FILE, "tensor '", name, "': the file ends before its ", bytes, " bytes");
    while (shape.size() > 1 && shape.back() == 1) shape.pop_back();  // biases of convolutions are columns
    const auto read = [data, type, row, file](uint64_t first, uint64_t count, float* to) {
      if (row.values == 1) return ggml_values(type, data + first * row.bytes, static_cast<size_t>(count), to);
      // Rows are whole blocks, and so is what is asked for.
      ggml_values(type, data + first / row.values * row.bytes, static_cast<size_t>(count), to);
    };
    if (!stored.emplace(name, StoredTensor{shape, row.name, read}).second)
      return fail(err, LINNET_BAD_FILE, "tensor '", name, "' comes twice");
  }
  LINNET_TRY(find_whisper_tokens(s.n_vocab >= 51865, out, err));
  LINNET_TRY(audio_check(s, err, "the file"));
  return add_audio_tensors(stored, ggml_place, out, err);
}

}  // namespace linnet::convert
