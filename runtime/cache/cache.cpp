#include "cache.h"

namespace linnet {

bool Cache::layout_in(Arena& arena, Arena& own, const CachePlan& plan) {
  slots.layout_in(arena, own, plan);
  return kv.layout_in(arena, own, plan);
}

void Cache::reset(void* session) {
  kv.session = slots.session = session;
  kv.reset();
  if (slots.any()) slots.reset();
}

void Cache::begin(uint32_t seq, uint32_t length, uint32_t after) {
  kv.begin(seq, length, after);
  if (slots.any()) slots.begin(seq, length, after);
}

bool Cache::has_room(uint32_t seq, uint32_t length, uint32_t n_more, uint32_t* taken) const {
  return kv.has_room(seq, length, n_more, taken);  // slots always have
}

void Cache::advance(uint32_t seq, uint32_t length, uint32_t n_more) {
  kv.advance(seq, length, n_more);
  if (slots.any()) slots.advance(seq, length, n_more);
}

void Cache::commit(uint32_t seq, uint32_t before, uint32_t length) {
  kv.commit(seq, before, length);
  if (slots.any()) slots.commit(seq);
}

void Cache::cancel(uint32_t seq) {
  kv.cancel(seq);
  if (slots.any()) slots.cancel(seq);
}

void Cache::checkpoint(uint32_t seq) {
  if (slots.any()) slots.checkpoint(seq);
}

uint32_t Cache::until_checkpoint(uint32_t seq, uint32_t position) const {
  return slots.any() ? slots.until_checkpoint(seq, position) : UINT32_MAX;
}

bool Cache::can_truncate(uint32_t seq, uint32_t keep) const {
  return keep == 0 || (kv.can_truncate(seq, keep) && (!slots.any() || slots.can_truncate(seq, keep)));
}

uint32_t Cache::base(uint32_t seq, uint32_t keep) const {
  if (can_truncate(seq, keep)) return keep;
  for (uint32_t i = slots.any() ? slots.slots[seq].n_checkpoints : 0; i-- > 0;)
    if (const uint32_t at = slots.checkpoints_of(seq)[i].at; at <= keep && kv.can_truncate(seq, at)) return at;
  return slots.n_checkpoints ? 0 : kNoBase;  // with none before it: from the beginning
}

void Cache::truncate(uint32_t seq, uint32_t keep) {
  kv.truncate(seq, keep);
  if (slots.any()) slots.truncate(seq, keep);
}

void Cache::fork(uint32_t from, uint32_t to, uint32_t keep) {
  if (keep == 0) return;
  kv.fork(from, to, keep);
  if (slots.any()) slots.fork(from, to, keep);
}

CacheBegin Cache::begin_of(uint32_t seq) const {
  CacheBegin of{};
  for (uint32_t c = 0; c < kv.n_classes; ++c) of.pages[c] = kv.table(seq, c).first;
  if (slots.any()) of.slots = slots.begin_of(seq);
  return of;
}

CachePart Cache::part(uint32_t part, uint32_t window, const CacheBegin& of) const {
  const auto bytes_of = [](uint32_t floats) { return static_cast<uint32_t>(floats * sizeof(float)); };
  if (is_state(part)) {
    const SlotPlan& p = slots.layers[layer_of(part)].plan;
    return {of.slots.at[1], of.slots.at[2], bytes_of(p.row_floats), bytes_of(p.state_floats), of.slots.at[0]};
  }
  if (!kv.has_pages(part)) return {};
  const KvLayout& l = kv.formats(part);
  return {l.k, l.v, window, static_cast<uint32_t>(l.page_bytes), of.pages[kv.class_of[part]]};
}

bool Cache::begin_at(uint32_t part, const CachePart& said, uint32_t length, CacheBegin* saved) const {
  if (is_state(part)) {
    const uint32_t at[kMaxMarks] = {said.first, said.k_format, said.v_format};
    bool right = at[0] <= length && (at[1] || !at[2]);
    for (uint32_t m = 1; m < kMaxMarks; ++m) right &= at[m] == 0 || (at[m] > at[m - 1] && at[m] <= length);
    for (uint32_t m = 0; m < kMaxMarks; ++m) {
      right &= part == kv.n_layers || at[m] == saved->slots.at[m];
      saved->slots.at[m] = at[m];
    }
    return right;
  }
  if (!kv.has_pages(part)) return said.first == 0;
  const uint32_t c = kv.class_of[part];
  if (said.first < kv.classes[c].keep_pages || kv.gone(c, said.first, length)) return false;
  if (kv.first_of_class(c) != part && said.first != saved->pages[c]) return false;
  saved->pages[c] = said.first;
  return true;
}

bool Cache::keep(const CacheBegin& saved, uint32_t length, CacheBegin* kept) const {
  *kept = saved;
  for (uint32_t layer = 0; layer < kv.n_layers; ++layer)
    if (const uint32_t c = kv.class_of[layer]; kv.has_pages(layer)) kept->pages[c] = kv.first_kept(c, saved.pages[c], length);
  return !slots.any() || slots.keep(saved.slots, length, &kept->slots);
}

bool Cache::gone(const CacheBegin& of, uint32_t length) const {
  for (uint32_t c = 0; c < kv.n_classes; ++c)
    if (kv.gone(c, of.pages[c], length)) return true;
  return slots.any() && of.slots.at[0] > length;
}

uint64_t Cache::saved_bytes(uint32_t part, uint32_t length, const CacheBegin& of) const {
  if (is_state(part)) return slots.saved_bytes(layer_of(part), length, of.slots);
  return kv.owns(part) ? kv.saved_bytes(part, length, of.pages) : 0;
}

void Cache::save(uint32_t seq, uint32_t part, uint32_t length, SavedTo& to) const {
  if (is_state(part))
    slots.save(seq, layer_of(part), to);
  else if (kv.owns(part))
    kv.save(seq, part, length, to);
}

bool Cache::can_restore(uint32_t seq, uint32_t length, const CacheBegin& of) const { return kv.can_restore(seq, length, of.pages); }

void Cache::restore(uint32_t seq, uint32_t length, const CacheBegin& of) {
  kv.restore(seq, length, of.pages);
  if (slots.any()) slots.restore(seq, length, of.slots);
}

void Cache::load(uint32_t seq, uint32_t part, uint32_t length, const CacheBegin& saved, const uint8_t* from) {
  if (is_state(part))
    slots.load(seq, layer_of(part), saved.slots, from);
  else if (kv.owns(part))
    kv.load(seq, part, length, saved.pages, from);
}

size_t Cache::piece_bytes() const {
  size_t most = slots.any() ? kSlotPiece : 0;
  for (uint32_t c = 0; c < kv.n_classes; ++c)
    for (const size_t piece : {kv.classes[c].layout.page_bytes, kv.sink_bytes(c)}) most = piece > most ? piece : most;
  return most;
}

uint64_t Cache::read_bytes(uint32_t length) const { return kv.read_bytes(length) + slots.read_bytes(); }

}  // namespace linnet
