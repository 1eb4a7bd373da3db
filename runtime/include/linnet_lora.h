/* linnet_lora.h: low-rank adapters beside a model (LoRA, Hu et al. 2021, arXiv 2106.09685).
 *
 *   linnet_lora_need(model, &file, &need, &err);   linnet_lora_init(&lora, mem, need.bytes, model, &file, &err);
 *   linnet_session_params p = {.size = sizeof p, .lora_rank = 16};      what a session's sequences may use of them, in linnet_session_need
 *   linnet_lora_set(session, seq, &lora, NULL, 1, &err);                before the sequence's first token
 *
 * A matrix W (n outputs, k inputs) with an adapter gives W x + bias + s B (A x): A is (rank, k), B (n, rank), s = scale * alpha / rank of
 * linnet_lora_set and of the file. The model's packed weights stay as they are, in any format: A and B are f32, read the rows that W reads
 * before they are rounded, and add behind W's own result. Sequences of one call may each have other adapters, or none.
 *
 * - File: GGUF as llama.cpp has adapters: general.type "adapter", adapter.type "lora", adapter.lora.alpha, and of a matrix NAME the tensors
 *   NAME.lora_a and NAME.lora_b in F32, F16 or BF16. linnet_convert_file makes one of a PEFT folder. Ranks 1..256, which may differ from
 *   matrix to matrix, of what layers multiply with: attention's q, k, v (or all of them as attn_qkv), gate and output; latent attention's
 *   q, q_a, q_b, kv_a and output; what goes into and comes out of short convolutions, gated delta nets and Mamba-2; gate, up and down of
 *   dense feed-forward steps and of shared experts, routers and the gate of shared experts; and of the LM head (output.weight), also
 *   where the embedding's table is the head: then tokens are embedded as before. Everything else (embeddings, routed experts, kv_b) is
 *   LINNET_UNSUPPORTED by name: nothing of a file is passed over.
 * - Exact, as linnet.h has it: A x is one chain of fused multiply-adds over k for each of rank's outputs, times s, and B's over rank for
 *   each of n outputs, added to W's. Several adapters add one after the other, in the order that they are given.
 * - Memory: an adapter's values are copied, so its file's bytes are free after init. A session counts room for A x. No call allocates.
 * - Threads: an adapter is immutable after init, and serves any number of sessions of its model on any threads; it must outlive them.
 * - With a GPU (linnet_cuda): LINNET_UNSUPPORTED. */
#ifndef LINNET_LORA_H
#define LINNET_LORA_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct linnet_lora linnet_lora; /* lives inside the caller's memory */

enum {
  LINNET_LORA_MOST = 8,       /* adapters of a sequence */
  LINNET_LORA_MOST_RANK = 256 /* of an adapter */
};

/* What linnet_lora_init takes for this file beside this model: A and B in f32, their outputs rounded up to 16. LINNET_BAD_FILE: malformed,
 * of other shapes than the model's, or with a part missing. LINNET_UNSUPPORTED: for another architecture, for a matrix that no adapter is
 * computed of, of a higher rank; or a model file that does not say how adapters fit: one packed before they were known, or with inputs in
 * an order of their own (act-order). Any thread; reads only metadata. */
LINNET_CALL linnet_status linnet_lora_need(const linnet_model* model, const linnet_view* file, linnet_need* out, linnet_error* err);
/* Makes an adapter inside mem[0, bytes). The model must outlive it, the file need not. LINNET_BAD_FILE: a value is infinite or NaN.
 * LINNET_TOO_SMALL if bytes < need. */
LINNET_CALL linnet_status linnet_lora_init(linnet_lora** out, void* mem, size_t bytes, const linnet_model* model, const linnet_view* file,
                                           linnet_error* err);

/* What an adapter is. `name` lives as long as the adapter. */
typedef struct linnet_lora_desc {
  uint32_t size;       /* set by the caller */
  uint32_t rank;       /* the highest of its matrices */
  uint32_t n_matrices; /* that it changes */
  float alpha;         /* of the file; 0: it says none, and s is the scale alone */
  uint64_t bytes;      /* of memory, as linnet_lora_need says */
  uint64_t n_params;   /* of A and B, padding not counted */
  uint64_t hash;       /* of its values, their places and factors: what tells adapters apart where sequences are kept */
  const char* name;    /* general.name of the file, "" if absent */
} linnet_lora_desc;
LINNET_CALL linnet_status linnet_lora_info(const linnet_lora* lora, linnet_lora_desc* out, linnet_error* err);

/* Gives a sequence that holds no tokens these adapters, 0 to LINNET_LORA_MOST of them, in place of those that it had; n = 0: none (`loras`
 * may be NULL). scales: n finite factors beside the files' own, NULL = all 1; with 0 an adapter counts as not given. They stay through
 * linnet_truncate, also to nothing; linnet_fork takes them along, in place of those that `to` had. Switching costs no time.
 * What is kept of a sequence knows them: linnet_state_load and linnet_prefix_match take what sequences with the same adapters, in the same
 * order and with the same scales, have left, and nothing else (linnet_state_load: LINNET_UNSUPPORTED).
 * LINNET_BAD_STATE: the sequence holds tokens, whose keys and values others made (the very same may be given again). LINNET_BAD_ARG: an
 * adapter of another model; or their ranks, each rounded up to 16, are more than the session's lora_rank together. */
LINNET_CALL linnet_status linnet_lora_set(linnet_session* session, uint32_t seq, const linnet_lora* const* loras, const float* scales,
                                          uint32_t n, linnet_error* err);

#ifdef __cplusplus
}
#endif

#endif
