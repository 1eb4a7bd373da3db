#!/usr/bin/env python3
"""The NEON kernels' inner loops without an ARM board: a table of what llvm-mca says of them.

    mca_table.py [--cxx COMPILER] [--mca LLVM_MCA] > table.md

Compiles kernels_cpu/neon*.cpp to assembly with the build's flags, takes of each integer tile the innermost loop with the most multiply-adds, and
gives instructions and cycles per 64 multiply-adds beside the limit that the core's multiply ports set. LLVM has no model of the Cortex-A76:
its name selects that of the A57. The Neoverse N1 is the same core with a server's caches, and has one.
Fails where sdot on 8-bit codes with four rows or more falls below 0.9 of that limit.
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Multiply-adds of an instruction on all its lanes.
MACS = {"sdot": 16, "smmla": 32, "smull": 8, "smlal": 8, "smull2": 8, "smlal2": 8}
# A multiply of each kind. The port limit is what the model gives for such instructions alone, on 24 registers in turn.
MULTIPLIES = {"smmla": "smmla {0}.4s, v30.16b, v31.16b", "sdot": "sdot {0}.4s, v30.16b, v31.16b", "smull": "smull {0}.8h, v30.8b, v31.8b"}
# llvm-mca's model of a CPU of qemu's.
MODELS = {"cortex-a72": "cortex-a72", "cortex-a76": "neoverse-n1", "": "neoverse-v1", "max": "neoverse-v1"}


def tiers():
    """(name, flags, model) of the tiers for 64-bit ARM that have int_tile, after kernels_cpu/tiers.inc."""
    rows = re.findall(r'^LINNET_TIER\((\w+),.* aarch64,.*"(.*)", *\w+, *"(.*)"\)$', (ROOT / "kernels_cpu" / "tiers.inc").read_text(), re.M)
    flags = []
    for name, more, cpu in rows:
        flags = flags + more.split()
        if "LINNET_CODES" in (ROOT / "kernels_cpu" / f"{name}.cpp").read_text():
            yield name, flags, MODELS[cpu]


def functions(asm):
    """(name, lines) of each function of an assembly file."""
    name, lines = None, []
    for line in asm.splitlines():
        m = re.match(r"(_Z\w+):", line)
        if m:
            name, lines = m[1], []
        elif name and re.match(r"\s*\.size\s", line):
            yield name, lines
            name = None
        elif name:
            lines.append(line)


def macs_of(line):
    m = re.match(r"\s+([a-z]\w+)\s", line)
    return MACS.get(m[1], 0) if m else 0


def loops(lines):
    """The innermost loops: from a label to a branch back to it, with no other such pair inside."""
    labels, pairs = {}, []
    for i, line in enumerate(lines):
        if m := re.match(r"(\.L\w+):", line):
            labels[m[1]] = i
        elif (m := re.match(r"\s+(?:b|cbn?z|tbn?z)[\w.]*\s.*?(\.L\w+)$", line)) and m[1] in labels:
            pairs.append((labels[m[1]], i))
    for a, b in pairs:
        if not any(a <= c and d <= b and (a, b) != (c, d) for c, d in pairs):
            yield [x for x in lines[a + 1:b + 1] if re.match(r"\s+[a-z]", x) or re.match(r"\.L\w+:", x)]


def mca(args, cpu, block):
    out = subprocess.run([args.mca, "-mtriple=aarch64", f"-mcpu={cpu}", "-mattr=+dotprod,+i8mm", "-iterations=200"], input="\n".join(block) + "\n", text=True, capture_output=True, check=True).stdout
    return int(re.search(r"Instructions:\s+(\d+)", out)[1]) / 200, int(re.search(r"Total Cycles:\s+(\d+)", out)[1]) / 200


def table(args, tier, flags, cpu):
    """(codes, rows, share, line) of each tile of a tier."""
    limit = {}
    for kind, multiply in MULTIPLIES.items():
        block = ["\t" + multiply.format(f"v{i}") for i in range(24)]
        limit[kind] = sum(map(macs_of, block)) / mca(args, cpu, block)[1]
    asm = subprocess.run([args.cxx, "-std=c++20", "-O3", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-asynchronous-unwind-tables", *flags,
                          "-S", "-o", "-", ROOT / "kernels_cpu" / f"{tier}.cpp"], text=True, capture_output=True, check=True).stdout
    found = list(functions(asm))
    plain = subprocess.run(["c++filt"], input="\n".join(name for name, _ in found), text=True, capture_output=True, check=True).stdout.splitlines()
    rows = []
    for (_, lines), name in zip(found, plain):
        m = re.search(r"int_tile<.*?, (\d+), \d+, \(linnet::Codes\)(\d), (true|false)>\(", name)
        if not m or (m[2], m[3]) not in (("0", "false"), ("1", "true")):  # i8g128 and i4: the others have the same inner loops
            continue
        block = max(loops(lines), key=lambda b: sum(map(macs_of, b)))
        macs = sum(map(macs_of, block))
        port = next(v for k, v in limit.items() if any(re.match(rf"\s+{k}", x) for x in block))
        n, cycles = mca(args, cpu, block)
        rows.append((m[2], int(m[1]), macs / port / cycles, f"| {tier} | {'4' if m[2] == '1' else '8'} bits | {m[1]} | {cpu} | {n * 64 / macs:.1f} | {cycles * 64 / macs:.2f} | {macs / port / cycles:.2f} |"))
    return sorted(rows)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cxx", default="aarch64-linux-gnu-g++")
    p.add_argument("--mca", default="llvm-mca-19")
    args = p.parse_args()
    print("| tier | codes | rows | model | instructions per 64 MACs | cycles per 64 MACs | share of the port limit |\n|---|---|---|---|---|---|---|")
    low = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the time is the compiler's
        tables = [(tier, pool.submit(table, args, tier, flags, cpu)) for tier, flags, cpu in tiers()]
        for tier, made in tables:
            rows = made.result()
            if not rows:
                sys.exit(f"{tier}: no int_tile found")
            print("\n".join(r[-1] for r in rows), flush=True)
            low += [r[-1] for r in rows if tier == "neon_dotprod" and r[0] == "0" and r[1] >= 4 and r[2] < 0.9]
            if tier == "neon_dotprod" and not {("0", 4), ("0", 8)} <= {r[:2] for r in rows}:
                sys.exit("neon_dotprod: no tiles of 4 and 8 rows found")
    if low:
        sys.exit("below 0.9 of sdot's port limit:\n" + "\n".join(low))


if __name__ == "__main__":
    sys.exit(main())
