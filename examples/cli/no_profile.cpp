// In place of linnet::profile in a tool that is built without libyaml.
#include <cstdio>

#include "cli.h"

namespace {

linnet_status refuse(linnet_error* err) {
  if (err) {
    err->code = LINNET_UNSUPPORTED;
    std::snprintf(err->text, sizeof err->text, "this linnet was built without libyaml, so that it reads no device profiles");
  }
  return LINNET_UNSUPPORTED;
}

}  // namespace

extern "C" {

linnet_status linnet_profile_read(const char*, const linnet_board*, linnet_profile*, linnet_match*, linnet_error* err) {
  return refuse(err);
}

linnet_status linnet_profile_pick(const char*, const linnet_board*, linnet_profile*, char*, size_t, linnet_match*, linnet_error* err) {
  return refuse(err);
}

}  // extern "C"
