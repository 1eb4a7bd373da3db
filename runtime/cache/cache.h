// What a session keeps of its sequences, so that a pass computes new tokens alone. There are two kinds: pages of keys and values
// (kv_cache.h) and slots of a state (slots.h); both answer to the calls here. Layers and kernels use their own kind, and state.cpp says in
// a refusal which one it is.
#pragma once
#include "kv_cache.h"
#include "slots.h"

namespace linnet {

// Where a saved sequence goes, piece by piece.
struct SavedTo {
  void (*put)(SavedTo& to, const void* data, size_t bytes);
};

// Where what is held of a sequence begins: of each class of pages the first one behind those that are kept, and the marks of slots.
struct CacheBegin {
  uint32_t pages[kMaxKvClasses];
  SlotBegin slots;
};

// What a saved sequence says of a part: of pages as named, all 0 where a layer has none; of a state instead tokens in its second and third
// mark, bytes of a row, of the state, tokens in the first mark.
struct CachePart {
  uint32_t k_format, v_format, window, bytes, first;
};

struct Cache {
  KvCache kv;
  Slots slots;

  // False if the layers need more than kMaxKvClasses classes. own: memory that operations read, which may be `arena`.
  bool layout_in(Arena& arena, Arena& own, const CachePlan& plan);
  // After layout_in on real memory; `session` is the backend's handle, which has been started.
  void reset(void* session);

  // A call that appends begins, advances chunk by chunk, and ends with commit or cancel; cancel leaves the sequence as it was at begin.
  // after: length when the call is done.
  void begin(uint32_t seq, uint32_t length, uint32_t after);
  // Whether there is room for `n_more` positions after `length`, a shared last page's copy included. taken: (kMaxKvClasses) pages, summed
  // up over sequences.
  bool has_room(uint32_t seq, uint32_t length, uint32_t n_more, uint32_t* taken) const;
  void advance(uint32_t seq, uint32_t length, uint32_t n_more);
  void commit(uint32_t seq, uint32_t before, uint32_t length);
  void cancel(uint32_t seq);
  // Of states (slots.h).
  void checkpoint(uint32_t seq);
  uint32_t until_checkpoint(uint32_t seq, uint32_t position) const;

  // Whether the sequence may be cut to `keep` positions: layers with a window have dropped what lies too far back, and a state's marks.
  bool can_truncate(uint32_t seq, uint32_t keep) const;
  // How long a sequence of `keep` tokens is in the cache: all of them, or those before a checkpoint of its states, from where the others
  // are to be computed again. kNoBase: there are no checkpoints.
  static constexpr uint32_t kNoBase = UINT32_MAX;
  uint32_t base(uint32_t seq, uint32_t keep) const;
  // keep: a base.
  void truncate(uint32_t seq, uint32_t keep);
  // `to`, which is empty, becomes the first `keep` positions of `from`; pages are shared, states copied.
  void fork(uint32_t from, uint32_t to, uint32_t keep);

  // A saved sequence is parts: the pages of every layer, of no bytes where it has none of its own, then the slot of every layer with a
  // state.
  uint32_t n_parts() const { return kv.n_layers + slots.n_states; }
  bool is_state(uint32_t part) const { return part >= kv.n_layers; }
  uint32_t layer_of(uint32_t part) const { return is_state(part) ? slots.layer_of(part - kv.n_layers) : part; }
  CacheBegin begin_of(uint32_t seq) const;
  CachePart part(uint32_t part, uint32_t window, const CacheBegin& of) const;
  // Reads from `said` where a part begins into `saved`. False if it is not as other parts have it, or a sequence of `length` positions
  // cannot go on from there.
  bool begin_at(uint32_t part, const CachePart& said, uint32_t length, CacheBegin* saved) const;
  // What this session holds on to of a sequence that began so; false if its n_rollback is too small for the rows of states.
  bool keep(const CacheBegin& saved, uint32_t length, CacheBegin* kept) const;
  // Whether something is gone that a sequence of `length` tokens would go on from.
  bool gone(const CacheBegin& of, uint32_t length) const;
  uint64_t saved_bytes(uint32_t part, uint32_t length, const CacheBegin& of) const;
  void save(uint32_t seq, uint32_t part, uint32_t length, SavedTo& to) const;
  // Whether the sequence, emptied, can hold `length` positions; and does so, in places of its own that load() fills. `saved`: as save()
  // wrote them.
  bool can_restore(uint32_t seq, uint32_t length, const CacheBegin& of) const;
  void restore(uint32_t seq, uint32_t length, const CacheBegin& of);
  void load(uint32_t seq, uint32_t part, uint32_t length, const CacheBegin& saved, const uint8_t* from);

  // The largest piece that the host reads or writes at once.
  size_t piece_bytes() const;
  // Bytes that one decoded row at this position reads.
  uint64_t read_bytes(uint32_t length) const;
};

}  // namespace linnet
