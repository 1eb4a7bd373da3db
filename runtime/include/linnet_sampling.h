/* linnet_sampling.h: how tokens are drawn, of each sequence its own way, and how likely they were. linnet.h includes it.
 *
 * A draw begins with the row of logits. Logit biases are added, then the samplers of `samplers` change logits and cut candidates, one after
 * another, each on what the one before it left, and one of the candidates that are left is drawn. What is off does nothing. All of it is
 * IEEE operations in a fixed order, with linnet's own exponential and logarithm: the same seed gives the same text on every machine. */
#ifndef LINNET_SAMPLING_H
#define LINNET_SAMPLING_H

#include "linnet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the default order, each with where it comes from. */
typedef enum linnet_sampler LINNET_OF_UINT32 {
  LINNET_SAMPLER_NONE = 0,
  LINNET_SAMPLER_PENALTIES = 1,   /* repeat (CTRL, Keskar et al. 2019), presence and frequency penalty (of OpenAI's API) */
  LINNET_SAMPLER_DRY = 2,         /* "don't repeat yourself" (p-e-w, text-generation-webui #5677, 2024) */
  LINNET_SAMPLER_TOP_N_SIGMA = 3, /* Tang et al. 2024 */
  LINNET_SAMPLER_TOP_K = 4,       /* Fan et al. 2018 */
  LINNET_SAMPLER_TEMPERATURE = 5, /* Ackley et al. 1985; its dynamic range: entropy sampling (kalomaze, llama.cpp #4972, 2024) */
  LINNET_SAMPLER_TYPICAL_P = 6,   /* locally typical sampling, Meister et al. 2022 */
  LINNET_SAMPLER_TOP_P = 7,       /* nucleus sampling, Holtzman et al. 2019 */
  LINNET_SAMPLER_MIN_P = 8,       /* Nguyen et al. 2024 */
  LINNET_SAMPLER_XTC = 9          /* "exclude top choices" (p-e-w, text-generation-webui #6335, 2024) */
} LINNET_32_BITS linnet_sampler;

/* How the next token is drawn. Here a field means what it says, also 0: linnet_sampling_init fills in the defaults. Probabilities are of
 * the candidates that are left at that point. */
typedef struct linnet_sampling {
  uint32_t size;
  float temperature;       /* logits are divided by it; 0 = greedy (the default): the largest logit after biases, penalties and DRY, ties to
                              the lowest id, and nothing else counts; 0..100 */
  uint32_t top_k;          /* keep the k largest; 0 = all (default) */
  float top_p;             /* keep the smallest set whose probability reaches p, 0..1; 1 = all (default), 0 = the likeliest token */
  float min_p;             /* keep tokens of at least min_p times the largest probability, 0..1; 0 = all (default) */
  float repeat_penalty;    /* logits of seen tokens: divided by it if > 0, else multiplied; above 0, up to 100; 1 = off (default) */
  float presence_penalty;  /* subtracted once from the logit of a seen token, -100..100; default 0 */
  float frequency_penalty; /* subtracted per occurrence, -100..100; default 0 */
  uint32_t penalty_last_n; /* tokens looked back for the three penalties, prompt included, 0..1024; default 64 */
  uint64_t seed;           /* default 0; the same seed gives the same text on every machine */

  float typical_p;         /* keep the smallest set of this probability whose surprisal is nearest to the entropy, 0..1; 0 (default) and 1
                              = all */
  float top_n_sigma;       /* keep logits of at least the largest less n standard deviations of all, 0..100; 0 = all (default) */
  float xtc_probability;   /* of dropping, at a draw, all tokens but the last that have xtc_threshold or more, 0..1; 0 = never (default) */
  float xtc_threshold;     /* a probability, 0..1; above 0.5 = never; default 0.1 */
  uint32_t min_keep;       /* candidates that typical-p, top-p, min-p and XTC leave at least (llama.cpp); default 0, as 1 */
  float dynatemp_range;    /* the temperature goes from temperature - range (but not below 0) to temperature + range with the entropy of the
                              candidates over the largest that as many can have, 0..100; 0 = stays (default) */
  float dynatemp_exponent; /* ... to this power, 0..100; default 1 */
  float dry_multiplier;    /* a token that would lengthen a repetition of n tokens loses multiplier * base^(n - allowed length), from n =
                              allowed length on; 0..100; 0 = off (default) */
  float dry_base;          /* 1..100 (0 too where DRY is off); default 1.75. A power ends below the largest float */
  uint32_t dry_allowed_length; /* 1..1024 (0 too where DRY is off); default 2 */
  uint32_t dry_last_n;         /* tokens looked back for repetitions, prompt included, 0..1024; default 1024 */
  uint32_t mirostat;     /* 1, 2: in place of all samplers that cut (Basu et al. 2020; 2 cuts by surprisal alone); 0 = off (default) */
  float mirostat_tau;    /* the surprise that is aimed at, in bits, 0..100; default 5 */
  float mirostat_eta;    /* learning rate, 0..1; default 0.1 */
  uint32_t n_samplers;   /* of `samplers`; 0 = the default order, all of them (default) */
  uint32_t n_logit_bias; /* of the two arrays, 0..128; default 0 */
  uint32_t samplers[16]; /* linnet_sampler, each at most once; one that is not among them does nothing, temperature 0 too */
  int32_t bias_tokens[128];
  float biases[128]; /* (logit_bias of OpenAI's API) added to the logits of these tokens, -100..100; -INFINITY = banned, never drawn where
                        there is another token that may be */
  char dry_breakers[128]; /* texts at which repetitions begin and end, each with its NUL, up to an empty one or the end; default "\n", ":",
                             "\"", "*" */
} linnet_sampling;

/* Fills in the defaults, as far as sampling->size, which the caller has set, reaches. */
LINNET_CALL linnet_status linnet_sampling_init(linnet_sampling* sampling, linnet_error* err);
/* Sets how tokens of the sequence are drawn and restarts its generator, and Mirostat. NULL = the defaults, as at the beginning.
 * Drawing is the same on every machine: candidates are ordered by logit (descending), then id; weights are
 * e^((logit - largest) / temperature) with linnet's own exponential, summed as doubles in that order; the number drawn is
 * (splitmix64(seed, i) >> 11) / 2^53 for the i-th draw, and the first candidate whose running sum passes number * total wins.
 * splitmix64(seed, i): z = seed + (i + 1) * 0x9E3779B97F4A7C15 through the finaliser of Steele, Lea and Flood 2014. With XTC a token takes
 * two numbers, the first of them XTC's. */
LINNET_CALL linnet_status linnet_sampling_set(linnet_session* session, uint32_t seq, const linnet_sampling* sampling, linnet_error* err);
/* What is set: also what linnet_state_load and linnet_fork brought along. */
LINNET_CALL linnet_status linnet_sampling_get(const linnet_session* session, uint32_t seq, linnet_sampling* out, linnet_error* err);

/* Natural logarithms of probabilities, of the row that linnet_logits gives with `back`, as the model has them: before biases and samplers.
 * Of the n likeliest (0..1024, at most n_vocab), the likeliest first, ids into tokens[n] and logarithms into values[n] (both may be NULL
 * with n 0); and of `token` into *value, which may be NULL. The row is that of before a linnet_decode, and after it the next one's: to draw
 * and see how likely it was, linnet_sample, this, linnet_prefill; after linnet_generate_next the row is the one that was drawn from. */
LINNET_CALL linnet_status linnet_logprobs(linnet_session* session, uint32_t seq, uint32_t back, int32_t token, float* value, uint32_t n,
                                          int32_t* tokens, float* values, linnet_error* err);

#ifdef __cplusplus
}
#endif
#endif
