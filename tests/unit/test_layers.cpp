// Layers that differ as no field of the spec says it: their values in the packed file, and the model that runs by them. A model with
// narrower layers is held against the one whose layers have all the same width, but zeros in what the others lack: sums of f32 do not
// change by a product of zero, so the logits must be the same bytes.
#include <atomic>
#include <cstdio>
#include <thread>

#include "runtime/convert/source.h"
#include "runtime/gguf.h"
#include "runtime/session.h"
#include "tests/catch2.h"
#include "tests/data.h"
#include "tests/models.h"

using namespace linnet;
using namespace linnet::convert;

namespace {

// Rows and columns that a tensor keeps: the first of each of so many equal parts.
struct Cut {
  uint32_t parts_n = 1, n = 0, parts_k = 1, k = 0;  // n, k: of a part; 0: all
};

// A tensor's values, (n, k).
std::vector<float> values(const SourceTensor& t) {
  std::vector<float> v(size_t{t.n} * t.k);
  linnet_error err = {};
  REQUIRE(t.rows(0, t.n, v.data(), &err) == LINNET_OK);
  return v;
}

SourceTensor with(const SourceTensor& like, uint32_t n, uint32_t k, std::vector<float> v) {
  SourceTensor t;
  t.role = like.role, t.layer = like.layer, t.n = n, t.k = k, t.source_name = like.source_name, t.source_type = like.source_type;
  t.rows = [k, v = std::move(v)](uint32_t first, uint32_t count, float* out, Error*) {
    std::copy_n(v.begin() + static_cast<long>(first) * k, size_t{count} * k, out);
    return LINNET_OK;
  };
  return t;
}

// The two models: *narrow without what is cut, *zeroed with zeros there.
void cut(const SourceTensor& t, const Cut& c, SourceTensor* narrow, SourceTensor* zeroed) {
  const std::vector<float> v = values(t);
  const uint32_t part_n = t.n / c.parts_n, part_k = t.k / c.parts_k, keep_n = c.n ? c.n : part_n, keep_k = c.k ? c.k : part_k;
  std::vector<float> kept, zeros(v.size());
  for (uint32_t i = 0; i < t.n; ++i)
    for (uint32_t j = 0; j < t.k; ++j)
      if (i % part_n < keep_n && j % part_k < keep_k) {
        kept.push_back(v[size_t{i} * t.k + j]);
        zeros[size_t{i} * t.k + j] = kept.back();
      }
  *narrow = with(t, c.parts_n * keep_n, c.parts_k * keep_k, kept);
  *zeroed = with(t, t.n, t.k, zeros);
}

struct Pair {
  Source narrow, zeroed;
};

// `layers`: of the narrow model, `wide`: of the other. cut_of: what of a tensor they do not have. Norms of q and k, whose means are over
// all channels, go.
template <class CutOf>
Pair narrowed(const std::string& shape, const std::vector<LayerSpec>& layers, const std::vector<LayerSpec>& wide, CutOf cut_of) {
  Pair p;
  linnet_error err = {};
  for (Source* s : {&p.narrow, &p.zeroed}) {
    REQUIRE(source_synthetic(shape, 3, s, &err) == LINNET_OK);
    s->spec.attn_scale = 0.2;
    s->spec.qk_norm = kQkNormNone;
    std::erase_if(s->tensors, [](const SourceTensor& t) { return t.role == kAttnQNorm || t.role == kAttnKNorm; });
  }
  for (size_t i = 0; i < p.narrow.tensors.size(); ++i) {
    const SourceTensor t = p.zeroed.tensors[i];
    cut(t, cut_of(t), &p.narrow.tensors[i], &p.zeroed.tensors[i]);
  }
  set_layers(&p.narrow, layers);
  set_layers(&p.zeroed, wide);
  return p;
}

std::vector<LayerSpec> layers_of(const std::string& shape) {
  Source s;
  linnet_error err = {};
  REQUIRE(source_synthetic(shape, 3, &s, &err) == LINNET_OK);
  std::vector<LayerSpec> layers;
  for (uint32_t i = 0; i < s.spec.n_layers; ++i) layers.push_back(layer_spec(s.spec, i));
  return layers;
}

Image packed(const Source& source, linnet_format weights) {
  Options o;
  o.weights = weights;
  Image image;
  linnet_error err = {};
  const linnet_status status = write_to_memory(source, o, &image, &err);
  INFO(err.text);
  REQUIRE(status == LINNET_OK);
  return image;
}

// In a context that is too short, of which the first tokens are kept.
linnet_session_params with_sinks(linnet_session_params params) {
  params.n_context = 24, params.when_full = LINNET_FULL_SINKS, params.n_keep = 3;
  return params;
}

// In calls of a chunk at most: where old tokens are dropped, a call brings no more.
void prefill(test::Session& s, const test::Tokens& tokens, uint32_t chunk) {
  for (size_t at = 0; at < tokens.size(); at += chunk)
    s.prefill(
        test::Tokens(tokens.begin() + static_cast<long>(at), tokens.begin() + static_cast<long>(std::min(at + chunk, tokens.size()))));
}

void same_logits(const Pair& p, linnet_format weights, bool sinks = false) {
  const test::Model narrow(packed(p.narrow, weights)), zeroed(packed(p.zeroed, weights));
  test::Tokens tokens;
  for (int32_t i = 0; i < 50; ++i) tokens.push_back(i * 37 % 500);
  test::Row first;
  for (const uint32_t chunk : {1u, 16u, 64u}) {
    linnet_session_params params = test::params(LINNET_F32, 2, chunk);
    if (sinks) params = with_sinks(params);
    test::Session a(narrow, params), b(zeroed, params);
    const uint32_t call = sinks ? std::min(chunk, 16u) : 64;
    prefill(a, tokens, call), prefill(b, tokens, call);
    CHECK(test::same_bytes(a.logits(), b.logits()));
    a.prefill({7}), b.prefill({7});
    CHECK(test::same_bytes(a.logits(), b.logits()));
    if (first.empty()) first = a.logits();
    CHECK(test::same_bytes(a.logits(), first));
  }
}

// The same bytes for every chunk, and a state that goes on.
void same_in_chunks(const test::Model& model, linnet_session_params params) {
  test::Tokens tokens;
  for (int32_t i = 0; i < 60; ++i) tokens.push_back(i * 29 % 500);
  params.n_chunk = 1;
  test::Session one(model, params);
  params.n_chunk = 32, params.n_threads = 2;
  test::Session all(model, params);
  prefill(one, tokens, 1), prefill(all, tokens, params.when_full == LINNET_FULL_SINKS ? 15 : 60);
  CHECK(test::same_bytes(one.logits(), all.logits()));
  size_t bytes = 0;
  linnet_error err = {};
  CHECK(linnet_state_save(all.s, 0, nullptr, 0, &bytes, &err) == LINNET_TOO_SMALL);
  std::vector<uint8_t> state(bytes);
  test::check(linnet_state_save(all.s, 0, state.data(), bytes, &bytes, &err), err);
  params.n_chunk = 16, params.n_threads = 1;
  test::Session again(model, params);
  test::check(linnet_state_load(again.s, 0, state.data(), bytes, &err), err);
  again.prefill({3}), all.prefill({3});
  CHECK(test::same_bytes(again.logits(), all.logits()));
}

}  // namespace

TEST_CASE("layers with feed-forward steps of their own widths") {
  const std::vector<LayerSpec> wide = layers_of("wide-tiny");
  std::vector<LayerSpec> layers = wide;
  layers[1].d_ff = 160;
  const Pair p = narrowed("wide-tiny", layers, wide, [](const SourceTensor& t) {
    if (t.layer != 1) return Cut{};
    if (t.role == kFfnGate || t.role == kFfnUp) return Cut{.n = 160};
    if (t.role == kFfnDown) return Cut{.k = 160};
    return Cut{};
  });
  same_logits(p, LINNET_F32);
  same_logits(p, LINNET_BF16);
}

TEST_CASE("layers with numbers of heads of their own") {
  const std::vector<LayerSpec> wide = layers_of("wide-tiny");  // 4 heads, 2 KV heads
  std::vector<LayerSpec> layers = wide;
  layers[1].n_heads = 2, layers[1].n_kv_heads = 1;
  const auto half = [](const SourceTensor& t) {
    if (t.layer != 1) return Cut{};
    if (t.role == kAttnQ || t.role == kAttnK || t.role == kAttnV) return Cut{.n = t.n / 2};
    if (t.role == kAttnOut) return Cut{.k = t.k / 2};
    return Cut{};
  };
  same_logits(narrowed("wide-tiny", layers, wide, half), LINNET_F32);
  layers[1].n_kv_heads = 2;  // and the first of the two that each KV head had
  const auto every_other = [](const SourceTensor& t) {
    if (t.layer != 1) return Cut{};
    if (t.role == kAttnQ) return Cut{.parts_n = 2, .n = t.n / 4};
    if (t.role == kAttnOut) return Cut{.parts_k = 2, .k = t.k / 4};
    return Cut{};
  };
  same_logits(narrowed("wide-tiny", layers, wide, every_other), LINNET_F32);
}

// A layer that adds nothing leaves the next one the rows that it read: with the same norm and the same matrices that one makes the same
// keys and values, so it may as well read the other's.
TEST_CASE("layers that read the keys and values of another one") {
  const std::vector<LayerSpec> own = layers_of("stories260k");
  std::vector<LayerSpec> shared = own;
  shared[2].kv_back = 1;
  shared[3].kv_back = 2;
  Pair p = narrowed("stories260k", shared, own, [](const SourceTensor&) { return Cut{}; });
  const auto silent = [](Source* s) {
    for (SourceTensor& t : s->tensors) {
      if (t.layer != 1 && t.layer != 2) continue;
      if (t.role == kAttnOut || t.role == kFfnDown || t.role == kAttnOutBias || t.role == kFfnDownBias)
        t = with(t, t.n, t.k, std::vector<float>(size_t{t.n} * t.k));
    }
    for (SourceTensor& t : s->tensors)
      for (const SourceTensor& of : s->tensors)
        if ((t.layer == 2 || t.layer == 3) && of.layer == 1 && t.role == of.role &&
            (t.role == kAttnNorm || t.role == kAttnK || t.role == kAttnV)) {
          const uint32_t layer = t.layer;
          t = with(of, of.n, of.k, values(of));
          t.layer = layer;
        }
  };
  silent(&p.narrow), silent(&p.zeroed);
  std::erase_if(p.narrow.tensors,
                [](const SourceTensor& t) { return t.layer >= 2 && t.layer <= 3 && (t.role == kAttnK || t.role == kAttnV); });
  same_logits(p, LINNET_F32);
  same_logits(p, LINNET_I8G64);

  const test::Model narrow(packed(p.narrow, LINNET_I8G64)), wide(packed(p.zeroed, LINNET_I8G64));
  test::Tokens tokens;
  for (int32_t i = 0; i < 150; ++i) tokens.push_back(i * 37 % 500);
  for (const auto& [format, when_full] : {std::pair{LINNET_I8, LINNET_FULL_STOP}, std::pair{LINNET_KIVI4, LINNET_FULL_STOP},
                                          std::pair{LINNET_I8, LINNET_FULL_SINKS}, std::pair{LINNET_F8E4M3, LINNET_FULL_DROP_OLDEST}}) {
    auto params = test::params(format, 1, 16, 1, when_full == LINNET_FULL_STOP ? 256 : 64);
    params.when_full = when_full;
    test::Session a(narrow, params), b(wide, params);
    for (size_t at = 0; at < tokens.size(); at += 10) {
      const test::Tokens some(tokens.begin() + static_cast<long>(at), tokens.begin() + static_cast<long>(at) + 10);
      a.prefill(some), b.prefill(some);
    }
    CHECK(test::same_bytes(a.logits(), b.logits()));
    // Pages of three of the five layers, and what is saved of them.
    size_t less = 0, all = 0;
    linnet_error err{};
    test::check(linnet_state_need(a.s, 0, &less, &err), err);
    test::check(linnet_state_need(b.s, 0, &all, &err), err);
    CHECK(less < all);
    std::vector<uint8_t> saved(less);
    test::check(linnet_state_save(a.s, 0, saved.data(), saved.size(), &less, &err), err);
    test::Session c(narrow, params);
    test::check(linnet_state_load(c.s, 0, saved.data(), saved.size(), &err), err);
    a.prefill({7}), b.prefill({7}), c.prefill({7});
    CHECK(test::same_bytes(a.logits(), b.logits()));
    CHECK(test::same_bytes(a.logits(), c.logits()));
  }
  for (const auto& [format, when_full] :
       {std::pair{LINNET_F16, LINNET_FULL_STOP}, std::pair{LINNET_KIVI2, LINNET_FULL_STOP}, std::pair{LINNET_I8, LINNET_FULL_SINKS}}) {
    auto params = test::params(format, 1, 16, 1, 256);
    params.when_full = when_full;
    params.n_sequences = 2;
    test::Session a(narrow, params), b(wide, params);
    CHECK((a.s->cache.kv.classes[0].n_layers == 3 && b.s->cache.kv.classes[0].n_layers == 5));
    CHECK(a.s->cache.read_bytes(200) == b.s->cache.read_bytes(200));
    // Forks share the pages of both, and rollbacks give them back.
    linnet_error err{};
    for (test::Session* s : {&a, &b}) {
      s->prefill(tokens);
      test::check(linnet_fork(s->s, 0, 1, 140, &err), err);
      REQUIRE(linnet_truncate(s->s, 0, 145, nullptr) == LINNET_OK);
      s->prefill({3, 4, 5});
      const int32_t more[] = {9, 8};
      test::check(linnet_prefill(s->s, 1, more, 2, &err), err);
    }
    CHECK(test::same_bytes(a.logits(), b.logits()));
    const float *of_a = nullptr, *of_b = nullptr;
    size_t n = 0;
    REQUIRE((linnet_logits(a.s, 1, 0, &of_a, &n, nullptr) == LINNET_OK && linnet_logits(b.s, 1, 0, &of_b, &n, nullptr) == LINNET_OK));
    CHECK(std::memcmp(of_a, of_b, n * sizeof *of_a) == 0);
  }
  // A format of its own is the other layer's, whose pages they are.
  const linnet_kv_layers of_layer[] = {{sizeof *of_layer, 3, 3, LINNET_KIVI4, LINNET_I8}};
  auto params = test::params(LINNET_I8, 1, 16, 1, 256);
  params.kv_layers = of_layer, params.n_kv_layers = 1;
  CHECK(test::Session(narrow, params).s->cache.kv.n_classes == 1);
}

TEST_CASE("layers with heads of their own sizes") {
  std::vector<LayerSpec> wide = layers_of("wide-tiny");
  wide[1].rope = LayerRope::kNone;
  std::vector<LayerSpec> layers = wide;
  layers[1].head_dim = 16;
  const auto narrow_heads = [](const SourceTensor& t) {
    if (t.layer != 1) return Cut{};
    if (t.role == kAttnQ) return Cut{.parts_n = 4, .n = 16};
    if (t.role == kAttnK || t.role == kAttnV) return Cut{.parts_n = 2, .n = 16};
    if (t.role == kAttnOut) return Cut{.parts_k = 4, .k = 16};
    return Cut{};
  };
  const Pair p = narrowed("wide-tiny", layers, wide, narrow_heads);
  same_logits(p, LINNET_F32);

  const test::Model model(packed(p.narrow, LINNET_I8G128));
  for (const linnet_format kv : {LINNET_I8, LINNET_F8E4M3, LINNET_KIVI4}) same_in_chunks(model, test::params(kv));
}

// A RoPE of half as many channels and the square root of the base turns its pairs as fast as the other turns its first ones: pair i by
// base^(-2i / channels). So a layer with heads of half the size and that RoPE is one of whole heads with zeros in the second half of each
// side of a pair. Powers of two as bases, that no frequency is rounded otherwise.
TEST_CASE("layers with RoPE over numbers of channels of their own") {
  const uint32_t narrow_layer = GENERATE(0u, 1u), local_layer = GENERATE(0u, 1u), window = GENERATE(0u, 20u);
  CAPTURE(narrow_layer, local_layer, window);
  std::vector<LayerSpec> wide = layers_of("wide-tiny");
  wide[local_layer].window = window;
  std::vector<LayerSpec> layers = wide;
  layers[narrow_layer].head_dim = 16;
  layers[local_layer].rope = LayerRope::kLocal;
  const auto halves = [&](const SourceTensor& t) {
    if (t.layer != narrow_layer) return Cut{};
    if (t.role == kAttnQ) return Cut{.parts_n = 8, .n = 8};
    if (t.role == kAttnK || t.role == kAttnV) return Cut{.parts_n = 4, .n = 8};
    if (t.role == kAttnOut) return Cut{.parts_k = 8, .k = 8};
    return Cut{};
  };
  Pair p = narrowed("wide-tiny", layers, wide, halves);
  ModelSpec &s = p.narrow.spec, &z = p.zeroed.spec;
  z.rope_base = 65536;
  const bool local = narrow_layer == local_layer;
  s.rope_base = local ? 65536 : 256, s.rope_local_base = local ? 256 : 65536;
  s.rope_dim = local ? 32 : 16, s.rope_local_dim = local ? 16 : 32;
  s.head_dim = 16;  // of which the other layer knows nothing
  set_layers(&p.narrow, layers), set_layers(&p.zeroed, wide);
  CHECK(spec_version(s) == 4);
  same_logits(p, LINNET_F32);
  same_logits(p, LINNET_BF16);
  same_logits(p, LINNET_F32, true);

  const test::Model model(packed(p.narrow, LINNET_I8G128));
  same_in_chunks(model, test::params(LINNET_I8));
  same_in_chunks(model, with_sinks(test::params(LINNET_I8)));
}

TEST_CASE("a RoPE of its own channels in a packed file") {
  Source s;
  linnet_error err = {};
  REQUIRE(source_synthetic("wide-tiny", 3, &s, &err) == LINNET_OK);
  s.spec.window = 24, s.spec.window_pattern = 2, s.spec.rope_local_base = 100;
  const auto with_dim = [&](uint32_t dim, uint32_t version) {
    s.spec.rope_local_dim = dim;
    Image image = packed(s, LINNET_I8G128);
    const auto g = std::make_unique<Gguf>();
    ModelSpec read;
    GgufValue v;
    REQUIRE(gguf_open(image.data, image.bytes, "packed", g.get(), &err) == LINNET_OK);
    REQUIRE(spec_read(*g, &read, &err) == LINNET_OK);
    CHECK((spec_version(read) == version && g->key(kLayoutKey, &v) && v.u == version));
    CHECK(g->key("linnet.spec.rope_local_dim", &v) == (version == 4));
    CHECK((read.rope_local_dim == dim && rope_channels(read, LayerRope::kMain) == 32));
    CHECK(rope_channels(read, LayerRope::kLocal) == (dim ? dim : 32));
    test::Model model(image);  // takes the image
    test::Session session(model, test::params(LINNET_F32));
    session.prefill({1, 2, 3, 4, 5});
    return session.logits();
  };
  const test::Row all = with_dim(0, 3), same = with_dim(32, 4), fewer = with_dim(16, 4);
  CHECK(test::same_bytes(all, same));
  CHECK(!test::same_bytes(all, fewer));

  const auto refused = [&](const ModelSpec& spec, const char* text) {
    linnet_error e = {};
    CHECK(spec_check(spec, &e) == LINNET_BAD_FILE);
    INFO(e.text);
    CHECK(std::strstr(e.text, text) != nullptr);
  };
  ModelSpec bad = s.spec;
  bad.rope_local_dim = 15;
  refused(bad, "rope_local_dim = 15 is odd");
  bad.rope_local_dim = 34;
  refused(bad, "layer 0: RoPE of 34 channels, where head_dim = 32");
  bad = s.spec, bad.rope_dim = 34;
  refused(bad, "layer 1: RoPE of 34 channels, where head_dim = 32");
  bad = s.spec, bad.rope_local_base = 0;
  refused(bad, "rope_local_dim = 16 is odd or stands beside rope_local_base = 0");
}

TEST_CASE("keys and queries are evened out by the heads of each layer") {
  std::vector<LayerSpec> wide = layers_of("wide-tiny");
  wide[1].rope = LayerRope::kNone;
  std::vector<LayerSpec> layers = wide;
  layers[1].n_heads = 2, layers[1].n_kv_heads = 1, layers[1].head_dim = 16;
  // Every third channel of a key is 64 times as large as it was.
  Source mixed = narrowed("wide-tiny", layers, wide, [](const SourceTensor& t) {
                   if (t.layer != 1) return Cut{};
                   if (t.role == kAttnQ) return Cut{.n = 2 * 16};
                   if (t.role == kAttnK || t.role == kAttnV) return Cut{.n = 16};
                   if (t.role == kAttnOut) return Cut{.k = 2 * 16};
                   return Cut{};
                 }).narrow;
  for (SourceTensor& t : mixed.tensors) {
    if (t.role != kAttnK) continue;
    std::vector<float> v = values(t);
    for (size_t i = 0; i < v.size(); ++i)
      if (i / t.k % 3 == 0) v[i] *= 64;
    t = with(t, t.n, t.k, v);
  }
  // The same layer in a model whose heads are all like that.
  Source alike = mixed;
  set_layers(&alike, layers_of("wide-tiny"));
  alike.spec.n_heads = 2, alike.spec.n_kv_heads = 1, alike.spec.head_dim = 16;
  alike.spec.rope_kind = kRopeNone, alike.spec.rope_dim = 0;
  std::erase_if(alike.tensors, [](const SourceTensor& t) { return t.layer == 0; });
  const auto of_layer_1 = [](const Source& s, Role role) {
    return values(*std::find_if(s.tensors.begin(), s.tensors.end(), [&](const SourceTensor& t) { return t.role == role && t.layer == 1; }));
  };
  const std::vector<float> q = of_layer_1(mixed, kAttnQ), k = of_layer_1(mixed, kAttnK);
  linnet_error err = {};
  REQUIRE(equalise_keys(&mixed, {}, &err) == LINNET_OK);
  REQUIRE(equalise_keys(&alike, {}, &err) == LINNET_OK);
  CHECK(of_layer_1(mixed, kAttnQ) == of_layer_1(alike, kAttnQ));
  CHECK(of_layer_1(mixed, kAttnK) == of_layer_1(alike, kAttnK));
  CHECK(of_layer_1(mixed, kAttnQ) != q);
  CHECK(of_layer_1(mixed, kAttnK) != k);
}

TEST_CASE("channels of a pair are evened out alike, whichever RoPE makes the pair, and keys that others read not at all") {
  std::vector<LayerSpec> layers = layers_of("stories260k");  // heads of 8, RoPE over pairs of halves or neighbours
  layers[1].rope = LayerRope::kLocal;
  layers[3].kv_back = 1;
  Source s;
  linnet_error err = {};
  REQUIRE(source_synthetic("stories260k", 3, &s, &err) == LINNET_OK);
  s.spec.rope_local_base = 10000, s.spec.rope_local_dim = 4;
  std::erase_if(s.tensors, [](const SourceTensor& t) { return t.layer == 3 && (t.role == kAttnK || t.role == kAttnV); });
  for (SourceTensor& t : s.tensors) {
    if (t.role != kAttnQ && t.role != kAttnK) continue;
    std::vector<float> v = values(t);
    for (size_t i = 0; i < v.size() && t.role == kAttnK; ++i)
      if (i / t.k % 8 == 1 || i / t.k % 8 == 6) v[i] *= 64;  // a channel within the four, one behind them
    t = with(t, t.n, t.k, v);
  }
  set_layers(&s, layers);
  const auto keys = [&](uint32_t layer) {
    return values(
        *std::find_if(s.tensors.begin(), s.tensors.end(), [&](const SourceTensor& t) { return t.role == kAttnK && t.layer == layer; }));
  };
  const std::vector<float> before[] = {keys(0), keys(1), keys(2)};
  REQUIRE(equalise_keys(&s, {}, &err) == LINNET_OK);
  const size_t k = s.spec.d_model;
  const auto factor = [&](uint32_t layer, uint32_t channel) { return keys(layer)[channel * k] / before[layer][channel * k]; };
  const bool neighbours = s.spec.rope_kind == kRopePairs;
  for (uint32_t c = 0; c < 8; ++c) {
    CHECK(factor(0, c) == factor(0, neighbours ? c ^ 1u : (c + 4) % 8));
    if (c < 4) CHECK(factor(1, c) == factor(1, neighbours ? c ^ 1u : (c + 2) % 4));
  }
  CHECK(factor(1, 6) < factor(1, 7));
  CHECK(factor(1, 6) < factor(1, 2));  // its pair in the other RoPE
  CHECK(keys(2) == before[2]);
}

TEST_CASE("values of layers in a packed file") {
  std::vector<LayerSpec> layers = layers_of("wide-tiny");
  Source s;
  linnet_error err = {};
  REQUIRE(source_synthetic("wide-tiny", 3, &s, &err) == LINNET_OK);
  set_layers(&s, layers);  // which say nothing new
  CHECK(spec_version(s.spec) < 4);
  layers[0].window = 24;
  layers[1].rope = LayerRope::kNone;
  set_layers(&s, layers);
  CHECK(spec_version(s.spec) == 4);
  Image image = packed(s, LINNET_I8G128);
  const auto g = std::make_unique<Gguf>();
  ModelSpec read;
  REQUIRE(gguf_open(image.data, image.bytes, "packed", g.get(), &err) == LINNET_OK);
  REQUIRE(spec_read(*g, &read, &err) == LINNET_OK);
  for (uint32_t i = 0; i < 2; ++i) {
    const LayerSpec l = layer_spec(read, i);
    CHECK((l.window == layers[i].window && l.rope == layers[i].rope && l.d_ff == layers[i].d_ff && l.n_heads == layers[i].n_heads));
  }
  GgufValue v;
  CHECK((g->key("linnet.layer.window", &v) && g->key("linnet.layer.rope", &v) && !g->key("linnet.layer.d_ff", &v)));
  {
    test::Model model(image);  // takes the image
    test::Session one(model, test::params(LINNET_I8, 1, 1)), all(model, test::params(LINNET_I8, 2, 32));
    test::Tokens tokens;
    for (int32_t i = 0; i < 80; ++i) tokens.push_back(i * 11 % 500);
    one.prefill(tokens), all.prefill(tokens);
    CHECK(test::same_bytes(one.logits(), all.logits()));
  }

  Options plain;
  plain.plain = true;
  Image none;
  CHECK(write_to_memory(s, plain, &none, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text) == "plain GGUF: 'qwen3' cannot say window of each layer");

  // What a file must not say.
  const auto refused = [&](uint32_t field, uint32_t layer, uint32_t value, linnet_status status, const char* text) {
    std::vector<LayerSpec> bad = layers;
    std::memcpy(reinterpret_cast<char*>(&bad[layer]) + kLayerFields[field].offset, &value, sizeof value);
    set_layers(&s, bad);
    linnet_error e = {};
    CHECK(spec_check(s.spec, &e) == status);
    INFO(e.text);
    CHECK(std::strstr(e.text, text) != nullptr);
  };
  refused(0, 1, 1, LINNET_UNSUPPORTED, "layer 1: mixer = 1 beside kv_lora_rank = 0");
  refused(0, 0, kMixerConv, LINNET_BAD_FILE, "layer 0: conv_taps, window and rope = 0, 24, 1 of a short convolution");
  refused(0, 0, kMixerMamba, LINNET_BAD_FILE, "layer 0: Mamba-2 of conv_taps = 0, 0 heads of 0 in 0 groups of 0, window and rope 24 and 1");
  refused(0, 0, kMixerAttentionMamba, LINNET_BAD_FILE, "layer 0: Mamba-2 of conv_taps = 0, 0 heads of 0");
  refused(0, 0, kMixerCount, LINNET_BAD_FILE, "layer 0: mixer = 7 is outside 0 to 6");
  refused(1, 1, 1, LINNET_BAD_FILE, "layer 1: feed_forward = 1 beside n_experts = 0");
  refused(2, 0, 2, LINNET_BAD_FILE, "rope = 2 beside rope_local_base = 0");
  refused(3, 1, 3, LINNET_BAD_FILE, "layer 1: n_heads = 3 is no multiple of n_kv_heads = 2");
  refused(5, 0, 8, LINNET_BAD_FILE, "RoPE of 32 channels, where head_dim = 8");
  refused(8, 0, 1, LINNET_BAD_FILE, "layer 0: kv_back = 1: no layer of attention");
  const char* const other = "layer 1: kv_back = 1: that layer has other heads";
  refused(8, 1, 1, LINNET_UNSUPPORTED, other);  // another window and no RoPE
  layers[0].window = 0, layers[1].rope = layers[0].rope, layers[1].kv_back = 1;
  set_layers(&s, layers);
  CHECK(spec_check(s.spec, &err) == LINNET_OK);
  for (const auto& [field, value] : {std::pair{2u, 0u}, std::pair{3u, 2u}, std::pair{4u, 1u}, std::pair{5u, 64u}, std::pair{7u, 24u}})
    refused(field, 0, value, LINNET_UNSUPPORTED, other);
  layers[1].kv_back = 0;
  refused(6, 0, 0, LINNET_BAD_FILE, "layer 0: d_ff = 0 is outside");
  s.spec.alibi = 1;  // whose slopes are the model's, for as many heads
  refused(3, 0, 2, LINNET_UNSUPPORTED, "layer 0: n_heads = 2 beside slopes of ALiBi for 4");
}

namespace {

// Values of the layers in a packed file, which its owner may write to at any time.
uint8_t* in_file(const Image& image, uint32_t field) {
  const auto g = std::make_unique<Gguf>();
  ModelSpec read;
  linnet_error err = {};
  REQUIRE(gguf_open(image.data, image.bytes, "packed", g.get(), &err) == LINNET_OK);
  REQUIRE(spec_read(*g, &read, &err) == LINNET_OK);
  return const_cast<uint8_t*>(read.layer_values[field]);
}

// Experts in layer 0 alone.
Source dense_behind_experts() {
  std::vector<LayerSpec> layers = layers_of("moe-tiny");
  Source s;
  linnet_error err = {};
  REQUIRE(source_synthetic("moe-tiny", 3, &s, &err) == LINNET_OK);
  layers[1].feed_forward = kFeedForwardDense;
  set_layers(&s, layers);
  std::erase_if(s.tensors, [&](const SourceTensor& t) { return t.layer == 1 && !role_present(t.role, 1, s.spec); });
  for (const Role role : {kFfnGate, kFfnUp, kFfnDown}) {
    SourceTensor t;
    t.role = role, t.layer = 1;
    const uint32_t n = role_n(role, 1, s.spec), k = role_k(role, 1, s.spec);
    s.tensors.push_back(with(t, n, k, std::vector<float>(size_t{n} * k, 0.01f)));
  }
  return s;
}

}  // namespace

TEST_CASE("values of layers that change behind the check") {
  const Source s = dense_behind_experts();
  const test::Model whole(packed(s, LINNET_I8G128)), changed(packed(s, LINNET_I8G128));
  std::memset(in_file(changed.image, 1), 0xFF, 2 * sizeof(uint32_t));  // the model has its own
  const test::Tokens tokens = {5, 9, 250, 77, 3};
  test::Session a(whole, test::params(LINNET_I8)), b(changed, test::params(LINNET_I8));
  a.prefill(tokens), b.prefill(tokens);
  CHECK(test::same_bytes(a.logits(), b.logits()));

  // Whoever has no memory to copy them to: no kind that there is not, no experts where there are none.
  ModelSpec spec = s.spec;
  uint32_t values[2] = {0, 0};
  for (uint32_t f = 0; f < 2; ++f)
    for (const uint32_t bad : {f ? uint32_t{kFeedForwardCount} : uint32_t{kMixerCount}, UINT32_MAX}) {
      spec.layer_values[f] = reinterpret_cast<const uint8_t*>(values);
      values[1] = bad;
      const LayerSpec l = layer_spec(spec, 1);
      CHECK((l.mixer < kMixerCount && l.feed_forward <= kFeedForwardExperts));
      values[1] = 0;
    }
  Source plain;
  linnet_error err = {};
  REQUIRE(source_synthetic("wide-tiny", 3, &plain, &err) == LINNET_OK);
  values[1] = kFeedForwardExperts;
  plain.spec.layer_values[1] = reinterpret_cast<const uint8_t*>(values);
  CHECK(layer_spec(plain.spec, 1).feed_forward == kFeedForwardDense);
}

TEST_CASE("a file that changes while a model is made of it") {
  if (kSanitized) {
    std::printf("skipped: it is a race, which ThreadSanitizer tells\n");
    return;
  }
  const test::Model model(packed(dense_behind_experts(), LINNET_I8G128));
  linnet_profile profile{};
  profile.size = sizeof profile;
  linnet_error err = {};
  linnet_need need{.size = sizeof need};
  const linnet_view file = model.image.view();
  test::check(linnet_model_need(&file, &profile, &need, &err), err);
  constexpr size_t kBehind = 4096;
  const test::Memory memory(need.bytes + kBehind);
  auto* const value = reinterpret_cast<volatile uint32_t*>(in_file(model.image, 1) + sizeof(uint32_t));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint32_t i = 0; !done; ++i) *value = i / 64 % 2 ? kFeedForwardExperts : kFeedForwardDense;
  });
  uint32_t made = 0, others = 0;
  for (int i = 0; i < 3000; ++i) {
    linnet_model* m = nullptr;
    const linnet_status status = linnet_model_init(&m, memory.p, need.bytes, &file, &profile, &err);
    made += status == LINNET_OK;
    others += status != LINNET_OK && status != LINNET_BAD_FILE && status != LINNET_TOO_SMALL;
    linnet_model_fini(m);
  }
  done = true;
  writer.join();
  CHECK(others == 0);
  INFO(made << " models were made");
  const auto* behind = static_cast<const uint8_t*>(memory.p) + need.bytes;
  CHECK(std::all_of(behind, behind + kBehind, [](uint8_t b) { return b == 0xA5; }));
}
