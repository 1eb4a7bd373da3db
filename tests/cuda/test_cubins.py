#!/usr/bin/env python3
"""The device code that build_cubins.py made: every kernel of kernel_list.h for every GPU, none with spills, none that a GPU could not hold. test_cubins.py FOLDER SOURCES"""
import json
import pathlib
import re
import sys

# Per SM: registers, threads, blocks, shared memory; shared memory of a block at most. CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
LIMITS = {
    80: (65536, 2048, 32, 164 << 10, 163 << 10),
    87: (65536, 1536, 16, 164 << 10, 163 << 10),
    90: (65536, 2048, 32, 228 << 10, 227 << 10),
    110: (65536, 1536, 24, 228 << 10, 227 << 10),
}
NVRTC = {80: "12.", 87: "12.", 90: "12.", 110: "13."}  # JetPack 6's driver takes nothing newer; sm_110 is in nothing older
SMS = 8  # of Orin Nano, the smallest


def blocks_of(arch, k):
    """How many blocks of the kernel an SM holds: registers go to warps by 256, shared memory by 128 bytes and 1 KiB of the system's."""
    registers, threads, blocks, shared, _ = LIMITS[arch]
    warps = (k["threads"] + 31) // 32
    per_warp = (k["registers"] * 32 + 255) // 256 * 256
    per_block = (k["shared"] + 127) // 128 * 128 + 1024
    return min(registers // per_warp // warps, threads // (warps * 32), blocks, shared // per_block)


def main():
    folder, sources = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    listed = set(re.findall(r"\bX\((\w+)\)", re.sub(r"#define \w+\(X\)", "", (sources / "kernel_list.h").read_text())))
    wrong = []
    ptx = (folder / "linnet_80.ptx").read_text()
    if not re.search(r"^\.version 8\.[0-5]$", ptx, re.M):
        wrong.append("linnet_80.ptx: a version that images.cpp does not speak of: " + re.search(r"^\.version.*", ptx, re.M)[0])
    for arch, (registers, threads, _, _, block_shared) in LIMITS.items():
        report = json.loads((folder / ("linnet_%d.json" % arch)).read_text())
        cubin = (folder / ("linnet_%d.cubin" % arch)).read_bytes()
        kernels = report["kernels"]
        print("sm_%d: NVRTC %s, %d kernels, %d bytes, compiled in %.1f s" % (arch, report["nvrtc"], len(kernels), len(cubin), report["seconds"]))
        if not report["nvrtc"].startswith(NVRTC[arch]):
            wrong.append("sm_%d: made by NVRTC %s, not %sx" % (arch, report["nvrtc"], NVRTC[arch]))
        if cubin[:4] != b"\x7fELF" or len(cubin) != report["bytes"]:
            wrong.append("sm_%d: no cubin, or another one than the report is of" % arch)
        if kernels.keys() != listed:
            wrong.append("sm_%d: kernels that are on one side of kernel_list.h alone: %s" % (arch, ", ".join(sorted(kernels.keys() ^ listed))))
        for name, k in sorted(kernels.items()):
            blocks = blocks_of(arch, k)
            print("  %-28s %3d threads %3d registers %6d bytes shared %5d stack: %2d blocks an SM, %3d on %d, %3d %% of the threads" %
                  (name, k["threads"], k["registers"], k["shared"], k["stack"], blocks, blocks * SMS, SMS, 100 * blocks * k["threads"] // threads))
            if k["spill_stores"] or k["spill_loads"]:
                wrong.append("sm_%d: %s spills %d bytes to memory and %d back" % (arch, name, k["spill_stores"], k["spill_loads"]))
            if k["registers"] * k["threads"] > registers or blocks < 1:
                wrong.append("sm_%d: %s does not fit an SM" % (arch, name))
            if k["shared"] > 48 << 10 or k["shared"] > block_shared:  # more can be asked for at launch alone
                wrong.append("sm_%d: %s: %d bytes of shared memory" % (arch, name, k["shared"]))
            if (".text.%s\0" % name).encode() not in cubin or ".entry %s(" % name not in ptx:
                wrong.append("sm_%d: %s is not in the cubin or not in the PTX" % (arch, name))
    for line in wrong:
        print("wrong: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
