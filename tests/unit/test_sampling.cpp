// The sampler alone against one that sorts all candidates: the same token for the same seed, whatever the logits and the settings are.
#include <algorithm>
#include <cfloat>
#include <chrono>
#include <random>

#include "kernels_cpu/registry.h"
#include "runtime/sampling/sampling.h"
#include "tests/models.h"

using namespace test;
using linnet::TokenMask;

namespace {

uint64_t splitmix64(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}
double share_of(uint64_t seed, uint64_t i) { return static_cast<double>(splitmix64(seed, i) >> 11) * 0x1p-53; }

// As linnet_sampling_set says it, step by step. The logits are after penalties.
int32_t sorted_draw(const linnet::Sampler& s, const Row& logits, const TokenMask& mask) {
  const linnet_sampling& p = s.params;
  const auto x = [&](uint32_t i) { return logits[i]; };
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < logits.size(); ++i)
    if (!mask.bits || (mask.bits[i / 32] >> i % 32 & 1)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return x(a) > x(b); });
  if (p.temperature == 0) return static_cast<int32_t>(order[0]);
  if (p.top_k && p.top_k < order.size()) order.resize(p.top_k);
  Row weight;
  for (const uint32_t i : order) weight.push_back((x(i) - x(order[0])) / p.temperature);
  s.exp_row(weight.data(), static_cast<uint32_t>(weight.size()));
  const auto sum_of = [&](size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += static_cast<double>(weight[i]);
    return sum;
  };
  size_t n = order.size();
  if (p.top_p < 1) {
    double sum = 0;
    const double enough = static_cast<double>(p.top_p) * sum_of(n);
    for (n = 0; n < order.size() && sum < enough; ++n) sum += static_cast<double>(weight[n]);
  }
  if (p.min_p > 0)
    while (n > 1 && weight[n - 1] < p.min_p) --n;
  const double drawn = share_of(p.seed, s.n_draws) * sum_of(n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    if ((sum += static_cast<double>(weight[i])) > drawn) return static_cast<int32_t>(order[i]);
  return static_cast<int32_t>(order[n ? n - 1 : 0]);
}

struct Drawer {
  linnet::Kernels kernels;
  std::vector<uint64_t> order;
  Row scratch;
  linnet::Sampler s{};
  explicit Drawer(size_t n) : order(n), scratch(n) {
    linnet_error err{};
    check(linnet::kernels_resolve(0, 0, &kernels, &err), err);
    s.exp_row = kernels.t.exp_row;
    s.find_above = kernels.t.find_above;
    s.order = order.data();
    s.logits = scratch.data();
  }
  void set(linnet_sampling p) {
    linnet_error err{};
    check(linnet::sampling_check(&p, &s.params, &err), err);
    s.n_draws = 0;
  }
  int32_t draw(const Row& logits, const Tokens& history = {}, const TokenMask& mask = {}) {
    return linnet::sample(s, logits.data(), static_cast<uint32_t>(logits.size()), history.data(), history.size(), mask);
  }
};

uint32_t below(std::mt19937& random, uint32_t n) { return static_cast<uint32_t>(random() % n); }
Row noise(std::mt19937& random, uint32_t n, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  Row x(n);
  for (float& v : x) v = normal(random);
  return x;
}

constexpr uint32_t kKinds = 12;
Row logits_of(uint32_t kind, uint32_t n, std::mt19937& random) {
  const auto any = [&] { return random() % n; };
  Row x = noise(random, n, kind == 1 ? 0.05f : kind == 2 ? 20.0f : 3.0f);
  switch (kind) {
    case 3:  // a few that count
      for (int i = 0; i < 20; ++i) x[any()] = 15.0f + static_cast<float>(random() % 1000) * 0.005f;
      break;
    case 4:
      for (float& v : x) v = random() % 2 ? 0.0f : -0.0f;
      break;
    case 5:  // ties, many at the cuts
      for (float& v : x) v = std::round(v * 2) / 2;
      break;
    case 6:
      for (float& v : x) v = static_cast<float>(random() % 3);
      break;
    case 7:  // weights of 60 orders of magnitude
      for (float& v : x) v = static_cast<float>(random() % 1000003) * (-140.0f / 1000003);
      break;
    case 8:
      std::sort(x.begin(), x.end());
      break;
    case 9:
      std::sort(x.begin(), x.end(), [](float a, float b) { return a > b; });
      break;
    case 10:  // neighbours
      for (float& v : x) v = 11.0f + static_cast<float>(random() % 64) * 0x1p-20f;
      break;
    case 11:
      for (float& v : x) v *= random() % 4 ? 1e30f : random() % 2 ? 1e-40f : 1.0f;
      x[any()] = FLT_MAX;
      x[any()] = -FLT_MAX;
      break;
    default:
      break;
  }
  return x;
}

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> list) {
  return *(list.begin() + random() % list.size());
}

}  // namespace

TEST_CASE("a draw is what sorting all candidates gives") {
  std::mt19937 random(3);
  const uint32_t vocabs[] = {1, 2, 37, 1000, 1024, 1025, 1500, 4099, 9000, 32000, 50257, 128256, 262144};
  for (uint32_t round = 0; round < (kSanitized ? 128 : 640); ++round) {
    const uint32_t n = round % 64 < 12 ? vocabs[7 + random() % 6] : vocabs[random() % 9], kind = below(random, kKinds);
    const Row logits = logits_of(kind, n, random);
    auto p = sampling();
    p.temperature = one_of(random, {0.0f, 1e-30f, 0.1f, 0.3f, 0.8f, 1.0f, 1.0f, 1.0f, 1.7f, 5.0f, 100.0f});
    p.top_k = one_of(random, {0u, 0u, 0u, 0u, 1u, 40u, 1023u, 1024u, 1025u, n / 2, n - 1, n, n + 7});
    p.top_p = one_of(random, {1.0f, 1.0f, 0.0f, 1e-30f, 0.25f, 0.5f, 0.9f, 0.95f, 0.9999f, 1 - 0x1p-24f});
    p.min_p = one_of(random, {0.0f, 0.0f, 0.0f, 1e-30f, 1e-16f, 0x1p-53f, 0.001f, 0.05f, 0.5f, 1.0f});
    p.seed = random();
    TokenMask mask;
    std::vector<uint32_t> bits;
    if (random() % 4 == 0) {
      const bool few = random() % 2;
      bits.resize((n + 31) / 32);
      for (uint32_t i = 0; i < n; ++i)
        if (random() % (few ? 50 : 2) == 0 || i == n / 2) bits[i / 32] |= 1u << i % 32, ++mask.n_allowed;
      mask.bits = bits.data();
    }
    Drawer d(n);
    d.set(p);
    for (int draw = 0; draw < 4; ++draw) {
      const int32_t want = sorted_draw(d.s, logits, mask);
      const uint64_t n_draws = d.s.n_draws;
      CAPTURE(round, n, kind, p.temperature, p.top_k, p.top_p, p.min_p, p.seed, mask.n_allowed, draw);
      REQUIRE(d.draw(logits, {}, mask) == want);
      REQUIRE(d.s.n_draws == n_draws + (p.temperature != 0));
    }
  }
}

TEST_CASE("a draw after penalties is what sorting all candidates gives, infinite logits too") {
  std::mt19937 random(4);
  constexpr uint32_t kVocab = 3000;
  for (uint32_t round = 0; round < 120; ++round) {
    Row logits = logits_of(below(random, kKinds), kVocab, random);
    auto p = sampling();
    p.temperature = one_of(random, {0.5f, 1.0f, 3.0f});
    p.top_k = one_of(random, {0u, 0u, 50u, 2000u});
    p.top_p = one_of(random, {1.0f, 0.9f});
    p.min_p = one_of(random, {0.0f, 0.01f});
    p.repeat_penalty = one_of(random, {1.3f, 1.3f, 1e-38f, 100.0f});  // of these the last two make large ones infinite
    p.presence_penalty = 0.5f;
    p.penalty_last_n = 1;
    p.seed = random();
    Drawer d(kVocab);
    d.set(p);
    const uint32_t at = below(random, kVocab);
    if (round % 3 == 0) logits[at] = 3e38f;
    Row changed = logits;
    float& x = changed[at];
    x = x > 0 ? x / p.repeat_penalty : x * p.repeat_penalty;
    x -= p.presence_penalty;
    for (int draw = 0; draw < 3; ++draw) {
      const int32_t want = sorted_draw(d.s, changed, {});
      CAPTURE(round, p.temperature, p.top_k, p.top_p, p.min_p, p.repeat_penalty, x, draw);
      REQUIRE(d.draw(logits, {static_cast<int32_t>(at)}) == want);
    }
  }
}

// The number drawn times the sum of all is, but for some units in the last place, the sum up to one of the candidates: which one it is
// hangs on every rounding of the sums.
TEST_CASE("a draw between two candidates is what sorting all candidates gives") {
  std::mt19937 random(5);
  constexpr uint32_t kVocab = 2000;
  Drawer d(kVocab);
  uint32_t first = 0, n = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const double share = share_of(seed, 0), wanted = 1 / share;
    if (share < 0.02 || share > 0.95) continue;
    Row logits(kVocab, -200.0f);
    size_t i = 0;
    logits[i++] = 0;
    double sum = 1;
    const auto add = [&](double logit) {
      Row weight(1, logits[i++] = static_cast<float>(logit));
      d.s.exp_row(weight.data(), 1);
      sum += static_cast<double>(weight[0]);
    };
    while (i < 300 && sum + 0.3 < wanted) add(-0.1 - static_cast<double>(random() % 50) * 0.02);
    while (i < 700) add(-19.0 - static_cast<double>(random() % 500) * 0.02);  // each is rounded in the sum
    while (i < 720 && wanted - sum > 1e-17) add(std::min(-0.001, std::log((wanted - sum) * 0.9999)));
    if (seed % 3) add(-36.0 - static_cast<double>(seed % 5));
    auto p = sampling();
    p.temperature = 1;
    p.seed = seed;
    d.set(p);
    const int32_t want = sorted_draw(d.s, logits, {});
    ++n;
    first += want == 0;
    CAPTURE(seed, share, sum * share);
    REQUIRE(d.draw(logits) == want);
  }
  std::printf("%u draws within roundings of a sum, %u of them below it\n", n, first);
  CHECK((first > n / 10 && first < n * 9 / 10));
}

TEST_CASE("a whole vocabulary is drawn from without sorting it") {
  constexpr uint32_t kVocab = 128 * 1024;
  std::mt19937 random(6);
  const Row logits = noise(random, kVocab, 3);
  Drawer d(kVocab);
  auto p = sampling();
  p.temperature = 1;
  d.set(p);
  const auto best_ms = [&](auto&& call) {
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
      const auto start = std::chrono::steady_clock::now();
      call();
      best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const double plain = best_ms([&] { d.draw(logits); }), sorted = best_ms([&] { sorted_draw(d.s, logits, {}); });
  std::printf("a draw from %u tokens: %.3f ms, sorted %.3f ms\n", kVocab, plain, sorted);
  CHECK(plain < sorted / 2);
}
