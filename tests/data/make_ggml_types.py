"""Makes ggml_types.bin, the vectors of test_gguf's "GGML types": python3 make_ggml_types.py (needs numpy and gguf 0.19 from PyPI).

A record for each type, little-endian: u32 type, u32 blocks, u32 bytes, u32 values, the bytes, the values as f32 by gguf.quants.
"""
import os
import struct

import gguf
import numpy as np

BLOCKS = 8
TYPES = ("F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4 NVFP4 TQ1_0 TQ2_0 IQ2_XXS IQ2_XS IQ2_S IQ3_XXS "
         "IQ3_S IQ1_S IQ1_M").split()
# Where a block holds f16 numbers: random bits there would often be infinite.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [], "NVFP4": [], "IQ1_M": []}
# The last is subnormal in f16.
SCALES = [0.0123, -1.5, 0.0, 60000.0, 3.1e-4, -1.0, 65504.0, 2.4e-7]


def block(name, size, index, rng):
    if name == "F32":
        return struct.pack("<f", [1.5, -2.25e-40, 0.0, 3e38, -1e-3, 7.0, -0.0, 1e-45][index])
    if name == "F16":
        return np.float16(SCALES[index]).tobytes()
    if name == "BF16":
        return struct.pack("<f", [1.5, -2.25e-40, 0.0, 3e38, -1e-3, 7.0, -0.0, 1e-45][index])[2:]
    data = bytearray(rng.integers(0, 256, size, dtype=np.uint8).tobytes())
    if index == 1:  # the largest codes, and the smallest
        data[:] = b"\xff" * (size // 2) + b"\x00" * (size - size // 2)
    if name == "MXFP4":
        data[0] = [0, 1, 2, 120, 127, 130, 252, 3][index]
    if name == "NVFP4":
        data[:4] = [[0, 1, 7, 8], [0x38, 0x7E, 0x7F, 0x40], [0x80, 0xFF, 0xFE, 0xB1], [3, 2, 5, 6]][index % 4]
    if name == "IQ1_M" and index != 1:  # an f16 in four parts
        bits = int.from_bytes(np.float16(SCALES[index]).tobytes(), "little")
        for i in range(4):
            data[49 + 2 * i] = data[49 + 2 * i] & 15 | (bits >> (4 * i) & 15) << 4
    for i, at in enumerate(HALVES.get(name, [0])):
        data[at : at + 2] = np.float16(SCALES[(index + i) % len(SCALES)]).tobytes()
    return bytes(data)


def main():
    rng = np.random.default_rng(3)
    out = b""
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        _, size = gguf.GGML_QUANT_SIZES[kind]
        data = b"".join(block(name, size, i, rng) for i in range(BLOCKS))
        values = gguf.quants.dequantize(np.frombuffer(data, np.uint8).reshape(BLOCKS, size) if size > 4 or name == "BF16" else
                                        np.frombuffer(data, {"F32": np.float32, "F16": np.float16}[name]), kind)
        values = np.ascontiguousarray(values, np.float32).reshape(-1)
        assert np.isfinite(values).all(), name
        out += struct.pack("<4I", int(kind), BLOCKS, len(data), values.size) + data + values.tobytes()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ggml_types.bin"), "wb") as f:
        f.write(out)


main()
