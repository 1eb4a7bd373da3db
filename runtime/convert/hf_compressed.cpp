// compressed-tensors: matrices in integers (pack-quantized: X.weight_packed with X.weight_shape; int-quantized: X.weight), and in e4m3
// (float-quantized) or FP4 (nvfp4- and mxfp4-pack-quantized); X.weight_scale and, without symmetry, X.weight_zero_point for a matrix, each
// output, groups of inputs or blocks. Groups of the config say which matrices are in what.
#include <algorithm>
#include <cstring>

#include "automaton.h"
#include "hf_codes.h"

namespace linnet::convert {
namespace {

constexpr std::string_view kKnownKeys[] = {"config_groups",   "format",       "global_compression_ratio", "ignore",
                                           "kv_cache_scheme", "quant_method", "quantization_status",      "version"};
constexpr std::string_view kMarks[] = {".weight_scale"};
constexpr std::string_view kParts[] = {".weight",       ".weight_packed", ".weight_scale",       ".weight_zero_point",
                                       ".weight_shape", ".weight_g_idx",  ".weight_global_scale"};
constexpr std::string_view kRunTime[] = {".input_global_scale",
                                         ".input_scale",
                                         ".input_zero_point",
                                         ".output_scale",
                                         ".output_zero_point",
                                         ".q_scale",
                                         ".k_scale",
                                         ".v_scale",
                                         ".kv_scale"};

// One of the regular expressions that modules are named by; they are Python's, which look from the name's beginning on.
struct Pattern {
  static constexpr uint32_t kMostNodes = 1u << 14;
  Automaton automaton;
  uint32_t from = 0, to = 0;

  Status read(std::string_view text, const std::string& place, Error* err) {
    std::string anchored = "^";
    String why;
    uint32_t depth = 0;
    bool klass = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool begins = anchored.back() == '^' && !klass && depth == 0 && (anchored.size() == 1 || anchored[anchored.size() - 2] == '|');
      if (c == '^' && begins) continue;
      anchored += c;
      if (c == '\\' && i + 1 < text.size()) anchored += text[++i];
      if (c == '[') klass = true;
      if (c == ']') klass = false;
      if (c == '(' && !klass) ++depth;
      if (c == ')' && !klass && depth) --depth;
      if (c == '|' && !klass && depth == 0) anchored += '^';
    }
    from = automaton.node(), to = automaton.node();
    const auto write = [this](uint32_t a, uint32_t b, const Vector<CharRange>& ranges) {
      for (const CharRange& r : ranges) automaton.utf8(a, b, r);
    };
    pattern_chars(&automaton, from, to, anchored, write, false, &why);
    if (why.empty() && automaton.node() > kMostNodes) why = "that it is so large";
    return why.empty() ? LINNET_OK
                       : fail(err, LINNET_UNSUPPORTED, place, ": 're:", text, "': ", why, " is not supported in regular expressions");
  }
  bool matches(std::string_view name) const { return automaton.reads(from, to, name); }
};

struct Target {
  std::string text;
  std::shared_ptr<const Pattern> pattern;  // or nullptr: a name, or the class of all
};

// What a group says of weights.
struct Scheme {
  std::string name;
  std::vector<Target> targets;
  bool floats = false, symmetric = true, act_order = false;
  uint32_t bits = 8;
  uint32_t group = 0, block_rows = 0;  // inputs, and outputs, that share a scale; 0: all; outputs are apart but for blocks and tensors
  bool one = false;                    // one scale for the matrix
  bool same(const Scheme& o) const {
    return floats == o.floats && symmetric == o.symmetric && act_order == o.act_order && bits == o.bits && group == o.group &&
           block_rows == o.block_rows && one == o.one;
  }
};
struct Settings {
  std::vector<Scheme> schemes;
};

constexpr std::string_view kWeightKeys[] = {"actorder",        "block_structure", "dynamic",  "group_size", "num_bits", "observer",
                                            "observer_kwargs", "scale_dtype",     "strategy", "symmetric",  "type",     "zp_dtype"};

Status read_weights(const nlohmann::json& w, const char* label, const std::string& place, const std::string& format, Scheme* s,
                    Error* err) {
  std::string type = "int", strategy;
  int64_t group = 0;
  uint32_t bits = 8;
  const bool wrong = get_u32(w, "num_bits", &bits) == Got::kWrong || get_string(w, "type", &type) == Got::kWrong ||
                     get_string(w, "strategy", &strategy) == Got::kWrong || get_bool(w, "symmetric", &s->symmetric) == Got::kWrong ||
                     get_i64(w, "group_size", &group) == Got::kWrong;
  if (!w.is_object() || wrong)
    return fail(err, LINNET_BAD_FILE, label, ": ", place,
                ": weights, or num_bits, type, strategy, symmetric or group_size of them, are of another type");
  for (const auto& [key, value] : w.items())
    if (!value.is_null() && std::find(std::begin(kWeightKeys), std::end(kWeightKeys), key) == std::end(kWeightKeys))
      return fail(err, LINNET_UNSUPPORTED, label, ": ", place, ": weights: key '", key, "' (", json_show(value), ") is not supported");
  if (strategy.empty()) strategy = group > 0 ? "group" : group == -1 ? "channel" : "tensor";  // as the tool has it
  s->floats = type == "float";
  s->bits = bits;
  s->one = strategy == "tensor";
  // Floats of 4 bits are MXFP4, or NVFP4 with a factor for the tensor.
  const bool mx = bits == 4 && strategy == "group" && group == 32, nv = bits == 4 && strategy == "tensor_group" && group == 16,
             float_known =
                 s->symmetric &&
                 (mx || nv || (bits == 8 && (strategy == "tensor" || strategy == "channel" || strategy == "group" || strategy == "block"))),
             int_known =
                 bits >= 2 && bits <= 8 && (strategy == "tensor" || strategy == "channel" || strategy == "group" || strategy == "block");
  if (type == "float" ? !float_known : type != "int" || !int_known)
    return fail(
        err, LINNET_UNSUPPORTED, label, ": ", place, ": weights of ", bits, " bits, type '", type, "', strategy '", strategy,
        "' are not supported, only int of 2 to 8 bits, float of 8 (symmetric) and float of 4 in groups of 32 or tensor_groups of 16");
  if (type == "float" && bits == 4) {
    const char* const wants = mx ? "mxfp4-pack-quantized" : "nvfp4-pack-quantized";
    if (format != wants)
      return fail(err, LINNET_UNSUPPORTED, label, ": ", place, ": format '", format, "' of such weights is not supported, only ", wants);
    s->group = static_cast<uint32_t>(group);
    return LINNET_OK;
  }
  const bool dense = format == "naive-quantized" || format == (s->floats ? "float-quantized" : "int-quantized");
  if (!dense && (s->floats || format != "pack-quantized"))
    return fail(err, LINNET_UNSUPPORTED, label, ": ", place, ": format '", format, "' of weights of type '", type,
                "' is not supported, only ", s->floats ? "float-quantized" : "pack-quantized and int-quantized");
  if (strategy == "group") {
    if (group < 1 || group > 65536)
      return fail(err, LINNET_UNSUPPORTED, label, ": ", place, ": weights.group_size = ", group, " is outside 1 to 65536");
    s->group = static_cast<uint32_t>(group);
    if (s->floats) s->block_rows = 1;
  }
  if (strategy == "block") {
    const nlohmann::json* size = json_member(w, "block_structure");
    LINNET_TRY(quant_block_size(size ? *size : nlohmann::json(), label, "block_structure", &s->block_rows, &s->group, err));
  }
  const nlohmann::json* order = json_member(w, "actorder");
  s->act_order = order && (json_is(*order, "group") || json_is(*order, "dynamic") || *order == true);
  return LINNET_OK;
}

Status read_targets(const nlohmann::json& list, const std::string& place, std::vector<Target>* out, Error* err) {
  if (!list.is_array() || list.size() > 4096) return fail(err, LINNET_BAD_FILE, place, ": targets are no list of at most 4096 names");
  for (const nlohmann::json& item : list) {
    const std::string* text = item.get_ptr<const std::string*>();
    if (!text || text->size() > 1024) return fail(err, LINNET_BAD_FILE, place, ": a target is no text of at most 1024 bytes");
    Target t = {*text, nullptr};
    if (text->starts_with("re:")) {
      const auto pattern = std::make_shared<Pattern>();
      LINNET_TRY(pattern->read(std::string_view(*text).substr(3), place, err));
      t.pattern = pattern;
    }
    out->push_back(std::move(t));
  }
  return LINNET_OK;
}

Status config(const nlohmann::json& q, const char* label, HfQuant* out, Error* err) {
  nlohmann::json known = q;
  // Nothing is sparse.
  const nlohmann::json* sparsity = json_member(q, "sparsity_config");
  std::string kind;
  if (sparsity && get_string(*sparsity, "format", &kind) == Got::kFound && kind == "dense") known.erase("sparsity_config");
  LINNET_TRY(quant_keys(known, label, kKnownKeys, err));
  std::string format;
  get_string(q, "format", &format);
  const nlohmann::json* groups = json_member(q, "config_groups");
  if (!groups || !groups->is_object() || groups->empty() || groups->size() > 1024)
    return fail(err, LINNET_BAD_FILE, label, ": quantization_config.config_groups is missing, empty, no object or of more than 1024");
  Settings s;
  for (const auto& [name, group] : groups->items()) {
    const std::string place = "quantization_config.config_groups." + name;
    const nlohmann::json* weights = json_member(group, "weights");
    if (!weights || weights->is_null()) continue;  // of activations alone
    Scheme one;
    one.name = name;
    std::string own;
    get_string(group, "format", &own);
    LINNET_TRY(read_weights(*weights, label, place, own.empty() ? format : own, &one, err));
    s.schemes.push_back(std::move(one));
  }
  if (s.schemes.empty()) return fail(err, LINNET_BAD_FILE, label, ": quantization_config.config_groups: none has weights");
  // Which matrices have codes is what tensors there are; which of several kinds they are in, only their names say.
  const bool alike = std::all_of(s.schemes.begin(), s.schemes.end(), [&](const Scheme& o) { return o.same(s.schemes.front()); });
  if (alike) s.schemes.resize(1);
  for (size_t i = 0; i < s.schemes.size() && !alike; ++i) {
    const nlohmann::json* targets = json_member((*groups)[s.schemes[i].name], "targets");
    const std::string place = std::string(label) + ": quantization_config.config_groups." + s.schemes[i].name;
    LINNET_TRY(read_targets(targets ? *targets : nlohmann::json(), place, &s.schemes[i].targets, err));
  }
  out->settings = s;
  return LINNET_OK;
}

// As the tool chooses: a name, else the first pattern by its text, else the class.
const Scheme* scheme_of(const Settings& s, const std::string& name) {
  if (s.schemes.size() == 1) return &s.schemes.front();
  const Scheme *pattern = nullptr, *all = nullptr;
  const std::string* first = nullptr;
  for (const Scheme& one : s.schemes)
    for (const Target& t : one.targets) {
      if (!t.pattern && t.text == name) return &one;
      if (t.pattern && (!first || t.text < *first) && t.pattern->matches(name)) pattern = &one, first = &t.text;
      if (!t.pattern && t.text == "Linear" && !all) all = &one;
    }
  return pattern ? pattern : all;
}

// Numbers of 1 to 8 bits one behind the other in words `stride` apart.
uint32_t number(const uint8_t* words, size_t first, size_t stride, uint32_t bits, uint64_t i) {
  const auto word = [words](size_t at) {
    uint32_t w;
    std::memcpy(&w, words + at * 4, 4);
    return w;
  };
  const uint64_t bit = i * bits;
  const uint32_t shift = bit % 32;
  const size_t at = first + static_cast<size_t>(bit / 32) * stride;
  uint32_t w = word(at) >> shift;
  if (shift + bits > 32) w |= word(at + stride) << (32 - shift);
  return w & ((1u << bits) - 1);
}

// X.weight_shape, which may be any integers.
Status check_shape(const QuantMatrix& m, uint32_t n, uint32_t k, Error* err) {
  const auto at = m.tensors.find(m.base + ".weight_shape");
  if (at == m.tensors.end()) return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".weight_shape' is missing");
  const SafetensorsTensor& t = at->second;
  int64_t wide[2] = {};
  int32_t small[2] = {};
  if ((t.dtype != "I64" && t.dtype != "I32") || t.shape != std::vector<uint64_t>{2})
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", at->first, "': not two numbers of I64 or I32");
  if (t.dtype == "I64")
    std::memcpy(wide, t.data, sizeof wide);
  else
    std::memcpy(small, t.data, sizeof small), wide[0] = small[0], wide[1] = small[1];
  if (wide[0] != n || wide[1] != k)
    return fail(err, LINNET_BAD_FILE, t.file, ": tensor '", at->first, "' says ", wide[0], " x ", wide[1], ", config.json asks for ", n,
                " x ", k);
  return LINNET_OK;
}

// Older files have a group of -1 for each input where there is no act-order.
bool unset(const QuantMatrix& m) {
  const auto at = m.tensors.find(m.base + ".weight_g_idx");
  return at != m.tensors.end() &&
         std::all_of(at->second.data, at->second.data + at->second.bytes, [](uint8_t byte) { return byte == 0xFF; });
}

Status read_int(const QuantMatrix& m, const Scheme& s, SourceTensor* t, std::string* needs_format, Error* err) {
  const uint32_t n = t->n, k = t->k, bits = s.bits, group = s.group ? s.group : k, half = 1u << (bits - 1);
  const uint32_t across = static_cast<uint32_t>(div_up(k, group)), rows = s.one ? n : s.block_rows ? s.block_rows : 1;
  const uint64_t down = div_up(n, rows);
  const bool packed = m.tensors.count(m.base + ".weight_packed");
  const uint8_t *codes = nullptr, *zeros = nullptr;
  IntCodes c = {.n = n, .k = k, .group = group, .bits = static_cast<uint8_t>(packed && bits <= 4 ? 4 : 8)};
  const uint64_t words = div_up(uint64_t{k} * bits, 32);
  if (packed) {
    LINNET_TRY(check_shape(m, n, k, err));
    LINNET_TRY(quant_part(m, ".weight_packed", "I32", {n, words}, &codes, err));
  } else {
    LINNET_TRY(quant_part(m, ".weight", "I8", {n, k}, &codes, err));
  }
  std::vector<uint64_t> shape = {down, across};
  // One scale may have fewer sides, and one for each output may stand in a row.
  const auto stored = m.tensors.find(m.base + ".weight_scale");
  const bool vector = across == 1 && stored != m.tensors.end() &&
                      (stored->second.shape == std::vector<uint64_t>{down} || (down == 1 && stored->second.shape.empty()));
  if (vector) shape = stored->second.shape;
  LINNET_TRY(code_scales(m, ".weight_scale", shape, &c.scales, err));
  if (s.group && !s.block_rows && !unset(m)) LINNET_TRY(code_groups(m, ".weight_g_idx", s.act_order, &c, err));
  // Zero points of groups and outputs are packed along the outputs, others are bytes.
  const auto of_zeros = m.tensors.find(m.base + ".weight_zero_point");
  const bool has_zeros = of_zeros != m.tensors.end(),  // older files have bytes there as well
      pack_zeros = packed && !s.one && !s.block_rows && !(has_zeros && of_zeros->second.dtype == "I8");
  if (!s.symmetric || has_zeros) {
    const uint64_t zero_words = div_up(uint64_t{n} * bits, 32);
    LINNET_TRY(quant_part(m, ".weight_zero_point", pack_zeros ? "I32" : "I8",
                          pack_zeros ? std::vector<uint64_t>{zero_words, across} : shape, &zeros, err));
  }
  const auto zero = [=](uint32_t output, uint32_t g) -> int32_t {
    if (!zeros) return 0;
    if (pack_zeros) return static_cast<int32_t>(number(zeros, g, across, bits, output)) - static_cast<int32_t>(half);
    return static_cast<int8_t>(zeros[size_t{output / rows} * across + g]);
  };
  bool any = false;
  for (uint32_t output = 0; zeros && output < n; output += pack_zeros ? 1 : rows)
    for (uint32_t g = 0; g < across; ++g) {
      const int32_t z = zero(output, g);
      any |= z != 0;
      if (z < -static_cast<int32_t>(half) || z >= static_cast<int32_t>(half))
        return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".weight_zero_point': ", z, " of output ", output, " is outside of ", bits,
                    " bits");
    }
  if (any && s.symmetric)
    return fail(err, LINNET_BAD_FILE, "tensor '", m.base, ".weight_zero_point' is not 0, though config.json says symmetric");
  c.zeros = any && bits == 4 && c.bits == 4;  // of fewer bits what is left has four
  c.codes = [=, group_of = c.group_of](uint32_t output, int16_t* to) {
    std::vector<int32_t> less(across);
    for (uint32_t g = 0; g < across; ++g) less[g] = zero(output, g);
    for (uint32_t i = 0; i < k; ++i) {
      const int32_t code =
          packed ? static_cast<int32_t>(number(codes, static_cast<size_t>(output * words), 1, bits, i)) - static_cast<int32_t>(half)
                 : static_cast<int8_t>(codes[size_t{output} * k + i]);
      to[i] = static_cast<int16_t>(code - less[group_of.empty() ? i / group : group_of[i]]);
    }
  };
  c.scale = [=](uint32_t output, uint32_t g) { return size_t{output / rows} * across + g; };
  c.zero = [=](uint32_t output, uint32_t g) { return static_cast<uint8_t>(zero(output, g) + 8); };
  t->source_type = "I" + std::to_string(bits);
  return read_codes(m, std::move(c), t, needs_format, err);
}

Status read(const QuantMatrix& m, SourceTensor* t, std::string* needs_format, Error* err) {
  const Scheme* scheme = scheme_of(std::any_cast<const Settings&>(m.quant.settings), m.base);
  if (!scheme)
    return fail(err, LINNET_BAD_FILE, "tensor '", t->source_name, "' has codes, but none of quantization_config.config_groups names it");
  if (!scheme->floats) return read_int(m, *scheme, t, needs_format, err);
  if (scheme->bits == 4)
    return fp4_read(m, {".weight_packed", scheme->group == 16 ? ".weight_global_scale" : "", true}, t, needs_format, err);
  const HfQuant floats = {m.quant.method, Fp8Settings{scheme->block_rows, scheme->group}};
  return fp8_read({m.tensors, floats, m.base, m.n_experts, m.expert, m.keep}, t, needs_format, err);
}

}  // namespace

const QuantMethod kCompressedTensors = {"compressed-tensors", ".weight", kMarks, kParts, kRunTime, false, config, read};

}  // namespace linnet::convert
