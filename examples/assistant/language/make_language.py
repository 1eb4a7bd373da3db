#!/usr/bin/env python3
"""Makes the recogniser's language model and dictionary: make_language.py [--dictionary FILE] [--general ARPA] [--out FOLDER] [--seed S]

Trigrams of what the training patterns say (../training, never the held-out set). Python alone; the same seed gives the same bytes.
"""
import argparse
import collections
import gzip
import hashlib
import importlib
import math
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "training")]
import grammar  # noqa: E402
import make_data  # noqa: E402
from spoken import spoken  # noqa: E402


class Speaker(grammar.Gen):
    """Says what is meant: no slips, no digits where words can stand."""

    def mishear(self, text):
        return text

    def typo(self, text):
        return text

    def typed(self, text):
        return text

    def say_number(self, n):
        return self.words(n)


def requests(n, seed):
    """User turns of n training conversations: the first alone, and those that follow."""
    world = make_data.World()
    for k in range(n):
        g = Speaker(random.Random(f"{seed}/language/{k}"))
        c = make_data.conversation(g, world)
        for m in c["messages"]:
            if m["role"] == "user":
                t = spoken(m["content"])
                if t:
                    yield t


if __name__ == "__main__":
    n, seed, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    with open(out, "w") as f:
        for t in requests(n, seed):
            f.write(t + "\n")
