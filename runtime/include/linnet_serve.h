/* linnet_serve.h: what a server keeps of prompts beside its sessions. Experimental: these calls may change with any version.
 *
 * A prefix cache holds what sessions computed of the beginnings of sequences, so that a prompt that begins like an earlier one is computed
 * from where the two part: pages of keys and values in a radix tree over tokens, 16 a node, and the states of layers that carry one, as
 * they were where a sequence was kept. It lives in memory that the caller gives it, apart from every session's, and copies pages in and
 * out: a session never waits for room in it, and it outlives sessions. What was used least recently goes first. A sequence that begins by
 * linnet_prefix_match goes on with the bytes of one that was computed as a whole (as far as "Exact" in linnet.h says so). */
#ifndef LINNET_SERVE_H
#define LINNET_SERVE_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linnet_prefix linnet_prefix; /* lives inside the caller's memory; one thread at a time */

/* What a prefix cache of at most `budget` bytes takes for sessions like this one: as much of it as can be used. Like this one are sessions
 * on the same model with the same K and V formats, of which layers with a window leave the same pages out. LINNET_TOO_SMALL: the budget
 * does not hold one page and one state. LINNET_UNSUPPORTED: when_full is not LINNET_FULL_STOP, KIVI formats, experts with a capacity. */
LINNET_CALL linnet_status linnet_prefix_need(const linnet_session* session, size_t budget, linnet_need* out, linnet_error* err);
/* Makes an empty one inside mem[0, bytes), with what `bytes` can hold. There is nothing to end: the memory may be used again at any time.
 */
LINNET_CALL linnet_status linnet_prefix_init(linnet_prefix** out, void* mem, size_t bytes, const linnet_session* session,
                                             linnet_error* err);

/* Copies what `seq` has computed into the cache, but for what is there already; the sequence stays as it is. *n_kept (may be NULL): tokens
 * of it that are there now. Less than all: tokens that wait to be computed (linnet_generate leaves one, a rollback of a model with states
 * may), or there was no room. In models with states a later prompt can go on from the end of what is kept here and from nowhere before it:
 * keep a sequence at the end of what others will have in common with it, too. In models with windows it can go on from where the pages
 * that the window sees are there, which are those of the last tokens here (n_rollback of linnet_session_params more). LINNET_BAD_ARG: the
 * session is not like the one that the cache was made for. */
LINNET_CALL linnet_status linnet_prefix_keep(linnet_prefix* prefix, const linnet_session* session, uint32_t seq, size_t* n_kept,
                                             linnet_error* err);
/* Makes `seq`, whatever it was, the longest beginning of tokens[0, n) that is in the cache, of *n_taken tokens (0: it is empty). Logits
 * come with the next prefill, so for a prompt pass one token less than it has. Its sampling and grammar stay as they are. The sequence can
 * be cut (linnet_truncate) to any length where layers keep all pages; with states what lies before *n_taken is computed again.
 * Of adapters (linnet_lora.h) it finds what sequences with the same ones, in the same order and with the same scales, have left.
 * LINNET_CONTEXT_FULL: the session's pool has no room; the sequence is as before. */
LINNET_CALL linnet_status linnet_prefix_match(linnet_prefix* prefix, linnet_session* session, uint32_t seq, const int32_t* tokens, size_t n,
                                              size_t* n_taken, linnet_error* err);
/* Forgets everything that begins with tokens[0, n), whatever adapters made it; n = 0: all. What it has in common with others up to there
 * stays. */
LINNET_CALL linnet_status linnet_prefix_drop(linnet_prefix* prefix, const int32_t* tokens, size_t n, linnet_error* err);

/* The pieces of tokens[first, n) that are there of sequences without adapters, as bytes with a CRC-32C each: for a disk, or another
 * process on the same model. first: a multiple of 16. *n_tokens (may be NULL): tokens up to the end of the last piece, first where none is
 * there. Writes at most `cap` bytes; *n_bytes is always the full size, LINNET_TOO_SMALL if it passes cap (out may be NULL with cap 0). */
LINNET_CALL linnet_status linnet_prefix_export(const linnet_prefix* prefix, const int32_t* tokens, size_t n, size_t first, void* out,
                                               size_t cap, size_t* n_bytes, size_t* n_tokens, linnet_error* err);
/* Takes exported pieces up, as if they had just been kept; `data` is free afterwards. *n_tokens (may be NULL): tokens that are there now up
 * to the end of the last piece taken, fewer where there was no room. All is checked before anything changes: that finds accidents, not
 * forgery. LINNET_BAD_FILE: damaged, or none of these. LINNET_UNSUPPORTED: another version, or of a cache for other sessions.
 * LINNET_BAD_STATE: what stands before `first` is not there. */
LINNET_CALL linnet_status linnet_prefix_import(linnet_prefix* prefix, const void* data, size_t n_bytes, size_t* n_tokens,
                                               linnet_error* err);

typedef struct linnet_prefix_desc {
  uint32_t size;
  uint32_t n_nodes;    /* pieces of up to 16 tokens that are there */
  uint32_t n_states;   /* of them with states at their end */
  uint32_t reserved;   /* 0 */
  uint64_t bytes;      /* for pages and states */
  uint64_t used_bytes; /* of them */
  uint64_t n_dropped;  /* pieces and states that went to make room, since init */
} linnet_prefix_desc;
LINNET_CALL linnet_status linnet_prefix_info(const linnet_prefix* prefix, linnet_prefix_desc* out, linnet_error* err);

#ifdef __cplusplus
}
#endif

#endif
