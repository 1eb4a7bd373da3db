/* linnet_embed.h: texts as vectors (text embeddings), for search, clustering and the like.
 *
 *   linnet_tokenize(model, text, n_bytes, LINNET_ADD_SPECIAL, ..., tokens, cap, &n, &err);     as for a prompt
 *   linnet_rows row = {.size = sizeof row, .seq = 0, .n_tokens = n, .tokens = tokens};
 *   linnet_embed(session, &row, 1, NULL, vector, n_dim, &err);                                 n_dim: of linnet_embed_info
 *
 * A vector is the final rows of a text (behind the last norm) pooled into one, then, where the model has them, through its dense layers,
 * and of length 1, so that the dot product of two is their cosine similarity. Models that are trained for it say which pooling they want
 * (Qwen3-Embedding, e5-mistral: the last row; EmbeddingGemma: the mean); every other decoder gives vectors too, of less use.
 *
 * - Exact, as linnet.h has it: the same bytes for every instruction set, thread count, chunk, and whatever other texts share a call.
 * - Memory: nothing beside the session's. Threads and cancelling: as linnet_prefill.
 * - With a GPU (linnet_cuda): LINNET_UNSUPPORTED. */
#ifndef LINNET_EMBED_H
#define LINNET_EMBED_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of a text's rows make its vector. */
typedef enum linnet_pooling LINNET_OF_UINT32 {
  LINNET_POOLING_DEFAULT = 0, /* the model's own, else LINNET_POOLING_LAST */
  LINNET_POOLING_MEAN = 1,    /* all: summed up in the order of positions in double, divided by how many there are, rounded to float */
  LINNET_POOLING_LAST = 2,    /* the last: of a causal model the only one that has seen the whole text */
  LINNET_POOLING_CLS = 3      /* the first */
} LINNET_32_BITS linnet_pooling;

typedef enum linnet_normalise LINNET_OF_UINT32 {
  LINNET_NORMALISE_DEFAULT = 0, /* the model's own; as LINNET_NORMALISE_ON where it says nothing of embeddings */
  LINNET_NORMALISE_ON = 1,      /* divided by its length, or 1e-12 where it is shorter than that */
  LINNET_NORMALISE_OFF = 2
} LINNET_32_BITS linnet_normalise;

/* What a model's vectors are. */
typedef struct linnet_embed_desc {
  uint32_t size;          /* set by the caller */
  uint32_t n_dim;         /* numbers of a vector */
  uint32_t pooling;       /* linnet_pooling, never the default */
  uint32_t normalise;     /* linnet_normalise, never the default */
  uint32_t is_embedder;   /* 1: the model says itself how it embeds; 0: the two above are linnet's choice */
  uint32_t bidirectional; /* 1: rows see what follows them: a text is computed in one piece of at most n_chunk tokens, and the model embeds
                             only. Its sessions refuse linnet_prefill, forks and states (LINNET_UNSUPPORTED), and their n_chunk is by
                             default as many as n_context, at most 4096 */
} linnet_embed_desc;
LINNET_CALL linnet_status linnet_embed_info(const linnet_model* model, linnet_embed_desc* out, linnet_error* err);

typedef struct linnet_embed_params {
  uint32_t size;
  uint32_t pooling;   /* linnet_pooling */
  uint32_t normalise; /* linnet_normalise */
  uint32_t n_dim;     /* the first so many numbers, before they are normalised, for models whose vectors may be cut (Matryoshka, Kusupati
                         et al. 2022): 1..n_dim of linnet_embed_info; default all */
} linnet_embed_params;

/* Vectors of n_rows texts, each on an empty sequence of its own that is empty again afterwards; other sequences stay as they are. Texts
 * are computed together, n_chunk rows at a time; more sequences and a larger chunk make many short texts cheap. out: (n_rows, n_dim),
 * n_dim as params or the model say, one behind the other in the order of `rows`; cap: floats that it holds, LINNET_TOO_SMALL says how many
 * there must be. All or nothing: unless it succeeds nothing is written. params: NULL for the model's own choices.
 * LINNET_BAD_STATE: a sequence is not empty (linnet_truncate empties it). LINNET_CONTEXT_FULL: a text is longer than n_context, of a
 * bidirectional model than n_chunk, or the pool has no room. */
LINNET_CALL linnet_status linnet_embed(linnet_session* session, const linnet_rows* rows, uint32_t n_rows, const linnet_embed_params* params,
                                       float* out, size_t cap, linnet_error* err);

/* Prompt i of a packed file, in the order of their names, at most 64: what a text is to begin with (text) by what it is for (name: "query",
 * "document"); the app puts it before the text. Both are of the file's bytes. *is_default (may be NULL): 1 where it is for texts of which
 * nobody says more. LINNET_BAD_ARG: there are not so many. Any thread; reads only metadata, all of it at each call. */
LINNET_CALL linnet_status linnet_embed_prompt(const linnet_view* file, uint32_t i, linnet_view* name, linnet_view* text,
                                              uint32_t* is_default, linnet_error* err);

#ifdef __cplusplus
}
#endif

#endif
