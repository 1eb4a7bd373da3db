// Filters that run through a value. Those that Jinja2 makes generators of give what is run through once, of a list that is there already.
#include "../../platform/utf8.h"
#include "filters.h"

namespace linnet::chat {

// ---- paths

bool make_path(Machine& m, const Value& attribute, Path* out) {
  if (absent(attribute)) return true;
  if (!attribute.is_text()) {
    Value* const one = m.take_values(1);
    if (!one) return false;
    *one = attribute;
    out->parts = one, out->n = 1;
    return true;
  }
  uint32_t n = 1;
  for (const char c : attribute.view()) n += c == '.';
  Value* const parts = m.take_values(n);
  if (!parts || !m.spend(attribute.n)) return false;
  out->parts = parts, out->n = n;
  size_t at = 0;
  for (uint32_t i = 0; i < n; ++i) {
    size_t end = find_in(attribute.view(), '.', at);
    if (end > attribute.n) end = attribute.n;
    parts[i] = part(attribute, at, end - at);
    // Digits alone are an index.
    int64_t index = 0;
    bool digits = end > at, decimal = true;
    for (size_t k = at; k < end && digits;) {
      const Char c = next_char(attribute.text + k, end - k);
      digits = is_digit(c.code);
      const int value = decimal_value(c.code);
      decimal &= value >= 0 && !__builtin_mul_overflow(index, 10, &index) && !__builtin_add_overflow(index, value, &index);
      k += c.bytes;
    }
    if (digits && !decimal) return m.fail("'", parts[i].view(), "' is no index that linnet knows");
    if (digits) parts[i] = integer(index);
    at = end + 1;
  }
  return true;
}

bool follow(Machine& m, const Path& path, const Value& v, Value* out) {
  Value item = v;
  for (uint32_t i = 0; i < path.n; ++i) {
    Value next;
    if (!get_item(m, item, path.parts[i], &next)) return false;
    item = next.is(Kind::kUndefined) && !absent(path.instead) ? path.instead : next;
  }
  if (path.fold && item.is_text() && !change_case(m, item, Case::kLower, &item)) return false;
  *out = item;
  return true;
}

namespace {

// ---- order

// n items by per_item keys each. Python compares the keys of sort as lists, where what is equal needs no order.
struct Keys {
  const Value* keys;
  uint32_t per_item;
  bool as_list;
};

bool less(Machine& m, const Keys& k, uint32_t a, uint32_t b, bool* out) {
  int o = 0;
  for (uint32_t i = 0; i < k.per_item; ++i) {
    const Value& x = k.keys[size_t{a} * k.per_item + i];
    const Value& y = k.keys[size_t{b} * k.per_item + i];
    if (k.as_list && equal(m, x, y)) continue;
    if (m.status != LINNET_OK || !order(m, x, y, &o)) return false;
    break;
  }
  *out = o == -1;
  return m.status == LINNET_OK;
}

// Which item comes at each place: merges runs of 1, 2, 4, ... of them, so that equal ones stay as they were, in both directions.
bool sort_by(Machine& m, const Keys& keys, uint32_t n, bool reverse, const uint32_t** out) {
  uint32_t* from = static_cast<uint32_t*>(m.take(size_t{n} * 2 * sizeof(uint32_t)));
  if (!from || !m.spend(n)) return false;
  uint32_t* to = from + n;
  for (uint32_t i = 0; i < n; ++i) from[i] = i;
  for (uint64_t run = 1; run < n; run *= 2) {
    for (uint64_t begin = 0; begin < n; begin += 2 * run) {
      const uint64_t middle = begin + run < n ? begin + run : n, end = begin + 2 * run < n ? begin + 2 * run : n;
      uint64_t a = begin, b = middle;
      for (uint64_t i = begin; i < end; ++i) {
        bool second = b < end;
        if (a < middle && second && !(reverse ? less(m, keys, from[a], from[b], &second) : less(m, keys, from[b], from[a], &second)))
          return false;
        to[i] = second ? from[b++] : from[a++];
      }
    }
    uint32_t* const done = to;
    to = from, from = done;
  }
  *out = from;
  return true;
}

// What sorted() takes as `reverse`.
bool take_reverse(Machine& m, FilterId id, const Value& v, bool* out) {
  int64_t i = 0;
  if (!take_integer(m, id, v, 0, &i)) return false;
  *out = i != 0;
  return (i >= INT32_MIN && i <= INT32_MAX) || m.fail("reverse=", i, " is too large");
}

// The items of a value, and the key of each.
bool keyed(Machine& m, const Value& v, const Path* paths, uint32_t n_paths, Value* list, Value** keys) {
  if (!to_list(m, v, list)) return false;
  if (uint64_t{list->n} * n_paths > m.memory_bytes / sizeof(Value)) return m.full("bytes of values", m.memory_bytes);
  *keys = m.take_values(size_t{list->n} * n_paths);
  if (!*keys || !m.spend(uint64_t{list->n} * n_paths)) return false;
  for (uint32_t i = 0; i < list->n; ++i)
    for (uint32_t k = 0; k < n_paths; ++k)
      if (!follow(m, paths[k], list->items[i], &(*keys)[size_t{i} * n_paths + k])) return false;
  return true;
}

bool sort(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[3];
  if (!take_args(m, "sort", args, {"reverse", "case_sensitive", "attribute"}, 0, a)) return false;
  const Value& attribute = a[2];
  uint32_t n_paths = 1;
  if (attribute.is_text())
    for (const char c : attribute.view()) n_paths += c == ',';
  Path* const paths = static_cast<Path*>(m.take(n_paths * sizeof(Path)));
  if (!paths) return false;
  size_t at = 0;
  for (uint32_t i = 0; i < n_paths; ++i) {
    Value one = attribute;
    if (attribute.is_text()) {
      size_t end = find_in(attribute.view(), ',', at);
      if (end > attribute.n) end = attribute.n;
      one = part(attribute, at, end - at);
      at = end + 1;
    }
    paths[i] = {};
    paths[i].fold = !truth(a[1]);
    if (!make_path(m, one, &paths[i])) return false;
  }
  Value list, *keys = nullptr;
  const uint32_t* places = nullptr;
  bool backwards = false;
  if (!take_reverse(m, FilterId::kSort, a[0], &backwards) || !keyed(m, v, paths, n_paths, &list, &keys) ||
      !sort_by(m, {keys, n_paths, true}, list.n, backwards, &places))
    return false;
  Value* const items = m.take_values(list.n);
  if (!items) return false;
  for (uint32_t i = 0; i < list.n; ++i) items[i] = list.items[places[i]];
  return make_list(m, Kind::kList, items, list.n, out);
}

bool dict_sort(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[3];
  if (!take_args(m, "dictsort", args, {"case_sensitive", "by", "reverse"}, 0, a)) return false;
  const bool by_value = a[1].is_text() && a[1].view() == "value";
  if (!by_value && !a[1].is(Kind::kMissing) && !(a[1].is_text() && a[1].view() == "key"))
    return m.fail("dictsort sorts by \"key\" or \"value\" alone");
  if (v.is(Kind::kUndefined)) return undefined_error(m, v);
  if (!v.is(Kind::kDict)) return m.fail("dictsort of a ", type_name(v));
  Value* const keys = m.take_values(v.n);
  Value* const items = m.take_values(v.n);
  const uint32_t* places = nullptr;
  if (!keys || !items) return false;
  const Path fold = {nullptr, 0, {}, !truth(a[0])};
  for (uint32_t i = 0; i < v.n; ++i)
    if (!follow(m, fold, v.dict->entries[2 * i + by_value], &keys[i])) return false;
  bool backwards = false;
  if (!take_reverse(m, FilterId::kDictSort, a[2], &backwards) || !sort_by(m, {keys, 1, false}, v.n, backwards, &places)) return false;
  for (uint32_t i = 0; i < v.n; ++i) {
    const Value* const entry = v.dict->entries + 2 * size_t{places[i]};
    if (!make_pair(m, entry[0], entry[1], &items[i])) return false;
  }
  return make_list(m, Kind::kList, items, v.n, out);
}

bool unique(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2], list, *keys = nullptr, dict;
  if (!take_args(m, "unique", args, {"case_sensitive", "attribute"}, 0, a)) return false;
  Path path;
  path.fold = !truth(a[0]);
  if (!make_path(m, a[1], &path) || !keyed(m, v, &path, 1, &list, &keys)) return false;
  // A dict keeps its keys in the order in which they came first: an item stays if its key is the next of them.
  Value* const entries = m.take_values(2 * size_t{list.n});
  if (!entries) return false;
  for (uint32_t i = 0; i < list.n; ++i) entries[2 * i] = keys[i], entries[2 * i + 1] = integer(i);
  if (!make_dict(m, entries, list.n, &dict)) return false;
  Value* const items = m.take_values(dict.n);
  if (!items) return false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list.n && n < dict.n; ++i)
    if (entries[2 * n + 1].integer == i || equal(m, keys[i], entries[2 * n])) items[n++] = list.items[i];
  Value kept;
  return m.status == LINNET_OK && make_list(m, Kind::kList, items, n, &kept) && make_iterator(m, kept, out);
}

bool extreme(Machine& m, FilterId id, const Value& v, const Args& args, Value* out) {
  Value a[2], list, *keys = nullptr;
  if (!take_args(m, id == FilterId::kMin ? "min" : "max", args, {"case_sensitive", "attribute"}, 0, a)) return false;
  Path path;
  path.fold = !truth(a[0]);
  if (!to_list(m, v, &list)) return false;
  if (!list.n) {
    *out = undefined("No aggregated item, sequence was empty.", true);
    return true;
  }
  if (!make_path(m, a[1], &path) || !keyed(m, list, &path, 1, &list, &keys)) return false;
  uint32_t best = 0;
  for (uint32_t i = 1; i < list.n; ++i) {
    int o = 0;
    if (!order(m, keys[i], keys[best], &o)) return false;
    if (o == (id == FilterId::kMin ? -1 : 1)) best = i;
  }
  *out = list.items[best];
  return true;
}

bool group_by(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[3], list, *keys = nullptr;
  if (!take_args(m, "groupby", args, {"attribute", "default", "case_sensitive"}, 1, a)) return false;
  Path path;
  path.instead = a[1];
  path.fold = !truth(a[2]);
  const uint32_t* places = nullptr;
  if (!make_path(m, a[0], &path) || !keyed(m, v, &path, 1, &list, &keys) || !sort_by(m, {keys, 1, false}, list.n, false, &places))
    return false;
  path.fold = false;
  Value* const items = m.take_values(list.n);
  Value* const groups = m.take_values(list.n);
  if (!items || !groups) return false;
  for (uint32_t i = 0; i < list.n; ++i) items[i] = list.items[places[i]];
  uint32_t n = 0;
  for (uint32_t i = 0, end = 0; i < list.n; i = end) {
    for (end = i + 1; end < list.n && equal(m, keys[places[i]], keys[places[end]]); ++end) {
    }
    Value name, group;
    if (m.status != LINNET_OK || !follow(m, path, items[i], &name) || !make_list(m, Kind::kList, items + i, end - i, &group) ||
        !make_pair(m, name, group, &groups[n]))
      return false;
    groups[n].flags = kWhole | kNoKey;  // its second item is a list
    ++n;
  }
  return make_list(m, Kind::kList, groups, n, out);
}

// ---- map, select, reject

constexpr uint32_t kMaxMapArguments = 16;

bool map(Machine& m, const Value& v, const Args& args, Value* out) {
  Value list;
  if (!truth(v)) return make_list(m, Kind::kList, nullptr, 0, &list) && make_iterator(m, list, out);
  Path path;
  FilterId filter = FilterId::kEnd;
  const Value* attribute = nullptr;
  for (uint32_t i = 0; i < args.n_named && !args.n; ++i)
    if (args.named[2 * i].view() == "attribute") attribute = &args.named[2 * i + 1];
  if (attribute) {
    for (uint32_t i = 0; i < args.n_named; ++i) {
      const std::string_view name = args.named[2 * i].view();
      if (name == "default") {
        path.instead = args.named[2 * i + 1];
      } else if (name != "attribute") {
        return m.fail("map got an unexpected keyword argument '", name, "'");
      }
    }
    if (!make_path(m, *attribute, &path)) return false;
  } else if (!args.n) {
    return m.fail("map requires a filter argument");
  }
  if (!to_list(m, v, &list)) return false;
  if (!attribute && list.n) {
    const Value& name = args.values[0];
    if (!name.is_text()) return m.fail("a ", type_name(name), " is no name of a filter");
    if (!find_filter(name.view(), &filter)) return m.fail("No filter named '", name.view(), "'.");
    // Each of its arguments may be one more map, in this one.
    if (filter == FilterId::kMap && args.n > kMaxMapArguments)
      return m.fail("a map of maps with more than ", kMaxMapArguments, " arguments");
  }
  const Args rest = {args.values + 1, args.n - 1, args.named, args.n_named};
  Value* const items = m.take_values(list.n);
  if (!items || !m.spend(list.n)) return false;
  for (uint32_t i = 0; i < list.n; ++i)
    if (!(attribute ? follow(m, path, list.items[i], &items[i]) : apply_filter(m, filter, list.items[i], rest, &items[i]))) return false;
  return make_list(m, Kind::kList, items, list.n, &list) && make_iterator(m, list, out);
}

bool select(Machine& m, const Value& v, const Args& args, bool of_attribute, bool wanted, Value* out) {
  Value list;
  if (!truth(v)) return make_list(m, Kind::kList, nullptr, 0, &list) && make_iterator(m, list, out);
  Path path;
  const uint32_t off = of_attribute ? 1 : 0;
  if (args.n < off) return m.fail("Missing parameter for attribute name");
  if (of_attribute && !make_path(m, args.values[0], &path)) return false;
  if (!to_list(m, v, &list)) return false;
  const bool by_test = args.n > off;
  TestId test = TestId::kEnd;
  Args rest = {};
  if (by_test && list.n) {
    const Value& name = args.values[off];
    if (!name.is_text()) return m.fail("a ", type_name(name), " is no name of a test");
    if (!find_test(name.view(), &test)) return m.fail("No test named '", name.view(), "'.");
    rest = {args.values + off + 1, args.n - off - 1, args.named, args.n_named};
  }
  Value* const items = m.take_values(list.n);
  if (!items || !m.spend(list.n)) return false;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list.n; ++i) {
    Value asked;
    if (!follow(m, path, list.items[i], &asked)) return false;
    bool yes = false;
    if (by_test) {
      if (!apply_test(m, test, asked, rest, &yes)) return false;
    } else {
      yes = truth(asked);
    }
    if (yes == wanted) items[n++] = list.items[i];
  }
  return make_list(m, Kind::kList, items, n, &list) && make_iterator(m, list, out);
}

// ---- parts

bool batch(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2], list;
  if (!take_args(m, "batch", args, {"linecount", "fill_with"}, 1, a) || !to_list(m, v, &list)) return false;
  // A batch of less than one item gets all of them; of 0 an empty one comes first.
  const bool counts = a[0].is_integer();
  if (a[0].is(Kind::kFloat)) return m.fail("batch takes an integer, not a float");
  if (!counts && !absent(a[1]) && list.n) return m.fail("batch takes an integer, not a ", type_name(a[0]));
  const bool begins_empty = counts && a[0].integer == 0 && list.n;
  const uint64_t size = counts && a[0].integer > 0 ? static_cast<uint64_t>(a[0].integer) : UINT64_MAX;
  Value* const rows = m.take_values(size_t{list.n} + 1);
  if (!rows) return false;
  uint32_t n = 0;
  if (begins_empty && !make_list(m, Kind::kList, nullptr, 0, &rows[n++])) return false;
  for (uint64_t at = 0; at < list.n; at += size) {
    const uint64_t left = list.n - at;
    if (left >= size || size == UINT64_MAX || absent(a[1])) {
      if (!make_list(m, Kind::kList, list.items + at, static_cast<size_t>(left < size ? left : size), &rows[n++])) return false;
      if (left <= size) break;
      continue;
    }
    if (size > m.memory_bytes / sizeof(Value)) return m.full("bytes of values", m.memory_bytes);
    Value* const row = m.take_values(static_cast<size_t>(size));
    if (!row || !m.spend(size)) return false;
    for (uint64_t i = 0; i < size; ++i) row[i] = i < left ? list.items[at + i] : a[1];
    if (!make_list(m, Kind::kList, row, static_cast<size_t>(size), &rows[n++])) return false;
    break;
  }
  return make_list(m, Kind::kList, rows, n, &list) && make_iterator(m, list, out);
}

bool slices(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2], list;
  int64_t count = 0;
  if (!take_args(m, "slice", args, {"slices", "fill_with"}, 1, a) || !to_list(m, v, &list) ||
      !take_integer(m, FilterId::kSlice, a[0], 0, &count))
    return false;
  if (count == 0) return m.fail("slice into 0 parts");
  const uint64_t n = count > 0 ? static_cast<uint64_t>(count) : 0;
  if (n > m.memory_bytes / sizeof(Value)) return m.full("bytes of values", m.memory_bytes);
  Value* const rows = m.take_values(static_cast<size_t>(n));
  if (!rows || !m.spend(n)) return false;
  const uint64_t each = n ? list.n / n : 0, longer = n ? list.n % n : 0;
  uint64_t at = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const size_t items = static_cast<size_t>(each + (i < longer));
    const Value* row = list.items + at;
    const bool filled = i >= longer && !absent(a[1]);
    if (filled) {
      Value* const more = m.take_values(items + 1);
      if (!more || !m.spend(items)) return false;
      for (size_t k = 0; k < items; ++k) more[k] = row[k];
      more[items] = a[1];
      row = more;
    }
    if (!make_list(m, Kind::kList, row, items + filled, &rows[i])) return false;
    at += items;
  }
  return make_list(m, Kind::kList, rows, static_cast<size_t>(n), &list) && make_iterator(m, list, out);
}

bool reverse(Machine& m, const Value& v, Value* out) {
  if (v.is_text()) return slice(m, v, none(), none(), integer(-1), out);
  Value list;
  if (!to_list(m, v, &list)) return false;
  Value* const items = m.take_values(list.n);
  if (!items || !m.spend(list.n)) return false;
  for (uint32_t i = 0; i < list.n; ++i) items[i] = list.items[list.n - 1 - i];
  if (!make_list(m, Kind::kList, items, list.n, &list)) return false;
  // What can be run through once has no other end: Jinja2 makes a list of it.
  if (!v.is(Kind::kIterator) && !v.is(Kind::kLoop)) return make_iterator(m, list, out);
  *out = list;
  return true;
}

bool last(Machine& m, const Value& v, Value* out) {
  if (v.is(Kind::kIterator) || v.is(Kind::kLoop)) return m.fail("a ", type_name(v), " has no last item before it is a list");
  if (v.is_text() && v.n) return get_item(m, v, integer(-1), out);
  Value list;
  if (!to_list(m, v, &list)) return false;
  *out = list.n ? list.items[list.n - 1] : undefined("No last item, sequence was empty.", true);
  return true;
}

bool sum(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2], list, *terms = nullptr;
  Path path;
  if (!take_args(m, "sum", args, {"attribute", "start"}, 0, a) || !make_path(m, a[0], &path) || !keyed(m, v, &path, 1, &list, &terms))
    return false;
  if (a[1].is_text()) return m.fail("sum() can't sum strings");
  Value total = a[1].is(Kind::kMissing) ? integer(0) : a[1];
  for (uint32_t i = 0; i < list.n; ++i) {
    Value more;
    if (!binary(m, Op::kAdd, total, terms[i], &more)) return false;
    total = more;
  }
  *out = total;
  return true;
}

bool join(Machine& m, const Value& v, const Args& args, Value* out) {
  Value a[2], list, *items = nullptr;
  Path path;
  if (!take_args(m, "join", args, {"d", "attribute"}, 0, a) || !make_path(m, a[1], &path) || !keyed(m, v, &path, 1, &list, &items))
    return false;
  Value between = a[0].is(Kind::kMissing) ? text({}) : a[0];
  const auto is_markup = [](const Value& t) { return t.is_text() && (t.flags & kMarkup) != 0; };
  // With autoescape on, one markup among the items or between them makes one of all.
  bool escapes = m.autoescape && is_markup(between);
  for (uint32_t i = 0; i < list.n && m.autoescape; ++i) escapes |= is_markup(items[i]);
  if (!(escapes ? escape(m, between, &between) : plain_text(m, between, &between))) return false;
  const size_t mark = m.mark();
  for (uint32_t i = 0; i < list.n; ++i) {
    if (i && !m.put(between)) return false;
    if (escapes) {
      Value item;
      if (!escape(m, items[i], &item) || !m.put(item)) return false;
    } else if (!put_str(m, items[i])) {
      return false;
    }
  }
  return finish_as(m, mark, escapes ? kMarkup : 0, out);
}

}  // namespace

bool filter_list(Machine& m, FilterId id, const Value& v, const Args& args, Value* out) {
  switch (id) {
    case FilterId::kBatch:
      return batch(m, v, args, out);
    case FilterId::kDictSort:
      return dict_sort(m, v, args, out);
    case FilterId::kGroupBy:
      return group_by(m, v, args, out);
    case FilterId::kJoin:
      return join(m, v, args, out);
    case FilterId::kMap:
      return map(m, v, args, out);
    case FilterId::kMax:
    case FilterId::kMin:
      return extreme(m, id, v, args, out);
    case FilterId::kReject:
    case FilterId::kSelect:
      return select(m, v, args, false, id == FilterId::kSelect, out);
    case FilterId::kRejectAttr:
    case FilterId::kSelectAttr:
      return select(m, v, args, true, id == FilterId::kSelectAttr, out);
    case FilterId::kSlice:
      return slices(m, v, args, out);
    case FilterId::kSort:
      return sort(m, v, args, out);
    case FilterId::kSum:
      return sum(m, v, args, out);
    case FilterId::kUnique:
      return unique(m, v, args, out);
    default:
      break;
  }
  if (!take_args(m, filter_name(id).data(), args, {}, 0, nullptr)) return false;  // the names end with a NUL
  switch (id) {
    case FilterId::kFirst: {
      Iterator it;
      if (!begin(m, v, &it)) return false;
      const Next got = next(m, &it, out);
      if (got == Next::kEnd) *out = undefined("No first item, sequence was empty.", true);
      return got != Next::kFailed;
    }
    case FilterId::kItems: {
      if (v.is(Kind::kUndefined)) {
        Value list;
        return make_list(m, Kind::kList, nullptr, 0, &list) && make_iterator(m, list, out);
      }
      if (!v.is(Kind::kDict)) return m.fail("Can only get item pairs from a mapping.");
      Value view = v;
      view.kind = Kind::kView, view.depth = kItems;
      return make_iterator(m, view, out);
    }
    case FilterId::kLast:
      return last(m, v, out);
    case FilterId::kList:
      return to_list(m, v, out);
    case FilterId::kReverse:
      return reverse(m, v, out);
    default:
      return m.fail("a filter that is not known");
  }
}

}  // namespace linnet::chat
