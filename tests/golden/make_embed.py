#!/usr/bin/env python3
"""Makes the tiny checkpoints of this folder that embed texts, and their golden vectors, with Hugging Face transformers and the modules of
sentence-transformers.

    python make_embed.py [OUT] [name ...]      OUT defaults to this folder, names to all models

Each folder is as such models are published: the weights of the class without an LM head, modules.json, a folder for each module.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from torch.nn import functional as F
from transformers import AutoModel

from make import fill, tiny

LENGTHS = (1, 5, 33, 60)
FLAGS = {"mean": "pooling_mode_mean_tokens", "lasttoken": "pooling_mode_lasttoken", "cls": "pooling_mode_cls_token"}

# kind of model, pooling, (n, bias) of dense layers, whether vectors are normalised, architectures of config.json, prompts
MODELS = {
    # Published under the name of the class with a head, which is tied.
    "embed-qwen3": (tiny("qwen3", 0, hidden_size=24, intermediate_size=44, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, head_dim=16,
                         max_position_embeddings=128, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
                    "lasttoken", [], True, "Qwen3ForCausalLM", {"query": "Instruct: find it\nQuery:", "document": ""}),
    # Both ways, in layers with a window half of it on either side; shorter than the longest texts, and no multiple of anything.
    "embed-gemma": (tiny("gemma3_text", 0, hidden_size=24, intermediate_size=28, num_hidden_layers=4, num_attention_heads=3, num_key_value_heads=1, head_dim=8,
                         query_pre_attn_scalar=10, sliding_window=18, sliding_window_pattern=3, max_position_embeddings=128, use_bidirectional_attention=True,
                         rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=1000000.0),
                                              sliding_attention=dict(rope_type="default", rope_theta=10000.0))),
                    "mean", [(40, False), (20, False)], True, "Gemma3TextModel", {"query": "task: search result | query: ", "document": "title: none | text: "}),
    # Without the head that its config.json asks for.
    "embed-mistral": (tiny("mistral", 0, hidden_size=24, intermediate_size=44, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
                           sliding_window=None, max_position_embeddings=128, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=10000.0)),
                      "cls", [(19, True)], False, "MistralModel", {}),
}


@torch.no_grad()
def vectors(folder, texts, pooling, dense, unit, dtype):
    """By the folder as written."""
    model = AutoModel.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()
    path = str(folder)
    pool = Pooling.load(path, subfolder="1_Pooling")
    layers = [Dense.load(path, subfolder=f"{i + 2}_Dense").to(dtype) for i in range(len(dense))]
    out = []
    for text in texts:
        tokens = torch.tensor([text])
        features = {"token_embeddings": model(tokens, use_cache=False).last_hidden_state, "attention_mask": torch.ones_like(tokens)}
        for module in (pool, *layers):
            features = module(features)
        vector = features["sentence_embedding"]
        out.append(F.normalize(vector, p=2, dim=1)[0] if unit else vector[0])
    return torch.stack(out)


def write(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


@torch.no_grad()
def make(name, out):
    (cls, _, config), pooling, dense, unit, published, prompts = MODELS[name]
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    config._attn_implementation = "eager"
    model = cls(config).float().eval()
    fill(model, 1)
    model.base_model.bfloat16().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    write(folder / "config.json", json.loads((folder / "config.json").read_text()) | {"architectures": [published]})
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")] + [(f"{i + 2}_Dense", "Dense") for i in range(len(dense))]
    if unit:
        modules.append((f"{len(modules)}_Normalize", "Normalize"))
    write(folder / "modules.json", [dict(idx=i, name=str(i), path=path, type=f"sentence_transformers.models.{kind}") for i, (path, kind) in enumerate(modules)])
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": config.hidden_size} | {flag: way == pooling for way, flag in FLAGS.items()}
          | {"pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False, "pooling_mode_weightedmean_tokens": False, "include_prompt": True})
    rng = torch.Generator().manual_seed(7)
    width = config.hidden_size
    for i, (n, bias) in enumerate(dense):
        write(folder / f"{i + 2}_Dense" / "config.json", {"in_features": width, "out_features": n, "bias": bias,
                                                         "activation_function": "torch.nn.modules.linear.Identity"})
        tensors = {"linear.weight": torch.randn(n, width, generator=rng) / width ** 0.5}
        if bias:
            tensors["linear.bias"] = torch.randn(n, generator=rng)
        save_file(tensors, str(folder / f"{i + 2}_Dense" / "model.safetensors"), {"format": "pt"})
        width = n
    if prompts:
        write(folder / "config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": None, "similarity_fn_name": "cosine"})
    texts = [[int(t) for t in np.random.default_rng(n).integers(3, config.vocab_size, n)] for n in LENGTHS]
    got, exact = (vectors(folder, texts, pooling, dense, unit, dtype) for dtype in (torch.float32, torch.float64))
    np.save(folder / "golden_vectors.npy", got.numpy())
    info = {"texts": texts, "pooling": pooling, "normalised": unit, "n_dim": width,
            "f32_error": float(f"{(got - exact).abs().max() / exact.abs().max():.2g}"), "transformers": transformers.__version__,
            "torch": torch.__version__.split("+")[0]}
    (folder / "golden.json").write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in info.items()) + "\n}\n")
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    print(f"{name:18}", sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()), "bytes", *(f"{k} {info[k]}" for k in ("n_dim", "f32_error")), flush=True)


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name in sys.argv[2:] or MODELS:
        make(name, out)


if __name__ == "__main__":
    main()
