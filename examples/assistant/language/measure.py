#!/usr/bin/env python3
"""How well spoken requests come through: measure.py --tool BUILD/speech_tool --linnet BUILD/linnet [--seed S] [--requests N] [--voice NAME] [--confusions FILE]

N first requests of the held-out set, drawn by the seed, are spoken by flite, recognised, and asked of the model; the answer counts as right when it has
the effect of the expected one. Prints word errors, the share of right answers, the same for the text as it was written, and the confusions.
"""
import argparse
import array
import collections
import difflib
import json
import random
import re
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from spoken import spoken  # noqa: E402


def plain(x):
    if isinstance(x, str):
        return re.sub(r"[^a-z0-9:+*/().^-]+", " ", x.lower().replace("'", "")).strip()
    if isinstance(x, list):
        return [plain(y) for y in x]
    return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x


def effect(answer):
    """What an answer does: the tool and its arguments, lengths of time in seconds; None for a sentence."""
    try:
        d = json.loads(answer)
        arguments = plain(d["arguments"])
    except (ValueError, KeyError, TypeError):
        return None
    if {"hours", "minutes", "seconds"} & arguments.keys():
        arguments["length"] = sum(arguments.pop(k, 0) * s for k, s in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
    if isinstance(arguments.get("day"), str):
        arguments["day"] = spoken(arguments["day"])  # the 27th is the twenty seventh
    return d["name"], arguments


def draw(n, seed):
    lines = [json.loads(x)["messages"] for x in (HERE.parent / "training/heldout.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(m[0]["content"], m[1]["content"]) for m in random.Random(seed).sample(lines, n)]


def quiet_room(path, seed):
    """A little noise, and 0.3 s of it on both sides: rooms are never without any, as made speech is."""
    with wave.open(str(path)) as w:
        rate, x = w.getframerate(), array.array("h", w.readframes(w.getnframes()))
    rng, pause = random.Random(seed), [0] * (rate * 3 // 10)
    noisy = array.array("h", (max(-32768, min(32767, round(v + rng.gauss(0, 33)))) for v in (*pause, *x, *pause)))
    with wave.open(str(path), "wb") as w:
        w.setparams((1, 2, rate, 0, "NONE", ""))
        w.writeframes(noisy.tobytes())


def ask(linnet, model, texts):
    lines = "".join(json.dumps([{"role": "user", "content": t or "hm"}]) + "\n" for t in texts)
    r = subprocess.run([linnet, "chat", "-m", model, "--json", "--temp", "0", "-n", "200"], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(x)["text"] for x in r.stdout.splitlines()]


def differences(said, heard):
    for op, a, b, c, d in difflib.SequenceMatcher(None, said, heard, autojunk=False).get_opcodes():
        if op != "equal":
            yield " ".join(said[a:b]), " ".join(heard[c:d])


def errors(said, heard):
    row = list(range(len(heard) + 1))
    for i, a in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tool", required=True)
    p.add_argument("--linnet", required=True)
    p.add_argument("--model", default=HERE.parent / "model/linnet-assistant.gguf")
    p.add_argument("--language", default=HERE / "assistant.lm.bin")
    p.add_argument("--dictionary", default=HERE / "assistant.dict")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--requests", type=int, default=20)
    p.add_argument("--voice", default="kal16")
    p.add_argument("--adapted", default=HERE / "kal16", help="folder of the recogniser's means and variances; '' for everybody's")
    p.add_argument("--confusions", type=Path)
    a = p.parse_args()
    cases = draw(a.requests, a.seed)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k, (text, _) in enumerate(cases):
            files.append(f"{folder}/{k:04}.wav")
            subprocess.run(["flite", "-voice", a.voice, "-t", spoken(text), "-o", files[-1]], check=True)
            quiet_room(files[-1], k)
        heard = subprocess.run([a.tool, a.language, a.dictionary, a.adapted, *files], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]
    assert len(heard) == len(cases)
    answers, typed = ask(a.linnet, a.model, heard), ask(a.linnet, a.model, [t for t, _ in cases])
    words = wrong = 0
    right, right_typed, tools, tools_right = 0, 0, 0, 0
    confusions, rows = collections.Counter(), []
    for (text, expected), h, answer, by_text in zip(cases, heard, answers, typed):
        said = spoken(text).split()
        words += len(said)
        wrong += errors(said, h.split())
        confusions.update(differences(said, h.split()))
        ok = effect(answer) == effect(expected)
        right += ok
        right_typed += effect(by_text) == effect(expected)
        if effect(expected):
            tools += 1
            tools_right += ok
        if not ok:
            rows.append((spoken(text), h, expected, answer))
    n = len(cases)
    summary = (f"{n} held-out requests (seed {a.seed}, flite {a.voice}): {100 * wrong / words:.1f} % word errors; right effect {right} of {n} ({100 * right / n:.1f} %), "
               f"of tool calls {tools_right} of {tools} ({100 * tools_right / max(1, tools):.1f} %); from the written text {right_typed} of {n}")
    print(summary)
    if a.confusions:
        out = ["# What the recogniser confuses", "", f"Written by `measure.py --requests {n} --seed {a.seed}`. {summary}.", "", "| times | said | heard |", "|---|---|---|"]
        out += [f"| {k} | {s or '-'} | {h or '-'} |" for (s, h), k in sorted(confusions.items(), key=lambda x: (-x[1], x[0])) if k > 1]
        out += ["", "Requests whose answer had another effect:", "", "| said | heard | expected | answered |", "|---|---|---|---|"]
        out += ["| " + " | ".join(f"{x}".replace("|", "/") for x in r) + " |" for r in rows]
        a.confusions.write_text("\n".join(out) + "\n", encoding="utf-8")
    else:
        for r in rows:
            print("  said {}\n  heard {}\n  expected {}\n  answered {}\n".format(*r))


if __name__ == "__main__":
    main()
