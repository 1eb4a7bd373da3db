// The one checked reader and the one set of checked-arithmetic helpers: every size, offset and count from outside goes
// through here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace linnet {

// false on overflow; *out is then unspecified.
[[nodiscard]] inline bool checked_add(uint64_t a, uint64_t b, uint64_t* out) { return !__builtin_add_overflow(a, b, out); }
[[nodiscard]] inline bool checked_mul(uint64_t a, uint64_t b, uint64_t* out) { return !__builtin_mul_overflow(a, b, out); }
// offset + bytes <= limit, without overflow.
[[nodiscard]] inline bool fits(uint64_t offset, uint64_t bytes, uint64_t limit) { return bytes <= limit && offset <= limit - bytes; }

constexpr uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }
template <class T>
constexpr T div_up(T v, uint64_t a) {  // never more than v, so that it fits its type
  return static_cast<T>((v + a - 1) / a);
}

// What a clone without Git LFS leaves in place of a large file.
inline bool is_lfs_pointer(const void* data, size_t bytes) {
  constexpr std::string_view kBegin = "version https://git-lfs";
  return bytes >= kBegin.size() && std::memcmp(data, kBegin.data(), kBegin.size()) == 0;
}
inline constexpr const char* kLfsPointer = "a Git LFS pointer, not the file itself: 'git lfs pull' brings it";

// A cursor over bytes, little-endian. Reading past the end fails, returns zeros and stays failed, so a parser may read several
// fields and ask ok() once before it uses them.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const void* data, size_t bytes) : p_(static_cast<const uint8_t*>(data)), n_(bytes) {}

  bool ok() const { return ok_; }
  size_t pos() const { return at_; }
  size_t left() const { return n_ - at_; }
  size_t size() const { return n_; }
  const uint8_t* data() const { return p_; }

  bool skip(uint64_t bytes) {
    if (!ok_ || bytes > left()) return ok_ = false;
    at_ += static_cast<size_t>(bytes);
    return true;
  }
  bool seek(uint64_t pos) {
    if (!ok_ || pos > n_) return ok_ = false;
    at_ = static_cast<size_t>(pos);
    return true;
  }
  template <class T>
  T read() {
    T v{};
    if (!ok_ || sizeof(T) > left()) {
      ok_ = false;
      return v;
    }
    std::memcpy(&v, p_ + at_, sizeof(T));
    at_ += sizeof(T);
    return v;
  }
  // Bytes that stay in the underlying buffer.
  std::string_view view(uint64_t bytes) {
    const size_t from = at_;
    if (!skip(bytes)) return {};
    return {reinterpret_cast<const char*>(p_ + from), static_cast<size_t>(bytes)};
  }

 private:
  const uint8_t* p_ = nullptr;
  size_t n_ = 0, at_ = 0;
  bool ok_ = true;
};

}  // namespace linnet
