// Texts as vectors behind the C ABI: what they are made of, that nothing but the text changes their bytes, and that nothing stays behind.
#include <linnet_embed.h>

#include <random>

#include "kernels_cpu/registry.h"
#include "runtime/model.h"
#include "tests/models.h"

using namespace test;

namespace {

Tokens random_tokens(uint32_t n, uint32_t n_vocab, uint32_t seed) {
  std::mt19937 random(seed);
  Tokens t;
  for (uint32_t i = 0; i < n; ++i) t.push_back(static_cast<int32_t>(random() % n_vocab));
  return t;
}

linnet_embed_params how(uint32_t pooling = 0, uint32_t normalise = 0, uint32_t n_dim = 0) {
  return {.size = sizeof(linnet_embed_params), .pooling = pooling, .normalise = normalise, .n_dim = n_dim};
}

linnet_embed_desc info(const Model& model) {
  linnet_embed_desc d{.size = sizeof d};
  linnet_error err{};
  check(linnet_embed_info(model.m, &d, &err), err);
  return d;
}

linnet_rows row_of(const Tokens& t, uint32_t seq) {
  return {.size = sizeof(linnet_rows), .seq = seq, .n_tokens = t.size(), .tokens = t.data()};
}

std::vector<Row> embed(const Session& s, const std::vector<Tokens>& texts, const linnet_embed_params& p, uint32_t first_seq = 0) {
  std::vector<linnet_rows> rows;
  for (const Tokens& t : texts) rows.push_back(row_of(t, first_seq + static_cast<uint32_t>(rows.size())));
  const uint32_t n_dim = p.n_dim ? p.n_dim : info(s.model).n_dim;
  Row out(texts.size() * n_dim);
  linnet_error err{};
  check(linnet_embed(s.s, rows.data(), static_cast<uint32_t>(rows.size()), &p, out.data(), out.size(), &err), err);
  std::vector<Row> vectors;
  for (size_t i = 0; i < texts.size(); ++i) {
    vectors.emplace_back(out.begin() + static_cast<long>(i * n_dim), out.begin() + static_cast<long>((i + 1) * n_dim));
    size_t length = 1;
    REQUIRE(linnet_length(s.s, first_seq + static_cast<uint32_t>(i), &length, nullptr) == LINNET_OK);
    REQUIRE(length == 0);
  }
  return vectors;
}
Row embed(const Session& s, const Tokens& text, const linnet_embed_params& p) { return embed(s, std::vector<Tokens>{text}, p)[0]; }

linnet_session_params several(linnet_session_params p, uint32_t n_sequences) {
  p.n_sequences = n_sequences;
  return p;
}

double length_of(const Row& x) {
  double ss = 0;
  for (const float v : x) ss += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(ss);
}

}  // namespace

TEST_CASE("a vector is the final rows pooled: the last one is what the LM head reads, the mean is of all") {
  for (const char* name : {"llama", "qwen3", "gemma3", "lfm2"}) {
    INFO(name);
    const Model model(std::string("tests/golden/") + name, LINNET_F32);
    const uint32_t n = 40;
    const Tokens text = random_tokens(n, model.desc.n_vocab, 3);
    Session s(model, params(LINNET_F32, 2, 16, 1, 64));
    const uint32_t raw = LINNET_NORMALISE_OFF;
    // The rows of all positions, each the last of a beginning of the text.
    std::vector<Row> rows;
    for (uint32_t i = 1; i <= n; ++i) rows.push_back(embed(s, Tokens(text.begin(), text.begin() + i), how(LINNET_POOLING_LAST, raw)));
    const uint32_t d = model.desc.d_model;
    // Logits in f32 are one chain along the row.
    s.prefill(text);
    const Row logits = s.logits();
    linnet_error err{};
    check(linnet_truncate(s.s, 0, 0, &err), err);
    Row head(d);
    const linnet::Matrix& h = model.m->head;
    const linnet::ModelSpec& spec = model.m->spec;
    for (uint32_t j = 0; j < model.desc.n_vocab && spec.logit_scale == 0 && spec.logit_softcap == 0; ++j) {
      model.m->kernels.t.gather_row(h.format, h.panels, h.scales, h.n, h.k, j, head.data());
      float sum = 0;
      for (uint32_t c = 0; c < d; ++c) sum = std::fma(rows.back()[c], head[c], sum);
      REQUIRE(sum == logits[j]);
    }
    Row mean(d);
    for (uint32_t c = 0; c < d; ++c) {
      double sum = 0;
      for (const Row& r : rows) sum += static_cast<double>(r[c]);
      mean[c] = static_cast<float>(sum / n);
    }
    CHECK(same_bytes(embed(s, text, how(LINNET_POOLING_MEAN, raw)), mean));
    CHECK(same_bytes(embed(s, text, how(LINNET_POOLING_CLS, raw)), rows[0]));
    CHECK_FALSE(same_bytes(rows[0], rows[n - 1]));
    // Of length 1, the same direction; a part of it is normalised behind the cut.
    const Row unit = embed(s, text, how(LINNET_POOLING_MEAN)), part = embed(s, text, how(LINNET_POOLING_MEAN, 0, d / 2)),
              raw_part = embed(s, text, how(LINNET_POOLING_MEAN, raw, d / 2));
    CHECK(std::fabs(length_of(unit) - 1) < 1e-6);
    CHECK(std::fabs(length_of(part) - 1) < 1e-6);
    for (uint32_t c = 0; c < d; ++c) CHECK(std::fabs(static_cast<double>(unit[c]) - static_cast<double>(mean[c]) / length_of(mean)) < 1e-6);
    for (uint32_t c = 0; c < d / 2; ++c) CHECK(raw_part[c] == mean[c]);
  }
}

namespace {

struct Golden {
  std::vector<Tokens> texts;
  std::vector<Row> vectors;
};

Golden read_golden(const std::string& name) {
  Golden g;
  const std::string json = slurp("tests/golden/" + name + "/golden.json"), npy = slurp("tests/golden/" + name + "/golden_vectors.npy");
  const size_t from = json.find("[[") + 1;  // "texts": [[1, 2], [3]]
  const char* at = json.c_str() + from;
  for (; *at && *at != ']'; at += *at == ',' || *at == ' ') {
    if (*at != '[') continue;
    Tokens& text = g.texts.emplace_back();
    while (*at++ != ']') text.push_back(static_cast<int32_t>(std::strtol(at, const_cast<char**>(&at), 10)));
  }
  REQUIRE(g.texts.size() == 4);
  REQUIRE(g.texts[3].size() == 60);
  REQUIRE(npy.substr(1, 5) == "NUMPY");
  const size_t header = 10 + static_cast<unsigned char>(npy[8]) + 256u * static_cast<unsigned char>(npy[9]),
               n_dim = (npy.size() - header) / 4 / 4;
  for (size_t i = 0; i < 4; ++i) {
    Row& row = g.vectors.emplace_back(n_dim);
    std::memcpy(row.data(), npy.data() + header + i * n_dim * 4, n_dim * 4);
  }
  return g;
}

// The u32 of a key of a packed file.
void set_key(Model& model, const std::string& key, uint32_t value) {
  auto* bytes = static_cast<char*>(model.image.data);
  const std::string_view file(bytes, model.image.bytes);
  const size_t at = file.find(key + std::string("\4\0\0\0", 4));
  REQUIRE(at != file.npos);
  std::memcpy(bytes + at + key.size() + 4, &value, sizeof value);
}

std::vector<Row> vectors_of(const Model& model, const std::vector<Tokens>& texts, uint32_t kv, uint32_t chunk = 0) {
  const Session s(model, several(params(kv, 1, chunk, 1, 64), 4));
  return embed(s, texts, how());
}

}  // namespace

TEST_CASE("vectors of transformers and sentence-transformers, by the model's own settings") {
  const struct {
    const char* name;
    linnet_embed_desc says;
    double i8;  // largest error, of the largest number
  } models[] = {{"embed-qwen3", {0, 24, LINNET_POOLING_LAST, LINNET_NORMALISE_ON, 1, 0}, 0.05},
                {"embed-gemma", {0, 20, LINNET_POOLING_MEAN, LINNET_NORMALISE_ON, 1, 1}, 0.05},
                {"embed-mistral", {0, 19, LINNET_POOLING_CLS, LINNET_NORMALISE_OFF, 1, 0}, 0.05}};
  for (const auto& m : models) {
    INFO(m.name);
    const std::string src = std::string("tests/golden/") + m.name;
    const Golden golden = read_golden(m.name);
    const Model model(src, LINNET_F32), small(src, LINNET_I8G128);
    const linnet_embed_desc d = info(model);
    CHECK(d.n_dim == m.says.n_dim);
    CHECK(d.pooling == m.says.pooling);
    CHECK(d.normalise == m.says.normalise);
    CHECK(d.is_embedder == 1);
    CHECK(d.bidirectional == m.says.bidirectional);
    const double exact = max_error(golden.vectors, vectors_of(model, golden.texts, LINNET_F32)),
                 i8 = max_error(golden.vectors, vectors_of(small, golden.texts, LINNET_I8));
    std::printf("%s: of the largest %.2g in f32, %.2g in i8g128 with a KV cache in i8\n", m.name, exact, i8);
    CHECK(exact < 1e-4);
    CHECK(i8 < m.i8);
    // Settings that are other ones give other vectors.
    const uint32_t other = m.says.pooling == LINNET_POOLING_MEAN ? LINNET_POOLING_LAST : LINNET_POOLING_MEAN;
    Model wrong(src, LINNET_F32, 0, false);
    set_key(wrong, "linnet.spec.pooling", other);
    wrong.open(0);
    CHECK(max_error(golden.vectors, vectors_of(wrong, golden.texts, LINNET_F32)) > 1e-2);
  }
}

TEST_CASE("attention both ways: a row sees half a window to each side, and all of its text elsewhere") {
  const Golden golden = read_golden("embed-gemma");
  for (const auto& [key, value] :
       {std::pair{"linnet.spec.window", 9u}, std::pair{"linnet.spec.window", 11u}, std::pair{"linnet.spec.bidirectional", 0u}}) {
    INFO(key << " " << value);
    Model wrong("tests/golden/embed-gemma", LINNET_F32, 0, false);
    set_key(wrong, key, value);
    wrong.open(0);
    CHECK(max_error(golden.vectors, vectors_of(wrong, golden.texts, LINNET_F32)) > 1e-3);
  }
  const Model model("tests/golden/embed-gemma", LINNET_F32);
  linnet_error err{};
  // A text is one pass: n_chunk is as large as the context unless it is said, and what is longer is refused.
  const Session whole(model, params(LINNET_F32, 1, 0, 1, 100));
  linnet_session_params p{.size = sizeof p};
  REQUIRE(linnet_session_info(whole.s, &p, nullptr) == LINNET_OK);
  CHECK(p.n_chunk == 100);
  const Session s(model, several(params(LINNET_F32, 1, 40, 1, 64), 3));
  Row out(20);
  linnet_rows row = row_of(golden.texts[3], 0);
  CHECK(linnet_embed(s.s, &row, 1, nullptr, out.data(), out.size(), &err) == LINNET_CONTEXT_FULL);
  CHECK(std::strstr(err.text, "60 tokens is more than n_chunk = 40"));
  // Texts that do not fit one pass together go in two; 33 + 5 + 1 fit.
  const auto got = embed(s, {golden.texts[2], golden.texts[2], golden.texts[1]}, how());
  CHECK(same_bytes(got[0], got[1]));
  CHECK(max_error({golden.vectors[2], golden.vectors[1]}, {got[0], got[2]}) < 1e-4);
  // Nothing else is to be had of it.
  CHECK(linnet_prefill(s.s, 0, golden.texts[1].data(), 5, &err) == LINNET_UNSUPPORTED);
  CHECK(std::strstr(err.text, "bidirectional"));
  for (auto [when, kv] : {std::pair{LINNET_FULL_DROP_OLDEST, LINNET_I8}, std::pair{LINNET_FULL_STOP, LINNET_KIVI4}}) {
    auto bad = params(kv, 1, 0, 1, 64);
    bad.when_full = when;
    linnet_need need{.size = sizeof need};
    CHECK(linnet_session_need(model.m, &bad, &need, &err) == LINNET_UNSUPPORTED);
    CHECK(std::strstr(err.text, "bidirectional"));
  }
  const Model headless("tests/golden/embed-mistral", LINNET_F32);
  const Session h(headless, params(LINNET_F32, 1, 0, 1, 64));
  CHECK(linnet_prefill(h.s, 0, golden.texts[1].data(), 5, &err) == LINNET_UNSUPPORTED);
  CHECK(std::strstr(err.text, "LM head"));
}

TEST_CASE("the same bytes over ISA, threads, chunks and company") {
  const struct {
    const char* name;
    linnet_format weights;
    uint32_t kv;
  } runs[] = {
      {"llama", LINNET_I8G128, LINNET_I8},       {"qwen3", LINNET_F32, LINNET_F32},         {"qwen2-window", LINNET_I8G64, LINNET_I8},
      {"gemma3", LINNET_I8G32, LINNET_F16},      {"lfm2", LINNET_I8G128, LINNET_I8},        {"qwen3-moe", LINNET_I8G128, LINNET_I8},
      {"mistral", LINNET_I4G32, LINNET_I8},      {"granite4-h", LINNET_I8G128, LINNET_I8},  {"deepseek-v2", LINNET_I8G128, LINNET_I8},
      {"llama", LINNET_I8G128, LINNET_KIVI4},    {"embed-gemma", LINNET_I8G128, LINNET_I8}, {"embed-gemma", LINNET_F32, LINNET_F16},
      {"embed-mistral", LINNET_I8G64, LINNET_I8}};
  size_t compared = 0;
  for (const auto& r : runs) {
    const std::string src = std::string("tests/golden/") + r.name;
    const Model oracle(src, r.weights, LINNET_ISA_SCALAR);
    std::vector<Tokens> texts;
    for (const uint32_t n : {1u, 33u, 90u, 5u, 61u}) texts.push_back(random_tokens(n, oracle.desc.n_vocab, n));
    for (const uint32_t pooling : {LINNET_POOLING_MEAN, LINNET_POOLING_LAST, LINNET_POOLING_CLS}) {
      std::vector<Row> want;
      const Session alone(oracle, params(r.kv, 1, 128, 1, 128));
      for (const Tokens& t : texts) want.push_back(embed(alone, t, how(pooling)));
      const std::vector<linnet_isa> here = tiers();
      for (const linnet_isa isa : here) {
        if (kSlow && isa != here.back()) continue;
        const Model model(src, r.weights, isa);
        for (const uint32_t threads : {1u, 3u})
          for (const uint32_t chunk : {7u, 64u, 128u}) {
            if (kSlow && chunk == 7) continue;
            if (chunk < 90 && info(model).bidirectional) continue;  // a text is a pass
            Session s(model, several(params(r.kv, threads, chunk, 1, 128), 6));
            const auto got = embed(s, texts, how(pooling), 1);
            for (size_t i = 0; i < texts.size(); ++i) {
              INFO(r.name << " pooling " << pooling << " isa " << linnet_isa_name(isa) << " threads " << threads << " chunk " << chunk
                          << " text " << i);
              REQUIRE(same_bytes(got[i], want[i]));
              ++compared;
            }
          }
      }
    }
  }
  std::printf("%zu vectors compared byte for byte\n", compared);
}

TEST_CASE("other sequences of the session go on as if nothing had been embedded") {
  for (const char* name : {"llama", "qwen2-window", "lfm2"}) {
    INFO(name);
    const Model model(std::string("tests/golden/") + name, LINNET_I8G128);
    const Tokens prompt = random_tokens(30, model.desc.n_vocab, 1), text = random_tokens(70, model.desc.n_vocab, 2);
    const auto p = several(params(0, 1, 32, 1, 128), 3);
    Session with(model, p), without(model, p);
    with.prefill(prompt);
    without.prefill(prompt);
    const Row vector = embed(with, std::vector<Tokens>{text, prompt}, how(), 1)[0];
    CHECK(same_bytes(with.logits(), without.logits()));
    for (int i = 0; i < 20; ++i) {
      REQUIRE(with.decode() == without.decode());
      REQUIRE(same_bytes(embed(with, std::vector<Tokens>{text}, how(), 2)[0], vector));
      REQUIRE(same_bytes(with.logits(), without.logits()));
    }
    // A sequence that embedded is as a new one.
    const linnet_rows row = row_of(prompt, 1);
    linnet_error err{};
    check(linnet_prefill_batch(with.s, &row, 1, &err), err);
    const float* got = nullptr;
    size_t n = 0;
    REQUIRE(linnet_logits(with.s, 1, 0, &got, &n, nullptr) == LINNET_OK);
    Session again(model, p);
    again.prefill(prompt);
    CHECK(same_bytes(Row(got, got + n), again.logits()));
  }
}

TEST_CASE("what is refused, by name, and leaves all as it was") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const uint32_t d = info(model).n_dim;
  CHECK(d == model.desc.d_model);
  CHECK(info(model).pooling == LINNET_POOLING_LAST);
  CHECK(info(model).normalise == LINNET_NORMALISE_ON);
  CHECK(info(model).is_embedder == 0);
  CHECK(info(model).bidirectional == 0);
  Session s(model, several(params(0, 1, 16, 1, 64), 3));
  const Tokens text = random_tokens(20, model.desc.n_vocab, 5), longer = random_tokens(65, model.desc.n_vocab, 6), none;
  Tokens outside = text;
  outside[7] = static_cast<int32_t>(model.desc.n_vocab);
  s.prefill(text);
  const Row before = s.logits();
  const auto refused = [&](std::vector<linnet_rows> rows, linnet_embed_params p, size_t cap, linnet_status want, const char* says) {
    Row out(3 * d, 42.0f);
    linnet_error err{};
    const linnet_rows some{};
    const linnet_status got =
        linnet_embed(s.s, rows.empty() ? &some : rows.data(), static_cast<uint32_t>(rows.size()), &p, out.data(), cap, &err);
    INFO(err.text);
    CHECK(got == want);
    CHECK(std::strstr(err.text, says));
    for (const float v : out) REQUIRE(v == 42.0f);
    CHECK(same_bytes(s.logits(), before));
    CHECK(s.length() == text.size());
  };
  const auto seq = [](const Tokens& t, uint32_t i) { return row_of(t, i); };
  refused({seq(text, 0)}, how(), d, LINNET_BAD_STATE, "sequence 0 has 20 tokens");
  refused({seq(text, 3)}, how(), d, LINNET_BAD_ARG, "seq is 3");
  refused({seq(text, 1), seq(text, 1)}, how(), 2 * d, LINNET_BAD_ARG, "named twice");
  refused({seq(none, 1)}, how(), d, LINNET_BAD_ARG, "no tokens");
  refused({seq(longer, 1)}, how(), d, LINNET_CONTEXT_FULL, "a text of 65 tokens does not fit the context of 64");
  refused({seq(outside, 1)}, how(), d, LINNET_BAD_ARG, "at 7 is outside");
  refused({seq(text, 1), seq(text, 2)}, how(), 2 * d - 1, LINNET_TOO_SMALL, "2 vectors of");
  refused({seq(text, 1)}, how(4), d, LINNET_BAD_ARG, "pooling is 4");
  refused({seq(text, 1)}, how(0, 3), d, LINNET_BAD_ARG, "normalise is 3");
  refused({seq(text, 1)}, how(0, 0, d + 1), d, LINNET_BAD_ARG, "n_dim is");
  refused({}, how(), d, LINNET_BAD_ARG, "n_rows is 0");
  linnet_error err{};
  linnet_rows row = row_of(text, 1);
  CHECK(linnet_embed(s.s, &row, 1, nullptr, nullptr, d, &err) == LINNET_BAD_ARG);
  CHECK(linnet_embed(nullptr, &row, 1, nullptr, nullptr, d, &err) == LINNET_BAD_ARG);
  CHECK(linnet_embed_info(nullptr, nullptr, &err) == LINNET_BAD_ARG);
  // A pool that other sequences have filled.
  auto p = several(params(0, 1, 16, 1, 64), 2);
  p.n_pool = 64;
  Session tight(model, p);
  tight.prefill(Tokens(longer.begin(), longer.begin() + 60));
  Row out(d);
  row = row_of(longer, 1);
  row.n_tokens = 60;
  CHECK(linnet_embed(tight.s, &row, 1, nullptr, out.data(), d, &err) == LINNET_CONTEXT_FULL);
  CHECK(std::strstr(err.text, "the pool of 64 positions"));
}

TEST_CASE("cancel: nothing is written, and the next call has the bytes that it would have had") {
  for (const char* name : {"llama", "lfm2"}) {
    const Model model(std::string("tests/golden/") + name, LINNET_I8G128);
    Session s(model, several(params(0, 1, 16, 1, 256), 2));
    const Tokens text = random_tokens(200, model.desc.n_vocab, 9);
    const Row want = embed(s, text, how());
    Row out(want.size(), 7.0f);
    const linnet_rows row = row_of(text, 0);
    linnet_error err{};
    linnet_cancel(s.s);
    CHECK(linnet_embed(s.s, &row, 1, nullptr, out.data(), out.size(), &err) == LINNET_CANCELLED);
    for (const float v : out) REQUIRE(v == 7.0f);
    CHECK(s.length() == 0);
    CHECK(same_bytes(embed(s, text, how()), want));
    // Within a later pass: from the app's threads.
    struct Hook {
      linnet_session* s = nullptr;
      uint32_t calls = 0, at = 0;
    } hook;
    auto p = several(params(0, 2, 16, 1, 256), 2);
    p.parallel_for = [](void* user, uint32_t, linnet_share_fn share, void* arg) {
      Hook& h = *static_cast<Hook*>(user);
      if (++h.calls == h.at) linnet_cancel(h.s);
      share(arg, 0, 1);
    };
    p.parallel_for_user = &hook;
    const Session hooked(model, p);
    hook.s = hooked.s;
    for (uint32_t at = 1; at <= 13; ++at) {
      hook.calls = 0, hook.at = at;
      REQUIRE(linnet_embed(hooked.s, &row, 1, nullptr, out.data(), out.size(), &err) == LINNET_CANCELLED);
      REQUIRE(hook.calls == at);
      for (const float v : out) REQUIRE(v == 7.0f);
      hook.at = 0;
      REQUIRE(same_bytes(embed(hooked, text, how()), want));
    }
  }
}

TEST_CASE("rows that are not finite are no vector") {
  Model model("tests/golden/llama", LINNET_F32, 0, false);
  model.open(0);
  Session s(model, params(LINNET_F32, 1, 16, 1, 64));
  const Tokens text = random_tokens(20, model.desc.n_vocab, 5);
  const Row want = embed(s, text, how());
  const float* norm = model.m->output_norm.weight;
  float& first = const_cast<float*>(norm)[1];
  const float was = first;
  first = INFINITY;
  Row out(want.size(), 7.0f);
  const linnet_rows row = row_of(text, 0);
  linnet_error err{};
  CHECK(linnet_embed(s.s, &row, 1, nullptr, out.data(), out.size(), &err) == LINNET_NOT_FINITE);
  for (const float v : out) REQUIRE(v == 7.0f);
  first = was;
  CHECK(same_bytes(embed(s, text, how()), want));
}
