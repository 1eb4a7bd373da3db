#include <cstring>
#include <new>

#include "lora.h"
#include "session.h"

namespace linnet {
namespace {

constexpr const char* kLabel = "adapter";

// 64 bits that tell adapters apart which were not made to be taken for each other.
void mix(uint64_t* h, uint64_t v) {
  *h = (*h ^ v) * 0x9E3779B97F4A7C15u;
  *h ^= *h >> 32;
}
uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, sizeof u);
  return u;
}

bool finite(float f) { return f - f == 0; }

// Inline, since the C++ library's own comparison would be a function of this library otherwise.
bool same_text(std::string_view a, std::string_view b) { return a.size() == b.size() && !std::memcmp(a.data(), b.data(), a.size()); }
std::string_view from(std::string_view text, size_t at) { return {text.data() + at, text.size() - at}; }

// "blk.12.attn_q.weight" -> 12, "attn_q.weight".
bool split_name(std::string_view name, uint32_t* layer, std::string_view* rest) {
  constexpr std::string_view kBlock = "blk.";
  if (name.size() < kBlock.size() || !same_text({name.data(), kBlock.size()}, kBlock)) return false;
  name.remove_prefix(kBlock.size());
  size_t n = 0;
  uint32_t value = 0;
  for (; n < name.size() && n < 6 && name[n] >= '0' && name[n] <= '9'; ++n) value = value * 10 + static_cast<uint32_t>(name[n] - '0');
  if (n == 0 || n == name.size() || name[n] != '.') return false;
  *layer = value;
  *rest = from(name, n + 1);
  return true;
}

Status text_is(const Gguf& file, const char* key, std::string_view wanted, Error* err) {
  GgufValue v;
  if (!file.key(key, &v) || v.type != kGgufString)
    return fail(err, LINNET_BAD_FILE, file.label, ": key '", key, "' is missing or no string");
  if (same_text(v.text, wanted)) return LINNET_OK;
  return fail(err, LINNET_UNSUPPORTED, file.label, ": key '", key, "' is '", v.text, "', not '", wanted, "'");
}

Status check_keys(LoraFile* in, Error* err) {
  const Gguf& file = in->file;
  LINNET_TRY(text_is(file, "general.type", "adapter", err));
  LINNET_TRY(text_is(file, "adapter.type", "lora", err));
  LINNET_TRY(text_is(file, "general.architecture", in->family, err));
  GgufValue v;
  if (file.key("adapter.alora.invocation_tokens", &v))
    return fail(err, LINNET_UNSUPPORTED, file.label, ": key 'adapter.alora.invocation_tokens': adapters that a token switches on");
  double alpha = 0;
  if (file.key("adapter.lora.alpha", &v) && (!v.is_number(&alpha) || !(alpha >= -1e6 && alpha <= 1e6)))
    return fail(err, LINNET_BAD_FILE, file.label, ": key 'adapter.lora.alpha' is no number within 1e6");
  in->alpha = static_cast<float>(alpha);
  return LINNET_OK;
}

bool float_type(uint32_t type) { return type == kGgmlF32 || type == kGgmlF16 || type == kGgmlBF16; }

// A tensor's shape, of which k and rank are to be these.
Status check_tensor(const Gguf& file, const GgufTensor& t, Error* err) {
  if (!float_type(t.type)) {
    const GgmlType type = ggml_type(t.type);
    return fail(err, LINNET_UNSUPPORTED, file.label, ": tensor '", t.name, "' is in ", type.name ? type.name : "?",
                ", not in F32, F16 or BF16");
  }
  if (t.dims[2] != 1 || t.dims[3] != 1)
    return fail(err, LINNET_UNSUPPORTED, file.label, ": tensor '", t.name, "' has ", t.n_dims, " dimensions, not 2");
  return LINNET_OK;
}

struct Roles {
  Role role[3];
  uint32_t n;
};

// What a name in a layer stands for. Of several they lie one below the other, each with the rows that it has.
Roles roles_of(std::string_view rest, uint32_t layer, const ModelSpec& spec, uint64_t rows) {
  const auto is = [&](const char* name) { return same_text(rest, name); };
  if (is("attn_qkv.weight") && !role_present(kDeltaIn, layer, spec)) return {{kAttnQ, kAttnK, kAttnV}, 3};
  // llama.cpp's files have Mamba's steps below the rest.
  if (is("ssm_in.weight") && role_present(kMambaIn, layer, spec) &&
      rows == uint64_t{role_n(kMambaIn, layer, spec)} + role_n(kMambaDt, layer, spec))
    return {{kMambaIn, kMambaDt}, 2};
  // Gate and up in one, as some families' files have them.
  if (is("ffn_up.weight") && role_present(kFfnGate, layer, spec) && rows == 2 * uint64_t{role_n(kFfnUp, layer, spec)})
    return {{kFfnGate, kFfnUp}, 2};
  Roles one = {{}, 0};  // several kinds of layers may have the name
  for (const Role r : kLoraRoles)
    if (is(role_row(r).name) && (one.n == 0 || role_present(r, layer, spec))) one = {{r}, 1};
  return one;
}

Status refuse_name(const Gguf& file, std::string_view name, Error* err) {
  return fail(err, LINNET_UNSUPPORTED, file.label, ": tensor '", name, "': ", kLoraMatrices);
}

}  // namespace

void lora_values(const GgufTensor& t, uint64_t row, float* to) {
  const size_t n = static_cast<size_t>(t.dims[0]), each = t.type == kGgmlF32 ? 4 : 2;
  const uint8_t* from = t.data + static_cast<size_t>(row) * n * each;
  if (each == 4) {
    std::memcpy(to, from, n * each);
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    uint16_t half;
    std::memcpy(&half, from + i * each, sizeof half);
    to[i] = t.type == kGgmlF16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
}

Status lora_tensors(LoraFile* in, void* arg, Status (*fn)(void* arg, const LoraTensors& t, Error* err), Error* err) {
  const Gguf& file = in->file;
  const ModelSpec& spec = in->spec;
  LINNET_TRY(check_keys(in, err));
  constexpr std::string_view kEnds[] = {".lora_a", ".lora_b"};
  uint32_t n_matrices = 0;
  for (uint32_t i = 0; i < file.n_tensors; ++i) {
    LoraTensors t{};
    file.tensor_entry(i, &t.a);
    const std::string_view name = t.a.name;
    const std::string_view base(name.data(), name.size() > kEnds[0].size() ? name.size() - kEnds[0].size() : 0);
    const bool is_a = same_text(from(name, base.size()), kEnds[0]), is_b = same_text(from(name, base.size()), kEnds[1]);
    char other[kGgufMaxName + 1];
    std::string_view rest;
    const bool is_head = same_text(base, role_row(kOutput).name);
    if ((!is_a && !is_b) || (!is_head && !split_name(base, &t.layer, &rest)) || t.layer >= spec.n_layers)
      return refuse_name(file, name, err);
    std::memcpy(other, name.data(), name.size());
    other[name.size() - 1] = is_a ? 'b' : 'a';
    if (!file.tensor(std::string_view(other, name.size()), &t.b))
      return fail(err, LINNET_BAD_FILE, file.label, ": tensor '", name, "' without '", std::string_view(other, name.size()), "'");
    if (is_b) continue;  // with its A
    LINNET_TRY(check_tensor(file, t.a, err));
    LINNET_TRY(check_tensor(file, t.b, err));
    if (t.a.dims[1] < 1 || t.a.dims[1] > kMostLoraRank)
      return fail(err, LINNET_UNSUPPORTED, file.label, ": tensor '", name, "' has rank ", t.a.dims[1], ", must be 1..", kMostLoraRank);
    const Roles roles = is_head ? Roles{{kOutput}, 1} : roles_of(rest, t.layer, spec, t.b.dims[1]);
    t.rank = static_cast<uint32_t>(t.a.dims[1]);
    uint64_t rows = 0;
    for (uint32_t r = 0; r < roles.n; ++r) rows += role_n(roles.role[r], t.layer, spec);
    for (uint32_t r = 0; r < roles.n; ++r)
      if (!lora_slot(roles.role[r], t.layer, spec))
        return role_present(roles.role[r], t.layer, spec)
                   ? fail(err, LINNET_UNSUPPORTED, file.label, ": tensor '", name, "': adapters are not computed in this kind of layer")
                   : fail(err, LINNET_BAD_FILE, file.label, ": tensor '", name, "': layer ", t.layer, " of the model has no such matrix");
    if (roles.n == 0) return refuse_name(file, name, err);
    const uint32_t k = role_k(roles.role[0], t.layer, spec);
    if (t.a.dims[0] != k || t.b.dims[0] != t.rank || t.b.dims[1] != rows)
      return fail(err, LINNET_BAD_FILE, file.label, ": '", base, "': A is ", t.a.dims[1], " x ", t.a.dims[0], " and B ", t.b.dims[1], " x ",
                  t.b.dims[0], ", the model's matrix ", rows, " x ", k);
    t.k = k;
    t.scale = in->alpha != 0 ? in->alpha / static_cast<float>(t.rank) : 1;
    for (uint32_t r = 0; r < roles.n; ++r) {
      t.role = roles.role[r];
      t.n = role_n(t.role, t.layer, spec);
      t.order = lora_orders(spec, t.role, t.layer, in->orders);
      LINNET_TRY(fn(arg, t, err));
      t.first += t.n;
    }
    ++n_matrices;
  }
  return n_matrices ? LINNET_OK : fail(err, LINNET_BAD_FILE, file.label, ": holds no tensors");
}

namespace {

// Places A and B of each matrix, or counts them; then fills them in.
struct Placing {
  Arena& arena;
  const linnet_model& model;
  const Gguf& file;
  linnet_lora* lora;  // nullptr while counting
  uint32_t* taken;    // a bit for each slot
  float* row;         // of kMostLoraRank floats, or of k
};

// Rows of floats into panels of 16.
void put_row(float* panels, uint32_t k, uint32_t row, const float* values, const LoraOrders& order) {
  float* to = panels + size_t{row / kPanel} * k * kPanel + row % kPanel;
  for (uint32_t i = 0; i < k; ++i) to[size_t{i} * kPanel] = values[order.column(i)];
}

// What a row of q or k was multiplied with when the model was packed.
float key_factor(const linnet_model& m, const LoraTensors& t, uint32_t row) {
  if (!m.key_exponents || (t.role != kAttnQ && t.role != kAttnK) || layer_spec(m.spec, t.layer).mixer == kMixerLatent) return 1;
  size_t at = 0;
  for (uint32_t i = 0; i < t.layer; ++i) {
    const LayerSpec l = layer_spec(m.spec, i);
    at += size_t{l.n_kv_heads} * l.head_dim;
  }
  const LayerSpec l = layer_spec(m.spec, t.layer);
  const uint32_t group = t.role == kAttnQ ? l.n_heads / l.n_kv_heads : 1, head = row / l.head_dim / group;
  int e = m.key_exponents[at + size_t{head} * l.head_dim + row % l.head_dim] - 128;
  if (t.role == kAttnK) e = -e;
  e = e < -126 ? -126 : e;  // bytes of a file, which may change
  const uint32_t bits = static_cast<uint32_t>(e + 127) << 23;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

Status place(void* arg, const LoraTensors& t, Error* err) {
  Placing& p = *static_cast<Placing*>(arg);
  const uint32_t slot = lora_slot(t.role, t.layer, p.model.spec);
  if (p.taken[slot / 32] >> (slot % 32) & 1)
    return fail(err, LINNET_BAD_FILE, p.file.label, ": tensor '", t.a.name, "': the matrix has another adapter in the same file");
  p.taken[slot / 32] |= 1u << (slot % 32);
  const uint64_t floats[2] = {padded_n(t.rank) * t.k, padded_n(t.n) * t.rank};
  float* const a = p.arena.take<float>("adapter", floats[0]);
  float* const b = p.arena.take<float>("adapter", floats[1]);
  if (!p.lora) return LINNET_OK;
  std::memset(a, 0, static_cast<size_t>(floats[0]) * sizeof *a);
  std::memset(b, 0, static_cast<size_t>(floats[1]) * sizeof *b);
  for (const bool is_a : {true, false}) {
    const uint32_t rows = is_a ? t.rank : t.n, k = is_a ? t.k : t.rank;
    for (uint32_t i = 0; i < rows; ++i) {
      lora_values(is_a ? t.a : t.b, is_a ? i : t.row_of(i), p.row);
      const float by = is_a ? 1 : key_factor(p.model, t, i);
      for (uint32_t j = 0; j < k; ++j) {
        p.row[j] *= by;
        if (!finite(p.row[j]))
          return fail(err, LINNET_BAD_FILE, p.file.label, ": tensor '", is_a ? t.a.name : t.b.name, "' holds a value that is not finite");
      }
      put_row(is_a ? a : b, k, i, p.row, is_a ? t.order : LoraOrders{});
    }
  }
  p.lora->parts[slot] = {{LINNET_F32, t.rank, t.k, a, nullptr}, {LINNET_F32, t.n, t.rank, b, nullptr}, t.scale};
  linnet_lora_desc& d = p.lora->desc;
  d.n_params += (uint64_t{t.n} + t.k) * t.rank;
  d.rank = t.rank > d.rank ? t.rank : d.rank;
  ++d.n_matrices;
  return LINNET_OK;
}

// Of what an adapter does: by places, ranks, factors and values.
uint64_t hash_of(const linnet_lora& lora, uint32_t n_slots) {
  uint64_t h = 0x6C696E6E65746C31u;
  for (uint32_t i = 0; i < n_slots; ++i) {
    const LowRank& part = lora.parts[i];
    if (!part.a.panels) continue;
    mix(&h, uint64_t{i} << 32 | bits_of(part.scale));
    for (const Matrix* m : {&part.a, &part.b}) {
      mix(&h, uint64_t{m->n} << 32 | m->k);
      const uint8_t* p = static_cast<const uint8_t*>(m->panels);
      for (uint64_t n = padded_n(m->n) * m->k / 2, j = 0; j < n; ++j, p += 8) {
        uint64_t word;
        std::memcpy(&word, p, sizeof word);
        mix(&h, word);
      }
    }
  }
  return h ? h : 1;
}

inline constexpr uint32_t kMostSlots = 2 + kMaxLayers * kLoraRolesOfLayer;

struct LoraParts {
  linnet_lora* lora;
  LowRank* parts;
  float* row;  // of values on their way
};
LoraParts lay_out(Arena& arena, const ModelSpec& spec) {
  LoraParts p;
  p.lora = arena.take<linnet_lora>("adapter", 1);
  p.parts = arena.take<LowRank>("adapter", lora_slots(spec));
  uint32_t longest = kMostLoraRank;
  if (lora_slot(kOutput, 0, spec) && role_k(kOutput, 0, spec) > longest) longest = role_k(kOutput, 0, spec);
  for (uint32_t i = 0; i < spec.n_layers; ++i)
    for (const Role r : kLoraRoles)
      if (lora_slot(r, i, spec) && role_k(r, i, spec) > longest) longest = role_k(r, i, spec);
  p.row = arena.take<float>("adapter", longest);
  return p;
}

// Twice the same way: counts, then places.
Status run(Arena& arena, const linnet_model& model, linnet_view view, linnet_lora** out, Error* err) {
  Gguf file;
  LINNET_TRY(lora_check(model, err));
  LINNET_TRY(gguf_open(view.data, view.bytes, kLabel, &file, err));
  uint32_t taken[(kMostSlots + 31) / 32] = {};
  const LoraParts parts = lay_out(arena, model.spec);
  if (out) {
    if (!arena.ok()) return fail(err, LINNET_TOO_SMALL, "adapter: memory is too small");
    linnet_lora& lora = *new (parts.lora) linnet_lora{};
    lora.model = &model;
    lora.parts = parts.parts;
    for (uint32_t i = 0; i < lora_slots(model.spec); ++i) new (&lora.parts[i]) LowRank{};
    GgufValue v;
    if (file.key("general.name", &v) && v.type == kGgufString) copy_text(v.text, lora.name);
  }
  Placing placing = {arena, model, file, out ? parts.lora : nullptr, taken, parts.row};
  LoraFile in = {file, model.spec, model.family, model.gguf_orders};
  LINNET_TRY(lora_tensors(&in, &placing, place, err));
  if (!out) return LINNET_OK;
  linnet_lora_desc& d = parts.lora->desc;
  d.size = sizeof d;
  d.alpha = in.alpha;
  d.bytes = arena.used();
  d.name = parts.lora->name;
  d.hash = hash_of(*parts.lora, lora_slots(model.spec));
  *out = parts.lora;
  return LINNET_OK;
}

}  // namespace

Status lora_need(const linnet_model& model, linnet_view view, size_t* bytes, Error* err) {
  Arena count;
  LINNET_TRY(run(count, model, view, nullptr, err));
  if (!count.ok()) return fail(err, LINNET_UNSUPPORTED, "adapter: larger than memory can be");
  *bytes = count.used();
  return LINNET_OK;
}

Status lora_init(linnet_lora** out, void* mem, size_t bytes, const linnet_model& model, linnet_view view, Error* err) {
  size_t need = 0;
  LINNET_TRY(lora_need(model, view, &need, err));
  if (need > bytes) return fail(err, LINNET_TOO_SMALL, "adapter: memory of ", bytes, " bytes, needs ", need);
  Arena arena(mem, bytes);
  return run(arena, model, view, out, err);
}

Status lora_set(linnet_session& s, uint32_t seq, const linnet_lora* const* loras, const float* scales, uint32_t n, Error* err) {
  Sequence& q = s.seqs[seq];
  if (n > kMostLoras) return fail(err, LINNET_BAD_ARG, "adapters: n is ", n, ", at most ", kMostLoras);
  LoraUse use{};
  uint64_t hash = 0;
  uint32_t rank = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (!loras[i]) return fail(err, LINNET_BAD_ARG, "adapters: loras[", i, "] is NULL");
    if (loras[i]->model != s.model) return fail(err, LINNET_BAD_ARG, "adapters: loras[", i, "] is of another model than the session");
    const float scale = scales ? scales[i] : 1;
    if (!finite(scale)) return fail(err, LINNET_BAD_ARG, "adapters: scales[", i, "] is not finite");
    if (scale == 0) continue;
    use.of[use.n++] = {loras[i]->parts, scale, rank};
    rank += static_cast<uint32_t>(padded_n(loras[i]->desc.rank));
    mix(&hash, loras[i]->desc.hash);
    mix(&hash, bits_of(scale));
  }
  if (rank > padded_n(s.params.lora_rank))
    return fail(err, LINNET_BAD_ARG, "adapters: ranks of ", rank, " together, each rounded up to 16; the session's lora_rank is ",
                s.params.lora_rank);
  if (session_length(s, seq) && hash != q.lora_hash)
    return fail(err, LINNET_BAD_STATE, "adapters: sequence ", seq, " holds ", session_length(s, seq),
                " tokens, whose keys and values others made: linnet_truncate empties it");
  q.lora = use;
  q.lora_hash = hash;
  return LINNET_OK;
}

}  // namespace linnet
