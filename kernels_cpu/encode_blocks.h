// Blocks of GGUF files from floats (pack.h): one block of each kind, 32 or 256 weights.
#pragma once
#include <cstdint>

namespace linnet {

// false where a scale is too large for its type. x: all below 2^40.
using EncodeBlock = bool(const float* x, uint8_t* to);
EncodeBlock q4_1_block, q5_0_block, q5_1_block, q2_k_block, q3_k_block, q4_k_block, q5_k_block, q6_k_block, iq4_nl_block, iq4_xs_block,
    mxfp4_block, tq1_0_block, tq2_0_block;

}  // namespace linnet
