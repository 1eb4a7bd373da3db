// Keys of trained models have a few channels that are many times larger than the others. In a KV cache with one scale per 32 channels those
// take the others' bits. Query and key only meet in a product, so what a key's channel is divided by its query's can be multiplied with: by
// powers of two, which change no bit of anything but what the cache and the rounding of queries do. Both are rounded alike, so both get the
// same profile over the channels, the geometric mean of the two. RoPE turns channels in pairs, so a pair has one factor.
#include <algorithm>
#include <cmath>

#include "source.h"

namespace linnet::convert {
namespace {

constexpr int kMost = 8;  // powers of two

SourceTensor* find(Source& s, Role role, uint32_t layer) {
  for (SourceTensor& t : s.tensors)
    if (t.role == role && t.layer == layer) return &t;
  return nullptr;
}

void scale_rows(SourceTensor* t, std::vector<float> factors) {
  if (!t) return;
  t->gguf_blocks = nullptr;  // what is asked for holds them in another way
  t->rows = [rows = t->rows, k = t->k, factors = std::move(factors)](uint32_t first, uint32_t count, float* out, Error* err) {
    LINNET_TRY(rows(first, count, out, err));
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t i = 0; i < k; ++i) out[size_t{r} * k + i] *= factors[first + r];
    return LINNET_OK;
  };
}

Status read_all(const SourceTensor* t, std::vector<float>* out, Error* err) {
  out->resize(size_t{t->n} * t->k);
  return t->rows(0, t->n, out->data(), err);
}

// How large each output of the query or key projection gets on inputs of size one: of its row times the norm's weights, and its bias.
Status output_sizes(Source& s, uint32_t layer, const SourceTensor& w, Role bias_role, std::vector<double>* out, Error* err) {
  std::vector<float> norm, bias(w.n, 0.0f), row(w.k);
  const SourceTensor* b = find(s, bias_role, layer);
  const SourceTensor* n = find(s, kAttnNorm, layer);
  if (n)
    LINNET_TRY(read_all(n, &norm, err));
  else
    norm.assign(w.k, 1.0f);
  if (b) LINNET_TRY(read_all(b, &bias, err));
  for (uint32_t i = 0; i < w.n; ++i) {
    LINNET_TRY(w.rows(i, 1, row.data(), err));
    double sum = double{bias[i]} * bias[i];
    for (uint32_t j = 0; j < w.k; ++j) sum += std::pow(double{row[j]} * norm[j], 2);
    out->push_back(std::sqrt(sum));
  }
  return LINNET_OK;
}

// The channel that RoPE turns together with channel c of a head; c itself where none. Layers without RoPE are taken to have the model's,
// unless their heads are too small for it.
uint32_t partner(const ModelSpec& s, const LayerSpec& l, uint32_t c) {
  const uint32_t n = l.rope == LayerRope::kLocal ? rope_channels(s, l.rope) : s.rope_dim;
  if (s.rope_kind == kRopeNone || n > l.head_dim || c >= n) return c;
  if (s.rope_kind == kRopePairs) return c ^ 1u;
  return c < n / 2 ? c + n / 2 : c - n / 2;
}

// log2 of the size of each channel's pair.
std::vector<double> pair_logs(const ModelSpec& s, const LayerSpec& l, const double* sizes) {
  std::vector<double> logs(l.head_dim);
  for (uint32_t c = 0; c < l.head_dim; ++c) {
    const double pair = (std::pow(sizes[c], 2) + std::pow(sizes[partner(s, l, c)], 2)) / 2;
    logs[c] = pair > 1e-30 && pair < 1e30 ? std::log2(pair) / 2 : 0;
  }
  return logs;
}

// Powers of two between the keys and the queries of one head.
std::vector<int> exponents(const ModelSpec& s, const LayerSpec& l, const double* keys, const double* queries) {
  const uint32_t head_dim = l.head_dim;
  const std::vector<double> k = pair_logs(s, l, keys), q = pair_logs(s, l, queries);
  double mean = 0;
  std::vector<double> wanted(head_dim);
  for (uint32_t c = 0; c < head_dim; ++c) mean += (wanted[c] = (k[c] - q[c]) / 2) / head_dim;
  std::vector<int> out(head_dim);
  for (uint32_t c = 0; c < head_dim; ++c) out[c] = std::clamp(static_cast<int>(std::lround(wanted[c] - mean)), -kMost, kMost);
  return out;
}

Status equalise_layer(Source& s, uint32_t layer, const Options& asked, Error* err) {
  SourceTensor *q = find(s, kAttnQ, layer), *k = find(s, kAttnK, layer), *q_norm = find(s, kAttnQNorm, layer),
               *k_norm = find(s, kAttnKNorm, layer);
  const auto as_it_is = [&asked](const SourceTensor* t) {
    return !t || t->exact_rows || (t->gguf_blocks && packed_format(*t, asked) == t->gguf_format) || t->panel || t->quantised;
  };
  if (as_it_is(q) || as_it_is(k)) return LINNET_OK;  // what comes quantised keeps its numbers
  for (uint32_t i = layer + 1; i < s.spec.n_layers; ++i)
    if (layer_spec(s.spec, i).kv_back == i - layer) return LINNET_OK;  // other layers' queries meet these keys, too
  const ModelSpec& spec = s.spec;
  const LayerSpec l = layer_spec(spec, layer);
  const uint32_t dim = l.head_dim, group = l.n_heads / l.n_kv_heads;
  std::vector<double> keys, queries;
  if (spec.qk_norm) {  // every head is normed and then has the norm's own weights
    std::vector<float> of_k, of_q;
    if (!q_norm || !k_norm) return LINNET_OK;
    LINNET_TRY(read_all(k_norm, &of_k, err));
    LINNET_TRY(read_all(q_norm, &of_q, err));
    for (const float w : of_k) keys.push_back(std::fabs(double{w}));
    for (const float w : of_q) queries.push_back(std::fabs(double{w}));
    const std::vector<int> e = exponents(spec, l, keys.data(), queries.data());
    std::vector<float> up, down;
    for (const int x : e) up.push_back(std::ldexp(1.0f, x)), down.push_back(std::ldexp(1.0f, -x));
    scale_rows(q_norm, up);
    scale_rows(k_norm, down);
    return LINNET_OK;
  }
  LINNET_TRY(output_sizes(s, layer, *k, kAttnKBias, &keys, err));
  LINNET_TRY(output_sizes(s, layer, *q, kAttnQBias, &queries, err));
  std::vector<float> up(q->n), down(k->n);
  size_t first = 0, n_keys = 0;  // of this layer's keys among those of all
  for (uint32_t i = 0; i < spec.n_layers; ++i) {
    const LayerSpec other = layer_spec(spec, i);
    if (i == layer) first = n_keys;
    n_keys += size_t{other.n_kv_heads} * other.head_dim;
  }
  s.key_exponents.resize(n_keys, 128);
  for (uint32_t h = 0; h < l.n_kv_heads; ++h) {
    std::vector<double> of_group(dim, 0.0);  // the queries that meet this head's keys
    for (uint32_t i = 0; i < group * dim; ++i) of_group[i % dim] += std::pow(queries[h * group * dim + i], 2) / group;
    for (double& x : of_group) x = std::sqrt(x);
    const std::vector<int> e = exponents(spec, l, keys.data() + size_t{h} * dim, of_group.data());
    for (uint32_t c = 0; c < dim; ++c) {
      down[h * dim + c] = std::ldexp(1.0f, -e[c]);
      s.key_exponents[first + h * dim + c] = static_cast<uint8_t>(128 + e[c]);
      for (uint32_t g = 0; g < group; ++g) up[(h * group + g) * dim + c] = std::ldexp(1.0f, e[c]);
    }
  }
  scale_rows(find(s, kAttnQBias, layer), up);
  scale_rows(find(s, kAttnKBias, layer), down);
  scale_rows(q, std::move(up));
  scale_rows(k, std::move(down));
  return LINNET_OK;
}

}  // namespace

Status equalise_keys(Source* source, const Options& asked, Error* err) {
  // Norms after RoPE or over several heads, and limits on what is projected, do not let a factor through.
  if (source->spec.qk_norm > kQkNormHead || source->spec.clip_qkv > 0) return LINNET_OK;
  for (uint32_t i = 0; i < source->spec.n_layers; ++i) LINNET_TRY(equalise_layer(*source, i, asked, err));
  return LINNET_OK;
}

}  // namespace linnet::convert
