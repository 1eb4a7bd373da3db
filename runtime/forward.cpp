// The decoder. Every thread of the session's team runs forward_rows(); the pieces of each operation go to whoever takes them, and sync()
// stands where one thread reads what others wrote. A thread that comes late runs through what is done.
#include "forward.h"

#include "layers/decoder.h"
#include "lora.h"
#include "rope.h"

namespace linnet {

// Tokens into the residual stream.
void Decoder::embed() {
  if (spec.embd_dim) {
    QuantRows rows = quant_rows(a.codes, model.embd_in);
    ops.embed(w, model.embedding, a.rows.tokens, m, a.wide, a.embd_stride);
    ops.sync(w);
    if (rows.q) {
      ops.quantize(w, a.wide, a.embd_stride, m, spec.embd_dim, &rows);
      ops.sync(w);
    }
    ops.gemm(w, model.embd_in, a.wide, a.embd_stride, &rows, m, nullptr, false, a.x, a.d_stride);
  } else {
    ops.embed(w, model.embedding, a.rows.tokens, m, a.x, a.d_stride);
  }
  if (spec.positions) ops.embed(w, model.positions, a.rows.positions, m, a.normed, a.d_stride);
  ops.sync(w);
  if (spec.embd_scale > 0) ops.scale(w, a.x, a.d_stride, static_cast<float>(spec.embd_scale), 0, m, spec.d_model);
  if (spec.embd_scale > 0) ops.sync(w);
  if (spec.positions) ops.add(w, a.x, a.normed, a.d_stride, {}, 0, m, spec.d_model);
  if (spec.positions) ops.sync(w);
  if (spec.embd_norm) ops.norm(w, a.x, a.d_stride, model.embd_norm, m, spec.d_model, a.x, nullptr);
  if (spec.embd_norm) ops.sync(w);
}

// Logits of some rows of the residual stream.
void Decoder::logits(const Batch& b, const float* x, float* to) {
  const Matrix& first = spec.embd_dim ? model.embd_out : model.head;
  QuantRows in = quant_rows(a.codes, first);
  for (uint32_t i = 0; i < b.n_logits;) {
    const uint32_t from = i;  // rows one behind the other are normed at once
    while (++i < b.n_logits && b.logit_rows[i] == b.logit_rows[i - 1] + 1) {
    }
    QuantRows part = rows_from(in, from);
    ops.norm(w, x + b.logit_rows[from] * a.d_stride, a.d_stride, model.output_norm, i - from, spec.d_model, a.normed + from * a.d_stride,
             in.q ? &part : nullptr);
  }
  ops.sync(w);
  const float* rows = a.normed;
  size_t stride = a.d_stride;
  if (spec.embd_dim) {
    ops.gemm(w, model.embd_out, rows, stride, &in, b.n_logits, nullptr, false, a.wide, a.embd_stride);
    ops.sync(w);
    rows = a.wide, stride = a.embd_stride, in = quant_rows(a.codes, model.head);
    if (in.q) {
      ops.quantize(w, rows, stride, b.n_logits, spec.embd_dim, &in);
      ops.sync(w);
    }
  }
  gemm(model.head, rows, stride, &in, b.n_logits, model.head_bias, false, to, logits_stride);
  if (n_waiting) sync();
  if (spec.logit_scale == 0 && spec.logit_softcap == 0) return;
  ops.sync(w);
  ops.scale(w, to, logits_stride, static_cast<float>(spec.logit_scale), static_cast<float>(spec.logit_softcap), b.n_logits, spec.n_vocab);
}

// Rows of the residual stream, normed as the head reads them, into the sums of their texts.
void Decoder::pool(const Batch& b, const float* x) {
  for (uint32_t i = 0; i < b.n_pools; ++i) {
    const size_t at = b.pools[i].row * a.d_stride;
    ops.norm(w, x + at, a.d_stride, model.output_norm, b.pools[i].n, spec.d_model, a.normed + at, nullptr);
  }
  ops.sync(w);
  ops.pool(w, a.normed, a.d_stride, b.pools, b.n_pools, spec.d_model);
}

namespace {

// A pass of a session.
struct Forward : Pass {
  linnet_session& s;
  const Batch& batch;
  uint32_t n_lora_rows = 0, n_lora_logits = 0;  // of the rows, and of those among them that get logits
  Forward(linnet_session& session, const Batch& b);
};

// Where sink i stands for a row at `position`: sinks that its window has left stand one behind the other just before it.
uint32_t sink_position(const linnet_session_params& p, uint32_t position, uint32_t i) {
  const uint32_t window = p.n_context - p.n_keep, low = position >= window ? position + 1 - window : 0;
  return low > p.n_keep ? low - p.n_keep + i : i;
}

// What is made for a row, which lies in some span.
void make_row(const Pass& pass, uint32_t row) {
  const Forward& f = static_cast<const Forward&>(pass);
  const linnet_session& s = f.s;
  const Batch& b = f.batch;
  const ModelSpec& spec = s.model->spec;
  const Activations& a = s.act;
  const RowTables& t = a.made;
  uint32_t i = 0;
  while (row - b.spans[i].row >= b.spans[i].n) ++i;
  const uint32_t position = b.spans[i].position + static_cast<uint32_t>(row - b.spans[i].row);
  if (spec.positions) t.positions[row] = static_cast<int32_t>(position + spec.position_offset);
  if (spec.temp_scale > 0)
    t.temperature[row] = static_cast<float>(1 + spec.temp_scale * rope_log(1 + (position + !spec.temp_all) / spec.temp_positions));
  for (uint32_t layer = 0; t.layer_floats && layer < spec.n_layers; ++layer) {
    const Matrix& table = s.model->layer_embd;
    s.model->kernels.t.gather_row(table.format, table.panels, table.scales, table.n, table.k,
                                  first_row_of(table, t.tokens[row], spec.n_layers) + layer,
                                  t.layer_rows + size_t{row} * t.layer_floats + size_t{layer} * spec.layer_embd);
  }
  for (uint32_t r = 0; r < 2; ++r) {
    const uint32_t n_pairs = t.n_pairs[r];
    const double* inv_freq = a.inv_freq + (r ? t.n_pairs[0] : 0);
    const double factor = r == 0 && spec.rope_attn_factor > 0 ? spec.rope_attn_factor : 1;
    const size_t at = t.rope_at(r, row);
    rope_fill(inv_freq, n_pairs, position, factor, t.cos + at, t.sin + at);
    for (uint32_t k = 0; t.sink_cos && k < s.params.n_keep; ++k) {
      const size_t sink = at * kMaxSinks + size_t{k} * n_pairs;
      rope_fill(inv_freq, n_pairs, sink_position(s.params, position, k), factor, t.sink_cos + sink, t.sink_sin + sink);
    }
  }
}

void forward_rows(Pass& pass, const Worker& w, bool whole, float* to) {
  linnet_session& s = static_cast<Forward&>(pass).s;
  const linnet_model& model = *s.model;
  const ModelSpec& spec = model.spec;
  const Ops& ops = *model.backend->ops;
  const Activations& a = s.act;
  const Batch& b = static_cast<Forward&>(pass).batch;
  Decoder d{w,
            ops,
            spec,
            a,
            s.cache.kv,
            model,
            b.spans,
            b.n_spans,
            b.m,
            s.logits_stride,
            s,
            s.lora_rows,
            static_cast<Forward&>(pass).n_lora_rows};

  if (spec.positions) ops.sync(w);
  d.embed();
  if (spec.layer_embd) d.layer_inputs();
  if (spec.streams) d.start_streams();

  // After the last layer's keys and values only the rows that get logits, or are pooled, are of use; those before them are cut off, of
  // logits where they are the last ones. What others look at counts where tokens are chosen by it.
  const bool tail = b.n_spans == 1 && !spec.expert_capacity && s.params.when_full < LINNET_FULL_HEAVY_HITTERS &&
                    (b.pools || b.n_logits == 0 || b.logit_rows[0] + b.n_logits == b.m);
  const uint32_t unused = tail ? b.n_pools ? b.pools[0].row : b.m - b.n_logits : 0;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const Layer& l = model.layers[i];
    const uint32_t first = i + 1 < spec.n_layers ? 0 : unused;
    if (!whole) {
      ops.pace(w);
      for_rows(w, 1, [&](uint32_t) { pass.stop.fetch_or(s.cancel.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed); });
    }
    if (spec.streams) d.predict(l.streams);
    kMixers[l.spec.mixer]->run(d, l, i, first);
    if (pass.stop.load(std::memory_order_relaxed)) return;  // every thread has passed a sync since somebody wrote it
    if (first) {
      d.a.x += first * a.d_stride;
      if (in_branch(spec)) d.a.branch += first * a.d_stride;
      d.a.streams.x += spec.streams ? first * a.d_stride : 0;
      if (spec.layer_embd) d.a.layer_in += size_t{first} * spec.n_layers * spec.layer_embd;
      d.m -= first;
    }
    if (d.m && spec.streams) d.laurel(l.streams, a.normed + first * a.d_stride);
    if (d.m) kFeedForwards[l.spec.feed_forward]->run(d, l, i, 0);
    if (d.m && spec.streams) d.correct(l.streams);
    if (d.m) d.layer_input(l.input, i);
  }
  if (d.m && spec.streams) d.end_streams();
  if (b.n_logits) {
    d.lora_rows += s.params.n_sequences;
    d.n_lora_rows = static_cast<Forward&>(pass).n_lora_logits;
    d.logits(b, a.x, to);
  }
  if (b.n_pools) d.pool(b, a.x);
}

Forward::Forward(linnet_session& session, const Batch& b)
    : Pass{.kv = &session.cache.kv,
           .slots = &session.cache.slots,
           .spans = b.spans,
           .n_spans = b.n_spans,
           .m = b.m,
           .n_logits = b.n_logits,
           .n_vocab = session.model->spec.n_vocab,
           .logits = b.logits,
           .logits_stride = session.logits_stride,
           .made = &session.act.made,
           .rows = &session.act.rows,
           .make = make_row,
           .compute = forward_rows},
      s(session),
      batch(b) {
  // Neighbours with the same adapters are multiplied together.
  for (uint32_t i = 0; session.params.lora_rank && i < b.n_spans; ++i) {
    const RowSpan& span = b.spans[i];
    const Sequence& q = session.seqs[span.seq];
    if (q.lora.n == 0) continue;
    LoraRows* const last = n_lora_rows ? &session.lora_rows[n_lora_rows - 1] : nullptr;
    if (last && last->row + last->n == span.row && same_loras(*last->use, q.lora))
      last->n += span.n;
    else
      session.lora_rows[n_lora_rows++] = {span.row, span.n, &q.lora};
  }
  // The head reads rows that get logits one behind the other.
  LoraRows* const of_logits = session.lora_rows + session.params.n_sequences;
  for (uint32_t i = 0, at = 0; i < n_lora_rows; ++i) {
    const LoraRows& some = session.lora_rows[i];
    while (at < b.n_logits && b.logit_rows[at] < some.row) ++at;
    const uint32_t from = at;
    while (at < b.n_logits && b.logit_rows[at] < some.row + some.n) ++at;
    if (at > from) of_logits[n_lora_logits++] = {from, at - from, some.use};
  }
}

}  // namespace

void forward_ahead(linnet_session& s, const Batch& b, const Draw& draw) {
  Forward pass(s, b);
  s.model->backend->draw(s.handle, draw, &pass);
}

Status forward(linnet_session& s, const Batch& batch, Error* err) {
  Forward pass(s, batch);
  pass.stop = s.cancel.exchange(0, std::memory_order_relaxed);
  if (!pass.stop) LINNET_TRY(s.model->backend->run(s.handle, pass, err));
  if (pass.stop) return fail(err, LINNET_CANCELLED, "cancelled");
  if (pass.not_finite) {
    const RowSpan& span = batch.spans[0];
    return fail(err, LINNET_NOT_FINITE, "an activation became infinite or NaN at a position in ", span.position, "..",
                span.position + span.n - 1, batch.n_spans > 1 ? ", or in another sequence of the batch" : "");
  }
  return LINNET_OK;
}

}  // namespace linnet
