// Where a model's tensors come from while it is loaded: views of its file, checked, hashed and counted, and where its backend has them.
#pragma once
#include "../model.h"
#include "kinds.h"

namespace linnet {

struct ModelHash;

struct Loader {
  const Gguf& file;
  linnet_model* model;
  Error* err;
  ModelHash& hash;
  const Backend& backend;
  WeightsTo& to;
  uint64_t format_bytes[kMaxFormat + 1] = {};  // of the layers
  uint64_t part_bytes[kPartCount] = {}, part_weights[kPartCount] = {};

  // What the model does not have is an empty matrix, or nullptr, and no error.
  Status matrix(Role role, uint32_t layer, Matrix* out, bool for_host = false);
  // A matrix of `count` whose rows lie one below the other, each a multiple of 16.
  Status matrices(Role role, uint32_t count, Matrix* out);
  Status vector(Role role, uint32_t layer, const float** out, bool for_host = false);
  Status norm(Role weight, Role bias, uint32_t layer, Norm* out);
  Status order(Role role, uint32_t layer, const float** out);

 private:
  Status find(Role role, uint32_t layer, Matrix* out);  // in the file
};

}  // namespace linnet
