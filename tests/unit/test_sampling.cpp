// The sampler alone against one that sorts all candidates: the same token for the same seed, whatever the logits and the settings are.
#include <algorithm>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
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

// ---- chains of samplers ------------------------------------------------------------------------------------------------------------

namespace {

const char* const kTexts[] = {"a", "bc", "\n", "x\n", "*", ":", "stop", " here", "sto", "p", " the", "re", "q\"", "", "k", "m"};
std::string_view text_of(const void*, int32_t token) { return kTexts[static_cast<uint32_t>(token) % std::size(kTexts)]; }

// In doubles, with whatever a candidate is on its own: as papers and llama.cpp have it, nothing as linnet goes about it.
struct Plain {
  struct Candidate {
    uint32_t id;
    double logit;
  };
  linnet_sampling p;
  uint64_t n_draws = 0;
  double mu = 0;
  std::vector<Candidate> left{};
  double below = 0, upto = 0;  // shares that draw the token
  bool close = false;          // roundings of floats may decide otherwise about a candidate

  // A cut compares the two.
  void compared(double a, double b, double rounding = 1e-6) {
    close |= std::fabs(a - b) <= rounding * std::max(std::fabs(a), std::fabs(b));
  }
  void sort() {
    std::stable_sort(left.begin(), left.end(),
                     [](const Candidate& a, const Candidate& b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); });
  }
  std::vector<double> probabilities() {
    sort();
    std::vector<double> out;
    double total = 0;
    for (const Candidate& c : left) out.push_back(std::exp(c.logit - left[0].logit)), total += out.back();
    for (double& v : out) v /= total;
    return out;
  }
  void keep(size_t n) {
    n = std::max<size_t>(1, std::min(left.size(), n));
    if (n < left.size() && n > 1) compared(left[0].logit - left[n - 1].logit, left[0].logit - left[n].logit, 1e-5);
    left.resize(n);
  }

  void penalties(const Tokens& history) {
    std::map<int32_t, int> seen;
    for (size_t i = history.size() - std::min<size_t>(history.size(), p.penalty_last_n); i < history.size(); ++i) ++seen[history[i]];
    for (Candidate& c : left) {
      const auto it = seen.find(static_cast<int32_t>(c.id));
      if (it == seen.end()) continue;
      c.logit = c.logit > 0 ? c.logit / static_cast<double>(p.repeat_penalty) : c.logit * static_cast<double>(p.repeat_penalty);
      c.logit -= static_cast<double>(p.presence_penalty) + it->second * static_cast<double>(p.frequency_penalty);
    }
  }
  // Breakers are found in the text as a whole, with whatever tokens it came in.
  void dry(const Tokens& all, const std::vector<std::string>& breakers) {
    const Tokens history(all.end() - static_cast<ptrdiff_t>(std::min<size_t>(all.size(), p.dry_last_n)), all.end());
    const size_t n = history.size();
    std::string text;
    std::vector<size_t> begins;
    for (const int32_t token : history) begins.push_back(text.size()), text += text_of(nullptr, token);
    const auto token_at = [&](size_t at) {
      size_t i = n - 1;
      while (begins[i] > at) --i;
      while (text_of(nullptr, history[i]).empty()) --i;
      return i;
    };
    // Of the last token in which breakers begin, the one that goes on the longest.
    size_t head = 0, end = 0;
    bool any = false;
    for (const std::string& breaker : breakers)
      for (size_t at = text.find(breaker); at != text.npos; at = text.find(breaker, at + 1)) {
        const size_t i = token_at(at), j = token_at(at + breaker.size() - 1);
        if (!any || i > head || (i == head && j > end)) head = i, end = j, any = true;
      }
    const size_t limit = any ? n - 1 - end : n;
    std::map<int32_t, size_t> longest;
    for (size_t next = 1; next < n; ++next) {  // history[next] came behind a copy
      size_t same = 0;
      while (same < next && history[next - 1 - same] == history[n - 1 - same]) ++same;
      same = std::min(same, limit);
      if (same >= p.dry_allowed_length) longest[history[next]] = std::max(longest[history[next]], same);
    }
    for (Candidate& c : left) {
      const auto it = longest.find(static_cast<int32_t>(c.id));
      if (it == longest.end()) continue;
      bool alone = false;
      for (const std::string& breaker : breakers) alone |= text_of(nullptr, it->first).find(breaker) != std::string_view::npos;
      if (!alone)
        c.logit -= static_cast<double>(p.dry_multiplier) *
                   std::pow(static_cast<double>(p.dry_base), static_cast<double>(it->second - p.dry_allowed_length));
    }
  }
  void top_n_sigma() {
    sort();
    double mean = 0, squares = 0;
    for (const Candidate& c : left) mean += c.logit / static_cast<double>(left.size());
    for (const Candidate& c : left) squares += (c.logit - mean) * (c.logit - mean);
    const double least = left[0].logit - static_cast<double>(p.top_n_sigma) * std::sqrt(squares / static_cast<double>(left.size()));
    for (const Candidate& c : left) compared(left[0].logit - c.logit, left[0].logit - least);
    std::erase_if(left, [&](const Candidate& c) { return c.logit < least; });
  }
  double entropy(const std::vector<double>& of) {
    double sum = 0;
    for (const double v : of) sum -= v > 0 ? v * std::log(v) : 0;
    return sum;
  }
  void typical() {
    const std::vector<double> of = probabilities();
    const double h = entropy(of);
    const auto far = [&](size_t i) { return std::fabs(-std::log(of[i]) - h); };
    std::vector<size_t> order;
    for (size_t i = 0; i < of.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return far(a) < far(b); });
    double sum = 0;
    std::vector<Candidate> kept;
    for (const size_t i : order) {
      kept.push_back(left[i]);
      sum += of[i];
      compared(sum, static_cast<double>(p.typical_p));
      if (sum <= static_cast<double>(p.typical_p) || kept.size() < p.min_keep) continue;
      if (kept.size() < order.size()) close |= std::fabs(far(i) - far(order[kept.size()])) < 1e-5;
      break;
    }
    left = kept;
  }
  void top_p() {
    const std::vector<double> of = probabilities();
    double sum = 0;
    for (size_t i = 0; i < of.size(); ++i) {
      compared(sum += of[i], static_cast<double>(p.top_p));
      if (sum >= static_cast<double>(p.top_p) && i + 1 >= p.min_keep) return keep(i + 1);
    }
  }
  void min_p() {
    const std::vector<double> of = probabilities();
    size_t n = 0;
    for (const double v : of) compared(v, of[0] * static_cast<double>(p.min_p), 1e-5);
    while (n < of.size() && (of[n] >= of[0] * static_cast<double>(p.min_p) || n < p.min_keep)) ++n;
    keep(n);
  }
  void xtc() {
    if (share_of(p.seed, n_draws++) > static_cast<double>(p.xtc_probability)) return;
    const std::vector<double> of = probabilities();
    size_t n = 0;
    for (const double v : of) compared(v, static_cast<double>(p.xtc_threshold), 1e-5);
    while (n < of.size() && of[n] >= static_cast<double>(p.xtc_threshold)) ++n;
    if (n > 1 && left.size() - (n - 1) >= p.min_keep) left.erase(left.begin(), left.begin() + static_cast<ptrdiff_t>(n - 1));
  }
  void temperature() {
    double t = static_cast<double>(p.temperature);
    const double range = static_cast<double>(p.dynatemp_range);
    if (range > 0 && left.size() > 1) {
      const double low = std::max(0.0, t - range), share = entropy(probabilities()) / std::log(static_cast<double>(left.size()));
      t = low + (t + range - low) * std::pow(share, static_cast<double>(p.dynatemp_exponent));
    }
    for (Candidate& c : left) c.logit /= t;
  }
  int32_t draw() {
    const std::vector<double> of = probabilities();
    const double share = share_of(p.seed, n_draws++);
    size_t i = 0;
    for (upto = of[0]; upto < share && i + 1 < of.size();) upto += of[++i];
    below = upto - of[i];
    if (p.mirostat) mu -= static_cast<double>(p.mirostat_eta) * (-std::log2(of[i]) - static_cast<double>(p.mirostat_tau));
    return static_cast<int32_t>(left[i].id);
  }
  void mirostat(size_t n_vocab) {
    const std::vector<double> of = probabilities();
    if (p.mirostat == 2) {
      size_t n = 0;
      for (const double v : of) compared(-std::log2(v), mu, 1e-5);
      while (n < of.size() && -std::log2(of[n]) <= mu) ++n;
      return keep(n);
    }
    double products = 0, squares = 0;
    for (size_t i = 0; i < 99 && i + 1 < of.size(); ++i) {
      const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1)), b = std::log(of[i] / of[i + 1]);
      products += t * b;
      squares += t * t;
    }
    const double s = products / squares, e = s - 1;
    const double k = std::pow(e * std::exp2(mu) / (1 - std::pow(static_cast<double>(n_vocab), -e)), 1 / s);
    if (k < static_cast<double>(left.size()) * 1.1) compared(k, std::round(k), 1e-4);
    keep(k < 1e9 ? static_cast<size_t>(std::max(k, 0.0)) : left.size());
  }

  int32_t run(const Row& logits, const Tokens& history, const TokenMask& mask, const std::vector<std::string>& breakers) {
    left.clear();
    close = false;
    for (uint32_t i = 0; i < logits.size(); ++i) {
      double x = static_cast<double>(logits[i]);
      for (uint32_t j = 0; j < p.n_logit_bias; ++j)
        if (p.bias_tokens[j] == static_cast<int32_t>(i)) x += static_cast<double>(p.biases[j]);
      if (x >= -1e300 && (!mask.bits || (mask.bits[i / 32] >> i % 32 & 1))) left.push_back({i, x});
    }
    std::vector<uint32_t> order = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    if (p.n_samplers) order.assign(p.samplers, p.samplers + p.n_samplers);
    for (const uint32_t sampler : order) {
      if (sampler == LINNET_SAMPLER_PENALTIES) penalties(history);
      if (sampler == LINNET_SAMPLER_DRY && p.dry_multiplier > 0) dry(history, breakers);
      if (sampler == LINNET_SAMPLER_TEMPERATURE) temperature();
      sort();
      if (p.mirostat) continue;
      if (sampler == LINNET_SAMPLER_TOP_N_SIGMA && p.top_n_sigma > 0) top_n_sigma();
      if (sampler == LINNET_SAMPLER_TOP_K && p.top_k) keep(p.top_k);
      if (sampler == LINNET_SAMPLER_TYPICAL_P && p.typical_p > 0 && p.typical_p < 1) typical();
      if (sampler == LINNET_SAMPLER_TOP_P && p.top_p < 1) top_p();
      if (sampler == LINNET_SAMPLER_MIN_P && p.min_p > 0) min_p();
      if (sampler == LINNET_SAMPLER_XTC && p.xtc_probability > 0 && p.xtc_threshold <= 0.5f) xtc();
    }
    if (p.mirostat) mirostat(logits.size());
    return draw();
  }
};

// What is left, and that the number drawn picks the token out of it. False where roundings may decide, and nothing is checked.
bool check_chain(Drawer& d, Plain& plain, const Row& logits, const Tokens& history, const TokenMask& mask,
                 const std::vector<std::string>& breakers) {
  const int32_t want = plain.run(logits, history, mask, breakers);
  const int32_t got = d.draw(logits, history, mask);
  Tokens ids, wanted;
  for (uint32_t i = 0; i < d.s.n_left; ++i) ids.push_back(static_cast<int32_t>(d.s.left[i]));
  plain.sort();
  for (const Plain::Candidate& c : plain.left) wanted.push_back(static_cast<int32_t>(c.id));
  // Roundings of floats make ties, or part them.
  std::sort(ids.begin(), ids.end()), std::sort(wanted.begin(), wanted.end());
  CAPTURE(ids.size(), wanted.size());
  REQUIRE(d.s.n_draws == plain.n_draws);
  if (!plain.close) {
    REQUIRE((ids == wanted));
    const double share = share_of(plain.p.seed, plain.n_draws - 1);
    if (share > plain.below + 1e-5 && share < plain.upto - 1e-5) REQUIRE(got == want);
    CHECK(std::fabs(static_cast<double>(d.s.mu) - plain.mu) < 1e-5 * (1 + std::fabs(plain.mu)));
  }
  plain.mu = static_cast<double>(d.s.mu);
  return !plain.close;
}

linnet_sampling chain_of(std::initializer_list<uint32_t> samplers) {
  auto p = sampling(1);
  for (const uint32_t s : samplers) p.samplers[p.n_samplers++] = s;
  return p;
}

}  // namespace

TEST_CASE("a chain of samplers leaves the candidates that a plain implementation leaves") {
  std::mt19937 random(7);
  const std::vector<std::string> breakers = {"\n", "*", "stop here"};
  constexpr char kBreakers[] = "\n\0*\0stop here\0";
  uint32_t n_draws = 0, n_checked = 0;
  for (uint32_t round = 0; round < (kSanitized ? 400 : 4000); ++round) {
    const uint32_t n = one_of(random, {2u, 3u, 40u, 1000u, 1025u, 3000u});
    Row logits = logits_of(one_of(random, {0u, 0u, 1u, 3u, 8u, 9u}), n, random);
    auto p = sampling();
    p.temperature = one_of(random, {0.3f, 0.8f, 1.0f, 1.7f});
    p.seed = random();
    const auto some = [&] { return random() % 3 == 0; };
    if (some()) p.top_k = one_of(random, {1u, 40u, 1500u});
    if (some()) p.top_p = one_of(random, {0.25f, 0.9f, 0.99f});
    if (some()) p.min_p = one_of(random, {0.01f, 0.3f});
    if (some()) p.typical_p = one_of(random, {0.1f, 0.5f, 0.95f});
    if (some()) p.top_n_sigma = one_of(random, {0.5f, 1.0f, 2.5f});
    if (some()) p.xtc_probability = one_of(random, {0.5f, 1.0f}), p.xtc_threshold = one_of(random, {0.01f, 0.1f, 0.5f, 0.6f});
    if (some()) p.min_keep = one_of(random, {1u, 2u, 10u});
    if (some()) p.dynatemp_range = one_of(random, {0.2f, 0.5f}), p.dynatemp_exponent = one_of(random, {0.0f, 0.5f, 1.0f, 2.0f});
    if (some()) p.repeat_penalty = 1.3f, p.frequency_penalty = 0.1f;
    if (some()) p.mirostat = 1 + random() % 2, p.mirostat_tau = one_of(random, {1.0f, 3.0f, 5.0f});
    if (some())
      p.dry_multiplier = 0.8f, p.dry_allowed_length = one_of(random, {1u, 2u, 4u}), p.dry_last_n = one_of(random, {0u, 30u, 1024u});
    std::memcpy(p.dry_breakers, kBreakers, sizeof kBreakers);
    if (some())
      for (uint32_t i = 0; i < 3; ++i) {
        p.bias_tokens[i] = static_cast<int32_t>((i + random() % 40 * 3) % n);
        p.biases[i] = i == 0 && n > 2 ? -INFINITY : one_of(random, {-5.0f, 1.0f, 5.0f});
        ++p.n_logit_bias;
        if (n < 40) break;
      }
    if (some()) {
      std::vector<uint32_t> order = {1, 2, 3, 4, 5, 6, 7, 8, 9};
      std::shuffle(order.begin(), order.end(), random);
      p.n_samplers = 1 + below(random, 9);
      std::copy_n(order.begin(), p.n_samplers, p.samplers);
    }
    if (linnet::sampling_is_plain(p)) p.min_keep = 2;
    Tokens history;  // with repetitions, of few tokens
    const uint32_t length = below(random, 120), few = std::min(n, one_of(random, {2u, 4u, 16u}));
    while (history.size() < length)
      if (history.size() > 4 && random() % 4 == 0)
        for (size_t from = random() % (history.size() - 2), i = 0; i < 6; ++i)
          history.push_back(history[std::min(from + i, history.size() - 1)]);
      else
        history.push_back(static_cast<int32_t>(below(random, few)));
    TokenMask mask;
    std::vector<uint32_t> bits((n + 31) / 32);
    if (n >= 40 && random() % 4 == 0) {
      for (uint32_t i = 0; i < n; ++i)
        if (random() % 2 || i == n - 1) bits[i / 32] |= 1u << i % 32, ++mask.n_allowed;
      // A banned token is floored, not gone, where a mask is.
      if (p.n_logit_bias)
        for (uint32_t i = 0; i < p.n_logit_bias; ++i) p.biases[i] = std::max(p.biases[i], -50.0f);
      mask.bits = bits.data();
    }
    Drawer d(n);
    d.s.text = text_of;
    d.set(p);
    d.s.mu = linnet::sampling_mu(d.s.params);
    Plain plain{.p = d.s.params};
    plain.mu = static_cast<double>(d.s.mu);
    for (int draw = 0; draw < 3; ++draw) {
      CAPTURE(round, n, draw, p.n_samplers, p.temperature, p.top_k, p.top_p, p.min_p, p.typical_p, p.top_n_sigma, p.xtc_probability,
              p.xtc_threshold, p.min_keep, p.dynatemp_range, p.dynatemp_exponent, p.repeat_penalty, p.mirostat, p.dry_multiplier,
              p.n_logit_bias, mask.n_allowed, length);
      ++n_draws;
      n_checked += check_chain(d, plain, logits, history, mask, breakers);
    }
  }
  std::printf("%u of %u draws left what roundings cannot change\n", n_checked, n_draws);
  CHECK(n_checked > n_draws * 9 / 10);
}

TEST_CASE("the default order, said in full, draws what it draws unsaid") {
  std::mt19937 random(8);
  for (uint32_t round = 0; round < (kSanitized ? 60 : 400); ++round) {
    const uint32_t n = one_of(random, {1u, 37u, 1500u, 9000u});
    const Row logits = logits_of(below(random, 11), n, random);
    auto p = chain_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
    p.temperature = one_of(random, {0.0f, 0.1f, 0.8f, 1.0f, 5.0f});
    p.top_k = one_of(random, {0u, 0u, 1u, 40u, 2000u});
    p.top_p = one_of(random, {1.0f, 0.25f, 0.95f});
    p.min_p = one_of(random, {0.0f, 0.05f, 0.5f});
    p.repeat_penalty = one_of(random, {1.0f, 1.2f});
    p.seed = random();
    const Tokens history = {0, static_cast<int32_t>(n / 2), 0};
    Drawer said(n), unsaid(n);
    said.set(p);
    p.n_samplers = 0;
    unsaid.set(p);
    CAPTURE(round, n, p.temperature, p.top_k, p.top_p, p.min_p);
    for (int draw = 0; draw < 4; ++draw) REQUIRE(said.draw(logits, history) == unsaid.draw(logits, history));
    REQUIRE(said.s.n_draws == unsaid.s.n_draws);
  }
}

TEST_CASE("chains at their ends: one candidate, all banned, ties, infinities") {
  auto p = chain_of({LINNET_SAMPLER_TYPICAL_P, LINNET_SAMPLER_XTC, LINNET_SAMPLER_TOP_N_SIGMA, LINNET_SAMPLER_TEMPERATURE,
                     LINNET_SAMPLER_TOP_P, LINNET_SAMPLER_MIN_P, LINNET_SAMPLER_TOP_K, LINNET_SAMPLER_DRY, LINNET_SAMPLER_PENALTIES});
  p.typical_p = 0.5f, p.xtc_probability = 1, p.top_n_sigma = 1, p.dynatemp_range = 1, p.top_p = 0.5f, p.min_p = 0.5f, p.dry_multiplier = 1;
  p.repeat_penalty = 1.5f;
  for (const uint32_t mirostat : {0u, 1u, 2u}) {
    p.mirostat = mirostat;
    Drawer one(1);
    one.set(p);
    CHECK(one.draw({3.0f}, {0, 0, 0, 0}) == 0);
    // Ties go by id, and what is banned is not drawn.
    Drawer d(6);
    auto banned = p;
    banned.n_logit_bias = 2;
    banned.bias_tokens[1] = 3;
    banned.biases[0] = banned.biases[1] = -INFINITY;
    d.set(banned);
    for (int i = 0; i < 50; ++i) {
      const int32_t token = d.draw({9, 1, 1, 9, 1, 1});
      CHECK((token != 0 && token != 3));
    }
    banned.temperature = 0;
    d.set(banned);
    CHECK(d.draw({9, 1, 1, 9, 1, 1}) == 1);
    // All of them: the lowest id that a mask allows. With a mask a banned token comes where no other is allowed.
    banned.n_logit_bias = 6;
    for (int i = 0; i < 6; ++i) banned.bias_tokens[i] = i, banned.biases[i] = -INFINITY;
    const uint32_t bits = 1u << 4;
    for (const float temperature : {0.0f, 1.0f}) {
      banned.temperature = temperature;
      d.set(banned);
      CHECK(d.draw({9, 1, 1, 9, 1, 1}) == 0);
      CHECK(d.draw({9, 1, 1, 9, 1, 1}, {}, {&bits, 1}) == 4);
    }
    d.set(p);
    for (const float x : {INFINITY, FLT_MAX, -FLT_MAX, -INFINITY})
      for (int at = 0; at < 6; ++at) {
        Row row(6, 1.0f);
        row[static_cast<size_t>(at)] = x;
        const int32_t token = d.draw(row);
        CHECK((token >= 0 && token < 6));
        if (x < 0) CHECK(token != at);
      }
    Drawer flat(6);
    auto typical = chain_of({LINNET_SAMPLER_TYPICAL_P});
    typical.typical_p = 0.4f;
    flat.set(typical);
    (void)flat.draw(Row(6, 1.0f));
    CHECK((flat.s.n_left == 3 && flat.s.left[0] == 0 && flat.s.left[2] == 2));
  }
}

TEST_CASE("settings of chains out of their range are refused by name") {
  const auto refuses = [](const char* name, auto change) {
    auto p = sampling();
    change(p);
    linnet_sampling out;
    linnet_error err{};
    CAPTURE(name);
    CHECK(linnet::sampling_check(&p, &out, &err) == LINNET_BAD_ARG);
    CHECK(std::string(err.text).find(name) != std::string::npos);
  };
  for (const float bad : {-0.5f, NAN, INFINITY}) {
    refuses("typical_p", [&](auto& p) { p.typical_p = bad; });
    refuses("top_n_sigma", [&](auto& p) { p.top_n_sigma = bad; });
    refuses("xtc_probability", [&](auto& p) { p.xtc_probability = bad; });
    refuses("xtc_threshold", [&](auto& p) { p.xtc_threshold = bad; });
    refuses("dynatemp_range", [&](auto& p) { p.dynatemp_range = bad; });
    refuses("dynatemp_exponent", [&](auto& p) { p.dynatemp_exponent = bad; });
    refuses("dry_multiplier", [&](auto& p) { p.dry_multiplier = bad; });
    refuses("dry_base", [&](auto& p) { p.dry_base = bad; });
    refuses("mirostat_tau", [&](auto& p) { p.mirostat_tau = bad; });
    refuses("mirostat_eta", [&](auto& p) { p.mirostat_eta = bad; });
  }
  refuses("dry_allowed_length", [](auto& p) { p.dry_multiplier = 1, p.dry_allowed_length = 0; });
  refuses("dry_last_n", [](auto& p) { p.dry_last_n = 1025; });
  refuses("mirostat", [](auto& p) { p.mirostat = 3; });
  refuses("n_samplers", [](auto& p) { p.n_samplers = 10; });
  refuses("samplers[0]", [](auto& p) { p.n_samplers = 1, p.samplers[0] = 10; });
  refuses("samplers[1]", [](auto& p) { p.n_samplers = 2, p.samplers[0] = p.samplers[1] = 4; });
  refuses("n_logit_bias", [](auto& p) { p.n_logit_bias = 129; });
  for (const float bad : {101.0f, -101.0f, NAN, INFINITY}) refuses("biases[1]", [&](auto& p) { p.n_logit_bias = 2, p.biases[1] = bad; });
}

TEST_CASE("chains draw the same on every tier") {
  std::mt19937 random(9);
  const Row logits = noise(random, 5000, 3);
  auto p = sampling(0.9f, 5);
  p.typical_p = 0.9f, p.xtc_probability = 0.5f, p.top_n_sigma = 3, p.dynatemp_range = 0.5f, p.dry_multiplier = 1;
  const Tokens history = {1, 2, 3, 1, 2};
  for (const uint32_t mirostat : {0u, 1u, 2u}) {
    p.mirostat = mirostat;
    Drawer first(5000);
    first.set(p);
    for (const uint32_t isa : tiers()) {
      Drawer d(5000);
      linnet_error err{};
      check(linnet::kernels_resolve(isa, 0, &d.kernels, &err), err);
      d.s.exp_row = d.kernels.t.exp_row;
      d.s.find_above = d.kernels.t.find_above;
      d.set(p);
      first.set(p);
      first.s.mu = d.s.mu = linnet::sampling_mu(p);
      for (int i = 0; i < 200; ++i) REQUIRE(d.draw(logits, history) == first.draw(logits, history));
      CHECK(d.s.mu == first.s.mu);
    }
  }
}

TEST_CASE("log probabilities: of the likeliest tokens, and of any") {
  std::mt19937 random(10);
  for (const uint32_t n : {1u, 2u, 1000u, 32000u}) {
    const Row logits = noise(random, n, 4);
    double total = 0;
    for (const float x : logits) total += std::exp(static_cast<double>(x));
    const uint32_t most = std::min(n, 20u);
    Tokens tokens(most);
    Row values(most);
    float value = 1;
    const int32_t any = static_cast<int32_t>(n / 2);
    Drawer d(n);
    linnet::log_probabilities(d.s, logits.data(), n, any, &value, most, tokens.data(), values.data());
    const auto want = [&](int32_t token) { return static_cast<double>(logits[static_cast<size_t>(token)]) - std::log(total); };
    CHECK(std::fabs(static_cast<double>(value) - want(any)) < 1e-5);
    Row sorted = logits;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (uint32_t i = 0; i < most; ++i) {
      CHECK(logits[static_cast<size_t>(tokens[i])] == sorted[i]);
      CHECK(std::fabs(static_cast<double>(values[i]) - want(tokens[i])) < 1e-5);
    }
  }
}
