// Ops: the dozen or so operations that a backend (backend.h) fills. forward.cpp calls them in order, on every thread of the session's team
// at once: threads take pieces of an operation, and sync lets results be seen. Between two syncs no operation reads what another one
// writes, since its pieces may be other threads'. A backend with its own queue runs them on a team of one, where sync costs nothing.
#pragma once
#include <cstdint>

#include "../platform/pieces.h"
#include "../platform/status.h"
#include "tensor.h"

namespace linnet {

struct Kernels;
struct KvCache;
struct Slots;

// One thread of the team inside a forward pass. Whoever makes one sets by name what its backend reads.
struct Worker : Member {
  const Kernels* kernels = nullptr;  // CPU backend
  uint8_t* scratch = nullptr;        // of this thread, cpu_scratch_bytes() long
  uint8_t* shared = nullptr;         // of the team, cpu_shared_bytes() long, zeros at the session's start
  uint32_t n_most = 1;               // of the session, n <= n_most: what `shared` is laid out for, however many threads a pass has
  uint32_t* not_finite = nullptr;    // set to 1 (atomically) when an activation is infinite or NaN
  void* queue = nullptr;             // of a backend that has one
};

// What the host makes anew for the rows of a pass (C = rows of a pass at most). A model has up to two RoPEs, its own and that of layers
// with a window, each with as many pairs of channels as it rotates; their tables lie one behind the other.
struct RowTables {
  int32_t* tokens;             // (C)
  int32_t* positions;          // (C) rows of the learned positions
  float* temperature;          // (C) of each row's queries, where the model has that
  float *cos, *sin;            // of each RoPE (C, n_pairs)
  float *sink_cos, *sink_sin;  // of each RoPE (C, kMaxSinks, n_pairs), with sinks
  float* layer_rows;           // (C, layer_floats) of the tokens their rows of the embeddings of layers, where the host finds them
  uint32_t n_rows;             // C
  uint32_t layer_floats;       // n_layers * layer_embd; 0: operations find them, or there are none
  uint32_t n_pairs[2];         // 0: there is no such RoPE
  // Where a row of RoPE r begins in cos and sin; times kMaxSinks, in the sinks' tables.
  size_t rope_at(uint32_t r, size_t row) const { return size_t{r} * n_rows * n_pairs[0] + row * n_pairs[r]; }
};

// RoPE of every row of the batch, made once per forward and used by all layers.
struct RopeView {
  const float* cos;  // (m, n_pairs)
  const float* sin;
  uint32_t n_pairs, interleaved;
  float factor;  // cos and sin hold it too
};

enum NormKind : uint32_t { kNormRms = 0, kNormLayer = 1 };
enum Activation : uint32_t {
  kActSilu = 0,
  kActGeluTanh = 1,
  kActGeluErf = 2,
  kActRelu = 3,
  kActSwigluClamped = 4,
  kActSigmoid = 5,
  kActRelu2 = 6,  // squared ReLU
  kActXielu = 7   // an operation of its own, of dense feed-forward steps without a gate
};
enum QkNorm : uint32_t {
  kQkNormNone = 0,
  kQkNormHead = 1,        // RMS per head, before RoPE; all heads share the weights
  kQkNormAll = 2,         // RMS over all heads at once, before RoPE
  kQkNormHeadAfter = 3,   // RMS per head, after RoPE
  kQkNormLayer = 4,       // LayerNorm per head, before RoPE, of every head its own weights
  kQkNormLayerShared = 5  // the same, all heads share weights and a bias
};

// A norm of rows.
struct Norm {
  const float* weight;  // (n) or nullptr: none at all, rows stay as they are
  const float* bias;    // (n) or nullptr
  uint32_t kind;        // NormKind
  float eps;
};
// Of q or k; kQkNormAll is a Norm of whole rows.
struct HeadNorm {
  const float* weight;  // (head_dim), of kQkNormLayer (n_heads * head_dim); nullptr: none
  const float* bias;    // (head_dim) of kQkNormLayerShared
  uint32_t kind;        // QkNorm
  float eps;
};

// Rows row..row + n - 1 of a batch are positions position.. of a sequence.
struct RowSpan {
  uint32_t seq, row, n, position;
};

// Rows of a batch that are summed up into one, in their order: a text's, or a part of them.
struct PoolRows {
  uint32_t row, n;
  double* sum;  // of all channels, with what was summed up before
};

struct AttentionArgs {
  const KvCache* kv;
  uint32_t layer;
  const RowSpan* spans;
  uint32_t n_spans;
  const float* q;  // (rows, n_heads * head_dim)
  size_t q_stride;
  uint32_t n_heads;
  float scale, cap;     // scores are scaled, and where cap > 0 soft capped
  const float* slopes;  // (n_heads) or nullptr: ALiBi
  const float* sinks;   // (n_heads) or nullptr: the score of a place beside all tokens that holds nothing (learned sinks)
  float* out;           // (rows, n_heads * head_dim), may be q; of a latent each head's first v_dim floats
  size_t out_stride;
  RopeView sink_rope;  // (rows, kMaxSinks, n_pairs): where the sinks stand for each row
};

// A gated short convolution: of every row b | c | u the product b * u goes into the layer's state, y = c * conv. Taps are summed up one
// after the other from the oldest on, each product rounded.
inline constexpr uint32_t kMostTaps = 16;
struct ShortConvArgs {
  const Slots* slots;
  uint32_t layer;
  const RowSpan* spans;
  uint32_t n_spans;
  const float* x;  // (rows, 3 * n)
  size_t x_stride;
  uint32_t n;
  const float* weight;  // (n, taps)
  uint32_t taps;
  float* y;  // (rows, n)
  size_t y_stride;
};

// A gated delta net, of every key head with its share of the value heads: rows of q, k and v pass a convolution over time and SiLU, then
// q and k become of length 1 (q over the root of key_dim too); a value head's state S = S * exp(a * softplus(alpha)) is corrected by
// k^T beta' (v - k S), beta' = beta_scale * sigmoid(beta), and o = q S. y = norm(o) * silu(y). Sums over keys go in their order
// (DeltaSteps). by_key (Kimi Linear): each key channel fades by itself, and the gate is a sigmoid.
// In panels, since a block of channels of all keys stays in the first-level cache.
inline constexpr uint32_t kDeltaPanel = 32;
inline uint32_t delta_state_floats(uint32_t key_dim, uint32_t value_dim) {
  return (value_dim + kDeltaPanel - 1) / kDeltaPanel * kDeltaPanel * key_dim;
}
inline constexpr uint32_t kMostDeltaDim = 256, kMostDeltaFloats = 4096;  // of a key head's channels with its values
struct DeltaNetArgs {
  const Slots* slots;
  uint32_t layer;
  const RowSpan* spans;
  uint32_t n_spans, key_heads, value_heads, key_dim, value_dim, taps;
  bool tiled;  // value head v has key head v % key_heads, else v / (value_heads / key_heads)
  bool by_key;
  float beta_scale;   // beta' times this
  float eps;          // of the norm
  const float* conv;  // (2 * Q + V, taps), Q = key_heads * key_dim, V = value_heads * value_dim
  const float* a;     // (value_heads)
  const float* norm;  // (value_dim)
  const float* x;     // (rows, 2 * Q + V)
  size_t x_stride;
  const float *beta, *alpha;  // (rows, value_heads); alpha (rows, value_heads, key_dim) where by_key
  size_t beta_stride, alpha_stride;
  float* y;  // (rows, V): the gate, then the result
  size_t y_stride;
};

// Mamba-2: rows of x, B and C pass a convolution over time (and get its bias) and SiLU; of every head the state S (state_dim, head_dim) =
// S * exp(a * dt) + B (dt * x)^T, dt = softplus(dt) within dt_min..dt_max, and y = C S + skip * x (DeltaSteps, uncorrected). Up to
// kMambaHeads heads of a group go together, a piece of work; each such piece has its group's B and C for itself.
inline constexpr uint32_t kMambaHeads = 4;
inline uint32_t mamba_pieces(uint32_t heads) { return (heads + kMambaHeads - 1) / kMambaHeads; }  // of a group
struct MambaArgs {
  const Slots* slots;
  uint32_t layer;
  const RowSpan* spans;
  uint32_t n_spans, heads, groups, head_dim, state_dim, taps;
  float dt_min, dt_max;           // dt_max 0: none
  const float *conv, *conv_bias;  // (I + 2 * N, taps), I = heads * head_dim, N = groups * state_dim; (I + 2 * N) or nullptr
  const float *a, *skip;          // (heads)
  const float* x;                 // (rows, I + 2 * N)
  size_t x_stride;
  const float* dt;  // (rows, heads)
  size_t dt_stride;
  float* y;  // (rows, I)
  size_t y_stride;
};
// y = norm(y * silu(gate)), or norm(y) * silu(gate), of every row's groups of n / groups channels, in place.
struct GatedNormArgs {
  const float* gate;  // (m, n)
  size_t gate_stride;
  float* y;  // (m, n)
  size_t stride;
  const float* weight;  // (n) or nullptr: no norm
  float eps;
  uint32_t groups;
  bool norm_first;
  uint32_t m, n;
};

// Of the embeddings of layers a token's n_layers rows begin here; tokens past the last have the first one's.
inline uint32_t first_row_of(const Matrix& table, int32_t token, uint32_t n_layers) {
  return static_cast<uint32_t>(token) < table.n / n_layers ? static_cast<uint32_t>(token) * n_layers : 0;
}

// Residual streams beside each other; those of a model with one are not here.
inline constexpr uint32_t kStreams = 4;
struct Streams {
  float* x;       // (kStreams, C, d_model)
  size_t apart;   // floats from one stream to the next
  float* router;  // (C, 16) of each row what the router says of the streams
  float* at(uint32_t i) const { return x + i * apart; }
};

// The first half of a feed-forward network.
struct GateUp {
  const Matrix &gate, &up;           // (n, k); gate without panels: there is none
  const float *gate_bias, *up_bias;  // (n) or nullptr
  uint32_t act;                      // Activation
  float limit;
};

// How the rows of a layer choose their experts; ModelSpec says what each means.
struct Router {
  uint32_t n_experts, n_active, sigmoid, normalise;
  uint32_t n_groups, top_groups, group_best;
  float scale;
  const float* correction;  // (n_experts) or nullptr
  const float* weigh;       // (n_experts) or nullptr: what the weights are multiplied by in the end
  bool mixer = false;       // kRouterMixer, of two experts
  float near = 0;           // its router_near
};
// What an expert takes of a sequence at most: the first positions that choose it. Others get weight 0.
struct Capacity {
  uint32_t most;         // 0: no limit
  const RowSpan* spans;  // of the batch, whose rows are all there
  uint32_t n_spans;
  uint16_t* chosen;  // of every sequence (chosen_stride apart) the experts of each position, n_active of them
  size_t chosen_stride;
};
// The (row, expert) pairs of a batch, which lie in the order of experts, those of one expert in the order of rows.
struct Pairs {
  uint32_t* experts;           // (m, n_active) of each row, ascending
  float* weights;              // (m, n_active)
  uint32_t* places;            // (m, n_active) which pair it is
  uint32_t* from;              // (m * n_active) which of those a pair is: row * n_active + number
  uint32_t* first;             // (n_experts + 2) first pair of each expert
  uint32_t* active;            // (n_experts) those that have pairs, ascending
  uint32_t* n_active_experts;  // (1)
};

// What an adapter adds to the product of a matrix W (n, k): y += scale * B (A x), in f32.
struct LowRank {
  Matrix a, b;  // (rank, k), (n, rank); a without panels: nothing
  float scale;
};
inline constexpr uint32_t kMostLoras = 8;  // of a sequence
// The adapters of a sequence, in their order.
struct LoraUse {
  uint32_t n;
  struct {
    const LowRank* parts;  // by Matrix::slot
    float scale;           // beside theirs
    uint32_t at;           // where the outputs of its A lie in a row
  } of[kMostLoras];
};
// Rows row..row + n - 1 of a batch have these.
struct LoraRows {
  uint32_t row, n;
  const LoraUse* use;
};
struct LoraArgs {
  const LoraRows* rows;
  uint32_t n_rows;  // entries of `rows`; those that lie past m count no more
  uint32_t slot, m;
  const float* x;  // (m, k)
  size_t x_stride;
  float* t;  // (m, t_stride) of all adapters s * (A x)
  size_t t_stride;
  float* y;  // (m, n)
  size_t y_stride;
};

struct Ops {
  // What was begun before is done, whoever does it.
  void (*sync)(const Worker&);
  // Waits until what was begun is no more than a layer behind, so that a cancel is answered soon. Called before every layer.
  void (*pace)(const Worker&);
  // y(m, k) = rows `tokens` of the embedding (n_vocab, k).
  void (*embed)(const Worker&, const Matrix& table, const int32_t* tokens, uint32_t m, float* y, size_t y_stride);
  // y(m * n_layers, k): of each token its n_layers rows of the table, (n_tokens * n_layers, k), as first_row_of() says. nullptr: the table
  // is the host's alone, who finds them (RowTables::layer_rows).
  void (*embed_layers)(const Worker&, const Matrix& table, const int32_t* tokens, uint32_t m, uint32_t n_layers, float* y, size_t y_stride);
  // y = norm(x) for m rows of n; quantised too where q != nullptr.
  void (*norm)(const Worker&, const float* x, size_t stride, const Norm& norm, uint32_t m, uint32_t n, float* y, QuantRows* q);
  // y = y + norm(x) * scale, x in place; scale 0 counts as 1.
  void (*add)(const Worker&, float* y, float* x, size_t stride, const Norm& norm, float scale, uint32_t m, uint32_t n);
  // x = x * scale (0: 1), then where cap > 0 cap * tanh(x / cap).
  void (*scale)(const Worker&, float* x, size_t stride, float scale, float cap, uint32_t m, uint32_t n);
  // Of every entry sum = sum + x over its rows, of n channels. nullptr: there is no such operation, and texts are not embedded.
  void (*pool)(const Worker&, const float* x, size_t stride, const PoolRows* pools, uint32_t n_pools, uint32_t n);
  // x = x cut to -limit..limit.
  void (*clip)(const Worker&, float* x, size_t stride, float limit, uint32_t m, uint32_t n);
  // y(m, k, stride) = of every row of x its channel order[j] in place j; quantised too where q != nullptr. y is not x. nullptr: there is
  // no such operation, and models that need it are refused.
  void (*reorder)(const Worker&, const float* x, size_t stride, const float* order, uint32_t m, uint32_t k, float* y, QuantRows* q);
  // Quantises m rows of k.
  void (*quantize)(const Worker&, const float* x, size_t x_stride, uint32_t m, uint32_t k, QuantRows* q);
  // y(m, n) = x * W^T (+ bias); accumulate: y += . Reads q for integer formats, x (stride x_stride floats) for float ones.
  void (*gemm)(const Worker&, const Matrix& w, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, const float* bias,
               bool accumulate, float* y, size_t y_stride);
  // Adapters of a matrix: t = s * (A x), s their scales' product; then, behind what the matrix itself gives, y = y + B t of one after the
  // other. nullptr: there are no such operations, and adapters are refused.
  void (*lora_down)(const Worker&, const LoraArgs&);
  void (*lora_up)(const Worker&, const LoraArgs&);
  // W (n_heads * n, k) is a matrix for each head, one below the other; n a multiple of 16. For m rows of x (x_stride, heads x_head floats
  // apart): of each head y = [the `carry` floats behind the k inputs, x * W of the head^T], y_head floats apart.
  void (*gemm_heads)(const Worker&, const Matrix& w, uint32_t n_heads, const float* x, size_t x_stride, size_t x_head, uint32_t m,
                     uint32_t carry, float* y, size_t y_stride, size_t y_head);
  // Per head: its norm and RoPE, in place on x (m, n_heads * head_dim, stride).
  void (*rope)(const Worker&, float* x, size_t stride, uint32_t m, uint32_t n_heads, uint32_t head_dim, const HeadNorm& norm,
               const RopeView& rope);
  // Appends k, v (rows, n_kv_heads * head_dim) of one layer at the spans' positions. k is rotated by rope; v of no use where the cache is a
  // latent's.
  void (*kv_append)(const Worker&, const KvCache& kv, uint32_t layer, const float* k, const float* v, size_t stride, const RowSpan* spans,
                    uint32_t n_spans, const RopeView& rope);
  // KIVI: packs the groups that are due at the spans' positions (kv_cache.h). Whether there were any; every thread gets the same answer.
  bool (*kv_pack)(const Worker&, const KvCache& kv, uint32_t layer, const RowSpan* spans, uint32_t n_spans);
  // Attention of every row over the tokens of its own sequence that its layer's window lets it see, itself included.
  void (*attention)(const Worker&, const AttentionArgs&);
  void (*short_conv)(const Worker&, const ShortConvArgs&);
  void (*delta_net)(const Worker&, const DeltaNetArgs&);
  void (*mamba)(const Worker&, const MambaArgs&);
  void (*gated_norm)(const Worker&, const GatedNormArgs&);
  // Of every row, with t = tanh(what its router says / n): x_i + the sum of coefs[i][j] t x_j, coefs (kStreams, kStreams, kStreams),
  // becomes stream i, and the first one `to`.
  void (*predict)(const Worker&, const Streams&, const float* coefs, uint32_t m, uint32_t n, size_t stride, float* to);
  // x_i + (x - x_0) (1 + coefs[i] t), coefs (kStreams, kStreams), becomes stream i, then x = x_0 * scale (n).
  void (*correct)(const Worker&, const Streams&, const float* coefs, const float* scale, uint32_t m, uint32_t n, size_t stride, float* x);
  // x times what gives it the RMS of the same row of `like`, as if its own were at least the root of 1e-5.
  void (*match)(const Worker&, float* x, const float* like, size_t stride, uint32_t m, uint32_t n);
  // x = max(x - (mean + cut * standard deviation of its row), 0).
  void (*sparsify)(const Worker&, float* x, size_t stride, float cut, uint32_t m, uint32_t n);
  // x = xIELU(x), by = (alpha_p, alpha_n, beta, eps), of which softplus(alpha_p) and beta + softplus(alpha_n) count (kernels.h); quantised
  // too where q != nullptr.
  void (*xielu)(const Worker&, float* x, size_t stride, const float* by, uint32_t m, uint32_t n, QuantRows* q);
  // x of each of m rows of n times its factor.
  void (*scale_rows)(const Worker&, float* x, size_t stride, const float* factors, uint32_t m, uint32_t n);
  // y = act(gate) * up, without up (nullptr) act(gate); quantised too where q != nullptr. y may be gate. act: Activation. Clamped
  // (gpt-oss), which works in gate and up: g = min(gate, limit), u = up within -limit..limit, y = g * sigmoid(1.702 g) * (u + 1).
  void (*act_mul)(const Worker&, uint32_t act, float limit, float* gate, float* up, size_t stride, uint32_t m, uint32_t n, float* y,
                  QuantRows* q);
  // act_mul of two products of the same m rows: y(m, n) = act(x * gate^T) * (x * up^T), quantised too where to != nullptr. May sync within.
  // y has room for both products, (2, m, stride); with `to` and more rows than gate_up_rows a backend goes tile by tile through memory of
  // its own instead and leaves y alone.
  void (*gate_up)(const Worker&, const GateUp&, const float* x, size_t x_stride, const QuantRows* q, uint32_t m, float* y, size_t stride,
                  QuantRows* to);
  uint32_t gate_up_rows;
  // Fills in `pairs` by the router's logits (m, stride), of which nothing is left. Syncs once within; sync before reading.
  void (*route)(const Worker&, const Router&, const Capacity&, float* logits, size_t stride, uint32_t m, const Pairs& pairs);
  // The rows of all pairs: to y (pairs, stride) where y != nullptr, multiplied by their weights where `weigh`; quantised to pair_q where
  // that is not nullptr, or, without y, copied from q.
  void (*gather)(const Worker&, const float* x, size_t stride, const QuantRows* q, uint32_t n_pairs, uint32_t k, uint32_t n_active,
                 const Pairs& pairs, bool weigh, float* y, QuantRows* pair_q);
  // W: of every expert (n / n_experts, k), n / n_experts a multiple of 16. y(pairs, n / n_experts) = rows of the pairs * W of their
  // expert^T (+ bias).
  void (*gemm_experts)(const Worker&, const Matrix& w, uint32_t n_experts, const Pairs& pairs, const float* x, size_t x_stride,
                       const QuantRows* q, const float* bias, float* y, size_t y_stride);
  // y(m, n) = or where `accumulate` += of every row's pairs, in the order of experts, x * weight, or x alone where not `weigh`; weights of
  // 0 add nothing. Before that, where gate != nullptr (gate_stride floats between rows): y += shared * sigmoid(gate[row][0]).
  void (*combine)(const Worker&, const float* x, size_t stride, uint32_t m, uint32_t n, uint32_t n_active, const Pairs& pairs, bool weigh,
                  const float* shared, const float* gate, size_t gate_stride, bool accumulate, float* y);
};

extern const Ops cpu_ops;
// Bytes of Worker::scratch and Worker::shared. head_k: most inputs of what gemm_heads multiplies with, or 0; n_rows: most rows of gate_up,
// or 0.
size_t cpu_scratch_bytes(const KvCache& kv, uint32_t n_threads, uint32_t head_k, uint32_t n_rows);
size_t cpu_shared_bytes(const KvCache& kv, uint32_t n_threads);

}  // namespace linnet
