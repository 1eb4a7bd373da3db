// Structs of the ABI that carry their size: the caller may have been compiled with older or newer headers.
#pragma once
#include <cstring>

#include "../platform/status.h"

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

}  // namespace linnet
