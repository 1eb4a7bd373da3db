// GGUF v3 reader over bytes in memory: every count, length, offset and depth is checked before it is used; no heap.
// Packed files and plain ones of other makers go through the same reader.
#pragma once
#include <cstdint>
#include <string_view>

#include "../platform/reader.h"
#include "../platform/status.h"

namespace linnet {

enum GgufType : uint32_t {
  kGgufU8 = 0,
  kGgufI8 = 1,
  kGgufU16 = 2,
  kGgufI16 = 3,
  kGgufU32 = 4,
  kGgufI32 = 5,
  kGgufF32 = 6,
  kGgufBool = 7,
  kGgufString = 8,
  kGgufArray = 9,
  kGgufU64 = 10,
  kGgufI64 = 11,
  kGgufF64 = 12,
};

// Tensor element types of GGML: name, values per block, bytes per block. name == nullptr: no such type; values == 0: a type of GGML's
// that linnet knows by name only.
struct GgmlType {
  const char* name;
  uint32_t values, bytes;
};
enum GgmlTypeId : uint32_t {
  kGgmlF32 = 0,
  kGgmlF16 = 1,
  kGgmlQ4_0 = 2,
  kGgmlQ4_1 = 3,
  kGgmlQ5_0 = 6,
  kGgmlQ5_1 = 7,
  kGgmlQ8_0 = 8,
  kGgmlQ2_K = 10,
  kGgmlQ3_K = 11,
  kGgmlQ4_K = 12,
  kGgmlQ5_K = 13,
  kGgmlQ6_K = 14,
  kGgmlIQ2_XXS = 16,
  kGgmlIQ2_XS = 17,
  kGgmlIQ3_XXS = 18,
  kGgmlIQ1_S = 19,
  kGgmlIQ4_NL = 20,
  kGgmlIQ3_S = 21,
  kGgmlIQ2_S = 22,
  kGgmlIQ4_XS = 23,
  kGgmlI8 = 24,
  kGgmlIQ1_M = 29,
  kGgmlBF16 = 30,
  kGgmlTQ1_0 = 34,
  kGgmlTQ2_0 = 35,
  kGgmlMXFP4 = 39,
  kGgmlNVFP4 = 40,
};
GgmlType ggml_type(uint32_t id);
// Bytes of one scalar of a GgufType; 0 for strings, arrays and unknown types.
uint32_t gguf_scalar_bytes(uint32_t type);

// One key's value. Scalars are in u/i/f by type; strings in text; arrays in raw with count and element type.
struct GgufValue {
  uint32_t type = 0;
  uint64_t u = 0;  // unsigned and bool; for signed the two's complement
  int64_t i = 0;
  double f = 0;
  std::string_view text;
  uint32_t array_type = 0;
  uint64_t count = 0;
  std::string_view raw;  // bytes of the array's elements

  bool is_uint(uint64_t* out) const;  // any integer type that is not negative
  bool is_number(double* out) const;  // any integer or float
};
// Walks an array of strings; the reader has checked all lengths. Start with *pos = 0.
bool gguf_next_string(const GgufValue& array, size_t* pos, std::string_view* out);

struct GgufTensor {
  std::string_view name;
  uint32_t n_dims = 0;
  uint64_t dims[4] = {1, 1, 1, 1};  // dims[0] is the fastest: for a matrix (n, k): dims = {k, n}
  uint32_t type = 0;                // GgmlTypeId
  uint64_t offset = 0, bytes = 0;   // in the file
  const uint8_t* data = nullptr;
};

inline constexpr uint32_t kGgufMaxKeys = 8192, kGgufMaxTensors = 8192, kGgufMaxEntries = 10240 /* both together */, kGgufMaxName = 255,
                          kGgufMaxArrayDepth = 1;
inline constexpr uint32_t kGgufMaxAlignment = 65536;

// An opened file: a view plus two sorted indexes of entry positions, so that look-ups are binary searches. About 40 KiB, whatever the
// file: it lives on the stack of linnet_model_need, which takes less than 64 KiB of it.
struct Gguf {
  const uint8_t* data = nullptr;
  size_t bytes = 0;
  PathName label = "file";  // for error texts
  uint32_t version = 0, alignment = 32;
  uint32_t n_keys = 0, n_tensors = 0;
  uint64_t data_offset = 0;      // where tensor data begins
  uint32_t at[kGgufMaxEntries];  // positions of the keys' entries, then of the tensors', each sorted by name (a header ends below 4 GiB)
  const uint32_t* key_at() const { return at; }
  const uint32_t* tensor_at() const { return at + n_keys; }
  bool key(std::string_view name, GgufValue* out) const;
  bool tensor(std::string_view name, GgufTensor* out) const;
  void key_entry(uint32_t i, std::string_view* name, GgufValue* out) const;  // i < n_keys, in order of names
  void tensor_entry(uint32_t i, GgufTensor* out) const;                      // i < n_tensors, in order of names
};

// Checks the whole header. On failure *out is unusable. label names the file in error texts and must outlive *out.
Status gguf_open(const void* data, size_t bytes, const char* label, Gguf* out, Error* err);

}  // namespace linnet
