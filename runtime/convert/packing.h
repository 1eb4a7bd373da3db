// Packing: the rows of a source's tensor as the bytes that a file has of them, and what rounding did to them.
#pragma once
#include <cmath>

#include "source.h"
#include "workers.h"
#include "writer.h"

namespace linnet::convert {

// Whether the source has a tensor's rows as f holds them.
bool held_blocks(const SourceTensor& t, Format f);
bool held_codes(const SourceTensor& t, Format f);
Status not_made(const SourceTensor& t, Format f, Error* err);  // f is what files have, and this one has something else

// Sums of squares of weights and of what rounding did to them.
struct Squares {
  double weights = 0, errors = 0;
  void add(const float* from, const float* to, size_t n) {
    double w = 0, e = 0;
    for (size_t i = 0; i < n; ++i) {
      const double weight = from[i], error = to[i] - weight;
      w += weight * weight;
      e += error * error;
    }
    weights += w;
    errors += e;
  }
  double error() const { return weights > 0 ? std::sqrt(errors / weights) : 0; }
};
struct Rounding {
  const Options& options;
  Squares all = {};
  WeightError result = {};

  // LINNET_UNSUPPORTED: it changed the tensor by more than options.max_error.
  Status add(const SourceTensor& t, Format format, const Squares& s, Error* err);
};

// Says in the header that the matrix comes packed, as linnet.<name>.
Status plan_packed(const std::string& name, const SourceTensor& t, Format format, GgufBuilder* b, Error* err);
Status write_packed(const SourceTensor& t, Format format, Output* out, Workers* workers, Rounding* rounding, Error* err);
// Blocks of a plain file, by way of the panels that have the same weights.
Status write_blocks(const SourceTensor& t, Format format, Output* out, Rounding* rounding, Error* err);
// Values of F32, F16 or BF16, row by row.
Status write_plain(const SourceTensor& t, Format format, Output* out, Rounding* rounding, Error* err);

}  // namespace linnet::convert
