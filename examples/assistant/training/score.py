#!/usr/bin/env python3
"""Asks linnet the held-out requests: score.py [--linnet BINARY] [--model FILE_OR_FOLDER] [--weights LIST] [--kv LIST] [--limit N]

Every turn of every held-out conversation is asked with what came before it as the data has it; the answer counts as right when it is
the same tool with the same arguments, or, where no tool is due, no tool. linnet itself answers (linnet chat --json, greedy).
Beside it stands the perplexity of the held-out conversations as one text, from linnet eval (needs no chat; roles and results count too).
--requests takes other requests: lines {"user", "call", "also"}, two-turn ones with lists, calls null where no tool is due. There a sum counts
by its value: after 12 * 9, "plus 30" may be 108+30 or 12*9+30.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from domains import math_units  # noqa: E402

ROOT = HERE.parents[2]
# What tools say back and the sentence after it, where a second turn needs to know; the others did their work.
RESULTS = {"calculate": (math_units.calculated, math_units.say_calculated), "convert_units": (math_units.answer, math_units.say_answer)}


def call_of(text):
    """(name, arguments) of an answer, None for a sentence, False for neither."""
    if not text.startswith("{"):
        return None if text else False
    try:
        d = json.loads(text)
        return (d["name"], d["arguments"])
    except (ValueError, KeyError, TypeError):
        return False


def heldout(path):
    """(history, acceptable calls, expected text) of every turn."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        messages = json.loads(line)["messages"]
        for k, m in enumerate(messages):
            if m["role"] == "assistant" and messages[k - 1]["role"] == "user":
                yield messages[:k], [call_of(m["content"])], m["content"]


def worth(call):
    """A sum by its value, any other call as it is, as are powers, which a model may pile up until nobody can wait for them."""
    try:
        return ("calculate", math_units.evaluate(call[1]["expression"])) if call and call[0] == "calculate" and "^" not in call[1]["expression"] else call
    except (AssertionError, ArithmeticError, KeyError, TypeError, IndexError, ValueError):
        return call


def requests(path):
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        d = json.loads(line)
        users, calls = (d["user"], d["calls"]) if isinstance(d["user"], list) else ([d["user"]], [d["call"]])
        history = []
        for user, call in zip(users, calls):
            history = history + [{"role": "user", "content": user}]
            text = json.dumps(call, separators=(",", ":"), ensure_ascii=False)
            yield history, [c and (c["name"], c["arguments"]) for c in [call, *d.get("also", [])]], text
            # What the tool says, so that the second turn has something to follow.
            result, said = {"ok": True}, "Okay."
            if call and call["name"] in RESULTS:
                results, say = RESULTS[call["name"]]
                result = results(None, {}, call["arguments"])
                said = say(None, {}, call["arguments"], result)
            done = [{"role": "assistant", "content": text}, {"role": "tool", "content": json.dumps(result, separators=(",", ":"))}] if call else []
            history = history + done + [{"role": "assistant", "content": said}]


def ask(linnet, model, weights, kv, cases, threads, tools=None):
    command = [linnet, "chat", "-m", model, "--json", "--temp", "0", "-n", "200", "--threads", str(threads)]
    command += ["--weights", weights] if weights else []
    command += ["--kv", kv] if kv else []
    command += ["--tools", tools] if tools else []
    lines = "".join(json.dumps(history, ensure_ascii=False) + "\n" for history, _, _ in cases)
    r = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line)["text"] for line in r.stdout.splitlines()]
    if r.returncode or len(answers) != len(cases):
        sys.exit(f"linnet chat failed after {len(answers)} answers (exit {r.returncode})")
    return answers


def perplexity(linnet, model, weights, kv, data, threads):
    """Of the conversations one after the other, in the chat format of training."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as text:
        for line in Path(data).read_text(encoding="utf-8").splitlines():
            text.write("".join(f"<|{m['role']}|>{m['content']}<|end|>" for m in json.loads(line)["messages"]))
        text.flush()
        command = [linnet, "eval", "-m", model, text.name, "--json", "--threads", str(threads)] + (["--weights", weights] if weights else []) + (["--kv", kv] if kv else [])
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["perplexity"]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--linnet", default=str(ROOT / "build/release/linnet"))
    p.add_argument("--model", default=str(HERE.parent / "model/checkpoint"), help="the bf16 checkpoint, packed on the way in, or a packed file")
    p.add_argument("--data", default=str(HERE / "heldout.jsonl"))
    p.add_argument("--requests", help="a file of other requests instead of --data")
    p.add_argument("--weights", default="", help="formats with commas; empty: as the file is packed")
    p.add_argument("--kv", default="", help="formats with commas")
    p.add_argument("--tools", help="answers are held to a call of one of these tools, or text")
    p.add_argument("--limit", type=int, default=0, help="only the first N turns")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--failures", type=int, default=0, help="print the first N wrong answers")
    p.add_argument("--json", action="store_true")
    p.add_argument("--least", type=float, default=0, help="fail below this share of right tool calls, in per cent")
    a = p.parse_args()
    cases = list(requests(a.requests) if a.requests else heldout(a.data))
    cases = cases[:a.limit] if a.limit else cases
    low = 100.0
    for weights in a.weights.split(","):
        for kv in a.kv.split(","):
            answers = ask(a.linnet, a.model, weights, kv, cases, a.threads, a.tools)
            right = {True: 0, False: 0}
            total = {True: 0, False: 0}
            shown = 0
            for (history, accepted, text), answer in zip(cases, answers):
                tool = accepted[0] is not None
                ok = call_of(answer) in accepted or bool(a.requests) and worth(call_of(answer)) in [worth(c) for c in accepted]
                total[tool] += 1
                right[tool] += ok
                if not ok and shown < a.failures:
                    shown += 1
                    print(f"asked   {' | '.join(m['content'] for m in history if m['role'] == 'user')}\nanswer  {answer}\nwanted  {text}\n")
            row = {"weights": weights or "file", "kv": kv or "default", "tool_calls": total[True], "tool_calls_right": round(100 * right[True] / max(1, total[True]), 2),
                   "others": total[False], "others_right": round(100 * right[False] / max(1, total[False]), 2)}
            low = min(low, row["tool_calls_right"])
            if not a.requests and not a.limit:
                row["perplexity"] = round(perplexity(a.linnet, a.model, weights, kv, a.data, a.threads), 4)
            print(json.dumps(row) if a.json else f"{row['weights']:7} weights, {row['kv']:7} KV: tool calls {row['tool_calls_right']:.2f} % of {row['tool_calls']}, no tool where none is due {row['others_right']:.2f} % of {row['others']}" + (f", perplexity {row['perplexity']}" if "perplexity" in row else ""), flush=True)
    return 1 if low < a.least else 0


if __name__ == "__main__":
    sys.exit(main())
