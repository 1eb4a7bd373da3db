// CTranslate2's model.bin: names, shapes and values one after the other; weights in f32, f16, bf16, or in 8 bits with a scale for each row.
#include <cstring>

#include "../../platform/file.h"
#include "../../platform/reader.h"
#include "audio_source.h"

namespace linnet::convert {
namespace {

constexpr uint32_t kOldest = 4, kNewest = 6, kMostVariables = 65536, kMostDims = 4;
enum Type : uint8_t { kF32 = 0, kI8 = 1, kI16 = 2, kI32 = 3, kF16 = 4, kBF16 = 5 };
constexpr struct {
  const char* name;
  uint8_t bytes;
} kTypes[] = {{"F32", 4}, {"I8", 1}, {"I16", 2}, {"I32", 4}, {"F16", 2}, {"BF16", 2}};

struct Variable {
  std::vector<uint64_t> shape;
  uint8_t type = 0;
  const uint8_t* data = nullptr;
  uint64_t count = 1;
};

float value(const Variable& v, uint64_t i) {
  const uint8_t* const at = v.data + i * kTypes[v.type].bytes;
  float f;
  int32_t w;
  uint16_t h;
  switch (v.type) {
    case kF32:
      std::memcpy(&f, at, sizeof f);
      return f;
    case kI32:
      std::memcpy(&w, at, sizeof w);
      return static_cast<float>(w);
    case kI8:
      return static_cast<int8_t>(*at);
    default:
      std::memcpy(&h, at, sizeof h);
      return v.type == kF16 ? f16_to_f32(h) : v.type == kBF16 ? bf16_to_f32(h) : static_cast<float>(static_cast<int16_t>(h));
  }
}

// A length, then so many bytes, the last of which is 0.
bool read_name(ByteReader* in, std::string* out) {
  const uint16_t n = in->read<uint16_t>();
  const uint8_t* const at = in->data() + in->pos();
  if (!in->skip(n) || n == 0) return false;
  out->assign(reinterpret_cast<const char*>(at), n - 1u);
  return at[n - 1] == 0;
}

}  // namespace

Status open_ct2(const std::string& folder, StoredTensors* out, std::shared_ptr<void>* keep, Error* err) {
  const auto file = std::make_shared<Mapped>();
  LINNET_TRY(file_load((folder + "/model.bin").c_str(), LINNET_LOAD_MAP, {}, &file->view, err));
  *keep = file;
  ByteReader in(file->view.data, file->view.bytes);
  const auto bad = [&](const char* what) { return fail(err, LINNET_BAD_FILE, "model.bin: ", what, " before byte ", in.pos()); };
  if (is_lfs_pointer(file->view.data, file->view.bytes)) return fail(err, LINNET_BAD_FILE, "model.bin: ", kLfsPointer);
  const uint32_t version = in.read<uint32_t>();
  if (!in.ok() || version < kOldest || version > kNewest)
    return fail(err, LINNET_UNSUPPORTED, "model.bin: version ", version, ", those of CTranslate2 from ", kOldest, " to ", kNewest,
                " are known");
  std::string spec, name;
  if (!read_name(&in, &spec)) return bad("no name");
  const uint32_t revision = in.read<uint32_t>(), n = in.read<uint32_t>();
  (void)revision;
  if (!in.ok() || n > kMostVariables) return bad("too many variables, or none");
  if (spec != "WhisperSpec") return fail(err, LINNET_UNSUPPORTED, "model.bin: a '", std::string_view(spec), "', not a 'WhisperSpec'");
  std::map<std::string, Variable, std::less<>> all;
  for (uint32_t i = 0; i < n; ++i) {
    Variable v;
    if (!read_name(&in, &name)) return bad("no name of a variable");
    const uint8_t dims = in.read<uint8_t>();
    if (dims > kMostDims) return bad("a variable of too many dimensions");
    for (uint32_t d = 0; d < dims; ++d) {
      v.shape.push_back(in.read<uint32_t>());
      if (!checked_mul(v.count, v.shape.back(), &v.count)) return bad("a variable too large");
    }
    v.type = in.read<uint8_t>();
    const uint32_t bytes = in.read<uint32_t>();
    if (!in.ok() || v.type >= std::size(kTypes)) return bad("a type that is not known");
    uint64_t want = 0;
    if (!checked_mul(v.count, kTypes[v.type].bytes, &want) || want != bytes)
      return fail(err, LINNET_BAD_FILE, "model.bin: variable '", std::string_view(name), "' has ", bytes, " bytes, its shape and type ",
                  want);
    v.data = in.data() + in.pos();
    if (!in.skip(bytes)) return bad("the file ends");
    if (!all.emplace(name, std::move(v)).second)
      return fail(err, LINNET_BAD_FILE, "model.bin: variable '", std::string_view(name), "' comes twice");
  }
  for (const auto& [key, v] : all) {
    const auto scales = all.find(key + "_scale");
    const uint64_t rows = v.shape.empty() ? 1 : v.shape[0];
    const bool codes = !v.shape.empty() && (v.type == kI8 || v.type == kI16);
    if (!codes) {
      (*out)[key] = {v.shape, kTypes[v.type].name, [v = v, file](uint64_t first, uint64_t count, float* to) {
                       for (uint64_t i = 0; i < count; ++i) to[i] = value(v, first + i);
                     }};
      continue;
    }
    if (scales == all.end() || scales->second.count != rows || v.count % rows || scales->second.type != kF32) continue;  // no weights
    // Codes are the weights times their row's scale.
    (*out)[key] = {v.shape, kTypes[v.type].name,
                   [v = v, s = scales->second, file, each = v.count / rows](uint64_t first, uint64_t count, float* to) {
                     for (uint64_t i = 0; i < count; ++i) to[i] = value(v, first + i) / value(s, (first + i) / each);
                   }};
  }
  return LINNET_OK;
}

AudioPlace ct2_place(const AudioSpec& s, AudioTensor t, uint32_t layer) {
  const bool encoder = t < kAudioTokenEmbd;
  const std::string l = (encoder ? "encoder/layer_" : "decoder/layer_") + std::to_string(layer) + "/";
  const uint64_t d = s.d_model;
  // q, k and v lie one below the other; looking at what was heard, q by itself.
  const auto attention = [&](const char* of, uint32_t at, bool cross) -> AudioPlace {
    const std::string name = l + of + "/", qkv = name + "linear_0/", kv = name + "linear_1/",
                      out = name + (cross ? "linear_2/" : "linear_1/");
    switch (at) {
      case 0:
        return {name + "layer_norm/gamma"};
      case 1:
        return {name + "layer_norm/beta"};
      case 2:
        return {qkv + "weight", 0, cross ? 0 : 3 * d};
      case 3:
        return {qkv + "bias", 0, cross ? 0 : 3 * d};
      case 4:
        return cross ? AudioPlace{kv + "weight", 0, 2 * d} : AudioPlace{qkv + "weight", d, 3 * d};
      case 5:
        return cross ? AudioPlace{kv + "weight", d, 2 * d} : AudioPlace{qkv + "weight", 2 * d, 3 * d};
      case 6:
        return cross ? AudioPlace{kv + "bias", d, 2 * d} : AudioPlace{qkv + "bias", 2 * d, 3 * d};
      case 7:
        return {out + "weight"};
      default:
        return {out + "bias"};
    }
  };
  if (t >= kAudioEncAttnNorm && t <= kAudioEncOutBias) return attention("self_attention", t - kAudioEncAttnNorm, false);
  if (t >= kAudioDecAttnNorm && t <= kAudioDecOutBias) return attention("self_attention", t - kAudioDecAttnNorm, false);
  if (t >= kAudioCrossNorm && t <= kAudioCrossOutBias) return attention("attention", t - kAudioCrossNorm, true);
  switch (t) {
    case kAudioConv1:
      return {"encoder/conv1/weight"};
    case kAudioConv1Bias:
      return {"encoder/conv1/bias"};
    case kAudioConv2:
      return {"encoder/conv2/weight"};
    case kAudioConv2Bias:
      return {"encoder/conv2/bias"};
    case kAudioEncPositions:
      return {"encoder/position_encodings/encodings"};
    case kAudioDecPositions:
      return {"decoder/position_encodings/encodings"};
    case kAudioTokenEmbd:
      return {"decoder/embeddings/weight"};
    case kAudioEncFfnNorm:
    case kAudioDecFfnNorm:
      return {l + "ffn/layer_norm/gamma"};
    case kAudioEncFfnNormBias:
    case kAudioDecFfnNormBias:
      return {l + "ffn/layer_norm/beta"};
    case kAudioEncUp:
    case kAudioDecUp:
      return {l + "ffn/linear_0/weight"};
    case kAudioEncUpBias:
    case kAudioDecUpBias:
      return {l + "ffn/linear_0/bias"};
    case kAudioEncDown:
    case kAudioDecDown:
      return {l + "ffn/linear_1/weight"};
    case kAudioEncDownBias:
    case kAudioDecDownBias:
      return {l + "ffn/linear_1/bias"};
    case kAudioEncNorm:
      return {"encoder/layer_norm/gamma"};
    case kAudioEncNormBias:
      return {"encoder/layer_norm/beta"};
    case kAudioDecNorm:
      return {"decoder/layer_norm/gamma"};
    case kAudioDecNormBias:
      return {"decoder/layer_norm/beta"};
    default:
      return {};
  }
}

}  // namespace linnet::convert
