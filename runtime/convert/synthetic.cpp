// Well-known shapes with random weights: what a model of this size costs, without downloading it. Weights are codes -128..127 times one
// scale per output, so every format holds the same model (f16 and bf16 up to their rounding), and integer panels are filled directly.
#include <cmath>
#include <cstring>

#include "../../platform/crc32c.h"
#include "../architectures.h"
#include "source.h"

namespace linnet::convert {
namespace {

// What shapes of Gemma 3n and 4 say besides.
struct Gemma {
  uint32_t window, global_kv_heads, shared, wide, layer_embd;  // shared: layers without keys of their own, wide: and with twice the d_ff
  uint32_t layer_embd_vocab = 0;                               // 0: n_vocab
};
struct Shape {
  const char *name, *architecture;
  uint32_t n_layers, d_model, n_heads, n_kv_heads, head_dim, d_ff, n_vocab, n_context, tied;
  double norm_eps, rope_base, llama3_factor;  // llama3_factor 0: no scaling
  uint32_t n_experts = 0, n_active = 0, expert_ff = 0, shared_ff = 0;
  const char* layers = nullptr;  // of each one 'a' attention, 's' with a window, 'c' a short convolution, 'd' a gated delta net, 'm'
                                 // Mamba-2, '-' a feed-forward step alone; nullptr: all attend
  uint32_t n_dense = 0;          // layers without experts before the others
  uint32_t key_heads = 0, value_heads = 0;  // of gated delta nets
  uint32_t mamba_heads = 0, mamba_head_dim = 0, mamba_groups = 0, mamba_state_dim = 0;
  const Gemma* gemma = nullptr;
};
constexpr Gemma kE2b = {512, 0, 20, 1, 256}, kE4b = {512, 0, 18, 0, 256}, k26b = {1024, 2, 0, 0, 0}, kLayersTiny = {64, 0, 2, 0, 256},
                k3nE2b = {512, 0, 10, 0, 256, 262144}, k3nE4b = {512, 0, 15, 0, 256, 262144};
constexpr char kWindows30[] = "sssssasssssasssssasssssasssssa", kWindows35[] = "ssssassssassssassssassssassssassssa",
               kWindows30By5[] = "ssssassssassssassssassssassssa", kWindows42[] = "sssssasssssasssssasssssasssssasssssasssssa";
constexpr char kDelta24[] = "dddadddadddadddadddaddda", kDelta32[] = "dddadddadddadddadddadddadddaddda",
               kDelta40[] = "dddadddadddadddadddadddadddadddadddaddda";
constexpr char kLfm2Layers[] = "ccaccaccacacacac";
// From the published config.json of each model.
constexpr Shape kShapes[] = {
    {"llama-3.2-1b", "llama", 16, 2048, 32, 8, 64, 8192, 128256, 131072, 1, 1e-5, 500000, 32},
    {"llama-3.2-3b", "llama", 28, 3072, 24, 8, 128, 8192, 128256, 131072, 1, 1e-5, 500000, 32},
    {"llama-3.1-8b", "llama", 32, 4096, 32, 8, 128, 14336, 128256, 131072, 0, 1e-5, 500000, 8},
    {"llama-2-7b", "llama", 32, 4096, 32, 32, 128, 11008, 32000, 4096, 0, 1e-5, 10000, 0},
    {"mistral-7b", "mistral", 32, 4096, 32, 8, 128, 14336, 32768, 32768, 0, 1e-5, 1000000, 0},  // v0.3, which has no window
    {"qwen2.5-0.5b", "qwen2", 24, 896, 14, 2, 64, 4864, 151936, 32768, 1, 1e-6, 1000000, 0},
    {"qwen2.5-1.5b", "qwen2", 28, 1536, 12, 2, 128, 8960, 151936, 131072, 1, 1e-6, 1000000, 0},
    {"qwen2.5-3b", "qwen2", 36, 2048, 16, 2, 128, 11008, 151936, 32768, 1, 1e-6, 1000000, 0},
    {"qwen2.5-7b", "qwen2", 28, 3584, 28, 4, 128, 18944, 152064, 131072, 0, 1e-6, 1000000, 0},
    {"qwen3-0.6b", "qwen3", 28, 1024, 16, 8, 128, 3072, 151936, 40960, 1, 1e-6, 1000000, 0},
    {"qwen3-1.7b", "qwen3", 28, 2048, 16, 8, 128, 6144, 151936, 40960, 1, 1e-6, 1000000, 0},
    {"qwen3-4b", "qwen3", 36, 2560, 32, 8, 128, 9728, 151936, 40960, 1, 1e-6, 1000000, 0},
    {"qwen3-30b-a3b", "qwen3_moe", 48, 2048, 32, 4, 128, 6144, 151936, 40960, 0, 1e-6, 1000000, 0, 128, 8, 768},
    {"qwen1.5-moe-a2.7b", "qwen2_moe", 24, 2048, 16, 16, 128, 5632, 151936, 8192, 0, 1e-6, 1000000, 0, 60, 4, 1408, 5632},
    {"mixtral-8x7b", "mixtral", 32, 4096, 32, 8, 128, 14336, 32000, 32768, 0, 1e-5, 1000000, 0, 8, 2, 14336},
    {"qwen3.5-0.8b", "qwen3_5_text", 24, 1024, 8, 2, 256, 3584, 248320, 262144, 1, 1e-6, 10000000, 0, 0, 0, 0, 0, kDelta24, 0, 16, 16},
    {"qwen3.5-2b", "qwen3_5_text", 24, 2048, 8, 2, 256, 6144, 248320, 262144, 1, 1e-6, 10000000, 0, 0, 0, 0, 0, kDelta24, 0, 16, 16},
    {"qwen3.5-4b", "qwen3_5_text", 32, 2560, 16, 4, 256, 9216, 248320, 262144, 1, 1e-6, 10000000, 0, 0, 0, 0, 0, kDelta32, 0, 16, 32},
    {"qwen3.5-9b", "qwen3_5_text", 32, 4096, 16, 4, 256, 12288, 248320, 262144, 0, 1e-6, 10000000, 0, 0, 0, 0, 0, kDelta32, 0, 16, 32},
    {"qwen3.6-35b-a3b",
     "qwen3_5_moe_text",
     40,
     2048,
     16,
     2,
     256,
     512,
     248320,
     262144,
     0,
     1e-6,
     10000000,
     0,
     256,
     8,
     512,
     512,
     kDelta40,
     0,
     16,
     32},
    {"lfm2-350m", "lfm2", 16, 1024, 16, 8, 64, 4608, 65536, 128000, 1, 1e-5, 1000000, 0, 0, 0, 0, 0, kLfm2Layers},
    {"lfm2-700m", "lfm2", 16, 1536, 24, 8, 64, 6912, 65536, 128000, 1, 1e-5, 1000000, 0, 0, 0, 0, 0, kLfm2Layers},
    {"lfm2-1.2b", "lfm2", 16, 2048, 32, 8, 64, 8192, 65536, 128000, 1, 1e-5, 1000000, 0, 0, 0, 0, 0, kLfm2Layers},
    {"lfm2-8b-a1b",
     "lfm2_moe",
     24,
     2048,
     32,
     8,
     64,
     7168,
     65536,
     128000,
     1,
     1e-5,
     1000000,
     0,
     32,
     4,
     1792,
     0,
     "ccacccacccacccacccaccacc",
     2},
    {"granite-4-h-tiny",
     "granitemoehybrid",
     40,
     1536,
     12,
     4,
     128,
     1024,
     100352,
     131072,
     1,
     1e-5,
     10000,
     0,
     64,
     6,
     512,
     1024,
     "mmmmmammmmmmmmmammmmmmmmmammmmmmmmmammmm",
     0,
     0,
     0,
     48,
     64,
     1,
     128},
    {"gemma-3n-e2b",
     "gemma3n_text",
     30,
     2048,
     8,
     2,
     256,
     8192,
     262400,
     32768,
     1,
     1e-6,
     1000000,
     0,
     0,
     0,
     0,
     0,
     kWindows30By5,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     &k3nE2b},
    {"gemma-3n-e4b",
     "gemma3n_text",
     35,
     2048,
     8,
     2,
     256,
     16384,
     262400,
     32768,
     1,
     1e-6,
     1000000,
     0,
     0,
     0,
     0,
     0,
     kWindows35,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     &k3nE4b},
    {"gemma-4-e2b",
     "gemma4_text",
     35,
     1536,
     8,
     1,
     256,
     6144,
     262144,
     131072,
     1,
     1e-6,
     1000000,
     0,
     0,
     0,
     0,
     0,
     kWindows35,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     &kE2b},
    {"gemma-4-e4b",
     "gemma4_text",
     42,
     2560,
     8,
     2,
     256,
     10240,
     262144,
     131072,
     1,
     1e-6,
     1000000,
     0,
     0,
     0,
     0,
     0,
     kWindows42,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     &kE4b},
    {"gemma-4-26b-a4b",
     "gemma4_text",
     30,
     2816,
     16,
     8,
     256,
     2112,
     262144,
     262144,
     1,
     1e-6,
     1000000,
     0,
     128,
     8,
     704,
     2112,
     kWindows30,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     &k26b},
    {"nemotron-3-nano-4b",
     "nemotron_h",
     42,
     3136,
     40,
     8,
     128,
     12544,
     131072,
     262144,
     0,
     1e-5,
     10000,
     0,
     0,
     0,
     0,
     0,
     "m-m-m-mm-m-ma-m-ma-m-m-ma-m-m-mma-mmm-m-m-",
     0,
     0,
     0,
     96,
     80,
     8,
     128},
    // Those that end with -tiny and have 512 tokens are for tests and on no list.
    {"moe-tiny", "qwen3_moe", 2, 256, 4, 2, 64, 512, 512, 512, 0, 1e-6, 10000, 0, 24, 3, 176},
    {"wide-tiny", "qwen3", 2, 128, 4, 2, 32, 1100, 512, 512, 0, 1e-6, 10000, 0},  // d_ff is nine tiles of gate_up(), the last one short
    {"layers-tiny", "gemma4_text", 4, 128, 2, 1, 64, 256, 512, 512, 1, 1e-6, 1e6, 0, 0, 0, 0, 0, "sasa", 0, 0, 0, 0, 0, 0, 0, &kLayersTiny},
    {"tinyllama-1.1b", "llama", 22, 2048, 32, 4, 64, 5632, 32000, 2048, 0, 1e-5, 10000, 0},
    {"smollm2-135m", "llama", 30, 576, 9, 3, 64, 1536, 49152, 8192, 1, 1e-5, 100000, 0},
    {"smollm2-360m", "llama", 32, 960, 15, 5, 64, 2560, 49152, 8192, 1, 1e-5, 100000, 0},
    {"smollm2-1.7b", "llama", 24, 2048, 32, 32, 64, 8192, 49152, 8192, 1, 1e-5, 130000, 0},
    {"stories260k", "llama", 5, 64, 8, 4, 8, 172, 512, 512, 1, 1e-5, 10000, 0},
    {"stories15m", "llama", 6, 288, 6, 6, 48, 768, 32000, 256, 1, 1e-5, 10000, 0},
};

bool listed(const Shape& s) { return s.n_vocab != 512 || !std::string_view(s.name).ends_with("-tiny"); }

// Number i of stream `seed` (splitmix64: Steele, Lea and Flood 2014).
uint64_t mix(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
// In [0, 1).
double unit(uint64_t seed, uint64_t i) { return static_cast<double>(mix(seed, i) >> 11) * 0x1p-53; }

// A random matrix (n, k); its panel p depends on the seed and p alone.
struct Weights {
  uint64_t seed;
  uint32_t n, k;
  double spread;  // standard deviation of the weights

  // One scale per output, with the digits of an f16 so that every format holds it: 0.75 to 1.25 of what gives `spread`.
  float scale(uint32_t row) const {
    constexpr double kCodeSpread = 73.9;  // of codes spread evenly over -128..127
    return f16_to_f32(f32_to_f16(static_cast<float>(spread / kCodeSpread * (0.75 + 0.5 * unit(~seed, row)))));
  }
  // [kpad/4][16][4]; what is past k and n is zero.
  void codes(uint32_t p, uint8_t* to) const {
    const size_t words = static_cast<size_t>(align_up(k, kPadK)) * kPanel / 8;
    const uint64_t stream = mix(seed, p);
    for (size_t i = 0; i < words; ++i) {
      const uint64_t w = mix(stream, i);
      std::memcpy(to + i * 8, &w, 8);
    }
    const uint32_t rows = n - p * kPanel < kPanel ? n - p * kPanel : kPanel;
    if (rows == kPanel && k % kPadK == 0) return;
    for (size_t i = 0; i < words * 8; ++i)
      if (i / 64 * 4 + i % 4 >= k || i / 4 % kPanel >= rows) to[i] = 0;
  }
  void panel(Format f, uint32_t p, uint8_t* to, uint8_t* scales) const {
    codes(p, to);
    const uint32_t rows = n - p * kPanel < kPanel ? n - p * kPanel : kPanel;
    float by_row[kPanel] = {};
    for (uint32_t r = 0; r < rows; ++r) by_row[r] = scale(p * kPanel + r);
    for (uint64_t g = 0; g < n_w_groups(f, k); ++g)
      for (uint32_t r = 0; r < kPanel; ++r) {
        const uint64_t at = g * kPanel + r;
        const uint16_t half = f32_to_f16(by_row[r]);
        if (format_row(f).scale.half)
          std::memcpy(scales + at * 2, &half, 2);
        else
          std::memcpy(scales + at * 4, &by_row[r], 4);
      }
  }
  Status rows(uint32_t first, uint32_t count, float* out) const {
    std::vector<uint8_t> panel;
    for (uint32_t row = first; row < first + count; ++row, out += k) {
      if (panel.empty() || row % kPanel == 0) {
        panel.resize(static_cast<size_t>(align_up(k, kPadK)) * kPanel);
        codes(row / kPanel, panel.data());
      }
      const float s = scale(row);
      for (size_t i = 0; i < k; ++i) out[i] = static_cast<float>(static_cast<int8_t>(panel[i / 4 * 64 + row % kPanel * 4 + i % 4])) * s;
    }
    return LINNET_OK;
  }
};

// Spreads that keep activations near 1 and logits near a standard deviation of 3, whatever the depth.
double spread_of(Role role, uint32_t layer, const ModelSpec& spec) {
  const double flat = 1 / std::sqrt(static_cast<double>(role_k(role, layer, spec)));
  if (role == kTokenEmbd || role == kOutput) return 3 * flat;
  if (role == kInputProj) return flat;
  if (role == kAttnOut || role == kFfnDown || role == kExpertDown || role == kSharedDown) return flat / std::sqrt(2.0 * spec.n_layers);
  return flat;
}

SourceTensor make_tensor(Role role, uint32_t layer, const ModelSpec& spec, uint64_t seed) {
  SourceTensor t;
  char name[kRoleNameBytes];
  role_name(role, layer, name);
  t.role = role;
  t.layer = layer;
  t.n = role_n(role, layer, spec);
  t.k = role_k(role, layer, spec);
  t.source_name = name;
  t.source_type = "random";
  const uint64_t stream = mix(seed, crc32c(0, name, std::strlen(name)));  // whatever other roles there are
  if (role_row(role).matrix()) {
    const Weights w{stream, t.n, t.k, spread_of(role, layer, spec)};
    t.rows = [w](uint32_t first, uint32_t count, float* out, Error*) { return w.rows(first, count, out); };
    t.panel = [w](Format f, uint32_t p, uint8_t* to, uint8_t* scales) { w.panel(f, p, to, scales); };
  } else {  // norms near 1, biases and what goes from stream to stream near 0
    const bool small = std::strstr(role_row(role).name, ".bias") || role == kStreamPredict || role == kStreamCorrect;
    const double low = role == kDeltaA || role == kMambaA ? -1.1 : small ? -0.1 : 0.9;  // states fade
    t.rows = [stream, low](uint32_t first, uint32_t count, float* out, Error*) {
      for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<float>(low + 0.2 * unit(stream, first + i));
      return LINNET_OK;
    };
  }
  return t;
}

}  // namespace

const char* synthetic_shape(uint32_t i) {
  for (const Shape& s : kShapes)
    if (listed(s) && i-- == 0) return s.name;
  return nullptr;
}

Status source_synthetic(const std::string& shape, uint64_t seed, Source* out, Error* err) {
  const Shape* s = nullptr;
  for (const Shape& row : kShapes)
    if (shape == row.name) s = &row;
  if (!s) {
    std::string known;
    for (const std::string& name : shapes()) known += (known.empty() ? "" : ", ") + name;
    return fail(err, LINNET_BAD_ARG, "synthetic: no shape '", shape, "'; known: ", known);
  }
  const Architecture* a = architecture_by_hf(s->architecture);
  if (!a) return fail(err, LINNET_UNSUPPORTED, "synthetic: no architecture '", s->architecture, "'");
  *out = {};
  ModelSpec& spec = out->spec;
  spec = a->spec;
  std::strncpy(spec.architecture, s->architecture, sizeof spec.architecture - 1);
  spec.n_layers = s->n_layers, spec.d_model = s->d_model, spec.n_heads = s->n_heads, spec.n_kv_heads = s->n_kv_heads;
  spec.head_dim = s->head_dim, spec.rope_dim = static_cast<uint32_t>(s->head_dim * (a->absent.rotary > 0 ? a->absent.rotary : 1)),
  spec.d_ff = s->d_ff, spec.n_vocab = s->n_vocab, spec.n_context = s->n_context;
  spec.norm_eps = s->norm_eps, spec.rope_base = s->rope_base, spec.rope_kind = s->mamba_heads ? kRopeNone : a->rope_hf, spec.tied = s->tied;
  if (s->mamba_heads) spec.rope_dim = 0;
  spec.rope_factor = spec.rope_low = spec.rope_high = 1;
  spec.qkv_bias = a->qkv_bias == Has::kAlways;
  for (const HfFlag& f : a->flags)
    if (f.key) spec.*f.field = f.absent ? f.if_true : f.if_false;
  spec.n_experts = s->n_experts, spec.n_active = s->n_active, spec.expert_ff = s->expert_ff,
  spec.router_norm = s->n_experts > 0 && (a->experts.norm == Has::kAlways || !s->shared_ff);
  spec.moe_first = s->n_dense;
  if (!s->n_experts) spec.router_kind = spec.router_correction = 0;
  if (s->key_heads) spec.delta_key_heads = s->key_heads, spec.delta_value_heads = s->value_heads;
  if (s->mamba_heads)
    spec.mamba_heads = s->mamba_heads, spec.mamba_head_dim = s->mamba_head_dim, spec.mamba_groups = s->mamba_groups,
    spec.mamba_state_dim = s->mamba_state_dim;
  spec.shared_ff = s->shared_ff, spec.shared_gate = s->shared_ff > 0 && a->experts.shared_gate;
  if (s->llama3_factor > 0) {
    spec.rope_scaling = kRopeScaleLlama3;
    spec.rope_factor = s->llama3_factor, spec.rope_high = 4, spec.rope_original = 8192;
  }
  constexpr uint32_t kGlobalDim = 512, kGlobalTurned = 128;
  if (s->gemma) {
    spec.rope_local_base = a->absent.rope_local_base;
    spec.window = s->gemma->window;
    spec.values_of_keys = s->gemma->global_kv_heads > 0;
    spec.layer_embd = s->gemma->layer_embd;
    spec.layer_embd_vocab = !spec.layer_embd ? 0 : s->gemma->layer_embd_vocab ? s->gemma->layer_embd_vocab : spec.n_vocab;
    spec.embd_scale = std::sqrt(static_cast<double>(spec.d_model)), spec.logit_softcap = 30;
    spec.moe_beside = s->n_experts > 0;
    if (a->gemma4) spec.rope_local_dim = s->head_dim, spec.rope_dim = kGlobalDim, spec.rope_turned = kGlobalTurned;
    if (a->gemma3n) spec.sparse_cut = static_cast<double>(deviations_below(kSparseShare));
  }
  std::vector<LayerSpec> layers;
  for (uint32_t i = 0; s->layers && s->gemma && i < spec.n_layers; ++i) {
    layers.push_back(layer_spec(spec, i));
    LayerSpec& l = layers.back();
    if (s->layers[i] == 'a') {
      l.window = 0, l.rope = LayerRope::kMain;
      if (a->gemma4) l.head_dim = kGlobalDim;
      if (spec.values_of_keys) l.n_kv_heads = s->gemma->global_kv_heads;
    }
    if (a->gemma3n && i < kSparseLayers) l.sparse = 1;
    if (i + s->gemma->shared < spec.n_layers) continue;
    uint32_t of = spec.n_layers - s->gemma->shared - 1;
    while (s->layers[of] != s->layers[i]) --of;
    l.kv_back = i - of;
    if (s->gemma->wide) l.d_ff *= 2;
  }
  for (uint32_t i = 0; s->layers && !s->gemma && i < spec.n_layers; ++i) {
    layers.push_back(layer_spec(spec, i));
    if (a->one_step) layers[i].feed_forward = s->layers[i] == '-' ? kFeedForwardDense : kFeedForwardNothing;
    if (s->layers[i] == 'a') continue;
    layers[i].mixer = s->layers[i] == 'd'   ? kMixerDelta
                      : s->layers[i] == 'm' ? kMixerMamba
                      : s->layers[i] == '-' ? kMixerNoMixer
                                            : kMixerConv;
    layers[i].rope = LayerRope::kNone;
  }
  if (s->layers) set_layers(out, layers);
  out->name = "random weights of the shape of " + shape;
  return each_tensor(spec, [&](Role role, uint32_t layer) {
    out->tensors.push_back(make_tensor(role, layer, spec, seed));
    return LINNET_OK;
  });
}

}  // namespace linnet::convert
