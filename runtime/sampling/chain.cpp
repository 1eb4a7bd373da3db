// Samplers in the order that linnet_sampling says: each changes logits, or cuts the candidates that the one before it left. Those lie by
// descending logit, and every cut takes away from one of the two ends.
#include "chain.h"

#include <cstring>
#include <limits>

namespace linnet {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr uint32_t kDefaultOrder[] = {LINNET_SAMPLER_PENALTIES, LINNET_SAMPLER_DRY,         LINNET_SAMPLER_TOP_N_SIGMA,
                                      LINNET_SAMPLER_TOP_K,     LINNET_SAMPLER_TEMPERATURE, LINNET_SAMPLER_TYPICAL_P,
                                      LINNET_SAMPLER_TOP_P,     LINNET_SAMPLER_MIN_P,       LINNET_SAMPLER_XTC};
constexpr uint32_t kMostSamplers = LINNET_SAMPLER_XTC;

// ---- logarithm and exponential: the same bits on every machine, unlike those of a C library ------------------------------------

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// 2^e * m with m between sqrt(1/2) and sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)) as a series. -745 of what is no normal number above 0.
double log_of(double x) {
  if (!(x >= std::numeric_limits<double>::min())) return -745;
  uint64_t u;
  std::memcpy(&u, &x, 8);
  int32_t e = static_cast<int32_t>(u >> 52) - 1023;
  u = (u & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52;
  double m;
  std::memcpy(&m, &u, 8);
  if (m > 0x1.6a09e667f3bcdp+0) m /= 2, ++e;
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 0;
  for (int i = 23; i > 0; i -= 2) sum = sum * z + 1.0 / i;
  return e * kLn2 + 2 * s * sum;
}

// e^x: 0 below -700, also of NaN; e^700 above 700.
double exp_of(double x) {
  if (!(x >= -700)) return 0;
  if (x > 700) x = 700;
  const int32_t n = static_cast<int32_t>(x / kLn2 + (x < 0 ? -0.5 : 0.5));
  const double r = x - n * kLn2;
  double sum = 1;
  for (int i = 16; i > 0; --i) sum = 1 + sum * r / i;
  const uint64_t u = static_cast<uint64_t>(n + 1023) << 52;
  double power;
  std::memcpy(&power, &u, 8);
  return sum * power;
}

// x >= 0
double power_of(double x, double y) { return y == 0 ? 1 : x > 0 ? exp_of(y * log_of(x)) : 0; }

// ---- DRY ------------------------------------------------------------------------------------------------------------------------

// The last tokens, counted from the end: 0 is the last of all.
struct History {
  const Sampler& s;
  const int32_t* end;
  uint32_t n;
  int32_t back(uint32_t i) const { return end[-1 - static_cast<ptrdiff_t>(i)]; }
  std::string_view text(int32_t token) const { return s.text ? s.text(s.text_of, token) : std::string_view(); }
};

template <class Fn>
void each_breaker(const linnet_sampling& p, Fn fn) {
  for (uint32_t at = 0; at < sizeof p.dry_breakers && p.dry_breakers[at];) {
    uint32_t end = at;
    while (end < sizeof p.dry_breakers && p.dry_breakers[end]) ++end;
    fn(std::string_view(p.dry_breakers + at, end - at));
    at = end + 1;
  }
}

bool breaks_alone(const linnet_sampling& p, std::string_view text) {
  bool found = false;
  each_breaker(p, [&](std::string_view breaker) { found |= text.find(breaker) != text.npos; });
  return found;
}

// How many tokens after back(i) a breaker takes up that begins in it, the most of any; -1: none begins there.
int32_t breaker_at(const linnet_sampling& p, const History& h, uint32_t i) {
  const std::string_view text = h.text(h.back(i));
  int32_t most = -1;
  each_breaker(p, [&](std::string_view breaker) {
    for (size_t at = 0; at < text.size(); ++at) {
      std::string_view left = breaker;
      int32_t n = 0;
      for (uint32_t j = i;; --j, ++n) {
        const std::string_view part = j == i ? text.substr(at) : h.text(h.back(j));
        const size_t same = part.size() < left.size() ? part.size() : left.size();
        if (part.substr(0, same) != left.substr(0, same)) break;
        left.remove_prefix(same);
        if (left.empty() && n > most) most = n;
        if (left.empty() || j == 0) break;
      }
    }
  });
  return most;
}

// A token that stood behind an earlier copy of the last tokens loses the more, the longer the copy.
void apply_dry(const Sampler& s, float* logits, const int32_t* history, size_t n_history) {
  const linnet_sampling& p = s.params;
  const History h{s, history + n_history, static_cast<uint32_t>(n_history < p.dry_last_n ? n_history : p.dry_last_n)};
  if (h.n <= p.dry_allowed_length) return;
  uint32_t limit = h.n;  // tokens since the last breaker
  for (uint32_t i = 0; i < h.n; ++i)
    if (const int32_t n = breaker_at(p, h, i); n >= 0) {
      limit = i - static_cast<uint32_t>(n);
      break;
    }
  if (limit < p.dry_allowed_length) return;
  uint16_t copied[kMaxPenaltyTokens];  // tokens that back(i) and those before it have in common with the last ones
  for (uint32_t i = 1; i < h.n; ++i) {
    uint32_t n = 0;
    while (n < limit && i + n < h.n && h.back(n) == h.back(i + n)) ++n;
    copied[i] = static_cast<uint16_t>(n);
  }
  for (uint32_t i = 1; i < h.n; ++i) {
    if (copied[i] < p.dry_allowed_length) continue;
    const int32_t token = h.back(i - 1);
    uint32_t longest = copied[i];
    for (uint32_t j = i + 1; j < h.n; ++j) {
      if (h.back(j - 1) != token || copied[j] < p.dry_allowed_length) continue;
      longest = copied[j] > longest ? copied[j] : longest;
      copied[j] = 0;  // done here
    }
    if (breaks_alone(p, h.text(token))) continue;
    double power = 1;
    for (uint32_t j = p.dry_allowed_length; j < longest && power * static_cast<double>(p.dry_base) <= static_cast<double>(kMost); ++j)
      power *= static_cast<double>(p.dry_base);
    const double penalty = static_cast<double>(p.dry_multiplier) * power;
    logits[token] -= penalty < static_cast<double>(kMost) ? static_cast<float>(penalty) : kMost;
  }
}

// ---- candidates -------------------------------------------------------------------------------------------------------------------

class Chain {
 public:
  Chain(Sampler& s, uint32_t n_vocab, const TokenMask& mask)
      : s_(s), p_(s.params), mask_(mask), n_vocab_(n_vocab), ids_(ids_of(s)), logits_(weights_of(s, n_vocab)), weights_(s.logits) {}
  // All logits, to be changed: those that are no candidates any more are -inf.
  float* all();
  // The best candidates, by the logits of all().
  void sort(uint32_t most);
  void cut(uint32_t sampler);
  int32_t draw();
  int32_t draw_mirostat();
  // Where there is none, or none but banned ones: the lowest id that is allowed.
  int32_t fallback() const;

 private:
  void weigh();
  double weight(uint32_t i) const { return static_cast<double>(weights_[first_ + i]); }
  double below_first(uint32_t i) const { return static_cast<double>(logits_[first_]) - static_cast<double>(logits_[first_ + i]); }
  // Of probabilities p_i = weight(i) / total: the sum of p_i times how far logit i lies below the first. Surprisals, -ln p_i, are
  // ln total + below_first(i), and the entropy is ln total + this.
  double mean_below();
  uint32_t at_least(uint32_t n) const { return n > p_.min_keep ? n : p_.min_keep < n_ ? p_.min_keep : n_; }
  void top_n_sigma();
  void typical_p();
  void xtc();
  void temperature();

  Sampler& s_;
  const linnet_sampling& p_;
  const TokenMask& mask_;
  const uint32_t n_vocab_;
  uint32_t* const ids_;                   // candidates first_ .. first_ + n_, largest logit first
  float *const logits_, *const weights_;  // theirs; weights e^(logit - the first one's), as weigh() left them
  uint32_t first_ = 0, n_ = 0;
  double total_ = 0;  // of the weights
  float offset_ = 0;  // that temperatures took off all logits; penalties go by signs
  bool sorted_ = false;
};

float* Chain::all() {
  if (sorted_) {
    for (uint32_t i = 0; i < n_vocab_; ++i) weights_[i] = -__builtin_inff();
    for (uint32_t i = first_; i < first_ + n_; ++i) weights_[ids_[i]] = logits_[i] + offset_;
    offset_ = 0;
    sorted_ = false;
  }
  return s_.logits;
}

void Chain::sort(uint32_t most) {
  if (sorted_) return;
  sorted_ = true;
  first_ = 0;
  n_ = n_vocab_;
  if (most <= kFew && most < n_vocab_) {
    uint32_t ids[kFew];
    n_ = most;
    float few[kFew];
    best_few(s_, s_.logits, n_vocab_, n_, ids, few);
    std::memcpy(ids_, ids, n_ * sizeof *ids);
    std::memcpy(logits_, few, n_ * sizeof *few);
  } else {
    sort_all(s_, s_.logits, n_vocab_);
    for (uint32_t i = 0; i < n_; ++i) logits_[i] = s_.logits[ids_[i]];
  }
  while (n_ && logits_[n_ - 1] < -kMost) --n_;
  if (n_ == 0) {
    n_ = 1;
    ids_[0] = static_cast<uint32_t>(fallback());
    logits_[0] = 0;
  }
}

int32_t Chain::fallback() const {
  uint32_t i = 0;
  while (mask_.bits && i + 1 < n_vocab_ && !(mask_.bits[i / 32] >> i % 32 & 1)) ++i;
  return static_cast<int32_t>(i);
}

void Chain::weigh() {
  for (uint32_t i = first_; i < first_ + n_; ++i) weights_[i] = logits_[i] - logits_[first_];
  s_.exp_row(weights_ + first_, n_);
  total_ = 0;
  for (uint32_t i = 0; i < n_; ++i) total_ += weight(i);
}

double Chain::mean_below() {
  double sum = 0;
  for (uint32_t i = 0; i < n_; ++i) sum += weight(i) * below_first(i);
  return sum / total_;
}

void Chain::top_n_sigma() {
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < n_; ++i) sum += below_first(i);
  const double mean = sum / n_;
  for (uint32_t i = 0; i < n_; ++i) squares += (below_first(i) - mean) * (below_first(i) - mean);
  const double most = static_cast<double>(p_.top_n_sigma) * __builtin_sqrt(squares / n_);
  while (n_ > 1 && below_first(n_ - 1) > most) --n_;
}

// Surprisals rise along the candidates, so that those nearest to the entropy lie together.
void Chain::typical_p() {
  weigh();
  const double mean = mean_below(), enough = static_cast<double>(p_.typical_p) * total_;
  uint32_t end = 0;
  while (end < n_ && below_first(end) < mean) ++end;
  uint32_t begin = end;
  double sum = 0;
  while (end - begin < n_) {
    const bool lower = begin > 0 && (end == n_ || mean - below_first(begin - 1) <= below_first(end) - mean);
    sum += weight(lower ? --begin : end++);
    if (sum > enough && end - begin >= p_.min_keep) break;
  }
  first_ += begin;
  n_ = end - begin;
}

void Chain::xtc() {
  const double share = share_of(p_.seed, s_.n_draws++);
  if (n_ < 2 || share > static_cast<double>(p_.xtc_probability)) return;
  weigh();
  const double threshold = static_cast<double>(p_.xtc_threshold) * total_;
  uint32_t last = 0;
  while (last + 1 < n_ && weight(last + 1) >= threshold) ++last;
  if (n_ - last < p_.min_keep) return;
  first_ += last;
  n_ -= last;
}

void Chain::temperature() {
  double t = static_cast<double>(p_.temperature);
  if (p_.dynatemp_range > 0 && n_ > 1) {
    weigh();
    const double range = static_cast<double>(p_.dynatemp_range), low = t > range ? t - range : 0;
    const double share = (log_of(total_) + mean_below()) / log_of(n_);
    t = low + (t + range - low) * power_of(share, static_cast<double>(p_.dynatemp_exponent));
  }
  const float divisor = static_cast<float>(t);
  if (divisor == 0) n_ = 1;
  const float largest = logits_[first_];
  if (n_ > 1) offset_ = (offset_ + largest) / divisor;
  if (n_ > 1)
    for (uint32_t i = first_; i < first_ + n_; ++i) logits_[i] = (logits_[i] - largest) / divisor;
  while (n_ > 1 && logits_[first_ + n_ - 1] < -kMost) --n_;  // divided by next to nothing
}

void Chain::cut(uint32_t sampler) {
  switch (sampler) {
    case LINNET_SAMPLER_TOP_N_SIGMA:
      return top_n_sigma();
    case LINNET_SAMPLER_TOP_K:
      n_ = p_.top_k < n_ ? p_.top_k : n_;
      return;
    case LINNET_SAMPLER_TEMPERATURE:
      return temperature();
    case LINNET_SAMPLER_TYPICAL_P:
      return typical_p();
    case LINNET_SAMPLER_TOP_P: {
      weigh();
      const double enough = static_cast<double>(p_.top_p) * total_;
      double sum = 0;
      uint32_t n = 0;
      while (n < n_ && sum < enough) sum += weight(n++);
      n_ = at_least(n ? n : 1);
      return;
    }
    case LINNET_SAMPLER_MIN_P: {
      weigh();
      uint32_t n = n_;
      while (n > 1 && weights_[first_ + n - 1] < p_.min_p) --n;
      n_ = at_least(n);
      return;
    }
    default:
      return xtc();
  }
}

int32_t Chain::draw() {
  weigh();
  s_.left = ids_ + first_;
  s_.n_left = n_;
  const double drawn = share_of(p_.seed, s_.n_draws++) * total_;
  double sum = 0;
  uint32_t i = 0;
  for (; i + 1 < n_; ++i)
    if ((sum += weight(i)) > drawn) break;
  if (p_.mirostat) {
    const double surprise = (log_of(total_) + below_first(i)) / kLn2;
    if (surprise >= 0)  // none where a logit is infinite
      s_.mu -= p_.mirostat_eta * static_cast<float>(surprise - static_cast<double>(p_.mirostat_tau));
  }
  return static_cast<int32_t>(ids_[first_ + i]);
}

// The first version estimates the exponent of Zipf's law from the best 100 candidates, and from that how many to keep.
int32_t Chain::draw_mirostat() {
  weigh();
  const double mu = static_cast<double>(s_.mu);
  uint32_t keep = 1;
  if (p_.mirostat == 2) {
    while (keep < n_ && (log_of(total_) + below_first(keep)) / kLn2 <= mu) ++keep;
  } else {
    double products = 0, squares = 0;
    for (uint32_t i = 0; i < 99 && i + 1 < n_; ++i) {
      const double t = log_of((i + 2.0) / (i + 1.0));
      products += t * (below_first(i + 1) - below_first(i));
      squares += t * t;
    }
    if (squares > 0) {
      const double s = products / squares, e = s - 1, bound = mu < 144 ? exp_of(mu * kLn2) : 0x1p144;
      const double ratio = e == 0 ? 1 / log_of(n_vocab_) : e / (1 - exp_of(-e * log_of(n_vocab_)));
      const double k = power_of(bound * ratio, s > 1e-6 ? 1 / s : 1e6);
      keep = k >= n_ ? n_ : k >= 1 ? static_cast<uint32_t>(k) : 1;
    }
  }
  n_ = keep;
  return draw();
}

bool is_on(const linnet_sampling& p, uint32_t sampler) {
  switch (sampler) {
    case LINNET_SAMPLER_PENALTIES:
      return p.repeat_penalty != 1.0f || p.presence_penalty != 0 || p.frequency_penalty != 0;
    case LINNET_SAMPLER_DRY:
      return p.dry_multiplier > 0;
    case LINNET_SAMPLER_TEMPERATURE:
      return true;
    case LINNET_SAMPLER_TOP_N_SIGMA:
      return !p.mirostat && p.top_n_sigma > 0;
    case LINNET_SAMPLER_TOP_K:
      return !p.mirostat && p.top_k > 0;
    case LINNET_SAMPLER_TYPICAL_P:
      return !p.mirostat && p.typical_p > 0 && p.typical_p < 1;
    case LINNET_SAMPLER_TOP_P:
      return !p.mirostat && p.top_p < 1;
    case LINNET_SAMPLER_MIN_P:
      return !p.mirostat && p.min_p > 0;
    default:
      return !p.mirostat && p.xtc_probability > 0 && p.xtc_threshold <= 0.5f;
  }
}

struct Range {
  const char* name;
  float value, least, most;
};

}  // namespace

bool sampling_is_plain(const linnet_sampling& p) {
  return p.n_logit_bias == 0 && p.n_samplers == 0 && p.mirostat == 0 && p.min_keep <= 1 && p.dynatemp_range == 0 &&
         !is_on(p, LINNET_SAMPLER_DRY) && !is_on(p, LINNET_SAMPLER_TOP_N_SIGMA) && !is_on(p, LINNET_SAMPLER_TYPICAL_P) &&
         !is_on(p, LINNET_SAMPLER_XTC);
}

float sampling_mu(const linnet_sampling& p) { return 2 * p.mirostat_tau; }

Status chain_check(const linnet_sampling& p, Error* err) {
  const Range ranges[] = {{"typical_p", p.typical_p, 0, 1},
                          {"top_n_sigma", p.top_n_sigma, 0, 100},
                          {"xtc_probability", p.xtc_probability, 0, 1},
                          {"xtc_threshold", p.xtc_threshold, 0, 1},
                          {"dynatemp_range", p.dynatemp_range, 0, 100},
                          {"dynatemp_exponent", p.dynatemp_exponent, 0, 100},
                          {"dry_multiplier", p.dry_multiplier, 0, 100},
                          {"dry_base", p.dry_base, p.dry_multiplier > 0 ? 1.0f : 0.0f, 100},
                          {"mirostat_tau", p.mirostat_tau, 0, 100},
                          {"mirostat_eta", p.mirostat_eta, 0, 1}};
  for (const Range& r : ranges)
    if (!(r.value >= r.least && r.value <= r.most))
      return fail(err, LINNET_BAD_ARG, "sampling: ", r.name, " is outside ", static_cast<uint32_t>(r.least), "..",
                  static_cast<uint32_t>(r.most));
  if ((p.dry_multiplier > 0 && p.dry_allowed_length < 1) || p.dry_allowed_length > kMaxPenaltyTokens)
    return fail(err, LINNET_BAD_ARG, "sampling: dry_allowed_length is ", p.dry_allowed_length, ", from 1 to ", kMaxPenaltyTokens);
  if (p.dry_last_n > kMaxPenaltyTokens)
    return fail(err, LINNET_BAD_ARG, "sampling: dry_last_n is ", p.dry_last_n, ", at most ", kMaxPenaltyTokens);
  if (p.mirostat > 2) return fail(err, LINNET_BAD_ARG, "sampling: mirostat is ", p.mirostat, ", one of 0, 1, 2");
  if (p.n_samplers > kMostSamplers) return fail(err, LINNET_BAD_ARG, "sampling: n_samplers is ", p.n_samplers, ", at most ", kMostSamplers);
  uint32_t named = 0;
  for (uint32_t i = 0; i < p.n_samplers; ++i) {
    const uint32_t sampler = p.samplers[i];
    if (sampler < 1 || sampler > kMostSamplers)
      return fail(err, LINNET_BAD_ARG, "sampling: samplers[", i, "] is ", sampler, ", no linnet_sampler");
    if (named >> sampler & 1) return fail(err, LINNET_BAD_ARG, "sampling: samplers[", i, "] is ", sampler, ", which is there already");
    named |= 1u << sampler;
  }
  constexpr uint32_t kMostBiases = sizeof p.biases / sizeof *p.biases;
  if (p.n_logit_bias > kMostBiases)
    return fail(err, LINNET_BAD_ARG, "sampling: n_logit_bias is ", p.n_logit_bias, ", at most ", kMostBiases);
  for (uint32_t i = 0; i < p.n_logit_bias; ++i)
    if (!(p.biases[i] <= 100 && (p.biases[i] >= -100 || p.biases[i] < -kMost)))
      return fail(err, LINNET_BAD_ARG, "sampling: biases[", i, "] is outside -100..100, and not -INFINITY");
  return LINNET_OK;
}

int32_t sample_chain(Sampler& s, const float* logits, uint32_t n_vocab, const int32_t* history, size_t n_history, const TokenMask& mask) {
  const linnet_sampling& p = s.params;
  std::memcpy(s.logits, logits, n_vocab * sizeof(float));
  for (uint32_t i = 0; i < p.n_logit_bias; ++i)
    if (static_cast<uint32_t>(p.bias_tokens[i]) < n_vocab) s.logits[p.bias_tokens[i]] += p.biases[i];
  if (mask.bits) apply_mask(mask, s.logits, s.logits, n_vocab);
  const uint32_t* order = p.n_samplers ? p.samplers : kDefaultOrder;
  const uint32_t n_order = p.n_samplers ? p.n_samplers : kMostSamplers;
  bool greedy = false;
  for (uint32_t i = 0; i < n_order; ++i) greedy |= order[i] == LINNET_SAMPLER_TEMPERATURE && p.temperature == 0;

  Chain chain(s, n_vocab, mask);
  for (uint32_t i = 0; i < n_order; ++i) {
    if (!is_on(p, order[i])) continue;
    if (order[i] == LINNET_SAMPLER_PENALTIES) {
      apply_penalties(p, chain.all(), history, n_history);
    } else if (order[i] == LINNET_SAMPLER_DRY) {
      apply_dry(s, chain.all(), history, n_history);
    } else if (!greedy) {
      chain.sort(order[i] == LINNET_SAMPLER_TOP_K ? p.top_k : n_vocab);
      chain.cut(order[i]);
    }
  }
  if (greedy) {
    const int32_t token = argmax(s, chain.all(), n_vocab);
    return s.logits[token] < -kMost ? chain.fallback() : token;
  }
  chain.sort(n_vocab);
  return p.mirostat ? chain.draw_mirostat() : chain.draw();
}

void log_probabilities(Sampler& s, const float* logits, uint32_t n_vocab, int32_t token, float* value, uint32_t n, int32_t* tokens,
                       float* values) {
  const float largest = logits[argmax(s, logits, n_vocab)];
  for (uint32_t i = 0; i < n_vocab; ++i) s.logits[i] = logits[i] - largest;
  s.exp_row(s.logits, n_vocab);
  double total = 0;
  for (uint32_t i = 0; i < n_vocab; ++i) total += static_cast<double>(s.logits[i]);
  const double log_total = log_of(total);
  const auto log_of_token = [&](float logit) { return static_cast<float>(static_cast<double>(logit - largest) - log_total); };
  if (value) *value = log_of_token(logits[token]);
  uint32_t ids[kFew];
  float best[kFew];
  best_few(s, logits, n_vocab, n, ids, best);
  for (uint32_t i = 0; i < n; ++i) {
    tokens[i] = static_cast<int32_t>(ids[i]);
    values[i] = log_of_token(best[i]);
  }
}

}  // namespace linnet
