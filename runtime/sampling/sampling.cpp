#include "sampling.h"

#include <cstring>
#include <limits>

#include "../params.h"
#include "chain.h"

namespace linnet {
namespace {

uint64_t splitmix64(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

// Ascending keys are descending logits, equal logits by ascending id. -0 counts as 0.
uint32_t rank_of(float logit) {
  const float x = logit + 0.0f;
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u ^ (((u >> 31) - 1) & 0x7FFFFFFFu);  // no branch: signs are in no order
}
uint64_t key_of(float logit, uint32_t id) { return uint64_t{rank_of(logit)} << 32 | id; }
float logit_of(uint64_t key) {
  uint32_t u = ~static_cast<uint32_t>(key >> 32);
  u = u & 0x80000000u ? u & 0x7FFFFFFFu : ~u;
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}
int32_t id_of(uint64_t key) { return static_cast<int32_t>(key & 0xFFFFFFFFu); }

void sift_down(uint64_t* a, size_t i, size_t n) {  // largest key on top
  const uint64_t v = a[i];
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && a[child + 1] > a[child]) ++child;
    if (a[child] <= v) break;
    a[i] = a[child];
  }
  a[i] = v;
}

void heap_sort(uint64_t* a, size_t n) {
  for (size_t i = n / 2; i-- > 0;) sift_down(a, i, n);
  for (size_t end = n; end-- > 1;) {
    const uint64_t top = a[0];
    a[0] = a[end];
    a[end] = top;
    sift_down(a, 0, end);
  }
}

// More than kFew, but the best of a vocabulary of so many times as many: a heap is the fastest there too.
constexpr uint32_t kFewOf = 32;

// The k smallest keys, sorted, at the front of `order`. A later logit counts only if it is larger than the least of those, so most are
// passed over sixteen at a time.
void smallest(const Sampler& s, const float* logits, uint32_t n, uint32_t k) {
  uint64_t* order = s.order;
  for (uint32_t i = 0; i < k; ++i) order[i] = key_of(logits[i], i);
  if (k < n) {
    for (size_t i = k / 2; i-- > 0;) sift_down(order, i, k);
    for (uint32_t i = k - 1; (i = s.find_above(logits, n, i + 1, logit_of(order[0]))) < n;) {
      order[0] = key_of(logits[i], i);
      sift_down(order, 0, k);
    }
  }
  heap_sort(order, k);
}

// ---- many candidates: no keys, but ids and weights in the two halves of s.order -----------------------------------------------

// Ranks have three digits: bits 22 to 31, 11 to 21 and 0 to 10.
constexpr uint32_t kDigits = 2048;
uint32_t digit_of(uint32_t rank, uint32_t shift) { return rank >> shift & (kDigits - 1); }

// The k best, in order, as ids; without those that weigh less than 2^-54 of the largest, which change nothing: each running sum begins with
// 1, and a double of 1 or more plus less than 2^-53 is what it was. So none of them is drawn, or reaches top_p of the sum before the ones
// that are kept have. Returns how many are left. A radix sort: ids of equal logits stay ascending.
uint32_t sort_many(const Sampler& s, const float* x, uint32_t n, uint32_t k, float largest) {
  uint32_t *a = ids_of(s), *b = a + n, m = 0;
  uint32_t place[3][kDigits] = {};
  // e^-38 < 2^-54.8. Differences never rise as logits fall, so that what is left out lies behind all that is kept. Where the largest is
  // infinite, or not a number, nothing is left out.
  const float limit = -38.0f * s.params.temperature;
  const bool all = !(__builtin_fabsf(largest) <= std::numeric_limits<float>::max());
  for (uint32_t i = 0; i < n; ++i) {
    if (!all && x[i] - largest < limit) continue;
    b[m++] = i;
    const uint32_t rank = rank_of(x[i]);
    for (uint32_t pass = 0; pass < 3; ++pass) ++place[pass][digit_of(rank, pass * 11)];
  }
  for (uint32_t pass = 0; pass < 3; ++pass) {
    uint32_t at = 0;
    for (uint32_t& p : place[pass]) {
      const uint32_t count = p;
      p = at;
      at += count;
    }
    for (uint32_t i = 0; i < m; ++i) a[place[pass][digit_of(rank_of(x[b[i]]), pass * 11)]++] = b[i];
    uint32_t* const t = a;
    a = b;
    b = t;
  }
  return m < k ? m : k;
}

// A whole vocabulary that nothing has sorted, and what its weights come to by the first digit of ranks.
struct Unsorted {
  const float *x, *weight;  // (n) each
  uint32_t* list;           // (n)
  uint32_t n;
  double sums[kDigits];
};
struct Place {
  uint64_t key;
  double sum;  // of the weights up to and with it
};

// The first candidate at which the running sum passes a limit that is somewhere from low to high, with what roundings may do to the sum;
// false where that leaves doubt. No candidate is compared with another: of each digit of ranks, the highest first, the sums tell which one
// the candidate has.
bool passing(const Unsorted& u, double low, double high, Place* out) {
  double part[kDigits];
  const double* sums = u.sums;
  double sum = 0, before = 0;
  uint32_t m = u.n;
  for (uint32_t i = 0; i < m; ++i) u.list[i] = i;
  for (uint32_t shift = 22;; shift -= 11) {
    uint32_t digit = 0;
    for (; digit < kDigits && sum + sums[digit] <= high; ++digit) sum += sums[digit];
    if (digit == kDigits) return false;
    uint32_t left = 0, any = 0, every = ~0u;
    for (uint32_t i = 0; i < m; ++i) {
      u.list[left] = u.list[i];
      left += digit_of(rank_of(u.x[u.list[i]]), shift) == digit;
    }
    m = left;
    for (uint32_t i = 0; i < m; ++i) {
      any |= rank_of(u.x[u.list[i]]);
      every &= rank_of(u.x[u.list[i]]);
    }
    if (any == every) break;  // all have the same logit, at the latest after the last digit
    std::memset(part, 0, sizeof part);
    for (uint32_t i = 0; i < m; ++i) part[digit_of(rank_of(u.x[u.list[i]]), shift - 11)] += static_cast<double>(u.weight[u.list[i]]);
    sums = part;
  }
  for (uint32_t i = 0; i < m; ++i) {  // equal logits, by ascending id
    before = sum;
    sum += static_cast<double>(u.weight[u.list[i]]);
    if (sum > high) {
      *out = {key_of(u.x[u.list[i]], u.list[i]), sum};
      return before < low || before == 0;  // 0: it is the first of all
    }
  }
  return false;
}

// Draws from all candidates without sorting them, where the sum of all, known but for the rounding of its order, leaves no doubt. Of 128k
// equally likely ones it does in about one of thirty thousand draws, and less often where few are likely.
bool draw_unsorted(const Sampler& s, const float* x, uint32_t n, float largest, double share, int32_t* token) {
  const linnet_sampling& p = s.params;
  float* weight = weights_of(s, n);
  for (uint32_t i = 0; i < n; ++i) weight[i] = (x[i] - largest) / p.temperature;
  s.exp_row(weight, n);
  Unsorted u = {.x = x, .weight = weight, .list = ids_of(s), .n = n, .sums = {}};
  for (uint32_t i = 0; i < n; ++i) u.sums[digit_of(rank_of(x[i]), 22)] += static_cast<double>(weight[i]);
  double total = 0;
  for (const double part : u.sums) total += part;
  if (!(total <= std::numeric_limits<double>::max())) return false;
  // A sum of numbers that are not negative is right but for 2^-53 of it for each addition that a number goes through: n in the order of the
  // candidates, n and those of the digits here. Twice as much is allowed for.
  const double error = total * (static_cast<double>(n) + 2 * kDigits) * 0x1p-51;
  Place last = {~uint64_t{0}, total};  // of those that are drawn from
  if (p.top_p < 1) {
    const double enough = static_cast<double>(p.top_p);
    if (!passing(u, enough * (total - error) - error, enough * (total + error) + error, &last)) return false;
  }
  if (p.min_p > 0) {
    uint64_t kept = 0;
    for (uint32_t i = 0; i < n; ++i) {
      const uint64_t key = key_of(x[i], i);
      if (!(weight[i] < p.min_p) && key <= last.key && key > kept) kept = key;
    }
    last = {kept, 0};
    for (uint32_t i = 0; i < n; ++i) last.sum += key_of(x[i], i) <= kept ? static_cast<double>(weight[i]) : 0;
  }
  Place drawn;
  if (!passing(u, share * (last.sum - error) - error, share * (last.sum + error) + error, &drawn) || drawn.key > last.key) return false;
  *token = id_of(drawn.key);
  return true;
}

}  // namespace

double share_of(uint64_t seed, uint64_t i) { return static_cast<double>(splitmix64(seed, i) >> 11) * 0x1p-53; }

void apply_penalties(const linnet_sampling& p, float* logits, const int32_t* history, size_t n) {
  if (n > p.penalty_last_n) {
    history += n - p.penalty_last_n;
    n = p.penalty_last_n;
  }
  for (size_t i = 0; i < n; ++i) {
    uint32_t count = 0;
    bool seen = false;
    for (size_t j = 0; j < n && !seen; ++j) {
      if (history[j] != history[i]) continue;
      seen = j < i;  // counted at its first place
      ++count;
    }
    if (seen) continue;
    float& x = logits[history[i]];
    if (p.repeat_penalty != 1.0f) x = x > 0 ? x / p.repeat_penalty : x * p.repeat_penalty;
    x -= p.presence_penalty + p.frequency_penalty * static_cast<float>(count);
  }
}

// What is not allowed falls below all that is, whatever penalties did to that. Most words of a mask allow all or nothing.
void apply_mask(const TokenMask& mask, const float* logits, float* out, uint32_t n) {
  const auto floor = [](float x) { return x < -std::numeric_limits<float>::max() ? -std::numeric_limits<float>::max() : x; };
  for (uint32_t i = 0; i < n; i += 32) {
    const uint32_t word = mask.bits[i / 32], end = n - i < 32 ? n - i : 32;
    for (uint32_t j = 0; j < end; ++j) out[i + j] = word ? floor(logits[i + j]) : -__builtin_inff();
    for (uint32_t barred = word ? ~word : 0; barred; barred &= barred - 1) {
      const uint32_t j = static_cast<uint32_t>(__builtin_ctz(barred));
      if (j < end) out[i + j] = -__builtin_inff();
    }
  }
}

int32_t argmax(const Sampler& s, const float* x, uint32_t n) {
  uint32_t best = 0;
  for (uint32_t i = 0; (i = s.find_above(x, n, i + 1, x[best])) < n;) best = i;
  return static_cast<int32_t>(best);
}

uint32_t* ids_of(const Sampler& s) { return reinterpret_cast<uint32_t*>(s.order); }
float* weights_of(const Sampler& s, uint32_t n) { return reinterpret_cast<float*>(s.order) + n; }

void best_few(const Sampler& s, const float* x, uint32_t n, uint32_t k, uint32_t* ids, float* logits) {
  smallest(s, x, n, k);
  for (uint32_t i = 0; i < k; ++i) {
    ids[i] = static_cast<uint32_t>(id_of(s.order[i]));
    logits[i] = logit_of(s.order[i]);
  }
}

void sort_all(const Sampler& s, const float* x, uint32_t n) { sort_many(s, x, n, n, __builtin_inff()); }

void sampling_default(linnet_sampling* out) {
  *out = {.size = sizeof *out,
          .temperature = 0,
          .top_k = 0,
          .top_p = 1,
          .min_p = 0,
          .repeat_penalty = 1,
          .presence_penalty = 0,
          .frequency_penalty = 0,
          .penalty_last_n = 64,
          .seed = 0,
          .typical_p = 0,
          .top_n_sigma = 0,
          .xtc_probability = 0,
          .xtc_threshold = 0.1f,
          .min_keep = 0,
          .dynatemp_range = 0,
          .dynatemp_exponent = 1,
          .dry_multiplier = 0,
          .dry_base = 1.75f,
          .dry_allowed_length = 2,
          .dry_last_n = kMaxPenaltyTokens,
          .mirostat = 0,
          .mirostat_tau = 5,
          .mirostat_eta = 0.1f,
          .n_samplers = 0,
          .n_logit_bias = 0,
          .samplers = {},
          .bias_tokens = {},
          .biases = {},
          .dry_breakers = "\n\0:\0\"\0*\0"};
}

Status sampling_check(const linnet_sampling* in, linnet_sampling* out, Error* err) {
  sampling_default(out);
  if (!in) return LINNET_OK;
  LINNET_TRY(check_size(in, in->size, sizeof *out, "sampling", err));
  std::memcpy(out, in, in->size < sizeof *out ? in->size : sizeof *out);
  out->size = sizeof *out;
  if (!(out->temperature >= 0 && out->temperature <= 100)) return fail(err, LINNET_BAD_ARG, "sampling: temperature is outside 0..100");
  if (!(out->top_p >= 0 && out->top_p <= 1)) return fail(err, LINNET_BAD_ARG, "sampling: top_p is outside 0..1");
  if (!(out->min_p >= 0 && out->min_p <= 1)) return fail(err, LINNET_BAD_ARG, "sampling: min_p is outside 0..1");
  if (!(out->repeat_penalty > 0 && out->repeat_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: repeat_penalty is not above 0 and at most 100; linnet_sampling_init fills in 1");
  if (!(out->presence_penalty >= -100 && out->presence_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: presence_penalty is outside -100..100");
  if (!(out->frequency_penalty >= -100 && out->frequency_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: frequency_penalty is outside -100..100");
  if (out->penalty_last_n > kMaxPenaltyTokens)
    return fail(err, LINNET_BAD_ARG, "sampling: penalty_last_n is ", out->penalty_last_n, ", at most ", kMaxPenaltyTokens);
  return chain_check(*out, err);
}

int32_t sample(Sampler& s, const float* logits, uint32_t n_vocab, const int32_t* history, size_t n_history, const TokenMask& mask) {
  const linnet_sampling& p = s.params;
  if (!sampling_is_plain(p)) return sample_chain(s, logits, n_vocab, history, n_history, mask);
  if (p.repeat_penalty != 1.0f || p.presence_penalty != 0 || p.frequency_penalty != 0) {
    std::memcpy(s.logits, logits, n_vocab * sizeof(float));
    apply_penalties(p, s.logits, history, n_history);
    logits = s.logits;
  }
  if (mask.bits) {
    apply_mask(mask, logits, s.logits, n_vocab);
    logits = s.logits;
  }
  if (p.temperature == 0) return argmax(s, logits, n_vocab);

  const uint32_t n_allowed = mask.bits ? mask.n_allowed : n_vocab, k = p.top_k && p.top_k < n_allowed ? p.top_k : n_allowed;
  const double share = share_of(p.seed, s.n_draws++);
  const bool few = k <= kFew || (k < n_allowed && k <= n_vocab / kFewOf);
  uint32_t n_sorted = k;
  float* weight;  // n_sorted values of e^((logit - largest) / temperature)
  if (!few) {
    const float largest = logits[argmax(s, logits, n_vocab)];
    int32_t token;
    if (k == n_allowed && draw_unsorted(s, logits, n_vocab, largest, share, &token)) return token;
    n_sorted = sort_many(s, logits, n_vocab, k, largest);
    weight = weights_of(s, n_vocab);
    for (uint32_t i = 0; i < n_sorted; ++i) weight[i] = (logits[ids_of(s)[i]] - largest) / p.temperature;
  } else {
    smallest(s, logits, n_vocab, k);
    const float largest = logit_of(s.order[0]);
    weight = s.logits;  // the copy is done with
    for (uint32_t i = 0; i < k; ++i) weight[i] = (logit_of(s.order[i]) - largest) / p.temperature;
  }
  s.exp_row(weight, n_sorted);
  const auto id = [&](uint32_t i) { return few ? id_of(s.order[i]) : static_cast<int32_t>(ids_of(s)[i]); };

  double total = 0;
  for (uint32_t i = 0; i < n_sorted; ++i) total += static_cast<double>(weight[i]);
  uint32_t n = n_sorted;
  if (p.top_p < 1) {
    double sum = 0;
    const double enough = static_cast<double>(p.top_p) * total;
    for (n = 0; n < n_sorted && sum < enough; ++n) sum += static_cast<double>(weight[n]);
  }
  if (p.min_p > 0)
    while (n > 1 && weight[n - 1] < p.min_p) --n;  // weights descend from 1
  total = 0;
  for (uint32_t i = 0; i < n; ++i) total += static_cast<double>(weight[i]);

  const double drawn = share * total;
  double sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    sum += static_cast<double>(weight[i]);
    if (sum > drawn) return id(i);
  }
  return id(n ? n - 1 : 0);
}

}  // namespace linnet
