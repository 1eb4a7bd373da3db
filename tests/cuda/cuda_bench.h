// Kernels timed on the GPU of cuda_driver(), by its own clock, each held against the limits measured in the same run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace linnet::test {

struct CudaBench {
  struct Shape {
    uint32_t n, k;
  };
  // Of an 8B model.
  std::vector<Shape> shapes = {{4096, 4096}, {14336, 4096}, {4096, 14336}};
  uint32_t rows = 2048, depth = 8192, n_heads = 32, n_kv_heads = 8, head_dim = 128, n_layers = 8;
  uint64_t least_bytes = uint64_t{128} << 20;  // that a timing reads, and five times what the second-level cache holds
  uint64_t read_bytes = uint64_t{256} << 20;
  bool print = true;

  struct Figure {
    std::string what;
    double reached, limit, target;  // GB/s or TOPS; target: of the share
  };
  std::vector<Figure> figures;
  std::string run();  // fills in figures; what went wrong, else ""
};

}  // namespace linnet::test
