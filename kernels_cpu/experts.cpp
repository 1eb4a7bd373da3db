#include "experts.h"

#include <cstring>

#include "registry.h"

namespace linnet {
namespace {

// Scores of one row from its logits, in place. Softmax: exp(x - max) divided by 16 partial sums by index % 16, added up by a tree, as all
// rows are.
void scores(const Worker& w, const Router& r, float* x) {
  const uint32_t n = r.n_experts;
  if (r.sigmoid) {
    for (uint32_t i = 0; i < n; ++i) x[i] = -x[i];
    w.kernels->t.exp_row(x, n);
    for (uint32_t i = 0; i < n; ++i) x[i] = 1.0f / (1.0f + x[i]);
    return;
  }
  float max = x[0], part[16] = {};
  for (uint32_t i = 1; i < n; ++i) max = x[i] > max ? x[i] : max;
  for (uint32_t i = 0; i < n; ++i) x[i] = x[i] - max;
  w.kernels->t.exp_row(x, n);
  for (uint32_t i = 0; i < n; ++i) part[i % 16] = part[i % 16] + x[i];
  for (uint32_t step = 8; step; step /= 2)
    for (uint32_t i = 0; i < step; ++i) part[i] = part[i] + part[i + step];
  for (uint32_t i = 0; i < n; ++i) x[i] = x[i] / part[0];
}

bool has(const uint32_t* set, uint32_t i) { return set[i / 32] >> (i % 32) & 1; }

// The best of [from, to) that is not in `taken`; of equal ones the first. What is not a number is never better than another.
template <class Value>
uint32_t best(uint32_t from, uint32_t to, const uint32_t* taken, Value value) {
  uint32_t at = to;
  float most = 0;
  for (uint32_t i = from; i < to; ++i) {
    if (has(taken, i)) continue;
    const float v = value(i);
    if (at == to || v > most) at = i, most = v;
  }
  return at;
}

constexpr uint32_t kMaxExperts = 1024;

// The experts of one row, ascending, and their weights.
void choose(const Router& r, const float* s, uint32_t* experts, float* weights) {
  uint32_t taken[kMaxExperts / 32] = {};
  const auto choice = [&](uint32_t i) { return r.correction ? s[i] + r.correction[i] : s[i]; };
  if (r.n_groups) {  // experts of all but the best groups count as taken
    const uint32_t size = r.n_experts / r.n_groups;
    uint32_t used[kMaxExperts / 32] = {}, groups[kMaxExperts / 32] = {};
    for (uint32_t n = 0; n < r.top_groups; ++n) {
      const uint32_t g = best(0, r.n_groups, groups, [&](uint32_t i) {
        float sum = 0;
        for (uint32_t k = 0; k < r.group_best; ++k) {
          const uint32_t e = best(i * size, (i + 1) * size, used, choice);
          used[e / 32] |= 1u << (e % 32);
          sum = sum + choice(e);
        }
        for (uint32_t e = i * size; e < (i + 1) * size; ++e) used[e / 32] &= ~(1u << (e % 32));
        return sum;
      });
      groups[g / 32] |= 1u << (g % 32);
    }
    for (uint32_t e = 0; e < r.n_experts; ++e)
      if (!has(groups, e / size)) taken[e / 32] |= 1u << (e % 32);
  }
  uint32_t chosen[kMaxExperts / 32] = {};
  for (uint32_t n = 0; n < r.n_active; ++n) {
    const uint32_t e = best(0, r.n_experts, taken, choice);
    taken[e / 32] |= 1u << (e % 32);
    chosen[e / 32] |= 1u << (e % 32);
  }
  float sum = 0;
  for (uint32_t e = 0, n = 0; e < r.n_experts && n < r.n_active; ++e) {
    if (!has(chosen, e)) continue;
    sum = sum + s[e];
    experts[n] = e, weights[n++] = s[e];
  }
  for (uint32_t n = 0; n < r.n_active; ++n) weights[n] = (r.normalise ? weights[n] / (sum + 1e-20f) : weights[n]) * r.scale;
  for (uint32_t n = 0; n < r.n_active && r.weigh; ++n) weights[n] = weights[n] * r.weigh[experts[n]];
}

// The two experts of one row by its logits: the best one, then the best of the others. Each has its share of a softmax over those that are
// left and near it.
void choose_mixed(const Worker& w, const Router& r, const float* x, uint32_t* experts, float* weights) {
  uint32_t taken[kMaxExperts / 32] = {};
  float near[kMaxExperts];
  for (uint32_t n = 0; n < 2; ++n) {
    const uint32_t e = best(0, r.n_experts, taken, [&](uint32_t i) { return x[i]; });
    for (uint32_t i = 0; i < r.n_experts; ++i) {
      const float size = __builtin_fabsf(x[i]) > x[e] ? __builtin_fabsf(x[i]) : x[e];
      near[i] = has(taken, i) || (x[e] - x[i]) / size > r.near ? -__builtin_inff() : x[i];
    }
    scores(w, r, near);
    taken[e / 32] |= 1u << (e % 32);
    experts[n] = e, weights[n] = near[e] * r.scale;
  }
  if (experts[0] < experts[1]) return;
  const uint32_t e = experts[0];
  const float v = weights[0];
  experts[0] = experts[1], weights[0] = weights[1];
  experts[1] = e, weights[1] = v;
}

// Sorts the pairs of m rows by expert, counting.
void group(const Router& r, uint32_t m, const Pairs& p) {
  const uint32_t n_pairs = m * r.n_active;
  for (uint32_t e = 0; e < r.n_experts + 2; ++e) p.first[e] = 0;
  for (uint32_t i = 0; i < n_pairs; ++i) ++p.first[p.experts[i] + 2];
  uint32_t n = 0;
  for (uint32_t e = 0; e < r.n_experts; ++e)
    if (p.first[e + 2]) p.active[n++] = e;
  *p.n_active_experts = n;
  for (uint32_t e = 2; e < r.n_experts + 2; ++e) p.first[e] += p.first[e - 1];  // first[e + 1] is where expert e begins, and then its end
  for (uint32_t i = 0; i < n_pairs; ++i) {
    const uint32_t place = p.first[p.experts[i] + 1]++;
    p.places[i] = place;
    p.from[place] = i;
  }
}

// The choices of row i of a span.
void remember(const Router& r, const Capacity& c, const RowSpan& span, uint32_t i, const Pairs& p) {
  uint16_t* to = c.chosen + span.seq * c.chosen_stride + size_t{span.position + i} * r.n_active;
  for (uint32_t k = 0; k < r.n_active; ++k) to[k] = static_cast<uint16_t>(p.experts[size_t{span.row + i} * r.n_active + k]);
}

// Weight 0 where earlier positions have filled the expert.
void limit(const Router& r, const Capacity& c, const RowSpan& span, uint32_t i, const Pairs& p) {
  const uint16_t* chosen = c.chosen + span.seq * c.chosen_stride;
  for (uint32_t k = 0; k < r.n_active; ++k) {
    const size_t at = size_t{span.row + i} * r.n_active + k, before = size_t{span.position + i} * r.n_active;
    uint32_t n = 0;
    for (size_t j = 0; j < before; ++j) n += chosen[j] == p.experts[at];
    if (n >= c.most) p.weights[at] = 0;
  }
}

// The span of a row, which some span has.
const RowSpan& span_of(const Capacity& c, uint32_t row) {
  uint32_t i = 0;
  while (row - c.spans[i].row >= c.spans[i].n) ++i;
  return c.spans[i];
}

}  // namespace

void cpu_route(const Worker& w, const Router& r, const Capacity& capacity, float* logits, size_t stride, uint32_t m, const Pairs& p) {
  for_rows(w, m, [&](uint32_t row) {
    float* x = logits + row * stride;
    const size_t at = size_t{row} * r.n_active;
    if (r.mixer) {
      choose_mixed(w, r, x, p.experts + at, p.weights + at);
    } else {
      scores(w, r, x);
      choose(r, x, p.experts + at, p.weights + at);
    }
    if (!capacity.most) return;
    const RowSpan& span = span_of(capacity, row);
    remember(r, capacity, span, row - span.row, p);
  });
  sync(w);
  for_rows(w, 1, [&](uint32_t) { group(r, m, p); });
  if (!capacity.most) return;
  for_rows(w, m, [&](uint32_t row) {
    const RowSpan& span = span_of(capacity, row);
    limit(r, capacity, span, row - span.row, p);
  });
}

void cpu_combine(const Worker& w, const float* x, size_t stride, uint32_t m, uint32_t n, uint32_t n_active, const Pairs& pairs, bool weigh,
                 const float* shared, const float* gate, size_t gate_stride, bool accumulate, float* y) {
  for_rows(w, m, [&](uint32_t row) {
    float* to = y + row * stride;
    if (!accumulate) std::memset(to, 0, n * sizeof *to);
    if (gate) {
      float s = -gate[row * gate_stride];
      w.kernels->t.exp_row(&s, 1);
      w.kernels->t.merge_row(to, shared + row * stride, n, 1.0f, 1.0f / (1.0f + s));
    }
    for (uint32_t k = 0; k < n_active; ++k) {
      const size_t i = size_t{row} * n_active + k;
      if (!(pairs.weights[i] > 0) && !(pairs.weights[i] < 0)) continue;
      w.kernels->t.merge_row(to, x + pairs.places[i] * stride, n, 1.0f, weigh ? pairs.weights[i] : 1.0f);
    }
  });
}

}  // namespace linnet
