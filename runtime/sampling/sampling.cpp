#include "sampling.h"

#include <cfloat>
#include <cstring>

namespace linnet {
namespace {

uint64_t splitmix64(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

// Ascending keys are descending logits, equal logits by ascending id. -0 counts as 0.
uint64_t key_of(float logit, uint32_t id) {
  const float x = logit + 0.0f;
  uint32_t u;
  std::memcpy(&u, &x, 4);
  u = u & 0x80000000u ? ~u : u | 0x80000000u;  // ascending with the value
  return uint64_t{~u} << 32 | id;
}
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
  const auto floor = [](float x) { return x < -FLT_MAX ? -FLT_MAX : x; };
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

}  // namespace

Status sampling_check(const linnet_sampling* in, linnet_sampling* out, Error* err) {
  *out = {};
  if (in) {
    if (in->size < sizeof(uint32_t)) return fail(err, LINNET_BAD_ARG, "sampling: size is ", in->size);
    std::memcpy(out, in, in->size < sizeof *out ? in->size : sizeof *out);
  }
  out->size = sizeof *out;
  if (!(out->temperature >= 0 && out->temperature <= 100)) return fail(err, LINNET_BAD_ARG, "sampling: temperature is outside 0..100");
  if (!(out->top_p >= 0 && out->top_p <= 1)) return fail(err, LINNET_BAD_ARG, "sampling: top_p is outside 0..1");
  if (!(out->min_p >= 0 && out->min_p <= 1)) return fail(err, LINNET_BAD_ARG, "sampling: min_p is outside 0..1");
  if (!(out->repeat_penalty >= 0 && out->repeat_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: repeat_penalty is outside 0..100");
  if (!(out->presence_penalty >= -100 && out->presence_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: presence_penalty is outside -100..100");
  if (!(out->frequency_penalty >= -100 && out->frequency_penalty <= 100))
    return fail(err, LINNET_BAD_ARG, "sampling: frequency_penalty is outside -100..100");
  if (out->penalty_last_n > kMaxPenaltyTokens)
    return fail(err, LINNET_BAD_ARG, "sampling: penalty_last_n is ", out->penalty_last_n, ", at most ", kMaxPenaltyTokens);
  if (out->penalty_last_n == 0) out->penalty_last_n = 64;
  if (out->repeat_penalty == 0) out->repeat_penalty = 1;
  if (out->top_p == 0) out->top_p = 1;
  return LINNET_OK;
}

int32_t sample(Sampler& s, const float* logits, uint32_t n_vocab, const int32_t* history, size_t n_history, const TokenMask& mask) {
  const linnet_sampling& p = s.params;
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
  smallest(s, logits, n_vocab, k);
  const float largest = logit_of(s.order[0]);
  float* weight = s.logits;  // the copy is done with: k values of e^((logit - largest) / temperature)
  for (uint32_t i = 0; i < k; ++i) weight[i] = (logit_of(s.order[i]) - largest) / p.temperature;
  s.exp_row(weight, k);

  double total = 0;
  for (uint32_t i = 0; i < k; ++i) total += static_cast<double>(weight[i]);
  uint32_t n = k;
  if (p.top_p < 1) {
    double sum = 0;
    const double enough = static_cast<double>(p.top_p) * total;
    for (n = 0; n < k && sum < enough; ++n) sum += static_cast<double>(weight[n]);
  }
  if (p.min_p > 0)
    while (n > 1 && weight[n - 1] < p.min_p) --n;  // weights descend from 1
  total = 0;
  for (uint32_t i = 0; i < n; ++i) total += static_cast<double>(weight[i]);

  const double drawn = static_cast<double>(splitmix64(p.seed, s.n_draws++) >> 11) * 0x1p-53 * total;
  double sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    sum += static_cast<double>(weight[i]);
    if (sum > drawn) return id_of(s.order[i]);
  }
  return id_of(s.order[n ? n - 1 : 0]);
}

}  // namespace linnet
