#!/usr/bin/env python3
"""Makes tests/golden/tokenizers/tekken-json and /tiktoken: the first ranks of Mistral's tekken.json, and what its library makes of texts.

    python make_tiktoken.py [FOLDER N]      needs mistral-common 1.13.1 (which brings a tekken.json) and tiktoken 0.14.0
"""
import base64
import json
import pathlib
import random
import sys

import mistral_common
import tiktoken
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from make_pipelines import CORPUS, some_text
from make_split_patterns import FAMILIES

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "tokenizers"


def write(folder, files, vectors):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "vectors.jsonl").write_text("".join(json.dumps(v, ensure_ascii=False, separators=(",", ":")) + "\n" for v in vectors))


def main(folder=GOLDEN, n=700, n_texts=150):
    rng = random.Random(51)
    whole = json.loads((pathlib.Path(mistral_common.__file__).parent / "data" / "tekken_240911.json").read_text())
    special = 30
    config = dict(whole["config"], default_vocab_size=n + special, default_num_special_tokens=special, num_vocab_tokens=n + 5)
    small = json.dumps({"config": config, "vocab": whole["vocab"][:n + 5]}, separators=(",", ":"))
    texts = CORPUS + ["", " ", "aaaaaaaaaaaaa", "\n\n\n   x", "<s> [INST] no tokens [/INST]"]
    texts += [some_text(rng, []) for _ in range(n_texts)]
    path = folder / "tekken-json" / "tekken.json"
    write(path.parent, {"tekken.json": small}, [])
    tekken = Tekkenizer.from_file(path)
    write(path.parent, {}, [{"text": t, "ids": tekken.encode(t, bos=True, eos=False), "ids_plain": tekken.encode(t, bos=False, eos=False)}
                            for t in texts])
    ranks = {base64.b64decode(v["token_bytes"]): v["rank"] for v in whole["vocab"][:n]}
    kimi = tiktoken.Encoding(name="kimi", pat_str=FAMILIES["Kimi K2"], mergeable_ranks=ranks, special_tokens={})
    lines = "".join("%s %d\n" % (base64.b64encode(token).decode(), rank) for token, rank in ranks.items())
    added = {str(n): {"content": "[BOS]", "special": True}, str(n + 1): {"content": "[EOS]", "special": True},
             str(n + 3): {"content": "<|im_end|>", "special": True}}
    named = {"tokenizer_class": "TikTokenTokenizer", "bos_token": "[BOS]", "eos_token": "[EOS]", "added_tokens_decoder": added}
    write(folder / "tiktoken", {"tiktoken.model": lines, "tokenizer_config.json": json.dumps(named) + "\n"},
          [{"text": t, "ids_plain": kimi.encode(t, disallowed_special=())} for t in texts])


if __name__ == "__main__":
    main(*([pathlib.Path(sys.argv[1]), int(sys.argv[2]), 3000] if len(sys.argv) > 2 else []))
