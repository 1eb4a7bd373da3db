// Mixture of experts: each row's choice, the pairs in the order of experts, their rows, and what they give added up. The bits of
// kernels_cpu/experts.cpp.
#include "exact.h"
#include "experts_args.h"

namespace linnet {

// A choice of a warp: the larger value, of equal ones the lower number; nothing where the number is kNone. What is not a number counts as
// -infinity.
constexpr uint32_t kNone = 0xFFFFFFFFu;
struct Best {
  float value;
  uint32_t at;
};
LINNET_ON_GPU bool beats(const Best& a, const Best& b) {
  return b.at == kNone || (a.at != kNone && (a.value > b.value || (a.value == b.value && a.at < b.at)));
}
LINNET_ON_GPU void consider(Best& best, float value, uint32_t at) {
  const Best b = {value == value ? value : float_of(0xFF800000u), at};
  if (beats(b, best)) best = b;
}
LINNET_ON_GPU uint32_t best_of_warp(Best b) {
  for (int lanes = 16; lanes; lanes /= 2) {
    const Best other = {shuffle_xor(b.value, lanes), static_cast<uint32_t>(shuffle_xor(static_cast<int>(b.at), lanes))};
    if (beats(other, b)) b = other;
  }
  return b.at;
}

// Of one warp: s[i] = softmax of value(i).
template <class Value>
LINNET_ON_GPU void softmax_of(float* s, uint32_t n, Value value) {
  const uint32_t lane = threadIdx.x;
  float max = value(0), part = 0;
  for (uint32_t i = lane; i < n; i += 32) {
    const float v = value(i);
    max = v > max ? v : max;
  }
  for (int lanes = 16; lanes; lanes /= 2) {
    const float other = shuffle_xor(max, lanes);
    max = other > max ? other : max;
  }
#pragma unroll 1
  for (uint32_t i = lane; i < n; i += 32) s[i] = exp_one(value(i) - max);
  warp_sync();
  for (uint32_t i = lane % 16; i < n; i += 16) part = part + s[i];
  part = tree_sum(part);
  warp_sync();
#pragma unroll 1
  for (uint32_t i = lane; i < n; i += 32) s[i] = s[i] / part;
}

// One warp a row. Lane l has experts l, l + 32, ..: bit j of its masks is expert l + 32 j.
LINNET_KERNEL(32) route_rows(const RouteArgs a) {
  LINNET_SHARED float s[kRouteExperts];       // scores
  LINNET_SHARED float groups[kRouteExperts];  // of each group what its best add up to
  LINNET_SHARED uint32_t chosen[kRouteExperts];
  LINNET_SHARED float mixed[2];  // shares of two experts
  const uint32_t row = blockIdx.x, lane = threadIdx.x, n = a.n_experts;
  const float* logits = a.logits + row * a.stride;
  if (a.sigmoid) {
#pragma unroll 1
    for (uint32_t i = lane; i < n; i += 32) s[i] = 1.0f / (1.0f + exp_one(-logits[i]));
  } else if (!a.mixer) {
    softmax_of(s, n, [&](uint32_t i) { return logits[i]; });
  }
  warp_sync();
  const auto choice = [&](uint32_t i) { return a.mixer ? logits[i] : a.correction ? s[i] + a.correction[i] : s[i]; };

  uint32_t taken = 0;
  if (a.n_groups) {  // experts of all but the best groups count as taken
    const uint32_t size = n / a.n_groups;
#pragma unroll 1
    for (uint32_t g = lane; g < a.n_groups; g += 32) {
      float sum = 0, last = 0;
      uint32_t last_at = kNone;
#pragma unroll 1
      for (uint32_t k = 0; k < a.group_best; ++k) {  // the next one in descending order
        Best best = {0, kNone};
        for (uint32_t e = g * size; e < (g + 1) * size; ++e) {
          const float v = choice(e);
          if (last_at == kNone || v < last || (v == last && e > last_at)) consider(best, v, e);
        }
        if (best.at == kNone) break;
        last = best.value, last_at = best.at;
        sum = sum + choice(best.at);
      }
      groups[g] = sum;
    }
    warp_sync();
    uint32_t used = 0;
    for (uint32_t k = 0; k < a.top_groups; ++k) {
      Best best = {0, kNone};
      for (uint32_t g = lane; g < a.n_groups; g += 32)
        if (!(used >> (g / 32) & 1)) consider(best, groups[g], g);
      const uint32_t g = best_of_warp(best);
      if (g % 32 == lane) used |= 1u << (g / 32);
    }
    warp_sync();
    for (uint32_t g = lane; g < a.n_groups; g += 32) groups[g] = used >> (g / 32) & 1 ? 1.0f : 0.0f;
    warp_sync();
    for (uint32_t e = lane; e < n; e += 32)
      if (!(groups[e / size] > 0)) taken |= 1u << (e / 32);
  }
  for (uint32_t k = 0; k < a.n_active; ++k) {
    Best best = {0, kNone};
    for (uint32_t e = lane; e < n; e += 32)
      if (!(taken >> (e / 32) & 1)) consider(best, choice(e), e);
    const uint32_t e = best_of_warp(best);
    if (a.mixer) {  // its share of a softmax over those that are left and near it
      const float most = logits[e];
      const auto near = [&](uint32_t i) {
        const float v = logits[i], size = abs_of(v) > most ? abs_of(v) : most;
        return groups[i] > 0 || (most - v) / size > a.near ? float_of(0xFF800000u) : v;
      };
      for (uint32_t i = lane; i < n; i += 32) groups[i] = taken >> (i / 32) & 1 ? 1.0f : 0.0f;
      warp_sync();
      softmax_of(s, n, near);
      warp_sync();
      if (lane == 0) mixed[k] = s[e];
    }
    if (e % 32 == lane) taken |= 1u << (e / 32);
    if (lane == 0) chosen[k] = e;
  }
  warp_sync();

  // In ascending order: an expert's place is how many are lower. Weights are summed in that order.
  const uint64_t at = uint64_t{row} * a.n_active;
  for (uint32_t k = lane; k < a.n_active; k += 32) {
    uint32_t place = 0;
    for (uint32_t j = 0; j < a.n_active; ++j) place += chosen[j] < chosen[k];
    a.pairs.experts[at + place] = chosen[k];
    groups[place] = a.mixer ? mixed[k] : s[chosen[k]];
  }
  warp_sync();
  float sum = 0;
  for (uint32_t k = 0; k < a.n_active; ++k) sum = sum + groups[k];
#pragma unroll 1
  for (uint32_t k = lane; k < a.n_active; k += 32) {
    const float weight = (a.normalise ? groups[k] / (sum + 1e-20f) : groups[k]) * a.scale;
    a.pairs.weights[at + k] = a.weigh ? weight * a.weigh[a.pairs.experts[at + k]] : weight;
  }
  if (a.capacity.chosen) {
    const CudaSpan span = a.capacity.spans[a.capacity.row_span[row]];
    uint16_t* to = a.capacity.chosen + span.seq * a.capacity.chosen_stride + uint64_t{span.position + row - span.row} * a.n_active;
    for (uint32_t k = lane; k < a.n_active; k += 32) {
      uint32_t place = 0;
      for (uint32_t j = 0; j < a.n_active; ++j) place += chosen[j] < chosen[k];
      to[place] = static_cast<uint16_t>(chosen[k]);
    }
  }
}

// Pairs by expert, those of one expert in their order: each warp counts a segment of them, the counts are summed up in the order (expert,
// segment), and each warp places its segment. One block.
LINNET_KERNEL(kGroupThreads) group_pairs(const GroupArgs a) {
  LINNET_SHARED uint32_t counts[kGroupCounts];  // [segment][expert], then where the segment's next pair of the expert goes
  LINNET_SHARED uint32_t sums[2][kRouteExperts], actives[2][kRouteExperts];
  const uint32_t thread = threadIdx.x, threads = blockDim.x, warp = thread / 32, lane = thread % 32, n = a.n_experts;
  const uint32_t from = warp * a.segment_pairs, to = from + a.segment_pairs < a.n_pairs ? from + a.segment_pairs : a.n_pairs;
  for (uint32_t i = thread; i < a.segments * n; i += threads) counts[i] = 0;
  block_sync();
  if (warp < a.segments)
    for (uint32_t i = from + lane; i < to; i += 32) atomicAdd(&counts[warp * n + a.pairs.experts[i]], 1u);
  block_sync();
  for (uint32_t e = thread; e < n; e += threads) {
    uint32_t sum = 0;
    for (uint32_t g = 0; g < a.segments; ++g) sum += counts[g * n + e];
    sums[0][e] = sum;
    actives[0][e] = sum > 0;
  }
  block_sync();
  uint32_t now = 0;
#pragma unroll 1
  for (uint32_t step = 1; step < n; step *= 2, now ^= 1) {  // sums up to and with each expert
    for (uint32_t e = thread; e < n; e += threads) {
      sums[now ^ 1][e] = sums[now][e] + (e >= step ? sums[now][e - step] : 0);
      actives[now ^ 1][e] = actives[now][e] + (e >= step ? actives[now][e - step] : 0);
    }
    block_sync();
  }
  for (uint32_t e = thread; e < n; e += threads) {
    uint32_t next = e ? sums[now][e - 1] : 0;
    a.pairs.first[e] = next;
    const uint32_t n_before = e ? actives[now][e - 1] : 0;
    if (actives[now][e] > n_before) a.pairs.active[n_before] = e;
    for (uint32_t g = 0; g < a.segments; ++g) {
      const uint32_t count = counts[g * n + e];
      counts[g * n + e] = next;
      next += count;
    }
  }
  if (thread == 0) {
    a.pairs.first[n] = a.pairs.first[n + 1] = a.n_pairs;
    *a.pairs.n_active_experts = actives[now][n - 1];
  }
  block_sync();
  if (warp >= a.segments) return;
  for (uint32_t at = from; at < to; at += 32) {
    const uint32_t i = at + lane;
    const int e = i < to ? static_cast<int>(a.pairs.experts[i]) : -1;
    uint32_t before = 0, all = 0;  // pairs of the same expert among these 32
#pragma unroll 8
    for (int j = 0; j < 32; ++j) {
      const bool same = shuffle(e, j) == e;
      before += same && static_cast<uint32_t>(j) < lane;
      all += same;
    }
    uint32_t* next = &counts[warp * n + static_cast<uint32_t>(e < 0 ? 0 : e)];
    const uint32_t place = *next + before;
    warp_sync();
    if (e >= 0) {
      if (before + 1 == all) *next = place + 1;
      a.pairs.places[i] = place;
      a.pairs.from[place] = i;
    }
    warp_sync();
  }
}

// Weight 0 where earlier positions have filled the expert. One warp a pair.
LINNET_KERNEL(128) limit_pairs(const LimitArgs a) {
  const uint32_t pair = blockIdx.x * 4 + threadIdx.x / 32;
  if (pair >= a.n_pairs) return;
  const uint32_t row = pair / a.n_active, expert = a.pairs.experts[pair];
  const CudaSpan span = a.capacity.spans[a.capacity.row_span[row]];
  const uint16_t* chosen = a.capacity.chosen + span.seq * a.capacity.chosen_stride;
  const uint64_t before = uint64_t{span.position + row - span.row} * a.n_active;
  int n = 0;
  for (uint64_t j = threadIdx.x % 32; j < before; j += 32) n += chosen[j] == expert;
  for (int lanes = 16; lanes; lanes /= 2) n += shuffle_xor(n, lanes);
  if (threadIdx.x % 32 == 0 && static_cast<uint32_t>(n) >= a.capacity.most) a.pairs.weights[pair] = 0;
}

LINNET_KERNEL(kRowThreads) gather_pairs(const GatherArgs a) {
  const uint32_t pair = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  const uint32_t from = a.from[pair], row = from / a.n_active;
  if (a.y) {
    float v[4];
    load_quad(a.x + row * a.stride, i, a.k, v);
    const float weight = a.weigh ? a.weights[from] : 1.0f;
    for (uint32_t j = 0; j < 4; ++j) v[j] = v[j] * weight;
    store_quad(a.y + pair * a.stride, i, a.k, v);
    if (a.q.kind) quantize_quad(a.q, pair, i, a.k, v);
    return;
  }
  // A row's bytes, the gap to the next one too, and its scales.
  const uint32_t words = static_cast<uint32_t>(a.in.stride / 4), step = a.pieces * kRowThreads,
                 first = blockIdx.x % a.pieces * kRowThreads + threadIdx.x;
  const uint32_t* codes = reinterpret_cast<const uint32_t*>(a.in.q + row * a.in.stride);
  uint32_t* to = reinterpret_cast<uint32_t*>(a.q.q + pair * a.q.stride);
  for (uint32_t w = first; w < words; w += step) to[w] = codes[w];
  for (uint32_t g = first; g < a.in.groups; g += step) {
    a.q.scale[uint64_t{pair} * a.in.groups + g] = a.in.scale[uint64_t{row} * a.in.groups + g];
    a.q.sum128[uint64_t{pair} * a.in.groups + g] = a.in.sum128[uint64_t{row} * a.in.groups + g];
  }
}

LINNET_KERNEL(kRowThreads) combine_pairs(const CombineArgs a) {
  const uint32_t row = blockIdx.x / a.pieces, i = blockIdx.x % a.pieces * kPiece + threadIdx.x * 4;
  if (i >= a.n) return;
  float sum[4] = {}, v[4];
  float* y = a.y + row * a.stride;
  if (a.accumulate) load_quad(y, i, a.n, sum);
  if (a.gate) {
    const float s = 1.0f / (1.0f + exp_one(-a.gate[row * a.gate_stride]));
    load_quad(a.shared + row * a.stride, i, a.n, v);
    for (uint32_t j = 0; j < 4; ++j) sum[j] = fma_of(v[j], s, sum[j]);
  }
  for (uint32_t k = 0; k < a.n_active; ++k) {
    const uint64_t at = uint64_t{row} * a.n_active + k;
    const float weight = a.weights[at];
    if (!(weight > 0) && !(weight < 0)) continue;
    load_quad(a.x + a.places[at] * a.stride, i, a.n, v);
    for (uint32_t j = 0; j < 4; ++j) sum[j] = fma_of(v[j], a.weigh ? weight : 1.0f, sum[j]);
  }
  store_quad(y, i, a.n, sum);
}

}  // namespace linnet
