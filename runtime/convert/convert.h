// The inside of linnet::convert, for the command line tool and tests; apps have linnet_convert.h. Host side: uses the heap, JSON and the
// C++ library; the core does not.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linnet_convert.h"

namespace linnet {
class Replacement;
}

namespace linnet::convert {

// Functions that return a status throw nothing: a failed allocation is LINNET_NO_MEMORY. Errors of a file's content begin with its path as
// it was given.

// ---- files of an app's own, by the ways that linnet's go -------------------------------------------------------------------------

// Reads a whole file. FIFOs, sockets and other special files, which may never end or never begin, are refused at once. LINNET_IO if it
// cannot be read, LINNET_BAD_FILE if it has more than max_bytes, or is a Git LFS pointer. *found (may be NULL) = false and LINNET_OK where
// there is no such file.
linnet_status read_file(const std::string& path, size_t max_bytes, std::string* out, bool* found, linnet_error* err);

inline constexpr size_t kMaxGrammarJson = size_t{1} << 20;  // bytes that linnet_grammar_compile takes

// A file that is there under its name whole or not at all, as of linnet_state_save_file. Special files and folders are never replaced.
class WholeFile {
 public:
  WholeFile();
  ~WholeFile();  // without commit() nothing stays behind
  // through: a FIFO or a character special file is not refused but written to as it is. mode: of a new file, less the umask; an older
  // one's bits are kept among them.
  linnet_status open(const std::string& path, bool through, linnet_error* err, uint32_t mode = 0666);
  linnet_status write(const void* data, size_t bytes, linnet_error* err);
  linnet_status commit(linnet_error* err);

 private:
  std::unique_ptr<Replacement> file_;
};

// ---- models -----------------------------------------------------------------------------------------------------------------------

// What rounding did to the matrices that come as floats: RMS of the differences over the RMS of the weights.
struct WeightError {
  double mean = -1;    // over all of them; -1: nothing was packed
  double worst = 0;    // of the one it changed most
  std::string tensor;  // the source's name of that one
};

struct Options {
  // Of matrices; vectors stay f32. Default: floats as `floats` says, blocks of a GGUF file as they are (Q8_0: i8g32, Q4_0: i4g32, others by
  // their names), GPTQ and AWQ too: in 4 bits in groups of 128 or without zero points, else in the 8 bits that hold their values. With
  // formats below 8 bits embedding and LM head are i8g32. Blocks of a GGUF file stay what each tensor has where blocks of any kind are
  // asked for.
  linnet_format weights = LINNET_FORMAT_DEFAULT;
  linnet_format floats = LINNET_FORMAT_DEFAULT;  // of floats where `weights` is the default: i8g32
  // Write the source's tensors as a plain GGUF that other tools run; weights is a format that such files have (plain_name).
  bool plain = false;
  uint64_t seed = 1;        // synthetic sources
  bool mtp = true;          // keep layers that guess tokens further on, where the source has them; load() keeps them in no memory
  bool vocab_only = false;  // only the tokenizer: a packed file of 0 layers that linnet_tokenize works on. src may then be a folder that
                            // holds only tokenizer files, or any GGUF with a vocabulary
  // To memory alone: metadata as ever, but the weights are zeros that take no memory until they are read: what a plan is made from.
  bool shape_only = false;
  // Called now and then with bytes written (or loaded) so far and in all; non-zero cancels (LINNET_CANCELLED, no file is left).
  linnet_progress_fn progress = nullptr;
  void* user = nullptr;
  WeightError* weight_error = nullptr;  // filled if not null and the model is packed here
  uint64_t* file_bytes = nullptr;       // ... of what was written
  // A matrix that rounding changes by more than this (as WeightError has it) is refused by name: f16 scales (i8g32, i4*, q*_k) and f16
  // itself lose small weights altogether. 0: 0.5 in 4 bits, of which 0.1 and more are honest, and 0.1 in other formats; 1 and more refuses
  // nothing.
  double max_error = 0;
  // If not null, gets what was left out or passed over, a sentence each: added tokens that the model has no row for, special tokens that
  // are none, why a packed model is not kept.
  std::vector<std::string>* notes = nullptr;
  uint32_t n_threads =
      0;  // that pack, the caller's included; 0: one for each CPU of this process, which is the most. No byte depends on it
  // Adapters that are merged into the weights before these are packed, W + scale * B A, in their order: GGUF files or PEFT folders.
  std::vector<std::pair<std::string, float>> loras = {};
  // Where src is a PEFT folder, which becomes an adapter in GGUF: the model that it is for, in any form. "": what the folder names, if that
  // is a path.
  std::string base = {};
  // load() keeps what it packs of files in this folder, and takes it from there the next time, but with adapters merged. "": nowhere.
  std::string cache = {};
  uint64_t cache_bytes = 0;  // that it holds at most; 0: kCacheBytes, or a quarter of what would be free without it if that is less
};
inline constexpr uint64_t kCacheBytes = uint64_t{20} << 30;

// What a format is called in GGUF files, "q8_0" for i8g32; nullptr: they do not have it. And all of them: "f32, f16, ...".
const char* plain_name(linnet_format f);
std::string plain_names();

// A packed model in memory, as a file would hold it.
struct Image {
  void* data = nullptr;
  size_t bytes = 0;  // of the file
  size_t alloc_bytes = 0;
  linnet_view view() const { return {data, bytes}; }
};

// src: an HF folder, a GGUF file, or "synthetic:SHAPE".
// Writes out_path as a WholeFile is written, by way of OUT.tmp: any failure leaves no new file, and what a kill leaves under that name the
// next run removes.
linnet_status convert_to_file(const std::string& src, const std::string& out_path, const Options& options, linnet_error* err);
linnet_status convert_to_memory(const std::string& src, const Options& options, Image* out, linnet_error* err);
void image_free(Image* image);

// What `linnet run -m PATH` does: a packed GGUF is loaded as `how` says, anything else is packed in memory (or made plain, also of a packed
// one).
struct Loaded {
  linnet_view file = {};
  Image image;
  bool mapped = false;
  linnet_view whole = {};  // what is mapped: a file of the cache has a seal behind the model
};
linnet_status load(const std::string& path, linnet_load how, const Options& options, Loaded* out, linnet_error* err);
void unload(Loaded* loaded);
// An adapter for linnet_lora_init beside the model of this packed file, which it goes by: a GGUF file of it, mapped, or a PEFT folder.
linnet_status load_adapter(const std::string& path, const linnet_view& model, Loaded* out, linnet_error* err);

// What a cache of load() holds, last used first.
struct CachedModel {
  std::string path, source, weights;  // its file; what it was packed from; the format that was asked for. "": default, or not known
  uint64_t bytes = 0;
  int64_t used = 0;  // seconds since 1970
};
struct CacheList {
  std::vector<CachedModel> models;
  uint64_t bytes = 0, most_bytes = 0;  // of all, and that it holds at most
};
linnet_status cache_list(const std::string& folder, CacheList* out, linnet_error* err);
// Removes what is kept there, and no other files: how many, and their bytes.
linnet_status cache_clear(const std::string& folder, uint32_t* n_files, uint64_t* bytes, linnet_error* err);

// What a model is, without packing it: for people and scripts, nothing that runs depends on it.
struct TensorInfo {
  std::string name, format;     // "blk.0.attn_q.weight", "i8g128"
  std::vector<uint64_t> shape;  // outputs first
  uint64_t bytes = 0;
  // Of a matrix of a source: what it is packed as where no format is asked for, its bits per weight, scales and padding included, and what
  // that does to the weights, as WeightError has it: 0 where they are kept, else measured on some rows. "", 0 and -1: not known.
  std::string packed;
  double bits = 0, error = -1;
  bool ahead = false;  // of a layer that guesses tokens further on
};
struct SpecInfo {
  std::string name, value;
  bool is_text = false;
};
struct TemplateInfo {
  std::string name;   // "" for the one that is meant where nobody asks
  std::string error;  // why it does not compile, "" = it does
};
struct Description {
  std::string kind;  // "packed GGUF", "GGUF", "Hugging Face folder", "synthetic"
  std::string name, architecture;
  std::string tokenizer;                // kind of the vocabulary, "" = none
  uint64_t n_tokens = 0;                // of the vocabulary
  std::vector<std::string> chat;        // roles of the chat format, none without one
  std::vector<TemplateInfo> templates;  // chat templates
  uint64_t tensor_bytes = 0;
  uint32_t n_ahead = 0;      // layers that guess tokens further on, by which nothing drafts yet
  uint64_t ahead_bytes = 0;  // theirs, of tensor_bytes
  std::string unsupported;   // why linnet cannot run this model, "" = it can; then spec is empty
  std::vector<SpecInfo> spec;
  std::vector<TensorInfo> tensors;  // in the order of the file
};
linnet_status describe(const std::string& path, Description* out, linnet_error* err);

// What passes of a model cost, counted from its shapes: two operations per multiply-add of matrices and attention (every row against every
// row of the prompt, without the causal half, within its layer's window), bytes of the matrices that are read and of the KV cache, written
// once and read once. Of experts the ones that rows spread evenly choose. Norms, RoPE and activations are not counted as operations. Logits
// are those of one row.
enum class Arithmetic { kInt8, kF8, kFloat };  // which of linnet_measurement's peaks bounds a step
struct CostStep {
  const char* name = nullptr;
  Arithmetic by = Arithmetic::kInt8;
  double ops = 0, weight_bytes = 0, kv_bytes = 0;  // of all layers together
};
struct CostPass {
  std::vector<CostStep> steps;  // in order; the embedding first, the LM head last
};
struct CostParams {
  uint32_t prompt = 1, depth = 0;                 // rows of the prefill; tokens in the cache when one more is decoded
  linnet_format weights = LINNET_FORMAT_DEFAULT;  // default: as the file has them, or as it would be packed
  linnet_format floats = LINNET_FORMAT_DEFAULT;   // as in Options
  linnet_format k = LINNET_FORMAT_DEFAULT, v = LINNET_FORMAT_DEFAULT;
};
struct Cost {
  CostPass prefill, decode;
  uint32_t n_layers = 0;
  double layer_weights = 0, layer_bytes = 0, layer_ops = 0;  // of the last layer; operations of its prefill
  double weights = 0, weight_bytes = 0;                      // of the whole model, embedding included
  double kv_bytes_per_token = 0;                             // of all layers
  linnet_format weights_format = LINNET_FORMAT_DEFAULT, k = LINNET_FORMAT_DEFAULT,
                v = LINNET_FORMAT_DEFAULT;  // of most weights, of the cache
};
linnet_status cost(const std::string& path, const CostParams& params, Cost* out, linnet_error* err);

// Names for `--synthetic`: the i-th one, nullptr past the last; and all. The latter throws std::bad_alloc, as all below.
const char* synthetic_shape(uint32_t i);
std::vector<std::string> shapes();
// The Jinja text of a packed file's chat template; name: "" for the one that is meant where nobody asks. "" = there is none.
std::string chat_template_text(const linnet_view& file, const std::string& name);
// Text of others for a terminal: what that would obey or hide, and bytes that are no UTF-8, as error texts have them: "\x1b", "\u202e".
std::string printable(std::string_view text);

}  // namespace linnet::convert
