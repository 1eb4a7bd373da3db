// What becomes of pages that rows no longer see, and what sequences have beside their pages: a table for each way, in files of
// their own. kv_cache.cpp knows pages, tables and references alone.
#pragma once
#include "kv_cache.h"

namespace linnet {

struct PagePolicy {
  // Pages leave at the front of the table: the pool is made for the most that all sequences hold at once.
  bool queue = false;
  // Tokens are chosen: what is held does not follow from a sequence's length, and nothing leaves while a call runs.
  bool chosen = false;
  // A page is never written to again once it is taken.
  bool sealed = false;
  // Pages that a sequence of `length` positions fills, those that it has dropped included.
  uint32_t (*pages)(uint32_t length);
  // The first page behind the kept ones that a row at `position` sees, or packs.
  uint32_t (*first_seen)(const KvClass& c, uint32_t position);
  // Pages that the pool needs; fills in n_slots.
  uint64_t (*pool)(KvClass* c, const CachePlan& plan);

  // What follows may be nullptr: nothing beside the pages.
  // Places what sequences have beside their pages.
  void (*layout)(KvClass* c, uint32_t n_sequences, Arena& arena, Arena& pools) = nullptr;
  void (*reset)(const KvCache& kv, const KvClass& c) = nullptr;
  void (*fork)(const KvCache& kv, const KvClass& c, uint32_t from, uint32_t to) = nullptr;
  // A call begins; its rows are computed; a page is about to leave; those that had to have left.
  void (*begin)(KvCache& kv, uint32_t seq, uint32_t c, uint32_t length, uint32_t after) = nullptr;
  void (*computed)(KvCache& kv, uint32_t seq, uint32_t c, uint32_t before, uint32_t length) = nullptr;
  void (*leaves)(KvCache& kv, uint32_t seq, uint32_t c, uint32_t page) = nullptr;
  void (*committed)(KvCache& kv, uint32_t seq, uint32_t c, uint32_t length) = nullptr;
  // What is saved of a layer behind its pages, of which n_held are there; and how it comes back from a state whose pages begin with
  // `first`, where the session's table may begin later.
  uint64_t (*saved_bytes)(const KvCache& kv, uint32_t c, uint32_t length, uint32_t n_held) = nullptr;
  void (*save)(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, SavedTo& to) = nullptr;
  void (*load)(const KvCache& kv, uint32_t seq, uint32_t layer, uint32_t length, uint32_t first, const uint8_t* from) = nullptr;
};

extern const PagePolicy kKeepAll, kWindow, kSinks;     // windows.cpp
extern const PagePolicy kHeavyHitters, kSnapKv;        // chosen.cpp
extern const PagePolicy kTailOfGroups, kPackedGroups;  // packed_groups.cpp

inline uint32_t pages_of(uint64_t positions) { return static_cast<uint32_t>(div_up(positions, kPagePositions)); }
inline uint32_t whole_pages(uint32_t length) { return pages_of(length); }
uint64_t whole_pool(KvClass* c, const CachePlan& plan);  // nothing leaves by itself
uint32_t first_in_window(const KvClass& c, uint32_t position);
// A pool for queues of `held` positions at rest, `ahead` of them beside a chunk's, and the pages that a call may pass.
uint64_t queue_pool(KvClass* c, const CachePlan& plan, uint64_t held, uint64_t ahead, uint64_t passed);
// Whether sequences may grow beyond n_context.
inline bool endless(uint32_t when_full) {
  return when_full == LINNET_FULL_DROP_OLDEST || when_full == LINNET_FULL_SINKS || when_full == LINNET_FULL_HEAVY_HITTERS;
}
Status check_groups(const CacheLayer& layer, uint32_t i, uint32_t when_full, Error* err);
KvLayout packed_layout(Format k, Format v, uint32_t n_kv_heads, uint32_t head_dim);

}  // namespace linnet
