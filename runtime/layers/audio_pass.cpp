#include "audio_pass.h"

namespace linnet {

AudioPass::AudioPass(linnet_audio_session& session, uint32_t n_rows, void (*fn)(Pass&, const Worker&, bool, float*))
    : Pass{.kv = nullptr,
           .slots = nullptr,
           .spans = nullptr,
           .n_spans = 0,
           .m = n_rows,
           .n_logits = 0,
           .n_vocab = session.audio->spec.n_vocab,
           .logits = session.logits,
           .logits_stride = session.logits_stride,
           .made = nullptr,
           .rows = nullptr,
           .make = [](const Pass&, uint32_t) {},
           .compute = fn},
      s(session) {}

AudioWorker::AudioWorker(Pass& p, const Worker& worker, bool encoder)
    : w(worker), pass(static_cast<AudioPass&>(p)), s(pass.s), m(*s.audio), spec(m.spec), ops(*m.backend->ops), a(encoder ? s.enc : s.dec) {}

void AudioWorker::look() const {
  for_rows(w, 1, [&](uint32_t) { pass.stop.fetch_or(s.cancel.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed); });
}

QuantRows AudioWorker::norm(const Norm& by, const Matrix& next, const float* x, uint32_t rows) const {
  QuantRows q = quant_rows(a.codes, next);
  ops.norm(w, x, stride(), by, rows, spec.d_model, a.normed, q.q ? &q : nullptr);
  sync();
  return q;
}

void AudioWorker::project(const AudioAttention& t, float* heads, uint32_t rows, float* x) const {
  QuantRows q = quant_rows(a.codes, t.out);
  if (q.q) ops.quantize(w, heads, stride(), rows, spec.d_model, &q);
  if (q.q) sync();
  ops.gemm(w, t.out, heads, stride(), &q, rows, t.out_bias, true, x, stride());
  sync();
}

void AudioWorker::feed_forward(const AudioFeedForward& t, uint32_t act, uint32_t d_ff, uint32_t rows, float* x) const {
  const QuantRows in = norm(t.norm, t.up, x, rows);
  QuantRows hidden = quant_rows(a.hidden, t.down);
  const size_t row = row_floats(d_ff);
  ops.gate_up(w, {t.gate, t.up, t.gate_bias, t.up_bias, act, 0}, a.normed, stride(), &in, rows, a.wide, row, hidden.q ? &hidden : nullptr);
  sync();
  ops.gemm(w, t.down, a.wide, row, &hidden, rows, t.down_bias, true, x, stride());
  sync();
}

void audio_need(const AudioFeedForward& t, uint32_t d_ff, Needs* needs) {
  const bool tiles = format_row(t.down.format).x != LINNET_F32 && needs->n_rows > needs->few_rows;
  needs->need_wide((tiles ? needs->few_rows : needs->n_rows) * (t.gate.panels ? 2 : 1) * row_floats(d_ff));
  needs->codes.add(t.up);
  needs->hidden.add(t.down);
}

void audio_need(const AudioAttention& t, Needs* needs) {
  needs->need_wide(needs->n_rows * 3 * row_floats(t.q.n));
  for (const Matrix* m : {&t.q, &t.k, &t.v, &t.out}) needs->codes.add(*m);
}

}  // namespace linnet
