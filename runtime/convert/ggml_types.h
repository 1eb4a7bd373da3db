// GGML's tensor types: their values as floats, and formats that GGUF files have under names of their own.
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
// The same of blocks of a format of kind LINNET_BLOCKS with those outer factors.
void block_values(Format f, const uint8_t* data, size_t n_blocks, const float outer[2], float* out);

// A format as GGUF files have it: its name there, the GgmlTypeId of its tensors, and general.file_type where most matrices have it.
struct PlainForm {
  Format format;
  const char* name;
  uint32_t type, file_type;
};
// nullptr: they do not have it.
const PlainForm* plain_form(Format f);

}  // namespace linnet::convert
