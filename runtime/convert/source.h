// Source: a model as it was published (HF folder, GGUF) or made up (synthetic): its spec and a way to read the rows of each tensor as
// floats, a few at a time, so that a model larger than memory converts.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../kernels_cpu/pack.h"
#include "../chat.h"
#include "../format.h"
#include "../spec.h"
#include "tokenizer_build.h"

namespace linnet::convert {

struct SourceTensor {
  Role role = kTokenEmbd;
  uint32_t layer = 0;
  uint32_t n = 0, k = 0;  // k = 1 for vectors
  std::string source_name, source_type;  // for `inspect` and error texts
  // rows [first, first + count) as floats, (count, k) -> out. Any order of calls.
  std::function<Status(uint32_t first, uint32_t count, float* out, Error* err)> rows;
  // Optional: the same rows as codes and scales, for formats that pack_exact() them.
  std::function<Status(uint32_t first, uint32_t count, const ExactRows& out, Error* err)> exact_rows;
  uint8_t exact_bits = 0;   // of those codes, 4 or 8
  bool exact_zeros = false; // whether they have zero points
  uint32_t exact_group = 0; // inputs per scale
  Format own = LINNET_FORMAT_DEFAULT;  // what it is packed as unless a format is asked for
  // Optional: panel `panel` of an 8-bit integer format, as pack_panel would lay it out.
  std::function<void(Format format, uint32_t panel, uint8_t* codes, uint8_t* scales)> panel;
};

struct Source {
  ModelSpec spec = {};
  std::string name;           // general.name
  std::vector<SourceTensor> tensors;
  TokenizerBlob tokenizer;
  ChatFormat chat = {};       // linnet_chat.json of a folder, linnet.chat.* of a GGUF
  std::string chat_template;  // Jinja, carried over as it is
  std::string needs_format;   // why the format of the weights must be asked for, or ""
  std::shared_ptr<void> keep; // what the closures read from (mappings)
};

// config.json + *.safetensors (shards through model.safetensors.index.json).
Status source_from_folder(const std::string& folder, Source* out, Error* err);
// A plain GGUF, split files too (-00001-of-00003.gguf; give the first).
Status source_from_gguf(const std::string& path, Source* out, Error* err);
// The tokenizer of any GGUF, model or vocabulary only; tokens are its whole vocabulary.
Status vocab_from_gguf(const std::string& path, Source* out, Error* err);
// The files that `path` names: itself, and the other parts where it is a part of a split GGUF.
std::vector<std::string> gguf_parts(const std::string& path);
// A well-known shape with random weights (seeded, of a spread that keeps activations sane; the same weights in every format): "llama-3.2-1b", ...
Status source_synthetic(const std::string& shape, uint64_t seed, Source* out, Error* err);
std::vector<std::string> synthetic_shapes();

// What a tensor is packed as where `asked` (or LINNET_FORMAT_DEFAULT) is asked for.
Format packed_format(const SourceTensor& t, Format asked);

// Scales query and key channels by powers of two against each other, so that the keys' channels are about equally large (equalise.cpp).
Status equalise_keys(Source* source, Error* err);

// GGUF stores q and k of some families with the rows of each head reordered, so that the channels that RoPE rotates together are neighbours:
// row i and row i + head_dim / 2 of a head become rows 2i and 2i + 1. These give one order from the other, for q, k and their biases alone.
void pairs_from_halves(SourceTensor* t, uint32_t head_dim);
void halves_from_pairs(SourceTensor* t, uint32_t head_dim);

// What the llama3 scaling divides each pair's frequency by, (rope_dim / 2): GGUF files hold this as rope_freqs.weight.
std::vector<double> llama3_divisors(const ModelSpec& spec);

}  // namespace linnet::convert
