// Grammars whose rules hold themselves, or count: threads that each have a state of the automaton and a stack of calls under it. Stacks and
// sets of threads are nodes that exist once each, in the grammar's memory; what nothing leads to any more is collected when it is full.
#pragma once
#include <cstddef>
#include <cstdint>

struct linnet_grammar;

namespace linnet {

struct GrammarCall;
class Arena;

struct StackNode {
  // A frame: the call, which time of it is being read, the frame below. Or one thread of a set: its state, its frame, the next thread.
  uint32_t what, n, next;
  uint32_t depth;  // of frames; kThreadNode, kFreeNode
};
// One way in which the text so far may be read.
struct Thread {
  uint32_t state;  // bit 31: marks alone led here since the token began
  uint32_t frame;
};
// Threads at one place of a text, thread[begin, begin + n).
struct ThreadSet {
  uint32_t begin, n;
  bool beyond;  // some went on below what is known of their stacks
};
// A set that a sequence is at.
struct KeptSet {
  uint32_t serial, node;
};
inline constexpr uint32_t kStackDepth = 256;  // frames of a stack at most; what goes deeper is not allowed
inline constexpr uint32_t kMaxThreads = 256;  // of a set
inline constexpr uint32_t kStackNodes = 1u << 14, kScratchThreads = 1u << 13, kKeptSets = 256;

struct Pushdown {
  uint32_t n_calls;
  GrammarCall* calls;    // (n_calls)
  uint32_t* first_call;  // (n_states + 1)
  StackNode* nodes;      // (kStackNodes)
  uint32_t* slots;       // (2 * kStackNodes) open addressing: nodes by what they hold; 0 = free
  uint32_t free;         // the first free node, linked by `next`; 0 = none
  Thread* threads;       // (kScratchThreads)
  uint32_t n_threads;    // that are in use
  uint32_t longest;      // bytes of the vocabulary's longest text
  KeptSet* kept;         // (2, kKeptSets) where sequences were last; where the tokens that they remember begin
  uint32_t serials[2];   // of the last of each
  // Masks by the top of a thread: its state, and what of its stack decides most tokens.
  uint64_t* keys;          // (n_masks) state << 32 | frame
  uint32_t n_order_words;  // of bits in the order of the vocabulary's texts
  uint32_t* beyond;        // (n_masks, n_order_words) tokens that only the rest of the stack decides
  uint32_t* asked;         // (n_order_words) those of a set
};

void pushdown_layout(Arena& arena, linnet_grammar& g);
void pushdown_init(linnet_grammar& g);

// As grammar_advance and others of grammar.h; the mask is in linnet_grammar::other, without end-of-generation tokens.
uint32_t pushdown_advance(linnet_grammar& g, uint32_t state, int32_t token);
bool pushdown_complete(linnet_grammar& g, uint32_t state);
uint32_t pushdown_mask(linnet_grammar& g, uint32_t state, bool* may_end);
size_t pushdown_forced(linnet_grammar& g, uint32_t state, char* out, size_t cap);
bool pushdown_known(const linnet_grammar& g, uint32_t state);
uint32_t pushdown_keep(linnet_grammar& g, uint32_t state);

}  // namespace linnet
