// Rotary position embedding (Su et al. 2021): frequencies and tables, in double with our own sine, cosine, exponential and logarithm, then
// rounded to float, so that every machine has the same table.
#pragma once
#include <cstdint>

#include "spec.h"

namespace linnet {

// Vectors (rope_dim / 2) of a model that divide frequencies, or nullptr.
struct RopeFactors {
  const float *all, *up_to_original, *beyond;  // kRopeFreqs, kRopeShort, kRopeLong
};

// inv_freq[i] (rope_dim / 2) after the spec's scaling, for a sequence of `length` where the scaling depends on it.
void rope_frequencies(const ModelSpec& spec, const RopeFactors& factors, uint32_t length, double* inv_freq);
// Of a base alone.
void rope_frequencies(double base, uint32_t rope_dim, double* inv_freq);
// cos, sin of position * inv_freq for one position, times factor.
void rope_fill(const double* inv_freq, uint32_t n_pairs, uint32_t position, double factor, float* cos, float* sin);
// Of an angle of 0 to 2^31.
void rope_sin_cos(double angle, double* sin, double* cos);
double rope_log(double x);  // natural, of x > 0, the same on every machine
// base^exponent of a positive base, the same on every machine.
double rope_power(double base, double exponent);

}  // namespace linnet
