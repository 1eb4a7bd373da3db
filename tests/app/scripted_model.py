#!/usr/bin/env python3
"""Puts a model into a folder that answers as it is told: make(OUT, {"a": [("Hello", False), ("<x>", True)]}, TEMPLATE).

What it says goes by the last byte of the prompt: here, behind an "a", the token "Hello", the special token "<x>" and the end. Every piece is a
token of its own, so each comes once. The embedding has a one for each token, attention and the other layers add nothing, and the head
leads from each token to the next.
"""
import array
import json
import struct
from pathlib import Path

import tiny_model

HIDDEN, END = 512, 2


def make(out, answers, template):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_model.tokenizer()
    following, n = {}, len(tiny_model.BYTE_ID) + 3
    for byte, pieces in answers.items():
        at = tiny_model.BYTE_ID[ord(byte)]
        for text, special in pieces:
            tokenizer["added_tokens"].append({"id": n, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special})
            following[at] = n
            at, n = n, n + 1
        following[at] = END
    assert n <= HIDDEN
    (out / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (out / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}))
    (out / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": n, "hidden_size": HIDDEN, "intermediate_size": 64, "num_hidden_layers": 1,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 1e4, "max_position_embeddings": 4096,
        "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": END}))

    def matrix(rows, columns, ones=()):
        data = array.array("f", bytes(4 * rows * columns))
        for row, column in ones:
            data[row * columns + column] = 1
        return (rows, columns), data

    layer = "model.layers.0."
    shapes = {"self_attn.q_proj": (512, HIDDEN), "self_attn.k_proj": (128, HIDDEN), "self_attn.v_proj": (128, HIDDEN), "self_attn.o_proj": (HIDDEN, 512),
              "mlp.gate_proj": (64, HIDDEN), "mlp.up_proj": (64, HIDDEN), "mlp.down_proj": (HIDDEN, 64)}
    tensors = {layer + name + ".weight": matrix(*shape) for name, shape in shapes.items()}
    tensors["model.embed_tokens.weight"] = matrix(n, HIDDEN, ((i, i) for i in range(n)))
    tensors["lm_head.weight"] = matrix(n, HIDDEN, ((following.get(i, END), i) for i in range(n)))
    for name in (layer + "input_layernorm", layer + "post_attention_layernorm", "model.norm"):
        tensors[name + ".weight"] = (HIDDEN,), array.array("f", [1] * HIDDEN)
    header, body = {}, b""
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(body), len(body) + 4 * len(data)]}
        body += data.tobytes()
    head = json.dumps(header).encode()
    (out / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
    return out
