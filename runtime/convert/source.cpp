// What sources of all kinds share: rows in another order, and tensors that are computed.
#include "source.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>

#include "../../platform/folder.h"
#include "../architectures.h"
#include "../lora.h"

namespace linnet::convert {
namespace {

// Row i of the new order is row `from(i)` of the old one, in each head.
template <class From>
void reorder_heads(SourceTensor* t, uint32_t head_dim, From from) {
  if (t->role != kAttnQ && t->role != kAttnK && t->role != kAttnQBias && t->role != kAttnKBias) return;
  choose_rows(t, t->n, [=](uint32_t i) { return i - i % head_dim + from(i % head_dim); });
}

// fn(part, its first row, rows) for rows of parts that lie one below the other.
template <class Fn>
Status each_part(const std::vector<SourceTensor>& parts, uint32_t first, uint32_t count, const Fn& fn) {
  for (const SourceTensor& p : parts) {
    if (first >= p.n) {
      first -= p.n;
      continue;
    }
    const uint32_t some = count < p.n - first ? count : p.n - first;
    LINNET_TRY(fn(p, first, some));
    count -= some, first = 0;
    if (count == 0) break;
  }
  return LINNET_OK;
}

}  // namespace

bool is_synthetic(const std::string& src) { return src.compare(0, kSynthetic.size(), kSynthetic) == 0; }
bool is_folder(const std::string& path) { return path_info(path).folder; }

void name_source(const std::string& src, Error* err) {
  if (!err || is_synthetic(src)) return;
  const std::string text = err->text;
  const auto begins_with = [&](const std::string& path) {
    Error shown;
    (void)fail(&shown, LINNET_OK, PathName(path));
    const size_t n = std::strlen(shown.text);
    return text.compare(0, n, shown.text) == 0 && (text[n] == ':' || text[n] == '/');
  };
  const bool folder = is_folder(src);
  for (const std::string& path : folder ? std::vector<std::string>{src} : gguf_parts(src))
    if (begins_with(path)) return;
  const std::string file = src + "/" + text.substr(0, text.find_first_of(": "));
  const bool in_folder = folder && file.size() > src.size() + 1 && path_access(file, F_OK);
  const auto code = static_cast<Status>(err->code);
  const uint32_t line = err->line;
  (void)fail(err, code, PathName(src), in_folder ? "/" : ": ", text);
  err->line = line;
}

void choose_rows(SourceTensor* t, uint32_t n, const std::function<uint32_t(uint32_t)>& from) {
  t->n = n;
  t->panel = nullptr;
  t->rows = [from, rows = t->rows, k = t->k](uint32_t first, uint32_t count, float* out, Error* err) {
    for (uint32_t i = first, run; count; i += run, count -= run, out += size_t{run} * k) {
      const uint32_t row = from(i);
      for (run = 1; run < count && from(i + run) == (row == kNoRow ? kNoRow : row + run);) ++run;
      if (row == kNoRow)
        std::memset(out, 0, size_t{run} * k * sizeof *out);
      else
        LINNET_TRY(rows(row, run, out, err));
    }
    return LINNET_OK;
  };
  if (t->gguf_blocks)
    t->gguf_blocks = [from, rows = t->gguf_blocks, bytes = t->gguf_row_bytes()](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
      for (uint32_t i = 0; i < count; ++i, out += bytes) {
        if (const uint32_t row = from(first + i); row != kNoRow)
          LINNET_TRY(rows(row, 1, out, err));
        else
          std::memset(out, 0, bytes);
      }
      return LINNET_OK;
    };
  if (t->outer)
    t->outer = [from, outer = t->outer](uint32_t first, uint32_t count, float* out) {
      for (uint32_t i = 0; i < count; ++i, out += 2) {
        if (const uint32_t row = from(first + i); row != kNoRow)
          outer(row, 1, out);
        else
          out[0] = 1, out[1] = 0;
      }
    };
  if (!t->exact_rows) return;
  t->exact_rows = [from, rows = t->exact_rows, k = t->k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
    for (uint32_t i = 0; i < count; ++i) {
      const ExactRows to = exact_rows_from(out, i, k);
      if (const uint32_t row = from(first + i); row != kNoRow)
        LINNET_TRY(rows(row, 1, to, err));
      else
        exact_row_zero(to, k);
    }
    return LINNET_OK;
  };
}

SourceTensor stacked(std::vector<SourceTensor> from) {
  const auto all = std::make_shared<std::vector<SourceTensor>>(std::move(from));
  const std::vector<SourceTensor>& parts = *all;
  SourceTensor t = parts.front();
  bool blocks = true, codes = true;
  for (const SourceTensor& p : parts) {
    blocks = blocks && p.gguf_blocks && p.gguf_format == t.gguf_format;
    codes = codes && p.exact_rows && p.exact == t.exact;
    if (p.outer) t.outer = p.outer;  // plain files have none: it says that there are some
    if (&p != &parts.front()) t.n += p.n, t.source_bytes += p.source_bytes;
    if (p.own != parts.front().own) t.own = LINNET_FORMAT_DEFAULT;
    if (p.order) t.order = p.order;  // no two need be the same
  }
  t.panel = nullptr;
  t.rows = [all, k = t.k](uint32_t first, uint32_t count, float* to, Error* err) {
    return each_part(*all, first, count, [&](const SourceTensor& p, uint32_t at, uint32_t some) {
      float* const here = std::exchange(to, to + size_t{some} * k);
      return p.rows(at, some, here, err);
    });
  };
  t.gguf_blocks = nullptr;
  if (blocks)
    t.gguf_blocks = [all, bytes = t.gguf_row_bytes()](uint32_t first, uint32_t count, uint8_t* to, Error* err) {
      return each_part(*all, first, count, [&](const SourceTensor& p, uint32_t at, uint32_t some) {
        uint8_t* const here = std::exchange(to, to + some * bytes);
        return p.gguf_blocks(at, some, here, err);
      });
    };
  t.exact_rows = nullptr;
  if (codes)
    t.exact_rows = [all, k = t.k](uint32_t first, uint32_t count, const ExactRows& out, Error* err) {
      ExactRows to = out;
      return each_part(*all, first, count, [&](const SourceTensor& p, uint32_t at, uint32_t some) {
        const ExactRows here = to;
        to = exact_rows_from(to, some, k);
        return p.exact_rows(at, some, here, err);
      });
    };
  return t;
}

void choose_inputs(SourceTensor* t, const InputsInOrder& order) {
  t->panel = nullptr;
  t->gguf_blocks = nullptr;
  t->rows = [order, rows = t->rows, k = t->k](uint32_t first, uint32_t count, float* out, Error* err) {
    std::vector<float> row(k);
    for (uint32_t i = first; i < first + count; ++i, out += k) {
      LINNET_TRY(rows(i, 1, row.data(), err));
      for (uint32_t j = 0; j < k; ++j) out[j] = row[(*order)[j]];
    }
    return LINNET_OK;
  };
}

bool inputs_move(const SourceTensor& t, uint32_t piece) {
  return !((t.exact_rows && t.exact.group < t.k && piece % t.exact.group) || (t.gguf_blocks && piece % gguf_block_values(t.gguf_format)));
}

void move_inputs(SourceTensor* t, uint32_t piece, const std::function<uint32_t(uint32_t)>& from) {
  const uint32_t k = t->k;
  // Values of a row, `n` of them of `bytes` bytes to a piece.
  const auto move = [from, pieces = k / piece](void* values, size_t n, size_t bytes) {
    auto* const to = static_cast<uint8_t*>(values);
    const std::vector<uint8_t> row(to, to + pieces * n * bytes);
    for (uint32_t i = 0; i < pieces; ++i) std::memcpy(to + i * n * bytes, row.data() + from(i) * n * bytes, n * bytes);
  };
  t->panel = nullptr;
  t->rows = [=, rows = t->rows](uint32_t first, uint32_t count, float* out, Error* err) {
    LINNET_TRY(rows(first, count, out, err));
    for (uint32_t i = 0; i < count; ++i) move(out + size_t{i} * k, piece, sizeof *out);
    return LINNET_OK;
  };
  if (t->exact_rows && t->exact.group < k && piece % t->exact.group) t->exact_rows = nullptr;
  if (t->exact_rows)
    t->exact_rows = [=, rows = t->exact_rows, groups = t->exact.group < k ? piece / t->exact.group : 0](uint32_t first, uint32_t count,
                                                                                                        const ExactRows& out, Error* err) {
      LINNET_TRY(rows(first, count, out, err));
      for (uint32_t i = 0; i < count; ++i) {
        const ExactRows row = exact_rows_from(out, i, k);
        move(row.codes, piece, sizeof *row.codes);
        if (row.halves) move(row.halves, groups, sizeof *row.halves);
        if (row.scales) move(row.scales, groups, sizeof *row.scales);
        if (row.zeros) move(row.zeros, groups, sizeof *row.zeros);
      }
      return LINNET_OK;
    };
  if (t->gguf_blocks && piece % gguf_block_values(t->gguf_format)) t->gguf_blocks = nullptr;
  if (t->gguf_blocks)
    t->gguf_blocks = [=, rows = t->gguf_blocks, blocks = piece / gguf_block_values(t->gguf_format), bytes = t->gguf_row_bytes(),
                      block = gguf_block_bytes(t->gguf_format)](uint32_t first, uint32_t count, uint8_t* out, Error* err) {
      LINNET_TRY(rows(first, count, out, err));
      for (uint32_t i = 0; i < count; ++i) move(out + i * bytes, blocks, block);
      return LINNET_OK;
    };
}

ExactRows exact_rows_from(ExactRows rows, uint32_t row, uint32_t k) {
  const size_t scales = row * static_cast<size_t>(div_up(k, rows.group));
  rows.codes += size_t{row} * k;
  if (rows.halves) rows.halves += scales;
  if (rows.scales) rows.scales += scales;
  if (rows.zeros) rows.zeros += scales;
  return rows;
}

void exact_row_zero(const ExactRows& row, uint32_t k) {
  const size_t groups = static_cast<size_t>(div_up(k, row.group));
  std::memset(row.codes, 0, k);
  if (row.halves) std::memset(row.halves, 0, groups * sizeof *row.halves);
  if (row.scales) std::memset(row.scales, 0, groups * sizeof *row.scales);
  if (row.zeros) std::memset(row.zeros, 0, groups);
}

RowMap map_rows(const HfTensor& t, const ModelSpec& s, uint32_t layer, uint32_t n) {
  const LayerSpec l = layer_spec(s, layer);
  const uint32_t dim = l.head_dim, q = l.n_heads * dim, kv = l.n_kv_heads * dim, group = l.n_kv_heads ? l.n_heads / l.n_kv_heads : 1;
  const bool is_q = t.role == kAttnQ || t.role == kAttnQBias, is_k = t.role == kAttnK || t.role == kAttnKBias;
  const bool is_up = t.role == kFfnUp || t.role == kFfnUpBias || t.role == kExpertUp || t.role == kExpertUpBias || t.role == kSharedUp;
  switch (t.rows) {
    case HfRows::kQkv: {
      const uint32_t first = is_q ? 0 : is_k ? q : q + kv;
      return {q + 2 * kv, [first](uint32_t i) { return first + i; }};
    }
    case HfRows::kHeads:
      if (is_q) return {q + 2 * kv, [=](uint32_t i) { return i / (group * dim) * (group + 2) * dim + i % (group * dim); }};
      return {q + 2 * kv, [=](uint32_t i) { return (i / dim * (group + 2) + group + !is_k) * dim + i % dim; }};
    case HfRows::kGateUp: {
      const uint32_t first = is_up ? n : 0;
      return {2 * n, [first](uint32_t i) { return first + i; }};
    }
    case HfRows::kTurns:
      return {2 * n, [is_up](uint32_t i) { return 2 * i + is_up; }};
    case HfRows::kGated: {
      const uint32_t gate = t.role == kAttnGate ? dim : 0;
      return {2 * q, [=](uint32_t i) { return i / dim * 2 * dim + gate + i % dim; }};
    }
    case HfRows::kKeyHeads: {
      const uint32_t values = s.delta_value_heads / s.delta_key_heads, key = s.delta_key_dim, q_all = s.delta_key_heads * key;
      if (t.role == kDeltaBeta || t.role == kDeltaAlpha) {
        const uint32_t part = t.role == kDeltaAlpha ? values : 0;
        return {2 * n, [=](uint32_t i) { return i / values * 2 * values + part + i % values; }};
      }
      const uint32_t value = values * s.delta_value_dim, head = 2 * (key + value);
      const auto of_values = [=](uint32_t i, uint32_t part) { return i / value * head + 2 * key + part + i % value; };
      if (t.role == kDeltaGate) return {head * s.delta_key_heads, [=](uint32_t i) { return of_values(i, value); }};
      return {head * s.delta_key_heads, [=](uint32_t i) {
                if (i >= 2 * q_all) return of_values(i - 2 * q_all, 0);
                return i % q_all / key * head + i / q_all * key + i % key;
              }};
    }
    case HfRows::kSteps: {
      const uint32_t in = 2 * s.mamba_heads * s.mamba_head_dim + 2 * s.mamba_groups * s.mamba_state_dim,
                     first = t.role == kMambaDt ? in : 0;
      return {in + s.mamba_heads, [first](uint32_t i) { return first + i; }};
    }
    case HfRows::kEachHead:
      return {l.n_heads, [dim](uint32_t i) { return i / dim; }};
    case HfRows::kOtherHalf:
      return {n, [dim](uint32_t i) { return i / dim * dim + (i + dim / 2) % dim; }};
    case HfRows::kPart:
    case HfRows::kOwn:
      break;
  }
  if (t.role == kAttnKvA)  // the latent comes first in the file, the roped part here
    return {n, [rope = s.qk_rope_dim, rank = s.kv_lora_rank](uint32_t i) { return i < rope ? rank + i : i - rope; }};
  return {n, {}};
}

bool map_fits(const RowMap& map, uint32_t n) {
  for (uint32_t i = 0; map.at && i < n; ++i)
    if (map.at(i) >= map.n) return false;
  return true;
}

void tile_values(SourceTensor* t, const ModelSpec& s, bool tiled) {
  const uint32_t q_and_k = 2 * s.delta_key_heads * s.delta_key_dim, heads = s.delta_value_heads,
                 by = tiled ? s.delta_key_heads : heads / s.delta_key_heads;
  const auto from = [heads, by](uint32_t head) { return head % by * (heads / by) + head / by; };
  uint32_t first = 0, dim = 1;
  switch (t->role) {
    case kDeltaIn:
    case kDeltaTaps:
      dim = t->n / (q_and_k + heads * s.delta_value_dim);
      first = q_and_k * dim, dim *= s.delta_value_dim;
      break;
    case kDeltaGate:
      dim = s.delta_value_dim;
      break;
    case kDeltaBeta:
    case kDeltaAlpha:
    case kDeltaDt:
    case kDeltaA:
      break;
    case kDeltaOut:
      return move_inputs(t, s.delta_value_dim, from);
    default:
      return;
  }
  choose_rows(t, t->n, [=](uint32_t i) { return i < first ? i : first + from((i - first) / dim) * dim + (i - first) % dim; });
}

void set_layers(ModelSpec* spec, std::shared_ptr<void>* keep, const std::vector<LayerSpec>& layers) {
  ModelSpec& s = *spec;
  const auto values = std::make_shared<std::vector<std::vector<uint32_t>>>(kLayerFieldCount);
  for (const uint8_t*& of : s.layer_values) of = nullptr;
  for (uint32_t f = 0; f < kLayerFieldCount; ++f) {
    const auto of = [f](const LayerSpec& l) {
      uint32_t v;
      std::memcpy(&v, reinterpret_cast<const char*>(&l) + kLayerFields[f].offset, sizeof v);
      return v;
    };
    bool said = true;
    for (uint32_t i = 0; i < s.n_layers; ++i) {
      (*values)[f].push_back(of(layers[i]));
      said = said && of(layers[i]) == of(layer_spec(s, i));
    }
    if (said) (*values)[f].clear();
  }
  for (uint32_t f = 0; f < kLayerFieldCount; ++f)
    if (!(*values)[f].empty()) s.layer_values[f] = reinterpret_cast<const uint8_t*>((*values)[f].data());
  *keep = values;
}

Status add_ahead(Source* source, uint32_t n, PathName label, std::string_view whose, Error* err) {
  const ModelSpec& s = source->spec;
  if (s.n_layers > kMaxLayers || n > kMaxLayers - s.n_layers)
    return fail(err, LINNET_BAD_FILE, label, ": '", whose, "' is ", n, " behind ", s.n_layers, " layers, of which there may be ",
                kMaxLayers, " in all");
  uint32_t like = s.n_layers - 1;
  const auto attends = [&](uint32_t i) {
    const uint32_t mixer = layer_spec(s, i).mixer;
    return mixer == kMixerAttention || mixer == kMixerLatent;
  };
  while (like > 0 && !attends(like)) --like;
  const auto ahead = std::make_shared<Source>();
  ahead->spec = s;
  ahead->keep = source->keep;
  const auto values = std::make_shared<std::vector<std::vector<uint32_t>>>(kLayerFieldCount);
  for (uint32_t f = 0; f < kLayerFieldCount; ++f) {
    if (!s.layer_values[f]) continue;
    std::vector<uint32_t>& of = (*values)[f];
    of.resize(s.n_layers);
    std::memcpy(of.data(), s.layer_values[f], of.size() * sizeof of[0]);
    of.resize(size_t{s.n_layers} + n, of[like]);
    ahead->spec.layer_values[f] = reinterpret_cast<const uint8_t*>(of.data());
  }
  ahead->layers = values;
  ahead->spec.n_layers += n;
  ahead->spec.n_ahead = n;
  source->ahead = ahead;
  return LINNET_OK;
}

bool behind_layers(std::string_view name, uint32_t n_layers, uint32_t* layer) {
  for (const std::string_view prefix : {"linnet.", "blk."})
    if (name.starts_with(prefix))
      name.remove_prefix(prefix.size());
    else if (prefix == "blk.")
      return false;
  return std::from_chars(name.data(), name.data() + name.size(), *layer).ec == std::errc() && *layer >= n_layers;
}

size_t bytes_to_run(const Gguf& packed) {
  GgufValue v;
  if (!packed.key("linnet.spec.n_layers", &v) || v.type != kGgufU32) return SIZE_MAX;
  uint64_t end = 0;
  bool all = true;
  for (uint32_t i = 0, layer; i < packed.n_tensors; ++i) {
    GgufTensor t;
    packed.tensor_entry(i, &t);
    const bool ahead = behind_layers(t.name, static_cast<uint32_t>(v.u), &layer);
    all = all && !ahead;
    if (!ahead) end = std::max(end, t.offset + align_up(t.bytes, 64));
  }
  return all ? SIZE_MAX : static_cast<size_t>(end);
}

void drop_ahead(Source* source, const std::string& missing) {
  source->notes.push_back("layers for speculation are left out: tensor '" + missing + "' is missing");
  source->ahead.reset();
}

float deviations_below(float share) {
  const double y = static_cast<double>(2 * share - 1);
  double low = 0, high = 6;  // erf(6) is 1
  for (int i = 0; i < 64; ++i) {
    const double x = (low + high) / 2;
    (std::erf(x) < std::fabs(y) ? low : high) = x;
  }
  return static_cast<float>(std::copysign(high, y)) * 1.41421356f;
}

namespace {
float router_divisor(uint32_t d_model) { return static_cast<float>(1 / std::sqrt(static_cast<double>(d_model))); }
}  // namespace

void divide_router_norm(SourceTensor* t, uint32_t d_model) {
  t->rows = [rows = t->rows, by = router_divisor(d_model)](uint32_t first, uint32_t count, float* to, Error* err) {
    LINNET_TRY(rows(first, count, to, err));
    for (uint32_t i = 0; i < count; ++i) to[i] *= by;
    return LINNET_OK;
  };
}

void multiply_router_norm(SourceTensor* t, uint32_t d_model) {
  t->rows = [rows = t->rows, by = router_divisor(d_model)](uint32_t first, uint32_t count, float* to, Error* err) {
    LINNET_TRY(rows(first, count, to, err));
    for (uint32_t i = 0; i < count; ++i) {
      const float want = to[i], near = want / by;
      if (!std::isfinite(near)) continue;
      to[i] = near;
      int best = -1;
      uint32_t bits;
      std::memcpy(&bits, &near, sizeof bits);
      for (uint32_t at = bits < 4 ? 0 : bits - 4; at <= bits + 4; ++at) {
        float v;
        std::memcpy(&v, &at, sizeof v);
        if (v * by != want || std::countr_zero(at) <= best) continue;
        best = std::countr_zero(at), to[i] = v;
      }
    }
    return LINNET_OK;
  };
}

Status check_xielu(const SourceTensor& t, PathName where, Error* err) {
  float v[4];
  LINNET_TRY(t.rows(0, t.n, v, err));
  for (uint32_t i = 0; i < 4; ++i)
    if (!(std::fabs(v[i]) <= 1e4f) || (i == 3 && (v[i] > 0 || v[i] < -1)))
      return fail(err, LINNET_UNSUPPORTED, where, ": layer ", t.layer, ": ", kXieluKeys[i], " = ", std::to_string(v[i]),
                  " is not supported, only numbers within 1e4, and eps from -1 to 0");
  return LINNET_OK;
}

SourceTensor computed_tensor(Role role, uint32_t layer, const std::vector<float>& values) {
  SourceTensor t;
  t.role = role;
  t.layer = layer;
  t.n = static_cast<uint32_t>(values.size());
  t.k = 1;
  t.source_name = role_row(role).name;
  t.source_type = "F32";
  t.rows = [values](uint32_t first, uint32_t count, float* to, Error*) {
    std::memcpy(to, values.data() + first, count * sizeof(float));
    return LINNET_OK;
  };
  return t;
}

std::vector<float> alibi_slopes(const ModelSpec& spec, double most, bool scaled) {
  std::vector<float> out;
  double n = 1;
  while (2 * n <= spec.n_heads) n *= 2;
  const double scale = !scaled ? 1 : spec.attn_scale > 0 ? spec.attn_scale : 1 / std::sqrt(static_cast<double>(spec.head_dim));
  for (uint32_t i = 0; i < spec.n_heads; ++i)
    out.push_back(static_cast<float>(std::exp2(-most * (i < n ? (i + 1) / n : (2 * (i - n) + 1) / (2 * n))) * scale));
  return out;
}

double yarn_grown(const ModelSpec& spec, double mscale) { return spec.rope_factor > 1 ? 0.1 * mscale * std::log(spec.rope_factor) + 1 : 1; }

namespace {
// Matrices that lie one below the other, of which the one read last is kept, for all threads: rows are asked for about in order.
struct KeptHead {
  struct Head {
    uint32_t index;
    std::vector<float> w;
  };
  std::mutex lock;
  std::shared_ptr<const Head> head;
  // `first`: where the head's rows begin in `stored`.
  Status read(const decltype(SourceTensor::rows)& stored, uint32_t index, uint32_t first, uint32_t rows, uint32_t k,
              std::shared_ptr<const Head>* out, Error* err) {
    if (*out && (*out)->index == index) return LINNET_OK;
    const std::lock_guard<std::mutex> held(lock);
    if (!head || head->index != index) {
      const auto made = std::make_shared<Head>(Head{index, std::vector<float>(size_t{rows} * k)});
      LINNET_TRY(stored(first, rows, made->w.data(), err));
      head = made;
    }
    *out = head;
    return LINNET_OK;
  }
};
}  // namespace

void read_kv_b(const decltype(SourceTensor::rows)& stored, const ModelSpec& s, SourceTensor* t) {
  const uint32_t rank = s.kv_lora_rank, nope = s.qk_nope_dim, v = s.v_head_dim;
  if (t->role == kAttnVB) {
    t->rows = [=](uint32_t first, uint32_t count, float* out, Error* err) {
      for (uint32_t i = first; i < first + count; ++i, out += rank) LINNET_TRY(stored(i / v * (nope + v) + nope + i % v, 1, out, err));
      return LINNET_OK;
    };
    return;
  }
  t->rows = [=, kept = std::make_shared<KeptHead>()](uint32_t first, uint32_t count, float* out, Error* err) {
    std::shared_ptr<const KeptHead::Head> head;
    for (uint32_t i = first; i < first + count; ++i, out += nope) {
      LINNET_TRY(kept->read(stored, i / rank, i / rank * (nope + v), nope, rank, &head, err));
      for (uint32_t j = 0; j < nope; ++j) out[j] = head->w[size_t{j} * rank + i % rank];
    }
    return LINNET_OK;
  };
}

SourceTensor kv_b_of(const SourceTensor& k_b, const SourceTensor& v_b, const ModelSpec& s) {
  const uint32_t rank = s.kv_lora_rank, nope = s.qk_nope_dim, v = s.v_head_dim;
  SourceTensor t;
  t.role = kAttnVB, t.layer = v_b.layer, t.n = s.n_heads * (nope + v), t.k = rank;
  t.source_name = v_b.source_name, t.source_type = v_b.source_type;
  t.rows = [=, of_k = k_b.rows, of_v = v_b.rows, kept = std::make_shared<KeptHead>()](uint32_t first, uint32_t count, float* out,
                                                                                      Error* err) {
    std::shared_ptr<const KeptHead::Head> head;
    for (uint32_t i = first; i < first + count; ++i, out += rank) {
      const uint32_t h = i / (nope + v), row = i % (nope + v);
      if (row >= nope) {
        LINNET_TRY(of_v(h * v + row - nope, 1, out, err));
        continue;
      }
      LINNET_TRY(kept->read(of_k, h, h * rank, rank, nope, &head, err));
      for (uint32_t j = 0; j < rank; ++j) out[j] = head->w[size_t{j} * nope + row];
    }
    return LINNET_OK;
  };
  return t;
}

void pairs_from_halves(SourceTensor* t, uint32_t head_dim) {
  reorder_heads(t, head_dim, [half = head_dim / 2](uint32_t i) { return i / 2 + i % 2 * half; });
}
void halves_from_pairs(SourceTensor* t, uint32_t head_dim) {
  reorder_heads(t, head_dim, [half = head_dim / 2](uint32_t i) { return i % half * 2 + i / half; });
}

uint32_t adapter_orders(const ModelSpec& s) {
  const Architecture* a = architecture_by_hf(s.architecture);
  if (!a) return 0;
  const bool pairs = a->rope_hf == kRopeHalves && a->rope_gguf == kRopePairs && s.rope_kind != kRopePairs && s.head_dim % 2 == 0;
  return (pairs ? kLoraPairs : 0u) | (a->form.tiled ? kLoraTiled : 0u);
}

std::vector<double> llama3_divisors(const ModelSpec& spec) {
  constexpr double kPi = 3.14159265358979323846;
  std::vector<double> out(spec.rope_dim / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const double turns = spec.rope_original * std::pow(spec.rope_base, -2.0 * static_cast<double>(i) / spec.rope_dim) / (2 * kPi);
    const double smooth = (turns - spec.rope_low) / (spec.rope_high - spec.rope_low);  // 0: all of the factor, 1: none
    out[i] = turns < spec.rope_low ? spec.rope_factor : turns > spec.rope_high ? 1 : 1 / ((1 - smooth) / spec.rope_factor + smooth);
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  char room[8];
  while (!text.empty()) out += printable_piece(&text, room);
  return out;
}

}  // namespace linnet::convert
