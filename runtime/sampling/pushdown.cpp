#include "pushdown.h"

#include <cstring>

#include "../tokenizer/blob.h"
#include "grammar.h"

namespace linnet {
namespace {

// Frames that are no nodes: nothing is below; it is not known what is.
constexpr uint32_t kBottom = 0, kUnknown = 1, kFirstNode = 2;
constexpr uint32_t kNoNode = 0xFFFFFFFF;
constexpr uint32_t kMarked = 1u << 31, kThreadNode = 0x7FFFFFFF, kFreeNode = 0x7FFFFFFE;  // StackNode::depth
constexpr uint32_t kOwn = 1u << 31;                                                       // Thread::state
constexpr uint32_t kSlots = 2 * kStackNodes;
// Frames at the top of a stack that a mask is kept for, and frames that are pushed while one is made; what passes these is asked for anew.
constexpr uint32_t kTopFrames = 8, kPushedFrames = 64;
// State numbers that are not of the automaton: the kept sets, with the lower bits of their serial numbers.
constexpr uint32_t kRecent = 1u << 29, kRemembered = 1u << 30, kSerialBits = kRecent - 1;

uint32_t hash_of(const StackNode& n) {
  uint64_t h = (uint64_t{n.what} << 32 | n.n) * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 29 ^ (uint64_t{n.next} << 32 | n.depth)) * 0xBF58476D1CE4E5B9u;
  return static_cast<uint32_t>(h >> 32) % kSlots;
}

// By hand: not every CPU has an instruction for it, and the compiler's function is none of the core's.
uint32_t ones(uint32_t bits) {
  bits -= bits >> 1 & 0x55555555;
  bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
  return ((bits + (bits >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}

// All that is done with the threads of one grammar.
class Stacks {
 public:
  explicit Stacks(linnet_grammar& g) : g_(g), p_(g.pushdown) { p_.n_threads = 0; }

  bool load(uint32_t state, ThreadSet* out) {
    *out = begin();
    if (state < g_.n_states) {
      add(out, {state | kOwn, kBottom});
      close(out, false);
      return true;
    }
    uint32_t node = kNoNode;
    if (!find(g_, state, &node)) return false;
    for (; node; node = p_.nodes[node].next) add(out, {p_.nodes[node].what | kOwn, p_.nodes[node].n});
    return true;
  }
  // The set's number, valid as long as it is among the last kKeptSets of its kind; 0: there is no memory left.
  uint32_t keep(ThreadSet s, bool remembered) {
    for (uint32_t i = 0; i < s.n; ++i) at(s, i).state &= ~kOwn;
    for (uint32_t i = 1; i < s.n; ++i)  // few, and often in order
      for (uint32_t j = i; j && less(at(s, j), at(s, j - 1)); --j) swap(at(s, j), at(s, j - 1));
    uint32_t node = kBottom;
    for (uint32_t i = s.n; i-- > 0;) {
      if (i + 1 < s.n && !less(at(s, i), at(s, i + 1))) continue;  // twice
      node = intern({at(s, i).state, at(s, i).frame, node, kThreadNode});
      if (node == kNoNode) return 0;
    }
    uint32_t& serial = p_.serials[remembered];
    serial = (serial + 1) & kSerialBits;
    p_.kept[remembered * kKeptSets + serial % kKeptSets] = {serial, node};
    return serial | (remembered ? kRemembered : kRecent);
  }
  static bool find(const linnet_grammar& g, uint32_t state, uint32_t* node) {
    const Pushdown& p = g.pushdown;
    const bool remembered = state & kRemembered;
    if (!(state & (kRecent | kRemembered)) || state & kOwn) return false;
    const KeptSet& k = p.kept[remembered * kKeptSets + (state & kSerialBits) % kKeptSets];
    *node = k.node;
    return k.node && k.serial == (state & kSerialBits);
  }

  bool accepts(const ThreadSet& s) const {
    for (uint32_t i = 0; i < s.n; ++i)
      if (at(s, i).frame == kBottom && ends(at(s, i).state & ~kOwn)) return true;
    return false;
  }
  // The text has ended wherever it may.
  bool complete(const ThreadSet& s) const {
    for (uint32_t i = 0; i < s.n; ++i)
      if (at(s, i).frame != kBottom || goes_on(at(s, i).state & ~kOwn)) return false;
    return accepts(s);
  }
  bool has_own(const ThreadSet& s) const {
    for (uint32_t i = 0; i < s.n; ++i)
      if (at(s, i).state & kOwn) return true;
    return false;
  }
  void only_own(ThreadSet* s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; ++i)
      if (at(*s, i).state & kOwn) at(*s, n++) = at(*s, i);
    s->n = n;
  }

  // Behind one more byte. bounded: of a set whose stacks are not known below their tops.
  void step(const ThreadSet& from, uint8_t byte, bool bounded, ThreadSet* out) {
    p_.n_threads = from.begin + from.n;
    *out = begin();
    out->beyond = from.beyond;
    for (uint32_t i = 0; i < from.n; ++i) {
      const Thread t = at(from, i);
      const uint32_t e = grammar_edge(g_, t.state & ~kOwn, byte);
      if (e == kNoGrammarEdge) continue;
      const uint32_t to = g_.edges[e].to;
      add(out, {to | (g_.edges[e].own ? t.state & kOwn : 0), t.frame});
      if (from.n == 1 && !ends(to) && !calls(to)) return;  // most bytes: inside of texts
    }
    close(out, bounded);
  }
  // To where the threads begin; all other sets are gone.
  void move_down(ThreadSet* s) {
    std::memmove(p_.threads, p_.threads + s->begin, s->n * sizeof *p_.threads);
    s->begin = 0;
    p_.n_threads = s->n;
  }

  // The only byte that goes on from a set, where the text may not end; -1: there is none, or another one.
  int only_byte(const ThreadSet& s) const {
    int only = -1;
    for (uint32_t i = 0; i < s.n; ++i) {
      const uint32_t state = at(s, i).state & ~kOwn;
      if (at(s, i).frame == kBottom && ends(state)) return -1;
      for (uint32_t e = g_.first[state] & ~kGrammarAccepts; e < (g_.first[state + 1] & ~kGrammarAccepts); ++e) {
        if (g_.edges[e].lo != g_.edges[e].hi || (only >= 0 && only != g_.edges[e].lo)) return -1;
        only = g_.edges[e].lo;
      }
    }
    return only;
  }

  // Which tokens go on from a set, whatever its threads are, and whether some may end here.
  uint32_t mask(const ThreadSet& s) {
    std::memset(g_.other, 0, g_.n_words * sizeof *g_.other);
    std::memset(p_.asked, 0, p_.n_order_words * sizeof *p_.asked);
    bool all = s.n > kMaxThreads / 4;
    for (uint32_t i = 0; i < s.n && !all; ++i) {
      const Thread t = at(s, i);
      const uint32_t deep = t.frame < kFirstNode ? 0 : p_.nodes[t.frame].depth, frame = top(t.frame);
      all = frame == kNoNode || deep + kPushedFrames + kTopFrames > kStackDepth;
      if (all) break;
      const uint32_t m = mask_of(t.state & ~kOwn, frame);
      p_.n_threads = s.begin + s.n;
      for (uint32_t w = 0; w < g_.n_words; ++w) g_.other[w] |= g_.masks[size_t{m} * g_.n_words + w];
      for (uint32_t w = 0; w < p_.n_order_words; ++w) p_.asked[w] |= p_.beyond[size_t{m} * p_.n_order_words + w];
    }
    if (all) std::memset(p_.asked, 0xFF, p_.n_order_words * sizeof *p_.asked);
    ask(s);
    uint32_t n = 0;
    for (uint32_t w = 0; w < g_.n_words; ++w) n += ones(g_.other[w]);
    return n;
  }

 private:
  Thread& at(const ThreadSet& s, uint32_t i) { return p_.threads[s.begin + i]; }
  const Thread& at(const ThreadSet& s, uint32_t i) const { return p_.threads[s.begin + i]; }
  static bool less(const Thread& a, const Thread& b) { return a.state != b.state ? a.state < b.state : a.frame < b.frame; }
  static void swap(Thread& a, Thread& b) {
    const Thread t = a;
    a = b;
    b = t;
  }
  bool ends(uint32_t state) const { return g_.first[state] & kGrammarAccepts; }
  bool goes_on(uint32_t state) const { return ((g_.first[state] ^ g_.first[state + 1]) & ~kGrammarAccepts) || calls(state); }
  bool reads(uint32_t state) const { return (g_.first[state] ^ g_.first[state + 1]) & ~kGrammarAccepts; }
  bool calls(uint32_t state) const { return p_.first_call[state] != p_.first_call[state + 1]; }
  bool once(const GrammarCall& c) const { return c.least == 1 && c.most == 1; }

  ThreadSet begin() const { return {p_.n_threads, 0, false}; }
  void add(ThreadSet* s, Thread t) {
    for (uint32_t i = 0; i < s->n; ++i)
      if (at(*s, i).state == t.state && at(*s, i).frame == t.frame) return;
    if (s->n == kMaxThreads || p_.n_threads == kScratchThreads) return;  // too many ways to read a text: some are not followed
    p_.threads[p_.n_threads++] = t;
    ++s->n;
  }

  // What the threads lead to without reading; then those alone that read something, or end the text.
  void close(ThreadSet* s, bool bounded) {
    for (uint32_t i = 0; i < s->n; ++i) {
      const Thread t = at(*s, i);
      const uint32_t own = t.state & kOwn, state = t.state & ~kOwn;
      const auto enter = [&](uint32_t call, uint32_t time, uint32_t below) {
        const GrammarCall& c = p_.calls[call];
        const bool last = time == 1 && once(c) && ends(c.to) && !goes_on(c.to);  // what is behind it need not be held
        const uint32_t frame = last ? below : push(call, time, below, bounded, &s->beyond);
        if (frame != kNoNode) add(s, {c.start | own, frame});
      };
      for (uint32_t c = p_.first_call[state]; c < p_.first_call[state + 1]; ++c) enter(c, 1, t.frame);
      if (!ends(state) || t.frame == kBottom) continue;
      if (t.frame == kUnknown) {
        s->beyond = true;
        continue;
      }
      const StackNode f = p_.nodes[t.frame];
      const GrammarCall& c = p_.calls[f.what];
      if (f.n >= c.least) add(s, {c.to | own, f.next});
      if (f.n < c.most) enter(f.what, c.most == kGrammarNoEnd && f.n >= c.least ? f.n : f.n + 1, f.next);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; ++i) {
      const Thread t = at(*s, i);
      const uint32_t state = t.state & ~kOwn;
      if (reads(state) || (t.frame == kBottom && ends(state))) at(*s, n++) = t;
    }
    s->n = n;
    p_.n_threads = s->begin + n;
  }

  // kNoNode: it would be too deep, or there is no memory.
  uint32_t push(uint32_t call, uint32_t time, uint32_t below, bool bounded, bool* beyond) {
    const uint32_t depth = (below < kFirstNode ? 0 : p_.nodes[below].depth) + 1;
    if (bounded && depth > kTopFrames + kPushedFrames) return *beyond = true, kNoNode;
    return depth > kStackDepth ? kNoNode : intern({call, time, below, depth});
  }

  uint32_t intern(const StackNode& n) {
    uint32_t slot = hash_of(n);
    for (; p_.slots[slot]; slot = (slot + 1) % kSlots) {
      const StackNode& other = p_.nodes[p_.slots[slot]];
      if (other.what == n.what && other.n == n.n && other.next == n.next && other.depth == n.depth) return p_.slots[slot];
    }
    if (!p_.free) {
      collect(n);
      if (!p_.free) return kNoNode;
      for (slot = hash_of(n); p_.slots[slot];) slot = (slot + 1) % kSlots;
    }
    const uint32_t node = p_.free;
    p_.free = p_.nodes[node].next;
    p_.nodes[node] = n;
    return p_.slots[slot] = node;
  }

  void mark_frames(uint32_t frame) {
    for (; frame >= kFirstNode && !(p_.nodes[frame].depth & kMarked); frame = p_.nodes[frame].next) p_.nodes[frame].depth |= kMarked;
  }
  void mark_threads(uint32_t node) {
    for (; node && !(p_.nodes[node].depth & kMarked); node = p_.nodes[node].next) {
      p_.nodes[node].depth |= kMarked;
      mark_frames(p_.nodes[node].n);
    }
  }
  // Frees what neither kept sets, masks, the threads at hand nor the node that is being made lead to.
  void collect(const StackNode& made) {
    for (uint32_t i = 0; i < 2 * kKeptSets; ++i) mark_threads(p_.kept[i].node);
    for (uint32_t i = 0; i < g_.n_masks; ++i)
      if (g_.used[i]) mark_frames(static_cast<uint32_t>(p_.keys[i]));
    for (uint32_t i = 0; i < p_.n_threads; ++i) mark_frames(p_.threads[i].frame);
    if (made.depth == kThreadNode) {
      mark_threads(made.next);
      mark_frames(made.n);
    } else {
      mark_frames(made.next);
    }
    p_.free = 0;
    std::memset(p_.slots, 0, kSlots * sizeof *p_.slots);
    for (uint32_t i = kStackNodes; i-- > kFirstNode;) {
      StackNode& n = p_.nodes[i];
      if (!(n.depth & kMarked)) {
        n = {0, 0, p_.free, kFreeNode};
        p_.free = i;
        continue;
      }
      n.depth &= ~kMarked;
      uint32_t slot = hash_of(n);
      while (p_.slots[slot]) slot = (slot + 1) % kSlots;
      p_.slots[slot] = i;
    }
  }

  // What of a stack decides most tokens: frames of counts, as far as no token comes to their ends, and the first call.
  uint32_t top(uint32_t frame) {
    uint32_t frames[kTopFrames], n = 0;
    while (frame >= kFirstNode && n < kTopFrames) {
      frames[n++] = frame;
      const bool stop = once(p_.calls[p_.nodes[frame].what]);
      frame = p_.nodes[frame].next;
      if (stop) break;
    }
    uint32_t below = frame == kBottom ? kBottom : kUnknown;
    for (uint32_t depth = 1; n-- > 0; ++depth) {
      const StackNode& f = p_.nodes[frames[n]];
      const GrammarCall& c = p_.calls[f.what];
      const uint64_t far = uint64_t{f.n} + p_.longest;
      const uint32_t time = far < c.least ? 1 : f.n >= c.least && (c.most == kGrammarNoEnd || far < c.most) ? c.least : f.n;
      below = intern({f.what, time, below, depth});
      if (below == kNoNode) return kNoNode;
    }
    return below;
  }

  // Which of the masks is that of a thread.
  uint32_t mask_of(uint32_t state, uint32_t frame) {
    const uint64_t key = uint64_t{state} << 32 | frame;
    for (uint32_t i = 0; i < g_.n_masks; ++i) {
      if (!g_.used[i] || p_.keys[i] != key) continue;
      g_.used[i] = ++g_.n_uses;
      return i;
    }
    uint32_t oldest = 0;  // looked for by itself: each step of it waits for the one before
    for (uint32_t i = 1; i < g_.n_masks; ++i)
      if (g_.used[i] < g_.used[oldest]) oldest = i;
    p_.keys[oldest] = key;  // at once, so that its frames stay
    g_.used[oldest] = ++g_.n_uses;
    uint32_t* const mask = g_.masks + size_t{oldest} * g_.n_words;
    uint32_t* const beyond = p_.beyond + size_t{oldest} * p_.n_order_words;
    std::memset(mask, 0, g_.n_words * sizeof *mask);
    std::memset(beyond, 0, p_.n_order_words * sizeof *beyond);
    ThreadSet sets[kMaxTokenBytes + 1];
    sets[0] = begin();
    add(&sets[0], {state | kOwn, frame});
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t end = g_.begins[byte + 1];
      if (g_.begins[byte] == end) continue;
      step(sets[0], static_cast<uint8_t>(byte), true, &sets[1]);
      uint32_t valid = 1;  // sets that are of the token at hand
      for (uint32_t i = g_.begins[byte]; i < end;) {
        const std::string_view s = grammar_text(g_, g_.ids[i]);
        uint32_t depth = g_.shared[i] ? g_.shared[i] : 1;
        if (depth > valid) depth = valid;
        for (; depth < s.size() && sets[depth].n; ++depth) step(sets[depth], static_cast<uint8_t>(s[depth]), true, &sets[depth + 1]);
        valid = depth;
        const uint32_t order = i++;
        if (depth == s.size() && sets[depth].n && (!is_special(order) || has_own(sets[depth])))
          allow(mask, g_.ids[order]);
        else if (sets[depth].beyond)
          allow(beyond, order);
        else if (!sets[depth].n)
          while (i < end && g_.shared[i] >= depth) ++i;  // they begin with the same bytes
      }
    }
    return oldest;
  }

  // Of the tokens that are asked for, those that go on from the set.
  void ask(const ThreadSet& s) {
    ThreadSet sets[kMaxTokenBytes + 1];
    sets[0] = s;
    uint32_t valid = 0;
    std::string_view before;
    for (uint32_t w = 0; w < p_.n_order_words; ++w)
      for (uint32_t bits = p_.asked[w]; bits; bits &= bits - 1) {
        const uint32_t order = w * 32 + static_cast<uint32_t>(__builtin_ctz(bits));
        if (order >= g_.n_tokens) return;
        const uint32_t id = g_.ids[order];
        if (g_.other[id / 32] >> id % 32 & 1) continue;
        const std::string_view text = grammar_text(g_, id);
        uint32_t depth = 0;
        while (depth < valid && depth < text.size() && text[depth] == before[depth]) ++depth;
        for (; depth < text.size() && sets[depth].n; ++depth) step(sets[depth], static_cast<uint8_t>(text[depth]), false, &sets[depth + 1]);
        valid = depth;
        before = text;
        if (depth == text.size() && sets[depth].n && (!is_special(order) || has_own(sets[depth]))) allow(g_.other, id);
      }
  }

  bool is_special(uint32_t order) const { return g_.marks && grammar_is_special(g_, g_.ids[order]); }
  static void allow(uint32_t* bits, uint32_t i) { bits[i / 32] |= 1u << i % 32; }

  linnet_grammar& g_;
  Pushdown& p_;
};

}  // namespace

void pushdown_layout(Arena& arena, linnet_grammar& g) {
  Pushdown& p = g.pushdown;
  p.n_order_words = (g.n_tokens + 31) / 32;
  p.calls = arena.take<GrammarCall>("grammar", p.n_calls);
  p.first_call = arena.take<uint32_t>("grammar", uint64_t{g.n_states} + 1);
  p.nodes = arena.take<StackNode>("stacks", kStackNodes);
  p.slots = arena.take<uint32_t>("stacks", kSlots);
  p.threads = arena.take<Thread>("stacks", kScratchThreads);
  p.kept = arena.take<KeptSet>("stacks", uint64_t{2} * kKeptSets);
  p.keys = arena.take<uint64_t>("masks", g.n_masks);
  p.beyond = arena.take<uint32_t>("masks", uint64_t{g.n_masks} * p.n_order_words);
  p.asked = arena.take<uint32_t>("masks", p.n_order_words);
}

void pushdown_init(linnet_grammar& g) {
  Pushdown& p = g.pushdown;
  uint32_t next = 0;
  for (uint32_t i = 0; i <= g.n_states; ++i) {
    p.first_call[i] = next;
    while (next < p.n_calls && p.calls[next].from == i) ++next;
  }
  std::memset(p.slots, 0, kSlots * sizeof *p.slots);
  std::memset(p.kept, 0, 2 * kKeptSets * sizeof *p.kept);
  p.serials[0] = p.serials[1] = 0;
  p.free = 0;
  for (uint32_t i = kStackNodes; i-- > kFirstNode;) {
    p.nodes[i] = {0, 0, p.free, kFreeNode};
    p.free = i;
  }
  p.longest = 1;
  for (uint32_t i = 0; i < g.n_tokens; ++i)
    if (const size_t n = grammar_text(g, g.ids[i]).size(); n > p.longest) p.longest = static_cast<uint32_t>(n);
}

uint32_t pushdown_advance(linnet_grammar& g, uint32_t state, int32_t token) {
  Stacks stacks(g);
  ThreadSet sets[2];
  if (!stacks.load(state, &sets[0])) return kGrammarLost;
  if (token_is_eog(g.model->tokenizer, token)) return stacks.accepts(sets[0]) ? kGrammarEnded : kGrammarLost;
  const std::string_view s = grammar_text(g, static_cast<uint32_t>(token));
  for (size_t i = 0; i < s.size(); ++i) {
    stacks.step(sets[0], static_cast<uint8_t>(s[i]), false, &sets[1]);
    stacks.move_down(&sets[1]);
    sets[0] = sets[1];
  }
  if (g.marks && grammar_is_special(g, static_cast<uint32_t>(token))) stacks.only_own(&sets[0]);
  if (s.empty() || !sets[0].n) return kGrammarLost;
  const uint32_t to = stacks.keep(sets[0], false);
  return to ? to : kGrammarLost;
}

bool pushdown_complete(linnet_grammar& g, uint32_t state) {
  Stacks stacks(g);
  ThreadSet s;
  return stacks.load(state, &s) && stacks.complete(s);
}

size_t pushdown_forced(linnet_grammar& g, uint32_t state, char* out, size_t cap) {
  Stacks stacks(g);
  ThreadSet sets[2];
  if (!stacks.load(state, &sets[0])) return 0;
  size_t n = 0;
  for (int byte; n < cap && (byte = stacks.only_byte(sets[0])) >= 0; sets[0] = sets[1]) {
    stacks.step(sets[0], static_cast<uint8_t>(byte), false, &sets[1]);
    stacks.move_down(&sets[1]);
    out[n++] = static_cast<char>(byte);
  }
  return n;
}

uint32_t pushdown_mask(linnet_grammar& g, uint32_t state, bool* may_end) {
  Stacks stacks(g);
  ThreadSet s;
  *may_end = false;
  if (!stacks.load(state, &s)) return 0;
  *may_end = stacks.accepts(s);
  return stacks.mask(s);
}

bool pushdown_known(const linnet_grammar& g, uint32_t state) {
  uint32_t node;
  return state < g.n_states || Stacks::find(g, state, &node);
}

uint32_t pushdown_keep(linnet_grammar& g, uint32_t state) {
  Stacks stacks(g);
  ThreadSet s;
  if (state < g.n_states) return state;
  const uint32_t kept = stacks.load(state, &s) ? stacks.keep(s, true) : 0;
  return kept ? kept : kGrammarLost;
}

}  // namespace linnet
