// The CPU backend: every operation is cut into pieces of rows, heads or panels. How it is cut, and who computes what, changes no bits.
#include <cstring>

#include "../runtime/ops.h"
#include "attention.h"
#include "delta_net.h"
#include "experts.h"
#include "mamba.h"
#include "registry.h"
#include "short_conv.h"

namespace linnet {
namespace {

// Row i of q, its n values from `from` on, which is a group's first one, from x. What makes a row calls this while it is in the first-level
// cache.
void quantize_row(const Worker& w, const float* x, uint32_t from, uint32_t n, uint32_t i, QuantRows* q) {
  uint8_t* to = q->q + i * q->stride;
  if (q->format == LINNET_BF16) return w.kernels->t.bf16_row(x, n, reinterpret_cast<uint16_t*>(to) + from);
  const size_t group = size_t{i} * q->groups + from / q->group;
  if (!w.kernels->t.quantize_row(x, n, q->group, reinterpret_cast<int8_t*>(to) + from, q->scale + group, q->sum128 + group))
    __atomic_store_n(w.not_finite, 1u, __ATOMIC_RELAXED);
}
void quantize_row(const Worker& w, const float* x, uint32_t k, uint32_t i, QuantRows* q) { quantize_row(w, x, 0, k, i, q); }

void embed(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride) {
  for_rows(w, m, [&](uint32_t i) {
    w.kernels->t.gather_row(table.format, table.panels, table.scales, table.n, table.k, static_cast<uint32_t>(tokens[i]), y + i * y_stride);
  });
}

void embed_layers(const Worker& w, const Matrix& table, const int32_t* tokens, uint32_t m, uint32_t n_layers, float* y, size_t y_stride) {
  for_rows(w, m * n_layers, [&](uint32_t i) {
    const uint32_t row = first_row_of(table, tokens[i / n_layers], n_layers) + i % n_layers;
    w.kernels->t.gather_row(table.format, table.panels, table.scales, table.n, table.k, row, y + i * y_stride);
  });
}

void norm_row(const Worker& w, const Norm& norm, const float* x, uint32_t n, float* y) {
  const KernelTable& t = w.kernels->t;
  if (!norm.weight) {
    if (x != y) std::memcpy(y, x, n * sizeof(float));
  } else if (norm.kind == kNormLayer) {
    t.layernorm_row(x, norm.weight, norm.bias, n, norm.eps, y);
  } else {
    t.rmsnorm_row(x, norm.weight, n, norm.eps, y);
  }
}

void norm(const Worker& w, const float* x, size_t stride, const Norm& norm, uint32_t m, uint32_t n, float* y, QuantRows* q) {
  for_rows(w, m, [&](uint32_t i) {
    norm_row(w, norm, x + i * stride, n, y + i * stride);
    if (q) quantize_row(w, y + i * stride, n, i, q);
  });
}

void add(const Worker& w, float* y, float* x, size_t stride, const Norm& norm, float scale, uint32_t m, uint32_t n) {
  for_rows(w, m, [&](uint32_t i) {
    norm_row(w, norm, x + i * stride, n, x + i * stride);
    if (scale == 0 || scale == 1)
      w.kernels->t.add_row(y + i * stride, x + i * stride, n);
    else
      w.kernels->t.merge_row(y + i * stride, x + i * stride, n, 1.0f, scale);
  });
}

// tanh as softmax_block has it.
void soft_cap(const Worker& w, float* x, float cap, uint32_t n) {
  float z[256];
  for (uint32_t from = 0; from < n; from += 256, x += 256) {
    const uint32_t count = n - from < 256 ? n - from : 256;
    for (uint32_t i = 0; i < count; ++i) z[i] = __builtin_fabsf(x[i] / cap) * -2.0f;
    w.kernels->t.exp_row(z, count);
    for (uint32_t i = 0; i < count; ++i) x[i] = cap * __builtin_copysignf((1.0f - z[i]) / (1.0f + z[i]), x[i]);
  }
}

void scale(const Worker& w, float* x, size_t stride, float by, float cap, uint32_t m, uint32_t n) {
  const uint32_t step = 4096, parts = static_cast<uint32_t>(div_up(n, step));  // logits are long rows, and often one
  for_rows(w, m * parts, [&](uint32_t i) {
    const uint32_t from = i % parts * step, count = n - from < step ? n - from : step;
    float* part = x + i / parts * stride + from;
    if (by != 0 && by != 1) w.kernels->t.scale_row(part, count, by);
    if (cap > 0) soft_cap(w, part, cap, count);
  });
}

void pool(const Worker& w, const float* x, size_t stride, const PoolRows* pools, uint32_t n_pools, uint32_t n) {
  const uint32_t step = 256, parts = static_cast<uint32_t>(div_up(n, step));
  for_rows(w, n_pools * parts, [&](uint32_t i) {
    const PoolRows& p = pools[i / parts];
    const uint32_t from = i % parts * step, count = n - from < step ? n - from : step;
    for (uint32_t r = 0; r < p.n; ++r) w.kernels->t.sum_row(p.sum + from, x + (p.row + r) * stride + from, count);
  });
}

void clip(const Worker& w, float* x, size_t stride, float limit, uint32_t m, uint32_t n) {
  for_rows(w, m, [&](uint32_t i) {
    for (uint32_t j = 0; j < n; ++j) {
      float& v = x[i * stride + j];
      v = v > limit ? limit : v < -limit ? -limit : v;  // NaN stays
    }
  });
}

// The order lies in a file, which may change behind whoever checked it: what is no channel any more must not be read.
void reorder(const Worker& w, const float* x, size_t stride, const float* order, uint32_t m, uint32_t k, float* y, QuantRows* q) {
  const float n = static_cast<float>(k);
  for_rows(w, m, [&](uint32_t i) {
    const float* from = x + i * stride;
    float* to = y + i * stride;
    for (uint32_t j = 0; j < k; ++j) to[j] = from[order[j] >= 0 && order[j] < n ? static_cast<uint32_t>(order[j]) : 0];
    if (q) quantize_row(w, to, k, i, q);
  });
}

void quantize(const Worker& w, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q) {
  for_rows(w, m, [&](uint32_t i) { quantize_row(w, x + i * x_stride, k, i, q); });
}

// Panels of a matrix: four pieces a thread, of whole groups of four panels where there are enough. `many` rows go by such groups at twice
// the speed; for few rows a single panel of a small matrix is read about as fast as a piece is taken.
Pieces panel_pieces(const Worker& w, uint32_t n_panels, bool many) {
  const uint32_t unit = n_panels >= 8 * w.n || (many && n_panels % (4 * w.n) == 0) ? 4 : 1, units = (n_panels - 1) / unit + 1;
  const uint32_t most = many && unit == 1 ? units : 4 * w.n;
  return Pieces(w, n_panels, unit, units < most ? units : most);
}

// All but the panels, their outputs and how many rows there are.
GemmArgs gemm_args(const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, size_t y_stride) {
  const FormatRow& row = format_row(mat.format);
  GemmArgs a{};
  if (row.x != LINNET_F32) {
    a.x = q->q;
    a.x_stride = q->stride;
    a.x_scale = q->scale;
    a.x_sum128 = q->sum128;
    a.x_groups = q->groups;
    a.x_group = q->group;
  } else {
    a.x = x;
    a.x_stride = x_stride * sizeof(float);
  }
  a.w_stride = static_cast<size_t>(panel_bytes(mat.format, mat.k));  // the matrix is in memory
  a.w_scale_stride = static_cast<size_t>(panel_scale_bytes(mat.format, mat.k));
  a.y_stride = y_stride;
  a.k = mat.k;
  a.w_group = row.w_group;
  a.fetch_ahead = kFetchAhead;
  return a;
}

void skip_rows(GemmArgs* a, size_t rows) {
  a->x = static_cast<const uint8_t*>(a->x) + rows * a->x_stride;
  if (!a->x_scale) return;
  a->x_scale += rows * a->x_groups;
  a->x_sum128 += rows * a->x_groups;
}

// Panels panel..panel + n - 1 for a's rows. y: of the first panel; bias: of the whole matrix, or nullptr.
void run_panels(const Worker& w, const Matrix& mat, GemmArgs* a, size_t panel, uint32_t n, const float* bias, float* y) {
  a->w = static_cast<const uint8_t*>(mat.panels) + panel * a->w_stride;
  a->w_scale = static_cast<const uint8_t*>(mat.scales) + panel * a->w_scale_stride;
  a->bias = bias ? bias + panel * kPanel : nullptr;
  a->y = y;
  a->n_panels = n;
  w.kernels->gemm[mat.format].run(a);
}

void gemm(const Worker& w, const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias,
          bool accumulate, float* y, size_t y_stride) {
  if (m == 0) return;
  const uint32_t n_panels = static_cast<uint32_t>(padded_n(mat.n) / kPanel);
  GemmArgs a = gemm_args(mat, x, x_stride, q, y_stride);
  a.m = m;
  a.accumulate = accumulate;
  Pieces pieces = panel_pieces(w, n_panels, m > 8);
  for (Share panels; pieces.take(&panels);) run_panels(w, mat, &a, panels.from, panels.to - panels.from, bias, y + panels.from * kPanel);
}

constexpr uint32_t kLoraRows = 32, kLoraPanels = 8;  // of a piece: rows of A x, panels of B

// fn(rows, entry, n): every entry of a.rows with the rows that it has, n of them.
template <class Fn>
void each_lora(const LoraArgs& a, Fn fn) {
  for (uint32_t i = 0; i < a.n_rows; ++i) {
    const LoraRows& r = a.rows[i];
    if (r.row < a.m) fn(r, r.n < a.m - r.row ? r.n : a.m - r.row);
  }
}
// ... and of each its adapters that change the matrix.
template <class Fn>
void each_low_rank(const LoraArgs& a, const LoraRows& r, Fn fn) {
  for (uint32_t i = 0; i < r.use->n; ++i)
    if (const LowRank& part = r.use->of[i].parts[a.slot]; part.a.panels) fn(part, r.use->of[i].scale * part.scale, r.use->of[i].at);
}

void lora_down(const Worker& w, const LoraArgs& args) {
  // Few rows spread over threads panel by panel, many read their inputs once for several.
  const auto step_of = [](uint32_t n) { return n < kLoraRows ? 1u : 4u; };
  const auto tiles_of = [](uint32_t n) { return static_cast<uint32_t>(div_up(n, kLoraRows)); };
  const auto pieces_of = [&](const Matrix& mat, uint32_t n) {
    return static_cast<uint32_t>(div_up(padded_n(mat.n) / kPanel, step_of(n))) * tiles_of(n);
  };
  uint32_t count = 0;
  each_lora(args, [&](const LoraRows& r, uint32_t n) {
    each_low_rank(args, r, [&](const LowRank& part, float, uint32_t) { count += pieces_of(part.a, n); });
  });
  Pieces pieces(w, count);
  for (Share share; pieces.take(&share);) {
    uint32_t at = 0;  // pieces that lie before a part's own
    each_lora(args, [&](const LoraRows& r, uint32_t n) {
      each_low_rank(args, r, [&](const LowRank& part, float scale, uint32_t column) {
        const uint32_t n_panels = static_cast<uint32_t>(padded_n(part.a.n) / kPanel), end = at + pieces_of(part.a, n);
        GemmArgs a = gemm_args(part.a, nullptr, args.x_stride, nullptr, args.t_stride);
        for (uint32_t i = share.from > at ? share.from : at; i < share.to && i < end; ++i) {
          const uint32_t panel = (i - at) / tiles_of(n) * step_of(n), first = (i - at) % tiles_of(n) * kLoraRows;
          const uint32_t some = n_panels - panel < step_of(n) ? n_panels - panel : step_of(n);
          float* const t = args.t + (r.row + first) * args.t_stride + column + panel * kPanel;
          a.x = args.x + (r.row + first) * args.x_stride;
          a.m = n - first < kLoraRows ? n - first : kLoraRows;
          run_panels(w, part.a, &a, panel, some, nullptr, t);
          for (uint32_t row = 0; row < a.m && scale != 1; ++row) w.kernels->t.scale_row(t + row * args.t_stride, some * kPanel, scale);
        }
        at = end;
      });
    });
  }
}

void lora_up(const Worker& w, const LoraArgs& args) {
  uint32_t count = 0;
  // All adapters of a matrix have its outputs.
  const auto blocks_of = [&](const LoraRows& r, uint32_t* n_panels) {
    *n_panels = 0;
    each_low_rank(args, r, [&](const LowRank& part, float, uint32_t) { *n_panels = static_cast<uint32_t>(padded_n(part.b.n) / kPanel); });
    return static_cast<uint32_t>(div_up(*n_panels, kLoraPanels));
  };
  uint32_t n_panels;
  each_lora(args, [&](const LoraRows& r, uint32_t) { count += blocks_of(r, &n_panels); });
  Pieces pieces(w, count);
  for (Share share; pieces.take(&share);) {
    uint32_t at = 0;
    each_lora(args, [&](const LoraRows& r, uint32_t n) {
      const uint32_t end = at + blocks_of(r, &n_panels);
      for (uint32_t i = share.from > at ? share.from : at; i < share.to && i < end; ++i) {
        const uint32_t panel = (i - at) * kLoraPanels, some = n_panels - panel < kLoraPanels ? n_panels - panel : kLoraPanels;
        each_low_rank(args, r, [&](const LowRank& part, float, uint32_t column) {
          GemmArgs a = gemm_args(part.b, args.t + r.row * args.t_stride + column, args.t_stride, nullptr, args.y_stride);
          a.m = n;
          a.accumulate = 1;
          run_panels(w, part.b, &a, panel, some, nullptr, args.y + r.row * args.y_stride + panel * kPanel);
        });
      }
      at = end;
    });
  }
}

void gather(const Worker& w, const float* x, size_t stride, const QuantRows* q, uint32_t n_pairs, uint32_t k, uint32_t n_active,
            const Pairs& pairs, bool weigh, float* y, QuantRows* pair_q) {
  for_rows(w, n_pairs, [&](uint32_t i) {
    const size_t row = pairs.from[i] / n_active;
    if (y) {
      float* to = y + i * stride;
      std::memcpy(to, x + row * stride, k * sizeof(float));
      if (weigh) w.kernels->t.scale_row(to, k, pairs.weights[pairs.from[i]]);
      if (pair_q) quantize_row(w, to, k, i, pair_q);
    } else {
      std::memcpy(pair_q->q + i * pair_q->stride, q->q + row * q->stride, q->stride);
      std::memcpy(pair_q->scale + size_t{i} * q->groups, q->scale + row * q->groups, q->groups * sizeof(float));
      std::memcpy(pair_q->sum128 + size_t{i} * q->groups, q->sum128 + row * q->groups, q->groups * sizeof(int32_t));
    }
  });
}

void gemm_experts(const Worker& w, const Matrix& mat, uint32_t n_experts, const Pairs& pairs, const float* x, size_t x_stride,
                  const QuantRows* q, const float* bias, float* y, size_t y_stride) {
  const uint32_t n_panels = mat.n / n_experts / kPanel;
  const GemmArgs all = gemm_args(mat, x, x_stride, q, y_stride);
  Pieces pieces = panel_pieces(w, n_experts * n_panels, false);  // as if all experts had rows: how many have is not known before
  for (uint32_t i; pieces.take(&i);) {
    const Share piece = pieces.of(i, *pairs.n_active_experts * n_panels);
    for (uint32_t at = piece.from, n; at < piece.to; at += n) {  // a piece may reach from one expert's panels into the next one's
      const uint32_t expert = pairs.active[at / n_panels], panel = at % n_panels, pair = pairs.first[expert];
      n = n_panels - panel < piece.to - at ? n_panels - panel : piece.to - at;
      GemmArgs a = all;
      skip_rows(&a, pair);
      a.m = pairs.first[expert + 1] - pair;
      run_panels(w, mat, &a, size_t{expert} * n_panels + panel, n, bias, y + pair * y_stride + size_t{panel} * kPanel);
    }
  }
}

constexpr uint32_t kHeadRows = 32;  // rows of one head that a thread takes at a time

// Buffers of gemm_heads for k inputs, cut from a thread's scratch.
size_t cut_rows(QuantRows* q, uint8_t* mem, size_t stride, uint32_t groups) {
  Arena a = mem ? Arena(mem, SIZE_MAX / 2) : Arena();
  q->q = a.take<uint8_t>("", kHeadRows * stride);
  q->scale = a.take<float>("", uint64_t{kHeadRows} * groups);
  q->sum128 = a.take<int32_t>("", uint64_t{kHeadRows} * groups);
  q->stride = stride;
  q->groups = groups;
  return a.used();
}

void gemm_heads(const Worker& w, const Matrix& mat, uint32_t n_heads, const float* x, size_t x_stride, size_t x_head, uint32_t m,
                uint32_t carry, float* y, size_t y_stride, size_t y_head) {
  const FormatRow& f = format_row(mat.format);
  const uint32_t tiles = static_cast<uint32_t>(div_up(m, kHeadRows)), n_panels = mat.n / n_heads / kPanel;
  QuantRows q;
  q.format = f.x;
  q.group = f.x_group;
  if (f.x != LINNET_F32) cut_rows(&q, w.scratch, quant_stride(f.x, mat.k), static_cast<uint32_t>(n_x_groups(mat.format, mat.k)));
  Pieces pieces(w, n_heads * tiles);
  for (Share piece; pieces.take(&piece);)
    for (uint32_t i = piece.from; i < piece.to; ++i) {
      const uint32_t head = i / tiles, first = i % tiles * kHeadRows, n = m - first < kHeadRows ? m - first : kHeadRows;
      const float* from = x + first * x_stride + head * x_head;
      float* to = y + first * y_stride + head * y_head;
      for (uint32_t r = 0; r < n; ++r) {
        if (f.x != LINNET_F32) quantize_row(w, from + r * x_stride, mat.k, r, &q);
        std::memcpy(to + r * y_stride, from + r * x_stride + mat.k, carry * sizeof(float));
      }
      GemmArgs a = gemm_args(mat, from, x_stride, &q, y_stride);
      a.m = n;
      run_panels(w, mat, &a, size_t{head} * n_panels, n_panels, nullptr, to + carry);
    }
}

void rope(const Worker& w, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const HeadNorm& norm,
          const RopeView& view) {
  const KernelTable& t = w.kernels->t;
  for_rows(w, m * n_heads, [&](uint32_t i) {
    const uint32_t row = i / n_heads;
    float* head = x + row * stride + size_t{i % n_heads} * head_dim;
    if (norm.weight && norm.kind == kQkNormHead) t.rmsnorm_row(head, norm.weight, head_dim, norm.eps, head);
    if (norm.weight && norm.kind == kQkNormLayer)
      t.layernorm_row(head, norm.weight + size_t{i % n_heads} * head_dim, nullptr, head_dim, norm.eps, head);
    if (norm.weight && norm.kind == kQkNormLayerShared) t.layernorm_row(head, norm.weight, norm.bias, head_dim, norm.eps, head);
    if (view.n_pairs)
      t.rope_row(head, view.cos + size_t{row} * view.n_pairs, view.sin + size_t{row} * view.n_pairs, view.n_pairs, view.interleaved);
    if (norm.weight && norm.kind == kQkNormHeadAfter && view.n_pairs) t.rmsnorm_row(head, norm.weight, head_dim, norm.eps, head);
  });
}

void scale_rows(const Worker& w, float* x, size_t stride, const float* factors, uint32_t m, uint32_t n) {
  for_rows(w, m, [&](uint32_t i) { w.kernels->t.scale_row(x + i * stride, n, factors[i]); });
}

// t of a row: tanh of what the router says.
void stream_weights(const Worker& w, const Streams& s, uint32_t row, uint32_t n, float* t) {
  for (uint32_t i = 0; i < kStreams; ++i) t[i] = s.router[size_t{row} * kPanel + i] / static_cast<float>(n);
  soft_cap(w, t, 1, kStreams);
}
constexpr uint32_t kStreamPart = 256;  // channels of all streams that stay in the first-level cache

void predict(const Worker& w, const Streams& s, const float* coefs, uint32_t m, uint32_t n, size_t stride, float* to) {
  for_rows(w, m, [&](uint32_t row) {
    float t[kStreams], c[kStreams * kStreams], old[kStreams][kStreamPart];
    stream_weights(w, s, row, n, t);
    for (uint32_t i = 0; i < kStreams * kStreams; ++i) {
      c[i] = 0;
      for (uint32_t j = 0; j < kStreams; ++j) c[i] += coefs[i * kStreams + j] * t[j];
    }
    for (uint32_t from = 0; from < n; from += kStreamPart) {
      const uint32_t count = n - from < kStreamPart ? n - from : kStreamPart;
      const size_t at = row * stride + from;
      for (uint32_t i = 0; i < kStreams; ++i) std::memcpy(old[i], s.at(i) + at, count * sizeof(float));
      for (uint32_t i = 0; i < kStreams; ++i)
        for (uint32_t j = 0; j < kStreams; ++j) w.kernels->t.merge_row(s.at(i) + at, old[j], count, 1.0f, c[i * kStreams + j]);
      std::memcpy(to + at, s.x + at, count * sizeof(float));
    }
  });
}

void correct(const Worker& w, const Streams& s, const float* coefs, const float* scale, uint32_t m, uint32_t n, size_t stride, float* x) {
  for_rows(w, m, [&](uint32_t row) {
    float t[kStreams], c[kStreams], d[kStreamPart];
    stream_weights(w, s, row, n, t);
    for (uint32_t i = 0; i < kStreams; ++i) {
      c[i] = 1;
      for (uint32_t j = 0; j < kStreams; ++j) c[i] += coefs[i * kStreams + j] * t[j];
    }
    for (uint32_t from = 0; from < n; from += kStreamPart) {
      const uint32_t count = n - from < kStreamPart ? n - from : kStreamPart;
      const size_t at = row * stride + from;
      std::memcpy(d, x + at, count * sizeof(float));
      w.kernels->t.merge_row(d, s.x + at, count, 1.0f, -1.0f);
      for (uint32_t i = 0; i < kStreams; ++i) w.kernels->t.merge_row(s.at(i) + at, d, count, 1.0f, c[i]);
      for (uint32_t i = 0; i < count; ++i) x[at + i] = s.x[at + i] * scale[from + i];
    }
  });
}

// Of a row's of(x): 16 sums by index, then their tree.
template <class Of>
float row_sum(const float* x, uint32_t n, const Of& of) {
  float sum[16] = {};
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (uint32_t j = 0; j < 16; ++j) sum[j] += of(x[i + j]);
  for (uint32_t j = 0; i + j < n; ++j) sum[j] += of(x[i + j]);
  for (uint32_t half = 8; half; half /= 2)
    for (uint32_t j = 0; j < half; ++j) sum[j] += sum[j + half];
  return sum[0];
}

void match(const Worker& w, float* x, const float* like, size_t stride, uint32_t m, uint32_t n) {
  const auto square = [](float v) { return v * v; };
  for_rows(w, m, [&](uint32_t i) {
    float* row = x + i * stride;
    const float mean = row_sum(row, n, square) / static_cast<float>(n),
                want = row_sum(like + i * stride, n, square) / static_cast<float>(n);
    w.kernels->t.scale_row(row, n, __builtin_sqrtf(want) / __builtin_sqrtf(mean > 1e-5f ? mean : 1e-5f));
  });
}

void sparsify(const Worker& w, float* x, size_t stride, float cut, uint32_t m, uint32_t n) {
  for_rows(w, m, [&](uint32_t i) {
    float* row = x + i * stride;
    const float mean = row_sum(row, n, [](float v) { return v; }) / static_cast<float>(n);
    const float square = row_sum(row, n, [mean](float v) { return (v - mean) * (v - mean); }) / static_cast<float>(n);
    const float least = mean + __builtin_sqrtf(square) * cut;
    for (uint32_t j = 0; j < n; ++j) {
      const float v = row[j] - least;
      row[j] = v < 0 ? 0 : v;  // NaN stays
    }
  });
}

// What silu_mul_row makes the clamped SwiGLU of: silu(alpha g) * (u + 1) / alpha.
void clamp_row(float* gate, float* up, uint32_t n, float limit) {
  constexpr float kAlpha = 1.702f, kInverse = 1.0f / kAlpha;
  for (uint32_t i = 0; i < n; ++i) {
    gate[i] = (gate[i] > limit ? limit : gate[i]) * kAlpha;
    up[i] = ((up[i] > limit ? limit : up[i] < -limit ? -limit : up[i]) + 1.0f) * kInverse;
  }
}

void act_row(const Worker& w, uint32_t act, float limit, float* gate, float* up, uint32_t n, float* y) {
  const KernelTable& t = w.kernels->t;
  if (act == kActSwigluClamped) clamp_row(gate, up, n, limit);
  if (act == kActRelu2) {
    t.relu_mul_row(gate, gate, n, gate);
    return t.relu_mul_row(gate, up, n, y);
  }
  (act == kActGeluTanh  ? t.gelu_mul_row
   : act == kActGeluErf ? t.gelu_erf_mul_row
   : act == kActRelu    ? t.relu_mul_row
   : act == kActSigmoid ? t.sigmoid_mul_row
                        : t.silu_mul_row)(gate, up, n, y);
}

void act_mul(const Worker& w, uint32_t act, float limit, float* gate, float* up, size_t stride, uint32_t m, uint32_t n, float* y,
             QuantRows* q) {
  for_rows(w, m, [&](uint32_t i) {
    act_row(w, act, limit, gate + i * stride, up ? up + i * stride : nullptr, n, y + i * stride);
    if (q) quantize_row(w, y + i * stride, n, i, q);
  });
}

void xielu(const Worker& w, float* x, size_t stride, const float* by, uint32_t m, uint32_t n, QuantRows* q) {
  float with[] = {by[0], by[1], by[2], by[3]};
  softplus_row(w.kernels->t, with, 2);
  with[1] = by[2] + with[1];
  for_rows(w, m, [&](uint32_t i) {
    w.kernels->t.xielu_row(x + i * stride, with, n, x + i * stride);
    if (q) quantize_row(w, x + i * stride, n, i, q);
  });
}

constexpr uint32_t kGateUpRows = 8;  // up to so many gate_up makes whole matrices
// What a thread makes of gate_up at a time: as many rows as a block of kernels has at most, by a multiple of all groups.
constexpr uint32_t kTileRows = 132, kTileCols = 128;
uint32_t tile_rows(uint32_t m) { return m < kTileRows ? m : kTileRows; }

// Rows `rows` by the outputs from `from` on.
void gate_up_tile(const Worker& w, const GateUp& by, const float* x, size_t x_stride, const QuantRows* q, Share rows, uint32_t from,
                  QuantRows* to) {
  const uint32_t n = by.up.n - from < kTileCols ? by.up.n - from : kTileCols, m = rows.to - rows.from;
  float *products[2], *next = reinterpret_cast<float*>(w.scratch);  // each (m, kTileCols)
  const Matrix* const mats[2] = {&by.gate, &by.up};
  const float* const biases[2] = {by.gate_bias, by.up_bias};
  for (uint32_t i = 0; i < 2; ++i) {
    products[i] = mats[i]->panels ? next : nullptr;
    if (!products[i]) continue;
    GemmArgs a = gemm_args(*mats[i], x, x_stride, q, kTileCols);
    skip_rows(&a, rows.from);
    a.m = m;
    run_panels(w, *mats[i], &a, from / kPanel, static_cast<uint32_t>(div_up(n, kPanel)), biases[i], next);
    next += m * kTileCols;
  }
  float *gate = products[0] ? products[0] : products[1], *up = products[0] ? products[1] : nullptr;
  for (uint32_t i = 0; i < m; ++i, gate += kTileCols) {
    act_row(w, by.act, by.limit, gate, up ? up + i * kTileCols : nullptr, n, gate);
    quantize_row(w, gate, from, n, rows.from + i, to);
  }
}

void gate_up(const Worker& w, const GateUp& by, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, float* y, size_t stride,
             QuantRows* to) {
  if (!to || m <= kGateUpRows) {
    float* up = by.gate.panels ? y + m * stride : nullptr;
    if (up) gemm(w, by.gate, x, x_stride, q, m, by.gate_bias, false, y, stride);
    gemm(w, by.up, x, x_stride, q, m, by.up_bias, false, up ? up : y, stride);
    sync(w);
    return act_mul(w, by.act, by.limit, y, up, stride, m, by.up.n, y, to);
  }
  // All rows of the same outputs one behind the other, since their weights are in the second-level cache then.
  const uint32_t parts = static_cast<uint32_t>(div_up(m, kTileRows)), tiles = static_cast<uint32_t>(div_up(by.up.n, kTileCols)) * parts;
  const bool whole = tiles >= 4 * w.n * parts;
  Pieces pieces(w, tiles, whole ? parts : 1, whole ? 4 * w.n : tiles);
  for (Share piece; pieces.take(&piece);)
    for (uint32_t i = piece.from; i < piece.to; ++i) {
      const uint32_t part = i % parts;
      gate_up_tile(w, by, x, x_stride, q, {m * part / parts, m * (part + 1) / parts}, i / parts * kTileCols, to);
    }
}

}  // namespace

size_t cpu_scratch_bytes(const KvCache& kv, uint32_t n_threads, uint32_t head_k, uint32_t n_rows) {
  QuantRows q;
  const size_t attention = attention_scratch_bytes(kv, n_threads);
  const size_t rows = head_k ? cut_rows(&q, nullptr, quant_stride(LINNET_BF16, head_k), static_cast<uint32_t>(div_up(head_k, 32))) : 0;
  const size_t tile = n_rows > kGateUpRows ? 2 * sizeof(float) * tile_rows(n_rows) * kTileCols : 0;
  const size_t most = attention > rows ? attention : rows;
  return most > tile ? most : tile;
}

const Ops cpu_ops = {
    .sync = [](const Worker& w) { sync(w); },
    .pace = [](const Worker&) {},
    .embed = embed,
    .embed_layers = embed_layers,
    .norm = norm,
    .add = add,
    .scale = scale,
    .pool = pool,
    .clip = clip,
    .reorder = reorder,
    .quantize = quantize,
    .gemm = gemm,
    .lora_down = lora_down,
    .lora_up = lora_up,
    .gemm_heads = gemm_heads,
    .rope = rope,
    .kv_append = cpu_kv_append,
    .kv_pack = cpu_kv_pack,
    .attention = cpu_attention,
    .short_conv = cpu_short_conv,
    .delta_net = cpu_delta_net,
    .mamba = cpu_mamba,
    .gated_norm = cpu_gated_norm,
    .predict = predict,
    .correct = correct,
    .match = match,
    .sparsify = sparsify,
    .xielu = xielu,
    .scale_rows = scale_rows,
    .act_mul = act_mul,
    .gate_up = gate_up,
    .gate_up_rows = kGateUpRows,
    .route = cpu_route,
    .gather = gather,
    .gemm_experts = gemm_experts,
    .combine = cpu_combine,
};

}  // namespace linnet
