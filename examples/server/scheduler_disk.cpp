// Between the prefix cache and the disk: never in the way of a pass for longer than a block takes.
#include <algorithm>
#include <utility>

#include "scheduler.h"

namespace server {
namespace {

constexpr size_t kKeeping = 256;                        // sequences that wait to be written to the disk
constexpr auto kImport = std::chrono::milliseconds(4);  // of what was read from it, between two passes
constexpr auto kFlush = std::chrono::seconds(10);       // for what is not written yet, at the end

}  // namespace

// What was read goes into the prefix cache; a sequence whose pieces are all there, or that gets no more, goes on from them.
bool Scheduler::from_disk() {
  bool worked = false;
  const auto until = Clock::now() + kImport;
  for (const Entry& entry : active_) {
    Active& a = *entry;
    bool more = a.reading && !a.over;
    while (more && Clock::now() < until) {
      DiskCache::Piece piece;
      std::vector<char> bytes;
      const DiskCache::Take take = options_.disk->take(a.reading.get(), &piece, &bytes);
      if (take == DiskCache::Take::kWait) break;
      worked = true;
      if (take == DiskCache::Take::kPiece) {
        linnet_error err = {};
        size_t n = 0;
        const linnet_status status = linnet_prefix_import(prefix_, bytes.data(), bytes.size(), &n, &err);
        if (status == LINNET_BAD_FILE || status == LINNET_UNSUPPORTED) options_.disk->damaged(piece);
        if (status == LINNET_OK && n == piece.n_tokens) continue;
      }
      more = false;
      a.reading = nullptr;
      const size_t before = a.computed;
      a.computed = match(&a);
      const size_t n_more = a.computed > before ? a.computed - before : 0;
      if (!a.job->counts.n_drawn) a.job->counts.n_cached = a.computed;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        status_.n_cached_tokens += n_more;
        status_.n_disk_tokens += n_more;
      }
      go_on(&a);
    }
  }
  return worked;
}

// One block at a time: false where there is none, or no room for it now.
bool Scheduler::to_disk() {
  while (!keeping_.empty()) {
    Keeping& k = keeping_.front();
    linnet_error err = {};
    const size_t end = std::min(k.done + DiskCache::kBlock, k.tokens.size());
    size_t n_bytes = 0, n_tokens = 0;
    const auto exported = [&](void* to, size_t cap) {
      const linnet_status status = linnet_prefix_export(prefix_, k.tokens.data(), end, k.done, to, cap, &n_bytes, &n_tokens, &err);
      return n_tokens == end && status == (to ? LINNET_OK : LINNET_TOO_SMALL);
    };
    if (end == k.done || !exported(nullptr, 0)) {  // done, or it went to make room
      keeping_.pop_front();
      continue;
    }
    DiskCache::Piece piece;
    piece.end = k.hash;
    piece.end.add(k.tokens, k.done, end);
    piece.n_tokens = static_cast<uint32_t>(end);
    piece.kept = end == k.tokens.size();
    piece.used = k.when;
    const DiskCache::Room room = options_.disk->room(piece, n_bytes, bell_);
    if (room == DiskCache::Room::kLater) return false;
    if (room == DiskCache::Room::kYes) {
      std::vector<char> bytes(n_bytes);
      if (exported(bytes.data(), bytes.size())) options_.disk->write(piece, std::move(bytes));
    }
    k.hash = piece.end;
    k.done = end;
    if (room == DiskCache::Room::kYes) return true;
  }
  return false;
}

void Scheduler::flush_disk() {
  const auto until = Clock::now() + kFlush;
  do {
    while (to_disk()) {
    }
  } while (options_.disk->flush(until) && !keeping_.empty());
}

void Scheduler::keep(Active* a) {
  linnet_error err = {};
  size_t n_kept = 0;
  a->kept = a->computed;  // where there is no room for it there will be none a pass later
  if (!prefix_ || !a->job->cache || linnet_prefix_keep(prefix_, session_, a->seq, &n_kept, &err) != LINNET_OK) return;
  n_kept = std::min(n_kept, a->computed);
  if (!options_.disk || n_kept == 0 || a->job->adapted()) return;
  if (keeping_.size() == kKeeping) keeping_.pop_front();
  keeping_.push_back({{a->tokens.begin(), a->tokens.begin() + static_cast<std::ptrdiff_t>(n_kept)}, 0, model_hash_, DiskCache::now()});
}

}  // namespace server
