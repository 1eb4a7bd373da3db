// Grammar: text held to an automaton over bytes by a mask over the vocabulary. The automaton is deterministic and comes as a blob
// (convert/json_schema.cpp makes it); a mask is found by walking the vocabulary in the order of its texts, so that what tokens have in
// common is walked once, and is kept for its state.
#pragma once
#include "../model.h"
#include "pushdown.h"
#include "sampling.h"

namespace linnet {

// The blob, little-endian: the header, uint32_t first[n_states + 1], the edges. Edges first[i] .. first[i + 1] - 1 lead out of state i, in
// ascending order of bytes, of which each belongs to one edge at most; bit 31 of first[i] says that a text may end in state i. A text
// begins in state 0.
//
// Version 1 has NarrowGrammarEdges and at most 65535 states. Version 2, for what models write around calls, has GrammarEdges, of which
// some are a mark's: special tokens, which are no text, may stand for what leads along such edges; and GrammarStarts behind them, which is
// where a text begins behind a prompt that has opened something. Version 3, for rules that hold themselves and for long counts, has behind
// these uint32_t n_calls and as many GrammarCalls, in the order of their states.
struct GrammarHeader {
  uint32_t magic, version, n_states, n_edges;
};
struct NarrowGrammarEdge {
  uint8_t lo, hi;  // bytes, inclusive
  uint16_t to;
};
struct GrammarEdge {
  uint8_t lo, hi;
  uint16_t own;  // 1: of a mark
  uint32_t to;
};
inline constexpr uint32_t kGrammarMaxStarts = 8;
struct GrammarStarts {
  uint32_t n, state[kGrammarMaxStarts];
  char mark[kGrammarMaxStarts][64];  // the prompt ends with it, but for white space; padded with zeros. The first that fits counts
};
// In state `from` a rule may begin, in state `start`; where it may end (bit 31) it is counted, and once `least` times of it were read the
// text goes on in state `to`, or with the rule again while they are fewer than `most`. No text of a rule is empty.
struct GrammarCall {
  uint32_t from, start, to, least, most;
};
inline constexpr uint32_t kGrammarNoEnd = 0xFFFFFFFF, kGrammarMaxCalls = 1u << 17;
inline constexpr uint32_t kGrammarMagic = 0x52474e4c, kGrammarVersion = 3;  // "LNGR"
inline constexpr uint32_t kNarrowMaxStates = 65535, kGrammarMaxStates = 1u << 19, kGrammarMaxEdges = 1u << 21, kGrammarAccepts = 1u << 31;

// States that are not in the blob.
inline constexpr uint32_t kGrammarEnded = 0xFFFFFFFE;  // an end-of-generation token came where the text may end
inline constexpr uint32_t kGrammarLost = 0xFFFFFFFF;   // a token came that is not allowed

// Where a sequence is in a grammar.
struct GrammarPlace {
  linnet_grammar* grammar = nullptr;
  uint32_t start = 0;  // where its text begins
  uint32_t from = 0,
           from_state = 0;     // tokens of the sequence before which the state is `from_state`; no later than what may be rolled back
  uint32_t at = 0, state = 0;  // as far as it was followed
};

}  // namespace linnet

// The type that linnet_chat.h leaves opaque.
struct linnet_grammar {
  const linnet_model* model;
  uint32_t n_states, n_edges;
  uint32_t* first;             // (n_states + 1)
  linnet::GrammarEdge* edges;  // (n_edges)
  bool marks;                  // whether some are of marks
  linnet::GrammarStarts starts;
  uint32_t n_tokens, n_eog;
  uint32_t* ids;     // (n_tokens) tokens that have a text, in its order; special ones only where there are marks
  uint8_t* shared;   // (n_tokens) bytes at its beginning that a token has in common with the one before
  uint32_t* begins;  // (257) of each first byte, in ids
  int32_t* eog;      // (n_eog) end-of-generation tokens
  uint32_t n_masks, n_words;
  uint32_t* slots;      // (n_states) 1 + the mask of a state; 0 = not kept. Not with calls
  uint32_t* states;     // (n_masks) whose mask it is. Not with calls
  uint32_t* n_allowed;  // (n_masks) not with calls
  uint64_t* used;       // (n_masks) when it was last asked for
  uint32_t* masks;      // (n_masks, n_words) bit i % 32 of word i / 32 allows token i
  uint32_t* other;      // (n_words) a mask without end-of-generation tokens, or of those alone
  uint64_t n_uses;
  linnet::Pushdown pushdown;  // n_calls > 0: states of sequences are sets of threads
};

namespace linnet {

Status grammar_need(const linnet_model& model, linnet_view blob, size_t* bytes, Error* err);
Status grammar_init(linnet_grammar** out, void* mem, size_t bytes, const linnet_model* model, linnet_view blob, Error* err);

// Where a text begins behind this prompt.
uint32_t grammar_start(const linnet_grammar& g, std::string_view prompt);
uint32_t grammar_advance(linnet_grammar& g, uint32_t state, int32_t token);
// The text ends here: nothing may follow.
bool grammar_complete(linnet_grammar& g, uint32_t state);
// With calls a state is known until kKeptSets others came: then it is to be found again from one that is kept, of which as many are known.
bool grammar_knows(const linnet_grammar& g, uint32_t state);
uint32_t grammar_keep(linnet_grammar& g, uint32_t state);

// The bytes that alone may follow, at most `cap` of them, up to where the text may end.
size_t grammar_forced(linnet_grammar& g, uint32_t state, char* out, size_t cap);

// no_eog: end-of-generation tokens are not allowed. *out is valid until the next call. LINNET_BAD_STATE: nothing is allowed, and why.
Status grammar_mask(linnet_grammar& g, uint32_t state, bool no_eog, TokenMask* out, Error* err);

// For the walk over the vocabulary.
inline constexpr uint32_t kMaxTokenBytes = 255;  // longer tokens are never allowed
inline constexpr uint32_t kNoGrammarEdge = 0xFFFFFFFF;
uint32_t grammar_edge(const linnet_grammar& g, uint32_t state, uint8_t byte);
// A token's text, "" where it has none in this grammar.
std::string_view grammar_text(const linnet_grammar& g, uint32_t token);
bool grammar_is_special(const linnet_grammar& g, uint32_t token);

}  // namespace linnet
