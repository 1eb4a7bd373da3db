// forward(): a batch of rows (sequence, position, token) through the decoder. Prefill, decode and chunks of a prefill are the same call.
#pragma once
#include "session.h"

namespace linnet {

struct Batch {           // its tokens are in the session's made.tokens
  const RowSpan* spans;  // (n_spans) one behind the other: span i + 1 begins at the row after span i's last
  uint32_t n_spans;
  uint32_t m;                  // 1..n_chunk
  const uint32_t* logit_rows;  // (n_logits) rows that get logits, ascending
  uint32_t n_logits;
  float* logits;  // (n_logits, session.logits_stride)
  // Instead of logits: final rows that are pooled, ascending; nullptr: this is no text to be embedded.
  const PoolRows* pools;
  uint32_t n_pools;
};

// Draws a token and begins the pass of one row that reads it; does not wait. For backends that run ahead of the host.
void forward_ahead(linnet_session& s, const Batch& batch, const Draw& draw);

// LINNET_CANCELLED or LINNET_NOT_FINITE leave rows of the batch behind in the KV cache; the caller cancels there too.
Status forward(linnet_session& s, const Batch& batch, Error* err);

}  // namespace linnet
