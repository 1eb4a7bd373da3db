// Drawing a token from logits: the order of steps and of sums is part of the ABI (linnet_sampling_set), so that a seed gives the same text
// on every machine.
#pragma once
#include <string_view>

#include "../../platform/status.h"

namespace linnet {

inline constexpr uint32_t kMaxPenaltyTokens = 1024, kMaxLogprobs = 1024;

struct Sampler {
  linnet_sampling params;  // of the sequence that is drawn for
  uint64_t n_draws;
  float mu;  // of Mirostat, what surprises more is cut; changes with each draw
  // The bytes of a token, for DRY's breakers; nullptr: tokens have none.
  std::string_view (*text)(const void* of, int32_t token);
  const void* text_of;
  // Of the kernels (KernelTable): exp of a row in place, and the first value above another.
  void (*exp_row)(float* x, uint32_t n);
  uint32_t (*find_above)(const float* x, uint32_t n, uint32_t from, float t);
  uint64_t* order;       // (n_vocab) sort keys: logit descending, then id; of many candidates n_vocab ids and n_vocab weights
  float* logits;         // (n_vocab) copy that penalties, masks and temperature change
  const uint32_t* left;  // (n_left) what a chain drew from the last time, within `order`
  uint32_t n_left;
};

// Which tokens may be drawn.
struct TokenMask {
  const uint32_t* bits = nullptr;  // bit i % 32 of word i / 32 allows token i; nullptr: all are allowed
  uint32_t n_allowed = 0;          // 1 or more
};

void sampling_default(linnet_sampling* out);
// What Mirostat begins with.
float sampling_mu(const linnet_sampling& p);
// Penalties, top-k, temperature, top-p and min-p in the default order: what sample() has short ways for, and a GPU draws by itself.
bool sampling_is_plain(const linnet_sampling& p);
// What a caller wishes, whose struct may end before ours does: that is left as it is by default. Names the field that is out of its range.
Status sampling_check(const linnet_sampling* in, linnet_sampling* out, Error* err);
// history: the sequence's tokens, the last `n_history` of them count for penalties (after penalty_last_n). Only tokens that the mask allows
// are drawn. No logit is NaN.
int32_t sample(Sampler& s, const float* logits, uint32_t n_vocab, const int32_t* history, size_t n_history, const TokenMask& mask = {});
// As linnet_logprobs says; value nullptr: of no token.
void log_probabilities(Sampler& s, const float* logits, uint32_t n_vocab, int32_t token, float* value, uint32_t n, int32_t* tokens,
                       float* values);

}  // namespace linnet
