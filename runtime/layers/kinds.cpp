#include "kinds.h"

namespace linnet {

const LayerKind* const kMixers[] = {
#define LINNET_MIXER(name, roles) &k##name##Kind,
#include "kinds.inc"
};
const LayerKind* const kFeedForwards[] = {
#define LINNET_FEED_FORWARD(name, roles) &k##name##Kind,
#include "kinds.inc"
};

bool same_rows(const Matrix& a, const Matrix& b) {
  return format_row(a.format).x == format_row(b.format).x && format_row(a.format).x_group == format_row(b.format).x_group;
}

}  // namespace linnet
