// Tokenizer: text <-> token ids over tables that were built ahead (convert/tokenizer_build.h). The tables are one position-independent
// blob, the tensor `linnet.tokenizer` of a packed file; nothing is hashed or sorted at start and no call allocates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../platform/status.h"

namespace linnet {

// A checked view of a blob. The blob must stay unchanged while the view is used (the model copies it into its memory first).
struct Tokenizer {
  const uint8_t* blob = nullptr;
  size_t bytes = 0;
  alignas(8) uint8_t header[512] = {};  // tok::Header as the newest version has it, whatever the blob's is
  uint32_t n_tokens = 0;
  int32_t bos_id = -1, eos_id = -1;
};

// Checks all of the blob, so that later calls need no checks against hostile tables. n_vocab: rows of the model's logits; every
// id of the blob must be below it.
Status tokenizer_open(const void* blob, size_t bytes, uint32_t n_vocab, Tokenizer* out, Error* err);

size_t tokenize_scratch_bytes(const Tokenizer& t, size_t text_bytes);
// flags: LINNET_ADD_SPECIAL, LINNET_PARSE_SPECIAL. See linnet_tokenize. Added tokens that are not special (user-defined ones) are
// found in any text, also without LINNET_PARSE_SPECIAL. *steps: the work done, in units that a test holds against the text's length.
// foreign (one for each byte, or nullptr): 1 where text of others stands, in which no added token is found, special or not; with
// kTextInForeign those that are not special are.
inline constexpr uint32_t kTextInForeign = 1u << 31;
Status tokenize(const Tokenizer& t, std::string_view text, uint32_t flags, void* scratch, size_t scratch_bytes, int32_t* out, size_t cap,
                size_t* n_tokens, Error* err, uint64_t* steps = nullptr, const uint8_t* foreign = nullptr);
// Whole sequences, see linnet_detokenize.
Status detokenize(const Tokenizer& t, const int32_t* ids, size_t n, uint32_t flags, char* out, size_t cap, size_t* n_bytes, Error* err);
// Bytes of one token inside a running text: a SentencePiece token keeps its leading space. Points into the blob or to static storage.
// `first`: the token begins a text, and the space that the tokenizer put in front of it is left out. Unknown ids give "".
std::string_view token_bytes(const Tokenizer& t, int32_t id, bool first);
// 1 if drawing this token ends a generation (EOS and its kin: <|eot_id|>, <|im_end|>, ...).
bool token_is_eog(const Tokenizer& t, int32_t id);
// 1 if it is found in texts before they are split, special or not.
bool token_is_added(const Tokenizer& t, int32_t id);
// 1 if it stands for no text of people, as LINNET_TOKEN_SPECIAL has it.
bool token_is_special(const Tokenizer& t, int32_t id);

}  // namespace linnet
