#include "kinds.h"

namespace linnet {

const LayerKind* const kMixers[] = {&kAttentionKind, &kLatentKind};
const LayerKind* const kFeedForwards[] = {&kDenseKind, &kExpertsKind};

bool same_rows(const Matrix& a, const Matrix& b) {
  return format_row(a.format).x == format_row(b.format).x && format_row(a.format).x_group == format_row(b.format).x_group;
}

}  // namespace linnet
