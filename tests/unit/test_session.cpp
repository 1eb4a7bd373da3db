// Sessions as an app uses them: sampling, generate and its stops, cancel, errors that leave the session as it was.
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "kernels_cpu/registry.h"
#include "runtime/sampling/sampling.h"
#include "runtime/session.h"
#include "tests/models.h"

using namespace test;

namespace {

const Tokens kPrompt = {1, 5, 9, 13, 17, 21};

void set(const Session& s, const linnet_sampling& p) {
  linnet_error err{};
  check(linnet_sampling_set(s.s, 0, &p, &err), err);
}

struct Collected {
  Tokens tokens;
  std::string text;
  int stop_after = -1;
  bool whole = true;  // every piece is whole characters
};
int collect(void* user, int32_t token, const char* utf8, size_t n) {
  Collected& c = *static_cast<Collected*>(user);
  if (token >= 0) c.tokens.push_back(token);
  if (n) {
    const unsigned char first = static_cast<unsigned char>(utf8[0]);
    if (first >= 0x80 && first < 0xC0) c.whole = false;
    c.text.append(utf8, n);
  }
  return c.stop_after >= 0 && static_cast<int>(c.tokens.size()) >= c.stop_after;
}

linnet_stop generate(const Session& s, uint32_t max, Collected* c, const std::vector<const char*>& stops = {}, bool ignore_eos = true) {
  linnet_generate_params g{};
  g.size = sizeof g;
  g.max_tokens = max;
  g.ignore_eos = ignore_eos;
  g.stop = stops.data();
  g.n_stop = static_cast<uint32_t>(stops.size());
  linnet_generated end{.size = sizeof end};
  linnet_error err{};
  check(linnet_generate(s.s, 0, &g, collect, c, &end, &err), err);
  return static_cast<linnet_stop>(end.why);
}

// The sampler alone, over logits of our own.
struct Bare {
  linnet::Kernels kernels;
  std::vector<uint64_t> order;
  Row scratch;
  linnet::Sampler s{};
  explicit Bare(size_t n, const linnet_sampling& p) : order(n), scratch(n) {
    linnet_error err{};
    check(linnet::kernels_resolve(0, 0, &kernels, &err), err);
    check(linnet::sampling_check(&p, &s.params, &err), err);
    s.exp_row = kernels.t.exp_row;
    s.find_above = kernels.t.find_above;
    s.order = order.data();
    s.logits = scratch.data();
  }
  int32_t draw(const Row& logits, const Tokens& history = {}) {
    return linnet::sample(s, logits.data(), static_cast<uint32_t>(logits.size()), history.data(), history.size());
  }
};

}  // namespace

TEST_CASE("greedy takes the largest logit, ties to the lowest id") {
  Bare b(5, sampling(0, 0));
  CHECK(b.draw({1, 7, 3, 7, 2}) == 1);
  CHECK(b.draw({-5, -9, -1, -1, -1}) == 2);
}

TEST_CASE("draws follow the probabilities that top-k, top-p and min-p leave") {
  const Row logits = {std::log(0.4f), std::log(0.1f), std::log(0.3f), std::log(0.05f), std::log(0.15f)};
  const struct {
    uint32_t k;
    float p, min_p;
    std::vector<double> want;
  } cases[] = {{0, 1, 0, {0.4, 0.1, 0.3, 0.05, 0.15}},
               {2, 1, 0, {0.4 / 0.7, 0, 0.3 / 0.7, 0, 0}},
               {0, 0.6f, 0, {0.4 / 0.7, 0, 0.3 / 0.7, 0, 0}},
               {0, 1, 0.3f, {0.4 / 0.85, 0, 0.3 / 0.85, 0, 0.15 / 0.85}},
               {4, 0.99f, 0.2f, {0.4 / 0.95, 0.1 / 0.95, 0.3 / 0.95, 0, 0.15 / 0.95}},
               {0, 0, 0, {1, 0, 0, 0, 0}}};  // top_p 0: the likeliest alone
  for (const auto& c : cases) {
    auto p = sampling(1, 7);
    p.top_k = c.k;
    p.top_p = c.p;
    p.min_p = c.min_p;
    Bare b(5, p);
    const int n = 40000;
    std::vector<int> count(5);
    for (int i = 0; i < n; ++i) ++count[static_cast<size_t>(b.draw(logits))];
    for (size_t i = 0; i < 5; ++i) {
      INFO("k " << c.k << " p " << c.p << " min_p " << c.min_p << " token " << i << " " << count[i]);
      if (c.want[i] == 0)
        CHECK(count[i] == 0);
      else
        CHECK(std::fabs(count[i] / double{n} - c.want[i]) < 0.012);  // 5 standard deviations of the widest
    }
  }
}

TEST_CASE("the generator is the documented one") {
  // splitmix64 of seed 0: the published first outputs.
  auto p = sampling(1, 0);
  Bare b(1024, p);
  const Row flat(1024, 0.0f);
  const uint64_t published[] = {0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u, 0x06C45D188009454Fu};
  for (const uint64_t u : published) CHECK(b.draw(flat) == static_cast<int32_t>(u >> 54));  // 1024 equal candidates: the top ten bits
}

TEST_CASE("penalties push seen tokens down") {
  auto p = sampling(0, 0);
  p.repeat_penalty = 2;
  CHECK(Bare(3, p).draw({4, 3, -1}, {0}) == 1);
  CHECK(Bare(3, p).draw({-1, -1.5f, -9}, {0}) == 1);  // negative logits are multiplied
  p = sampling(0, 0);
  p.frequency_penalty = 1;
  CHECK(Bare(3, p).draw({4, 3, 1}, {0}) == 0);  // 3 against 3: the lower id
  CHECK(Bare(3, p).draw({4, 3, 1}, {0, 0}) == 1);
  p = sampling(0, 0);
  p.presence_penalty = 2;
  p.penalty_last_n = 1;
  CHECK(Bare(3, p).draw({4, 3, 1}, {0, 2}) == 0);  // token 0 is further back than one
}

TEST_CASE("parameters out of range are refused by name and change nothing") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Session s(model, params());
  linnet_error err{};
  auto bad = sampling(-1, 0);
  CHECK(linnet_sampling_set(s.s, 0, &bad, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("temperature") != std::string::npos);
  bad = sampling(NAN, 0);
  CHECK(linnet_sampling_set(s.s, 0, &bad, &err) == LINNET_BAD_ARG);
  auto p = params(99);
  linnet_need need{.size = sizeof need};
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_UNSUPPORTED);
  p = params(0, 1000);
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  int32_t token = 0;
  const float* logits = nullptr;
  size_t n = 0;
  CHECK(linnet_decode(s.s, 0, &token, &err) == LINNET_BAD_STATE);
  CHECK(linnet_logits(s.s, 0, 0, &logits, &n, nullptr) == LINNET_BAD_STATE);
  CHECK(linnet_prefill(s.s, 1, kPrompt.data(), 1, &err) == LINNET_BAD_ARG);
  const int32_t outside[] = {1, 100000};
  CHECK(linnet_prefill(s.s, 0, outside, 2, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("100000") != std::string::npos);
  CHECK(s.length() == 0);
  CHECK(linnet_prefill(nullptr, 0, kPrompt.data(), 1, &err) == LINNET_BAD_ARG);
  const char *prefix = "before", *suffix = "before";
  CHECK(linnet_chat_format(model.m, LINNET_ROLE_USER, &prefix, &suffix, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("no chat format") != std::string::npos);
  CHECK(linnet_chat_format(model.m, LINNET_ROLE_NONE, &prefix, &suffix, &err) == LINNET_BAD_ARG);
  CHECK(linnet_chat_format(model.m, LINNET_ROLE_USER, nullptr, &suffix, &err) == LINNET_BAD_ARG);
  CHECK(linnet_chat_format(nullptr, LINNET_ROLE_USER, &prefix, &suffix, &err) == LINNET_BAD_ARG);
  CHECK(std::string(prefix) + suffix == "beforebefore");
  CHECK(linnet_chat_format(model.m, static_cast<linnet_role>(LINNET_ROLE_TOOL + 1), &prefix, &suffix, &err) == LINNET_BAD_ARG);
  CHECK(linnet_role_name(LINNET_ROLE_NONE) == nullptr);
  CHECK(linnet_role_name(static_cast<linnet_role>(LINNET_ROLE_TOOL + 1)) == nullptr);
}

TEST_CASE("params of an older app are shorter structs") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  auto p = params(LINNET_F32, 77, 0, 0, 64);
  p.size = offsetof(linnet_session_params, n_threads);  // the fields from n_threads on do not exist there
  linnet_need need{.size = sizeof need}, same{.size = sizeof same};
  linnet_error err{};
  check(linnet_session_need(model.m, &p, &need, &err), err);
  const auto q = params(LINNET_F32, 1, 0, 0, 64);
  check(linnet_session_need(model.m, &q, &same, &err), err);
  CHECK(need.bytes == same.bytes);
}

TEST_CASE("a choice of the session's, its default by name too, stands before the profile's") {
  Model model("tests/golden/llama", LINNET_I8G128, 0, false);
  linnet_profile profile{.size = sizeof profile};
  profile.when_full = LINNET_FULL_SINKS;
  profile.n_keep = 7;
  profile.wait = LINNET_WAIT_SLEEP;
  model.open(profile);
  const auto of = [&](uint32_t when_full, uint32_t n_keep, uint32_t wait) {
    auto p = params(LINNET_I8, 2, 16, 1, 64);
    p.spin = 0;
    p.when_full = when_full;
    p.n_keep = n_keep;
    p.wait = wait;
    return Session(model, p).s->params;
  };
  auto p = of(0, 0, 0);
  CHECK((p.when_full == LINNET_FULL_SINKS && p.n_keep == 7 && p.wait == LINNET_WAIT_SLEEP && p.spin == 1));
  p = of(0, 3, LINNET_WAIT_SPIN);
  CHECK((p.when_full == LINNET_FULL_SINKS && p.n_keep == 3 && p.wait == LINNET_WAIT_SPIN && p.spin == 20000));
  p = of(LINNET_FULL_STOP, 0, 0);
  CHECK((p.when_full == LINNET_FULL_STOP && p.n_keep == 0));
  p = of(LINNET_FULL_DROP_OLDEST, 0, 0);  // n_keep goes with the way that the profile names
  CHECK((p.when_full == LINNET_FULL_DROP_OLDEST && p.n_keep == 0));

  Model keeps("tests/golden/llama", LINNET_I8G128, 0, false);
  profile.when_full = LINNET_FULL_DROP_OLDEST;
  keeps.open(profile);
  auto q = params(LINNET_I8, 1, 16, 1, 64);
  CHECK(Session(keeps, q).s->params.n_keep == 7);
  q.n_keep = static_cast<uint32_t>(LINNET_KEEP_NONE);
  CHECK(Session(keeps, q).s->params.n_keep == 0);
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  q.when_full = LINNET_FULL_SINKS;
  CHECK(linnet_session_need(keeps.m, &q, &need, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("LINNET_KEEP_NONE") != std::string::npos);
  for (uint32_t* field : {&q.when_full, &q.wait, &q.threads}) {
    q = params();
    *field = 99;
    CHECK(linnet_session_need(keeps.m, &q, &need, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find("99") != std::string::npos);
  }
}

TEST_CASE("sampling belongs to a sequence; forks and states take it along") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  auto p = params(LINNET_I8, 1, 16, 1, 200);
  p.n_sequences = 4;
  const Session s(model, p);
  linnet_error err{};
  const auto draws = [&](uint32_t seq, int n) {
    Tokens out;
    for (int i = 0; i < n; ++i) {
      int32_t token = -1;
      check(linnet_decode(s.s, seq, &token, &err), err);
      out.push_back(token);
    }
    return out;
  };
  const auto anew = [&](uint32_t seq, const linnet_sampling* drawing) {
    check(linnet_truncate(s.s, seq, 0, &err), err);
    check(linnet_prefill(s.s, seq, kPrompt.data(), kPrompt.size(), &err), err);
    check(linnet_sampling_set(s.s, seq, drawing, &err), err);
  };
  const auto get = [&](uint32_t seq) {
    linnet_sampling out{.size = sizeof out};
    check(linnet_sampling_get(s.s, seq, &out, &err), err);
    return out;
  };
  const auto warm = sampling(1, 5), other = sampling(1, 6);
  anew(0, &warm);
  const Tokens first = draws(0, 12);
  anew(1, &other);
  const Tokens second = draws(1, 12);
  CHECK(first != second);
  anew(2, nullptr);
  const Tokens greedy = draws(2, 12);
  anew(0, &warm), anew(1, &other), anew(2, nullptr);  // in turns: none draws from another's generator
  Tokens turns[3];
  for (int i = 0; i < 12; ++i)
    for (const uint32_t seq : {2u, 0u, 1u}) turns[seq].push_back(draws(seq, 1)[0]);
  CHECK((turns[0] == first && turns[1] == second && turns[2] == greedy));
  CHECK((get(0).seed == 5 && get(1).seed == 6 && get(2).temperature == 0));

  anew(0, &warm), anew(3, &other);
  const Tokens begun = draws(0, 4);
  check(linnet_fork(s.s, 0, 3, kPrompt.size() + 4, &err), err);
  CHECK((get(3).seed == 5 && get(3).temperature == 1));
  const Tokens rest(first.begin() + 4, first.end());
  CHECK(draws(3, 8) == rest);
  size_t n = 0;
  check(linnet_state_need(s.s, 0, &n, &err), err);
  std::vector<uint8_t> state(n);
  check(linnet_state_save(s.s, 0, state.data(), n, &n, &err), err);
  anew(1, nullptr);
  check(linnet_state_load(s.s, 1, state.data(), n, &err), err);
  CHECK((get(1).seed == 5 && get(1).temperature == 1 && get(2).seed == 0));
  CHECK(draws(1, 8) == rest);
  CHECK(draws(0, 8) == rest);
  // Setting begins the generator's numbers again.
  check(linnet_truncate(s.s, 0, 0, &err), err);
  check(linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err), err);
  CHECK(draws(0, 12) != first);
  anew(0, &warm);
  CHECK(draws(0, 12) == first);
  CHECK(linnet_sampling_set(s.s, 4, &warm, &err) == LINNET_BAD_ARG);
  linnet_sampling out{.size = sizeof out};
  CHECK(linnet_sampling_get(s.s, 4, &out, &err) == LINNET_BAD_ARG);
}

TEST_CASE("Mirostat's state goes with the sequence, as its generator does; biases and breakers too") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  auto p = params(LINNET_I8, 1, 16, 1, 200);
  p.n_sequences = 2;
  const Session s(model, p);
  linnet_error err{};
  const auto draws = [&](uint32_t seq, int n) {
    Tokens out(static_cast<size_t>(n));
    for (int32_t& token : out) check(linnet_decode(s.s, seq, &token, &err), err);
    return out;
  };
  auto drawing = sampling(1, 5);
  drawing.mirostat = 2;
  drawing.mirostat_tau = 1;
  drawing.mirostat_eta = 0.5f;
  drawing.n_logit_bias = 1;
  drawing.bias_tokens[0] = 3;
  drawing.biases[0] = -INFINITY;
  std::memcpy(drawing.dry_breakers, "end\0", 5);
  const auto anew = [&] {
    check(linnet_truncate(s.s, 0, 0, &err), err);
    check(linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err), err);
    check(linnet_sampling_set(s.s, 0, &drawing, &err), err);
  };
  anew();
  const Tokens whole = draws(0, 30), rest(whole.begin() + 10, whole.end());
  CHECK(std::find(whole.begin(), whole.end(), 3) == whole.end());
  anew();
  draws(0, 10);
  check(linnet_fork(s.s, 0, 1, kPrompt.size() + 10, &err), err);
  size_t n = 0;
  check(linnet_state_need(s.s, 0, &n, &err), err);
  std::vector<uint8_t> state(n), again(n);
  check(linnet_state_save(s.s, 0, state.data(), n, &n, &err), err);
  CHECK(draws(1, 20) == rest);
  check(linnet_state_load(s.s, 1, state.data(), n, &err), err);
  linnet_sampling got{.size = sizeof got};
  check(linnet_sampling_get(s.s, 1, &got, &err), err);
  CHECK((got.mirostat == 2 && got.n_logit_bias == 1 && std::memcmp(got.dry_breakers, drawing.dry_breakers, sizeof got.dry_breakers) == 0));
  check(linnet_state_save(s.s, 1, again.data(), n, &n, &err), err);
  CHECK(state == again);
  CHECK(draws(1, 20) == rest);
  CHECK(draws(0, 20) == rest);
  drawing.bias_tokens[0] = -1;
  CHECK(linnet_sampling_set(s.s, 0, &drawing, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("bias_tokens[0]") != std::string::npos);
}

TEST_CASE("log probabilities are those of the row that a token was drawn from") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  Session s(model, params());
  linnet_error err{};
  float value = 1, values[5];
  int32_t tokens[5];
  CHECK(linnet_logprobs(s.s, 0, 0, 0, &value, 0, nullptr, nullptr, &err) == LINNET_BAD_STATE);
  s.prefill(kPrompt);
  linnet_generate_params g{.size = sizeof g, .max_tokens = 8, .ignore_eos = 1};
  check(linnet_generate_begin(s.s, 0, &g, &err), err);
  linnet_generated piece{.size = sizeof piece};
  for (int i = 0; i < 8; ++i) {  // greedy
    check(linnet_generate_next(s.s, 0, &piece, &err), err);
    check(linnet_logprobs(s.s, 0, 0, piece.token, &value, 5, tokens, values, &err), err);
    CHECK((tokens[0] == piece.token && values[0] == value && value <= 0 && values[4] <= values[3] && values[1] <= values[0]));
  }
  CHECK(linnet_logprobs(s.s, 0, 0, -1, &value, 0, nullptr, nullptr, &err) == LINNET_BAD_ARG);
  CHECK(linnet_logprobs(s.s, 0, 0, 0, nullptr, 1025, tokens, values, &err) == LINNET_BAD_ARG);
}

TEST_CASE("fields of sampling mean what they say; init fills in the defaults, as far as the struct goes") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const Session s(model, params());
  linnet_error err{};
  const auto get = [&] {
    linnet_sampling out{.size = sizeof out};
    check(linnet_sampling_get(s.s, 0, &out, &err), err);
    return out;
  };
  const auto is_default = [](const linnet_sampling& p) {
    return p.temperature == 0 && p.top_k == 0 && p.top_p == 1 && p.min_p == 0 && p.repeat_penalty == 1 && p.presence_penalty == 0 &&
           p.frequency_penalty == 0 && p.penalty_last_n == 64 && p.seed == 0;
  };
  CHECK(is_default(get()));
  linnet_sampling zero{.size = sizeof zero};
  CHECK(linnet_sampling_set(s.s, 0, &zero, &err) == LINNET_BAD_ARG);
  CHECK(std::string(err.text).find("repeat_penalty") != std::string::npos);
  zero.repeat_penalty = 1;
  check(linnet_sampling_set(s.s, 0, &zero, &err), err);
  CHECK((get().top_p == 0 && get().penalty_last_n == 0));
  // top_p 0 is the likeliest token whatever the temperature.
  Session likeliest(model, params()), greedy(model, params());
  zero.temperature = 100;
  set(likeliest, zero);
  likeliest.prefill(kPrompt), greedy.prefill(kPrompt);
  for (int i = 0; i < 20; ++i) CHECK(likeliest.decode() == greedy.decode());

  check(linnet_sampling_set(s.s, 0, nullptr, &err), err);
  CHECK(is_default(get()));
  struct Larger {
    linnet_sampling p;
    uint8_t more[16];
  } larger;
  for (uint32_t size = 4; size <= sizeof larger; size += 4) {
    INFO("size " << size);
    std::memset(&larger, 0xA5, sizeof larger);
    larger.p.size = size;
    check(linnet_sampling_init(&larger.p, &err), err);
    CHECK(larger.p.size == size);
    linnet_sampling want = sampling();
    std::memcpy(&want, &larger, std::min<size_t>(size, sizeof want));
    want.size = sizeof want;
    CHECK(is_default(want));
    for (size_t i = size; i < sizeof larger; ++i) CHECK(reinterpret_cast<uint8_t*>(&larger)[i] == 0xA5);
    set(s, larger.p);  // also what lies beyond what is known
    CHECK(is_default(get()));
  }
  for (const size_t end : {offsetof(linnet_sampling, seed), offsetof(linnet_sampling, top_p)}) {
    auto older = sampling(0.5f, 77);
    older.top_k = 9;
    older.top_p = 0.25f;
    older.size = static_cast<uint32_t>(end);
    set(s, older);
    CHECK((get().temperature == 0.5f && get().top_k == 9 && get().seed == 0));
    CHECK((get().top_p == (end > offsetof(linnet_sampling, top_p) ? 0.25f : 1) && get().repeat_penalty == 1));
  }
}

TEST_CASE("the same seed gives the same tokens on every tier") {
  std::set<Tokens> all;
  for (const linnet_isa isa : tiers())
    for (const uint32_t threads : {1u, 2u}) {
      const Model model("tests/golden/smollm2", LINNET_I8G64, isa);
      Session s(model, params(LINNET_I8, threads));
      set(s, sampling(1.0f, 99));
      s.prefill(kPrompt);
      Collected c;
      CHECK(generate(s, 60, &c) == LINNET_STOP_LENGTH);
      all.insert(c.tokens);
    }
  CHECK(all.size() == 1);
}

TEST_CASE("generate stops for the reason it names") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  Session s(model, params(LINNET_I8, 1, 0, 0, 40));
  s.prefill(kPrompt);
  Collected c;
  CHECK(generate(s, 4, &c) == LINNET_STOP_LENGTH);
  CHECK(c.tokens.size() == 4);
  CHECK(s.length() == kPrompt.size() + 4);
  c.stop_after = 7;
  CHECK(generate(s, 20, &c) == LINNET_STOP_CALLBACK);
  CHECK(c.tokens.size() == 7);
  c.stop_after = -1;
  CHECK(generate(s, 0, &c) == LINNET_STOP_CONTEXT);
  CHECK(s.length() == 40);
  int32_t token = -1;
  linnet_error err{};
  CHECK(linnet_decode(s.s, 0, &token, &err) == LINNET_CONTEXT_FULL);
  CHECK(linnet_prefill(s.s, 0, kPrompt.data(), 1, &err) == LINNET_CONTEXT_FULL);
  CHECK(s.length() == 40);
}

TEST_CASE("stop strings are held back and cut out") {
  const std::string folder = data_path("models/stories260K");
  if (folder.empty()) return;
  const Model model(folder, LINNET_I8G64);
  Session s(model, params());
  const Tokens prompt = tokenize(model, "Once upon a time");
  s.prefill(prompt);
  Collected all;
  CHECK(generate(s, 60, &all) == LINNET_STOP_LENGTH);
  CHECK(all.text.size() > 100);
  // Every stop of a few characters out of that text ends it right before its first occurrence.
  for (size_t at = 3; at + 6 < all.text.size(); at += 9) {
    const std::string stop = all.text.substr(at, 6);
    REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
    s.prefill(prompt);
    Collected c;
    CHECK(generate(s, 60, &c, {"zzzz", stop.c_str()}) == LINNET_STOP_STRING);
    CHECK(c.text == all.text.substr(0, all.text.find(stop)));
  }
  // A stop that never comes delays nothing for good.
  REQUIRE(linnet_truncate(s.s, 0, 0, nullptr) == LINNET_OK);
  s.prefill(prompt);
  Collected c;
  const std::string tail = all.text.substr(all.text.size() - 4) + "~never~";
  CHECK(generate(s, 60, &c, {tail.c_str()}) == LINNET_STOP_LENGTH);
  CHECK(c.text == all.text);
}

TEST_CASE("pieces are whole characters whatever the tokens are") {
  const std::string folder = data_path("models/stories260K");
  if (folder.empty()) return;
  const Model model(folder, LINNET_I8G64);
  Session s(model, params());
  set(s, sampling(50.0f, 3));  // nearly uniform: byte tokens in any order
  s.prefill(tokenize(model, "x"));
  Collected c;
  generate(s, 400, &c);
  CHECK(c.whole);
  size_t bad = 0;  // the text is valid UTF-8
  for (size_t i = 0; i < c.text.size();) {
    const unsigned char b = static_cast<unsigned char>(c.text[i]);
    const size_t n = b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
    if ((b >= 0x80 && b < 0xC2) || i + n > c.text.size()) ++bad;
    for (size_t j = 1; j < n && i + j < c.text.size(); ++j) bad += (static_cast<unsigned char>(c.text[i + j]) & 0xC0) != 0x80;
    i += n;
  }
  CHECK(bad == 0);
}

TEST_CASE("cancel rolls prefill back; what follows has the same bytes") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  std::mt19937 random(17);
  Tokens tokens;
  for (int i = 0; i < 1500; ++i) tokens.push_back(static_cast<int32_t>(random() % model.desc.n_vocab));
  auto p = params(LINNET_I8, 2, 32, 1, 2000);
  Session s(model, p), plain(model, p);
  s.prefill(kPrompt);
  plain.prefill(kPrompt);
  const Row before = s.logits();
  linnet_cancel(s.s);  // no call is running: it stops the next one
  linnet_error err{};
  CHECK(linnet_prefill(s.s, 0, tokens.data(), tokens.size(), &err) == LINNET_CANCELLED);
  CHECK(s.length() == kPrompt.size());
  CHECK(same_bytes(s.logits(), before));
  int cancelled = 0;
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> go{false};
    const unsigned wait = static_cast<unsigned>(random() % 3000);
    std::thread other([&] {
      while (!go) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      linnet_cancel(s.s);
    });
    go = true;
    const linnet_status status = linnet_prefill(s.s, 0, tokens.data(), tokens.size(), &err);
    other.join();
    if (status == LINNET_CANCELLED) {
      ++cancelled;
      CHECK(s.length() == kPrompt.size());
    } else {
      CHECK(status == LINNET_OK);
      // The cancel came too late and stops the next call; use it up.
      const linnet_status next = linnet_prefill(s.s, 0, kPrompt.data(), 1, &err);
      CHECK((next == LINNET_CANCELLED || next == LINNET_OK));
      REQUIRE(linnet_truncate(s.s, 0, kPrompt.size(), nullptr) == LINNET_OK);
    }
  }
  std::printf("%d of 30 prefills cancelled\n", cancelled);
  CHECK(cancelled > 0);
  s.prefill(tokens);
  plain.prefill(tokens);
  CHECK(same_bytes(s.logits(), plain.logits()));
}

TEST_CASE("an activation that is not finite gives a status and leaves the sequence") {
  const Model model("tests/golden/llama", LINNET_F32);
  Model broken("tests/golden/llama", LINNET_F32, 0, false);
  float* last = reinterpret_cast<float*>(static_cast<char*>(broken.image.data) + broken.image.bytes) - 16 * 40;
  for (int i = 0; i < 16; ++i) last[i] = INFINITY;
  broken.open(0);
  for (const uint32_t kv : {LINNET_F32, LINNET_I8}) {
    Session s(broken, params(kv));
    linnet_error err{};
    CHECK(linnet_prefill(s.s, 0, kPrompt.data(), kPrompt.size(), &err) == LINNET_NOT_FINITE);
    CHECK(s.length() == 0);
  }
}

TEST_CASE("flush-to-zero of the host app changes nothing and stays set") {
  const Model model("tests/golden/llama", LINNET_F32);
  Session s(model, params(LINNET_F32, 2)), other(model, params(LINNET_F32, 1));
  s.prefill(kPrompt);
#if defined(__x86_64__)
  const unsigned before = __builtin_ia32_stmxcsr(), odd = before | 0x8040 | 0x6000;  // FTZ, DAZ, round to zero
  __builtin_ia32_ldmxcsr(odd);
  linnet_error err{};
  const linnet_status status = linnet_prefill(other.s, 0, kPrompt.data(), kPrompt.size(), &err);
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK((after & 0xFFC0) == (odd & 0xFFC0));
  check(status, err);
  CHECK(same_bytes(s.logits(), other.logits()));
#else
  std::printf("skipped: MXCSR is x86's\n");
#endif
}

TEST_CASE("two sessions share a model from two threads") {
  const Model model("tests/golden/qwen2", LINNET_I8G128);
  Tokens results[2];
  std::vector<std::thread> threads;
  for (Tokens& result : results)
    threads.emplace_back([&] {
      auto p = params(LINNET_I8, 2);
      p.threads = LINNET_THREADS_OWN;
      linnet_need need{.size = sizeof need};
      linnet_session* s = nullptr;
      if (linnet_session_need(model.m, &p, &need, nullptr) != LINNET_OK) return;
      Memory memory(need.bytes);
      if (linnet_session_init(&s, memory.p, need.bytes, model.m, &p, nullptr) != LINNET_OK) return;
      if (linnet_prefill(s, 0, kPrompt.data(), kPrompt.size(), nullptr) != LINNET_OK) return;
      for (int i = 0; i < 30; ++i) {
        int32_t token = -1;
        if (linnet_decode(s, 0, &token, nullptr) == LINNET_OK) result.push_back(token);
      }
      linnet_session_fini(s);
    });
  for (auto& t : threads) t.join();
  CHECK(results[0].size() == 30);
  CHECK(results[0] == results[1]);
}

TEST_CASE("the app's own threads: the same bytes, however many it grants") {
  const Model model("tests/golden/mistral", LINNET_I8G128);  // one KV head, whose blocks threads share
  Tokens tokens(1100);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 31 % model.desc.n_vocab);
  Session alone(model, params(LINNET_I8, 1, 64, 1, 1200));
  alone.prefill(tokens);
  Tokens want;
  for (int i = 0; i < 8; ++i) want.push_back(alone.decode());
  const struct {
    uint32_t pool, n;
    uint32_t (*grant)(uint32_t, uint32_t);
  } cases[] = {{4, 4, [](uint32_t, uint32_t n) { return n; }},
               {3, 8, [](uint32_t, uint32_t n) { return n; }},
               {4, 4, [](uint32_t round, uint32_t n) { return round % (n + 1); }}};
  for (const auto& c : cases) {
    AppPool pool(c.pool);
    pool.grant = c.grant;
    auto p = params(LINNET_I8, c.n, 64, 1, 1200);
    p.parallel_for = AppPool::parallel_for;
    p.parallel_for_user = &pool;
    Session s(model, p);
    CHECK(pool.rounds == 0);
    s.prefill(tokens);
    CHECK(pool.rounds >= tokens.size() / 64);
    Tokens got;
    for (int i = 0; i < 8; ++i) got.push_back(s.decode());
    INFO("pool " << c.pool << " n_threads " << c.n);
    CHECK(got == want);
    CHECK(same_bytes(s.logits(), alone.logits()));
  }
  // Shares that do not exist are not run, and what never runs is done by the caller.
  auto p = params(LINNET_I8, 2, 64, 1, 1200);
  p.parallel_for = [](void*, uint32_t n, linnet_share_fn share, void* arg) {
    share(arg, 0, n + 1);
    share(arg, n, n);
    share(arg, 0, 0);
  };
  Session odd(model, p);
  odd.prefill(tokens);
  for (const int32_t token : want) CHECK(odd.decode() == token);
  CHECK(same_bytes(odd.logits(), alone.logits()));
  // Shares one after another on the caller's thread, the last first: the first of them does all.
  p.parallel_for = [](void*, uint32_t n, linnet_share_fn share, void* arg) {
    for (uint32_t i = n; i-- > 0;) share(arg, i, n);
  };
  Session in_turn(model, p);
  in_turn.prefill(tokens);
  for (const int32_t token : want) CHECK(in_turn.decode() == token);
  CHECK(same_bytes(in_turn.logits(), alone.logits()));

  linnet_error err{};
  linnet_need need{.size = sizeof need};
  for (const uint32_t kind : {LINNET_THREADS_OPENMP, LINNET_THREADS_OWN}) {
    p.threads = kind;
    CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
    CHECK(std::strstr(err.text, "parallel_for"));
  }
  p.threads = LINNET_THREADS_APP;
  check(linnet_session_need(model.m, &p, &need, &err), err);
  p.parallel_for = nullptr;
  CHECK(linnet_session_need(model.m, &p, &need, &err) == LINNET_BAD_ARG);
  CHECK(std::strstr(err.text, "parallel_for"));
  // A kind of threads that the profile asks for gives way to the hook.
  linnet_profile profile{};
  profile.size = sizeof profile;
  profile.threads = LINNET_THREADS_OWN;
  const linnet_view file = model.image.view();
  check(linnet_model_need(&file, &profile, &need, &err), err);
  const Memory memory(need.bytes);
  linnet_model* own = nullptr;
  check(linnet_model_init(&own, memory.p, need.bytes, &file, &profile, &err), err);
  p.threads = LINNET_THREADS_DEFAULT;
  p.parallel_for = AppPool::parallel_for;
  check(linnet_session_need(own, &p, &need, &err), err);
  linnet_model_fini(own);
}

TEST_CASE("cancel in the midst of a call for several sequences leaves their logits too") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  struct Hook {
    linnet_session* s = nullptr;
    int rounds = 0, cancel_at = -1;
    static void run(void* user, uint32_t, linnet_share_fn share, void* arg) {
      Hook& h = *static_cast<Hook*>(user);
      if (h.rounds++ == h.cancel_at) linnet_cancel(h.s);
      share(arg, 0, 1);
    }
  } hook;
  auto p = params(LINNET_I8, 2, 4, 1, 100);
  p.n_sequences = 3;
  p.parallel_for = Hook::run;
  p.parallel_for_user = &hook;
  Session s(model, p);
  hook.s = s.s;
  const auto logits = [&] {
    std::vector<Row> out;
    for (uint32_t seq = 0; seq < 3; ++seq) {
      const float* row = nullptr;
      size_t n = 0;
      REQUIRE(linnet_logits(s.s, seq, 0, &row, &n, nullptr) == LINNET_OK);
      out.emplace_back(row, row + n);
    }
    return out;
  };
  const linnet_rows rows[] = {
      {sizeof *rows, 2, 3, kPrompt.data()}, {sizeof *rows, 0, 6, kPrompt.data()}, {sizeof *rows, 1, 1, kPrompt.data()}};
  linnet_error err{};
  check(linnet_prefill_batch(s.s, rows, 3, &err), err);
  const std::vector<Row> before = logits();
  hook.rounds = 0;
  check(linnet_prefill_batch(s.s, rows, 3, &err), err);
  const int whole = hook.rounds;
  const std::vector<Row> after = logits();
  CHECK(whole >= 3);
  CHECK(before != after);
  for (uint32_t seq = 0; seq < 3; ++seq) {  // as each of them alone
    Session alone(model, params(LINNET_I8, 1, 4, 1, 100));
    for (const linnet_rows& r : rows)
      for (int i = 0; r.seq == seq && i < 2; ++i) alone.prefill(Tokens(r.tokens, r.tokens + r.n_tokens));
    CHECK(same_bytes(alone.logits(), after[seq]));
  }
  for (const linnet_rows& r : rows) REQUIRE(linnet_truncate(s.s, r.seq, 0, nullptr) == LINNET_OK);
  check(linnet_prefill_batch(s.s, rows, 3, &err), err);
  for (int at = 0; at < whole; ++at) {
    hook.rounds = 0;
    hook.cancel_at = at;
    REQUIRE(linnet_prefill_batch(s.s, rows, 3, &err) == LINNET_CANCELLED);
    REQUIRE(logits() == before);
  }
}

TEST_CASE("stats and version") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  Session s(model, params());
  s.prefill(kPrompt);
  for (int i = 0; i < 5; ++i) s.decode();
  linnet_stats stats{};
  stats.size = sizeof stats;
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.prefill_tokens == kPrompt.size());
  CHECK(stats.decode_tokens == 5);
  CHECK(stats.first_token_ns > 0);
  CHECK(stats.first_token_ns >= stats.prefill_ns);
  CHECK(stats.last_token_ns > 0);
  CHECK(stats.max_token_ns >= stats.last_token_ns);
  CHECK(stats.decode_bytes > model.desc.decode_bytes);
  REQUIRE(linnet_stats_reset(s.s, nullptr) == LINNET_OK);
  REQUIRE(linnet_stats_get(s.s, &stats, nullptr) == LINNET_OK);
  CHECK(stats.decode_tokens == 0);
  CHECK(linnet_version() == (LINNET_VERSION_MAJOR << 16 | LINNET_VERSION_MINOR << 8 | LINNET_VERSION_PATCH));
  CHECK(std::string(linnet_status_text(LINNET_TOO_SMALL)) == "LINNET_TOO_SMALL");
}

TEST_CASE("checkpoints: what is asked for, and who has none") {
  const Model states("tests/golden/lfm2", LINNET_I8G128), pages("tests/golden/llama", LINNET_I8G128);
  linnet_session_params p = params(LINNET_I8, 1, 16, 1, 100), made{.size = sizeof made};
  linnet_need need{.size = sizeof need};
  linnet_error err{};
  const auto refused = [&](uint32_t n, uint32_t every, const char* word) {
    auto bad = p;
    bad.n_checkpoints = n;
    bad.checkpoint_every = every;
    return linnet_session_need(states.m, &bad, &need, &err) == LINNET_BAD_ARG && std::string(err.text).find(word) != std::string::npos;
  };
  CHECK(refused(4097, 0, "n_checkpoints is 4097"));
  CHECK(refused(0xFFFFFFFF, 0, "LINNET_CHECKPOINTS_NONE"));
  CHECK(refused(0, (1u << 24) + 1, "checkpoint_every is 16777217"));
  p.n_rollback = 4;
  Session with(states, p), without(pages, p);
  REQUIRE(linnet_session_info(with.s, &made, nullptr) == LINNET_OK);
  CHECK((made.n_checkpoints == 4 && made.checkpoint_every == 1024));
  p.n_checkpoints = LINNET_CHECKPOINTS_NONE;
  Session none(states, p);
  Tokens tokens;
  for (int i = 0; i < 60; ++i) tokens.push_back(i);
  for (Session* s : {&with, &without, &none}) {
    CHECK(linnet_checkpoint(s->s, 1, &err) == LINNET_BAD_ARG);
    if (s != &none) CHECK(linnet_checkpoint(s->s, 0, &err) == LINNET_OK);  // of an empty sequence
    s->prefill(tokens);
    CHECK(linnet_checkpoint(s->s, 0, &err) == (s == &none ? LINNET_BAD_STATE : LINNET_OK));
    CHECK(linnet_truncate(s->s, 0, 20, &err) == (s == &none ? LINNET_BAD_STATE : LINNET_OK));
    CHECK(s->length() == (s == &none ? 60 : 20));
  }
  CHECK(std::string(err.text).find("no checkpoints") != std::string::npos);
  CHECK(linnet_checkpoint(none.s, 0, &err) == LINNET_BAD_STATE);
  CHECK(std::string(err.text).find("LINNET_CHECKPOINTS_NONE") != std::string::npos);
  p.when_full = LINNET_FULL_DROP_OLDEST;
  CHECK(linnet_session_need(states.m, &p, &need, &err) == LINNET_UNSUPPORTED);
  CHECK(std::string(err.text).find("when_full is 2: not in a model whose layers carry a state") != std::string::npos);
}

TEST_CASE("what a session was made with") {
  const Model model("tests/golden/llama", LINNET_I8G128);
  const linnet_kv_layers layers = {.size = sizeof layers, .first = 0, .last = 0, .k_format = LINNET_F16, .v_format = 0};
  linnet_session_params wished{.size = sizeof wished};
  wished.n_kv_layers = 1;
  wished.kv_layers = &layers;
  wished.wait = LINNET_WAIT_SLEEP;
  Session s(model, wished);
  linnet_session_params made{.size = sizeof made};
  REQUIRE(linnet_session_info(s.s, &made, nullptr) == LINNET_OK);
  CHECK(made.n_context == model.desc.n_context);  // less than 4096
  CHECK(made.n_chunk == std::min(256u, made.n_context));
  CHECK(made.k_format == LINNET_I8);
  CHECK(made.v_format == LINNET_I8);
  CHECK(made.n_kv_layers == 0);
  CHECK(made.kv_layers == nullptr);
  CHECK(made.n_threads == 1);
  CHECK(made.threads == LINNET_THREADS_OWN);
  CHECK(made.wait == LINNET_WAIT_SLEEP);
  CHECK(made.n_sequences == 1);
  CHECK(made.n_pool == made.n_context);
  CHECK(made.when_full == LINNET_FULL_STOP);
  linnet_need whole{.size = sizeof whole}, again{.size = sizeof again};  // they make the same session
  made.n_kv_layers = 1;
  made.kv_layers = &layers;
  REQUIRE(linnet_session_need(model.m, &wished, &whole, nullptr) == LINNET_OK);
  REQUIRE(linnet_session_need(model.m, &made, &again, nullptr) == LINNET_OK);
  CHECK(whole.bytes == again.bytes);
}
