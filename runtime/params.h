// What the ABI checks of every call: pointers, memory, and structs that carry their size, since the caller may have been compiled with
// older or newer headers.
#pragma once
#include <cstddef>
#include <cstring>

#include "../platform/arena.h"
#include "../platform/status.h"

#define LINNET_NEED_ARG(p) \
  if (!(p)) return ::linnet::fail(err, LINNET_BAD_ARG, __func__, ": " #p " is NULL")

namespace linnet {

// What a struct may have grown to until it is no struct of ours: a size that was never set is seldom below that.
inline constexpr uint32_t kMostBeyond = 4096;

// What a newer caller wishes beyond what is known here is refused, not dropped.
inline Status check_size(const void* in, uint32_t size, size_t known, const char* what, Error* err) {
  if (size < sizeof size || size > known + kMostBeyond)
    return fail(err, LINNET_BAD_ARG, what, ": size is ", size, ", of this version ", known);
  for (size_t i = known; i < size; ++i)
    if (static_cast<const uint8_t*>(in)[i])
      return fail(err, LINNET_BAD_ARG, what, ": something is set at byte ", i, ", which only a newer linnet knows: this one reads ", known);
  return LINNET_OK;
}

// A struct that the caller fills. Fields beyond its size are not said; NULL: none is.
template <class T>
Status read_params(const T* in, const char* what, T* out, Error* err) {
  *out = {};
  if (in) {
    LINNET_TRY(check_size(in, in->size, sizeof *out, what, err));
    std::memcpy(out, in, in->size < sizeof *out ? in->size : sizeof *out);
  }
  out->size = sizeof *out;
  return LINNET_OK;
}

// A struct that we fill.
template <class T>
Status check_out(const T* out, const char* what, Error* err) {
  return out->size >= sizeof(uint32_t) ? LINNET_OK
                                       : fail(err, LINNET_BAD_ARG, what, ": size is ", out->size, ": it is set before the call");
}
template <class T>
Status write_out(const T& in, T* out, const char* what, Error* err) {
  LINNET_TRY(check_out(out, what, err));
  const uint32_t size = out->size < sizeof in ? out->size : static_cast<uint32_t>(sizeof in);
  std::memcpy(out, &in, size);
  out->size = size;
  return LINNET_OK;
}

// Element i of an array of structs that was checked.
template <class T>
T element(const T* array, uint32_t i) {
  T out{};
  const uint32_t stride = array->size;
  std::memcpy(&out, reinterpret_cast<const uint8_t*>(array) + size_t{i} * stride, stride < sizeof out ? stride : sizeof out);
  return out;
}
// ... before that. Their distance is the size of the first one, whose distance is the size of the first.
template <class T>
Status read_element(const T* array, uint32_t i, const char* what, T* out, Error* err) {
  *out = {};
  if (array->size < sizeof(uint32_t) || (i && array->size % alignof(T))) return fail(err, LINNET_BAD_ARG, what, ": size is ", array->size);
  const T* in = reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(array) + size_t{i} * array->size);
  if (in->size != array->size) return fail(err, LINNET_BAD_ARG, what, "[", i, "]: size is ", in->size, ", of the first ", array->size);
  return read_params(in, what, out, err);
}

// Of things in the app's memory: where no memory holds so many, none is read.
inline Status check_count(size_t n, size_t each, const char* what, Error* err) {
  return n <= PTRDIFF_MAX / each ? LINNET_OK : fail(err, LINNET_BAD_ARG, what, " is ", n, ": more than memory can hold");
}

inline Status check_memory(const void* mem, Error* err) {
  return reinterpret_cast<uintptr_t>(mem) % kAlign == 0 ? LINNET_OK
                                                        : fail(err, LINNET_BAD_ARG, "memory is not aligned to ", kAlign, " bytes");
}

inline Status write_need(linnet_need* out, size_t bytes, size_t beside, Error* err) {
  if (!out) return fail(err, LINNET_BAD_ARG, "need: out is NULL");
  return write_out<linnet_need>({sizeof *out, kAlign, bytes, beside}, out, "need", err);
}

}  // namespace linnet
