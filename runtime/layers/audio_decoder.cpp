// A decoder of text that looks at what was heard: each layer attends to the text so far, then to the sound.
#include "audio_pass.h"

namespace linnet {

void decode_audio(Pass& pass, const Worker& w, bool, float* to) {
  const AudioWorker d(pass, w, false);
  const AudioSpec& spec = d.spec;
  const linnet_audio& m = d.m;
  linnet_audio_session& s = d.s;
  const Ops& ops = d.ops;
  const AudioRows& a = d.a;
  const uint32_t rows = pass.m, pairs = spec.rope_dim / 2;
  const size_t n = d.stride();
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(spec.head_dim()));
  float *const q = a.wide, *const k = q + rows * n, *const v = k + rows * n;
  const auto turn = [&](float* x) {
    if (pairs) ops.rope(w, x, n, rows, spec.n_heads, spec.head_dim(), {}, {s.text_cos, s.text_sin, pairs, 1, 1});
  };

  ops.embed(w, m.embedding, s.tokens, rows, a.x, n);
  if (m.dec_positions.panels) ops.embed(w, m.dec_positions, s.positions + spec.n_audio, rows, a.normed, n);
  d.sync();
  if (m.dec_positions.panels) ops.add(w, a.x, a.normed, n, {}, 0, rows, spec.d_model);
  d.sync();
  for (uint32_t i = 0; i < spec.n_decoder; ++i) {
    const DecoderLayer& l = m.decoder[i];
    d.look();
    QuantRows in = d.norm(l.attention.norm, l.attention.q, a.x, rows);
    ops.gemm(w, l.attention.q, a.normed, n, &in, rows, l.attention.q_bias, false, q, n);
    ops.gemm(w, l.attention.k, a.normed, n, &in, rows, nullptr, false, k, n);
    ops.gemm(w, l.attention.v, a.normed, n, &in, rows, l.attention.v_bias, false, v, n);
    d.sync();
    turn(q);
    turn(k);
    if (pairs) d.sync();
    ops.kv_append(w, s.text, i, k, v, n, pass.spans, pass.n_spans, {});
    d.sync();
    ops.attention(w, {&s.text, i, pass.spans, pass.n_spans, q, n, spec.n_heads, scale, 0, nullptr, nullptr, q, n, {}});
    d.sync();
    d.project(l.attention, q, rows, a.x);
    in = d.norm(l.cross.norm, l.cross.q, a.x, rows);
    ops.gemm(w, l.cross.q, a.normed, n, &in, rows, l.cross.q_bias, false, q, n);
    d.sync();
    ops.attention(w, {&s.cross, i, s.cross_spans, d.pass.n_cross, q, n, spec.n_heads, scale, 0, nullptr, nullptr, q, n, {}});
    d.sync();
    d.project(l.cross, q, rows, a.x);
    if (d.stopped()) return;
    d.feed_forward(l.feed_forward, spec.whisper() ? kActGeluErf : kActSilu, spec.d_ff_decoder, rows, a.x);
  }
  QuantRows in = quant_rows(a.codes, m.embedding);
  for (uint32_t i = 0; i < pass.n_logits; ++i) {
    QuantRows part = rows_from(in, i);
    ops.norm(w, a.x + d.pass.logit_rows[i] * n, n, m.dec_norm, 1, spec.d_model, a.normed + i * n, in.q ? &part : nullptr);
  }
  d.sync();
  ops.gemm(w, m.embedding, a.normed, n, &in, pass.n_logits, nullptr, false, to, s.logits_stride);
  if (!d.pass.score) return;
  d.sync();
  for_rows(w, pass.n_logits, [&](uint32_t i) { d.pass.score(d.pass.arg, i); });
}

}  // namespace linnet
