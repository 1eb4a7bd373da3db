// The boundary of the two libraries that use the C++ library and its heap, convert and profile: what is thrown inside ends here, as a
// status.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>

#include "../platform/status.h"

namespace linnet {

// fn(), or LINNET_NO_MEMORY where an allocation fails in it. `what` is what it is about: a path, a function.
template <class Fn>
Status guarded(PathName what, Error* err, const Fn& fn) noexcept {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than a string or vector can hold at all
  } catch (const std::exception& e) {
    return fail(err, LINNET_BAD_STATE, what, ": ", e.what());
  }
  return fail(err, LINNET_NO_MEMORY, what, ": out of memory");
}

}  // namespace linnet
