#!/usr/bin/env python3
"""Beside busy processes two threads must not be many times slower than one: test_busy.py LINNET. Standard library only.

Ratios of runs in turn under the same load; busy.sh makes it.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LINNET = os.path.abspath(sys.argv[1])
BUSY = pathlib.Path(__file__).resolve().parent / "busy.sh"
LEAST = 0.5  # of one thread's speed; waits that spin without a bound give 0.04 to 0.3


def speed(model, busy, threads):
    done = subprocess.run([BUSY, str(busy), LINNET, "run", "-m", model, "--tokens", "1,2,3", "-n", "24", "--ignore-eos", "--temp", "0", "--json", "--threads", str(threads)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["tokens_per_s"]


def main():
    cpus = len(os.sched_getaffinity(0))
    if cpus < 2:
        print("skipped: one CPU alone, on which linnet runs one thread")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.gguf")
        subprocess.run([LINNET, "convert", "--synthetic", "smollm2-135m", "-o", model], check=True, capture_output=True)
        for busy in (cpus // 2, 2 * cpus):
            ratios = []
            for _ in range(3):
                one = speed(model, busy, 1)
                ratios.append(speed(model, busy, cpus) / one)
            print(f"beside {busy} busy processes {cpus} threads have {', '.join(f'{r:.2f}' for r in ratios)} of one thread's speed")
            if statistics.median(ratios) < LEAST:
                print(f"less than {LEAST} of it")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
