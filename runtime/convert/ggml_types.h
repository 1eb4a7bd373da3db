// Values of GGML's tensor types as floats.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../format.h"

namespace linnet::convert {

// The format that has blocks of this GgmlTypeId as they are: of the same name; else LINNET_FORMAT_DEFAULT.
Format format_of_ggml(uint32_t type);
// Whether ggml_values knows this GgmlTypeId.
bool ggml_readable(uint32_t type);
// n values (a multiple of the type's block) at `data` -> out, each by the operations of the type's definition in f32. `data` needs no
// alignment.
void ggml_values(uint32_t type, const uint8_t* data, size_t n, float* out);

}  // namespace linnet::convert
