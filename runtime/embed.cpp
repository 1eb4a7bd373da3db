#include "embed.h"

#include <cstring>
#include <utility>

#include "../platform/file.h"
#include "../platform/fp.h"
#include "forward.h"
#include "params.h"
#include "power.h"

namespace linnet {

static_assert(uint32_t{kPoolingMean} == LINNET_POOLING_MEAN && uint32_t{kPoolingLast} == LINNET_POOLING_LAST &&
              uint32_t{kPoolingCls} == LINNET_POOLING_CLS);

linnet_embed_desc embed_desc(const ModelSpec& spec) {
  return {.size = sizeof(linnet_embed_desc),
          .n_dim = spec.dense_out ? spec.dense_out : spec.d_model,
          .pooling = spec.pooling ? spec.pooling : uint32_t{LINNET_POOLING_LAST},
          .normalise = spec.pool_raw ? uint32_t{LINNET_NORMALISE_OFF} : uint32_t{LINNET_NORMALISE_ON},
          .is_embedder = spec.pooling != kPoolingNone,
          .bidirectional = spec.bidirectional};
}

Status embed_check(const linnet_model& model, Error* err) {
  if (model.spec.n_layers == 0) return fail(err, LINNET_UNSUPPORTED, "embed: the model holds only a vocabulary");
  if (model.spec.embd_dim)
    return fail(err, LINNET_UNSUPPORTED,
                "embed: not with a model whose embeddings have a size of their own (embd_dim = ", model.spec.embd_dim, ")");
  return model.backend->ops->pool ? LINNET_OK : fail(err, LINNET_UNSUPPORTED, "embed: not with ", model.backend->name);
}

Status embed_params(const ModelSpec& spec, const linnet_embed_params* in, linnet_embed_params* out, Error* err) {
  LINNET_TRY(read_params(in, "embed", out, err));
  const linnet_embed_desc own = embed_desc(spec);
  if (out->pooling > LINNET_POOLING_CLS) return fail(err, LINNET_BAD_ARG, "embed: pooling is ", out->pooling, ", there is no such way");
  if (out->normalise > LINNET_NORMALISE_OFF) return fail(err, LINNET_BAD_ARG, "embed: normalise is ", out->normalise, ", must be 0..2");
  if (out->n_dim > own.n_dim) return fail(err, LINNET_BAD_ARG, "embed: n_dim is ", out->n_dim, ", vectors of this model have ", own.n_dim);
  if (out->pooling == LINNET_POOLING_DEFAULT) out->pooling = own.pooling;
  if (out->normalise == LINNET_NORMALISE_DEFAULT) out->normalise = own.normalise;
  if (out->n_dim == 0) out->n_dim = own.n_dim;
  return LINNET_OK;
}

namespace {

// The most tokens that a text may have.
uint32_t longest(const linnet_session& s) { return s.model->spec.bidirectional ? s.params.n_chunk : s.params.n_context; }

Status check_texts(const linnet_session& s, const linnet_rows* rows, uint32_t n_rows, Error* err) {
  for (uint32_t j = 0; j < n_rows; ++j) {
    linnet_rows r;
    LINNET_TRY(read_element(rows, j, "embed: rows", &r, err));
    if (r.seq >= s.params.n_sequences)
      return fail(err, LINNET_BAD_ARG, "embed: seq is ", r.seq, ", this session holds 0..", s.params.n_sequences - 1);
    for (uint32_t i = 0; i < j; ++i)
      if (element(rows, i).seq == r.seq) return fail(err, LINNET_BAD_ARG, "embed: sequence ", r.seq, " is named twice");
    if (r.n_tokens == 0) return fail(err, LINNET_BAD_ARG, "embed: no tokens");
    if (!r.tokens) return fail(err, LINNET_BAD_ARG, "embed: tokens is NULL");
    if (const uint32_t n = session_length(s, r.seq))
      return fail(err, LINNET_BAD_STATE, "embed: sequence ", r.seq, " has ", n, " tokens, and must be empty");
    if (r.n_tokens > longest(s))
      return s.model->spec.bidirectional
                 ? fail(err, LINNET_CONTEXT_FULL, "embed: a text of ", r.n_tokens, " tokens is more than n_chunk = ", s.params.n_chunk,
                        ", and the model's attention is bidirectional: a text is one pass")
                 : fail(err, LINNET_CONTEXT_FULL, "embed: a text of ", r.n_tokens, " tokens does not fit the context of ",
                        s.params.n_context);
    for (size_t i = 0; i < r.n_tokens; ++i)  // last: n_tokens is one that the sequence can hold
      if (r.tokens[i] < 0 || static_cast<uint32_t>(r.tokens[i]) >= s.model->spec.n_vocab)
        return fail(err, LINNET_BAD_ARG, "embed: token ", r.tokens[i], " at ", i, " is outside 0..", s.model->spec.n_vocab - 1);
  }
  return LINNET_OK;
}

// Fills a batch with what is left of the texts, in their order; those of a bidirectional model are in one batch each. Returns its rows.
uint32_t next_texts(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, uint32_t pooling, Batch* batch) {
  uint32_t m = 0;
  batch->n_spans = batch->n_pools = 0;
  for (uint32_t i = 0; i < n_rows && m < s.params.n_chunk; ++i) {
    const linnet_rows text = element(rows, i);
    const uint32_t done = s.parts_done[i], left = static_cast<uint32_t>(text.n_tokens) - done, room = s.params.n_chunk - m;
    if (left == 0) continue;
    if (left > room && s.model->spec.bidirectional) break;
    uint32_t n = left < room ? left : room;
    if (const uint32_t due = s.cache.until_checkpoint(text.seq, done); due < n) n = due;
    s.cache.advance(text.seq, done, n);
    s.spans[batch->n_spans++] = {text.seq, m, n, done};
    std::memcpy(s.act.made.tokens + m, text.tokens + done, n * sizeof *text.tokens);
    double* const sum = s.embed.sums + i * s.embed.sum_stride;
    if (pooling == LINNET_POOLING_MEAN) s.embed.pools[batch->n_pools++] = {m, n, sum};
    if (pooling == LINNET_POOLING_CLS && done == 0) s.embed.pools[batch->n_pools++] = {m, 1, sum};
    if (pooling == LINNET_POOLING_LAST && n == left) s.embed.pools[batch->n_pools++] = {m + n - 1, 1, sum};
    m += n;
    s.parts_done[i] += n;
    if (n < left) break;
  }
  return m;
}

// The sums of the rows that count, of each text. The sequences are empty again, however it ends.
Status pool_texts(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, uint32_t pooling, Error* err) {
  const CpuGuard cpus(s.cpus);
  const BackendGuard bound(s);
  LINNET_TRY(bound.check(err));
  std::memset(s.taken, 0, kMaxKvClasses * sizeof *s.taken);
  for (uint32_t i = 0; i < n_rows; ++i)
    if (const linnet_rows text = element(rows, i); !s.cache.has_room(text.seq, 0, static_cast<uint32_t>(text.n_tokens), s.taken))
      return fail(err, LINNET_CONTEXT_FULL, "the pool of ", s.params.n_pool, " positions for all sequences has no room for ", text.n_tokens,
                  " tokens in sequence ", text.seq);
  for (uint32_t i = 0; i < n_rows; ++i) {
    const linnet_rows text = element(rows, i);
    s.cache.begin(text.seq, 0, static_cast<uint32_t>(text.n_tokens));
    s.parts_done[i] = 0;
  }
  std::memset(s.embed.sums, 0, n_rows * s.embed.sum_stride * sizeof *s.embed.sums);
  Status status = LINNET_OK;
  Batch batch{};
  batch.spans = s.spans;
  batch.pools = s.embed.pools;
  while (status == LINNET_OK && (batch.m = next_texts(s, rows, n_rows, pooling, &batch)) != 0) {
    status = forward(s, batch, err);
    if (status == LINNET_OK) govern(s, false);
  }
  for (uint32_t i = 0; i < n_rows; ++i) s.cache.cancel(element(rows, i).seq);
  return status;
}

// Vectors on their way through the model's dense layers.
struct DensePass : Pass {
  linnet_session& s;
  uint32_t n;
  DensePass(linnet_session& session, uint32_t n_vectors);
};

void dense_rows(Pass& pass, const Worker& w, bool, float*) {
  const DensePass& p = static_cast<const DensePass&>(pass);
  const linnet_model& model = *p.s.model;
  const EmbedRoom& room = p.s.embed;
  float *x = room.vectors, *y = room.other;
  for (uint32_t i = 0; i < 2; ++i) {
    if (!model.dense[i].panels) continue;
    model.backend->ops->gemm(w, model.dense[i], x, room.stride, nullptr, p.n, model.dense_bias[i], false, y, room.stride);
    model.backend->ops->sync(w);
    std::swap(x, y);
  }
}

DensePass::DensePass(linnet_session& session, uint32_t n_vectors)
    : Pass{.kv = &session.cache.kv,
           .slots = &session.cache.slots,
           .spans = session.spans,
           .n_spans = 0,
           .m = n_vectors,
           .n_logits = 0,
           .n_vocab = session.model->spec.n_vocab,
           .logits = nullptr,
           .logits_stride = session.logits_stride,
           .made = &session.act.made,
           .rows = &session.act.rows,
           .make = [](const Pass&, uint32_t) {},
           .compute = dense_rows},
      s(session),
      n(n_vectors) {}

}  // namespace

Status session_embed(linnet_session& s, const linnet_rows* rows, uint32_t n_rows, const linnet_embed_params& params, float* out,
                     Error* err) {
  LINNET_TRY(check_texts(s, rows, n_rows, err));
  const uint64_t start = clock_ns();
  const ModelSpec& spec = s.model->spec;
  const KernelTable& kernels = s.model->kernels.t;
  EmbedRoom& room = s.embed;
  LINNET_TRY(pool_texts(s, rows, n_rows, params.pooling, err));
  const FpGuard guard;
  for (uint32_t i = 0; i < n_rows; ++i) {
    const double n = params.pooling == LINNET_POOLING_MEAN ? static_cast<double>(element(rows, i).n_tokens) : 1.0;
    for (uint32_t c = 0; c < spec.d_model; ++c)
      room.vectors[i * room.stride + c] = static_cast<float>(room.sums[i * room.sum_stride + c] / n);
  }
  if (spec.dense_out) {
    const CpuGuard cpus(s.cpus);
    const BackendGuard bound(s);
    DensePass pass(s, n_rows);
    LINNET_TRY(s.model->backend->run(s.handle, pass, err));
    if (!spec.dense_mid) std::swap(room.vectors, room.other);  // one layer leaves them there
  }
  for (uint32_t i = 0; i < n_rows; ++i)
    if (kernels.amax_bits(room.vectors + i * room.stride, embed_desc(spec).n_dim) >= 0x7F800000u)
      return fail(err, LINNET_NOT_FINITE, "embed: the vector of text ", i, " is infinite or NaN");
  for (uint32_t i = 0; i < n_rows; ++i) {
    float* const to = out + size_t{i} * params.n_dim;
    std::memcpy(to, room.vectors + i * room.stride, params.n_dim * sizeof *to);
    if (params.normalise == LINNET_NORMALISE_ON) kernels.unit_row(to, params.n_dim);
    s.stats.prefill_tokens += element(rows, i).n_tokens;
  }
  s.stats.prefill_ns += clock_ns() - start;
  return LINNET_OK;
}

}  // namespace linnet
