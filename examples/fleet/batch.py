#!/usr/bin/env python3
"""Many prompts on many machines, by Ray Data: batch.py --model m.gguf --input FOLDER --output FOLDER [--actors N] [--rows N]

Input: files *.jsonl of {"prompt": "..."} or {"messages": [...]}, whatever else is in a row stays. Output: for each NAME.jsonl files NAME.00000.jsonl, ..., of --rows rows each, a row being the input's
with "answer", "finish_reason" and "usage". Each actor maps the model once. A chunk's file is written beside its place, synced and renamed into it: after a crash, of a worker, a machine or this
program, what is there is not computed again, and no row is missing or there twice. Answers depend on the rows alone (greedy, or by their number as seed), so that a chunk that is computed twice is
the same bytes."""
import argparse
import json
import os
import socket
from pathlib import Path

import linnet
import ray


def chunks_of(source: Path, target: Path, rows: int):
    """(file, first row, place of the output) of every chunk that is not there yet."""
    for file in sorted(source.glob("*.jsonl")):
        with open(file, "rb") as lines:
            n = sum(1 for line in lines if line.strip())
        for first in range(0, n, rows):
            place = target / f"{file.stem}.{first // rows:05d}.jsonl"
            if not place.exists():
                yield {"file": str(file), "first": first, "place": str(place)}


def save(place: str, text: str) -> None:
    """All of it under that name, or nothing."""
    beside = f"{place}.{socket.gethostname()}.{os.getpid()}.tmp"
    with open(beside, "w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(beside, place)
    folder = os.open(os.path.dirname(place), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Answers:
    """An actor: one mapped model."""

    def __init__(self, model: str, rows: int, options: dict):
        self.model, self.rows, self.options = linnet.Model(model), rows, options

    def answer(self, row: dict, number: int) -> dict:
        asked = {"seed": number, **self.options}
        if "messages" in row:
            made = self.model.chat(row["messages"], tools=row.get("tools"), **asked)
            answer = made.choices[0].message
            for k, one in enumerate(answer.get("tool_calls", ())):
                one["id"] = f"call_{number}_{k}"
        else:
            made = self.model.complete(row["prompt"], **asked)
            answer = made.choices[0].text
        return {**row, "answer": answer, "finish_reason": made.choices[0].finish_reason, "usage": {k: v for k, v in made.usage.items() if k != "prompt_tokens_details"}}

    def __call__(self, batch: dict) -> dict:
        done = []
        for file, first, place in zip(batch["file"], batch["first"], batch["place"]):
            if not os.path.exists(place):
                with open(file, encoding="utf-8") as lines:
                    rows = [json.loads(line) for line in lines if line.strip()][first:first + self.rows]
                out = []
                for i, row in enumerate(rows):
                    try:
                        out.append(self.answer(row, int(first) + i))
                    except (linnet.Error, KeyError, TypeError) as why:  # one that cannot be answered says so, and stops nobody
                        out.append({**row, "error": f"{type(why).__name__}: {why}"})
                save(str(place), "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in out))
            done.append(str(place))
        return {"place": done}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="packed GGUF, on every machine under this path")
    parser.add_argument("--input", required=True, type=Path, help="folder of *.jsonl, on every machine")
    parser.add_argument("--output", required=True, type=Path, help="folder, on every machine the same one (NFS)")
    parser.add_argument("--actors", type=int, default=1, help="processes that compute (1)")
    parser.add_argument("--cpus", type=float, default=1, help="of each (1)")
    parser.add_argument("--rows", type=int, default=32, help="of a chunk (32)")
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--address", default=None, help="of a Ray cluster; default: one on this machine")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for left in args.output.glob("*.tmp"):  # of those who were killed
        left.unlink(missing_ok=True)
    todo = list(chunks_of(args.input.resolve(), args.output.resolve(), args.rows))
    print(f"{len(todo)} chunks to compute")
    if not todo:
        return
    if not ray.is_initialized():
        ray.init(address=args.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    options = {"max_tokens": args.max_tokens, "temperature": args.temperature}
    # Ray Data hands an actor no more than it can take (back-pressure), starts another where one dies, and gives it the chunk again.
    made = ray.data.from_items(todo, override_num_blocks=len(todo)).map_batches(
        Answers, fn_constructor_args=(os.path.abspath(args.model), args.rows, options), batch_size=1, num_cpus=args.cpus, compute=ray.data.ActorPoolStrategy(size=args.actors), max_restarts=-1, max_task_retries=-1)
    n = sum(len(batch["place"]) for batch in made.iter_batches(batch_size=None))
    print(f"{n} chunks computed")


if __name__ == "__main__":
    main()
