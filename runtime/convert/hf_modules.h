// What sentence-transformers puts behind a model (modules.json): pooling, dense layers, normalising; and its prompts.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "source.h"

namespace linnet::convert {

struct HfDense {
  std::string folder;  // beside the model's files
  uint32_t n, k;
  bool bias;
};
struct HfModules {
  bool any = false;                 // there is a modules.json
  uint32_t pooling = kPoolingNone;  // Pooling
  bool normalise = false;
  std::vector<HfDense> dense;  // at most two
};
// A module that linnet does not compute, and a setting that changes what one computes, is refused by name.
Status modules_from_folder(const std::string& folder, HfModules* out, Error* err);
// What they are in the spec, whose other fields are there.
Status apply_modules(const HfModules& modules, ModelSpec* spec, Error* err);
// The tensors of the dense layers.
Status add_dense(const std::string& folder, const HfModules& modules, Source* out, Error* err);
// config_sentence_transformers.json; without it nothing.
Status prompts_from_folder(const std::string& folder, EmbedPrompts* out, Error* err);

}  // namespace linnet::convert
