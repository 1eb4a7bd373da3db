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

bool Cache::can_truncate(uint32_t seq, uint32_t keep) const {
  return keep == 0 || (kv.can_truncate(seq, keep) && (!slots.any() || slots.can_truncate(seq, keep)));
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
  if (slots.any()) of.slots = slots.slots[seq].marks[0].at;
  return of;
}

CachePart Cache::part(uint32_t part, const CacheBegin& of) const {
  if (is_state(part)) return {0, 0, static_cast<uint32_t>(slots.layers[layer_of(part)].plan.state_floats * sizeof(float)), of.slots};
  if (!kv.has_pages(part)) return {};
  const KvLayout& l = kv.formats(part);
  return {l.k, l.v, static_cast<uint32_t>(l.page_bytes), of.pages[kv.class_of[part]]};
}

bool Cache::begin_at(uint32_t part, uint32_t first, uint32_t length, CacheBegin* saved, CacheBegin* kept) const {
  if (is_state(part)) {
    if (!slots.fits(first, length) || (part > kv.n_layers && first != saved->slots)) return false;
    saved->slots = kept->slots = first;
    return true;
  }
  if (!kv.has_pages(part)) return first == 0;
  const uint32_t c = kv.class_of[part];
  if (first < kv.classes[c].keep_pages || kv.gone(c, first, length)) return false;
  if (kv.first_of_class(c) != part && first != saved->pages[c]) return false;
  saved->pages[c] = first;
  kept->pages[c] = kv.first_kept(c, first, length);
  return true;
}

bool Cache::gone(const CacheBegin& of, uint32_t length) const {
  for (uint32_t c = 0; c < kv.n_classes; ++c)
    if (kv.gone(c, of.pages[c], length)) return true;
  return slots.any() && of.slots > length;
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
    slots.load(seq, layer_of(part), from);
  else if (kv.owns(part))
    kv.load(seq, part, length, saved.pages, from);
}

uint64_t Cache::read_bytes(uint32_t length) const { return kv.read_bytes(length) + slots.read_bytes(); }

}  // namespace linnet
