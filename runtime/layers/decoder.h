// The rows of a batch on their way through the layers, as one thread of the team sees them: what the steps of all kinds of layers share.
#pragma once
#include "../session.h"
#include "kinds.h"

namespace linnet {

struct Batch;

struct Decoder {
  const Worker& w;
  const Ops& ops;
  const ModelSpec& spec;
  Activations a;
  const KvCache& kv;
  const linnet_model& model;
  const RowSpan* spans;
  uint32_t n_spans, m;
  size_t logits_stride;
  const linnet_session& s;
  const LoraRows* lora_rows;  // (n_lora_rows) those that have adapters
  uint32_t n_lora_rows;
  uint32_t n_waiting = 0;  // matrices whose adapters have made t, and add it to y with the next sync()
  LoraArgs waiting[kLorasAtOnce] = {};

  // ops.gemm with what adapters add: all of y is there behind the next sync(). x is read for them, whatever W's format is.
  void gemm(const Matrix& mat, const float* x, size_t x_stride, const QuantRows* q, uint32_t rows, const float* bias, bool accumulate,
            float* y, size_t y_stride);
  void sync();
  // Whether adapters of the batch change the matrix.
  bool adapted(const Matrix& mat) const;
  float eps() const { return static_cast<float>(spec.norm_eps); }
  // Tokens into the residual stream; logits of some rows of it, or their share of a text's vector (forward.cpp).
  void embed();
  // What layers read of their tokens besides; and one of them does with its own, behind its other steps (layer_inputs.cpp).
  void layer_inputs();
  void layer_input(const LayerInput& t, uint32_t layer);
  // Several residual streams (streams.cpp): made of the embeddings, mixed before a layer's steps (the first one into x) and behind them (x
  // as what reads the layer's inputs has it), and brought together.
  void start_streams();
  void predict(const StreamTensors& t);
  void correct(const StreamTensors& t);
  void end_streams();
  void route_streams(const StreamTensors& t, const float* x);
  // x = (x + normed + norm of what the branch of low rank makes of normed) / sqrt(2).
  void laurel(const StreamTensors& t, const float* normed);
  void logits(const Batch& b, const float* x, float* to);
  void pool(const Batch& b, const float* x);
  // The tables of a layer's RoPE from row `first` on, and where sinks stand for these rows; no pairs where it has none.
  RopeView rope_of(const LayerSpec& l, uint32_t first, bool sinks) const;
  // Normed rows in a.normed, their channels in `order` unless that is nullptr; returns what the next matrix reads, unless that is f32.
  QuantRows norm(const Norm& by, const Matrix& next, const float* order = nullptr);
  // What a branch gives goes into the residual stream, or waits in a.branch until settle(). Parallel branches wait for each other.
  float* target() const { return in_branch(spec) ? a.branch : a.x; }
  bool parallel() const { return spec.residual == kResidualParallel || spec.residual == kResidualParallel2; }
  void settle(const Norm& post, uint32_t first);
  // Queries of rows `first`.. (m, n_heads * head_dim) become the heads' values. scale: of scores where the model says none.
  void attend(const LayerSpec& l, uint32_t layer, uint32_t first, float* q, float scale, const float* sinks);
  // The heads' outputs into the residual stream. order: of their channels as `out` has its inputs, or nullptr; then `heads` has room for as
  // many rows again.
  void project(const Matrix& out, const float* bias, const Norm& post, float* heads, size_t stride, uint32_t first,
               const float* order = nullptr);
};

}  // namespace linnet
