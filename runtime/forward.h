// forward(): a batch of rows (position, token) of a sequence through the decoder. Prefill, decode and chunks of a prefill are the same call.
#pragma once
#include "session.h"

namespace linnet {

struct Batch {
  const int32_t* tokens;  // (m)
  uint32_t m;             // 1..n_chunk
  uint32_t position;      // of the first row; the KV cache holds all before it
  uint32_t n_logits;      // logits for the last n rows go to session.logits
};

// LINNET_CANCELLED or LINNET_NOT_FINITE leave pages of the batch behind; the caller truncates.
Status forward(linnet_session& s, const Batch& batch, Error* err);

}  // namespace linnet
