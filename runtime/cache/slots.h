// States of layers that carry one on from token to token: of every sequence and layer a slot of fixed size, f32. A state cannot be cut.
// So marks are kept, states as they were after fewer tokens, and the rows that layers made of the tokens since the first mark: from these
// a layer goes on again, in the same order and with the same result, after a rollback, a cancel, a fork or a load. A layer does that in
// its next pass (SlotView); until then nothing is computed. Of what lies further back there are checkpoints: copies of the state, from
// which the tokens that follow pass through the whole model again (sequence.cpp).
#pragma once
#include <cstdint>

#include "../../platform/arena.h"
#include "cache_plan.h"

namespace linnet {

struct SavedTo;

inline constexpr uint32_t kSlotStates = 4, kMaxMarks = 3;

// Tokens first .. first + n - 1 of a sequence carry a state on.
struct SlotRun {
  uint32_t first, n;
  const float* from;  // (state_floats) before them
  float* to;          // behind them, in all of its places; may be `from`
};
// What a layer does in a pass over tokens position .. position + n - 1: it writes the rows of those from keep_from on to row(), then goes
// through the runs in their order. Rows of tokens before `position` it finds at row(); only what it gives for the others is of use.
struct SlotView {
  SlotRun runs[2];
  uint32_t n_runs, position, keep_from;
  float* row(uint32_t token) const { return rows + size_t{place(token)} * row_floats; }  // (row_floats)

  float* rows;
  uint32_t row_floats, n_rows, first, first_place, length, new_place;
  uint32_t place(uint32_t token) const {
    return (token < length ? first_place + (token - first) : new_place + (token - keep_from)) % n_rows;
  }
};

struct SlotMark {
  uint32_t at;     // tokens that are in it
  uint32_t state;  // which of the kSlotStates; none where at = 0
};
// A sequence's, of all layers with a state.
struct Slot {
  SlotMark marks[kMaxMarks];  // ascending; a rollback goes back to the first at most
  uint32_t n_marks;
  uint32_t length;         // tokens; those behind the last mark are rows alone
  uint32_t row;            // place of the row of token marks[0].at
  uint32_t n_checkpoints;  // that there are
  // The running call, to `after` tokens. Its state comes to be in `into`; on the way those of the first `cut` tokens are left in cut_into,
  // where a later rollback needs them (cut = 0: it does not).
  uint32_t after, cut, into, cut_into;
  uint32_t overwrites;  // 1: `into` is the last mark's, which is gone when the call ends
  SlotMark from, at;    // the state before and behind the running pass
  uint32_t position;    // of its first new token
};

// Tokens in the marks of a saved sequence, ascending; behind the first one 0 = there are no more.
struct SlotBegin {
  uint32_t at[kMaxMarks];
};
inline constexpr size_t kSlotPiece = 65536;  // bytes of a state or of rows that the host sees at once, at most

struct SlotLayer {
  SlotPlan plan;
  float** of;           // (n_sequences) each states (kSlotStates, state_floats), then rows (n_rows, row_floats)
  float** checkpoints;  // (n_sequences) each (n_checkpoints, state_floats)
};

struct Slots {
  uint32_t n_layers, n_sequences, n_rollback, n_rows;  // n_layers: of the model
  uint32_t n_states;                                   // layers with a state
  SlotLayer* layers;                                   // (n_layers) or nullptr: none has a state
  Slot* slots;                                         // (n_sequences)
  uint32_t n_checkpoints, checkpoint_every;            // most of a sequence; tokens from one to the next
  SlotMark* checkpoints;  // (n_sequences, n_checkpoints) ascending; behind a slot's n_checkpoints the places that are free
  const Backend* backend;
  void* session;

  void layout_in(Arena& arena, Arena& own, const CachePlan& plan);
  void reset();
  bool any() const { return n_states != 0; }
  uint32_t layer_of(uint32_t i) const;  // the i-th with a state

  // The calls of Cache (cache.h), for the slots.
  void begin(uint32_t seq, uint32_t length, uint32_t after);
  void advance(uint32_t seq, uint32_t length, uint32_t n_more);
  void commit(uint32_t seq);
  void cancel(uint32_t seq);
  bool can_truncate(uint32_t seq, uint32_t keep) const { return keep >= slots[seq].marks[0].at; }
  // keep: one that can_truncate, or a checkpoint's, or 0.
  void truncate(uint32_t seq, uint32_t keep);
  void fork(uint32_t from, uint32_t to, uint32_t keep);
  // Keeps the newest mark's state, as calls do by themselves every checkpoint_every tokens. The oldest but the first makes room.
  void checkpoint(uint32_t seq) { take(seq, slots[seq].marks[slots[seq].n_marks - 1]); }
  // Tokens from `position` on until the next one is due; a pass is to end there.
  uint32_t until_checkpoint(uint32_t seq, uint32_t position) const;
  SlotMark* checkpoints_of(uint32_t seq) const { return checkpoints + size_t{seq} * n_checkpoints; }
  // What a layer does with the tokens of the pass that advance() was called for last.
  SlotView view(uint32_t seq, uint32_t layer) const;

  // A saved sequence: its marks, and all rows since the first one.
  SlotBegin begin_of(uint32_t seq) const;
  // Which of a saved sequence's marks a session with this n_rollback goes on from; false if rows are more than it has room for.
  bool keep(const SlotBegin& saved, uint32_t length, SlotBegin* kept) const;
  uint64_t saved_bytes(uint32_t layer, uint32_t length, const SlotBegin& of) const;
  void save(uint32_t seq, uint32_t layer, SavedTo& to) const;
  void restore(uint32_t seq, uint32_t length, const SlotBegin& kept);
  void load(uint32_t seq, uint32_t layer, const SlotBegin& saved, const uint8_t* from);
  // The state behind the last mark, in which newest() tokens are, and a part of the first mark's.
  uint32_t newest(uint32_t seq) const { return slots[seq].marks[slots[seq].n_marks - 1].at; }
  void save_state(uint32_t seq, uint32_t layer, SavedTo& to) const;
  void load_state(uint32_t seq, uint32_t layer, size_t at, const uint8_t* from, size_t bytes) const;
  uint64_t read_bytes() const;  // of a decoded row

 private:
  // Tokens whose rows the running call keeps, from this one on.
  uint32_t keep_from(const Slot& s) const {
    return s.after > n_rollback && s.after - n_rollback > s.length ? s.after - n_rollback : s.length;
  }
  void put(SavedTo& to, const float* from, size_t bytes) const;
  template <class Fn>
  void each_piece(const Slot& s, uint32_t n, Fn fn) const;
  uint32_t due(uint32_t seq) const;  // length at which the next checkpoint is
  void take(uint32_t seq, SlotMark mark);
  void copy(const SlotLayer& l, float* to, const float* from) const;
  float* checkpoint(uint32_t seq, const SlotLayer& l, uint32_t i) const { return l.checkpoints[seq] + size_t{i} * l.plan.state_floats; }
  float* state(uint32_t seq, const SlotLayer& l, uint32_t i) const { return l.of[seq] + size_t{i} * l.plan.state_floats; }
  float* row(uint32_t seq, const SlotLayer& l, uint32_t place) const {
    return l.of[seq] + size_t{kSlotStates} * l.plan.state_floats + size_t{place} * l.plan.row_floats;
  }
};

}  // namespace linnet
