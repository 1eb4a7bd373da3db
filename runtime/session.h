// Session: one conversation's KV cache, activation buffers, sampler and threads, all in the caller's memory.
#pragma once
#include <atomic>

#include "../platform/team.h"
#include "../platform/text_out.h"
#include "cache/cache.h"
#include "model.h"
#include "sampling/forced.h"
#include "sampling/grammar.h"
#include "sampling/sampling.h"

namespace linnet {

// Buffers of a forward pass over at most n_chunk rows (C). Strides are row lengths rounded up to 16 floats.
struct Activations {
  float *x, *normed;  // (C, d_model)
  float* branch;      // (C, d_model) what a branch gives, where the residual arrangement does not add it at once
  float* wide;        // what each kind of layer needs beside (layers/kinds.h), one after the other; (C, embd_dim) before them and behind
  size_t d_stride, embd_stride;
  Streams streams;
  float* layer_in;  // (C, n_layers * layer_embd) what layers read of each token besides
  // Layers with experts: P = C * n_active pairs of a row and one of its experts.
  size_t router_stride;
  float *router, *shared_gate;  // logits (C, n_experts), (C, 16)
  float* pair_rows;             // (P, d_model) rows of the pairs where they are needed in f32, later the experts' outputs
  QuantRows pair_q;             // (P, the longer of d_model and expert_ff); format and groups as the matrix that reads them has
  Pairs pairs;
  QuantRows codes;  // (C, the longest input but down's), hidden: (C, d_ff), down's where no experts are; format and groups as the matrix
                    // that reads them has
  QuantRows hidden;
  float* lora;           // (kLorasAtOnce, C, lora_rank) what adapters' A make
  double* inv_freq;      // of each RoPE (n_pairs)
  RowTables made, rows;  // as the host writes them, and as operations read them: the same memory, unless the places are apart
};

// Where texts become vectors, one for each sequence. stride: of the longest of its forms.
struct EmbedRoom {
  size_t sum_stride, stride;
  double* sums;            // (n_sequences, sum_stride)
  float *vectors, *other;  // (n_sequences, stride), other: where there are dense layers
  PoolRows* pools;         // (n_sequences) of a pass
};

// A token that began a banned string, and the length of the sequence before it.
struct Barred {
  uint32_t at;
  int32_t token;
};
// Times that tokens are taken back before the text comes further.
inline constexpr uint32_t kMostRetries = 256;

// A generation of a sequence, between its tokens.
struct Generation {
  bool going;
  bool ignore_eos;
  uint32_t max_tokens;  // 0: as many as there is room for
  uint32_t n_tokens;    // drawn
  int32_t token, eog;   // the last one; what ended it: linnet_generated has them
  size_t fed;           // bytes of `token` that are in `text`
  StopStrings stops, bans;
  TextOut text;
  uint32_t n_barred, n_retries, certain;  // certain: so long is the sequence without the tokens that may yet be taken back
  Barred barred[kMostRetries];            // ascending
};

// One of a session's sequences of tokens.
struct Sequence {
  uint32_t length;   // tokens in the KV cache
  uint32_t replay;   // so many tokens behind them were there too before a cut, and are to be computed again (Cache::base); no logits then
  uint32_t pending;  // 1: one token more, behind those, that linnet_generate left to be computed
  int32_t* history;  // the last of its tokens: all but n_forgotten
  uint32_t n_forgotten;   // more than 0 only where the context may be longer than what is held
  float* logits;          // (n_logits, logits_stride)
  uint32_t n_logit_rows;  // valid rows; 0 = none
  uint16_t* chosen;       // (n_layers, n_context, n_active) experts of its positions, where experts have a capacity
  linnet_sampling sampling;
  uint64_t n_draws;  // numbers drawn since linnet_sampling_set
  float mu;          // Mirostat's, as it is now
  Generation* generation;
  GrammarPlace place;
  LoraUse lora;
  uint64_t lora_hash;  // of its adapters; 0: none
};

// What a session is in the middle of: a call that computes, so that the app's callbacks and hooks may run inside, or linnet_generate's
// callback.
enum class Within : uint32_t { kNothing, kCall, kTokenFn };

inline constexpr uint32_t kMaxSequences = 64;
inline constexpr uint32_t kLorasAtOnce = 4;  // matrices whose adapters wait for one sync

}  // namespace linnet

// The type that linnet.h leaves opaque.
struct linnet_session {
  const linnet_model* model;
  linnet_session_params params;  // defaults filled in
  linnet::Team team;
  linnet_cpus cpus;  // that it is bound to; empty: none
  linnet::Cache cache;
  linnet::Activations act;
  linnet::HostSide host;
  linnet::EmbedRoom embed;
  linnet::Sequence* seqs;        // (n_sequences)
  linnet::RowSpan* spans;        // (n_sequences) of the batch that is computed
  linnet::LoraRows* lora_rows;   // (2 * n_sequences) of it, then of its rows that get logits
  uint32_t *parts_done, *taken;  // (n_sequences) tokens of a call that are computed; (KV classes)
  uint32_t* logit_rows;          // (most rows of logits in a batch)
  float* batch_logits;           // (n_sequences, logits_stride), where there are several sequences
  size_t logits_stride;
  char* utf8;             // (3 * kHeldBytes) of the generation that is looked at
  uint32_t* may_follow;   // (n_vocab bits) where tokens are barred
  linnet::Forced forced;  // with several rows of logits and a tokenizer: of the generation that is looked at
  std::atomic<uint32_t> cancel;
  linnet::Within within;
  uint32_t process;  // that made it
  linnet_stats stats;
  linnet_power* power;  // nullptr: nothing governs it
  uint64_t ttft_start_ns, last_sample_ns;
  bool ttft_pending;
  linnet::Arena arena;        // its table of purposes
  linnet::Arena own, pinned;  // and those of the backend's memory
  void* handle;               // the backend's
};

namespace linnet {

// Whether a sequence may be longer than what is held of it.
inline bool drops_tokens(const linnet_session_params& p) { return p.when_full != LINNET_FULL_STOP && p.when_full != LINNET_FULL_SNAPKV; }
// What penalties look back on and what may be rolled back stays where tokens are forgotten.
inline uint32_t remembered(const linnet_session_params& p) { return p.n_rollback + 1024; }
inline uint64_t history_tokens(const linnet_session_params& p) {
  return drops_tokens(p) ? uint64_t{p.n_context} + remembered(p) : p.n_context;
}

// The calling thread works with the session's backend.
struct BackendGuard {
  const linnet_session& s;
  explicit BackendGuard(const linnet_session& session) : s(session) { s.model->backend->enter(s.handle); }
  ~BackendGuard() { s.model->backend->leave(s.handle); }
  BackendGuard(const BackendGuard&) = delete;
  BackendGuard& operator=(const BackendGuard&) = delete;
  Status check(Error* err) const { return s.model->backend->check(s.handle, err); }
};

// Checks params against the model and fills in the defaults, those of the model's profile first; LINNET_TOO_SMALL where the profile's
// memory cap leaves no room, with what would fit.
Status session_params(const linnet_model& model, const linnet_session_params* in, linnet_session_params* out, Error* err);
// The one layout function: counts on arenas without memory, places on real ones.
linnet_session* session_layout(const Places& places, const linnet_model& model, const linnet_session_params& params);
void session_count(Footprint* out, const linnet_model& model, const linnet_session_params& params);
void session_fini(linnet_session& s);
// What calls of the ABI check: that there is such a sequence; that the session is this process's, which one that was forked off is not;
// and, where they change a session or look at what calls are about to change, that none runs.
Status check_seq(const linnet_session& s, uint32_t seq, Error* err);
Status check_process(const linnet_session& s, Error* err);
Status check_idle(const linnet_session& s, Error* err);
Status session_init(linnet_session** out, void* mem, size_t bytes, const linnet_model* model, const linnet_session_params* params,
                    Error* err);

Status session_prefill(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err);
Status session_sample(linnet_session& s, uint32_t seq, int32_t* token, Error* err);
// Draws a token and appends it.
Status session_decode(linnet_session& s, uint32_t seq, int32_t* token, Error* err);
Status session_generate_begin(linnet_session& s, uint32_t seq, const linnet_generate_params& params, Error* err);
// One token and its text; with `all`, which ends it in any case, all of them, each of which is passed to fn.
Status session_generate(linnet_session& s, uint32_t seq, bool all, linnet_token_fn fn, void* user, linnet_generated* out, Error* err);
// Tokens from `first` on. LINNET_BAD_STATE: forgotten.
Status session_tokens(const linnet_session& s, uint32_t seq, size_t first, int32_t* out, size_t cap, size_t* n_tokens, Error* err);
uint32_t session_length(const linnet_session& s, uint32_t seq);
// A checkpoint of the states behind the last token that has been computed.
Status session_checkpoint(linnet_session& s, uint32_t seq, Error* err);
// Tokens that a sequence may have, and those of them that it remembers.
uint32_t session_most(const linnet_session& s);
uint64_t session_history(const linnet_session& s);
// LINNET_BAD_STATE: layers with a window no longer hold what lies before `keep`, or there are no checkpoints.
Status session_truncate(linnet_session& s, uint32_t seq, uint32_t keep, Error* err);
void session_grammar(linnet_session& s, uint32_t seq, linnet_grammar* grammar, uint32_t start);
Status session_fork(linnet_session& s, uint32_t from, uint32_t to, uint32_t keep, Error* err);

}  // namespace linnet
