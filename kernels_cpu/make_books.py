"""Makes books.inc, the code books of the IQ kinds of blocks: python3 make_books.py (needs numpy and gguf 0.19 from PyPI).

A run of eight numbers is eight times two bits, of four numbers four times three, the first lowest: the places of the numbers in the book's
own list of them, which scalar.cpp has.
"""
import os

import gguf.quants as quants

BOOKS = [("Iq2Xxs", quants.IQ2_XXS, 2), ("Iq2Xs", quants.IQ2_XS, 2), ("Iq2S", quants.IQ2_S, 2), ("Iq3Xxs", quants.IQ3_XXS, 3),
         ("Iq3S", quants.IQ3_S, 3), ("Iq1", quants.IQ1_S, 2)]


def main():
    lines = ["// Made by make_books.py from the gguf package of PyPI, do not edit. Code books of the IQ kinds of blocks."]
    for name, kind, bits in BOOKS:
        kind.init_grid()
        runs = kind.grid.reshape(kind.grid_shape)
        words = [sum(kind.grid_map.index(int(v)) << (bits * i) for i, v in enumerate(run)) for run in runs]
        assert len(words) == kind.grid_shape[0] and max(words) < 65536
        lines.append(f"constexpr uint16_t k{name}Book[{len(words)}] = {{")
        for at in range(0, len(words), 16):
            lines.append("    " + " ".join(f"0x{w:04X}," for w in words[at : at + 16]))
        lines.append("};")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "books.inc"), "w") as f:
        f.write("\n".join(lines) + "\n")


main()
