// config.json of a Hugging Face folder -> ModelSpec.
#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "../architectures.h"

namespace linnet::convert {

inline constexpr size_t kConfigMaxBytes = size_t{16} << 20;

// Reads what published files hold (rope_theta, rope_scaling, torch_dtype) and what newer transformers write (rope_parameters, layer_types,
// dtype); absent keys mean what transformers takes for them. A key that linnet does not know is an error by name, because it may change
// the arithmetic. label names the file in error texts.
// Of layers that differ as no field of the spec says it nothing is told (spec.layer_values).
Status spec_from_config(std::string_view text, const char* label, ModelSpec* out, Error* err);

// The same, and what config.json holds that packed files have as vectors.
struct HfConfig {
  ModelSpec spec = {};
  const Architecture* architecture = nullptr;
  HfNames names = {};                               // of its tensors
  std::shared_ptr<void> layers;                     // what spec.layer_values points to
  bool headless = false;                            // of the class without an LM head, which its files then may lack
  uint32_t n_extra_layers = 0;                      // behind the last, to guess tokens further on: nothing here computes them
  std::vector<float> alibi, rope_short, rope_long;  // kAlibi, kRopeShort, kRopeLong
  // What row `row` of a tensor is multiplied by, first the one, then the other; or empty.
  std::function<std::pair<float, float>(Role role, uint32_t row)> factors;
};
Status read_config(std::string_view text, const char* label, HfConfig* out, Error* err);

}  // namespace linnet::convert
