#include "slots.h"

#include "../backend.h"
#include "cache.h"

namespace linnet {

void Slots::layout_in(Arena& arena, Arena& own, const CachePlan& p) {
  *this = {};
  n_layers = p.n_layers;
  n_sequences = p.n_sequences;
  n_rollback = p.n_rollback;
  checkpoint_every = p.checkpoint_every;
  backend = p.backend;
  for (uint32_t i = 0; i < n_layers; ++i) n_states += p.layer(p.of, i).slot.state_floats != 0;
  if (!any()) return;
  // Since the first mark there are at most two rollbacks of rows; those of a call come to them and take the place of none.
  n_rows = 3 * n_rollback;
  n_checkpoints = p.n_checkpoints;
  layers = arena.take<SlotLayer>("states", n_layers);
  slots = arena.take<Slot>("states", n_sequences);
  checkpoints = arena.take<SlotMark>("states", uint64_t{n_sequences} * n_checkpoints);
  for (uint32_t i = 0; i < n_layers; ++i) {
    const SlotPlan plan = p.layer(p.of, i).slot;
    float** const of = arena.take<float*>("states", plan.state_floats ? n_sequences : 0);
    float** const kept = arena.take<float*>("states", plan.state_floats ? n_sequences : 0);
    const uint64_t floats = uint64_t{kSlotStates} * plan.state_floats + uint64_t{n_rows} * plan.row_floats;
    for (uint32_t seq = 0; seq < n_sequences && plan.state_floats; ++seq) {
      float* const memory = own.take<float>("states", floats);
      if (of) of[seq] = memory;
      float* const copies = own.take<float>("checkpoints", uint64_t{n_checkpoints} * plan.state_floats);
      if (kept) kept[seq] = copies;
    }
    if (layers) layers[i] = {plan, of, kept};
  }
}

uint32_t Slots::layer_of(uint32_t i) const {
  uint32_t layer = 0;
  while (layers[layer].plan.state_floats == 0 || i-- > 0) ++layer;
  return layer;
}

void Slots::reset() {
  for (uint32_t i = 0; i < n_sequences; ++i) {
    slots[i] = {};
    slots[i].n_marks = 1;
    for (uint32_t c = 0; c < n_checkpoints; ++c) checkpoints_of(i)[c] = {0, c};
  }
}

void Slots::copy(const SlotLayer& l, float* to, const float* from) const {
  backend->copy(session, reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from), 0, l.plan.state_floats * sizeof(float), 1);
}

uint32_t Slots::due(uint32_t seq) const {
  const uint32_t n = slots[seq].n_checkpoints;
  return (n ? checkpoints_of(seq)[n - 1].at : 0) + checkpoint_every;
}

uint32_t Slots::until_checkpoint(uint32_t seq, uint32_t position) const {
  const uint32_t next = due(seq);
  return n_checkpoints == 0 ? UINT32_MAX : position < next ? next - position : checkpoint_every;  // one that is due comes first
}

void Slots::take(uint32_t seq, SlotMark mark) {
  Slot& s = slots[seq];
  SlotMark* const all = checkpoints_of(seq);
  if (n_checkpoints == 0 || mark.at <= (s.n_checkpoints ? all[s.n_checkpoints - 1].at : 0)) return;
  if (s.n_checkpoints == n_checkpoints) {
    const uint32_t first = n_checkpoints > 1;
    const SlotMark gone = all[first];
    for (uint32_t i = first; i + 1 < n_checkpoints; ++i) all[i] = all[i + 1];
    all[--s.n_checkpoints] = gone;
  }
  SlotMark& to = all[s.n_checkpoints++];
  to.at = mark.at;
  for (uint32_t i = 0; i < n_layers; ++i)
    if (layers[i].plan.state_floats) copy(layers[i], checkpoint(seq, layers[i], to.state), state(seq, layers[i], mark.state));
}

// A call keeps the rows of its last n_rollback tokens. Marks are never more than n_rollback tokens apart, so that the first that is old
// enough for a rollback (marks[0]) is no more than two of them back.
void Slots::begin(uint32_t seq, uint32_t length, uint32_t after) {
  Slot& s = slots[seq];
  const SlotMark last = s.marks[s.n_marks - 1];
  uint32_t taken = 0;
  for (uint32_t i = 0; i < s.n_marks; ++i)
    if (s.marks[i].at) taken |= 1u << s.marks[i].state;
  const auto take = [&] {
    const uint32_t i = static_cast<uint32_t>(__builtin_ctz(~taken));
    taken |= 1u << i;
    return i;
  };
  s.length = length;
  s.after = after;
  s.cut = after - last.at > n_rollback ? after - n_rollback : 0;
  if (s.cut) s.cut_into = take();
  s.into = take();
  s.overwrites = s.into == kSlotStates;  // the last mark's has been read when the call is past the cut
  if (s.overwrites) s.into = last.state;
  s.at = last;
}

void Slots::advance(uint32_t seq, uint32_t length, uint32_t n_more) {
  Slot& s = slots[seq];
  const uint32_t end = length + n_more;
  s.from = s.at;
  if (s.from.at >= due(seq)) take(seq, s.from);
  s.position = length;
  s.at = {end, s.cut < end ? s.into : s.cut_into};
  if (s.from.at) return;
  s.from.state = s.cut ? s.cut_into : s.into;  // a sequence begins with zeros, where its state goes to
  for (uint32_t i = 0; i < n_layers; ++i) {
    const size_t bytes = layers[i].plan.state_floats * sizeof(float);
    if (bytes) backend->zero(session, reinterpret_cast<uint8_t*>(state(seq, layers[i], s.from.state)), bytes, bytes, 1);
  }
}

SlotView Slots::view(uint32_t seq, uint32_t layer) const {
  const Slot& s = slots[seq];
  const SlotLayer& l = layers[layer];
  SlotView v{};
  v.position = s.position;
  v.keep_from = keep_from(s);
  v.rows = row(seq, l, 0);
  v.row_floats = l.plan.row_floats;
  v.n_rows = n_rows;
  v.first = s.marks[0].at;
  v.first_place = s.row;
  v.length = s.length;
  v.new_place = s.row + (s.length - s.marks[0].at);
  const uint32_t middle = s.from.at < s.cut && s.cut < s.at.at ? s.cut : s.at.at;
  const bool to_cut = s.from.at < s.cut;
  v.runs[0] = {s.from.at, middle - s.from.at, state(seq, l, s.from.state), state(seq, l, to_cut ? s.cut_into : s.into)};
  v.runs[1] = {middle, s.at.at - middle, v.runs[0].to, state(seq, l, s.into)};
  v.n_runs = middle < s.at.at ? 2 : 1;
  return v;
}

void Slots::commit(uint32_t seq) {
  Slot& s = slots[seq];
  SlotMark all[kMaxMarks + 2];
  uint32_t n = 0, first = 0;
  for (uint32_t i = 0; i < s.n_marks; ++i) all[n++] = s.marks[i];  // one that is overwritten comes before the cut, which takes its place
  if (s.cut) all[n++] = {s.cut, s.cut_into};
  all[n++] = {s.after, s.into};
  const uint32_t back = s.after > n_rollback ? s.after - n_rollback : 0;
  while (first + 1 < n && all[first + 1].at <= back) ++first;
  const uint32_t begins = all[first].at;
  s.row = (s.row + (begins < s.length ? begins - s.marks[0].at : s.length - s.marks[0].at + (begins - keep_from(s)))) % n_rows;
  // The one behind it will be the first some day; those between that and the last one are not needed for it.
  s.marks[0] = all[first];
  s.n_marks = 1;
  if (first + 2 < n) s.marks[s.n_marks++] = all[first + 1];
  if (first + 1 < n) s.marks[s.n_marks++] = all[n - 1];
  s.length = s.after;
  if (s.length >= due(seq)) checkpoint(seq);
}

void Slots::cancel(uint32_t seq) {
  Slot& s = slots[seq];
  s.n_marks -= s.overwrites;
  s.overwrites = 0;
  while (s.n_checkpoints && checkpoints_of(seq)[s.n_checkpoints - 1].at > s.length) --s.n_checkpoints;
}

void Slots::truncate(uint32_t seq, uint32_t keep) {
  Slot& s = slots[seq];
  if (keep == 0) {
    s = {};
    s.n_marks = 1;
    return;
  }
  while (s.n_checkpoints && checkpoints_of(seq)[s.n_checkpoints - 1].at > keep) --s.n_checkpoints;
  if (!can_truncate(seq, keep)) {  // it becomes the only mark
    const SlotMark from = checkpoints_of(seq)[s.n_checkpoints - 1];
    s.marks[0] = {from.at, 0};
    s.n_marks = 1;
    for (uint32_t i = 0; i < n_layers; ++i)
      if (layers[i].plan.state_floats) copy(layers[i], state(seq, layers[i], 0), checkpoint(seq, layers[i], from.state));
  }
  while (s.n_marks > 1 && s.marks[s.n_marks - 1].at > keep) --s.n_marks;
  if (keep < s.length) s.length = keep;
}

// Calls fn(first place, rows) for the pieces that the first n rows since the first mark lie in.
template <class Fn>
void Slots::each_piece(const Slot& s, uint32_t n, Fn fn) const {
  const uint32_t before = n_rows - s.row < n ? n_rows - s.row : n;
  if (before) fn(s.row, before);
  if (n > before) fn(0u, n - before);
}

void Slots::fork(uint32_t from, uint32_t to, uint32_t keep) {
  Slot& b = slots[to];
  b = slots[from];
  for (uint32_t c = 0; c < b.n_checkpoints; ++c) {
    const SlotMark mine = checkpoints_of(from)[c];
    if (mine.at > keep) {
      b.n_checkpoints = c;
      break;
    }
    checkpoints_of(to)[c].at = mine.at;
    for (uint32_t i = 0; i < n_layers; ++i)
      if (const SlotLayer& l = layers[i]; l.plan.state_floats)
        copy(l, checkpoint(to, l, checkpoints_of(to)[c].state), checkpoint(from, l, mine.state));
  }
  truncate(to, keep);
  if (!can_truncate(from, keep)) return;  // its only mark is a checkpoint's
  for (uint32_t i = 0; i < n_layers; ++i) {
    const SlotLayer& l = layers[i];
    const size_t row_bytes = l.plan.row_floats * sizeof(float);
    for (uint32_t m = 0; l.plan.state_floats && m < b.n_marks; ++m)
      if (b.marks[m].at) copy(l, state(to, l, b.marks[m].state), state(from, l, b.marks[m].state));
    each_piece(b, row_bytes ? b.length - b.marks[0].at : 0, [&](uint32_t place, uint32_t n) {
      backend->copy(session, reinterpret_cast<uint8_t*>(row(to, l, place)), reinterpret_cast<const uint8_t*>(row(from, l, place)), 0,
                    n * row_bytes, 1);
    });
  }
}

SlotBegin Slots::begin_of(uint32_t seq) const {
  SlotBegin begin{};
  for (uint32_t m = 0; m < slots[seq].n_marks; ++m) begin.at[m] = slots[seq].marks[m].at;
  return begin;
}

// From there on marks are as near to each other as begin() wants them, and rows no more.
bool Slots::keep(const SlotBegin& saved, uint32_t length, SlotBegin* kept) const {
  uint32_t first = 0, n = 0;
  while (length - saved.at[first] > 2 * n_rollback)
    if (++first == kMaxMarks || saved.at[first] == 0) return false;
  *kept = {};
  do kept->at[n++] = saved.at[first++];
  while (first < kMaxMarks && saved.at[first] && saved.at[first] - kept->at[n - 1] <= n_rollback);
  return true;
}

uint64_t Slots::saved_bytes(uint32_t layer, uint32_t length, const SlotBegin& of) const {
  const SlotPlan& p = layers[layer].plan;
  uint64_t floats = uint64_t{length - of.at[0]} * p.row_floats;
  for (const uint32_t at : of.at) floats += at ? p.state_floats : 0;
  return floats * sizeof(float);
}

void Slots::put(SavedTo& to, const float* from, size_t bytes) const {
  const uint8_t* p = reinterpret_cast<const uint8_t*>(from);
  for (size_t n; bytes; p += n, bytes -= n) {
    size_t step = 0;
    n = bytes < kSlotPiece ? bytes : kSlotPiece;
    to.put(to, backend->read(session, p, 0, n, 1, &step), n);
  }
}

void Slots::save(uint32_t seq, uint32_t layer, SavedTo& to) const {
  const Slot& s = slots[seq];
  const SlotLayer& l = layers[layer];
  for (uint32_t m = 0; m < s.n_marks; ++m)
    if (s.marks[m].at) put(to, state(seq, l, s.marks[m].state), l.plan.state_floats * sizeof(float));
  each_piece(s, s.length - s.marks[0].at,
             [&](uint32_t place, uint32_t n) { put(to, row(seq, l, place), size_t{n} * l.plan.row_floats * sizeof(float)); });
}

void Slots::save_state(uint32_t seq, uint32_t layer, SavedTo& to) const {
  const SlotLayer& l = layers[layer];
  put(to, state(seq, l, slots[seq].marks[slots[seq].n_marks - 1].state), l.plan.state_floats * sizeof(float));
}

void Slots::load_state(uint32_t seq, uint32_t layer, size_t at, const uint8_t* from, size_t bytes) const {
  backend->write(session, reinterpret_cast<uint8_t*>(state(seq, layers[layer], slots[seq].marks[0].state)) + at, from, 0, bytes, 1);
}

void Slots::restore(uint32_t seq, uint32_t length, const SlotBegin& kept) {
  Slot& s = slots[seq] = {};
  for (uint32_t m = 0; m < kMaxMarks && (m == 0 || kept.at[m]); ++m) s.marks[s.n_marks++] = {kept.at[m], m};
  s.length = length;
}

void Slots::load(uint32_t seq, uint32_t layer, const SlotBegin& saved, const uint8_t* from) {
  const Slot& s = slots[seq];
  const SlotLayer& l = layers[layer];
  const size_t state_bytes = l.plan.state_floats * sizeof(float), row_bytes = l.plan.row_floats * sizeof(float);
  const auto get = [&](float* to, const uint8_t* p, size_t bytes) {
    for (size_t n, at = 0; at < bytes; at += n) {
      n = bytes - at < kSlotPiece ? bytes - at : kSlotPiece;
      backend->write(session, reinterpret_cast<uint8_t*>(to) + at, p + at, 0, n, 1);
    }
  };
  for (uint32_t m = 0, i = 0; m < kMaxMarks; ++m) {
    if (saved.at[m] == 0) continue;
    if (i < s.n_marks && s.marks[i].at == 0) ++i;
    if (i < s.n_marks && s.marks[i].at == saved.at[m]) get(state(seq, l, s.marks[i++].state), from, state_bytes);
    from += state_bytes;
  }
  get(row(seq, l, 0), from + (s.marks[0].at - saved.at[0]) * row_bytes, (s.length - s.marks[0].at) * row_bytes);
}

uint64_t Slots::read_bytes() const {
  uint64_t floats = 0;
  for (uint32_t i = 0; layers && i < n_layers; ++i) floats += layers[i].plan.state_floats;
  return floats * sizeof(float);
}

}  // namespace linnet
