// What the two ways of drawing share: the short one of sampling.cpp, and the chain of samplers in any order of chain.cpp.
#pragma once
#include "sampling.h"

namespace linnet {

inline constexpr uint32_t kFew = 1024;  // up to so many candidates a heap is the fastest

// ---- sampling.cpp

double share_of(uint64_t seed, uint64_t i);  // the i-th number drawn, 0 to below 1
int32_t argmax(const Sampler& s, const float* x, uint32_t n);
void apply_penalties(const linnet_sampling& p, float* logits, const int32_t* history, size_t n);
void apply_mask(const TokenMask& mask, const float* logits, float* out, uint32_t n);
// The k best, largest logit first, then lowest id: the few in `ids` and `logits` (k each, at most kFew; not in s.order); all of them as ids
// in the first half of s.order, whose second half is free then.
void best_few(const Sampler& s, const float* x, uint32_t n, uint32_t k, uint32_t* ids, float* logits);
void sort_all(const Sampler& s, const float* x, uint32_t n);
uint32_t* ids_of(const Sampler& s);
float* weights_of(const Sampler& s, uint32_t n);

// ---- chain.cpp

Status chain_check(const linnet_sampling& p, Error* err);
int32_t sample_chain(Sampler& s, const float* logits, uint32_t n_vocab, const int32_t* history, size_t n_history, const TokenMask& mask);

}  // namespace linnet
