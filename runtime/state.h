// A sequence as bytes. Little-endian, without padding:
//   header    magic "LNTSTATE", u32 version, u32 header bytes, u64 bytes of the whole, u64 hash of the model, u32 n_vocab, n_layers,
//             n_kv_heads, head_dim, length (positions in the KV cache), pending (0 or 1 token more; in version 4, for models with a state
//             alone, that and twice the number of tokens before it that are to be computed again), n_logit_rows, n_forgotten (tokens at the
//             beginning), when_full, n_keep, n_context, n_rollback (these two are 0 where they choose no token); then for each layer u32 K
//             format, V format, window, page bytes, first page behind the kept ones, and for each layer with a state tokens in its second
//             and third mark (slots.h; 0: there is none), bytes of a row, of the state, tokens in the first mark; then u32 CRC-32C of all
//             that. A layer without pages has a row of zeros
//   sections  u32 kind, u32 index, u64 bytes of what follows, that, u32 CRC-32C of the section up to here:
//     1 tokens   i32 (length + those of pending - n_forgotten)
//     2 sampler  u64 n_draws, f32 mu (of Mirostat), u32 0, linnet_sampling as it is, its size first, with zeros where C leaves a gap
//     3 logits   f32 (n_logit_rows, n_vocab)
//     6 adapters in versions 5 and 6, which are 3 and 4 of a sequence that has adapters: u64 hash of them and their scales
//     4 kv       one per layer, its number as index: the pages that it holds as they are in the cache (kv_cache.h), kept ones before first
//                .. end; in KIVI the packed groups; where it has them its sinks; of heavy hitters f32 (KV heads, pages, 16) scores
//                A layer that reads another one's pages has a section of 0 bytes
//     5 slot     one per layer with a state, its number as index: the states of the marks in which tokens are, then the rows of all tokens
//                since the first mark. Checkpoints are in no file: a cut to before the marks computes again from the beginning
// A layer has a section of its own, not a class of layers: what makes a class (windows that never leave anything out do not count) depends
// on the session's n_context. Another arrangement of pages is another version.
#pragma once
#include "session.h"

namespace linnet {

// Of what decides the numbers in a sequence's pages: the model, and where its frequencies depend on the whole length, those.
uint64_t state_hash(const linnet_session& s);
uint64_t state_bytes(const linnet_session& s, uint32_t seq);
Status state_save(const linnet_session& s, uint32_t seq, void* out, size_t cap, size_t* n_bytes, Error* err);
Status state_save_file(const linnet_session& s, uint32_t seq, const char* path, Error* err);
// Everything is checked before anything changes.
Status state_load(linnet_session& s, uint32_t seq, const void* data, size_t bytes, Error* err);
Status state_load_file(linnet_session& s, uint32_t seq, const char* path, Error* err);
// Tokens of a saved sequence, from its header alone.
Status state_length(const void* data, size_t bytes, size_t* n_tokens, Error* err);

}  // namespace linnet
