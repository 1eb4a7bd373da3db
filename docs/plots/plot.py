#!/usr/bin/env python3
"""Draws what `linnet bench --json` printed: plot.py [--out FOLDER] [RUNS.json]. Standard library only.

RUNS.json (the one beside this script where none is named) lists the runs: the file that holds what a run printed (its path from
RUNS.json), the model's name in the pictures, machine, date and command. Writes decode.svg, prefill.svg and share.svg into FOLDER
(where RUNS.json lies); the same runs give the same bytes.
"""
import argparse
import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 56, 76  # what is left for scales and words
# One grey and colours of middle lightness, which are read on white and on black alike.
INK = "#7d7d7d"
COLOURS = ("#2f81f7", "#d9762b", "#2da44e", "#a35bd6", "#c94f6d")
# Runs of a matrix that fits the processor's caches are held against nothing that a read of memory says.
LEAST_WEIGHTS = 256 << 20


class Refused(Exception):
    pass


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise Refused(f"{path}: {e.strerror}") from None
    except ValueError as e:
        raise Refused(f"{path}: this is no JSON: {e}") from None


def number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)


def points(path, rows, at, value):
    """(at, value) of every row."""
    out = []
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, dict) or not number(row.get(at)) or not number(row.get(value)) or row[at] < 0 or row[value] <= 0:
            raise Refused(f"{path}: not what linnet bench --json prints: a row wants '{at}' and '{value}', as numbers")
        out.append((row[at], row[value]))
    return sorted(out)


def runs_of(path):
    listed = read(path)
    if not isinstance(listed, list) or not listed:
        raise Refused(f"{path}: a list of runs is wanted")
    for run in listed:
        if not isinstance(run, dict) or any(not isinstance(run.get(k), str) for k in ("file", "name", "machine", "date", "command")):
            raise Refused(f"{path}: every run wants file, name, machine, date and command, as texts")
        file = path.parent / run["file"]
        bench = read(file)
        if not isinstance(bench, dict) or not all(k in bench for k in ("weight_bytes", "decode", "prefill", "isa", "weights", "threads")):
            raise Refused(f"{file}: not what linnet bench --json prints: it has no weight_bytes, decode, prefill, isa, weights or threads")
        if not number(bench["weight_bytes"]):
            raise Refused(f"{file}: weight_bytes is no number")
        yield {**run, "weights": bench["weight_bytes"], "decode": points(file, bench["decode"], "depth", "tokens_per_s"),
               "share": points(file, bench["decode"], "depth", "share_of_read"),
               "prefill": points(file, bench["prefill"], "tokens", "tokens_per_s")}


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def said(x):
    """12000 as 12,000; 0.25 as it is."""
    return f"{x:,.0f}" if x >= 10 or x == int(x) else f"{x:g}"


class Scale:
    """Numbers to pixels; by logarithm, straight, or by depth (0, then doublings)."""

    def __init__(self, kind, values, low, high):
        self.kind, self.low, self.high = kind, low, high
        if kind == "log":
            self.first, self.last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
            self.ticks = [m * 10.0**e for e in range(self.first, self.last + 1) for m in (1, 2, 5) if e < self.last or m == 1]
        elif kind == "doublings":
            self.first, self.last = math.log2(min(values)), math.log2(max(values))
            self.ticks = [2**e for e in range(math.ceil(self.first), math.floor(self.last) + 1)]
        elif kind == "depth":  # depth 0 has a place of its own, left of the shortest
            some = [v for v in values if v > 0]
            self.first, self.last = math.log2(min(some)) - 1, math.log2(max(some))
            self.ticks = [0] + [2**e for e in range(math.ceil(self.first + 1), math.floor(self.last) + 1)]
        else:
            self.first, self.last = 0, math.ceil(max(values) * 5 - 1e-9) / 5
            self.ticks = [i / 5 for i in range(round(self.last * 5) + 1)]

    def at(self, value):
        if self.kind == "log":
            value = math.log10(value)
        elif self.kind == "doublings":
            value = math.log2(value)
        elif self.kind == "depth":
            value = math.log2(value) if value else self.first
        share = (value - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return self.low + share * (self.high - self.low)


def mark(kind, x, y, colour):
    """Shapes tell the lines apart where colours do not."""
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if kind == 1:
        return f'<rect x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2" fill="{colour}"/>'
    side = 5 if kind % 2 == 0 else -5  # up, down
    return f'<path d="M{x - 5:.1f} {y + side * 0.8:.1f}h10L{x:.1f} {y - side:.1f}z" fill="{colour}"/>'


def picture(title, x_words, y_words, x_kind, y_kind, lines, notes):
    xs = Scale(x_kind, [x for _, ps in lines for x, _ in ps], LEFT + 12, WIDTH - RIGHT - 12)
    ys = Scale(y_kind, [y for _, ps in lines for _, y in ps], HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
           f'font-family="sans-serif" font-size="12" fill="{INK}">', f"<title>{escaped(title)}</title>"]
    for tick in ys.ticks:
        y = ys.at(tick)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{INK}" stroke-opacity="0.3"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{said(tick)}</text>')
    for tick in xs.ticks:
        x = xs.at(tick)
        out.append(f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="{INK}"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 19}" text-anchor="middle">{said(tick)}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="{INK}"/>')
    center = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{center:.0f}" y="{HEIGHT - BOTTOM + 38}" text-anchor="middle" font-size="13">{escaped(x_words)}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle" font-size="13">{escaped(y_words)}</text>')
    out.append(f'<text x="{LEFT}" y="18" font-size="15">{escaped(title)}</text>')
    for i, (name, ps) in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        path = "L".join(f"{xs.at(x):.1f} {ys.at(y):.1f}" for x, y in ps)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [mark(i % 4, xs.at(x), ys.at(y), colour) for x, y in ps]
        x = LEFT + i * (WIDTH - LEFT - RIGHT) / len(lines)
        out.append(mark(i % 4, x + 6, 36, colour) + f'<text x="{x + 16:.1f}" y="40">{escaped(name)}</text>')
    for i, note in enumerate(notes):
        out.append(f'<text x="{LEFT}" y="{HEIGHT - 18 + 14 * i}" font-size="11">{escaped(note)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description="Draws what linnet bench --json printed.")
    parser.add_argument("runs", nargs="?", default=Path(__file__).resolve().parent / "runs.json", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    try:
        runs = list(runs_of(args.runs))
        large = [r for r in runs if r["weights"] >= LEAST_WEIGHTS]
        notes = sorted({f"linnet bench, {r['machine']}, {r['date']}" for r in runs})
        pictures = {
            "decode.svg": ("Decoding", "tokens in the KV cache", "tokens/s", "depth", "log", runs, "decode"),
            "prefill.svg": ("Prompts", "tokens of the prompt", "tokens/s", "doublings", "log", runs, "prefill"),
            "share.svg": ("Decoding beside a plain read of the same memory", "tokens in the KV cache", "share of the read bandwidth",
                          "depth", "straight", large, "share"),
        }
        out = args.out or args.runs.parent
        for name, (title, x_words, y_words, x_kind, y_kind, of, what) in pictures.items():
            lines = [(r["name"], r[what]) for r in of if r[what]]
            if lines:
                (out / name).write_text(picture(title, x_words, y_words, x_kind, y_kind, lines, notes), encoding="utf-8")
    except (Refused, OSError) as e:
        print(f"plot.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
