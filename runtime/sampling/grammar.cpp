#include "grammar.h"

#include <cstring>

#include "../tokenizer/blob.h"

namespace linnet {
namespace {

constexpr size_t kMaskBudget = size_t{4} << 20;             // bytes of masks that are kept, but never fewer masks than these
constexpr uint32_t kFewestMasks = 16, kMostTopMasks = 512;  // of states; with calls

bool is_special(const tok::Tables& tables, uint32_t id) { return tables.token_flags[id] & tok::kControl; }

// Tokens that are text: neither special ones, whose text is no part of what is generated but where it is that of marks, nor such as have
// none.
std::string_view text_of(const Tokenizer& t, const tok::Tables& tables, uint32_t id, bool marks) {
  if (tables.token_flags[id] & (tok::kUnknown | tok::kEog) || (!marks && is_special(tables, id))) return {};
  const std::string_view s = token_bytes(t, static_cast<int32_t>(id), false);
  return s.size() > kMaxTokenBytes ? std::string_view() : s;
}

uint32_t vocabulary(const linnet_model& model) {
  return model.tokenizer.n_tokens < model.spec.n_vocab ? model.tokenizer.n_tokens : model.spec.n_vocab;
}

bool has_marks(const GrammarHeader& h) { return h.version > 1; }

Status read_header(const linnet_model& model, linnet_view blob, GrammarHeader* h, uint32_t* n_calls, Error* err) {
  if (!model.tokenizer.blob) return fail(err, LINNET_UNSUPPORTED, "grammar: the model has no tokenizer, so that its tokens have no texts");
  if (blob.bytes < sizeof *h) return fail(err, LINNET_BAD_FILE, "grammar: ", blob.bytes, " bytes are no grammar");
  std::memcpy(h, blob.data, sizeof *h);
  if (h->magic != kGrammarMagic)
    return fail(err, LINNET_BAD_FILE, "grammar: these bytes are not of linnet_grammar_compile or linnet_grammar_calls");
  if (h->version == 0 || h->version > kGrammarVersion)
    return fail(err, LINNET_UNSUPPORTED, "grammar: version ", h->version, ", this library reads up to ", kGrammarVersion);
  if (h->n_states == 0 || h->n_states > (has_marks(*h) ? kGrammarMaxStates : kNarrowMaxStates) || h->n_edges > kGrammarMaxEdges)
    return fail(err, LINNET_BAD_FILE, "grammar: ", h->n_states, " states, ", h->n_edges, " edges");
  const uint64_t edges = uint64_t{h->n_edges} * (has_marks(*h) ? sizeof(GrammarEdge) : sizeof(NarrowGrammarEdge)),
                 automaton =
                     sizeof *h + (uint64_t{h->n_states} + 1) * sizeof(uint32_t) + edges + (has_marks(*h) ? sizeof(GrammarStarts) : 0);
  *n_calls = 0;
  if (h->version > 2) {
    if (blob.bytes < automaton + sizeof *n_calls) return fail(err, LINNET_BAD_FILE, "grammar: ", blob.bytes, " bytes end before its calls");
    std::memcpy(n_calls, static_cast<const uint8_t*>(blob.data) + automaton, sizeof *n_calls);
    if (*n_calls == 0 || *n_calls > kGrammarMaxCalls) return fail(err, LINNET_BAD_FILE, "grammar: ", *n_calls, " calls");
  }
  const uint64_t bytes = automaton + (h->version > 2 ? sizeof *n_calls + *n_calls * sizeof(GrammarCall) : 0);
  if (bytes != blob.bytes) return fail(err, LINNET_BAD_FILE, "grammar: ", blob.bytes, " bytes, its header says ", bytes);
  return LINNET_OK;
}

linnet_grammar* layout(Arena& arena, const linnet_model& model, const GrammarHeader& h, uint32_t n_calls) {
  const tok::Tables tables(model.tokenizer);
  linnet_grammar* g = arena.take<linnet_grammar>("grammar", 1);
  linnet_grammar counted{};
  linnet_grammar& f = g ? *g : counted;
  f = {};
  f.model = &model;
  f.n_states = h.n_states;
  f.n_edges = h.n_edges;
  for (uint32_t id = 0; id < vocabulary(model); ++id) {
    f.n_eog += (tables.token_flags[id] & tok::kEog) != 0;
    f.n_tokens += !text_of(model.tokenizer, tables, id, has_marks(h)).empty();
  }
  f.n_words = (model.spec.n_vocab + 31) / 32;
  f.pushdown.n_calls = n_calls;
  const uint64_t mask_bytes = uint64_t{f.n_words} * sizeof(uint32_t), kept = kMaskBudget / (n_calls ? 2 * mask_bytes : mask_bytes);
  f.n_masks = static_cast<uint32_t>(kept < kFewestMasks ? kFewestMasks : kept);
  if (f.n_masks > (n_calls ? kMostTopMasks : f.n_states)) f.n_masks = n_calls ? kMostTopMasks : f.n_states;
  f.first = arena.take<uint32_t>("grammar", uint64_t{f.n_states} + 1);
  f.edges = arena.take<GrammarEdge>("grammar", f.n_edges);
  f.marks = has_marks(h);
  f.ids = arena.take<uint32_t>("vocabulary", f.n_tokens);
  f.shared = arena.take<uint8_t>("vocabulary", f.n_tokens);
  f.begins = arena.take<uint32_t>("vocabulary", 257);
  f.eog = arena.take<int32_t>("vocabulary", f.n_eog);
  if (n_calls) {
    pushdown_layout(arena, f);
  } else {
    f.slots = arena.take<uint32_t>("masks", f.n_states);
    f.states = arena.take<uint32_t>("masks", f.n_masks);
    f.n_allowed = arena.take<uint32_t>("masks", f.n_masks);
  }
  f.used = arena.take<uint64_t>("masks", f.n_masks);
  f.other = arena.take<uint32_t>("masks", f.n_words);
  const uint64_t masks = f.n_masks * mask_bytes,
                 keys = uint64_t{f.n_tokens} * sizeof(uint64_t);  // sort_tokens has its keys where masks lie later
  f.masks = reinterpret_cast<uint32_t*>(arena.take<uint64_t>("masks", div_up(masks > keys ? masks : keys, sizeof(uint64_t))));
  return g;
}

Status check_automaton(const linnet_grammar& g, Error* err) {
  const Pushdown& p = g.pushdown;
  uint32_t before = 0, next = 0;
  for (uint32_t i = 0; i <= g.n_states; ++i) {
    const uint32_t at = g.first[i] & ~kGrammarAccepts;
    if (at < before || at > g.n_edges || (i == 0 && at != 0) || (i == g.n_states && g.first[i] != g.n_edges))
      return fail(err, LINNET_BAD_FILE, "grammar: state ", i, " begins at edge ", at, " of ", g.n_edges);
    const uint32_t first_call = next;
    for (; i && next < p.n_calls && p.calls[next].from == i - 1; ++next) {
      const GrammarCall& c = p.calls[next];
      if (c.start >= g.n_states || c.to >= g.n_states || c.least == 0 || c.most < c.least || g.first[c.start] & kGrammarAccepts)
        return fail(err, LINNET_BAD_FILE, "grammar: call ", next, " of state ", c.start, ", ", c.least, "..", c.most, " times, then ",
                    c.to);
    }
    if (next - first_call > kMaxThreads) return fail(err, LINNET_BAD_FILE, "grammar: state ", i - 1, " has ", next - first_call, " calls");
    if (i && at == before && next == first_call && !(g.first[i - 1] & kGrammarAccepts))
      return fail(err, LINNET_BAD_FILE, "grammar: state ", i - 1, " has no way out");
    int last = -1;
    for (uint32_t e = before; i && e < at; ++e) {
      const GrammarEdge& edge = g.edges[e];
      if (edge.lo <= last || edge.hi < edge.lo || edge.to >= g.n_states || edge.own > 1)
        return fail(err, LINNET_BAD_FILE, "grammar: edge ", e, " of bytes ", edge.lo, "..", edge.hi, " to state ", edge.to);
      last = edge.hi;
    }
    before = at;
  }
  if (next != p.n_calls) return fail(err, LINNET_BAD_FILE, "grammar: call ", next, " is of state ", p.calls[next].from, ", out of order");
  if (g.starts.n > kGrammarMaxStarts) return fail(err, LINNET_BAD_FILE, "grammar: ", g.starts.n, " starts, at most ", kGrammarMaxStarts);
  for (uint32_t i = 0; i < g.starts.n; ++i)
    if (g.starts.state[i] >= g.n_states || !g.starts.mark[i][0] || g.starts.mark[i][sizeof g.starts.mark[i] - 1])
      return fail(err, LINNET_BAD_FILE, "grammar: start ", i, " is state ", g.starts.state[i], " of ", g.n_states, " or has no mark");
  return LINNET_OK;
}

struct TokenOrder {
  const Tokenizer& tokenizer;
  uint32_t* ids;
  uint64_t* keys;  // the first eight bytes of each

  std::string_view text(size_t i) const { return token_bytes(tokenizer, static_cast<int32_t>(ids[i]), false); }
  bool less(uint64_t key, uint32_t id, size_t j) const {
    if (key != keys[j]) return key < keys[j];
    const int order = token_bytes(tokenizer, static_cast<int32_t>(id), false).compare(text(j));
    return order < 0 || (order == 0 && id < ids[j]);
  }
  bool less(size_t i, size_t j) const { return less(keys[i], ids[i], j); }
  void sift_down(size_t i, size_t n) {
    const uint64_t key = keys[i];
    const uint32_t id = ids[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && less(child, child + 1)) ++child;
      if (!less(key, id, child)) break;
      keys[i] = keys[child];
      ids[i] = ids[child];
    }
    keys[i] = key;
    ids[i] = id;
  }
  void sort(size_t n) {  // a heap sort: no memory, and no order that is slow
    for (size_t i = n / 2; i-- > 0;) sift_down(i, n);
    for (size_t end = n; end-- > 1;) {
      const uint64_t key = keys[0];
      const uint32_t id = ids[0];
      keys[0] = keys[end];
      ids[0] = ids[end];
      keys[end] = key;
      ids[end] = id;
      sift_down(0, end);
    }
  }
};

void sort_tokens(linnet_grammar& g) {
  const Tokenizer& t = g.model->tokenizer;
  const tok::Tables tables(t);
  TokenOrder order{t, g.ids, reinterpret_cast<uint64_t*>(g.masks)};
  uint32_t n = 0, n_eog = 0;
  for (uint32_t id = 0; id < vocabulary(*g.model); ++id) {
    if (tables.token_flags[id] & tok::kEog) g.eog[n_eog++] = static_cast<int32_t>(id);
    const std::string_view s = text_of(t, tables, id, g.marks);
    if (s.empty()) continue;
    uint64_t key = 0;
    for (size_t i = 0; i < 8; ++i) key = key << 8 | (i < s.size() ? static_cast<uint8_t>(s[i]) : 0);
    order.keys[n] = key;
    g.ids[n++] = id;
  }
  order.sort(n);
  uint32_t byte = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const std::string_view s = order.text(i), before = i ? order.text(i - 1) : std::string_view();
    size_t same = 0;
    while (same < s.size() && same < before.size() && s[same] == before[same]) ++same;
    g.shared[i] = static_cast<uint8_t>(same);
    while (byte <= static_cast<uint8_t>(s[0])) g.begins[byte++] = i;
  }
  while (byte <= 256) g.begins[byte++] = n;
}

void allow(uint32_t* mask, uint32_t id) { mask[id / 32] |= 1u << id % 32; }

// Tokens whose texts go on from `state`; returns how many.
uint32_t walk(const linnet_grammar& g, uint32_t state, uint32_t* mask) {
  const Tokenizer& t = g.model->tokenizer;
  const tok::Tables tables(t);
  uint32_t at[kMaxTokenBytes + 1], n = 0;  // states behind the first bytes of the token
  bool own[kMaxTokenBytes + 1];            // whether marks alone lead there
  for (uint32_t e = g.first[state] & ~kGrammarAccepts; e < (g.first[state + 1] & ~kGrammarAccepts); ++e) {
    at[0] = state;
    at[1] = g.edges[e].to;
    own[1] = g.edges[e].own;
    for (uint32_t byte = g.edges[e].lo; byte <= g.edges[e].hi; ++byte)
      for (uint32_t i = g.begins[byte], end = g.begins[byte + 1]; i < end;) {
        const std::string_view s = token_bytes(t, static_cast<int32_t>(g.ids[i]), false);
        uint32_t depth = g.shared[i] ? g.shared[i] : 1;  // the first of a byte has none
        for (; depth < s.size(); ++depth) {
          const uint32_t edge = grammar_edge(g, at[depth], static_cast<uint8_t>(s[depth]));
          if (edge == kNoGrammarEdge) break;
          at[depth + 1] = g.edges[edge].to;
          own[depth + 1] = own[depth] && g.edges[edge].own;
        }
        ++i;
        if (depth == s.size()) {
          if (!own[depth] && g.marks && is_special(tables, g.ids[i - 1])) continue;
          allow(mask, g.ids[i - 1]);
          ++n;
        } else {
          while (i < end && g.shared[i] > depth) ++i;  // they begin with the same bytes
        }
      }
  }
  return n;
}

}  // namespace

uint32_t grammar_edge(const linnet_grammar& g, uint32_t state, uint8_t byte) {
  const uint32_t end = g.first[state + 1] & ~kGrammarAccepts;
  for (uint32_t e = g.first[state] & ~kGrammarAccepts; e < end && g.edges[e].lo <= byte; ++e)
    if (byte <= g.edges[e].hi) return e;
  return kNoGrammarEdge;
}
std::string_view grammar_text(const linnet_grammar& g, uint32_t token) {
  return text_of(g.model->tokenizer, tok::Tables(g.model->tokenizer), token, g.marks);
}
bool grammar_is_special(const linnet_grammar& g, uint32_t token) { return is_special(tok::Tables(g.model->tokenizer), token); }

uint32_t grammar_start(const linnet_grammar& g, std::string_view prompt) {
  size_t n = prompt.size();
  while (n && (prompt[n - 1] == ' ' || (prompt[n - 1] >= '\t' && prompt[n - 1] <= '\r'))) --n;
  for (uint32_t i = 0; i < g.starts.n; ++i) {
    const size_t bytes = std::strlen(g.starts.mark[i]);
    if (bytes <= n && !std::memcmp(prompt.data() + n - bytes, g.starts.mark[i], bytes)) return g.starts.state[i];
  }
  return 0;
}

uint32_t grammar_advance(linnet_grammar& g, uint32_t state, int32_t token) {
  const Tokenizer& t = g.model->tokenizer;
  if (state == kGrammarLost) return kGrammarLost;
  const bool is_token = token >= 0 && static_cast<uint32_t>(token) < t.n_tokens;
  if (g.pushdown.n_calls && state != kGrammarEnded) return is_token ? pushdown_advance(g, state, token) : kGrammarLost;
  if (token_is_eog(t, token)) return state == kGrammarEnded || g.first[state] & kGrammarAccepts ? kGrammarEnded : kGrammarLost;
  if (state == kGrammarEnded || !is_token) return kGrammarLost;
  const tok::Tables tables(t);
  const std::string_view s = text_of(t, tables, static_cast<uint32_t>(token), g.marks);
  if (s.empty()) return kGrammarLost;
  const bool special = is_special(tables, static_cast<uint32_t>(token));
  for (const char c : s) {
    const uint32_t edge = grammar_edge(g, state, static_cast<uint8_t>(c));
    if (edge == kNoGrammarEdge || (special && !g.edges[edge].own)) return kGrammarLost;
    state = g.edges[edge].to;
  }
  return state;
}

bool grammar_knows(const linnet_grammar& g, uint32_t state) {
  return !g.pushdown.n_calls || state >= kGrammarEnded || pushdown_known(g, state);
}
uint32_t grammar_keep(linnet_grammar& g, uint32_t state) {
  return g.pushdown.n_calls && state < kGrammarEnded ? pushdown_keep(g, state) : state;
}

bool grammar_complete(linnet_grammar& g, uint32_t state) {
  if (g.pushdown.n_calls && state < kGrammarEnded) return pushdown_complete(g, state);
  if (state >= g.n_states) return state == kGrammarEnded;
  return g.first[state] & kGrammarAccepts && (g.first[state] & ~kGrammarAccepts) == (g.first[state + 1] & ~kGrammarAccepts);
}

size_t grammar_forced(linnet_grammar& g, uint32_t state, char* out, size_t cap) {
  if (state >= kGrammarEnded) return 0;
  if (g.pushdown.n_calls) return pushdown_forced(g, state, out, cap);
  size_t n = 0;
  for (; n < cap; ++n) {
    const uint32_t first = g.first[state], end = g.first[state + 1] & ~kGrammarAccepts;
    if (first + 1 != end || g.edges[first].lo != g.edges[first].hi) break;  // a state that accepts has a bit more
    out[n] = static_cast<char>(g.edges[first].lo);
    state = g.edges[first].to;
  }
  return n;
}

Status grammar_mask(linnet_grammar& g, uint32_t state, bool no_eog, TokenMask* out, Error* err) {
  const auto nothing = [&](bool may_end) {
    return may_end ? fail(err, LINNET_BAD_STATE, "grammar: its text is complete",
                          no_eog ? "" : ", and the model has no end-of-generation token")
                   : fail(err, LINNET_BAD_STATE, "grammar: no token of the vocabulary goes on where it stands (state ", state, ")");
  };
  if (state == kGrammarLost) return fail(err, LINNET_BAD_STATE, "grammar: the tokens since linnet_grammar_set do not obey it");
  if (state == kGrammarEnded) {
    std::memset(g.other, 0, g.n_words * sizeof *g.other);
    for (uint32_t i = 0; i < g.n_eog; ++i) allow(g.other, static_cast<uint32_t>(g.eog[i]));
    *out = {g.other, g.n_eog};
    return no_eog ? fail(err, LINNET_BAD_STATE, "grammar: its text has ended") : LINNET_OK;  // there is one: it came
  }
  if (g.pushdown.n_calls) {
    bool may_end;
    uint32_t n = pushdown_mask(g, state, &may_end);
    for (uint32_t i = 0; may_end && !no_eog && i < g.n_eog; ++i, ++n) allow(g.other, static_cast<uint32_t>(g.eog[i]));
    *out = {g.other, n};
    return n ? LINNET_OK : nothing(may_end);
  }
  if (!g.slots[state]) {
    uint32_t oldest = 0;  // of the masks that are kept, or a free one
    for (uint32_t i = 1; i < g.n_masks; ++i)
      if (g.used[i] < g.used[oldest]) oldest = i;
    if (g.used[oldest]) g.slots[g.states[oldest]] = 0;
    uint32_t* mask = g.masks + size_t{oldest} * g.n_words;
    std::memset(mask, 0, g.n_words * sizeof *mask);
    uint32_t n = walk(g, state, mask);
    if (g.first[state] & kGrammarAccepts) {
      n += g.n_eog;
      for (uint32_t i = 0; i < g.n_eog; ++i) allow(mask, static_cast<uint32_t>(g.eog[i]));
    }
    g.n_allowed[oldest] = n;
    g.states[oldest] = state;
    g.slots[state] = oldest + 1;
  }
  const uint32_t slot = g.slots[state] - 1;
  g.used[slot] = ++g.n_uses;
  *out = {g.masks + size_t{slot} * g.n_words, g.n_allowed[slot]};
  const bool accepts = g.first[state] & kGrammarAccepts;
  if (no_eog && accepts) {
    std::memcpy(g.other, out->bits, g.n_words * sizeof *g.other);
    for (uint32_t i = 0; i < g.n_eog; ++i) g.other[static_cast<uint32_t>(g.eog[i]) / 32] &= ~(1u << g.eog[i] % 32);
    *out = {g.other, out->n_allowed - g.n_eog};
  }
  return out->n_allowed ? LINNET_OK : nothing(accepts);
}

Status grammar_need(const linnet_model& model, linnet_view blob, size_t* bytes, Error* err) {
  GrammarHeader h;
  uint32_t n_calls;
  LINNET_TRY(read_header(model, blob, &h, &n_calls, err));
  Arena counted;
  layout(counted, model, h, n_calls);
  if (!counted.ok()) return fail(err, LINNET_BAD_ARG, "grammar: needs more bytes than this machine can address");
  *bytes = counted.used();
  return LINNET_OK;
}

Status grammar_init(linnet_grammar** out, void* mem, size_t bytes, const linnet_model* model, linnet_view blob, Error* err) {
  GrammarHeader h;
  uint32_t n_calls;
  LINNET_TRY(read_header(*model, blob, &h, &n_calls, err));
  Arena counted;
  layout(counted, *model, h, n_calls);
  if (!counted.ok() || counted.used() > bytes)
    return fail(err, LINNET_TOO_SMALL, "grammar: memory of ", bytes, " bytes, needs ", counted.used());
  Arena arena(mem, bytes);
  linnet_grammar* g = layout(arena, *model, h, n_calls);
  const uint8_t* from = static_cast<const uint8_t*>(blob.data) + sizeof h;
  const size_t first_bytes = (size_t{h.n_states} + 1) * sizeof *g->first;
  std::memcpy(g->first, from, first_bytes);
  from += first_bytes;
  for (uint32_t i = 0; i < h.n_edges; ++i) {
    if (has_marks(h)) {
      std::memcpy(&g->edges[i], from + i * sizeof(GrammarEdge), sizeof(GrammarEdge));
    } else {
      NarrowGrammarEdge narrow;
      std::memcpy(&narrow, from + i * sizeof narrow, sizeof narrow);
      g->edges[i] = {narrow.lo, narrow.hi, 0, narrow.to};
    }
  }
  if (has_marks(h)) std::memcpy(&g->starts, from + h.n_edges * sizeof(GrammarEdge), sizeof g->starts);
  if (n_calls)
    std::memcpy(g->pushdown.calls, from + h.n_edges * sizeof(GrammarEdge) + sizeof g->starts + sizeof n_calls,
                n_calls * sizeof(GrammarCall));
  LINNET_TRY(check_automaton(*g, err));
  sort_tokens(*g);
  if (n_calls)
    pushdown_init(*g);
  else
    std::memset(g->slots, 0, g->n_states * sizeof *g->slots);
  std::memset(g->used, 0, g->n_masks * sizeof *g->used);
  *out = g;
  return LINNET_OK;
}

}  // namespace linnet
