// Memory of a run: values, texts, lists and dicts.
#include "../../platform/utf8.h"
#include "machine.h"

namespace linnet::chat {

bool Machine::full(const char* what, uint64_t cap) {
  status = linnet::fail(err, LINNET_TOO_SMALL, name, ", line ", line, ": the template takes more than ", cap, " ", what);
  if (err) err->line = line;
  return false;
}

void* Machine::take(size_t bytes) {
  const size_t at = (n_memory + 7) / 8 * 8;
  if (!fits(at, bytes, memory_bytes)) return full("bytes of values", memory_bytes), nullptr;
  n_memory = at + bytes;
  if (n_memory > peak) peak = n_memory;
  return memory + at;
}

// ---- texts

bool Machine::put(std::string_view s, uint8_t from) {
  if (!fits(n_out, s.size(), out_bytes)) return full("bytes of text", out_bytes);
  if (!s.empty()) {
    std::memcpy(out + n_out, s.data(), s.size());
    std::memset(marks + n_out, from & kData, s.size());
  }
  n_out += s.size();
  if (n_out > out_peak) out_peak = n_out;
  return spend(s.size() / 32);
}

bool Machine::put(const Value& t) {
  const size_t at = n_out;
  if (!put(t.view(), t.from())) return false;
  if (t.marks && t.n) std::memcpy(marks + at, t.marks, t.n);
  return true;
}

bool Machine::put_char(uint32_t code, uint8_t from) {
  char s[4];
  size_t n = 1;
  if (code < 0x80) {
    s[0] = static_cast<char>(code);
  } else {
    n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; --i > 0; code >>= 6) s[i] = static_cast<char>(0x80 | (code & 0x3F));
    s[0] = static_cast<char>((0xF00u >> n & 0xFF) | code);
  }
  return put({s, n}, from);
}

bool Machine::put_integer(int64_t i, uint8_t from) {
  char s[20];
  size_t at = sizeof s;
  uint64_t v = i < 0 ? uint64_t{0} - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  do s[--at] = static_cast<char>('0' + v % 10);
  while (v /= 10);
  if (i < 0) s[--at] = '-';
  return put({s + at, sizeof s - at}, from);
}

bool Machine::finish(size_t mark, Value* out_text) {
  const size_t n = n_out - mark;
  n_out = mark;
  bool mixed = false;
  for (size_t i = 1; i < n && !mixed; ++i) mixed = marks[mark + i] != marks[mark];
  Value v = linnet::chat::text({}, n ? marks[mark] : uint8_t{0});
  char* const to = static_cast<char*>(take(mixed ? 2 * n : n));
  if (!to) return false;
  std::memcpy(to, out + mark, n);
  v.text = to;
  v.n = static_cast<uint32_t>(n);
  if (mixed) {
    std::memcpy(to + n, marks + mark, n);
    v.marks = reinterpret_cast<const uint8_t*>(to + n);
    v.flags = 0;
  }
  *out_text = v;
  return spend(n / 32);
}

// ---- lists and dicts

namespace {

// How deep a container of these items nests.
uint16_t depth_of(const Value* items, size_t n) {
  uint16_t depth = 0;
  for (size_t i = 0; i < n; ++i)
    if (items[i].is_list() || items[i].is(Kind::kDict)) depth = items[i].depth > depth ? items[i].depth : depth;
  return static_cast<uint16_t>(depth + 1);
}
bool too_deep(Machine& m) { return m.fail("values nest deeper than ", uint32_t{kMaxNesting}); }

uint32_t mix(uint64_t v) {
  v *= 0x9E3779B97F4A7C15u;
  return static_cast<uint32_t>(v >> 32);
}
// Equal values have equal hashes: 1, 1.0 and True are one key.
uint32_t hash_of(Machine& m, const Value& v) {
  switch (v.kind) {
    case Kind::kBool:
    case Kind::kInt:
      return mix(static_cast<uint64_t>(v.integer));
    case Kind::kFloat: {
      if (v.real >= -9.2e18 && v.real <= 9.2e18) {
        const int64_t i = static_cast<int64_t>(v.real);
        if (static_cast<double>(i) == v.real) return mix(static_cast<uint64_t>(i));
      }
      uint64_t bits = 0;
      std::memcpy(&bits, &v.real, sizeof bits);
      return mix(bits);
    }
    case Kind::kText: {
      uint64_t h = 0xCBF29CE484222325u;
      for (uint32_t i = 0; i < v.n; ++i) h = (h ^ static_cast<uint8_t>(v.text[i])) * 0x100000001B3u;
      return mix(h);
    }
    case Kind::kTuple: {
      uint64_t h = v.n;
      for (uint32_t i = 0; i < v.n && m.spend(1); ++i) h = h * 31 + hash_of(m, v.items[i]);
      return mix(h);
    }
    default:
      return 7;  // None, integers beyond 64 bits (a float may equal one), functions
  }
}

}  // namespace

bool hashable(const Value& v) {
  return !v.is(Kind::kList) && !v.is(Kind::kDict) && !v.is(Kind::kView) && !(v.is(Kind::kTuple) && v.flags & kNoKey);
}

bool make_list(Machine& m, Kind kind, const Value* items, size_t n, Value* out) {
  Value v;
  v.kind = kind;
  v.depth = depth_of(items, n);
  if (v.depth > kMaxNesting) return too_deep(m);
  v.n = static_cast<uint32_t>(n);
  v.items = items;
  for (size_t i = 0; kind == Kind::kTuple && i < n; ++i)
    if (!hashable(items[i])) v.flags = kNoKey;
  *out = v;
  return m.spend(n / 8);
}

bool make_pair(Machine& m, const Value& a, const Value& b, Value* out) {
  Value* const items = m.take_values(2);
  if (!items) return false;
  items[0] = a, items[1] = b;
  return make_list(m, Kind::kTuple, items, 2, out);
}

bool make_dict(Machine& m, Value* entries, size_t n, Value* out) {
  Dict* const d = static_cast<Dict*>(m.take(sizeof(Dict)));
  if (!d || !m.spend(n)) return false;
  uint32_t n_slots = 0;
  uint32_t* index = nullptr;
  if (n >= kDictIndexFrom) {
    for (n_slots = 16; n_slots < 2 * n; n_slots *= 2) {
    }
    index = static_cast<uint32_t*>(m.take(n_slots * sizeof *index));
    if (!index) return false;
    std::memset(index, 0, n_slots * sizeof *index);
  }
  uint32_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    const Value key = entries[2 * i];
    if (!hashable(key)) return m.fail("a ", type_name(key), " cannot be a key of a dict");
    uint32_t at = 0, slot = 0;
    bool found = false;
    if (index) {
      for (slot = hash_of(m, key) & (n_slots - 1); index[slot]; slot = (slot + 1) & (n_slots - 1)) {
        if (!m.spend(1)) return false;
        at = index[slot] - 1;
        found = equal(m, entries[2 * at], key);
        if (found) break;
      }
    } else {
      for (at = 0; at < kept && !found; at += !found) found = equal(m, entries[2 * at], key);
    }
    if (found) {
      entries[2 * at + 1] = entries[2 * i + 1];
      continue;
    }
    if (index) index[slot] = kept + 1;
    entries[2 * kept] = key;
    entries[2 * kept + 1] = entries[2 * i + 1];
    ++kept;
  }
  *d = {entries, kept, n_slots, index};
  Value v;
  v.kind = Kind::kDict;
  v.depth = depth_of(entries, 2 * size_t{kept});
  if (v.depth > kMaxNesting) return too_deep(m);
  v.n = kept;
  v.dict = d;
  *out = v;
  return true;
}

const Value* find(Machine& m, const Dict& dict, const Value& key) {
  if (dict.n_slots) {
    if (!hashable(key)) return nullptr;
    for (uint32_t slot = hash_of(m, key) & (dict.n_slots - 1); dict.index[slot]; slot = (slot + 1) & (dict.n_slots - 1)) {
      const uint32_t at = dict.index[slot] - 1;
      if (equal(m, dict.entries[2 * at], key)) return &dict.entries[2 * at + 1];
    }
    return nullptr;
  }
  for (uint32_t i = 0; i < dict.n; ++i)
    if (equal(m, dict.entries[2 * i], key)) return &dict.entries[2 * i + 1];
  return nullptr;
}

const Value* find(Machine& m, const Dict& dict, std::string_view key) { return find(m, dict, text(key)); }

// ---- what is run through

bool make_iterator(Machine& m, const Value& list, Value* out) {
  Iterator* const it = static_cast<Iterator*>(m.take(sizeof(Iterator)));
  if (!it) return false;
  *it = {list, 0};
  Value v;
  v.kind = Kind::kIterator;
  v.iterator = it;
  *out = v;
  return true;
}

bool begin(Machine& m, const Value& v, Iterator* out) {
  switch (v.kind) {
    case Kind::kUndefined:
    case Kind::kText:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kIterator:
    case Kind::kLoop:
      *out = {v, 0};
      return true;
    default:
      return m.fail("a ", type_name(v), " cannot be iterated over");
  }
}

Next next(Machine& m, Iterator* it, Value* out) {
  if (!m.spend(1)) return Next::kFailed;
  Value& of = it->of;
  switch (of.kind) {
    case Kind::kText: {
      if (it->at == of.n) return Next::kEnd;
      const uint32_t bytes = next_char(of.text + it->at, of.n - it->at).bytes;
      *out = part(of, it->at, bytes);
      out->flags = of.from();  // of a markup the characters are plain
      if (out->marks) {
        out->flags = static_cast<uint8_t>(out->flags | (*out->marks & kData));
        out->marks = nullptr;
      }
      it->at += bytes;
      return Next::kItem;
    }
    case Kind::kList:
    case Kind::kTuple:
      if (it->at == of.n) return Next::kEnd;
      *out = of.items[it->at++];
      return Next::kItem;
    case Kind::kDict:
      if (it->at == of.n) return Next::kEnd;
      *out = of.dict->entries[2 * it->at++];
      return Next::kItem;
    case Kind::kView: {
      if (it->at == of.dict->n) return Next::kEnd;
      const Value* const entry = of.dict->entries + 2 * it->at++;
      if (of.depth == kKeys) *out = entry[0];
      if (of.depth == kValues) *out = entry[1];
      if (of.depth == kItems && !make_pair(m, entry[0], entry[1], out)) return Next::kFailed;
      return Next::kItem;
    }
    case Kind::kRange:
      if (it->at == of.range->n) return Next::kEnd;
      *out = integer(of.range->start + of.range->step * int64_t{it->at++}, of.from());
      return Next::kItem;
    case Kind::kIterator:
      if (it->at == kMaxNesting) return m.fail("iterators nest deeper than ", uint32_t{kMaxNesting}), Next::kFailed;
      return next(m, of.iterator, out);
    case Kind::kLoop:
      return loop_next(m, of.loop, out);
    default:
      return Next::kEnd;
  }
}

bool to_list(Machine& m, const Value& v, Value* out) {
  if (v.is_list()) {
    *out = v;
    out->kind = Kind::kList;
    out->flags = v.from();
    return true;
  }
  Iterator it;
  if (!begin(m, v, &it)) return false;
  uint32_t room = v.is(Kind::kText) ? v.n : v.is(Kind::kDict) ? v.n : v.is(Kind::kView) ? v.dict->n : v.is(Kind::kRange) ? v.range->n : 8;
  Value* items = m.take_values(room ? room : 1);
  if (!items) return false;
  size_t n = 0;
  Value item;
  for (;;) {
    const Next got = next(m, &it, &item);
    if (got == Next::kFailed) return false;
    if (got == Next::kEnd) break;
    if (n == room) {
      Value* const more = m.take_values(size_t{room} * 2);
      if (!more) return false;
      std::memcpy(more, items, n * sizeof *items);
      items = more;
      room *= 2;
    }
    items[n++] = item;
  }
  return make_list(m, Kind::kList, items, n, out);
}

}  // namespace linnet::chat
