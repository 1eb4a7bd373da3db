// Drawing tokens from logits: the candidates, sums and draws of runtime/sampling/sampling.cpp. A slice of the vocabulary gives its k best (sample_top), of which the k best are sorted and drawn
// from (sample_draw). Sorting is by radix select first: keys are different, so that exactly k are below a bound.
#include "exact.h"
#include "sample_args.h"

namespace linnet {

// Ascending keys are descending logits, equal logits by ascending id. -0 counts as 0.
LINNET_DEVICE uint64_t key_of(float logit, uint32_t id) {
  const uint32_t u = bits_of(logit + 0.0f);
  return static_cast<uint64_t>(u & 0x80000000u ? u : ~(u | 0x80000000u)) << 32 | id;
}
LINNET_DEVICE float logit_of(uint64_t key) {
  const uint32_t u = ~static_cast<uint32_t>(key >> 32);
  return float_of(u & 0x80000000u ? u & 0x7FFFFFFFu : ~u);
}

LINNET_DEVICE uint32_t candidates_of(const CudaSampler& s, uint32_t n_vocab) {
  const uint32_t k = s.temperature == 0 ? 1 : s.top_k && s.top_k < n_vocab ? s.top_k : n_vocab;
  return k < kSampleMost ? k : kSampleMost;  // cuda_can_sample: never more
}

struct SelectRoom {
  uint64_t least[kSampleThreads];  // of each thread's keys
  uint32_t counts[256];
  uint32_t digit, before, all, n;
};
// The k-th smallest of n keys, of those that are not above `limit` (k or more), or a number between it and the next. A digit of the keys is counted at a time, the highest first.
template <class Key>
LINNET_DEVICE uint64_t bound_of(Key key, uint32_t n, uint32_t k, uint64_t limit, SelectRoom& room) {
  const uint32_t thread = threadIdx.x;
  uint64_t prefix = 0;
#pragma unroll 1
  for (uint32_t shift = 56;; shift -= 8) {
    room.counts[thread] = 0;  // kSampleThreads of them
    block_sync();
#pragma unroll 4
    for (uint32_t i = thread; i < n; i += kSampleThreads) {
      const uint64_t v = key(i);
      if (v <= limit && (shift == 56 || (v ^ prefix) >> (shift + 8) == 0)) atomicAdd(&room.counts[v >> shift & 255], 1u);
    }
    block_sync();
    if (thread < 32) {  // the digit at which the counts up to it reach k: eight a lane
      uint32_t mine = 0;
      for (uint32_t j = 0; j < 8; ++j) mine += room.counts[thread * 8 + j];
      uint32_t upto = mine;
      for (uint32_t step = 1; step < 32; step *= 2) {
        const int other = shuffle(static_cast<int>(upto), static_cast<int>((thread - step) & 31));
        if (thread >= step) upto += static_cast<uint32_t>(other);
      }
      uint32_t before = upto - mine;
      if (before < k && k <= upto) {
        uint32_t digit = thread * 8;
#pragma unroll 1
        for (; before + room.counts[digit] < k; ++digit) before += room.counts[digit];
        room.digit = digit;
        room.before = before;
        room.all = room.counts[digit];
      }
    }
    block_sync();
    prefix |= uint64_t{room.digit} << shift;
    k -= room.before;
    const uint64_t bound = prefix | ((uint64_t{1} << shift) - 1);
    if (room.all == k || shift == 0) return bound < limit ? bound : limit;
  }
}

// The k smallest of n keys are those up to this. The k smallest of what threads have as their least bound them from above: so few keys are counted, as atomics on few counters are slow.
template <class Key>
LINNET_DEVICE uint64_t bound_of(Key key, uint32_t n, uint32_t k, SelectRoom& room) {
  if (k >= n) return ~uint64_t{0};
  uint64_t limit = ~uint64_t{0};
  if (k < kSampleThreads && n >= kSampleThreads) {
    uint64_t mine = ~uint64_t{0};
    for (uint32_t i = threadIdx.x; i < n; i += kSampleThreads) mine = key(i) < mine ? key(i) : mine;
    room.least[threadIdx.x] = mine;
    block_sync();
    limit = bound_of([&](uint32_t i) { return room.least[i]; }, kSampleThreads, k, limit, room);
    if (n == kSampleThreads) return limit;
  }
  return bound_of(key, n, k, limit, room);
}

// The smallest key of a block's threads, for all of them.
LINNET_DEVICE uint64_t least(uint64_t key, uint64_t* room) {
  room[threadIdx.x] = key;
  for (uint32_t n = kSampleThreads / 2; n; n /= 2) {
    block_sync();
    if (threadIdx.x < n && room[threadIdx.x + n] < room[threadIdx.x]) room[threadIdx.x] = room[threadIdx.x + n];
  }
  block_sync();
  return room[0];
}

LINNET_KERNEL(kSampleThreads) sample_top(const SampleArgs a) {
  LINNET_SHARED __align__(16) float x[kSampleSlice];
  LINNET_SHARED int32_t past[kSampleMost];
  LINNET_SHARED SelectRoom room;
  const uint32_t thread = threadIdx.x, row = blockIdx.y, from = blockIdx.x * kSampleSlice, n_vocab = a.of.n_vocab;
  const uint32_t n = n_vocab - from < kSampleSlice ? n_vocab - from : kSampleSlice, seq = a.of.spans ? a.of.spans[row].seq : row;
  const CudaSampler s = a.of.samplers[seq];
  const float* logits = a.of.logits + row * a.of.stride + from;
  for (uint32_t i = thread * 4; i < n; i += kSampleThreads * 4) {
    float v[4];
    load_quad(logits, i, n, v);
    for (uint32_t j = 0; j < 4; ++j)
      if ((bits_of(v[j]) & 0x7FFFFFFFu) >= 0x7F800000u) *a.not_finite = 1;
    store_quad(x, i, kSampleSlice, v);
  }
  block_sync();
  if (s.repeat_penalty != 1.0f || s.presence_penalty != 0 || s.frequency_penalty != 0) {
    uint32_t last = s.penalty_last_n < kSampleMost ? s.penalty_last_n : kSampleMost;
    last = s.n_history < last ? s.n_history : last;
    const int32_t* history = a.of.history + seq * a.of.history_stride + (s.n_history - last);
    for (uint32_t i = thread; i < last; i += kSampleThreads) past[i] = history[i];
    block_sync();
#pragma unroll 1
    for (uint32_t i = thread; i < last; i += kSampleThreads) {
      const uint32_t at = static_cast<uint32_t>(past[i]) - from;
      if (at >= n) continue;
      uint32_t count = 0;
      bool seen = false;
#pragma unroll 1
      for (uint32_t j = 0; j < last && !seen; ++j) {
        if (past[j] != past[i]) continue;
        seen = j < i;  // counted at its first place
        ++count;
      }
      if (seen) continue;
      float v = x[at];
      if (s.repeat_penalty != 1.0f) v = v > 0 ? v / s.repeat_penalty : v * s.repeat_penalty;
      x[at] = v - (s.presence_penalty + s.frequency_penalty * static_cast<float>(count));
    }
  }
  block_sync();

  const uint32_t k = candidates_of(s, n_vocab);
  uint64_t* out = a.candidates + row * uint64_t{a.n_slices} * kSampleMost + uint64_t{blockIdx.x} * k;
  const auto key = [&](uint32_t i) { return key_of(x[i], from + i); };
  if (k == 1) {
    uint64_t best = ~uint64_t{0};
    for (uint32_t i = thread; i < n; i += kSampleThreads) best = key(i) < best ? key(i) : best;
    best = least(best, room.least);
    if (thread == 0) out[0] = best;
    return;
  }
  const uint64_t bound = bound_of(key, n, k, room);
  if (thread == 0) room.n = 0;
  block_sync();
  for (uint32_t i = thread; i < n; i += kSampleThreads)
    if (key(i) <= bound) out[atomicAdd(&room.n, 1u)] = key(i);
}

LINNET_DEVICE uint64_t splitmix64(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

LINNET_KERNEL(kSampleThreads) sample_draw(const SampleArgs a) {
  LINNET_SHARED uint64_t keys[kSampleMost];
  LINNET_SHARED double sums[kSampleMost];   // of the weights up to and with each candidate
  LINNET_SHARED float weights[kSampleMost];
  LINNET_SHARED SelectRoom room;
  LINNET_SHARED uint32_t n_top, n_min, n_below;
  const uint32_t thread = threadIdx.x, row = blockIdx.x, n_vocab = a.of.n_vocab, seq = a.of.spans ? a.of.spans[row].seq : row;
  CudaSampler& s = a.of.samplers[seq];
  const uint32_t k = candidates_of(s, n_vocab), tail = n_vocab - (a.n_slices - 1) * kSampleSlice, n = (a.n_slices - 1) * k + (tail < k ? tail : k);
  const uint64_t* from = a.candidates + row * uint64_t{a.n_slices} * kSampleMost;
  const float temperature = s.temperature, min_p = s.min_p;
  uint64_t drawn_key;
  if (k == 1) {
    uint64_t best = ~uint64_t{0};
    for (uint32_t i = thread; i < n; i += kSampleThreads) best = from[i] < best ? from[i] : best;
    drawn_key = least(best, room.least);
  } else {
    const uint64_t bound = bound_of([&](uint32_t i) { return from[i]; }, n, k, room);
    uint32_t size = 1;
    while (size < k) size *= 2;
    for (uint32_t i = thread; i < size; i += kSampleThreads) keys[i] = ~uint64_t{0};
    if (thread == 0) room.n = n_top = n_min = n_below = 0;
    block_sync();
    for (uint32_t i = thread; i < n; i += kSampleThreads)
      if (from[i] <= bound) keys[atomicAdd(&room.n, 1u)] = from[i];
#pragma unroll 1
    for (uint32_t run = 2; run <= size; run *= 2)  // bitonic sort
#pragma unroll 1
      for (uint32_t step = run / 2; step; step /= 2) {
        block_sync();
#pragma unroll 1
        for (uint32_t i = thread; i < size; i += kSampleThreads) {
          const uint32_t j = i ^ step;
          if (j < i || (keys[i] > keys[j]) != ((i & run) == 0)) continue;
          const uint64_t t = keys[i];
          keys[i] = keys[j];
          keys[j] = t;
        }
      }
    block_sync();
    const float largest = logit_of(keys[0]);
#pragma unroll 1
    for (uint32_t i = thread; i < k; i += kSampleThreads) weights[i] = exp_one((logit_of(keys[i]) - largest) / temperature);
    block_sync();
    if (thread == 0) {
      double sum = 0;
      for (uint32_t i = 0; i < k; ++i) sums[i] = sum += static_cast<double>(weights[i]);
    }
    block_sync();
    // Sums never fall, so what the host counts one by one is how many lie below.
    uint32_t n_kept = k;
    if (s.top_p < 1) {
      const double enough = static_cast<double>(s.top_p) * sums[k - 1];
      for (uint32_t i = thread; i < k; i += kSampleThreads)
        if ((i ? sums[i - 1] : 0.0) < enough) atomicAdd(&n_top, 1u);
      block_sync();
      n_kept = n_top;
    }
    if (min_p > 0) {
      for (uint32_t i = thread; i < n_kept; i += kSampleThreads)
        if (!(weights[i] < min_p)) atomicMax(&n_min, i + 1);
      block_sync();
      n_kept = n_min ? n_min : n_kept ? 1 : 0;
    }
    const double total = n_kept ? sums[n_kept - 1] : 0.0;
    const double drawn = static_cast<double>(splitmix64(s.seed, s.n_draws) >> 11) * 0x1p-53 * total;
    for (uint32_t i = thread; i < n_kept; i += kSampleThreads)
      if (!(sums[i] > drawn)) atomicAdd(&n_below, 1u);
    block_sync();
    drawn_key = keys[n_below < n_kept ? n_below : n_kept ? n_kept - 1 : 0];
  }
  block_sync();  // everybody has read the sampler
  if (thread) return;
  const uint32_t bad = *a.not_finite;
  const int32_t token = bad ? 0 : static_cast<int32_t>(drawn_key & 0xFFFFFFFFu);
  if (!bad && temperature != 0) s.n_draws += 1;
  if (!bad && a.of.append && s.n_history < a.of.history_stride) a.of.history[seq * a.of.history_stride + s.n_history++] = token;
  a.of.tokens[row] = token;
  a.of.results[row].token = token;
  a.of.results[row].not_finite = bad;
}

}  // namespace linnet
