// Arena: a bump pointer over the caller's memory. The layout function of an object runs twice, first on an Arena without
// memory (it counts: need), then on real memory (it places: init), so the two cannot disagree.
#pragma once
#include <cstddef>
#include <cstdint>

#include "reader.h"

namespace linnet {

inline constexpr size_t kAlign = 64;

struct ArenaRow {
  const char* purpose;
  size_t bytes;
};

// Memory of a device: several allocations, none larger than a limit.
struct Blocks {
  static constexpr uint32_t kMax = 512;
  static constexpr size_t kAlign = 256;
  uint64_t limit = 0;
  uint32_t n = 0;
  uint64_t bytes[kMax];  // as counted
  uint8_t* base[kMax];
  uint64_t total() const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) sum += bytes[i];
    return sum;
  }
};

class Arena {
 public:
  Arena() = default;  // counts only
  // In blocks: where those have no memory yet their sizes are counted, else things are placed there. One thing lies in one block.
  Arena(Blocks* blocks, bool count) : limit_(SIZE_MAX), blocks_(blocks), counting_(count) {
    if (count) blocks->n = 0;
  }
  Arena(void* mem, size_t bytes) : base_(static_cast<uint8_t*>(mem)), limit_(bytes), counting_(false) {}

  // n objects of T for `purpose` (a string literal), aligned to 64; nullptr while counting. Rows of one purpose are summed.
  template <class T>
  T* take(const char* purpose, uint64_t n) {
    return static_cast<T*>(take_bytes(purpose, n, sizeof(T)));
  }

  uint64_t block_limit() const { return blocks_ ? blocks_->limit : limit_; }
  size_t used() const { return used_; }
  bool ok() const { return !overflow_; }
  bool counting() const { return counting_; }
  uint32_t n_rows() const { return n_rows_; }
  const ArenaRow& row(uint32_t i) const { return rows_[i]; }

 private:
  [[gnu::noinline]] void* take_bytes(const char* purpose, uint64_t n, size_t size) {  // once, not at every place where something is taken
    uint64_t bytes = 0;
    if (!checked_mul(n, size, &bytes) || !checked_add(bytes, kAlign - 1, &bytes)) {
      overflow_ = true;
      return nullptr;
    }
    bytes = bytes / kAlign * kAlign;
    if (blocks_) return take_in_blocks(purpose, bytes);
    uint64_t end = 0;
    if (!checked_add(used_, bytes, &end) || end > limit_) {
      overflow_ = true;
      return nullptr;
    }
    uint8_t* p = base_ ? base_ + used_ : nullptr;
    used_ = static_cast<size_t>(end);
    note(purpose, static_cast<size_t>(bytes));
    return p;
  }
  uint8_t* take_in_blocks(const char* purpose, uint64_t bytes) {
    bytes = align_up(bytes, Blocks::kAlign);
    if (bytes == 0) return nullptr;
    if (bytes > blocks_->limit || bytes > limit_ || used_ > limit_ - bytes) {
      overflow_ = true;
      return nullptr;
    }
    if (!begun_ || bytes > blocks_->limit - in_block_) {
      block_ += begun_;
      begun_ = true;
      in_block_ = 0;
      if (block_ == Blocks::kMax) {
        --block_;
        overflow_ = true;
        return nullptr;
      }
      if (counting_) blocks_->bytes[blocks_->n++] = 0;
    }
    if (!counting_ && (block_ >= blocks_->n || bytes > blocks_->bytes[block_] - in_block_)) {  // more than was counted
      overflow_ = true;
      return nullptr;
    }
    uint8_t* p = counting_ ? nullptr : blocks_->base[block_] + in_block_;
    in_block_ += bytes;
    if (counting_) blocks_->bytes[block_] = in_block_;
    used_ += static_cast<size_t>(bytes);
    note(purpose, static_cast<size_t>(bytes));
    return p;
  }
  void note(const char* purpose, size_t bytes) {
    for (uint32_t i = 0; i < n_rows_; ++i)
      if (rows_[i].purpose == purpose || std::string_view(rows_[i].purpose) == purpose) {
        rows_[i].bytes += bytes;
        return;
      }
    if (n_rows_ < kMaxRows) rows_[n_rows_++] = {purpose, bytes};
  }

  static constexpr uint32_t kMaxRows = 16;
  uint8_t* base_ = nullptr;
  size_t limit_ = SIZE_MAX, used_ = 0;
  bool overflow_ = false;
  Blocks* blocks_ = nullptr;
  bool counting_ = true, begun_ = false;
  uint32_t block_ = 0;
  uint64_t in_block_ = 0;
  uint32_t n_rows_ = 0;
  ArenaRow rows_[kMaxRows] = {};
};

}  // namespace linnet
