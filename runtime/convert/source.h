// Source: a model as it was published (HF folder, GGUF) or made up (synthetic): its spec and a way to read the rows of each tensor as
// floats, a few at a time, so that a model larger than memory converts.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../kernels_cpu/pack.h"
#include "../../platform/file.h"
#include "../architectures.h"
#include "../chat.h"
#include "../format.h"
#include "../guard.h"
#include "../spec.h"
#include "chat_templates.h"
#include "convert.h"
#include "tokenizer_build.h"

namespace linnet::convert {

using InputsInOrder = std::shared_ptr<const std::vector<uint32_t>>;  // which input stands in which place
struct SourceTensor {
  Role role = kTokenEmbd;
  uint32_t layer = 0;
  uint32_t n = 0, k = 0;                 // k = 1 for vectors
  std::string source_name, source_type;  // for `inspect` and error texts
  // rows [first, first + count) as floats, (count, k) -> out. Any order of calls, from any thread, as all below.
  std::function<Status(uint32_t first, uint32_t count, float* out, Error* err)> rows;
  // Optional: the same rows as codes and scales, for formats that pack_exact() them.
  std::function<Status(uint32_t first, uint32_t count, const ExactRows& out, Error* err)> exact_rows;
  // Optional: the same rows in blocks of a GGUF file (gguf_block_bytes), which gguf_format holds as they are.
  std::function<Status(uint32_t first, uint32_t count, uint8_t* out, Error* err)> gguf_blocks;
  Format gguf_format = LINNET_FORMAT_DEFAULT;
  // Of a format that has outer factors (format.h): two of each row, (count, 2). Else they are 1.
  std::function<void(uint32_t first, uint32_t count, float* out)> outer;
  size_t gguf_row_bytes() const { return size_t{k} / gguf_block_values(gguf_format) * gguf_block_bytes(gguf_format); }
  ExactForm exact;                     // of exact_rows
  InputsInOrder order;                 // of the inputs of exact_rows, where that is not their own: rows have theirs, order_inputs() decides
  bool quantised = false;              // a quantiser of a folder made its numbers, whatever holds them
  uint64_t source_bytes = 0;           // that the source has them in; 0: as source_type says
  Format own = LINNET_FORMAT_DEFAULT;  // what it is packed as unless a format is asked for
  // Optional: panel `panel` of an 8-bit integer format, as pack_panel would lay it out.
  std::function<void(Format format, uint32_t panel, uint8_t* codes, uint8_t* scales)> panel;
};

// What texts that are embedded are to begin with, by what they are for; by_default: the name of one, or "".
struct EmbedPrompts {
  std::vector<std::pair<std::string, std::string>> texts;
  std::string by_default;
};
inline constexpr size_t kMaxEmbedPrompt = 4096, kMaxEmbedPromptName = 64;
inline bool embed_prompt_fits(std::string_view name, std::string_view text) {
  return !name.empty() && name.size() <= kMaxEmbedPromptName && text.size() <= kMaxEmbedPrompt;
}
void prompts_from_gguf(const Gguf& file, EmbedPrompts* out);  // linnet.embed.*; what does not fit is left out

struct Source {
  ModelSpec spec = {};
  std::string name;  // general.name
  std::vector<SourceTensor> tensors;
  TokenizerBlob tokenizer;
  ChatFormat chat = {};          // linnet_chat.json of a folder, linnet.chat.* of a GGUF
  ChatTemplates templates = {};  // Jinja
  EmbedPrompts prompts = {};
  std::string needs_format;            // why the format of the weights must be asked for, or ""
  std::vector<uint8_t> key_exponents;  // as kLoraExponentsKey has them
  bool adapters = true;                // their rows and inputs are those of the family's checkpoints, but for these
  std::shared_ptr<void> layers;        // what spec.layer_values points to
  std::shared_ptr<void> keep;          // what the closures read from (mappings)
  // The layers behind these that guess tokens further on, or nullptr: spec.n_layers counts them, too, spec.n_ahead them alone, and tensors
  // are theirs. Kept for what will draft by them: nothing here computes them.
  std::shared_ptr<Source> ahead;
  std::vector<std::string> notes;  // for Options.notes
};

inline constexpr std::string_view kSynthetic = "synthetic:";
bool is_synthetic(const std::string& src);
bool is_folder(const std::string& path);
// A file that stays mapped as long as this lives.
struct Mapped {
  linnet_view view = {};
  Mapped() = default;
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { file_unmap(&view); }
};

// Puts the path before an error text that does not begin with it: of a folder the file in it that the text begins with, if it does so.
void name_source(const std::string& src, Error* err);
// The boundary of convert: fn(), where an error of a file's content (LINNET_BAD_FILE, LINNET_UNSUPPORTED) names the file by the path that
// the caller gave.
template <class Fn>
Status guarded_source(const std::string& src, Error* err, const Fn& fn) noexcept {
  return guarded(PathName(src), err, [&] {
    const Status status = fn();
    if (status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED) name_source(src, err);
    return status;
  });
}

// config.json + *.safetensors (shards through model.safetensors.index.json).
Status source_from_folder(const std::string& folder, Source* out, Error* err);
std::string folder_name(std::string path);  // a model's name: the folder's own, or "" for "." and "/"
// A plain GGUF, split files too (-00001-of-00003.gguf; give the first).
Status source_from_gguf(const std::string& path, Source* out, Error* err);
// A file that linnet packed. *packed = false and LINNET_OK where a GGUF is none.
Status source_from_packed(const std::string& path, Source* out, bool* packed, Error* err);
// The tokenizer of any GGUF, model or vocabulary only; tokens are its whole vocabulary.
Status vocab_from_gguf(const std::string& path, Source* out, Error* err);
// The files that `path` names: itself, and the other parts where it is a part of a split GGUF.
std::vector<std::string> gguf_parts(const std::string& path);
// A well-known shape with random weights (seeded, of a spread that keeps activations sane; the same weights in every format):
// "llama-3.2-1b", ...
Status source_synthetic(const std::string& shape, uint64_t seed, Source* out, Error* err);

// Says of the layers what the fields of the spec do not. The tensors' shapes are to be those of these layers.
void set_layers(ModelSpec* spec, std::shared_ptr<void>* keep, const std::vector<LayerSpec>& layers);  // keep: what the spec points to
inline void set_layers(Source* source, const std::vector<LayerSpec>& layers) { set_layers(&source->spec, &source->layers, layers); }
// source->ahead of so many layers, without tensors: they are as the last layer that attends, where the fields of the spec do not say more.
// whose: the key that counts them, for the error text.
Status add_ahead(Source* source, uint32_t n, PathName label, std::string_view whose, Error* err);
// fn(role, layer) for every tensor of source->ahead.
template <class Fn>
Status each_ahead(const ModelSpec& spec, Fn fn) {
  for (uint32_t layer = spec.n_layers - spec.n_ahead; layer < spec.n_layers; ++layer)
    for (uint32_t r = 0; r < kRoleCount; ++r)
      if (const Role role{r}; role_row(role).per_layer() && role_present(role, layer, spec)) LINNET_TRY(fn(role, layer));
  return LINNET_OK;
}
// What layers that guess ahead have of their own or not.
struct AheadPart {
  AheadTensor bit;
  Role role;
};
inline constexpr AheadPart kAheadParts[] = {{kAheadEmbd, kAheadTokenEmbd}, {kAheadHeadNorm, kAheadOutputNorm}, {kAheadHead, kAheadOutput}};
// Whether a tensor of a GGUF file is of a layer behind so many, and of which.
bool behind_layers(std::string_view name, uint32_t n_layers, uint32_t* layer);
// The bytes of a packed file that a model which runs may read: what guesses ahead lies behind them.
size_t bytes_to_run(const Gguf& packed);
// Leaves them out, and says why.
void drop_ahead(Source* source, const std::string& missing);
// The packed file of a source.
Status write_to_memory(const Source& source, const Options& options, Image* out, Error* err);

// The format that holds such codes as they are (pack_exact): of those with the fewest bits the one with these groups or else the largest.
// Groups that none has are packed as weights, in groups of 32. LINNET_FORMAT_DEFAULT where there is none.
Format exact_format(ExactForm form, uint32_t k);
// What a tensor is packed as.
Format packed_format(const SourceTensor& t, const Options& asked);
// What packing does to a matrix, RMS of the differences over that of its weights: 0 where f holds its numbers as they are, else of some of
// its rows.
Status rounding_error(const SourceTensor& t, Format f, double* error, Error* err);
// Matrices that the same rows go into have formats that round these alike: where nothing is asked for, floats beside what comes quantised
// take the 8 bits whose groups are its own.
void match_groups(Source* source, const Options& asked);

// Where codes in an order of their own (GPTQ's act-order) are kept, those that read the same rows get it, too, and the model a vector that
// says it; what feeds `down` gets its outputs in down's order. Elsewhere values stay where they are. Orders that do not fit together, or
// stand where the graph has no place for one, are refused by name.
Status order_inputs(Source* source, const Options& asked, Error* err);

// Scales query and key channels by powers of two against each other, so that the keys' channels are about equally large (equalise.cpp).
// asked: as in packed_format.
Status equalise_keys(Source* source, const Options& asked, Error* err);

// Leaves t with n rows, of which row i is row from(i) of those that it had, or zeros where that is kNoRow.
inline constexpr uint32_t kNoRow = UINT32_MAX;
void choose_rows(SourceTensor* t, uint32_t n, const std::function<uint32_t(uint32_t)>& from);
// Values of rows, of which input order[j] comes to place j.
void choose_inputs(SourceTensor* t, const InputsInOrder& order);
// Tensors one below the other. They have as many inputs each, and codes or blocks where all have the same kind.
SourceTensor stacked(std::vector<SourceTensor> parts);
// Pieces of so many inputs change places: piece i is piece from(i) of those that were. Codes and blocks go along with their scales where
// pieces hold whole groups of them, as inputs_move() says; else values alone are left.
bool inputs_move(const SourceTensor& t, uint32_t piece);
void move_inputs(SourceTensor* t, uint32_t piece, const std::function<uint32_t(uint32_t)>& from);
// The rows from `row` on; and one row of zeros.
ExactRows exact_rows_from(ExactRows rows, uint32_t row, uint32_t k);
void exact_row_zero(const ExactRows& row, uint32_t k);
// A vector that no file holds.
Status check_xielu(const SourceTensor& t, PathName where, Error* err);  // a layer's numbers are some that xIELU is defined for
SourceTensor computed_tensor(Role role, uint32_t layer, const std::vector<float>& values);

// kv_b_proj holds of every head the rows of W_uk (qk_nope_dim, kv_lora_rank) and then those of W_uv (v_head_dim, kv_lora_rank). The
// absorbed form takes a query into the latent's space, so W_uk is transposed.
void read_kv_b(const decltype(SourceTensor::rows)& stored, const ModelSpec& s, SourceTensor* t);
SourceTensor kv_b_of(const SourceTensor& k_b, const SourceTensor& v_b, const ModelSpec& s);  // the reverse

// Gemma 4's router divides by the root of d_model what its norm gives. Here the norm's weights have it: from a file's, and back to the
// roundest numbers that give them.
void divide_router_norm(SourceTensor* t, uint32_t d_model);
void multiply_router_norm(SourceTensor* t, uint32_t d_model);
// What GGUF files divide the frequencies of channels by that do not turn.
inline constexpr float kNotTurned = 1e30f;
// What llama.cpp takes for granted of Gemma 3n: layers of which most gates are 0, by the share of 0.95, and layers with keys of their own.
inline constexpr uint32_t kSparseLayers = 10, kKeyLayers = 20;
inline constexpr float kSparseShare = 0.95f;

// Below mean + so many standard deviations is this share of what is normally distributed: sqrt(2) erfinv(2 share - 1), in f32 as PyTorch.
float deviations_below(float share);

// Slopes of ALiBi (Press et al. 2021), (n_heads): powers of 2^(-most / n) where n heads are a power of two, and of others they come from
// between those of fewer.
std::vector<float> alibi_slopes(const ModelSpec& spec, double most, bool scaled);
// What YaRN's scores grow by, of which mscale is a share.
double yarn_grown(const ModelSpec& spec, double mscale);

// GGUF stores q and k of some families with the rows of each head reordered, so that the channels that RoPE rotates together are
// neighbours: row i and row i + head_dim / 2 of a head become rows 2i and 2i + 1. These give one order from the other, for q, k and their
// biases alone.
void pairs_from_halves(SourceTensor* t, uint32_t head_dim);
void halves_from_pairs(SourceTensor* t, uint32_t head_dim);
// LoraOrder: what GGUF files of the family have in another order than this model.
uint32_t adapter_orders(const ModelSpec& spec);

// Row i of a role is row `at(i)` of the stored tensor, which has n rows in all.
struct RowMap {
  uint32_t n;
  std::function<uint32_t(uint32_t)> at;  // empty: the same rows
};
RowMap map_rows(const HfTensor& t, const ModelSpec& spec, uint32_t layer, uint32_t n);
bool map_fits(const RowMap& map, uint32_t n);  // whether all n lie among the rows of the file's tensor

// Value heads of a gated delta net, of which every key head has some: those of one after those of the other, or (tiled, as llama.cpp has
// them) the first of each, then the second of each. Their rows, and of what reads them the inputs, take the one order from the other.
void tile_values(SourceTensor* t, const ModelSpec& spec, bool tiled);

// What the llama3 scaling divides each pair's frequency by, (rope_dim / 2): GGUF files hold this as rope_freqs.weight.
std::vector<double> llama3_divisors(const ModelSpec& spec);

// ---- plain GGUF (gguf_plain.cpp) ----

// The name and dimensions of a role's tensor in files of the family, "blk.3.attn_q.weight". rows: of each of the parts.
std::string gguf_tensor_name(const Architecture& a, const ModelSpec& spec, Role role, uint32_t layer);
bool norm_of_ones(const Architecture& a, Role role);  // of which readers make the weights
inline constexpr const char* kXieluKeys[] = {"xielu.alpha_p", "xielu.alpha_n", "xielu.beta",
                                             "xielu.eps"};  // without a prefix; a list by layer
const char* norm_eps_key(const Architecture& a);            // without the prefix
// Of Kimi Linear q, k and v are tensors of their own, and so are their taps.
struct DeltaPart {
  const char* name;
  uint32_t rows;
};
std::vector<DeltaPart> delta_parts(const ModelSpec& s, Role role);
std::vector<uint64_t> gguf_dims(Role role, const ModelSpec& spec, uint32_t k, uint32_t rows, uint32_t parts);
// What a reader takes from the keys and names of the file that begins with this header.
// layers: what its layer_values point to.
Status spec_of_plain(const std::string& header, uint64_t file_bytes, ModelSpec* out, std::shared_ptr<void>* layers, Error* err);
// The source in the order and with the tensors of such files. tensors: those of the source in order of use; *out: what is to be written.
struct PlainTensor {
  std::string name;
  std::vector<uint64_t> dims;
  SourceTensor rows;
};
Status to_gguf_conventions(Source* source, Error* err);
Status plain_tensors(const ModelSpec& spec, const std::vector<const SourceTensor*>& tensors, std::vector<PlainTensor>* out, Error* err);
class GgufBuilder;
// Keys that packed and plain files share; norm_eps is the name of one. absorbed: latent attention has the sizes of that form.
void put_size_keys(const ModelSpec& s, const std::string& prefix, const char* norm_eps, uint32_t d_ff, bool absorbed, GgufBuilder* b);
// All keys of a plain file's model, but for general.* and the vocabulary.
Status put_plain_keys(const Source& source, GgufBuilder* b, Error* err);
// Whether the finished file says all that the model is; what it cannot say is refused by name.
Status check_plain(const ModelSpec& spec, const GgufBuilder& b, Error* err);

}  // namespace linnet::convert
