// Texts as vectors: rows through the decoder, pooled, through dense layers, normalised.
#pragma once
#include "include/linnet_embed.h"
#include "session.h"

namespace linnet {

linnet_embed_desc embed_desc(const ModelSpec& spec);
// What the model cannot embed with; LINNET_OK where it can.
Status embed_check(const linnet_model& model, Error* err);
// params: checked and with defaults filled in. out: (n_rows, params.n_dim).
Status embed_params(const ModelSpec& spec, const linnet_embed_params* in, linnet_embed_params* out, Error* err);
Status session_embed(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, const linnet_embed_params& params, float* out,
                     Error* err);

}  // namespace linnet
