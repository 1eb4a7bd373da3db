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

class Arena {
 public:
  Arena() = default;  // counts only
  Arena(void* mem, size_t bytes) : base_(static_cast<uint8_t*>(mem)), limit_(bytes) {}

  // n objects of T for `purpose` (a string literal), aligned to 64; nullptr while counting. Rows of one purpose are summed.
  template <class T>
  T* take(const char* purpose, uint64_t n) {
    uint64_t bytes = 0;
    if (!checked_mul(n, sizeof(T), &bytes) || !checked_add(bytes, kAlign - 1, &bytes)) {
      overflow_ = true;
      return nullptr;
    }
    bytes = bytes / kAlign * kAlign;
    uint64_t end = 0;
    if (!checked_add(used_, bytes, &end) || end > limit_) {
      overflow_ = true;
      return nullptr;
    }
    T* p = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    used_ = static_cast<size_t>(end);
    note(purpose, static_cast<size_t>(bytes));
    return p;
  }

  size_t used() const { return used_; }
  bool ok() const { return !overflow_; }
  bool counting() const { return base_ == nullptr; }
  uint32_t n_rows() const { return n_rows_; }
  const ArenaRow& row(uint32_t i) const { return rows_[i]; }

 private:
  void note(const char* purpose, size_t bytes) {
    for (uint32_t i = 0; i < n_rows_; ++i)
      if (std::string_view(rows_[i].purpose) == purpose) {
        rows_[i].bytes += bytes;
        return;
      }
    if (n_rows_ < kMaxRows) rows_[n_rows_++] = {purpose, bytes};
  }

  static constexpr uint32_t kMaxRows = 16;
  uint8_t* base_ = nullptr;
  size_t limit_ = SIZE_MAX, used_ = 0;
  bool overflow_ = false;
  uint32_t n_rows_ = 0;
  ArenaRow rows_[kMaxRows] = {};
};

}  // namespace linnet
