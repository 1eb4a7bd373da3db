#include "prefix.h"

#include <cstring>
#include <new>

#include "../../platform/crc32c.h"
#include "../backend.h"
#include "../state.h"
#include "page_policy.h"

namespace linnet {
namespace {

constexpr uint32_t kNone = linnet_prefix::kNone, kRoot = linnet_prefix::kRoot;
constexpr size_t kLeastUnit = 1024, kMostUnit = size_t{1} << 20;
enum List : uint32_t { kNodes = 0, kWithStates = 1 };

// ---- what a session has

PrefixPart part_of(const KvCache& kv, uint32_t layer) { return kv.classes[kv.class_of[layer]].policy->queue ? kWindowPages : kWholePages; }

template <class Fn>
void each_layer(const KvCache& kv, PrefixPart part, Fn fn) {
  for (uint32_t i = 0; i < kv.n_layers; ++i)
    if (kv.owns(i) && part_of(kv, i) == part) fn(i);
}

void count_parts(const Cache& cache, size_t* bytes) {
  for (const PrefixPart part : {kWholePages, kWindowPages}) {
    bytes[part] = 0;
    each_layer(cache.kv, part, [&](uint32_t i) { bytes[part] += cache.kv.classes[cache.kv.class_of[i]].layout.page_bytes; });
  }
  bytes[kStates] = 0;
  for (uint32_t i = 0; i < cache.slots.n_states; ++i)
    bytes[kStates] += cache.slots.layers[cache.slots.layer_of(i)].plan.state_floats * sizeof(float);
}

// Of all that decides what is in a page and a state, and in which order they lie.
uint64_t signature_of(const linnet_session& s) {
  uint64_t hash = state_hash(s);
  const auto add = [&](uint64_t v) { hash = (hash ^ v) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29; };
  const KvCache& kv = s.cache.kv;
  for (uint32_t i = 0; i < kv.n_layers; ++i) {
    if (!kv.owns(i)) continue;
    const KvClass& c = kv.classes[kv.class_of[i]];
    for (const uint64_t v : {uint64_t{i}, uint64_t{c.layout.k}, uint64_t{c.layout.v}, uint64_t{c.layout.page_bytes}, uint64_t{c.window}})
      add(v);
  }
  return hash;
}

Status check_like(const linnet_prefix& c, const linnet_session& s, Error* err) {
  return c.signature == signature_of(s)
             ? LINNET_OK
             : fail(err, LINNET_BAD_ARG, "prefix: the session has another model, other KV formats or windows than the cache was made for");
}

// ---- lists and units

void unlink(linnet_prefix& c, uint32_t i, List list) {
  const PrefixUse& u = c.nodes[i].use[list];
  (u.newer == kNone ? c.newest[list] : c.nodes[u.newer].use[list].older) = u.older;
  (u.older == kNone ? c.oldest[list] : c.nodes[u.older].use[list].newer) = u.newer;
}

void link(linnet_prefix& c, uint32_t i, List list) {
  c.nodes[i].use[list] = {kNone, c.newest[list], c.now};
  (c.newest[list] == kNone ? c.oldest[list] : c.nodes[c.newest[list]].use[list].newer) = i;
  c.newest[list] = i;
}

void touch(linnet_prefix& c, uint32_t i, List list) {
  unlink(c, i, list);
  link(c, i, list);
}

// A node and what it stands behind.
void touch_path(linnet_prefix& c, uint32_t i) {
  for (; i != kRoot; i = c.nodes[i].parent) touch(c, i, kNodes);
}

uint32_t units_of(const linnet_prefix& c, size_t bytes) { return static_cast<uint32_t>(div_up(bytes, c.unit_bytes)); }

void free_part(linnet_prefix& c, uint32_t i, PrefixPart part) {
  uint32_t& first = c.nodes[i].units[part];
  if (first == kNone) return;
  if (part == kStates) unlink(c, i, kWithStates), --c.n_states;
  uint32_t last = first;
  for (++c.n_free_units; c.unit_next[last] != kNone; ++c.n_free_units) last = c.unit_next[last];
  c.unit_next[last] = c.free_unit;
  c.free_unit = first;
  first = kNone;
}

void free_node(linnet_prefix& c, uint32_t i) {
  PrefixNode& node = c.nodes[i];
  for (const PrefixPart part : {kWholePages, kWindowPages, kStates}) free_part(c, i, part);
  unlink(c, i, kNodes);
  uint32_t* at = &c.nodes[node.parent].child;
  while (*at != i) at = &c.nodes[*at].next;
  *at = node.next;
  node.next = c.free_node;
  c.free_node = i;
  ++c.n_free_nodes;
}

// Gives up what was used least recently, but nothing of the running call.
bool make_room(linnet_prefix& c, bool of_nodes) {
  const uint32_t node = c.oldest[kNodes], state = c.oldest[kWithStates];
  if (node == kNone) return false;
  const uint64_t node_when = c.nodes[node].use[kNodes].when;
  if (const uint64_t when = state == kNone ? c.now : c.nodes[state].use[kWithStates].when; !of_nodes && when < c.now && when < node_when) {
    free_part(c, state, kStates);
  } else {
    if (node_when == c.now) return false;
    free_node(c, node);
  }
  ++c.n_dropped;
  return true;
}

uint32_t new_node(linnet_prefix& c, uint32_t parent, uint64_t adapters, const int32_t* tokens, uint32_t n) {
  while (c.n_free_nodes == 0)
    if (!make_room(c, true)) return kNone;
  const uint32_t i = c.free_node;
  PrefixNode& node = c.nodes[i];
  c.free_node = node.next;
  --c.n_free_nodes;
  node = {};
  node.parent = parent;
  node.child = kNone;
  node.next = c.nodes[parent].child;
  node.n_tokens = n;
  node.adapters = adapters;
  for (uint32_t& first : node.units) first = kNone;
  std::memcpy(node.tokens, tokens, n * sizeof *tokens);
  c.nodes[parent].child = i;
  link(c, i, kNodes);
  return i;
}

// Bytes go through a chain piece by piece.
struct Chain {
  const linnet_prefix& c;
  uint32_t unit;
  size_t at = 0;
  template <class Fn>
  void run(size_t bytes, Fn fn) {  // fn(place in the chain, bytes)
    while (bytes) {
      if (at == c.unit_bytes) unit = c.unit_next[unit], at = 0;
      const size_t n = bytes < c.unit_bytes - at ? bytes : c.unit_bytes - at;
      fn(c.units + unit * c.unit_bytes + at, n);
      at += n;
      bytes -= n;
    }
  }
};

struct ToChain : SavedTo {
  Chain chain;
  ToChain(const linnet_prefix& c, uint32_t unit)
      : SavedTo{[](SavedTo& to, const void* data, size_t bytes) {
          const uint8_t* from = static_cast<const uint8_t*>(data);
          static_cast<ToChain&>(to).chain.run(bytes, [&](uint8_t* place, size_t n) {
            std::memcpy(place, from, n);
            from += n;
          });
        }},
        chain{c, unit} {}
};

// In one piece, until the next call.
const uint8_t* from_chain(Chain& chain, size_t bytes) {
  uint8_t* to = chain.c.piece;
  chain.run(bytes, [&](const uint8_t* place, size_t n) {
    std::memcpy(to, place, n);
    to += n;
  });
  return chain.c.piece;
}

bool add_part(linnet_prefix& c, uint32_t i, PrefixPart part) {
  const uint32_t n = units_of(c, c.part_bytes[part]);
  while (c.n_free_units < n)
    if (!make_room(c, false)) return false;
  const uint32_t first = c.free_unit;
  uint32_t last = first;
  for (uint32_t k = 1; k < n; ++k) last = c.unit_next[last];
  c.free_unit = c.unit_next[last];
  c.unit_next[last] = kNone;
  c.n_free_units -= n;
  c.nodes[i].units[part] = first;
  if (part == kStates) link(c, i, kWithStates), ++c.n_states;
  return true;
}

// ---- the tree

uint32_t common(const PrefixNode& node, const int32_t* tokens, size_t n) {
  const size_t most = n < node.n_tokens ? n : node.n_tokens;
  uint32_t i = 0;
  while (i < most && node.tokens[i] == tokens[i]) ++i;
  return i;
}

// Whether the session has the pages of layers with a window.
bool in_window(const KvCache& kv, uint32_t seq, uint32_t page) {
  for (uint32_t i = 0; i < kv.n_classes; ++i)
    if (kv.classes[i].policy->queue && page < kv.table(seq, i).first) return false;
  return true;
}

// The node for tokens[0, n) behind `parent`: one that has these, or begins with them where that loses nothing; else one that begins like
// them and becomes theirs, where that loses nothing; else a new one. What would be lost is a place to go on from: a state is one of its
// node's end alone, and pages of layers with a window are not always there. kNone: no room.
uint32_t node_for(linnet_prefix& c, uint32_t parent, uint64_t adapters, const int32_t* tokens, uint32_t n, bool windows) {
  uint32_t shorter = kNone;
  for (uint32_t i = c.nodes[parent].child; i != kNone; i = c.nodes[i].next) {
    const PrefixNode& node = c.nodes[i];
    if (node.adapters != adapters) continue;
    const uint32_t same = common(node, tokens, n);
    const bool has_windows = node.units[kWindowPages] != kNone;
    if (same == n && (node.n_tokens == n || (c.part_bytes[kStates] == 0 && (has_windows || !windows)))) {
      touch(c, i, kNodes);
      return i;
    }
    if (same == node.n_tokens && node.units[kStates] == kNone && (windows || !has_windows)) shorter = i;
  }
  if (shorter == kNone) return new_node(c, parent, adapters, tokens, n);
  PrefixNode& node = c.nodes[shorter];
  for (const PrefixPart part : {kWholePages, kWindowPages}) free_part(c, shorter, part);
  node.n_tokens = n;
  std::memcpy(node.tokens, tokens, n * sizeof *tokens);
  touch(c, shorter, kNodes);
  return shorter;
}

// The first page of layers with a window that a sequence of `length` tokens cannot be without.
uint32_t first_needed(const KvCache& kv, uint32_t length) {
  uint32_t first = pages_of(length);
  for (uint32_t i = 0; i < kv.n_classes; ++i)
    if (const KvClass& c = kv.classes[i]; c.policy->queue)
      if (const uint32_t seen = c.policy->first_seen(c, length); seen < first) first = seen;
  return first;
}

struct Match {
  uint32_t length, node;
  uint32_t n_windows;  // pages at its end whose window part is there
};

Match find(const linnet_prefix& c, const KvCache& kv, uint64_t adapters, const int32_t* tokens, size_t n) {
  Match best = {0, kRoot, 0};
  uint32_t parent = kRoot, at = 0, run = 0;
  while (parent != kNone) {
    uint32_t down = kNone, down_run = 0;
    for (uint32_t i = c.nodes[parent].child; i != kNone; i = c.nodes[i].next) {
      const PrefixNode& node = c.nodes[i];
      const uint32_t same = common(node, tokens + at, n - at), length = at + same;
      if (same == 0 || node.adapters != adapters) continue;
      const uint32_t here = node.units[kWindowPages] == kNone ? 0 : run + 1;
      const bool state = c.part_bytes[kStates] == 0 || (same == node.n_tokens && node.units[kStates] != kNone);
      const bool windows = c.part_bytes[kWindowPages] == 0 || pages_of(length) - first_needed(kv, length) <= here;
      if (state && windows && length > best.length) best = {length, i, here};
      if (same == kPagePositions) down = i, down_run = here;
    }
    parent = down;
    run = down_run;
    at += kPagePositions;
  }
  return best;
}

void save_parts(linnet_prefix& c, const linnet_session& s, uint32_t seq, uint32_t i, PrefixPart part, uint32_t page) {
  ToChain to(c, c.nodes[i].units[part]);
  if (part == kStates) {
    for (uint32_t k = 0; k < s.cache.slots.n_states; ++k) s.cache.slots.save_state(seq, s.cache.slots.layer_of(k), to);
    return;
  }
  each_layer(s.cache.kv, part, [&](uint32_t layer) { s.cache.kv.save_page(seq, layer, page, to); });
}

void load_pages(linnet_prefix& c, linnet_session& s, uint32_t seq, uint32_t i, PrefixPart part, uint32_t page) {
  Chain chain{c, c.nodes[i].units[part]};
  KvCache& kv = s.cache.kv;
  each_layer(kv, part, [&](uint32_t layer) {
    const uint8_t* const from = from_chain(chain, kv.classes[kv.class_of[layer]].layout.page_bytes);
    if (page >= kv.table(seq, kv.class_of[layer]).first) kv.load_page(seq, layer, page, from);
  });
}

void load_states(linnet_prefix& c, linnet_session& s, uint32_t seq, uint32_t i) {
  Chain chain{c, c.nodes[i].units[kStates]};
  const Slots& slots = s.cache.slots;
  for (uint32_t k = 0; k < slots.n_states; ++k) {
    const uint32_t layer = slots.layer_of(k);
    const size_t bytes = slots.layers[layer].plan.state_floats * sizeof(float);
    for (size_t at = 0, n; at < bytes; at += n) {
      n = bytes - at < kSlotPiece ? bytes - at : kSlotPiece;
      slots.load_state(seq, layer, at, from_chain(chain, n), n);
    }
  }
}

}  // namespace

Status prefix_check(const linnet_session& s, Error* err) {
  if (s.params.when_full != LINNET_FULL_STOP)
    return fail(err, LINNET_UNSUPPORTED, "prefix: when_full is ", s.params.when_full, ": tokens that are dropped are not kept");
  if (const uint32_t most = s.model->spec.expert_capacity)
    return fail(err, LINNET_UNSUPPORTED, "prefix: not of a model whose experts have a capacity (", most, ")");
  const KvCache& kv = s.cache.kv;
  for (uint32_t i = 0; i < kv.n_classes; ++i)
    if (kv.classes[i].policy != &kKeepAll && kv.classes[i].policy != &kWindow)
      return fail(err, LINNET_UNSUPPORTED, "prefix: not of KV format ", format_name(kv.classes[i].layout.k), " in groups");
  return LINNET_OK;
}

linnet_prefix* prefix_layout(Arena& arena, const linnet_session& s, size_t budget) {
  linnet_prefix c{};
  count_parts(s.cache, c.part_bytes);
  c.signature = signature_of(s);
  size_t& unit = c.unit_bytes;
  for (const size_t bytes : c.part_bytes)
    if (bytes && (unit == 0 || bytes < unit)) unit = bytes;
  unit = static_cast<size_t>(align_up(unit < kLeastUnit ? kLeastUnit : unit > kMostUnit ? kMostUnit : unit, kAlign));
  // A node for each page that there is room for; where pages are no measure, a sixteenth of the memory is for tokens.
  const size_t piece = s.cache.piece_bytes(), fixed = sizeof c + piece + sizeof(PrefixNode);
  if (budget <= fixed) return nullptr;
  const size_t base = c.part_bytes[kWholePages] ? c.part_bytes[kWholePages] : c.part_bytes[kWindowPages];
  const uint64_t rest = budget - fixed, unit_and_link = unit + sizeof(uint32_t);
  uint64_t nodes = base ? rest / (units_of(c, base) * unit_and_link + sizeof(PrefixNode)) : rest / 16 / sizeof(PrefixNode);
  if (nodes > kNone / 2) nodes = kNone / 2;
  c.n_nodes = static_cast<uint32_t>(nodes) + 1;  // and the root
  uint64_t n_units = (rest - nodes * sizeof(PrefixNode)) / unit_and_link;
  if (n_units > kNone / 2) n_units = kNone / 2;
  const auto up = [](uint64_t bytes) { return align_up(bytes, kAlign); };
  const uint64_t beside = up(sizeof c) + up(c.n_nodes * sizeof(PrefixNode)) + up(piece);
  while (n_units && beside + up(n_units * sizeof(uint32_t)) + n_units * unit > budget) --n_units;  // once at most: alignment
  c.n_units = static_cast<uint32_t>(n_units);
  uint64_t least = 0;  // for one node with all of its parts
  for (const size_t bytes : c.part_bytes) least += bytes ? units_of(c, bytes) : 0;
  if (n_units < least || nodes == 0) return nullptr;

  void* const mem = arena.take<linnet_prefix>("prefix cache", 1);
  c.nodes = arena.take<PrefixNode>("prefix cache", c.n_nodes);
  c.unit_next = arena.take<uint32_t>("prefix cache", c.n_units);
  c.units = arena.take<uint8_t>("prefix cache", c.n_units * uint64_t{unit});
  c.piece = arena.take<uint8_t>("prefix cache", piece);
  if (!arena.ok() || arena.counting()) return nullptr;
  linnet_prefix* const out = new (mem) linnet_prefix(c);
  out->nodes[kRoot] = {};
  out->nodes[kRoot].child = kNone;
  out->free_node = out->free_unit = kNone;
  for (uint32_t i = c.n_nodes; i-- > 1;) out->nodes[i].next = out->free_node, out->free_node = i;
  for (uint32_t i = c.n_units; i-- > 0;) out->unit_next[i] = out->free_unit, out->free_unit = i;
  out->n_free_nodes = c.n_nodes - 1;
  out->n_free_units = c.n_units;
  for (const List list : {kNodes, kWithStates}) out->newest[list] = out->oldest[list] = kNone;
  return out;
}

Status prefix_keep(linnet_prefix& c, const linnet_session& s, uint32_t seq, size_t* n_kept, Error* err) {
  LINNET_TRY(check_like(c, s, err));
  const BackendGuard bound(s);
  LINNET_TRY(bound.check(err));
  const Sequence& q = s.seqs[seq];
  const Slots& slots = s.cache.slots;
  ++c.now;
  uint32_t at = 0, last = kRoot;
  while (at < q.length) {
    const uint32_t n = q.length - at < kPagePositions ? q.length - at : kPagePositions, page = at / kPagePositions;
    const bool windows = c.part_bytes[kWindowPages] && in_window(s.cache.kv, seq, page);
    const uint32_t i = node_for(c, last, q.lora_hash, q.history + at, n, windows);
    if (i == kNone) break;
    const auto add = [&](PrefixPart part) {
      if (c.part_bytes[part] == 0 || c.nodes[i].units[part] != kNone || c.nodes[i].n_tokens != n) return true;
      if (!add_part(c, i, part)) return false;
      save_parts(c, s, seq, i, part, page);
      return true;
    };
    if (!add(kWholePages)) {
      free_node(c, i);
      break;
    }
    if (windows) (void)add(kWindowPages);
    if (at + n == q.length && slots.any() && slots.newest(seq) == q.length && add(kStates)) touch(c, i, kWithStates);
    last = i;
    at += n;
  }
  touch_path(c, last);
  *n_kept = at;
  return bound.check(err);
}

Status prefix_match(linnet_prefix& c, linnet_session& s, uint32_t seq, const int32_t* tokens, size_t n, size_t* n_taken, Error* err) {
  LINNET_TRY(check_like(c, s, err));
  Cache& cache = s.cache;
  const Match found = find(c, cache.kv, s.seqs[seq].lora_hash, tokens, n < s.params.n_context ? n : s.params.n_context);
  if (found.length == 0) {
    *n_taken = 0;
    return session_truncate(s, seq, 0, err);
  }
  const uint32_t n_pages = pages_of(found.length);
  CacheBegin begin{};
  for (uint32_t i = 0; i < cache.kv.n_classes; ++i)
    begin.pages[i] = cache.kv.first_kept(i, cache.kv.classes[i].policy->queue ? n_pages - found.n_windows : 0, found.length);
  begin.slots.at[0] = found.length;
  if (!cache.can_restore(seq, found.length, begin))
    return fail(err, LINNET_CONTEXT_FULL, "prefix: the pool of ", s.params.n_pool, " positions for all sequences has no room for ",
                found.length, " tokens");
  const BackendGuard bound(s);
  LINNET_TRY(bound.check(err));
  LINNET_TRY(session_truncate(s, seq, 0, err));
  ++c.now;
  cache.restore(seq, found.length, begin);
  Sequence& q = s.seqs[seq];
  for (uint32_t i = found.node, page = n_pages; page-- > 0; i = c.nodes[i].parent)
    for (const PrefixPart part : {kWholePages, kWindowPages})
      if (c.nodes[i].units[part] != kNone) load_pages(c, s, seq, i, part, page);
  if (cache.slots.any()) {
    load_states(c, s, seq, found.node);
    touch(c, found.node, kWithStates);
    cache.checkpoint(seq);
  }
  std::memcpy(q.history, tokens, found.length * sizeof *tokens);
  q.length = found.length;
  session_grammar(s, seq, q.place.grammar, q.place.start);  // its text begins behind what is there
  touch_path(c, found.node);
  *n_taken = found.length;
  return bound.check(err);
}

void prefix_drop(linnet_prefix& c, const int32_t* tokens, size_t n) {
  // The next one of `from` and its siblings that begins with the tokens from `at` on.
  const auto next = [&](uint32_t from, size_t at) {
    const size_t more = n - at < kPagePositions ? n - at : kPagePositions;
    while (from != kNone && common(c.nodes[from], tokens + at, more) != more) from = c.nodes[from].next;
    return from;
  };
  for (;;) {
    uint32_t top = n ? kNone : kRoot;
    for (uint32_t first = c.nodes[kRoot].child; top == kNone;) {  // sequences with other adapters have their own
      first = next(first, 0);
      if (first == kNone) return;
      top = first;
      for (size_t at = kPagePositions; top != kNone && at < n; at += kPagePositions) top = next(c.nodes[top].child, at);
      first = c.nodes[first].next;
    }
    for (uint32_t i = top, gone = kNone; gone != top;) {  // leaves first
      while (c.nodes[i].child != kNone) i = c.nodes[i].child;
      if (i == kRoot) return;
      gone = i;
      i = c.nodes[i].parent;
      free_node(c, gone);
    }
  }
}

// ---- as bytes: a header, tokens i32 (n_tokens), their CRC-32C with the header's; then pieces: a head, its parts in their order, a CRC-32C

namespace {

constexpr char kMagic[8] = {'L', 'N', 'T', 'P', 'I', 'E', 'C', 'E'};
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version, n_pieces;
  uint64_t bytes, signature;  // bytes: of the whole
  uint32_t first, n_tokens;   // tokens before the first piece, and up to the end of the last
};
struct PieceHead {
  uint32_t n_tokens, parts;  // parts: a bit for each
};
static_assert(sizeof(Header) == 40 && sizeof(PieceHead) == 8);

uint64_t piece_bytes(const linnet_prefix& c, uint32_t parts) {
  uint64_t bytes = sizeof(PieceHead) + sizeof(uint32_t);
  for (const PrefixPart part : {kWholePages, kWindowPages, kStates}) bytes += parts >> part & 1 ? c.part_bytes[part] : 0;
  return bytes;
}

// The next piece of a sequence behind `parent`: the node, how many of its tokens, and which parts it has of these.
struct Piece {
  uint32_t node;
  PieceHead head;
};
Piece next_piece(const linnet_prefix& c, uint32_t parent, const int32_t* tokens, size_t n) {
  Piece best = {kNone, {0, 0}};
  for (uint32_t i = c.nodes[parent].child; i != kNone; i = c.nodes[i].next) {
    const PrefixNode& node = c.nodes[i];
    if (node.adapters) continue;  // no file says of which
    PieceHead head = {common(node, tokens, n), 0};
    for (const PrefixPart part : {kWholePages, kWindowPages, kStates})
      if (node.units[part] != kNone && (part != kStates || head.n_tokens == node.n_tokens)) head.parts |= 1u << part;
    if (head.n_tokens > best.head.n_tokens || (head.n_tokens && head.n_tokens == best.head.n_tokens && head.parts > best.head.parts))
      best = {i, head};
  }
  return best;
}

// What every piece says is right: full but for the last one, with the pages that all have.
bool piece_fits(const linnet_prefix& c, const PieceHead& head, uint32_t n_left) {
  bool right = head.n_tokens == (n_left < kPagePositions ? n_left : kPagePositions) && head.parts < 1u << kPrefixParts;
  for (const PrefixPart part : {kWholePages, kWindowPages, kStates}) right &= c.part_bytes[part] != 0 || (head.parts >> part & 1) == 0;
  return right && (c.part_bytes[kWholePages] == 0 || (head.parts & 1) != 0);
}

uint32_t sum_at(const uint8_t* at) {
  uint32_t sum;
  std::memcpy(&sum, at, sizeof sum);
  return sum;
}

Status check_pieces(const linnet_prefix& c, ByteReader& r, Header* h, Error* err) {
  *h = r.read<Header>();
  if (!r.ok() || std::memcmp(h->magic, kMagic, sizeof kMagic) != 0)
    return fail(err, LINNET_BAD_FILE, "prefix: no exported pieces: they begin with 'LNTPIECE' and a header of ", sizeof *h, " bytes");
  if (h->version != kVersion) return fail(err, LINNET_UNSUPPORTED, "prefix: version ", h->version, ", this linnet reads ", kVersion);
  if (h->signature != c.signature)
    return fail(err, LINNET_UNSUPPORTED, "prefix: exported for another model, other KV formats or windows than this cache is made for");
  if (h->bytes != r.size())
    return fail(err, LINNET_BAD_FILE, "prefix: ", r.size(), " bytes, the header says ", h->bytes, ": cut short or made longer");
  r.skip(uint64_t{h->n_tokens} * sizeof(int32_t));
  const size_t end = r.pos();
  const auto sum = r.read<uint32_t>();
  if (!r.ok() || crc32c(0, r.data(), end) != sum) return fail(err, LINNET_BAD_FILE, "prefix: CRC of the header and tokens is wrong");
  if (h->first % kPagePositions || h->first > h->n_tokens || h->n_pieces != div_up(h->n_tokens - h->first, kPagePositions))
    return fail(err, LINNET_BAD_FILE, "prefix: header: ", h->n_pieces, " pieces from token ", h->first, " to ", h->n_tokens);
  for (uint32_t i = 0, at = h->first; i < h->n_pieces; ++i) {
    const size_t from = r.pos();
    const auto head = r.read<PieceHead>();
    if (r.ok() && !piece_fits(c, head, h->n_tokens - at))
      return fail(err, LINNET_BAD_FILE, "prefix: piece ", i, " of ", head.n_tokens, " tokens with parts ", head.parts);
    r.seek(from);
    r.skip(piece_bytes(c, head.parts));
    if (!r.ok()) return fail(err, LINNET_BAD_FILE, "prefix: ends inside piece ", i);
    if (crc32c(0, r.data() + from, r.pos() - from - sizeof sum) != sum_at(r.data() + r.pos() - sizeof sum))
      return fail(err, LINNET_BAD_FILE, "prefix: CRC of piece ", i, " is wrong: the bytes are damaged");
    at += head.n_tokens;
  }
  return r.left() ? fail(err, LINNET_BAD_FILE, "prefix: ", r.left(), " bytes behind the last piece") : LINNET_OK;
}

}  // namespace

Status prefix_export(const linnet_prefix& c, const int32_t* tokens, size_t n, size_t first, uint8_t* out, size_t cap, size_t* n_bytes,
                     size_t* n_tokens, Error* err) {
  if (first % kPagePositions || first > n)
    return fail(err, LINNET_BAD_ARG, "prefix: first is ", first, ": a multiple of ", kPagePositions, ", and no more than n = ", n);
  // Twice the same way: counts, then writes.
  Header h = {{}, kVersion, 0, 0, c.signature, static_cast<uint32_t>(first), static_cast<uint32_t>(first)};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  const auto each_piece = [&](auto fn) {
    uint32_t parent = kRoot;
    for (size_t at = 0; parent != kNone && at < n; at += kPagePositions) {
      const Piece piece = next_piece(c, parent, tokens + at, n - at);
      if (piece.node == kNone || (at < first && piece.head.n_tokens < kPagePositions)) return;
      if (at >= first) fn(piece);
      parent = piece.head.n_tokens == kPagePositions ? piece.node : kNone;
    }
  };
  uint64_t bytes = 0;
  each_piece([&](const Piece& piece) {
    ++h.n_pieces;
    h.n_tokens += piece.head.n_tokens;
    bytes += piece_bytes(c, piece.head.parts);
  });
  h.bytes = sizeof h + uint64_t{h.n_tokens} * sizeof *tokens + sizeof(uint32_t) + bytes;
  *n_bytes = static_cast<size_t>(h.bytes);
  *n_tokens = h.n_tokens;
  if (h.bytes > cap) return fail(err, LINNET_TOO_SMALL, "prefix: memory of ", cap, " bytes, needs ", h.bytes);
  uint8_t* at = out;
  const uint8_t* from = at;
  const auto put = [&](const void* data, size_t n_of) {
    if (n_of) std::memcpy(at, data, n_of);
    at += n_of;
  };
  const auto end = [&] {
    const uint32_t sum = crc32c(0, from, static_cast<size_t>(at - from));
    put(&sum, sizeof sum);
    from = at;
  };
  put(&h, sizeof h);
  put(tokens, h.n_tokens * sizeof *tokens);
  end();
  each_piece([&](const Piece& piece) {
    put(&piece.head, sizeof piece.head);
    for (const PrefixPart part : {kWholePages, kWindowPages, kStates})
      if (piece.head.parts >> part & 1)
        Chain{c, c.nodes[piece.node].units[part]}.run(c.part_bytes[part], [&](const uint8_t* place, size_t n_of) { put(place, n_of); });
    end();
  });
  return LINNET_OK;
}

Status prefix_import(linnet_prefix& c, const void* data, size_t bytes, size_t* n_tokens, Error* err) {
  ByteReader r(data, bytes);
  Header h;
  LINNET_TRY(check_pieces(c, r, &h, err));
  const uint8_t* const tokens = r.data() + sizeof h;
  const auto page_at = [&](uint32_t at, int32_t* page) {
    const uint32_t n = h.n_tokens - at < kPagePositions ? h.n_tokens - at : kPagePositions;
    std::memcpy(page, tokens + size_t{at} * sizeof *page, n * sizeof *page);
    return n;
  };
  int32_t page[kPagePositions];
  uint32_t last = kRoot, at = 0;
  for (; at < h.first; at += kPagePositions) {
    page_at(at, page);
    const Piece piece = next_piece(c, last, page, kPagePositions);
    if (piece.head.n_tokens < kPagePositions)
      return fail(err, LINNET_BAD_STATE, "prefix: pieces from token ", h.first, " on: those before them are there up to token ", at);
    last = piece.node;
  }
  ++c.now;
  touch_path(c, last);  // which stays
  r.seek(sizeof h + uint64_t{h.n_tokens} * sizeof *page + sizeof(uint32_t));
  while (at < h.n_tokens) {
    const uint32_t n = page_at(at, page);
    const auto head = r.read<PieceHead>();
    if (!r.ok() || !piece_fits(c, head, h.n_tokens - at) || !fits(r.pos(), piece_bytes(c, head.parts) - sizeof head, r.size()))
      break;  // memory that somebody changes after the check
    const uint32_t i = node_for(c, last, 0, page, n, head.parts >> kWindowPages & 1);
    if (i == kNone) break;
    bool whole = true;
    for (const PrefixPart part : {kWholePages, kWindowPages, kStates}) {
      if ((head.parts >> part & 1) == 0) continue;
      const uint8_t* const from = r.data() + r.pos();
      r.skip(c.part_bytes[part]);
      if (c.nodes[i].units[part] != kNone || c.nodes[i].n_tokens != n) continue;
      if (add_part(c, i, part)) {
        ToChain to(c, c.nodes[i].units[part]);
        to.put(to, from, c.part_bytes[part]);
      } else {
        whole &= part != kWholePages;
      }
    }
    r.skip(sizeof(uint32_t));
    if (!whole) {
      free_node(c, i);
      break;
    }
    last = i;
    at += n;
  }
  touch_path(c, last);
  *n_tokens = at;
  return LINNET_OK;
}

}  // namespace linnet
