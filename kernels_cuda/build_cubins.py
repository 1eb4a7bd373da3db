#!/usr/bin/env python3
"""Compiles all of kernels_cuda/*.cu for one GPU by NVRTC: build_cubins.py --arch 87 --out FOLDER [--nvrtc FOLDER]

Writes linnet_87.cubin and linnet_87.json (registers, spills and shared memory of every kernel) and, with 80, linnet_80.ptx. --find only says which NVRTC would compile.
NVRTC is a library of its own: neither nvcc nor CUDA's headers, nor a GPU. GPUs up to sm_90 are compiled by NVRTC 12.x, since drivers of CUDA 12 (JetPack 6) refuse what 13.x makes.
"""
import argparse
import ctypes
import glob
import hashlib
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = {12: ("nvidia-cuda-nvrtc-cu12==12.6.85", "nvidia/cuda_nvrtc/lib"), 13: ("nvidia-cuda-nvrtc==13.0.88", "nvidia/cu13/lib")}


def find_nvrtc(major, folder):
    name = "libnvrtc.so.%d" % major
    places = [folder, os.path.join(folder, PACKAGES[major][1])] if folder else [os.path.join(p, PACKAGES[major][1]) for p in sys.path]
    for place in places:
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    sys.exit("no %s in %s: pip install %s" % (name, folder or "Python's packages", PACKAGES[major][0]))


class Nvrtc:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = "%d.%d" % (major.value, minor.value)

    def call(self, name, *args):
        result = getattr(self.lib, name)(*args)
        if result != 0:
            raise RuntimeError("%s: %s" % (name, self.lib.nvrtcGetErrorString(result).decode()))

    def bytes_of(self, program, what):
        n = ctypes.c_size_t()
        self.call("nvrtcGet%sSize" % what, program, ctypes.byref(n))
        out = ctypes.create_string_buffer(n.value)
        self.call("nvrtcGet" + what, program, out)
        return out.raw

    def compile(self, source, options):
        """-> cubin, PTX, log; None, None, log where the source is wrong"""
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"linnet.cu", 0, None, None)
        ok = self.lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options])) == 0
        log = self.bytes_of(program, "ProgramLog").rstrip(b"\0").decode()
        return (self.bytes_of(program, "CUBIN"), self.bytes_of(program, "PTX").rstrip(b"\0"), log) if ok else (None, None, log)


def kernels_of(log, ptx):
    """What ptxas says of every kernel, and the threads of a block that it is compiled for."""
    kernels = {}
    one = None
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            one = kernels.setdefault(m[1], {"registers": None, "stack": 0, "spill_stores": None, "spill_loads": None, "shared": 0, "barriers": 0})
        elif m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if one and one["spill_stores"] is None:
                one["stack"], one["spill_stores"], one["spill_loads"] = int(m[1]), int(m[2]), int(m[3])
        elif m := re.search(r"Used (\d+) registers", line):
            one["registers"] = int(m[1])
            for field, pattern in (("shared", r"(\d+) bytes smem"), ("barriers", r"used (\d+) barriers")):
                if m := re.search(pattern, line):
                    one[field] = int(m[1])
    for m in re.finditer(r"\.entry (\w+)\([^)]*\)([^{]*)\{", ptx):
        bound = re.search(r"\.maxntid (\d+)", m[2])
        kernels[m[1]]["threads"] = int(bound[1]) if bound else 1024
    return kernels


def source_of(units):
    """All units as one, each with names of its own: what two of them define by one name does not clash. What they include comes first, as it is."""
    text = {os.path.splitext(os.path.basename(u))[0]: open(u).read() for u in units}
    headers = sorted({h for t in text.values() for h in re.findall(r'^#include "(.+)"', t, re.M)})
    out = ['#include "%s"' % h for h in headers] + ["namespace linnet {}"]
    for name in text:
        out += ["namespace linnet_%s { using namespace linnet; }" % name, "#define linnet linnet_%s" % name, '#include "%s.cu"' % name, "#undef linnet"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, required=True)
    parser.add_argument("--out")
    parser.add_argument("--nvrtc", default="", help="folder with libnvrtc.so.12 or .13, or into which pip installed them with --target")
    parser.add_argument("--find", action="store_true")
    args = parser.parse_args()
    path = find_nvrtc(12 if args.arch <= 90 else 13, args.nvrtc)
    nvrtc = Nvrtc(path)
    if args.find:
        print("NVRTC %s for sm_%d: %s" % (nvrtc.version, args.arch, path))
        return 0
    units = sorted(glob.glob(os.path.join(HERE, "*.cu")))
    options = ["--gpu-architecture=sm_%d" % args.arch, "--std=c++17", "-fmad=false", "-I" + HERE, "--ptxas-options=-v", "-diag-suppress=177"]  # 177: functions that are not used
    state = hashlib.sha256(repr((nvrtc.version, options)).encode())
    for f in units + sorted(glob.glob(os.path.join(HERE, "*.h"))) + [os.path.abspath(__file__)]:
        with open(f, "rb") as file:
            state.update(os.path.basename(f).encode() + b"\0" + file.read())
    out = os.path.join(args.out, "linnet_%d" % args.arch)
    files = [out + ".cubin"] + ([out + ".ptx"] if args.arch == 80 else []) + [out + ".json"]
    try:  # several build folders may share one of cubins
        with open(out + ".json") as file:
            if json.load(file)["made_of"] == state.hexdigest() and all(os.path.exists(f) for f in files):
                for f in files:
                    os.utime(f)
                return 0
    except (OSError, ValueError, KeyError):
        pass
    start = time.time()
    cubin, ptx, log = nvrtc.compile(source_of(units), options)
    said = "\n".join(line for line in log.splitlines() if not line.startswith("ptxas ") and line.strip())
    if said:
        print(said, file=sys.stderr)
    if cubin is None:
        return 1
    report = {"arch": args.arch, "nvrtc": nvrtc.version, "bytes": len(cubin), "seconds": round(time.time() - start, 2), "made_of": state.hexdigest(), "kernels": kernels_of(log, ptx.decode())}
    os.makedirs(args.out, exist_ok=True)
    for f, data in zip(files, [cubin] + ([ptx] if args.arch == 80 else []) + [json.dumps(report, indent=1).encode()]):
        with open(f + ".tmp", "wb") as file:
            file.write(data)
        os.replace(f + ".tmp", f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
