#!/usr/bin/env python3
"""Puts a tiny model with a tokenizer into a folder: tiny_model.py OUT

The weights are those of tests/golden/llama, the tokenizer is byte-level: GPT-2's splitter, no merges (the vocabulary of 259 has
no room for any), ids 0..2 are <unk> <s> </s>, and then one token a byte.
"""
import json
import shutil
import sys
from pathlib import Path


def byte_characters():
    """GPT-2's printable stand-in for every byte, by byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    out, extra = {}, 0
    for b in range(256):
        if b in plain:
            out[b] = chr(b)
        else:
            out[b] = chr(256 + extra)
            extra += 1
    return out


BYTE_ID = {b: 3 + i for i, b in enumerate(sorted(byte_characters(), key=lambda b: ord(byte_characters()[b])))}


def tokenizer():
    chars = byte_characters()
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2}
    vocab.update({chars[b]: i for b, i in BYTE_ID.items()})
    special = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for t, i in list(vocab.items())[:3]]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": byte_level, "decoder": byte_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": []},
    }


def make(out, golden="llama", **config):
    """Of another golden, whose vocabulary is smaller: rows of its embedding stand there again, turned by a place each time."""
    source = Path(__file__).parent.parent / "golden" / golden
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    settings = {**json.loads((source / "config.json").read_text()), **config}
    (out / "tokenizer.json").write_text(json.dumps(tokenizer()), encoding="utf-8")
    if golden == "llama":
        for name in ("generation_config.json", "model.safetensors"):
            shutil.copy(source / name, out / name)
    else:
        data = (source / "model.safetensors").read_bytes()
        n = 8 + int.from_bytes(data[:8], "little")
        head, tensors = json.loads(data[8:n]), b""
        head.pop("__metadata__", None)
        for name, tensor in head.items():
            begin, end = tensor["data_offsets"]
            values = data[n + begin:n + end]
            if name == "model.embed_tokens.weight":
                rows = tensor["shape"][0]
                width = len(values) // rows
                for i in range(rows, 3 + len(BYTE_ID)):
                    row = values[i % rows * width:][:width]
                    values += row[2 * (i // rows):] + row[:2 * (i // rows)]
                tensor["shape"][0] = 3 + len(BYTE_ID)
            tensor["data_offsets"] = [len(tensors), len(tensors) + len(values)]
            tensors += values
        text = json.dumps(head).encode()
        (out / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + tensors)
        settings["vocab_size"] = 3 + len(BYTE_ID)
    (out / "config.json").write_text(json.dumps(settings))
    return out


if __name__ == "__main__":
    make(sys.argv[1])
