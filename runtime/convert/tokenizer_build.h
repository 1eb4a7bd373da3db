// Builds the tokenizer blob (tokenizer/tokenizer.h) from what models are published with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "../../platform/status.h"
#include "../gguf.h"

namespace linnet::convert {

struct TokenizerBlob {
  std::vector<uint8_t> bytes;  // empty: the source has no tokenizer
  // For the standard GGUF keys of the file that is written (tokenizer.ggml.*), so that other tools can list them.
  std::string gguf_model, gguf_pre;                    // "gpt2", "llama", "t5", "bert" or "gemma4"; "llama-bpe", "qwen2", "gpt-2", ...
  std::vector<std::string> tokens;                     // by id, as GGUF spells them
  std::vector<float> scores;                           // "llama" and "t5"
  std::vector<int32_t> types;                          // GGUF token types: 1 normal, 2 unknown, 3 control, 4 user defined, 6 byte
  std::vector<std::string> merges;                     // "gpt2" only: "left right"
  std::string charsmap;                                // "llama" and "t5": tokenizer.ggml.precompiled_charsmap
  bool add_space_prefix = true, remove_extra = false;  // likewise
  int32_t bos_id = -1, eos_id = -1, unk_id = -1;
  bool add_bos = false, add_eos = false;
  std::vector<std::string> notes;  // what was left out, in words for people
};

// From an HF folder: tokenizer.json, else vocab.json + merges.txt (also GPT-2's and Qwen2's published names, with a prefix such as
// gpt2_vocab.json), else tokenizer.model, tiktoken.model (Kimi) or vocab.txt (BERT's pieces); tekken.json (Mistral) comes behind
// tokenizer.json; with tokenizer_config.json, special_tokens_map.json and generation_config.json (its eos_token_id may be a list) where
// present, and added_tokens.json where there is no tokenizer.json. A folder without any of them gives an empty blob and LINNET_OK. What
// linnet cannot do exactly is LINNET_UNSUPPORTED, with the pattern or type in the text. n_rows: of the model; added tokens that have none
// are left out, with a note.
Status tokenizer_from_folder(const std::string& folder, TokenizerBlob* out, Error* err, uint32_t n_rows = UINT32_MAX);
// Byte-level BPE of GPT-2's words whose tokens have ranks instead of merges, and special tokens behind them.
Status tokenizer_from_ranks(const std::vector<std::string>& ranked, const std::vector<std::string>& special, const char* label,
                            TokenizerBlob* out, Error* err);
// From the tokenizer.ggml.* keys of a GGUF file ("gpt2", "llama", "t5" and "bert" models).
Status tokenizer_from_gguf(const Gguf& file, TokenizerBlob* out, Error* err);
// What a packed file has of the same keys, as it was; tables are not built.
Status tokenizer_keys(const Gguf& file, TokenizerBlob* out, Error* err);

}  // namespace linnet::convert
