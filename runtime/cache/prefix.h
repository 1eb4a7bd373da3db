// Prefix cache: what was computed of the beginnings of sequences, in a radix tree over their tokens. A node is a page of 16 tokens or, as a
// leaf, fewer. It has up to three parts, each a chain of units of one size: pages of layers that keep all of theirs, pages of layers with a
// window, and the states behind its last token. A node without the first does not exist where a model has such layers; the others it has
// where they were there when it was kept.
#pragma once
#include "../include/linnet_serve.h"
#include "../session.h"

namespace linnet {

enum PrefixPart : uint32_t { kWholePages = 0, kWindowPages = 1, kStates = 2, kPrefixParts = 3 };

// Places in two lists, by how recently they were used: nodes, and nodes with states. A node is used after those behind it are, so the last
// one of the first list has none behind it.
struct PrefixUse {
  uint32_t newer, older;
  uint64_t when;
};

struct PrefixNode {
  uint32_t parent, child, next;  // next: of the parent's children, or of the free nodes
  uint32_t n_tokens;
  uint64_t adapters;             // hash of those that its sequence had (Sequence::lora_hash): others never find it
  uint32_t units[kPrefixParts];  // the first of the chain; kNone: the part is not there
  PrefixUse use[2];              // of the node, of its states
  int32_t tokens[kPagePositions];
};

}  // namespace linnet

// The type that linnet_serve.h leaves opaque.
struct linnet_prefix {
  static constexpr uint32_t kNone = UINT32_MAX, kRoot = 0;

  uint64_t signature;  // of the sessions that it is for
  size_t part_bytes[linnet::kPrefixParts];
  size_t unit_bytes;
  uint32_t n_nodes, n_units;
  linnet::PrefixNode* nodes;  // (n_nodes) the first one is the root
  uint32_t* unit_next;        // (n_units) of the chain, or of the free units
  uint8_t* units;             // (n_units, unit_bytes)
  uint8_t* piece;             // (piece_bytes) of a part, in one piece
  uint32_t free_node, free_unit, n_free_nodes, n_free_units;
  uint32_t newest[2], oldest[2];
  uint32_t n_states;
  uint64_t now, n_dropped;
};

namespace linnet {

// Whether sessions like this one can have a prefix cache.
Status prefix_check(const linnet_session& s, Error* err);
// The one layout function, for at most `budget` bytes; nullptr: too small, or only counted.
linnet_prefix* prefix_layout(Arena& arena, const linnet_session& s, size_t budget);
Status prefix_keep(linnet_prefix& c, const linnet_session& s, uint32_t seq, size_t* n_kept, Error* err);
Status prefix_match(linnet_prefix& c, linnet_session& s, uint32_t seq, const int32_t* tokens, size_t n, size_t* n_taken, Error* err);
Status prefix_export(const linnet_prefix& c, const int32_t* tokens, size_t n, size_t first, uint8_t* out, size_t cap, size_t* n_bytes,
                     size_t* n_tokens, Error* err);
Status prefix_import(linnet_prefix& c, const void* data, size_t bytes, size_t* n_tokens, Error* err);
void prefix_drop(linnet_prefix& c, const int32_t* tokens, size_t n);

}  // namespace linnet
