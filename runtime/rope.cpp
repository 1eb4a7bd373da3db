#include "rope.h"

#include <cstring>

namespace linnet {
namespace {

constexpr double kLn2Hi = 6.93147180369123816490e-01, kLn2Lo = 1.90821492927058770002e-10, kPi = 3.14159265358979323846;

double scale_2(double x, int n) {
  uint64_t bits = static_cast<uint64_t>(n + 1023) << 52;
  double p;
  std::memcpy(&p, &bits, 8);
  return x * p;
}

// Natural logarithm of a positive normal number: x = 2^e * m, ln m = 2 atanh((m - 1) / (m + 1)).
double log_positive(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  int e = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m;
  std::memcpy(&m, &bits, 8);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;  // t2 < 0.03: the first term left out is below 1e-18
  return e * kLn2Hi + (e * kLn2Lo + 2 * t * sum);
}

// e^x for |x| < 700.
double exp_double(double x) {
  const double n = __builtin_floor(x * 1.44269504088896338700 + 0.5);
  const double r = (x - n * kLn2Hi) - n * kLn2Lo;
  double sum = 1;
  for (int k = 17; k >= 1; --k) sum = sum * r / k + 1;
  return scale_2(sum, static_cast<int>(n));
}

// Sine and cosine of a >= 0, below 2^31: subtracts multiples of pi/2 kept in three parts of 33 bits, so that each product is exact.
void sin_cos(double a, double* s, double* c) {
  constexpr double kPart1 = 1.57079632673412561417e+00, kPart2 = 6.07710050630396597660e-11, kPart3 = 2.02226624879595063154e-21;
  const double n = __builtin_floor(a * (2 / kPi) + 0.5);
  const double r = ((a - n * kPart1) - n * kPart2) - n * kPart3, r2 = r * r;
  double sine = 1, cosine = 1;  // Taylor series, innermost term first: 1 - r2/(2*3) * (1 - r2/(4*5) * (...))
  for (int k = 18; k >= 2; k -= 2) sine = 1 - r2 / (k * (k + 1)) * sine;
  for (int k = 19; k >= 1; k -= 2) cosine = 1 - r2 / (k * (k + 1)) * cosine;
  sine *= r;
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      *s = sine, *c = cosine;
      break;
    case 1:
      *s = cosine, *c = -sine;
      break;
    case 2:
      *s = -sine, *c = -cosine;
      break;
    default:
      *s = -cosine, *c = sine;
      break;
  }
}

// Llama 3.1: low frequencies are divided by the factor, high ones stay, those between are blended.
double scale_llama3(const ModelSpec& spec, double f) {
  const double wavelength = 2 * kPi / f, original = spec.rope_original;
  if (wavelength >= original / spec.rope_low) return f / spec.rope_factor;
  if (wavelength < original / spec.rope_high) return f;
  const double smooth = (original / wavelength - spec.rope_low) / (spec.rope_high - spec.rope_low);
  return (1 - smooth) * f / spec.rope_factor + smooth * f;
}

// YaRN (Peng et al. 2023): between the pair that turns rope_high times within the original positions and the one that turns rope_low times
// a ramp leads from frequencies as they are to frequencies divided by the factor. pair_of: the pair, a fraction, that turns so many times.
double scale_yarn(const ModelSpec& spec, uint32_t pair, double f) {
  const double log_base = log_positive(spec.rope_base);
  const auto pair_of = [&](double turns) { return spec.rope_dim * log_positive(spec.rope_original / (turns * 2 * kPi)) / (2 * log_base); };
  double low = pair_of(spec.rope_high), high = pair_of(spec.rope_low);
  if (!spec.rope_untruncated) low = __builtin_floor(low), high = __builtin_ceil(high);
  low = low > 0 ? low : 0;
  high = high < spec.rope_dim - 1 ? high : spec.rope_dim - 1;
  if (high == low) high += 0.001;  // no division by zero
  double ramp = (pair - low) / (high - low);
  ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
  return f / spec.rope_factor * ramp + f * (1 - ramp);
}

}  // namespace

double rope_log(double x) { return log_positive(x); }
void rope_sin_cos(double angle, double* sin, double* cos) { sin_cos(angle, sin, cos); }
double rope_power(double base, double exponent) { return exp_double(exponent * log_positive(base)); }

void rope_frequencies(double base, uint32_t rope_dim, double* inv_freq) {
  const double log_base = log_positive(base);
  for (uint32_t i = 0; i < rope_dim / 2; ++i) inv_freq[i] = exp_double(-log_base * (2.0 * i) / rope_dim);
}

void rope_frequencies(const ModelSpec& spec, const RopeFactors& factors, uint32_t length, double* inv_freq) {
  double base = spec.rope_base;
  if (spec.rope_scaling == kRopeScaleDynamic && length > spec.rope_original) {
    const double dim = spec.rope_dim, f = spec.rope_factor;
    base *= rope_power(f * length / spec.rope_original - (f - 1), dim / (dim - 2));
  }
  const float* by_length = length > spec.rope_original ? factors.beyond : factors.up_to_original;
  rope_frequencies(base, spec.rope_dim, inv_freq);
  for (uint32_t i = 0; i < spec.rope_dim / 2; ++i) {
    double f = inv_freq[i];
    if (spec.rope_scaling == kRopeScaleLinear) f /= spec.rope_factor;
    if (spec.rope_scaling == kRopeScaleLlama3) f = scale_llama3(spec, f);
    if (spec.rope_scaling == kRopeScaleYarn) f = scale_yarn(spec, i, f);
    if (spec.rope_scaling == kRopeScaleLong) f /= static_cast<double>(by_length[i]);
    if (spec.rope_turned && i >= spec.rope_turned / 2) f = 0;
    inv_freq[i] = factors.all ? f / static_cast<double>(factors.all[i]) : f;
  }
}

void rope_fill(const double* inv_freq, uint32_t n_pairs, uint32_t position, double factor, float* cos, float* sin) {
  for (uint32_t i = 0; i < n_pairs; ++i) {
    double s, c;
    sin_cos(position * inv_freq[i], &s, &c);
    cos[i] = static_cast<float>(c * factor);
    sin[i] = static_cast<float>(s * factor);
  }
}

}  // namespace linnet
