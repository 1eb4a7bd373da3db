#!/usr/bin/env python3
"""Holds linnet's f32 logits against PyTorch's: check_logits.py [--linnet BINARY] [--prompts N] [--write FOLDER]

The prompts are the first held-out conversations up to an answer. Compared are all positions of each, in f32 weights and KV cache; the bound is
1e-4 of the largest logit. --write stores PyTorch's last row of 20 of them for tests/app/test_assistant.py. Needs torch, transformers, numpy.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--linnet", default=str(ROOT / "build/release/linnet"))
    p.add_argument("--model", default=str(HERE.parent / "model/checkpoint"))
    p.add_argument("--data", default=str(HERE / "heldout.jsonl"))
    p.add_argument("--prompts", type=int, default=100)
    p.add_argument("--write", type=Path)
    a = p.parse_args()
    model = LlamaForCausalLM.from_pretrained(a.model, dtype=torch.float32).eval()
    worst, same, stored = 0.0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        packed, out = f"{folder}/f32.gguf", f"{folder}/logits.npy"
        subprocess.run([a.linnet, "convert", a.model, "-o", packed, "--weights", "f32"], check=True, stdout=subprocess.DEVNULL)
        for line in open(a.data, encoding="utf-8").readlines()[:a.prompts]:
            messages = json.loads(line)["messages"]
            last = max(k for k, m in enumerate(messages) if m["role"] == "user")
            text = "".join(f"<|{m['role']}|>{m['content']}<|end|>" for m in messages[:last + 1]) + "<|assistant|>"
            ids = json.loads(subprocess.run([a.linnet, "tokenize", "-m", packed, text], check=True, stdout=subprocess.PIPE).stdout)
            subprocess.run([a.linnet, "logits", "-m", packed, "--tokens", ",".join(map(str, ids)), "--kv", "f32", "-o", out], check=True, stdout=subprocess.DEVNULL)
            ours = np.load(out)
            with torch.no_grad():
                theirs = model(torch.tensor([ids])).logits[0].numpy()
            worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
            same += int((ours.argmax(-1) == theirs.argmax(-1)).all())
            if len(stored) < 20:
                stored.append((ids, theirs[-1].astype("<f4")))
    print(f"{a.prompts} prompts: largest difference {worst:.2e} of the largest logit; the same likeliest token at every position in {same}")
    if a.write:
        a.write.mkdir(parents=True, exist_ok=True)
        (a.write / "prompts.json").write_text(json.dumps([ids for ids, _ in stored]) + "\n")
        (a.write / "logits.f32").write_bytes(b"".join(row.tobytes() for _, row in stored))
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
