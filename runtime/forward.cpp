// The decoder. Every thread of the session's team runs forward_rows(); the pieces of each operation go to whoever takes them, and sync()
// stands where one thread reads what others wrote. A thread that comes late runs through what is done.
#include "forward.h"

#include "../platform/fp.h"
#include "rope.h"

namespace linnet {
namespace {

struct Pass {
  linnet_session& s;
  const Batch& batch;
  uint32_t not_finite = 0;
  bool whole = false;             // it is not stopped on the way: a device records it, where nothing runs yet, or runs it ahead of the host
  std::atomic<uint32_t> stop{0};  // written before a layer's first sync, read by all after its last
};

// Buffers as rows for `w`'s format; q of no use (nullptr) where it reads f32.
QuantRows quant_rows(const QuantRows& room, const Matrix& w) {
  const FormatRow& f = format_row(w.format);
  if (f.x == LINNET_F32) return {};
  return {f.x, room.q, room.scale, room.sum128, quant_stride(f.x, w.k), f.x_group, static_cast<uint32_t>(n_x_groups(w.format, w.k))};
}

QuantRows rows_from(const QuantRows& q, uint32_t first) {
  return {q.format, q.q + first * q.stride, q.scale + size_t{first} * q.groups, q.sum128 + size_t{first} * q.groups, q.stride, q.group,
          q.groups};
}

constexpr float kLatentEps = 1e-6f;  // of the norms of latents, whatever the other norms have

struct Decoder {
  const Worker& w;
  const Ops& ops;
  const ModelSpec& spec;
  Activations a;
  const KvCache& kv;
  const linnet_model& model;
  const RowSpan* spans;
  uint32_t n_spans, m;
  float eps, scale;
  size_t logits_stride;
  const linnet_session& s;

  // The tables of a layer's RoPE from row `first` on, and where sinks stand for these rows; no pairs where it has none.
  RopeView rope_of(uint32_t layer, uint32_t first, bool sinks) const {
    const LayerRope which = model.layers[layer].spec.rope;
    const uint32_t n_pairs = which == LayerRope::kNone ? 0 : spec.rope_dim / 2;
    const bool local = which == LayerRope::kLocal;
    const size_t places = !sinks ? 1 : a.rows.sink_cos ? kMaxSinks : 0, at = (size_t{local} * a.n_rope_rows + first) * places * n_pairs;
    const float factor = local || spec.rope_attn_factor == 0 ? 1.0f : static_cast<float>(spec.rope_attn_factor);
    return {(sinks ? a.rows.sink_cos : a.rows.cos) + at, (sinks ? a.rows.sink_sin : a.rows.sin) + at, n_pairs, spec.rope_kind == kRopePairs,
            factor};
  }

  // Each returns what the next matrix reads, unless that is f32.
  QuantRows norm(const Norm& by, const Matrix& next) {
    QuantRows q = quant_rows(a.codes, next);
    ops.norm(w, a.x, a.d_stride, by, m, spec.d_model, a.normed, q.q ? &q : nullptr);
    ops.sync(w);
    return q;
  }

  // Attention of one layer for rows `first`..m (more than 0 in batches of one span); keys and values of all rows are appended.
  void attention(const Layer& l, uint32_t layer, uint32_t first) {
    const uint32_t n = m - first, n_kv = spec.n_kv_heads, dim = spec.head_dim;
    float* q = a.wide;              // (m, n_heads * head_dim)
    float* k = q + m * a.q_stride;  // (m, n_kv_heads * head_dim)
    float* v = k + m * a.kv_stride;
    const QuantRows in = norm(l.attn_norm, l.q), in_q = rows_from(in, first);
    ops.gemm(w, l.k, a.normed, a.d_stride, &in, m, l.k_bias, false, k, a.kv_stride);
    ops.gemm(w, l.v, a.normed, a.d_stride, &in, m, l.v_bias, false, v, a.kv_stride);
    ops.gemm(w, l.q, a.normed + first * a.d_stride, a.d_stride, &in_q, n, l.q_bias, false, q, a.q_stride);
    ops.sync(w);

    if (spec.clip_qkv > 0) {
      const float limit = static_cast<float>(spec.clip_qkv);
      ops.clip(w, q, a.q_stride, limit, n, spec.n_heads * dim);
      ops.clip(w, k, a.kv_stride, limit, m, n_kv * dim);
      ops.clip(w, v, a.kv_stride, limit, m, n_kv * dim);
      ops.sync(w);
    }
    if (spec.qk_norm == kQkNormAll) {
      ops.norm(w, q, a.q_stride, {l.q_norm, nullptr, kNormRms, eps}, n, spec.n_heads * dim, q, nullptr);
      ops.norm(w, k, a.kv_stride, {l.k_norm, nullptr, kNormRms, eps}, m, n_kv * dim, k, nullptr);
      ops.sync(w);
    }
    const RopeView rope = rope_of(layer, 0, false);
    ops.rope(w, q, a.q_stride, n, spec.n_heads, dim, {l.q_norm, l.q_norm_bias, spec.qk_norm, eps}, rope_of(layer, first, false));
    ops.rope(w, k, a.kv_stride, m, n_kv, dim, {l.k_norm, l.k_norm_bias, spec.qk_norm, eps}, rope);
    ops.sync(w);
    if (spec.temp_scale > 0 && (spec.temp_all || rope.n_pairs == 0))
      ops.scale_rows(w, q, a.q_stride, a.rows.temperature + first, n, spec.n_heads * dim);
    ops.kv_append(w, kv, layer, k, v, a.kv_stride, spans, n_spans, rope);
    ops.sync(w);
    if (ops.kv_pack(w, kv, layer, spans, n_spans)) ops.sync(w);
    if (n == 0) return;
    attend(l, layer, first, q);
    project(l, q, a.q_stride, first);
  }

  // Queries of rows `first`.. become the heads' values.
  void attend(const Layer& l, uint32_t layer, uint32_t first, float* q) {
    const RowSpan tail = {spans[0].seq, 0, m - first, spans[0].position + first};
    ops.attention(w, {&kv, layer, first ? &tail : spans, first ? 1 : n_spans, q, a.q_stride, spec.n_heads, scale,
                      static_cast<float>(spec.attn_softcap), model.alibi, l.attn_sinks, q, a.q_stride, rope_of(layer, first, true)});
    ops.sync(w);
  }

  // What a branch gives goes into the residual stream, or waits in a.branch until settle(). Parallel branches wait for each other.
  float* target() const { return in_branch(spec) ? a.branch : a.x; }
  bool parallel() const { return spec.residual == kResidualParallel || spec.residual == kResidualParallel2; }
  void settle(const Norm& post, uint32_t first) {
    const size_t at = first * a.d_stride;
    const float residual_scale = static_cast<float>(spec.residual_scale);
    if (in_branch(spec))
      ops.add(w, a.x + at, a.branch + at, a.d_stride, post, residual_scale, m - first, spec.d_model);
    else if (spec.residual == kResidualAfter)
      ops.norm(w, a.x + at, a.d_stride, post, m - first, spec.d_model, a.x + at, nullptr);
    else
      return;
    ops.sync(w);
  }

  // The heads' outputs into the residual stream.
  void project(const Layer& l, const float* heads, size_t stride, uint32_t first) {
    QuantRows rows = quant_rows(a.codes, l.out);
    if (rows.q) {
      ops.quantize(w, heads, stride, m - first, l.out.k, &rows);
      ops.sync(w);
    }
    ops.gemm(w, l.out, heads, stride, &rows, m - first, l.out_bias, !in_branch(spec), target() + first * a.d_stride, a.d_stride);
    ops.sync(w);
    if (!parallel()) settle(l.attn_post_norm, first);
  }

  // Latent attention (DeepSeek-V2) in the absorbed form: W_uk takes each head's query to the latent, all heads look at the one key [roped
  // part | latent] of a token, P times latent is what W_uv takes to the head's output.
  void latent_attention(const Layer& l, uint32_t layer, uint32_t first) {
    const uint32_t n = m - first, rope_dim = spec.qk_rope_dim, nope = spec.qk_nope_dim, rank = spec.kv_lora_rank, dim = spec.head_dim;
    float* q = a.wide;                   // (m, n_heads * head_dim), before that (m, q_lora_rank)
    float* k = q + m * a.q_stride;       // (m, head_dim)
    float* heads = k + m * a.kv_stride;  // (m, n_heads * (nope + rope)), later (m, n_heads * v_head_dim)
    const QuantRows in = norm(l.attn_norm, l.kv_a), in_q = rows_from(in, first);
    const float* x_q = a.normed + first * a.d_stride;
    ops.gemm(w, l.kv_a, a.normed, a.d_stride, &in, m, nullptr, false, k, a.kv_stride);
    if (l.q_a.panels)
      ops.gemm(w, l.q_a, x_q, a.d_stride, &in_q, n, nullptr, false, q, a.q_stride);
    else
      ops.gemm(w, l.q, x_q, a.d_stride, &in_q, n, nullptr, false, heads, a.heads_stride);
    ops.sync(w);

    const RopeView rope = rope_of(layer, 0, false);
    ops.norm(w, k + rope_dim, a.kv_stride, {l.kv_a_norm, nullptr, kNormRms, kLatentEps}, m, rank, k + rope_dim, nullptr);
    ops.rope(w, k, a.kv_stride, m, 1, dim, {}, rope);
    if (l.q_a.panels) {
      QuantRows low = quant_rows(a.codes, l.q);
      ops.norm(w, q, a.q_stride, {l.q_a_norm, nullptr, kNormRms, kLatentEps}, n, spec.q_lora_rank, q, low.q ? &low : nullptr);
      ops.sync(w);
      ops.gemm(w, l.q, q, a.q_stride, &low, n, nullptr, false, heads, a.heads_stride);
    }
    ops.sync(w);
    ops.rope(w, heads + nope, a.heads_stride, n, spec.n_heads, nope + rope_dim, {}, rope_of(layer, first, false));
    ops.kv_append(w, kv, layer, k, nullptr, a.kv_stride, spans, n_spans, rope);
    ops.sync(w);
    if (n == 0) return;
    ops.gemm_heads(w, l.k_b, spec.n_heads, heads, a.heads_stride, nope + rope_dim, n, rope_dim, q, a.q_stride, dim);
    ops.sync(w);

    attend(l, layer, first, q);
    ops.gemm_heads(w, l.v_b, spec.n_heads, q, a.q_stride, dim, n, 0, heads, a.heads_stride, spec.v_head_dim);
    ops.sync(w);
    project(l, heads, a.heads_stride, first);
  }

  void feed_forward(const Layer& l) {
    float* hidden = a.wide;  // (gate and up, m, d_ff), as gate_up() has it
    const QuantRows in = norm(l.ffn_norm, l.up);
    QuantRows rows = quant_rows(a.hidden, l.down);
    ops.gate_up(w, {l.gate, l.up, l.gate_bias, l.up_bias, spec.activation, static_cast<float>(spec.act_limit)}, a.normed, a.d_stride, &in,
                m, hidden, a.ff_stride, rows.q ? &rows : nullptr);
    ops.sync(w);
    ops.gemm(w, l.down, hidden, a.ff_stride, &rows, m, l.down_bias, parallel() || !in_branch(spec), target(), a.d_stride);
    ops.sync(w);
    settle(l.ffn_post_norm, 0);
  }

  // Tokens into the residual stream.
  void embed() {
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
  void logits(const Batch& b, const float* x, float* to) {
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
    ops.gemm(w, model.head, rows, stride, &in, b.n_logits, model.head_bias, false, to, logits_stride);
    if (spec.logit_scale == 0 && spec.logit_softcap == 0) return;
    ops.sync(w);
    ops.scale(w, to, logits_stride, static_cast<float>(spec.logit_scale), static_cast<float>(spec.logit_softcap), b.n_logits, spec.n_vocab);
  }

  // Mixture of experts: the router's choice, then the rows of each expert, which lie together, through its matrices, and the shared expert
  // beside them.
  void experts(const Layer& l, uint32_t layer) {
    const uint32_t n_pairs = m * spec.n_active;
    const bool weigh_input = spec.router_input, shared = l.gate.panels;
    float* gate = a.wide;  // (m, shared_ff)
    float* up = gate + m * a.ff_stride;
    float* pair_gate = a.wide + (shared ? 2 * m * a.ff_stride : 0);  // (pairs, expert_ff)
    float* pair_up = pair_gate + n_pairs * a.expert_stride;
    const QuantRows in = norm(l.ffn_norm, l.expert_gate);
    const bool sum = parallel() || !in_branch(spec);  // to what is in the target already
    ops.gemm(w, l.router, a.normed, a.d_stride, nullptr, m, l.router_bias, false, a.router, a.router_stride);
    if (l.shared_gate.panels) ops.gemm(w, l.shared_gate, a.normed, a.d_stride, nullptr, m, nullptr, false, a.shared_gate, kPanel);
    ops.sync(w);
    const float router_scale = spec.router_scale > 0 ? static_cast<float>(spec.router_scale) : 1.0f;
    const Sequence* seqs = s.seqs;
    const size_t per_layer = size_t{s.params.n_context} * spec.n_active;
    const Capacity capacity = {spec.expert_capacity, spans, n_spans, spec.expert_capacity ? seqs->chosen + layer * per_layer : nullptr,
                               s.params.n_sequences > 1 && spec.expert_capacity ? static_cast<size_t>(seqs[1].chosen - seqs[0].chosen) : 0};
    ops.route(w,
              {spec.n_experts, spec.n_active, spec.router_kind == kRouterSigmoid, spec.router_norm, spec.router_groups,
               spec.router_top_groups, spec.router_group_best, router_scale, l.router_correction},
              capacity, a.router, a.router_stride, m, a.pairs);
    ops.sync(w);

    QuantRows pair_in = quant_rows(a.pair_q, l.expert_gate);
    float* rows = weigh_input || !in.q ? a.pair_rows : nullptr;
    ops.gather(w, a.normed, a.d_stride, &in, n_pairs, spec.d_model, spec.n_active, a.pairs, weigh_input, rows, in.q ? &pair_in : nullptr);
    ops.sync(w);
    ops.gemm_experts(w, l.expert_gate, spec.n_experts, a.pairs, rows, a.d_stride, &pair_in, l.expert_gate_bias, pair_gate, a.expert_stride);
    ops.gemm_experts(w, l.expert_up, spec.n_experts, a.pairs, rows, a.d_stride, &pair_in, l.expert_up_bias, pair_up, a.expert_stride);
    if (shared) {
      ops.gemm(w, l.gate, a.normed, a.d_stride, &in, m, nullptr, false, gate, a.ff_stride);
      ops.gemm(w, l.up, a.normed, a.d_stride, &in, m, nullptr, false, up, a.ff_stride);
    }
    ops.sync(w);

    QuantRows pair_hidden = quant_rows(a.pair_q, l.expert_down), hidden = quant_rows(a.codes, l.down);
    ops.act_mul(w, spec.activation, static_cast<float>(spec.act_limit), pair_gate, pair_up, a.expert_stride, n_pairs, spec.expert_ff,
                pair_gate, pair_hidden.q ? &pair_hidden : nullptr);
    if (shared)
      ops.act_mul(w, spec.activation, static_cast<float>(spec.act_limit), gate, up, a.ff_stride, m, spec.shared_ff, gate,
                  hidden.q ? &hidden : nullptr);
    ops.sync(w);
    ops.gemm_experts(w, l.expert_down, spec.n_experts, a.pairs, pair_gate, a.expert_stride, &pair_hidden, l.expert_down_bias, a.pair_rows,
                     a.d_stride);
    const bool gated = l.shared_gate.panels;
    if (shared) ops.gemm(w, l.down, gate, a.ff_stride, &hidden, m, nullptr, sum && !gated, gated ? a.normed : target(), a.d_stride);
    ops.sync(w);
    ops.combine(w, a.pair_rows, a.d_stride, m, spec.d_model, spec.n_active, a.pairs, !weigh_input, a.normed,
                gated ? a.shared_gate : nullptr, kPanel, sum || (shared && !gated), target());
    ops.sync(w);
    settle(l.ffn_post_norm, 0);
  }
};

// Where sink i stands for a row at `position`: sinks that its window has left stand one behind the other just before it.
uint32_t sink_position(const linnet_session_params& p, uint32_t position, uint32_t i) {
  const uint32_t window = p.n_context - p.n_keep, low = position >= window ? position + 1 - window : 0;
  return low > p.n_keep ? low - p.n_keep + i : i;
}

// What is made for a row, which lies in some span.
void make_row(const linnet_session& s, const Batch& b, size_t row) {
  const ModelSpec& spec = s.model->spec;
  const Activations& a = s.act;
  const RowTables& t = a.made;
  const uint32_t n_pairs = spec.rope_kind == kRopeNone ? 0 : spec.rope_dim / 2;
  uint32_t i = 0;
  while (row - b.spans[i].row >= b.spans[i].n) ++i;
  const uint32_t position = b.spans[i].position + static_cast<uint32_t>(row - b.spans[i].row);
  if (spec.positions) t.positions[row] = static_cast<int32_t>(position + spec.position_offset);
  if (spec.temp_scale > 0)
    t.temperature[row] = static_cast<float>(1 + spec.temp_scale * rope_log(1 + (position + !spec.temp_all) / spec.temp_positions));
  for (uint32_t r = 0; r < a.n_ropes; ++r) {
    const double* inv_freq = a.inv_freq + r * n_pairs;
    const double factor = r == 0 && spec.rope_attn_factor > 0 ? spec.rope_attn_factor : 1;
    const size_t at = size_t{r} * a.n_rope_rows + row;
    rope_fill(inv_freq, n_pairs, position, factor, t.cos + at * n_pairs, t.sin + at * n_pairs);
    for (uint32_t k = 0; t.sink_cos && k < s.params.n_keep; ++k) {
      const size_t sink = (at * kMaxSinks + k) * n_pairs;
      rope_fill(inv_freq, n_pairs, sink_position(s.params, position, k), factor, t.sink_cos + sink, t.sink_sin + sink);
    }
  }
}

void forward_rows(Pass& pass, const Worker& w) {
  linnet_session& s = pass.s;
  const linnet_model& model = *s.model;
  const ModelSpec& spec = model.spec;
  const Ops& ops = *model.ops;
  const Activations& a = s.act;
  const Batch& b = pass.batch;
  const float by_dim = 1.0f / __builtin_sqrtf(static_cast<float>(spec.kv_lora_rank ? spec.qk_nope_dim + spec.qk_rope_dim : spec.head_dim));
  const float scale = spec.attn_scale > 0 ? static_cast<float>(spec.attn_scale) : by_dim;
  Decoder d{w, ops, spec, a, s.kv, model, b.spans, b.n_spans, b.m, static_cast<float>(spec.norm_eps), scale, s.logits_stride, s};

  if (!s.device) {
    for_rows(w, b.m, [&](uint32_t row) { make_row(s, b, row); });
    if (spec.positions) ops.sync(w);
  }
  d.embed();

  // After the last layer's keys and values only the rows that get logits are of use; they are cut off where they are the last ones. What
  // others look at counts where tokens are chosen by it.
  const bool tail = b.n_spans == 1 && !spec.expert_capacity && s.params.when_full < LINNET_FULL_HEAVY_HITTERS &&
                    (b.n_logits == 0 || b.logit_rows[0] + b.n_logits == b.m);
  const uint32_t unused = tail ? b.m - b.n_logits : 0;
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const uint32_t first = i + 1 < spec.n_layers ? 0 : unused;
    if (s.device && !pass.whole) model.own->pace(w, i);
    if (!pass.whole)
      for_rows(w, 1, [&](uint32_t) { pass.stop.fetch_or(s.cancel.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed); });
    if (model.layers[i].spec.mixer == kMixerLatent)
      d.latent_attention(model.layers[i], i, first);
    else
      d.attention(model.layers[i], i, first);
    if (pass.stop.load(std::memory_order_relaxed)) return;  // every thread has passed a sync since somebody wrote it
    if (first) {
      d.a.x += first * a.d_stride;
      if (in_branch(spec)) d.a.branch += first * a.d_stride;
      d.m -= first;
    }
    if (d.m && model.layers[i].spec.feed_forward == kFeedForwardExperts)
      d.experts(model.layers[i], i);
    else if (d.m)
      d.feed_forward(model.layers[i]);
  }
  if (b.n_logits) d.logits(b, a.x, s.device ? a.logits : b.logits);
}

// Puts a pass into the device's queue. Decoding is recorded once for every number of rows.
void put_on_device(Pass& pass) {
  linnet_session& s = pass.s;
  const Batch& b = pass.batch;
  const DeviceOps& own = *s.model->own;
  const bool decode = b.m == b.n_spans && b.n_logits == b.m;
  if (decode && own.replay(s.device, b.m)) return;
  const bool recording = decode && own.record(s.device);
  pass.whole = pass.whole || recording;
  forward_rows(pass, {{.id = 0, .n = 1, .tickets = nullptr, .begun = 0, .since = 0},
                      &s.model->kernels,
                      nullptr,
                      nullptr,
                      1,
                      nullptr,
                      own.queue(s.device)});
  if (recording) own.recorded(s.device, b.m);
}

// What the host makes for it.
void begin_on_device(linnet_session& s, const Batch& b, bool drawn) {
  const ModelSpec& spec = s.model->spec;
  for (uint32_t row = 0; row < b.m; ++row) make_row(s, b, row);
  s.model->own->begin(s.device, {&s.kv, b.spans, b.n_spans, b.m, &s.act.made, &s.act.rows,
                                 spec.rope_kind == kRopeNone ? 0 : spec.rope_dim / 2, s.act.n_ropes, s.act.n_rope_rows, drawn});
}

Status run_on_device(Pass& pass, Error* err) {
  linnet_session& s = pass.s;
  const Batch& b = pass.batch;
  const DeviceOps& own = *s.model->own;
  const FpGuard guard;
  pass.stop = s.cancel.exchange(0, std::memory_order_relaxed);
  if (pass.stop) return LINNET_OK;
  begin_on_device(s, b, false);
  put_on_device(pass);
  return own.finish(s.device, s.act.logits, pass.stop ? 0 : b.n_logits, b.logits, &pass.not_finite, err);
}

}  // namespace

void forward_ahead(linnet_session& s, const Batch& b) {
  const FpGuard guard;
  Pass pass{s, b};
  pass.whole = true;  // a cancel is the caller's to see
  begin_on_device(s, b, true);
  s.model->own->draw(s.device, s.act.rows.tokens);
  put_on_device(pass);
}

Status forward(linnet_session& s, const Batch& batch, Error* err) {
  Pass pass{s, batch};
  if (s.device)
    LINNET_TRY(run_on_device(pass, err));
  else
    s.team.pass(
        [](void* arg, uint32_t id, uint32_t n) {
          Pass& p = *static_cast<Pass*>(arg);
          linnet_session& of = p.s;
          const FpGuard guard;
          forward_rows(p, {{.id = id, .n = n, .tickets = n > 1 ? &of.team.tickets : nullptr, .begun = 0, .since = ticks_now()},
                           &of.model->kernels,
                           of.act.scratch + id * of.act.scratch_stride,
                           of.act.shared,
                           of.params.n_threads,
                           &p.not_finite,
                           nullptr});
        },
        &pass, batch.m);
  if (pass.stop) return fail(err, LINNET_CANCELLED, "cancelled");
  const KernelTable& t = s.model->kernels.t;
  for (uint32_t i = 0; i < batch.n_logits && !pass.not_finite && !s.device; ++i)  // float formats have no other check
    if (t.amax_bits(batch.logits + i * s.logits_stride, s.model->spec.n_vocab) >= 0x7F800000u) pass.not_finite = 1;
  if (pass.not_finite) {
    const RowSpan& span = batch.spans[0];
    return fail(err, LINNET_NOT_FINITE, "an activation became infinite or NaN at a position in ", span.position, "..",
                span.position + span.n - 1, batch.n_spans > 1 ? ", or in another sequence of the batch" : "");
  }
  return LINNET_OK;
}

}  // namespace linnet
