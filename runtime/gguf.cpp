#include "gguf.h"

namespace linnet {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"

struct TypeRow {
  uint32_t id;
  GgmlType type;
};
constexpr TypeRow kTypes[] = {
    {kGgmlF32, {"F32", 1, 4}},
    {kGgmlF16, {"F16", 1, 2}},
    {kGgmlQ4_0, {"Q4_0", 32, 18}},
    {kGgmlQ4_1, {"Q4_1", 32, 20}},
    {kGgmlQ5_0, {"Q5_0", 32, 22}},
    {kGgmlQ5_1, {"Q5_1", 32, 24}},
    {kGgmlQ8_0, {"Q8_0", 32, 34}},
    {kGgmlQ4_K, {"Q4_K", 256, 144}},
    {kGgmlQ5_K, {"Q5_K", 256, 176}},
    {kGgmlQ6_K, {"Q6_K", 256, 210}},
    {kGgmlQ2_K, {"Q2_K", 256, 84}},
    {kGgmlQ3_K, {"Q3_K", 256, 110}},
    {kGgmlIQ2_XXS, {"IQ2_XXS", 256, 66}},
    {kGgmlIQ2_XS, {"IQ2_XS", 256, 74}},
    {kGgmlIQ2_S, {"IQ2_S", 256, 82}},
    {kGgmlIQ3_XXS, {"IQ3_XXS", 256, 98}},
    {kGgmlIQ3_S, {"IQ3_S", 256, 110}},
    {kGgmlIQ1_S, {"IQ1_S", 256, 50}},
    {kGgmlIQ1_M, {"IQ1_M", 256, 56}},
    {kGgmlIQ4_NL, {"IQ4_NL", 32, 18}},
    {kGgmlIQ4_XS, {"IQ4_XS", 256, 136}},
    {kGgmlTQ1_0, {"TQ1_0", 256, 54}},
    {kGgmlTQ2_0, {"TQ2_0", 256, 66}},
    {kGgmlMXFP4, {"MXFP4", 32, 17}},
    {kGgmlNVFP4, {"NVFP4", 64, 36}},
    {kGgmlI8, {"I8", 1, 1}},
    {25, {"I16", 1, 2}},
    {26, {"I32", 1, 4}},
    {27, {"I64", 1, 8}},
    {28, {"F64", 1, 8}},
    {kGgmlBF16, {"BF16", 1, 2}},
    // Known by name only, so that the refusal can say what it is.
    {9, {"Q8_1", 0, 0}},
    {15, {"Q8_K", 0, 0}},
};

bool is_utf8(std::string_view s) {
  const auto* p = reinterpret_cast<const uint8_t*>(s.data());
  const size_t n = s.size();
  for (size_t i = 0; i < n;) {
    const uint8_t c = p[i];
    if (c < 0x80) {
      ++i;
      continue;
    }
    const size_t more = c >= 0xC2 && c <= 0xDF ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c <= 0xF4 ? 3 : 0;
    if (more == 0 || more >= n - i) return false;
    const uint8_t d = p[i + 1];
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) || (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F)) return false;
    for (size_t j = 1; j <= more; ++j)
      if ((p[i + j] & 0xC0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

template <class Less>
void sift_down(uint32_t* a, uint32_t n, uint32_t root, Less less) {
  for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && less(a[child], a[child + 1])) ++child;
    if (!less(a[root], a[child])) return;
    const uint32_t t = a[root];
    a[root] = a[child], a[child] = t;
  }
}
// In place and without recursion; n log n comparisons whatever the file holds.
template <class Less>
void heap_sort(uint32_t* a, uint32_t n, Less less) {
  for (uint32_t i = n / 2; i-- > 0;) sift_down(a, n, i, less);
  for (uint32_t end = n; end > 1;) {
    --end;
    const uint32_t t = a[0];
    a[0] = a[end], a[end] = t;
    sift_down(a, end, 0, less);
  }
}

std::string_view read_text(ByteReader& r) { return r.view(r.read<uint64_t>()); }

std::string_view name_at(const Gguf& g, uint32_t pos) {
  ByteReader r(g.data, g.bytes);
  r.seek(pos);
  return read_text(r);
}
uint64_t tensor_offset_at(const Gguf& g, uint32_t pos) {
  ByteReader r(g.data, g.bytes);
  r.seek(pos);
  read_text(r);
  r.skip(r.read<uint32_t>() * uint64_t{8} + 4);
  return r.read<uint64_t>();
}

template <class T>
void set_number(GgufValue* v, T x) {
  v->u = static_cast<uint64_t>(x);
  v->i = static_cast<int64_t>(x);
  v->f = static_cast<double>(x);
}

void read_scalar(ByteReader& r, uint32_t type, GgufValue* v) {
  switch (type) {
    case kGgufU8:
    case kGgufBool:
      return set_number(v, r.read<uint8_t>());
    case kGgufI8:
      return set_number(v, r.read<int8_t>());
    case kGgufU16:
      return set_number(v, r.read<uint16_t>());
    case kGgufI16:
      return set_number(v, r.read<int16_t>());
    case kGgufU32:
      return set_number(v, r.read<uint32_t>());
    case kGgufI32:
      return set_number(v, r.read<int32_t>());
    case kGgufU64:
      return set_number(v, r.read<uint64_t>());
    case kGgufI64:
      return set_number(v, r.read<int64_t>());
    case kGgufF32:
      v->f = static_cast<double>(r.read<float>());
      return;
    case kGgufF64:
      v->f = r.read<double>();
      return;
    default:
      return;
  }
}

// Past an array's elements. The same walk serves the check and later look-ups.
bool skip_elements(ByteReader& r, uint32_t type, uint64_t count) {
  if (const uint32_t size = gguf_scalar_bytes(type)) {
    uint64_t bytes = 0;
    return checked_mul(count, size, &bytes) && r.skip(bytes);
  }
  if (count > r.left() / 8) return false;
  for (uint64_t i = 0; i < count; ++i)
    if (!r.skip(r.read<uint64_t>())) return false;
  return true;
}

// A value whose header was checked before.
void read_value(ByteReader& r, GgufValue* v) {
  *v = {};
  v->type = r.read<uint32_t>();
  if (v->type == kGgufString) {
    v->text = read_text(r);
  } else if (v->type == kGgufArray) {
    v->array_type = r.read<uint32_t>();
    v->count = r.read<uint64_t>();
    const size_t from = r.pos();
    skip_elements(r, v->array_type, v->count);
    v->raw = {reinterpret_cast<const char*>(r.data() + from), r.pos() - from};
  } else {
    read_scalar(r, v->type, v);
  }
}

struct Opening {
  Gguf* g;
  ByteReader r;
  Error* err;
  uint64_t n_keys, n_tensors;

  template <class... Parts>
  Status bad(const Parts&... parts) {
    return fail(err, LINNET_BAD_FILE, g->label, ": ", parts...);
  }
  Status name(const char* what, uint64_t index, std::string_view* out);
  Status array(std::string_view key);
  Status value(std::string_view key);
  Status keys();
  Status tensors();
  Status unique(const char* what, const uint32_t* at, uint32_t n);
  Status places();
};

Status Opening::name(const char* what, uint64_t index, std::string_view* out) {
  if (r.pos() > UINT32_MAX) return bad("header: ", what, " ", index, " begins past 4 GiB");
  const auto length = r.read<uint64_t>();
  if (!r.ok()) return bad("header: the file ends inside ", what, " ", index);
  if (length == 0) return bad(what, " ", index, ": name is empty");
  if (length > kGgufMaxName) return bad(what, " ", index, ": name has ", length, " bytes, more than ", kGgufMaxName);
  *out = r.view(length);
  if (!r.ok()) return bad("header: the file ends inside the name of ", what, " ", index);
  if (!is_utf8(*out)) return bad(what, " ", index, ": name is not UTF-8");
  return LINNET_OK;
}

Status Opening::array(std::string_view key) {
  const auto type = r.read<uint32_t>();
  const auto count = r.read<uint64_t>();
  if (!r.ok()) return bad("key '", key, "': the file ends inside the value");
  if (type == kGgufArray) return bad("key '", key, "': arrays in arrays are deeper than ", kGgufMaxArrayDepth);
  if (type != kGgufString && gguf_scalar_bytes(type) == 0) return bad("key '", key, "': unknown array element type ", type);
  ByteReader from = r;
  if (!skip_elements(r, type, count)) return bad("key '", key, "': array of ", count, " elements passes the end of the file");
  if (type == kGgufBool)
    for (uint64_t i = 0; i < count; ++i)
      if (const auto b = from.read<uint8_t>(); b > 1) return bad("key '", key, "': bool ", i, " is ", uint32_t{b}, ", not 0 or 1");
  return LINNET_OK;
}

Status Opening::value(std::string_view key) {
  const auto type = r.read<uint32_t>();
  if (!r.ok()) return bad("key '", key, "': the file ends before the value");
  if (type == kGgufArray) return array(key);
  if (type == kGgufString) {
    const auto length = r.read<uint64_t>();
    if (!r.ok()) return bad("key '", key, "': the file ends inside the string's length");
    const std::string_view text = r.view(length);
    if (!r.ok()) return bad("key '", key, "': string of ", length, " bytes passes the end of the file");
    if (!is_utf8(text)) return bad("key '", key, "': string is not UTF-8");
    return LINNET_OK;
  }
  if (gguf_scalar_bytes(type) == 0) return bad("key '", key, "': unknown value type ", type);
  GgufValue v;
  read_scalar(r, type, &v);
  if (!r.ok()) return bad("key '", key, "': the file ends inside the value");
  if (type == kGgufBool && v.u > 1) return bad("key '", key, "': bool is ", v.u, ", not 0 or 1");
  return LINNET_OK;
}

Status Opening::unique(const char* what, const uint32_t* at, uint32_t n) {
  for (uint32_t i = 1; i < n; ++i)
    if (const std::string_view a = name_at(*g, at[i - 1]); a == name_at(*g, at[i])) return bad(what, " '", a, "' appears twice");
  return LINNET_OK;
}

Status Opening::keys() {
  for (uint64_t i = 0; i < n_keys; ++i) {
    const size_t pos = r.pos();
    std::string_view key;
    LINNET_TRY(name("key", i, &key));
    LINNET_TRY(value(key));
    g->at[g->n_keys++] = static_cast<uint32_t>(pos);
  }
  heap_sort(g->at, g->n_keys, [this](uint32_t a, uint32_t b) { return name_at(*g, a) < name_at(*g, b); });
  LINNET_TRY(unique("key", g->key_at(), g->n_keys));
  GgufValue v;
  if (!g->key("general.alignment", &v)) return LINNET_OK;
  uint64_t a = 0;
  if (!v.is_uint(&a)) return bad("general.alignment: not an unsigned integer");
  if (a == 0 || (a & (a - 1)) || a > kGgufMaxAlignment)
    return bad("general.alignment: ", a, " is no power of two up to ", kGgufMaxAlignment);
  g->alignment = static_cast<uint32_t>(a);
  return LINNET_OK;
}

Status Opening::tensors() {
  for (uint64_t i = 0; i < n_tensors; ++i) {
    const size_t pos = r.pos();
    std::string_view t;
    LINNET_TRY(name("tensor", i, &t));
    const auto n_dims = r.read<uint32_t>();
    if (!r.ok()) return bad("tensor '", t, "': the file ends inside its entry");
    if (n_dims == 0 || n_dims > 4) return bad("tensor '", t, "': ", n_dims, " dimensions, not 1 to 4");
    uint64_t dim0 = 0, count = 1, bytes = 0;
    for (uint32_t d = 0; d < n_dims; ++d) {
      const auto dim = r.read<uint64_t>();
      if (!r.ok()) return bad("tensor '", t, "': the file ends inside its entry");
      if (dim == 0) return bad("tensor '", t, "': dimension ", d, " is 0");
      if (d == 0) dim0 = dim;
      if (!checked_mul(count, dim, &count))
        return bad("tensor '", t, "': the product of its dimensions overflows at dimension ", d, " = ", dim);
    }
    const auto type = r.read<uint32_t>();
    const auto offset = r.read<uint64_t>();
    if (!r.ok()) return bad("tensor '", t, "': the file ends inside its entry");
    const GgmlType row = ggml_type(type);
    if (!row.name) return fail(err, LINNET_UNSUPPORTED, g->label, ": tensor '", t, "': unknown type ", type);
    if (!row.values) return fail(err, LINNET_UNSUPPORTED, g->label, ": tensor '", t, "': type ", row.name, " is not supported");
    if (dim0 % row.values)
      return bad("tensor '", t, "': dimension 0 = ", dim0, " is no multiple of ", row.name, "'s block of ", row.values);
    if (!checked_mul(count / row.values, row.bytes, &bytes)) return bad("tensor '", t, "': ", count, " values of ", row.name, " overflow");
    if (offset % g->alignment) return bad("tensor '", t, "': offset ", offset, " is no multiple of the alignment ", g->alignment);
    g->at[g->n_keys + g->n_tensors++] = static_cast<uint32_t>(pos);
  }
  return LINNET_OK;
}

// Where the tensors lie: inside the file and apart from each other.
Status Opening::places() {
  g->data_offset = align_up(r.pos(), g->alignment);
  heap_sort(g->at + g->n_keys, g->n_tensors, [this](uint32_t a, uint32_t b) { return tensor_offset_at(*g, a) < tensor_offset_at(*g, b); });
  uint64_t end = 0;
  GgufTensor last;
  for (uint32_t i = 0; i < g->n_tensors; ++i) {
    GgufTensor t;
    g->tensor_entry(i, &t);
    const uint64_t offset = tensor_offset_at(*g, g->tensor_at()[i]);
    if (g->data_offset > g->bytes || !fits(offset, t.bytes, g->bytes - g->data_offset))
      return bad("tensor '", t.name, "': ", t.bytes, " bytes at offset ", offset, " pass the end of the file (", g->bytes,
                 " bytes, data from ", g->data_offset, ")");
    if (i && offset < end) return bad("tensor '", t.name, "': offset ", offset, " overlaps tensor '", last.name, "', which ends at ", end);
    end = offset + t.bytes;
    last = t;
  }
  heap_sort(g->at + g->n_keys, g->n_tensors, [this](uint32_t a, uint32_t b) { return name_at(*g, a) < name_at(*g, b); });
  return unique("tensor", g->tensor_at(), g->n_tensors);
}

// Index of `name` in a sorted list of entries, or n.
uint32_t find(const Gguf& g, const uint32_t* at, uint32_t n, std::string_view name) {
  uint32_t low = 0, high = n;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (name_at(g, at[mid]) < name)
      low = mid + 1;
    else
      high = mid;
  }
  return low < n && name_at(g, at[low]) == name ? low : n;
}

}  // namespace

GgmlType ggml_type(uint32_t id) {
  for (const TypeRow& row : kTypes)
    if (row.id == id) return row.type;
  return {nullptr, 0, 0};
}

uint32_t gguf_scalar_bytes(uint32_t type) {
  constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};  // by GgufType
  return type < sizeof kBytes ? kBytes[type] : 0;
}

bool GgufValue::is_uint(uint64_t* out) const {
  *out = u;
  switch (type) {
    case kGgufU8:
    case kGgufU16:
    case kGgufU32:
    case kGgufU64:
      return true;
    case kGgufI8:
    case kGgufI16:
    case kGgufI32:
    case kGgufI64:
      return i >= 0;
    default:
      return false;
  }
}

bool GgufValue::is_number(double* out) const {
  *out = f;
  return type != kGgufBool && gguf_scalar_bytes(type) != 0;
}

bool gguf_next_string(const GgufValue& array, size_t* pos, std::string_view* out) {
  if (array.array_type != kGgufString) return false;
  ByteReader r(array.raw.data(), array.raw.size());
  r.seek(*pos);
  const std::string_view text = read_text(r);
  if (!r.ok()) return false;
  *out = text;
  *pos = r.pos();
  return true;
}

void Gguf::key_entry(uint32_t i, std::string_view* name, GgufValue* out) const {
  ByteReader r(data, bytes);
  r.seek(key_at()[i]);
  *name = read_text(r);
  read_value(r, out);
}

void Gguf::tensor_entry(uint32_t i, GgufTensor* out) const {
  *out = {};
  ByteReader r(data, bytes);
  r.seek(tensor_at()[i]);
  out->name = read_text(r);
  out->n_dims = r.read<uint32_t>();
  uint64_t count = 1;
  for (uint32_t d = 0; d < out->n_dims && d < 4; ++d) count *= out->dims[d] = r.read<uint64_t>();
  out->type = r.read<uint32_t>();
  const auto offset = r.read<uint64_t>();
  const GgmlType row = ggml_type(out->type);
  out->bytes = count / row.values * row.bytes;
  out->offset = data_offset + offset;
  out->data = out->offset <= bytes ? data + out->offset : nullptr;  // an offset that is still to be checked makes no pointer
}

bool Gguf::key(std::string_view name, GgufValue* out) const {
  const uint32_t i = find(*this, key_at(), n_keys, name);
  if (i == n_keys) return false;
  std::string_view same;
  key_entry(i, &same, out);
  return true;
}

bool Gguf::tensor(std::string_view name, GgufTensor* out) const {
  const uint32_t i = find(*this, tensor_at(), n_tensors, name);
  if (i == n_tensors) return false;
  tensor_entry(i, out);
  return true;
}

Status gguf_open(const void* data, size_t bytes, const char* label, Gguf* out, Error* err) {
  out->data = static_cast<const uint8_t*>(data);
  out->bytes = bytes;
  out->label = label ? label : "file";
  out->n_keys = out->n_tensors = 0;
  out->alignment = 32;
  Opening o{out, ByteReader(data, bytes), err, 0, 0};
  const auto magic = o.r.read<uint32_t>();
  if (!o.r.ok()) return o.bad("no GGUF file: it has only ", bytes, " bytes");
  if (is_lfs_pointer(data, bytes)) return o.bad(kLfsPointer);
  if (magic != kMagic) return o.bad("no GGUF file: it does not begin with 'GGUF'");
  out->version = o.r.read<uint32_t>();
  o.n_tensors = o.r.read<uint64_t>();
  o.n_keys = o.r.read<uint64_t>();
  if (!o.r.ok()) return o.bad("header: the file ends after ", bytes, " bytes");
  if (out->version == 3u << 24) return fail(err, LINNET_UNSUPPORTED, out->label, ": header: big-endian GGUF is not supported");
  // Version 2 differs from 3 only in that it is never big-endian.
  if (out->version != 2 && out->version != 3)
    return fail(err, LINNET_UNSUPPORTED, out->label, ": header: unknown GGUF version ", out->version);
  if (o.n_keys > kGgufMaxKeys) return o.bad("header: ", o.n_keys, " keys, more than ", kGgufMaxKeys);
  if (o.n_tensors > kGgufMaxTensors) return o.bad("header: ", o.n_tensors, " tensors, more than ", kGgufMaxTensors);
  if (o.n_keys + o.n_tensors > kGgufMaxEntries)
    return o.bad("header: ", o.n_keys, " keys and ", o.n_tensors, " tensors, more than ", kGgufMaxEntries, " together");
  LINNET_TRY(o.keys());
  LINNET_TRY(o.tensors());
  return o.places();
}

}  // namespace linnet
