// Rotary position embedding (Su et al. 2021): frequencies and tables, in double with our own sine, cosine, exponential and logarithm, then
// rounded to float, so that every machine has the same table.
#pragma once
#include <cstdint>

#include "spec.h"

namespace linnet {

// inv_freq[i] (rope_dim / 2) after the spec's scaling; freq_factors (may be nullptr) divide each.
void rope_frequencies(const ModelSpec& spec, const float* freq_factors, double* inv_freq);
// cos, sin of position * inv_freq for one position, times `factor`.
void rope_fill(const double* inv_freq, double factor, uint32_t n_pairs, uint32_t position, float* cos, float* sin);

}  // namespace linnet
