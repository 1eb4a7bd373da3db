// Drawing tokens from logits: the candidates, sums and draws of runtime/sampling/sampling.cpp. A slice of the vocabulary gives its k best
// (sample_top), of which the k best are sorted and drawn from (sample_draw). Sorting is by radix select first: keys are different, so that
// exactly k are below a bound. More than kSampleMost candidates: sample_draw says what it does.
#include "exact.h"
#include "sample_args.h"

namespace linnet {

// Ascending keys are descending logits, equal logits by ascending id. -0 counts as 0.
LINNET_ON_GPU uint64_t key_of(float logit, uint32_t id) {
  const uint32_t u = bits_of(logit + 0.0f);
  return static_cast<uint64_t>(u & 0x80000000u ? u : ~(u | 0x80000000u)) << 32 | id;
}
LINNET_ON_GPU float logit_of(uint64_t key) {
  const uint32_t u = ~static_cast<uint32_t>(key >> 32);
  return float_of(u & 0x80000000u ? u & 0x7FFFFFFFu : ~u);
}

// How many candidates top-k leaves.
LINNET_ON_GPU uint32_t candidates_of(const CudaSampler& s, uint32_t n_vocab) {
  return s.temperature == 0 ? 1 : s.top_k && s.top_k < n_vocab ? s.top_k : n_vocab;
}
LINNET_ON_GPU uint32_t at_once(uint32_t candidates) { return candidates < kSampleMost ? candidates : kSampleMost; }

struct SelectRoom {
  uint64_t least[kSampleThreads];  // of each thread's keys
  uint32_t counts[256];
  uint32_t digit, before, all, n;
};
// The k-th smallest of n keys, of those from floor to limit (k or more), or a number between it and the next. A digit of the keys is
// counted at a time, the highest first.
template <class Key>
LINNET_ON_GPU uint64_t bound_within(Key key, uint32_t n, uint32_t k, uint64_t floor, uint64_t limit, SelectRoom& room) {
  const uint32_t thread = threadIdx.x;
  uint64_t prefix = 0;
#pragma unroll 1
  for (uint32_t shift = 56;; shift -= 8) {
    room.counts[thread] = 0;  // kSampleThreads of them
    block_sync();
#pragma unroll 4
    for (uint32_t i = thread; i < n; i += kSampleThreads) {
      const uint64_t v = key(i);
      if (v >= floor && v <= limit && (shift == 56 || (v ^ prefix) >> (shift + 8) == 0)) atomicAdd(&room.counts[v >> shift & 255], 1u);
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

// Of n keys, n_left of which are not below floor, the k smallest of those are the ones from floor up to this. The k smallest of what
// threads have as their least bound them from above: so few keys are counted, as atomics on few counters are slow.
template <class Key>
LINNET_ON_GPU uint64_t bound_of(Key key, uint32_t n, uint32_t n_left, uint32_t k, uint64_t floor, SelectRoom& room) {
  uint64_t limit = ~uint64_t{0};
  if (k >= n_left) return limit;
  if (floor == 0 && k < kSampleThreads && n >= kSampleThreads) {
    uint64_t mine = ~uint64_t{0};
    for (uint32_t i = threadIdx.x; i < n; i += kSampleThreads) mine = key(i) < mine ? key(i) : mine;
    room.least[threadIdx.x] = mine;
    block_sync();
    limit = bound_within([&](uint32_t i) { return room.least[i]; }, kSampleThreads, k, 0, limit, room);
  }
  return bound_within(key, n, k, floor, limit, room);
}

// The smallest key of a block's threads, for all of them.
LINNET_ON_GPU uint64_t least(uint64_t key, uint64_t* room) {
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

  const uint32_t k_all = candidates_of(s, n_vocab), k = at_once(k_all);
  if (k < k_all)
    for (uint32_t i = thread; i < n; i += kSampleThreads) a.values[row * uint64_t{n_vocab} + from + i] = x[i];
  uint64_t* out = a.candidates + row * uint64_t{a.n_slices} * kSampleMost + uint64_t{blockIdx.x} * k;
  const auto key = [&](uint32_t i) { return key_of(x[i], from + i); };
  if (k == 1) {
    uint64_t best = ~uint64_t{0};
    for (uint32_t i = thread; i < n; i += kSampleThreads) best = key(i) < best ? key(i) : best;
    best = least(best, room.least);
    if (thread == 0) out[0] = best;
    return;
  }
  const uint64_t bound = bound_of(key, n, n, k, 0, room);
  if (thread == 0) room.n = 0;
  block_sync();
  for (uint32_t i = thread; i < n; i += kSampleThreads)
    if (key(i) <= bound) out[atomicAdd(&room.n, 1u)] = key(i);
}

LINNET_ON_GPU uint64_t splitmix64(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

struct DrawRoom {
  uint64_t keys[kSampleMost];  // ascending
  double sums[kSampleMost];    // of the weights up to and with each candidate
  float weights[kSampleMost];
  double parts[kSampleThreads];
  uint32_t counter;
};

// The k smallest of n keys from floor on (n_left of them) with their weights and sums, which begin at `sum`.
template <class Key>
LINNET_ON_GPU void sort_candidates(Key key, uint32_t n, uint32_t n_left, uint32_t k, uint64_t floor, const float* largest,
                                   float temperature, double sum, DrawRoom& d, SelectRoom& room) {
  const uint32_t thread = threadIdx.x;
  const uint64_t bound = bound_of(key, n, n_left, k, floor, room);
  uint32_t size = 1;
  while (size < k) size *= 2;
  block_sync();  // what was there has been read
  for (uint32_t i = thread; i < size; i += kSampleThreads) d.keys[i] = ~uint64_t{0};
  if (thread == 0) room.n = 0;
  block_sync();
  for (uint32_t i = thread; i < n; i += kSampleThreads)
    if (key(i) >= floor && key(i) <= bound) d.keys[atomicAdd(&room.n, 1u)] = key(i);
#pragma unroll 1
  for (uint32_t run = 2; run <= size; run *= 2)  // bitonic sort
#pragma unroll 1
    for (uint32_t step = run / 2; step; step /= 2) {
      block_sync();
#pragma unroll 1
      for (uint32_t i = thread; i < size; i += kSampleThreads) {
        const uint32_t j = i ^ step;
        if (j < i || (d.keys[i] > d.keys[j]) != ((i & run) == 0)) continue;
        const uint64_t t = d.keys[i];
        d.keys[i] = d.keys[j];
        d.keys[j] = t;
      }
    }
  block_sync();
  const float top = largest ? *largest : logit_of(d.keys[0]);
#pragma unroll 1
  for (uint32_t i = thread; i < k; i += kSampleThreads) d.weights[i] = exp_one((logit_of(d.keys[i]) - top) / temperature);
  block_sync();
  if (thread == 0)
    for (uint32_t i = 0; i < k; ++i) d.sums[i] = sum += static_cast<double>(d.weights[i]);
  block_sync();
}

// Of the first n sums, which never fall, those that are below a limit, or with `equal` up to it.
LINNET_ON_GPU uint32_t sums_below(DrawRoom& d, uint32_t n, double limit, bool equal) {
  block_sync();
  if (threadIdx.x == 0) d.counter = 0;
  block_sync();
  for (uint32_t i = threadIdx.x; i < n; i += kSampleThreads)
    if (d.sums[i] < limit || (equal && d.sums[i] == limit)) atomicAdd(&d.counter, 1u);
  block_sync();
  return d.counter;
}
// 1 + the last of the first n weights that is not below min_p, 0 where all are.
LINNET_ON_GPU uint32_t weights_kept(DrawRoom& d, uint32_t n, float min_p) {
  block_sync();
  if (threadIdx.x == 0) d.counter = 0;
  block_sync();
  for (uint32_t i = threadIdx.x; i < n; i += kSampleThreads)
    if (!(d.weights[i] < min_p)) atomicMax(&d.counter, i + 1);
  block_sync();
  return d.counter;
}

// The token is drawn from the largest kSampleMost candidates where these are all, or where the sum of all, known but for the rounding of
// its order, leaves no doubt. Else all are sorted a part at a time, as often as their sums are asked for: slow (tens of milliseconds) and
// rare unless most of the probability lies beyond the largest 1024.
LINNET_KERNEL_MIN(kSampleThreads, 1) sample_draw(const SampleArgs a) {
  LINNET_SHARED DrawRoom d;
  LINNET_SHARED SelectRoom room;
  const uint32_t thread = threadIdx.x, row = blockIdx.x, n_vocab = a.of.n_vocab, seq = a.of.spans ? a.of.spans[row].seq : row;
  CudaSampler& s = a.of.samplers[seq];
  const uint32_t k_all = candidates_of(s, n_vocab), k = at_once(k_all), tail = n_vocab - (a.n_slices - 1) * kSampleSlice,
                 n = (a.n_slices - 1) * k + (tail < k ? tail : k);
  const uint64_t* from = a.candidates + row * uint64_t{a.n_slices} * kSampleMost;
  const float* values = a.values + row * uint64_t{n_vocab};
  const float temperature = s.temperature, min_p = s.min_p, top_p = s.top_p;
  const double share = static_cast<double>(splitmix64(s.seed, s.n_draws) >> 11) * 0x1p-53;
  uint64_t drawn_key = 0;
  if (k == 1) {
    uint64_t best = ~uint64_t{0};
    for (uint32_t i = thread; i < n; i += kSampleThreads) best = from[i] < best ? from[i] : best;
    drawn_key = least(best, room.least);
  } else {
    sort_candidates([&](uint32_t i) { return from[i]; }, n, n, k, 0, nullptr, temperature, 0, d, room);
    const float largest = logit_of(d.keys[0]);
    uint32_t n_kept = 0;  // candidates that are drawn from; 0: not known
    bool drawn = false;
    if (k == k_all) {
      n_kept = k;
      if (top_p < 1) n_kept = 1 + sums_below(d, k - 1, static_cast<double>(top_p) * d.sums[k - 1], false);
    } else if (k_all == n_vocab) {
      double part = 0;
      for (uint32_t i = thread; i < n_vocab; i += kSampleThreads)
        part += static_cast<double>(exp_one((logit_of(key_of(values[i], i)) - largest) / temperature));
      d.parts[thread] = part;
      for (uint32_t half = kSampleThreads / 2; half; half /= 2) {
        block_sync();
        if (thread < half) d.parts[thread] += d.parts[thread + half];
      }
      block_sync();
      // Sums of n numbers that are not negative, in any two orders, are within 2 n 2^-53 of each other; doubled here.
      const double sum = d.parts[0], error = sum * static_cast<double>(n_vocab) * 0x1p-51;
      if (top_p < 1) {
        const uint32_t low = sums_below(d, k, static_cast<double>(top_p) * (sum - error), false),
                       high = sums_below(d, k, static_cast<double>(top_p) * (sum + error), false);
        if (low == high && low < k) n_kept = low + 1;
      } else if (min_p > 0) {
        if (d.weights[k - 1] * 1.0001f < min_p)
          n_kept = k;  // and so are all that follow, neighbours' exponentials may be out of order by their rounding
      } else {
        const uint32_t low = sums_below(d, k, share * (sum - error), true), high = sums_below(d, k, share * (sum + error), true);
        drawn = low == high && low < k;
        if (drawn) drawn_key = d.keys[low];
      }
    }
    if (n_kept) {
      if (min_p > 0) {
        n_kept = weights_kept(d, n_kept, min_p);
        n_kept = n_kept ? n_kept : 1;
      }
      const uint32_t below = sums_below(d, n_kept, share * d.sums[n_kept - 1], true);
      drawn_key = d.keys[below < n_kept ? below : n_kept - 1];
    } else if (!drawn) {
      double total = 0, kept_sum = 0;
      n_kept = k_all;
#pragma unroll 1
      for (uint32_t round = top_p < 1 ? 0 : 1; round < 3; ++round) {  // the sum of all; which are kept, and their sum; the token
        const uint32_t end = round < 2 ? k_all : n_kept;
        const double limit = round == 1 ? static_cast<double>(top_p) * total : share * kept_sum;
        double sum = 0;
        uint64_t floor = 0;
        bool found = false;
#pragma unroll 1
        for (uint32_t at = 0; at < end && !found; at += kSampleMost) {
          const uint32_t count = end - at < kSampleMost ? end - at : kSampleMost;
          sort_candidates([&](uint32_t i) { return key_of(values[i], i); }, n_vocab, n_vocab - at, count, floor, &largest, temperature, sum,
                          d, room);
          if (round == 1) {
            uint32_t kept = count;
            if (top_p < 1) {
              const uint32_t below = sums_below(d, count, limit, false);
              found = below < count;
              kept = found ? below + 1 : count;
            }
            if (min_p > 0) kept = weights_kept(d, kept, min_p);
            if (kept) n_kept = at + kept, kept_sum = d.sums[kept - 1];
          } else if (round == 2) {
            const uint32_t below = sums_below(d, count, limit, true);
            found = below < count;
            drawn_key = d.keys[found ? below : count - 1];
          }
          sum = d.sums[count - 1];
          floor = d.keys[count - 1] + 1;
        }
        if (round == 0) total = sum;
      }
    }
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
