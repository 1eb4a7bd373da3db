// Models that hear, as they are published: a Hugging Face folder, a folder of CTranslate2's, or a file of whisper.cpp's.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../audio/audio_spec.h"
#include "source.h"

namespace linnet::convert {

// A tensor of any of them: its values in memory order, from any thread.
struct StoredTensor {
  std::vector<uint64_t> shape;
  std::string type;  // "F16", for `inspect`
  std::function<void(uint64_t first, uint64_t count, float* out)> read;
};
using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

struct AudioSourceTensor {
  AudioTensor tensor;
  uint32_t layer;
  SourceTensor rows;
};
struct AudioSource {
  AudioSpec spec = {};
  std::string name;
  std::vector<AudioSourceTensor> tensors;  // in the order of packed files
  TokenizerBlob tokenizer;
  std::vector<uint32_t> suppressed, suppressed_first;
  std::vector<std::string> languages;
  std::shared_ptr<void> keep;  // what the closures read from
};

// Whether the path is a model that hears; another error than "no" is not looked for.
bool is_audio_source(const std::string& path);
Status audio_source(const std::string& path, AudioSource* out, Error* err);
// The packed form of f for a tensor: floats where they are to be, as in language models else.
Format audio_format(const AudioSourceTensor& t, const Options& options);
// Keys of a packed file.
void put_audio_keys(const AudioSource& source, GgufBuilder* b);

// ---- kinds of sources
// Where a tensor lies in one: a name, and of several that lie one below the other the first row; "": the source has none, and zeros do.
struct AudioPlace {
  std::string name;
  uint64_t first = 0, rows = 0;  // rows: of all of them; 0: its own alone
};
using AudioPlaces = AudioPlace (*)(const AudioSpec& s, AudioTensor t, uint32_t layer);
// All tensors that the spec asks for, from where they lie.
Status add_audio_tensors(const StoredTensors& stored, AudioPlaces place, AudioSource* out, Error* err);
// Whisper's own tokens, by what the tokenizer calls them.
Status find_whisper_tokens(bool several_languages, AudioSource* out, Error* err);
bool is_ggml(const void* data, size_t bytes);
Status from_ggml(const std::string& path, AudioSource* out, Error* err);
Status open_ct2(const std::string& folder, StoredTensors* out, std::shared_ptr<void>* keep, Error* err);
AudioPlace ct2_place(const AudioSpec& s, AudioTensor t, uint32_t layer);

}  // namespace linnet::convert
